// The numerics prelude: what WGSL leaves loose, made exact. Each snippet starts with `//@ name: functions it calls`; a kernel gets the
// snippets that it needs and no others, so that i64 and f64 appear only where they are used. `name@variant` is a choice that the
// backend makes for an adapter. Float results are chosen and assembled as integers: a shader compiler may assume that no NaN exists,
// and may flush subnormals that pass through float instructions. Truth values are joined by `&` and `|`: naga makes branches of `&&` and `||`, and
// functions stand in kernels a hundred times.

//@ iw_zero:
// A zero that joins what a driver must not see through. The backend brings one that is known at run time only.
fn iw_zero() -> u32 {
    return 0u;
}

//@ iw_zero_of_floats:
// Another one for bits of floats, which may be joined with the first already: `x ^ zero ^ zero` is x to every driver.
fn iw_zero_of_floats() -> u32 {
    return 0u;
}

//@ iw_bits: iw_zero_of_floats
// A float by its bits: where WGSL has no literal (-0, subnormals, infinities, NaN), and where a driver could derive a zero, which many then fold as
// if it had no sign and NaN did not exist.
fn iw_bits(bits: u32) -> f32 {
    return bitcast<f32>(bits ^ iw_zero_of_floats());
}

//@ iw_bits64: iw_zero_of_floats
fn iw_bits64(bits: u64) -> f64 {
    return bitcast<f64>(bits ^ (u64(iw_zero_of_floats()) << 32u));
}

//@ iw_opaque: iw_zero
// The same bits, of which a compiler knows nothing.
fn iw_opaque(bits: u32) -> u32 {
    return bits ^ iw_zero();
}

//@ iw_minus: iw_zero
// -x, which is no negation to a compiler.
fn iw_minus(x: u32) -> u32 {
    return iw_zero() - x;
}

//@ iw_minus64: iw_zero
fn iw_minus64(x: u64) -> u64 {
    return (u64(iw_zero()) << 32u) - x;
}

//@ iw_opaque64: iw_zero
// The same bits, of which a compiler knows nothing: what was widened is not computed in 32 bits.
fn iw_opaque64(bits: u64) -> u64 {
    return bits ^ ((u64(iw_zero()) << 32u) | u64(iw_zero()));
}

//@ iw_joined64: iw_zero
// The same bits, none of which is known to be zero.
fn iw_joined64(bits: u64) -> u64 {
    return bits | ((u64(iw_zero()) << 32u) | u64(iw_zero()));
}

