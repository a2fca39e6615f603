// Elimination of square matrices, with right-hand sides beside them: element (i, j) loses l(i, k) u(k, j) in ascending k, each by one fused step, and below
// the diagonal it is divided by the pivot. A team of threads has a system: in shared memory, or in memory. Whoever has right-hand sides substitutes
// backwards, in descending k. cholesky: the same for lower triangles, in shared memory.
#include "solve.cuh"

extern __shared__ double all_of_shared[];

namespace {

struct Team {
    uint32_t row_lanes, column_lanes, size, index, own, system;
    bool there;

    IW_DEVICE Team(uint32_t lanes, uint32_t batch) {
        row_lanes = lanes & 0xffffu;
        column_lanes = lanes >> 16;
        size = row_lanes * column_lanes;
        index = threadIdx.x / size;
        own = threadIdx.x % size;
        const uint64_t at = (uint64_t)blockIdx.x * (THREADS / size) + index;
        there = at < batch;
        system = there ? (uint32_t)at : batch - 1;
    }
};

// Teams above a warp meet with all of the block; those of a block have one number of steps.
template <class T, bool MEMORY>
IW_DEVICE void eliminate(const Args& args) {
    using namespace params::eliminate;
    using N = Num<T>;
    using Bits = typename N::Bits;
    __shared__ Bits keys[THREADS / WARP];
    __shared__ uint32_t places[THREADS / WARP];
    __shared__ uint32_t orders[MEMORY ? 1 : THREADS];
    const uint32_t *const u = args.u, rows = u[ROWS], n = u[PIVOTS], columns = u[COLUMNS], pitch = u[PITCH];
    const uint32_t pivoting = u[PIVOTING] & 1, full = u[PIVOTING] >> 1 & 1, identity = u[PIVOTING] >> 2 & 1;
    const Team team(u[LANES], u[BATCH]);
    const uint32_t own = team.own, size = team.size, row_lanes = team.row_lanes, column_lanes = team.column_lanes, rights = columns - n;
    const uint32_t i0 = MEMORY ? own / column_lanes : own % row_lanes, j0 = MEMORY ? own % column_lanes : own / row_lanes;
    T* const x = (T*)args.out[0];
    T* const a = MEMORY ? x + (uint64_t)team.system * rows * pitch : (T*)all_of_shared + team.index * rows * pitch;
    uint32_t* const perm = (uint32_t*)args.out[2];
    uint32_t* const order = MEMORY ? perm + (uint64_t)team.system * rows : orders + team.index * rows;
    uint32_t* const states = (uint32_t*)args.out[3];
    T* const y = (T*)args.out[1];
    uint32_t status = 0;
    T det = 1;
    for (uint32_t i = own; i < rows; i += size) order[i] = i;
    const T* const from = (const T*)args.in[0].ptr + (uint64_t)team.system * u[A_BATCH];
    for (uint32_t i = own / row_lanes; i < rows; i += column_lanes)
        for (uint32_t j = own % row_lanes; j < n; j += row_lanes) a[i * pitch + j] = from[i * u[A_ROW] + j * u[A_COLUMN]];
    const T* const right = (const T*)args.in[1].ptr + (uint64_t)team.system * u[B_BATCH];
    for (uint32_t e = own; e < rows * rights; e += size) {
        const uint32_t i = e / rights, j = e % rights;
        a[i * pitch + n + j] = identity ? (T)(i == j ? 1 : 0) : right[i * u[B_ROW] + j * u[B_COLUMN]];
    }
    meet(size);

#pragma unroll 1
    for (uint32_t k = 0; k < n; ++k) {
        uint32_t p = k;
        if (pivoting) {
            Bits best = 0;
            uint32_t place = NOWHERE;
            const uint32_t last = full ? n : k + 1, down = full ? row_lanes : size, right = full ? column_lanes : 1;
#pragma unroll 1
            for (uint32_t i = k + (full ? i0 : own); i < rows; i += down)
#pragma unroll 1
                for (uint32_t j = k + (full ? j0 : 0); j < last; j += right) {
                    const Bits found = key(a[i * pitch + j]);
                    if (place == NOWHERE || found > best) {
                        best = found;
                        place = full ? i * n + j : i;
                    }
                }
#pragma unroll 1
            for (uint32_t step = min(size, (uint32_t)WARP) / 2; step > 0; step /= 2) {
                const Bits other = __shfl_xor_sync(ALL_LANES, best, step);
                const uint32_t at = __shfl_xor_sync(ALL_LANES, place, step);
                if (other > best || (other == best && at < place)) {
                    best = other;
                    place = at;
                }
            }
            if (size > WARP) {
                if (lane_id() == 0) {
                    keys[warp_id()] = best;
                    places[warp_id()] = place;
                }
                __syncthreads();
                const uint32_t warps = size / WARP;
                for (uint32_t w = 0; w < warps; ++w) {
                    const Bits other = keys[team.index * warps + w];
                    const uint32_t at = places[team.index * warps + w];
                    if (other > best || (other == best && at < place)) {
                        best = other;
                        place = at;
                    }
                }
            }
            p = full ? place / n : place;
            if (full) {
                const uint32_t q = place % n;
                meet(size);
                if (q != k) {
                    for (uint32_t i = own; i < rows; i += size) {
                        const T v = a[i * pitch + k];
                        a[i * pitch + k] = a[i * pitch + q];
                        a[i * pitch + q] = v;
                    }
                    if (own == 0) {
                        const uint32_t v = order[k];
                        order[k] = order[q];
                        order[q] = v;
                    }
                }
            }
            meet(size);
            if (p != k) {
                for (uint32_t j = own; j < columns; j += size) {
                    const T v = a[k * pitch + j];
                    a[k * pitch + j] = a[p * pitch + j];
                    a[p * pitch + j] = v;
                }
                if (!full && own == 0) {
                    const uint32_t v = order[k];
                    order[k] = order[p];
                    order[p] = v;
                }
            }
            meet(size);
        }
        const T pivot = a[k * pitch + k];
        const Bits found = key(pivot);
        if (status == 0) {
            det = N::mul(p != k ? -det : det, pivot);
            if (found == 0 || found >= N::INFINITE) {
                status = k + 1;
                det = found == 0 ? (T)0 : N::nan();
            }
        }
        if (found != 0)
            for (uint32_t i = k + 1 + own; i < rows; i += size) a[i * pitch + k] = N::div(a[i * pitch + k], pivot);
        meet(size);
#pragma unroll 1
        for (uint32_t i = k + 1 + i0; i < rows; i += row_lanes) {
            T* const row = a + i * pitch;
            const T l = row[k];
#pragma unroll 4
            for (uint32_t j = k + 1 + j0; j < columns; j += column_lanes) row[j] = N::minus(l, a[k * pitch + j], row[j]);
        }
        meet(size);
    }

#pragma unroll 1
    for (uint32_t left = rights > 0 ? n : 0; left > 0; --left) {
        const uint32_t k = left - 1;
        const T pivot = a[k * pitch + k];
        for (uint32_t j = own; j < rights; j += size) a[k * pitch + n + j] = N::div(a[k * pitch + n + j], pivot);
        meet(size);
        for (uint32_t i = i0; i < k; i += row_lanes) {
            const T l = a[i * pitch + k];
            for (uint32_t j = n + j0; j < columns; j += column_lanes) a[i * pitch + j] = N::minus(l, a[k * pitch + j], a[i * pitch + j]);
        }
        meet(size);
    }
    if (!team.there) return;
    for (uint32_t e = own; e < rows * rights; e += size) {
        const uint32_t i = e / rights, j = e % rights, to = full ? order[i] : i;
        y[((uint64_t)team.system * rows + to) * rights + j] = status ? N::nan() : canonical(a[i * pitch + n + j]);
    }
    if (!MEMORY && x) {
        for (uint32_t i = own / row_lanes; i < rows; i += column_lanes)
            for (uint32_t j = own % row_lanes; j < n; j += row_lanes)
                x[((uint64_t)team.system * rows + i) * n + j] = canonical(a[i * pitch + j]);
        for (uint32_t i = own; i < rows; i += size) perm[(uint64_t)team.system * rows + i] = order[i];
    }
    if (team.there && own == 0) {
        if (states) states[team.system] = status;
        if (rights == 0 && y) y[team.system] = canonical(det);
    }
}

template <class T>
IW_DEVICE void cholesky(const Args& args) {
    using namespace params::cholesky;
    using N = Num<T>;
    using Bits = typename N::Bits;
    const uint32_t *const u = args.u, n = u[SIDE], pitch = n | 1;
    const Team team(u[LANES], u[BATCH]);
    const uint32_t own = team.own, size = team.size, row_lanes = team.row_lanes, column_lanes = team.column_lanes;
    const uint32_t i0 = own % row_lanes, j0 = own / row_lanes;
    T* const space = (T*)all_of_shared + team.index * n * pitch;
    T* const to = (T*)args.out[0] + (uint64_t)team.system * u[PITCH] * u[PITCH] + (uint64_t)u[FIRST] * (u[PITCH] + 1);
    uint32_t* const states = (uint32_t*)args.out[1];
    // A matrix of its own, or a block where the result goes.
    const bool apart = args.in[0].ptr != 0;
    const T* const from = apart ? (const T*)args.in[0].ptr + (uint64_t)team.system * u[A_BATCH] : to;
    const uint32_t a_row = apart ? u[A_ROW] : u[PITCH], a_column = apart ? u[A_COLUMN] : 1;
    uint32_t status = u[FIRST] > 0 ? states[team.system] : 0;
    for (uint32_t i = own / row_lanes; i < n; i += column_lanes)
        for (uint32_t j = own % row_lanes; j <= i; j += row_lanes) space[i * pitch + j] = from[(uint64_t)i * a_row + (uint64_t)j * a_column];
    meet(size);
#pragma unroll 1
    for (uint32_t k = 0; k < n; ++k) {
        const T v = space[k * pitch + k];
        const Bits word = N::bits(v);
        const bool sound = word > 0 && word < N::INFINITE;
        if (status == 0 && !sound) status = u[FIRST] + k + 1;
        const T d = sound ? N::root(v) : N::nan();
        for (uint32_t i = k + 1 + own; i < n; i += size) space[i * pitch + k] = N::div(space[i * pitch + k], d);
        meet(size);
        if (own == 0) space[k * pitch + k] = d;
#pragma unroll 1
        for (uint32_t i = k + 1 + i0; i < n; i += row_lanes) {
            const T l = space[i * pitch + k];
            for (uint32_t j = k + 1 + j0; j <= i; j += column_lanes)
                space[i * pitch + j] = N::minus(l, space[j * pitch + k], space[i * pitch + j]);
        }
        meet(size);
    }
    if (!team.there) return;
    for (uint32_t i = own / row_lanes; i < n; i += column_lanes)
        for (uint32_t j = own % row_lanes; j < n; j += row_lanes)
            if (j <= i || apart) to[(uint64_t)i * u[PITCH] + j] = j <= i ? canonical(space[i * pitch + j]) : (T)0;
    if (own == 0) states[team.system] = status;
}

}  // namespace

IW_KERNEL(THREADS) eliminate_shared_f32(const __grid_constant__ Args args) { eliminate<float, false>(args); }
IW_KERNEL(THREADS) eliminate_shared_f64(const __grid_constant__ Args args) { eliminate<double, false>(args); }
IW_KERNEL(THREADS) eliminate_memory_f32(const __grid_constant__ Args args) { eliminate<float, true>(args); }
IW_KERNEL(THREADS) eliminate_memory_f64(const __grid_constant__ Args args) { eliminate<double, true>(args); }
IW_KERNEL(THREADS) cholesky_f32(const __grid_constant__ Args args) { cholesky<float>(args); }
IW_KERNEL(THREADS) cholesky_f64(const __grid_constant__ Args args) { cholesky<double>(args); }
