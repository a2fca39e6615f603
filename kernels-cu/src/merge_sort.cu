// Stable merge sort by the caller's order, and merges by it. Raw bits: keys of 1 to 8 bytes that only the operator looks into, values or indices of 4.
// sort_by_tile_*: a block sorts a tile: every thread sorts a part of it in registers by odd-even transposition, then runs are merged in pairs, each
// twice as long, until one is left. sort_by_two_tiles_*: the same of two tiles, which are merged then, so that a pass is saved.
// sort_by_merge_*: a block merges a tile of the result of two runs: it reads the part of either run that belongs there into shared memory, every
// thread finds its own part of the tile by halving and merges it one by one, and what is merged goes back by way of shared memory, so that
// neighbours write neighbours. sort_by_cuts_*: how many keys before such a tile are of the first run, by halving.
// Tiles and parts, and with them the keys that are compared, are the contract's: the same bits come of an order that contradicts itself.
#include "iw.cuh"
#include "keys.cuh"

constexpr int THREADS = 256;

// Words of u. SHIFT: log2 of the tiles to a pair of runs. BASE: where indices of the second array begin.
constexpr int SHIFT = 0, FLAGS = 1, BASE = 2;
constexpr uint32_t INDICES = 1, DROPS_KEYS = 2;

template <class K>
constexpr int PART = sizeof(K) == 8 ? 8 : 16;
template <class K>
constexpr int TILE = PART<K> * THREADS;

// Whether a comes before b.
IW_DEVICE bool before(uint32_t a, uint32_t b) {
    uint32_t yes;
    asm("// @op.before %0, %1, %2;" : "=r"(yes) : "r"(a), "r"(b));
    return yes != 0;
}
IW_DEVICE bool before(uint64_t a, uint64_t b) {
    uint32_t yes;
    asm("// @op.before %0, %1, %2, %3, %4;"
        : "=r"(yes)
        : "r"((uint32_t)a), "r"((uint32_t)(a >> 32)), "r"((uint32_t)b), "r"((uint32_t)(b >> 32)));
    return yes != 0;
}

// The next head of one of two runs in shared memory (`i` and `j` are bytes of the runs, gaps left out; `keys` is where they lie). What is not wanted is left
// out by predicates: to choose an address, and which of two heads a key replaces, takes twice as long.
#define NEXT_HEAD(K, TYPE, SIZE, REGISTER)                                                                                                       \
    IW_DEVICE void next_head(uint32_t keys, bool of_a, uint32_t& i, uint32_t& j, K& x, K& y) {                                                   \
        asm volatile("{ .reg .pred p; .reg .u32 at, row; setp.ne.u32 p, %5, 0;"                                                                  \
                     " @p add.u32 %0, %0, " SIZE "; @!p add.u32 %1, %1, " SIZE "; selp.b32 at, %0, %1, p;"                                       \
                     " shr.u32 row, at, 7; mad.lo.u32 at, row, " SIZE ", at; add.u32 at, at, %4;"                                                \
                     " @p ld.shared." TYPE " %2, [at]; @!p ld.shared." TYPE " %3, [at]; }"                                                       \
                     : "+r"(i), "+r"(j), "+" REGISTER(x), "+" REGISTER(y)                                                                        \
                     : "r"(keys), "r"((uint32_t)of_a));                                                                                          \
    }
NEXT_HEAD(uint32_t, "u32", "4", "r")
NEXT_HEAD(uint64_t, "u64", "8", "l")

// Where key r of a tile lies: a gap after each row of all banks, so that neither threads that take neighbours nor threads that take parts meet in one.
template <class K>
constexpr int ROW = sizeof(K) == 8 ? 4 : 5;
template <class K>
IW_DEVICE int place(uint32_t r) {
    return (int)(r + (r >> ROW<K>));
}
// The place of key threadIdx.x + k * N of a block of N threads, and of the e-th key of the thread's part.
template <class K, int N>
IW_DEVICE int striped(int k) {
    return place<K>(threadIdx.x) + k * (N + (N >> ROW<K>));
}
template <class K>
IW_DEVICE int blocked(int e) {
    return place<K>(threadIdx.x * PART<K>) + e;
}

template <class K, int N>
constexpr int GAPPED = N + (N >> ROW<K>);

