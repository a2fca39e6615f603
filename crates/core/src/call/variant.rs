//! Variants: other ways to carry out what a call describes than the pattern's own.

use crate::backend::{Backend, Leaf, Out};
use crate::error::Result;

/// A way to carry out tasks: an algorithm of a textbook, or one of yours. The modifier `variant` of reductions, scans, histograms, sorts, merges and products
/// takes it. The call is checked as the pattern's own is, and its task, with the operands, goes to the variant.
///
/// ```
/// use isowarp::backend::{Leaf, Out, Run};
/// use isowarp::call::Variant;
/// use isowarp::patterns::ReduceTask;
/// use isowarp::prelude::*;
///
/// /// The pattern, of a thousand elements at most.
/// struct Short;
/// impl<B: Run<ReduceTask>> Variant<B, ReduceTask> for Short {
///     fn run(&self, device: &B, task: &ReduceTask, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> isowarp::Result<()> {
///         if task.lines.n > 1000 {
///             return Err(isowarp::Error::TooLarge { what: "elements", requested: task.lines.n, limit: 1000 });
///         }
///         device.run(task, leaves, outs)
///     }
/// }
///
/// let dev = isowarp::Cpu::new();
/// assert_eq!(dev.reduce(&dev.upload(&[1u32, 2, 3])?, Sum).variant(Short).run()?.read_blocking()?, 6);
/// assert!(dev.reduce(counting(2000), Sum).variant(Short).run().is_err());
/// # Ok::<(), isowarp::Error>(())
/// ```
pub trait Variant<B: Backend, Task> {
    /// Enqueues the task. It has at least one element.
    ///
    /// # Errors
    /// The variant's own, before anything is enqueued, for a task that it does not take; the device's.
    fn run(&self, device: &B, task: &Task, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()>;
}

impl<B: Backend, Task, V: Variant<B, Task> + ?Sized> Variant<B, Task> for &V {
    fn run(&self, device: &B, task: &Task, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        (**self).run(device, task, leaves, outs)
    }
}

/// All elements, as one line, by a [`Variant`].
#[derive(Clone, Copy, Debug)]
pub struct ByVariant<P>(pub(crate) P);

/// Has a variant enqueue a task.
pub(crate) fn run_variant<B: Backend, Task, V: Variant<B, Task> + ?Sized>(
    variant: &V,
    device: &B,
    task: &Task,
    (leaves, outs): (&[Leaf<B::Raw>], &[Out<B::Raw>]),
) -> Result<()> {
    device.uninterrupted(|| variant.run(device, task, leaves, outs))
}
