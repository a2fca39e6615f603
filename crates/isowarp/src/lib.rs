//! Parallel patterns that return the same bits on every GPU.
//!
//! ```
//! use isowarp::prelude::*;
//!
//! let dev = Device::auto()?; // CUDA, else wgpu, else the CPU
//! let x = dev.upload(&[3.0f32, 1.0, 2.0])?;
//! let y = dev.map(&x, |x| x * 2.0 + 1.0)?; // traced once, compiled into the kernel
//! let total = dev.reduce(&y, Sum).run()?; // stays on the device
//! assert_eq!(total.read_blocking()?, 15.0);
//! # Ok::<(), isowarp::Error>(())
//! ```
//!
//! The [guide] has a page for each task that people come with, and one for those who [come from Thrust, CUB, NumPy or CuPy](guide::coming_from).
//!
//! A pattern is a verb, which returns a [call]; modifiers of the call say the rest. The verbs are methods of these traits:
//!
//! | group | traits |
//! |---|---|
//! | map | [`Map`](patterns::Map), [`Difference`](patterns::Difference) |
//! | reduce | [`Reduce`](patterns::Reduce), [`Statistics`](patterns::Statistics), [`Quantiles`](patterns::Quantiles), [`Quadrature`](patterns::Quadrature), [`Find`](patterns::Find) |
//! | scan | [`Scan`](patterns::Scan): over a whole array, lines along an axis, and segments |
//! | window | [`Window`](patterns::Window) |
//! | select | [`Select`](patterns::Select), [`RunLengths`](patterns::RunLengths) |
//! | by key and segmented | reductions and scans by [`segments`](call::Call::segments) and [`by_key`](call::Call::by_key), [`Segmented`](patterns::Segmented), sorts by [`segments`](patterns::SortCall::segments) |
//! | as many as are counted | sorts, selections and reductions by `length`: see [`SortCall::length`](patterns::SortCall::length) |
//! | histogram | [`Histogram`](patterns::Histogram) |
//! | sort | [`Sort`](patterns::Sort): `sort`, `argsort`, `top_k`, `is_sorted` |
//! | merge | [`Merge`](patterns::Merge), [`Search`](patterns::Search), [`Sets`](patterns::Sets) |
//! | move | [`Move`](patterns::Move), [`Layout`](patterns::Layout) |
//! | matrices | [`Products`](patterns::Products): `gemm`, `gemv`, `outer`; [`Solves`](patterns::Solves) |
//! | convolution, FFT | [`Convolutions`](patterns::Convolutions), [`Fft`](patterns::Fft) |
//! | numerics | codecs of [`minifloat`], [`ExactSums`](patterns::ExactSums), [`OrderedSum`](patterns::OrderedSum), [`Ulps`](patterns::Ulps) |
//! | Monte Carlo | [`monte_carlo`]: [`MonteCarlo`](monte_carlo::MonteCarlo), [`Ising`](monte_carlo::Ising) |
//! | random | draws of [`Random`](random::Random) as inputs, [`Permutation`](patterns::Permutation) |
//! | lanes and memory | [`Groups`](patterns::Groups), [`GroupFolds`](patterns::GroupFolds), [`Atomics`](patterns::Atomics) |
//! | image | [`Filter`](patterns::Filter) |
//! | kernels of your own | [`Launcher`](launch::Launcher), [`Kernel`](launch::Kernel); [`Variant`](call::Variant) for another way to carry out a pattern |
//!
//! They run on [`Device`], which is chosen at run time, and on each backend's own handle ([`Cpu`], `Wgpu`, `Cuda`) where the choice is made at compile
//! time:
//!
//! ```
//! use isowarp::prelude::*;
//!
//! fn normalise<B: Patterns>(dev: &B, x: &Buffer<B, f32>) -> isowarp::Result<Buffer<B, f32>> {
//!     let greatest = dev.max(x)?;
//!     dev.map((x, &greatest), |(x, m)| x / m)
//! }
//! # let dev = isowarp::Cpu::new();
//! # assert_eq!(normalise(&dev, &dev.upload(&[1.0, 4.0])?)?.read_blocking()?, [0.25, 1.0]);
//! # Ok::<(), isowarp::Error>(())
//! ```
//!
//! Reductions and scans take operators of your own, accumulators of several parts, and inputs that never lie in memory:
//!
//! ```
//! use isowarp::prelude::*;
//!
//! let dev = isowarp::Cpu::new();
//! let x = dev.upload(&[2.0f32, -1.0, 4.0, 3.0])?;
//! assert_eq!((dev.argmax(&x)?.read_blocking()?, dev.mean(&x)?.read_blocking()?), (2, 2.0));
//! assert_eq!(dev.reduce(x.map(|x| x * x), Sum).axis(&[2, 2], 1).run()?.read_blocking()?, [5.0, 25.0]);
//! // y = a y + b for each (a, b) in turn, from y = 0: affine maps, composed.
//! let y = dev.scan_by(x.map(|b| (lit(0.5f32), b)), |f, g| (f.0 * g.0, f.1 * g.0 + g.1)).finish(|f| f.1).run()?;
//! assert_eq!(y.read_blocking()?, [2.0, 0.0, 4.0, 5.0]);
//!
//! let image = Image::new(dev.upload(&[0u8, 0, 9, 0, 0, 9, 0, 0, 9])?, 3, 3, 1)?;
//! let blurred = dev.filter(&image, FilterKind::gaussian3(), Border::Clamp)?;
//! assert_eq!(blurred.buffer().read_blocking()?, [0, 2, 7, 0, 2, 7, 0, 2, 7]);
//! # Ok::<(), isowarp::Error>(())
//! ```
//!
//! Sorts are stable, by every element type, up and down, by all bits of the keys or some:
//!
//! ```
//! use isowarp::prelude::*;
//!
//! let dev = isowarp::Cpu::new();
//! let keys = dev.upload(&[3.0f32, -0.0, f32::INFINITY, 0.0, -7.5])?;
//! assert_eq!(dev.argsort(&keys).run()?.read_blocking()?, [4, 1, 3, 0, 2]);
//! let (first, places) = dev.top_k(&keys, 2).with_indices().run()?;
//! assert_eq!((first.read_blocking()?, places.read_blocking()?), (vec![f32::INFINITY, 3.0], vec![2, 0]));
//!
//! let (suits, cards) = (dev.upload(&[2u8, 1, 2, 1])?, dev.upload(&[10u32, 11, 12, 13])?);
//! let (_, by_suit) = dev.sort(&suits).with_values(&cards).descending().bits(0..2).run()?;
//! assert_eq!(by_suit.read_blocking()?, [10, 12, 11, 13]);
//!
//! // A payload of any width follows the indices.
//! let (names, ages) = (dev.upload(b"cab")?, dev.upload(&[30u32, 10, 20])?);
//! let youngest_first = dev.argsort(&ages).run()?;
//! assert_eq!(dev.permute(&names, &youngest_first).run()?.read_blocking()?, *b"abc");
//! # Ok::<(), isowarp::Error>(())
//! ```
//!
//! and by an order of the caller's, traced as every operator is:
//!
//! ```
//! use isowarp::prelude::*;
//!
//! let dev = isowarp::Cpu::new();
//! let keys = dev.upload(&[310u32, 120, 20, 111])?;
//! // By the last two digits; those that agree in them stay as they are.
//! assert_eq!(dev.sort(&keys).by(|a, b| (a % 100).lt(b % 100)).run()?.read_blocking()?, [310, 111, 120, 20]);
//! assert_eq!(dev.argsort(&keys).by(|a, b| (a % 100).gt(b % 100)).run()?.read_blocking()?, [1, 2, 3, 0]);
//! # Ok::<(), isowarp::Error>(())
//! ```
//!
//! Sorted arrays are merged, searched, and taken for multisets:
//!
//! ```
//! use isowarp::prelude::*;
//!
//! let dev = isowarp::Cpu::new();
//! let (a, b) = (dev.upload(&[1u32, 7, 8, 9, 10])?, dev.upload(&[7u32, 10, 10, 12])?);
//! let up = SortOrder::Ascending;
//! assert_eq!(dev.merge(&a, &b).run()?.read_blocking()?, [1, 7, 7, 8, 9, 10, 10, 10, 12]);
//! assert_eq!(dev.lower_bound(&a, &b).run()?.read_blocking()?, [1, 4, 4, 5]);
//! assert_eq!(dev.difference(&b, &a).run()?.read_blocking()?, [10, 12]); // b has 10 once more than a
//! # Ok::<(), isowarp::Error>(())
//! ```
//!
//! What a selection keeps stays on the device, and so does its number, which other patterns take as an input:
//!
//! ```
//! use isowarp::prelude::*;
//!
//! let dev = isowarp::Cpu::new();
//! let x = dev.upload(&[0.5f32, 2.0, 0.25, 0.375])?;
//! let kept = dev.select(&x, |x| x.gt(0.25) & x.lt(0.75)).run()?;
//! let sum = dev.reduce((&kept.values, index(), &kept.count).map(|(x, i, n)| i.lt(n).select(x, 0.0)), Sum).run()?;
//! assert_eq!((sum.read_blocking()?, kept.read_blocking()?), (0.875, vec![0.5, 0.375]));
//! # Ok::<(), isowarp::Error>(())
//! ```
//!
//! What lanes of a warp do for each other is there for groups of any width, and what programs build of atomics has one result:
//!
//! ```
//! use isowarp::prelude::*;
//!
//! let dev = isowarp::Cpu::new();
//! let x = dev.upload(&[3u32, 8, 3, 1, 8, 3])?;
//! assert_eq!(dev.group_ballot(x.map(|x| x.gt(2)), 3).run()?.read_blocking()?, [0b111, 0b110]);
//! assert_eq!(dev.group_rank(x.map(|x| x.eq(3)), 6).run()?.read_blocking()?, [0, 1, 1, 2, 2, 2]);
//! let (ticket, length) = dev.tickets(&x).run()?;
//! assert_eq!((ticket.read_blocking()?, length.read_blocking()?), (vec![0, 0, 1, 0, 1, 2], vec![3, 2, 3, 1, 2, 3]));
//!
//! let (v, at, sums) = (dev.upload(&[1e30f32, 0.5, -1e30])?, dev.upload(&[0u32; 3])?, dev.upload(&[1.0f32])?);
//! dev.scatter(&v, &at).reduce(ScatterOp::Sum).write_to(&sums)?;
//! assert_eq!(sums.read_blocking()?, [1.5]); // exact, rounded once
//! # Ok::<(), isowarp::Error>(())
//! ```
//!
//! Algorithms of textbooks, from the first idea to what became the pattern, are the crate `isowarp-textbook`. Kernels of your own, in WGSL, PTX and Rust, run
//! as those do: the guide's page [`own_kernel`](guide::own_kernel) has one.

