// Strided copies, raw bits of 1, 2, 4, 8 bytes, or 16 at a time: out[sum i_k to_k] = in0[sum i_k from_k], for every index below the axes' lengths.
// layout_*: any axes, in the destination's order. transpose_*: planes whose rows become columns, in square tiles: a thread reads V rows of V
// neighbours (a unit each), turns the block in registers, and leaves it in shared memory, where units are exchanged by their row so that neither
// writes nor reads meet in a bank; then whole rows of the result are written. transpose_*_any: rows that are not whole, aligned units.
// transpose_square_*, swap_square_*: squares where they lie. transpose_tiles_*: tiles of square grids that change places as they are.
#include "iw.cuh"
#include "params.cuh"

constexpr int THREADS = kernels::Layout::THREADS;
constexpr int EACH = kernels::Layout::ITEMS;
constexpr int MAX_AXES = 6;

// V elements as WORDS words: 16 bytes of wide elements, 8 and 4 of narrow ones.
template <int SIZE>
struct alignas(SIZE == 8 ? 16 : 4 * SIZE) Unit {
    static constexpr int V = SIZE == 8 ? 2 : 4;
    static constexpr int WORDS = V * SIZE / 4;
    uint32_t w[WORDS];
};

// A unit by one store: the compiler makes one to each word of a copy.
IW_DEVICE void store_unit(void* p, const uint32_t (&w)[1]) { *(uint32_t*)p = w[0]; }
IW_DEVICE void store_unit(void* p, const uint32_t (&w)[2]) {
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(p), "r"(w[0]), "r"(w[1]) : "memory");
}
IW_DEVICE void store_unit(void* p, const uint32_t (&w)[4]) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]) : "memory");
}
template <class T> IW_DEVICE void put(T* p, T v) { *p = v; }
IW_DEVICE void put(Unit<4>* p, Unit<4> v) { store_unit(p, v.w); }

template <int SIZE> struct Bits;
template <> struct Bits<1> { using T = uint8_t; };
template <> struct Bits<2> { using T = unsigned short; };
template <> struct Bits<4> { using T = uint32_t; };
template <> struct Bits<8> { using T = uint64_t; };
template <> struct Bits<16> { using T = Unit<4>; };

// in[1 + k]: steps of axis k in the source (ptr) and the destination (stride), in elements; u[2k], u[2k + 1]: its length; u[12]: axes.
template <int SIZE, class Index>
IW_DEVICE void walk(const Args& args) {
    using T = typename Bits<SIZE>::T;
    const T* source = (const T*)args.in[0].ptr;
    T* target = (T*)args.out[0];
    const int rank = args.u[params::layout::RANK];
    const uint64_t first = (uint64_t)blockIdx.x * (THREADS * EACH) + threadIdx.x;
    T v[EACH];
    uint64_t to[EACH];
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
        const uint64_t i = first + e * THREADS;
        Index rest = (Index)i;
        uint64_t from = 0;
        to[e] = 0;
#pragma unroll
        for (int k = MAX_AXES - 1; k >= 0; --k) {
            if (k >= rank) continue;
            const Index n = (Index)wide(args.u + params::layout::N0 + 2 * k);
            const Index next = k > 0 ? rest / n : 0;
            const Index at = rest - next * n;
            from += (uint64_t)at * args.in[1 + k].ptr;
            to[e] += (uint64_t)at * (uint64_t)args.in[1 + k].stride;
            rest = next;
        }
        v[e] = T{};
        if (i < args.n) v[e] = source[(int64_t)from];
    }
#pragma unroll
    for (int e = 0; e < EACH; ++e)
        if (first + e * THREADS < args.n) put(target + to[e], v[e]);
}

template <int SIZE>
IW_DEVICE void layout(const Args& args) {
    if (args.n >> 31 == 0) walk<SIZE, uint32_t>(args);
    else walk<SIZE, uint64_t>(args);
}

IW_KERNEL(THREADS) layout_b1(const __grid_constant__ Args args) { layout<1>(args); }
IW_KERNEL(THREADS) layout_b2(const __grid_constant__ Args args) { layout<2>(args); }
IW_KERNEL(THREADS) layout_b4(const __grid_constant__ Args args) { layout<4>(args); }
IW_KERNEL(THREADS) layout_b8(const __grid_constant__ Args args) { layout<8>(args); }
IW_KERNEL(THREADS) layout_b16(const __grid_constant__ Args args) { layout<16>(args); }

