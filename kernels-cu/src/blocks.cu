// Parts of solves of matrices in memory, by blocks of the diagonal.
//   substitute: right-hand sides, a thread each, by a block of a triangle of up to 32 rows: x(i) loses t(i, k) x(k), k ascending or (backwards) descending,
//               each by one fused step, and is divided by the diagonal.
//   trail:      c(i, j) loses a(i, k) b(k, j) of a block's k in the same order.
//   arrange:    a matrix, or the identity, with its rows in another order, its lower triangle, or all of it.
//   check_diagonal: the first element of a diagonal that is zero, infinite or NaN.
#include "solve.cuh"

namespace {

template <class T>
IW_DEVICE void substitute(const Args& args) {
    using namespace params::substitute;
    using N = Num<T>;
    constexpr uint32_t SIDE_MAX = 32, COLUMNS_MAX = 64, STRETCH = 16;
    // Columns of the triangle from the diagonal on, in the order of the steps; right-hand sides, which are neighbours in memory along rows or columns.
    __shared__ __align__(16) T triangle[SIDE_MAX * SIDE_MAX];
    __shared__ T tile[SIDE_MAX][COLUMNS_MAX + 1];
    const uint32_t *const u = args.u, side = u[SIDE], thread = threadIdx.x;
    const uint32_t parts = (u[COLUMNS] + COLUMNS_MAX - 1) / COLUMNS_MAX, system = blockIdx.x / parts, column = blockIdx.x % parts * COLUMNS_MAX;
    const uint32_t count = min(COLUMNS_MAX, u[COLUMNS] - column);
    const bool backward = u[FORM] & 1, along = u[X_ROW] == 1;
    const int64_t turn = backward ? -1 : 1, last = backward ? side - 1 : 0, x_row = turn * u[X_ROW], t_row = turn * u[T_ROW], t_column = turn * u[T_COLUMN];
    // All threads bring elements: the first of each, and steps to its others.
    constexpr uint32_t EACH = SIDE_MAX * COLUMNS_MAX / THREADS, ROWS = THREADS / COLUMNS_MAX, LINES = THREADS / SIDE_MAX;
    const uint32_t s = along ? thread % SIDE_MAX : thread / COLUMNS_MAX, c = along ? thread / SIDE_MAX : thread % COLUMNS_MAX;
    const uint32_t more_s = along ? 0 : ROWS, more_c = along ? LINES : 0;
    T* const x = (T*)args.out[0] + (uint64_t)system * u[X_BATCH] + u[X_FIRST] + last * u[X_ROW] + (uint64_t)(column + c) * u[X_COLUMN] + s * x_row;
    const int64_t step = more_s * x_row + (int64_t)more_c * u[X_COLUMN];
    T* const own = &tile[s][c];
    const uint32_t own_step = more_s * (COLUMNS_MAX + 1) + more_c;
    auto there = [&](uint32_t e) { return s + e * more_s < side && c + e * more_c < count; };
    const uint32_t* const states = (const uint32_t*)args.in[1].ptr;
    const bool is_nan = states && states[system];
#pragma unroll
    for (uint32_t e = 0; e < EACH; ++e)
        if (there(e)) own[e * own_step] = x[e * step];
    const T* t = (args.in[0].ptr ? (const T*)args.in[0].ptr : (const T*)args.out[0]) + (uint64_t)system * u[T_BATCH] + u[T_FIRST];
    const uint32_t q = thread % SIDE_MAX, row = thread / SIDE_MAX, height = q < side ? side - q : 0;
    t += last * ((uint64_t)u[T_ROW] + u[T_COLUMN]) + row * t_row + q * t_column;
#pragma unroll
    for (uint32_t e = 0; e < SIDE_MAX; e += LINES)
        if (row + e - q < height) triangle[q * SIDE_MAX + row + e - q] = t[e * t_row];
    __syncthreads();
    if (thread < COLUMNS_MAX) {
        T v[SIDE_MAX];
#pragma unroll
        for (uint32_t s = 0; s < SIDE_MAX; ++s) v[s] = tile[s][thread];
        uint32_t unit = u[FORM] & 2;
        // The first row is always the next one.
#pragma unroll 1
        for (uint32_t k = 0; k < side; ++k) {
            const T* const of = triangle + k * SIDE_MAX;
            // A value that may change keeps the compiler from a loop for each.
            asm volatile("" : "+r"(unit));
            const T head = unit ? v[0] : N::div(v[0], *of), less = -head;
            tile[k][thread] = is_nan ? N::nan() : canonical(head);
#pragma unroll
            for (uint32_t start = 0; start < SIDE_MAX; start += STRETCH) {
                if (start >= side - k) break;
#pragma unroll
                for (uint32_t s = start; s < start + STRETCH; s += 4) {
                    T four[4];
                    read4(four, of + s);
#pragma unroll
                    for (uint32_t e = s == 0 ? 1 : 0; e < 4; ++e) v[s + e - 1] = N::fma(four[e], less, v[s + e]);
                }
            }
        }
    }
    __syncthreads();
#pragma unroll 2
    for (uint32_t e = 0; e < EACH; ++e)
        if (there(e)) x[e * step] = own[e * own_step];
}

// Elements of an operand of a trail on their way to shared memory: neighbouring threads read what lies side by side. Lines after the last, and terms, are zero.
template <class T>
struct From {
    static constexpr uint32_t TILE = 64, PITCH = TILE + 4, AT_ONCE = sizeof(T) == 8 ? 8 : 16, EACH = TILE * AT_ONCE / THREADS;
    const T* at;
    int64_t step, next;
    uint32_t k, i, more_k, more_i, first, more;

