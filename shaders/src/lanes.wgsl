// Trees over the lanes of a subgroup, of any width from 4 to 128. Invocation i of the workgroup is lane i % size of subgroup i / size, which
// the start-up probe has measured. The backend writes `shuffle(v, from)` and `shuffle_xor(v, mask)`, accumulators as lane `from` or
// lane ^ mask holds them; they stand only where the whole workgroup passes.

// n / size and n % size: widths and counts of lanes are powers of two, which no compiler knows.
fn subgroup_of(n: u32, size: u32) -> u32 {
    return n >> countTrailingZeros(size);
}

fn place_of(n: u32, size: u32) -> u32 {
    return n & (size - 1u);
}

// Nodes that lie `from_`, 2 `from`, ... `to / 2` lanes apart, combined: a lane whose index has none of these bits gets the node over those
// that differ from it in these bits alone; the other lanes get something.
fn join(x: Acc, from_: u32, to: u32) -> Acc {
    var v = x;
    for (var step = from_; step < to; step *= 2u) {
        v = combine(v, shuffle_xor(v, step));
    }
    return v;
}

// The same from one lane up to `size`, of nodes that are there for the first `count` lanes only; `place` is the lane's index among them.
fn join_first(x: Acc, place: u32, size: u32, count: u32) -> Acc {
    var v = x;
    for (var step = 1u; step < size; step *= 2u) {
        let right = shuffle_xor(v, step);
        if (place + step < count) {
            v = combine(v, right);
        }
    }
    return v;
}

{% if rows_in_lanes %}
fn pick(a: Acc, b: Acc, second: bool) -> Acc {
    var v = a;
    if (second) {
        v = b;
    }
    return v;
}

// Lanes `step` apart join their nodes of two rows: the lower one those of row a, the upper one those of row b. Half the shuffles of
// joining both rows in every lane.
fn exchange(a: Acc, b: Acc, lane: u32, step: u32) -> Acc {
    let upper = (lane & step) != 0u;
    let other = shuffle_xor(pick(b, a, upper), step);
    return combine(pick(a, other, upper), pick(other, b, upper));
}

// The node over {{ rows }} consecutive rows of as many nodes as the subgroup has lanes, in lane 0.
fn node_of_rows(x: array<Acc, {{ rows }}>, lane: u32, size: u32) -> Acc {
{% if rows == 1 %}
    return join(x[0], 1u, size);
{% elif rows == 2 %}
    return join(join(exchange(x[0], x[1], lane, 1u), 2u, size), 1u, 2u);
{% else %}
    let a = exchange(exchange(x[0], x[1], lane, 1u), exchange(x[2], x[3], lane, 1u), lane, 2u);
{% if rows == 4 %}
    return join(join(a, 4u, size), 1u, 4u);
{% else %}
    let b = exchange(exchange(x[4], x[5], lane, 1u), exchange(x[6], x[7], lane, 1u), lane, 2u);
    if (size == 4u) {
        return combine(join(a, 1u, 4u), join(b, 1u, 4u));
    }
    return join(join(exchange(a, b, lane, 4u), 8u, size), 1u, 8u);
{% endif %}
{% endif %}
}
{% endif %}
