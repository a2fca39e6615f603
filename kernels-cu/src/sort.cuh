// Passes of radix sorts: sort_pass reads keys and payload once and writes them once. A tile counts its values and publishes the counts, ranks its keys,
// looks back for the counts of the tiles before (256 look-backs, a thread to each), and writes the keys by way of shared memory, so that neighbours go
// to neighbouring places. Tiles lie in rows of equal length (sort.cu) or in parts of any (segmented_sort.cu).
#pragma once
#include "block.cuh"
#include "iw.cuh"
#include "keys.cuh"
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
// Rows: scratch[1] holds the plans of MAX_PASSES passes, then starts; scratch[2] counts, zero between sorts; both [row][pass][value].
constexpr int PLAN_WORDS = 8;

// An unsigned integer that a key is compared by.
template <class K>
IW_DEVICE K mapped(K key, const Args& args) {
    const K negative = (K)wide(args.u + NEGATIVE), flip = (K)wide(args.u + FLIP);
    return key ^ (key >> (8 * sizeof(K) - 1) ? negative : (K)0) ^ flip;
}
// And back: what is flipped where the key was negative leaves the sign.
template <class K>
IW_DEVICE K unmapped(K bits, const Args& args) {
    const K negative = (K)wide(args.u + NEGATIVE), key = bits ^ (K)wide(args.u + FLIP);
    return key ^ (key >> (8 * sizeof(K) - 1) ? negative : (K)0);
}
// A digit of what it gives.
template <class K>
IW_DEVICE uint32_t digit_of(K bits, uint32_t shift, uint32_t mask) {
    return (uint32_t)(bits >> shift) & mask;
}

