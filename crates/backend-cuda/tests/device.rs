//! Order, memory and errors on a CUDA device, or on the stub of `cargo xtask cuda-stub`.
//!
//! They need a driver: `cargo xtask cuda-stub --test` (a part of `cargo xtask test`) runs them on the stub, and
//! `cargo test -p isowarp-cuda` on a GPU. Without either they fail, unless `ISOWARP_TEST_DEVICES` says that there is no CUDA device.

mod common;

use common::gpu;
use isowarp_core::Error;
use isowarp_core::backend::{Backend, RawBuffer};
use isowarp_cuda::{Args, Buffer, Cuda, Grid, Kernel, sys};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const CHUNK: usize = 4 << 20;

/// Copies `n` bytes from the first input to the first output, one byte per thread; the stub does the same for any kernel.
const COPY: &str = "\
.version 7.0
.target sm_70
.address_size 64
.visible .entry copy_bytes(
\t.param .align 8 .b8 copy_bytes_param_0[272]
)
{
\t.reg .pred %p<2>;
\t.reg .b32 %r<5>;
\t.reg .b64 %rd<8>;
\tld.param.u64 %rd1, [copy_bytes_param_0];
\tld.param.u64 %rd2, [copy_bytes_param_0+128];
\tld.param.u64 %rd3, [copy_bytes_param_0+160];
\tmov.u32 %r1, %ctaid.x;
\tmov.u32 %r2, %ntid.x;
\tmov.u32 %r3, %tid.x;
\tmad.wide.u32 %rd4, %r1, %r2, 0;
\tcvt.u64.u32 %rd5, %r3;
\tadd.s64 %rd4, %rd4, %rd5;
\tsetp.ge.u64 %p1, %rd4, %rd3;
\t@%p1 bra DONE;
\tadd.s64 %rd6, %rd1, %rd4;
\tadd.s64 %rd7, %rd2, %rd4;
\tld.u8 %r4, [%rd6];
\tst.u8 [%rd7], %r4;
DONE:
\tret;
}
";

