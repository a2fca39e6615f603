// Arithmetic of solves: each operation rounded once, and what pivots are compared by.
#pragma once
#include "iw.cuh"
#include "params.cuh"

constexpr int THREADS = 256;
constexpr uint32_t NOWHERE = 0xffffffffu;

template <class T>
struct Num;

template <>
struct Num<float> {
    using Bits = uint32_t;
    static constexpr Bits INFINITE = 0x7f800000u, SIGN = 0x80000000u;
    // c - a b.
    IW_DEVICE static float minus(float a, float b, float c) { return __fmaf_rn(-a, b, c); }
    IW_DEVICE static float fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
    IW_DEVICE static float mul(float a, float b) { return __fmul_rn(a, b); }
    IW_DEVICE static float div(float a, float b) { return __fdiv_rn(a, b); }
    IW_DEVICE static float root(float a) { return __fsqrt_rn(a); }
    IW_DEVICE static Bits bits(float a) { return __float_as_uint(a); }
    IW_DEVICE static float nan() { return __uint_as_float(0x7fc00000u); }
};

template <>
struct Num<double> {
    using Bits = uint64_t;
    static constexpr Bits INFINITE = 0x7ff0000000000000ull, SIGN = 0x8000000000000000ull;
    IW_DEVICE static double minus(double a, double b, double c) { return __fma_rn(-a, b, c); }
    IW_DEVICE static double fma(double a, double b, double c) { return __fma_rn(a, b, c); }
    IW_DEVICE static double mul(double a, double b) { return __dmul_rn(a, b); }
    IW_DEVICE static double div(double a, double b) { return __ddiv_rn(a, b); }
    IW_DEVICE static double root(double a) { return __dsqrt_rn(a); }
    IW_DEVICE static Bits bits(double a) { return (uint64_t)__double_as_longlong(a); }
    IW_DEVICE static double nan() { return __longlong_as_double(0x7ff8000000000000ll); }
};

template <class T>
IW_DEVICE T canonical(T v) {
    return v == v ? v : Num<T>::nan();
}

// Magnitudes as integers, all NaN equal and above infinity.
template <class T>
IW_DEVICE typename Num<T>::Bits key(T v) {
    const typename Num<T>::Bits size = Num<T>::bits(v) & ~Num<T>::SIGN, infinite = Num<T>::INFINITE;
    return size > infinite ? infinite + 1 : size;
}

// Four neighbours of shared memory at once.
IW_DEVICE void read4(float* x, const float* at) {
    const float4 v = *(const float4*)at;
    x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = v.w;
}
IW_DEVICE void read4(double* x, const double* at) {
    const double2 v = *(const double2*)at, w = *(const double2*)(at + 2);
    x[0] = v.x, x[1] = v.y, x[2] = w.x, x[3] = w.y;
}

// A team of threads that are lanes of one warp, or a whole block, meets.
IW_DEVICE void meet(uint32_t size) {
    if (size <= WARP) __syncwarp();
    else __syncthreads();
}
