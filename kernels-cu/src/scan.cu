// Scan: y[i] combines x[0] .. x[i] (inclusive) or x[0] .. x[i-1] (exclusive), over all n elements, rows or columns.
// Order: tiles of T elements. Inside a tile Sklansky's tree: for each k, an element whose index has bit k set becomes
// combine(last of the preceding aligned 2^k block, itself). Across tiles F(t), a strict left fold of the tiles' aggregates,
// and y = combine(F(t), s). A line of an array is scanned as if it stood alone.
// One launch, input read once: a tile looks back at those before it (look_back.cuh).
#include "iw.cuh"
#include "look_back.cuh"

// Measured on an H200; T belongs to the contract, the others do not show in results.
constexpr int T = 8192;
constexpr int ITEMS = 16, PARKED_ITEMS = 32;  // elements to a thread
constexpr int TILE_THREADS = T / ITEMS, HOLDERS = T / PARKED_ITEMS;
template <int W>
constexpr int BLOCKS = W <= 2 ? 2 : 1;  // to a multiprocessor, as registers are shared out
constexpr int PARKED_BLOCKS = 3;
constexpr uint32_t PATIENCE = 1200, PARKED_PATIENCE = 2500;  // ns: see look_back

constexpr int ROW = 4 * WARP;         // elements that a warp reads at once, 4 to a lane

constexpr uint32_t EXCLUSIVE = 1;
constexpr int EPOCHS = 12, TILES = 13;  // words of u: launches after which epochs start over; tiles of all lines

template <int W>
IW_DEVICE Acc<W> init_of(const Args& args) {
    Acc<W> init;
#pragma unroll
    for (int k = 0; k < W; ++k) init.w[k] = args.u[4 + k];
    return init;
}

// R rows of 4 elements to a lane; a warp holds R * 128 consecutive elements.
template <int W, int R>
struct Rows {
    Acc<W> x[R][4];
};

// The lane's elements of each row, the first at i. Those from `end` on stay undefined: they are right of all that is stored.
template <int W, int R>
IW_DEVICE void load_rows(Rows<W, R>& t, uint64_t i, uint64_t end, bool aligned) {
    if (aligned && i + (R - 1) * ROW + 4 <= end) {
#pragma unroll
        for (int r = 0; r < R; ++r) load4(t.x[r], i + r * ROW);
        return;
    }
#pragma unroll
    for (int r = 0; r < R; ++r)
#pragma unroll
        for (int e = 0; e < 4; ++e) t.x[r][e] = {};
    // Rolled up, each row put in its place by comparison, so that the loads stand in the code once.
#pragma unroll 1
    for (int r = 0; r < R && i < end; ++r, i += ROW) {
        Acc<W> v[4] = {};
        if (aligned && i + 4 <= end) {
            load4(v, i);
        } else {
#pragma unroll
            for (int e = 0; e < 4; ++e)
                if (i + e < end) load1(v[e], i + e);
        }
#pragma unroll
        for (int q = 0; q < R; ++q)
#pragma unroll
            for (int e = 0; e < 4; ++e) t.x[q][e] = pick(q == r, v[e], t.x[q][e]);
    }
}

template <int W, int R>
IW_DEVICE void store_rows(const Rows<W, R>& t, uint64_t i, uint64_t end, bool aligned) {
    if (aligned && i + (R - 1) * ROW + 4 <= end) {
#pragma unroll
        for (int r = 0; r < R; ++r) store4(i + r * ROW, t.x[r]);
        return;
    }
#pragma unroll 1
    for (int r = 0; r < R && i < end; ++r, i += ROW) {
        Acc<W> v[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) v[e] = t.x[0][e];
#pragma unroll
        for (int q = 1; q < R; ++q)
#pragma unroll
            for (int e = 0; e < 4; ++e) v[e] = pick(q == r, t.x[q][e], v[e]);
        if (aligned && i + 4 <= end) {
            store4(i, v);
            continue;
        }
#pragma unroll
        for (int e = 0; e < 4; ++e)
            if (i + e < end) store1(i + e, v[e]);
    }
}

