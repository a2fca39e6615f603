// Exact forms of operations, made of others, for devices that get the operation itself wrong: `iw_exact_{operation}`, each named as the probe names
// what it replaces. They take floats for bits, and mostly compute with integers. Sums are those of numbers that are not subnormal, scaled.

//@ iw_exact_neg_f32:
fn iw_exact_neg_f32(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ 0x80000000u);
}

//@ iw_exact_abs_f32:
fn iw_exact_abs_f32(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) & 0x7fffffffu);
}

//@ iw_value_order:
// Integers in the order of the numbers, both zeros alike.
fn iw_value_order(x: f32) -> i32 {
    let size = bitcast<i32>(x) & 0x7fffffffi;
    return select(size, -size, bitcast<i32>(x) < 0i);
}

//@ iw_exact_lt_f32: iw_value_order iw_is_nan
fn iw_exact_lt_f32(a: f32, b: f32) -> bool {
    return (iw_value_order(a) < iw_value_order(b)) & !(iw_is_nan(a) | iw_is_nan(b));
}

//@ iw_exact_le_f32: iw_value_order iw_is_nan
fn iw_exact_le_f32(a: f32, b: f32) -> bool {
    return (iw_value_order(a) <= iw_value_order(b)) & !(iw_is_nan(a) | iw_is_nan(b));
}

//@ iw_exact_eq_f32: iw_value_order iw_is_nan
fn iw_exact_eq_f32(a: f32, b: f32) -> bool {
    return (iw_value_order(a) == iw_value_order(b)) & !(iw_is_nan(a) | iw_is_nan(b));
}

//@ iw_exact_ne_f32: iw_exact_eq_f32
fn iw_exact_ne_f32(a: f32, b: f32) -> bool {
    return !iw_exact_eq_f32(a, b);
}

//@ iw_exact_select_f32:
fn iw_exact_select_f32(c: bool, a: f32, b: f32) -> f32 {
    return bitcast<f32>(select(bitcast<u32>(b), bitcast<u32>(a), c));
}

//@ iw_exact_trunc_f32:
fn iw_exact_trunc_f32(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    let size = bits & 0x7fffffffu;
    let fraction = 0x7fffffu >> (((size >> 23u) - 127u) & 31u);
    let whole = select(bits & ~fraction, bits, size >= 0x4b000000u);
    return bitcast<f32>(select(whole, bits & 0x80000000u, size < 0x3f800000u));
}

//@ iw_floor_bits:
fn iw_floor_bits(bits: u32) -> u32 {
    let size = bits & 0x7fffffffu;
    let negative = bits > 0x80000000u;
    // The bits below the point; adding one above them carries into the exponent where it has to.
    let fraction = 0x7fffffu >> (((size >> 23u) - 127u) & 31u);
    let down = select(0u, fraction + 1u, negative & ((bits & fraction) != 0u));
    let whole = select((bits & ~fraction) + down, bits, size >= 0x4b000000u);
    return select(whole, select(bits & 0x80000000u, 0xbf800000u, negative), size < 0x3f800000u);
}

//@ iw_exact_floor_f32: iw_floor_bits
fn iw_exact_floor_f32(x: f32) -> f32 {
    return bitcast<f32>(iw_floor_bits(bitcast<u32>(x)));
}

//@ iw_exact_ceil_f32: iw_floor_bits
fn iw_exact_ceil_f32(x: f32) -> f32 {
    return bitcast<f32>(iw_floor_bits(bitcast<u32>(x) ^ 0x80000000u) ^ 0x80000000u);
}