// Element j of row r becomes element r of row j.
IW_DEVICE void turn(const Unit<8> (&a)[2], Unit<8> (&t)[2]) {
#pragma unroll
    for (int j = 0; j < 2; ++j)
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            t[j].w[2 * r] = a[r].w[2 * j];
            t[j].w[2 * r + 1] = a[r].w[2 * j + 1];
        }
}
IW_DEVICE void turn(const Unit<4> (&a)[4], Unit<4> (&t)[4]) {
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int r = 0; r < 4; ++r) t[j].w[r] = a[r].w[j];
}
IW_DEVICE void turn(const Unit<2> (&a)[4], Unit<2> (&t)[4]) {
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int h = 0; h < 2; ++h)
            t[j].w[h] = __byte_perm(a[2 * h].w[j / 2], a[2 * h + 1].w[j / 2], j % 2 == 0 ? 0x5410 : 0x7632);
}
IW_DEVICE void turn(const Unit<1> (&a)[4], Unit<1> (&t)[4]) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        const uint32_t low = __byte_perm(a[0].w[0], a[1].w[0], j | (4 + j) << 4);
        const uint32_t high = __byte_perm(a[2].w[0], a[3].w[0], j | (4 + j) << 4);
        t[j].w[0] = __byte_perm(low, high, 0x5410);
    }
}

// The block of V rows of V neighbours that a thread has in the tile at (top, left); zero bits outside.
template <int SIZE, bool ALIGNED>
IW_DEVICE void load_block(const typename Bits<SIZE>::T* source, uint64_t pitch, uint64_t top, uint64_t left, uint64_t rows, uint64_t columns,
                          Unit<SIZE> (&a)[Unit<SIZE>::V]) {
    using T = typename Bits<SIZE>::T;
    using U = Unit<SIZE>;
    constexpr int V = U::V;
    const uint64_t column = left + threadIdx.x % 16 * V;
#pragma unroll
    for (int j = 0; j < V; ++j) {
        const uint64_t row = top + threadIdx.x / 16 * V + j;
        const T* p = source + row * pitch + column;
        a[j] = U{};
        if (ALIGNED) {
            if (row < rows && column < columns) a[j] = *(const U*)p;
        } else {
            T e[V];
#pragma unroll
            for (int i = 0; i < V; ++i) {
                e[i] = 0;
                if (row < rows && column + i < columns) e[i] = p[i];
            }
#pragma unroll
            for (int w = 0; w < U::WORDS; ++w) {
                if (SIZE == 8) a[j].w[w] = (uint32_t)((uint64_t)e[w / 2] >> (w % 2 * 32));
                else if (SIZE == 4) a[j].w[w] = (uint32_t)e[w];
                else if (SIZE == 2) a[j].w[w] = e[2 * w % V] | (uint32_t)e[(2 * w + 1) % V] << 16;
                else a[j].w[w] = e[0] | (uint32_t)e[1] << 8 | (uint32_t)e[2 % V] << 16 | (uint32_t)e[3 % V] << 24;
            }
        }
    }
}

// A thread's block, turned, into the tile.
template <int SIZE>
IW_DEVICE void leave_block(Unit<SIZE>* tile, const Unit<SIZE> (&a)[Unit<SIZE>::V]) {
    constexpr int V = Unit<SIZE>::V;
    const uint32_t k = threadIdx.x % 16, m = threadIdx.x / 16;
    Unit<SIZE> t[V];
    turn(a, t);
#pragma unroll
    for (int j = 0; j < V; ++j) tile[(k * V + j) * 16 + (m ^ k)] = t[j];
}

// Rows of the turned tile to (top, left) of a plane.
template <int SIZE, bool ALIGNED>
IW_DEVICE void store_block(const Unit<SIZE>* tile, typename Bits<SIZE>::T* target, uint64_t pitch, uint64_t top, uint64_t left, uint64_t rows,
                           uint64_t columns) {
    using T = typename Bits<SIZE>::T;
    using U = Unit<SIZE>;
    constexpr int V = U::V;
    const uint32_t k = threadIdx.x % 16, m = threadIdx.x / 16;
    const uint64_t column = left + k * V;
#pragma unroll
    for (int j = 0; j < V; ++j) {
        const uint32_t r = j * 16 + m;
        const U u = tile[r * 16 + (k ^ (r / V))];
        T* p = target + (top + r) * pitch + column;
        if (top + r >= rows) continue;
        if (ALIGNED) {
            if (column < columns) store_unit(p, u.w);
        } else {
#pragma unroll
            for (int i = 0; i < V; ++i) {
                if (column + i >= columns) continue;
                if (SIZE == 8) p[i] = (T)(u.w[2 * i % U::WORDS] | (uint64_t)u.w[(2 * i + 1) % U::WORDS] << 32);
                else p[i] = (T)(u.w[i * SIZE / 4 % U::WORDS] >> (i * SIZE % 4 * 8));
            }
        }
    }
}

