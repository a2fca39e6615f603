// Reduce: all n elements to one value (reduce_w*), or along one axis of an [outer, len, inner] array.
// Order: the aligned binary tree. Node (k, j) covers elements [j 2^k, (j+1) 2^k); a node whose right half lies past the
// end equals its left half; otherwise it is combine(left, right). Nothing is padded, so no identity is needed.
// Any power-of-two part of the tree may be walked by itself: lane, warp, pass and tile below are such parts.
#include "iw.cuh"

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / WARP;
constexpr int ROW = 4 * WARP;         // elements that a warp reads at once, 4 to a lane
constexpr int MAX_PASSES = 32;        // of one tile

// Rows in flight in a warp, and blocks that its registers leave room for on a multiprocessor.
template <int W>
constexpr int ROWS = W == 1 ? 8 : W == 2 ? 4 : 2;
template <int W>
constexpr int BLOCKS = W == 2 ? 5 : 4;
template <int W>
constexpr int CHUNK = ROWS<W> * ROW;  // a warp's part of one pass
template <int W>
constexpr int PASS = CHUNK<W> * WARPS;
template <int W>
constexpr int MAX_SLOTS = MAX_PASSES * WARPS;

// The caller's elements from `base` on, through the load holes; or partial results that other blocks of this launch left in scratch, read past
// this multiprocessor's L1. One type for both, chosen when it runs, so that the tree over them is compiled once.
template <int W>
struct Source {
    const uint32_t* partials;  // none: the caller's elements
    uint64_t base;
    bool aligned;  // base % 4 == 0
    IW_DEVICE static Source elements(uint64_t base, bool aligned) { return {nullptr, base, aligned}; }
    IW_DEVICE static Source scratch(const void* p) { return {(const uint32_t*)p, 0, true}; }

    // R rows of 4 elements to a lane.
    template <int R>
    IW_DEVICE void get_rows(Acc<W> (&x)[R][4], uint64_t i) const {
        if (partials) {
#pragma unroll
            for (int r = 0; r < R; ++r) partials4(x[r], i + r * ROW);
        } else {
#pragma unroll
            for (int r = 0; r < R; ++r) load4(x[r], base + i + r * ROW);
        }
    }
    IW_DEVICE void get4(Acc<W> (&v)[4], uint64_t i) const {
        if (partials) partials4(v, i);
        else load4(v, base + i);
    }
    IW_DEVICE void get1(Acc<W>& v, uint64_t i) const {
        if (!partials) {
            load1(v, base + i);
            return;
        }
#pragma unroll
        for (int k = 0; k < W; ++k) v.w[k] = __ldcg(partials + i * W + k);
    }

  private:
    IW_DEVICE void partials4(Acc<W> (&v)[4], uint64_t i) const {
        const uint4* q = (const uint4*)(partials + i * W);
        uint32_t w[4 * W];
#pragma unroll
        for (int k = 0; k < W; ++k) {
            uint4 x = __ldcg(q + k);
            w[4 * k] = x.x, w[4 * k + 1] = x.y, w[4 * k + 2] = x.z, w[4 * k + 3] = x.w;
        }
#pragma unroll
        for (int e = 0; e < 4; ++e)
#pragma unroll
            for (int k = 0; k < W; ++k) v[e].w[k] = w[e * W + k];
    }
};

// R whole rows from element i0 on; the result is lane 0's.
template <int W, int R>
IW_DEVICE Acc<W> warp_full(const Source<W>& src, uint64_t i0) {
    const int lane = lane_id();
    Acc<W> x[R][4], v[R];
    src.get_rows(x, i0 + lane * 4);
#pragma unroll
    for (int r = 0; r < R; ++r) v[r] = combine(combine(x[r][0], x[r][1]), combine(x[r][2], x[r][3]));
    // Pair lanes l and l ^ bit and share the rows out between them: one row's work instead of R rows', same operands.
#pragma unroll
    for (int s = 0; s < log2_of(R); ++s) {
        const int bit = 1 << s, half = R >> (s + 1);
        const bool upper = lane & bit;
#pragma unroll
        for (int j = 0; j < half; ++j) {
            const Acc<W> mine = pick(upper, v[j + half], v[j]);
            const Acc<W> theirs = shuffle_xor(pick(upper, v[j], v[j + half]), bit);
            v[j] = combine(pick(upper, theirs, mine), pick(upper, mine, theirs));
        }
    }
#pragma unroll
    for (int bit = R; bit < WARP; bit *= 2) v[0] = combine(v[0], shuffle_down(v[0], bit));
    // Lane l < R now has row bit_reverse(l), so the tree over rows starts from the highest lane bit.
#pragma unroll
    for (int bit = R / 2; bit > 0; bit /= 2) v[0] = combine(v[0], shuffle_down(v[0], bit));
    return v[0];
}

