//! P02.

use super::super::reduce::Shape;
use super::{SIZES, Sample, both, device, own_device, same_bits};
use crate::context::Options;
use crate::device::Wgpu;
use half::f16;
use isowarp_core::backend::Backend as _;
use isowarp_core::buffer::Buffer;
use isowarp_core::element::{Element, Num, Scalar};
use isowarp_core::input::{Source as _, index};
use isowarp_core::ops::{Combine, Max, Min, Op, Product, Sum};
use isowarp_core::patterns::{Map, Reduce, Statistics as _};
use isowarp_cpu::Cpu;

pub(super) fn check<T: Sample + Element<Reg = T> + Scalar + Num>(gpu: &Wgpu, sizes: &[usize], op: impl Combine<T> + Copy) {
    if !gpu.caps().supports(T::DTYPE) {
        return;
    }
    for &n in sizes.iter().filter(|&&n| n > 0) {
        let (cx, gx) = both(gpu, &T::samples(n, 11));
        let expected = Cpu::new().reduce(&cx, op).run().expect("cpu");
        let found = gpu.reduce(&gx, op).run().expect("gpu");
        same_bits(&format!("{} of {n} {}", op.name(), T::DTYPE), expected.buffer(), found.buffer());
    }
}

#[test]
fn every_type_and_size_gives_the_one_tree() {
    let gpu = device();
    let mut sizes = SIZES.to_vec();
    sizes.extend([4095, 4097, 65_535, 65_536, 65_537, 131_072, 300_001]);
    check::<f32>(gpu, &sizes, Sum);
    check::<u32>(gpu, &sizes, Product);
    check::<i32>(gpu, &SIZES, Min);
    check::<f32>(gpu, &SIZES, Max);
    check::<f64>(gpu, &sizes, Sum);
    check::<i64>(gpu, &SIZES, Sum);
    check::<u64>(gpu, &SIZES, Max);
}

#[test]
fn operators_need_not_commute() {
    let gpu = device();
    // Affine maps of Z/2^16 under composition, (a, b) packed in a word: associative, not commutative.
    let compose = Op::associative(1_u32, |f, g| {
        let (fa, fb, ga, gb) = (f & 0xffff, f >> 16, g & 0xffff, g >> 16);
        ((fa * ga) & 0xffff) | (((ga * fb + gb) & 0xffff) << 16)
    });
    check::<u32>(gpu, &SIZES, compose);
    let lse = Op::associative(f32::NEG_INFINITY, |a, b| a.max(b) + (-(a - b).abs()).exp());
    check::<f32>(gpu, &[1, 2, 3, 255, 8193], lse);
}

#[test]
fn accumulators_of_several_parts() {
    parts(device(), &[1, 2, 5, 1023, 4097, 70_001]);
}

pub(super) fn parts(gpu: &Wgpu, sizes: &[usize]) {
    for &n in sizes {
        let (cx, gx) = both(gpu, &f32::samples(n, 12));
        let what = format!("of {n}");
        same_bits(&what, Cpu::new().argmin(&cx).expect("cpu").buffer(), gpu.argmin(&gx).expect("gpu").buffer());
        let ((cl, ch), (gl, gh)) = (Cpu::new().minmax(&cx).expect("cpu"), gpu.minmax(&gx).expect("gpu"));
        same_bits(&what, cl.buffer(), gl.buffer());
        same_bits(&what, ch.buffer(), gh.buffer());
        let (cy, gy) = both(gpu, &f64::samples(n, 13));
        same_bits(&what, Cpu::new().argmax(&cy).expect("cpu").buffer(), gpu.argmax(&gy).expect("gpu").buffer());
        let (cm, gm) = (Cpu::new().minmax(&cy).expect("cpu"), gpu.minmax(&gy).expect("gpu"));
        same_bits(&what, cm.1.buffer(), gm.1.buffer());
        same_bits(&what, Cpu::new().mean(&cx).expect("cpu").buffer(), gpu.mean(&gx).expect("gpu").buffer());
        same_bits(&what, Cpu::new().norm2(&cx).expect("cpu").buffer(), gpu.norm2(&gx).expect("gpu").buffer());
        same_bits(&what, Cpu::new().dot(&cx, &cx).expect("cpu").buffer(), gpu.dot(&gx, &gx).expect("gpu").buffer());
    }
}

#[test]
fn inputs_of_any_form() {
    let gpu = device();
    for n in [1_usize, 3, 1000, 9001] {
        let (cx, gx) = both(gpu, &f16::samples(3 * n + 5, 14));
        let (ck, gk) = both(gpu, &u8::samples(n + 3, 15));
        macro_rules! on {
            ($d:expr, $x:expr, $k:expr) => {{
                let keys = $k.slice(3..3 + n as u64).expect("slice");
                let view = $x.strided(3 * n as u64 + 2, n as u64, -3).expect("view");
                $d.reduce((&view, &keys, index()).map(|(x, k, i)| x * k.cast::<f32>() + i.cast::<f32>()), Sum).run().expect("reduce")
            }};
        }
        same_bits(&format!("of {n}"), on!(Cpu::new(), cx, ck).buffer(), on!(gpu, gx, gk).buffer());
    }
}

