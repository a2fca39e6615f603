// Parts of solves of matrices in memory, by blocks of the diagonal.
//   substitute: right-hand sides, an invocation each, by a block of a triangle: x(i) loses t(i, k) x(k), k ascending or (backwards) descending, each by one
//               fused step, and is divided by the diagonal.
//   trail:      c(i, j) loses a(i, k) b(k, j) of a block's k in the same order.
//   arrange:    a matrix, or the identity, with its rows in another order, its lower triangle, or all of it.
//   swap_rows:  rows of what lies beside a panel, to where the panel's went.
//   check_diagonal: the first element of a diagonal that is zero, infinite or NaN.
// minus(a, b, c) = c - a b rounded once; div, bits: arithmetic that gives the same bits on every device.

{% include "solve_numbers.wgsl" %}
{% set loads_a = (step == 0 and apart) or (step == 1 and apart) or (step == 2 and not identity) or step == 4 %}
{% set has_x = step != 4 %}

{% for name, there in [["a", loads_a], ["x", has_x]] %}
{% if there %}
fn load_{{ name }}(i: u32) -> Num {
{% include "solve_load.wgsl" %}
}
{% endif %}
{% endfor %}
{% if has_x %}
fn store_x(i: u32, v: Num) {
    store_word(i, bits(v));
}
fn store_word(i: u32, word: Bits) {
{% set name = "x" %}
{% include "solve_store.wgsl" %}
}
{% endif %}

{% if step == 1 %}
const TILE = 64u;
const TERMS = {{ 8 if wide else 16 }}u;
var<workgroup> left: array<Num, TERMS * TILE>;
var<workgroup> right: array<Num, TERMS * TILE>;
{% if guarded %}
// Flag: the adapter's own fma may not be used from here on.
var<workgroup> risky: atomic<u32>;

// Tells a factor that is neither zero nor at least 2^-40, or a number that is subnormal. Products of two other factors are multiples of 2^-126. What is left
// of a normal number or zero without such a product is normal or zero: it is the number, or nearly the product, or a multiple of 2^-126.
fn look(v: Num, least: u32) {
    if ((bitcast<u32>(v) << 1u) - 1u < (least << 24u) - 1u) {
        atomicStore(&risky, 1u);
    }
}
{% endif %}
{% elif step == 3 %}
// Columns of a group, and the most rows that a panel moves.
const COLUMNS = 32u;
var<workgroup> moved: array<Num, 32u * COLUMNS>;
{% elif step == 4 %}
var<workgroup> places: array<u32, THREADS>;
{% endif %}

