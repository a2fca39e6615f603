//! Device time of a plain elementwise kernel of a caller, element by element and in vectors, and running out of memory.

use isowarp_core::backend::Backend;
use isowarp_wgpu::{Binding, KernelSource, Wgpu, fold};

const SCALAR: &str = "struct Params { n: u32 }
    var<immediate> p: Params;
    @group(0) @binding(0) var<storage, read> x: array<f32>;
    @group(0) @binding(1) var<storage, read_write> y: array<f32>;
    @compute @workgroup_size(256)
    fn main(@builtin(workgroup_id) g: vec3<u32>, @builtin(num_workgroups) n: vec3<u32>, @builtin(local_invocation_index) l: u32) {
        let i = ((g.z * n.y + g.y) * n.x + g.x) * 256u + l;
        if i < p.n { y[i] = fma(x[i], 2.0, 1.0); }
    }";
const VECTOR: &str = "struct Params { n: u32 }
    var<immediate> p: Params;
    @group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
    @group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>>;
    @compute @workgroup_size(256)
    fn main(@builtin(workgroup_id) g: vec3<u32>, @builtin(num_workgroups) n: vec3<u32>, @builtin(local_invocation_index) l: u32) {
        let i = ((g.z * n.y + g.y) * n.x + g.x) * 256u + l;
        if i < p.n / 4u { y[i] = fma(x[i], vec4<f32>(2.0), vec4<f32>(1.0)); }
    }";

fn main() {
    let n: u64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1 << 24);
    let device = Wgpu::new_blocking().expect("an adapter");
    let x = device.allocate_bytes(n * 4).expect("memory");
    let y = device.allocate_bytes(n * 4).expect("memory");
    device.clear(&x, 0, n * 4).expect("clear");
    for (name, wgsl, per_group) in [("scalar", SCALAR, 256), ("vec4", VECTOR, 1024)] {
        let kernel = device.kernel(&KernelSource { name, wgsl, entry: "main" }).expect("compiles");
        let whole = |buffer| Binding { buffer, offset_bytes: 0, size_bytes: n * 4 };
        let grid = fold(n.div_ceil(per_group), device.caps().max_groups_per_dim).expect("fits");
        let mut best = f64::INFINITY;
        for _ in 0..10 {
            let seconds =
                device.time(&mut || device.dispatch(&kernel, &[whole(&x), whole(&y)], &(n as u32).to_le_bytes(), grid)).expect("timed");
            best = best.min(seconds.unwrap_or(f64::INFINITY));
        }
        println!("{name}: {:.1} us, {:.1} GB/s", best * 1e6, n as f64 * 8e-9 / best);
    }
    if std::env::args().nth(2).as_deref() == Some("exhaust") {
        let mut held = Vec::new();
        let size = device.caps().max_buffer_bytes.min(16 << 30);
        let error = loop {
            match device.allocate_bytes(size) {
                Ok(buffer) => held.push(buffer),
                Err(error) => break error,
            }
            if held.len() > 64 {
                println!("64 buffers of {size} bytes were promised");
                return;
            }
        };
        println!("after {} buffers of {size} bytes: {error}", held.len());
        held.clear();
        device.trim();
        device.synchronize().expect("the device lives on");
        println!("and after freeing them: {:?}", device.allocate_bytes(size).map(|_| "allocated"));
    }
}
