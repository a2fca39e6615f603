//! An operator over inputs that was traced by itself, as an input of others.

use super::before::{inlined, own_behind};
use super::map::{collect, trace};
use crate::backend::Backend;
use crate::element::Scalar;
use crate::error::Result;
use crate::input::{Collector, Input, Source};
use crate::ir::graph::Value;
use crate::ir::{self, Expr, Func, Param};
use core::marker::PhantomData;
use std::sync::Arc;

/// An operator with one result, and its leaves. Unlike [`Mapped`](crate::input::Mapped) it is traced once, however often it is an input.
pub(super) struct Operand<B: Backend, T> {
    c: Collector<B>,
    func: Arc<Func>,
    of: PhantomData<T>,
}

impl<B: Backend, T: Scalar> Operand<B, T> {
    /// Of leaves, and what was traced over them.
    pub(super) fn new(c: Collector<B>, func: Arc<Func>) -> Self {
        Self { c, func, of: PhantomData }
    }

    /// `f` of the inputs.
    pub(super) fn traced<I: Input<B>>(device: &B, pattern: &'static str, inputs: &I, f: impl FnOnce(I::Exprs) -> Expr<T>) -> Result<Self> {
        let c = collect(device, pattern, inputs)?;
        let func = trace(inputs, &c, f)?;
        Ok(Self::new(c, func))
    }

    /// The operator over parameters that have those of its leaves from `first` on.
    pub(super) fn among(&self, params: &[Param], first: u16) -> Result<Func> {
        Ok(ir::pack(params.to_vec(), || Source::exprs(&self, &mut { first }))?)
    }

    /// Counts the leaves.
    pub(super) fn leaves(&self) -> u16 {
        self.c.params.len() as u16
    }

    /// Counts the values.
    pub(super) fn len(&self) -> Result<u64> {
        self.c.len()
    }
}

impl<B: Backend, T: Scalar> Input<B> for &Operand<B, T> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        c.append(&self.c)
    }
}

impl<B: Backend, T: Scalar> Source for &Operand<B, T> {
    type Exprs = Expr<T>;
    fn exprs(&self, next: &mut u16) -> Expr<T> {
        let first = *next;
        *next += self.c.params.len() as u16;
        let args: Vec<Value> = (0..self.c.params.len() as u16).map(|k| own_behind(&self.c.params, k, first)).collect();
        inlined(&self.func, &args, first)
    }
}
