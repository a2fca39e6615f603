// iw_fma64: a*b + c rounded once to nearest even, in 64-bit integers: exact for every input, subnormals included.
// 128-bit values are vec2<u64>(low, high). After Hauser, Berkeley SoftFloat 3e, f64_mulAdd.
fn iw_fma64(a: f64, b: f64, c: f64) -> f64 {
    return bitcast<f64>(iw_fma64_bits(bitcast<u64>(a), bitcast<u64>(b), bitcast<u64>(c)));
}

fn iw_clz64(v: u64) -> u32 {
    let high = u32(v >> 32u);
    return select(countLeadingZeros(high), 32u + countLeadingZeros(u32(v & 0xfffffffflu)), high == 0u);
}

fn iw_mul128(a: u64, b: u64) -> vec2<u64> {
    let al = a & 0xfffffffflu;
    let ah = a >> 32u;
    let bl = b & 0xfffffffflu;
    let bh = b >> 32u;
    let ll = al * bl;
    let lh = al * bh;
    let hl = ah * bl;
    let mid = (ll >> 32u) + (lh & 0xfffffffflu) + (hl & 0xfffffffflu);
    return vec2<u64>((mid << 32u) | (ll & 0xfffffffflu), ah * bh + (lh >> 32u) + (hl >> 32u) + (mid >> 32u));
}

fn iw_add128(a: vec2<u64>, b: vec2<u64>) -> vec2<u64> {
    let low = a.x + b.x;
    return vec2<u64>(low, a.y + b.y + select(0lu, 1lu, low < a.x));
}

fn iw_sub128(a: vec2<u64>, b: vec2<u64>) -> vec2<u64> {
    return vec2<u64>(a.x - b.x, a.y - b.y - select(0lu, 1lu, a.x < b.x));
}

// Shifts right; what falls off is kept as a sticky lowest bit.
fn iw_shr128_sticky(v: vec2<u64>, n: u32) -> vec2<u64> {
    if n == 0u {
        return v;
    }
    if n < 64u {
        let lost = v.x << (64u - n);
        return vec2<u64>((v.x >> n) | (v.y << (64u - n)) | select(0lu, 1lu, lost != 0lu), v.y >> n);
    }
    if n == 64u {
        return vec2<u64>(v.y | select(0lu, 1lu, v.x != 0lu), 0lu);
    }
    if n < 128u {
        let lost = (v.y << (128u - n)) | v.x;
        return vec2<u64>((v.y >> (n - 64u)) | select(0lu, 1lu, lost != 0lu), 0lu);
    }
    return vec2<u64>(select(0lu, 1lu, (v.x | v.y) != 0lu), 0lu);
}

// Rounds a significand with its leading one at bit 62 (bits 9..0 are the fraction to round away); `exponent` is one below the
// biased exponent, since the leading one is added to it.
fn iw_round_pack64(sign: u64, exponent: i32, significand: u64) -> u64 {
    var e = exponent;
    var m = significand;
    if e < 0 {
        m = iw_shr128_sticky(vec2<u64>(m, 0lu), u32(-e)).x;
        e = 0;
    } else if (e > 0x7fd) | ((e == 0x7fd) & (m + 0x200lu >= 0x8000000000000000lu)) {
        return sign | 0x7ff0000000000000lu;
    }
    let tie = (m & 0x3fflu) == 0x200lu;
    m = (m + 0x200lu) >> 10u;
    if tie {
        m = m & 0xfffffffffffffffelu;
    }
    if m == 0lu {
        return sign;
    }
    return sign + (u64(u32(e)) << 52u) + m;
}

