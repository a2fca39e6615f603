// Reduce, the rungs of the ladder: n elements in tiles of 256 lanes; a tile's result is one element of the next launch, until one is left.
// What does not exist is skipped; nothing is padded, so no identity is needed.
// Order: a lane combines its own elements, then a tree over the lanes; each rung says which. Kept for teaching: reduce.cu is faster.
#include "iw.cuh"
#include "textbook.cuh"

using namespace params::reduce_variant;

constexpr int THREADS = kernels::ReduceVariant::THREADS;
constexpr int WARPS = THREADS / WARP;
constexpr int SERIAL = 16;  // elements to a lane of the coarsened rungs
constexpr uint32_t FROM_SCRATCH = 1, TO_SCRATCH = 2;

// The caller's elements, through the load holes.
template <int W>
struct Elements {
    IW_DEVICE void get4(Acc<W> (&v)[4], uint64_t i) const { load4(v, i); }
    IW_DEVICE void get1(Acc<W>& v, uint64_t i) const { load1(v, i); }
};

// The results of the launch before.
template <int W>
struct Partials {
    const Acc<W>* p;
    IW_DEVICE void get4(Acc<W> (&v)[4], uint64_t i) const {
#pragma unroll
        for (int e = 0; e < 4; ++e) v[e] = p[i + e];
    }
    IW_DEVICE void get1(Acc<W>& v, uint64_t i) const { v = p[i]; }
};

template <int W>
IW_DEVICE void put(const Args& args, uint64_t i, const Acc<W>& v) {
    if (args.u[FLAGS] & TO_SCRATCH) ((Acc<W>*)args.scratch[1])[i] = v;
    else finish(i, v);
}

// A lane's elements, 256 apart, from left to right: those of `first`, `first + 256`, ... that lie before `end`, N at most.
template <int W, int N, class Source>
IW_DEVICE Acc<W> own_row(const Source& src, uint64_t first, uint64_t end) {
    Acc<W> x[N];
    if (N > 1 && first + (N - 1) * THREADS < end) {
#pragma unroll
        for (int k = 0; k < N; ++k) src.get1(x[k], first + k * THREADS);
#pragma unroll
        for (int k = 1; k < N; ++k) x[0] = combine(x[0], x[k]);
        return x[0];
    }
    src.get1(x[0], first);
#pragma unroll 1
    for (uint64_t i = first + THREADS; i < end; i += THREADS) {
        Acc<W> next;
        src.get1(next, i);
        x[0] = combine(x[0], next);
    }
    return x[0];
}

// A lane's vectors, 1024 elements apart, component by component, then its components from left to right.
template <int W, class Source>
IW_DEVICE Acc<W> own_vectors(const Source& src, uint64_t first, uint64_t end) {
    constexpr int VECTORS = SERIAL / 4, STEP = 4 * THREADS;
    if (first + (VECTORS - 1) * STEP + 4 <= end) {
        Acc<W> q[VECTORS][4];
#pragma unroll
        for (int k = 0; k < VECTORS; ++k) src.get4(q[k], first + k * STEP);
#pragma unroll
        for (int k = 1; k < VECTORS; ++k)
#pragma unroll
            for (int e = 0; e < 4; ++e) q[0][e] = combine(q[0][e], q[k][e]);
        return combine(combine(combine(q[0][0], q[0][1]), q[0][2]), q[0][3]);
    }
    Acc<W> v = {};
#pragma unroll 1
    for (int e = 0; e < 4 && first + e < end; ++e) {
        Acc<W> x;
        src.get1(x, first + e);
#pragma unroll 1
        for (uint64_t i = first + e + STEP; i < end; i += STEP) {
            Acc<W> next;
            src.get1(next, i);
            x = combine(x, next);
        }
        v = e == 0 ? x : combine(v, x);
    }
    return v;
}

// The trees. Each takes the lanes' values, one to each of the first `lanes` threads; thread 0 leaves the result in slot 0.

// Neighbours first; every (2 s)th lane works.
template <int W>
IW_DEVICE void interleaved(Acc<W>* slots, const Acc<W>& v, int lanes) {
    const int t = threadIdx.x;
    slots[t] = v;
#pragma unroll 1
    for (int s = 1; s < THREADS; s *= 2) {
        __syncthreads();
        if (t % (2 * s) == 0 && t + s < lanes) slots[t] = combine(slots[t], slots[t + s]);
    }
}

// Neighbours first; the lowest lanes work.
template <int W>
IW_DEVICE void convergent(Acc<W>* slots, const Acc<W>& v, int lanes) {
    slots[threadIdx.x] = v;
#pragma unroll 1
    for (int s = 1; s < THREADS; s *= 2) {
        __syncthreads();
        const int i = 2 * s * threadIdx.x;
        if (i + s < lanes) slots[i] = combine(slots[i], slots[i + s]);
    }
}

// Far ones first; the lowest lanes work, on neighbouring slots.
template <int W>
IW_DEVICE void sequential(Acc<W>* slots, const Acc<W>& v, int lanes) {
    const int t = threadIdx.x;
    slots[t] = v;
#pragma unroll 1
    for (int s = THREADS / 2; s > 0; s /= 2) {
        __syncthreads();
        if (t < s && t + s < lanes) slots[t] = combine(slots[t], slots[t + s]);
    }
}

