//! The kernels that all GPUs have: their names, their parameters, and how many elements a group of threads takes.

use super::arguments::ALL_PARAMS;
pub use super::arguments::*;
use super::params::{Member, Params, places};
use std::fmt::Write as _;
use std::marker::PhantomData;

/// An entry of the CUDA kernels, and its blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CudaEntry {
    /// Its name, with choices in braces: `{size}` is the number, `{index:u32|i32|u64}` the name that stands at its place.
    pub name: &'static str,
    /// Threads of a block.
    pub threads: u32,
    /// Elements of a thread.
    pub items: Items,
    /// Threads that share what goes together.
    pub unit: u32,
}

/// Elements of a thread, or of an invocation of a WGSL kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Items {
    /// So many.
    Each(u32),
    /// A word of narrow elements, else four.
    Word,
    /// A word of narrow elements, unless they take turns at words (the choice `atomic`); else one.
    Dense,
    /// As many as have so many bytes, 16 at most.
    Bytes(u32),
    /// Vectors of four, so many at most, fewer of operators that take long to compile: the hole `rows`.
    Rows(u32),
    /// As the device's table says for maps: the holes `groups` and `threads`.
    Map,
}

/// What a kernel does with an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Access {
    /// Reads it.
    Read,
    /// Writes it, and may read it.
    Write,
    /// Reads and writes memory of the plan's own, from its start on.
    Scratch,
}

/// Which elements of an array a launch over some elements of the work sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Reach {
    /// Those at the same indices, an element to so many of the work.
    Along(u64),
    /// All.
    Whole,
    /// All, where need be in several launches, each of which sees a window: the kernel's `first` and `len`.
    Swept,
}

/// An array that a kernel reaches itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Face {
    /// Its name in WGSL, where a kernel binds it if its template does; in CUDA it has its place among those with the same access.
    pub name: &'static str,
    /// What is done with it.
    pub access: Access,
    /// What a launch sees of it.
    pub reach: Reach,
}

const fn read(name: &'static str, reach: Reach) -> Face {
    Face { name, access: Access::Read, reach }
}

const fn write(name: &'static str, reach: Reach) -> Face {
    Face { name, access: Access::Write, reach }
}

const fn scratch(name: &'static str) -> Face {
    Face { name, access: Access::Scratch, reach: Reach::Whole }
}

/// A kernel, whatever its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Def {
    /// Which one.
    pub id: Id,
    /// The pattern, for errors.
    pub pattern: &'static str,
    /// The WGSL template's name.
    pub name: &'static str,
    /// Its parameters.
    pub members: &'static [Member],
    /// Its arrays.
    pub arrays: &'static [Face],
    /// The CUDA entry; `None` where the kernel before it does its work.
    pub cuda: Option<CudaEntry>,
    /// Elements of an invocation of 256 in WGSL.
    pub items: Items,
}

/// A kernel with these parameters.
#[derive(Debug)]
pub struct Kernel<P> {
    def: Def,
    params: PhantomData<fn(P)>,
}

impl<P: Params> Kernel<P> {
    const fn new(
        id: Id,
        (pattern, name): (&'static str, &'static str),
        cuda: Option<CudaEntry>,
        items: Items,
        arrays: &'static [Face],
    ) -> Self {
        Self { def: Def { id, pattern, name, members: P::MEMBERS, arrays, cuda, items }, params: PhantomData }
    }

    /// The kernel without the type of its parameters.
    pub const fn def(&self) -> &Def {
        &self.def
    }
}

const fn entry(name: &'static str, threads: u32, items: u32) -> Option<CudaEntry> {
    Some(CudaEntry { name, threads, items: Items::Each(items), unit: threads })
}

/// An entry whose threads take as many keys at once as have 32 bytes.
const fn several(name: &'static str) -> Option<CudaEntry> {
    Some(CudaEntry { name, threads: 256, items: Items::Bytes(32), unit: 256 })
}

