//! Planning that all GPU backends share: pure functions of sizes and limits.

/// Elements per tile of a scan: part of the scan's contract, since tiles are folded from left to right.
pub const SCAN_TILE: u64 = 8192;

/// Tiles of `tile` elements that cover `n`.
#[must_use]
pub const fn tiles(n: u64, tile: u64) -> u64 {
    n.div_ceil(tile)
}
