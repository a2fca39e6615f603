// Shared by every kernel: the launch parameter, accumulators of W opaque 32-bit words (1, 2 or 4), the holes, lane helpers.
// A hole is an inline-asm comment that the compiler leaves in the PTX with its registers filled in; at load time the
// line is replaced by the operator's own PTX in a scope of its own. One kernel per W so serves every type and operator.
// Registers in a hole: outputs first, then element indices (64-bit), then input values, element-major and word-minor.
#pragma once

using uint8_t = unsigned char;
using int32_t = int;
using uint32_t = unsigned int;
using int64_t = long long;
using uint64_t = unsigned long long;
static_assert(sizeof(uint32_t) == 4 && sizeof(uint64_t) == 8, "the words of Args");

#define IW_DEVICE __device__ __forceinline__
#define IW_KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)

constexpr int WARP = 32;
constexpr uint32_t ALL_LANES = 0xffffffffu;

struct Leaf {
    uint64_t ptr;    // address of logical element 0, or the bits of a by-value scalar
    int64_t stride;  // bytes from one logical element to the next
};

// Mirrored in Rust; passed by value, so that spliced PTX finds the leaves at fixed parameter offsets.
struct Args {
    Leaf in[8];
    uint64_t out[4];
    uint64_t n;
    uint64_t scratch[4];
    uint32_t u[16];
    uint64_t zero;  // at every launch; read by spliced PTX alone
};

IW_DEVICE uint64_t wide(const uint32_t* u) { return u[0] | (uint64_t)u[1] << 32; }

template <int W>
struct Acc {
    uint32_t w[W];
};

// combine is not volatile: it is pure, so the compiler may drop, move or predicate it.
// Loads and stores are, so that a thread's loads stay above its stores where input and output are one buffer.

IW_DEVICE Acc<1> combine(Acc<1> a, Acc<1> b) {
    Acc<1> c;
    asm("// @op.combine %0, %1, %2;" : "=r"(c.w[0]) : "r"(a.w[0]), "r"(b.w[0]));
    return c;
}
IW_DEVICE Acc<2> combine(Acc<2> a, Acc<2> b) {
    Acc<2> c;
    asm("// @op.combine %0, %1, %2, %3, %4, %5;"
        : "=r"(c.w[0]), "=r"(c.w[1])
        : "r"(a.w[0]), "r"(a.w[1]), "r"(b.w[0]), "r"(b.w[1]));
    return c;
}
IW_DEVICE Acc<4> combine(Acc<4> a, Acc<4> b) {
    Acc<4> c;
    asm("// @op.combine %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11;"
        : "=r"(c.w[0]), "=r"(c.w[1]), "=r"(c.w[2]), "=r"(c.w[3])
        : "r"(a.w[0]), "r"(a.w[1]), "r"(a.w[2]), "r"(a.w[3]), "r"(b.w[0]), "r"(b.w[1]), "r"(b.w[2]), "r"(b.w[3]));
    return c;
}

IW_DEVICE void load1(Acc<1>& v, uint64_t i) {
    asm volatile("// @op.load1 %0, %1;" : "=r"(v.w[0]) : "l"(i));
}
IW_DEVICE void load1(Acc<2>& v, uint64_t i) {
    asm volatile("// @op.load1 %0, %1, %2;" : "=r"(v.w[0]), "=r"(v.w[1]) : "l"(i));
}
IW_DEVICE void load1(Acc<3>& v, uint64_t i) {
    asm volatile("// @op.load1 %0, %1, %2, %3;" : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]) : "l"(i));
}
IW_DEVICE void load1(Acc<4>& v, uint64_t i) {
    asm volatile("// @op.load1 %0, %1, %2, %3, %4;"
                 : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3])
                 : "l"(i));
}

