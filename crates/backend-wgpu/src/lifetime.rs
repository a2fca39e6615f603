//! One device opens or closes at a time.
//!
//! NVIDIA's driver (580.159 on Linux) can deadlock in `vkDestroyDevice` where several threads open and close devices at once, even
//! unrelated ones, so the lock is the process's: it guards the driver's state, none of this library's.

use parking_lot::{Mutex, MutexGuard};

static DRIVER: Mutex<()> = Mutex::new(());

/// Keeps other threads from opening and closing devices.
pub(crate) fn exclusively() -> MutexGuard<'static, ()> {
    DRIVER.lock()
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
        let _guard = exclusively();
        drop(self.0.take());
    }
}
