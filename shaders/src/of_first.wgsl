// Of an operator that is long, each place where it stands is long to compile: here it stands once to each of these functions' calls.

// The node over the first `count` values; there is at least one.
fn of_first(values: array<Acc, 8>, count: u32) -> Acc {
    var x = values;
    for (var step = 1u; step < min(count, 8u); step *= 2u) {
        for (var e = 0u; e + step < min(count, 8u); e += 2u * step) {
            x[e] = combine(x[e], x[e + step]);
        }
    }
    return x[0];
}

// The node over elements i..i+3, those before `end`; there is at least one.
fn quad(i: u32, end: u32) -> Acc {
    var x: array<Acc, 8>;
    for (var e = 0u; e < min(end - i, 4u); e++) {
        x[e] = load1(i + e);
    }
    return of_first(x, min(end - i, 4u));
}
