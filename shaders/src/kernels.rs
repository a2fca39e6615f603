//! The patterns' kernels: WGSL with holes, and what a host has to know to fill them.
//!
//! A template is WGSL that calls functions which the backend writes in front of it (`load4`, `combine`, `finish`, ...), with
//! Jinja's holes: `{{ rows }}` is a number, `{% for r in range(rows) %}` repeats lines, so that arrays in registers are written out, and
//! `{% if exclusive %}` chooses between variants. Parameters are members of `args`, all `u32`, `base` and `base_high` first.

mod dense;
mod sorts;

use dense::{BLOCKS, CHOLESKY, CONTRACT, CONTRACT_COOPERATIVE, CONTRACT_FIXED, CONVOLVE, CONVOLVE_LAYER, ELIMINATE, FFT, PANEL};
use sorts::TOP_K;
pub use sorts::{MERGE, MERGE_SORT, MERGE_SORT_WINDOWS, SEARCH, SEGMENTED_SORT, SORT};

use isowarp_core::launch::{Binding as Extra, Shader, Template};
use std::collections::BTreeMap;

/// Whether a kernel with these holes has a buffer.
#[must_use]
pub fn is_there(extra: &Extra, holes: &[(&str, u32)]) -> bool {
    let Some(when) = extra.when else { return true };
    if !when.contains(' ') {
        return holes.contains(&(when, 1));
    }
    let context: BTreeMap<&str, u32> = holes.iter().copied().collect();
    let jinja = minijinja::Environment::new();
    jinja.compile_expression(when).and_then(|condition| condition.eval(context)).is_ok_and(|value| value.is_true())
}

/// Fills the holes of a template, which may include the parts of the library.
///
/// # Errors
/// The engine's message where a hole has no value or the template does not parse.
pub fn expand(template: &Template, holes: &BTreeMap<&str, u32>) -> Result<String, String> {
    let mut jinja = minijinja::Environment::new();
    jinja.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
    let syntax = minijinja::syntax::SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    jinja.set_syntax(syntax.map_err(|e| e.to_string())?);
    let context: BTreeMap<&str, minijinja::Value> = holes.iter().map(|(&k, &v)| (k, v.into())).collect();
    let context = minijinja::Value::from(context);
    for (name, part) in PARTS {
        jinja.add_template(name, part).map_err(|e| format!("{e:#}"))?;
    }
    jinja.render_named_str(template.name, template.text, context).map_err(|e| format!("{e:#}"))
}

/// Parts that templates include.
const PARTS: [(&str, &str); 30] = [
    ("contract_add_block.wgsl", include_str!("contract_add_block.wgsl")),
    ("contract_risky.wgsl", include_str!("contract_risky.wgsl")),
    ("contract_rounded.wgsl", include_str!("contract_rounded.wgsl")),
    ("contract_steps.wgsl", include_str!("contract_steps.wgsl")),
    ("element_at.wgsl", include_str!("element_at.wgsl")),
    ("fft_two.wgsl", include_str!("fft_two.wgsl")),
    ("filter_careful.wgsl", include_str!("filter_careful.wgsl")),
    ("lanes.wgsl", include_str!("lanes.wgsl")),
    ("look_back.wgsl", include_str!("look_back.wgsl")),
    ("look_back_groups.wgsl", include_str!("look_back_groups.wgsl")),
    ("look_back_served.wgsl", include_str!("look_back_served.wgsl")),
    ("median.wgsl", include_str!("median.wgsl")),
    ("merge_narrow.wgsl", include_str!("merge_narrow.wgsl")),
    ("merge_part.wgsl", include_str!("merge_part.wgsl")),
    ("of_first.wgsl", include_str!("of_first.wgsl")),
    ("order.wgsl", include_str!("order.wgsl")),
    ("reduce_subgroups.wgsl", include_str!("reduce_subgroups.wgsl")),
    ("scan_help.wgsl", include_str!("scan_help.wgsl")),
    ("scan_lines.wgsl", include_str!("scan_lines.wgsl")),
    ("scan_nodes.wgsl", include_str!("scan_nodes.wgsl")),
    ("scan_totals.wgsl", include_str!("scan_totals.wgsl")),
    ("scan_walk.wgsl", include_str!("scan_walk.wgsl")),
    ("solve_load.wgsl", include_str!("solve_load.wgsl")),
    ("solve_numbers.wgsl", include_str!("solve_numbers.wgsl")),
    ("solve_store.wgsl", include_str!("solve_store.wgsl")),
    ("sort_key.wgsl", include_str!("sort_key.wgsl")),
    ("sort_rank.wgsl", include_str!("sort_rank.wgsl")),
    ("sort_tile.wgsl", include_str!("sort_tile.wgsl")),
    ("transpose_turn.wgsl", include_str!("transpose_turn.wgsl")),
    ("transpose_units.wgsl", include_str!("transpose_units.wgsl")),
];

