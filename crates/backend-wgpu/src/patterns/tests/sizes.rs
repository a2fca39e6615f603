//! Amount of code that a driver has to compile: the SPIR-V instructions of kernels with every call inlined, as drivers do.

use super::texts::{BITS, GUARDED, NATIVE, SEEDED, map_of, planned, signature};
use super::trees::{scan_signature, tree};
use crate::patterns::program::{Operators, Program, Sink, Source};
use crate::patterns::reduce::{Form, ROWS, Shape, TILES, form_holes};
use crate::patterns::scan::{self, Step};
use crate::patterns::segmented_sort::{self, Short};
use crate::patterns::{Dialect, merge_sort, select, sort};
use crate::seal::{self, SealOptions, Zeroes};
use isowarp_core::caps::Numerics;
use isowarp_core::element::{DType, Ty};
use isowarp_core::ir::{self, Expr, Param, Traced as _};
use isowarp_core::launch::kernels::{GATHER, LAYOUT, SCATTER, SWAP_SQUARE, TRANSPOSE, TRANSPOSE_SQUARE, TRANSPOSE_TILES};
use isowarp_core::ops::Sum;
use isowarp_core::patterns::layout::plan::plane_choices;
use isowarp_core::patterns::{GatherTask, Lines, MapTask, ScanKind, ScanTask, ScatterOp, ScatterTask, SelectKind, SelectTask, SortPayload};
use std::collections::HashMap;
use std::sync::Arc;

/// The instructions of an entry point, those of the functions that it calls counted at every call.
fn inlined(words: &[u32]) -> usize {
    const FUNCTION: u16 = 54;
    const CALL: u16 = 57;
    // Instructions that inlining takes away: functions, parameters, calls, labels, returns.
    const FRAME: [u16; 7] = [FUNCTION, 55, 56, CALL, 248, 253, 254];
    let mut functions: HashMap<u32, (usize, Vec<u32>)> = HashMap::new();
    let mut current = 0;
    // naga writes callees first and the entry point last.
    for i in seal::instructions(words) {
        match i.opcode {
            FUNCTION => current = i.operands[1],
            CALL => functions.entry(current).or_default().1.push(i.operands[2]),
            _ => {}
        }
        functions.entry(current).or_default().0 += usize::from(!FRAME.contains(&i.opcode));
    }
    fn total(functions: &HashMap<u32, (usize, Vec<u32>)>, of: u32) -> usize {
        let (own, calls) = &functions[&of];
        own + calls.iter().map(|&f| total(functions, f)).sum::<usize>()
    }
    total(&functions, current)
}

fn size(program: &Program<'_>) -> usize {
    size_in(NATIVE, program)
}

fn size_in(dialect: Dialect, program: &Program<'_>) -> usize {
    let text = program.text(dialect).expect("text");
    let features = wgpu::Features::all();
    let parsed = seal::parse(program.entry, &text, seal::capabilities(features)).expect("valid");
    inlined(&parsed.seal(program.entry, &SealOptions { features, zeroes: Zeroes::Nobody, ..SealOptions::default() }).expect("written"))
}

/// Sizes of f32 sums: tiles and short rows; then the steps of a scan.
fn sizes(subgroups: bool, exclusive: bool) -> [usize; 10] {
    let t = tree::<f32>(Sum);
    let direct = signature(&[(DType::F32, 0)], &[(DType::F32, 1)]);
    let reduction = |form: Form| {
        let holes = form_holes(form, Shape::of(4).expect("small"), subgroups);
        let operators = Operators::Tree { source: Source::Leaves(&t.load), combine: &t.combine, sink: Sink::Outs(&t.finish) };
        let Form { template, entry } = form;
        let numerics = Numerics::Strict;
        size(&Program { template, entry, constants: &holes, operators, signature: &direct, numerics, first: false })
    };
    let kind = if exclusive { ScanKind::Exclusive { first: vec![0] } } else { ScanKind::Inclusive };
    let (load, combine, finish) = (Arc::clone(&t.load), Arc::clone(&t.combine), Arc::clone(&t.finish));
    let task = ScanTask { load, combine, finish, lines: Lines::one(1), kind, numerics: Numerics::Strict };
    let step = |step: Step| {
        let signature = scan_signature(DType::F32, step, false);
        let holes =
            scan::holes(&task, step, scan::Form { rows: 8, strided: false, subgroups, rolled: false, group: 64, look_back_threads: 256 });
        size(&scan::program(&task, step, &signature, &holes))
    };
    [
        reduction(TILES),
        reduction(ROWS),
        step(Step::Single { wide: true, served: false }),
        step(Step::Single { wide: false, served: false }),
        step(Step::Single { wide: true, served: true }),
        step(Step::Single { wide: false, served: true }),
        step(Step::Totals),
        step(Step::Fold),
        step(Step::Apply { folded: true }),
        step(Step::Rows),
    ]
}

/// Names, and what they may grow to; the one-launch scan had 6239 when everything in it was written out.
const LIMITS: [(&str, usize); 10] = [
    ("reduce", 1700),
    ("reduce_rows", 450),
    ("scan", 3900),
    ("scan, 32-bit status", 4000),
    ("scan, served", 3900),
    ("scan, served, 32-bit status", 4000),
    ("scan_totals", 1200),
    ("scan_fold", 350),
    ("scan, folded", 3050),
    ("scan_rows", 900),
];

