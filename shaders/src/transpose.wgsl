// Transposition of planes, raw bits of {{ size }}-byte elements: to[c * to_pitch + r] = from[r * from_pitch + c], r below rows, c below columns, in
// every plane of a batch of up to four axes. A workgroup takes a square tile: an invocation reads {{ v }} rows of {{ v }} neighbours (a unit each),
// turns the block in registers, and leaves it in shared memory, where units are exchanged by their row so that neither writes nor reads meet in a
// bank; then whole rows of the result are written.
// args: blocks; elements of each binding before the first; rows, columns, pitches, tiles of a row; the batch's lengths and steps.

{% set unit = "u32" if size == 1 else ("vec2<u32>" if size == 2 else "vec4<u32>") %}
{% set side = 16 * v %}
alias Unit = {{ unit }};
var<workgroup> tile: array<Unit, {{ side * 16 }}>;

// Elements column .. column + {{ v - 1 }} of a row; those outside are anything.
fn load(plane: u32, row: u32, column: u32) -> Unit {
    if (row >= args.rows || column >= args.columns) {
        return Unit();
    }
    let at = plane + row * args.from_pitch + column;
{% if vector %}
    return from_[at / {{ v }}u];
{% elif size == 4 %}
    let last = plane + row * args.from_pitch + args.columns - 1u;
    return vec4<u32>(from_[at], from_[min(at + 1u, last)], from_[min(at + 2u, last)], from_[min(at + 3u, last)]);
{% else %}
    let next = min(at + 1u, plane + row * args.from_pitch + args.columns - 1u);
    return vec4<u32>(from_[at * 2u], from_[at * 2u + 1u], from_[next * 2u], from_[next * 2u + 1u]);
{% endif %}
}

fn store(plane: u32, row: u32, column: u32, u: Unit) {
    if (row >= args.columns || column >= args.rows) {
        return;
    }
    let at = plane + row * args.to_pitch + column;
{% if vector %}
    to[at / {{ v }}u] = u;
{% elif size == 4 %}
    let left = args.rows - column;
    to[at] = u.x;
    if (left > 1u) {
        to[at + 1u] = u.y;
    }
    if (left > 2u) {
        to[at + 2u] = u.z;
    }
    if (left > 3u) {
        to[at + 3u] = u.w;
    }
{% else %}
    to[at * 2u] = u.x;
    to[at * 2u + 1u] = u.y;
    if (args.rows - column > 1u) {
        to[at * 2u + 2u] = u.z;
        to[at * 2u + 3u] = u.w;
    }
{% endif %}
}

@compute @workgroup_size(256)
fn transpose(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
    if (block >= args.blocks) {
        return;
    }
    let across = (args.columns + {{ side - 1 }}u) / {{ side }}u;
    let down = (args.rows + {{ side - 1 }}u) / {{ side }}u;
    let left = (block % across) * {{ side }}u;
    let top = (block / across % down) * {{ side }}u;
    var rest = block / across / down;
    var source = args.skip_from;
    var place = args.skip_to;
{% for k in range(batch) %}
    source += (rest % args.n{{ k }}) * args.from{{ k }};
    place += (rest % args.n{{ k }}) * args.to{{ k }};
    rest /= args.n{{ k }};
{% endfor %}

    let k = lane % 16u;
    let m = lane / 16u;
{% for j in range(v) %}
    let a{{ j }} = load(source, top + m * {{ v }}u + {{ j }}u, left + k * {{ v }}u);
{% endfor %}
{% if size == 4 %}
{% for c in ["x", "y", "z", "w"] %}
    let t{{ loop.index0 }} = vec4<u32>(a0.{{ c }}, a1.{{ c }}, a2.{{ c }}, a3.{{ c }});
{% endfor %}
{% elif size == 8 %}
    let t0 = vec4<u32>(a0.xy, a1.xy);
    let t1 = vec4<u32>(a0.zw, a1.zw);
{% elif size == 2 %}
{% for c in ["x", "y"] %}
    let t{{ 2 * loop.index0 }} = vec2<u32>((a0.{{ c }} & 0xffffu) | (a1.{{ c }} << 16u), (a2.{{ c }} & 0xffffu) | (a3.{{ c }} << 16u));
    let t{{ 2 * loop.index0 + 1 }} = vec2<u32>((a0.{{ c }} >> 16u) | (a1.{{ c }} & 0xffff0000u), (a2.{{ c }} >> 16u) | (a3.{{ c }} & 0xffff0000u));
{% endfor %}
{% else %}
{% for j in range(4) %}
    let t{{ j }} = ((a0 >> {{ 8 * j }}u) & 0xffu) | (((a1 >> {{ 8 * j }}u) & 0xffu) << 8u) | (((a2 >> {{ 8 * j }}u) & 0xffu) << 16u) | ((a3 >> {{ 8 * j }}u) << 24u);
{% endfor %}
{% endif %}
{% for j in range(v) %}
    tile[(k * {{ v }}u + {{ j }}u) * 16u + (m ^ k)] = t{{ j }};
{% endfor %}
    workgroupBarrier();
{% for j in range(v) %}
    {
        let c = {{ 16 * j }}u + m;
        store(place, left + c, top + k * {{ v }}u, tile[c * 16u + (k ^ (c / {{ v }}u))]);
    }
{% endfor %}
}
