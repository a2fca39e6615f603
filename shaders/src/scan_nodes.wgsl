// Scan: the left nodes of a batch's tree, in shared memory. The same order and names as scan.wgsl, of which this is a part.
// Nodes of whole batches, each left one at the last batch that it covers.
var<workgroup> batches: array<Acc, BATCHES>;

{% if subgroups %}
{% include "lanes.wgsl" %}

// Slot j becomes the node of the aligned tree that ends with subgroup j and is a left one.
var<workgroup> slots: array<Acc, {{ threads if single else threads // 4 }}>;

// Slot j, so far the j-th of `count` nodes, becomes the node over the 2^t of them that end with it, t the number of ones that end j.
fn up_sweep(lane: u32, size: u32, count: u32) {
    for (var apart = 1u; apart < count; apart *= size) {
        workgroupBarrier();
        let here = subgroup_of(count, apart);
        let at = lane * apart + apart - 1u;
        var v = Acc();
        if (lane < here) {
            v = slots[at];
        }
        for (var step = 1u; step < min(size, here); step *= 2u) {
            let left = shuffle_xor(v, step);
            if ((~lane & (2u * step - 1u)) == 0u) {
                v = combine(left, v);
            }
        }
        if (lane < here) {
            slots[at] = v;
        }
    }
    workgroupBarrier();
}

fn last_slot(size: u32) -> u32 {
    return subgroup_of(THREADS, size) - 1u;
}
{% else %}
// Slot q becomes the node of the aligned tree that ends with vector q and is a left one. A gap after 8 slots keeps neighbours' runs of 8
// in different banks.
var<workgroup> slots: array<Acc, QUADS + QUADS / 8u>;

fn gapped(i: u32) -> u32 {
    return i + (i >> 3u);
}

// Turns the vectors' totals in the slots into nodes, 8 to 1.
fn up_sweep(lane: u32) {
    for (var s = 1u; s < QUADS; s *= 8u) {
        workgroupBarrier();
        // Runs of 8 nodes, the last run of fewer.
        let count = min(8u, QUADS / s - min(QUADS / s, lane * 8u));
        if (count > 1u) {
{% if rolled %}
            var x: array<Acc, 8>;
            for (var e = 0u; e < 8u; e++) {
                x[e] = slots[gapped(min((lane * 8u + e + 1u) * s, QUADS) - 1u)];
            }
            for (var k = 1u; k < 8u; k *= 2u) {
                for (var e = 2u * k - 1u; e < 8u; e += 2u * k) {
                    x[e] = combine(x[e - k], x[e]);
                }
            }
            for (var e = 1u; e < count; e += 2u) {
                slots[gapped((lane * 8u + e + 1u) * s - 1u)] = x[e];
            }
{% else %}
{% for e in range(8) %}
            let p{{ e }} = gapped((lane * 8u + {{ e + 1 }}u) * s - 1u);
            var x{{ e }} = slots[min(p{{ e }}, gapped(QUADS - 1u))];
{% endfor %}
{% for k in [1, 2, 4] %}
{% for e in range(k * 2 - 1, 8, k * 2) %}
            x{{ e }} = combine(x{{ e - k }}, x{{ e }});
{% endfor %}
{% endfor %}
{% for e in range(1, 8, 2) %}
            if ({{ e }}u < count) {
                slots[p{{ e }}] = x{{ e }};
            }
{% endfor %}
{% endif %}
        }
    }
    workgroupBarrier();
}
{% endif %}

// Enters a batch's node among those of the batches before it.
fn close_batch(batch: u32, node: Acc) {
    var v = node;
    for (var k = 0u; ((batch >> k) & 1u) != 0u; k++) {
        v = combine(batches[((batch >> k) << k) - 1u], v);
    }
    batches[batch] = v;
}
