//! Modifiers that several patterns share, against plain loops and the standard library. On every device.

use crate::common::{each, each_with, mt19937};
use isowarp::backend::Backend as _;
use isowarp::buffer::Buffer;
use isowarp::element::{DType, Element};
use isowarp::prelude::*;
use isowarp::{Device, Error};
use std::cmp::Ordering;

fn read<T: Element>(x: isowarp::Result<Buffer<Device, T>>) -> Vec<T> {
    x.and_then(|x| x.read_blocking()).unwrap()
}

/// Floats of many values with zeroes of either sign, infinities, and NaN of any sign and payload.
fn floats(n: usize) -> Vec<f32> {
    let special =
        [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN, f32::from_bits(0x7f80_0001), f32::from_bits(0xffff_ffff)];
    mt19937(11, n).into_iter().map(|x| if x % 5 == 0 { special[x as usize / 5 % 8] } else { (x % 1000) as f32 - 500.0 }).collect()
}

/// The order with NaN after all numbers, and these in total order, up or down.
fn nan_last(a: f32, b: f32, descending: bool) -> Ordering {
    let numbers = if descending { b.total_cmp(&a) } else { a.total_cmp(&b) };
    a.is_nan().cmp(&b.is_nan()).then(if a.is_nan() { Ordering::Equal } else { numbers })
}

/// Bits, of all NaN those of the canonical one.
fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() }).collect()
}

