//! Transforms of points and of real numbers, along axes: the documented levels and butterflies in plain recursion.

use super::dense::elements;
use super::{computed, near, output};
use crate::case::{Output, Target};
use crate::fuzz::lower::upload;
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::Random;
use crate::fuzz::verbs::Verb;
use isowarp::Result;
use isowarp::dynamic::{Call, Fourier};
use isowarp::element::DType;
use std::ops::{Add, Mul, Sub};

/// Lengths with levels of each radix and of several, and with prime factors that have none.
const LENGTHS: [usize; 24] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 22, 30, 32, 35, 49, 60, 64, 97, 105, 128, 256];

pub(super) fn trial(verb: Verb, r: &mut Random) -> Trial {
    let dtype = r.pick(&[DType::F32, DType::F32, DType::F64]);
    let line = match r.below(10) {
        0..=5 => r.pick(&LENGTHS),
        6..=8 => 1 + r.below(150),
        _ => r.pick(&[512, 1000, 1024, 1155, 2048, 1009]),
    };
    let mut sides = [line, 1 + r.below(5), 1 + r.below(6)];
    sides.rotate_right(r.below(3));
    let points: usize = sides.iter().product();
    let numbers = match verb {
        Verb::Fft => vec![("rows", sides[0]), ("columns", sides[1]), ("axes", 1 + r.below(7)), ("inverse", r.below(2))],
        _ => vec![("line", line), ("axis", r.below(2)), ("odd", r.below(2)), ("both", r.below(2))],
    };
    let n = match verb {
        Verb::Fft => 2 * points,
        Verb::Rfft => line * (1 + r.below(6)),
        _ => 2 * (line / 2 + 1) * (1 + r.below(6)),
    };
    let numbers = numbers.into_iter().map(|(name, value)| (name.to_owned(), value as u64)).collect();
    Trial { verb, n, numbers, inputs: vec![Array::plain(dtype, elements(dtype, n, r))], trees: Vec::new() }
}

/// The shape of points whose axes are transformed, and these axes.
fn points(trial: &Trial) -> ([usize; 3], Vec<usize>) {
    let all = trial.n.div_ceil(2);
    let rows = (trial.number("rows") as usize).clamp(1, all);
    let columns = (trial.number("columns") as usize).clamp(1, all / rows);
    let axes = (0..3).filter(|k| trial.number("axes") >> k & 1 == 1).collect();
    ([rows, columns, all / rows / columns], axes)
}

/// Lines of real numbers, or of points that give such: how many, and how many numbers a line has.
fn reals(trial: &Trial) -> [usize; 2] {
    let line = (trial.number("line") as usize).max(1);
    match trial.verb {
        Verb::Rfft => {
            let line = line.min(trial.n);
            [trial.n / line, line]
        }
        _ => {
            let kept = (line / 2 + 1).min(trial.n.div_ceil(2));
            let line = 2 * (kept - 1) + (trial.number("odd") % 2) as usize;
            // A line of one point is that of one number.
            [trial.n.div_ceil(2) / kept, line.max(1)]
        }
    }
}

/// Whether real numbers' points are transformed along the other axis, too.
fn both_axes(trial: &Trial) -> bool {
    trial.number("both") % 2 == 1
}

/// Points of which every `step`-th belongs to a line of `n`, or their inverse transforms.
fn along<T: Real>(all: &mut [Point<T>], n: usize, step: usize, inverse: bool) {
    for first in (0..all.len()).filter(|at| (at / step).is_multiple_of(n)) {
        let line: Vec<Point<T>> = (0..n).map(|k| all[first + k * step]).collect();
        transform(&line, inverse).into_iter().enumerate().for_each(|(k, point)| all[first + k * step] = point);
    }
}

/// Floats that are read: whole lines, the last point of half a pair with a zero.
fn floats(trial: &Trial) -> Vec<u64> {
    let used = match trial.verb {
        Verb::Fft => 2 * points(trial).0.iter().product::<usize>(),
        Verb::Rfft => reals(trial).iter().product(),
        _ => 2 * reals(trial)[0] * (reals(trial)[1] / 2 + 1),
    };
    trial.inputs[0].bits.iter().copied().chain([0]).take(used).collect()
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let x = upload(device, trial.inputs[0].dtype, &floats(trial))?;
    let axis = (trial.number("axis") % 2) as usize;
    let shape = |[lines, of]: [usize; 2]| if axis == 1 { vec![lines as u64, of as u64] } else { vec![of as u64, lines as u64] };
    let axes = if both_axes(trial) { vec![1 - axis, axis] } else { vec![axis] };
    let call = match trial.verb {
        Verb::Fft => {
            let (shape, axes) = points(trial);
            let inverse = trial.number("inverse") % 2 == 1;
            Call::Fft(Fourier::Points { axes, inverse }, shape.map(|side| side as u64).to_vec())
        }
        Verb::Rfft => Call::Fft(Fourier::OfReals(axes), shape(reals(trial))),
        _ => {
            let [lines, n] = reals(trial);
            Call::Fft(Fourier::Reals(n as u64, axes), shape([lines, n / 2 + 1]))
        }
    };
    computed(device, &call, &[&x])
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    if trial.inputs[0].dtype == DType::F64 { of::<f64>(trial) } else { of::<f32>(trial) }
}