fn bytes(len: usize, seed: u32) -> Vec<u8> {
    // The high bits, so that no two chunks of a long transfer are alike.
    (0..len as u32).map(|i| (i.wrapping_add(seed << 8).wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn uploaded(gpu: &Cuda, data: &[u8]) -> Buffer {
    let buffer = gpu.allocate_bytes(data.len() as u64).expect("allocated");
    gpu.write_bytes(&buffer, 0, data).expect("uploaded");
    buffer
}

fn all(gpu: &Cuda, buffer: &Buffer) -> Vec<u8> {
    gpu.read_bytes_blocking(buffer, 0, buffer.size_bytes()).expect("read")
}

fn launch_copy(gpu: &Cuda, kernel: &Kernel, from: &Buffer, to: &Buffer) {
    let n = from.size_bytes();
    let mut args = Args { n, ..Args::default() };
    args.inputs[0].ptr = gpu.address(from, "from").expect("same device");
    args.out[0] = gpu.address(to, "to").expect("same device");
    let blocks = u32::try_from(n.div_ceil(256)).expect("small");
    // SAFETY: both buffers have n bytes.
    unsafe { gpu.launch(kernel, Grid::linear(blocks, 256), &args) }.expect("launched");
}

#[test]
fn what_is_uploaded_is_read_back_at_every_length() {
    let Some(gpu) = gpu() else { return };
    for len in [0, 1, 3, 4, 4096, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK + 7] {
        let data = bytes(len, 1);
        let buffer = uploaded(&gpu, &data);
        assert_eq!(all(&gpu, &buffer), data, "{len}");
        assert_eq!(pollster::block_on(gpu.read_bytes(&buffer, 0, len as u64)).expect("read"), data, "{len}");
    }
}

#[test]
fn host_memory_may_be_reused_when_an_upload_returns() {
    let Some(gpu) = gpu() else { return };
    let mut data = bytes(3 * CHUNK, 2);
    let expected = data.clone();
    let buffer = uploaded(&gpu, &data);
    data.fill(0);
    assert_eq!(all(&gpu, &buffer), expected);
}

#[test]
fn a_read_sees_the_stream_as_it_was_when_asked() {
    let Some(gpu) = gpu() else { return };
    let buffer = uploaded(&gpu, &[1; 100]);
    let first = gpu.read_bytes(&buffer, 0, 100);
    gpu.fill(&buffer, 0, 100, &[2]).expect("filled");
    let second = gpu.read_bytes(&buffer, 10, 5);
    assert_eq!(pollster::block_on(second).expect("read"), [2; 5]);
    assert_eq!(pollster::block_on(first).expect("read"), [1; 100]);
}

#[test]
fn a_read_that_was_given_up_disturbs_no_other() {
    let Some(gpu) = gpu() else { return };
    for round in 0..20 {
        let old = uploaded(&gpu, &bytes(5000, round));
        drop(gpu.read_bytes(&old, 0, 5000));
        let data = bytes(5000, round + 100);
        let new = uploaded(&gpu, &data);
        assert_eq!(pollster::block_on(gpu.read_bytes(&new, 0, 5000)).expect("read"), data);
    }
}

#[test]
fn fills_repeat_their_pattern_from_any_offset() {
    let Some(gpu) = gpu() else { return };
    for pattern in [&[7u8][..], &[1, 2], &[1, 2, 3, 4], &[1, 2, 3, 4, 5, 6, 7, 8], &[9, 8, 7], &[5; 16]] {
        for (offset, len) in [(0usize, 64usize), (4, 40), (1, 33), (8, 0), (3, 1)] {
            let buffer = uploaded(&gpu, &[0xEE; 64]);
            gpu.fill(&buffer, offset as u64, len as u64, pattern).expect("filled");
            let mut expected = vec![0xEE; 64];
            for (i, byte) in expected[offset..offset + len].iter_mut().enumerate() {
                *byte = pattern[i % pattern.len()];
            }
            assert_eq!(all(&gpu, &buffer), expected, "{pattern:?} at {offset}, {len} bytes");
        }
    }
}

#[test]
fn ranges_outside_a_buffer_and_overlaps_are_refused() {
    let Some(gpu) = gpu() else { return };
    let buffer = uploaded(&gpu, &bytes(64, 3));
    assert_eq!(gpu.read_bytes_blocking(&buffer, 60, 5), Err(Error::OutOfRange { what: "source", start: 60, end: 65, len: 64 }));
    assert!(matches!(gpu.write_bytes(&buffer, 64, &[1]), Err(Error::OutOfRange { .. })));
    assert!(matches!(gpu.fill(&buffer, u64::MAX, 1, &[0]), Err(Error::OutOfRange { .. })));
    assert!(matches!(gpu.copy_bytes(&buffer, 0, &buffer, 8, 9), Err(Error::Aliasing { .. })));
    gpu.copy_bytes(&buffer, 0, &buffer, 32, 32).expect("halves do not overlap");
    let data = bytes(64, 3);
    assert_eq!(all(&gpu, &buffer), [&data[..32], &data[..32]].concat());
}

#[test]
fn memory_is_not_reused_before_another_stream_has_done_with_it() {
    let Some(gpu) = gpu() else { return };
    let other = gpu.new_stream().expect("stream");
    for round in 0..30 {
        let data = bytes(40_000, round);
        let source = uploaded(&gpu, &data);
        let copy = gpu.allocate_bytes(40_000).expect("allocated");
        other.wait(&gpu.record().expect("recorded")).expect("waits");
        other.copy_bytes(&source, 0, &copy, 0, 40_000).expect("copied");
        drop(source);
        // Takes the same block from the first stream's free list.
        let next = gpu.allocate_bytes(40_000).expect("allocated");
        gpu.fill(&next, 0, 40_000, &[0xFF]).expect("filled");
        assert_eq!(other.read_bytes_blocking(&copy, 0, 40_000).expect("read"), data, "round {round}");
    }
}

#[test]
fn large_blocks_outlive_the_work_on_other_streams() {
    let Some(gpu) = gpu() else { return };
    let other = gpu.new_stream().expect("stream");
    let len = 40u64 << 20;
    for _ in 0..3 {
        let source = gpu.allocate_bytes(len).expect("allocated");
        gpu.fill(&source, 0, len, &[3]).expect("filled");
        let small = other.allocate_bytes(16).expect("allocated");
        other.wait(&gpu.record().expect("recorded")).expect("waits");
        other.copy_bytes(&source, len - 16, &small, 0, 16).expect("copied");
        drop(source);
        assert_eq!(all(&other, &small), [3; 16]);
    }
    gpu.synchronize().expect("nothing was freed too early");
}

#[test]
fn a_loop_reuses_its_memory() {
    let Some(gpu) = gpu() else { return };
    let first = gpu.allocate_bytes(10_000).expect("allocated").device_ptr();
    for len in [10_000, 9_999, 9_500] {
        assert_eq!(gpu.allocate_bytes(len).expect("allocated").device_ptr(), first);
    }
}

#[test]
fn out_of_memory_names_the_numbers_and_is_survived() {
    let Some(gpu) = gpu() else { return };
    let total = gpu.caps().memory_bytes;
    match gpu.allocate_bytes(total + 1) {
        Err(Error::OutOfMemory { requested, available: Some(available) }) => {
            assert_eq!(requested, total + 1);
            assert!(available <= total);
        }
        other => panic!("expected OutOfMemory, found {other:?}"),
    }
    if std::env::var_os("ISOWARP_STUB").is_some() {
        // Blocks of one class fill the cache; a block of another class has to push them out.
        let cached: Vec<Buffer> = (0..7).map(|_| gpu.allocate_bytes(30 << 20).expect("allocated")).collect();
        drop(cached);
        drop(gpu.allocate_bytes(200 << 20).expect("the cache gave way"));
    }
    assert_eq!(all(&gpu, &uploaded(&gpu, &[1, 2, 3])), [1, 2, 3]);
}

#[test]
fn a_kernel_sees_its_arguments_where_iw_cuh_has_them() {
    let Some(gpu) = gpu() else { return };
    let kernel = gpu.kernel_from_ptx(COPY, "copy_bytes").expect("compiled");
    assert_eq!(kernel.name(), "copy_bytes");
    let data = bytes(10_001, 4);
    let from = uploaded(&gpu, &data);
    let to = gpu.allocate_bytes(10_001).expect("allocated");
    launch_copy(&gpu, &kernel, &from, &to);
    assert_eq!(all(&gpu, &to), data);
}

#[test]
fn a_text_is_compiled_once() {
    let Some(gpu) = gpu() else { return };
    let first = gpu.kernel_from_ptx(COPY, "copy_bytes").expect("compiled");
    let second = gpu.clone().kernel_from_ptx(COPY, "copy_bytes").expect("cached");
    assert_eq!(first.raw(), second.raw());
}

#[test]
fn a_refused_text_returns_the_compilers_log() {
    let Some(gpu) = gpu() else { return };
    let error = gpu.kernel_from_ptx(&COPY.replace("ret;", "refuse this;"), "copy_bytes").expect_err("refused");
    let Error::Compile { kernel, log } = error else { panic!("expected Compile, found {error}") };
    assert_eq!(kernel, "copy_bytes");
    assert!(log.contains("ptxas"), "{log}");
}

#[test]
fn launches_that_cannot_run_are_refused_and_empty_ones_do_nothing() {
    let Some(gpu) = gpu() else { return };
    let kernel = gpu.kernel_from_ptx(COPY, "copy_bytes").expect("compiled");
    let args = Args::default();
    // SAFETY: n is 0, so the kernel touches nothing.
    let launch = |grid| unsafe { gpu.launch(&kernel, grid, &args) };
    assert_eq!(launch(Grid::linear(0, 256)), Ok(()));
    assert!(matches!(launch(Grid::linear(1, 4096)), Err(Error::TooLarge { what: "threads of a block", .. })));
    let shared = Grid::linear(1, 32).shared(1 << 20);
    assert!(matches!(launch(shared), Err(Error::TooLarge { what: "dynamic shared memory", .. })));
    assert_eq!(launch(Grid::linear(1, 32).shared(100 << 10)), Ok(()), "opted in to more than 48 KiB");
    gpu.synchronize().expect("ran");
}

#[test]
fn threads_work_side_by_side_on_streams_of_their_own() {
    let Some(gpu) = gpu() else { return };
    let kernel = gpu.kernel_from_ptx(COPY, "copy_bytes").expect("compiled");
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (gpu, kernel) = (gpu.new_stream().expect("stream"), &kernel);
            scope.spawn(move || {
                for round in 0..10 {
                    let data = bytes(9_000 + round, seed);
                    let from = uploaded(&gpu, &data);
                    let to = gpu.allocate_bytes(data.len() as u64).expect("allocated");
                    launch_copy(&gpu, kernel, &from, &to);
                    assert_eq!(all(&gpu, &to), data);
                }
            });
        }
    });
}

