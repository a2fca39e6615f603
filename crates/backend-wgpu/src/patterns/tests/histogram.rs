//! Histograms: every form is WGSL that fits WebGPU's default limits where it has to; windows of inputs and outputs.

use super::texts::{NUMERICS, SHARED, accept, signature};
use super::{both, own_device, same_bits};
use crate::context::Options;
use crate::patterns::histogram::{Form, Home, LEAST_CELLS, holes, program};
use isowarp_core::backend::{Backend as _, Leaf, Out, Run};
use isowarp_core::buffer::{Buffer, Memory as _};
use isowarp_core::caps::Numerics;
use isowarp_core::element::DType;
use isowarp_core::input::Source as _;
use isowarp_core::ir::{self, Expr, Func};
use isowarp_core::patterns::histogram::WIDE_LIMBS;
use isowarp_core::patterns::{Histogram as _, HistogramSum, HistogramTask, MapTask, even_bins};
use isowarp_cpu::Cpu;
use std::sync::Arc;

fn one<A: ir::Traced, R: ir::Traced>(f: impl FnOnce(A) -> R) -> Func {
    ir::trace(f).expect("operator")
}

#[test]
fn histograms_of_every_kind_and_home() {
    type E = Expr<u32>;
    let all = [
        (one(|x: E| x >> 24), HistogramSum::Count, DType::U32),
        (one(|x: E| x), HistogramSum::Count, DType::U8),
        (one(|x: Expr<f32>| (x * 256.0).cast::<u32>()), HistogramSum::Count, DType::F32),
        (one(|x: E| (x, x + 1)), HistogramSum::Count, DType::U32),
        (one(|x: E| (x, x + 1, x + 2, x + 3)), HistogramSum::Count, DType::U32),
        (one(|x: E| (x, x * 3)), HistogramSum::Word, DType::U32),
        (one(|x: Expr<u64>| (x.cast::<u32>(), x)), HistogramSum::Wide, DType::U64),
        (one(|x: Expr<f32>| (x.cast::<u32>(), x.bitcast::<u32>())), HistogramSum::Exact, DType::F32),
        (one(|x: Expr<f64>| (x.cast::<u32>(), x.bitcast::<u64>())), HistogramSum::ExactWide, DType::F64),
        (one(|x: E| (x, x + 1, x + 2, x * 3)), HistogramSum::Word, DType::U32),
        (one(|x: Expr<u64>| (x.cast::<u32>(), (x >> 9).cast::<u32>(), x)), HistogramSum::Wide, DType::U64),
        (one(|x: Expr<f32>| (x.cast::<u32>(), (x * 2.0).cast::<u32>(), x.bitcast::<u32>())), HistogramSum::Exact, DType::F32),
        (one(|x: Expr<f64>| (x.cast::<u32>(), (x * 2.0).cast::<u32>(), x.bitcast::<u64>())), HistogramSum::ExactWide, DType::F64),
    ];
    for ((func, sum, dtype), numerics) in all.into_iter().flat_map(|case| NUMERICS.map(|n| (case.clone(), n))) {
        let task = HistogramTask { func: Arc::new(func), n: 1, bins: 256, sum, clears: false, numerics };
        let narrow = matches!(sum, HistogramSum::Count | HistogramSum::Word);
        let homes = [Home::Shared(LEAST_CELLS), Home::Shared(2 * LEAST_CELLS), Home::Cached(LEAST_CELLS / 2), Home::Output];
        for home in homes.into_iter().filter(|h| narrow || !matches!(h, Home::Cached(_))) {
            let forms = [(false, None, 0), (true, None, 1), (false, Some(4), 0)];
            for (spare, shift, vector) in
                forms.into_iter().filter(|&(spare, shift, _)| !spare && shift.is_none() || narrow && matches!(home, Home::Shared(_)))
            {
                for bytes in if sum == HistogramSum::Count { [4, 8].as_slice() } else { &[4] } {
                    let form = Form { threads: 256, rows: 2, home, spare, shift, out_words: sum.words(*bytes) };
                    let (holes, signature) = (holes(&task, form), signature(&[(dtype, vector)], &[]));
                    let shared = accept(&program(&task, &signature, &holes));
                    let extra = u32::from(spare) * 128 + if home == Home::Shared(2 * LEAST_CELLS) { SHARED } else { 0 };
                    assert!(shared <= SHARED + extra, "{home:?} of {sum:?}: {shared} bytes of shared memory");
                }
            }
        }
    }
}

