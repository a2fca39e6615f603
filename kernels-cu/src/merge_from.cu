// Stable merges and searches of keys that operators compute where they are read, as merge.cu does them of keys that lie in arrays. Keys are words or pairs
// of words that compare as unsigned integers under two masks; narrow ones lie in the high bits. The leaves of both sides are in[0], in[1], ..
// Holes: key_a and key_b are the keys at an index, value_a and value_b the words of values; put_key and put_value store at an index of the result.
// An operator stands four times in a loop that is not written out, or once: as many are under way together, and the text stays short.
#include "merge.cuh"

// More words of u: keys of a, and of b. In searches of the sorted input, and unused.
constexpr int M = 8, N = 10;
constexpr int EACH = 4;

#define HOLES(NAME)                                                                                                         \
    IW_DEVICE void NAME(uint32_t& v, uint64_t i) { asm volatile("// @op." #NAME " %0, %1;" : "=r"(v) : "l"(i)); }               \
    IW_DEVICE void NAME(uint64_t& v, uint64_t i) {                                                                              \
        uint32_t low, high;                                                                                                     \
        asm volatile("// @op." #NAME " %0, %1, %2;" : "=r"(low), "=r"(high) : "l"(i));                                          \
        v = low | (uint64_t)high << 32;                                                                                         \
    }
HOLES(key_a)
HOLES(key_b)
HOLES(value_a)
HOLES(value_b)

#define PUTS(NAME)                                                                                                              \
    IW_DEVICE void NAME(uint64_t i, uint32_t v) { asm volatile("// @op." #NAME " %0, %1;" ::"l"(i), "r"(v) : "memory"); }       \
    IW_DEVICE void NAME(uint64_t i, uint64_t v) {                                                                               \
        asm volatile("// @op." #NAME " %0, %1, %2;" ::"l"(i), "r"((uint32_t)v), "r"((uint32_t)(v >> 32)) : "memory");           \
    }
PUTS(put_key)
PUTS(put_value)

// Where the first k merged keys end in a.
template <class K>
IW_DEVICE uint64_t co_rank(const Order<K>& order, uint64_t k, uint64_t m, uint64_t n) {
    uint64_t low = k > n ? k - n : 0, high = min(k, m);
#pragma unroll 1
    while (low < high) {
        const uint64_t i = low + (high - low) / 2;
        K a, b;
        key_a(a, i);
        key_b(b, k - 1 - i);
        if (order.mapped(a) <= order.mapped(b))
            low = i + 1;
        else
            high = i;
    }
    return low;
}

// n ranks: those at scratch[1], or the multiples of STEP.
template <class K>
IW_DEVICE void co_ranks(const Args& args) {
    const uint64_t at = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at >= args.n) return;
    const uint64_t m = wide(args.u + M), n = wide(args.u + N);
    uint64_t k = at * args.u[STEP];
    if (args.scratch[1]) k = args.u[WIDE] ? ((const uint64_t*)args.scratch[1])[at] : ((const uint32_t*)args.scratch[1])[at];
    put_number(args, at, co_rank(Order<K>(args), min(k, m + n), m, n));
}

// A tile's keys of one side, mapped. Behind the last one it is computed again, so that there is no branch.
template <class K, class Key>
IW_DEVICE void fill(K* keys, int count, const Order<K>& order, const Key& key) {
#pragma unroll 1
    for (int r = threadIdx.x; r < count; r += EACH * THREADS) {
        K found[EACH];
#pragma unroll
        for (int e = 0; e < EACH; ++e) key(found[e], min(r + e * THREADS, count - 1));
#pragma unroll
        for (int e = 0; e < EACH; ++e)
            if (r + e * THREADS < count) keys[r + e * THREADS] = order.mapped(found[e]);
    }
}

template <int P>
struct ValueOf {
    using Type = uint32_t;
};
template <>
struct ValueOf<8> {
    using Type = uint64_t;
};

// scratch[0]: where tiles begin in a; without it there is one.
template <class K, int P>
IW_DEVICE void merge_tile(const Args& args) {
    constexpr int I = ITEMS<K, P>, TILE = I * THREADS;
    // Parts that reach beyond the last tile's end read as much behind it.
    __shared__ K keys[TILE + I + 1];
    __shared__ unsigned short sources[P > 0 ? TILE : 1];
    const Order<K> order(args);
    const uint64_t m = wide(args.u + M), n = wide(args.u + N);
    const uint64_t begin = (uint64_t)blockIdx.x * TILE, end = min(begin + TILE, m + n);
    const uint64_t* const starts = (const uint64_t*)args.scratch[0];
    const uint64_t from = starts ? starts[blockIdx.x] : 0, to = starts ? starts[blockIdx.x + 1] : m;
    const int count = (int)(end - begin);
    // Of inputs that are not sorted, co-ranks may fall; what is computed then is of indices that there are, too.
    const int of_a = to > from ? (int)min(to - from, (uint64_t)count) : 0;
    const uint64_t from_b = begin - from;

    // Places of the tile: its keys of a, then its keys of b.
    fill(keys, of_a, order, [&](K& k, int r) { key_a(k, from + r); });
    fill(keys + of_a, count - of_a, order, [&](K& k, int r) { key_b(k, from_b + r); });
    __syncthreads();

    const int k0 = min((int)threadIdx.x * I, count);
    const int low = co_rank_of_tile(keys, k0, of_a, count);
    int i = low, j = of_a + k0 - low;
    K x = keys[i], y = keys[j];
    K key[I];
    unsigned short source[I];
#pragma unroll
    for (int k = 0; k < I; ++k) {
        const bool takes_a = j >= count || (i < of_a && x <= y);
        key[k] = takes_a ? x : y;
        source[k] = (unsigned short)(takes_a ? i : j);
        const int next = takes_a ? ++i : ++j;
        const K head = keys[next];
        if (takes_a)
            x = head;
        else
            y = head;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < I; ++k) {
        keys[threadIdx.x * I + k] = key[k];
        if (P > 0) sources[threadIdx.x * I + k] = source[k];
    }
    __syncthreads();

#pragma unroll 1
    for (int r = threadIdx.x; r < count; r += THREADS) put_key(begin + r, order.back(keys[r]));
    if constexpr (P > 0) {
#pragma unroll 1
        for (int r = threadIdx.x; r < count; r += EACH * THREADS) {
            typename ValueOf<P>::Type value[EACH];
#pragma unroll
            for (int e = 0; e < EACH; ++e) {
                const int at = sources[min(r + e * THREADS, count - 1)];
                if (at < of_a)
                    value_a(value[e], from + at);
                else
                    value_b(value[e], from_b + (at - of_a));
            }
#pragma unroll
            for (int e = 0; e < EACH; ++e)
                if (r + e * THREADS < count) put_value(begin + r + e * THREADS, value[e]);
        }
    }
}

// Numbers of keys before each needle, or not behind it. A step too many leaves a place as it is.
template <class K>
IW_DEVICE void bounds(uint64_t n, const Order<K>& order, const K (&needle)[EACH], bool upper, uint64_t (&at)[EACH]) {
#pragma unroll
    for (int k = 0; k < EACH; ++k) at[k] = 0;
#pragma unroll 1
    for (uint64_t length = n; length > 0; length /= 2) {
        const uint64_t half = (length + 1) / 2;
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            K key;
            key_a(key, at[k] + half - 1);
            key = order.mapped(key);
            at[k] += key < needle[k] || (upper && key == needle[k]) ? half : 0;
        }
    }
}

// n needles, those of b.
template <class K>
IW_DEVICE void search(const Args& args) {
    const Order<K> order(args);
    const uint64_t n = wide(args.u + M), first = (uint64_t)blockIdx.x * (THREADS * EACH) + threadIdx.x;
    if (first >= args.n) return;
    const uint32_t kind = args.u[KIND];
    K needle[EACH];
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        key_b(needle[k], min(first + k * THREADS, args.n - 1));
        needle[k] = order.mapped(needle[k]);
    }
    // Number of equal ones: those that are not behind it, and then without those that come before it.
    uint64_t found[EACH], lower[EACH] = {};
#pragma unroll 1
    for (int round = kind > UPPER ? 0 : 1; round < 2; ++round) {
        bounds(n, order, needle, kind == UPPER || (kind > UPPER && round > 0), found);
        if (round == 0) {
#pragma unroll
            for (int k = 0; k < EACH; ++k) lower[k] = found[k];
        }
    }
#pragma unroll
    for (int k = 0; k < EACH; ++k)
        if (first + k * THREADS < args.n) put_number(args, first + k * THREADS, found[k] > lower[k] ? found[k] - lower[k] : 0);
}

#define MERGE(B, K, P) \
    IW_KERNEL(THREADS) merge_from_k##B##_p##P(const __grid_constant__ Args args) { merge_tile<K, P>(args); }
#define MERGES(B, K)                                                                                              \
    IW_KERNEL(THREADS) merge_from_co_ranks_k##B(const __grid_constant__ Args args) { co_ranks<K>(args); }        \
    IW_KERNEL(THREADS) search_from_k##B(const __grid_constant__ Args args) { search<K>(args); }                   \
    MERGE(B, K, 0)                                                                                                \
    MERGE(B, K, 4)                                                                                                \
    MERGE(B, K, 8)

MERGES(4, uint32_t)
MERGES(8, uint64_t)
