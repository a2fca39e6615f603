// Top-k: the indices of the first k keys of a stable sort, in any order (a sort of them follows).
// top_k_start_*: one block takes keys from all over the array and finds the one of a given rank among them. top_k_filter_*: lists the keys up to
// that one, with their indices, and counts those before it and those equal to it; its last block says from these numbers whether the list has all
// that is needed, or else that the source is read again. top_k_count_*: counts a digit, from the highest on, of the keys that agree in those before,
// and then of the indices of the keys that equal the last one; its last block finds the digit of the one that is wanted. top_k_collect_*: takes the
// keys up to it. Nothing depends on the order of a list: every pair of key and index is there once, and is taken or not by itself.
#include "block.cuh"
#include "iw.cuh"
#include "params.cuh"

using namespace params::top_k;

constexpr int START_THREADS = kernels::TopKStart::THREADS, SAMPLES_OF_THREAD = 16;
constexpr int THREADS = kernels::TopKFilter::THREADS, WARPS = THREADS / WARP;
constexpr int DIGIT = 11, BINS = 1 << DIGIT, BINS_OF_THREAD = BINS / THREADS;

// scratch[0]: the state, zero but for the first key's threshold after top_k_start. The last key that is taken, as far as it is known, and the last
// index of a key equal to it; how many of what is left come up to it; what is looked for; whether the list is read, and its length; keys before the
// sample and equal to it; elements listed; elements taken; blocks that have counted; counts.
struct State {
    uint64_t threshold;
    uint32_t index, rank, phase, listed, length, less, equal, cursor, taken, blocks;
    uint32_t unused[4];
    uint32_t counts[BINS];
};
static_assert(sizeof(State) == 4 * (16 + BINS), "the words of the state");
enum Phase : uint32_t { OF_KEYS, OF_INDICES, DONE };

// Unsigned integers that keys are compared by, and as the list has them.
template <class K>
struct ValueOf {
    using Type = uint32_t;
};
template <>
struct ValueOf<uint64_t> {
    using Type = uint64_t;
};
template <class K>
constexpr int LOADS = sizeof(K) == 8 ? 4 : sizeof(K) == 4 ? 8 : 16;

template <class V>
IW_DEVICE V ones(uint32_t bits) {
    return bits == 0 ? (V)0 : (V)((V)~(V)0 >> (8 * sizeof(V) - bits));
}
// The bits from `bit` on.
template <class V>
IW_DEVICE V above(V v, uint32_t bit) {
    return bit >= 8 * sizeof(V) ? (V)0 : (V)(v >> bit);
}
template <class K>
IW_DEVICE typename ValueOf<K>::Type value(K key, const Args& args) {
    using V = typename ValueOf<K>::Type;
    const K negative = (K)wide(args.u + NEGATIVE), flip = (K)wide(args.u + FLIP);
    const K mapped = key ^ (key >> (8 * sizeof(K) - 1) ? negative : (K)0) ^ flip;
    return above((V)mapped, args.u[START]) & ones<V>(args.u[WIDTH]);
}

// The thread's values of a step, every THREADS-th from `first` on and those before `end`: of the list, or of keys where there is none.
template <class K, class V, int L>
IW_DEVICE void load_values(V (&v)[L], const V* list, const Args& args, uint64_t first, uint64_t end) {
    if (list) {
#pragma unroll
        for (int k = 0; k < L; ++k) v[k] = first + k * THREADS < end ? list[first + k * THREADS] : (V)0;
    } else {
        const K* const keys = (const K*)args.in[0].ptr;
        K key[L];
#pragma unroll
        for (int k = 0; k < L; ++k) key[k] = first + k * THREADS < end ? keys[first + k * THREADS] : (K)0;
#pragma unroll
        for (int k = 0; k < L; ++k) v[k] = value(key[k], args);
    }
}

IW_DEVICE uint32_t lanes_before() { return (1u << lane_id()) - 1; }

