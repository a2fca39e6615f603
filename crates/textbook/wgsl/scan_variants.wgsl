// Scan, the textbooks' algorithms: y[i] combines x[0] .. x[i] (inclusive) or x[0] .. x[i-1] (exclusive), along one line.
// Order: tiles of {{ tile }} elements; inside a tile the algorithm's own; the tiles' totals are scanned in the same way in further launches, and
// y = combine(scanned total of the tile before, own). Elements right of the end are something: they are right of all that is stored.

const THREADS = 256u;
const TILE = {{ tile }}u;
{% set kogge_stone = rung == 0 %}
{% set brent_kung = rung == 1 %}
var<workgroup> slots: array<Acc, 512>;

{% if not brent_kung %}
// Kogge-Stone, a value to a lane. The halves of the slots take turns, so that nobody reads what is being written: a barrier to a step.
fn kogge_stone(lane: u32, value: Acc) -> Acc {
    var v = value;
{% for s in [1, 2, 4, 8, 16, 32, 64, 128] %}
    slots[{{ loop.index0 % 2 * 256 }}u + lane] = v;
    workgroupBarrier();
    if (lane >= {{ s }}u) {
        v = combine(slots[{{ loop.index0 % 2 * 256 }}u + lane - {{ s }}u], v);
    }
{% endfor %}
    return v;
}
{% else %}
// Brent-Kung over the slots: a tree up, a tree down.
fn brent_kung(lane: u32) {
    for (var s = 1u; s < TILE; s *= 2u) {
        workgroupBarrier();
        let i = (lane + 1u) * 2u * s - 1u;
        if (i < TILE) {
            slots[i] = combine(slots[i - s], slots[i]);
        }
    }
    for (var s = TILE / 4u; s > 0u; s /= 2u) {
        workgroupBarrier();
        let i = (lane + 1u) * 2u * s - 1u;
        if (i + s < TILE) {
            slots[i + s] = combine(slots[i], slots[i + s]);
        }
    }
    workgroupBarrier();
}
{% endif %}

fn load(i: u32) -> Acc {
    var v = Acc();
    if (i < args.n) {
        v = load1(i);
    }
    return v;
}

{% if not totals %}
// An element's prefix inside its tile to where it goes. args.room, or else n, is the number of outputs that this dispatch sees.
fn put(tile: u32, i: u32, v: Acc) {
    var y = v;
{% if folded %}
    if (tile > 0u) {
        y = combine(folds[tile - 1u], y);
    }
{% endif %}
{% if exclusive %}
    let to = i + 1u;
{% else %}
    let to = i;
{% endif %}
    if (to < args.{{ "room" if exclusive else "n" }}) {
        finish(to, y);
    }
}
{% endif %}

// args: n elements of this dispatch; groups, its tiles; steps_before, the number of its first tile; room.
@compute @workgroup_size(256)
fn scan_variant(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
    if (block >= args.groups) {
        return;
    }
    let begin = block * TILE;
    let tile = args.steps_before + block;
{% if exclusive %}
    if (tile == 0u && lane == 0u) {
        finish(0u, first_value());
    }
{% endif %}
{% if kogge_stone %}
    let v = kogge_stone(lane, load(begin + lane));
{% if totals %}
    if (lane == THREADS - 1u) {
        finish(tile, v);
    }
{% else %}
    put(tile, begin + lane, v);
{% endif %}
{% elif brent_kung %}
    slots[lane] = load(begin + lane);
    slots[THREADS + lane] = load(begin + THREADS + lane);
    brent_kung(lane);
{% if totals %}
    if (lane == 0u) {
        finish(tile, slots[TILE - 1u]);
    }
{% else %}
    put(tile, begin + lane, slots[lane]);
    put(tile, begin + THREADS + lane, slots[THREADS + lane]);
{% endif %}
{% else %}
    // Phase 1: a section of 4 to a lane, from left to right.
    let i = begin + lane * 4u;
    var x: array<Acc, 4>;
    if (i < args.n && args.n - i >= 4u) {
        x = load4(i);
    } else {
        x = array<Acc, 4>(load(i), load(i + 1u), load(i + 2u), load(i + 3u));
    }
    let b = combine(x[0], x[1]);
    let c = combine(b, x[2]);
    // Phase 2: the sections' totals. The last step read the second half of the slots, so the first is free.
    let total = kogge_stone(lane, combine(c, x[3]));
{% if totals %}
    if (lane == THREADS - 1u) {
        finish(tile, total);
    }
{% else %}
    slots[lane] = total;
    workgroupBarrier();
    // Phase 3: what comes before the section in front of all but its last element.
    var y = array<Acc, 4>(x[0], b, c, total);
    if (lane > 0u) {
        let left = slots[lane - 1u];
        y = array<Acc, 4>(combine(left, x[0]), combine(left, b), combine(left, c), total);
    }
{% if vectors %}
    if (i < args.n && args.n - i >= 4u) {
{% if folded %}
        if (tile > 0u) {
            let fold = folds[tile - 1u];
            y = array<Acc, 4>(combine(fold, y[0]), combine(fold, y[1]), combine(fold, y[2]), combine(fold, y[3]));
        }
{% endif %}
        store4(i, y);
        return;
    }
{% endif %}
    put(tile, i, y[0]);
    put(tile, i + 1u, y[1]);
    put(tile, i + 2u, y[2]);
    put(tile, i + 3u, y[3]);
{% endif %}
{% endif %}
}
