//! The rows of the verbs, with the plans that they make, by family.

mod fold;
mod histogram;
mod map;
mod moves;
mod order;
mod random;
mod segments;
mod select;
mod sorted;

use super::registry::Verb;

/// All families, in the order of the help.
pub(super) const ALL: [&[Verb]; 9] =
    [map::VERBS, fold::VERBS, moves::VERBS, order::VERBS, sorted::VERBS, select::VERBS, segments::VERBS, histogram::VERBS, random::VERBS];
