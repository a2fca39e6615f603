// One launch, input read once. A tile publishes its total; having the totals since the nearest tile whose prefix is published, it folds them
// from left to right and publishes its own prefix: the same fold wherever the look-back stopped. WebGPU promises no progress between
// workgroups, so one that has waited in vain computes the missing total itself: it is the same, being of the same tree.
// Published words carry the launch's number (epoch) beside their value and are only ever raised, so they need no clearing in
// between, may be written twice, and arrive whole. Tickets hand out tiles in the order in which workgroups ask.
const TOTAL = 0u;
const PREFIX = 1u;
const NONE = 0xffffffffu;
const REACH = {{ reach }}u;           // tiles that a look-back sees at once
var<workgroup> window: array<Acc, REACH>;
// What the nearest tile that is not a mere total is, by turns: twice its place in the window, and one more where it is missing.
var<workgroup> nearest: array<atomic<u32>, 2>;
var<workgroup> ticket: u32;
var<workgroup> tile_fold: Acc;

struct Known {
    ready: bool,
    value: Acc,
}

fn publish(tile: u32, what: u32, v: Acc) {
    let w = words_of(v);
{% for k in range(words) %}
{% if wide_status %}
    atomicMax(&status[(tile * 2u + what) * {{ words }}u + {{ k }}u], (u64(args.epoch) << 32u) | u64(w[{{ k }}]));
{% else %}
    atomicMax(&status[((tile * 2u + what) * {{ words }}u + {{ k }}u) * 2u], (args.epoch << 16u) | (w[{{ k }}] & 0xffffu));
    atomicMax(&status[((tile * 2u + what) * {{ words }}u + {{ k }}u) * 2u + 1u], (args.epoch << 16u) | (w[{{ k }}] >> 16u));
{% endif %}
{% endfor %}
}

fn peek(tile: u32, what: u32) -> Known {
    var ready = true;
    var w: array<u32, {{ words }}>;
{% for k in range(words) %}
{% if wide_status %}
    let s{{ k }} = atomicLoad(&status[(tile * 2u + what) * {{ words }}u + {{ k }}u]);
    ready = ready && u32(s{{ k }} >> 32u) == args.epoch;
    w[{{ k }}] = u32(s{{ k }} & 0xfffffffflu);
{% else %}
    let low{{ k }} = atomicLoad(&status[((tile * 2u + what) * {{ words }}u + {{ k }}u) * 2u]);
    let high{{ k }} = atomicLoad(&status[((tile * 2u + what) * {{ words }}u + {{ k }}u) * 2u + 1u]);
    ready = ready && (low{{ k }} >> 16u) == args.epoch && (high{{ k }} >> 16u) == args.epoch;
    w[{{ k }}] = (low{{ k }} & 0xffffu) | (high{{ k }} << 16u);
{% endif %}
{% endfor %}
    return Known(ready, acc_of(w));
}

// Publishes the total of a tile that another workgroup owns. Another tile comes after it, so it is full.
fn help(origin: u32, first: u32, tile: u32, lane: u32{{ ", size: u32" if subgroups }}) {
    let i0 = (tile - first) * TILE;
{% if subgroups %}
    // Two vectors to a lane, so that there are no more nodes than invocations.
    for (var r = 0u; r < ROWS / 2u; r++) {
        let row = subgroup_of(lane, size) * (ROWS / 2u) + r;
        let i = i0 + (row * size + place_of(lane, size)) * 8u;
        let node = join(combine(node_of(load_whole(origin, i)), node_of(load_whole(origin, i + 4u))), 1u, size);
        if (place_of(lane, size) == 0u) {
            slots[row] = node;
        }
    }
    up_sweep(lane, size, subgroup_of(ROWS / 2u * THREADS, size));
{% else %}
    for (var r = 0u; r < ROWS; r++) {
        slots[gapped(r * THREADS + lane)] = node_of(load_whole(origin, i0 + (r * THREADS + lane) * 4u));
    }
    up_sweep(lane);
{% endif %}
    if (lane == 0u) {
        publish(tile, select(TOTAL, PREFIX, tile == first), slots[{{ "subgroup_of(ROWS / 2u * THREADS, size) - 1u" if subgroups else "gapped(QUADS - 1u)" }}]);
    }
}

// The fold of tiles first..tile-1, in lane 0. A lane asks for one tile; the fold starts at the nearest prefix.
fn look_back(origin: u32, first: u32, tile: u32, lane: u32{{ ", size: u32" if subgroups }}) -> Acc {
    var end = tile;
    var waited = 0u;
    var found = NONE;
    for (var turn = 0u; ; turn ^= 1u) {
        if (lane < min(REACH, end - first)) {
            let prefix = peek(end - 1u - lane, PREFIX);
            let total = peek(end - 1u - lane, TOTAL);
            if (prefix.ready) {
                window[lane] = prefix.value;
                atomicMin(&nearest[turn], lane * 2u);
            } else if (total.ready) {
                window[lane] = total.value;
            } else {
                atomicMin(&nearest[turn], lane * 2u + 1u);
            }
        }
        found = workgroupUniformLoad(&nearest[turn]);
        if (lane == 0u) {
            atomicStore(&nearest[turn], NONE);
        }
        if (found == NONE) {
            // Totals only, as far as the window reaches.
            end -= REACH;
            waited = 0u;
        } else if ((found & 1u) == 0u) {
            break;
        } else {
            waited++;
            if (waited > args.patience) {
                help(origin, first, end - 1u - found / 2u, lane{{ ", size" if subgroups }});
                waited = 0u;
            }
        }
    }
    var fold = window[found / 2u];
    var left = found / 2u;
    // The window with the prefix, then those that were passed over on the way back, all of one length.
    loop {
        if (lane == 0u) {
            fold = fold_window(fold, left);
        }
        if (end == tile) {
            break;
        }
        end += REACH;
        workgroupBarrier();
        if (lane < REACH) {
            window[lane] = peek(end - 1u - lane, TOTAL).value;
        }
        workgroupBarrier();
        left = REACH;
    }
    return fold;
}

// Goes on with a fold over the window's tiles, the first of which is at `count - 1`.
fn fold_window(so_far: Acc, count: u32) -> Acc {
    var fold = so_far;
    var k = count;
    // 8 values ahead, since only the chain should take time.
    for (; k >= 8u; k -= 8u) {
{% for e in range(1, 9) %}
        let v{{ e }} = window[k - {{ e }}u];
{% endfor %}
{% for e in range(1, 9) %}
        fold = combine(fold, v{{ e }});
{% endfor %}
    }
    for (; k > 0u; k--) {
        fold = combine(fold, window[k - 1u]);
    }
    return fold;
}
