//! The patterns that are measured, as jobs that can be enqueued again and again.

mod convolutions;
mod forms;
mod groups;
mod histograms;
mod inputs;
mod products;
mod ready;
mod rungs;
mod simulations;
mod solves;
mod transforms;

use isowarp::backend::Backend as _;
use isowarp::element::DType;
use isowarp::ir::Expr;
use isowarp::prelude::*;
use isowarp::{Device, Result};
use isowarp_textbook::SortVariant;
use isowarp_textbook::sort::TRANSPOSED;
pub use ready::Ready;
pub(crate) use ready::{
    counted, counted_of, first_thousand, halves, image, into, one, one_of, pairs, random, random_indices, results, rising, swept, turn_of,
    turned, two, zeroed,
};

/// A pattern on an element type.
#[derive(Clone, Copy)]
pub struct Work {
    /// `pattern/variant`.
    pub name: &'static str,
    /// Type of the elements.
    pub dtype: DType,
    /// Bytes that one element of the input length costs at least: every input read once, every output written once.
    pub bytes: u64,
    build: fn(&Device, &Shape) -> Result<Ready>,
}

/// Size of the inputs, and the random numbers that they are made from.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Elements of one input.
    pub n: u64,
    /// Inputs that are used in turn.
    pub copies: u64,
    /// Seed of the inputs.
    pub seed: u32,
}

/// Ends the names of patterns that are rungs of a ladder.
const RUNGS: &str = "_variants";

impl Work {
    /// Makes inputs and outputs.
    ///
    /// # Errors
    /// Memory that is not there, element types that the device lacks.
    pub fn ready(&self, device: &Device, shape: &Shape) -> Result<Ready> {
        (self.build)(device, shape)
    }

    /// The pattern: the name up to the first slash.
    #[must_use]
    pub fn pattern(&self) -> &'static str {
        self.name.split('/').next().unwrap_or(self.name)
    }

    /// Whether it is a rung of a ladder: measured where it is asked for by name.
    #[must_use]
    pub fn is_rung(&self) -> bool {
        self.pattern().ends_with(RUNGS)
    }

    /// Whether a name that somebody asks for means it.
    #[must_use]
    pub fn is_meant_by(&self, name: &str) -> bool {
        self.name.starts_with(name) && (!self.is_rung() || name.contains(RUNGS))
    }

    /// Whether it works on so many elements: the quadratic sort has a limit.
    #[must_use]
    pub fn takes(&self, n: u64) -> bool {
        n <= TRANSPOSED || !self.name.ends_with(SortVariant::OddEvenTransposition.name())
    }

    /// Whether the number of its elements is a square: it works on images, or matrices.
    #[must_use]
    pub fn is_square(&self) -> bool {
        self.is_image() || self.name == "move/transpose"
    }

    /// Whether it works on square images, `n` being the number of pixels.
    #[must_use]
    pub fn is_image(&self) -> bool {
        self.pattern() == "filter"
    }
}

