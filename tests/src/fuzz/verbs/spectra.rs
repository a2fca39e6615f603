//! Images by one filter through transforms: the definition's sums, near to which every result is, and the CPU's bits.

use super::dense::elements;
use super::{choice, near, parts};
use crate::case::{Output, Target};
use crate::fuzz::lower::upload;
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::Random;
use crate::fuzz::verbs::Verb;
use isowarp::Result;
use isowarp::element::DType;
use isowarp::prelude::*;

/// The part of a full convolution that is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Full,
    Same,
    Valid,
}

const PARTS: [Part; 3] = [Part::Full, Part::Same, Part::Valid];

/// Images and the filter of a trial, of three axes of which the first may have one element.
struct Spectra {
    batch: usize,
    channels: usize,
    rank: usize,
    extents: [usize; 3],
    taps: [usize; 3],
    part: Part,
}

pub(super) fn trial(r: &mut Random) -> Trial {
    let dtype = r.pick(&[DType::F32, DType::F32, DType::F64]);
    let rank = 1 + r.below(3);
    let most = [(600, 40), (40, 9), (12, 5)][rank - 1];
    let (mut extents, mut taps) = ([1; 3], [1; 3]);
    for k in 3 - rank..3 {
        extents[k] = 1 + r.below(most.0);
        taps[k] = 1 + r.below(most.1);
    }
    if rank == 1 && r.chance(15) {
        extents[2] = r.pick(&[1000, 1024, 2047, 2048, 4099]);
    }
    let (channels, batch) = (1 + r.below(3), 1 + r.below(2));
    let lens = [extents.iter().product::<usize>() * channels * batch, taps.iter().product()];
    let inputs = lens.map(|len| Array::plain(dtype, elements(dtype, len, r))).to_vec();
    let numbers = [
        ("rank", rank),
        ("width", extents[2]),
        ("height", extents[1]),
        ("depth", extents[0]),
        ("across", taps[2]),
        ("down", taps[1]),
        ("channels", channels),
        ("part", r.below(3)),
    ];
    let numbers = numbers.map(|(name, value)| (name.to_owned(), value as u64)).to_vec();
    Trial { verb: Verb::FftConvolve, n: lens[0], numbers, inputs, trees: Vec::new() }
}

/// Images that a trial has the elements of, and a filter that fits.
fn spectra(trial: &Trial) -> Spectra {
    let number = |name: &str| trial.number(name) as usize;
    let rank = number("rank").clamp(1, 3);
    // Sides from the last axis on, of so many elements in all.
    let sides = |all: usize, names: [&str; 3]| {
        let mut left = all;
        let mut side = |axis: usize, name: &str| {
            let of = if axis < 3 - rank { 1 } else { number(name).clamp(1, left) };
            left /= of;
            of
        };
        let [width, height, depth] = [side(2, names[0]), side(1, names[1]), side(0, names[2])];
        [depth, height, width]
    };
    let extents = sides(trial.n, ["width", "height", "depth"]);
    let planes = trial.n / extents.iter().product::<usize>();
    let channels = number("channels").clamp(1, planes);
    let given = trial.inputs[1].bits.len();
    let [_, down, across] = sides(given, ["across", "down", "across"]);
    let deep = if rank == 3 { (given / (down * across)).min(8) } else { 1 };
    let part = choice(trial, "part", &PARTS);
    let fits = |k: usize, taps: usize| if part == Part::Valid { taps.min(extents[k]) } else { taps };
    let taps = [fits(0, deep), fits(1, down), fits(2, across)];
    Spectra { batch: planes / channels, channels, rank, extents, taps, part }
}

impl Spectra {
    /// Elements of images and filter that are read.
    fn lens(&self) -> [usize; 2] {
        [self.batch * self.channels * self.extents.iter().product::<usize>(), self.taps.iter().product()]
    }

    fn sides(&self, of: [usize; 3]) -> Vec<u64> {
        of[3 - self.rank..].iter().map(|&side| side as u64).collect()
    }

    /// The first element of each axis that is kept, and how many are.
    fn kept(&self) -> [(usize, usize); 3] {
        [0, 1, 2].map(|k| {
            let (n, taps) = (self.extents[k], self.taps[k]);
            match self.part {
                Part::Full => (0, n + taps - 1),
                Part::Same => ((taps - 1) / 2, n),
                Part::Valid => (taps - 1, n - taps + 1),
            }
        })
    }
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let of = spectra(trial);
    let lens = of.lens();
    let input = |k: usize| upload(device, trial.inputs[k].dtype, &trial.inputs[k].bits[..lens[k]]);
    let (a, b) = (input(0)?, input(1)?);
    macro_rules! convolved {
        ($t:ty) => {{
            let (a, b) = (a.typed::<$t>()?, b.typed::<$t>()?);
            let image = grid(&a, &of.sides(of.extents)).channels(of.channels as u64).batch(of.batch as u64);
            let call = device.fft_convolve(image, grid(&b, &of.sides(of.taps)));
            let call = match of.part {
                Part::Full => call,
                Part::Same => call.same(),
                Part::Valid => call.valid(),
            };
            parts(&[call.run()?.into()])
        }};
    }
    if a.dtype() == DType::F64 { convolved!(f64) } else { convolved!(f32) }
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let (of, dtype) = (spectra(trial), trial.inputs[0].dtype);
    let value = |bits: u64| if dtype == DType::F64 { f64::from_bits(bits) } else { f64::from(f32::from_bits(bits as u32)) };
    let [image, taps] = [0, 1].map(|k| trial.inputs[k].bits[..of.lens()[k]].iter().map(|&bits| value(bits)).collect::<Vec<f64>>());
    let kept = of.kept();
    let (epsilon, least, most) = match dtype {
        DType::F64 => (f64::EPSILON, f64::MIN_POSITIVE, f64::MAX),
        _ => (f64::from(f32::EPSILON), f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX)),
    };
    let size = |all: &[f64]| all.iter().map(|x| x.abs()).sum::<f64>();
    let mut all = Vec::new();
    for plane in image.chunks(of.extents.iter().product()) {
        let [a, b] = [size(plane), size(&taps)];
        // Spectra and their products may overflow; below the least normal number they are not as near, and each error meets the other spectrum.
        let overflows = a.max(b).max(a * b) * 64.0 * plane.len() as f64 > most;
        let bound = if overflows { f64::INFINITY } else { 64.0 * (epsilon * a * b + least * (1.0 + a + b)) };
        let [(z, depth), (y, height), (x, width)] = kept;
        for at in 0..depth * height * width {
            let place = [z + at / width / height, y + at / width % height, x + at % width];
            all.push((element(&of, (plane, &taps), place), bound));
        }
    }
    near(trial, dtype, &all)
}

/// Sum of the products whose places add up to this one.
fn element(of: &Spectra, (image, filter): (&[f64], &[f64]), place: [usize; 3]) -> f64 {
    let range = |k: usize| (place[k] + 1).saturating_sub(of.extents[k])..of.taps[k].min(place[k] + 1);
    let mut sum = 0.0;
    for p in range(0) {
        for q in range(1) {
            for r in range(2) {
                let from = [place[0] - p, place[1] - q, place[2] - r];
                let flat = |at: [usize; 3], sides: [usize; 3]| (at[0] * sides[1] + at[1]) * sides[2] + at[2];
                sum += image[flat(from, of.extents)] * filter[flat([p, q, r], of.taps)];
            }
        }
    }
    sum
}
