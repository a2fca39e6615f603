// Stable radix sort of rows of keys, a digit of up to 8 bits a pass, from the lowest on. Equal digits keep their order in every pass, so any
// tile gives the same result.
// sort_histogram_*: how often each value of each digit occurs, of all digits at once; sort_plan: where the keys of each value start, and which
// passes are left out because all keys share the digit. sort_pass_*: reads keys and payload once and writes them once. A tile counts its values
// and publishes the counts, ranks its keys, looks back for the counts of the tiles before (256 look-backs, a thread to each), and writes the keys
// by way of shared memory, so that neighbours go to neighbouring places.
#include "block.cuh"
#include "iw.cuh"
#include "look_back.cuh"

constexpr int RADIX = 256;
constexpr int THREADS = 384, WARPS = THREADS / WARP;
constexpr int HISTOGRAM_THREADS = 256, HISTOGRAM_LOADS = 8;
constexpr int MAX_PASSES = 8;

// Words of u.
constexpr int N = 0, ROWS = 1, TILES = 2, TILES_OF_ROW = 3, PASS = 4, PLAN = 5, SHIFT = 6, MASK = 7, NEGATIVE = 8, FLIP = 10, FLAGS = 12,
              EPOCHS = 13, PASSES = 14, CHUNKS = 15;
// Bits of FLAGS.
constexpr uint32_t INDICES = 1, DROPS_KEYS = 2, IN_PLACE = 4, ALONE = 8;
// Bits of a pass's plan: it is left out; it reads the source, else what the pass before wrote; that lies away; it writes away; it is the last.
constexpr uint32_t SKIP = 1, READS_SOURCE = 2, READS_AWAY = 4, WRITES_AWAY = 8, LAST = 16;
// scratch[1]: the plans of MAX_PASSES passes, then starts; scratch[2]: counts, zero between sorts; both [row][pass][value].
constexpr int PLAN_WORDS = 8;

// What a key is compared by, as an unsigned integer.
template <class K>
IW_DEVICE K mapped(K key, const Args& args) {
    const K negative = (K)wide(args.u + NEGATIVE), flip = (K)wide(args.u + FLIP);
    return key ^ (key >> (8 * sizeof(K) - 1) ? negative : (K)0) ^ flip;
}
template <class K>
IW_DEVICE uint32_t digit_of(K key, const Args& args) {
    return (uint32_t)(mapped(key, args) >> args.u[SHIFT]) & args.u[MASK];
}

// A block to each chunk of a row, CHUNKS to a row; counts are zero before. All digits have 8 bits, from bit SHIFT on, which is the first that is
// compared; MASK: the number of the one behind the last. Lanes that count the same value are added up by the shared memory itself.
template <class K>
IW_DEVICE void sort_histogram(const Args& args) {
    // A byte sorted in place has a second digit of no bits. As many copies as there is room for: lanes of different copies never meet in a bank.
    constexpr int DIGITS = sizeof(K) == 1 ? 2 : sizeof(K), COPIES = DIGITS <= 4 ? 8 : 4;
    __shared__ uint32_t counters[DIGITS * RADIX * COPIES];
    const int passes = args.u[PASSES];
    const uint32_t first = args.u[SHIFT], end = args.u[MASK];
    const K compared = end ? (K)(~0ull >> (64 - end)) : (K)0;
    const uint32_t n = args.u[N], chunks = args.u[CHUNKS], row = blockIdx.x / chunks, chunk = blockIdx.x % chunks;
    constexpr uint32_t STEP = HISTOGRAM_THREADS * HISTOGRAM_LOADS;
    const K* const keys = (const K*)args.in[0].ptr + (uint64_t)row * n;
#pragma unroll 1
    for (int k = threadIdx.x; k < DIGITS * RADIX * COPIES; k += HISTOGRAM_THREADS) counters[k] = 0;
    __syncthreads();
    uint32_t* const own = counters + threadIdx.x % COPIES;
    const auto count = [&](K key) {
        const K bits = (K)((mapped(key, args) & compared) >> first);
#pragma unroll
        for (int p = 0; p < DIGITS; ++p)
            if (p < passes) atomicAdd(own + (p * RADIX + ((uint32_t)(bits >> (8 * p)) & 255u)) * COPIES, 1u);
    };
    // From the end to the beginning, which the first pass then finds in the cache.
    const uint32_t steps = n / STEP + (n % STEP != 0);
#pragma unroll 1
    for (uint32_t s = chunk; s < steps; s += chunks) {
        const uint64_t i = (uint64_t)(steps - 1 - s) * STEP;
        if (i + STEP <= n) {
            K key[HISTOGRAM_LOADS];
#pragma unroll
            for (int k = 0; k < HISTOGRAM_LOADS; ++k) key[k] = keys[i + k * HISTOGRAM_THREADS + threadIdx.x];
#pragma unroll
            for (int k = 0; k < HISTOGRAM_LOADS; ++k) count(key[k]);
        } else {
#pragma unroll 1
            for (uint64_t j = i + threadIdx.x; j < n; j += HISTOGRAM_THREADS) count(keys[j]);
        }
    }
    __syncthreads();
    uint32_t* const counts = (uint32_t*)args.scratch[2] + (uint64_t)row * passes * RADIX;
#pragma unroll 1
    for (int k = threadIdx.x; k < passes * RADIX; k += HISTOGRAM_THREADS) {
        uint32_t sum = 0;
#pragma unroll
        for (int c = 0; c < COPIES; ++c) sum += counters[k * COPIES + c];
        if (sum) atomicAdd(counts + k, sum);
    }
}

