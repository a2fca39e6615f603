// Sorts in shared memory, keys alone or keys with their places, and runs of it: a thread takes a short one into its registers, where a fixed network
// sorts it; of two runs that are merged, a thread takes a piece of the result.
#pragma once
#include "iw.cuh"

// A key and a place of 16 bits, where a word does not hold both.
struct PlacedKey {
    uint64_t key;
    uint32_t place;
};
IW_DEVICE bool comes_before(uint32_t a, uint32_t b) { return a < b; }
IW_DEVICE bool comes_before(uint64_t a, uint64_t b) { return a < b; }
IW_DEVICE bool comes_before(const PlacedKey& a, const PlacedKey& b) { return a.key < b.key || (a.key == b.key && a.place < b.place); }

// Keys of two bytes at most, the high half of a word, which leaves room for their place.
struct Narrow {};
template <class K>
struct WordOf {
    using Type = K;
};
template <>
struct WordOf<Narrow> {
    using Type = uint32_t;
};

template <bool WIDE>
struct Integer {
    using Type = uint32_t;
};
template <>
struct Integer<true> {
    using Type = uint64_t;
};

// SIZE words. PLACED: a key stands above its place, so that no two words are equal and any sort of them is stable; else equal words are equal keys.
template <class K, bool PLACED, int SIZE>
struct Sorted {
    using Word = typename Integer<(sizeof(K) + (PLACED ? 2 : 0) > 4)>::Type;
    static constexpr int BITS = PLACED ? 32 : 0;
    Word words[SIZE];
    IW_DEVICE Word load(uint32_t at) const { return words[at]; }
    IW_DEVICE void store(uint32_t at, Word word) { words[at] = word; }
    IW_DEVICE static Word word_of(K key, uint32_t place) { return (Word)key << BITS | (PLACED ? place : 0); }
    IW_DEVICE static K key_of(Word word) { return (K)(word >> BITS); }
    IW_DEVICE static uint32_t place_of(Word word) { return (uint32_t)word & (uint32_t)((1ull << BITS) - 1); }
    IW_DEVICE static Word last() { return ~(Word)0; }
};
template <int SIZE>
struct Sorted<Narrow, true, SIZE> {
    using Word = uint32_t;
    Word words[SIZE];
    IW_DEVICE Word load(uint32_t at) const { return words[at]; }
    IW_DEVICE void store(uint32_t at, Word word) { words[at] = word; }
    IW_DEVICE static Word word_of(uint32_t key, uint32_t place) { return key | place; }
    IW_DEVICE static uint32_t key_of(Word word) { return word & ~0xffffu; }
    IW_DEVICE static uint32_t place_of(Word word) { return word & 0xffff; }
    IW_DEVICE static Word last() { return ~0u; }
};
template <int SIZE>
struct Sorted<uint64_t, true, SIZE> {
    using Word = PlacedKey;
    uint64_t keys[SIZE];
    unsigned short places[SIZE];
    IW_DEVICE Word load(uint32_t at) const { return {keys[at], places[at]}; }
    IW_DEVICE void store(uint32_t at, const Word& word) { keys[at] = word.key, places[at] = (unsigned short)word.place; }
    IW_DEVICE static Word word_of(uint64_t key, uint32_t place) { return {key, place}; }
    IW_DEVICE static uint64_t key_of(const Word& word) { return word.key; }
    IW_DEVICE static uint32_t place_of(const Word& word) { return word.place; }
    IW_DEVICE static Word last() { return {~0ull, ~0u}; }
};

