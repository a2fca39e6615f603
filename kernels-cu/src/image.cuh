// Images for kernels that walk their rows: where a plane lies, what a tap outside of it reads, and how a thread holds samples of f32 or u8.
#pragma once
#include "iw.cuh"

constexpr uint32_t CLAMP = 0, ZERO = 1, WRAP = 3;  // 2: reflect

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
    while (i < 0 || i >= n) i = border == WRAP ? (i < 0 ? i + n : i - n) : i < 0 ? -i : 2 * (n - 1) - i;
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
    // Samples at byte offsets `at` of a row, as the words next to a thread's own on the right.
    template <int R>
    IW_DEVICE static void beside(uint64_t row, const int (&at)[R], uint32_t (&w)[R]) {
#pragma unroll
        for (int r = 0; r < R; ++r) w[r] = at[r] < 0 ? 0 : get<uint32_t>(row + at[r]);
    }
    // The same samples as the words next to a thread's own on the left.
    template <int SAMPLES, int R>
    IW_DEVICE static void ending(const uint32_t (&w)[R], uint32_t (&left)[R]) {
#pragma unroll
        for (int r = 0; r < R; ++r) left[r] = w[r];
    }
    IW_DEVICE static uint32_t result(float v) { return canonical(v); }
    // The roots, correctly rounded. Where all squares are normal and far from the ends of the range, a step of Goldschmidt's and a
    // remainder lead there from any inverse root within 2^-21, whatever the device's is: tried for every significand and every such
    // inverse (core's example `roots`). One test for all keeps the roots apart from each other's branches. The others take
    // PTX's own root, which is correctly rounded, so that numerics.cuh has none.
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
            for (int k = 0; k < N; ++k) root[k] = __float_as_uint(square[k]);
            // Rolled up, so that the long root stands in the code once; the array turns, so that it knows the indices.
#pragma unroll 1
            for (int k = 0; k < N; ++k) {
                const uint32_t next = canonical(__fsqrt_rn(__uint_as_float(root[0])));
#pragma unroll
                for (int q = 1; q < N; ++q) root[q - 1] = root[q];
                root[N - 1] = next;
            }
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
    // Keys that the median sorts: -0 below +0; NaN, which it can't, is told by `doubt`.
    using Value = float;
    static constexpr int VALUES = N, MEDIAN_DEPTH = 1;
    static constexpr bool HAS_NAN = true;
    IW_DEVICE static float smaller(float a, float b) { return fminf(a, b); }
    IW_DEVICE static float larger(float a, float b) { return fmaxf(a, b); }
    IW_DEVICE static void sort(float& a, float& b) {
        const float low = smaller(a, b);
        b = larger(a, b), a = low;
    }
    IW_DEVICE static constexpr bool skips(int k) { return C == 4 && k % 4 == 3; }
    template <int L>
    IW_DEVICE static float value(const uint32_t (&w)[L], int k) {
        return __uint_as_float(w[k]);
    }
    // NaN if `before` is or if one of the values is: sizes have no other sum that is.
    template <int V>
    IW_DEVICE static float doubt(const float (&v)[V], float before) {
#pragma unroll
        for (int k = 0; k < V; ++k) before = __fadd_rn(before, fabsf(v[k]));
        return before;
    }
    IW_DEVICE static void words(const float (&v)[N], uint32_t (&w)[WORDS]) {
#pragma unroll
        for (int k = 0; k < N; ++k) w[k] = __float_as_uint(v[k]);
    }
    // Order-preserving integers: -0 below +0, every NaN above +inf.
    IW_DEVICE static int key_at(uint64_t row, int sample) { return key_of(get<uint32_t>(row + sample * 4)); }
    IW_DEVICE static int key_of(uint32_t bits) {
        const int b = canonical(__uint_as_float(bits));
        return b ^ (b >> 31 & 0x7fffffff);
    }
    IW_DEVICE static float from_key(int k) { return __uint_as_float(k ^ (k >> 31 & 0x7fffffff)); }
    IW_DEVICE static void pack(const uint32_t (&v)[N], uint32_t (&w)[WORDS]) {
#pragma unroll
        for (int k = 0; k < N; ++k) w[k] = v[k];
    }
    IW_DEVICE static void pass(const uint32_t (&own)[WORDS], uint32_t (&w)[WORDS]) {
#pragma unroll
        for (int k = 3; k < N; k += 4) w[k] = canonical(__uint_as_float(own[k]));
    }
};

