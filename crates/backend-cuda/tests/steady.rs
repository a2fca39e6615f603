//! A steady state, as recording a sequence as a graph needs it: after a warm-up, enqueueing patterns into the caller's buffers allocates
//! nothing and waits for nothing. Counted by the stub of `cargo xtask cuda-stub`, which sees every call of the driver and runs no kernel.

mod common;

use common::gpu;
use isowarp_core::backend::Backend as _;
use isowarp_core::buffer::{Buffer, Memory as _};
use isowarp_core::input::scalar;
use isowarp_core::ops::{Max, Sum};
use isowarp_core::patterns::{Border, Filter as _, FilterKind, Image, Map as _, Reduce as _, Scan as _};
use isowarp_cuda::Cuda;

/// The stub's counts of calls that allocate memory, and of calls that wait for the device; `None` where the driver is no stub.
fn counts() -> Option<(u64, u64)> {
    // SAFETY: the library is loaded already, and the two functions have this signature.
    unsafe {
        let driver = libloading::Library::new("libcuda.so.1").ok()?;
        let count = |name: &[u8]| driver.get::<unsafe extern "C" fn() -> std::ffi::c_ulong>(name).map(|f| f()).ok();
        #[allow(clippy::useless_conversion, reason = "a c_ulong has 32 bits on some systems")]
        Some((count(b"isowarp_stub_allocations\0")?.into(), count(b"isowarp_stub_waits\0")?.into()))
    }
}

/// One round of every pattern into the caller's buffers.
fn round(gpu: &Cuda, x: &Buffer<Cuda, f32>, y: &Buffer<Cuda, f32>, one: &Buffer<Cuda, f32>, k: f32) -> isowarp_core::Result<()> {
    gpu.map_into((x, scalar(k)), |(x, k)| x * k + 1.0, y)?;
    gpu.scan_inclusive_into(y, Sum, x)?;
    gpu.reduce_into(x, Max, one)?;
    gpu.filter_into(&Image::new(x.clone(), 100, 100, 1)?, FilterKind::gaussian3(), Border::Clamp, &Image::new(y.clone(), 100, 100, 1)?)?;
    gpu.copy_into(y, x)?;
    // A temporary takes the memory that the last one gave back.
    gpu.buffer::<f32>(10_000).map(drop)
}

#[test]
fn after_a_warm_up_nothing_is_allocated_and_nothing_waited_for() {
    let Some(gpu) = gpu() else { return };
    if counts().is_none() {
        eprintln!("NOT TESTED: this driver is no stub, so its calls cannot be counted; `cargo xtask cuda-stub --test` counts them");
        return;
    }
    let x = gpu.upload(&[0.5f32; 10_000]).expect("uploaded");
    let (y, one) = (gpu.buffer(10_000).expect("allocated"), gpu.buffer(1).expect("allocated"));
    let turns = |from: u16| (from..from + 20).for_each(|turn| round(&gpu, &x, &y, &one, f32::from(turn)).expect("enqueued"));
    turns(0);
    gpu.synchronize().expect("done");
    let warm = counts();
    turns(20);
    assert_eq!(counts(), warm, "(allocations, waits)");
    gpu.synchronize().expect("done");
    assert_ne!(counts(), warm, "the stub counts");
}
