// Products of matrices: C(i, j) is the sum over k of A(i, k) B(k, j), in blocks of k. A block is a chain of fma in ascending k that starts with +0; blocks are
// added left to right. Integers wrap. A workgroup of 16 x 16 invocations takes a tile of C, and an invocation {{ rm }} rows and {{ rn }} columns of it.
// Tiles of A and B lie in shared memory as vectors of four rows or columns; the next ones are on their way meanwhile.

const TM = {{ 16 * rm }}u;
const TN = {{ 16 * rn }}u;
const TK = {{ tk }}u;
const PITCH_A = {{ 4 * rm + 1 }}u;    // vectors from one k to the next
const PITCH_B = {{ 4 * rn + 1 }}u;
const FOURS_A = {{ 4 * rm * tk }}u;   // vectors of a tile
const FOURS_B = {{ 4 * rn * tk }}u;
{# Vectors of four rows, and of four columns, of an invocation. #}
{% set down = rm // 4 %}
{% set right = rn // 4 %}

{% if step == 2 %}
@compute @workgroup_size(256)
fn contract_fold(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let i = ((group.z * grid.y + group.y) * grid.x + group.x) * 256u + lane;
    if (i >= args.n) {
        return;
    }
    let of_one = args.rows * args.columns;
    let batch = i / of_one;
    let place = i % of_one;
    let blocks = (args.terms + args.block - 1u) / args.block;
    let first = batch * blocks * of_one + place;
    var total = partials[first];
    for (var b = 1u; b < blocks; b++) {
        total = op_add(total, partials[first + b * of_one]);
    }
    epilogue1(batch * args.c_batch + place / args.columns * args.c_row + place % args.columns, total);
}
{% elif step == 1 %}
// A product that has few columns: an invocation takes a row of A, of one block of k, and up to four columns of B, which lie in shared memory. Sums go to
// memory by block, of a product that is turned to the place of its transpose.
{% set span = 256 if type == 1 else 512 %}
var<workgroup> few: array<Value, {{ 4 * span }}>;

@compute @workgroup_size(256)
fn contract_thin(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    var index = (group.z * grid.y + group.y) * grid.x + group.x;
    if (index >= args.groups) {
        return;
    }
    let in_vectors = (args.form & 16u) != 0u;
    let along = args.a_column;
    let blocks = (args.terms + args.block - 1u) / args.block;
    let tiles = (args.rows + 255u) / 256u;
    let bands = (args.columns + 3u) / 4u;
    let i = index % tiles * 256u + lane;
    index /= tiles;
    let part = index % blocks;
    index /= blocks;
    let j = index % bands * 4u;
    let count = min(args.columns - j, 4u);
    let batch = index / bands;
    let first = batch * args.a_batch + args.a_row * min(i, args.rows - 1u);
    let other = batch * args.b_batch + args.b_column * j;

    var sum = vec4<Value>();
    let k_end = min(args.terms, (part + 1u) * args.block);
    for (var start = part * args.block; start < k_end; start += {{ span }}u) {
        let span = min(k_end - start, {{ span }}u);
        workgroupBarrier();
        for (var e = lane; e < count * {{ span }}u; e += 256u) {
            let q = e % {{ span }}u;
            if (q < span) {
                few[e] = load_b1(other + args.b_column * (e / {{ span }}u) + args.b_row * (start + q));
            }
        }
        workgroupBarrier();
        for (var q = 0u; q < span; q += 4u) {
            let at = first + along * (start + q);
            let here = min(span - q, 4u);
            var v = vec4<Value>();
            if (in_vectors && here == 4u) {
                v = load_a4(at);
            } else {
                for (var e = 0u; e < here; e++) {
                    v[e] = load_a1(at + along * e);
                }
            }
            for (var e = 0u; e < here; e++) {
                for (var c = 0u; c < count; c++) {
                    sum[c] = op_fused(v[e], few[c * {{ span }}u + q + e], sum[c]);
                }
            }
        }
    }
    if (i < args.rows) {
        let place = (batch * blocks + part) * args.rows * args.columns;
        for (var c = 0u; c < count; c++) {
            partials[place + select(i * args.columns + j + c, (j + c) * args.rows + i, (args.form & 32u) != 0u)] = sum[c];
        }
    }
}
{% else %}
var<workgroup> a_tile: array<vec4<Value>, {{ tk * (4 * rm + 1) }}>;
var<workgroup> b_tile: array<vec4<Value>, {{ tk * (4 * rn + 1) }}>;
{% if guarded %}
// One more than the last block of k in which the adapter's own fma may not be used.
var<workgroup> risky: atomic<u32>;

// Zero, or at least 2^-40: products of such numbers are multiples of 2^-126, and so are their sums, of which none is subnormal then.
fn is_risky(v: vec4<f32>) -> bool {
    return any(((bitcast<vec4<u32>>(v) << vec4<u32>(1u)) - vec4<u32>(1u)) < vec4<u32>((87u << 24u) - 1u));
}
{% endif %}

{# Four neighbours across of an operand, of one k. What is behind the last k is -0 of A, and +0 of B: their product changes no sum, nor its sign. #}
{% for name, across, along, size, bit, missing in [["a", "a_row", "a_column", "rows", 1, "no_a()"], ["b", "b_column", "b_row", "columns", 2, "vec4<Value>()"]] %}
fn fetch_{{ name }}(first: u32, i: u32, k: u32, k_end: u32) -> vec4<Value> {
    let at = first + args.{{ across }} * i + args.{{ along }} * k;
    var v = {{ missing }};
    if (k < k_end) {
        if ((args.form & {{ bit }}u) != 0u && i + 3u < args.{{ size }}) {
            v = load_{{ name }}4(at);
        } else {
            for (var e = 0u; e < 4u && i + e < args.{{ size }}; e++) {
                v[e] = load_{{ name }}1(at + args.{{ across }} * e);
            }
        }
    }
    return v;
}
{% endfor %}

{# Sums are variables of their own, so that they stay in registers; where fma is emulated they are an array, which a loop goes over. #}
{% if rolled %}
var<private> sums: array<vec4<Value>, {{ rm * right }}>;
var<private> totals: array<vec4<Value>, {{ rm * right }}>;
{% endif %}

@compute @workgroup_size(256)
fn contract(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    var index = (group.z * grid.y + group.y) * grid.x + group.x;
    if (index >= args.groups) {
        return;
    }
    let tiles_m = (args.rows + TM - 1u) / TM;
    let tiles_n = (args.columns + TN - 1u) / TN;
    let blocks = max((args.terms + args.block - 1u) / args.block, 1u);
    let tile = index % (tiles_m * tiles_n);
    index /= tiles_m * tiles_n;
{% if split %}
    let part = index % blocks;
    let batch = index / blocks;
    let k_first = part * args.block;
    let k_end = min(args.terms, k_first + args.block);
{% else %}
    let batch = index;
    let k_first = 0u;
    let k_end = args.terms;
{% endif %}
    // Eight rows of tiles together, so that what they read stays near.
    let band = tile / (8u * tiles_n);
    let in_band = tile % (8u * tiles_n);
    let of_band = min(8u, tiles_m - 8u * band);
    let m0 = (8u * band + in_band % of_band) * TM;
    let n0 = in_band / of_band * TN;

    // Neighbours are neighbours in memory.
    let a_along = args.a_column == 1u;
    let b_along = args.b_row == 1u;
    let a_k = select(lane / (TM / 4u), lane % TK, a_along);
    let a_i = select(lane % (TM / 4u), lane / TK, a_along);
    let b_k = select(lane / (TN / 4u), lane % TK, b_along);
    let b_i = select(lane % (TN / 4u), lane / TK, b_along);
    let a_first = batch * args.a_batch;
    let b_first = batch * args.b_batch;
    // Lanes that differ in their lowest bit read the same of A, those that differ in the next one the same of B.
    let row = (lane / 32u) % 2u * 8u + (lane / 2u) % 8u;
    let column = (lane / 64u) * 4u + lane % 2u + (lane / 16u) % 2u * 2u;

{% if not rolled %}
{% for r in range(rm) %}
{% for c in range(right) %}
    var s{{ r }}_{{ c }} = vec4<Value>();
    var t{{ r }}_{{ c }} = vec4<Value>();
{% endfor %}
{% endfor %}
{% endif %}
{% if guarded %}
    // Workgroup memory holds what another left; a barrier precedes the first tile.
    if (lane == 0u) {
        atomicStore(&risky, 0u);
    }
{% endif %}
    var block = 0u;
    var end_of_block = k_first + args.block;
    var next_a = no_a();
    var next_b = vec4<Value>();
    // Brings a tile of k, and computes with the one before it.
    for (var k = k_first; ; k += TK) {
        let more = k < k_end;
        if (more) {
            if (lane < FOURS_A) {
                next_a = fetch_a(a_first, m0 + 4u * a_i, k + a_k, k_end);
            }
            if (lane < FOURS_B) {
                next_b = fetch_b(b_first, n0 + 4u * b_i, k + b_k, k_end);
            }
        }
        if (k > k_first) {
{% if rolled %}
            let count = min(TK, k_end - (k - TK));
            for (var q = 0u; q < count; q++) {
                for (var g = 0u; g < {{ rm * right }}u; g++) {
                    let r = g / {{ right }}u;
                    let x = a_tile[q * PITCH_A + row + r / 4u * 16u][r % 4u];
                    let y = b_tile[q * PITCH_B + column + g % {{ right }}u * 16u];
                    let before = sums[g];
                    var after = before;
                    for (var e = 0u; e < 4u; e++) {
                        after[e] = op_fused(x, y[e], before[e]);
                    }
                    sums[g] = after;
                }
            }
{% else %}
{% if guarded %}
            if (atomicLoad(&risky) == block + 1u) {
                for (var q = 0u; q < TK; q++) {
{% for r4 in range(down) %}
                    let x{{ r4 }} = a_tile[q * PITCH_A + row + {{ 16 * r4 }}u];
{% endfor %}
{% for c in range(right) %}
                    let y{{ c }} = b_tile[q * PITCH_B + column + {{ 16 * c }}u];
{% endfor %}
{% for r in range(rm) %}
{% for c in range(right) %}
                    s{{ r }}_{{ c }} = careful(x{{ r // 4 }}.{{ "xyzw"[r % 4] }}, y{{ c }}, s{{ r }}_{{ c }});
{% endfor %}
{% endfor %}
                }
            } else {
{% else %}
            {
{% endif %}
                for (var q = 0u; q < TK; q++) {
{% for r4 in range(down) %}
                    let x{{ r4 }} = a_tile[q * PITCH_A + row + {{ 16 * r4 }}u];
{% endfor %}
{% for c in range(right) %}
                    let y{{ c }} = b_tile[q * PITCH_B + column + {{ 16 * c }}u];
{% endfor %}
{% for r in range(rm) %}
{% for c in range(right) %}
                    s{{ r }}_{{ c }} = fused_4(vec4<Value>(x{{ r // 4 }}.{{ "xyzw"[r % 4] }}), y{{ c }}, s{{ r }}_{{ c }});
{% endfor %}
{% endfor %}
                }
            }
{% endif %}
        }
        if (k >= end_of_block || !more) {
{% if rolled %}
            for (var g = 0u; g < {{ rm * right }}u; g++) {
                let sum = sums[g];
                let before = totals[g];
                var total = sum;
                if (block > 0u) {
                    for (var e = 0u; e < 4u; e++) {
                        total[e] = op_add(before[e], sum[e]);
                    }
                }
                totals[g] = total;
                sums[g] = vec4<Value>();
            }
{% else %}
            if (block > 0u) {
{% for r in range(rm) %}
{% for c in range(right) %}
                t{{ r }}_{{ c }} = op_add_4(t{{ r }}_{{ c }}, s{{ r }}_{{ c }});
{% endfor %}
{% endfor %}
            } else {
{% for r in range(rm) %}
{% for c in range(right) %}
                t{{ r }}_{{ c }} = s{{ r }}_{{ c }};
{% endfor %}
{% endfor %}
            }
{% for r in range(rm) %}
{% for c in range(right) %}
            s{{ r }}_{{ c }} = vec4<Value>();
{% endfor %}
{% endfor %}
{% endif %}
            block++;
            end_of_block += args.block;
        }
        if (!more) {
            break;
        }
        workgroupBarrier();
        if (lane < FOURS_A) {
            a_tile[a_k * PITCH_A + a_i] = next_a;
        }
        if (lane < FOURS_B) {
            b_tile[b_k * PITCH_B + b_i] = next_b;
        }
{% if guarded %}
        if (is_risky(next_a) || is_risky(next_b)) {
            atomicMax(&risky, block + 1u);
        }
{% endif %}
        workgroupBarrier();
    }

{% if not rolled %}
    var totals = array<vec4<Value>, {{ rm * right }}>({% for r in range(rm) %}{% for c in range(right) %}t{{ r }}_{{ c }}, {% endfor %}{% endfor %});
{% endif %}
    for (var g = 0u; g < {{ rm * right }}u; g++) {
        let r = g / {{ right }}u;
        let i = m0 + (row + r / 4u * 16u) * 4u + r % 4u;
        let j = n0 + (column + g % {{ right }}u * 16u) * 4u;
        if (i >= args.rows || j >= args.columns) {
            continue;
        }
        let total = totals[g];
{% if split %}
        let at = ((batch * blocks + part) * args.rows + i) * args.columns + j;
        for (var e = 0u; e < 4u && j + e < args.columns; e++) {
            partials[at + e] = total[e];
        }
{% else %}
        let at = batch * args.c_batch + i * args.c_row + j;
        if ((args.form & 4u) != 0u && j + 3u < args.columns) {
            epilogue4(at, total);
        } else {
            for (var e = 0u; e < 4u && j + e < args.columns; e++) {
                epilogue1(at + e, total[e]);
            }
        }
{% endif %}
    }
}
{% endif %}
