//! wgpu's three ways of reporting trouble (error scopes, the uncaptured-error handler, the device-lost callback) as one [`Error`].

use isowarp_core::error::{Error, Result};
use parking_lot::Mutex;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

/// What has gone wrong on a device outside of a call that could report it.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    lost: Mutex<Option<String>>,
    deferred: Mutex<Option<Error>>,
    waits: AtomicU64,
}

impl Faults {
    /// Takes over the error reporting of a device that this library opened; an application's own device keeps its handlers.
    pub(crate) fn watch(self: &Arc<Self>, device: &wgpu::Device) {
        let faults = Arc::downgrade(self);
        device.on_uncaptured_error(Arc::new(move |error| {
            log::error!("wgpu: {error}");
            if let Some(faults) = faults.upgrade() {
                faults.defer(translate("wgpu", error, 0));
            }
        }));
        let faults = Arc::downgrade(self);
        device.set_device_lost_callback(move |reason, message| {
            // Dropping the last handle reports `Destroyed`, which is no fault.
            if let Some(faults) = faults.upgrade() {
                *faults.lost.lock() = Some(format!("{reason:?}: {message}"));
            }
        });
    }

    /// Keeps an error that concerns work already enqueued; the first one counts.
    pub(crate) fn defer(&self, error: Error) {
        self.deferred.lock().get_or_insert(error);
    }

    /// Notes that the device is gone.
    pub(crate) fn lose(&self, reason: String) {
        self.lost.lock().get_or_insert(reason);
    }

    /// Reports a lost device, or earlier work that failed. The error stays until [`Self::clear`], since all results after it are
    /// in doubt.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(reason) = &*self.lost.lock() {
            return Err(Error::DeviceLost { reason: reason.clone() });
        }
        self.deferred.lock().clone().map_or(Ok(()), Err)
    }

    /// How often the device was waited for.
    pub(crate) fn waits(&self) -> u64 {
        self.waits.load(Ordering::Relaxed)
    }

    /// Forgets earlier failed work, after it has been reported at a synchronisation point.
    pub(crate) fn clear(&self) {
        self.deferred.lock().take();
    }
}

/// Runs `work` with every kind of wgpu error caught on this thread.
pub(crate) fn guarded<T>(device: &wgpu::Device, call: &'static str, bytes: u64, work: impl FnOnce() -> T) -> Result<T> {
    let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let internal = device.push_error_scope(wgpu::ErrorFilter::Internal);
    let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let value = work();
    let errors = [ready(validation.pop()), ready(internal.pop()), ready(memory.pop())];
    match errors.into_iter().flatten().flatten().next() {
        Some(error) => Err(translate(call, error, bytes)),
        None => Ok(value),
    }
}

/// The value of a future that is complete; native wgpu's error scopes always are, and a browser's are reported later through the
/// uncaptured-error handler.
fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

fn translate(call: &'static str, error: wgpu::Error, bytes: u64) -> Error {
    match error {
        wgpu::Error::OutOfMemory { .. } => Error::OutOfMemory { requested: bytes, available: None },
        wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
            Error::Driver { call, message: description }
        }
    }
}

/// `Device::poll` that reports instead of panicking: wgpu 30 panics where the device is lost during a wait.
pub(crate) fn poll(device: &wgpu::Device, faults: &Faults, how: wgpu::PollType) -> Result<()> {
    if !matches!(how, wgpu::PollType::Poll) {
        faults.waits.fetch_add(1, Ordering::Relaxed);
    }
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| device.poll(how)));
    match outcome {
        Ok(Ok(_)) => Ok(()),
        // wgpu refuses submissions to a device that is gone without a word, and then does not know their number.
        Ok(Err(wgpu::PollError::WrongSubmissionIndex(..))) => {
            faults.lose("a submission was refused".to_owned());
            faults.check()
        }
        Ok(Err(error)) => Err(Error::Driver { call: "Device::poll", message: error.to_string() }),
        Err(payload) => {
            let reason = payload.downcast_ref::<String>().cloned().unwrap_or_else(|| "the driver failed while waiting".to_owned());
            faults.lose(reason);
            faults.check()
        }
    }
}