    IW_DEVICE From(const T* of, uint64_t line, int64_t term, bool by_terms, uint32_t start) {
        constexpr uint32_t LINES = THREADS / AT_ONCE, TERMS = THREADS / TILE;
        const uint32_t t = threadIdx.x;
        k = by_terms ? t % AT_ONCE : t / TILE, i = start + (by_terms ? t / AT_ONCE : t % TILE);
        more_k = by_terms ? 0 : TERMS, more_i = by_terms ? LINES : 0;
        first = k * PITCH + i - start, more = by_terms ? LINES : TERMS * PITCH;
        at = of + (int64_t)(i * line) + k * term;
        step = by_terms ? LINES * (int64_t)line : TERMS * term, next = AT_ONCE * term;
    }
    IW_DEVICE void bring(T (&to)[EACH], uint32_t lines, uint32_t end) {
#pragma unroll
        for (uint32_t e = 0; e < EACH; ++e) to[e] = i + e * more_i < lines && k + e * more_k < end ? at[e * step] : (T)0;
        at += next, k += AT_ONCE;
    }
    IW_DEVICE void put(T* to, const T (&v)[EACH]) const {
#pragma unroll
        for (uint32_t e = 0; e < EACH; ++e) to[first + e * more] = v[e];
    }
};

template <class T>
IW_DEVICE void trail(const Args& args) {
    using namespace params::trail;
    using N = Num<T>;
    constexpr uint32_t TILE = From<T>::TILE, PITCH = From<T>::PITCH, AT_ONCE = From<T>::AT_ONCE, EACH = From<T>::EACH;
    __shared__ __align__(16) T left[2][AT_ONCE * PITCH];
    __shared__ __align__(16) T right[2][AT_ONCE * PITCH];
    const uint32_t *const u = args.u, rows = u[ROWS], columns = u[COLUMNS], terms = u[TERMS];
    const uint32_t down = (rows + TILE - 1) / TILE, across = (columns + TILE - 1) / TILE;
    const uint32_t system = blockIdx.x / (down * across), tile = blockIdx.x % (down * across);
    const uint32_t row = tile / across * TILE, column = tile % across * TILE;
    const bool backward = u[FORM] & 1, lower = u[FORM] & 2;
    if (lower && column > row) return;
    T* const x = (T*)args.out[0] + (uint64_t)system * u[X_BATCH];
    const T* const a = (args.in[0].ptr ? (const T*)args.in[0].ptr + (uint64_t)system * u[A_BATCH] : x) + u[A_FIRST];
    const T* const b = x + u[B_FIRST];
    T* const c = x + u[C_FIRST];

    // Terms after the last are a(i, k) = b(k, j) = 0: c(i, j) + -0 is c(i, j).
    const int64_t turn = backward ? -1 : 1, last = backward ? terms - 1 : 0;
    From<T> from_a(a + last * u[A_COLUMN], u[A_ROW], turn * u[A_COLUMN], u[A_COLUMN] == 1, row);
    From<T> from_b(b + last * u[B_ROW], u[B_COLUMN], turn * u[B_ROW], u[B_ROW] == 1, column);

    const uint32_t r0 = threadIdx.x / 16 * 4, c0 = threadIdx.x % 16 * 4;
    const uint64_t c_row = u[C_ROW], c_column = u[C_COLUMN];
    T* corner = c + (row + r0) * c_row + (column + c0) * c_column;
    T sums[4][4];
    auto there = [&](uint32_t e) { return row + r0 + e / 4 < rows && column + c0 + e % 4 < columns; };
#pragma unroll
    for (uint32_t e = 0; e < 16; ++e) sums[e / 4][e % 4] = there(e) ? corner[e / 4 * c_row + e % 4 * c_column] : (T)0;
    T next_a[EACH], next_b[EACH];
    // Brings some terms, and computes with those before them.
#pragma unroll 1
    for (uint32_t start = 0, buffer = 0;; start += AT_ONCE, buffer ^= 1) {
        if (start < terms) {
            from_a.bring(next_a, rows, terms);
            from_b.bring(next_b, columns, terms);
        }
        if (start > 0) {
#pragma unroll (sizeof(T) == 8 ? 1 : 2)
            for (uint32_t s = 0; s < AT_ONCE; ++s) {
                T l[4], r[4];
                read4(l, left[buffer ^ 1] + s * PITCH + r0);
                read4(r, right[buffer ^ 1] + s * PITCH + c0);
#pragma unroll
                for (int e = 0; e < 16; ++e) sums[e / 4][e % 4] = N::minus(l[e / 4], r[e % 4], sums[e / 4][e % 4]);
            }
        }
        if (start >= terms) break;
        from_a.put(left[buffer], next_a);
        from_b.put(right[buffer], next_b);
        __syncthreads();
    }
    // Sixteen addresses are not kept in registers meanwhile.
    asm volatile("" : "+l"(corner));
#pragma unroll
    for (uint32_t e = 0; e < 16; ++e) {
        if (there(e) && (!lower || column + c0 + e % 4 <= row + r0 + e / 4)) corner[e / 4 * c_row + e % 4 * c_column] = canonical(sums[e / 4][e % 4]);
    }
}

template <class T>
IW_DEVICE void arrange(const Args& args) {
    using namespace params::arrange;
    const uint32_t *const u = args.u, rows = u[ROWS], columns = u[COLUMNS];
    const uint64_t thread = (uint64_t)blockIdx.x * THREADS + threadIdx.x, size = (uint64_t)rows * columns;
    if (thread >= u[BATCH] * size) return;
    const uint32_t system = (uint32_t)(thread / size), e = (uint32_t)(thread - system * size), i = e / columns, j = e % columns;
    const T* const a = (const T*)args.in[0].ptr;
    const uint32_t* const perm = (const uint32_t*)args.in[1].ptr;
    const uint32_t row = perm ? perm[(uint64_t)system * rows + i] : i;
    T v = row == j ? 1 : 0;
    if (a) v = canonical(a[(uint64_t)system * u[A_BATCH] + (uint64_t)row * u[A_ROW] + (uint64_t)j * u[A_COLUMN]]);
    if (u[LOWER] && j > i) v = 0;
    ((T*)args.out[0])[(uint64_t)system * u[X_BATCH] + (uint64_t)i * u[X_ROW] + (uint64_t)j * u[X_COLUMN]] = v;
}

template <class T>
IW_DEVICE void check_diagonal(const Args& args) {
    using namespace params::diagonal;
    __shared__ uint32_t places[THREADS];
    const uint32_t *const u = args.u;
    const T* const a = (const T*)args.in[0].ptr + (uint64_t)blockIdx.x * u[A_BATCH];
    uint32_t place = NOWHERE;
    for (uint32_t i = threadIdx.x; i < u[SIDE]; i += THREADS) {
        const typename Num<T>::Bits size = key(a[(uint64_t)i * u[A_STEP]]);
        if (size == 0 || size >= Num<T>::INFINITE) place = min(place, i);
    }
    places[threadIdx.x] = place;
    __syncthreads();
    for (uint32_t step = THREADS / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) places[threadIdx.x] = min(places[threadIdx.x], places[threadIdx.x + step]);
        __syncthreads();
    }
    if (threadIdx.x == 0) ((uint32_t*)args.out[0])[blockIdx.x] = places[0] + 1;
}

}  // namespace

IW_KERNEL(THREADS) substitute_f32(const __grid_constant__ Args args) { substitute<float>(args); }
IW_KERNEL(THREADS) substitute_f64(const __grid_constant__ Args args) { substitute<double>(args); }
IW_KERNEL(THREADS) trail_f32(const __grid_constant__ Args args) { trail<float>(args); }
IW_KERNEL(THREADS) trail_f64(const __grid_constant__ Args args) { trail<double>(args); }
IW_KERNEL(THREADS) arrange_f32(const __grid_constant__ Args args) { arrange<float>(args); }
IW_KERNEL(THREADS) arrange_f64(const __grid_constant__ Args args) { arrange<double>(args); }
IW_KERNEL(THREADS) check_diagonal_f32(const __grid_constant__ Args args) { check_diagonal<float>(args); }
IW_KERNEL(THREADS) check_diagonal_f64(const __grid_constant__ Args args) { check_diagonal<double>(args); }