// Counters of a histogram: in as many copies as there is room for, so that lanes of different copies never meet in a bank.
template <class K>
constexpr int COPIES = sizeof(K) <= 4 ? 8 : 4;
template <class K>
constexpr int COUNTERS = (int)sizeof(K) * RADIX * COPIES<K>;
// Counts the values of the lowest `passes` digits of 8 bits, a digit of all keys at a time, so that each is in the code once.
template <class K, int N>
IW_DEVICE void count_digits(uint32_t* counters, K (&bits)[N], int passes) {
#pragma unroll 1
    for (int p = 0; p < passes; ++p, counters += RADIX * COPIES<K>) {
#pragma unroll
        for (int k = 0; k < N; ++k) {
            atomicAdd(counters + ((uint32_t)bits[k] & 255u) * COPIES<K>, 1u);
            bits[k] = (K)(bits[k] >> 8);
        }
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

// Parts: scratch[2] holds arrays of TILES words, of each tile its first key, how many it has, and the first tile of its part; what belongs to a part lies
// where its first tile does. in[2]: how many tiles there are, as far as they have room.
constexpr int TABLE_ROWS = 3, BEGIN = 0, SIZE = 1, FIRST = 2;
constexpr uint32_t STAYS = 1u << 31;  // in SIZE: its keys stay where they are
IW_DEVICE uint32_t* table_of(const Args& args, int k) { return (uint32_t*)args.scratch[2] + (uint64_t)k * args.u[TILES]; }

// Keys of a thread.
template <class K, int P, bool PART>
constexpr int ITEMS = (sizeof(K) > P ? sizeof(K) : P) > 4 ? 11 : P > 0 ? 22 : PART ? 23 : 19;

// Blocks to a multiprocessor that registers leave room for: what travels takes as many as keys. Passes over parts, which are loops, have room for two.
template <class K, int P>
constexpr int BLOCKS = P == 4 && sizeof(K) <= 4 ? 2 : 3;

// Whether a payload travels. Kernels for keys of 8 bytes and a payload of 4 sort keys alone, too.
template <class K, int P>
IW_DEVICE bool travels(const Args& args) {
    return P > 0 && (sizeof(K) != 8 || P != 4 || args.out[1] != 0);
}

// A tile in shared memory: counts first, then what goes out in the order of places.
template <class K, int P, bool PART>
union SharedTile {
    struct {
        uint32_t counters[WARPS][RADIX], matches[WARPS][RADIX];
    } rank;
    K keys[ITEMS<K, P, PART> * THREADS];
    typename PayloadOf<P>::Type payload[ITEMS<K, P, PART> * THREADS];
};

// The warps' counts of each value become the places of their first keys of it in the tile. Thread v, of 256, learns how many keys in all have value v, which
// it may then publish, and the place of the first.
template <class Publish>
IW_DEVICE uint32_t place_counts(uint32_t (*counters)[RADIX], uint32_t* sums, uint32_t& total, const Publish& publish) {
    total = 0;
    if (threadIdx.x < RADIX) {
#pragma unroll
        for (int w = 0; w < WARPS; ++w) total += counters[w][threadIdx.x];
        publish();
    }
    const uint32_t start = sum_before<RADIX / WARP>(total, sums);
    if (threadIdx.x < RADIX) {
        uint32_t at = start;
#pragma unroll
        for (int w = 0; w < WARPS; ++w) {
            const uint32_t own = counters[w][threadIdx.x];
            counters[w][threadIdx.x] = at;
            at += own;
        }
    }
    return start;
}

// I numbers below 2^16, two to a register: a tile's keys and ranks leave room for three blocks to a multiprocessor.
template <int I>
struct Halves {
    uint32_t words[(I + 1) / 2];
    IW_DEVICE uint32_t get(int k) const { return k % 2 ? words[k / 2] >> 16 : words[k / 2] & 0xffff; }
    // In order.
    IW_DEVICE void put(int k, uint32_t v) {
        words[k / 2] = k % 2 ? words[k / 2] | v << 16 : v;
        hold(k);
    }
  private:
    // The compiler would keep a register to each.
    IW_DEVICE void hold(int k) {
        if (k % 2 || k == I - 1) asm volatile("" : "+r"(words[k / 2]));
    }
};

// Values become ranks: `counters`, the warp's own, hold the place of the next key of each value. Lanes with the same value find each other in `matches`, which
// are zero before and after, and the highest of them counts for all.
template <int I, class F>
IW_DEVICE void rank_keys(Halves<I>& ranks, const F& value_of, uint32_t* counters, uint32_t* matches) {
    const int lane = lane_id();
#pragma unroll
    for (int k = 0; k < I; ++k) {
        const uint32_t value = value_of(k);
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
        ranks.put(k, before + up_to - 1);
    }
}

// Differences between passes: its number among them, its plan, and its digit.
struct Pass {
    uint32_t number, plan, shift, mask;
};
IW_DEVICE Pass only_pass(const Args& args) { return {args.u[PASS], args.u[PLAN], args.u[SHIFT], args.u[MASK]}; }

// A block's shared memory in a pass.
template <class K, int P, bool PART>
struct PassRoom {
    SharedTile<K, P, PART> tile;
    uint32_t bases[RADIX], sums[WARPS], ticket, launch;
    uint32_t entry[PART ? TABLE_ROWS : 1], count_of_all;
};

// in[0], in[1]: the source's keys and payload; out[0], out[1]: those of home; out[2], out[3]: those away. scratch[0]: see look_back.cuh.
// A block to each tile; where tiles lie in a PART of any length, of which a table tells, blocks take one after the other, and sort_pass is called until it
// says that none is left.
template <class K, int P, bool PART>
IW_DEVICE bool sort_pass(const Args& args, const Pass& pass, PassRoom<K, P, PART>& room) {
    using V = typename PayloadOf<P>::Type;
    constexpr int I = ITEMS<K, P, PART>, TILE = I * THREADS;
    auto& [shared, bases, sums, ticket, launch, entry, count_of_all] = room;
    const bool alone = !PART && args.u[FLAGS] & ALONE;
    const uint32_t plan = alone || PART ? pass.plan : ((const uint32_t*)args.scratch[1])[pass.number];
    if (plan & SKIP) return false;

    uint64_t* const header = (uint64_t*)args.scratch[0];
    uint64_t* const status = header + HEADER_WORDS;
    const int lane = lane_id(), warp = warp_id();
    if (threadIdx.x == 0 && !alone) {
        const uint64_t drawn = draw(header);
        ticket = (uint32_t)drawn, launch = (uint32_t)(drawn >> 32);
        if constexpr (PART) {
            count_of_all = *(const uint32_t*)args.in[2].ptr;
#pragma unroll
            for (int k = 0; k < TABLE_ROWS; ++k) entry[k] = ticket < count_of_all ? table_of(args, k)[ticket] : 0;
        }
    }
    uint32_t* const counters = shared.rank.counters[warp];
    uint32_t* const matches = shared.rank.matches[warp];
#pragma unroll
    for (int k = 0; k < RADIX / WARP; ++k) counters[k * WARP + lane] = 0, matches[k * WARP + lane] = 0;
    __syncthreads();
    const uint32_t tile = alone ? blockIdx.x : ticket, epoch = alone ? 0 : launch;
    // The row, or the part, and its first tile; the first key, in all and for its index. Of a part's last tile nobody asks for what it publishes.
    uint32_t row, first, begin, base_index, mask = pass.mask;
    // As many tickets are drawn.
    const uint32_t tiles = PART ? count_of_all + gridDim.x : args.u[TILES];
    bool last;
    int count;
    if constexpr (PART) {
        begin = base_index = entry[BEGIN], count = (int)(entry[SIZE] & ~STAYS), row = first = entry[FIRST];
        if (entry[SIZE] & STAYS) mask = 0;
        last = false;
    } else {
        const uint32_t n = args.u[N], tiles_of_row = args.u[TILES_OF_ROW];
        row = tile / tiles_of_row, first = row * tiles_of_row;
        base_index = (tile - first) * TILE, begin = row * n + base_index;
        count = (int)min((uint32_t)TILE, n - base_index);
        last = tile - first + 1 == tiles_of_row;
    }
    if (PART && tile >= count_of_all) {
        if (threadIdx.x == 0) looked_back(header, epoch, args.u[EPOCHS]);
        if (tile == tiles - 1) next_epoch<1>(header, status, tiles, epoch, args.u[EPOCHS]);
        return false;
    }
    const int place = warp * I * WARP + lane;  // of the lane's first key; the others follow WARP apart

    const Keys<K> from(plan & READS_SOURCE ? (uint64_t)args.in[0].ptr : (uint64_t)args.out[plan & READS_AWAY ? 2 : 0], begin + place);
    K key[I];
    if (count == TILE) {
        unrolled<I>([&](auto k) { key[k] = from.template load<k.value * WARP>(); });
#pragma unroll
        for (int k = 0; k < I; ++k) key[k] = mapped(key[k], args);
    } else {
        // Places past the end hold the greatest value, after all others: they take no key's rank, and nobody asks for this tile's counts.
        unrolled<I>([&](auto k) { key[k] = place + k * WARP < count ? mapped(from.template load<k.value * WARP>(), args) : (K)~(K)0; });
    }
    const uint32_t shift = pass.shift;
    const auto value_of = [&](int k) { return digit_of(key[k], shift, mask); };
#pragma unroll
    for (int k = 0; k < I; ++k) atomicAdd(counters + value_of(k), 1u);
    __syncthreads();

    // The tile's counts are published before anything else is done.
    uint32_t total;
    const uint32_t start = place_counts(shared.rank.counters, sums, total, [&] {
        if (!alone && !last) post(status + (uint64_t)tile * RADIX + threadIdx.x, status_of(epoch, tile == first, total));
    });
    __syncthreads();

    Halves<I> ranks;
    rank_keys(ranks, value_of, counters, matches);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < I; ++k) shared.keys[ranks.get(k)] = key[k];

    if (threadIdx.x < RADIX) {
        uint32_t base = begin;
        if (!alone) {
            const uint32_t* const starts_of_all =
                (const uint32_t*)args.scratch[1] + (PART ? 0 : PLAN_WORDS) + ((uint64_t)row * args.u[PASSES] + pass.number) * RADIX;
            base = starts_of_all[threadIdx.x] - start;
            if (tile != first) {
                const uint32_t before = counts_before(status + threadIdx.x, tile, first, epoch);
                if (!last) post(status + (uint64_t)tile * RADIX + threadIdx.x, status_of(epoch, true, before + total));
                base += before;
            }
        }
        bases[threadIdx.x] = base;
    }
    __syncthreads();
    if (threadIdx.x == 0 && !alone) looked_back(header, epoch, args.u[EPOCHS]);

    const bool writes_keys = !(plan & LAST) || !(args.u[FLAGS] & DROPS_KEYS);
    const Keys<K> keys_to((uint64_t)args.out[plan & WRITES_AWAY ? 2 : 0], 0);
    Halves<I> values_in_order;
#pragma unroll
    for (int k = 0; k < I; ++k) {
        const int r = threadIdx.x + k * THREADS;
        const K sorted = shared.keys[r];
        const uint32_t value = digit_of(sorted, shift, mask);
        if constexpr (P > 0) values_in_order.put(k, value);
        if (writes_keys && r < count) keys_to.store(bases[value] + r, unmapped(sorted, args));
    }
    if constexpr (P > 0) if (travels<K, P>(args)) {
        V payload[I];
        if (args.u[FLAGS] & INDICES && plan & READS_SOURCE) {
#pragma unroll
            for (int k = 0; k < I; ++k) payload[k] = (V)(base_index + place + k * WARP);
        } else {
            const V* const values = (const V*)(plan & READS_SOURCE ? args.in[1].ptr : args.out[plan & READS_AWAY ? 3 : 1]) + begin;
#pragma unroll
            for (int k = 0; k < I; ++k) payload[k] = place + k * WARP < count ? values[place + k * WARP] : (V)0;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < I; ++k) shared.payload[ranks.get(k)] = payload[k];
        __syncthreads();
        V* const payload_to = (V*)args.out[plan & WRITES_AWAY ? 3 : 1];
#pragma unroll
        for (int k = 0; k < I; ++k) {
            const int r = threadIdx.x + k * THREADS;
            if (r < count) payload_to[bases[values_in_order.get(k)] + r] = shared.payload[r];
        }
    }
    if (!PART && !alone && tile == tiles - 1) next_epoch<1>(header, status, tiles, epoch, args.u[EPOCHS]);
    return true;
}

