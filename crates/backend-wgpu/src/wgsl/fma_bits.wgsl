
// a*b + c of the bits of three floats. 64-bit values are vec2<u32>(low, high). After Hauser, Berkeley SoftFloat 3e, f32_mulAdd, with one way
// for sums and differences, so that each step stands in a kernel once.
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

// Shifts right by at most 63; what falls off is kept as a sticky lowest bit.
fn iw_shr64_sticky(v: vec2<u32>, n: u32) -> vec2<u32> {
    let far = n >= 32u;
    let high = select(v.y, 0u, far);
    let low = select(v.x, v.y, far);
    let below = select(0u, v.x, far);
    let s = n & 31u;
    let lost = below | (low & ((1u << s) - 1u));
    return vec2<u32>((low >> s) | ((high << 1u) << (31u - s)) | select(0u, 1u, lost != 0u), high >> s);
}

// Significand, without the leading one of normal numbers, and biased exponent of a finite number that is not zero: (significand, exponent).
fn iw_split(size: u32) -> vec2<u32> {
    let shift = countLeadingZeros(size) - 8u;
    return select(vec2<u32>(size & 0x7fffffu, size >> 23u), vec2<u32>(size << (shift & 31u), 1u - shift), size < 0x800000u);
}

fn iw_fma_bits(a: u32, b: u32, c: u32) -> u32 {
    let product_sign = (a ^ b) & 0x80000000u;
    let c_sign = c & 0x80000000u;
    let abs_a = a & 0x7fffffffu;
    let abs_b = b & 0x7fffffffu;
    let abs_c = c & 0x7fffffffu;
    let fa = iw_split(abs_a);
    let fb = iw_split(abs_b);
    let fc = iw_split(abs_c);
    let wide = iw_mul64((fa.x | 0x800000u) << 7u, (fb.x | 0x800000u) << 7u);
    // Leading ones at bit 61; no addend has the product's exponent.
    let short = wide.y < 0x20000000u;
    let product = select(wide, vec2<u32>(wide.x << 1u, (wide.y << 1u) | (wide.x >> 31u)), short);
    let ep = i32(fa.y + fb.y) - select(0x7e, 0x7f, short);
    let addend = vec2<u32>(0u, select((fc.x | 0x800000u) << 6u, 0u, abs_c == 0u));
    let ec = select(i32(fc.y), ep, abs_c == 0u);
    let gap = ep - ec;
    // The addend has no low word.
    let swapped = (gap < 0) | ((gap == 0) & (product.y < addend.y));
    let larger = select(product, addend, swapped);
    let smaller = iw_shr64_sticky(select(addend, product, swapped), min(u32(abs(gap)), 63u));
    let minus = product_sign != c_sign;
    let low = select(larger.x + smaller.x, larger.x - smaller.x, minus);
    let carry = select(u32(low < larger.x), u32(larger.x < smaller.x), minus);
    let high = select(larger.y + smaller.y + carry, larger.y - smaller.y - carry, minus);
    let sign = select(product_sign, c_sign, swapped);
    // The leading one goes to bit 62: bits 6..0 of the upper word and all of the lower one are rounded away.
    let zeros = select(countLeadingZeros(high), 32u + countLeadingZeros(low), high == 0u);
    let far = zeros > 32u;
    let s = (zeros - 1u) & 31u;
    let upper = select(high, low, far);
    let lower = select(low, 0u, far);
    let significand = (upper << s) | ((lower >> 1u) >> (31u - s)) | select(0u, 1u, (lower << s) != 0u);
    // One below the biased exponent, since the leading one is added to it.
    let scale = max(ep, ec) - i32(zeros - 1u);
    let n = u32(clamp(-scale, 0, 31));
    let m = (significand >> n) | select(0u, 1u, (significand & ((1u << n) - 1u)) != 0u);
    let e = max(scale, 0);
    let rounded = ((m + 0x40u) >> 7u) & ~u32((m & 0x7fu) == 0x40u);
    let whole = select(0u, u32(e) << 23u, rounded != 0u) + rounded;
    let finite = sign | select(whole, 0x7f800000u, (e > 0xfd) | ((e == 0xfd) & (m + 0x40u >= 0x80000000u)));
    let sum = select(finite, 0u, (low | high) == 0u);
    // Of a product that is zero the addend is left, and of what is no number no digits count.
    let added = select(sum, select(0u, c, (abs_c != 0u) | (c_sign == product_sign)), min(abs_a, abs_b) == 0u);
    let greatest = max(abs_a, max(abs_b, abs_c));
    let invalid = (min(abs_a, abs_b) == 0u) | ((abs_c == 0x7f800000u) & (c_sign != product_sign));
    let infinite = select(select(product_sign | 0x7f800000u, 0x7fc00000u, invalid), c, max(abs_a, abs_b) < 0x7f800000u);
    return select(added, select(infinite, 0x7fc00000u, greatest > 0x7f800000u), greatest >= 0x7f800000u);
}
