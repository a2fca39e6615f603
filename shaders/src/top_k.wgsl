// Top-k: the indices of the first k keys of a stable sort, in any order (a sort of them follows).
// top_k_sample takes keys from all over the array; top_k_start finds the one of a given rank among them. top_k_filter lists the keys up to that one,
// with their indices, and counts those before it and those equal to it; top_k_decide says from these numbers whether the list has all that is
// needed, or else that the source is read again. top_k_count counts a digit, from the highest on, of the keys that agree in those before, and then
// of the indices of the keys that equal the last one; top_k_pick finds the digit of the one that is wanted. top_k_collect takes the keys up to it.
// Nothing depends on the order of a list: every pair of key and index is there once, and is taken or not by itself.
{% set key_words = 2 if size == 8 else 1 %}
{% set narrow = size if size < 4 else 0 %}
{% set reads = step in [0, 2, 4, 6] %}
const THREADS = {{ threads }}u;
const ITEMS = {{ items }}u;
const TILE = THREADS * ITEMS;
const BINS = {{ bins }}u;

// Words of the state: the last key that is taken, as far as it is known, and the last index of a key equal to it; how many of what is left come up to
// it; what is looked for; whether the list is read, and its length; keys before the sample and equal to it; elements listed; elements taken.
const THRESHOLD = 0u;
const INDEX = 2u;
const RANK = 3u;
const PHASE = 4u;
const LISTED = 5u;
const LENGTH = 6u;
const LESS = 7u;
const EQUAL = 8u;
const CURSOR = 9u;
const TAKEN = 10u;
const COUNTS = 16u;

// Phases: digits of keys, digits of indices, nothing.
const KEYS = 0u;
const INDICES = 1u;
const DONE = 2u;

{% if key_words == 2 %}
alias Key = vec2<u32>;

fn shifted(v: Key, by: u32) -> Key {
    let low = select((v.x >> (by & 31u)) | ((v.y << 1u) << (~by & 31u)), v.y >> (by & 31u), by >= 32u);
    let high = select(v.y >> (by & 31u), 0u, by >= 32u);
    return select(Key(low, high), Key(0u), by >= 64u);
}
fn before(a: Key, b: Key) -> bool {
    return (a.y < b.y) | ((a.y == b.y) & (a.x < b.x));
}
fn same(a: Key, b: Key) -> bool {
    return (a.x == b.x) & (a.y == b.y);
}
fn low_word(v: Key) -> u32 {
    return v.x;
}
{% else %}
alias Key = u32;

fn shifted(v: Key, by: u32) -> Key {
    return select(v >> (by & 31u), 0u, by >= 32u);
}
fn before(a: Key, b: Key) -> bool {
    return a < b;
}
fn same(a: Key, b: Key) -> bool {
    return a == b;
}
fn low_word(v: Key) -> u32 {
    return v;
}
{% endif %}

{% if step > 0 %}
fn threshold() -> Key {
{% if key_words == 2 %}
    return Key(atomicLoad(&state[THRESHOLD]), atomicLoad(&state[THRESHOLD + 1u]));
{% else %}
    return atomicLoad(&state[THRESHOLD]);
{% endif %}
}
{% endif %}
{% if reads %}
// Returns the bits that the key of the window's element `i` is compared by.
fn value_at(i: u32) -> Key {
    let at = i + args.skip_keys;
{% if key_words == 2 %}
    let key = keys[at];
    let negative = select(Key(0u), Key(args.negative, args.negative_high), (key.y >> 31u) != 0u);
    return shifted(key ^ negative ^ Key(args.flip, args.flip_high), args.start) & Key(args.compared, args.compared_high);
{% else %}
{% if narrow == 1 %}
    let key = extractBits(keys[at / 4u], at % 4u * 8u, 8u);
{% elif narrow == 2 %}
    let key = extractBits(keys[at / 2u], at % 2u * 16u, 16u);
{% else %}
    let key = keys[at];
{% endif %}
    let negative = select(0u, args.negative, ((key >> args.sign_bit) & 1u) != 0u);
    return shifted(key ^ negative ^ args.flip, args.start) & args.compared;
{% endif %}
}
{% endif %}

// This workgroup's number.
fn number(group: vec3<u32>, grid: vec3<u32>) -> u32 {
    return (group.z * grid.y + group.y) * grid.x + group.x;
}