template <int W, int R>
IW_DEVICE void prepend(const Acc<W>& left, Rows<W, R>& t) {
#pragma unroll
    for (int r = 0; r < R; ++r)
#pragma unroll
        for (int e = 0; e < 4; ++e) t.x[r][e] = combine(left, t.x[r][e]);
}

// One stage of Sklansky over lanes: index bit k of the lane.
IW_DEVICE int block_before(int index, int k) { return ((index >> k) << k) - 1; }

// Index bits inside a warp: element of 4, lane, row.
template <int W, int R>
IW_DEVICE void warp_scan(Rows<W, R>& t, int lanes = WARP) {
    const int lane = lane_id();
#pragma unroll
    for (int r = 0; r < R; ++r) {
        t.x[r][1] = combine(t.x[r][0], t.x[r][1]);
        t.x[r][3] = combine(t.x[r][2], t.x[r][3]);
        t.x[r][2] = combine(t.x[r][1], t.x[r][2]);
        t.x[r][3] = combine(t.x[r][1], t.x[r][3]);
    }
#pragma unroll 1
    for (int k = 0; 1 << k < lanes; ++k) {
        Acc<W> left[R];
#pragma unroll
        for (int r = 0; r < R; ++r) left[r] = shuffle(t.x[r][3], block_before(lane, k));
        if (lane >> k & 1) {
#pragma unroll
            for (int r = 0; r < R; ++r)
#pragma unroll
                for (int e = 0; e < 4; ++e) t.x[r][e] = combine(left[r], t.x[r][e]);
        }
    }
#pragma unroll
    for (int k = 0; k < log2_of(R); ++k)
#pragma unroll
        for (int r = 0; r < R; ++r) {
            if (!(r >> k & 1)) continue;
            const Acc<W> left = shuffle(t.x[block_before(r, k)][3], WARP - 1);
#pragma unroll
            for (int e = 0; e < 4; ++e) t.x[r][e] = combine(left, t.x[r][e]);
        }
}

// Every element becomes its left neighbour; `left` is the neighbour of the warp's first.
template <int W, int R>
IW_DEVICE void shift(Rows<W, R>& t, const Acc<W>& left) {
#pragma unroll
    for (int r = R - 1; r >= 0; --r) {
        const Acc<W> row_before = r > 0 ? shuffle(t.x[r > 0 ? r - 1 : 0][3], WARP - 1) : left;
        const Acc<W> before = pick(lane_id() == 0, row_before, shuffle_up(t.x[r][3], 1));
        t.x[r][3] = t.x[r][2];
        t.x[r][2] = t.x[r][1];
        t.x[r][1] = t.x[r][0];
        t.x[r][0] = before;
    }
}

