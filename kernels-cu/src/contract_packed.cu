// Products of packed matrices by matrix instructions: see contract_packed.cuh.
// @from compute_80
#include "contract_packed.cuh"

// Sums of 64 by 64 elements a warp; two blocks of a multiprocessor.
using One = packed::Shape<1, 4, 8, 2, 2, 4, 4>;

extern "C" __global__ void __launch_bounds__(One::THREADS, 2) contract_packed(const __grid_constant__ Args args) { packed::product<One>(args); }
