// For each needle how many keys of a sorted array come before it, or are not behind it, or equal it. The array is seen window by window, and the
// numbers of all windows add up: whatever is before a needle is so in every one of them. Lazy keys are what sorted_at and needles_at in front of this compute.
{% include "order.wgsl" %}

{% if not lazy %}
{% set size = key_bytes %}
{% for array in ["sorted", "needles"] %}
{% include "element_at.wgsl" %}
{% endfor %}
{% endif %}

// Counts the keys of the window that come before a needle, or are not behind it.
fn bound(needle: Key, upper: bool) -> u32 {
    var low = 0u;
    var high = args.n;
    while (low < high) {
        let i = low + (high - low) / 2u;
        let key = mapped(sorted_at(i));
        if (before(key, needle) || (upper && !before(needle, key))) {
            low = i + 1u;
        } else {
            high = i;
        }
    }
    return low;
}

// args: n keys of the window; how many needles; elements of each binding before the first (of lazy needles those before this dispatch's); whether to add to what is there; the masks.
@compute @workgroup_size(256)
fn search(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let i = ((group.z * grid.y + group.y) * grid.x + group.x) * 256u + lane;
    if (i >= args.count) {
        return;
    }
    let needle = mapped(needles_at({{ "args.skip_needles + i" if lazy else "i" }}));
{% if kind == 0 %}
    var found = bound(needle, false);
{% elif kind == 1 %}
    var found = bound(needle, true);
{% else %}
    let lower = bound(needle, false);
    var found = max(bound(needle, true), lower) - lower;
{% endif %}
{% if wide %}
    let place = (args.skip_found + i) * 2u;
    found_out[place + 1u] = 0u;
{% else %}
    let place = args.skip_found + i;
{% endif %}
    if (args.more != 0u) {
        found += found_out[place];
    }
    found_out[place] = found;
}
