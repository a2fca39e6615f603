// Sums over the threads of a block.
#pragma once
#include "iw.cuh"

// The sum of the values of the threads before this one, in a block whose first W warps count; `sums` has room for a value to a warp, and is free after the next
// barrier. All threads of the block call it.
template <int W>
IW_DEVICE uint32_t sum_before(uint32_t v, uint32_t* sums) {
    const int lane = lane_id(), warp = warp_id();
    uint32_t sum = v;
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) {
        const uint32_t left = __shfl_up_sync(ALL_LANES, sum, step);
        if (lane >= step) sum += left;
    }
    if (lane == WARP - 1) sums[warp] = sum;
    __syncthreads();
    uint32_t before = sum - v;
#pragma unroll
    for (int w = 0; w < W; ++w)
        if (w < warp) before += sums[w];
    return before;
}
