// Convolutions of planes: C(y, x) is the sum over the taps of a filter, row by row, of weight times element, in blocks of taps. Filters of several channels or
// planes go on with the next of them, a slice. A block is a chain of fma that starts with +0; blocks are added left to right. Integers wrap. A workgroup takes a
// tile of results, and an invocation four neighbours of each of R rows. The elements that a few rows of taps read lie in shared memory, by the border's rule; a
// row of them is read once for all rows of results that have taps there.
// The results of a line are rows of as many as a tile has columns, one behind the other; what a row reads beyond its last one is the next row's.

{% set down = 1 if type == 1 else 2 %}
{# Vectors of a row of taps, and of the elements around a tile; as many rows of taps go together as 16 KiB have room for. #}
{% set of_weights = (taps + 3) // 4 %}
{% set units = ((1024 * down if line else 128) + taps + 2) // 4 %}
{% set slab = 1 if line else ((511 if type == 1 else 1023) - (8 * down - 1) * units) // (units + of_weights) %}
const R = {{ down }}u;
const ROWS = {{ 8 * down }}u;
const SPAN = 128u;                 // columns of results of a tile
const SLAB = {{ slab }}u;          // the most rows of taps that go together
const PITCH = {{ 32 if line else units }}u;                 // vectors from a row of the tile to the next
// Taps of a row of a filter, which the kernel is compiled for; vectors that they and the elements around a tile are; what is no whole vector.
const TAPS = {{ taps }}u;
const UNITS = {{ units }}u;
const OF_WEIGHTS = {{ of_weights }}u;
const FOURS = {{ taps // 4 }}u;

var<workgroup> tile: array<vec4<Value>, {{ units + 1 if line else (8 * down + slab - 1) * units + 1 }}>;
var<workgroup> weights: array<vec4<Value>, {{ slab * of_weights }}>;
{% if guarded %}
// Flag: the adapter's own fma may not be used (see contract.wgsl).
var<workgroup> risky: atomic<u32>;

{% include "contract_risky.wgsl" %}
{% endif %}

// The element that index i of an axis of n reads, or -1 for zero.
fn resolve(i: i32, n: i32) -> i32 {
    if (i >= 0i && i < n) {
        return i;
    }
    if (args.border == 0u) {
        return clamp(i, 0i, n - 1i);
    }
    if (args.border == 1u) {
        return -1i;
    }
    let period = select(n, max(2i * (n - 1i), 1i), args.border == 2u);
    let k = ((i % period) + period) % period;
    return select(k, min(k, period - k), args.border == 2u);
}

// Four neighbours of a row, which begin at index x.
fn fetch(first: u32, y: i32, x: i32) -> vec4<Value> {
    var v = vec4<Value>();
    if (y >= 0i) {
        for (var e = 0i; e < 4i; e++) {
            let at = resolve(x + e, i32(args.image_width));
            if (at >= 0i) {
                v[e] = load_b1(first + u32(y) * args.image_width + u32(at));
            }
        }
    }
    return v;
}

// Sums of the block of taps that is under way, and of those before it where there are several blocks.
var<private> sums: array<vec4<Value>, {{ down }}>;
{% if several %}
var<private> totals: array<vec4<Value>, {{ down }}>;
{% endif %}

// Takes row `y` of the elements for taps of these rows, of all slices', tap by tap: where a block ends, and where the adapter's fma may not be used.
fn take_row_by_taps(at: u32, y: u32, slab: u32, rows: u32) {
    // Bounds that a driver does not know, so that it does not write these loops out.
    let once = min(args.block, 1u);
    for (var r = 0u; r < R * once; r++) {
        if (y < r || y - r >= rows) {
            continue;
        }
        var sum = sums[r];
{% if several %}
        let before = (slab + y - r) * TAPS;
        var in_block = before % args.block;
{% endif %}
        for (var kx = 0u; kx < TAPS * once; kx++) {
{% if several %}
            if (in_block == args.block) {
                in_block = 0u;
            }
            if (in_block == 0u && before + kx > 0u) {
                let earlier = totals[r];
                for (var e = 0u; e < 4u; e++) {
                    totals[r][e] = sum[e];
                    if (before + kx != args.block) {
                        totals[r][e] = op_add(earlier[e], sum[e]);
                    }
                }
                sum = vec4<Value>();
            }
            in_block++;
{% endif %}
            let w = weights[(y - r) * OF_WEIGHTS + kx / 4u][kx % 4u];
            for (var e = 0u; e < 4u * once; e++) {
                let place = kx + e;
                sum[e] = op_fused(w, tile[at + place / 4u][place % 4u], sum[e]);
            }
        }
        sums[r] = sum;
    }
}

{# Four neighbouring results of row r go on by the next taps of a row: by four, or by those that are left. #}
{% macro step(r, place, taps) %}
                    {
                        let w = weights[{{ place }}];
                        s{{ r }} = fused_4(vec4<Value>(w.x), x0, s{{ r }});
{% for u in range(1, taps) %}
                        s{{ r }} = fused_4(vec4<Value>(w.{{ "xyzw"[u] }}), vec4<Value>(x0.{{ "xyzw"[u:] }}, x1.{{ "xyz"[:u] }}), s{{ r }});
{% endfor %}
                    }
{% endmacro %}
@compute @workgroup_size(256)
fn convolve(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    var index = (group.z * grid.y + group.y) * grid.x + group.x;
    if (index >= args.groups) {
        return;
    }
    let across = {{ "1u" if line else "(args.width + SPAN - 1u) / SPAN" }};
    let down = (args.height + ROWS - 1u) / ROWS;
    let x0 = index % across * SPAN;
    index /= across;
    let y0 = index % down * ROWS;
    let plane = index / down;
    // The filter, and the first channel that it looks at.
    let rest = plane / args.out_depth;
    let channel = rest / args.outs * args.channels;
    let filter_at = rest % args.filters;
    let above = i32(plane % args.out_depth) - i32(args.before_z);
    // Rows of taps that go together, as even as can be.
    let slabs = (args.taps_y + SLAB - 1u) / SLAB;
    let together = (args.taps_y + slabs - 1u) / slabs;
    let slices = {{ "args.channels * args.taps_z" if sliced else "1u" }};
    let column = lane % 32u;
    let row = lane / 32u * R;
{% if not rolled %}
{% for r in range(down) %}
    var s{{ r }} = vec4<Value>();
{% endfor %}
{% endif %}
{% if guarded %}
    // Workgroup memory holds what another left; a barrier precedes the first rows.
    if (lane == 0u) {
        atomicStore(&risky, 0u);
    }
{% endif %}
    for (var slice = 0u; slice < slices; slice++) {
        let z = resolve(above + i32(slice % args.taps_z), i32(args.depth));
        let first = ((channel + slice / args.taps_z) * args.depth + u32(max(z, 0i))) * args.image_height * args.image_width;
        let filter_first = (filter_at * slices + slice) * TAPS * args.taps_y;
        // Rows of taps before this slice.
        let earlier = slice * args.taps_y;
        for (var slab = 0u; slab < args.taps_y; slab += together) {
            let rows = min(together, args.taps_y - slab);
            workgroupBarrier();
{% if line %}
            let start = i32(y0 * SPAN) - i32(args.before_x);
            let is_inner = start >= 0i && start <= i32(args.image_width) - i32(4u * UNITS);
            for (var u = lane; u < UNITS; u += 256u) {
                var v: vec4<Value>;
                if (is_inner) {
                    let at = first + u32(start) + 4u * u;
                    v = vec4<Value>(load_b1(at), load_b1(at + 1u), load_b1(at + 2u), load_b1(at + 3u));
                } else {
                    v = fetch(first, 0i, start + i32(4u * u));
                }
                tile[u] = v;
{% if guarded %}
                if (is_risky(v)) {
                    atomicStore(&risky, 1u);
                }
{% endif %}
            }
{% else %}
            let left = i32(x0) - i32(args.before_x);
            let top = i32(y0 + slab) - i32(args.before_y);
            let high = min(args.height - y0, ROWS) + rows - 1u;
            let is_inner = min(min(left, top), z) >= 0i && left <= i32(args.image_width) - i32(4u * UNITS) && top <= i32(args.image_height) - i32(high);
            var r = lane / UNITS;
            var c = lane % UNITS;
            while (r < high) {
                var v: vec4<Value>;
                if (is_inner) {
                    let at = first + u32(top + i32(r)) * args.image_width + u32(left) + 4u * c;
                    v = vec4<Value>(load_b1(at), load_b1(at + 1u), load_b1(at + 2u), load_b1(at + 3u));
                } else {
                    v = fetch(first, select(resolve(top + i32(r), i32(args.image_height)), -1i, z < 0i), left + i32(4u * c));
                }
                tile[r * PITCH + c] = v;
{% if guarded %}
                if (is_risky(v)) {
                    atomicStore(&risky, 1u);
                }
{% endif %}
                r += 256u / UNITS;
                c += 256u % UNITS;
                if (c >= UNITS) {
                    c -= UNITS;
                    r++;
                }
            }
{% endif %}
            for (var e = lane; e < rows * OF_WEIGHTS; e += 256u) {
                let of_row = e / OF_WEIGHTS;
                let kx = e % OF_WEIGHTS * 4u;
                var w = vec4<Value>();
                for (var u = 0u; u < 4u && kx + u < TAPS; u++) {
                    w[u] = load_a1(filter_first + (slab + of_row) * TAPS + kx + u);
                }
                weights[of_row * OF_WEIGHTS + kx / 4u] = w;
{% if guarded %}
                if (is_risky(w)) {
                    atomicStore(&risky, 1u);
                }
{% endif %}
            }
            workgroupBarrier();
{% if rolled %}
            for (var y = 0u; y < rows + R - 1u; y++) {
                take_row_by_taps((row + y) * PITCH + column, y, earlier + slab, rows);
            }
{% else %}
{% if guarded %}
            if (atomicLoad(&risky) != 0u) {
{% for r in range(down) %}
                sums[{{ r }}] = s{{ r }};
{% endfor %}
                for (var y = 0u; y < rows + R - 1u; y++) {
                    take_row_by_taps((row + y) * PITCH + column, y, earlier + slab, rows);
                }
{% for r in range(down) %}
                s{{ r }} = sums[{{ r }}];
{% endfor %}
            } else {
{% else %}
            {
{% endif %}
                for (var y = 0u; y < rows + R - 1u; y++) {
                    let at = (row + y) * PITCH + column;
{% if several %}
                    // Tests whether a block ends among these taps.
                    let before = earlier + max(slab + y, R - 1u) - (R - 1u);
                    let end = (earlier + min(slab + y + 1u, args.taps_y)) * TAPS;
                    if ((end - 1u) / args.block != (max(before * TAPS, 1u) - 1u) / args.block) {
{% for r in range(down) %}
                        sums[{{ r }}] = s{{ r }};
{% endfor %}
                        take_row_by_taps(at, y, earlier + slab, rows);
{% for r in range(down) %}
                        s{{ r }} = sums[{{ r }}];
{% endfor %}
                        continue;
                    }
{% endif %}
                    var x0 = tile[at];
                    let of_taps = y * OF_WEIGHTS;
{% for all_rows in ([true, false] if down == 2 else [true]) %}
                    {{ "" if all_rows else "else " }}{{ "if (y > 0u && y < rows) " if all_rows and down == 2 else "" }}{
                        for (var g = 0u; g < FOURS; g++) {
                            let x1 = tile[at + g + 1u];
{% for r in range(down) %}
{{ "" if all_rows else "if (y < rows)" if r == 0 else "if (y > 0u)" }}
{{ step(r, "of_taps + g" if r == 0 else "of_taps + g - OF_WEIGHTS", 4) }}
{% endfor %}
                            x0 = x1;
                        }
                    }
{% endfor %}
{% if taps % 4 > 0 %}
                    {
                        let x1 = tile[at + FOURS + 1u];
{% for r in range(down) %}
{{ "if (y < rows)" if r == 0 and down == 2 else "if (y > 0u)" if r == 1 else "" }}
{{ step(r, "of_taps + FOURS" if r == 0 else "of_taps + FOURS - OF_WEIGHTS", taps % 4) }}
{% endfor %}
                    }
{% endif %}
                }
            }
{% endif %}
        }
    }

    let x = x0 + column * 4u;
    if (x >= args.width) {
        return;
    }
{% if not rolled %}
{% for r in range(down) %}
    sums[{{ r }}] = s{{ r }};
{% endfor %}
{% endif %}
    for (var r = 0u; r < R; r++) {
        let y = y0 + row + r;
        if (y >= args.height) {
            return;
        }
        var v = sums[r];
{% if several %}
        let earlier = totals[r];
        for (var e = 0u; e < 4u; e++) {
            v[e] = op_add(earlier[e], v[e]);
        }
{% endif %}
{% if line %}
        let to = plane * args.width + y * SPAN + x;
        let end = args.width - y * SPAN;
{% else %}
        let to = (plane * args.height + y) * args.width + x;
        let end = args.width;
{% endif %}
        // Rows of whole vectors.
        if (args.form != 0u && x < end) {
            epilogue4(to, v);
        } else {
            for (var e = 0u; e < 4u && x + e < end; e++) {
                epilogue1(to + e, v[e]);
            }
        }
    }
}
