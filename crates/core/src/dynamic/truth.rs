//! Truth values in buffers, which hold elements and no bits of their own.

use crate::element::Ty;
use crate::ir::graph;
use crate::ir::{BinOp, Func, OpError, Param, inline};

/// `func` over elements of an unsigned type of up to 32 bits in place of its truth values: one that is not 0 is true. What it gives is
/// unchanged.
///
/// ```
/// use isowarp_core::{dynamic, element::{DType, Ty}, expression};
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let mask = dynamic::DynBuffer::from(dev.upload(&[1u8, 0, 1])?);
/// let opposite = dynamic::of_elements(&expression::parse("!x", &[Ty::Bool], None, None)?)?;
/// let found = dynamic::map(&dev, &opposite, &[&mask], DType::U8)?;
/// assert_eq!(found.read_blocking()?, [0, 1, 0]);
/// # Ok::<(), isowarp::Error>(())
/// ```
///
/// # Errors
/// [`OpError`] for a malformed operator.
pub fn of_elements(func: &Func) -> Result<Func, OpError> {
    let is_truth = |p: &Param| *p == Param::Value(Ty::Bool);
    if !func.params.iter().any(is_truth) {
        return Ok(func.clone());
    }
    let params = func.params.iter().map(|p| if is_truth(p) { Param::Value(Ty::U32) } else { *p });
    graph::trace(params.collect(), || {
        let args = func.params.iter().zip(0..).map(|(p, k)| {
            graph::with(|g| {
                let element = g.param(k);
                if !is_truth(p) {
                    return element;
                }
                let zero = g.constant(Ty::U32, 0);
                g.bin(BinOp::Ne, element, zero)
            })
        });
        inline(func, &args.collect::<Vec<_>>())
    })
}
