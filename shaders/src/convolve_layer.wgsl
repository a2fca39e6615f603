// Convolutions of images of several channels, by filters that look at all channels of a group, surrounded by zeros: products of the filters and of a matrix with
// a column to each window, whose rows are the taps of one channel after the other. See contract.wgsl for their sums. A workgroup takes a tile of 64 filters and
// 128 windows, of whatever images these are; an invocation brings one term of a tile for four windows. Where a tap lies is the same for all windows: a window adds
// its own place, and has a bit to each tap that lies inside its image.

{% set rm = 4 %}
{% set rn = 8 %}
{% set tk = 8 %}
{% set down = 1 %}
{% set right = 2 %}
const TM = 64u;
const TN = 128u;
const TK = 8u;
const PITCH_A = 17u;      // vectors from one term to the next
const PITCH_B = 33u;
const MAX_TAPS = 64u;

var<workgroup> a_tile: array<vec4<Value>, {{ 8 * 17 }}>;
var<workgroup> b_tile: array<vec4<Value>, {{ 8 * 33 }}>;
var<workgroup> offsets: array<u32, MAX_TAPS>;
{% if guarded %}
// One more than the last block of terms in which the adapter's own fma may not be used.
var<workgroup> risky: atomic<u32>;

{% include "contract_risky.wgsl" %}
{% endif %}
{% if rolled %}
var<private> sums: array<vec4<Value>, {{ rm * right }}>;
var<private> totals: array<vec4<Value>, {{ rm * right }}>;
{% endif %}

// An axis of windows: elements of an image, windows, taps of a filter, steps, and elements that the first window begins before the image.
struct Axis {
    n: u32,
    windows: u32,
    taps: u32,
    stride: u32,
    dilation: u32,
    before: u32,
}

fn axis(n: u32, windows: u32, steps: u32) -> Axis {
    return Axis(n, windows, steps & 255u, (steps >> 8u) & 255u, (steps >> 16u) & 255u, steps >> 24u);
}

// Where a window begins, from the image's first element on.
fn start_of(a: Axis, window: u32) -> u32 {
    return window * a.stride - a.before;
}

// 64 bits, moved up.
fn moved(bits: vec2<u32>, n: u32) -> vec2<u32> {
    if (n >= 32u) {
        return vec2<u32>(0u, bits.x << (n - 32u));
    }
    // In two steps, since no word is moved by 32.
    return vec2<u32>(bits.x << n, (bits.y << n) | ((bits.x >> 1u) >> (31u - n)));
}

// A bit to each tap of a window that lies inside.
fn inside(a: Axis, start: u32) -> vec2<u32> {
    var bits = vec2<u32>();
    for (var t = 0u; t < a.taps; t++) {
        if (start + t * a.dilation < a.n) {
            bits |= moved(vec2<u32>(1u, 0u), t);
        }
    }
    return bits;
}

fn has(bits: vec2<u32>, t: u32) -> bool {
    return ((select(bits.x, bits.y, t >= 32u) >> (t & 31u)) & 1u) != 0u;
}

