// Stable sorts of parts of an array, of any lengths: part p is the keys between bounds p - 1 and p, which do not fall; before the first and behind the last
// lies a part more on either side, whose keys stay as they are, or, with LEAVES_REST, are left out.
// segmented_windows: lists the windows of the array that parts begin in. segmented_short_*: a block takes such parts, a window after the other. Those of few
// keys are sorted there, by networks and merges (runs.cuh), a longer one is put on a list.
// segmented_rest_*: parts of one tile, digit by digit in shared memory (columns.cuh); and of few keys all that is not short, by blocks that meet.
// Longer parts: a digit of 8 bits a pass, as sort.cu sorts rows, with tiles that lie in one part each; keys that stay have digits of no bits, so each pass
// copies them. segmented_histogram_*: how often each value of each digit occurs in each part; segmented_plan turns that into where the keys of each value
// start. Where parts and windows stand in lists depends on timing, and shows nowhere.
#include "columns.cuh"
#include "runs.cuh"
#include "sort.cuh"
#include "together.cuh"

// More bits of FLAGS. FINDS: each window has a block, which looks for its parts itself. TOGETHER: blocks meet, and sort long parts, too. EACH: and any
// others, of which there is no list. GIVEN: then in[3] holds offsets as they were given, of 64 bits where they are WIDE, which may fall or reach behind the
// keys.
constexpr uint32_t LEAVES_REST = 16, FINDS = 32, TOGETHER = 64, EACH = 128, GIVEN = 256, WIDE = 512;
// What in[2] counts, from zero on: tiles of parts that are longer than a tile, parts that are not, windows; blocks that have ended.
constexpr int LONG_TILES = 0, ALONE_PARTS = 1, WINDOWS = 2, ENDED = 3;
IW_DEVICE uint32_t* listed(const Args& args) { return (uint32_t*)args.in[2].ptr; }
// Parts of one tile: where they begin, how many keys they have, with STAYS.
struct AlonePart {
    uint32_t begin, size;
};
IW_DEVICE AlonePart* alone_parts(const Args& args) { return (AlonePart*)args.in[4].ptr; }
// The window from key `begin` on, and the parts that begin there.
struct Window {
    uint32_t begin, first, last, unused;
};
IW_DEVICE Window* windows(const Args& args) { return (Window*)args.in[5].ptr; }

