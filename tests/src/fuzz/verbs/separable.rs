//! Images by a filter across and one down: a convolution of rows, whose results are rounded, and then one of columns.

use super::common::with_summed;
use super::dense::{Arithmetic, BLOCK, SUMMED, elements, inside};
use super::{choice, inexact, output, parts};
use crate::case::{Output, Target};
use crate::fuzz::lower::upload;
use crate::fuzz::rules;
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::Random;
use crate::fuzz::verbs::Verb;
use isowarp::Result;
use isowarp::element::DType;
use isowarp::patterns::Border;
use isowarp::prelude::*;

/// Images and filters of a trial.
struct Separable {
    batch: usize,
    channels: usize,
    /// Rows and columns.
    extents: [usize; 2],
    /// Taps down and across.
    taps: [usize; 2],
    /// Elements beyond either end of columns and of rows.
    padding: [usize; 2],
    border: Border,
    is_same: bool,
    is_flipped: bool,
}

pub(super) fn trial(r: &mut Random) -> Trial {
    let dtype = if r.chance(10) { DType::F64 } else { r.pick(&SUMMED) };
    let [width, height] = if r.chance(40) { [60 + r.below(100), 3 + r.below(12)] } else { [1 + r.below(30), 1 + r.below(20)] };
    let (channels, batch) = (1 + r.below(3), 1 + r.below(2));
    let most = r.pick(&[3, 7, 7, 40]);
    let fine = r.chance(60);
    let len = width * height * channels * batch;
    let lens = [len, 1 + r.below(most), 1 + r.below(most)];
    let mut bits = |len: usize| if fine { inexact(dtype, len, r) } else { elements(dtype, len, r) };
    let inputs = lens.map(|len| Array::plain(dtype, bits(len))).to_vec();
    let numbers = [
        ("width", width),
        ("height", height),
        ("channels", channels),
        ("down", r.below(4)),
        ("across", r.below(4)),
        ("border", r.below(4)),
        ("same", r.below(2)),
        ("flipped", r.below(2)),
    ];
    let numbers = numbers.map(|(name, value)| (name.to_owned(), value as u64)).to_vec();
    Trial { verb: Verb::Separable, n: len, numbers, inputs, trees: Vec::new() }
}

/// Images that a trial has the elements of, and filters that fit.
fn separable(trial: &Trial) -> Separable {
    let number = |name: &str| trial.number(name) as usize;
    let width = number("width").clamp(1, trial.n);
    let height = number("height").clamp(1, trial.n / width);
    let planes = trial.n / width / height;
    let channels = number("channels").clamp(1, planes);
    let is_same = number("same") % 2 == 1;
    let (extents, padding) = ([height, width], ["down", "across"].map(|name| number(name) % 8));
    let taps = [0, 1].map(|axis| {
        let given = trial.inputs[2 - axis].bits.len();
        if is_same { given } else { given.min(extents[axis] + 2 * padding[axis]) }
    });
    let border = choice(trial, "border", &Border::ALL);
    Separable { batch: planes / channels, channels, extents, taps, padding, border, is_same, is_flipped: number("flipped") % 2 == 1 }
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let of = separable(trial);
    let [down, across] = of.taps;
    let lens = [of.batch * of.channels * of.extents[0] * of.extents[1], across, down];
    let input = |k: usize| upload(device, trial.inputs[k].dtype, &trial.inputs[k].bits[..lens[k]]);
    let (a, b, c) = (input(0)?, input(1)?, input(2)?);
    with_summed!(a.dtype(), T => {
        let (a, b, c) = (a.typed::<T>()?, b.typed::<T>()?, c.typed::<T>()?);
        let image = grid(&a, &of.extents.map(|n| n as u64)).channels(of.channels as u64).batch(of.batch as u64);
        let call = device.separable(image, grid(&b, &[across as u64]), grid(&c, &[down as u64])).border(of.border);
        let call = if of.is_same { call.same() } else { call.padding(&of.padding.map(|n| n as u64)) };
        let call = if of.is_flipped { call.flipped() } else { call };
        parts(&[call.run()?.into()])
    })
}

impl Separable {
    /// The results of a line's windows.
    fn line(&self, by: Arithmetic, line: &[u64], filter: &[u64], padding: usize) -> Vec<u64> {
        let span = filter.len() - 1;
        let [before, all] = if self.is_same { [span / 2, span] } else { [padding, 2 * padding] };
        let read = |i: usize| inside(self.border, i as i64 - before as i64, line.len() as i64).map_or(0, |at| line[at]);
        let weight = |tap: usize| filter[if self.is_flipped { span - tap } else { tap }];
        let window = |first: usize| by.sum(&(0..=span).map(|tap| (weight(tap), read(first + tap))).collect::<Vec<_>>(), BLOCK);
        (0..line.len() + all - span).map(window).map(|bits| rules::canonical(by.0, bits)).collect()
    }
}

/// Lines as columns.
fn turned(rows: &[Vec<u64>]) -> Vec<Vec<u64>> {
    (0..rows[0].len()).map(|k| rows.iter().map(|row| row[k]).collect()).collect()
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let of = separable(trial);
    let ([height, width], [down, across]) = (of.extents, of.taps);
    let wide = |k: usize| trial.inputs[k].bits.iter().map(|&bits| rules::widen(trial.inputs[k].dtype, bits)).collect::<Vec<u64>>();
    let (image, row, column) = (wide(0), wide(1), wide(2));
    let ty = trial.inputs[0].dtype.ty();
    let lines = |rows: &[Vec<u64>], filter: &[u64], padding: usize| {
        rows.iter().map(|line| of.line(Arithmetic(ty), line, filter, padding)).collect::<Vec<_>>()
    };
    let plane = |plane: &[u64]| {
        let rows: Vec<Vec<u64>> = plane.chunks(width).map(<[u64]>::to_vec).collect();
        let rows = lines(&rows, &row[..across], of.padding[1]);
        turned(&lines(&turned(&rows), &column[..down], of.padding[0])).concat()
    };
    let planes = image.chunks(height * width).take(of.batch * of.channels);
    vec![output(ty.dtype(), planes.flat_map(plane).map(|bits| rules::narrow(ty.dtype(), ty, bits)))]
}
