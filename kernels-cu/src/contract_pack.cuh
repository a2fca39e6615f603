// Packing of operands: see contract_packed.cuh for where their words go.
#pragma once

#include "contract_packed.cuh"

namespace packed {

// An element of either operand.
template <int W>
IW_DEVICE Acc<W> element(bool right, uint64_t at) {
    Acc<W> v;
    if (right)
        load_b1(v, at);
    else
        load_a1(v, at);
    return v;
}

template <int W>
IW_DEVICE void elements(bool right, uint64_t at, Acc<W> (&v)[4]) {
    if (right)
        load_b4(v, at);
    else
        load_a4(v, at);
}

// A tile of an operand: a thread takes four neighbours in memory of every 16th of its rows or columns.
struct Tile {
    static constexpr uint32_t NEAR = SIDE / 4, APART = THREADS / NEAR, EACH = SIDE / APART;
    // The tile's first row and k, and the thread's own in the tile.
    uint32_t row, k, i, q;
    uint64_t batch, at, step, next;
    bool along;

    IW_DEVICE Tile(const Args& args, uint32_t depth_of_tile, uint32_t depth) {
        using namespace params::pack;
        const uint32_t rows = args.u[PADDED] / SIDE, tiles = (depth + depth_of_tile - 1) / depth_of_tile, t = threadIdx.x;
        uint64_t index = blockIdx.x;
        k = (uint32_t)(index % tiles) * depth_of_tile;
        index /= tiles;
        row = (uint32_t)(index % rows) * SIDE, batch = index / rows;
        along = args.u[COLUMN] == 1;
        const uint32_t across = t / NEAR, near = t % NEAR * 4;
        i = along ? across : near, q = along ? near : across;
        at = batch * wide(args.u + BATCH) + (uint64_t)args.u[ROW] * (row + i) + (uint64_t)args.u[COLUMN] * (k + q);
        step = (uint64_t)APART * (along ? args.u[ROW] : args.u[COLUMN]), next = along ? args.u[COLUMN] : args.u[ROW];
    }
    // Calls `f` with rows and k in the tile and elements, or zero where there are none, of the tile that begins `ahead` further along k.
    template <int W, class F>
    IW_DEVICE void each(const Args& args, uint32_t ahead, F f) const {
        using namespace params::pack;
        const bool right = args.u[RIGHT], vector = args.u[VECTOR];
        const uint64_t first = at + (uint64_t)args.u[COLUMN] * ahead;
        // Rows, and k, from the thread's first element on.
        const uint32_t rows = args.u[ROWS] > row + i ? args.u[ROWS] - row - i : 0, terms = args.u[TERMS] > k + ahead + q ? args.u[TERMS] - k - ahead - q : 0;
        const uint32_t near = min(along ? terms : rows, 4u), far = along ? rows : terms;
        // Operators may be long, so that each stands in the text once and in a vector.
#pragma unroll 1
        for (uint32_t c = 0; c < EACH; ++c) {
            const uint64_t from = first + step * c;
            Acc<W> v[4];
#pragma unroll
            for (uint32_t e = 0; e < 4; ++e)
#pragma unroll
                for (int w = 0; w < W; ++w) v[e].w[w] = 0;
            if (c * APART < far && vector && near == 4) {
                elements(right, from, v);
            } else if (c * APART < far) {
#pragma unroll 1
                for (uint32_t e = 0; e < near; ++e) {
                    const Acc<W> value = element<W>(right, from + next * e);
#pragma unroll
                    for (uint32_t d = 0; d < 4; ++d)
                        if (d == e) v[d] = value;
                }
            }
#pragma unroll
            for (uint32_t e = 0; e < 4; ++e) f(i + (along ? c * APART : e), q + (along ? e : c * APART), v[e]);
        }
    }
};

// Greatest magnitudes of parts of rows, as bits; NaN counts as more than infinity.
IW_DEVICE void greatest(const Args& args) {
    using namespace params::pack;
    __shared__ uint32_t most[SIDE];
    const uint32_t t = threadIdx.x, terms = args.u[TERMS];
    const Tile tile(args, PART, terms);
    if (t < SIDE) most[t] = 0;
    __syncthreads();
#pragma unroll 1
    for (uint32_t ahead = 0; ahead < PART && tile.k + ahead < terms; ahead += SIDE)
        tile.each<1>(args, ahead, [&](uint32_t i, uint32_t, const Acc<1>& value) {
            const uint32_t bits = value.w[0] << 1 >> 1;
            // Most elements are less than what is there already.
            if (bits > ((volatile uint32_t*)most)[i]) atomicMax(&most[i], bits);
        });
    __syncthreads();
    const uint32_t parts = (terms + PART - 1) / PART, padded = args.u[PADDED];
    uint32_t* const out = (uint32_t*)args.scratch[1];
    if (t < SIDE) out[(tile.batch * parts + tile.k / PART) * padded + tile.row + t] = most[t];
}

// The four digits of a number of a row whose greatest magnitude has this exponent, the highest one in the lowest byte.
IW_DEVICE uint32_t digits(uint32_t bits, uint32_t exponent) {
    if (exponent == NOT_FINITE) return 0;
    const uint32_t own = max(bits << 1 >> 24, 1u), apart = min(exponent - own, 31u);
    const uint32_t whole = ((bits & 0x7fffffu) | (bits << 1 >> 24 ? 0x800000u : 0)) << 6;
    const uint32_t kept = whole >> apart, rest = whole & ((1u << apart) - 1), half = apart ? 1u << (apart - 1) : 0;
    const uint32_t rounded = kept + (apart && (rest > half || (rest == half && kept & 1)));
    int32_t left = (int32_t)(bits >> 31 ? 0u - rounded : rounded);
    uint32_t word = 0;
#pragma unroll
    for (int d = 3; d > 0; --d) {
        const int32_t digit = (int32_t)((uint32_t)left << 24) >> 24;
        word |= (uint32_t)(digit & 255) << (8 * d);
        left = (left - digit) >> 8;
    }
    return word | (uint32_t)(left & 255);
}

// Place of a word of a line: line by line, or in blocks of 64 lines of a chunk of 128 bytes, whose pieces of 16 bytes change places with the line.
IW_DEVICE uint64_t place_of(bool in_blocks, uint64_t line, uint32_t word, uint32_t pitch) {
    if (!in_blocks) return line * pitch + word;
    const uint32_t i = (uint32_t)line % SIDE, w = word % 32;
    return (line / SIDE * (pitch / 32) + word / 32) * (SIDE * 32) + i * 32 + (w / 4 ^ i % 8) * 4 + w % 4;
}

IW_DEVICE uint32_t converted(uint32_t format, uint32_t bits) {
    if (format <= UNSIGNED) return bits & 255;
    if (format == BRAIN) return bits >> 16;
    if (format == TENSOR || format == TILES) return bits;
    unsigned short half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(__uint_as_float(bits)));
    return half;
}

