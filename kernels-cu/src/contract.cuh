// Products of matrices: C(i, j) is the sum over k of A(i, k) B(k, j), in blocks of k. A block is a chain of fma in ascending k that starts with +0; blocks are
// added left to right. Integers wrap. A block of threads takes a tile of C. Tiles of A and B lie in shared memory, the next ones are on their way meanwhile.
#pragma once

#include "iw.cuh"
#include "params.cuh"

namespace {

constexpr int THREADS = kernels::Contract::THREADS, SMALL_THREADS = kernels::ContractSmall::THREADS;
enum Form : uint32_t { A_VECTOR = 1, B_VECTOR = 2, C_VECTOR = 4, SPLIT = 8, TURNED = 32 };

IW_DEVICE void load_a1(Acc<1>& v, uint64_t i) { asm volatile("// @op.load_a1 %0, %1;" : "=r"(v.w[0]) : "l"(i)); }
IW_DEVICE void load_b1(Acc<1>& v, uint64_t i) { asm volatile("// @op.load_b1 %0, %1;" : "=r"(v.w[0]) : "l"(i)); }
IW_DEVICE void load_a1(Acc<2>& v, uint64_t i) { asm volatile("// @op.load_a1 %0, %1, %2;" : "=r"(v.w[0]), "=r"(v.w[1]) : "l"(i)); }
IW_DEVICE void load_b1(Acc<2>& v, uint64_t i) { asm volatile("// @op.load_b1 %0, %1, %2;" : "=r"(v.w[0]), "=r"(v.w[1]) : "l"(i)); }
#define IW_FOUR_WORDS "=r"(v[0].w[0]), "=r"(v[1].w[0]), "=r"(v[2].w[0]), "=r"(v[3].w[0])
#define IW_FOUR_PAIRS \
    "=r"(v[0].w[0]), "=r"(v[0].w[1]), "=r"(v[1].w[0]), "=r"(v[1].w[1]), "=r"(v[2].w[0]), "=r"(v[2].w[1]), "=r"(v[3].w[0]), "=r"(v[3].w[1])
IW_DEVICE void load_a4(Acc<1> (&v)[4], uint64_t i) { asm volatile("// @op.load_a4 %0, %1, %2, %3, %4;" : IW_FOUR_WORDS : "l"(i)); }
IW_DEVICE void load_b4(Acc<1> (&v)[4], uint64_t i) { asm volatile("// @op.load_b4 %0, %1, %2, %3, %4;" : IW_FOUR_WORDS : "l"(i)); }
IW_DEVICE void load_a4(Acc<2> (&v)[4], uint64_t i) {
    asm volatile("// @op.load_a4 %0, %1, %2, %3, %4, %5, %6, %7, %8;" : IW_FOUR_PAIRS : "l"(i));
}
IW_DEVICE void load_b4(Acc<2> (&v)[4], uint64_t i) {
    asm volatile("// @op.load_b4 %0, %1, %2, %3, %4, %5, %6, %7, %8;" : IW_FOUR_PAIRS : "l"(i));
}

// Types of sums. What stands for an element of A or B behind the last k: their product is -0, which changes no sum, nor its sign.
template <class T>
struct Kind;
template <>
struct Kind<float> {
    static constexpr int WORDS = 1, RM = 4, RN = 8, TK = 16;
    static constexpr uint32_t NO_A = 0x80000000u;
    IW_DEVICE static float of(const Acc<1>& v) { return __uint_as_float(v.w[0]); }
    IW_DEVICE static Acc<1> words(float v) { return {{__float_as_uint(v)}}; }
    IW_DEVICE static float add(float a, float b) { return __fadd_rn(a, b); }
    IW_DEVICE static float fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
};
template <>
struct Kind<int> {
    static constexpr int WORDS = 1, RM = 4, RN = 8, TK = 16;
    static constexpr uint32_t NO_A = 0;
    IW_DEVICE static int of(const Acc<1>& v) { return (int)v.w[0]; }
    IW_DEVICE static Acc<1> words(int v) { return {{(uint32_t)v}}; }
    IW_DEVICE static int add(int a, int b) { return (int)((uint32_t)a + (uint32_t)b); }
    IW_DEVICE static int fma(int a, int b, int c) { return (int)((uint32_t)a * (uint32_t)b + (uint32_t)c); }
};
template <>
struct Kind<double> {
    static constexpr int WORDS = 2, RM = 4, RN = 8, TK = 8;
    static constexpr uint32_t NO_A = 0x80000000u;
    IW_DEVICE static double of(const Acc<2>& v) { return __hiloint2double((int)v.w[1], (int)v.w[0]); }
    IW_DEVICE static Acc<2> words(double v) { return {{(uint32_t)__double2loint(v), (uint32_t)__double2hiint(v)}}; }
    IW_DEVICE static double add(double a, double b) { return __dadd_rn(a, b); }
    IW_DEVICE static double fma(double a, double b, double c) { return __fma_rn(a, b, c); }
};

template <class T>
struct alignas(16) Four {
    T v[4];
};

// Four neighbours of shared memory at once. Types of the language's own, since of a structure the compiler joins the elements' loads in one run and not in
// another.
IW_DEVICE void read4(float* x, const float* at) {
    const float4 v = *(const float4*)at;
    x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = v.w;
}
IW_DEVICE void read4(int* x, const int* at) {
    const int4 v = *(const int4*)at;
    x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = v.w;
}
IW_DEVICE void read4(double* x, const double* at) {
    const double2 v = *(const double2*)at, w = *(const double2*)(at + 2);
    x[0] = v.x, x[1] = v.y, x[2] = w.x, x[3] = w.y;
}

// Four neighbours across of an operand, of one k: where they are, and how many there are.
struct Place {
    uint64_t first;
    uint32_t across, k, count;
    bool vector;
};

// Elements that are not there are `missing` in their highest word.
template <bool A, int W>
IW_DEVICE void fetch(Acc<W> (&v)[4], const Place& at, uint32_t k_end, uint32_t missing) {
    const bool there = at.k < k_end;
    if (at.vector && there) {
        A ? load_a4(v, at.first) : load_b4(v, at.first);
        return;
    }
#pragma unroll
    for (uint32_t e = 0; e < 4; ++e) {
#pragma unroll
        for (int w = 0; w < W; ++w) v[e].w[w] = w == W - 1 ? missing : 0;
        if (there && e < at.count) A ? load_a1(v[e], at.first + (uint64_t)at.across * e) : load_b1(v[e], at.first + (uint64_t)at.across * e);
    }
}

template <class T>
IW_DEVICE Four<T> values(const Acc<Kind<T>::WORDS> (&v)[4]) {
    Four<T> four;
#pragma unroll
    for (int e = 0; e < 4; ++e) four.v[e] = Kind<T>::of(v[e]);
    return four;
}

IW_DEVICE void epilogue(uint64_t i, const Acc<1>& v) { asm volatile("// @op.epilogue1 %0, %1;" ::"l"(i), "r"(v.w[0]) : "memory"); }
IW_DEVICE void epilogue(uint64_t i, const Acc<2>& v) {
    asm volatile("// @op.epilogue1 %0, %1, %2;" ::"l"(i), "r"(v.w[0]), "r"(v.w[1]) : "memory");
}
IW_DEVICE void epilogue4(uint64_t i, const Acc<1> (&v)[4]) {
    asm volatile("// @op.epilogue4 %0, %1, %2, %3, %4;" ::"l"(i), "r"(v[0].w[0]), "r"(v[1].w[0]), "r"(v[2].w[0]), "r"(v[3].w[0]) : "memory");
}
IW_DEVICE void epilogue4(uint64_t i, const Acc<2> (&v)[4]) {
    asm volatile("// @op.epilogue4 %0, %1, %2, %3, %4, %5, %6, %7, %8;" ::"l"(i), "r"(v[0].w[0]), "r"(v[0].w[1]), "r"(v[1].w[0]), "r"(v[1].w[1]),
                 "r"(v[2].w[0]), "r"(v[2].w[1]), "r"(v[3].w[0]), "r"(v[3].w[1])
                 : "memory");
}

// Sums of a thread by fma: RM rows of the tile in fours of every eighth lane, RN columns likewise. DOWN warps lie below each other, ACROSS beside each other.
template <class T, int RN, int DOWN, int ACROSS>
struct FusedLanes {
    using Type = Kind<T>;
    static constexpr int RM = Type::RM, TM = 8 * RM * DOWN, TN = 4 * RN * ACROSS, TK = Type::TK, THREADS = 32 * DOWN * ACROSS;
    uint32_t row, column;
    T sum[RM][RN];

