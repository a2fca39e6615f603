// Products of small matrices, and of few tiles: see contract.cuh.
#include "contract.cuh"

#define IW_SMALL extern "C" __global__ void __launch_bounds__(SMALL_THREADS, 12)

IW_SMALL contract_small_f32(const __grid_constant__ Args args) { contract<float, FewLanes<float>>(args); }
IW_SMALL contract_small_f64(const __grid_constant__ Args args) { contract<double, FewLanes<double>>(args); }
IW_SMALL contract_small_i32(const __grid_constant__ Args args) { contract<int, FewLanes<int>>(args); }