fn of<T: Real>(trial: &Trial) -> Vec<Output> {
    let x: Vec<T> = floats(trial).into_iter().map(T::from_bits).collect();
    let stored = |all: Vec<Point<T>>| vec![output(T::DTYPE, all.concat().into_iter().map(T::bits))];
    let (rows, axis) = (trial.number("axis") % 2 == 1, trial.number("axis") % 2);
    match trial.verb {
        Verb::Fft => {
            let (shape, axes) = points(trial);
            let mut all: Vec<Point<T>> = x.chunks(2).map(|p| [p[0], p[1]]).collect();
            for &axis in axes.iter().rev() {
                along(&mut all, shape[axis], shape[axis + 1..].iter().product(), trial.number("inverse") % 2 == 1);
            }
            stored(all)
        }
        Verb::Rfft => {
            let [lines, n] = reals(trial);
            let at = |line: usize, k: usize| if rows { line * n + k } else { k * lines + line };
            let of_line = |line: usize| half(&(0..n).map(|k| x[at(line, k)]).collect::<Vec<T>>());
            let all: Vec<Vec<Point<T>>> = (0..lines).map(of_line).collect();
            let mut all: Vec<Point<T>> =
                if rows { all.concat() } else { (0..=n / 2).flat_map(|k| all.iter().map(move |line| line[k])).collect() };
            if both_axes(trial) {
                along(&mut all, lines, if rows { n / 2 + 1 } else { 1 }, false);
            }
            stored(all)
        }
        _ => {
            // The order of evaluation of these is documented as that of no sum, so what is near the definition is right, and the CPU's bits are expected.
            let [lines, n] = reals(trial);
            let kept = n / 2 + 1;
            let mut points: Vec<Point<T>> = x.chunks(2).map(|p| [p[0], p[1]]).collect();
            if both_axes(trial) {
                along(&mut points, lines, if rows { kept } else { 1 }, true);
            }
            let point = |line: usize, k: usize| points[if rows { line * kept + k } else { k * lines + line }].map(T::wide);
            let bound = |line: usize| {
                let sum = (0..kept).map(|k| point(line, k)[0].abs() + point(line, k)[1].abs()).sum::<f64>();
                // Sums in between may overflow, and what is below the least normal number is not as near.
                if sum > T::MAX / (8 * n) as f64 { f64::INFINITY } else { 200.0 * (T::EPSILON * sum / n as f64 + T::LEAST) }
            };
            let turns: Vec<[f64; 2]> = (0..n).map(|k| turn(k as u64, n as u64)).collect();
            let number = |line: usize, i: usize| {
                let sum = (0..n).map(|k| {
                    let [a, b] = if k < kept { point(line, k) } else { point(line, n - k) };
                    let [c, s] = turns[k * i % n];
                    // Imaginary parts of points that are their own mirrors do not count.
                    let b = if (2 * k).is_multiple_of(n) { 0.0 } else { b };
                    a * c + if k < kept { -b * s } else { b * s }
                });
                sum.sum::<f64>() / n as f64
            };
            let places = |at: usize| if axis == 1 { [at / n, at % n] } else { [at % lines, at / lines] };
            let all = (0..lines * n).map(|at| {
                let [line, i] = places(at);
                (number(line, i), bound(line))
            });
            near(trial, T::DTYPE, &all.collect::<Vec<_>>())
        }
    }
}

type Point<T> = [T; 2];

/// Floats of points.
trait Real: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    const DTYPE: DType;
    const EPSILON: f64;
    const MAX: f64;
    /// The least number above zero.
    const LEAST: f64;
    fn of(x: f64) -> Self;
    fn wide(self) -> f64;
    fn from_bits(bits: u64) -> Self;
    /// Bits as they are stored.
    fn bits(self) -> u64;
}

