//! The options of `isowarp run`, each declared once; a verb names those that it takes.

mod beside;
mod chunks;
mod convolution;
mod fourier;
mod histogram;
mod order;
mod product;
mod random;
mod simulation;
mod solve;

pub(super) use beside::*;
pub(super) use chunks::*;
pub(super) use convolution::*;
pub(super) use fourier::*;
pub(super) use histogram::*;
pub(super) use order::*;
pub(super) use product::*;
pub(super) use random::*;
pub(super) use simulation::*;
pub(super) use solve::*;

use super::registry::Verb;
use crate::args::{
    BlocksArg, DeviceArgs, Dist, GeneratorArg, LayoutArg, NumericsArg, OptionKind, Ord, OrderArg, PivotsArg, RoundingArg, Side, StartArg,
};
use clap::builder::{EnumValueParser, PossibleValuesParser, TypedValueParser as _};
use clap::{Arg, ArgAction, ArgMatches, ValueEnum, value_parser};
use isowarp::minifloat::MiniFloat;
use std::path::PathBuf;

/// An option, named as on the command line.
pub(super) type Opt = fn() -> Arg;

/// Everything that a command line of `isowarp run` may say. What its verb does not take is as if it had not been said.
#[derive(Debug)]
pub(crate) struct RunArgs {
    pub(crate) verb: &'static Verb,
    pub(crate) inputs: Vec<PathBuf>,
    pub(crate) output: PathBuf,
    pub(crate) op: Option<String>,
    pub(crate) identity: Option<String>,
    pub(crate) axis: Option<i64>,
    pub(crate) axes: Option<Vec<i64>>,
    pub(crate) flags: bool,
    pub(crate) then: Option<String>,
    pub(crate) count: Option<PathBuf>,
    pub(crate) permutation: Option<PathBuf>,
    pub(crate) status: Option<PathBuf>,
    pub(crate) pivots: Option<PivotsArg>,
    pub(crate) lower: bool,
    pub(crate) upper: bool,
    pub(crate) unit: bool,
    pub(crate) width: Option<u64>,
    pub(crate) step: Option<u64>,
    pub(crate) lengths: Option<PathBuf>,
    pub(crate) by_key: bool,
    pub(crate) keys_out: Option<PathBuf>,
    pub(crate) k: Option<u64>,
    pub(crate) indices: Option<PathBuf>,
    pub(crate) bins: Option<Vec<u32>>,
    pub(crate) range: Option<Vec<String>>,
    pub(crate) edges: Vec<PathBuf>,
    pub(crate) channels: Option<u32>,
    pub(crate) weights: Option<PathBuf>,
    pub(crate) exclusive: bool,
    pub(crate) variant: Option<String>,
    pub(crate) descending: bool,
    pub(crate) nan_last: bool,
    pub(crate) total_order: bool,
    pub(crate) flow: bool,
    pub(crate) inclusive: bool,
    pub(crate) bits: Option<Vec<u32>>,
    pub(crate) side: Option<Side>,
    pub(crate) ord: Option<Ord>,
    pub(crate) order: Option<OrderArg>,
    pub(crate) exact: bool,
    pub(crate) factor: Option<f64>,
    pub(crate) transposed_a: bool,
    pub(crate) transposed_b: bool,
    pub(crate) blocks: Option<BlocksArg>,
    pub(crate) windows: Windows,
    pub(crate) by: Option<i64>,
    pub(crate) digits: Option<i32>,
    pub(crate) saturate: bool,
    pub(crate) n: Option<u64>,
    pub(crate) from: Option<LayoutArg>,
    pub(crate) to: Option<LayoutArg>,
    pub(crate) from_float: Option<MiniFloat>,
    pub(crate) to_float: Option<MiniFloat>,
    pub(crate) rounding: Option<RoundingArg>,
    pub(crate) shape: Option<Vec<u64>>,
    pub(crate) dtype: Option<String>,
    pub(crate) dist: Option<Dist>,
    pub(crate) dimensions: Option<u32>,
    pub(crate) scramble: bool,
    pub(crate) table: bool,
    pub(crate) generator: Option<GeneratorArg>,
    pub(crate) seed: Option<u64>,
    pub(crate) stream: Option<u64>,
    pub(crate) position: Option<u64>,
    pub(crate) mean: Option<f64>,
    pub(crate) deviation: Option<f64>,
    pub(crate) trials: Option<u32>,
    pub(crate) probability: Option<f32>,
    pub(crate) alpha: Option<f32>,
    pub(crate) scale: Option<f32>,
    pub(crate) probabilities: Option<Vec<f64>>,
    pub(crate) beta: Option<f64>,
    pub(crate) temperatures: Option<String>,
    pub(crate) sweeps: Option<u64>,
    pub(crate) measure: Option<u64>,
    pub(crate) every: Option<u64>,
    pub(crate) start: Option<StartArg>,
    pub(crate) png: Option<PathBuf>,
    pub(crate) plot: Option<PathBuf>,
    pub(crate) csv: Option<PathBuf>,
    pub(crate) kind: Option<OptionKind>,
    pub(crate) put: bool,
    pub(crate) geometric: bool,
    pub(crate) barrier: Option<f64>,
    pub(crate) spot: Option<f64>,
    pub(crate) strike: Option<f64>,
    pub(crate) rate: Option<f64>,
    pub(crate) volatility: Option<f64>,
    pub(crate) years: Option<f64>,
    pub(crate) steps: Option<u32>,
    pub(crate) inverse: bool,
    pub(crate) real: bool,
    pub(crate) chunk_size: Option<String>,
    pub(crate) temp_dir: Option<PathBuf>,
    pub(crate) device: DeviceArgs,
    pub(crate) numerics: NumericsArg,
    pub(crate) stats: bool,
    pub(crate) json: bool,
}