{% set entries = ["substitute", "trail", "arrange", "swap_rows", "check_diagonal"] %}
@compute @workgroup_size({{ 64 if step == 0 else 256 }})
fn {{ entries[step] }}(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let group = (id.z * grid.y + id.y) * grid.x + id.x;
    if (group >= args.groups) {
        return;
    }
{% if step == 0 %}
    let parts = (args.columns + 63u) / 64u;
    let system = group / parts;
    let column = group % parts * 64u + lane;
    if (column >= args.columns) {
        return;
    }
    let first = system * args.x_batch + args.x_first + column * args.x_column;
    let triangle = system * args.t_batch + args.t_first;
    let backward = (args.form & 1u) != 0u;
    let unit = (args.form & 2u) != 0u;
{% if checked %}
    if (states[args.skip_states + system] != 0u) {
        for (var i = 0u; i < args.side; i++) {
            store_word(first + i * args.x_row, NAN);
        }
        return;
    }
{% endif %}
    for (var s = 0u; s < args.side; s++) {
        let i = select(s, args.side - 1u - s, backward);
        var v = load_x(first + i * args.x_row);
        for (var t = 0u; t < s; t++) {
            let k = select(t, args.side - 1u - t, backward);
            v = minus({{ "load_a" if apart else "load_x" }}(triangle + i * args.t_row + k * args.t_column), load_x(first + k * args.x_row), v);
        }
        if (!unit) {
            v = div(v, {{ "load_a" if apart else "load_x" }}(triangle + i * (args.t_row + args.t_column)));
        }
        store_x(first + i * args.x_row, v);
    }
{% elif step == 1 %}
    let down = (args.rows + TILE - 1u) / TILE;
    let across = (args.columns + TILE - 1u) / TILE;
    let system = group / (down * across);
    let tile = group % (down * across);
    let row = tile / across * TILE;
    let column = tile % across * TILE;
    let lower = (args.form & 2u) != 0u;
    let backward = (args.form & 1u) != 0u;
    if (lower && column > row) {
        return;
    }
    let from_a = args.a_first + system * args.a_batch;
    let from_x = system * args.x_batch;
    let r0 = row + lane / 16u;
    let c0 = column + lane % 16u;
{% if guarded %}
    if (lane == 0u) {
        atomicStore(&risky, 0u);
    }
    workgroupBarrier();
{% endif %}
    var sums: array<Num, 16>;
    for (var e = 0u; e < 16u; e++) {
        let i = r0 + e / 4u * 16u;
        let j = c0 + e % 4u * 16u;
        if (i < args.rows && j < args.columns) {
            sums[e] = load_x(from_x + args.c_first + i * args.c_row + j * args.c_column);
{{ "            look(sums[e], 1u);" if guarded else "" }}
        }
    }
{% if not rolled %}
    // Variables of their own stay in registers.
{% for e in range(16) %}
    var s{{ e }} = sums[{{ e }}];
{% endfor %}
{% endif %}
    for (var start = 0u; start < args.terms; start += TERMS) {
        for (var e = lane; e < TERMS * TILE; e += THREADS) {
            // Neighbours read what lies side by side.
            let for_a = select(vec2(e / TILE, e % TILE), vec2(e % TERMS, e / TERMS), args.a_column == 1u);
            let for_b = select(vec2(e / TILE, e % TILE), vec2(e % TERMS, e / TERMS), args.b_row == 1u);
            let sa = start + for_a.x;
            let i = row + for_a.y;
            if (i < args.rows && sa < args.terms) {
                let k = select(sa, args.terms - 1u - sa, backward);
                let v = {{ "load_a" if apart else "load_x" }}({{ "from_a" if apart else "from_x + args.a_first" }} + i * args.a_row + k * args.a_column);
                left[for_a.x * TILE + for_a.y] = v;
{{ "                look(v, 87u);" if guarded else "" }}
            }
            let sb = start + for_b.x;
            let j = column + for_b.y;
            if (j < args.columns && sb < args.terms) {
                let k = select(sb, args.terms - 1u - sb, backward);
                let v = load_x(from_x + args.b_first + k * args.b_row + j * args.b_column);
                right[for_b.x * TILE + for_b.y] = v;
{{ "                look(v, 87u);" if guarded else "" }}
            }
        }
        workgroupBarrier();
        let count = min(TERMS, args.terms - start);
{% if rolled %}
        for (var s = 0u; s < count; s++) {
            let l = s * TILE + lane / 16u;
            let r = s * TILE + lane % 16u;
            for (var e = 0u; e < 16u; e++) {
                sums[e] = minus(left[l + e / 4u * 16u], right[r + e % 4u * 16u], sums[e]);
            }
        }
{% else %}
{% if guarded %}
        if (atomicLoad(&risky) != 0u) {
            // One text of a careful step: sums take turns in one variable.
            let once = min(count, 1u);
            for (var s = 0u; s < count; s++) {
                let l = s * TILE + lane / 16u;
                let r = s * TILE + lane % 16u;
                for (var e = 0u; e < 16u * once; e++) {
                    let sum = minus(left[l + e / 4u * 16u], right[r + e % 4u * 16u], s0);
{% for e in range(15) %}
                    s{{ e }} = s{{ e + 1 }};
{% endfor %}
                    s15 = sum;
                }
            }
        } else {
{% else %}
        {
{% endif %}
            for (var s = 0u; s < count; s++) {
                let l = s * TILE + lane / 16u;
                let r = s * TILE + lane % 16u;
{% for e in range(4) %}
{% if guarded %}
                let l{{ e }} = bitcast<f32>(bitcast<u32>(left[l + {{ 16 * e }}u]) ^ 0x80000000u);
{% else %}
                let l{{ e }} = left[l + {{ 16 * e }}u];
{% endif %}
                let r{{ e }} = right[r + {{ 16 * e }}u];
{% endfor %}
{% for e in range(16) %}
                s{{ e }} = {{ "iw_fma_native" if guarded else "minus" }}(l{{ e // 4 }}, r{{ e % 4 }}, s{{ e }});
{% endfor %}
            }
        }
{% endif %}
        workgroupBarrier();
    }
{% if not rolled %}
    sums = array<Num, 16>({% for e in range(16) %}s{{ e }}{{ "" if loop.last else ", " }}{% endfor %});
{% endif %}
    for (var e = 0u; e < 16u; e++) {
        let i = r0 + e / 4u * 16u;
        let j = c0 + e % 4u * 16u;
        if (i < args.rows && j < args.columns && (!lower || j <= i)) {
            store_x(from_x + args.c_first + i * args.c_row + j * args.c_column, sums[e]);
        }
    }
{% elif step == 2 %}
    let thread = group * THREADS + lane;
    if (thread >= args.batch * args.rows * args.columns) {
        return;
    }
    let j = thread % args.columns;
    let i = thread / args.columns % args.rows;
    let system = thread / (args.columns * args.rows);
    let row = {{ "perm[args.skip_perm + system * args.rows + i]" if permuted else "i" }};
{% if identity %}
    let v = bitcast<Num>(select(NOTHING, ONE, row == j));
{% else %}
    var v = load_a(system * args.a_batch + row * args.a_row + j * args.a_column);
    if (args.lower != 0u && j > i) {
        v = bitcast<Num>(NOTHING);
    }
{% endif %}
    store_x(system * args.x_batch + i * args.x_row + j * args.x_column, v);
{% elif step == 3 %}
    let beside = args.side - args.width;
    let parts = (beside + COLUMNS - 1u) / COLUMNS;
    let system = group / parts;
    let line = lane / COLUMNS;
    let j = group % parts * COLUMNS + lane % COLUMNS;
    let column = system * args.side * args.side + select(j, j + args.width, j >= args.first);
    let moves = system * 2u * args.width;
    for (var m = line; m < 2u * args.width; m += THREADS / COLUMNS) {
        let row = swaps[moves + m];
        if (j < beside && row != NOWHERE) {
            moved[m * COLUMNS + lane % COLUMNS] = load_x(column + select(args.first + m - args.width, row, m < args.width) * args.side);
        }
    }
    storageBarrier();
    workgroupBarrier();
    for (var m = line; m < 2u * args.width; m += THREADS / COLUMNS) {
        let row = swaps[moves + m];
        if (j < beside && row != NOWHERE) {
            store_x(column + select(row, args.first + m, m < args.width) * args.side, moved[m * COLUMNS + lane % COLUMNS]);
        }
    }
{% else %}
    var place = NOWHERE;
    for (var i = lane; i < args.side; i += THREADS) {
        let size = bitcast<Bits>(load_a(group * args.a_batch + i * args.a_step)) & SIZE;
        if (size == NOTHING || size >= INFINITE) {
            place = min(place, i);
        }
    }
    places[lane] = place;
    workgroupBarrier();
    for (var step = THREADS / 2u; step > 0u; step /= 2u) {
        if (lane < step) {
            places[lane] = min(places[lane], places[lane + step]);
        }
        workgroupBarrier();
    }
    if (lane == 0u) {
        states[args.skip_states + group] = places[0] + 1u;
    }
{% endif %}
}
