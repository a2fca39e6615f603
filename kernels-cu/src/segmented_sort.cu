// Stable sorts of parts of an array, of any lengths: part p is the keys between bounds p - 1 and p, which do not fall; before the first and behind the last
// lies a part more on either side, whose keys stay as they are, or, with LEAVES_REST, are left out.
// Short parts are sorted before (segmented_short.cu), and longer ones put on a list.
// segmented_rest_*: parts of one tile, digit by digit in shared memory (columns.cuh); and of few keys all that is not short, by blocks that meet.
// Longer parts: a digit of 8 bits a pass, as sort.cu sorts rows, with tiles that lie in one part each; keys that stay have digits of no bits, so each pass
// copies them. segmented_histogram_*: how often each value of each digit occurs in each part; segmented_plan turns that into where the keys of each value
// start. Where parts and windows stand in lists depends on timing, and shows nowhere.
#include "columns.cuh"
#include "short_parts.cuh"
#include "sort.cuh"
#include "together.cuh"

// The histograms hold [first tile of the part][pass][value] in scratch[1], zero before. A block takes neighbouring tiles, and adds to a part's counts when the
// next part begins. SHIFT and MASK: as in sort.cu.
template <class K, int THREADS>
IW_DEVICE void segmented_histogram(const Args& args, uint32_t* counters) {
    constexpr int COPIES = ::COPIES<K>;
    constexpr uint32_t STEP = THREADS * HISTOGRAM_LOADS;
    const int passes = args.u[PASSES];
    const uint32_t first = args.u[SHIFT], end = args.u[MASK];
    const K all = end ? (K)(~0ull >> (64 - end)) : (K)0;
    const uint32_t tiles = listed(args)[LONG_TILES], chunk = (tiles + gridDim.x - 1) / gridDim.x, begin = blockIdx.x * chunk;
    if (begin >= tiles) return;
    const uint32_t stop = begin + min(chunk, tiles - begin);
#pragma unroll 1
    for (int k = threadIdx.x; k < COUNTERS<K>; k += THREADS) counters[k] = 0;
    uint32_t* const own_counters = counters + threadIdx.x % COPIES;
    uint32_t part = 0;
    bool counted = false;
    const auto hand_over = [&] {
        __syncthreads();
        uint32_t* const counts = (uint32_t*)args.scratch[1] + (uint64_t)part * passes * RADIX;
#pragma unroll 1
        for (int k = threadIdx.x; k < passes * RADIX; k += THREADS) {
            uint32_t sum = 0;
#pragma unroll
            for (int c = 0; c < COPIES; ++c) sum += counters[k * COPIES + c], counters[k * COPIES + c] = 0;
            if (sum) atomicAdd(counts + k, sum);
        }
    };
    __syncthreads();
#pragma unroll 1
    for (uint32_t tile = begin; tile < stop;) {
        const uint32_t size = table_of(args, SIZE)[tile], of = table_of(args, FIRST)[tile];
        // Its tiles that follow are neighbours in the array, too, and all but the last have as many keys as this one.
        uint32_t low = tile, high = stop;
        while (high - low > 1) {
            const uint32_t middle = (low + high) / 2;
            if (table_of(args, FIRST)[middle] == of)
                low = middle;
            else
                high = middle;
        }
        const uint32_t count = (low - tile) * (size & ~STAYS) + (table_of(args, SIZE)[low] & ~STAYS);
        if (counted) {
            hand_over();
            __syncthreads();
        }
        part = of, counted = true;
        const K compared = size & STAYS ? (K)0 : all;
        const Keys<K> keys((uint64_t)args.in[0].ptr, table_of(args, BEGIN)[tile]);
        tile = high;
        const auto bits_of = [&](K key) { return (K)((mapped(key, args) & compared) >> first); };
        uint32_t i = threadIdx.x;
#pragma unroll 1
        for (; i + (HISTOGRAM_LOADS - 1) * THREADS < count; i += STEP) {
            const Keys<K> own = keys.behind(i);
            K key[HISTOGRAM_LOADS];
            unrolled<HISTOGRAM_LOADS>([&](auto k) { key[k] = own.template load<k.value * THREADS>(); });
#pragma unroll
            for (int k = 0; k < HISTOGRAM_LOADS; ++k) key[k] = bits_of(key[k]);
            count_digits(own_counters, key, passes);
        }
#pragma unroll 1
        for (; i < count; i += THREADS) {
            K key[] = {bits_of(keys.behind(i).template load<0>())};
            count_digits(own_counters, key, passes);
        }
    }
    if (counted) hand_over();
}

