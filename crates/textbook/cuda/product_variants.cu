// The rungs of the textbook's product of matrices: C(i, j) is the sum over k of A(i, k) B(k, j), in blocks of k, each a chain of fma in ascending k from +0;
// blocks are added left to right.
// naive and coalesced: a thread computes an element from memory. tiled: tiles of both in shared memory. register_tiled: a thread computes 8 rows of a
// column. vectorised: 4 x 4 elements, from vectors of four.
// A block of k ends where a tile does. All threads pass all barriers.
#include "contract.cuh"
#include "textbook.cuh"

namespace of = params::product_variant;

namespace {

// The product, and the tile of a block of threads.
struct Problem {
    uint32_t m, n, depth, block, form, a_row, a_column, b_row, b_column, c_row, i0, j0;
    uint64_t a, b, c;
    IW_DEVICE Problem(const Args& args, uint32_t tile_m, uint32_t tile_n)
        : m(args.u[of::ROWS]), n(args.u[of::COLUMNS]), depth(args.u[of::TERMS]), block(args.u[of::BLOCK]), form(args.u[of::FORM]), a_row(args.u[of::A_ROW]),
          a_column(args.u[of::A_COLUMN]), b_row(args.u[of::B_ROW]), b_column(args.u[of::B_COLUMN]), c_row(args.u[of::C_ROW]) {
        const uint32_t across = (n + tile_n - 1) / tile_n, down = (m + tile_m - 1) / tile_m;
        uint64_t index = blockIdx.x;
        j0 = (uint32_t)(index % across) * tile_n;
        index /= across;
        i0 = (uint32_t)(index % down) * tile_m;
        const uint64_t batch = index / down;
        a = batch * wide(args.u + of::A_BATCH), b = batch * wide(args.u + of::B_BATCH), c = batch * wide(args.u + of::C_BATCH);
    }
    IW_DEVICE float a_at(uint32_t i, uint32_t k) const {
        Acc<1> v;
        load_a1(v, a + (uint64_t)i * a_row + (uint64_t)k * a_column);
        return __uint_as_float(v.w[0]);
    }
    IW_DEVICE float b_at(uint32_t k, uint32_t j) const {
        Acc<1> v;
        load_b1(v, b + (uint64_t)k * b_row + (uint64_t)j * b_column);
        return __uint_as_float(v.w[0]);
    }
    IW_DEVICE void store(uint32_t i, uint32_t j, float v) const {
        if (i < m && j < n) epilogue(c + (uint64_t)i * c_row + j, Kind<float>::words(v));
    }
};

// Sums of a thread: of a block of k, and of those before it.
template <int COUNT>
struct Chains {
    float sum[COUNT], total[COUNT];
    uint32_t until, block;
    bool first = true;

