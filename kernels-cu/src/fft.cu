// Some levels of transforms of pairs of floats (real, imaginary), in shared memory: radices 4, 2, 3, 5 and 7 in Stockham's form, every product and sum rounded
// by itself. A block takes u[COLUMNS] lines of u[POINTS] points that lie u[STRIDE] apart, and are written in the order of the levels up to these.
// The table has the turn of point j of a butterfly at place k after l points at j l + k, and 1 / n in its first entry.
#include "iw.cuh"
#include "params.cuh"

using namespace params::fft;

constexpr int THREADS = kernels::Fft::THREADS;

template <class T>
struct Num;

template <>
struct Num<float> {
    static constexpr int CAPACITY = 3072;
    IW_DEVICE static float add(float a, float b) { return __fadd_rn(a, b); }
    IW_DEVICE static float sub(float a, float b) { return __fsub_rn(a, b); }
    IW_DEVICE static float mul(float a, float b) { return __fmul_rn(a, b); }
    IW_DEVICE static float canonical(float x) { return x == x ? x : __uint_as_float(0x7fc00000); }
};

template <>
struct Num<double> {
    static constexpr int CAPACITY = 1536;
    IW_DEVICE static double add(double a, double b) { return __dadd_rn(a, b); }
    IW_DEVICE static double sub(double a, double b) { return __dsub_rn(a, b); }
    IW_DEVICE static double mul(double a, double b) { return __dmul_rn(a, b); }
    IW_DEVICE static double canonical(double x) { return x == x ? x : __longlong_as_double(0x7ff8000000000000); }
};

template <class T>
struct alignas(2 * sizeof(T)) Pair {
    T x, y;
};

template <class T>
IW_DEVICE Pair<T> plus(Pair<T> a, Pair<T> b) {
    return {Num<T>::add(a.x, b.x), Num<T>::add(a.y, b.y)};
}
template <class T>
IW_DEVICE Pair<T> minus(Pair<T> a, Pair<T> b) {
    return {Num<T>::sub(a.x, b.x), Num<T>::sub(a.y, b.y)};
}
// a - i b, and a + i b.
template <class T>
IW_DEVICE Pair<T> minus_turned(Pair<T> a, Pair<T> b) {
    return {Num<T>::add(a.x, b.y), Num<T>::sub(a.y, b.x)};
}
template <class T>
IW_DEVICE Pair<T> plus_turned(Pair<T> a, Pair<T> b) {
    return {Num<T>::sub(a.x, b.y), Num<T>::add(a.y, b.x)};
}
template <class T>
IW_DEVICE Pair<T> scale(double c, Pair<T> a) {
    return {Num<T>::mul((T)c, a.x), Num<T>::mul((T)c, a.y)};
}
template <class T>
IW_DEVICE Pair<T> times(Pair<T> a, Pair<T> b) {
    using N = Num<T>;
    return {N::sub(N::mul(a.x, b.x), N::mul(a.y, b.y)), N::add(N::mul(a.x, b.y), N::mul(a.y, b.x))};
}

