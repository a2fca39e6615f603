//! The conformance suite of isowarp: every pattern, once, generic over the backend; compared bit for bit.
//!
//! [`table`] lists the cases. A case computes outputs from inputs that are functions of its name alone, so its result is a function of its name
//! too: the same bytes on every device. [`run`] computes every case on the CPU, which is the definition, and on every device of the machine, and
//! compares all bytes; and it compares a digest of them with those that other devices produced elsewhere and that `digests.json` keeps.
//!
//! Which comparison answers what:
//! - *identity* (this library): do all devices return the same bits? No tolerance, no rounding, nothing skipped without a reason in the report;
//! - *accuracy* (`tests/suite/accuracy.rs`): are the bits right? Closed forms, published values and NumPy's results, with stated bounds;
//! - *properties* (`tests/suite/properties.rs`): random shapes and operators, shrunk to the smallest that differs;
//! - *fuzzing* ([`mod@fuzz`]): what nobody thought of: random operators and patterns, for as long as there is time.

pub mod case;
pub mod coverage;
pub mod data;
pub mod devices;
pub mod fuzz;
pub mod patterns;
pub mod recorded;
pub mod report;
mod run;

pub use case::{Case, Cases, Output, Outputs, Target};
pub use devices::{Again, Part, Present, present};
pub use patterns::table;
pub use report::Report;
pub use run::{Level, Options, run};
