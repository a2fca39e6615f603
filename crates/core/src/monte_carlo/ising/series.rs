//! Averages over the states of a simulation, with errors that know of its correlations.

use super::super::Estimate;

/// Sums over a lattice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Observed {
    /// Spins that are up.
    pub up: u64,
    /// Pairs of neighbours that are equal.
    pub equal: u64,
}

/// Sums over the states of a simulation, one after the other. Estimates are of averages over states, and their errors are those of at most 32 bins of
/// consecutive states, by the jackknife; bins longer than the time in which states forget each other make them right.
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    /// Sites of the lattice.
    pub sites: u64,
    /// Its axes, two or three: each site has as many pairs of neighbours.
    pub axes: u32,
    /// Sums of each state.
    pub observed: Vec<Observed>,
}

/// Bins of a series.
const BINS: usize = 32;

impl Series {
    /// Magnetisation of each state, by site: from -1 to 1.
    pub fn magnetisations(&self) -> impl Iterator<Item = f64> {
        self.observed.iter().map(|of| (2.0 * of.up as f64 - self.sites as f64) / self.sites as f64)
    }

    /// Energy of each state, by site: minus the axes at least.
    pub fn energies(&self) -> impl Iterator<Item = f64> {
        let pairs = self.sites as f64 * f64::from(self.axes);
        self.observed.iter().map(move |of| (pairs - 2.0 * of.equal as f64) / self.sites as f64)
    }

    /// Mean size of the magnetisation by site.
    #[must_use]
    pub fn magnetisation(&self) -> Estimate {
        self.estimate(self.magnetisations().map(|m| [m.abs(), 0.0]), |[m, _]| m)
    }

    /// Mean energy by site.
    #[must_use]
    pub fn energy(&self) -> Estimate {
        self.estimate(self.energies().map(|e| [e, 0.0]), |[e, _]| e)
    }

    /// Binder's cumulant `1 - <m^4> / (3 <m^2>^2)`: 2/3 in the ordered phase, 0 in the other, and between them at the critical temperature whatever the size.
    #[must_use]
    pub fn binder(&self) -> Estimate {
        self.estimate(self.magnetisations().map(|m| [m.powi(2), m.powi(4)]), |[second, fourth]| 1.0 - fourth / (3.0 * second * second))
    }

    /// Heat capacity by site: `beta^2` times the sites times the variance of the energy by site.
    #[must_use]
    pub fn heat_capacity(&self, beta: f64) -> Estimate {
        let factor = beta * beta * self.sites as f64;
        self.estimate(self.energies().map(|e| [e, e * e]), |[e, square]| factor * (square - e * e))
    }

    /// Susceptibility by site: `beta` times the sites times the variance of the size of the magnetisation by site.
    #[must_use]
    pub fn susceptibility(&self, beta: f64) -> Estimate {
        let factor = beta * self.sites as f64;
        self.estimate(self.magnetisations().map(|m| [m.abs(), m * m]), |[m, square]| factor * (square - m * m))
    }

    /// `f` of the means of two values of each state.
    fn estimate(&self, values: impl Iterator<Item = [f64; 2]>, f: impl Fn([f64; 2]) -> f64) -> Estimate {
        let values: Vec<[f64; 2]> = values.collect();
        let sum = |of: &[[f64; 2]]| of.iter().fold([0.0; 2], |sum, x| [sum[0] + x[0], sum[1] + x[1]]);
        let (all, n) = (sum(&values), values.len());
        let mean = |[a, b]: [f64; 2], n: usize| f([a / n as f64, b / n as f64]);
        let bins = n.min(BINS);
        // Each bin is left out in turn.
        let without: Vec<f64> = (0..bins)
            .map(|bin| {
                let of = &values[bin * n / bins..(bin + 1) * n / bins];
                let [a, b] = sum(of);
                mean([all[0] - a, all[1] - b], n - of.len())
            })
            .collect();
        let centre = without.iter().sum::<f64>() / bins as f64;
        let squares: f64 = without.iter().map(|x| (x - centre).powi(2)).sum();
        let standard_error = if bins < 2 { f64::INFINITY } else { (squares * (bins as f64 - 1.0) / bins as f64).sqrt() };
        Estimate { mean: mean(all, n), standard_error, n: n as u64 }
    }
}
