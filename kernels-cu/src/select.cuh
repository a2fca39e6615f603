// Select: elements of part 0 one after the other and the others nowhere (keep, runs) or behind them (two and three ways), in their order.
// Runs also have the number of elements from each that is kept to the next. All integers, so there is no order to keep but the elements' own.
// One launch, input read once: a tile looks back for what the tiles before it hold of each part (look_back.cuh). An element's values go through
// shared memory to their places, so that neighbours write neighbours; there the tile waits for its fold while its block reads the next one.
// Where others lie behind, the counts are there before, since places depend on them; few tiles, whose blocks run at the same time, count for themselves.
#pragma once
#include "five.cuh"
#include "iw.cuh"
#include "look_back.cuh"
#include "ranks.cuh"

IW_DEVICE void store_length(uint64_t i, uint32_t v) { asm volatile("// @op.length %0, %1;" ::"l"(i), "r"(v) : "memory"); }
IW_DEVICE void store_lengths(uint64_t i, const uint32_t (&v)[4]) {
    asm volatile("// @op.length4 %0, %1, %2, %3, %4;" ::"l"(i), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]) : "memory");
}
IW_DEVICE void store_count(uint64_t v) { asm volatile("// @op.count %0;" ::"l"(v) : "memory"); }
// Of parts 0 and 1.
IW_DEVICE void store_counts(uint32_t first, uint32_t second) { asm volatile("// @op.counts %0, %1;" ::"r"(first), "r"(second) : "memory"); }
template <int K>
IW_DEVICE uint64_t count_of() {
    uint64_t v;
    if constexpr (K == 0) asm volatile("// @op.count0 %0;" : "=l"(v));
    else asm volatile("// @op.count1 %0;" : "=l"(v));
    return v;
}

enum Kind { KEEP, RUNS, TWO_WAYS, THREE_WAYS };

constexpr int WARPS = HOLDERS / WARP;
template <int W, bool RUN>
constexpr int ROWS = W == 1 ? RUN ? 7 : 8 : W == 2 ? 4 : 2;  // of 4 elements to a lane
template <int W, int A, bool RUN, bool SERVED>
constexpr int BLOCKS = SERVED && (A == 1 ? W <= 2 : RUN && W == 1) ? 3 : 2;  // to a multiprocessor, as registers are shared out
constexpr uint32_t PATIENCE = 2500;  // ns: see look_back
constexpr int EPOCHS = 12;           // word of u: launches after which epochs start over

// Numbers of elements. Runs have the place behind the last that is kept in the second sum.
template <bool WIDE>
struct Number {
    using Type = uint32_t;
};
template <>
struct Number<true> {
    using Type = uint64_t;
};
template <bool WIDE>
struct Sums {
    typename Number<WIDE>::Type first, second;
    template <int A>
    IW_DEVICE explicit Sums(const Acc<A>& v) : first(v.w[0]), second(0) {
        if constexpr (WIDE) first |= (uint64_t)v.w[1] << 32;
        else if constexpr (A == 2) second = v.w[1];
    }
};

// By the holders: `count` elements from a slot on to neighbouring places, four at a time from the first place on that is a multiple of four. Each lane
// has four neighbours, which the lanes of a warp read in such turns that all banks are asked at once.
template <class N>
IW_DEVICE void store_run(const uint32_t* staged, uint32_t slot, N first, uint32_t count) {
    const uint32_t lead = min(0u - (uint32_t)first & 3, count), vectors = (count - lead) / 4, tail = lead + 4 * vectors;
    if (threadIdx.x < count - 4 * vectors) {
        const uint32_t j = threadIdx.x < lead ? threadIdx.x : tail + threadIdx.x - lead;
        store1(first + j, Acc<1>{staged[slot + j]});
    }
    const uint32_t turn = lane_id() / 8;
    // Two at a time, both read before one is stored; where there is one, it is read twice.
#pragma unroll 1
    for (uint32_t v = threadIdx.x; v < vectors; v += 2 * HOLDERS) {
        const uint32_t at[2] = {lead + 4 * v, v + HOLDERS < vectors ? lead + 4 * (v + HOLDERS) : lead + 4 * v};
        Acc<1> z[2][4];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            uint32_t x[4], y[4];
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k) x[k] = staged[slot + at[h] + (k + turn & 3)];
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k) y[k] = turn & 1 ? x[k + 3 & 3] : x[k];
#pragma unroll
            for (uint32_t k = 0; k < 4; ++k) z[h][k].w[0] = turn & 2 ? y[k + 2 & 3] : y[k];
        }
        store4(first + at[0], z[0]);
        if (at[1] != at[0]) store4(first + at[1], z[1]);
    }
}

