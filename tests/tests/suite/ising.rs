//! Ising lattices against a loop over sites, the exact sums of a small lattice, Onsager's solution, and what is refused.

use crate::common::{cpu, each};
use isowarp::monte_carlo::{Acceptance, Ising, Series, Start};
use isowarp::prelude::*;
use isowarp::random::Generator;
use isowarp::{Device, Error};

/// The contract, site by site: spins as 1 and -1, and where the next step's numbers are.
struct Sites {
    shape: Vec<u64>,
    spins: Vec<i8>,
    random: Random,
}

impl Sites {
    fn coordinates(&self, site: u64) -> Vec<u64> {
        let (mut rest, mut all) = (site, vec![0; self.shape.len()]);
        for (at, side) in all.iter_mut().zip(&self.shape).rev() {
            (*at, rest) = (rest % side, rest / side);
        }
        all
    }

    fn site(&self, at: &[u64]) -> u64 {
        at.iter().zip(&self.shape).fold(0, |site, (at, side)| site * side + at % side)
    }

    /// Counts the neighbours that a site's spin is equal to.
    fn equal(&self, at: &[u64]) -> u32 {
        let own = self.spins[self.site(at) as usize];
        let neighbour = |axis: usize, by: u64| {
            let mut beside = at.to_vec();
            beside[axis] += by;
            u32::from(self.spins[self.site(&beside) as usize] == own)
        };
        (0..at.len()).map(|axis| neighbour(axis, 1) + neighbour(axis, self.shape[axis] - 1)).sum()
    }

    fn step(&mut self, colour: u64, at: Acceptance) {
        let columns = *self.shape.last().unwrap();
        let words = columns.div_ceil(64);
        let start = self.random.position.next_multiple_of(32);
        let before: Vec<i8> = self.spins.clone();
        for (site, spin) in before.iter().enumerate() {
            let place = self.coordinates(site as u64);
            if place.iter().sum::<u64>() % 2 != colour {
                continue;
            }
            let excess = 2 * self.equal(&place) as i32 - 2 * place.len() as i32;
            let (line, of) = (site as u64 / columns, place.last().unwrap() / 2);
            let (word, bit) = (line * words + of / 32, of % 32);
            let of_word = |k: u64| Random { position: start + 32 * word + k, ..self.random }.word();
            let number = (0..32).fold(0, |number, k| number << 1 | (of_word(k) >> bit & 1));
            if excess <= 0 || number < at.0[excess as usize / 2 - 1] {
                self.spins[site] = -spin;
            }
        }
        self.random.position = start + 32 * words * (self.spins.len() as u64 / columns);
    }

    fn sums(&self) -> (u64, u64) {
        let up = self.spins.iter().filter(|s| **s > 0).count() as u64;
        let equal: u64 = (0..self.spins.len() as u64).map(|site| u64::from(self.equal(&self.coordinates(site)))).sum();
        (up, equal / 2)
    }
}

#[test]
fn spins_are_those_of_a_loop_over_sites() {
    each(|d| {
        let at = Acceptance::at_beta(0.3).unwrap();
        // Rows of part of a word, of whole words, and of both.
        for shape in [&[2u32, 2][..], &[4, 4], &[6, 64], &[2, 126], &[4, 130], &[6, 192], &[2, 2, 2], &[4, 6, 10], &[2, 4, 64], &[6, 2, 70]]
        {
            for (start, random) in [(Start::Cold, Random::new(3)), (Start::Hot, Random::new(7).by(Generator::Threefry).stream(1 << 40))] {
                let mut spins = Ising::new(d, shape, start, random).unwrap();
                let first = spins.spins().unwrap().read_blocking().unwrap();
                assert!(start == Start::Hot || first.iter().all(|s| *s == 1));
                let mut sites = Sites { shape: spins.shape(), spins: first, random: spins.random() };
                for sweep in 0..4 {
                    spins.sweep(at, 1).unwrap();
                    sites.step(0, at);
                    sites.step(1, at);
                    assert_eq!(spins.spins().unwrap().read_blocking().unwrap(), sites.spins, "{shape:?}, sweep {sweep}");
                    let found = spins.observe().unwrap();
                    assert_eq!((found.up, found.equal), sites.sums(), "{shape:?}, sweep {sweep}");
                }
                assert_eq!(spins.random(), sites.random);
            }
        }
    });
}