// One block; n keys, as many as there are samples or more.
template <class K>
IW_DEVICE void top_k_start(const Args& args) {
    using V = typename ValueOf<K>::Type;
    constexpr int START_WARPS = START_THREADS / WARP;
    constexpr uint32_t SAMPLES = START_THREADS * SAMPLES_OF_THREAD, VALUES = 256;
    __shared__ uint32_t counts[VALUES], sums[START_WARPS], digit, rank;
    uint32_t* const words = (uint32_t*)args.scratch[0];
#pragma unroll 1
    for (uint32_t k = threadIdx.x; k < sizeof(State) / 4; k += START_THREADS) words[k] = 0;
    const K* const keys = (const K*)args.in[0].ptr;
    // One key of each part, anywhere in it; an array that is shorter is its own sample.
    const uint32_t n = (uint32_t)args.n, part = max(n / SAMPLES, 1u);
    V v[SAMPLES_OF_THREAD];
    uint32_t there = 0;
#pragma unroll
    for (int k = 0; k < SAMPLES_OF_THREAD; ++k) {
        const uint32_t sample = k * START_THREADS + threadIdx.x;
        uint32_t mixed = sample * 0x9e3779b9u;
        mixed = (mixed ^ mixed >> 15) * 0x85ebca6bu;
        const uint32_t at = sample * part + (mixed ^ mixed >> 13) % part;
        there |= (uint32_t)(at < n) << k;
        v[k] = value(keys[min(at, n - 1)], args);
    }
    if (threadIdx.x == 0) rank = args.u[RANK];
    V found = 0;
#pragma unroll 1
    for (uint32_t top = args.u[WIDTH]; top > 0;) {
        const uint32_t bits = min(top, 8u), shift = top - bits;
        if (threadIdx.x < VALUES) counts[threadIdx.x] = 0;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < SAMPLES_OF_THREAD; ++k)
            if (there >> k & 1 && above(v[k], top) == above(found, top)) atomicAdd(counts + ((uint32_t)(v[k] >> shift) & ((1u << bits) - 1)), 1u);
        __syncthreads();
        const uint32_t own = threadIdx.x < VALUES ? counts[threadIdx.x] : 0, wanted = rank;
        const uint32_t before = sum_before<START_WARPS>(own, sums);  // all have read the rank when it ends
        if (before < wanted && wanted <= before + own) digit = threadIdx.x, rank = wanted - before;
        __syncthreads();
        found |= (V)digit << shift;
        top = shift;
    }
    // The state is clear by now, unless nothing is compared.
    __syncthreads();
    if (threadIdx.x == 0) ((State*)words)->threshold = found;
}

// Whether this block is the last that comes here, whose threads then see what all blocks did before.
IW_DEVICE bool last_block(State* state) {
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&state->blocks, 1u) == gridDim.x - 1;
    __syncthreads();
    if (last) __threadfence();
    return last;
}
IW_DEVICE uint32_t seen(const uint32_t* p) { return *(const volatile uint32_t*)p; }

// Gives every element of the warp that is taken, a bit of `taken` to each of L, a place of its own from `cursor` on, and calls `put(k, place)`.
// Leaves the place behind them, or 0 where none is taken.
template <int L, class F>
IW_DEVICE uint32_t append(uint32_t taken, uint32_t* cursor, F put) {
    if (!__any_sync(ALL_LANES, taken)) return 0;
    uint32_t masks[L], all = 0;
#pragma unroll
    for (int k = 0; k < L; ++k) masks[k] = __ballot_sync(ALL_LANES, taken >> k & 1), all += __popc(masks[k]);
    uint32_t base = 0;
    if (lane_id() == 0) base = atomicAdd(cursor, all);
    base = __shfl_sync(ALL_LANES, base, 0);
    uint32_t place = base;
#pragma unroll
    for (int k = 0; k < L; ++k) {
        if (taken >> k & 1) put(k, place + __popc(masks[k] & lanes_before()));
        place += __popc(masks[k]);
    }
    return place;
}

// By one thread, when all keys are counted.
IW_DEVICE void decide(State* state, const Args& args) {
    const uint32_t k = args.u[WANTED], less = seen(&state->less), all = less + seen(&state->equal);
    state->listed = all >= k && all <= args.u[ROOM];
    state->length = all;
    state->blocks = 0;
    if (less < k && k <= all) {
        // The sample is the last key.
        state->rank = k - less;
        state->phase = all == k ? DONE : OF_INDICES;
        state->index = all == k ? 0xffffffffu : 0;
    } else {
        state->rank = k, state->phase = OF_KEYS, state->index = 0, state->threshold = 0;
    }
}