// Elements i..i+3, those before n, combined; something where there are none.
template <int W>
IW_DEVICE Acc<W> up_to_4(const Source<W>& src, uint64_t i, uint64_t n) {
    Acc<W> x[4] = {};
    if (src.aligned && i + 3 < n) {
        src.get4(x, i);
    } else {
        if (i < n) src.get1(x[0], i);
        if (i + 1 < n) src.get1(x[1], i + 1);
        if (i + 2 < n) src.get1(x[2], i + 2);
        if (i + 3 < n) src.get1(x[3], i + 3);
    }
    if (i + 1 < n) x[0] = combine(x[0], x[1]);
    if (i + 3 < n) x[2] = combine(x[2], x[3]);
    if (i + 2 < n) x[0] = combine(x[0], x[2]);
    return x[0];
}

// R rows that end early, or are not aligned for vector loads. Rolled up: its speed matters little, its size does.
template <int W, int R>
IW_DEVICE Acc<W> warp_tail(const Source<W>& src, uint64_t i0, uint64_t n) {
    const int lane = lane_id();
    Acc<W> of_row = {};
    const int rows = n - i0 < R * ROW ? (int)((n - i0 + ROW - 1) / ROW) : R;
#pragma unroll 1
    for (int r = 0; r < rows; ++r) {
        const uint64_t start = i0 + r * ROW, i = start + lane * 4;
        const int lanes = n - start < ROW ? (int)((n - start + 3) / 4) : WARP;
        const Acc<W> row = shuffle(warp_tree(up_to_4(src, i, n), lanes), 0);
        if (lane == r) of_row = row;
    }
    return warp_tree(of_row, rows);
}

template <int W, int R>
IW_DEVICE Acc<W> warp_chunk(const Source<W>& src, uint64_t i0, uint64_t n) {
    return src.aligned && i0 + R * ROW <= n ? warp_full<W, R>(src, i0) : warp_tail<W, R>(src, i0, n);
}

// The tree over elements [i0, min(n, i0 + passes passes)); the result is thread 0's. The two sets of slots take turns, so that one barrier a call
// suffices.
template <int W>
IW_DEVICE Acc<W> block_tree(const Source<W>& src, uint64_t i0, uint64_t n, int passes, int turn) {
    __shared__ Acc<W> slots[2][MAX_SLOTS<W>];
#pragma unroll 1
    for (int p = 0; p < passes; ++p) {
        const uint64_t start = i0 + (p * WARPS + warp_id()) * CHUNK<W>;
        if (start < n) {
            const Acc<W> v = warp_chunk<W, ROWS<W>>(src, start, n);
            if (lane_id() == 0) slots[turn][p * WARPS + warp_id()] = v;
        }
    }
    __syncthreads();
    Acc<W> v = {};
    if (warp_id() == 0) {
        const uint64_t chunks = (n - i0 + CHUNK<W> - 1) / CHUNK<W>;
        const int count = chunks < passes * WARPS ? (int)chunks : passes * WARPS;
        Acc<W> of_group = {};
#pragma unroll 1
        for (int g = 0; g * WARP < count; ++g) {
            const int left = count - g * WARP;
            if (lane_id() < left) v = slots[turn][g * WARP + lane_id()];
            v = shuffle(warp_tree(v, left < WARP ? left : WARP), 0);
            if (lane_id() == g) of_group = v;
        }
        v = warp_tree(of_group, (count + WARP - 1) / WARP);
    }
    return v;
}

template <int W>
IW_DEVICE int passes_of(uint64_t partials) {
    return (int)((partials + PASS<W> - 1) / PASS<W>);
}

template <int W>
IW_DEVICE void put_partial(uint64_t scratch, uint64_t slot, const Acc<W>& v) {
#pragma unroll
    for (int k = 0; k < W; ++k) ((uint32_t*)scratch)[slot * W + k] = v.w[k];
}

