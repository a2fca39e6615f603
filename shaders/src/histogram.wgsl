// Histogram: out[bin of i] += what i adds, for i below n; a bin outside is none. Counts, wrapping weights of one or two words, or f32 and f64 weights
// as whole numbers of 10 and 67 words (and one of flags), so there is no order to keep.
// A workgroup has bins of its own in shared memory, in several copies: invocation i adds to copy i % copies, and copies of a bin are neighbours, so
// that equal samples meet in few places and different ones seldom in a bank. Where the bins are too many, a place in shared memory belongs to
// the first bin that asks for it, which most samples of a frequent bin find there, and the others add to the output.

const THREADS = {{ threads }}u;
const ROWS = {{ rows }}u;        // vectors of 4 elements that an invocation has in flight
const BLOCK = 4u * ROWS * THREADS;
{% if all %}
// Every sample is in a bin.
const SHIFT = {{ shift }}u;
{% endif %}
{% if cells > 0 %}
const CELLS = {{ cells }}u;

// With a bin more for what is in none, where there is room.
var<workgroup> own: array<atomic<u32>, CELLS{{ " + 32u" if spare }}>;
{% endif %}
{% if cached %}
// The bin that a cell belongs to, plus one.
var<workgroup> owners: array<atomic<u32>, CELLS>;
{% endif %}

// Adds to word k of a number of LIMBS words and carries on; a word's copies are `step` apart. Flags lie behind the words.
{% if sum >= 3 %}
const LIMBS = {{ 67 if sum == 4 else 10 }}u;

{% for name in (["out", "own"] if cells > 0 else ["out"]) %}
fn {{ name }}_carry(at: u32, step: u32, k: u32, value: u32) {
    var place = k;
    var rest = value;
    while (rest != 0u && place < LIMBS) {
        let old = atomicAdd(&{{ name }}[at + place * step], rest);
        rest = select(0u, 1u, old + rest < rest);
        place++;
    }
}

// Takes away, likewise.
fn {{ name }}_borrow(at: u32, step: u32, k: u32, value: u32) {
    var place = k;
    var rest = value;
    while (rest != 0u && place < LIMBS) {
        let old = atomicSub(&{{ name }}[at + place * step], rest);
        rest = select(0u, 1u, old < rest);
        place++;
    }
}

{% if sum == 3 %}
fn {{ name }}_exact(at: u32, step: u32, bits: u32) {
    let exponent = (bits >> 23u) & 0xffu;
    let fraction = bits & 0x7fffffu;
    let negative = (bits >> 31u) != 0u;
    if (exponent == 255u) {
        atomicOr(&{{ name }}[at + LIMBS * step], select(select(2u, 4u, negative), 1u, fraction != 0u));
        return;
    }
    let mantissa = select(fraction | 0x800000u, fraction, exponent == 0u);
    let place = max(exponent, 1u) - 1u;
    let shift = place % 32u;
    let k = place / 32u;
    let low = mantissa << shift;
    let high = (mantissa >> 1u) >> (31u - shift);
    if (negative) {
        {{ name }}_borrow(at, step, k, low);
        {{ name }}_borrow(at, step, k + 1u, high);
    } else {
        {{ name }}_carry(at, step, k, low);
        {{ name }}_carry(at, step, k + 1u, high);
    }
}
{% else %}
fn {{ name }}_exact(at: u32, step: u32, low: u32, high: u32) {
    let exponent = (high >> 20u) & 0x7ffu;
    let fraction = high & 0xfffffu;
    let negative = (high >> 31u) != 0u;
    if (exponent == 2047u) {
        atomicOr(&{{ name }}[at + LIMBS * step], select(select(2u, 4u, negative), 1u, (fraction | low) != 0u));
        return;
    }
    let upper = select(fraction | 0x100000u, fraction, exponent == 0u);
    let place = max(exponent, 1u) - 1u;
    let shift = place % 32u;
    let k = place / 32u;
    let middle = (upper << shift) | ((low >> 1u) >> (31u - shift));
    let top = (upper >> 1u) >> (31u - shift);
    if (negative) {
        {{ name }}_borrow(at, step, k, low << shift);
        {{ name }}_borrow(at, step, k + 1u, middle);
        {{ name }}_borrow(at, step, k + 2u, top);
    } else {
        {{ name }}_carry(at, step, k, low << shift);
        {{ name }}_carry(at, step, k + 1u, middle);
        {{ name }}_carry(at, step, k + 2u, top);
    }
}
{% endif %}
{% endfor %}
{% endif %}

// A sum of one or two words to a bin of the output.
fn add_out(bin: u32, low: u32, high: u32) {
{% if out_words == 2 %}
    let at = args.skip_out + bin * 2u;
    let old = atomicAdd(&out[at], low);
    // A carry goes up whenever the low word wraps, so the two words are the sum in whatever order.
    let rest = high + select(0u, 1u, old + low < low);
    if (rest != 0u) {
        atomicAdd(&out[at + 1u], rest);
    }
{% else %}
    atomicAdd(&out[args.skip_out + bin], low);
{% endif %}
}

{% if cached %}
fn add_cached(bin: u32, value: u32) {
    let cell = (bin * 2654435769u) >> {{ cell_shift }}u;
    var owner = atomicLoad(&owners[cell]);
    if (owner == 0u) {
        let claim = atomicCompareExchangeWeak(&owners[cell], 0u, bin + 1u);
        owner = select(claim.old_value, bin + 1u, claim.exchanged);
    }
    if (owner == bin + 1u) {
        atomicAdd(&own[cell], value);
    } else {
        add_out(bin, value, 0u);
    }
}
{% endif %}