/// A kernel of the library that all GPUs have, by its name. Its parameters are declared with it, so that there are none here.
#[must_use]
pub fn shared(name: &str) -> Option<Shader> {
    let (template, entry, holes): (Template, _, &'static [(&'static str, u32)]) = match name {
        "map" => (MAP, "map", &[]),
        "ballot" => (BALLOT, "ballot", &[("ballot", 1)]),
        "peers" => (PEERS, "peers", &[("ballot", 0)]),
        "exact_sum" => (EXACT, "exact_sum", &[("wide", 0)]),
        "exact_sum_wide" => (EXACT, "exact_sum", &[("wide", 1)]),
        "contract" => (CONTRACT, "contract", &[("step", 0)]),
        "contract_small" => (CONTRACT, "contract", &[("step", 0)]),
        "contract_thin" => (CONTRACT, "contract_thin", &[("step", 1)]),
        "contract_fold" => (CONTRACT, "contract_fold", &[("step", 2)]),
        "contract_greatest" => (CONTRACT_FIXED, "contract_greatest", &[("step", 0)]),
        "contract_pack" => (CONTRACT_FIXED, "contract_pack", &[("step", 1)]),
        "contract_fixed" => (CONTRACT_FIXED, "contract_fixed", &[("step", 2)]),
        "contract_cooperative" => (CONTRACT_COOPERATIVE, "contract_cooperative", &[]),
        "convolve" => (CONVOLVE, "convolve", &[]),
        "convolve_layer" => (CONVOLVE_LAYER, "convolve_layer", &[]),
        "fft" => (FFT, "fft", &[]),
        "eliminate" => (ELIMINATE, "eliminate", &[]),
        "panel" => (PANEL, "panel", &[]),
        "cholesky" => (CHOLESKY, "cholesky", &[]),
        "substitute" => (BLOCKS, "substitute", &[("step", 0)]),
        "trail" => (BLOCKS, "trail", &[("step", 1)]),
        "arrange" => (BLOCKS, "arrange", &[("step", 2)]),
        "swap_rows" => (BLOCKS, "swap_rows", &[("step", 3)]),
        "check_diagonal" => (BLOCKS, "check_diagonal", &[("step", 4)]),
        "gather" => (GATHER, "gather", &[]),
        "scatter" | "scatter_reduce" => (SCATTER, "scatter", &[("computed", 0)]),
        "scatter_from" => (SCATTER_FROM, "scatter", &[("computed", 1)]),
        "layout" => (LAYOUT, "copy_axes", &[]),
        "transpose" => (TRANSPOSE, "transpose", &[]),
        "transpose_square" => (TRANSPOSE_SQUARE, "turn", &[("each", 0)]),
        "swap_square" => (TRANSPOSE_SQUARE, "swap", &[("each", 1)]),
        "transpose_tiles" => (TRANSPOSE_TILES, "exchange", &[]),
        "top_k_sample" => (TOP_K, "top_k_sample", &[("step", 0), ("threads", 256), ("items", 16), ("bins", 2048)]),
        "top_k_start" => (TOP_K, "top_k_start", &[("step", 1), ("threads", 256), ("items", 16), ("bins", 2048)]),
        "top_k_filter" => (TOP_K, "top_k_filter", &[("step", 2), ("threads", 256), ("items", 16), ("bins", 2048)]),
        "top_k_decide" => (TOP_K, "top_k_decide", &[("step", 3), ("threads", 256), ("items", 16), ("bins", 2048)]),
        "top_k_count" => (TOP_K, "top_k_count", &[("step", 4), ("threads", 256), ("items", 16), ("bins", 2048)]),
        "top_k_pick" => (TOP_K, "top_k_pick", &[("step", 5), ("threads", 256), ("items", 16), ("bins", 2048)]),
        "top_k_collect" => (TOP_K, "top_k_collect", &[("step", 6), ("threads", 256), ("items", 16), ("bins", 2048)]),
        _ => return None,
    };
    Some(Shader { template, entry, holes })
}