{% if step == 0 %}
// One of every `part` keys, anywhere in its part. args: n keys of the window, the first of them; samples.
@compute @workgroup_size({{ threads }})
fn top_k_sample(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let sample = number(group, grid) * THREADS + lane;
    if (sample >= args.samples) {
        return;
    }
    var mixed = sample * 0x9e3779b9u;
    mixed = (mixed ^ (mixed >> 15u)) * 0x85ebca6bu;
    let at = sample * args.part + (mixed ^ (mixed >> 13u)) % args.part - args.base;
    if (at < args.n) {
        list_values[sample] = value_at(at);
    }
}
{% endif %}
{% if step == 1 or step == 5 %}
var<workgroup> sums: array<u32, THREADS>;

// The sum of the values of the invocations before this one.
fn sum_before(v: u32, lane: u32) -> u32 {
    sums[lane] = v;
    workgroupBarrier();
    for (var reach = 1u; reach < THREADS; reach *= 2u) {
        let more = sums[max(lane, reach) - reach];
        workgroupBarrier();
        sums[lane] += select(0u, more, lane >= reach);
        workgroupBarrier();
    }
    return sums[lane] - v;
}
{% endif %}
{% if step == 1 %}
var<workgroup> counts: array<atomic<u32>, THREADS>;
var<workgroup> digit: u32;
var<workgroup> rank: u32;

// One workgroup. args: samples, the rank that is looked for (from 1), the bits that are compared. Clears the state.
@compute @workgroup_size({{ threads }})
fn top_k_start(@builtin(local_invocation_index) lane: u32) {
    for (var k = lane; k < COUNTS + BINS; k += THREADS) {
        atomicStore(&state[k], 0u);
    }
    if (lane == 0u) {
        rank = args.rank;
    }
    var found = Key();
    var top = args.width;
    while (top > 0u) {
        let bits = min(top, 8u);
        let shift = top - bits;
        atomicStore(&counts[lane], 0u);
        workgroupBarrier();
        for (var k = lane; k < args.samples; k += THREADS) {
            let v = list_values[k];
            if (same(shifted(v, top), shifted(found, top))) {
                atomicAdd(&counts[low_word(shifted(v, shift)) & ((1u << bits) - 1u)], 1u);
            }
        }
        workgroupBarrier();
        let wanted = workgroupUniformLoad(&rank);
        let own = atomicLoad(&counts[lane]);
        let less = sum_before(own, lane);
        if (less < wanted && wanted <= less + own) {
            digit = lane;
            rank = wanted - less;
        }
        let here = workgroupUniformLoad(&digit);
{% if key_words == 2 %}
        if (shift >= 32u) {
            found.y |= here << (shift - 32u);
        } else {
            found.x |= here << shift;
            found.y |= (here >> 1u) >> (31u - shift);
        }
{% else %}
        found |= here << shift;
{% endif %}
        top = shift;
    }
    workgroupBarrier();
    if (lane == 0u) {
{% if key_words == 2 %}
        atomicStore(&state[THRESHOLD], found.x);
        atomicStore(&state[THRESHOLD + 1u], found.y);
{% else %}
        atomicStore(&state[THRESHOLD], found);
{% endif %}
    }
}
{% endif %}
{% if step == 2 or step == 6 %}
// Elements of the tile that the workgroup takes, and where the first of them goes.
var<workgroup> takers: atomic<u32>;
var<workgroup> base: u32;

// The first of `count` places of a list for this invocation, of those that the workgroup draws from a counter together. All invocations call it,
// with `takers` zero.
fn places_for(count: u32, counter: u32, lane: u32) -> u32 {
    var place = 0u;
    if (count != 0u) {
        place = atomicAdd(&takers, count);
    }
    workgroupBarrier();
    if (lane == 0u) {
        let all = atomicLoad(&takers);
        base = 0u;
        if (all != 0u) {
            base = atomicAdd(&state[counter], all);
        }
    }
    return place + workgroupUniformLoad(&base);
}
{% endif %}
{% if step == 2 %}
var<workgroup> less_of_all: atomic<u32>;
var<workgroup> equal_of_all: atomic<u32>;