    // Lanes that differ in their lowest bit read the same elements of A, those that differ in the next one the same of B: a read of 16 bytes takes all lanes
    // at once then.
    IW_DEVICE FusedLanes() {
        const uint32_t lane = lane_id(), warp = warp_id();
        row = warp % DOWN * (8 * RM) + lane / 2 % 8 * 4, column = warp / DOWN * (4 * RN) + (lane % 2 + lane / 16 * 2) * 4;
    }
    IW_DEVICE void clear() {
#pragma unroll
        for (int r = 0; r < RM; ++r)
#pragma unroll
            for (int c = 0; c < RN; ++c) sum[r][c] = 0;
    }
    template <int PITCH_A, int PITCH_B>
    IW_DEVICE void step(const T* a_tile, const T* b_tile) {
        const T* const as = a_tile + row;
        const T* const bs = b_tile + column;
        // Written out for all of a tile: a seventh less time than twice in a loop.
#pragma unroll
        for (int q = 0; q < TK; ++q) {
            T x[RM], y[RN];
#pragma unroll
            for (int r = 0; r < RM; r += 4) read4(x + r, as + q * PITCH_A + r * 8);
#pragma unroll
            for (int c = 0; c < RN; c += 4) read4(y + c, bs + q * PITCH_B + c * 4);
#pragma unroll
            for (int r = 0; r < RM; ++r)
#pragma unroll
                for (int c = 0; c < RN; ++c) sum[r][c] = Type::fma(x[r], y[c], sum[r][c]);
        }
    }
    IW_DEVICE void fold(T* totals, bool first) {
#pragma unroll
        for (int r = 0; r < RM; ++r)
#pragma unroll
            for (int c = 0; c < RN; c += 4) {
                Four<T>& total = *(Four<T>*)&totals[(row + r / 4 * 32 + r % 4) * TN + column + c * 4];
                Four<T> four;
                read4(four.v, total.v);
#pragma unroll
                for (int e = 0; e < 4; ++e) four.v[e] = first ? sum[r][c + e] : Type::add(four.v[e], sum[r][c + e]);
                total = four;
            }
    }
};

// Sums of a tile of 64 x 128.
template <class T>
struct Lanes : FusedLanes<T, Kind<T>::RN, 2, 4> {};

// Sums of a tile of 32 x 32.
template <class T>
struct FewLanes : FusedLanes<T, 4, 1, 2> {};

#if __CUDA_ARCH__ >= 800
// Sums of f64 by matrix instructions, which are chains of fma in ascending k: a warp has 32 rows and 32 columns, in tiles of 8 by 8.
template <>
struct Lanes<double> {
    static constexpr int TM = 64, TN = 128, TK = 8, THREADS = 256;
    uint32_t row, column, k;
    double sum[4][4][2];

