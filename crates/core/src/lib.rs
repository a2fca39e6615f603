//! The heart of isowarp: element types, the operator IR, the numerics, what devices can do, and one trait per parallel pattern.
//!
//! This crate knows no GPU. A backend implements [`backend::Backend`] and [`backend::Run`] for the tasks of [`patterns`]; the typed
//! methods that users call ([`patterns::Map`], [`patterns::Reduce`], ...) are written once, here, over those.

pub mod backend;
pub mod buffer;
pub mod call;
pub mod caps;
pub mod dynamic;
pub mod element;
pub mod error;
pub mod expression;
pub mod host;
pub mod input;
pub mod ir;
pub mod launch;
pub mod minifloat;
pub mod monte_carlo;
pub mod numerics;
pub mod ops;
pub mod patterns;
pub mod random;

pub use error::{Error, Result};
