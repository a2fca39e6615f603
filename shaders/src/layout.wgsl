// Strided copy of {{ rank }} axes, raw bits: to[sum i_k to_k] = from[sum i_k from_k], for every index below the axes' lengths.
// An invocation takes an element, four words of elements where rows are made of those, or where narrow elements lie without gaps a whole word of them;
// else narrow ones take turns at a word.
// args: n; elements of each binding before the first; the axes' lengths and steps, the largest step of the destination first.

// The source of element i in the destination's order.
fn source(i: u32) -> u32 {
    var rest = i;
    var at = args.skip_from_;
{% for j in range(rank - 1 if rank > 1 else 0) %}
{% set k = rank - 1 - j %}
    at += (rest % args.n{{ k }}) * args.from{{ k }};
    rest /= args.n{{ k }};
{% endfor %}
    return at{{ " + rest * args.from0" if rank > 0 }};
}

fn destination(i: u32) -> u32 {
    var rest = i;
    var at = args.skip_to;
{% for j in range(rank - 1 if rank > 1 else 0) %}
{% set k = rank - 1 - j %}
    at += (rest % args.n{{ k }}) * args.to{{ k }};
    rest /= args.n{{ k }};
{% endfor %}
    return at{{ " + rest * args.to0" if rank > 0 }};
}

@compute @workgroup_size(256)
fn copy_axes(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let i = ((group.z * grid.y + group.y) * grid.x + group.x) * 256u + lane;
{% if size >= 4 %}
    if (i >= args.n) {
        return;
    }
    let s = source(i);
    let d = destination(i);
{% if size != 8 %}
    to[d] = from_[s];
{% else %}
    let v = vec2<u32>(from_[s * 2u], from_[s * 2u + 1u]);
    to[d * 2u] = v.x;
    to[d * 2u + 1u] = v.y;
{% endif %}
{% else %}
{% set per = 4 // size %}
{% set ones = 255 if size == 1 else 65535 %}
{% if atomic %}
    if (i >= args.n) {
        return;
    }
    let s = source(i);
    let d = destination(i);
    let v = (from_[s / {{ per }}u] >> ((s % {{ per }}u) * {{ 8 * size }}u)) & {{ ones }}u;
    let shift = (d % {{ per }}u) * {{ 8 * size }}u;
    atomicAnd(&to[d / {{ per }}u], ~({{ ones }}u << shift));
    atomicOr(&to[d / {{ per }}u], v << shift);
{% else %}
    var mask = 0u;
    var bits = 0u;
{% for e in range(per) %}
    {
        let k = i * {{ per }}u + {{ e }}u - args.skip_to % {{ per }}u;
        if (k < args.n) {
            let s = source(k);
            bits |= ((from_[s / {{ per }}u] >> ((s % {{ per }}u) * {{ 8 * size }}u)) & {{ ones }}u) << {{ 8 * size * e }}u;
            mask |= {{ ones }}u << {{ 8 * size * e }}u;
        }
    }
{% endfor %}
    let at = args.skip_to / {{ per }}u + i;
    if (mask == 0xffffffffu) {
        to[at] = bits;
    } else if (mask != 0u) {
        to[at] = (to[at] & ~mask) | bits;
    }
{% endif %}
{% endif %}
}
