//! Rules of even bins, as the CPU's evaluator has them.

use super::super::even_floats::rounded;
use super::*;
use crate::ir::{Evaluator, Traced, pack};
use half::f16;

/// The bins of samples by the traced rule, with the rule's numbers as constants.
fn bins<T: Sample>(lower: T, upper: T, count: u32, samples: &[T]) -> Vec<u32> {
    by_rule(&T::rule(lower, upper, count, false).expect("rule"), samples)
}

/// The same over `lower..=upper`.
fn inclusive_bins<T: Sample>(lower: T, upper: T, count: u32, samples: &[T]) -> Vec<u32> {
    by_rule(&T::rule(lower, upper, count, true).expect("rule"), samples)
}

/// Returns the bins of samples by the rule between decimal numbers.
fn bins_of_text<T: Sample>(bounds: [&str; 2], count: u32, stored: DType, samples: &[T]) -> Vec<u32> {
    by_rule(&T::rule_of_text(bounds, count, false, stored).expect("rule"), samples)
}

fn by_rule<T: Sample>(rule: &Rule, samples: &[T]) -> Vec<u32> {
    let mut params = vec![Param::Value(T::TY)];
    params.extend((!rule.edges.is_empty()).then_some(Param::Array(T::DTYPE)));
    let f = pack(params, || T::bin(Traced::params(0), rule, &mut Next::constants(&mut 1))).expect("trace");
    let mut e = Evaluator::new(&f);
    let bin = |x: &T| {
        e.eval(1, |_, out| out[0] = x.to_bits64(), |_, at| rule.edges.get(at as usize).copied().unwrap_or(0));
        e.result(0)[0] as u32
    };
    samples.iter().map(bin).collect()
}

/// Samples in each bin.
fn counts(bins: &[u32], count: u32) -> Vec<u32> {
    (0..count).map(|bin| bins.iter().filter(|&&found| found == bin).count() as u32).collect()
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
    assert!(i64::rule(3, 3, 1, false).is_err() && u64::rule(0, 10, 11, false).is_err());
    // The whole of the type, but for its last value.
    assert_eq!(bins(0u64, u64::MAX, 16, &[0, (1 << 60) - 1, 1 << 60, u64::MAX - 1, u64::MAX]), [0, 0, 1, 15, u32::MAX]);
    assert_eq!(bins(i64::MIN, i64::MAX, 2, &[i64::MIN, -1, 0, i64::MAX - 1, i64::MAX]), [0, 0, 1, 1, u32::MAX]);
    assert_eq!(bins(10u64, 17, 4, &[9, 10, 12, 13, 14, 16, 17]), [u32::MAX, 0, 1, 1, 2, 3, u32::MAX]);
    assert!(u64::rule(0, 3, 4, false).is_err());
}