IW_DEVICE void pack(const Args& args) {
    using namespace params::pack;
    __shared__ uint32_t cells[SIDE][SIDE + 1];
    const uint32_t t = threadIdx.x, terms = args.u[TERMS], format = args.u[FORMAT] & (IN_BLOCKS - 1), padded = args.u[PADDED];
    const uint32_t per_word = format <= UNSIGNED ? 4 : format >= TENSOR ? 1 : 2, pitch = args.u[PITCH];
    const Tile tile(args, SIDE, pitch * per_word);
    // Behind the last k of tiles is -0 of A and +0 of B: their product changes no sum, nor its sign.
    const uint32_t missing = format == TILES && !args.u[RIGHT] ? 0x80000000u : 0;
    tile.each<1>(args, 0, [&](uint32_t i, uint32_t q, const Acc<1>& value) { cells[i][q] = tile.k + q < terms ? converted(format, value.w[0]) : missing; });
    __syncthreads();
    uint32_t* const out = (uint32_t*)args.scratch[0];
    if (format == TILES) {
        const uint32_t across = args.u[RIGHT] ? TILE_COLUMNS : TILE_ROWS;
        const uint64_t row = tile.batch * padded + tile.row;
        uint32_t* const to = out + (row / across * pitch + tile.k) * across + row % across;
#pragma unroll
        for (uint32_t x = t; x < SIDE * SIDE / 4; x += THREADS) {
            const uint32_t i = x % (SIDE / 4) * 4, q = x / (SIDE / 4);
            *(uint4*)(to + q * across + i) = make_uint4(cells[i][q], cells[i + 1][q], cells[i + 2][q], cells[i + 3][q]);
        }
        return;
    }
    // Pieces of four words of a row.
    const uint32_t pieces = SIDE / 4 / per_word, bits = 32 / per_word;
    const bool in_blocks = args.u[FORMAT] & IN_BLOCKS;
#pragma unroll 1
    for (uint32_t x = t; x < SIDE * pieces; x += THREADS) {
        const uint32_t i = x / pieces, piece = x % pieces;
        const uint32_t* from = &cells[i][piece * 4 * per_word];
        uint32_t words[4] = {};
#pragma unroll
        for (uint32_t w = 0; w < 4; ++w)
#pragma unroll 1
            for (uint32_t e = 0; e < 32; e += bits, ++from) words[w] |= *from << e;
        *(uint4*)(out + place_of(in_blocks, tile.batch * padded + tile.row + i, tile.k / per_word + piece * 4, pitch)) =
            make_uint4(words[0], words[1], words[2], words[3]);
    }
}