#[test]
fn device_time_is_measured_between_marks() {
    let Some(gpu) = gpu() else { return };
    let seconds = gpu
        .time(&mut || {
            let buffer = gpu.allocate_bytes(1 << 20)?;
            gpu.fill(&buffer, 0, 1 << 20, &[1])
        })
        .expect("timed")
        .expect("has a clock");
    assert!((0.0..10.0).contains(&seconds), "{seconds}");
    let mark = gpu.record().expect("recorded");
    assert!(matches!(mark.seconds_since(&mark), Err(Error::InvalidArgument { what: "event", .. })));
    mark.synchronize().expect("passed");
    assert_eq!(mark.is_done(), Ok(true));
}

#[test]
fn buffers_of_another_opening_of_the_device_are_refused() {
    let (Some(one), Some(two)) = (gpu(), gpu()) else { return };
    let buffer = uploaded(&one, &[1]);
    assert!(!one.same_device(&two) && one.same_device(&one.new_stream().expect("stream")));
    assert_eq!(two.read_bytes_blocking(&buffer, 0, 1), Err(Error::WrongDevice { what: "source" }));
    let kernel = one.kernel_from_ptx(COPY, "copy_bytes").expect("compiled");
    // SAFETY: refused before it is launched.
    let refused = unsafe { two.launch(&kernel, Grid::linear(1, 32), &Args::default()) };
    assert_eq!(refused, Err(Error::WrongDevice { what: "kernel" }));
}