//@ iw_is_nan:
fn iw_is_nan(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

//@ iw_is_nan64:
fn iw_is_nan64(x: f64) -> bool {
    return (bitcast<u64>(x) & 0x7ffffffffffffffflu) > 0x7ff0000000000000lu;
}

//@ iw_canonical:
// NaN as the one quiet NaN; everything else unchanged.
fn iw_canonical(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    return bitcast<f32>(select(bits, 0x7fc00000u, (bits & 0x7fffffffu) > 0x7f800000u));
}

//@ iw_canonical64:
fn iw_canonical64(x: f64) -> f64 {
    let bits = bitcast<u64>(x);
    return bitcast<f64>(select(bits, 0x7ff8000000000000lu, (bits & 0x7ffffffffffffffflu) > 0x7ff0000000000000lu));
}

//@ iw_order:
// Integers in the order of the floats, -0 below +0.
fn iw_order(x: f32) -> i32 {
    let bits = bitcast<i32>(x);
    return bits ^ ((bits >> 31u) & 0x7fffffffi);
}

//@ iw_min: iw_order iw_is_nan
// IEEE 754-2019 minimum: NaN propagates, -0 is below +0.
fn iw_min(a: f32, b: f32) -> f32 {
    let smaller = select(bitcast<u32>(b), bitcast<u32>(a), iw_order(a) <= iw_order(b));
    return bitcast<f32>(select(smaller, 0x7fc00000u, iw_is_nan(a) | iw_is_nan(b)));
}

//@ iw_max: iw_order iw_is_nan
// IEEE 754-2019 maximum: NaN propagates, +0 is above -0.
fn iw_max(a: f32, b: f32) -> f32 {
    let larger = select(bitcast<u32>(b), bitcast<u32>(a), iw_order(a) >= iw_order(b));
    return bitcast<f32>(select(larger, 0x7fc00000u, iw_is_nan(a) | iw_is_nan(b)));
}

//@ iw_order64:
fn iw_order64(x: f64) -> i64 {
    let bits = bitcast<i64>(x);
    return bits ^ ((bits >> 63u) & 0x7fffffffffffffffli);
}

//@ iw_min64: iw_order64 iw_is_nan64
fn iw_min64(a: f64, b: f64) -> f64 {
    let smaller = select(bitcast<u64>(b), bitcast<u64>(a), iw_order64(a) <= iw_order64(b));
    return bitcast<f64>(select(smaller, 0x7ff8000000000000lu, iw_is_nan64(a) | iw_is_nan64(b)));
}

//@ iw_max64: iw_order64 iw_is_nan64
fn iw_max64(a: f64, b: f64) -> f64 {
    let larger = select(bitcast<u64>(b), bitcast<u64>(a), iw_order64(a) >= iw_order64(b));
    return bitcast<f64>(select(larger, 0x7ff8000000000000lu, iw_is_nan64(a) | iw_is_nan64(b)));
}

//@ iw_div_i32:
// Integer division never meets a divisor that hardware does not define: dividing by one gives x / 0 = x, x % 0 = 0, MIN / -1 = MIN.
fn iw_div_i32(a: i32, b: i32) -> i32 {
    let special = (b == 0i) | ((a == (-2147483647i - 1i)) & (b == -1i));
    return a / select(b, 1i, special);
}

//@ iw_rem_i32:
fn iw_rem_i32(a: i32, b: i32) -> i32 {
    let special = (b == 0i) | ((a == (-2147483647i - 1i)) & (b == -1i));
    return a % select(b, 1i, special);
}

//@ iw_div_u32:
fn iw_div_u32(a: u32, b: u32) -> u32 {
    return a / select(b, 1u, b == 0u);
}

//@ iw_rem_u32: iw_opaque
// Of `x % 1` in four places SwiftShader's optimiser makes a vector that is null, and then takes `x % 1 == 0` and `~(x % 1)` for null too.
fn iw_rem_u32(a: u32, b: u32) -> u32 {
    return iw_opaque(a % select(b, 1u, b == 0u));
}

//@ iw_mul_hi:
// High half of the 64-bit product, from 16-bit pieces.
fn iw_mul_hi(a: u32, b: u32) -> u32 {
    let al = a & 0xffffu;
    let ah = a >> 16u;
    let bl = b & 0xffffu;
    let bh = b >> 16u;
    let lh = al * bh;
    let hl = ah * bl;
    let middle = ((al * bl) >> 16u) + (lh & 0xffffu) + (hl & 0xffffu);
    return ah * bh + (lh >> 16u) + (hl >> 16u) + (middle >> 16u);
}

//@ iw_mul_hi@u64:
fn iw_mul_hi(a: u32, b: u32) -> u32 {
    return u32((u64(a) * u64(b)) >> 32u);
}

//@ iw_mul_wide: iw_mul_hi
// Both words of a product.
struct WideProduct {
    low: u32,
    high: u32,
}

fn iw_mul_wide(a: u32, b: u32) -> WideProduct {
    return WideProduct(a * b, iw_mul_hi(a, b));
}

//@ iw_mul_wide@u64:
struct WideProduct {
    low: u32,
    high: u32,
}

fn iw_mul_wide(a: u32, b: u32) -> WideProduct {
    let product = u64(a) * u64(b);
    return WideProduct(u32(product), u32(product >> 32u));
}

//@ iw_mul_wide_4: iw_mul_wide
struct WideProduct4 {
    low: vec4<u32>,
    high: vec4<u32>,
}

fn iw_mul_wide_4(a: vec4<u32>, b: vec4<u32>) -> WideProduct4 {
    let x = iw_mul_wide(a.x, b.x);
    let y = iw_mul_wide(a.y, b.y);
    let z = iw_mul_wide(a.z, b.z);
    let w = iw_mul_wide(a.w, b.w);
    return WideProduct4(vec4<u32>(x.low, y.low, z.low, w.low), vec4<u32>(x.high, y.high, z.high, w.high));
}

//@ iw_f32_to_i32:
// Conversions of floats to integers truncate and saturate; NaN gives 0. The device converts only what fits.
fn iw_f32_to_i32(x: f32) -> i32 {
    let bits = bitcast<u32>(x);
    let size = bits & 0x7fffffffu;
    let fits = size < 0x4f000000u;
    let limit = select(2147483647i, (-2147483647i - 1i), (bits >> 31u) != 0u);
    let outside = select(limit, 0i, size > 0x7f800000u);
    return select(outside, i32(select(0.0f, x, fits)), fits);
}

//@ iw_f32_to_u32:
fn iw_f32_to_u32(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let fits = bits < 0x4f800000u;
    let outside = select(0u, 0xffffffffu, bits <= 0x7f800000u);
    return select(outside, u32(select(0.0f, x, fits)), fits);
}

//@ iw_trunc_bits:
// The whole part of the float with these magnitude bits, below 2^64.
fn iw_trunc_bits(size: u32) -> u64 {
    let e = size >> 23u;
    let significand = u64((size & 0x7fffffu) | 0x800000u);
    let left = significand << (max(e, 150u) - 150u);
    let right = significand >> min(150u - min(e, 150u), 63u);
    return select(right, left, e > 150u);
}

//@ iw_f32_to_i64: iw_trunc_bits iw_minus64 iw_opaque64
fn iw_f32_to_i64(x: f32) -> i64 {
    let bits = bitcast<u32>(x);
    let size = bits & 0x7fffffffu;
    let negative = (bits >> 31u) != 0u;
    if size >= 0x5f000000u {
        let limit = select(9223372036854775807li, (-9223372036854775807li - 1li), negative);
        return select(limit, 0li, size > 0x7f800000u);
    }
    let whole = iw_trunc_bits(size);
    return bitcast<i64>(iw_opaque64(select(whole, iw_minus64(whole), negative)));
}

//@ iw_f32_to_u64: iw_trunc_bits iw_opaque64
fn iw_f32_to_u64(x: f32) -> u64 {
    let bits = bitcast<u32>(x);
    if bits >= 0x5f800000u {
        return select(0lu, 18446744073709551615lu, bits <= 0x7f800000u);
    }
    return iw_opaque64(iw_trunc_bits(bits));
}

//@ iw_trunc_bits64:
fn iw_trunc_bits64(size: u64) -> u64 {
    let e = u32(size >> 52u);
    let significand = (size & 0xffffffffffffflu) | 0x10000000000000lu;
    let left = significand << (max(e, 1075u) - 1075u);
    let right = significand >> min(1075u - min(e, 1075u), 63u);
    return select(right, left, e > 1075u);
}

//@ iw_f64_to_i64: iw_trunc_bits64 iw_minus64 iw_opaque64
fn iw_f64_to_i64(x: f64) -> i64 {
    let bits = bitcast<u64>(x);
    let size = bits & 0x7ffffffffffffffflu;
    let negative = (bits >> 63u) != 0lu;
    if size >= 0x43e0000000000000lu {
        let limit = select(9223372036854775807li, (-9223372036854775807li - 1li), negative);
        return select(limit, 0li, size > 0x7ff0000000000000lu);
    }
    let whole = iw_trunc_bits64(size);
    return bitcast<i64>(iw_opaque64(select(whole, iw_minus64(whole), negative)));
}

//@ iw_f64_to_u64: iw_trunc_bits64 iw_opaque64
fn iw_f64_to_u64(x: f64) -> u64 {
    let bits = bitcast<u64>(x);
    if bits >= 0x43f0000000000000lu {
        return select(0lu, 18446744073709551615lu, bits <= 0x7ff0000000000000lu);
    }
    return iw_opaque64(iw_trunc_bits64(bits));
}

//@ iw_f64_to_i32: iw_f64_to_i64
fn iw_f64_to_i32(x: f64) -> i32 {
    return i32(clamp(iw_f64_to_i64(x), -2147483648li, 2147483647li));
}

//@ iw_f64_to_u32: iw_f64_to_u64
fn iw_f64_to_u32(x: f64) -> u32 {
    return u32(min(iw_f64_to_u64(x), 4294967295lu));
}

//@ iw_u64_to_f32_bits: iw_leading_zeros64
// To nearest even, in integers: the rounding of a device's 64-bit conversion is not promised.
fn iw_u64_to_f32_bits(x: u64) -> u32 {
    let zeros = iw_leading_zeros64(x);
    let shifted = x << (zeros & 63u);
    let kept = u32(shifted >> 40u);
    let rest = shifted & 0xfffffffffflu;
    let up = (rest > 0x8000000000lu) | ((rest == 0x8000000000lu) & ((kept & 1u) != 0u));
    return select(((189u - zeros) << 23u) + kept + select(0u, 1u, up), 0u, x == 0lu);
}

//@ iw_u64_to_f32: iw_u64_to_f32_bits iw_bits
fn iw_u64_to_f32(x: u64) -> f32 {
    return iw_bits(iw_u64_to_f32_bits(x));
}

//@ iw_i64_to_f32: iw_u64_to_f32_bits iw_bits
fn iw_i64_to_f32(x: i64) -> f32 {
    let bits = bitcast<u64>(x);
    let negative = x < 0li;
    return iw_bits(iw_u64_to_f32_bits(select(bits, 0lu - bits, negative)) | select(0u, 0x80000000u, negative));
}

//@ iw_u64_to_f64: iw_bits64
// Both halves and the product are exact, so the sum is the one rounding, contracted or not.
fn iw_u64_to_f64(x: u64) -> f64 {
    return iw_bits64(bitcast<u64>(f64(u32(x >> 32u)) * 4294967296.0lf + f64(u32(x & 0xfffffffflu))));
}

//@ iw_i64_to_f64: iw_bits64
fn iw_i64_to_f64(x: i64) -> f64 {
    return iw_bits64(bitcast<u64>(f64(i32(x >> 32u)) * 4294967296.0lf + f64(u32(bitcast<u64>(x) & 0xfffffffflu))));
}

//@ iw_count_ones64:
fn iw_count_ones64(x: u64) -> u32 {
    return countOneBits(u32(x & 0xfffffffflu)) + countOneBits(u32(x >> 32u));
}

//@ iw_leading_zeros64:
fn iw_leading_zeros64(x: u64) -> u32 {
    let high = u32(x >> 32u);
    return select(countLeadingZeros(high), 32u + countLeadingZeros(u32(x & 0xfffffffflu)), high == 0u);
}

//@ iw_reverse_bits64:
fn iw_reverse_bits64(x: u64) -> u64 {
    return (u64(reverseBits(u32(x & 0xfffffffflu))) << 32u) | u64(reverseBits(u32(x >> 32u)));
}

//@ iw_f16_to_f32:
// The f32 equal to the f16 in the low 16 bits.
fn iw_f16_to_f32(half: u32) -> f32 {
    let sign = (half & 0x8000u) << 16u;
    let e = (half >> 10u) & 31u;
    let m = half & 0x3ffu;
    let normal = sign | ((e + 112u) << 23u) | (m << 13u);
    // A subnormal's leading one moves to the place of the hidden bit.
    let shift = countLeadingZeros(m) - 21u;
    let subnormal = sign | ((113u - shift) << 23u) | (((m << (shift & 31u)) & 0x3ffu) << 13u);
    let small = select(subnormal, sign, m == 0u);
    let special = select(0x7fc00000u, sign | 0x7f800000u, m == 0u);
    return bitcast<f32>(select(select(normal, small, e == 0u), special, e == 31u));
}

//@ iw_f32_to_f16:
// The nearest f16, ties to even, in the low 16 bits.
fn iw_f32_to_f16(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let sign = (bits >> 16u) & 0x8000u;
    let size = bits & 0x7fffffffu;
    // Up to 65536; what rounds to 65536 carries into the code of infinity.
    let rebiased = size - 0x38000000u;
    let normal = (rebiased + 0xfffu + ((rebiased >> 13u) & 1u)) >> 13u;
    let significand = (size & 0x7fffffu) | 0x800000u;
    let shift = clamp(126u - min(size >> 23u, 125u), 1u, 25u);
    let odd = (significand >> shift) & 1u;
    let subnormal = (significand + ((1u << (shift - 1u)) - 1u) + odd) >> shift;
    let finite = select(subnormal, normal, size >= 0x38800000u);
    let signed = sign | select(finite, 0x7c00u, size >= 0x47800000u);
    return select(signed, 0x7e00u, size > 0x7f800000u);
}

//@ iw_div@native:
// For adapters whose division the probe found correctly rounded.
fn iw_div(a: f32, b: f32) -> f32 {
    return a / b;
}

//@ iw_sqrt@native:
fn iw_sqrt(x: f32) -> f32 {
    return sqrt(x);
}

//@ iw_div@seeded: iw_div_anywhere iw_fma iw_seeded_reciprocal
// The generated division, with a reciprocal that starts from the device's own. Sizes are doubled, which drops the signs.
fn iw_div(a: f32, b: f32) -> f32 {
    let a_above = (bitcast<u32>(a) << 1u) - 0x41000000u;
    let b_above = (bitcast<u32>(b) << 1u) - 0x41000000u;
    // Newton's iteration misses the reciprocal of a mantissa of all ones alone.
    if (max(a_above, b_above) < 0x7c000000u) & ((bitcast<u32>(b) | 0xff800000u) != 0xffffffffu) {
        let r = iw_seeded_reciprocal(b);
        var q = a * r;
        q = iw_fma(iw_fma(-q, b, a), r, q);
        return iw_fma(iw_fma(-q, b, a), r, q);
    }
    return iw_div_anywhere(a, b);
}

//@ iw_sqrt@seeded: iw_has_seeded_root iw_seeded_root iw_sqrt_anywhere
fn iw_sqrt(x: f32) -> f32 {
    if iw_has_seeded_root(x) {
        return iw_seeded_root(x);
    }
    return iw_sqrt_anywhere(x);
}

//@ iw_has_seeded_root:
// Whether the fast way leads to the rounded root.
fn iw_has_seeded_root(x: f32) -> bool {
    return bitcast<u32>(x) - 0x18800000u < 0x67000000u;
}

//@ iw_seeded_reciprocal@close: iw_fma
// From a reciprocal within an ULP: one step of Newton's iteration rounds it but for the mantissa of all ones. There 1/b lies just above the
// middle of a power of two and the next float, the step falls on that middle, and the power of two stays what it is.
fn iw_seeded_reciprocal(b: f32) -> f32 {
    let r = 1.0f / b;
    return iw_fma(iw_fma(-b, r, 1.0f), r, r);
}

//@ iw_seeded_reciprocal@coarse: iw_fma
fn iw_seeded_reciprocal(b: f32) -> f32 {
    var r = 1.0f / b;
    r = iw_fma(iw_fma(-b, r, 1.0f), r, r);
    return iw_fma(iw_fma(-b, r, 1.0f), r, r);
}

//@ iw_seeded_root: iw_fma
// From the device's inverse root: a step of Goldschmidt's for the root and half the inverse root, and one with the root's remainder,
// which rounds it. From 2^-78 on no remainder is subnormal.
fn iw_seeded_root(x: f32) -> f32 {
    let r = inverseSqrt(x);
    let near = x * r;
    let half = r * 0.5f;
    let off = iw_fma(-near, half, 0.5f);
    let nearer = iw_fma(near, off, near);
    return iw_fma(iw_fma(-nearer, nearer, x), iw_fma(half, off, half), nearer);
}

//@ iw_byte_root:
// Something that rounds to the whole number, up to 255, that the root of a whole number rounds to: where the device's inverse root is good enough.
fn iw_byte_root(n: f32) -> f32 {
    let x = max(n, 0.0009765625f);
    return n * inverseSqrt(x);
}

//@ iw_fma@native:
fn iw_fma(a: f32, b: f32, c: f32) -> f32 {
    return fma(a, b, c);
}

//@ iw_fma_native: iw_fma
// Where no operand and no result is subnormal, or it makes no difference: the bare built-in on devices that guard `iw_fma`.
fn iw_fma_native(a: f32, b: f32, c: f32) -> f32 {
    return iw_fma(a, b, c);
}
