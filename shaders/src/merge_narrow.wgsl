{% set per = 4 // size %}
{% set ones = 255 if size == 1 else 65535 %}
    // Words of narrow elements: the first and the last of all may hold others, which stay.
    {
        let first_word = (args.{{ skip }} + begin) / {{ per }}u;
        let lead = (args.{{ skip }} + begin) % {{ per }}u;
        for (var word = lane; word * {{ per }}u < lead + count; word += THREADS) {
            var mask = 0u;
            var bits = 0u;
{% for e in range(per) %}
            {
                let r = word * {{ per }}u + {{ e }}u - lead;
                if (r < count) {
                    bits |= {{ value }} << {{ 8 * size * e }}u;
                    mask |= {{ ones }}u << {{ 8 * size * e }}u;
                }
            }
{% endfor %}
            if (mask == 0xffffffffu) {
                {{ array }}[first_word + word] = bits;
            } else {
                {{ array }}[first_word + word] = ({{ array }}[first_word + word] & ~mask) | bits;
            }
        }
    }
