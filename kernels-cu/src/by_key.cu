// Reduction by key: neighbours of equal keys are a run, and each run is reduced as an array of its own (segments.cu says how). One launch reads keys and
// values once: a tile stages its accumulators in shared memory, looks back for how many runs begin before it and where the last of them does
// (look_back.cuh), and reduces the runs that lie in it whole while its block has read the next tile. A run of up to TINY elements is reduced by a thread,
// one of up to SHORT by a warp. What begins before a tile and ends in it is the business of the warp that looks back: it reads it again, from where it
// begins. Longer runs go to the list that segments_listed_w* reduces; where a tile stands there depends on timing, and shows nowhere. Of
// few elements the launch is a cooperative one, which reduces them itself (by_key_joint_w*).
#include "iw.cuh"
#include "look_back.cuh"
#include "ranks.cuh"
#include "segments.cuh"

// The accumulator of an element, without the word before it: 1 where a run begins, else 0.
IW_DEVICE void value1(Acc<1>& v, uint64_t i) { asm volatile("// @op.value1 %0, %1;" : "=r"(v.w[0]) : "l"(i)); }
IW_DEVICE void value1(Acc<2>& v, uint64_t i) { asm volatile("// @op.value1 %0, %1, %2;" : "=r"(v.w[0]), "=r"(v.w[1]) : "l"(i)); }
// Keys of the input to the output, by their numbers; all are read before any is written.
constexpr int COPIED = 4;
IW_DEVICE void copy_keys(const uint64_t (&to)[COPIED], const uint64_t (&from)[COPIED]) {
    asm volatile("// @op.keys %0, %1, %2, %3, %4, %5, %6, %7;" ::"l"(to[0]), "l"(to[1]), "l"(to[2]), "l"(to[3]), "l"(from[0]), "l"(from[1]), "l"(from[2]),
                 "l"(from[3])
                 : "memory");
}
IW_DEVICE void store_count(uint32_t v) { asm volatile("// @op.count %0;" ::"r"(v) : "memory"); }

constexpr int R = 4;                // rows of 4 elements to a lane
constexpr int T = R * 4 * HOLDERS;  // elements of a tile
constexpr uint32_t PATIENCE = 2500, AFTER_A_RUN = 800;  // ns: see look_back, and served_fold where a run was reduced before
constexpr int EPOCHS = 12;           // word of u: launches after which epochs start over
constexpr int MARKS = 2;             // numbers that a tile hands on: runs that begin, and the place behind the last beginning

struct Marked {
    static constexpr bool FREE = true;
    IW_DEVICE static Acc<MARKS> of(Acc<MARKS> a, Acc<MARKS> b) { return {a.w[0] + b.w[0], a.w[1] > b.w[1] ? a.w[1] : b.w[1]}; }
};

// Knowledge of the run that begins before a tile: where the first one begins in the tile (T if none does), and what tiles before it have handed on.
// Of tile 0 there is none.
struct Cut {
    uint32_t tile, first;
    Acc<MARKS> fold;
};

// Shared memory with a gap after 32 words, so that neighbours that are 2, 4, 8, .. elements apart lie in different banks. A word of each accumulator
// in a plane of its own; what is read with the last elements reaches over the tile's end.
constexpr int gapped(int i) { return i + (i >> 5); }
IW_DEVICE uint32_t gapped_at(uint32_t i) { return i + (i >> 5); }
constexpr int PLANE = gapped(T + 7);

// The node over staged elements from `place` on, those of the first `left`, of four or eight at most.
template <int W>
struct Staged {
    const uint32_t* words;
    template <int N>
    IW_DEVICE void load(Acc<W> (&x)[N], uint32_t place) const {
#pragma unroll
        for (int e = 0; e < N; ++e)
#pragma unroll
            for (int k = 0; k < W; ++k) x[e].w[k] = words[k * PLANE + gapped_at(place + e)];
    }
    IW_DEVICE Acc<W> one(uint32_t place) const {
        Acc<W> x[1];
        load(x, place);
        return x[0];
    }
    IW_DEVICE Acc<W> operator()(uint32_t place, uint32_t left) const {
        Acc<W> x[4];
        load(x, place);
        return of_quad(x, left);
    }
    IW_DEVICE Acc<W> of_8(uint32_t place, uint32_t left) const {
        Acc<W> x[8];
        load(x, place);
#pragma unroll
        for (uint32_t d = 1; d < 8; d *= 2)
#pragma unroll
            for (uint32_t e = 0; e < 8; e += 2 * d)
                if (e + d < left) x[e] = combine(x[e], x[e + d]);
        return x[0];
    }
};

