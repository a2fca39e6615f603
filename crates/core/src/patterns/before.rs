//! Inputs at another element: what patterns that look at neighbours, or at indices that are computed, make of an operator over them.

use crate::backend::{Backend, Leaf};
use crate::element::{Scalar, Ty};
use crate::error::{Error, Result};
use crate::input::{Collector, Input, index, scalar};
use crate::ir::graph::{self, Value};
use crate::ir::{self, Expr, Func, Node, Param, Traced, lit};
use crate::patterns::map::{collect, trace};
use std::sync::Arc;

/// Elements that a word numbers.
const MOST: u64 = 1 << 32;

/// Form that a parameter of an operator takes for another element.
#[derive(Clone, Copy)]
pub(super) enum Moved {
    /// The same at every element.
    Same(u16),
    /// Index of that element.
    Index(Ty),
    /// A fetch from this array; elements of it from one to the next.
    Fetch { array: u16, stride: u32 },
    /// The same of an array that is read from its end, whose last element this parameter counts.
    Reversed { array: u16, stride: u32, last: u16 },
}

/// Makes leaf `k` of `n` elements one that can be read at another: in its place, or beside it, so that an element's own is read too.
pub(super) fn moved<B: Backend>(c: &mut Collector<B>, k: u16, n: u64, beside: bool) -> Result<Moved> {
    let at = usize::from(k);
    match (c.params[at], &c.leaves[at]) {
        (Param::Index(ty), _) => Ok(Moved::Index(ty)),
        (Param::Value(_), Leaf::Elements { raw, dtype, offset, stride }) if *stride != 0 && n > 0 => {
            let (step, dtype) = (stride.unsigned_abs(), *dtype);
            // Elements from the first to the last one.
            let span = (n - 1).saturating_mul(step).saturating_add(1);
            if span > MOST {
                return Err(Error::TooLarge { what: "elements that others are fetched from", requested: span, limit: MOST });
            }
            let reversed = *stride < 0;
            let first = if reversed { offset + 1 - span } else { *offset };
            let leaf = Leaf::Array { raw: raw.clone(), dtype, offset: first, len: span };
            let array = if beside { c.leaves.len() as u16 } else { k };
            if beside {
                c.params.push(Param::Array(dtype));
                c.leaves.push(leaf);
            } else {
                (c.params[at], c.leaves[at]) = (Param::Array(dtype), leaf);
            }
            let stride = step as u32;
            if !reversed {
                return Ok(Moved::Fetch { array, stride });
            }
            let last = c.leaves.len() as u16;
            scalar((span - 1) as u32).collect(c)?;
            Ok(Moved::Reversed { array, stride, last })
        }
        _ => Ok(Moved::Same(k)),
    }
}

/// The same of the first so many leaves; of those that are not `read` elsewhere it changes nothing.
pub(super) fn all_moved<B: Backend>(c: &mut Collector<B>, leaves: u16, n: u64, beside: bool, read: Option<&[bool]>) -> Result<Vec<Moved>> {
    let is_read = |k: u16| read.is_none_or(|read| read[usize::from(k)]);
    (0..leaves).map(|k| if is_read(k) { moved(c, k, n, beside) } else { Ok(Moved::Same(k)) }).collect()
}

/// The value of a parameter for element `i`.
pub(super) fn argument(params: &[Param], of: Moved, i: Expr<u32>) -> Value {
    argument_behind(params, of, i, 0)
}

/// The same of parameters whose places are behind those of so many others.
fn argument_behind(params: &[Param], of: Moved, i: Expr<u32>, first: u16) -> Value {
    let fetch = |array: u16, at: Expr<u32>| {
        graph::with(|g| {
            let id = g.id(at.value(), Ty::U32);
            g.fetch(first + array, id)
        })
    };
    let steps = |stride: u32| if stride == 1 { i } else { i * stride };
    match of {
        Moved::Same(k) => own_behind(params, k, first),
        Moved::Index(Ty::U64) => i.cast::<u64>().value(),
        Moved::Index(_) => i.value(),
        Moved::Fetch { array, stride } => fetch(array, steps(stride)),
        Moved::Reversed { array, stride, last } => fetch(array, <Expr<u32> as Traced>::params(first + last) - steps(stride)),
    }
}

/// The value of a parameter whose place is behind that of so many others.
pub(super) fn own_behind(params: &[Param], k: u16, before: u16) -> Value {
    match params[usize::from(k)] {
        // An array is none of an operator's values.
        Param::Array(_) => lit(0u32).value(),
        _ => graph::with(|g| g.param(before + k)),
    }
}

