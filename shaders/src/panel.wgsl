// Columns of matrices in memory, up to {{ across }} at once, one workgroup a matrix: element (i, j) loses l(i, k) u(k, j) in ascending k, each by one fused
// step, and below the diagonal it is divided by the pivot. Gives where rows go, the determinant, and the status.
// minus(a, b, c) = c - a b rounded once; div, mul, bits: arithmetic that gives the same bits on every device.

{% include "solve_numbers.wgsl" %}

const PARTS = 16u;
var<workgroup> keys: array<Bits, THREADS>;
var<workgroup> places: array<u32, THREADS>;
var<workgroup> head: array<Num, {{ across }}>;
var<workgroup> pivots: array<u32, {{ across }}>;

{% for name in ["x", "det"] %}
fn load_{{ name }}(i: u32) -> Num {
{% include "solve_load.wgsl" %}
}
fn store_{{ name }}(i: u32, v: Num) {
    let word = bits(v);
{% include "solve_store.wgsl" %}
}
{% endfor %}

// Magnitudes as integers, all NaN equal and above infinity.
fn key(v: Num) -> Bits {
    let size = bitcast<Bits>(v) & SIZE;
    return select(size, INFINITE + {{ "1lu" if wide else "1u" }}, size > INFINITE);
}

// The greatest of candidates from one on, so many steps apart; of equal ones the first row.
fn greatest(first: u32, step: u32) -> u32 {
    var best = first;
    for (var e = 1u; e < PARTS; e++) {
        let at = first + e * step;
        if (keys[at] > keys[best] || (keys[at] == keys[best] && places[at] < places[best])) {
            best = at;
        }
    }
    return best;
}

@compute @workgroup_size(256)
fn panel(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let system = (id.z * grid.y + id.y) * grid.x + id.x;
    if (system >= args.groups) {
        return;
    }
    let rows = args.rows;
    let width = args.width;
    let side = args.side;
    let first = side - rows;
    let base = (system * side + first) * side + first;
    let orders = args.skip_perm + system * side + first;
    var status = 0u;
    var product: Num = {{ "1.0lf" if wide else "1.0f" }};
    if (first == 0u) {
        for (var i = lane; i < rows; i += THREADS) {
            perm[orders + i] = i;
        }
    } else {
        status = states[args.skip_states + system];
        product = load_det(system);
    }

    // The next pivot is looked for while its column is updated: this invocation's candidate.
    var best = NOTHING;
    var place = NOWHERE;
    for (var i = lane; i < rows; i += THREADS) {
        let found = key(load_x(base + i * side));
        if (place == NOWHERE || found > best) {
            best = found;
            place = i;
        }
    }
    for (var k = 0u; k < width; k++) {
        var p = k;
        if (args.pivoting != 0u) {
            keys[lane] = best;
            places[lane] = place;
            workgroupBarrier();
            if (lane < PARTS) {
                let at = greatest(lane, PARTS);
                keys[lane] = keys[at];
                places[lane] = places[at];
            }
            workgroupBarrier();
            p = places[greatest(0u, 1u)];
        }
        if (lane < width) {
            let a = base + k * side + lane;
            let b = base + p * side + lane;
            let v = load_x(b);
            head[lane] = v;
            if (p != k) {
                store_x(b, load_x(a));
            }
            store_x(a, v);
        }
        if (lane == 0u) {
            pivots[k] = p;
            let v = perm[orders + k];
            perm[orders + k] = perm[orders + p];
            perm[orders + p] = v;
        }
        storageBarrier();
        workgroupBarrier();
        let pivot = head[k];
        let found = key(pivot);
        if (status == 0u) {
            if (p != k) {
                product = bitcast<Num>(bitcast<Bits>(product) ^ (SIZE + {{ "1lu" if wide else "1u" }}));
            }
            product = mul(product, pivot);
            if (found == NOTHING || found >= INFINITE) {
                status = first + k + 1u;
                product = bitcast<Num>(select(NAN, NOTHING, found == NOTHING));
            }
        }
        best = NOTHING;
        place = NOWHERE;
        for (var i = lane; i < rows; i += THREADS) {
            if (i <= k) {
                continue;
            }
            let row = base + i * side;
            var l = load_x(row + k);
            if (found != NOTHING) {
                l = div(l, pivot);
            }
            store_x(row + k, l);
            for (var j = k + 1u; j < width; j++) {
                let v = minus(l, head[j], load_x(row + j));
                store_x(row + j, v);
                if (j == k + 1u) {
                    let size = key(v);
                    if (place == NOWHERE || size > best) {
                        best = size;
                        place = i;
                    }
                }
            }
        }
        storageBarrier();
        workgroupBarrier();
    }

    if (lane < width) {
        // The row that comes here, and where the row that was here goes, unless a pivot is in it.
        var source = pivots[lane];
        for (var k = lane; k > 0u; k--) {
            source = select(source, k - 1u, source == pivots[k - 1u]);
        }
        var target_row = lane;
        for (var k = 0u; k < width; k++) {
            if (target_row == pivots[k]) {
                target_row = NOWHERE;
                break;
            }
            target_row = select(target_row, pivots[k], target_row == k);
        }
        swaps[system * 2u * width + lane] = first + source;
        swaps[system * 2u * width + width + lane] = select(first + target_row, NOWHERE, target_row == NOWHERE);
    }
    if (lane == 0u) {
        states[args.skip_states + system] = status;
        store_det(system, product);
    }
}