// Tiles in shared memory, with room for heads that are read behind their end.
template <class K, bool PAIRS, int TILES>
struct Shared {
    K keys[GAPPED<K, TILES * TILE<K> + PART<K> + 1>];
    // Where in the tile, as it was read, the key of a place was.
    unsigned short sources[PAIRS ? GAPPED<K, TILE<K>> : 1];
};

// A thread's part: keys, and where in the tile they were.
template <class K>
struct Part {
    K key[PART<K>];
    int source[PART<K>];
};

// A merge in shared memory: from its k-th element on, that of the runs [a, end_a) and [b, end_b).
struct Merge {
    int a, end_a, b, end_b, k;
};
template <class K, bool PAIRS, int TILES>
IW_DEVICE void merge_part(const Shared<K, PAIRS, TILES>& tile, const Merge& merge, Part<K>& part) {
    const int a = merge.a, end_a = merge.end_a, b = merge.b, end_b = merge.end_b, k = merge.k;
    // Places in the tile, the sum of whose numbers and those of the second run's is the same throughout.
    const uint32_t sum = a + b + k;
    uint32_t low = a + max(0, k - (end_b - b)), high = a + min(k, end_a - a);
#pragma unroll 1
    while (low < high) {
        const uint32_t i = (low + high) / 2;
        if (before(tile.keys[place<K>(sum - 1 - i)], tile.keys[place<K>(i)]))
            high = i;
        else
            low = i + 1;
    }
    K x = tile.keys[place<K>(low)], y = tile.keys[place<K>(sum - low)];
    constexpr uint32_t SIZE = sizeof(K);
    const uint32_t keys = (uint32_t)__cvta_generic_to_shared(tile.keys), i_end = end_a * SIZE, j_end = end_b * SIZE;
    uint32_t i = low * SIZE, j = (sum - low) * SIZE;
#pragma unroll
    for (int e = 0; e < PART<K>; ++e) {
        const bool behind = before(y, x), takes_a = j >= j_end | (i < i_end & !behind);
        part.key[e] = takes_a ? x : y;
        if (PAIRS) part.source[e] = (takes_a ? i : j) / SIZE;
        next_head(keys, takes_a, i, j, x, y);
    }
}

template <class K, bool PAIRS, int TILES>
IW_DEVICE void put_part(Shared<K, PAIRS, TILES>& tile, const Part<K>& part) {
#pragma unroll
    for (int e = 0; e < PART<K>; ++e) {
        const int at = blocked<K>(e);
        tile.keys[at] = part.key[e];
        if (PAIRS) tile.sources[at] = (unsigned short)part.source[e];
    }
}

template <class K>
IW_DEVICE void exchange(Part<K>& part, int e, bool there) {
    const K x = part.key[e], y = part.key[e + 1];
    const int s = part.source[e], t = part.source[e + 1];
    const bool swaps = before(y, x) & there;
    part.key[e] = swaps ? y : x;
    part.key[e + 1] = swaps ? x : y;
    part.source[e] = swaps ? t : s;
    part.source[e + 1] = swaps ? s : t;
}

// The first keys of the tiles, as they are read by neighbours.
template <class K, bool PAIRS, int TILES>
IW_DEVICE void store_keys(const Shared<K, PAIRS, TILES>& tile, const Keys<K>& out, int count) {
    constexpr int N = TILES * THREADS;
    if (count == TILES * TILE<K>) {
#pragma unroll
        for (int k = 0; k < PART<K>; ++k) out.store(threadIdx.x + k * N, tile.keys[striped<K, N>(k)]);
    } else {
#pragma unroll 1
        for (int r = threadIdx.x; r < count; r += N) out.store(r, tile.keys[place<K>(r)]);
    }
}

// The part of two tiles that a thread merges, cut as sort_by_merge_* cuts them.
template <class K>
IW_DEVICE Merge of_two_tiles(const Shared<K, false, 2>& tile, int first, int count) {
    int low = max(0, 2 * TILE<K> - count), high = TILE<K>;
#pragma unroll 1
    while (low < high) {
        const int i = (low + high) / 2;
        if (before(tile.keys[place<K>(2 * TILE<K> - 1 - i)], tile.keys[place<K>(i)]))
            high = i;
        else
            low = i + 1;
    }
    const bool second = first >= TILE<K>;
    const int begin = second ? TILE<K> : 0, from = second ? low : 0, of_a = second ? TILE<K> - low : low;
    const int b = TILE<K> + begin - from, of_b = (second ? count - TILE<K> : TILE<K>) - of_a;
    return {from, from + of_a, b, b + of_b, min(first, count) - begin};
}

