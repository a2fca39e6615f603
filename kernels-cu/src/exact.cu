// Exact sums of rows of floats: whole numbers of many words, to which each block adds its elements' sum, so that no order shows.
// A thread has cells of its own in shared memory, one for 16 exponents (f32) or 64 (f64), and adds an element to one of them, as a whole number in two's
// complement. A cell has room for all that a thread adds. In the end the cells of all threads are added up, word by word, and one thread carries from word
// to word and adds the result to the row's words in memory.
#include "iw.cuh"
#include "params.cuh"

using namespace params::exact;

// Floats of W words.
template <int W>
struct Form;

template <>
struct Form<1> {
    static constexpr int THREADS = kernels::ExactSum::THREADS, BINS = 16, CELL = 2, LIMBS = 10, ROWS = 2;
    using Cell = int64_t;

    IW_DEVICE static uint32_t add(Cell* cells, const Acc<1>& x) {
        const uint32_t bits = x.w[0], exponent = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
        if (exponent == 255) return fraction ? 1 : bits >> 31 ? 4 : 2;
        const uint64_t mantissa = exponent ? fraction | 0x800000 : fraction;
        const uint32_t place = max(exponent, 1u) - 1;
        const int64_t size = (int64_t)(mantissa << (place & 15));
        cells[(place >> 4) * THREADS] += bits >> 31 ? -size : size;
        return 0;
    }
};

template <>
struct Form<2> {
    static constexpr int THREADS = kernels::ExactSumWide::THREADS, BINS = 32, CELL = 4, LIMBS = 67, ROWS = 2;
    struct alignas(16) Cell {
        uint64_t low, high;
    };

    IW_DEVICE static uint32_t add(Cell* cells, const Acc<2>& x) {
        const uint32_t exponent = x.w[1] >> 20 & 0x7ff;
        const bool negative = x.w[1] >> 31;
        const uint64_t fraction = x.w[0] | (uint64_t)(x.w[1] & 0xfffff) << 32;
        if (exponent == 2047) return fraction ? 1 : negative ? 4 : 2;
        const uint64_t mantissa = exponent ? fraction | 1ull << 52 : fraction;
        const uint32_t place = max(exponent, 1u) - 1, shift = place & 63;
        const uint64_t low = mantissa << shift, high = (mantissa >> 1) >> (63 - shift), flip = negative ? ~0ull : 0;
        Cell& cell = cells[(place >> 6) * THREADS];
        // The complement, and one where it is one.
        uint64_t carry = flip & 1;
        Cell c = cell;
        uint64_t value = low ^ flip;
        c.low += value;
        uint64_t over = c.low < value;
        c.low += carry;
        over |= c.low < carry;
        c.high += (high ^ flip) + over;
        cell = c;
        return 0;
    }
};

template <int W>
IW_DEVICE void exact_sum(const Args& args) {
    using F = Form<W>;
    constexpr int THREADS = F::THREADS, BINS = F::BINS, CELL = F::CELL, LIMBS = F::LIMBS, SUMS = BINS * CELL;
    __shared__ __align__(16) typename F::Cell cells[BINS * THREADS];
    __shared__ int64_t total[SUMS];
    uint32_t* const word = (uint32_t*)cells;
    const int t = threadIdx.x;
#pragma unroll 4
    for (int k = 0; k < SUMS; ++k) word[k * THREADS + t] = 0;
    __syncthreads();

    const uint64_t of_row = wide(args.u + ROW), tiles = args.u[TILES], span = args.u[SPAN], group = blockIdx.x;
    const uint64_t row = of_row ? group / tiles : 0, tile = of_row ? group % tiles : group;
    const uint64_t row_end = of_row ? (row + 1) * of_row : args.n;
    const uint64_t begin = row * of_row + tile * span, end = min(begin + span, row_end);
    // Vectors of four elements, and those before and behind them.
    const uint64_t first4 = min((begin + 3) & ~3ull, end), last4 = max(first4, end & ~3ull);
    uint32_t flags = 0;
    typename F::Cell* const mine = cells + t;
    const uint32_t before = (uint32_t)(first4 - begin);
#pragma unroll 1
    for (uint32_t k = t; k < before + (uint32_t)(end - last4); k += THREADS) {
        Acc<W> x;
        load1(x, k < before ? begin + k : last4 + (k - before));
        flags |= F::add(mine, x);
    }
    const uint32_t vectors = (uint32_t)((last4 - first4) / 4);
#pragma unroll 1
    for (uint32_t v = t; v < vectors; v += F::ROWS * THREADS) {
        Acc<W> x[F::ROWS][4];
        // Without a branch, so that all rows are on their way at once.
#pragma unroll
        for (int r = 0; r < F::ROWS; ++r) load4(x[r], first4 + 4ull * min(v + r * THREADS, vectors - 1));
#pragma unroll
        for (int r = 0; r < F::ROWS; ++r) {
            if (v + r * THREADS >= vectors) break;
#pragma unroll
            for (int e = 0; e < 4; ++e) flags |= F::add(mine, x[r][e]);
        }
    }
    __syncthreads();

    // Words of cells, added up over all threads, each read from another bank.
#pragma unroll 1
    for (int k = t; k < SUMS; k += THREADS) {
        const int bin = k / CELL, w = k % CELL;
        int64_t sum = 0;
#pragma unroll 4
        for (int j = 0; j < THREADS; ++j) {
            const uint32_t v = word[(bin * THREADS + (bin + j) % THREADS) * CELL + w];
            // The highest word has the sign.
            sum += w == CELL - 1 ? (int64_t)(int32_t)v : (int64_t)v;
        }
        total[k] = sum;
    }
    __syncthreads();
    uint32_t* const to = (uint32_t*)args.out[0] + row * (LIMBS + 1);
    if (flags) atomicOr(to + LIMBS, flags);
    if (t > 0) return;
    // Carried from word to word; the words are kept where the cells were.
    uint32_t* const limbs = word;
    int64_t rest = 0;
#pragma unroll 1
    for (int k = 0; k < LIMBS; ++k) {
        if (W == 1) {
            if (2 * k < BINS) rest += total[2 * k * CELL] + (total[(2 * k + 1) * CELL] << 16);
            if (k >= 1 && 2 * k <= BINS) rest += total[(2 * k - 2) * CELL + 1] + (total[(2 * k - 1) * CELL + 1] << 16);
        } else {
            if (k / 2 < BINS) rest += total[k / 2 * CELL + k % 2];
            if (k >= 2 && k / 2 <= BINS) rest += total[(k / 2 - 1) * CELL + 2 + k % 2];
        }
        limbs[k] = (uint32_t)rest;
        rest >>= 32;
    }
    // The size is added or taken away, so that few words change.
    const bool negative = rest < 0;
    uint32_t one = negative, over = 0;
#pragma unroll 1
    for (int k = 0; k < LIMBS; ++k) {
        const uint32_t size = (negative ? ~limbs[k] : limbs[k]) + one;
        one = size == 0 ? one : 0;
        const uint32_t value = size + over;
        over = value < size;
        if (value == 0) continue;
        const uint32_t old = atomicAdd(to + k, negative ? 0u - value : value);
        over |= negative ? old < value : old + value < value;
    }
}

IW_KERNEL(kernels::ExactSum::THREADS) exact_sum(const __grid_constant__ Args args) { exact_sum<1>(args); }
IW_KERNEL(kernels::ExactSumWide::THREADS) exact_sum_wide(const __grid_constant__ Args args) { exact_sum<2>(args); }
