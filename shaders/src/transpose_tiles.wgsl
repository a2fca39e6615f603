// Tiles (i, j) and (j, i) of a square grid change places as they are, raw bits. Each of the pairs is a tile and one of those that follow it in a
// ring, up to half of the way around. An invocation takes a unit of either tile: {{ unit }} bytes. Narrow elements change their bits of a
// word that others share by an exclusive or with what both differ in.
// args: workgroups; units of the binding before the first; tiles of a side; units from row to row, of a tile's row, from grid to grid, from tile to
// tile below it, of a tile; pairs of a grid; workgroups of a pair.

@compute @workgroup_size(256)
fn exchange(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
    let k = block % args.each * 256u + lane;
    if (block >= args.groups || k >= args.tile) {
        return;
    }
    let pair = block / args.each % args.pairs;
    let i = pair % args.side;
    let next = i + pair / args.side + 1u;
    let j = select(next - args.side, next, next < args.side);
    let at = args.skip_x + block / args.each / args.pairs * args.step + k / args.width * args.pitch + k % args.width;
    let above = at + i * args.down + j * args.width;
    let below = at + j * args.down + i * args.width;
{% if unit < 4 %}
{% set size = unit %}
{% set per = 4 // size %}
{% set ones = 255 if size == 1 else 65535 %}
    let high = (above % {{ per }}u) * {{ 8 * size }}u;
    let low = (below % {{ per }}u) * {{ 8 * size }}u;
    let bits = ((atomicLoad(&x[above / {{ per }}u]) >> high) ^ (atomicLoad(&x[below / {{ per }}u]) >> low)) & {{ ones }}u;
    atomicXor(&x[above / {{ per }}u], bits << high);
    atomicXor(&x[below / {{ per }}u], bits << low);
{% else %}
    let v = x[above];
    x[above] = x[below];
    x[below] = v;
{% endif %}
}