// By the holders: the lengths of the runs before `count` neighbouring ones, of which the first is run `first` of all: places where they begin in the
// tile, the tile's own, and where the one before the first begins, plus one.
IW_DEVICE void store_lengths_before(const unsigned short* places, uint32_t begin, uint32_t before, uint32_t first, uint32_t count) {
    const uint32_t ahead = 0u - (first - 1) & 3, lead = min(ahead ? ahead : 4, count), vectors = (count - lead) / 4, tail = lead + 4 * vectors;
    if (threadIdx.x < count - 4 * vectors) {
        const uint32_t j = threadIdx.x < lead ? threadIdx.x : tail + threadIdx.x - lead;
        const uint32_t from = j == 0 ? before : begin + places[j - 1] + 1;
        if (first + j != 0) store_length(first + j - 1, begin + places[j] + 1 - from);
    }
#pragma unroll 2
    for (uint32_t v = threadIdx.x; v < vectors; v += HOLDERS) {
        const uint32_t j = lead + 4 * v;
        uint32_t at = places[j - 1], length[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const uint32_t next = places[j + k];
            length[k] = next - at, at = next;
        }
        store_lengths(first + j - 1, length);
    }
}

// Sums of numbers, and the greatest of places: the operator's, too. Folds of runs, of two words each, are put together one after the other all the same.
template <bool RUN>
struct Counted : Combined {
    static constexpr bool FREE = !RUN;
};

// By one warp: the sums of all tiles, no more than a group. Every tile waits for every other.
template <int A>
IW_DEVICE Acc<A> fold_of_all(const uint64_t* status, uint32_t tiles, uint32_t epoch) {
    Acc<A> sum = {};
    // The last of a group has published the fold of all of them.
    uint32_t k = tiles == GROUP ? (lane_id() == 0 ? GROUP - 1 : tiles) : lane_id();
#pragma unroll 1
    for (; k < tiles; k += WARP) {
        Status<A> found;
        do found = look<A>(status + (uint64_t)k * A);
        while (!found.of(epoch));
        sum = combine(sum, found.value());
    }
    __syncwarp();
#pragma unroll
    for (int step = WARP / 2; step; step /= 2) sum = combine(sum, shuffle_xor(sum, step));
    return sum;
}

