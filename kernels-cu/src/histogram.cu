// Histogram: out[bin of i] += what i adds, for i below n; a bin outside is none. Counts, wrapping weights of one or two words, or f32 and f64 weights
// as whole numbers of 10 and 67 words (and one of flags), so there is no order to keep.
// A block has bins of its own in shared memory, in several copies: a lane adds to copy lane % copies, and copies of a bin are neighbours, so that
// equal samples meet in few places and different ones seldom in a bank. Where the bins are too many, a place in shared memory belongs to the
// first bin that asks for it, which most samples of a frequent bin find there, and the others add to the output.
#include "five.cuh"
#include "iw.cuh"
#include "together.cuh"

enum Sum { COUNT, WORD, WIDE, EXACT, EXACT_WIDE };
enum Home { SHARED, CACHED, OUTPUT };

constexpr int MOST_THREADS = 512;
constexpr int CELL_BITS = 12, CELLS = 1 << CELL_BITS;  // of a cache
template <int W>
constexpr int ROWS = W == 1 ? 8 : W == 2 ? 4 : W < 5 ? 2 : 1;  // of 4 elements to a thread
template <int SUM>
constexpr bool IS_EXACT = SUM == EXACT || SUM == EXACT_WIDE;
template <int SUM>
constexpr uint32_t LIMBS = SUM == EXACT_WIDE ? 67 : 10;  // words of an exact sum; its flags lie behind them
template <int SUM>
constexpr uint32_t WORDS = IS_EXACT<SUM> ? LIMBS<SUM> + 1 : SUM == WIDE ? 2 : 1;

// Elements of four bins and a weight of two words.
IW_DEVICE void load1(Acc<6>& v, uint64_t i) {
    asm volatile("// @op.load1 %0, %1, %2, %3, %4, %5, %6;"
                 : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3]), "=r"(v.w[4]), "=r"(v.w[5])
                 : "l"(i));
}
IW_DEVICE void load4(Acc<6> (&v)[4], uint64_t i) {
    asm volatile("// @op.load4 %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24;"
                 : "=r"(v[0].w[0]), "=r"(v[0].w[1]), "=r"(v[0].w[2]), "=r"(v[0].w[3]), "=r"(v[0].w[4]), "=r"(v[0].w[5]), "=r"(v[1].w[0]),
                   "=r"(v[1].w[1]), "=r"(v[1].w[2]), "=r"(v[1].w[3]), "=r"(v[1].w[4]), "=r"(v[1].w[5]), "=r"(v[2].w[0]), "=r"(v[2].w[1]),
                   "=r"(v[2].w[2]), "=r"(v[2].w[3]), "=r"(v[2].w[4]), "=r"(v[2].w[5]), "=r"(v[3].w[0]), "=r"(v[3].w[1]), "=r"(v[3].w[2]),
                   "=r"(v[3].w[3]), "=r"(v[3].w[4]), "=r"(v[3].w[5])
                 : "l"(i));
}

extern __shared__ uint32_t own[];  // and behind the cells of a cache, the bins that these belong to, plus one

