// Scan: y[i] combines x[0] .. x[i] (inclusive) or x[0] .. x[i-1] (exclusive), along each line of an array.
// Order: tiles of 8192 elements. Inside a tile Sklansky's tree: for each k, an element whose index has bit k set becomes combine(last of
// the preceding aligned 2^k block, itself). Across tiles F(t), a strict left fold of the tiles' totals, and y = combine(F(t), s).
// The last element of an aligned block is the node of the aligned binary tree over it. So the tree's left nodes are computed once, in
// shared memory, and every element takes those that the bits of its index name: no subgroup's width enters.

const THREADS = {{ threads }}u;
const ROWS = {{ rows }}u;             // vectors of 4 elements that an invocation holds
const QUADS = ROWS * THREADS;         // vectors of a batch
const BATCHES = {{ batches }}u;
const TILE = 8192u;                   // = 4 QUADS BATCHES
const LANE_BITS = {{ lane_bits }}u;

{% if not columns %}
// Slot q becomes the node of the aligned tree that ends with vector q and is a left one. A gap after 8 slots keeps neighbours' runs of 8
// in different banks.
var<workgroup> slots: array<Acc, QUADS + QUADS / 8u>;
// The same over batches.
var<workgroup> batches: array<Acc, BATCHES>;

fn gapped(i: u32) -> u32 {
    return i + i / 8u;
}
{% endif %}

{% if totals or apply or packed %}
// The element of a line as an index of the array.
fn place(origin: u32, i: u32) -> u32 {
{% if strided %}
    return origin + i * args.inner;
{% else %}
    return origin + i;
{% endif %}
}

// Elements i..i+3 of a line; those from `end` on are something: they are right of all that is stored.
fn load_quad(origin: u32, i: u32, end: u32) -> array<Acc, 4> {
{% if not strided %}
    if (i < end && end - i >= 4u) {
        return load4(origin + i);
    }
{% endif %}
    var x: array<Acc, 4>;
{% for e in range(4) %}
    if (i + {{ e }}u < end) {
        x[{{ e }}] = load1(place(origin, i + {{ e }}u));
    }
{% endfor %}
    return x;
}

