//! Planning that all GPU backends share: pure functions of sizes and limits.

/// Elements per tile of a scan: part of the scan's contract, since tiles are folded from left to right.
pub const SCAN_TILE: u64 = 8192;

/// Tiles of `tile` elements that cover `n`.
#[must_use]
pub const fn tiles(n: u64, tile: u64) -> u64 {
    n.div_ceil(tile)
}

/// A one-dimensional grid of `groups`, folded where a dimension is limited: `x * y * z >= groups` with as few idle groups as the
/// fold allows. A kernel numbers its group as `(z * gy + y) * gx + x` and does nothing from `groups` on. `None` where even three dimensions do not do.
#[must_use]
pub fn fold_grid(groups: u64, max_per_dim: u32) -> Option<[u32; 3]> {
    let max = u64::from(max_per_dim);
    if groups <= max {
        return Some([groups as u32, 1, 1]);
    }
    let y = groups.div_ceil(max);
    if y <= max {
        return Some([groups.div_ceil(y) as u32, y as u32, 1]);
    }
    let z = groups.div_ceil(max * max);
    if z > max {
        return None;
    }
    let y = groups.div_ceil(z).div_ceil(max);
    Some([groups.div_ceil(z * y) as u32, y as u32, z as u32])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folded_grid_covers_every_group_with_little_waste() {
        for groups in [0, 1, 65_535, 65_536, 65_535 * 2, 65_535 * 256 + 1, 65_535 * 65_535, 65_535 * 65_535 + 1, 1 << 40] {
            let [x, y, z] = fold_grid(groups, 65_535).expect("three dimensions hold 2^48 groups");
            assert!([x, y, z].iter().all(|&d| d <= 65_535));
            let total = u64::from(x) * u64::from(y) * u64::from(z);
            assert!(total >= groups && total <= groups + groups / 1000 + u64::from(y) * u64::from(z));
        }
        assert_eq!(fold_grid(u64::MAX, 65_535), None);
    }
}