// Cells in either memory. Addresses in shared memory are kept in 32 bits, so that none is made anew for each element.
struct Shared {
    uint32_t address;
    IW_DEVICE Shared operator[](uint32_t k) const { return {address + 4 * k}; }
    IW_DEVICE uint32_t get() const {
        uint32_t v;
        asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
        return v;
    }
    IW_DEVICE uint32_t add(uint32_t v) const {
        uint32_t old;
        asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(address), "r"(v) : "memory");
        return old;
    }
    // Ones of lanes that meet are counted at once.
    IW_DEVICE void count() const { asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(address) : "memory"); }
    IW_DEVICE void set_bits(uint32_t v) const { asm volatile("red.shared.or.b32 [%0], %1;" ::"r"(address), "r"(v) : "memory"); }
    // Contents that the cell had: zero, and now it holds `v`, or else.
    IW_DEVICE uint32_t claim(uint32_t v) const {
        uint32_t old;
        asm volatile("atom.shared.cas.b32 %0, [%1], 0, %2;" : "=r"(old) : "r"(address), "r"(v) : "memory");
        return old;
    }
};
struct Global {
    uint32_t* p;
    IW_DEVICE Global operator[](uint32_t k) const { return {p + k}; }
    IW_DEVICE uint32_t add(uint32_t v) const { return atomicAdd(p, v); }
    IW_DEVICE void set_bits(uint32_t v) const { atomicOr(p, v); }
};
// Words of a bin lie `step` apart.
template <int SUM, class Cell>
IW_DEVICE void carry(Cell at, uint32_t step, uint32_t k, uint32_t value) {
#pragma unroll 1
    for (; value && k < LIMBS<SUM>; ++k) {
        const uint32_t old = at[k * step].add(value);
        value = old + value < value;
    }
}
template <int SUM, class Cell>
IW_DEVICE void borrow(Cell at, uint32_t step, uint32_t k, uint32_t value) {
#pragma unroll 1
    for (; value && k < LIMBS<SUM>; ++k) {
        const uint32_t old = at[k * step].add(0u - value);
        value = old < value;
    }
}
// Adds neighbouring words to those from word k on, or takes them away. Both signs take the same way, and all words of a warp's numbers are added
// before any lane carries on: lanes that part at the first carry stay apart for all elements that the thread has.
template <int SUM, int N, class Cell>
IW_DEVICE void add_words(Cell at, uint32_t step, uint32_t k, const uint32_t (&words)[N], bool negative) {
    uint32_t rest = 0;  // a carry, or what is borrowed
#pragma unroll
    for (int w = 0; w < N; ++w) {
        const uint32_t value = words[w] + rest;
        rest = value < rest;
        if (w > 0 && value == 0) continue;
        const uint32_t old = at[(k + w) * step].add(negative ? 0u - value : value);
        rest |= negative ? old < value : old + value < value;
    }
    if (negative) borrow<SUM>(at, step, k + N, rest);
    else carry<SUM>(at, step, k + N, rest);
}
// The bits of an f32.
template <class Cell>
IW_DEVICE void add_exact(Cell at, uint32_t step, uint32_t bits) {
    const uint32_t exponent = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
    const bool negative = bits >> 31;
    if (exponent == 255) {
        at[LIMBS<EXACT> * step].set_bits(fraction ? 1u : negative ? 4u : 2u);
        return;
    }
    const uint32_t mantissa = exponent ? fraction | 0x800000 : fraction, place = max(exponent, 1u) - 1;
    const uint32_t k = place / 32, shift = place % 32;
    const uint32_t words[2] = {mantissa << shift, (mantissa >> 1) >> (31 - shift)};
    add_words<EXACT>(at, step, k, words, negative);
}
// The bits of an f64, the low word first.
template <class Cell>
IW_DEVICE void add_exact(Cell at, uint32_t step, uint32_t low, uint32_t high) {
    const uint32_t exponent = high >> 20 & 0x7ff, fraction = high & 0xfffff;
    const bool negative = high >> 31;
    if (exponent == 2047) {
        at[LIMBS<EXACT_WIDE> * step].set_bits(fraction | low ? 1u : negative ? 4u : 2u);
        return;
    }
    const uint32_t upper = exponent ? fraction | 0x100000 : fraction, place = max(exponent, 1u) - 1;
    const uint32_t k = place / 32, shift = place % 32;
    const uint32_t words[3] = {low << shift, upper << shift | (low >> 1) >> (31 - shift), (upper >> 1) >> (31 - shift)};
    add_words<EXACT_WIDE>(at, step, k, words, negative);
}
template <class Cell>
IW_DEVICE void add_wide(Cell at, uint32_t step, uint32_t low, uint32_t high) {
    // A carry goes up whenever the low word wraps, so the two words are the sum in whatever order.
    const uint32_t old = at.add(low);
    high += old + low < low;
    if (high) at[step].add(high);
}

// Of elements of W words: K bins, and then a weight.
template <int W, int K, int SUM, int HOME>
struct Bins {
    Global out;
    Shared all, mine;  // cells, and the lane's copy of the first bin
    uint32_t bins, shift;
    bool wide_out;

