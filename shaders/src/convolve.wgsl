// Convolutions of planes: C(y, x) is the sum over the taps of a filter, row by row, of weight times element, in blocks of taps. A block is a chain of fma that
// starts with +0; blocks are added left to right. Integers wrap. A workgroup takes a tile of 8 rows of results, and an invocation EACH neighbours of a row.
// The elements that a few rows of taps read lie in shared memory, by the border's rule.

{% set each = 4 if type == 1 else 8 %}
{% set slab = 2 if type == 1 else 4 %}
const EACH = {{ each }}u;
const ROWS = 8u;
const SPAN = {{ 32 * each }}u;                            // columns of results of a tile
const SLAB = {{ slab }}u;                              // rows of taps that go together
const PITCH = {{ (32 * each + 32) // each * (each + 1) }}u;   // an element in so many is left out, so that lanes read different banks

var<workgroup> tile: array<Value, {{ (7 + slab) * ((32 * each + 32) // each * (each + 1)) }}>;
var<workgroup> weights: array<Value, {{ 33 * slab }}>;
{% if guarded %}
// Flag: the adapter's own fma may not be used (see contract.wgsl).
var<workgroup> risky: atomic<u32>;

fn is_risky(v: f32) -> bool {
    return ((bitcast<u32>(v) << 1u) - 1u) < (87u << 24u) - 1u;
}
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

{% if rolled %}
var<private> sums: array<Value, {{ each }}>;
var<private> totals: array<Value, {{ each }}>;
{% endif %}

@compute @workgroup_size(256)
fn convolve(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    var index = (group.z * grid.y + group.y) * grid.x + group.x;
    if (index >= args.groups) {
        return;
    }
    let across = (args.width + SPAN - 1u) / SPAN;
    let down = (args.height + ROWS - 1u) / ROWS;
    let x0 = index % across * SPAN;
    index /= across;
    let y0 = index % down * ROWS;
    let plane = index / down;
    let first = plane * args.image_width * args.image_height;
    let filter_first = plane % args.filters * args.taps_x * args.taps_y;
    let column = lane % 32u;
    let row = lane / 32u;
    let wide = SPAN + args.taps_x - 1u;

{% if not rolled %}
{% for g in range(each // 4) %}
    var s{{ g }} = vec4<Value>();
    var t{{ g }} = vec4<Value>();
{% endfor %}
{% endif %}
{% if guarded %}
    // Workgroup memory holds what another left; a barrier precedes the first rows.
    if (lane == 0u) {
        atomicStore(&risky, 0u);
    }
{% endif %}
    var is_first = true;
    var left = args.block;
    for (var slab = 0u; slab < args.taps_y; slab += SLAB) {
        let rows = min(SLAB, args.taps_y - slab);
        workgroupBarrier();
        let left_x = i32(x0) - i32(args.before_x);
        let top = i32(y0 + slab) - i32(args.before_y);
        let high = ROWS + rows - 1u;
        let is_inner = min(left_x, top) >= 0i && left_x <= i32(args.image_width) - i32(wide) && top <= i32(args.image_height) - i32(high);
        var r = lane / wide;
        var c = lane % wide;
        while (r < high) {
            var y = top + i32(r);
            var x = left_x + i32(c);
            if (!is_inner) {
                y = resolve(y, i32(args.image_height));
                x = resolve(x, i32(args.image_width));
            }
            var v = Value();
            if (min(x, y) >= 0i) {
                v = load_b1(first + u32(y) * args.image_width + u32(x));
            }
            tile[r * PITCH + c + c / EACH] = v;
{% if guarded %}
            if (is_risky(v)) {
                atomicStore(&risky, 1u);
            }
{% endif %}
            c += 256u;
            while (c >= wide) {
                c -= wide;
                r++;
            }
        }
        for (var e = lane; e < rows * args.taps_x; e += 256u) {
            let w = load_a1(filter_first + slab * args.taps_x + e);
            weights[e] = w;
{% if guarded %}
            if (is_risky(w)) {
                atomicStore(&risky, 1u);
            }
{% endif %}
        }
        workgroupBarrier();
        for (var ky = 0u; ky < rows; ky++) {
            let start = (row + ky) * PITCH + column * (EACH + 1u);
{% if rolled %}
            for (var kx = 0u; kx < args.taps_x; kx++) {
                let w = weights[ky * args.taps_x + kx];
                for (var e = 0u; e < EACH; e++) {
                    let q = kx + e;
                    sums[e] = op_fused(w, tile[start + q + q / EACH], sums[e]);
                }
                left--;
                if (left == 0u) {
                    for (var e = 0u; e < EACH; e++) {
                        let sum = sums[e];
                        var total = sum;
                        if (!is_first) {
                            total = op_add(totals[e], sum);
                        }
                        totals[e] = total;
                        sums[e] = Value();
                    }
                    is_first = false;
                    left = args.block;
                }
            }
{% else %}
            // The elements of a tap, of which each further tap needs one more.
{% for j in range(each - 1) %}
            var p{{ j }} = tile[start + {{ j }}u];
{% endfor %}
            var p{{ each - 1 }} = Value();
            for (var kx = 0u; kx < args.taps_x; kx += EACH) {
                let at = start + kx + kx / EACH;
                let count = min(EACH, args.taps_x - kx);
                let of_taps = ky * args.taps_x + kx;
{% if guarded %}
                if (count <= left && atomicLoad(&risky) == 0u) {
{% else %}
                if (count <= left) {
{% endif %}
                    left -= count;
{% for u in range(each) %}
                    if ({{ u }}u < count) {
                        p{{ (u + each - 1) % each }} = tile[at + {{ each - 1 + u + (1 if u > 0 else 0) }}u];
                        let w = vec4<Value>(weights[of_taps + {{ u }}u]);
{% for g in range(each // 4) %}
                        let v{{ g }} = vec4<Value>({% for e in range(4) %}p{{ (u + 4 * g + e) % each }}, {% endfor %});
                        s{{ g }} = fused_4(w, v{{ g }}, s{{ g }});
{% endfor %}
                    }
{% endfor %}
                } else {
                    for (var u = 0u; u < count; u++) {
                        let w = weights[of_taps + u];
                        let q = kx + u;
{% for g in range(each // 4) %}
                        var v{{ g }} = vec4<Value>();
                        for (var e = 0u; e < 4u; e++) {
                            let place = q + {{ 4 * g }}u + e;
                            v{{ g }}[e] = tile[start + place + place / EACH];
                        }
{% if guarded %}
                        s{{ g }} = careful(w, v{{ g }}, s{{ g }});
{% else %}
                        s{{ g }} = fused_4(vec4<Value>(w), v{{ g }}, s{{ g }});
{% endif %}
{% endfor %}
                        left--;
                        if (left == 0u && u + 1u < count) {
{% for g in range(each // 4) %}
                            t{{ g }} = select(op_add_4(t{{ g }}, s{{ g }}), s{{ g }}, is_first);
                            s{{ g }} = vec4<Value>();
{% endfor %}
                            is_first = false;
                            left = args.block;
                        }
                    }
                    if (kx + EACH < args.taps_x) {
{% for j in range(each - 1) %}
                        p{{ j }} = tile[at + {{ each + 1 + j }}u];
{% endfor %}
                    }
                }
                if (left == 0u) {
{% for g in range(each // 4) %}
                    t{{ g }} = select(op_add_4(t{{ g }}, s{{ g }}), s{{ g }}, is_first);
                    s{{ g }} = vec4<Value>();
{% endfor %}
                    is_first = false;
                    left = args.block;
                }
            }
{% endif %}
        }
    }
    if (left != args.block) {
{% if rolled %}
        for (var e = 0u; e < EACH; e++) {
            let sum = sums[e];
            var total = sum;
            if (!is_first) {
                total = op_add(totals[e], sum);
            }
            totals[e] = total;
        }
{% else %}
{% for g in range(each // 4) %}
        t{{ g }} = select(op_add_4(t{{ g }}, s{{ g }}), s{{ g }}, is_first);
{% endfor %}
{% endif %}
    }

    let y = y0 + row;
    let x = x0 + column * EACH;
    if (y >= args.height || x >= args.width) {
        return;
    }
    let to = (plane * args.height + y) * args.width + x;
{% for g in range(each // 4) %}
{% if rolled %}
    let r{{ g }} = vec4<Value>({% for e in range(4) %}totals[{{ 4 * g + e }}]{% if e < 3 %}, {% endif %}{% endfor %});
{% else %}
    let r{{ g }} = t{{ g }};
{% endif %}
    if (args.form != 0u && x + {{ 4 * g + 3 }}u < args.width) {
        epilogue4(to + {{ 4 * g }}u, r{{ g }});
    } else {
        for (var e = 0u; e < 4u && x + {{ 4 * g }}u + e < args.width; e++) {
            epilogue1(to + {{ 4 * g }}u + e, r{{ g }}[e]);
        }
    }
{% endfor %}
}
