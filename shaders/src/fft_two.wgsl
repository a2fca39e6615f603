// Levels of radix 4, and at most one of radix 2 after them, in registers: an invocation has 16 points, and computes two levels of radix 4 at a time.
// Points are read from memory by the first stage and written by the last one, unless these are not neighbours in memory; between stages they lie in shared
// memory.

var<workgroup> space: array<Pair, {{ room }}>;

// The place of a point in shared memory. Where there is room, one in 17 is left out: invocations write 16 neighbours each in the first stage, and meet in no bank.
fn slot(at: u32) -> u32 {
    return {{ "at + at / 16u" if apart else "at" }};
}

// Lines of a group, and where those of this invocation begin in memory, and their results: it has one of those that lie apart, since their number divides
// that of invocations.
struct Lines {
    first: u32,
    there: u32,
    own_source: u32,
    own_target: u32,
    k0: u32,
    rows: bool,
}

fn source_of(lines: Lines, column: u32) -> u32 {
    return select(lines.own_source, (lines.first + column) * args.points, lines.rows);
}
fn target_of(lines: Lines, column: u32) -> u32 {
    return select(lines.own_target, (lines.first + column) * args.points, lines.rows);
}

fn point(at: u32) -> Pair {
    let v = load_from_(at);
    return select(v, v.yx, (args.swaps & 1u) != 0u);
}
fn put(at: u32, x: Pair, factor: Num) {
    var v = x;
    if ((args.swaps & 2u) != 0u) {
        v = scale(factor, x.yx);
    }
    store(at, v);
}

{% macro four(a, b, c, d) %}
            {
                let s = plus(x{{ a }}, x{{ c }});
                let d = minus(x{{ a }}, x{{ c }});
                let t = plus(x{{ b }}, x{{ d }});
                let e = minus(x{{ b }}, x{{ d }});
                x{{ a }} = plus(s, t);
                x{{ b }} = minus_turned(d, e);
                x{{ c }} = minus(s, t);
                x{{ d }} = plus_turned(d, e);
            }
{% endmacro %}

{% for radix in [16, 4, 2] %}
// A stage: l points are joined in these lines. {{ "All points are read before any is written." if radix == 16 else "Butterfly after butterfly." }}
fn stage_{{ radix }}(lines: Lines, l: u32, from_memory: bool, to_memory: bool, lane: u32, factor: Num) {
    let each = args.points / {{ radix }}u;
    let count = each * args.columns;
    let shift = 31u - countLeadingZeros(select(args.columns, each, lines.rows));
    let earlier = args.before / args.inner;
    let joined = l * earlier;
{% if radix == 16 %}
    let b = lane;
{% for j in range(16) %}
    var x{{ j }}: Pair;
{% endfor %}
{% else %}
    for (var b = lane; b < count; b += THREADS) {
{% for j in range(radix) %}
        var x{{ j }}: Pair;
{% endfor %}
{% endif %}
        let high = b >> shift;
        let low = b - (high << shift);
        let column = select(low, high, lines.rows);
        let i = select(high, low, lines.rows);
        let place = i & (l - 1u);
        let in_space = column * args.pitch;
        if (b < count) {
            if (from_memory) {
                let first = source_of(lines, min(column, lines.there - 1u)) + i * args.stride;
                let step = each * args.stride;
{% for j in range(radix) %}
                x{{ j }} = point(first + {{ j }}u * step);
{% endfor %}
            } else {
{% for j in range(radix) %}
                x{{ j }} = space[slot(in_space + i + {{ j }}u * each)];
{% endfor %}
            }
        }
{% if radix == 16 %}
        workgroupBarrier();
{% endif %}
        if (b < count) {
            let k = lines.k0 + place * earlier;
            if (joined > 1u) {
{% if radix == 16 %}
{% for j in range(1, 4) %}
                let w{{ j }} = load_table({{ j }}u * joined + k);
{% for q in range(4) %}
                x{{ 4 * j + q }} = times(x{{ 4 * j + q }}, w{{ j }});
{% endfor %}
{% endfor %}
{% else %}
{% for j in range(1, radix) %}
                x{{ j }} = times(x{{ j }}, load_table({{ j }}u * joined + k));
{% endfor %}
{% endif %}
            }
{% if radix == 16 %}
{% for q in range(4) %}
{{ four(q, q + 4, q + 8, q + 12) }}
{% endfor %}
{% for q in range(4) %}
{% for j in range(1, 4) %}
            x{{ 4 * q + j }} = times(x{{ 4 * q + j }}, load_table({{ 4 * j + q }}u * joined + k));
{% endfor %}
{{ four(4 * q, 4 * q + 1, 4 * q + 2, 4 * q + 3) }}
{% endfor %}
{% elif radix == 4 %}
{{ four(0, 1, 2, 3) }}
{% else %}
            let sum = plus(x0, x1);
            x1 = minus(x0, x1);
            x0 = sum;
{% endif %}
            let base = (i - place) * {{ radix }}u + place;
            if (!to_memory) {
{% for j in range(radix) %}
                space[slot(in_space + base + {{ j // 4 + j % 4 * 4 if radix == 16 else j }}u * l)] = x{{ j }};
{% endfor %}
            } else if (column < lines.there) {
                let first = target_of(lines, column) + base * args.before;
                let step = l * args.before;
{% for j in range(radix) %}
                put(first + {{ j // 4 + j % 4 * 4 if radix == 16 else j }}u * step, x{{ j }}, factor);
{% endfor %}
            }
        }
{% if radix != 16 %}
    }
{% endif %}
    workgroupBarrier();
}

{% endfor %}
@compute @workgroup_size(256)
fn fft(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let group = (id.z * grid.y + id.y) * grid.x + id.x;
    if (group >= args.groups) {
        return;
    }
    let first = group * args.columns;
    let there = min(args.columns, args.subs - first);
    let rows = args.stride == 1u;
    // Lines that are not there are the last one.
    let sub = first + min(lane % args.columns, there - 1u);
    let place = sub % args.stride;
    let outer = sub / args.stride * (args.stride * args.points);
    let home = outer + place / args.before * (args.before * args.points) + place % args.before;
    let lines = Lines(first, there, outer + place, home, select(place % args.before / args.inner, 0u, rows), rows);
    var factor: Num = {{ "1.0lf" if wide else "1.0f" }};
    if ((args.swaps & 2u) != 0u) {
        factor = load_table(0u).x;
    }
    // Neighbouring lines of a first pass are written one after the other.
    let by_lines = !rows && args.before == 1u;
    var l = 1u;
    var levels = args.levels;
    // Fours, and at most a two behind them: 4 has one bit, so that their number is that of bits.
    if ((countOneBits(levels & 0x44444444u) & 1u) != 0u) {
        levels >>= 4u;
        stage_4(lines, 1u, true, levels == 0u && !by_lines, lane, factor);
        l = 4u;
    }
    while ((levels & 4u) != 0u) {
        levels >>= 8u;
        stage_16(lines, l, l == 1u, levels == 0u && !by_lines, lane, factor);
        l *= 16u;
    }
    if (levels != 0u) {
        stage_2(lines, l, l == 1u, !by_lines, lane, factor);
    }
    if (by_lines) {
        let shift = 31u - countLeadingZeros(args.points);
        for (var e = lane; e < (there << shift); e += THREADS) {
            let column = e >> shift;
            put((first << shift) + e, space[slot(column * args.pitch + e - (column << shift))], factor);
        }
    }
}
