// Stable merge sort by the caller's order, and merges by it. Raw bits, which only `before` looks into.
// sort_by_tile: a workgroup sorts a tile: every invocation sorts a part of it in registers by odd-even transposition, then runs are merged in pairs,
// each twice as long, until one is left. sort_by_merge: a workgroup merges a tile of the result of two runs: it reads the part of either run that
// belongs there into shared memory, every invocation finds its own part of the tile by halving and merges it one by one, and what is merged goes
// back by way of shared memory, so that neighbours write neighbours. sort_by_cuts: how many keys before such a tile are of the first run, by halving.
// Tiles and parts, and with them the keys that are compared, are the contract's: the same bits come of an order that contradicts itself.
// Runs that no binding holds are merged by a dispatch for each pair of windows onto them. Windows overlap: a tile is done in the one that holds all
// that it reads, and a search goes on in every window that holds the keys that it compares next, so the comparisons are the same.
const THREADS = {{ threads }}u;
const PART = {{ part }}u;
const TILE = THREADS * PART;
const LAST = TILE - 1u;

{% if wide %}
alias Key = vec2<u32>;
{% else %}
alias Key = u32;
{% endif %}

{% set size = key_bytes %}
{% for array in (["a"] if tiles else ["a", "b"]) %}
{% include "element_at.wgsl" %}
{% endfor %}
{% if pairs and not indices %}
{% set size = 4 %}
{% for array in (["v"] if tiles else ["v", "w"]) %}
{% include "element_at.wgsl" %}
{% endfor %}
{% endif %}

// Steps for each of the invocation's keys follow: written out, so that they are registers, or as loops, which compile faster.
{% set each = ["e"] if rolled else range(part) %}
{% set u = "" if rolled else "u" %}
{% set for_each = "for (var e = 0u; e < PART; e++) {" if rolled else "{" %}
{% if not tiles %}
struct Runs {
    // Keys of the pairs before this one, and of its two runs.
    skipped: u32,
    m: u32,
    n: u32,
    // The tile's keys of the pair's result.
    begin: u32,
    end: u32,
}

{% if windows %}
// The two runs that there are. args: their keys, run_a and run_b; blocks of the dispatch, the first of them first_block; of a window onto a run its
// first key, and how many from there on count.
fn runs_of(block: u32) -> Runs {
    let begin = block * TILE;
    return Runs(0u, args.run_a, args.run_b, begin, min(begin + TILE, args.run_a + args.run_b));
}
{% else %}
// The runs that a tile is merged of. args: n keys in all, of which a run of a pair has run_a and run_b, at the end fewer; 2^shift tiles to a pair.
fn runs_of(block: u32) -> Runs {
    let first = (block >> args.shift) << args.shift;
    let skipped = first * TILE;
    let m = min(args.run_a, args.n - skipped);
    let n = min(args.run_b, args.n - skipped - m);
    let begin = (block - first) * TILE;
    return Runs(skipped, m, n, begin, min(begin + TILE, m + n));
}
{% endif %}
{% endif %}
{% if cuts %}

