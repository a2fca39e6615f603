// Reductions of segments: what is common to those that offsets bound (segments.cu) and runs of equal keys (by_key.cu): sizes, quads of elements, and
// the list that long segments go to as tiles, and how it is reduced.
#pragma once
#include "iw.cuh"
#include "together.cuh"

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / WARP;
constexpr uint32_t SHORT = 1024;  // elements of a segment that is reduced together with others, at most
constexpr uint32_t TINY = 64;     // and of one that a thread reduces

template <int W>
constexpr int TILE_ROWS = W == 1 ? 8 : W == 2 ? 4 : 2;
template <int W, int N = THREADS>
constexpr uint32_t TILE = TILE_ROWS<W> * N * 4;

// Words of `u`.
constexpr int ROOM = 2;   // tiles that the list holds
constexpr int JOINS = 3;  // long segments of several tiles that it holds
constexpr int MEET = 6;   // and 7: where the blocks of a cooperative launch meet

// A tile of a long segment; the highest bit of its length says that it is all of the segment.
struct Tile {
    uint64_t begin;
    uint32_t segment, length;
};
constexpr uint32_t ALONE = 1u << 31;

// A long segment of several tiles, which follow each other in the list.
struct Join {
    uint32_t segment, base, tiles, unused;
};

// scratch[0] holds the tiles, a node to each, and the joins; scratch[1] counts tiles, joins, and the blocks that are done (all zero between
// launches of two tasks).
template <int W>
struct List {
    Tile* tiles;
    uint32_t* nodes;
    Join* joins;
    uint32_t* counts;
    IW_DEVICE explicit List(const Args& args)
        : tiles((Tile*)args.scratch[0]),
          joins((Join*)(tiles + args.u[ROOM])),
          counts((uint32_t*)args.scratch[1]) {
        nodes = (uint32_t*)(joins + args.u[JOINS]);
    }
};

// Elements i..i+3, those of the first `left`; there is at least one. All four are read, the last one again where fewer are left, so that loads need
// not wait for conditions.
template <int W, class Load>
IW_DEVICE void load_quad(Acc<W> (&x)[4], const Load& load, uint64_t i, uint64_t left) {
    const uint32_t last = left < 4 ? (uint32_t)left - 1 : 3;
    load(x[0], i);
    load(x[1], i + (last < 1 ? last : 1));
    load(x[2], i + (last < 2 ? last : 2));
    load(x[3], i + last);
}

// The node over them.
template <int W, class N>
IW_DEVICE Acc<W> of_quad(Acc<W> (&x)[4], N left) {
    if (left > 1) x[0] = combine(x[0], x[1]);
    if (left > 3) x[2] = combine(x[2], x[3]);
    if (left > 2) x[0] = combine(x[0], x[2]);
    return x[0];
}

// Rows of vectors become rows of quads that begin K elements behind theirs: the rest of a quad is the beginning of the next lane's vector, of the last
// lane's quad that of the next row's first, which for the last row is lane 0's `behind`. That moves along.
template <int K, int W, int ROWS>
IW_DEVICE void shift_rows(Acc<W> (&x)[ROWS][4], Acc<W> (&behind)[4]) {
    const int lane = lane_id();
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        Acc<W> next[K];
#pragma unroll
        for (int k = 0; k < K; ++k) next[k] = shuffle(pick(lane == 0, r + 1 < ROWS ? x[(r + 1) % ROWS][k] : behind[k], x[r][k]), lane + 1);
#pragma unroll
        for (int e = 0; e < 4; ++e) x[r][e] = e + K < 4 ? x[r][(e + K) % 4] : next[(e + K) % 4 % K];
    }
#pragma unroll
    for (int e = 0; e + K < 4; ++e) behind[e] = behind[e + K];
}

