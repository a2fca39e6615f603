//! A stream that waits for the host: what is enqueued meanwhile begins together, so that a clock on the device does not see the host's pace.

use crate::driver::check;
use crate::stream::Stream;
use cudarc::driver::sys::{self, CUresult, CUstream};
use isowarp_core::error::Result;
use parking_lot::{Condvar, Mutex};
use std::ffi::c_void;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Holds a stream until it is dropped; see [`Stream::hold`].
#[derive(Debug)]
#[must_use = "the stream goes on once this is dropped"]
pub struct Hold(Arc<Gate>);

#[derive(Debug)]
struct Gate {
    open: Mutex<bool>,
    changed: Condvar,
    at_most: Duration,
}

impl Stream {
    /// Keeps the device from what is enqueued from now on until the result is dropped, but no longer than `at_most` once the stream has come here.
    ///
    /// A driver's queue is finite: where it is full, enqueueing waits too, until the time is up. So a few hundred launches at a time.
    ///
    /// # Errors
    /// [`Error::Driver`](isowarp_core::error::Error::Driver) when the driver refuses.
    pub fn hold(&self, at_most: Duration) -> Result<Hold> {
        self.device().bind()?;
        let raw = self.ready()?;
        let gate = Arc::new(Gate { open: Mutex::new(false), changed: Condvar::new(), at_most });
        let data = Arc::into_raw(Arc::clone(&gate)).cast_mut().cast();
        // SAFETY: the stream is live; `wait` takes over the reference in `data` and is called once.
        let status = unsafe { sys::cuStreamAddCallback(raw, Some(wait), data, 0) };
        if let Err(error) = check("cuStreamAddCallback", status) {
            // SAFETY: the callback was refused, so the reference is still ours.
            drop(unsafe { Arc::from_raw(data.cast::<Gate>().cast_const()) });
            return Err(error);
        }
        Ok(Hold(gate))
    }
}

/// Called by a thread of the driver, on which the stream waits.
unsafe extern "C" fn wait(_stream: CUstream, _status: CUresult, data: *mut c_void) {
    // SAFETY: `data` is the reference that `Stream::hold` gave away.
    let gate = unsafe { Arc::from_raw(data.cast::<Gate>().cast_const()) };
    let end = Instant::now() + gate.at_most;
    let mut open = gate.open.lock();
    while !*open && !gate.changed.wait_until(&mut open, end).timed_out() {}
}

impl Drop for Hold {
    fn drop(&mut self) {
        *self.0.open.lock() = true;
        self.0.changed.notify_all();
    }
}