/// The values of the first so many parameters, whose places are behind those of `before` others.
pub(super) fn all_own(params: &[Param], count: u16, before: u16) -> Vec<Value> {
    (0..count).map(|k| own_behind(params, k, before)).collect()
}

/// The arguments of an operator for element `i`.
pub(super) fn arguments(params: &[Param], of: &[Moved], i: Expr<u32>) -> Vec<Value> {
    of.iter().map(|&of| argument(params, of, i)).collect()
}

/// The one result of an operator over these arguments, its arrays being numbered on from `before`.
pub(super) fn inlined<T: Scalar>(value: &Func, args: &[Value], before: u16) -> Expr<T> {
    Expr::from_value(inlined_value(value, args, before))
}

/// The same of whatever type it is.
fn inlined_value(value: &Func, args: &[Value], before: u16) -> Value {
    let zero = || graph::with(|g| g.constant(value.result_types().first().copied().unwrap_or(Ty::U32), 0));
    crate::ir::inline_behind(value, args, before).first().copied().unwrap_or_else(zero)
}

/// An operator over inputs that is computed for an element and for a neighbour. Its leaves come first, so that arrays keep their numbers.
pub(super) struct Neighbours<B: Backend> {
    pub(super) c: Collector<B>,
    value: Arc<Func>,
    before: Vec<Moved>,
    index: u16,
}

impl<B: Backend> Neighbours<B> {
    pub(super) fn new<I: Input<B>, R: Traced>(
        device: &B,
        pattern: &'static str,
        inputs: &I,
        f: impl FnOnce(I::Exprs) -> R,
    ) -> Result<Self> {
        let c = collect(device, pattern, inputs)?;
        let value = trace(inputs, &c, f)?;
        Self::of(c, value)
    }

    /// Wraps leaves that were collected, and the operator that was traced over them.
    pub(super) fn of(mut c: Collector<B>, value: Arc<Func>) -> Result<Self> {
        let n = c.len()?;
        let leaves = c.leaves.len() as u16;
        let before = all_moved(&mut c, leaves, n, true, None)?;
        let number = c.leaves.len() as u16;
        index().collect(&mut c)?;
        Ok(Self { c, value, before, index: number })
    }

    /// The type of what the operator gives.
    pub(super) fn ty(&self) -> Ty {
        self.value.result_types().first().copied().unwrap_or(Ty::U32)
    }

    /// An operator of what is before an element, of its own, and of its index; what is before the first one means nothing.
    pub(super) fn trace<T: Scalar, R: Traced>(&self, g: impl FnOnce(Expr<T>, Expr<T>, Expr<u32>) -> R) -> Result<Arc<Func>> {
        self.trace_values(|before, own, i| g(Expr::from_value(before), Expr::from_value(own), i))
    }

    /// The same of whatever [type](Self::ty) it is.
    pub(super) fn trace_values<R: Traced>(&self, g: impl FnOnce(Value, Value, Expr<u32>) -> R) -> Result<Arc<Func>> {
        let build = || {
            let (before, ours, i) = self.both(|i| i - 1);
            g(inlined_value(&self.value, &before, 0), inlined_value(&self.value, &ours, 0), i)
        };
        Ok(Arc::new(ir::pack(self.c.params.clone(), build)?))
    }

    /// The same of what is behind an element, which of the last one means nothing.
    pub(super) fn trace_right<T: Scalar, R: Traced>(&self, g: impl FnOnce(Expr<T>, Expr<T>, Expr<u32>) -> R) -> Result<Arc<Func>> {
        let build = || {
            let (behind, ours, i) = self.both(|i| i + 1);
            g(inlined(&self.value, &ours, 0), inlined(&self.value, &behind, 0), i)
        };
        Ok(Arc::new(ir::pack(self.c.params.clone(), build)?))
    }

    /// As [`Neighbours::trace`] of an operator of several results: all of an element's own, and the first of the one before.
    pub(super) fn trace_all<T: Scalar>(&self, g: impl FnOnce(Expr<T>, Vec<Value>, Expr<u32>) -> Vec<Value>) -> Result<Arc<Func>> {
        let build = || {
            let (before, ours, i) = self.both(|i| i - 1);
            g(inlined(&self.value, &before, 0), crate::ir::inline(&self.value, &ours), i)
        };
        Ok(Arc::new(graph::trace(self.c.params.clone(), build)?))
    }