#[test]
fn kernels_stay_small_enough_to_compile_quickly() {
    for (subgroups, exclusive) in [(false, false), (false, true), (true, false), (true, true)] {
        for ((name, limit), size) in LIMITS.into_iter().zip(sizes(subgroups, exclusive)) {
            let form = [(subgroups, ", subgroups"), (exclusive, ", exclusive")].map(|(on, text)| if on { text } else { "" }).concat();
            println!("{name}{form}: {size}");
            assert!(size <= limit, "{name}{form}: {size} instructions");
        }
    }
}

/// Maps over a guarded `fma`, and what they may grow to; with an operator for each element, and one more for those at the end, the sum of a
/// product had 6671 and the quotient 8499.
#[test]
fn a_map_has_its_operator_and_each_slow_way_once() {
    type F = Expr<f32>;
    let operators = [
        ("copy", 300, ir::trace(|x: F| x)),
        ("a * x + y", 950, ir::trace(|(a, x, y): (F, F, F)| a * x + y)),
        ("sine", 600, ir::trace(|x: F| (x * 6.0).sin())),
        ("exponential", 450, ir::trace(|x: F| x.exp())),
        ("quotient of a root", 850, ir::trace(|x: F| (x * x + 1.0).sqrt() / (x + 0.5) - x)),
    ];
    for (name, limit, func) in operators {
        let func = func.expect("operator");
        let leaves = vec![(DType::F32, 0); func.params.len()];
        let task = MapTask { func: Arc::new(func), n: 1, numerics: Numerics::Strict };
        let signature = signature(&leaves, &[(DType::F32, 0)]);
        let size = size_in(GUARDED, &map_of(&task, 1).program(&signature));
        println!("{name}: {size}");
        assert!(size <= limit, "{name}: {size} instructions");
    }
}

/// A hundred nested functions are as long as a few, and what a call more adds is a line.
#[test]
fn operators_of_many_calls_stay_small() {
    type F = Expr<f32>;
    let size = |f: isowarp_core::ir::Func| {
        let task = MapTask { func: Arc::new(f), n: 1, numerics: Numerics::Strict };
        let signature = signature(&[(DType::F32, 0)], &[(DType::F32, 0)]);
        size(&map_of(&task, 2).program(&signature))
    };
    let chain = |n: u32| size(ir::trace(|x: F| (0..n).fold(x, |v, _| v.sin())).expect("operator"));
    let sum = |n: u32| size(ir::trace(|x: F| (0..n).fold(x, |v, k| v + (x * k as f32).cos())).expect("operator"));
    let sizes = [1, 4, 11, 12, 100].map(chain);
    println!("nested sines: {sizes:?}, sums of cosines: {:?}", [12, 100].map(sum));
    assert!(sizes[4] < sizes[1] && sizes[4] < sizes[3] + 8 * 88, "{sizes:?}");
    assert!(sum(100) < sum(12) + 60 * 88);
}

#[test]
fn seeds_add_little_to_divisions_and_roots() {
    let params = || vec![Param::Value(Ty::F32), Param::Value(Ty::F32)];
    let (a, b) = (|| Expr::<f32>::params(0), || Expr::<f32>::params(1));
    let quotient = ir::pack(params(), || a() / b()).expect("operator");
    let root = ir::pack(params(), || a().sqrt() + b()).expect("operator");
    for (name, func) in [("division", quotient), ("root", root)] {
        let task = MapTask { func: Arc::new(func), n: 1, numerics: Numerics::Strict };
        let signature = signature(&[(DType::F32, 0), (DType::F32, 0)], &[(DType::F32, 0)]);
        let map = map_of(&task, 2);
        let program = map.program(&signature);
        let (own, seeded) = (size_in(NATIVE, &program), size_in(SEEDED, &program));
        println!("{name}: {own} with a seed of its own, {seeded} with the adapter's");
        // Four elements and one by itself.
        assert!(seeded <= own + 5 * 10, "{name}: {seeded} instructions, {own} with a seed of its own");
    }
}

