//! The wgpu backend of isowarp: Vulkan, Metal and DX12 through one API.
//!
//! [`Wgpu`] opens an adapter, measures its arithmetic ([`Report`]), and runs kernels in queue order. On Vulkan every kernel is sealed
//! (module [`seal`]), so that no driver may contract, factor or flush what the numerics contract fixes.

mod batch;
mod binds;
mod buffer;
mod clock;
mod context;
mod device;
mod driver;
mod faults;
#[cfg(test)]
mod faults_tests;
mod lifetime;
mod patterns;
mod pipeline;
mod pool;
mod probe;
mod readback;
pub mod seal;
mod survey;

pub use batch::{Grid, fold};
pub use binds::Binding;
pub use buffer::{Buffer, Window, window, windows};
pub use context::{Adapter, Options, adapters, kind};
pub use device::{Usage, Wgpu};
pub use pipeline::{Kernel, KernelSource};
pub use probe::{F64Report, Report, Seed, Seeds, SubgroupReport, fma_prelude, fma64_prelude};
pub use survey::Survey;
