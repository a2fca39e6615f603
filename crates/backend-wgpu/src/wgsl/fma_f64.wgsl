// iw_fma: a*b + c rounded once, through f64. The product is exact (48 bits); the sum is rounded to 53 bits and then to 24, which
// goes wrong only where the first rounding lands on a midpoint of two f32. The error term of the sum says on which side of the
// midpoint the exact value lies.
fn iw_fma(a: f32, b: f32, c: f32) -> f32 {
    let p = f64(a) * f64(b);
    let z = f64(c);
    let s = p + z;
    let t = s - p;
    let e = (p - (s - t)) + (z - t);
    let r = f32(s);
    // Exact already; also NaN and infinity, where e is NaN.
    if !(abs(e) > 0.0lf) {
        return r;
    }
    // From halfway between the largest f32 and 2^128 on, the neighbour is no f32.
    if abs(s) >= 340282356779733661637539395458142568448.0lf {
        let inward = (abs(s) == 340282356779733661637539395458142568448.0lf) & ((e < 0.0lf) != (s < 0.0lf));
        return select(r, bitcast<f32>((bitcast<u32>(r) & 0x80000000u) | 0x7f7fffffu), inward);
    }
    let d = s - f64(r);
    let other = f32(s + d);
    if (d == 0.0lf) | (f64(other) != s + d) {
        return r;
    }
    return select(r, other, (e > 0.0lf) == (d > 0.0lf));
}