    /// Result `k` of the operator for an element, where what this is called in is traced.
    pub(super) fn own<T: Scalar>(&self, k: usize) -> Expr<T> {
        let ours = self.ours();
        crate::ir::inline(&self.value, &ours).get(k).map_or_else(|| lit(T::from_bits64(0)), |&v| Expr::from_value(v))
    }

    /// The operator's arguments for another element and for its own, whose index is the third.
    fn both(&self, other: impl FnOnce(Expr<u32>) -> Expr<u32>) -> (Vec<Value>, Vec<Value>, Expr<u32>) {
        let i = <Expr<u32> as Traced>::params(self.index);
        let theirs = arguments(&self.c.params, &self.before, other(i));
        (theirs, self.ours(), i)
    }

    /// The operator's arguments for an element's own.
    fn ours(&self) -> Vec<Value> {
        all_own(&self.c.params, self.before.len() as u16, 0)
    }
}

/// An operator over inputs that is computed at any of their elements. Its leaves come first, and the elements that it is computed for have a number of
/// their own.
pub(super) struct Elsewhere<B: Backend> {
    pub(super) c: Collector<B>,
    value: Arc<Func>,
    moved: Vec<Moved>,
    /// Elements of the inputs.
    pub(super) len: u64,
}

impl<B: Backend> Elsewhere<B> {
    pub(super) fn new<I: Input<B>, R: Traced>(
        device: &B,
        pattern: &'static str,
        inputs: &I,
        f: impl FnOnce(I::Exprs) -> R,
    ) -> Result<Self> {
        let c = collect(device, pattern, inputs)?;
        let value = trace(inputs, &c, f)?;
        Self::of(device, pattern, c, value)
    }

    /// Wraps leaves that were collected, and the operator that was traced over them.
    pub(super) fn of(device: &B, pattern: &'static str, mut c: Collector<B>, value: Arc<Func>) -> Result<Self> {
        let len = c.len()?;
        if len > MOST {
            return Err(Error::TooLarge { what: "elements that others are fetched from", requested: len, limit: MOST });
        }
        if len == 0 {
            // Nothing can be read of it.
            c = Collector::new(device, pattern);
        }
        let leaves = c.leaves.len() as u16;
        let moved = all_moved(&mut c, leaves, len, false, None)?;
        c.forget_length();
        Ok(Self { c, value, moved, len })
    }

    /// Computes element `i`, which has to be one, over leaves with these parameters, of which its own are the first. Of no elements it is zeros.
    pub(super) fn results(&self, params: &[Param], i: Expr<u32>) -> Vec<Value> {
        if self.len == 0 {
            return self.zeros();
        }
        let args = arguments(params, &self.moved, i);
        crate::ir::inline(&self.value, &args)
    }

    /// The same where its leaves are behind `first` others.
    pub(super) fn results_behind(&self, first: u16, i: Expr<u32>) -> Vec<Value> {
        if self.len == 0 {
            return self.zeros();
        }
        let args: Vec<Value> = self.moved.iter().map(|&of| argument_behind(&self.c.params, of, i, first)).collect();
        crate::ir::inline_behind(&self.value, &args, first)
    }

    /// The same where element `i` is `there`, and zero elsewhere.
    pub(super) fn results_where(&self, params: &[Param], i: Expr<u32>, there: Expr<bool>) -> Vec<Value> {
        let of = |(value, ty): (Value, Ty)| {
            graph::with(|g| {
                let (there, value, none) = (g.id(there.value(), Ty::Bool), g.id(value, ty), g.constant(ty, 0));
                g.select(there, value, none)
            })
        };
        self.results(params, i).into_iter().zip(self.types()).map(of).collect()
    }

    /// A zero to each result: of no elements, no leaves are kept that the operator could be computed from.
    fn zeros(&self) -> Vec<Value> {
        self.types().into_iter().map(|ty| graph::with(|g| g.constant(ty, 0))).collect()
    }

    /// Tests whether its values are an array's elements, of which there are zeros beyond the last one.
    pub(super) fn is_stored(&self) -> bool {
        let &[result] = &self.value.results[..] else { return false };
        let Some(&Node::Param(k)) = self.value.nodes.get(result as usize) else { return false };
        matches!(self.moved.get(usize::from(k)), Some(Moved::Fetch { stride: 1, .. }))
    }

    /// The types of the results.
    pub(super) fn types(&self) -> Vec<Ty> {
        self.value.result_types()
    }
}
