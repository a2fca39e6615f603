//! Sorted arrays: merges, searches and sets.

use crate::args::Side;
use crate::failure::{Failure, Result};
use crate::npy::Array;
use crate::run::elements::{alike, first, no_truth, order, order_of, ty};
use crate::run::options::{self, RunArgs};
use crate::run::plan::{Part, Plan};
use crate::run::registry::{Inputs, Verb};
use clap::Arg;
use isowarp::dynamic::{Call, SetOp};
use isowarp::element::{DType, Ty};
use isowarp::patterns::SearchKind;
use isowarp_textbook::{MergeVariant, Textbook};

pub(super) const VERBS: &[Verb] = &[
    Verb {
        name: "merge",
        about: "Two sorted arrays as one; of equal elements those of the first array come first",
        example: "--in a_sorted.npy --in b_sorted.npy --out both.npy",
        inputs: Inputs::PAIR.keyed(4),
        options: &[options::own_order, options::descending, options::total_order, options::by_key, options::keys_out, merge_variant],
        plan: merge,
        bench: "merge/keys",
    },
    Verb {
        name: "co-ranks",
        about: "For each rank k of the third array how many of the first k merged elements of the first two are of the first, u32 or u64",
        example: "--in a_sorted.npy --in b_sorted.npy --in ranks.npy --out cuts.npy",
        inputs: Inputs::TRIPLE,
        options: &[options::descending, options::total_order],
        plan: |args, inputs| {
            let (a, ..) = two(args, inputs)?;
            no_truth(inputs.get(2), "ranks are integers", "name the array of ranks third")?;
            Ok(Plan::new(Call::CoRanks(order(args)), inputs.get(2).unwrap_or(a).shape.clone()))
        },
        bench: "merge/co_ranks",
    },
    Verb {
        name: "search",
        about: "Where each element of the second array belongs in the first, which is sorted, u32 (NumPy's searchsorted)",
        example: "--side right --in a_sorted.npy --in b.npy --out ranks.npy",
        inputs: Inputs::PAIR,
        options: &[options::own_order, options::descending, options::nan_last, options::total_order, options::side],
        plan: |args, inputs| {
            let (a, b, of) = two(args, inputs)?;
            let kind = match args.side {
                Some(Side::Right) => SearchKind::Upper,
                Some(Side::Count) => SearchKind::Equal,
                Some(Side::Left) | None => SearchKind::Lower,
            };
            Ok(Plan::new(Call::Search(kind, order_of(args, a, of)?), b.shape.clone()))
        },
        bench: "merge/lower_bound",
    },
    Verb {
        name: "union",
        about: "The elements of either of two sorted arrays, as often as the one with more of them has them",
        example: "--in a_sorted.npy --in b_sorted.npy --out either.npy",
        inputs: Inputs::PAIR,
        options: &[options::own_order, options::descending, options::total_order],
        plan: |args, inputs| sets(args, inputs, SetOp::Union),
        bench: "merge/union",
    },
    Verb {
        name: "intersection",
        about: "The elements of both of two sorted arrays, as often as the one with fewer of them has them",
        example: "--in a_sorted.npy --in b_sorted.npy --out both.npy",
        inputs: Inputs::PAIR,
        options: &[options::own_order, options::descending, options::total_order],
        plan: |args, inputs| sets(args, inputs, SetOp::Intersection),
        bench: "merge/intersection",
    },
    Verb {
        name: "difference",
        about: "The elements of a sorted array that remain when those of a second one are taken away",
        example: "--in a_sorted.npy --in b_sorted.npy --out rest.npy",
        inputs: Inputs::PAIR,
        options: &[options::own_order, options::descending, options::total_order],
        plan: |args, inputs| sets(args, inputs, SetOp::Difference),
        bench: "merge/difference",
    },
    Verb {
        name: "symmetric-difference",
        about: "The elements that one of two sorted arrays has more often than the other",
        example: "--in a_sorted.npy --in b_sorted.npy --out unshared.npy",
        inputs: Inputs::PAIR,
        options: &[options::own_order, options::descending, options::total_order],
        plan: |args, inputs| sets(args, inputs, SetOp::SymmetricDifference),
        bench: "merge/symmetric_difference",
    },
];

fn merge_variant() -> Arg {
    options::variant(MergeVariant::ALL.map(MergeVariant::name))
}

/// Both arrays, and what an order of the caller's sees of their elements.
fn two<'a>(args: &RunArgs, inputs: &'a [Array]) -> Result<(&'a Array, &'a Array, Ty)> {
    let a = first(inputs)?;
    // By key each array's values come after it.
    let b = inputs.get(if args.by_key { 2 } else { 1 }).unwrap_or(a);
    alike(args.verb.name, "arrays", a, b)?;
    Ok((a, b, if ty(a) == ty(b) { ty(a) } else { a.dtype.ty() }))
}

fn sets(args: &RunArgs, inputs: &[Array], op: SetOp) -> Result<Plan> {
    let (a, b, of) = two(args, inputs)?;
    Ok(Plan::counted(Call::Sets(op, order_of(args, a, of)?)).boolean(a.boolean && b.boolean))
}

fn merge(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let (a, b, of) = two(args, inputs)?;
    let shape = vec![a.len() + b.len()];
    if let Some(variant) = args.variant.as_deref().and_then(MergeVariant::named) {
        if args.op.is_some() || args.by_key {
            return Err(Failure::usage("a variant of a merge is for the order of values", "leave --variant out, or --op and --by-key"));
        }
        if !matches!(a.dtype, DType::U32 | DType::I32 | DType::F32) {
            let message = format!("a variant of a merge takes u32, i32 and f32, not {}", a.type_name());
            return Err(Failure::usage(message, "convert the arrays, or leave --variant out"));
        }
        let plan = Plan::new(Call::Merge(order(args).into()), shape).by(Some(Textbook::Merge(variant)));
        return Ok(plan.boolean(a.boolean && b.boolean));
    }
    let plan = Plan::new(Call::Merge(order_of(args, a, of)?), shape);
    if let (true, [_, v, _, w]) = (args.by_key, inputs) {
        alike("merge --by-key", "values", v, w)?;
        return Ok(plan.boolean(v.boolean && w.boolean).giving(&[Part::Keys, Part::Result]));
    }
    Ok(plan.boolean(a.boolean && b.boolean))
}
