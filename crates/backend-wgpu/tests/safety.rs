//! Sealed kernels skip wgpu's own checks; these tests show that what they promise still holds.

use isowarp_core::backend::Backend;
use isowarp_core::caps::Capability;
use isowarp_core::error::Error;
use isowarp_wgpu::{Binding, Buffer, KernelSource, Wgpu, seal};
use std::sync::OnceLock;

/// One device for all tests: drivers deadlock where many are closed by many threads at once.
fn device() -> Wgpu {
    static DEVICE: OnceLock<Wgpu> = OnceLock::new();
    DEVICE.get_or_init(|| Wgpu::new_blocking().expect("an adapter")).clone()
}

fn words(device: &Wgpu, buffer: &Buffer, n: u64) -> Vec<u32> {
    bytemuck::pod_collect_to_vec(&device.read_bytes_blocking(buffer, 0, n * 4).expect("read"))
}

fn filled(device: &Wgpu, values: &[u32]) -> Buffer {
    let buffer = device.allocate_bytes(values.len() as u64 * 4).expect("memory");
    device.write_bytes(&buffer, 0, bytemuck::cast_slice(values)).expect("upload");
    buffer
}

fn part(buffer: &Buffer, words: u64) -> Binding<'_> {
    Binding { buffer, offset_bytes: 0, size_bytes: words * 4 }
}

#[test]
fn reads_past_a_binding_are_clamped_to_its_last_element() {
    let device = device();
    let kernel = device
        .kernel(&KernelSource {
            name: "read past the end",
            wgsl: "@group(0) @binding(0) var<storage, read> x: array<u32>;
                @group(0) @binding(1) var<storage, read_write> y: array<u32>;
                @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                    y[id.x] = x[id.x * x[0] + id.x];
                }",
            entry: "main",
        })
        .expect("compiles");
    // The buffer is longer than the binding: what lies behind the window must not be seen.
    let mut values: Vec<u32> = (0..64).map(|i| 1000 + i).collect();
    values[0] = 1;
    values[3] = 33;
    let x = filled(&device, &values);
    let y = filled(&device, &[7; 64]);
    device.dispatch(&kernel, &[part(&x, 4), part(&y, 64)], &[], [1, 1, 1]).expect("dispatch");
    let got = words(&device, &y, 64);
    assert_eq!(&got[..2], &[1, 1002]);
    assert!(got[2..].iter().all(|&v| v == 33), "{got:?}");
}

#[test]
fn writes_past_a_binding_stay_inside_it() {
    let device = device();
    let kernel = device
        .kernel(&KernelSource {
            name: "write past the end",
            wgsl: "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
                @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                    y[id.x * 0x01000001u] = 5u;
                }",
            entry: "main",
        })
        .expect("compiles");
    let y = filled(&device, &[9; 256]);
    let beside = filled(&device, &[9; 256]);
    device.dispatch(&kernel, &[part(&y, 8)], &[], [4, 1, 1]).expect("dispatch");
    let got = words(&device, &y, 256);
    assert_eq!((got[0], got[7]), (5, 5));
    assert!(got[8..].iter().all(|&v| v == 9), "{got:?}");
    assert!(words(&device, &beside, 256).iter().all(|&v| v == 9));
}

#[test]
fn indices_past_a_workgroup_array_are_clamped() {
    let device = device();
    let kernel = device
        .kernel(&KernelSource {
            name: "workgroup array",
            wgsl: "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
                var<workgroup> before: array<u32, 64>;
                var<workgroup> s: array<u32, 16>;
                var<workgroup> after: array<u32, 64>;
                @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
                    before[i] = 1u;
                    after[i] = 2u;
                    workgroupBarrier();
                    s[y[i]] = 3u;
                    workgroupBarrier();
                    y[i] = before[i] + after[i] * 256u + s[y[i]] * 65536u;
                }",
            entry: "main",
        })
        .expect("compiles");
    let y = filled(&device, &(0..64).map(|i| 15 + i * 7919).collect::<Vec<_>>());
    device.dispatch(&kernel, &[part(&y, 64)], &[], [1, 1, 1]).expect("dispatch");
    assert!(words(&device, &y, 64).iter().all(|&v| v == 1 + 2 * 256 + 3 * 65536));
}

#[test]
fn workgroup_memory_starts_zeroed() {
    let device = device();
    let dirty = device
        .kernel(&KernelSource {
            name: "dirty",
            wgsl: "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
                var<workgroup> s: array<u32, 2048>;
                @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
                    for (var k = i; k < 2048u; k += 64u) { s[k] = 0xdeadbeefu + k; }
                    workgroupBarrier();
                    y[i] = s[(i * 31u) % 2048u];
                }",
            entry: "main",
        })
        .expect("compiles");
    let sum = device
        .kernel(&KernelSource {
            name: "sum of untouched memory",
            wgsl: "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
                var<workgroup> s: array<u32, 2048>;
                @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) g: vec3<u32>) {
                    var all = 0u;
                    for (var k = i; k < 2048u; k += 64u) { all |= s[k]; }
                    y[g.x * 64u + i] = all;
                }",
            entry: "main",
        })
        .expect("compiles");
    let y = filled(&device, &[7; 4096]);
    for _ in 0..4 {
        device.dispatch(&dirty, &[part(&y, 4096)], &[], [64, 1, 1]).expect("dispatch");
        device.dispatch(&sum, &[part(&y, 4096)], &[], [64, 1, 1]).expect("dispatch");
    }
    assert!(words(&device, &y, 4096).iter().all(|&v| v == 0));
}

