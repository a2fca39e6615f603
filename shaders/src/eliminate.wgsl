// Elimination of square matrices, with right-hand sides beside them: element (i, j) loses l(i, k) u(k, j) in ascending k, each by one fused step, and below
// the diagonal it is divided by the pivot. A team of invocations has a system: in shared memory, or in memory. Whoever has right-hand sides
// substitutes backwards, in descending k.
// minus(a, b, c) = c - a b rounded once; div, mul, bits: arithmetic that gives the same bits on every device.

{% include "solve_numbers.wgsl" %}

{% if not memory %}
var<workgroup> space: array<Num, {{ space }}>;
var<workgroup> order: array<u32, THREADS>;
{% endif %}
var<workgroup> keys: array<Bits, THREADS>;
var<workgroup> places: array<u32, THREADS>;
{% if guarded %}
// Flags of systems: the adapter's own fma may not be used.
var<workgroup> risky: array<atomic<u32>, THREADS>;

// Tells a number that is neither zero nor at least 2^-40. Products of two of the others are multiples of 2^-126. What is left of a normal number or zero
// without such a product is normal or zero: it is the number, or nearly the product, or a multiple of 2^-126.
fn look(team: u32, v: Num) {
    if ((bitcast<u32>(v) << 1u) - 1u < (87u << 24u) - 1u) {
        atomicStore(&risky[team], 1u);
    }
}
{% endif %}

{% for name, there in [["a", not memory or full], ["b", rhs == 1], ["x", memory]] %}
{% if there %}
fn load_{{ name }}(i: u32) -> Num {
{% include "solve_load.wgsl" %}
}
{% endif %}
{% endfor %}

{% for name, there in [["x", memory or lu], ["y", rhs > 0 or det]] %}
{% if there %}
fn store_{{ name }}(i: u32, v: Num) {
    let word = bits(v);
{% include "solve_store.wgsl" %}
}
{% endif %}
{% endfor %}

fn element(at: u32) -> Num {
    return {{ "load_x(at)" if memory else "space[at]" }};
}
fn put(at: u32, v: Num) {
    {{ "store_x(at, v)" if memory else "space[at] = v" }};
}
fn meet() {
{% if memory %}
    storageBarrier();
{% endif %}
    workgroupBarrier();
}
{% if memory %}
fn order_at(i: u32) -> u32 {
    return perm[args.skip_perm + i];
}
fn put_order(i: u32, v: u32) {
    perm[args.skip_perm + i] = v;
}
{% else %}
fn order_at(i: u32) -> u32 {
    return order[i];
}
fn put_order(i: u32, v: u32) {
    order[i] = v;
}
{% endif %}
fn exchange(a: u32, b: u32) {
    let v = element(a);
    put(a, element(b));
    put(b, v);
}
fn exchange_order(a: u32, b: u32) {
    let v = order_at(a);
    put_order(a, order_at(b));
    put_order(b, v);
}

// Magnitudes as integers, all NaN equal and above infinity.
fn key(v: Num) -> Bits {
    let size = bitcast<Bits>(v) & SIZE;
    return select(size, INFINITE + {{ "1lu" if wide else "1u" }}, size > INFINITE);
}