/// Everything that is measured, the copy first.
#[must_use]
pub fn works() -> Vec<Work> {
    let mut all = vec![
        work("copy", DType::F32, 8, |d, s| one::<f32>(d, s, isowarp::patterns::Map::copy_into)),
        work("map/axpy", DType::F32, 12, |d, s| two(d, s, |d, x, y, out| d.map_into((scalar(1.5f32), x, y), |(a, x, y)| a * x + y, out))),
        work("map/zip", DType::F32, 12, |d, s| two(d, s, |d, x, y, out| d.map_into((x, y), |(x, y)| x * y, out))),
        work("map/exp", DType::F32, 8, |d, s| one::<f32>(d, s, |d, x, out| d.map_into(x, Expr::exp, out))),
        work("map/sin", DType::F32, 8, |d, s| one::<f32>(d, s, |d, x, out| d.map_into(x, |x| (x * 6.0).sin(), out))),
        work("map/custom", DType::F32, 8, |d, s| {
            one::<f32>(d, s, |d, x, out| d.map_into(x, |x| (x * x + 1.0).sqrt() / (x + 0.5) - x, out))
        }),
        work("map/custom", DType::U32, 8, |d, s| {
            one::<u32>(d, s, |d, x, out| d.map_into(x, |x| (x ^ (x >> 15)) * 0x2C1B_3C6D + x.count_ones(), out))
        }),
        work("reduce/sum", DType::F32, 4, |d, s| one::<f32>(d, s, |d, x, out| d.reduce(x, Sum).write_to(out))),
        work("reduce/sum", DType::U32, 4, |d, s| one::<u32>(d, s, |d, x, out| d.reduce(x, Sum).write_to(out))),
        work("reduce/argmin", DType::F32, 4, |d, s| results::<f32>(d, s, 1, |d, x, out| d.reduce(x, Min).index().write_to(out))),
        work("reduce/argmax", DType::F32, 4, |d, s| results::<f32>(d, s, 1, |d, x, out| d.reduce(x, Max).index().write_to(out))),
        work("scan/inclusive", DType::F32, 8, |d, s| one::<f32>(d, s, |d, x, out| d.scan(x, Sum).write_to(out))),
        work("scan/inclusive", DType::U32, 8, |d, s| one::<u32>(d, s, |d, x, out| d.scan(x, Sum).write_to(out))),
        work("scan/exclusive", DType::F32, 8, |d, s| one::<f32>(d, s, |d, x, out| d.scan(x, Sum).exclusive().write_to(out))),
        work("scan/exclusive", DType::U32, 8, |d, s| one::<u32>(d, s, |d, x, out| d.scan(x, Sum).exclusive().write_to(out))),
        work("select/half", DType::U32, 6, |d, s| {
            counted::<u32>(d, s, |d, x, out, count| d.select(x, |x| (x >> 31).eq(0)).write_to((out, count)))
        }),
        work("select/half", DType::F32, 6, |d, s| {
            counted::<f32>(d, s, |d, x, out, count| d.select(x, |x| x.lt(0.5)).write_to((out, count)))
        }),
        work("select/partition", DType::U32, 8, |d, s| {
            counted::<u32>(d, s, |d, x, out, count| d.partition(x, |x| (x >> 31).eq(0)).write_to((out, count)))
        }),
        work("select/unique", DType::U32, 7, |d, s| {
            // Of random values below 4: three of four differ from the one before.
            counted::<u32>(d, s, |d, x, out, count| d.unique(x.map(|x| x >> 30)).write_to((out, count)))
        }),
    ];
    all.extend([
        work("select/chain", DType::U32, 4, |d, s| {
            // One of 64 elements, in order, and their sum: what follows the selection follows its count.
            let kept = zeroed::<u32>(d, s.n)?;
            counted::<u32>(d, s, move |d, x, out, count| {
                d.select(x, |x| (x >> 26).eq(0)).write_to((&kept, count))?;
                let count = DeviceScalar::from_buffer(count.clone())?;
                d.sort(&kept).length(&count).write_to(out)?;
                d.reduce(out, Sum).length(&count).run().map(drop)
            })
        }),
        work("sort/keys", DType::U32, 8, |d, s| one::<u32>(d, s, |d, x, out| d.sort(x).write_to(out))),
        work("sort/keys", DType::F32, 8, |d, s| one::<f32>(d, s, |d, x, out| d.sort(x).write_to(out))),
        work("sort/keys", DType::U64, 16, |d, s| one::<u64>(d, s, |d, x, out| d.sort(x).write_to(out))),
        work("sort/pairs", DType::U32, 16, pairs),
        work("sort/by", DType::U32, 8, |d, s| one::<u32>(d, s, |d, x, out| d.sort(x).by(Expr::lt).write_to(out))),
        work("sort/by", DType::F32, 8, |d, s| one::<f32>(d, s, |d, x, out| d.sort(x).by(|a, b| a.abs().lt(b.abs())).write_to(out))),
        work("sort/by", DType::U64, 16, |d, s| one::<u64>(d, s, |d, x, out| d.sort(x).by(Expr::lt).write_to(out))),
        work("sort/pairs_by", DType::U32, 16, |d, s| {
            let keys = zeroed::<u32>(d, s.n)?;
            one::<u32>(d, s, move |d, x, out| d.sort(x).with_values(x).by(Expr::lt).write_to((&keys, out)))
        }),
        work("sort/argsort", DType::U32, 8, |d, s| one::<u32>(d, s, |d, x, out| d.argsort(x).write_to(out))),
        work("sort/top_k", DType::U32, 4, first_thousand::<u32>),
        work("sort/top_k", DType::F32, 4, first_thousand::<f32>),
    ]);
    all.extend([
        work("merge/keys", DType::U32, 8, |d, s| halves::<u32>(d, s, |d, a, b, out| d.merge(a, b).write_to(out))),
        work("merge/keys", DType::F32, 8, |d, s| halves::<f32>(d, s, |d, a, b, out| d.merge(a, b).write_to(out))),
        work("merge/pairs", DType::U32, 16, |d, s| {
            let keys = zeroed::<u32>(d, s.n)?;
            halves::<u32>(d, s, move |d, a, b, out| d.merge(a, b).with_values(a, b).write_to((&keys, out)))
        }),
        work("merge/lower_bound", DType::U32, 12, |d, s| {
            let array = rising::<u32>(d, s, 1, false)?;
            one::<u32>(d, s, move |d, x, out| d.lower_bound(&array, x).write_to(out))
        }),
        work("merge/union", DType::U32, 8, |d, s| {
            let (x, half) = (rising::<u32>(d, s, s.copies, true)?, s.n / 2);
            counted_of(d, s, x, move |d, x, out, count| d.union(&x.slice(..half)?, &x.slice(half..)?).write_to((out, count)))
        }),
    ]);
    all.extend(histograms::works());
    all.extend(inputs::works());
    all.extend(groups::works());
    all.extend(products::works());
    all.extend(convolutions::works());
    all.extend(solves::works());
    all.extend(simulations::works());
    all.extend(forms::works());
    all.extend(transforms::works());
    all.extend(crate::segments::works());
    all.extend(rungs::works());
    all.extend([
        work("move/transpose", DType::F32, 8, |d, s| {
            let side = s.n.isqrt();
            one::<f32>(d, s, move |d, x, out| d.transpose(&x.slice(..side * side)?, side, side).write_to(out))
        }),
        work("move/transpose_in_place", DType::F32, 8, |d, s| turned(d, s, |n| [n.isqrt(); 2])),
        // Three quarters of a square's rows, and columns that make up for it: of 2^28 elements 12288 x 21844, which no grid of tiles divides.
        work("move/transpose_rectangle", DType::F32, 8, |d, s| {
            turned(d, s, |n| {
                let rows = (n.isqrt() * 3 / 4).max(1);
                [rows, n / rows / 4 * 4]
            })
        }),
        work("move/gather", DType::F32, 12, |d, s| {
            let at = random_indices(d, s)?;
            one::<f32>(d, s, move |d, x, out| d.gather(x, &at).write_to(out))
        }),
        // Indices of 16 bits, into the first 2^16 elements.
        work("move/gather_u16", DType::F32, 10, |d, s| {
            let at = random::<u16>(d, s.n, !s.seed)?;
            one::<f32>(d, s, move |d, x, out| d.gather(x, &at).write_to(out))
        }),
        work("move/scatter_unique", DType::F32, 12, |d, s| {
            let at = random_indices(d, s)?;
            one::<f32>(d, s, move |d, x, out| d.scatter(x, &at).unique().write_to(out))
        }),
        work("filter/sobel", DType::U8, 2, |d, s| image::<u8>(d, s, FilterKind::Sobel)),
        work("filter/sobel", DType::F32, 8, |d, s| image::<f32>(d, s, FilterKind::Sobel)),
        work("filter/gaussian5", DType::F32, 8, |d, s| image::<f32>(d, s, FilterKind::gaussian5())),
        work("filter/gaussian3", DType::U8, 2, |d, s| image::<u8>(d, s, FilterKind::gaussian3())),
        work("filter/gaussian3", DType::F32, 8, |d, s| image::<f32>(d, s, FilterKind::gaussian3())),
        work("filter/median3", DType::U8, 2, |d, s| image::<u8>(d, s, FilterKind::Median3)),
        work("filter/median3", DType::F32, 8, |d, s| image::<f32>(d, s, FilterKind::Median3)),
    ]);
    all
}

