// Parts that merges and searches of arrays and of computed keys share: the words of their arguments, how keys compare, keys of a thread.
#pragma once
#include "iw.cuh"

constexpr int THREADS = 256;

// Words of u. STEP: keys of a tile.
constexpr int NEGATIVE = 0, FLIP = 2, KIND = 4, WIDE = 5, STEP = 6, ALIGNED = 7;
constexpr uint32_t LOWER = 0, UPPER = 1;

template <class K>
struct Order {
    K negative, flip;
    IW_DEVICE Order(const Args& args) : negative((K)wide(args.u + NEGATIVE)), flip((K)wide(args.u + FLIP)) {}
    IW_DEVICE static bool sign(K key) { return key >> (8 * sizeof(K) - 1); }
    // An unsigned integer that a key is compared by.
    IW_DEVICE K mapped(K key) const { return key ^ (sign(key) ? negative : (K)0) ^ flip; }
    // The key again: `negative` leaves the sign as it is.
    IW_DEVICE K back(K key) const {
        const K signed_key = key ^ flip;
        return signed_key ^ (sign(signed_key) ? negative : (K)0);
    }
};

IW_DEVICE void put_number(const Args& args, uint64_t at, uint64_t v) {
    if (args.u[WIDE])
        ((uint64_t*)args.out[0])[at] = v;
    else
        ((uint32_t*)args.out[0])[at] = (uint32_t)v;
}

// Odd, so that the threads' parts of a tile start in different banks.
template <class K, int P>
constexpr int ITEMS = sizeof(K) == 8 || P == 8 ? 9 : P > 0 ? 13 : 17;

// Number of keys of a among the first k of a merged tile, in shared memory: `of_a` keys of a, then those of b, `count` in all.
template <class K>
IW_DEVICE int co_rank_of_tile(const K* keys, int k, int of_a, int count) {
    int low = max(0, k - (count - of_a)), high = min(k, of_a);
    while (low < high) {
        const int i = (low + high) / 2;
        if (keys[i] <= keys[of_a + k - 1 - i])
            low = i + 1;
        else
            high = i;
    }
    return low;
}
