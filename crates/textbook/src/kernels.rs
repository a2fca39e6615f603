//! The kernels: their parameters, arrays, WGSL and PTX.

use isowarp_core::launch::params::Params;
use isowarp_core::launch::{Binding, Choice, CudaEntry, Def, Face, Image, Kernel, Reach, Shader, Template};

isowarp_core::kernel_params! {
    /// Parameters of the rungs of the reductions' ladder.
    ReduceVariantParams("reduce_variant") {
        /// 1: from partial results; 2: to some.
        flags: u32,
        /// Elements of the level.
        count: u64,
    }
    /// Parameters of the textbooks' scans.
    ScanVariantParams("scan_variant") {
        /// 1: from totals; 2: totals only; 4: with what comes before each tile; 8: exclusive.
        flags: u32,
        /// Elements of the level.
        count: u64,
    }
    /// Parameters of the textbooks' sorts.
    SortVariantParams("sort_variant") {
        /// Mask that negative keys are joined with, by exclusive or.
        negative: u64,
        /// Mask that all keys are joined with.
        flip: u64,
        /// The bits that are compared.
        mask: u64,
        /// Keys of a run that a network merges; of a tile.
        run: u32,
        /// Step from a place to the other of a pair.
        distance: u32,
        /// Steps of a window.
        steps: u32,
        /// Keys that a window reads on either side.
        halo: u32,
        /// Groups of threads of each bucket.
        each: u32,
        /// Entries of a table from one bucket to the next: tiles.
        stride: u32,
        /// Buckets.
        buckets: u32,
        /// The network, and whether the payload tells equal keys apart.
        flags: u32,
        /// Samples.
        samples: u32,
        /// The lowest bit of a digit.
        bit: u32,
        /// The sign of a key in its last word.
        sign_bit: u32,
        /// Keys of all tiles.
        keys: u32,
    }
    /// Parameters of the rungs of the histograms' ladder.
    HistogramVariantParams("histogram_variant") {
        /// All bins.
        bins: u32,
    }
    /// Parameters of the rungs of the products' ladder. Steps are in elements.
    ProductVariantParams("product_variant") {
        /// Rows of the product.
        rows: u32,
        /// Columns of the product.
        columns: u32,
        /// Terms of a sum.
        terms: u32,
        /// Terms of a block.
        block: u32,
        /// Vectors of four: 1 of A's columns, 2 of B's columns, 4 of the product's.
        form: u32,
        /// Step from a row of A to the next.
        a_row: u32,
        /// Step from a column of A to the next.
        a_column: u32,
        /// Step from a row of B to the next.
        b_row: u32,
        /// Step from a column of B to the next.
        b_column: u32,
        /// Step from a row of C to the next.
        c_row: u32,
        /// Step from a matrix A to the next.
        a_batch: u64,
        /// Step from a matrix B to the next.
        b_batch: u64,
        /// Step from a matrix C to the next.
        c_batch: u64,
    }
    /// Parameters of the rungs of the merges' ladder.
    MergeVariantParams("merge_variant") {
        /// Mask that negative keys are joined with, by exclusive or.
        negative: u64,
        /// Mask that all keys are joined with.
        flip: u64,
        /// Keys of the first array.
        a_len: u32,
        /// Keys of the second array.
        b_len: u32,
    }
}

/// Bindings of raw bits.
const WORDS: &str = "array<u32>";
/// Bindings of eight bytes.
const PAIRS: &str = "array<vec2<u32>>";

/// Reductions.
const REDUCE_VARIANTS: Template =
    Template { name: "reduce_variants.wgsl", text: include_str!("../wgsl/reduce_variants.wgsl"), args: &[], bindings: &[] };

/// Scans: a tile to a workgroup.
const SCAN_VARIANTS: Template = Template {
    name: "scan_variants.wgsl",
    text: include_str!("../wgsl/scan_variants.wgsl"),
    args: &[],
    bindings: &[Binding::new("folds", "read", "array<Acc>").when("folded")],
};

/// Histograms.
const HISTOGRAM_VARIANTS: Template = Template {
    name: "histogram_variants.wgsl",
    text: include_str!("../wgsl/histogram_variants.wgsl"),
    args: &[],
    bindings: &[
        Binding::new("out", "read_write", "array<atomic<u32>>"),
        Binding::new("cells", "read_write", "array<atomic<u32>>").when("rung == 1"),
    ],
};

/// Merges.
const MERGE_VARIANTS: Template = Template {
    name: "merge_variants.wgsl",
    text: include_str!("../wgsl/merge_variants.wgsl"),
    args: &[],
    bindings: &[
        Binding::new("a", "read", WORDS),
        Binding::new("b", "read", WORDS),
        Binding::new("v", "read", WORDS).when("pairs"),
        Binding::new("w", "read", WORDS).when("pairs"),
        Binding::new("keys_out", "read_write", WORDS),
        Binding::new("values_out", "read_write", WORDS).when("pairs"),
    ],
};