// u[0] flags, u[2..3] len of a line (lines follow each other: n = lines * len), u[4..7] what an exclusive scan stores first,
// u[12] epochs: see look_back.cuh; u[13] tiles of all lines: a division of 64 bits takes the driver as long to compile as a sixth of the rest.
// scratch[0]: 16 words of 64 bits, then W to a tile; zeroed once, when allocated; word 1 holds how many status words follow.
// Any grid works; enough blocks to fill the device, and no more than tiles, is best.
template <int W>
IW_DEVICE void scan(const Args& args) {
    constexpr int R = ITEMS / 4, WARPS = TILE_THREADS / WARP;
    __shared__ uint32_t ticket, launch;
    __shared__ Acc<W> totals[WARPS], window[WINDOW<W>], prefix;
    uint64_t* const header = (uint64_t*)args.scratch[0];
    uint64_t* const status = header + HEADER_WORDS;
    const uint32_t flags = args.u[0];
    const uint64_t len = wide(args.u + 2);
    const uint32_t tiles_per_line = (uint32_t)((len + T - 1) / T);
    const uint32_t tiles = args.u[TILES];
    const int lane = lane_id(), warp = warp_id();

    // With a block to each tile nobody asks twice.
    const bool once = gridDim.x == tiles;
    const uint32_t last_ticket = once ? tiles - 1 : tiles + gridDim.x - 1;

    if (threadIdx.x == 0) {
        const uint64_t drawn = draw(header);
        ticket = (uint32_t)drawn, launch = (uint32_t)(drawn >> 32);
    }
    __syncthreads();
    const uint32_t epoch = launch;
    uint32_t tile;
    while ((tile = ticket) < tiles) {
        const uint32_t line = len == args.n ? 0 : tile / tiles_per_line, first = line * tiles_per_line;
        const uint64_t begin = line * len, end = begin + len;
        const uint64_t i0 = begin + (uint64_t)(tile - first) * T + (warp * R * ROW + lane * 4);
        const bool aligned = begin % 4 == 0;

        Rows<W, R> t;
        load_rows(t, i0, end, aligned);
        warp_scan(t);
        if (lane == WARP - 1) totals[warp] = t.x[R - 1][3];
        __syncthreads();

        // Index bits of the warp. Each warp walks the tree over all totals in its lanes and takes the blocks it needs.
        Acc<W> total = lane < WARPS ? totals[lane] : Acc<W>{};
#pragma unroll 1
        for (int k = 0; k < log2_of(WARPS); ++k) {
            if (warp >> k & 1) prepend(shuffle(total, block_before(warp, k)), t);
            const Acc<W> left = shuffle(total, block_before(lane, k));
            if (lane >> k & 1) total = combine(left, total);
        }
        const Acc<W> before = shuffle(total, warp - 1);  // the element before this warp's first
        if (warp == 0) {
            const Acc<W> aggregate = shuffle(total, WARPS - 1);
            const Acc<W> fold = look_back(status, tile, first, epoch, aggregate, window, PATIENCE);
            if (lane == 0) {
                prefix = fold;
                looked_back(header, epoch, args.u[EPOCHS]);
            }
        }
        __syncthreads();
        uint32_t next = 0;
        if (!once && threadIdx.x == 0) next = (uint32_t)draw(header);  // on its way while the tile is finished

        Acc<W> left = before;
        if (tile != first) {
            const Acc<W> fold = prefix;
            prepend(fold, t);
            left = warp == 0 ? fold : combine(fold, before);
        }
        if (flags & EXCLUSIVE) shift(t, left);
        if ((flags & EXCLUSIVE) && tile == first && threadIdx.x == 0) t.x[0][0] = init_of<W>(args);
        store_rows(t, i0, end, aligned);
        if (once) break;
        if (threadIdx.x == 0) ticket = next;
        __syncthreads();
    }
    if (tile == last_ticket) next_epoch<W>(header, status, tiles, epoch, args.u[EPOCHS]);
}

// A thread's four elements of a row, 16 bytes at a time at its own place.
IW_DEVICE void park(uint4* slot, const Acc<1> (&v)[4]) {
    slot[threadIdx.x] = make_uint4(v[0].w[0], v[1].w[0], v[2].w[0], v[3].w[0]);
}
IW_DEVICE void unpark(const uint4* slot, Acc<1> (&v)[4]) {
    const uint4 p = slot[threadIdx.x];
    v[0].w[0] = p.x, v[1].w[0] = p.y, v[2].w[0] = p.z, v[3].w[0] = p.w;
}

// Where a tile lies.
struct Place {
    uint32_t first;            // tile of its line
    uint64_t begin, end, i0;   // its line, its first element
    IW_DEVICE Place(const Args& args, uint32_t tile) {
        const uint64_t len = wide(args.u + 2);
        const uint32_t tiles_per_line = (uint32_t)((len + T - 1) / T), line = len == args.n ? 0 : tile / tiles_per_line;
        first = line * tiles_per_line;
        begin = line * len, end = begin + len;
        i0 = begin + (uint64_t)(tile - first) * T;
    }
};

