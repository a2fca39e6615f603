// Segments of an array, each reduced as an array of its own: the aligned binary tree counted from the segment's start (reduce.cu), missing right
// halves skipped, an empty segment the accumulator in u[12..15]. A block takes neighbouring segments (segments_short_w*). Where all are tiny and their
// elements fit into shared memory, a thread reduces a segment there; else 256 at a time, whose threads share the vectors of 4 elements of the short ones
// out evenly, whatever the lengths; and where they are long on average, a warp reduces one at a time (segments_warps_w*), or a block (segments_blocks_w*). Long segments go to a list as
// tiles, which are reduced one to a block, and then the nodes of each long segment's tiles are joined (segments_listed_w*). Where a tile stands in the list depends on timing, and shows nowhere. Few elements take one
// launch instead of three: a cooperative one (segments_joint_w*), or, where that waits longer than a block takes for the longest segment, one whose
// blocks reduce what they find themselves, of short segments (segments_few_w*) or a segment each (segments_each_w*, segments_alone_w*).
#pragma once
#include "segments.cuh"

constexpr int GROUP = 4;    // segments of a thread, where all are tiny, at most
constexpr int MANY = 1024;  // threads of a block that reduces a segment alone

// Vectors of a thread, of short segments and of tiles, and those of short segments that it has in flight. 256 segments of 16 elements have some 1150 vectors.
template <int W>
constexpr int SHORT_ROWS = W <= 2 ? 6 : 3;
constexpr int HELD = 3;
template <int W>
constexpr int SHORT_SLOTS = SHORT_ROWS<W> * THREADS;
// Elements that are staged for threads to reduce; more than GROUP segments of 4 elements to a thread have.
template <int W>
constexpr int STAGED = 6144 / W;

// Words of `u`.
constexpr int FLAGS = 0;
constexpr int SEGMENTS = 1;
constexpr int TOGETHER = 4;  // segments of a thread to begin with: 1 to GROUP
constexpr int STEPS = 5;     // of a launch that reduces the list of another
constexpr int NOTHING = 12;
constexpr uint32_t WIDE = 1, COUNTED = 2, BY_WARPS = 4, BY_BLOCKS = 8;

IW_DEVICE uint64_t segments_of(const Args& args) {
    const uint32_t most = args.u[SEGMENTS];
    if (!(args.u[FLAGS] & COUNTED)) return most;
    const uint32_t count = *(const uint32_t*)args.scratch[3];
    return count < most ? count : most;
}

IW_DEVICE uint64_t lesser(uint64_t a, uint64_t b) { return a < b ? a : b; }

// Where segment k begins, and the one before it ends.
IW_DEVICE uint64_t bound(const Args& args, uint64_t segments, uint64_t k) {
    if ((args.u[FLAGS] & COUNTED) && k >= segments) return args.n;
    const uint64_t at = args.u[FLAGS] & WIDE ? ((const uint64_t*)args.scratch[2])[k] : ((const uint32_t*)args.scratch[2])[k];
    return lesser(at, args.n);
}

// The caller's elements. IS_LEAN: of few elements, for which a kernel's first call takes longer than all its others, so it has one way for all parts.
template <int W, bool IS_LEAN>
struct Elements {
    static constexpr bool VECTORS = true, LEAN = IS_LEAN;
    uint64_t n;
    IW_DEVICE void four(Acc<W> (&v)[4], uint64_t i) const { load4(v, i); }
    IW_DEVICE void operator()(Acc<W>& v, uint64_t i) const { load1(v, i); }
};

// The node over 16 staged elements from `x` on, those of the first `left`; there is at least one.
template <int W>
IW_DEVICE Acc<W> of_16(const Acc<W>* staged, uint32_t left) {
    Acc<W> x[16] = {};
    x[0] = staged[0];
#pragma unroll
    for (uint32_t e = 1; e < 16; ++e)
        if (e < left) x[e] = staged[e];
#pragma unroll
    for (uint32_t d = 1; d < 16; d *= 2)
#pragma unroll
        for (uint32_t e = 0; e < 16; e += 2 * d)
            if (e + d < left) x[e] = combine(x[e], x[e + d]);
    return x[0];
}

// The tree over the staged elements of a tiny segment, `length` > 0, from the first on.
template <int W>
IW_DEVICE Acc<W> tiny(const Acc<W>* staged, uint32_t length) {
    // Nodes over 16 and 32 elements that wait for their right-hand neighbour.
    Acc<W> a = {}, b = {}, v = {};
    const uint32_t count = (length + 15) / 16;
#pragma unroll 1
    for (uint32_t q = 0; q < count; ++q) {
        v = of_16(staged + 16 * q, length - 16 * q);
        if (q & 1)
            v = combine(a, v);
        else
            a = v;
        if (q == 1) b = v;
    }
    return count > 2 ? combine(b, v) : v;
}