#[test]
fn an_invalid_kernel_is_a_compile_error_with_nagas_message() {
    let device = device();
    for (wgsl, part) in [
        ("@compute @workgroup_size(1) fn main() { let x: u32 = 1.5f; }", "u32"),
        ("@compute @workgroup_size(1) fn main() { nonsense(); }", "nonsense"),
        ("@group(0) @binding(1) var<storage, read_write> y: array<u32>; @compute @workgroup_size(1) fn main() { y[0] = 1u; }", "gap"),
        ("fn other() {}", "no compute entry point `main`"),
    ] {
        match device.kernel(&KernelSource { name: "broken", wgsl, entry: "main" }) {
            Err(Error::Compile { kernel, log }) => {
                assert_eq!(kernel, "broken");
                assert!(log.contains(part), "{log}");
            }
            other => panic!("{wgsl}: {other:?}"),
        }
    }
}

#[test]
fn a_kernel_above_a_limit_of_the_device_is_refused_with_the_limit() {
    let device = device();
    let limits = device.limits().clone();
    let refused = |wgsl: &str| match device.kernel(&KernelSource { name: "large", wgsl, entry: "main" }) {
        Err(Error::Unsupported { pattern: "kernel", capability, .. }) => capability,
        other => panic!("{wgsl}: {other:?}"),
    };
    let most = limits.max_compute_invocations_per_workgroup;
    let size = Capability::WorkgroupSize { needed: 4 * most, limit: most };
    assert_eq!(refused(&format!("@compute @workgroup_size({most}, 4) fn main() {{}}")), size);
    assert!(size.to_string().contains(&format!("its limit is {most}")), "{size}");
    let words = limits.max_compute_workgroup_storage_size / 4 + 4;
    let memory = Capability::WorkgroupMemory { needed: 4 * words, limit: limits.max_compute_workgroup_storage_size };
    let text = format!("var<workgroup> s: array<u32, {words}>; @compute @workgroup_size(1) fn main() {{ s[0] = 1u; }}");
    assert_eq!(refused(&text), memory);
    let most = limits.max_storage_buffers_per_shader_stage;
    let text: String = (0..=most).map(|k| format!("@group(0) @binding({k}) var<storage, read_write> y{k}: array<u32>;\n")).collect();
    if most < 64 {
        assert_eq!(refused(&(text + "@compute @workgroup_size(1) fn main() {}")), Capability::StorageBuffers(most + 1));
    }
}

#[test]
fn a_dispatch_that_does_not_fit_its_kernel_is_refused_before_it_is_recorded() {
    let device = device();
    let wgsl = "struct Params { n: u32 }
        var<immediate> p: Params;
        @group(0) @binding(0) var<storage, read_write> y: array<u32>;
        @compute @workgroup_size(1) fn main() { y[0] = p.n; }";
    let kernel = device.kernel(&KernelSource { name: "one", wgsl, entry: "main" }).expect("compiles");
    let y = filled(&device, &[1; 16]);
    let n = 5_u32.to_le_bytes();
    let one = [part(&y, 16)];
    assert!(matches!(device.dispatch(&kernel, &[], &n, [1, 1, 1]), Err(Error::InvalidArgument { what: "bindings", .. })));
    assert!(matches!(device.dispatch(&kernel, &one, &[], [1, 1, 1]), Err(Error::InvalidArgument { what: "params", .. })));
    assert!(matches!(device.dispatch(&kernel, &one, &n, [1 << 20, 1, 1]), Err(Error::TooLarge { .. })));
    assert!(matches!(device.dispatch(&kernel, &[part(&y, 1 << 20)], &n, [1, 1, 1]), Err(Error::OutOfRange { .. })));
    let odd = [Binding { buffer: &y, offset_bytes: 4, size_bytes: 16 }];
    assert!(matches!(device.dispatch(&kernel, &odd, &n, [1, 1, 1]), Err(Error::Driver { .. })));
    device.dispatch(&kernel, &one, &n, [1, 1, 1]).expect("a right one still runs");
    assert_eq!(words(&device, &y, 2), [5, 1]);
}

#[test]
fn naga_refuses_what_the_device_was_not_opened_with() {
    let wgsl = "@group(0) @binding(0) var<storage, read_write> y: array<f64>;
        @compute @workgroup_size(1) fn main() { y[0] = 1.0lf; }";
    let error = seal::parse("f64", wgsl, seal::capabilities(wgpu::Features::empty())).expect_err("f64 needs a feature");
    assert!(matches!(error, Error::Compile { .. }));
}
