//! Reductions and scans.

use crate::args::{Ord, OrderArg};
use crate::failure::{Failure, Result};
use crate::npy::Array;
use crate::run::elements::{FLOATS, WIDE_FLOATS, alike, carried, checked, condition, first, lines, of_types, stays_truth};
use crate::run::options::{self, RunArgs};
use crate::run::plan::{Finish, Part, Plan};
use crate::run::registry::{Inputs, Verb};
use clap::Arg;
use isowarp::dynamic::{Call, ExactSum, Norm, Operator, Over, Question};
use isowarp::patterns::SumOrder;
use isowarp::patterns::window::count;
use isowarp_textbook::{ReduceVariant, ScanVariant, Textbook};

pub(super) const VERBS: &[Verb] = &[
    Verb {
        name: "reduce",
        about: "All elements combined into one (shape (1,)), or along --axis",
        example: "--op max --axis 0 --in a.npy --out maxima.npy",
        inputs: Inputs::ONE,
        options: &[options::operator, options::identity, options::dtype, options::axis, reduce_variant],
        plan: reduce,
        bench: "reduce/sum",
    },
    Verb {
        name: "sum",
        about: "The sum of floats in an order of evaluation that others have: NumPy 2.4's pairs (the default), a loop's, or with a correction; or without any. Of a bool file how many are true",
        example: "--exact --axis 0 --in a.npy --out b.npy",
        inputs: Inputs::ONE,
        options: &[options::order, options::axis, || options::exact().conflicts_with("order")],
        plan: sum,
        bench: "ordered_sum/pairwise",
    },
    Verb {
        name: "ulp",
        about: "How far floats are from others in units in the last place: the greatest distance, the mean, how many differ; each goes to --out",
        example: "--in a.npy --in b.npy --out distances.npy",
        inputs: Inputs::TWO,
        options: &[],
        plan: |args, inputs| {
            of_types(args.verb.name, inputs, &WIDE_FLOATS)?;
            Ok(Plan::new(Call::Ulp, first(inputs)?.shape.clone()).giving(&[Part::Result, Part::Distances]))
        },
        bench: "ulp/distances",
    },
    Verb {
        name: "argmin",
        about: "The lowest index of the least element, u32; with --axis of each line, in the line",
        example: "--axis -1 --in a.npy --out columns.npy",
        inputs: Inputs::ONE,
        options: &[options::axis],
        plan: |args, inputs| lines(args, first(inputs)?).map(|(over, shape)| Plan::new(Call::Argmin(over), shape)),
        bench: "reduce/argmin",
    },
    Verb {
        name: "argmax",
        about: "The lowest index of the greatest element, u32; with --axis of each line, in the line",
        example: "--in a.npy --out place.npy",
        inputs: Inputs::ONE,
        options: &[options::axis],
        plan: |args, inputs| lines(args, first(inputs)?).map(|(over, shape)| Plan::new(Call::Argmax(over), shape)),
        bench: "reduce/argmax",
    },
    Verb {
        name: "dot",
        about: "Sum of the products of two arrays; with --exact of f32 or f64 without a rounding but the last",
        example: "--in a.npy --in b.npy --out product.npy",
        inputs: Inputs::TWO,
        options: &[options::exact],
        plan: dot,
        bench: "reduce/dot",
    },
    Verb {
        name: "norm",
        about: "A norm of floats (--ord), or of truth values as zeros and ones, f64",
        example: "--ord inf --in a.npy --out norm.npy",
        inputs: Inputs::ONE,
        options: &[options::ord],
        plan: norm,
        bench: "reduce/norm",
    },
    Verb {
        name: "mean",
        about: "The mean of floats, or the share of a bool file's elements that are true, f64; with --exact the sum is exact and the mean rounded once, along --axis too",
        example: "--in a.npy --out mean.npy",
        inputs: Inputs::ONE,
        options: &[options::exact, || options::axis().requires("exact")],
        plan: mean,
        bench: "reduce/mean",
    },
    Verb {
        name: "scan",
        about: "Every prefix combined; without --axis the array is taken as one line. With --by-key of each run of equal keys",
        example: "--op sum --exclusive --in a.npy --out prefixes.npy",
        inputs: Inputs::ONE,
        options: &[
            options::operator,
            options::identity,
            options::dtype,
            options::exclusive,
            options::axis,
            options::by_key,
            scan_variant,
            options::chunk_size,
            options::temp_dir,
        ],
        plan: scan,
        bench: "scan/inclusive",
    },
    Verb {
        name: "window",
        about: "Every window of --width neighbours combined; without --axis the array is taken as one line",
        example: "--op max --width 24 --in a.npy --out maxima.npy",
        inputs: Inputs::ONE,
        options: &[options::operator, options::dtype, options::axis, options::window, options::step],
        plan: window,
        bench: "window/sum",
    },
    Verb {
        name: "reduce-by-key",
        about: "The values of the second array combined over each run of equal neighbours of the first; its keys go to --keys-out",
        example: "--in keys.npy --in a.npy --out sums.npy --keys-out found.npy",
        inputs: Inputs::TWO,
        options: &[options::operator, options::identity, options::dtype, options::keys_out],
        plan: |args, inputs| {
            let values = inputs.get(1).map_or_else(|| first(inputs), Ok)?;
            let op = checked(args, values)?;
            let boolean = args.dtype.is_none() && stays_truth(&op, values);
            let call = Call::Reduce { op, over: Over::Keys };
            Ok(Plan::counted(call).boolean(boolean).giving(&[Part::Keys, Part::Result]))
        },
        bench: "segmented/by_key",
    },
];

