// Reduce: all n elements of each line to one value; lines are rows (reduce, reduce_rows) or columns of [outer, n, inner] (reduce_cols).
// Order: the aligned binary tree. Node (k, j) covers elements [j 2^k, (j+1) 2^k); a node whose right half lies past the end equals
// its left half; otherwise it is combine(left, right). Nothing is padded, so no identity is needed. Any power-of-two part of the
// tree may be walked by itself: lane, subgroup, pass, tile and dispatch are such parts, and none of their sizes enters. Here lanes meet in
// shared memory; reduce_subgroups.wgsl walks the same tree in subgroups.

const THREADS = {{ threads }}u;

{% if rolled %}
{% include "of_first.wgsl" %}
{% else %}
fn of_4(x: array<Acc, 4>) -> Acc {
    return combine(combine(x[0], x[1]), combine(x[2], x[3]));
}

// The node over elements i..i+3, those before `end`; there is at least one.
fn up_to_4(i: u32, end: u32) -> Acc {
    var x = load1(i);
    if (i + 1u < end) {
        x = combine(x, load1(i + 1u));
    }
    if (i + 2u < end) {
        var y = load1(i + 2u);
        if (i + 3u < end) {
            y = combine(y, load1(i + 3u));
        }
        x = combine(x, y);
    }
    return x;
}

// The same, read at once where all four are there.
fn quad(i: u32, end: u32) -> Acc {
    if (end - i >= 4u) {
        return of_4(load4(i));
    }
    return up_to_4(i, end);
}
{% endif %}

{% if subgroups %}
{% include "reduce_subgroups.wgsl" %}
{% endif %}
{% if tiles and not subgroups %}
const ROWS = {{ rows }}u;              // vectors that an invocation has in flight
const ROW = THREADS * 4u;              // elements that the workgroup reads at once
const PASS = ROWS * ROW;
// Regions of shared memory, each with a gap after 8 slots, so that neighbours' runs of 8 lie in different banks.
const RUNS = ROWS * THREADS / 8u * 9u;
const TOTALS = RUNS + THREADS / 8u * 9u;
var<workgroup> slots: array<Acc, TOTALS + {{ totals }}u + {{ totals }}u / 8u>;

fn gapped(i: u32) -> u32 {
    return i + (i >> 3u);
}

{% for run in [1, 2, 4, 8] if run == 8 or run == rows %}
// The node over {{ run }} slots of a region from `first` on, those below `count`; there is at least one.
fn tree_of_{{ run }}(region: u32, first: u32, count: u32) -> Acc {
{% if rolled %}
    var x: array<Acc, 8>;
    for (var e = 0u; e < min(count - first, {{ run }}u); e++) {
        x[e] = slots[region + gapped(first + e)];
    }
    return of_first(x, min(count - first, {{ run }}u));
{% else %}
{% for e in range(run) %}
    var x{{ e }} = slots[region + gapped(first + {{ e }}u)];
{% endfor %}
{% for step in [1, 2, 4] if step < run %}
{% for e in range(0, run, step * 2) %}
    if (first + {{ e + step }}u < count) {
        x{{ e }} = combine(x{{ e }}, x{{ e + step }});
    }
{% endfor %}
{% endfor %}
    return x0;
{% endif %}
}
{% endfor %}

