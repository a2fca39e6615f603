//! Even bins: which of them a sample falls into, by arithmetic that every device has.

use super::bounds;
use super::even_floats::{self, near};
use crate::backend::{Backend, Leaf};
use crate::buffer::Memory as _;
use crate::element::{DType, Element, Num, Scalar, Ty};
use crate::error::{Error, Result};
use crate::input::{Collector, Input as _, array};
use crate::ir::{ArrayExpr, Expr, Param, array_expr, lit, select};

/// A type that even bins are laid over: integers (`u32` also for `u8` and `u16`, `i32` for `i8` and `i16`) and floats (`f32` also for `f16`).
pub trait Sample: Element<Reg = Self> + Scalar + Num {
    /// Bins from `lower` to below `upper`, or to `upper` itself.
    #[doc(hidden)]
    fn rule(lower: Self, upper: Self, bins: u32, inclusive: bool) -> Result<Rule>;
    /// The same of bounds as decimal numbers, which need not be of this type, for samples that are stored as another.
    #[doc(hidden)]
    fn rule_of_text(bounds: [&str; 2], bins: u32, inclusive: bool, stored: DType) -> Result<Rule>;
    /// Least sample in bins between bounds as decimal numbers.
    #[doc(hidden)]
    fn least_of_text(bounds: [&str; 2], bins: u32, inclusive: bool, stored: DType) -> Result<Self>;
    #[doc(hidden)]
    fn bin(x: Expr<Self>, rule: &Rule, next: &mut Next<'_>) -> Expr<u32>;
}

/// Rule by which a sample becomes the number of its bin; numbers that are known when it is asked for, so that one kernel serves all bounds.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Rule {
    pub(super) form: Form,
    pub(super) values: Vec<(Ty, u64)>,
    /// Edges that the kernel looks at, of the samples' type; none where arithmetic alone says the bin.
    pub(super) edges: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// The sample itself, or its distance from the lower bound; whole bins of a power of two.
    Shift { from_zero: bool, by_one: bool },
    /// Likewise, but the last bin is one shorter: the whole of a type but for its last value.
    Short,
    /// Bins of any width: the high word of a product.
    Scale,
    /// The same over all values of a type.
    High,
    /// The same of distances beyond 32 bits: that product of their highest 32, and one more where the next bin has begun.
    Wide,
    /// Floats whose product with a scale is exact.
    Exact,
    /// Floats: where the product is near a whole number, the edge there decides.
    Near,
    /// A search of the edges.
    Search,
}

/// Where the numbers of a rule come from: parameters of the kernel, or constants in it. Edges are parameters always.
#[doc(hidden)]
#[derive(Debug)]
pub struct Next<'a> {
    /// The next parameter.
    param: &'a mut u16,
    /// The rule's own next number, where they are constants.
    constant: Option<usize>,
}

impl<'a> Next<'a> {
    /// Parameters from this one on.
    pub(super) fn params(param: &'a mut u16) -> Self {
        Self { param, constant: None }
    }

    /// The rule's own numbers; edges are this parameter.
    pub(super) fn constants(param: &'a mut u16) -> Self {
        Self { param, constant: Some(0) }
    }

    fn take_param(&mut self) -> u16 {
        *self.param += 1;
        *self.param - 1
    }
}

impl Rule {
    pub(super) fn take<T: Scalar>(&self, next: &mut Next<'_>) -> Expr<T> {
        match &mut next.constant {
            None => crate::ir::Traced::params(next.take_param()),
            Some(at) => {
                *at += 1;
                lit(T::from_bits64(self.values[*at - 1].1))
            }
        }
    }

    pub(super) fn take_edges<T: Element>(&self, next: &mut Next<'_>) -> ArrayExpr<T> {
        array_expr(next.take_param())
    }

    /// Adds the numbers to the kernel's parameters, unless they are constants, and the edges.
    pub(super) fn collect<B: Backend, T: Sample>(&self, c: &mut Collector<B>, constant: bool) -> Result<()> {
        if !constant {
            self.values.iter().try_for_each(|&(ty, bits)| c.push(None, ty.dtype(), Param::Value(ty), Leaf::Value { bits }))?;
        }
        if self.edges.is_empty() {
            return Ok(());
        }
        let edges: Vec<T> = self.edges.iter().map(|&bits| T::from_bits64(bits)).collect();
        array(&c.device().upload(&edges)?).collect(c)
    }

    /// Whether channels have the numbers as constants: beside edges, four samples and a weight they are more than a kernel takes.
    pub(super) fn is_constant_for_channels(&self) -> bool {
        !self.edges.is_empty()
    }

    pub(super) fn collect_for_channels<B: Backend, T: Sample>(&self, c: &mut Collector<B>) -> Result<()> {
        self.collect::<B, T>(c, self.is_constant_for_channels())
    }

    /// The rule whose bins lie between edges, of which the last need not be there.
    pub(super) fn search(edges: Vec<u64>) -> Self {
        Self { form: Form::Search, values: vec![(Ty::U32, edges.len() as u64)], edges }
    }
}

