// Image filters on [planes, height, width, channels] of u8 or f32, 1, 3 or 4 channels, a 4th passing through: weighted sums
// of 3x3 and 5x5, Sobel magnitude, 3x3 median.
// Order: a sum starts with the first product, rounded, and goes on by fma over rows top to bottom, columns left to right.
// u8 results are floor(v + 0.5), saturated. Taps outside the image: nearest edge pixel, zero, or reflected about the edge pixel.
#include "iw.cuh"
#include "image.cuh"
#include "median.cuh"

constexpr int THREADS = 128;
constexpr int WARPS = THREADS / WARP;

// in[0] image, in[1] weights (f32, row by row), out[0] result (another buffer); u[0] width, u[1] height, u[2] planes,
// u[3] border, u[4] rows to a strip. A warp takes a strip: 32 N samples wide, sliding down its rows, so that a row is read once.
// grid = planes * ceil(height / u[4]) * ceil(samples of a row / (32 N)) warps / 4, rounded up; N is 4 for f32 of one channel, else 8.

// A warp's strip, one row of samples at a time, with RADIUS pixels on either side of a thread's own.
template <class F, int RADIUS>
struct Strip {
    static constexpr int SIDE = (RADIUS * F::C + F::PER_WORD - 1) / F::PER_WORD;  // words taken over from a neighbour
    static constexpr int LINE = F::WORDS + 2 * SIDE;
    static constexpr int RUNS = RADIUS * F::C / F::RUN;
    static constexpr int FIRST = SIDE * F::PER_WORD;  // index of the thread's own first sample in a line
    Image im;
    int s, y0, y1;      // first sample; rows of the strip
    bool vector;        // the thread's samples can be read and written as one vector in every row
    bool inside;        // the thread has samples of the image
    bool outer;         // the lane has a side where no lane of the warp is
    uint64_t own;       // address of the thread's samples in the first row
    int beyond[RUNS];   // byte offsets in a row of the samples on that side, negative for zero

    // Loads on their way from memory.
    struct Raw {
        uint32_t own[F::WORDS], side[SIDE];
    };

