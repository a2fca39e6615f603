//! Sums in stated orders: the bits of NumPy's (`data/sums.py`), and of plain loops.

use crate::common::{each, each_with};
use isowarp::element::{DType, Element};
use isowarp::prelude::*;
use isowarp::{Cpu, Device, Error};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

fn fixtures(of: &str) -> Value {
    let all: Value = serde_json::from_str(include_str!("../../data/sums.json")).expect("JSON");
    all[of].clone()
}

fn sha<T: Element>(x: &[T]) -> String {
    Sha256::digest(bytemuck::cast_slice(x)).iter().map(|b| format!("{b:02x}")).collect()
}

fn word(i: u64) -> u64 {
    let word = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    word ^ word >> 29
}

/// The elements of `data/sums.py`.
fn narrow(n: u64) -> Vec<f32> {
    (0..n).map(|i| (word(i) >> 32) as u32 as i32 as f32 * 2f32.powi(-((i % 40) as i32))).collect()
}

fn wide(n: u64) -> Vec<f64> {
    (0..n).map(|i| word(i) as i64 as f64 * 2f64.powi(-((i % 60) as i32))).collect()
}

const LENGTHS: [u64; 17] =
    [511, 512, 513, 1000, 1023, 1024, 1025, 2047, 2049, 4097, 8200, 65_535, 65_536, 65_537, 100_003, 1_000_003, 4_194_309];

/// The offsets of `data/sums.py`.
fn offsets() -> Vec<u32> {
    let lengths = (0..600).map(|k| if k % 2 == 1 { k / 2 } else { 0 }).chain(LENGTHS[..16].iter().map(|n| *n as u32)).chain([0, 7]);
    std::iter::once(5).chain(lengths).scan(0, |sum, n| Some(std::mem::replace(sum, *sum + n) + n)).collect()
}

/// All digests of NumPy's sums of one type.
macro_rules! sums_of_numpy {
    ($d:expr, $t:ty, $x:expr, $of:expr) => {{
        let (d, host, of): (&Device, Vec<$t>, Value) = ($d, $x, fixtures($of));
        assert_eq!(of["elements"], sha(&host));
        let x = d.upload(&host).unwrap();
        let pairwise = |x: &Buffer<Device, $t>| d.ordered_sum(x, SumOrder::Pairwise).run().unwrap();
        let found: Vec<_> = (0..300).chain(LENGTHS).map(|n| pairwise(&x.slice(..n).unwrap())).collect();
        let found: Vec<$t> = found.into_iter().map(|sum| sum.read_blocking().unwrap()).collect();
        assert_eq!(of["sums"], sha(&found));
        let zeros = [1usize, 7, 8, 9, 130, 1000].map(|n| pairwise(&d.upload(&vec![-0.0; n]).unwrap()).read_blocking().unwrap());
        assert_eq!(of["zeros"], sha(&zeros));
        let rows = d.ordered_sum(&x.slice(..37 * 1003).unwrap(), SumOrder::Pairwise).axis(&[37, 1003], 1).run().unwrap();
        assert_eq!(of["rows"], sha(&rows.read_blocking().unwrap()));
        let columns = d.ordered_sum(&x.slice(..37 * 1003).unwrap(), SumOrder::Sequential).axis(&[37, 1003], 0).run().unwrap();
        assert_eq!(of["columns in turn"], sha(&columns.read_blocking().unwrap()));
        let middle = d.ordered_sum(&x.slice(..5 * 300 * 7).unwrap(), SumOrder::Sequential).axis(&[5, 300, 7], 1).run().unwrap();
        assert_eq!(of["middle in turn"], sha(&middle.read_blocking().unwrap()));
        let offsets = d.upload(&offsets()).unwrap();
        let segments = d.ordered_sum(&x, SumOrder::Pairwise).segments(&offsets).checked().run().unwrap();
        assert_eq!(of["segments"], sha(&segments.read_blocking().unwrap()));
        let few = offsets.slice(..300).unwrap();
        let in_turn = d.ordered_sum(&x, SumOrder::Sequential).segments(&few).run().unwrap();
        assert_eq!(of["segments in turn"], sha(&in_turn.read_blocking().unwrap()));
        let sequential = |n: u64| d.ordered_sum(&x.slice(..n).unwrap(), SumOrder::Sequential).run().unwrap().read_blocking().unwrap();
        assert_eq!(of["running"], sha(&[1, 2, 100, 10_000, 100_003].map(sequential)));
    }};
}

