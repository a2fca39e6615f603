// Scan: lines that are short or not contiguous. The same order and names as scan.wgsl, of which this is a part.
{% if packed %}
// Many rows of at most 4 * {{ threads }} elements. args: n; lines; lanes to a row, a power of two that 4 elements each suffice for.
@compute @workgroup_size({{ threads }})
fn scan_rows(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32{{ ", @builtin(subgroup_size) size: u32" if subgroups }}) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
    let line = block * (THREADS / args.lanes) + lane / args.lanes;
    let i = lane % args.lanes * 4u;
    let end = select(0u, args.n, line < args.lines);
    let whole = max(i, end) - i >= 4u;
    var x: array<Acc, 4>;
    if (whole) {
        x = load4(line * args.n + i);
    } else {
        x = load_part(line * args.n, i, end);
    }
    x = scan_4(x);
{% if subgroups %}
    for (var step = 1u; step < min(args.lanes, size); step *= 2u) {
        let left = shuffle(x[3], (place_of(lane, size) | (step - 1u)) ^ step);
        if ((lane & step) != 0u) {
            x = prepend(left, x);
        }
    }
    if (args.lanes > size) {
        if (place_of(lane, size) == size - 1u) {
            slots[subgroup_of(lane, size)] = x[3];
        }
        up_sweep(lane, size, subgroup_of(THREADS, size));
    }
{% if exclusive %}
    x = array<Acc, 4>(shuffle(x[3], place_of(lane + size - 1u, size)), x[0], x[1], x[2]);
    var before = Acc();
    var known = false;
{% endif %}
    let subgroup = subgroup_of(i / 4u, size);
    for (var k = 0u; (subgroup >> k) != 0u; k++) {
        if (((subgroup >> k) & 1u) != 0u) {
            let left = slots[((subgroup_of(lane, size) >> k) << k) - 1u];
            x = prepend(left, x);
{% if exclusive %}
            before = chain(left, before, known);
            known = true;
{% endif %}
        }
    }
{% if exclusive %}
    if (place_of(lane, size) == 0u && known) {
        x[0] = before;
    }
{% endif %}
{% else %}
    slots[gapped(lane)] = x[3];
    up_sweep(lane);
    for (var k = 0u; (args.lanes >> k) > 1u; k++) {
        if (((lane >> k) & 1u) != 0u) {
            x = prepend(slots[gapped(((lane >> k) << k) - 1u)], x);
        }
    }
{% if exclusive %}
    workgroupBarrier();
    slots[gapped(lane)] = x[3];
    workgroupBarrier();
    x = array<Acc, 4>(slots[gapped(max(lane, 1u) - 1u)], x[0], x[1], x[2]);
{% endif %}
{% endif %}
{% if exclusive %}
    if (i == 0u) {
        x[0] = first_value();
    }
{% endif %}
    if (whole) {
        store4(line * args.n + i, x);
    } else {
        store_part(line * args.n, i, end, x);
    }
}
{% endif %}
{% if columns %}
{% set last = "x[7]" if rolled else "x7" %}
// Columns of [outer, n, inner], an invocation to each, walking the same tree with a stack of left nodes. args: n; inner; columns in all.
@compute @workgroup_size({{ threads }})
fn scan_cols(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let column = ((group.z * grid.y + group.y) * grid.x + group.x) * THREADS + lane;
    if (column >= args.columns) {
        return;
    }
    let origin = column / args.inner * args.n * args.inner + column % args.inner;
    // Entry k: the node over the last aligned 2^k runs of 8 that is a left one.
    var nodes: array<Acc, 10>;
    var fold = Acc();
{% if exclusive %}
    var before = first_value();
{% endif %}
    for (var i = 0u; i < args.n; i += 8u) {
{% if rolled %}
        let count = min(args.n - i, 8u);
        var x: array<Acc, 8>;
        for (var e = 0u; e < count; e++) {
            x[e] = load1(origin + (i + e) * args.inner);
        }
        for (var k = 1u; k < 8u; k *= 2u) {
            for (var e = k; e < 8u; e++) {
                if ((e & k) != 0u) {
                    x[e] = combine(x[e / k * k - 1u], x[e]);
                }
            }
        }
{% else %}
{% for e in range(8) %}
        var x{{ e }} = Acc();
        if (i + {{ e }}u < args.n) {
            x{{ e }} = load1(origin + (i + {{ e }}u) * args.inner);
        }
{% endfor %}
{% for k in [1, 2, 4] %}
{% for e in range(8) if (e // k) % 2 == 1 %}
        x{{ e }} = combine(x{{ e // k * k - 1 }}, x{{ e }});
{% endfor %}
{% endfor %}
{% endif %}
        let run = i % TILE / 8u;
        var k = 0u;
        // While the run's low bits are set, its last element is the node of ever larger blocks; a clear bit makes it a left one.
        var closing = true;
        for (; (run >> k) != 0u; k++) {
            if (((run >> k) & 1u) != 0u) {
                let left = nodes[k];
{% if rolled %}
                x = prepend(left, x);
{% else %}
{% for e in range(8) %}
                x{{ e }} = combine(left, x{{ e }});
{% endfor %}
{% endif %}
            } else if (closing) {
                nodes[k] = {{ last }};
                closing = false;
            }
        }
        if (closing) {
            nodes[k] = {{ last }};
        }
        if (i >= TILE) {
{% if rolled %}
            x = prepend(fold, x);
{% else %}
{% for e in range(8) %}
            x{{ e }} = combine(fold, x{{ e }});
{% endfor %}
{% endif %}
        }
        if (run == TILE / 8u - 1u) {
            fold = {{ last }};
        }
{% if rolled %}
        for (var e = 0u; e < count; e++) {
{% if exclusive %}
            finish(origin + (i + e) * args.inner, before);
            before = x[e];
{% else %}
            finish(origin + (i + e) * args.inner, x[e]);
{% endif %}
        }
{% else %}
{% for e in range(8) %}
        if (i + {{ e }}u < args.n) {
{% if exclusive %}
            finish(origin + (i + {{ e }}u) * args.inner, {{ "before" if e == 0 else "x" ~ (e - 1) }});
{% else %}
            finish(origin + (i + {{ e }}u) * args.inner, x{{ e }});
{% endif %}
        }
{% endfor %}
{% endif %}
{% if exclusive and not rolled %}
        before = {{ last }};
{% endif %}
    }
}
{% endif %}
