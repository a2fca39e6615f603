// Map: out[i] = op(in[i], ..), n elements, any number of leaves and outputs; element by element, so order is no question.
// Four elements to an invocation; contiguous operands move as 16-byte vectors, others element by element (body4 is generated).
// args: n. Grid: n / (4 * threads * groups), rounded up and folded.

fn body(i: u32) {
    if (i < args.n) {
        body4(i, args.n);
    }
}

@compute @workgroup_size({{ threads }})
fn map(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = (group.z * grid.y + group.y) * grid.x + group.x;
{% for k in range(groups) %}
    body(((block * {{ groups }}u + {{ k }}u) * {{ threads }}u + lane) * 4u);
{% endfor %}
}