/// Counts the edges that are not above the sample, less one: its bin, or more than any where there is none. `most` is not below their number, and
/// part of the kernel's text.
pub(super) fn search<T: Element>(x: Expr<T::Reg>, edges: ArrayExpr<T>, len: Expr<u32>, most: u32) -> Expr<u32>
where
    T::Reg: Num,
{
    let mut place = lit(0u32);
    // Bit by bit.
    for step in (0..=most.max(1).ilog2()).rev().map(|k| 1 << k) {
        let to = place + step;
        place = select(to.le(len) & edges.at(to - 1).le(x), to, place);
    }
    place - 1
}

/// The shift that makes bins of distances below `range`, if there is one that keeps distances in `bits`: where bins are a power of two wide, and
/// where they would be if `range` were one more. Then bin `k` begins at `k * 2^shift - k / bins`, rounded up, and `k` is less than `bins`.
fn shift(range: u128, bins: u64, bits: u32) -> Option<(u32, Form)> {
    let power = |range: u128| {
        let width = range / u128::from(bins);
        (range.is_multiple_of(bins.into()) && width.is_power_of_two() && width.trailing_zeros() < bits).then(|| width.trailing_zeros())
    };
    let whole = power(range).map(|s| (s, Form::Shift { from_zero: false, by_one: false }));
    whole.or_else(|| power(range + 1).filter(|&s| s > 0).map(|s| (s, Form::Short)))
}

/// Bins are one wide at least.
pub(super) fn check_width(range: impl std::fmt::Display, is_wide: bool, bins: u32) -> Result<()> {
    if is_wide {
        return Ok(());
    }
    let reason = format!("{bins} bins over {range} integers; a bin has to be one wide");
    Err(Error::InvalidArgument { what: "bounds", reason })
}

/// The rule for integers that lie `lower..lower + range`, as words.
fn integers(lower: u32, range: u64, bins: u32) -> Result<Rule> {
    check_width(range, range >= bins.into(), bins)?;
    let bins = u64::from(bins);
    let word = |v: u32| (Ty::U32, u64::from(v));
    match shift(range.into(), bins, u32::BITS) {
        Some((by, Form::Short)) => {
            return Ok(Rule { form: Form::Short, values: vec![word(lower), word(range as u32), word(by)], edges: Vec::new() });
        }
        Some((by, _)) => {
            let (from_zero, by_one) = (lower == 0, by == 0);
            let mut values = Vec::new();
            if !from_zero {
                values.push(word(lower));
            }
            if !by_one {
                values.push(word(by));
            }
            return Ok(Rule { form: Form::Shift { from_zero, by_one }, values, edges: Vec::new() });
        }
        None if range > u32::MAX.into() => {
            return Ok(Rule { form: Form::High, values: vec![word(lower), word(bins as u32)], edges: Vec::new() });
        }
        None => {}
    }
    // bins / range as a binary fraction of 64 bits, rounded up: the product with a distance is above the quotient by less than what parts it
    // from the next whole number, as distances are below 2^32.
    let scale = (u128::from(bins) << 64).div_ceil(u128::from(range)) as u64;
    let values = vec![word(lower), word(range as u32), word(scale as u32), word((scale >> 32) as u32)];
    Ok(Rule { form: Form::Scale, values, edges: Vec::new() })
}

