// The f64 part of the numerics prelude: fused multiply-add, division and square root, each in two variants. `native` is for adapters whose
// built-in the probe found exact; `integer` is exact on any adapter that has u64: significands are computed exactly, and rounded once,
// to nearest even, by iw_pack64.

//@ iw_fma64@native:
fn iw_fma64(a: f64, b: f64, c: f64) -> f64 {
    return fma(a, b, c);
}

//@ iw_div64@native:
fn iw_div64(a: f64, b: f64) -> f64 {
    return a / b;
}

//@ iw_sqrt64@native:
// Mesa takes a root to have no sign, and leaves out an `abs` of it: the root of -0 is -0.
fn iw_sqrt64(x: f64) -> f64 {
    return select(sqrt(x), x, bitcast<u64>(x) << 1u == 0lu);
}

//@ iw_pack64:
// Rounds m · 2^(e - 63), m with its top bit set, a sticky bit lowest.
fn iw_pack64(sign: u64, e: i32, m: u64) -> f64 {
    let biased = e + 1023i;
    if biased >= 2047i {
        return bitcast<f64>(sign | 0x7ff0000000000000lu);
    }
    let below = max(1i - biased, 0i);
    if below > 53i {
        return bitcast<f64>(sign);
    }
    let wide = (m >> 1u) | (m & 1lu);
    let shift = u32(10i + below);
    let kept = wide >> shift;
    let rest = wide & ((1lu << shift) - 1lu);
    let half = 1lu << (shift - 1u);
    let up = (rest > half) | ((rest == half) & ((kept & 1lu) != 0lu));
    // The hidden bit adds one to the exponent field of a normal number.
    let field = u64(u32(max(biased - 1i, 0i))) << 52u;
    return bitcast<f64>(sign | (field + kept + select(0lu, 1lu, up)));
}

//@ iw_significand64: iw_leading_zeros64
// The significand of a finite, nonzero magnitude with its leading one in the top bit.
fn iw_significand64(size: u64) -> u64 {
    let m = size & 0xffffffffffffflu;
    let subnormal = m << (iw_leading_zeros64(m) & 63u);
    return select((m | 0x10000000000000lu) << 11u, subnormal, (size >> 52u) == 0lu);
}

//@ iw_exponent64: iw_leading_zeros64
// Its exponent: |x| = significand · 2^(exponent - 63).
fn iw_exponent64(size: u64) -> i32 {
    let field = i32(u32(size >> 52u));
    return select(field - 1023i, -1011i - i32(iw_leading_zeros64(size)), field == 0i);
}

