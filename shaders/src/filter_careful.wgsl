// Windows of image filters in exact forms of the operations, in loops whose number of rounds the driver does not know.

{% if weighted %}

// Adds a row of samples to the sums before it, slowly and always right: {{ k_ }} rows of N, of which the last is done.
fn careful_sums(line: Line, before: array<f32, {{ (k_ - 1) * n }}>) -> array<f32, {{ k_ * n }}> {
    var x = line;
    var sums = before;
    var weights = array<f32, {{ k_ * k_ }}>({% for k in range(k_ * k_) %}bitcast<f32>(args.w{{ k }}), {% endfor %});
    var done: array<f32, {{ k_ * n }}>;
    let count = rounds({{ k_ * n }}u);
    for (var j = 0u; j < count; j++) {
        let d = j / N;
        let k = j % N;
        var v = 0.0f;
        if (d != 0u) {
            v = sums[j - N];
        }
        for (var e = 0u; e < rounds({{ k_ }}u); e++) {
            let w = weights[d * {{ k_ }}u + e];
            let tap = x[k + e * {{ c }}u];
            if (d == 0u && e == 0u) {
                v = {% if careful %}iw_exact_mul_f32(w, tap){% else %}w * tap{% endif %};
            } else {
                v = iw_fma(w, tap, v);
            }
        }
        done[j] = v;
    }
    return done;
}
{% endif %}
{% if sobel %}

fn careful_sobel(above: Line, at: Line, below: Line) -> array<f32, {{ n }}> {
    var top = above;
    var middle = at;
    var line = below;
    var done: array<f32, {{ n }}>;
    let count = rounds(N);
    for (var k = 0u; k < count; k++) {
        let r = k + {{ 2 * c }}u;
        let m = k + {{ c }}u;
        var d = array<f32, 2>();
        for (var axis = 0u; axis < rounds(2u); axis++) {
            let across = axis == 0u;
            let inner = {% if careful %}iw_exact_sub_f32(select(top[m], middle[r], across), select(line[m], middle[k], across)){% else %}select(top[m] - line[m], middle[r] - middle[k], across){% endif %};
            let first = {% if careful %}iw_exact_sub_f32(top[select(k, r, across)], select(line[k], top[k], across)){% else %}select(top[k] - line[k], top[r] - top[k], across){% endif %};
{% if careful %}
            let last = iw_exact_sub_f32(select(top[r], line[r], across), line[select(r, k, across)]);
            d[axis] = iw_exact_add_f32(iw_fma(2.0f, inner, first), last);
{% else %}
            d[axis] = iw_fma(2.0f, inner, first) + select(top[r] - line[r], line[r] - line[k], across);
{% endif %}
        }
        done[k] = iw_fma(d[0], d[0], {% if careful %}iw_exact_mul_f32(d[1], d[1]){% else %}d[1] * d[1]{% endif %});
    }
    return done;
}
{% endif %}
