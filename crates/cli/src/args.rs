//! Arguments of the command line.

use crate::run::{RunArgs, help};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Parallel patterns that return the same bits on every GPU.
///
/// With no subcommand: a quick validation of every device in less than a minute, then a photograph filtered on each; the results are compared byte
/// for byte, and one is written to isowarp-photograph.png.
#[derive(Parser, Debug)]
#[command(name = "isowarp", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    /// Without a subcommand: print what was compared, by pattern and device, and by filter
    #[arg(long)]
    pub(crate) verbose: bool,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// List every adapter and GPU with its limits, element types and numerics verdict
    Devices(DevicesArgs),
    /// Run a pattern over NumPy files
    #[command(subcommand, after_help = run_help(), subcommand_value_name = "PATTERN", subcommand_help_heading = "Patterns")]
    Run(Box<RunArgs>),
    /// Filter an image
    Image(ImageArgs),
    /// Compare every pattern on every device with the CPU definition, bit for bit
    Validate(ValidateArgs),
    /// Measure patterns on every device, beside the rate of a copy
    Bench(BenchArgs),
}

fn run_help() -> String {
    format!("A pattern's own options, and an example: isowarp run PATTERN --help\n\n{}\n\n{}", help::OPERATORS, help::CONVENTIONS)
}