//@ iw_exact_rint_f32:
fn iw_exact_rint_f32(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    let size = bits & 0x7fffffffu;
    let fraction = 0x7fffffu >> (((size >> 23u) - 127u) & 31u);
    let unit = fraction + 1u;
    let rest = bits & fraction;
    let down = bits & ~fraction;
    // From 1 to 2 the last whole bit is that of the exponent, which is set.
    let up = (rest > (unit >> 1u)) | ((rest == (unit >> 1u)) & ((down & unit) != 0u));
    let whole = select(down + select(0u, unit, up), bits, size >= 0x4b000000u);
    let small = (bits & 0x80000000u) | select(0u, 0x3f800000u, size > 0x3f000000u);
    return bitcast<f32>(select(whole, small, size < 0x3f800000u));
}

//@ iw_scaled_up:
// x · 2^64 of a number below 2^-60, by its bits: the digits of a subnormal number count 2^-85 each, as the last ones of 2^-62 do.
fn iw_scaled_up(x: f32) -> f32 {
    let size = bitcast<u32>(x) & 0x7fffffffu;
    let subnormal = bitcast<u32>(bitcast<f32>(0x20800000u | size) - 2.168404344971009e-19f);
    let scaled = select(size + 0x20000000u, subnormal, size < 0x800000u);
    return bitcast<f32>((bitcast<u32>(x) & 0x80000000u) | scaled);
}

//@ iw_scaled_down:
// x · 2^-64 of a multiple of 2^-85, by its bits.
fn iw_scaled_down(x: f32) -> f32 {
    let size = bitcast<u32>(x) & 0x7fffffffu;
    let subnormal = bitcast<u32>(bitcast<f32>(min(size, 0x20800000u)) + 2.168404344971009e-19f) - 0x20800000u;
    let scaled = select(size - 0x20000000u, subnormal, size < 0x20800000u);
    return bitcast<f32>((bitcast<u32>(x) & 0x80000000u) | scaled);
}

//@ iw_exact_add_f32: iw_scaled_up iw_scaled_down
// For devices that take subnormal numbers for zeros. Next to a number from 2^-60 on they are, and no difference is one; below, all are scaled by 2^64.
fn iw_exact_add_f32(a: f32, b: f32) -> f32 {
    let tiny = max(bitcast<u32>(a) << 1u, bitcast<u32>(b) << 1u) < 0x43000000u;
    let x = select(bitcast<u32>(a), bitcast<u32>(iw_scaled_up(a)), tiny);
    let y = select(bitcast<u32>(b), bitcast<u32>(iw_scaled_up(b)), tiny);
    let sum = bitcast<f32>(x) + bitcast<f32>(y);
    return bitcast<f32>(select(bitcast<u32>(sum), bitcast<u32>(iw_scaled_down(sum)), tiny));
}

//@ iw_exact_sub_f32: iw_exact_add_f32 iw_exact_neg_f32
fn iw_exact_sub_f32(a: f32, b: f32) -> f32 {
    return iw_exact_add_f32(a, iw_exact_neg_f32(b));
}

//@ iw_product_bits: iw_high_product iw_exact_leading_zeros_u32
// The rounded product of two sizes that are neither zero nor infinite, of which one is subnormal or the product is less than 1.
fn iw_product_bits(a: u32, b: u32) -> u32 {
    // Leading ones at the top, and biased exponents.
    let za = select(8u, iw_exact_leading_zeros_u32(a), a < 0x800000u);
    let zb = select(8u, iw_exact_leading_zeros_u32(b), b < 0x800000u);
    let ma = select((a | 0x800000u) << 8u, a << za, a < 0x800000u);
    let mb = select((b | 0x800000u) << 8u, b << zb, b < 0x800000u);
    let ea = select(i32(a >> 23u), 9i - i32(za), a < 0x800000u);
    let eb = select(i32(b >> 23u), 9i - i32(zb), b < 0x800000u);
    // The upper word of the product, with a sticky lowest bit.
    let top = iw_high_product(ma, mb);
    let short = top < 0x80000000u;
    let high = select(top, (top << 1u) | ((ma * mb) >> 31u), short);
    let low = select(ma * mb, (ma * mb) << 1u, short);
    let e = ea + eb - select(126i, 127i, short);
    let shift = 7u + u32(clamp(1i - e, 0i, 24i));
    let m = (high >> 1u) | (high & 1u) | select(0u, 1u, low != 0u);
    let kept = m >> shift;
    let rest = m & ((1u << shift) - 1u);
    let half = 1u << (shift - 1u);
    let up = (rest > half) | ((rest == half) & ((kept & 1u) != 0u));
    // Below half of the least number nothing is left.
    let rounded = select(kept + select(0u, 1u, up), 0u, e < -23i);
    return min((u32(max(e - 1i, 0i)) << 23u) + rounded, 0x7f800000u);
}

