//! Order, memory, read-back and sharing.

use isowarp_core::backend::{Backend, RawBuffer};
use isowarp_core::element::DType;
use isowarp_core::error::Error;
use isowarp_wgpu::{Binding, Buffer, Kernel, KernelSource, Options, Usage, Wgpu, adapters};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

const ADD: &str = "struct Params { add: u32, times: u32 }
    var<immediate> p: Params;
    @group(0) @binding(0) var<storage, read> x: array<u32>;
    @group(0) @binding(1) var<storage, read_write> y: array<u32>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x < arrayLength(&y) { y[id.x] = x[id.x] * p.times + p.add; }
    }";

/// One device for all tests: drivers deadlock where many are closed by many threads at once.
fn device() -> Wgpu {
    static DEVICE: OnceLock<Wgpu> = OnceLock::new();
    DEVICE.get_or_init(|| Wgpu::new_blocking().expect("an adapter")).clone()
}

fn own_device() -> Wgpu {
    Wgpu::new_blocking().expect("an adapter")
}

/// Held by tests that open and close devices of their own: NVIDIA's driver (580.159) can deadlock in `vkDestroyDevice` where
/// several threads do that at once. Taken first, so released after the device is gone.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn add(device: &Wgpu) -> Arc<Kernel> {
    device.kernel(&KernelSource { name: "add", wgsl: ADD, entry: "main" }).expect("compiles")
}

fn run(device: &Wgpu, kernel: &Kernel, x: &Buffer, y: &Buffer, params: [u32; 2]) {
    let whole = |buffer| Binding { buffer, offset_bytes: 0, size_bytes: x.size_bytes() };
    let groups = (x.size_bytes() / 4).div_ceil(64) as u32;
    device.dispatch(kernel, &[whole(x), whole(y)], bytemuck::cast_slice(&params), [groups, 1, 1]).expect("dispatch");
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytemuck::pod_collect_to_vec(bytes)
}

fn ordered_commands_give_the_ordered_result(device: &Wgpu) {
    let kernel = add(device);
    let n = 1000_u64;
    let x = device.allocate_bytes(n * 4).expect("memory");
    let y = device.allocate_bytes(n * 4).expect("memory");
    let start: Vec<u32> = (0..n as u32).collect();
    let mut expected = start.clone();
    device.write_bytes(&x, 0, bytemuck::cast_slice(&start)).expect("upload");
    for step in 0..300_u32 {
        run(device, &kernel, &x, &y, [step, 3]);
        expected.iter_mut().for_each(|v| *v = v.wrapping_mul(3).wrapping_add(step));
        device.copy_bytes(&y, 0, &x, 0, n * 4).expect("copy");
        if step % 50 == 7 {
            device.write_bytes(&x, 16, &step.to_le_bytes()).expect("upload");
            expected[4] = step;
        }
        if step % 90 == 11 {
            device.clear(&x, 40, 20).expect("clear");
            expected[10..15].fill(0);
        }
    }
    assert_eq!(words(&device.read_bytes_blocking(&x, 0, n * 4).expect("read")), expected);
}

#[test]
fn dispatches_copies_clears_and_uploads_keep_their_order() {
    ordered_commands_give_the_ordered_result(&device());
}

#[test]
fn parameters_travel_through_uniforms_where_there_are_no_immediates() {
    let _alone = alone();
    let options = Options { without: wgpu::Features::IMMEDIATES, ..Options::default() };
    let device = pollster::block_on(Wgpu::with_options(&options)).expect("an adapter");
    assert!(!device.features().contains(wgpu::Features::IMMEDIATES));
    ordered_commands_give_the_ordered_result(&device);
}

#[test]
fn unsealed_kernels_run_through_wgpu() {
    let _alone = alone();
    let options = Options { seal: false, ..Options::default() };
    let device = pollster::block_on(Wgpu::with_options(&options)).expect("an adapter");
    assert!(!device.report().sealed);
    ordered_commands_give_the_ordered_result(&device);
}

#[test]
fn a_buffer_may_be_read_and_written_by_one_dispatch() {
    let device = device();
    let kernel = add(&device);
    let x = device.allocate_bytes(4096).expect("memory");
    device.write_bytes(&x, 0, bytemuck::cast_slice(&[1_u32; 1024])).expect("upload");
    run(&device, &kernel, &x, &x, [1, 2]);
    run(&device, &kernel, &x, &x, [1, 2]);
    assert!(words(&device.read_bytes_blocking(&x, 0, 4096).expect("read")).iter().all(|&v| v == 7));
}

