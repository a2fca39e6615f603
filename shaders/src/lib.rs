//! The WGSL of isowarp: kernels, one file per pattern, and the numerics prelude that they share.
//!
//! The prelude is a set of snippets, one function each. [`prelude()`] puts together those that a kernel calls, with everything that
//! they call in turn, so that a kernel mentions 64-bit types only if it computes with them.
//!
//! ```
//! use std::collections::BTreeSet;
//!
//! let calls = BTreeSet::from(["iw_div".to_owned()]);
//! let text = isowarp_shaders::prelude(&calls, &mut |name| match name {
//!     // This adapter's `fma` is fused, and its division is not trusted.
//!     "iw_fma" => isowarp_shaders::snippet("iw_fma@native"),
//!     _ => None,
//! })?;
//! assert!(text.contains("fn iw_div(") && !text.contains("iw_exp"));
//! # Ok::<(), isowarp_shaders::PreludeError>(())
//! ```

pub mod kernels;
mod snippets;

pub use snippets::{PreludeError, Snippet, names, prelude, renamed, snippet};

/// Hand-written numerics that need at most 64-bit integers, or the conversions of f64.
pub const PRELUDE: &str = include_str!("prelude.wgsl");

/// Hand-written forms for four elements at once.
pub const JOINT: &str = include_str!("joint.wgsl");

/// Hand-written f64 arithmetic.
pub const DOUBLE: &str = include_str!("double.wgsl");

/// The prelude's quotients and remainders of 64-bit integers.
pub const QUOTIENT: &str = include_str!("quotient.wgsl");

/// Generated elementary functions: `iw_exp`, `iw_div`, ... of f32.
pub const NUMERICS: &str = include_str!("numerics.wgsl");

/// Exact forms of operations, for devices that get these wrong.
pub const EXACT: &str = include_str!("exact.wgsl");
