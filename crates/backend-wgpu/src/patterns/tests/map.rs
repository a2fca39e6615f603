//! P01.

use super::{SIZES, Sample, both, device, own_device, same_bits};
use crate::context::Options;
use crate::device::Wgpu;
use half::f16;
use isowarp_core::backend::Backend as _;
use isowarp_core::buffer::Memory as _;
use isowarp_core::element::{Element, Num, Scalar};
use isowarp_core::error::Error;
use isowarp_core::input::{Source as _, array, index, index64, scalar};
use isowarp_core::ir::{ArrayExpr, Expr};
use isowarp_core::ops::{Max, Sum};
use isowarp_core::patterns::{Map, Reduce as _};
use isowarp_cpu::Cpu;

fn copies_and_sums<T: Sample + Element<Reg = T> + Scalar + Num>(gpu: &Wgpu) {
    if !gpu.caps().supports(T::DTYPE) {
        return;
    }
    for n in SIZES {
        let (x, y) = (T::samples(n, 1), T::samples(n, 2));
        let ((cx, gx), (cy, gy)) = (both(gpu, &x), both(gpu, &y));
        let op = |(a, b): (Expr<T>, Expr<T>)| (a + b, a.max(b), a.lt(b));
        let expected = Cpu::new().map((&cx, &cy), op).expect("cpu");
        let found = gpu.map((&gx, &gy), op).expect("gpu");
        let what = format!("{} of {n}", T::DTYPE);
        same_bits(&what, &expected.0, &found.0);
        same_bits(&what, &expected.1, &found.1);
        same_bits(&what, &expected.2, &found.2);
    }
}

#[test]
fn every_register_type_maps_to_the_same_bits() {
    copies_and_sums::<f32>(device());
    copies_and_sums::<i32>(device());
    copies_and_sums::<u32>(device());
    copies_and_sums::<f64>(device());
    copies_and_sums::<i64>(device());
    copies_and_sums::<u64>(device());
}

fn narrow<T: Sample<Reg: Num>>(gpu: &Wgpu, scale: T::Reg) {
    for n in SIZES {
        let x = T::samples(n + 9, 3);
        let (cx, gx) = both(gpu, &x);
        for (skip, into) in [(0, 0), (1, 0), (0, 1), (2, 2), (3, 3), (4, 2), (5, 7)] {
            let (co, go) = both(gpu, &T::samples(n + 9, 4));
            let op = |(x, s): (Expr<T::Reg>, Expr<T::Reg>)| (x * s).store_as::<T>();
            let range = |at: usize| at as u64..(at + n) as u64;
            let cut = |b: &isowarp_core::buffer::Buffer<_, T>, at: usize| b.slice(range(at)).expect("slice");
            Cpu::new().map_into((&cut(&cx, skip), scalar(scale)), op, &cut(&co, into)).expect("cpu");
            let cut = |b: &isowarp_core::buffer::Buffer<_, T>, at: usize| b.slice(range(at)).expect("slice");
            gpu.map_into((&cut(&gx, skip), scalar(scale)), op, &cut(&go, into)).expect("gpu");
            same_bits(&format!("{} of {n} from {skip} to {into}", T::DTYPE), &co, &go);
        }
    }
}

#[test]
fn narrow_elements_keep_their_neighbours_at_any_offset() {
    narrow::<f16>(device(), 1.5);
    narrow::<u8>(device(), 3);
    narrow::<i8>(device(), -3);
    narrow::<i16>(device(), -3);
    narrow::<u16>(device(), 3);
}

