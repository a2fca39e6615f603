// Image filters on [planes, height, width, channels] of u8 or f32, 1, 3 or 4 channels, a 4th passing through: weighted sums
// of 3x3 and 5x5, Sobel magnitude, 3x3 median.
// Order: a sum starts with the first product, rounded, and goes on by fma over rows top to bottom, columns left to right.
// u8 results are floor(v + 0.5), saturated. Taps outside the image: nearest edge pixel, zero, or reflected about the edge pixel.
#include "iw.cuh"

constexpr int THREADS = 128;
constexpr int WARPS = THREADS / WARP;
constexpr uint32_t CLAMP = 0, ZERO = 1;  // 2: reflect

// in[0] image, in[1] weights (f32, row by row), out[0] result (another buffer); u[0] width, u[1] height, u[2] planes,
// u[3] border, u[4] rows to a strip. A warp takes a strip: 32 N samples wide, sliding down its rows, so that a row is read once.
// grid = planes * ceil(height / u[4]) * ceil(samples of a row / (32 N)) warps / 4, rounded up; N is 4 for f32 of one channel, else 8.
struct Image {
    uint64_t src, dst, size;  // of the plane; size in bytes
    int width, height;
    uint32_t border, pitch;  // bytes of a row
};

// The index that a tap at i reads, or -1 for zero.
IW_DEVICE int resolve(int i, int n, uint32_t border) {
    if (i >= 0 && i < n) return i;
    if (border == ZERO) return -1;
    if (border == CLAMP || n == 1) return i < 0 ? 0 : n - 1;
    while (i < 0 || i >= n) i = i < 0 ? -i : 2 * (n - 1) - i;
    return i;
}

template <class V>
IW_DEVICE V get(uint64_t address) {
    return __ldg((const V*)address);
}
// Plain global stores; through a pointer made from an integer they would be generic ones.
IW_DEVICE void put(uint64_t address, uint8_t v) {
    asm volatile("st.global.u8 [%0], %1;" ::"l"(address), "r"((uint32_t)v) : "memory");
}
IW_DEVICE void put(uint64_t address, uint32_t v) {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(address), "r"(v) : "memory");
}
IW_DEVICE void put(uint64_t address, uint2 v) {
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(address), "r"(v.x), "r"(v.y) : "memory");
}
IW_DEVICE void put(uint64_t address, uint4 v) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