// in[1]: pitches of the source's and the destination's rows; in[2 + k]: steps of batch axis k; u[0..1] rows, u[2..3] columns, u[4 + k] lengths of
// the batch's axes, u[8] how many. grid = tiles of all planes.
template <int SIZE, bool ALIGNED>
IW_DEVICE void transpose(const Args& args) {
    using T = typename Bits<SIZE>::T;
    using U = Unit<SIZE>;
    constexpr int V = U::V;
    constexpr int SIDE = 16 * V;
    __shared__ U tile[SIDE * 16];

    const uint64_t rows = wide(args.u + params::transpose::ROWS), columns = wide(args.u + params::transpose::COLUMNS);
    const uint32_t across = (uint32_t)((columns + SIDE - 1) / SIDE), down = (uint32_t)((rows + SIDE - 1) / SIDE);
    const uint64_t left = (uint64_t)(blockIdx.x % across) * SIDE;
    uint32_t rest = blockIdx.x / across;
    const uint64_t top = (uint64_t)(rest % down) * SIDE;
    rest /= down;
    uint64_t from = 0, to = 0;
    for (uint32_t k = 0; k < args.u[params::transpose::BATCH]; ++k) {
        const uint32_t at = rest % args.u[params::transpose::N0 + k];
        from += at * args.in[2 + k].ptr;
        to += at * (uint64_t)args.in[2 + k].stride;
        rest /= args.u[params::transpose::N0 + k];
    }
    const T* source = (const T*)args.in[0].ptr + (int64_t)from;
    T* target = (T*)args.out[0] + to;
    const uint64_t from_pitch = args.in[1].ptr, to_pitch = (uint64_t)args.in[1].stride;

    U a[V];
    load_block<SIZE, ALIGNED>(source, from_pitch, top, left, rows, columns, a);
    leave_block(tile, a);
    __syncthreads();
    store_block<SIZE, ALIGNED>(tile, target, to_pitch, left, top, columns, rows);
}

IW_KERNEL(THREADS) transpose_b1(const __grid_constant__ Args args) { transpose<1, true>(args); }
IW_KERNEL(THREADS) transpose_b2(const __grid_constant__ Args args) { transpose<2, true>(args); }
IW_KERNEL(THREADS) transpose_b4(const __grid_constant__ Args args) { transpose<4, true>(args); }
IW_KERNEL(THREADS) transpose_b8(const __grid_constant__ Args args) { transpose<8, true>(args); }
IW_KERNEL(THREADS) transpose_b1_any(const __grid_constant__ Args args) { transpose<1, false>(args); }
IW_KERNEL(THREADS) transpose_b2_any(const __grid_constant__ Args args) { transpose<2, false>(args); }
IW_KERNEL(THREADS) transpose_b4_any(const __grid_constant__ Args args) { transpose<4, false>(args); }
IW_KERNEL(THREADS) transpose_b8_any(const __grid_constant__ Args args) { transpose<8, false>(args); }

// Squares where they lie: a block takes two tiles that change places, or one on the diagonal. u[0..1] side, u[2] tiles of a side, u[3] blocks of
// a plane. The upper triangle lies folded: row r of tiles and row even - 1 - r are even + 1 together, even being their number or one more; a single tile is alone.
template <int SIZE, bool ALIGNED>
IW_DEVICE void transpose_square(const Args& args) {
    using U = Unit<SIZE>;
    constexpr int SIDE = 16 * U::V;
    __shared__ U tiles[2][SIDE * 16];

    const uint64_t side = wide(args.u + params::square::SIDE);
    const uint32_t across = args.u[params::square::ACROSS], even = across + across % 2;
    const uint32_t place = blockIdx.x % args.u[params::square::PAIRS], r = place / (even + 1), c = place % (even + 1);
    const uint32_t i = c < even - r ? r : even - 1 - r;
    const uint32_t j = c < even - r ? r + c : c - 1;
    if (j >= across) return;
    typename Bits<SIZE>::T* plane = (typename Bits<SIZE>::T*)args.out[0] + blockIdx.x / args.u[params::square::PAIRS] * (side * side);
    const uint64_t top = (uint64_t)i * SIDE, left = (uint64_t)j * SIDE;
    U a[U::V], b[U::V];
    load_block<SIZE, ALIGNED>(plane, side, top, left, side, side, a);
    if (i != j) load_block<SIZE, ALIGNED>(plane, side, left, top, side, side, b);
    leave_block(tiles[0], a);
    if (i != j) leave_block(tiles[1], b);
    __syncthreads();
    store_block<SIZE, ALIGNED>(tiles[0], plane, side, left, top, side, side);
    if (i != j) store_block<SIZE, ALIGNED>(tiles[1], plane, side, top, left, side, side);
}