macro_rules! real {
    ($($t:ident $dtype:ident $word:ident;)*) => {$(
        impl Real for $t {
            const DTYPE: DType = DType::$dtype;
            const EPSILON: f64 = $t::EPSILON as f64;
            const MAX: f64 = $t::MAX as f64;
            const LEAST: f64 = $t::from_bits(1) as f64;
            fn of(x: f64) -> Self {
                x as Self
            }
            fn wide(self) -> f64 {
                f64::from(self)
            }
            fn from_bits(bits: u64) -> Self {
                Self::from_bits(bits as $word)
            }
            fn bits(self) -> u64 {
                crate::fuzz::rules::canonical(DType::$dtype.ty(), self.to_bits().into())
            }
        }
    )*};
}
real! {
    f32 F32 u32;
    f64 F64 u64;
}

fn sum<T: Real>(a: Point<T>, b: Point<T>) -> Point<T> {
    [a[0] + b[0], a[1] + b[1]]
}

fn less<T: Real>(a: Point<T>, b: Point<T>) -> Point<T> {
    [a[0] - b[0], a[1] - b[1]]
}

fn product<T: Real>(a: Point<T>, b: Point<T>) -> Point<T> {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// `a - i b` and `a + i b`.
fn both<T: Real>(a: Point<T>, b: Point<T>) -> [Point<T>; 2] {
    [[a[0] + b[1], a[1] - b[0]], [a[0] - b[1], a[1] + b[0]]]
}

/// The radices of a length in the order of their levels, if it has no other factors.
fn radices(mut n: usize) -> Option<Vec<usize>> {
    let mut all = Vec::new();
    for radix in [4, 2, 3, 5, 7] {
        while n.is_multiple_of(radix) {
            all.push(radix);
            n /= radix;
        }
    }
    (n == 1).then_some(all)
}

fn transform<T: Real>(x: &[Point<T>], inverse: bool) -> Vec<Point<T>> {
    let swapped: Vec<Point<T>> = x.iter().map(|&[a, b]| if inverse { [b, a] } else { [a, b] }).collect();
    let all = match radices(x.len()) {
        Some(radices) => levels(&swapped, &radices),
        None => by_chirp(&swapped),
    };
    let by = T::of(1.0 / x.len() as f64);
    all.into_iter().map(|[a, b]| if inverse { [b * by, a * by] } else { [a, b] }).collect()
}

/// The last level, over transforms of every `r`-th point.
fn levels<T: Real>(x: &[Point<T>], radices: &[usize]) -> Vec<Point<T>> {
    let Some((&r, before)) = radices.split_last() else { return x.to_vec() };
    let l = x.len() / r;
    let parts: Vec<Vec<Point<T>>> = (0..r).map(|j| levels(&x.iter().skip(j).step_by(r).copied().collect::<Vec<_>>(), before)).collect();
    let mut all = x.to_vec();
    for k in 0..l {
        let turned =
            |j: usize| if j == 0 || l == 1 { parts[j][k] } else { product(parts[j][k], back::<T>((j * k) as u64, x.len() as u64)) };
        let points = butterfly(&(0..r).map(turned).collect::<Vec<_>>());
        points.into_iter().enumerate().for_each(|(q, point)| all[k + q * l] = point);
    }
    all
}

/// The results of the table of the contract.
fn butterfly<T: Real>(x: &[Point<T>]) -> Vec<Point<T>> {
    let r = x.len();
    // Cosine and sine of so many `r`-ths of a turn.
    let [c, s] = [0, 1].map(|part| move |j: usize| T::of(turn(j as u64, r as u64)[part]));
    let by = |factor: T, [a, b]: Point<T>| [factor * a, factor * b];
    let (s_of, d_of) = (|j: usize| sum(x[j], x[r - j]), |j: usize| less(x[j], x[r - j]));
    match r {
        2 => vec![sum(x[0], x[1]), less(x[0], x[1])],
        3 => {
            let (m, e) = (sum(x[0], by(T::of(-0.5), s_of(1))), by(s(1), d_of(1)));
            let [minus, plus] = both(m, e);
            vec![sum(x[0], s_of(1)), minus, plus]
        }
        4 => {
            let (s, d, t, e) = (sum(x[0], x[2]), less(x[0], x[2]), sum(x[1], x[3]), less(x[1], x[3]));
            let [minus, plus] = both(d, e);
            vec![sum(s, t), minus, less(s, t), plus]
        }
        5 => {
            let m = |c1: T, c2: T| sum(sum(x[0], by(c1, s_of(1))), by(c2, s_of(2)));
            let (e1, e2) = (sum(by(s(1), d_of(1)), by(s(2), d_of(2))), less(by(s(2), d_of(1)), by(s(1), d_of(2))));
            let ([minus1, plus1], [minus2, plus2]) = (both(m(c(1), c(2)), e1), both(m(c(2), c(1)), e2));
            vec![sum(sum(x[0], s_of(1)), s_of(2)), minus1, minus2, plus2, plus1]
        }
        _ => {
            let m = |of: [usize; 3]| (1..4).fold(x[0], |m, j| sum(m, by(c(of[j - 1]), s_of(j))));
            let e1 = sum(sum(by(s(1), d_of(1)), by(s(2), d_of(2))), by(s(3), d_of(3)));
            let e2 = less(less(by(s(2), d_of(1)), by(s(3), d_of(2))), by(s(1), d_of(3)));
            let e3 = sum(less(by(s(3), d_of(1)), by(s(1), d_of(2))), by(s(2), d_of(3)));
            let ([a, g], [b, f], [d, e]) = (both(m([1, 2, 3]), e1), both(m([2, 3, 1]), e2), both(m([3, 1, 2]), e3));
            vec![(1..4).fold(x[0], |all, j| sum(all, s_of(j))), a, b, d, e, f, g]
        }
    }
}

/// Bluestein's convolution with a chirp.
fn by_chirp<T: Real>(x: &[Point<T>]) -> Vec<Point<T>> {
    let n = x.len();
    let m = (2 * n - 1).next_power_of_two();
    let zero = T::of(0.0);
    let chirp: Vec<Point<T>> = (0..n).map(|k| back((k * k % (2 * n)) as u64, 2 * n as u64)).collect();
    let (mut padded, mut around) = (vec![[zero; 2]; m], vec![[zero; 2]; m]);
    for (k, &[c, s]) in chirp.iter().enumerate() {
        padded[k] = product(x[k], [c, s]);
        around[k] = [c, zero - s];
        around[(m - k) % m] = [c, zero - s];
    }
    let joint: Vec<Point<T>> = transform(&padded, false).into_iter().zip(transform(&around, false)).map(|(a, b)| product(a, b)).collect();
    transform(&joint, true).into_iter().zip(chirp).map(|(a, b)| product(a, b)).collect()
}

/// The first half of the transform of real numbers, and one point.
fn half<T: Real>(x: &[T]) -> Vec<Point<T>> {
    let (n, zero) = (x.len(), T::of(0.0));
    if n % 2 == 1 {
        let points: Vec<Point<T>> = x.iter().map(|&a| [a, zero]).collect();
        return transform(&points, false)[..=n / 2].to_vec();
    }
    let z = transform(&x.chunks(2).map(|p| [p[0], p[1]]).collect::<Vec<_>>(), false);
    let point = |k: usize| {
        let ([a, b], [c, d]) = (z[k % z.len()], z[(z.len() - k) % z.len()]);
        let odd = product([b + d, c - a], back(k as u64, n as u64));
        let [real, imaginary] = sum([a + c, b - d], odd);
        [real * T::of(0.5), imaginary * T::of(0.5)]
    };
    (0..=n / 2).map(point).collect()
}

/// `exp(-2 pi i k / n)`, rounded.
fn back<T: Real>(k: u64, n: u64) -> Point<T> {
    let [c, s] = turn(k, n);
    [T::of(c), T::of(-s)]
}

/// The binary digits of a quarter of pi.
const PI_4: u128 = 0xC90F_DAA2_2168_C234_C4C6_628B_80DC_1CD1;

/// The upper half of a product of fractions.
fn times(a: u128, b: u128) -> u128 {
    let ([a1, a0], [b1, b0]) = ([a >> 64, a & (!0 >> 64)], [b >> 64, b & (!0 >> 64)]);
    a1 * b1 + ((a1 * b0) >> 64) + ((a0 * b1) >> 64)
}

/// Cosine and sine of `k / n` of a turn, the nearest floats: series of fractions with 128 digits.
fn turn(k: u64, n: u64) -> [f64; 2] {
    let (octant, rest) = (8 * (k % n) / n, 8 * (k % n) % n);
    let rest = u128::from(if octant % 2 == 1 { n - rest } else { rest });
    let x = PI_4 / u128::from(n) * rest + PI_4 % u128::from(n) * rest / u128::from(n);
    let square = times(x, x);
    // The sine less `x`, and the cosine less one, begin with terms below zero.
    let series = |mut term: u128, from: u128| {
        let (mut added, mut taken) = (0, 0);
        for k in 0..20 {
            let to: &mut u128 = if k % 2 == 0 { &mut added } else { &mut taken };
            *to += term;
            term = times(term, square) / ((from + 2 * k) * (from + 2 * k + 1));
        }
        added - taken
    };
    let unit = 2f64.powi(-128);
    let missing = series(square / 2, 3);
    let (c, s) = (if missing == 0 { 1.0 } else { missing.wrapping_neg() as f64 * unit }, series(x, 2) as f64 * unit);
    match octant {
        0 => [c, s],
        1 => [s, c],
        2 => [-s, c],
        3 => [-c, s],
        4 => [-c, -s],
        5 => [-s, -c],
        6 => [s, -c],
        _ => [c, -s],
    }
}
