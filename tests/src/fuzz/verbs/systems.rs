//! Batches: factors of Cholesky, triangles, systems, and products with factors and an addend, with one matrix for all or one each.

use super::dense::{Arithmetic, BLOCK, PIVOTS, SUMMED, elements, eliminate, solved};
use super::{choice, computed, output, parts};
use crate::case::{Output, Target};
use crate::fuzz::lower::upload;
use crate::fuzz::rules;
use crate::fuzz::tree::Op;
use crate::fuzz::trial::{Array, Trial};
use crate::fuzz::values::Random;
use crate::fuzz::verbs::Verb;
use isowarp::Result;
use isowarp::buffer::Buffer;
use isowarp::dynamic::{Call, DynBuffer, Product, Solving};
use isowarp::element::{DType, Ty};
use isowarp::patterns::solve::SolveKind;
use isowarp::patterns::{Pivoting, ProductOrder, SolveScalar};
use isowarp::prelude::*;

/// Factors of sums and addends.
const FACTORS: [f64; 6] = [1.0, 0.0, -1.0, 2.0, -3.0, 100.0];

/// Sides around those of blocks, and of what fits in shared memory.
fn side(r: &mut Random) -> usize {
    match r.below(10) {
        0..=6 => 1 + r.below(12),
        7 | 8 => r.pick(&[31, 32, 33, 57, 58]),
        _ => 60 + r.below(60),
    }
}

pub(super) fn trial(verb: Verb, r: &mut Random) -> Trial {
    let number = |name: &str, value: usize| (name.to_owned(), value as u64);
    let dtype = match verb {
        Verb::GemmBatch => r.pick(&SUMMED),
        _ => r.pick(&[DType::F32, DType::F32, DType::F64]),
    };
    let n = side(r);
    let batch = 1 + if n < 35 { r.below(12) } else { r.below(2) };
    let shared = if r.chance(25) { r.pick(&[1, 2]) } else { 0 };
    let mut arrays = Vec::new();
    let mut array = |dtype: DType, len: usize, r: &mut Random| arrays.push(Array::plain(dtype, elements(dtype, len, r)));
    let numbers = if verb == Verb::GemmBatch {
        let (m, k) = (side(r), if r.chance(10) { 500 + r.below(600) } else { 1 + r.below(60) });
        array(dtype, m * k * if shared == 1 { 1 } else { batch }, r);
        array(dtype, k * n * if shared == 2 { 1 } else { batch }, r);
        array(dtype.ty().dtype(), m * n * batch, r);
        let turned = [r.below(2), r.below(2)];
        vec![
            number("rows", m),
            number("columns", n),
            number("batch", batch),
            number("shared", shared),
            number("a", turned[0]),
            number("b", turned[1]),
            number("alpha", r.below(FACTORS.len())),
            number("beta", r.below(FACTORS.len())),
        ]
    } else {
        let (rights, shared) = (1 + r.below(4), shared.min(1));
        array(dtype, n * n * if shared == 1 { 1 } else { batch }, r);
        array(dtype, n * rights * batch, r);
        let numbers = [("side", n), ("batch", batch), ("shared", shared), ("pivots", r.below(3)), ("form", r.below(8))];
        numbers.map(|(name, value)| number(name, value)).to_vec()
    };
    if verb == Verb::Cholesky {
        arrays.truncate(1);
        if r.chance(80) {
            definite(&mut arrays[0], n);
        }
    }
    Trial { verb, n: arrays[0].bits.len(), numbers, inputs: arrays, trees: Vec::new() }
}

/// Puts great numbers on diagonals, so that factors exist unless others are greater.
fn definite(array: &mut Array, n: usize) {
    let great = if array.dtype == DType::F64 { 1e4f64.to_bits() } else { u64::from(1e4f32.to_bits()) };
    array.bits.iter_mut().enumerate().filter(|(at, _)| (at % (n * n)).is_multiple_of(n + 1)).for_each(|(_, bits)| *bits = great);
}

/// Rows of systems, right-hand sides, how many systems there are, and matrices.
fn sizes(trial: &Trial) -> [usize; 4] {
    let a = trial.inputs[0].bits.len();
    let n = (trial.number("side") as usize).clamp(1, a.isqrt());
    let batch = (trial.number("batch") as usize).max(1);
    let Some(b) = trial.inputs.get(1).map(|b| b.bits.len()) else {
        let batch = batch.min(a / (n * n));
        return [n, 0, batch, batch];
    };
    let n = n.min(b);
    let batch = batch.min(b / n);
    let matrices = if trial.number("shared") % 2 == 1 { 1 } else { batch.min(a / (n * n)) };
    let batch = if matrices == 1 { batch } else { matrices };
    [n, b / n / batch, batch, matrices]
}

