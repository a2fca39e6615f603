// Exact sums of rows of floats: whole numbers of many words, to which each group adds its elements' sum, so that no order shows.
// An invocation has cells of its own in shared memory, one for 16 exponents (f32) or 64 (f64), and adds an element to one of them, as a whole number in
// two's complement. A cell has room for all that an invocation adds. In the end the cells of all invocations are added up, word by word, and one
// invocation carries from word to word and adds the result to the row's words in memory.

{% if wide %}
const THREADS = 32u;
const BINS = 32u;
const CELL = 4u;       // words of a cell
const LIMBS = 67u;     // words of a sum; flags follow
const ROWS = 2u;
{% else %}
const THREADS = 128u;
const BINS = 16u;
const CELL = 2u;
const LIMBS = 10u;
const ROWS = 4u;
{% endif %}
const SUMS = BINS * CELL;

// Word w of the cell of a bin at (bin * CELL + w) * THREADS + lane.
var<workgroup> cells: array<u32, SUMS * THREADS>;
var<private> flags: u32;

// Sums of two words.
fn add_wide(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn total(bin: u32, word: u32, lift: u32) -> vec2<u32> {
    let at = 2u * (bin * CELL + word);
    let sum = vec2<u32>(cells[at], cells[at + 1u]);
    return select(sum, vec2<u32>(sum.x << 16u, (sum.y << 16u) | (sum.x >> 16u)), lift != 0u);
}

// No branch is in these: there are many copies. What is no number adds nothing, and its flag.
{% if wide %}
fn add(x: array<u32, 2>, lane: u32) {
    let exponent = (x[1] >> 20u) & 0x7ffu;
    let fraction = x[1] & 0xfffffu;
    let negative = (x[1] >> 31u) != 0u;
    let special = exponent == 2047u;
    flags |= select(0u, select(select(2u, 4u, negative), 1u, (fraction | x[0]) != 0u), special);
    let lower = select(x[0], 0u, special);
    let upper = select(select(fraction, fraction | 0x100000u, exponent != 0u), 0u, special);
    let place = max(exponent, 1u) - 1u;
    let shift = place & 31u;
    // The whole number by its words, shifted by less than a word, and then by whole words.
    let low = lower << shift;
    let middle = (upper << shift) | ((lower >> 1u) >> (31u - shift));
    let top = (upper >> 1u) >> (31u - shift);
    let size = select(vec4<u32>(low, middle, top, 0u), vec4<u32>(0u, low, middle, top), (place & 32u) != 0u);
    let value = size ^ vec4<u32>(select(0u, 0xffffffffu, negative));
    let at = (place >> 6u) * (CELL * THREADS) + lane;
    var carry = select(0u, 1u, negative);
{% for w in range(4) %}
    let old{{ w }} = cells[at + {{ w }}u * THREADS];
    let sum{{ w }} = old{{ w }} + value[{{ w }}];
    let all{{ w }} = sum{{ w }} + carry;
    carry = select(0u, 1u, sum{{ w }} < old{{ w }}) | select(0u, 1u, all{{ w }} < sum{{ w }});
    cells[at + {{ w }}u * THREADS] = all{{ w }};
{% endfor %}
}
{% else %}
fn add(x: array<u32, 1>, lane: u32) {
    let exponent = (x[0] >> 23u) & 0xffu;
    let fraction = x[0] & 0x7fffffu;
    let negative = (x[0] >> 31u) != 0u;
    let special = exponent == 255u;
    flags |= select(0u, select(select(2u, 4u, negative), 1u, fraction != 0u), special);
    let mantissa = select(select(fraction, fraction | 0x800000u, exponent != 0u), 0u, special);
    let place = max(exponent, 1u) - 1u;
    let shift = place & 15u;
    let flip = select(0u, 0xffffffffu, negative);
    let low = (mantissa << shift) ^ flip;
    let high = ((mantissa >> 1u) >> (31u - shift)) ^ flip;
    let at = (place >> 4u) * (CELL * THREADS) + lane;
    let old = cells[at];
    let sum = old + low;
    let all = sum + (flip & 1u);
    cells[at] = all;
    cells[at + THREADS] += high + (select(0u, 1u, sum < old) | select(0u, 1u, all < sum));
}
{% endif %}

// args: n elements of this dispatch; row, elements of a row, 0 of one alone; tiles, groups of a row; span, elements of a group. Grid: folded.
@compute @workgroup_size({{ 32 if wide else 128 }})
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
    for (var k = lane; k < SUMS * THREADS; k += THREADS) {
        cells[k] = 0u;
    }
    // Only an invocation's own cells are added to, but zeroed by any.
    workgroupBarrier();

    // Vectors of four elements, and those before and behind them.
    let first4 = min((begin + 3u) & ~3u, end);
    let last4 = max(first4, end & ~3u);
    let before = first4 - begin;
    for (var k = lane; k < before + (end - last4); k += THREADS) {
        add(load1(select(last4 + (k - before), begin + k, k < before)), lane);
    }
    let vectors = (last4 - first4) / 4u;
    for (var v = lane; v < vectors; v += ROWS * THREADS) {
{% for r in range(2 if wide else 4) %}
        let v{{ r }} = v + {{ r }}u * THREADS;
        // Without a branch, so that all rows are on their way at once.
        let x{{ r }} = load4(first4 + 4u * min(v{{ r }}, vectors - 1u));
{% endfor %}
{% for r in range(2 if wide else 4) %}
        if (v{{ r }} < vectors) {
            add(x{{ r }}[0], lane);
            add(x{{ r }}[1], lane);
            add(x{{ r }}[2], lane);
            add(x{{ r }}[3], lane);
        }
{% endfor %}
    }
    workgroupBarrier();

    // Words of cells, added up over all invocations, each read from another bank.
    var sums: array<vec2<u32>, {{ 4 if wide else 1 }}>;
    for (var q = 0u; q < {{ 4 if wide else 1 }}u; q++) {
        let k = q * THREADS + lane;
        if (k < SUMS) {
            // The highest word has the sign.
            let signed = k % CELL == CELL - 1u;
            var sum = vec2<u32>(0u);
            for (var j = 0u; j < THREADS; j++) {
                let word = cells[k * THREADS + (j + k) % THREADS];
                sum = add_wide(sum, vec2<u32>(word, select(0u, 0u - (word >> 31u), signed)));
            }
            sums[q] = sum;
        }
    }
    workgroupBarrier();
    for (var q = 0u; q < {{ 4 if wide else 1 }}u; q++) {
        let k = q * THREADS + lane;
        if (k < SUMS) {
            cells[2u * k] = sums[q].x;
            cells[2u * k + 1u] = sums[q].y;
        }
    }
    workgroupBarrier();
    let home = args.skip_words + (args.steps_before * select(1u, 0u, alone) + row) * (LIMBS + 1u);
    if (flags != 0u) {
        atomicOr(&words[home + LIMBS], flags);
    }
    if (lane != 0u || begin >= end) {
        return;
    }
    // Carried from word to word; the words are kept behind the sums.
    var rest = vec2<u32>(0u);
    for (var k = 0u; k < LIMBS; k++) {
{% if wide %}
        let bin = k / 2u;
        if (bin < BINS) {
            rest = add_wide(rest, total(bin, k % 2u, 0u));
        }
        if (bin >= 1u && bin <= BINS) {
            rest = add_wide(rest, total(bin - 1u, 2u + k % 2u, 0u));
        }
{% else %}
        if (2u * k < BINS) {
            rest = add_wide(rest, add_wide(total(2u * k, 0u, 0u), total(2u * k + 1u, 0u, 1u)));
        }
        if (k >= 1u && 2u * k <= BINS) {
            rest = add_wide(rest, add_wide(total(2u * k - 2u, 1u, 0u), total(2u * k - 1u, 1u, 1u)));
        }
{% endif %}
        cells[2u * SUMS + k] = rest.x;
        rest = vec2<u32>(rest.y, 0u - (rest.y >> 31u));
    }
    // The size is added or taken away, so that few words change.
    let negative = rest.y != 0u;
    var one = select(0u, 1u, negative);
    var over = 0u;
    for (var k = 0u; k < LIMBS; k++) {
        let word = (cells[2u * SUMS + k] ^ select(0u, 0xffffffffu, negative)) + one;
        one = select(0u, one, word == 0u);
        let value = word + over;
        over = select(0u, 1u, value < word);
        if (value != 0u) {
            let old = atomicAdd(&words[home + k], select(value, 0u - value, negative));
            over |= select(select(0u, 1u, old + value < value), select(0u, 1u, old < value), negative);
        }
    }
}
