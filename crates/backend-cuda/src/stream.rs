//! Streams and events.

use crate::device::{Device, Slot, Timing};
use crate::driver::check;
use crate::module::Kernel;
use crate::patterns::Scratch;
use crate::queue::Queue;
use cudarc::driver::sys::{self, CUevent, CUresult, CUstream};
use isowarp_core::error::{Error, Result};
use parking_lot::{ReentrantMutex, ReentrantMutexGuard};
use std::sync::Arc;

/// A queue of work on a device. Cheap to clone; clones are the same queue.
#[derive(Debug, Clone)]
pub struct Stream(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    device: Arc<Device>,
    raw: CUstream,
    queue: Arc<Queue>,
    slot: usize,
    /// Kernels' scratch, one set a stream since its contents carry over from launch to launch.
    scratch: Scratch,
    /// Held by the thread that enqueues a pattern: its launches share the scratch, and no other's may stand between them.
    turn: ReentrantMutex<()>,
    /// Whether the stream goes back to the device when the last handle is dropped.
    owned: bool,
}

// SAFETY: a CUstream is a handle that the driver lets any thread enqueue on; the struct is immutable.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Stream {
    pub(crate) fn new(device: &Arc<Device>) -> Result<Self> {
        Ok(Self::of_slot(device, device.take_stream()?, true))
    }

    fn of_slot(device: &Arc<Device>, (slot, Slot { raw, queue }): (usize, Slot), owned: bool) -> Self {
        let (device, scratch, turn) = (Arc::clone(device), Scratch::default(), ReentrantMutex::new(()));
        Self(Arc::new(Inner { device, raw, queue, slot, scratch, turn, owned }))
    }

    /// Wraps a stream of the application.
    ///
    /// # Safety
    /// `raw` is a live stream of the device's context, and stays so until the last clone of the result is dropped.
    pub(crate) unsafe fn adopt(device: &Arc<Device>, raw: CUstream) -> Self {
        Self::of_slot(device, device.register_stream(raw), false)
    }

    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.0.device
    }

    pub(crate) fn slot(&self) -> usize {
        self.0.slot
    }

    /// The kernels' scratch, for the thread whose [`turn`](Self::turn) it is.
    pub(crate) fn scratch(&self) -> &Scratch {
        &self.0.scratch
    }

    /// Waits until no other thread enqueues a pattern.
    pub(crate) fn turn(&self) -> ReentrantMutexGuard<'_, ()> {
        self.0.turn.lock()
    }

    /// The driver's handle, for other CUDA libraries. It stays valid as long as a handle on this stream lives.
    #[must_use]
    pub fn raw(&self) -> CUstream {
        self.0.device.share();
        self.0.raw
    }

    /// The driver's handle, for memory that is allocated and not used yet.
    pub(crate) fn raw_as_it_is(&self) -> CUstream {
        self.0.raw
    }

    /// The driver's handle, with nothing that waits. The context is current.
    #[inline]
    pub(crate) fn ready(&self) -> Result<CUstream> {
        self.0.queue.drain(self.0.raw)?;
        Ok(self.0.raw)
    }

    /// Whether a launch of this kernel has to wait.
    #[inline]
    pub(crate) fn waits_for(&self, kernel: &Kernel) -> bool {
        !self.0.queue.is_empty() || !kernel.is_ready()
    }

    /// Runs a command on the stream behind what waits, at once or later. The context is current.
    pub(crate) fn enqueue(&self, run: impl FnOnce(CUstream) -> Result<()> + Send + 'static) -> Result<()> {
        let queue = &self.0.queue;
        if queue.is_empty() { run(self.0.raw).inspect_err(|_| queue.count_failure()) } else { queue.push(self.0.raw, None, run) }
    }

    /// Runs the launch of a kernel likewise, when the kernel is there.
    pub(crate) fn enqueue_launch(&self, kernel: &Kernel, run: impl FnOnce(CUstream) -> Result<()> + Send + 'static) -> Result<()> {
        let queue = &self.0.queue;
        if self.0.device.may_wait() {
            queue.push(self.0.raw, Some(kernel.clone()), run)?;
            // Another thread may have handed out a handle since.
            return if self.0.device.may_wait() { Ok(()) } else { queue.drain(self.0.raw) };
        }
        queue.drain(self.0.raw)?;
        run(self.0.raw).inspect_err(|_| queue.count_failure())
    }

    /// Commands of the stream that failed.
    pub(crate) fn failures(&self) -> u64 {
        self.0.queue.failures()
    }

    /// Waits until everything that was enqueued is done.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] when a kernel failed.
    pub fn synchronize(&self) -> Result<()> {
        self.0.device.bind()?;
        let raw = self.ready()?;
        // SAFETY: the stream is live and its context is current.
        check("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(raw) })
    }

    /// Marks the present end of the stream.
    ///
    /// # Errors
    /// [`Error::Driver`] when the driver refuses.
    pub fn record(&self) -> Result<Event> {
        self.record_as(Timing::Off)
    }

    /// Marks the present end of the stream with a time (see [`Event::seconds_since`]).
    ///
    /// # Errors
    /// [`Error::Driver`] when the driver refuses.
    pub fn record_time(&self) -> Result<Event> {
        self.record_as(Timing::On)
    }

    fn record_as(&self, timing: Timing) -> Result<Event> {
        let device = &self.0.device;
        device.bind()?;
        let event = Event(Arc::new(EventInner { raw: device.take_event(timing)?, timing, device: Arc::clone(device) }));
        let raw = self.ready()?;
        // SAFETY: stream and event are live handles of the current context.
        check("cuEventRecord", unsafe { sys::cuEventRecord(event.0.raw, raw) })?;
        Ok(event)
    }

    /// Makes everything that is enqueued from now on wait for `event`.
    ///
    /// # Errors
    /// [`Error::Driver`] when the driver refuses.
    pub fn wait(&self, event: &Event) -> Result<()> {
        self.0.device.bind()?;
        let raw = self.ready()?;
        // SAFETY: stream and event are live; the driver allows an event of another device here.
        check("cuStreamWaitEvent", unsafe { sys::cuStreamWaitEvent(raw, event.0.raw, 0) })
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.owned {
            self.device.give_stream(self.slot);
        } else {
            // Fails only when the context is lost, and then nothing is enqueued on the slot any more.
            let _ = self.device.replace_stream(self.slot, self.raw);
        }
    }
}

