// The textbooks' sorts, launch by launch, on keys as words that compare as unsigned integers, and a payload that travels with them.
// load and store: from keys to words and back. windows and everywhere: steps of a network, in shared memory or over the whole array; of a pair of
// places the lower one gets what comes first. samples, bounds and scatter: a sample sort's partition of sorted tiles into buckets; buckets are
// then sorted by a network, each by itself. flags and split: keys parted by a bit. local and runs: tiles sorted by a digit in shared memory, bit by
// bit, and put where the digits' buckets are. The order of all comparisons is the host's: see core.
{% set load = step == 0 %}
{% set store = step == 1 %}
{% set windows = step == 2 %}
{% set everywhere = step == 3 %}
{% set samples = step == 4 %}
{% set bounds = step == 5 %}
{% set scatter = step == 6 %}
{% set flags = step == 7 %}
{% set split = step == 8 %}
{% set local = step == 9 %}
{% set runs = step == 10 %}
{% set reads_values = values and pairs and (load and not ranked or store and ranked) %}
const THREADS = {{ threads }}u;
const TILE = {{ tile }}u;
const NONE = 0xffffffffu;

{% if wide %}
alias Key = vec2<u32>;
{% else %}
alias Key = u32;
{% endif %}
{% if load %}
{% set size = key_bytes %}
{% set array = "a" %}
{% include "element_at.wgsl" %}
{% endif %}
{% if reads_values %}
{% set size = 4 %}
{% set array = "v" %}
{% include "element_at.wgsl" %}
{% endif %}
{% if load or store %}

// Bits that are flipped in negative keys: those whose sign, as it lies in memory, is set.
fn negative(sign: u32) -> Key {
{% if wide %}
    return select(vec2(0u), vec2(args.negative, args.negative_high), (sign & 1u) != 0u);
{% else %}
    return select(0u, args.negative, (sign & 1u) != 0u);
{% endif %}
}

fn flip() -> Key {
    return {{ "vec2(args.flip, args.flip_high)" if wide else "args.flip" }};
}
{% endif %}
{% if windows or everywhere or bounds %}

// Whether an item comes before another, by the bits that are compared, and, where places tell equal keys apart, by these.
fn comes_before(a: Key, place_a: u32, b: Key, place_b: u32) -> bool {
{% if wide %}
    let x = a & vec2(args.mask, args.mask_high);
    let y = b & vec2(args.mask, args.mask_high);
    let less = (x.y < y.y) | ((x.y == y.y) & (x.x < y.x));
    let equal = all(x == y);
{% else %}
    let less = (a & args.mask) < (b & args.mask);
    let equal = (a & args.mask) == (b & args.mask);
{% endif %}
    return less{{ " | (equal & (place_a < place_b))" if ranked }};
}
{% endif %}
{% if windows or everywhere %}

// Pair `q` of a step, the lower place first; a higher place of NONE is none.
fn pair_of(q: u32, run: u32, distance: u32) -> vec2<u32> {
    let r = q & (distance - 1u);
    let x = q + (q - r);
{% if network == 0 %}
    let first = x + (run & 1u);
    return vec2(first, first + 1u);
{% elif network == 1 %}
    return vec2(x, x + select(distance, 2u * distance - 1u - 2u * r, distance == run));
{% else %}
    let first = x + select(0u, distance, distance < run);
    let second = first + distance;
    return vec2(first, select(NONE, second, (first ^ second) < 2u * run));
{% endif %}
}

struct Range {
    begin: u32,
    len: u32,
}

// Range that is sorted by itself: a bucket, or everything.
fn range_of(bucket: u32) -> Range {
{% if buckets %}
    let begin = starts[bucket * args.stride];
    var end = args.n;
    if (bucket + 1u < args.buckets) {
        end = starts[(bucket + 1u) * args.stride];
    }
    return Range(begin, end - begin);
{% else %}
    return Range(0u, args.n);
{% endif %}
}
{% endif %}
{% if local or runs %}

// The digit of `buckets` values from `bit` on.
fn digit_of(key: Key) -> u32 {
{% if wide %}
    let shift = args.bit & 31u;
    let low = select(key.x, key.y, args.bit >= 32u) >> shift;
    let high = select(key.y, 0u, args.bit >= 32u);
    return (low | ((high << 1u) << (31u - shift))) & (args.buckets - 1u);
{% else %}
    return (key >> args.bit) & (args.buckets - 1u);
{% endif %}
}
{% endif %}
{% if local %}

const ITEMS = {{ items }}u;
const KEYS = ITEMS * THREADS;

var<workgroup> keys: array<Key, KEYS>;
{% if pairs %}
var<workgroup> payload: array<u32, KEYS>;
{% endif %}
var<workgroup> sums: array<u32, THREADS>;