// Reduces segments first.. of the block, `rows` to a thread, where all are tiny and their elements fit into `staged`; else returns false to all threads.
template <int W>
IW_DEVICE bool segments_tiny(const Args& args, uint64_t segments, uint64_t first, int rows, Acc<W>* staged) {
    // Where the elements of each segment begin in `staged`, and end.
    __shared__ uint32_t places[GROUP * THREADS + 1];
    const int thread = threadIdx.x;
    const uint64_t end = lesser(first + rows * THREADS, segments);
    const uint64_t low = bound(args, segments, first), high = bound(args, segments, end);
    if (high < low || high - low > STAGED<W>) return false;
    const uint32_t count = (uint32_t)(high - low), here = (uint32_t)(end - first);
    // No thread is still at what was staged before.
    __syncthreads();
    // All at once: no load waits for a condition.
    const uint64_t last = first + here - 1;
    uint64_t at[GROUP];
    if (args.u[FLAGS] & WIDE) {
#pragma unroll
        for (int r = 0; r < GROUP; ++r) at[r] = ((const uint64_t*)args.scratch[2])[lesser(first + r * THREADS + thread, last)];
    } else {
#pragma unroll
        for (int r = 0; r < GROUP; ++r) at[r] = ((const uint32_t*)args.scratch[2])[lesser(first + r * THREADS + thread, last)];
    }
#pragma unroll
    for (int r = 0; r < GROUP; ++r) {
        const uint32_t k = r * THREADS + thread;
        const uint64_t place = lesser(at[r], args.n) - low;
        if (k < here) places[k] = place <= count ? (uint32_t)place : ~0u;
    }
    if (thread == 0) places[here] = count;
#pragma unroll 1
    for (uint32_t i = thread; i < count; i += 4 * THREADS) {
        Acc<W> x[4];
#pragma unroll
        for (int r = 0; r < 4; ++r) load1(x[r], low + (i + r * THREADS < count ? i + r * THREADS : i));
#pragma unroll
        for (int r = 0; r < 4; ++r)
            if (i + r * THREADS < count) staged[i + r * THREADS] = x[r];
    }
    __syncthreads();
    bool fits = true;
#pragma unroll
    for (int r = 0; r < GROUP; ++r) {
        const uint32_t k = r * THREADS + thread < here ? r * THREADS + thread : here - 1, place = places[k], next = places[k + 1];
        // A place that does not fit is behind its right-hand neighbour, or that one does not fit either, and the last one does.
        fits = fits & (place <= next) & (next - place <= TINY);
    }
    if (!__syncthreads_and(fits)) return false;
#pragma unroll 1
    for (uint32_t k = thread; k < here; k += THREADS) {
        const uint32_t place = places[k], length = places[k + 1] - place;
        Acc<W> v;
        if (length > 0) {
            v = tiny(staged + place, length);
        } else {
#pragma unroll
            for (int j = 0; j < W; ++j) v.w[j] = args.u[NOTHING + j];
        }
        finish(first + k, v);
    }
    return true;
}