#[test]
fn every_narrow_integer_keeps_its_sign_wherever_it_lies() {
    // All of them, so that each stands at every place of a word, loaded alone and with its neighbours.
    fn check<T: Sample>(all: impl Iterator<Item = T> + Clone, shift: usize)
    where
        T::Reg: Element<Reg = T::Reg>,
    {
        let x: Vec<T> = all.clone().chain(all.clone().skip(1)).chain(all.skip(2)).skip(shift).collect();
        let gpu = device().upload(&x).expect("memory");
        let found = device().map(&gpu, |x| x).expect("gpu").read_blocking().expect("gpu");
        assert_eq!(found, x.iter().map(|v| v.widen()).collect::<Vec<_>>(), "{}", T::DTYPE);
        let back = device().map((&gpu.reversed(), &gpu), |(_, x)| x.store_as::<T>()).expect("gpu").read_blocking().expect("gpu");
        assert_eq!(back, x, "{}", T::DTYPE);
    }
    for shift in [0, 1, 2, 3] {
        check(i8::MIN..=i8::MAX, shift);
        check(u8::MIN..=u8::MAX, shift);
        check(i16::MIN..=i16::MAX, shift);
        check(u16::MIN..=u16::MAX, shift);
    }
}

#[test]
fn strides_repeat_reverse_and_step() {
    let gpu = device();
    fn check<T: Sample>(gpu: &Wgpu) {
        for n in [1_usize, 2, 7, 256, 1025] {
            let x = T::samples(3 * n + 5, 5);
            let (cx, gx) = both(gpu, &x);
            for (start, stride) in [(0, 1), (1, 1), (0, 3), (4, 2), (3 * n as u64 + 4, -1), (3 * n as u64 + 2, -3), (2, 0)] {
                let op = |x: Expr<T::Reg>| x.store_as::<T>();
                let expected = Cpu::new().map(cx.strided(start, n as u64, stride).expect("view"), op).expect("cpu");
                let found = gpu.map(gx.strided(start, n as u64, stride).expect("view"), op).expect("gpu");
                same_bits(&format!("{} of {n} from {start} by {stride}", T::DTYPE), &expected, &found);
            }
        }
    }
    check::<f32>(gpu);
    check::<u8>(gpu);
    check::<f16>(gpu);
    check::<i8>(gpu);
    check::<i16>(gpu);
    check::<u16>(gpu);
    check::<f64>(gpu);
}

#[test]
fn an_output_may_be_an_input() {
    fn check<T: Sample>(gpu: &Wgpu) {
        for (n, at) in [(1000_usize, 0_u64), (1001, 4), (777, 3), (5, 1)] {
            let (cx, gx) = both(gpu, &T::samples(n + 8, 6));
            let (cy, gy) = both(gpu, &T::samples(n, 7));
            let op = |(x, y): (Expr<T::Reg>, Expr<T::Reg>)| isowarp_core::ir::select(x.eq(y), y, y).store_as::<T>();
            let (cs, gs) = (cx.slice(at..at + n as u64).expect("slice"), gx.slice(at..at + n as u64).expect("slice"));
            Cpu::new().map_into((&cs, &cy), op, &cs).expect("cpu");
            gpu.map_into((&gs, &gy), op, &gs).expect("gpu");
            same_bits(&format!("{} of {n} at {at}", T::DTYPE), &cx, &gx);
        }
    }
    check::<f32>(device());
    check::<u8>(device());
    check::<f16>(device());
    check::<i8>(device());
    check::<i16>(device());
    check::<i64>(device());
}

#[test]
fn indices_scalars_arrays_and_lazy_inputs() {
    let gpu = device();
    let n = 1003;
    let (cx, gx) = both(gpu, &f32::samples(n, 8));
    let (ck, gk) = both(gpu, &u8::samples(n, 9));
    macro_rules! on {
        ($d:expr, $x:expr, $k:expr) => {
            $d.map((array($x), ($k, index()).map(|(k, i)| k * 5 + i), scalar(1.25_f32), index64(), array($k)), |(x, j, s, i, k)| {
                (x.at(j) * s + i.cast::<f32>(), k.at(j - 7), i + 1)
            })
            .expect("map")
        };
    }
    let (expected, found) = (on!(Cpu::new(), &cx, &ck), on!(gpu, &gx, &gk));
    same_bits("floats", &expected.0, &found.0);
    same_bits("bytes", &expected.1, &found.1);
    same_bits("indices", &expected.2, &found.2);
}