// Counts become starts, a part to a block of RADIX threads or more at a time.
IW_DEVICE void segmented_plan(const Args& args, uint32_t* sums) {
    const uint32_t tiles = listed(args)[LONG_TILES];
    const int passes = args.u[PASSES];
#pragma unroll 1
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        if (table_of(args, FIRST)[tile] != tile) continue;
        const uint32_t begin = table_of(args, BEGIN)[tile];
        uint32_t* const counts = (uint32_t*)args.scratch[1] + (uint64_t)tile * passes * RADIX;
#pragma unroll 1
        for (int p = 0; p < passes; ++p) {
            const bool has_value = threadIdx.x < RADIX;
            uint32_t* const at = counts + p * RADIX + threadIdx.x;
            const uint32_t before = sum_before<RADIX / WARP>(has_value ? *at : 0, sums);
            if (has_value) *at = begin + before;
            __syncthreads();
        }
    }
}
IW_KERNEL(RADIX) segmented_plan(const __grid_constant__ Args args) {
    __shared__ uint32_t sums[RADIX / WARP];
    segmented_plan(args, sums);
}

// Keys that stay, and what travels with them.
template <class K, int P>
IW_DEVICE void copy_part(const Args& args, uint32_t begin, uint32_t count) {
    using V = typename PayloadOf<P>::Type;
    const Keys<K> keys((uint64_t)args.in[0].ptr, 0), keys_out((uint64_t)args.out[0], 0);
#pragma unroll 1
    for (uint32_t at = begin + threadIdx.x; at < begin + count; at += THREADS) {
        if (!(args.u[FLAGS] & DROPS_KEYS)) keys_out.store(at, keys.behind(at).template load<0>());
        if constexpr (P > 0)
            if (travels<K, P>(args)) ((V*)args.out[1])[at] = args.u[FLAGS] & INDICES ? (V)at : ((const V*)args.in[1].ptr)[at];
    }
}

// A block's shared memory, of which each step needs all.
template <class K, int P>
union RestRoom {
    ColumnRoom<K, P> columns;
    uint32_t counters[COUNTERS<K>];
    PassRoom<K, P, true> pass;
};

// Where part p begins and ends. All threads of the block call it, and meet before `sums` is used again. Of offsets as they were given, a bound is the
// largest up to it, as far as there are keys.
IW_DEVICE uint2 bounds_of(const Args& args, uint32_t p, uint32_t* sums) {
    const uint32_t n = args.u[N], parts = args.u[ROWS];
    if (!(args.u[FLAGS] & GIVEN)) return {part_begin(args, p), p + 1 == parts ? n : part_begin(args, p + 1)};
    const auto offset = [&](uint32_t k) {
        return args.u[FLAGS] & WIDE ? (uint32_t)min(((const uint64_t*)args.in[3].ptr)[k], (uint64_t)n) : min(((const uint32_t*)args.in[3].ptr)[k], n);
    };
    uint32_t most = 0;
#pragma unroll 1
    for (uint32_t k = threadIdx.x; k < p; k += THREADS) most = max(most, offset(k));
    const uint32_t next = p + 1 == parts ? n : offset(p);
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) most = max(most, __shfl_xor_sync(ALL_LANES, most, step));
    if (lane_id() == 0) sums[warp_id()] = most;
    __syncthreads();
    uint32_t begin = 0;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) begin = max(begin, sums[w]);
    return {begin, max(begin, next)};
}

