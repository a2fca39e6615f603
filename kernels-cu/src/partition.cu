// Selections of two and three ways: what is not kept lies behind what is.
#include "select.cuh"

// Kernels that are not joint are served.
#define PARTITION_ALL(W)                                                      \
    SELECT(select_three_served, W, 2, false, true, false, false, true, false) \
    SELECT(select_two_joint, W, 1, false, false, false, true, false, true)    \
    SELECT(select_two_served, W, 1, false, false, false, true, true, false)   \
    SELECT(select_three_joint, W, 2, false, true, false, false, false, true)
PARTITION_ALL(1)
PARTITION_ALL(2)
PARTITION_ALL(4)
