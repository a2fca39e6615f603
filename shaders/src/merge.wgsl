// Stable merge of two sorted arrays, by merge path; equal keys of a go first. Raw bits, which compare as unsigned integers under two masks.
// merge_co_ranks: how many of the first k merged keys are of a, by halving, for where tiles begin or for given ranks. merge_tiles: a workgroup merges the
// keys of a tile of the result: it reads the part of either array that belongs there into shared memory, every invocation finds its own part of
// the tile by halving and merges it one by one, and the keys go back by way of shared memory, so that neighbours write neighbours.
// Tiles begin with whole words of the output, the first of them `phase` elements into its word, or with vectors of four words.
// Keys and values are elements of arrays, or lazy: what a_at, b_at, v_at and w_at in front of this compute.
const THREADS = {{ threads }}u;
const ITEMS = {{ items }}u;
const TILE = THREADS * ITEMS;

{% include "order.wgsl" %}

{% if not lazy %}
{% set size = key_bytes %}
{% for array in ["a", "b"] %}
{% include "element_at.wgsl" %}
{% endfor %}
{% endif %}

{% if co_ranks %}
{% if bracketed %}
// Co-ranks of the first and the last tile of a workgroup, between which those of the others lie.
var<workgroup> ends: array<u32, 2>;
// Distance from where it is expected within which a co-rank is looked for at first.
const STEP = 16u;

{% endif %}
// Whether of the first k merged keys at most i are of a.
fn stops(k: u32, i: u32) -> bool {
    return before(mapped(b_at(k - 1u - i)), mapped(a_at(i)));
}

// Counts those of the first k merged keys that are of a, if that is from `first` to `last`.
fn halved(k: u32, first: u32, last: u32) -> u32 {
    var low = first;
    var high = last;
    while (low < high) {
        let i = low + (high - low) / 2u;
        if (stops(k, i)) {
            high = i;
        } else {
            low = i + 1u;
        }
    }
    return low;
}

// args: blocks, here the ranks; the lengths m and n; elements of each binding before the first; phase; the masks.
@compute @workgroup_size({{ threads }})
fn merge_co_ranks(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let first = ((group.z * grid.y + group.y) * grid.x + group.x) * THREADS;
    let at = first + lane;
{% if not bracketed %}
    if (at >= args.blocks) {
        return;
    }
{% endif %}
{% if given == 2 %}
    let place = (at + args.skip_v) * 2u;
    var k = select(ranks[place], 0xffffffffu, ranks[place + 1u] != 0u);
{% elif given == 1 %}
    var k = ranks[at + args.skip_v];
{% else %}
    var k = max(at * TILE, args.phase) - args.phase;
{% endif %}
    k = min(k, args.m + args.n);
    let least = max(k, args.n) - args.n;
    let most = min(k, args.m);
{% if bracketed %}
    let count = min(THREADS, max(args.blocks, first + 1u) - first);
    if (lane == 0u || lane + 1u == count) {
        let found = halved(k, least, most);
        if (lane == 0u) {
            ends[0] = found;
        }
        if (lane + 1u == count) {
            ends[1] = found;
        }
    }
    workgroupBarrier();
    if (at >= args.blocks) {
        return;
    }
    // Of arrays that are not sorted, co-ranks may fall.
    var low = clamp(ends[0], least, most);
    var high = clamp(ends[1], low, most);
    if (low < high) {
        // Where it would be if keys of a were spread evenly, then on to one side in growing steps.
        let parts = max(count - 1u, 1u);
        let expected = low + (high - low) / parts * lane + (high - low) % parts * lane / parts;
        let i = min(expected, high - 1u);
        let upwards = !stops(k, i);
        if (upwards) {
            low = i + 1u;
        } else {
            high = i;
        }
        var step = STEP;
        while (low < high) {
            let reach = min(step, high - low);
            let further = select(high - reach, low + reach - 1u, upwards);
            let stopped = stops(k, further);
            if (stopped) {
                high = further;
            } else {
                low = further + 1u;
            }
            if (stopped == upwards) {
                break;
            }
            step = min(4u * step, 0x40000000u);
        }
    }
    let found = halved(k, low, high);
{% else %}
    let found = halved(k, least, most);
{% endif %}
{% if given == 2 %}
    cuts_out[(at + args.skip_keys) * 2u] = found;
    cuts_out[(at + args.skip_keys) * 2u + 1u] = 0u;
{% else %}
    cuts_out[at + args.skip_keys] = found;
{% endif %}
}
{% else %}
// The tile's keys, and room for parts that reach behind its end; later where the merged elements come from.
var<workgroup> keys: array<Key, TILE + ITEMS + 1u>;

fn original(key: Key) -> Key {
    let signed_key = key ^ all_bits();
    return signed_key ^ negative_bits(signed_key);
}

{% if payload_bytes > 0 %}
{% if not lazy %}
{% set size = payload_bytes %}
{% for array in ["v", "w"] %}
{% include "element_at.wgsl" %}
{% endfor %}
{% endif %}

fn put_source(place: u32, source: u32) {
{% if key_bytes == 8 %}
    keys[place] = vec2(source, 0u);
{% else %}
    keys[place] = source;
{% endif %}
}

fn source_at(place: u32) -> u32 {
    return keys[place]{{ ".x" if key_bytes == 8 }};
}
{% endif %}