// The same of the caller's elements.
template <int W>
struct Values {
    static constexpr bool VECTORS = false;
    IW_DEVICE void operator()(Acc<W>& v, uint64_t i) const { value1(v, i); }
    IW_DEVICE Acc<W> operator()(uint32_t place, uint32_t left) const {
        Acc<W> x[4];
        load_quad(x, *this, (uint64_t)place, (uint64_t)left);
        return of_quad(x, left);
    }
};

// Neighbouring nodes of one size, of which less than 2^(LEVELS + 1) come one by one, put together. Each level has a node that waits for its
// right-hand neighbour.
template <int W, int LEVELS>
struct Spine {
    Acc<W> waiting[LEVELS] = {};
    // Node `q`: gives the largest that it completes. Level by level by templates, so that the nodes that wait are registers.
    template <int K = 0>
    IW_DEVICE Acc<W> add(uint32_t q, Acc<W> v) {
        if constexpr (K < LEVELS) {
            if (q >> K & 1) return add<K + 1>(q, combine(waiting[K], v));
            waiting[K] = v;
        }
        return v;
    }
    // All of them, of what the last of `count` gave: missing right halves are skipped.
    IW_DEVICE Acc<W> all(uint32_t count, Acc<W> v) const {
#pragma unroll
        for (int k = 1; k < LEVELS; ++k)
            if ((count >> k & 1) && (count & ((1u << k) - 1))) v = combine(waiting[k], v);
        return v;
    }
};

// The tree over up to TINY elements from `place` on, by a thread.
template <int W>
IW_DEVICE Acc<W> by_thread(const Staged<W>& staged, uint32_t place, uint32_t length) {
    Spine<W, log2_of(TINY / 8)> spine;
    Acc<W> v = {};
    const uint32_t parts = (length + 7) / 8;
#pragma unroll 1
    for (uint32_t q = 0; q < parts; ++q) v = spine.add(q, staged.of_8(place + 8 * q, length - 8 * q));
    return spine.all(parts, v);
}

// The tree over up to SHORT elements from `place` on, by a warp; the result is lane 0's.
template <int W, class Quad>
IW_DEVICE Acc<W> by_warp(const Quad& quad, uint32_t place, uint32_t length) {
    static_assert(SHORT / ROW <= WARP);
    const uint32_t lane = lane_id(), parts = (length + ROW - 1) / ROW;
    Acc<W> of_parts = {};  // of part p lane p's
#pragma unroll 1
    for (uint32_t p = 0; p < parts; ++p) {
        // Lanes without a quad take the last one, so that none waits for a condition.
        const uint32_t left = length - ROW * p, quads = left < ROW ? (left + 3) / 4 : WARP, own = lane < quads ? lane : quads - 1;
        const Acc<W> v = warp_tree(quad(place + ROW * p + 4 * own, left - 4 * own), quads);
        of_parts = pick(lane == p, shuffle(v, 0), of_parts);
    }
    return warp_tree(of_parts, parts);
}