// The quads from element `begin` on, over `length` > 0 elements, by a warp: row r has quads r * WARP and what follows. They are read as aligned vectors,
// wherever `begin` lies, and where the array may END inside the last one, as the elements of that one. What is behind the last element is anything.
template <bool END, int W, int ROWS, class Load>
IW_DEVICE void load_rows(Acc<W> (&x)[ROWS][4], const Load& load, uint64_t begin, uint32_t length) {
    const uint32_t lane = lane_id(), shift = (uint32_t)begin % 4, last = (shift + length - 1) / 4;
    const uint64_t base = begin - shift;
    if (END && base + 4 * (uint64_t)last + 4 > load.n) {
        // The array ends inside the last vector. Each row is put behind the others, which all move by one, so that rolled up it is in the code once; of few
        // elements, where nobody waits for others, rows are read together.
        const uint32_t quads = (length + 3) / 4;
#pragma unroll (Load::LEAN ? ROWS : 1)
        for (int r = 0; r < ROWS; ++r) {
#pragma unroll
            for (int q = 1; q < ROWS; ++q)
#pragma unroll
                for (int e = 0; e < 4; ++e) x[q - 1][e] = x[q][e];
            const uint32_t p = r * WARP + lane, at = 4 * (p < quads ? p : quads - 1);
            if (r * WARP < quads) load_quad(x[ROWS - 1], load, begin + at, length - at);
        }
        return;
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const uint32_t p = r * WARP + lane;
        if (r * WARP <= last) load.four(x[r], base + 4 * (p < last ? p : last));
    }
    if (shift == 0) return;
    Acc<W> behind[4] = {};
    if (lane == 0 && ROWS * WARP <= last) load.four(behind, base + 4 * ROWS * WARP);
    if constexpr (Load::LEAN) {
#pragma unroll 1
        for (uint32_t k = 0; k < shift; ++k) shift_rows<1>(x, behind);
    } else if (shift == 1)
        shift_rows<1>(x, behind);
    else if (shift == 2)
        shift_rows<2>(x, behind);
    else
        shift_rows<3>(x, behind);
}

// Places of the list for a long segment's tiles. Offsets that are not sorted may ask for more than there are.
template <int W>
IW_DEVICE uint32_t take_places(const Args& args, const List<W>& list, uint32_t segment, uint64_t length) {
    const uint64_t tiles = (length - 1) / TILE<W> + 1, room = args.u[ROOM];
    const uint32_t base = atomicAdd(&list.counts[0], (uint32_t)tiles);
    if (tiles > 1 && base + tiles <= room) {
        const uint32_t join = atomicAdd(&list.counts[1], 1);
        if (join < args.u[JOINS]) list.joins[join] = {segment, base, (uint32_t)tiles, 0};
    }
    return base;
}

// Puts a long segment's tiles on the list: of `threads` threads this one.
template <int W>
IW_DEVICE void put_tiles(const Args& args, const List<W>& list, uint32_t base, uint32_t segment, uint64_t begin, uint64_t length,
                         int thread, int threads) {
    const uint64_t tiles = (length - 1) / TILE<W> + 1;
    for (uint64_t t = thread; t < tiles && base + t < args.u[ROOM]; t += threads) {
        const uint64_t left = length - t * TILE<W>;
        const uint32_t here = left < TILE<W> ? (uint32_t)left : TILE<W>;
        list.tiles[base + t] = {begin + t * TILE<W>, segment, here | (tiles == 1 ? ALONE : 0)};
    }
}

// The same of a long segment of one tile, by one thread.
template <int W>
IW_DEVICE void put_tile(const Args& args, const List<W>& list, uint32_t segment, uint64_t begin, uint32_t length) {
    const uint32_t at = atomicAdd(&list.counts[0], 1);
    if (at < args.u[ROOM]) list.tiles[at] = {begin, segment, length | ALONE};
}

// Nodes of tiles.
template <int W>
struct Nodes {
    const uint32_t* words;
    IW_DEVICE void operator()(Acc<W>& v, uint64_t i) const {
#pragma unroll
        for (int k = 0; k < W; ++k) v.w[k] = words[i * W + k];
    }
};

// Of a block whose first N threads reduce tiles.
template <int W, int N = THREADS>
constexpr int TILE_SLOTS = TILE_ROWS<W> * N;
// A region of shared memory with a gap after 8 slots, so that neighbours' runs of 8 lie in different banks; and two of them, the second of an eighth.
template <int W, int N = THREADS>
constexpr int RUNS = TILE_SLOTS<W, N> / 8 * 9;
template <int W, int N = THREADS>
constexpr int TREE_SLOTS = RUNS<W, N> + RUNS<W, N> / 8 + 8;

IW_DEVICE int run_gapped(int i) { return i + (i >> 3); }

