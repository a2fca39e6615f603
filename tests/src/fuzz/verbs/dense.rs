//! Products of matrices, solves and convolutions: chains of fused steps in the documented order.

use super::{computed, edges, inexact, output};
use crate::case::{Output, Target};
use crate::fuzz::lower::upload;
use crate::fuzz::rules;
use crate::fuzz::tree::Op;
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::{Random, nearest_f16};
use crate::fuzz::verbs::Verb;
use isowarp::Result;
use isowarp::dynamic::{Call, Convolution, Padding, Product, Solving};
use isowarp::element::{DType, Ty};
use isowarp::patterns::solve::SolveKind;
use isowarp::patterns::{Border, Pivoting, ProductOrder};

/// Terms of a chain.
pub(super) const BLOCK: usize = 512;
const BORDERS: [Border; 4] = [Border::Clamp, Border::Zero, Border::Mirror, Border::Wrap];
pub(super) const PIVOTS: [Pivoting; 3] = [Pivoting::None, Pivoting::Partial, Pivoting::Full];
const KINDS: [SolveKind; 4] = [SolveKind::Solve, SolveKind::Lu, SolveKind::Inverse, SolveKind::Determinant];
pub(super) const SUMMED: [DType; 9] =
    [DType::F32, DType::F32, DType::F16, DType::I8, DType::U8, DType::I16, DType::U16, DType::I32, DType::U32];

/// Elements at the edges, or near to 1, of which sums are finite; half of the latter are such that sums of a few of them are exact.
pub(super) fn elements(dtype: DType, n: usize, r: &mut Random) -> Vec<u64> {
    if r.chance(40) || !dtype.ty().is_float() {
        return edges(dtype, n, r);
    }
    if r.chance(50) {
        return inexact(dtype, n, r);
    }
    let near = |r: &mut Random| {
        let x = (r.below(2001) as f64 - 1000.0) / 256.0;
        match dtype {
            DType::F16 => u64::from(nearest_f16(x).to_bits()),
            DType::F64 => x.to_bits(),
            _ => u64::from((x as f32).to_bits()),
        }
    };
    (0..n).map(|_| near(r)).collect()
}

pub(super) fn trial(verb: Verb, r: &mut Random) -> Trial {
    let number = |name: &str, value: usize| (name.to_owned(), value as u64);
    let dtype = match verb {
        Verb::Solve => r.pick(&[DType::F32, DType::F32, DType::F64]),
        _ if r.chance(10) => DType::F64,
        _ => r.pick(&SUMMED),
    };
    let side = |r: &mut Random| if r.chance(30) { r.pick(&[1, 4, 8, 9, 63, 64, 65, 128, 129]) } else { 1 + r.below(40) };
    let (lens, numbers) = match verb {
        Verb::Gemm => {
            let (m, n, k) = (side(r), side(r), if r.chance(20) { 500 + r.below(600) } else { 1 + r.below(90) });
            let turned = [r.below(2), r.below(2)];
            let numbers =
                vec![number("rows", m), number("columns", n), number("a", turned[0]), number("b", turned[1]), number("chain", r.below(2))];
            ([m * k, k * n], numbers)
        }
        Verb::Solve => {
            let (n, rights) = (if r.chance(20) { 50 + r.below(60) } else { 1 + r.below(34) }, 1 + r.below(4));
            ([n * n, n * rights], vec![number("kind", r.below(4)), number("pivots", r.below(3))])
        }
        _ => {
            let (w, h, tx, ty) = (1 + r.below(150), 1 + r.below(20), 1 + r.below(9), 1 + r.below(6));
            let numbers = vec![
                number("width", w),
                number("taps", tx),
                number("stride", 1 + if r.chance(30) { r.below(3) } else { 0 }),
                number("padding", r.below(4)),
                number("border", r.below(4)),
            ];
            ([w * h, tx * ty], numbers)
        }
    };
    let inputs: Vec<Array> = lens.iter().map(|&len| Array::plain(dtype, elements(dtype, len, r))).collect();
    Trial { verb, n: lens[0], numbers, inputs, trees: Vec::new() }
}