// The histograms hold [first tile of the part][pass][value] in scratch[1], zero before. A block takes neighbouring tiles, and adds to a part's counts when the
// next part begins. SHIFT and MASK: as in sort.cu.
template <class K>
constexpr int COPIES = sizeof(K) <= 4 ? 8 : 4;
template <class K>
constexpr int COUNTERS = (int)sizeof(K) * RADIX * COPIES<K>;
template <class K, int THREADS>
IW_DEVICE void segmented_histogram(const Args& args, uint32_t* counters) {
    constexpr int DIGITS = sizeof(K), COPIES = ::COPIES<K>;
    constexpr uint32_t STEP = THREADS * HISTOGRAM_LOADS;
    const int passes = args.u[PASSES];
    const uint32_t first = args.u[SHIFT], end = args.u[MASK];
    const K all = end ? (K)(~0ull >> (64 - end)) : (K)0;
    const uint32_t tiles = listed(args)[LONG_TILES], chunk = (tiles + gridDim.x - 1) / gridDim.x, begin = blockIdx.x * chunk;
    if (begin >= tiles) return;
    const uint32_t stop = begin + min(chunk, tiles - begin);
#pragma unroll 1
    for (int k = threadIdx.x; k < COUNTERS<K>; k += THREADS) counters[k] = 0;
    uint32_t* const own = counters + threadIdx.x % COPIES;
    uint32_t part = 0;
    bool counted = false;
    const auto hand_over = [&] {
        __syncthreads();
        uint32_t* const counts = (uint32_t*)args.scratch[1] + (uint64_t)part * passes * RADIX;
#pragma unroll 1
        for (int k = threadIdx.x; k < passes * RADIX; k += THREADS) {
            uint32_t sum = 0;
#pragma unroll
            for (int c = 0; c < COPIES; ++c) sum += counters[k * COPIES + c], counters[k * COPIES + c] = 0;
            if (sum) atomicAdd(counts + k, sum);
        }
    };
    __syncthreads();
#pragma unroll 1
    for (uint32_t tile = begin; tile < stop;) {
        const uint32_t size = table_of(args, SIZE)[tile], of = table_of(args, FIRST)[tile];
        // Its tiles that follow are neighbours in the array, too, and all but the last have as many keys as this one.
        uint32_t low = tile, high = stop;
        while (high - low > 1) {
            const uint32_t middle = (low + high) / 2;
            if (table_of(args, FIRST)[middle] == of)
                low = middle;
            else
                high = middle;
        }
        const uint32_t count = (low - tile) * (size & ~STAYS) + (table_of(args, SIZE)[low] & ~STAYS);
        if (counted) {
            hand_over();
            __syncthreads();
        }
        part = of, counted = true;
        const K compared = size & STAYS ? (K)0 : all;
        const K* const keys = (const K*)args.in[0].ptr + table_of(args, BEGIN)[tile];
        tile = high;
        const auto count_one = [&](K key) {
            const K bits = (K)((mapped(key, args) & compared) >> first);
#pragma unroll
            for (int p = 0; p < DIGITS; ++p)
                if (p < passes) atomicAdd(own + (p * RADIX + ((uint32_t)(bits >> (8 * p)) & 255u)) * COPIES, 1u);
        };
        uint32_t i = threadIdx.x;
#pragma unroll 1
        for (; i + (HISTOGRAM_LOADS - 1) * THREADS < count; i += STEP) {
            K key[HISTOGRAM_LOADS];
#pragma unroll
            for (int k = 0; k < HISTOGRAM_LOADS; ++k) key[k] = keys[i + k * THREADS];
#pragma unroll
            for (int k = 0; k < HISTOGRAM_LOADS; ++k) count_one(key[k]);
        }
#pragma unroll 1
        for (; i < count; i += THREADS) count_one(keys[i]);
    }
    if (counted) hand_over();
}

// Counts become starts, a part to a block of RADIX threads or more at a time.
IW_DEVICE void segmented_plan(const Args& args, uint32_t* sums) {
    const uint32_t tiles = listed(args)[LONG_TILES];
    const int passes = args.u[PASSES];
#pragma unroll 1
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        if (table_of(args, FIRST)[tile] != tile) continue;
        const uint32_t begin = table_of(args, BEGIN)[tile];
        uint32_t* const counts = (uint32_t*)args.scratch[1] + (uint64_t)tile * passes * RADIX;
        for (int p = 0; p < passes; ++p) {
            const bool has_value = threadIdx.x < RADIX;
            uint32_t* const at = counts + p * RADIX + threadIdx.x;
            const uint32_t before = sum_before<RADIX / WARP>(has_value ? *at : 0, sums);
            if (has_value) *at = begin + before;
            __syncthreads();
        }
    }
}
IW_KERNEL(RADIX) segmented_plan(const __grid_constant__ Args args) {
    __shared__ uint32_t sums[RADIX / WARP];
    segmented_plan(args, sums);
}

// in[3]: the bounds, one less than there are parts (ROWS).
constexpr int SHORT_THREADS = 512, SHORT_ITEMS = 8;
constexpr int ROOM = SHORT_THREADS * SHORT_ITEMS;
constexpr uint32_t SHORT = 1024, SPAN = ROOM - SHORT;  // keys of a short part at most, and of a window: together they fit
constexpr int MOST_LONG = SPAN / (SHORT + 1) + 1;  // longer parts that begin in a window
constexpr int MASKS = ROOM / WARP;
// A part's keys lie in shared memory a word further for every WARP places before the part, so that threads that sort neighbouring runs meet in few banks.
constexpr uint32_t SKEWED = ROOM + ROOM / WARP + RUN;  // what merges pieces reads on behind the last one
struct Skew {
    IW_DEVICE uint32_t operator()(uint32_t begin) const { return begin / WARP; }
};