// args: n keys of the window, the first of them; groups of the grid; room of the list.
@compute @workgroup_size({{ threads }})
fn top_k_filter(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    if (lane == 0u) {
        atomicStore(&less_of_all, 0u);
        atomicStore(&equal_of_all, 0u);
    }
    let last = threshold();
    var less = 0u;
    var equal = 0u;
    for (var tile = number(group, grid); tile < (args.n + (TILE - 1u)) / TILE; tile += args.groups) {
        if (lane == 0u) {
            atomicStore(&takers, 0u);
        }
        workgroupBarrier();
        var taken = 0u;
        for (var k = 0u; k < ITEMS; k++) {
            // Without a branch, so that all keys are on their way at once.
            let i = tile * TILE + k * THREADS + lane;
            let v = value_at(min(i, args.n - 1u));
            let there = i < args.n;
            let is_less = there && before(v, last);
            let is_equal = there && same(v, last);
            less += u32(is_less);
            equal += u32(is_equal);
            taken |= u32(is_less || is_equal) << k;
        }
        var place = places_for(countOneBits(taken), CURSOR, lane);
        while (taken != 0u) {
            let i = tile * TILE + countTrailingZeros(taken) * THREADS + lane;
            if (place < args.room) {
                list_values[place] = value_at(i);
                list_places[place] = i + args.base;
            }
            place++;
            taken &= taken - 1u;
        }
    }
    workgroupBarrier();
    atomicAdd(&less_of_all, less);
    atomicAdd(&equal_of_all, equal);
    workgroupBarrier();
    if (lane == 0u) {
        atomicAdd(&state[LESS], atomicLoad(&less_of_all));
        atomicAdd(&state[EQUAL], atomicLoad(&equal_of_all));
    }
}
{% endif %}
{% if step == 3 %}
// args: k, room of the list.
@compute @workgroup_size(1)
fn top_k_decide() {
    let less = atomicLoad(&state[LESS]);
    let all = less + atomicLoad(&state[EQUAL]);
    atomicStore(&state[LISTED], u32(all >= args.wanted && all <= args.room));
    atomicStore(&state[LENGTH], all);
    if (less < args.wanted && args.wanted <= all) {
        // The sample is the last key.
        atomicStore(&state[RANK], args.wanted - less);
        let done = all == args.wanted;
        atomicStore(&state[PHASE], select(INDICES, DONE, done));
        atomicStore(&state[INDEX], select(0u, 0xffffffffu, done));
    } else {
        atomicStore(&state[RANK], args.wanted);
        atomicStore(&state[PHASE], KEYS);
        atomicStore(&state[THRESHOLD], 0u);
        atomicStore(&state[THRESHOLD + 1u], 0u);
    }
}
{% endif %}
{% if step == 4 %}
var<workgroup> counts: array<atomic<u32>, BINS>;
var<workgroup> phase: u32;
var<workgroup> begin: u32;
var<workgroup> end: u32;
var<workgroup> listed: u32;

// args: n keys of the window, the first of them; groups of the grid; `indexed`: the phase that this digit belongs to; its lowest bit, and its bits.
@compute @workgroup_size({{ threads }})
fn top_k_count(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let last = threshold();
    let index = atomicLoad(&state[INDEX]);
    let top = args.shift + args.digit_bits;
    if (lane == 0u) {
        phase = atomicLoad(&state[PHASE]);
        listed = atomicLoad(&state[LISTED]);
        begin = 0u;
        end = args.n;
        if (listed != 0u) {
            // The list is read with the first window.
            end = select(0u, atomicLoad(&state[LENGTH]), args.base == 0u);
        } else if (args.indexed != 0u) {
            // Of the source, the elements whose indices agree so far.
            begin = min(max(index, args.base) - args.base, args.n);
            let room = 0xffffffffu - index;
            let reach = select(1u << (top & 31u), 0xffffffffu, top >= 32u);
            end = min(max(index + min(room, reach), args.base) - args.base, args.n);
        }
    }
    if (workgroupUniformLoad(&phase) != args.indexed) {
        return;
    }
    for (var k = lane; k < BINS; k += THREADS) {
        atomicStore(&counts[k], 0u);
    }
    let from_list = workgroupUniformLoad(&listed) != 0u;
    let from_ = workgroupUniformLoad(&begin);
    let to = workgroupUniformLoad(&end);
    let mask = (1u << args.digit_bits) - 1u;
    for (var at = from_ + number(group, grid) * TILE; at < to; at += args.groups * TILE) {
        for (var k = 0u; k < ITEMS; k++) {
            let i = at + k * THREADS + lane;
            if (i >= to) {
                break;
            }
            var v: Key;
            var place = i + args.base;
            if (from_list) {
                v = list_values[i];
                place = list_places[i];
            } else {
                v = value_at(i);
            }
            if (args.indexed != 0u) {
                let apart = (place ^ index) >> (top & 31u);
                if (same(v, last) && (top >= 32u || apart == 0u)) {
                    atomicAdd(&counts[(place >> args.shift) & mask], 1u);
                }
            } else if (same(shifted(v, top), shifted(last, top))) {
                atomicAdd(&counts[low_word(shifted(v, args.shift)) & mask], 1u);
            }
        }
    }
    workgroupBarrier();
    for (var k = lane; k < BINS; k += THREADS) {
        let count = atomicLoad(&counts[k]);
        if (count != 0u) {
            atomicAdd(&state[COUNTS + k], count);
        }
    }
}
{% endif %}
{% if step == 5 %}
const EACH = BINS / THREADS;
var<workgroup> phase: u32;