mod any;
mod launcher;
mod select;

pub use any::{AnyEvent, AnyRaw, Device};
pub use isowarp_core::{Error, Result, every_task, kernel_params};
pub use isowarp_core::{
    backend, buffer, call, caps, dynamic, element, error, expression, host, input, ir, launch, minifloat, monte_carlo, numerics, ops,
    patterns, random,
};
pub use select::{Choice, Selector};

#[cfg(feature = "cpu")]
pub use isowarp_cpu::Cpu;
#[cfg(feature = "cuda")]
pub use isowarp_cuda::Cuda;
#[cfg(feature = "wgpu")]
pub use isowarp_wgpu::Wgpu;

/// The CUDA backend's own interface: raw handles, streams, events.
#[cfg(feature = "cuda")]
pub use isowarp_cuda as cuda;
/// The wgpu backend's own interface: raw handles, options.
#[cfg(feature = "wgpu")]
pub use isowarp_wgpu as wgpu;

pub mod guide;

/// Everything that a program usually needs: types, operators, bins and layouts by name, and the verbs of a device without their traits' names, which stand in
/// [`patterns`]. A function for any device asks for [`Patterns`](patterns::Patterns), which has all of them.
pub mod prelude {
    pub use crate::Device;
    pub use isowarp_core::buffer::{Buffer, DeviceScalar, Memory as _, View};
    pub use isowarp_core::caps::Numerics;
    pub use isowarp_core::input::{Source, array, counting, counting64, index, index64, permuted, scalar};
    pub use isowarp_core::ir::{Expr, branch, lit, next_until, next_while, repeat, select};
    pub use isowarp_core::ops::{And, Combine, Max, Min, Op, Or, Product, Sum, Xor};
    pub use isowarp_core::patterns::{
        Axis, Border, FilterKind, Image, ImageLayout, Overflow, ScatterOp, Selected, Shuffle, SortBy, SortOrder, SumOrder,
    };
    pub use isowarp_core::patterns::{
        Edges, binned, bins_between, channels_alike, channels_between, channels_even, channels_of, even_bins,
    };
    pub use isowarp_core::patterns::{Patterns, grid, matrix};
    pub use isowarp_core::random::Random;

    pub use isowarp_core::patterns::{
        Atomics as _, Bins as _, Convolutions as _, Difference as _, ExactSums as _, Fft as _, Filter as _, Find as _, GroupFolds as _,
        Groups as _, Histogram as _, Layout as _, Map as _, Merge as _, Move as _, Ordered as _, OrderedSum as _, Permutation as _,
        Products as _, Quadrature as _, Quantiles as _, Reduce as _, RunLengths as _, Scan as _, Search as _, Segmented as _, Select as _,
        Sets as _, Solves as _, Sort as _, Statistics as _, Ulps as _, Window as _,
    };
}

/// The examples of the README, compiled.
#[cfg(all(doctest, feature = "cpu", feature = "wgpu"))]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
