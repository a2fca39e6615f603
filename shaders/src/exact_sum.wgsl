// Exact sums of rows of floats: whole numbers of many words, to which each group adds its elements' sum, so that no order shows.
// A cell is the sum of numbers with one of 32 exponents (f32) or 64 (f64), as a whole number in two's complement. An invocation holds two cells in registers,
// one of an even number and one of an odd one, since numbers that lie near each other are in one or in two neighbours. Where others come, those held are added
// to the group's cells in shared memory, by atomic additions from word to word. In the end one invocation carries from cell to cell and adds the result to the
// row's words in memory.

{% set words = 4 if wide else 2 %}
{% if wide %}
const BINS = 32u;
const LIMBS = 67u;     // words of a sum; flags follow
{% else %}
const BINS = 8u;
const LIMBS = 10u;
{% endif %}
const THREADS = 256u;
const WORDS = {{ words }}u;      // words of a number in its cell
const CELL = WORDS + 1u;
const STEP = WORDS / 2u;     // words from a cell to the next
const SUMS = BINS * CELL;
const COPIES = 8u;     // of each word, so that few invocations meet

// Word w of a cell at (bin * CELL + w) * COPIES + copy.
var<workgroup> cells: array<atomic<u32>, SUMS * COPIES>;
var<workgroup> totals: array<vec2<u32>, SUMS>;
var<workgroup> limbs: array<u32, LIMBS>;
var<private> flags: u32;

