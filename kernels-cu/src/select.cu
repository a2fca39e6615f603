// Selections that keep elements, and runs. Those that also have what is not kept are partitions (partition.cu), or, where an array has 2^32 elements, the
// wide ones here, whose kind says it.
#include "select.cuh"

// Arrays of 2^32 elements have many tiles, so they are served.
#define SELECT_ALL(W)                                                        \
    SELECT(select, W, 1, false, false, false, false, false, false)           \
    SELECT(select_served, W, 1, false, false, false, false, true, false)     \
    SELECT(select_wide_served, W, 2, true, false, false, false, true, false) \
    SELECT(select_runs, W, 2, false, false, true, false, false, false)       \
    SELECT(select_runs_served, W, 2, false, false, true, false, true, false)
SELECT_ALL(1)
SELECT_ALL(2)
SELECT_ALL(4)
