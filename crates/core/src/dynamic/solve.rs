//! Solves and factorisations.

use super::call::Job;
use super::{DynBuffer, Results};
use crate::element::DType;
use crate::error::{Error, Result};
use crate::patterns::solve::SolveKind;
use crate::patterns::{Matrix, Patterns, Pivoting, SolveScalar, Solves as _, matrix};

/// A solve of row-major square matrices of `f32` or `f64`, or of batches of them. A solve has right-hand sides as a second input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Solving {
    /// The results, in the order of the task's outputs.
    pub kind: SolveKind,
    /// Pivots.
    pub pivoting: Pivoting,
    /// Rows and columns.
    pub n: u64,
    /// Right-hand sides.
    pub rights: u64,
    /// Matrices of the batches of either input.
    pub batch: [Option<u64>; 2],
}

/// An input as a matrix of so many rows and columns.
fn operand<I>(x: I, [rows, columns]: [u64; 2], batch: Option<u64>) -> Matrix<I> {
    let of = matrix(x, rows, columns);
    match batch {
        Some(count) => of.batch(count),
        None => of,
    }
}

impl<B: Patterns> Job<'_, B> {
    pub(super) fn solve(&self, of: &Solving) -> Result<Results<B>> {
        match self.first()?.dtype {
            DType::F32 => self.solve_of::<f32>(of),
            DType::F64 => self.solve_of::<f64>(of),
            other => Err(Error::InvalidArgument { what: "solve", reason: format!("systems are of f32 or f64, not {other}") }),
        }
    }

    fn solve_of<T: SolveScalar>(&self, of: &Solving) -> Result<Results<B>> {
        let &Solving { kind, pivoting, n, rights, batch } = of;
        let (d, a) = (self.device, self.first()?.typed::<T>()?);
        let m = operand(&a, [n, n], batch[0]);
        let right = || {
            let [_, b] = self.take()?;
            if b.dtype != T::DTYPE {
                let reason = format!("they are of {}, and the matrices of {}", b.dtype, T::DTYPE);
                return Err(Error::InvalidArgument { what: "right-hand sides", reason });
            }
            b.typed::<T>()
        };
        Ok(match kind {
            SolveKind::Solve => {
                let b = right()?;
                let (x, status) = d.solve(m, operand(&b, [n, rights], batch[1])).pivoting(pivoting).run()?;
                [x.into(), status.into()].into()
            }
            SolveKind::Triangular { upper, unit } => {
                let b = right()?;
                let call = d.triangular_solve(m, operand(&b, [n, rights], batch[1]));
                let call = if upper { call.upper() } else { call };
                let (x, status) = if unit { call.unit() } else { call }.run()?;
                [x.into(), status.into()].into()
            }
            SolveKind::Inverse => {
                let (x, status) = d.inverse(m).pivoting(pivoting).run()?;
                [x.into(), status.into()].into()
            }
            SolveKind::Cholesky => {
                let (l, status) = d.cholesky(m).run()?;
                [l.into(), status.into()].into()
            }
            SolveKind::Lu => {
                let (lu, permutation, status) = d.lu(m).pivoting(pivoting).run()?;
                Results { all: vec![lu.into(), permutation.into(), status.into()], count: None }
            }
            SolveKind::Determinant => DynBuffer::from(d.determinant(m).pivoting(pivoting).run()?).into(),
        })
    }
}
