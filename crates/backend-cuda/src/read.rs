//! Reading back without blocking: a future that the driver wakes.

use crate::device::Device;
use crate::driver::{check, error};
use crate::memory::Buffer;
use crate::pinned::{Mark, Pinned};
use crate::stream::Stream;
use crate::transfer::{self, host_len, read_into};
use cudarc::driver::sys::{self, CUresult, CUstream};
use isowarp_core::backend::ReadFuture;
use isowarp_core::error::Result;
use parking_lot::Mutex;
use std::ffi::c_void;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Enqueues a read of `len` bytes and returns the future of its bytes.
pub(crate) fn read(stream: &Stream, src: &Buffer, offset: u64, len: u64) -> ReadFuture {
    if len == 0 {
        return Box::pin(ready(transfer::read_blocking(stream, src, offset, 0)));
    }
    match Pending::start(stream, src, offset, len) {
        Ok(Some(pending)) => Box::pin(pending),
        // No page-locked memory of that size: slower, but it answers.
        Ok(None) => Box::pin(ready(transfer::read_blocking(stream, src, offset, len))),
        Err(error) => Box::pin(ready(Err(error))),
    }
}

struct Pending {
    copy: Option<(Mark, Pinned)>,
    len: usize,
    shared: Arc<Shared>,
    device: Arc<Device>,
}

/// Shared state of the future and the driver's callback.
#[derive(Default)]
struct Shared(Mutex<State>);

#[derive(Default)]
struct State {
    status: Option<CUresult>,
    waker: Option<Waker>,
}

impl Pending {
    fn start(stream: &Stream, src: &Buffer, offset: u64, len: u64) -> Result<Option<Self>> {
        let from = src.span_on(stream, "source", offset, len)?;
        let device = stream.device();
        device.bind()?;
        let len = host_len(len)?;
        // Errors of what waits are told once, and so by whoever hears them.
        stream.ready()?;
        let Ok(piece) = device.pinned.take(device, len) else {
            return Ok(None);
        };
        let (mark, piece) = read_into(stream, from, len, piece)?;
        let raw = stream.ready()?;
        let pending = Self { copy: Some((mark, piece)), len, shared: Arc::default(), device: Arc::clone(device) };
        let data = Arc::into_raw(Arc::clone(&pending.shared)).cast_mut().cast();
        // Not cuLaunchHostFunc: that one is not called after a fault, and the future would never end.
        // SAFETY: the stream is live; `done` takes over the reference in `data` and is called once.
        let status = unsafe { sys::cuStreamAddCallback(raw, Some(done), data, 0) };
        if let Err(error) = check("cuStreamAddCallback", status) {
            // SAFETY: the callback was refused, so the reference is still ours.
            drop(unsafe { Arc::from_raw(data.cast::<Shared>().cast_const()) });
            return Err(error);
        }
        Ok(Some(pending))
    }
}

/// Called by a thread of the driver, which must not call CUDA: it only passes the word on.
unsafe extern "C" fn done(_stream: CUstream, status: CUresult, data: *mut c_void) {
    // SAFETY: `data` is the reference that `Pending::start` gave away.
    let shared = unsafe { Arc::from_raw(data.cast::<Shared>().cast_const()) };
    let waker = {
        let mut state = shared.0.lock();
        state.status = Some(status);
        state.waker.take()
    };
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl Future for Pending {
    type Output = Result<Vec<u8>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let status = {
            let mut state = self.shared.0.lock();
            let Some(status) = state.status else {
                state.waker = Some(cx.waker().clone());
                return Poll::Pending;
            };
            status
        };
        if status != CUresult::CUDA_SUCCESS {
            return Poll::Ready(Err(error("reading back", status)));
        }
        let Some((mark, piece)) = self.copy.take() else {
            // Polled again after it was ready, which the contract of Future leaves open.
            return Poll::Pending;
        };
        // SAFETY: the copy into the first `len` bytes is done.
        let bytes = isowarp_core::host::copied(unsafe { std::slice::from_raw_parts(piece.as_mut_ptr(), self.len) });
        mark.give(&self.device);
        let bound = self.device.bind();
        self.device.pinned.give(piece);
        Poll::Ready(bound.and(bytes))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // A future that was given up: its memory is reused once the copy into it is done.
        if let Some((mark, piece)) = self.copy.take() {
            self.device.pinned.retire(mark, piece);
        }
    }
}
