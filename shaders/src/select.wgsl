// Select: elements of part 0 one after the other and the others nowhere (keep, runs) or behind them (two and three ways), in their order.
// Runs also have the number of elements from each that is kept to the next. All integers, so there is no order to keep but the elements' own.
// One launch, input read once: a tile looks back for what the tiles before it hold of each part (look_back.wgsl). Its elements wait in registers,
// and go through shared memory to their places, so that neighbours write neighbours.

const THREADS = {{ threads }}u;
const ROWS = {{ rows }}u;             // vectors of 4 elements that an invocation holds
const TILE = 4u * ROWS * THREADS;
const MASKS = TILE / 32u;             // words with a bit to an element, in order
const RUN = MASKS / 16u;              // words that one invocation adds up
const CHUNK = {{ chunk }}u;           // elements that are staged at once

// An invocation's bits, 4 to a row; the bits of 32 elements; elements of the part before these.
{% for k in range(sets) %}
var<workgroup> nibbles{{ k }}: array<u32, THREADS>;
var<workgroup> masks{{ k }}: array<u32, MASKS>;
var<workgroup> ranks{{ k }}: array<u32, MASKS>;
var<workgroup> sums{{ k }}: array<u32, 16>;
{% endfor %}
var<workgroup> stage: array<u32, CHUNK * {{ value_words }}u>;
var<workgroup> helped: array<atomic<u32>, 2>;
var<workgroup> to_store: u32;
{% if runs %}
// Places of staged elements behind that of the one before them; the last one that the tile keeps, plus one.
var<workgroup> places: array<u32, CHUNK + 1u>;
var<workgroup> last_kept: u32;
{% endif %}

// Publishes what a tile that another workgroup owns holds of each part. Another tile comes after it, so it is full.
fn help(origin: u32, first: u32, tile: u32, lane: u32) {
    if (lane == 0u) {
        atomicStore(&helped[0], 0u);
        atomicStore(&helped[1], 0u);
    }
    workgroupBarrier();
    var count = 0u;
    var second = 0u;
    for (var r = 0u; r < ROWS; r++) {
        let i = origin + (tile - first) * TILE + (r * THREADS + lane) * 4u;
        let x = load4(i);
{% for e in range(4) %}
        if (x[{{ e }}].part == 0u) {
            count++;
{% if runs %}
            second = args.base + i + {{ e + 1 }}u;
{% endif %}
        }
{% if three %}
        if (x[{{ e }}].part == 1u) {
            second++;
        }
{% endif %}
{% endfor %}
    }
    atomicAdd(&helped[0], count);
{% if runs %}
    atomicMax(&helped[1], second);
{% elif three %}
    atomicAdd(&helped[1], second);
{% endif %}
    workgroupBarrier();
    if (lane == 0u) {
        publish(tile, Acc(atomicLoad(&helped[0]){{ ", atomicLoad(&helped[1])" if pairs }}));
    }
}

{% include "look_back.wgsl" %}

// Stages an element in slot `slot`, if that is one of the chunk's.
fn put(slot: u32, x: array<u32, {{ value_words }}>{{ ", place: u32" if runs }}) {
    if (slot < CHUNK) {
{% for w in range(value_words) %}
        stage[{{ w }}u * CHUNK + slot] = x[{{ w }}];
{% endfor %}
    }
{% if runs %}
    // The last of the chunk before stands in front of the chunk's first.
    if (slot + 1u <= CHUNK) {
        places[slot + 1u] = place;
    }
{% endif %}
}

