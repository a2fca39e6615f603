// Groups of neighbouring elements.
// Ballot: bit i % 32 of out[i / 32] is whether the condition holds for element i; bits behind the end are 0. Groups of other widths read these words.
// Peers: the groups are of `width` elements, up to 32, the last one may be shorter. For each element, bit k of a mask says whether element k of
// its group has the same key. Written are the masks; or the lowest peer's place in the group, or how many peers come before, and how many there are.
#include "iw.cuh"
#include "params.cuh"

using namespace params::peers;

constexpr int THREADS = kernels::Peers::THREADS;
constexpr int ROWS = 8;                      // of 4 elements to a lane
constexpr int ROW = 4 * WARP;
constexpr int WARP_ELEMENTS = ROWS * ROW;    // as many words as a warp has lanes
constexpr int EACH = kernels::Peers::ITEMS;  // keys of a lane that are loaded together
static_assert(WARP_ELEMENTS == 32 * WARP, "a word of bits to a lane");

enum Kind { MASK, FIRST, RANK };

// Row r has its bits in eight lanes to a word. Lanes `step` apart exchange halves of their rows, so that in the end each lane has the whole word
// of row lane % 8, of the four that the row has the (lane / 8)-th.
IW_DEVICE uint32_t word_of_rows(uint32_t (&v)[ROWS], int lane) {
#pragma unroll
    for (int step = 1; step < ROWS; step *= 2) {
        const bool upper = lane & step;
#pragma unroll
        for (int k = 0; k < ROWS / (2 * step); ++k) {
            const uint32_t a = v[2 * k], b = v[2 * k + 1];
            v[k] = (upper ? b : a) | __shfl_xor_sync(ALL_LANES, upper ? a : b, step);
        }
    }
    return v[0];
}

// Grid: 1024 elements to a warp.
IW_KERNEL(THREADS) groups_ballot(const __grid_constant__ Args args) {
    const int lane = lane_id();
    const uint64_t first = ((uint64_t)blockIdx.x * (THREADS / WARP) + warp_id()) * WARP_ELEMENTS;
    if (first >= args.n) return;
    uint32_t word = 0, place = lane;
    if (first + WARP_ELEMENTS <= args.n) {
        Acc<1> x[ROWS][4];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) load4(x[r], first + r * ROW + 4 * lane);
        uint32_t v[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            v[r] = 0;
#pragma unroll
            for (int e = 0; e < 4; ++e) v[r] |= (x[r][e].w[0] != 0 ? 1u : 0u) << e;
            v[r] <<= 4 * (lane % 8);
        }
        word = word_of_rows(v, lane);
        place = lane % 8 * (ROW / 32) + lane / 8;
    } else {
#pragma unroll 1
        for (int w = 0; w < WARP; ++w) {
            const uint64_t i = first + w * WARP + lane;
            bool yes = false;
            if (i < args.n) {
                Acc<1> x;
                load1(x, i);
                yes = x.w[0] != 0;
            }
            const uint32_t bits = __ballot_sync(ALL_LANES, yes);
            if (lane == w) word = bits;
        }
    }
    const uint64_t at = first / 32 + place;
    if (at < (args.n + 31) / 32) ((uint32_t*)args.out[0])[at] = word;
}

IW_DEVICE uint32_t equal_lanes(const Acc<1>& key) { return __match_any_sync(ALL_LANES, key.w[0]); }
IW_DEVICE uint32_t equal_lanes(const Acc<2>& key) {
    return __match_any_sync(ALL_LANES, (unsigned long long)key.w[0] | (unsigned long long)key.w[1] << 32);
}

// A warp has as many whole groups as fit into its lanes, EACH times.
template <int W>
IW_DEVICE void peers(const Args& args) {
    const uint32_t width = args.u[WIDTH], kind = args.u[KIND], lane = lane_id();
    const uint32_t active = WARP / width * width, start = lane / width * width, place = lane - start;
    const uint32_t members = lane < active ? (ALL_LANES >> (WARP - width)) << start : 0;
    const uint64_t first = ((uint64_t)blockIdx.x * (THREADS / WARP) + warp_id()) * (EACH * active);
    if (first >= args.n) return;
    Acc<W> key[EACH] = {};
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
        const uint64_t i = first + e * active + lane;
        if (lane < active && i < args.n) load1(key[e], i);
    }
    uint32_t* const out0 = (uint32_t*)args.out[0];
    uint32_t* const out1 = (uint32_t*)args.out[1];
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
        const uint64_t i = first + e * active + lane;
        const bool there = lane < active && i < args.n;
        const uint32_t mask = (equal_lanes(key[e]) & __ballot_sync(ALL_LANES, there) & members) >> (start % WARP);
        if (!there) continue;
        if (kind == MASK) {
            out0[i] = mask;
            continue;
        }
        out0[i] = kind == FIRST ? __ffs(mask) - 1 : __popc(mask & ((1u << place) - 1));
        out1[i] = __popc(mask);
    }
}

IW_KERNEL(THREADS) groups_peers_w1(const __grid_constant__ Args args) { peers<1>(args); }
IW_KERNEL(THREADS) groups_peers_w2(const __grid_constant__ Args args) { peers<2>(args); }
