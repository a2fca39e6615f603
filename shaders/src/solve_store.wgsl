{# The body of a function that stores `word`, the bits of a number, in place i of the array `name`. #}
{% if wide %}
    let at = args.skip_{{ name }} + 2u * i;
    {{ name }}[at] = u32(word & 0xfffffffflu);
    {{ name }}[at + 1u] = u32(word >> 32u);
{% else %}
    {{ name }}[args.skip_{{ name }} + i] = word;
{% endif %}
