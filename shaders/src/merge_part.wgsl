    // A part of the tile: from its element `k` on, what a merge of the runs from `run_a` to `run_b` and on to `run_end` makes.
    var low = max(k + run_b, run_end) - run_end;
    var high = min(k, run_b - run_a);
    while (low < high) {
        let middle = (low + high) / 2u;
        if (before(keys[place(run_b + k - 1u - middle)], keys[place(run_a + middle)])) {
            high = middle;
        } else {
            low = middle + 1u;
        }
    }
    var i = run_a + low;
    var j = run_b + k - low;
    var x = keys[place(i & LAST)];
    var y = keys[place(j & LAST)];
{% for e in each %}
    {{ for_each }}
        let behind = before(y, x);
        let takes_a = (j >= run_end) | ((i < run_b) & !behind);
        let taken = select(j, i, takes_a);
        key[{{ e }}{{ u }}] = select(y, x, takes_a);
{% if pairs %}
        taken_from[{{ e }}{{ u }}] = taken;
{% endif %}
        let head = keys[place((taken + 1u) & LAST)];
        if (takes_a) {
            i += 1u;
            x = head;
        } else {
            j += 1u;
            y = head;
        }
    }
{% endfor %}