#[derive(Args, Debug)]
pub(crate) struct DevicesArgs {
    /// Measure each device's copy rate
    #[arg(long)]
    pub(crate) measure: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where to compute.
#[derive(Args, Debug)]
pub(crate) struct DeviceArgs {
    /// auto, cpu, wgpu or cuda; ISOWARP_BACKEND overrides auto
    #[arg(long, default_value = "auto")]
    pub(crate) backend: String,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NumericsArg {
    /// The same bits on every device
    Strict,
    /// The hardware's own elementary functions, within stated bounds
    Fast,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ord {
    /// Sum of the absolute values
    #[value(name = "1")]
    One,
    /// Square root of the sum of the squares
    #[value(name = "2")]
    Two,
    /// Greatest absolute value
    Inf,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Dist {
    /// All values of u32 (the default) or u64
    Bits,
    /// f32 (the default) or f64 in [0, 1)
    Uniform,
    /// f32 or f64 in (0, 1)
    Open,
    /// i32 (the default) or u32 of --range
    Integers,
    /// f32 (the default) or f64 of --mean and --deviation, by Box and Muller's pairs
    Normal,
    /// The same by the quantile function, from one word each, or two in f64
    Quantile,
    /// Whose logarithms are normal
    Lognormal,
    /// f32 (the default) or f64 of --mean, the reciprocal of the rate
    Exponential,
    /// Counts of events of which --mean are expected
    Poisson,
    /// Counts of successes in --trials, each of --probability
    Binomial,
    /// Of --alpha, the shape, and --scale
    Gamma,
    /// 0, 1, 2, ..., as likely as --probabilities says
    Discrete,
    /// The indices in random order
    Permutation,
    /// Points of the unit circle
    Circle,
    /// Points of the unit sphere
    Sphere,
    /// Sobol's points in --dimensions, f32 (the default), f64 or u32 words, from number --position on
    Sobol,
    /// Halton's points likewise
    Halton,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OrderArg {
    /// One after the other
    Sequential,
    /// NumPy 2.4's pairwise summation of f32 and f64 (the default); older ones add blocks of 8192 one after another
    Pairwise,
    /// Kahan's, with a running correction
    Kahan,
    /// Neumaier's, whose correction is added at the end
    Neumaier,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BlocksArg {
    /// Chains of fused multiply-adds over 512 terms each, added left to right (the default)
    Blocks,
    /// One chain over all terms
    Chain,
    /// Exact sums of numbers of 30 bits, scaled by their row or column: no order
    Fixed30,
    /// The device's own order, of factors rounded to f16; other bits on other devices
    FastF16,
    /// The device's own order, of factors rounded to bf16
    FastBf16,
    /// The device's own order, of factors rounded to eleven bits of mantissa
    FastTf32,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PivotsArg {
    /// The greatest of the column (the default)
    Partial,
    /// The diagonal as it comes
    None,
    /// The greatest of the remaining square, for solve and inv
    Full,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RoundingArg {
    /// The nearer number, of two as near the one with an even code (the default)
    NearestEven,
    /// The nearer number, of two as near the one further from zero
    NearestAway,
    /// The number nearer to zero
    TowardZero,
    /// The greater number
    Up,
    /// The lesser number
    Down,
    /// The number with an odd code
    ToOdd,
    /// Either, the nearer it is the more likely, by random words of --seed
    Stochastic,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GeneratorArg {
    /// Philox4x32-10
    Philox,
    /// Threefry4x32-20
    Threefry,
    /// L'Ecuyer's MRG32k3a, of bits and uniform: all six words of its state are --seed, 12345 without
    Mrg32k3a,
    /// cuRAND's XORWOW, of bits, uniform, normal, quantile, lognormal and exponential: --stream is the subsequence, --position the offset
    Xorwow,
    /// The same in the order of curandGenerate, 4096 subsequences in turn: --position is a multiple of 4096
    XorwowInterleaved,
}

/// Spins that a simulation begins with.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StartArg {
    /// All up
    Cold,
    /// At random
    Hot,
}

/// Kinds of options.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OptionKind {
    /// The price at the end
    European,
    /// The average of the prices at --steps times
    Asian,
    /// The price at the end, unless one was at or below --barrier
    DownAndOut,
    /// The price at the end, if one was at or below --barrier
    DownAndIn,
    /// The price at the end, unless one was at or above --barrier
    UpAndOut,
    /// The price at the end, if one was at or above --barrier
    UpAndIn,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    /// Before elements that are equal
    Left,
    /// Behind them
    Right,
    /// Number of equal elements
    Count,
}

/// The order of the axes of images, the slowest first.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LayoutArg {
    /// Planes of channels
    Nchw,
    /// Interleaved channels
    Nhwc,
    /// Interleaved images
    Chwn,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FilterName {
    /// A copy
    Identity,
    /// Mean of a square, 3x3 unless --size says otherwise
    Box,
    /// Gaussian blur (--size, --sigma)
    Gaussian,
    /// The image less --alpha of its blur
    Sharpen,
    /// Magnitude of the gradient
    Sobel,
    /// Second derivative
    Laplacian,
    /// The centre against its neighbours
    Highpass,
    /// Median of 3x3
    Median,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BorderArg {
    /// The nearest pixel of the edge
    Clamp,
    /// Zero
    Zero,
    /// The image mirrored at its edge
    Mirror,
    /// The image repeated
    Wrap,
}

/// The conventions of `isowarp image`.
const IMAGE_HELP: &str = "\
Reads PNG, JPEG, TIFF, BMP, WebP and GIF: one picture, grey or RGB, with alpha or without, of 8 or 16 bits in a channel. A file that is damaged
or cut is an error, as far as its format can tell, and so are several pictures in one (animations, pages).

The output has the input's channels and bits, and its size, upright: the orientation that a camera noted is applied. ICC profile, EXIF, gamma and
resolution are kept where the output's format has a place for them; what is left out is named in a warning. identity copies.

Colours are weighed by alpha, and alpha is filtered as they are, so that what is transparent gives no colour to what is not. sobel, laplacian and
highpass, which find differences, take colours as they are seen before black, and leave alpha. Pixels are computed in f32, rounded half up.
A gaussian of another size than 3 and 5, a box of another than 3, and one with --sigma goes across and then down, in f32: chains of
16 taps, added in pairs.";

#[derive(Args, Debug)]
#[command(after_help = IMAGE_HELP)]
pub(crate) struct ImageArgs {
    /// The filter
    #[arg(value_enum)]
    pub(crate) filter: FilterName,
    /// The input image, or - for standard input
    #[arg(long = "in", value_name = "FILE")]
    pub(crate) input: PathBuf,
    /// The output image: .png, .jpg, .tiff, .webp (lossless) or .bmp, or - for a PNG on standard output
    #[arg(long = "out", value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Gaussian and box: window size, odd (default 3; of a gaussian with --sigma three deviations on each side)
    #[arg(long)]
    pub(crate) size: Option<u32>,
    /// Gaussian: standard deviation in pixels (default 0.3 (r - 1) + 0.8 for a window of 2 r + 1)
    #[arg(long, allow_hyphen_values = true, value_parser = crate::number::number::<f32>)]
    pub(crate) sigma: Option<f32>,
    /// Sharpen: strength, at least 0 and below 1 (default 0.5)
    #[arg(long, allow_hyphen_values = true, value_parser = crate::number::number::<f32>)]
    pub(crate) alpha: Option<f32>,
    /// Pixels that are read outside the image
    #[arg(long, value_enum, default_value = "clamp")]
    pub(crate) border: BorderArg,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Print bytes, device time, rate and share of the copy rate
    #[arg(long)]
    pub(crate) stats: bool,
    /// Print the stats as JSON
    #[arg(long, requires = "stats")]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ValidateArgs {
    /// Under a minute on two cores (the default)
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// Every case
    #[arg(long)]
    pub(crate) full: bool,
    /// Only this pattern; repeat it for more
    #[arg(long = "pattern", value_name = "NAME")]
    pub(crate) patterns: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct BenchArgs {
    /// Patterns of `isowarp run`, or copy, exp, axpy, gaussian5, sobel, median; `all` for every one. By default the usual ones
    pub(crate) patterns: Vec<String>,
    /// Elements: 2^20, 1M, 1048576
    #[arg(long, value_delimiter = ',', default_value = "2^16,2^20,2^24")]
    pub(crate) sizes: Vec<String>,
    /// Only this backend: cpu, wgpu or cuda
    #[arg(long)]
    pub(crate) backend: Option<String>,
    /// Draw the rates into this SVG file
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
