//! Algorithms of the textbooks, from the first idea to what became the pattern, for teaching and for benchmarks.
//!
//! Each is a [`Variant`](isowarp_core::call::Variant) of a pattern, which the modifier `variant` of its call takes: [`ReduceVariant`], [`ScanVariant`],
//! [`HistogramVariant`], [`SortVariant`], [`MergeVariant`], [`ProductVariant`]. The pattern itself is the last of each. Where order counts, each has one of
//! its own, the same on every device:
//!
//! ```
//! use isowarp::prelude::*;
//! use isowarp_textbook::{HistogramVariant, MergeVariant, ReduceVariant, ScanVariant, SortVariant};
//!
//! let dev = isowarp::Cpu::new();
//! let x = dev.upload(&[2u32, 1, 3, 1, 0, 4, 1, 2])?;
//! for variant in ScanVariant::ALL {
//!     let y = dev.scan(&x, Sum).variant(variant).run()?;
//!     assert_eq!(y.read_blocking()?, [2, 3, 6, 7, 7, 11, 12, 14], "{}", variant.name());
//! }
//! for variant in SortVariant::ALL {
//!     assert_eq!(dev.sort(&x).variant(variant).run()?.read_blocking()?, [0, 1, 1, 1, 2, 2, 3, 4], "{}", variant.name());
//! }
//! for variant in HistogramVariant::ALL {
//!     assert_eq!(dev.histogram(even_bins(&x, 0, 6, 3)).variant(variant).run()?.read_blocking()?, [4, 3, 1], "{}", variant.name());
//! }
//! let (a, b) = (dev.upload(&[1u32, 7, 8])?, dev.upload(&[7u32, 10])?);
//! for variant in MergeVariant::ALL {
//!     assert_eq!(dev.merge(&a, &b).variant(variant).run()?.read_blocking()?, [1, 7, 7, 8, 10], "{}", variant.name());
//! }
//! let x = dev.upload(&[1e8f32, 1.0, -1e8, 1.0])?;
//! let sum = |variant| dev.reduce(&x, Sum).variant(variant).run()?.read_blocking();
//! assert_eq!(sum(ReduceVariant::Convergent)?, 0.0); // (1e8 + 1) + (-1e8 + 1): both ones are lost
//! assert_eq!(sum(ReduceVariant::FoldInHalf)?, 2.0); // (1e8 - 1e8) + (1 + 1)
//! # Ok::<(), isowarp::Error>(())
//! ```
//!
//! The crate is made of nothing but `isowarp-core`, as a crate of yours would be: [`kernels`] are rows with WGSL and PTX of their own, plans launch them, and
//! definitions in Rust are what the processor runs. No backend knows it, and no program carries it that does not name it.

mod any;
mod columns;
pub mod histogram;
pub mod kernels;
pub mod merge;
pub mod product;
pub mod reduce;
pub mod scan;
pub mod sort;
#[cfg(test)]
mod tests;

pub use any::Textbook;
pub use histogram::HistogramVariant;
pub use merge::MergeVariant;
pub use product::ProductVariant;
pub use reduce::ReduceVariant;
pub use scan::ScanVariant;
pub use sort::SortVariant;
