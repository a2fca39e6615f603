//! One file a pattern.

mod accumulators;
mod filter;
mod map;
mod reduce;
mod scan;
