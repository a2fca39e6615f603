// The textbooks' sorts, launch by launch, on keys as words that compare as unsigned integers, and a payload of 32 bits that travels with them.
// load and store: from keys to words and back. windows and everywhere: steps of a network, in shared memory or over the whole array; of a pair of
// places the lower one gets what comes first. samples, bounds and scatter: a sample sort's partition of sorted tiles into buckets; buckets are
// then sorted by a network, each by itself. flags and split: keys parted by a bit. local and runs: tiles sorted by a digit in shared memory, bit by
// bit, and put where the digits' buckets are. The order of all comparisons is the host's: see core.
#include "iw.cuh"
#include "textbook.cuh"

using namespace params::sort_variant;

constexpr int THREADS = kernels::SortLoad::THREADS;
// Keys of a window; tiles of a sample sort are as long. Every so many keys of a sorted tile one is a sample.
constexpr int TILE = 1024, APART = 16;

// Two bits of FLAGS are the network; one says that the payload tells equal keys apart.
constexpr uint32_t NETWORK = 3, TRANSPOSITION = 0, BITONIC = 1, RANKED = 4;
constexpr uint64_t NONE = ~0ull;

// Words that hold a key of K.
template <class K>
struct WordOf {
    using Type = uint32_t;
};
template <>
struct WordOf<uint64_t> {
    using Type = uint64_t;
};
template <class K>
using Word = typename WordOf<K>::Type;

IW_DEVICE uint64_t element() { return (uint64_t)blockIdx.x * THREADS + threadIdx.x; }

// Bits that negative keys flip, as they lie in memory.
template <class K>
IW_DEVICE K negative(K sign, const Args& args) {
    return sign >> (8 * sizeof(K) - 1) & 1 ? (K)wide(args.u + NEGATIVE) : (K)0;
}

// in[0]: n keys; in[1]: values, or none: then places. out[0]: words; out[1]: payload, if one is wanted.
template <class K>
IW_DEVICE void load(const Args& args) {
    const uint64_t i = element();
    if (i >= args.n) return;
    const K key = ((const K*)args.in[0].ptr)[i];
    ((Word<K>*)args.out[0])[i] = (K)(key ^ negative(key, args) ^ (K)wide(args.u + FLIP));
    if (!args.out[1]) return;
    const uint32_t* const values = (const uint32_t*)args.in[1].ptr;
    ((uint32_t*)args.out[1])[i] = values ? values[i] : (uint32_t)i;
}

// in[0]: n words; in[1]: payload; in[2]: values whose places the payload holds, or none: then it is the values. out[0]: keys; out[1]: values, if
// they are wanted.
template <class K>
IW_DEVICE void store(const Args& args) {
    const uint64_t i = element();
    if (i >= args.n) return;
    const K key = (K)((const Word<K>*)args.in[0].ptr)[i] ^ (K)wide(args.u + FLIP);
    ((K*)args.out[0])[i] = key ^ negative(key, args);
    if (!args.out[1]) return;
    const uint32_t payload = ((const uint32_t*)args.in[1].ptr)[i];
    const uint32_t* const values = (const uint32_t*)args.in[2].ptr;
    ((uint32_t*)args.out[1])[i] = values ? values[payload] : payload;
}

// Whether an item comes before another, by the bits that are compared, and, where places tell equal keys apart, by these.
template <class W>
IW_DEVICE bool comes_before(W a, uint32_t place_a, W b, uint32_t place_b, const Args& args) {
    const W mask = (W)wide(args.u + MASK), x = a & mask, y = b & mask;
    return x < y || (x == y && args.u[FLAGS] & RANKED && place_a < place_b);
}

struct Pair {
    uint64_t x, y;
};

