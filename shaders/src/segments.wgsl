// Segments of an array, each reduced as an array of its own: the aligned binary tree counted from the segment's start (reduce.wgsl), missing right
// halves skipped, an empty segment `first_value()`. A workgroup takes neighbouring segments (segments_short). Where all are tiny and their elements fit
// into workgroup memory, an invocation reduces a segment there; else {{ threads }} at a time, whose invocations share the vectors of 4 elements of the
// short ones out evenly, whatever the lengths. Long segments go to a list as tiles, which are reduced one to a workgroup (segments_tiles), and the
// nodes of each long segment's tiles are joined (segments_join). Where a tile stands in the list depends on timing, and shows nowhere.

const THREADS = {{ threads }}u;
const ROWS = {{ rows }}u;             // vectors that an invocation has in flight
const SLOTS = ROWS * THREADS;         // nodes in shared memory
const HEAD = 4u;                      // words of the list before its first tile: tiles, long segments of several tiles
const ENTRY = 4u;                     // words of a tile: segment, first element, elements, whether it is all of the segment
const JOIN = 3u;                      // words of a long segment: segment, its first tile in the list, tiles

{% if rolled %}
{% include "of_first.wgsl" %}
{% else %}
// The node over elements i..i+3, those before `end`; there is at least one. All four are read, the last one again where fewer are left, so that
// loads need not wait for conditions.
fn quad(i: u32, end: u32) -> Acc {
    let last = end - 1u;
    var x = load1(i);
    let x1 = load1(min(i + 1u, last));
    var x2 = load1(min(i + 2u, last));
    let x3 = load1(min(i + 3u, last));
    if (i + 1u < end) {
        x = combine(x, x1);
    }
    if (i + 3u < end) {
        x2 = combine(x2, x3);
    }
    if (i + 2u < end) {
        x = combine(x, x2);
    }
    return x;
}
{% endif %}

{% if short %}
{% if tiny %}
const TINY = 64u;                     // elements of a segment that an invocation reduces, at most
const STAGED = {{ staged }}u;         // elements that are staged for that

var<workgroup> slots: array<Acc, max(SLOTS, STAGED)>;
{% else %}
var<workgroup> slots: array<Acc, SLOTS>;
{% endif %}
// Of each segment of the tile: its first element in the window, its elements if it is short (THREADS places on), and the vectors of those before it.
// Where segments are tiny, where each begins in the slots, and the last one ends.
var<workgroup> places: array<u32, THREADS * 2u + 1u>;
var<workgroup> vectors: array<u32, THREADS + 1u>;
var<workgroup> sums: array<u32, THREADS / 16u>;
var<workgroup> most: atomic<u32>;
// Whether a segment is not tiny; where the vectors end that fit into the slots; levels of the highest tree; long segments.
var<workgroup> misfits: u32;
var<workgroup> stop: u32;
var<workgroup> highest: u32;
{% if lists %}
var<workgroup> long_count: atomic<u32>;
var<workgroup> long_segments: u32;
var<workgroup> long_lanes: array<u32, THREADS>;
var<workgroup> long_bases: array<u32, THREADS>;
{% endif %}

// Segments of this dispatch.
fn segments_here() -> u32 {
{% if counted %}
    let count = count_in[args.skip_count];
    return min(max(count, args.first_segment) - args.first_segment, args.segments);
{% else %}
    return args.segments;
{% endif %}
}

// Where segment k begins, and the one before it ends.
fn bound(k: u32) -> u32 {
{% if counted %}
    if (k + args.first_segment >= count_in[args.skip_count]) {
        return args.n;
    }
{% endif %}
{% if wide %}
    let at = (args.skip_bounds + k) * 2u;
    return select(min(bounds[at], args.n), args.n, bounds[at + 1u] != 0u);
{% else %}
    return min(bounds[args.skip_bounds + k], args.n);
{% endif %}
}

{% if tiny %}
// The node over 16 staged elements from one on, those of the first `left`; there is at least one.
fn of_16(at: u32, left: u32) -> Acc {
    var x0 = slots[at];
{% for e in range(1, 16) %}
    var x{{ e }} = Acc();
    if (left > {{ e }}u) {
        x{{ e }} = slots[at + {{ e }}u];
    }
{% endfor %}
{% for d in [1, 2, 4, 8] %}
{% for e in range(0, 16, d * 2) %}
    if (left > {{ e + d }}u) {
        x{{ e }} = combine(x{{ e }}, x{{ e + d }});
    }
{% endfor %}
{% endfor %}
    return x0;
}

