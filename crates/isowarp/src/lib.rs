//! Parallel patterns that return the same bits on every GPU.
//!
//! ```
//! use isowarp::prelude::*;
//!
//! let dev = Device::auto()?; // CUDA, else wgpu, else the CPU
//! let x = dev.upload(&[3.0f32, 1.0, 2.0])?;
//! let y = dev.map(&x, |x| x * 2.0 + 1.0)?; // traced once, compiled into the kernel
//! let total = dev.reduce(&y, Sum)?; // stays on the device
//! assert_eq!(total.read_blocking()?, 15.0);
//! # Ok::<(), isowarp::Error>(())
//! ```
//!
//! The patterns are traits with one method a variant: [`Map`](patterns::Map), [`Reduce`](patterns::Reduce), [`Scan`](patterns::Scan),
//! [`Select`](patterns::Select), [`Filter`](patterns::Filter). They run on [`Device`], which is chosen at run time, and on each backend's own handle
//! ([`Cpu`], `Wgpu`, `Cuda`) where the choice is made at compile time:
//!
//! ```
//! use isowarp::prelude::*;
//!
//! fn normalise<B: Map + Reduce>(dev: &B, x: &Buffer<B, f32>) -> isowarp::Result<Buffer<B, f32>> {
//!     let greatest = dev.reduce(x, Max)?;
//!     dev.zip((x, &greatest), |(x, m)| x / m)
//! }
//! # let dev = isowarp::Cpu::new();
//! # assert_eq!(normalise(&dev, &dev.upload(&[1.0, 4.0])?)?.read_blocking()?, [0.25, 1.0]);
//! # Ok::<(), isowarp::Error>(())
//! ```
//!
//! The rungs of the textbooks' ladders, from the first idea to what became the pattern, stay available for teaching and for benchmarks:
//! [`ReduceVariants`](patterns::ReduceVariants), [`ScanVariants`](patterns::ScanVariants). Each has an order of its own, the same on every device:
//!
//! ```
//! use isowarp::prelude::*;
//!
//! let dev = isowarp::Cpu::new();
//! let x = dev.upload(&[2u32, 1, 3, 1, 0, 4, 1, 2])?;
//! for variant in ScanVariant::ALL {
//!     let y = dev.scan_variant(variant, &x, Sum, false)?;
//!     assert_eq!(y.read_blocking()?, [2, 3, 6, 7, 7, 11, 12, 14], "{}", variant.name());
//! }
//! let x = dev.upload(&[1e8f32, 1.0, -1e8, 1.0])?;
//! let sum = |variant| dev.reduce_variant(variant, &x, Sum)?.read_blocking();
//! assert_eq!(sum(ReduceVariant::Convergent)?, 0.0); // (1e8 + 1) + (-1e8 + 1): both ones are lost
//! assert_eq!(sum(ReduceVariant::FoldInHalf)?, 2.0); // (1e8 - 1e8) + (1 + 1)
//! # Ok::<(), isowarp::Error>(())
//! ```

mod any;
mod select;

pub use any::{AnyEvent, AnyRaw, Device};
pub use isowarp_core::{Error, Result};
pub use isowarp_core::{backend, buffer, caps, dynamic, element, error, expression, input, ir, numerics, ops, patterns};
pub use select::{Choice, Selector};

#[cfg(feature = "cpu")]
pub use isowarp_cpu::Cpu;
#[cfg(feature = "cuda")]
pub use isowarp_cuda::Cuda;
#[cfg(feature = "wgpu")]
pub use isowarp_wgpu::Wgpu;

/// The CUDA backend's own interface: raw handles, streams, events.
#[cfg(feature = "cuda")]
pub use isowarp_cuda as cuda;
/// The wgpu backend's own interface: raw handles, options.
#[cfg(feature = "wgpu")]
pub use isowarp_wgpu as wgpu;

/// Everything that a program usually needs.
pub mod prelude {
    pub use crate::Device;
    pub use isowarp_core::buffer::{Buffer, DeviceScalar, Memory, View};
    pub use isowarp_core::caps::Numerics;
    pub use isowarp_core::input::{array, index, index64, lazy, scalar};
    pub use isowarp_core::ir::{Expr, branch, lit, select};
    pub use isowarp_core::ops::{And, Combine, Max, Min, Op, Or, Product, Sum, Xor};
    pub use isowarp_core::patterns::{Border, Filter, FilterKind, Image, Map, Reduce, Scan, Select, Selected};
    pub use isowarp_core::patterns::{ReduceVariant, ReduceVariants, ScanVariant, ScanVariants};
}

/// The examples of the README, compiled.
#[cfg(all(doctest, feature = "cpu", feature = "wgpu"))]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