// in[0]: n keys; in[1]: values; out[0], out[1]: keys and values, which may be in the places that they are read from. A block takes one tile, or two,
// which it merges.
template <class K, bool PAIRS, int TILES>
IW_DEVICE void sort_tile(const Args& args) {
    constexpr int I = PART<K>, N = TILES * THREADS;
    __shared__ Shared<K, PAIRS, TILES> tile;
    const uint64_t begin = (uint64_t)blockIdx.x * (TILES * TILE<K>);
    const int count = (int)min((uint64_t)(TILES * TILE<K>), args.n - begin);
    const Keys<K> keys = Keys<K>(args.in[0].ptr, 0).far_behind(begin), mine_in = keys.behind(threadIdx.x);
    const int first = threadIdx.x * I;
    Part<K> part;
    if (count == TILES * TILE<K>) {
        unrolled<I>([&](auto k) { part.key[k] = mine_in.template load<k.value * N>(); });
#pragma unroll
        for (int k = 0; k < I; ++k) tile.keys[striped<K, N>(k)] = part.key[k];
    } else {
#pragma unroll 1
        for (int r = threadIdx.x; r < TILES * TILE<K>; r += N) tile.keys[place<K>(r)] = r < count ? keys.behind(r).template load<0>() : (K)0;
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < I; ++e) {
        part.key[e] = tile.keys[blocked<K>(e)];
        part.source[e] = first + e;
    }

    const int mine = count - first;
#pragma unroll 1
    for (int round = 0; round < I; round += 2) {
#pragma unroll
        for (int e = 0; e + 1 < I; e += 2) exchange(part, e, e + 1 < mine);
#pragma unroll
        for (int e = 1; e + 1 < I; e += 2) exchange(part, e, e + 1 < mine);
    }

#pragma unroll 1
    for (int run = I; run < count; run *= 2) {
        __syncthreads();
        put_part(tile, part);
        __syncthreads();
        const int a = min(first & -(2 * run), count), b = min(a + run, count);
        Merge merge = {a, b, b, min(b + run, count), min(first, count) - a};
        if constexpr (TILES == 2) {
            if (run == TILE<K>) merge = of_two_tiles<K>(tile, first, count);
        }
        merge_part(tile, merge, part);
        if (PAIRS) {
#pragma unroll
            for (int e = 0; e < I; ++e) part.source[e] = tile.sources[place<K>(part.source[e] & (TILE<K> - 1))];
        }
    }

    __syncthreads();
    put_part(tile, part);
    __syncthreads();
    if (!(args.u[FLAGS] & DROPS_KEYS)) store_keys(tile, Keys<K>(args.out[0], 0).far_behind(begin), count);
    if (PAIRS) {
        const uint32_t* const values = (const uint32_t*)args.in[1].ptr + begin;
        uint32_t* const values_out = (uint32_t*)args.out[1] + begin;
        const bool indices = args.u[FLAGS] & INDICES;
        uint32_t value[I];
#pragma unroll
        for (int k = 0; k < I; ++k) {
            const int r = threadIdx.x + k * N;
            const uint32_t source = r < count ? tile.sources[striped<K, N>(k)] : 0;
            value[k] = indices ? (uint32_t)begin + source : values[source];
        }
        // Where values lie in place, all are read now.
        __syncthreads();
#pragma unroll
        for (int k = 0; k < I; ++k) {
            const int r = threadIdx.x + k * N;
            if (r < count) values_out[r] = value[k];
        }
    }
}

