// Look-back, for kernels that read their input in one launch: a tile publishes its aggregate and puts the fold of all tiles before it
// together, from left to right. Tiles come in groups. The last of a group publishes the fold up to its own end instead, and each tile waits
// for the one before its group and for the aggregates of its own: so every tile asks for little and publishes once. (Or it is served: see below.)
#pragma once
#include "iw.cuh"

// Measured on an H200: a hop from group to group takes longer for a larger one, and there are fewer of them.
constexpr int GROUP = 128;        // tiles
constexpr uint32_t AGAIN = 250;  // ns before a tile asks again; the last of its group does so at once
constexpr int HEADER_WORDS = 16;  // of 64 bits, before the tiles' status words
constexpr int FINISHED = 2;       // header word: tiles that have looked back, counted in the last epoch only

// Status of a tile: one 64-bit word to each accumulator word, value low, tag high, so that a value and its tag arrive together
// without a fence. The tag names the launch (its epoch, plus one), so that words need no clearing between launches until epochs start over,
// which the host says (`epochs`): there are less than 2^32.

IW_DEVICE uint64_t peek(const uint64_t* p) {
    uint64_t v;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}
// Leaves `v` as it is where `asked` is false. By a predicate: the assembler takes long for a branch to each.
IW_DEVICE void peek_if(bool asked, const uint64_t* p, uint64_t& v) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p ld.relaxed.gpu.global.u64 %0, [%2]; }" : "+l"(v) : "r"((uint32_t)asked), "l"(p) : "memory");
}
IW_DEVICE void post(uint64_t* p, uint64_t v) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
template <int W>
IW_DEVICE void publish(uint64_t* status, uint32_t tile, uint32_t epoch, const Acc<W>& v) {
#pragma unroll
    for (int k = 0; k < W; ++k) post(status + (uint64_t)tile * W + k, v.w[k] | (uint64_t)(epoch + 1) << 32);
}
// A tile's words as they were when somebody looked.
template <int W>
struct Status {
    uint64_t word[W];
    IW_DEVICE bool of(uint32_t epoch) const {
        bool published = true;
#pragma unroll
        for (int k = 0; k < W; ++k) published &= (uint32_t)(word[k] >> 32) == epoch + 1;
        return published;
    }
    IW_DEVICE void look_if(bool asked, const uint64_t* words) {
#pragma unroll
        for (int k = 0; k < W; ++k) peek_if(asked, words + k, word[k]);
    }
    IW_DEVICE Acc<W> value() const {
        Acc<W> v;
#pragma unroll
        for (int k = 0; k < W; ++k) v.w[k] = (uint32_t)word[k];
        return v;
    }
};
template <int W>
IW_DEVICE Status<W> look(const uint64_t* words) {
    Status<W> s;
#pragma unroll
    for (int k = 0; k < W; ++k) s.word[k] = peek(words + k);
    return s;
}

// A word in shared memory that other warps wrote before a barrier of all. It is read atomically for racecheck's sake: once some warps of a block have
// met at a barrier of their own, it takes the next write of such a word, behind another barrier of all, for a race with this read.
IW_DEVICE uint32_t seen(uint32_t& word) { return atomicOr(&word, 0u); }

// The operator of a fold: the caller's, unless a kernel that reduces by that one looks back for something else.
struct Combined {
    static constexpr bool FREE = false;  // to be put together in any way, zero being what changes nothing
    template <int W>
    IW_DEVICE static Acc<W> of(Acc<W> a, Acc<W> b) {
        return combine(a, b);
    }
};

// Values that are read while those before them are folded.
template <int W>
constexpr int AHEAD = W == 1 ? 8 : W == 2 ? 4 : 2;
// Room for a group's aggregates, and for reading ahead of them.
template <int W>
constexpr int WINDOW = GROUP + AHEAD<W>;

template <int W>
IW_DEVICE void read_ahead(const Acc<W>* from, Acc<W> (&v)[AHEAD<W>]) {
#pragma unroll
    for (int k = 0; k < AHEAD<W>; ++k) v[k] = from[k];
}

// The left fold of `fold`, window[from], .., window[count - 1], by every lane alike. The next group waits for it.
template <class Fold, int W>
IW_DEVICE Acc<W> fold_window(Acc<W> fold, const Acc<W>* window, int from, int count) {
    constexpr int N = AHEAD<W>;
    Acc<W> v[N];
    read_ahead(window + from, v);
#pragma unroll 1
    for (; from + N <= count; from += N) {
        Acc<W> next[N];
        read_ahead(window + from + N, next);
#pragma unroll
        for (int k = 0; k < N; ++k) fold = Fold::of(fold, v[k]);
#pragma unroll
        for (int k = 0; k < N; ++k) v[k] = next[k];
    }
#pragma unroll
    for (int k = 0; k < N; ++k)
        if (from + k < count) fold = Fold::of(fold, v[k]);
    return fold;
}

