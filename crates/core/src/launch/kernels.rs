//! The kernels of the library: their names, their parameters, and how many elements a group of threads takes.

pub use super::arguments::*;
use super::params::{CUDA_WORDS, places};
pub use super::row::{Access, CudaCode, CudaEntry, Def, Face, Items, Kernel, Reach};
use std::fmt::Write as _;

const fn read(name: &'static str, reach: Reach) -> Face {
    Face::read(name, reach)
}

const fn write(name: &'static str, reach: Reach) -> Face {
    Face::write(name, reach)
}

const fn scratch(name: &'static str) -> Face {
    Face::scratch(name)
}

const fn entry(name: &'static str, threads: u32, items: u32) -> CudaCode {
    CudaCode::Entry(CudaEntry { name, threads, items: Items::Each(items), unit: threads, image: None })
}

/// An entry whose threads take as many keys at once as have 32 bytes.
const fn several(name: &'static str) -> CudaCode {
    CudaCode::Entry(CudaEntry { name, threads: 256, items: Items::Bytes(32), unit: 256, image: None })
}

macro_rules! kernels {
    ($($(#[$doc:meta])* $kernel:ident: $params:ty = $pattern:literal, $name:literal, $cuda:expr, $items:expr, [$($array:expr),*];)*) => {
        $($(#[$doc])* pub static $kernel: Kernel<$params> = Kernel::library(($pattern, $name), $cuda, $items, &[$($array),*]);)*

        /// All kernels.
        #[must_use]
        pub fn all() -> Vec<&'static Def> {
            vec![$($kernel.def(),)*]
        }
    };
}

kernels! {
    /// P01.
    MAP: Nothing = "map", "map", entry("map_{aligned:one|vec}", 128, 4), Items::Map, [];
    /// P25, conditions as bits.
    BALLOT: Nothing = "group_ballot", "ballot", entry("groups_ballot", 256, 32), Items::Rows(8),
        [write("out", Reach::Along(32))];
    /// P25, elements of a group with equal keys.
    PEERS: PeersParams = "group_match", "peers",
        CudaCode::Entry(CudaEntry { name: "groups_peers_w{words}", threads: 256, items: Items::Each(4), unit: 32, image: None }), Items::Each(1),
        [write("out", Reach::Along(1)), write("counts", Reach::Along(1))];
    /// P24, exact sums of rows of `f32`.
    EXACT_SUM: ExactParams = "exact sum", "exact_sum", entry("exact_sum", 128, 16), Items::Each(16), [write("words", Reach::Whole)];
    /// P24, exact sums of rows of `f64`.
    EXACT_SUM_WIDE: ExactParams = "exact sum", "exact_sum_wide", entry("exact_sum_wide", 32, 8), Items::Each(8), [write("words", Reach::Whole)];
    /// P10, products of matrices.
    CONTRACT: ContractParams = "gemm", "contract", entry("contract_{type:f32|f64|i32}", 256, 64), Items::Contract, [scratch("partials")];
    /// P10, products of small matrices, and of few tiles.
    CONTRACT_SMALL: ContractParams = "gemm", "contract_small", entry("contract_small_{type:f32|f64|i32}", 64, 16), Items::Contract,
        [scratch("partials")];
    /// P10, products of few columns, or of few rows by their transposes: their blocks go to memory.
    CONTRACT_THIN: ContractParams = "gemm", "contract_thin", entry("contract_thin_{reads:apart|along|computed}_{type:f32|f64|i32}", 256, 1), Items::Contract,
        [scratch("partials")];
    /// P10, blocks of products that are in memory.
    CONTRACT_FOLD: ContractParams = "gemm", "contract_fold", entry("contract_fold_{type:f32|f64|i32}", 256, 1), Items::Contract,
        [scratch("partials")];
    /// P10, greatest magnitudes of parts of an operand's rows, for fixed-point products.
    CONTRACT_GREATEST: PackParams = "gemm", "contract_greatest", entry("contract_greatest", 256, 1), Items::Contract,
        [scratch("packed"), scratch("greatest"), scratch("exponents")];
    /// P10, an operand in words of ascending k.
    CONTRACT_PACK: PackParams = "gemm", "contract_pack", entry("contract_pack_{kind:words|digits|wide}", 256, 1), Items::Contract,
        [scratch("packed"), scratch("greatest"), scratch("exponents")];
    /// P10, products of packed operands by matrix instructions.
    CONTRACT_PACKED: PackedParams = "gemm", "contract_packed", entry("contract_packed", 128, 1), Items::Contract,
        [scratch("packed_a"), scratch("packed_b")];
    /// P10, products of packed operands by matrix instructions of warpgroups.
    CONTRACT_WARPGROUP: PackedParams = "gemm", "contract_warpgroup", entry("contract_warpgroup", 288, 1), Items::Contract,
        [scratch("packed_a"), scratch("packed_b")];
    /// P10, products of `f32` operands that lie in tiles.
    CONTRACT_TILES: PackedParams = "gemm", "contract_tiles", entry("contract_tiles", 256, 1), Items::Contract,
        [scratch("packed_a"), scratch("packed_b")];
    /// P10, products of `f64` operands that lie in tiles.
    CONTRACT_TILES_WIDE: PackedParams = "gemm", "contract_tiles_wide", entry("contract_tiles_wide", 256, 1), Items::Contract,
        [scratch("packed_a"), scratch("packed_b")];
    /// P10, fixed-point products.
    CONTRACT_FIXED: PackedParams = "gemm", "contract_fixed", entry("contract_fixed", 128, 1), Items::Contract,
        [scratch("packed_a"), scratch("packed_b"), scratch("exponents"), scratch("totals")];
    /// P10, products of packed operands by matrix instructions of subgroups.
    CONTRACT_COOPERATIVE: PackedParams = "gemm", "contract_cooperative", CudaCode::Missing, Items::Each(1),
        [scratch("packed_a"), scratch("packed_b"), scratch("exponents"), scratch("totals")];
    /// P12, convolutions of planes by filters that a tile has room for.
    CONVOLVE: ConvolveParams = "convolve", "convolve", entry(
        "convolve_{kind:f32|f64|i32|line_f32|line_f64|line_i32|sliced_f32|sliced_f64|sliced_i32|sliced_f32_3|f32_3|f32_5|f32_7|f32_9}", 128, 16),
        Items::Contract, [];
    /// P12, convolutions of several channels of `f32`.
    CONVOLVE_LAYER: LayerParams = "convolve", "convolve_layer", entry("convolve_layer", 256, 64), Items::Contract, [];
    /// P27, levels of transforms.
    FFT: FftParams = "fft", "fft", entry("fft_{two:any|two}_{wide:f32|f64}", 256, 1), Items::Each(1),
        [read("from_", Reach::Whole), read("table", Reach::Whole), write("to", Reach::Whole)];
    /// P10, batches of systems in shared memory, or a system of each in memory.
    ELIMINATE: EliminateParams = "solve", "eliminate", entry("eliminate_{memory:shared|memory}_{wide:f32|f64}", 256, 1), Items::Guarded, [
            read("a", Reach::Whole), read("b", Reach::Whole), write("x", Reach::Whole), write("y", Reach::Whole), write("perm", Reach::Whole),
            write("states", Reach::Whole)
        ];
    /// P10, columns of matrices where they lie, one by one from memory, or as many at once as registers have room for.
    PANEL: PanelParams = "lu", "panel", entry("panel_{across}_{wide:f32|f64}", 1024, 1), Items::Each(1), [
            write("x", Reach::Whole), write("det", Reach::Whole), write("perm", Reach::Whole), write("states", Reach::Whole), scratch("swaps")
        ];
    /// P10, Cholesky's factors in shared memory, of batches, and of blocks of the diagonal.
    CHOLESKY: CholeskyParams = "cholesky", "cholesky", entry("cholesky_{wide:f32|f64}", 256, 1), Items::Each(1),
        [read("a", Reach::Whole), write("x", Reach::Whole), write("states", Reach::Whole)];
    /// P10, right-hand sides by a block of a triangle.
    SUBSTITUTE: SubstituteParams = "solve", "substitute", entry("substitute_{wide:f32|f64}", 256, 1), Items::Each(1),
        [read("a", Reach::Whole), read("states", Reach::Whole), write("x", Reach::Whole)];
    /// P10, elements after a block.
    TRAIL: TrailParams = "solve", "trail", entry("trail_{wide:f32|f64}", 256, 16), Items::Guarded,
        [read("a", Reach::Whole), write("x", Reach::Whole)];
    /// P10, matrices in their places.
    ARRANGE: ArrangeParams = "solve", "arrange", entry("arrange_{wide:f32|f64}", 256, 1), Items::Each(1),
        [read("a", Reach::Whole), read("perm", Reach::Whole), write("x", Reach::Whole)];
    /// P10, rows beside a panel.
    SWAP_ROWS: SwapRowsParams = "lu", "swap_rows", entry("swap_rows_{wide:f32|f64}", 256, 1), Items::Each(1),
        [write("x", Reach::Whole), scratch("swaps")];
    /// P10, diagonals of triangles.
    CHECK_DIAGONAL: DiagonalParams = "triangular_solve", "check_diagonal", entry("check_diagonal_{wide:f32|f64}", 256, 1), Items::Each(1),
        [read("a", Reach::Whole), write("states", Reach::Whole)];
    /// P09, by index.
    GATHER: GatherParams = "gather", "gather", entry("gather_b{size}_{index:u32|i32|u64}", 256, 4), Items::Word,
        [read("values", Reach::Swept), read("indices", Reach::Along(1)), write("out", Reach::Along(1))];
    /// P09, to indices.
    SCATTER: ScatterParams = "scatter", "scatter", entry("scatter_b{size}_{index:u32|i32|u64}", 256, 1), Items::Each(1),
        [read("values", Reach::Along(1)), read("indices", Reach::Along(1)), write("out", Reach::Swept)];
    /// P09, to indices, where values are combined.
    SCATTER_REDUCE: ScatterParams = "scatter", "scatter_reduce",
        entry("scatter_reduce_b{size}_{index:u32|i32|u64}", 256, 4), Items::Each(1),
        [read("values", Reach::Along(1)), read("indices", Reach::Along(1)), write("out", Reach::Swept)];
    /// P09, to indices that an operator gives with the values.
    SCATTER_FROM: ScatterParams = "scatter", "scatter_from", entry("scatter_b{size}", 256, 4), Items::Each(1), [write("out", Reach::Swept)];
    /// P09, by shape: any axes.
    LAYOUT: LayoutParams = "layout", "layout", entry("layout_b{size}", 256, 4), Items::Dense,
        [read("from_", Reach::Whole), write("to", Reach::Whole)];
    /// P09, by shape: planes in tiles, and up to four axes of a batch.
    TRANSPOSE: TransposeParams = "layout", "transpose", entry("transpose_b{size}{vector:_any|}", 256, 1), Items::Each(1),
        [read("from_", Reach::Whole), write("to", Reach::Whole)];
    /// P09, by shape: squares where they lie, in tiles.
    TRANSPOSE_SQUARE: SquareParams = "transpose_in_place", "transpose_square",
        entry("transpose_square_b{size}{vector:_any|}", 256, 1), Items::Each(1), [write("x", Reach::Whole)];
    /// P09, by shape: squares where they lie, element by element.
    SWAP_SQUARE: SquareParams = "transpose_in_place", "swap_square", entry("swap_square_b{size}", 256, 1), Items::Each(1),
        [write("x", Reach::Whole)];
    /// P09, by shape: tiles of square grids that change places.
    TRANSPOSE_TILES: TileParams = "transpose_in_place", "transpose_tiles", entry("transpose_tiles_b{unit}", 256, 4),
        Items::Each(1), [write("x", Reach::Whole)];
    /// P07 top-k: keys from all over the array.
    TOP_K_SAMPLE: TopKParams = "top_k", "top_k_sample", CudaCode::Before, Items::Each(16), [
            read("keys", Reach::Along(1)), write("found", Reach::Whole), scratch("state"), scratch("list_values"), scratch("list_places")
        ];
    /// P07 top-k: the sample up to which keys are listed.
    TOP_K_START: TopKParams = "top_k", "top_k_start", entry("top_k_start_k{size}", 1024, 16), Items::Each(16), [
            read("keys", Reach::Along(1)), write("found", Reach::Whole), scratch("state"), scratch("list_values"), scratch("list_places")
        ];
    /// P07 top-k: the list.
    TOP_K_FILTER: TopKParams = "top_k", "top_k_filter", several("top_k_filter_k{size}"), Items::Each(16), [
            read("keys", Reach::Along(1)), write("found", Reach::Whole), scratch("state"), scratch("list_values"), scratch("list_places")
        ];
    /// P07 top-k: whether the list is read.
    TOP_K_DECIDE: TopKParams = "top_k", "top_k_decide", CudaCode::Before, Items::Each(16), [
            read("keys", Reach::Along(1)), write("found", Reach::Whole), scratch("state"), scratch("list_values"), scratch("list_places")
        ];
    /// P07 top-k: a digit of what is left.
    TOP_K_COUNT: TopKParams = "top_k", "top_k_count", several("top_k_count_k{size}"), Items::Each(16), [
            read("keys", Reach::Along(1)), write("found", Reach::Whole), scratch("state"), scratch("list_values"), scratch("list_places")
        ];
    /// P07 top-k: the digit of the last key.
    TOP_K_PICK: TopKParams = "top_k", "top_k_pick", CudaCode::Before, Items::Each(16), [
            read("keys", Reach::Along(1)), write("found", Reach::Whole), scratch("state"), scratch("list_values"), scratch("list_places")
        ];
    /// P07 top-k: the keys up to the last.
    TOP_K_COLLECT: TopKParams = "top_k", "top_k_collect", several("top_k_collect_k{size}"), Items::Each(16), [
            read("keys", Reach::Along(1)), write("found", Reach::Whole), scratch("state"), scratch("list_values"), scratch("list_places")
        ];
}

/// The header that names the words of every kernel's parameters in CUDA C++, and threads and elements of its blocks.
#[must_use]
pub fn params_header() -> String {
    header_of("the kernels of the library, `isowarp_core::launch::kernels`", &all())
}

/// The same of other kernels, which are said to be `origin`.
#[must_use]
pub fn header_of(origin: &str, kernels: &[&Def]) -> String {
    let mut text = format!(
        "// Generated from {origin}; do not edit.\n#pragma once\n\n\
         // The first word of each parameter in `Args::u`, of two words the low one, and of what follows them.\nnamespace params {{\n",
    );
    let mut known = vec![""];
    for def in kernels.iter().filter(|def| !def.members.is_empty()) {
        if known.contains(&def.params) {
            continue;
        }
        known.push(def.params);
        let mut end = 0;
        let mut list = Vec::new();
        places(def.members, |member, at| {
            if at + member.words <= CUDA_WORDS {
                list.push(format!("{} = {at}", member.name.to_uppercase()));
                end = at + member.words;
            }
        });
        let _ = writeln!(text, "namespace {} {{\nconstexpr int {}, WORDS = {end};\n}}", def.params, list.join(", "));
    }
    text.push_str("}  // namespace params\n\n// Threads of a block, and elements of a thread.\nnamespace kernels {\n");
    for (def, entry) in kernels.iter().filter_map(|def| def.entry().map(|entry| (def, entry))) {
        let items = if let Items::Each(items) = entry.items { format!(", ITEMS = {items}") } else { String::new() };
        let _ = writeln!(text, "namespace {} {{\nconstexpr int THREADS = {}{items};\n}}", camel(def.name), entry.threads);
    }
    text.push_str("}  // namespace kernels\n");
    text
}

/// `top_k_start` as `TopKStart`.
fn camel(name: &str) -> String {
    let word = |word: &str| word[..1.min(word.len())].to_uppercase() + word.get(1..).unwrap_or_default();
    name.split('_').map(word).collect()
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