// Keys that the median sorts where a NaN is near: those of floats.
struct Keys {
    using Value = int;
    IW_DEVICE static int smaller(int a, int b) { return min(a, b); }
    IW_DEVICE static int larger(int a, int b) { return max(a, b); }
    IW_DEVICE static void sort(int& a, int& b) {
        const int low = smaller(a, b);
        b = larger(a, b), a = low;
    }
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
    IW_DEVICE static void pass(const uint32_t (&own)[WORDS], uint32_t (&w)[WORDS]) {
#pragma unroll
        for (int k = 0; k < WORDS; ++k) w[k] = __byte_perm(w[k], own[k], 0x7210);
    }
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
    IW_DEVICE static void beside(uint64_t row, const int (&at)[RUNS], uint32_t (&w)[SIDE]) {
        uint64_t bytes = 0;
#pragma unroll
        for (int k = 0; k < RUNS * RUN; ++k)
            if (at[k / RUN] >= 0) bytes |= (uint64_t)get<uint8_t>(row + at[k / RUN] + k % RUN) << 8 * k;
        w[0] = (uint32_t)bytes;
        if (SIDE > 1) w[SIDE - 1] = (uint32_t)(bytes >> 32);
    }
    // Apart from `beside`, since a shift there would wait for the load.
    template <int SAMPLES, int SIDE>
    IW_DEVICE static void ending(const uint32_t (&w)[SIDE], uint32_t (&left)[SIDE]) {
        const uint64_t bytes = (SIDE > 1 ? (uint64_t)w[SIDE - 1] << 32 | w[0] : w[0]) << 8 * (SIDE * 4 - SAMPLES);
        left[0] = (uint32_t)bytes;
        if (SIDE > 1) left[SIDE - 1] = (uint32_t)(bytes >> 32);
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
    // Words that the median sorts: samples k and k + 4 as two f16, 4 + sample / 256 each, of which differences are exact. A difference that is
    // cut off at 0 and 1 makes minimum and maximum of two sums; machines have more of those than of either.
    using Value = uint32_t;
    static constexpr int VALUES = 4, MEDIAN_DEPTH = 1;
    static constexpr bool HAS_NAN = false;
    IW_DEVICE static uint32_t excess(uint32_t a, uint32_t b) {
        uint32_t d;
        asm("sub.rn.sat.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
        return d;
    }
    IW_DEVICE static uint32_t less(uint32_t a, uint32_t d) {
        uint32_t v;
        asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(v) : "r"(a), "r"(d));
        return v;
    }
    IW_DEVICE static uint32_t more(uint32_t a, uint32_t d) {
        uint32_t v;
        asm("add.rn.f16x2 %0, %1, %2;" : "=r"(v) : "r"(a), "r"(d));
        return v;
    }
    IW_DEVICE static uint32_t smaller(uint32_t a, uint32_t b) { return less(a, excess(a, b)); }
    IW_DEVICE static uint32_t larger(uint32_t a, uint32_t b) { return more(b, excess(a, b)); }
    IW_DEVICE static void sort(uint32_t& a, uint32_t& b) {
        const uint32_t d = excess(a, b);
        a = less(a, d), b = more(b, d);
    }
    IW_DEVICE static constexpr bool skips(int k) { return C == 4 && k % 4 == 3; }
    template <int L>
    IW_DEVICE static uint32_t value(const uint32_t (&w)[L], int k) {
        return __byte_perm(__byte_perm(w[k / 4], w[k / 4 + 1], 0x0400 + k % 4 * 0x0101), 0x44, 0x4240);
    }
    IW_DEVICE static void words(const uint32_t (&v)[VALUES], uint32_t (&w)[WORDS]) {
        const uint32_t a = __byte_perm(v[0], v[1], 0x6240), b = __byte_perm(v[2], v[3], 0x6240);
        w[0] = __byte_perm(a, b, 0x5410), w[1] = __byte_perm(a, b, 0x7632);
    }
    IW_DEVICE static void pack(const uint32_t (&v)[N], uint32_t (&w)[WORDS]) {
#pragma unroll
        for (int k = 0; k < WORDS; ++k) w[k] = pack(v[4 * k], v[4 * k + 1], v[4 * k + 2], v[4 * k + 3]);
    }
    IW_DEVICE static uint32_t pack(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
        return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
    }
    IW_DEVICE static void write(const Image& im, int s, uint64_t row, bool vector, const uint32_t (&w)[WORDS]) {
        uint32_t a = w[0], b = w[1];
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
    IW_DEVICE static float sample(const uint32_t (&w)[L], int k) {
        return __uint_as_float(__byte_perm(w[k / 4], 0x4b000000, 0x7440 + k % 4)) - 8388608.0f;
    }
};
