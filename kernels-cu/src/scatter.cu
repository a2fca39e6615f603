// Scatter of what is computed: out[target of i] = op(out[target of i], value of i), i below n, where an operator gives the target, one word, and the
// value's bits, one word or two. A target that is not below their number is none. A scatter that stores is for targets of which no two are equal; one
// that combines does so by integer atomics, whose order cannot show. Of elements that are read as they lie there is moves.cu.
#include "iw.cuh"
#include "params.cuh"

using namespace params::scatter;

constexpr int THREADS = kernels::ScatterFrom::THREADS;

enum Op { STORE, SUM, MIN, MAX, AND, OR, XOR, SUB, SIGNED_MIN, SIGNED_MAX };

template <class T, class S>
IW_DEVICE void put(T* p, T v, uint32_t op) {
    switch (op) {
        case STORE: *p = v; break;
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

// Four elements to a thread. grid = n / (4 * 256), rounded up.
template <class T, class S>
IW_DEVICE void scatter(const Args& args) {
    constexpr int W = 1 + sizeof(T) / 4;
    T* out = (T*)args.out[0];
    const uint64_t targets = wide(args.u + TARGETS);
    const uint32_t op = args.u[OP];
    const auto add = [&](const Acc<W>& x) {
        if (x.w[0] < targets) put<T, S>(out + x.w[0], W == 2 ? (T)x.w[1] : (T)x.w[1] | (T)((uint64_t)x.w[W - 1] << 32), op);
    };
    const uint64_t i = ((uint64_t)blockIdx.x * THREADS + threadIdx.x) * 4;
    if (i + 4 <= args.n) {
        Acc<W> x[4];
        load4(x, i);
#pragma unroll
        for (int e = 0; e < 4; ++e) add(x[e]);
    } else {
#pragma unroll 1
        for (uint64_t j = i; j < args.n; ++j) {
            Acc<W> x;
            load1(x, j);
            add(x);
        }
    }
}

IW_KERNEL(THREADS) scatter_b4(const __grid_constant__ Args args) { scatter<uint32_t, int32_t>(args); }
IW_KERNEL(THREADS) scatter_b8(const __grid_constant__ Args args) { scatter<uint64_t, int64_t>(args); }