/// The bin of an integer's word. A sample below the lower bound wraps around to a distance above the range, as bounds are below 2^32.
fn of_word(x: Expr<u32>, rule: &Rule, next: &mut Next<'_>) -> Expr<u32> {
    if let Form::Shift { from_zero, by_one } = rule.form {
        let d = if from_zero { x } else { x - rule.take::<u32>(next) };
        return if by_one { d } else { d >> rule.take::<u32>(next) };
    }
    let d = x - rule.take::<u32>(next);
    if rule.form == Form::High {
        return d.mul_hi(rule.take::<u32>(next));
    }
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
    Rule { form: Form::Wide, values, edges: Vec::new() }
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

/// Fails unless there is something between bounds.
pub(super) fn check_order(bounds: [&dyn std::fmt::Display; 2], in_order: bool) -> Result<()> {
    if in_order {
        return Ok(());
    }
    let [lower, upper] = bounds;
    Err(Error::InvalidArgument { what: "bounds", reason: format!("the lower one, {lower}, has to be below the upper one, {upper}") })
}

/// `rule` and `rule_of_text` of integers, of which a range is less than 2^64.
macro_rules! integer_rules {
    ($t:ident, |$lower:ident, $range:ident, $bins:ident| $rule:expr) => {
        fn rule($lower: $t, upper: $t, $bins: u32, inclusive: bool) -> Result<Rule> {
            check_order([&$lower, &upper], $lower < upper || (inclusive && $lower == upper))?;
            let $range = u128::from(upper.abs_diff($lower)) + u128::from(inclusive);
            $rule
        }
        fn rule_of_text(bounds: [&str; 2], bins: u32, inclusive: bool, stored: DType) -> Result<Rule> {
            let ends = i128::from($t::MIN)..=i128::from($t::MAX);
            match bounds::of_integers(bounds, bins, inclusive, stored, ends)? {
                bounds::Bounds::Whole([lower, last]) => Self::rule(lower as $t, last as $t, bins, true),
                bounds::Bounds::Edges(edges) => Ok(Rule::search(edges.into_iter().map(|e| (e as $t).to_bits64()).collect())),
            }
        }
        fn least_of_text(bounds: [&str; 2], bins: u32, inclusive: bool, stored: DType) -> Result<$t> {
            let ends = i128::from($t::MIN)..=i128::from($t::MAX);
            Ok(match bounds::of_integers(bounds, bins, inclusive, stored, ends)? {
                bounds::Bounds::Whole([lower, _]) => lower as $t,
                bounds::Bounds::Edges(edges) => edges.first().map_or($t::MIN, |&edge| edge as $t),
            })
        }
    };
}

macro_rules! sample {
    ($t:ident, $word:expr) => {
        impl Sample for $t {
            integer_rules!($t, |lower, range, bins| integers(lower as u32, range as u64, bins));
            fn bin(x: Expr<$t>, rule: &Rule, next: &mut Next<'_>) -> Expr<u32> {
                if rule.form == Form::Search {
                    let len = rule.take::<u32>(next);
                    return search(x, rule.take_edges::<$t>(next), len, rule.edges.len() as u32);
                }
                of_word($word(x), rule, next)
            }
        }
    };
}
sample!(u32, |x| x);
sample!(i32, Expr::<i32>::bitcast::<u32>);

macro_rules! wide_sample {
    ($($t:ident)*) => {$(
        impl Sample for $t {
            integer_rules!($t, |lower, range, bins| {
                check_width(range, range >= bins.into(), bins)?;
                let bits = (Ty::U64, lower as u64);
                let rule = |form, values| Ok(Rule { form, values, edges: Vec::new() });
                if let Some((by, form)) = shift(range, bins.into(), u64::BITS) {
                    let limit = (form == Form::Short).then_some((Ty::U64, range as u64));
                    return rule(form, [Some(bits), limit, Some((Ty::U32, by.into()))].into_iter().flatten().collect());
                }
                if range > u64::MAX.into() {
                    return rule(Form::High, vec![bits, (Ty::U64, bins.into())]);
                }
                if range > u32::MAX.into() {
                    return Ok(wide(lower as u64, range as u64, bins));
                }
                let mut rule = integers(1, range as u64, bins)?;
                rule.values[0] = bits;
                Ok(rule)
            });
            fn bin(x: Expr<$t>, rule: &Rule, next: &mut Next<'_>) -> Expr<u32> {
                if rule.form == Form::Search {
                    let len = rule.take::<u32>(next);
                    return search(x, rule.take_edges::<$t>(next), len, rule.edges.len() as u32);
                }
                let d = x.bitcast::<u64>() - rule.take::<u64>(next);
                if rule.form == Form::Short {
                    let range = rule.take::<u64>(next);
                    return select(d.lt(range), (d >> rule.take::<u32>(next)).cast(), u32::MAX);
                }
                if rule.form == Form::Wide {
                    return of_wide(d, rule, next);
                }
                if rule.form == Form::High {
                    // Bins have at most 20 bits, so both products have room; what the lower one hands on is whole.
                    let bins = rule.take::<u64>(next);
                    let low = ((d & u64::from(u32::MAX)) * bins) >> 32;
                    return (((d >> 32) * bins + low) >> 32).cast();
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
            fn rule(lower: $t, upper: $t, bins: u32, inclusive: bool) -> Result<Rule> {
                even_floats::rule::<$t>([lower.into(), upper.into()], bins, inclusive, $t::DTYPE)
            }
            fn rule_of_text(bounds: [&str; 2], bins: u32, inclusive: bool, stored: DType) -> Result<Rule> {
                even_floats::rule::<$t>(bounds::of_floats(bounds, stored)?, bins, inclusive, stored)
            }
            fn least_of_text(bounds: [&str; 2], _: u32, _: bool, stored: DType) -> Result<$t> {
                bounds::of_floats(bounds, stored).map(|[lower, _]| even_floats::rounded(lower, stored) as $t)
            }
            fn bin(x: Expr<$t>, rule: &Rule, next: &mut Next<'_>) -> Expr<u32> {
                match rule.form {
                    Form::Search => {
                        let len = rule.take::<u32>(next);
                        search(x, rule.take_edges::<$t>(next), len, rule.edges.len() as u32)
                    }
                    Form::Near => near(x, rule, next),
                    _ => {
                        let (lower, upper, scale) = (rule.take::<$t>(next), rule.take::<$t>(next), rule.take::<$t>(next));
                        let last = rule.take::<u32>(next);
                        let bin = ((x - lower) * scale).cast::<u32>().min(last);
                        select(x.ge(lower) & x.lt(upper), bin, u32::MAX)
                    }
                }
            }
        }
    )*};
}
float_sample!(f32 f64);

#[cfg(test)]
mod tests;
