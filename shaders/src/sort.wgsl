// Stable radix sort, a digit of some bits a pass, from the lowest on: equal digits keep their order, so any tile gives the same result.
// A pass: sort_count writes how often each digit value occurs in each tile, as [row][value][tile]; an exclusive scan of these numbers is where
// each tile's keys of each value go; sort_scatter ranks a tile's keys, puts them in order in shared memory and writes them from there, so that
// neighbours go to neighbouring places. Rows of one tile need no counting. Blocks are numbered row by row, tile by tile.
{% if parts %}
// Rows are parts of any lengths here: a table says where each tile lies, and counts are [part][value][tile].
{% endif %}
const THREADS = {{ threads }}u;
const ITEMS = {{ items }}u;
const TILE = THREADS * ITEMS;
// Values of a digit.
const RADIX = {{ 2 ** digit_bits }}u;

{% if pack %}
// Elements of {{ "8" if narrow == 1 else "16" }} bits out of words of 32; an invocation writes one word, and keeps what is not its own.
// args: n elements, first word's element less skip: element e is that of place (e + in_skip) of words.
@compute @workgroup_size({{ threads }})
fn sort_pack(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let word = ((group.z * grid.y + group.y) * grid.x + group.x) * THREADS + lane;
    let first = word * {{ 4 if narrow == 1 else 2 }}u;
    if (first >= args.n + args.out_skip) {
        return;
    }
    var packed = packed_out[word];
    for (var e = 0u; e < {{ 4 if narrow == 1 else 2 }}u; e++) {
        let i = first + e - args.out_skip;
        if (i < args.n) {
            let place = e * {{ 8 if narrow == 1 else 16 }}u;
            packed = insertBits(packed, keys_in[i + args.in_skip], place, {{ 8 if narrow == 1 else 16 }}u);
        }
    }
    packed_out[word] = packed;
}
{% else %}
{% include "sort_key.wgsl" %}
{% if parts %}

// The mask of the tile's digits: keys of no segment stay where they are.
const STAYS = {{ stays }}u;
var<private> digit_mask: u32;
{% set digit_mask = "digit_mask" %}
{% else %}
{% set digit_mask = "args.digit_mask" %}
{% endif %}

fn digit_of(key: Key) -> u32 {
    let bits = mapped(key);
    let shift = args.shift;
{% if key_words == 2 %}
    if (shift >= 32u) {
        return (bits.y >> (shift - 32u)) & {{ digit_mask }};
    }
    // A digit may lie across both words.
    let high = select(bits.y << ((32u - shift) & 31u), 0u, shift == 0u);
    return ((bits.x >> shift) | high) & {{ digit_mask }};
{% else %}
    return (bits >> shift) & {{ digit_mask }};
{% endif %}
}
{% if count %}
// Copies of the counters, so that invocations with one value get less in each other's way.
const COPIES = {{ copies }}u;
var<workgroup> counters: array<atomic<u32>, RADIX * COPIES>;

// From the end to the beginning, which the scatter then finds in the cache.
// args: n keys of a row, tiles of a row, first_block and end_block of this dispatch. Of parts: tiles of the table, and the elements, in_len from in_first on,
// that tiles of this dispatch begin in.
@compute @workgroup_size({{ threads }})
fn sort_count(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
{% if parts %}
    // As many workgroups as there are tiles would be too many where most parts are short: each takes several.
    let tiles = listed[0];
    for (var block = (group.z * grid.y + group.y) * grid.x + group.x; block < tiles; block += grid.x * grid.y * grid.z) {
        count_tile(block, lane);
        workgroupBarrier();
    }
}

fn count_tile(block: u32, lane: u32) {
{% else %}
    let turn = args.first_block + (group.z * grid.y + group.y) * grid.x + group.x;
    if (turn >= args.end_block) {
        return;
    }
    let block = args.first_block + (args.end_block - 1u - turn);
{% endif %}
{% include "sort_tile.wgsl" %}
{% set keys = ["k"] if rolled else range(items) %}
{% set u = "" if rolled else "u" %}
{% set for_each = "for (var k = 0u; k < ITEMS; k++) {" if rolled else "{" %}
    // Without a branch, so that all keys are on their way at once.
    var key: array<Key, ITEMS>;
{% for k in keys %}
    {{ for_each }}
        key[{{ k }}{{ u }}] = key_at(begin + min(lane + {{ k }}{{ u }} * THREADS, count - 1u));
    }
{% endfor %}
    for (var k = lane; k < RADIX * COPIES; k += THREADS) {
        atomicStore(&counters[k], 0u);
    }
    workgroupBarrier();
{% for k in keys %}
    {{ for_each }}
        if (lane + {{ k }}{{ u }} * THREADS < count) {
            atomicAdd(&counters[lane % COPIES * RADIX + digit_of(key[{{ k }}{{ u }}])], 1u);
        }
    }
{% endfor %}
    workgroupBarrier();
    for (var value = lane; value < RADIX; value += THREADS) {
        var sum = 0u;
        for (var copy = 0u; copy < COPIES; copy++) {
            sum += atomicLoad(&counters[copy * RADIX + value]);
        }
        counts[counter + value * counters_apart] = sum;
    }
}
{% else %}
{% include "sort_rank.wgsl" %}

