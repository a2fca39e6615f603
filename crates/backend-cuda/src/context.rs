//! A CUDA context: a device's primary context, or one that the application made.

use crate::driver::{self, DeviceInfo, Driver, check};
use cudarc::driver::sys::{self, CUcontext, CUdevice};
use isowarp_core::error::Result;
use std::ptr;

/// A context that stays alive as long as this does.
#[derive(Debug)]
pub(crate) struct Context {
    raw: CUcontext,
    device: CUdevice,
    /// Whether dropping this gives a reference of the primary context back.
    retained: bool,
}

// SAFETY: a CUcontext is a handle that the driver lets any thread make current; the struct is immutable.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// Retains the primary context of a device: the one that the runtime API and most libraries share.
    pub(crate) fn primary(_driver: Driver, ordinal: u32) -> Result<Self> {
        let device = driver::handle(ordinal)?;
        let mut raw = ptr::null_mut();
        // SAFETY: `device` came from the driver, `raw` is live; the reference is given back on drop.
        check("cuDevicePrimaryCtxRetain", unsafe { sys::cuDevicePrimaryCtxRetain(&raw mut raw, device) })?;
        Ok(Self { raw, device, retained: true })
    }

    /// Adopts an application's context, which is not destroyed on drop.
    ///
    /// # Safety
    /// `raw` is a live context and stays alive until everything made from it is dropped.
    pub(crate) unsafe fn adopt(_driver: Driver, raw: CUcontext) -> Result<Self> {
        let mut device = 0;
        let mut previous = ptr::null_mut();
        // SAFETY: the caller vouches for `raw`; the pointers are to live variables. The caller's current context is put back.
        unsafe {
            check("cuCtxGetCurrent", sys::cuCtxGetCurrent(&raw mut previous))?;
            check("cuCtxSetCurrent", sys::cuCtxSetCurrent(raw))?;
            let found = check("cuCtxGetDevice", sys::cuCtxGetDevice(&raw mut device));
            check("cuCtxSetCurrent", sys::cuCtxSetCurrent(previous))?;
            found?;
        }
        Ok(Self { raw, device, retained: false })
    }

    /// Makes the context current on this thread where it is not. The check is a thread-local read in the driver; it is asked
    /// each time because other code on the thread may have changed the current context.
    #[inline]
    pub(crate) fn bind(&self) -> Result<()> {
        let mut current = ptr::null_mut();
        // SAFETY: `self` keeps the context alive; `current` is live.
        unsafe {
            check("cuCtxGetCurrent", sys::cuCtxGetCurrent(&raw mut current))?;
            if current != self.raw {
                check("cuCtxSetCurrent", sys::cuCtxSetCurrent(self.raw))?;
            }
        }
        Ok(())
    }

    /// Whether it is not an application's.
    pub(crate) fn is_own(&self) -> bool {
        self.retained
    }

    pub(crate) fn raw(&self) -> CUcontext {
        self.raw
    }

    pub(crate) fn device(&self) -> CUdevice {
        self.device
    }

    /// Asks the driver for the properties of the context's device. A CUdevice is its ordinal.
    pub(crate) fn describe(&self) -> Result<DeviceInfo> {
        driver::describe(self.device, u32::try_from(self.device).unwrap_or(0))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.retained {
            // SAFETY: one reference was retained and is given back once. At process exit the driver may be gone already,
            // and then the status says so; nobody could act on it.
            let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
        }
    }
}