//@ iw_high_product:
// High half of the 64-bit product, from 16-bit pieces.
fn iw_high_product(a: u32, b: u32) -> u32 {
    let al = a & 0xffffu;
    let ah = a >> 16u;
    let bl = b & 0xffffu;
    let bh = b >> 16u;
    let lh = al * bh;
    let hl = ah * bl;
    let middle = ((al * bl) >> 16u) + (lh & 0xffffu) + (hl & 0xffffu);
    return ah * bh + (lh >> 16u) + (hl >> 16u) + (middle >> 16u);
}

//@ iw_exact_mul_f32: iw_product_bits
// For devices that take subnormal numbers for zeros: products with one and those that may be one are computed in integers.
fn iw_exact_mul_f32(a: f32, b: f32) -> f32 {
    var r = a * b;
    // Twice the size, less two: small for subnormal numbers only (and the least two normal ones), since zero wraps around.
    let x = (bitcast<u32>(a) << 1u) - 2u;
    let y = (bitcast<u32>(b) << 1u) - 2u;
    let w = bitcast<u32>(r) << 1u;
    // A factor of zero makes it exact.
    if (min(min(x, y), w) < 0x1000001u) & (max(x, y) != 0xfffffffeu) {
        let sign = (bitcast<u32>(a) ^ bitcast<u32>(b)) & 0x80000000u;
        let p = bitcast<u32>(a) & 0x7fffffffu;
        let q = bitcast<u32>(b) & 0x7fffffffu;
        r = bitcast<f32>(sign | select(iw_product_bits(p, q), max(p, q), max(p, q) >= 0x7f800000u));
    }
    return r;
}

//@ iw_exact_mul_rn_f32: iw_exact_mul_f32
fn iw_exact_mul_rn_f32(a: f32, b: f32) -> f32 {
    return iw_exact_mul_f32(a, b);
}

//@ iw_rounded_bits:
// m · 2^(e - 152), of 26 bits of which the highest is set and the lowest is sticky, as a float's size.
fn iw_rounded_bits(m: u32, e: i32) -> u32 {
    let shift = 2u + u32(clamp(1i - e, 0i, 25i));
    let kept = m >> shift;
    let rest = m & ((1u << shift) - 1u);
    let half = 1u << (shift - 1u);
    let up = (rest > half) | ((rest == half) & ((kept & 1u) != 0u));
    // The highest bit of a normal number adds one to the exponent.
    return min((u32(max(e - 1i, 0i)) << 23u) + kept + select(0u, 1u, up), 0x7f800000u);
}