// The node over 8 slots from `first` on, those below `count`; there is at least one.
template <int W>
IW_DEVICE Acc<W> tree_of_8(const Acc<W>* region, int first, int count) {
    Acc<W> x[8];
#pragma unroll
    for (int e = 0; e < 8; ++e) x[e] = region[run_gapped(first + e)];
#pragma unroll
    for (int d = 1; d < 8; d *= 2)
#pragma unroll
        for (int e = 0; e < 8; e += 2 * d)
            if (first + e + d < count) x[e] = combine(x[e], x[e + d]);
    return x[0];
}

// Elements of a part of a tile, which a warp reduces in registers, and parts of a tile.
constexpr int PART_ROWS = 4;
constexpr uint32_t OF_ROWS = 4 * PART_ROWS * WARP;
template <int W, int N = THREADS>
constexpr uint32_t PARTS = TILE<W, N> / OF_ROWS;

// The node over a part from element `begin` on, of `count` elements, all of them where FULL, and the array does not end before the next; all lanes have it.
template <int W, bool FULL, class Load>
IW_DEVICE Acc<W> rows_of_warp(const Load& load, uint64_t begin, uint32_t count) {
    const uint32_t lane = lane_id(), quads = (count + 3) / 4;
    Acc<W> x[PART_ROWS][4] = {}, v[PART_ROWS];
    // Asking whether the array ends keeps loads of four words apart, which else take the registers of a second block.
    load_rows<!FULL || W == 4>(x, load, begin, FULL ? OF_ROWS : count);
#pragma unroll
    for (int r = 0; r < PART_ROWS; ++r) {
        const uint32_t p = r * WARP + lane, at = 4 * (p < quads ? p : quads - 1);
        v[r] = of_quad(x[r], FULL ? 4 : count - at);
    }
    // Neighbours join while they share the rows out: lanes have two rows each, then one, of two and of four lanes.
    const auto join = [&](const Acc<W>& mine, const Acc<W>& other, uint32_t bit, uint32_t right) {
        const bool upper = lane & bit;
        const Acc<W> l = pick(upper, other, mine), r = pick(upper, mine, other);
        return FULL || right < quads ? combine(l, r) : l;
    };
    uint32_t row = (lane & 1) * 2;
#pragma unroll
    for (uint32_t r = 0; r < 2; ++r) {
        const Acc<W> other = shuffle_xor(pick(lane & 1, v[r], v[r + 2]), 1);
        v[r] = join(pick(lane & 1, v[r + 2], v[r]), other, 1, (row + r) * WARP + (lane | 1));
    }
    row += lane >> 1 & 1;
    v[0] = join(pick(lane & 2, v[1], v[0]), shuffle_xor(pick(lane & 2, v[0], v[1]), 2), 2, row * WARP + ((lane & ~3u) | 2));
    // Then the others of a row, and the rows.
#pragma unroll 1
    for (uint32_t step = 0; step < 5; ++step) {
        const uint32_t bit = step < 3 ? 4 << step : 16 >> step, rows = step == 3 ? 1 : 2;
        const uint32_t right = step < 3 ? row * WARP + ((lane & ~(2 * bit - 1)) | bit) : ((row & ~(2 * rows - 1)) + rows) * WARP;
        v[0] = join(v[0], shuffle_xor(v[0], bit), bit, right);
    }
    return v[0];
}

template <int W, class Load>
IW_DEVICE Acc<W> part_of_warp(const Load& load, uint64_t begin, uint64_t left) {
    if constexpr (Load::LEAN) return rows_of_warp<W, false>(load, begin, left < OF_ROWS ? (uint32_t)left : OF_ROWS);
    if (left >= OF_ROWS && begin + OF_ROWS + 4 <= load.n) return rows_of_warp<W, true>(load, begin, OF_ROWS);
    return rows_of_warp<W, false>(load, begin, left < OF_ROWS ? (uint32_t)left : OF_ROWS);
}

