//! Values that a driver knows something about: zeros that it derives, truth values and integers that become floats, integers that were widened. Each
//! element is what plain Rust gives.

#![allow(clippy::eq_op, clippy::erasing_op, clippy::precedence, reason = "what is known to give zero is what is tried")]

use isowarp_core::buffer::Memory as _;
use isowarp_core::element::DType;
use isowarp_core::ir::Expr;
use isowarp_core::patterns::{Map, Select};
use isowarp_wgpu::Wgpu;
use std::sync::OnceLock;

/// One device for all tests: drivers deadlock where many are closed by many threads at once.
fn device() -> &'static Wgpu {
    static DEVICE: OnceLock<Wgpu> = OnceLock::new();
    DEVICE.get_or_init(|| Wgpu::new_blocking().expect("an adapter"))
}

const FLOATS: [f32; 10] = [-2.0, f32::INFINITY, -0.0, 1.0, 0.0, f32::NEG_INFINITY, f32::NAN, 1e-45, -0.5, f32::MAX];
const INTEGERS: [i32; 10] = [0, -5, 99, 100, 101, i32::MIN, i32::MAX, -1, 16, -99];

/// All pairs of both.
fn pairs() -> (Vec<f32>, Vec<i32>) {
    FLOATS.iter().flat_map(|&x| INTEGERS.iter().map(move |&y| (x, y))).unzip()
}

fn bits(v: f32) -> u32 {
    if v.is_nan() { 0x7fc0_0000 } else { v.to_bits() }
}

fn bits64(v: f64) -> u64 {
    if v.is_nan() { 0x7ff8_0000_0000_0000 } else { v.to_bits() }
}

/// An operator of f32 and i32 against plain Rust.
macro_rules! same {
    ($bits:path, $op:expr, $expected:expr) => {{
        let (x, y) = pairs();
        let gpu = device();
        let op = $op;
        let found = gpu.map((&gpu.upload(&x).expect("upload"), &gpu.upload(&y).expect("upload")), op).expect("map").read_blocking();
        for (i, found) in found.expect("read").into_iter().enumerate() {
            let expected = ($expected)(x[i], y[i]);
            assert_eq!($bits(found), $bits(expected), "{} of {:?}, {}: {found:?}, not {expected:?}", stringify!($op), x[i], y[i]);
        }
    }};
}

fn wide() -> bool {
    use isowarp_core::backend::Backend as _;
    device().caps().supports(DType::F64)
}

type P = (Expr<f32>, Expr<i32>);

#[test]
fn zeros_that_a_driver_derives_have_a_sign_and_meet_nan_and_infinity() {
    same!(bits, |(x, y): P| x.mul_rn((y & 0).cast::<f32>()), |x: f32, y: i32| x * (y & 0) as f32);
    same!(bits, |(x, y): P| x + (y - y).cast::<f32>(), |x: f32, _| x + 0.0);
    same!(bits, |(x, y): P| (y ^ y).cast::<f32>() - x, |x: f32, _| 0.0 - x);
    same!(bits, |(x, y): P| x.mul_rn(y.cast::<u32>().lt(0).cast::<f32>()), |x: f32, _| x * 0.0);
    same!(bits, |(x, y): P| x.mul_add((y & 0).cast::<f32>(), x), |x: f32, _| x.mul_add(0.0, x));
    same!(bits, |(x, y): P| x + (y & 0).bitcast::<f32>(), |x: f32, _| x + 0.0);
    same!(bits, |(x, y): P| x / (y & 0).cast::<f32>(), |x: f32, _| x / 0.0);
    if wide() {
        same!(bits64, |(x, y): P| x.cast::<f64>().mul_rn((y & 0).cast::<f64>()), |x: f32, _| f64::from(x) * 0.0);
        same!(bits64, |(x, y): P| x.cast::<f64>() / (y & 0).cast::<f64>(), |x: f32, _| f64::from(x) / 0.0);
        same!(bits64, |(x, y): P| x.cast::<f64>() + (y & 0).cast::<i64>().cast::<f64>(), |x: f32, _| f64::from(x) + 0.0);
    }
}

#[test]
fn truth_values_and_integers_become_floats_before_their_signs_change() {
    let of = |b: bool| f32::from(u8::from(b));
    same!(bits, |(x, y): P| -(x.lt(y.cast::<f32>()).cast::<f32>()), |x: f32, y: i32| -of(x < y as f32));
    same!(bits, |(x, _): P| ((x - x).mul_rn(x)) - x.lt(0.0).cast::<f32>(), |x: f32, _| (x - x) * x - of(x < 0.0));
    same!(bits, |(_, y): P| -(y.cast::<f32>()), |_, y: i32| -(y as f32));
    same!(bits, |(x, _): P| x.gt(0.0).cast::<f32>() - x.lt(0.0).cast::<f32>(), |x: f32, _| of(x > 0.0) - of(x < 0.0));
    same!(i64::from, |(x, _): P| x.gt(0.0).cast::<i32>() - x.lt(0.0).cast::<i32>(), |x: f32, _| i32::from(x > 0.0) - i32::from(x < 0.0));
    if wide() {
        same!(bits64, |(x, _): P| -(x.lt(1.0).cast::<f64>()), |x: f32, _| -f64::from(u8::from(x < 1.0)));
    }
}

#[test]
fn widened_integers_compare_as_they_are() {
    if !wide() {
        return;
    }
    fn truth<F: Fn(Expr<i64>) -> Expr<bool>>(f: F) -> impl Fn(P) -> Expr<u32> {
        move |(_, y): P| f(y.cast::<i64>()).cast::<u32>()
    }
    same!(u64::from, truth(|y| y.lt(100)), |_, y: i32| u32::from(y < 100));
    same!(u64::from, truth(|y| y.le(100)), |_, y: i32| u32::from(y <= 100));
    same!(u64::from, truth(|y| y.gt(-5)), |_, y: i32| u32::from(y > -5));
    same!(u64::from, truth(|y| y.ge(-5)), |_, y: i32| u32::from(y >= -5));
    same!(u64::from, truth(|y| y.eq(99)), |_, y: i32| u32::from(y == 99));
    same!(bits, |(_, y): P| y.cast::<i64>().cast::<f32>(), |_, y: i32| y as f32);
    same!(bits64, |(_, y): P| y.cast::<i64>().cast::<f64>(), |_, y: i32| f64::from(y));
    same!(i128::from, |(_, y): P| y.cast::<u32>().cast::<i64>() << 16u32, |_, y: i32| i64::from(y as u32) << 16);
    let gpu = device();
    let kept = gpu.select(&gpu.upload(&INTEGERS).expect("upload"), |y: Expr<i32>| y.cast::<i64>().lt(100)).run().expect("select");
    let expected: Vec<i32> = INTEGERS.into_iter().filter(|&y| y < 100).collect();
    assert_eq!(kept.read_blocking().expect("read"), expected);
}
