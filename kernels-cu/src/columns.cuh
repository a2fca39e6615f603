// Stable sorts of as many keys as a block holds, digit by digit, without atomics. A thread has neighbouring keys, counts them in registers, and puts what
// it has counted into a column of its own in shared memory, where the columns are summed up.
#pragma once
#include "runs.cuh"
#include "sort.cuh"

// Two counts share a word: that of a value below COLUMN, and that of the value COLUMN above it.
constexpr int COLUMN_BITS = 4, VALUES = 1 << COLUMN_BITS, COLUMN = VALUES / 2;
// Threads sum up neighbouring words, one more to each than there are counts: so they meet in no bank, and neither do columns. What is past the counts is
// zero.
constexpr int COLUMN_WORDS = (COLUMN + 1) * THREADS;
// Keys that counters of four bits can count.
constexpr int COUNTED = 15;

// The places of a thread's I keys among those of the block, by one digit each. All threads of the block call it, when nobody needs any more what was in
// `words`; and meet before anything else is written there.
template <int I, class F>
IW_DEVICE void rank_in_columns(Halves<I>& ranks, const F& value_of, uint32_t* words, uint32_t* sums) {
    constexpr int GROUPS = (I + COUNTED - 1) / COUNTED;
    uint64_t counts[GROUPS] = {};
    unrolled<I>([&](auto k) {
        const uint32_t at = value_of(k) * 4;
        uint32_t before = 0;
#pragma unroll
        for (int g = 0; g <= k / COUNTED; ++g) before += (uint32_t)(counts[g] >> at) & COUNTED;
        counts[k / COUNTED] += 1ull << at;
        ranks.put(k, before);
    });
#pragma unroll
    for (int k = 0; k < COLUMN; ++k) {
        uint32_t word = 0;
#pragma unroll
        for (int g = 0; g < GROUPS; ++g) word += ((uint32_t)counts[g] >> 4 * k & COUNTED) | ((uint32_t)(counts[g] >> 32) >> 4 * k & COUNTED) << 16;
        words[k * THREADS + threadIdx.x] = word;
    }
    words[COLUMN * THREADS + threadIdx.x] = 0;
    __syncthreads();
    uint32_t* const row = words + threadIdx.x * (COLUMN + 1);
    // Of many keys to a thread, counts are read again, which takes less than the registers that would keep them.
    constexpr bool KEEPS = I <= COUNTED;
    uint32_t found[COLUMN + 1], sum = 0;
#pragma unroll
    for (int k = 0; k <= COLUMN; ++k) found[k] = row[k], sum += found[k];
    uint32_t start = sum_before<WARPS>(sum, sums), all = 0;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) all += sums[w];
    // All lower values come before the upper ones.
    start += all << 16;
#pragma unroll
    for (int k = 0; k <= COLUMN; ++k) {
        if (!KEEPS) found[k] = *(volatile uint32_t*)(row + k);
        row[k] = start;
        start += found[k];
    }
    __syncthreads();
    const unsigned short* const starts = (const unsigned short*)(words + threadIdx.x);
    const auto start_of = [&](int k) {
        const uint32_t value = value_of(k);
        return (uint32_t)starts[value % COLUMN * (2 * THREADS) + value / COLUMN];
    };
    unrolled<I>([&](auto k) { ranks.words[k / 2] += start_of(k) << k % 2 * 16; });
}

// As many keys as a tile of a part has, at least.
template <class K, int P>
constexpr int MOST_ITEMS = ITEMS<K, P, true> | 1;
template <class K, int P>
union ColumnRoom {
    uint32_t counters[COLUMN_WORDS];
    K keys[MOST_ITEMS<K, P> * THREADS];
    typename PayloadOf<P>::Type payload[MOST_ITEMS<K, P> * THREADS];
};

