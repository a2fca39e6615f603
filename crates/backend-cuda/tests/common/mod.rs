//! The device of these tests: that of the machine, or the stub of `cargo xtask cuda-stub`.
//!
//! A test never passes in silence because there is no device. It fails, unless the environment says which devices the machine has and
//! names no CUDA device among them; then it says that it has tested nothing.

use isowarp_cuda::Cuda;

/// Names the devices that a machine has, as `cpu,wgpu`; the same variable as in the conformance suite.
const DEVICES: &str = "ISOWARP_TEST_DEVICES";

/// Whether a CUDA device is to be tested: not where the environment says that there is none.
fn expected() -> bool {
    let Ok(named) = std::env::var(DEVICES) else { return true };
    let cuda = named.split(',').any(|name| name.trim() == "cuda");
    if !cuda {
        eprintln!("NOT TESTED: {DEVICES}={named} says that this machine has no CUDA device; `cargo xtask cuda-stub --test` needs none");
    }
    cuda
}

/// The device, or `None` where none is to be tested.
pub(crate) fn gpu() -> Option<Cuda> {
    expected().then(|| {
        Cuda::new(0).unwrap_or_else(|e| {
            panic!("{e}\n  help: `cargo xtask cuda-stub --test` runs this on a stand-in for the driver; {DEVICES}=cpu,wgpu (the devices of this machine) does without")
        })
    })
}
