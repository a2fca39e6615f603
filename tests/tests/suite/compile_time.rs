//! Bounds on the time that kernels of long operators take to be compiled.

use crate::common::gpus;
use isowarp::backend::Backend as _;
use isowarp::prelude::*;
use std::time::{Duration, Instant};

/// Sines nested a hundred deep once took two minutes. The bound leaves room for slow machines and compilers.
const BOUND: Duration = Duration::from_secs(20);

#[test]
fn sines_nested_a_hundred_deep_compile_in_bounded_time() {
    for device in gpus() {
        let x = device.upload(&[0.5f32, -2.0, 1e6]).unwrap();
        let start = Instant::now();
        let y = device.map(&x, |x| (0..100).fold(x, |x, _| x.sin())).unwrap().read_blocking().unwrap();
        let took = start.elapsed();
        let nested = |x: f32| (0..100).fold(x, |x, _| isowarp::numerics::Func::Sin.eval1(x));
        assert_eq!(y.into_iter().map(f32::to_bits).collect::<Vec<_>>(), [0.5, -2.0, 1e6].map(nested).map(f32::to_bits));
        println!("{}: {took:?}", device.caps().device);
        assert!(took < BOUND, "{}: {took:?}", device.caps().device);
    }
}
