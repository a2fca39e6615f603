// Stable sorts of parts of an array, of any lengths: part p is the keys between bounds p - 1 and p, which do not fall; before the first and behind the last
// lies a part more on either side, whose keys stay as they are or are left out.
// segmented_short: a workgroup takes the parts that begin in a window of the array. Only the last of them can reach behind what the workgroup has room for:
// with that many keys at most it is sorted by itself afterwards, and otherwise its tiles are put on a list, which sort.wgsl sorts digit by digit; where they
// stand in it depends on timing, and shows nowhere. All other keys, from the first part's on, are sorted together: an invocation takes a run of a part into
// its registers, where a fixed network sorts it; of two runs that are merged, it takes a piece of the result.
// segmented_windows: how many parts begin before each window.
const THREADS = {{ threads }}u;
// Keys of an invocation that lie in the window, and of a window.
const SURE = {{ sure }}u;
const SPAN = THREADS * SURE;
// Keys of a run, and of a piece.
const RUN = 16u;
// Keys of a short part at most: with one that begins at the window's end there are not more pieces than invocations.
const ROOM = {{ room }}u;
// Keys of a tile of the list.
const TILE = {{ tile }}u;
// Marks the size of a tile whose keys stay where they are.
const STAYS = {{ stays }}u;

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

// Sorted items: mapped keys by themselves, equal ones being the same bits; or the compared bits above the place, so that all differ.
{% set placed = travels or not all_bits %}
{% if words == 3 %}
alias Word = vec3<u32>;
{% elif words == 2 %}
alias Word = vec2<u32>;
{% else %}
alias Word = u32;
{% endif %}
const LAST = Word(0xffffffffu);
// A word lies one further for every 32 before it, or 16, so that invocations that sort neighbouring runs meet in few banks.
const SKEW = {{ 5 if words == 1 else 4 }}u;
// A merge reads on behind the last word.
const PLACES = ROOM + RUN + ((ROOM + RUN) >> SKEW) + 1u;
{% if words == 3 %}
var<workgroup> word_keys: array<vec2<u32>, PLACES>;
var<workgroup> word_places: array<u32, PLACES>;
{% else %}
var<workgroup> words: array<Word, PLACES>;
{% endif %}
// Runs of the parts of more than a run, from the list's end on, and parts of less, from its front on: where the part begins (12 bits), which of its runs
// it is (8 bits), and how many keys the part has.
const ENTRIES = ROOM / 2u;
const NEXT_RUN = 1u << 12u;
var<workgroup> list: array<u32, ENTRIES>;
// Number of the former and, in the upper half, of the latter.
var<workgroup> counts: atomic<u32>;
var<workgroup> longest: atomic<u32>;
// Of parts of more than SERIAL runs, where their first one is listed; all invocations list the others.
const SERIAL = 8u;
var<workgroup> bigs: array<u32, ROOM / (SERIAL * RUN)>;
var<workgroup> big_count: atomic<u32>;
// Where the tiles of a long part stand in the list.
var<workgroup> listed_at: u32;

fn word_of(key: Key, i: u32) -> Word {
{% if all_bits %}
    let bits = mapped(key);
{% elif key_words == 2 %}
    let bits = mapped(key) & vec2(args.compared_low, args.compared_high);
{% else %}
    let bits = mapped(key) & args.compared_low;
{% endif %}
{% if not placed %}
    return bits;
{% elif words == 1 %}
    return (bits << 16u) | i;
{% else %}
    return Word(i, bits);
{% endif %}
}
{% if placed %}

fn place_of(word: Word) -> u32 {
    return {{ "word & 0xffffu" if words == 1 else "word.x" }};
}
{% endif %}
{% if all_bits and write_keys %}