// The planes of digits.
IW_DEVICE void pack_digits(const Args& args) {
    using namespace params::pack;
    __shared__ uint32_t cells[SIDE][SIDE + 1], exponents[SIDE];
    const uint32_t t = threadIdx.x, terms = args.u[TERMS], padded = args.u[PADDED], pitch = args.u[PITCH];
    const Tile tile(args, SIDE, pitch * 4);
    if (t < SIDE) {
        const uint32_t parts = (terms + PART - 1) / PART;
        const uint32_t* const from = (const uint32_t*)args.scratch[1] + tile.batch * parts * padded + tile.row + t;
        uint32_t most = 0;
        for (uint32_t part = 0; part < parts; ++part) most = max(most, from[(uint64_t)part * padded]);
        exponents[t] = max(most >> 23, 1u);
        if (tile.k == 0) ((uint32_t*)args.scratch[2])[args.u[EXPONENTS] + tile.batch * padded + tile.row + t] = exponents[t];
    }
    tile.each<1>(args, 0, [&](uint32_t i, uint32_t q, const Acc<1>& value) { cells[i][q] = value.w[0]; });
    __syncthreads();
    uint32_t* const out = (uint32_t*)args.scratch[0];
#pragma unroll 1
    for (uint32_t x = t; x < SIDE * SIDE / 4; x += THREADS) {
        const uint32_t i = x / (SIDE / 4), w = x % (SIDE / 4), exponent = exponents[i];
        uint32_t words[4] = {};
#pragma unroll 1
        for (uint32_t e = 0; e < 4; ++e) {
            const uint32_t word = digits(cells[i][w * 4 + e], exponent);
#pragma unroll
            for (uint32_t p = 0; p < 4; ++p) words[p] |= (word >> 8 * p & 255) << 8 * e;
        }
        const uint64_t row = tile.batch * padded + tile.row + i;
#pragma unroll
        for (uint32_t p = 0; p < 4; ++p) out[line_of<4>(row, p) * pitch + tile.k / 4 + w] = words[p];
    }
}

// The tiles of f64.
IW_DEVICE void pack_wide(const Args& args) {
    using namespace params::pack;
    __shared__ double cells[SIDE][SIDE + 1];
    const uint32_t pitch = args.u[PITCH], terms = args.u[TERMS];
    const Tile tile(args, SIDE, pitch);
    const double missing = args.u[RIGHT] ? 0.0 : -0.0;
    tile.each<2>(args, 0, [&](uint32_t i, uint32_t q, const Acc<2>& value) { cells[i][q] = tile.k + q < terms ? Kind<double>::of(value) : missing; });
    __syncthreads();
    const uint64_t row = tile.batch * args.u[PADDED] + tile.row;
    double* const out = (double*)args.scratch[0] + (row / WIDE_TILE * pitch + tile.k) * WIDE_TILE + row % WIDE_TILE * 4;
#pragma unroll 4
    for (uint32_t x = threadIdx.x; x < SIDE * SIDE; x += THREADS) {
        const uint32_t q = x % 4, i = x / 4 % SIDE, four = x / 4 / SIDE;
        out[(uint64_t)four * (4 * WIDE_TILE) + i * 4 + q] = cells[i][4 * four + q];
    }
}

}  // namespace packed
