// Units of {{ v }} elements of {{ size }} bytes, from `{{ source }}` to `{{ target }}`, whose rows are the source's columns.
{% set unit = "u32" if size == 1 else ("vec2<u32>" if size == 2 else "vec4<u32>") %}
alias Unit = {{ unit }};

// Elements column .. column + {{ v - 1 }} of a row; those outside are anything.
fn load(plane: u32, row: u32, column: u32) -> Unit {
    if (row >= args.rows || column >= args.columns) {
        return Unit();
    }
    let at = plane + row * args.from_pitch + column;
{% if vector %}
    return {{ source }}[at / {{ v }}u];
{% elif size == 4 %}
    let last = plane + row * args.from_pitch + args.columns - 1u;
    return vec4<u32>({{ source }}[at], {{ source }}[min(at + 1u, last)], {{ source }}[min(at + 2u, last)], {{ source }}[min(at + 3u, last)]);
{% else %}
    let next = min(at + 1u, plane + row * args.from_pitch + args.columns - 1u);
    return vec4<u32>({{ source }}[at * 2u], {{ source }}[at * 2u + 1u], {{ source }}[next * 2u], {{ source }}[next * 2u + 1u]);
{% endif %}
}

fn store(plane: u32, row: u32, column: u32, u: Unit) {
    if (row >= args.columns || column >= args.rows) {
        return;
    }
    let at = plane + row * args.to_pitch + column;
{% if vector %}
    {{ target }}[at / {{ v }}u] = u;
{% elif size == 4 %}
    let left = args.rows - column;
    {{ target }}[at] = u.x;
    if (left > 1u) {
        {{ target }}[at + 1u] = u.y;
    }
    if (left > 2u) {
        {{ target }}[at + 2u] = u.z;
    }
    if (left > 3u) {
        {{ target }}[at + 3u] = u.w;
    }
{% else %}
    {{ target }}[at * 2u] = u.x;
    {{ target }}[at * 2u + 1u] = u.y;
    if (args.rows - column > 1u) {
        {{ target }}[at * 2u + 2u] = u.z;
        {{ target }}[at * 2u + 3u] = u.w;
    }
{% endif %}
}
