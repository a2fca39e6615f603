//! The patterns' kernels: WGSL with holes, and what a host has to know to fill them.
//!
//! A template is WGSL that calls functions which the backend writes in front of it (`load4`, `combine`, `finish`, ...), with
//! Jinja's holes: `{{ rows }}` is a number, `{% for r in range(rows) %}` repeats lines, so that arrays in registers are written out, and
//! `{% if exclusive %}` chooses between variants. Parameters are members of `args`, all `u32`, `base` and `base_high` first.

mod sorts;

pub use sorts::{MERGE, MERGE_SORT, MERGE_SORT_WINDOWS, MERGE_VARIANTS, SEARCH, SEGMENTED_SORT, SORT, SORT_VARIANTS, TOP_K};

use std::collections::BTreeMap;

/// A storage buffer of a template beside those of the task's operands.
#[derive(Clone, Copy, Debug)]
pub struct Extra {
    /// Its variable.
    pub name: &'static str,
    /// `read` or `read_write`.
    pub access: &'static str,
    /// Its type.
    pub ty: &'static str,
    /// The hole that has to be 1 for the buffer to be there.
    pub when: Option<&'static str>,
}

/// A pattern's kernel with holes.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// The file's name.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
    /// The parameters it takes, after `base` and `base_high` and before the operands'.
    pub args: &'static [&'static str],
    /// Its buffers after the operands', in the order of their bindings.
    pub bindings: &'static [Extra],
}

impl Template {
    /// Fills the holes.
    ///
    /// # Errors
    /// The engine's message where a hole has no value or the template does not parse.
    pub fn expand(&self, holes: &BTreeMap<&str, u32>) -> Result<String, String> {
        let mut jinja = minijinja::Environment::new();
        jinja.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
        let syntax = minijinja::syntax::SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        jinja.set_syntax(syntax.map_err(|e| e.to_string())?);
        let context: BTreeMap<&str, minijinja::Value> = holes.iter().map(|(&k, &v)| (k, v.into())).collect();
        let context = minijinja::Value::from(context);
        for (name, part) in PARTS {
            jinja.add_template(name, part).map_err(|e| format!("{e:#}"))?;
        }
        jinja.render_named_str(self.name, self.text, context).map_err(|e| format!("{e:#}"))
    }
}

/// Parts that templates include.
const PARTS: [(&str, &str); 21] = [
    ("element_at.wgsl", include_str!("element_at.wgsl")),
    ("filter_careful.wgsl", include_str!("filter_careful.wgsl")),
    ("lanes.wgsl", include_str!("lanes.wgsl")),
    ("look_back.wgsl", include_str!("look_back.wgsl")),
    ("look_back_groups.wgsl", include_str!("look_back_groups.wgsl")),
    ("look_back_served.wgsl", include_str!("look_back_served.wgsl")),
    ("median.wgsl", include_str!("median.wgsl")),
    ("merge_narrow.wgsl", include_str!("merge_narrow.wgsl")),
    ("merge_part.wgsl", include_str!("merge_part.wgsl")),
    ("order.wgsl", include_str!("order.wgsl")),
    ("reduce_subgroups.wgsl", include_str!("reduce_subgroups.wgsl")),
    ("scan_help.wgsl", include_str!("scan_help.wgsl")),
    ("scan_lines.wgsl", include_str!("scan_lines.wgsl")),
    ("scan_nodes.wgsl", include_str!("scan_nodes.wgsl")),
    ("scan_totals.wgsl", include_str!("scan_totals.wgsl")),
    ("scan_walk.wgsl", include_str!("scan_walk.wgsl")),
    ("sort_key.wgsl", include_str!("sort_key.wgsl")),
    ("sort_rank.wgsl", include_str!("sort_rank.wgsl")),
    ("sort_tile.wgsl", include_str!("sort_tile.wgsl")),
    ("transpose_turn.wgsl", include_str!("transpose_turn.wgsl")),
    ("transpose_units.wgsl", include_str!("transpose_units.wgsl")),
];

/// P01.
pub const MAP: Template = Template { name: "map.wgsl", text: include_str!("map.wgsl"), args: &["n"], bindings: &[] };

