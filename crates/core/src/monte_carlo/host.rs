//! Functions of f64 on the host. `exp` is made of operations that IEEE 754 rounds in one way only: the same bits on every machine. `normal_below` takes the
//! platform's exponential, whose last digits may differ.

/// `e^x`, within 2 ULP, for finite `x`: `2^n e^r` by Taylor's series of `r` below 0.35.
pub(super) fn exp(x: f64) -> f64 {
    const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    if x < -745.2 {
        return 0.0;
    }
    if x > 709.79 {
        return f64::INFINITY;
    }
    let n = (x * core::f64::consts::LOG2_E).round();
    let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    let series = (1..=14).rev().fold(1.0, |sum, k| 1.0 + sum * r / f64::from(k));
    // Two powers, each of which is a normal number.
    let power = |k: i32| f64::from_bits(((1023 + k) as u64) << 52);
    let n = n as i32;
    series * power(n / 2) * power(n - n / 2)
}

/// The standard normal distribution: Marsaglia's series up to 6, beyond which it is 0 or 1 to 9 digits, by its continued fraction.
pub(super) fn normal_below(x: f64) -> f64 {
    let density = (-x * x / 2.0).exp() / core::f64::consts::TAU.sqrt();
    if x.abs() > 6.0 {
        let tail = (1..=40).rev().fold(x.abs(), |fraction, k| x.abs() + f64::from(k) / fraction);
        let beyond = if density == 0.0 { 0.0 } else { density / tail };
        return if x > 0.0 { 1.0 - beyond } else { beyond };
    }
    if x.is_nan() {
        return x;
    }
    let (mut term, mut sum, mut k) = (x, 0.0, 1.0);
    while sum + term != sum {
        sum += term;
        k += 2.0;
        term *= x * x / k;
    }
    0.5 + density * sum
}

#[cfg(test)]
mod tests {
    #[test]
    fn exponentials_are_within_two_units_of_the_last_place() {
        for k in -700_000..700_000i32 {
            let x = f64::from(k) * 1.000_7e-3;
            let (found, expected) = (super::exp(x), x.exp());
            assert!(found.to_bits().abs_diff(expected.to_bits()) <= 2, "{x}: {found} {expected}");
        }
        assert_eq!([super::exp(0.0), super::exp(-800.0), super::exp(800.0)], [1.0, 0.0, f64::INFINITY]);
    }

    /// Of Abramowitz and Stegun, *Handbook of Mathematical Functions*, table 26.1.
    #[test]
    fn the_normal_distribution_is_that_of_the_table() {
        let table = [(0.0, 0.5), (1.0, 0.841_344_746_068_543), (2.5, 0.993_790_334_674_224), (-3.0, 0.001_349_898_031_630_1)];
        for (x, expected) in table {
            assert!((super::normal_below(x) - expected).abs() < 1e-14, "{x}");
        }
        assert!((super::normal_below(-7.0) / 1.279_812_543_885_835e-12 - 1.0).abs() < 1e-10);
        assert_eq!([super::normal_below(f64::NEG_INFINITY), super::normal_below(60.0)], [0.0, 1.0]);
    }
}
