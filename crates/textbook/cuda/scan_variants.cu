// Scan, the textbooks' algorithms: y[i] combines x[0] .. x[i] (inclusive) or x[0] .. x[i-1] (exclusive), along one line.
// Order: tiles; inside a tile the algorithm's own; the tiles' totals are scanned in the same way in further launches, and
// y = combine(scanned total of the tile before, own). Kept for teaching: scan.cu is faster.
#include "iw.cuh"
#include "textbook.cuh"

using namespace params::scan_variant;

constexpr int THREADS = kernels::ScanVariant::THREADS;
constexpr uint32_t FROM_SCRATCH = 1, TOTALS = 2, FOLDED = 4, EXCLUSIVE = 8;

// One launch: COUNT elements of this level; behind the parameters what an exclusive scan starts with; scratch[0] the level's elements, unless they are
// the caller's; scratch[1] totals or prefixes, unless these are the caller's results; scratch[2] scanned totals of the level above. grid = tiles.
template <int W>
struct Level {
    const Args& args;
    uint32_t flags;
    uint64_t n, tile;

    IW_DEVICE explicit Level(const Args& a) : args(a), flags(a.u[FLAGS]), n(wide(a.u + COUNT)), tile(blockIdx.x) {}

    // Elements from n on are something: they are right of all that is stored.
    IW_DEVICE Acc<W> get1(uint64_t i) const {
        Acc<W> v = {};
        if (i < n) {
            if (flags & FROM_SCRATCH) v = ((const Acc<W>*)args.scratch[0])[i];
            else load1(v, i);
        }
        return v;
    }

    IW_DEVICE void get4(Acc<W> (&v)[4], uint64_t i) const {
        if (!(flags & FROM_SCRATCH) && i + 4 <= n) {
            load4(v, i);
            return;
        }
#pragma unroll
        for (int e = 0; e < 4; ++e) v[e] = get1(i + e);
    }

    IW_DEVICE void put_total(const Acc<W>& v) const { ((Acc<W>*)args.scratch[1])[tile] = v; }

    // Combines the sum before this tile with a prefix inside it.
    IW_DEVICE Acc<W> behind_fold(const Acc<W>& v) const {
        if ((flags & FOLDED) && tile > 0) return combine(((const Acc<W>*)args.scratch[2])[tile - 1], v);
        return v;
    }

    // Prefixes of a level of totals take the totals' place: this block alone reads them, and has.
    IW_DEVICE void put1(uint64_t i, const Acc<W>& v) const {
        if (flags & FROM_SCRATCH) {
            if (i < n) ((Acc<W>*)args.scratch[1])[i] = v;
            return;
        }
        if (flags & EXCLUSIVE) ++i;
        if (i < n) store1(i, v);
    }

    IW_DEVICE void put4(uint64_t i, const Acc<W> (&v)[4]) const {
        if (!(flags & (FROM_SCRATCH | EXCLUSIVE)) && i + 4 <= n) {
            store4(i, v);
            return;
        }
#pragma unroll
        for (int e = 0; e < 4; ++e) put1(i + e, v[e]);
    }

    IW_DEVICE void put_first() const {
        if (!(flags & EXCLUSIVE) || tile > 0 || threadIdx.x > 0) return;
        Acc<W> init;
#pragma unroll
        for (int k = 0; k < W; ++k) init.w[k] = args.u[WORDS + k];
        store1(0, init);
    }
};

// Kogge-Stone, a value to a lane. The halves of the slots take turns, so that nobody reads what is being written: a barrier to a step.
template <int W>
IW_DEVICE Acc<W> kogge_stone_lanes(Acc<W> (&slots)[2][THREADS], Acc<W> v) {
    int half = 0;
#pragma unroll 1
    for (int s = 1; s < THREADS; s *= 2, half ^= 1) {
        slots[half][threadIdx.x] = v;
        __syncthreads();
        if ((int)threadIdx.x >= s) v = combine(slots[half][threadIdx.x - s], v);
    }
    return v;
}

template <int W>
IW_DEVICE void kogge_stone(const Args& args) {
    __shared__ Acc<W> slots[2][THREADS];
    const Level<W> level(args);
    const uint64_t i = level.tile * THREADS + threadIdx.x;
    Acc<W> v = kogge_stone_lanes(slots, level.get1(i));
    if (level.flags & TOTALS) {
        if (threadIdx.x == THREADS - 1) level.put_total(v);
        return;
    }
    level.put_first();
    level.put1(i, level.behind_fold(v));
}

// Brent-Kung, two elements to a lane: a tree up, a tree down.
template <int W>
IW_DEVICE void brent_kung(const Args& args) {
    constexpr int TILE = 2 * THREADS;
    __shared__ Acc<W> slots[TILE];
    const Level<W> level(args);
    const int t = threadIdx.x;
    const uint64_t begin = level.tile * TILE;
    slots[t] = level.get1(begin + t);
    slots[THREADS + t] = level.get1(begin + THREADS + t);
#pragma unroll 1
    for (int s = 1; s < TILE; s *= 2) {
        __syncthreads();
        const int i = (t + 1) * 2 * s - 1;
        if (i < TILE) slots[i] = combine(slots[i - s], slots[i]);
    }
#pragma unroll 1
    for (int s = TILE / 4; s > 0; s /= 2) {
        __syncthreads();
        const int i = (t + 1) * 2 * s - 1;
        if (i + s < TILE) slots[i + s] = combine(slots[i], slots[i + s]);
    }
    __syncthreads();
    if (level.flags & TOTALS) {
        if (t == 0) level.put_total(slots[TILE - 1]);
        return;
    }
    level.put_first();
#pragma unroll 1
    for (int i = t; i < TILE; i += THREADS) level.put1(begin + i, level.behind_fold(slots[i]));
}

// Three phases, a section of four elements to a lane.
template <int W>
IW_DEVICE void coarsened(const Args& args) {
    __shared__ Acc<W> slots[2][THREADS];
    const Level<W> level(args);
    const int t = threadIdx.x;
    const uint64_t i = (level.tile * THREADS + t) * 4;
    Acc<W> x[4];
    level.get4(x, i);
#pragma unroll
    for (int e = 1; e < 4; ++e) x[e] = combine(x[e - 1], x[e]);
    x[3] = kogge_stone_lanes(slots, x[3]);
    if (level.flags & TOTALS) {
        if (t == THREADS - 1) level.put_total(x[3]);
        return;
    }
    // The last of the eight steps read the second half of the slots, so the first is free.
    slots[0][t] = x[3];
    __syncthreads();
    if (t > 0) {
        const Acc<W> left = slots[0][t - 1];
#pragma unroll
        for (int e = 0; e < 3; ++e) x[e] = combine(left, x[e]);
    }
#pragma unroll
    for (int e = 0; e < 4; ++e) x[e] = level.behind_fold(x[e]);
    level.put_first();
    level.put4(i, x);
}

#define SCAN_ENTRIES(W)                                                                                            \
    IW_KERNEL(THREADS) scan_kogge_stone_w##W(const __grid_constant__ Args args) { kogge_stone<W>(args); }          \
    IW_KERNEL(THREADS) scan_brent_kung_w##W(const __grid_constant__ Args args) { brent_kung<W>(args); }            \
    IW_KERNEL(THREADS) scan_coarsened_w##W(const __grid_constant__ Args args) { coarsened<W>(args); }

SCAN_ENTRIES(1)
SCAN_ENTRIES(2)
SCAN_ENTRIES(4)
