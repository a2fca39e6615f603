// Convolutions of planes: C(y, x) is the sum over the taps of a filter, row by row, of weight times element, in blocks of taps. Filters of several channels or
// planes go on with the next of them, a slice. A block is a chain of fma that starts with +0; blocks are added left to right. Integers wrap. A block of threads
// takes a tile of results, and a thread R rows of EACH neighbours. The elements that the tile reads lie in shared memory, by the border's rule; a row of them is
// read once for all rows of results that have taps there. Shared memory gives 128 bytes a cycle, also where all lanes read one weight, which is the limit: so a
// thread has 8 neighbours, which share what they read.
// The results of a line are rows of as many as a tile has columns, one behind the other; what a row reads beyond its last one is the next row's.
#include "contract.cuh"

namespace of = params::convolve;

namespace {

// Indices outside of an axis: the nearest one, none, mirrored, repeated.
enum Border : uint32_t { CLAMP, ZERO, MIRROR, WRAP };

// The element that index i of an axis of n reads, or -1 for zero.
IW_DEVICE int resolve(int i, int n, uint32_t border) {
    if (i >= 0 && i < n) return i;
    if (border == CLAMP) return i < 0 ? 0 : n - 1;
    if (border == ZERO) return -1;
    // Without signs, in which twice an axis of more than 2^30 has room.
    const uint32_t period = border == MIRROR ? max(2u * uint32_t(n - 1), 1u) : n;
    const uint32_t k = i < 0 ? period - 1 - uint32_t(-(i + 1)) % period : uint32_t(i) % period;
    return border == MIRROR ? min(k, period - k) : k;
}

// Words of a result. Of floats by an instruction of its own, since the compiler would keep sums in integer registers otherwise, and move them for every step.
template <class T>
IW_DEVICE Acc<Kind<T>::WORDS> words_of(T v) {
    return Kind<T>::words(v);
}
template <>
IW_DEVICE Acc<1> words_of<float>(float v) {
    Acc<1> words;
    asm("mov.b32 %0, %1;" : "=r"(words.w[0]) : "f"(v));
    return words;
}

// Vectors of 16 bytes.
IW_DEVICE void read_unit(float* x, const float* at) { read4(x, at); }
IW_DEVICE void read_unit(int* x, const int* at) { read4(x, at); }
IW_DEVICE void read_unit(double* x, const double* at) {
    const double2 v = *(const double2*)at;
    x[0] = v.x, x[1] = v.y;
}

// The convolution of a tile. The sizes of tiles are known to the launch as well. TAPS: taps of a row, where the kernel is compiled for them, else 0. LINE: of
// lines, with one row of taps.
template <class T, uint32_t TAPS, bool LINE>
struct Plane {
    using Type = Kind<T>;
    static constexpr int W = Type::WORDS, R = W == 1 ? 2 : 1, EACH = 8, WARPS = kernels::Convolve::THREADS / WARP, ACROSS = 16;
    static constexpr int ROWS = WARPS * (WARP / ACROSS) * R, SPAN = ACROSS * EACH, PARTS = SPAN / WARP;
    // Elements of a vector, and vectors that a thread's neighbours are.
    static constexpr int UNIT = 4 / W, UNITS = EACH / UNIT;
    // Sums of integers have no blocks, and a few taps a row are less than one.
    static constexpr bool ROUNDS = (T)0.5f != 0 && TAPS == 0 && !LINE;

    uint32_t any_taps_x, taps_y, block, any_lane_pitch;
    T *weights, *tile;
    T sum[R][EACH], total[R][EACH];

    IW_DEVICE uint32_t taps_x() const { return TAPS > 0 ? TAPS : any_taps_x; }
    // Elements from a row of weights to the next: whole vectors. What is more than the taps stands before them, and so does as much before the elements.
    IW_DEVICE uint32_t pitch_w() const { return (taps_x() + UNIT - 1) / UNIT * UNIT; }
    IW_DEVICE uint32_t skipped() const { return pitch_w() - taps_x(); }
    // A row of the tile has its vectors 0, UNITS, 2 * UNITS and so on first, then 1, UNITS + 1: threads that are neighbours read neighbours. Vectors of each of
    // these kinds, so many that 32 elements in order lie in different banks up to 32 taps.
    IW_DEVICE uint32_t lane_pitch() const { return TAPS > 0 ? 20 : any_lane_pitch; }
    IW_DEVICE uint32_t pitch() const { return lane_pitch() * EACH; }
    // Where a vector of a row is; and an element.
    IW_DEVICE uint32_t place(uint32_t unit) const { return (unit % UNITS * lane_pitch() + unit / UNITS) * UNIT; }
    IW_DEVICE uint32_t place_of(uint32_t element) const { return place(element / UNIT) + element % UNIT; }