// A format says how a thread holds N consecutive samples of a row in 32-bit words.
// A side of 5x5 windows of 4 channels has 8 samples, and a thread takes it over from one neighbour: hence 8 samples to a thread.
template <int CHANNELS>
struct F32 {
    static constexpr int N = CHANNELS == 1 ? 4 : 8, C = CHANNELS, RUN = 1, WORDS = N, PER_WORD = 1, BYTES = 4, ALIGN = 16;
    static constexpr int DEPTH = CHANNELS == 1 ? 2 : 1;  // rows of loads ahead
    IW_DEVICE static void load(uint64_t at, uint32_t (&w)[WORDS]) {
#pragma unroll
        for (int k = 0; k < WORDS; k += 4) {
            const uint4 v = get<uint4>(at + k * 4);
            w[k] = v.x, w[k + 1] = v.y, w[k + 2] = v.z, w[k + 3] = v.w;
        }
    }
    // Samples from s on in the row at `row`, where the vector load does not do.
    IW_DEVICE static void gather(const Image& im, int s, uint64_t row, uint32_t (&w)[WORDS]) {
        if (s + N <= im.width * C) {
#pragma unroll
            for (int k = 0; k < N; ++k) w[k] = get<uint32_t>(row + (s + k) * 4);
            return;
        }
#pragma unroll 1
        for (int k = 0; k < N; ++k) {
            const int x = resolve((s + k) / C, im.width, im.border);
#pragma unroll
            for (int q = 1; q < N; ++q) w[q - 1] = w[q];
            w[N - 1] = x < 0 ? 0 : get<uint32_t>(row + (x * C + (s + k) % C) * 4);
        }
    }
    // Samples at byte offsets `at` of a row, as the words next to a thread's own on the left or on the right.
    template <int R>
    IW_DEVICE static void beside(uint64_t row, const int (&at)[R], bool, uint32_t (&w)[R]) {
#pragma unroll
        for (int r = 0; r < R; ++r) w[r] = at[r] < 0 ? 0 : get<uint32_t>(row + at[r]);
    }
    IW_DEVICE static uint32_t result(float v) { return canonical(v); }
    // The roots, correctly rounded. Where all squares are normal and far from the ends of the range, a step of Goldschmidt's and a
    // remainder lead there from any inverse root within 2^-21, whatever the device's is: tried for every significand and every such
    // inverse (core's example `roots`). One test for all keeps the roots apart from each other's branches.
    IW_DEVICE static void magnitudes(const float (&square)[N], uint32_t (&root)[N]) {
        bool usual = true;
#pragma unroll
        for (int k = 0; k < N; ++k) usual &= __float_as_uint(square[k]) - 0x0d000000u <= 0x727fffffu;
        if (usual) {
#pragma unroll
            for (int k = 0; k < N; ++k) {
                float inverse;
                asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(square[k]));
                const float near = __fmul_rn(square[k], inverse), half = __fmul_rn(inverse, 0.5f);
                const float off = __fmaf_rn(-near, half, 0.5f);
                const float nearer = __fmaf_rn(near, off, near), slope = __fmaf_rn(half, off, half);
                root[k] = __float_as_uint(__fmaf_rn(__fmaf_rn(-nearer, nearer, square[k]), slope, nearer));
            }
        } else {
#pragma unroll
            for (int k = 0; k < N; ++k) root[k] = canonical(__fsqrt_rn(square[k]));
        }
    }
    IW_DEVICE static uint32_t canonical(float v) { return v != v ? 0x7fc00000u : __float_as_uint(v); }
    IW_DEVICE static void write(const Image& im, int s, uint64_t row, bool vector, const uint32_t (&v)[N]) {
        const uint64_t at = row + s * 4;
        if (vector) {
#pragma unroll
            for (int k = 0; k < N; k += 4) put(at + k * 4, make_uint4(v[k], v[k + 1], v[k + 2], v[k + 3]));
            return;
        }
#pragma unroll
        for (int k = 0; k < N; ++k)
            if (s + k < im.width * C) put(at + k * 4, v[k]);
    }
    template <int L>
    IW_DEVICE static float sample(const uint32_t (&w)[L], int k) {
        return __uint_as_float(w[k]);
    }
    // What the median sorts: -0 below +0; NaN, which it can't, is told by `odd`.
    using Value = float;
    IW_DEVICE static float smaller(float a, float b) { return fminf(a, b); }
    IW_DEVICE static float larger(float a, float b) { return fmaxf(a, b); }
    template <int L>
    IW_DEVICE static float value(const uint32_t (&w)[L], int k) {
        return __uint_as_float(w[k]);
    }
    template <int L>
    IW_DEVICE static bool odd(const uint32_t (&w)[L], int first, int count) {
        bool nan = false;
#pragma unroll
        for (int k = 0; k < count; ++k) {
            const float v = __uint_as_float(w[first + k]);
            nan |= v != v;
        }
        return nan;
    }
    IW_DEVICE static uint32_t bits(float v) { return __float_as_uint(v); }
    // Order-preserving integers: -0 below +0, every NaN above +inf.
    IW_DEVICE static int key_at(uint64_t row, int sample) { return key_of(get<uint32_t>(row + sample * 4)); }
    IW_DEVICE static int key_of(uint32_t bits) {
        const int b = canonical(__uint_as_float(bits));
        return b ^ (b >> 31 & 0x7fffffff);
    }
    IW_DEVICE static uint32_t from_key(int k) { return k ^ (k >> 31 & 0x7fffffff); }
    IW_DEVICE static uint32_t passed(const uint32_t (&own)[WORDS], int k) { return canonical(__uint_as_float(own[k])); }
};