// args: n elements of this dispatch, tiles = blocks of it, epoch and patience as for look_back; `window` numbers the dispatch among those
// of the task, whose sums follow the ticket, `ends` says that it is the last one. Grid: tiles and, where they are served, one more, folded.
@compute @workgroup_size({{ threads }})
fn select_tiles(@builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    if (lane == 0u) {
        let mine = atomicAdd(&tickets[0], 1u);
        if (mine + 1u == grid.x * grid.y * grid.z) {
            // The last of all: ready for the next launch.
            atomicStore(&tickets[0], 0u);
        }
        ticket = mine;
        atomicStore(&missing[0], NONE);
        atomicStore(&missing[1], NONE);
    }
{% if served %}
    let drawn = workgroupUniformLoad(&ticket);
    if (drawn == 0u) {
        serve(lane);
        return;
    }
    let tile = drawn - 1u;
{% else %}
    let tile = workgroupUniformLoad(&ticket);
{% endif %}
    if (tile >= args.blocks) {
        return;
    }
    let start = tile * TILE;
{% for k in range(sets) %}
    var bits{{ k }} = 0u;
{% endfor %}
{% for r in range(rows) %}
    var x{{ r }}: array<array<u32, {{ value_words }}>, 4>;
    let i{{ r }} = start + ({{ r }}u * THREADS + lane) * 4u;
    {
        // Without a branch, so that all rows are on their way at once; what is no whole vector of its own stands for nothing.
        let whole = max(i{{ r }}, args.n) - i{{ r }} >= 4u;
        let loaded = load4(select(0u, i{{ r }}, whole));
{% for e in range(4) %}
        x{{ r }}[{{ e }}] = loaded[{{ e }}].v;
{% endfor %}
{% for k in range(sets) %}
        let own{{ k }} = {% for e in range(4) %}select(0u, {{ 2 ** (4 * r + e) }}u, loaded[{{ e }}].part == {{ k }}u){{ " | " if not loop.last }}{% endfor %};
        bits{{ k }} |= select(0u, own{{ k }}, whole);
{% endfor %}
    }
{% endfor %}
    // The row of the one vector that the end cuts, if it is this invocation's.
    let beyond = (args.n - start) / 4u;
    let cut = select(ROWS, beyond / THREADS, args.n % 4u != 0u && beyond % THREADS == lane);
    if (cut < ROWS) {
        var part: array<array<u32, {{ value_words }}>, 4>;
{% for e in range(3) %}
        if ({{ e }}u < args.n % 4u) {
            let one = load1(args.n / 4u * 4u + {{ e }}u);
            part[{{ e }}] = one.v;
{% for k in range(sets) %}
            bits{{ k }} |= select(0u, 1u << (4u * cut + {{ e }}u), one.part == {{ k }}u);
{% endfor %}
        }
{% endfor %}
{% for r in range(rows) %}
        if (cut == {{ r }}u) {
            x{{ r }} = part;
        }
{% endfor %}
    }

    // Bits from rows of invocations to words in the elements' order, and what comes before each word.
{% for k in range(sets) %}
    nibbles{{ k }}[lane] = bits{{ k }};
{% endfor %}
    workgroupBarrier();
    if (lane < MASKS) {
        let shift = (lane * 32u) / (4u * THREADS) * 4u;
        let first = lane * 8u % THREADS;
{% for k in range(sets) %}
        var mask{{ k }} = 0u;
        for (var q = 0u; q < 8u; q++) {
            mask{{ k }} |= ((nibbles{{ k }}[first + q] >> shift) & 0xfu) << (4u * q);
        }
        masks{{ k }}[lane] = mask{{ k }};
        ranks{{ k }}[lane] = countOneBits(mask{{ k }});
{% endfor %}
    }
    workgroupBarrier();
    if (lane < 16u) {
{% for k in range(sets) %}
        var sum{{ k }} = 0u;
        for (var q = 0u; q < RUN; q++) {
            let here = ranks{{ k }}[lane * RUN + q];
            ranks{{ k }}[lane * RUN + q] = sum{{ k }};
            sum{{ k }} += here;
        }
        sums{{ k }}[lane] = sum{{ k }};
{% endfor %}
    }
    workgroupBarrier();
{% for k in range(sets) %}
    var total{{ k }} = 0u;
    var before{{ k }} = 0u;
    for (var q = 0u; q < 16u; q++) {
        let here = sums{{ k }}[q];
        before{{ k }} += select(0u, here, q < lane / RUN);
        total{{ k }} += here;
    }
    if (lane < MASKS) {
        ranks{{ k }}[lane] += before{{ k }};
    }
{% endfor %}
{% if runs %}
    if (lane < MASKS) {
        let mask = masks0[lane];
        if (mask != 0u && ranks0[lane] + countOneBits(mask) == total0) {
            last_kept = args.base + start + lane * 32u + 32u - countLeadingZeros(mask);
        }
    }
    if (lane == 0u && total0 == 0u) {
        last_kept = 0u;
    }
{% endif %}
    if (lane == 0u) {
        to_store = {{ "min(TILE, args.n - start)" if parts > 1 else "total0" }};
    }
    let stored = workgroupUniformLoad(&to_store);

    let total = Acc(total0{{ ", total1" if three }}{{ ", last_kept" if runs }});
    var fold = Acc();
    if (lane == 0u) {
        publish(tile, total);
    }
    if (tile != 0u) {
        look_back(0u, 0u, tile{{ ", total" if not served }}, lane);
        fold = tile_fold;
    }
    if (args.window != 0u) {
        let carry = Acc(atomicLoad(&tickets[args.window * 2u]){{ ", atomicLoad(&tickets[args.window * 2u + 1u])" if pairs }});
        fold = {{ "combine(carry, fold)" }};
    }
    let before_0 = fold{{ ".r0" if pairs }};
{% if pairs %}
    let before_1 = fold.r1;
{% endif %}
    if (lane == 0u && tile + 1u == args.blocks) {
        let all = combine(fold, total);
        atomicStore(&tickets[args.window * 2u + 2u], all{{ ".r0" if pairs }});
{% if pairs %}
        atomicStore(&tickets[args.window * 2u + 3u], all.r1);
{% endif %}
{% if parts == 1 %}
        if (args.ends != 0u) {
            store_count(all{{ ".r0" if pairs }});
{% if runs %}
            if (all.r0 != 0u) {
                store_length(all.r0 - 1u, args.base + args.n + 1u - all.r1);
            }
{% endif %}
        }
{% endif %}
    }
{% if parts > 1 %}
    // Where the parts behind the first one go on, less the elements of the tile in front of them.
    let first_1 = count_of(0u) + {{ "before_1" if three else "args.base + start - before_0" }} - total0;
{% endif %}
{% if three %}
    let first_2 = count_of(0u) + count_of(1u) + args.base + start - before_0 - before_1 - total0 - total1;
{% endif %}

    let word = lane / 8u;
    let low = (1u << (lane % 8u * 4u)) - 1u;
{% for r in range(rows) %}
{% for k in range(sets) %}
    let rank{{ k }}_{{ r }} = ranks{{ k }}[word + {{ r }}u * (THREADS / 8u)] + countOneBits(masks{{ k }}[word + {{ r }}u * (THREADS / 8u)] & low);
{% endfor %}
{% endfor %}
    for (var c = 0u; c < stored; c += CHUNK) {
{% for r in range(rows) %}
        {
            // Counted up from element to element: a sum of ones for each would take longer.
            var slot = rank0_{{ r }} - c;
{% if parts > 1 %}
            let place = i{{ r }} - start;
            var last = {{ "total0 + total1 + place - rank0_%d - rank1_%d - c" | format(r, r) if three else "total0 + place - rank0_%d - c" | format(r) }};
{% endif %}
{% if three %}
            var middle = total0 + rank1_{{ r }} - c;
{% endif %}
{% for e in range(4) %}
{% set bit = 2 ** (4 * r + e) %}
{% if parts == 1 %}
            if ((bits0 & {{ bit }}u) != 0u) {
                put(slot, x{{ r }}[{{ e }}]{{ ", i%d + %du - start" | format(r, e) if runs }});
                slot++;
            }
{% else %}
            {
                let first = (bits0 & {{ bit }}u) != 0u;
{% if three %}
                let second = (bits1 & {{ bit }}u) != 0u;
                let to = select(select(last, middle, second), slot, first);
                middle += u32(second);
                last += u32(!first && !second);
{% else %}
                let to = select(last, slot, first);
                last += u32(!first);
{% endif %}
                slot += u32(first);
                if (place + {{ e }}u < stored) {
                    put(to, x{{ r }}[{{ e }}]);
                }
            }
{% endif %}
{% endfor %}
        }
{% endfor %}
        workgroupBarrier();
        for (var j = lane; j < min(CHUNK, stored - c); j += THREADS) {
            var at = before_0 + c + j;
{% if parts > 1 %}
            if (c + j >= total0) {
                at = first_1 + c + j;
            }
{% endif %}
{% if three %}
            if (c + j >= total0 + total1) {
                at = first_2 + c + j;
            }
{% endif %}
            store_value(at, array<u32, {{ value_words }}>({% for w in range(value_words) %}stage[{{ w }}u * CHUNK + j]{{ ", " if not loop.last }}{% endfor %}));
{% if runs %}
            if (at != 0u) {
                var behind = args.base + start + places[j] + 1u;
                if (c + j == 0u) {
                    behind = before_1;
                }
                store_length(at - 1u, args.base + start + places[j + 1u] + 1u - behind);
            }
{% endif %}
        }
        workgroupBarrier();
    }
}