fn iw_fma64_bits(a: u64, b: u64, c: u64) -> u64 {
    let product_sign = (a ^ b) & 0x8000000000000000lu;
    let c_sign = c & 0x8000000000000000lu;
    let abs_a = a & 0x7ffffffffffffffflu;
    let abs_b = b & 0x7ffffffffffffffflu;
    let abs_c = c & 0x7ffffffffffffffflu;
    let most = max(abs_a, max(abs_b, abs_c));
    if most >= 0x7ff0000000000000lu {
        if most > 0x7ff0000000000000lu {
            return 0x7ff8000000000000lu;
        }
        if max(abs_a, abs_b) < 0x7ff0000000000000lu {
            return c;
        }
        if (min(abs_a, abs_b) == 0lu) | ((abs_c == 0x7ff0000000000000lu) & (c_sign != product_sign)) {
            return 0x7ff8000000000000lu;
        }
        return product_sign | 0x7ff0000000000000lu;
    }
    if min(abs_a, abs_b) == 0lu {
        if (abs_c != 0lu) | (c_sign == product_sign) {
            return c;
        }
        return 0lu;
    }
    var ea = i32(u32(abs_a >> 52u));
    var ma = abs_a & 0xffffffffffffflu;
    if ea == 0 {
        let shift = iw_clz64(ma) - 11u;
        ea = 1 - i32(shift);
        ma = ma << shift;
    }
    var eb = i32(u32(abs_b >> 52u));
    var mb = abs_b & 0xffffffffffffflu;
    if eb == 0 {
        let shift = iw_clz64(mb) - 11u;
        eb = 1 - i32(shift);
        mb = mb << shift;
    }
    var ep = ea + eb - 0x3fe;
    var product = iw_mul128((ma | 0x10000000000000lu) << 10u, (mb | 0x10000000000000lu) << 10u);
    if product.y < 0x2000000000000000lu {
        ep -= 1;
        product = iw_add128(product, product);
    }
    if abs_c == 0lu {
        return iw_round_pack64(product_sign, ep - 1, iw_shr128_sticky(product, 63u).x);
    }
    var ec = i32(u32(abs_c >> 52u));
    var mc = abs_c & 0xffffffffffffflu;
    if ec == 0 {
        let shift = iw_clz64(mc) - 11u;
        ec = 1 - i32(shift);
        mc = mc << shift;
    }
    let addend = vec2<u64>(0lu, (mc | 0x10000000000000lu) << 9u);
    let gap = ep - ec;
    if product_sign == c_sign {
        var exponent = max(ep, ec);
        var sum: vec2<u64>;
        if gap <= 0 {
            sum = iw_add128(addend, iw_shr128_sticky(product, u32(-gap)));
        } else {
            sum = iw_add128(product, iw_shr128_sticky(addend, u32(gap)));
        }
        var m = iw_shr128_sticky(sum, 64u).x;
        if m < 0x4000000000000000lu {
            exponent -= 1;
            m = m << 1u;
        }
        return iw_round_pack64(product_sign, exponent, m);
    }
    var sign = product_sign;
    var exponent = ep;
    var difference: vec2<u64>;
    if gap < 0 {
        sign = c_sign;
        exponent = ec;
        difference = iw_sub128(addend, iw_shr128_sticky(product, u32(-gap)));
    } else if gap == 0 {
        difference = iw_sub128(product, addend);
        if (difference.x | difference.y) == 0lu {
            return 0lu;
        }
        if (difference.y & 0x8000000000000000lu) != 0lu {
            sign = sign ^ 0x8000000000000000lu;
            difference = iw_sub128(vec2<u64>(0lu, 0lu), difference);
        }
    } else {
        difference = iw_sub128(product, iw_shr128_sticky(addend, u32(gap)));
    }
    let zeros = select(iw_clz64(difference.y), 64u + iw_clz64(difference.x), difference.y == 0lu);
    let shift = i32(zeros) - 1;
    exponent -= shift;
    if shift < 64 {
        return iw_round_pack64(sign, exponent, iw_shr128_sticky(difference, u32(64 - shift)).x);
    }
    return iw_round_pack64(sign, exponent, difference.x << u32(shift - 64));
}
