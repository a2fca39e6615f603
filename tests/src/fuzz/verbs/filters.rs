//! Filters of images: weighted windows, gradients and medians, of bytes and floats, in one, three or four channels.

use super::dense::{Arithmetic, elements, inside};
use super::{choice, edges, inexact, output, parts};
use crate::case::{Output, Target};
use crate::fuzz::lower::upload;
use crate::fuzz::rules;
use crate::fuzz::tree::Op;
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::Random;
use crate::fuzz::verbs::Verb;
use isowarp::Result;
use isowarp::element::{DType, Ty};
use isowarp::patterns::{Border, FilterKind, Image};
use isowarp::prelude::*;

/// Windows whose weights are the caller's: 3 x 3 and 5 x 5.
const SIDES: [usize; 2] = [3, 5];
/// Kinds of windows.
const KINDS: [Of; 4] = [Of::Weighted, Of::Sobel, Of::Median, Of::Copy];
const CHANNELS: [usize; 3] = [1, 3, 4];
const F32: Arithmetic = Arithmetic(Ty::F32);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Weighted,
    Sobel,
    Median,
    Copy,
}

pub(super) fn trial(r: &mut Random) -> Trial {
    let dtype = r.pick(&[DType::F32, DType::U8]);
    let (width, height) = if r.chance(30) { (1 + r.below(8), 1 + r.below(8)) } else { (1 + r.below(150), 1 + r.below(24)) };
    let channels = r.below(CHANNELS.len());
    let len = width * height * CHANNELS[channels];
    let pixels = match dtype {
        DType::U8 => (0..len).map(|_| r.below(256) as u64).collect(),
        _ if r.chance(60) => inexact(dtype, len, r),
        _ => elements(dtype, len, r),
    };
    let weights = match r.below(4) {
        0 => edges(DType::F32, 25, r),
        // Results are often half-way between two bytes.
        1 => (0..25).map(|_| (r.below(17) as f32 / 16.0 - 0.5).to_bits().into()).collect(),
        _ => inexact(DType::F32, 25, r),
    };
    let numbers = [("width", width), ("channels", channels), ("kind", r.below(7)), ("side", r.below(2)), ("border", r.below(4))];
    Trial {
        verb: Verb::Filter,
        n: len,
        numbers: numbers.map(|(name, value)| (name.to_owned(), value as u64)).to_vec(),
        inputs: vec![Array::plain(dtype, pixels), Array::plain(DType::F32, weights)],
        trees: Vec::new(),
    }
}

/// Rows, columns and channels.
fn shape(trial: &Trial) -> [usize; 3] {
    let channels = choice(trial, "channels", &CHANNELS);
    let channels = if trial.n < channels { 1 } else { channels };
    let width = (trial.number("width") as usize).clamp(1, trial.n / channels);
    [trial.n / channels / width, width, channels]
}

fn kind(trial: &Trial) -> Of {
    match trial.number("kind") % 7 {
        0..=3 => Of::Weighted,
        k => KINDS[k as usize - 3],
    }
}

/// The side of a window, and its weights: zeros where a trial has too few.
fn weights(trial: &Trial) -> (usize, Vec<u64>) {
    let side = choice(trial, "side", &SIDES);
    let mut all = trial.inputs[1].bits.clone();
    all.resize(side * side, 0);
    (side, all)
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let [height, width, channels] = shape(trial);
    let array = &trial.inputs[0];
    let pixels = upload(device, array.dtype, &array.bits[..height * width * channels])?;
    let (side, weights) = weights(trial);
    let kind = match kind(trial) {
        Of::Weighted => {
            FilterKind::Weighted { size: side as u32, weights: weights.into_iter().map(|bits| f32::from_bits(bits as u32)).collect() }
        }
        Of::Sobel => FilterKind::Sobel,
        Of::Median => FilterKind::Median3,
        Of::Copy => FilterKind::identity(),
    };
    let border = choice(trial, "border", &Border::ALL);
    macro_rules! filtered {
        ($t:ty) => {{
            let image = Image::new(pixels.typed::<$t>()?, width as u32, height as u32, channels as u32)?;
            parts(&[device.filter(&image, kind, border)?.buffer().clone().into()])
        }};
    }
    if array.dtype == DType::U8 { filtered!(u8) } else { filtered!(f32) }
}

/// `fma(2, b - c, a - d) + (e - f)`.
fn slope([a, b, c, d, e, f]: [u64; 6]) -> u64 {
    let minus = |x: u64, y: u64| F32.of(Op::Sub, [x, y, 0]);
    F32.of(Op::Add, [F32.fused(2f32.to_bits().into(), minus(b, c), minus(a, d)), minus(e, f), 0])
}

/// A whole number that is in the order of the floats, every NaN above infinity.
fn rank(bits: u64) -> u64 {
    let bits = rules::canonical(Ty::F32, bits);
    if F32.is_positive(bits) { bits | 1 << 31 } else { !bits & 0xffff_ffff }
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let ([height, width, channels], array, kind) = (shape(trial), &trial.inputs[0], kind(trial));
    if kind == Of::Copy {
        return vec![output(array.dtype, array.bits[..height * width * channels].iter().copied())];
    }
    let value = |bits: u64| if array.dtype == DType::U8 { u64::from((bits as f32).to_bits()) } else { bits };
    let border = choice(trial, "border", &Border::ALL);
    let (side, weights) = if kind == Of::Weighted { weights(trial) } else { (3, Vec::new()) };
    let pixel = |y: usize, x: usize, channel: usize| {
        let reach = side as i64 / 2;
        let read = |tap: usize| {
            let at = |i: usize, tap: usize, n: usize| inside(border, (i + tap) as i64 - reach, n as i64);
            let place = at(y, tap / side, height).zip(at(x, tap % side, width));
            place.map_or(0, |(y, x)| value(array.bits[(y * width + x) * channels + channel]))
        };
        let window: Vec<u64> = (0..side * side).map(read).collect();
        match kind {
            _ if channel == 3 => value(array.bits[(y * width + x) * channels + channel]),
            Of::Sobel => {
                let dx = slope([2, 5, 3, 0, 8, 6].map(|tap| window[tap]));
                let dy = slope([0, 1, 7, 6, 2, 8].map(|tap| window[tap]));
                F32.of(Op::Sqrt, [F32.fused(dx, dx, F32.of(Op::Mul, [dy, dy, 0])), 0, 0])
            }
            Of::Median => {
                let mut window = window;
                window.sort_by_key(|&bits| rank(bits));
                window[4]
            }
            _ => {
                let first = F32.of(Op::Mul, [weights[0], window[0], 0]);
                (1..window.len()).fold(first, |sum, tap| F32.fused(weights[tap], window[tap], sum))
            }
        }
    };
    let stored = |bits: u64| {
        // Bytes are rounded half up, and saturate.
        let byte = |x: f32| (x + 0.5).floor().clamp(0.0, 255.0) as u64;
        if array.dtype == DType::U8 { byte(f32::from_bits(bits as u32)) } else { rules::narrow(DType::F32, Ty::F32, bits) }
    };
    let all = (0..height * width * channels).map(|i| stored(pixel(i / channels / width, i / channels % width, i % channels)));
    vec![output(array.dtype, all)]
}
