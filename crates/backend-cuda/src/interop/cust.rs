//! Contexts and buffers of the `cust` crate.

use crate::backend::Cuda;
use crate::memory::Buffer;
use ::cust::context::{Context, CurrentContext, legacy};
use ::cust::memory::{DeviceBuffer, DeviceCopy};
use ::cust::stream::Stream;
use isowarp_core::error::{Error, Result};
use std::sync::Arc;

impl Cuda {
    /// Opens the device of a `cust` context: its primary context, of which this takes a reference of its own.
    ///
    /// # Errors
    /// [`Error::Unavailable`] without a driver; [`Error::Driver`] when the context has no device.
    pub fn from_cust(context: &Context) -> Result<Self> {
        CurrentContext::set_current(context).map_err(|error| failed("cuCtxSetCurrent", &error))?;
        let device = CurrentContext::get_device().map_err(|error| failed("cuCtxGetDevice", &error))?;
        Self::new(u32::try_from(device.as_raw()).unwrap_or(u32::MAX))
    }

    /// Adopts a context that `cust` created on its own (its `legacy` module), which is not destroyed.
    ///
    /// # Errors
    /// As [`Cuda::from_context`].
    ///
    /// # Safety
    /// The context lives until every handle, buffer, event and future made from the result is dropped.
    pub unsafe fn from_cust_legacy(context: &legacy::Context) -> Result<Self> {
        legacy::CurrentContext::set_current(context).map_err(|error| failed("cuCtxSetCurrent", &error))?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` is live; the driver was loaded by `cust`, which links it.
        let status = unsafe { ::cust::sys::cuCtxGetCurrent(&raw mut raw) };
        if status != ::cust::sys::cudaError_enum::CUDA_SUCCESS {
            return Err(Error::Driver { call: "cuCtxGetCurrent", message: format!("{status:?}") });
        }
        // SAFETY: the caller's promise; both crates name the same opaque handle.
        unsafe { Self::from_context(raw.cast()) }
    }

    /// A handle that enqueues on a `cust` stream.
    ///
    /// # Safety
    /// The stream belongs to this device's context and lives until the result and every clone of it is dropped.
    #[must_use]
    pub unsafe fn on_cust_stream(&self, stream: &Stream) -> Self {
        // SAFETY: the caller's promise; both crates name the same opaque handle.
        unsafe { self.on_stream(stream.as_inner().cast()) }
    }

    /// Lends a `cust` buffer to this device. It is freed when the last handle is dropped and the device has done with it.
    ///
    /// The contents are those that `cust` has written before; order its asynchronous writes with an event.
    pub fn lend_cust<T: DeviceCopy + Send + Sync + 'static>(&self, buffer: &Arc<DeviceBuffer<T>>) -> Buffer {
        let bytes = std::mem::size_of::<T>() as u64 * buffer.len() as u64;
        // SAFETY: the Arc keeps the memory, which unified addressing makes accessible on its device.
        unsafe { self.borrow_from(buffer.as_device_ptr().as_raw(), bytes, Arc::clone(buffer) as Arc<_>) }
    }

    /// Borrows a `cust` buffer that the caller keeps.
    ///
    /// # Safety
    /// The buffer lives until the device has done all work that uses the result or a clone of it.
    #[must_use]
    pub unsafe fn borrow_cust<T: DeviceCopy>(&self, buffer: &DeviceBuffer<T>) -> Buffer {
        let bytes = std::mem::size_of::<T>() as u64 * buffer.len() as u64;
        // SAFETY: the caller's promise.
        unsafe { self.borrow_ptr(buffer.as_device_ptr().as_raw(), bytes) }
    }
}

fn failed(call: &'static str, error: &::cust::error::CudaError) -> Error {
    Error::Driver { call, message: error.to_string() }
}
