//! Even bins: which of them a sample falls into, by arithmetic that every device has.

use crate::backend::{Backend, Leaf};
use crate::element::{Num, Scalar, Ty};
use crate::error::{Error, Result};
use crate::input::Collector;
use crate::ir::{Expr, Param, lit, select};

/// A type that even bins are laid over: integers (`u32` also for `u8` and `u16`, `i32` for `i8` and `i16`) and floats (`f32` also for `f16`).
pub trait Sample: Scalar + Num {
    #[doc(hidden)]
    fn rule(lower: Self, upper: Self, bins: u32) -> Result<Rule>;
    #[doc(hidden)]
    fn bin(x: Expr<Self>, rule: &Rule, next: &mut Next<'_>) -> Expr<u32>;
}

/// How a sample becomes the number of its bin; numbers that are known when it is asked for, so that one kernel serves all bounds.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Rule {
    form: Form,
    values: Vec<(Ty, u64)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// The sample itself, or its distance from the lower bound; whole bins of a power of two.
    Shift { from_zero: bool, by_one: bool },
    /// Likewise, but the last bin is one shorter: the whole of a type, whose last value no bound is above.
    Short,
    /// Bins of any width: the high word of a product.
    Scale,
    /// The same of distances beyond 32 bits: that product of their highest 32, and one more where the next bin has begun.
    Wide,
    /// Floats.
    Float,
}

/// Where the numbers of a rule come from: parameters of the kernel, or constants in it.
#[doc(hidden)]
#[derive(Debug)]
pub enum Next<'a> {
    /// Parameters from this one on.
    Params(&'a mut u16),
    /// The rule's own, from this one on.
    Constants(usize),
}

impl Rule {
    fn take<T: Scalar>(&self, next: &mut Next<'_>) -> Expr<T> {
        match next {
            Next::Params(k) => {
                let param = **k;
                **k += 1;
                crate::ir::Traced::params(param)
            }
            Next::Constants(at) => {
                *at += 1;
                lit(T::from_bits64(self.values[*at - 1].1))
            }
        }
    }

    /// Adds the numbers to the kernel's parameters.
    pub(super) fn collect<B: Backend>(&self, c: &mut Collector<B>) -> Result<()> {
        self.values.iter().try_for_each(|&(ty, bits)| c.push(None, ty.dtype(), Param::Value(ty), Leaf::Value { bits }))
    }
}

/// The shift that makes bins of distances below `range`, if there is one that keeps distances in `bits`: where bins are a power of two wide, and
/// where they would be if `range` were one more. Then bin `k` begins at `k * 2^shift - k / bins`, rounded up, and `k` is less than `bins`.
fn shift(range: u64, bins: u64, bits: u32) -> Option<(u32, Form)> {
    let power = |range: u128| {
        let width = range / u128::from(bins);
        (range.is_multiple_of(bins.into()) && width.is_power_of_two() && width.trailing_zeros() < bits).then(|| width.trailing_zeros())
    };
    let whole = power(range.into()).map(|s| (s, Form::Shift { from_zero: false, by_one: false }));
    whole.or_else(|| power(u128::from(range) + 1).filter(|&s| s > 0).map(|s| (s, Form::Short)))
}

/// The rule for integers that lie `lower..lower + range`, as words.
fn integers(lower: u32, range: u64, bins: u32) -> Result<Rule> {
    let bins = u64::from(bins);
    if range < bins {
        let reason = format!("{bins} bins over {range} integers; a bin has to be one wide");
        return Err(Error::InvalidArgument { what: "bounds", reason });
    }
    let word = |v: u32| (Ty::U32, u64::from(v));
    match shift(range, bins, u32::BITS) {
        Some((by, Form::Short)) => return Ok(Rule { form: Form::Short, values: vec![word(lower), word(range as u32), word(by)] }),
        Some((by, _)) => {
            let (from_zero, by_one) = (lower == 0, by == 0);
            let mut values = Vec::new();
            if !from_zero {
                values.push(word(lower));
            }
            if !by_one {
                values.push(word(by));
            }
            return Ok(Rule { form: Form::Shift { from_zero, by_one }, values });
        }
        None => {}
    }
    // bins / range as a binary fraction of 64 bits, rounded up: the product with a distance is above the quotient by less than what parts it
    // from the next whole number, as distances are below 2^32.
    let scale = (u128::from(bins) << 64).div_ceil(u128::from(range)) as u64;
    Ok(Rule { form: Form::Scale, values: vec![word(lower), word(range as u32), word(scale as u32), word((scale >> 32) as u32)] })
}