    IW_DEVICE bool place(const Args& args) {
        im.width = args.u[0], im.height = args.u[1], im.border = args.u[3];
        im.pitch = im.width * F::C * F::BYTES;
        im.size = (uint64_t)im.pitch * im.height;
        const int samples = im.width * F::C, lane = lane_id();
        const uint32_t warps_x = (samples + WARP * F::N - 1) / (WARP * F::N);
        const uint32_t strips = (im.height + args.u[4] - 1) / args.u[4];
        const uint32_t warp = blockIdx.x * WARPS + warp_id();
        const uint32_t plane = warp / (warps_x * strips), in_plane = warp % (warps_x * strips);
        if (plane >= args.u[2]) return false;
        im.src = args.in[0].ptr + plane * im.size;
        im.dst = args.out[0] + plane * im.size;
        s = (in_plane % warps_x * WARP + lane) * F::N;
        y0 = in_plane / warps_x * args.u[4];
        y1 = y0 + (int)args.u[4] < im.height ? y0 + args.u[4] : im.height;
        vector = s + F::N <= samples && (im.src | im.dst | im.pitch) % F::ALIGN == 0;
        inside = s < samples;
        own = im.src + s * F::BYTES;
        outer = false;
#pragma unroll
        for (int r = 0; r < RUNS; ++r) {
            const int at = (lane == 0 ? s - RADIUS * F::C : s + F::N) + r * F::RUN + RADIUS * F::C;  // not negative
            const int x = resolve(at / F::C - RADIUS, im.width, im.border);
            beyond[r] = x < 0 ? -1 : (x * F::C + at % F::C) * F::BYTES;
            outer |= x >= 0 && (lane == 0 || lane == WARP - 1);
        }
        return true;
    }
    // Starts loading rows y .. y + ROWS.
    template <int ROWS>
    IW_DEVICE void fetch(int y, Raw (&raw)[ROWS]) const {
        if (ROWS > 1 && vector && y >= 0 && y <= im.height - ROWS) {
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                F::load(own + (uint64_t)im.pitch * (uint32_t)(y + r), raw[r].own);
                if (outer) F::beside(im.src + (uint64_t)im.pitch * (uint32_t)(y + r), beyond, raw[r].side);
            }
            return;
        }
#pragma unroll 1
        for (int r = 0; r < ROWS; ++r) {
            // The array turns, so that the code knows its indices.
#pragma unroll
            for (int q = 1; q < ROWS; ++q) raw[q - 1] = raw[q];
            fetch_at_edge(y + r, raw[ROWS - 1]);
        }
    }
    IW_DEVICE void fetch_at_edge(int y, Raw& raw) const {
        const int y_in = resolve(y, im.height, im.border);
#pragma unroll
        for (int k = 0; k < F::WORDS; ++k) raw.own[k] = 0;
#pragma unroll
        for (int k = 0; k < SIDE; ++k) raw.side[k] = 0;
        if (y_in < 0) return;
        const uint64_t row = im.src + (uint64_t)im.pitch * (uint32_t)y_in;
        if (vector) F::load(row + s * F::BYTES, raw.own);
        // Lanes right of the image only serve their left neighbour.
        else if (s < (im.width + RADIUS) * F::C) F::gather(im, s, row, raw.own);
        if (outer) F::beside(row, beyond, raw.side);
    }
    IW_DEVICE void line(const Raw& raw, uint32_t (&w)[LINE]) const {
        uint32_t left_side[SIDE];
        F::template ending<RADIUS * F::C>(raw.side, left_side);
#pragma unroll
        for (int k = 0; k < SIDE; ++k) {
            const uint32_t left = __shfl_up_sync(ALL_LANES, raw.own[F::WORDS - SIDE + k], 1);
            const uint32_t right = __shfl_down_sync(ALL_LANES, raw.own[k], 1);
            w[k] = lane_id() == 0 ? left_side[k] : left;
            w[SIDE + F::WORDS + k] = lane_id() == WARP - 1 ? raw.side[k] : right;
        }
#pragma unroll
        for (int k = 0; k < F::WORDS; ++k) w[SIDE + k] = raw.own[k];
    }
    // Stores row y; a 4th channel is that of `centre`.
    IW_DEVICE void write(int y, uint32_t (&v)[F::N], const uint32_t (&centre)[F::WORDS]) const {
        uint32_t words[F::WORDS];
        if constexpr (F::C == 4) {
#pragma unroll
            for (int k = 3; k < F::N; k += 4) v[k] = 0;
        }
        F::pack(v, words);
        write_words(y, words, centre);
    }
    IW_DEVICE void write_words(int y, uint32_t (&words)[F::WORDS], const uint32_t (&centre)[F::WORDS]) const {
        if (!inside) return;
        if constexpr (F::C == 4) F::pass(centre, words);
        F::write(im, s, im.dst + (uint64_t)im.pitch * (uint32_t)y, vector, words);
    }
};

// Calls step(y, lines, own words) for rows y .. y + ROWS, until all that the strip reads are done; rows of DEPTH steps are on their way.
template <int ROWS, int DEPTH, class F, int RADIUS, class Step>
IW_DEVICE void slide(const Strip<F, RADIUS>& strip, Step step) {
    using S = Strip<F, RADIUS>;
    typename S::Raw raw[DEPTH][ROWS] = {};  // lanes that never load a side have zeros there
    int y = strip.y0 - RADIUS;
    const int end = strip.y1 + RADIUS;
#pragma unroll
    for (int d = 0; d < DEPTH; ++d)
        if (y + d * ROWS < end) strip.fetch(y + d * ROWS, raw[d]);
    for (;;) {
#pragma unroll
        for (int d = 0; d < DEPTH; ++d) {
            uint32_t w[ROWS][S::LINE], own[ROWS][F::WORDS];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                strip.line(raw[d][r], w[r]);
#pragma unroll
                for (int k = 0; k < F::WORDS; ++k) own[r][k] = raw[d][r].own[k];
            }
            if (y + DEPTH * ROWS < end) strip.fetch(y + DEPTH * ROWS, raw[d]);
            step(y, w, own);
            if ((y += ROWS) >= end) return;
        }
    }
}

