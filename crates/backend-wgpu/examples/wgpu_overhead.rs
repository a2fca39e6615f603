//! Measures what the host pays: per enqueued dispatch, per upload, per read-back, per allocation.

use isowarp_core::backend::Backend;
use isowarp_wgpu::{Binding, KernelSource, Options, Wgpu};
use std::time::Instant;

const WGSL: &str = "struct Params { n: u32, add: u32 }
    var<immediate> p: Params;
    @group(0) @binding(0) var<storage, read> x: array<u32>;
    @group(0) @binding(1) var<storage, read_write> y: array<u32>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x < p.n { y[id.x] = x[id.x] + p.add; }
    }";

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn measure(what: &str, count: u32, rounds: u32, mut work: impl FnMut(), mut between: impl FnMut()) {
    let times = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..count {
                work();
            }
            let seconds = start.elapsed().as_secs_f64() / f64::from(count);
            between();
            seconds
        })
        .collect();
    println!("{what}: {:.2} us", median(times) * 1e6);
}

fn main() {
    for without in [wgpu::Features::empty(), wgpu::Features::IMMEDIATES] {
        let options = Options { without, ..Options::default() };
        let start = Instant::now();
        let device = pollster::block_on(Wgpu::with_options(&options)).expect("an adapter");
        println!("{}: opened in {:?}, probe {:?}", device.caps().device, start.elapsed(), device.report().elapsed);
        println!("parameters by {}", if without.is_empty() { "immediates" } else { "uniform arena" });
        let kernel = device.kernel(&KernelSource { name: "add", wgsl: WGSL, entry: "main" }).expect("compiles");
        let buffers: Vec<_> = (0..16).map(|_| device.allocate_bytes(1024).expect("memory")).collect();
        let sync = || device.synchronize().expect("synchronize");
        let mut at = 0;
        let params = [256_u32, 1];
        let mut dispatch = || {
            let (x, y) = (&buffers[at % 16], &buffers[(at * 7 + 1) % 16]);
            at += 2;
            let bindings =
                [Binding { buffer: x, offset_bytes: 0, size_bytes: 1024 }, Binding { buffer: y, offset_bytes: 0, size_bytes: 1024 }];
            device.dispatch(&kernel, &bindings, bytemuck::cast_slice(&params), [4, 1, 1]).expect("dispatch");
        };
        measure("dispatch, submissions included", 1000, 30, &mut dispatch, sync);
        measure("dispatch, recording only", 100, 30, &mut dispatch, sync);
        measure(
            "allocate, dispatch into it, drop",
            1000,
            20,
            || {
                let y = device.allocate_bytes(1024).expect("memory");
                let bindings = [
                    Binding { buffer: &buffers[0], offset_bytes: 0, size_bytes: 1024 },
                    Binding { buffer: &y, offset_bytes: 0, size_bytes: 1024 },
                ];
                device.dispatch(&kernel, &bindings, bytemuck::cast_slice(&params), [4, 1, 1]).expect("dispatch");
            },
            sync,
        );
        measure("upload of 1 KiB", 100, 20, || device.write_bytes(&buffers[0], 0, &[1; 1024]).expect("upload"), sync);
        measure("read of 4 bytes, waiting", 100, 20, || drop(device.read_bytes_blocking(&buffers[0], 0, 4).expect("read")), || {});
        measure(
            "dispatch and read of 4 bytes, waiting",
            100,
            20,
            || {
                dispatch();
                drop(device.read_bytes_blocking(&buffers[0], 0, 4).expect("read"));
            },
            || {},
        );
        let large = vec![1_u8; 256 << 20];
        let start = Instant::now();
        drop(std::hint::black_box(large.clone()));
        println!("256 MiB: a fresh copy on the host {:.2} GB/s", 0.268_435_456 / start.elapsed().as_secs_f64());
        let big = device.allocate_bytes(large.len() as u64).expect("memory");
        for _ in 0..2 {
            let start = Instant::now();
            device.write_bytes(&big, 0, &large).expect("upload");
            sync();
            let up = start.elapsed().as_secs_f64();
            let start = Instant::now();
            drop(device.read_bytes_blocking(&big, 0, large.len() as u64).expect("read"));
            let down = start.elapsed().as_secs_f64();
            println!("256 MiB: upload {:.2} GB/s, read {:.2} GB/s", 0.268_435_456 / up, 0.268_435_456 / down);
        }
    }
}
