//! Monte Carlo.

use super::{Work, swept, work};
use isowarp::element::DType;

/// A site has a byte, so that bytes a nanosecond are spins a nanosecond.
pub(super) fn works() -> Vec<Work> {
    vec![
        work("ising/3d", DType::U32, 1, |d, s| swept(d, s, cube, 0.221_654_63)),
        work("ising/2d", DType::U32, 1, |d, s| swept(d, s, square, 0.440_686_79)),
    ]
}

/// Sides of so many sites, or fewer, of which the last is the longest.
fn cube(n: u64) -> Vec<u32> {
    let side = 1u32 << (n.max(8).ilog2() / 3);
    vec![side, side, rest(n, u64::from(side) * u64::from(side))]
}

fn square(n: u64) -> Vec<u32> {
    let side = 1u32 << (n.max(4).ilog2() / 2);
    vec![side, rest(n, side.into())]
}

fn rest(n: u64, of: u64) -> u32 {
    ((n / of / 2).max(1) * 2) as u32
}