// The scout's part of a tile: its aggregate from the warps' totals, and its fold.
template <int W, int WARPS, bool SERVED>
IW_DEVICE void scout(const Args& args, uint64_t* status, const uint64_t* folds, uint32_t tile, uint32_t epoch, Acc<W>* totals,
                     Acc<W>* window, Acc<W>& fold_out) {
    const int lane = lane_id();
    Acc<W> total = {};
    if (lane < WARPS) {
#pragma unroll
        for (int k = 0; k < W; ++k) total.w[k] = seen(totals[lane].w[k]);
    }
#pragma unroll 1
    for (int k = 0; k < log2_of(WARPS); ++k) {
        const Acc<W> left = shuffle(total, block_before(lane, k));
        if (lane >> k & 1) total = combine(left, total);
    }
    const Acc<W> aggregate = shuffle(total, WARPS - 1);
    const uint32_t first = Place(args, tile).first;
    Acc<W> fold = {};
    if constexpr (!SERVED) {
        fold = look_back(status, tile, first, epoch, aggregate, window, PARKED_PATIENCE);
    } else if (lane == 0) {
        publish(status, tile, epoch, aggregate);
        if (tile != first) fold = served_fold<W>(folds, tile, epoch);
    }
    if (lane == 0) fold_out = fold;
    __syncwarp();
}

// As scan, and better where a tile fits shared memory beside others. A tile waits for its fold there while its block reads the
// next one, and a warp of its own, the scout, waits for it: so the wait costs no bandwidth. One barrier a tile brings the scout
// the totals of the new tile and the others the fold of the parked one. SERVED, for lines of more tiles than a group has: the first block to ask
// for a tile becomes the server, and status words come twice, aggregates first. Block: 32 threads more than hold elements.
template <int W, bool SERVED>
IW_DEVICE void scan_parked(const Args& args) {
    constexpr int R = PARKED_ITEMS / 4, WARPS = HOLDERS / WARP;
    __shared__ uint4 parked[R * W][HOLDERS];
    __shared__ uint32_t ticket[2], launch;
    __shared__ Acc<W> totals[2][WARPS], fold_of[2], window[SERVED ? SERVER_WINDOW<W> : WINDOW<W>];
    uint64_t* const header = (uint64_t*)args.scratch[0];
    uint64_t* const status = header + HEADER_WORDS;
    const uint32_t flags = args.u[0];
    const uint32_t tiles = args.u[TILES];
    constexpr uint32_t servers = SERVED ? 1 : 0;
    uint64_t* const folds = status + (uint64_t)tiles * W;
    const int lane = lane_id(), warp = warp_id();
    const bool once = gridDim.x == tiles + servers;  // with a block to each tile nobody asks twice
    if (threadIdx.x == 0) {
        const uint64_t drawn = draw(header);
        ticket[0] = (uint32_t)drawn, launch = (uint32_t)(drawn >> 32);
    }
    __syncthreads();
    const uint32_t epoch = launch, first_drawn = ticket[0] - servers;
    if constexpr (SERVED) {
        if (ticket[0] == 0) {
            const uint32_t tiles_per_line = (uint32_t)((wide(args.u + 2) + T - 1) / T);
            if (warp == 0) serve_folds(status, folds, tiles, tiles_per_line, epoch, window);
            return;
        }
    }
    uint32_t tile = first_drawn, waiting = tiles;  // waiting: the tile that is parked, if any
    Acc<W> waiting_before = {};
    for (int turn = 0;; turn ^= 1) {
        Rows<W, R> t;
        Acc<W> before = {};
        if (warp < WARPS) {
            tile = ticket[turn] - servers;
            if (tile < tiles) {
                const Place at(args, tile);
                load_rows(t, at.i0 + (warp * R * ROW + lane * 4), at.end, at.begin % 4 == 0);
                warp_scan(t);
                if (lane == WARP - 1) totals[turn][warp] = t.x[R - 1][3];
            }
        }
        __syncthreads();
        if (warp == WARPS) {
            tile = ticket[turn] - servers;
            if (tile >= tiles) break;
            scout<W, WARPS, SERVED>(args, status, folds, tile, epoch, totals[turn], window, fold_of[turn]);
            if (lane == 0) looked_back(header, epoch, args.u[EPOCHS]);
            continue;
        }
        uint32_t next = tiles + servers;
        if (!once && threadIdx.x == 0 && tile < tiles) next = (uint32_t)draw(header);
        if (tile < tiles) {
            Acc<W> total = lane < WARPS ? totals[turn][lane] : Acc<W>{};
#pragma unroll 1
            for (int k = 0; k < log2_of(WARPS); ++k) {
                if (warp >> k & 1) prepend(shuffle(total, block_before(warp, k)), t);
                const Acc<W> left = shuffle(total, block_before(lane, k));
                if (lane >> k & 1) total = combine(left, total);
            }
            before = shuffle(total, warp - 1);
        }
        if (waiting < tiles) {
            const Place at(args, waiting);
            const bool has_fold = waiting != at.first, aligned = at.begin % 4 == 0;
            const Acc<W> fold = fold_of[turn ^ 1];
            Acc<W> left = waiting_before;
            if (has_fold) left = warp == 0 ? fold : combine(fold, left);
            uint64_t i = at.i0 + (warp * R * ROW + lane * 4);
#pragma unroll 1
            for (int r = 0; r < R; ++r, i += ROW) {
                Rows<W, 1> y;
                unpark(parked[r * W], y.x[0]);
                if (has_fold) prepend(fold, y);
                const Acc<W> last = shuffle(y.x[0][3], WARP - 1);
                if (flags & EXCLUSIVE) shift(y, left);
                left = last;
                if ((flags & EXCLUSIVE) && !has_fold && r == 0 && threadIdx.x == 0) y.x[0][0] = init_of<W>(args);
                store_rows(y, i, at.end, aligned);
            }
        }
        if (tile >= tiles) break;
#pragma unroll
        for (int r = 0; r < R; ++r) park(parked[r * W], t.x[r]);
        waiting = tile, waiting_before = before;
        if (threadIdx.x == 0) ticket[turn ^ 1] = next;
        asm volatile("bar.sync 1, %0;" ::"n"(HOLDERS) : "memory");
    }
    const uint32_t last = once ? tiles - 1 : tiles + gridDim.x - 1 - servers;
    if ((once ? first_drawn : tile) == last) next_epoch<W>(header, status, tiles, epoch, args.u[EPOCHS]);
}

