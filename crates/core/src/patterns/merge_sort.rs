//! P07 sort by an order of the caller's: a stable merge sort; and merges by such an order.

mod call;
mod checked;
mod found;
mod search;
mod sorted;
mod task;

pub(super) use call::{argsort, merge, order, sort, sort_with};
pub(super) use checked::{check_neighbours, comparison};
pub(super) use found::{check_total, merge as merge_computed};
pub(crate) use sorted::check_sorted_by;
pub use task::{MergeByTask, MergeSortPlaces, MergeSortTask, MergeTiling};
