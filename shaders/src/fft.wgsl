// Some levels of transforms of pairs of floats (real, imaginary), in shared memory: radices 4, 2, 3, 5 and 7 in Stockham's form, every product and sum rounded
// by itself. A group takes args.columns lines of args.points points that lie args.stride apart, and are written in the order of the levels up to these.
// The table has the turn of point j of a butterfly at place k after l points at j l + k, and 1 / n in its first entry.
// add, sub, mul, bits: arithmetic that gives the same bits on every device.

alias Num = {{ "f64" if wide else "f32" }};
alias Pair = vec2<Num>;
const THREADS = 256u;

{% for name in ["from_", "table"] %}
fn load_{{ name }}(i: u32) -> Pair {
{% if kind == 0 %}
    return bitcast<vec2<f32>>({{ name }}[args.skip_{{ name }} + i]);
{% elif kind == 1 %}
    let w = {{ name }}[args.skip_{{ name }} + i];
    return Pair(bitcast<f64>(u64(w.x) | (u64(w.y) << 32u)), bitcast<f64>(u64(w.z) | (u64(w.w) << 32u)));
{% elif kind == 2 %}
    let at = args.skip_{{ name }} + 2u * i;
    return Pair(bitcast<f32>({{ name }}[at]), bitcast<f32>({{ name }}[at + 1u]));
{% else %}
    let at = args.skip_{{ name }} + 4u * i;
    return Pair(bitcast<f64>(u64({{ name }}[at]) | (u64({{ name }}[at + 1u]) << 32u)),
                bitcast<f64>(u64({{ name }}[at + 2u]) | (u64({{ name }}[at + 3u]) << 32u)));
{% endif %}
}
{% endfor %}

fn store(i: u32, v: Pair) {
    let x = bits(v.x);
    let y = bits(v.y);
{% if kind == 0 %}
    to[args.skip_to + i] = vec2<u32>(x, y);
{% elif kind == 1 %}
    to[args.skip_to + i] = vec4<u32>(u32(x & 0xfffffffflu), u32(x >> 32u), u32(y & 0xfffffffflu), u32(y >> 32u));
{% elif kind == 2 %}
    let at = args.skip_to + 2u * i;
    to[at] = x;
    to[at + 1u] = y;
{% else %}
    let at = args.skip_to + 4u * i;
    to[at] = u32(x & 0xfffffffflu);
    to[at + 1u] = u32(x >> 32u);
    to[at + 2u] = u32(y & 0xfffffffflu);
    to[at + 3u] = u32(y >> 32u);
{% endif %}
}

fn plus(a: Pair, b: Pair) -> Pair {
    return Pair(add(a.x, b.x), add(a.y, b.y));
}
fn minus(a: Pair, b: Pair) -> Pair {
    return Pair(sub(a.x, b.x), sub(a.y, b.y));
}
// a - i b, and a + i b.
fn minus_turned(a: Pair, b: Pair) -> Pair {
    return Pair(add(a.x, b.y), sub(a.y, b.x));
}
fn plus_turned(a: Pair, b: Pair) -> Pair {
    return Pair(sub(a.x, b.y), add(a.y, b.x));
}
fn scale(c: Num, a: Pair) -> Pair {
    return Pair(mul(c, a.x), mul(c, a.y));
}
fn times(a: Pair, b: Pair) -> Pair {
    return Pair(sub(mul(a.x, b.x), mul(a.y, b.y)), add(mul(a.x, b.y), mul(a.y, b.x)));
}

{% if two %}
{% include "fft_two.wgsl" %}
{% else %}
const CAPACITY = {{ 512 if wide else 1024 }}u;

var<workgroup> space: array<Pair, 2u * CAPACITY>;

