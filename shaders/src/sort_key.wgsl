// Keys of sorts, as the bits that lie there. A part of sort.wgsl and segmented_sort.wgsl.
{% if key_words == 2 %}
alias Key = vec2<u32>;
{% else %}
alias Key = u32;
{% endif %}

// The key of an element.
fn key_at(i: u32) -> Key {
    let at = i - args.in_first + args.in_skip;
{% if narrow == 1 %}
    return extractBits(keys_in[at / 4u], at % 4u * 8u, 8u);
{% elif narrow == 2 %}
    return extractBits(keys_in[at / 2u], at % 2u * 16u, 16u);
{% else %}
    return keys_in[at];
{% endif %}
}

// Bits that a key is compared by: negative ones flip the bits of one mask, all those of another.
fn mapped(key: Key) -> Key {
{% if key_words == 2 %}
    let negative = select(vec2(0u), vec2(args.negative_low, args.negative_high), (key.y >> 31u) != 0u);
    return key ^ negative ^ vec2(args.flip_low, args.flip_high);
{% else %}
    let negative = select(0u, args.negative_low, ((key >> args.sign_bit) & 1u) != 0u);
    return key ^ negative ^ args.flip_low;
{% endif %}
}
