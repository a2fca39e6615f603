//! P07 and P08: sorts, the first keys of one, merges and searches.

use super::{Extra, PAIRS, QUADS, Template, WORDS};

/// P07, one pass over a digit.
pub const SORT: Template = Template {
    name: "sort.wgsl",
    text: include_str!("../sort.wgsl"),
    args: &[
        "n",
        "tiles",
        "first_block",
        "end_block",
        "in_first",
        "in_skip",
        "payload_in_skip",
        "out_first",
        "out_len",
        "out_skip",
        "payload_out_skip",
        "shift",
        "digit_mask",
        "sign_bit",
        "negative_low",
        "negative_high",
        "flip_low",
        "flip_high",
        "in_len",
    ],
    bindings: &[
        Extra { name: "keys_in", access: "read", ty: "array<u32>", when: Some("reads_words") },
        Extra { name: "keys_in", access: "read", ty: "array<vec2<u32>>", when: Some("reads_pairs") },
        Extra { name: "payload_in", access: "read", ty: "array<u32>", when: Some("payload_reads_words") },
        Extra { name: "payload_in", access: "read", ty: "array<vec2<u32>>", when: Some("payload_reads_pairs") },
        Extra { name: "keys_out", access: "read_write", ty: "array<u32>", when: Some("writes_words") },
        Extra { name: "keys_out", access: "read_write", ty: "array<vec2<u32>>", when: Some("writes_pairs") },
        Extra { name: "payload_out", access: "read_write", ty: "array<u32>", when: Some("payload_writes_words") },
        Extra { name: "payload_out", access: "read_write", ty: "array<vec2<u32>>", when: Some("payload_writes_pairs") },
        Extra { name: "counts", access: "read_write", ty: "array<u32>", when: Some("count") },
        Extra { name: "offsets", access: "read", ty: "array<u32>", when: Some("reads_offsets") },
        Extra { name: "table", access: "read", ty: "array<u32>", when: Some("parts") },
        Extra { name: "listed", access: "read", ty: "array<u32>", when: Some("parts") },
        Extra { name: "packed_out", access: "read_write", ty: "array<u32>", when: Some("pack") },
    ],
};

/// P05, segments sorted: short ones, and where the tiles of longer ones lie.
pub const SEGMENTED_SORT: Template = Template {
    name: "segmented_sort.wgsl",
    text: include_str!("../segmented_sort.wgsl"),
    args: &[
        "n",
        "parts",
        "first_window",
        "end_window",
        "in_first",
        "tiles",
        "in_skip",
        "payload_in_skip",
        "out_skip",
        "payload_out_skip",
        "sign_bit",
        "negative_low",
        "negative_high",
        "flip_low",
        "flip_high",
        "compared_low",
        "compared_high",
        "leaves_rest",
    ],
    bindings: &[
        Extra { name: "keys_in", access: "read", ty: WORDS, when: Some("reads_words") },
        Extra { name: "keys_in", access: "read", ty: PAIRS, when: Some("reads_pairs") },
        Extra { name: "payload_in", access: "read", ty: WORDS, when: Some("reads_payload") },
        Extra { name: "keys_out", access: "read_write", ty: WORDS, when: Some("writes_words") },
        Extra { name: "keys_out", access: "read_write", ty: PAIRS, when: Some("writes_pairs") },
        Extra { name: "payload_out", access: "read_write", ty: WORDS, when: Some("writes_payload") },
        Extra { name: "starts_out", access: "read_write", ty: WORDS, when: Some("windows") },
        Extra { name: "listed", access: "read_write", ty: WORDS, when: Some("windows") },
        Extra { name: "listed", access: "read_write", ty: "array<atomic<u32>>", when: Some("short") },
        Extra { name: "table", access: "read_write", ty: WORDS, when: Some("short") },
        Extra { name: "starts", access: "read", ty: WORDS, when: Some("short") },
        Extra { name: "bounds", access: "read", ty: WORDS, when: None },
    ],
};

/// P07, the first keys: found in seven steps.
pub(super) const TOP_K: Template = Template {
    name: "top_k.wgsl",
    text: include_str!("../top_k.wgsl"),
    args: &[],
    bindings: &[
        Extra { name: "keys", access: "read", ty: WORDS, when: Some("size < 8 and step in [0, 2, 4, 6]") },
        Extra { name: "keys", access: "read", ty: PAIRS, when: Some("size == 8 and step in [0, 2, 4, 6]") },
        Extra { name: "list_values", access: "read_write", ty: WORDS, when: Some("size < 8 and step in [0, 1, 2, 4, 6]") },
        Extra { name: "list_values", access: "read_write", ty: PAIRS, when: Some("size == 8 and step in [0, 1, 2, 4, 6]") },
        Extra { name: "list_places", access: "read_write", ty: WORDS, when: Some("step in [2, 4, 6]") },
        Extra { name: "state", access: "read_write", ty: "array<atomic<u32>>", when: Some("step > 0") },
        Extra { name: "found", access: "read_write", ty: WORDS, when: Some("step == 6") },
    ],
};

