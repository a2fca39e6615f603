// Gather: out[i] = values[indices[i]] for i below n, raw bits; an index outside the {{ size }}-byte values stores zero, or nothing.
// The values are seen window by window: a launch writes the elements whose index falls into its window, one of them the zeros.
// An invocation owns whole words of the output, so that narrow elements need no atomics; what else is in a word stays.
// args: n; elements of each binding before the first; the values' number; whether to keep what no index names; the window's first element and length.

const NONE = 0xffffffffu;

// The element that index i names, or NONE.
fn place(i: u32) -> u32 {
{% if index == 2 %}
    let at = (args.skip_indices + i) * 2u;
    let k = indices[at];
    return select(NONE, k, k < args.values && indices[at + 1u] == 0u);
{% else %}
    let k = indices[args.skip_indices + i];
    return select(NONE, k, k < args.values{{ " && k < 0x80000000u" if index == 1 }});
{% endif %}
}

@compute @workgroup_size(256)
fn gather(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
    // One launch stores the zeros.
    let zeros = args.keep == 0u && args.first == 0u;
{% if size >= 4 %}
    let first = block * 1024u + lane;
{% for k in range(4) %}
    let i{{ k }} = first + {{ 256 * k }}u;
    var p{{ k }} = NONE;
    if (i{{ k }} < args.n) {
        p{{ k }} = place(i{{ k }});
    }
    let r{{ k }} = p{{ k }} - args.first;
    let inside{{ k }} = r{{ k }} < args.len;
{% if size == 4 %}
    var v{{ k }} = 0u;
    if (inside{{ k }}) {
        v{{ k }} = values[args.skip_values + r{{ k }}];
    }
{% else %}
    var v{{ k }} = vec2<u32>();
    if (inside{{ k }}) {
        let at = (args.skip_values + r{{ k }}) * 2u;
        v{{ k }} = vec2<u32>(values[at], values[at + 1u]);
    }
{% endif %}
{% endfor %}
{% for k in range(4) %}
    if (inside{{ k }} || (zeros && p{{ k }} == NONE && i{{ k }} < args.n)) {
{% if size == 4 %}
        out[args.skip_out + i{{ k }}] = v{{ k }};
{% else %}
        let at = (args.skip_out + i{{ k }}) * 2u;
        out[at] = v{{ k }}.x;
        out[at + 1u] = v{{ k }}.y;
{% endif %}
    }
{% endfor %}
{% else %}
{% set per = 4 // size %}
{% set ones = 255 if size == 1 else 65535 %}
    // Element e of the word is element i of the output; those before the first wrap around and are above n.
    let word = block * 256u + lane;
    var mask = 0u;
    var bits = 0u;
{% for e in range(per) %}
    {
        let i = word * {{ per }}u + {{ e }}u - args.skip_out % {{ per }}u;
        if (i < args.n) {
            let p = place(i);
            let r = p - args.first;
            if (r < args.len) {
                let at = args.skip_values + r;
                let v = (values[at / {{ per }}u] >> ((at % {{ per }}u) * {{ 8 * size }}u)) & {{ ones }}u;
                bits |= v << {{ 8 * size * e }}u;
                mask |= {{ ones }}u << {{ 8 * size * e }}u;
            } else if (zeros && p == NONE) {
                mask |= {{ ones }}u << {{ 8 * size * e }}u;
            }
        }
    }
{% endfor %}
    let at = args.skip_out / {{ per }}u + word;
    if (mask == NONE) {
        out[at] = bits;
    } else if (mask != 0u) {
        out[at] = (out[at] & ~mask) | bits;
    }
{% endif %}
}
