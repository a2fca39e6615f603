// Image filters on [height, width, channels] of u8 or f32, channels interleaved, a fourth one copied: weighted sums of 3x3 and 5x5,
// Sobel magnitude, 3x3 median. Order: a sum starts with the first product, rounded, and goes on by fma over rows top to bottom, columns left to
// right. u8 results are floor(v + 0.5), saturated. Taps outside the image: nearest edge pixel, zero, or reflected about the edge pixel.
// An invocation takes {{ n }} samples of a row and slides down a strip of rows, so that a row is read once in a strip.

const N = {{ n }}u;                   // samples of an invocation
const CHANNELS = {{ c }}i;
const RADIUS = {{ radius }}i;
const SIDE = {{ radius * c }}i;       // samples that a window reaches beyond them
{% set v = n + 2 * radius * c %}
{% set k_ = 2 * radius + 1 %}
{% set fma = "iw_fma_native" if normal or guarded else "iw_fma" %}
{# Sums and products in their exact forms, where the device's own would take subnormal numbers for zeros, and there may be some. #}
{% set careful = exact and not normal %}
{# An fma in integers is a hundred operations, and a window many of them: it stands in the kernel once, for all samples. #}
{% set careful_too = guarded or rolled %}
{% if median %}
alias Value = u32;
{% else %}
alias Value = f32;
{% endif %}
alias Line = array<Value, {{ v }}>;
{# Where much is computed of a row, the next one is on its way meanwhile. #}
{% set ahead = wide and sobel %}
// A row as it is read: bits of samples, or words of bytes, the first sample at this bit.
{% set words = (v + 6) // 4 %}
{% set start_bit = (400 - radius * c) % 4 * 8 if in_vector else 0 %}
alias Row = array<u32, {{ v if wide else words }}>;

// The index that a tap at i reads, or -1 for zero. Without a branch: it stands in the kernel for each sample of a window.
fn resolve(i: i32, n: i32) -> i32 {
{% if border == 0 %}
    return clamp(i, 0i, n - 1i);
{% elif border == 1 %}
    return select(-1i, i, (i >= 0i) & (i < n));
{% elif border == 3 %}
    return ((i % n) + n) % n;
{% else %}
    let period = max(2i * (n - 1i), 1i);
    let k = ((i % period) + period) % period;
    return min(k, period - k);
{% endif %}
}

// A sample's bits as what is computed with.
fn value(bits: u32) -> Value {
{% if median and wide %}
    // Integers in the order of the floats, -0 below +0: -inf is 0, and NaN of either sign are above +inf.
    let order = bitcast<i32>(bits);
    return bitcast<u32>(order ^ ((order >> 31u) & 0x7fffffffi)) + 0x7f800001u;
{% elif median %}
    return bits;
{% elif wide %}
    return bitcast<f32>(bits);
{% else %}
    // The float 2^23 + bits, less 2^23: exact, and faster than a conversion.
    return bitcast<f32>(0x4b000000u | bits) - 8388608.0f;
{% endif %}
}

// A result as the bits of a sample.
fn result(v: Value) -> u32 {
{% if median and wide %}
    let order = bitcast<i32>(v - 0x7f800001u);
    return bitcast<u32>(order ^ ((order >> 31u) & 0x7fffffffi));
{% elif median %}
    return v;
{% elif wide %}
    return bitcast<u32>(iw_canonical(v));
{% else %}
    // By bits, since NaN (which becomes 0) may not be compared.
    let r = v + 0.5f;
    let bits = bitcast<u32>(r);
    let below = bits < 0x43800000u;
    let whole = {% if exact %}iw_exact_cast_f32_u32(r){% else %}u32(select(0.0f, r, below)){% endif %};
    return select(select(0u, 255u, bits <= 0x7f800000u), whole, below);
{% endif %}
}

{% if median %}
fn results(v: array<Value, {{ n }}>) -> array<u32, {{ n }}> {
    var bits = array<u32, {{ n }}>({% for k in range(n) %}result(v[{{ k }}]), {% endfor %});
{% if wide %}
    // NaN is canonical. One test for all: it is rare.
    const INFINITY = 0xff000001u;
    if ({% for k in range(n) %}{{ "max(" if not loop.last }}v[{{ k }}]{{ ", " if not loop.last }}{% endfor %}{{ ")" * (n - 1) }} > INFINITY) {
{% for k in range(n) %}
        bits[{{ k }}] = select(bits[{{ k }}], 0x7fc00000u, v[{{ k }}] > INFINITY);
{% endfor %}
    }
{% endif %}
    return bits;
}

{% endif %}
// The bits of sample `at` of the input.
fn sample(at: u32) -> u32 {
{% if wide and in_vector %}
    return b1[at >> 2u][at & 3u];
{% elif wide %}
    return b1[at];
{% else %}
    return (b1[at >> 2u] >> ((at & 3u) * 8u)) & 0xffu;
{% endif %}
}

// Samples s - SIDE .. s + N + SIDE of row y, by the border's rule.
fn load_row(y: i32, s: i32) -> Row {
    let row = resolve(y, i32(args.height));
    if (row < 0i) {
        return Row();
    }
{% if border == 3 %}
    // After the image's last row comes its first.
    let held = u32(row) + select(0u, args.height, u32(row) < args.first_row) - args.first_row;
{% else %}
    let held = u32(row) - args.first_row;
{% endif %}
    let start = args.skip1 + held * args.pitch;
    if (s >= SIDE && s + i32(N) + SIDE <= i32(args.pitch)) {
        let at = start + u32(s - SIDE);
{% if wide and in_vector %}
{% for q in range(n // 4) %}
        let own{{ q }} = b1[(at + {{ radius * c + 4 * q }}u) >> 2u];
{% endfor %}
        return Row(
{% for k in range(v) %}
{% set own = k - radius * c %}
            {% if own >= 0 and own < n %}own{{ own // 4 }}[{{ own % 4 }}]{% else %}b1[(at + {{ k }}u) >> 2u][{{ (k + 400 - radius * c) % 4 }}]{% endif %},
{% endfor %}
        );
{% elif wide %}
        return Row({% for k in range(v) %}b1[at + {{ k }}u], {% endfor %});
{% else %}
{% if in_vector %}
        return Row({% for w in range(words) %}b1[(at >> 2u) + {{ w }}u], {% endfor %});
{% else %}
{% for w in range(words) %}
        let w{{ w }} = b1[(at >> 2u) + {{ w }}u];
{% endfor %}
        // Words that start with the first sample; a shift by 32 would be one by none.
        let shift = (at & 3u) * 8u;
        return Row(
{% for w in range(words) %}
            (w{{ w }} >> shift){% if w + 1 < words %} | ((w{{ w + 1 }} << (31u - shift)) << 1u){% endif %},
{% endfor %}
        );
{% endif %}
{% endif %}
    }
    // A place right of the image only serves its left neighbour's window.
    var line = Row();
{% for k in range(v) %}
    {
        let x = resolve((s + {{ k }}i) / CHANNELS - RADIUS, i32(args.width));
{% if border == 1 %}
        let bits = select(0u, sample(start + u32(max(x, 0i) * CHANNELS + (s + {{ k }}i) % CHANNELS)), x >= 0i);
{% else %}
        let bits = sample(start + u32(x * CHANNELS + (s + {{ k }}i) % CHANNELS));
{% endif %}
{% if wide %}
        line[{{ k }}] = bits;
{% else %}
{% set bit = start_bit + 8 * k %}
        line[{{ bit // 32 }}] |= bits << {{ bit % 32 }}u;
{% endif %}
    }
{% endfor %}
    return line;
}

// Converts a row to the type that is computed with.
fn line_of(row: Row) -> Line {
    return Line(
{% for k in range(v) %}
{% set bit = start_bit + 8 * k %}
        value({% if wide %}row[{{ k }}]{% else %}(row[{{ bit // 32 }}] >> {{ bit % 32 }}u) & 0xffu{% endif %}),
{% endfor %}
    );
}

// Stores samples s .. s + N of row y, those inside the image.
fn store_line(y: u32, s: u32, r: array<u32, {{ n }}>) {
    let at = args.skip0 + (y - args.first_out) * args.pitch + s;
{% if wide and out_vector %}
{% for q in range(n // 4) %}
    if (s + {{ 4 * q }}u < args.pitch) {
        b0[(at >> 2u) + {{ q }}u] = vec4<u32>(r[{{ 4 * q }}], r[{{ 4 * q + 1 }}], r[{{ 4 * q + 2 }}], r[{{ 4 * q + 3 }}]);
    }
{% endfor %}
{% elif wide %}
{% for k in range(n) %}
    if (s + {{ k }}u < args.pitch) {
        b0[at + {{ k }}u] = r[{{ k }}];
    }
{% endfor %}
{% else %}
{% for w in range(n // 4) %}
    let w{{ w }} = r[{{ 4 * w }}] | (r[{{ 4 * w + 1 }}] << 8u) | (r[{{ 4 * w + 2 }}] << 16u) | (r[{{ 4 * w + 3 }}] << 24u);
{% endfor %}
{% if out_vector %}
{% for w in range(n // 4) %}
    if (s + {{ 4 * w }}u < args.pitch) {
        b0[(at >> 2u) + {{ w }}u] = w{{ w }};
    }
{% endfor %}
{% else %}
    // Words at both ends have other owners too, who take turns.
    let count = min(args.pitch - s, N);
    let shift = (at & 3u) * 8u;
    let m0 = select(0xffffffffu, (1u << (count * 8u)) - 1u, count < 4u);
{% if n == 8 %}
    let m1 = select(select(0u, (1u << ((count - 4u) * 8u)) - 1u, count > 4u), 0xffffffffu, count >= 8u);
    put(at >> 2u, w0 << shift, m0 << shift);
    put((at >> 2u) + 1u, (w1 << shift) | ((w0 >> (31u - shift)) >> 1u), (m1 << shift) | ((m0 >> (31u - shift)) >> 1u));
    put((at >> 2u) + 2u, (w1 >> (31u - shift)) >> 1u, (m1 >> (31u - shift)) >> 1u);
{% else %}
    put(at >> 2u, w0 << shift, m0 << shift);
    put((at >> 2u) + 1u, (w0 >> (31u - shift)) >> 1u, (m0 >> (31u - shift)) >> 1u);
{% endif %}
{% endif %}
{% endif %}
}

{% if not wide and not out_vector %}
fn put(at: u32, word: u32, mask: u32) {
    if (mask == 0xffffffffu) {
        atomicStore(&b0[at], word);
    } else if (mask != 0u) {
        atomicAnd(&b0[at], ~mask);
        atomicOr(&b0[at], word & mask);
    }
}
{% endif %}

{% if guarded %}
// Whether a flushing fma may go wrong on these samples: one is neither zero nor of a size at which every product and sum is a multiple of
// the least normal number.
fn risky(line: Line) -> bool {
    var least = 0xffffffffu;
{% for k in range(v) %}
    // Without the sign, and zero largest of all.
    least = min(least, (bitcast<u32>(line[{{ k }}]) << 1u) - 1u);
{% endfor %}
    return least < args.risk;
}

{% endif %}
{% if careful_too or sobel %}
// A number of rounds that the driver does not know, so that it compiles one guarded fma, or one root of any number, and not many.
fn rounds(n: u32) -> u32 {
    return n + (args.base_high >> 31u);
}
{% endif %}
{% if sobel %}

// The roots of squares, as results.
fn roots(squares: array<f32, {{ n }}>) -> array<u32, {{ n }}> {
    var done: array<u32, {{ n }}>;
{% if byte_seeded %}
{% for k in range(n) %}
    done[{{ k }}] = result(iw_byte_root(squares[{{ k }}]));
{% endfor %}
    return done;
}
{% else %}
{% if seeded %}
    if ({% for k in range(n) %}(iw_has_seeded_root(squares[{{ k }}]) || squares[{{ k }}] == 0.0f){{ " && " if not loop.last }}{% endfor %}) {
{% for k in range(n) %}
        done[{{ k }}] = bitcast<u32>(select(iw_seeded_root(squares[{{ k }}]), 0.0f, squares[{{ k }}] == 0.0f));
{% endfor %}
        return done;
    }
{% endif %}
    var all = squares;
    let count = rounds(N);
    for (var k = 0u; k < count; k++) {
        done[k] = result(iw_sqrt(all[k]));
    }
    return done;
}
{% endif %}
{% endif %}
{% if careful_too %}
{% include "filter_careful.wgsl" %}
{% endif %}

{% if median %}
// Medians in tiles of 2x2 windows, which share the block of 2x2 samples in their middle. Two windows side by side share the two samples
// above or below it as well; two windows on top of each other the two left or right of it. What has five samples of its window above it or
// below it can't be the median and is dropped on the way.

// The block of two columns that are in order, sorted.
fn block_of(low_a: Value, high_a: Value, low_b: Value, high_b: Value) -> vec4<Value> {
    let p = max(low_a, low_b);
    let q = min(high_a, high_b);
    return vec4(min(low_a, low_b), min(p, q), max(p, q), max(high_a, high_b));
}

// The block and two samples more without the least and the greatest of the six, in order: even and odd places are merged, then neighbours.
fn six_of(block: vec4<Value>, a: Value, b: Value) -> vec4<Value> {
    let even = max(block.x, min(a, b));
    let odd = min(block.w, max(a, b));
    let p = min(even, block.z);
    let q = min(block.y, odd);
    let r = max(even, block.z);
    let s = max(block.y, odd);
    return vec4(min(p, q), max(p, q), min(r, s), max(r, s));
}

// The median of the six, two samples more in order, and a ninth.
fn median_of(six: vec4<Value>, low: Value, high: Value, last: Value) -> Value {
    let p = max(six.y, low);
    let q = min(six.z, high);
    return max(max(six.x, min(p, q)), min(min(six.w, max(p, q)), last));
}

{% endif %}
// args: width, height; pitch, samples of a row; groups, invocations to a row; rows of a strip; first_out and end_out, the rows to compute; first_row
// of the input that is bound; risk, twice the bits of a sample that is large enough for a flushing fma, less one; the weights' bits.
@compute @workgroup_size(128)
fn image_filter(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let id = ((group.z * grid.y + group.y) * grid.x + group.x) * 128u + lane;
    let strip = id / args.groups;
    let s = (id - strip * args.groups) * N;
    let y0 = args.first_out + strip * args.rows;
    if (y0 >= args.end_out || strip * args.rows >= args.end_out) {
        return;
    }
    let y1 = min(y0 + args.rows, args.end_out);
{% if weighted %}
{% for k in range(k_ * k_) %}
    let weight{{ k }} = bitcast<f32>(args.w{{ k }});
{% endfor %}
    // Row d of sums belongs to the output row that still wants its weights' rows d.. : a row of samples serves {{ k_ }} rows of outputs.
{% for d in range(1, k_) %}
{% for k in range(n) %}
    var sum{{ d }}_{{ k }} = 0.0f;
{% endfor %}
{% endfor %}
{% endif %}
{% if median %}
{% include "median.wgsl" %}
{% else %}
    // Rows before that stay are single variables: drivers keep those in registers.
{% if sobel %}
{% for k in range(v) %}
    var top{{ k }} = 0.0f;
    var middle{{ k }} = 0.0f;
{% endfor %}
{% endif %}
{% if c == 4 %}
    // The rows whose results are still to come.
{% for d in range(radius) %}
{% for k in range(3, n, 4) %}
    var alpha{{ d }}_{{ k }} = Value();
{% endfor %}
{% endfor %}
{% endif %}
{% if guarded %}
    // Rows of samples for which a risky one is still in the sums.
    var careful = 0u;
{% endif %}
{% if ahead %}
    var next = load_row(i32(y0) - RADIUS, i32(s));
{% endif %}
    for (var y = i32(y0) - RADIUS; y < i32(y1) + RADIUS; y++) {
{% if ahead %}
        let row = next;
        if (y + 1i < i32(y1) + RADIUS) {
            next = load_row(y + 1i, i32(s));
        }
        let line = line_of(row);
{% else %}
        let line = line_of(load_row(y, i32(s)));
{% endif %}
        var done: array<u32, {{ n }}>;
{% if sobel %}
        var squares: array<f32, {{ n }}>;
{% endif %}
{% if guarded %}
        careful = select(max(careful, 1u) - 1u, {{ k_ }}u, risky(line));
        if (careful != 0u) {
{% endif %}
{% if careful_too %}
{% if weighted %}
            let sums = careful_sums(line, array<f32, {{ (k_ - 1) * n }}>(
{%- for d in range(1, k_) %}{% for k in range(n) %}sum{{ d }}_{{ k }}, {% endfor %}{% endfor -%}
            ));
{% for k in range(n) %}
            done[{{ k }}] = result(sums[{{ (k_ - 1) * n + k }}]);
{% for d in range(1, k_) %}
            sum{{ d }}_{{ k }} = sums[{{ (d - 1) * n + k }}];
{% endfor %}
{% endfor %}
{% else %}
            squares = careful_sobel(
                Line({% for k in range(v) %}top{{ k }}, {% endfor %}),
                Line({% for k in range(v) %}middle{{ k }}, {% endfor %}),
                line,
            );
{% endif %}
{% endif %}
{% if guarded %}
        } else {
{% endif %}
{% if weighted and not rolled %}
{% for d in range(k_ - 1, -1, -1) %}
{% for k in range(n) %}
{% if not (c == 4 and k % 4 == 3) %}
        var a{{ d }}_{{ k }} = {% if d == 0 and exact and not normal and not guarded %}iw_exact_mul_f32(weight0, line[{{ k }}]){% elif d == 0 %}weight0 * line[{{ k }}]{% else %}{{ fma }}(weight{{ d * k_ }}, line[{{ k }}], sum{{ d }}_{{ k }}){% endif %};
{% for e in range(1, k_) %}
        a{{ d }}_{{ k }} = {{ fma }}(weight{{ d * k_ + e }}, line[{{ k + e * c }}], a{{ d }}_{{ k }});
{% endfor %}
{% if d == k_ - 1 %}
        done[{{ k }}] = result(a{{ d }}_{{ k }});
{% else %}
        sum{{ d + 1 }}_{{ k }} = a{{ d }}_{{ k }};
{% endif %}
{% endif %}
{% endfor %}
{% endfor %}
{% endif %}
{% if sobel and not rolled %}
{% for k in range(n) if not (c == 4 and k % 4 == 3) %}
{% if careful and not guarded %}
        let dx{{ k }} = iw_exact_add_f32(
            iw_fma(2.0f, iw_exact_sub_f32(middle{{ k + 2 * c }}, middle{{ k }}), iw_exact_sub_f32(top{{ k + 2 * c }}, top{{ k }})),
            iw_exact_sub_f32(line[{{ k + 2 * c }}], line[{{ k }}]),
        );
        let dy{{ k }} = iw_exact_add_f32(
            iw_fma(2.0f, iw_exact_sub_f32(top{{ k + c }}, line[{{ k + c }}]), iw_exact_sub_f32(top{{ k }}, line[{{ k }}])),
            iw_exact_sub_f32(top{{ k + 2 * c }}, line[{{ k + 2 * c }}]),
        );
        squares[{{ k }}] = iw_fma(dx{{ k }}, dx{{ k }}, iw_exact_mul_f32(dy{{ k }}, dy{{ k }}));
{% else %}
        let dx{{ k }} = {{ fma }}(2.0f, middle{{ k + 2 * c }} - middle{{ k }}, top{{ k + 2 * c }} - top{{ k }}) + (line[{{ k + 2 * c }}] - line[{{ k }}]);
        let dy{{ k }} = {{ fma }}(2.0f, top{{ k + c }} - line[{{ k + c }}], top{{ k }} - line[{{ k }}]) + (top{{ k + 2 * c }} - line[{{ k + 2 * c }}]);
        squares[{{ k }}] = {{ fma }}(dx{{ k }}, dx{{ k }}, dy{{ k }} * dy{{ k }});
{% endif %}
{% endfor %}
{% endif %}
{% if guarded %}
        }
{% endif %}
{% if sobel %}
        done = roots(squares);
{% for k in range(v) %}
        top{{ k }} = middle{{ k }};
        middle{{ k }} = line[{{ k }}];
{% endfor %}
{% endif %}
{% if c == 4 %}
{% for k in range(3, n, 4) %}
        done[{{ k }}] = result(alpha0_{{ k }});
{% for d in range(radius) %}
        alpha{{ d }}_{{ k }} = {% if d + 1 < radius %}alpha{{ d + 1 }}_{{ k }}{% else %}line[{{ k + radius * c }}]{% endif %};
{% endfor %}
{% endfor %}
{% endif %}
        if (y >= i32(y0) + RADIUS) {
            store_line(u32(y - RADIUS), s, done);
        }
    }
{% endif %}
}