// A butterfly in the registers of a thread.
template <class T>
IW_DEVICE void butterfly(Pair<T> (&x)[2]) {
    const Pair<T> a = x[0], b = x[1];
    x[0] = plus(a, b);
    x[1] = minus(a, b);
}
template <class T>
IW_DEVICE void butterfly(Pair<T> (&x)[3]) {
    const Pair<T> s = plus(x[1], x[2]), m = plus(x[0], scale(-0.5, s)), e = scale(0.8660254037844386, minus(x[1], x[2]));
    x[0] = plus(x[0], s);
    x[1] = minus_turned(m, e);
    x[2] = plus_turned(m, e);
}
template <class T>
IW_DEVICE void butterfly(Pair<T> (&x)[4]) {
    const Pair<T> s = plus(x[0], x[2]), d = minus(x[0], x[2]), t = plus(x[1], x[3]), e = minus(x[1], x[3]);
    x[0] = plus(s, t);
    x[1] = minus_turned(d, e);
    x[2] = minus(s, t);
    x[3] = plus_turned(d, e);
}
template <class T>
IW_DEVICE void butterfly(Pair<T> (&x)[5]) {
    constexpr double C1 = 0.30901699437494745, C2 = -0.8090169943749475, S1 = 0.9510565162951535, S2 = 0.5877852522924731;
    const Pair<T> s1 = plus(x[1], x[4]), d1 = minus(x[1], x[4]), s2 = plus(x[2], x[3]), d2 = minus(x[2], x[3]);
    const Pair<T> m1 = plus(plus(x[0], scale(C1, s1)), scale(C2, s2)), m2 = plus(plus(x[0], scale(C2, s1)), scale(C1, s2));
    const Pair<T> e1 = plus(scale(S1, d1), scale(S2, d2)), e2 = minus(scale(S2, d1), scale(S1, d2));
    x[0] = plus(plus(x[0], s1), s2);
    x[1] = minus_turned(m1, e1);
    x[2] = minus_turned(m2, e2);
    x[3] = plus_turned(m2, e2);
    x[4] = plus_turned(m1, e1);
}
template <class T>
IW_DEVICE void butterfly(Pair<T> (&x)[7]) {
    constexpr double C1 = 0.6234898018587335, C2 = -0.2225209339563144, C3 = -0.9009688679024191;
    constexpr double S1 = 0.7818314824680298, S2 = 0.9749279121818236, S3 = 0.4338837391175581;
    const Pair<T> s1 = plus(x[1], x[6]), d1 = minus(x[1], x[6]), s2 = plus(x[2], x[5]), d2 = minus(x[2], x[5]);
    const Pair<T> s3 = plus(x[3], x[4]), d3 = minus(x[3], x[4]), x0 = x[0];
    const Pair<T> m1 = plus(plus(plus(x0, scale(C1, s1)), scale(C2, s2)), scale(C3, s3));
    const Pair<T> m2 = plus(plus(plus(x0, scale(C2, s1)), scale(C3, s2)), scale(C1, s3));
    const Pair<T> m3 = plus(plus(plus(x0, scale(C3, s1)), scale(C1, s2)), scale(C2, s3));
    const Pair<T> e1 = plus(plus(scale(S1, d1), scale(S2, d2)), scale(S3, d3));
    const Pair<T> e2 = minus(minus(scale(S2, d1), scale(S3, d2)), scale(S1, d3));
    const Pair<T> e3 = plus(minus(scale(S3, d1), scale(S1, d2)), scale(S2, d3));
    x[0] = plus(plus(plus(x0, s1), s2), s3);
    x[1] = minus_turned(m1, e1);
    x[2] = minus_turned(m2, e2);
    x[3] = minus_turned(m3, e3);
    x[4] = plus_turned(m3, e3);
    x[5] = plus_turned(m2, e2);
    x[6] = plus_turned(m1, e1);
}

// A pair of memory, at a multiple of its size or not.
template <class T>
IW_DEVICE Pair<T> load(const T* from, uint64_t i, bool paired) {
    if (paired) return ((const Pair<T>*)from)[i];
    return {from[2 * i], from[2 * i + 1]};
}

template <class T>
struct Block {
    const T* table;
    uint32_t points, pitch, columns, before, k0;
    bool rows, paired;

    // A level: l points are joined in these lines.
    template <int R>
    IW_DEVICE void level(const Pair<T>* from, Pair<T>* to, uint32_t l) const {
        const uint32_t each = points / R, joined = l * before;
#pragma unroll 1
        for (uint32_t b = threadIdx.x; b < each * columns; b += THREADS) {
            const uint32_t column = rows ? b / each : b % columns, i = rows ? b - column * each : b / columns;
            const uint32_t place = i % l, k = k0 + place * before;
            const Pair<T>* const base = from + column * pitch + i;
            Pair<T> x[R];
#pragma unroll
            for (int j = 0; j < R; ++j) x[j] = base[j * each];
            if (joined > 1) {
#pragma unroll
                for (int j = 1; j < R; ++j) x[j] = times(x[j], load(table, (uint64_t)j * joined + k, paired));
            }
            butterfly(x);
            Pair<T>* const out = to + column * pitch + (i - place) * R + place;
#pragma unroll
            for (int j = 0; j < R; ++j) out[j * l] = x[j];
        }
    }
};

