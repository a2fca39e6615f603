// Stable sorts of parts of an array, of any lengths: part p is the keys between bounds p - 1 and p, which do not fall; before the first and behind the last
// lies a part more on either side, whose keys stay as they are or are left out.
// segmented_short: a workgroup takes the parts that begin in a window of the array. Only the last of them can reach behind what the workgroup has room for:
// if it has that many keys at most it is sorted by itself afterwards, and otherwise its tiles are put on a list, which sort.wgsl sorts digit by digit; where
// they stand in it depends on timing, and shows nowhere. All other keys, from the first part's on, are sorted together: runs of a part are ranked by
// counting how many keys come before, and merged by how many keys of the other run come before.
// segmented_windows: how many parts begin before each window.
const THREADS = {{ threads }}u;
const ITEMS = {{ items }}u;
// Keys of a short part at most, and of a window.
const ROOM = THREADS * ITEMS;
const SPAN = {{ span }}u;
const MASKS = ROOM / 32u;
// Keys of a tile of the list.
const TILE = {{ tile }}u;
// Marks the size of a tile whose keys stay where they are.
const STAYS = {{ stays }}u;
// Keys that are ranked by counting.
const RUN = 16u;
// Where a key is that is of no short part.
const NONE = 0xffffffffu;

fn part_begin(part: u32) -> u32 {
    if (part == 0u) {
        return 0u;
    }
    if (part >= args.parts) {
        return args.n;
    }
    return bounds[part - 1u];
}
{% if windows %}