/// Products of matrices.
const PRODUCT_VARIANTS: Template =
    Template { name: "product_variants.wgsl", text: include_str!("../wgsl/product_variants.wgsl"), args: &[], bindings: &[] };

/// Sorts: a launch at a time.
const SORT_VARIANTS: Template = Template {
    name: "sort_variants.wgsl",
    text: include_str!("../wgsl/sort_variants.wgsl"),
    args: &[],
    bindings: &[
        Binding::new("a", "read", WORDS).when("step == 0 and not wide"),
        Binding::new("a", "read", PAIRS).when("step == 0 and wide"),
        Binding::new("keys_in", "read", WORDS).when("step not in [0, 3] and not wide"),
        Binding::new("keys_in", "read", PAIRS).when("step not in [0, 3] and wide"),
        Binding::new("payload_in", "read", WORDS).when("step not in [0, 3, 7] and pairs"),
        Binding::new("v", "read", WORDS).when("values and pairs and (step == 0 and not ranked or step == 1 and ranked)"),
        Binding::new("sample_keys", "read", WORDS).when("step == 5 and not wide"),
        Binding::new("sample_keys", "read", PAIRS).when("step == 5 and wide"),
        Binding::new("sample_places", "read", WORDS).when("step == 5"),
        Binding::new("starts", "read", WORDS).when("step in [6, 10] or buckets and step in [2, 3]"),
        Binding::new("offsets", "read", WORDS).when("step in [6, 10]"),
        Binding::new("ones", "read", WORDS).when("step == 8"),
        Binding::new("keys_out", "read_write", WORDS).when("step not in [5, 7] and not wide"),
        Binding::new("keys_out", "read_write", PAIRS).when("step not in [5, 7] and wide"),
        Binding::new("payload_out", "read_write", WORDS).when("step not in [5, 7] and pairs"),
        Binding::new("starts_out", "read_write", WORDS).when("step in [5, 9]"),
        Binding::new("counts_out", "read_write", WORDS).when("step in [5, 9]"),
        Binding::new("flags_out", "read_write", WORDS).when("step == 7"),
    ],
};

const REDUCE_PTX: Image = Image(include_str!("../ptx/reduce_variants.ptx"));
const SCAN_PTX: Image = Image(include_str!("../ptx/scan_variants.ptx"));
const HISTOGRAM_PTX: Image = Image(include_str!("../ptx/histogram_variants.ptx"));
const MERGE_PTX: Image = Image(include_str!("../ptx/merge_variants.ptx"));
const PRODUCT_PTX: Image = Image(include_str!("../ptx/product_variants.ptx"));
const SORT_PTX: Image = Image(include_str!("../ptx/sort_variants.ptx"));

const fn read(name: &'static str) -> Face {
    Face::read(name, Reach::Whole)
}

const fn write(name: &'static str) -> Face {
    Face::write(name, Reach::Whole)
}

const fn scratch(name: &'static str) -> Face {
    Face::scratch(name)
}