    IW_DEVICE Plane(const Args& args, T* shared)
        : any_taps_x(args.u[of::TAPS] & 0xffff), taps_y(args.u[of::TAPS] >> 16), block(args.u[of::BLOCK]) {
        any_lane_pitch = max((SPAN + pitch_w() + EACH - 1) / EACH, W == 2 ? 22u : 20u);
        weights = shared, tile = shared + taps_y * pitch_w();
#pragma unroll
        for (int r = 0; r < R; ++r)
#pragma unroll
            for (int e = 0; e < EACH; ++e) sum[r][e] = 0;
    }

    // Elements of the plane that begins at `first`, or zeros.
    IW_DEVICE void load(const Args& args, uint64_t first, bool there, int left, int top, uint32_t rows) {
        const uint32_t lane = lane_id(), wide_row = SPAN + taps_x() - 1, image_width = args.u[of::IMAGE_WIDTH], border = args.u[of::BORDER];
        const int width = (int)image_width, height = (int)args.u[of::IMAGE_HEIGHT];
        const bool further = lane + SPAN < wide_row;
        uint32_t r = warp_id();
        T* to = tile + r * pitch() + place_of(skipped() + lane);
        if (there && left >= 0 && top >= 0 && left <= width - (int)wide_row && top <= height - (int)rows) {
            uint64_t from = first + (uint64_t)((uint32_t)top + r) * image_width + (uint32_t)left + lane;
            // Two rows, of which a thread has every 32nd element: all loads are on their way before the first one is stored.
#pragma unroll 1
            for (; r < rows; r += 2 * WARPS) {
                Acc<W> v[2][PARTS + 1];
#pragma unroll
                for (int q = 0; q < 2; ++q, from += (uint64_t)image_width * WARPS) {
                    if (r + q * WARPS >= rows) continue;
#pragma unroll
                    for (int c = 0; c < PARTS; ++c) load_b1(v[q][c], from + WARP * c);
                    if (further) load_b1(v[q][PARTS], from + SPAN);
                }
#pragma unroll
                for (int q = 0; q < 2; ++q, to += pitch() * WARPS) {
                    if (r + q * WARPS >= rows) continue;
#pragma unroll
                    for (int c = 0; c < PARTS; ++c) to[WARP / UNITS * c] = Type::of(v[q][c]);
                    if (further) to[SPAN / UNITS] = Type::of(v[q][PARTS]);
                }
            }
        } else {
            // Columns are the same ones in all rows.
            __shared__ int columns[SPAN + 32];
#pragma unroll 1
            for (uint32_t c = threadIdx.x; c < wide_row; c += kernels::Convolve::THREADS) columns[c] = resolve(left + (int)c, width, border);
            __syncthreads();
#pragma unroll 1
            for (; r < rows; r += WARPS, to += pitch() * WARPS) {
                const int y = resolve(top + (int)r, height, border);
                const uint64_t from = first + (uint64_t)(uint32_t)y * image_width;
                Acc<W> v[PARTS + 1];
#pragma unroll
                for (int c = 0; c <= PARTS; ++c) {
#pragma unroll
                    for (int w = 0; w < W; ++w) v[c].w[w] = 0;
                    if (y < 0 || !there || (c == PARTS && !further)) continue;
                    const int x = columns[lane + WARP * c];
                    if (x >= 0) load_b1(v[c], from + (uint32_t)x);
                }
#pragma unroll
                for (int c = 0; c <= PARTS; ++c)
                    if (c < PARTS || further) to[WARP / UNITS * c] = Type::of(v[c]);
            }
        }
    }