/// Kernels that sort, select and move words, and what they may grow to. Sorts stand written out, as real adapters have them.
#[test]
fn sorts_selections_and_moves_stay_small() {
    let none = signature(&[], &[]);
    let sorted = |step, subgroups, digit_bits, payload_bytes| {
        let form = sort::Form {
            items: sort::ITEMS,
            digit_bits,
            subgroups,
            wide: false,
            rolled: false,
            key_bytes: 4,
            payload_bytes,
            indices: false,
            writes_keys: true,
            parts: false,
        };
        let holes = sort::holes(step, form);
        size(&sort::program(step, &none, &holes))
    };
    let of_parts = |key_bytes, payload_bytes, all_bits| {
        let digits = sort::Form {
            items: sort::ITEMS,
            digit_bits: 8,
            subgroups: true,
            wide: false,
            rolled: false,
            key_bytes,
            payload_bytes,
            indices: false,
            writes_keys: true,
            parts: true,
        };
        let holes = segmented_sort::holes(segmented_sort::Step::Short, digits, Short { key_bytes, travels: payload_bytes > 0, all_bits });
        size(&segmented_sort::program(segmented_sort::Step::Short, &none, &holes))
    };
    let selected = |kind: SelectKind, served| {
        type Two = (Expr<u32>, Expr<u32>);
        let func = ir::trace(|x: Expr<u32>| (x & 1u32, x)).expect("operator");
        let store = ir::trace(|x: Expr<u32>| x).expect("operator");
        let combine = match kind.counters() {
            1 => ir::trace(|(a, b): (Expr<u32>, Expr<u32>)| a + b),
            _ => ir::trace(|(a, b): (Two, Two)| (a.0 + b.0, a.1 + b.1)),
        };
        let (func, store, combine) = (Arc::new(func), Arc::new(store), Arc::new(combine.expect("operator")));
        let task = SelectTask { func, store, combine, n: 1, kind, count: DType::U32, numerics: Numerics::Strict };
        let mut outs = vec![(DType::U32, 1); 2];
        outs.extend((kind == SelectKind::Runs).then_some((DType::U32, 1)));
        let signature = signature(&[(DType::U32, 0)], &outs);
        let holes =
            select::holes(&task, select::Form { rows: select::rows(&task), rolled: false, group: select::MOST_GROUP, wide: false, served });
        size(&select::program(&task, &signature, &holes))
    };
    let before = ir::trace(|(a, b): (Expr<u32>, Expr<u32>)| a.lt(b)).expect("operator");
    let ordered = |step, payload| {
        let holes = merge_sort::holes(step, merge_sort::Form { key_bytes: 4, payload, writes_keys: true, rolled: false, windows: false });
        size(&merge_sort::program(step, (&before, DType::U32, Numerics::Strict), &none, &holes))
    };
    let bits = |def, choices: &[(&'static str, u32)]| size(&planned(def, BITS, choices).program(&none));
    let scattered = ScatterTask { n: 1, targets: 1, op: ScatterOp::Sum, positions: false };
    for (name, limit, size) in [
        ("sort_count", 1100, sorted(sort::Step::Count, true, 8, 0)),
        ("sort_scatter, subgroups", 4900, sorted(sort::Step::Scatter { alone: false }, true, 8, 0)),
        ("sort_scatter of pairs, subgroups", 6000, sorted(sort::Step::Scatter { alone: false }, true, 8, 4)),
        ("sort_scatter", 3100, sorted(sort::Step::Scatter { alone: false }, false, 4, 0)),
        ("segmented_short", 4300, of_parts(4, 0, true)),
        ("segmented_short of pairs", 6450, of_parts(4, 4, true)),
        ("segmented_short of wide keys, some bits", 8350, of_parts(8, 0, false)),
        ("sort_by_tile", 2950, ordered(merge_sort::Step::Tiles, SortPayload::Nothing)),
        ("sort_by_tile of pairs", 4700, ordered(merge_sort::Step::Tiles, SortPayload::Values)),
        ("sort_by_cuts", 140, ordered(merge_sort::Step::Cuts, SortPayload::Nothing)),
        ("sort_by_merge", 2500, ordered(merge_sort::Step::Merge { alone: false }, SortPayload::Nothing)),
        ("sort_by_merge of pairs", 3900, ordered(merge_sort::Step::Merge { alone: false }, SortPayload::Values)),
        ("select", 3200, selected(SelectKind::Keep, false)),
        ("select, served", 3450, selected(SelectKind::Keep, true)),
        ("select, runs", 4300, selected(SelectKind::Runs, false)),
        ("select, two ways", 3700, selected(SelectKind::TwoWays, false)),
        ("select, three ways", 5400, selected(SelectKind::ThreeWays, false)),
        ("gather", 400, bits(GATHER.def(), &GatherTask::choices(DType::U32, DType::U32))),
        ("gather of bytes", 480, bits(GATHER.def(), &GatherTask::choices(DType::U8, DType::U64))),
        ("scatter", 120, bits(SCATTER.def(), &scattered.choices(DType::U64, DType::U64))),
        ("copy of six axes", 680, bits(LAYOUT.def(), &[("size", 1), ("rank", 6), ("atomic", 0)])),
        ("transpose", 880, bits(TRANSPOSE.def(), &plane_choices(4, false, 4))),
        ("transpose of bytes", 660, bits(TRANSPOSE.def(), &plane_choices(1, true, 4))),
        ("transpose of squares", 1230, bits(TRANSPOSE_SQUARE.def(), &plane_choices(4, false, 0))),
        ("transpose of small squares", 105, bits(SWAP_SQUARE.def(), &plane_choices(1, false, 0))),
        ("transpose of tiles", 142, bits(TRANSPOSE_TILES.def(), &[("unit", 16)])),
        ("transpose of tiles of bytes", 170, bits(TRANSPOSE_TILES.def(), &[("unit", 1)])),
    ] {
        println!("{name}: {size}");
        assert!(size <= limit, "{name}: {size} instructions");
    }
}
