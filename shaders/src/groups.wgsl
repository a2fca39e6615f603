// Groups of neighbouring elements.
// Ballot: bit i % 32 of out[i / 32] is whether the condition holds for element i; bits behind the end are 0. Groups of other widths read these words.
// Peers: the groups are of `width` elements, up to 32, the last one may be shorter. For each element, bit k of a mask says whether element k of
// its group has the same key. Written are the masks; or the lowest peer's place in the group, or how many peers come before, and how many there are.
// Bits and keys meet in shared memory, where lanes that read one word read it at once: a width needs no fitting subgroup, and so there is one form.

const THREADS = 256u;

{% if ballot %}
const ROWS = {{ rows }}u;        // vectors of 4 elements that an invocation has in flight, at most 8
const WORDS = 32u * ROWS;
const TILE = 4u * THREADS * ROWS;

var<workgroup> bits: array<atomic<u32>, WORDS>;

// args: n elements of this dispatch; words of `out` before the first. Grid: a tile to a workgroup, folded.
@compute @workgroup_size(256)
fn ballot(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let tile = (id.z * grid.y + id.y) * grid.x + id.x;
    if (lane < WORDS) {
        atomicStore(&bits[lane], 0u);
    }
    workgroupBarrier();
    let start = tile * TILE + lane * 4u;
{% for r in range(rows) %}
    let i{{ r }} = start + {{ r }}u * (4u * THREADS);
    let whole{{ r }} = max(i{{ r }}, args.n) - i{{ r }} >= 4u;
    var x{{ r }}: array<array<u32, 1>, 4>;
    if (whole{{ r }}) {
        x{{ r }} = load4(i{{ r }});
    }
{% endfor %}
{% for r in range(rows) %}
    if (whole{{ r }}) {
        let four = select(0u, 1u, x{{ r }}[0][0] != 0u) | select(0u, 2u, x{{ r }}[1][0] != 0u)
            | select(0u, 4u, x{{ r }}[2][0] != 0u) | select(0u, 8u, x{{ r }}[3][0] != 0u);
        if (four != 0u) {
            atomicOr(&bits[{{ 32 * r }}u + lane / 8u], four << ((lane % 8u) * 4u));
        }
    }
{% endfor %}
    // The vector that the end cuts.
    let last = args.n / 4u * 4u + lane;
    if (last < args.n && last / TILE == tile) {
        if (load1(last)[0] != 0u) {
            atomicOr(&bits[(last % TILE) / 32u], 1u << (last % 32u));
        }
    }
    workgroupBarrier();
    let word = tile * WORDS + lane;
    if (lane < WORDS && word < (args.n + 31u) / 32u) {
        out[args.skip_out + word] = atomicLoad(&bits[lane]);
    }
}
{% else %}
var<workgroup> low: array<u32, THREADS>;
{% if words == 2 %}
var<workgroup> high: array<u32, THREADS>;
{% endif %}

// args: n elements of this dispatch, the width, elements of a workgroup (as many groups as fit), elements of the outputs before the first.
// Grid: folded.
@compute @workgroup_size(256)
fn peers(@builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let begin = ((id.z * grid.y + id.y) * grid.x + id.x) * args.per;
    let i = begin + lane;
    let there = lane < args.per && i < args.n;
    var key: array<u32, {{ words }}>;
    if (there) {
        key = load1(i);
    }
    low[lane] = key[0];
{% if words == 2 %}
    high[lane] = key[1];
{% endif %}
    workgroupBarrier();
    if (!there) {
        return;
    }
    let first = lane / args.width * args.width;
    let count = min(args.width, args.n - (begin + first));
    var mask = 0u;
    for (var k = 0u; k < count; k++) {
        let equal = low[first + k] == key[0]{{ " && high[first + k] == key[1]" if words == 2 }};
        mask |= select(0u, 1u << k, equal);
    }
{% if kind == 0 %}
    out[args.skip_out + i] = mask;
{% else %}
{% if kind == 1 %}
    out[args.skip_out + i] = countTrailingZeros(mask);
{% else %}
    out[args.skip_out + i] = countOneBits(mask & ((1u << (lane - first)) - 1u));
{% endif %}
    counts[args.skip_counts + i] = countOneBits(mask);
{% endif %}
}
{% endif %}