impl RunArgs {
    /// Whether NaN of keys are read as the one: where values are ordered, unless their bits count.
    pub(super) fn has_one_nan(&self) -> bool {
        self.verb.takes("total-order") && !(self.total_order || self.op.is_some() || self.bits.is_some())
    }

    /// The arguments of a verb, which clap has read.
    pub(super) fn new(verb: &'static Verb, m: &ArgMatches) -> Self {
        Self {
            verb,
            inputs: many(m, "in").unwrap_or_default(),
            output: one(m, "out").unwrap_or_default(),
            op: one(m, "op"),
            identity: one(m, "identity"),
            axis: one(m, "axis"),
            axes: many(m, "axes"),
            flags: one(m, "flags") == Some(true),
            then: one(m, "then"),
            count: one(m, "count"),
            permutation: one(m, "permutation"),
            status: one(m, "status"),
            pivots: one(m, "pivots"),
            lower: one(m, "lower") == Some(true),
            upper: one(m, "upper") == Some(true),
            unit: one(m, "unit") == Some(true),
            width: one(m, "width"),
            step: one(m, "step"),
            lengths: one(m, "lengths"),
            by_key: one(m, "by-key") == Some(true),
            keys_out: one(m, "keys-out"),
            k: one(m, "k"),
            indices: one(m, "indices"),
            bins: many(m, "bins"),
            range: many(m, "range"),
            edges: many(m, "edges").unwrap_or_default(),
            channels: one(m, "channels"),
            weights: one(m, "weights"),
            exclusive: one(m, "exclusive") == Some(true),
            variant: one(m, "variant"),
            descending: one(m, "descending") == Some(true),
            nan_last: one(m, "nan-last") == Some(true),
            total_order: one(m, "total-order") == Some(true),
            flow: one(m, "flow") == Some(true),
            inclusive: one(m, "inclusive") == Some(true),
            bits: many(m, "bits"),
            side: one(m, "side"),
            ord: one(m, "ord"),
            order: one(m, "order"),
            exact: one(m, "exact") == Some(true),
            factor: one(m, "factor"),
            transposed_a: one(m, "trans-a") == Some(true),
            transposed_b: one(m, "trans-b") == Some(true),
            blocks: one(m, "blocks"),
            windows: Windows::of(m),
            by: one(m, "by"),
            digits: one(m, "digits"),
            saturate: one(m, "saturate") == Some(true),
            n: one(m, "n"),
            from: one(m, "from"),
            to: one(m, "to"),
            from_float: one(m, "from"),
            to_float: one(m, "to"),
            rounding: one(m, "rounding"),
            shape: many(m, "shape"),
            dtype: one(m, "dtype"),
            dist: one(m, "dist"),
            dimensions: one(m, "dimensions"),
            scramble: one(m, "scramble") == Some(true),
            table: one(m, "table") == Some(true),
            generator: one(m, "generator"),
            seed: one(m, "seed"),
            stream: one(m, "stream"),
            position: one(m, "position"),
            mean: one(m, "mean"),
            deviation: one(m, "deviation"),
            trials: one(m, "trials"),
            probability: one(m, "probability"),
            alpha: one(m, "alpha"),
            scale: one(m, "scale"),
            probabilities: many(m, "probabilities"),
            beta: one(m, "beta"),
            temperatures: one(m, "temperatures"),
            sweeps: one(m, "sweeps"),
            measure: one(m, "measure"),
            every: one(m, "every"),
            start: one(m, "start"),
            png: one(m, "png"),
            plot: one(m, "plot"),
            csv: one(m, "csv"),
            kind: one(m, "kind"),
            put: one(m, "put") == Some(true),
            geometric: one(m, "geometric") == Some(true),
            barrier: one(m, "barrier"),
            spot: one(m, "spot"),
            strike: one(m, "strike"),
            rate: one(m, "rate"),
            volatility: one(m, "volatility"),
            years: one(m, "years"),
            steps: one(m, "steps"),
            inverse: one(m, "inverse") == Some(true),
            real: one(m, "real") == Some(true),
            chunk_size: one(m, "chunk-size"),
            temp_dir: one(m, "temp-dir"),
            device: DeviceArgs { backend: one(m, "backend").unwrap_or_default() },
            numerics: one(m, "numerics").unwrap_or(NumericsArg::Strict),
            stats: one(m, "stats") == Some(true),
            json: one(m, "json") == Some(true),
        }
    }
}