/// The bin of an integer's word. A sample below the lower bound wraps around to a distance above the range, as bounds are below 2^32.
fn of_word(x: Expr<u32>, rule: &Rule, next: &mut Next<'_>) -> Expr<u32> {
    if let Form::Shift { from_zero, by_one } = rule.form {
        let d = if from_zero { x } else { x - rule.take::<u32>(next) };
        return if by_one { d } else { d >> rule.take::<u32>(next) };
    }
    let d = x - rule.take::<u32>(next);
    if rule.form == Form::Short {
        let range = rule.take::<u32>(next);
        return select(d.lt(range), d >> rule.take::<u32>(next), u32::MAX);
    }
    scaled(d, rule, next)
}

/// The bin of a distance, where bins are of any width.
fn scaled(d: Expr<u32>, rule: &Rule, next: &mut Next<'_>) -> Expr<u32> {
    let (range, low, high) = (rule.take::<u32>(next), rule.take::<u32>(next), rule.take::<u32>(next));
    let sum = d * high + d.mul_hi(low);
    let carry = sum.lt(d.mul_hi(low)).cast::<u32>();
    select(d.lt(range), d.mul_hi(high) + carry, u32::MAX)
}

/// The rule for 64-bit integers that lie `lower..lower + range`, where the range is 2^32 or more.
///
/// With a range of 32 bits and `shift` more, the highest 32 bits of a distance times `bins`, by one more than those of the range, are below the quotient
/// in question by less than 2^-9, so the product is its whole part or one less. Bin `k` begins at the whole number at or above `k * range / bins`, which is
/// `k * width` less the whole part of `k * rest / bins`, where `width` is a bin's rounded up and `rest` what all of them so have too much, less than `bins`.
fn wide(lower: u64, range: u64, bins: u32) -> Rule {
    let of = |part: u64, whole: u128| ((u128::from(part) << 64) / whole) as u64;
    let shift = u32::BITS - range.leading_zeros();
    let width = range.div_ceil(bins.into());
    let rest = (u128::from(width) * u128::from(bins) - u128::from(range)) as u64;
    // The product with this is rounded up, as in `integers`: bins are below 2^32, and so is what it is a fraction of.
    let begun = of(rest, bins.into()) + u64::from(!(u128::from(rest) << 64).is_multiple_of(bins.into()));
    let word = |v: u64| (Ty::U64, v);
    let values = vec![
        word(lower),
        word(range),
        (Ty::U32, shift.into()),
        word(of(bins.into(), u128::from(range >> shift) + 1)),
        word(width),
        word(begun),
    ];
    Rule { form: Form::Wide, values }
}

/// The bin of a distance by the rule of [`wide`], behind the lower bound.
fn of_wide(d: Expr<u64>, rule: &Rule, next: &mut Next<'_>) -> Expr<u32> {
    let (range, shift, scale) = (rule.take::<u64>(next), rule.take::<u32>(next), rule.take::<u64>(next));
    let (width, begun) = (rule.take::<u64>(next), rule.take::<u64>(next));
    let near = product(d.min(range) >> shift, scale);
    let k = near + 1;
    let begins = k.cast::<u64>() * width - product(k.cast(), begun).cast::<u64>();
    select(d.lt(range), select(d.lt(begins), near, k), u32::MAX)
}

