// Products of matrices by matrix instructions. Operands are packed first: each row of A and each column of B becomes a row of words in ascending k, four 8-bit
// numbers, two of 16 bits or one of 32 a word, with zeros behind the last k and behind the last row. So the product's own loop copies whole chunks of 16 bytes
// from places that are a stride apart, and has no bounds.
//
// For warpgroups the words of 64 rows lie together, in chunks of 128 bytes of each.
//
// Fixed-point products take four planes: a number is scaled by its row's greatest magnitude, rounded to 30 bits, and cut into four balanced digits of base 256.
// Of the products of digits those of the four highest levels are summed, exactly, and the sum is rounded once.
#pragma once

#include "contract.cuh"

namespace packed {

enum Format : uint32_t { SIGNED, UNSIGNED, HALF, BRAIN, TENSOR, DIGITS, TILES, IN_BLOCKS = 256 };
// Rows of A, and columns of B, of a tile of floats that lie in tiles.
constexpr int TILE_ROWS = 256, TILE_COLUMNS = 128;
// Rows or columns of a tile of f64.
constexpr int WIDE_TILE = 128;
// Exponent of a row with an infinite number or NaN.
constexpr uint32_t NOT_FINITE = 255;
// Sides of the square tiles that are packed, and k of a part of a row whose greatest magnitude is found by itself.
constexpr int SIDE = 64, PART = 256;

// Line of a plane of a row: planes of 64 rows, one plane after the other.
template <int P>
IW_DEVICE uint64_t line_of(uint64_t row, uint32_t plane) {
    return (row / SIDE * P + plane) * SIDE + row % SIDE;
}

// Shape of a block of threads: planes, tiles of 16 rows and of 8 columns of a warp, warps, chunks of 16 bytes of a row at once, and stages that are on their way.
template <int P, int MT_, int NT_, int WM, int WN, int C, int S>
struct Shape {
    static constexpr int PLANES = P, MT = MT_, NT = NT_, CHUNKS = C, STAGES = S, TM = WM * MT * 16, TN = WN * NT * 8, THREADS = 32 * WM * WN;
    static constexpr int WARPS_N = WN, LINES = (TM + TN) * P, STAGE = LINES * C * 4;
};

IW_DEVICE uint32_t shared_address(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }

// Chunks of a line lie where eight neighbouring lines meet in no bank.
template <int C>
IW_DEVICE uint32_t place(uint32_t line, uint32_t chunk) {
    return (line * C + (chunk ^ line / (8 / C) % C)) * 4;
}

// Copies 16 bytes.
IW_DEVICE void copy(uint32_t* to, const uint32_t* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
IW_DEVICE void close_stage() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
IW_DEVICE void wait_for_stage() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// Four squares of eight rows of 16 bytes: lane l names row l % 8 of square l / 8, and gets word l % 4 of row l / 4 of each.
IW_DEVICE void squares(uint32_t (&v)[4], const uint32_t* stage, uint32_t at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "r"(shared_address(stage + at)));
}

// 16 rows by 8 columns: a lane has two neighbouring columns of two rows.
IW_DEVICE void multiply(uint32_t (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm("// @op.multiply %0, %1, %2, %3, %4, %5, %6, %7, %8, %9;"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
IW_DEVICE void multiply_digits(uint32_t (&sum)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// `sum` 2^`exponent`, rounded once, as bits.
IW_DEVICE uint32_t rounded(int64_t sum, int32_t exponent) {
    const uint32_t sign = sum < 0 ? 0x80000000u : 0;
    // By halves: from a 64-bit choice the compiler makes an absolute value, which assemblers take to have no sign.
    const uint32_t flip = sign ? ALL_LANES : 0, low = ((uint32_t)sum ^ flip) + (flip & 1);
    const uint64_t whole = (uint64_t)((uint32_t)(sum >> 32) ^ flip) + (sign && low == 0) << 32 | low;
    if (whole == 0) return 0;
    const int32_t top = 63 - __clzll((int64_t)whole) + exponent, unit = max(top - 23, -149), shift = unit - exponent;
    uint64_t kept = shift > 63 ? 0 : shift >= 0 ? whole >> shift : whole << -shift;
    if (shift > 0 && shift <= 64) {
        const uint64_t rest = shift == 64 ? whole : whole & (((uint64_t)1 << shift) - 1), half = (uint64_t)1 << (shift - 1);
        kept += rest > half || (rest == half && kept & 1);
    }
    // The highest bit of a normal number's mantissa adds one to the exponent, and so does what carries beyond.
    const uint64_t bits = (top >= -126 ? (uint64_t)(unit + 149) << 23 : 0) + kept;
    return sign | (bits < 0x7f800000u ? (uint32_t)bits : 0x7f800000u);
}

template <class Shape>
struct Block {
    static constexpr int P = Shape::PLANES, MT = Shape::MT, NT = Shape::NT, C = Shape::CHUNKS, TM = Shape::TM, TN = Shape::TN;
    // Of each level.
    uint32_t sum[P][MT][NT][4];

    IW_DEVICE void clear() {
#pragma unroll
        for (int l = 0; l < P; ++l)
#pragma unroll
            for (int i = 0; i < MT; ++i)
#pragma unroll
                for (int j = 0; j < NT; ++j)
#pragma unroll
                    for (int e = 0; e < 4; ++e) sum[l][i][j][e] = 0;
    }

    IW_DEVICE void step(const uint32_t* stage, uint32_t row, uint32_t column) {
        const uint32_t lane = lane_id(), in_a = lane % 16, chunk_a = lane / 16, in_b = lane % 8 + lane / 16 * 8, chunk_b = lane / 8 % 2;
#pragma unroll
        for (int c = 0; c < C; c += 2) {
            uint32_t a[P][MT][4], b[P][NT / 2][4];
#pragma unroll
            for (int p = 0; p < P; ++p) {
#pragma unroll
                for (int i = 0; i < MT; ++i) squares(a[p][i], stage, place<C>((uint32_t)line_of<P>(row + 16 * i, p) + in_a, c + chunk_a));
#pragma unroll
                for (int j = 0; j < NT / 2; ++j) squares(b[p][j], stage, place<C>(P * TM + (uint32_t)line_of<P>(column + 16 * j, p) + in_b, c + chunk_b));
            }
#pragma unroll
            for (int p = 0; p < P; ++p)
#pragma unroll
                for (int q = 0; p + q < P; ++q)
#pragma unroll
                    for (int i = 0; i < MT; ++i)
#pragma unroll
                        for (int j = 0; j < NT; ++j) {
                            if (P > 1)
                                multiply_digits(sum[p + q][i][j], a[p][i], b[q][j / 2][j % 2 * 2], b[q][j / 2][j % 2 * 2 + 1]);
                            else
                                multiply(sum[p + q][i][j], a[p][i], b[q][j / 2][j % 2 * 2], b[q][j / 2][j % 2 * 2 + 1]);
                        }
        }
    }
};

// A tile of the product, and where its operands' rows begin.
struct Target {
    uint32_t m0, n0;
    uint64_t batch, row_a, row_b;
};

template <class Shape>
IW_DEVICE Target target_of(const Args& args) {
    using namespace params::packed;
    constexpr int TM = Shape::TM, TN = Shape::TN;
    const uint32_t tiles_m = (args.u[ROWS] + TM - 1) / TM, tiles_n = (args.u[COLUMNS] + TN - 1) / TN;
    const uint64_t tiles = (uint64_t)tiles_m * tiles_n;
    const uint32_t tile = (uint32_t)(blockIdx.x % tiles), band = tile / (8 * tiles_n), in_band = tile % (8 * tiles_n), rows = min(8u, tiles_m - 8 * band);
    Target target;
    target.m0 = (8 * band + in_band % rows) * TM, target.n0 = in_band / rows * TN, target.batch = blockIdx.x / tiles;
    target.row_a = (args.u[ALIKE] & 1 ? 0 : target.batch) * args.u[PADDED_ROWS] + target.m0;
    target.row_b = (args.u[ALIKE] & 2 ? 0 : target.batch) * args.u[PADDED_COLUMNS] + target.n0;
    return target;
}

// Tiles of floats.
struct Tiles {
    static constexpr int TM = TILE_ROWS, TN = TILE_COLUMNS;
};

// The sum of an element's levels, rounded, as bits.
IW_DEVICE uint32_t fixed_result(const Args& args, const Target& target, uint32_t i, uint32_t j, int64_t all) {
    const uint32_t* const exponents = (const uint32_t*)args.scratch[2];
    const uint32_t of_row = exponents[target.row_a + i], of_column = exponents[args.u[params::packed::EXPONENTS] + target.row_b + j];
    return max(of_row, of_column) == NOT_FINITE ? 0x7fc00000u : rounded(all, (int32_t)(of_row + of_column) - 288);
}

#if __CUDA_ARCH__ >= 800
template <class Shape>
IW_DEVICE void product(const Args& args) {
    using namespace params::packed;
    using B = Block<Shape>;
    constexpr int P = B::P, C = B::C, TM = B::TM, TN = B::TN, S = Shape::STAGES, THREADS = Shape::THREADS, PITCH_C = TN + 8;
    // Words of k after which sums of 32 bits might overflow, of digits.
    constexpr uint32_t SPAN = P > 1 ? 1u << 12 : 0xffffffffu;
    extern __shared__ __align__(128) unsigned char dynamic[];
    uint32_t* const stages = (uint32_t*)dynamic;
    const uint32_t t = threadIdx.x, warp = warp_id(), lane = lane_id(), m = args.u[ROWS], n = args.u[COLUMNS], pitch = args.u[PITCH];
    const Target target = target_of<Shape>(args);
    // Lines that all threads copy a chunk of at once.
    constexpr int LINES = THREADS / C;
    const uint32_t* const from_a = (const uint32_t*)args.scratch[0] + (target.row_a * P + t / C) * pitch + t % C * 4;
    const uint32_t* const from_b = (const uint32_t*)args.scratch[1] + (target.row_b * P + t / C) * pitch + t % C * 4;
    const uint64_t step = (uint64_t)LINES * pitch;
    const uint32_t row = warp / Shape::WARPS_N * (16 * B::MT), column = warp % Shape::WARPS_N * (8 * B::NT);
    int64_t* const totals = (int64_t*)args.scratch[3] + (uint64_t)blockIdx.x * (TM * TN);
    const uint64_t c_first = target.batch * wide(args.u + C_BATCH);
    B block;
#pragma unroll 1
    for (uint32_t first = 0; first < pitch; first += SPAN) {
        const uint32_t end = pitch - first > SPAN ? first + SPAN : pitch;
        const bool last = end == pitch;
        auto bring = [&](uint32_t word) {
            if (word < end) {
                uint32_t* const to = stages + word / (4 * C) % S * Shape::STAGE + place<C>(t / C, t % C);
                const uint32_t *of_a = from_a + word, *of_b = from_b + word;
#pragma unroll
                for (int c = 0; c < TM * P / LINES; ++c, of_a += step) copy(to + 4 * THREADS * c, of_a);
#pragma unroll
                for (int c = 0; c < TN * P / LINES; ++c, of_b += step) copy(to + 4 * (TM * P * C + THREADS * c), of_b);
            }
            close_stage();
        };
        block.clear();
#pragma unroll 1
        for (int s = 0; s < S - 1; ++s) bring(first + 4 * C * s);
#pragma unroll 1
        for (uint32_t word = first; word < end; word += 4 * C) {
            wait_for_stage<S - 2>();
            __syncthreads();
            bring(word + 4 * C * (S - 1));
            block.step(stages + word / (4 * C) % S * Shape::STAGE, row, column);
        }
        wait_for_stage<0>();
        __syncthreads();
        // Results go through shared memory, so that threads write whole sectors.
#pragma unroll
        for (int i = 0; i < B::MT; ++i)
#pragma unroll
            for (int j = 0; j < B::NT; ++j)
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    const uint32_t at = (row + 16 * i + lane / 4 + e / 2 * 8) * PITCH_C + column + 8 * j + lane % 4 * 2 + e % 2;
                    if (P == 1) {
                        stages[at] = block.sum[0][i][j][e];
                        continue;
                    }
                    int64_t all = 0;
#pragma unroll
                    for (int l = 0; l < P; ++l) all = all * 256 + (int32_t)block.sum[l][i][j][e];
                    ((int64_t*)stages)[at] = all;
                }
        __syncthreads();
        if (P > 1) {
#pragma unroll 1
            for (uint32_t x = t; x < TM * TN; x += THREADS) {
                const uint32_t i = x / TN, j = x % TN, cell = i * PITCH_C + j;
                int64_t all = ((int64_t*)stages)[cell];
                if (first > 0) all += totals[x];
                if (!last) totals[x] = all;
                stages[2 * cell] = fixed_result(args, target, i, j, all);
            }
            __syncthreads();
        }
#pragma unroll 1
        for (uint32_t x = t; last && x < TM * TN / 4; x += THREADS) {
            const uint32_t i = x / (TN / 4), j = x % (TN / 4) * 4;
            if (target.m0 + i >= m || target.n0 + j >= n) continue;
            const uint64_t at = c_first + (uint64_t)(target.m0 + i) * args.u[C_ROW] + target.n0 + j;
            constexpr int APART = P > 1 ? 2 : 1;
            const uint32_t* const v = stages + (i * PITCH_C + j) * APART;
            if (args.u[VECTOR] && target.n0 + j + 3 < n) {
                const Acc<1> four[4] = {{{v[0]}}, {{v[APART]}}, {{v[2 * APART]}}, {{v[3 * APART]}}};
                epilogue4(at, four);
                continue;
            }
#pragma unroll 1
            for (uint32_t e = 0; e < 4 && target.n0 + j + e < n; ++e) epilogue(at + e, Acc<1>{{v[e * APART]}});
        }
        if (!last) __syncthreads();
    }
}
#else
// Products of digits without matrix instructions: a thread takes four neighbours, one after the other.
template <class Shape>
IW_DEVICE void product(const Args& args) {
    using namespace params::packed;
    constexpr uint32_t TM = Shape::TM, TN = Shape::TN;
    const uint32_t m = args.u[ROWS], n = args.u[COLUMNS], pitch = args.u[PITCH];
    const Target target = target_of<Shape>(args);
    const uint32_t* const a = (const uint32_t*)args.scratch[0] + target.row_a * 4 * pitch;
    const uint32_t* const b = (const uint32_t*)args.scratch[1] + target.row_b * 4 * pitch;
#pragma unroll 1
    for (uint32_t x = threadIdx.x; x < TM * TN / 4; x += Shape::THREADS) {
        const uint32_t i = x / (TN / 4), j = x % (TN / 4) * 4;
        if (target.m0 + i >= m || target.n0 + j >= n) continue;
        const uint64_t at = target.batch * wide(args.u + C_BATCH) + (uint64_t)(target.m0 + i) * args.u[C_ROW] + target.n0 + j;
        Acc<1> v[4];
#pragma unroll 1
        for (uint32_t e = 0; e < 4; ++e) {
            int64_t all = 0;
#pragma unroll 1
            for (uint32_t word = 0; word < pitch; ++word) {
#pragma unroll
                for (int p = 0; p < 4; ++p)
#pragma unroll
                    for (int q = 0; p + q < 4; ++q) {
                        const int32_t of_a = (int32_t)a[line_of<4>(i, p) * pitch + word], of_b = (int32_t)b[line_of<4>(j + e, q) * pitch + word];
                        all += (int64_t)__dp4a(of_a, of_b, 0) << 8 * (3 - p - q);
                    }
            }
            v[e].w[0] = fixed_result(args, target, i, j + e, all);
        }
        if (args.u[VECTOR] && target.n0 + j + 3 < n) {
            epilogue4(at, v);
            continue;
        }
#pragma unroll 1
        for (uint32_t e = 0; e < 4 && target.n0 + j + e < n; ++e) epilogue(at + e, v[e]);
    }
}
#endif

}  // namespace packed
