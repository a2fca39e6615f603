//! Pages for tasks that people come with, each with programs that are compiled and run by the tests.
//!
//! | task | page |
//! |---|---|
//! | sums, means and extremes of columns and rows of a table | [`sum_a_column`] |
//! | the order of the elements in every row, and the best of each | [`argsort_rows`] |
//! | softmax, and other steps that need a number for each row | [`softmax`] |
//! | the mean of each group of a table | [`group_by_mean`] |
//! | the k-th largest element, and the k largest | [`kth_largest`] |
//! | the distinct values, and how often each occurs | [`unique_counts`] |
//! | moving averages and other windows | [`moving_average`] |
//! | filters by Fourier transforms | [`low_pass_filter`] |
//! | random numbers that are the same everywhere | [`random_numbers`] |
//! | codes of e4m3, e5m2, e2m1, bf16 and other floats of few bits | [`mini_floats`] |
//! | products of matrices, layers of networks | [`matrix_product`] |
//! | the same product on four devices, and the orders of its sums | [`same_product`] |
//! | filters of images and signals, convolutional layers | [`convolution`] |
//! | systems of linear equations, many small ones or a large one | [`small_systems`] |
//! | sums that differ from NumPy's, and by how much | [`why_two_sums_differ`] |
//! | estimates with their errors, simulations | [`monte_carlo`] |
//! | the histogram of an image, and its equalisation | [`image_histogram`] |
//! | where records of different lengths begin in one array | [`prefix_offsets`] |
//! | merging sorted tables, and looking rows up in one | [`merge_two_tables`] |
//! | kernels of your own, in WGSL, PTX and Rust | [`own_kernel`] |
//! | names of Thrust, CUB, NumPy and CuPy beside those here | [`coming_from`] |
//!
//! On every page:
//!
//! - [`Device::auto`](crate::Device::auto) opens a GPU by CUDA, else one through wgpu, else the CPU. Results are the same bits on all of them.
//! - Data stays on the device until `read_blocking` (or `read().await`). Everything before it is enqueued and returns at once.
//! - A pattern is a verb that returns a call, as `dev.scan(&x, Sum)`. Modifiers follow (`.exclusive()`, `.axis(..)`), and `.run()` enqueues it into new
//!   memory, or `.write_to(&out)` into the caller's. The shortest ones (`sum`, `max`, `map`) need no `run`.
//! - Any input may be computed on the way: `x.map(|x| x * x)` is fused into the kernel and never lies in memory.

#[doc = include_str!("../guide/sum-a-column.md")]
pub mod sum_a_column {}
#[doc = include_str!("../guide/argsort-rows.md")]
pub mod argsort_rows {}
#[doc = include_str!("../guide/softmax.md")]
pub mod softmax {}
#[doc = include_str!("../guide/group-by-mean.md")]
pub mod group_by_mean {}
#[doc = include_str!("../guide/kth-largest.md")]
pub mod kth_largest {}
#[doc = include_str!("../guide/unique-counts.md")]
pub mod unique_counts {}
#[doc = include_str!("../guide/moving-average.md")]
pub mod moving_average {}
#[doc = include_str!("../guide/low-pass-filter.md")]
pub mod low_pass_filter {}
#[doc = include_str!("../guide/random-numbers.md")]
pub mod random_numbers {}
#[doc = include_str!("../guide/mini-floats.md")]
pub mod mini_floats {}
#[doc = include_str!("../guide/why-two-sums-differ.md")]
pub mod why_two_sums_differ {}
#[doc = include_str!("../guide/monte-carlo.md")]
pub mod monte_carlo {}
#[doc = include_str!("../guide/image-histogram.md")]
pub mod image_histogram {}
#[doc = include_str!("../guide/prefix-offsets.md")]
pub mod prefix_offsets {}
#[doc = include_str!("../guide/convolution.md")]
pub mod convolution {}
#[doc = include_str!("../guide/matrix-product.md")]
pub mod matrix_product {}
#[doc = include_str!("../guide/same-product.md")]
pub mod same_product {}
#[doc = include_str!("../guide/small-systems.md")]
pub mod small_systems {}
#[doc = include_str!("../guide/merge-two-tables.md")]
pub mod merge_two_tables {}
#[doc = include_str!("../guide/own-kernel.md")]
pub mod own_kernel {}
#[doc = include_str!("../guide/coming-from.md")]
pub mod coming_from {}
