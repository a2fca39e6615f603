//! Sizes that decide speed, apart from the algorithms. None of them enters a result.

/// Sizes that the drivers choose from. Arrays are by words of the accumulator, 1 to 4.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    /// Resident blocks of `reduce_w*` on a multiprocessor.
    pub(super) reduce_blocks: [u32; 4],
    /// Tiles of a reduction above which a tile takes more passes.
    pub(super) reduce_tiles: u64,
    /// Elements of a column part of `reduce_cols_w*` that one thread should have at least.
    pub(super) column_part: u64,
    /// Resident blocks of `scan_w*` on a multiprocessor.
    pub(super) scan_blocks: [u32; 4],
    /// Resident blocks of `scan_parked_w1`.
    pub(super) parked_blocks: u32,
    /// Tiles to a multiprocessor above which `scan_parked_w1` is faster than `scan_w1`.
    pub(super) parked_from: u64,
    /// Resident blocks of `select*_w*`, by words of an element's values.
    pub(super) select_blocks: [u32; 4],
    /// Whether blocks sort two tiles of a merge sort at once where nothing travels, which saves a pass and has half as many of them resident.
    pub(super) merge_sort_in_twos: bool,
    /// Blocks of `top_k_filter_*` and what follows it to a multiprocessor.
    pub(super) top_k_blocks: u32,
    /// Least and most rows of a strip, which a warp of `filter.cu` slides down: even numbers.
    pub(super) strip_rows: [u32; 2],
    /// Rows that the start of a strip costs: those above and below it, and the time until the first has come.
    pub(super) strip_start: u32,
}

/// Measured on an H200 (compute capability 9.0), but for the merge sort's and the top-k's, which are counted.
pub(super) const TUNING: Tuning = Tuning {
    reduce_blocks: [4, 5, 4, 4],
    reduce_tiles: 8192,
    column_part: 64,
    scan_blocks: [2, 2, 1, 1],
    parked_blocks: 3,
    parked_from: 4,
    select_blocks: [3, 3, 2, 2],
    merge_sort_in_twos: true,
    top_k_blocks: 6,
    strip_rows: [8, 80],
    strip_start: 3,
};
