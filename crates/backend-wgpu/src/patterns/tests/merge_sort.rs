//! Sorts by an order of the caller's: kernels written out or in loops, and arrays that no binding holds.

use super::{Sample, both, own_device, same_bits};
use crate::context::Options;
use crate::device::Wgpu;
use half::f16;
use isowarp_core::buffer::Memory as _;
use isowarp_core::error::Error;
use isowarp_core::ir::Expr;
use isowarp_core::patterns::MergeSort as _;
use isowarp_cpu::Cpu;
use std::sync::atomic::Ordering;

fn check<K: Sample>(gpu: &Wgpu, n: usize, order: fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>) {
    let cpu = Cpu::new();
    let (a, x) = both(gpu, &K::samples(n, 1));
    let what = |what: &str| format!("{what} of {n} {}", K::DTYPE);
    same_bits(&what("sort"), &cpu.sort_by(&a, order).expect("cpu"), &gpu.sort_by(&x, order).expect("gpu"));
    let (found, expected) = (gpu.argsort_by(&x, order).expect("gpu"), cpu.argsort_by(&a, order).expect("cpu"));
    same_bits(&what("argsort"), &expected, &found);
    let ((b, y), half) = (both(gpu, &K::samples(n, 2)), n as u64 / 3);
    let expected = cpu.merge_pairs_by((&a, &b), (&b.slice(half..).expect("part"), &a.slice(half..).expect("part")), order).expect("cpu");
    let found = gpu.merge_pairs_by((&x, &y), (&y.slice(half..).expect("part"), &x.slice(half..).expect("part")), order).expect("gpu");
    same_bits(&what("merged keys"), &expected.0, &found.0);
    same_bits(&what("merged values"), &expected.1, &found.1);
}

#[test]
fn keys_written_out_or_in_loops_sort_alike() {
    for written_out in [false, true] {
        let gpu = own_device(&Options::default());
        gpu.patterns().written_out.store(written_out, Ordering::Relaxed);
        check::<f64>(&gpu, 9_000, |a, b| a.abs().lt(b.abs()));
        check::<f32>(&gpu, 9_000, Expr::lt);
        check::<f16>(&gpu, 9_000, Expr::gt);
        check::<u8>(&gpu, 700, |a, b| (a & 3u32).lt(b & 3u32));
    }
}

#[test]
fn arrays_above_the_binding_limit_are_refused_with_it() {
    let gpu = own_device(&Options::default());
    gpu.limit_windows(40 << 10);
    check::<u32>(&gpu, 6_000, |a, b| (a >> 4).lt(b >> 4));
    let (keys, out) = (gpu.upload(&[7u32; 20_000]).expect("memory"), gpu.upload(&[5u32; 20_000]).expect("memory"));
    let refused = |result| match result {
        Err(Error::TooLarge { requested: 20_000, limit, .. }) => assert!(limit < 10_240),
        other => panic!("{other:?}"),
    };
    refused(gpu.sort_by_into(&keys, Expr::lt, &out));
    refused(gpu.merge_by_into(&keys.slice(..9_000).expect("part"), &keys.slice(9_000..).expect("part"), Expr::lt, &out));
    assert_eq!(out.read_blocking().expect("read"), [5; 20_000]);
}
