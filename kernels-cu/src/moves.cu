// Gather: out[i] = in0[in1[i]]; scatter: out[in1[i]] = op(out[in1[i]], in0[i]); i below n, raw bits of 1, 2, 4, 8 bytes. An index outside gathers
// zero (or leaves the output, KEEP) and scatters nothing. A scatter that stores is for indices without duplicates; one that combines does so by
// integer atomics, whose order cannot show. Gathers and scatters that combine take four elements to a thread, so that their loads are under way together; a
// scatter that stores takes one, since more stores at once find less of what is in the L2.
#include "iw.cuh"
#include "params.cuh"

using namespace params::scatter;

constexpr int THREADS = kernels::Gather::THREADS;
constexpr int EACH = kernels::Gather::ITEMS;
constexpr uint64_t NONE = ~0ull;

// The element that an index names, or NONE. A negative index becomes a huge one.
template <class I>
IW_DEVICE uint64_t place(I index, uint64_t limit) {
    return (uint64_t)index < limit ? (uint64_t)index : NONE;
}

template <class I, int EACH>
IW_DEVICE void places(const Args& args, uint64_t first, uint64_t limit, uint64_t (&at)[EACH]) {
    const I* indices = (const I*)args.in[1].ptr;
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const uint64_t i = first + k * THREADS;
        at[k] = i < args.n ? place(indices[i], limit) : NONE;
    }
}

IW_DEVICE uint64_t first_element() { return (uint64_t)blockIdx.x * (THREADS * EACH) + threadIdx.x; }

template <class T, class I>
IW_DEVICE void gather(const Args& args) {
    const T* values = (const T*)args.in[0].ptr;
    T* out = (T*)args.out[0];
    const bool keep = args.u[params::gather::KEEP] != 0;
    const uint64_t first = first_element();
    uint64_t at[EACH];
    places<I, EACH>(args, first, (uint64_t)args.in[0].stride, at);
    T v[EACH];
#pragma unroll
    for (int k = 0; k < EACH; ++k) v[k] = at[k] != NONE ? values[at[k]] : T(0);
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const uint64_t i = first + k * THREADS;
        if (i < args.n && (at[k] != NONE || !keep)) out[i] = v[k];
    }
}

template <class T, class I>
IW_DEVICE void scatter(const Args& args) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= args.n) return;
    // The value is asked for with the index, not after it.
    const I index = ((const I*)args.in[1].ptr)[i];
    const T v = ((const T*)args.in[0].ptr)[i];
    const uint64_t at = place(index, wide(args.u + TARGETS));
    if (at != NONE) ((T*)args.out[0])[at] = v;
}

enum Op { STORE, SUM, MIN, MAX, AND, OR, XOR, SUB, SIGNED_MIN, SIGNED_MAX };

template <class T, class S>
IW_DEVICE void combine_at(T* p, T v, uint32_t op) {
    switch (op) {
        case SUM: atomicAdd(p, v); break;
        case MIN: atomicMin(p, v); break;
        case MAX: atomicMax(p, v); break;
        case AND: atomicAnd(p, v); break;
        case OR: atomicOr(p, v); break;
        case XOR: atomicXor(p, v); break;
        case SUB: atomicAdd(p, T(0) - v); break;
        case SIGNED_MIN: atomicMin((S*)p, (S)v); break;
        case SIGNED_MAX: atomicMax((S*)p, (S)v); break;
        default: break;
    }
}

template <class T, class S, class I>
IW_DEVICE void scatter_reduce(const Args& args) {
    const T* values = (const T*)args.in[0].ptr;
    T* out = (T*)args.out[0];
    const uint64_t first = first_element();
    uint64_t at[EACH];
    places<I, EACH>(args, first, wide(args.u + TARGETS), at);
    T v[EACH];
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
        const uint64_t i = first + k * THREADS;
        v[k] = T(i);
        if (i < args.n && args.u[POSITIONS] == 0) v[k] = values[i];
    }
#pragma unroll
    for (int k = 0; k < EACH; ++k)
        if (at[k] != NONE) combine_at<T, S>(out + at[k], v[k], args.u[OP]);
}

#define MOVES(index, I)                                                                                            \
    IW_KERNEL(THREADS) gather_b1_##index(const __grid_constant__ Args args) { gather<uint8_t, I>(args); }          \
    IW_KERNEL(THREADS) gather_b2_##index(const __grid_constant__ Args args) { gather<unsigned short, I>(args); }   \
    IW_KERNEL(THREADS) gather_b4_##index(const __grid_constant__ Args args) { gather<uint32_t, I>(args); }         \
    IW_KERNEL(THREADS) gather_b8_##index(const __grid_constant__ Args args) { gather<uint64_t, I>(args); }         \
    IW_KERNEL(THREADS) scatter_b1_##index(const __grid_constant__ Args args) { scatter<uint8_t, I>(args); }        \
    IW_KERNEL(THREADS) scatter_b2_##index(const __grid_constant__ Args args) { scatter<unsigned short, I>(args); } \
    IW_KERNEL(THREADS) scatter_b4_##index(const __grid_constant__ Args args) { scatter<uint32_t, I>(args); }       \
    IW_KERNEL(THREADS) scatter_b8_##index(const __grid_constant__ Args args) { scatter<uint64_t, I>(args); }       \
    IW_KERNEL(THREADS) scatter_reduce_b4_##index(const __grid_constant__ Args args) {                              \
        scatter_reduce<uint32_t, int32_t, I>(args);                                                                \
    }                                                                                                              \
    IW_KERNEL(THREADS) scatter_reduce_b8_##index(const __grid_constant__ Args args) {                              \
        scatter_reduce<uint64_t, int64_t, I>(args);                                                                \
    }

MOVES(u32, uint32_t)
MOVES(i32, int32_t)
MOVES(u64, uint64_t)