/// Rows, columns and terms of a product.
fn product(trial: &Trial) -> [usize; 3] {
    let [a, b] = [0, 1].map(|k| trial.inputs[k].bits.len());
    let m = (trial.number("rows") as usize).clamp(1, a);
    let n = (trial.number("columns") as usize).clamp(1, b);
    [m, n, (a / m).min(b / n)]
}

/// Rows of a system, and right-hand sides.
fn system(trial: &Trial) -> [usize; 2] {
    let [a, b] = [0, 1].map(|k| trial.inputs[k].bits.len());
    let n = a.isqrt().min(b);
    [n, b / n]
}

/// Rows and columns of an image and of a filter, padding that lets the filter fit, and the stride.
fn windows(trial: &Trial) -> ([usize; 2], [usize; 2], usize, usize) {
    let [a, b] = [0, 1].map(|k| trial.inputs[k].bits.len());
    let w = (trial.number("width") as usize).clamp(1, a);
    let h = a / w;
    let padding = trial.number("padding") as usize % 4;
    let tx = (trial.number("taps") as usize).clamp(1, b.min(w + 2 * padding));
    let ty = (b / tx).min(h + 2 * padding);
    ([h, w], [ty, tx], padding, (trial.number("stride") as usize).max(1))
}

/// Only solves and inverses take the largest element of all.
fn pivoting(trial: &Trial, kind: SolveKind) -> Pivoting {
    match super::choice(trial, "pivots", &PIVOTS) {
        Pivoting::Full if matches!(kind, SolveKind::Lu | SolveKind::Determinant) => Pivoting::Partial,
        pivoting => pivoting,
    }
}

fn order(trial: &Trial) -> ProductOrder {
    if trial.number("chain") % 2 == 1 { ProductOrder::Chain } else { ProductOrder::Blocks }
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let (call, lens) = match trial.verb {
        Verb::Gemm => {
            let [m, n, k] = product(trial);
            let transposed = ["a", "b"].map(|name| trial.number(name) % 2 == 1);
            let shape = [m, n, k].map(|side| side as u64);
            let call = Product { shape, batch: [None; 2], transposed, alpha: None, beta: 0.0, order: order(trial) };
            (Call::Product(call), [m * k, k * n])
        }
        Verb::Solve => {
            let [n, rights] = system(trial);
            let kind = super::choice(trial, "kind", &KINDS);
            let pivoting = pivoting(trial, kind);
            let call = Solving { kind, pivoting, n: n as u64, rights: rights as u64, batch: [None; 2] };
            (Call::Solve(call), [n * n, n * rights])
        }
        _ => {
            let (image, filter, padding, stride) = windows(trial);
            let of = |sides: [usize; 2]| sides.map(|side| side as u64).to_vec();
            let call = Convolution {
                image: of(image),
                images: [1; 2],
                filter: of(filter),
                filters: [1; 2],
                stride: Some(vec![stride as u64; 2]),
                dilation: None,
                padding: Padding::By(vec![padding as u64; 2]),
                border: super::choice(trial, "border", &BORDERS),
                groups: 1,
                flipped: false,
                transposed: false,
                order: ProductOrder::Blocks,
                fourier: false,
            };
            (Call::Convolve(call), [image[0] * image[1], filter[0] * filter[1]])
        }
    };
    let input = |k: usize| upload(device, trial.inputs[k].dtype, &trial.inputs[k].bits[..lens[k]]);
    let (a, b) = (input(0)?, input(1)?);
    let alone = matches!(call, Call::Solve(Solving { kind: SolveKind::Lu | SolveKind::Inverse | SolveKind::Determinant, .. }));
    if alone { computed(device, &call, &[&a]) } else { computed(device, &call, &[&a, &b]) }
}

/// Arithmetic of a type of sums, on bits.
#[derive(Clone, Copy)]
pub(super) struct Arithmetic(pub(super) Ty);

impl Arithmetic {
    pub(super) fn of(self, op: Op, args: [u64; 3]) -> u64 {
        rules::one(op, self.0, self.0, args)
    }

    pub(super) fn fused(self, a: u64, b: u64, c: u64) -> u64 {
        if self.0.is_float() { self.of(Op::Fma, [a, b, c]) } else { self.of(Op::Add, [self.of(Op::Mul, [a, b, 0]), c, 0]) }
    }

