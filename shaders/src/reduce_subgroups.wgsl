// Reduce: the forms of tiles and of short rows that walk the tree in subgroups, of any width. The same order as reduce.wgsl, of which
// this is a part; a width only decides how much of the tree lies in one subgroup.
{% if tiles or rows_short %}
{% include "lanes.wgsl" %}
{% endif %}
{% if tiles %}
const ROWS = {{ rows }}u;              // vectors that an invocation has in flight
const PASS = ROWS * THREADS * 4u;
var<workgroup> slots: array<Acc, {{ totals }}>;            // a node for each subgroup and pass
var<workgroup> ragged: array<Acc, {{ rows * threads // 4 }}>;  // a node for each row of each subgroup

// The node over {{ rows }} slots from `first` on, those below `count`; there is at least one.
{% for region in ["slots", "ragged"] %}
fn of_{{ region }}(first: u32, count: u32) -> Acc {
{% if rolled %}
    var x: array<Acc, 8>;
    for (var e = 0u; e < min(count - first, {{ rows }}u); e++) {
        x[e] = {{ region }}[first + e];
    }
    return of_first(x, min(count - first, {{ rows }}u));
{% else %}
{% for e in range(rows) %}
    var x{{ e }} = {{ region }}[first + {{ e }}u];
{% endfor %}
{% for step in [1, 2, 4] if step < rows %}
{% for e in range(0, rows, step * 2) %}
    if (first + {{ e + step }}u < count) {
        x{{ e }} = combine(x{{ e }}, x{{ e + step }});
    }
{% endfor %}
{% endfor %}
    return x0;
{% endif %}
}
{% endfor %}

// The nodes of the subgroups' parts of a pass that ends early, rows one by one.
fn ragged_pass(start: u32, end: u32, first_slot: u32, lane: u32, size: u32) {
    let quads = (end - start + 3u) / 4u;
    for (var r = 0u; r < ROWS; r++) {
        let row = subgroup_of(lane, size) * ROWS + r;
        let i = (row * size + place_of(lane, size)) * 4u;
        var x = Acc();
        if (i < end - start) {
            x = quad(start + i, end);
        }
        x = join_first(x, place_of(lane, size), size, quads - min(quads, row * size));
        if (place_of(lane, size) == 0u) {
            ragged[row] = x;
        }
    }
    workgroupBarrier();
    let filled = subgroup_of(quads + size - 1u, size);
    if (lane * ROWS < filled) {
        slots[first_slot + lane] = of_ragged(lane * ROWS, filled);
    }
}

// args as in reduce.wgsl. In a pass a subgroup takes {{ rows }} rows of as many vectors as it has lanes, and leaves one node; no
// subgroup waits for another before the last pass.
@compute @workgroup_size({{ threads }})
fn reduce(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32, @builtin(subgroup_size) size: u32) {
    let turn = (group.z * grid.y + group.y) * grid.x + group.x;
    if (turn >= args.blocks) {
        return;
    }
    // From the end to the beginning: what ran before has left the end in the cache, and what runs next finds the beginning there.
    let block = args.blocks - 1u - turn;
    let line = block / args.tiles;
    let end = (line + 1u) * args.n;
    let begin = line * args.n + (block - line * args.tiles) * args.passes * PASS;
    let passes = min(args.passes, (end - begin + PASS - 1u) / PASS);
    let subgroups = subgroup_of(THREADS, size);
    let own = (subgroup_of(lane, size) * ROWS * size + place_of(lane, size)) * 4u;
    for (var pass_ = 0u; pass_ < passes; pass_++) {
        let start = begin + pass_ * PASS;
{% if not rolled %}
        if (end - start >= PASS) {
{% for r in range(rows) %}
            let q{{ r }} = load4(start + own + {{ r }}u * size * 4u);
{% endfor %}
            let x = node_of_rows(array<Acc, {{ rows }}>({% for r in range(rows) %}of_4(q{{ r }}){{ ", " if not loop.last }}{% endfor %}), lane, size);
            if (place_of(lane, size) == 0u) {
                slots[pass_ * subgroups + subgroup_of(lane, size)] = x;
            }
        } else
{% endif %}
        {
            ragged_pass(start, start + min(end - start, PASS), pass_ * subgroups, lane, size);
        }
    }
    workgroupBarrier();
    var count = subgroup_of(min(end - begin, passes * PASS) + 4u * ROWS * size - 1u, 4u * ROWS * size);
    var v = Acc();
    loop {
        if (lane * ROWS < count) {
            v = of_slots(lane * ROWS, count);
        }
        count = (count + ROWS - 1u) / ROWS;
        v = join_first(v, place_of(lane, size), size, count - min(count, lane - place_of(lane, size)));
        if (count <= size) {
            break;
        }
        workgroupBarrier();
        if (place_of(lane, size) == 0u) {
            slots[subgroup_of(lane, size)] = v;
        }
        count = subgroup_of(count + size - 1u, size);
        workgroupBarrier();
    }
    if (lane == 0u) {
        finish(args.first + block, v);
    }
}
{% endif %}
{% if rows_short %}
var<workgroup> slots: array<Acc, {{ threads // 4 }}>;

// Many rows of at most 4 * {{ threads }}. args as in reduce.wgsl.
@compute @workgroup_size({{ threads }})
fn reduce_rows(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32, @builtin(subgroup_size) size: u32) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
    let rows = subgroup_of(THREADS, args.lanes);
    let end = (block * rows + subgroup_of(lane, args.lanes) + 1u) * args.n;
    let i = end - args.n + place_of(lane, args.lanes) * 4u;
    var v = Acc();
    if (block * rows + subgroup_of(lane, args.lanes) < args.lines && i < end) {
        v = quad(i, end);
    }
    // Nodes of a row, one to a lane, and those of them that are there.
    var lanes = args.lanes;
    var count = (args.n + 3u) / 4u;
    loop {
        v = join_first(v, place_of(lane, lanes), min(lanes, size), count);
        if (lanes <= size) {
            break;
        }
        workgroupBarrier();
        if (place_of(lane, size) == 0u) {
            slots[subgroup_of(lane, size)] = v;
        }
        workgroupBarrier();
        v = slots[place_of(lane, subgroup_of(THREADS, size))];
        lanes = subgroup_of(lanes, size);
        count = subgroup_of(count + size - 1u, size);
    }
    let row = block * rows + subgroup_of(lane, lanes);
    if (subgroup_of(lane, lanes) < rows && row < args.lines && place_of(lane, lanes) == 0u) {
        finish(row, v);
    }
}
{% endif %}