@compute @workgroup_size({{ threads }})
fn sort_by_cuts(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = ((group.z * grid.y + group.y) * grid.x + group.x) * THREADS + lane;
    if (block >= args.blocks) {
        return;
    }
    let runs = runs_of(block);
    let k = runs.begin;
    var low = max(k, runs.n) - runs.n;
    var high = min(k, runs.m);
{% if windows %}
    // The end of what is left to search lies behind all tiles' cuts.
    if (args.resumed != 0u) {
        low = cuts_out[block];
        high = cuts_out[args.blocks + block];
    }
{% endif %}
    while (low < high) {
        let i = low + (high - low) / 2u;
{% if windows %}
        let in_a = i - args.window_a;
        let in_b = k - 1u - i - args.window_b;
        if ((in_a >= args.span_a) | (in_b >= args.span_b)) {
            break;
        }
        if (before(b_at(in_b), a_at(in_a))) {
{% else %}
        if (before(b_at(runs.skipped + k - 1u - i), a_at(runs.skipped + i))) {
{% endif %}
            high = i;
        } else {
            low = i + 1u;
        }
    }
    cuts_out[block] = low;
{% if windows %}
    cuts_out[args.blocks + block] = high;
{% endif %}
}
{% else %}

// A tile's keys; later where in the tile they were.
var<workgroup> keys: array<Key, TILE>;

// Where key r lies, so that neither invocations that take neighbours nor ones that take parts meet in a bank.
fn place(r: u32) -> u32 {
    return r ^ ({{ "(r >> 4u) & 15u" if wide else "(r >> 5u) & 31u" }});
}
{% if pairs %}

fn put_source(at: u32, source: u32) {
    keys[at] = {{ "vec2(source, 0u)" if wide else "source" }};
}

fn source_at(at: u32) -> u32 {
    return keys[at]{{ ".x" if wide }};
}
{% endif %}

@compute @workgroup_size({{ threads }})
fn {{ "sort_by_tile" if tiles else "sort_by_merge" }}(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
{% set numbered = "at_window" if windows and not tiles else "block" %}
    let {{ numbered }} = (group.z * grid.y + group.y) * grid.x + group.x;
    if ({{ numbered }} >= args.blocks) {
        return;
    }
{% if numbered == "at_window" %}
    let block = args.first_block + at_window;
{% endif %}
    let first = lane * PART;
    var key: array<Key, PART>;
{% if pairs %}
    var taken_from: array<u32, PART>;
{% endif %}
{% if tiles %}
    let out = block * TILE;
    let count = min(TILE, args.n - out);
{% for e in each %}
    {{ for_each }}
        let r = lane + {{ e }}{{ u }} * THREADS;
        if (r < count) {
            key[{{ e }}{{ u }}] = a_at(out + r);
        }
    }
{% endfor %}
{% else %}
    let runs = runs_of(block);
    let count = runs.end - runs.begin;
    let out = {{ "at_window * TILE" if windows else "runs.skipped + runs.begin" }};
{% if alone %}
    let from_a = 0u;
    let to_a = runs.m;
{% else %}
    let from_a = cuts[block];
    var to_a = runs.m;
    if (runs.end < runs.m + runs.n) {
        to_a = cuts[block + 1u];
    }
{% endif %}
    // Of runs that are not sorted, co-ranks may fall; what is read then is inside the runs, too.
    let of_a = min(max(to_a, from_a) - from_a, count);
    // Places of the tile: its keys of the first run, then its keys of the second.
{% if windows %}
    let from_b = runs.begin - from_a;
    // The tile of another dispatch: all invocations leave together, however the cuts are bound.
    let is_here = (from_a - args.window_a < args.span_a) & (from_b - args.window_b < args.span_b);
    if (lane == 0u) {
        keys[0] = {{ "vec2(u32(is_here), 0u)" if wide else "u32(is_here)" }};
    }
    if (workgroupUniformLoad(&keys[0]){{ ".x" if wide }} == 0u) {
        return;
    }
    let first_a = from_a - args.window_a;
    let first_b = from_b - args.window_b - of_a;
{% else %}
    let first_a = runs.skipped + from_a;
    let first_b = runs.skipped + runs.begin - from_a - of_a;
{% endif %}
{% for e in each %}
    {{ for_each }}
        let r = lane + {{ e }}{{ u }} * THREADS;
        if (r < of_a) {
            key[{{ e }}{{ u }}] = a_at(first_a + r);
        } else if (r < count) {
            key[{{ e }}{{ u }}] = b_at(first_b + r);
        }
    }
{% endfor %}
{% endif %}
{% for e in each %}
    {{ for_each }}
        keys[place(lane + {{ e }}{{ u }} * THREADS)] = key[{{ e }}{{ u }}];
    }
{% endfor %}
    workgroupBarrier();
{% if tiles %}
    // Results may go to where keys and values are read.
    storageBarrier();
{% if pairs %}
    var source: array<u32, PART>;
{% endif %}
{% for e in each %}
    {{ for_each }}
        key[{{ e }}{{ u }}] = keys[place(first + {{ e }}{{ u }})];
{% if pairs %}
        source[{{ e }}{{ u }}] = first + {{ e }}{{ u }};
{% endif %}
    }
{% endfor %}
    for (var round = 0u; round < PART; round += 2u) {
{% for start in [0, 1] %}
{% for e in (["e"] if rolled else range(start, part - 1, 2)) %}
        {{ "for (var e = " ~ start ~ "u; e + 1u < PART; e += 2u) {" if rolled else "{" }}
            let behind = before(key[{{ e }}{{ u }} + 1u], key[{{ e }}{{ u }}]);
            if (behind & (first + {{ e }}{{ u }} + 1u < count)) {
                let x = key[{{ e }}{{ u }}];
                key[{{ e }}{{ u }}] = key[{{ e }}{{ u }} + 1u];
                key[{{ e }}{{ u }} + 1u] = x;
{% if pairs %}
                let s = source[{{ e }}{{ u }}];
                source[{{ e }}{{ u }}] = source[{{ e }}{{ u }} + 1u];
                source[{{ e }}{{ u }} + 1u] = s;
{% endif %}
            }
        }
{% endfor %}
{% endfor %}
    }
    for (var run = PART; run < count; run *= 2u) {
        workgroupBarrier();
{% for e in each %}
        {{ for_each }}
            keys[place(first + {{ e }}{{ u }})] = key[{{ e }}{{ u }}];
        }
{% endfor %}
        workgroupBarrier();
        let run_a = min(first & ~(2u * run - 1u), count);
        let run_b = min(run_a + run, count);
        let run_end = min(run_b + run, count);
        let k = min(first, count) - run_a;
{% include "merge_part.wgsl" %}
{% if pairs %}
        workgroupBarrier();
{% for e in each %}
        {{ for_each }}
            put_source(place(first + {{ e }}{{ u }}), source[{{ e }}{{ u }}]);
        }
{% endfor %}
        workgroupBarrier();
{% for e in each %}
        {{ for_each }}
            source[{{ e }}{{ u }}] = source_at(place(taken_from[{{ e }}{{ u }}] & LAST));
        }
{% endfor %}
{% endif %}
    }
{% else %}
    let run_a = 0u;
    let run_b = of_a;
    let run_end = count;
    let k = min(first, count);
{% include "merge_part.wgsl" %}
{% endif %}
{% if writes_keys %}
    workgroupBarrier();
{% for e in each %}
    {{ for_each }}
        keys[place(first + {{ e }}{{ u }})] = key[{{ e }}{{ u }}];
    }
{% endfor %}
    workgroupBarrier();
{% for e in each %}
    {{ for_each }}
        let r = lane + {{ e }}{{ u }} * THREADS;
        if (r < count) {
            keys_out[args.skip_keys_out + out + r] = keys[place(r)];
        }
    }
{% endfor %}
{% endif %}
{% if pairs %}
{% set found = "source" if tiles else "taken_from" %}
{% set index_a = "from_a + at" if windows else "first_a + at" %}
{% set index_b = "args.run_a + from_b - of_a + at" if windows else "args.second + first_b + at" %}
    workgroupBarrier();
{% for e in each %}
    {{ for_each }}
        put_source(place(first + {{ e }}{{ u }}), {{ found }}[{{ e }}{{ u }}]);
    }
{% endfor %}
    workgroupBarrier();
    var value: array<u32, PART>;
{% for e in each %}
    {{ for_each }}
        let r = lane + {{ e }}{{ u }} * THREADS;
        if (r < count) {
            let at = source_at(place(r));
{% if tiles %}
            value[{{ e }}{{ u }}] = {{ ("args.base + out + at" if windows else "out + at") if indices else "v_at(out + at)" }};
{% else %}
            if (at < of_a) {
                value[{{ e }}{{ u }}] = {{ index_a if indices else "v_at(first_a + at)" }};
            } else {
                value[{{ e }}{{ u }}] = {{ index_b if indices else "w_at(first_b + at)" }};
            }
{% endif %}
        }
    }
{% endfor %}
{% if tiles %}
    storageBarrier();
{% endif %}
{% for e in each %}
    {{ for_each }}
        let r = lane + {{ e }}{{ u }} * THREADS;
        if (r < count) {
            values_out[args.skip_values_out + out + r] = value[{{ e }}{{ u }}];
        }
    }
{% endfor %}
{% endif %}
}
{% endif %}
