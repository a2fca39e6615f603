//! The options of random numbers.

use super::{arg, choice, flag, list, text};
use crate::args::{Dist, GeneratorArg};
use crate::number::number;
use clap::{Arg, value_parser};

pub(in crate::run) fn dist() -> Arg {
    choice::<Dist>("dist", "DISTRIBUTION", "What is drawn").required(true)
}

pub(in crate::run) fn dimensions() -> Arg {
    arg("dimensions", "N", "Coordinates of a point of Sobol's (up to 1024) or Halton's (up to 128)").value_parser(value_parser!(u32))
}

pub(in crate::run) fn scramble() -> Arg {
    flag(
        "scramble",
        "Owen's scrambling of Sobol's points, a shift of Halton's, by --seed and --stream: each point is uniform, and all are as even",
    )
}

pub(in crate::run) fn table() -> Arg {
    flag("table", "Poisson's counts from a table of --mean, at most 65536: faster, and other counts than without")
}

pub(in crate::run) fn generator() -> Arg {
    choice::<GeneratorArg>("generator", "NAME", "Where words come from; philox without")
}

pub(in crate::run) fn seed() -> Arg {
    arg("seed", "N", "The seed; 0 without").value_parser(value_parser!(u64))
}

pub(in crate::run) fn stream() -> Arg {
    arg("stream", "N", "The stream of the seed; 0 without").value_parser(value_parser!(u64))
}

pub(in crate::run) fn position() -> Arg {
    arg("position", "N", "The word of the stream to begin with; 0 without").value_parser(value_parser!(u64))
}

pub(in crate::run) fn mean() -> Arg {
    text(
        "mean",
        "X",
        "The mean: 0 of normal numbers without, of the logarithms of lognormal ones too, 1 of exponential ones and of Poisson's counts",
    )
    .value_parser(number::<f64>)
}

pub(in crate::run) fn deviation() -> Arg {
    text("deviation", "X", "The standard deviation of normal numbers, and of lognormal ones' logarithms; 1 without")
        .value_parser(number::<f64>)
}

pub(in crate::run) fn trials() -> Arg {
    arg("trials", "N", "Trials of a binomial count; 1 without").value_parser(value_parser!(u32))
}

pub(in crate::run) fn probability() -> Arg {
    text("probability", "P", "Probability of a success in each trial; 0.5 without").value_parser(number::<f32>)
}

pub(in crate::run) fn alpha() -> Arg {
    text("alpha", "X", "Shape of the gamma distribution; 1 without").value_parser(number::<f32>)
}

pub(in crate::run) fn scale() -> Arg {
    text("scale", "X", "Scale of the gamma distribution, whose mean is --alpha times this; 1 without").value_parser(number::<f32>)
}

pub(in crate::run) fn probabilities() -> Arg {
    list("probabilities", "WEIGHTS", "How likely 0, 1, 2, ... are, such as 1,0.5,2: weights that need not sum to 1")
        .value_parser(number::<f64>)
}

pub(in crate::run) fn integers() -> Arg {
    list("range", "LOW,HIGH", "Integers from LOW to before HIGH")
}