/// P01.
const MAP: Template = Template { name: "map.wgsl", text: include_str!("map.wgsl"), args: &[], bindings: &[] };

/// P02, a line cut into tiles of a workgroup each.
pub const REDUCE: Template =
    Template { name: "reduce.wgsl", text: include_str!("reduce.wgsl"), args: &["n", "tiles", "passes", "blocks", "first"], bindings: &[] };

/// P02, many short rows.
pub const REDUCE_ROWS: Template = Template { args: &["n", "lines", "lanes"], ..REDUCE };

/// P02, columns.
pub const REDUCE_COLS: Template = Template { args: &["n", "inner", "columns", "part", "parts", "first", "pitch"], ..REDUCE };

/// P03: tiles with the folds before them, or a single tile to a line.
pub const SCAN: Template = Template {
    name: "scan.wgsl",
    text: include_str!("scan.wgsl"),
    args: &["n", "inner", "tiles", "blocks", "first_tile", "first", "pitch", "epoch", "patience"],
    bindings: &[
        Extra { name: "folds", access: "read", ty: "array<Acc>", when: Some("folded") },
        Extra { name: "tickets", access: "read_write", ty: "array<atomic<u32>>", when: Some("single") },
        Extra { name: "status", access: "read_write", ty: "array<atomic<u32>>", when: Some("narrow_status") },
        Extra { name: "status", access: "read_write", ty: "array<atomic<u64>>", when: Some("wide_status") },
    ],
};

/// P03, many short rows.
pub const SCAN_ROWS: Template = Template { args: &["n", "lines", "lanes"], bindings: &[], ..SCAN };

/// P03, columns.
pub const SCAN_COLS: Template = Template { args: &["n", "inner", "columns"], bindings: &[], ..SCAN };

/// P24, exact sums.
const EXACT: Template = Template {
    name: "exact_sum.wgsl",
    text: include_str!("exact_sum.wgsl"),
    args: &[],
    bindings: &[Extra { name: "words", access: "read_write", ty: "array<atomic<u32>>", when: None }],
};

/// P09, by index.
const GATHER: Template = Template {
    name: "gather.wgsl",
    text: include_str!("gather.wgsl"),
    args: &[],
    bindings: &[
        Extra { name: "values", access: "read", ty: WORDS, when: None },
        Extra { name: "indices", access: "read", ty: WORDS, when: None },
        Extra { name: "out", access: "read_write", ty: WORDS, when: None },
    ],
};

/// P09, to indices.
const SCATTER: Template = Template {
    name: "scatter.wgsl",
    text: include_str!("scatter.wgsl"),
    args: &[],
    bindings: &[
        Extra { name: "values", access: "read", ty: WORDS, when: Some("not positions") },
        Extra { name: "indices", access: "read", ty: WORDS, when: None },
        Extra { name: "out", access: "read_write", ty: WORDS, when: Some(STORES_WORDS) },
        Extra { name: "out", access: "read_write", ty: "array<atomic<u32>>", when: Some(COMBINES_WORDS) },
        Extra { name: "out", access: "read_write", ty: "array<atomic<i32>>", when: Some("is_signed") },
    ],
};
/// A scatter whose targets are whole words, and one that others write parts of the words of.
const STORES_WORDS: &str = "op == 0 and size >= 4";
const COMBINES_WORDS: &str = "(op != 0 or size < 4) and not is_signed";

/// P09, to indices that an operator gives with the values.
const SCATTER_FROM: Template = Template {
    bindings: &[
        Extra { name: "out", access: "read_write", ty: WORDS, when: Some(STORES_WORDS) },
        Extra { name: "out", access: "read_write", ty: "array<atomic<u32>>", when: Some(COMBINES_WORDS) },
        Extra { name: "out", access: "read_write", ty: "array<atomic<i32>>", when: Some("is_signed") },
    ],
    ..SCATTER
};