// Blocks take one part after the other: with EACH whatever their lengths, and those of several tiles are put on the list; else those of one tile.
template <class K, int P>
IW_DEVICE void segmented_parts(const Args& args, ColumnRoom<K, P>& room, uint32_t* sums) {
    constexpr uint32_t TILE = ITEMS<K, P, true> * THREADS;
    const bool each = args.u[FLAGS] & EACH;
    const uint32_t parts = each ? args.u[ROWS] : listed(args)[ALONE_PARTS];
#pragma unroll 1
    for (uint32_t p = blockIdx.x; p < parts; p += gridDim.x) {
        uint32_t begin, count;
        bool stays, left = false;
        if (each) {
            const uint2 bounds = bounds_of(args, p, sums);
            begin = bounds.x, count = bounds.y - begin;
            stays = p == 0 || p == parts - 1, left = stays && args.u[FLAGS] & LEAVES_REST;
            if (!stays && count > TILE) {
                list_part(args, begin, count, 0, TILE);
                left = true;
            }
        } else {
            const AlonePart part = alone_parts(args)[p];
            begin = part.begin, count = part.size & ~STAYS, stays = part.size & STAYS;
        }
        if (count > 0 && !left) {
            if (stays)
                copy_part<K, P>(args, begin, count);
            else
                sort_in_columns(args, begin, count, room, sums);
        }
        __syncthreads();
    }
}

// scratch[3]: where blocks meet.
template <class K, int P>
IW_DEVICE void segmented_rest(const Args& args) {
    __shared__ RestRoom<K, P> room;
    __shared__ uint32_t sums[WARPS];
    Meeting meeting{(uint32_t*)args.scratch[3]};
    const auto meet = [&] {
        meeting.arrive();
        meeting.wait();
    };
    segmented_parts(args, room.columns, sums);
    if (args.u[FLAGS] & EACH)
        meet();
    else if (!(args.u[FLAGS] & TOGETHER))
        return;
    if (listed(args)[LONG_TILES] != 0) {
        segmented_histogram<K, THREADS>(args, room.counters);
        meet();
        segmented_plan(args, sums);
        const uint32_t passes = args.u[PASSES], end = args.u[MASK];
#pragma unroll 1
        for (uint32_t p = 0, shift = args.u[SHIFT]; p < passes; ++p, shift += 8) {
            meet();
            const uint32_t left = passes - 1 - p, bits = shift < end ? min(end - shift, 8u) : 0;
            const uint32_t plan = (p == 0 ? READS_SOURCE : 0) | (left % 2 == 1 ? WRITES_AWAY : READS_AWAY) | (left == 0 ? LAST : 0);
            const Pass pass = {p, plan, bits == 0 ? 0 : shift, (1u << bits) - 1};
            while (sort_pass(args, pass, room.pass)) __syncthreads();
        }
    }
    // Counters are zero again for the next sort.
    if (threadIdx.x == 0 && arrive_add(listed(args) + ENDED, 1) == gridDim.x - 1) *(uint4*)listed(args) = {0, 0, 0, 0};
}

#define SEGMENTED_HISTOGRAM(B, K) \
    IW_KERNEL(HISTOGRAM_THREADS) segmented_histogram_k##B(const __grid_constant__ Args args) { \
        __shared__ uint32_t counters[COUNTERS<K>];                                             \
        segmented_histogram<K, HISTOGRAM_THREADS>(args, counters);                             \
    }
#define SEGMENTED_SORT(B, K, P)                                                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS, 2) segmented_pass_k##B##_p##P(const __grid_constant__ Args args) {         \
        __shared__ PassRoom<K, P, true> room;                                                                                        \
        while (sort_pass(args, only_pass(args), room)) __syncthreads();                                                              \
    }                                                                                                                                \
    extern "C" __global__ void __launch_bounds__(THREADS, P > 0 && sizeof(K) <= 4 ? 2 : 3) segmented_rest_k##B##_p##P(const __grid_constant__ Args args) { \
        segmented_rest<K, P>(args);                                                                                                  \
    }
// Keys of up to 4 bytes, with a payload or without, and of 8, which take the same for both.
SEGMENTED_HISTOGRAM(4, uint32_t)
SEGMENTED_SORT(4, uint32_t, 0)
SEGMENTED_SORT(4, uint32_t, 4)
SEGMENTED_HISTOGRAM(8, uint64_t)
SEGMENTED_SORT(8, uint64_t, 4)