// Short lines, no scratch. u as for scan, u[8..9] lines, u[1] lanes to a line: 32, or, where 4 to a lane suffice, any power
// of two below. len <= 1024 for W = 1, 512 for W = 2, 256 beyond. grid = lines * u[1] / 128, rounded up.
constexpr int LINE_THREADS = 128;
template <int W, int R>
IW_DEVICE void scan_row(const Args& args) {
    const uint32_t flags = args.u[0];
    const uint64_t len = wide(args.u + 2), lines = wide(args.u + 8);
    const int lanes = args.u[1], lane = threadIdx.x & (lanes - 1);
    const uint64_t line = ((uint64_t)blockIdx.x * LINE_THREADS + threadIdx.x) >> (__ffs(lanes) - 1);
    const uint64_t begin = line * len, end = line < lines ? begin + len : begin;
    const bool aligned = len % 4 == 0;
    Rows<W, R> t;
    load_rows(t, begin + lane * 4, end, aligned);
    warp_scan(t, lanes);
    if (flags & EXCLUSIVE) shift(t, init_of<W>(args));
    if ((flags & EXCLUSIVE) && lane == 0) t.x[0][0] = init_of<W>(args);
    store_rows(t, begin + lane * 4, end, aligned);
}
template <int W>
IW_DEVICE void scan_rows(const Args& args) {
    const uint64_t len = wide(args.u + 2);
    if (len <= ROW) scan_row<W, 1>(args);
    else if (len <= 2 * ROW) scan_row<W, 2>(args);
    else scan_row<W, W == 1 ? 8 : W == 2 ? 4 : 2>(args);
}