/// P02, a line cut into tiles of a workgroup each.
pub const REDUCE: Template =
    Template { name: "reduce.wgsl", text: include_str!("reduce.wgsl"), args: &["n", "tiles", "passes", "blocks", "first"], bindings: &[] };

/// P02, many short rows.
pub const REDUCE_ROWS: Template = Template { args: &["n", "lines", "lanes"], ..REDUCE };

/// P02, columns.
pub const REDUCE_COLS: Template = Template { args: &["n", "inner", "columns", "part", "parts", "first", "pitch"], ..REDUCE };

/// P02, the rungs of the ladder: a tile to a workgroup.
pub const REDUCE_VARIANTS: Template =
    Template { name: "reduce_variants.wgsl", text: include_str!("reduce_variants.wgsl"), args: &["n", "blocks", "first"], bindings: &[] };

/// P02, the rung that folds the array in half.
pub const REDUCE_FOLD: Template = Template { args: &["n", "half"], ..REDUCE_VARIANTS };

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

/// P03, the textbooks' algorithms: a tile to a workgroup.
pub const SCAN_VARIANTS: Template = Template {
    name: "scan_variants.wgsl",
    text: include_str!("scan_variants.wgsl"),
    args: &["n", "blocks", "first", "room"],
    bindings: &[Extra { name: "folds", access: "read", ty: "array<Acc>", when: Some("folded") }],
};

/// P09, by index.
pub const GATHER: Template = Template {
    name: "gather.wgsl",
    text: include_str!("gather.wgsl"),
    args: &["n", "skip_out", "skip_indices", "skip_values", "values", "first", "len", "zeros"],
    bindings: &[
        Extra { name: "out", access: "read_write", ty: WORDS, when: None },
        Extra { name: "indices", access: "read", ty: WORDS, when: None },
        Extra { name: "values", access: "read", ty: WORDS, when: None },
    ],
};

/// P09, to indices.
pub const SCATTER: Template = Template {
    name: "scatter.wgsl",
    text: include_str!("scatter.wgsl"),
    args: &["n", "skip_out", "skip_indices", "skip_values", "targets", "first", "len"],
    bindings: &[
        Extra { name: "out", access: "read_write", ty: WORDS, when: Some("plain") },
        Extra { name: "out", access: "read_write", ty: "array<atomic<u32>>", when: Some("atomic") },
        Extra { name: "out", access: "read_write", ty: "array<atomic<i32>>", when: Some("is_signed") },
        Extra { name: "indices", access: "read", ty: WORDS, when: None },
        Extra { name: "values", access: "read", ty: WORDS, when: Some("elements") },
    ],
};

/// P09, to indices that an operator gives with the values.
pub const SCATTER_FROM: Template = Template {
    args: &["n", "skip_out", "first", "len"],
    bindings: &[
        Extra { name: "out", access: "read_write", ty: WORDS, when: Some("plain") },
        Extra { name: "out", access: "read_write", ty: "array<atomic<u32>>", when: Some("atomic") },
        Extra { name: "out", access: "read_write", ty: "array<atomic<i32>>", when: Some("is_signed") },
    ],
    ..SCATTER
};

/// P09, by shape: any axes. The lengths, source steps and destination steps of six axes follow the other parameters.
pub const LAYOUT: Template = Template {
    name: "layout.wgsl",
    text: include_str!("layout.wgsl"),
    args: &[
        "n",
        "skip_from",
        "skip_to",
        "n0",
        "from0",
        "to0",
        "n1",
        "from1",
        "to1",
        "n2",
        "from2",
        "to2",
        "n3",
        "from3",
        "to3",
        "n4",
        "from4",
        "to4",
        "n5",
        "from5",
        "to5",
    ],
    bindings: &[
        Extra { name: "to", access: "read_write", ty: WORDS, when: Some("plain") },
        Extra { name: "to", access: "read_write", ty: QUADS, when: Some("quads") },
        Extra { name: "to", access: "read_write", ty: "array<atomic<u32>>", when: Some("atomic") },
        Extra { name: "from_", access: "read", ty: QUADS, when: Some("quads") },
        Extra { name: "from_", access: "read", ty: WORDS, when: Some("words") },
    ],
};

