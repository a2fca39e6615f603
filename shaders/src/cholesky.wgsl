// Cholesky's factor of lower triangles in shared memory: element (i, j) loses l(i, k) l(j, k) in ascending k, each by one fused step; the diagonal is the
// square root, and what is below is divided by it. A team of invocations has a matrix, or a block of the diagonal of one where it lies (apart is 0).
// minus(a, b, c) = c - a b rounded once; div, root, bits: arithmetic that gives the same bits on every device.

{% include "solve_numbers.wgsl" %}

var<workgroup> space: array<Num, {{ 1536 if wide else 3328 }}>;

{% set name = "a" if apart else "x" %}
fn load(i: u32) -> Num {
{% include "solve_load.wgsl" %}
}
fn store(i: u32, v: Num) {
    let word = bits(v);
{% set name = "x" %}
{% include "solve_store.wgsl" %}
}

@compute @workgroup_size(256)
fn cholesky(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let group = (id.z * grid.y + id.y) * grid.x + id.x;
    if (group >= args.groups) {
        return;
    }
    let row_lanes = args.lanes & 0xffffu;
    let column_lanes = args.lanes >> 16u;
    let size = row_lanes * column_lanes;
    let team = lane / size;
    let own = lane % size;
    let there = group * (THREADS / size) + team < args.batch;
    let system = min(group * (THREADS / size) + team, args.batch - 1u);
    let i0 = own % row_lanes;
    let j0 = own / row_lanes;
    let n = args.side;
    let pitch = n | 1u;
    let base = team * n * pitch;
    let to = system * args.pitch * args.pitch + args.first * (args.pitch + 1u);
    var status = 0u;
    if (args.first > 0u) {
        status = states[args.skip_states + system];
    }
    for (var i = own / row_lanes; i < n; i += column_lanes) {
        for (var j = own % row_lanes; j <= i; j += row_lanes) {
            space[base + i * pitch + j] = load({{ "system * args.a_batch + i * args.a_row + j * args.a_column" if apart else "to + i * args.pitch + j" }});
        }
    }
    workgroupBarrier();
    for (var k = 0u; k < n; k++) {
        let word = bitcast<Bits>(space[base + k * (pitch + 1u)]);
        let sound = word > NOTHING && word < INFINITE;
        if (status == 0u && !sound) {
            status = args.first + k + 1u;
        }
        let d = bitcast<Num>(select(NAN, bitcast<Bits>(root(bitcast<Num>(word))), sound));
        workgroupBarrier();
        for (var i = k + own; i < n; i += size) {
            let at = base + i * pitch + k;
            if (i == k) {
                space[at] = d;
            } else {
                space[at] = div(space[at], d);
            }
        }
        workgroupBarrier();
        for (var i = k + 1u + i0; i < n; i += row_lanes) {
            let l = space[base + i * pitch + k];
            for (var j = k + 1u + j0; j <= i; j += column_lanes) {
                let at = base + i * pitch + j;
                space[at] = minus(l, space[base + j * pitch + k], space[at]);
            }
        }
        workgroupBarrier();
    }
    if (there) {
        for (var i = own / row_lanes; i < n; i += column_lanes) {
            for (var j = own % row_lanes; j < n; j += row_lanes) {
                if (j <= i) {
                    store(to + i * args.pitch + j, space[base + i * pitch + j]);
{% if apart %}
                } else {
                    store(to + i * args.pitch + j, bitcast<Num>(NOTHING));
{% endif %}
                }
            }
        }
        if (own == 0u) {
            states[args.skip_states + system] = status;
        }
    }
}
