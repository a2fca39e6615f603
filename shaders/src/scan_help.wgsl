// Publishes the total of a tile that another workgroup owns. Another tile comes after it, so it is full. The driver does not know the number of
// rows, so that it compiles one.
fn help(origin: u32, first: u32, tile: u32, lane: u32{{ ", size: u32" if subgroups }}) {
    let i0 = (tile - first) * TILE;
{% if subgroups %}
    // Two vectors to a lane, so that there are no more nodes than invocations.
    for (var r = 0u; r < ROWS / 2u + (args.patience >> 31u); r++) {
        let row = subgroup_of(lane, size) * (ROWS / 2u) + r;
        let i = i0 + (row * size + place_of(lane, size)) * 8u;
        let node = join(combine(node_of(load_whole(origin, i)), node_of(load_whole(origin, i + 4u))), 1u, size);
        if (place_of(lane, size) == 0u) {
            slots[row] = node;
        }
    }
    up_sweep(lane, size, subgroup_of(ROWS / 2u * THREADS, size));
{% else %}
    for (var r = 0u; r < ROWS + (args.patience >> 31u); r++) {
        slots[gapped(r * THREADS + lane)] = node_of(load_whole(origin, i0 + (r * THREADS + lane) * 4u));
    }
    up_sweep(lane);
{% endif %}
    if (lane == 0u) {
        publish(tile, slots[{{ "subgroup_of(ROWS / 2u * THREADS, size) - 1u" if subgroups else "gapped(QUADS - 1u)" }}]);
    }
}