// Columns of [outer, len, inner], a thread to each, walking the same tree with a stack of block aggregates.
// u[0] flags, u[2..3] len, u[4..7] init words, u[8..9] inner, u[10..11] columns = outer * inner. grid = columns / 64,
// rounded up; dynamic shared bytes = 64 * 4 W * 14.
constexpr int COL_THREADS = 64;
template <int W>
IW_DEVICE void scan_cols(const Args& args) {
    constexpr int COL_RUN = W == 1 ? 32 : W == 2 ? 16 : 8;  // elements that a thread has in flight
    extern __shared__ uint4 shared[];
    Acc<W>* const block = (Acc<W>*)shared + threadIdx.x;  // [k]: aggregate of the last aligned block of 2^k runs
    const uint32_t flags = args.u[0];
    const uint64_t len = wide(args.u + 2), inner = wide(args.u + 8), columns = wide(args.u + 10);
    const uint64_t column = (uint64_t)blockIdx.x * COL_THREADS + threadIdx.x;
    if (column >= columns) return;
    const uint64_t origin = column / inner * len * inner + column % inner;
    const Acc<W> init = init_of<W>(args);
    Acc<W> fold = {}, previous = init;  // fold: of the tiles before; previous: inclusive result before the run
    for (uint64_t i = 0; i < len; i += COL_RUN) {
        Acc<W> x[COL_RUN] = {};
        const int count = len - i < COL_RUN ? (int)(len - i) : COL_RUN;
#pragma unroll
        for (int e = 0; e < COL_RUN; ++e)
            if (e < count) load1(x[e], origin + (i + e) * inner);
#pragma unroll
        for (int d = 1; d < COL_RUN; d *= 2)
#pragma unroll
            for (int e = 0; e < COL_RUN; ++e)
                if (e & d) x[e] = combine(x[(e & ~(2 * d - 1)) + d - 1], x[e]);
        const uint32_t run = (uint32_t)(i % T) / COL_RUN;  // within the tile
        int k = 0;
#pragma unroll 1
        for (; run >> k; ++k) {
            // While all lower bits are set, x's last is the aggregate of the aligned block of 2^k runs that ends here.
            if ((run & ((1u << k) - 1)) == (1u << k) - 1 && !(run >> k & 1)) block[k * COL_THREADS] = x[COL_RUN - 1];
            if (run >> k & 1) {
                const Acc<W> left = block[k * COL_THREADS];
#pragma unroll
                for (int e = 0; e < COL_RUN; ++e) x[e] = combine(left, x[e]);
            }
        }
        if ((run & (run + 1)) == 0) block[k * COL_THREADS] = x[COL_RUN - 1];
        const bool closes_tile = i % T + COL_RUN == T;
        const Acc<W> aggregate = x[COL_RUN - 1];
        if (i >= T) {
#pragma unroll
            for (int e = 0; e < COL_RUN; ++e) x[e] = combine(fold, x[e]);
        }
        if (closes_tile) fold = i >= T ? x[COL_RUN - 1] : aggregate;
#pragma unroll
        for (int e = 0; e < COL_RUN; ++e) {
            Acc<W> y = x[e];
            if (flags & EXCLUSIVE) y = previous, previous = x[e];
            if (e < count) store1(origin + (i + e) * inner, y);
        }
    }
}

#define SCAN_TILES(W)                                                                                             \
    extern "C" __global__ void __launch_bounds__(TILE_THREADS, BLOCKS<W>) scan_w##W(const __grid_constant__ Args args) { \
        scan<W>(args);                                                                                            \
    }
#define SCAN_LINES(W)                                                                                 \
    IW_KERNEL(LINE_THREADS) scan_rows_w##W(const __grid_constant__ Args args) { scan_rows<W>(args); } \
    IW_KERNEL(COL_THREADS) scan_cols_w##W(const __grid_constant__ Args args) { scan_cols<W>(args); }

SCAN_TILES(1)
SCAN_TILES(2)
SCAN_TILES(4)
extern "C" __global__ void __launch_bounds__(HOLDERS + WARP, PARKED_BLOCKS)
    scan_parked_w1(const __grid_constant__ Args args) {
    scan_parked<1, false>(args);
}
extern "C" __global__ void __launch_bounds__(HOLDERS + WARP, PARKED_BLOCKS)
    scan_served_w1(const __grid_constant__ Args args) {
    scan_parked<1, true>(args);
}
SCAN_LINES(1)
SCAN_LINES(2)
SCAN_LINES(4)