// A block to each row: counts become starts, and zero again for the next sort.
IW_KERNEL(RADIX) sort_plan(const __grid_constant__ Args args) {
    __shared__ uint32_t sums[RADIX / WARP];
    __shared__ uint32_t shared_by_all[MAX_PASSES];
    const int passes = args.u[PASSES];
    const uint32_t n = args.u[N], rows = args.u[ROWS], row = blockIdx.x;
    uint32_t* const plan = (uint32_t*)args.scratch[1];
    uint32_t* const counts = (uint32_t*)args.scratch[2] + (uint64_t)row * passes * RADIX;
    uint32_t* const starts = plan + PLAN_WORDS + (uint64_t)row * passes * RADIX;
    if (threadIdx.x < MAX_PASSES) shared_by_all[threadIdx.x] = 0;
    __syncthreads();
    for (int p = 0; p < passes; ++p) {
        const uint32_t count = counts[p * RADIX + threadIdx.x];
        counts[p * RADIX + threadIdx.x] = 0;
        if (count == n) shared_by_all[p] = 1;
        starts[p * RADIX + threadIdx.x] = row * n + sum_before<RADIX / WARP>(count, sums);
        __syncthreads();
    }
    if (row != 0 || threadIdx.x != 0) return;
    int done = 0;  // passes that are not left out
    for (int p = 0; p < passes; ++p) {
        if (rows > 1) shared_by_all[p] = 0;
        done += !shared_by_all[p];
    }
    // A sort in place ends where it started after an even number of passes; others need one at least. Any pass may be made: the sort is stable.
    const bool one_more = args.u[FLAGS] & IN_PLACE ? done % 2 == 1 : done == 0;
    for (int p = 0, added = !one_more; p < passes && !added; ++p)
        if (shared_by_all[p]) shared_by_all[p] = 0, ++done, added = 1;
    uint32_t made = 0;
    for (int p = 0; p < passes; ++p) {
        if (shared_by_all[p]) {
            plan[p] = SKIP;
            continue;
        }
        const bool away = (done - 1 - made) % 2 == 1;
        plan[p] = (made == 0 ? READS_SOURCE : 0) | (away ? WRITES_AWAY : READS_AWAY) | (made + 1 == done ? LAST : 0);
        ++made;
    }
}

// Look-back for one value: the sum of the counts of the tiles from `tile - 1` down to the first that knows the sum of all before it.
// A status word is the count, below a tag: twice the epoch plus one, plus one where the count is of all tiles up to its own.
constexpr int LOOK = 4;  // words asked for at once
IW_DEVICE uint64_t status_of(uint32_t epoch, bool all, uint32_t count) { return (uint64_t)((epoch + 1) * 2 + all) << 32 | count; }
IW_DEVICE uint32_t counts_before(const uint64_t* status, uint32_t tile, uint32_t first, uint32_t epoch) {
    uint32_t sum = 0;
    for (uint32_t at = tile; at > first;) {
        uint64_t found[LOOK];
#pragma unroll
        for (int k = 0; k < LOOK; ++k) found[k] = peek(status + (uint64_t)(at - 1 - min((uint32_t)k, at - 1 - first)) * RADIX);
        bool waits = false;
#pragma unroll
        for (int k = 0; k < LOOK; ++k) {
            const uint32_t tag = (uint32_t)(found[k] >> 32);
            waits |= (tag >> 1) != epoch + 1;
            if (!waits && at > first) {
                sum += (uint32_t)found[k], --at;
                if (tag & 1) at = first;
            }
        }
    }
    return sum;
}

