// The rungs of the textbook's stable merge of two sorted arrays, keys of 4 bytes and values of 4; equal keys of a go first.
// basic: a thread finds by halving where its keys of the result begin in both arrays, and merges them one by one, in memory. tiled: a block finds that
// for its section, and merges tiles of both arrays in shared memory, which it loads again from where the last ones got to. circular: the tiles are
// rings, and only what was merged is loaded anew.
// The bounds are those of the elements that are there: neither tiles nor ranks reach behind the arrays' ends. All threads pass all barriers.
#include "merge.cuh"

constexpr int PER_THREAD = 8;
constexpr uint32_t TILE = 1024, SECTION = 4 * TILE, PER_TILE = TILE / THREADS;

// The arrays: in[0] and in[1], whose strides are their lengths; values, if they travel, in in[2] and in[3]. The result: out[0], out[1].
struct Arrays {
    const uint32_t *a, *b, *v, *w;
    uint32_t *keys, *values;
    uint64_t m, n;
    Order<uint32_t> order;
    IW_DEVICE Arrays(const Args& args)
        : a((const uint32_t*)args.in[0].ptr), b((const uint32_t*)args.in[1].ptr), v((const uint32_t*)args.in[2].ptr),
          w((const uint32_t*)args.in[3].ptr), keys((uint32_t*)args.out[0]), values((uint32_t*)args.out[1]), m(args.in[0].stride),
          n(args.in[1].stride), order(args) {}
    // Number of keys of a among the first k of the result.
    IW_DEVICE uint64_t co_rank(uint64_t k) const {
        uint64_t low = k > n ? k - n : 0, high = min(k, m);
        while (low < high) {
            const uint64_t i = low + (high - low) / 2;
            if (order.mapped(a[i]) <= order.mapped(b[k - 1 - i]))
                low = i + 1;
            else
                high = i;
        }
        return low;
    }
};

IW_KERNEL(THREADS) merge_basic(const __grid_constant__ Args args) {
    const Arrays in(args);
    const uint64_t total = in.m + in.n, first = ((uint64_t)blockIdx.x * THREADS + threadIdx.x) * PER_THREAD;
    if (first >= total) return;
    const uint64_t end = min(first + PER_THREAD, total);
    uint64_t i = in.co_rank(first), j = first - i;
#pragma unroll 1
    for (uint64_t k = first; k < end; ++k) {
        const bool of_a = j == in.n || (i < in.m && in.order.mapped(in.a[i]) <= in.order.mapped(in.b[j]));
        in.keys[k] = of_a ? in.a[i] : in.b[j];
        if (in.values) in.values[k] = of_a ? in.v[i] : in.w[j];
        if (of_a)
            ++i;
        else
            ++j;
    }
}

// Part of an array that a block holds: `have` keys from `start` on, in a ring or not; `done` keys of its part are merged.
template <bool RING>
struct Part {
    uint32_t* keys;
    uint64_t from;  // where the block's part begins in the array
    uint32_t len, start, have, done;
    IW_DEVICE uint32_t& at(uint32_t i) const { return keys[RING ? (start + i) % TILE : i]; }
    // Loads what there is room for, as far as there is something.
    IW_DEVICE void fill(const uint32_t* array, const Order<uint32_t>& order) {
        const uint32_t held = done + have, more = min(TILE - have, len - held);
        for (uint32_t i = threadIdx.x; i < more; i += THREADS) at(have + i) = order.mapped(array[from + held + i]);
        have += more;
    }
    IW_DEVICE void drop(uint32_t count) {
        start = RING ? (start + count) % TILE : 0;
        have = RING ? have - count : 0;
        done += count;
    }
};

template <bool RING>
IW_DEVICE uint32_t co_rank(const Part<RING>& a, const Part<RING>& b, uint32_t k) {
    uint32_t low = k > b.have ? k - b.have : 0, high = min(k, a.have);
    while (low < high) {
        const uint32_t i = (low + high) / 2;
        if (a.at(i) <= b.at(k - 1 - i))
            low = i + 1;
        else
            high = i;
    }
    return low;
}

template <bool RING>
IW_DEVICE void merge_sections(const Args& args) {
    __shared__ uint32_t keys_a[TILE], keys_b[TILE];
    __shared__ uint64_t cuts[2];
    const Arrays in(args);
    const uint64_t first = (uint64_t)blockIdx.x * SECTION;
    const uint32_t count = (uint32_t)min((uint64_t)SECTION, in.m + in.n - first);
    if (threadIdx.x < 2) cuts[threadIdx.x] = in.co_rank(first + threadIdx.x * count);
    __syncthreads();
    // Of arrays that are not sorted the second cut may lie before the first, or too far behind it.
    const uint64_t begin = cuts[0], end = min(max(cuts[1], begin), begin + count);
    Part<RING> a = {keys_a, begin, (uint32_t)(end - begin), 0, 0, 0};
    Part<RING> b = {keys_b, first - begin, count - a.len, 0, 0, 0};
#pragma unroll 1
    for (uint32_t made = 0; made < count; made += TILE) {
        a.fill(in.a, in.order);
        b.fill(in.b, in.order);
        __syncthreads();
        const uint32_t tile = min(TILE, count - made), k = min(threadIdx.x * PER_TILE, tile), stop = min(k + PER_TILE, tile);
        uint32_t i = co_rank(a, b, k), j = k - i;
#pragma unroll 1
        for (uint32_t c = k; c < stop; ++c) {
            const bool of_a = j == b.have || (i < a.have && a.at(i) <= b.at(j));
            in.keys[first + made + c] = in.order.back(of_a ? a.at(i) : b.at(j));
            if (in.values) in.values[first + made + c] = of_a ? in.v[a.from + a.done + i] : in.w[b.from + b.done + j];
            if (of_a)
                ++i;
            else
                ++j;
        }
        const uint32_t used = co_rank(a, b, tile);
        __syncthreads();
        a.drop(used);
        b.drop(tile - used);
    }
}

IW_KERNEL(THREADS) merge_tiled(const __grid_constant__ Args args) { merge_sections<false>(args); }
IW_KERNEL(THREADS) merge_circular(const __grid_constant__ Args args) { merge_sections<true>(args); }