#[test]
fn grids_above_a_dimension_are_folded() {
    let gpu = device();
    let n = 65_535 * 256 + 1;
    let found = gpu.generate(n, index(), |i| (i * 7).store_as::<u8>()).expect("generate");
    let host = found.read_blocking().expect("read");
    assert!(host.iter().enumerate().all(|(i, &v)| v == (i as u32).wrapping_mul(7) as u8));
}

#[test]
fn arrays_above_the_binding_limit_are_cut() {
    let gpu = own_device(&Options::default());
    gpu.limit_windows(4096);
    copies_and_sums::<f32>(&gpu);
    copies_and_sums::<u64>(&gpu);
    narrow::<u8>(&gpu, 3);
    let n = 5000;
    let (cx, gx) = both(&gpu, &f32::samples(3 * n, 8));
    let op = |(x, y, i, j): (Expr<f32>, Expr<f32>, Expr<u32>, Expr<u64>)| (x + y, i + 1, j * 3);
    macro_rules! on {
        ($d:expr, $x:expr) => {
            $d.map(
                (
                    &$x.strided(3 * n as u64 - 1, n as u64, -3).expect("view"),
                    &$x.slice(5..5 + n as u64).expect("slice"),
                    index(),
                    index64(),
                ),
                op,
            )
            .expect("map")
        };
    }
    let (expected, found) = (on!(Cpu::new(), cx), on!(gpu, gx));
    same_bits("floats", &expected.0, &found.0);
    same_bits("indices", &expected.1, &found.1);
    same_bits("wide indices", &expected.2, &found.2);
    let refused = gpu.map((array(&gx), index()), |(x, i)| x.at(i));
    assert!(refused.is_err(), "no length");
    gpu.limit_windows(2048);
    let refused = gpu.generate(10, (array(&gx), index()), |(x, i)| x.at(i));
    assert!(matches!(refused, Err(Error::TooLarge { what: "bindings of the windows of an array", .. })), "{refused:?}");
}

#[test]
fn windows_of_a_few_elements_know_their_indices() {
    let gpu = own_device(&Options::default());
    gpu.limit_windows(4096);
    // Windows of one, two, three and four elements.
    for stride in [900, 450, 310, 230] {
        let (cx, gx) = both(&gpu, &f32::samples(20 * stride as usize, 8));
        macro_rules! on {
            ($d:expr, $x:expr) => {
                $d.map((&$x.strided(0, 19, stride).expect("view"), index()), |(x, i)| (x, (i >> 2) * 10 + (i & 3))).expect("map")
            };
        }
        let (expected, found) = (on!(Cpu::new(), cx), on!(gpu, gx));
        same_bits("elements", &expected.0, &found.0);
        same_bits("indices", &expected.1, &found.1);
    }
}

#[test]
fn an_operator_fetches_from_every_window_of_an_array() {
    fn fetches<T: Sample + Element<Reg = T> + Scalar + Num>(gpu: &Wgpu) {
        if !gpu.caps().supports(T::DTYPE) {
            return;
        }
        let (cx, gx) = both(gpu, &T::samples(30_000, 8));
        for range in [1..9000_u64, 5..15_000, 3..29_000] {
            macro_rules! on {
                // Backwards, past the end, from two places at once, beside the elements themselves.
                ($d:expr, $x:expr) => {{
                    let x = $x.slice(range.clone()).expect("slice");
                    let last = x.len() as u32 + 2;
                    let f = move |(a, i, v): (ArrayExpr<T>, Expr<u32>, Expr<T>)| a.at(last - i).max(a.at(i * 7)).min(v);
                    (
                        $d.map((array(&x), index(), &x), f).expect("map"),
                        $d.reduce((array(&x), index(), &x).map(f), Max).run().expect("reduce"),
                    )
                }};
            }
            let (expected, found) = (on!(Cpu::new(), cx), on!(gpu, gx));
            let what = format!("{} of {range:?}", T::DTYPE);
            same_bits(&what, &expected.0, &found.0);
            let (expected, found) = (expected.1.read_blocking().expect("cpu"), found.1.read_blocking().expect("gpu"));
            assert_eq!(expected.to_bits64(), found.to_bits64(), "{what}");
        }
    }
    let gpu = own_device(&Options::default());
    gpu.limit_windows(40_000);
    fetches::<f32>(&gpu);
    gpu.limit_windows(80_000);
    fetches::<u64>(&gpu);
}

