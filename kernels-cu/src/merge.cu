// Stable merge of two sorted arrays, by merge path; equal keys of a go first. Raw bits: keys of up to 4 bytes, the high bits of a word, or of 8, that compare
// as unsigned integers under two masks; values of up to 4, or of 8.
// merge_co_ranks_*: how many of the first k merged keys are of a, by halving: for given ranks, or for where tiles begin. merge_*: a block merges the
// keys of a tile of the result: it reads the part of either array that belongs there into shared memory, every thread finds its own part of the
// tile by halving and merges it one by one, and the keys go back by way of shared memory, so that neighbours write neighbours.
// search_*: for each needle how many keys of a sorted array come before it, or are not behind it, or equal it.
#include "keys.cuh"
#include "merge.cuh"

// The arrays: in[0] and in[1], whose strides are their lengths.
template <class K>
struct Arrays {
    Keys<K> a, b;
    uint64_t m, n;
    Order<K> order;
    IW_DEVICE Arrays(const Args& args) : a(args.in[0].ptr, 0), b(args.in[1].ptr, 0), m(args.in[0].stride), n(args.in[1].stride), order(args) {}
    IW_DEVICE bool first(uint64_t i, uint64_t j) const { return order.mapped(a.get(i)) <= order.mapped(b.get(j)); }
};

// From `low` to `high`.
template <class K>
IW_DEVICE uint64_t co_rank(const Arrays<K>& in, uint64_t k, uint64_t low, uint64_t high) {
    while (low < high) {
        const uint64_t i = low + (high - low) / 2;
        if (in.first(i, k - 1 - i))
            low = i + 1;
        else
            high = i;
    }
    return low;
}

// The same by a warp: 32 places at once, so a fifth of the steps.
template <class K>
IW_DEVICE uint64_t co_rank_of_warp(const Arrays<K>& in, uint64_t k) {
    uint64_t low = k > in.n ? k - in.n : 0, high = min(k, in.m);
    while (low < high) {
        const uint64_t step = (high - low + WARP - 1) / WARP, i = low + (lane_id() + 1) * step - 1;
        const uint32_t before = __popc(__ballot_sync(ALL_LANES, i < high && in.first(i, k - 1 - i)));
        low += before * step;
        high = min(high, low + step - 1);
    }
    return low;
}

// Of many tiles, those of a block begin between its first and its last: each is looked for where it would begin if keys of a were spread evenly, then on to
// one side in growing steps. A longer way, which reads less.
constexpr uint64_t BRACKETED_FROM = 8192;
constexpr uint64_t FIRST_STEP = 16;
template <class K>
IW_DEVICE uint64_t co_rank_between(const Arrays<K>& in, uint64_t k, uint64_t low, uint64_t high, float share) {
    if (low == high) return low;
    const uint64_t i = min(low + (uint64_t)((float)(high - low) * share), high - 1);
    const bool upwards = in.first(i, k - 1 - i);
    if (upwards)
        low = i + 1;
    else
        high = i;
    for (uint64_t step = FIRST_STEP; low < high; step *= 4) {
        const uint64_t reach = min(step, high - low), further = upwards ? low + reach - 1 : high - reach;
        const bool first = in.first(further, k - 1 - further);
        if (first)
            low = further + 1;
        else
            high = further;
        if (first != upwards) break;
    }
    return co_rank(in, k, low, high);
}

// n ranks: those of in[2], or the multiples of STEP.
template <class K>
IW_DEVICE void merge_co_ranks(const Args& args) {
    __shared__ uint64_t ends[2];
    const uint64_t first = (uint64_t)blockIdx.x * THREADS, at = first + threadIdx.x;
    const uint32_t count = (uint32_t)min((uint64_t)THREADS, args.n - first);
    const bool bracketed = !args.in[2].ptr && args.n >= BRACKETED_FROM;
    if (threadIdx.x >= count && !bracketed) return;
    const Arrays<K> in(args);
    uint64_t k = at * args.u[STEP];
    if (args.in[2].ptr) k = args.u[WIDE] ? ((const uint64_t*)args.in[2].ptr)[at] : ((const uint32_t*)args.in[2].ptr)[at];
    k = min(k, in.m + in.n);
    const uint64_t least = k > in.n ? k - in.n : 0, most = min(k, in.m);
    if (!bracketed) {
        put_number(args, at, co_rank(in, k, least, most));
        return;
    }
    const bool is_first = threadIdx.x == 0, is_last = threadIdx.x + 1 == count;
    if (is_first || is_last) {
        const uint64_t end = co_rank(in, k, least, most);
        if (is_first) ends[0] = end;
        if (is_last) ends[1] = end;
    }
    __syncthreads();
    if (threadIdx.x >= count) return;
    // Of arrays that are not sorted, co-ranks may fall.
    const uint64_t low = min(max(ends[0], least), most), high = min(max(ends[1], low), most);
    put_number(args, at, co_rank_between(in, k, low, high, (float)threadIdx.x / (float)max(count - 1, 1u)));
}

