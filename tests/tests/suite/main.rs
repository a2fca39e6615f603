//! The tests of isowarp as a whole, in one program: identity, accuracy, properties, bad input, streams, sharing, the
//! suite's own program, and the workspace's shape and documents.

mod accuracy;
mod atomics;
mod bad_input;
mod by_order;
mod calls;
mod checked;
mod common;
mod conformance;
mod dependencies;
mod documents;
mod exact;
mod fuzz;
mod groups;
mod halton;
mod histogram;
mod histogram_variants;
mod identity;
#[cfg(feature = "wgpu")]
mod interop;
mod into;
mod ising;
mod lazy;
mod memory;
mod merge;
mod merge_from;
mod merge_sort;
mod merge_variants;
mod minifloat;
mod modifiers;
mod monte_carlo;
mod moves;
mod mrg;
#[cfg(feature = "wgpu")]
mod opening;
mod oracles;
mod ordered_sum;
mod own_kernels;
mod pairs;
mod properties;
mod random;
mod random_counts;
mod reduce;
mod refused;
mod runs;
mod scan;
mod segments;
mod select;
mod sizes;
mod sort;
mod sort_variants;
mod streams;
mod table;
mod ulps;
mod variants;
mod window;