// Bits to places of a window.
IW_DEVICE void mark(uint32_t* bits, uint32_t at) { atomicOr(bits + at / WARP, 1u << at % WARP); }
IW_DEVICE bool marked(const uint32_t* bits, uint32_t at) { return bits[at / WARP] >> at % WARP & 1; }

IW_DEVICE uint32_t part_begin(const Args& args, uint32_t part) { return part == 0 ? 0 : ((const uint32_t*)args.in[3].ptr)[part - 1]; }

// How many parts begin before key `at`.
IW_DEVICE uint32_t parts_before(const Args& args, uint32_t at) {
    uint32_t low = 0, high = at == 0 ? 0 : args.u[ROWS];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (part_begin(args, middle) < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The same by a warp, whose lanes look at places of the bounds at equal distances.
IW_DEVICE uint32_t parts_before_by_warp(const Args& args, uint32_t at) {
    uint32_t low = 0, high = at == 0 ? 0 : args.u[ROWS];
    while (low < high) {
        const uint32_t left = high - low, step = left / WARP + (left % WARP != 0), ahead = lane_id() * step;
        const uint32_t below = __popc(__ballot_sync(ALL_LANES, ahead < left && part_begin(args, low + ahead) < at));
        if (below == 0) break;
        if (below < WARP) high = low + min(left, below * step);
        low += (below - 1) * step + 1;
    }
    return low;
}

// A thread to each window.
IW_KERNEL(256) segmented_windows(const __grid_constant__ Args args) {
    const uint32_t n = args.u[N], w = blockIdx.x * 256 + threadIdx.x, count = n / SPAN + (n % SPAN != 0);
    const uint32_t begin = min(w, count - 1) * SPAN, end = begin + min(SPAN, n - begin);
    const int lane = lane_id();
    const uint32_t first = parts_before(args, begin);
    uint32_t last = __shfl_down_sync(ALL_LANES, first, 1);
    if (lane == WARP - 1 || w + 1 >= count) last = parts_before(args, end);
    const uint32_t lanes = __ballot_sync(ALL_LANES, w < count && first != last);
    uint32_t place = 0;
    if (lane == 0) place = atomicAdd(listed(args) + WINDOWS, __popc(lanes));
    place = __shfl_sync(ALL_LANES, place, 0) + __popc(lanes & ((1u << lane) - 1));
    if (lanes >> lane & 1) windows(args)[place] = {begin, first, last, 0};
}

// A part that is longer than the short ones: by all threads.
template <int TILE>
IW_DEVICE void list_part(const Args& args, uint32_t begin, uint32_t length, uint32_t stays) {
    __shared__ uint32_t place;
    const uint32_t tiles = length / TILE + (length % TILE != 0);
    if (threadIdx.x == 0) place = atomicAdd(listed(args) + (tiles == 1 ? ALONE_PARTS : LONG_TILES), tiles);
    __syncthreads();
    const uint32_t first = place;
    __syncthreads();
    if (tiles == 1) {
        if (threadIdx.x == 0) alone_parts(args)[first] = {begin, length | stays};
        return;
    }
    for (uint32_t t = threadIdx.x; t < tiles; t += blockDim.x) {
        table_of(args, BEGIN)[first + t] = begin + t * TILE;
        table_of(args, SIZE)[first + t] = min((uint32_t)TILE, length - t * TILE) | stays;
        table_of(args, FIRST)[first + t] = first;
    }
    uint32_t* const counts = (uint32_t*)args.scratch[1] + (uint64_t)first * args.u[PASSES] * RADIX;
    for (uint32_t k = threadIdx.x; k < args.u[PASSES] * RADIX; k += blockDim.x) counts[k] = 0;
}

// What is known of a window's parts.
struct Marks {
    // Where parts begin, those that are not sorted, and of these those of few keys, which stay; the last beginning before a word of these.
    uint32_t begins[MASKS], others[MASKS], stays[MASKS], before[MASKS];
    uint32_t end, longest;
    // Parts that are not short: where they begin and end, and whether they stay.
    uint32_t long_count, long_begins[MOST_LONG], long_ends[MOST_LONG], long_stays[MOST_LONG];
};
template <class K, bool PLACED>
struct ShortKeys {
    Sorted<K, PLACED, SKEWED> sorted;
    Parts<ROOM> parts;
};

// Marks the window's parts, and lists those that are sorted here.
IW_DEVICE void mark_parts(const Args& args, const Window& its, Marks& marks, Parts<ROOM>& to_sort) {
    const uint32_t window = its.begin, n = args.u[N], parts = args.u[ROWS];
    const int lane = lane_id();
#pragma unroll 1
    for (uint32_t of_warp = its.first + warp_id() * WARP; of_warp < its.last; of_warp += SHORT_THREADS) {
        const uint32_t part = of_warp + lane;
        uint32_t begin = 0, end = 0, sorts = 0;
        if (part < its.last) begin = part_begin(args, part) - window, end = (part + 1 == parts ? n : part_begin(args, part + 1)) - window;
        const bool still = part == 0 || part == parts - 1, left = still && args.u[FLAGS] & LEAVES_REST;
        const bool is_short = begin != end && !left && end - begin <= SHORT;
        if (begin != end) mark(marks.begins, begin);
        if (begin != end && !is_short) mark(marks.others, begin);
        if (begin != end && !is_short && !left) {
            const uint32_t at = atomicAdd(&marks.long_count, 1u);
            marks.long_begins[at] = begin, marks.long_ends[at] = end, marks.long_stays[at] = still ? STAYS : 0;
        }
        if (is_short) {
            if (still)
                mark(marks.others, begin), mark(marks.stays, begin);
            else
                sorts = end - begin;
        }
        const uint32_t lanes = __ballot_sync(ALL_LANES, is_short);
        if (lanes == 0) continue;
        uint32_t most = max(sorts, 1u);
#pragma unroll
        for (int step = 1; step < WARP; step *= 2) most = max(most, __shfl_xor_sync(ALL_LANES, most, step));
        if (lane == WARP - 1 - __clz(lanes)) atomicMax(&marks.end, end), atomicMax(&marks.longest, most);
        if (most > 1) to_sort.add(begin, sorts, Skew());
    }
}

// Of each word of marks, the last beginning in words before it; by a warp. Places plus one, so that there may be none.
IW_DEVICE void look_back(Marks& marks) {
    constexpr int WORDS = MASKS / WARP;
    const int lane = lane_id();
    uint32_t last[WORDS], left = 0;
#pragma unroll
    for (int k = 0; k < WORDS; ++k) {
        const uint32_t at = lane * WORDS + k, word = marks.begins[at];
        last[k] = left;
        if (word) left = at * WARP + WARP - __clz(word);
    }
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) {
        const uint32_t l = __shfl_up_sync(ALL_LANES, left, step);
        if (lane >= step) left = max(left, l);
    }
    const uint32_t before = __shfl_up_sync(ALL_LANES, left, 1);
#pragma unroll
    for (int k = 0; k < WORDS; ++k) marks.before[lane * WORDS + k] = max(last[k], lane == 0 ? 0 : before);
}

// How much further than place i its key lies while keys are sorted, a byte; NONE if it is not of a short part.
constexpr uint32_t NONE = 255;
static_assert(ROOM / WARP <= NONE);
IW_DEVICE uint32_t skew_of(const Marks& marks, uint32_t i) {
    const int lane = lane_id();
    const uint32_t left = marks.begins[i / WARP] & ALL_LANES >> (WARP - 1 - lane);
    const uint32_t head = left ? (i - lane) + WARP - __clz(left) : marks.before[i / WARP];
    if (head == 0) return NONE;
    if (marked(marks.others, head - 1)) return marked(marks.stays, head - 1) ? Skew()(i) : NONE;
    return Skew()(head - 1);
}

// PLACED: what is sorted are the compared bits and a key's place, by which the key and its payload are found in the end; else keys alone, by all bits.
template <class K, int P, bool PLACED>
IW_DEVICE void sort_window(const Args& args, const Window& its, Marks& marks, ShortKeys<K, PLACED>& shared) {
    using S = Sorted<K, PLACED, SKEWED>;
    using Word = typename S::Word;
    constexpr int I = SHORT_ITEMS, STEP = SHORT_THREADS;
    const uint32_t window = its.begin, n = args.u[N];
    // On their way while it is found out which of them are wanted.
    const K* const keys_in = (const K*)args.in[0].ptr + window;
    const K* const own_in = keys_in + threadIdx.x;
    K key[I];
#pragma unroll
    for (int k = 0; k < I; ++k) key[k] = k * STEP + threadIdx.x < n - window ? own_in[k * STEP] : (K)0;
    if (threadIdx.x < MASKS) marks.begins[threadIdx.x] = 0, marks.others[threadIdx.x] = 0, marks.stays[threadIdx.x] = 0;
    if (threadIdx.x == 0) marks.end = 0, marks.longest = 0, marks.long_count = 0, shared.parts.counts = 0;
    __syncthreads();
    mark_parts(args, its, marks, shared.parts);
    __syncthreads();
    const uint32_t stop = marks.end, most = marks.longest, parts_to_list = marks.long_count;
#pragma unroll 1
    for (uint32_t p = 0; p < parts_to_list; ++p)
        list_part<ITEMS<K, P, true> * THREADS>(args, window + marks.long_begins[p], marks.long_ends[p] - marks.long_begins[p], marks.long_stays[p]);
    if (stop == 0) return;
    if (warp_id() == 0) look_back(marks);
    __syncthreads();

    const uint32_t bits = args.u[SHIFT], end_bit = args.u[MASK];
    const K compared = end_bit > bits ? (K)((~0ull >> (64 - (end_bit - bits))) << bits) : (K)0;
    uint32_t skews[I / 4] = {};  // four to a word
#pragma unroll
    for (int k = 0; k < I; ++k) {
        const uint32_t i = k * STEP + threadIdx.x, skew = i < stop ? skew_of(marks, i) : NONE;
        if (skew != NONE) shared.sorted.store(i + skew, S::word_of(PLACED ? (K)(mapped(key[k], args) & compared) : mapped(key[k], args), i));
        skews[k / 4] |= skew << k % 4 * 8;
    }
    // As the words that they are: the compiler would keep eight registers.
#pragma unroll
    for (int k = 0; k < I / 4; ++k) asm("" : "+r"(skews[k]));
    __syncthreads();
    sort_parts<STEP>(shared.sorted, shared.parts, most, Skew());

    const auto for_each = [&](const auto& act) {
#pragma unroll
        for (int k = 0; k < I; ++k) {
            const uint32_t skew = skews[k / 4] >> k % 4 * 8 & 255;
            if (skew != NONE) act(k * STEP, shared.sorted.load(k * STEP + threadIdx.x + skew));
        }
    };
    if (!(args.u[FLAGS] & DROPS_KEYS)) {
        K* const keys_out = (K*)args.out[0] + window + threadIdx.x;
        // Bits that are not compared are not there.
        if (!PLACED || compared == (K)~(K)0)
            for_each([&](int k, const Word& word) { keys_out[k] = unmapped(S::key_of(word), args); });
        else
            for_each([&](int k, const Word& word) { keys_out[k] = keys_in[S::place_of(word)]; });
    }
    if constexpr (P > 0) {
        using V = typename PayloadOf<P>::Type;
        const V* const values = (const V*)args.in[1].ptr + window;
        V* const values_out = (V*)args.out[1] + window + threadIdx.x;
        if (args.u[FLAGS] & INDICES)
            for_each([&](int k, const Word& word) { values_out[k] = (V)(window + S::place_of(word)); });
        else
            for_each([&](int k, const Word& word) { values_out[k] = values[S::place_of(word)]; });
    }
}

template <class K, int P, bool PLACED>
IW_DEVICE void segmented_short(const Args& args) {
    __shared__ Marks marks;
    __shared__ ShortKeys<K, PLACED> shared;
    __shared__ uint32_t ends[2];
    const bool finds = args.u[FLAGS] & FINDS;
    const uint32_t count = finds ? gridDim.x : listed(args)[WINDOWS];
#pragma unroll 1
    for (uint32_t w = blockIdx.x; w < count; w += gridDim.x) {
        Window its;
        if (finds) {
            const uint32_t n = args.u[N], begin = w * SPAN, side = warp_id();
            if (side < 2) {
                const uint32_t parts = parts_before_by_warp(args, begin + (side == 0 ? 0 : min(SPAN, n - begin)));
                if (lane_id() == 0) ends[side] = parts;
            }
            __syncthreads();
            its = {begin, ends[0], ends[1], 0};
        } else {
            its = windows(args)[w];
        }
        if (its.first != its.last) sort_window<K, P, PLACED>(args, its, marks, shared);
        __syncthreads();
    }
}

// Keys that stay, and what travels with them.
template <class K, int P>
IW_DEVICE void copy_part(const Args& args, uint32_t begin, uint32_t count) {
    using V = typename PayloadOf<P>::Type;
#pragma unroll 1
    for (uint32_t at = begin + threadIdx.x; at < begin + count; at += THREADS) {
        if (!(args.u[FLAGS] & DROPS_KEYS)) ((K*)args.out[0])[at] = ((const K*)args.in[0].ptr)[at];
        if constexpr (P > 0) ((V*)args.out[1])[at] = args.u[FLAGS] & INDICES ? (V)at : ((const V*)args.in[1].ptr)[at];
    }
}

// Blocks take one part after the other.
template <class K, int P>
IW_DEVICE void segmented_alone(const Args& args, ColumnRoom<K, P>& room, uint32_t* sums) {
    const uint32_t parts = listed(args)[ALONE_PARTS];
#pragma unroll 1
    for (uint32_t p = blockIdx.x; p < parts; p += gridDim.x) {
        const AlonePart part = alone_parts(args)[p];
        if (part.size & STAYS) {
            copy_part<K, P>(args, part.begin, part.size & ~STAYS);
            continue;
        }
        sort_in_columns(args, part.begin, part.size, room, sums);
        __syncthreads();
    }
}

// A block's shared memory, of which each step needs all.
template <class K, int P>
union RestRoom {
    ColumnRoom<K, P> columns;
    uint32_t counters[COUNTERS<K>];
    PassRoom<K, P, true> pass;
};

// Where part p begins and ends. All threads of the block call it, and meet before `sums` is used again. Of offsets as they were given, a bound is the
// largest up to it, as far as there are keys.
IW_DEVICE uint2 bounds_of(const Args& args, uint32_t p, uint32_t* sums) {
    const uint32_t n = args.u[N], parts = args.u[ROWS];
    if (!(args.u[FLAGS] & GIVEN)) return {part_begin(args, p), p + 1 == parts ? n : part_begin(args, p + 1)};
    const auto offset = [&](uint32_t k) {
        return args.u[FLAGS] & WIDE ? (uint32_t)min(((const uint64_t*)args.in[3].ptr)[k], (uint64_t)n) : min(((const uint32_t*)args.in[3].ptr)[k], n);
    };
    uint32_t most = 0;
#pragma unroll 1
    for (uint32_t k = threadIdx.x; k < p; k += THREADS) most = max(most, offset(k));
    const uint32_t next = p + 1 == parts ? n : offset(p);
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) most = max(most, __shfl_xor_sync(ALL_LANES, most, step));
    if (lane_id() == 0) sums[warp_id()] = most;
    __syncthreads();
    uint32_t begin = 0;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) begin = max(begin, sums[w]);
    return {begin, max(begin, next)};
}