template <class T>
IW_DEVICE void fft(const Args& args) {
    constexpr uint32_t CAPACITY = Num<T>::CAPACITY;
    __shared__ Pair<T> space[2 * CAPACITY];
    const uint32_t lane = threadIdx.x, points = args.u[POINTS], pitch = args.u[PITCH], columns = args.u[COLUMNS];
    const uint32_t stride = args.u[STRIDE], before = args.u[BEFORE], inner = args.u[INNER], swaps = args.u[SWAPS];
    const bool rows = stride == 1, paired = args.u[PAIRED];
    const T* const in = (const T*)args.in[0].ptr;
    const T* const table = (const T*)args.in[1].ptr;
    T* const to = (T*)args.out[0];

    // A thread has one line of those that lie apart, since their number divides that of threads.
    const uint32_t first = blockIdx.x * columns, there = min(columns, args.u[SUBS] - first), own = lane % columns;
    const uint32_t sub = first + min(own, there - 1), place = sub % stride, row = place % before;
    const uint64_t outer = (uint64_t)(sub / stride) * stride * points;
    const Block<T> block = {table, points, pitch, columns, before / inner, rows ? 0 : row / inner, rows, paired};

#pragma unroll 2
    for (uint32_t e = lane; e < points * columns; e += THREADS) {
        const uint32_t column = rows ? e / points : own, t = rows ? e - column * points : e / columns;
        const uint64_t at = rows ? (uint64_t)first * points + e : outer + place + (uint64_t)t * stride;
        Pair<T> x = {0, 0};
        if (column < there) x = load(in, at, paired);
        space[column * pitch + t] = swaps & 1 ? Pair<T>{x.y, x.x} : x;
    }
    __syncthreads();

    uint32_t source = 0, l = 1;
#pragma unroll 1
    for (uint32_t levels = args.u[LEVELS]; levels != 0; levels >>= 4) {
        const Pair<T>* const from = space + source;
        source = CAPACITY - source;
        const uint32_t radix = levels & 15;
        switch (radix) {
            case 4: block.template level<4>(from, space + source, l); break;
            case 2: block.template level<2>(from, space + source, l); break;
            case 3: block.template level<3>(from, space + source, l); break;
            case 5: block.template level<5>(from, space + source, l); break;
            default: block.template level<7>(from, space + source, l);
        }
        l *= radix;
        __syncthreads();
    }

    const bool whole = rows || before == 1;
    const uint64_t target = outer + (uint64_t)(place / before) * before * points + row;
    const T factor = swaps & 2 ? load(table, 0, paired).x : (T)1;
#pragma unroll 2
    for (uint32_t e = lane; e < points * columns; e += THREADS) {
        const uint32_t column = whole ? e / points : own, t = whole ? e - column * points : e / columns;
        Pair<T> x = space[source + column * pitch + t];
        if (column >= there) continue;
        if (swaps & 2) x = {Num<T>::mul(factor, x.y), Num<T>::mul(factor, x.x)};
        const uint64_t at = whole ? (uint64_t)first * points + e : target + (uint64_t)t * before;
        x = {Num<T>::canonical(x.x), Num<T>::canonical(x.y)};
        if (paired) ((Pair<T>*)to)[at] = x;
        else to[2 * at] = x.x, to[2 * at + 1] = x.y;
    }
}


// Levels of radix 4, and at most one of radix 2 after them, in registers: a thread has 16 points, and computes two levels of radix 4 at a time.
// Points are read from memory by the first stage and written by the last one, unless these are not neighbours in memory; between stages they lie in shared
// memory. Pairs lie at multiples of their size.
template <class T>
struct Two {
    static constexpr uint32_t POINTS_OF_TILE = sizeof(T) == 4 ? 4096 : 2048, ROOM = (POINTS_OF_TILE + 64) / 16 * 17;
    const Pair<T>* in;
    const Pair<T>* table;
    Pair<T>* out;
    Pair<T>* space;
    uint32_t points, pitch, columns, stride, before, earlier, first, there, swaps, k0;
    uint64_t own_source, own_target;
    bool rows;

