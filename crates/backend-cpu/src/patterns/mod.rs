//! One file a pattern.

mod accumulators;
mod filter;
mod groups;
mod histogram;
mod histogram_variants;
mod layout;
mod map;
mod merge;
mod merge_sort;
mod merge_variants;
mod moves;
mod reduce;
mod reduce_variants;
mod scan;
mod scan_variants;
mod segments;
mod select;
mod sort;
mod sort_variants;
mod top_k;