//@ iw_exact_div_f32: iw_exact_leading_zeros_u32 iw_rounded_bits
// Digit by digit: little to compile, where `fma` is emulated and the generated division is much.
fn iw_exact_div_f32(a: f32, b: f32) -> f32 {
    let sign = (bitcast<u32>(a) ^ bitcast<u32>(b)) & 0x80000000u;
    let p = bitcast<u32>(a) & 0x7fffffffu;
    let q = bitcast<u32>(b) & 0x7fffffffu;
    let zp = (iw_exact_leading_zeros_u32(p) - 8u) & 31u;
    let zq = (iw_exact_leading_zeros_u32(q) - 8u) & 31u;
    let dividend = select((p & 0x7fffffu) | 0x800000u, p << zp, p < 0x800000u);
    let divisor = select((q & 0x7fffffu) | 0x800000u, q << zq, q < 0x800000u);
    let short = dividend < divisor;
    let e = select(127i, 126i, short) + select(i32(p >> 23u), 1i - i32(zp), p < 0x800000u) - select(i32(q >> 23u), 1i - i32(zq), q < 0x800000u);
    var rest = select(dividend, dividend << 1u, short);
    var quotient = 0u;
    for (var k = 0u; k < 26u; k++) {
        let fits = rest >= divisor;
        rest = select(rest, rest - divisor, fits) << 1u;
        quotient = (quotient << 1u) | select(0u, 1u, fits);
    }
    let finite = sign | iw_rounded_bits(quotient | select(0u, 1u, rest != 0u), e);
    let size = select(0u, 0x7f800000u, (q == 0u) | (p == 0x7f800000u));
    let special = select(sign | size, 0x7fc00000u, (p == q) | (max(p, q) > 0x7f800000u));
    return bitcast<f32>(select(finite, special, (max(p, q) >= 0x7f800000u) | (min(p, q) == 0u)));
}

//@ iw_exact_sqrt_f32: iw_exact_leading_zeros_u32 iw_rounded_bits
// Digit by digit, likewise.
fn iw_exact_sqrt_f32(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    let zeros = (iw_exact_leading_zeros_u32(bits) - 8u) & 31u;
    let significand = select((bits & 0x7fffffu) | 0x800000u, bits << zeros, bits < 0x800000u);
    let e = select(i32(bits >> 23u), 1i - i32(zeros), bits < 0x800000u) - 127i;
    // The exponent is made even.
    let odd = u32(e & 1i);
    var feed = (significand << 7u) << odd;
    var rest = 0u;
    var root = 0u;
    for (var k = 0u; k < 25u; k++) {
        rest = (rest << 2u) | (feed >> 30u);
        feed = feed << 2u;
        let trial = (root << 2u) | 1u;
        let fits = rest >= trial;
        rest = select(rest, rest - trial, fits);
        root = (root << 1u) | select(0u, 1u, fits);
    }
    let rounded = iw_rounded_bits((root << 1u) | select(0u, 1u, rest != 0u), (e >> 1u) + 127i);
    // The square root of a zero or infinity is itself, that of what is below zero NaN.
    let number = select(rounded, bits, ((bits << 1u) == 0u) | (bits == 0x7f800000u));
    return bitcast<f32>(select(number, 0x7fc00000u, (bits > 0x7f800000u) & (bits != 0x80000000u)));
}

//@ iw_exact_cast_f32_bool:
fn iw_exact_cast_f32_bool(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) != 0u;
}

//@ iw_u32_to_f32_bits: iw_exact_leading_zeros_u32
// To nearest even.
fn iw_u32_to_f32_bits(x: u32) -> u32 {
    let zeros = iw_exact_leading_zeros_u32(x);
    let shifted = x << (zeros & 31u);
    let kept = shifted >> 8u;
    let rest = shifted & 0xffu;
    let up = (rest > 0x80u) | ((rest == 0x80u) & ((kept & 1u) != 0u));
    return select(((157u - zeros) << 23u) + kept + select(0u, 1u, up), 0u, x == 0u);
}

//@ iw_exact_cast_u32_f32: iw_u32_to_f32_bits iw_bits
fn iw_exact_cast_u32_f32(x: u32) -> f32 {
    return iw_bits(iw_u32_to_f32_bits(x));
}

//@ iw_exact_cast_i32_f32: iw_u32_to_f32_bits iw_bits
fn iw_exact_cast_i32_f32(x: i32) -> f32 {
    let bits = bitcast<u32>(x);
    let size = iw_u32_to_f32_bits(select(bits, 0u - bits, x < 0i));
    return iw_bits(size | (bits & 0x80000000u));
}

