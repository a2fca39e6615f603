//! Release of driver objects that are let go.
//!
//! One device opens or closes at a time: NVIDIA's driver (580.159 on Linux) can deadlock in `vkDestroyDevice` where several threads open and close
//! devices at once, even unrelated ones, so the lock is the process's: it guards the driver's state, none of this library's.

use crate::faults::cross;
use parking_lot::{Mutex, MutexGuard};
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

static DRIVER: Mutex<()> = Mutex::new(());

/// Keeps other threads from opening and closing devices.
pub(crate) fn exclusively() -> MutexGuard<'static, ()> {
    DRIVER.lock()
}

/// A driver object. Letting it go calls the driver, whose panics end here: one that left a destructor could end the process.
#[derive(Debug)]
pub(crate) struct Held<T>(ManuallyDrop<T>);

impl<T> Held<T> {
    pub(crate) fn new(object: T) -> Self {
        Self(ManuallyDrop::new(object))
    }

    /// The object, for a driver call that takes it.
    pub(crate) fn take(self) -> T {
        let mut held = ManuallyDrop::new(self);
        // SAFETY: `held` is never dropped or used again, so the object has one owner.
        unsafe { ManuallyDrop::take(&mut held.0) }
    }
}

impl<T> Deref for Held<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Held<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> Drop for Held<T> {
    fn drop(&mut self) {
        // SAFETY: this is the one drop of the object, which nobody sees afterwards.
        if let Err(panic) = cross(|| unsafe { ManuallyDrop::drop(&mut self.0) }) {
            log::error!("the driver failed while it released an object: {panic}");
        }
    }
}

/// Held, as their last field, by everything that holds parts of a device: the device is closed when the last of them goes, here.
#[derive(Debug)]
pub(crate) struct Alive(Option<(wgpu::Device, wgpu::Queue)>);

impl Alive {
    pub(crate) fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Self {
        Self(Some((device.clone(), queue.clone())))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        // The driver's turn comes before the lock, as it does where devices are opened.
        let closed = cross(|| {
            let _guard = exclusively();
            drop(self.0.take());
        });
        if let Err(panic) = closed {
            log::error!("the driver failed while a device was closed: {panic}");
        }
    }
}
