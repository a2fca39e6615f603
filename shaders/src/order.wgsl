// Keys and what they are compared by: negative ones flip the bits of one mask, all those of another.
{% if key_bytes == 8 %}
alias Key = vec2<u32>;

fn negative_bits(key: Key) -> Key {
    return select(vec2(0u), vec2(args.negative_low, args.negative_high), (key.y >> 31u) != 0u);
}

fn all_bits() -> Key {
    return vec2(args.flip_low, args.flip_high);
}

fn before(x: Key, y: Key) -> bool {
    return (x.y < y.y) | ((x.y == y.y) & (x.x < y.x));
}
{% else %}
alias Key = u32;

fn negative_bits(key: Key) -> Key {
    return select(0u, args.negative_low, ((key >> {{ 8 * key_bytes - 1 }}u) & 1u) != 0u);
}

fn all_bits() -> Key {
    return args.flip_low;
}

fn before(x: Key, y: Key) -> bool {
    return x < y;
}
{% endif %}

fn mapped(key: Key) -> Key {
    return key ^ negative_bits(key) ^ all_bits();
}
