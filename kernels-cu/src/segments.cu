// Neighbouring segments to a block, and all ways in one launch.
#include "segment_ways.cuh"

#define SEGMENTS_ENTRIES(W)                                                                                \
    IW_KERNEL(THREADS) segments_short_w##W(const __grid_constant__ Args args) {                            \
        __shared__ Acc<W> slots[SLOTS<W>];                                                                 \
        segments_short<W>(args, slots);                                                                    \
    }                                                                                                      \
    IW_KERNEL(THREADS) segments_blocks_w##W(const __grid_constant__ Args args) {                           \
        __shared__ Acc<W> slots[PARTS<W>];                                                                 \
        segments_blocks<W>(args, slots);                                                                   \
    }                                                                                                      \
    IW_KERNEL(THREADS) segments_joint_w##W(const __grid_constant__ Args args) { segments_joint<W>(args); } \
    IW_KERNEL(THREADS) segments_few_w##W(const __grid_constant__ Args args) {                              \
        __shared__ Acc<W> slots[SLOTS<W>];                                                                 \
        segments_short<W, false>(args, slots);                                                             \
    }

SEGMENTS_ENTRIES(1)
SEGMENTS_ENTRIES(2)
SEGMENTS_ENTRIES(4)
