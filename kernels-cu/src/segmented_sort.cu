// Stable radix sort of parts of an array, of any lengths, a digit of 8 bits a pass: as sort.cu sorts rows, with tiles that lie in one part each. A table says
// where (sort.cuh); the host knows how many tiles there are at most. Parts that are not sorted have digits of no bits, so each pass copies them.
// segmented_histogram_*: how often each value of each digit occurs in each part, which is a part's own scratch; segmented_plan turns that into where the keys
// of each value start.
#include "sort.cuh"

// The histograms hold [part][pass][value] in scratch[1], zero before. A block takes CHUNKS neighbouring tiles, and adds to a part's counts when the next part
// begins. SHIFT and MASK: as in sort.cu.
template <class K>
IW_DEVICE void segmented_histogram(const Args& args) {
    constexpr int DIGITS = sizeof(K), COPIES = DIGITS <= 4 ? 8 : 4;
    constexpr uint32_t STEP = HISTOGRAM_THREADS * HISTOGRAM_LOADS;
    __shared__ uint32_t counters[DIGITS * RADIX * COPIES];
    const int passes = args.u[PASSES];
    const uint32_t first = args.u[SHIFT], end = args.u[MASK];
    const K all = end ? (K)(~0ull >> (64 - end)) : (K)0;
    const uint32_t tiles = args.u[TILES], begin = blockIdx.x * args.u[CHUNKS];
    const uint32_t stop = begin < tiles ? begin + min(args.u[CHUNKS], tiles - begin) : begin;
#pragma unroll 1
    for (int k = threadIdx.x; k < DIGITS * RADIX * COPIES; k += HISTOGRAM_THREADS) counters[k] = 0;
    uint32_t* const own = counters + threadIdx.x % COPIES;
    uint32_t part = 0;
    bool counted = false;
    const auto hand_over = [&] {
        __syncthreads();
        uint32_t* const counts = (uint32_t*)args.scratch[1] + (uint64_t)part * passes * RADIX;
#pragma unroll 1
        for (int k = threadIdx.x; k < passes * RADIX; k += HISTOGRAM_THREADS) {
            uint32_t sum = 0;
#pragma unroll
            for (int c = 0; c < COPIES; ++c) sum += counters[k * COPIES + c], counters[k * COPIES + c] = 0;
            if (sum) atomicAdd(counts + k, sum);
        }
    };
    __syncthreads();
#pragma unroll 1
    for (uint32_t tile = begin; tile < stop; ++tile) {
        const uint32_t size = table_of(args, SIZE)[tile], count = size & ~STAYS, its = table_of(args, PART_NUMBER)[tile];
        if (count == 0) break;
        if (counted && its != part) {
            hand_over();
            __syncthreads();
        }
        part = its, counted = true;
        const K compared = size & STAYS ? (K)0 : all;
        const K* const keys = (const K*)args.in[0].ptr + table_of(args, BEGIN)[tile];
        const auto count_one = [&](K key) {
            const K bits = (K)((mapped(key, args) & compared) >> first);
#pragma unroll
            for (int p = 0; p < DIGITS; ++p)
                if (p < passes) atomicAdd(own + (p * RADIX + ((uint32_t)(bits >> (8 * p)) & 255u)) * COPIES, 1u);
        };
        uint32_t i = threadIdx.x;
#pragma unroll 1
        for (; i + (HISTOGRAM_LOADS - 1) * HISTOGRAM_THREADS < count; i += STEP) {
            K key[HISTOGRAM_LOADS];
#pragma unroll
            for (int k = 0; k < HISTOGRAM_LOADS; ++k) key[k] = keys[i + k * HISTOGRAM_THREADS];
#pragma unroll
            for (int k = 0; k < HISTOGRAM_LOADS; ++k) count_one(key[k]);
        }
#pragma unroll 1
        for (; i < count; i += HISTOGRAM_THREADS) count_one(keys[i]);
    }
    if (counted) hand_over();
}

// A block to each part: counts become starts. scratch[3]: the parts' bounds.
IW_KERNEL(RADIX) segmented_plan(const __grid_constant__ Args args) {
    __shared__ uint32_t sums[RADIX / WARP];
    const uint32_t* const bounds = (const uint32_t*)args.scratch[3];
    const uint32_t begin = bounds[blockIdx.x];
    if (begin == bounds[blockIdx.x + 1]) return;
    const int passes = args.u[PASSES];
    uint32_t* const counts = (uint32_t*)args.scratch[1] + (uint64_t)blockIdx.x * passes * RADIX;
    for (int p = 0; p < passes; ++p) {
        uint32_t* const at = counts + p * RADIX + threadIdx.x;
        *at = begin + sum_before<RADIX / WARP>(*at, sums);
        __syncthreads();
    }
}

#define SEGMENTED_HISTOGRAM(B, K) \
    IW_KERNEL(HISTOGRAM_THREADS) segmented_histogram_k##B(const __grid_constant__ Args args) { segmented_histogram<K>(args); }
#define SEGMENTED_PASS(B, K, P)                                                                                                    \
    extern "C" __global__ void __launch_bounds__(THREADS, 2) segmented_pass_k##B##_p##P(const __grid_constant__ Args args) { \
        sort_pass<K, P, true>(args);                                                                                               \
    }
#define SEGMENTED(B, K)       \
    SEGMENTED_HISTOGRAM(B, K) \
    SEGMENTED_PASS(B, K, 0)   \
    SEGMENTED_PASS(B, K, 4)   \
    SEGMENTED_PASS(B, K, 8)

SEGMENTED(1, uint8_t)
SEGMENTED(2, unsigned short)
SEGMENTED(4, uint32_t)
SEGMENTED(8, uint64_t)
