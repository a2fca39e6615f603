//! Solves and factorisations as data, and their launches.

use super::SolveScalar;
use super::plan::Plan;
use crate::backend::{Leaf, Out};
use crate::element::DType;
use crate::error::{Error, Result};
use crate::ir::{Expr, Func, trace};
use crate::launch::{Launcher, Planned};
use crate::patterns::product::Steps;
use std::sync::OnceLock;

/// Pivots of an elimination.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Pivoting {
    /// Elements of the diagonal, as they come.
    None,
    /// The element of the column, from the diagonal down, with the greatest magnitude, of several the first one.
    #[default]
    Partial,
    /// The element of the remaining square with the greatest magnitude, of several the first one in row-major order. Rows and columns change places.
    Full,
}

/// Results of a solve.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SolveKind {
    /// X of A X = B. Leaves A and B; outputs X and the status.
    Solve,
    /// The inverse. Leaf A; outputs the inverse and the status.
    Inverse,
    /// The factors L, without its ones, and U, in one square. Leaf A; outputs the factors, the permutation and the status.
    Lu,
    /// Leaf A; output the determinant.
    Determinant,
    /// The lower factor. Leaf A; outputs the factor and the status.
    Cholesky,
    /// X of A X = B for a triangle. Leaves A and B; outputs X and the status.
    Triangular {
        /// Flag: it is the upper one.
        upper: bool,
        /// Flag: its diagonal counts as ones.
        unit: bool,
    },
}

/// Solves and factorisations of a batch of squares as data. Leaves are elements one after the other, of which the steps choose; outputs overlap no leaf.
#[derive(Clone, Copy, Debug)]
pub struct SolveTask {
    /// The results.
    pub kind: SolveKind,
    /// Pivots.
    pub pivoting: Pivoting,
    /// `f32` or `f64`.
    pub dtype: DType,
    /// Rows and columns of A, at least 1.
    pub n: u64,
    /// Columns of B, and of X.
    pub rights: u64,
    /// Systems, at least 1.
    pub batch: u64,
    /// Steps of A.
    pub a_steps: Steps,
    /// Steps of B.
    pub b_steps: Steps,
    /// Steps of X. Other outputs are row-major, one after the other.
    pub x_steps: Steps,
    /// Columns of a block, whatever the size; 0: as the device likes best. Bits do not depend on it.
    pub block: u64,
}

/// Operations of the kernels' arithmetic: `minus(a, b, c) = c - a b` rounded once, and a float's bits with NaN made canonical.
#[doc(hidden)]
#[derive(Debug)]
pub struct SolveArithmetic(Vec<(&'static str, Func)>);

impl SolveArithmetic {
    /// Of floats of this type.
    pub fn of(dtype: DType) -> Result<&'static Self> {
        static ALL: [OnceLock<SolveArithmetic>; 2] = [const { OnceLock::new() }; 2];
        let found = &ALL[usize::from(dtype == DType::F64)];
        if let Some(all) = found.get() {
            return Ok(all);
        }
        let all = if dtype == DType::F64 { Self::traced::<f64>()? } else { Self::traced::<f32>()? };
        Ok(found.get_or_init(|| all))
    }

    fn traced<T: SolveScalar>() -> Result<Self> {
        Ok(Self(vec![
            ("minus", trace(|(a, b, c): (Expr<T>, Expr<T>, Expr<T>)| T::minus(a, b, c))?),
            ("div", trace(|(a, b): (Expr<T>, Expr<T>)| a / b)?),
            ("mul", trace(|(a, b): (Expr<T>, Expr<T>)| a.mul_rn(b))?),
            ("root", trace(|a: Expr<T>| a.sqrt())?),
            ("bits", trace(|a: Expr<T>| a.bitcast::<T::Bits>())?),
        ]))
    }

    /// All operations.
    pub fn functions(&self) -> impl Iterator<Item = &Func> {
        self.0.iter().map(|(_, f)| f)
    }

    /// The operations of these names.
    #[must_use]
    pub fn named(&self, names: &[&str]) -> Vec<(&'static str, &Func)> {
        self.0.iter().filter(|(name, _)| names.contains(name)).map(|(name, f)| (*name, f)).collect()
    }
}

impl SolveTask {
    /// Columns of a system's right-hand sides that an elimination carries.
    #[must_use]
    pub const fn carried(&self) -> u64 {
        match self.kind {
            SolveKind::Solve => self.rights,
            SolveKind::Inverse => self.n,
            _ => 0,
        }
    }

    /// Takes some of the systems.
    pub(super) const fn of(self, batch: u64) -> Self {
        Self { batch, ..self }
    }
}

impl<B: Launcher> Planned<B> for SolveTask {
    fn drive(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let mut inputs = Vec::new();
        for leaf in leaves {
            let Leaf::Elements { raw, offset, stride: 1, .. } = leaf else {
                return Err(Error::InvalidArgument { what: "solve", reason: "matrices are elements in memory".to_owned() });
            };
            inputs.push((raw, *offset));
        }
        Plan::of(device, self)?.enqueue(&inputs, outs)
    }
}
