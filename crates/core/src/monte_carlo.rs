//! Monte Carlo: estimates with their errors, prices of options, random walks, and the Ising model, with the same bits on every device.
//!
//! All of it is made of [random numbers](crate::random), loops, maps and reductions, so a simulation stores no number that it draws.

mod estimate;
mod host;
pub mod ising;
pub mod options;
pub mod walks;

pub use estimate::{Estimate, MonteCarlo};
pub use ising::{Acceptance, Ising, Observed, Series, Start};
pub use options::{Average, Barrier, Contract, Kind, Right};
pub use walks::{gaussian_walk, lattice_walk};
