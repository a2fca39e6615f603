//! Histograms against plain Rust, exact sums against whole numbers, and what bad input gets. On every device.

use crate::common::{each, each_with, mt19937};
use isowarp::element::DType;
use isowarp::patterns::HistogramTotal;
use isowarp::prelude::*;
use isowarp::{Device, Error};

/// Lengths around blocks, and nothing.
const LENGTHS: [usize; 5] = [0, 1, 257, 8193, 70_001];

#[test]
fn histograms_are_those_of_loops() {
    for n in LENGTHS {
        let x = mt19937(5489, n);
        let mut counts = vec![0u32; 1000];
        let mut sums = vec![0u32; 1000];
        for v in x.iter().filter(|v| **v >= 10) {
            let bin = (u64::from(v - 10) * 1000 / 4_294_967_285) as usize;
            if bin < 1000 {
                counts[bin] += 1;
                sums[bin] = sums[bin].wrapping_add(v.wrapping_mul(3));
            }
        }
        let low = x.iter().filter(|v| **v < 1 << 30).count() as u32;
        let high = x.iter().filter(|v| (1 << 30..3 << 30).contains(*v)).count() as u32;
        each(|d| {
            let device = d.upload(&x).unwrap();
            let bins = || even_bins(&device, 10, u32::MAX, 1000);
            assert_eq!(d.histogram(bins()).run().unwrap().read_blocking().unwrap(), counts);
            let weighted = d.histogram(bins()).weighted(device.map(|x| x * 3)).run().unwrap();
            assert_eq!(weighted.read_blocking().unwrap(), sums);
            let edges = Edges::new(d, &[0u32, 1 << 30, 1 << 30, 3 << 30]).unwrap();
            assert_eq!(d.histogram(bins_between(&device, &edges)).run().unwrap().read_blocking().unwrap(), [low, 0, high]);
            let parity = d.histogram(binned(&device, 1, |x| x & 1u32)).run().unwrap();
            assert_eq!(parity.read_blocking().unwrap(), [x.iter().filter(|v| **v & 1 == 0).count() as u32]);
        });
    }
}

/// The nearest `f32`, ties to even, of a whole number of 2^-149.
fn nearest(sum: i128) -> f32 {
    let magnitude = sum.unsigned_abs();
    let excess = (128 - magnitude.leading_zeros()).saturating_sub(24);
    let (mut mantissa, rest) = (magnitude >> excess, magnitude & ((1 << excess) - 1));
    let half = if excess == 0 { 1 } else { 1 << (excess - 1) };
    mantissa += u128::from(excess > 0 && (rest > half || (rest == half && mantissa & 1 == 1)));
    // Of at most 25 bits, so an f64 holds it, and what it is scaled to.
    let value = mantissa as f64 * 2f64.powi(excess as i32 - 149);
    if sum < 0 { -(value as f32) } else { value as f32 }
}

#[test]
fn sums_of_floats_are_rounded_once() {
    for n in LENGTHS {
        // Magnitudes from subnormal ones to 2^-60, of both signs: sums of them fit 128 bits.
        let r = mt19937(77, 2 * n);
        let w: Vec<f32> = (0..n).map(|i| f32::from_bits((r[i] & 0x807F_FFFF) | ((r[n + i] % 68) << 23))).collect();
        let units = |w: f32| {
            let (bits, sign) = (w.to_bits(), if w.is_sign_negative() { -1 } else { 1 });
            let (exponent, fraction) = (bits >> 23 & 0xFF, i128::from(bits & 0x7F_FFFF));
            sign * if exponent == 0 { fraction } else { (fraction | 0x80_0000) << (exponent - 1) }
        };
        let sums: Vec<f32> = (0..7).map(|k| nearest(w.iter().skip(k).step_by(7).map(|&w| units(w)).sum())).collect();
        each(|d| {
            let weights = d.upload(&w).unwrap();
            let places = d.iota::<u32>(n as u64, 0, 1).unwrap();
            let found = d.histogram(binned(&places, 7, |i| i % 7)).weighted(&weights).run().unwrap().read_blocking().unwrap();
            assert_eq!(found.iter().map(|f| f.to_bits()).collect::<Vec<_>>(), sums.iter().map(|f| f.to_bits()).collect::<Vec<_>>(), "{n}");
        });
    }
}

