// Columns of matrices in memory, one block a matrix: element (i, j) loses l(i, k) u(k, j) in ascending k, each by one fused step, and below the diagonal it is
// divided by the pivot.
//   panel:     columns where they lie; it also gives where rows go, the determinant, and the status. Threads hold rows in registers: ACROSS columns of DOWN
//              rows each, every LANES-th one. A row has a position, and moves when it is stored. A panel of one column leaves its rows in memory.
//   swap_rows: rows of what lies beside a panel, to where the panel's went.
#include "solve.cuh"

namespace {

constexpr int LANES = kernels::Panel::THREADS, WARPS = LANES / WARP;
static_assert(WARPS == WARP, "a warp compares the candidates of all");

// The greatest magnitude so far, of equal ones the first.
template <class Bits>
struct Candidate {
    Bits size;
    uint32_t place;

    IW_DEVICE void meets(Bits other, uint32_t at) {
        const bool better = other > size || (other == size && at < place);
        size = better ? other : size;
        place = better ? at : place;
    }
    // Of a warp, and the lane that has it.
    IW_DEVICE uint32_t of_warp() {
        Bits most = size;
#pragma unroll (sizeof(Bits) == 4 ? 5 : 1)
        for (uint32_t step = WARP / 2; step > 0; step /= 2) {
            const Bits other = __shfl_xor_sync(ALL_LANES, most, step);
            most = other > most ? other : most;
        }
        // Seldom are there several.
        uint32_t at = size == most ? place : NOWHERE, lanes = __ballot_sync(ALL_LANES, size == most);
        if (lanes & (lanes - 1)) {
#pragma unroll 1
            for (uint32_t step = WARP / 2; step > 0; step /= 2) at = min(at, __shfl_xor_sync(ALL_LANES, at, step));
            lanes = __ballot_sync(ALL_LANES, size == most && place == at);
        }
        const uint32_t lane = __ffs(lanes) - 1;
        size = most;
        place = __shfl_sync(ALL_LANES, place, lane);
        return lane;
    }
};

// The determinant and the status of a matrix so far.
template <class T>
struct Product {
    T det;
    uint32_t status;