// in[0], in[1]: where the runs of the first pair begin; their strides: keys of a run, fewer at the end of all n. Which pair a block's tile is of, and
// where in the result of the pair it is.
template <class K>
struct Runs {
    Keys<K> a, b;
    uint64_t m, n;      // keys of the two
    uint64_t skipped;   // keys of the pairs before this
    uint64_t begin;     // the tile's first key of the result
    uint64_t end;
    IW_DEVICE Runs(const Args& args, uint64_t block) : a(args.in[0].ptr, 0), b(args.in[1].ptr, 0) {
        const uint64_t first = block >> args.u[SHIFT] << args.u[SHIFT];
        skipped = first * TILE<K>;
        m = min((uint64_t)args.in[0].stride, args.n - skipped);
        n = min((uint64_t)args.in[1].stride, args.n - skipped - m);
        a = a.far_behind(skipped), b = b.far_behind(skipped);
        begin = (block - first) * TILE<K>;
        end = min(begin + TILE<K>, m + n);
    }
    // Number of keys of the first run among the first k, by halving, by a group of 2^LEVELS lanes: each looks at one of the places that the next
    // LEVELS halvings can come to, so what is asked is what one lane alone would ask, at once.
    template <int LEVELS>
    IW_DEVICE uint64_t co_rank(uint64_t k) const {
        constexpr uint32_t LANES = 1u << LEVELS;
        const uint32_t at = lane_id() % LANES, group = lane_id() / LANES * LANES;
        uint64_t low = k > n ? k - n : 0, high = min(k, m);
        while (__any_sync(ALL_LANES, low < high)) {
            uint64_t from = low, to = high;
#pragma unroll
            for (int level = LEVELS - 2; level >= 0; --level) {
                // Above this lane's place in the tree of halvings, whose root is 1; left is `high = i`.
                if (at >> level < 2 || from >= to) continue;
                const uint64_t i = from + (to - from) / 2;
                if (at >> level & 1) from = i + 1;
                else to = i;
            }
            const uint64_t i = from + (to - from) / 2;
            const bool is_before = at != 0 && from < to && before(b.far_behind(k - 1 - i).template load<0>(), a.far_behind(i).template load<0>());
            const uint32_t found = __ballot_sync(ALL_LANES, is_before) >> group;
            uint32_t node = 1;
#pragma unroll
            for (int level = 0; level < LEVELS && low < high; ++level) {
                const uint64_t middle = low + (high - low) / 2;
                const bool left = found >> node & 1;
                if (left) high = middle;
                else low = middle + 1;
                node = 2 * node + !left;
            }
        }
        return low;
    }
};

// out[0]: of every tile how many keys of its pair's first run are before it. Where tiles are many, lanes that look ahead cost more reads than they save
// time, so two search together, of which one does.
template <class K, int LEVELS>
IW_DEVICE void cuts_of_tiles(const Args& args) {
    const uint64_t place = ((uint64_t)blockIdx.x * THREADS + threadIdx.x) >> LEVELS, tiles = (args.n + TILE<K> - 1) / TILE<K>;
    // All lanes of a warp search, some of them for the last tile once more.
    const uint64_t block = min(place, tiles - 1);
    const Runs<K> runs(args, block);
    const uint64_t cut = runs.template co_rank<LEVELS>(runs.begin);
    if (threadIdx.x % (1 << LEVELS) == 0 && place == block) ((uint64_t*)args.out[0])[block] = cut;
}

