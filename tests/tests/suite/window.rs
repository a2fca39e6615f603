//! Sliding windows against plain loops that follow the documented tree, and against NumPy's values.

use crate::common::{each, mt19937};
use isowarp::Error;
use isowarp::prelude::*;

/// The documented tree: blocks by the powers of two in the length, the smallest first, folded from the left.
fn tree<T: Copy>(x: &[T], combine: &impl Fn(T, T) -> T) -> T {
    fn balanced<T: Copy>(x: &[T], combine: &impl Fn(T, T) -> T) -> T {
        if x.len() == 1 { x[0] } else { combine(balanced(&x[..x.len() / 2], combine), balanced(&x[x.len() / 2..], combine)) }
    }
    let (mut all, mut rest) = (None, x);
    for bit in (0..64).filter(|bit| x.len() >> bit & 1 == 1) {
        let (block, behind) = rest.split_at(1 << bit);
        let value = balanced(block, combine);
        all = Some(all.map_or(value, |all| combine(all, value)));
        rest = behind;
    }
    all.expect("a window has elements")
}

fn floats(n: usize) -> Vec<f32> {
    mt19937(20, n).into_iter().map(|v| (v as i32 as f32) / 65_536.0).collect()
}

#[test]
fn float_sums_follow_the_documented_tree_of_each_window() {
    let x = floats(3001);
    each(|d| {
        let buffer = d.upload(&x).unwrap();
        for len in [1, 2, 3, 5, 8, 15, 16, 21, 64, 255, 256, 257, 1000, 3001] {
            let found = d.window(&buffer, len as u64, Sum).run().unwrap().read_blocking().unwrap();
            let expected: Vec<f32> = x.windows(len).map(|w| tree(w, &|a, b| a + b)).collect();
            assert!(found.iter().map(|f| f.to_bits()).eq(expected.iter().map(|f| f.to_bits())), "windows of {len}");
        }
    });
}

#[test]
fn the_greatest_of_each_window_is_that_of_a_plain_loop_by_both_algorithms() {
    let x = mt19937(3, 4000);
    each(|d| {
        let buffer = d.upload(&x).unwrap();
        for len in [2u64, 30, 255, 256, 299, 1024, 3999, 4000] {
            let expected: Vec<u32> = x.windows(len as usize).map(|w| *w.iter().max().unwrap()).collect();
            assert_eq!(d.window(&buffer, len, Max).run().unwrap().read_blocking().unwrap(), expected, "{len}");
            // The same by an operator that is not known to be exact.
            let greater = |a: Expr<u32>, b: Expr<u32>| select(a.gt(b), a, b);
            assert_eq!(d.window_by(&buffer, len, greater).run().unwrap().read_blocking().unwrap(), expected, "{len}");
            let sums: Vec<u32> = x.windows(len as usize).map(|w| w.iter().fold(0, |a: u32, &b| a.wrapping_add(b))).collect();
            assert_eq!(d.window(&buffer, len, Sum).run().unwrap().read_blocking().unwrap(), sums, "{len}");
        }
    });
}

#[test]
fn windows_run_along_any_axis_and_by_steps() {
    let shape = [4usize, 300, 5];
    let x = mt19937(8, shape.iter().product());
    each(|d| {
        let buffer = d.upload(&x).unwrap();
        for (axis, len, step) in [(0, 3, 1), (1, 7, 1), (1, 270, 4), (1, 20, 20), (2, 2, 2), (1, 301, 1)] {
            let found = d.window(&buffer, len, Min).axis(&shape.map(|n| n as u64), axis).step(step).run().unwrap().read_blocking().unwrap();
            let (n, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
            let mut expected = Vec::new();
            for outer in 0..shape[..axis].iter().product() {
                for first in (0..(n + 1).saturating_sub(len as usize)).step_by(step as usize) {
                    for beside in 0..inner {
                        let window = (first..first + len as usize).map(|k| x[(outer * n + k) * inner + beside]);
                        expected.push(window.min().unwrap());
                    }
                }
            }
            assert_eq!(found, expected, "axis {axis}, {len} elements, step {step}");
        }
    });
}

/// `numpy.lib.stride_tricks.sliding_window_view([2, 7, 1, 8, 2, 8, 1, 8], 4)`, its sums, maxima and means.
#[test]
fn numpy_has_the_same_windows() {
    each(|d| {
        let x = d.upload(&[2i32, 7, 1, 8, 2, 8, 1, 8]).unwrap();
        assert_eq!(d.window(&x, 4, Sum).run().unwrap().read_blocking().unwrap(), [18, 18, 19, 19, 19]);
        assert_eq!(d.window(&x, 4, Max).run().unwrap().read_blocking().unwrap(), [8; 5]);
        let means = d.moving_average(x.map(Expr::cast::<f32>), 4).unwrap().read_blocking().unwrap();
        assert_eq!(means, [4.5, 4.5, 4.75, 4.75, 4.75]);
    });
}

#[test]
fn windows_that_cannot_be_are_refused_and_change_nothing() {
    each(|d| {
        let x = d.upload(&[1u32, 2, 3, 4]).unwrap();
        let out = d.upload(&[9u32; 3]).unwrap();
        let none = d.window(&x, 0, Sum).write_to(&out);
        assert!(matches!(none, Err(Error::InvalidArgument { what: "window", .. })));
        let still = d.window(&x, 2, Sum).step(0).write_to(&out);
        assert!(matches!(still, Err(Error::InvalidArgument { what: "step", .. })));
        let axis = d.window(&x, 2, Sum).axis(&[2, 2], 2).write_to(&out);
        assert!(matches!(axis, Err(Error::InvalidArgument { what: "axis", .. })));
        let shape = d.window(&x, 2, Sum).axis(&[3, 2], 0).write_to(&out);
        assert!(matches!(shape, Err(Error::LengthMismatch { what: "elements of the shape", expected: 6, found: 4 })));
        let room = d.window(&x, 1, Sum).write_to(&out);
        assert!(matches!(room, Err(Error::BufferTooSmall { required: 4, available: 3, .. })));
        let itself = d.window(&x, 2, Sum).write_to(&x.slice(1..).unwrap());
        assert!(matches!(itself, Err(Error::Aliasing { .. })));
        assert_eq!(out.read_blocking().unwrap(), [9; 3]);
        assert_eq!(d.window(&x, 5, Sum).run().unwrap().len(), 0, "longer than the line");
        d.window(&x, 5, Sum).write_to(&out).unwrap();
        assert_eq!((out.read_blocking().unwrap(), x.read_blocking().unwrap()), (vec![9; 3], vec![1, 2, 3, 4]));
    });
}