// Pair `q` of a step, the lower place first; a higher place of NONE is none.
IW_DEVICE Pair pair_of(uint64_t q, uint64_t run, uint64_t distance, uint32_t network) {
    const uint64_t r = q & (distance - 1), x = q + (q - r);
    if (network == TRANSPOSITION) return {x + (run & 1), x + (run & 1) + 1};
    if (network == BITONIC) return {x, x + (distance == run ? 2 * distance - 1 - 2 * r : distance)};
    const uint64_t first = x + (distance < run ? distance : 0), second = first + distance;
    return {first, (first ^ second) < 2 * run ? second : NONE};
}

// A part that is sorted by itself: a bucket, or everything. scratch[0]: where buckets begin, STRIDE entries from one to the next, or none.
struct Range {
    uint64_t begin, len;
    IW_DEVICE Range(uint64_t bucket, const Args& args) {
        const uint32_t* const starts = (const uint32_t*)args.scratch[0];
        const uint64_t stride = args.u[STRIDE];
        begin = starts ? starts[bucket * stride] : 0;
        const uint64_t end = starts && bucket + 1 < args.u[BUCKETS] ? starts[(bucket + 1) * stride] : args.n;
        len = end - begin;
    }
};

// in[0], in[1]: words and payload, if there is one; out[0], out[1]: the same after STEPS steps of the network in every window, GROUPS to a bucket,
// the first one of RUN and DISTANCE. A window reads HALO places on either side of what it writes.
template <class W>
IW_DEVICE void windows(const Args& args) {
    __shared__ W keys[TILE];
    __shared__ uint32_t payload[TILE];
    const Range range(blockIdx.x / args.u[EACH], args);
    const uint64_t halo = args.u[HALO], room = TILE - 2 * halo, first = blockIdx.x % args.u[EACH] * room;
    if (first >= range.len) return;
    const uint64_t begin = first - min(first, halo);
    const W* const from = (const W*)args.in[0].ptr + range.begin;
    const uint32_t* const from_payload = args.in[1].ptr ? (const uint32_t*)args.in[1].ptr + range.begin : nullptr;
#pragma unroll
    for (int r = threadIdx.x; r < TILE; r += THREADS) {
        if (begin + r < range.len) {
            keys[r] = from[begin + r];
            if (from_payload) payload[r] = from_payload[begin + r];
        }
    }
    const uint32_t network = args.u[FLAGS] & NETWORK;
    uint64_t run = args.u[RUN], distance = args.u[DISTANCE];
#pragma unroll 1
    for (uint32_t step = 0; step < args.u[STEPS]; ++step) {
        __syncthreads();
#pragma unroll
        for (int k = threadIdx.x; k < TILE / 2; k += THREADS) {
            const Pair pair = pair_of(begin / 2 + k, run, distance, network);
            if (pair.y < range.len && pair.y - begin < TILE) {
                const int x = (int)(pair.x - begin), y = (int)(pair.y - begin);
                const W a = keys[x], b = keys[y];
                const uint32_t p = from_payload ? payload[x] : 0, q = from_payload ? payload[y] : 0;
                if (comes_before(b, q, a, p, args)) {
                    keys[x] = b;
                    keys[y] = a;
                    if (from_payload) {
                        payload[x] = q;
                        payload[y] = p;
                    }
                }
            }
        }
        if (network == TRANSPOSITION) {
            ++run;
        } else if (distance > 1) {
            distance /= 2;
        } else {
            run *= 2;
            distance = run;
        }
    }
    __syncthreads();
    W* const to = (W*)args.out[0] + range.begin + first;
    uint32_t* const to_payload = (uint32_t*)args.out[1] + range.begin + first;
    for (int r = threadIdx.x; r < room; r += THREADS) {
        if (first + r < range.len) {
            to[r] = keys[first + r - begin];
            if (from_payload) to_payload[r] = payload[first + r - begin];
        }
    }
}