    IW_DEVICE static uint32_t log2(uint32_t power) { return 31 - __clz(power); }
    // The place of a point in shared memory, where one in 17 is left out: threads write 16 neighbours each in the first stage, and meet in no bank.
    IW_DEVICE static uint32_t slot(uint32_t at) { return at + at / 16; }

    // The first point in memory of a line, and of its result. A thread has one line of those that lie apart, since their number divides that of threads.
    IW_DEVICE uint64_t source(uint32_t column) const { return rows ? (uint64_t)(first + column) * points : own_source; }
    IW_DEVICE uint64_t target(uint32_t column) const { return rows ? (uint64_t)(first + column) * points : own_target; }
    IW_DEVICE Pair<T> result(Pair<T> x, T factor) const {
        if (swaps & 2) x = {Num<T>::mul(factor, x.y), Num<T>::mul(factor, x.x)};
        return {Num<T>::canonical(x.x), Num<T>::canonical(x.y)};
    }

    // Level by level: results of 16 at t + 4 u are in x[4 t + u].
    template <int R>
    IW_DEVICE void join(Pair<T>* x, uint32_t joined, uint32_t k) const {
        if constexpr (R == 16) {
            Pair<T> w[3];
#pragma unroll
            for (int j = 1; j < 4; ++j) w[j - 1] = joined > 1 ? table[(uint64_t)j * joined + k] : Pair<T>{1, 0};
#pragma unroll
            for (int q = 0; q < 4; ++q) {
                Pair<T> y[4] = {x[q], x[q + 4], x[q + 8], x[q + 12]};
                if (joined > 1) {
#pragma unroll
                    for (int j = 1; j < 4; ++j) y[j] = times(y[j], w[j - 1]);
                }
                butterfly(y);
#pragma unroll
                for (int j = 0; j < 4; ++j) x[q + 4 * j] = y[j];
            }
#pragma unroll
            for (int q = 0; q < 4; ++q) {
                Pair<T> y[4] = {x[4 * q], x[4 * q + 1], x[4 * q + 2], x[4 * q + 3]};
#pragma unroll
                for (int j = 1; j < 4; ++j) y[j] = times(y[j], table[(uint64_t)(4 * j + q) * joined + k]);
                butterfly(y);
#pragma unroll
                for (int j = 0; j < 4; ++j) x[4 * q + j] = y[j];
            }
        } else {
            Pair<T> y[R];
#pragma unroll
            for (int j = 0; j < R; ++j) y[j] = x[j];
            if (joined > 1) {
#pragma unroll
                for (int j = 1; j < R; ++j) y[j] = times(y[j], table[(uint64_t)j * joined + k]);
            }
            butterfly(y);
#pragma unroll
            for (int j = 0; j < R; ++j) x[j] = y[j];
        }
    }

