//! Whether this machine has a CUDA device, asked of the driver itself.

/// Whether the driver can be loaded and finds a device.
pub(crate) fn present() -> bool {
    let library = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };
    // SAFETY: the driver's constructors are meant to run in any program.
    let Ok(driver) = (unsafe { libloading::Library::new(library) }) else { return false };
    let mut count = 0;
    // SAFETY: both functions have the signatures of the driver's documentation, and `count` outlives the call.
    unsafe {
        let init = driver.get::<unsafe extern "C" fn(u32) -> i32>(b"cuInit\0");
        let devices = driver.get::<unsafe extern "C" fn(*mut i32) -> i32>(b"cuDeviceGetCount\0");
        let (Ok(init), Ok(devices)) = (init, devices) else { return false };
        init(0) == 0 && devices(&raw mut count) == 0 && count > 0
    }
}