#[test]
fn an_array_above_the_real_limit_works() {
    let gpu = device();
    let n = (gpu.caps().max_binding_bytes / 4).min(32 << 20) + (8 << 20) + 3;
    let x = gpu.generate(n, index(), |i| i * 3).expect("generate");
    let y = gpu.map(&x, |x| x ^ 5).expect("map");
    let tail = y.slice(n - 1000..).expect("slice").read_blocking().expect("read");
    assert!(tail.iter().zip(n - 1000..).all(|(&v, i)| v == (i as u32).wrapping_mul(3) ^ 5));
    let host = y.read_blocking().expect("read");
    assert!(host.iter().enumerate().all(|(i, &v)| v == (i as u32).wrapping_mul(3) ^ 5));
}

#[test]
fn a_repeated_call_compiles_nothing() {
    let gpu = device();
    let x = gpu.upload(&[1.0_f32; 1000]).expect("upload");
    let call = |s: f32| gpu.map((&x, scalar(s)), |(x, s)| x * s + 77.5).expect("map");
    call(1.0);
    let before = gpu.patterns().ready.lock().len();
    call(2.0);
    call(3.0);
    assert_eq!(gpu.patterns().ready.lock().len(), before);
}

#[test]
fn maps_of_any_workgroup_and_groups_have_the_cpus_bits() {
    let gpu = own_device(&Options::default());
    for (threads, groups) in [(64, 2), (128, 1), (128, 3), (256, 2)] {
        gpu.shape_maps(threads, groups);
        for n in [1, 3, 511, 1025, 70_001] {
            let (cx, gx) = both(&gpu, &f32::samples(n, 10));
            let op = |(x, i): (Expr<f32>, Expr<u32>)| (x.sin(), (x * x + 1.0).sqrt() / (x + 0.5) - x, i);
            let expected = Cpu::new().map((&cx, index()), op).expect("cpu");
            let found = gpu.map((&gx, index()), op).expect("gpu");
            let what = format!("{n} by {threads} and {groups}");
            same_bits(&what, &expected.0, &found.0);
            same_bits(&what, &expected.1, &found.1);
            same_bits(&what, &expected.2, &found.2);
        }
    }
}

#[test]
fn operators_of_many_calls_compute_what_the_cpu_does() {
    let gpu = device();
    let (cx, gx) = both(gpu, &f32::samples(20_011, 91));
    let chain = |x: Expr<f32>| (0..100).fold(x, |v, _| v.sin());
    let expected = Cpu::new().map(&cx, chain).expect("cpu");
    same_bits("nested sines", &expected, &gpu.map(&gx, chain).expect("gpu"));
    let mixed = |x: Expr<f32>| {
        let sum = (1..20).fold(x, |sum, k| (sum / (x + k as f32)).atan() + (x * k as f32).cos());
        (sum, x.sqrt(), sum.lt(x).cast::<u32>())
    };
    let (expected, found) = (Cpu::new().map(&cx, mixed).expect("cpu"), gpu.map(&gx, mixed).expect("gpu"));
    same_bits("sums", &expected.0, &found.0);
    same_bits("roots", &expected.1, &found.1);
    same_bits("comparisons", &expected.2, &found.2);
    let expected = Cpu::new().reduce(cx.map(chain), Sum).run().expect("cpu");
    same_bits("a sum of nested sines", expected.buffer(), gpu.reduce(gx.map(chain), Sum).run().expect("gpu").buffer());
}
