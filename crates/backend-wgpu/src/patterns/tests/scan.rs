//! P03.

use super::{SIZES, Sample, both, device, own_device, same_bits};
use crate::context::Options;
use crate::device::Wgpu;
use isowarp_core::backend::Backend as _;
use isowarp_core::buffer::Buffer;
use isowarp_core::element::{Element, Num, Scalar};
use isowarp_core::input::index;
use isowarp_core::ir::{Expr, select};
use isowarp_core::ops::{Combine, Max, Op, Sum};
use isowarp_core::patterns::{Map, Reduce, Scan};
use isowarp_cpu::Cpu;

const LENGTHS: [usize; 5] = [1, 2, 1000, 8193, 70_001];
const TILES: [usize; 6] = [16_383, 16_384, 16_385, 32_768, 40_961, 300_001];

pub(super) fn check<T: Sample + Element<Reg = T> + Scalar + Num>(gpu: &Wgpu, sizes: &[usize], op: impl Combine<T> + Copy) {
    if !gpu.caps().supports(T::DTYPE) {
        return;
    }
    for &n in sizes {
        let (cx, gx) = both(gpu, &T::samples(n, 21));
        let what = |kind: &str| format!("{kind} {} of {n} {}", op.name(), T::DTYPE);
        let expected = Cpu::new().scan(&cx, op).run().expect("cpu");
        same_bits(&what("inclusive"), &expected, &gpu.scan(&gx, op).run().expect("gpu"));
        let expected = Cpu::new().scan(&cx, op).exclusive().run().expect("cpu");
        same_bits(&what("exclusive"), &expected, &gpu.scan(&gx, op).exclusive().run().expect("gpu"));
    }
}

fn every_type(gpu: &Wgpu) {
    let sizes = [&SIZES[..], &TILES[..]].concat();
    check::<f32>(gpu, &sizes, Sum);
    check::<u32>(gpu, &TILES, Sum);
    check::<i32>(gpu, &SIZES, Max);
    check::<f64>(gpu, &sizes, Sum);
    check::<u64>(gpu, &TILES, Max);
}

#[test]
fn every_type_and_size_gives_the_one_order() {
    every_type(device());
}

/// An operator with at least so many instructions, whose result shows the order.
pub(super) fn heavy(weight: u32) -> impl Combine<u32> + Copy {
    Op::associative(0u32, move |a: isowarp_core::ir::Expr<u32>, b| (0..weight / 2).fold(a * 3 + b, |v, k| v ^ (v >> (k % 13 + 3))))
}

#[test]
fn heavy_operators_take_fewer_rows_and_the_same_order() {
    for subgroups in [true, false] {
        let gpu = own_device(&Options { subgroups: Some(subgroups), ..Options::default() });
        for weight in [12, 24, 48, 96] {
            check::<u32>(&gpu, &[33, 1025, 8191, 8193, 20_001], heavy(weight));
        }
    }
}

#[test]
fn impatient_workgroups_compute_what_they_miss() {
    for without in [wgpu::Features::empty(), wgpu::Features::SHADER_INT64_ATOMIC_ALL_OPS] {
        let gpu = own_device(&Options { without, ..Options::default() });
        gpu.patterns().patience.store(1, std::sync::atomic::Ordering::Relaxed);
        // More tiles than a look-back sees at once.
        for _ in 0..3 {
            check::<f32>(&gpu, &[40_961, 8192 * 300 + 17], Sum);
        }
        check::<f64>(&gpu, &[40_961, 8192 * 40], Sum);
        segments(&gpu, &LENGTHS);
    }
}

#[test]
fn long_lines_are_served() {
    check::<f32>(device(), &[8192 * 257, 8192 * 300 + 17], Sum);
    check::<f64>(device(), &[8192 * 260], Sum);
    let (rows, n) = (2, 8192 * 270 + 4);
    let (cx, gx) = both(device(), &u32::samples(rows * n, 26));
    let shape = [rows as u64, n as u64];
    let expected = Cpu::new().scan(&cx, Sum).axis(&shape, 1).exclusive().run().expect("cpu");
    same_bits("two lines", &expected, &device().scan(&gx, Sum).axis(&shape, 1).exclusive().run().expect("gpu"));
}

#[test]
fn workgroups_of_every_size_look_back() {
    for subgroups in [true, false] {
        let gpu = own_device(&Options { subgroups: Some(subgroups), ..Options::default() });
        for threads in [256, 512, 1024] {
            *gpu.patterns().look_back_threads.lock() = Some(threads);
            for patience in [0, 1] {
                gpu.patterns().patience.store(patience, std::sync::atomic::Ordering::Relaxed);
                check::<f32>(&gpu, &[8193, 40_961, 8192 * 70 + 5], Sum);
                check::<f64>(&gpu, &[40_961], Sum);
            }
            segments(&gpu, &[8193, 70_001]);
        }
    }
}

#[test]
fn default_limits_scan_in_three_launches() {
    let gpu = own_device(&Options::default());
    gpu.patterns().patience.store(u32::MAX, std::sync::atomic::Ordering::Relaxed);
    every_type(&gpu);
}

#[test]
fn operators_need_not_commute() {
    let compose = Op::associative(1_u32, |f, g| {
        let (fa, fb, ga, gb) = (f & 0xffff, f >> 16, g & 0xffff, g >> 16);
        ((fa * ga) & 0xffff) | (((ga * fb + gb) & 0xffff) << 16)
    });
    check::<u32>(device(), &[1, 5, 257, 8192, 8193, 70_001], compose);
}