// The same as `tree`: each warp reduces parts of the tile, and the first joins them. Threads behind N only meet the others.
template <int W, int N, class Load>
IW_DEVICE Acc<W> tree_of_parts(const Load& load, uint64_t begin, uint64_t end, Acc<W>* slots) {
    constexpr uint32_t EACH = PARTS<W, N> > WARP ? PARTS<W, N> / WARP : 1;  // neighbouring parts to a lane that joins
    static_assert(EACH <= 2);
    const uint32_t parts = (uint32_t)((end - begin + OF_ROWS - 1) / OF_ROWS), lane = lane_id();
#pragma unroll 1
    for (uint32_t p = warp_id(); p < parts && threadIdx.x < N; p += N / WARP) {
        const uint64_t at = begin + p * OF_ROWS;
        const Acc<W> v = part_of_warp<W>(load, at, end - at);
        if (lane == 0) slots[p] = v;
    }
    __syncthreads();
    Acc<W> v = {};
    if (threadIdx.x < WARP) {
        const uint32_t count = (parts + EACH - 1) / EACH;
        if (lane < count) {
            v = slots[EACH * lane];
            if (EACH == 2 && 2 * lane + 1 < parts) v = combine(v, slots[2 * lane + 1]);
        }
        v = warp_tree(v, count);
    }
    __syncthreads();
    return v;
}

// The tree over elements begin..end, at most a tile; the result is thread 0's. Where a block has MORE threads, those behind only meet the others.
template <int W, bool MORE, int N = THREADS, class Load>
IW_DEVICE Acc<W> tree(const Load& load, uint64_t begin, uint64_t end, Acc<W>* slots) {
    if constexpr (Load::VECTORS) return tree_of_parts<W, N>(load, begin, end, slots);
    constexpr int ROWS = TILE_ROWS<W> < 4 ? TILE_ROWS<W> : 4;
    const int thread = threadIdx.x;
    int count = (int)((end - begin + 3) / 4);
    // Rows that there are, read together: what a thread has no quad in, it reads the last one of.
#pragma unroll 1
    for (int first = 0; first < count && !(MORE && thread >= N); first += ROWS * N) {
        Acc<W> x[ROWS][4] = {};
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int p = first + r * N + thread, at = 4 * (p < count ? p : count - 1);
            if (first + r * N < count) load_quad(x[r], load, begin + at, end - begin - at);
        }
        // Rolled up: rows move by one, so that a quad stands in the code once.
#pragma unroll 1
        for (int p = first + thread; p < first + ROWS * N && p < count; p += N) {
            slots[run_gapped(p)] = of_quad(x[0], end - begin - 4 * p);
#pragma unroll
            for (int r = 1; r < ROWS; ++r)
#pragma unroll
                for (int e = 0; e < 4; ++e) x[r - 1][e] = x[r][e];
        }
    }
    Acc<W> v = {};
    // From one region to the other and back.
#pragma unroll 1
    for (int from = 0;; from = RUNS<W, N> - from) {
        __syncthreads();
        if (thread * 8 < count) v = tree_of_8(slots + from, thread * 8, count);
        if (count <= 8) break;
        if (thread * 8 < count) slots[RUNS<W, N> - from + run_gapped(thread)] = v;
        count = (count + 7) / 8;
    }
    __syncthreads();
    return v;
}

// Nodes of tiles that wait for their right-hand neighbour: of `done` tiles, one for each set bit of `done`.
template <int W>
struct Waiting {
    Acc<W> nodes[24];
    // Another one; counts it.
    IW_DEVICE void add(uint32_t& done, Acc<W> v) {
        int k = 0;
        for (; done >> k & 1; ++k) v = combine(nodes[k], v);
        nodes[k] = v;
        ++done;
    }
    // Missing right halves are skipped: what is left is folded from the smallest node up.
    IW_DEVICE Acc<W> all(uint32_t done) const {
        int k = __ffs(done) - 1;
        Acc<W> v = nodes[k];
        for (++k; done >> k; ++k)
            if (done >> k & 1) v = combine(nodes[k], v);
        return v;
    }
};

// The same over any number of elements, at least one, tile by tile.
template <int W, bool MORE, int N = THREADS, class Load>
IW_DEVICE Acc<W> tree_of_tiles(const Load& load, uint64_t begin, uint64_t count, Acc<W>* slots) {
    constexpr uint32_t T = TILE<W, N>;
    Waiting<W> waiting;
    uint32_t done = 0;
    for (uint64_t at = 0; at < count; at += T) {
        const uint64_t left = count - at;
        const Acc<W> v = tree<W, MORE, N>(load, begin + at, begin + at + (left < T ? left : T), slots);
        if (threadIdx.x == 0) waiting.add(done, v);
    }
    if (threadIdx.x != 0) return {};
    return waiting.all(done);
}

