// Does racecheck follow a barrier that only some warps of a block pass? Warps 0..7 write totals[turn & 1], all meet at barrier 0, warp 8 reads them.
// A slot is written again two turns later, behind another barrier 0, so there is no race in any form. FORM 0: barrier 0 only. 1: and barrier 1
// among warps 0..7. 2: the same, and warp 8 arrives there.
#include <cstdio>
#include <cstdlib>
template <int FORM>
__global__ void k(unsigned* out, int turns) {
    __shared__ unsigned totals[2][8];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned sum = 0;
    for (int t = 0; t < turns; ++t) {
        if (warp < 8 && lane == 31) totals[t & 1][warp] = t + warp;
        __syncthreads();
        if (warp == 8) {
            if (FORM == 2) asm volatile("bar.arrive 1, 288;" ::: "memory");
            sum += lane < 8 ? totals[t & 1][lane] : 0;
            __syncwarp();
            continue;
        }
        if (FORM == 1) asm volatile("bar.sync 1, 256;" ::: "memory");
        if (FORM == 2) asm volatile("bar.sync 1, 288;" ::: "memory");
    }
    if (warp == 8) out[blockIdx.x * 32 + lane] = sum;
}
int main(int argc, char** argv) {
    unsigned* out;
    cudaMalloc(&out, 1 << 20);
    switch (atoi(argv[1])) {
        case 0: k<0><<<16, 288>>>(out, 50); break;
        case 1: k<1><<<16, 288>>>(out, 50); break;
        default: k<2><<<16, 288>>>(out, 50);
    }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