/// The value of an option that the verb may have.
fn one<T: Clone + Send + Sync + 'static>(m: &ArgMatches, name: &str) -> Option<T> {
    m.try_get_one(name).ok().flatten().cloned()
}

fn many<T: Clone + Send + Sync + 'static>(m: &ArgMatches, name: &str) -> Option<Vec<T>> {
    m.try_get_many(name).ok().flatten().map(|values| values.cloned().collect())
}

/// Options that every verb takes beside its own; one that prints a report needs no file.
pub(super) fn common(reports: bool) -> Vec<Arg> {
    let output = path("out", "The output .npy file, or - for standard output").required(!reports);
    let shared = [
        text("backend", "NAME", "auto, cpu, wgpu or cuda; ISOWARP_BACKEND overrides auto").allow_hyphen_values(false).default_value("auto"),
        choice::<NumericsArg>("numerics", "HOW", "How floats are computed").default_value("strict"),
        flag("stats", "Print bytes, device time, rate and share of the copy rate"),
        flag("json", "Print the stats as JSON").requires("stats"),
    ];
    std::iter::once(output).chain(shared.map(|arg| arg.help_heading("Device and measurement"))).collect()
}

pub(super) fn inputs() -> Arg {
    path("in", "An input .npy file, or - for standard input; repeat it for more inputs").action(ArgAction::Append)
}

fn arg(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

fn text(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    arg(name, value, help).allow_hyphen_values(true)
}

fn number(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    text(name, value, help).value_parser(crate::number::number::<f64>)
}

fn path(name: &'static str, help: &'static str) -> Arg {
    arg(name, "FILE", help).value_parser(value_parser!(PathBuf))
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
}

fn choice<T: ValueEnum + Send + Sync + 'static>(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    arg(name, value, help).value_parser(EnumValueParser::<T>::new())
}

/// Values with commas between them, or said one after the other.
fn list(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    text(name, value, help).value_delimiter(',').action(ArgAction::Append)
}

/// An operator that has a default.
pub(super) fn operator() -> Arg {
    text("op", "OPERATOR", "sum (the default), product, min, max, and, or, xor, count, any or all; or an associative expression of x and y")
}

pub(super) fn expression() -> Arg {
    text("op", "EXPRESSION", "An expression of the inputs x, y, z, w and the index i, or the bare name of a function").required(true)
}

/// Where a condition may be left out.
pub(super) fn question() -> Arg {
    text(
        "op",
        "CONDITION",
        "An expression of the inputs x, y, z, w and the index i, which holds where it is not 0; of one input by default x != 0",
    )
}

pub(super) fn condition() -> Arg {
    text("op", "CONDITION", "An expression of the inputs x, y, z, w and the index i, which holds where it is not 0").required(true)
}

pub(super) fn condition_or_flags() -> Arg {
    condition().required(false).required_unless_present("flags")
}

pub(super) fn own_order() -> Arg {
    text("op", "ORDER", "An order of your own: a comparison that says whether x comes before y, such as \"x % 100 < y % 100\"")
}

pub(super) fn scattering() -> Arg {
    let help = "sum, sub, min, max combine elements of 32 and 64 bits with what is there, and, or, xor integers of them; product, or an associative expression of x and y, in the order of the indices";
    text("op", "OPERATOR", help)
}

pub(super) fn identity() -> Arg {
    let help = "What leaves other values of an expression as they are: 0 for x+y, 1 for x*y, -inf for max(x,y). An exclusive scan starts with it, and \
                it is the result of an empty array. It is no initial value: one that changes other values is refused";
    text("identity", "VALUE", help)
}

pub(super) fn axis() -> Arg {
    text("axis", "AXIS", "Take each line along this axis; negative ones count from the last").value_parser(value_parser!(i64))
}

/// An axis that is the last one where it is not said.
pub(super) fn sorted_axis() -> Arg {
    text("axis", "AXIS", "Sort each line along this axis; negative ones count from the last, which is the default")
        .value_parser(value_parser!(i64))
}

pub(super) fn axes() -> Arg {
    list("axes", "AXES", "The axes in the order that they get, such as 0,2,1").value_parser(value_parser!(i64))
}

pub(super) fn flags() -> Arg {
    flag("flags", "The second input says which elements are meant, by what is not 0, in place of --op")
}