/// A mark on a stream.
#[derive(Debug, Clone)]
pub struct Event(Arc<EventInner>);

#[derive(Debug)]
struct EventInner {
    raw: CUevent,
    timing: Timing,
    device: Arc<Device>,
}

// SAFETY: a CUevent is a handle that the driver lets any thread use; the struct is immutable.
unsafe impl Send for EventInner {}
// SAFETY: as above.
unsafe impl Sync for EventInner {}

impl Event {
    /// The driver's handle, for other CUDA libraries.
    #[must_use]
    pub fn raw(&self) -> CUevent {
        self.0.raw
    }

    /// Whether the device has passed the mark.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] when a kernel before it failed.
    pub fn is_done(&self) -> Result<bool> {
        self.0.device.bind()?;
        // SAFETY: the event is live and was recorded when it was made.
        match unsafe { sys::cuEventQuery(self.0.raw) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            status => check("cuEventQuery", status).map(|()| true),
        }
    }

    /// Waits until the device has passed the mark.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] when a kernel before it failed.
    pub fn synchronize(&self) -> Result<()> {
        self.0.device.bind()?;
        // SAFETY: the event is live.
        check("cuEventSynchronize", unsafe { sys::cuEventSynchronize(self.0.raw) })
    }

    /// Device time from `start` to this mark. Both come from [`Stream::record_time`]; waits for this one.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] when one of them carries no time.
    pub fn seconds_since(&self, start: &Self) -> Result<f64> {
        if self.0.timing == Timing::Off || start.0.timing == Timing::Off {
            return Err(Error::InvalidArgument { what: "event", reason: "it was recorded without a time; use `record_time`".to_owned() });
        }
        start.synchronize()?;
        self.synchronize()?;
        let mut milliseconds = 0f32;
        // SAFETY: both events are live, recorded and done.
        let status = unsafe { sys::cuEventElapsedTime(&raw mut milliseconds, start.0.raw, self.0.raw) };
        check("cuEventElapsedTime", status)?;
        Ok(f64::from(milliseconds) * 1e-3)
    }
}

impl Drop for EventInner {
    fn drop(&mut self) {
        self.device.give_event(self.raw, self.timing);
    }
}
