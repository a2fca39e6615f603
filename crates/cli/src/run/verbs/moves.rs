//! Moves by index and by shape.

use crate::args::LayoutArg;
use crate::failure::{Failure, Result};
use crate::npy::{Array, shape_text};
use crate::run::elements::{axis, first, no_truth, of_same_type};
use crate::run::options::{self, RunArgs};
use crate::run::plan::Plan;
use crate::run::registry::{Inputs, Verb};
use clap::Arg;
use isowarp::dynamic::{Call, Operator, Over, Scattering};
use isowarp::patterns::{ImageLayout, Overflow, ScatterOp};

pub(super) const VERBS: &[Verb] = &[
    Verb {
        name: "gather",
        about: "The elements of the first array at the indices of the second (NumPy's take), or along --axis (take_along_axis)",
        example: "--in a.npy --in order.npy --out sorted.npy",
        inputs: Inputs::PAIR,
        options: &[gather_axis],
        plan: gather,
        bench: "move/gather",
    },
    Verb {
        name: "scatter",
        about: "The third array with the first one's elements at the indices of the second, or combined with them by --op",
        example: "--op sum --in a.npy --in places.npy --in b.npy --out scattered.npy",
        inputs: Inputs::TRIPLE,
        options: &[options::scattering, options::digits, options::saturate],
        plan: |args, inputs| {
            let of = inputs.get(2).map_or_else(|| first(inputs), Ok)?;
            no_truth(inputs.get(1), INDICES, "name the array of indices second")?;
            Ok(Plan::new(Call::Scatter(scattering(args, inputs)?), of.shape.clone()).boolean(of.boolean))
        },
        bench: "move/scatter",
    },
    Verb {
        name: "transpose",
        about: "The axes in reverse order, or in that of --axes",
        example: "--axes 0,2,1 --in a.npy --out turned.npy",
        inputs: Inputs::ONE,
        options: &[options::axes],
        plan: |args, inputs| first(inputs).and_then(|x| permuted(x, axes(args, &x.shape)?)),
        bench: "move/transpose",
    },
    Verb {
        name: "layout",
        about: "A batch of images, of four axes, from the layout --from to the layout --to",
        example: "--from nchw --to nhwc --in images.npy --out interleaved.npy",
        inputs: Inputs::ONE,
        options: &[options::from, options::to],
        plan: |args, inputs| first(inputs).and_then(|x| permuted(x, layout(args, &x.shape)?)),
        bench: "move/layout",
    },
    Verb {
        name: "to-morton",
        about: "An array whose axes are powers of two long, up to three of them, as one line in Morton order (Z-order), the last axis' bits lowest",
        example: "--in grid.npy --out line.npy",
        inputs: Inputs::ONE,
        options: &[],
        plan: |_, inputs| first(inputs).map(|x| Plan::new(Call::ToMorton(x.shape.clone()), vec![x.len()]).boolean(x.boolean)),
        bench: "move/morton",
    },
    Verb {
        name: "from-morton",
        about: "The inverse: a line in Morton order as an array of --shape",
        example: "--shape 64,64 --in line.npy --out grid.npy",
        inputs: Inputs::ONE,
        options: &[options::needed_shape],
        plan: |args, inputs| {
            let shape = args.shape.clone().unwrap_or_default();
            first(inputs).map(|x| Plan::new(Call::FromMorton(shape.clone()), shape).boolean(x.boolean))
        },
        bench: "move/from_morton",
    },
    Verb {
        name: "reverse",
        about: "All elements from last to first",
        example: "--in a.npy --out backwards.npy",
        inputs: Inputs::ONE,
        options: &[],
        plan: |_, inputs| first(inputs).map(|x| Plan::new(Call::Reverse, x.shape.clone()).boolean(x.boolean)),
        bench: "move/reverse",
    },
    Verb {
        name: "rotate",
        about: "All elements moved up by --by places, the last ones coming first (NumPy's roll)",
        example: "--by -1 --in a.npy --out moved.npy",
        inputs: Inputs::ONE,
        options: &[options::by],
        plan: |args, inputs| first(inputs).map(|x| Plan::new(Call::Rotate(args.by.unwrap_or(0)), x.shape.clone()).boolean(x.boolean)),
        bench: "move/rotate",
    },
];

/// Indices in messages.
const INDICES: &str = "indices are integers";

fn gather_axis() -> Arg {
    options::axis()
        .help("Take each index along this axis of its line: both arrays have as many lines there; negative ones count from the last")
}

fn gather(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    no_truth(inputs.get(1), INDICES, "take what is true by `isowarp run select --flags`")?;
    let x = first(inputs)?;
    let at = inputs.get(1).unwrap_or(x);
    let over = match args.axis.map(|a| axis(a, &x.shape)).transpose()? {
        None => Over::Whole,
        Some(a) => {
            let but_the_axis = |shape: &[u64]| shape.iter().enumerate().filter(|&(k, _)| k != a).map(|(_, &n)| n).collect::<Vec<_>>();
            if at.shape.len() != x.shape.len() || but_the_axis(&at.shape) != but_the_axis(&x.shape) {
                let message = format!("indices of shape {} are not of the lines of {} along axis {a}", at.shape_text(), x.shape_text());
                return Err(Failure::usage(message, "name indices of the array's shape but along the axis, or leave --axis out"));
            }
            Over::Axis(x.shape.clone(), a)
        }
    };
    Ok(Plan::new(Call::Gather(over), at.shape.clone()).boolean(x.boolean))
}

