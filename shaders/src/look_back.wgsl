// One launch, input read once. A tile publishes its total and learns the fold of all tiles before it, which goes from left to right: by groups of
// tiles or, in long lines, served. Which of the two is the kernel's; each has its `look_back` in a file of its own.
// WebGPU promises no progress between workgroups, so one that has waited in vain computes what is missing itself: a total is the same, being of
// the same tree, and so is a fold of the same totals.
// Published words carry the launch's number (epoch) beside their value and are only ever raised, so they need no clearing in
// between, may be written twice, and arrive whole. Tickets hand out tiles in the order in which workgroups ask.
// The pattern brings `help`, which publishes the total of a tile that another workgroup owns.
const NONE = 0xffffffffu;
const GROUP = {{ group }}u;           // tiles
// Totals of a group's tiles.
var<workgroup> window: array<Acc, GROUP>;
// By turns: the first tile of the window whose total is not there.
var<workgroup> missing: array<atomic<u32>, 2>;
var<workgroup> is_there: bool;
var<workgroup> ticket: u32;
var<workgroup> tile_fold: Acc;

struct Known {
    ready: bool,
    value: Acc,
}

// A slot: a tile's total or, behind those of all tiles, the fold before it.
fn publish(slot: u32, v: Acc) {
    let w = words_of(v);
{% for k in range(words) %}
{% if wide_status %}
    atomicMax(&status[slot * {{ words }}u + {{ k }}u], (u64(args.epoch) << 32u) | u64(w[{{ k }}]));
{% else %}
    atomicMax(&status[(slot * {{ words }}u + {{ k }}u) * 2u], (args.epoch << 16u) | (w[{{ k }}] & 0xffffu));
    atomicMax(&status[(slot * {{ words }}u + {{ k }}u) * 2u + 1u], (args.epoch << 16u) | (w[{{ k }}] >> 16u));
{% endif %}
{% endfor %}
}

fn peek(slot: u32) -> Known {
    var ready = true;
    var w: array<u32, {{ words }}>;
{% for k in range(words) %}
{% if wide_status %}
    let s{{ k }} = atomicLoad(&status[slot * {{ words }}u + {{ k }}u]);
    ready = ready && u32(s{{ k }} >> 32u) == args.epoch;
    w[{{ k }}] = u32(s{{ k }} & 0xfffffffflu);
{% else %}
    let low{{ k }} = atomicLoad(&status[(slot * {{ words }}u + {{ k }}u) * 2u]);
    let high{{ k }} = atomicLoad(&status[(slot * {{ words }}u + {{ k }}u) * 2u + 1u]);
    ready = ready && (low{{ k }} >> 16u) == args.epoch && (high{{ k }} >> 16u) == args.epoch;
    w[{{ k }}] = (low{{ k }} & 0xffffu) | (high{{ k }} << 16u);
{% endif %}
{% endfor %}
    return Known(ready, acc_of(w));
}

// Goes on with `tile_fold` over the window's first tiles{{ ", of which each becomes the fold up to its end" if served }}; `starts`: from the first of them.
fn fold_window(starts: bool, count: u32) -> Acc {
    var fold = tile_fold;
    var k = 0u;
    if (starts) {
        fold = window[0];
        k = 1u;
    }
    // 4 values ahead, since only the chain should take time.
    for (; k + 4u <= count; k += 4u) {
{% for e in range(4) %}
        let v{{ e }} = window[k + {{ e }}u];
{% endfor %}
{% for e in range(4) %}
        fold = combine(fold, v{{ e }});
{% if served %}
        window[k + {{ e }}u] = fold;
{% endif %}
{% endfor %}
    }
    for (; k < count; k++) {
        fold = combine(fold, window[k]);
{% if served %}
        window[k] = fold;
{% endif %}
    }
    return fold;
}

{% include "look_back_served.wgsl" if served else "look_back_groups.wgsl" %}