template <int CHANNELS>
struct U8 {
    static constexpr int N = 8, C = CHANNELS, WORDS = 2, PER_WORD = 4, BYTES = 1, DEPTH = 1;
    static constexpr int RUN = N % C == 0 ? C : 1;  // samples from a thread's end on that surely are of one pixel
    static constexpr int ALIGN = 8;
    IW_DEVICE static void load(uint64_t at, uint32_t (&w)[WORDS]) {
        const uint2 v = get<uint2>(at);
        w[0] = v.x, w[1] = v.y;
    }
    IW_DEVICE static uint32_t passed(const uint32_t (&own)[WORDS], int k) { return own[k / 4] >> 24; }
    IW_DEVICE static void gather(const Image& im, int s, uint64_t row, uint32_t (&w)[WORDS]) {
        // Whole words around the samples, as long as they stay inside the image.
        const uint64_t at = row + s, words = at & ~3ull;
        if (s + N <= (int)im.pitch && words >= im.src && words + 12 <= im.src + im.size) {
            const uint32_t a = get<uint32_t>(words), b = get<uint32_t>(words + 4), c = get<uint32_t>(words + 8);
            const uint32_t shift = (uint32_t)at % 4 * 8;
            w[0] = __funnelshift_r(a, b, shift);
            w[1] = __funnelshift_r(b, c, shift);
            return;
        }
        w[0] = w[1] = 0;
#pragma unroll 1
        for (int k = 0; k < N; ++k) {
            const int x = resolve((s + k) / C, im.width, im.border);
            const uint32_t v = x < 0 ? 0 : get<uint8_t>(row + x * C + (s + k) % C);
            w[0] = w[0] >> 8 | w[1] << 24;
            w[1] = w[1] >> 8 | v << 24;
        }
    }
    template <int RUNS, int SIDE>
    IW_DEVICE static void beside(uint64_t row, const int (&at)[RUNS], bool left, uint32_t (&w)[SIDE]) {
        uint64_t bytes = 0;
#pragma unroll
        for (int k = 0; k < RUNS * RUN; ++k)
            if (at[k / RUN] >= 0) bytes |= (uint64_t)get<uint8_t>(row + at[k / RUN] + k % RUN) << 8 * k;
        if (left) bytes <<= 8 * (SIDE * 4 - RUNS * RUN);
        w[0] = (uint32_t)bytes;
        if (SIDE > 1) w[SIDE - 1] = (uint32_t)(bytes >> 32);
    }
    // floor(v + 0.5) to 0..255, NaN to 0: adding 2^23 rounding down leaves the integer in the low byte.
    IW_DEVICE static uint32_t result(float v) {
        const float r = fminf(fmaxf(__fadd_rn(v, 0.5f), 0.0f), 255.0f);
        return __float_as_uint(__fadd_rd(r, 8388608.0f));
    }
    // Here square is an integer below 2^22, so its root is at least 2^-11 from any k + 0.5 with k < 256: the approximate
    // root, within 2^-14, rounds to the same k.
    IW_DEVICE static void magnitudes(const float (&square)[N], uint32_t (&root)[N]) {
#pragma unroll
        for (int k = 0; k < N; ++k) {
            float near;
            asm("sqrt.approx.f32 %0, %1;" : "=f"(near) : "f"(square[k]));
            root[k] = result(near);
        }
    }
    using Value = int;
    IW_DEVICE static int smaller(int a, int b) { return min(a, b); }
    IW_DEVICE static int larger(int a, int b) { return max(a, b); }
    template <int L>
    IW_DEVICE static bool odd(const uint32_t (&)[L], int, int) {
        return false;
    }
    IW_DEVICE static uint32_t bits(int v) { return v; }
    IW_DEVICE static int key_at(uint64_t row, int sample) { return get<uint8_t>(row + sample); }
    IW_DEVICE static uint32_t from_key(int k) { return k; }
    IW_DEVICE static uint32_t pack(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
        return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
    }
    IW_DEVICE static void write(const Image& im, int s, uint64_t row, bool vector, const uint32_t (&v)[N]) {
        uint32_t a = pack(v[0], v[1], v[2], v[3]), b = pack(v[4], v[5], v[6], v[7]);
        if (vector) {
            put(row + s, make_uint2(a, b));
            return;
        }
#pragma unroll 1
        for (int k = 0; k < N && s + k < (int)im.pitch; ++k) {
            put(row + s + k, (uint8_t)a);
            a = a >> 8 | b << 24;
            b >>= 8;
        }
    }
    template <int L>
    IW_DEVICE static int value(const uint32_t (&w)[L], int k) {
        return __byte_perm(w[k / 4], 0, 0x4440 + k % 4);
    }
    template <int L>
    IW_DEVICE static float sample(const uint32_t (&w)[L], int k) {
        return __uint_as_float(__byte_perm(w[k / 4], 0x4b000000, 0x7440 + k % 4)) - 8388608.0f;
    }
};

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

// Keys of a format, as values of one.
struct Keys {
    using Value = int;
    IW_DEVICE static int smaller(int a, int b) { return min(a, b); }
    IW_DEVICE static int larger(int a, int b) { return max(a, b); }
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