// Elements i..i+3 with i % 4 == 0: the leaves allow vector access there.
IW_DEVICE void load4(Acc<1> (&v)[4], uint64_t i) {
    asm volatile("// @op.load4 %0, %1, %2, %3, %4;"
                 : "=r"(v[0].w[0]), "=r"(v[1].w[0]), "=r"(v[2].w[0]), "=r"(v[3].w[0])
                 : "l"(i));
}
IW_DEVICE void load4(Acc<2> (&v)[4], uint64_t i) {
    asm volatile("// @op.load4 %0, %1, %2, %3, %4, %5, %6, %7, %8;"
                 : "=r"(v[0].w[0]), "=r"(v[0].w[1]), "=r"(v[1].w[0]), "=r"(v[1].w[1]), "=r"(v[2].w[0]), "=r"(v[2].w[1]),
                   "=r"(v[3].w[0]), "=r"(v[3].w[1])
                 : "l"(i));
}
IW_DEVICE void load4(Acc<3> (&v)[4], uint64_t i) {
    asm volatile("// @op.load4 %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12;"
                 : "=r"(v[0].w[0]), "=r"(v[0].w[1]), "=r"(v[0].w[2]), "=r"(v[1].w[0]), "=r"(v[1].w[1]), "=r"(v[1].w[2]),
                   "=r"(v[2].w[0]), "=r"(v[2].w[1]), "=r"(v[2].w[2]), "=r"(v[3].w[0]), "=r"(v[3].w[1]), "=r"(v[3].w[2])
                 : "l"(i));
}
IW_DEVICE void load4(Acc<4> (&v)[4], uint64_t i) {
    asm volatile("// @op.load4 %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16;"
                 : "=r"(v[0].w[0]), "=r"(v[0].w[1]), "=r"(v[0].w[2]), "=r"(v[0].w[3]), "=r"(v[1].w[0]), "=r"(v[1].w[1]),
                   "=r"(v[1].w[2]), "=r"(v[1].w[3]), "=r"(v[2].w[0]), "=r"(v[2].w[1]), "=r"(v[2].w[2]), "=r"(v[2].w[3]),
                   "=r"(v[3].w[0]), "=r"(v[3].w[1]), "=r"(v[3].w[2]), "=r"(v[3].w[3])
                 : "l"(i));
}

IW_DEVICE void store1(uint64_t i, const Acc<1>& v) {
    asm volatile("// @op.store1 %0, %1;" ::"l"(i), "r"(v.w[0]) : "memory");
}
IW_DEVICE void store1(uint64_t i, const Acc<2>& v) {
    asm volatile("// @op.store1 %0, %1, %2;" ::"l"(i), "r"(v.w[0]), "r"(v.w[1]) : "memory");
}
IW_DEVICE void store1(uint64_t i, const Acc<4>& v) {
    asm volatile("// @op.store1 %0, %1, %2, %3, %4;" ::"l"(i), "r"(v.w[0]), "r"(v.w[1]), "r"(v.w[2]), "r"(v.w[3])
                 : "memory");
}

IW_DEVICE void store4(uint64_t i, const Acc<1> (&v)[4]) {
    asm volatile("// @op.store4 %0, %1, %2, %3, %4;" ::"l"(i), "r"(v[0].w[0]), "r"(v[1].w[0]), "r"(v[2].w[0]),
                 "r"(v[3].w[0])
                 : "memory");
}
IW_DEVICE void store4(uint64_t i, const Acc<2> (&v)[4]) {
    asm volatile("// @op.store4 %0, %1, %2, %3, %4, %5, %6, %7, %8;" ::"l"(i), "r"(v[0].w[0]), "r"(v[0].w[1]),
                 "r"(v[1].w[0]), "r"(v[1].w[1]), "r"(v[2].w[0]), "r"(v[2].w[1]), "r"(v[3].w[0]), "r"(v[3].w[1])
                 : "memory");
}
IW_DEVICE void store4(uint64_t i, const Acc<4> (&v)[4]) {
    asm volatile("// @op.store4 %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16;" ::"l"(i),
                 "r"(v[0].w[0]), "r"(v[0].w[1]), "r"(v[0].w[2]), "r"(v[0].w[3]), "r"(v[1].w[0]), "r"(v[1].w[1]),
                 "r"(v[1].w[2]), "r"(v[1].w[3]), "r"(v[2].w[0]), "r"(v[2].w[1]), "r"(v[2].w[2]), "r"(v[2].w[3]),
                 "r"(v[3].w[0]), "r"(v[3].w[1]), "r"(v[3].w[2]), "r"(v[3].w[3])
                 : "memory");
}

