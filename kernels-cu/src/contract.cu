// Products of matrices: see contract.cuh.
#include "contract.cuh"

IW_CONTRACT contract_f32(const __grid_constant__ Args args) { contract<float, Lanes<float>>(args); }
IW_CONTRACT contract_i32(const __grid_constant__ Args args) { contract<int, Lanes<int>>(args); }
IW_KERNEL(THREADS) contract_thin_apart_f32(const __grid_constant__ Args args) { thin<float, false>(args); }
IW_KERNEL(THREADS) contract_thin_along_f32(const __grid_constant__ Args args) { thin<float, true>(args); }
IW_KERNEL(THREADS) contract_thin_computed_f32(const __grid_constant__ Args args) { thin<float, false, true>(args); }
IW_KERNEL(THREADS) contract_thin_apart_f64(const __grid_constant__ Args args) { thin<double, false>(args); }
IW_KERNEL(THREADS) contract_thin_along_f64(const __grid_constant__ Args args) { thin<double, true>(args); }
IW_KERNEL(THREADS) contract_thin_computed_f64(const __grid_constant__ Args args) { thin<double, false, true>(args); }
IW_KERNEL(THREADS) contract_thin_apart_i32(const __grid_constant__ Args args) { thin<int, false>(args); }
IW_KERNEL(THREADS) contract_thin_along_i32(const __grid_constant__ Args args) { thin<int, true>(args); }
IW_KERNEL(THREADS) contract_thin_computed_i32(const __grid_constant__ Args args) { thin<int, false, true>(args); }
IW_KERNEL(THREADS) contract_fold_f32(const __grid_constant__ Args args) { fold_parts<float>(args); }
IW_KERNEL(THREADS) contract_fold_f64(const __grid_constant__ Args args) { fold_parts<double>(args); }
IW_KERNEL(THREADS) contract_fold_i32(const __grid_constant__ Args args) { fold_parts<int>(args); }
