// Reduce, the rungs of the ladder: n elements in tiles of 256 lanes and {{ per_lane }} elements to a lane; a tile's result is one element of the
// next launch, until one is left. What does not exist is skipped; nothing is padded, so no identity is needed.
// Order: a lane combines its own elements, then a tree over the lanes; each rung says which.

const THREADS = 256u;
{% set interleaved = rung == 1 %}
{% set convergent = rung == 2 %}
{% set sequential = rung in [3, 4, 6] %}
{% set unrolled = rung == 5 %}
{% set vectors = rung == 8 %}

{% if rung == 0 %}
// Fold in half, a launch to a level: x[i] becomes combine(x[i], x[i + half]). args: n.
@compute @workgroup_size(256)
fn reduce_variant(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let i = ((group.z * grid.y + group.y) * grid.x + group.x) * THREADS + lane;
    let half = (args.n + 1u) / 2u;
    if (i >= half) {
        return;
    }
    var v = load1(i);
    if (args.n - i > half) {
        v = combine(v, load1(i + half));
    }
    finish(i, v);
}
{% else %}
const PER_LANE = {{ per_lane }}u;
const TILE = THREADS * PER_LANE;
var<workgroup> slots: array<Acc, THREADS>;

{% if vectors %}
// A lane's vectors, 1024 elements apart, component by component, then its components from left to right.
fn own_elements(first: u32, end: u32) -> Acc {
    if (end - first > TILE - 4u * THREADS + 3u) {
        // Four at a time, in loops: an operator may be long, and each place where it stands is long to compile.
        var x = load4(first);
        for (var k = 1u; k < PER_LANE / 4u; k++) {
            let q = load4(first + k * 4u * THREADS);
            for (var c = 0u; c < 4u; c++) {
                x[c] = combine(x[c], q[c]);
            }
        }
        for (var c = 1u; c < 4u; c++) {
            x[0] = combine(x[0], x[c]);
        }
        return x[0];
    }
    var v = Acc();
    for (var e = 0u; e < 4u && first + e < end; e++) {
        var x = load1(first + e);
        for (var i = first + e + 4u * THREADS; i < end; i += 4u * THREADS) {
            x = combine(x, load1(i));
        }
        if (e == 0u) {
            v = x;
        } else {
            v = combine(v, x);
        }
    }
    return v;
}
{% else %}
// A lane's elements, 256 apart, from left to right.
fn own_elements(first: u32, end: u32) -> Acc {
    var v = load1(first);
    for (var i = first + THREADS; i < end; i += THREADS) {
        v = combine(v, load1(i));
    }
    return v;
}
{% endif %}

// args: n elements of this dispatch; groups, its tiles; steps_before, where its first result goes.
@compute @workgroup_size(256)
fn reduce_variant(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
    if (block >= args.groups) {
        return;
    }
    let begin = block * TILE;
    let count = min(args.n - begin, TILE);
{% if vectors %}
    let lanes = min((count + 3u) / 4u, THREADS);
    if (lane < lanes) {
        slots[lane] = own_elements(begin + lane * 4u, begin + count);
    }
{% else %}
    let lanes = min(count, THREADS);
    if (lane < lanes) {
        slots[lane] = own_elements(begin + lane, begin + count);
    }
{% endif %}
{% if interleaved %}
    // Neighbours first; every (2 s)th lane works.
    for (var s = 1u; s < THREADS; s *= 2u) {
        workgroupBarrier();
        if (lane % (2u * s) == 0u && lane + s < lanes) {
            slots[lane] = combine(slots[lane], slots[lane + s]);
        }
    }
{% elif convergent %}
    // Neighbours first; the lowest lanes work.
    for (var s = 1u; s < THREADS; s *= 2u) {
        workgroupBarrier();
        let i = 2u * s * lane;
        if (i + s < lanes) {
            slots[i] = combine(slots[i], slots[i + s]);
        }
    }
{% elif sequential %}
    // Far ones first; the lowest lanes work, on neighbouring slots.
    for (var s = THREADS / 2u; s > 0u; s /= 2u) {
        workgroupBarrier();
        if (lane < s && lane + s < lanes) {
            slots[lane] = combine(slots[lane], slots[lane + s]);
        }
    }
{% elif unrolled %}
    // The same, written out.
{% for s in [128, 64, 32, 16, 8, 4, 2, 1] %}
    workgroupBarrier();
    if (lane < {{ s }}u && lane + {{ s }}u < lanes) {
        slots[lane] = combine(slots[lane], slots[lane + {{ s }}u]);
    }
{% endfor %}
{% else %}
    // Inside logical groups of 32 lanes, then over the groups. Through shared memory, since WebGPU promises no subgroups.
    for (var s = 16u; s > 0u; s /= 2u) {
        workgroupBarrier();
        if (lane % 32u < s && lane + s < lanes) {
            slots[lane] = combine(slots[lane], slots[lane + s]);
        }
    }
    for (var s = 4u; s > 0u; s /= 2u) {
        workgroupBarrier();
        if (lane < s && (lane + s) * 32u < lanes) {
            slots[lane * 32u] = combine(slots[lane * 32u], slots[(lane + s) * 32u]);
        }
    }
{% endif %}
    if (lane == 0u) {
        finish(args.steps_before + block, slots[0]);
    }
}
{% endif %}