//@ iw_whole_bits:
// The whole part of a size below 2^32.
fn iw_whole_bits(size: u32) -> u32 {
    let e = size >> 23u;
    let significand = (size & 0x7fffffu) | 0x800000u;
    let left = significand << ((max(e, 150u) - 150u) & 31u);
    let right = significand >> min(150u - min(e, 150u), 31u);
    return select(right, left, e > 150u);
}

//@ iw_exact_cast_f32_u32: iw_whole_bits
fn iw_exact_cast_f32_u32(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let outside = select(0u, 0xffffffffu, bits <= 0x7f800000u);
    return select(outside, iw_whole_bits(bits), bits < 0x4f800000u);
}

//@ iw_exact_cast_f32_i32: iw_whole_bits
fn iw_exact_cast_f32_i32(x: f32) -> i32 {
    let bits = bitcast<u32>(x);
    let size = bits & 0x7fffffffu;
    let limit = 0x7fffffffu + (bits >> 31u);
    let whole = iw_whole_bits(min(size, 0x4f000000u));
    let signed = select(whole, 0u - whole, (bits >> 31u) != 0u);
    return bitcast<i32>(select(select(limit, 0u, size > 0x7f800000u), signed, size < 0x4f000000u));
}

//@ iw_exact_neg_i32:
fn iw_exact_neg_i32(x: i32) -> i32 {
    return bitcast<i32>(~bitcast<u32>(x) + 1u);
}

//@ iw_exact_abs_i32:
fn iw_exact_abs_i32(x: i32) -> i32 {
    let sign = 0u - (bitcast<u32>(x) >> 31u);
    return bitcast<i32>((bitcast<u32>(x) ^ sign) - sign);
}

//@ iw_exact_lt_i32:
fn iw_exact_lt_i32(a: i32, b: i32) -> bool {
    return (bitcast<u32>(a) ^ 0x80000000u) < (bitcast<u32>(b) ^ 0x80000000u);
}

//@ iw_exact_le_i32:
fn iw_exact_le_i32(a: i32, b: i32) -> bool {
    return (bitcast<u32>(a) ^ 0x80000000u) <= (bitcast<u32>(b) ^ 0x80000000u);
}

//@ iw_exact_min_i32: iw_exact_lt_i32
fn iw_exact_min_i32(a: i32, b: i32) -> i32 {
    return select(b, a, iw_exact_lt_i32(a, b));
}

//@ iw_exact_max_i32: iw_exact_lt_i32
fn iw_exact_max_i32(a: i32, b: i32) -> i32 {
    return select(a, b, iw_exact_lt_i32(a, b));
}

//@ iw_exact_min_u32:
fn iw_exact_min_u32(a: u32, b: u32) -> u32 {
    return select(b, a, a < b);
}

//@ iw_exact_max_u32:
fn iw_exact_max_u32(a: u32, b: u32) -> u32 {
    return select(a, b, a < b);
}

//@ iw_exact_shr_i32:
fn iw_exact_shr_i32(x: i32, by: u32) -> i32 {
    let sign = 0u - (bitcast<u32>(x) >> 31u);
    return bitcast<i32>(((bitcast<u32>(x) ^ sign) >> (by & 31u)) ^ sign);
}

//@ iw_exact_mul_hi_u32: iw_high_product
fn iw_exact_mul_hi_u32(a: u32, b: u32) -> u32 {
    return iw_high_product(a, b);
}

//@ iw_exact_count_ones_u32:
fn iw_exact_count_ones_u32(x: u32) -> u32 {
    let pairs = x - ((x >> 1u) & 0x55555555u);
    let nibbles = (pairs & 0x33333333u) + ((pairs >> 2u) & 0x33333333u);
    let bytes = (nibbles + (nibbles >> 4u)) & 0x0f0f0f0fu;
    return (bytes + (bytes >> 8u) + (bytes >> 16u) + (bytes >> 24u)) & 0x3fu;
}