    // Rows of a line, from element `start` on.
    IW_DEVICE void load_line(const Args& args, uint64_t first, uint32_t start) {
        const uint32_t wide_row = SPAN + taps_x() - 1, border = args.u[of::BORDER];
        const int n = (int)args.u[of::IMAGE_WIDTH];
#pragma unroll 1
        for (uint32_t r = warp_id(); r < ROWS; r += WARPS) {
#pragma unroll 1
            for (uint32_t c = lane_id(); c < wide_row; c += PARTS * WARP) {
                Acc<W> v[PARTS];
#pragma unroll
                for (int k = 0; k < PARTS; ++k) {
#pragma unroll
                    for (int w = 0; w < W; ++w) v[k].w[w] = 0;
                    const int at = c + k * WARP < wide_row ? resolve((int)(start + r * SPAN + c + k * WARP), n, border) : -1;
                    if (at >= 0) load_b1(v[k], first + (uint32_t)at);
                }
#pragma unroll
                for (int k = 0; k < PARTS; ++k)
                    if (c + k * WARP < wide_row) tile[r * pitch() + place_of(skipped() + c + k * WARP)] = Type::of(v[k]);
            }
        }
    }

    IW_DEVICE void load_weights(uint64_t first) {
#pragma unroll 1
        for (uint32_t r = warp_id(); r < taps_y; r += WARPS)
#pragma unroll 1
            for (uint32_t c = lane_id(); c < taps_x(); c += WARP) {
                Acc<W> v;
                load_a1(v, first + r * taps_x() + c);
                weights[r * pitch_w() + skipped() + c] = Type::of(v);
            }
    }

    // A vector of taps but for the first ones. Row r of results has those of row y - r of the elements, if there are such.
    template <bool FIRST>
    IW_DEVICE void step(const T (&x)[EACH + UNIT], const T* of_taps, uint32_t y) {
#pragma unroll
        for (int r = 0; r < R; ++r, of_taps -= pitch_w()) {
            if (y - r >= taps_y) continue;
            T w[UNIT];
            read_unit(w, of_taps);
#pragma unroll
            for (int u = 0; u < UNIT; ++u) {
                if (FIRST && u < skipped()) continue;
#pragma unroll
                for (int e = 0; e < EACH; ++e) sum[r][e] = Type::fma(w[u], x[u + e], sum[r][e]);
            }
        }
    }

    // Takes what is in row `y` of the elements.
    IW_DEVICE void take_row(const T* at, uint32_t y) {
        const T* const of_taps = weights + y * pitch_w();
        if constexpr (TAPS > 0) {
            constexpr int LINE = (TAPS + UNIT - 1) / UNIT + UNITS;
            T x[LINE * UNIT];
#pragma unroll
            for (int u = 0; u < LINE; ++u) read_unit(x + u * UNIT, at + place(u));
#pragma unroll
            for (int r = 0; r < R; ++r) {
                if (y - r >= taps_y) continue;
#pragma unroll
                for (int u = 0; u < LINE - UNITS; ++u) {
                    T w[UNIT];
                    read_unit(w, of_taps - r * pitch_w() + u * UNIT);
#pragma unroll
                    for (int k = 0; k < UNIT; ++k) {
                        if (u * UNIT + k < skipped()) continue;
#pragma unroll
                        for (int e = 0; e < EACH; ++e) sum[r][e] = Type::fma(w[k], x[u * UNIT + k + e], sum[r][e]);
                    }
                }
            }
        } else {
            T x[EACH + UNIT];
#pragma unroll
            for (int u = 0; u <= UNITS; ++u) read_unit(x + u * UNIT, at + place(u));
            step<true>(x, of_taps, y);
#pragma unroll 1
            for (uint32_t unit = 1; unit * UNIT < pitch_w(); ++unit) {
#pragma unroll
                for (int e = 0; e < EACH; ++e) x[e] = x[e + UNIT];
                read_unit(x + EACH, at + place(unit + UNITS));
                step<false>(x, of_taps + unit * UNIT, y);
            }
        }
    }

