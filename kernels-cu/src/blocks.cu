// Parts of solves of matrices in memory, by blocks of the diagonal.
//   substitute: right-hand sides, a thread each, by a block of a triangle: x(i) loses t(i, k) x(k), k ascending or (backwards) descending, each by one fused
//               step, and is divided by the diagonal.
//   trail:      c(i, j) loses a(i, k) b(k, j) of a block's k in the same order.
//   arrange:    a matrix, or the identity, with its rows in another order, its lower triangle, or all of it.
//   swap_rows:  rows of what lies beside a panel.
//   check_diagonal: the first element of a diagonal that is zero, infinite or NaN.
#include "solve.cuh"

namespace {

template <class T>
IW_DEVICE void substitute(const Args& args) {
    using namespace params::substitute;
    using N = Num<T>;
    const uint32_t *const u = args.u, side = u[SIDE], columns = u[COLUMNS];
    const uint64_t thread = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (thread >= (uint64_t)u[BATCH] * columns) return;
    const uint32_t system = (uint32_t)(thread / columns), column = (uint32_t)(thread % columns);
    const bool backward = u[FORM] & 1, unit = u[FORM] & 2;
    T* const x = (T*)args.out[0] + (uint64_t)system * u[X_BATCH] + u[X_FIRST] + (uint64_t)column * u[X_COLUMN];
    const T* const t = (args.in[0].ptr ? (const T*)args.in[0].ptr : (const T*)args.out[0]) + (uint64_t)system * u[T_BATCH] + u[T_FIRST];
    const uint64_t t_row = u[T_ROW], t_column = u[T_COLUMN], x_row = u[X_ROW];
    const uint32_t* const states = (const uint32_t*)args.in[1].ptr;
    if (states && states[system]) {
        for (uint32_t i = 0; i < side; ++i) x[i * x_row] = N::nan();
        return;
    }
#pragma unroll 1
    for (uint32_t s = 0; s < side; ++s) {
        const uint32_t i = backward ? side - 1 - s : s;
        T v = x[i * x_row];
#pragma unroll 4
        for (uint32_t q = 0; q < s; ++q) {
            const uint32_t k = backward ? side - 1 - q : q;
            v = N::minus(t[i * t_row + k * t_column], x[k * x_row], v);
        }
        if (!unit) v = N::div(v, t[i * (t_row + t_column)]);
        x[i * x_row] = canonical(v);
    }
}

template <class T>
IW_DEVICE void trail(const Args& args) {
    using namespace params::trail;
    using N = Num<T>;
    constexpr uint32_t TILE = 64, TERMS_AT_ONCE = sizeof(T) == 8 ? 8 : 16;
    __shared__ T left[TERMS_AT_ONCE * TILE];
    __shared__ T right[TERMS_AT_ONCE * TILE];
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
    const uint64_t a_row = u[A_ROW], a_column = u[A_COLUMN], b_row = u[B_ROW], b_column = u[B_COLUMN], c_row = u[C_ROW], c_column = u[C_COLUMN];
    const uint32_t r0 = threadIdx.x / 16, c0 = threadIdx.x % 16;
    T sums[4][4];
#pragma unroll
    for (uint32_t e = 0; e < 16; ++e) {
        const uint32_t i = row + r0 + e / 4 * 16, j = column + c0 + e % 4 * 16;
        sums[e / 4][e % 4] = i < rows && j < columns ? c[i * c_row + j * c_column] : (T)0;
    }
#pragma unroll 1
    for (uint32_t start = 0; start < terms; start += TERMS_AT_ONCE) {
#pragma unroll 1
        for (uint32_t e = threadIdx.x; e < TERMS_AT_ONCE * TILE; e += THREADS) {
            // Neighbouring threads read what lies side by side.
            const bool by_terms = a_column == 1;
            const uint32_t ka = start + (by_terms ? e % TERMS_AT_ONCE : e / TILE), i = row + (by_terms ? e / TERMS_AT_ONCE : e % TILE);
            if (i < rows && ka < terms)
                left[(ka - start) * TILE + i - row] = a[i * a_row + (backward ? terms - 1 - ka : ka) * a_column];
            const uint32_t kb = start + e / TILE, j = column + e % TILE;
            if (j < columns && kb < terms) right[e] = b[(backward ? terms - 1 - kb : kb) * b_row + j * b_column];
        }
        __syncthreads();
        const uint32_t count = min(TERMS_AT_ONCE, terms - start);
#pragma unroll 2
        for (uint32_t s = 0; s < count; ++s) {
            T l[4], r[4];
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                l[e] = left[s * TILE + r0 + e * 16];
                r[e] = right[s * TILE + c0 + e * 16];
            }
#pragma unroll
            for (int e = 0; e < 16; ++e) sums[e / 4][e % 4] = N::minus(l[e / 4], r[e % 4], sums[e / 4][e % 4]);
        }
        __syncthreads();
    }
#pragma unroll
    for (uint32_t e = 0; e < 16; ++e) {
        const uint32_t i = row + r0 + e / 4 * 16, j = column + c0 + e % 4 * 16;
        if (i < rows && j < columns && (!lower || j <= i)) c[i * c_row + j * c_column] = canonical(sums[e / 4][e % 4]);
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
IW_DEVICE void swap_rows(const Args& args) {
    using namespace params::swap_rows;
    const uint32_t *const u = args.u, side = u[SIDE], first = u[FIRST], width = u[WIDTH], beside = side - width;
    const uint64_t thread = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (thread >= (uint64_t)u[BATCH] * beside) return;
    const uint32_t system = (uint32_t)(thread / beside), j = (uint32_t)(thread % beside);
    T* const x = (T*)args.out[0] + (uint64_t)system * side * side + (j >= first ? j + width : j);
    const uint32_t* const swaps = (const uint32_t*)args.scratch[0] + (uint64_t)system * width;
#pragma unroll 1
    for (uint32_t k = 0; k < width; ++k) {
        const uint64_t a = (uint64_t)(first + k) * side, b = (uint64_t)swaps[k] * side;
        if (a != b) {
            const T v = x[a];
            x[a] = x[b];
            x[b] = v;
        }
    }
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
IW_KERNEL(THREADS) swap_rows_f32(const __grid_constant__ Args args) { swap_rows<float>(args); }
IW_KERNEL(THREADS) swap_rows_f64(const __grid_constant__ Args args) { swap_rows<double>(args); }
IW_KERNEL(THREADS) check_diagonal_f32(const __grid_constant__ Args args) { check_diagonal<float>(args); }
IW_KERNEL(THREADS) check_diagonal_f64(const __grid_constant__ Args args) { check_diagonal<double>(args); }