macro_rules! kernels {
    ($($(#[$doc:meta])* $id:ident $kernel:ident: $params:ty = $pattern:literal, $name:literal, $cuda:expr, $items:expr, [$($array:expr),*];)*) => {
        /// Names of kernels.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Id {
            $($(#[$doc])* $id,)*
        }

        $($(#[$doc])* pub static $kernel: Kernel<$params> = Kernel::new(Id::$id, ($pattern, $name), $cuda, $items, &[$($array),*]);)*

        /// All kernels.
        #[must_use]
        pub fn all() -> Vec<&'static Def> {
            vec![$($kernel.def(),)*]
        }
    };
}

kernels! {
    /// P01.
    Map MAP: Nothing = "map", "map", entry("map_{aligned:one|vec}", 128, 4), Items::Map, [];
    /// P25, conditions as bits.
    Ballot BALLOT: Nothing = "group_ballot", "ballot", entry("groups_ballot", 256, 32), Items::Rows(8),
        [write("out", Reach::Along(32))];
    /// P25, elements of a group with equal keys.
    Peers PEERS: PeersParams = "group_match", "peers",
        Some(CudaEntry { name: "groups_peers_w{words}", threads: 256, items: Items::Each(4), unit: 32 }), Items::Each(1),
        [write("out", Reach::Along(1)), write("counts", Reach::Along(1))];
    /// P09, by index.
    Gather GATHER: GatherParams = "gather", "gather", entry("gather_b{size}_{index:u32|i32|u64}", 256, 4), Items::Word,
        [read("values", Reach::Swept), read("indices", Reach::Along(1)), write("out", Reach::Along(1))];
    /// P09, to indices.
    Scatter SCATTER: ScatterParams = "scatter", "scatter", entry("scatter_b{size}_{index:u32|i32|u64}", 256, 1), Items::Each(1),
        [read("values", Reach::Along(1)), read("indices", Reach::Along(1)), write("out", Reach::Swept)];
    /// P09, to indices, where values are combined.
    ScatterReduce SCATTER_REDUCE: ScatterParams = "scatter", "scatter",
        entry("scatter_reduce_b{size}_{index:u32|i32|u64}", 256, 4), Items::Each(1),
        [read("values", Reach::Along(1)), read("indices", Reach::Along(1)), write("out", Reach::Swept)];
    /// P09, to indices that an operator gives with the values.
    ScatterFrom SCATTER_FROM: ScatterParams = "scatter", "scatter_from", entry("scatter_b{size}", 256, 4), Items::Each(1), [write("out", Reach::Swept)];
    /// P09, by shape: any axes.
    Layout LAYOUT: LayoutParams = "layout", "layout", entry("layout_b{size}", 256, 4), Items::Dense,
        [read("from_", Reach::Whole), write("to", Reach::Whole)];
    /// P09, by shape: planes in tiles, and up to four axes of a batch.
    Transpose TRANSPOSE: TransposeParams = "layout", "transpose", entry("transpose_b{size}{vector:_any|}", 256, 1), Items::Each(1),
        [read("from_", Reach::Whole), write("to", Reach::Whole)];
    /// P09, by shape: squares where they lie, in tiles.
    TransposeSquare TRANSPOSE_SQUARE: SquareParams = "transpose_in_place", "transpose_square",
        entry("transpose_square_b{size}{vector:_any|}", 256, 1), Items::Each(1), [write("x", Reach::Whole)];
    /// P09, by shape: squares where they lie, element by element.
    SwapSquare SWAP_SQUARE: SquareParams = "transpose_in_place", "swap_square", entry("swap_square_b{size}", 256, 1), Items::Each(1),
        [write("x", Reach::Whole)];
    /// P09, by shape: tiles of square grids that change places.
    TransposeTiles TRANSPOSE_TILES: TileParams = "transpose_in_place", "transpose_tiles", entry("transpose_tiles_b{unit}", 256, 4),
        Items::Each(1), [write("x", Reach::Whole)];
    /// P07 top-k: keys from all over the array.
    TopKSample TOP_K_SAMPLE: TopKParams = "top_k", "top_k_sample", None, Items::Each(16), [
            read("keys", Reach::Along(1)), write("found", Reach::Whole), scratch("state"), scratch("list_values"), scratch("list_places")
        ];
    /// P07 top-k: the sample up to which keys are listed.
    TopKStart TOP_K_START: TopKParams = "top_k", "top_k_start", entry("top_k_start_k{size}", 1024, 16), Items::Each(16), [
            read("keys", Reach::Along(1)), write("found", Reach::Whole), scratch("state"), scratch("list_values"), scratch("list_places")
        ];
    /// P07 top-k: the list.
    TopKFilter TOP_K_FILTER: TopKParams = "top_k", "top_k_filter", several("top_k_filter_k{size}"), Items::Each(16), [
            read("keys", Reach::Along(1)), write("found", Reach::Whole), scratch("state"), scratch("list_values"), scratch("list_places")
        ];
    /// P07 top-k: whether the list is read.
    TopKDecide TOP_K_DECIDE: TopKParams = "top_k", "top_k_decide", None, Items::Each(16), [
            read("keys", Reach::Along(1)), write("found", Reach::Whole), scratch("state"), scratch("list_values"), scratch("list_places")
        ];
    /// P07 top-k: a digit of what is left.
    TopKCount TOP_K_COUNT: TopKParams = "top_k", "top_k_count", several("top_k_count_k{size}"), Items::Each(16), [
            read("keys", Reach::Along(1)), write("found", Reach::Whole), scratch("state"), scratch("list_values"), scratch("list_places")
        ];
    /// P07 top-k: the digit of the last key.
    TopKPick TOP_K_PICK: TopKParams = "top_k", "top_k_pick", None, Items::Each(16), [
            read("keys", Reach::Along(1)), write("found", Reach::Whole), scratch("state"), scratch("list_values"), scratch("list_places")
        ];
    /// P07 top-k: the keys up to the last.
    TopKCollect TOP_K_COLLECT: TopKParams = "top_k", "top_k_collect", several("top_k_collect_k{size}"), Items::Each(16), [
            read("keys", Reach::Along(1)), write("found", Reach::Whole), scratch("state"), scratch("list_values"), scratch("list_places")
        ];
    /// P07, the textbooks' sorts: keys become words.
    SortLoad SORT_LOAD: SortVariantParams = "sort", "sort_load", entry("sort_load_k{key_bytes}", 256, 1), Items::Each(1), [
        read("a", Reach::Whole), read("v", Reach::Whole), write("keys_out", Reach::Whole), write("payload_out", Reach::Whole)
    ];
    /// P07, the textbooks' sorts: words become keys.
    SortStore SORT_STORE: SortVariantParams = "sort", "sort_store", entry("sort_store_k{key_bytes}", 256, 1), Items::Each(1), [
        read("keys_in", Reach::Whole), read("payload_in", Reach::Whole), read("v", Reach::Whole), write("keys_out", Reach::Whole), write("payload_out", Reach::Whole)
    ];
    /// P07, the textbooks' sorts: steps of a network in windows.
    SortWindows SORT_WINDOWS: SortVariantParams = "sort", "sort_windows", entry("sort_windows_k{wide:4|8}", 256, 1), Items::Each(1), [
        read("keys_in", Reach::Whole), read("payload_in", Reach::Whole), write("keys_out", Reach::Whole), write("payload_out", Reach::Whole), scratch("starts")
    ];
    /// P07, the textbooks' sorts: a step of a network in place.
    SortEverywhere SORT_EVERYWHERE: SortVariantParams = "sort", "sort_everywhere", entry("sort_everywhere_k{wide:4|8}", 256, 1), Items::Each(1), [
        write("keys_out", Reach::Whole), write("payload_out", Reach::Whole), scratch("starts")
    ];
    /// P07, the textbooks' sorts: samples of sorted tiles.
    SortSamples SORT_SAMPLES: SortVariantParams = "sort", "sort_samples", entry("sort_samples_k{wide:4|8}", 256, 1), Items::Each(1), [
        read("keys_in", Reach::Whole), read("payload_in", Reach::Whole), write("keys_out", Reach::Whole), write("payload_out", Reach::Whole)
    ];
    /// P07, the textbooks' sorts: where buckets begin in sorted tiles.
    SortBounds SORT_BOUNDS: SortVariantParams = "sort", "sort_bounds", entry("sort_bounds_k{wide:4|8}", 256, 1), Items::Each(1), [
        read("keys_in", Reach::Whole), read("payload_in", Reach::Whole), read("sample_keys", Reach::Whole), read("sample_places", Reach::Whole), write("starts_out", Reach::Whole), write("counts_out", Reach::Whole)
    ];
    /// P07, the textbooks' sorts: keys of sorted tiles go to their buckets.
    SortScatter SORT_SCATTER: SortVariantParams = "sort", "sort_scatter", entry("sort_scatter_k{wide:4|8}", 256, 1), Items::Each(1), [
        read("keys_in", Reach::Whole), read("payload_in", Reach::Whole), write("keys_out", Reach::Whole), write("payload_out", Reach::Whole), scratch("starts"), scratch("offsets")
    ];
    /// P07, the textbooks' sorts: a bit of every key.
    SortFlags SORT_FLAGS: SortVariantParams = "sort", "sort_flags", entry("sort_flags_k{wide:4|8}", 256, 1), Items::Each(1), [
        read("keys_in", Reach::Whole), read("payload_in", Reach::Whole), write("flags_out", Reach::Whole)
    ];
    /// P07, the textbooks' sorts: keys parted by a bit.
    SortSplit SORT_SPLIT: SortVariantParams = "sort", "sort_split", entry("sort_split_k{wide:4|8}", 256, 1), Items::Each(1), [
        read("keys_in", Reach::Whole), read("payload_in", Reach::Whole), read("ones", Reach::Whole), write("keys_out", Reach::Whole), write("payload_out", Reach::Whole)
    ];
    /// P07, the textbooks' sorts: tiles sorted by a digit.
    SortLocal SORT_LOCAL: SortVariantParams = "sort", "sort_local", entry("sort_local{coarse:|_coarse}_k{wide:4|8}", 256, 1), Items::Each(1), [
        read("keys_in", Reach::Whole), read("payload_in", Reach::Whole), write("keys_out", Reach::Whole), write("payload_out", Reach::Whole), scratch("starts_out"), scratch("counts_out")
    ];
    /// P07, the textbooks' sorts: keys of tiles sorted by a digit go to their buckets.
    SortRuns SORT_RUNS: SortVariantParams = "sort", "sort_runs", entry("sort_runs_k{wide:4|8}", 256, 1), Items::Each(1), [
        read("keys_in", Reach::Whole), read("payload_in", Reach::Whole), write("keys_out", Reach::Whole), write("payload_out", Reach::Whole), scratch("starts"), scratch("offsets")
    ];
    /// P02, the rungs of the ladder.
    ReduceVariant REDUCE_VARIANT: ReduceVariantParams = "reduce", "reduce_variant", entry(
        "reduce_{rung:fold|interleaved|convergent|sequential|first_combine|unrolled|coarsened|shuffle|vectorised}_w{words:|1|2|4|4}", 256, 1,
    ), Items::Each(1), [scratch("partials"), scratch("results")];
    /// P03, the textbooks' algorithms.
    ScanVariant SCAN_VARIANT: ScanVariantParams = "scan", "scan_variant",
        entry("scan_{rung:kogge_stone|brent_kung|coarsened}_w{words:|1|2|4|4}", 256, 1), Items::Each(1),
        [scratch("partials"), scratch("results"), scratch("folds")];
    /// P06, the rungs of the ladder.
    HistogramVariant HISTOGRAM_VARIANT: HistogramVariantParams = "histogram", "histogram_variant", entry(
        "histogram_{rung:atomic|private_memory|private_shared|coarsened_contiguous|coarsened_interleaved|aggregated}", 256, 1,
    ), Items::Each(1), [write("out", Reach::Swept), scratch("cells")];
    /// P08, the rungs of the ladder.
    MergeVariant MERGE_VARIANT: MergeVariantParams = "merge", "merge_variant", entry("merge_{rung:basic|tiled|circular}", 256, 1),
        Items::Each(1), [
            read("a", Reach::Whole), read("b", Reach::Whole), read("v", Reach::Whole), read("w", Reach::Whole),
            write("keys_out", Reach::Whole), write("values_out", Reach::Whole)
        ];
}

/// The header that names the words of every kernel's parameters in CUDA C++, and threads and elements of its blocks.
#[must_use]
pub fn params_header() -> String {
    let mut text = String::from(
        "// Generated from the kernels that all GPUs have, `isowarp_core::launch::kernels`; do not edit.\n#pragma once\n\n\
         // The first word of each parameter in `Args::u`, of two words the low one, and of what follows them.\nnamespace params {\n",
    );
    for (name, members) in ALL_PARAMS.iter().filter(|(_, members)| !members.is_empty()) {
        let mut end = 0;
        let mut list = Vec::new();
        places(members, |member, at| {
            list.push(format!("{} = {at}", member.name.to_uppercase()));
            end = at + member.words;
        });
        let _ = writeln!(text, "namespace {name} {{\nconstexpr int {}, WORDS = {end};\n}}", list.join(", "));
    }
    text.push_str("}  // namespace params\n\n// Threads of a block, and elements of a thread.\nnamespace kernels {\n");
    for (def, entry) in all().into_iter().filter_map(|def| def.cuda.map(|entry| (def, entry))) {
        let items = if let Items::Each(items) = entry.items { format!(", ITEMS = {items}") } else { String::new() };
        let _ = writeln!(text, "namespace {:?} {{\nconstexpr int THREADS = {}{items};\n}}", def.id, entry.threads);
    }
    text.push_str("}  // namespace kernels\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_names_the_first_word_of_each_parameter() {
        let text = params_header();
        assert!(text.contains("namespace scatter {\nconstexpr int TARGETS = 0, OP = 2, POSITIONS = 3, WORDS = 4;\n}"), "{text}");
        assert!(text.contains("namespace Gather {\nconstexpr int THREADS = 256, ITEMS = 4;\n}"), "{text}");
    }
}
