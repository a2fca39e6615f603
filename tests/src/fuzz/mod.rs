//! The differential fuzzer: random operators and patterns, the CPU against plain loops that follow the documented rules, and every device against the
//! CPU, bit for bit.
//!
//! A seed decides everything: trial `k` of a run has the seed [`seed_of`]`(seed, k)`, which is printed with a difference and makes the same trial
//! again. What differs is shrunk and printed as a line of text ([`Trial`]), which `--case` runs again and which stands among the kept cases of
//! `found.txt` from then on.

mod lower;
mod random;
mod rules;
mod run;
mod shrink;
mod text;
mod tree;
mod trial;
mod values;
mod verbs;

pub use run::{Find, Fuzzed, Line, Options, compare, fuzz};
pub use tree::{Op, Tree};
pub use trial::{Array, Trial};
pub use values::crossed;
pub use verbs::Verb;

use crate::case::{Output, Target};
use isowarp::Result;
use isowarp::element::DType;
use values::Random;

/// The seed of a run's trial.
#[must_use]
pub fn seed_of(seed: u64, k: u64) -> u64 {
    if k == 0 { seed } else { crate::data::bits(seed, k) }
}

/// The trial that a seed makes, of one of these patterns.
#[must_use]
pub fn trial(seed: u64, verbs: &[Verb]) -> Trial {
    let mut r = Random::new(seed);
    let (maps, any) = (r.chance(60), r.pick(verbs));
    // Operators are where most can go wrong, and patterns take a software adapter long.
    let verb = if maps && verbs.contains(&Verb::Map) { Verb::Map } else { any };
    verb.trial(&mut r)
}

/// The input `k` of these as a tree.
#[must_use]
pub fn input(k: u8, of: &[DType]) -> Tree {
    Tree::Input(k, of[usize::from(k) % of.len()].ty())
}

impl Trial {
    /// Returns the results of a device.
    ///
    /// # Errors
    /// What the pattern returns.
    pub fn run<B: Target>(&self, device: &B) -> Result<Vec<Output>> {
        self.verb.run(self, device)
    }

    /// Returns the results of plain loops by the documented rules.
    #[must_use]
    pub fn expected(&self) -> Vec<Output> {
        self.verb.expected(self)
    }
}
