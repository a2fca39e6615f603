// Scan: y[i] combines x[0] .. x[i] (inclusive) or x[0] .. x[i-1] (exclusive), along each line of an array.
// Order: tiles of 8192 elements. Inside a tile Sklansky's tree: for each k, an element whose index has bit k set becomes combine(last of
// the preceding aligned 2^k block, itself). Across tiles F(t), a strict left fold of the tiles' totals, and y = combine(F(t), s).
// The last element of an aligned block is the node of the aligned binary tree over it. So an element takes the left nodes that the bits
// of its index name, from the lowest bit up, and no subgroup's width enters: a node comes from shared memory or from a lane.

const THREADS = {{ threads }}u;
const ROWS = {{ rows }}u;             // vectors of 4 elements that an invocation holds
const QUADS = ROWS * THREADS;         // vectors of a batch
const BATCHES = {{ batches }}u;
const TILE = 8192u;                   // = 4 QUADS BATCHES
const LANE_BITS = {{ lane_bits }}u;

{% if totals or apply or packed %}
{% include "scan_nodes.wgsl" %}

// The element of a line as an index of the array.
fn place(origin: u32, i: u32) -> u32 {
{% if strided %}
    return origin + i * args.inner;
{% else %}
    return origin + i;
{% endif %}
}

// Elements i..i+3 of a line, all of which are there.
fn load_whole(origin: u32, i: u32) -> array<Acc, 4> {
{% if strided %}
    return array<Acc, 4>({% for e in range(4) %}load1(place(origin, i + {{ e }}u)){{ ", " if not loop.last }}{% endfor %});
{% else %}
    return load4(origin + i);
{% endif %}
}

// Loads those of elements i..i+3 that lie before `end`; the others are something: they are right of all that is stored.
fn load_part(origin: u32, i: u32, end: u32) -> array<Acc, 4> {
    var x: array<Acc, 4>;
{% for e in range(4) %}
    if (i + {{ e }}u < end) {
        x[{{ e }}] = load1(place(origin, i + {{ e }}u));
    }
{% endfor %}
    return x;
}

{% if rolled %}
// An operator that stands in loops is compiled once for each.
fn node_of(x: array<Acc, 4>) -> Acc {
    var y = x;
    for (var k = 0u; k < 3u; k++) {
        let at = (k & 1u) * 2u;
        y[at] = combine(y[at], y[select(at + 1u, 2u, k == 2u)]);
    }
    return y[0];
}

fn scan_4(x: array<Acc, 4>) -> array<Acc, 4> {
    var y = x;
    for (var k = 0u; k < 4u; k++) {
        // 1 takes 0, 3 takes 2, then 2 and 3 take 1.
        let at = (0x3231u >> (4u * k)) & 3u;
        y[at] = combine(y[(0x1120u >> (4u * k)) & 3u], y[at]);
    }
    return y;
}

{% else %}
fn node_of(x: array<Acc, 4>) -> Acc {
    return combine(combine(x[0], x[1]), combine(x[2], x[3]));
}

fn scan_4(x: array<Acc, 4>) -> array<Acc, 4> {
    let b = combine(x[0], x[1]);
    return array<Acc, 4>(x[0], b, combine(b, x[2]), combine(b, combine(x[2], x[3])));
}

fn prepend(left: Acc, x: array<Acc, 4>) -> array<Acc, 4> {
    return array<Acc, 4>(combine(left, x[0]), combine(left, x[1]), combine(left, x[2]), combine(left, x[3]));
}
{% endif %}
{% endif %}
{% if rolled %}
{% set side_by_side = 8 if columns else 4 %}
fn prepend(left: Acc, x: array<Acc, {{ side_by_side }}>) -> array<Acc, {{ side_by_side }}> {
    var y = x;
    for (var e = 0u; e < {{ side_by_side }}u; e++) {
        y[e] = combine(left, y[e]);
    }
    return y;
}
{% endif %}
{% if apply or packed %}
fn store_part(origin: u32, i: u32, end: u32, x: array<Acc, 4>) {
{% for e in range(4) %}
    if (i + {{ e }}u < end) {
        finish(place(origin, i + {{ e }}u), x[{{ e }}]);
    }
{% endfor %}
}
{% endif %}
{% if exclusive and not columns %}

// The left nodes that lead to an element, outermost last, as its left neighbour's value; the first stands for itself.
fn chain(left: Acc, so_far: Acc, known: bool) -> Acc {
    if (known) {
        return combine(left, so_far);
    }
    return left;
}
{% endif %}
{% include "scan_totals.wgsl" %}
{% if apply %}
{% if single %}
{% include "scan_help.wgsl" %}

