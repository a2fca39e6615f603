// Operands of products that are packed: see contract_pack.cuh.
#include "contract_pack.cuh"

IW_KERNEL(THREADS) contract_greatest(const __grid_constant__ Args args) { packed::greatest(args); }
IW_KERNEL(THREADS) contract_pack_words(const __grid_constant__ Args args) { packed::pack(args); }
IW_KERNEL(THREADS) contract_pack_digits(const __grid_constant__ Args args) { packed::pack_digits(args); }
IW_KERNEL(THREADS) contract_pack_wide(const __grid_constant__ Args args) { packed::pack_wide(args); }
