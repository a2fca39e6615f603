//! Merges of arrays that no binding holds, and searches window by window.

use super::super::merge;
use super::super::operands::{LeafKind, Signature, Slot, Unit};
use super::super::program::{Computed, Operators, Program};
use super::{Sample, both, own_device, same_bits, texts};
use crate::context::Options;
use crate::device::Wgpu;
use half::f16;
use isowarp_core::buffer::Buffer;
use isowarp_core::element::{DType, Ty};
use isowarp_core::input::{Source as _, array, index, scalar};
use isowarp_core::ir::{self, ArrayExpr, Expr, Param};
use isowarp_core::patterns::{KeyBits, Map as _, Merge as _, Ordered as _, Search as _, SearchKind, Sort as _, SortOrder};
use isowarp_cpu::Cpu;
use std::sync::atomic::Ordering;

const ORDER: SortOrder = SortOrder::Descending;

fn sorted<K: Sample>(n: usize, seed: u64) -> Vec<K> {
    let mut keys = K::samples(n, seed);
    let map = KeyBits::new(K::DTYPE, ORDER);
    keys.sort_by_key(|k| map.of(bytemuck::bytes_of(k).iter().rev().fold(0, |word, &b| word << 8 | u64::from(b))));
    keys
}

fn check<K: Sample>(gpu: &Wgpu, m: usize, n: usize) {
    let cpu = Cpu::new();
    let ((a, x), (b, y)) = (both(gpu, &sorted::<K>(m, 1)), both(gpu, &sorted::<K>(n, 2)));
    let what = |what: &str| format!("{what} of {m} and {n} {}", K::DTYPE);
    same_bits(&what("merge"), &cpu.merge(&a, &b).order(ORDER).run().expect("cpu"), &gpu.merge(&x, &y).order(ORDER).run().expect("gpu"));
    let ((v, s), (w, t)) = (both(gpu, &u8::samples(m, 3)), both(gpu, &u8::samples(n, 4)));
    let cpu_pairs = cpu.merge(&a, &b).order(ORDER).with_values(&v, &w).run().expect("cpu");
    let gpu_pairs = gpu.merge(&x, &y).order(ORDER).with_values(&s, &t).run().expect("gpu");
    same_bits(&what("keys"), &cpu_pairs.0, &gpu_pairs.0);
    same_bits(&what("values"), &cpu_pairs.1, &gpu_pairs.1);
    let (z, c) = (gpu.count_equal(&x, &y).order(ORDER).run().expect("gpu"), cpu.count_equal(&a, &b).order(ORDER).run().expect("cpu"));
    same_bits(&what("counts"), &c, &z);
    same_bits(
        &what("search"),
        &cpu.upper_bound(&b, &a).order(ORDER).run().expect("cpu"),
        &gpu.upper_bound(&y, &x).order(ORDER).run().expect("gpu"),
    );
    // The same of inputs, one of which is fetched from. What is fetched counts as computed, so its NaN are canonical.
    let canonical = |keys: &Buffer<Cpu, K>| {
        let keys = cpu.sort(&cpu.map(keys, Expr::store_as::<K>).expect("cpu")).order(ORDER).run().expect("cpu");
        both(gpu, &keys.read_blocking().expect("cpu"))
    };
    let ((a, x), (b, y)) = (canonical(&a), canonical(&b));
    let lazy = what("lazy inputs");
    macro_rules! of {
        ($d:expr, $a:expr, $b:expr, $v:expr) => {{
            let a = ((array(&$a), index(), scalar(m as u32), &$a), |(x, i, n, _): (ArrayExpr<K>, Expr<u32>, Expr<u32>, Expr<K::Reg>)| {
                x.at(i.min(n)).store_as::<K>()
            });
            let b = (&$b, |y: Expr<K::Reg>| y.store_as::<K>());
            let of_a = $v.map(|v: Expr<u32>| (v ^ 1u32).store_as::<u8>());
            let of_b = index().map(|i: Expr<u32>| i.store_as::<u8>());
            (
                $d.merge(a.0.clone().map(a.1.clone()), b.0.map(b.1)).order(ORDER).run().expect("merge"),
                $d.merge($a.map(b.1), $b.map(b.1)).with_values(of_a, of_b).order(ORDER).run().expect("pairs"),
                $d.count_equal(a.0.clone().map(a.1), b.0.map(b.1)).order(ORDER).run().expect("search"),
                $d.lower_bound(b.0.map(b.1), a.0.map(a.1)).order(ORDER).run().expect("search"),
            )
        }};
    }
    let (of_cpu, of_gpu) = (of!(cpu, a, b, v), of!(gpu, x, y, s));
    same_bits(&format!("{lazy}, keys"), &of_cpu.0, &of_gpu.0);
    same_bits(&format!("{lazy}, keys of pairs"), &of_cpu.1.0, &of_gpu.1.0);
    same_bits(&format!("{lazy}, values"), &of_cpu.1.1, &of_gpu.1.1);
    same_bits(&format!("{lazy}, counts"), &of_cpu.2, &of_gpu.2);
    same_bits(&format!("{lazy}, bounds"), &of_cpu.3, &of_gpu.3);
}

