{# The body of a function that loads number i of the array `name`. #}
{% if wide %}
    let at = args.skip_{{ name }} + 2u * i;
    return bitcast<f64>(u64({{ name }}[at]) | (u64({{ name }}[at + 1u]) << 32u));
{% else %}
    return bitcast<f32>({{ name }}[args.skip_{{ name }} + i]);
{% endif %}
