// One launch, input read once. A tile publishes its total and learns the fold of all tiles before it, which goes from left to right, in one of two ways.
// Long lines are served: the workgroup with the first ticket does nothing but fold totals as they come, and publishes what comes before each tile.
// Elsewhere, or in vain, a tile puts its fold together itself. Tiles come in groups: it waits for the fold before its group, which the last of the
// group before publishes, and for the totals of its own group.
// WebGPU promises no progress between workgroups, so one that has waited in vain computes what is missing itself: a total is the same, being of
// the same tree, and so is a fold of the same totals.
// Published words carry the launch's number (epoch) beside their value and are only ever raised, so they need no clearing in
// between, may be written twice, and arrive whole. Tickets hand out tiles in the order in which workgroups ask.
// The pattern brings `help`, which publishes the total of a tile that another workgroup owns.
const NONE = 0xffffffffu;
const GROUP = {{ group }}u;           // tiles
// The totals of a group's tiles.
var<workgroup> window: array<Acc, GROUP>;
// By turns: the first tile of the window whose total is not there.
var<workgroup> missing: array<atomic<u32>, 2>;
var<workgroup> has_fold: bool;
var<workgroup> ticket: u32;
var<workgroup> tile_fold: Acc;

struct Known {
    ready: bool,
    value: Acc,
}

// A slot: a tile's total or, behind those of all tiles, the fold before it.
fn publish(slot: u32, v: Acc) {
    let w = words_of(v);
{% for k in range(words) %}
{% if wide_status %}
    atomicMax(&status[slot * {{ words }}u + {{ k }}u], (u64(args.epoch) << 32u) | u64(w[{{ k }}]));
{% else %}
    atomicMax(&status[(slot * {{ words }}u + {{ k }}u) * 2u], (args.epoch << 16u) | (w[{{ k }}] & 0xffffu));
    atomicMax(&status[(slot * {{ words }}u + {{ k }}u) * 2u + 1u], (args.epoch << 16u) | (w[{{ k }}] >> 16u));
{% endif %}
{% endfor %}
}

fn peek(slot: u32) -> Known {
    var ready = true;
    var w: array<u32, {{ words }}>;
{% for k in range(words) %}
{% if wide_status %}
    let s{{ k }} = atomicLoad(&status[slot * {{ words }}u + {{ k }}u]);
    ready = ready && u32(s{{ k }} >> 32u) == args.epoch;
    w[{{ k }}] = u32(s{{ k }} & 0xfffffffflu);
{% else %}
    let low{{ k }} = atomicLoad(&status[(slot * {{ words }}u + {{ k }}u) * 2u]);
    let high{{ k }} = atomicLoad(&status[(slot * {{ words }}u + {{ k }}u) * 2u + 1u]);
    ready = ready && (low{{ k }} >> 16u) == args.epoch && (high{{ k }} >> 16u) == args.epoch;
    w[{{ k }}] = (low{{ k }} & 0xffffu) | (high{{ k }} << 16u);
{% endif %}
{% endfor %}
    return Known(ready, acc_of(w));
}

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
        has_fold = there;
    }
    return workgroupUniformLoad(&has_fold);
}

// Has lane 0 leave the fold of tiles first..tile-1, one at least, in `tile_fold`, and publish that up to this tile's end where a group ends.
fn look_back(origin: u32, first: u32, tile: u32, total: Acc, lane: u32{{ ", size: u32" if subgroups }}) {
    let group = (tile - first) / GROUP;
    if (args.servers != 0u && fold_is_there(args.blocks + tile, args.patience + 1u, lane)) {
        return;
    }
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
            } else if (count == GROUP - 1u) {
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

// Goes on with `tile_fold` over the window's first tiles, of which each becomes the fold up to its end; `starts`: from the first of them.
fn fold_window(starts: bool, count: u32) -> Acc {
    var fold = tile_fold;
    var k = 0u;
    if (starts) {
        fold = window[0];
        k = 1u;
    }
    // 8 values ahead, since only the chain should take time.
    for (; k + 8u <= count; k += 8u) {
{% for e in range(8) %}
        let v{{ e }} = window[k + {{ e }}u];
{% endfor %}
{% for e in range(8) %}
        fold = combine(fold, v{{ e }});
        window[k + {{ e }}u] = fold;
{% endfor %}
    }
    for (; k < count; k++) {
        fold = combine(fold, window[k]);
        window[k] = fold;
    }
    return fold;
}

// Folds the totals of all tiles as they come and publishes what comes before each tile, but for the first ones of lines. Ends when all is done or
// nothing has come for too long.
fn serve(lane: u32) {
    // These invocations ask for the next totals while the first one folds those that have come.
    let asks = lane >= THREADS - GROUP;
    let place = lane - (THREADS - GROUP);
    var tile = 0u;
    var in_line = 0u;
    var in_vain = 0u;
    var next = Known();
    for (var turn = 0u; tile < args.blocks && in_vain <= args.patience; turn ^= 1u) {
        if (asks) {
            if (tile + place < args.blocks && !next.ready) {
                next = peek(tile + place);
            }
            if (next.ready) {
                window[place] = next.value;
            } else {
                atomicMin(&missing[turn], place);
            }
        }
        let count = min(min(workgroupUniformLoad(&missing[turn]), GROUP), args.tiles - in_line);
        if (lane == 0u) {
            atomicStore(&missing[turn], NONE);
        }
        in_vain = select(0u, in_vain + 1u, count == 0u);
        if (count != 0u) {
            next = Known();
            if (lane == 0u) {
                tile_fold = fold_window(in_line == 0u, count);
            } else if (asks && tile + count + place < args.blocks) {
                next = peek(tile + count + place);
            }
            workgroupBarrier();
            if (lane < count && in_line + lane + 1u < args.tiles) {
                publish(args.blocks + tile + lane + 1u, window[lane]);
            }
            workgroupBarrier();
            tile += count;
            in_line += count;
            in_line = select(in_line, 0u, in_line == args.tiles);
        }
    }
}
