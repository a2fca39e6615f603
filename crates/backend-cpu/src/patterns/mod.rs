//! One file a pattern.

mod accumulators;
mod filter;
mod map;
mod reduce;
mod reduce_variants;
mod scan;
mod scan_variants;
mod select;
