    // Where a block's tile lies, and its counters. A part of sort.wgsl.
{% if parts %}
    // A tile's first key, how many it has, the first tile of its part, and how many the part has.
    let begin = table[block];
    let keys_here = table[args.tiles + block];
    let first_tile = table[2u * args.tiles + block];
    let count = keys_here & ~STAYS;
    let counter = first_tile * RADIX + (block - first_tile);
    let counters_apart = table[3u * args.tiles + block];
    digit_mask = select(args.digit_mask, 0u, (keys_here & STAYS) != 0u);
    if (begin - args.in_first >= args.in_len) {
        return;
    }
{% else %}
    let row = block / args.tiles;
    let tile = block % args.tiles;
    let begin = row * args.n + tile * TILE;
    let count = min(TILE, args.n - tile * TILE);
    let counter = row * RADIX * args.tiles + tile;
    let counters_apart = args.tiles;
{% endif %}
