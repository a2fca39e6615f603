// The rungs of the textbook's histogram: out[bin of i] += 1 for i below n, where a bin outside is none. Counts have no order to keep.
// atomic: an invocation to a sample, added in memory. private_memory, private_shared: workgroups have bins of their own, which they add to the output
// at the end. contiguous, interleaved: invocations take several samples, neighbours or ones as far apart as there are invocations. aggregated: equal
// samples that follow each other are added at once.

const THREADS = {{ threads }}u;
const COARSE = {{ coarse }}u;
const NONE = 0xffffffffu;
{% set in_memory = rung == 1 %}
{% set in_shared = rung >= 2 %}
{% set contiguous = rung == 3 %}
{% set interleaved = rung in [1, 4] %}
{% set aggregated = rung == 5 %}
{% if in_shared %}

var<workgroup> own: array<atomic<u32>, {{ shared_bins }}>;
{% endif %}

// The bin among those that this dispatch sees.
fn bin_of(i: u32) -> u32 {
    return load1(i)[0] - args.first;
}

fn add(bin: u32, count: u32, group: u32) {
    if (bin < args.len) {
{% if in_shared %}
        atomicAdd(&own[bin], count);
{% elif in_memory %}
        atomicAdd(&cells[group * args.len + bin], count);
{% else %}
        atomicAdd(&out[args.skip_out + bin], count);
{% endif %}
    }
}

// args: n samples of this dispatch; groups of the grid; first bin that it sees, and their number; words of `out` before the first bin.
@compute @workgroup_size({{ threads }})
fn histogram_variant(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let group = (id.z * grid.y + id.y) * grid.x + id.x;
    if (group >= args.groups) {
        return;
    }
{% if in_shared %}
    for (var bin = lane; bin < args.len; bin += THREADS) {
        atomicStore(&own[bin], 0u);
    }
    workgroupBarrier();
{% elif in_memory %}
    for (var bin = lane; bin < args.len; bin += THREADS) {
        atomicStore(&cells[group * args.len + bin], 0u);
    }
    storageBarrier();
{% endif %}
    let first = group * THREADS + lane;
{% if contiguous %}
    for (var i = first * COARSE; i < min((first + 1u) * COARSE, args.n); i++) {
        add(bin_of(i), 1u, group);
    }
{% elif interleaved %}
    for (var i = first; i < args.n; i += args.groups * THREADS) {
        add(bin_of(i), 1u, group);
    }
{% elif aggregated %}
    var last = NONE;
    var count = 0u;
    for (var i = first; i < args.n; i += args.groups * THREADS) {
        let bin = bin_of(i);
        if (bin == last) {
            count++;
        } else {
            add(last, count, group);
            last = bin;
            count = 1u;
        }
    }
    add(last, count, group);
{% else %}
    if (first < args.n) {
        add(bin_of(first), 1u, group);
    }
{% endif %}
{% if in_shared %}
    workgroupBarrier();
{% elif in_memory %}
    storageBarrier();
{% endif %}
{% if in_shared or in_memory %}
    for (var bin = lane; bin < args.len; bin += THREADS) {
        let count = atomicLoad(&{{ "own[bin]" if in_shared else "cells[group * args.len + bin]" }});
        if (count != 0u) {
            atomicAdd(&out[args.skip_out + bin], count);
        }
    }
{% endif %}
}