// u[0] kind, u[12] epochs: see look_back.cuh. scratch[0]: 16 words of 64 bits, then the tiles' status; kept as scan keeps it.
// TWO: what is not kept lies behind what is; where WIDE, the kind says whether it does, and otherwise it goes nowhere.
// Grid: any; enough blocks to fill the device, and no more than tiles and the server, is best. SERVED, for arrays of more tiles than a group has:
// see look_back.cuh. JOINT, for a cooperative launch with a block to each of no more tiles than a group has: the counts are an output, and each tile waits
// for all. One barrier a tile brings the scout the warps' totals and the others the fold of the tile that waits in shared memory.
template <int W, int A, bool WIDE, bool PAIRED, bool RUN, bool TWO, bool SERVED, bool JOINT>
IW_DEVICE void select(const Args& args) {
    using N = typename Number<WIDE>::Type;
    constexpr int R = ROWS<W, RUN>, T = R * 4 * HOLDERS, SETS = PAIRED ? 2 : 1;
    __shared__ uint32_t staged[W * T];
    __shared__ unsigned short places[RUN ? T : 1];  // of staged elements in their tile
    __shared__ uint32_t ticket[2], launch, totals[2][SETS][WARPS], lasts[2][WARPS];
    __shared__ Acc<A> fold_of[2], window[SERVED ? 1 : WINDOW<A>], whole;
    uint64_t* const header = (uint64_t*)args.scratch[0];
    uint64_t* const status = header + HEADER_WORDS;
    constexpr bool KEEPS = RUN || !(PAIRED || TWO || WIDE);  // whatever the kind
    const bool keeps = KEEPS || (!PAIRED && !TWO && args.u[0] == KEEP);
    constexpr uint32_t servers = SERVED ? 1 : 0;
    const uint32_t tiles = (uint32_t)((args.n + T - 1) / T);
    uint64_t* const folds = status + (uint64_t)tiles * A;
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
            if (warp == 0) serve_sums<Counted<RUN>, A>(status, folds, tiles, epoch);
            return;
        }
    }
    uint32_t tile = first_drawn, waiting = tiles;  // waiting: the tile that is staged, if any
    uint32_t waiting_total = 0, waiting_second = 0, waiting_last = 0;
    for (int turn = 0;; turn ^= 1) {
        Acc<W> x[R][4];
        Ranks ranks[SETS];
        uint32_t valid = 0;  // elements of the tile
        if (warp < WARPS) {
            tile = ticket[turn] - servers;
            if (tile < tiles) {
                const uint64_t begin = (uint64_t)tile * T, i0 = begin + warp * R * ROW + lane * 4;
                valid = (uint32_t)min((uint64_t)T, args.n - begin);
#pragma unroll
                for (int s = 0; s < SETS; ++s) ranks[s].bits = 0;
                load_rows(x, i0, args.n, [&](int k, uint32_t part) {
#pragma unroll
                    for (int s = 0; s < SETS; ++s) ranks[s].bits |= (uint32_t)(part == s) << k;
                });
#pragma unroll
                for (int s = 0; s < SETS; ++s) {
                    const uint32_t total = ranks[s].rank();
                    if (lane == 0) totals[turn][s][warp] = total;
                }
                if (RUN) {
                    // The place behind the last that the warp keeps, in the tile; 0 if it keeps none.
                    const uint32_t bits = ranks[0].bits, top = 31 - __clz(bits);
                    uint32_t last = bits ? warp * R * ROW + top / 4 * ROW + lane * 4 + top % 4 + 1 : 0;
#pragma unroll
                    for (int step = WARP / 2; step; step /= 2) last = max(last, __shfl_xor_sync(ALL_LANES, last, step));
                    if (lane == 0) lasts[turn][warp] = last;
                }
            }
        }
        __syncthreads();
        if (warp == WARPS) {
            tile = ticket[turn] - servers;
            if (tile >= tiles) break;
            uint32_t sum = lane < WARPS ? seen(totals[turn][0][lane]) : 0, second = 0;
            if (PAIRED) second = lane < WARPS ? seen(totals[turn][SETS - 1][lane]) : 0;
            if (RUN) second = lane < WARPS ? seen(lasts[turn][lane]) : 0;
#pragma unroll
            for (int step = WARPS / 2; step; step /= 2) {
                sum += __shfl_xor_sync(ALL_LANES, sum, step);
                const uint32_t other = __shfl_xor_sync(ALL_LANES, second, step);
                second = RUN ? max(second, other) : second + other;
            }
            Acc<A> aggregate = {};
            aggregate.w[0] = sum;
            if (RUN && second) second += tile * (uint32_t)T;
            if (PAIRED || RUN) aggregate.w[A - 1] = second;
#pragma unroll
            for (int k = 0; k < A; ++k) aggregate.w[k] = __shfl_sync(ALL_LANES, aggregate.w[k], 0);
            Acc<A> fold = {};
            if constexpr (!SERVED) {
                fold = look_back<Counted<RUN>>(status, tile, 0, epoch, aggregate, window, PATIENCE);
            } else if (lane == 0) {
                publish(status, tile, epoch, aggregate);
                if (tile != 0) fold = served_fold<A>(folds, tile, epoch);
            }
            if (tile == 0) fold = {};
            if constexpr (JOINT) {
                const Acc<A> all = fold_of_all<A>(status, tiles, epoch);
                if (lane == 0) whole = all;
            }
            if (lane == 0) {
                fold_of[turn] = fold;
                looked_back(header, epoch, args.u[EPOCHS]);
            }
            __syncwarp();
            continue;
        }
        uint32_t next = tiles + servers;
        if (!once && threadIdx.x == 0 && tile < tiles) next = (uint32_t)draw(header);
        if (waiting < tiles) {
            const Sums<WIDE> fold(fold_of[turn ^ 1]);
            const N begin = (N)waiting * T, n = (N)args.n;
            const uint32_t stored = keeps ? waiting_total : (uint32_t)min((N)T, (N)(n - begin));
            N first_1 = 0, first_2 = 0;
            if (!keeps) {
                N count0, count1 = 0;
                if constexpr (JOINT) {
                    const Sums<WIDE> counts(whole);
                    count0 = counts.first, count1 = counts.second;
                    if (waiting == tiles - 1 && threadIdx.x == 0) store_counts(count0, count1);
                } else {
                    count0 = (N)count_of<0>();
                    if constexpr (PAIRED) count1 = (N)count_of<1>();
                }
                first_1 = count0 + (PAIRED ? fold.second : begin - fold.first) - waiting_total;
                if constexpr (PAIRED) first_2 = count0 + count1 + begin - fold.first - fold.second - waiting_total - waiting_second;
            }
            if constexpr (W == 1 && RUN) {
                store_run(staged, 0, fold.first, waiting_total);
                store_lengths_before(places, (uint32_t)begin, (uint32_t)fold.second, (uint32_t)fold.first, waiting_total);
            } else if constexpr (W == 1) {
                store_run(staged, 0, fold.first, waiting_total);
                if (PAIRED) store_run(staged, waiting_total, first_1 + waiting_total, waiting_second);
                const uint32_t others = waiting_total + waiting_second;
                if (!keeps) store_run(staged, others, (PAIRED ? first_2 : first_1) + others, stored - others);
            } else {
#pragma unroll 4
                for (uint32_t j = threadIdx.x; j < stored; j += HOLDERS) {
                    N at = fold.first + j;
                    if (j >= waiting_total) at = first_1 + j;
                    if (PAIRED && j >= waiting_total + waiting_second) at = first_2 + j;
                    Acc<W> v;
#pragma unroll
                    for (int k = 0; k < W; ++k) v.w[k] = staged[k * T + j];
                    store1(at, v);
                    if (RUN && at != 0) {
                        const uint32_t before = j == 0 ? (uint32_t)fold.second : (uint32_t)begin + places[j - 1] + 1;
                        store_length(at - 1, (uint32_t)begin + places[j] + 1 - before);
                    }
                }
            }
            if (waiting == tiles - 1 && keeps && threadIdx.x == 0) {
                const N count = fold.first + waiting_total;
                store_count(count);
                if (RUN && count) {
                    const uint32_t last = waiting_total ? (uint32_t)begin + waiting_last : (uint32_t)fold.second;
                    store_length(count - 1, (uint32_t)n + 1 - last);
                }
            }
        }
        if (tile >= tiles) break;
        holders_meet();  // what was staged is stored
        {
            uint32_t before[SETS], total[SETS];
#pragma unroll
            for (int s = 0; s < SETS; ++s) {
                before[s] = total[s] = 0;
#pragma unroll
                for (int w = 0; w < WARPS; ++w) {
                    const uint32_t t = totals[turn][s][w];
                    before[s] += w < warp ? t : 0, total[s] += t;
                }
            }
            const uint32_t others = total[0] + (PAIRED ? total[SETS - 1] : 0);  // slot of the first element of no part, if these stay
            const uint32_t staged_at = (uint32_t)__cvta_generic_to_shared(staged), places_at = (uint32_t)__cvta_generic_to_shared(places);
            const uint32_t own = warp * R * ROW + lane * 4;
            const int end = keeps ? 0 : (int)valid - (int)own;
#pragma unroll
            for (int r = 0; r < R; ++r) {
                // Where the lane's next element of each part lies, and of none.
                uint32_t next[SETS], next_other = others + own + r * ROW;
#pragma unroll
                for (int s = 0; s < SETS; ++s) {
                    const uint32_t rank = before[s] + of_row(ranks[s].left, r);
                    next[s] = staged_at + 4 * (rank + (s ? total[0] : 0));
                    next_other -= rank;
                    before[s] += of_row(ranks[s].whole, r);
                }
                next_other = staged_at + 4 * next_other;
                uint32_t next_place = places_at + (next[0] - staged_at) / 2;
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    if constexpr (KEEPS) {
                        const uint32_t has = ranks[0].bits & 1u << (4 * r + e);
#pragma unroll
                        for (int k = 1; k < W; ++k) put_if(has, next[0] + 4 * k * T, x[r][e].w[k]);
                        if (RUN) put_half(has, next_place, own + r * ROW + e);
                        put(has, next[0], x[r][e].w[0]);
                    } else {
                        const bool of_0 = ranks[0].has(r, e), of_1 = PAIRED && ranks[SETS - 1].has(r, e);
                        const uint32_t at = of_0 ? next[0] : of_1 ? next[SETS - 1] : next_other;
                        // All that are kept come before the end.
                        const bool stays = WIDE ? of_0 || r * ROW + e < end : r * ROW + e < end;
#pragma unroll
                        for (int k = 0; k < W; ++k) put_if(stays, at + 4 * k * T, x[r][e].w[k]);
                        next[0] += of_0 ? 4 : 0;
                        if (PAIRED) next[SETS - 1] += of_1 ? 4 : 0;
                        next_other += of_0 || of_1 ? 0 : 4;
                    }
                }
            }
            waiting_total = total[0];
            if (PAIRED) waiting_second = total[SETS - 1];
            if (RUN) {
                waiting_last = 0;
#pragma unroll
                for (int w = 0; w < WARPS; ++w) waiting_last = max(waiting_last, lasts[turn][w]);
            }
        }
        if (threadIdx.x == 0) ticket[turn ^ 1] = next;
        waiting = tile;
        holders_meet();
    }
    const uint32_t last = once ? tiles - 1 : tiles + gridDim.x - 1 - servers;
    if ((once ? first_drawn : tile) == last) next_epoch<A>(header, status, tiles, epoch, args.u[EPOCHS]);
}

#define SELECT(name, W, A, WIDE, PAIRED, RUN, TWO, SERVED, JOINT)                              \
    extern "C" __global__ void __launch_bounds__(HOLDERS + WARP, BLOCKS<W, A, RUN, SERVED>)    \
        name##_w##W(const __grid_constant__ Args args) {                                       \
        select<W, A, WIDE, PAIRED, RUN, TWO, SERVED, JOINT>(args);                             \
    }