// Adds one element, whose weight lies behind its bins.
fn add(item: array<u32, {{ words }}>, copy: u32) {
{% for k in range(bins) %}
    let bin{{ k }} = item[{{ k }}]{{ " - args.first" if not all }};
{% if all %}
    atomicAdd(&own[(bin{{ k }} << SHIFT) | copy], {{ "1u" if sum == 0 else "item[" ~ bins ~ "]" }});
{% elif spare %}
    // Costs less than a branch.
    atomicAdd(&own[(min(bin{{ k }}, args.bins) << args.shift) + copy], {{ "1u" if sum == 0 else "item[" ~ bins ~ "]" }});
{% else %}
    if (bin{{ k }} < args.bins) {
{% if sum >= 3 and cells > 0 %}
        own_exact(((bin{{ k }} * (LIMBS + 1u)) << args.shift) + copy, 1u << args.shift, item[{{ bins }}]{{ ", item[" ~ (bins + 1) ~ "]" if sum == 4 }});
{% elif sum >= 3 %}
        out_exact(args.skip_out + bin{{ k }} * (LIMBS + 1u), 1u, item[{{ bins }}]{{ ", item[" ~ (bins + 1) ~ "]" if sum == 4 }});
{% elif cached %}
        add_cached(bin{{ k }}, {{ "1u" if sum == 0 else "item[" ~ bins ~ "]" }});
{% elif cells == 0 %}
        add_out(bin{{ k }}, {{ "1u" if sum == 0 else "item[" ~ bins ~ "]" }}, {{ "item[" ~ (bins + 1) ~ "]" if sum == 2 else "0u" }});
{% elif sum == 0 %}
        atomicAdd(&own[(bin{{ k }} << args.shift) + copy], 1u);
{% elif sum == 1 %}
        atomicAdd(&own[(bin{{ k }} << args.shift) + copy], item[{{ bins }}]);
{% else %}
        let at = ((bin{{ k }} * 2u) << args.shift) + copy;
        let old = atomicAdd(&own[at], item[{{ bins }}]);
        let rest = item[{{ bins + 1 }}] + select(0u, 1u, old + item[{{ bins }}] < item[{{ bins }}]);
        if (rest != 0u) {
            atomicAdd(&own[at + (1u << args.shift)], rest);
        }
{% endif %}
    }
{% endif %}
{% endfor %}
}

// args: n elements of this dispatch; groups of the grid; first bin that it sees, and their number; log2 of the copies; words of `out` before the
// first bin. Grid: groups, folded.
@compute @workgroup_size({{ threads }})
fn histogram(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let group = (id.z * grid.y + id.y) * grid.x + id.x;
    let copy = lane & ((1u << {{ "SHIFT" if all else "args.shift" }}) - 1u);
{% if cells > 0 %}
    for (var cell = lane; cell < CELLS{{ " + 32u" if spare }}; cell += THREADS) {
        atomicStore(&own[cell], 0u);
{% if cached %}
        atomicStore(&owners[cell], 0u);
{% endif %}
    }
    workgroupBarrier();
{% endif %}
    if (group < args.groups) {
        for (var block = group; block < (args.n + (BLOCK - 1u)) / BLOCK; block += args.groups) {
            let start = block * BLOCK + lane * 4u;
{% for r in range(rows) %}
            let i{{ r }} = start + {{ r }}u * (4u * THREADS);
            let whole{{ r }} = max(i{{ r }}, args.n) - i{{ r }} >= 4u;
            // Without a branch, so that all rows are on their way at once.
            let x{{ r }} = load4(select(0u, i{{ r }}, whole{{ r }}));
{% endfor %}
{% for r in range(rows) %}
            if (whole{{ r }}) {
{% for e in range(4) %}
                add(x{{ r }}[{{ e }}], copy);
{% endfor %}
            }
{% endfor %}
        }
        // The vector that the end cuts.
        if (group == 0u && lane < args.n % 4u) {
            add(load1(args.n / 4u * 4u + lane), copy);
        }
    }
{% if cells > 0 %}
    workgroupBarrier();
    let copies = 1u << args.shift;
{% if cached %}
    for (var cell = lane; cell < CELLS; cell += THREADS) {
        let total = atomicLoad(&own[cell]);
        if (total != 0u) {
            add_out(atomicLoad(&owners[cell]) - 1u, total, 0u);
        }
    }
{% else %}
    for (var bin = lane; bin < args.bins; bin += THREADS) {
{% if sum < 2 %}
        var total = 0u;
        for (var c = 0u; c < copies; c++) {
            total += atomicLoad(&own[(bin << args.shift) + ((c + lane) & (copies - 1u))]);
        }
        if (total != 0u) {
            add_out(bin, total, 0u);
        }
{% elif sum == 2 %}
        var low = 0u;
        var high = 0u;
        for (var c = 0u; c < copies; c++) {
            let at = ((bin * 2u) << args.shift) + c;
            let more = atomicLoad(&own[at]);
            low += more;
            high += atomicLoad(&own[at + copies]) + select(0u, 1u, low < more);
        }
        if ((low | high) != 0u) {
            add_out(bin, low, high);
        }
{% else %}
        for (var c = 0u; c < copies; c++) {
            let at = ((bin * (LIMBS + 1u)) << args.shift) + c;
            for (var k = 0u; k < LIMBS; k++) {
                out_carry(args.skip_out + bin * (LIMBS + 1u), 1u, k, atomicLoad(&own[at + k * copies]));
            }
            let flags = atomicLoad(&own[at + LIMBS * copies]);
            if (flags != 0u) {
                atomicOr(&out[args.skip_out + bin * (LIMBS + 1u) + LIMBS], flags);
            }
        }
{% endif %}
    }
{% endif %}
{% endif %}
}