// The key that was mapped.
fn key_of(word: Word) -> Key {
{% if not placed %}
    let bits = word;
{% elif words == 1 %}
    let bits = word >> 16u;
{% else %}
    let bits = word.{{ "yz" if words == 3 else "y" }};
{% endif %}
{% if key_words == 2 %}
    let key = bits ^ vec2(args.flip_low, args.flip_high);
    return key ^ select(vec2(0u), vec2(args.negative_low, args.negative_high), (key.y >> 31u) != 0u);
{% else %}
    let key = bits ^ args.flip_low;
    return key ^ select(0u, args.negative_low, ((key >> args.sign_bit) & 1u) != 0u);
{% endif %}
}
{% endif %}

fn comes_before(a: Word, b: Word) -> bool {
{% if words == 3 %}
    return (a.z < b.z) | ((a.z == b.z) & ((a.y < b.y) | ((a.y == b.y) & (a.x < b.x))));
{% elif words == 2 %}
    return (a.y < b.y) | ((a.y == b.y) & (a.x < b.x));
{% else %}
    return a < b;
{% endif %}
}

fn skewed(i: u32) -> u32 {
    return i + (i >> SKEW);
}

fn load_word(at: u32) -> Word {
    return {{ "Word(word_places[at], word_keys[at])" if words == 3 else "words[at]" }};
}

fn store_word(at: u32, word: Word) {
{% if words == 3 %}
    word_places[at] = word.x;
    word_keys[at] = word.yz;
{% else %}
    words[at] = word;
{% endif %}
}

fn word_at(i: u32) -> Word {
    return load_word(skewed(i));
}

fn put_word(i: u32, word: Word) {
    store_word(skewed(i), word);
}

fn part_of(entry: u32) -> u32 {
    return entry & 0xfffu;
}

// Keys of the part before the run.
fn offset_of(entry: u32) -> u32 {
    return ((entry >> 12u) & 0xffu) * RUN;
}

