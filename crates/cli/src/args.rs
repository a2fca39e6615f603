//! What the command line may say.

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
    Run(Box<RunArgs>),
    /// Filter an image
    Image(ImageArgs),
    /// Compare every pattern on every device with the CPU definition, bit for bit
    Validate(ValidateArgs),
    /// Measure patterns on every device, beside the rate of a copy
    Bench(BenchArgs),
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
pub(crate) enum Pattern {
    /// An expression of one array, element by element
    Map,
    /// An expression of two to four arrays of one shape, element by element
    Zip,
    /// An expression of the index i; needs --n or --shape, and --dtype
    Generate,
    /// All elements combined into one (shape (1,)), or along --axis
    Reduce,
    /// The lowest index of the least element, u32; with --axis of each line, in the line
    Argmin,
    /// The lowest index of the greatest element, u32; with --axis of each line, in the line
    Argmax,
    /// Sum of the products of two arrays
    Dot,
    /// A norm of floats (--ord)
    Norm,
    /// The mean of floats
    Mean,
    /// For how many elements an expression of x (of more arrays y, z, w, and of the index i) holds, u32; by default x != 0
    Count,
    /// Whether the expression holds for some element
    Any,
    /// Whether the expression holds for every element; of no elements it does
    All,
    /// The first index at which the expression holds, u32: one element, or none where it holds nowhere
    Find,
    /// Every prefix combined; without --axis the array is taken as one line
    Scan,
    /// The elements of the first array at the indices of the second (NumPy's take)
    Gather,
    /// The third array with the first one's elements at the indices of the second; --op sum, sub, min, max combines, and, or, xor integers;
    /// product, or an associative expression of x and y, in the order of the indices
    Scatter,
    /// The axes in reverse order, or in that of --axes
    Transpose,
    /// A batch of images, of four axes, from the layout --from to the layout --to
    Layout,
    /// An array whose axes are powers of two long, up to three of them, as one line in Morton order (Z-order), the last axis' bits lowest
    ToMorton,
    /// The inverse: a line in Morton order as an array of --shape
    FromMorton,
    /// All elements from last to first
    Reverse,
    /// All elements moved up by --by places, the last ones coming first (NumPy's roll)
    Rotate,
    /// Each row (along the last axis) in order; floats in IEEE 754's total order
    Sort,
    /// The indices, u32, of each row in order; equal elements keep their order
    Argsort,
    /// The first -k elements in order, and to --indices where they were, u32; the array is taken as one line
    Topk,
    /// Whether no element comes before its left neighbour; the array is taken as one line
    IsSorted,
    /// Two sorted arrays as one; of equal elements those of the first array come first
    Merge,
    /// For each rank k of the third array how many of the first k merged elements of the first two are of the first, u32 or u64
    CoRanks,
    /// Where each element of the second array belongs in the first, which is sorted, u32 (NumPy's searchsorted)
    Search,
    /// The elements of either of two sorted arrays, as often as the one with more of them has them
    Union,
    /// The elements of both of two sorted arrays, as often as the one with fewer of them has them
    Intersection,
    /// The elements of a sorted array that remain when those of a second one are taken away
    Difference,
    /// The elements that one of two sorted arrays has more often than the other
    SymmetricDifference,
    /// The elements for which an expression of x (of more arrays y, z, w, and of the index i) holds, in their order
    Select,
    /// All elements, first those for which an expression of x (y, z, w, i) holds, then those of --then; all in their order
    Partition,
    /// The first of each run of equal neighbours
    Unique,
    /// The first of each run of equal neighbours, and to --lengths how many there are, u32
    Rle,
    /// Each element of the first array as often as the second one, of integers, says
    RleDecode,
    /// The values of the second array combined over each run of equal neighbours of the first; its keys go to --keys-out
    ReduceByKey,
    /// Each segment of the first array combined; segment k is the elements from the k-th offset of the second array to the next
    SegmentedReduce,
    /// The lowest index of the least element of each segment, u32, counted from the start of the array; 2^32 - 1 for an empty one
    SegmentedArgmin,
    /// The same of the greatest element
    SegmentedArgmax,
    /// Every prefix of each segment combined
    SegmentedScan,
    /// Each segment in order; floats in IEEE 754's total order. Elements in no segment stay
    SegmentedSort,
    /// The indices, u32, of each segment in order, counted from the start of the array
    SegmentedArgsort,
    /// Each element less its left neighbour, or with --side right its right one; the element at the end stays
    AdjacentDifference,
    /// How many elements fall into each of --bins even bins of --range, or between --edges; u32, or the sums of --weights. Of two or three
    /// arrays together, an axis for each; or of each of --channels
    Histogram,
    /// The bits of whether an expression of x (and the index i) holds, for each group of --width elements, u32 words
    Ballot,
    /// For each element the lowest place in its group of --width with the same bits, u32, and to --lengths how many there are
    Match,
    /// For each element how many of the same bits come before it, u32, and to --lengths how many there are
    Tickets,
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
pub(crate) enum Side {
    /// Before elements that are equal
    Left,
    /// Behind them
    Right,
    /// How many they are
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

/// The conventions of `isowarp run`.
const RUN_HELP: &str = "\
Operators:
  names        sum product min max and or xor count any all (reduce, scan, reduce-by-key, segmented-reduce, segmented-scan)
  expressions  \"exp(-x*x) + 0.5*y\" of x, y, z, w (the inputs in order) and i (the index); for these patterns an associative one of x and y
               c ? a : b  || &&  < <= > >= == !=  | ^ &  << >>  + - * / %  - ! ~
               abs min max clamp select fma mul_rn sqrt rsqrt cbrt floor ceil trunc round exp exp2 expm1 log log2 log10 log1p sin cos tan ...
               casts f32(x) f64 i32 u32 i64 u64; pi e inf nan true false
  functions    a bare name such as sqrt or max is applied to the inputs

Variants (--variant), for teaching; those of reduce and scan have orders of evaluation of their own:
  reduce       fold-in-half interleaved convergent sequential first-combine unrolled coarsened shuffle vectorised aligned-tree
  scan         kogge-stone brent-kung coarsened single-pass
  sort         odd-even-transposition bitonic odd-even-merge sample radix-split radix-local radix-digits radix-coarsened radix
  merge        basic tiled circular-buffer merge-path (u4, i4 and f4)
  histogram    atomic private-memory private-shared coarsened-contiguous coarsened-interleaved aggregated replicated (counts, at once)

Conventions:
  A literal takes the type of what it meets, and so does the index. Integers wrap, sums too: --dtype u64 holds more. A product that meets a sum is one fused multiply-add;
  mul_rn(a, b) is the separately rounded product. A sum of nothing is 0, a minimum of nothing an error. argmin and argmax give the lowest
  index, u32. A reduction writes shape (1,) in the input's type or in that of --dtype, or the other axes with --axis. Comparisons are written as NumPy bool.
  The output of f2, i1, i2, u1 and u2 inputs has their type again, unless --dtype says otherwise. gather and scatter take indices of any integer type
  into the array as one line; one that is negative or too large is an error. Of several scattered to one place the last stays.
  Sums of f4 that are scattered are exact, rounded once; a minimum or maximum with NaN is NaN, and -0 is below 0. match and tickets take all NaN for
  one value, and -0 and 0 for two.
  Bins of a histogram are half open: the upper end of --range and the last edge are in none (NumPy's last bin is closed), nor is NaN; what is
  in none is dropped. Even bins of floats are those between the edges that NumPy's linspace gives. Sums of f4 and f8 weights are exact, rounded once; sums of integers wrap. Channels with as many bins each have an axis of
  their own, the first; else their counts are one line.
  select, partition, count, any, all and find take an expression of x, y, z, w (arrays of one shape) and i, which holds where it is not zero;
  what is kept is of the first array. unique and rle compare neighbours by value: NaN differs from everything, -0 equals 0. sort and
  argsort of one dimension, is-sorted, merge, search and the set operations take a comparison of x and y that says whether x comes before y:
  --op \"x % 100 < y % 100\"; where it contradicts itself, as < does with NaN, elements may be missing. topk takes the array as one line, or with --axis -1 each row by itself, and
  of equal elements those that come first. What is moved, sorted or selected keeps its bits; of f2 what is selected and NaN is the one NaN.
  With --by-key values of any type travel with the elements of sort, topk and merge, and of segmented-sort, whose offsets come last; unique gives the first value of each run of equal keys,
  and scan combines the values of each run. --out gets the values, --keys-out their keys.
  merge, search, co-ranks and the set operations take arrays as one line each, sorted as sort sorts them; one that is not is an error.
  sort, argsort, histogram and scan take an array that is too large for the device, or for what the host may use (its limits and those of its
  control groups count), in chunks, with the same result to the bit; so do they with --chunk-size, which is the memory to work in. A row that is longer than a chunk goes through temporary files as large as it is, without a name, in
  --temp-dir. Where a comparison of your own contradicts itself, chunks do show. Counts of more than 2^32 - 1 samples are u8.
  Offsets of segments are u4, i4, u8 or i8, one more than there are segments; one that is below the one before it, or behind the end, is an
  error. An empty segment gives what the operator starts with: 0 for a sum, inf or the greatest value for a minimum.

  Elements of bool files are truth values: !x, x && y, x ? a : b, x == y, x < y; numbers are made of them by u32(x), for + too. What selects, moves and
  sorts them gives bool files, and so do min, max, and, or, xor and expressions that combine them; a sum of them is a count, a product 1 where
  all hold, both u4. dot of two says whether both hold somewhere.

Files: .npy of f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 or bool, of either byte order and in C or Fortran order; arrays.npz/name is the array `name` of
an archive. The output, little-endian and in C order, is written beside its place and renamed.";

#[derive(Args, Debug)]
#[command(after_help = RUN_HELP)]
pub(crate) struct RunArgs {
    /// The pattern
    #[arg(value_enum)]
    pub(crate) pattern: Pattern,
    /// An input .npy file, or - for standard input; repeat it for more inputs
    #[arg(long = "in", value_name = "FILE")]
    pub(crate) inputs: Vec<PathBuf>,
    /// The output .npy file, or - for standard output
    #[arg(long = "out", value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// A name or an expression; reduce and scan, by key and of segments too, default to sum, sort, argsort and merge to the order of values
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) op: Option<String>,
    /// What leaves other values of an expression of reduce or scan as they are: 0 for x+y, 1 for x*y, -inf for max(x,y). An exclusive scan starts
    /// with it, and nothing gives it; it is no initial value, and one that changes other values is refused
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) identity: Option<String>,
    /// The axis of reduce, scan, argmin or argmax; negative ones count from the last. Topk: -1, for the first of every row
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) axis: Option<i64>,
    /// Transpose: the axes in the order that they get, such as 0,2,1
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) axes: Option<Vec<i64>>,
    /// Select and partition: the second input says which elements are meant, by what is not 0, in place of --op
    #[arg(long)]
    pub(crate) flags: bool,
    /// Partition: a second condition; elements for which only this one holds come behind those of --op, and before the rest
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub(crate) then: Option<String>,
    /// Partition: the .npy file that takes how many elements are in its first part (and in its second, where there is --then), u32
    #[arg(long, value_name = "FILE")]
    pub(crate) count: Option<PathBuf>,
    /// Ballot and match: elements of a group
    #[arg(long)]
    pub(crate) width: Option<u64>,
    /// Rle, match and tickets: the .npy file that takes how many there are
    #[arg(long, value_name = "FILE")]
    pub(crate) lengths: Option<PathBuf>,
    /// Sort, segmented-sort, topk, merge, unique and scan: the second input holds values that go with the first one's elements, the keys. Merge takes
    /// keys, values, and the other keys and values. --out gets the values
    #[arg(long)]
    pub(crate) by_key: bool,
    /// Reduce-by-key: the .npy file that takes the runs' keys; with --by-key, the keys that belong to --out's values
    #[arg(long, value_name = "FILE")]
    pub(crate) keys_out: Option<PathBuf>,
    /// Topk: how many elements, of each row where there is --axis
    #[arg(short, long)]
    pub(crate) k: Option<u64>,
    /// Topk and select: the .npy file that takes where the elements were, those of topk in their row
    #[arg(long, value_name = "FILE")]
    pub(crate) indices: Option<PathBuf>,
    /// Histogram: the number of bins; of several arrays or channels one each, such as 16,8
    #[arg(long, value_delimiter = ',')]
    pub(crate) bins: Option<Vec<u32>>,
    /// Histogram: where the first bin starts and where the last one ends, such as 0,256 or -0.5,1e2; of several arrays or channels one pair behind the
    /// other. Integers lie in bins of the real line, so 0,4294967296 has all u4
    #[arg(long, value_name = "LOW,HIGH", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) range: Option<Vec<String>>,
    /// Histogram: an .npy file of edges in ascending order, of the input's type, in place of --bins and --range; repeat it for several arrays
    /// or channels
    #[arg(long, value_name = "FILE", conflicts_with_all = ["bins", "range"])]
    pub(crate) edges: Vec<PathBuf>,
    /// Histogram: the channels of a pixel, along the last axis or one after the other in one line. The first one to four of them have bins: all
    /// of up to four where bins are said once, else as many as are said. The result has a row for each
    #[arg(long)]
    pub(crate) channels: Option<u32>,
    /// Histogram: an .npy file of weights, one to an element; with --channels one to a pixel, added to a bin of each channel
    #[arg(long, value_name = "FILE")]
    pub(crate) weights: Option<PathBuf>,
    /// Scan and segmented-scan: leave the element itself out
    #[arg(long)]
    pub(crate) exclusive: bool,
    /// A rung of the textbooks' ladder instead of the pattern (reduce, scan and sort of a whole array, merge, histogram); see below
    #[arg(long, value_name = "NAME")]
    pub(crate) variant: Option<String>,
    /// Sorts, also of segments, and the order of sorted arrays: the greatest first
    #[arg(long)]
    pub(crate) descending: bool,
    /// Sort, argsort, topk and is-sorted: compare the bits from LOW to below HIGH alone, 0 being the lowest; of signed integers and floats those of the
    /// unsigned integer that compares as they do
    #[arg(long, value_name = "LOW,HIGH", value_delimiter = ',')]
    pub(crate) bits: Option<Vec<u32>>,
    /// Search: the first place where an element may be inserted (the default), the last, or how many are equal. Adjacent-difference: which
    /// neighbour
    #[arg(long, value_enum)]
    pub(crate) side: Option<Side>,
    /// Norm: which one
    #[arg(long, value_enum)]
    pub(crate) ord: Option<Ord>,
    /// Rotate: how many places
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) by: Option<i64>,
    /// Scatter: f4 sources are added to i4 or i8 targets as fixed-point numbers with so many binary digits behind the point
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) digits: Option<i32>,
    /// Scatter: sums of fixed-point numbers outside their type become the nearest number that there is; they wrap without
    #[arg(long, requires = "digits")]
    pub(crate) saturate: bool,
    /// Generate: the number of elements
    #[arg(long)]
    pub(crate) n: Option<u64>,
    /// Layout: how the array lies
    #[arg(long, value_enum)]
    pub(crate) from: Option<LayoutArg>,
    /// Layout: how it is to lie
    #[arg(long, value_enum)]
    pub(crate) to: Option<LayoutArg>,
    /// Generate and from-morton: the shape, such as 480,640
    #[arg(long, value_delimiter = ',')]
    pub(crate) shape: Option<Vec<u64>>,
    /// The output's element type: f16 f32 f64, or bits of an integer as in i8 i16 i32 i64 u8 u16 u32 u64. Values of map, zip and generate are converted;
    /// reduce and scan, by key and of segments too, convert elements and combine them in it
    #[arg(long)]
    pub(crate) dtype: Option<String>,
    /// Sort, argsort, histogram and scan: memory to work in, such as 2^30 or 512M, beside what the command takes by itself. The array is taken in
    /// chunks that fit it. By default three quarters of what may be used, of the device's memory and the host's
    #[arg(long, value_name = "BYTES")]
    pub(crate) chunk_size: Option<String>,
    /// Sort and argsort in chunks, and whatever goes to a pipe: the folder of the temporary files, as large as the array; by default that of the
    /// output, for standard output the system's
    #[arg(long, value_name = "DIR")]
    pub(crate) temp_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// How floats are computed
    #[arg(long, value_enum, default_value = "strict")]
    pub(crate) numerics: NumericsArg,
    /// Print bytes, device time, rate and share of the copy rate
    #[arg(long)]
    pub(crate) stats: bool,
    /// Print the stats as JSON
    #[arg(long, requires = "stats")]
    pub(crate) json: bool,
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
}

/// The conventions of `isowarp image`.
const IMAGE_HELP: &str = "\
Reads PNG, JPEG, TIFF, BMP, WebP and GIF: one picture, grey or RGB, with alpha or without, of 8 or 16 bits in a channel. A file that is damaged
or cut is an error, as far as its format can tell, and so are several pictures in one (animations, pages).

The output has the input's channels and bits, and its size, upright: the orientation that a camera noted is applied. ICC profile, EXIF, gamma and
resolution are kept where the output's format has a place for them; what is left out is named in a warning. identity copies.

Colours are weighed by alpha, and alpha is filtered as they are, so that what is transparent gives no colour to what is not. sobel, laplacian and
highpass, which find differences, take colours as they are seen before black, and leave alpha. Pixels are computed in f32, rounded half up.
A gaussian of another size than 3 and 5, a box of another than 3, and one with --sigma goes across and then down, each sum rounded to f32.";

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
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) sigma: Option<f32>,
    /// Sharpen: strength, at least 0 and below 1 (default 0.5)
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) alpha: Option<f32>,
    /// What is read outside the image
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