/// P08: tiles of the merged array, and where they begin.
pub const MERGE: Template = Template {
    name: "merge.wgsl",
    text: include_str!("../merge.wgsl"),
    args: &[
        "blocks",
        "m",
        "n",
        "phase",
        "skip_a",
        "skip_b",
        "skip_v",
        "skip_w",
        "skip_keys",
        "skip_values",
        "negative_low",
        "negative_high",
        "flip_low",
        "flip_high",
    ],
    bindings: &[
        Extra { name: "a", access: "read", ty: WORDS, when: Some("reads_words") },
        Extra { name: "b", access: "read", ty: WORDS, when: Some("reads_words") },
        Extra { name: "a", access: "read", ty: PAIRS, when: Some("reads_pairs") },
        Extra { name: "b", access: "read", ty: PAIRS, when: Some("reads_pairs") },
        Extra { name: "ranks", access: "read", ty: WORDS, when: Some("reads_ranks") },
        Extra { name: "cuts_out", access: "read_write", ty: WORDS, when: Some("co_ranks") },
        Extra { name: "keys_out", access: "read_write", ty: QUADS, when: Some("quads") },
        Extra { name: "keys_out", access: "read_write", ty: WORDS, when: Some("writes_words") },
        Extra { name: "keys_out", access: "read_write", ty: PAIRS, when: Some("writes_pairs") },
        Extra { name: "v", access: "read", ty: WORDS, when: Some("reads_values_words") },
        Extra { name: "w", access: "read", ty: WORDS, when: Some("reads_values_words") },
        Extra { name: "values_out", access: "read_write", ty: WORDS, when: Some("writes_values_words") },
        Extra { name: "v", access: "read", ty: PAIRS, when: Some("reads_values_pairs") },
        Extra { name: "w", access: "read", ty: PAIRS, when: Some("reads_values_pairs") },
        Extra { name: "values_out", access: "read_write", ty: PAIRS, when: Some("writes_values_pairs") },
        Extra { name: "cuts", access: "read", ty: WORDS, when: Some("reads_cuts") },
    ],
};

/// P07, by an order of the caller's: tiles sorted, and merged tile by tile; where such tiles begin. P08 by such an order.
pub const MERGE_SORT: Template = Template {
    name: "merge_sort.wgsl",
    text: include_str!("../merge_sort.wgsl"),
    args: &["n", "run_a", "run_b", "shift", "blocks", "second", "skip_a", "skip_b", "skip_v", "skip_w", "skip_keys_out", "skip_values_out"],
    bindings: &[
        Extra { name: "a", access: "read", ty: WORDS, when: Some("reads_words") },
        Extra { name: "a", access: "read", ty: PAIRS, when: Some("reads_pairs") },
        Extra { name: "b", access: "read", ty: WORDS, when: Some("reads_second_words") },
        Extra { name: "b", access: "read", ty: PAIRS, when: Some("reads_second_pairs") },
        Extra { name: "v", access: "read", ty: WORDS, when: Some("reads_values") },
        Extra { name: "w", access: "read", ty: WORDS, when: Some("reads_second_values") },
        Extra { name: "cuts", access: "read", ty: WORDS, when: Some("reads_cuts") },
        Extra { name: "cuts_out", access: "read_write", ty: WORDS, when: Some("cuts") },
        Extra { name: "keys_out", access: "read_write", ty: WORDS, when: Some("writes_words") },
        Extra { name: "keys_out", access: "read_write", ty: PAIRS, when: Some("writes_pairs") },
        Extra { name: "values_out", access: "read_write", ty: WORDS, when: Some("pairs") },
    ],
};

/// The merges of [`MERGE_SORT`] of runs that no binding holds: two windows onto them to a dispatch.
pub const MERGE_SORT_WINDOWS: Template = Template {
    args: &[
        "run_a",
        "run_b",
        "blocks",
        "first_block",
        "resumed",
        "window_a",
        "span_a",
        "window_b",
        "span_b",
        "skip_a",
        "skip_b",
        "skip_v",
        "skip_w",
        "skip_keys_out",
        "skip_values_out",
    ],
    ..MERGE_SORT
};

/// P08: searches in a sorted array.
pub const SEARCH: Template = Template {
    name: "search.wgsl",
    text: include_str!("../search.wgsl"),
    args: &["n", "count", "skip_sorted", "skip_needles", "skip_found", "more", "negative_low", "negative_high", "flip_low", "flip_high"],
    bindings: &[
        Extra { name: "sorted", access: "read", ty: WORDS, when: Some("reads_words") },
        Extra { name: "needles", access: "read", ty: WORDS, when: Some("reads_words") },
        Extra { name: "sorted", access: "read", ty: PAIRS, when: Some("reads_pairs") },
        Extra { name: "needles", access: "read", ty: PAIRS, when: Some("reads_pairs") },
        Extra { name: "found_out", access: "read_write", ty: WORDS, when: None },
    ],
};