// The tree over the staged elements of a tiny segment, `length` > 0, from the first on.
fn of_tiny(at: u32, length: u32) -> Acc {
    // Nodes over 16 and 32 elements that wait for their right-hand neighbour.
    var a = Acc();
    var b = Acc();
    var v = Acc();
    let count = (length + 15u) / 16u;
    for (var q = 0u; q < count; q++) {
        v = of_16(at + 16u * q, length - 16u * q);
        if ((q & 1u) == 0u) {
            a = v;
        } else {
            v = combine(a, v);
        }
        if (q == 1u) {
            b = v;
        }
    }
    if (count > 2u) {
        v = combine(b, v);
    }
    return v;
}

// Reduces segments from_.., `rows` (1 or 2) to an invocation, where all are tiny, begin in this window before its end and fit into `slots`; else
// returns false. All invocations call it.
fn segments_tiny(from_: u32, segments: u32, rows: u32, lane: u32) -> bool {
    let here = min(segments - from_, rows * THREADS);
    let low = bound(from_);
    let high = bound(from_ + here);
    if (low < args.first || high < low || high - low > STAGED || high - args.first > args.step) {
        return false;
    }
    let count = high - low;
    for (var k = lane; k < here; k += THREADS) {
        let at = bound(from_ + k) - low;
        places[k] = select(0xffffffffu, at, at <= count);
    }
    if (lane == 0u) {
        places[here] = count;
        misfits = 0u;
    }
    for (var i = lane; i < count; i += THREADS * 4u) {
        let x0 = load1(low - args.first + i);
        let x1 = load1(low - args.first + min(i + THREADS, count - 1u));
        let x2 = load1(low - args.first + min(i + THREADS * 2u, count - 1u));
        let x3 = load1(low - args.first + min(i + THREADS * 3u, count - 1u));
        slots[i] = x0;
        if (i + THREADS < count) {
            slots[i + THREADS] = x1;
        }
        if (i + THREADS * 2u < count) {
            slots[i + THREADS * 2u] = x2;
        }
        if (i + THREADS * 3u < count) {
            slots[i + THREADS * 3u] = x3;
        }
    }
    workgroupBarrier();
    for (var k = lane; k < here; k += THREADS) {
        // A place that does not fit is behind its right-hand neighbour, or that one does not fit either, and the last one does.
        if (places[k] > places[k + 1u] || places[k + 1u] - places[k] > min(TINY, args.limit)) {
            misfits = 1u;
        }
    }
    if (workgroupUniformLoad(&misfits) != 0u) {
        return false;
    }
    for (var k = lane; k < here; k += THREADS) {
        let length = places[k + 1u] - places[k];
        if (length > 0u) {
            finish(from_ + k, of_tiny(places[k], length));
        } else {
            finish(from_ + k, first_value());
        }
    }
    workgroupBarrier();
    return true;
}
{% endif %}

