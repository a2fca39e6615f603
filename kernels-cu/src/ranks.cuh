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

// Words and halves of words to shared memory, where a bit is set; `put` and `put_half` go on to the next place then. By predicates, since it takes the assembler
// long to make them of branches.
IW_DEVICE void put_if(uint32_t bit, uint32_t at, uint32_t word) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, 0; @p st.shared.u32 [%1], %2; }" ::"r"(bit), "r"(at), "r"(word) : "memory");
}
IW_DEVICE void put(uint32_t bit, uint32_t& at, uint32_t word) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p st.shared.u32 [%0], %2; @p add.u32 %0, %0, 4; }" : "+r"(at) : "r"(bit), "r"(word) : "memory");
}
IW_DEVICE void put_half(uint32_t bit, uint32_t& at, uint32_t half) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p st.shared.u16 [%0], %2; @p add.u32 %0, %0, 2; }" : "+r"(at) : "r"(bit), "r"(half) : "memory");
}

IW_DEVICE void holders_meet() { asm volatile("bar.sync 1, %0;" ::"n"(HOLDERS) : "memory"); }

// Loads a lane's elements of each row, the first of them element i0, without the word before each, which goes to `mark` with the element's number. Elements at
// `end` or behind are anything, and have no mark.
template <int W, int R, class Mark>
IW_DEVICE void load_rows(Acc<W> (&x)[R][4], uint64_t i0, uint64_t end, const Mark& mark) {
    const auto put = [](Acc<W>& to, const Acc<W + 1>& v) {
#pragma unroll
        for (int w = 0; w < W; ++w) to.w[w] = v.w[w + 1];
    };
    if (i0 + (R - 1) * ROW + 4 <= end) {
#pragma unroll
        for (int r = 0; r < R; ++r) {
            Acc<W + 1> v[4];
            load4(v, i0 + r * ROW);
#pragma unroll
            for (int e = 0; e < 4; ++e) put(x[r][e], v[e]), mark(4 * r + e, v[e].w[0]);
        }
        return;
    }
    // Rolled up, the last of the lane's `count` elements first, each put before the others, which all move by one, so that the load stands in the code once.
    const uint64_t left = end > i0 ? end - i0 : 0;
    const uint32_t count = (uint32_t)(4 * (left / ROW) + min(left % ROW, (uint64_t)4));
#pragma unroll 1
    for (uint32_t done = 0; done < count; ++done) {
        const uint32_t k = count - 1 - done;
        Acc<W + 1> v;
        load1(v, i0 + (k / 4) * ROW + k % 4);
#pragma unroll
        for (int q = 4 * R - 1; q > 0; --q) x[q / 4][q % 4] = x[(q - 1) / 4][(q - 1) % 4];
        put(x[0][0], v), mark(k, v.w[0]);
    }
}