@compute @workgroup_size(THREADS)
fn eliminate(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32{% if subgroups %}, @builtin(subgroup_size) size: u32{% endif %}) {
    let group = (id.z * grid.y + id.y) * grid.x + id.x;
    if (group >= args.groups) {
        return;
    }
    let row_lanes = args.lanes & 0xffffu;
    let column_lanes = args.lanes >> 16u;
    let members = row_lanes * column_lanes;
    let team = lane / members;
    let own = lane % members;
    let there = group * (THREADS / members) + team < args.batch;
    let system = min(group * (THREADS / members) + team, args.batch - 1u);
    let rows = args.rows;
    let n = args.pivots;
    let columns = args.columns;
    let pitch = args.pitch;
{% if memory %}
    let i0 = own / column_lanes;
    let j0 = own % column_lanes;
    let base = system * rows * pitch;
    let orders = system * rows;
{% else %}
    let i0 = own % row_lanes;
    let j0 = own / row_lanes;
    let base = team * rows * pitch;
    let orders = team * rows;
{% endif %}
    var status = 0u;
{% if det %}
    var product: Num = {{ "1.0lf" if wide else "1.0f" }};
{% endif %}

{% if guarded %}
    if (own == 0u) {
        atomicStore(&risky[team], 0u);
    }
    workgroupBarrier();
{% endif %}
    for (var i = own / row_lanes; i < rows; i += column_lanes) {
        for (var j = own % row_lanes; j < n; j += row_lanes) {
            let v = load_a(system * args.a_batch + i * args.a_row + j * args.a_column);
            put(base + i * pitch + j, v);
{{ "            look(team, v);" if guarded else "" }}
        }
    }
{% if rhs > 0 %}
    let rights = columns - n;
    for (var e = own; e < rows * rights; e += members) {
        let i = e / rights;
        let j = e % rights;
{% if rhs == 1 %}
        let v = load_b(system * args.b_batch + i * args.b_row + j * args.b_column);
        put(base + i * pitch + n + j, v);
{{ "        look(team, v);" if guarded else "" }}
{% else %}
        put(base + i * pitch + n + j, Num(select(0u, 1u, i == j)));
{% endif %}
    }
{% endif %}
    for (var i = own; i < rows; i += members) {
        put_order(orders + i, i);
    }
    meet();

    for (var k = 0u; k < n; k++) {
        let diagonal = base + k * (pitch + 1u);
        var p = k;
        if ((args.pivoting & 1u) != 0u) {
            var best = NOTHING;
            var place = NOWHERE;
{% if full %}
            for (var i = k + i0; i < rows; i += row_lanes) {
                for (var j = k + j0; j < n; j += column_lanes) {
                    let found = key(element(base + i * pitch + j));
                    if (place == NOWHERE || found > best) {
                        best = found;
                        place = i * n + j;
                    }
                }
            }
{% else %}
            for (var i = k + own; i < rows; i += members) {
                let found = key(element(base + i * pitch + k));
                if (place == NOWHERE || found > best) {
                    best = found;
                    place = i;
                }
            }
{% endif %}
{% if subgroups %}
            // The greatest of a subgroup's lanes, or of those that a team has of them; then of all of a team.
            for (var step = min(members, size) / 2u; step > 0u; step /= 2u) {
                let other = subgroupShuffleXor(best, step);
                let at = subgroupShuffleXor(place, step);
                if (other > best || (other == best && at < place)) {
                    best = other;
                    place = at;
                }
            }
            if (members > size) {
                keys[lane] = best;
                places[lane] = place;
                workgroupBarrier();
                for (var w = team * members; w < (team + 1u) * members; w += size) {
                    let other = keys[w];
                    let at = places[w];
                    if (other > best || (other == best && at < place)) {
                        best = other;
                        place = at;
                    }
                }
            }
            p = place;
{% else %}
            keys[lane] = best;
            places[lane] = place;
            workgroupBarrier();
            for (var step = members / 2u; step > 0u; step /= 2u) {
                if ({{ "true" if full else "step < rows - k" }}) {
                    if (own < step) {
                        let other = keys[lane + step];
                        let at = places[lane + step];
                        if (other > keys[lane] || (other == keys[lane] && at < places[lane])) {
                            keys[lane] = other;
                            places[lane] = at;
                        }
                    }
                    workgroupBarrier();
                }
            }
            p = places[team * members];
{% endif %}
{% if full %}
            let q = p % n;
            p = p / n;
            if (q != k) {
                for (var i = own; i < rows; i += members) {
                    exchange(base + i * pitch + k, base + i * pitch + q);
                }
                if (own == 0u) {
                    exchange_order(orders + k, orders + q);
                }
            }
            meet();
{% endif %}
            if (p != k) {
                for (var j = own; j < columns; j += members) {
                    exchange(base + k * pitch + j, base + p * pitch + j);
                }
{% if not full %}
                if (own == 0u) {
                    exchange_order(orders + k, orders + p);
                }
{% endif %}
            }
            meet();
        }
        let pivot = element(diagonal);
        let found = key(pivot);
        if (status == 0u) {
{% if det %}
            if (p != k) {
                product = bitcast<Num>(bitcast<Bits>(product) ^ (SIZE + {{ "1lu" if wide else "1u" }}));
            }
            product = mul(product, pivot);
{% endif %}
            if (found == NOTHING || found >= INFINITE) {
                status = k + 1u;
{% if det %}
                product = bitcast<Num>(select(NAN, NOTHING, found == NOTHING));
{% endif %}
            }
        }
        if (found != NOTHING) {
            for (var i = k + 1u + own; i < rows; i += members) {
                let l = div(element(base + i * pitch + k), pivot);
                put(base + i * pitch + k, l);
{{ "                look(team, l);" if guarded else "" }}
            }
        }
{% if guarded %}
        else {
            // Numbers that nothing divides are multipliers all the same.
            for (var i = k + 1u + own; i < rows; i += members) {
                look(team, element(base + i * pitch + k));
            }
        }
        for (var j = k + 1u + own; j < columns; j += members) {
            look(team, element(base + k * pitch + j));
        }
{% endif %}
        meet();
{% if guarded %}
        let is_careful = atomicLoad(&risky[team]) != 0u;
{% endif %}
        for (var i = k + 1u + i0; i < rows; i += row_lanes) {
            let l = element(base + i * pitch + k);
{% if guarded %}
            if (!is_careful) {
                let minus_l = bitcast<f32>(bitcast<u32>(l) ^ 0x80000000u);
                // Four elements are read before any is written: no compiler knows that the pivot's row is another one.
                let own_row = base + i * pitch;
                let of_pivot = base + k * pitch;
                var j = k + 1u + j0;
                for (; j + 3u * column_lanes < columns; j += 4u * column_lanes) {
{% for e in range(4) %}
                    let j{{ e }} = j + {{ e }}u * column_lanes;
                    let v{{ e }} = iw_fma_native(minus_l, element(of_pivot + j{{ e }}), element(own_row + j{{ e }}));
{% endfor %}
{% for e in range(4) %}
                    put(own_row + j{{ e }}, v{{ e }});
{% endfor %}
                }
                for (; j < columns; j += column_lanes) {
                    put(own_row + j, iw_fma_native(minus_l, element(of_pivot + j), element(own_row + j)));
                }
                continue;
            }
{% endif %}
            for (var j = k + 1u + j0; j < columns; j += column_lanes) {
                let at = base + i * pitch + j;
                put(at, minus(l, element(base + k * pitch + j), element(at)));
            }
        }
        meet();
    }

{% if rhs > 0 %}
    for (var left = n; left > 0u; left--) {
        let k = left - 1u;
        let pivot = element(base + k * (pitch + 1u));
        for (var j = own; j < rights; j += members) {
            let at = base + k * pitch + n + j;
            let v = div(element(at), pivot);
            put(at, v);
{{ "            look(team, v);" if guarded else "" }}
        }
        meet();
{% if guarded %}
        let is_careful = atomicLoad(&risky[team]) != 0u;
{% endif %}
        for (var i = i0; i < k; i += row_lanes) {
            let u = element(base + i * pitch + k);
{% if guarded %}
            if (!is_careful) {
                let minus_u = bitcast<f32>(bitcast<u32>(u) ^ 0x80000000u);
                for (var j = j0; j < rights; j += column_lanes) {
                    let at = base + i * pitch + n + j;
                    put(at, iw_fma_native(minus_u, element(base + k * pitch + n + j), element(at)));
                }
                continue;
            }
{% endif %}
            for (var j = j0; j < rights; j += column_lanes) {
                let at = base + i * pitch + n + j;
                put(at, minus(u, element(base + k * pitch + n + j), element(at)));
            }
        }
        meet();
    }
    if (there) {
        for (var e = own; e < rows * rights; e += members) {
            let i = e / rights;
            let j = e % rights;
            let to = {{ "order_at(orders + i)" if full else "i" }};
            let v = element(base + i * pitch + n + j);
            store_y((system * rows + to) * rights + j, bitcast<Num>(select(bitcast<Bits>(v), NAN, status != 0u)));
        }
    }
{% endif %}
{% if lu %}
    if (there) {
        for (var i = own / row_lanes; i < rows; i += column_lanes) {
            for (var j = own % row_lanes; j < n; j += row_lanes) {
                store_x((system * rows + i) * n + j, element(base + i * pitch + j));
            }
        }
        for (var i = own; i < rows; i += members) {
            perm[args.skip_perm + system * rows + i] = order_at(orders + i);
        }
    }
{% endif %}
    if (there && own == 0u) {
{% if not det %}
        states[args.skip_states + system] = status;
{% endif %}
{% if det %}
        store_y(system, product);
{% endif %}
    }
}
