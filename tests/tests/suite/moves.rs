//! Moves against figures from elsewhere, and what becomes of bad input.

use crate::common::{each, mt19937};
use isowarp::Error;
use isowarp::prelude::*;

#[test]
fn morton_order_is_that_of_the_textbook() {
    // Ansorge, appendix G.5, 16 x 16: x in the even bits and y in the odd ones.
    each(|d| {
        let codes = d.from_morton(&d.iota(256, 0u32, 1).unwrap(), &[16, 16]).unwrap().read_blocking().unwrap();
        assert_eq!(codes[..16], [0, 1, 4, 5, 16, 17, 20, 21, 64, 65, 68, 69, 80, 81, 84, 85]);
        assert_eq!((codes[16], codes[15 * 16], codes[255]), (2, 170, 255));
    });
}

#[test]
fn moves_are_their_formulas() {
    each(|d| {
        let x: Vec<u32> = (0..6 * 7 * 8).collect();
        let y = d.permute_axes(&d.upload(&x).unwrap(), &[6, 7, 8], &[2, 0, 1]).unwrap().read_blocking().unwrap();
        let formula = |i: u32| (i / 7 % 6) * 56 + (i % 7) * 8 + i / 42;
        assert!(y.iter().zip(0..).all(|(&v, i)| v == formula(i)));
        let x = d.iota(10, 0i32, 1).unwrap();
        assert_eq!(d.rotate(&x, 3).unwrap().read_blocking().unwrap(), [7, 8, 9, 0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(d.reverse(&x).unwrap().read_blocking().unwrap(), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
        let at = d.upload(&[2i32, -1, 9, 10, 2]).unwrap();
        assert_eq!(d.gather(&x, &at).unwrap().read_blocking().unwrap(), [2, 0, 9, 0, 2]);
        // NumPy: the last value of a repeated index is assigned.
        let out = d.iota(10, 100i32, 0).unwrap();
        d.scatter_into(&x.slice(..5).unwrap(), &at, &out).unwrap();
        assert_eq!(out.read_blocking().unwrap(), [100, 100, 4, 100, 100, 100, 100, 100, 100, 2]);
        d.scatter_reduce_into(&x.slice(..5).unwrap(), &at, ScatterOp::Max, &out).unwrap();
        d.scatter_reduce_into(&x.slice(..5).unwrap(), &at, ScatterOp::Sum, &out).unwrap();
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
            d.scatter_combine_into(&x, &at_, op(), &out).unwrap();
            assert_eq!(out.read_blocking().unwrap(), added);
            assert_eq!(d.scatter_combine(&x, &at_, targets.into(), op()).unwrap().read_blocking().unwrap(), fresh);
            let wide = d.cast::<u32, u64>(&at_).unwrap();
            assert_eq!(d.scatter_combine(&x, &wide, targets.into(), op()).unwrap().read_blocking().unwrap(), fresh);
            let out = d.upload(&before).unwrap();
            d.scatter_combine_from_into((&at_, &x), |p| p, op(), &out).unwrap();
            assert_eq!(out.read_blocking().unwrap(), added);
            let sums = d.upload(&vec![0.1f32; targets as usize]).unwrap();
            d.scatter_combine_into(&d.upload(&sources).unwrap(), &at_, Sum, &sums).unwrap();
            for k in [0, targets / 2, targets - 1] {
                let of: Vec<f32> = sources.iter().zip(&at).filter(|(_, a)| **a == k).map(|(x, _)| *x).collect();
                let wanted =
                    if of.is_empty() { 0.1 } else { 0.1 + d.reduce(&d.upload(&of).unwrap(), Sum).unwrap().read_blocking().unwrap() };
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
        assert_eq!(d.scatter_combine_checked_into(&x, &far, Product, &out).unwrap_err(), wrong);
        let short = d.scatter_combine_into(&x.slice(..3).unwrap(), &far, Product, &out);
        assert!(matches!(short, Err(Error::LengthMismatch { .. })));
        assert!(matches!(d.scatter_combine_into(&x, &far, Sum, &x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.scatter_combine_from_into(&x, |x| (x, x), Sum, &x), Err(Error::Aliasing { .. })));
        assert_eq!((out.read_blocking().unwrap(), x.read_blocking().unwrap()), (vec![7; 4], vec![1, 2, 3, 4]));
        // What names no element writes nothing.
        d.scatter_combine_into(&x, &far, Product, &out).unwrap();
        assert_eq!(out.read_blocking().unwrap(), [7, 21, 7, 7]);
        d.scatter_combine_into(&x, &far, Product, &out.slice(..0).unwrap()).unwrap();
    });
}

#[test]
fn indices_that_are_wrong_are_named_and_nothing_is_written() {
    each(|d| {
        let (x, out) = (d.iota(4, 1u32, 1).unwrap(), d.iota(4, 7u32, 0).unwrap());
        let far = d.upload(&[0u32, 4, 1, 9]).unwrap();
        let wrong = |pattern| Error::IndexOutOfRange { pattern, position: 1, index: 4, limit: 4 };
        assert_eq!(d.gather_checked(&x, &far).unwrap_err(), wrong("gather"));
        assert_eq!(d.scatter_checked_into(&x, &far, &out).unwrap_err(), wrong("scatter"));
        assert_eq!(d.scatter_unique_checked_into(&x, &far, &out).unwrap_err(), wrong("scatter_unique"));
        let twice = d.upload(&[3u32, 0, 3, 0]).unwrap();
        let repeated = Error::DuplicateIndex { pattern: "scatter_unique", position: 2, index: 3 };
        assert_eq!(d.scatter_unique_checked_into(&x, &twice, &out).unwrap_err(), repeated);
        assert!(matches!(d.scatter_into(&x.slice(..3).unwrap(), &far, &out), Err(Error::LengthMismatch { .. })));
        assert!(matches!(d.scatter_into(&x, &far, &x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.gather_into(&x, &far, &out.slice(1..).unwrap()), Err(Error::BufferTooSmall { .. })));
        assert!(matches!(d.gather_into(&x, &far, &x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.transpose(&x, 3, 2), Err(Error::LengthMismatch { .. })));
        assert!(matches!(d.transpose_into(&x, 2, 2, &x), Err(Error::Aliasing { .. })));
        assert!(matches!(d.permute_axes(&x, &[2, 2], &[0, 0]), Err(Error::InvalidArgument { .. })));
        assert!(matches!(d.copy_2d_into((&x, 2), (&out, 1), 2, 2), Err(Error::InvalidArgument { .. })));
        assert!(matches!(d.copy_2d_into((&x, 3), (&out, 2), 2, 2), Err(Error::OutOfRange { .. })));
        assert!(matches!(d.to_morton(&x, &[1, 3]), Err(Error::InvalidArgument { .. })));
        assert_eq!(out.read_blocking().unwrap(), [7; 4]);
    });
}

#[test]
fn two_halves_of_one_buffer_may_be_source_and_destination() {
    each(|d| {
        let x = d.iota(128 * 64 * 2, 0u32, 1).unwrap();
        let (low, high) = (x.slice(..8192).unwrap(), x.slice(8192..).unwrap());
        d.transpose_into(&low, 128, 64, &high).unwrap();
        assert!(high.read_blocking().unwrap().iter().zip(0..).all(|(&v, i)| v == (i % 128) * 64 + i / 128));
        d.gather_into(&high, &d.iota(8192, 8191u32, u32::MAX).unwrap(), &low).unwrap();
        assert_eq!(low.read_blocking().unwrap()[0], 8191);
    });
}