    // The same where a block ends, tap by tap; `earlier` taps are those of the slices before.
    IW_DEVICE void take_row_in_blocks(const T* at, uint32_t y, uint32_t earlier) {
#pragma unroll
        for (int r = 0; r < R; ++r) {
            if (y - r >= taps_y) continue;
            const T* const of_taps = weights + (y - r) * pitch_w() + skipped();
            const uint32_t before = earlier + (y - r) * taps_x();
            uint32_t in_block = before % block;
            T x[EACH];
#pragma unroll
            for (int e = 0; e < EACH - 1; ++e) x[e + 1] = at[place_of(skipped() + e)];
#pragma unroll 1
            for (uint32_t kx = 0; kx < taps_x(); ++kx, ++in_block) {
                if (in_block == block) in_block = 0;
                if (in_block == 0 && before + kx > 0) {
#pragma unroll
                    for (int e = 0; e < EACH; ++e) total[r][e] = before + kx == block ? sum[r][e] : Type::add(total[r][e], sum[r][e]), sum[r][e] = 0;
                }
#pragma unroll
                for (int e = 0; e < EACH - 1; ++e) x[e] = x[e + 1];
                x[EACH - 1] = at[place_of(skipped() + kx + EACH - 1)];
#pragma unroll
                for (int e = 0; e < EACH; ++e) sum[r][e] = Type::fma(of_taps[kx], x[e], sum[r][e]);
            }
        }
    }

    // Rows and columns of a thread's first result.
    IW_DEVICE uint32_t row() const { return (warp_id() * (WARP / ACROSS) + lane_id() / ACROSS) * R; }
    IW_DEVICE uint32_t column() const { return lane_id() % ACROSS * EACH; }

    // Takes a slice of `slices`.
    IW_DEVICE void sum_up(uint32_t slice, uint32_t slices) {
        [[maybe_unused]] const uint32_t taps = taps_x() * taps_y, earlier = slice * taps;
        [[maybe_unused]] const bool several = slices * taps > block;
        const T* at = tile + row() * pitch() + place(column() / UNIT);
#pragma unroll 1
        for (uint32_t y = 0; y < taps_y + R - 1; ++y, at += pitch()) {
            if constexpr (ROUNDS) {
                const uint32_t start = earlier + (y < R ? 0 : y - R + 1) * taps_x(), end = earlier + min(y + 1, taps_y) * taps_x();
                if (several && (end - 1) / block != (start == 0 ? 0 : (start - 1) / block)) {
                    take_row_in_blocks(at, y, earlier);
                    continue;
                }
            }
            take_row(at, y);
        }
        if constexpr (ROUNDS) {
            if (!several || slice + 1 < slices) return;
#pragma unroll
            for (int r = 0; r < R; ++r)
#pragma unroll
                for (int e = 0; e < EACH; ++e) sum[r][e] = Type::add(total[r][e], sum[r][e]);
        }
    }
};

// SLICED: of several slices; a loop of one costs a tenth of 9 x 9 taps.
template <class T, uint32_t TAPS = 0, bool LINE = false, bool SLICED = LINE>
IW_DEVICE void convolve(const Args& args) {
    using Of = Plane<T, TAPS, LINE>;
    constexpr int W = Of::W;
    extern __shared__ __align__(16) unsigned char dynamic[];
    const uint32_t width = args.u[of::WIDTH], height = args.u[of::HEIGHT];
    const uint32_t across = LINE ? 1 : (width + Of::SPAN - 1) / Of::SPAN, down = (height + Of::ROWS - 1) / Of::ROWS;
    uint64_t index = blockIdx.x;
    const uint32_t x0 = (uint32_t)(index % across) * Of::SPAN;
    index /= across;
    const uint32_t y0 = (uint32_t)(index % down) * Of::ROWS;
    const uint64_t plane = index / down;

    Of tile(args, (T*)dynamic);
    // The filter, and the first channel that it looks at.
    const uint32_t out_depth = args.u[of::OUT_DEPTH], depth = args.u[of::DEPTH], taps_z = SLICED ? args.u[of::TAPS_Z] : 1;
    const uint32_t slices = SLICED ? args.u[of::CHANNELS] * taps_z : 1;
    const uint64_t rest = plane / out_depth, channel = rest / args.u[of::OUTS] * (slices / taps_z);
    const uint32_t filter = (uint32_t)(rest % args.u[of::FILTERS]);
    const int above = (int)(plane % out_depth) - (int)args.u[of::BEFORE_Z];
    const int left = (int)x0 - (int)args.u[of::BEFORE_X], top = (int)y0 - (int)args.u[of::BEFORE_Y];
#pragma unroll 1
    for (uint32_t slice = 0; slice < slices; ++slice) {
        const int z = resolve(above + (int)(slice % taps_z), (int)depth, args.u[of::BORDER]);
        const uint64_t first = ((channel + slice / taps_z) * depth + (uint32_t)max(z, 0)) * args.u[of::IMAGE_HEIGHT] * args.u[of::IMAGE_WIDTH];
        if (slice > 0) __syncthreads();
        if constexpr (LINE)
            tile.load_line(args, first, y0 * Of::SPAN + (uint32_t)left);
        else
            tile.load(args, first, z >= 0, left, top, min(height - y0, (uint32_t)Of::ROWS) + tile.taps_y - 1);
        tile.load_weights(((uint64_t)filter * slices + slice) * tile.taps_x() * tile.taps_y);
        __syncthreads();
        tile.sum_up(slice, slices);
    }

    const uint32_t x = x0 + tile.column();
#pragma unroll
    for (int r = 0; r < Of::R; ++r) {
        const uint32_t y = y0 + tile.row() + r;
        if (y >= height) return;
        const uint64_t to = (LINE ? plane * width + (uint64_t)y * Of::SPAN : (plane * height + y) * width) + x;
        const uint32_t end = LINE ? width - y * Of::SPAN : width;
        const T* const v = tile.sum[r];
#pragma unroll
        for (int e = 0; e < Of::EACH; e += 4) {
            // Rows of whole vectors.
            if (width % 4 == 0) {
                const Acc<W> words[4] = {words_of(v[e]), words_of(v[e + 1]), words_of(v[e + 2]), words_of(v[e + 3])};
                if (x + e < end) epilogue4(to + e, words);
            } else {
#pragma unroll
                for (int k = e; k < e + 4; ++k)
                    if (x + k < end) epilogue(to + k, words_of(v[k]));
            }
        }
    }
}

}  // namespace