#[test]
fn merges_of_what_is_computed_of_every_width_and_form() {
    fn all<K: Sample>(f: fn(Expr<K::Reg>) -> Expr<K::Reg>) {
        let dtype = K::DTYPE;
        let size = dtype.size_bytes();
        let signature = Signature {
            leaves: [
                LeafKind::Array { slot: 0, dtype, windows: 1, each: 0, twin: None },
                LeafKind::Index(Ty::U32),
                LeafKind::Strided { slot: 1, dtype },
                LeafKind::Unused,
            ]
            .into_iter()
            .collect(),
            slots: [Slot { unit: Unit::Word, writable: false }; 2].into_iter().collect(),
            ..Signature::default()
        };
        let params = vec![Param::Array(dtype), Param::Index(Ty::U32), Param::Value(dtype.ty()), Param::Value(Ty::F32)];
        let of = |second: bool| {
            let build = || {
                let (i, x) = (<Expr<u32> as ir::Traced>::params(1), <Expr<K::Reg> as ir::Traced>::params(2));
                f(if second { x } else { ir::array_expr::<K>(0).at(i * 3) })
            };
            ir::pack(params.clone(), build).expect("a plain operator traces")
        };
        let (first, second) = (of(false), of(true));
        let named = |names: [&'static str; 2]| names.into_iter().zip([&first, &second]).map(|(name, func)| Computed { name, func, dtype });
        let all: Vec<Computed<'_>> = named(["a", "b"]).chain(named(["v", "w"])).collect();
        let accept = |program: Program<'_>, computed: &[Computed<'_>]| {
            let shared = texts::accept(&Program { operators: Operators::Computed(computed), ..program });
            assert!(shared <= texts::SHARED, "{shared} bytes of shared memory");
        };
        for (given, bracketed) in [(0, false), (0, true), (1, false), (2, false)] {
            accept(merge::merge_program(&merge::co_rank_holes(size, given, true, bracketed), &signature), &all[..2]);
        }
        for kind in [SearchKind::Lower, SearchKind::Equal] {
            let computed: Vec<Computed<'_>> = named(["sorted", "needles"]).collect();
            accept(merge::search_program(&merge::search_holes(size, kind, DType::U64, true), &signature), &computed);
        }
        for (pairs, writes_keys, alone, rolled) in [(false, true, true, false), (true, true, false, true), (true, false, false, false)] {
            let payload_bytes = if pairs { size } else { 0 };
            let form =
                merge::Form { key_bytes: size, payload_bytes, writes_keys, alone, rolled, lazy: true, quads: writes_keys && size == 4 };
            accept(merge::merge_program(&merge::merge_holes(form), &signature), if pairs { &all } else { &all[..2] });
        }
    }
    all::<u8>(|x| x + 1);
    all::<f16>(|x| x * 2.0);
    all::<i8>(|x| x - 1);
    all::<i16>(|x| x / 3);
    all::<u16>(|x| x << 1);
    all::<f32>(Expr::exp);
    all::<i64>(|x| x / 3);
    all::<f64>(Expr::sqrt);
}

#[test]
fn small_windows_do_not_show() {
    let gpu = own_device(&Options::default());
    gpu.limit_windows(40 << 10);
    check::<u32>(&gpu, 20_011, 9_000);
    check::<u32>(&gpu, 12_000, 0);
    check::<u8>(&gpu, 30_000, 40_001);
    check::<f16>(&gpu, 30_000, 7);
    check::<i8>(&gpu, 700, 30_001);
    check::<i16>(&gpu, 20_000, 9_001);
    check::<i64>(&gpu, 3, 9_001);
}

#[test]
fn keys_written_out_or_in_loops_merge_alike() {
    for written_out in [false, true] {
        let gpu = own_device(&Options::default());
        gpu.patterns().written_out.store(written_out, Ordering::Relaxed);
        check::<f64>(&gpu, 5_000, 6_000);
        check::<f32>(&gpu, 5_000, 6_000);
        check::<f16>(&gpu, 5_000, 6_000);
        check::<u8>(&gpu, 700, 600);
    }
}
