// Reductions of segments: what is common to those that offsets bound (segments.cu) and runs of equal keys (by_key.cu): sizes, quads of elements, and
// the list that long segments go to as tiles.
#pragma once
#include "iw.cuh"

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / WARP;
constexpr uint32_t SHORT = 1024;  // elements of a segment that is reduced together with others, at most
constexpr uint32_t TINY = 64;     // and of one that a thread reduces

template <int W>
constexpr int TILE_ROWS = W == 1 ? 8 : W == 2 ? 4 : 2;
template <int W>
constexpr uint32_t TILE = TILE_ROWS<W> * THREADS * 4;

// Words of `u`.
constexpr int ROOM = 2;   // tiles that the list holds
constexpr int JOINS = 3;  // long segments of several tiles that it holds

// A tile of a long segment; the highest bit of its length says that it is all of the segment.
struct Tile {
    uint64_t begin;
    uint32_t segment, length;
};
constexpr uint32_t ALONE = 1u << 31;

// A long segment of several tiles, which follow each other in the list.
struct Join {
    uint32_t segment, base, tiles, unused;
};

// scratch[0] holds the tiles, a node to each, and the joins; scratch[1] counts tiles, joins, and the blocks that are done (all zero between
// launches of two tasks).
template <int W>
struct List {
    Tile* tiles;
    uint32_t* nodes;
    Join* joins;
    uint32_t* counts;
    IW_DEVICE explicit List(const Args& args)
        : tiles((Tile*)args.scratch[0]),
          joins((Join*)(tiles + args.u[ROOM])),
          counts((uint32_t*)args.scratch[1]) {
        nodes = (uint32_t*)(joins + args.u[JOINS]);
    }
};

// Elements i..i+3, those of the first `left`; there is at least one. All four are read, the last one again where fewer are left, so that loads need
// not wait for conditions.
template <int W, class Load>
IW_DEVICE void load_quad(Acc<W> (&x)[4], const Load& load, uint64_t i, uint64_t left) {
    const uint32_t last = left < 4 ? (uint32_t)left - 1 : 3;
    load(x[0], i);
    load(x[1], i + (last < 1 ? last : 1));
    load(x[2], i + (last < 2 ? last : 2));
    load(x[3], i + last);
}

// The node over them.
template <int W, class N>
IW_DEVICE Acc<W> of_quad(Acc<W> (&x)[4], N left) {
    if (left > 1) x[0] = combine(x[0], x[1]);
    if (left > 3) x[2] = combine(x[2], x[3]);
    if (left > 2) x[0] = combine(x[0], x[2]);
    return x[0];
}

// Places of the list for a long segment's tiles. Offsets that are not sorted may ask for more than there are.
template <int W>
IW_DEVICE uint32_t take_places(const Args& args, const List<W>& list, uint32_t segment, uint64_t length) {
    const uint64_t tiles = (length - 1) / TILE<W> + 1, room = args.u[ROOM];
    const uint32_t base = atomicAdd(&list.counts[0], (uint32_t)tiles);
    if (tiles > 1 && base + tiles <= room) {
        const uint32_t join = atomicAdd(&list.counts[1], 1);
        if (join < args.u[JOINS]) list.joins[join] = {segment, base, (uint32_t)tiles, 0};
    }
    return base;
}

// Puts a long segment's tiles on the list: of `threads` threads this one.
template <int W>
IW_DEVICE void put_tiles(const Args& args, const List<W>& list, uint32_t base, uint32_t segment, uint64_t begin, uint64_t length,
                         int thread, int threads) {
    const uint64_t tiles = (length - 1) / TILE<W> + 1;
    for (uint64_t t = thread; t < tiles && base + t < args.u[ROOM]; t += threads) {
        const uint64_t left = length - t * TILE<W>;
        const uint32_t here = left < TILE<W> ? (uint32_t)left : TILE<W>;
        list.tiles[base + t] = {begin + t * TILE<W>, segment, here | (tiles == 1 ? ALONE : 0)};
    }
}