// So many blocks a multiprocessor that some compute while others wait for their elements.
#define IW_CONVOLVE(blocks) extern "C" __global__ void __launch_bounds__(kernels::Convolve::THREADS, blocks)

IW_CONVOLVE(6) convolve_f32(const __grid_constant__ Args args) { convolve<float>(args); }
IW_CONVOLVE(5) convolve_f64(const __grid_constant__ Args args) { convolve<double>(args); }
IW_CONVOLVE(8) convolve_i32(const __grid_constant__ Args args) { convolve<int>(args); }
IW_CONVOLVE(6) convolve_line_f32(const __grid_constant__ Args args) { convolve<float, 0, true>(args); }
IW_CONVOLVE(5) convolve_line_f64(const __grid_constant__ Args args) { convolve<double, 0, true>(args); }
IW_CONVOLVE(8) convolve_line_i32(const __grid_constant__ Args args) { convolve<int, 0, true>(args); }
IW_CONVOLVE(6) convolve_sliced_f32(const __grid_constant__ Args args) { convolve<float, 0, false, true>(args); }
IW_CONVOLVE(5) convolve_sliced_f64(const __grid_constant__ Args args) { convolve<double, 0, false, true>(args); }
IW_CONVOLVE(8) convolve_sliced_i32(const __grid_constant__ Args args) { convolve<int, 0, false, true>(args); }
IW_CONVOLVE(8) convolve_sliced_f32_3(const __grid_constant__ Args args) { convolve<float, 3, false, true>(args); }
// Rows of 3, 5, 7 and 9 taps, which most filters have.
IW_CONVOLVE(8) convolve_f32_3(const __grid_constant__ Args args) { convolve<float, 3>(args); }
IW_CONVOLVE(8) convolve_f32_5(const __grid_constant__ Args args) { convolve<float, 5>(args); }
IW_CONVOLVE(8) convolve_f32_7(const __grid_constant__ Args args) { convolve<float, 7>(args); }
IW_CONVOLVE(8) convolve_f32_9(const __grid_constant__ Args args) { convolve<float, 9>(args); }