// Reduces 256 segments from `first` on; the long ones are put on the list, where there is one.
template <int W, bool LISTS>
IW_DEVICE void segments_mixed(const Args& args, const List<W>& list, uint64_t segments, uint64_t first, Acc<W>* slots) {
    constexpr int ROWS = SHORT_ROWS<W>, SLOTS = SHORT_SLOTS<W>;
    // Of each segment of the tile: its first element, its elements, and the vectors of the short ones before it.
    __shared__ uint64_t begins[THREADS], lengths[THREADS];
    __shared__ uint32_t vectors[THREADS + 1];
    // Aligned, or a vector of words that the compiler reads holds one of another array too, and a race with that.
    __shared__ alignas(16) uint32_t sums[WARPS];
    __shared__ alignas(16) uint32_t mosts[WARPS];
    // Where the vectors end that fit into the slots; long segments, and where their tiles stand in the list.
    __shared__ uint32_t stop, long_count, long_threads[THREADS], long_bases[THREADS];
    const int thread = threadIdx.x;
    const uint64_t segment = first + thread;
    uint64_t begin = 0, length = 0;
    if (segment < segments) {
        begin = bound(args, segments, segment);
        const uint64_t end = bound(args, segments, segment + 1);
        length = end > begin ? end - begin : 0;
        if (length == 0) {
            Acc<W> nothing;
#pragma unroll
            for (int k = 0; k < W; ++k) nothing.w[k] = args.u[NOTHING + k];
            finish(segment, nothing);
        }
    }
    const uint32_t own = length <= SHORT ? ((uint32_t)length + 3) / 4 : 0;
    begins[thread] = begin;
    lengths[thread] = length;
    if (thread == 0) long_count = 0;
    uint32_t sum = own, most = own;
#pragma unroll
    for (int d = 1; d < WARP; d *= 2) {
        const uint32_t before = __shfl_up_sync(ALL_LANES, sum, d);
        if (lane_id() >= d) sum += before;
        const uint32_t other = __shfl_xor_sync(ALL_LANES, most, d);
        most = other > most ? other : most;
    }
    if (lane_id() == WARP - 1) sums[warp_id()] = sum, mosts[warp_id()] = most;
    __syncthreads();
    uint32_t before = 0, levels = 0;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) {
        if (w < warp_id()) before += sums[w];
        levels = mosts[w] > levels ? mosts[w] : levels;
    }
    vectors[thread] = before + sum - own;
    if (thread == THREADS - 1) vectors[THREADS] = before + sum;
    if (length > SHORT) {
        const uint32_t at = atomicAdd(&long_count, 1);
        long_threads[at] = thread;
        if (LISTS) long_bases[at] = take_places(args, list, (uint32_t)segment, length);
    }
    __syncthreads();
    for (uint32_t q = 0; q < long_count; ++q) {
        const int of = long_threads[q];
        if constexpr (LISTS) {
            put_tiles(args, list, long_bases[q], (uint32_t)(first + of), begins[of], lengths[of], thread, THREADS);
        } else {
            const Acc<W> v = tree_of_tiles<W, false>(Elements<W, true>{args.n}, begins[of], lengths[of], slots);
            if (thread == 0) finish(first + of, v);
        }
    }

    // As many whole segments at a time as the slots hold.
    for (uint32_t done = 0, next; done < vectors[THREADS]; done = next) {
        const uint32_t end = vectors[thread + 1];
        if (end > done && end - done <= SLOTS && (thread == THREADS - 1 || vectors[thread + 2] - done > SLOTS)) stop = end;
        __syncthreads();
        next = stop;
        const uint32_t count = next - done;
        Acc<W> v[ROWS] = {};
        uint32_t place[ROWS], size[ROWS], of[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const uint32_t p = r * THREADS + thread, at = p < count ? done + p : next - 1;
            of[r] = 0;
            // The last segment with no more vectors before it: one with vectors, since the next has more.
#pragma unroll
            for (int step = THREADS / 2; step > 0; step /= 2) of[r] += vectors[of[r] + step] <= at ? step : 0;
            place[r] = at - vectors[of[r]];
            size[r] = p < count ? vectors[of[r] + 1] - vectors[of[r]] : 0;
        }
#pragma unroll
        for (int first_row = 0; first_row < ROWS; first_row += HELD) {
            Acc<W> x[HELD][4] = {};
            uint32_t left[HELD];
#pragma unroll
            for (int h = 0; h < HELD; ++h) {
                const int r = first_row + h;
                left[h] = (uint32_t)lengths[of[r]] - 4 * place[r];
                if (size[r] > 0) load_quad(x[h], Elements<W, true>{args.n}, begins[of[r]] + 4 * place[r], left[h]);
            }
#pragma unroll
            for (int h = 0; h < HELD; ++h) {
                const int r = first_row + h;
                if (size[r] == 0) continue;
                v[r] = of_quad(x[h], left[h]);
                slots[r * THREADS + thread] = v[r];
            }
        }
#pragma unroll 1
        for (uint32_t d = 1; d < levels; d *= 2) {
            __syncthreads();
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                if ((place[r] & (2 * d - 1)) == 0 && place[r] + d < size[r]) {
                    v[r] = combine(v[r], slots[r * THREADS + thread + d]);
                    slots[r * THREADS + thread] = v[r];
                }
            }
        }
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
            if (size[r] > 0 && place[r] == 0) finish(first + of[r], v[r]);
        __syncthreads();
    }
    __syncthreads();
}

template <int W>
constexpr int SLOTS = SHORT_SLOTS<W> < STAGED<W> ? STAGED<W> : SHORT_SLOTS<W>;

template <int W, bool LISTS = true>
IW_DEVICE void segments_short(const Args& args, Acc<W>* slots) {
    const List<W> list(args);
    const uint64_t segments = segments_of(args);
    const int together = (int)args.u[TOGETHER];
    const uint64_t step = (uint64_t)together * THREADS;
    for (uint64_t first = blockIdx.x * step; first < segments; first += gridDim.x * step) {
        // All at once, or else 256 at a time.
        int rows = together;
#pragma unroll 1
        for (uint64_t part = first; part < first + step && part < segments;) {
            if (segments_tiny<W>(args, segments, part, rows, slots)) {
                part += rows * THREADS;
            } else if (rows > 1) {
                rows = 1;
            } else {
                segments_mixed<W, LISTS>(args, list, segments, part, slots);
                part += THREADS;
            }
        }
    }
}