//@ iw_fma64@integer: iw_pack64 iw_significand64 iw_exponent64 iw_leading_zeros64
fn iw_fma64(a: f64, b: f64, c: f64) -> f64 {
    let ua = bitcast<u64>(a);
    let ub = bitcast<u64>(b);
    let uc = bitcast<u64>(c);
    let top = 0x8000000000000000lu;
    let infinity = 0x7ff0000000000000lu;
    let nan = 0x7ff8000000000000lu;
    let product_sign = (ua ^ ub) & top;
    let c_sign = uc & top;
    let sa = ua & ~top;
    let sb = ub & ~top;
    let sc = uc & ~top;
    let largest = max(sa, max(sb, sc));
    if largest >= infinity {
        if largest > infinity {
            return bitcast<f64>(nan);
        }
        if max(sa, sb) < infinity {
            return c;
        }
        let undefined = (min(sa, sb) == 0lu) | ((sc == infinity) & (c_sign != product_sign));
        return bitcast<f64>(select(product_sign | infinity, nan, undefined));
    }
    if min(sa, sb) == 0lu {
        return bitcast<f64>(select(uc, 0lu, (sc == 0lu) & (c_sign != product_sign)));
    }
    // The product of the significands, 128 bits wide, from 32-bit halves.
    let ma = iw_significand64(sa);
    let mb = iw_significand64(sb);
    let al = ma & 0xfffffffflu;
    let ah = ma >> 32u;
    let bl = mb & 0xfffffffflu;
    let bh = mb >> 32u;
    let ll = al * bl;
    let lh = al * bh;
    let hl = ah * bl;
    let middle = (ll >> 32u) + (lh & 0xfffffffflu) + (hl & 0xfffffffflu);
    var high = ah * bh + (lh >> 32u) + (hl >> 32u) + (middle >> 32u);
    var low = (middle << 32u) | (ll & 0xfffffffflu);
    // high:low · 2^(e - 127), leading one in bit 126, so that a sum has room.
    var e = iw_exponent64(sa) + iw_exponent64(sb) + 1i;
    if high >= top {
        low = (low >> 1u) | (high << 63u);
        high = high >> 1u;
        e = e + 1i;
    }
    if sc == 0lu {
        return iw_pack64(product_sign, e - 1i, (high << 1u) | (low >> 63u) | select(0lu, 1lu, (low << 1u) != 0lu));
    }
    var other_high = iw_significand64(sc) >> 1u;
    var other_low = iw_significand64(sc) << 63u;
    let other_e = iw_exponent64(sc) + 1i;
    // The smaller is aligned to the larger; what falls off is kept as a sticky bit.
    var sign = product_sign;
    let swap = (other_e > e) | ((other_e == e) & ((other_high > high) | ((other_high == high) & (other_low > low))));
    if swap {
        let h = high;
        let l = low;
        high = other_high;
        low = other_low;
        other_high = h;
        other_low = l;
        sign = c_sign;
    }
    let gap = u32(abs(e - other_e));
    e = max(e, other_e);
    if gap >= 128u {
        other_low = 1lu;
        other_high = 0lu;
    } else if gap >= 64u {
        let n = gap - 64u;
        let lost = (other_low | (other_high & ((1lu << n) - 1lu))) != 0lu;
        other_low = (other_high >> n) | select(0lu, 1lu, lost);
        other_high = 0lu;
    } else if gap > 0u {
        let lost = (other_low << (64u - gap)) != 0lu;
        other_low = (other_low >> gap) | (other_high << (64u - gap)) | select(0lu, 1lu, lost);
        other_high = other_high >> gap;
    }
    if product_sign == c_sign {
        let sum = low + other_low;
        high = high + other_high + select(0lu, 1lu, sum < low);
        low = sum;
    } else {
        high = high - other_high - select(0lu, 1lu, low < other_low);
        low = low - other_low;
    }
    if (high | low) == 0lu {
        return bitcast<f64>(0lu);
    }
    let zeros = iw_leading_zeros64(high);
    if zeros >= 64u {
        let z = iw_leading_zeros64(low);
        return iw_pack64(sign, e - 64i - i32(z), low << z);
    }
    if zeros > 0u {
        high = (high << zeros) | (low >> (64u - zeros));
        low = low << zeros;
    }
    return iw_pack64(sign, e - i32(zeros), high | select(0lu, 1lu, low != 0lu));
}

//@ iw_div64@integer: iw_pack64 iw_significand64 iw_exponent64
fn iw_div64(a: f64, b: f64) -> f64 {
    let ua = bitcast<u64>(a);
    let ub = bitcast<u64>(b);
    let top = 0x8000000000000000lu;
    let infinity = 0x7ff0000000000000lu;
    let nan = 0x7ff8000000000000lu;
    let sign = (ua ^ ub) & top;
    let sa = ua & ~top;
    let sb = ub & ~top;
    if (max(sa, sb) >= infinity) | (min(sa, sb) == 0lu) {
        if (max(sa, sb) > infinity) | (sa == sb) {
            return bitcast<f64>(nan);
        }
        return bitcast<f64>(select(sign | infinity, sign, (sa == 0lu) | (sb == infinity)));
    }
    let ma = iw_significand64(sa) >> 11u;
    let mb = iw_significand64(sb) >> 11u;
    // 55 bits of ma / mb below the point, eleven at a time; the remainder says whether more follow.
    var quotient = ma / mb;
    var rest = ma % mb;
    for (var i = 0i; i < 5i; i++) {
        let wide = rest << 11u;
        quotient = (quotient << 11u) | (wide / mb);
        rest = wide % mb;
    }
    let sticky = select(0lu, 1lu, rest != 0lu);
    let e = iw_exponent64(sa) - iw_exponent64(sb);
    // ma / mb lies between 1/2 and 2: its leading one is in bit 55 or 54.
    if (quotient >> 55u) != 0lu {
        return iw_pack64(sign, e, (quotient << 8u) | sticky);
    }
    return iw_pack64(sign, e - 1i, (quotient << 9u) | sticky);
}