// True in all threads of the block that arrives last of `blocks`; the counter is then 0 again for the next launch.
IW_DEVICE bool arrives_last(uint32_t* counter, uint32_t blocks) {
    __shared__ bool last;
    if (threadIdx.x == 0) last = arrive_inc(counter, blocks - 1) == blocks - 1;
    __syncthreads();
    return last;
}

// From the end to the beginning: what ran before has left the end in the cache, and what runs next, over the same elements, finds the beginning there.
// u[0] passes of a tile (a power of two), u[1] tiles, scratch[0] one partial to a tile, scratch[1] the counter (0 before the first launch).
template <int W>
IW_DEVICE void reduce(const Args& args) {
    int passes = args.u[0];
    const uint64_t tile_len = (uint64_t)passes * PASS<W>;
    const uint64_t tiles = args.u[1];
    Source<W> src = Source<W>::elements(0, true);
    uint64_t t = tiles - 1 - blockIdx.x, i0 = t * tile_len, n = args.n;
    Acc<W> v;
    // The block's tiles and, in the block that is done last, the partial results.
    for (int turn = 0;; turn ^= 1) {
        v = block_tree(src, i0, n, passes, turn);
        if (tiles == 1 || src.partials) break;
        if (threadIdx.x == 0) put_partial(args.scratch[0], t, v);
        if (t >= gridDim.x) {
            t -= gridDim.x, i0 = t * tile_len;
            continue;
        }
        if (!arrives_last((uint32_t*)args.scratch[1], gridDim.x)) return;
        src = Source<W>::scratch((const void*)args.scratch[0]);
        i0 = 0, n = tiles, passes = passes_of<W>(tiles);
    }
    if (threadIdx.x == 0) finish(0, v);
}

// Few long rows: a block to a tile. u[0] passes of a tile, u[2..3] len, u[4] tiles to a row; scratch[0] partials, each
// row's from a multiple of 4 on; scratch[1] a counter to a row. grid = rows * tiles.
template <int W>
IW_DEVICE void reduce_rows_split(const Args& args) {
    int passes = args.u[0];
    const uint64_t len = wide(args.u + 2);
    const uint32_t tiles = args.u[4];
    const uint64_t row = blockIdx.x / tiles, tile = blockIdx.x % tiles;
    Source<W> src = Source<W>::elements(row * len, len % 4 == 0);
    uint64_t i0 = tile * passes * PASS<W>, n = len;
    Acc<W> v;
    for (int turn = 0;; ++turn) {
        v = block_tree(src, i0, n, passes, turn);
        if (tiles == 1 || turn == 1) break;
        uint32_t* const partials = (uint32_t*)args.scratch[0] + row * ((tiles + 3) / 4 * 4) * W;
        if (threadIdx.x == 0) put_partial((uint64_t)partials, tile, v);
        if (!arrives_last((uint32_t*)args.scratch[1] + row, tiles)) return;
        src = Source<W>::scratch(partials);
        i0 = 0, n = tiles, passes = passes_of<W>(tiles);
    }
    if (threadIdx.x == 0) finish(row, v);
}

// Nodes of the aligned tree that wait for their right-hand neighbour: after `done` leaves, one for each set bit of `done`.
template <int W>
struct Pending {
    Acc<W>* level;  // of this thread
    int step;       // from one level to the next
    IW_DEVICE void push(Acc<W> v, uint64_t done) {
        int k = 0;
        for (; done >> k & 1; ++k) v = combine(level[k * step], v);
        level[k * step] = v;
    }
    // Missing right halves are skipped: fold what is left from the smallest node up.
    IW_DEVICE Acc<W> close(uint64_t done) const {
        int k = __ffsll(done) - 1;
        Acc<W> v = level[k * step];
        for (++k; done >> k; ++k)
            if (done >> k & 1) v = combine(level[k * step], v);
        return v;
    }
};