#[test]
fn spins_that_are_brought_are_packed_and_sweeps_may_be_parted() {
    each(|d| {
        for shape in [&[4u32, 6][..], &[2, 130], &[4, 2, 64]] {
            let at = Acceptance::at_temperature(2.5).unwrap();
            let mut spins = Ising::new(d, shape, Start::Hot, Random::new(1)).unwrap();
            let brought = spins.spins().unwrap();
            let mut other = Ising::new(d, shape, Start::Cold, spins.random()).unwrap();
            other.set(&brought).unwrap();
            spins.sweep(at, 5).unwrap();
            other.sweep(at, 2).unwrap();
            let series = other.series(at, 1, 3).unwrap();
            assert_eq!(spins.spins().unwrap().read_blocking().unwrap(), other.spins().unwrap().read_blocking().unwrap());
            assert_eq!(series.observed, [spins.observe().unwrap()]);
        }
    });
}

/// Means of |m| and of the energy of a 4x4 lattice, over all of its states.
fn exact(beta: f64) -> (f64, f64) {
    let (mut sum, mut sizes, mut energies) = (0.0, 0.0, 0.0);
    for state in 0..1u32 << 16 {
        let (right, below) = ((state >> 1 & 0x7777) | (state & 0x1111) << 3, (state >> 4) | (state & 15) << 12);
        let equal = (!(state ^ right) & 0xffff).count_ones() + (!(state ^ below) & 0xffff).count_ones();
        let energy = 32.0 - 2.0 * f64::from(equal);
        let weight = (-beta * energy).exp();
        sum += weight;
        sizes += weight * (2.0 * f64::from(state.count_ones()) - 16.0).abs() / 16.0;
        energies += weight * energy / 16.0;
    }
    (sizes / sum, energies / sum)
}

fn series(d: &Device, shape: &[u32], start: Start, temperature: f64, n: u64, every: u64) -> Series {
    let at = Acceptance::at_temperature(temperature).unwrap();
    let mut spins = Ising::new(d, shape, start, Random::new(12)).unwrap();
    spins.sweep(at, 40 * every).unwrap();
    spins.series(at, n, every).unwrap()
}

#[test]
fn means_of_a_small_lattice_are_the_sums_over_all_of_its_states() {
    for temperature in [1.9, 2.6, 4.0] {
        let (size, energy) = exact(1.0 / temperature);
        let found = series(&cpu(), &[4, 4], Start::Hot, temperature, 3000, 4);
        for (found, exact) in [(found.magnetisation(), size), (found.energy(), energy)] {
            assert!(
                (found.mean - exact).abs() < 4.0 * found.standard_error && found.standard_error < 0.03,
                "{temperature}: {found:?} {exact}"
            );
        }
    }
}

/// The same of a 2x2x2 lattice, whose six neighbours of a site are three, each of them twice.
fn exact_of_a_cube(beta: f64) -> (f64, f64) {
    let (mut sum, mut sizes, mut energies) = (0.0, 0.0, 0.0);
    for state in 0..256u32 {
        let spin = |site: u32| 1.0 - 2.0 * f64::from(state >> site & 1);
        // Every site with the next one of every axis, so that each of the twelve edges is met from both ends.
        let energy = -(0..8).map(|site| spin(site) * (0..3).map(|axis| spin(site ^ 1 << axis)).sum::<f64>()).sum::<f64>();
        let weight = (-beta * energy).exp();
        sum += weight;
        sizes += weight * (0..8).map(spin).sum::<f64>().abs() / 8.0;
        energies += weight * energy / 8.0;
    }
    (sizes / sum, energies / sum)
}