    IW_DEVICE Lanes() {
        const uint32_t lane = lane_id(), warp = warp_id();
        row = warp % 2 * 32 + lane / 4, column = warp / 2 * 32, k = lane % 4;
    }
    IW_DEVICE void clear() {
#pragma unroll
        for (int r = 0; r < 4; ++r)
#pragma unroll
            for (int c = 0; c < 4; ++c) sum[r][c][0] = sum[r][c][1] = 0;
    }
    template <int PITCH_A, int PITCH_B>
    IW_DEVICE void step(const double* a_tile, const double* b_tile) {
        const double* const as = a_tile + k * PITCH_A + row;
        const double* const bs = b_tile + k * PITCH_B + column + lane_id() / 4;
#pragma unroll
        for (int q = 0; q < TK; q += 4) {
            double x[4], y[4];
#pragma unroll
            for (int r = 0; r < 4; ++r) x[r] = as[q * PITCH_A + 8 * r];
#pragma unroll
            for (int c = 0; c < 4; ++c) y[c] = bs[q * PITCH_B + 8 * c];
#pragma unroll
            for (int r = 0; r < 4; ++r)
#pragma unroll
                for (int c = 0; c < 4; ++c)
                    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                        : "+d"(sum[r][c][0]), "+d"(sum[r][c][1])
                        : "d"(x[r]), "d"(y[c]));
        }
    }
    IW_DEVICE void fold(double* totals, bool first) {
#pragma unroll
        for (int r = 0; r < 4; ++r)
#pragma unroll
            for (int c = 0; c < 4; ++c)
#pragma unroll
                for (int e = 0; e < 2; ++e) {
                    double& total = totals[(row + 8 * r) * TN + column + 8 * c + 2 * k + e];
                    total = first ? sum[r][c][e] : __dadd_rn(total, sum[r][c][e]);
                }
    }
};
#endif