#[test]
fn pairwise_and_sequential_sums_have_the_bits_of_numpys() {
    each(|d| sums_of_numpy!(d, f32, narrow(4_194_309), "float32"));
    each_with(&[DType::F64], |d| sums_of_numpy!(d, f64, wide(4_194_309), "float64"));
}

fn kahan(x: impl Iterator<Item = f32>) -> f32 {
    let (mut sum, mut lost) = (0f32, 0f32);
    for x in x {
        let y = x - lost;
        let next = sum + y;
        lost = (next - sum) - y;
        sum = next;
    }
    sum
}

fn neumaier(x: impl Iterator<Item = f32>) -> f32 {
    let (mut sum, mut lost) = (0f32, 0f32);
    for x in x {
        let next = sum + x;
        lost += if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        sum = next;
    }
    sum + lost
}

#[test]
fn corrected_sums_are_those_of_a_loop() {
    // More than a launch adds.
    let host = narrow(600_000);
    each(|d| {
        let x = d.upload(&host).unwrap();
        for n in [1, 2, 3, 9, 1000, 32_767, 32_768, 32_769, 600_000] {
            let part = x.slice(..n).unwrap();
            let of = |order| d.ordered_sum(&part, order).run().unwrap().read_blocking().unwrap();
            let elements = || host[..n as usize].iter().copied();
            assert_eq!(of(SumOrder::Kahan), kahan(elements()), "{n}");
            assert_eq!(of(SumOrder::Neumaier), neumaier(elements()), "{n}");
            assert_eq!(of(SumOrder::Sequential), elements().sum::<f32>(), "{n}");
        }
        for (axis, count, start, by) in [(0, 700, 1, 700), (1, 200, 700, 1)] {
            let part = x.slice(..200 * 700).unwrap();
            let lines: Vec<f32> = (0..count).map(|l| kahan((0..140_000 / count).map(|k| host[l * start + k * by]))).collect();
            let found = d.ordered_sum(&part, SumOrder::Kahan).axis(&[200, 700], axis).run().unwrap();
            assert_eq!(found.read_blocking().unwrap(), lines);
        }
        // Computed and stored elements are summed alike, as are views.
        let (part, twice) = (x.slice(..5003).unwrap(), d.map(&x.slice(..5003).unwrap(), |x| x * 2.0).unwrap());
        for order in [SumOrder::Sequential, SumOrder::Pairwise, SumOrder::Kahan, SumOrder::Neumaier] {
            let stored = d.ordered_sum(&twice, order).run().unwrap().read_blocking().unwrap();
            assert_eq!(d.ordered_sum(part.map(|x| x * 2.0), order).run().unwrap().read_blocking().unwrap(), stored);
            let backwards = d.ordered_sum(twice.reversed(), order).run().unwrap().read_blocking().unwrap();
            let reversed = d.upload(&twice.read_blocking().unwrap().into_iter().rev().collect::<Vec<_>>()).unwrap();
            assert_eq!(backwards, d.ordered_sum(&reversed, order).run().unwrap().read_blocking().unwrap());
        }
    });
}

