// Map: out[i] = op(in[i], ..), n elements, any number of leaves and outputs; element by element, so order is no question.
// The body holes load, compute and store. map_vec: contiguous leaves, 4 elements at a time; map_one: any strides.
#include "iw.cuh"
#include "params.cuh"

// One group of 4 to a thread: on an H200 more in a thread moves no more bytes. Blocks of 64 threads lose a fifth where an operator has many
// instructions, blocks of 512 two hundredths; 128 and 256 copy alike, and sines come 1 % sooner from 128.
constexpr int THREADS = kernels::Map::THREADS;

IW_DEVICE void body4(uint64_t i) { asm volatile("// @op.body4 %0;" ::"l"(i) : "memory"); }
IW_DEVICE void body1(uint64_t i) { asm volatile("// @op.body1 %0;" ::"l"(i) : "memory"); }

// grid = (n / 4 + n % 4) / 128, rounded up: threads past the last whole group take the tail's elements.
IW_KERNEL(THREADS) map_vec(const __grid_constant__ Args args) {
    const uint64_t groups = args.n / 4;
    const uint64_t g = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (g < groups) body4(g * 4);
    else if (g < groups + args.n % 4) body1(groups * 3 + g);
}

// grid = n / 128, rounded up.
IW_KERNEL(THREADS) map_one(const __grid_constant__ Args args) {
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < args.n) body1(i);
}
