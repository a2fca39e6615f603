// A segment to a warp or to a block, and the tiles of those on the list.
#include "segment_ways.cuh"

#define SEGMENTS_EACH_ENTRIES(W)                                                                                   \
    IW_KERNEL(THREADS) segments_each_w##W(const __grid_constant__ Args args) { segments_alone<W, THREADS>(args); } \
    IW_KERNEL(MANY) segments_alone_w##W(const __grid_constant__ Args args) { segments_alone<W, MANY>(args); }      \
    IW_KERNEL(THREADS) segments_listed_w##W(const __grid_constant__ Args args) { segments_listed<W>(args); }       \
    IW_KERNEL(THREADS) segments_warps_w##W(const __grid_constant__ Args args) { segments_warps<W>(args); }

SEGMENTS_EACH_ENTRIES(1)
SEGMENTS_EACH_ENTRIES(2)
SEGMENTS_EACH_ENTRIES(4)
