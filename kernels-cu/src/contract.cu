// Products of matrices: see contract.cuh.
#include "contract.cuh"

IW_CONTRACT contract_f32(const __grid_constant__ Args args) { contract<float>(args); }
IW_CONTRACT contract_i32(const __grid_constant__ Args args) { contract<int>(args); }
IW_KERNEL(THREADS) contract_thin_a_f32(const __grid_constant__ Args args) { thin<float, false>(args); }
IW_KERNEL(THREADS) contract_thin_b_f32(const __grid_constant__ Args args) { thin<float, true>(args); }
IW_KERNEL(THREADS) contract_thin_a_f64(const __grid_constant__ Args args) { thin<double, false>(args); }
IW_KERNEL(THREADS) contract_thin_b_f64(const __grid_constant__ Args args) { thin<double, true>(args); }
IW_KERNEL(THREADS) contract_thin_a_i32(const __grid_constant__ Args args) { thin<int, false>(args); }
IW_KERNEL(THREADS) contract_thin_b_i32(const __grid_constant__ Args args) { thin<int, true>(args); }
IW_KERNEL(THREADS) contract_fold_f32(const __grid_constant__ Args args) { fold_parts<float>(args); }
IW_KERNEL(THREADS) contract_fold_f64(const __grid_constant__ Args args) { fold_parts<double>(args); }
IW_KERNEL(THREADS) contract_fold_i32(const __grid_constant__ Args args) { fold_parts<int>(args); }
