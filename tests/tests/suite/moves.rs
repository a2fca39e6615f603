//! Moves against figures from elsewhere, and what becomes of bad input.

use crate::common::{each, each_with, mt19937};
use isowarp::backend::Backend as _;
use isowarp::element::{DType, Element, Scalar};
use isowarp::patterns::IndexElement;
use isowarp::patterns::moves::IndexScalar as _;
use isowarp::prelude::*;
use isowarp::{Device, Error};

#[test]
fn morton_order_is_that_of_the_textbook() {
    // Ansorge, appendix G.5, 16 x 16: x in the even bits and y in the odd ones.
    each(|d| {
        let codes = d.from_morton(&d.iota(256, 0u32, 1).unwrap(), &[16, 16]).run().unwrap().read_blocking().unwrap();
        assert_eq!(codes[..16], [0, 1, 4, 5, 16, 17, 20, 21, 64, 65, 68, 69, 80, 81, 84, 85]);
        assert_eq!((codes[16], codes[15 * 16], codes[255]), (2, 170, 255));
    });
}

#[test]
fn moves_are_their_formulas() {
    each(|d| {
        let x: Vec<u32> = (0..6 * 7 * 8).collect();
        let y = d.permute_axes(&d.upload(&x).unwrap(), &[6, 7, 8], &[2, 0, 1]).run().unwrap().read_blocking().unwrap();
        let formula = |i: u32| (i / 7 % 6) * 56 + (i % 7) * 8 + i / 42;
        assert!(y.iter().zip(0..).all(|(&v, i)| v == formula(i)));
        let x = d.iota(10, 0i32, 1).unwrap();
        assert_eq!(d.rotate(&x, 3).run().unwrap().read_blocking().unwrap(), [7, 8, 9, 0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(d.reverse(&x).run().unwrap().read_blocking().unwrap(), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
        let at = d.upload(&[2i32, -1, 9, 10, 2]).unwrap();
        assert_eq!(d.gather(&x, &at).run().unwrap().read_blocking().unwrap(), [2, 0, 9, 0, 2]);
        // NumPy: the last value of a repeated index is assigned.
        let out = d.iota(10, 100i32, 0).unwrap();
        d.scatter(&x.slice(..5).unwrap(), &at).write_to(&out).unwrap();
        assert_eq!(out.read_blocking().unwrap(), [100, 100, 4, 100, 100, 100, 100, 100, 100, 2]);
        d.scatter(&x.slice(..5).unwrap(), &at).reduce(ScatterOp::Max).write_to(&out).unwrap();
        d.scatter(&x.slice(..5).unwrap(), &at).reduce(ScatterOp::Sum).write_to(&out).unwrap();
        assert_eq!(out.read_blocking().unwrap(), [100, 100, 8, 100, 100, 100, 100, 100, 100, 4]);
    });
}

#[test]
fn scattered_values_are_combined_in_their_order() {
    // Maps of the line, a * t + b modulo 2^16, one behind the other: an operator that does not commute.
    let behind = |x: u32, y: u32| ((x >> 16).wrapping_mul(y >> 16) << 16) | ((x & 0xFFFF).wrapping_mul(y >> 16).wrapping_add(y) & 0xFFFF);
    let op = || {
        Op::associative(1u32 << 16, |x: Expr<u32>, y: Expr<u32>| ((x >> 16) * (y >> 16)) << 16 | (((x & 0xFFFF) * (y >> 16) + y) & 0xFFFF))
    };
    for (n, targets) in [(0usize, 3u32), (1, 1), (257, 1), (5000, 300), (70_001, 9000)] {
        let x = mt19937(5, n);
        let at: Vec<u32> = mt19937(6, n).iter().map(|r| r % (targets + 2)).collect();
        let before = mt19937(7, targets as usize);
        let (mut added, mut fresh) = (before.clone(), vec![None; targets as usize]);
        for (&x, &k) in x.iter().zip(&at).filter(|(_, k)| **k < targets) {
            added[k as usize] = behind(added[k as usize], x);
            fresh[k as usize] = Some(fresh[k as usize].map_or(x, |a| behind(a, x)));
        }
        let fresh: Vec<u32> = fresh.into_iter().map(|s| s.unwrap_or(1 << 16)).collect();
        // Sums of floats are those of reductions of the sources, behind what was there.
        let sources: Vec<f32> = x.iter().map(|&x| x as f32 / 1e5 - 20_000.0).collect();
        each(|d| {
            let (x, at_, out) = (d.upload(&x).unwrap(), d.upload(&at).unwrap(), d.upload(&before).unwrap());
            d.scatter(&x, &at_).combine(op()).write_to(&out).unwrap();
            assert_eq!(out.read_blocking().unwrap(), added);
            assert_eq!(d.scatter(&x, &at_).combine(op()).run(targets.into()).unwrap().read_blocking().unwrap(), fresh);
            let wide = d.cast::<_, u64>(&at_).unwrap();
            assert_eq!(d.scatter(&x, &wide).combine(op()).run(targets.into()).unwrap().read_blocking().unwrap(), fresh);
            let out = d.upload(&before).unwrap();
            d.scatter_pairs((&at_, &x).map(|p| p)).combine(op()).write_to(&out).unwrap();
            assert_eq!(out.read_blocking().unwrap(), added);
            let sums = d.upload(&vec![0.1f32; targets as usize]).unwrap();
            d.scatter(&d.upload(&sources).unwrap(), &at_).combine(Sum).write_to(&sums).unwrap();
            for k in [0, targets / 2, targets - 1] {
                let of: Vec<f32> = sources.iter().zip(&at).filter(|(_, a)| **a == k).map(|(x, _)| *x).collect();
                let wanted =
                    if of.is_empty() { 0.1 } else { 0.1 + d.reduce(&d.upload(&of).unwrap(), Sum).run().unwrap().read_blocking().unwrap() };
                assert_eq!(sums.read_blocking().unwrap()[k as usize].to_bits(), wanted.to_bits(), "{k} of {targets}");
            }
        });
    }
}

#[test]
fn what_cannot_be_combined_is_refused_and_nothing_is_written() {
    each(|d| {
        let (x, out) = (d.iota(4, 1u32, 1).unwrap(), d.iota(4, 7u32, 0).unwrap());
        let far = d.upload(&[0i32, -1, 1, 9]).unwrap();
        let wrong = Error::IndexOutOfRange { pattern: "scatter_combine", position: 1, index: -1, limit: 4 };
        assert_eq!(d.scatter(&x, &far).combine(Product).checked().write_to(&out).unwrap_err(), wrong);
        let short = d.scatter(&x.slice(..3).unwrap(), &far).combine(Product).write_to(&out);
        assert!(matches!(short, Err(Error::LengthMismatch { .. })));
        assert!(matches!(d.scatter(&x, &far).combine(Sum).write_to(&x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.scatter_pairs(x.map(|x| (x, x))).combine(Sum).write_to(&x), Err(Error::Aliasing { .. })));
        assert_eq!((out.read_blocking().unwrap(), x.read_blocking().unwrap()), (vec![7; 4], vec![1, 2, 3, 4]));
        // Indices that name no element write nothing.
        d.scatter(&x, &far).combine(Product).write_to(&out).unwrap();
        assert_eq!(out.read_blocking().unwrap(), [7, 21, 7, 7]);
        d.scatter(&x, &far).combine(Product).write_to(&out.slice(..0).unwrap()).unwrap();
    });
}

#[test]
fn indices_that_are_wrong_are_named_and_nothing_is_written() {
    each(|d| {
        let (x, out) = (d.iota(4, 1u32, 1).unwrap(), d.iota(4, 7u32, 0).unwrap());
        let far = d.upload(&[0u32, 4, 1, 9]).unwrap();
        let wrong = |pattern| Error::IndexOutOfRange { pattern, position: 1, index: 4, limit: 4 };
        assert_eq!(d.gather(&x, &far).checked().run().unwrap_err(), wrong("gather"));
        assert_eq!(d.scatter(&x, &far).checked().write_to(&out).unwrap_err(), wrong("scatter"));
        assert_eq!(d.scatter(&x, &far).unique().checked().write_to(&out).unwrap_err(), wrong("scatter_unique"));
        let twice = d.upload(&[3u32, 0, 3, 0]).unwrap();
        let repeated = Error::DuplicateIndex { pattern: "scatter_unique", position: 2, index: 3 };
        assert_eq!(d.scatter(&x, &twice).unique().checked().write_to(&out).unwrap_err(), repeated);
        assert!(matches!(d.scatter(&x.slice(..3).unwrap(), &far).write_to(&out), Err(Error::LengthMismatch { .. })));
        assert!(matches!(d.scatter(&x, &far).write_to(&x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.gather(&x, &far).write_to(&out.slice(1..).unwrap()), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(d.gather(&x, &far).write_to(&x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.transpose(&x, 3, 2).run(), Err(Error::LengthMismatch { .. })));
        assert!(matches!(d.transpose(&x, 2, 2).write_to(&x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.permute_axes(&x, &[2, 2], &[0, 0]).run(), Err(Error::InvalidArgument { .. })));
        assert!(matches!(d.copy_2d_into((&x, 2), (&out, 1), 2, 2), Err(Error::InvalidArgument { .. })));
        assert!(matches!(d.copy_2d_into((&x, 3), (&out, 2), 2, 2), Err(Error::OutOfRange { .. })));
        assert!(matches!(d.to_morton(&x, &[1, 3]).run(), Err(Error::InvalidArgument { .. })));
        assert_eq!(out.read_blocking().unwrap(), [7; 4]);
    });
}

#[test]
fn two_halves_of_one_buffer_may_be_source_and_destination() {
    each(|d| {
        let x = d.iota(128 * 64 * 2, 0u32, 1).unwrap();
        let (low, high) = (x.slice(..8192).unwrap(), x.slice(8192..).unwrap());
        d.transpose(&low, 128, 64).write_to(&high).unwrap();
        assert!(high.read_blocking().unwrap().iter().zip(0..).all(|(&v, i)| v == (i % 128) * 64 + i / 128));
        d.gather(&high, &d.iota(8192, 8191u32, u32::MAX).unwrap()).write_to(&low).unwrap();
        assert_eq!(low.read_blocking().unwrap()[0], 8191);
    });
}

/// Gathers, scatters and sums by indices of one type against loops, of values whose bits are any.
fn named_by<I: IndexElement>(d: &Device) {
    let host: Vec<I> =
        mt19937(11, 1001).into_iter().map(|r| I::narrow(Scalar::from_bits64(u64::from(r) << 32 | u64::from(r) >> 20))).collect();
    let place = |i: &I, len: usize| usize::try_from(i.widen().number()).ok().filter(|&k| k < len);
    let at = d.upload(&host).unwrap();
    for len in [1usize, 100, 300, 70_000] {
        let bits = mt19937(12, len.max(1001));
        macro_rules! moved {
            ($t:ty, $of:expr) => {{
                let all: Vec<$t> = bits.iter().map($of).collect();
                let (x, out) = (d.upload(&all[..len]).unwrap(), d.upload(&all[..len]).unwrap());
                let raw = |x: &[$t]| bytemuck::cast_slice::<$t, u8>(x).to_vec();
                let found = d.gather(&x, &at).run().unwrap().read_blocking().unwrap();
                let wanted: Vec<$t> = host.iter().map(|i| place(i, len).map_or(<$t>::default(), |k| all[k])).collect();
                assert_eq!(raw(&found), raw(&wanted), "{} of {}", I::DTYPE, <$t>::DTYPE);
                let mut wanted = all[..len].to_vec();
                for (i, &v) in host.iter().zip(&all) {
                    if let Some(k) = place(i, len) {
                        wanted[k] = v;
                    }
                }
                d.scatter(&d.upload(&all[..1001]).unwrap(), &at).write_to(&out).unwrap();
                assert_eq!(raw(&out.read_blocking().unwrap()), raw(&wanted), "{} of {}", I::DTYPE, <$t>::DTYPE);
            }};
        }
        moved!(f32, |b| f32::from_bits(*b));
        moved!(u8, |b| *b as u8);
        if d.caps().supports(DType::U64) {
            moved!(u64, |b| u64::from(*b) << 31);
        }
        let sums = d.upload(&vec![5u32; len]).unwrap();
        d.scatter(&d.upload(&bits[..1001]).unwrap(), &at).reduce(ScatterOp::Sum).write_to(&sums).unwrap();
        let mut wanted = vec![5u32; len];
        for (i, b) in host.iter().zip(&bits) {
            if let Some(k) = place(i, len) {
                wanted[k] = wanted[k].wrapping_add(*b);
            }
        }
        assert_eq!(sums.read_blocking().unwrap(), wanted);
        let wrong = host.iter().position(|i| place(i, len).is_none());
        let error = wrong.map(|k| Error::IndexOutOfRange {
            pattern: "check_indices",
            position: k as u64,
            index: host[k].widen().number(),
            limit: len as u64,
        });
        assert_eq!(d.check_indices(&at, len as u64).err(), error);
    }
    let order: Vec<I> = (0..100u64).map(|k| I::narrow(Scalar::from_bits64(k * 37 % 100))).collect();
    let (x, order, out) = (d.iota(100, 0u32, 1).unwrap(), d.upload(&order).unwrap(), d.iota(100, 7u32, 0).unwrap());
    d.scatter(&x, &order).unique().write_to(&out).unwrap();
    assert_eq!(out.read_blocking().unwrap(), d.permute(&x, &order).inverse().checked().run().unwrap().read_blocking().unwrap());
    let there_and_back = d.permute(&d.permute(&x, &order).run().unwrap(), &order).inverse().run().unwrap();
    assert_eq!(there_and_back.read_blocking().unwrap(), x.read_blocking().unwrap());
    // The same memory may not be read and written, and there is one index to a source.
    assert!(matches!(d.scatter(&x, &order).write_to(&x), Err(Error::Aliasing { .. })));
    assert!(matches!(d.gather(&x, &order).write_to(&x), Err(Error::Aliasing { .. })));
    assert!(matches!(d.scatter(&x.slice(1..).unwrap(), &order).write_to(&out), Err(Error::LengthMismatch { .. })));
    assert!(matches!(d.gather(&x, &order).write_to(&out.slice(1..).unwrap()), Err(Error::BufferTooSmall { .. })));
}

#[test]
fn indices_of_any_size_name_what_a_loop_finds() {
    each(|d| {
        named_by::<u8>(d);
        named_by::<i8>(d);
        named_by::<u16>(d);
        named_by::<i16>(d);
        named_by::<u32>(d);
        named_by::<i32>(d);
    });
    each_with(&[DType::U64, DType::I64], |d| {
        named_by::<u64>(d);
        named_by::<i64>(d);
    });
}
