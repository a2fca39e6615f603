// Operands in words, and fixed-point products of matrices. A number is scaled by the greatest magnitude of its row of A, or column of B, rounded to 30 bits,
// and cut into four balanced digits of base 256. Of the products of digits those of the four highest levels are summed, exactly, and the sum is rounded once.
// A packed word has the digits of four numbers in ascending k, in a vector of the four planes; rows and columns of zeros fill the last tile.

const SIDE = 64u;          // rows of a tile
const PART = 256u;         // k of a part of a row whose greatest magnitude is found by itself
const NOT_FINITE = 255u;   // exponent of a row with an infinite number or NaN

{% if step < 2 %}
{% set depth = 32 if step == 1 else 64 %}
{% set name = "b" if right else "a" %}
{% if step == 0 %}
var<workgroup> most: array<atomic<u32>, 64>;
{% else %}
var<workgroup> cells: array<u32, {{ 64 * 33 }}>;
{% if kind == 1 %}
var<workgroup> exponents_of_rows: array<u32, 64>;

// The four digits of a number of a row whose greatest magnitude has this exponent, the highest one in the lowest byte.
fn digits(bits: u32, exponent: u32) -> u32 {
    let biased = (bits << 1u) >> 24u;
    let apart = min(exponent - max(biased, 1u), 31u);
    let whole = ((bits & 0x7fffffu) | select(0x800000u, 0u, biased == 0u)) << 6u;
    let kept = whole >> apart;
    let rest = whole & ((1u << apart) - 1u);
    let half = (1u << apart) >> 1u;
    let up = (apart > 0u) & ((rest > half) | ((rest == half) & ((kept & 1u) == 1u)));
    let magnitude = i32(kept + select(0u, 1u, up));
    var left = select(magnitude, -magnitude, (bits >> 31u) == 1u);
    var word = 0u;
    for (var d = 3u; d > 0u; d--) {
        let digit = (left << 24u) >> 24u;
        word |= u32(digit & 255) << (8u * d);
        left = (left - digit) >> 8u;
    }
    return select(word | u32(left & 255), 0u, exponent == NOT_FINITE);
}
{% endif %}
{% endif %}

{% if step == 1 and halves %}
// The bits of a number that an f16 has, or of an infinite one or NaN.
fn half_bits(value: f32) -> u32 {
    let bits = bitcast<u32>(value);
    let size = bits & 0x7fffffffu;
    let normal = (size >> 13u) - 0x1c000u;
    let subnormal = ((size & 0x7fffffu) | 0x800000u) >> min(126u - (size >> 23u), 31u);
    let number = select(normal, subnormal, size < 0x38800000u);
    let special = select(0x7c00u, 0x7e00u, size > 0x7f800000u);
    return ((bits >> 16u) & 0x8000u) | select(number, special, size >= 0x7f800000u);
}