/// P09, by shape: planes in tiles, and up to four axes of a batch.
pub const TRANSPOSE: Template = Template {
    name: "transpose.wgsl",
    text: include_str!("transpose.wgsl"),
    args: &[
        "blocks",
        "skip_from",
        "skip_to",
        "rows",
        "columns",
        "from_pitch",
        "to_pitch",
        "n0",
        "from0",
        "to0",
        "n1",
        "from1",
        "to1",
        "n2",
        "from2",
        "to2",
        "n3",
        "from3",
        "to3",
    ],
    bindings: &[
        Extra { name: "to", access: "read_write", ty: WORDS, when: Some("words") },
        Extra { name: "to", access: "read_write", ty: "array<vec2<u32>>", when: Some("pairs") },
        Extra { name: "to", access: "read_write", ty: "array<vec4<u32>>", when: Some("quads") },
        Extra { name: "from_", access: "read", ty: WORDS, when: Some("words") },
        Extra { name: "from_", access: "read", ty: "array<vec2<u32>>", when: Some("pairs") },
        Extra { name: "from_", access: "read", ty: "array<vec4<u32>>", when: Some("quads") },
    ],
};

/// P09, by shape: squares where they lie.
pub const TRANSPOSE_SQUARE: Template = Template {
    name: "transpose_square.wgsl",
    text: include_str!("transpose_square.wgsl"),
    args: &["blocks", "skip_to", "rows", "columns", "from_pitch", "to_pitch", "across", "pairs"],
    bindings: &[
        Extra { name: "x", access: "read_write", ty: WORDS, when: Some("words") },
        Extra { name: "x", access: "read_write", ty: PAIRS, when: Some("pairs") },
        Extra { name: "x", access: "read_write", ty: QUADS, when: Some("quads") },
        Extra { name: "x", access: "read_write", ty: "array<atomic<u32>>", when: Some("atomic") },
    ],
};

/// P09, by shape: tiles of square grids that change places.
pub const TRANSPOSE_TILES: Template = Template {
    name: "transpose_tiles.wgsl",
    text: include_str!("transpose_tiles.wgsl"),
    args: &["blocks", "skip", "side", "pitch", "width", "step", "down", "tile", "pairs", "each"],
    bindings: &[
        Extra { name: "x", access: "read_write", ty: WORDS, when: Some("words") },
        Extra { name: "x", access: "read_write", ty: QUADS, when: Some("quads") },
        Extra { name: "x", access: "read_write", ty: "array<atomic<u32>>", when: Some("atomic") },
    ],
};

/// What bindings of raw bits are.
const WORDS: &str = "array<u32>";
/// Those of eight bytes.
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

/// P06, the rungs of the ladder.
pub const HISTOGRAM_VARIANTS: Template = Template {
    name: "histogram_variants.wgsl",
    text: include_str!("histogram_variants.wgsl"),
    args: &["n", "groups", "first", "bins", "skip_out"],
    bindings: &[
        Extra { name: "out", access: "read_write", ty: "array<atomic<u32>>", when: None },
        Extra { name: "cells", access: "read_write", ty: "array<atomic<u32>>", when: Some("in_memory") },
    ],
};

/// P25: conditions as bits.
pub const BALLOT: Template = Template {
    name: "groups.wgsl",
    text: include_str!("groups.wgsl"),
    args: &["n", "skip_out"],
    bindings: &[Extra { name: "out", access: "read_write", ty: WORDS, when: None }],
};

/// P25: elements of a group with equal keys.
pub const PEERS: Template = Template {
    args: &["n", "width", "per", "skip_out", "skip_counts"],
    bindings: &[
        Extra { name: "out", access: "read_write", ty: WORDS, when: None },
        Extra { name: "counts", access: "read_write", ty: WORDS, when: Some("counted") },
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
        let text = SMALL.expand(&BTreeMap::from([("rows", 3)])).expect("expands");
        assert_eq!(text, "let x0 = 0u;\nlet x1 = 2u;\nlet x2 = 4u;\n");
    }

    #[test]
    fn a_hole_without_a_value_is_an_error() {
        let error = SMALL.expand(&BTreeMap::new()).expect_err("no value");
        assert!(error.contains("rows"), "{error}");
    }
}
