//! Options of simulations.

use super::{arg, choice, flag, number, path, text};
use crate::args::{OptionKind, StartArg};
use clap::{Arg, value_parser};

pub(in crate::run) fn beta() -> Arg {
    number("beta", "X", "Reciprocal of the temperature, in units of the coupling").conflicts_with("temperatures")
}

pub(in crate::run) fn temperatures() -> Arg {
    let help = "Temperature in units of the coupling, or FROM:TO:N for N of them, each with a lattice and a stream of its own";
    text("temperatures", "T", help).alias("temperature")
}

pub(in crate::run) fn sweeps() -> Arg {
    arg("sweeps", "N", "Sweeps before the first measurement; 100 without").value_parser(value_parser!(u64))
}

pub(in crate::run) fn measure() -> Arg {
    arg("measure", "N", "States that are measured; a table of their means is printed").value_parser(value_parser!(u64).range(1..))
}

pub(in crate::run) fn every() -> Arg {
    arg("every", "N", "Sweeps from one measurement to the next; 1 without").value_parser(value_parser!(u64)).requires("measure")
}

pub(in crate::run) fn start() -> Arg {
    choice::<StartArg>("start", "HOW", "Spins before the first sweep; cold without")
}

pub(in crate::run) fn png() -> Arg {
    path("png", "Draw the spins of the last temperature, of three axes the first plane, into this PNG file")
}

pub(in crate::run) fn plot() -> Arg {
    path("plot", "Draw magnetisation, energy and Binder's cumulant over the temperature into this SVG file").requires("measure")
}

pub(in crate::run) fn csv() -> Arg {
    path("csv", "Write the table of means, with their errors in columns of their own, into this CSV file").requires("measure")
}

pub(in crate::run) fn kind() -> Arg {
    choice::<OptionKind>("kind", "KIND", "What the option pays for").required(true)
}

pub(in crate::run) fn put() -> Arg {
    flag("put", "The right to sell; to buy without")
}

pub(in crate::run) fn geometric() -> Arg {
    flag("geometric", "The geometric average of an asian option; the arithmetic one without")
}

pub(in crate::run) fn barrier() -> Arg {
    number("barrier", "X", "The price that a barrier option ends or begins at")
}

pub(in crate::run) fn spot() -> Arg {
    number("spot", "X", "The price now").required(true)
}

pub(in crate::run) fn strike() -> Arg {
    number("strike", "X", "The price of the right to buy or sell").required(true)
}

pub(in crate::run) fn rate() -> Arg {
    number("rate", "X", "Continuous interest of a year, such as 0.03; 0 without")
}

pub(in crate::run) fn volatility() -> Arg {
    number("volatility", "X", "Deviation of the price's logarithm in a year, such as 0.2").required(true)
}

pub(in crate::run) fn years() -> Arg {
    number("years", "X", "The time until the end; 1 without")
}

pub(in crate::run) fn steps() -> Arg {
    arg("steps", "N", "Times that the price is looked at, of asian and barrier options; 252 without").value_parser(value_parser!(u32))
}

pub(in crate::run) fn paths() -> Arg {
    arg("n", "N", "The number of paths; 1000000 without").value_parser(value_parser!(u64))
}