pub(super) fn segments(gpu: &Wgpu, sizes: &[usize]) {
    for &n in sizes {
        let (cx, gx) = both(gpu, &f32::samples(n, 22));
        let flags: Vec<u32> = u32::samples(n, 23).iter().map(|v| u32::from(v % 50 == 0)).collect();
        let (cf, gf) = both(gpu, &flags);
        let keys: Vec<u8> = u8::samples(n, 24).iter().enumerate().map(|(i, v)| if i % 9 == 0 { *v } else { 7 }).collect();
        let (ck, gk) = both(gpu, &keys);
        let (cy, gy) = both(gpu, &f64::samples(n, 25));
        let what = format!("of {n}");
        same_bits(
            &what,
            &Cpu::new().scan(&cx, Sum).by_flags(&cf).run().expect("cpu"),
            &gpu.scan(&gx, Sum).by_flags(&gf).run().expect("gpu"),
        );
        let expected = Cpu::new().scan(&cy, Sum).by_flags(&cf).exclusive().run().expect("cpu");
        same_bits(&what, &expected, &gpu.scan(&gy, Sum).by_flags(&gf).exclusive().run().expect("gpu"));
        same_bits(&what, &Cpu::new().scan(&cx, Sum).by_key(&ck).run().expect("cpu"), &gpu.scan(&gx, Sum).by_key(&gk).run().expect("gpu"));
    }
}

#[test]
fn segments_and_keys() {
    segments(device(), &LENGTHS);
}

pub(super) fn axes(gpu: &Wgpu, shapes: &[[u64; 3]]) {
    for shape in shapes {
        let n = shape.iter().product::<u64>() as usize;
        let (cx, gx) = both(gpu, &f32::samples(n, 26));
        for axis in (0..3).filter(|&a| shape[a] > 1) {
            for exclusive in [false, true] {
                let expected = Cpu::new().scan(&cx, Sum).axis(shape, axis).exclusive_if(exclusive).run().expect("cpu");
                let found = gpu.scan(&gx, Sum).axis(shape, axis).exclusive_if(exclusive).run().expect("gpu");
                same_bits(&format!("axis {axis} of {shape:?}"), &expected, &found);
            }
        }
    }
}

#[test]
fn every_axis() {
    axes(device(), &[[1, 1, 1], [3, 5, 7], [300, 4, 33], [2, 1500, 3], [2, 9001, 2], [1, 70_000, 3], [3, 2, 20_001], [3, 8195, 1]]);
}

#[test]
fn long_columns_walk_the_tiles() {
    let gpu = device();
    let shape = [8300, 2100];
    let x = gpu.generate(shape[0] * shape[1], index(), |i| (i * 2_654_435_761_u32) >> 9).expect("generate");
    let y = gpu.map(&x, |x| x.cast::<f32>() * 1e-3).expect("map");
    let scanned = gpu.scan(&y, Sum).axis(&shape, 0).run().expect("scan");
    for column in [0, 1, 2099] {
        let of = |b: &Buffer<Wgpu, f32>| gpu.map(b.strided(column, shape[0], shape[1] as i64).expect("view"), |x| x).expect("map");
        let line = of(&y).read_blocking().expect("read");
        let (cx, _) = both(gpu, &line);
        same_bits(&format!("column {column}"), &Cpu::new().scan(&cx, Sum).run().expect("cpu"), &of(&scanned));
    }
}

#[test]
fn arrays_above_the_binding_limit_are_cut() {
    let gpu = own_device(&Options::default());
    gpu.limit_windows(100_000);
    check::<f32>(&gpu, &[1000, 8193, 20_000, 70_001], Sum);
    check::<f64>(&gpu, &[20_000, 70_001], Sum);
    axes(&gpu, &[[3, 5, 7], [30, 20, 33], [1, 9001, 2], [1, 40_000, 1]]);
    // A window holds all tiles of a few columns, or less than one tile, or less than one row.
    axes(&gpu, &[[2, 20_000, 2], [2, 300, 100], [3, 2, 30_001], [40, 1, 2500], [1, 301, 700]]);
}

#[test]
fn an_array_above_the_real_limit_works() {
    let gpu = device();
    let n = (40 << 20) + 3_u64;
    let x = gpu.generate(n, index(), |i| i & 0xff).expect("generate");
    let found = gpu.scan(&x, Sum).run().expect("scan").read_blocking().expect("read");
    let mut sum = 0_u32;
    for (i, &v) in found.iter().enumerate() {
        sum = sum.wrapping_add(i as u32 & 0xff);
        assert_eq!(v, sum, "element {i}");
    }
}

#[test]
fn rows_above_the_real_limit_are_scanned_along_columns() {
    let gpu = device();
    let columns = (32 << 20) + 5_u64;
    let x = gpu.generate(2 * columns, index(), |i| i * 3).expect("generate");
    let sums = gpu.scan(&x, Sum).axis(&[2, columns], 0).run().expect("scan");
    let second = columns as u32;
    let expected = |i: Expr<u32>| select(i.lt(second), i * 3, i * 6 - 3 * second);
    let wrong = gpu.count((&sums, index()), |(s, i)| s.ne(expected(i))).expect("count");
    assert_eq!(wrong.read_blocking().expect("read"), 0);
}

#[test]
fn a_loop_allocates_nothing() {
    let gpu = own_device(&Options::default());
    let (_, x) = both(&gpu, &f32::samples(100_000, 27));
    let (_, out) = both(&gpu, &vec![0.0_f32; 100_000]);
    gpu.scan(&x, Sum).exclusive().write_to(&out).expect("scan");
    let before = gpu.usage().settled();
    for _ in 0..10 {
        gpu.scan(&x, Sum).exclusive().write_to(&out).expect("scan");
    }
    assert_eq!(gpu.usage().settled(), before);
}
