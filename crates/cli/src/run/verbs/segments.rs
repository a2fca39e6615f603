//! Segments and neighbours.

use crate::args::Side;
use crate::failure::Result;
use crate::npy::Array;
use crate::run::elements::{carried, checked, first, no_truth, order, stays_truth};
use crate::run::options::{self, RunArgs};
use crate::run::plan::{Part, Plan};
use crate::run::registry::{Inputs, Verb};
use isowarp::dynamic::{Call, Operator, Over, Sorted};

pub(super) const VERBS: &[Verb] = &[
    Verb {
        name: "segmented-reduce",
        about: "Each segment of the first array combined; segment k is the elements from the k-th offset of the second array to the next",
        example: "--op max --in a.npy --in offsets.npy --out maxima.npy",
        inputs: Inputs::PAIR,
        options: &[options::operator, options::identity, options::dtype],
        plan: |args, inputs| {
            let (op, boolean) = operator(args, inputs)?;
            Ok(Plan::counted(Call::Reduce { op, over: offsets(inputs)? }).boolean(boolean))
        },
        bench: "segmented/tiny",
    },
    Verb {
        name: "segmented-argmin",
        about: "The lowest index of the least element of each segment, u32, counted from the start of the array; 2^32 - 1 for an empty one",
        example: "--in a.npy --in offsets.npy --out places.npy",
        inputs: Inputs::PAIR,
        options: &[],
        plan: |_, inputs| offsets(inputs).map(|over| Plan::counted(Call::Argmin(over))),
        bench: "segmented/argmin",
    },
    Verb {
        name: "segmented-argmax",
        about: "The same of the greatest element",
        example: "--in a.npy --in offsets.npy --out places.npy",
        inputs: Inputs::PAIR,
        options: &[],
        plan: |_, inputs| offsets(inputs).map(|over| Plan::counted(Call::Argmax(over))),
        bench: "segmented/argmax",
    },
    Verb {
        name: "segmented-scan",
        about: "Every prefix of each segment combined",
        example: "--exclusive --in a.npy --in offsets.npy --out prefixes.npy",
        inputs: Inputs::PAIR,
        options: &[options::operator, options::identity, options::dtype, options::exclusive],
        plan: |args, inputs| {
            let (op, boolean) = operator(args, inputs)?;
            let call = Call::Scan { op, over: offsets(inputs)?, exclusive: args.exclusive };
            Ok(Plan::new(call, vec![first(inputs)?.len()]).boolean(boolean))
        },
        bench: "segmented/scan",
    },
    Verb {
        name: "segmented-sort",
        about: "Each segment in order; NaN are greater than all numbers. Elements in no segment stay. With --by-key keys, values and offsets",
        example: "--descending --in a.npy --in offsets.npy --out sorted.npy",
        inputs: Inputs::PAIR.keyed(3),
        options: &[options::descending, options::total_order, options::by_key, options::keys_out],
        plan: |args, inputs| sort(args, inputs, if args.by_key { Sorted::KeysAndValues } else { Sorted::Keys }),
        bench: "segmented/sort",
    },
    Verb {
        name: "segmented-argsort",
        about: "The indices, u32, of each segment in order, counted from the start of the array",
        example: "--in a.npy --in offsets.npy --out order.npy",
        inputs: Inputs::PAIR,
        options: &[options::descending, options::total_order],
        plan: |args, inputs| sort(args, inputs, Sorted::Indices),
        bench: "segmented/argsort",
    },
    Verb {
        name: "adjacent-difference",
        about: "Each element less its left neighbour, or with --side right its right one; the element at the end stays",
        example: "--in a.npy --out steps.npy",
        inputs: Inputs::ONE,
        options: &[options::neighbour],
        plan: |args, inputs| {
            let call = Call::AdjacentDifference { right: args.side == Some(Side::Right) };
            first(inputs).map(|x| Plan::new(call, vec![x.len()]).boolean(x.boolean))
        },
        bench: "segmented/adjacent_difference",
    },
];

/// The segments that the last input bounds.
fn offsets(inputs: &[Array]) -> Result<Over> {
    no_truth(inputs.last(), "offsets are integers of 32 or 64 bits", "name the array of offsets last")?;
    Ok(Over::Segments)
}

/// The operator, and whether its results are truth values.
fn operator(args: &RunArgs, inputs: &[Array]) -> Result<(Operator, bool)> {
    let op = checked(args, first(inputs)?)?;
    let boolean = args.dtype.is_none() && stays_truth(&op, first(inputs)?);
    Ok((op, boolean))
}

fn sort(args: &RunArgs, inputs: &[Array], gives: Sorted) -> Result<Plan> {
    let call = Call::Sort { order: order(args).into(), over: offsets(inputs)?, gives };
    let results: &[_] = if gives == Sorted::KeysAndValues { &[Part::Keys, Part::Result] } else { &[Part::Result] };
    let boolean = gives != Sorted::Indices && carried(args, inputs)?.boolean;
    Ok(Plan::new(call, vec![first(inputs)?.len()]).boolean(boolean).giving(results))
}
