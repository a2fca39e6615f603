// The rungs of the textbook's stable merge of two sorted arrays, keys of 4 bytes and values of 4; equal keys of a go first.
// basic: an invocation finds by halving where its keys of the result begin in both arrays, and merges them one by one, in memory. tiled: a workgroup
// finds that for its section, and merges tiles of both arrays in shared memory, which it loads again from where the last ones got to. circular: the tiles
// are rings, and only what was merged is loaded anew.
// The bounds are those of the elements that are there: neither tiles nor ranks reach behind the arrays' ends. All invocations pass all barriers.
{% set circular = rung == 2 %}
const THREADS = {{ threads }}u;

fn mapped(key: u32) -> u32 {
    return key ^ select(0u, args.negative, (key >> 31u) != 0u) ^ args.flip;
}

fn a_at(i: u32) -> u32 {
    return mapped(a[i + args.skip_a]);
}

fn b_at(i: u32) -> u32 {
    return mapped(b[i + args.skip_b]);
}

// Writes key k of the result, the mapped `key`, which is key i of a or key j of b.
fn put(k: u32, key: u32, of_a: bool, i: u32, j: u32) {
    // The sign is where it was.
    let signed_key = key ^ args.flip;
    keys_out[k + args.skip_keys_out] = signed_key ^ select(0u, args.negative, (signed_key >> 31u) != 0u);
{% if pairs %}
    if (of_a) {
        values_out[k + args.skip_values_out] = v[i + args.skip_v];
    } else {
        values_out[k + args.skip_values_out] = w[j + args.skip_w];
    }
{% endif %}
}

// Counts those of the first k keys of the result that are of a.
fn co_rank(k: u32) -> u32 {
    var low = k - min(k, args.b_len);
    var high = min(k, args.a_len);
    while (low < high) {
        let i = low + (high - low) / 2u;
        if (a_at(i) <= b_at(k - 1u - i)) {
            low = i + 1u;
        } else {
            high = i;
        }
    }
    return low;
}
{% if rung == 0 %}

// Grid: a workgroup to THREADS parts of the result.
@compute @workgroup_size({{ threads }})
fn merge_variant(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
    let total = args.a_len + args.b_len;
    let first = (block * THREADS + lane) * {{ items }}u;
    if (block >= args.groups || first >= total) {
        return;
    }
    var i = co_rank(first);
    var j = first - i;
    for (var k = first; k < min(first + {{ items }}u, total); k++) {
        var key = 0u;
        var of_a = j == args.b_len;
        if (of_a) {
            key = a_at(i);
        } else {
            key = b_at(j);
            if (i < args.a_len) {
                let other = a_at(i);
                of_a = other <= key;
                key = min(other, key);
            }
        }
        put(k, key, of_a, i, j);
        i += select(0u, 1u, of_a);
        j += select(1u, 0u, of_a);
    }
}
{% else %}

const TILE = {{ tile }}u;
const SECTION = {{ section }}u;
const PER_TILE = TILE / THREADS;

var<workgroup> keys_a: array<u32, TILE>;
var<workgroup> keys_b: array<u32, TILE>;
var<workgroup> cuts: array<u32, 2>;

// Part of an array that a workgroup holds: `have` keys from `start` on, in a ring or not; `done` keys of its part, which begins at `origin`, are merged.
struct Part {
    origin: u32,
    len: u32,
    start: u32,
    have: u32,
    done: u32,
}

fn slot(part: Part, i: u32) -> u32 {
    return {{ "(part.start + i) % TILE" if circular else "i" }};
}

// Returns the number of keys there are to load, and room for.
fn more(part: Part) -> u32 {
    return min(TILE - part.have, part.len - (part.done + part.have));
}

fn drop(part: Part, count: u32) -> Part {
{% if circular %}
    return Part(part.origin, part.len, (part.start + count) % TILE, part.have - count, part.done + count);
{% else %}
    return Part(part.origin, part.len, 0u, 0u, part.done + count);
{% endif %}
}

fn co_rank_of_tile(pa: Part, pb: Part, k: u32) -> u32 {
    var low = k - min(k, pb.have);
    var high = min(k, pa.have);
    while (low < high) {
        let i = (low + high) / 2u;
        if (keys_a[slot(pa, i)] <= keys_b[slot(pb, k - 1u - i)]) {
            low = i + 1u;
        } else {
            high = i;
        }
    }
    return low;
}

// Grid: a workgroup to a section of the result.
@compute @workgroup_size({{ threads }})
fn merge_variant(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
    if (block >= args.groups) {
        return;
    }
    let first = block * SECTION;
    let count = min(SECTION, args.a_len + args.b_len - first);
    if (lane < 2u) {
        cuts[lane] = co_rank(first + lane * count);
    }
    workgroupBarrier();
    // Of arrays that are not sorted the second cut may lie before the first, or too far behind it.
    let begin = cuts[0];
    let len = min(max(cuts[1], begin) - begin, count);
    var pa = Part(begin, len, 0u, 0u, 0u);
    var pb = Part(first - begin, count - len, 0u, 0u, 0u);
    for (var made = 0u; made < count; made += TILE) {
        let more_a = more(pa);
        for (var i = lane; i < more_a; i += THREADS) {
            keys_a[slot(pa, pa.have + i)] = a_at(pa.origin + pa.done + pa.have + i);
        }
        pa.have += more_a;
        let more_b = more(pb);
        for (var i = lane; i < more_b; i += THREADS) {
            keys_b[slot(pb, pb.have + i)] = b_at(pb.origin + pb.done + pb.have + i);
        }
        pb.have += more_b;
        workgroupBarrier();
        let tile = min(TILE, count - made);
        let k = min(lane * PER_TILE, tile);
        var i = co_rank_of_tile(pa, pb, k);
        var j = k - i;
        for (var c = k; c < min(k + PER_TILE, tile); c++) {
            var key = 0u;
            var of_a = j == pb.have;
            if (of_a) {
                key = keys_a[slot(pa, i)];
            } else {
                key = keys_b[slot(pb, j)];
                if (i < pa.have) {
                    let other = keys_a[slot(pa, i)];
                    of_a = other <= key;
                    key = min(other, key);
                }
            }
            put(first + made + c, key, of_a, pa.origin + pa.done + i, pb.origin + pb.done + j);
            i += select(0u, 1u, of_a);
            j += select(1u, 0u, of_a);
        }
        let used = co_rank_of_tile(pa, pb, tile);
        workgroupBarrier();
        pa = drop(pa, used);
        pb = drop(pb, tile - used);
    }
}
{% endif %}