// out[0], out[1]: words and payload, if there is one. A thread to each pair of a step, GROUPS blocks to a bucket.
template <class W>
IW_DEVICE void everywhere(const Args& args) {
    const Range range(blockIdx.x / args.u[EACH], args);
    const uint64_t q = (uint64_t)(blockIdx.x % args.u[EACH]) * THREADS + threadIdx.x;
    const Pair pair = pair_of(q, args.u[RUN], args.u[DISTANCE], args.u[FLAGS] & NETWORK);
    if (pair.y >= range.len) return;
    W* const x = (W*)args.out[0] + range.begin + pair.x;
    W* const y = (W*)args.out[0] + range.begin + pair.y;
    const W a = *x, b = *y;
    uint32_t* const payload = (uint32_t*)args.out[1];
    uint32_t p = 0, q_payload = 0;
    if (payload) {
        p = payload[range.begin + pair.x];
        q_payload = payload[range.begin + pair.y];
    }
    if (comes_before(b, q_payload, a, p, args)) {
        *x = b;
        *y = a;
        if (payload) {
            payload[range.begin + pair.x] = q_payload;
            payload[range.begin + pair.y] = p;
        }
    }
}

// in[0], in[1]: sorted tiles; out[0], out[1]: n samples.
template <class W>
IW_DEVICE void samples(const Args& args) {
    const uint64_t i = element();
    if (i >= args.n) return;
    const uint64_t at = i * APART + APART - 1;
    ((W*)args.out[0])[i] = ((const W*)args.in[0].ptr)[at];
    ((uint32_t*)args.out[1])[i] = ((const uint32_t*)args.in[1].ptr)[at];
}

