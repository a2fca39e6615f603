// A look-back by groups of tiles: a tile waits for the fold before its group, which the last of the group before publishes, and for the totals of
// its own group. A part of look_back.wgsl.

// The totals of tiles begin..begin + count - 1, all of a line that starts with tile `first`, into the window.
fn gather(origin: u32, first: u32, begin: u32, count: u32, lane: u32{{ ", size: u32" if subgroups }}) {
    // Whoever read the window or reset `missing` has done so.
    workgroupBarrier();
    var known = lane >= count;
    for (var turn = 0u; ; turn ^= 1u) {
        for (var k = 0u; k <= args.patience && !known; k++) {
            let total = peek(begin + lane);
            if (total.ready) {
                window[lane] = total.value;
                known = true;
            }
        }
        if (!known) {
            atomicMin(&missing[turn], lane);
        }
        let at = workgroupUniformLoad(&missing[turn]);
        if (lane == 0u) {
            atomicStore(&missing[turn], NONE);
        }
        if (at == NONE) {
            break;
        }
        help(origin, first, begin + at, lane{{ ", size" if subgroups }});
    }
}

// Whether a slot's fold is there, which then is `tile_fold`; after so many questions.
fn fold_is_there(slot: u32, questions: u32, lane: u32) -> bool {
    if (lane == 0u) {
        var there = false;
        for (var k = 0u; k < questions && !there; k++) {
            let fold = peek(slot);
            there = fold.ready;
            tile_fold = fold.value;
        }
        is_there = there;
    }
    return workgroupUniformLoad(&is_there);
}

// Has lane 0 leave the fold of tiles first..tile-1, one at least, in `tile_fold`, and publish that up to this tile's end where a group ends.
fn look_back(origin: u32, first: u32, tile: u32, total: Acc, lane: u32{{ ", size: u32" if subgroups }}) {
    let group = (tile - first) / GROUP;
    // The slot of the fold before the line's first tile, which nobody needs.
    let folds = args.blocks + first;
    var questions = args.patience + 1u;
    for (var at = group; ; ) {
        let begin = first + at * GROUP;
        let count = min(tile - begin, GROUP);
        gather(origin, first, begin, count, lane{{ ", size" if subgroups }});
        if (at != 0u && !fold_is_there(folds + at * GROUP, questions, lane)) {
            // In vain: back to a fold that is there, or to the first tile, and forward again.
            at--;
            questions = 1u;
            continue;
        }
        if (lane == 0u) {
            let fold = fold_window(at == 0u, count);
            tile_fold = fold;
            if (at < group) {
                publish(folds + (at + 1u) * GROUP, fold);
            } else if (count == GROUP - 1u && tile - first + 1u < args.tiles) {
                publish(folds + tile - first + 1u, combine(fold, total));
            }
        }
        if (at == group) {
            break;
        }
        at++;
    }
    workgroupBarrier();
}