// scratch[0], scratch[1], u[2], u[3]: the list of long runs, see segments.cuh; there is one where an array has more than SHORT elements. scratch[2]: 16
// words of 64 bits, then the tiles' status; kept as scan keeps it. u[12] epochs: see look_back.cuh. There are less than 2^32 elements, and
// accumulators of one or two words, which every element type has.
// Grid, SERVED, and the one barrier a tile: as select.cu.
template <int W, bool SERVED>
IW_DEVICE void reduce_by_key(const Args& args, uint32_t* staged) {
    __shared__ unsigned short places[T + 1];      // where the tile's runs begin, and where it ends
    __shared__ unsigned short middles[T / TINY];  // runs that a warp reduces
    __shared__ uint32_t ticket[2], launch, middle_count, totals[2][WARPS], firsts[2][WARPS], lasts[2][WARPS];
    __shared__ Acc<MARKS> fold_of[2], window[SERVED ? 1 : WINDOW<MARKS>];
    uint64_t* const header = (uint64_t*)args.scratch[2];
    uint64_t* const status = header + HEADER_WORDS;
    constexpr uint32_t servers = SERVED ? 1 : 0;
    const uint32_t n = (uint32_t)args.n, tiles = (uint32_t)((args.n + T - 1) / T);
    uint64_t* const folds = status + (uint64_t)tiles * MARKS;
    const int lane = lane_id(), warp = warp_id();
    const bool once = gridDim.x == tiles + servers;  // with a block to each tile nobody asks twice
    if (threadIdx.x == 0) {
        const uint64_t drawn = draw(header);
        ticket[0] = (uint32_t)drawn, launch = (uint32_t)(drawn >> 32);
        middle_count = 0;
    }
    __syncthreads();
    const uint32_t epoch = launch, first_drawn = ticket[0] - servers;
    if constexpr (SERVED) {
        if (ticket[0] == 0) {
            if (warp == 0) serve_sums<Marked, MARKS>(status, folds, tiles, epoch);
            return;
        }
    }
    uint32_t tile = first_drawn, waiting = tiles;  // waiting: the tile that is staged, if any
    uint32_t waiting_total = 0;
    Cut cut = {};
    for (int turn = 0;; turn ^= 1) {
        Acc<W> x[R][4];
        Ranks ranks;
        if (warp < WARPS) {
            tile = ticket[turn] - servers;
            if (tile < tiles) {
                const uint64_t i0 = (uint64_t)tile * T + warp * R * ROW + lane * 4;
                ranks.bits = 0;
                load_rows(x, i0, args.n, [&](int k, uint32_t begins) { ranks.bits |= begins << k; });
                const uint32_t total = ranks.rank();
                // Where the first run of the warp's begins, in the tile, T if none does; and the place behind the last beginning, 0 if there is none.
                const uint32_t bits = ranks.bits, low = __ffs(bits) - 1, top = 31 - __clz(bits), own = warp * R * ROW + lane * 4;
                uint32_t first = bits ? own + low / 4 * ROW + low % 4 : T, last = bits ? own + top / 4 * ROW + top % 4 + 1 : 0;
#pragma unroll
                for (int step = WARP / 2; step; step /= 2) {
                    first = min(first, __shfl_xor_sync(ALL_LANES, first, step));
                    last = max(last, __shfl_xor_sync(ALL_LANES, last, step));
                }
                if (lane == 0) totals[turn][warp] = total, firsts[turn][warp] = first, lasts[turn][warp] = last;
            }
        }
        __syncthreads();
        if (warp == WARPS) {
            tile = ticket[turn] - servers;
            const bool more = tile < tiles;
            uint32_t first = T;
            Acc<MARKS> fold = {};
            if (more) {
                uint32_t total = 0, last = 0;
                if (lane < WARPS) total = seen(totals[turn][lane]), first = seen(firsts[turn][lane]), last = seen(lasts[turn][lane]);
#pragma unroll
                for (int step = WARPS / 2; step; step /= 2) {
                    total += __shfl_xor_sync(ALL_LANES, total, step);
                    first = min(first, __shfl_xor_sync(ALL_LANES, first, step));
                    last = max(last, __shfl_xor_sync(ALL_LANES, last, step));
                }
                Acc<MARKS> aggregate = {total, last ? tile * (uint32_t)T + last : 0};
                aggregate = shuffle(aggregate, 0);
                first = __shfl_sync(ALL_LANES, first, 0);
                if constexpr (SERVED) {
                    if (lane == 0) publish(status, tile, epoch, aggregate);
                } else {
                    fold = look_back<Marked>(status, tile, 0, epoch, aggregate, window, PATIENCE);
                    cut = {tile, first, fold};
                }
            }
            // The run that begins before a tile and ends in it, if one does: where tiles are served that of the one before, while the server folds.
            const bool ends = cut.tile != 0 && (cut.first < T || cut.tile == tiles - 1);
            if (ends) {
                const uint32_t begin = cut.tile * (uint32_t)T, from = cut.fold.w[1] - 1, run = cut.fold.w[0] - 1;
                const uint32_t length = begin + min(cut.first, n - begin) - from;
                if (length <= SHORT) {
                    const Acc<W> v = by_warp<W>(Values<W>(), from, length);
                    if (lane == 0) finish(run, v);
                } else {
                    const List<W> list(args);
                    uint32_t base = 0;
                    if (lane == 0) base = take_places(args, list, run, (uint64_t)length);
                    base = __shfl_sync(ALL_LANES, base, 0);
                    put_tiles(args, list, base, run, from, length, lane, WARP);
                }
                cut = {};
                __syncwarp();
            }
            if (!more) break;
            if constexpr (SERVED) {
                if (lane == 0 && tile != 0) fold = served_fold<MARKS>(folds, tile, epoch, ends ? AFTER_A_RUN : SERVE_PATIENCE);
                __syncwarp();
                fold = shuffle(fold, 0);
                cut = {tile, first, fold};
            }
            if (lane == 0) {
                fold_of[turn] = pick(tile == 0, Acc<MARKS>{}, fold);
                looked_back(header, epoch, args.u[EPOCHS]);
            }
            __syncwarp();
            continue;
        }
        uint32_t next = tiles + servers;
        if (!once && threadIdx.x == 0 && tile < tiles) next = (uint32_t)draw(header);
        if (waiting < tiles) {
            const uint32_t before = fold_of[turn ^ 1].w[0], begin = waiting * (uint32_t)T;
            // The last run that begins here ends in another tile, but for the last one.
            const uint32_t whole = waiting_total - (waiting != tiles - 1 && waiting_total ? 1 : 0);
            const Staged<W> quads{staged};
#pragma unroll 1
            for (uint32_t j = threadIdx.x; j < waiting_total; j += COPIED * HOLDERS) {
                uint64_t to[COPIED], from[COPIED];
#pragma unroll
                for (int k = 0; k < COPIED; ++k) {
                    // The last one may be copied several times.
                    const uint32_t own = min(j + k * HOLDERS, waiting_total - 1);
                    to[k] = before + own, from[k] = begin + places[own];
                }
                copy_keys(to, from);
            }
            const bool single = 2 * waiting_total > (uint32_t)T;  // most runs have one element
#pragma unroll 1
            for (uint32_t j = threadIdx.x; j < whole; j += HOLDERS) {
                const uint32_t place = places[j], length = places[j + 1] - place, run = before + j;
                if (single && length == 1) {
                    finish(run, quads.one(place));
                } else if (length <= TINY) {
                    finish(run, by_thread<W>(quads, place, length));
                } else if (length <= SHORT) {
                    middles[atomicAdd(&middle_count, 1)] = (unsigned short)j;
                } else {
                    static_assert(T <= TILE<W>);
                    put_tile(args, List<W>(args), run, begin + place, length);
                }
            }
            if (waiting == tiles - 1 && threadIdx.x == 0) store_count(before + waiting_total);
            holders_meet();  // threads have reduced their runs
            const uint32_t count = middle_count;
            if (count) {
#pragma unroll 1
                for (uint32_t m = warp; m < count; m += WARPS) {
                    const uint32_t j = middles[m], place = places[j];
                    const Acc<W> v = by_warp<W>(quads, place, places[j + 1] - place);
                    if (lane == 0) finish(before + j, v);
                }
                holders_meet();  // and so have warps
                if (threadIdx.x == 0) middle_count = 0;
            }
        }
        if (tile >= tiles) break;
        {
            uint32_t rank = 0;
            waiting_total = 0;
#pragma unroll
            for (int w = 0; w < WARPS; ++w) {
                const uint32_t t = totals[turn][w];
                rank += w < warp ? t : 0, waiting_total += t;
            }
            const uint32_t own = warp * R * ROW + lane * 4;
            uint32_t* const to = staged + gapped_at(own);
            const uint32_t places_at = (uint32_t)__cvta_generic_to_shared(places);
#pragma unroll
            for (int r = 0; r < R; ++r) {
                uint32_t next_place = places_at + 2 * (rank + of_row(ranks.left, r));
                rank += of_row(ranks.whole, r);
#pragma unroll
                for (int e = 0; e < 4; ++e) {
#pragma unroll
                    for (int k = 0; k < W; ++k) to[k * PLANE + gapped(r * ROW) + e] = x[r][e].w[k];
                    put_half(ranks.bits & 1u << (4 * r + e), next_place, own + r * ROW + e);
                }
            }
            if (threadIdx.x == 0) {
                places[waiting_total] = (unsigned short)min((uint32_t)T, n - tile * (uint32_t)T);
                ticket[turn ^ 1] = next;
            }
        }
        waiting = tile;
        holders_meet();
    }
    const uint32_t last = once ? tiles - 1 : tiles + gridDim.x - 1 - servers;
    if ((once ? first_drawn : tile) == last) next_epoch<MARKS>(header, status, tiles, epoch, args.u[EPOCHS]);
}

#define BY_KEY(name, W, SERVED, JOINT, BLOCKS)                                                                        \
    extern "C" __global__ void __launch_bounds__(HOLDERS + WARP, BLOCKS) name##_w##W(const __grid_constant__ Args args) { \
        static_assert(TREE_SLOTS<W> <= PLANE);                                                                        \
        __shared__ uint32_t staged[W * PLANE];                                                                        \
        reduce_by_key<W, SERVED>(args, staged);                                                                       \
        if constexpr (JOINT) {                                                                                        \
            Meeting meeting = meeting_of(args);                                                                       \
            meeting.arrive();                                                                                         \
            meeting.wait();                                                                                           \
            reduce_listed<W, true>(args, Values<W>(), meeting, (Acc<W>*)staged);                                      \
        }                                                                                                             \
    }
// Blocks to a multiprocessor, as registers are shared out; those that meet run at the same time.
BY_KEY(by_key_joint, 1, false, true, 2)
BY_KEY(by_key_served, 1, true, false, 3)
BY_KEY(by_key_joint, 2, false, true, 2)
BY_KEY(by_key_served, 2, true, false, 2)
