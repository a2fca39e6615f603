{# In the body of `scan`: every vector takes the left nodes that the bits of its index in the tile name, lowest bit first. Exclusive: then
   every element becomes its left neighbour; the chain of left nodes that would reach one is the neighbour's value where no lane has it. #}
{% if subgroups %}
        for (var step = 1u; step < size; step *= 2u) {
            // The last lane of the preceding block, for lanes whose bit is set.
            let from_ = (place_of(lane, size) | (step - 1u)) ^ step;
{% for r in range(rows) %}
            let left{{ r }} = shuffle(x{{ r }}[3], from_);
{% endfor %}
            if ((lane & step) != 0u) {
{% for r in range(rows) %}
                x{{ r }} = prepend(left{{ r }}, x{{ r }});
{% endfor %}
            }
        }
{% for k in [1, 2, 4] %}
{% for b in range(k, rows, 2 * k) %}
        let row{{ b }} = shuffle(x{{ b - 1 }}[3], size - 1u);
{% for r in range(b, b + k) %}
        x{{ r }} = prepend(row{{ b }}, x{{ r }});
{% endfor %}
{% endfor %}
{% endfor %}
        if (place_of(lane, size) == size - 1u) {
            slots[subgroup_of(lane, size)] = x{{ rows - 1 }}[3];
        }
        up_sweep(lane, size, subgroup_of(THREADS, size));
{% else %}
{% for r in range(rows) %}
        slots[gapped({{ r }}u * THREADS + lane)] = x{{ r }}[3];
{% endfor %}
        up_sweep(lane);
{% endif %}
{% if single or batches > 1 %}
        let total = slots[{{ "last_slot(size)" if subgroups else "gapped(QUADS - 1u)" }}];
        if (lane == 0u) {
{% if single %}
            publish(block, total);
{% else %}
            close_batch(batch, total);
{% endif %}
        }
{% endif %}
{% if exclusive %}
        // Fold of what comes before the invocation's first vector in the tile, as far as lanes do not tell.
        var before = Acc();
        var known = false;
{% endif %}
{% if subgroups %}
{% if exclusive %}
{% for r in range(rows) %}
        let left{{ r }} = shuffle(x{{ r }}[3], place_of(lane + size - 1u, size));
{% endfor %}
        let leads = place_of(lane, size) == 0u;
{% for r in range(rows) %}
        x{{ r }} = array<Acc, 4>(left{{ r }}, x{{ r }}[0], x{{ r }}[1], x{{ r }}[2]);
{% endfor %}
        if (leads) {
{% for r in range(1, rows) %}
            x{{ r }}[0] = left{{ r - 1 }};
{% endfor %}
        }
{% endif %}
        let subgroup = subgroup_of(lane, size);
        for (var k = 0u; (subgroup >> k) != 0u; k++) {
            if (((subgroup >> k) & 1u) != 0u) {
                let left = slots[((subgroup >> k) << k) - 1u];
{% for r in range(rows) %}
                x{{ r }} = prepend(left, x{{ r }});
{% endfor %}
{% if exclusive %}
                before = chain(left, before, known);
                known = true;
{% endif %}
            }
        }
{% else %}
        for (var k = 0u; k < LANE_BITS; k++) {
            if (((lane >> k) & 1u) != 0u) {
                let last = ((lane >> k) << k) - 1u;
{% for r in range(rows) %}
                x{{ r }} = prepend(slots[gapped({{ r }}u * THREADS + last)], x{{ r }});
{% endfor %}
            }
        }
{% for k in [1, 2, 4] %}
{% for r in range(rows) if (r // k) % 2 == 1 %}
        x{{ r }} = prepend(slots[gapped({{ r // k * k }}u * THREADS - 1u)], x{{ r }});
{% endfor %}
{% endfor %}
{% if exclusive %}
        workgroupBarrier();
{% for r in range(rows) %}
        slots[gapped({{ r }}u * THREADS + lane)] = x{{ r }}[3];
{% endfor %}
        workgroupBarrier();
{% for r in range(rows) %}
        x{{ r }} = array<Acc, 4>(slots[gapped(max({{ r }}u * THREADS + lane, 1u) - 1u)], x{{ r }}[0], x{{ r }}[1], x{{ r }}[2]);
{% endfor %}
        let leads = lane == 0u;
{% endif %}
{% endif %}
{% if in_turn %}
        // The batches before this one and, last of all, the tiles{{ ", of which there are none" if not folded }}: an operator that is long to compile stands once.
        for (var k = 0u; k <= 32u; k++) {
{% if exclusive %}
            if (k == 32u && leads && known) {
                x0[0] = before;
            }
{% endif %}
            if (select(((batch >> (k & 31u)) & 1u) != 0u, {{ "!starts_line" if folded else "false" }}, k == 32u)) {
                var left = {{ "fold" if folded else "Acc()" }};
                if (k < 32u) {
                    left = batches[((batch >> k) << k) - 1u];
                }
{% if exclusive %}
                // The last of five is what comes before.
                for (var e = 0u; e < select(4u, 5u, k < 32u); e++) {
                    var v = before;
                    if (e < 4u) {
                        v = x0[e];
                    }
                    if (e < 4u || known) {
                        v = combine(left, v);
                    } else {
                        v = left;
                    }
                    if (e < 4u) {
                        x0[e] = v;
                    } else {
                        before = v;
                    }
                }
                known = known || k < 32u;
{% else %}
                x0 = prepend(left, x0);
{% endif %}
            }
        }
{% elif batches > 1 %}
        for (var k = 0u; (batch >> k) != 0u; k++) {
            if (((batch >> k) & 1u) != 0u) {
                let left = batches[((batch >> k) << k) - 1u];
{% for r in range(rows) %}
                x{{ r }} = prepend(left, x{{ r }});
{% endfor %}
{% if exclusive %}
                before = chain(left, before, known);
                known = true;
{% endif %}
            }
        }
{% endif %}
{% if exclusive and (subgroups or batches > 1) and not in_turn %}
        if (leads && known) {
            x0[0] = before;
        }
{% endif %}
