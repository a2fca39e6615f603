// Products of matrices of f64, by matrix instructions where there are: see contract.cuh.
// @also compute_80
#include "contract.cuh"

IW_CONTRACT contract_f64(const __grid_constant__ Args args) { contract<double, Lanes<double>>(args); }
