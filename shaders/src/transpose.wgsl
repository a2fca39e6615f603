// Transposition of planes, raw bits of {{ size }}-byte elements: to[c * to_pitch + r] = from[r * from_pitch + c], r below rows, c below columns, in
// every plane of a batch of up to four axes. A workgroup takes a square tile: an invocation reads {{ v }} rows of {{ v }} neighbours (a unit each),
// turns the block in registers, and leaves it in shared memory, where units are exchanged by their row so that neither writes nor reads meet in a
// bank; then whole rows of the result are written.
// args: groups; rows, columns, pitches; the batch's lengths; elements of each binding before the first; steps, behind those of the plane the batch's.

{% set source = "from_" %}
{% set target = "to" %}
{% set side = 16 * v %}
{% include "transpose_units.wgsl" %}

var<workgroup> tile: array<Unit, {{ side * 16 }}>;

@compute @workgroup_size(256)
fn transpose(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
    if (block >= args.groups) {
        return;
    }
    let across = (args.columns + {{ side - 1 }}u) / {{ side }}u;
    let down = (args.rows + {{ side - 1 }}u) / {{ side }}u;
    let left = (block % across) * {{ side }}u;
    let top = (block / across % down) * {{ side }}u;
    var rest = block / across / down;
    var source = args.skip_from_;
    var place = args.skip_to;
{% for k in range(batch) %}
    source += (rest % args.n{{ k }}) * args.from{{ k + 1 }};
    place += (rest % args.n{{ k }}) * args.to{{ k + 1 }};
    rest /= args.n{{ k }};
{% endfor %}

    let k = lane % 16u;
    let m = lane / 16u;
{% for j in range(v) %}
    let a{{ j }} = load(source, top + m * {{ v }}u + {{ j }}u, left + k * {{ v }}u);
{% endfor %}
{% set a = "a" %}
{% include "transpose_turn.wgsl" %}
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