IW_KERNEL(THREADS) transpose_square_b1(const __grid_constant__ Args args) { transpose_square<1, true>(args); }
IW_KERNEL(THREADS) transpose_square_b2(const __grid_constant__ Args args) { transpose_square<2, true>(args); }
IW_KERNEL(THREADS) transpose_square_b4(const __grid_constant__ Args args) { transpose_square<4, true>(args); }
IW_KERNEL(THREADS) transpose_square_b8(const __grid_constant__ Args args) { transpose_square<8, true>(args); }
IW_KERNEL(THREADS) transpose_square_b1_any(const __grid_constant__ Args args) { transpose_square<1, false>(args); }
IW_KERNEL(THREADS) transpose_square_b2_any(const __grid_constant__ Args args) { transpose_square<2, false>(args); }
IW_KERNEL(THREADS) transpose_square_b4_any(const __grid_constant__ Args args) { transpose_square<4, false>(args); }
IW_KERNEL(THREADS) transpose_square_b8_any(const __grid_constant__ Args args) { transpose_square<8, false>(args); }

// Small squares, element by element: those above the diagonal change places with those below. u[0..1] side; n elements of all planes.
template <int SIZE>
IW_DEVICE void swap_square(const Args& args) {
    using T = typename Bits<SIZE>::T;
    const uint64_t at = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= args.n) return;
    const uint32_t side = args.u[params::square::SIDE], plane = side * side;
    const uint32_t k = (uint32_t)(at % plane), row = k / side, column = k % side;
    if (row >= column) return;
    T* p = (T*)args.out[0] + (at - k);
    T* low = p + column * side + row;
    const T above = p[k], below = *low;
    p[k] = below;
    *low = above;
}

IW_KERNEL(THREADS) swap_square_b1(const __grid_constant__ Args args) { swap_square<1>(args); }
IW_KERNEL(THREADS) swap_square_b2(const __grid_constant__ Args args) { swap_square<2>(args); }
IW_KERNEL(THREADS) swap_square_b4(const __grid_constant__ Args args) { swap_square<4>(args); }
IW_KERNEL(THREADS) swap_square_b8(const __grid_constant__ Args args) { swap_square<8>(args); }

// Tiles (i, j) and (j, i) of a square grid change places; all lengths are units of T: u[0..1] from row to row, u[2..3] a tile's row, u[4..5] from
// grid to grid, u[6..7] from tile to tile below it, u[8..9] a tile, u[10] tiles of a side, u[11] pairs of a grid, u[12] blocks of a pair. Each of
// the pairs is a tile and one of those that follow it in a ring, up to half of the way around.
template <class T, class Index>
IW_DEVICE void exchange(const Args& args) {
    const uint32_t side = args.u[params::tiles::SIDE], pairs = args.u[params::tiles::PAIRS], each = args.u[params::tiles::EACH];
    const uint32_t pair = blockIdx.x / each % pairs, plane = blockIdx.x / each / pairs;
    const uint32_t i = pair % side, next = i + pair / side + 1, j = next < side ? next : next - side;
    const uint64_t pitch = wide(args.u + params::tiles::PITCH), down = wide(args.u + params::tiles::DOWN);
    const Index width = (Index)wide(args.u + params::tiles::WIDTH), tile = (Index)wide(args.u + params::tiles::TILE);
    T* grid = (T*)args.out[0] + plane * wide(args.u + params::tiles::STEP);
    T* above = grid + i * down + j * (uint64_t)width;
    T* below = grid + j * down + i * (uint64_t)width;
    const Index first = (Index)(blockIdx.x % each) * (THREADS * EACH) + threadIdx.x;
    T a[EACH], b[EACH];
    uint64_t at[EACH];
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
        const Index k = first + e * THREADS, row = k / width;
        at[e] = row * pitch + (k - row * width);
        if (k < tile) {
            a[e] = above[at[e]];
            b[e] = below[at[e]];
        }
    }
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
        if (first + e * THREADS < tile) {
            put(above + at[e], b[e]);
            put(below + at[e], a[e]);
        }
    }
}

template <class T>
IW_DEVICE void transpose_tiles(const Args& args) {
    if (wide(args.u + params::tiles::TILE) >> 31 == 0) exchange<T, uint32_t>(args);
    else exchange<T, uint64_t>(args);
}

IW_KERNEL(THREADS) transpose_tiles_b1(const __grid_constant__ Args args) { transpose_tiles<uint8_t>(args); }
IW_KERNEL(THREADS) transpose_tiles_b2(const __grid_constant__ Args args) { transpose_tiles<unsigned short>(args); }
IW_KERNEL(THREADS) transpose_tiles_b4(const __grid_constant__ Args args) { transpose_tiles<uint32_t>(args); }
IW_KERNEL(THREADS) transpose_tiles_b8(const __grid_constant__ Args args) { transpose_tiles<uint64_t>(args); }
IW_KERNEL(THREADS) transpose_tiles_b16(const __grid_constant__ Args args) { transpose_tiles<Unit<4>>(args); }
