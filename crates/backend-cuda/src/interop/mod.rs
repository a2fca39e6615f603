//! Sharing a device with other CUDA code: raw handles in both directions.
//!
//! The feature `cust` adds the same for the types of the `cust` crate. `cust` links `libcuda` when it is built: its build
//! script takes `lib64` and `lib64/stubs` below `CUDA_LIBRARY_PATH`, `/usr/local/cuda*` and `/opt/cuda` as link paths and
//! fails when there is none. A toolkit provides them; so does `cargo xtask cuda-stub`, which is enough to build and link. A
//! program with this feature needs `libcuda.so.1` to start, while one without it starts everywhere.

#[cfg(feature = "cust")]
mod cust;

use crate::backend::Cuda;
use crate::memory::Buffer;
use crate::stream::Stream;
use cudarc::driver::sys::{CUcontext, CUdeviceptr, CUstream};
use std::any::Any;
use std::sync::Arc;

impl Cuda {
    /// The driver's handle of the context. It stays valid as long as a handle on this device lives.
    #[must_use]
    pub fn raw_context(&self) -> CUcontext {
        self.device().share();
        self.device().context.raw()
    }

    /// The driver's handle of the stream that this handle enqueues on.
    #[must_use]
    pub fn raw_stream(&self) -> CUstream {
        self.stream().raw()
    }

    /// A handle on the same device that enqueues on a stream of the application. The stream is not destroyed.
    ///
    /// # Safety
    /// `stream` is a live stream of this device's context, and stays so until the result and every clone of it is dropped.
    /// Buffers that were allocated or used on it may live longer.
    #[must_use]
    pub unsafe fn on_stream(&self, stream: CUstream) -> Self {
        // SAFETY: the caller's promise.
        self.with_stream(unsafe { Stream::adopt(self.device(), stream) })
    }

    /// Wraps device memory of the application, which keeps it.
    ///
    /// # Safety
    /// `address` is `bytes` of memory that this device can access, and it lives until the device has done all work that uses
    /// the buffer or a clone of it.
    #[must_use]
    pub unsafe fn borrow_ptr(&self, address: CUdeviceptr, bytes: u64) -> Buffer {
        // SAFETY: the caller's promise.
        unsafe { Buffer::borrow(self.device(), address, bytes, None) }
    }

    /// Wraps device memory that `lender` keeps alive. When the last clone of the buffer is dropped, the device's work on it is
    /// waited for and the lender is dropped.
    ///
    /// # Safety
    /// `address` is `bytes` of memory that this device can access for as long as `lender` lives.
    #[must_use]
    pub unsafe fn borrow_from(&self, address: CUdeviceptr, bytes: u64, lender: Arc<dyn Any + Send + Sync>) -> Buffer {
        // SAFETY: the caller's promise.
        unsafe { Buffer::borrow(self.device(), address, bytes, Some(lender)) }
    }
}