template <class W>
IW_DEVICE void exchange(W& a, W& b) {
    const bool falls = comes_before(b, a);
    const W low = falls ? b : a, high = falls ? a : b;
    a = low, b = high;
}
// Batcher's odd-even merge sort (Knuth, The Art of Computer Programming, volume 3, 5.3.4). Merges every STEP-th of COUNT words, whose halves are sorted.
template <int FROM, int COUNT, int STEP, class W>
IW_DEVICE void merge_halves(W* words) {
    if constexpr (2 * STEP < COUNT) {
        merge_halves<FROM, COUNT, 2 * STEP>(words);
        merge_halves<FROM + STEP, COUNT, 2 * STEP>(words);
#pragma unroll
        for (int k = FROM + STEP; k + STEP < FROM + COUNT; k += 2 * STEP) exchange(words[k], words[k + STEP]);
    } else {
        exchange(words[FROM], words[FROM + STEP]);
    }
}
template <int FROM, int COUNT, class W>
IW_DEVICE void sort_words(W* words) {
    if constexpr (COUNT > 1) {
        sort_words<FROM, COUNT / 2>(words);
        sort_words<FROM + COUNT / 2, COUNT / 2>(words);
        merge_halves<FROM, COUNT, 1>(words);
    }
}

// A run of MOST words at most.
template <int MOST, class S>
IW_DEVICE void sort_run(S& sorted, uint32_t at, int length) {
    typename S::Word words[MOST];
#pragma unroll
    for (int k = 0; k < MOST; ++k) words[k] = k < length ? sorted.load(at + k) : S::last();
    sort_words<0, MOST>(words);
#pragma unroll
    for (int k = 0; k < MOST; ++k)
        if (k < length) sorted.store(at + k, words[k]);
}

// COUNT words, as far as there are so many, of what the runs from `left` to `middle` and on to `end` become when merged; those from word `skipped` on. Behind
// the last word, COUNT more may be read.
template <int COUNT, class S>
IW_DEVICE void merge_piece(const S& sorted, uint32_t left, uint32_t middle, uint32_t end, uint32_t skipped, typename S::Word (&words)[COUNT]) {
    using Word = typename S::Word;
    // Number of words of the first run among those that are skipped.
    uint32_t low = skipped - min(skipped, end - middle), high = min(skipped, middle - left);
    while (low < high) {
        const uint32_t half = (low + high) / 2;
        if (comes_before(sorted.load(middle + skipped - 1 - half), sorted.load(left + half)))
            high = half;
        else
            low = half + 1;
    }
    uint32_t a = left + low;
    const uint32_t both = a + middle + skipped - low;  // where both runs are read, added up
    Word first = sorted.load(a), second = sorted.load(both - a);
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        const uint32_t b = both + k - a;
        const bool falls = (a >= middle || comes_before(second, first)) && b < end;
        words[k] = falls ? second : first;
        const Word next = sorted.load((falls ? b : a) + 1);
        if (!falls) ++a;
        if (falls)
            second = next;
        else
            first = next;
    }
}

// Short parts of what is sorted, as they are listed in shared memory: those of more than RUN words in pieces of RUN, from the list's end on, others from its
// front on. A part of two takes a half of a word, one of RUN + 1 two words, so both have room in a quarter of a word to each of the ROOM places.
constexpr uint32_t RUN = 16;
struct Piece {
    // Of where its part begins, and of how many pieces lie before. Above, how many words the part has, less one.
    static constexpr uint32_t PLACE_BITS = 13, PIECE_BITS = 7;
    uint32_t word;
    IW_DEVICE uint32_t part() const { return word & ((1 << PLACE_BITS) - 1); }
    IW_DEVICE uint32_t from() const { return (word >> PLACE_BITS & ((1 << PIECE_BITS) - 1)) * RUN; }
    IW_DEVICE uint32_t size() const { return (word >> (PLACE_BITS + PIECE_BITS)) + 1; }
    IW_DEVICE uint32_t length() const { return min(RUN, size() - from()); }
};
template <int ROOM>
struct Parts {
    static constexpr uint32_t SERIAL = 16;  // pieces of a part that its own thread lists
    static constexpr int PIECES = ROOM / 4;
    union {
        unsigned short tiny[ROOM / 2];
        uint32_t pieces[PIECES];
    };
    uint32_t counts;  // of pieces, and above of others
    IW_DEVICE Piece piece(uint32_t k) const { return {pieces[PIECES - 1 - k]}; }
    IW_DEVICE void put(uint32_t k, uint32_t part, uint32_t piece, uint32_t size) {
        pieces[PIECES - 1 - k] = part | piece << Piece::PLACE_BITS | (size - 1) << (Piece::PLACE_BITS + Piece::PIECE_BITS);
    }