/// The whole part of a number below 2^32 times a fraction of 64 bits.
fn product(x: Expr<u64>, fraction: Expr<u64>) -> Expr<u32> {
    let (x, low, high) = (x.cast::<u32>(), fraction.cast::<u32>(), (fraction >> 32).cast::<u32>());
    let sum = x * high + x.mul_hi(low);
    x.mul_hi(high) + sum.lt(x.mul_hi(low)).cast::<u32>()
}

fn empty(lower: impl std::fmt::Display, upper: impl std::fmt::Display) -> Error {
    Error::InvalidArgument { what: "bounds", reason: format!("the lower one, {lower}, has to be below the upper one, {upper}") }
}

impl Sample for u32 {
    fn rule(lower: u32, upper: u32, bins: u32) -> Result<Rule> {
        if lower >= upper {
            return Err(empty(lower, upper));
        }
        integers(lower, u64::from(upper - lower), bins)
    }
    fn bin(x: Expr<u32>, rule: &Rule, next: &mut Next<'_>) -> Expr<u32> {
        of_word(x, rule, next)
    }
}

impl Sample for i32 {
    fn rule(lower: i32, upper: i32, bins: u32) -> Result<Rule> {
        if lower >= upper {
            return Err(empty(lower, upper));
        }
        integers(lower as u32, u64::from(upper.abs_diff(lower)), bins)
    }
    fn bin(x: Expr<i32>, rule: &Rule, next: &mut Next<'_>) -> Expr<u32> {
        of_word(x.bitcast::<u32>(), rule, next)
    }
}

macro_rules! wide_sample {
    ($($t:ident)*) => {$(
        impl Sample for $t {
            fn rule(lower: $t, upper: $t, bins: u32) -> Result<Rule> {
                if lower >= upper {
                    return Err(empty(lower, upper));
                }
                let range = upper.wrapping_sub(lower) as u64;
                let bits = (Ty::U64, lower as u64);
                if let Some((by, form)) = shift(range, bins.into(), u64::BITS) {
                    let limit = (form == Form::Short).then_some((Ty::U64, range));
                    return Ok(Rule { form, values: [Some(bits), limit, Some((Ty::U32, by.into()))].into_iter().flatten().collect() });
                }
                if range > u64::from(u32::MAX) {
                    return Ok(wide(lower as u64, range, bins));
                }
                let mut rule = integers(1, range, bins)?;
                rule.values[0] = bits;
                Ok(rule)
            }
            fn bin(x: Expr<$t>, rule: &Rule, next: &mut Next<'_>) -> Expr<u32> {
                let d = x.bitcast::<u64>() - rule.take::<u64>(next);
                if rule.form == Form::Short {
                    let range = rule.take::<u64>(next);
                    return select(d.lt(range), (d >> rule.take::<u32>(next)).cast(), u32::MAX);
                }
                if rule.form == Form::Wide {
                    return of_wide(d, rule, next);
                }
                if let Form::Shift { .. } = rule.form {
                    return (d >> rule.take::<u32>(next)).min(u64::from(u32::MAX)).cast();
                }
                // A distance beyond 32 bits is the greatest, which is in no bin.
                scaled(d.min(u64::from(u32::MAX)).cast(), rule, next)
            }
        }
    )*};
}
wide_sample!(u64 i64);