// Sums of two words.
fn add_wide(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

// A number in the words of its cell where it is not negative, else their complement, which is one less.
struct Part {
    bin: u32,
    negative: u32,
    words: vec{{ words }}<u32>,
}

// Shifts a float to its place in a cell. Infinities and NaN add nothing, and set a flag.
{% if wide %}
fn part(x: array<u32, 2>) -> Part {
    let exponent = (x[1] >> 20u) & 0x7ffu;
    let fraction = x[1] & 0xfffffu;
    let negative = x[1] >> 31u;
    let special = exponent == 2047u;
    flags |= select(0u, select(select(2u, 4u, negative != 0u), 1u, (fraction | x[0]) != 0u), special);
    let lower = select(x[0], 0u, special);
    let upper = select(select(fraction, fraction | 0x100000u, exponent != 0u), 0u, special);
    let place = max(exponent, 1u) - 1u;
    let shift = place & 31u;
    // Shifted by less than a word, and then by whole words.
    let low = lower << shift;
    let middle = (upper << shift) | ((lower >> 1u) >> (31u - shift));
    let top = (upper >> 1u) >> (31u - shift);
    let size = select(vec4<u32>(low, middle, top, 0u), vec4<u32>(0u, low, middle, top), (place & 32u) != 0u);
    return Part(place >> 6u, negative, size ^ vec4<u32>(0u - negative));
}
{% else %}
fn part(x: array<u32, 1>) -> Part {
    let exponent = (x[0] >> 23u) & 0xffu;
    let fraction = x[0] & 0x7fffffu;
    let negative = x[0] >> 31u;
    let special = exponent == 255u;
    flags |= select(0u, select(select(2u, 4u, negative != 0u), 1u, fraction != 0u), special);
    let mantissa = select(select(fraction, fraction | 0x800000u, exponent != 0u), 0u, special);
    let place = max(exponent, 1u) - 1u;
    let shift = place & 31u;
    let size = vec2<u32>(mantissa << shift, (mantissa >> 1u) >> (31u - shift));
    return Part(place >> 5u, negative, size ^ vec2<u32>(0u - negative));
}
{% endif %}

// A cell in registers: sums word by word, what was carried out of each, and how many numbers were negative.
struct Held {
    bin: u32,
    negative: u32,
    words: vec{{ words }}<u32>,
    carried: vec{{ words }}<u32>,
}

fn nothing(bin: u32) -> Held {
    return Held(bin, 0u, vec{{ words }}<u32>(0u), vec{{ words }}<u32>(0u));
}

fn is_of(x: Part, held: Held) -> bool {
    return x.bin == held.bin;
}

// No branch is in this, of which there are many copies.
fn hold(to: Held, x: Part) -> Held {
    let here = select(0u, 0xffffffffu, is_of(x, to));
    let added = x.words & vec{{ words }}<u32>(here);
    let words = to.words + added;
    let over = select(vec{{ words }}<u32>(0u), vec{{ words }}<u32>(1u), words < added);
    return Held(to.bin, to.negative + (x.negative & here), words, to.carried + over);
}

// Adds a held cell to the group's: each complement is one less than its number, and has ones in all words above.
fn put(x: Held, lane: u32) {
    let at = x.bin * (CELL * COPIES) + lane % COPIES;
    var over = x.negative;
    for (var w = 0u; w < WORDS; w++) {
        let value = x.words[w] + over;
        over = x.carried[w] + select(0u, 1u, value < over);
        if (value != 0u) {
            let old = atomicAdd(&cells[at + w * COPIES], value);
            over += select(0u, 1u, old + value < value);
        }
    }
    over -= x.negative;
    if (over != 0u) {
        atomicAdd(&cells[at + WORDS * COPIES], over);
    }
}

fn add(x: Part, lane: u32) {
    put(hold(nothing(x.bin), x), lane);
}

// args: n elements of this dispatch; row, elements of a row, 0 of one alone; tiles, groups of a row; span, elements of a group. Grid: folded.
@compute @workgroup_size(256)
fn exact_sum(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let group = (id.z * grid.y + id.y) * grid.x + id.x;
    let alone = args.row == 0u;
    let row = select(group / args.tiles, 0u, alone);
    let tile = select(group % args.tiles, group, alone);
    let row_end = select((row + 1u) * args.row, args.n, alone);
    let there = select(row < args.n / max(args.row, 1u), tile <= args.n / args.span, alone);
    let begin = select(args.n, row * args.row + tile * args.span, there);
    let last = min(row_end, args.n);
    let end = select(last, begin + args.span, max(last, begin) - begin > args.span);
    for (var k = lane; k < SUMS * COPIES; k += THREADS) {
        atomicStore(&cells[k], 0u);
    }
    workgroupBarrier();

    // Vectors of four elements, and those before and behind them.
    let first4 = min((begin + 3u) & ~3u, end);
    let last4 = max(first4, end & ~3u);
    let before = first4 - begin;
    for (var k = lane; k < before + (end - last4); k += THREADS) {
        add(part(load1(select(last4 + (k - before), begin + k, k < before))), lane);
    }
    let vectors = (last4 - first4) / 4u;
    if (lane < vectors) {
        var even = nothing(0u);
        var odd = nothing(1u);
        // Two vectors are on their way.
        var next = load4(first4 + 4u * lane);
        var after = load4(first4 + 4u * min(lane + THREADS, vectors - 1u));
        for (var v = lane; v < vectors; v += THREADS) {
            let x = next;
            next = after;
            after = load4(first4 + 4u * min(v + 2u * THREADS, vectors - 1u));
{% for e in range(4) %}
            let x{{ e }} = part(x[{{ e }}]);
            let held{{ e }} = is_of(x{{ e }}, even) | is_of(x{{ e }}, odd);
{% endfor %}
            if !(held0 & held1 & held2 & held3) {
                // The cells of the last of both kinds are held from now on.
                put(even, lane);
                put(odd, lane);
{% for e in range(4) %}
                even.bin = select(x{{ e }}.bin, even.bin, (x{{ e }}.bin & 1u) != 0u);
                odd.bin = select(odd.bin, x{{ e }}.bin, (x{{ e }}.bin & 1u) != 0u);
{% endfor %}
                even = nothing(even.bin);
                odd = nothing(odd.bin);
{% for e in range(3) %}
                if !(is_of(x{{ e }}, even) | is_of(x{{ e }}, odd)) {
                    add(x{{ e }}, lane);
                }
{% endfor %}
            }
{% for e in range(4) %}
            even = hold(even, x{{ e }});
            odd = hold(odd, x{{ e }});
{% endfor %}
        }
        put(even, lane);
        put(odd, lane);
    }
    workgroupBarrier();

    if (lane < SUMS) {
        // The highest word has the sign.
        let signed = lane % CELL == WORDS;
        var sum = vec2<u32>(0u);
        for (var copy = 0u; copy < COPIES; copy++) {
            let word = atomicLoad(&cells[lane * COPIES + copy]);
            sum = add_wide(sum, vec2<u32>(word, select(0u, 0u - (word >> 31u), signed)));
        }
        totals[lane] = sum;
    }
    workgroupBarrier();
    let home = args.skip_words + (args.steps_before * select(1u, 0u, alone) + row) * (LIMBS + 1u);
    if (flags != 0u) {
        atomicOr(&words[home + LIMBS], flags);
    }
    if (lane != 0u || begin >= end) {
        return;
    }
    // Carried from word to word.
    var rest = vec2<u32>(0u);
    for (var k = 0u; k < LIMBS; k++) {
        for (var w = k % STEP; w <= min(k, WORDS); w += STEP) {
            let bin = (k - w) / STEP;
            if (bin < BINS) {
                rest = add_wide(rest, totals[bin * CELL + w]);
            }
        }
        limbs[k] = rest.x;
        rest = vec2<u32>(rest.y, 0u - (rest.y >> 31u));
    }
    // The size is added or taken away, so that few words change.
    let negative = rest.y != 0u;
    var one = select(0u, 1u, negative);
    var over = 0u;
    for (var k = 0u; k < LIMBS; k++) {
        let word = (limbs[k] ^ select(0u, 0xffffffffu, negative)) + one;
        one = select(0u, one, word == 0u);
        let value = word + over;
        over = select(0u, 1u, value < word);
        if (value != 0u) {
            let old = atomicAdd(&words[home + k], select(value, 0u - value, negative));
            over |= select(select(0u, 1u, old + value < value), select(0u, 1u, old < value), negative);
        }
    }
}