// args: as for merge_co_ranks; elements of the outputs' bindings before the first.
@compute @workgroup_size({{ threads }})
fn merge_tiles(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
    if (block >= args.blocks) {
        return;
    }
    let begin = max(block * TILE, args.phase) - args.phase;
    let count = min((block + 1u) * TILE - args.phase, args.m + args.n) - begin;
{% if alone %}
    let first_a = 0u;
    let of_a = args.m;
{% else %}
    let first_a = cuts[block];
    // Of arrays that are not sorted, co-ranks may fall.
    let of_a = min(max(cuts[block + 1u], first_a) - first_a, count);
{% endif %}
    // Places of the tile: its keys of a, then its keys of b.
    let first_b = begin - first_a - of_a;
    // Steps for each of the invocation's keys follow: written out, so that they are registers, or as loops, which compile faster.
{% set each = ["k"] if rolled else range(items) %}
{% set u = "" if rolled else "u" %}
{% set for_each = "for (var k = 0u; k < ITEMS; k++) {" if rolled else "{" %}
    var key: array<Key, ITEMS>;
{% for k in each %}
    {{ for_each }}
        let r = lane + {{ k }}{{ u }} * THREADS;
        if (r < of_a) {
            key[{{ k }}{{ u }}] = a_at(first_a + r);
        } else if (r < count) {
            key[{{ k }}{{ u }}] = b_at(first_b + r);
        }
    }
{% endfor %}
{% for k in each %}
    {{ for_each }}
        keys[lane + {{ k }}{{ u }} * THREADS] = mapped(key[{{ k }}{{ u }}]);
    }
{% endfor %}
    workgroupBarrier();

    let part = min(lane * ITEMS, count);
    var i = max(part, count - of_a) - (count - of_a);
    var high = min(part, of_a);
    while (i < high) {
        let middle = (i + high) / 2u;
        if (before(keys[of_a + part - 1u - middle], keys[middle])) {
            high = middle;
        } else {
            i = middle + 1u;
        }
    }
    var j = of_a + part - i;
    var x = keys[i];
    var y = keys[j];
{% if payload_bytes > 0 %}
    var from_: array<u32, ITEMS>;
{% endif %}
{% for k in each %}
    {{ for_each }}
        let behind = before(y, x);
        let takes_a = (j >= count) | ((i < of_a) & !behind);
        let taken = select(j, i, takes_a);
        key[{{ k }}{{ u }}] = select(y, x, takes_a);
{% if payload_bytes > 0 %}
        from_[{{ k }}{{ u }}] = taken;
{% endif %}
        let head = keys[taken + 1u];
        i += select(0u, 1u, takes_a);
        j += select(1u, 0u, takes_a);
        x = select(x, head, takes_a);
        y = select(head, y, takes_a);
    }
{% endfor %}
    workgroupBarrier();
{% if writes_keys %}
{% for k in each %}
    {{ for_each }}
        keys[lane * ITEMS + {{ k }}{{ u }}] = key[{{ k }}{{ u }}];
    }
{% endfor %}
    workgroupBarrier();
{% if quads %}
    // Vectors of four, but for what the ends leave of one.
    let first_word = args.skip_keys + begin;
    if (first_word % 4u == 0u && count == TILE) {
{% for v in range(0, items, 4) %}
{% set left = items - v %}
        {{ "{" if left >= 4 else "if (lane < " ~ left ~ "u * THREADS / 4u) {" }}
            let v = lane + {{ v // 4 }}u * THREADS;
            let r = 4u * v;
            keys_out[first_word / 4u + v] = vec4(original(keys[r]), original(keys[r + 1u]), original(keys[r + 2u]), original(keys[r + 3u]));
        }
{% endfor %}
    } else {
        for (var r = lane; r < count; r += THREADS) {
            keys_out[(first_word + r) / 4u][(first_word + r) % 4u] = original(keys[r]);
        }
    }
{% elif key_bytes >= 4 %}
{% for k in each %}
    {{ for_each }}
        let r = lane + {{ k }}{{ u }} * THREADS;
        if (r < count) {
            keys_out[args.skip_keys + begin + r] = original(keys[r]);
        }
    }
{% endfor %}
{% else %}
{% set size = key_bytes %}
{% set array = "keys_out" %}
{% set skip = "skip_keys" %}
{% set value = "original(keys[r])" %}
{% include "merge_narrow.wgsl" %}
{% endif %}
{% endif %}
{% if payload_bytes > 0 %}
{% if writes_keys %}
    workgroupBarrier();
{% endif %}
{% for k in each %}
    {{ for_each }}
        put_source(lane * ITEMS + {{ k }}{{ u }}, from_[{{ k }}{{ u }}]);
    }
{% endfor %}
    workgroupBarrier();
{% if payload_bytes >= 4 %}
    var value: array<{{ "vec2<u32>" if payload_bytes == 8 else "u32" }}, ITEMS>;
{% for k in each %}
    {{ for_each }}
        let r = lane + {{ k }}{{ u }} * THREADS;
        if (r < count) {
            let source = source_at(r);
            if (source < of_a) {
                value[{{ k }}{{ u }}] = v_at(first_a + source);
            } else {
                value[{{ k }}{{ u }}] = w_at(first_b + source);
            }
        }
    }
{% endfor %}
{% for k in each %}
    {{ for_each }}
        let r = lane + {{ k }}{{ u }} * THREADS;
        if (r < count) {
            values_out[args.skip_values + begin + r] = value[{{ k }}{{ u }}];
        }
    }
{% endfor %}
{% else %}
{% set size = payload_bytes %}
{% set array = "values_out" %}
{% set skip = "skip_values" %}
{% set value = "value_at(r, of_a, first_a, first_b)" %}
{% include "merge_narrow.wgsl" %}
{% endif %}
{% endif %}
}
{% if 0 < payload_bytes and payload_bytes < 4 %}

// The value of a place of the tile.
fn value_at(r: u32, of_a: u32, first_a: u32, first_b: u32) -> u32 {
    let source = source_at(r);
    if (source < of_a) {
        return v_at(first_a + source);
    }
    return w_at(first_b + source);
}
{% endif %}
{% endif %}