// One workgroup. args: as for top_k_count. Leaves the counts zero.
@compute @workgroup_size({{ threads }})
fn top_k_pick(@builtin(local_invocation_index) lane: u32) {
    if (lane == 0u) {
        phase = atomicLoad(&state[PHASE]);
    }
    if (workgroupUniformLoad(&phase) != args.indexed) {
        return;
    }
    let wanted = atomicLoad(&state[RANK]);
    var own = 0u;
    var count: array<u32, EACH>;
    for (var k = 0u; k < EACH; k++) {
        let at = COUNTS + lane * EACH + k;
        count[k] = atomicLoad(&state[at]);
        own += count[k];
        atomicStore(&state[at], 0u);
    }
    var less = sum_before(own, lane);
    if (less >= wanted || wanted > less + own) {
        return;
    }
    // One invocation goes on.
    var k = 0u;
    while (k + 1u < EACH && less + count[k] < wanted) {
        less += count[k];
        k++;
    }
    let digit = lane * EACH + k;
    // All with this digit are taken: what is below it does not matter.
    let done = less + count[k] == wanted;
    atomicStore(&state[RANK], wanted - less);
    let ones = (1u << (args.shift & 31u)) - 1u;
    if (args.indexed != 0u) {
        atomicStore(&state[INDEX], atomicLoad(&state[INDEX]) | (digit << args.shift) | select(0u, ones, done));
    } else {
        var last = threshold();
{% if key_words == 2 %}
        if (args.shift >= 32u) {
            last.y |= (digit << (args.shift - 32u)) | select(0u, ones, done);
            last.x |= select(0u, 0xffffffffu, done);
        } else {
            last.x |= (digit << args.shift) | select(0u, ones, done);
            last.y |= (digit >> 1u) >> (31u - args.shift);
        }
        atomicStore(&state[THRESHOLD], last.x);
        atomicStore(&state[THRESHOLD + 1u], last.y);
{% else %}
        last |= (digit << args.shift) | select(0u, ones, done);
        atomicStore(&state[THRESHOLD], last);
{% endif %}
        atomicStore(&state[INDEX], select(0u, 0xffffffffu, done));
    }
    if (done) {
        atomicStore(&state[PHASE], DONE);
    } else if (args.indexed == 0u && args.shift == 0u) {
        atomicStore(&state[PHASE], INDICES);
    }
}
{% endif %}
{% if step == 6 %}
var<workgroup> to: u32;
var<workgroup> listed: u32;

// args: n keys of the window, the first of them; groups of the grid; k.
@compute @workgroup_size({{ threads }})
fn top_k_collect(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let last = threshold();
    let index = atomicLoad(&state[INDEX]);
    if (lane == 0u) {
        listed = atomicLoad(&state[LISTED]);
        to = args.n;
        if (listed != 0u) {
            to = select(0u, atomicLoad(&state[LENGTH]), args.base == 0u);
        }
    }
    let from_list = workgroupUniformLoad(&listed) != 0u;
    let end = workgroupUniformLoad(&to);
    for (var at = number(group, grid) * TILE; at < end; at += args.groups * TILE) {
        if (lane == 0u) {
            atomicStore(&takers, 0u);
        }
        workgroupBarrier();
        var taken = 0u;
        for (var k = 0u; k < ITEMS; k++) {
            let i = at + k * THREADS + lane;
            if (i >= end) {
                break;
            }
            var v: Key;
            var place = i + args.base;
            if (from_list) {
                v = list_values[i];
                place = list_places[i];
            } else {
                v = value_at(i);
            }
            taken |= u32(before(v, last) || (same(v, last) && place <= index)) << k;
        }
        var slot = places_for(countOneBits(taken), TAKEN, lane);
        while (taken != 0u) {
            let i = at + countTrailingZeros(taken) * THREADS + lane;
            if (slot < args.wanted) {
                if (from_list) {
                    found[slot] = list_places[i];
                } else {
                    found[slot] = i + args.base;
                }
            }
            slot++;
            taken &= taken - 1u;
        }
    }
}
{% endif %}