// acc[d] belongs to the output row that still wants its weight rows d.. : a new input row serves K outputs, the last is done.
template <class F, int RADIUS>
IW_DEVICE void filter(const Args& args) {
    constexpr int K = 2 * RADIUS + 1, N = F::N;
    using S = Strip<F, RADIUS>;
    S strip;
    if (!strip.place(args)) return;
    float weight[K][K];
#pragma unroll
    for (int k = 0; k < K * K; ++k) weight[k / K][k % K] = ((const float*)args.in[1].ptr)[k];
    float acc[K][N] = {};
    uint32_t centre[RADIUS + 1][F::WORDS];
    slide<1, F::DEPTH>(strip, [&](int y, const uint32_t(&w)[1][S::LINE], const uint32_t(&own)[1][F::WORDS]) {
#pragma unroll
        for (int k = 0; k < F::WORDS; ++k) {
#pragma unroll
            for (int d = 0; d < RADIUS; ++d) centre[d][k] = centre[d + 1][k];
            centre[RADIUS][k] = own[0][k];
        }
        float v[N + 2 * RADIUS * F::C];
#pragma unroll
        for (int k = 0; k < N + 2 * RADIUS * F::C; ++k) v[k] = F::sample(w[0], S::FIRST - RADIUS * F::C + k);
        uint32_t done[N];
#pragma unroll
        for (int d = K - 1; d >= 0; --d)
#pragma unroll
            for (int k = 0; k < N; ++k) {
                float a = d == 0 ? __fmul_rn(weight[0][0], v[k]) : __fmaf_rn(weight[d][0], v[k], acc[d][k]);
#pragma unroll
                for (int e = 1; e < K; ++e) a = __fmaf_rn(weight[d][e], v[k + e * F::C], a);
                if (d == K - 1) done[k] = F::result(a);
                else acc[d + 1][k] = a;
            }
        if (y - RADIUS >= strip.y0) strip.write(y - RADIUS, done, centre[0]);
    });
}

// Magnitude of the gradient: d = (p2 - p0) of a row, dx = fma(2, d_mid, d_top) + d_bottom; dy likewise of columns, top - bottom.
template <class F>
IW_DEVICE void sobel(const Args& args) {
    constexpr int N = F::N, C = F::C, V = N + 2 * C;
    using S = Strip<F, 1>;
    S strip;
    if (!strip.place(args)) return;
    float top[V] = {}, mid[V] = {};
    uint32_t centre[2][F::WORDS];
    slide<1, F::DEPTH>(strip, [&](int y, const uint32_t(&w)[1][S::LINE], const uint32_t(&own)[1][F::WORDS]) {
#pragma unroll
        for (int k = 0; k < F::WORDS; ++k) centre[0][k] = centre[1][k], centre[1][k] = own[0][k];
        float bottom[V], down[V];
#pragma unroll
        for (int k = 0; k < V; ++k) {
            bottom[k] = F::sample(w[0], S::FIRST - C + k);
            down[k] = top[k] - bottom[k];
        }
        if (y > strip.y0) {
            float square[N];
#pragma unroll
            for (int k = 0; k < N; ++k) {
                const float dx = __fmaf_rn(2.0f, mid[k + 2 * C] - mid[k], top[k + 2 * C] - top[k]) + (bottom[k + 2 * C] - bottom[k]);
                const float dy = __fmaf_rn(2.0f, down[k + C], down[k]) + down[k + 2 * C];
                square[k] = __fmaf_rn(dx, dx, __fmul_rn(dy, dy));
            }
            uint32_t done[N];
            F::magnitudes(square, done);
            strip.write(y - 1, done, centre[0]);
        }
#pragma unroll
        for (int k = 0; k < V; ++k) top[k] = mid[k], mid[k] = bottom[k];
    });
}