    /// `c - a b`, rounded once.
    pub(super) fn minus(self, a: u64, b: u64, c: u64) -> u64 {
        self.fused(self.of(Op::Neg, [a, 0, 0]), b, c)
    }

    /// Chains of so many terms, added left to right.
    pub(super) fn sum(self, terms: &[(u64, u64)], block: usize) -> u64 {
        let chain = |part: &[(u64, u64)]| part.iter().fold(0, |sum, &(a, b)| self.fused(a, b, sum));
        let mut parts = terms.chunks(block.max(1)).map(chain);
        let first = parts.next().unwrap_or(0);
        parts.fold(first, |total, part| self.of(Op::Add, [total, part, 0]))
    }

    pub(super) fn one(self) -> u64 {
        if self.0 == Ty::F64 { 1f64.to_bits() } else { u64::from(1f32.to_bits()) }
    }

    pub(super) fn nan(self) -> u64 {
        if self.0 == Ty::F64 { f64::NAN.to_bits() } else { u64::from(f32::NAN.to_bits()) }
    }

    /// The magnitude as a whole number; all NaN are equal, and above infinity.
    pub(super) fn magnitude(self, bits: u64) -> u64 {
        let (size, infinite) = if self.0 == Ty::F64 { (!0 >> 1, 0x7ff << 52) } else { (0x7fff_ffff, 0x7f80_0000) };
        (bits & size).min(infinite + 1)
    }

    pub(super) fn is_positive(self, bits: u64) -> bool {
        bits >> (8 * self.0.dtype().size_bytes() - 1) == 0
    }

    pub(super) fn is_pivot(self, bits: u64) -> bool {
        let infinite = if self.0 == Ty::F64 { 0x7ff << 52 } else { 0x7f80_0000 };
        (1..infinite).contains(&self.magnitude(bits))
    }
}

/// A matrix that has been eliminated.
pub(super) struct Eliminated {
    pub(super) lu: Vec<Vec<u64>>,
    pub(super) rows: Vec<usize>,
    pub(super) columns: Vec<usize>,
    pub(super) status: u64,
    pub(super) determinant: u64,
}

pub(super) fn eliminate(of: Arithmetic, mut a: Vec<Vec<u64>>, pivoting: Pivoting) -> Eliminated {
    let n = a.len();
    let (mut rows, mut columns): (Vec<usize>, Vec<usize>) = ((0..n).collect(), (0..n).collect());
    let (mut status, mut determinant, mut turned) = (0, of.one(), false);
    for k in 0..n {
        let (mut p, mut q) = (k, k);
        if pivoting != Pivoting::None {
            for i in k..n {
                for j in if pivoting == Pivoting::Full { k..n } else { k..k + 1 } {
                    if of.magnitude(a[i][j]) > of.magnitude(a[p][q]) {
                        (p, q) = (i, j);
                    }
                }
            }
        }
        a.swap(k, p);
        rows.swap(k, p);
        a.iter_mut().for_each(|row| row.swap(k, q));
        columns.swap(k, q);
        turned ^= (p != k) ^ (q != k);
        let pivot = a[k][k];
        if status == 0 && !of.is_pivot(pivot) {
            status = k as u64 + 1;
            determinant = if of.magnitude(pivot) == 0 { 0 } else { of.nan() };
        } else if status == 0 {
            determinant = of.of(Op::Mul, [determinant, pivot, 0]);
        }
        let (above, below) = a.split_at_mut(k + 1);
        for row in below {
            if of.magnitude(pivot) != 0 {
                row[k] = of.of(Op::Div, [row[k], pivot, 0]);
            }
            for j in k + 1..n {
                row[j] = of.minus(row[k], above[k][j], row[j]);
            }
        }
    }
    if turned && status == 0 {
        determinant = of.of(Op::Neg, [determinant, 0, 0]);
    }
    Eliminated { lu: a, rows, columns, status, determinant }
}

