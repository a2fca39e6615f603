// Products of f64 matrices by matrix instructions, which are chains of fma in ascending k. Operands lie in tiles: 128 rows of A, or columns of B, of four k after
// the other four. See contract_packed.cuh.
// @from compute_90
#include "contract_packed.cuh"

using namespace packed;

namespace {

// k of a stage, and stages; a warp has 64 rows and 32 columns.
constexpr int TILE = WIDE_TILE, DEPTH = 16, STAGES = 2, STAGE = 2 * DEPTH * TILE;
struct Wide {
    static constexpr int TM = TILE, TN = TILE;
};

// 16 rows by 8 columns, four k: a lane has an element of two rows and one of a column, and two neighbouring columns of two rows of sums.
IW_DEVICE void multiply(double (&upper)[2], double (&lower)[2], double a, double b, double c) {
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(upper[0]), "+d"(upper[1]), "+d"(lower[0]), "+d"(lower[1])
        : "d"(a), "d"(b), "d"(c));
}

IW_DEVICE void product_of_tiles(const Args& args) {
    using namespace params::packed;
    extern __shared__ __align__(128) unsigned char dynamic[];
    double* const stages = (double*)dynamic;
    // Sums of whole blocks, row by row.
    double* const totals = stages + STAGES * STAGE;
    const uint32_t t = threadIdx.x, lane = lane_id(), warp = warp_id(), m = args.u[ROWS], n = args.u[COLUMNS], depth = args.u[PITCH];
    const Target target = target_of<Wide>(args);
    const double* a = (const double*)args.scratch[0] + target.row_a * depth + t * 2;
    const double* b = (const double*)args.scratch[1] + target.row_b * depth + t * 2;
    const uint32_t row = warp % 2 * 64, column = warp / 2 * 32;
    double sum[8][4][2];
    auto clear = [&] {
#pragma unroll
        for (int r = 0; r < 8; ++r)
#pragma unroll
            for (int c = 0; c < 4; ++c) sum[r][c][0] = sum[r][c][1] = 0;
    };
    uint32_t filled = 0;
    auto bring = [&](uint32_t k) {
        if (k < depth) {
            double* const to = stages + filled * STAGE + t * 2;
#pragma unroll
            for (int c = 0; c < DEPTH * TILE; c += 2 * THREADS) {
                copy((uint32_t*)(to + c), (const uint32_t*)(a + c));
                copy((uint32_t*)(to + DEPTH * TILE + c), (const uint32_t*)(b + c));
            }
            a += DEPTH * TILE, b += DEPTH * TILE, filled ^= 1;
        }
        close_stage();
    };
    clear();
    bring(0);
    uint32_t end_of_block = args.u[BLOCK], used = 0;
    bool first = true;
#pragma unroll 1
    for (uint32_t k = 0; k < depth; k += DEPTH) {
        wait_for_stage<0>();
        __syncthreads();
        bring(k + DEPTH);
        const double* const as = stages + used * STAGE + row * 4 + lane;
        const double* const bs = stages + used * STAGE + DEPTH * TILE + column * 4 + lane;
        used ^= 1;
#pragma unroll
        for (int q = 0; q < DEPTH; q += 4) {
            double x[8], y[4];
#pragma unroll
            for (int r = 0; r < 8; ++r) x[r] = as[q * TILE + r * 32];
#pragma unroll
            for (int c = 0; c < 4; ++c) y[c] = bs[q * TILE + c * 32];
#pragma unroll
            for (int r = 0; r < 8; r += 2)
#pragma unroll
                for (int c = 0; c < 4; ++c) multiply(sum[r][c], sum[r + 1][c], x[r], x[r + 1], y[c]);
        }
        if (k + DEPTH < end_of_block && k + DEPTH < depth) continue;
#pragma unroll
        for (int r = 0; r < 8; ++r)
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                double2& total = *(double2*)&totals[(row + 8 * r + lane / 4) * TILE + column + 8 * c + lane % 4 * 2];
                double2 v = make_double2(sum[r][c][0], sum[r][c][1]);
                if (!first) {
                    const double2 w = total;
                    v.x = __dadd_rn(w.x, v.x), v.y = __dadd_rn(w.y, v.y);
                }
                total = v;
            }
        clear();
        first = false, end_of_block += args.u[BLOCK];
    }
    __syncthreads();
    const uint64_t c_first = target.batch * wide(args.u + C_BATCH);
#pragma unroll 1
    for (uint32_t x = t; x < TILE * TILE / 4; x += THREADS) {
        const uint32_t i = target.m0 + x / (TILE / 4), j = target.n0 + x % (TILE / 4) * 4;
        if (i >= m || j >= n) continue;
        double v[4];
        read4(v, totals + 4 * x);
        const Acc<2> four[4] = {Kind<double>::words(v[0]), Kind<double>::words(v[1]), Kind<double>::words(v[2]), Kind<double>::words(v[3])};
        const uint64_t at = c_first + (uint64_t)i * args.u[C_ROW] + j;
        if (args.u[VECTOR] && j + 3 < n) {
            epilogue4(at, four);
            continue;
        }
#pragma unroll
        for (uint32_t e = 0; e < 4; ++e)
            if (j + e < n) epilogue(at + e, four[e]);
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS, 1) contract_tiles_wide(const __grid_constant__ Args args) { product_of_tiles(args); }
