// Ranks of a tile's keys by their digits. The same words of shared memory hold counters first and then keys on their way out.
// A part of sort.wgsl.
{% if subgroups %}
// Each subgroup counts its own keys, in order, one key of every lane at a time: lanes with the same value find each other by ballots, and the
// lowest of them counts for all. A lane's counter is so touched by one lane at a time, and a shuffle hands out what it held.
var<workgroup> words: array<atomic<u32>, {{ words }}>;
// Behind the counters: a total to each subgroup, and the rank of the first key of each value.
const TOTALS = {{ counters }}u;
const STARTS = TOTALS + {{ threads // 4 }}u;

fn word_at(i: u32) -> u32 {
    return atomicLoad(&words[i]);
}

fn put_word(i: u32, v: u32) {
    atomicStore(&words[i], v);
}

fn start_ranking(lane: u32) {
    for (var k = lane; k < {{ counters }}u; k += THREADS) {
        put_word(k, 0u);
    }
    workgroupBarrier();
}

{% if wide %}
alias Lanes = vec4<u32>;

fn ballot(yes: bool) -> Lanes {
    return subgroupBallot(yes);
}

fn how_many(lanes: Lanes) -> u32 {
    return countOneBits(lanes.x) + countOneBits(lanes.y) + countOneBits(lanes.z) + countOneBits(lanes.w);
}

fn lowest(lanes: Lanes) -> u32 {
    if (lanes.x != 0u) {
        return firstTrailingBit(lanes.x);
    }
    if (lanes.y != 0u) {
        return 32u + firstTrailingBit(lanes.y);
    }
    if (lanes.z != 0u) {
        return 64u + firstTrailingBit(lanes.z);
    }
    return 96u + firstTrailingBit(lanes.w);
}

fn lanes_below(place: u32) -> Lanes {
    let bits = vec4(place) - min(vec4(place), vec4(0u, 32u, 64u, 96u));
    return select((vec4(1u) << (bits & vec4(31u))) - vec4(1u), vec4(0xffffffffu), bits >= vec4(32u));
}
{% else %}
alias Lanes = u32;

fn ballot(yes: bool) -> Lanes {
    return subgroupBallot(yes).x;
}

fn how_many(lanes: Lanes) -> u32 {
    return countOneBits(lanes);
}

fn lowest(lanes: Lanes) -> u32 {
    return firstTrailingBit(lanes);
}

fn lanes_below(place: u32) -> Lanes {
    return (1u << place) - 1u;
}
{% endif %}

// Counts the keys of this value that the subgroup has had before this lane's.
fn rank_one(digit: u32, lane: u32, size: u32) -> u32 {
    var same = ballot(true);
{% for b in range(digit_bits) %}
    {
        let one = (digit & {{ 2 ** b }}u) != 0u;
        let ones = ballot(one);
        same &= select(~ones, ones, one);
    }
{% endfor %}
    let before = how_many(same & lanes_below(lane % size));
    var had = 0u;
    if (before == 0u) {
        had = atomicAdd(&words[lane / size * RADIX + digit], how_many(same));
    }
    return before + subgroupShuffle(had, lowest(same));
}

// Counts become the counts of the subgroups before; the result is how many keys have values below `lane`.
fn end_ranking(lane: u32, size: u32) -> u32 {
    workgroupBarrier();
    let subgroups = THREADS / size;
    var total = 0u;
    if (lane < RADIX) {
        for (var s = 0u; s < subgroups; s++) {
            let own = word_at(s * RADIX + lane);
            put_word(s * RADIX + lane, total);
            total += own;
        }
    }
    let below = subgroupExclusiveAdd(total);
    if (lane % size == size - 1u) {
        put_word(TOTALS + lane / size, below + total);
    }
    workgroupBarrier();
    var start = below;
    for (var s = 0u; s < lane / size; s++) {
        start += word_at(TOTALS + s);
    }
    if (lane < RADIX) {
        put_word(STARTS + lane, start);
    }
    workgroupBarrier();
    return start;
}

fn rank_of_first(digit: u32, lane: u32, size: u32) -> u32 {
    return word_at(STARTS + digit) + word_at(lane / size * RADIX + digit);
}
{% else %}
// Each invocation counts its own keys, neighbours in memory, in counters of its own: 16 bits for each value, that of value v and that of
// v + RADIX / 2 in one word, words in the order of values and then of invocations. A scan over the words is one over both halves.
const HALF = RADIX / 2u;
const COUNTERS = HALF * THREADS;
var<workgroup> words: array<u32, {{ words }}>;

fn word_at(i: u32) -> u32 {
    return words[i];
}

fn put_word(i: u32, v: u32) {
    words[i] = v;
}

fn start_ranking(lane: u32) {
    for (var k = lane; k < COUNTERS; k += THREADS) {
        words[k] = 0u;
    }
    workgroupBarrier();
}

fn rank_one(digit: u32, lane: u32) -> u32 {
    let at = digit % HALF * THREADS + lane;
    let shift = digit / HALF * 16u;
    let had = words[at];
    words[at] = had + (1u << shift);
    return (had >> shift) & 0xffffu;
}

// Counts become the counts of all before: of lower values, and of this value in lower invocations.
fn end_ranking(lane: u32) -> u32 {
    workgroupBarrier();
    // Each invocation sums HALF neighbouring words.
    var sum = 0u;
    for (var k = 0u; k < HALF; k++) {
        sum += words[lane * HALF + k];
    }
    words[COUNTERS + lane] = sum;
    workgroupBarrier();
    for (var step = 1u; step < THREADS; step *= 2u) {
        var left = 0u;
        if (lane >= step) {
            left = words[COUNTERS + lane - step];
        }
        workgroupBarrier();
        words[COUNTERS + lane] += left;
        workgroupBarrier();
    }
    // The upper half's values come after all of the lower half's.
    var before = words[COUNTERS + lane] - sum + (words[COUNTERS + THREADS - 1u] << 16u);
    for (var k = 0u; k < HALF; k++) {
        let own = words[lane * HALF + k];
        words[lane * HALF + k] = before;
        before += own;
    }
    workgroupBarrier();
    var start = 0u;
    if (lane < RADIX) {
        start = rank_of_first(lane, 0u);
    }
    return start;
}

fn rank_of_first(digit: u32, lane: u32) -> u32 {
    return (words[digit % HALF * THREADS + lane] >> (digit / HALF * 16u)) & 0xffffu;
}
{% endif %}