// Reduces segments one to a warp, of two parts at most; longer ones are put on the list.
template <int W, bool LEAN = false>
IW_DEVICE void segments_warps(const Args& args) {
    static_assert(SHORT == 2 * OF_ROWS);
    const List<W> list(args);
    const Elements<W, LEAN> elements{args.n};
    const uint64_t segments = segments_of(args);
    const int lane = lane_id();
    for (uint64_t segment = (uint64_t)blockIdx.x * WARPS + warp_id(); segment < segments; segment += (uint64_t)gridDim.x * WARPS) {
        const uint64_t begin = bound(args, segments, segment), end = bound(args, segments, segment + 1);
        const uint64_t length = end > begin ? end - begin : 0;
        if (length > SHORT) {
            uint32_t base = 0;
            if (lane == 0) base = take_places(args, list, (uint32_t)segment, length);
            base = __shfl_sync(ALL_LANES, base, 0);
            put_tiles(args, list, base, (uint32_t)segment, begin, length, lane, WARP);
            continue;
        }
        Acc<W> v;
        if (length == 0) {
#pragma unroll
            for (int k = 0; k < W; ++k) v.w[k] = args.u[NOTHING + k];
        } else {
            Acc<W> left = {};
#pragma unroll 1
            for (uint32_t k = 0, parts = length > OF_ROWS ? 2 : 1; k < parts; ++k) {
                v = part_of_warp<W>(elements, begin + k * OF_ROWS, length - k * OF_ROWS);
                if (k == 0)
                    left = v;
                else
                    v = combine(left, v);
            }
        }
        if (lane == 0) finish(segment, v);
    }
}

// Reduces segments one to a block, of a tile at most; longer ones are put on the list.
template <int W, bool LEAN = false>
IW_DEVICE void segments_blocks(const Args& args, Acc<W>* slots) {
    __shared__ uint32_t base;
    const List<W> list(args);
    const uint64_t segments = segments_of(args);
    for (uint64_t segment = blockIdx.x; segment < segments; segment += gridDim.x) {
        const uint64_t begin = bound(args, segments, segment), end = bound(args, segments, segment + 1);
        const uint64_t length = end > begin ? end - begin : 0;
        if (length > TILE<W>) {
            if (threadIdx.x == 0) base = take_places(args, list, (uint32_t)segment, length);
            __syncthreads();
            put_tiles(args, list, base, (uint32_t)segment, begin, length, threadIdx.x, THREADS);
            __syncthreads();
            continue;
        }
        Acc<W> v;
#pragma unroll
        for (int k = 0; k < W; ++k) v.w[k] = args.u[NOTHING + k];
        if (length > 0) v = tree<W, false>(Elements<W, LEAN>{args.n}, begin, end, slots);
        if (threadIdx.x == 0) finish(segment, v);
    }
}

// All of it in one cooperative launch, for few elements.
template <int W>
IW_DEVICE void segments_joint(const Args& args) {
    static_assert(TREE_SLOTS<W> <= SLOTS<W>);
    __shared__ Acc<W> slots[SLOTS<W>];
    if (args.u[FLAGS] & BY_BLOCKS)
        segments_blocks<W, true>(args, slots);
    else if (args.u[FLAGS] & BY_WARPS)
        segments_warps<W, true>(args);
    else
        segments_short<W>(args, slots);
    Meeting meeting = meeting_of(args);
    meeting.arrive();
    meeting.wait();
    reduce_listed<W, false>(args, Elements<W, true>{args.n}, meeting, slots);
}

// The list of a launch before, in one cooperative launch or in one to each step.
template <int W>
IW_DEVICE void segments_listed(const Args& args) {
    __shared__ Acc<W> slots[TREE_SLOTS<W>];
    Meeting meeting = meeting_of(args);
    reduce_listed<W, false>(args, Elements<W, false>{args.n}, meeting, slots, args.u[STEPS]);
}

// A segment to a block of N threads, however long.
template <int W, int N>
IW_DEVICE void segments_alone(const Args& args) {
    __shared__ Acc<W> slots[PARTS<W, N>];
    const uint64_t segments = segments_of(args);
    for (uint64_t segment = blockIdx.x; segment < segments; segment += gridDim.x) {
        const uint64_t begin = bound(args, segments, segment), end = bound(args, segments, segment + 1);
        Acc<W> v;
#pragma unroll
        for (int k = 0; k < W; ++k) v.w[k] = args.u[NOTHING + k];
        if (begin < end) v = tree_of_tiles<W, false, N>(Elements<W, false>{args.n}, begin, end - begin, slots);
        if (threadIdx.x == 0) finish(segment, v);
    }
}