template <class K, int P>
constexpr int ITEMS = (sizeof(K) > P ? sizeof(K) : P) > 4 ? 10 : P > 0 ? 21 : 23;

struct Nothing {};
template <int P>
struct PayloadOf {
    using Type = Nothing;
};
template <>
struct PayloadOf<4> {
    using Type = uint32_t;
};
template <>
struct PayloadOf<8> {
    using Type = uint64_t;
};

// in[0], in[1]: the source's keys and payload; out[0], out[1]: those of home; out[2], out[3]: those away. scratch[0]: see look_back.cuh.
// A block to each tile.
template <class K, int P>
IW_DEVICE void sort_pass(const Args& args) {
    using V = typename PayloadOf<P>::Type;
    constexpr int I = ITEMS<K, P>, TILE = I * THREADS;
    __shared__ union Shared {
        struct {
            uint32_t counters[WARPS][RADIX], matches[WARPS][RADIX];
        } rank;
        K keys[TILE];
        V payload[TILE];
    } shared;
    __shared__ uint32_t bases[RADIX], sums[WARPS], ticket, launch;
    const bool alone = args.u[FLAGS] & ALONE;
    const uint32_t plan = alone ? args.u[PLAN] : ((const uint32_t*)args.scratch[1])[args.u[PASS]];
    if (plan & SKIP) return;

    uint64_t* const header = (uint64_t*)args.scratch[0];
    uint64_t* const status = header + HEADER_WORDS;
    const uint32_t n = args.u[N], tiles = args.u[TILES], tiles_of_row = args.u[TILES_OF_ROW];
    const int lane = lane_id(), warp = warp_id();
    if (threadIdx.x == 0 && !alone) {
        const uint64_t drawn = draw(header);
        ticket = (uint32_t)drawn, launch = (uint32_t)(drawn >> 32);
    }
    uint32_t* const counters = shared.rank.counters[warp];
    uint32_t* const matches = shared.rank.matches[warp];
#pragma unroll
    for (int k = 0; k < RADIX / WARP; ++k) counters[k * WARP + lane] = 0, matches[k * WARP + lane] = 0;
    __syncthreads();
    const uint32_t tile = alone ? blockIdx.x : ticket, epoch = alone ? 0 : launch;
    const uint32_t row = tile / tiles_of_row, first = row * tiles_of_row;
    const uint32_t in_row = (tile - first) * TILE, begin = row * n + in_row;
    const int count = (int)min((uint32_t)TILE, n - in_row);
    const int place = warp * I * WARP + lane;  // of the lane's first key; the others follow WARP apart

    const K* const from = (const K*)(plan & READS_SOURCE ? args.in[0].ptr : args.out[plan & READS_AWAY ? 2 : 0]) + begin;
    K key[I];
    uint32_t rank[I];  // values first
    if (count == TILE) {
#pragma unroll
        for (int k = 0; k < I; ++k) key[k] = from[place + k * WARP];
#pragma unroll
        for (int k = 0; k < I; ++k) rank[k] = digit_of(key[k], args);
    } else {
        // Places past the end hold the greatest value, after all others: they take no key's rank, and nobody asks for this tile's counts.
#pragma unroll
        for (int k = 0; k < I; ++k) {
            const bool there = place + k * WARP < count;
            key[k] = there ? from[place + k * WARP] : (K)0;
            rank[k] = there ? digit_of(key[k], args) : RADIX - 1;
        }
    }
#pragma unroll
    for (int k = 0; k < I; ++k) atomicAdd(counters + rank[k], 1u);
    __syncthreads();

    // The tile's counts are published before anything else is done; then a warp's become the places of its first keys in the tile.
    uint32_t total = 0;
    if (threadIdx.x < RADIX) {
#pragma unroll
        for (int w = 0; w < WARPS; ++w) total += shared.rank.counters[w][threadIdx.x];
        if (!alone && tile - first + 1 != tiles_of_row)
            post(status + (uint64_t)tile * RADIX + threadIdx.x, status_of(epoch, tile == first, total));
    }
    const uint32_t start = sum_before<RADIX / WARP>(total, sums);
    if (threadIdx.x < RADIX) {
        uint32_t at = start;
#pragma unroll
        for (int w = 0; w < WARPS; ++w) {
            const uint32_t own = shared.rank.counters[w][threadIdx.x];
            shared.rank.counters[w][threadIdx.x] = at;
            at += own;
        }
    }
    __syncthreads();

    // Lanes with the same value find each other, and the highest of them counts for all.
#pragma unroll
    for (int k = 0; k < I; ++k) {
        const uint32_t value = rank[k];
        atomicOr(matches + value, 1u << lane);
        __syncwarp();
        const uint32_t same = *(volatile uint32_t*)(matches + value);
        const int leader = 31 - __clz(same);
        const uint32_t up_to = __popc(same & (ALL_LANES >> (31 - lane)));
        uint32_t before = 0;
        if (lane == leader) before = atomicAdd(counters + value, up_to);
        before = __shfl_sync(ALL_LANES, before, leader);
        // All have read the match by now.
        if (lane == leader) *(volatile uint32_t*)(matches + value) = 0;
        __syncwarp();
        rank[k] = before + up_to - 1;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < I; ++k) shared.keys[rank[k]] = key[k];

    if (threadIdx.x < RADIX) {
        uint32_t base = begin;
        if (!alone) {
            const uint32_t* const starts_of_all =
                (const uint32_t*)args.scratch[1] + PLAN_WORDS + ((uint64_t)row * args.u[PASSES] + args.u[PASS]) * RADIX;
            base = starts_of_all[threadIdx.x] - start;
            if (tile != first) {
                const uint32_t before = counts_before(status + threadIdx.x, tile, first, epoch);
                if (tile - first + 1 != tiles_of_row) post(status + (uint64_t)tile * RADIX + threadIdx.x, status_of(epoch, true, before + total));
                base += before;
            }
        }
        bases[threadIdx.x] = base;
    }
    __syncthreads();
    if (threadIdx.x == 0 && !alone) looked_back(header, epoch, args.u[EPOCHS]);

    const bool writes_keys = !(plan & LAST) || !(args.u[FLAGS] & DROPS_KEYS);
    K* const keys_to = (K*)args.out[plan & WRITES_AWAY ? 2 : 0];
    uint32_t to[I];
#pragma unroll
    for (int k = 0; k < I; ++k) {
        const int r = threadIdx.x + k * THREADS;
        const K sorted = shared.keys[r];
        to[k] = r < count ? bases[digit_of(sorted, args)] + r : 0;
        if (writes_keys && r < count) keys_to[to[k]] = sorted;
    }
    if constexpr (P > 0) {
        V payload[I];
        if (args.u[FLAGS] & INDICES && plan & READS_SOURCE) {
#pragma unroll
            for (int k = 0; k < I; ++k) payload[k] = (V)(in_row + place + k * WARP);
        } else {
            const V* const values = (const V*)(plan & READS_SOURCE ? args.in[1].ptr : args.out[plan & READS_AWAY ? 3 : 1]) + begin;
#pragma unroll
            for (int k = 0; k < I; ++k) payload[k] = place + k * WARP < count ? values[place + k * WARP] : (V)0;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < I; ++k) shared.payload[rank[k]] = payload[k];
        __syncthreads();
        V* const payload_to = (V*)args.out[plan & WRITES_AWAY ? 3 : 1];
#pragma unroll
        for (int k = 0; k < I; ++k) {
            const int r = threadIdx.x + k * THREADS;
            if (r < count) payload_to[to[k]] = shared.payload[r];
        }
    }
    if (!alone && tile == tiles - 1) next_epoch<1>(header, status, tiles, epoch, args.u[EPOCHS]);
}

#define SORT_HISTOGRAM(B, K) \
    IW_KERNEL(HISTOGRAM_THREADS) sort_histogram_k##B(const __grid_constant__ Args args) { sort_histogram<K>(args); }
#define SORT_PASS(B, K, P)                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(THREADS, 2) sort_pass_k##B##_p##P(const __grid_constant__ Args args) { sort_pass<K, P>(args); }
#define SORT(B, K)       \
    SORT_HISTOGRAM(B, K) \
    SORT_PASS(B, K, 0)   \
    SORT_PASS(B, K, 4)   \
    SORT_PASS(B, K, 8)

SORT(1, uint8_t)
SORT(2, unsigned short)
SORT(4, uint32_t)
SORT(8, uint64_t)