// The next head of one of two runs in shared memory (`i` and `j` are bytes of what lies at `keys`). What is not wanted is left out by predicates: to choose
// which of two heads a key replaces takes longer.
#define NEXT_HEAD(K, TYPE, SIZE, REGISTER)                                                                                            \
    IW_DEVICE void next_head(uint32_t keys, bool of_a, uint32_t& i, uint32_t& j, K& x, K& y) {                                         \
        asm volatile("{ .reg .pred p; .reg .u32 at; setp.ne.u32 p, %5, 0;"                                                            \
                     " @p add.u32 %0, %0, " SIZE "; @!p add.u32 %1, %1, " SIZE "; selp.b32 at, %0, %1, p; add.u32 at, at, %4;"        \
                     " @p ld.shared." TYPE " %2, [at]; @!p ld.shared." TYPE " %3, [at]; }"                                            \
                     : "+r"(i), "+r"(j), "+" REGISTER(x), "+" REGISTER(y)                                                             \
                     : "r"(keys), "r"((uint32_t)of_a));                                                                               \
    }
NEXT_HEAD(uint32_t, "u32", "4", "r")
NEXT_HEAD(uint64_t, "u64", "8", "l")

// Keys that a thread stores at once, where out[0] is aligned to so many (ALIGNED).
template <class K>
constexpr int EACH = sizeof(K) == 8 ? 2 : 4;

// in[2], in[3]: values; out[0], out[1]: merged keys and values. scratch[0]: where tiles begin in a; without it, blocks search for themselves.
template <class K, int P>
IW_DEVICE void merge_tile(const Args& args) {
    constexpr int I = ITEMS<K, P>, TILE = I * THREADS;
    // Parts that reach beyond the last tile's end read as much behind it.
    __shared__ __align__(16) K keys[TILE + I + 1];
    __shared__ unsigned short sources[P > 0 ? TILE : 1];
    __shared__ uint64_t cuts[2];
    const Arrays<K> in(args);
    const uint64_t begin = (uint64_t)blockIdx.x * TILE, end = min(begin + TILE, in.m + in.n);
    uint64_t from, to;
    if (args.scratch[0]) {
        const uint64_t* const starts = (const uint64_t*)args.scratch[0] + blockIdx.x;
        from = starts[0], to = starts[1];
    } else {
        if (warp_id() < 2) {
            const uint64_t cut = co_rank_of_warp(in, warp_id() ? end : begin);
            if (lane_id() == 0) cuts[warp_id()] = cut;
        }
        __syncthreads();
        from = cuts[0], to = cuts[1];
    }
    const int count = (int)(end - begin);
    // Of arrays that are not sorted, co-ranks may fall; what is read then is inside the arrays, too.
    const int of_a = to > from ? (int)min(to - from, (uint64_t)count) : 0;

    // Places of the tile: its keys of a, then its keys of b.
    const Keys<K> a = in.a.far_behind(from), b = in.b.far_behind((begin - from) - of_a);
    K key[I];
    if (count == TILE) {
        const Keys<K> a_here = a.behind(threadIdx.x), b_here = b.behind(threadIdx.x);
        const int left = of_a - (int)threadIdx.x;
        unrolled<I>([&](auto k) { key[k] = (k * THREADS < left ? a_here : b_here).template load<k.value * THREADS>(); });
    } else {
#pragma unroll
        for (int k = 0; k < I; ++k) {
            const int r = threadIdx.x + k * THREADS;
            key[k] = r < count ? (r < of_a ? a : b).behind(r).template load<0>() : (K)0;
        }
    }
#pragma unroll
    for (int k = 0; k < I; ++k) keys[threadIdx.x + k * THREADS] = in.order.mapped(key[k]);
    __syncthreads();

    const int k0 = min((int)threadIdx.x * I, count);
    const int low = co_rank_of_tile(keys, k0, of_a, count);
    constexpr uint32_t SIZE = sizeof(K);
    K x = keys[low], y = keys[of_a + k0 - low];
    const uint32_t keys_at = (uint32_t)__cvta_generic_to_shared(keys), i_end = of_a * SIZE, j_end = count * SIZE;
    uint32_t i = low * SIZE, j = (of_a + k0 - low) * SIZE;
    unsigned short source[I];
#pragma unroll
    for (int k = 0; k < I; ++k) {
        const bool takes_a = j >= j_end | (i < i_end & x <= y);
        key[k] = takes_a ? x : y;
        if (P > 0) source[k] = (unsigned short)((takes_a ? i : j) / SIZE);
        next_head(keys_at, takes_a, i, j, x, y);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < I; ++k) {
        keys[threadIdx.x * I + k] = key[k];
        if (P > 0) sources[threadIdx.x * I + k] = source[k];
    }
    __syncthreads();

    const Keys<K> out = Keys<K>(args.out[0], 0).far_behind(begin);
    if (count == TILE && args.u[ALIGNED]) {
#pragma unroll
        for (int r = EACH<K> * threadIdx.x; r < TILE; r += EACH<K> * THREADS) {
            K some[EACH<K>];
#pragma unroll
            for (int e = 0; e < EACH<K>; ++e) some[e] = in.order.back(keys[r + e]);
            out.store_all(r, some);
        }
    } else {
        for (int r = threadIdx.x; r < count; r += THREADS) out.store(r, in.order.back(keys[r]));
    }
    if constexpr (P > 0) {
        using V = typename PayloadOf<P>::Type;
        const Values<V> v = Values<V>(args.in[2].ptr, 0).far_behind(from), w = Values<V>(args.in[3].ptr, 0).far_behind((begin - from) - of_a);
        const Values<V> values_out = Values<V>(args.out[1], 0).far_behind(begin);
        V value[I];
#pragma unroll
        for (int k = 0; k < I; ++k) {
            const int r = threadIdx.x + k * THREADS;
            const int at = r < count ? sources[r] : 0;
            value[k] = r < count ? (at < of_a ? v : w).behind(at).template load<0>() : (V)0;
        }
#pragma unroll
        for (int k = 0; k < I; ++k) {
            const int r = threadIdx.x + k * THREADS;
            if (r < count) values_out.store(r, value[k]);
        }
    }
}

