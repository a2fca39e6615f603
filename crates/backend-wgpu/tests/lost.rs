//! Devices that are lost, and applications' devices that lack something.

use isowarp_core::backend::Backend;
use isowarp_core::caps::{Capability, NumericsVerdict};
use isowarp_core::element::DType;
use isowarp_core::error::{Error, Result};
use isowarp_wgpu::{Binding, KernelSource, Wgpu, adapters};

const KERNEL: KernelSource<'_> = KernelSource {
    name: "add",
    wgsl: "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { y[id.x] += 1u; }",
    entry: "main",
};

/// An application that opens a device for itself.
fn application(features: impl FnOnce(&wgpu::Adapter) -> wgpu::Features, limits: wgpu::Limits) -> (wgpu::Device, wgpu::Queue) {
    let adapter = pollster::block_on(adapters(wgpu::Backends::all())).into_iter().next().expect("an adapter").handle;
    let descriptor = wgpu::DeviceDescriptor { required_features: features(&adapter), required_limits: limits, ..Default::default() };
    pollster::block_on(adapter.request_device(&descriptor)).expect("a device")
}

fn shared(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Wgpu> {
    pollster::block_on(Wgpu::from_device(device.clone(), queue.clone()))
}

/// Makes everything that calls take, takes the device away, and makes every call.
fn every_call_says_that_the_device_is_lost(device: &Wgpu) {
    let (x, y) = (device.allocate_bytes(1 << 20).expect("memory"), device.allocate_bytes(1 << 20).expect("memory"));
    device.write_bytes(&x, 0, &[1; 1 << 20]).expect("upload");
    let kernel = device.kernel(&KERNEL).expect("compiles");
    let run = || device.dispatch(&kernel, &[Binding { buffer: &x, offset_bytes: 0, size_bytes: 1 << 20 }], &[], [4096, 1, 1]);
    run().expect("dispatch");
    // Starts while the device is there, and ends when it is not.
    let reading = device.read_bytes(&x, 0, 1 << 20);
    run().expect("recorded, and not submitted");
    device.device().destroy();
    let calls: [(&str, &dyn Fn() -> Result<()>); 14] = [
        ("dispatch", &run),
        ("allocate", &|| device.allocate_bytes(1 << 22).map(drop)),
        ("allocate nothing", &|| device.allocate_bytes(0).map(drop)),
        ("upload", &|| device.write_bytes(&x, 0, &[0; 64])),
        ("upload within a word", &|| device.write_bytes(&x, 1, &[0; 2])),
        ("read", &|| device.read_bytes_blocking(&y, 0, 1 << 20).map(drop)),
        ("read later", &|| pollster::block_on(device.read_bytes(&y, 0, 64)).map(drop)),
        ("copy", &|| device.copy_bytes(&x, 0, &y, 0, 64)),
        ("copy inside", &|| device.copy_bytes(&x, 0, &x, 4096, 1024)),
        ("long copy", &|| device.copy_bytes(&x, 0, &y, 0, 1 << 20)),
        ("clear", &|| device.clear(&x, 0, 64)),
        ("submit", &|| device.submit()),
        ("synchronize", &|| device.synchronize()),
        ("time", &|| device.time(&mut || Ok(())).map(drop)),
    ];
    // Twice: a loss is reported for ever.
    for (name, call) in calls.iter().chain(&calls) {
        let outcome = call();
        assert!(matches!(outcome, Err(Error::DeviceLost { .. })), "{name}: {outcome:?}");
    }
    let other = KernelSource { name: "new", wgsl: &KERNEL.wgsl.replace("1u", "2u"), entry: "main" };
    let compiled = device.kernel(&other);
    assert!(matches!(compiled, Err(Error::DeviceLost { .. })), "{compiled:?}");
    // The copy was submitted before, so its bytes may still come.
    let read = pollster::block_on(reading);
    assert!(matches!(read, Ok(_) | Err(Error::DeviceLost { .. })), "{read:?}");
}

#[test]
fn every_call_on_a_device_that_was_destroyed_says_that_it_is_lost() {
    every_call_says_that_the_device_is_lost(&Wgpu::new_blocking().expect("an adapter"));
}

#[test]
fn an_applications_device_that_was_destroyed_is_lost_for_every_call_and_cannot_be_shared() {
    let (device, queue) = application(Wgpu::wanted_features, wgpu::Limits::default());
    // An application's handlers stay: what is refused on a lost device must not reach them.
    device.on_uncaptured_error(std::sync::Arc::new(|error| panic!("the application was bothered: {error}")));
    let other = shared(&device, &queue).expect("shared");
    every_call_says_that_the_device_is_lost(&other);
    let again = shared(&device, &queue);
    assert!(matches!(again, Err(Error::DeviceLost { .. })), "{again:?}");
}

#[test]
fn a_device_that_was_lost_unseen_cannot_be_shared() {
    let (device, queue) = application(|_| wgpu::Features::empty(), wgpu::Limits::default());
    device.destroy();
    let never = shared(&device, &queue);
    assert!(matches!(never, Err(Error::DeviceLost { .. })), "{never:?}");
}

#[test]
fn a_device_with_the_wanted_features_and_limits_is_as_good_as_our_own() {
    let own = Wgpu::new_blocking().expect("an adapter");
    let adapter = pollster::block_on(adapters(wgpu::Backends::all())).into_iter().next().expect("an adapter").handle;
    let (device, queue) = application(Wgpu::wanted_features, Wgpu::wanted_limits(&adapter));
    let theirs = shared(&device, &queue).expect("shared");
    assert_eq!((&theirs.caps().numerics, &theirs.caps().dtypes), (&own.caps().numerics, &own.caps().dtypes));
    assert_eq!(theirs.caps().device, own.caps().device, "nothing is missing");
}

#[test]
fn a_device_without_the_wanted_features_says_which_are_missing() {
    let (device, queue) = application(|_| wgpu::Features::empty(), wgpu::Limits::default());
    let bare = shared(&device, &queue).expect("shared");
    let caps = bare.caps();
    assert!(!caps.supports(DType::F64));
    for name in ["PASSTHROUGH_SHADERS", "SHADER_F64", "SHADER_INT64"] {
        assert!(caps.device.contains(name), "{}", caps.device);
    }
    if let NumericsVerdict::Unproven { witness } = &caps.numerics {
        assert!(witness.contains("Wgpu::wanted_features"), "{witness}");
    }
    let kernel = bare.kernel(&KERNEL).expect("compiles");
    assert_eq!(kernel.interface().workgroup_size, [64, 1, 1]);
}

#[test]
fn a_device_that_is_too_small_for_a_kernel_is_unsupported_with_its_limit() {
    let small = wgpu::Limits { max_compute_invocations_per_workgroup: 32, max_compute_workgroup_size_x: 32, ..wgpu::Limits::default() };
    let (device, queue) = application(|_| wgpu::Features::empty(), small);
    match shared(&device, &queue).and_then(|small| small.kernel(&KERNEL).map(drop)) {
        Err(Error::Unsupported { capability: Capability::WorkgroupSize { needed: 64, limit: 32 }, .. }) => {}
        other => panic!("{other:?}"),
    }
}