// Counts the ones that lanes before this one have, and all of them; Kogge and Stone's scan, in shared memory.
fn ones_before(lane: u32, ones: u32) -> vec2<u32> {
    var sum = ones;
    workgroupBarrier();
    sums[lane] = sum;
    for (var distance = 1u; distance < THREADS; distance *= 2u) {
        workgroupBarrier();
        if (lane >= distance) {
            sum += sums[lane - distance];
        }
        workgroupBarrier();
        sums[lane] = sum;
    }
    workgroupBarrier();
    return vec2(sum - ones, sums[THREADS - 1u]);
}

// Counts the keys of the tile that have lower digits.
fn lower(digit: u32, len: u32) -> u32 {
    var low = 0u;
    var high = len;
    while (low < high) {
        let middle = (low + high) / 2u;
        if (digit_of(keys[middle]) < digit) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

// args: n keys; `stride` tiles; the digit.
@compute @workgroup_size({{ threads }})
fn sort_local(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
    if (block >= args.groups) {
        return;
    }
    let first = block * KEYS;
    let len = min(KEYS, args.n - first);
    for (var r = lane; r < len; r += THREADS) {
        keys[r] = keys_in[first + r];
{% if pairs %}
        payload[r] = payload_in[first + r];
{% endif %}
    }
    workgroupBarrier();
    for (var bit = 1u; bit < args.buckets; bit *= 2u) {
        var key: array<Key, ITEMS>;
{% if pairs %}
        var item: array<u32, ITEMS>;
{% endif %}
        var ones = 0u;
        for (var e = 0u; e < ITEMS; e++) {
            let r = lane * ITEMS + e;
            // Places behind the end stay there: they are the last ones.
            var one = true;
            if (r < len) {
                key[e] = keys[r];
{% if pairs %}
                item[e] = payload[r];
{% endif %}
                one = (digit_of(key[e]) & bit) != 0u;
            }
            ones += select(0u, 1u, one);
        }
        let found = ones_before(lane, ones);
        let zeros = KEYS - found.y;
        var before = found.x;
        for (var e = 0u; e < ITEMS; e++) {
            let r = lane * ITEMS + e;
            if (r < len) {
                let one = (digit_of(key[e]) & bit) != 0u;
                let to = select(r - before, zeros + before, one);
                keys[to] = key[e];
{% if pairs %}
                payload[to] = item[e];
{% endif %}
                before += select(0u, 1u, one);
            }
        }
        workgroupBarrier();
    }
    for (var r = lane; r < len; r += THREADS) {
        keys_out[first + r] = keys[r];
{% if pairs %}
        payload_out[first + r] = payload[r];
{% endif %}
    }
    if (lane < args.buckets) {
        let low = lower(lane, len);
        starts_out[lane * args.stride + block] = low;
        counts_out[lane * args.stride + block] = lower(lane + 1u, len) - low;
    }
}
{% elif windows %}

var<workgroup> keys: array<Key, TILE>;
{% if pairs %}
var<workgroup> payload: array<u32, TILE>;
{% endif %}

// args: `groups` windows to a bucket; `steps` of the network, the first one of `run` and `distance`.
@compute @workgroup_size({{ threads }})
fn sort_windows(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
    if (block >= args.groups) {
        return;
    }
    let range = range_of(block / args.each);
    let room = TILE - 2u * args.halo;
    let first = (block % args.each) * room;
    if (first >= range.len) {
        return;
    }
    let begin = first - min(first, args.halo);
    for (var r = lane; r < TILE; r += THREADS) {
        if (begin + r < range.len) {
            keys[r] = keys_in[range.begin + begin + r];
{% if pairs %}
            payload[r] = payload_in[range.begin + begin + r];
{% endif %}
        }
    }
    var run = args.run;
    var distance = args.distance;
    for (var step = 0u; step < args.steps; step++) {
        workgroupBarrier();
        for (var k = lane; k < TILE / 2u; k += THREADS) {
            let pair = pair_of(begin / 2u + k, run, distance);
            if (pair.y < range.len && pair.y - begin < TILE) {
                let x = pair.x - begin;
                let y = pair.y - begin;
                let a = keys[x];
                let b = keys[y];
{% if pairs %}
                let p = payload[x];
                let q = payload[y];
                if (comes_before(b, q, a, p)) {
                    payload[x] = q;
                    payload[y] = p;
{% else %}
                if (comes_before(b, 0u, a, 0u)) {
{% endif %}
                    keys[x] = b;
                    keys[y] = a;
                }
            }
        }
{% if network == 0 %}
        run++;
{% else %}
        distance /= 2u;
        if (distance == 0u) {
            run *= 2u;
            distance = run;
        }
{% endif %}
    }
    workgroupBarrier();
    for (var r = lane; r < room; r += THREADS) {
        if (first + r < range.len) {
            keys_out[range.begin + first + r] = keys[first + r - begin];
{% if pairs %}
            payload_out[range.begin + first + r] = payload[first + r - begin];
{% endif %}
        }
    }
}
{% else %}

// An invocation to each element, or number.
@compute @workgroup_size({{ threads }})
fn sort_{{ "load" if load else "store" if store else "everywhere" if everywhere else "samples" if samples else "bounds" if bounds else "scatter" if scatter else "flags" if flags else "runs" if runs else "split" }}(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
    let i = block * THREADS + lane;
{% if everywhere %}
    // args: `groups` workgroups to a bucket.
    if (block >= args.groups) {
        return;
    }
    let range = range_of(block / args.each);
    let pair = pair_of((block % args.each) * THREADS + lane, args.run, args.distance);
    if (pair.y >= range.len) {
        return;
    }
    let x = range.begin + pair.x;
    let y = range.begin + pair.y;
    let a = keys_out[x];
    let b = keys_out[y];
{% if pairs %}
    let p = payload_out[x];
    let q = payload_out[y];
    if (comes_before(b, q, a, p)) {
        payload_out[x] = q;
        payload_out[y] = p;
{% else %}
    if (comes_before(b, 0u, a, 0u)) {
{% endif %}
        keys_out[x] = b;
        keys_out[y] = a;
    }
{% else %}
    if (i >= args.n) {
        return;
    }
{% if load %}
    let key = a_at(i);
    keys_out[i] = key ^ negative({{ "key.y >> 31u" if wide else "key >> args.sign_bit" }}) ^ flip();
{% if pairs %}
    payload_out[i] = {{ "v_at(i)" if reads_values else "i" }};
{% endif %}
{% elif store %}
    let key = keys_in[i] ^ flip();
    keys_out[i + args.skip_keys_out] = key ^ negative({{ "key.y >> 31u" if wide else "key >> args.sign_bit" }});
{% if pairs %}
    payload_out[i + args.skip_payload_out] = {{ "v_at(payload_in[i])" if reads_values else "payload_in[i]" }};
{% endif %}
{% elif samples %}
    // args: n samples.
    let at = i * {{ apart }}u + {{ apart - 1 }}u;
    keys_out[i] = keys_in[at];
    payload_out[i] = payload_in[at];
{% elif bounds %}
    // args: n entries of the tables, [bucket][stride tiles]; `keys` in all.
    let bucket = i / args.stride;
    let tile = i % args.stride;
    let len = min(TILE, args.keys - tile * TILE);
    let low = start_of(bucket, tile, len);
    starts_out[i] = low;
    counts_out[i] = start_of(bucket + 1u, tile, len) - low;
{% elif scatter %}
    let tile = i / TILE;
    let r = i % TILE;
    // The last bucket that begins in the tile here or before; those behind it that begin there, too, are empty.
    var bucket = 0u;
    var end = args.buckets;
    while (end - bucket > 1u) {
        let middle = (bucket + end) / 2u;
        if (starts[middle * args.stride + tile] <= r) {
            bucket = middle;
        } else {
            end = middle;
        }
    }
    let entry = bucket * args.stride + tile;
    let to = offsets[entry] + (r - starts[entry]);
    keys_out[to] = keys_in[i];
    payload_out[to] = payload_in[i];
{% elif runs %}
    // args: tiles of `run` keys.
    let key = keys_in[i];
    let entry = digit_of(key) * args.stride + i / args.run;
    let to = offsets[entry] + i % args.run - starts[entry];
    keys_out[to] = key;
{% if pairs %}
    payload_out[to] = payload_in[i];
{% endif %}
{% elif flags %}
    flags_out[i] = bit_of(keys_in[i]);
{% else %}
    let last = args.n - 1u;
    let key = keys_in[i];
    let one = bit_of(key) != 0u;
    let zeros = args.n - ones[last] - bit_of(keys_in[last]);
    let to = select(i - ones[i], zeros + ones[i], one);
    keys_out[to] = key;
{% if pairs %}
    payload_out[to] = payload_in[i];
{% endif %}
{% endif %}
{% endif %}
}
{% endif %}
{% if bounds %}

// Counts the keys of a sorted tile that come before a bucket: before its splitter.
fn start_of(bucket: u32, tile: u32, len: u32) -> u32 {
    if (bucket == 0u) {
        return 0u;
    }
    if (bucket == args.buckets) {
        return len;
    }
    let s = args.samples / args.buckets * bucket + args.samples % args.buckets * bucket / args.buckets;
    let key = sample_keys[s];
    let place = sample_places[s];
    var low = 0u;
    var high = len;
    while (low < high) {
        let middle = (low + high) / 2u;
        let at = tile * TILE + middle;
        if (comes_before(keys_in[at], payload_in[at], key, place)) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}
{% endif %}
{% if flags or split %}

fn bit_of(key: Key) -> u32 {
{% if wide %}
    return (select(key.x, key.y, args.bit >= 32u) >> (args.bit & 31u)) & 1u;
{% else %}
    return (key >> args.bit) & 1u;
{% endif %}
}
{% endif %}
