//! Simulations whose parameters are known at run time.

use super::call::{Job, Results};
use crate::error::Result;
use crate::monte_carlo::options::payments;
use crate::monte_carlo::{Acceptance, Contract, Ising, Start};
use crate::patterns::Patterns;
use crate::random::Random;

/// A simulation: see [`monte_carlo`](crate::monte_carlo).
#[derive(Clone, PartialEq, Debug)]
pub enum Simulation {
    /// Spins of an [Ising](crate::monte_carlo::ising) lattice after so many sweeps, 1 and -1, `i8`.
    Ising {
        /// Its sides.
        shape: Vec<u32>,
        /// Spins before the first sweep.
        start: Start,
        /// The first place.
        from: Random,
        /// The thresholds.
        at: Acceptance,
        /// The number of sweeps.
        sweeps: u64,
    },
    /// Payments at the ends of so many paths of an [option](crate::monte_carlo::options), not discounted, `f32`.
    Payments {
        /// The option.
        of: Contract,
        /// The number of paths.
        paths: u64,
        /// The first place.
        from: Random,
    },
}

impl<B: Patterns> Job<'_, B> {
    pub(super) fn simulate(&self, of: &Simulation) -> Result<Results<B>> {
        let [] = self.take()?;
        match of {
            Simulation::Ising { shape, start, from, at, sweeps } => {
                let mut spins = Ising::new(self.device, shape, *start, *from)?;
                spins.sweep(*at, *sweeps)?;
                self.into(spins.shape().iter().product(), |out| spins.spins_into(out))
            }
            &Simulation::Payments { of, paths, from } => self.stored(paths, payments(of, paths, from, false)?),
        }
    }
}
