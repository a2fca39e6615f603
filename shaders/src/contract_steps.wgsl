{# A tile of the operands is multiplied: sums go on by its terms. #}
{% if rolled %}
            let count = min(TK, k_end - (k - TK));
            for (var q = 0u; q < count; q++) {
                for (var g = 0u; g < {{ rm * right }}u; g++) {
                    let r = g / {{ right }}u;
                    let x = a_tile[q * PITCH_A + row + r / 4u * {{ side }}u][r % 4u];
                    let y = b_tile[q * PITCH_B + column + g % {{ right }}u * {{ side }}u];
                    let before = sums[g];
                    var after = before;
                    for (var e = 0u; e < 4u; e++) {
                        after[e] = op_fused(x, y[e], before[e]);
                    }
                    sums[g] = after;
                }
            }
{% else %}
{% if guarded %}
            if (atomicLoad(&risky) == block + 1u) {
                // One text of a careful step: sums take turns in one variable, and a driver does not write a loop out whose bound it does not know. NVIDIA's took
                // five times as long for the kernel.
                let terms = min(TK, args.block);
                let once = min(terms, 1u);
                for (var q = 0u; q < terms; q++) {
                    for (var g = 0u; g < {{ rm * right }}u * once; g++) {
                        let r = g / {{ right }}u;
                        let x = a_tile[q * PITCH_A + row + r / 4u * {{ side }}u][r % 4u];
                        var y = b_tile[q * PITCH_B + column + g % {{ right }}u * {{ side }}u];
                        var sum = s0_0;
                        for (var e = 0u; e < 4u * once; e++) {
                            sum = vec4<Value>(sum.yzw, op_fused(x, y.x, sum.x));
                            y = y.yzwx;
                        }
{% for g in range(rm * right - 1) %}
                        s{{ g // right }}_{{ g % right }} = s{{ (g + 1) // right }}_{{ (g + 1) % right }};
{% endfor %}
                        s{{ rm - 1 }}_{{ right - 1 }} = sum;
                    }
                }
            } else {
{% else %}
            {
{% endif %}
                for (var q = 0u; q < TK; q++) {
{% for r4 in range(down) %}
                    let x{{ r4 }} = a_tile[q * PITCH_A + row + {{ side * r4 }}u];
{% endfor %}
{% for c in range(right) %}
                    let y{{ c }} = b_tile[q * PITCH_B + column + {{ side * c }}u];
{% endfor %}
{% for r in range(rm) %}
{% for c in range(right) %}
                    s{{ r }}_{{ c }} = fused_4(vec4<Value>(x{{ r // 4 }}.{{ "xyzw"[r % 4] }}), y{{ c }}, s{{ r }}_{{ c }});
{% endfor %}
{% endfor %}
                }
            }
{% endif %}
