//! Solves: batches of systems of 32 rows, and factors of one matrix.

use super::{Ready, Shape, Work, into, random, work};
use isowarp::element::DType;
use isowarp::patterns::SolveScalar;
use isowarp::prelude::*;
use isowarp::{Device, Result};

/// Rows of small systems: of 2^27 elements there are 131,072.
const ROWS: u64 = 32;

/// Elements are those of the matrices.
pub(super) fn works() -> Vec<Work> {
    vec![
        work("solve/small", DType::F32, 4, small::<f32>),
        work("solve/small", DType::F64, 8, small::<f64>),
        // Of one matrix, and as many right-hand sides as it has rows; a diagonal that outweighs the rest.
        work("solve/triangular", DType::F32, 12, |d, s| {
            let (n, b) = (s.n.isqrt(), random::<f32>(d, s.n, s.seed ^ 1)?);
            let (a, status) = (random::<f32>(d, s.n * s.copies, s.seed)?, d.buffer(1)?);
            into(d, s, a, s.n, move |d, a, out| {
                let a = (index(), a).map(heavy(n));
                d.triangular_solve(matrix(a, n, n), matrix(&b, n, n)).write_to((out, &status))
            })
        }),
        work("inverse/small", DType::F32, 8, |d, s| {
            let batch = s.n / (ROWS * ROWS);
            let (a, status) = (random::<f32>(d, s.n * s.copies, s.seed)?, d.buffer(batch)?);
            into(d, s, a, s.n, move |d, a, out| d.inverse(matrix(a, ROWS, ROWS).batch(batch)).write_to((out, &status)))
        }),
        work("determinant/small", DType::F32, 4, |d, s| {
            let batch = s.n / (ROWS * ROWS);
            let a = random::<f32>(d, s.n * s.copies, s.seed)?;
            into(d, s, a, batch, move |d, a, out| d.determinant(matrix(a, ROWS, ROWS).batch(batch)).write_to(out))
        }),
        work("lu/f32", DType::F32, 8, |d, s| {
            let n = s.n.isqrt();
            let (a, rows, status) = (random::<f32>(d, s.n * s.copies, s.seed)?, d.buffer(n)?, d.buffer(1)?);
            into(d, s, a, s.n, move |d, a, out| d.lu(matrix(a, n, n)).write_to((out, &rows, &status)))
        }),
        work("cholesky/f32", DType::F32, 8, |d, s| {
            let n = s.n.isqrt();
            let (a, status) = (random::<f32>(d, s.n * s.copies, s.seed)?, d.buffer(1)?);
            into(d, s, a, s.n, move |d, a, out| d.cholesky(matrix((index(), a).map(heavy(n)), n, n)).write_to((out, &status)))
        }),
    ]
}

/// Adds so much to the diagonal of a square matrix of `n` rows that it outweighs the rest.
fn heavy(n: u64) -> impl Fn((Expr<u32>, Expr<f32>)) -> Expr<f32> + Copy {
    move |(i, x)| x + select((i % (n as u32 + 1)).eq(0), n as f32, 0.0)
}

/// Solutions of systems with a right-hand side each.
fn small<T: SolveScalar>(d: &Device, s: &Shape) -> Result<Ready> {
    let batch = s.n / (ROWS * ROWS);
    let (a, b) = (random::<T>(d, s.n * s.copies, s.seed)?, random::<T>(d, batch * ROWS, s.seed ^ 1)?);
    let status = d.buffer(batch)?;
    into(d, s, a, batch * ROWS, move |d, a, out| {
        d.solve(matrix(a, ROWS, ROWS).batch(batch), matrix(&b, ROWS, 1).batch(batch)).write_to((out, &status))
    })
}