constexpr int NEEDLES = 4;  // of a thread, so that their loads are under way together

// Numbers of keys before each needle, or not behind it.
template <class K>
IW_DEVICE void bounds(const Keys<K>& sorted, uint64_t n, const Order<K>& order, const K (&needle)[NEEDLES], bool upper, uint64_t (&at)[NEEDLES]) {
    const auto before = [&](K key, K needle) { return key < needle || (upper && key == needle); };
#pragma unroll
    for (int k = 0; k < NEEDLES; ++k) at[k] = 0;
    uint64_t length = n;
    while (length > 1) {
        const uint64_t half = length / 2;
        K key[NEEDLES];
#pragma unroll
        for (int k = 0; k < NEEDLES; ++k) key[k] = sorted.get(at[k] + half - 1);
#pragma unroll
        for (int k = 0; k < NEEDLES; ++k) at[k] += before(order.mapped(key[k]), needle[k]) ? half : 0;
        length -= half;
    }
    if (length == 0) return;
#pragma unroll
    for (int k = 0; k < NEEDLES; ++k) at[k] += before(order.mapped(sorted.get(at[k])), needle[k]);
}

// in[0]: the sorted array, whose stride is its length; in[1]: n needles.
template <class K>
IW_DEVICE void search(const Args& args) {
    const Order<K> order(args);
    const Keys<K> sorted(args.in[0].ptr, 0), needles(args.in[1].ptr, 0);
    const uint64_t n = args.in[0].stride, first = (uint64_t)blockIdx.x * (THREADS * NEEDLES) + threadIdx.x;
    const uint32_t kind = args.u[KIND];
    K needle[NEEDLES];
#pragma unroll
    for (int k = 0; k < NEEDLES; ++k) {
        const uint64_t at = first + k * THREADS;
        needle[k] = at < args.n ? order.mapped(needles.get(at)) : (K)0;
    }
    uint64_t found[NEEDLES];
    bounds(sorted, n, order, needle, kind != LOWER, found);
    if (kind > UPPER) {
        uint64_t lower[NEEDLES];
        bounds(sorted, n, order, needle, false, lower);
#pragma unroll
        for (int k = 0; k < NEEDLES; ++k) found[k] = found[k] > lower[k] ? found[k] - lower[k] : 0;
    }
#pragma unroll
    for (int k = 0; k < NEEDLES; ++k) {
        const uint64_t at = first + k * THREADS;
        if (at < args.n) put_number(args, at, found[k]);
    }
}

#define MERGE(B, K, P) \
    IW_KERNEL(THREADS) merge_k##B##_p##P(const __grid_constant__ Args args) { merge_tile<K, P>(args); }
#define MERGES(B, K)                                                                                               \
    IW_KERNEL(THREADS) merge_co_ranks_k##B(const __grid_constant__ Args args) { merge_co_ranks<K>(args); }         \
    IW_KERNEL(THREADS) search_k##B(const __grid_constant__ Args args) { search<K>(args); }                         \
    MERGE(B, K, 0)                                                                                                 \
    MERGE(B, K, 4)                                                                                                 \
    MERGE(B, K, 8)

MERGES(4, uint32_t)
MERGES(8, uint64_t)