fn reduce_variant() -> Arg {
    options::variant(ReduceVariant::ALL.map(ReduceVariant::name))
}

fn scan_variant() -> Arg {
    options::variant(ScanVariant::ALL.map(ScanVariant::name))
}

/// Counts of true elements of a bool file, in each line.
fn how_many(over: Over, shape: Vec<u64>) -> Result<Plan> {
    let op = Operator::named("count").ok_or_else(|| Failure::defect("there is no count"))?;
    Ok(Plan::new(Call::Reduce { op, over }, shape))
}

fn sum(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let (over, shape) = lines(args, first(inputs)?)?;
    if first(inputs)?.boolean {
        return how_many(over, shape);
    }
    of_types(args.verb.name, inputs, &FLOATS)?;
    if args.exact {
        return Ok(Plan::new(Call::Exact(ExactSum::Sum, over), shape));
    }
    let order = match args.order {
        None | Some(OrderArg::Pairwise) => SumOrder::Pairwise,
        Some(OrderArg::Sequential) => SumOrder::Sequential,
        Some(OrderArg::Kahan) => SumOrder::Kahan,
        Some(OrderArg::Neumaier) => SumOrder::Neumaier,
    };
    Ok(Plan::new(Call::OrderedSum(order, over), shape))
}

fn norm(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let truth = first(inputs)?.boolean;
    let (which, of_truth) = match args.ord {
        Some(Ord::One) => (Norm::One, Finish::Count),
        Some(Ord::Two) | None => (Norm::Two, Finish::Root),
        Some(Ord::Inf) => (Norm::Inf, Finish::Any),
    };
    if truth {
        return Ok(how_many(Over::Whole, vec![1])?.finished(of_truth));
    }
    of_types(args.verb.name, inputs, &FLOATS)?;
    Ok(Plan::new(Call::Norm(which), vec![1]))
}

fn reduce(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let input = first(inputs)?;
    let op = checked(args, input)?;
    let boolean = args.dtype.is_none() && stays_truth(&op, input);
    let (over, shape) = lines(args, input)?;
    let variant = args.variant.as_deref().and_then(ReduceVariant::named).map(Textbook::Reduce);
    Ok(Plan::new(Call::Reduce { op, over }, shape).by(variant).boolean(boolean))
}

fn mean(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let input = first(inputs)?;
    if input.boolean {
        let (over, shape) = lines(args, input)?;
        let n = if let Over::Axis(shape, axis) = &over { shape[*axis] } else { input.len() };
        return Ok(how_many(over, shape)?.finished(Finish::Share(n)));
    }
    of_types(args.verb.name, inputs, &FLOATS)?;
    if !args.exact {
        return Ok(Plan::new(Call::Mean, vec![1]));
    }
    let (over, shape) = lines(args, first(inputs)?)?;
    Ok(Plan::new(Call::Exact(ExactSum::Mean, over), shape))
}

fn dot(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    // As NumPy's: whether both hold somewhere.
    if inputs.len() == 2 && inputs.iter().all(|a| a.boolean) {
        return Ok(Plan::new(Call::Ask(Question::Any, condition("x && y", inputs)?), vec![1]).boolean(true));
    }
    if let [a, b, ..] = inputs {
        alike(args.verb.name, "arrays", a, b)?;
    }
    if args.exact {
        of_types("dot --exact", inputs, &WIDE_FLOATS)?;
    }
    let call = if args.exact { Call::Exact(ExactSum::Dot, Over::Whole) } else { Call::Dot };
    Ok(Plan::new(call, vec![1]))
}

fn scan(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let (input, exclusive) = (carried(args, inputs)?, args.exclusive);
    let op = checked(args, input)?;
    let boolean = args.dtype.is_none() && stays_truth(&op, input);
    let over = if args.by_key { Over::Keys } else { lines(args, input)?.0 };
    // As NumPy's cumsum: without an axis the array is one line.
    let shape = if args.axis.is_some() { input.shape.clone() } else { vec![input.len()] };
    let variant = args.variant.as_deref().and_then(ScanVariant::named).map(Textbook::Scan);
    Ok(Plan::new(Call::Scan { op, over, exclusive }, shape).by(variant).boolean(boolean))
}

fn window(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let input = first(inputs)?;
    let op = checked(args, input)?;
    let boolean = args.dtype.is_none() && stays_truth(&op, input);
    let (len, step) = (args.width.unwrap_or(1), args.step.unwrap_or(1));
    let (over, _) = lines(args, input)?;
    let shape = match &over {
        Over::Axis(shape, axis) => shape.iter().enumerate().map(|(k, &n)| if k == *axis { count(n, len, step) } else { n }).collect(),
        _ => vec![count(input.len(), len, step)],
    };
    Ok(Plan::new(Call::Window { op, over, len, step }, shape).boolean(boolean))
}