// scratch[1], scratch[2]: the list's values and indices, room for ROOM of each. Grid: any.
template <class K>
IW_DEVICE void top_k_filter(const Args& args) {
    using V = typename ValueOf<K>::Type;
    constexpr int L = LOADS<K>;
    constexpr uint32_t STEP = THREADS * L;
    __shared__ uint32_t less_of_all, equal_of_all;
    State* const state = (State*)args.scratch[0];
    V* const values = (V*)args.scratch[1];
    uint32_t* const places = (uint32_t*)args.scratch[2];
    const K* const keys = (const K*)args.in[0].ptr;
    const uint64_t n = args.n;
    const uint32_t room = args.u[ROOM];
    const V last = (V)state->threshold;
    if (threadIdx.x == 0) less_of_all = equal_of_all = 0;
    __syncthreads();
    uint32_t less = 0, equal = 0;
    bool full = false;  // nobody reads a list that is too short
#pragma unroll 1
    for (uint64_t begin = (uint64_t)blockIdx.x * STEP; begin < n; begin += (uint64_t)gridDim.x * STEP) {
        K key[L];
        const uint64_t first = begin + threadIdx.x;
        uint32_t taken = 0;
        if (begin + STEP <= n) {
#pragma unroll
            for (int k = 0; k < L; ++k) key[k] = keys[first + k * THREADS];
#pragma unroll
            for (int k = 0; k < L; ++k) taken |= (uint32_t)(value(key[k], args) <= last) << k;
        } else {
#pragma unroll
            for (int k = 0; k < L; ++k) {
                const bool there = first + k * THREADS < n;
                key[k] = there ? keys[first + k * THREADS] : (K)0;
                taken |= (uint32_t)(there && value(key[k], args) <= last) << k;
            }
        }
        if (taken) {
#pragma unroll
            for (int k = 0; k < L; ++k) {
                const bool is_equal = value(key[k], args) == last;
                if (taken >> k & 1) less += !is_equal, equal += is_equal;
            }
        }
        if (full) continue;
        const uint32_t end = append<L>(taken, &state->cursor, [&](int k, uint32_t place) {
            if (place < room) values[place] = value(key[k], args), places[place] = (uint32_t)(first + k * THREADS);
        });
        full = end >= room;
    }
#pragma unroll
    for (int step = WARP / 2; step; step /= 2) {
        less += __shfl_xor_sync(ALL_LANES, less, step);
        equal += __shfl_xor_sync(ALL_LANES, equal, step);
    }
    if (lane_id() == 0) atomicAdd(&less_of_all, less), atomicAdd(&equal_of_all, equal);
    __syncthreads();
    if (threadIdx.x == 0) {
        if (less_of_all) atomicAdd(&state->less, less_of_all);
        if (equal_of_all) atomicAdd(&state->equal, equal_of_all);
    }
    if (last_block(state) && threadIdx.x == 0) decide(state, args);
}

// By the last block, when a digit is counted: which value of it the wanted one has. Leaves the counts zero.
IW_DEVICE void pick(State* state, const Args& args) {
    __shared__ uint32_t sums[WARPS];
    const uint32_t shift = args.u[SHIFT], wanted = seen(&state->rank);
    uint32_t count[BINS_OF_THREAD], own = 0;
#pragma unroll
    for (int k = 0; k < BINS_OF_THREAD; ++k) {
        uint32_t* const at = state->counts + threadIdx.x * BINS_OF_THREAD + k;
        count[k] = seen(at), own += count[k];
        *at = 0;
    }
    uint32_t before = sum_before<WARPS>(own, sums);
    if (threadIdx.x == 0) state->blocks = 0;
    if (before >= wanted || wanted > before + own) return;
    // One thread goes on.
    uint32_t digit = 0, same = 0;
    bool there = false;
#pragma unroll
    for (int k = 0; k < BINS_OF_THREAD; ++k) {
        if (there) continue;
        if (before + count[k] >= wanted) there = true, digit = threadIdx.x * BINS_OF_THREAD + k, same = count[k];
        else before += count[k];
    }
    // All with this digit are taken: what is below it does not matter.
    const bool done = before + same == wanted;
    state->rank = wanted - before;
    if (args.u[INDEXED] == OF_INDICES) {
        state->index |= digit << shift | (done ? ones<uint32_t>(shift) : 0u);
    } else {
        state->threshold |= (uint64_t)digit << shift | (done ? ones<uint64_t>(shift) : 0ull);
        state->index = done ? 0xffffffffu : 0;
    }
    if (done) state->phase = DONE;
    else if (args.u[INDEXED] == OF_KEYS && shift == 0) state->phase = OF_INDICES;
}