#[test]
fn bins_of_any_range_are_the_rounded_down_quotient() {
    let widths = [1 << 32, (1 << 32) + 1, 10_000_000_000, (1 << 33) - 1, (1 << 40) + 12_345, (1 << 63) - 1, u64::MAX - 1, u64::MAX];
    for (range, count) in
        widths.into_iter().flat_map(|range| [1, 2, 3, 7, 10, 1000, 4095, 999_983, (1 << 20) - 1, 1 << 20].map(|n| (range, n)))
    {
        let (wide, n) = (u128::from(range), u128::from(count));
        let edges = (0..=200u128).map(|k| if k < 100 { k } else { n.saturating_sub(k - 100) }).filter(|&k| k <= n).chain([n / 2, n / 3]);
        let near = edges.map(|k| (k * wide).div_ceil(n) as u64).flat_map(|e| [e.wrapping_sub(1), e, e.wrapping_add(1)]);
        for lower in [0u64, 5].into_iter().filter(|&lower| lower.checked_add(range).is_some()) {
            let samples: Vec<u64> = near.clone().chain([0, range / 2, range - 1, range, u64::MAX]).map(|d| d.wrapping_add(lower)).collect();
            for (&x, &bin) in samples.iter().zip(&bins(lower, lower + range, count, &samples)) {
                let d = u128::from(x.wrapping_sub(lower));
                let wanted = if x >= lower && d < wide { (d * n / wide) as u32 } else { u32::MAX };
                assert!(bin == wanted || (wanted == u32::MAX && bin >= count), "{x} of {lower} + {range} in {count}: {bin}, not {wanted}");
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
fn the_greatest_values_of_every_type_are_counted() {
    fn check<T: Sample>(least: T, greatest: T, distance: impl Fn(T) -> u128, at: impl Fn(u128) -> T) {
        let range = distance(greatest) + 1;
        for count in [1u32, 2, 3, 7, 256, 1000, 999_983, 1 << 20] {
            let edges = [0, 1, 2, count / 2, count - 1].map(|k| (u128::from(k) * range).div_ceil(count.into()));
            let near = edges.into_iter().flat_map(|e| [e.saturating_sub(1), e, e + 1]);
            let samples: Vec<T> = near.chain([range / 2, range / 3, range - 1]).filter(|&d| d < range).map(&at).collect();
            for (&x, &bin) in samples.iter().zip(&inclusive_bins(least, greatest, count, &samples)) {
                assert_eq!(u128::from(bin), distance(x) * u128::from(count) / range, "{x:?} of all {} in {count}", T::DTYPE);
            }
        }
    }
    check(u32::MIN, u32::MAX, u128::from, |d| d as u32);
    check(u64::MIN, u64::MAX, u128::from, |d| d as u64);
    check(i32::MIN, i32::MAX, |x| x.abs_diff(i32::MIN).into(), |d| i32::MIN.wrapping_add(d as u32 as i32));
    check(i64::MIN, i64::MAX, |x| x.abs_diff(i64::MIN).into(), |d| i64::MIN.wrapping_add(d as u64 as i64));
    assert_eq!(inclusive_bins(5u32, 5, 1, &[4, 5, 6])[1], 0);
    assert_eq!(inclusive_bins(3i64, 9, 7, &[3, 8, 9]), [0, 5, 6]);
    // As text, one more than the greatest.
    assert_eq!(bins_of_text(["0", "4294967296"], 2, DType::U32, &[0, 1 << 31, u32::MAX]), [0, 1, 1]);
    assert_eq!(bins_of_text(["-2147483648", "2147483648"], 3, DType::I32, &[i32::MIN, 0, i32::MAX]), [0, 1, 2]);
    assert_eq!(bins_of_text(["0", "18446744073709551616"], 3, DType::U64, &[0, 1 << 63, u64::MAX]), [0, 1, 2]);
    assert_eq!(bins_of_text(["-9223372036854775808", "9223372036854775808"], 1, DType::I64, &[i64::MIN, 0, i64::MAX]), [0, 0, 0]);
}

#[test]
fn bounds_of_integers_may_be_any_decimal_numbers() {
    let all: Vec<u32> = (0..256).collect();
    assert_eq!(bins_of_text(["-0.5", "255.5"], 256, DType::U8, &all), all);
    assert_eq!(counts(&bins_of_text(["0", "1e2"], 4, DType::U8, &all), 4), [25; 4]);
    let signed: Vec<i32> = (-128..128).collect();
    assert_eq!(counts(&bins_of_text(["-128.0", "128"], 4, DType::I8, &signed), 4), [64; 4]);
    // numpy.histogram(arange(10), 4, (-0.5, 9.5)), and (arange(-128, 128), 5, (-100.25, 99.5)).
    assert_eq!(counts(&bins_of_text(["-0.5", "9.5"], 4, DType::U16, &all), 4), [2, 3, 2, 3]);
    assert_eq!(counts(&bins_of_text(["-100.25", "99.5"], 5, DType::I16, &signed), 5), [40, 40, 40, 40, 40]);
    // Beyond the type on both sides: what is there has a bin, what is not there has none.
    assert_eq!(bins_of_text(["-10", "4294967396"], 3, DType::U32, &[0, 1_431_655_791, 1_431_655_792, u32::MAX]), [0, 0, 1, 2]);
    assert_eq!(
        bins_of_text(["-5e18", "9223372036854775808.5"], 2, DType::I64, &[i64::MIN, -5_000_000_000_000_000_000, i64::MAX]),
        [u32::MAX, 0, 1]
    );
}

/// Numbers of samples are those of NumPy 1.24: `numpy.histogram(x, bins, (lower, upper))[0]`, without samples that equal `upper`.
#[test]
fn even_bins_of_floats_are_numpys() {
    let wide = |from: i32, to: i32, by: f64| (from..to).map(|k| f64::from(k) / by).collect::<Vec<f64>>();
    let narrow = |all: Vec<f64>| all.into_iter().map(|x| x as f32).collect::<Vec<f32>>();
    let of = |bounds: [&str; 2], count, x: &[f64]| counts(&bins_of_text(bounds, count, DType::F64, x), count);
    assert_eq!(bins(0.0, 2.0, 20, &[0.3, 0.6, 0.7, 1.2, 1.4]), [2, 5, 6, 11, 13]);
    assert_eq!(
        of(["0", "2"], 20, &wide(0, 2000, 1000.0)),
        [100, 100, 101, 99, 100, 101, 100, 99, 100, 100, 100, 101, 99, 101, 99, 100, 101, 99, 101, 99]
    );
    assert_eq!(
        of(["-2", "3"], 100, &wide(-200, 300, 100.0)),
        [
            5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6, 4, 5, 5, 5, 6, 4, 5, 6, 5, 5, 4, 5, 6, 5, 5, 4, 6, 5, 5, 5, 4, 6, 5, 5, 5, 4, 6, 5,
            4, 6, 4, 6, 5, 5, 5, 4, 6, 5, 5, 5, 4, 6, 5, 5, 5, 4, 6, 4, 6, 5, 4, 6, 4, 6, 5, 4, 6, 4, 6, 5, 4, 6, 4, 6, 5, 4, 5, 6, 5, 4,
            5, 5, 6, 5, 4, 5, 5, 6, 5, 4, 5, 6, 5, 5, 4, 5
        ]
    );
    assert_eq!(of(["-1", "1"], 7, &wide(-70, 70, 70.0)), [20; 7]);
    assert_eq!(
        of(["0.1", "0.7"], 30, &wide(0, 1000, 1000.0)),
        [21, 19, 20, 20, 20, 20, 21, 19, 20, 21, 19, 20, 20, 20, 20, 21, 20, 19, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20]
    );
    // Edges of f32 are those of f64, rounded; samples that are the f32 nearest to an edge equal it.
    let of = |bounds: [&str; 2], count, x: &[f32]| counts(&bins_of_text(bounds, count, DType::F32, x), count);
    assert_eq!(of(["-2", "3"], 100, &narrow(wide(-200, 300, 100.0))), [5; 100]);
    assert_eq!(counts(&bins(-2.0f32, 3.0, 100, &narrow(wide(-200, 300, 100.0))), 100), [5; 100]);
    assert_eq!(of(["0", "2"], 20, &narrow(wide(0, 2000, 1000.0))), [100; 20]);
    assert_eq!(of(["-1", "1"], 7, &narrow(wide(-70, 70, 70.0))), [20; 7]);
    assert_eq!(of(["0.1", "0.7"], 30, &narrow(wide(0, 1000, 1000.0))), [20; 30]);
    let half: Vec<f32> = wide(0, 1000, 1000.0).into_iter().map(|x| f16::from_f64(x).into()).collect();
    let of = |bounds: [&str; 2], count, x: &[f32]| counts(&bins_of_text(bounds, count, DType::F16, x), count);
    assert_eq!(of(["0", "1"], 10, &half), [100; 10]);
    assert_eq!(
        of(["0.1", "0.9"], 33, &half),
        [
            25, 24, 24, 24, 25, 24, 24, 24, 24, 25, 24, 24, 24, 25, 24, 24, 24, 24, 25, 24, 24, 25, 24, 24, 24, 25, 24, 24, 24, 24, 25, 24,
            24
        ]
    );
    let rule = f32::rule_of_text(["-2", "3"], 100, false, DType::F32).expect("rule");
    assert_eq!(rule.edges[..8], [0xc000_0000, 0xbff9_999a, 0xbff3_3333, 0xbfec_cccd, 0xbfe6_6666, 0xbfe0_0000, 0xbfd9_999a, 0xbfd3_3333]);
}

/// Bins of any rule are those that a search of `lower + k * step` finds.
#[test]
fn even_bins_of_floats_lie_between_their_edges() {
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut forms = std::collections::HashMap::new();
    for round in 0..600 {
        let size = 10f64.powf(next() * 12.0 - 6.0);
        let lower = if round % 4 == 0 { 0.0 } else { ((next() - 0.5) * size) as f32 };
        let width = if round % 8 == 0 { 64.0 } else { next() * size * 10f64.powf(-3.0 * next()) };
        // Some ranges are hardly wider than floats are dense.
        let width = if round % 5 == 1 { f64::from(lower.abs()) * 1e-4 * next() } else { width };
        let upper = (f64::from(lower) + width) as f32;
        let count = if round % 8 == 0 { 1 << (round % 7) } else { (next() * next() * 5000.0) as u32 + 1 };
        if upper <= lower {
            continue;
        }
        let step = (f64::from(upper) - f64::from(lower)) / f64::from(count);
        let mut edges: Vec<f32> = (0..count).map(|k| ((f64::from(k) * step + f64::from(lower)).min(upper.into())) as f32).collect();
        edges.push(upper);
        let picked = (0..60).map(|_| edges[(next() * f64::from(count + 1)) as usize]).chain([lower, upper]).collect::<Vec<f32>>();
        let samples: Vec<f32> = picked
            .into_iter()
            .flat_map(|e| [e, e.next_up(), e.next_down(), e + step as f32 * 0.5])
            .chain([f32::NAN, f32::INFINITY, f32::NEG_INFINITY])
            .collect();
        for is_inclusive in [false, true] {
            let rule = f32::rule(lower, upper, count, is_inclusive).expect("rule");
            *forms.entry(format!("{:?}", rule.form)).or_insert(0) += 1;
            for (x, bin) in samples.iter().zip(by_rule(&rule, &samples)) {
                let place = edges.partition_point(|e| e <= x);
                let wanted = if is_inclusive && *x == upper { count - 1 } else { (place as u32).wrapping_sub(1) };
                let is_none = !(*x >= lower && (*x < upper || is_inclusive && *x == upper));
                assert!(if is_none { bin >= count } else { bin == wanted }, "{x} of {lower}..{upper} in {count} by {:?}: {bin}", rule.form);
            }
        }
    }
    assert!(["Exact", "Near", "Search"].iter().all(|form| forms.get(*form).is_some_and(|&n| n > 50)), "{forms:?}");
}

#[test]
fn bounds_without_room_are_refused() {
    let refused = |result: Result<Rule>| result.is_err();
    assert!(refused(u32::rule(5, 5, 1, false)) && refused(i32::rule(1, -1, 2, true)) && refused(u32::rule(0, 10, 11, false)));
    assert!(refused(f32::rule(1.0, f32::NAN, 2, false)) && refused(f32::rule(f32::MIN, f32::MAX, 2, false)));
    assert!(refused(f32::rule(0.0, f32::INFINITY, 2, true)) && refused(f64::rule(0.0, 5e-324, 2, false)));
    assert!(refused(f64::rule(1.0, 1.0, 2, true)) && refused(f32::rule_of_text(["0", "1e39"], 2, false, DType::F32)));
    assert!(
        refused(f32::rule_of_text(["0", "x"], 2, false, DType::F32))
            && refused(f32::rule_of_text(["1", "1.00000000001"], 2, false, DType::F32))
    );
}

/// Bounds that are no `f16`, as decimal numbers: every one of 61 edges between them is the lowest sample of a bin, and what is below it is in another.
#[test]
fn edges_between_rounded_bounds_are_looked_at() {
    let edge = |k: u32| f16::from_f32(rounded((-0.1 + f64::from(k) * (0.8 / 61.0)).min(0.7), DType::F16) as f32);
    // None of them is zero.
    let below = |x: f16| f16::from_bits(if x.is_sign_negative() { x.to_bits() + 1 } else { x.to_bits() - 1 });
    let samples: Vec<f32> = (1..61).flat_map(|k| [below(edge(k)), edge(k)]).map(f32::from).collect();
    let wanted: Vec<u32> = (1..61).flat_map(|k| [k - 1, k]).collect();
    assert_eq!(bins_of_text(["-0.1", "0.7"], 61, DType::F16, &samples), wanted);
}

#[test]
fn edges_of_f16_are_rounded_once() {
    let of = |bits: u16| f64::from(f16::from_bits(bits));
    for bits in 0..0x7BFFu16 {
        let (middle, even) = (f64::midpoint(of(bits), of(bits + 1)), bits + bits % 2);
        for (x, expected) in [(middle, even), (middle.next_down(), bits), (middle.next_up(), bits + 1)] {
            assert_eq!([rounded(x, DType::F16), rounded(-x, DType::F16)], [of(expected), -of(expected)], "{x:e}");
        }
    }
}
