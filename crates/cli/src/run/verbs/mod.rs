//! The rows of the verbs, with the plans that they make, by family.

mod convolution;
mod fold;
mod fourier;
mod histogram;
mod map;
mod moves;
mod order;
mod product;
mod random;
mod segments;
mod select;
mod simulation;
mod solve;
mod sorted;

use super::options::RunArgs;
use super::registry::Verb;
use crate::failure::Result;

/// All families, in the order of the help.
pub(super) const ALL: [&[Verb]; 14] = [
    map::VERBS,
    fold::VERBS,
    moves::VERBS,
    order::VERBS,
    sorted::VERBS,
    select::VERBS,
    segments::VERBS,
    histogram::VERBS,
    product::VERBS,
    convolution::VERBS,
    solve::VERBS,
    fourier::VERBS,
    random::VERBS,
    simulation::VERBS,
];

/// Output of a verb beside its file: text and drawings.
pub(super) fn report(name: &str) -> Option<fn(&RunArgs) -> Result> {
    match name {
        "ising" => Some(simulation::ising),
        "price" => Some(simulation::price),
        _ => None,
    }
}