//@ iw_exact_count_ones_i32: iw_exact_count_ones_u32
fn iw_exact_count_ones_i32(x: i32) -> u32 {
    return iw_exact_count_ones_u32(bitcast<u32>(x));
}

//@ iw_exact_leading_zeros_u32: iw_exact_count_ones_u32
fn iw_exact_leading_zeros_u32(x: u32) -> u32 {
    var filled = x;
    filled |= filled >> 1u;
    filled |= filled >> 2u;
    filled |= filled >> 4u;
    filled |= filled >> 8u;
    filled |= filled >> 16u;
    return iw_exact_count_ones_u32(~filled);
}

//@ iw_exact_leading_zeros_i32: iw_exact_leading_zeros_u32
fn iw_exact_leading_zeros_i32(x: i32) -> u32 {
    return iw_exact_leading_zeros_u32(bitcast<u32>(x));
}

//@ iw_exact_reverse_bits_u32:
fn iw_exact_reverse_bits_u32(x: u32) -> u32 {
    let ones = ((x >> 1u) & 0x55555555u) | ((x & 0x55555555u) << 1u);
    let pairs = ((ones >> 2u) & 0x33333333u) | ((ones & 0x33333333u) << 2u);
    let nibbles = ((pairs >> 4u) & 0x0f0f0f0fu) | ((pairs & 0x0f0f0f0fu) << 4u);
    return (nibbles << 24u) | ((nibbles & 0xff00u) << 8u) | ((nibbles >> 8u) & 0xff00u) | (nibbles >> 24u);
}

//@ iw_exact_reverse_bits_i32: iw_exact_reverse_bits_u32
fn iw_exact_reverse_bits_i32(x: i32) -> i32 {
    return bitcast<i32>(iw_exact_reverse_bits_u32(bitcast<u32>(x)));
}

//@ iw_divided:
// Quotient and remainder, digit by digit; of a division by zero the dividend and zero.
fn iw_divided(a: u32, b: u32) -> vec2<u32> {
    var quotient = 0u;
    var rest = 0u;
    for (var k = 0u; k < 32u; k++) {
        // A bit that is shifted out of the remainder makes it larger than any divisor.
        let over = (rest >> 31u) != 0u;
        rest = (rest << 1u) | ((a >> (31u - k)) & 1u);
        let fits = over | (rest >= b);
        rest = select(rest, rest - b, fits);
        quotient = (quotient << 1u) | select(0u, 1u, fits);
    }
    return select(vec2<u32>(quotient, rest), vec2<u32>(a, 0u), b == 0u);
}

//@ iw_exact_div_u32: iw_divided
fn iw_exact_div_u32(a: u32, b: u32) -> u32 {
    return iw_divided(a, b).x;
}

//@ iw_exact_rem_u32: iw_divided
fn iw_exact_rem_u32(a: u32, b: u32) -> u32 {
    return iw_divided(a, b).y;
}

//@ iw_exact_div_i32: iw_divided iw_exact_abs_i32
fn iw_exact_div_i32(a: i32, b: i32) -> i32 {
    let size = iw_divided(bitcast<u32>(iw_exact_abs_i32(a)), bitcast<u32>(iw_exact_abs_i32(b))).x;
    let sign = 0u - (bitcast<u32>(a ^ b) >> 31u);
    return select(bitcast<i32>((size ^ sign) - sign), a, b == 0i);
}

//@ iw_exact_rem_i32: iw_divided iw_exact_abs_i32
fn iw_exact_rem_i32(a: i32, b: i32) -> i32 {
    let size = iw_divided(bitcast<u32>(iw_exact_abs_i32(a)), bitcast<u32>(iw_exact_abs_i32(b))).y;
    let sign = 0u - (bitcast<u32>(a) >> 31u);
    return bitcast<i32>((size ^ sign) - sign);
}