/// Rows, columns and terms of products, how many there are, and matrices of either side.
fn product(trial: &Trial) -> ([usize; 3], usize, [usize; 2]) {
    let [a, b, c] = [0, 1, 2].map(|k| trial.inputs[k].bits.len());
    let m = (trial.number("rows") as usize).clamp(1, a.min(c));
    let n = (trial.number("columns") as usize).clamp(1, b.min(c / m));
    let shared = trial.number("shared") % 3;
    let mut batch = (trial.number("batch") as usize).clamp(1, c / (m * n));
    for (side, len) in [(1, a / m), (2, b / n)] {
        batch = if shared == side { batch } else { batch.min(len) };
    }
    let of = [1, 2].map(|side| if shared == side { 1 } else { batch });
    ([m, n, (a / m / of[0]).min(b / n / of[1])], batch, of)
}

/// Upper, with ones on the diagonal, and from the right.
fn form(trial: &Trial) -> [bool; 3] {
    [0, 1, 2].map(|bit| trial.number("form") >> bit & 1 == 1)
}

pub(super) fn run<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let input = |k: usize, len: usize| upload(device, trial.inputs[k].dtype, &trial.inputs[k].bits[..len]);
    if trial.verb == Verb::GemmBatch {
        let ([m, n, k], batch, of) = product(trial);
        let transposed = ["a", "b"].map(|name| trial.number(name) % 2 == 1);
        let call = Call::Product(Product {
            shape: [m, n, k].map(|side| side as u64),
            batch: of.map(|of| (of > 1 || batch == 1).then_some(of as u64)),
            transposed,
            alpha: Some(choice(trial, "alpha", &FACTORS)),
            beta: choice(trial, "beta", &FACTORS),
            order: ProductOrder::Blocks,
        });
        return computed(device, &call, &[&input(0, m * k * of[0])?, &input(1, k * n * of[1])?, &input(2, m * n * batch)?]);
    }
    let [n, rights, batch, matrices] = sizes(trial);
    let a = input(0, n * n * matrices)?;
    if trial.verb == Verb::Triangular {
        let b = input(1, n * rights * batch)?;
        return if a.dtype() == DType::F64 {
            triangles::<B, f64>(trial, device, &a, &b)
        } else {
            triangles::<B, f32>(trial, device, &a, &b)
        };
    }
    let kind = if trial.verb == Verb::Cholesky { SolveKind::Cholesky } else { SolveKind::Solve };
    let of_a = (matrices > 1 || batch == 1).then_some(matrices as u64);
    let solving =
        Solving { kind, pivoting: choice(trial, "pivots", &PIVOTS), n: n as u64, rights: rights as u64, batch: [of_a, Some(batch as u64)] };
    match kind {
        SolveKind::Cholesky => computed(device, &Call::Solve(Solving { pivoting: Pivoting::None, ..solving }), &[&a]),
        _ => computed(device, &Call::Solve(solving), &[&a, &input(1, n * rights * batch)?]),
    }
}

fn triangles<B: Target, T: SolveScalar>(trial: &Trial, device: &B, a: &DynBuffer<B>, b: &DynBuffer<B>) -> Result<Vec<Output>> {
    let (a, b): (Buffer<B, T>, Buffer<B, T>) = (a.typed()?, b.typed()?);
    let [n, rights, batch, matrices] = sizes(trial).map(|size| size as u64);
    let [upper, unit, right] = form(trial);
    let of_b = if right { matrix(&b, rights, n) } else { matrix(&b, n, rights) };
    let of_a = matrix(&a, n, n);
    let of_a = if matrices > 1 { of_a.batch(matrices) } else { of_a };
    let call = device.triangular_solve(of_a, of_b.batch(batch));
    let call = if upper { call.upper() } else { call };
    let call = if unit { call.unit() } else { call };
    let (x, status) = if right { call.right().run()? } else { call.run()? };
    parts(&[x.into(), status.into()])
}

type Rows = Vec<Vec<u64>>;

/// Rows of so many elements, of the matrix `p` of these.
fn rows(of: &[u64], p: usize, [rows, columns]: [usize; 2]) -> Rows {
    of[p * rows * columns..][..rows * columns].chunks(columns).map(<[u64]>::to_vec).collect()
}

fn turned(of: &Rows) -> Rows {
    (0..of.first().map_or(0, Vec::len)).map(|j| of.iter().map(|row| row[j]).collect()).collect()
}

