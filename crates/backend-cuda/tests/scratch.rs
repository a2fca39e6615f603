//! Scratch memory, counted by the stub of `cargo xtask cuda-stub`: reductions and scans take at most a hundredth of what their elements take.

mod common;

use common::gpu;
use isowarp_core::backend::Backend as _;
use isowarp_core::buffer::Memory as _;
use isowarp_core::ops::{Min, Sum};
use isowarp_core::patterns::{Reduce as _, Scan as _};
use isowarp_cuda::Cuda;

/// The memory that the stub has left; `None` where the driver is no stub.
fn left() -> Option<usize> {
    // SAFETY: the library is loaded already, and the functions have these signatures.
    unsafe {
        let driver = libloading::Library::new("libcuda.so.1").ok()?;
        driver.get::<unsafe extern "C" fn() -> std::ffi::c_ulong>(b"isowarp_stub_waits\0").ok()?;
        let info = driver.get::<unsafe extern "C" fn(*mut usize, *mut usize) -> u32>(b"cuMemGetInfo_v2\0").ok()?;
        let (mut left, mut all) = (0, 0);
        (info(&mut left, &mut all) == 0).then_some(left)
    }
}

#[test]
fn scratch_is_at_most_a_hundredth_of_the_input() {
    type Work<'a> = (&'a str, &'a dyn Fn(&Cuda) -> isowarp_core::Result<()>);
    const N: u64 = 1 << 24;
    let Some(gpu) = gpu() else { return };
    if left().is_none() {
        eprintln!("NOT TESTED: this driver is no stub, so its memory is not ours alone; `cargo xtask cuda-stub --test` counts it");
        return;
    }
    let (x, y) = (gpu.buffer::<f32>(N).expect("allocated"), gpu.buffer::<f32>(N).expect("allocated"));
    let (one, place) = (gpu.buffer::<f32>(1).expect("allocated"), gpu.buffer::<u32>(1).expect("allocated"));
    let (wide, tall) = ([1 << 12, 1 << 12], [1 << 20, 1 << 4]);
    let works: [Work<'_>; 9] = [
        ("sum", &|d| d.reduce(&x, Sum).write_to(&one)),
        ("argmin", &|d| d.reduce(&x, Min).index().write_to(&place)),
        ("sums of rows", &|d| d.reduce(&x, Sum).axis(&wide, 1).write_to(&y)),
        ("sums of columns", &|d| d.reduce(&x, Sum).axis(&wide, 0).write_to(&y)),
        ("sums of few columns", &|d| d.reduce(&x, Sum).axis(&tall, 0).write_to(&y)),
        ("scan", &|d| d.scan(&x, Sum).write_to(&y)),
        ("scan of rows", &|d| d.scan(&x, Sum).axis(&wide, 1).write_to(&y)),
        ("scan of columns", &|d| d.scan(&x, Sum).axis(&wide, 0).write_to(&y)),
        ("scan of few columns", &|d| d.scan(&x, Sum).axis(&tall, 0).write_to(&y)),
    ];
    // A stream keeps its scratch, so what all of them hold together is what is counted.
    let before = left();
    for (what, work) in works {
        work(&gpu).expect("enqueued");
        let scratch = before.zip(left()).map_or(0, |(before, now)| before - now) as u64;
        assert!(scratch <= 4 * N / 100, "{what}: {scratch} bytes of scratch");
    }
    assert!(before > left(), "scratch is counted");
    gpu.synchronize().expect("done");
}
