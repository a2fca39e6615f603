// Squares of {{ size }}-byte elements, transposed where they lie, raw bits.
// `turn`: an invocation takes two blocks of {{ v }} x {{ v }} that change places, so that nothing is shared; a workgroup's are those of two tiles.
// Lanes of a subgroup of 32 lie 4 x 8: their rows are 4 and 8 units. On the diagonal those below it have nothing to do. The upper triangle of
// tiles lies folded: row r and row even - 1 - r are even + 1 together, even being the number of rows or one more; a single tile is alone.
// `swap`: elements one by one; narrow ones change their bits of a word that others share by an exclusive or with what both differ in.
// args: n elements; the side, under several names; tiles of a side; workgroups of a plane; elements of the binding before the first.

{% if each %}
@compute @workgroup_size(256)
fn swap(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let at = ((group.z * grid.y + group.y) * grid.x + group.x) * 256u + lane;
    if (at >= args.n) {
        return;
    }
    let k = at % (args.rows * args.rows);
    let row = k / args.rows;
    let column = k % args.rows;
    if (row >= column) {
        return;
    }
    let above = args.skip_x + at;
    let below = above - k + column * args.rows + row;
{% if size == 4 %}
    let v = x[above];
    x[above] = x[below];
    x[below] = v;
{% elif size == 8 %}
    let v = vec2<u32>(x[above * 2u], x[above * 2u + 1u]);
    let w = vec2<u32>(x[below * 2u], x[below * 2u + 1u]);
    x[above * 2u] = w.x;
    x[above * 2u + 1u] = w.y;
    x[below * 2u] = v.x;
    x[below * 2u + 1u] = v.y;
{% else %}
{% set per = 4 // size %}
{% set ones = 255 if size == 1 else 65535 %}
    let high = (above % {{ per }}u) * {{ 8 * size }}u;
    let low = (below % {{ per }}u) * {{ 8 * size }}u;
    let bits = ((atomicLoad(&x[above / {{ per }}u]) >> high) ^ (atomicLoad(&x[below / {{ per }}u]) >> low)) & {{ ones }}u;
    atomicXor(&x[above / {{ per }}u], bits << high);
    atomicXor(&x[below / {{ per }}u], bits << low);
{% endif %}
}
{% else %}
{% set source = "x" %}
{% set target = "x" %}
{% set side = 16 * v %}
{% include "transpose_units.wgsl" %}

@compute @workgroup_size(256)
fn turn(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
    if (block >= args.groups) {
        return;
    }
    let even = args.across + args.across % 2u;
    let at = block % args.pairs;
    let r = at / (even + 1u);
    let c = at % (even + 1u);
    let first = c < even - r;
    let i = select(even - 1u - r, r, first);
    let j = select(c - 1u, r + c, first);
    if (j >= args.across) {
        return;
    }
    let plane = args.skip_x + block / args.pairs * (args.rows * args.rows);
    let k = lane % 4u + lane / 32u % 4u * 4u;
    let m = lane / 4u % 8u + lane / 128u * 8u;
    if (i == j && k < m) {
        return;
    }
    let row = i * {{ side }}u + m * {{ v }}u;
    let column = j * {{ side }}u + k * {{ v }}u;
{% for e in range(v) %}
    let a{{ e }} = load(plane, row + {{ e }}u, column);
{% endfor %}
{% for e in range(v) %}
    let b{{ e }} = load(plane, column + {{ e }}u, row);
{% endfor %}
    {
{% set a = "a" %}
{% include "transpose_turn.wgsl" %}
{% for e in range(v) %}
        store(plane, column + {{ e }}u, row, t{{ e }});
{% endfor %}
    }
    {
{% set a = "b" %}
{% include "transpose_turn.wgsl" %}
{% for e in range(v) %}
        store(plane, row + {{ e }}u, column, t{{ e }});
{% endfor %}
    }
}
{% endif %}