// in[2], in[3]: values of the runs; out[0], out[1]: merged keys and values. scratch[0]: where tiles begin, unless blocks search for themselves.
template <class K, bool PAIRS, bool SEARCHES>
IW_DEVICE void merge_tile(const Args& args) {
    constexpr int I = PART<K>;
    __shared__ Shared<K, PAIRS, 1> tile;
    __shared__ uint64_t cuts[SEARCHES ? 2 : 1];
    const Runs<K> runs(args, blockIdx.x);
    const bool last = runs.end == runs.m + runs.n;
    uint64_t from, to;
    if constexpr (!SEARCHES) {
        const uint64_t* const starts = (const uint64_t*)args.scratch[0] + blockIdx.x;
        from = starts[0], to = last ? runs.m : starts[1];
    } else {
        if (warp_id() < 2) {
            const uint64_t cut = runs.template co_rank<5>(warp_id() ? runs.end : runs.begin);
            if (lane_id() == 0) cuts[warp_id()] = cut;
        }
        __syncthreads();
        from = cuts[0], to = cuts[1];
    }
    const int count = (int)(runs.end - runs.begin);
    // Of runs that are not sorted, co-ranks may fall; what is read then is inside the runs, too.
    const int of_a = to > from ? (int)min(to - from, (uint64_t)count) : 0;

    // Places of the tile: its keys of the first run, then its keys of the second.
    const Keys<K> a = runs.a.far_behind(from), b = runs.b.far_behind((runs.begin - from) - of_a);
    Part<K> part;
    if (count == TILE<K>) {
        const Keys<K> a_here = a.behind(threadIdx.x), b_here = b.behind(threadIdx.x);
        const int left = of_a - (int)threadIdx.x;
        unrolled<I>([&](auto k) { part.key[k] = Keys<K>::template load_one_of<k.value * THREADS>(a_here, b_here, k * THREADS < left); });
#pragma unroll
        for (int k = 0; k < I; ++k) tile.keys[striped<K, THREADS>(k)] = part.key[k];
    } else {
#pragma unroll 1
        for (int r = threadIdx.x; r < TILE<K>; r += THREADS) tile.keys[place<K>(r)] = r < count ? (r < of_a ? a : b).behind(r).template load<0>() : (K)0;
    }
    __syncthreads();
    merge_part(tile, {0, of_a, of_a, count, min((int)threadIdx.x * I, count)}, part);
    __syncthreads();
    put_part(tile, part);
    __syncthreads();

    const uint64_t out = runs.skipped + runs.begin;
    if (!(args.u[FLAGS] & DROPS_KEYS)) store_keys(tile, Keys<K>(args.out[0], 0).far_behind(out), count);
    if (PAIRS) {
        const uint32_t* const v = (const uint32_t*)args.in[2].ptr + runs.skipped + from;
        const uint32_t* const w = (const uint32_t*)args.in[3].ptr + runs.skipped + (runs.begin - from) - of_a;
        const bool indices = args.u[FLAGS] & INDICES;
        const uint32_t index_a = (uint32_t)from, index_b = args.u[BASE] + (uint32_t)(runs.begin - from) - (uint32_t)of_a;
        uint32_t* const values_out = (uint32_t*)args.out[1] + out;
        uint32_t value[I];
#pragma unroll
        for (int k = 0; k < I; ++k) {
            const int r = threadIdx.x + k * THREADS;
            value[k] = 0;
            if (r < count) {
                const int at = tile.sources[striped<K, THREADS>(k)];
                value[k] = indices ? (at < of_a ? index_a : index_b) + at : (at < of_a ? v : w)[at];
            }
        }
#pragma unroll
        for (int k = 0; k < I; ++k) {
            const int r = threadIdx.x + k * THREADS;
            if (r < count) values_out[r] = value[k];
        }
    }
}

// Registers for so many blocks to a multiprocessor.
#define SORT(NAME, THREADS, BLOCKS, BODY) \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) NAME(const __grid_constant__ Args args) { BODY(args); }
#define SORTS(B, K, BLOCKS)                                                            \
    SORT(sort_by_cuts_k##B, THREADS, 1, (cuts_of_tiles<K, 1>))                         \
    SORT(sort_by_cuts_few_k##B, THREADS, 1, (cuts_of_tiles<K, 3>))                     \
    SORT(sort_by_tile_k##B##_p0, THREADS, BLOCKS, (sort_tile<K, false, 1>))            \
    SORT(sort_by_tile_k##B##_p4, THREADS, 4, (sort_tile<K, true, 1>))                  \
    SORT(sort_by_two_tiles_k##B##_p0, 2 * THREADS, 3, (sort_tile<K, false, 2>))        \
    SORT(sort_by_merge_k##B##_p0, THREADS, BLOCKS, (merge_tile<K, false, false>))      \
    SORT(sort_by_merge_k##B##_p4, THREADS, 5, (merge_tile<K, true, false>))            \
    SORT(sort_by_merge_few_k##B##_p0, THREADS, 4, (merge_tile<K, false, true>))        \
    SORT(sort_by_merge_few_k##B##_p4, THREADS, 4, (merge_tile<K, true, true>))

// Keys of up to 4 bytes, and of 8.
SORTS(4, uint32_t, 5)
SORTS(8, uint64_t, 4)
