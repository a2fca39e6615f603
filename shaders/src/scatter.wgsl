// Scatter: out[indices[i]] = op(out[indices[i]], values[i]) for i below n, raw bits; an index outside the targets writes nothing.
// op is store, for indices without duplicates, or an integer operation whose order cannot show, by atomics. The values are elements or their
// positions, or an operator gives both target and value (load1 is generated). The targets are seen window by window.
// args: n; elements of each binding before the first; the targets' number; the window's first target and length.

{% if not computed %}
fn place(i: u32) -> u32 {
{% if index == 2 %}
    let at = (args.skip_indices + i) * 2u;
    let k = indices[at];
    return select(0xffffffffu, k, k < args.targets && indices[at + 1u] == 0u);
{% else %}
    let k = indices[args.skip_indices + i];
    return select(0xffffffffu, k, k < args.targets{{ " && k < 0x80000000u" if index == 1 }});
{% endif %}
}
{% endif %}

@compute @workgroup_size(256)
fn scatter(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let i = ((group.z * grid.y + group.y) * grid.x + group.x) * 256u + lane;
    if (i >= args.n) {
        return;
    }
{% if computed %}
    let item = load1(i);
    let r = item[0] - args.first;
{% else %}
    let r = place(i) - args.first;
{% endif %}
    if (r >= args.len) {
        return;
    }
    let at = args.skip_out + r;
{% if computed and size == 4 %}
    let v = item[1];
{% elif computed %}
    let v = vec2<u32>(item[1], item[2]);
{% elif positions %}
    let v = args.base + i;
{% elif size == 4 %}
    let v = values[args.skip_values + i];
{% elif size == 8 %}
    let start = (args.skip_values + i) * 2u;
    let v = vec2<u32>(values[start], values[start + 1u]);
{% else %}
{% set per = 4 // size %}
{% set ones = 255 if size == 1 else 65535 %}
    let start = args.skip_values + i;
    let v = (values[start / {{ per }}u] >> ((start % {{ per }}u) * {{ 8 * size }}u)) & {{ ones }}u;
{% endif %}
{% set atomic = ["", "atomicAdd", "atomicMin", "atomicMax", "atomicAnd", "atomicOr", "atomicXor", "atomicSub"][op] %}
{% if op == 0 and size == 4 %}
    out[at] = v;
{% elif op == 0 and size == 8 %}
    out[at * 2u] = v.x;
    out[at * 2u + 1u] = v.y;
{% elif op == 0 %}
    // The word has other targets in it, which others write.
    let shift = (at % {{ per }}u) * {{ 8 * size }}u;
    atomicAnd(&out[at / {{ per }}u], ~({{ ones }}u << shift));
    atomicOr(&out[at / {{ per }}u], v << shift);
{% elif size == 4 %}
    {{ atomic }}(&out[at], {{ "bitcast<i32>(v)" if is_signed else "v" }});
{% elif op == 1 or op == 7 %}
{% if op == 7 %}
    let sum = vec2<u32>(0u - v.x, ~v.y + select(0u, 1u, v.x == 0u));
{% else %}
    let sum = v;
{% endif %}
    // A carry goes up whenever the low word wraps, so the two words are the sum in whatever order.
    let old = atomicAdd(&out[at * 2u], sum.x);
    atomicAdd(&out[at * 2u + 1u], sum.y + select(0u, 1u, old + sum.x < sum.x));
{% else %}
    {{ atomic }}(&out[at * 2u], v.x);
    {{ atomic }}(&out[at * 2u + 1u], v.y);
{% endif %}
}