fn size_of(entry: u32) -> u32 {
    return entry >> 20u;
}

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
    var window = at * SPAN;
    let own = skewed(lane);
    // Steps for each of the invocation's places follow: written out, so that they are registers, or as loops, which compile faster.
{% set u = "" if rolled else "u" %}
{% set places = ["k"] if rolled else range(sure + 1) %}
{% set sure_places = ["k"] if rolled else range(sure) %}
{% set of_run = ["k"] if rolled else range(16) %}
{% set for_each = "for (var k = 0u; k <= SURE; k++) {" if rolled else "{" %}
{% set for_sure = "for (var k = 0u; k < SURE; k++) {" if rolled else "{" %}
{% set for_run = "for (var k = 0u; k < RUN; k++) {" if rolled else "{" %}
    loop {
        var key: array<Key, SURE + 1u>;
        // On their way while it is found out which of them are wanted.
{% for k in sure_places %}
        {{ for_sure }}
            let i = lane + {{ k }}{{ u }} * THREADS;
            key[{{ k }}{{ u }}] = key_at(window + min(i, args.n - 1u - window));
        }
{% endfor %}
        if (lane == 0u) {
            atomicStore(&counts, 0u);
            atomicStore(&longest, 2u * RUN);
            atomicStore(&big_count, 0u);
        }
        workgroupBarrier();
        let last_begin = part_begin(last_part - 1u) - window;
        let end = part_begin(last_part) - window;
        // Parts in no segment are the first and the last of all.
        let leaves = args.leaves_rest != 0u;
        let last_stays = last_part == 1u || last_part == args.parts;
        let leaves_last = leaves && last_stays;
        let stop = select(end, last_begin, end > ROOM || leaves_last);
        let start = min(part_begin(first_part + u32(leaves && first_part == 0u)) - window, stop);
        // The last part, where it is not sorted with the others.
        let length = select(0u, end - last_begin, end > ROOM && !leaves_last);
        let tiles = select(0u, length / TILE + u32(length % TILE != 0u), length > ROOM);
        if (lane == 0u && tiles > 0u) {
            listed_at = atomicAdd(&listed[0], tiles);
        }
        for (var part = first_part + lane; part < last_part; part += THREADS) {
            let begin = part_begin(part) - window;
            let behind = min(part_begin(part + 1u) - window, stop);
            // A key alone is sorted, and one in no segment stays.
            if (begin + 1u >= behind || part == 0u || part + 1u == args.parts) {
                continue;
            }
            let size = behind - begin;
            let entry = begin | (size << 20u);
            if (size <= RUN) {
                list[atomicAdd(&counts, 1u << 16u) >> 16u] = entry;
                continue;
            }
            let runs = (size + RUN - 1u) / RUN;
            let first = ENTRIES - 1u - (atomicAdd(&counts, runs) & 0xffffu);
            for (var r = 0u; r < min(runs, SERIAL); r++) {
                list[first - r] = entry + r * NEXT_RUN;
            }
            if (size > 2u * RUN) {
                atomicMax(&longest, size);
            }
            if (runs > SERIAL) {
                bigs[atomicAdd(&big_count, 1u)] = first;
            }
        }
        if (lane + SPAN < stop) {
            key[SURE] = key_at(window + SPAN + lane);
        }
{% for k in places %}
        {{ for_each }}
            let i = lane + {{ k }}{{ u }} * THREADS;
            if (i >= start && i < stop) {
                store_word(own + {{ k }}{{ u }} * (THREADS + (THREADS >> SKEW)), word_of(key[{{ k }}{{ u }}], i));
            }
        }
{% endfor %}
        let most = workgroupUniformLoad(&longest);
        for (var t = lane; t < tiles; t += THREADS) {
            let tile = listed_at + t;
            table[tile] = window + last_begin + t * TILE;
            table[args.tiles + tile] = min(TILE, length - t * TILE) | select(0u, STAYS, last_stays);
            table[2u * args.tiles + tile] = listed_at;
            table[3u * args.tiles + tile] = tiles;
        }
        if (most > SERIAL * RUN) {
            for (var b = 0u; b < atomicLoad(&big_count); b++) {
                let first = bigs[b];
                let entry = list[first];
                for (var r = SERIAL + lane; r * RUN < size_of(entry); r += THREADS) {
                    list[first - r] = entry + r * NEXT_RUN;
                }
            }
            workgroupBarrier();
        }
        let pieces = atomicLoad(&counts) & 0xffffu;
        let runs = pieces + (atomicLoad(&counts) >> 16u);
        // Batcher's odd-even merge sort (Knuth, The Art of Computer Programming, volume 3, 5.3.4), of eight words or twice as many.
        for (var r = lane; r < runs; r += THREADS) {
            let entry = list[select(r - pieces, ENTRIES - 1u - r, r < pieces)];
            let begin = part_of(entry) + offset_of(entry);
            let count = min(size_of(entry) - offset_of(entry), RUN);
            var word: array<Word, RUN>;
{% if rolled %}
            for (var k = 0u; k < RUN; k++) {
                word[k] = LAST;
                if (k < count) {
                    word[k] = word_at(begin + k);
                }
            }
            for (var half = 1u; half < RUN; half *= 2u) {
                for (var apart = half; apart > 0u; apart /= 2u) {
                    for (var k = apart % half; k + apart < RUN; k++) {
                        if ((k - apart % half) / apart % 2u != 0u || k / (2u * half) != (k + apart) / (2u * half)) {
                            continue;
                        }
                        let a = word[k];
                        let b = word[k + apart];
                        let falls = comes_before(b, a);
                        word[k] = select(a, b, falls);
                        word[k + apart] = select(b, a, falls);
                    }
                }
            }
            for (var k = 0u; k < count; k++) {
                put_word(begin + k, word[k]);
            }
{% else %}
{% for part in range(3) %}
{% if part == 1 %}
            if (count > 8u) {
{% endif %}
{% if part < 2 %}
{% for k in range(8 * part, 8 * part + 8) %}
            word[{{ k }}u] = select(LAST, word_at(begin + {{ k }}u), {{ k }}u < count);
{% endfor %}
{% endif %}
{% set from = 8 if part == 1 else 0 %}
{% set to = 8 if part == 0 else 16 %}
{% for half, apart in ([[8, 8], [8, 4], [8, 2], [8, 1]] if part == 2 else [[1, 1], [2, 2], [2, 1], [4, 4], [4, 2], [4, 1]]) %}
{% for j in range(from + apart % half, to - apart, 2 * apart) %}
{% for k in range(j, [j + apart, to - apart]|min) %}
{% if k // (2 * half) == (k + apart) // (2 * half) %}
            {
                let a = word[{{ k }}u];
                let b = word[{{ k + apart }}u];
{% if words == 1 %}
                word[{{ k }}u] = min(a, b);
                word[{{ k + apart }}u] = max(a, b);
{% else %}
                let falls = comes_before(b, a);
                word[{{ k }}u] = select(a, b, falls);
                word[{{ k + apart }}u] = select(b, a, falls);
{% endif %}
            }
{% endif %}
{% endfor %}
{% endfor %}
{% endfor %}
{% endfor %}
{% for k in range(15, -1, -1) %}
            if ({{ k }}u < count) {
                put_word(begin + {{ k }}u, word[{{ k }}u]);
            }
{% if k == 8 %}
            }
{% endif %}
{% endfor %}
{% endif %}
        }
        workgroupBarrier();
        var entry = 0u;
        if (lane < pieces) {
            entry = list[ENTRIES - 1u - lane];
        }
        let part = part_of(entry);
        let offset = offset_of(entry);
        let size = size_of(entry);
        for (var run = RUN; run < most; run *= 2u) {
            var word: array<Word, RUN>;
            let pair = offset & ~(2u * run - 1u);
            let merges = pair + run < size;
            if (merges) {
                let left = part + pair;
                let middle = left + run;
                let behind = part + min(pair + 2u * run, size);
                let skipped = offset - pair;
                // Number of those that are skipped which are of the first run.
                var low = skipped - min(skipped, behind - middle);
                var high = min(skipped, run);
                while (low < high) {
                    let half = (low + high) / 2u;
                    if (comes_before(word_at(middle + skipped - 1u - half), word_at(left + half))) {
                        high = half;
                    } else {
                        low = half + 1u;
                    }
                }
                var a = left + low;
                var b = middle + skipped - low;
                var of_left = word_at(a);
                var of_right = word_at(b);
{% for k in of_run %}
                {{ for_run }}
                    let falls = b < behind && (a >= middle || comes_before(of_right, of_left));
                    word[{{ k }}{{ u }}] = select(of_left, of_right, falls);
                    let next = word_at(select(a, b, falls) + 1u);
                    of_left = select(next, of_left, falls);
                    of_right = select(of_right, next, falls);
                    a += select(1u, 0u, falls);
                    b += select(0u, 1u, falls);
                }
{% endfor %}
            }
            workgroupBarrier();
            if (merges) {
{% for k in of_run %}
                {{ for_run }}
                    if (offset + {{ k }}{{ u }} < size) {
                        put_word(part + offset + {{ k }}{{ u }}, word[{{ k }}{{ u }}]);
                    }
                }
{% endfor %}
            }
            workgroupBarrier();
        }
{% for k in places %}
        {{ for_each }}
            let i = lane + {{ k }}{{ u }} * THREADS;
            if (i >= start && i < stop) {
                let word = load_word(own + {{ k }}{{ u }} * (THREADS + (THREADS >> SKEW)));
                let out = window + i - args.in_first;
{% if write_keys %}
                keys_out[out + args.out_skip] = {{ "key_of(word)" if all_bits else "key_at(window + place_of(word))" }};
{% endif %}
{% if travels %}
                let source = window + place_of(word);
                payload_out[out + args.payload_out_skip] = {{ "source" if indices else "payload_in[source - args.in_first + args.payload_in_skip]" }};
{% endif %}
            }
        }
{% endfor %}
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