// Blocks take one part after the other, whatever their lengths. Those of several tiles are put on the list.
template <class K, int P>
IW_DEVICE void segmented_each(const Args& args, ColumnRoom<K, P>& room, uint32_t* sums) {
    constexpr uint32_t TILE = ITEMS<K, P, true> * THREADS;
    const uint32_t parts = args.u[ROWS];
#pragma unroll 1
    for (uint32_t p = blockIdx.x; p < parts; p += gridDim.x) {
        const uint2 bounds = bounds_of(args, p, sums);
        const uint32_t begin = bounds.x, count = bounds.y - begin;
        if (p == 0 || p == parts - 1) {
            if (!(args.u[FLAGS] & LEAVES_REST)) copy_part<K, P>(args, begin, count);
        } else if (count > TILE) {
            list_part<TILE>(args, begin, count, 0);
        } else if (count > 0) {
            sort_in_columns(args, begin, count, room, sums);
        }
        __syncthreads();
    }
}

// scratch[3]: where blocks meet.
template <class K, int P>
IW_DEVICE void segmented_rest(const Args& args) {
    __shared__ RestRoom<K, P> room;
    __shared__ uint32_t sums[WARPS];
    Meeting meeting{(uint32_t*)args.scratch[3]};
    const auto meet = [&] {
        meeting.arrive();
        meeting.wait();
    };
    if (args.u[FLAGS] & EACH) {
        segmented_each(args, room.columns, sums);
        meet();
    } else {
        segmented_alone(args, room.columns, sums);
        if (!(args.u[FLAGS] & TOGETHER)) return;
        __syncthreads();
    }
    if (listed(args)[LONG_TILES] != 0) {
        segmented_histogram<K, THREADS>(args, room.counters);
        meet();
        segmented_plan(args, sums);
        const uint32_t passes = args.u[PASSES], end = args.u[MASK];
#pragma unroll 1
        for (uint32_t p = 0, shift = args.u[SHIFT]; p < passes; ++p, shift += 8) {
            meet();
            const uint32_t left = passes - 1 - p, bits = min(end - shift, 8u);
            const uint32_t plan = (p == 0 ? READS_SOURCE : 0) | (left % 2 == 1 ? WRITES_AWAY : READS_AWAY) | (left == 0 ? LAST : 0);
            const Pass pass = {p, plan, bits == 0 ? 0 : shift, (1u << bits) - 1};
            while (sort_pass(args, pass, room.pass)) __syncthreads();
        }
    }
    // What was counted is zero again for the next sort.
    if (threadIdx.x == 0 && arrive_add(listed(args) + ENDED, 1) == gridDim.x - 1) *(uint4*)listed(args) = {0, 0, 0, 0};
}