/// Effect of a scatter's sources on their targets: by a name, or an expression of x and y.
fn scattering(args: &RunArgs, inputs: &[Array]) -> Result<Scattering> {
    if let Some(digits) = args.digits {
        if args.op.as_deref().is_some_and(|op| op.trim() != ScatterOp::Sum.name()) {
            return Err(Failure::usage("--digits is for sums", "leave --op out, or name sum"));
        }
        return Ok(Scattering::Fixed(digits, if args.saturate { Overflow::Saturate } else { Overflow::Wrap }));
    }
    let text = args.op.as_deref().unwrap_or("store").trim();
    let known = [ScatterOp::Store].into_iter().chain(ScatterOp::COMBINING);
    if let Some(op) = known.clone().find(|op| op.name() == text) {
        return Ok(of_truths(op, inputs)?.map_or(Scattering::By(op), Scattering::InOrder));
    }
    let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_') && !matches!(text, "x" | "y" | "product" | "prod");
    if is_name {
        let names: Vec<&str> = known.map(ScatterOp::name).chain(["product"]).collect();
        return Err(Failure::usage(
            format!("unknown operator `{text}` of scatter; known: {}", names.join(", ")),
            "use a known one or an expression of x and y, or leave --op out to store",
        ));
    }
    // Numbers among truth values make numbers of all.
    let combined = inputs.iter().step_by(2).find(|a| !a.boolean).map_or_else(|| first(inputs), Ok)?;
    of_same_type(args, combined).map(Scattering::InOrder)
}

/// The effect on truth values, of which a sum is `or`, as NumPy has it; none on numbers.
fn of_truths(op: ScatterOp, inputs: &[Array]) -> Result<Option<Operator>> {
    let [values, _, target] = inputs else { return Ok(None) };
    if values.boolean != target.boolean && values.dtype != target.dtype {
        let [values, target] = [values, target].map(|a| if a.boolean { "bool" } else { a.dtype.name() });
        let advice = "convert one of them first, such as by map --op \"i32(x)\" or --op \"x != 0\"";
        return Err(Failure::usage(format!("the values are {values}, the target is {target}"), advice));
    }
    if !(values.boolean && target.boolean) {
        return Ok(None);
    }
    let text = match op {
        ScatterOp::Store => return Ok(None),
        ScatterOp::Sum | ScatterOp::Max | ScatterOp::Or => "x || y",
        ScatterOp::Min | ScatterOp::And => "x && y",
        ScatterOp::Xor => "x != y",
        ScatterOp::Sub => return Err(Failure::usage("truth values have no difference", "take xor, or and")),
    };
    Ok(Some(Operator::custom(text, None).of_truth()))
}

/// An array with its axes in another order.
fn permuted(x: &Array, order: Vec<usize>) -> Result<Plan> {
    let shape = order.iter().map(|&a| x.shape[a]).collect();
    Ok(Plan::new(Call::PermuteAxes(x.shape.clone(), order), shape).boolean(x.boolean))
}

/// The axes in the order that they get: in reverse, unless it was said.
fn axes(args: &RunArgs, shape: &[u64]) -> Result<Vec<usize>> {
    let Some(named) = &args.axes else { return Ok((0..shape.len()).rev().collect()) };
    let order = named.iter().map(|&a| axis(a, shape)).collect::<Result<Vec<_>>>()?;
    if order.len() == shape.len() && (0..shape.len()).all(|a| order.contains(&a)) {
        return Ok(order);
    }
    let text = named.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    let message = format!("--axes {text} does not name every axis of an array of shape {} once", shape_text(shape));
    Err(Failure::usage(message, "name all of them in the order that they get, such as --axes 1,0"))
}

/// The axes of images in the order that another layout has them.
fn layout(args: &RunArgs, shape: &[u64]) -> Result<Vec<usize>> {
    if shape.len() != 4 {
        let message = format!("layouts are of batches of images, with four axes, not of an array of shape {}", shape_text(shape));
        return Err(Failure::usage(message, "name an array of four axes, or use `isowarp run transpose --axes`"));
    }
    let axes = |layout: Option<LayoutArg>| match layout {
        Some(LayoutArg::Nhwc) => ImageLayout::Nhwc.axes(),
        Some(LayoutArg::Chwn) => ImageLayout::Chwn.axes(),
        Some(LayoutArg::Nchw) | None => ImageLayout::Nchw.axes(),
    };
    let from = axes(args.from);
    Ok(axes(args.to).iter().filter_map(|a| from.iter().position(|b| a == b)).collect())
}
