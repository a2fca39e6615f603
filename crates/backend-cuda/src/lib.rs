//! NVIDIA GPUs through the CUDA driver API.
//!
//! The driver library is loaded at run time: the crate builds and runs everywhere, and where there is no driver
//! [`Cuda::new`] returns `Error::Unavailable`. Kernels are PTX templates (see [`splice`]) that the driver compiles.
//!
//! Everything that one handle enqueues happens in the order it was asked. A buffer may be used on any stream of its device;
//! order uses on different streams with [`Stream::record`] and [`Stream::wait`]. Freeing is always ordered behind use.
//!
//! ```
//! use isowarp_core::backend::Backend;
//! use isowarp_cuda::Cuda;
//!
//! match Cuda::new(0) {
//!     Ok(gpu) => println!("{}: {} multiprocessors", gpu.caps().device, gpu.caps().compute_units),
//!     Err(error) => println!("{error}"),
//! }
//! ```

mod backend;
mod context;
mod device;
mod driver;
mod hold;
mod interop;
mod launch;
mod memory;
mod module;
mod patterns;
mod pinned;
mod pool;
mod queue;
mod read;
pub mod splice;
mod stream;
mod transfer;

pub use backend::Cuda;
pub use driver::{DeviceInfo, Driver};
pub use hold::Hold;
pub use launch::{Args, Extra, Grid, In, MAX_INPUTS, MAX_OUTPUTS, MAX_SCRATCH, MAX_WORDS};
pub use memory::Buffer;
pub use module::{Kernel, KernelKey};
pub use stream::{Event, Stream};

/// The driver API's own types, in the version that this crate uses.
pub use cudarc::driver::sys;