// The tree over `count` > 0 nodes of tiles, by all threads of a block; the result is thread 0's. There are few, so it is the shortest text that counts.
template <int W>
IW_DEVICE Acc<W> tree_of_nodes(const uint32_t* nodes, uint32_t count, Acc<W>* slots) {
    constexpr uint32_t T = TILE<W>;
    Waiting<W> waiting;
    uint32_t done = 0;
    for (uint32_t at = 0; at < count;) {
        const uint32_t here = min(count - at, T), quads = (here + 3) / 4;
#pragma unroll 1
        for (uint32_t p = threadIdx.x; p < quads; p += blockDim.x) {
            Acc<W> x[4];
            load_quad(x, Nodes<W>{nodes}, (uint64_t)at + 4 * p, (uint64_t)here - 4 * p);
            slots[p] = of_quad(x, here - 4 * p);
        }
        __syncthreads();
        // A slot is one thread's: it reads only what is there since the last level.
#pragma unroll 1
        for (uint32_t d = 1; d < quads; d *= 2) {
#pragma unroll 1
            for (uint32_t p = 2 * d * threadIdx.x; p + d < quads; p += 2 * d * blockDim.x) slots[p] = combine(slots[p], slots[p + d]);
            __syncthreads();
        }
        if (threadIdx.x == 0) waiting.add(done, slots[0]);
        at += here;
    }
    if (threadIdx.x != 0) return {};
    return waiting.all(done);
}

// The block that arrives last leaves the counters ready for the next task; none reads them any more.
IW_DEVICE void leave(uint32_t* counts) {
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (arrive_inc(&counts[2], gridDim.x - 1) == gridDim.x - 1) counts[0] = 0, counts[1] = 0;
}

// The list's tiles, one to a block at a time.
template <int W, bool MORE, class Load>
IW_DEVICE void reduce_tiles(const Args& args, const List<W>& list, const Load& load, Acc<W>* slots) {
    const uint32_t listed = list.counts[0], count = listed < args.u[ROOM] ? listed : args.u[ROOM];
    for (uint64_t t = blockIdx.x; t < count; t += gridDim.x) {
        const Tile tile = list.tiles[t];
        const uint32_t length = tile.length & ~ALONE;
        const Acc<W> v = tree<W, MORE>(load, tile.begin, tile.begin + length, slots);
        if (threadIdx.x != 0) continue;
        if (tile.length & ALONE) {
            finish(tile.segment, v);
        } else {
#pragma unroll
            for (int k = 0; k < W; ++k) list.nodes[t * W + k] = v.w[k];
        }
    }
}

// The nodes of long segments' tiles, one segment to a block at a time.
template <int W>
IW_DEVICE void join_nodes(const Args& args, const List<W>& list, Acc<W>* slots) {
    const uint32_t listed = list.counts[1], count = listed < args.u[JOINS] ? listed : args.u[JOINS];
    for (uint64_t j = blockIdx.x; j < count; j += gridDim.x) {
        const Join join = list.joins[j];
        const Acc<W> v = tree_of_nodes<W>(list.nodes + (uint64_t)join.base * W, join.tiles, slots);
        if (threadIdx.x == 0) finish(join.segment, v);
    }
}

IW_DEVICE Meeting meeting_of(const Args& args) { return {(uint32_t*)wide(args.u + MEET), 0}; }

// All of the list, once it is filled, by the blocks of a cooperative launch. Where blocks may not meet, one launch takes the TILES and another the NODES.
constexpr uint32_t TILES = 1, NODES = 2, ALL = TILES | NODES;
template <int W, bool MORE, class Load>
IW_DEVICE void reduce_listed(const Args& args, const Load& load, Meeting& meeting, Acc<W>* slots, uint32_t steps = ALL) {
    const List<W> list(args);
    if (list.counts[0] == 0) return;
    if (steps & TILES) reduce_tiles<W, MORE>(args, list, load, slots);
    if (!(steps & NODES)) return;
    if (list.counts[1] != 0) {
        if (steps == ALL) {
            meeting.arrive();
            meeting.wait();
        }
        join_nodes<W>(args, list, slots);
    }
    leave(list.counts);
}
