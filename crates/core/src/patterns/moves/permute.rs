//! Permutations, and orders that depend on no data: reversal, rotation, and bytes in words.

use super::computed::Sources;
use super::enqueue::{
    self, MOST_SOURCES, check_indices, check_scatter, check_unique, enough, enough_bytes, gather_at, same_length, scatter_to,
};
use super::gather::{check_operand, gather};
use super::{IndexElement, Move, ScatterOp};
use crate::buffer::Buffer;
use crate::call::{ArrayCall, Arrays};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::{Lent, Narrow, Numbers, Outputs, Stored, TypedOutputs, Values, array, index};
use crate::ir::{ArrayExpr, Expr};
use crate::patterns::Map as _;
use crate::patterns::before::Elsewhere;
use crate::patterns::map::collect;
use crate::patterns::operand::Operand;
use bytemuck::Zeroable as _;

/// A permutation: elements, and their order.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Permuting<V, H> {
    pub(super) x: V,
    pub(super) order: H,
    pub(super) inverse: bool,
    pub(super) checked: bool,
}

/// A call of [`Move::permute`].
pub type PermuteCall<'d, B, V, H> = ArrayCall<'d, B, Permuting<V, H>>;

impl<B, V, H> PermuteCall<'_, B, V, H> {
    /// Takes the inverse: element `order[i]` of the result is `x[i]`. For permutations; other indices leave zero bits where none points.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, order) = (dev.upload(&[10u32, 20, 30])?, dev.upload(&[2u32, 0, 1])?);
    /// let there = dev.permute(&x, &order).run()?;
    /// assert_eq!(dev.permute(&there, &order).inverse().run()?.read_blocking()?, [10, 20, 30]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn inverse(self) -> Self {
        self.with(|what| what.inverse = true)
    }

    /// Checks the order first, which waits for the device: one that is no permutation is an error, and nothing was written. Work is a pass over the indices
    /// more and two over the elements, with four bytes of scratch each.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[10u32, 20, 30])?;
    /// assert_eq!(dev.permute(&x, &dev.upload(&[2u32, 0, 1])?).checked().run()?.read_blocking()?, [30, 10, 20]);
    /// let error = dev.permute(&x, &dev.upload(&[2u32, 0, 2])?).inverse().checked().run().unwrap_err();
    /// assert!(matches!(error, isowarp::Error::DuplicateIndex { position: 2, index: 2, .. }));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn checked(self) -> Self {
        self.with(|what| what.checked = true)
    }
}

impl<V, H> Permuting<V, H> {
    fn pattern(&self) -> &'static str {
        if self.inverse { "permute_inverse" } else { "permute" }
    }

    /// Arrays as they are.
    fn write_plain<B: Move, T: Element, I: IndexElement>(
        &self,
        device: &B,
        (x, order): (&Buffer<B, T>, &Buffer<B, I>),
        out: &Buffer<B, T>,
    ) -> Result<()> {
        let (n, pattern) = (x.len(), self.pattern());
        if self.checked {
            enough(out, n)?;
            same_length(n, order.len())?;
            check_count(n)?;
            check_indices(device, pattern, order, n)?;
            check_unique(device, pattern, order, n)?;
        }
        if !self.inverse {
            same_length(n, order.len())?;
            return gather_at(device, x, order, out);
        }
        enough(out, n)?;
        let out = out.slice(..n)?;
        check_scatter(device, pattern, x, order, &out)?;
        device.fill(&out, T::zeroed())?;
        scatter_to(device, Some(x), order, &out, ScatterOp::Store)
    }
}

/// Positions are numbered by a word.
fn check_count(n: u64) -> Result<()> {
    if n > MOST_SOURCES {
        return Err(Error::TooLarge { what: "elements of a permutation", requested: n, limit: MOST_SOURCES });
    }
    Ok(())
}

impl<B: Move, V: Values<B, Out: Stored>, H: Numbers<B, Element: IndexElement>> Arrays<B> for Permuting<V, H> {
    type Out = V::Out;

    fn elements(&self, device: &B) -> Result<u64> {
        collect(device, "permute", &self.x)?.len()
    }

