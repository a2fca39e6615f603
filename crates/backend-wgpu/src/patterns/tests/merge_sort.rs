//! Sorts by an order of the caller's: kernels written out or in loops, and arrays that no binding holds.

use super::{Sample, both, own_device, same_bits};
use crate::context::Options;
use crate::device::Wgpu;
use half::f16;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::buffer::{Buffer, Memory as _};
use isowarp_core::caps::Numerics;
use isowarp_core::element::DType;
use isowarp_core::error::Error;
use isowarp_core::ir::{Expr, trace};
use isowarp_core::patterns::{GatherTask, Map, Merge as _, MergeByTask, MergeSortTask, Sort, SortPayload};
use isowarp_cpu::Cpu;
use std::sync::Arc;
use std::sync::atomic::Ordering;

fn check<K: Sample>(gpu: &Wgpu, n: usize, order: fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>) {
    let cpu = Cpu::new();
    let (a, x) = both(gpu, &K::samples(n, 1));
    let what = |what: &str| format!("{what} of {n} {}", K::DTYPE);
    same_bits(&what("sort"), &cpu.sort(&a).by(order).run().expect("cpu"), &gpu.sort(&x).by(order).run().expect("gpu"));
    let (found, expected) = (gpu.argsort(&x).by(order).run().expect("gpu"), cpu.argsort(&a).by(order).run().expect("cpu"));
    same_bits(&what("argsort"), &expected, &found);
    let ((b, y), half) = (both(gpu, &K::samples(n, 2)), n as u64 / 3);
    let expected =
        cpu.merge(&a, &b.slice(half..).expect("part")).by(order).with_values(&b, &a.slice(half..).expect("part")).run().expect("cpu");
    let found =
        gpu.merge(&x, &y.slice(half..).expect("part")).by(order).with_values(&y, &x.slice(half..).expect("part")).run().expect("gpu");
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

/// Forms in place, in lent memory and with values of every size: keys, values, and what is around the results.
fn forms<B: Sort + Run<MergeSortTask> + Run<GatherTask> + Map, K: Sample, V: Sample>(
    d: &B,
    keys: Buffer<B, K>,
    wide: Buffer<B, V>,
    order: fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>,
) -> ([Buffer<B, u32>; 3], [Buffer<B, K>; 4], [Buffer<B, V>; 2]) {
    let n = keys.len() - 7;
    // One buffer holds all words.
    let words = d.iota(4 * (n + 3), 3u32, 0).expect("memory");
    let around = |k: u64| words.slice(k * (n + 3)..(k + 1) * (n + 3)).expect("part");
    let part = |k: u64| around(k).slice(1..=n).expect("part");
    d.copy_into(&d.iota(n, 0u32, 5).expect("memory"), &part(0)).expect("values");
    let from = keys.slice(3..n + 3).expect("part");
    let room = || d.buffer(n).expect("memory");
    let (lent, more, sorted) = (room(), room(), room());
    d.sort(&from).with_values(&part(0)).by(order).scratch((&lent, &part(1))).write_to((&sorted, &part(2))).expect("pairs");
    d.argsort(&from).by(order).scratch(([&lent, &more], &part(1))).write_to(&part(3)).expect("indices");
    let (values, fetched) = (wide.slice(2..n + 2).expect("part"), d.buffer(n).expect("memory"));
    d.sort(&from).with_values(&values).by(order).write_to((&more, &fetched)).expect("values that are fetched");
    let alone = room();
    d.sort(&from).by(order).scratch(&lent).write_to(&alone).expect("sort");
    d.sort(&from).with_values(&values).by(order).in_place().expect("in place");
    ([0, 2, 3].map(around), [sorted, more, alone, keys], [fetched, wide])
}

fn check_forms<K: Sample, V: Sample>(gpu: &Wgpu, n: usize, order: fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>) {
    let ((a, x), (v, w)) = (both(gpu, &K::samples(n + 7, 1)), both(gpu, &V::samples(n + 7, 2)));
    let (expected, found) = (forms(&Cpu::new(), a, v, order), forms(gpu, x, w, order));
    let what = |k: usize, what: &str| format!("{what} {k} of {n} {} with {}", K::DTYPE, V::DTYPE);
    (0..3).for_each(|k| same_bits(&what(k, "words"), &expected.0[k], &found.0[k]));
    (0..4).for_each(|k| same_bits(&what(k, "keys"), &expected.1[k], &found.1[k]));
    (0..2).for_each(|k| same_bits(&what(k, "values"), &expected.2[k], &found.2[k]));
}

/// An order that contradicts itself.
fn noise(a: Expr<u32>, b: Expr<u32>) -> Expr<bool> {
    (((a * 2_654_435_761) ^ (b * 40_503)) >> 17 & 1u32).eq(1)
}

fn noise_wide(a: Expr<u64>, b: Expr<u64>) -> Expr<bool> {
    (((a * 2_654_435_761) ^ (b * 40_503)) >> 17 & 1u64).eq(1)
}

#[test]
fn small_windows_do_not_show() {
    let gpu = own_device(&Options::default());
    gpu.limit_windows(40 << 10);
    check::<u32>(&gpu, 6_000, |a, b| (a >> 4).lt(b >> 4));
    check::<u32>(&gpu, 61_003, |a, b| (a >> 4).lt(b >> 4));
    check::<u32>(&gpu, 40_960, |_, b| b.ne(b));
    check::<u8>(&gpu, 33_000, |a, b| (a & 3u32).lt(b & 3u32));
    check::<f16>(&gpu, 16_385, Expr::gt);
    check::<i8>(&gpu, 33_000, |a, b| (a / 3).lt(b / 3));
    check::<i16>(&gpu, 16_385, Expr::gt);
    check::<f64>(&gpu, 20_481, |a, b| a.abs().lt(b.abs()));
    check_forms::<i32, u8>(&gpu, 30_011, |a, b| a.abs().lt(b.abs()));
    check_forms::<f16, f64>(&gpu, 12_289, |a, b| a.abs().lt(b.abs()));
    check_forms::<u64, u32>(&gpu, 20_011, |a, b| (a >> 50).gt(b >> 50));
    // As small as they may be: a tile begins at almost every key of a window. Written out, too.
    gpu.limit_windows(33 << 10);
    check::<u32>(&gpu, 50_003, |a, b| (a >> 20).gt(b >> 20));
    gpu.patterns().written_out.store(true, Ordering::Relaxed);
    check::<i64>(&gpu, 20_011, |a, b| (a % 1000).lt(b % 1000));
}

#[test]
fn small_windows_do_not_show_where_an_order_contradicts_itself() {
    let gpu = own_device(&Options::default());
    for bytes in [33 << 10, 40 << 10, 100 << 10] {
        gpu.limit_windows(bytes);
        check::<u32>(&gpu, 60_011, noise);
        check::<u64>(&gpu, 40_011, noise_wide);
        check::<f32>(&gpu, 30_011, Expr::lt);
        check::<u8>(&gpu, 30_011, |a, _| a.eq(a));
    }
    check_forms::<u32, f32>(&gpu, 60_011, noise);
    check_forms::<u64, u64>(&gpu, 30_011, noise_wide);
}

#[test]
fn more_keys_than_are_numbered_are_refused_with_the_limit() {
    let gpu = own_device(&Options::default());
    let (keys, out) = (gpu.upload(&[7u8; 8]).expect("memory"), gpu.upload(&[5u8; 8]).expect("memory"));
    let before = Arc::new(trace(|(a, b): (Expr<u32>, Expr<u32>)| a.lt(b)).expect("order"));
    let (dtype, numerics, payload) = (DType::U8, Numerics::Strict, SortPayload::Nothing);
    let refused = |result, n: u64| match result {
        Err(Error::TooLarge { requested, limit, .. }) => assert_eq!((requested, limit), (n, (1 << 31) - 1)),
        other => panic!("{other:?}"),
    };
    let leaf = Leaf::Elements { raw: keys.raw().clone(), dtype, offset: 0, stride: 1 };
    let outs = [Out { raw: out.raw().clone(), dtype, offset: 0 }];
    let n = 1 << 31;
    let sort = MergeSortTask { before: Arc::clone(&before), dtype, n, payload, keys_out: true, lent: false, numerics };
    refused(gpu.run(&sort, std::slice::from_ref(&leaf), &outs), n);
    let merge = MergeByTask { before, dtype, m: 7, n, payload, numerics };
    refused(gpu.run(&merge, &[leaf.clone(), leaf], &outs), n + 7);
    assert_eq!(out.read_blocking().expect("read"), [5; 8]);
}

#[test]
fn windows_that_hold_no_two_tiles_are_refused_with_their_size() {
    let gpu = own_device(&Options::default());
    gpu.limit_windows(20 << 10);
    check::<u32>(&gpu, 3_000, |a, b| (a >> 4).lt(b >> 4));
    let (keys, out) = (gpu.upload(&[7u32; 9_000]).expect("memory"), gpu.upload(&[5u32; 9_000]).expect("memory"));
    let refused = gpu.sort(&keys).by(Expr::lt).write_to(&out);
    assert!(matches!(refused, Err(Error::TooLarge { requested: 0x8000, limit: 0x5000, .. })), "{refused:?}");
    assert_eq!(out.read_blocking().expect("read"), [5; 9_000]);
}