fn raw(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// Indices of the elements that the lines along an axis hold.
fn lines(shape: [usize; 3]) -> Vec<Vec<usize>> {
    let [outer, n, inner] = shape;
    (0..outer * inner).map(|l| (0..n).map(|k| (l / inner * n + k) * inner + l % inner).collect()).collect()
}

#[test]
fn arrays_are_broadcast_as_numpy_broadcasts_them() {
    // numpy.broadcast_to(numpy.arange(a.size).reshape(a), b).ravel(), by its rule: an index along an axis of one element is 0.
    let cases: [(&[u64], &[u64]); 9] = [
        (&[3, 1], &[3, 4]),
        (&[4], &[3, 4]),
        (&[1, 4], &[3, 4]),
        (&[1], &[5]),
        (&[], &[2, 2]),
        (&[2, 1, 3], &[2, 5, 3]),
        (&[1, 5, 1], &[2, 5, 3]),
        (&[3, 1, 4, 1], &[3, 2, 4, 8]),
        (&[2, 3], &[2, 3]),
    ];
    each(|d| {
        for (from, to) in cases {
            let x = d.iota(from.iter().product(), 100u32, 1).unwrap();
            let padded: Vec<u64> = vec![1; to.len() - from.len()].into_iter().chain(from.iter().copied()).collect();
            let expected: Vec<u32> = (0..to.iter().product::<u64>())
                .map(|i| {
                    let (mut rest, mut at, mut stride) = (i, 0, 1);
                    for (&own, &n) in padded.iter().zip(to).rev() {
                        at += if own == 1 { 0 } else { rest % n * stride };
                        (rest, stride) = (rest / n, stride * own);
                    }
                    100 + at as u32
                })
                .collect();
            assert_eq!(read(d.map(x.broadcast(from, to), |x| x)), expected, "{from:?} to {to:?}");
        }
        // Verbs take them as any input: a sort, a scan, a merge.
        let x = d.upload(&[2u32, 1]).unwrap();
        let wide = || x.broadcast(&[2, 1], &[2, 3]);
        assert_eq!(read(d.sort(wide()).run()), [1, 1, 1, 2, 2, 2]);
        assert_eq!(read(d.scan(wide(), Sum).axis(&[2, 3], 1).run()), [2, 4, 6, 1, 2, 3]);
        assert_eq!(d.sum(wide()).unwrap().read_blocking().unwrap(), 9);
        assert_eq!(read(d.merge(x.reversed().broadcast(&[2, 1], &[2, 2]), &x.slice(..1).unwrap()).run()), [1, 1, 2, 2, 2]);
        assert!(read(d.map(x.slice(..0).unwrap().broadcast(&[0, 1], &[0, 9]), |x| x)).is_empty());
        assert!(read(d.map(x.slice(..1).unwrap().broadcast(&[1], &[0]), |x| x)).is_empty());
    });
}

#[test]
fn shapes_that_do_not_broadcast_are_refused_and_nothing_is_written() {
    each(|d| {
        let (x, y, out) = (d.upload(&[1u32; 6]).unwrap(), d.upload(&[1u32; 12]).unwrap(), d.upload(&[7u32; 12]).unwrap());
        let refused = |from: &[u64], to: &[u64]| d.map_into(x.broadcast(from, to), |x| x, &out).unwrap_err();
        for (from, to) in [(&[2, 3][..], &[2, 4][..]), (&[6], &[6, 2]), (&[6, 1], &[6]), (&[2, 3], &[4, 3]), (&[6], &[1])] {
            assert!(matches!(refused(from, to), Error::InvalidArgument { what: "shapes", .. }), "{from:?} to {to:?}");
        }
        assert_eq!(refused(&[2, 3], &[2, 4]).to_string(), "shapes: [2, 3] is not broadcast to [2, 4]");
        assert!(matches!(refused(&[5, 1], &[5, 2]), Error::LengthMismatch { expected: 5, found: 6, .. }));
        assert!(matches!(refused(&[6, 1], &[6, 1 << 31]), Error::TooLarge { .. }));
        let zipped = d.map_into((&y, x.broadcast(&[6], &[3, 6])), |(y, x)| y + x, &out);
        assert!(matches!(zipped, Err(Error::LengthMismatch { expected: 12, found: 18, .. })));
        assert!(matches!(d.map_into(out.slice(..6).unwrap().broadcast(&[6], &[2, 6]), |x| x, &out), Err(Error::Aliasing { .. })));
        assert_eq!(read(Ok(out)), [7; 12]);
    });
}

#[test]
fn lines_along_any_axis_are_sorted_as_slices_are() {
    each(|d| {
        for (shape, axis) in [([1, 50, 9], 1), ([4, 33, 6], 1), ([1, 4, 198], 1), ([5, 1, 40], 1), ([6, 50, 1], 1)] {
            let n: usize = shape.iter().product();
            let x: Vec<u32> = mt19937(3, n).into_iter().map(|x| x % 17).collect();
            let (mut up, mut down, mut order) = (x.clone(), x.clone(), vec![0; n]);
            for line in lines(shape) {
                let mut at: Vec<usize> = (0..line.len()).collect();
                at.sort_by_key(|&k| x[line[k]]);
                let mut falling = at.clone();
                falling.sort_by_key(|&k| (std::cmp::Reverse(x[line[k]]), k));
                for (to, (&rises, &falls)) in line.iter().zip(at.iter().zip(&falling)) {
                    (up[*to], down[*to], order[*to]) = (x[line[rises]], x[line[falls]], rises as u32);
                }
            }
            let (shape, x) = (shape.map(|n| n as u64), d.upload(&x).unwrap());
            let v = d.iota(x.len(), 0u32, 1).unwrap();
            assert_eq!(read(d.sort(&x).axis(&shape, axis).run()), up, "{shape:?}");
            assert_eq!(read(d.sort(&x).descending().axis(&shape, axis).run()), down);
            assert_eq!(read(d.argsort(&x).axis(&shape, axis).run()), order);
            assert_eq!(read(d.argsort(x.map(|x| x)).axis(&shape, axis).run()), order);
            let (keys, indices) = d.sort(x.map(|x| x)).with_indices().axis(&shape, axis).run().unwrap();
            assert_eq!((read(Ok(keys)), read(Ok(indices))), (up.clone(), order.clone()));
            // Values go where a gather along the axis takes them.
            let (_, values) = d.sort(&x).with_values(&v).axis(&shape, axis).run().unwrap();
            let at = d.argsort(&x).axis(&shape, axis).run().unwrap();
            assert_eq!(read(Ok(values)), read(d.gather(&v, &at).axis(&shape, axis).run()));
            assert_eq!(read(d.gather(&x, &at).checked().axis(&shape, axis).run()), up);
            // The first keys are the start of each line.
            let k = shape[1].min(3) as usize;
            let (first, places) = d.top_k(&x, k as u64).smallest().axis(&shape, axis).with_indices().run().unwrap();
            let of = |all: &[u32]| -> Vec<u32> {
                let [outer, n, inner] = shape.map(|n| n as usize);
                (0..outer).flat_map(|o| all[o * n * inner..][..k * inner].to_vec()).collect()
            };
            assert_eq!((read(Ok(first.clone())), read(Ok(places.clone()))), (of(&up), of(&order)), "{shape:?}");
            let (keys, values) = d.top_k(&x, k as u64).with_values(v.map(|v| v * 3)).smallest().axis(&shape, axis).run().unwrap();
            assert_eq!(read(Ok(keys)), read(Ok(first)));
            assert_eq!(read(Ok(values)), read(d.gather(v.map(|v| v * 3), &places).axis(&shape, axis).run()));
            d.sort(&x).with_values(&v).axis(&shape, axis).in_place().unwrap();
            assert_eq!(read(Ok(x)), up);
        }
    });
}

#[test]
fn sorts_along_an_axis_that_do_not_fit_are_refused_and_nothing_is_written() {
    each(|d| {
        let (x, out) = (d.upload(&[3u32; 12]).unwrap(), d.upload(&[7u32; 12]).unwrap());
        assert!(matches!(d.sort(&x).axis(&[3, 4], 2).write_to(&out), Err(Error::InvalidArgument { what: "axis", .. })));
        assert!(matches!(d.sort(&x).axis(&[3, 5], 0).write_to(&out), Err(Error::LengthMismatch { expected: 15, found: 12, .. })));
        assert!(matches!(d.sort(&x).axis(&[3, 4], 0).write_to(&x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.sort(&x).axis(&[3, 4], 0).write_to(&out.slice(1..).unwrap()), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(d.top_k(&x, 4).axis(&[3, 4], 0).write_to(&out), Err(Error::TooLarge { requested: 4, limit: 3, .. })));
        assert!(matches!(d.top_k(&x, 2).axis(&[3, 4], 0).write_to(&out.slice(5..).unwrap()), Err(Error::BufferTooSmall { .. })));
        let at = d.upload(&[0u32, 1, 2, 3]).unwrap();
        assert!(matches!(d.gather(&x, &at).axis(&[3, 4], 2).write_to(&out), Err(Error::InvalidArgument { what: "axis", .. })));
        assert!(matches!(d.gather(&x, &at).axis(&[3, 5], 0).write_to(&out), Err(Error::LengthMismatch { expected: 15, found: 12, .. })));
        assert!(matches!(d.gather(&x, &at).axis(&[3, 4], 1).write_to(&out), Err(Error::LengthMismatch { expected: 6, found: 4, .. })));
        let outside = d.gather(&x, &at).axis(&[3, 4], 0).checked().write_to(&out);
        assert!(matches!(outside, Err(Error::IndexOutOfRange { position: 3, index: 3, limit: 3, .. })));
        assert_eq!(read(Ok(out.clone())), [7; 12]);
        // Unchecked, it gives zero.
        d.gather(&x, &at).axis(&[3, 4], 0).write_to(&out).unwrap();
        assert_eq!(read(Ok(out))[..5], [3, 3, 3, 0, 7]);
    });
}

#[test]
fn nan_come_last_in_either_order_and_keep_their_own() {
    let x = floats(3001);
    each(|d| {
        let keys = d.upload(&x).unwrap();
        for descending in [false, true] {
            let order = if descending { SortOrder::Descending } else { SortOrder::Ascending };
            let mut at: Vec<u32> = (0..x.len() as u32).collect();
            at.sort_by(|&a, &b| nan_last(x[a as usize], x[b as usize], descending));
            let sorted: Vec<f32> = at.iter().map(|&i| x[i as usize]).collect();
            assert_eq!(read(d.argsort(&keys).order(order).nan_last().run()), at);
            assert_eq!(raw(&read(d.sort(&keys).order(order).nan_last().run())), bits(&sorted));
            let (k, v) = d.sort(&keys).order(order).nan_last().with_values(counting(3001)).run().unwrap();
            assert_eq!((raw(&read(Ok(k))), read(Ok(v))), (bits(&sorted), at.clone()));
            let (k, v) = d.top_k(&keys, 3001).order(order).nan_last().with_indices().run().unwrap();
            assert_eq!((raw(&read(Ok(k))), read(Ok(v))), (bits(&sorted), at.clone()));
            let (k, v) = d.top_k(&keys, 20).order(order).nan_last().with_indices().run().unwrap();
            assert_eq!((raw(&read(Ok(k))), read(Ok(v))), (bits(&sorted[..20]), at[..20].to_vec()));
            let place = d.upload(&x).unwrap();
            d.sort(&place).order(order).nan_last().in_place().unwrap();
            assert_eq!(raw(&read(Ok(place.clone()))), bits(&sorted));
            assert_eq!(d.is_sorted(&place).order(order).nan_last().run().unwrap().read_blocking().unwrap(), 1);
            d.is_sorted(&place).order(order).nan_last().check().unwrap();
            // Sorted by the standard library with NaN of any sign and payload at the end.
            let own = d.upload(&sorted).unwrap();
            let lower: Vec<u32> = x.iter().map(|&x| sorted.partition_point(|&s| nan_last(s, x, descending).is_lt()) as u32).collect();
            let upper: Vec<u32> = x.iter().map(|&x| sorted.partition_point(|&s| nan_last(s, x, descending).is_le()) as u32).collect();
            let equal: Vec<u32> = lower.iter().zip(&upper).map(|(l, u)| u - l).collect();
            assert_eq!(read(d.lower_bound(&own, &keys).order(order).nan_last().run()), lower);
            assert_eq!(read(d.upper_bound(&own, keys.map(|x| x)).order(order).nan_last().run()), upper);
            assert_eq!(read(d.count_equal(&own, &keys).order(order).nan_last().run()), equal);
        }
        // Without it: the total order.
        let mut total: Vec<f32> = x.clone();
        total.sort_by(f32::total_cmp);
        assert_eq!(raw(&read(d.sort(&keys).run())), raw(&total));
    });
}

#[test]
fn nan_last_holds_in_every_domain() {
    let x = floats(1200);
    let ends = [0usize, 100, 100, 777, 1200];
    each(|d| {
        let keys = d.upload(&x).unwrap();
        let offsets = d.upload(&ends.map(|e| e as u32)).unwrap();
        let mut expected = x.clone();
        ends.windows(2).for_each(|w| expected[w[0]..w[1]].sort_by(|&a, &b| nan_last(a, b, true)));
        assert_eq!(raw(&read(d.sort(&keys).segments(&offsets).nan_last().descending().run())), bits(&expected));
        let mut expected = x.clone();
        for line in lines([1, 40, 30]) {
            let mut of: Vec<f32> = line.iter().map(|&i| x[i]).collect();
            of.sort_by(|&a, &b| nan_last(a, b, true));
            line.iter().zip(of).for_each(|(&i, x)| expected[i] = x);
        }
        assert_eq!(raw(&read(d.sort(&keys).descending().axis(&[40, 30], 0).nan_last().run())), bits(&expected));
        let count = d.upload_scalar(500u32).unwrap();
        let mut expected = x[..500].to_vec();
        expected.sort_by(|&a, &b| nan_last(a, b, false));
        let sorted = d.sort(&keys).length(&count).nan_last().run().unwrap();
        assert_eq!(raw(&sorted.read_blocking().unwrap()), bits(&expected));
        // Integers have none.
        let n = d.upload(&[3i32, -1, 2]).unwrap();
        assert_eq!(read(d.sort(&n).descending().nan_last().run()), [3, 2, -1]);
        assert_eq!(read(d.lower_bound(&d.sort(&n).run().unwrap(), &n).nan_last().run()), [2, 0, 1]);
        // Whole keys, and no comparator.
        let out = d.upload(&[7.0f32; 1200]).unwrap();
        assert!(matches!(d.sort(&keys).nan_last().bits(0..9).write_to(&out), Err(Error::InvalidArgument { what: "bits", .. })));
        assert!(matches!(d.sort(&keys).nan_last().by(Expr::lt).write_to(&out), Err(Error::InvalidArgument { what: "nan_last", .. })));
        assert!(matches!(d.lower_bound(&keys, &keys).by(Expr::lt).nan_last().run(), Err(Error::InvalidArgument { what: "nan_last", .. })));
        assert!(matches!(d.sort(&keys).nan_last().write_to(&keys), Err(Error::Aliasing { .. })));
        assert_eq!(read(Ok(out)), [7.0; 1200]);
    });
}

#[test]
fn flow_bins_have_what_is_outside() {
    let x = floats(5000);
    let mut evenly = [0u32; 12];
    let mut edged = [0u32; 5];
    for &x in &x {
        // Bins of -200..300, 50 wide.
        evenly[if x < -200.0 {
            0
        } else if x < 300.0 {
            1 + ((x + 200.0) / 50.0) as usize
        } else {
            11
        }] += 1;
        edged[if x < -9.0 {
            0
        } else if x < 0.0 {
            1
        } else if x < 1.0 {
            2
        } else if x < 400.0 {
            3
        } else {
            4
        }] += 1;
    }
    each(|d| {
        let samples = d.upload(&x).unwrap();
        let edges = Edges::new(d, &[-9.0f32, 0.0, 1.0, 400.0]).unwrap();
        assert_eq!(read(d.histogram(even_bins(&samples, -200.0, 300.0, 10).with_flow()).run()), evenly);
        assert_eq!(read(d.histogram(bins_between(&samples, &edges).with_flow()).run()), edged);
        let inner = read(d.histogram(even_bins(&samples, -200.0, 300.0, 10)).run());
        assert_eq!(inner, evenly[1..11]);
        let table =
            read(d.histogram((even_bins(&samples, -200.0, 300.0, 10).with_flow(), bins_between(&samples, &edges).with_flow())).run());
        let rows: Vec<u32> = table.chunks(5).map(|row| row.iter().sum()).collect();
        assert_eq!((table.len(), rows), (60, evenly.to_vec()));
        let bytes = d.upload(&[0u8, 15, 16, 200, 239, 240, 255]).unwrap();
        assert_eq!(read(d.histogram(even_bins(&bytes, 16, 240, 2).with_flow()).run()), [2, 1, 2, 2]);
        assert_eq!(read(d.histogram(even_bins(&bytes, 16, 240, 2).with_flow()).weighted(index()).run()), [1, 2, 7, 11]);
        // Two bins more than there may be.
        let most = even_bins(&bytes, 0, 1 << 20, 1 << 20);
        assert!(d.histogram(most).run().is_ok());
        assert!(matches!(d.histogram(most.with_flow()).run(), Err(Error::TooLarge { what: "bins", .. })));
    });
}

/// Every conversion of values of a type, beside the clamp in Rust's integers of 128 bits.
macro_rules! clamped {
    ($d:ident, $x:expr, $of:expr, $($to:ty),*) => {{$(
        if $d.caps().supports(<$to as Element>::DTYPE) {
            let expected: Vec<$to> = $x.iter().map(|&x| $of(x).clamp(<$to>::MIN as i128, <$to>::MAX as i128) as $to).collect();
            let x = $d.upload(&$x).unwrap();
            assert_eq!(read($d.map(&x, |x| x.saturating_cast::<$to>().store_as::<$to>())), expected, stringify!($to));
        }
    )*}};
}

#[test]
fn saturating_casts_clamp_as_rust_does() {
    let words = mt19937(9, 2000);
    let mut signed: Vec<i32> = words.iter().map(|&x| (x as i32) >> (x % 32)).collect();
    signed.extend([i32::MIN, -32769, -32768, -129, -128, -1, 0, 127, 128, 255, 256, 32767, 32768, 65535, 65536, i32::MAX]);
    let unsigned: Vec<u32> = signed.iter().map(|&x| x as u32).collect();
    let mut reals: Vec<f32> = signed.iter().map(|&x| x as f32 * 0.75).collect();
    reals.extend(signed.iter().map(|&x| f32::from_bits(x as u32)));
    reals.extend([255.0, 255.99, 256.0, -0.99, -1.0, 1e30, -1e30, f32::INFINITY, f32::NEG_INFINITY, f32::NAN]);
    each(|d| {
        clamped!(d, signed, i128::from, u8, i8, u16, i16, u32, i32, u64, i64);
        clamped!(d, unsigned, i128::from, u8, i8, u16, i16, u32, i32, u64, i64);
        clamped!(d, reals, |x: f32| x as i128, u8, i8, u16, i16, u32, i32, u64, i64);
        // A cast wraps.
        let x = d.upload(&[300i32, -1]).unwrap();
        assert_eq!(read(d.map(&x, Expr::saturating_cast::<u8>)), [255, 0]);
        assert_eq!(read(d.cast::<_, u8>(&x)), [44, 255]);
    });
    let wide: Vec<i64> = signed.iter().zip(&words).map(|(&x, &w)| i64::from(x) << (w % 33)).chain([i64::MIN, i64::MAX]).collect();
    let natural: Vec<u64> = wide.iter().map(|&x| x as u64).collect();
    each_with(&[DType::I64, DType::U64], |d| {
        clamped!(d, wide, i128::from, u8, i8, u16, i16, u32, i32, u64, i64);
        clamped!(d, natural, i128::from, u8, i8, u16, i16, u32, i32, u64, i64);
    });
    let doubles: Vec<f64> = wide.iter().map(|&x| x as f64 * 1.25).chain(natural.iter().map(|&x| f64::from_bits(x))).collect();
    each_with(&[DType::F64, DType::U64], |d| clamped!(d, doubles, |x: f64| x as i128, u8, i8, u16, i16, u32, i32, u64, i64));
}

#[test]
fn sets_of_computed_inputs_by_a_comparator_are_those_of_arrays() {
    let size = |a: Expr<i32>, b: Expr<i32>| a.abs().lt(b.abs());
    each(|d| {
        let (x, y) = (d.iota(300, -7i32, -3).unwrap(), d.iota(200, 2i32, 5).unwrap());
        let (a, b) = (x.map(|x| x / 2), y.map(|y| -(y / 3)));
        let (stored_a, stored_b) = (d.map(a, |x| x).unwrap(), d.map(b, |x| x).unwrap());
        let kept = |of: isowarp::Result<isowarp::patterns::Selected<Device, Buffer<Device, i32>>>| of.unwrap().read_blocking().unwrap();
        assert_eq!(kept(d.union(a, b).by(size).run()), kept(d.union(&stored_a, &stored_b).by(size).run()));
        assert_eq!(kept(d.intersection(a, &stored_b).by(size).run()), kept(d.intersection(&stored_a, &stored_b).by(size).run()));
        assert_eq!(kept(d.difference(&stored_a, b).by(size).run()), kept(d.difference(&stored_a, &stored_b).by(size).run()));
        let both = kept(d.symmetric_difference(a, b).by(size).run());
        // A multiset by sizes: what one has more often than the other.
        let count = |of: &[i32], s: i32| of.iter().filter(|x| x.abs() == s).count();
        let (of_a, of_b) = (read(Ok(stored_a)), read(Ok(stored_b)));
        for s in 0..500 {
            assert_eq!(count(&both, s), count(&of_a, s).abs_diff(count(&of_b, s)), "size {s}");
        }
        let (out, number) = (d.upload(&[7i32; 500]).unwrap(), d.upload(&[7u32]).unwrap());
        assert!(matches!(d.union(a, b).by(size).write_to((&out.slice(1..).unwrap(), &number)), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(d.union(a, b).by(size).write_to((&x, &number)), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(d.difference(a, b).by(size).write_to((&x, &number)), Err(Error::Aliasing { .. })));
        assert_eq!((read(Ok(out)), read(Ok(number))), (vec![7; 500], vec![7]));
    });
}