#define SEGMENTED_HISTOGRAM(B, K) \
    IW_KERNEL(HISTOGRAM_THREADS) segmented_histogram_k##B(const __grid_constant__ Args args) { \
        __shared__ uint32_t counters[COUNTERS<K>];                                             \
        segmented_histogram<K, HISTOGRAM_THREADS>(args, counters);                             \
    }
#define SEGMENTED_SHORT(NAME, K, P, PLACED)                                                                                       \
    extern "C" __global__ void __launch_bounds__(SHORT_THREADS, sizeof(K) == 8 ? 2 : 3) NAME(const __grid_constant__ Args args) { \
        segmented_short<K, P, PLACED>(args);                                                                                      \
    }
#define SEGMENTED_SORT(B, K, P)                                                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS, 2) segmented_pass_k##B##_p##P(const __grid_constant__ Args args) {         \
        __shared__ PassRoom<K, P, true> room;                                                                                        \
        while (sort_pass(args, only_pass(args), room)) __syncthreads();                                                              \
    }                                                                                                                                \
    extern "C" __global__ void __launch_bounds__(THREADS, P > 0 ? 2 : 3) segmented_rest_k##B##_p##P(const __grid_constant__ Args args) { \
        segmented_rest<K, P>(args);                                                                                                  \
    }
#define SEGMENTED(B, K)                                         \
    SEGMENTED_HISTOGRAM(B, K)                                   \
    SEGMENTED_SHORT(segmented_short_all_bits_k##B, K, 0, false) \
    SEGMENTED_SHORT(segmented_short_k##B##_p0, K, 0, true)      \
    SEGMENTED_SHORT(segmented_short_k##B##_p4, K, 4, true)      \
    SEGMENTED_SORT(B, K, 0)                                     \
    SEGMENTED_SORT(B, K, 4)

SEGMENTED(1, uint8_t)
SEGMENTED(2, unsigned short)
SEGMENTED(4, uint32_t)
SEGMENTED(8, uint64_t)
