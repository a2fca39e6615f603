// Products of matrices: see contract.cuh.
#include "contract.cuh"

IW_CONTRACT contract_f32(const __grid_constant__ Args args) { contract<float, Lanes<float>>(args); }
IW_CONTRACT contract_i32(const __grid_constant__ Args args) { contract<int, Lanes<int>>(args); }
IW_KERNEL(THREADS) contract_thin_f32(const __grid_constant__ Args args) { thin<float>(args); }
IW_KERNEL(THREADS) contract_thin_f64(const __grid_constant__ Args args) { thin<double>(args); }
IW_KERNEL(THREADS) contract_thin_i32(const __grid_constant__ Args args) { thin<int>(args); }
IW_KERNEL(THREADS) contract_fold_f32(const __grid_constant__ Args args) { fold_parts<float>(args); }
IW_KERNEL(THREADS) contract_fold_f64(const __grid_constant__ Args args) { fold_parts<double>(args); }
IW_KERNEL(THREADS) contract_fold_i32(const __grid_constant__ Args args) { fold_parts<int>(args); }