#[test]
fn means_of_a_small_cube_are_the_sums_over_all_of_its_states() {
    for temperature in [5.0, 9.0] {
        let (size, energy) = exact_of_a_cube(1.0 / temperature);
        let found = series(&cpu(), &[2, 2, 2], Start::Hot, temperature, 3000, 2);
        for (found, exact) in [(found.magnetisation(), size), (found.energy(), energy)] {
            assert!(
                (found.mean - exact).abs() < 4.0 * found.standard_error && found.standard_error < 0.03,
                "{temperature}: {found:?} {exact}"
            );
        }
    }
}

#[test]
fn the_magnetisation_is_onsagers() {
    for temperature in [1.8f64, 2.1] {
        let exact = (1.0 - (2.0 / temperature).sinh().powi(-4)).powf(0.125);
        let found = series(&cpu(), &[128, 128], Start::Cold, temperature, 160, 5).magnetisation();
        assert!(
            (found.mean - exact).abs() < 4.0 * found.standard_error && found.standard_error < 0.002,
            "{temperature}: {found:?} {exact}"
        );
    }
}

#[test]
fn cumulants_of_two_sizes_cross_at_the_critical_temperature() {
    let of = |shape: &[u32], temperature: f64| series(&cpu(), shape, Start::Cold, temperature, 1500, 4).binder();
    // 2D: 2.269185, and beta of 0.22165463 in 3D.
    for (small, large, critical) in [(&[8u32, 8][..], &[16u32, 16][..], 2.269_185f64), (&[4, 4, 4], &[8, 8, 8], 1.0 / 0.221_654_63)] {
        let difference = |temperature: f64| {
            let (small, large) = (of(small, temperature), of(large, temperature));
            (large.mean - small.mean, small.standard_error.hypot(large.standard_error))
        };
        let (below, error) = difference(0.93 * critical);
        assert!(below > 2.0 * error, "{small:?}: {below} {error}");
        let (above, error) = difference(1.1 * critical);
        assert!(above < -2.0 * error, "{small:?}: {above} {error}");
    }
}

#[test]
fn lattices_and_temperatures_that_are_none_are_refused() {
    each(|d| {
        for shape in [&[4u32, 3][..], &[0, 4], &[4, 0], &[5, 4], &[2, 2, 7], &[4], &[2, 2, 2, 2], &[]] {
            let found = Ising::new(d, shape, Start::Cold, Random::new(0)).unwrap_err();
            assert!(matches!(found, Error::InvalidArgument { what: "lattice", .. }), "{shape:?}: {found}");
        }
        let large = Ising::new(d, &[1 << 16, 1 << 16], Start::Cold, Random::new(0)).unwrap_err();
        assert!(matches!(large, Error::TooLarge { requested: 8_589_934_592, .. }), "{large}");
        // A stream that ends in the second of two sweeps of four steps of 128 words each.
        let at = Acceptance::at_beta(0.4).unwrap();
        let end = Random { position: u64::MAX - 128 * 4 + 1, ..Random::new(0) };
        let mut spins = Ising::new(d, &[4, 4], Start::Cold, end).unwrap();
        assert!(matches!(spins.sweep(at, 2), Err(Error::InvalidArgument { what: "position", .. })));
        assert!(spins.spins().unwrap().read_blocking().unwrap().iter().all(|s| *s == 1), "nothing is enqueued");
        let short = d.upload(&[1i8; 15]).unwrap();
        assert!(matches!(spins.set(&short), Err(Error::LengthMismatch { expected: 16, found: 15, .. })));
    });
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(Acceptance::at_temperature(wrong), Err(Error::InvalidArgument { what: "temperature", .. })), "{wrong}");
        assert!(matches!(Acceptance::at_beta(wrong), Err(Error::InvalidArgument { what: "beta", .. })), "{wrong}");
    }
    assert!(matches!(Acceptance::at_temperature(1e-310), Err(Error::InvalidArgument { what: "beta", .. })));
    assert_eq!(Acceptance::at_beta(1e-300).unwrap(), Acceptance([u32::MAX; 3]));
    assert_eq!(Acceptance::at_beta(1e9).unwrap(), Acceptance([0; 3]));
}