/// The nearest `f64`, ties to even, of a whole number of 2^-1074 that has less than 128 bits.
fn nearest_wide(sum: i128) -> f64 {
    let magnitude = sum.unsigned_abs();
    let excess = (128 - magnitude.leading_zeros()).saturating_sub(53);
    let (mantissa, rest) = ((magnitude >> excess) as u64, magnitude & ((1 << excess) - 1));
    let half = if excess == 0 { 1 } else { 1 << (excess - 1) };
    let up = u64::from(excess > 0 && (rest > half || (rest == half && mantissa & 1 == 1)));
    // The highest bit stands for an exponent of one, as a subnormal number's mantissa has it; a carry goes into the exponent.
    let value = f64::from_bits((u64::from(excess) << 52) + mantissa + up);
    if sum < 0 { -value } else { value }
}

#[test]
fn sums_of_wide_floats_are_rounded_once() {
    for n in LENGTHS {
        // From subnormal ones to 2^-1015, of both signs.
        let r = mt19937(78, 2 * n);
        let bits = |i: usize| (u64::from(r[i]) << 32 | u64::from(r[n + i])) & 0x800F_FFFF_FFFF_FFFF | u64::from(r[i] % 59) << 52;
        let w: Vec<f64> = (0..n).map(|i| f64::from_bits(bits(i))).collect();
        let units = |w: f64| {
            let (bits, sign) = (w.to_bits(), if w.is_sign_negative() { -1 } else { 1 });
            let (exponent, fraction) = (bits >> 52 & 0x7FF, i128::from(bits & ((1 << 52) - 1)));
            sign * if exponent == 0 { fraction } else { (fraction | 1 << 52) << (exponent - 1) }
        };
        let sums: Vec<u64> = (0..7).map(|k| nearest_wide(w.iter().skip(k).step_by(7).map(|&w| units(w)).sum()).to_bits()).collect();
        each_with(&[DType::F64, DType::U64], |d| {
            let weights = d.upload(&w).unwrap();
            let places = d.iota::<u32>(n as u64, 0, 1).unwrap();
            let found = d.histogram(binned(&places, 7, |i| i % 7)).weighted(&weights).run().unwrap().read_blocking().unwrap();
            assert_eq!(found.iter().map(|f| f.to_bits()).collect::<Vec<_>>(), sums, "{n}");
        });
    }
}

#[test]
fn special_weights_stay_special() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let w = [[1.0, 2.0], [inf, 1.0], [-inf, inf], [nan, 1.0], [-inf, -1.0], [-0.0, -0.0], [f32::MAX, f32::MAX], [f32::MIN, f32::MIN]];
    let sums = [3.0, inf, nan, nan, -inf, 0.0, inf, -inf];
    each(|d| {
        let weights = d.upload(w.as_flattened()).unwrap();
        let found = d.histogram(binned((&weights, index()), 8, |(_, i)| i / 2)).weighted(&weights).run().unwrap().read_blocking().unwrap();
        assert_eq!(found.map_bits(), sums.to_vec().map_bits());
    });
    let wide =
        |w: &[f32]| w.iter().map(|&w| if w.abs() == f32::MAX { f64::MAX.copysign(w.into()) } else { w.into() }).collect::<Vec<f64>>();
    each_with(&[DType::F64, DType::U64], |d| {
        let weights = d.upload(&wide(w.as_flattened())).unwrap();
        let found = d.histogram(binned((&weights, index()), 8, |(_, i)| i / 2)).weighted(&weights).run().unwrap().read_blocking().unwrap();
        assert!(found.iter().zip(wide(&sums)).all(|(f, s)| f.to_bits() == s.to_bits() || (f.to_bits() == 0x7FF8 << 48 && s.is_nan())));
    });
}

/// Floats as their bits.
trait Bits {
    fn map_bits(&self) -> Vec<u32>;
}
impl Bits for Vec<f32> {
    fn map_bits(&self) -> Vec<u32> {
        self.iter().map(|f| f.to_bits()).collect()
    }
}