// Reduces segments from_..segments, {{ threads }} at most, and puts the long ones on the list. All invocations call it.
fn segments_mixed(from_: u32, segments: u32, lane: u32) {
    let segment = from_ + lane;
    var begin = 0u;
    var length = 0u;
    if (segment < segments) {
        begin = bound(segment);
        length = max(bound(segment + 1u), begin) - begin;
        if (length == 0u && args.first == 0u) {
            finish(segment, first_value());
        }
    }
    let is_short = length > 0u && length <= args.limit && begin >= args.first && begin - args.first < args.step;
    let own = select(0u, (length + 3u) / 4u, is_short);
    places[lane] = begin - args.first;
    places[THREADS + lane] = length;
    vectors[lane] = own;
    if (lane == 0u) {
        atomicStore(&most, 0u);
{% if lists %}
        atomicStore(&long_count, 0u);
{% endif %}
    }
    workgroupBarrier();
    atomicMax(&most, own);
    var sum = 0u;
    if (lane < THREADS / 16u) {
        for (var q = 0u; q < 16u; q++) {
            let here = vectors[lane * 16u + q];
            vectors[lane * 16u + q] = sum;
            sum += here;
        }
        sums[lane] = sum;
    }
{% if lists %}
    // A long segment takes places of the list for its tiles. Offsets that are not sorted may ask for more than there are.
    if (length > args.limit && args.first == 0u) {
        let tiles = (length - 1u) / args.tile + 1u;
        let base = atomicAdd(&list[0], tiles);
        let at = atomicAdd(&long_count, 1u);
        long_lanes[at] = lane;
        long_bases[at] = base;
        if (tiles > 1u && base < args.room && tiles <= args.room - base) {
            let join = args.joins + JOIN * atomicAdd(&list[1], 1u);
            if (join < arrayLength(&list) - JOIN) {
                atomicStore(&list[join], segment + args.first_segment);
                atomicStore(&list[join + 1u], base);
                atomicStore(&list[join + 2u], tiles);
            }
        }
    }
{% endif %}
    workgroupBarrier();
    var before = 0u;
    for (var q = 0u; q < lane / 16u; q++) {
        before += sums[q];
    }
    vectors[lane] += before;
    if (lane == THREADS - 1u) {
        vectors[THREADS] = vectors[lane] + own;
    }
    if (lane == 0u) {
        highest = atomicLoad(&most);
{% if lists %}
        long_segments = atomicLoad(&long_count);
{% endif %}
    }
    let levels = workgroupUniformLoad(&highest);
{% if lists %}
    let listed = workgroupUniformLoad(&long_segments);
    for (var q = 0u; q < listed; q++) {
        let of_ = long_lanes[q];
        let tiles = (places[THREADS + of_] - 1u) / args.tile + 1u;
        for (var t = lane; t < tiles && t < args.room - min(long_bases[q], args.room); t += THREADS) {
            let at = HEAD + ENTRY * (long_bases[q] + t);
            atomicStore(&list[at], from_ + of_ + args.first_segment);
            atomicStore(&list[at + 1u], places[of_] + t * args.tile);
            atomicStore(&list[at + 2u], min(args.tile, places[THREADS + of_] - t * args.tile));
            atomicStore(&list[at + 3u], select(0u, 1u, tiles == 1u));
        }
    }
{% endif %}

    // As many whole segments at a time as the slots hold.
    var done = 0u;
    loop {
        let end = vectors[lane + 1u];
        if (end > done && end - done <= SLOTS) {
            var is_last = lane == THREADS - 1u;
            if (!is_last) {
                is_last = vectors[lane + 2u] - done > SLOTS;
            }
            if (is_last) {
                stop = end;
            }
        } else if (lane == THREADS - 1u && end == done) {
            stop = done;
        }
        let next = workgroupUniformLoad(&stop);
        if (next == done) {
            break;
        }
        let count = next - done;
{% for r in range(rows) %}
        let p{{ r }} = {{ r }}u * THREADS + lane;
        var place{{ r }} = 0u;
        var size{{ r }} = 0u;
        var of{{ r }} = 0u;
        var v{{ r }} = Acc();
        if (p{{ r }} < count) {
            // The last segment with no more vectors before it: one with vectors, since the next has more.
            for (var step = THREADS / 2u; step > 0u; step /= 2u) {
                if (vectors[of{{ r }} + step] <= done + p{{ r }}) {
                    of{{ r }} += step;
                }
            }
            place{{ r }} = done + p{{ r }} - vectors[of{{ r }}];
            size{{ r }} = vectors[of{{ r }} + 1u] - vectors[of{{ r }}];
            let i = places[of{{ r }}] + 4u * place{{ r }};
            v{{ r }} = quad(i, places[of{{ r }}] + places[THREADS + of{{ r }}]);
            slots[p{{ r }}] = v{{ r }};
        }
{% endfor %}
        for (var d = 1u; d < levels; d *= 2u) {
            workgroupBarrier();
{% for r in range(rows) %}
            if ((place{{ r }} & (2u * d - 1u)) == 0u && place{{ r }} + d < size{{ r }}) {
                v{{ r }} = combine(v{{ r }}, slots[p{{ r }} + d]);
                slots[p{{ r }}] = v{{ r }};
            }
{% endfor %}
        }
{% for r in range(rows) %}
        if (p{{ r }} < count && place{{ r }} == 0u) {
            finish(from_ + of{{ r }}, v{{ r }});
        }
{% endfor %}
        done = next;
        workgroupBarrier();
    }
    workgroupBarrier();
}

// args: n elements in all; first, of the window, and step, elements from there on whose segments are reduced here; segments of the output's window, the
// first of them; tile, elements of a tile of a long segment, and limit, elements of a short one; room, tiles that the list holds, and joins, where
// long segments of several tiles follow; elements of the bindings of bounds and count before the first; groups of this dispatch; together, segments of
// an invocation to begin with; take, segments of a workgroup at a time where they are too long for that.
// A segment belongs to the window that it begins in; empty and long ones are seen to in the first window.
@compute @workgroup_size({{ threads }})
fn segments_short(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
    let segments = segments_here();
{% if tiny %}
    let tiles = (segments + THREADS - 1u) / THREADS;
    for (var tile = block * args.together; tile < tiles; tile += args.groups * args.together) {
        if (!segments_tiny(tile * THREADS, segments, args.together, lane)) {
            for (var t = tile; t < min(tile + args.together, tiles); t++) {
                if (args.together == 1u || !segments_tiny(t * THREADS, segments, 1u, lane)) {
                    segments_mixed(t * THREADS, segments, lane);
                }
            }
        }
    }
{% else %}
    for (var from_ = block * args.take; from_ < segments; from_ += args.groups * args.take) {
        segments_mixed(from_, min(segments, from_ + args.take), lane);
    }
{% endif %}
}
{% else %}
// Regions of shared memory, each with a gap after 8 slots, so that neighbours' runs of 8 lie in different banks.
const RUNS = SLOTS / 8u * 9u;
var<workgroup> slots: array<Acc, RUNS + RUNS / 8u + 8u>;