// Where a tile's keys of each value go, less the rank of the first of them in the tile.
var<workgroup> bases: array<u32, RADIX>;

{% if payload_words > 0 %}
{% if payload_words == 2 %}
alias Payload = vec2<u32>;
{% else %}
alias Payload = u32;
{% endif %}

fn payload_at(i: u32, row_begin: u32) -> Payload {
{% if indices %}
    return i - row_begin;
{% else %}
    return payload_in[i - args.in_first + args.payload_in_skip];
{% endif %}
}

fn store_payload(to: u32, value: Payload, there: bool) {
    if (there & (to - args.out_first < args.out_len)) {
        payload_out[to - args.out_first + args.payload_out_skip] = value;
    }
}
{% endif %}
{% if write_keys %}

// One condition, not one in another: a driver takes long for branches.
fn store_key(to: u32, key: Key, there: bool) {
    if (there & (to - args.out_first < args.out_len)) {
        keys_out[to - args.out_first + args.out_skip] = key;
    }
}
{% endif %}

// args: as for sort_count; this dispatch writes elements out_first to out_first + out_len alone.
@compute @workgroup_size({{ threads }})
fn sort_scatter(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32{{ ", @builtin(subgroup_size) size: u32" if subgroups }}) {
{% if parts %}
    let tiles = listed[0];
    for (var block = (group.z * grid.y + group.y) * grid.x + group.x; block < tiles; block += grid.x * grid.y * grid.z) {
        scatter_tile(block, lane{{ ", size" if subgroups }});
        workgroupBarrier();
    }
}