/// P09, by shape: any axes.
const LAYOUT: Template = Template {
    name: "layout.wgsl",
    text: include_str!("layout.wgsl"),
    args: &[],
    bindings: &[
        Extra { name: "to", access: "read_write", ty: WORDS, when: Some("size < 16 and not atomic") },
        Extra { name: "to", access: "read_write", ty: QUADS, when: Some("size == 16") },
        Extra { name: "to", access: "read_write", ty: "array<atomic<u32>>", when: Some("atomic") },
        Extra { name: "from_", access: "read", ty: QUADS, when: Some("size == 16") },
        Extra { name: "from_", access: "read", ty: WORDS, when: Some("size < 16") },
    ],
};

/// P09, by shape: planes in tiles, and up to four axes of a batch.
const TRANSPOSE: Template = Template {
    name: "transpose.wgsl",
    text: include_str!("transpose.wgsl"),
    args: &[],
    bindings: &[
        Extra { name: "to", access: "read_write", ty: WORDS, when: Some(BY_WORDS) },
        Extra { name: "to", access: "read_write", ty: PAIRS, when: Some(BY_PAIRS) },
        Extra { name: "to", access: "read_write", ty: QUADS, when: Some(BY_QUADS) },
        Extra { name: "from_", access: "read", ty: WORDS, when: Some(BY_WORDS) },
        Extra { name: "from_", access: "read", ty: PAIRS, when: Some(BY_PAIRS) },
        Extra { name: "from_", access: "read", ty: QUADS, when: Some(BY_QUADS) },
    ],
};
/// Units of a plane, four elements, or two of eight bytes, where rows are made of those.
const BY_WORDS: &str = "not vector or size == 1";
const BY_PAIRS: &str = "vector and size == 2";
const BY_QUADS: &str = "vector and size >= 4";

/// P09, by shape: squares where they lie.
const TRANSPOSE_SQUARE: Template = Template {
    name: "transpose_square.wgsl",
    text: include_str!("transpose_square.wgsl"),
    args: &[],
    bindings: &[
        Extra { name: "x", access: "read_write", ty: WORDS, when: Some("size >= 4 if each else not vector or size == 1") },
        Extra { name: "x", access: "read_write", ty: PAIRS, when: Some("not each and vector and size == 2") },
        Extra { name: "x", access: "read_write", ty: QUADS, when: Some("not each and vector and size >= 4") },
        Extra { name: "x", access: "read_write", ty: "array<atomic<u32>>", when: Some("each and size < 4") },
    ],
};

/// P09, by shape: tiles of square grids that change places.
const TRANSPOSE_TILES: Template = Template {
    name: "transpose_tiles.wgsl",
    text: include_str!("transpose_tiles.wgsl"),
    args: &[],
    bindings: &[
        Extra { name: "x", access: "read_write", ty: WORDS, when: Some("unit == 4") },
        Extra { name: "x", access: "read_write", ty: PAIRS, when: Some("unit == 8") },
        Extra { name: "x", access: "read_write", ty: QUADS, when: Some("unit == 16") },
        Extra { name: "x", access: "read_write", ty: "array<atomic<u32>>", when: Some("unit < 4") },
    ],
};

/// Bindings of raw bits.
const WORDS: &str = "array<u32>";
/// Bindings of eight bytes.
const PAIRS: &str = "array<vec2<u32>>";
/// Four words at a time.
const QUADS: &str = "array<vec4<u32>>";

/// P06: samples by bins.
pub const HISTOGRAM: Template = Template {
    name: "histogram.wgsl",
    text: include_str!("histogram.wgsl"),
    args: &["n", "groups", "first", "bins", "shift", "skip_out"],
    bindings: &[Extra { name: "out", access: "read_write", ty: "array<atomic<u32>>", when: None }],
};

/// P25: conditions as bits.
const BALLOT: Template = Template {
    name: "groups.wgsl",
    text: include_str!("groups.wgsl"),
    args: &[],
    bindings: &[Extra { name: "out", access: "read_write", ty: WORDS, when: None }],
};

/// P25: elements of a group with equal keys.
const PEERS: Template = Template {
    bindings: &[
        Extra { name: "out", access: "read_write", ty: WORDS, when: None },
        Extra { name: "counts", access: "read_write", ty: WORDS, when: Some("kind > 0") },
    ],
    ..BALLOT
};