// Number of keys of a sorted tile before a bucket: before its splitter, a sample (in[2], in[3]).
template <class W>
IW_DEVICE uint32_t start_of(uint32_t bucket, uint64_t tile, uint32_t len, const Args& args) {
    const uint32_t buckets = args.u[BUCKETS], count = args.u[SAMPLES];
    if (bucket == 0) return 0;
    if (bucket == buckets) return len;
    const uint32_t s = count / buckets * bucket + count % buckets * bucket / buckets;
    const W key = ((const W*)args.in[2].ptr)[s];
    const uint32_t place = ((const uint32_t*)args.in[3].ptr)[s];
    const W* const keys = (const W*)args.in[0].ptr + tile * TILE;
    const uint32_t* const places = (const uint32_t*)args.in[1].ptr + tile * TILE;
    uint32_t low = 0, high = len;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (comes_before(keys[middle], places[middle], key, place, args))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// in[0], in[1]: sorted tiles, the stride of the first being the number of keys. out[0]: where in the tile each bucket begins; out[1]: how many keys
// of the tile are in it; n entries, [bucket][STRIDE tiles].
template <class W>
IW_DEVICE void bounds(const Args& args) {
    const uint64_t i = element();
    if (i >= args.n) return;
    const uint32_t bucket = (uint32_t)(i / args.u[STRIDE]);
    const uint64_t tile = i % args.u[STRIDE];
    const uint32_t len = (uint32_t)min((uint64_t)TILE, (uint64_t)args.in[0].stride - tile * TILE);
    const uint32_t low = start_of<W>(bucket, tile, len, args);
    ((uint32_t*)args.out[0])[i] = low;
    ((uint32_t*)args.out[1])[i] = start_of<W>(bucket + 1, tile, len, args) - low;
}

// in[0], in[1]: n keys of sorted tiles, and where they were; scratch[0]: where in the tile each bucket begins; scratch[1]: where its keys of the
// tile go; out[0], out[1]: keys in buckets.
template <class W>
IW_DEVICE void scatter(const Args& args) {
    const uint64_t i = element();
    if (i >= args.n) return;
    const uint32_t* const starts = (const uint32_t*)args.scratch[0] + i / TILE;
    const uint64_t stride = args.u[STRIDE];
    const uint32_t r = (uint32_t)(i % TILE);
    // The last bucket that begins in the tile here or before; those behind it that begin there, too, are empty.
    uint32_t bucket = 0, end = args.u[BUCKETS];
    while (end - bucket > 1) {
        const uint32_t middle = (bucket + end) / 2;
        if (starts[middle * stride] <= r)
            bucket = middle;
        else
            end = middle;
    }
    const uint64_t entry = bucket * stride;
    const uint64_t to = (uint64_t)((const uint32_t*)args.scratch[1] + i / TILE)[entry] + (r - starts[entry]);
    ((W*)args.out[0])[to] = ((const W*)args.in[0].ptr)[i];
    ((uint32_t*)args.out[1])[to] = ((const uint32_t*)args.in[1].ptr)[i];
}

// in[0]: n words; out[0]: bit BIT of each.
template <class W>
IW_DEVICE void flags(const Args& args) {
    const uint64_t i = element();
    if (i < args.n) ((uint32_t*)args.out[0])[i] = (uint32_t)(((const W*)args.in[0].ptr)[i] >> args.u[BIT]) & 1u;
}

// in[0], in[1]: n words and payload, if there is one; in[2]: how many ones are before each. out[0], out[1]: zeros, then ones.
template <class W>
IW_DEVICE void split(const Args& args) {
    const uint64_t i = element();
    if (i >= args.n) return;
    const W* const keys = (const W*)args.in[0].ptr;
    const uint32_t* const ones = (const uint32_t*)args.in[2].ptr;
    const uint64_t last = args.n - 1, before = ones[i];
    const uint64_t zeros = args.n - ones[last] - (keys[last] >> args.u[BIT] & 1);
    const uint64_t to = keys[i] >> args.u[BIT] & 1 ? zeros + before : i - before;
    ((W*)args.out[0])[to] = keys[i];
    if (args.in[1].ptr) ((uint32_t*)args.out[1])[to] = ((const uint32_t*)args.in[1].ptr)[i];
}

// Numbers of ones of lanes before this one, and of all; Kogge and Stone's scan, in shared memory.
IW_DEVICE uint2 ones_before(uint32_t ones, uint32_t (&sums)[THREADS]) {
    uint32_t sum = ones;
    __syncthreads();
    sums[threadIdx.x] = sum;
#pragma unroll 1
    for (int distance = 1; distance < THREADS; distance *= 2) {
        __syncthreads();
        const uint32_t before = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
        __syncthreads();
        sums[threadIdx.x] = sum += before;
    }
    __syncthreads();
    return {sum - ones, sums[THREADS - 1]};
}

template <class W>
IW_DEVICE uint32_t digit_of(W key, const Args& args) {
    return (uint32_t)(key >> args.u[BIT]) & (args.u[BUCKETS] - 1);
}

// in[0], in[1]: n words and payload, if there is one; out[0], out[1]: tiles of I * THREADS of them, each sorted by the digit of BUCKETS values from BIT
// on; scratch[0]: where in the tile each bucket begins; scratch[1]: how many keys of the tile are in it; [bucket][STRIDE tiles].
template <class W, int I>
IW_DEVICE void local(const Args& args) {
    constexpr uint32_t KEYS = I * THREADS;
    __shared__ W keys[KEYS];
    __shared__ uint32_t payload[KEYS];
    __shared__ uint32_t sums[THREADS];
    const uint64_t first = (uint64_t)blockIdx.x * KEYS;
    const uint32_t len = (uint32_t)min((uint64_t)KEYS, args.n - first), buckets = args.u[BUCKETS];
    const uint32_t* const from_payload = (const uint32_t*)args.in[1].ptr;
    for (uint32_t r = threadIdx.x; r < len; r += THREADS) {
        keys[r] = ((const W*)args.in[0].ptr)[first + r];
        if (from_payload) payload[r] = from_payload[first + r];
    }
    __syncthreads();
#pragma unroll 1
    for (uint32_t bit = 1; bit < buckets; bit *= 2) {
        W key[I];
        uint32_t item[I], ones = 0;
#pragma unroll
        for (int e = 0; e < I; ++e) {
            const uint32_t r = threadIdx.x * I + e;
            key[e] = r < len ? keys[r] : (W)0;
            item[e] = r < len && from_payload ? payload[r] : 0;
            // Places behind the end stay there: they are the last ones.
            ones += r >= len || digit_of(key[e], args) & bit;
        }
        const uint2 found = ones_before(ones, sums);
        const uint32_t zeros = KEYS - found.y;
        uint32_t before = found.x;
#pragma unroll
        for (int e = 0; e < I; ++e) {
            const uint32_t r = threadIdx.x * I + e;
            const bool one = r >= len || digit_of(key[e], args) & bit;
            const uint32_t to = one ? zeros + before : r - before;
            if (r < len) {
                keys[to] = key[e];
                if (from_payload) payload[to] = item[e];
            }
            before += one;
        }
        __syncthreads();
    }
    for (uint32_t r = threadIdx.x; r < len; r += THREADS) {
        ((W*)args.out[0])[first + r] = keys[r];
        if (from_payload) ((uint32_t*)args.out[1])[first + r] = payload[r];
    }
    // Numbers of keys with lower digits, and with as many or lower ones.
    if (threadIdx.x >= buckets) return;
    uint32_t low[2];
#pragma unroll
    for (uint32_t side = 0; side < 2; ++side) {
        uint32_t end = len;
        low[side] = 0;
        while (low[side] < end) {
            const uint32_t middle = (low[side] + end) / 2;
            if (digit_of(keys[middle], args) < threadIdx.x + side)
                low[side] = middle + 1;
            else
                end = middle;
        }
    }
    const uint64_t entry = (uint64_t)threadIdx.x * args.u[STRIDE] + blockIdx.x;
    ((uint32_t*)args.scratch[0])[entry] = low[0];
    ((uint32_t*)args.scratch[1])[entry] = low[1] - low[0];
}

// in[0], in[1]: n words and payload, if there is one, in tiles of RUN that are sorted by the digit; scratch[0]: where in the tile each bucket begins;
// scratch[1]: where its keys of the tile go; out[0], out[1]: keys in buckets.
template <class W>
IW_DEVICE void runs(const Args& args) {
    const uint64_t i = element();
    if (i >= args.n) return;
    const uint64_t tile = i / args.u[RUN];
    const W key = ((const W*)args.in[0].ptr)[i];
    const uint64_t entry = (uint64_t)digit_of(key, args) * args.u[STRIDE] + tile;
    const uint64_t to = (uint64_t)((const uint32_t*)args.scratch[1])[entry] + i % args.u[RUN] - ((const uint32_t*)args.scratch[0])[entry];
    ((W*)args.out[0])[to] = key;
    if (args.in[1].ptr) ((uint32_t*)args.out[1])[to] = ((const uint32_t*)args.in[1].ptr)[i];
}

#define SORT(NAME, BODY) \
    IW_KERNEL(THREADS) NAME(const __grid_constant__ Args args) { BODY(args); }
#define KEYS(B, K)                    \
    SORT(sort_load_k##B, (load<K>))   \
    SORT(sort_store_k##B, (store<K>))
#define WORDS(B, W)                             \
    SORT(sort_windows_k##B, (windows<W>))       \
    SORT(sort_everywhere_k##B, (everywhere<W>)) \
    SORT(sort_samples_k##B, (samples<W>))       \
    SORT(sort_bounds_k##B, (bounds<W>))         \
    SORT(sort_scatter_k##B, (scatter<W>))       \
    SORT(sort_flags_k##B, (flags<W>))           \
    SORT(sort_split_k##B, (split<W>))           \
    SORT(sort_local_k##B, (local<W, 1>))        \
    SORT(sort_local_coarse_k##B, (local<W, 4>)) \
    SORT(sort_runs_k##B, (runs<W>))

KEYS(1, uint8_t)
KEYS(2, unsigned short)
KEYS(4, uint32_t)
KEYS(8, uint64_t)
WORDS(4, uint32_t)
WORDS(8, uint64_t)