    IW_DEVICE void add_out(uint32_t bin, uint32_t low, uint32_t high) const {
        if (SUM == WIDE) add_wide(out[2 * bin], 1, low, high);
        else if (SUM == COUNT && wide_out) atomicAdd((unsigned long long*)out.p + bin, (unsigned long long)low);
        else out[bin].add(low);
    }
    IW_DEVICE void add_cached(uint32_t bin, uint32_t value) const {
        const uint32_t cell = bin * 2654435769u >> (32 - CELL_BITS);
        const Shared count = all[cell], owned = count[CELLS];
        uint32_t owner = owned.get();
        if (owner == 0) {
            owner = owned.claim(bin + 1);
            if (owner == 0) owner = bin + 1;
        }
        if (owner != bin + 1) add_out(bin, value, 0);
        else if (SUM == COUNT) count.count();
        else count.add(value);
    }
    IW_DEVICE void add(const Acc<W>& x, int k) const {
        uint32_t bin = x.w[0];
#pragma unroll
        for (int j = 1; j < K; ++j)
            if (j == k) bin = x.w[j];
        const uint32_t value = SUM == COUNT ? 1 : x.w[K < W ? K : 0];
        if (HOME == SHARED && (SUM == COUNT || SUM == WORD)) {
            // Samples in no bin go to one behind them, which costs less than a branch.
            const Shared cell = {mine.address + min(bin, bins) * (4u << shift)};
            if (SUM == COUNT) cell.count();
            else cell.add(value);
        } else if (bin < bins) {
            if (HOME == CACHED) add_cached(bin, value);
            else if (HOME == OUTPUT && SUM == EXACT) add_exact(out[bin * WORDS<SUM>], 1, value);
            else if (HOME == OUTPUT && SUM == EXACT_WIDE) add_exact(out[bin * WORDS<SUM>], 1, value, x.w[W - 1]);
            else if (HOME == OUTPUT) add_out(bin, value, x.w[W - 1]);
            else if (SUM == EXACT) add_exact(mine[bin * WORDS<SUM> << shift], 1u << shift, value);
            else if (SUM == EXACT_WIDE) add_exact(mine[bin * WORDS<SUM> << shift], 1u << shift, value, x.w[W - 1]);
            else add_wide(mine[bin * 2 << shift], 1u << shift, value, x.w[W - 1]);
        }
    }
    // Adds the block's own bins to the output.
    IW_DEVICE void flush() const {
        if (HOME == OUTPUT) return;
        __syncthreads();
        if (HOME == CACHED) {
            for (uint32_t c = threadIdx.x; c < CELLS; c += blockDim.x)
                if (own[c]) add_out(own[CELLS + c] - 1, own[c], 0);
            return;
        }
        const uint32_t copies = 1u << shift;
#pragma unroll 1
        for (uint32_t bin = threadIdx.x; bin < bins; bin += blockDim.x) {
            const uint32_t* const p = own + (bin * WORDS<SUM> << shift);
            if (IS_EXACT<SUM>) {
                const Global to = out[bin * WORDS<SUM>];
#pragma unroll 1
                for (uint32_t c = 0; c < copies; ++c) {
#pragma unroll 1
                    for (uint32_t k = 0; k < LIMBS<SUM>; ++k) carry<SUM>(to, 1, k, p[k * copies + c]);
                    if (const uint32_t flags = p[LIMBS<SUM> * copies + c]) to[LIMBS<SUM>].set_bits(flags);
                }
                continue;
            }
            uint32_t low = 0, high = 0;
#pragma unroll 1
            for (uint32_t c = 0; c < copies; ++c) {
                const uint32_t copy = (c + threadIdx.x) & (copies - 1), more = p[copy];
                low += more;
                if (SUM == WIDE) high += p[copies + copy] + (low < more);
            }
            if (low | high) add_out(bin, low, high);
        }
    }
};