pub(super) fn axes<T: Sample + Element<Reg = T> + Scalar + Num>(gpu: &Wgpu, shapes: &[[u64; 3]]) {
    for shape in shapes.iter().filter(|_| gpu.caps().supports(T::DTYPE)) {
        let n = shape.iter().product::<u64>() as usize;
        let (cx, gx) = both(gpu, &T::samples(n, 16));
        for axis in 0..3 {
            let expected = Cpu::new().reduce(&cx, Sum).axis(shape, axis).run().expect("cpu");
            let found = gpu.reduce(&gx, Sum).axis(shape, axis).run().expect("gpu");
            same_bits(&format!("axis {axis} of {shape:?}"), &expected, &found);
        }
    }
}

#[test]
fn every_axis() {
    axes::<f32>(device(), &[[1, 1, 1], [3, 5, 7], [300, 4, 33], [2, 1500, 3], [5, 2, 2100], [2, 9001, 2], [1, 70_000, 3], [700, 31, 5]]);
}

#[test]
fn arrays_above_the_binding_limit_are_cut() {
    let gpu = own_device(&Options::default());
    for bytes in [4096, 65_536 + 100] {
        gpu.limit_windows(bytes);
        check::<f32>(&gpu, &[1, 1000, 1025, 8193, 20_000, 70_001], Sum);
        check::<f64>(&gpu, &[1000, 20_000], Sum);
        axes::<f32>(
            &gpu,
            &[[3, 5, 7], [30, 40, 33], [3, 4001, 3], [5, 2, 2100], [2, 9001, 2], [3, 3, 40_000], [70, 3, 1100], [1, 7, 9000]],
        );
        axes::<f64>(&gpu, &[[5, 2, 2100], [3, 700, 3], [1, 3, 10_000]]);
    }
}

#[test]
fn heavy_operators_take_fewer_rows_and_the_same_tree() {
    for subgroups in [true, false] {
        let gpu = own_device(&Options { subgroups: Some(subgroups), ..Options::default() });
        for weight in [12, 24, 48, 96] {
            check::<u32>(&gpu, &[33, 1025, 8191, 8193, 300_001], super::scan::heavy(weight));
        }
    }
}

#[test]
fn workgroups_of_any_shape_give_the_one_tree() {
    let gpu = own_device(&Options::default());
    // Invocations, vectors of four that each holds, passes over a tile: every width, and tiles from 256 to 65,536 elements.
    let shapes = [(64, 1, 1), (64, 8, 2), (128, 2, 8), (128, 4, 1), (256, 1, 1), (256, 2, 4), (256, 4, 2), (256, 8, 8)];
    let shapes = shapes.map(|(threads, rows, passes)| Shape::new(threads, rows, passes));
    for shape in shapes {
        for shape in [shape, shape.rolled()] {
            *gpu.patterns().reduce_shape.lock() = Some(shape);
            check::<f32>(&gpu, &[1, 2, 255, 257, 1023, 1025, 8191, 8193, 70_001, 300_001], Sum);
        }
        check::<f32>(&gpu, &[3, 4097, 20_000], Op::associative(0.0, |a, b| a - b * 0.5));
        *gpu.patterns().reduce_shape.lock() = Some(shape);
        check::<i32>(&gpu, &[33, 9001], Min);
    }
}

#[test]
fn an_array_above_the_real_limit_works() {
    let gpu = device();
    let n = (40 << 20) + 3_u64;
    let x = gpu.generate(n, index(), |i| i).expect("generate");
    let sum = gpu.reduce(&x, Sum).run().expect("reduce").read_blocking().expect("read");
    assert_eq!(u64::from(sum), n * (n - 1) / 2 % (1 << 32));
}

#[test]
fn rows_above_the_real_limit_are_reduced_along_columns() {
    let gpu = device();
    let columns = (32 << 20) + 5_u64;
    let x = gpu.generate(2 * columns, index(), |i| i * 3).expect("generate");
    let sums = gpu.reduce(&x, Sum).axis(&[2, columns], 0).run().expect("reduce");
    let wrong = gpu.count((&sums, index()), |(s, i)| s.ne(i * 6 + (3 * columns) as u32)).expect("count");
    assert_eq!(wrong.read_blocking().expect("read"), 0);
}

#[test]
fn a_loop_allocates_nothing() {
    let gpu = own_device(&Options::default());
    let (_, x) = both(&gpu, &f32::samples(500_000, 17));
    let (_, out) = both(&gpu, &[0.0_f32]);
    let out: Buffer<Wgpu, f32> = out;
    gpu.reduce(&x, Sum).write_to(&out).expect("reduce");
    let before = gpu.usage().settled();
    for _ in 0..10 {
        gpu.reduce(&x, Sum).write_to(&out).expect("reduce");
    }
    assert_eq!(gpu.usage().settled(), before);
}

#[test]
fn columns_in_windows_allocate_nothing_in_a_loop() {
    let gpu = own_device(&Options::default());
    gpu.limit_windows(100_000);
    let shape = [3, 60_000];
    let (_, x) = both(&gpu, &f32::samples(180_000, 28));
    let (_, out) = both(&gpu, &vec![0.0_f32; 60_000]);
    gpu.reduce(&x, Sum).axis(&shape, 0).write_to(&out).expect("reduce");
    let before = gpu.usage().settled();
    for _ in 0..10 {
        gpu.reduce(&x, Sum).axis(&shape, 0).write_to(&out).expect("reduce");
    }
    assert_eq!(gpu.usage().settled(), before);
}
