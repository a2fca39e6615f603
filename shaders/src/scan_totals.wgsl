// Scan in three launches: the tiles' totals and their folds. The same order and names as scan.wgsl, of which this is a part.
{% if totals %}
// The tiles' totals, each line's last left out, since nothing comes after it, so that all are full. args: n elements of a line in this
// dispatch, inner, tiles of a line in this dispatch, blocks (tiles of all lines), first_tile of this dispatch, first result, pitch from
// line to line of results.
@compute @workgroup_size({{ threads }})
fn scan_totals(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32{{ ", @builtin(subgroup_size) size: u32" if subgroups }}) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
    let line = block / args.tiles;
    let tile = block % args.tiles;
    if (block >= args.blocks || args.first_tile + tile + 1u >= args.pitch) {
        return;
    }
    let origin = line / args.inner * args.n * args.inner + line % args.inner;
    for (var batch = 0u; batch < BATCHES; batch++) {
{% if subgroups %}
        let i0 = tile * TILE + (batch * QUADS + subgroup_of(lane, size) * ROWS * size + place_of(lane, size)) * 4u;
{% for r in range(rows) %}
        let x{{ r }} = load_whole(origin, i0 + {{ r }}u * size * 4u);
{% endfor %}
        let node = node_of_rows(array<Acc, {{ rows }}>({% for r in range(rows) %}node_of(x{{ r }}){{ ", " if not loop.last }}{% endfor %}), lane, size);
        if (place_of(lane, size) == 0u) {
            slots[subgroup_of(lane, size)] = node;
        }
        up_sweep(lane, size, subgroup_of(THREADS, size));
        if (lane == 0u) {
            close_batch(batch, slots[last_slot(size)]);
        }
{% else %}
        let i0 = tile * TILE + (batch * QUADS + lane) * 4u;
{% for r in range(rows) %}
        let x{{ r }} = load_whole(origin, i0 + {{ r }}u * THREADS * 4u);
{% endfor %}
{% for r in range(rows) %}
        slots[gapped({{ r }}u * THREADS + lane)] = node_of(x{{ r }});
{% endfor %}
        up_sweep(lane);
        if (lane == 0u) {
            close_batch(batch, slots[gapped(QUADS - 1u)]);
        }
{% endif %}
        workgroupBarrier();
    }
    if (lane == 0u) {
        finish(args.first + line * args.pitch + args.first_tile + tile, batches[BATCHES - 1u]);
    }
}
{% endif %}
{% if fold %}
var<workgroup> slots: array<Acc, QUADS>;

// Totals become the strict left folds of those before them, in place; a workgroup to each line. args: n totals of a line.
@compute @workgroup_size({{ threads }})
fn scan_fold(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let line = (group.z * grid.y + group.y) * grid.x + group.x;
    if (line >= args.blocks) {
        return;
    }
    let begin = line * args.n;
    var carry = Acc();
    for (var start = 0u; start < args.n; start += QUADS) {
        for (var k = lane; k < QUADS; k += THREADS) {
            if (start + k < args.n) {
                slots[k] = results[begin + start + k];
            }
        }
        workgroupBarrier();
        if (lane == 0u) {
            let count = min(args.n - start, QUADS);
            var k = 0u;
            if (start == 0u) {
                carry = slots[0];
                k = 1u;
            }
{% if not rolled %}
            // 8 values ahead, since only the chain should take time.
            for (; k + 8u <= count; k += 8u) {
{% for e in range(8) %}
                let x{{ e }} = slots[k + {{ e }}u];
{% endfor %}
{% for e in range(8) %}
                slots[k + {{ e }}u] = carry;
                carry = combine(carry, x{{ e }});
{% endfor %}
            }
{% endif %}
            for (; k < count; k++) {
                let x = slots[k];
                slots[k] = carry;
                carry = combine(carry, x);
            }
        }
        workgroupBarrier();
        for (var k = lane; k < QUADS; k += THREADS) {
            if (start + k < args.n) {
                finish(begin + start + k, slots[k]);
            }
        }
        workgroupBarrier();
    }
}
{% endif %}