// args: n elements of a line; tiles of a line, passes of a tile (a power of two); blocks, tiles of all lines; first, where the first result goes.
// A pass turns rows of 4 into one node per {{ rows }} lanes' vectors, then per 8 of these; the tile's tree goes on over these totals.
@compute @workgroup_size({{ threads }})
fn reduce(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
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
    for (var pass_ = 0u; pass_ < passes; pass_++) {
        let start = begin + pass_ * PASS;
{% if not rolled %}
        if (end - start >= PASS) {
{% for r in range(rows) %}
            let q{{ r }} = load4(start + {{ r }}u * ROW + lane * 4u);
{% endfor %}
{% for r in range(rows) %}
            slots[gapped({{ r }}u * THREADS + lane)] = of_4(q{{ r }});
{% endfor %}
        } else
{% endif %}
        {
            for (var r = 0u; r < ROWS; r++) {
                let i = start + r * ROW + lane * 4u;
                if (i < end) {
                    slots[gapped(r * THREADS + lane)] = quad(i, end);
                }
            }
        }
        workgroupBarrier();
        let quads = min((end - start + 3u) / 4u, ROWS * THREADS);
        if (lane * ROWS < quads) {
            slots[RUNS + gapped(lane)] = tree_of_{{ rows }}(0u, lane * ROWS, quads);
        }
        workgroupBarrier();
        let runs = (quads + ROWS - 1u) / ROWS;
        if (lane * 8u < runs) {
            slots[TOTALS + gapped(pass_ * (THREADS / 8u) + lane)] = tree_of_8(RUNS, lane * 8u, runs);
        }
    }
    var count = (min(end - begin, passes * PASS) + 32u * ROWS - 1u) / (32u * ROWS);
    var v = Acc();
    // From one region to the other and back.
    for (var from_ = TOTALS; ; from_ = RUNS + TOTALS - from_) {
        workgroupBarrier();
        if (lane * 8u < count) {
            v = tree_of_8(from_, lane * 8u, count);
        }
        if (count <= 8u) {
            break;
        }
        if (lane * 8u < count) {
            slots[RUNS + TOTALS - from_ + gapped(lane)] = v;
        }
        count = (count + 7u) / 8u;
    }
    if (lane == 0u) {
        finish(args.first + block, v);
    }
}
{% endif %}
{% if rows_short and not subgroups %}
var<workgroup> slots: array<Acc, THREADS>;

// Many rows of at most 4 * {{ threads }}. args: n; lines; lanes to a row, a power of two that 4 elements each suffice for.
@compute @workgroup_size({{ threads }})
fn reduce_rows(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
    let row = block * (THREADS / args.lanes) + lane / args.lanes;
    let place = lane % args.lanes;
    let end = (row + 1u) * args.n;
    let i = row * args.n + place * 4u;
    if (row < args.lines && i < end) {
        slots[lane] = quad(i, end);
    }
    let count = (args.n + 3u) / 4u;
    for (var d = 1u; d < args.lanes; d *= 2u) {
        workgroupBarrier();
        if (place % (2u * d) == 0u && place + d < count) {
            slots[lane] = combine(slots[lane], slots[lane + d]);
        }
    }
    if (row < args.lines && place == 0u) {
        finish(row, slots[lane]);
    }
}
{% endif %}
{% if columns %}
// Columns, an invocation to each part of a column. args: n; inner; columns in all; part, its length, a power of two; parts of a column;
// first, where the first result goes; pitch, from one part's results to the next's.
@compute @workgroup_size({{ threads }})
fn reduce_cols(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let id = ((group.z * grid.y + group.y) * grid.x + group.x) * THREADS + lane;
    let part = id / args.columns;
    if (part >= args.parts) {
        return;
    }
    let column = id - part * args.columns;
    let origin = column / args.inner * args.n * args.inner + column % args.inner;
    let begin = part * args.part;
    let end = min(begin + args.part, args.n);
    // Nodes that wait for their right-hand neighbour: after `done` runs of 8, one for each set bit of `done`.
    var waiting: array<Acc, 30>;
    var done = 0u;
    for (var i = begin; i < end; i += 8u) {
        let at = origin + i * args.inner;
        let count = end - i;
{% if rolled %}
        var x: array<Acc, 8>;
        for (var e = 0u; e < min(count, 8u); e++) {
            x[e] = load1(at + e * args.inner);
        }
        var x0 = of_first(x, count);
{% else %}
        var x0 = load1(at);
{% for e in range(1, 8) %}
        var x{{ e }} = Acc();
        if ({{ e }}u < count) {
            x{{ e }} = load1(at + {{ e }}u * args.inner);
        }
{% endfor %}
{% for step in [1, 2, 4] %}
{% for e in range(0, 8, step * 2) %}
        if ({{ e + step }}u < count) {
            x{{ e }} = combine(x{{ e }}, x{{ e + step }});
        }
{% endfor %}
{% endfor %}
{% endif %}
        var k = 0u;
        for (; ((done >> k) & 1u) != 0u; k++) {
            x0 = combine(waiting[k], x0);
        }
        waiting[k] = x0;
        done++;
    }
    // Missing right halves are skipped: what is left is folded from the smallest node up.
    var k = countTrailingZeros(done);
    var v = waiting[k];
    for (k++; (done >> k) != 0u; k++) {
        if (((done >> k) & 1u) != 0u) {
            v = combine(waiting[k], v);
        }
    }
    finish(args.first + part * args.pitch + column, v);
}
{% endif %}