#[test]
fn copies_inside_one_buffer_are_allowed() {
    let device = device();
    let x = device.allocate_bytes(64).expect("memory");
    device.write_bytes(&x, 0, bytemuck::cast_slice(&(0..16_u32).collect::<Vec<_>>())).expect("upload");
    device.copy_bytes(&x, 0, &x, 32, 32).expect("copy");
    let got = words(&device.read_bytes_blocking(&x, 0, 64).expect("read"));
    assert_eq!(&got[8..], &[0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn long_copies_keep_every_bit_and_what_is_beside_them() {
    let device = device();
    let n = 400_003_u64;
    // Every kind of bits, NaN with payloads among them.
    let data: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761) | if i % 3 == 0 { 0x7f80_0000 } else { 0 }).collect();
    let x = device.allocate_bytes(n * 4).expect("memory");
    device.write_bytes(&x, 0, bytemuck::cast_slice(&data)).expect("upload");
    let short = [(4, 8, 50_001), (4, 4, 16_384), (5, 8, 40_000), (8, 3, 40_000), (0, 4, 16_383), (0, 0, 16_387)];
    // Of those that begin inside a vector, kernels copy the ones of 1 MiB and more behind the first whole vector.
    let long =
        [(0, 0, n), (0, 1, 262_143), (3, 0, 262_144), (0, 1, 262_147), (5, 8, 300_001), (8, 3, 300_002), (7, 7, 399_990), (2, 5, 399_998)];
    for (from, to, len) in short.into_iter().chain(long) {
        let y = device.allocate_bytes(n * 4).expect("memory");
        device.clear(&y, 0, n * 4).expect("clear");
        device.copy_bytes(&x, from * 4, &y, to * 4, len * 4).expect("copy");
        let got = words(&device.read_bytes_blocking(&y, 0, n * 4).expect("read"));
        let mut expected = vec![0; n as usize];
        expected[to as usize..(to + len) as usize].copy_from_slice(&data[from as usize..(from + len) as usize]);
        assert!(got == expected, "{len} words from {from} to {to}");
    }
    // The halves of one buffer.
    device.copy_bytes(&x, 0, &x, 50_000 * 4, 50_000 * 4).expect("copy");
    let got = words(&device.read_bytes_blocking(&x, 50_000 * 4, 50_000 * 4).expect("read"));
    assert!(got == data[..50_000]);
}

#[test]
fn odd_lengths_reach_the_end_of_a_buffer() {
    let device = device();
    let x = device.allocate_bytes(11).expect("memory");
    device.write_bytes(&x, 0, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]).expect("upload");
    device.write_bytes(&x, 8, &[20, 21, 22]).expect("upload");
    assert_eq!(device.read_bytes_blocking(&x, 5, 6).expect("read"), [6, 7, 8, 20, 21, 22]);
    assert!(matches!(device.write_bytes(&x, 8, &[0; 4]), Err(Error::OutOfRange { .. })));
    assert!(matches!(device.read_bytes_blocking(&x, 5, 7), Err(Error::OutOfRange { .. })));
    let none = device.allocate_bytes(0).expect("memory");
    assert_eq!(device.read_bytes_blocking(&none, 0, 0).expect("read"), []);
}

#[test]
fn reads_complete_on_any_executor() {
    let device = device();
    let kernel = add(&device);
    let x = device.allocate_bytes(4096).expect("memory");
    let y = device.allocate_bytes(4096).expect("memory");
    device.write_bytes(&x, 0, &[0; 4096]).expect("upload");
    let mut reads = Vec::new();
    for step in 0..20 {
        run(&device, &kernel, &x, &y, [step, 1]);
        reads.push(device.read_bytes(&y, 0, 4096));
    }
    // Awaited last to first, each sees the moment it was asked at.
    for (step, read) in (0..20).zip(reads).rev() {
        let got = words(&pollster::block_on(read).expect("read"));
        assert!(got.iter().all(|&v| v == step));
    }
}

#[test]
fn a_loop_reaches_a_steady_state() {
    let _alone = alone();
    let device = own_device();
    let kernel = add(&device);
    let x = device.allocate_bytes(4096).expect("memory");
    device.write_bytes(&x, 0, &[0; 4096]).expect("upload");
    let round = || {
        for step in 0..50 {
            let y = device.allocate_bytes(4096).expect("memory");
            run(&device, &kernel, &x, &y, [step, 1]);
        }
        device.read_bytes_blocking(&x, 0, 4).expect("read");
        device.usage().settled()
    };
    let first = round();
    for turn in 1..=10 {
        // The read-back of each round is what waits.
        assert_eq!(round(), Usage { waits: first.waits + turn, ..first });
    }
    assert_eq!(first.bind_groups, 1);
}

