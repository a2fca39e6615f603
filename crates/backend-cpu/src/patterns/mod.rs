//! One file a pattern.

mod accumulators;
mod convolution;
mod fft;
mod filter;
mod groups;
mod histogram;
mod layout;
mod map;
mod merge;
mod merge_sort;
mod moves;
mod product;
mod reduce;
mod scan;
mod segments;
mod select;
mod solve;
mod sort;
mod top_k;
