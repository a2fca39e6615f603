// A meeting of all blocks of a launch. They wait for each other, so the launch has to be a cooperative one (`Cuda::launch_together`).
#pragma once
#include "iw.cuh"

// `word`'s highest bit turns over when all have arrived: each block adds one, and the first block what makes that a carry. The bits below are zero between
// meetings, so that they follow each other, within a launch and from launch to launch, without anything being cleared.
struct Meeting {
    static constexpr uint32_t TURN = 1u << 31;
    uint32_t* word;
    uint32_t before;  // thread 0's
    // By all threads: what they wrote is seen by all blocks after the meeting. Threads of the block meet here, too.
    IW_DEVICE void arrive() {
        __syncthreads();
        if (threadIdx.x != 0) return;
        before = arrive_add(word, blockIdx.x == 0 ? TURN - (gridDim.x - 1) : 1);
    }
    // By all threads, any time later.
    IW_DEVICE void wait() const {
        if (threadIdx.x == 0) {
            uint32_t now;
            do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(word) : "memory");
            while (((now ^ before) & TURN) == 0);
        }
        __syncthreads();
    }
};
