// Select: elements of part 0 one after the other and the others nowhere (keep, runs) or behind them (two and three ways), in their order.
// Runs also have the number of elements from each that is kept to the next. All integers, so there is no order to keep but the elements' own.
// One launch, input read once: a tile looks back for what the tiles before it hold of each part (look_back.wgsl). Its elements wait in registers,
// and go through shared memory to their places, so that neighbours write neighbours.

const THREADS = {{ threads }}u;
const ROWS = {{ rows }}u;             // vectors of 4 elements that an invocation holds
const TILE = 4u * ROWS * THREADS;
const MASKS = TILE / 32u;             // words with a bit to an element, in order
const RUN = MASKS / 16u;              // words that one invocation adds up
const CHUNK = {{ chunk }}u;           // neighbours of which those that go out are staged at once

// An invocation's bits, 4 to a row; the bits of 32 elements; elements of the part before these, and all.
{% for k in range(sets) %}
var<workgroup> nibbles{{ k }}: array<u32, THREADS>;
var<workgroup> masks{{ k }}: array<u32, MASKS>;
var<workgroup> ranks{{ k }}: array<u32, MASKS + 1u>;
var<workgroup> sums{{ k }}: array<u32, 16>;
{% endfor %}
var<workgroup> stage: array<u32, CHUNK * {{ value_words }}u>;
var<workgroup> helped: array<atomic<u32>, 2>;
{% if runs %}
// Places in the tile of the last element that was kept before the chunk, and of the staged ones; the last one that the tile keeps, plus one.
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
    // The driver does not know the number of rows, so that it compiles one.
    for (var r = 0u; r < ROWS + (args.patience >> 31u); r++) {
        let i = origin + (tile - first) * TILE + (r * THREADS + lane) * 4u;
        let x = load4(i);
{% for e in range(4) %}
        count += select(0u, 1u, x[{{ e }}].part == 0u);
{% if runs %}
        second = select(second, args.base + i + {{ e + 1 }}u, x[{{ e }}].part == 0u);
{% elif three %}
        second += select(0u, 1u, x[{{ e }}].part == 1u);
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

fn put(slot: u32, x: array<u32, {{ value_words }}>{{ ", place: u32" if runs }}) {
{% for w in range(value_words) %}
    stage[{{ w }}u * CHUNK + slot] = x[{{ w }}];
{% endfor %}
{% if runs %}
    places[slot + 1u] = place;
{% endif %}
}

// Stages those of 4 elements that go out, a part's behind each other from slots of its own on. A bit of `bits` says that an element is of the first part.
// Slots are counted up from element to element: a sum of ones for each would take longer.
{% if parts == 1 %}
fn put4(x: array<array<u32, {{ value_words }}>, 4>, bits: u32, slot: u32{{ ", place: u32" if runs }}) {
    var to = slot;
{% for e in range(4) %}
    if ((bits & {{ 2 ** e }}u) != 0u) {
        put(to, x[{{ e }}]{{ ", place + %du" | format(e) if runs }});
        to++;
    }
{% endfor %}
}
{% else %}
fn put4(x: array<array<u32, {{ value_words }}>, 4>, there: u32, {{ "bits: vec2<u32>, slots: vec3<u32>" if three else "bits: u32, slots: vec2<u32>" }}) {
    var to = slots;
{% for e in range(4) %}
    {
{% if three %}
        let first = (bits.x & {{ 2 ** e }}u) != 0u;
        let second = (bits.y & {{ 2 ** e }}u) != 0u;
        let mine = vec3(first, second, !first && !second);
        let slot = select(select(to.z, to.y, second), to.x, first);
{% else %}
        let first = (bits & {{ 2 ** e }}u) != 0u;
        let mine = vec2(first, !first);
        let slot = select(to.y, to.x, first);
{% endif %}
        to += {{ "vec3<u32>" if three else "vec2<u32>" }}(mine);
        if ({{ e }}u < there) {
            put(slot, x[{{ e }}]);
        }
    }
{% endfor %}
}
{% endif %}

// Moves `count` staged elements to their places, those of the second part, which begins with slot `parts`, by `behind.y`, and so on.
fn store_chunk(count: u32, {{ "parts: vec2<u32>, behind: vec3<u32>" if three else "parts: u32, behind: vec2<u32>" if parts > 1 else "behind: u32" }}, lane: u32) {
    workgroupBarrier();
    for (var j = lane; j < count; j += THREADS) {
{% if three %}
        let at = j + select(select(behind.z, behind.y, j < parts.y), behind.x, j < parts.x);
{% elif parts > 1 %}
        let at = j + select(behind.y, behind.x, j < parts);
{% else %}
        let at = j + behind;
{% endif %}
        store_value(at, array<u32, {{ value_words }}>({% for w in range(value_words) %}stage[{{ w }}u * CHUNK + j]{{ ", " if not loop.last }}{% endfor %}));
{% if runs %}
        if (at != 0u) {
            store_length(at - 1u, places[j + 1u] - places[j]);
        }
{% endif %}
    }
{% if runs %}
    let last = places[count];
{% endif %}
    workgroupBarrier();
{% if runs %}
    if (lane == 0u) {
        places[0] = last;
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
{% if rolled %}
        // An operator that is long to compile stands once for all.
        for (var e = 0u; e < 4u && i{{ r }} + e < args.n; e++) {
            let one = load1(i{{ r }} + e);
            x{{ r }}[e] = one.v;
{% for k in range(sets) %}
            bits{{ k }} |= select(0u, 1u << ({{ 4 * r }}u + e), one.part == {{ k }}u);
{% endfor %}
        }
{% else %}
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
{% endif %}
    }
{% endfor %}
{% if not rolled %}
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
{% endif %}

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
    if (lane == 0u) {
        ranks{{ k }}[MASKS] = total{{ k }};
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
    workgroupBarrier();

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
    let all = min(TILE, args.n - start);
    let others = args.base + start - before_0{{ " - before_1" if three }};
    let first_1 = count_of(0u) + {{ "before_1" if three else "others" }};
{% endif %}
{% if three %}
    let first_2 = count_of(0u) + count_of(1u) + others;
{% endif %}
{% if runs %}
    if (lane == 0u) {
        places[0] = before_1 - 1u - args.base - start;
    }
{% endif %}

    // Chunk by chunk, those of a part behind each other, then to their places.
    let low = (1u << (lane % 8u * 4u)) - 1u;
{% set row = 4 * threads %}
{% set step = [chunk, row] | max %}
{% for c in range(rows * row // step) %}
{% if chunk < row %}
    for (var from_ = {{ c * step }}u; from_ < {{ (c + 1) * step }}u; from_ += CHUNK) {
{% else %}
    {
        let from_ = {{ c * step }}u;
{% endif %}
{% for k in range(sets) %}
        let base{{ k }} = ranks{{ k }}[from_ / 32u];
        let own{{ k }} = ranks{{ k }}[(from_ + CHUNK) / 32u] - base{{ k }};
{% endfor %}
{% for r in range(c * step // row, (c + 1) * step // row) %}
        {{ "if (lane / (CHUNK / 4u) == (from_ - %du) / CHUNK)" | format(c * step) if chunk < row }} {
            let word = {{ r * threads // 8 }}u + lane / 8u;
{% for k in range(sets) %}
            let rank{{ k }} = ranks{{ k }}[word] + countOneBits(masks{{ k }}[word] & low) - base{{ k }};
{% endfor %}
{% if three %}
            let slots = vec3(rank0, own0 + rank1, own0 + own1 + i{{ r }} - start - from_ - rank0 - rank1);
            put4(x{{ r }}, max(args.n, i{{ r }}) - i{{ r }}, vec2(bits0 >> {{ 4 * r }}u, bits1 >> {{ 4 * r }}u), slots);
{% elif parts > 1 %}
            put4(x{{ r }}, max(args.n, i{{ r }}) - i{{ r }}, bits0 >> {{ 4 * r }}u, vec2(rank0, own0 + i{{ r }} - start - from_ - rank0));
{% else %}
            put4(x{{ r }}, bits0 >> {{ 4 * r }}u, rank0{{ ", i%d - start" | format(r) if runs }});
{% endif %}
        }
{% endfor %}
{% if three %}
        let behind = vec3(before_0 + base0, first_1 + base1 - own0, first_2 + from_ - base0 - base1 - own0 - own1);
        store_chunk(min(from_ + CHUNK, max(all, from_)) - from_, vec2(own0, own0 + own1), behind, lane);
{% elif parts > 1 %}
        let behind = vec2(before_0 + base0, first_1 + from_ - base0 - own0);
        store_chunk(min(from_ + CHUNK, max(all, from_)) - from_, own0, behind, lane);
{% else %}
        store_chunk(own0, before_0 + base0, lane);
{% endif %}
    }
{% endfor %}
}