#[test]
fn channels_have_bins_of_their_own() {
    for pixels in LENGTHS {
        let x = mt19937(99, 3 * pixels);
        let channel = |k: usize| x.iter().skip(k).step_by(3).copied();
        let mut even = vec![0u32; 7 + 1000];
        let mut ranges = [0u32; 5];
        for v in channel(0) {
            even[(u64::from(v) * 7 / u64::from(u32::MAX)).min(6) as usize] += u32::from(v != u32::MAX);
            ranges[usize::from(v >= 1 << 31)] += u32::from(v < 3 << 30);
        }
        for v in channel(1) {
            if (1 << 20..1 << 31).contains(&v) {
                even[7 + (u64::from(v - (1 << 20)) * 1000 / ((1 << 31) - (1 << 20))) as usize] += 1;
            }
            ranges[2 + usize::from(v >= 100) + usize::from(v >= 1 << 31)] += 1;
        }
        each(|d| {
            let x = d.upload(&x).unwrap();
            let found = d.histogram(channels_even(&x, 3, &[(0, u32::MAX, 7), (1 << 20, 1 << 31, 1000)])).run().unwrap();
            assert_eq!(found.read_blocking().unwrap(), even);
            let edges = (Edges::new(d, &[0, 1 << 31, 3 << 30]).unwrap(), Edges::new(d, &[0, 100, 1 << 31, u32::MAX]).unwrap());
            let found = d.histogram(channels_between(&x, 3, &[&edges.0, &edges.1])).run().unwrap();
            assert_eq!(found.read_blocking().unwrap(), ranges);
        });
    }
}

#[test]
fn weights_of_pixels_are_added_to_each_channel() {
    for pixels in LENGTHS {
        for (channels, active) in [(1usize, 1usize), (2, 2), (4, 3), (4, 4), (7, 4)] {
            let x: Vec<u8> = mt19937(3, channels * pixels).iter().map(|r| (r >> 24) as u8).collect();
            let w: Vec<i32> = mt19937(4, pixels).iter().map(|&r| r as i32).collect();
            let mut sums = vec![0i32; 5 * active];
            for (pixel, &w) in x.chunks_exact(channels).zip(&w) {
                for (k, &v) in pixel[..active].iter().enumerate().filter(|(_, v)| (20..220).contains(*v)) {
                    let bin = 5 * k + (usize::from(v) - 20) / 40;
                    sums[bin] = sums[bin].wrapping_add(w);
                }
            }
            each(|d| {
                let (x, w) = (d.upload(&x).unwrap(), d.upload(&w).unwrap());
                let of = (channels as u32, active as u32);
                let found = d.histogram(channels_alike(&x, of, 20, 220, 5)).weighted(&w).run().unwrap().read_blocking().unwrap();
                assert_eq!(found, sums, "{active} of {channels}, {pixels} pixels");
                // Sums of floats are those of each channel by itself.
                let w = d.map(&w, |w| w.cast::<f32>() * 1e-3).unwrap();
                let found = d.histogram(channels_alike(&x, of, 20, 220, 5)).weighted(&w).run().unwrap().read_blocking().unwrap();
                for (k, found) in found.chunks_exact(5).enumerate().filter(|_| pixels > 0) {
                    let one = x.strided(k as u64, pixels as u64, channels as i64).unwrap();
                    let wanted = d.histogram(even_bins(&one, 20, 220, 5)).weighted(&w).run().unwrap().read_blocking().unwrap();
                    assert_eq!(found.to_vec().map_bits(), wanted.map_bits());
                }
            });
        }
    }
}

