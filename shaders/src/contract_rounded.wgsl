// Sums of fixed-point products, from those of levels to floats.

// The sum of two numbers of 64 bits, the low word first.
fn sum64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

// A number of 64 bits with the sums of the levels, each 256 times as much as the one after it.
fn joined(l: vec4<i32>) -> vec2<u32> {
    let high = sum64(vec2<u32>(u32(l.x) << 24u, u32(l.x >> 8u)), vec2<u32>(u32(l.y) << 16u, u32(l.y >> 16u)));
    return sum64(sum64(high, vec2<u32>(u32(l.z) << 8u, u32(l.z >> 24u))), vec2<u32>(u32(l.w), u32(l.w >> 31u)));
}

// `all` 2^`exponent`, rounded once, as bits.
fn rounded(all: vec2<u32>, exponent: i32) -> u32 {
    let negative = (all.y >> 31u) == 1u;
    let whole = select(all, sum64(~all, vec2<u32>(1u, 0u)), negative);
    let length = select(32u - countLeadingZeros(whole.x), 64u - countLeadingZeros(whole.y), whole.y != 0u);
    let top = i32(length) - 1 + exponent;
    let unit = max(top - 23, -149);
    let shift = unit - exponent;
    // Kept bits are at most 24. Bits that are shifted out are those of `rest`, from the highest one on.
    var kept = 0u;
    var rest = vec2<u32>();
    if (shift <= 0) {
        kept = whole.x << u32(-shift);
    } else if (shift < 32) {
        kept = (whole.x >> u32(shift)) | (whole.y << u32(32 - shift));
        rest = vec2<u32>(0u, whole.x << u32(32 - shift));
    } else if (shift == 32) {
        kept = whole.y;
        rest = vec2<u32>(0u, whole.x);
    } else if (shift < 64) {
        kept = whole.y >> u32(shift - 32);
        rest = vec2<u32>(whole.x, whole.y << u32(64 - shift));
    } else if (shift == 64) {
        rest = whole;
    }
    let half = 0x80000000u;
    let above = (rest.y > half) | ((rest.y == half) & (rest.x != 0u));
    let tie = (rest.y == half) & (rest.x == 0u);
    kept += select(0u, 1u, above | (tie & ((kept & 1u) == 1u)));
    // The highest bit of a normal number's mantissa adds one to the exponent, and so does what carries beyond.
    let bits = min(select(0u, u32(min(unit + 149, 255)) << 23u, top >= -126) + kept, 0x7f800000u);
    return select(bits | select(0u, 0x80000000u, negative), 0u, length == 0u);
}