{% set c = (["-0.5lf", "0.8660254037844386lf", "0.30901699437494745lf", "-0.8090169943749475lf", "0.9510565162951535lf", "0.5877852522924731lf",
    "0.6234898018587335lf", "-0.2225209339563144lf", "-0.9009688679024191lf", "0.7818314824680298lf", "0.9749279121818236lf", "0.4338837391175581lf"] if wide else
   ["-0.5f", "0.8660254f", "0.309017f", "-0.809017f", "0.95105654f", "0.58778524f",
    "0.6234898f", "-0.22252093f", "-0.90096885f", "0.7818315f", "0.9749279f", "0.43388373f"]) %}
{% for radix, there in [[4, fours], [2, twos], [3, threes], [5, fives], [7, sevens]] %}
{% if there %}
// A level: lines begin at the pitch; l points are joined in these lines, and `joined` in all; k0 is the place before these of this invocation's line.
fn level_{{ radix }}(source: u32, other: u32, l: u32, joined: u32, lane: u32, k0: u32) {
    let each = args.points / {{ radix }}u;
    let rows = args.stride == 1u;
    for (var b = lane; b < each * args.columns; b += THREADS) {
        let column = select(b % args.columns, b / each, rows);
        let i = select(b / args.columns, b % each, rows);
        let place = i % l;
        let k = k0 + place * (args.before / args.inner);
        let base = source + column * args.pitch + i;
{% for j in range(radix) %}
        {{ "let" if j == 0 else "var" }} x{{ j }} = space[base + {{ j }}u * each];
{% endfor %}
        if (joined > 1u) {
{% for j in range(1, radix) %}
            x{{ j }} = times(x{{ j }}, load_table({{ j }}u * joined + k));
{% endfor %}
        }
        let out = other + column * args.pitch + (i - place) * {{ radix }}u + place;
{% if radix == 2 %}
        space[out] = plus(x0, x1);
        space[out + l] = minus(x0, x1);
{% elif radix == 3 %}
        let s = plus(x1, x2);
        let m = plus(x0, scale({{ c[0] }}, s));
        let e = scale({{ c[1] }}, minus(x1, x2));
        space[out] = plus(x0, s);
        space[out + l] = minus_turned(m, e);
        space[out + 2u * l] = plus_turned(m, e);
{% elif radix == 4 %}
        let s = plus(x0, x2);
        let d = minus(x0, x2);
        let t = plus(x1, x3);
        let e = minus(x1, x3);
        space[out] = plus(s, t);
        space[out + l] = minus_turned(d, e);
        space[out + 2u * l] = minus(s, t);
        space[out + 3u * l] = plus_turned(d, e);
{% elif radix == 5 %}
        let s1 = plus(x1, x4);
        let d1 = minus(x1, x4);
        let s2 = plus(x2, x3);
        let d2 = minus(x2, x3);
        let m1 = plus(plus(x0, scale({{ c[2] }}, s1)), scale({{ c[3] }}, s2));
        let m2 = plus(plus(x0, scale({{ c[3] }}, s1)), scale({{ c[2] }}, s2));
        let e1 = plus(scale({{ c[4] }}, d1), scale({{ c[5] }}, d2));
        let e2 = minus(scale({{ c[5] }}, d1), scale({{ c[4] }}, d2));
        space[out] = plus(plus(x0, s1), s2);
        space[out + l] = minus_turned(m1, e1);
        space[out + 2u * l] = minus_turned(m2, e2);
        space[out + 3u * l] = plus_turned(m2, e2);
        space[out + 4u * l] = plus_turned(m1, e1);
{% else %}
        let s1 = plus(x1, x6);
        let d1 = minus(x1, x6);
        let s2 = plus(x2, x5);
        let d2 = minus(x2, x5);
        let s3 = plus(x3, x4);
        let d3 = minus(x3, x4);
        space[out] = plus(plus(plus(x0, s1), s2), s3);
        let m1 = plus(plus(plus(x0, scale({{ c[6] }}, s1)), scale({{ c[7] }}, s2)), scale({{ c[8] }}, s3));
        let e1 = plus(plus(scale({{ c[9] }}, d1), scale({{ c[10] }}, d2)), scale({{ c[11] }}, d3));
        space[out + l] = minus_turned(m1, e1);
        space[out + 6u * l] = plus_turned(m1, e1);
        let m2 = plus(plus(plus(x0, scale({{ c[7] }}, s1)), scale({{ c[8] }}, s2)), scale({{ c[6] }}, s3));
        let e2 = minus(minus(scale({{ c[10] }}, d1), scale({{ c[11] }}, d2)), scale({{ c[9] }}, d3));
        space[out + 2u * l] = minus_turned(m2, e2);
        space[out + 5u * l] = plus_turned(m2, e2);
        let m3 = plus(plus(plus(x0, scale({{ c[8] }}, s1)), scale({{ c[6] }}, s2)), scale({{ c[7] }}, s3));
        let e3 = plus(minus(scale({{ c[11] }}, d1), scale({{ c[9] }}, d2)), scale({{ c[10] }}, d3));
        space[out + 3u * l] = minus_turned(m3, e3);
        space[out + 4u * l] = plus_turned(m3, e3);
{% endif %}
    }
}
{% endif %}
{% endfor %}

@compute @workgroup_size(256)
fn fft(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let group = (id.z * grid.y + id.y) * grid.x + id.x;
    if (group >= args.groups) {
        return;
    }
    // An invocation has one line of those that lie apart, since their number divides that of invocations.
    let first = group * args.columns;
    let rows = args.stride == 1u;
    let there = min(args.columns, args.subs - first);
    let own = lane % args.columns;
    let sub = first + min(own, there - 1u);
    let outer = sub / args.stride * (args.stride * args.points);
    let place = sub % args.stride;
    let k0 = select(place % args.before / args.inner, 0u, rows);

    for (var e = lane; e < args.points * args.columns; e += THREADS) {
        let column = select(own, e / args.points, rows);
        let t = select(e / args.columns, e % args.points, rows);
        let at = select(outer + place + t * args.stride, first * args.points + e, rows);
        // Lines that are not there are others' points once more.
        let x = load_from_(select(0u, at, column < there));
        space[column * args.pitch + t] = select(x, x.yx, (args.swaps & 1u) != 0u);
    }
    workgroupBarrier();

    var source = 0u;
    var l = 1u;
    for (var levels = args.levels; levels != 0u; levels >>= 4u) {
        let radix = levels & 15u;
        let joined = l * (args.before / args.inner);
{% for radix, there in [[4, fours], [2, twos], [3, threes], [5, fives], [7, sevens]] %}
{% if there %}
        if (radix == {{ radix }}u) {
            level_{{ radix }}(source, CAPACITY - source, l, joined, lane, k0);
        }
{% endif %}
{% endfor %}
        source = CAPACITY - source;
        l *= radix;
        workgroupBarrier();
    }

    let whole = rows || args.before == 1u;
    let home = outer + place / args.before * (args.before * args.points) + place % args.before;
    for (var e = lane; e < args.points * args.columns; e += THREADS) {
        let column = select(own, e / args.points, whole);
        let t = select(e / args.columns, e % args.points, whole);
        var x = space[source + column * args.pitch + t];
        if ((args.swaps & 2u) != 0u) {
            x = scale(load_table(0u).x, x.yx);
        }
        if (column < there) {
            store(select(home + t * args.before, first * args.points + e, whole), x);
        }
    }
}
{% endif %}