#[test]
fn segments_have_the_sums_of_arrays_of_their_own() {
    let host = narrow(60_000);
    each(|d| {
        let x = d.upload(&host).unwrap();
        // Longer than a launch adds, nothing, one element, and the rest.
        let bounds = [3u64, 20_003, 20_003, 20_004, 20_300, 59_990];
        let offsets = d.upload(&bounds).unwrap();
        for order in [SumOrder::Sequential, SumOrder::Pairwise, SumOrder::Kahan, SumOrder::Neumaier] {
            let found = d.ordered_sum(&x, order).segments(&offsets).run().unwrap().read_blocking().unwrap();
            let alone = |two: &[u64]| d.ordered_sum(&x.slice(two[0]..two[1]).unwrap(), order).run().unwrap().read_blocking().unwrap();
            assert_eq!(found, bounds.windows(2).map(alone).collect::<Vec<_>>(), "{order:?}");
            let fused = d.ordered_sum(x.map(|x| x * 2.0), order).segments(&offsets).checked().run().unwrap().read_blocking().unwrap();
            assert_eq!(fused, found.iter().map(|sum| sum * 2.0).collect::<Vec<_>>(), "{order:?}: twice is exact");
            let empty = d.ordered_sum(&x, order).segments(&d.upload(&[7u32, 7, 7]).unwrap()).run().unwrap();
            assert_eq!(empty.read_blocking().unwrap().iter().map(|sum| sum.to_bits()).collect::<Vec<_>>(), [0; 2], "{order:?}");
            assert!(d.ordered_sum(&x, order).segments(&d.upload(&[7u32]).unwrap()).run().unwrap().is_empty());
            // Wrong offsets do no harm, and are named where they are looked at.
            let wrong = d.upload(&[0u32, 70_000, 5, 60_000]).unwrap();
            assert_eq!(d.ordered_sum(&x, order).segments(&wrong).run().unwrap().len(), 3);
            let (falling, beyond) = (d.upload(&[0u32, 9, 5]).unwrap(), d.upload(&[0u32, 60_001]).unwrap());
            let out = d.upload(&[7f32; 2]).unwrap();
            let refused = |offsets: &Buffer<Device, u32>| d.ordered_sum(&x, order).segments(offsets).checked().write_to(&out).unwrap_err();
            assert!(matches!(refused(&falling), Error::NotSorted { .. }));
            assert!(matches!(refused(&beyond), Error::IndexOutOfRange { position: 1, .. }));
            assert_eq!(out.read_blocking().unwrap(), [7.0; 2]);
        }
    });
}

#[test]
fn corrections_keep_what_plain_sums_lose() {
    each(|d| {
        let x = d.upload(&[1.0f32, 1e30, 1.0, -1e30]).unwrap();
        let of = |order| d.ordered_sum(&x, order).run().unwrap().read_blocking().unwrap();
        assert_eq!(of(SumOrder::Sequential), 0.0);
        assert_eq!(of(SumOrder::Kahan), 0.0);
        assert_eq!(of(SumOrder::Neumaier), 2.0);
    });
}

#[test]
fn ordered_sums_that_do_not_fit_are_refused_and_nothing_is_written() {
    let d = Cpu::new();
    let (x, out) = (d.upload(&[1f32; 12]).unwrap(), d.upload(&[7f32; 3]).unwrap());
    let sum = || d.ordered_sum(&x, SumOrder::Pairwise);
    assert!(matches!(sum().axis(&[3, 5], 1).run(), Err(Error::LengthMismatch { .. })));
    assert!(matches!(sum().axis(&[3, 4], 2).run(), Err(Error::InvalidArgument { what: "axis", .. })));
    assert!(matches!(sum().axis(&[4, 3], 1).write_to(&out), Err(Error::BufferTooSmall { .. })));
    let (none, two) = (d.upload::<u32>(&[]).unwrap(), d.upload(&[0u32, 3, 12]).unwrap());
    assert!(matches!(sum().segments(&none).run(), Err(Error::InvalidArgument { what: "offsets", .. })));
    assert!(matches!(sum().segments(&two).write_to(&out.slice(..1).unwrap()), Err(Error::BufferTooSmall { .. })));
    assert!(matches!(sum().segments(&two).write_to(&x.slice(3..5).unwrap()), Err(Error::Aliasing { .. })));
    assert!(matches!(sum().write_to(&x.slice(3..4).unwrap()), Err(Error::Aliasing { .. })));
    assert!(matches!(sum().axis(&[3, 4], 1).write_to(&x.slice(9..).unwrap()), Err(Error::Aliasing { .. })));
    assert!(matches!(d.ordered_sum(counting(1 << 32).map(Expr::cast::<f32>), SumOrder::Kahan).run(), Err(Error::TooLarge { .. })));
    assert_eq!(out.read_blocking().unwrap(), [7.0; 3]);
    // A wider output keeps what is after the sums, and no elements have a sum.
    sum().axis(&[2, 6], 1).write_to(&out).unwrap();
    assert_eq!(out.read_blocking().unwrap(), [6.0, 6.0, 7.0]);
    let nothing = x.slice(..0).unwrap();
    assert_eq!(d.ordered_sum(&nothing, SumOrder::Kahan).axis(&[3, 0], 1).run().unwrap().read_blocking().unwrap(), [0.0; 3]);
    assert!(d.ordered_sum(&nothing, SumOrder::Pairwise).axis(&[0, 9], 1).run().unwrap().is_empty());
}
