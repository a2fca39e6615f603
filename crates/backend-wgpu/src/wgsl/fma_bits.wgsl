
// a*b + c of the bits of three floats. 64-bit values are vec2<u32>(low, high). After Hauser, Berkeley SoftFloat 3e, f32_mulAdd.
fn iw_mul64(a: u32, b: u32) -> vec2<u32> {
    let al = a & 0xffffu;
    let ah = a >> 16u;
    let bl = b & 0xffffu;
    let bh = b >> 16u;
    let ll = al * bl;
    let lh = al * bh;
    let hl = ah * bl;
    let mid = (ll >> 16u) + (lh & 0xffffu) + (hl & 0xffffu);
    return vec2<u32>((mid << 16u) | (ll & 0xffffu), ah * bh + (lh >> 16u) + (hl >> 16u) + (mid >> 16u));
}

fn iw_add64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn iw_sub64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

// Shifts right; what falls off is kept as a sticky lowest bit.
fn iw_shr64_sticky(v: vec2<u32>, n: u32) -> vec2<u32> {
    if n == 0u {
        return v;
    }
    if n < 32u {
        let lost = v.x << (32u - n);
        return vec2<u32>((v.x >> n) | (v.y << (32u - n)) | select(0u, 1u, lost != 0u), v.y >> n);
    }
    if n == 32u {
        return vec2<u32>(v.y | select(0u, 1u, v.x != 0u), 0u);
    }
    if n < 64u {
        let lost = (v.y << (64u - n)) | v.x;
        return vec2<u32>((v.y >> (n - 32u)) | select(0u, 1u, lost != 0u), 0u);
    }
    return vec2<u32>(select(0u, 1u, (v.x | v.y) != 0u), 0u);
}

// Rounds a significand with its leading one at bit 30 (bits 6..0 are the fraction to round away); `exponent` is one below the
// biased exponent, since the leading one is added to it.
fn iw_round_pack(sign: u32, exponent: i32, significand: u32) -> u32 {
    var e = exponent;
    var m = significand;
    if e < 0 {
        m = iw_shr64_sticky(vec2<u32>(m, 0u), u32(-e)).x;
        e = 0;
    } else if e > 0xfd || (e == 0xfd && m + 0x40u >= 0x80000000u) {
        return sign | 0x7f800000u;
    }
    let tie = (m & 0x7fu) == 0x40u;
    m = (m + 0x40u) >> 7u;
    if tie {
        m &= 0xfffffffeu;
    }
    if m == 0u {
        return sign;
    }
    return sign + (u32(e) << 23u) + m;
}

fn iw_fma_bits(a: u32, b: u32, c: u32) -> u32 {
    let product_sign = (a ^ b) & 0x80000000u;
    let c_sign = c & 0x80000000u;
    let abs_a = a & 0x7fffffffu;
    let abs_b = b & 0x7fffffffu;
    let abs_c = c & 0x7fffffffu;
    if max(abs_a, max(abs_b, abs_c)) >= 0x7f800000u {
        if max(abs_a, max(abs_b, abs_c)) > 0x7f800000u {
            return 0x7fc00000u;
        }
        if max(abs_a, abs_b) < 0x7f800000u {
            return c;
        }
        if min(abs_a, abs_b) == 0u || (abs_c == 0x7f800000u && c_sign != product_sign) {
            return 0x7fc00000u;
        }
        return product_sign | 0x7f800000u;
    }
    if min(abs_a, abs_b) == 0u {
        if abs_c != 0u || c_sign == product_sign {
            return c;
        }
        return 0u;
    }
    var ea = i32(abs_a >> 23u);
    var ma = abs_a & 0x7fffffu;
    if ea == 0 {
        let shift = countLeadingZeros(ma) - 8u;
        ea = 1 - i32(shift);
        ma = ma << shift;
    }
    var eb = i32(abs_b >> 23u);
    var mb = abs_b & 0x7fffffu;
    if eb == 0 {
        let shift = countLeadingZeros(mb) - 8u;
        eb = 1 - i32(shift);
        mb = mb << shift;
    }
    var ep = ea + eb - 0x7e;
    var product = iw_mul64((ma | 0x800000u) << 7u, (mb | 0x800000u) << 7u);
    if product.y < 0x20000000u {
        ep -= 1;
        product = iw_add64(product, product);
    }
    if abs_c == 0u {
        return iw_round_pack(product_sign, ep - 1, iw_shr64_sticky(product, 31u).x);
    }
    var ec = i32(abs_c >> 23u);
    var mc = abs_c & 0x7fffffu;
    if ec == 0 {
        let shift = countLeadingZeros(mc) - 8u;
        ec = 1 - i32(shift);
        mc = mc << shift;
    }
    let addend = vec2<u32>(0u, (mc | 0x800000u) << 6u);
    let gap = ep - ec;
    if product_sign == c_sign {
        var exponent = max(ep, ec);
        var sum: vec2<u32>;
        if gap <= 0 {
            sum = iw_add64(addend, iw_shr64_sticky(product, u32(-gap)));
        } else {
            sum = iw_add64(product, iw_shr64_sticky(addend, u32(gap)));
        }
        var m = iw_shr64_sticky(sum, 32u).x;
        if m < 0x40000000u {
            exponent -= 1;
            m = m << 1u;
        }
        return iw_round_pack(product_sign, exponent, m);
    }
    var sign = product_sign;
    var exponent = ep;
    var difference: vec2<u32>;
    if gap < 0 {
        sign = c_sign;
        exponent = ec;
        difference = iw_sub64(addend, iw_shr64_sticky(product, u32(-gap)));
    } else if gap == 0 {
        difference = iw_sub64(product, addend);
        if (difference.x | difference.y) == 0u {
            return 0u;
        }
        if (difference.y & 0x80000000u) != 0u {
            sign ^= 0x80000000u;
            difference = iw_sub64(vec2<u32>(0u, 0u), difference);
        }
    } else {
        difference = iw_sub64(product, iw_shr64_sticky(addend, u32(gap)));
    }
    let zeros = select(countLeadingZeros(difference.y), 32u + countLeadingZeros(difference.x), difference.y == 0u);
    let shift = i32(zeros) - 1;
    exponent -= shift;
    if shift < 32 {
        return iw_round_pack(sign, exponent, iw_shr64_sticky(difference, u32(32 - shift)).x);
    }
    return iw_round_pack(sign, exponent, difference.x << u32(shift - 32));
}