    fn write(&self, device: &B, out: <V::Out as Outputs>::Refs<'_, B>) -> Result<()> {
        let (pattern, target) = (self.pattern(), V::Out::first(out));
        if let (Some(x), Some(order)) = (self.x.plain(), self.order.plain()) {
            return self.write_plain(device, (x, order), target);
        }
        let n = collect(device, pattern, &self.x)?.len()?;
        let order = Operand::<B, <H::Element as Element>::Reg>::traced(device, pattern, &self.order, |at| at)?;
        same_length(n, order.len()?)?;
        let check = || {
            enough(target, n)?;
            check_count(n)?;
            check_operand(device, pattern, &order, n)?;
            if n == 0 {
                return Ok(());
            }
            Sources::<B, <H::Element as Element>::Reg, u32>::new(device, pattern, &(&order, index()), |pair| pair)?.check_unique(device, n)
        };
        if !self.inverse {
            let values = Elsewhere::new(device, pattern, &self.x, V::out)?;
            return gather::<B, V::Out, _>(device, values, &order, out, &|| if self.checked { check() } else { Ok(()) });
        }
        enough(target, n)?;
        let target = target.slice(..n)?;
        let inputs = (&order, Lent(&self.x));
        type Reg<T> = <T as Element>::Reg;
        let sources =
            Sources::<B, Reg<H::Element>, Reg<<V::Out as TypedOutputs>::First>>::new(device, pattern, &inputs, |(at, x)| (at, V::out(x)))?;
        let something = sources.check(device, &target)?;
        if self.checked {
            check()?;
        }
        if !something {
            return Ok(());
        }
        sources.store(device, &target, Some(<V::Out as TypedOutputs>::First::zeroed()))
    }
}

/// The elements of a buffer from last to first.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Reversing<'a, B: crate::backend::Backend, T>(pub(super) &'a Buffer<B, T>);

impl<B: Move, T: Element> Arrays<B> for Reversing<'_, B, T> {
    type Out = Narrow<T>;

    fn elements(&self, _: &B) -> Result<u64> {
        Ok(self.0.len())
    }

    fn write(&self, device: &B, out: &Buffer<B, T>) -> Result<()> {
        enqueue::reverse(device, self.0, out)
    }
}

/// The elements of a buffer moved up by so many places.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Rotating<'a, B: crate::backend::Backend, T>(pub(super) &'a Buffer<B, T>, pub(super) i64);

impl<B: Move, T: Element> Arrays<B> for Rotating<'_, B, T> {
    type Out = Narrow<T>;

    fn elements(&self, _: &B) -> Result<u64> {
        Ok(self.0.len())
    }

    fn write(&self, device: &B, out: &Buffer<B, T>) -> Result<()> {
        enqueue::rotate(device, self.0, self.1, out)
    }
}

/// Bytes of elements in words.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Packing<'a, B: crate::backend::Backend>(pub(super) &'a Buffer<B, u32>);

impl<B: Move> Arrays<B> for Packing<'_, B> {
    type Out = Expr<u32>;

    fn elements(&self, _: &B) -> Result<u64> {
        Ok(self.0.len().div_ceil(4))
    }

    fn write(&self, device: &B, out: &Buffer<B, u32>) -> Result<()> {
        let (requested, limit) = (self.0.len(), 1 << 32);
        if requested > limit {
            return Err(Error::TooLarge { what: "bytes that are packed", requested, limit });
        }
        let word = |(x, i): (ArrayExpr<u32>, Expr<u32>)| {
            let byte = |k: u32| (x.at(i * 4 + k) & 0xFFu32) << (8 * k);
            byte(0) | byte(1) | byte(2) | byte(3)
        };
        device.generate_into(self.0.len().div_ceil(4), (array(self.0), index()), word, out)
    }
}

/// The first bytes of words as elements.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Unpacking<'a, B: crate::backend::Backend>(pub(super) &'a Buffer<B, u32>, pub(super) u64);

impl<B: Move> Arrays<B> for Unpacking<'_, B> {
    type Out = Expr<u32>;

    fn elements(&self, _: &B) -> Result<u64> {
        enough_bytes(self.0, self.1)?;
        Ok(self.1)
    }

    fn write(&self, device: &B, out: &Buffer<B, u32>) -> Result<()> {
        enough_bytes(self.0, self.1)?;
        device.generate_into(self.1, (array(self.0), index()), |(w, i)| (w.at(i / 4) >> ((i % 4) * 8)) & 0xFFu32, out)
    }
}
