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
