//! The interface between the patterns and the devices that run them.
//!
//! A device handle is a device *and* a stream: everything that is asked of one handle happens in the order it was asked.
//! Handles are cheap to clone and may be used from several threads.

use crate::caps::{Caps, Numerics};
use crate::element::DType;
use crate::error::Result;
use std::future::Future;
use std::pin::Pin;

/// An untyped piece of device memory: a cheap-to-clone handle, freed when the last one goes and the device is done with it.
pub trait RawBuffer: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// Size in bytes.
    fn size_bytes(&self) -> u64;
    /// Whether two handles stand for the same memory.
    fn same(&self, other: &Self) -> bool;
}

/// The future of a read-back: the bytes, once the device has got there.
pub type ReadFuture = Pin<Box<dyn Future<Output = Result<Vec<u8>>> + Send>>;

/// Memory that a device holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryUsage {
    /// Bytes that buffers have.
    pub live_bytes: u64,
    /// Bytes that no buffer has any more: kept for reuse, or not released yet.
    pub pool_bytes: u64,
    /// The most of these, unless [`Backend::set_pool_limit`] says otherwise.
    pub pool_limit_bytes: u64,
}

/// A device (with the stream that this handle enqueues on).
pub trait Backend: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// Its memory.
    type Raw: RawBuffer;
    /// A mark on a stream (see [`Backend::record`]).
    type Event: Clone + Send + Sync + 'static;

    /// Returns the capabilities of the device.
    fn caps(&self) -> &Caps;

    /// Returns the arithmetic of this handle's patterns: strict unless asked otherwise.
    fn numerics(&self) -> Numerics;

    /// A handle on the same device and stream that computes as asked.
    #[must_use]
    fn with_numerics(&self, numerics: Numerics) -> Self;

    /// Whether two handles stand for the same device.
    fn same_device(&self, other: &Self) -> bool;

    /// Returns the memory that the device holds, for all of its handles together.
    fn memory_usage(&self) -> MemoryUsage;

    /// Sets how much memory that no buffer has any more the device may hold, for reuse or until it is released. With 0 it keeps none. New memory
    /// waits for the device where more has been freed than this.
    fn set_pool_limit(&self, bytes: u64) -> Result<()>;

    /// Reserves memory; its contents are undefined. Zero bytes are allowed.
    fn allocate_bytes(&self, bytes: u64) -> Result<Self::Raw>;

    /// Writes host bytes into device memory, in stream order, at any offset and of any length; the bytes beside them stay as they are.
    fn write_bytes(&self, dst: &Self::Raw, offset_bytes: u64, data: &[u8]) -> Result<()>;

    /// Reads device memory back, in stream order, without blocking the caller.
    fn read_bytes(&self, src: &Self::Raw, offset_bytes: u64, len_bytes: u64) -> ReadFuture;

    /// Reads device memory back and waits for it.
    fn read_bytes_blocking(&self, src: &Self::Raw, offset_bytes: u64, len_bytes: u64) -> Result<Vec<u8>>;

    /// Copies bytes between two places of device memory that do not overlap, in stream order.
    fn copy_bytes(&self, src: &Self::Raw, src_offset_bytes: u64, dst: &Self::Raw, dst_offset_bytes: u64, len_bytes: u64) -> Result<()>;

    /// Does work that enqueues several launches which share scratch of the stream, while no other thread does such work on it. Patterns and variants are run in
    /// it; a plan of your own that launches more than one kernel over [`Launcher::scratch`](crate::launch::Launcher::scratch) has to be, where threads share a
    /// handle. Calls nest.
    fn uninterrupted<R>(&self, work: impl FnOnce() -> R) -> R {
        work()
    }

    /// Waits until the device has done everything that was enqueued on this handle's stream.
    fn synchronize(&self) -> Result<()>;

    /// A handle on a new stream of the same device. A backend with one queue returns a handle on that queue: stream order then
    /// holds between all handles, which is stricter than asked.
    fn new_stream(&self) -> Result<Self>;

    /// Marks the present end of the stream.
    fn record(&self) -> Result<Self::Event>;

    /// Makes everything that is enqueued on this stream from now on wait for the mark (possibly of another stream).
    fn wait(&self, event: &Self::Event) -> Result<()>;

    /// Runs `work` and returns how long the device took over what it enqueued, in seconds, or `None` where it has no clock.
    /// Waits for the device.
    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<Option<f64>>;
}

/// One buffer (or value) that a kernel reads: a leaf of the expression that is the pattern's input.
#[derive(Clone, Debug)]
pub enum Leaf<R> {
    /// Element `offset + i * stride` of a buffer is the value at index `i`. Stride 0 broadcasts.
    Elements {
        /// The memory.
        raw: R,
        /// Its element type.
        dtype: DType,
        /// First element.
        offset: u64,
        /// Elements from one index to the next.
        stride: i64,
    },
    /// A buffer that the operator fetches from at indices it computes; outside `0..len` it reads zero.
    Array {
        /// The memory.
        raw: R,
        /// Its element type.
        dtype: DType,
        /// First element.
        offset: u64,
        /// Elements that may be fetched.
        len: u64,
    },
    /// A value given by the host: the same at every index, and no part of the kernel's identity.
    Value {
        /// Its bits, zero-extended.
        bits: u64,
    },
}

impl<R: RawBuffer> Leaf<R> {
    /// The place among `leaves` of the elements that are this array's at the same indices, if there is one: an operator that was given its own
    /// element has the neighbours that its group of elements was given. The array holds all `n` of the task, and 32 bits number them. Narrower types than
    /// words are widened by what they are, so they are the same.
    #[must_use]
    pub fn twin(&self, leaves: &[Self], n: u64) -> Option<u8> {
        let Self::Array { raw, dtype, offset, len } = self else { return None };
        if *len < n || n > 1 << 32 {
            return None;
        }
        let is = |leaf: &Self| {
            matches!(leaf, Self::Elements { raw: of, dtype: as_, offset: at, stride: 1 }
                if of.same(raw) && at == offset && (as_ == dtype || as_.size_bytes() == dtype.size_bytes() && as_.size_bytes() >= 4))
        };
        leaves.iter().position(is).and_then(|leaf| u8::try_from(leaf).ok())
    }
}

/// One buffer that a kernel writes: contiguous elements from `offset` on.
#[derive(Clone, Debug)]
pub struct Out<R> {
    /// The memory.
    pub raw: R,
    /// Its element type.
    pub dtype: DType,
    /// First element.
    pub offset: u64,
}

/// The buffers of outputs without their lengths, which were checked.
pub(crate) fn places<R>(outs: Vec<(Out<R>, u64)>) -> Vec<Out<R>> {
    outs.into_iter().map(|(out, _)| out).collect()
}

/// Two outputs, either of which may be absent, that have room for as many elements.
pub(crate) fn both_of<R>(first: Option<Out<R>>, second: Option<Out<R>>, len: u64) -> Vec<(Out<R>, u64)> {
    first.into_iter().chain(second).map(|out| (out, len)).collect()
}

/// A backend that can carry out pattern tasks of type `Task` (`MapTask`, `ReduceTask`, ...): pure data plus buffers.
///
/// The typed pattern traits check their arguments and then call this, so an implementation may rely on: lengths agree, views are
/// inside their buffers, the element types are supported, outputs do not alias inputs where the pattern forbids it.
pub trait Run<Task>: Backend {
    /// Enqueues the task.
    fn run(&self, task: &Task, leaves: &[Leaf<Self::Raw>], outs: &[Out<Self::Raw>]) -> Result<()>;
}
