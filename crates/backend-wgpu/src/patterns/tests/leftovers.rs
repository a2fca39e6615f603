//! Contents of workgroup memory before a kernel writes it.

use super::own_device;
use crate::binds::Binding;
use crate::context::Options;
use crate::device::Wgpu;
use crate::pipeline::{Kernel, KernelSource};
use isowarp_core::backend::Backend as _;
use isowarp_core::caps::DeviceKind;

const WORDS: u64 = 2048;
const GROUPS: u64 = 1024;
const MARK: u32 = 0xfeed_f00d;

/// Returns what each workgroup finds, before it leaves marks for the next.
fn found(device: &Wgpu, kernel: &Kernel) -> Vec<u32> {
    let bytes = WORDS * GROUPS * 4;
    let y = device.allocate_bytes(bytes).expect("memory");
    let binding = Binding { buffer: &y, offset_bytes: 0, size_bytes: bytes };
    device.dispatch(kernel, &[binding], &[], [GROUPS as u32, 1, 1]).expect("dispatch");
    bytemuck::pod_collect_to_vec(&device.read_bytes_blocking(&y, 0, bytes).expect("read"))
}

/// A kernel of the library that reads what it has not written would show in every test of its pattern: a thread of a software adapter runs its workgroups
/// in one piece of memory, so that each but a thread's first finds what another has left.
#[test]
fn kernels_of_the_library_find_what_another_workgroup_left_and_callers_kernels_zeroes() {
    let device = own_device(&Options::default());
    let wgsl = format!(
        "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
        var<workgroup> w: array<u32, {WORDS}>;
        @compute @workgroup_size(64)
        fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {{
            for (var i = lane; i < {WORDS}u; i += 64u) {{
                y[group.x * {WORDS}u + i] = w[i];
            }}
            workgroupBarrier();
            for (var i = lane; i < {WORDS}u; i += 64u) {{
                w[i] = {MARK}u;
            }}
        }}"
    );
    let source = KernelSource { name: "finds and leaves", wgsl: &wgsl, entry: "main" };
    let own = device.own_kernel(&source).expect("compiles");
    let callers = device.kernel(&source).expect("compiles");
    let left = found(&device, &own);
    if device.caps().kind == DeviceKind::Cpu {
        assert!(left.contains(&MARK), "no workgroup has found the marks");
    }
    assert!(found(&device, &callers).iter().all(|&v| v == 0));
}
