//! Verbs over rows and axes: many short rows, and arrays of which a binding holds some rows.

use super::{Sample, both, own_device, same_bits};
use crate::context::Options;
use crate::device::Wgpu;
use crate::patterns::segmented_sort::Short;
use half::f16;
use isowarp_core::input::{Source as _, index};
use isowarp_core::ops::{Max, Sum};
use isowarp_core::patterns::{
    Histogram as _, Layout as _, Map as _, Ordered as _, Reduce as _, Scan as _, Sort as _, SortOrder, channels_alike,
};
use isowarp_cpu::Cpu;

/// Sorts of `rows` rows of `n` keys.
fn sorts<K: Sample>(gpu: &Wgpu, rows: u64, n: u64) {
    let cpu = Cpu::new();
    let (a, b) = both(gpu, &K::samples((rows * n) as usize, n ^ 31));
    let what = |kind: &str| format!("{kind} {rows} rows of {n} {}", K::DTYPE);
    for by in [SortOrder::Ascending.into(), SortOrder::Descending.into(), SortOrder::Ascending.bits(1..6)] {
        let by: isowarp_core::patterns::SortBy = by;
        let (expected, found) = (
            cpu.sort(&a).axis(&[a.len() / n, n], 1).order(by.clone()).run(),
            gpu.sort(&b).axis(&[b.len() / n, n], 1).order(by.clone()).run(),
        );
        same_bits(&what("sort"), &expected.expect("cpu"), &found.expect("gpu"));
        let (expected, found) = (
            cpu.argsort(&a).axis(&[a.len() / n, n], 1).order(by.clone()).run(),
            gpu.argsort(&b).axis(&[b.len() / n, n], 1).order(by.clone()).run(),
        );
        same_bits(&what("argsort"), &expected.expect("cpu"), &found.expect("gpu"));
        let k = n.div_ceil(2);
        let (expected, found) = (
            cpu.top_k(&a, k).order(by.clone()).axis(&[a.len() / n, n], 1).with_indices().run().expect("cpu"),
            gpu.top_k(&b, k).order(by).axis(&[b.len() / n, n], 1).with_indices().run().expect("gpu"),
        );
        same_bits(&what("first keys"), &expected.0, &found.0);
        same_bits(&what("places of first keys"), &expected.1, &found.1);
    }
}

/// Rows that are computed where they are sorted, with and without their indices, from an odd place on.
fn sorts_in_place(gpu: &Wgpu, rows: u64, n: u64) {
    let (a, b) = both(gpu, &u32::samples((rows * n) as usize, n));
    let (c, d) = both(gpu, &u8::samples((rows * n) as usize, n));
    let (e, f) = both(gpu, &vec![9u8; (rows * n + 5) as usize]);
    let what = |kind: &str| format!("{kind} {rows} computed rows of {n}");
    let order = SortOrder::Descending;
    let (expected, found) = (
        Cpu::new().sort(a.map(|x| x ^ 0xff)).axis(&[a.len() / n, n], 1).order(order).run(),
        gpu.sort(b.map(|x| x ^ 0xff)).axis(&[b.len() / n, n], 1).order(order).run(),
    );
    same_bits(&what("sort"), &expected.expect("cpu"), &found.expect("gpu"));
    let (expected, found) = (
        Cpu::new().argsort(a.map(|x| x >> 7)).axis(&[a.len() / n, n], 1).order(order).run(),
        gpu.argsort(b.map(|x| x >> 7)).axis(&[b.len() / n, n], 1).order(order).run(),
    );
    same_bits(&what("argsort"), &expected.expect("cpu"), &found.expect("gpu"));
    Cpu::new()
        .sort(c.map(|x| (x ^ 0x55).store_as::<u8>()))
        .axis(&[c.len() / n, n], 1)
        .order(order)
        .write_to(&e.slice(3..).expect("slice"))
        .expect("cpu");
    gpu.sort(d.map(|x| (x ^ 0x55).store_as::<u8>()))
        .axis(&[d.len() / n, n], 1)
        .order(order)
        .write_to(&f.slice(3..).expect("slice"))
        .expect("gpu");
    same_bits(&what("sort of bytes"), &e, &f);
}

fn every_length(gpu: &Wgpu) {
    for n in [1, 2, 3, 17, 100] {
        let rows = 9001 / n;
        sorts::<u8>(gpu, rows, n);
        sorts::<f32>(gpu, rows, n);
        sorts_in_place(gpu, rows, n);
    }
    sorts::<i16>(gpu, 700, 5);
    sorts::<f16>(gpu, 700, 5);
    sorts::<i64>(gpu, 700, 5);
    sorts::<f64>(gpu, 700, 5);
}