fn gapped(i: u32) -> u32 {
    return i + (i >> 3u);
}

// The node over 8 slots of a region from `from_` on, those below `count`; there is at least one.
fn tree_of_8(region: u32, from_: u32, count: u32) -> Acc {
{% if rolled %}
    var x: array<Acc, 8>;
    for (var e = 0u; e < min(count - from_, 8u); e++) {
        x[e] = slots[region + gapped(from_ + e)];
    }
    return of_first(x, count - from_);
{% else %}
{% for e in range(8) %}
    var x{{ e }} = slots[region + gapped(from_ + {{ e }}u)];
{% endfor %}
{% for step in [1, 2, 4] %}
{% for e in range(0, 8, step * 2) %}
    if (from_ + {{ e + step }}u < count) {
        x{{ e }} = combine(x{{ e }}, x{{ e + step }});
    }
{% endfor %}
{% endfor %}
    return x0;
{% endif %}
}

// The tree over elements begin..end, at most 4 * SLOTS; lane 0 has the result.
fn tree(begin: u32, end: u32, lane: u32) -> Acc {
    var count = (end - begin + 3u) / 4u;
{% for r in range(rows) %}
    let p{{ r }} = {{ r }}u * THREADS + lane;
    if (p{{ r }} < count) {
        slots[gapped(p{{ r }})] = quad(begin + 4u * p{{ r }}, end);
    }
{% endfor %}
    var v = Acc();
    // From one region to the other and back.
    for (var from_ = 0u; ; from_ = RUNS - from_) {
        workgroupBarrier();
        if (lane * 8u < count) {
            v = tree_of_8(from_, lane * 8u, count);
        }
        if (count <= 8u) {
            break;
        }
        if (lane * 8u < count) {
            slots[RUNS - from_ + gapped(lane)] = v;
        }
        count = (count + 7u) / 8u;
    }
    workgroupBarrier();
    return v;
}

{% if tiles %}
// args: first, of the window, and step, elements from there on at which tiles begin here; segments of the output's window, the first of them; room,
// tiles that the list holds; groups.
@compute @workgroup_size({{ threads }})
fn segments_tiles(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
    let count = min(list[0], args.room);
    for (var t = block; t < count; t += args.groups) {
        let segment = list[HEAD + ENTRY * t];
        let begin = list[HEAD + ENTRY * t + 1u];
        let length = list[HEAD + ENTRY * t + 2u];
        let alone = list[HEAD + ENTRY * t + 3u] != 0u;
        // Results for the scratch go there once.
        let wanted = select(args.first_segment == 0u, segment >= args.first_segment && segment - args.first_segment < args.segments, alone);
        if (wanted && begin >= args.first && begin - args.first < args.step) {
            let v = tree(begin - args.first, begin - args.first + length, lane);
            if (lane == 0u && alone) {
                finish(segment - args.first_segment, v);
            } else if (lane == 0u) {
                partials_out[t] = v;
            }
        }
    }
}
{% else %}
// args: segments of the output's window, the first of them; room, tiles that the list holds; joins, where long segments stand in it; most of them; groups.
@compute @workgroup_size({{ threads }})
fn segments_join(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
    let count = min(list[1], args.most);
    for (var j = block; j < count; j += args.groups) {
        let segment = list[args.joins + JOIN * j];
        let base = list[args.joins + JOIN * j + 1u];
        let tiles = list[args.joins + JOIN * j + 2u];
        if (segment >= args.first_segment && segment - args.first_segment < args.segments) {
            // Nodes that wait for their right-hand neighbour: after `done` parts, one for each set bit of `done`.
            var waiting: array<Acc, 24>;
            var done = 0u;
            for (var at = 0u; at < tiles; at += 4u * SLOTS) {
                var v = tree(base + at, base + min(tiles, at + 4u * SLOTS), lane);
                if (lane == 0u) {
                    var k = 0u;
                    for (; ((done >> k) & 1u) != 0u; k++) {
                        v = combine(waiting[k], v);
                    }
                    waiting[k] = v;
                }
                done++;
            }
            if (lane == 0u) {
                // Missing right halves are skipped: what is left is folded from the smallest node up.
                var k = countTrailingZeros(done);
                var v = waiting[k];
                for (k++; (done >> k) != 0u; k++) {
                    if (((done >> k) & 1u) != 0u) {
                        v = combine(waiting[k], v);
                    }
                }
                finish(segment - args.first_segment, v);
            }
        }
    }
}
{% endif %}
{% endif %}
