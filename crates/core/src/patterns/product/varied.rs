//! Products by variants.

use super::call::{Adding, Ending};
use super::{Factor, ProductCall, ProductTask, Products};
use crate::call::{Variant, run_variant};
use crate::error::Result;
use crate::input::{Input, Outputs};
use crate::ir::Expr;

/// A product that a [`Variant`] carries out; see [`ProductCall::variant`].
#[derive(Clone, Debug)]
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct VariedProduct<'d, B, L, R, T, A, F, V> {
    call: ProductCall<'d, B, L, R, T, A, F>,
    variant: V,
}

impl<'d, B, L, R, T, A, F> ProductCall<'d, B, L, R, T, A, F> {
    /// Carries the product out by a [`Variant`] of its task: an algorithm of a textbook, or one of yours. It goes last.
    pub fn variant<V>(self, variant: V) -> VariedProduct<'d, B, L, R, T, A, F, V> {
        VariedProduct { call: self, variant }
    }
}

impl<B, L, R, T, A, F, V> VariedProduct<'_, B, L, R, T, A, F, V>
where
    B: Products,
    L: Input<B, Exprs = Expr<T>>,
    R: Input<B, Exprs = Expr<T>>,
    T: Factor,
    A: Adding<B, T>,
    F: Ending<B, T>,
    V: Variant<B, ProductTask>,
{
    /// Enqueues the product into new memory, which it returns.
    ///
    /// # Errors
    /// As [`ProductCall::run`], and the variant's.
    pub fn run(self) -> Result<<F::Out as Outputs>::Buffers<B>> {
        let out = self.call.allocate()?;
        self.write_to(F::Out::refs(&out))?;
        Ok(out)
    }

    /// Enqueues the product into the caller's memory.
    ///
    /// # Errors
    /// As [`ProductCall::write_to`], and the variant's.
    pub fn write_to(self, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()> {
        match self.call.described(out)? {
            Some((task, leaves, outs)) => run_variant(&self.variant, self.call.device(), &task, (&leaves, &outs)),
            None => Ok(()),
        }
    }
}
