//! Powers of matrices: the products that the bits of the exponent say, in plain loops, and what is refused.

use crate::common::{bits, each, each_with, uniform};
use isowarp::Error;
use isowarp::element::DType;
use isowarp::prelude::*;

/// A matrix to a power by plain loops: a square to each bit of the exponent after the first, and a product to each 1 among them.
fn powers<T: Copy>(a: &[T], n: usize, exponent: u32, zero: T, step: impl Fn(T, T, T) -> T) -> Vec<T> {
    let product = |x: &[T], y: &[T]| -> Vec<T> {
        (0..n * n).map(|at| (0..n).fold(zero, |sum, q| step(x[at / n * n + q], y[q * n + at % n], sum))).collect()
    };
    (0..exponent.ilog2()).rev().fold(a.to_vec(), |power, bit| {
        let square = product(&power, &power);
        if exponent >> bit & 1 == 1 { product(&square, a) } else { square }
    })
}

#[test]
fn powers_of_matrices_are_the_products_that_the_bits_of_the_exponent_say() {
    for n in [1usize, 7, 21] {
        let (side, x) = (n as u64, uniform(n * n, 11));
        let turned: Vec<f32> = (0..n * n).map(|at| x[at % n * n + at / n]).collect();
        // Rows that are three elements further apart.
        let apart: Vec<f32> = x.chunks(n).flat_map(|row| [row, &[9.0; 3]].concat()).collect();
        let whole: Vec<i32> = x.iter().map(|x| (x * 2e9) as i32).collect();
        each(|d| {
            let a = d.upload(&x).unwrap();
            let (apart, whole_on) = (d.upload(&apart).unwrap(), d.upload(&whole).unwrap());
            for exponent in [1u32, 2, 13] {
                let of = |a: &[f32]| powers(a, n, exponent, 0.0, f32::mul_add).into_iter().map(f32::to_bits).collect::<Vec<_>>();
                let expected = of(&x);
                assert_eq!(bits(&d.matrix_power(matrix(&a, side, side), exponent).unwrap()), expected, "{n} to {exponent}");
                assert_eq!(bits(&d.matrix_power(matrix(&apart, side, side).leading(side + 3), exponent).unwrap()), expected);
                assert_eq!(bits(&d.matrix_power(matrix(&a, side, side).transposed(), exponent).unwrap()), of(&turned));
                let negative: Vec<f32> = x.iter().map(|x| x * -0.5).collect();
                assert_eq!(bits(&d.matrix_power(matrix(a.map(|x| x * -0.5), side, side), exponent).unwrap()), of(&negative));
                let found = d.matrix_power(matrix(&whole_on, side, side), exponent).unwrap().read_blocking().unwrap();
                assert_eq!(found, powers(&whole, n, exponent, 0, |x, y, sum| x.wrapping_mul(y).wrapping_add(sum)), "{n} to {exponent}");
            }
        });
        each_with(&[DType::F64], |d| {
            let x: Vec<f64> = x.iter().map(|&x| f64::from(x) / 3.0).collect();
            let a = d.upload(&x).unwrap();
            for exponent in [1u32, 2, 13] {
                let found = d.matrix_power(matrix(&a, side, side), exponent).unwrap().read_blocking().unwrap();
                assert_eq!(found, powers(&x, n, exponent, 0.0, f64::mul_add), "{n} to {exponent}");
            }
        });
    }
    each(|d| {
        // The power 0 is the identity, whatever the elements are, and -0 becomes +0 in the first power, too.
        let a = d.upload(&[f32::NAN, -0.0, 3.0, -0.0]).unwrap();
        assert_eq!(bits(&d.matrix_power(matrix(&a, 2, 2), 0).unwrap()), [1.0f32, 0.0, 0.0, 1.0].map(f32::to_bits));
        assert_eq!(bits(&d.matrix_power(matrix(&a, 2, 2), 1).unwrap()), [0x7fc0_0000, 0, 3f32.to_bits(), 0]);
        for n in [1u64, 3, 40] {
            let a = d.upload(&vec![7i32; (n * n) as usize]).unwrap();
            let found = d.matrix_power(matrix(&a, n, n), 0).unwrap().read_blocking().unwrap();
            assert!((0..n * n).all(|at| found[at as usize] == i32::from(at / n == at % n)), "{n}");
        }
        // A permutation's powers are permutations, up to the greatest exponent: 4 takes itself round.
        let turn = d.upload(&[0u32, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0]).unwrap();
        for exponent in [4u32, 5, u32::MAX] {
            let found = d.matrix_power(matrix(&turn, 4, 4), exponent).unwrap().read_blocking().unwrap();
            assert!((0..16).all(|at| found[at] == u32::from((at / 4 + exponent as usize) % 4 == at % 4)), "to {exponent}");
        }
        let none = d.upload::<f32>(&[]).unwrap();
        for exponent in [0, 1, 2, 5] {
            assert_eq!(d.matrix_power(matrix(&none, 0, 0), exponent).unwrap().len(), 0);
        }
    });
}

#[test]
fn powers_of_matrices_that_are_not_square_or_a_batch_are_refused_and_nothing_is_written() {
    each(|d| {
        let a = d.upload(&[2.0f32; 12]).unwrap();
        for exponent in [0u32, 1, 2, 7] {
            let refused = |m| d.matrix_power(m, exponent).map(|_| ()).unwrap_err();
            assert!(matches!(refused(matrix(&a, 3, 4)), Error::LengthMismatch { expected: 3, found: 4, .. }), "to {exponent}");
            assert!(matches!(refused(matrix(&a, 4, 3).transposed()), Error::LengthMismatch { expected: 3, found: 4, .. }));
            assert!(matches!(refused(matrix(&a, 2, 2).batch(3)), Error::InvalidArgument { what: "matrix_power", .. }));
            assert!(matches!(refused(matrix(&a, 2, 2).batch(1)), Error::InvalidArgument { what: "matrix_power", .. }));
        }
        for exponent in [0u32, 1, 2, 7] {
            let short = d.matrix_power(matrix(&a, 4, 4), exponent).map(|_| ()).unwrap_err();
            assert!(matches!(short, Error::BufferTooSmall { required: 16, available: 12, .. }), "to {exponent}: {short}");
        }
        for (exponent, step) in [(0u32, 2), (1, 2), (2, 2), (7, 2), (0, 1), (1, 1), (2, 1), (0, 0), (2, 0)] {
            let near = d.matrix_power(matrix(&a, 3, 3).leading(step), exponent).map(|_| ()).unwrap_err();
            assert!(matches!(near, Error::InvalidArgument { what: "leading dimension", .. }), "to {exponent}, {step} apart");
        }
        assert!(matches!(d.matrix_power(matrix(&a, 1 << 16, 1 << 16), 0).map(|_| ()), Err(Error::TooLarge { .. })));
        assert_eq!(a.read_blocking().unwrap(), [2.0; 12]);
    });
}