@compute @workgroup_size(256)
fn convolve_layer(@builtin(workgroup_id) group_id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    var index = (group_id.z * grid.y + group_id.y) * grid.x + group_id.x;
    if (index >= args.groups) {
        return;
    }
    let z = axis(args.depth, args.windows_z, args.steps_z);
    let y = axis(args.height, args.windows_y, args.steps_y);
    let x = axis(args.width, args.windows_x, args.steps_x);
    let windows = z.windows * y.windows * x.windows;
    let all = windows * args.images;
    let points = z.n * y.n * x.n;
    let taps = z.taps * y.taps * x.taps;
    let k_end = taps * args.channels;
    let tiles_m = (args.filters + TM - 1u) / TM;
    let tiles_n = (all + TN - 1u) / TN;
    let m0 = index % tiles_m * TM;
    index /= tiles_m;
    let n0 = index % tiles_n * TN;
    let group = index / tiles_n;

    // Four neighbouring windows: the places of their first elements, which may lie outside, and the taps that are inside.
    var starts = vec4<u32>();
    var low = vec4<u32>();
    var high = vec4<u32>();
    for (var e = 0u; e < 4u; e++) {
        let j = n0 + lane % 32u * 4u + e;
        if (j < all) {
            let window = j % windows;
            let line = window / x.windows;
            let at_x = start_of(x, window % x.windows);
            let at_y = start_of(y, line % y.windows);
            let at_z = start_of(z, line / y.windows);
            let in_x = inside(x, at_x);
            let in_y = inside(y, at_y);
            let in_z = inside(z, at_z);
            var bits = vec2<u32>();
            var tap = 0u;
            for (var a = 0u; a < z.taps; a++) {
                for (var b = 0u; b < y.taps; b++) {
                    if (has(in_z, a) && has(in_y, b)) {
                        bits |= moved(in_x, tap);
                    }
                    tap += x.taps;
                }
            }
            let first = (j / windows * args.channel_groups + group) * args.channels * points + (at_z * y.n + at_y) * x.n + at_x;
            let is_own = vec4<u32>(0u, 1u, 2u, 3u) == vec4<u32>(e);
            starts = select(starts, vec4<u32>(first), is_own);
            low = select(low, vec4<u32>(bits.x), is_own);
            high = select(high, vec4<u32>(bits.y), is_own);
        }
    }
    if (lane < taps) {
        offsets[lane] = (lane / x.taps / y.taps * z.dilation * y.n + lane / x.taps % y.taps * y.dilation) * x.n + lane % x.taps * x.dilation;
    }

    // The term of a tile that this invocation brings: its tap, and where its channel begins.
    let b_k = lane / 32u;
    var tap = b_k % taps;
    var channel = b_k / taps * points;
    let a_k = lane % TK;
    let a_i = lane / TK * 4u;
    let a_first = (group * args.filters + m0 + a_i) * k_end + a_k;
    // Lanes that differ in their lowest bit read the same of A, those that differ in the next one the same of B.
    let row = (lane / 32u) % 2u * 8u + (lane / 2u) % 8u;
    let column = (lane / 64u) * 4u + lane % 2u + (lane / 16u) % 2u * 2u;

{% if not rolled %}
{% for r in range(rm) %}
{% for c in range(right) %}
    var s{{ r }}_{{ c }} = vec4<Value>();
    var t{{ r }}_{{ c }} = vec4<Value>();
{% endfor %}
{% endfor %}
{% endif %}
{% if guarded %}
    // Workgroup memory holds what another left; a barrier precedes the first tile.
    if (lane == 0u) {
        atomicStore(&risky, 0u);
    }
{% endif %}
    workgroupBarrier();
    var block = 0u;
    var end_of_block = args.block;
    var next_a = no_a();
    var next_b = vec4<Value>();
    // Brings a tile of terms, and computes with the one before it.
    for (var k = 0u; ; k += TK) {
        let more = k < k_end;
        if (more) {
            // Padding behind the last term: -0 of A, and +0 of B, whose product changes no sum, nor its sign.
            next_a = no_a();
            next_b = vec4<Value>();
            if (a_i < TM && k + a_k < k_end) {
                for (var e = 0u; e < 4u && m0 + a_i + e < args.filters; e++) {
                    next_a[e] = load_a1(a_first + e * k_end + k);
                }
            }
            if (k + b_k < k_end) {
                let of_tap = starts + vec4<u32>(channel + offsets[tap]);
                let bits = moved(vec2<u32>(1u, 0u), tap);
                let is_there = ((low & vec4<u32>(bits.x)) | (high & vec4<u32>(bits.y))) != vec4<u32>();
{% for e in "xyzw" %}
                if (is_there.{{ e }}) {
                    next_b.{{ e }} = load_b1(of_tap.{{ e }});
                }
{% endfor %}
            }
            tap += TK % taps;
            channel += TK / taps * points;
            if (tap >= taps) {
                tap -= taps;
                channel += points;
            }
        }
        if (k > 0u) {
{% include "contract_steps.wgsl" %}
        }
        if (k >= end_of_block || !more) {
{% include "contract_add_block.wgsl" %}
            block++;
            end_of_block += args.block;
        }
        if (!more) {
            break;
        }
        workgroupBarrier();
        if (a_i < TM) {
            a_tile[a_k * PITCH_A + a_i / 4u] = next_a;
        }
        b_tile[b_k * PITCH_B + lane % 32u] = next_b;
{% if guarded %}
        if (is_risky(next_a) || is_risky(next_b)) {
            atomicMax(&risky, block + 1u);
        }
{% endif %}
        workgroupBarrier();
    }

{% if not rolled %}
    var totals = array<vec4<Value>, {{ rm * right }}>({% for r in range(rm) %}{% for c in range(right) %}t{{ r }}_{{ c }}, {% endfor %}{% endfor %});
{% endif %}
    for (var g = 0u; g < {{ rm * right }}u; g++) {
        let i = m0 + row * 4u + g / {{ right }}u;
        let j = n0 + (column + g % {{ right }}u * 16u) * 4u;
        if (i >= args.filters || j >= all) {
            continue;
        }
        let total = totals[g];
        // Images of whole vectors.
        if (args.form != 0u) {
            epilogue4(((j / windows * args.channel_groups + group) * args.filters + i) * windows + j % windows, total);
            continue;
        }
        for (var e = 0u; e < 4u && j + e < all; e++) {
            epilogue1((((j + e) / windows * args.channel_groups + group) * args.filters + i) * windows + (j + e) % windows, total[e]);
        }
    }
}