/// P05: segments reduced, the short ones together, the long ones in tiles, whose nodes are joined.
pub const SEGMENTS_SHORT: Template = Template {
    name: "segments.wgsl",
    text: include_str!("segments.wgsl"),
    args: &[
        "n",
        "first",
        "step",
        "segments",
        "first_segment",
        "tile",
        "limit",
        "room",
        "joins",
        "skip_bounds",
        "skip_count",
        "groups",
        "together",
        "take",
    ],
    bindings: &[
        Extra { name: "bounds", access: "read", ty: WORDS, when: None },
        Extra { name: "count_in", access: "read", ty: WORDS, when: Some("counted") },
        Extra { name: "list", access: "read_write", ty: "array<atomic<u32>>", when: Some("lists") },
    ],
};

/// P05, tiles of long segments.
pub const SEGMENTS_TILES: Template = Template {
    args: &["first", "step", "segments", "first_segment", "room", "groups"],
    bindings: &[
        Extra { name: "list", access: "read", ty: WORDS, when: None },
        Extra { name: "partials_out", access: "read_write", ty: "array<Acc>", when: None },
    ],
    ..SEGMENTS_SHORT
};

/// P05, the nodes of long segments' tiles.
pub const SEGMENTS_JOIN: Template = Template {
    args: &["segments", "first_segment", "room", "joins", "most", "groups"],
    bindings: &[Extra { name: "list", access: "read", ty: WORDS, when: None }],
    ..SEGMENTS_SHORT
};

/// P05 by key: where runs begin.
pub const BY_KEY_HEADS: Template = Template {
    name: "by_key.wgsl",
    text: include_str!("by_key.wgsl"),
    args: &["n", "blocks", "infos", "pitch"],
    bindings: &[
        Extra { name: "words", access: "read_write", ty: PAIRS, when: None },
        Extra { name: "marks", access: "read_write", ty: WORDS, when: None },
        Extra { name: "list", access: "read_write", ty: WORDS, when: Some("lists") },
    ],
};

/// P05 by key: tiles of runs.
pub const BY_KEY: Template = Template {
    args: &["n", "tiles", "infos", "pitch", "tile", "joins", "turns"],
    bindings: &[
        Extra { name: "words", access: "read", ty: PAIRS, when: None },
        Extra { name: "folds", access: "read", ty: WORDS, when: None },
        Extra { name: "list", access: "read_write", ty: "array<atomic<u32>>", when: Some("lists") },
    ],
    ..BY_KEY_HEADS
};

/// P04: tiles of elements that are kept or parted.
pub const SELECT: Template = Template {
    name: "select.wgsl",
    text: include_str!("select.wgsl"),
    args: &["n", "tiles", "blocks", "epoch", "patience", "window", "ends"],
    bindings: &[
        Extra { name: "tickets", access: "read_write", ty: "array<atomic<u32>>", when: None },
        Extra { name: "status", access: "read_write", ty: "array<atomic<u32>>", when: Some("narrow_status") },
        Extra { name: "status", access: "read_write", ty: "array<atomic<u64>>", when: Some("wide_status") },
    ],
};

/// P13, image filters; the bits of 25 weights follow the other parameters, those of a 3x3 window first.
pub const FILTER: Template = Template {
    name: "filter.wgsl",
    text: include_str!("filter.wgsl"),
    args: &[
        "width",
        "height",
        "pitch",
        "groups",
        "rows",
        "first_out",
        "end_out",
        "first_row",
        "risk",
        "w0",
        "w1",
        "w2",
        "w3",
        "w4",
        "w5",
        "w6",
        "w7",
        "w8",
        "w9",
        "w10",
        "w11",
        "w12",
        "w13",
        "w14",
        "w15",
        "w16",
        "w17",
        "w18",
        "w19",
        "w20",
        "w21",
        "w22",
        "w23",
        "w24",
    ],
    bindings: &[],
};

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Template = Template {
        name: "small.wgsl",
        text: "{% for r in range(rows) %}
let x{{ r }} = {{ r * 2 }}u;
{% endfor %}
",
        args: &[],
        bindings: &[],
    };

    #[test]
    fn holes_are_filled_and_lines_repeated() {
        let text = expand(&SMALL, &BTreeMap::from([("rows", 3)])).expect("expands");
        assert_eq!(text, "let x0 = 0u;\nlet x1 = 2u;\nlet x2 = 4u;\n");
    }

    #[test]
    fn a_hole_without_a_value_is_an_error() {
        let error = expand(&SMALL, &BTreeMap::new()).expect_err("no value");
        assert!(error.contains("rows"), "{error}");
    }
}