/// L, row by row, and the status.
fn cholesky(of: Arithmetic, mut a: Rows) -> (Rows, u64) {
    let (n, mut status) = (a.len(), 0);
    for j in 0..n {
        for i in j..n {
            let chain = (0..j).fold(a[i][j], |left, k| of.minus(a[i][k], a[j][k], left));
            if i == j && status == 0 && !(of.is_pivot(chain) && of.is_positive(chain)) {
                status = j as u64 + 1;
            }
            a[i][j] = match (status, i == j) {
                (0, true) => of.of(Op::Sqrt, [chain, 0, 0]),
                (0, false) => of.of(Op::Div, [chain, a[j][j], 0]),
                _ => of.nan(),
            };
            if i > j {
                a[j][i] = 0;
            }
        }
    }
    (a, status)
}

/// X of a triangle, and the status.
fn triangle(of: Arithmetic, a: &Rows, b: &Rows, [upper, unit]: [bool; 2]) -> (Rows, u64) {
    let n = a.len();
    let status = if unit { None } else { (0..n).find(|&i| !of.is_pivot(a[i][i])) }.map_or(0, |i| i as u64 + 1);
    let mut x = b.clone();
    if status != 0 {
        x.iter_mut().flatten().for_each(|x| *x = of.nan());
        return (x, status);
    }
    for step in 0..n {
        let i = if upper { n - 1 - step } else { step };
        for j in 0..x[i].len() {
            let mut left = x[i][j];
            for before in 0..step {
                let k = if upper { n - 1 - before } else { before };
                left = of.minus(a[i][k], x[k][j], left);
            }
            x[i][j] = if unit { left } else { of.of(Op::Div, [left, a[i][i], 0]) };
        }
    }
    (x, status)
}

pub(super) fn expected(trial: &Trial) -> Vec<Output> {
    let ty = trial.inputs[0].dtype.ty();
    let of = Arithmetic(ty);
    let stored = |values: Vec<u64>| output(ty.dtype(), values.into_iter().map(|bits| rules::narrow(ty.dtype(), ty, bits)));
    let wide = |k: usize| trial.inputs[k].bits.iter().map(|&bits| rules::widen(trial.inputs[k].dtype, bits)).collect::<Vec<u64>>();
    let a = wide(0);
    if trial.verb == Verb::GemmBatch {
        return vec![stored(products(trial, of, [&a, &wide(1), &wide(2)]))];
    }
    let [n, rights, batch, matrices] = sizes(trial);
    let (mut values, mut statuses) = (Vec::new(), Vec::new());
    for p in 0..batch {
        let a = rows(&a, if matrices == 1 { 0 } else { p }, [n, n]);
        let (x, status) = match trial.verb {
            Verb::Cholesky => cholesky(of, a),
            Verb::Triangular => {
                let [upper, unit, right] = form(trial);
                let b = wide(1);
                if right {
                    // The transposes' system.
                    let (x, status) = triangle(of, &turned(&a), &turned(&rows(&b, p, [rights, n])), [!upper, unit]);
                    (turned(&x), status)
                } else {
                    triangle(of, &a, &rows(&b, p, [n, rights]), [upper, unit])
                }
            }
            _ => {
                let e = eliminate(of, a, choice(trial, "pivots", &PIVOTS));
                (solved(of, &e, &rows(&wide(1), p, [n, rights])), e.status)
            }
        };
        values.extend(x.concat());
        statuses.push(status);
    }
    vec![stored(values), output(DType::U32, statuses)]
}

fn products(trial: &Trial, of: Arithmetic, [a, b, c]: [&[u64]; 3]) -> Vec<u64> {
    let ([m, n, k], batch, counts) = product(trial);
    let turned = ["a", "b"].map(|name| trial.number(name) % 2 == 1);
    let [alpha, beta] = ["alpha", "beta"].map(|name| {
        let factor = choice(trial, name, &FACTORS);
        match of.0 {
            Ty::F32 => u64::from((factor as f32).to_bits()),
            Ty::F64 => factor.to_bits(),
            _ => u64::from(factor as i32 as u32),
        }
    });
    let mut all = Vec::with_capacity(m * n * batch);
    for p in 0..batch {
        let [a, b] = [(a, m * k, counts[0]), (b, k * n, counts[1])].map(|(x, size, count)| if count == 1 { x } else { &x[p * size..] });
        for at in 0..m * n {
            let (i, j) = (at / n, at % n);
            let left = |q: usize| if turned[0] { a[q * m + i] } else { a[i * k + q] };
            let right = |q: usize| if turned[1] { b[j * k + q] } else { b[q * n + j] };
            let sum = of.sum(&(0..k).map(|q| (left(q), right(q))).collect::<Vec<_>>(), BLOCK);
            all.push(of.fused(alpha, sum, of.of(Op::Mul, [beta, c[p * m * n + at], 0])));
        }
    }
    all
}
