// The rungs of the textbook's histogram: out[bin of i] += 1 for i below n, where a bin outside is none. Counts have no order to keep.
// atomic: a thread to a sample, added in memory. private_memory, private_shared: blocks have bins of their own, which they add to the output at the
// end. contiguous, interleaved: threads take several samples, neighbours or ones as far apart as there are threads. aggregated: equal samples that
// follow each other are added at once. Shared memory: a word to each bin.
#include "iw.cuh"
#include "textbook.cuh"

constexpr uint32_t THREADS = kernels::HistogramVariant::THREADS, COARSE = 16;
constexpr uint32_t NONE = 0xffffffffu;

enum Home { OUTPUT, MEMORY, SHARED };
enum Partition { SINGLE, CONTIGUOUS, INTERLEAVED, AGGREGATED };

extern __shared__ uint32_t own[];

IW_DEVICE uint32_t bin_of(uint64_t i) {
    Acc<1> x;
    load1(x, i);
    return x.w[0];
}

IW_DEVICE void add(uint32_t* cells, uint32_t bin, uint32_t count, uint32_t bins) {
    if (bin < bins) atomicAdd(cells + bin, count);
}

// scratch[0]: bins of each block, where they are in memory. out[0]: counts, cleared.
template <int HOME, int PARTITION>
IW_DEVICE void histogram(const Args& args) {
    const uint32_t bins = args.u[params::histogram_variant::BINS];
    uint32_t* const out = (uint32_t*)args.out[0];
    uint32_t* const cells = HOME == OUTPUT ? out : HOME == SHARED ? own : (uint32_t*)args.scratch[0] + (uint64_t)blockIdx.x * bins;
    if (HOME != OUTPUT) {
        for (uint32_t bin = threadIdx.x; bin < bins; bin += THREADS) cells[bin] = 0;
        __syncthreads();
    }
    const uint64_t thread = (uint64_t)blockIdx.x * THREADS + threadIdx.x, threads = (uint64_t)gridDim.x * THREADS;
    if (PARTITION == SINGLE) {
        if (thread < args.n) add(cells, bin_of(thread), 1, bins);
    } else if (PARTITION == CONTIGUOUS) {
        const uint64_t end = min((thread + 1) * COARSE, args.n);
#pragma unroll 1
        for (uint64_t i = thread * COARSE; i < end; ++i) add(cells, bin_of(i), 1, bins);
    } else if (PARTITION == INTERLEAVED) {
#pragma unroll 1
        for (uint64_t i = thread; i < args.n; i += threads) add(cells, bin_of(i), 1, bins);
    } else {
        uint32_t last = NONE, count = 0;
#pragma unroll 1
        for (uint64_t i = thread; i < args.n; i += threads) {
            const uint32_t bin = bin_of(i);
            if (bin == last) {
                ++count;
            } else {
                add(cells, last, count, bins);
                last = bin;
                count = 1;
            }
        }
        add(cells, last, count, bins);
    }
    if (HOME != OUTPUT) {
        __syncthreads();
        for (uint32_t bin = threadIdx.x; bin < bins; bin += THREADS)
            if (const uint32_t count = cells[bin]) atomicAdd(out + bin, count);
    }
}

#define HISTOGRAM(NAME, HOME, PARTITION) \
    IW_KERNEL(THREADS) histogram_##NAME(const __grid_constant__ Args args) { histogram<HOME, PARTITION>(args); }
HISTOGRAM(atomic, OUTPUT, SINGLE)
HISTOGRAM(private_memory, MEMORY, INTERLEAVED)
HISTOGRAM(private_shared, SHARED, SINGLE)
HISTOGRAM(coarsened_contiguous, SHARED, CONTIGUOUS)
HISTOGRAM(coarsened_interleaved, SHARED, INTERLEAVED)
HISTOGRAM(aggregated, SHARED, AGGREGATED)