//@ iw_sqrt64@integer: iw_pack64 iw_significand64 iw_exponent64
fn iw_sqrt64(x: f64) -> f64 {
    let bits = bitcast<u64>(x);
    let size = bits & 0x7ffffffffffffffflu;
    if (size == 0lu) | (bits == 0x7ff0000000000000lu) {
        return x;
    }
    if bits > 0x7ff0000000000000lu {
        return bitcast<f64>(0x7ff8000000000000lu);
    }
    // Digit by digit: 32 bits of the root from the significand, 24 more from the zeros that follow it. The exponent is made even.
    let e = iw_exponent64(size);
    let odd = u32(e & 1i);
    var feed = (iw_significand64(size) >> 1u) << odd;
    var rest = 0lu;
    var root = 0lu;
    for (var i = 0i; i < 56i; i++) {
        rest = (rest << 2u) | (feed >> 62u);
        feed = feed << 2u;
        let trial = (root << 2u) | 1lu;
        let fits = rest >= trial;
        rest = select(rest, rest - trial, fits);
        root = (root << 1u) | select(0lu, 1lu, fits);
    }
    return iw_pack64(0lu, (e - i32(odd)) / 2i, (root << 8u) | select(0lu, 1lu, rest != 0lu));
}

//@ iw_exact_add_f64: iw_fma64
// Exact forms for devices that take subnormal numbers for zeros, where `iw_fma64` is that of integers. Next to a number from 2^-960 on they are, and no
// difference is one.
fn iw_exact_add_f64(a: f64, b: f64) -> f64 {
    if max(bitcast<u64>(a) << 1u, bitcast<u64>(b) << 1u) < 0x07e0000000000000lu {
        return iw_fma64(a, bitcast<f64>(0x3ff0000000000000lu), b);
    }
    return a + b;
}

//@ iw_exact_sub_f64: iw_exact_add_f64
fn iw_exact_sub_f64(a: f64, b: f64) -> f64 {
    return iw_exact_add_f64(a, bitcast<f64>(bitcast<u64>(b) ^ 0x8000000000000000lu));
}

//@ iw_exact_mul_f64: iw_fma64
// In integers where a factor or the product may be subnormal; there a sum with -0 leaves the sign of a zero as it is.
fn iw_exact_mul_f64(a: f64, b: f64) -> f64 {
    let r = a * b;
    // Twice the size, less two: small for subnormal numbers only (and the least normal one), since zero wraps around.
    let x = (bitcast<u64>(a) << 1u) - 2lu;
    let y = (bitcast<u64>(b) << 1u) - 2lu;
    let w = bitcast<u64>(r) << 1u;
    // A factor of zero makes it exact.
    if (min(min(x, y), w) < 0x0020000000000001lu) & (max(x, y) != 0xfffffffffffffffelu) {
        return iw_fma64(a, b, bitcast<f64>(0x8000000000000000lu));
    }
    return r;
}

//@ iw_exact_mul_rn_f64: iw_exact_mul_f64
fn iw_exact_mul_rn_f64(a: f64, b: f64) -> f64 {
    return iw_exact_mul_f64(a, b);
}

//@ iw_value_order64:
// Integers in the order of the numbers, both zeros alike.
fn iw_value_order64(x: f64) -> i64 {
    let size = bitcast<i64>(x) & 0x7fffffffffffffffli;
    return select(size, -size, bitcast<i64>(x) < 0li);
}

//@ iw_ordered64:
// Whether neither is NaN.
fn iw_ordered64(a: f64, b: f64) -> bool {
    return max(bitcast<u64>(a) & 0x7ffffffffffffffflu, bitcast<u64>(b) & 0x7ffffffffffffffflu) <= 0x7ff0000000000000lu;
}

//@ iw_exact_lt_f64: iw_value_order64 iw_ordered64
fn iw_exact_lt_f64(a: f64, b: f64) -> bool {
    return (iw_value_order64(a) < iw_value_order64(b)) & iw_ordered64(a, b);
}