// Many rows: u[2..3] len, u[6..7] rows, u[0] lanes to a row: 32, or, where 4 to a lane suffice, any power of two below.
// grid = rows * u[0] / 256, rounded up.
template <int W>
IW_DEVICE void reduce_rows(const Args& args) {
    constexpr int R = W == 1 ? 2 : 1;
    __shared__ Acc<W> levels[WARPS][40];
    const uint64_t len = wide(args.u + 2), rows = wide(args.u + 6);
    const int lanes = args.u[0];
    const uint64_t row = ((uint64_t)blockIdx.x * THREADS + threadIdx.x) >> (__ffs(lanes) - 1);
    if (len <= (uint64_t)lanes * 4) {
        // All lanes stay for the shuffles; a lane past the last row has nothing to read.
        const int lane = threadIdx.x & (lanes - 1);
        const Source<W> src = Source<W>::elements(row * len, len % 4 == 0);
        Acc<W> v = up_to_4(src, lane * 4, row < rows ? len : 0);
        const int count = (int)((len + 3) / 4);
        v = warp_tree(v, count, lane);
        if (lane == 0 && row < rows) finish(row, v);
        return;
    }
    if (row >= rows) return;
    const Source<W> src = Source<W>::elements(row * len, len % 4 == 0);
    Pending<W> pending{levels[warp_id()], 1};
    uint64_t done = 0;
    for (uint64_t i = 0; i < len; i += R * ROW, ++done) {
        const Acc<W> v = warp_chunk<W, R>(src, i, len);
        if (lane_id() == 0) pending.push(v, done);
    }
    if (lane_id() == 0) finish(row, pending.close(done));
}

constexpr int COL_THREADS = 128;
constexpr int COL_RUN = 8;  // elements of a column that a thread has in flight
constexpr uint32_t COLS_FROM_SCRATCH = 1, COLS_TO_SCRATCH = 2;

// Columns, a thread to each part of a column: u[1] flags, u[2..3] len, u[4..5] inner, u[6..7] columns = outer * inner,
// u[8] part length, a power of two of 8 at least. Cut columns go through two launches: the first leaves partials [parts][columns]
// in scratch[0], the second reads them (len = parts, inner = columns).
// grid = ceil(columns * parts / 128); dynamic shared bytes = 128 * 4 W * (1 + ceil(log2(part / 8))).
template <int W>
IW_DEVICE void reduce_cols(const Args& args) {
    extern __shared__ uint4 shared[];
    const uint64_t len = wide(args.u + 2), inner = wide(args.u + 4), columns = wide(args.u + 6);
    const uint64_t part_len = args.u[8], parts = (len + part_len - 1) / part_len;
    const uint64_t id = (uint64_t)blockIdx.x * COL_THREADS + threadIdx.x;
    if (id >= columns * parts) return;
    const uint64_t column = id % columns, begin = id / columns * part_len;
    const uint64_t end = begin + part_len < len ? begin + part_len : len;
    const uint64_t origin = column / inner * len * inner + column % inner;
    const bool from_scratch = args.u[1] & COLS_FROM_SCRATCH;
    const Source<W> partials = Source<W>::scratch((const void*)args.scratch[0]);
    Pending<W> pending{(Acc<W>*)shared + threadIdx.x, COL_THREADS};
    uint64_t done = 0;
    for (uint64_t i = begin; i < end; i += COL_RUN, ++done) {
        Acc<W> x[COL_RUN];
        const int count = end - i < COL_RUN ? (int)(end - i) : COL_RUN;
#pragma unroll
        for (int k = 0; k < COL_RUN; ++k) {
            const uint64_t at = origin + (i + k) * inner;
            if (k < count) {
                if (from_scratch) partials.get1(x[k], at);
                else load1(x[k], at);
            }
        }
#pragma unroll
        for (int d = 1; d < COL_RUN; d *= 2)
#pragma unroll
            for (int k = 0; k < COL_RUN; k += 2 * d)
                if (k + d < count) x[k] = combine(x[k], x[k + d]);
        pending.push(x[0], done);
    }
    const Acc<W> v = pending.close(done);
    if (args.u[1] & COLS_TO_SCRATCH) put_partial(args.scratch[0], id, v);
    else finish(column, v);
}

#define REDUCE_ENTRIES(W)                                                                                     \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS<W>) reduce_w##W(const __grid_constant__ Args args) {   \
        reduce<W>(args);                                                                                      \
    }                                                                                                         \
    IW_KERNEL(THREADS) reduce_rows_w##W(const __grid_constant__ Args args) { reduce_rows<W>(args); }          \
    IW_KERNEL(THREADS) reduce_rows_split_w##W(const __grid_constant__ Args args) { reduce_rows_split<W>(args); } \
    IW_KERNEL(COL_THREADS) reduce_cols_w##W(const __grid_constant__ Args args) { reduce_cols<W>(args); }

REDUCE_ENTRIES(1)
REDUCE_ENTRIES(2)
REDUCE_ENTRIES(4)
