// Short parts of stable sorts of parts of an array (segmented_sort.cu). segmented_windows: lists the windows of the array that parts begin in.
// segmented_short_*: a block takes such parts, a window after the other. Those of few keys are sorted there, by networks and merges (runs.cuh), a longer one
// is put on a list (short_parts.cuh).
#include "short_parts.cuh"

// A thread to each window.
IW_KERNEL(256) segmented_windows(const __grid_constant__ Args args) {
    const uint32_t n = args.u[N], w = blockIdx.x * 256 + threadIdx.x, count = n / SPAN + (n % SPAN != 0);
    const uint32_t begin = min(w, count - 1) * SPAN, end = begin + min(SPAN, n - begin);
    const int lane = lane_id();
    const uint32_t first = parts_before(args, begin);
    uint32_t last = __shfl_down_sync(ALL_LANES, first, 1);
    if (lane == WARP - 1 || w + 1 >= count) last = parts_before(args, end);
    const uint32_t lanes = __ballot_sync(ALL_LANES, w < count && first != last);
    uint32_t place = 0;
    if (lane == 0) place = atomicAdd(listed(args) + WINDOWS, __popc(lanes));
    place = __shfl_sync(ALL_LANES, place, 0) + __popc(lanes & ((1u << lane) - 1));
    if (lanes >> lane & 1) windows(args)[place] = {begin, first, last, 0};
}

#define SEGMENTED_SHORT(NAME, K, PLACED)                                                                                       \
    extern "C" __global__ void __launch_bounds__(SHORT_THREADS, sizeof(K) == 8 ? 2 : 3) NAME(const __grid_constant__ Args args) { \
        segmented_short<K, PLACED>(args);                                                                                      \
    }
// Keys of up to 2 bytes, of up to 4, and of 8, with a payload or without; and keys alone by all bits.
SEGMENTED_SHORT(segmented_short_k2, Narrow, true)
SEGMENTED_SHORT(segmented_short_k4, uint32_t, true)
SEGMENTED_SHORT(segmented_short_all_bits_k4, uint32_t, false)
SEGMENTED_SHORT(segmented_short_k8, uint64_t, true)
SEGMENTED_SHORT(segmented_short_all_bits_k8, uint64_t, false)