// args: n keys, parts. An invocation to each number.
@compute @workgroup_size({{ threads }})
fn segmented_windows(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let w = ((group.z * grid.y + group.y) * grid.x + group.x) * THREADS + lane;
    if (w == 0u) {
        listed[0] = 0u;
    }
    if (w > args.n / SPAN + u32(args.n % SPAN != 0u)) {
        return;
    }
    var begin = args.n;
    if (w <= args.n / SPAN) {
        begin = w * SPAN;
    }
    var low = 0u;
    var high = select(args.parts, 0u, begin == 0u);
    while (low < high) {
        let middle = low + (high - low) / 2u;
        if (part_begin(middle) < begin) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    starts_out[w] = low;
}
{% else %}

{% include "sort_key.wgsl" %}

var<workgroup> keys: array<Key, ROOM>;
// Bits to places of the window: where parts begin.
var<workgroup> begins: array<atomic<u32>, MASKS>;
// The last beginning before a word of these, plus one, and the first one behind it.
var<workgroup> before: array<u32, MASKS>;
var<workgroup> behind: array<u32, MASKS>;
var<workgroup> longest: atomic<u32>;
var<workgroup> known: u32;
// Where the tiles of a long part stand in the list.
var<workgroup> listed_at: u32;

// The bits of a key that are compared.
fn held(key: Key) -> Key {
{% if key_words == 2 %}
    return mapped(key) & vec2(args.compared_low, args.compared_high);
{% else %}
    return mapped(key) & args.compared_low;
{% endif %}
}

// Whether a key comes before another, or, where equal ones count, is not behind it.
fn precedes(a: Key, b: Key, or_equal: bool) -> bool {
{% if key_words == 2 %}
    return a.y < b.y || (a.y == b.y && (a.x < b.x || (or_equal && a.x == b.x)));
{% else %}
    return a < b || (or_equal && a == b);
{% endif %}
}
{% if travels %}

// What travels is put in order where keys were.
fn put_word(at: u32, word: u32) {
{% if key_words == 2 %}
    keys[at].x = word;
{% else %}
    keys[at] = word;
{% endif %}
}

fn word_at(at: u32) -> u32 {
    return keys[at]{{ ".x" if key_words == 2 }};
}
{% endif %}

// args: n keys, parts, the first window of this dispatch and the last one's end; the first element that is bound; tiles of the list at most;
// whether parts in no segment are left out.
@compute @workgroup_size({{ threads }})
fn segmented_short(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let at = args.first_window + (group.z * grid.y + group.y) * grid.x + group.x;
    if (at >= args.end_window) {
        return;
    }
    var first_part = starts[at];
    let last_part = starts[at + 1u];
    if (first_part == last_part) {
        return;
    }
    // What follows is done for each of the invocation's places: written out, so that they are registers, or as loops, which compile faster.
{% set places = ["k"] if rolled else range(items) %}
{% set u = "" if rolled else "u" %}
{% set for_each = "for (var k = 0u; k < ITEMS; k++) {" if rolled else "{" %}
    var key: array<Key, ITEMS>;
    // Where the part of a place begins and, in the upper half, ends.
    var part: array<u32, ITEMS>;
    var place: array<u32, ITEMS>;
    var window = at * SPAN;
    loop {
        // On their way while it is found out which of them are wanted.
{% for k in places %}
        {{ for_each }}
            let i = lane + {{ k }}{{ u }} * THREADS;
            if (i < SPAN && i < args.n - window) {
                key[{{ k }}{{ u }}] = key_at(window + i);
            }
        }
{% endfor %}
        let last_begin = part_begin(last_part - 1u) - window;
        let end = part_begin(last_part) - window;
        // Parts in no segment are the first and the last of all.
        let leaves = args.leaves_rest != 0u;
        let leaves_last = leaves && (last_part == 1u || last_part == args.parts);
        let stop = select(end, last_begin, end > ROOM || leaves_last);
        let start = min(part_begin(first_part + u32(leaves && first_part == 0u)) - window, stop);
        var still_until = 0u;
        if (first_part == 0u) {
            still_until = part_begin(1u) - window;
        }
        let still_from = select(ROOM, last_begin, last_part == args.parts);
        for (var w = lane; w < MASKS; w += THREADS) {
            atomicStore(&begins[w], 0u);
        }
        let length = select(0u, end - last_begin, end > ROOM && !leaves_last);
        let tiles = select(0u, length / TILE + u32(length % TILE != 0u), length > ROOM);
        if (lane == 0u) {
            atomicStore(&longest, 0u);
            if (tiles > 0u) {
                listed_at = atomicAdd(&listed[0], tiles);
            }
        }
        workgroupBarrier();
        let stays = select(0u, STAYS, last_part == 1u || last_part == args.parts);
        for (var t = lane; t < tiles; t += THREADS) {
            let tile = listed_at + t;
            table[tile] = window + last_begin + t * TILE;
            table[args.tiles + tile] = min(TILE, length - t * TILE) | stays;
            table[2u * args.tiles + tile] = listed_at;
            table[3u * args.tiles + tile] = tiles;
        }
        for (var p = first_part + lane; p < last_part; p += THREADS) {
            let begin = part_begin(p) - window;
            let behind_it = min(part_begin(p + 1u) - window, stop);
            if (begin < behind_it) {
                atomicOr(&begins[begin / 32u], 1u << (begin % 32u));
                atomicMax(&longest, select(behind_it - begin, 1u, p == 0u || p + 1u == args.parts));
            }
        }
        workgroupBarrier();
        if (lane == 0u) {
            known = atomicLoad(&longest);
        }
        for (var w = lane; w < MASKS; w += THREADS) {
            var left = 0u;
            for (var v = w; v > 0u; v--) {
                let word = atomicLoad(&begins[v - 1u]);
                if (word != 0u) {
                    left = v * 32u - countLeadingZeros(word);
                    break;
                }
            }
            before[w] = left;
            var right = ROOM;
            for (var v = w + 1u; v < MASKS; v++) {
                let word = atomicLoad(&begins[v]);
                if (word != 0u) {
                    right = v * 32u + firstTrailingBit(word);
                    break;
                }
            }
            behind[w] = right;
        }
        let most = workgroupUniformLoad(&known);
{% for k in places %}
        {{ for_each }}
            let i = lane + {{ k }}{{ u }} * THREADS;
            place[{{ k }}{{ u }}] = NONE;
            if (i >= start && i < stop) {
                let word = atomicLoad(&begins[i / 32u]);
                let up_to = 0xffffffffu >> (31u - i % 32u);
                let left = word & up_to;
                let right = word & ~up_to;
                let base = i / 32u * 32u;
                let head = select(before[i / 32u], base + 32u - countLeadingZeros(left), left != 0u) - 1u;
                let next = min(select(behind[i / 32u], base + firstTrailingBit(right), right != 0u), stop);
                let still = i < still_until || i >= still_from;
                part[{{ k }}{{ u }}] = select(head | (next << 16u), i | ((i + 1u) << 16u), still);
                place[{{ k }}{{ u }}] = i;
                if (i >= SPAN) {
                    key[{{ k }}{{ u }}] = key_at(window + i);
                }
                keys[i] = held(key[{{ k }}{{ u }}]);
            }
        }
{% endfor %}
        workgroupBarrier();
        // Runs of a part.
{% for k in places %}
        {{ for_each }}
            if (place[{{ k }}{{ u }}] != NONE) {
                let i = place[{{ k }}{{ u }}];
                let begin = part[{{ k }}{{ u }}] & 0xffffu;
                let own = held(key[{{ k }}{{ u }}]);
                let first = begin + (i - begin) / RUN * RUN;
                let end = min(first + RUN, part[{{ k }}{{ u }}] >> 16u);
                var rank = first;
                for (var j = first; j < end; j++) {
                    rank += u32(precedes(keys[j], own, j < i));
                }
                place[{{ k }}{{ u }}] = rank;
            }
        }
{% endfor %}
        for (var run = RUN;; run *= 2u) {
            workgroupBarrier();
{% for k in places %}
            {{ for_each }}
                if (place[{{ k }}{{ u }}] != NONE) {
                    keys[place[{{ k }}{{ u }}]] = held(key[{{ k }}{{ u }}]);
                }
            }
{% endfor %}
            workgroupBarrier();
            if (run >= most) {
                break;
            }
{% for k in places %}
            {{ for_each }}
                let begin = part[{{ k }}{{ u }}] & 0xffffu;
                let end = part[{{ k }}{{ u }}] >> 16u;
                if (place[{{ k }}{{ u }}] != NONE && end - begin > run) {
                    let own = held(key[{{ k }}{{ u }}]);
                    let offset = place[{{ k }}{{ u }}] - begin;
                    let pair = begin + offset / (2u * run) * (2u * run);
                    let right = (offset & run) != 0u;
                    let first = select(pair + run, pair, right);
                    let last = min(first + run, end);
                    var low = first;
                    for (var step = run; step > 0u; step /= 2u) {
                        let further = low + step;
                        if (further <= last && precedes(keys[min(further, last) - 1u], own, right)) {
                            low = further;
                        }
                    }
                    place[{{ k }}{{ u }}] += low - first;
                    if (right) {
                        place[{{ k }}{{ u }}] -= run;
                    }
                }
            }
{% endfor %}
        }
{% if write_keys %}
        workgroupBarrier();
{% for k in places %}
        {{ for_each }}
            if (place[{{ k }}{{ u }}] != NONE) {
                keys[place[{{ k }}{{ u }}]] = key[{{ k }}{{ u }}];
            }
        }
{% endfor %}
        workgroupBarrier();
{% for k in places %}
        {{ for_each }}
            let i = lane + {{ k }}{{ u }} * THREADS;
            if (place[{{ k }}{{ u }}] != NONE) {
                keys_out[window + i - args.in_first + args.out_skip] = keys[i];
            }
        }
{% endfor %}
{% endif %}
{% if travels %}
        workgroupBarrier();
{% for k in places %}
        {{ for_each }}
            let i = window + lane + {{ k }}{{ u }} * THREADS;
            if (place[{{ k }}{{ u }}] != NONE) {
                put_word(place[{{ k }}{{ u }}], {{ "i" if indices else "payload_in[i - args.in_first + args.payload_in_skip]" }});
            }
        }
{% endfor %}
        workgroupBarrier();
{% for k in places %}
        {{ for_each }}
            let i = lane + {{ k }}{{ u }} * THREADS;
            if (place[{{ k }}{{ u }}] != NONE) {
                payload_out[window + i - args.in_first + args.payload_out_skip] = word_at(i);
            }
        }
{% endfor %}
{% endif %}
        if (length == 0u || tiles > 0u) {
            break;
        }
        // The last part by itself.
        first_part = last_part - 1u;
        window += last_begin;
        workgroupBarrier();
    }
}
{% endif %}