{% include "look_back.wgsl" %}
{% endif %}

// args as for scan_totals; `first` is where the first line's folds are.
@compute @workgroup_size({{ threads }})
fn scan(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32{{ ", @builtin(subgroup_size) size: u32" if subgroups }}) {
{% if single %}
    if (lane == 0u) {
        let mine = atomicAdd(&tickets[0], 1u);
        if (mine + 1u == grid.x * grid.y * grid.z) {
            // The last of all: ready for the next launch.
            atomicStore(&tickets[0], 0u);
        }
        ticket = mine;
        atomicStore(&missing[0], NONE);
        atomicStore(&missing[1], NONE);
    }
{% if served %}
    let drawn = workgroupUniformLoad(&ticket);
    if (drawn == 0u) {
        serve(lane);
        return;
    }
    let block = drawn - 1u;
{% else %}
    let block = workgroupUniformLoad(&ticket);
{% endif %}
{% else %}
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
{% endif %}
    if (block >= args.blocks) {
        return;
    }
    let line = block / args.tiles;
    let tile = block % args.tiles;
    let origin = line / args.inner * args.n * args.inner + line % args.inner;
    let starts_line = args.first_tile + tile == 0u;
{% if folded %}
    let fold = folds[args.first + line * args.pitch + args.first_tile + tile];
{% endif %}
    // An invocation's first vector of a batch, and how many vectors lie between this and its next.
{% if subgroups %}
    let own = subgroup_of(lane, size) * ROWS * size + place_of(lane, size);
    let apart = size;
{% else %}
    let own = lane;
    let apart = THREADS;
{% endif %}
{% set in_turn = rolled and batches > 1 and rows == 1 and not single %}
    for (var batch = 0u; batch < BATCHES; batch++) {
        let start = tile * TILE + (batch * QUADS + own) * 4u;
{% if strided %}
{% for r in range(rows) %}
        var x{{ r }} = load_part(origin, start + {{ r }}u * apart * 4u, args.n);
{% endfor %}
{% else %}
{% for r in range(rows) %}
        var x{{ r }}: array<Acc, 4>;
        let i{{ r }} = start + {{ r }}u * apart * 4u;
        let whole{{ r }} = max(i{{ r }}, args.n) - i{{ r }} >= 4u;
        if (whole{{ r }}) {
            x{{ r }} = load4(origin + i{{ r }});
        }
{% endfor %}
        // The row of the one vector that the line's end cuts, if it is this invocation's.
        let beyond = args.n / 4u - start / 4u;
        let cut = select(ROWS, beyond >> countTrailingZeros(apart), args.n % 4u != 0u && (beyond & (apart - 1u)) == 0u);
        if (cut < ROWS) {
            let part = load_part(origin, args.n / 4u * 4u, args.n);
{% for r in range(rows) %}
            if (cut == {{ r }}u) {
                x{{ r }} = part;
            }
{% endfor %}
        }
{% endif %}
{% for r in range(rows) %}
        x{{ r }} = scan_4(x{{ r }});
{% endfor %}
{% include "scan_walk.wgsl" %}
{% if single %}
        var fold = Acc();
        if (!starts_line) {
            look_back(origin, block - tile, block{{ ", total" if not served }}, lane{{ ", size" if subgroups }});
            fold = tile_fold;
        }
{% endif %}
{% if (folded or single) and not in_turn %}
        if (!starts_line) {
{% for r in range(rows) %}
            x{{ r }} = prepend(fold, x{{ r }});
{% endfor %}
        }
{% endif %}
{% if exclusive %}
        if (lane == 0u && batch == 0u) {
            // Nothing of the tile comes before its first element.
            x0[0] = {{ "fold" if folded or single else "first_value()" }};
{% if folded or single %}
            if (starts_line) {
                x0[0] = first_value();
            }
{% endif %}
        }
{% endif %}
{% if strided %}
{% for r in range(rows) %}
        store_part(origin, start + {{ r }}u * apart * 4u, args.n, x{{ r }});
{% endfor %}
{% else %}
{% for r in range(rows) %}
        if (whole{{ r }}) {
            store4(origin + i{{ r }}, x{{ r }});
        }
{% endfor %}
        if (cut < ROWS) {
            var part = x0;
{% for r in range(1, rows) %}
            if (cut == {{ r }}u) {
                part = x{{ r }};
            }
{% endfor %}
            store_part(origin, args.n / 4u * 4u, args.n, part);
        }
{% endif %}
{% if batches > 1 %}
        workgroupBarrier();
{% endif %}
    }
}
{% endif %}
{% include "scan_lines.wgsl" %}