// The end of a reduction: accumulator to output element i.
IW_DEVICE void finish(uint64_t i, const Acc<1>& v) {
    asm volatile("// @op.finish %0, %1;" ::"l"(i), "r"(v.w[0]) : "memory");
}
IW_DEVICE void finish(uint64_t i, const Acc<2>& v) {
    asm volatile("// @op.finish %0, %1, %2;" ::"l"(i), "r"(v.w[0]), "r"(v.w[1]) : "memory");
}
IW_DEVICE void finish(uint64_t i, const Acc<4>& v) {
    asm volatile("// @op.finish %0, %1, %2, %3, %4;" ::"l"(i), "r"(v.w[0]), "r"(v.w[1]), "r"(v.w[2]), "r"(v.w[3])
                 : "memory");
}

// Counts blocks that arrive; gives what it was before. What this thread wrote, and those that it has met, is seen by whoever finds that it has arrived, and
// what those wrote that arrived before, by this thread. A fence, which orders everything for everybody, takes longer.
IW_DEVICE uint32_t arrive_add(uint32_t* counter, uint32_t v) {
    uint32_t before;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(v) : "memory");
    return before;
}
// The same by one, from `last` on from zero again.
IW_DEVICE uint32_t arrive_inc(uint32_t* counter, uint32_t last) {
    uint32_t before;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(last) : "memory");
    return before;
}

IW_DEVICE int lane_id() { return threadIdx.x % WARP; }
IW_DEVICE int warp_id() { return threadIdx.x / WARP; }
constexpr int log2_of(int x) { return x <= 1 ? 0 : 1 + log2_of(x / 2); }

template <int W>
IW_DEVICE Acc<W> shuffle(const Acc<W>& v, int lane) {
    Acc<W> r;
#pragma unroll
    for (int k = 0; k < W; ++k) r.w[k] = __shfl_sync(ALL_LANES, v.w[k], lane);
    return r;
}
template <int W>
IW_DEVICE Acc<W> shuffle_up(const Acc<W>& v, int by) {
    Acc<W> r;
#pragma unroll
    for (int k = 0; k < W; ++k) r.w[k] = __shfl_up_sync(ALL_LANES, v.w[k], by);
    return r;
}
template <int W>
IW_DEVICE Acc<W> shuffle_down(const Acc<W>& v, int by) {
    Acc<W> r;
#pragma unroll
    for (int k = 0; k < W; ++k) r.w[k] = __shfl_down_sync(ALL_LANES, v.w[k], by);
    return r;
}
template <int W>
IW_DEVICE Acc<W> shuffle_xor(const Acc<W>& v, int mask) {
    Acc<W> r;
#pragma unroll
    for (int k = 0; k < W; ++k) r.w[k] = __shfl_xor_sync(ALL_LANES, v.w[k], mask);
    return r;
}
template <int W>
IW_DEVICE Acc<W> pick(bool yes, const Acc<W>& a, const Acc<W>& b) {
    Acc<W> r;
#pragma unroll
    for (int k = 0; k < W; ++k) r.w[k] = yes ? a.w[k] : b.w[k];
    return r;
}

// The tree over nodes of the first `count` lanes; the result is lane 0's. All lanes take part; where a warp has several trees, `lane` counts within one.
template <int W>
IW_DEVICE Acc<W> warp_tree(Acc<W> v, int count, int lane = lane_id()) {
#pragma unroll 1
    for (int d = 1; d < count; d *= 2) {
        const Acc<W> right = shuffle_down(v, d);
        if (lane + d < count) v = combine(v, right);
    }
    return v;
}
