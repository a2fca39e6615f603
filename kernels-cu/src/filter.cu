// Image filters on [planes, height, width, channels] of u8 or f32, 1, 3 or 4 channels, a 4th passing through: weighted sums
// of 3x3 and 5x5, Sobel magnitude, 3x3 median.
// Order: a sum starts with the first product, rounded, and goes on by fma over rows top to bottom, columns left to right.
// u8 results are floor(v + 0.5), saturated. Taps outside the image: nearest edge pixel, zero, or reflected about the edge pixel.
#include "iw.cuh"
#include "image.cuh"

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
    int beyond[RUNS];   // byte offsets in a row of the samples on that side, negative for zero

    // What is on its way from memory.
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
    IW_DEVICE void fetch(int y, Raw& raw) const {
        const int y_in = (uint32_t)y < (uint32_t)im.height ? y : resolve(y, im.height, im.border);
#pragma unroll
        for (int k = 0; k < F::WORDS; ++k) raw.own[k] = 0;
#pragma unroll
        for (int k = 0; k < SIDE; ++k) raw.side[k] = 0;
        if (y_in < 0) return;
        const uint64_t row = im.src + (uint64_t)im.pitch * (uint32_t)y_in;
        if (vector) F::load(row + s * F::BYTES, raw.own);
        // Lanes right of the image only serve their left neighbour.
        else if (s < (im.width + RADIUS) * F::C) F::gather(im, s, row, raw.own);
        if (outer) F::beside(row, beyond, lane_id() == 0, raw.side);
    }
    IW_DEVICE void line(const Raw& raw, uint32_t (&w)[LINE]) const {
#pragma unroll
        for (int k = 0; k < SIDE; ++k) {
            const uint32_t left = __shfl_up_sync(ALL_LANES, raw.own[F::WORDS - SIDE + k], 1);
            const uint32_t right = __shfl_down_sync(ALL_LANES, raw.own[k], 1);
            w[k] = lane_id() == 0 ? raw.side[k] : left;
            w[SIDE + F::WORDS + k] = lane_id() == WARP - 1 ? raw.side[k] : right;
        }
#pragma unroll
        for (int k = 0; k < F::WORDS; ++k) w[SIDE + k] = raw.own[k];
    }
    IW_DEVICE void write(int y, uint32_t (&v)[F::N], const uint32_t (&centre)[F::WORDS]) const {
        if (!inside) return;
        if constexpr (F::C == 4) {
#pragma unroll
            for (int k = 3; k < F::N; k += 4) v[k] = F::passed(centre, k);
        }
        F::write(im, s, im.dst + (uint64_t)im.pitch * (uint32_t)y, vector, v);
    }
};

