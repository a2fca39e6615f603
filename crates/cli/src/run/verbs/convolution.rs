//! Convolutions.

use crate::args::{BlocksArg, BorderArg};
use crate::failure::{Failure, Result};
use crate::npy::Array;
use crate::run::elements::{WIDE_FLOATS, alike, of_types};
use crate::run::options::{self, RunArgs};
use crate::run::plan::Plan;
use crate::run::registry::{Inputs, Verb};
use isowarp::Cpu;
use isowarp::dynamic::{Call, Convolution, Padding};
use isowarp::patterns::{Border, ProductOrder};

pub(super) const VERBS: &[Verb] = &[Verb {
    name: "conv",
    about: "The convolution of a signal or an image, of 1 axis or 2, by a filter of as many; of 3 to 5 axes of batches and channels (NCHW) by filters (OIHW)",
    example: "--padding 1 --in image.npy --in filter.npy --out blurred.npy",
    inputs: Inputs::PAIR,
    options: &[
        options::stride,
        options::dilation,
        options::padding,
        options::border,
        options::groups,
        options::flipped,
        options::transposed,
        options::by_transforms,
        options::chains,
    ],
    plan: convolution,
    bench: "convolve/3x3",
}];

/// A number to each axis, of one that is meant for all of them or of as many.
fn each(given: &[u64], axes: usize, option: &str) -> Result<Vec<u64>> {
    match given {
        [one] => Ok(vec![*one; axes]),
        all if all.len() == axes => Ok(all.to_vec()),
        all => {
            let message = format!("{option} has {} numbers, and the image {axes} axes", all.len());
            Err(Failure::usage(message, "say one number, or one to each axis"))
        }
    }
}

fn padding(given: Option<&str>, axes: usize) -> Result<Padding> {
    match given {
        None => Ok(Padding::Default),
        Some("same") => Ok(Padding::Same),
        Some(numbers) => {
            let wrong = |_| {
                Failure::usage(
                    format!("--padding {numbers} is no whole number from 0 on"),
                    "say one, one to each axis such as 1,2, or `same`",
                )
            };
            let all = numbers.split(',').map(|n| n.trim().parse().map_err(wrong)).collect::<Result<Vec<u64>>>()?;
            Ok(Padding::By(each(&all, axes, "--padding")?))
        }
    }
}

fn convolution(args: &RunArgs, inputs: &[Array]) -> Result<Plan> {
    let [image, filter] = inputs else { return Err(Failure::usage("conv takes two inputs", "add --in filter.npy")) };
    if image.shape.len() != filter.shape.len() || !(1..=5).contains(&image.shape.len()) {
        let message = format!("an image of shape {} is not convolved by filters of shape {}", image.shape_text(), filter.shape_text());
        return Err(Failure::failed(
            message,
            "both have 1 or 2 axes, or 3 to 5 of which the first are batch and channels, filters and channels",
        ));
    }
    if args.windows.by_transforms {
        of_types("conv --fft", inputs, &WIDE_FLOATS)?;
    }
    alike(args.verb.name, "arrays", image, filter)?;
    // As NumPy's: whether both hold somewhere.
    let boolean = image.boolean && filter.boolean;
    // Up to two axes are those of one channel.
    let parts = |shape: &[u64]| match shape {
        [batch, channels, rest @ ..] if !rest.is_empty() => ([*batch, *channels], rest.to_vec()),
        all => ([1, 1], all.to_vec()),
    };
    let ((images, extents), (filters, taps)) = (parts(&image.shape), parts(&filter.shape));
    let axes = extents.len();
    let numbers = |given: &Option<Vec<u64>>, option: &str| given.as_ref().map(|all| each(all, axes, option)).transpose();
    let of = Convolution {
        stride: numbers(&args.windows.stride, "--stride")?,
        dilation: numbers(&args.windows.dilation, "--dilation")?,
        padding: padding(args.windows.padding.as_deref(), axes)?,
        image: extents,
        images,
        filter: taps,
        filters,
        border: match args.windows.border {
            Some(BorderArg::Clamp) => Border::Clamp,
            Some(BorderArg::Mirror) => Border::Mirror,
            Some(BorderArg::Wrap) => Border::Wrap,
            Some(BorderArg::Zero) | None => Border::Zero,
        },
        groups: args.windows.groups.unwrap_or(1),
        flipped: args.windows.flipped,
        transposed: args.windows.transposed,
        order: if args.blocks == Some(BlocksArg::Chain) { ProductOrder::Chain } else { ProductOrder::Blocks },
        fourier: args.windows.by_transforms,
    };
    let shape = of.shape(&Cpu::new())?;
    let shape = if image.shape.len() > 2 { shape } else { shape[2..].to_vec() };
    Ok(Plan::new(Call::Convolve(of), shape).boolean(boolean))
}
