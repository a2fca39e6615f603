//! Sharing a device with an application through wgpu's own handles, in both directions.

use isowarp::Wgpu;
use isowarp::backend::Backend as _;
use isowarp::prelude::*;

/// An application: a device with nothing but WebGPU's defaults, a queue, and a buffer that it has written.
struct Application {
    device: wgpu::Device,
    queue: wgpu::Queue,
    particles: wgpu::Buffer,
}

const N: u64 = 10_000;

fn buffer(device: &wgpu::Device, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor { label: None, size: 4 * N, usage, mapped_at_creation: false })
}

/// `None` where the environment says that there is no adapter.
fn application() -> Option<Application> {
    crate::common::gpus().iter().find(|d| d.caps().backend == "wgpu")?;
    let adapter = pollster::block_on(isowarp::wgpu::adapters(wgpu::Backends::all())).into_iter().next().expect("an adapter");
    let (device, queue) = pollster::block_on(adapter.handle.request_device(&wgpu::DeviceDescriptor::default())).expect("a device");
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let particles = buffer(&device, usage);
    let words: Vec<u32> = (0..N as u32).collect();
    queue.write_buffer(&particles, 0, bytemuck::cast_slice(&words));
    Some(Application { device, queue, particles })
}

#[test]
fn an_application_brings_its_device_and_buffer_and_takes_results_back_in_place() {
    let Some(app) = application() else { return };
    let dev = pollster::block_on(Wgpu::from_device(app.device.clone(), app.queue.clone())).expect("shared");
    assert!(*dev.device() == app.device && *dev.queue() == app.queue, "the same handles are given back");

    let raw = dev.adopt(app.particles.clone()).expect("the usages are there");
    let x = Buffer::<Wgpu, u32>::from_raw(&dev, raw, 0, N).expect("as long as that");
    assert_eq!(u64::from(dev.sum(&x).expect("summed").read_blocking().expect("read")), N * (N - 1) / 2);
    // In place, in the application's own memory.
    dev.map_into(&x, |x| x * 2 + 1, &x).expect("mapped");
    let prefixes = dev.cumsum(&x).expect("scanned");
    dev.submit().expect("handed to the queue");

    // The application reads both through its own queue: its buffer, and ours by wgpu's handle.
    for (from, expected) in [(&app.particles, 2 * (N - 1) + 1), (prefixes.raw().as_wgpu(), N * N)] {
        let read = buffer(&app.device, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
        let mut encoder = app.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(from, 0, &read, 0, 4 * N);
        app.queue.submit([encoder.finish()]);
        read.slice(..).map_async(wgpu::MapMode::Read, |mapped| mapped.expect("mapped"));
        app.device.poll(wgpu::PollType::wait_indefinitely()).expect("done");
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&read.slice(..).get_mapped_range().expect("mapped"));
        assert_eq!(u64::from(words[N as usize - 1]), expected);
    }
}

#[test]
fn the_applications_writes_are_seen_between_our_patterns() {
    let Some(app) = application() else { return };
    let dev = pollster::block_on(Wgpu::from_device(app.device.clone(), app.queue.clone())).expect("shared");
    let x = Buffer::<Wgpu, u32>::from_raw(&dev, dev.adopt(app.particles.clone()).expect("adopted"), 0, N).expect("as long");
    for round in 1..4u32 {
        dev.submit().expect("what was enqueued before goes first");
        app.queue.write_buffer(&app.particles, 0, &round.to_le_bytes());
        let expected = (N * (N - 1) / 2) as u32 + round;
        assert_eq!(dev.sum(&x).expect("summed").read_blocking().expect("read"), expected);
    }
}

#[test]
fn a_buffer_without_the_usages_is_refused() {
    let Some(app) = application() else { return };
    let dev = pollster::block_on(Wgpu::from_device(app.device.clone(), app.queue.clone())).expect("shared");
    let vertices = buffer(&app.device, wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST);
    let error = dev.adopt(vertices).expect_err("no storage").to_string();
    assert!(error.contains("wgpu buffer") && error.contains("STORAGE"), "{error}");
}
