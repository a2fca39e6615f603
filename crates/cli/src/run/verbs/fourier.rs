//! Transforms.

use crate::failure::{Failure, Result};
use crate::npy::Array;
use crate::run::elements::{WIDE_FLOATS, axis, first, of_types};
use crate::run::options::{self, RunArgs};
use crate::run::plan::Plan;
use crate::run::registry::{Inputs, Verb};
use isowarp::dynamic::{Call, Fourier};

pub(super) const VERBS: &[Verb] = &[Verb {
    name: "fft",
    about: "The discrete Fourier transform of complex numbers, or of floats whose last axis is their real and imaginary parts, along the last axis of numbers, --axis or --axes",
    example: "--in z.npy --out spectrum.npy",
    inputs: Inputs::ONE,
    options: &[options::inverse, options::real, options::numbers, axis_of_points, options::transformed_axes],
    plan: transform,
    bench: "fft/complex",
}];

fn axis_of_points() -> clap::Arg {
    options::axis()
        .help("Transform along this axis of the numbers; negative ones count from the last, which is meant otherwise")
        .conflicts_with("axes")
}

fn transform(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let x = first(inputs)?;
    of_types(args.verb.name, inputs, &WIDE_FLOATS)?;
    let pairs = !args.real || args.inverse;
    let shape = match x.shape.split_last() {
        Some((2, numbers)) if pairs => numbers.to_vec(),
        _ if pairs => {
            let message = format!("an array of shape {} is not of complex numbers", x.shape_text());
            return Err(Failure::usage(
                message,
                "name an array of complex64 or complex128, or of floats with a last axis of 2; --real takes real numbers",
            ));
        }
        _ => x.shape.clone(),
    };
    let named = args.axes.clone().unwrap_or_else(|| vec![args.axis.unwrap_or(-1)]);
    let axes = named.iter().map(|&a| axis(a, &shape)).collect::<Result<Vec<_>>>()?;
    let of = match (args.real, args.inverse) {
        (false, inverse) => Fourier::Points { axes, inverse },
        (true, false) => Fourier::OfReals(axes),
        (true, true) => {
            let kept = axes.last().map_or(0, |&last| shape[last]);
            if kept == 1 && args.n.is_none() {
                return Err(Failure::usage("a spectrum of one number is that of one point or of none", "add --n 1"));
            }
            Fourier::Reals(args.n.unwrap_or_else(|| 2 * kept.saturating_sub(1)), axes)
        }
    };
    let mut result = of.shape(&shape);
    let complex = !matches!(of, Fourier::Reals(..));
    result.extend(complex.then_some(2));
    Ok(Plan::new(Call::Fft(of, shape), result).complex(complex))
}
