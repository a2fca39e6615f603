// Does racecheck follow a barrier that only some warps of a block pass? Warps 0..7 write totals[turn & 1], all meet at barrier 0, warp 8 reads them.
// A slot is written again two turns later, behind another barrier 0, so there is no race in any form. FORM 0: barrier 0 only. 1: and barrier 1
// among warps 0..7. 2: the same, and warp 8 arrives there. 3: warps 0..7 meet at an mbarrier instead. 4: as 1, and warp 8 reads atomically.
// 5: as 1, all accesses volatile. 6: as 1, and all meet at barrier 2 in the place of 0.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
template <int FORM>
__global__ void k(unsigned* out, int turns) {
    __shared__ unsigned totals[2][8];
    __shared__ alignas(8) uint64_t meeting;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(&meeting);
    if (FORM == 3) {
        if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 256;" ::"r"(at) : "memory");
        __syncthreads();
    }
    unsigned sum = 0;
    for (int t = 0; t < turns; ++t) {
        if (warp < 8 && lane == 31) {
            if (FORM == 5) *(volatile unsigned*)&totals[t & 1][warp] = t + warp;
            else totals[t & 1][warp] = t + warp;
        }
        if (FORM == 6) asm volatile("bar.sync 2, 288;" ::: "memory");
        else __syncthreads();
        if (warp == 8) {
            if (FORM == 2) asm volatile("bar.arrive 1, 288;" ::: "memory");
            if (lane < 8) {
                if (FORM == 4) sum += atomicOr(&totals[t & 1][lane], 0);
                else if (FORM == 5) sum += *(volatile unsigned*)&totals[t & 1][lane];
                else sum += totals[t & 1][lane];
            }
            __syncwarp();
            continue;
        }
        if (FORM == 1 || FORM >= 4) asm volatile("bar.sync 1, 256;" ::: "memory");
        if (FORM == 2) asm volatile("bar.sync 1, 288;" ::: "memory");
        if (FORM == 3) {
            asm volatile("{.reg .b64 s; mbarrier.arrive.shared.b64 s, [%0];}" ::"r"(at) : "memory");
            asm volatile("{.reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra W;}" ::"r"(at), "r"(t & 1) : "memory");
        }
    }
    if (warp == 8) out[blockIdx.x * 32 + lane] = sum;
}
int main(int argc, char** argv) {
    unsigned* out;
    cudaMalloc(&out, 1 << 20);
    switch (argc > 1 ? atoi(argv[1]) : 0) {
        case 0: k<0><<<16, 288>>>(out, 50); break;
        case 1: k<1><<<16, 288>>>(out, 50); break;
        case 2: k<2><<<16, 288>>>(out, 50); break;
        case 3: k<3><<<16, 288>>>(out, 50); break;
        case 4: k<4><<<16, 288>>>(out, 50); break;
        case 5: k<5><<<16, 288>>>(out, 50); break;
        default: k<6><<<16, 288>>>(out, 50);
    }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