// Grid: any.
template <class K>
IW_DEVICE void top_k_count(const Args& args) {
    using V = typename ValueOf<K>::Type;
    constexpr int L = LOADS<K>;
    constexpr uint32_t STEP = THREADS * L;
    __shared__ uint32_t counts[BINS];
    State* const state = (State*)args.scratch[0];
    const uint32_t phase = args.u[INDEXED];
    if (state->phase != phase) return;  // the same for all blocks: the last of them changes it when all have counted
    const V last = (V)state->threshold;
    const uint32_t index = state->index, shift = args.u[SHIFT], top = shift + args.u[DIGIT_BITS], mask = ones<uint32_t>(args.u[DIGIT_BITS]);
    const bool listed = state->listed;
    uint64_t from = 0, to = listed ? state->length : args.n;
    // Of the source, the elements whose indices agree so far.
    if (phase == OF_INDICES && !listed) from = index, to = min(args.n, index + (1ull << top));
#pragma unroll
    for (int k = 0; k < BINS_OF_THREAD; ++k) counts[k * THREADS + threadIdx.x] = 0;
    __syncthreads();
    const V* const values = (const V*)args.scratch[1];
    const uint32_t* const places = (const uint32_t*)args.scratch[2];
#pragma unroll 1
    for (uint64_t begin = from + (uint64_t)blockIdx.x * STEP; begin < to; begin += (uint64_t)gridDim.x * STEP) {
        V v[L];
        const uint64_t first = begin + threadIdx.x;
        load_values<K>(v, listed ? values : nullptr, args, first, to);
#pragma unroll
        for (int k = 0; k < L; ++k) {
            const uint64_t i = first + k * THREADS;
            if (i >= to) continue;
            if (phase == OF_KEYS) {
                if (above(v[k], top) == above(last, top)) atomicAdd(counts + ((uint32_t)(v[k] >> shift) & mask), 1u);
            } else if (v[k] == last) {
                const uint32_t place = listed ? places[i] : (uint32_t)i;
                if (above(place, top) == above(index, top)) atomicAdd(counts + (place >> shift & mask), 1u);
            }
        }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BINS_OF_THREAD; ++k) {
        const uint32_t count = counts[k * THREADS + threadIdx.x];
        if (count) atomicAdd(state->counts + k * THREADS + threadIdx.x, count);
    }
    if (last_block(state)) pick(state, args);
}

// out[0]: room for k indices. Grid: any.
template <class K>
IW_DEVICE void top_k_collect(const Args& args) {
    using V = typename ValueOf<K>::Type;
    constexpr int L = LOADS<K>;
    constexpr uint32_t STEP = THREADS * L;
    State* const state = (State*)args.scratch[0];
    const V last = (V)state->threshold;
    const uint32_t index = state->index, wanted = args.u[WANTED];
    const bool listed = state->listed;
    const uint64_t n = listed ? state->length : args.n;
    const V* const values = (const V*)args.scratch[1];
    const uint32_t* const places = (const uint32_t*)args.scratch[2];
    uint32_t* const out = (uint32_t*)args.out[0];
#pragma unroll 1
    for (uint64_t begin = (uint64_t)blockIdx.x * STEP; begin < n; begin += (uint64_t)gridDim.x * STEP) {
        V v[L];
        const uint64_t first = begin + threadIdx.x;
        load_values<K>(v, listed ? values : nullptr, args, first, n);
        const auto place_of = [&](int k) { return listed ? places[first + k * THREADS] : (uint32_t)(first + k * THREADS); };
        uint32_t taken = 0;
#pragma unroll
        for (int k = 0; k < L; ++k) {
            if (first + k * THREADS >= n) continue;
            if (v[k] < last || (v[k] == last && place_of(k) <= index)) taken |= 1u << k;
        }
        append<L>(taken, &state->taken, [&](int k, uint32_t at) {
            if (at < wanted) out[at] = place_of(k);
        });
    }
}

#define TOP_K(name, K)                                                                                                                          \
    IW_KERNEL(START_THREADS) top_k_start_##name(const __grid_constant__ Args args) { top_k_start<K>(args); }                                    \
    extern "C" __global__ void __launch_bounds__(THREADS, 6) top_k_filter_##name(const __grid_constant__ Args args) { top_k_filter<K>(args); }   \
    extern "C" __global__ void __launch_bounds__(THREADS, 4) top_k_count_##name(const __grid_constant__ Args args) { top_k_count<K>(args); }     \
    extern "C" __global__ void __launch_bounds__(THREADS, 4) top_k_collect_##name(const __grid_constant__ Args args) { top_k_collect<K>(args); }
TOP_K(k1, uint8_t)
TOP_K(k2, unsigned short)
TOP_K(k4, uint32_t)
TOP_K(k8, uint64_t)
