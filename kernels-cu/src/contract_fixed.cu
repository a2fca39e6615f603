// Fixed-point products of packed matrices: see contract_packed.cuh.
// @also compute_80
#include "contract_packed.cuh"

// Four levels of sums of 32 by 32 elements a warp; two blocks of a multiprocessor.
using Digits = packed::Shape<4, 2, 4, 2, 2, 4, 3>;

extern "C" __global__ void __launch_bounds__(Digits::THREADS, 2) contract_fixed(const __grid_constant__ Args args) { packed::product<Digits>(args); }
