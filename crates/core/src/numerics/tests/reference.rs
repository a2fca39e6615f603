//! References in f64, and the distance to them in units in the last place. Shared by the tests and `examples/ulp.rs`.

/// The value of the function `name` at x (and y), to well below a thousandth of an f32 ULP.
pub(crate) fn reference(name: &str, x: f64, y: f64) -> f64 {
    match name {
        "exp" => x.exp(),
        "exp2" => x.exp2(),
        "expm1" => x.exp_m1(),
        "log" => x.ln(),
        "log2" => x.log2(),
        "log10" => x.log10(),
        "log1p" => x.ln_1p(),
        "sin" => x.sin(),
        "cos" => x.cos(),
        "tan" => x.tan(),
        "asin" => x.asin(),
        "acos" => x.acos(),
        "atan" => x.atan(),
        "sinh" => x.sinh(),
        "cosh" => x.cosh(),
        "tanh" => x.tanh(),
        "sqrt" => x.sqrt(),
        "rsqrt" => 1.0 / x.sqrt(),
        "cbrt" => x.cbrt(),
        "erf" => erf(x),
        "div" => x / y,
        "pow" => x.powf(y),
        "atan2" => x.atan2(y),
        _ => f64::NAN,
    }
}

/// The error function: the series of Abramowitz & Stegun 7.1.6, whose terms are all positive, and the continued
/// fraction 7.1.14 of its complement from 3 on.
fn erf(x: f64) -> f64 {
    let a = x.abs();
    let value = if a < 3.0 {
        let (mut term, mut sum) = (a, a);
        let mut n = 0.0;
        while term > sum * 1e-18 {
            n += 1.0;
            term *= 2.0 * a * a / (2.0 * n + 1.0);
            sum += term;
        }
        std::f64::consts::FRAC_2_SQRT_PI * (-a * a).exp() * sum
    } else {
        let tail = (1..=60).rev().fold(a, |t, k| a + f64::from(k) * 0.5 / t);
        1.0 - (-a * a).exp() / (tail * std::f64::consts::PI.sqrt())
    };
    if x.is_nan() { x } else { value.copysign(x) }
}

/// |got - want| in units in the last place of `want` as an f32; infinity counts as 2^128, and a NaN or a zero of the
/// wrong sign on one side only is infinitely wrong.
pub(crate) fn ulp_error(got: f32, want: f64) -> f64 {
    if got.is_nan() || want.is_nan() {
        return if got.is_nan() && want.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if (got == 0.0 || want == 0.0) && got.is_sign_negative() != want.is_sign_negative() {
        return f64::INFINITY;
    }
    let limit = 2f64.powi(128);
    let want = want.clamp(-limit, limit);
    let got = f64::from(got).clamp(-limit, limit);
    let exponent = (want.abs().to_bits() >> 52) as i64 - 1023;
    let unit_exponent = exponent.clamp(-126, 127) - 23;
    let unit = f64::from_bits(((unit_exponent + 1023) as u64) << 52);
    (got - want).abs() / unit
}