template <class T, class Lanes>
IW_DEVICE void contract(const Args& args) {
    using namespace params::contract;
    using Type = Kind<T>;
    constexpr int W = Type::WORDS, TM = Lanes::TM, TN = Lanes::TN, TK = Lanes::TK, THREADS = Lanes::THREADS;
    // Fours of a tile that a thread brings; where there are fewer, some threads bring none.
    constexpr int FOURS_A = TM * TK / 4, FOURS_B = TN * TK / 4, CA = (FOURS_A + THREADS - 1) / THREADS, CB = (FOURS_B + THREADS - 1) / THREADS;
    constexpr int PITCH_A = TM + 4, PITCH_B = TN + 4;
    __shared__ __align__(16) T a_tile[2][TK * PITCH_A], b_tile[2][TK * PITCH_B];
    extern __shared__ __align__(16) unsigned char dynamic[];
    // Sums of whole blocks, row by row.
    T* const totals = (T*)dynamic;
    const uint32_t t = threadIdx.x;

    const uint32_t m = args.u[ROWS], n = args.u[COLUMNS], depth = args.u[TERMS], per_block = args.u[BLOCK], form = args.u[FORM];
    const uint32_t tiles_m = (m + TM - 1) / TM, tiles_n = (n + TN - 1) / TN, blocks = depth ? (depth + per_block - 1) / per_block : 1;
    const bool split = form & SPLIT;
    uint64_t index = blockIdx.x;
    const uint32_t tile = (uint32_t)(index % ((uint64_t)tiles_m * tiles_n));
    index /= (uint64_t)tiles_m * tiles_n;
    const uint32_t part = split ? (uint32_t)(index % blocks) : 0;
    const uint64_t batch = split ? index / blocks : index;
    // Eight rows of tiles together, so that what they read stays near.
    const uint32_t band = tile / (8 * tiles_n), in_band = tile % (8 * tiles_n), rows = min(8u, tiles_m - 8 * band);
    const uint32_t m0 = (8 * band + in_band % rows) * TM, n0 = in_band / rows * TN;

    // Neighbours of a warp are neighbours in memory.
    const bool a_along = args.u[A_COLUMN] == 1, b_along = args.u[B_ROW] == 1;
    const uint32_t a_k = a_along ? t % TK : t / (TM / 4), a_i = 4 * (a_along ? t / TK : t % (TM / 4));
    const uint32_t b_k = b_along ? t % TK : t / (TN / 4), b_i = 4 * (b_along ? t / TK : t % (TN / 4));
    const uint32_t step_a_k = a_along ? 0 : THREADS / (TM / 4), step_a_i = a_along ? THREADS / TK * 4 : 0;
    const uint32_t step_b_k = b_along ? 0 : THREADS / (TN / 4), step_b_i = b_along ? THREADS / TK * 4 : 0;

    const uint32_t k_first = part * per_block, k_end = split ? min(depth, k_first + per_block) : depth;
    Place from_a[CA], from_b[CB];
#pragma unroll
    for (int c = 0; c < CA; ++c) {
        const uint32_t i = m0 + a_i + c * step_a_i, k = k_first + a_k + c * step_a_k;
        const uint64_t first = batch * wide(args.u + A_BATCH) + (uint64_t)args.u[A_ROW] * i + (uint64_t)args.u[A_COLUMN] * k;
        from_a[c] = {first, args.u[A_ROW], k, i < m ? min(m - i, 4u) : 0, (form & A_VECTOR) != 0 && i + 3 < m};
    }
#pragma unroll
    for (int c = 0; c < CB; ++c) {
        const uint32_t j = n0 + b_i + c * step_b_i, k = k_first + b_k + c * step_b_k;
        const uint64_t first = batch * wide(args.u + B_BATCH) + (uint64_t)args.u[B_COLUMN] * j + (uint64_t)args.u[B_ROW] * k;
        from_b[c] = {first, args.u[B_COLUMN], k, j < n ? min(n - j, 4u) : 0, (form & B_VECTOR) != 0 && j + 3 < n};
    }
    Acc<W> next_a[CA][4], next_b[CB][4];
    auto bring = [&] {
#pragma unroll
        for (int c = 0; c < CA; ++c)
            if (FOURS_A % THREADS == 0 || c * THREADS + t < FOURS_A) {
                fetch<true>(next_a[c], from_a[c], k_end, Type::NO_A);
                from_a[c].first += (uint64_t)args.u[A_COLUMN] * TK, from_a[c].k += TK;
            }
#pragma unroll
        for (int c = 0; c < CB; ++c)
            if (FOURS_B % THREADS == 0 || c * THREADS + t < FOURS_B) {
                fetch<false>(next_b[c], from_b[c], k_end, 0);
                from_b[c].first += (uint64_t)args.u[B_ROW] * TK, from_b[c].k += TK;
            }
    };
    auto put = [&](int buffer) {
#pragma unroll
        for (int c = 0; c < CA; ++c)
            if (FOURS_A % THREADS == 0 || c * THREADS + t < FOURS_A)
                *(Four<T>*)&a_tile[buffer][(a_k + c * step_a_k) * PITCH_A + a_i + c * step_a_i] = values<T>(next_a[c]);
#pragma unroll
        for (int c = 0; c < CB; ++c)
            if (FOURS_B % THREADS == 0 || c * THREADS + t < FOURS_B)
                *(Four<T>*)&b_tile[buffer][(b_k + c * step_b_k) * PITCH_B + b_i + c * step_b_i] = values<T>(next_b[c]);
    };

    Lanes lanes;
    lanes.clear();
    uint32_t end_of_block = k_first + per_block;
    bool first = true;
    int buffer = 0;
    // Brings a tile of k, and computes with the one before it.
#pragma unroll 1
    for (uint32_t k = k_first;; k += TK) {
        const bool more = k < k_end;
        if (more) bring();
        if (k > k_first) {
            lanes.template step<PITCH_A, PITCH_B>(a_tile[buffer], b_tile[buffer]);
        }
        if (k >= end_of_block || !more) {
            lanes.fold(totals, first);
            lanes.clear();
            first = false;
            end_of_block += per_block;
        }
        if (!more) break;
        buffer ^= 1;
        put(buffer);
        __syncthreads();
    }

    __syncthreads();
    const uint64_t c_first = batch * wide(args.u + C_BATCH);
    T* const partials = (T*)args.scratch[0] + (batch * blocks + part) * m * n;
#pragma unroll 1
    for (uint32_t x = t; x < TM * TN / 4; x += THREADS) {
        const uint32_t i = m0 + x / (TN / 4), j = n0 + x % (TN / 4) * 4;
        if (i >= m || j >= n) continue;
        const uint64_t at = split ? (uint64_t)i * n + j : c_first + (uint64_t)i * args.u[C_ROW] + j;
        if (!split && form & C_VECTOR && j + 3 < n) {
            Four<T> four;
            read4(four.v, totals + 4 * x);
            const Acc<W> words[4] = {Type::words(four.v[0]), Type::words(four.v[1]), Type::words(four.v[2]), Type::words(four.v[3])};
            epilogue4(at, words);
            continue;
        }
#pragma unroll 1
        for (uint32_t e = 0; e < 4 && j + e < n; ++e) {
            const T v = totals[4 * x + e];
            if (split)
                partials[at + e] = v;
            else
                epilogue(at + e, Type::words(v));
        }
    }
}

