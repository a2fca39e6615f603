// Ranks of a tile's elements among those that are marked, for kernels whose threads hold a tile and a warp more looks back (select.cu, by_key.cu).
#pragma once
#include "iw.cuh"

constexpr int HOLDERS = 256;  // threads that hold a tile's elements; a warp more looks back
constexpr int ROW = 4 * WARP;   // elements that a warp reads at once

// Four bits of each row to their number, a byte to a row: even rows in the first word.
IW_DEVICE void count_rows(uint32_t bits, uint32_t (&n)[2]) {
    bits = bits - (bits >> 1 & 0x55555555u);
    bits = (bits & 0x33333333u) + (bits >> 2 & 0x33333333u);
    n[0] = bits & 0x0f0f0f0fu, n[1] = bits >> 4 & 0x0f0f0f0fu;
}
IW_DEVICE uint32_t of_row(const uint32_t (&n)[2], int r) { return n[r & 1] >> (8 * (r >> 1)) & 0xffu; }

// Ranks of a warp's elements in one part.
struct Ranks {
    uint32_t bits;      // 4 to a row
    uint32_t left[2];   // of each row, those of the part in the lanes before
    uint32_t whole[2];  // and in all lanes
    // Leaves the number of all.
    IW_DEVICE uint32_t rank() {
        uint32_t own[2];
        count_rows(bits, own);
#pragma unroll
        for (int h = 0; h < 2; ++h) left[h] = own[h];
#pragma unroll
        for (int step = 1; step < WARP; step *= 2)
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                const uint32_t before = __shfl_up_sync(ALL_LANES, left[h], step);
                if (lane_id() >= step) left[h] += before;
            }
#pragma unroll
        for (int h = 0; h < 2; ++h) whole[h] = __shfl_sync(ALL_LANES, left[h], WARP - 1), left[h] -= own[h];
        // Bytes of up to 128 to a sum.
        uint32_t sum = 0;
#pragma unroll
        for (int r = 0; r < 8; ++r) sum += of_row(whole, r);
        return sum;
    }
    IW_DEVICE bool has(int r, int e) const { return bits >> (4 * r + e) & 1; }
};

IW_DEVICE void holders_meet() { asm volatile("bar.sync 1, %0;" ::"n"(HOLDERS) : "memory"); }

// Gives a lane's elements of each row, the first of them element i0, to `take`; where some are at `end` or behind, all of `x` is zero before.
template <int W, int R, class Take>
IW_DEVICE void load_rows(Acc<W> (&x)[R][4], uint64_t i0, uint64_t end, const Take& take) {
    if (i0 + (R - 1) * ROW + 4 <= end) {
#pragma unroll
        for (int r = 0; r < R; ++r) {
            Acc<W + 1> v[4];
            load4(v, i0 + r * ROW);
#pragma unroll
            for (int e = 0; e < 4; ++e) take(r, e, v[e]);
        }
        return;
    }
#pragma unroll
    for (int r = 0; r < R; ++r)
#pragma unroll
        for (int e = 0; e < 4; ++e) x[r][e] = {};
    // Rolled up, each put in its place by comparison, so that the load stands in the code once.
#pragma unroll 1
    for (int k = 0; k < 4 * R; ++k) {
        const uint64_t i = i0 + (k / 4) * ROW + k % 4;
        if (i >= end) break;
        Acc<W + 1> v;
        load1(v, i);
#pragma unroll
        for (int q = 0; q < 4 * R; ++q)
            if (q == k) take(q / 4, q % 4, v);
    }
}