    IW_DEVICE Chains(uint32_t block) : until(block), block(block) {
#pragma unroll
        for (int e = 0; e < COUNT; ++e) sum[e] = total[e] = 0;
    }
    IW_DEVICE void fold() {
#pragma unroll
        for (int e = 0; e < COUNT; ++e) total[e] = first ? sum[e] : __fadd_rn(total[e], sum[e]), sum[e] = 0;
        first = false;
    }
    // So many terms are in the sums.
    IW_DEVICE void reach(uint32_t terms) {
        if (terms != until) return;
        fold();
        until += block;
    }
    IW_DEVICE void finish(uint32_t depth) {
        if (first || until - block < depth) fold();
    }
};

template <bool COALESCED>
IW_DEVICE void one_by_one(const Args& args) {
    const Problem p(args, 16, 16);
    const uint32_t low = threadIdx.x % 16, high = threadIdx.x / 16, i = p.i0 + (COALESCED ? high : low), j = p.j0 + (COALESCED ? low : high);
    if (i >= p.m || j >= p.n) return;
    Chains<1> chain(p.block);
#pragma unroll 1
    for (uint32_t k = 0; k < p.depth; ++k) {
        chain.sum[0] = __fmaf_rn(p.a_at(i, k), p.b_at(k, j), chain.sum[0]);
        chain.reach(k + 1);
    }
    chain.finish(p.depth);
    p.store(i, j, chain.total[0]);
}

// A thread computes EACH rows of a column of a tile.
template <int TM, int TN, int TK>
IW_DEVICE void tiled(const Args& args) {
    constexpr int EACH = TM * TN / THREADS;
    __shared__ float a_tile[TM * TK], b_tile[TK * TN];
    const Problem p(args, TM, TN);
    const uint32_t t = threadIdx.x, row = t / TN * EACH, column = t % TN;
    Chains<EACH> chains(p.block);
#pragma unroll 1
    for (uint32_t k0 = 0; k0 < p.depth; k0 += TK) {
        __syncthreads();
#pragma unroll 1
        for (int e = t; e < TM * TK; e += THREADS) {
            const uint32_t i = p.i0 + e / TK, k = k0 + e % TK;
            a_tile[e] = i < p.m && k < p.depth ? p.a_at(i, k) : 0;
        }
#pragma unroll 1
        for (int e = t; e < TK * TN; e += THREADS) {
            const uint32_t k = k0 + e / TN, j = p.j0 + e % TN;
            b_tile[e] = k < p.depth && j < p.n ? p.b_at(k, j) : 0;
        }
        __syncthreads();
        const uint32_t here = min(p.depth - k0, (uint32_t)TK);
#pragma unroll 2
        for (uint32_t q = 0; q < here; ++q) {
            const float y = b_tile[q * TN + column];
#pragma unroll
            for (int r = 0; r < EACH; ++r) chains.sum[r] = __fmaf_rn(a_tile[(row + r) * TK + q], y, chains.sum[r]);
        }
        chains.reach(k0 + TK);
    }
    chains.finish(p.depth);
#pragma unroll
    for (int r = 0; r < EACH; ++r) p.store(p.i0 + row + r, p.j0 + column, chains.total[r]);
}

IW_DEVICE void vectorised(const Args& args) {
    constexpr int TM = 64, TN = 64, TK = 16, PITCH = TM + 4;
    // Rows of A lie side by side.
    __shared__ __align__(16) float a_tile[TK * PITCH], b_tile[TK * TN];
    const Problem p(args, TM, TN);
    const uint32_t t = threadIdx.x, row = t / 16 * 4, column = t % 16 * 4;
    Chains<16> chains(p.block);
#pragma unroll 1
    for (uint32_t k0 = 0; k0 < p.depth; k0 += TK) {
        __syncthreads();
        // Four neighbours along k of a row of A, and of a row of B.
        const uint32_t i = p.i0 + t / 4, k = k0 + t % 4 * 4;
        Acc<1> v[4];
        const bool whole = p.form & A_VECTOR && i < p.m && k + 3 < p.depth;
        if (whole) load_a4(v, p.a + (uint64_t)i * p.a_row + k);
#pragma unroll
        for (uint32_t e = 0; e < 4; ++e) {
            const float x = whole ? __uint_as_float(v[e].w[0]) : i < p.m && k + e < p.depth ? p.a_at(i, k + e) : 0;
            a_tile[(t % 4 * 4 + e) * PITCH + t / 4] = x;
        }
        const uint32_t from = k0 + t / 16, j = p.j0 + column;
        Acc<1> w[4];
        const bool whole_row = p.form & B_VECTOR && from < p.depth && j + 3 < p.n;
        if (whole_row) load_b4(w, p.b + (uint64_t)from * p.b_row + j);
#pragma unroll
        for (uint32_t e = 0; e < 4; ++e)
            b_tile[t / 16 * TN + column + e] = whole_row ? __uint_as_float(w[e].w[0]) : from < p.depth && j + e < p.n ? p.b_at(from, j + e) : 0;
        __syncthreads();
        const uint32_t here = min(p.depth - k0, (uint32_t)TK);
#pragma unroll 2
        for (uint32_t q = 0; q < here; ++q) {
            float x[4], y[4];
            read4(x, a_tile + q * PITCH + row);
            read4(y, b_tile + q * TN + column);
#pragma unroll
            for (int e = 0; e < 16; ++e) chains.sum[e] = __fmaf_rn(x[e / 4], y[e % 4], chains.sum[e]);
        }
        chains.reach(k0 + TK);
    }
    chains.finish(p.depth);
    const uint32_t j = p.j0 + column;
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        const uint32_t i = p.i0 + row + r;
        const float* const total = chains.total + 4 * r;
        if (p.form & C_VECTOR && i < p.m && j + 3 < p.n) {
            const Acc<1> words[4] = {Kind<float>::words(total[0]), Kind<float>::words(total[1]), Kind<float>::words(total[2]), Kind<float>::words(total[3])};
            epilogue4(p.c + (uint64_t)i * p.c_row + j, words);
            continue;
        }
#pragma unroll
        for (uint32_t e = 0; e < 4; ++e) p.store(i, j + e, total[e]);
    }
}

}  // namespace

IW_KERNEL(THREADS) product_naive(const __grid_constant__ Args args) { one_by_one<false>(args); }
IW_KERNEL(THREADS) product_coalesced(const __grid_constant__ Args args) { one_by_one<true>(args); }
IW_KERNEL(THREADS) product_tiled(const __grid_constant__ Args args) { tiled<16, 16, 16>(args); }
IW_KERNEL(THREADS) product_register_tiled(const __grid_constant__ Args args) { tiled<64, 32, 8>(args); }
IW_KERNEL(THREADS) product_vectorised(const __grid_constant__ Args args) { vectorised(args); }