#[test]
fn an_adopted_context_shares_memory_with_its_owner() {
    let Some(owner) = gpu() else { return };
    let lent = uploaded(&owner, &bytes(100, 5));
    owner.synchronize().expect("uploaded");
    // SAFETY: the owner lives to the end of the test.
    let guest = unsafe { Cuda::from_context(owner.raw_context()) }.expect("adopted");
    assert_eq!(guest.info(), owner.info());
    // SAFETY: `lent` lives to the end of the test.
    let borrowed = unsafe { guest.borrow_ptr(lent.device_ptr(), 100) };
    assert_eq!(all(&guest, &borrowed), bytes(100, 5));
    // SAFETY: the stream lives as long as `owner`, and nothing is allocated through it.
    let same_queue = unsafe { guest.on_stream(owner.raw_stream()) };
    same_queue.fill(&borrowed, 0, 100, &[6]).expect("filled");
    assert_eq!(all(&owner, &lent), [6; 100]);
}

#[test]
fn a_buffer_may_outlive_the_application_stream_that_it_was_used_on() {
    let Some(gpu) = gpu() else { return };
    let (mut stream, mut far) = (std::ptr::null_mut(), None);
    // SAFETY: the device's context is current on this thread since `gpu` was opened; the handle on the stream goes before it.
    unsafe {
        assert_eq!(sys::cuStreamCreate(&raw mut stream, 1), sys::CUresult::CUDA_SUCCESS);
        let theirs = gpu.on_stream(stream);
        let (used, homed) = (uploaded(&gpu, &[1; 3000]), theirs.allocate_bytes(3000).expect("allocated"));
        theirs.wait(&gpu.record().expect("recorded")).expect("waits");
        theirs.copy_bytes(&used, 0, &homed, 0, 3000).expect("copied");
        far.replace((used, homed));
        drop(theirs);
        assert_eq!(sys::cuStreamDestroy_v2(stream), sys::CUresult::CUDA_SUCCESS);
    }
    drop(far);
    gpu.synchronize().expect("nothing was enqueued on the destroyed stream");
    let next = gpu.new_stream().expect("the slot was taken over");
    assert_eq!(all(&next, &uploaded(&next, &[4; 3000])), [4; 3000]);
}

#[test]
fn a_loan_ends_when_the_device_has_done_with_it() {
    struct Lender {
        mark: isowarp_cuda::Event,
        _memory: Buffer,
        ended: Arc<AtomicBool>,
    }
    impl Drop for Lender {
        fn drop(&mut self) {
            self.ended.store(self.mark.is_done().expect("asked"), Ordering::SeqCst);
        }
    }
    let Some(gpu) = gpu() else { return };
    let memory = uploaded(&gpu, &[0; 5000]);
    let other = gpu.new_stream().expect("stream");
    let borrowed_at = memory.device_ptr();
    let ended = Arc::new(AtomicBool::new(false));
    let work = uploaded(&other, &[9; 5000]);
    for _ in 0..10 {
        other.fill(&work, 0, 5000, &[8]).expect("filled");
    }
    let mark = other.record().expect("recorded");
    let lender = Arc::new(Lender { mark, _memory: memory, ended: Arc::clone(&ended) });
    // SAFETY: the lender holds the memory.
    let borrowed = unsafe { other.borrow_from(borrowed_at, 5000, lender) };
    other.copy_bytes(&work, 0, &borrowed, 0, 5000).expect("copied");
    drop(borrowed);
    assert!(ended.load(Ordering::SeqCst), "the lender was dropped before the device was done");
}

#[test]
fn a_held_stream_waits_for_the_host_and_not_for_ever() {
    let Some(gpu) = gpu() else { return };
    let (from, to) = (uploaded(&gpu, &bytes(CHUNK, 21)), uploaded(&gpu, &bytes(CHUNK, 22)));
    gpu.synchronize().expect("synchronised");
    let held = gpu.stream().hold(Duration::from_secs(60)).expect("held");
    gpu.copy_bytes(&from, 0, &to, 0, CHUNK as u64).expect("enqueued");
    let behind = gpu.stream().record().expect("recorded");
    std::thread::sleep(Duration::from_millis(20));
    assert!(!behind.is_done().expect("asked"));
    drop(held);
    behind.synchronize().expect("done");
    assert_eq!(all(&gpu, &to), bytes(CHUNK, 21));

    let held = gpu.stream().hold(Duration::from_millis(20)).expect("held");
    gpu.synchronize().expect("the time is up");
    drop(held);
}