#[test]
fn short_rows_are_sorted_as_they_are_alone() {
    let gpu = own_device(&Options::default());
    every_length(&gpu);
    // The longest rows that share a workgroup, and those that have one to themselves.
    let room = Short { key_bytes: 4, travels: false, all_bits: true }.room();
    for n in [room - 1, room, room + 1] {
        sorts::<f32>(&gpu, 7, n);
    }
}

#[test]
fn short_rows_of_which_a_window_holds_some_are_sorted_alike() {
    let gpu = own_device(&Options::default());
    gpu.limit_windows(40_000);
    for n in [1, 3, 100] {
        sorts::<f32>(&gpu, 30_001 / n, n);
    }
    sorts::<u8>(&gpu, 20_001, 3);
}

#[test]
fn every_verb_over_rows_works_where_a_window_holds_some_of_them() {
    let gpu = own_device(&Options::default());
    gpu.limit_windows(100_000);
    let cpu = Cpu::new();
    // Rows of one tile and of several, of which two or none at all fit a window, and many that do.
    for shape in [[5, 8192], [7, 9001], [3, 24_000], [3, 30_001], [90, 700], [20_003, 2]] {
        let n = (shape[0] * shape[1]) as usize;
        let ((x, y), (u, v)) = (both(&gpu, &f32::samples(n, 3)), both(&gpu, &u8::samples(n, 4)));
        let what = |verb: &str| format!("{verb} of {shape:?}");
        for axis in [0, 1] {
            for exclusive in [false, true] {
                let (a, b) = (
                    cpu.scan(&x, Sum).axis(&shape, axis).exclusive_if(exclusive).run(),
                    gpu.scan(&y, Sum).axis(&shape, axis).exclusive_if(exclusive).run(),
                );
                same_bits(&what("scan"), &a.expect("cpu"), &b.expect("gpu"));
            }
            let of = |axis| (&shape[..], axis);
            let (a, b) = (
                cpu.scan(&u, Max).axis(of(axis).0, of(axis).1).exclusive().run(),
                gpu.scan(&v, Max).axis(of(axis).0, of(axis).1).exclusive().run(),
            );
            same_bits(&what("scan of bytes"), &a.expect("cpu"), &b.expect("gpu"));
            let (a, b) = (cpu.reduce(&x, Sum).axis(&shape, axis).run(), gpu.reduce(&y, Sum).axis(&shape, axis).run());
            same_bits(&what("reduction"), &a.expect("cpu"), &b.expect("gpu"));
        }
        let row = shape[1];
        let order = SortOrder::Ascending;
        same_bits(
            &what("sort"),
            &cpu.sort(&x).axis(&[x.len() / row, row], 1).order(order).run().expect("cpu"),
            &gpu.sort(&y).axis(&[y.len() / row, row], 1).order(order).run().expect("gpu"),
        );
        same_bits(
            &what("argsort"),
            &cpu.argsort(&u).axis(&[u.len() / row, row], 1).order(order).run().expect("cpu"),
            &gpu.argsort(&v).axis(&[v.len() / row, row], 1).order(order).run().expect("gpu"),
        );
        let (a, b) = (
            cpu.top_k(&x, 2).order(order).axis(&[x.len() / row, row], 1).with_indices().run().expect("cpu"),
            gpu.top_k(&y, 2).order(order).axis(&[y.len() / row, row], 1).with_indices().run().expect("gpu"),
        );
        same_bits(&what("first keys"), &a.0, &b.0);
        same_bits(&what("their places"), &a.1, &b.1);
        let (a, b) = (cpu.permute_axes(&x, &shape, &[1, 0]).run(), gpu.permute_axes(&y, &shape, &[1, 0]).run());
        same_bits(&what("transpose"), &a.expect("cpu"), &b.expect("gpu"));
        if shape[1] % 4 == 0 {
            let (a, b) =
                (cpu.histogram(channels_alike(&u, (4, 3), 0, 256, 9)).run(), gpu.histogram(channels_alike(&v, (4, 3), 0, 256, 9)).run());
            same_bits(&what("histogram"), &a.expect("cpu"), &b.expect("gpu"));
        }
    }
}

#[test]
fn rows_above_the_real_limit_are_scanned() {
    let gpu = super::device();
    // 34 million bytes, whose sums are 136 MB: more than a binding holds where an adapter has no more than WebGPU asks for.
    let shape = [3400, 10_000];
    let x = gpu.generate(shape[0] * shape[1], index(), |i| ((i % 10_000u32) & 1u32).store_as::<u8>()).expect("generate");
    let sums = gpu.scan(&x, Sum).axis(&shape, 1).run().expect("scan");
    let wrong = gpu.count((&sums, index()), |(s, i)| s.ne((i % 10_000u32 + 1u32) >> 1u32)).expect("count");
    assert_eq!(wrong.read_blocking().expect("read"), 0);
}
