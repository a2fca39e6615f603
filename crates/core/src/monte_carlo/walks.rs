//! Random walks: where walkers are after their steps, as inputs.
//!
//! ```
//! # use isowarp::prelude::*;
//! use isowarp::monte_carlo::{MonteCarlo, gaussian_walk, lattice_walk};
//! # let dev = isowarp::Cpu::new();
//! // The mean square of the distance is the number of steps.
//! let squares = lattice_walk(Random::new(1), 100_000, 50, 2).map(|(x, y, z)| (x * x + y * y + z * z).cast::<f32>());
//! let found = dev.estimate(squares)?;
//! assert!((found.mean - 50.0).abs() < 3.0 * found.standard_error && found.standard_error < 0.2);
//! let squares = gaussian_walk(Random::new(2), 100_000, 50, 3).map(|(x, y, z)| x * x + y * y + z * z);
//! let found = dev.estimate(squares)?;
//! assert!((found.mean - 150.0).abs() < 3.0 * found.standard_error && found.standard_error < 0.5);
//! # Ok::<(), isowarp::Error>(())
//! ```

use crate::input::{Mapped, Source as _};
use crate::ir::{Expr, lit, repeat, select, select_each};
use crate::random::{Attempts, Blocks, Random, normals};

/// Coordinates of a walker.
type Place<T> = (Expr<T>, Expr<T>, Expr<T>);

/// Places of `n` walkers on a lattice of one to three dimensions, after `steps` steps to one of the neighbours, each as likely as the others. Walker `i` takes
/// the `i`-th of `n` elements of `4 2^k` words, where that is the number of steps or more: step `j` goes along axis `d / 2` where `d` is the integer part of word
/// `j` times `2 dimensions / 2^32`, up where `d` is odd, else down. Other coordinates stay 0.
///
/// Where it is read it is [`InvalidArgument`](crate::Error::InvalidArgument) for another number of dimensions, more than 2^28 steps, and a stream that ends.
#[must_use]
pub fn lattice_walk(random: Random, n: u64, steps: u32, dimensions: u32) -> Mapped<Attempts, impl Fn(Blocks) -> Place<i32> + Copy> {
    drawn(random, n, steps.div_ceil(4), dimensions).map(move |blocks| {
        let start = (lit(0i32), lit(0i32), lit(0i32));
        let (_, place) = repeat(steps.div_ceil(4), (lit(0u32), start), |(block, place)| {
            let next = (0..4).zip(blocks.block(block)).fold(place, |place, (k, word)| {
                let direction = word.mul_hi(2 * dimensions);
                let (axis, by) = (direction >> 1, ((direction & 1) * 2).bitcast::<i32>() - 1);
                let moved = |x: Expr<i32>, of: u32| x + select(axis.eq(of), by, 0);
                let next = (moved(place.0, 0), moved(place.1, 1), moved(place.2, 2));
                if steps.is_multiple_of(4) { next } else { select_each((block * 4 + k).lt(steps), next, place) }
            });
            (block + 1, next)
        });
        place
    })
}

/// The same of steps whose coordinates are standard normal numbers: step `j` takes as many of the four of block `j` of an element as there are dimensions. In
/// `f32`, step by step.
#[must_use]
pub fn gaussian_walk(random: Random, n: u64, steps: u32, dimensions: u32) -> Mapped<Attempts, impl Fn(Blocks) -> Place<f32> + Copy> {
    drawn(random, n, steps, dimensions).map(move |blocks| {
        let start = (lit(0f32), lit(0f32), lit(0f32));
        let (_, place) = repeat(steps, (lit(0u32), start), |(block, (x, y, z))| {
            let [a, b, c, _] = normals(blocks.block(block));
            let along = |x: Expr<f32>, by: Expr<f32>, axis: u32| if axis < dimensions { x + by } else { x };
            (block + 1, (along(x, a, 0), along(y, b, 1), along(z, c, 2)))
        });
        place
    })
}

/// So many blocks for each walker.
fn drawn(random: Random, n: u64, blocks: u32, dimensions: u32) -> Attempts {
    let shift = blocks.clamp(1, MAX_BLOCKS).next_power_of_two().ilog2();
    Attempts::new(random, n, shift).require((1..=3).contains(&dimensions), "dimensions", "there are one to three").require(
        blocks <= MAX_BLOCKS,
        "steps",
        "there are too many",
    )
}

/// Blocks of an element at most.
const MAX_BLOCKS: u32 = 1 << 26;
