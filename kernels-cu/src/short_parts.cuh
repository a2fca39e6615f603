// Parts of an array, and those of few keys: a block takes a window of the array, sorts what is short there, and puts what is longer on a list. See
// segmented_sort.cu.
#pragma once
#include "runs.cuh"
#include "sort.cuh"

// More bits of FLAGS. FINDS: each window has a block, which looks for its parts itself. TOGETHER: blocks meet, and sort long parts, too. EACH: and any
// others, of which there is no list. GIVEN: then in[3] holds offsets as they were given, of 64 bits where they are WIDE, which may fall or reach behind the
// keys. SOME_BITS: not all bits of keys are compared.
constexpr uint32_t LEAVES_REST = 16, FINDS = 32, TOGETHER = 64, EACH = 128, GIVEN = 256, WIDE = 512, SOME_BITS = 1024;
// Counts of in[2], from zero on: tiles of parts that are longer than a tile, parts that are not, windows; blocks that have ended.
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

// Number of parts that begin before key `at`.
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

// A part that is longer than the short ones: by all threads.
IW_DEVICE void list_part(const Args& args, uint32_t begin, uint32_t length, uint32_t stays, uint32_t tile) {
    __shared__ uint32_t place;
    const uint32_t tiles = length / tile + (length % tile != 0);
    if (threadIdx.x == 0) place = atomicAdd(listed(args) + (tiles == 1 ? ALONE_PARTS : LONG_TILES), tiles);
    __syncthreads();
    const uint32_t first = place;
    __syncthreads();
    if (tiles == 1) {
        if (threadIdx.x == 0) alone_parts(args)[first] = {begin, length | stays};
        return;
    }
    for (uint32_t t = threadIdx.x; t < tiles; t += blockDim.x) {
        table_of(args, BEGIN)[first + t] = begin + t * tile;
        table_of(args, SIZE)[first + t] = min(tile, length - t * tile) | stays;
        table_of(args, FIRST)[first + t] = first;
    }
    uint32_t* const counts = (uint32_t*)args.scratch[1] + (uint64_t)first * args.u[PASSES] * RADIX;
    for (uint32_t k = threadIdx.x; k < args.u[PASSES] * RADIX; k += blockDim.x) counts[k] = 0;
}

// Knowledge of a window's parts.
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

// Distance from place i to its key while keys are sorted, a byte; NONE if it is not of a short part.
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
template <class K, bool PLACED>
IW_DEVICE void sort_window(const Args& args, const Window& its, Marks& marks, ShortKeys<K, PLACED>& shared) {
    using S = Sorted<K, PLACED, SKEWED>;
    using Word = typename S::Word;
    using Key = typename WordOf<K>::Type;
    constexpr int I = SHORT_ITEMS, STEP = SHORT_THREADS;
    const uint32_t window = its.begin, n = args.u[N];
    // On their way while it is found out which of them are wanted.
    const Keys<Key> keys_in((uint64_t)args.in[0].ptr, window), own_in = keys_in.behind(threadIdx.x);
    Key key[I];
    unrolled<I>([&](auto k) { key[k] = k * STEP + threadIdx.x < n - window ? own_in.template load<k.value * STEP>() : (Key)0; });
    if (threadIdx.x < MASKS) marks.begins[threadIdx.x] = 0, marks.others[threadIdx.x] = 0, marks.stays[threadIdx.x] = 0;
    if (threadIdx.x == 0) marks.end = 0, marks.longest = 0, marks.long_count = 0, shared.parts.counts = 0;
    __syncthreads();
    mark_parts(args, its, marks, shared.parts);
    __syncthreads();
    const uint32_t stop = marks.end, most = marks.longest, parts_to_list = marks.long_count;
#pragma unroll 1
    for (uint32_t p = 0; p < parts_to_list; ++p)
        list_part(args, window + marks.long_begins[p], marks.long_ends[p] - marks.long_begins[p], marks.long_stays[p],
                  (args.out[1] ? ITEMS<Key, 4, true> : ITEMS<Key, 0, true>) * THREADS);
    if (stop == 0) return;
    if (warp_id() == 0) look_back(marks);
    __syncthreads();

    const uint32_t bits = args.u[SHIFT], end_bit = args.u[MASK];
    const Key compared = end_bit > bits ? (Key)((~0ull >> (64 - (end_bit - bits))) << bits) : (Key)0;
    uint32_t skews[I / 4] = {};  // four to a word
#pragma unroll
    for (int k = 0; k < I; ++k) {
        const uint32_t i = k * STEP + threadIdx.x, skew = i < stop ? skew_of(marks, i) : NONE;
        if (skew != NONE) shared.sorted.store(i + skew, S::word_of(PLACED ? (Key)(mapped(key[k], args) & compared) : mapped(key[k], args), i));
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
        const Keys<Key> keys_out((uint64_t)args.out[0], window + threadIdx.x);
        // Bits that are not compared are not there.
        if (!PLACED || !(args.u[FLAGS] & SOME_BITS))
            for_each([&](int k, const Word& word) { keys_out.store(k, unmapped(S::key_of(word), args)); });
        else
            for_each([&](int k, const Word& word) { keys_out.store(k, keys_in.behind(S::place_of(word)).template load<0>()); });
    }
    // Keys alone by all bits have no places.
    if (PLACED && args.out[1]) {
        using V = uint32_t;
        const V* const values = (const V*)args.in[1].ptr + window;
        V* const values_out = (V*)args.out[1] + window + threadIdx.x;
        if (args.u[FLAGS] & INDICES)
            for_each([&](int k, const Word& word) { values_out[k] = (V)(window + S::place_of(word)); });
        else
            for_each([&](int k, const Word& word) { values_out[k] = values[S::place_of(word)]; });
    }
}

template <class K, bool PLACED>
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
        if (its.first != its.last) sort_window<K, PLACED>(args, its, marks, shared);
        __syncthreads();
    }
}