// The same, written out; a warp's own steps wait for that warp only. The guards stay: since Volta the lanes of a warp do not run in lock step.
template <int W>
IW_DEVICE void unrolled(Acc<W>* slots, const Acc<W>& v, int lanes) {
    const int t = threadIdx.x;
    slots[t] = v;
#pragma unroll
    for (int s = THREADS / 2; s >= 2 * WARP; s /= 2) {
        __syncthreads();
        if (t < s && t + s < lanes) slots[t] = combine(slots[t], slots[t + s]);
    }
    __syncthreads();
    if (t < WARP) {
#pragma unroll
        for (int s = WARP; s > 0; s /= 2) {
            if (t < s && t + s < lanes) slots[t] = combine(slots[t], slots[t + s]);
            __syncwarp();
        }
    }
}

// Inside warps by shuffles, then over the warps. Every lane of a warp takes part in a shuffle; only the combination is guarded.
template <int W>
IW_DEVICE void shuffled(Acc<W>* slots, Acc<W> v, int lanes) {
#pragma unroll
    for (int s = WARP / 2; s > 0; s /= 2) {
        const Acc<W> right = shuffle_down(v, s);
        if ((int)threadIdx.x + s < lanes) v = combine(v, right);
    }
    if (lane_id() == 0) slots[warp_id()] = v;
    __syncthreads();
    if (warp_id() == 0) {
        const int warps = (lanes + WARP - 1) / WARP;
        if (lane_id() < warps) v = slots[lane_id()];
#pragma unroll
        for (int s = WARPS / 2; s > 0; s /= 2) {
            const Acc<W> right = shuffle_down(v, s);
            if (lane_id() + s < warps) v = combine(v, right);
        }
        if (lane_id() == 0) slots[0] = v;
    }
}

enum class Rung { Interleaved, Convergent, Sequential, Unrolled, Shuffled, Vectorised };

template <int W, Rung R, int N, class Source>
IW_DEVICE void reduce_tile(const Args& args, const Source& src) {
    __shared__ Acc<W> slots[THREADS];
    const uint64_t n = wide(args.u + COUNT), begin = (uint64_t)blockIdx.x * (N * THREADS);
    const uint64_t end = n - begin < N * THREADS ? n : begin + N * THREADS;
    const uint64_t first = begin + (R == Rung::Vectorised ? 4 : 1) * threadIdx.x;
    const uint64_t taken = R == Rung::Vectorised ? (end - begin + 3) / 4 : end - begin;
    const int lanes = taken < THREADS ? (int)taken : THREADS;
    Acc<W> v = {};
    if ((int)threadIdx.x < lanes) {
        if (R == Rung::Vectorised) v = own_vectors<W>(src, first, end);
        else v = own_row<W, N>(src, first, end);
    }
    if (R == Rung::Interleaved) interleaved(slots, v, lanes);
    if (R == Rung::Convergent) convergent(slots, v, lanes);
    if (R == Rung::Sequential) sequential(slots, v, lanes);
    if (R == Rung::Unrolled) unrolled(slots, v, lanes);
    if (R == Rung::Shuffled || R == Rung::Vectorised) shuffled(slots, v, lanes);
    if (threadIdx.x == 0) put(args, blockIdx.x, slots[0]);
}

// COUNT elements of this level; scratch[0] the level's elements, unless they are the caller's; scratch[1] results, unless this is the
// last level. grid = tiles.
template <int W, Rung R, int N>
IW_DEVICE void reduce(const Args& args) {
    if (args.u[FLAGS] & FROM_SCRATCH) reduce_tile<W, R, N>(args, Partials<W>{(const Acc<W>*)args.scratch[0]});
    else reduce_tile<W, R, N>(args, Elements<W>{});
}

// Fold in half, a launch to a level: x[i] becomes combine(x[i], x[i + half]). u and scratch as above.
// grid = half / 256, rounded up.
template <int W>
IW_DEVICE void fold(const Args& args) {
    const uint64_t n = wide(args.u + COUNT), half = (n + 1) / 2, i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= half) return;
    const bool paired = i + half < n;
    Acc<W> v, right = {};
    if (args.u[FLAGS] & FROM_SCRATCH) {
        const Partials<W> partials{(const Acc<W>*)args.scratch[0]};
        partials.get1(v, i);
        if (paired) partials.get1(right, i + half);
    } else {
        load1(v, i);
        if (paired) load1(right, i + half);
    }
    if (paired) v = combine(v, right);
    put(args, i, v);
}

#define RUNG(name, W, R, N) \
    IW_KERNEL(THREADS) reduce_##name##_w##W(const __grid_constant__ Args args) { reduce<W, Rung::R, N>(args); }
#define RUNGS(W)                                                                                      \
    IW_KERNEL(THREADS) reduce_fold_w##W(const __grid_constant__ Args args) { fold<W>(args); }         \
    RUNG(interleaved, W, Interleaved, 1)                                                              \
    RUNG(convergent, W, Convergent, 1)                                                                \
    RUNG(sequential, W, Sequential, 1)                                                                \
    RUNG(first_combine, W, Sequential, 2)                                                             \
    RUNG(unrolled, W, Unrolled, 2)                                                                    \
    RUNG(coarsened, W, Sequential, SERIAL)                                                            \
    RUNG(shuffle, W, Shuffled, SERIAL)                                                                \
    RUNG(vectorised, W, Vectorised, SERIAL)

RUNGS(1)
RUNGS(2)
RUNGS(4)
