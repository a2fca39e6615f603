{# A block of k has ended: its sums are added to those of the blocks before it. #}
{% if rolled %}
            for (var g = 0u; g < {{ rm * right }}u; g++) {
                let sum = sums[g];
                let before = totals[g];
                var total = sum;
                if (block > 0u) {
                    for (var e = 0u; e < 4u; e++) {
                        total[e] = op_add(before[e], sum[e]);
                    }
                }
                totals[g] = total;
                sums[g] = vec4<Value>();
            }
{% else %}
            if (block > 0u) {
{% for r in range(rm) %}
{% for c in range(right) %}
                t{{ r }}_{{ c }} = op_add_4(t{{ r }}_{{ c }}, s{{ r }}_{{ c }});
{% endfor %}
{% endfor %}
            } else {
{% for r in range(rm) %}
{% for c in range(right) %}
                t{{ r }}_{{ c }} = s{{ r }}_{{ c }};
{% endfor %}
{% endfor %}
            }
{% for r in range(rm) %}
{% for c in range(right) %}
            s{{ r }}_{{ c }} = vec4<Value>();
{% endfor %}
{% endfor %}
{% endif %}