// Sorts the `count` keys from `begin` on, at most I to a thread, by bits SHIFT to MASK, and stores them and what travels. All threads of the block call
// it, and meet before it and behind it.
template <class K, int P, int I>
IW_DEVICE void sort_in_columns(const Args& args, uint32_t begin, uint32_t count, ColumnRoom<K, P>& room, uint32_t* sums) {
    static_assert(I % 2 == 1, "neighbours' keys lie in different banks");
    using V = typename PayloadOf<P>::Type;
    const Keys<K> keys((uint64_t)args.in[0].ptr, begin + threadIdx.x);
    const uint32_t mine = threadIdx.x * I;
    // Elements are read as they lie and handed on to whom they belong to. Places past the end hold the greatest value, after all others.
    unrolled<I>([&](auto k) {
        const uint32_t at = threadIdx.x + k * THREADS;
        room.keys[at] = at < count ? mapped(keys.template load<k.value * THREADS>(), args) : (K)~(K)0;
    });
    __syncthreads();
    using Bits = typename Integer<sizeof(K) == 8>::Type;
    Bits key[I];
    unrolled<I>([&](auto k) { key[k] = room.keys[mine + k]; });
    V value[P > 0 ? I : 1];
    const bool pairs = travels<K, P>(args);
    if constexpr (P > 0) if (pairs) {
        if (args.u[FLAGS] & INDICES) {
            unrolled<I>([&](auto k) { value[k] = (V)(begin + mine + k); });
        } else {
            const V* const values = (const V*)args.in[1].ptr + begin;
            __syncthreads();
            unrolled<I>([&](auto k) {
                const uint32_t at = threadIdx.x + k * THREADS;
                room.payload[at] = at < count ? values[at] : (V)0;
            });
            __syncthreads();
            unrolled<I>([&](auto k) { value[k] = room.payload[mine + k]; });
        }
    }
    const uint32_t end = args.u[MASK];
#pragma unroll 1
    for (uint32_t shift = args.u[SHIFT]; shift < end; shift += COLUMN_BITS) {
        const uint32_t mask = end - shift < COLUMN_BITS ? (1u << (end - shift)) - 1 : VALUES - 1;
        __syncthreads();
        Halves<I> ranks;
        const auto value_of = [&](int k) {
            // Once more each time: the compiler would keep a register to each.
            if constexpr (sizeof(K) == 8)
                asm volatile("" : "+l"(key[k]));
            else
                asm volatile("" : "+r"(key[k]));
            return digit_of(key[k], shift, mask);
        };
        rank_in_columns(ranks, value_of, room.counters, sums);
        __syncthreads();
        unrolled<I>([&](auto k) { room.keys[ranks.get(k)] = (K)key[k]; });
        __syncthreads();
        unrolled<I>([&](auto k) { key[k] = room.keys[mine + k]; });
        if constexpr (P > 0) if (pairs) {
            __syncthreads();
            unrolled<I>([&](auto k) { room.payload[ranks.get(k)] = value[k]; });
            __syncthreads();
            unrolled<I>([&](auto k) { value[k] = room.payload[mine + k]; });
        }
    }
    // Keeps the compiler from moving the code below before this, with a bit to each place.
    asm volatile("" : "+r"(count));
    // And back, so that neighbours store to neighbouring places. Keys that are alone lie there still.
    if (!(args.u[FLAGS] & DROPS_KEYS)) {
        const Keys<K> keys_out((uint64_t)args.out[0], begin);
        if constexpr (P > 0) if (pairs) {
            __syncthreads();
            unrolled<I>([&](auto k) { room.keys[mine + k] = (K)key[k]; });
            __syncthreads();
        }
        unrolled<I>([&](auto k) {
            const uint32_t at = threadIdx.x + k * THREADS;
            if (at < count) keys_out.store(at, unmapped(room.keys[at], args));
        });
    }
    if constexpr (P > 0) if (pairs) {
        V* const values_out = (V*)args.out[1] + begin;
        __syncthreads();
        unrolled<I>([&](auto k) { room.payload[mine + k] = value[k]; });
        __syncthreads();
        unrolled<I>([&](auto k) {
            const uint32_t at = threadIdx.x + k * THREADS;
            if (at < count) values_out[at] = room.payload[at];
        });
    }
}

// As few keys to a thread as suffice: 7, 15 or as many as a tile has. Those of up to 15 are counted in one register.
template <class K, int P>
IW_DEVICE void sort_in_columns(const Args& args, uint32_t begin, uint32_t count, ColumnRoom<K, P>& room, uint32_t* sums) {
    constexpr int MOST = MOST_ITEMS<K, P>;
    if (count <= 7 * THREADS)
        sort_in_columns<K, P, 7>(args, begin, count, room, sums);
    else if (MOST > COUNTED && count <= COUNTED * THREADS)
        sort_in_columns<K, P, MOST < COUNTED ? MOST : COUNTED>(args, begin, count, room, sums);
    else
        sort_in_columns<K, P, MOST>(args, begin, count, room, sums);
}
