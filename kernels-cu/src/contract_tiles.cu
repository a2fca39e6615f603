// Products of f32 matrices whose operands lie in tiles: 256 rows of A, or 128 columns of B, of one k after the other. See contract_packed.cuh.
// @from compute_80
#include "contract_packed.cuh"

using namespace packed;

namespace {

// Rows and columns of a thread, k of a stage, and stages.
constexpr int RM = TILE_ROWS / 16, RN = TILE_COLUMNS / 16, DEPTH = 16, STAGES = 3, STAGE = DEPTH * (TILE_ROWS + TILE_COLUMNS);

IW_DEVICE void product_of_tiles(const Args& args) {
    using namespace params::packed;
    extern __shared__ __align__(128) unsigned char dynamic[];
    float* const stages = (float*)dynamic;
    // Sums of whole blocks, in fours of each thread.
    float* const totals = stages + STAGES * STAGE + threadIdx.x * 4;
    const uint32_t t = threadIdx.x, lane = lane_id(), warp = warp_id(), m = args.u[ROWS], n = args.u[COLUMNS], depth = args.u[PITCH];
    const Target target = target_of<Tiles>(args);
    const float* a = (const float*)args.scratch[0] + target.row_a * depth + t * 4;
    const float* b = (const float*)args.scratch[1] + target.row_b * depth + t * 4;
    // Lanes that differ in their lowest bit read the same elements of A, those that differ in the next one the same of B.
    const uint32_t row = warp % 2 * (8 * RM) + lane / 2 % 8 * 4, column = warp / 2 * (4 * RN) + (lane % 2 + lane / 16 * 2) * 4;

    float sum[RM][RN];
    auto clear = [&] {
#pragma unroll
        for (int r = 0; r < RM; ++r)
#pragma unroll
            for (int c = 0; c < RN; ++c) sum[r][c] = 0;
    };
    uint32_t filled = 0, used = 0;
    auto bring = [&](uint32_t k) {
        if (k < depth) {
            uint32_t* const to = (uint32_t*)(stages + filled * STAGE) + t * 4;
#pragma unroll
            for (int c = 0; c < DEPTH * TILE_ROWS; c += 4 * THREADS) copy(to + c, (const uint32_t*)a + c);
#pragma unroll
            for (int c = 0; c < DEPTH * TILE_COLUMNS; c += 4 * THREADS) copy(to + DEPTH * TILE_ROWS + c, (const uint32_t*)b + c);
            a += DEPTH * TILE_ROWS, b += DEPTH * TILE_COLUMNS;
            filled = filled + 1 == STAGES ? 0 : filled + 1;
        }
        close_stage();
    };
    clear();
#pragma unroll 1
    for (int s = 0; s < STAGES - 1; ++s) bring(s * DEPTH);
    uint32_t end_of_block = args.u[BLOCK];
    bool first = true;
#pragma unroll 1
    for (uint32_t k = 0; k < depth; k += DEPTH) {
        wait_for_stage<STAGES - 2>();
        __syncthreads();
        bring(k + (STAGES - 1) * DEPTH);
        const float* const as = stages + used * STAGE + row;
        const float* const bs = stages + used * STAGE + DEPTH * TILE_ROWS + column;
        used = used + 1 == STAGES ? 0 : used + 1;
#pragma unroll 4
        for (int q = 0; q < DEPTH; ++q) {
            float x[RM], y[RN];
#pragma unroll
            for (int r = 0; r < RM; r += 4) read4(x + r, as + q * TILE_ROWS + r * 8);
#pragma unroll
            for (int c = 0; c < RN; c += 4) read4(y + c, bs + q * TILE_COLUMNS + c * 4);
#pragma unroll
            for (int r = 0; r < RM; ++r)
#pragma unroll
                for (int c = 0; c < RN; ++c) sum[r][c] = __fmaf_rn(x[r], y[c], sum[r][c]);
        }
        if (k + DEPTH < end_of_block && k + DEPTH < depth) continue;
#pragma unroll
        for (int r = 0; r < RM; ++r)
#pragma unroll
            for (int c = 0; c < RN; c += 4) {
                float4& total = *(float4*)&totals[(r * RN + c) * THREADS];
                float4 v = make_float4(sum[r][c], sum[r][c + 1], sum[r][c + 2], sum[r][c + 3]);
                if (!first) {
                    const float4 w = total;
                    v.x = __fadd_rn(w.x, v.x), v.y = __fadd_rn(w.y, v.y), v.z = __fadd_rn(w.z, v.z), v.w = __fadd_rn(w.w, v.w);
                }
                total = v;
            }
        clear();
        first = false, end_of_block += args.u[BLOCK];
    }
    const uint64_t c_first = target.batch * wide(args.u + C_BATCH);
#pragma unroll 1
    for (uint32_t x = 0; x < RM * RN; x += 4) {
        const uint32_t r = x / RN, c = x % RN, i = target.m0 + row + r / 4 * 32 + r % 4, j = target.n0 + column + c * 4;
        if (i >= m || j >= n) continue;
        const float4 v = *(const float4*)&totals[x * THREADS];
        const Acc<1> four[4] = {Kind<float>::words(v.x), Kind<float>::words(v.y), Kind<float>::words(v.z), Kind<float>::words(v.w)};
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

extern "C" __global__ void __launch_bounds__(THREADS, 1) contract_tiles(const __grid_constant__ Args args) { product_of_tiles(args); }