// Calls step(y, line, own words of row y) for all rows that the strip reads.
template <class F, int RADIUS, class Step>
IW_DEVICE void slide(const Strip<F, RADIUS>& strip, Step step) {
    using S = Strip<F, RADIUS>;
    constexpr int DEPTH = F::DEPTH;
    typename S::Raw raw[DEPTH];
    int y = strip.y0 - RADIUS;
    const int end = strip.y1 + RADIUS;
#pragma unroll
    for (int d = 0; d < DEPTH; ++d)
        if (y + d < end) strip.fetch(y + d, raw[d]);
    for (;;) {
#pragma unroll
        for (int d = 0; d < DEPTH; ++d) {
            uint32_t w[S::LINE], own[F::WORDS];
            strip.line(raw[d], w);
#pragma unroll
            for (int k = 0; k < F::WORDS; ++k) own[k] = raw[d].own[k];
            if (y + DEPTH < end) strip.fetch(y + DEPTH, raw[d]);
            step(y, w, own);
            if (++y == end) return;
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
    slide(strip, [&](int y, const uint32_t(&w)[S::LINE], const uint32_t(&own)[F::WORDS]) {
#pragma unroll
        for (int k = 0; k < F::WORDS; ++k) {
#pragma unroll
            for (int d = 0; d < RADIUS; ++d) centre[d][k] = centre[d + 1][k];
            centre[RADIUS][k] = own[k];
        }
        float v[N + 2 * RADIUS * F::C];
#pragma unroll
        for (int k = 0; k < N + 2 * RADIUS * F::C; ++k) v[k] = F::sample(w, S::FIRST - RADIUS * F::C + k);
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
    slide(strip, [&](int y, const uint32_t(&w)[S::LINE], const uint32_t(&own)[F::WORDS]) {
#pragma unroll
        for (int k = 0; k < F::WORDS; ++k) centre[0][k] = centre[1][k], centre[1][k] = own[k];
        float bottom[V], down[V];
#pragma unroll
        for (int k = 0; k < V; ++k) {
            bottom[k] = F::sample(w, S::FIRST - C + k);
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

template <class F, class V>
IW_DEVICE V median_of(V a, V b, V c) {
    return F::larger(F::smaller(a, b), F::smaller(F::larger(a, b), c));
}

// Three rows of values, one after the other: the columns' smallest, middle and largest, and what the next row needs.
template <class F, int V>
struct Columns {
    using Value = typename F::Value;
    Value small[V] = {}, large[V] = {}, last[V] = {};  // the two rows before, sorted, and the nearer of them
    Value low[V], middle[V], high[V];
    IW_DEVICE void add(int k, Value p) {
        const Value t = F::larger(small[k], p);
        low[k] = F::smaller(small[k], p);
        middle[k] = F::smaller(t, large[k]);
        high[k] = F::larger(t, large[k]);
        small[k] = F::smaller(last[k], p);
        large[k] = F::larger(last[k], p);
        last[k] = p;
    }
};

// The median around sample s of row y, from memory and by keys.
template <class F>
IW_DEVICE uint32_t median_at(const Image& im, int s, int y) {
    Columns<Keys, 3> columns;
#pragma unroll 1
    for (int dy = -1; dy <= 1; ++dy) {
        const int y_in = resolve(y + dy, im.height, im.border);
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            const int x = resolve(s / F::C + k - 1, im.width, im.border);
            columns.add(k, x < 0 || y_in < 0 ? 0 : F::key_at(im.src + (uint64_t)im.pitch * (uint32_t)y_in, x * F::C + s % F::C));
        }
    }
    const int largest_low = max(max(columns.low[0], columns.low[1]), columns.low[2]);
    const int smallest_high = min(min(columns.high[0], columns.high[1]), columns.high[2]);
    const int median = median_of<Keys>(columns.middle[0], columns.middle[1], columns.middle[2]);
    return F::from_key(median_of<Keys>(largest_low, median, smallest_high));
}

// Sort each column of three; the median is that of the largest minimum, the middle median and the smallest maximum.
template <class F>
IW_DEVICE void median3(const Args& args) {
    constexpr int N = F::N, C = F::C, V = N + 2 * C;
    using S = Strip<F, 1>;
    using Value = typename F::Value;
    S strip;
    if (!strip.place(args)) return;
    Columns<F, V> columns;
    uint32_t centre[2][F::WORDS];
    int odd_rows = 0;  // for which a value that can't be sorted is still in the columns
    slide(strip, [&](int y, const uint32_t(&w)[S::LINE], const uint32_t(&own)[F::WORDS]) {
#pragma unroll
        for (int k = 0; k < F::WORDS; ++k) centre[0][k] = centre[1][k], centre[1][k] = own[k];
#pragma unroll
        for (int k = 0; k < V; ++k) columns.add(k, F::value(w, S::FIRST - C + k));
        odd_rows = F::odd(w, S::FIRST - C, V) ? 3 : odd_rows - 1;
        if (y <= strip.y0) return;
        // Outputs k and k + C share columns k + C and k + 2C: what the two need of those is computed once.
        const auto &low = columns.low, &middle = columns.middle, &high = columns.high;
        uint32_t done[N];
        Value low_pair[N], high_pair[N], least[N], most[N];
#pragma unroll
        for (int k = 0; k < N; ++k) {
            const bool first = k / C % 2 == 0;
            const int a = k + C, b = k + 2 * C, own = first ? k : k + 2 * C, pair = first ? k : k - C;
            if (first) {
                low_pair[k] = F::larger(low[a], low[b]), high_pair[k] = F::smaller(high[a], high[b]);
                least[k] = F::smaller(middle[a], middle[b]), most[k] = F::larger(middle[a], middle[b]);
            }
            const Value largest_low = F::larger(low_pair[pair], low[own]), smallest_high = F::smaller(high_pair[pair], high[own]);
            const Value median = F::larger(least[pair], F::smaller(most[pair], middle[own]));
            done[k] = F::bits(median_of<F>(largest_low, median, smallest_high));
        }
        if (odd_rows > 0) {
#pragma unroll 1
            for (int k = 0; k < N; ++k) {
                // The array turns, so that the code knows its indices.
#pragma unroll
                for (int q = 1; q < N; ++q) done[q - 1] = done[q];
                done[N - 1] = strip.s + k < strip.im.width * C ? median_at<F>(strip.im, strip.s + k, y - 1) : 0;
            }
        }
        strip.write(y - 1, done, centre[0]);
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
FILTER_ENTRIES(f32_c3, 1, 1, 1, 1, F32<3>)
FILTER_ENTRIES(f32_c4, 1, 1, 1, 1, F32<4>)
FILTER_ENTRIES(u8_c1, 8, 8, 8, 8, U8<1>)
FILTER_ENTRIES(u8_c3, 8, 6, 8, 6, U8<3>)
FILTER_ENTRIES(u8_c4, 8, 8, 8, 6, U8<4>)