const fn kernel<P: Params>(
    (pattern, name): (&'static str, &'static str),
    (template, holes): (Template, &'static [Choice]),
    (image, entry): (Image, &'static str),
    arrays: &'static [Face],
) -> Kernel<P> {
    Kernel::new(name, arrays).of_pattern(pattern).wgsl(Shader { template, entry: name, holes }).cuda(CudaEntry::new(image, entry, 256, 1))
}

/// A step of the sorts' template.
macro_rules! sort_step {
    ($step:literal) => {
        (SORT_VARIANTS, &[("step", $step), ("threads", 256), ("tile", 1024), ("apart", 16)])
    };
}

macro_rules! kernels {
    ($($(#[$doc:meta])* $kernel:ident: $params:ty = $pattern:literal, $name:literal, $shader:expr, $image:expr, $entry:literal, [$($array:expr),*];)*) => {
        $($(#[$doc])* pub static $kernel: Kernel<$params> = kernel(($pattern, $name), $shader, ($image, $entry), &[$($array),*]);)*

        /// All kernels.
        #[must_use]
        pub fn all() -> Vec<&'static Def> {
            vec![$($kernel.def(),)*]
        }
    };
}

kernels! {
    /// Sorts: keys become words.
    SORT_LOAD: SortVariantParams = "sort", "sort_load", sort_step!(0), SORT_PTX, "sort_load_k{key_bytes}",
        [read("a"), read("v"), write("keys_out"), write("payload_out")];
    /// Sorts: words become keys.
    SORT_STORE: SortVariantParams = "sort", "sort_store", sort_step!(1), SORT_PTX, "sort_store_k{key_bytes}",
        [read("keys_in"), read("payload_in"), read("v"), write("keys_out"), write("payload_out")];
    /// Sorts: steps of a network in windows.
    SORT_WINDOWS: SortVariantParams = "sort", "sort_windows", sort_step!(2), SORT_PTX, "sort_windows_k{wide:4|8}",
        [read("keys_in"), read("payload_in"), write("keys_out"), write("payload_out"), scratch("starts")];
    /// Sorts: a step of a network in place.
    SORT_EVERYWHERE: SortVariantParams = "sort", "sort_everywhere", sort_step!(3), SORT_PTX, "sort_everywhere_k{wide:4|8}",
        [write("keys_out"), write("payload_out"), scratch("starts")];
    /// Sorts: samples of sorted tiles.
    SORT_SAMPLES: SortVariantParams = "sort", "sort_samples", sort_step!(4), SORT_PTX, "sort_samples_k{wide:4|8}",
        [read("keys_in"), read("payload_in"), write("keys_out"), write("payload_out")];
    /// Sorts: where buckets begin in sorted tiles.
    SORT_BOUNDS: SortVariantParams = "sort", "sort_bounds", sort_step!(5), SORT_PTX, "sort_bounds_k{wide:4|8}",
        [read("keys_in"), read("payload_in"), read("sample_keys"), read("sample_places"), write("starts_out"), write("counts_out")];
    /// Sorts: keys of sorted tiles go to their buckets.
    SORT_SCATTER: SortVariantParams = "sort", "sort_scatter", sort_step!(6), SORT_PTX, "sort_scatter_k{wide:4|8}",
        [read("keys_in"), read("payload_in"), write("keys_out"), write("payload_out"), scratch("starts"), scratch("offsets")];
    /// Sorts: a bit of every key.
    SORT_FLAGS: SortVariantParams = "sort", "sort_flags", sort_step!(7), SORT_PTX, "sort_flags_k{wide:4|8}",
        [read("keys_in"), read("payload_in"), write("flags_out")];
    /// Sorts: keys parted by a bit.
    SORT_SPLIT: SortVariantParams = "sort", "sort_split", sort_step!(8), SORT_PTX, "sort_split_k{wide:4|8}",
        [read("keys_in"), read("payload_in"), read("ones"), write("keys_out"), write("payload_out")];
    /// Sorts: tiles sorted by a digit.
    SORT_LOCAL: SortVariantParams = "sort", "sort_local", sort_step!(9), SORT_PTX, "sort_local{coarse:|_coarse}_k{wide:4|8}",
        [read("keys_in"), read("payload_in"), write("keys_out"), write("payload_out"), scratch("starts_out"), scratch("counts_out")];
    /// Sorts: keys of tiles sorted by a digit go to their buckets.
    SORT_RUNS: SortVariantParams = "sort", "sort_runs", sort_step!(10), SORT_PTX, "sort_runs_k{wide:4|8}",
        [read("keys_in"), read("payload_in"), write("keys_out"), write("payload_out"), scratch("starts"), scratch("offsets")];
    /// Reductions.
    REDUCE_VARIANT: ReduceVariantParams = "reduce", "reduce_variant", (REDUCE_VARIANTS, &[]), REDUCE_PTX,
        "reduce_{rung:fold|interleaved|convergent|sequential|first_combine|unrolled|coarsened|shuffle|vectorised}_w{words:|1|2|4|4}",
        [scratch("partials"), scratch("results")];
    /// Scans.
    SCAN_VARIANT: ScanVariantParams = "scan", "scan_variant", (SCAN_VARIANTS, &[]), SCAN_PTX,
        "scan_{rung:kogge_stone|brent_kung|coarsened}_w{words:|1|2|4|4}",
        [scratch("partials"), scratch("results"), scratch("folds")];
    /// Histograms.
    HISTOGRAM_VARIANT: HistogramVariantParams = "histogram", "histogram_variant", (HISTOGRAM_VARIANTS, &[]), HISTOGRAM_PTX,
        "histogram_{rung:atomic|private_memory|private_shared|coarsened_contiguous|coarsened_interleaved|aggregated}",
        [Face::write("out", Reach::Swept), scratch("cells")];
    /// Products of matrices.
    PRODUCT_VARIANT: ProductVariantParams = "gemm", "product_variant", (PRODUCT_VARIANTS, &[]), PRODUCT_PTX,
        "product_{rung:naive|coalesced|tiled|register_tiled|vectorised}", [];
    /// Merges.
    MERGE_VARIANT: MergeVariantParams = "merge", "merge_variant", (MERGE_VARIANTS, &[]), MERGE_PTX, "merge_{rung:basic|tiled|circular}",
        [read("a"), read("b"), read("v"), read("w"), write("keys_out"), write("values_out")];
}