//@ iw_exact_le_f64: iw_value_order64 iw_ordered64
fn iw_exact_le_f64(a: f64, b: f64) -> bool {
    return (iw_value_order64(a) <= iw_value_order64(b)) & iw_ordered64(a, b);
}

//@ iw_exact_eq_f64: iw_value_order64 iw_ordered64
fn iw_exact_eq_f64(a: f64, b: f64) -> bool {
    return (iw_value_order64(a) == iw_value_order64(b)) & iw_ordered64(a, b);
}

//@ iw_exact_ne_f64: iw_exact_eq_f64
fn iw_exact_ne_f64(a: f64, b: f64) -> bool {
    return !iw_exact_eq_f64(a, b);
}

//@ iw_floor_bits64:
fn iw_floor_bits64(bits: u64) -> u64 {
    let size = bits & 0x7ffffffffffffffflu;
    let negative = bits > 0x8000000000000000lu;
    // The bits below the point; adding one above them carries into the exponent where it has to.
    let fraction = 0xffffffffffffflu >> ((u32(size >> 52u) - 1023u) & 63u);
    let down = select(0lu, fraction + 1lu, negative & ((bits & fraction) != 0lu));
    let whole = select((bits & ~fraction) + down, bits, size >= 0x4330000000000000lu);
    return select(whole, select(bits & 0x8000000000000000lu, 0xbff0000000000000lu, negative), size < 0x3ff0000000000000lu);
}

//@ iw_exact_floor_f64: iw_floor_bits64
fn iw_exact_floor_f64(x: f64) -> f64 {
    return bitcast<f64>(iw_floor_bits64(bitcast<u64>(x)));
}

//@ iw_exact_ceil_f64: iw_floor_bits64
fn iw_exact_ceil_f64(x: f64) -> f64 {
    return bitcast<f64>(iw_floor_bits64(bitcast<u64>(x) ^ 0x8000000000000000lu) ^ 0x8000000000000000lu);
}

//@ iw_exact_cast_f64_bool:
fn iw_exact_cast_f64_bool(x: f64) -> bool {
    return (bitcast<u64>(x) << 1u) != 0lu;
}

//@ iw_exact_cast_f64_f32:
fn iw_exact_cast_f64_f32(x: f64) -> f32 {
    let bits = bitcast<u64>(x);
    let size = bits & 0x7ffffffffffffffflu;
    let sign = u32(bits >> 32u) & 0x80000000u;
    // One less than the exponent of the result, to which the highest bit adds one; below it more bits fall off.
    let e = i32(u32(size >> 52u)) - 897i;
    let shift = 29u + u32(clamp(-e, 0i, 26i));
    let significand = (size & 0xffffffffffffflu) | 0x10000000000000lu;
    let kept = u32(significand >> shift);
    let rest = significand & ((1lu << shift) - 1lu);
    let half = 1lu << (shift - 1u);
    let up = (rest > half) | ((rest == half) & ((kept & 1u) != 0u));
    let rounded = (u32(max(e, 0i)) << 23u) + kept + select(0u, 1u, up);
    let finite = select(rounded, 0x7f800000u, size >= 0x47f0000000000000lu);
    return bitcast<f32>(select(sign | finite, 0x7fc00000u, size > 0x7ff0000000000000lu));
}

//@ iw_exact_cast_f32_f64: iw_exact_leading_zeros_u32
fn iw_exact_cast_f32_f64(x: f32) -> f64 {
    let bits = bitcast<u32>(x);
    let size = bits & 0x7fffffffu;
    let zeros = iw_exact_leading_zeros_u32(size);
    let subnormal = (u64(905u - zeros) << 52u) | ((u64(size) << (21u + zeros)) & 0xffffffffffffflu);
    let normal = (u64(size) << 29u) + 0x3800000000000000lu;
    let number = select(normal, select(subnormal, 0lu, size == 0u), size < 0x800000u);
    let special = select(0x7ff0000000000000lu, 0x7ff8000000000000lu, size > 0x7f800000u);
    return bitcast<f64>((u64(bits & 0x80000000u) << 32u) | select(number, special, size >= 0x7f800000u));
}