/// X of A X = B, row by row.
pub(super) fn solved(of: Arithmetic, e: &Eliminated, b: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let (n, rights) = (e.lu.len(), b.first().map_or(0, Vec::len));
    let mut x = vec![vec![of.nan(); rights]; n];
    if e.status != 0 {
        return x;
    }
    for j in 0..rights {
        let mut y: Vec<u64> = e.rows.iter().map(|&row| b[row][j]).collect();
        for i in 0..n {
            y[i] = (0..i).fold(y[i], |left, k| of.minus(e.lu[i][k], y[k], left));
        }
        for i in (0..n).rev() {
            let left = (i + 1..n).rev().fold(y[i], |left, k| of.minus(e.lu[i][k], y[k], left));
            y[i] = of.of(Op::Div, [left, e.lu[i][i], 0]);
        }
        e.columns.iter().zip(&y).for_each(|(&to, &y)| x[to][j] = y);
    }
    x
}

/// The index that a window reads, if any.
pub(super) fn inside(border: Border, i: i64, n: i64) -> Option<usize> {
    let at = match border {
        _ if (0..n).contains(&i) => i,
        Border::Clamp => i.clamp(0, n - 1),
        Border::Zero => return None,
        Border::Wrap => i.rem_euclid(n),
        Border::Mirror => {
            let k = i.rem_euclid((2 * (n - 1)).max(1));
            k.min(2 * (n - 1) - k).max(0)
        }
    };
    Some(at as usize)
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let [a, b] = [0, 1].map(|k| {
        let array = &trial.inputs[k];
        array.bits.iter().map(|&bits| rules::widen(array.dtype, bits)).collect::<Vec<u64>>()
    });
    let ty = trial.inputs[0].dtype.ty();
    let (of, stored) =
        (Arithmetic(ty), |values: Vec<u64>| output(ty.dtype(), values.into_iter().map(|bits| rules::narrow(ty.dtype(), ty, bits))));
    match trial.verb {
        Verb::Gemm => {
            let [m, n, k] = product(trial);
            let turned = ["a", "b"].map(|name| trial.number(name) % 2 == 1);
            let left = |i: usize, q: usize| if turned[0] { a[q * m + i] } else { a[i * k + q] };
            let right = |q: usize, j: usize| if turned[1] { b[j * k + q] } else { b[q * n + j] };
            let block = if order(trial) == ProductOrder::Chain { k } else { BLOCK };
            let element = |at: usize| of.sum(&(0..k).map(|q| (left(at / n, q), right(q, at % n))).collect::<Vec<_>>(), block);
            vec![stored((0..m * n).map(element).collect())]
        }
        Verb::Solve => {
            let [n, rights] = system(trial);
            let kind = super::choice(trial, "kind", &KINDS);
            let square = |values: &[u64], columns: usize| values.chunks(columns).take(n).map(<[u64]>::to_vec).collect::<Vec<_>>();
            let e = eliminate(of, square(&a, n), pivoting(trial, kind));
            let status = output(DType::U32, [e.status]);
            let unit = |i: usize| (0..n).map(|j| if i == j { of.one() } else { 0 }).collect();
            match kind {
                SolveKind::Lu => {
                    let rows = e.rows.iter().map(|&row| row as u64);
                    vec![stored(e.lu.concat()), output(DType::U32, rows), status]
                }
                SolveKind::Determinant => vec![stored(vec![e.determinant])],
                SolveKind::Inverse => vec![stored(solved(of, &e, &(0..n).map(unit).collect::<Vec<_>>()).concat()), status],
                _ => vec![stored(solved(of, &e, &square(&b, rights)).concat()), status],
            }
        }
        _ => {
            let ([h, w], [ty, tx], padding, stride) = windows(trial);
            let border = super::choice(trial, "border", &BORDERS);
            let out = |n: usize, taps: usize| (n + 2 * padding - taps) / stride + 1;
            let read = |y: usize, x: usize| {
                let at = |i: usize, n: usize| inside(border, i as i64 - padding as i64, n as i64);
                at(y, h).zip(at(x, w)).map_or(0, |(y, x)| a[y * w + x])
            };
            let element = |y: usize, x: usize| {
                let term = |t: usize| (b[t], read(y * stride + t / tx, x * stride + t % tx));
                of.sum(&(0..ty * tx).map(term).collect::<Vec<_>>(), BLOCK)
            };
            let rows = (0..out(h, ty)).flat_map(|y| (0..out(w, tx)).map(move |x| (y, x)));
            vec![stored(rows.map(|(y, x)| element(y, x)).collect())]
        }
    }
}