fn scatter_tile(block: u32, lane: u32{{ ", size: u32" if subgroups }}) {
{% else %}
    let block = args.first_block + (group.z * grid.y + group.y) * grid.x + group.x;
    if (block >= args.end_block) {
        return;
    }
{% endif %}
{% include "sort_tile.wgsl" %}
{% if subgroups %}
    let first = lane / size * size * ITEMS + lane % size;
    let step = size;
{% else %}
    let first = lane * ITEMS;
    let step = 1u;
{% endif %}
    // Steps for each of the invocation's keys follow: written out, so that they are registers, or as loops, which compile faster.
{% set keys = ["k"] if rolled else range(items) %}
{% set u = "" if rolled else "u" %}
{% set for_each = "for (var k = 0u; k < ITEMS; k++) {" if rolled else "{" %}
    var place: array<u32, ITEMS>;
    var key: array<Key, ITEMS>;
    // A key's digit first, then its rank in the tile.
    var rank: array<u32, ITEMS>;
    var to: array<u32, ITEMS>;
    // Places past the end hold the greatest value, after all others: they take no key's rank.
{% for k in keys %}
    {{ for_each }}
        place[{{ k }}{{ u }}] = first + {{ k }}{{ u }} * step;
        // Without a branch, so that all keys are on their way at once.
        key[{{ k }}{{ u }}] = key_at(begin + min(place[{{ k }}{{ u }}], count - 1u));
        rank[{{ k }}{{ u }}] = select(RADIX - 1u, digit_of(key[{{ k }}{{ u }}]), place[{{ k }}{{ u }}] < count);
    }
{% endfor %}
    start_ranking(lane);
    var before: array<u32, ITEMS>;
{% for k in keys %}
    {{ for_each }}
        before[{{ k }}{{ u }}] = rank_one(rank[{{ k }}{{ u }}], lane{{ ", size" if subgroups }});
    }
{% endfor %}
    // The rank of the first key of value `lane`.
    let start = end_ranking(lane{{ ", size" if subgroups }});
{% if alone %}
    let base = begin;
{% else %}
    var base = 0u;
    if (lane < RADIX) {
        base = offsets[counter + lane * counters_apart] - start;
{% if parts %}
        // Counts are of long parts alone: those of this one begin with its first tile.
        base += begin - (block - first_tile) * TILE - offsets[first_tile * RADIX];
{% endif %}
    }
{% endif %}
    if (lane < RADIX) {
        bases[lane] = base;
    }
    workgroupBarrier();
{% for k in keys %}
    {{ for_each }}
        let digit = rank[{{ k }}{{ u }}];
        rank[{{ k }}{{ u }}] = before[{{ k }}{{ u }}] + rank_of_first(digit, lane{{ ", size" if subgroups }});
{% if key_words == 2 %}
        to[{{ k }}{{ u }}] = bases[digit] + rank[{{ k }}{{ u }}];
{% endif %}
    }
{% endfor %}
    // The counters are no longer needed: their memory is where keys and payload are put in order, a word of each at a time.
    workgroupBarrier();
{% if key_words == 1 %}
{% for k in keys %}
    {{ for_each }}
        put_word(rank[{{ k }}{{ u }}], key[{{ k }}{{ u }}]);
    }
{% endfor %}
    workgroupBarrier();
{% for k in keys %}
    {{ for_each }}
        let r = lane + {{ k }}{{ u }} * THREADS;
        let sorted = word_at(r);
        to[{{ k }}{{ u }}] = r + bases[digit_of(sorted)];
{% if write_keys %}
        store_key(to[{{ k }}{{ u }}], sorted, r < count);
{% endif %}
    }
{% endfor %}
{% else %}
    // Of two words, where they go is put in order first.
{% for k in keys %}
    {{ for_each }}
        put_word(rank[{{ k }}{{ u }}], to[{{ k }}{{ u }}]);
    }
{% endfor %}
    workgroupBarrier();
{% for k in keys %}
    {{ for_each }}
        to[{{ k }}{{ u }}] = word_at(lane + {{ k }}{{ u }} * THREADS);
    }
{% endfor %}
{% if write_keys %}
    workgroupBarrier();
{% for k in keys %}
    {{ for_each }}
        put_word(rank[{{ k }}{{ u }}], key[{{ k }}{{ u }}].x);
    }
{% endfor %}
    workgroupBarrier();
    var low: array<u32, ITEMS>;
{% for k in keys %}
    {{ for_each }}
        low[{{ k }}{{ u }}] = word_at(lane + {{ k }}{{ u }} * THREADS);
    }
{% endfor %}
    workgroupBarrier();
{% for k in keys %}
    {{ for_each }}
        put_word(rank[{{ k }}{{ u }}], key[{{ k }}{{ u }}].y);
    }
{% endfor %}
    workgroupBarrier();
{% for k in keys %}
    {{ for_each }}
        let r = lane + {{ k }}{{ u }} * THREADS;
        store_key(to[{{ k }}{{ u }}], vec2(low[{{ k }}{{ u }}], word_at(r)), r < count);
    }
{% endfor %}
{% endif %}
{% endif %}
{% if payload_words > 0 %}
    var payload: array<Payload, ITEMS>;
{% for k in keys %}
    {{ for_each }}
        payload[{{ k }}{{ u }}] = payload_at(begin + min(place[{{ k }}{{ u }}], count - 1u), {{ '0u' if parts else 'row * args.n' }});
    }
{% endfor %}
    workgroupBarrier();
{% for k in keys %}
    {{ for_each }}
        put_word(rank[{{ k }}{{ u }}], payload[{{ k }}{{ u }}]{{ ".x" if payload_words == 2 }});
    }
{% endfor %}
    workgroupBarrier();
{% if payload_words == 2 %}
    var payload_low: array<u32, ITEMS>;
{% for k in keys %}
    {{ for_each }}
        payload_low[{{ k }}{{ u }}] = word_at(lane + {{ k }}{{ u }} * THREADS);
    }
{% endfor %}
    workgroupBarrier();
{% for k in keys %}
    {{ for_each }}
        put_word(rank[{{ k }}{{ u }}], payload[{{ k }}{{ u }}].y);
    }
{% endfor %}
    workgroupBarrier();
{% endif %}
{% for k in keys %}
    {{ for_each }}
        let r = lane + {{ k }}{{ u }} * THREADS;
{% if payload_words == 2 %}
        store_payload(to[{{ k }}{{ u }}], vec2(payload_low[{{ k }}{{ u }}], word_at(r)), r < count);
{% else %}
        store_payload(to[{{ k }}{{ u }}], word_at(r), r < count);
{% endif %}
    }
{% endfor %}
{% endif %}
}
{% endif %}
{% endif %}