macro_rules! float_sample {
    ($($t:ident)*) => {$(
        impl Sample for $t {
            fn rule(lower: $t, upper: $t, bins: u32) -> Result<Rule> {
                let scale = bins as $t / (upper - lower);
                if lower.partial_cmp(&upper) != Some(std::cmp::Ordering::Less) {
                    return Err(empty(lower, upper));
                }
                if !(upper - lower).is_finite() || !scale.is_finite() || !scale.is_normal() {
                    let reason = format!("{bins} bins between {lower} and {upper} have no width that {} can hold", stringify!($t));
                    return Err(Error::InvalidArgument { what: "bounds", reason });
                }
                let bits = |v: $t| ($t::TY, v.to_bits64());
                Ok(Rule { form: Form::Float, values: vec![bits(lower), bits(upper), bits(scale), (Ty::U32, u64::from(bins - 1))] })
            }
            fn bin(x: Expr<$t>, rule: &Rule, next: &mut Next<'_>) -> Expr<u32> {
                let (lower, upper, scale) = (rule.take::<$t>(next), rule.take::<$t>(next), rule.take::<$t>(next));
                let last = rule.take::<u32>(next);
                let bin = ((x - lower) * scale).cast::<u32>().min(last);
                select(x.ge(lower) & x.lt(upper), bin, u32::MAX)
            }
        }
    )*};
}
float_sample!(f32 f64);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Evaluator, trace};

    /// The bins of samples by the traced rule, with the rule's numbers as constants.
    fn bins<T: Sample>(lower: T, upper: T, count: u32, samples: &[T]) -> Vec<u32> {
        let rule = T::rule(lower, upper, count).expect("rule");
        let f = trace(|x: Expr<T>| T::bin(x, &rule, &mut Next::Constants(0))).expect("trace");
        let mut e = Evaluator::new(&f);
        samples
            .iter()
            .map(|x| {
                e.eval_one(&[x.to_bits64()]);
                e.result(0)[0] as u32
            })
            .collect()
    }

    #[test]
    fn integer_bins_are_the_rounded_down_quotient() {
        let mut ranges: Vec<(u32, u64, u32)> = vec![(0, 256, 256), (3, 10, 3), (0, u32::MAX.into(), 256), (5, 1 << 31, 1000)];
        ranges.extend([
            (0, u32::MAX.into(), 1 << 20),
            (7, (1 << 20) + 1, 1 << 20),
            (100, 65_536, 1),
            (1, 6, 5),
            (2, 7, 4),
            (0, (1 << 24) - 1, 3),
            (0, u32::MAX.into(), 1),
            (1 << 31, (1 << 31) - 1, 1 << 20),
            (9, 4_000_000_007, 999_983),
        ]);
        for (lower, range, count) in ranges {
            let edges = (0..=4096u64.min(u64::from(count))).map(|k| (k * range).div_ceil(u64::from(count)));
            let near = edges.flat_map(|e| [e.wrapping_sub(1), e, e + 1]).chain([0, range - 1, range, range / 2, range / 3]);
            let samples: Vec<u32> = near.filter(|&d| d <= range).map(|d| lower.wrapping_add(d as u32)).collect();
            let found = bins(lower, (u64::from(lower) + range) as u32, count, &samples);
            for (&x, &bin) in samples.iter().zip(&found) {
                let d = u64::from(x.wrapping_sub(lower));
                let wanted = if x >= lower && d < range { (d * u64::from(count) / range) as u32 } else { u32::MAX };
                assert!(bin == wanted || (wanted == u32::MAX && bin >= count), "{x} of {lower} + {range} in {count}: {bin}, not {wanted}");
            }
        }
    }

    #[test]
    fn signed_bins_are_those_of_their_distance() {
        let samples = [i32::MIN, -11, -10, -1, 0, 9, 10, i32::MAX];
        let found = bins(-10, 10, 4, &samples);
        assert_eq!(
            found.iter().map(|&b| (b < 4).then_some(b)).collect::<Vec<_>>(),
            [None, None, Some(0), Some(1), Some(2), Some(3), None, None]
        );
        assert_eq!(bins(i32::MIN, i32::MAX, 2, &[i32::MIN, -1, 0, i32::MAX - 1]), [0, 0, 1, 1]);
    }

    #[test]
    fn wide_bins_are_those_of_their_distance() {
        let far = 1i64 << 40;
        let samples = [i64::MIN, far - 11, far - 10, far - 1, far, far + 9, far + 10, i64::MAX];
        let found = bins(far - 10, far + 10, 3, &samples);
        let inside: Vec<_> = found.iter().map(|&b| (b < 3).then_some(b)).collect();
        assert_eq!(inside, [None, None, Some(0), Some(1), Some(1), Some(2), None, None]);
        assert_eq!(bins(0u64, 1 << 60, 16, &[0, 1 << 56, u64::MAX]), [0, 1, 255]);
        assert!(i64::rule(3, 3, 1).is_err() && u64::rule(0, 10, 11).is_err());
        // The whole of the type, but for its last value.
        assert_eq!(bins(0u64, u64::MAX, 16, &[0, (1 << 60) - 1, 1 << 60, u64::MAX - 1, u64::MAX]), [0, 0, 1, 15, u32::MAX]);
        assert_eq!(bins(i64::MIN, i64::MAX, 2, &[i64::MIN, -1, 0, i64::MAX - 1, i64::MAX]), [0, 0, 1, 1, u32::MAX]);
        assert_eq!(bins(10u64, 17, 4, &[9, 10, 12, 13, 14, 16, 17]), [u32::MAX, 0, 1, 1, 2, 3, u32::MAX]);
        assert!(u64::rule(0, 3, 4).is_err());
    }

    #[test]
    fn bins_of_any_range_are_the_rounded_down_quotient() {
        let widths = [1 << 32, (1 << 32) + 1, 10_000_000_000, (1 << 33) - 1, (1 << 40) + 12_345, (1 << 63) - 1, u64::MAX - 1, u64::MAX];
        for (range, count) in
            widths.into_iter().flat_map(|range| [1, 2, 3, 7, 10, 1000, 4095, 999_983, (1 << 20) - 1, 1 << 20].map(|n| (range, n)))
        {
            let (wide, n) = (u128::from(range), u128::from(count));
            let edges =
                (0..=200u128).map(|k| if k < 100 { k } else { n.saturating_sub(k - 100) }).filter(|&k| k <= n).chain([n / 2, n / 3]);
            let near = edges.map(|k| (k * wide).div_ceil(n) as u64).flat_map(|e| [e.wrapping_sub(1), e, e.wrapping_add(1)]);
            for lower in [0u64, 5].into_iter().filter(|&lower| lower.checked_add(range).is_some()) {
                let samples: Vec<u64> =
                    near.clone().chain([0, range / 2, range - 1, range, u64::MAX]).map(|d| d.wrapping_add(lower)).collect();
                for (&x, &bin) in samples.iter().zip(&bins(lower, lower + range, count, &samples)) {
                    let d = u128::from(x.wrapping_sub(lower));
                    let wanted = if x >= lower && d < wide { (d * n / wide) as u32 } else { u32::MAX };
                    assert!(
                        bin == wanted || (wanted == u32::MAX && bin >= count),
                        "{x} of {lower} + {range} in {count}: {bin}, not {wanted}"
                    );
                }
            }
        }
        let samples = [i64::MIN, -6_000_000_000, -5_999_999_999, 0, 1, i64::MAX];
        assert_eq!(bins(-6_000_000_000, i64::MAX, 3, &samples), [u32::MAX, 0, 0, 0, 0, u32::MAX]);
    }

    #[test]
    fn float_bins_are_half_open_and_hold_no_nan() {
        let samples = [-0.0, 0.1, 0.25, 0.999_999_94, 1.0, -1e-45, f32::NAN, f32::INFINITY];
        assert_eq!(bins(0.0, 1.0, 4, &samples), [0, 0, 1, 3, u32::MAX, u32::MAX, u32::MAX, u32::MAX]);
        // The product rounds up to the count of bins; the sample is still in the last one.
        assert_eq!(bins(0.0f32, 0.3, 3, &[0.3f32.next_down()]), [2]);
    }

    #[test]
    fn bounds_without_room_are_refused() {
        assert!(u32::rule(5, 5, 1).is_err() && i32::rule(1, -1, 2).is_err() && u32::rule(0, 10, 11).is_err());
        assert!(f32::rule(1.0, f32::NAN, 2).is_err() && f32::rule(f32::MIN, f32::MAX, 2).is_err());
        assert!(f32::rule(0.0, f32::INFINITY, 2).is_err() && f64::rule(0.0, 5e-324, 2).is_err());
    }
}