pub(super) fn then() -> Arg {
    text(
        "then",
        "CONDITION",
        "A second condition; elements for which only this one holds come after those of --op or --flags, and before the rest",
    )
}

pub(super) fn width() -> Arg {
    arg("width", "N", "Elements of a group").value_parser(value_parser!(u64).range(1..)).required(true)
}

pub(super) fn window() -> Arg {
    arg("width", "N", "Elements of a window").value_parser(value_parser!(u64).range(1..)).required(true)
}

pub(super) fn step() -> Arg {
    arg("step", "N", "Elements from one window to the next; 1 without").value_parser(value_parser!(u64).range(1..))
}

pub(super) fn by_key() -> Arg {
    flag(
        "by-key",
        "Inputs are keys, and values that go with them: --out gets the values. Merge takes keys, values, and the other keys and values",
    )
}

pub(super) fn k() -> Arg {
    arg("k", "N", "How many elements, of each row where there is --axis").short('k').value_parser(value_parser!(u64)).required(true)
}

pub(super) fn exclusive() -> Arg {
    flag("exclusive", "Leave the element itself out")
}

pub(super) fn side() -> Arg {
    choice::<Side>("side", "SIDE", "What is found")
}

pub(super) fn neighbour() -> Arg {
    let side = PossibleValuesParser::new(["left", "right"]).map(|side| if side == "right" { Side::Right } else { Side::Left });
    arg("side", "SIDE", "Which neighbour").value_parser(side)
}

pub(super) fn ord() -> Arg {
    choice::<Ord>("ord", "NORM", "Which norm")
}

pub(super) fn order() -> Arg {
    choice::<OrderArg>("order", "ORDER", "The order of the additions")
}

pub(super) fn exact() -> Arg {
    flag("exact", "The sum of the numbers as they are, rounded once to the nearest float: no order enters it")
}

pub(super) fn by() -> Arg {
    text("by", "N", "How many places").value_parser(value_parser!(i64)).required(true)
}

pub(super) fn digits() -> Arg {
    let help = "f32 sources are added to i32 or i64 targets as fixed-point numbers with so many binary digits after the point";
    text("digits", "N", help).value_parser(value_parser!(i32))
}

pub(super) fn saturate() -> Arg {
    flag("saturate", "Sums of fixed-point numbers outside their type become the nearest number that there is; they wrap without")
        .requires("digits")
}

pub(super) fn n() -> Arg {
    arg("n", "N", "The number of elements").value_parser(value_parser!(u64)).required_unless_present("shape").conflicts_with("shape")
}

pub(super) fn shape() -> Arg {
    arg("shape", "SHAPE", "The shape, such as 480,640").value_delimiter(',').action(ArgAction::Append).value_parser(value_parser!(u64))
}

pub(super) fn needed_shape() -> Arg {
    shape().required(true)
}

pub(super) fn from() -> Arg {
    choice::<LayoutArg>("from", "LAYOUT", "How the array lies").required(true)
}

pub(super) fn to() -> Arg {
    choice::<LayoutArg>("to", "LAYOUT", "How it is to lie").required(true)
}

pub(super) fn from_float() -> Arg {
    let help = "The format of codes, whose values are wanted: a name as of --to";
    arg("from", "FORMAT", help)
        .value_parser(value_parser!(MiniFloat))
        .required_unless_present("to")
        .conflicts_with_all(["to", "rounding", "saturate"])
}

pub(super) fn to_float() -> Arg {
    let help = "The format of codes that are wanted: e4m3 (of the OCP, without infinity), e4m3-ieee, e5m2, e3m4, e3m2, e2m3, e2m1, bf16, f16; or any of up \
                to 16 bits, as e5m8-ieee, e6m1-nan (one NaN, no infinity) or e3m3-finite";
    arg("to", "FORMAT", help).value_parser(value_parser!(MiniFloat)).conflicts_with("dtype")
}

pub(super) fn rounding() -> Arg {
    choice::<RoundingArg>("rounding", "ROUNDING", "The number that a value between two becomes")
}

pub(super) fn saturating() -> Arg {
    flag("saturate", "Infinity and numbers above the greatest finite one become that")
}

pub(super) fn dtype() -> Arg {
    let help = "The output's element type: f16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64. Elements that are combined (reductions, scans, windows) are \
                converted to it first";
    arg("dtype", "TYPE", help)
}

pub(super) fn needed_dtype() -> Arg {
    dtype().required(true)
}

/// A textbook variant of these.
pub(super) fn variant<const N: usize>(names: [&'static str; N]) -> Arg {
    let help =
        "A textbook variant instead of the pattern, of a whole array; those of reduce and scan have orders of evaluation of their own";
    arg("variant", "NAME", help).value_parser(PossibleValuesParser::new(names))
}
