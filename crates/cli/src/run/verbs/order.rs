//! Sorts, and whether something is sorted.

use crate::failure::{Failure, Result};
use crate::npy::Array;
use crate::run::elements::{axis, by, carried, first, order_of, ty};
use crate::run::options::{self, RunArgs};
use crate::run::plan::{Part, Plan};
use crate::run::registry::{Inputs, Verb};
use clap::Arg;
use isowarp::dynamic::{Call, Over, Sorted};
use isowarp_textbook::{SortVariant, Textbook};

pub(super) const VERBS: &[Verb] = &[
    Verb {
        name: "sort",
        about: "Each line along --axis in order; NaN are greater than all numbers. With --by-key values travel with the keys",
        example: "--descending --in a.npy --out falling.npy",
        inputs: Inputs::ONE,
        options: &[
            options::own_order,
            options::sorted_axis,
            options::descending,
            options::nan_last,
            options::total_order,
            options::bits,
            options::by_key,
            options::keys_out,
            sort_variant,
            options::chunk_size,
            options::temp_dir,
        ],
        plan: |args, inputs| sort(args, inputs, if args.by_key { Sorted::KeysAndValues } else { Sorted::Keys }),
        bench: "sort/keys",
    },
    Verb {
        name: "argsort",
        about: "The indices, u32, of each line along --axis in order; equal elements keep their order",
        example: "--descending --in a.npy --out order.npy",
        inputs: Inputs::ONE,
        options: &[
            options::own_order,
            options::sorted_axis,
            options::descending,
            options::nan_last,
            options::total_order,
            options::bits,
            options::chunk_size,
            options::temp_dir,
        ],
        plan: |args, inputs| sort(args, inputs, Sorted::Indices),
        bench: "sort/argsort",
    },
    Verb {
        name: "topk",
        about: "The first -k elements in order, and to --indices where they were, u32; of each line along --axis, or of the array as one line",
        example: "-k 10 --descending --in a.npy --out best.npy --indices places.npy",
        inputs: Inputs::ONE,
        options: &[
            options::k,
            options::axis,
            options::descending,
            options::nan_last,
            options::total_order,
            options::bits,
            options::by_key,
            options::keys_out,
            options::indices,
        ],
        plan: top_k,
        bench: "sort/top_k",
    },
    Verb {
        name: "is-sorted",
        about: "Whether no element comes before its left neighbour; the array is taken as one line",
        example: "--in a.npy --out answer.npy",
        inputs: Inputs::ONE,
        options: &[options::own_order, options::descending, options::nan_last, options::total_order, options::bits],
        plan: |args, inputs| {
            let x = first(inputs)?;
            Ok(Plan::new(Call::IsSorted(order_of(args, x, ty(x))?), vec![1]).boolean(true))
        },
        bench: "sort/is_sorted",
    },
];

fn sort_variant() -> Arg {
    options::variant(SortVariant::ALL.map(SortVariant::name))
}

fn sort(args: &RunArgs, inputs: &[Array], gives: Sorted) -> Result<Plan> {
    let input = first(inputs)?;
    let shape = input.shape.clone();
    if args.op.is_some() && shape.len() > 1 {
        return Err(Failure::usage("rows cannot be sorted by an order of your own", "leave --op out, or name an array of one dimension"));
    }
    if args.variant.is_some() && (args.op.is_some() || args.by_key || shape.len() > 1) {
        return Err(Failure::usage(
            "a variant of a sort is for the order of values of one dimension",
            "leave --variant out, or --op and --by-key, or name an array of one dimension",
        ));
    }
    let variant = args.variant.as_deref().and_then(SortVariant::named).map(Textbook::Sort);
    let over = match args.axis {
        Some(a) => over(input, axis(a, &shape)?),
        None => Over::rows(input.len(), shape.last().copied().unwrap_or(1)),
    };
    let call = Call::Sort { order: order_of(args, input, ty(input))?, over, gives };
    let boolean = carried(args, inputs)?.boolean && gives != Sorted::Indices;
    let results: &[_] = if gives == Sorted::KeysAndValues { &[Part::Keys, Part::Result] } else { &[Part::Result] };
    Ok(Plan::new(call, shape).by(variant).boolean(boolean).giving(results))
}

/// Lines along an axis; one line is the array.
fn over(x: &Array, axis: usize) -> Over {
    if axis + 1 == x.shape.len() { Over::rows(x.len(), x.shape[axis]) } else { Over::Axis(x.shape.clone(), axis) }
}

/// More elements than there are can be refused before a device is opened.
fn top_k(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let input = first(inputs)?;
    let k = args.k.unwrap_or(0);
    let along = args.axis.map(|a| axis(a, &input.shape)).transpose()?;
    let (n, over, shape, of) = match along {
        None => (input.len(), Over::Whole, vec![k], "an array"),
        Some(a) => {
            let mut shape = input.shape.clone();
            let n = std::mem::replace(&mut shape[a], k);
            (n, over(input, a), shape, "lines")
        }
    };
    if k > n {
        return Err(Failure::usage(format!("topk of {k} elements from {of} of {n}"), format!("ask for up to {n}")));
    }
    let call = Call::TopK { k, by: by(args, input)?, over };
    let results: &[_] = if args.by_key { &[Part::Keys, Part::Result, Part::Indices] } else { &[Part::Result, Part::Indices] };
    Ok(Plan::new(call, shape).boolean(carried(args, inputs)?.boolean).giving(results))
}
