//! Domains: the elements that a call takes together.

use super::{Accumulate, Described, Finish};
use crate::backend::Backend;
use crate::buffer::{Buffer, DeviceScalar};
use crate::error::Result;
use crate::input::{Input, Outputs};
use crate::ir::Accumulator;

/// Elements that verb `V` takes together on device `B`, and the form of its results.
pub trait Domain<V, B: Backend> {
    /// Results in new memory.
    type New<R: Outputs>;
    /// The caller's buffers.
    type Refs<'a, R: Outputs>;

    /// Checks and enqueues the call, into new memory.
    #[doc(hidden)]
    fn run<I, O, F>(&self, call: &Described<'_, B, I, O, F>) -> Result<Self::New<F::Out>>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>;

    /// Checks and enqueues the call, into the caller's buffers.
    #[doc(hidden)]
    fn write<I, O, F>(&self, call: &Described<'_, B, I, O, F>, out: Self::Refs<'_, F::Out>) -> Result<()>
    where
        I: Input<B, Exprs: Accumulator>,
        O: Accumulate<I::Exprs>,
        F: Finish<I::Exprs>;
}

/// All elements, as one line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whole;

/// The lines along an axis of a row-major array.
#[derive(Clone, Debug)]
pub struct Along {
    pub(crate) shape: Vec<u64>,
    pub(crate) axis: usize,
}

/// Segments that start where flags are not zero.
#[derive(Clone, Debug)]
pub struct Flags<H>(pub(crate) H);

/// Runs of equal neighbours among keys.
#[derive(Clone, Debug)]
pub struct Keys<K>(pub(crate) K);

/// Segments that offsets bound, one more of these than there are segments.
#[derive(Debug)]
pub struct Offsets<'a, B: Backend, T>(pub(crate) &'a Buffer<B, T>);

/// The first elements, as many as a number on the device says.
#[derive(Debug)]
pub struct Counted<'a, B: Backend, C>(pub(crate) &'a DeviceScalar<B, C>);

/// Runs of equal neighbours among the first keys, as many as a number on the device says.
#[derive(Clone, Debug)]
pub struct CountedKeys<'a, B: Backend, K> {
    pub(crate) keys: Keys<K>,
    pub(crate) length: &'a DeviceScalar<B, u32>,
}

/// Domains whose operands are checked first; see the modifier `checked`.
#[derive(Clone, Copy, Debug)]
pub struct Checked<P>(pub(crate) P);
