    // The samples of rows y - 2 and y - 1, in single variables: drivers keep those in registers.
{% for k in range(v) %}
    var above{{ k }} = Value();
    var nearer{{ k }} = Value();
{% endfor %}
    // Two rows of windows at a time, around rows y - 1 and y.
    for (var y = i32(y0) - 1i; y <= i32(y1); y += 2i) {
        let row = load_row(y, i32(s));
        let next = load_row(min(y + 1i, i32(y1)), i32(s));
        let line = line_of(row);
        let below = line_of(next);
        if (y > i32(y0)) {
{% for k in range(v) %}
            let low{{ k }} = min(nearer{{ k }}, line[{{ k }}]);
            let high{{ k }} = max(nearer{{ k }}, line[{{ k }}]);
{% endfor %}
            var upper: array<Value, {{ n }}>;
            var lower: array<Value, {{ n }}>;
{# Windows k and k + c share columns a and b; d is the other one's third. #}
{% for k in range(n) if k // c % 2 == 0 and not (c == 4 and k % 4 == 3) %}
{% set a = k + c %}
{% set b = k + 2 * c %}
{% set d = k + 3 * c %}
            let block{{ k }} = block_of(low{{ a }}, high{{ a }}, low{{ b }}, high{{ b }});
            let upper_six{{ k }} = six_of(block{{ k }}, above{{ a }}, above{{ b }});
            let lower_six{{ k }} = six_of(block{{ k }}, below[{{ a }}], below[{{ b }}]);
            upper[{{ k }}] = median_of(upper_six{{ k }}, low{{ k }}, high{{ k }}, above{{ k }});
            lower[{{ k }}] = median_of(lower_six{{ k }}, low{{ k }}, high{{ k }}, below[{{ k }}]);
{% if k + c < n %}
            upper[{{ k + c }}] = median_of(upper_six{{ k }}, low{{ d }}, high{{ d }}, above{{ d }});
            lower[{{ k + c }}] = median_of(lower_six{{ k }}, low{{ d }}, high{{ d }}, below[{{ d }}]);
{% endif %}
{% endfor %}
{% if c == 4 %}
{% for k in range(3, n, 4) %}
            upper[{{ k }}] = nearer{{ k + c }};
            lower[{{ k }}] = line[{{ k + c }}];
{% endfor %}
{% endif %}
            store_line(u32(y - 1i), s, results(upper));
            if (y < i32(y1)) {
                store_line(u32(y), s, results(lower));
            }
        }
{% for k in range(v) %}
        above{{ k }} = line[{{ k }}];
        nearer{{ k }} = below[{{ k }}];
{% endfor %}
    }
