// The rungs of the textbook's product of matrices: C(i, j) is the sum over k of A(i, k) B(k, j), in blocks of k, each a chain of fma in ascending k from +0;
// blocks are added left to right.
// naive and coalesced: an invocation computes an element from memory. tiled: tiles of both in shared memory. register_tiled: an invocation computes
// 8 rows of a column. vectorised: 4 x 4 elements, from vectors of four.
// A block of k ends where a tile does. All invocations pass all barriers.
{% if rung == 2 %}
const TM = 16u;
const TN = 16u;
const TK = 16u;
{% elif rung == 3 %}
const TM = 64u;
const TN = 32u;
const TK = 8u;
{% else %}
const TM = {{ 64 if rung == 4 else 16 }}u;
const TN = {{ 64 if rung == 4 else 16 }}u;
const TK = 16u;
{% endif %}

fn a_at(batch: u32, i: u32, k: u32) -> f32 {
    return load_a1(batch * args.a_batch + i * args.a_row + k * args.a_column);
}

fn b_at(batch: u32, k: u32, j: u32) -> f32 {
    return load_b1(batch * args.b_batch + k * args.b_row + j * args.b_column);
}

{% if rung == 2 %}
var<workgroup> a_tile: array<f32, 256>;
var<workgroup> b_tile: array<f32, 256>;
{% elif rung == 3 %}
var<workgroup> a_tile: array<f32, 512>;
var<workgroup> b_tile: array<f32, 256>;
{% elif rung == 4 %}
// Rows of A lie side by side.
var<workgroup> a_tile: array<vec4<f32>, {{ 16 * 16 }}>;
var<workgroup> b_tile: array<vec4<f32>, {{ 16 * 16 }}>;
{% endif %}
{# Sums of an invocation: of a block, and of those before it. #}
{% set count = 8 if rung == 3 else (16 if rung == 4 else 1) %}
var<private> sums: array<f32, {{ count }}>;
var<private> totals: array<f32, {{ count }}>;

fn fold(is_first: bool) {
    for (var e = 0u; e < {{ count }}u; e++) {
        let sum = sums[e];
        var total = sum;
        if (!is_first) {
            total = op_add(totals[e], sum);
        }
        totals[e] = total;
        sums[e] = 0.0f;
    }
}

@compute @workgroup_size(256)
fn product_variant(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    var index = (group.z * grid.y + group.y) * grid.x + group.x;
    if (index >= args.groups) {
        return;
    }
    let across = (args.columns + TN - 1u) / TN;
    let down = (args.rows + TM - 1u) / TM;
    let j0 = index % across * TN;
    index /= across;
    let i0 = index % down * TM;
    let batch = index / down;
    var until = args.block;
    var is_first = true;
{% if rung < 2 %}
    let i = i0 + {{ "lane % 16u" if rung == 0 else "lane / 16u" }};
    let j = j0 + {{ "lane / 16u" if rung == 0 else "lane % 16u" }};
    if (i >= args.rows || j >= args.columns) {
        return;
    }
    for (var k = 0u; k < args.terms; k++) {
        sums[0] = op_fused(a_at(batch, i, k), b_at(batch, k, j), sums[0]);
        if (k + 1u == until) {
            fold(is_first);
            is_first = false;
            until += args.block;
        }
    }
    if (is_first || args.terms % args.block != 0u) {
        fold(is_first);
    }
    epilogue1(batch * args.c_batch + i * args.c_row + j, totals[0]);
{% else %}
    for (var k0 = 0u; k0 < args.terms; k0 += TK) {
        let here = min(TK, args.terms - k0);
        workgroupBarrier();
{% if rung == 4 %}
        {
            // Four neighbours along k of a row of A, and of a row of B.
            let i = i0 + lane / 4u;
            let k = k0 + lane % 4u * 4u;
            var v = vec4<f32>();
            if (i < args.rows) {
                if ((args.form & 1u) != 0u && k + 3u < args.terms) {
                    v = load_a4(batch * args.a_batch + i * args.a_row + k);
                } else {
                    for (var e = 0u; e < 4u && k + e < args.terms; e++) {
                        v[e] = a_at(batch, i, k + e);
                    }
                }
            }
            for (var e = 0u; e < 4u; e++) {
                a_tile[(lane % 4u * 4u + e) * 16u + lane / 16u][lane / 4u % 4u] = v[e];
            }
            let row = k0 + lane / 16u;
            let j = j0 + lane % 16u * 4u;
            var w = vec4<f32>();
            if (row < args.terms) {
                if ((args.form & 2u) != 0u && j + 3u < args.columns) {
                    w = load_b4(batch * args.b_batch + row * args.b_row + j);
                } else {
                    for (var e = 0u; e < 4u && j + e < args.columns; e++) {
                        w[e] = b_at(batch, row, j + e);
                    }
                }
            }
            b_tile[lane] = w;
        }
{% else %}
        for (var e = lane; e < TM * TK; e += 256u) {
            let i = i0 + e / TK;
            let k = k0 + e % TK;
            var v = 0.0f;
            if (i < args.rows && k < args.terms) {
                v = a_at(batch, i, k);
            }
            a_tile[e] = v;
        }
        for (var e = lane; e < TK * TN; e += 256u) {
            let k = k0 + e / TN;
            let j = j0 + e % TN;
            var v = 0.0f;
            if (k < args.terms && j < args.columns) {
                v = b_at(batch, k, j);
            }
            b_tile[e] = v;
        }
{% endif %}
        workgroupBarrier();
        for (var q = 0u; q < here; q++) {
{% if rung == 2 %}
            sums[0] = op_fused(a_tile[lane / 16u * TK + q], b_tile[q * TN + lane % 16u], sums[0]);
{% elif rung == 3 %}
            let y = b_tile[q * TN + lane % 32u];
            for (var r = 0u; r < 8u; r++) {
                sums[r] = op_fused(a_tile[(lane / 32u * 8u + r) * TK + q], y, sums[r]);
            }
{% else %}
            let x = a_tile[q * 16u + lane / 16u];
            let y = b_tile[q * 16u + lane % 16u];
            for (var r = 0u; r < 4u; r++) {
                for (var c = 0u; c < 4u; c++) {
                    sums[4u * r + c] = op_fused(x[r], y[c], sums[4u * r + c]);
                }
            }
{% endif %}
        }
        if (k0 + TK == until) {
            fold(is_first);
            is_first = false;
            until += args.block;
        }
    }
    if (is_first || until - args.block < args.terms) {
        fold(is_first);
    }
{% if rung == 4 %}
    let j = j0 + lane % 16u * 4u;
    for (var r = 0u; r < 4u; r++) {
        let i = i0 + lane / 16u * 4u + r;
        if (i < args.rows && j < args.columns) {
            let at = batch * args.c_batch + i * args.c_row + j;
            if ((args.form & 4u) != 0u && j + 3u < args.columns) {
                epilogue4(at, vec4<f32>(totals[4u * r], totals[4u * r + 1u], totals[4u * r + 2u], totals[4u * r + 3u]));
            } else {
                for (var c = 0u; c < 4u && j + c < args.columns; c++) {
                    epilogue1(at + c, totals[4u * r + c]);
                }
            }
        }
    }
{% else %}
    let j = j0 + lane % TN;
    for (var r = 0u; r < {{ count }}u; r++) {
        let i = i0 + lane / TN * {{ count }}u + r;
        if (i < args.rows && j < args.columns) {
            epilogue1(batch * args.c_batch + i * args.c_row + j, totals[r]);
        }
    }
{% endif %}
{% endif %}
}