#[test]
fn bad_bins_are_refused_and_nothing_is_written() {
    each(|d| {
        let x = d.iota::<u32>(1000, 0, 1).unwrap();
        let f = d.map(&x, Expr::cast::<f32>).unwrap();
        let (out, float_out) = (d.upload(&[7u32; 1000]).unwrap(), d.upload(&[7.0f32; 1000]).unwrap());
        let invalid = |r: isowarp::Result<()>, text: &str| match r {
            Err(e @ Error::InvalidArgument { .. }) => assert!(e.to_string().contains(text), "{e}"),
            other => panic!("{text}: {other:?}"),
        };
        invalid(d.histogram(even_bins(&x, 5, 5, 2)).write_to(&out), "has to be below");
        invalid(d.histogram(even_bins(&x, 0, 10, 11)).write_to(&out), "one wide");
        invalid(d.histogram(even_bins(&x, 0, 10, 0)).write_to(&out), "there is none");
        invalid(d.histogram(even_bins(&f, 0.0, f32::NAN, 4)).write_to(&out), "has to be below");
        invalid(d.histogram(even_bins(&f, f32::MIN, f32::MAX, 4)).write_to(&out), "no width");
        invalid(Edges::new(d, &[0.0f32]).map(drop), "1 of them");
        invalid(Edges::new(d, &[0.0f32, 2.0, 1.0]).map(drop), "edge 2 (1.0) is below edge 1 (2.0)");
        invalid(Edges::from_buffer(d.upload(&[0.0f32, f32::NAN]).unwrap()).map(drop), "edge 1 is NaN");
        invalid(d.histogram(channels_alike(&x, (4, 5), 0, 9, 3)).run().map(drop), "5 active ones of 4");
        invalid(d.histogram(channels_alike(&x, (3, 1), 0, 9, 3)).run().map(drop), "no whole pixels of 3");
        let two_edges = Edges::new(d, &[0u32, 9]).unwrap();
        invalid(d.histogram(channels_even(&x, 4, &[])).run().map(drop), "0 active ones of 4");
        invalid(d.histogram(channels_even(&x, 4, &[(0, 9, 3), (9, 9, 3)])).run().map(drop), "has to be below");
        invalid(d.histogram(channels_between(&x, 3, &[&two_edges])).run().map(drop), "no whole pixels of 3");
        invalid(d.histogram(channels_between(&x, 1, &[&two_edges; 2])).run().map(drop), "2 active ones of 1");
        let many = d.histogram(channels_even(&x, 2, &[(0, 1 << 30, 1 << 20), (0, 9, 3)])).run();
        assert!(matches!(many, Err(Error::TooLarge { what: "bins of all channels", requested: 1_048_579, .. })));
        let weighted = |x: &Buffer<Device, u32>, of, upper, bins, n: u64| {
            d.histogram(channels_alike(x, of, 0, upper, bins)).weighted(f.slice(..n).unwrap().reversed()).write_to(&float_out)
        };
        invalid(weighted(&x, (4, 5), 9, 3, 250), "5 active ones of 4");
        invalid(weighted(&x, (4, 0), 9, 3, 250), "0 active ones of 4");
        invalid(weighted(&x, (8, 5), 9, 3, 125), "5 active ones of 8");
        invalid(weighted(&x, (3, 1), 9, 3, 333), "no whole pixels of 3");
        invalid(weighted(&x, (4, 4), 0, 3, 250), "has to be below");
        invalid(weighted(&x, (4, 4), 9, 0, 250), "there is none");
        assert!(matches!(weighted(&x, (4, 4), 9, 3, 249), Err(Error::LengthMismatch { expected: 250, found: 249, .. })));
        assert!(matches!(weighted(&x, (4, 4), 900, 251, 250), Err(Error::BufferTooSmall { required: 1004, available: 1000, .. })));
        assert!(matches!(
            d.histogram(channels_alike(&x, (4, 1), 0, 9, 3)).weighted(&x.slice(..250).unwrap()).write_to(&x),
            Err(Error::Aliasing { .. })
        ));
        assert!(matches!(
            d.histogram(channels_alike(&x, (4, 1), 0, 9, 3)).weighted(&out.slice(..250).unwrap()).write_to(&out),
            Err(Error::Aliasing { .. })
        ));
        assert_eq!(float_out.read_blocking().unwrap(), [7.0; 1000]);
        let many = d.histogram(even_bins(&x, 0, 1 << 21, (1 << 20) + 1)).write_to(&out);
        assert!(matches!(many, Err(Error::TooLarge { requested: 1_048_577, limit: 1_048_576, .. })));
        let table = d.histogram((even_bins(&x, 0, 2048, 2048), even_bins(&x, 0, 1024, 1024))).run();
        assert!(matches!(table, Err(Error::TooLarge { requested: 2_097_152, .. })));
        let small = d.histogram(even_bins(&x, 0, 4000, 1001)).write_to(&out);
        assert!(matches!(small, Err(Error::BufferTooSmall { required: 1001, available: 1000, .. })));
        assert!(matches!(d.histogram(even_bins(&x, 0, 10, 5)).write_to(&x), Err(Error::Aliasing { .. })));
        let short = d.histogram(even_bins(&x, 0, 10, 5)).weighted(&out.slice(1..).unwrap()).run();
        assert!(matches!(short, Err(Error::LengthMismatch { expected: 1000, found: 999, .. })));
        assert!(out.read_blocking().unwrap().iter().all(|&v| v == 7));
        assert_eq!(x.read_blocking().unwrap()[..3], [0, 1, 2]);
    });
}