#[test]
fn one_device_serves_several_threads() {
    let device = device();
    let kernel = add(&device);
    std::thread::scope(|scope| {
        for thread in 0..4_u32 {
            let (device, kernel) = (device.clone(), Arc::clone(&kernel));
            scope.spawn(move || {
                let x = device.allocate_bytes(4096).expect("memory");
                let y = device.allocate_bytes(4096).expect("memory");
                device.write_bytes(&x, 0, &[0; 4096]).expect("upload");
                for step in 0..40 {
                    run(&device, &kernel, &x, &y, [thread * 1000 + step, 0]);
                    let got = words(&device.read_bytes_blocking(&y, 0, 4096).expect("read"));
                    assert!(got.iter().all(|&v| v == thread * 1000 + step));
                }
            });
        }
    });
}

#[test]
fn several_devices_live_side_by_side() {
    let _alone = alone();
    let (one, two) = (own_device(), own_device());
    assert!(!one.same_device(&two) && one.same_device(&one.clone()));
    ordered_commands_give_the_ordered_result(&one);
    ordered_commands_give_the_ordered_result(&two);
}

#[test]
fn an_applications_device_and_buffer_can_be_shared() {
    let _alone = alone();
    let adapter = pollster::block_on(adapters(wgpu::Backends::all())).into_iter().next().expect("an adapter");
    let descriptor = wgpu::DeviceDescriptor { required_limits: wgpu::Limits::downlevel_defaults(), ..Default::default() };
    let (device, queue) = pollster::block_on(adapter.handle.request_device(&descriptor)).expect("a device");
    let own = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 4096,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    queue.write_buffer(&own, 0, &[1; 4096]);
    let shared = pollster::block_on(Wgpu::from_device(device, queue)).expect("shared");
    // The application asked for no feature, so there are no immediates and nothing is sealed.
    assert!(!shared.report().sealed);
    let x = shared.adopt(own).expect("the usages are there");
    let kernel = add(&shared);
    run(&shared, &kernel, &x, &x, [1, 1]);
    let got = words(&shared.read_bytes_blocking(&x, 0, 4096).expect("read"));
    assert!(got.iter().all(|&v| v == 0x0101_0102));
    ordered_commands_give_the_ordered_result(&shared);
}

#[test]
fn memory_that_is_not_there_is_a_typed_error() {
    let device = device();
    let limit = device.caps().max_buffer_bytes;
    match device.allocate_bytes(limit + 1) {
        Err(Error::TooLarge { requested, limit: told, .. }) => assert_eq!((requested, told), (limit + 1, limit)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn device_time_is_measured_around_work() {
    let device = device();
    let kernel = add(&device);
    let x = device.allocate_bytes(1 << 22).expect("memory");
    let y = device.allocate_bytes(1 << 22).expect("memory");
    let seconds = device
        .time(&mut || {
            for step in 0..20 {
                run(&device, &kernel, &x, &y, [step, 1]);
            }
            Ok(())
        })
        .expect("timed");
    assert_eq!(seconds.is_some(), device.caps().timestamps);
    assert!(seconds.is_none_or(|s| s > 0.0 && s < 60.0), "{seconds:?}");
}

#[test]
fn devices_open_and_close_on_many_threads() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for n in 1..=3_u64 {
                    let device = own_device();
                    let buffer = device.allocate_bytes(4096 * n).expect("memory");
                    let kernel = add(&device);
                    run(&device, &kernel, &buffer, &device.allocate_bytes(4096 * n).expect("memory"), [1, 1]);
                    // The objects that are left keep the device open, and close it.
                    drop(device);
                    drop(buffer);
                }
            });
        }
    });
}

#[test]
fn long_reads_go_chunk_by_chunk() {
    let device = device();
    let len = (70 << 20) + 12_u64;
    let buffer = device.allocate_bytes(len).expect("memory");
    let data: Vec<u32> = (0..(len / 4) as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let data: &[u8] = bytemuck::cast_slice(&data);
    device.write_bytes(&buffer, 0, data).expect("upload");
    assert!(device.read_bytes_blocking(&buffer, 0, len).expect("read") == data);
    assert!(device.read_bytes_blocking(&buffer, 5, len - 6).expect("read") == data[5..data.len() - 1]);
    assert!(device.read_bytes_blocking(&buffer, 8, len).is_err());
}

#[test]
fn there_is_no_f64_without_64_bit_integers() {
    let _alone = alone();
    let options = Options { without: wgpu::Features::SHADER_INT64, ..Options::default() };
    let narrow = pollster::block_on(Wgpu::with_options(&options)).expect("an adapter");
    let has = |d| narrow.caps().dtypes.contains(&d);
    assert!(!has(DType::F64) && !has(DType::I64) && !has(DType::U64));
}
