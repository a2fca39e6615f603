// Element i of {{ array }}, as the bits that lie there.
{% if size == 8 %}
fn {{ array }}_at(i: u32) -> vec2<u32> {
    return {{ array }}[i + args.skip_{{ array }}];
}
{% elif size == 4 %}
fn {{ array }}_at(i: u32) -> u32 {
    return {{ array }}[i + args.skip_{{ array }}];
}
{% else %}
fn {{ array }}_at(i: u32) -> u32 {
    let at = i + args.skip_{{ array }};
    return extractBits({{ array }}[at / {{ 4 // size }}u], at % {{ 4 // size }}u * {{ 8 * size }}u, {{ 8 * size }}u);
}
{% endif %}