    IW_DEVICE Product(const Args& args, uint32_t first) : det(1), status(0) {
        if (first == 0) return;
        det = ((const T*)args.out[1])[blockIdx.x];
        status = ((const uint32_t*)args.out[3])[blockIdx.x];
    }
    IW_DEVICE void times(T pivot, typename Num<T>::Bits size, bool moved, uint32_t column) {
        if (status) return;
        det = Num<T>::mul(moved ? -det : det, pivot);
        if (size == 0 || size >= Num<T>::INFINITE) {
            status = column + 1;
            det = size == 0 ? (T)0 : Num<T>::nan();
        }
    }
    IW_DEVICE void store(const Args& args) const {
        ((T*)args.out[1])[blockIdx.x] = canonical(det);
        ((uint32_t*)args.out[3])[blockIdx.x] = status;
    }
};

// Sixteen bytes at once.
IW_DEVICE void read16(float* v, const float* at) {
    const float4 four = *(const float4*)at;
    v[0] = four.x, v[1] = four.y, v[2] = four.z, v[3] = four.w;
}
IW_DEVICE void read16(double* v, const double* at) {
    const double2 two = *(const double2*)at;
    v[0] = two.x, v[1] = two.y;
}
IW_DEVICE void write16(float* at, const float* v) { *(float4*)at = make_float4(v[0], v[1], v[2], v[3]); }
IW_DEVICE void write16(double* at, const double* v) { *(double2*)at = make_double2(v[0], v[1]); }

template <class T, uint32_t ACROSS, uint32_t DOWN>
IW_DEVICE void panel(const Args& args) {
    using namespace params::panel;
    using N = Num<T>;
    using Bits = typename N::Bits;
    constexpr uint32_t AT_ONCE = 16 / sizeof(T);
    // Candidates of warps, in turn, and the rows that pivots were in.
    __shared__ struct {
        alignas(16) T heads[2][WARPS][ACROSS];
        Bits sizes[2][WARPS];
        uint32_t places[2][WARPS], origins[2][WARPS], chosen[ACROSS];
    } all;
    const uint32_t *const u = args.u, rows = u[ROWS], side = u[SIDE], first = side - rows, thread = threadIdx.x;
    const bool pivoting = u[PIVOTING];
    T* const a = (T*)args.out[0] + ((uint64_t)blockIdx.x * side + first) * side + first;
    const bool vectors = ACROSS > AT_ONCE && side % AT_ONCE == 0 && (uint64_t)a % 16 == 0;
    Product<T> product(args, first);
    uint32_t* const order = (uint32_t*)args.out[2] + (uint64_t)blockIdx.x * side + first;
    if (first == 0)
#pragma unroll 1
        for (uint32_t i = thread; i < rows; i += LANES) order[i] = i;

    // Rows of the square alone get other positions, and they are the first rows of their threads. A position of NOWHERE: a row that is not there, or stored.
    T v[DOWN][ACROSS];
    uint32_t position[DOWN];
#pragma unroll
    for (uint32_t r = 0; r < DOWN; ++r) {
        const uint32_t i = r * LANES + thread;
        const T* const row = a + (uint64_t)i * side;
        position[r] = i < rows ? i : NOWHERE;
        if (i >= rows) continue;
        if (vectors) {
#pragma unroll
            for (uint32_t c = 0; c < ACROSS; c += AT_ONCE) read16(v[r] + c, row + c);
        } else {
#pragma unroll
            for (uint32_t c = 0; c < ACROSS; ++c) v[r][c] = row[c];
        }
    }

    // Warps without rows only wait.
    const bool busy = thread / WARP * WARP < rows;
    if (thread < 2 * WARPS) {
        all.sizes[thread / WARPS][thread % WARPS] = 0;
        all.places[thread / WARPS][thread % WARPS] = NOWHERE;
    }
    __syncthreads();
    // The first column is always the next one, and those that are finished follow the others: after k steps, (k + c) mod ACROSS is at c.
#pragma unroll 1
    for (uint32_t k = 0; k < ACROSS; ++k) {
        const uint32_t turn = k % 2;
        Candidate<Bits> best = {0, NOWHERE};
        if (busy) {
#pragma unroll
            for (uint32_t r = 0; r < DOWN; ++r) {
                const bool there = pivoting ? position[r] != NOWHERE : position[r] == k;
                best.meets(there ? key(v[r][0]) : 0, there ? position[r] : NOWHERE);
            }
            best.of_warp();
            if (lane_id() == 0) {
                all.sizes[turn][warp_id()] = best.size;
                all.places[turn][warp_id()] = best.place;
            }
#pragma unroll
            for (uint32_t r = 0; r < DOWN; ++r)
                if (best.place != NOWHERE && position[r] == best.place) {
                    all.origins[turn][warp_id()] = r * LANES + thread;
#pragma unroll
                    for (uint32_t c = 0; c < ACROSS; ++c) all.heads[turn][warp_id()][c] = v[r][c];
                }
        }
        __syncthreads();
        if (!busy) continue;
        best = {all.sizes[turn][lane_id()], all.places[turn][lane_id()]};
        const uint32_t warp = best.of_warp();
        const T* const head = all.heads[turn][warp];
        const T pivot = head[0];
        if (thread == 0) {
            product.times(pivot, best.size, best.place != k, first + k);
            all.chosen[k] = all.origins[turn][warp];
        }
        if (thread < ACROSS) a[(uint64_t)k * side + (thread + k) % ACROSS] = canonical(head[thread]);
#pragma unroll
        for (uint32_t r = 0; r < DOWN; ++r) {
            if (r * LANES + thread / WARP * WARP >= rows) break;
            position[r] = position[r] == best.place ? NOWHERE : r == 0 && position[r] == k ? best.place : position[r];
            const T l = best.size == 0 ? v[r][0] : N::div(v[r][0], pivot), less = -l;
#pragma unroll
            for (uint32_t c = 1; c < ACROSS; ++c) v[r][c - 1] = c < ACROSS - k ? N::fma(less, head[c], v[r][c]) : v[r][c];
            v[r][ACROSS - 1] = canonical(l);
        }
    }
    if (thread == 0) product.store(args);

    uint32_t* const sources = (uint32_t*)args.scratch[0] + (uint64_t)blockIdx.x * 2 * ACROSS;
    uint32_t above = 0, own = 0;
    __syncthreads();
    if (thread < ACROSS) {
        above = order[all.chosen[thread]];
        own = order[thread];
        sources[thread] = first + all.chosen[thread];
        sources[ACROSS + thread] = position[0] == NOWHERE ? NOWHERE : first + position[0];
    }
    __syncthreads();
    if (thread < ACROSS) {
        order[thread] = above;
        if (position[0] != NOWHERE) order[position[0]] = own;
    }
    // Multipliers are left.
#pragma unroll
    for (uint32_t r = 0; r < DOWN; ++r) {
        if (position[r] == NOWHERE) continue;
        T* const row = a + (uint64_t)position[r] * side;
        if (vectors) {
#pragma unroll
            for (uint32_t c = 0; c < ACROSS; c += AT_ONCE) write16(row + c, v[r] + c);
        } else {
#pragma unroll
            for (uint32_t c = 0; c < ACROSS; ++c) row[c] = v[r][c];
        }
    }
}

// Of a column alone.
template <class T>
IW_DEVICE void column(const Args& args) {
    using namespace params::panel;
    using N = Num<T>;
    using Bits = typename N::Bits;
    __shared__ Bits sizes[WARPS];
    __shared__ uint32_t places[WARPS];
    const uint32_t *const u = args.u, rows = u[ROWS], side = u[SIDE], first = side - rows, thread = threadIdx.x;
    T* const a = (T*)args.out[0] + ((uint64_t)blockIdx.x * side + first) * side + first;
    uint32_t* const order = (uint32_t*)args.out[2] + (uint64_t)blockIdx.x * side + first;
    uint32_t* const sources = (uint32_t*)args.scratch[0] + (uint64_t)blockIdx.x * 2;
    Candidate<Bits> best = {0, NOWHERE};
#pragma unroll 1
    for (uint32_t i = thread; i < (u[PIVOTING] ? rows : 1); i += LANES) best.meets(key(a[(uint64_t)i * side]), i);
    best.of_warp();
    if (lane_id() == 0) {
        sizes[warp_id()] = best.size;
        places[warp_id()] = best.place;
    }
    __syncthreads();
    best = {sizes[lane_id()], places[lane_id()]};
    best.of_warp();
    const uint32_t p = best.place;
    const T top = a[0], pivot = a[(uint64_t)p * side];
    if (first == 0)
#pragma unroll 1
        for (uint32_t i = thread; i < rows; i += LANES) order[i] = i;
    __syncthreads();
#pragma unroll 1
    for (uint32_t i = thread; i < rows; i += LANES) {
        T& v = a[(uint64_t)i * side];
        const T old = i == p ? top : v;
        v = canonical(i == 0 ? pivot : best.size == 0 ? old : N::div(old, pivot));
    }
    if (thread == 0) {
        Product<T> product(args, first);
        product.times(pivot, best.size, p != 0, first);
        product.store(args);
        sources[0] = first + p;
        sources[1] = p == 0 ? NOWHERE : first + p;
        const uint32_t v = order[0];
        order[0] = order[p];
        order[p] = v;
    }
}

template <class T>
IW_DEVICE void swap_rows(const Args& args) {
    using namespace params::swap_rows;
    constexpr uint32_t MOST = 64, COLUMNS = 32, AT_ONCE = THREADS / COLUMNS;
    __shared__ T moved[MOST][COLUMNS];
    const uint32_t *const u = args.u, side = u[SIDE], first = u[FIRST], width = u[WIDTH], beside = side - width;
    const uint32_t parts = (beside + COLUMNS - 1) / COLUMNS, system = blockIdx.x / parts;
    const uint32_t lane = threadIdx.x % COLUMNS, line = threadIdx.x / COLUMNS, j = blockIdx.x % parts * COLUMNS + lane;
    T* const x = (T*)args.out[0] + (uint64_t)system * side * side + (j >= first ? j + width : j);
    const uint32_t* const sources = (const uint32_t*)args.scratch[0] + (uint64_t)system * 2 * width;
#pragma unroll 1
    for (uint32_t m = line; m < 2 * width; m += AT_ONCE)
        if (j < beside && sources[m] != NOWHERE) moved[m][lane] = x[(uint64_t)(m < width ? sources[m] : first + m - width) * side];
    __syncthreads();
#pragma unroll 1
    for (uint32_t m = line; m < 2 * width; m += AT_ONCE)
        if (j < beside && sources[m] != NOWHERE) x[(uint64_t)(m < width ? first + m : sources[m]) * side] = moved[m][lane];
}

}  // namespace

IW_KERNEL(LANES) panel_32_f32(const __grid_constant__ Args args) { panel<float, 32, 1>(args); }
IW_KERNEL(LANES) panel_8_f32(const __grid_constant__ Args args) { panel<float, 8, 4>(args); }
IW_KERNEL(LANES) panel_1_f32(const __grid_constant__ Args args) { column<float>(args); }
IW_KERNEL(THREADS) swap_rows_f32(const __grid_constant__ Args args) { swap_rows<float>(args); }
IW_KERNEL(LANES) panel_4_f64(const __grid_constant__ Args args) { panel<double, 4, 4>(args); }
IW_KERNEL(LANES) panel_1_f64(const __grid_constant__ Args args) { column<double>(args); }
IW_KERNEL(THREADS) swap_rows_f64(const __grid_constant__ Args args) { swap_rows<double>(args); }
