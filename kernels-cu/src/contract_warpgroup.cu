// Products of packed operands by matrix instructions of warpgroups, which read both operands from shared memory. An operand lies in blocks of 64 rows of a chunk of
// 128 bytes each, in the order that the instructions want, so that one thread brings a block by one copy. See contract_packed.cuh.
// @from compute_90a
#include "contract_packed.cuh"

namespace {

// A tile, stages that are on their way, bytes of a block of an operand, and blocks of a stage.
struct Warpgroups {
    static constexpr int TM = 128, TN = 256;
};
constexpr int TM = Warpgroups::TM, TN = Warpgroups::TN, STAGES = 4, BLOCK = packed::SIDE * 128, LEFT = TM / 64, RIGHT = TN / 64, STAGE = (LEFT + RIGHT) * BLOCK;
constexpr int CONSUMERS = 256, ALL = CONSUMERS + WARP, SUMS = TN / 2, PITCH_C = TN + 8;

// The descriptor of an operand in shared memory: blocks of 8 rows of 128 bytes, swizzled.
IW_DEVICE uint64_t descriptor(uint32_t address) { return (uint64_t)(address >> 4 & 0x3fffu) | (uint64_t)1 << 16 | (uint64_t)64 << 32 | (uint64_t)1 << 62; }

IW_DEVICE void wait(uint32_t barrier, uint32_t parity) {
    asm volatile(
        "{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra AGAIN;\nDONE:\n}" ::"r"(barrier), "r"(parity)
        : "memory");
}
IW_DEVICE void arrive(uint32_t barrier) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory"); }
IW_DEVICE void copy_block(uint32_t to, const unsigned char* from, uint32_t barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(BLOCK), "r"(barrier) : "memory");
}
IW_DEVICE void meet_consumers() { asm volatile("bar.sync 1, %0;" ::"n"(CONSUMERS) : "memory"); }

#define FOUR(at) "+r"(sum[at]), "+r"(sum[at + 1]), "+r"(sum[at + 2]), "+r"(sum[at + 3])
#define SIXTEEN(at) FOUR(at), FOUR(at + 4), FOUR(at + 8), FOUR(at + 12)
// 64 rows by 256 columns, 32 bytes of k.
IW_DEVICE void multiply_lines(uint32_t (&sum)[SUMS], uint64_t a, uint64_t b) {
    asm volatile(
        "// @op.multiply_lines %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, "
        "%29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, "
        "%60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, "
        "%91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, "
        "%118, %119, %120, %121, %122, %123, %124, %125, %126, %127, %128, %129;"
        : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48), SIXTEEN(64), SIXTEEN(80), SIXTEEN(96), SIXTEEN(112)
        : "l"(a), "l"(b));
}

// One thread brings chunks, in the order that they are used in.
IW_DEVICE void bring(const Args& args, const packed::Target& target, uint32_t stages, uint32_t full, uint32_t chunks) {
    const unsigned char* const a = (const unsigned char*)args.scratch[0] + target.row_a / packed::SIDE * chunks * BLOCK;
    const unsigned char* const b = (const unsigned char*)args.scratch[1] + target.row_b / packed::SIDE * chunks * BLOCK;
#pragma unroll 1
    for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
        const uint32_t s = chunk % STAGES, to = stages + s * STAGE, barrier = full + 8 * s;
        wait(barrier + 8 * STAGES, (chunk / STAGES & 1) ^ 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(STAGE) : "memory");
#pragma unroll
        for (uint32_t block = 0; block < LEFT; ++block) copy_block(to + block * BLOCK, a + ((uint64_t)block * chunks + chunk) * BLOCK, barrier);
#pragma unroll
        for (uint32_t block = 0; block < RIGHT; ++block)
            copy_block(to + (LEFT + block) * BLOCK, b + ((uint64_t)block * chunks + chunk) * BLOCK, barrier);
    }
}

IW_DEVICE void product_of_blocks(const Args& args) {
    using namespace params::packed;
    extern __shared__ __align__(1024) unsigned char dynamic[];
    // Whether a stage is full, and whether it is empty.
    __shared__ __align__(8) uint64_t barriers[2 * STAGES];
    const uint32_t t = threadIdx.x, m = args.u[ROWS], n = args.u[COLUMNS], chunks = args.u[PITCH] / 32;
    const packed::Target target = packed::target_of<Warpgroups>(args);
    const uint32_t stages = packed::shared_address(dynamic), full = packed::shared_address(barriers), empty = full + 8 * STAGES;
    if (t == 0) {
#pragma unroll
        for (int s = 0; s < STAGES; ++s) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + 8 * s) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(empty + 8 * s) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (t >= CONSUMERS) {
        if (t == CONSUMERS) bring(args, target, stages, full, chunks);
        return;
    }

    uint32_t sum[SUMS];
#pragma unroll
    for (int e = 0; e < SUMS; ++e) sum[e] = 0;
    const uint32_t of_group = stages + t / 128 * BLOCK;
#pragma unroll 1
    for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
        const uint32_t s = chunk % STAGES;
        wait(full + 8 * s, chunk / STAGES & 1);
        const uint64_t a = descriptor(of_group + s * STAGE), b = descriptor(stages + s * STAGE + LEFT * BLOCK);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        // Written out: in a loop the assembler has each of them wait for the one before.
#pragma unroll
        for (int k = 0; k < 8; k += 2) multiply_lines(sum, a + k, b + k);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        // The stage of the chunk before is empty then.
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (chunk > 0 && t % 128 == 0) arrive(empty + 8 * ((chunk - 1) % STAGES));
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    meet_consumers();
    // Results go through shared memory, so that threads write whole sectors.
    uint32_t* const results = (uint32_t*)dynamic;
    const uint32_t row = warp_id() * 16 + lane_id() / 4, column = lane_id() % 4 * 2;
#pragma unroll
    for (int e = 0; e < SUMS; ++e) results[(row + e / 2 % 2 * 8) * PITCH_C + column + e / 4 * 8 + e % 2] = sum[e];
    meet_consumers();
    const uint64_t c_first = target.batch * wide(args.u + C_BATCH);
#pragma unroll 1
    for (uint32_t x = t; x < TM * TN / 4; x += CONSUMERS) {
        const uint32_t i = x / (TN / 4), j = x % (TN / 4) * 4;
        if (target.m0 + i >= m || target.n0 + j >= n) continue;
        const uint64_t at = c_first + (uint64_t)(target.m0 + i) * args.u[C_ROW] + target.n0 + j;
        const uint32_t* const v = results + i * PITCH_C + j;
        if (args.u[VECTOR] && target.n0 + j + 3 < n) {
            const Acc<1> four[4] = {{{v[0]}}, {{v[1]}}, {{v[2]}}, {{v[3]}}};
            epilogue4(at, four);
            continue;
        }
#pragma unroll 1
        for (uint32_t e = 0; e < 4 && target.n0 + j + e < n; ++e) epilogue(at + e, Acc<1>{{v[e]}});
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(ALL, 1) contract_warpgroup(const __grid_constant__ Args args) { product_of_blocks(args); }