// A product that has few columns: a thread takes a row of A, of one block of k, and up to four columns of B, which lie in shared memory. Rows that lie ALONG k
// come there in tiles, so that neighbours of a warp are neighbours in memory. Sums go to memory by block, of a product that is TURNED to the place of its
// transpose. Elements of A that are COMPUTED are so for fewer terms at once, since the operator is written out for each.
template <class T, bool ALONG, bool COMPUTED = false>
IW_DEVICE void thin(const Args& args) {
    using namespace params::contract;
    using Type = Kind<T>;
    constexpr int W = Type::WORDS, SPAN = 512 / W, STEP = (COMPUTED ? 8 : 32) / W, FEW = 4, FOURS = STEP / 4, ACROSS = THREADS / FOURS, PITCH = STEP + 4 / W;
    __shared__ __align__(16) T few[FEW][SPAN], tile[ALONG ? THREADS * PITCH : 4];
    const uint32_t t = threadIdx.x, m = args.u[ROWS], n = args.u[COLUMNS], depth = args.u[TERMS], per_block = args.u[BLOCK];
    const uint32_t blocks = (depth + per_block - 1) / per_block, along = args.u[A_COLUMN], form = args.u[FORM];
    uint64_t index = blockIdx.x;
    const uint32_t tiles = (m + THREADS - 1) / THREADS, bands = (n + FEW - 1) / FEW;
    const uint32_t m0 = (uint32_t)(index % tiles) * THREADS, i = m0 + t;
    index /= tiles;
    const uint32_t part = (uint32_t)(index % blocks);
    index /= blocks;
    const uint32_t j = (uint32_t)(index % bands) * FEW, count = min(n - j, (uint32_t)FEW);
    const uint64_t batch = index / bands;
    const uint64_t a_first = batch * wide(args.u + A_BATCH), first = a_first + (uint64_t)args.u[A_ROW] * min(i, m - 1);
    const uint64_t other = batch * wide(args.u + B_BATCH) + (uint64_t)args.u[B_COLUMN] * j;

    T sum[FEW] = {};
    auto use = [&](const T (&v)[4], uint32_t q) {
#pragma unroll
        for (int c = 0; c < FEW; ++c) {
            if (c >= count) break;
            T w[4];
            read4(w, &few[c][q]);
#pragma unroll
            for (int e = 0; e < 4; ++e) sum[c] = Type::fma(v[e], w[e], sum[c]);
        }
    };
    const uint32_t k_end = min(depth, (part + 1) * per_block);
#pragma unroll 1
    for (uint32_t start = part * per_block; start < k_end; start += SPAN) {
        const uint32_t span = min(k_end - start, (uint32_t)SPAN), whole = span / STEP * STEP;
        __syncthreads();
#pragma unroll 1
        for (uint32_t e = t; e < count * SPAN; e += THREADS) {
            const uint32_t c = e / SPAN, q = e % SPAN;
            if (q >= span) continue;
            const uint64_t at = other + (uint64_t)args.u[B_COLUMN] * c + (uint64_t)args.u[B_ROW] * (start + q);
            Acc<W> v;
            load_b1(v, at);
            few[c][q] = Type::of(v);
        }
        __syncthreads();
        if constexpr (ALONG) {
            Acc<W> next[FOURS][4];
            // Brings a tile, and computes with the one before it.
#pragma unroll 1
            for (uint32_t from = 0; from <= whole; from += STEP) {
                if (from > 0) {
#pragma unroll
                    for (int g = 0; g < FOURS; ++g) *(Four<T>*)&tile[(t / FOURS + g * ACROSS) * PITCH + t % FOURS * 4] = values<T>(next[g]);
                    __syncthreads();
                }
                if (from < whole) {
#pragma unroll
                    for (int g = 0; g < FOURS; ++g)
                        load_a4(next[g], a_first + (uint64_t)args.u[A_ROW] * min(m0 + t / FOURS + g * ACROSS, m - 1) + start + from + t % FOURS * 4);
                }
                if (from > 0) {
#pragma unroll
                    for (int g = 0; g < FOURS; ++g) {
                        T v[4];
                        read4(v, &tile[t * PITCH + 4 * g]);
                        use(v, from - STEP + 4 * g);
                    }
                    __syncthreads();
                }
            }
        } else {
#pragma unroll 1
            for (uint32_t q = 0; q < whole; q += STEP) {
                Acc<W> v[STEP];
#pragma unroll
                for (int e = 0; e < STEP; ++e) load_a1(v[e], first + (uint64_t)along * (start + q + e));
#pragma unroll
                for (int g = 0; g < FOURS; ++g) {
                    const T four[4] = {Type::of(v[4 * g]), Type::of(v[4 * g + 1]), Type::of(v[4 * g + 2]), Type::of(v[4 * g + 3])};
                    use(four, q + 4 * g);
                }
            }
        }
#pragma unroll 1
        for (uint32_t q = whole; q < span; ++q) {
            Acc<W> v;
            const uint64_t at = first + (uint64_t)along * (start + q);
            load_a1(v, at);
#pragma unroll
            for (int c = 0; c < FEW; ++c)
                if (c < count) sum[c] = Type::fma(Type::of(v), few[c][q], sum[c]);
        }
    }
    if (i >= m) return;
    T* const partials = (T*)args.scratch[0] + (batch * blocks + part) * m * n;
#pragma unroll
    for (int c = 0; c < FEW; ++c)
        if (c < count) partials[form & TURNED ? (uint64_t)(j + c) * m + i : (uint64_t)i * n + j + c] = sum[c];
}

// The parts of a product that blocks of k gave, added left to right.
template <class T>
IW_DEVICE void fold_parts(const Args& args) {
    using namespace params::contract;
    const uint32_t m = args.u[ROWS], n = args.u[COLUMNS], per_block = args.u[BLOCK], blocks = (args.u[TERMS] + per_block - 1) / per_block;
    const uint64_t index = (uint64_t)blockIdx.x * THREADS + threadIdx.x, of_one = (uint64_t)m * n;
    if (index >= args.n) return;
    const uint64_t batch = index / of_one, place = index % of_one;
    const T* const partials = (const T*)args.scratch[0] + batch * blocks * of_one + place;
    T total = partials[0];
#pragma unroll 4
    for (uint32_t b = 1; b < blocks; ++b) total = Kind<T>::add(total, partials[b * of_one]);
    epilogue(batch * wide(args.u + C_BATCH) + place / n * args.u[C_ROW] + place % n, Kind<T>::words(total));
}

}  // namespace

// Two blocks of a multiprocessor, so that one computes while the other waits.
#define IW_CONTRACT extern "C" __global__ void __launch_bounds__(THREADS, 2)
