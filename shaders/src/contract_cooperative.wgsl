// Products of packed operands by matrix instructions of subgroups: of bytes, of halves, or of the four digits of fixed-point numbers. A workgroup takes a tile of
// the product, a subgroup some fragments of it. Operands come by way of workgroup memory, a stage of k after the other; rows and columns of zeros fill the
// last tile.
// The matrices below are written as naga has them; the line of `@matrices` says what the types and sizes are in the module.
// @matrices factors={{ factors }} m={{ m }} n={{ n }} k={{ k }}

{% set planes = 4 if digits else 1 %}
{% set depth = 32 if digits else 64 %}
{% set step = 2 * k if factors == 0 else k %}
{% set fr = 2 if digits else 4 %}
{% set fc = 2 %}
{% set sc = 2 if digits else 4 %}
{% set rows = 8 * m %}
{% set columns = sc * fc * n %}
{% set threads = 8 * lanes %}
{# Rows of each operand in a stage, and vectors. #}
{% set operands = [("a", rows, rows * depth // 16), ("b", columns, columns * depth // 16)] %}
{% set unit = 4 if step % 16 == 0 else 1 %}
{% set pitch = depth // 4 + 4 %}
{% set in_tile = planes * (rows + columns) * pitch %}
{% set in_sums = 8 * planes * m * n %}
{% set words = in_tile if in_tile > in_sums else in_sums %}
const NOT_FINITE = 255u;     // exponent of a row with an infinite number or NaN
const ROWS = {{ rows }}u;         // of a workgroup's tile
const COLUMNS = {{ columns }}u;
const CHUNKS = {{ depth // 16 }}u;         // vectors of 16 bytes of a row of a stage
const PITCH = {{ pitch }}u;         // words of a row of a stage, of which the last four are there for the banks' sake
const B_TILE = {{ planes * rows * pitch }}u;     // first word of B's
const SUMS = {{ m * n }}u;        // of a fragment
// Words of a packed row after which sums of digits' products might overflow.
const SPAN = {{ 4096 if digits else 0xffffffff }}u;

// Operands of a stage, and then sums.
var<workgroup> tile: array<{{ "vec4<f32>" if unit == 4 else "f32" }}, {{ words // unit }}>;

fn put(at: u32, value: vec4<u32>) {
{% if unit == 4 %}
    tile[at / 4u] = bitcast<vec4<f32>>(value);
{% else %}
{% for e in range(4) %}
    tile[at + {{ e }}u] = bitcast<f32>(value[{{ e }}]);
{% endfor %}
{% endif %}
}

fn sum_bits(at: u32) -> u32 {
    return bitcast<u32>({{ "tile[at / 4u][at % 4u]" if unit == 4 else "tile[at]" }});
}

{% if digits %}
{% include "contract_rounded.wgsl" %}

{% endif %}
@compute @workgroup_size({{ threads }})
fn contract_cooperative(
    @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) thread: u32,
    @builtin(subgroup_id) subgroup: u32, @builtin(subgroup_invocation_id) lane: u32
) {
    let index = (group.z * grid.y + group.y) * grid.x + group.x;
    if (index >= args.groups) {
        return;
    }
    let tiles_m = (args.rows + ROWS - 1u) / ROWS;
    let tiles_n = (args.columns + COLUMNS - 1u) / COLUMNS;
    let of_batch = index % (tiles_m * tiles_n);
    let batch = index / (tiles_m * tiles_n);
    // Eight rows of tiles together, so that what they read stays near.
    let band = of_batch / (8u * tiles_n);
    let in_band = of_batch % (8u * tiles_n);
    let rows_of_band = min(8u, tiles_m - 8u * band);
    let m0 = (8u * band + in_band % rows_of_band) * ROWS;
    let n0 = in_band / rows_of_band * COLUMNS;
    let row_a = select(batch, 0u, (args.alike & 1u) != 0u) * args.padded_rows + m0;
    let row_b = select(batch, 0u, (args.alike & 2u) != 0u) * args.padded_columns + n0;
    // The subgroup's fragments.
    let row = subgroup / {{ sc }}u * {{ fr * m }}u;
    let column = subgroup % {{ sc }}u * {{ fc * n }}u;
    let tile_a = row * PITCH;
    let tile_b = B_TILE + column * PITCH;
    // Vectors of an operand that a thread brings for a stage{{ ", four words of each of the planes" if digits }}.
{% for name, lines, count in operands %}
{% for r in range((count + threads - 1) // threads) %}
    let chunk_{{ name }}{{ r }} = thread + {{ r * threads }}u;
    let from_{{ name }}{{ r }} = {{ "" if digits else "(" }}(row_{{ name }} + chunk_{{ name }}{{ r }} / CHUNKS) * args.pitch + chunk_{{ name }}{{ r }} % CHUNKS * 4u{{ "" if digits else ") / 4u" }};
    let to_{{ name }}{{ r }} = {{ "" if name == "a" else "B_TILE + " }}chunk_{{ name }}{{ r }} / CHUNKS * PITCH + chunk_{{ name }}{{ r }} % CHUNKS * 4u;
{% for p in range(planes) %}
    var {{ name }}{{ r }}_{{ p }} = vec4<u32>();
{% endfor %}
{% endfor %}
{% endfor %}
{% macro fetch(word) %}
{% for name, lines, count in operands %}
{% for r in range((count + threads - 1) // threads) %}
{% set partial = (r + 1) * threads > count %}
{% if partial %}
        if (chunk_{{ name }}{{ r }} < {{ count }}u) {
{% endif %}
{% for p in range(planes) %}
            {{ name }}{{ r }}_{{ p }} = packed_{{ name }}[from_{{ name }}{{ r }} + {{ word }}{{ " + " ~ p ~ "u" if digits else " / 4u" }}];
{% endfor %}
{% if partial %}
        }
{% endif %}
{% endfor %}
{% endfor %}
{% endmacro %}
    for (var start = 0u; start < args.pitch; start += min(SPAN, args.pitch)) {
        let end = min(args.pitch - start, SPAN) + start;
{% for l in range(planes) %}{% for r in range(fr) %}{% for c in range(fc) %}
        var s{{ l }}_{{ r }}_{{ c }} = coop_mat16x16<f32, C>();
{% endfor %}{% endfor %}{% endfor %}
{{ fetch("start") }}
        for (var word = start; word < end; word += {{ depth // 4 }}u) {
            workgroupBarrier();
{% for name, lines, count in operands %}
{% for r in range((count + threads - 1) // threads) %}
{% set partial = (r + 1) * threads > count %}
{% if partial %}
            if (chunk_{{ name }}{{ r }} < {{ count }}u) {
{% endif %}
{% for p in range(planes) %}
{% if digits %}
            put(to_{{ name }}{{ r }} + {{ p * lines * pitch }}u, vec4<u32>({{ name }}{{ r }}_0[{{ p }}], {{ name }}{{ r }}_1[{{ p }}], {{ name }}{{ r }}_2[{{ p }}], {{ name }}{{ r }}_3[{{ p }}]));
{% else %}
            put(to_{{ name }}{{ r }}, {{ name }}{{ r }}_0);
{% endif %}
{% endfor %}
{% if partial %}
            }
{% endif %}
{% endfor %}
{% endfor %}
            workgroupBarrier();
            // The next stage's, while this one's are multiplied.
            if (word + {{ depth // 4 }}u < end) {
                let next = word + {{ depth // 4 }}u;
{{ fetch("next") }}
            }
{% for f in range(depth // step) %}
            {
{% for q in range(planes) %}{% for c in range(fc) %}
                let y{{ q }}_{{ c }} = coopLoad<coop_mat16x16<f32, B>>(&tile[(tile_b + {{ (q * columns + c * n) * pitch + f * step // 4 }}u) / {{ unit }}u], PITCH / {{ unit }}u);
{% endfor %}{% endfor %}
{% for p in range(planes) %}{% for r in range(fr) %}
                let x{{ p }}_{{ r }} = coopLoadT<coop_mat16x16<f32, A>>(&tile[(tile_a + {{ (p * rows + r * m) * pitch + f * step // 4 }}u) / {{ unit }}u], PITCH / {{ unit }}u);
{% endfor %}
{% for q in range(planes - p) %}{% for r in range(fr) %}{% for c in range(fc) %}
                s{{ p + q }}_{{ r }}_{{ c }} = coopMultiplyAdd(x{{ p }}_{{ r }}, y{{ q }}_{{ c }}, s{{ p + q }}_{{ r }}_{{ c }});
{% endfor %}{% endfor %}{% endfor %}
{% endfor %}
            }
{% endfor %}
        }
        // Sums go where the operands were, a fragment of each subgroup after the other.
{% for r in range(fr) %}{% for c in range(fc) %}
        workgroupBarrier();
{% for l in range(planes) %}
        coopStoreT(s{{ l }}_{{ r }}_{{ c }}, &tile[(subgroup * {{ planes }}u + {{ l }}u) * SUMS / {{ unit }}u], {{ n }}u / {{ unit }}u);
{% endfor %}
        workgroupBarrier();
        for (var e = lane; e < SUMS; e += {{ lanes }}u) {
            let i = row + {{ r * m }}u + e / {{ n }}u;
            let j = column + {{ c * n }}u + e % {{ n }}u;
            let at = subgroup * {{ planes }}u * SUMS + e;
{% if digits %}
            var total = joined(bitcast<vec4<i32>>(vec4<u32>(sum_bits(at), sum_bits(at + SUMS), sum_bits(at + 2u * SUMS), sum_bits(at + 3u * SUMS))));
{% if many %}
            let place = (index * ROWS + i) * COLUMNS + j;
            if (start > 0u) {
                total = sum64(total, totals[place]);
            }
            if (end < args.pitch) {
                totals[place] = total;
            } else
{% endif %}
            if ((m0 + i < args.rows) & (n0 + j < args.columns)) {
                let of_row = exponents[row_a + i];
                let of_column = exponents[args.exponents + row_b + j];
                let bits = rounded(total, i32(of_row + of_column) - 288);
                let value = select(bits, 0x7fc00000u, max(of_row, of_column) == NOT_FINITE);
                epilogue1(batch * args.c_batch + (m0 + i) * args.c_row + n0 + j, bitcast<f32>(value));
            }
{% else %}
            if ((m0 + i < args.rows) & (n0 + j < args.columns)) {
                epilogue1(batch * args.c_batch + (m0 + i) * args.c_row + n0 + j, bitcast<Value>(sum_bits(at)));
            }
{% endif %}
        }
{% endfor %}{% endfor %}
    }
}
