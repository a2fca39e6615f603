// The rows t0 on of a block whose columns are the units {{ a }}0 on.
{% if size == 4 %}
{% for c in ["x", "y", "z", "w"] %}
    let t{{ loop.index0 }} = vec4<u32>({{ a }}0.{{ c }}, {{ a }}1.{{ c }}, {{ a }}2.{{ c }}, {{ a }}3.{{ c }});
{% endfor %}
{% elif size == 8 %}
    let t0 = vec4<u32>({{ a }}0.xy, {{ a }}1.xy);
    let t1 = vec4<u32>({{ a }}0.zw, {{ a }}1.zw);
{% elif size == 2 %}
{% for c in ["x", "y"] %}
    let t{{ 2 * loop.index0 }} = vec2<u32>(({{ a }}0.{{ c }} & 0xffffu) | ({{ a }}1.{{ c }} << 16u), ({{ a }}2.{{ c }} & 0xffffu) | ({{ a }}3.{{ c }} << 16u));
    let t{{ 2 * loop.index0 + 1 }} = vec2<u32>(({{ a }}0.{{ c }} >> 16u) | ({{ a }}1.{{ c }} & 0xffff0000u), ({{ a }}2.{{ c }} >> 16u) | ({{ a }}3.{{ c }} & 0xffff0000u));
{% endfor %}
{% else %}
{% for j in range(4) %}
    let t{{ j }} = (({{ a }}0 >> {{ 8 * j }}u) & 0xffu) | ((({{ a }}1 >> {{ 8 * j }}u) & 0xffu) << 8u) | ((({{ a }}2 >> {{ 8 * j }}u) & 0xffu) << 16u) | (({{ a }}3 >> {{ 8 * j }}u) << 24u);
{% endfor %}
{% endif %}
