// Products of matrices: C(i, j) is the sum over k of A(i, k) B(k, j), in blocks of k. A block is a chain of fma in ascending k that starts with +0; blocks are
// added left to right. Integers wrap. A workgroup of {{ side }} x {{ side }} invocations takes a tile of C, and an invocation {{ rm }} rows and {{ rn }} columns of it.
// Tiles of A and B lie in shared memory as vectors of four rows or columns; the next ones are on their way meanwhile.

const TM = {{ side * rm }}u;
const TN = {{ side * rn }}u;
const TK = {{ tk }}u;
{# Vectors of a tile of one k. #}
{% set fours_a = side * rm // 4 %}
{% set fours_b = side * rn // 4 %}
const PITCH_A = {{ fours_a + 1 }}u;    // vectors from one k to the next
const PITCH_B = {{ fours_b + 1 }}u;
const FOURS_A = {{ fours_a * tk }}u;   // vectors of a tile
const FOURS_B = {{ fours_b * tk }}u;
{# Vectors of four rows, and of four columns, of an invocation. #}
{% set down = rm // 4 %}
{% set right = rn // 4 %}

{% if guarded and step != 2 %}
{% include "contract_risky.wgsl" %}
{% endif %}

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
// A product that has few columns: an invocation takes a row of A, of one block of k, and up to four columns of B, which lie in shared memory. Of a row that
// lies in memory as it is, it reads several vectors at once, so that no line of a cache is asked for twice; rows that lie along k come by workgroup memory, so
// that neighbours read neighbours. Sums go to memory by block, of a product that is turned to the place of its transpose.
{% set span = 256 if type == 1 else 512 %}
var<workgroup> few: array<vec4<Value>, {{ span }}>;
{% if along %}
{# Vectors of a row in a tile: a line of a cache. #}
{% set fours = 8 %}
var<workgroup> tile: array<vec4<Value>, {{ 256 * fours }}>;

// Eight neighbours that read the same vector of their rows find it in different banks.
fn place_of(row: u32, four: u32) -> u32 {
    return row * {{ fours }}u + (four ^ (row % {{ fours }}u));
}
{% endif %}
{% if guarded and streams %}
// Flag: the adapter's own fma may not be used with these elements of B.
var<workgroup> risky: atomic<u32>;
{% endif %}

// Sums of up to four columns go on by a term.
fn take(x: Value, y: vec4<Value>, sum: vec4<Value>, count: u32) -> vec4<Value> {
{% if rolled or guarded %}
    var after = sum;
    for (var c = 0u; c < count; c++) {
        after[c] = op_fused(x, y[c], sum[c]);
    }
    return after;
{% else %}
    return fused_4(vec4<Value>(x), y, sum);
{% endif %}
}

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
    let m0 = index % tiles * 256u;
    let i = m0 + lane;
    index /= tiles;
    let part = index % blocks;
    index /= blocks;
    let j = index % bands * 4u;
    let count = min(args.columns - j, 4u);
    let batch = index / bands;
    let a_first = batch * args.a_batch;
    let first = a_first + args.a_row * min(i, args.rows - 1u);
    let other = batch * args.b_batch + args.b_column * j;

    var sum = vec4<Value>();
{% if guarded and streams %}
    if (lane == 0u) {
        atomicStore(&risky, 0u);
    }
    // The least weight of what was multiplied; a sum that had to be careful once may be subnormal from then on.
    var least = vec4<u32>(0xffffffffu);
{% endif %}
    let k_end = min(args.terms, (part + 1u) * args.block);
    for (var start = part * args.block; start < k_end; start += {{ span }}u) {
        let span = min(k_end - start, {{ span }}u);
        workgroupBarrier();
        for (var q = lane; q < span; q += 256u) {
            let at = other + args.b_row * (start + q);
            var y = vec4<Value>();
            for (var c = 0u; c < count; c++) {
                y[c] = load_b1(at + args.b_column * c);
            }
            few[q] = y;
{% if guarded and streams %}
            if (is_risky(y)) {
                atomicStore(&risky, 1u);
            }
{% endif %}
        }
        workgroupBarrier();
        var q = 0u;
{% if streams %}
        let before = sum;
{% if guarded %}
        if (atomicLoad(&risky) != 0u) {
            least = vec4<u32>();
        }
{% endif %}
{% if along %}
        // Brings a tile, and computes with the one before it.
        let whole = span / {{ 4 * fours }}u * {{ 4 * fours }}u;
        var next: array<vec4<Value>, {{ fours }}>;
        for (; q <= whole; q += {{ 4 * fours }}u) {
            if (q > 0u) {
{% for e in range(fours) %}
                tile[place_of(lane / {{ fours }}u + {{ 256 // fours * e }}u, lane % {{ fours }}u)] = next[{{ e }}];
{% endfor %}
                workgroupBarrier();
            }
            if (q < whole) {
{% for e in range(fours) %}
                next[{{ e }}] = load_a4(a_first + args.a_row * min(m0 + lane / {{ fours }}u + {{ 256 // fours * e }}u, args.rows - 1u) + start + q + lane % {{ fours }}u * 4u);
{% endfor %}
            }
            if (q > 0u) {
{% for d in range(fours) %}
                let v{{ d }} = tile[place_of(lane, {{ d }}u)];
{% if guarded %}
                least = min(least, weight_of(v{{ d }}));
{% endif %}
{% for e in range(4) %}
                sum = fused_4(vec4<Value>(v{{ d }}.{{ "xyzw"[e] }}), few[q - {{ 4 * fours - 4 * d - e }}u], sum);
{% endfor %}
{% endfor %}
                workgroupBarrier();
            }
        }
        q = whole;
{% else %}
        for (; q + 32u <= span; q += 32u) {
            let at = first + along * (start + q);
            var v: array<vec4<Value>, 8>;
            if (in_vectors) {
{% for d in range(8) %}
                v[{{ d }}] = load_a4(at + {{ 4 * d }}u);
{% endfor %}
            } else {
{% for d in range(8) %}
                v[{{ d }}] = vec4<Value>({% for e in range(4) %}load_a1(at + {{ 4 * d + e }}u * along){{ "," if e < 3 else "" }} {% endfor %});
{% endfor %}
            }
{% for d in range(8) %}
{% if guarded %}
            least = min(least, weight_of(v[{{ d }}]));
{% endif %}
{% for e in range(4) %}
            sum = fused_4(vec4<Value>(v[{{ d }}].{{ "xyzw"[e] }}), few[q + {{ 4 * d + e }}u], sum);
{% endfor %}
{% endfor %}
        }
{% endif %}
{% if guarded %}
        // Where the adapter's fma might have been wrong, once more from the first term on.
        if (any(least < vec4<u32>(RISKY))) {
            sum = before;
            q = 0u;
        }
{% endif %}
        // One text of a step: what it needs of registers, the loop above would pay for.
        for (; q < span; q++) {
            sum = take(load_a1(first + along * (start + q)), few[q], sum, count);
        }
{% else %}
        for (; q < span; q += 4u) {
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
                sum = take(v[e], few[q + e], sum, count);
            }
        }
{% endif %}
    }
    if (i < args.rows) {
        let place = (batch * blocks + part) * args.rows * args.columns;
        for (var c = 0u; c < count; c++) {
            partials[place + select(i * args.columns + j + c, (j + c) * args.rows + i, (args.form & 32u) != 0u)] = sum[c];
        }
    }
}
{% else %}
var<workgroup> a_tile: array<vec4<Value>, {{ tk * (fours_a + 1) }}>;
var<workgroup> b_tile: array<vec4<Value>, {{ tk * (fours_b + 1) }}>;
{% if guarded %}
// One more than the last block of k in which the adapter's own fma may not be used.
var<workgroup> risky: atomic<u32>;
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

@compute @workgroup_size({{ side * side }})
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
{% set down_warps = side // 8 %}
    let row = (lane / 32u) % {{ down_warps }}u * 8u + (lane / 2u) % 8u;
    let column = (lane / {{ 32 * down_warps }}u) * 4u + lane % 2u + (lane / 16u) % 2u * 2u;

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
{% include "contract_steps.wgsl" %}
        }
        if (k >= end_of_block || !more) {
{% include "contract_add_block.wgsl" %}
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
        let i = m0 + (row + r / 4u * {{ side }}u) * 4u + r % 4u;
        let j = n0 + (column + g % {{ right }}u * {{ side }}u) * 4u;
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