{% endif %}
// Groups take tiles along k, then tiles of rows, then matrices. Neighbours of a tile's cells are neighbours in memory.
@compute @workgroup_size(256)
fn contract_{{ "pack" if step == 1 else "greatest" }}(
    @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32
) {
    let index = (group.z * grid.y + group.y) * grid.x + group.x;
    if (index >= args.groups) {
        return;
    }
    let along = args.column == 1u;
    let parts = (args.terms + PART - 1u) / PART;
{% if step == 0 %}
    let tiles = parts;
    let k0 = index % tiles * PART;
{% else %}
    let tiles = args.pitch * {{ 2 if halves else 4 }}u / SIDE;
    let k0 = index % tiles * SIDE;
{% endif %}
    let row0 = index / tiles % (args.padded / SIDE) * SIDE;
    let batch = index / tiles / (args.padded / SIDE);
    let first = batch * args.batch;
{% if step == 0 %}
    if (lane < SIDE) {
        atomicStore(&most[lane], 0u);
    }
    workgroupBarrier();
    for (var k = k0; k < k0 + PART; k += {{ depth }}u) {
        for (var x = lane; x < SIDE * {{ depth }}u; x += 256u) {
            let i = select(x % SIDE, x / {{ depth }}u, along);
            let q = select(x / SIDE, x % {{ depth }}u, along);
            if ((row0 + i < args.rows) & (k + q < args.terms)) {
                let bits = (bitcast<u32>(load_{{ name }}1(first + args.row * (row0 + i) + args.column * (k + q))) << 1u) >> 1u;
                // Most elements are less than what is there already.
                if (bits > atomicLoad(&most[i])) {
                    atomicMax(&most[i], bits);
                }
            }
        }
    }
    workgroupBarrier();
    if (lane < SIDE) {
        greatest[(batch * parts + index % tiles) * args.padded + row0 + lane] = atomicLoad(&most[lane]);
    }
{% else %}
{% if kind == 1 %}
    if (lane < SIDE) {
        var most = 0u;
        for (var part = 0u; part < parts; part++) {
            most = max(most, greatest[(batch * parts + part) * args.padded + row0 + lane]);
        }
        let exponent = max(most >> 23u, 1u);
        exponents_of_rows[lane] = exponent;
        if (k0 == 0u) {
            exponents[args.exponents + batch * args.padded + row0 + lane] = exponent;
        }
    }
{% endif %}
    // Two halves of a tile, one after the other.
    for (var half = 0u; half < 2u; half++) {
        let k = k0 + half * {{ depth }}u;
        workgroupBarrier();
        for (var x = lane; x < SIDE * {{ depth }}u; x += 256u) {
            let i = select(x % SIDE, x / {{ depth }}u, along);
            let q = select(x / SIDE, x % {{ depth }}u, along);
            var word = 0u;
            if ((row0 + i < args.rows) & (k + q < args.terms)) {
                let value = load_{{ name }}1(first + args.row * (row0 + i) + args.column * (k + q));
{% if kind == 1 %}
                word = digits(bitcast<u32>(value), exponents_of_rows[i]);
{% elif halves %}
                word = half_bits(value);
{% else %}
                word = u32(value) & 255u;
{% endif %}
            }
            cells[i * 33u + q] = word;
        }
        workgroupBarrier();
{% if kind == 1 %}
        for (var x = lane; x < SIDE * {{ depth // 4 }}u; x += 256u) {
            let i = x / {{ depth // 4 }}u;
            let w = x % {{ depth // 4 }}u;
            var planes = vec4<u32>();
            for (var e = 0u; e < 4u; e++) {
                let cell = cells[i * 33u + 4u * w + e];
                planes |= (vec4<u32>(cell, cell >> 8u, cell >> 16u, cell >> 24u) & vec4<u32>(255u)) << vec4<u32>(8u * e);
            }
            packed[(batch * args.padded + row0 + i) * args.pitch + k / 4u + w] = planes;
        }
{% else %}
{% set each = 2 if halves else 4 %}
        for (var x = lane; x < SIDE * {{ depth // each }}u; x += 256u) {
            let i = x / {{ depth // each }}u;
            let w = x % {{ depth // each }}u;
            var word = 0u;
            for (var e = 0u; e < {{ each }}u; e++) {
                word |= cells[i * 33u + {{ each }}u * w + e] << ({{ 32 // each }}u * e);
            }
            packed[(batch * args.padded + row0 + i) * args.pitch + k / {{ each }}u + w] = word;
        }
{% endif %}
    }
{% endif %}
}
{% else %}
// Words of k of a tile, and after how many sums of 32 bits might overflow.
const DEPTH = 4u;
const SPAN = 4096u;

var<workgroup> a_tile: array<vec4<u32>, {{ 4 * 64 }}>;
var<workgroup> b_tile: array<vec4<u32>, {{ 4 * 64 }}>;

// The sums of each level of the products of four numbers' digits.
fn levels(x: vec4<u32>, y: vec4<u32>) -> vec4<i32> {
    return vec4<i32>(
        dot4I8Packed(x.x, y.x),
        dot4I8Packed(x.x, y.y) + dot4I8Packed(x.y, y.x),
        dot4I8Packed(x.x, y.z) + dot4I8Packed(x.y, y.y) + dot4I8Packed(x.z, y.x),
        dot4I8Packed(x.x, y.w) + dot4I8Packed(x.y, y.z) + dot4I8Packed(x.z, y.y) + dot4I8Packed(x.w, y.x)
    );
}

{% include "contract_rounded.wgsl" %}

@compute @workgroup_size(256)
fn contract_fixed(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let index = (group.z * grid.y + group.y) * grid.x + group.x;
    if (index >= args.groups) {
        return;
    }
    let tiles_m = (args.rows + 63u) / 64u;
    let tiles_n = (args.columns + 63u) / 64u;
    let tile = index % (tiles_m * tiles_n);
    let batch = index / (tiles_m * tiles_n);
    // Eight rows of tiles together, so that what they read stays near.
    let band = tile / (8u * tiles_n);
    let in_band = tile % (8u * tiles_n);
    let of_band = min(8u, tiles_m - 8u * band);
    let m0 = (8u * band + in_band % of_band) * 64u;
    let n0 = in_band / of_band * 64u;
    let row_a = select(batch, 0u, (args.alike & 1u) != 0u) * args.padded_rows + m0;
    let row_b = select(batch, 0u, (args.alike & 2u) != 0u) * args.padded_columns + n0;
    let row = lane / 16u;
    let column = lane % 16u;

{% for r in range(4) %}
{% for c in range(4) %}
    var s{{ r }}_{{ c }} = vec4<i32>();
    var t{{ r }}_{{ c }} = vec2<u32>();
{% endfor %}
{% endfor %}
    let from_a = (row_a + lane / DEPTH) * args.pitch + lane % DEPTH;
    let from_b = (row_b + lane / DEPTH) * args.pitch + lane % DEPTH;
    for (var start = 0u; start < args.pitch; start += SPAN) {
        let end = min(args.pitch, start + SPAN);
        for (var word = start; word < end; word += DEPTH) {
            let next_a = packed_a[from_a + word];
            let next_b = packed_b[from_b + word];
            workgroupBarrier();
            a_tile[lane % DEPTH * 64u + lane / DEPTH] = next_a;
            b_tile[lane % DEPTH * 64u + lane / DEPTH] = next_b;
            workgroupBarrier();
            for (var q = 0u; q < DEPTH; q++) {
{% for r in range(4) %}
                let x{{ r }} = a_tile[q * 64u + row + {{ 16 * r }}u];
                let y{{ r }} = b_tile[q * 64u + column + {{ 16 * r }}u];
{% endfor %}
{% for r in range(4) %}
{% for c in range(4) %}
                s{{ r }}_{{ c }} += levels(x{{ r }}, y{{ c }});
{% endfor %}
{% endfor %}
            }
        }
{% for r in range(4) %}
{% for c in range(4) %}
        t{{ r }}_{{ c }} = sum64(t{{ r }}_{{ c }}, joined(s{{ r }}_{{ c }}));
        s{{ r }}_{{ c }} = vec4<i32>();
{% endfor %}
{% endfor %}
    }
    var totals: array<vec2<u32>, 16>;
{% for r in range(4) %}
{% for c in range(4) %}
    totals[{{ 4 * r + c }}] = t{{ r }}_{{ c }};
{% endfor %}
{% endfor %}
    for (var e = 0u; e < 16u; e++) {
        let i = row + e / 4u * 16u;
        let j = column + e % 4u * 16u;
        if ((m0 + i < args.rows) & (n0 + j < args.columns)) {
            let of_row = exponents[row_a + i];
            let of_column = exponents[args.exponents + row_b + j];
            let bits = rounded(totals[e], i32(of_row + of_column) - 288);
            let value = select(bits, 0x7fc00000u, max(of_row, of_column) == NOT_FINITE);
            epilogue1(batch * args.c_batch + (m0 + i) * args.c_row + n0 + j, bitcast<f32>(value));
        }
    }
}
{% endif %}