// u[0] bins, u[1] log2 of the copies, u[2] words of a count in the output, u[3] words of the output to be cleared; where there are any, scratch[0] is where
// blocks meet and the launch a cooperative one. u[4] how many of several bins a weight is added to. Shared memory: words of the bins and of one more, times copies; or two of each cell.
// Grid: any; as many blocks as are resident is best. Threads: any multiple of a warp up to 512.
template <int W, int K, int SUM, int HOME>
IW_DEVICE void histogram(const Args& args) {
    // Of exact sums, which are long, there is one copy for all of an element's bins.
    constexpr int R = ROWS<W>, TURNS = IS_EXACT<SUM> ? 1 : K;
    const uint32_t bins = args.u[0], shift = args.u[1], cleared = args.u[3];
    Meeting meeting = {(uint32_t*)args.scratch[0]};
    if (cleared) {
#pragma unroll 1
        for (uint64_t c = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; c < cleared; c += (uint64_t)gridDim.x * blockDim.x) ((uint32_t*)args.out[0])[c] = 0;
        meeting.arrive();
        if (HOME != SHARED) meeting.wait();
    }
    const Shared all = {(uint32_t)__cvta_generic_to_shared(own)};
    const Bins<W, K, SUM, HOME> to = {{(uint32_t*)args.out[0]}, all, all[lane_id() & ((1u << shift) - 1)], bins, shift, args.u[2] == 2};
    if constexpr (HOME != OUTPUT) {
        const uint32_t cells = HOME == CACHED ? 2 * CELLS : (bins + 1) * WORDS<SUM> << shift;
        for (uint32_t c = threadIdx.x; c < cells; c += blockDim.x) own[c] = 0;
        __syncthreads();
    }
    const uint32_t active = SUM == COUNT || K == 1 ? K : args.u[4];
    const uint32_t row = 4 * blockDim.x;
    const uint64_t step = (uint64_t)gridDim.x * (R * row);
#pragma unroll 1
    for (uint64_t i = (uint64_t)blockIdx.x * (R * row) + threadIdx.x * 4; i < args.n; i += step) {
        if (i + (R - 1) * row + 4 <= args.n) {
            Acc<W> x[R][4];
#pragma unroll
            for (int r = 0; r < R; ++r) load4(x[r], i + r * row);
#pragma unroll
            for (int r = 0; r < R; ++r)
#pragma unroll
                for (int e = 0; e < 4; ++e)
#pragma unroll TURNS
                    for (int k = 0; k < K; ++k)
                        if (k < active) to.add(x[r][e], k);
        } else {
#pragma unroll 1
            for (uint32_t at = 0; at < 4 * R; ++at) {
                const uint64_t j = i + at / 4 * row + at % 4;
                if (j >= args.n) break;
                Acc<W> x;
                load1(x, j);
#pragma unroll TURNS
                for (int k = 0; k < K; ++k)
                    if (k < active) to.add(x, k);
            }
        }
    }
    if (HOME == SHARED && cleared) meeting.wait();
    to.flush();
}

// Blocks of most threads to a multiprocessor, as registers are shared out: where adding takes none, all loads of a thread are under way together.
#define HISTOGRAM(name, W, K, SUM, HOME, BLOCKS)                                                                                 \
    extern "C" __global__ void __launch_bounds__(MOST_THREADS, BLOCKS) histogram_##name(const __grid_constant__ Args args) { \
        histogram<W, K, SUM, HOME>(args);                                                                                       \
    }
HISTOGRAM(count1, 1, 1, COUNT, SHARED, 3)
HISTOGRAM(count2, 2, 2, COUNT, SHARED, 3)
HISTOGRAM(count3, 3, 3, COUNT, SHARED, 3)
HISTOGRAM(count4, 4, 4, COUNT, SHARED, 3)
HISTOGRAM(count1_cached, 1, 1, COUNT, CACHED, 2)
HISTOGRAM(count2_cached, 2, 2, COUNT, CACHED, 2)
HISTOGRAM(count3_cached, 3, 3, COUNT, CACHED, 2)
HISTOGRAM(count4_cached, 4, 4, COUNT, CACHED, 2)
HISTOGRAM(word, 2, 1, WORD, SHARED, 3)
HISTOGRAM(word_cached, 2, 1, WORD, CACHED, 2)
HISTOGRAM(wide, 3, 1, WIDE, SHARED, 3)
HISTOGRAM(wide_output, 3, 1, WIDE, OUTPUT, 2)
HISTOGRAM(exact, 2, 1, EXACT, SHARED, 2)
HISTOGRAM(exact_output, 2, 1, EXACT, OUTPUT, 2)
HISTOGRAM(exact_wide, 3, 1, EXACT_WIDE, SHARED, 2)
HISTOGRAM(exact_wide_output, 3, 1, EXACT_WIDE, OUTPUT, 2)
// A weight to up to four bins.
HISTOGRAM(words, 5, 4, WORD, SHARED, 2)
HISTOGRAM(words_cached, 5, 4, WORD, CACHED, 2)
HISTOGRAM(wides, 6, 4, WIDE, SHARED, 2)
HISTOGRAM(wides_output, 6, 4, WIDE, OUTPUT, 2)
HISTOGRAM(exacts, 5, 4, EXACT, SHARED, 2)
HISTOGRAM(exacts_output, 5, 4, EXACT, OUTPUT, 2)
HISTOGRAM(exact_wides, 6, 4, EXACT_WIDE, SHARED, 2)
HISTOGRAM(exact_wides_output, 6, 4, EXACT_WIDE, OUTPUT, 2)
