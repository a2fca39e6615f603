// Convolutions of planes: C(y, x) is the sum over the taps of a filter, row by row, of weight times element, in blocks of taps. A block is a chain of fma that
// starts with +0; blocks are added left to right. Integers wrap. A block of threads takes a tile of 8 rows of results, and a thread EACH neighbours of a row.
// The elements that a few rows of taps read lie in shared memory, by the border's rule.
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
    const int period = border == MIRROR ? max(2 * (n - 1), 1) : n;
    const int k = (i % period + period) % period;
    return border == MIRROR ? min(k, period - k) : k;
}

// Sums of a thread's results.
template <class T, int EACH>
struct Sums {
    using Type = Kind<T>;
    T sum[EACH], total[EACH];
    bool first = true;

    IW_DEVICE void clear() {
#pragma unroll
        for (int e = 0; e < EACH; ++e) sum[e] = total[e] = 0;
    }
    IW_DEVICE void fold() {
#pragma unroll
        for (int e = 0; e < EACH; ++e) total[e] = first ? sum[e] : Type::add(total[e], sum[e]), sum[e] = 0;
        first = false;
    }
};

template <class T>
IW_DEVICE void convolve(const Args& args) {
    using Type = Kind<T>;
    constexpr int W = Type::WORDS, EACH = W == 1 ? 8 : 4, SLAB = W == 1 ? 4 : 2, ROWS = THREADS / WARP, SPAN = WARP * EACH, MAX_TAPS = 33;
    // An element in EACH + 1 is left out, so that lanes read different banks.
    constexpr int PITCH = (SPAN + WARP) / EACH * (EACH + 1);
    __shared__ T tile[(ROWS + SLAB - 1) * PITCH], weights[SLAB * MAX_TAPS];

    const uint32_t image_width = args.u[of::IMAGE_WIDTH], image_height = args.u[of::IMAGE_HEIGHT], width = args.u[of::WIDTH], height = args.u[of::HEIGHT];
    const uint32_t taps_x = args.u[of::TAPS_X], taps_y = args.u[of::TAPS_Y], border = args.u[of::BORDER], block = args.u[of::BLOCK];
    const int before_x = (int)args.u[of::BEFORE_X], before_y = (int)args.u[of::BEFORE_Y];
    const uint32_t across = (width + SPAN - 1) / SPAN, down = (height + ROWS - 1) / ROWS;
    uint64_t index = blockIdx.x;
    const uint32_t x0 = (uint32_t)(index % across) * SPAN;
    index /= across;
    const uint32_t y0 = (uint32_t)(index % down) * ROWS;
    const uint64_t plane = index / down, first = plane * image_width * image_height;
    const uint64_t filter = plane % args.u[of::FILTERS] * taps_x * taps_y;
    const uint32_t column = lane_id(), row = warp_id(), wide_row = SPAN + taps_x - 1;

    Sums<T, EACH> sums;
    sums.clear();
    uint32_t left = block;
#pragma unroll 1
    for (uint32_t slab = 0; slab < taps_y; slab += SLAB) {
        const uint32_t rows = min(taps_y - slab, (uint32_t)SLAB);
        __syncthreads();
#pragma unroll 1
        for (uint32_t r = row; r < ROWS + rows - 1; r += ROWS) {
            const int y = resolve((int)(y0 + slab + r) - before_y, (int)image_height, border);
#pragma unroll 4
            for (uint32_t c = column; c < wide_row; c += WARP) {
                const int x = resolve((int)(x0 + c) - before_x, (int)image_width, border);
                Acc<W> v;
#pragma unroll
                for (int w = 0; w < W; ++w) v.w[w] = 0;
                if (x >= 0 && y >= 0) load_b1(v, first + (uint64_t)(uint32_t)y * image_width + (uint32_t)x);
                tile[r * PITCH + c + c / EACH] = Type::of(v);
            }
        }
#pragma unroll 1
        for (uint32_t e = threadIdx.x; e < rows * taps_x; e += THREADS) {
            Acc<W> v;
            load_a1(v, filter + slab * taps_x + e);
            weights[e] = Type::of(v);
        }
        __syncthreads();
#pragma unroll 1
        for (uint32_t ky = 0; ky < rows; ++ky) {
            const T* const start = tile + (row + ky) * PITCH + column * (EACH + 1);
            // The elements of a tap, of which each further tap needs one more.
            T p[EACH];
#pragma unroll
            for (int j = 0; j < EACH - 1; ++j) p[j] = start[j];
            p[EACH - 1] = 0;
#pragma unroll 1
            for (uint32_t kx = 0; kx < taps_x; kx += EACH) {
                const T* const at = start + kx + kx / EACH;
                const T* const of_taps = weights + ky * taps_x + kx;
                const uint32_t count = min(taps_x - kx, (uint32_t)EACH);
                if (count <= left) {
                    left -= count;
#pragma unroll
                    for (int u = 0; u < EACH; ++u) {
                        if (u >= count) break;
                        p[(u + EACH - 1) % EACH] = at[EACH - 1 + u + (u > 0)];
                        const T w = of_taps[u];
#pragma unroll
                        for (int e = 0; e < EACH; ++e) sums.sum[e] = Type::fma(w, p[(u + e) % EACH], sums.sum[e]);
                    }
                } else {
                    // A block of taps ends in between.
#pragma unroll 1
                    for (uint32_t u = 0; u < count; ++u) {
                        const T w = of_taps[u];
#pragma unroll
                        for (int e = 0; e < EACH; ++e) sums.sum[e] = Type::fma(w, start[kx + u + e + (kx + u + e) / EACH], sums.sum[e]);
                        if (--left == 0 && u + 1 < count) {
                            sums.fold();
                            left = block;
                        }
                    }
                    if (kx + EACH < taps_x) {
#pragma unroll
                        for (int j = 0; j < EACH - 1; ++j) p[j] = at[EACH + 1 + j];
                    }
                }
                if (left == 0) {
                    sums.fold();
                    left = block;
                }
            }
        }
    }
    if (left != block) sums.fold();

    const uint32_t y = y0 + row, x = x0 + column * EACH;
    if (y >= height || x >= width) return;
    const uint64_t to = (plane * height + y) * width + x;
#pragma unroll
    for (int g = 0; g < EACH; g += 4) {
        const T* const v = sums.total + g;
        if (args.u[of::FORM] && x + g + 3 < width) {
            const Acc<W> words[4] = {Type::words(v[0]), Type::words(v[1]), Type::words(v[2]), Type::words(v[3])};
            epilogue4(to + g, words);
        } else {
#pragma unroll
            for (int e = 0; e < 4; ++e)
                if (x + g + e < width) epilogue(to + g + e, Type::words(v[e]));
        }
    }
}

}  // namespace

IW_KERNEL(THREADS) convolve_f32(const __grid_constant__ Args args) { convolve<float>(args); }
IW_KERNEL(THREADS) convolve_f64(const __grid_constant__ Args args) { convolve<double>(args); }
IW_KERNEL(THREADS) convolve_i32(const __grid_constant__ Args args) { convolve<int>(args); }