#[test]
fn histograms_of_pieces_are_those_of_the_whole() {
    let x = mt19937(42, 50_021);
    // Sums that only an exact one keeps: the great weights go away again, pieces later.
    let w: Vec<f32> = (0..x.len()).map(|i| if i % 5 == 0 { 1.5 } else { [3e38f32, 2e-30, -3e38][i * 3 / x.len()] }).collect();
    each(|d| {
        let (x, w) = (d.upload(&x).unwrap(), d.upload(&w).unwrap());
        let (mut counts, mut sums) = (HistogramTotal::<_, u32>::counts(d, 77).unwrap(), HistogramTotal::<_, f32>::sums(d, 77).unwrap());
        let nothing = sums.result().unwrap().read_blocking().unwrap();
        assert_eq!(nothing, [0.0; 77]);
        for cut in [0..10_000, 10_000..10_001, 10_001..40_000, 40_000..50_021] {
            let (x, w) = (x.slice(cut.clone()).unwrap(), w.slice(cut).unwrap());
            counts.add(even_bins(&x, 0, u32::MAX, 77)).unwrap();
            sums.add_weighted(even_bins(&x, 0, u32::MAX, 77), &w).unwrap();
        }
        let (counts, sums) = (counts.result().unwrap().read_blocking().unwrap(), sums.result().unwrap().read_blocking().unwrap());
        assert_eq!(counts, d.histogram(even_bins(&x, 0, u32::MAX, 77)).run().unwrap().read_blocking().unwrap());
        let whole = d.histogram(even_bins(&x, 0, u32::MAX, 77)).weighted(&w).run().unwrap().read_blocking().unwrap();
        assert!(sums.iter().zip(&whole).all(|(a, b)| a.to_bits() == b.to_bits()));
    });
}

#[test]
fn pieces_that_do_not_fit_are_refused_and_not_added() {
    each(|d| {
        let x = d.iota(100, 0u32, 1).unwrap();
        let mut total = HistogramTotal::<_, u32>::counts(d, 2).unwrap();
        total.add(even_bins(&x, 0, 50, 2)).unwrap();
        assert!(matches!(total.add(even_bins(&x, 0, 50, 3)), Err(Error::InvalidArgument { what: "bins", .. })));
        assert!(matches!(total.add(even_bins(&x, 9, 9, 2)), Err(Error::InvalidArgument { .. })));
        assert!(matches!(total.add_weighted(even_bins(&x, 0, 50, 2), &x), Err(Error::InvalidArgument { .. })));
        assert_eq!(total.result().unwrap().read_blocking().unwrap(), [25, 25]);
        let mut sums = HistogramTotal::<_, u32>::sums(d, 2).unwrap();
        assert!(matches!(sums.add_weighted(even_bins(&x, 0, 50, 2), &x.slice(1..).unwrap()), Err(Error::LengthMismatch { .. })));
        assert!(matches!(sums.add(even_bins(&x, 0, 50, 2)), Err(Error::InvalidArgument { .. })));
        assert_eq!(sums.result().unwrap().read_blocking().unwrap(), [0, 0]);
    });
}

#[test]
fn more_samples_than_a_u32_counts_are_refused_in_pieces_too() {
    // Nothing is read of samples that are no buffer, so so many take no time where they are refused.
    let d = isowarp::Cpu::new();
    let mut total = HistogramTotal::<_, u32>::counts(&d, 2).unwrap();
    let x = d.upload(&[1u32]).unwrap();
    total.add(even_bins(&x, 0, 4, 2)).unwrap();
    let all = x.strided(0, u64::from(u32::MAX), 0).unwrap();
    assert!(matches!(total.add(even_bins(&all, 0, 4, 2)), Err(Error::TooLarge { requested: 0x1_0000_0000, .. })));
    assert_eq!(total.result().unwrap().read_blocking().unwrap(), [1, 0]);
}