// By one warp: publishes what a tile's group or the next waits for, and gives all lanes the fold of tiles first..tile-1; of none,
// anything. Every wait is for tiles before this one, and the first of all waits for nothing. Asking in vain costs those who have the
// answers: once all blocks are at work, it takes about `patience` ns for them to come.
template <class Fold = Combined, int W>
IW_DEVICE Acc<W> look_back(uint64_t* status, uint32_t tile, uint32_t first, uint32_t epoch, const Acc<W>& aggregate, Acc<W>* window,
                           uint32_t patience) {
    constexpr int LOOK = GROUP / WARP;
    const int lane = lane_id(), count = (tile - first) % GROUP;
    const uint32_t begin = tile - count;
    const uint64_t* const words = status + (uint64_t)begin * W;
    const bool leads = count == GROUP - 1;
    if (lane == 0 && !leads) publish(status, tile, epoch, aggregate);
    if (tile - first >= gridDim.x) __nanosleep(patience);

    // All questions of a round before any answer, since each takes as long as all.
    const bool starts = begin == first;  // no fold comes before the group
    Status<W> found[LOOK] = {}, before = {};
    bool there[LOOK], fold_there = starts;
#pragma unroll
    for (int j = 0; j < LOOK; ++j) there[j] = j * WARP + lane >= count;
    for (;;) {
#pragma unroll
        for (int j = 0; j < LOOK; ++j) found[j].look_if(!there[j], words + (j * WARP + lane) * W);
        before.look_if(!fold_there, words - W);
        bool all = true;
#pragma unroll
        for (int j = 0; j < LOOK; ++j) {
            there[j] = there[j] || found[j].of(epoch);
            all &= there[j];
        }
        fold_there = fold_there || before.of(epoch);
        if (__all_sync(ALL_LANES, all && fold_there)) break;
        if (!leads) __nanosleep(AGAIN);
    }
    Acc<W> fold;
    if constexpr (Fold::FREE) {
        fold = {};
#pragma unroll
        for (int j = 0; j < LOOK; ++j) fold = Fold::of(fold, pick(j * WARP + lane < count, found[j].value(), Acc<W>{}));
#pragma unroll 1
        for (int step = WARP / 2; step; step /= 2) fold = Fold::of(fold, shuffle_xor(fold, step));
        fold = Fold::of(before.value(), fold);
    } else {
#pragma unroll
        for (int j = 0; j < LOOK; ++j) window[j * WARP + lane] = found[j].value();
        __syncwarp();
        fold = fold_window<Fold>(starts ? window[0] : before.value(), window, starts ? 1 : 0, count);
    }
    if (lane == 0 && leads) publish(status, tile, epoch, Fold::of(fold, aggregate));
    return fold;
}

// The other way, for long lines: one warp of the launch, the server, does nothing but fold the aggregates of all tiles as they come, and a tile
// asks for its own fold only. So the fold stays in registers from tile to tile, and few questions are asked. As in the first way, everyone waits
// for tiles with lower tickets only; the server has the first of all.
constexpr int SERVED = 96;                                    // tiles that the server asks for at once
constexpr uint32_t SERVE_PATIENCE = 1800, SERVE_AGAIN = 250;  // ns, as patience and AGAIN above
template <int W>
constexpr int SERVER_WINDOW = SERVED + AHEAD<W>;

// By one warp: puts each tile's fold into its place, but for the first tiles of lines, which have none.
template <int W>
IW_DEVICE void serve_folds(const uint64_t* aggregates, uint64_t* folds, uint32_t tiles, uint32_t tiles_per_line, uint32_t epoch, Acc<W>* window) {
    constexpr int LOOK = SERVED / WARP, N = AHEAD<W>;
    const int lane = lane_id();
    Status<W> found[LOOK];
    const auto ask = [&](uint32_t tile) {
#pragma unroll
        for (int j = 0; j < LOOK; ++j) found[j] = look<W>(aggregates + (uint64_t)min(tile + j * WARP + lane, tiles - 1) * W);
    };
    Acc<W> fold = {};
    uint32_t in_line = 0;  // tiles of the line that are folded
    ask(0);
    for (uint32_t tile = 0; tile < tiles;) {
        int count = 0;  // that have come, without a gap
#pragma unroll
        for (int j = 0; j < LOOK; ++j) {
            const bool there = tile + j * WARP + lane < tiles && found[j].of(epoch);
            const uint32_t missing = ~__ballot_sync(ALL_LANES, there);
            if (count == j * WARP) count += missing ? __ffs(missing) - 1 : WARP;
            window[j * WARP + lane] = found[j].value();
        }
        __syncwarp();
        ask(tile + count);  // on its way while these are folded
        for (int from = 0; from < count;) {
            const int to = from + (int)min((uint32_t)min(count - from, WARP), tiles_per_line - in_line);
            int k = from;
            if (in_line == 0) fold = window[k++];
            Acc<W> mine = fold, v[N];  // mine: the fold after tile from + lane
            read_ahead(window + k, v);
#pragma unroll 1
            for (; k + N <= to; k += N) {
                Acc<W> next[N];
                read_ahead(window + k + N, next);
#pragma unroll
                for (int e = 0; e < N; ++e) {
                    fold = combine(fold, v[e]);
                    mine = pick(lane == k + e - from, fold, mine);
                    v[e] = next[e];
                }
            }
#pragma unroll
            for (int e = 0; e < N; ++e) {
                if (k + e < to) fold = combine(fold, v[e]);
                mine = pick(lane == k + e - from, fold, mine);
            }
            if (lane < to - from && in_line + lane + 1 < tiles_per_line) publish(folds, tile + from + lane + 1, epoch, mine);
            in_line = in_line + (to - from) == tiles_per_line ? 0 : in_line + (to - from);
            from = to;
        }
        __syncwarp();
        tile += count;
    }
}