pub(crate) fn work(name: &'static str, dtype: DType, bytes: u64, build: fn(&Device, &Shape) -> Result<Ready>) -> Work {
    Work { name, dtype, bytes, build }
}

/// Inputs that are used in turn, so that none is found in the L2 cache when its turn comes: four times the cache in sum.
#[must_use]
pub fn copies(device: &Device, n: u64, dtype: DType) -> u64 {
    let caps = device.caps();
    let cache = if caps.l2_bytes > 0 { caps.l2_bytes } else { 64 << 20 };
    let bytes = (n * dtype.size_bytes()).max(1);
    // A software adapter has neither such a cache nor much memory.
    let wanted = if caps.kind == isowarp::caps::DeviceKind::Cpu { 32 << 20 } else { 4 * cache };
    wanted.div_ceil(bytes).clamp(1, 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use isowarp_textbook::{HistogramVariant, MergeVariant, ProductVariant, ReduceVariant, ScanVariant};

    #[test]
    fn every_rung_is_measured_under_its_name() {
        let names: Vec<&str> = works().iter().map(|w| w.name).collect();
        let reductions = ReduceVariant::ALL.map(|v| format!("reduce_variants/{}", v.name()));
        let scans = ScanVariant::ALL.map(|v| format!("scan_variants/{}", v.name()));
        let sorts = SortVariant::ALL.map(|v| format!("sort_variants/{}", v.name()));
        let histograms = HistogramVariant::ALL.map(|v| format!("histogram_variants/{}", v.name()));
        let merges = MergeVariant::ALL.map(|v| format!("merge_variants/{}", v.name()));
        let products = ProductVariant::ALL.map(|v| format!("gemm_variants/{}", v.name()));
        for name in reductions.iter().chain(&scans).chain(&sorts).chain(&histograms).chain(&merges).chain(&products) {
            assert!(names.contains(&name.as_str()), "{name} is not measured");
        }
    }

    #[test]
    fn a_pattern_does_not_bring_its_rungs_along() {
        let meant = |name: &str| works().iter().filter(|w| w.is_meant_by(name)).count();
        assert_eq!(meant("reduce"), 7);
        assert_eq!(meant("reduce_variants"), ReduceVariant::ALL.len());
        assert_eq!(meant("scan_variants/brent"), 1);
        assert_eq!(meant("sort_variants"), SortVariant::ALL.len());
    }
}
