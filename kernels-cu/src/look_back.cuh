// Look-back, for kernels that read their input in one launch: a tile publishes its aggregate, puts the fold of all tiles before it together
// from what the nearest have published, from left to right, and publishes its own prefix.
#pragma once
#include "iw.cuh"

constexpr int REACH = 64;             // tiles that a look-back asks for
constexpr uint32_t PATIENCE = 1200;   // ns before it asks first, once all blocks are at work
constexpr uint32_t AGAIN = 200;       // ns before it asks again
constexpr int HEADER_WORDS = 16;      // of 64 bits, before the tiles' status words

// Status of a tile: one 64-bit word to each accumulator word, value low, state high, so that a value and its state
// arrive together without a fence. A state names the launch (epoch), so that words need no clearing between launches.
constexpr uint32_t AGGREGATE = 1, PREFIX = 2, EPOCHS = 1u << 30;

IW_DEVICE uint64_t peek(const uint64_t* p) {
    uint64_t v;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}
IW_DEVICE void post(uint64_t* p, uint64_t v) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
template <int W>
IW_DEVICE void publish(uint64_t* status, uint32_t tile, uint32_t state, const Acc<W>& v) {
#pragma unroll
    for (int k = 0; k < W; ++k) post(status + (uint64_t)tile * W + k, v.w[k] | (uint64_t)state << 32);
}

template <int W, int G>
IW_DEVICE void read_group(const Acc<W>* group, Acc<W> (&v)[G]) {
#pragma unroll
    for (int k = 0; k < G; ++k) v[k] = group[k];
}

// The left fold window[nearest], .., window[0], by every lane alike. Values are read a group ahead: all tiles wait for this.
template <int W>
IW_DEVICE Acc<W> fold_window(const Acc<W>* window, int nearest) {
    constexpr int G = W == 1 ? 8 : W == 2 ? 4 : 2;
    Acc<W> fold = window[nearest], v[G];
    int at = nearest & ~(G - 1);
    read_group(window + at, v);
#pragma unroll
    for (int k = G - 1; k >= 0; --k)
        if (k < (nearest & (G - 1))) fold = combine(fold, v[k]);
    if (at == 0) return fold;
    read_group(window + at - G, v);
#pragma unroll 1
    for (at -= G; at > 0; at -= G) {
        Acc<W> ahead[G];
        read_group(window + at - G, ahead);
#pragma unroll
        for (int k = G - 1; k >= 0; --k) fold = combine(fold, v[k]);
#pragma unroll
        for (int k = 0; k < G; ++k) v[k] = ahead[k];
    }
#pragma unroll
    for (int k = G - 1; k >= 0; --k) fold = combine(fold, v[k]);
    return fold;
}

// By one warp: the fold of tiles first..tile-1, all lanes get it. Asks for the nearest REACH tiles until one has its prefix
// and all nearer ones their aggregates. The wait ends, since the first tile without a prefix has a prefix before it.
// Every tile waits for this, so it is kept short: few instructions between hearing and publishing.
template <int W>
IW_DEVICE Acc<W> look_back(const uint64_t* status, uint32_t tile, uint32_t first, uint32_t epoch, Acc<W>* window) {
    constexpr int LOOK = REACH / WARP;
    const int lane = lane_id();
    uint64_t words[LOOK][W];
    int nearest = -1;
    // Asking in vain costs those who have the answers: in the steady state it takes about this long to come.
    if (tile - first >= gridDim.x) __nanosleep(PATIENCE);
    for (;;) {
#pragma unroll
        for (int j = 0; j < LOOK; ++j) {
            // Lanes past the first tile read it again: it is the nearer that counts.
            const int back = (int)(tile - first) - 1 - (j * WARP + lane);
            const uint64_t* at = status + (uint64_t)(first + (back > 0 ? back : 0)) * W;
#pragma unroll
            for (int k = 0; k < W; ++k) words[j][k] = peek(at + k);
        }
#pragma unroll
        for (int j = 0; j < LOOK; ++j) {
            bool prefix = true, aggregate = true;
#pragma unroll
            for (int k = 0; k < W; ++k) {
                const uint32_t state = (uint32_t)(words[j][k] >> 32) - (epoch << 2);
                prefix &= state == PREFIX;
                aggregate &= state == AGGREGATE;
            }
            const uint32_t prefixes = __ballot_sync(ALL_LANES, prefix);
            const uint32_t nearer = (prefixes - 1) & ~prefixes;  // all lanes where there is none
            if (nearer & ~__ballot_sync(ALL_LANES, aggregate)) break;
            if (prefixes) {
                nearest = j * WARP + __popc(nearer);
                break;
            }
        }
        if (nearest >= 0) break;
        __nanosleep(AGAIN);
    }
#pragma unroll
    for (int j = 0; j < LOOK; ++j)
#pragma unroll
        for (int k = 0; k < W; ++k) window[j * WARP + lane].w[k] = (uint32_t)words[j][k];
    __syncwarp();
    return fold_window(window, nearest);
}

// Tickets hand out tiles in the order in which blocks ask, so a tile only ever waits for tiles that are being worked on.
// A block asks again when its look-back has ended, not before: look-backs end in the order of tiles, and so the next tiles
// start in that order too. The ticket counter's upper half is the epoch: one atomic gives both.
IW_DEVICE uint64_t draw(uint64_t* header) { return atomicAdd(header, 1ull); }

// By the block that drew the last ticket of all. When epochs start over, words of 2^30 launches ago must not be taken
// for new ones: wait until every tile has its prefix, hence nobody reads any more, and clear.
template <int W>
IW_DEVICE void next_epoch(uint64_t* header, uint64_t* status, uint32_t tiles, uint32_t epoch) {
    if (epoch + 1 < EPOCHS) {
        if (threadIdx.x == 0) post(header, (uint64_t)(epoch + 1) << 32);
        return;
    }
    for (uint64_t i = threadIdx.x; i < (uint64_t)tiles * W; i += blockDim.x) {
        while ((uint32_t)(peek(status + i) >> 32) != (epoch << 2 | PREFIX)) {
        }
    }
    __syncthreads();
    // Scratch may have served longer scans before: u64 words to clear are counted in header[1].
    for (uint64_t i = threadIdx.x; i < header[1]; i += blockDim.x) post(status + i, 0);
    if (threadIdx.x == 0) post(header, 0);
}