// As serve_folds, of one line, for sums of integers and what else may be put together in any way: a row of those that have come at once, by a tree over the
// lanes.
template <class Fold = Combined, int W>
IW_DEVICE void serve_sums(const uint64_t* aggregates, uint64_t* folds, uint32_t tiles, uint32_t epoch) {
    constexpr int LOOK = SERVED / WARP;
    const int lane = lane_id();
    Status<W> found[LOOK];
    const auto ask = [&](uint32_t tile) {
#pragma unroll
        for (int j = 0; j < LOOK; ++j) found[j] = look<W>(aggregates + (uint64_t)min(tile + j * WARP + lane, tiles - 1) * W);
    };
    Acc<W> fold = {}, sums[LOOK] = {};
    int count = 0;  // that have come, without a gap
    for (uint32_t tile = 0;;) {
        ask(tile + count);  // on its way while these are summed
        // Rolled up, the first row of them each time, so that it stands in the code once.
#pragma unroll 1
        for (; count > 0; count -= WARP) {
            const int here = min(count, WARP);
            Acc<W> sum = sums[0];
#pragma unroll
            for (int j = 1; j < LOOK; ++j) sums[j - 1] = sums[j];
#pragma unroll
            for (int step = 1; step < WARP; step *= 2) sum = Fold::of(pick(lane >= step, shuffle_up(sum, step), Acc<W>{}), sum);
            sum = Fold::of(fold, sum);
            if (lane < here && tile + lane + 1 < tiles) publish(folds, tile + lane + 1, epoch, sum);
            fold = shuffle(sum, here - 1);
            tile += here;
        }
        if (tile >= tiles) return;
        count = 0;
#pragma unroll
        for (int j = 0; j < LOOK; ++j) {
            const bool there = tile + j * WARP + lane < tiles && found[j].of(epoch);
            const uint32_t missing = ~__ballot_sync(ALL_LANES, there);
            if (count == j * WARP) count += missing ? __ffs(missing) - 1 : WARP;
            sums[j] = found[j].value();
        }
    }
}

// By one thread: the fold of the tiles before this one, which is not the first of its line.
template <int W>
IW_DEVICE Acc<W> served_fold(const uint64_t* folds, uint32_t tile, uint32_t epoch, uint32_t patience = SERVE_PATIENCE) {
    if (tile >= gridDim.x) __nanosleep(patience);
    for (;;) {
        const Status<W> found = look<W>(folds + (uint64_t)tile * W);
        if (found.of(epoch)) return found.value();
        __nanosleep(SERVE_AGAIN);
    }
}

// Tickets hand out tiles in the order in which blocks ask, so a tile only ever waits for tiles that are being worked on.
// A block asks again when its look-back has ended, not before: look-backs end in the order of tiles, and so the next tiles
// start in that order too. The ticket counter's upper half is the epoch: one atomic gives both.
IW_DEVICE uint64_t draw(uint64_t* header) { return atomicAdd(header, 1ull); }

// By one thread to each tile, when it has published and looked back: nobody waits for this but the last launch before epochs start over.
IW_DEVICE void looked_back(uint64_t* header, uint32_t epoch, uint32_t epochs) {
    if (epoch + 1 < epochs) return;
    __threadfence();
    atomicAdd(header + FINISHED, 1ull);
}

// By the block that drew the last ticket of all. When epochs start over, words of that many launches ago must not be taken
// for new ones: wait until every tile has looked back, hence nobody reads or writes any more, and clear.
template <int W>
IW_DEVICE void next_epoch(uint64_t* header, uint64_t* status, uint32_t tiles, uint32_t epoch, uint32_t epochs) {
    if (epoch + 1 < epochs) {
        if (threadIdx.x == 0) post(header, (uint64_t)(epoch + 1) << 32);
        return;
    }
    if (threadIdx.x == 0) {
        while (peek(header + FINISHED) != tiles) {
        }
        __threadfence();
    }
    __syncthreads();
    // Scratch may have served longer scans before: u64 words to clear are counted in header[1].
#pragma unroll 1
    for (uint64_t i = threadIdx.x; i < header[1]; i += blockDim.x) post(status + i, 0);
    if (threadIdx.x == 0) post(header + FINISHED, 0), post(header, 0);
}
