//! Parts that trials, calls and loops of several patterns share.

use super::map;
use crate::case::{Output, Target};
use crate::fuzz::lower::{Places, Results};
use crate::fuzz::rules;
use crate::fuzz::tree::Tree;
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::{Random, edge};
use isowarp::backend::Backend;
use isowarp::dynamic::{Call, DynBuffer};
use isowarp::element::{DType, Ty};
use isowarp::ir::{Func, pack};
use isowarp::{Device, Result};

/// Stored bits as an output.
pub(super) fn output(dtype: DType, bits: impl IntoIterator<Item = u64>) -> Output {
    let size = dtype.size_bytes() as usize;
    Output { dtype, bytes: bits.into_iter().flat_map(|b| b.to_le_bytes().into_iter().take(size)).collect() }
}

/// `n` values at the edges.
pub(super) fn edges(dtype: DType, n: usize, r: &mut Random) -> Vec<u64> {
    (0..n).map(|_| edge(dtype, r)).collect()
}

/// Floats of either sign near to 1, with all bits of their mantissas, so that sums and products of them are rounded; integers at the edges.
pub(super) fn inexact(dtype: DType, n: usize, r: &mut Random) -> Vec<u64> {
    let mut float = |first: u64, digits: u32, sign: u32| {
        (r.below(2) as u64) << sign | (first + r.below(8) as u64) << digits | r.word() & !(!0 << digits)
    };
    match dtype {
        DType::F16 => (0..n).map(|_| float(11, 10, 15)).collect(),
        DType::F32 => (0..n).map(|_| float(123, 23, 31)).collect(),
        DType::F64 => (0..n).map(|_| float(1019, 52, 63)).collect(),
        _ => edges(dtype, n, r),
    }
}

/// Element types of which a device may lack none, or all.
pub(super) fn palette(r: &mut Random) -> (&'static [DType], bool) {
    const NARROW: [DType; 8] = [DType::F32, DType::I32, DType::U32, DType::F16, DType::I8, DType::U8, DType::I16, DType::U16];
    if r.chance(50) { (&NARROW, false) } else { (&DType::ALL, true) }
}

/// A number of elements: few, around the sizes of subgroups and workgroups, or some thousands.
pub(super) fn length(r: &mut Random) -> usize {
    match r.below(10) {
        0 => r.below(4),
        1 | 2 => r.pick(&[31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257]),
        3 => r.pick(&[511, 512, 513, 1023, 1024, 1025, 2047, 2048, 2049, 4099]),
        4..=8 => 100 + r.below(900),
        _ => 1000 + r.below(4000),
    }
}

/// An input of `n` elements, some of them views in other orders or from the middle of their memory.
pub(super) fn viewed(dtype: DType, n: usize, r: &mut Random) -> Array {
    let lead = if r.chance(30) { r.below(9) as u64 } else { 0 };
    let stride = if r.chance(25) { r.pick(&[-1, 2, 3, -2, 0, 7]) } else { 1 };
    let span = n.saturating_sub(1) * i64::unsigned_abs(stride) as usize;
    let before = if r.chance(20) { r.below(5) } else { 0 };
    let start = (before + if stride < 0 { span } else { 0 }) as u64;
    Array { dtype, bits: edges(dtype, before + span + 1 + r.below(3), r), lead, start, stride }
}

/// An element type of those that every device has, or of all.
pub(super) fn picked(r: &mut Random) -> DType {
    let (of, _) = palette(r);
    r.pick(of)
}

/// `n` elements of few values, often in runs.
pub(super) fn few(dtype: DType, n: usize, r: &mut Random) -> Array {
    let values = edges(dtype, 1 + r.below(12), r);
    let (mut bits, mut last) = (Vec::with_capacity(n), values[0]);
    for _ in 0..n {
        if r.chance(40) {
            last = r.pick(&values);
        }
        bits.push(last);
    }
    Array::plain(dtype, bits)
}

/// One of several, by a number of the trial.
pub(super) fn choice<T: Copy>(trial: &Trial, name: &str, of: &[T]) -> T {
    of[(trial.number(name) % of.len() as u64) as usize]
}

/// The inputs of a trial on a device.
pub(super) fn arrays<B: Backend>(trial: &Trial, device: &B) -> Result<Vec<DynBuffer<B>>> {
    Ok(map::sources(trial, device)?.into_iter().map(|s| s.buffer).collect())
}

/// A tree as an operator over all inputs of these types.
pub(super) fn operator(tree: &Tree, dtypes: &[DType]) -> Result<Func> {
    let places = Places::all(dtypes, tree.any(|t| matches!(t, Tree::Index)));
    Ok(pack(places.params(), || Results::of(&[tree], &places))?)
}

/// The results of a call.
pub(super) fn computed<B: Target>(device: &B, call: &Call, inputs: &[&DynBuffer<B>]) -> Result<Vec<Output>> {
    parts(&call.run(device, inputs)?.trimmed()?)
}

/// Arrays of a device, read.
pub(super) fn parts<B: Backend>(buffers: &[DynBuffer<B>]) -> Result<Vec<Output>> {
    buffers.iter().map(|b| Ok(Output { dtype: b.dtype(), bytes: b.read_blocking()? })).collect()
}

/// The results of the CPU, where plain loops would be those of the library; as a [`Device`], for which every pattern is compiled anyway.
pub(super) fn on_cpu(trial: &Trial) -> Vec<Output> {
    trial.run(&Device::Cpu(isowarp::Cpu::new())).unwrap_or_default()
}

/// The one result of the CPU if each of its floats is as near to a number as is given beside that, and else those numbers.
pub(super) fn near(trial: &Trial, dtype: DType, all: &[(f64, f64)]) -> Vec<Output> {
    let found = on_cpu(trial);
    let value = |bits: u64| if dtype == DType::F64 { f64::from_bits(bits) } else { f64::from(f32::from_bits(bits as u32)) };
    let is_near = |i: usize, (x, bound): (f64, f64)| {
        // Beyond the range of the type, and of what is none, there is no distance.
        let is_far = !x.is_finite() || !bound.is_finite() || (dtype == DType::F32 && x.abs() + bound > f32::MAX.into());
        is_far || (value(found[0].bits(i)) - x).abs() <= bound
    };
    if found.len() == 1 && found[0].len() == all.len() && all.iter().enumerate().all(|(i, &of)| is_near(i, of)) {
        return found;
    }
    let bits = |x: f64| if dtype == DType::F64 { x.to_bits() } else { u64::from((x as f32).to_bits()) };
    vec![output(dtype, all.iter().map(|&(x, _)| bits(x)))]
}

/// Values of a type as they are stored.
pub(super) fn narrowed(dtype: DType, ty: Ty, values: impl IntoIterator<Item = u64>) -> Vec<u64> {
    values.into_iter().map(|b| rules::narrow(dtype, ty, b)).collect()
}

/// Runs `$body` with the Rust type of elements that products take.
macro_rules! with_summed {
    ($dtype:expr, $t:ident => $body:expr) => {{
        macro_rules! of {
            ($of:ty) => {{
                type $t = $of;
                $body
            }};
        }
        match $dtype {
            DType::F16 => of!(half::f16),
            DType::F64 => of!(f64),
            DType::I8 => of!(i8),
            DType::U8 => of!(u8),
            DType::I16 => of!(i16),
            DType::U16 => of!(u16),
            DType::I32 => of!(i32),
            DType::U32 => of!(u32),
            _ => of!(f32),
        }
    }};
}
pub(super) use with_summed;
