//! The cases: one file a pattern, each body written once for every backend.

mod accuracy;
mod atomics;
mod by_order;
mod concurrency;
mod convolution;
mod counted;
mod elementary;
mod exact;
mod examples;
mod fft;
mod filter;
mod forms;
mod found;
mod groups;
mod histogram;
mod histogram_variants;
mod ising;
mod lazy;
mod loops;
mod map;
mod map_types;
mod memory;
mod merge;
mod merge_from;
mod merge_sort;
mod merge_variants;
mod minifloat;
mod modifiers;
mod monte_carlo;
mod moves;
mod narrow;
mod pairs;
mod probe;
mod product;
mod product_variants;
mod random;
mod reduce;
mod reduce_custom;
mod reduce_modifiers;
mod reduce_variants;
mod runs;
mod scan;
mod scan_modifiers;
mod scan_parts;
mod scan_variants;
mod scatter_combine;
mod segmented_sorts;
mod segments;
mod select;
mod solve;
mod sort;
mod sort_variants;
mod top_k;
mod window;

pub use elementary::{UNARY, Unary};
pub use found::found;
pub use pairs::pairs as pairs_of_operations;

use crate::case::{Case, Cases, Target};
use crate::data::{self, Fill};
use isowarp::Result;
use isowarp::buffer::{Buffer, Memory as _};
use isowarp::element::Element;

/// Every case, sorted by name. Names do not depend on the backend.
#[must_use]
pub fn table<B: Target>() -> Vec<Case<B>> {
    let mut cases = Cases::default();
    for add in [
        memory::cases,
        map::cases,
        map_types::cases,
        elementary::cases,
        probe::cases,
        product::cases,
        solve::cases,
        examples::cases,
        reduce::cases,
        reduce_custom::cases,
        reduce_modifiers::cases,
        exact::cases,
        reduce_variants::cases,
        scan::cases,
        scan_modifiers::cases,
        scan_parts::cases,
        scan_variants::cases,
        segments::cases,
        counted::cases,
        select::cases,
        sort::cases,
        top_k::cases,
        window::cases,
        random::cases,
        ising::cases,
        monte_carlo::cases,
        sort_variants::cases,
        histogram::cases,
        histogram_variants::cases,
        groups::cases,
        merge::cases,
        merge_from::cases,
        merge_sort::cases,
        merge_variants::cases,
        product_variants::cases,
        moves::cases,
        scatter_combine::cases,
        atomics::cases,
        filter::cases,
        fft::cases,
        concurrency::cases,
        convolution::cases,
        forms::cases,
        lazy::cases,
        loops::cases,
        minifloat::cases,
        accuracy::cases,
        runs::cases,
        by_order::cases,
        narrow::cases,
        modifiers::cases,
        pairs::cases,
        found::cases,
    ] {
        cases.quick(true);
        add(&mut cases);
    }
    let mut cases = cases.finish();
    cases.iter_mut().for_each(|c| c.quick &= !is_long(&c.name));
    cases
}

/// Cases with kernels of their own that the quick run does without: each takes a software adapter's compiler a second or two.
const OWN_KERNELS: [&str; 30] = [
    "examples/power_series_of_log/25",
    "move/checked",
    "move/morton/f16",
    "move/morton/f64",
    "move/morton/i64",
    "move/scatter_reduce/max/i64/",
    "move/scatter_reduce/min/i64/",
    "reduce/and_or_xor/i32/",
    "reduce/axis_max/f32/",
    "reduce/axis_sum/f64/",
    "reduce/axis_sum/u32/",
    "reduce/first_and_last_index/",
    "reduce/fused_inputs/",
    "reduce/log_sum_exp/",
    "reduce/matrix_product/",
    "reduce/mean/f64/",
    "reduce/mean_and_variance/",
    "reduce/min_max_with_index/u32/",
    "reduce/narrow_results",
    "reduce/polynomial_hash/",
    "reduce/sum_wide/f16/",
    "reduce/three_parts/",
    "reduce/two_doubles",
    "scan_variants/coarsened/slice/",
    "segmented/by_lazy_key/",
    "segmented/counted/wide",
    "segmented/counted_extremes/",
    "segmented/extremes/f64",
    "segmented/extremes/i32",
    "segmented/extremes/u64",
];

/// Cases that the quick run does without, since a software adapter's compiler takes seconds over each new scan, and its execution over many
/// elements: the quick run has sums of all sizes, and of the other operators some on fewer elements.
fn is_long(name: &str) -> bool {
    const SCANS: [&str; 7] = ["sum/f32/", "sum/u32/", "affine/u32/", "axis/f32/", "running_max/f32/", "segmented_short/", "slice/"];
    if let Some(scan) = name.strip_prefix("scan/")
        && !SCANS.iter().any(|s| scan.starts_with(s))
    {
        return true;
    }
    if OWN_KERNELS.iter().any(|kernels| name.starts_with(kernels)) || name.contains("/c=3") {
        return true;
    }
    let plain = ["/sum/f32/", "/sum/u32/"].iter().any(|p| name.contains(p));
    let sizes = name.split('/').filter(|s| s.starts_with(|c: char| c.is_ascii_digit()) || s.starts_with("n="));
    let numbers = sizes.flat_map(|s| s.split(|c: char| !c.is_ascii_digit())).filter_map(|k| k.parse::<u64>().ok());
    !plain && name.starts_with(['r', 's']) && numbers.fold(1u64, |a, k| a.saturating_mul(k.max(1))) > 1 << 15
}

/// Sizes around every edge: of subgroups (32), workgroups (256, 1024), tiles (2048 to 32,768), and nothing at all.
const SIZES: [u64; 30] = [
    0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192, 8193, 16_385,
    32_767, 32_769, 65_536, 100_003,
];

/// A few of them.
const FEW: [u64; 6] = [0, 1, 33, 1025, 8193, 100_003];

/// More workgroups of 256 than one dimension of a grid holds.
const FOLDED: u64 = 65_535 * 256 + 1;

/// f32 elements of 160 MiB and a few: above the binding limit of 128 MiB that WebGPU promises.
const ABOVE_BINDING: u64 = (160 << 20) / 4 + 3;

/// A row-major shape of 160 MiB of f32 and a few: a binding holds some of its rows, and far less than a tile of every column.
const ROWS_ABOVE_BINDING: [u64; 2] = [40, ABOVE_BINDING / 40 + 1];

/// A buffer whose elements are a function of the arguments.
fn input<B: Target, T: Element>(device: &B, fill: Fill, n: u64, name: &str) -> Result<Buffer<B, T>> {
    device.upload(&data::data::<T>(fill, n, data::seed(name)))
}

/// Two buffers in which every special value meets every other, and then `fill`.
fn pairs<B: Target, T: Element>(device: &B, fill: Fill, n: u64, name: &str) -> Result<(Buffer<B, T>, Buffer<B, T>)> {
    const K: usize = 96;
    let special: Vec<T> = data::data(Fill::Bits, K as u64, data::seed("special"));
    let mut x: Vec<T> = (0..K * K).map(|i| special[i / K]).collect();
    let mut y: Vec<T> = (0..K * K).map(|i| special[i % K]).collect();
    x.extend(data::data::<T>(fill, n, data::seed(name)));
    y.extend(data::data::<T>(fill, n, !data::seed(name)));
    Ok((device.upload(&x)?, device.upload(&y)?))
}