    // A warp lists its lanes' parts, of `size` words from place `begin` on. A word alone is sorted.
    template <class Skew>
    IW_DEVICE void add(uint32_t begin, uint32_t size, const Skew& skew) {
        const int lane = lane_id();
        const uint32_t its = size > RUN ? (size + RUN - 1) / RUN : 0, own = its | (size > 1 && size <= RUN) << 16;
        uint32_t sum = own;
#pragma unroll
        for (int step = 1; step < WARP; step *= 2) {
            const uint32_t left = __shfl_up_sync(ALL_LANES, sum, step);
            if (lane >= step) sum += left;
        }
        uint32_t before = 0;
        if (lane == WARP - 1) before = atomicAdd(&counts, sum);
        before = __shfl_sync(ALL_LANES, before, WARP - 1) + sum - own;
        if (own >> 16) tiny[before >> 16] = (unsigned short)(begin * RUN + size - 1);
        const uint32_t first = before & 0xffff, part = begin + skew(begin);
#pragma unroll 1
        for (uint32_t k = 0; k < min(its, SERIAL); ++k) put(first + k, part, k, size);
#pragma unroll 1
        for (uint32_t lanes = __ballot_sync(ALL_LANES, its > SERIAL); lanes; lanes &= lanes - 1) {
            const int of = __ffs(lanes) - 1;
            const uint32_t of_first = __shfl_sync(ALL_LANES, first, of), of_part = __shfl_sync(ALL_LANES, part, of);
            const uint32_t of_size = __shfl_sync(ALL_LANES, size, of);
#pragma unroll 1
            for (uint32_t k = SERIAL + lane; k < (of_size + RUN - 1) / RUN; k += WARP) put(of_first + k, of_part, k, of_size);
        }
    }
};

// Sorts the parts, none of more than `most` words, by all THREADS threads.
template <int THREADS, class S, int ROOM, class Skew>
IW_DEVICE void sort_parts(S& sorted, const Parts<ROOM>& parts, uint32_t most, const Skew& skew) {
    static_assert(2 * ROOM / (RUN + 1) <= THREADS, "a thread to each piece");
    const uint32_t pieces = parts.counts & 0xffff, count = pieces + (parts.counts >> 16);
    const Piece piece = threadIdx.x < pieces ? parts.piece(threadIdx.x) : Piece{0};
#pragma unroll 1
    for (uint32_t of_warp = warp_id() * WARP; of_warp < count; of_warp += THREADS) {
        const uint32_t k = of_warp + lane_id();
        uint32_t at = 0, length = 0;
        if (k < pieces) {
            at = piece.part() + piece.from(), length = piece.length();
        } else if (k < count) {
            const uint32_t its = parts.tiny[k - pieces], begin = its / RUN;
            at = begin + skew(begin), length = its % RUN + 1;
        }
        if (__ballot_sync(ALL_LANES, length > RUN / 2))
            sort_run<RUN>(sorted, at, length);
        else
            sort_run<RUN / 2>(sorted, at, length);
    }
    __syncthreads();
#pragma unroll 1
    for (uint32_t run = RUN; run < most; run *= 2) {
        typename S::Word words[RUN];
        const uint32_t pair = piece.from() & ~(2 * run - 1);
        const bool merges = pair + run < piece.size();
        if (merges) {
            const uint32_t begin = piece.part() + pair, end = piece.part() + min(pair + 2 * run, piece.size());
            merge_piece(sorted, begin, begin + run, end, piece.from() - pair, words);
        }
        __syncthreads();
        if (merges) {
#pragma unroll
            for (int k = 0; k < RUN; ++k)
                if (k < piece.length()) sorted.store(piece.part() + piece.from() + k, words[k]);
        }
        __syncthreads();
    }
}
