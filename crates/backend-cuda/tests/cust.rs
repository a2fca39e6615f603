//! Sharing a device with `cust` (feature `cust`): `cargo xtask cuda-stub --test`, or a machine with a CUDA toolkit.
#![cfg(feature = "cust")]

mod common;

use cust::memory::{CopyDestination as _, DeviceBuffer};
use isowarp_core::backend::{Backend, RawBuffer};
use isowarp_cuda::Cuda;
use std::sync::Arc;

#[test]
fn a_cust_buffer_is_read_and_written_in_place() {
    let Some(_) = common::gpu() else { return };
    let context = cust::quick_init().expect("a CUDA driver");
    let gpu = Cuda::from_cust(&context).expect("adopted");
    assert_eq!(gpu.raw_context().cast::<u8>(), context.as_raw().cast::<u8>());

    let theirs = Arc::new(DeviceBuffer::from_slice(&[1u32, 2, 3]).expect("uploaded"));
    let ours = gpu.lend_cust(&theirs);
    assert_eq!(ours.size_bytes(), 12);
    assert_eq!(ours.device_ptr(), theirs.as_device_ptr().as_raw());
    let read = gpu.read_bytes_blocking(&ours, 0, 12).expect("read");
    assert_eq!(read, [1u32, 2, 3].map(u32::to_ne_bytes).concat());

    gpu.fill(&ours, 4, 4, &7u32.to_ne_bytes()).expect("filled");
    gpu.synchronize().expect("done");
    let mut back = [0u32; 3];
    theirs.copy_to(&mut back).expect("read by cust");
    assert_eq!(back, [1, 7, 3]);

    drop(ours);
    assert_eq!(Arc::strong_count(&theirs), 1, "the loan has ended");
}

#[test]
fn work_is_enqueued_on_a_cust_stream() {
    let Some(_) = common::gpu() else { return };
    let context = cust::quick_init().expect("a CUDA driver");
    let gpu = Cuda::from_cust(&context).expect("adopted");
    let theirs = DeviceBuffer::from_slice(&[0u8; 64]).expect("uploaded");
    let stream = cust::stream::Stream::new(cust::stream::StreamFlags::NON_BLOCKING, None).expect("stream");
    // SAFETY: nothing is allocated through the handle, and the stream and the buffer outlive the work.
    unsafe {
        let on_theirs = gpu.on_cust_stream(&stream);
        let ours = on_theirs.borrow_cust(&theirs);
        on_theirs.fill(&ours, 0, 64, &[5]).expect("filled");
    }
    stream.synchronize().expect("cust sees the work");
    let mut back = [0u8; 64];
    theirs.copy_to(&mut back).expect("read");
    assert_eq!(back, [5; 64]);
}