// Turns the vectors' totals in the slots into nodes, 8 to 1.
fn up_sweep(lane: u32) {
{% for s in [1, 8, 64, 512] if s < quads %}
{% set run = [8, quads // s] | min %}
    workgroupBarrier();
    if (lane < QUADS / {{ s * run }}u) {
{% for e in range(run) %}
        let p{{ e }} = gapped((lane * {{ run }}u + {{ e + 1 }}u) * {{ s }}u - 1u);
        var x{{ e }} = slots[p{{ e }}];
{% endfor %}
{% for k in [1, 2, 4] if k < run %}
{% for e in range(k * 2 - 1, run, k * 2) %}
        x{{ e }} = combine(x{{ e - k }}, x{{ e }});
{% endfor %}
{% endfor %}
{% for e in range(1, run, 2) %}
        slots[p{{ e }}] = x{{ e }};
{% endfor %}
    }
{% endfor %}
    workgroupBarrier();
}

// Enters a batch's node among those of the batches before it.
fn close_batch(batch: u32) {
    var v = slots[gapped(QUADS - 1u)];
    for (var k = 0u; ((batch >> k) & 1u) != 0u; k++) {
        v = combine(batches[((batch >> k) << k) - 1u], v);
    }
    batches[batch] = v;
}

fn scan_4(x: array<Acc, 4>) -> array<Acc, 4> {
    let b = combine(x[0], x[1]);
    let d = combine(x[2], x[3]);
    return array<Acc, 4>(x[0], b, combine(b, x[2]), combine(b, d));
}

fn prepend(left: Acc, x: array<Acc, 4>) -> array<Acc, 4> {
    return array<Acc, 4>(combine(left, x[0]), combine(left, x[1]), combine(left, x[2]), combine(left, x[3]));
}
{% endif %}

{% if totals %}
// The tiles' totals, each line's last left out, since nothing comes after it. args: n elements of a line in this dispatch, inner, tiles of
// a line in this dispatch, blocks (tiles of all lines), first_tile of this dispatch, first result, pitch from line to line of results.
@compute @workgroup_size({{ threads }})
fn scan_totals(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
    let line = block / args.tiles;
    let tile = block % args.tiles;
    if (block >= args.blocks || args.first_tile + tile + 1u >= args.pitch) {
        return;
    }
    let origin = line / args.inner * args.n * args.inner + line % args.inner;
    for (var batch = 0u; batch < BATCHES; batch++) {
        let i0 = tile * TILE + (batch * QUADS + lane) * 4u;
{% for r in range(rows) %}
        let x{{ r }} = load_quad(origin, i0 + {{ r }}u * THREADS * 4u, args.n);
{% endfor %}
{% for r in range(rows) %}
        slots[gapped({{ r }}u * THREADS + lane)] = combine(combine(x{{ r }}[0], x{{ r }}[1]), combine(x{{ r }}[2], x{{ r }}[3]));
{% endfor %}
        up_sweep(lane);
        if (lane == 0u) {
            close_batch(batch);
        }
        workgroupBarrier();
    }
    if (lane == 0u) {
        finish(args.first + line * args.pitch + args.first_tile + tile, batches[BATCHES - 1u]);
    }
}
{% endif %}
{% if fold %}
// Totals become the strict left folds of those before them, in place; a workgroup to each line. args: n totals of a line.
@compute @workgroup_size({{ threads }})
fn scan_fold(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let line = (group.z * grid.y + group.y) * grid.x + group.x;
    if (line >= args.blocks) {
        return;
    }
    let begin = line * args.n;
    var carry = Acc();
    for (var start = 0u; start < args.n; start += QUADS) {
        for (var k = lane; k < QUADS; k += THREADS) {
            if (start + k < args.n) {
                slots[k] = results[begin + start + k];
            }
        }
        workgroupBarrier();
        if (lane == 0u) {
            let count = min(args.n - start, QUADS);
            var k = 0u;
            if (start == 0u) {
                carry = slots[0];
                k = 1u;
            }
            // 8 values ahead, since only the chain should take time.
            for (; k + 8u <= count; k += 8u) {
{% for e in range(8) %}
                let x{{ e }} = slots[k + {{ e }}u];
{% endfor %}
{% for e in range(8) %}
                slots[k + {{ e }}u] = carry;
                carry = combine(carry, x{{ e }});
{% endfor %}
            }
            for (; k < count; k++) {
                let x = slots[k];
                slots[k] = carry;
                carry = combine(carry, x);
            }
        }
        workgroupBarrier();
        for (var k = lane; k < QUADS; k += THREADS) {
            if (start + k < args.n) {
                finish(begin + start + k, slots[k]);
            }
        }
        workgroupBarrier();
    }
}
{% endif %}
{% if apply or packed %}
fn store_quad(origin: u32, i: u32, end: u32, x: array<Acc, 4>) {
{% if not strided %}
    if (i < end && end - i >= 4u) {
        store4(origin + i, x);
        return;
    }
{% endif %}
{% for e in range(4) %}
    if (i + {{ e }}u < end) {
        finish(place(origin, i + {{ e }}u), x[{{ e }}]);
    }
{% endfor %}
}
{% endif %}
{% if apply %}
{% if exclusive %}
// The last element of this batch and of the one before.
var<workgroup> lasts: array<Acc, 2>;
{% endif %}

{% if single %}
{% include "look_back.wgsl" %}
{% endif %}

// args as for scan_totals; `first` is where the first line's folds are.
@compute @workgroup_size({{ threads }})
fn scan(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
{% if single %}
    if (lane == 0u) {
        let mine = atomicAdd(&tickets[0], 1u);
        if (mine + 1u == grid.x * grid.y * grid.z) {
            // The last of all: ready for the next launch.
            atomicStore(&tickets[0], 0u);
        }
        ticket = mine;
        atomicStore(&nearest, NONE);
    }
    let block = workgroupUniformLoad(&ticket);
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
    for (var batch = 0u; batch < BATCHES; batch++) {
        let i0 = tile * TILE + (batch * QUADS + lane) * 4u;
{% for r in range(rows) %}
        var x{{ r }} = load_quad(origin, i0 + {{ r }}u * THREADS * 4u, args.n);
{% endfor %}
{% for r in range(rows) %}
        x{{ r }} = scan_4(x{{ r }});
{% endfor %}
{% for r in range(rows) %}
        slots[gapped({{ r }}u * THREADS + lane)] = x{{ r }}[3];
{% endfor %}
        up_sweep(lane);
{% if single %}
        let total = slots[gapped(QUADS - 1u)];
        if (lane == 0u) {
            publish(block, TOTAL, total);
            if (starts_line) {
                publish(block, PREFIX, total);
            }
        }
{% endif %}
        // Index bits of the lane, the row, the batch.
        for (var k = 0u; k < LANE_BITS; k++) {
            if (((lane >> k) & 1u) != 0u) {
                let before = ((lane >> k) << k) - 1u;
{% for r in range(rows) %}
                x{{ r }} = prepend(slots[gapped({{ r }}u * THREADS + before)], x{{ r }});
{% endfor %}
            }
        }
{% for k in [1, 2, 4] %}
{% for r in range(rows) if (r // k) % 2 == 1 %}
        x{{ r }} = prepend(slots[gapped({{ r // k * k }}u * THREADS - 1u)], x{{ r }});
{% endfor %}
{% endfor %}
{% if batches > 1 %}
        for (var k = 0u; (batch >> k) != 0u; k++) {
            if (((batch >> k) & 1u) != 0u) {
                let left = batches[((batch >> k) << k) - 1u];
{% for r in range(rows) %}
                x{{ r }} = prepend(left, x{{ r }});
{% endfor %}
            }
        }
        workgroupBarrier();
        if (lane == 0u) {
            close_batch(batch);
        }
{% endif %}
{% if single %}
        var fold = Acc();
        if (!starts_line) {
            let so_far = look_back(origin, block - tile, block, lane);
            if (lane == 0u) {
                publish(block, PREFIX, combine(so_far, total));
                tile_fold = so_far;
            }
            workgroupBarrier();
            fold = tile_fold;
        }
{% endif %}
{% if folded or single %}
        if (!starts_line) {
{% for r in range(rows) %}
            x{{ r }} = prepend(fold, x{{ r }});
{% endfor %}
        }
{% endif %}
{% if exclusive %}
        // Every element becomes its left neighbour.
        workgroupBarrier();
{% for r in range(rows) %}
        slots[gapped({{ r }}u * THREADS + lane)] = x{{ r }}[3];
{% endfor %}
        if (lane == THREADS - 1u) {
            lasts[batch & 1u] = x{{ rows - 1 }}[3];
        }
        workgroupBarrier();
        var before = Acc();
        if (lane != 0u) {
            before = slots[gapped(lane - 1u)];
        } else if (batch != 0u) {
            before = lasts[(batch - 1u) & 1u];
        } else if (starts_line) {
            before = first_value();
{% if folded or single %}
        } else {
            before = fold;
{% endif %}
        }
        x0 = array<Acc, 4>(before, x0[0], x0[1], x0[2]);
{% for r in range(1, rows) %}
        x{{ r }} = array<Acc, 4>(slots[gapped({{ r }}u * THREADS + lane - 1u)], x{{ r }}[0], x{{ r }}[1], x{{ r }}[2]);
{% endfor %}
{% endif %}
{% for r in range(rows) %}
        store_quad(origin, i0 + {{ r }}u * THREADS * 4u, args.n, x{{ r }});
{% endfor %}
        workgroupBarrier();
    }
}
{% endif %}
{% include "scan_lines.wgsl" %}