/// Counts and sums of few and of many bins.
fn all<B: Run<HistogramTask> + Run<MapTask>>(d: &B, x: &Buffer<B, u32>) -> Vec<Buffer<B, u32>> {
    let of = |bins: u32| d.histogram(even_bins(x, 1000, 4_000_000_000, bins)).run().expect("counts");
    let many = d.upload(&vec![7u32; 70_003]).expect("upload");
    d.histogram(even_bins(x, 0, 4_200_000_000, 70_000)).write_to(&many).expect("counts");
    let sums = d.histogram(even_bins(x, 1000, 4_000_000_000, 33)).weighted(x).run().expect("sums");
    let exact = d.histogram(even_bins(x, 0, 4_000_000_000, 9)).weighted(x.map(isowarp_core::ir::Expr::bitcast::<f32>)).run();
    let exact = isowarp_core::patterns::Map::map(d, &exact.expect("sums"), Expr::bitcast::<u32>).expect("bits");
    vec![of(3), of(100), of(256), of(5000), many, sums, exact]
}

#[test]
fn windows_of_elements_and_of_bins_add_up() {
    let gpu = own_device(&Options::default());
    gpu.limit_windows(1 << 16);
    for n in [33_001u32, 100_003] {
        let x: Vec<u32> = (0..n).map(|i| i.wrapping_mul(2_654_435_761) ^ (i >> 3)).collect();
        let (cx, gx) = both(&gpu, &x);
        for (k, (c, g)) in all(&Cpu::new(), &cx).iter().zip(&all(&gpu, &gx)).enumerate() {
            same_bits(&format!("output {k} of {n} elements"), c, g);
        }
    }
}

/// The words of exact sums of `f64`, added to what is there: 500 bins of 272 bytes are three windows of 64 KiB.
fn wide_words<B: Run<HistogramTask>>(d: &B, x: &Buffer<B, u32>) -> Buffer<B, u32> {
    let bins = 500;
    let words = d.upload(&vec![3u32; 500 * WIDE_LIMBS as usize]).expect("upload");
    // Bits of every exponent and sign, of NaN and infinities too.
    let func = one(|x: Expr<u32>| (x % bins, ((x * 2_654_435_761).cast::<u64>() << 32) | x.cast::<u64>()));
    let (sum, numerics) = (HistogramSum::ExactWide, Numerics::Strict);
    let task = HistogramTask { func: Arc::new(func), n: x.len(), bins: bins.into(), sum, clears: false, numerics };
    let leaf = Leaf::Elements { raw: x.raw().clone(), dtype: DType::U32, offset: x.offset(), stride: 1 };
    let out = Out { raw: words.raw().clone(), dtype: DType::U32, offset: words.offset() };
    d.run(&task, &[leaf], &[out]).expect("sums");
    words
}

#[test]
fn words_of_wide_sums_are_the_same_in_windows() {
    let gpu = own_device(&Options::default());
    assert!(gpu.caps().supports(DType::U64), "this test needs an adapter with u64");
    gpu.limit_windows(1 << 16);
    let x: Vec<u32> = (0..33_001u32).map(|i| i.wrapping_mul(2_246_822_519) ^ (i >> 3)).collect();
    let (cx, gx) = both(&gpu, &x);
    same_bits("words", &wide_words(&Cpu::new(), &cx), &wide_words(&gpu, &gx));
}
