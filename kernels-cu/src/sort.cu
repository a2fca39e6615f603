// Stable radix sort of rows of keys, a digit of up to 8 bits a pass, from the lowest on. Equal digits keep their order in every pass, so any
// tile gives the same result.
// sort_histogram_*: how often each value of each digit occurs, of all digits at once; sort_plan: where the keys of each value start, and which
// passes are left out because all keys share the digit. sort_pass_*: see sort.cuh.
#include "sort.cuh"

// A block to each chunk of a row, CHUNKS to a row; counts are zero before. All digits have 8 bits, from bit SHIFT on, which is the first that is
// compared; MASK: the number of the one behind the last. Lanes that count the same value are added up by the shared memory itself.
template <class K>
IW_DEVICE void sort_histogram(const Args& args) {
    constexpr int COPIES = ::COPIES<K>;
    __shared__ uint32_t counters[COUNTERS<K>];
    const int passes = args.u[PASSES];
    const uint32_t first = args.u[SHIFT], end = args.u[MASK];
    const K compared = end ? (K)(~0ull >> (64 - end)) : (K)0;
    const uint32_t n = args.u[N], chunks = args.u[CHUNKS], row = blockIdx.x / chunks, chunk = blockIdx.x % chunks;
    constexpr uint32_t STEP = HISTOGRAM_THREADS * HISTOGRAM_LOADS;
    const Keys<K> keys((uint64_t)args.in[0].ptr, row * n + threadIdx.x);
#pragma unroll 1
    for (int k = threadIdx.x; k < COUNTERS<K>; k += HISTOGRAM_THREADS) counters[k] = 0;
    __syncthreads();
    uint32_t* const own_counters = counters + threadIdx.x % COPIES;
    const auto bits_of = [&](K key) { return (K)((mapped(key, args) & compared) >> first); };
    // From the end to the beginning, which the first pass then finds in the cache.
    const uint32_t steps = n / STEP + (n % STEP != 0);
#pragma unroll 1
    for (uint32_t s = chunk; s < steps; s += chunks) {
        const uint32_t i = (steps - 1 - s) * STEP;
        if (n - i >= STEP) {
            const Keys<K> own = keys.behind(i);
            K key[HISTOGRAM_LOADS];
            unrolled<HISTOGRAM_LOADS>([&](auto k) { key[k] = own.template load<k.value * HISTOGRAM_THREADS>(); });
#pragma unroll
            for (int k = 0; k < HISTOGRAM_LOADS; ++k) key[k] = bits_of(key[k]);
            count_digits(own_counters, key, passes);
        } else {
#pragma unroll 1
            for (uint32_t j = i + threadIdx.x; j < n; j += HISTOGRAM_THREADS) {
                K key[] = {bits_of(keys.behind(j - threadIdx.x).template load<0>())};
                count_digits(own_counters, key, passes);
            }
        }
    }
    __syncthreads();
    uint32_t* const counts = (uint32_t*)args.scratch[2] + (uint64_t)row * passes * RADIX;
#pragma unroll 1
    for (int k = threadIdx.x; k < passes * RADIX; k += HISTOGRAM_THREADS) {
        uint32_t sum = 0;
#pragma unroll
        for (int c = 0; c < COPIES; ++c) sum += counters[k * COPIES + c];
        if (sum) atomicAdd(counts + k, sum);
    }
}

// A block to each row: counts become starts, and zero again for the next sort.
IW_KERNEL(RADIX) sort_plan(const __grid_constant__ Args args) {
    __shared__ uint32_t sums[RADIX / WARP];
    __shared__ uint32_t shared_by_all[MAX_PASSES];
    const int passes = args.u[PASSES];
    const uint32_t n = args.u[N], rows = args.u[ROWS], row = blockIdx.x;
    uint32_t* const plan = (uint32_t*)args.scratch[1];
    uint32_t* const counts = (uint32_t*)args.scratch[2] + (uint64_t)row * passes * RADIX;
    uint32_t* const starts = plan + PLAN_WORDS + (uint64_t)row * passes * RADIX;
    if (threadIdx.x < MAX_PASSES) shared_by_all[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll 1
    for (int p = 0; p < passes; ++p) {
        const uint32_t count = counts[p * RADIX + threadIdx.x];
        counts[p * RADIX + threadIdx.x] = 0;
        if (count == n) shared_by_all[p] = 1;
        starts[p * RADIX + threadIdx.x] = row * n + sum_before<RADIX / WARP>(count, sums);
        __syncthreads();
    }
    if (row != 0 || threadIdx.x != 0) return;
    int done = 0;  // passes that are not left out
#pragma unroll 1
    for (int p = 0; p < passes; ++p) {
        if (rows > 1) shared_by_all[p] = 0;
        done += !shared_by_all[p];
    }
    // A sort in place ends where it started after an even number of passes; others need one at least. Any pass may be made: the sort is stable.
    const bool one_more = args.u[FLAGS] & IN_PLACE ? done % 2 == 1 : done == 0;
#pragma unroll 1
    for (int p = 0, added = !one_more; p < passes && !added; ++p)
        if (shared_by_all[p]) shared_by_all[p] = 0, ++done, added = 1;
    uint32_t made = 0;
#pragma unroll 1
    for (int p = 0; p < passes; ++p) {
        if (shared_by_all[p]) {
            plan[p] = SKIP;
            continue;
        }
        const bool away = (done - 1 - made) % 2 == 1;
        plan[p] = (made == 0 ? READS_SOURCE : 0) | (away ? WRITES_AWAY : READS_AWAY) | (made + 1 == done ? LAST : 0);
        ++made;
    }
}

#define SORT_HISTOGRAM(B, K) \
    IW_KERNEL(HISTOGRAM_THREADS) sort_histogram_k##B(const __grid_constant__ Args args) { sort_histogram<K>(args); }
#define SORT_PASS(B, K, P)                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS<K, P>) sort_pass_k##B##_p##P(const __grid_constant__ Args args) { \
        __shared__ PassRoom<K, P, false> room;                                                                                     \
        sort_pass(args, only_pass(args), room);                                                                                    \
    }
#define SORT(B, K)       \
    SORT_HISTOGRAM(B, K) \
    SORT_PASS(B, K, 4)   \
    SORT_PASS(B, K, 8)

// Keys of up to 4 bytes, and of 8.
SORT(4, uint32_t)
SORT_PASS(4, uint32_t, 0)
SORT(8, uint64_t)
