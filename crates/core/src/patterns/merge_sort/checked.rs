//! Whether inputs are in an order of the caller's.

use crate::backend::Run;
use crate::element::Scalar;
use crate::error::{Error, Result};
use crate::ir::{Expr, Func, select};
use crate::ops::Min;
use crate::patterns::before::{Neighbours, inlined};
use crate::patterns::operand::Operand;
use crate::patterns::{MapTask, Reduce as _, ReduceTask};

/// An order that was traced, in another operator.
pub(in crate::patterns) fn comparison<T: Scalar>(before: &Func) -> impl Fn(Expr<T>, Expr<T>) -> Expr<bool> {
    |a, b| inlined(before, &[a.value(), b.value()], 0)
}

/// Fails for the first element of an input that comes before its left neighbour. Waits for the device.
pub(in crate::patterns) fn check_neighbours<B: Run<ReduceTask> + Run<MapTask>, T: Scalar>(
    device: &B,
    (pattern, what): (&'static str, &'static str),
    found: &Neighbours<B>,
    before: impl Fn(Expr<T>, Expr<T>) -> Expr<bool>,
) -> Result<()> {
    if found.c.len()? < 2 {
        return Ok(());
    }
    let func = found.trace(|left, key, i| select(i.eq(0) | !before(key, left), u32::MAX, i))?;
    match device.reduce(&Operand::<_, u32>::new(found.c.clone(), func), Min).run()?.read_blocking()? {
        u32::MAX => Ok(()),
        index => Err(Error::NotSorted { pattern, what, index: index.into() }),
    }
}