// The median around sample s of row y, from memory and by keys.
template <class F>
IW_DEVICE float median_at(const Image& im, int s, int y) {
    int key[9];
#pragma unroll 1
    for (int dy = -1; dy <= 1; ++dy) {
        const int y_in = resolve(y + dy, im.height, im.border);
#pragma unroll
        for (int k = 0; k < 6; ++k) key[k] = key[k + 3];
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            const int x = resolve(s / F::C + k - 1, im.width, im.border);
            key[6 + k] = x < 0 || y_in < 0 ? 0 : F::key_at(im.src + (uint64_t)im.pitch * (uint32_t)y_in, x * F::C + s % F::C);
        }
    }
    Keys::sort(key[0], key[3]);
    Keys::sort(key[1], key[4]);
    Keys::sort(key[2], key[5]);
    int block[4];
    block_of<Keys>(key[1], key[4], key[2], key[5], block);
    return F::from_key(median_of<Keys>(six_of<Keys>(block, key[7], key[8]), key[0], key[3], key[6]));
}

template <class F>
IW_DEVICE void median3(const Args& args) {
    constexpr int C = F::C, N = F::VALUES, V = N + 2 * C;
    using S = Strip<F, 1>;
    using Value = typename F::Value;
    S strip;
    if (!strip.place(args)) return;
    Value rows[4][V] = {};
    uint32_t centre[F::WORDS];
    float doubt = 0.0f;  // NaN if one is in the two rows before
    slide<2, F::MEDIAN_DEPTH>(strip, [&](int y, const uint32_t(&w)[2][S::LINE], const uint32_t(&own)[2][F::WORDS]) {
        float more = 0.0f;
#pragma unroll
        for (int r = 0; r < 2; ++r) {
#pragma unroll
            for (int k = 0; k < V; ++k) rows[2 + r][k] = F::value(w[r], S::FIRST - C + k);
            if constexpr (F::HAS_NAN) more = F::doubt(rows[2 + r], more);
        }
        if (y > strip.y0) {
            // Windows of rows y - 1 and y.
            Value done[2][N];
            medians<F, C>(rows, done);
            if constexpr (F::HAS_NAN) {
                if (doubt + more != doubt + more) {
#pragma unroll 1
                    for (int k = 0; k < 2 * N; ++k) {
                        // The array turns, so that the code knows its indices.
                        const int s = strip.s + k % N, at = y - 1 + k / N;
#pragma unroll
                        for (int q = 1; q < 2 * N; ++q) done[(q - 1) / N][(q - 1) % N] = done[q / N][q % N];
                        done[1][N - 1] = s < strip.im.width * C && at < strip.y1 ? median_at<F>(strip.im, s, at) : 0.0f;
                    }
                }
            }
            uint32_t words[2][F::WORDS];
            F::words(done[0], words[0]);
            strip.write_words(y - 1, words[0], centre);
            F::words(done[1], words[1]);
            if (y < strip.y1) strip.write_words(y, words[1], own[0]);
        }
        doubt = more;
#pragma unroll
        for (int k = 0; k < V; ++k) rows[0][k] = rows[2][k], rows[1][k] = rows[3][k];
#pragma unroll
        for (int k = 0; k < F::WORDS; ++k) centre[k] = own[1][k];
    });
}

// Blocks to a multiprocessor that registers are kept for, measured on an H200: 3x3, 5x5, Sobel, median.
#define FILTER_ENTRY(BLOCKS, NAME) extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) NAME(const __grid_constant__ Args args)
#define FILTER_ENTRIES(NAME, THREE, FIVE, SOBEL, MEDIAN, ...)           \
    FILTER_ENTRY(THREE, filter3_##NAME) { filter<__VA_ARGS__, 1>(args); } \
    FILTER_ENTRY(FIVE, filter5_##NAME) { filter<__VA_ARGS__, 2>(args); }  \
    FILTER_ENTRY(SOBEL, sobel_##NAME) { sobel<__VA_ARGS__>(args); }       \
    FILTER_ENTRY(MEDIAN, median3_##NAME) { median3<__VA_ARGS__>(args); }

FILTER_ENTRIES(f32_c1, 1, 6, 8, 7, F32<1>)
FILTER_ENTRIES(f32_c3, 1, 1, 1, 4, F32<3>)
FILTER_ENTRIES(f32_c4, 1, 1, 1, 4, F32<4>)
FILTER_ENTRIES(u8_c1, 8, 8, 8, 8, U8<1>)
FILTER_ENTRIES(u8_c3, 8, 6, 8, 6, U8<3>)
FILTER_ENTRIES(u8_c4, 8, 8, 8, 6, U8<4>)
