// A look-back that is served: the workgroup with the first ticket does nothing but fold totals as they come, and publishes what comes before each
// tile. So the fold stays with one workgroup, and a tile asks for one value. A part of look_back.wgsl.

// Whether a slot's value is there, or comes soon; lane 0 then has it in `tile_fold`.
fn ask(slot: u32, lane: u32) -> bool {
    if (lane == 0u) {
        var there = false;
        for (var k = 0u; k <= args.patience && !there; k++) {
            let answer = peek(slot);
            there = answer.ready;
            tile_fold = answer.value;
        }
        is_there = there;
    }
    return workgroupUniformLoad(&is_there);
}

// Has lane 0 leave the fold of tiles first..tile-1, one at least, in `tile_fold`.
fn look_back(origin: u32, first: u32, tile: u32, lane: u32{{ ", size: u32" if subgroups }}) {
    // Where the server's answer does not come: back to a fold that is there, or to the first tile, and forward again.
    var at = tile;
    while (at != first && !ask(args.blocks + at, lane)) {
        at--;
    }
    for (; at != tile; at++) {
        var fold: Acc;
        if (lane == 0u) {
            fold = tile_fold;
        }
        while (!ask(at, lane)) {
            help(origin, first, at, lane{{ ", size" if subgroups }});
        }
        if (lane == 0u) {
            if (at != first) {
                tile_fold = combine(fold, tile_fold);
            }
            publish(args.blocks + at + 1u, tile_fold);
        }
    }
    workgroupBarrier();
}

// Folds the totals of all tiles as they come and publishes what comes before each tile, but for the first ones of lines. Ends when all is done or
// nothing has come for too long.
fn serve(lane: u32) {
    // These invocations ask for the next totals while the first one folds those that have come.
    let asks = lane >= THREADS - GROUP;
    let place = lane - (THREADS - GROUP);
    var tile = 0u;     // first of those that have come
    var count = 0u;    // how many these are, of one line
    var in_line = 0u;  // tiles of the line before them
    var in_vain = 0u;
    var next = Known();
    for (var turn = 0u; in_vain <= args.patience; turn ^= 1u) {
        if (lane == 0u && count != 0u) {
            tile_fold = fold_window(in_line == 0u, count);
        }
        if (asks && !next.ready && tile + count + place < args.blocks) {
            next = peek(tile + count + place);
        }
        workgroupBarrier();
        if (lane < count && in_line + lane + 1u < args.tiles) {
            publish(args.blocks + tile + lane + 1u, window[lane]);
        }
        tile += count;
        in_line += count;
        in_line = select(in_line, 0u, in_line == args.tiles);
        if (tile == args.blocks) {
            break;
        }
        workgroupBarrier();
        if (next.ready) {
            window[place] = next.value;
        } else if (asks) {
            atomicMin(&missing[turn], place);
        }
        count = min(min(workgroupUniformLoad(&missing[turn]), GROUP), args.tiles - in_line);
        if (lane == 0u) {
            atomicStore(&missing[turn], NONE);
        }
        next.ready = next.ready && count == 0u;
        in_vain = select(0u, in_vain + 1u, count == 0u);
    }
}