    // One stage: l points are joined in these lines. A radix of 4 alone is the first one and reads memory, one of 2 the last one and writes it, so that they
    // may take butterfly after butterfly; of 16 a thread has one, and all is read before anything is written.
    template <int R>
    IW_DEVICE void stage(uint32_t l, bool from_memory, bool to_memory, T factor) const {
        const uint32_t each = points / R, count = each * columns, shift = log2(rows ? each : columns);
        Pair<T> x[R];
#pragma unroll 1
        for (uint32_t b = threadIdx.x; b < (R == 16 ? THREADS : count); b += THREADS) {
            const uint32_t high = b >> shift, low = b - (high << shift);
            const uint32_t column = rows ? high : low, i = rows ? low : high, place = i & (l - 1);
            if (b < count) {
                const Pair<T>* const from = in + source(min(column, there - 1));
                if (from_memory) {
#pragma unroll
                    for (int j = 0; j < R; ++j) x[j] = from[(uint64_t)(i + j * each) * stride];
                    if (swaps & 1) {
#pragma unroll
                        for (int j = 0; j < R; ++j) x[j] = {x[j].y, x[j].x};
                    }
                } else {
#pragma unroll
                    for (int j = 0; j < R; ++j) x[j] = space[slot(column * pitch + i + j * each)];
                }
            }
            if (R == 16) __syncthreads();
            if (b >= count) break;
            join<R>(x, l * earlier, k0 + place * earlier);
            const uint32_t base = (i - place) * R + place;
            Pair<T>* const to = out + target(column);
            if (to_memory) {
                if (column >= there) continue;
#pragma unroll
                for (int j = 0; j < R; ++j) to[(uint64_t)(base + (R == 16 ? j / 4 + j % 4 * 4 : j) * l) * before] = result(x[j], factor);
            } else {
#pragma unroll
                for (int j = 0; j < R; ++j) space[slot(column * pitch + base + (R == 16 ? j / 4 + j % 4 * 4 : j) * l)] = x[j];
            }
        }
        __syncthreads();
    }
};

template <class T>
IW_DEVICE void fft_two(const Args& args) {
    __shared__ Pair<T> space[Two<T>::ROOM];
    const uint32_t columns = args.u[COLUMNS], first = blockIdx.x * columns, stride = args.u[STRIDE];
    const uint32_t points = args.u[POINTS], before = args.u[BEFORE], inner = args.u[INNER], there = min(columns, args.u[SUBS] - first);
    const bool rows = stride == 1;
    // Lines that are not there are the last one.
    const uint32_t sub = first + min(threadIdx.x % columns, there - 1), place = sub % stride;
    const uint64_t outer = (uint64_t)(sub / stride) * stride * points;
    const Two<T> two = {(const Pair<T>*)args.in[0].ptr,
                        (const Pair<T>*)args.in[1].ptr,
                        (Pair<T>*)args.out[0],
                        space,
                        points,
                        args.u[PITCH],
                        columns,
                        stride,
                        before,
                        before / inner,
                        first,
                        there,
                        args.u[SWAPS],
                        rows ? 0 : place % before / inner,
                        outer + place,
                        outer + (uint64_t)(place / before) * before * points + place % before,
                        rows};
    const T factor = two.swaps & 2 ? two.table[0].x : (T)1;
    // Neighbouring lines of a first pass are written one after the other.
    const bool by_lines = !rows && before == 1;
    uint32_t l = 1, levels = args.u[LEVELS];
    // Fours, and at most a two behind them: 4 has one bit, so that their number is that of bits.
    if (__popc(levels & 0x44444444) & 1) {
        levels >>= 4;
        two.template stage<4>(1, true, levels == 0 && !by_lines, factor);
        l = 4;
    }
#pragma unroll 1
    while (levels & 4) {
        levels >>= 8;
        two.template stage<16>(l, l == 1, levels == 0 && !by_lines, factor);
        l *= 16;
    }
    if (levels) two.template stage<2>(l, l == 1, true, factor);
    if (!by_lines) return;
    const uint32_t shift = Two<T>::log2(two.points);
#pragma unroll 2
    for (uint32_t e = threadIdx.x; e < two.there << shift; e += THREADS) {
        const uint32_t column = e >> shift, t = e - (column << shift);
        two.out[((uint64_t)first << shift) + e] = two.result(space[Two<T>::slot(column * two.pitch + t)], factor);
    }
}

IW_KERNEL(THREADS) fft_any_f32(const __grid_constant__ Args args) { fft<float>(args); }
IW_KERNEL(THREADS) fft_any_f64(const __grid_constant__ Args args) { fft<double>(args); }
IW_KERNEL(THREADS) fft_two_f32(const __grid_constant__ Args args) { fft_two<float>(args); }
IW_KERNEL(THREADS) fft_two_f64(const __grid_constant__ Args args) { fft_two<double>(args); }
