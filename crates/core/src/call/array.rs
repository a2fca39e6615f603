//! Calls whose results are arrays, as many elements of each as the inputs say: moves by index, layouts, groups.

use crate::backend::Backend;
use crate::error::Result;
use crate::input::Outputs;
use core::fmt;

/// Computation of an [`ArrayCall`].
pub trait Arrays<B: Backend> {
    /// The arrays.
    type Out: Outputs;

    /// Elements of each.
    #[doc(hidden)]
    fn elements(&self, device: &B) -> Result<u64>;

    /// Checks and enqueues the call.
    #[doc(hidden)]
    fn write(&self, device: &B, out: <Self::Out as Outputs>::Refs<'_, B>) -> Result<()>;
}

/// A call that is described: [`run`](Self::run) and [`write_to`](Self::write_to) enqueue it. Its modifiers depend on the verb.
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let (x, at) = (dev.upload(&[10u32, 20, 30])?, dev.upload(&[2u32, 0])?);
/// assert_eq!(dev.gather(&x, &at).checked().run()?.read_blocking()?, [30, 10]);
/// let out = dev.buffer(2)?;
/// dev.gather(x.map(|x| x + 1), &at).write_to(&out)?;
/// assert_eq!(out.read_blocking()?, [31, 11]);
/// # Ok::<(), isowarp::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct ArrayCall<'d, B, W> {
    pub(crate) device: &'d B,
    pub(crate) what: W,
}

impl<B, W> fmt::Debug for ArrayCall<'_, B, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrayCall").field("what", &core::any::type_name::<W>()).finish_non_exhaustive()
    }
}

impl<'d, B, W> ArrayCall<'d, B, W> {
    pub(crate) fn new(device: &'d B, what: W) -> Self {
        Self { device, what }
    }

    /// The same with a modifier.
    pub(crate) fn with(mut self, modify: impl FnOnce(&mut W)) -> Self {
        modify(&mut self.what);
        self
    }
}

impl<B: Backend, W: Arrays<B>> ArrayCall<'_, B, W> {
    /// Enqueues the call into new memory, which it returns.
    ///
    /// # Errors
    /// Errors of the verb; [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn run(self) -> Result<<W::Out as Outputs>::Buffers<B>> {
        let out = W::Out::allocate(self.device, self.what.elements(self.device)?)?;
        self.what.write(self.device, W::Out::refs(&out))?;
        Ok(out)
    }

    /// Enqueues the call into the caller's memory. What is after the results there stays.
    ///
    /// # Errors
    /// Errors of the verb; [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::WrongDevice`](crate::Error::WrongDevice),
    /// [`Error::Aliasing`](crate::Error::Aliasing).
    pub fn write_to(self, out: <W::Out as Outputs>::Refs<'_, B>) -> Result<()> {
        self.what.write(self.device, out)
    }
}
