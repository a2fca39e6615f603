//! Every combination of pattern, element type, operator, variant and form is WGSL that naga accepts and fits WebGPU's default
//! limits; no adapter is needed to see it.

use crate::patterns::Dialect;
use crate::patterns::launcher::{Planned, Shared};
use crate::patterns::operands::{LeafKind, OutKind, Signature, Slot, Unit};
use crate::patterns::program::Program;
use crate::patterns::{merge, merge_sort, segmented_sort, select, sort};
use crate::probe::{Seed, Seeds};
use crate::seal;
use isowarp_core::caps::{FmaKind, Numerics};
use isowarp_core::element::{DType, Scalar, Ty};
use isowarp_core::ir::{self, Expr, Func, Operation, Param};
use isowarp_core::launch::kernels::{Def, FFT, GATHER, MAP, SCATTER_FROM, SCATTER_REDUCE};
use isowarp_core::launch::{self, Choice};
use isowarp_core::patterns::fft::{Arithmetic, plan::Pass};
use isowarp_core::patterns::{
    FftTask, GatherTask, MapTask, ScatterFromTask, ScatterOp, ScatterTask, SearchKind, SelectKind, SelectTask, SortPayload,
};
use std::sync::Arc;

pub(super) const NATIVE: Dialect =
    Dialect { fma: FmaKind::Native, native_fma64: true, native_div64: true, native_sqrt64: true, int64: true, ..Dialect::PLAIN };
pub(super) const SEEDED: Dialect = Dialect { seeds: Seeds { reciprocal: Some(Seed::Close), root: true, byte_root: true }, ..NATIVE };
pub(super) const GUARDED: Dialect = Dialect {
    fma: FmaKind::Guarded,
    seeds: Seeds { reciprocal: Some(Seed::Coarse), root: true, byte_root: true },
    branches: false,
    ..NATIVE
};
const DIALECTS: [Dialect; 4] = [Dialect::PLAIN, SEEDED, Dialect { fma: FmaKind::ViaF64, ..Dialect::PLAIN }, GUARDED];

/// An adapter that gets every operation wrong that has an exact form.
pub(super) fn repaired(dialect: Dialect) -> Dialect {
    let exact = |op: &Operation| isowarp_shaders::snippet(&format!("iw_exact_{op}")).is_some();
    Dialect { repairs: Operation::all().iter().copied().filter(exact).collect(), ..dialect }
}

/// Checks a program's text; returns its bytes of workgroup memory.
#[track_caller]
pub(super) fn accept(program: &Program<'_>) -> u32 {
    accept_wide(program, 256)
}

/// The same for workgroups of up to so many invocations.
#[track_caller]
pub(super) fn accept_wide(program: &Program<'_>, invocations: u32) -> u32 {
    let mut most = 0;
    let mut seen: Vec<String> = Vec::new();
    // The forms for four elements at once, which maps have of every operator.
    let guarded = (program.entry == "map").then(|| repaired(GUARDED));
    for dialect in DIALECTS.into_iter().chain([repaired(Dialect::PLAIN)]).chain(guarded) {
        let text = program.text(dialect).expect("text");
        // Integers are computed alike in all of them.
        if seen.contains(&text) {
            continue;
        }
        let capabilities = seal::capabilities(wgpu::Features::all());
        for (built_in, _) in dialect.exact_of_built_in() {
            assert!(!text.contains(&format!("{built_in}(")), "{built_in}: {text}");
        }
        let parsed = seal::parse(program.entry, &text, capabilities).unwrap_or_else(|e| panic!("{e}\n{:?}\n{text}", program.constants));
        let interface = parsed.interface(program.entry).expect("interface");
        assert_eq!(interface.bindings.len() as u32, program.buffers(), "{text}");
        assert!(interface.bindings.len() <= 8 && interface.params_bytes <= 256);
        assert!(interface.workgroup_size.iter().product::<u32>() <= invocations);
        let options = naga::front::wgsl::Options { parse_doc_comments: false, capabilities };
        let module = naga::front::wgsl::Frontend::new_with_options(options).parse(&text).expect("parsed before");
        let shared = module.global_variables.iter().filter(|(_, v)| v.space == naga::AddressSpace::WorkGroup);
        most = most.max(shared.map(|(_, v)| module.types[v.ty].inner.size(module.to_ctx()).next_multiple_of(16)).sum());
        seen.push(text);
    }
    most
}

/// WebGPU's default workgroup memory.
pub(super) const SHARED: u32 = 16 << 10;

/// A kernel of raw bits.
pub(super) const BITS: (launch::Operators<'_>, Numerics) = (launch::Operators::Nothing, Numerics::Strict);

/// Both ways to compute.
pub(super) const NUMERICS: [Numerics; 2] = [Numerics::Strict, Numerics::Fast];

fn leaf_of(dtype: DType, slot: u8, form: usize) -> (LeafKind, Slot) {
    let unit = match dtype.size_bytes() {
        1 => Unit::Word,
        2 => Unit::Pair,
        _ => Unit::Quad,
    };
    let word = Slot { unit: Unit::Word, writable: false };
    match form {
        0 => (LeafKind::Vector { slot, dtype }, Slot { unit, writable: false }),
        1 => (LeafKind::Strided { slot, dtype }, word),
        2 => (LeafKind::Broadcast { slot, dtype }, word),
        _ => (LeafKind::Strided { slot, dtype }, Slot { unit: Unit::Atomic, writable: true }),
    }
}

fn out_of(dtype: DType, slot: u8, form: usize) -> (OutKind, Slot) {
    let (vector, size) = (form == 0, dtype.size_bytes());
    let unit = match (vector, size) {
        (true, 1) => Unit::Word,
        (true, 2) => Unit::Pair,
        (true, _) => Unit::Quad,
        (false, 1 | 2) => Unit::Atomic,
        _ => Unit::Word,
    };
    (OutKind { slot, dtype, vector, windows: 1, each: 0 }, Slot { unit, writable: true })
}

pub(super) fn signature(leaves: &[(DType, usize)], outs: &[(DType, usize)]) -> Signature {
    let mut s = Signature::default();
    for &(dtype, form) in outs {
        let (out, slot) = out_of(dtype, s.slots.len() as u8, form);
        s.outs.push(out);
        s.slots.push(slot);
    }
    for &(dtype, form) in leaves {
        let (leaf, slot) = leaf_of(dtype, s.slots.len() as u8, form);
        s.leaves.push(leaf);
        s.slots.push(slot);
    }
    s
}

/// Checks a plan's kernel; returns its bytes of workgroup memory.
#[track_caller]
pub(super) fn accept_planned(
    def: &'static Def,
    (operators, numerics): (launch::Operators<'_>, Numerics),
    choices: &[Choice],
    signature: &Signature,
) -> u32 {
    accept(&planned(def, (operators, numerics), choices).program(signature))
}

/// The kernel that [`accept_planned`] checks.
pub(super) fn planned<'a>(def: &'static Def, (operators, numerics): (launch::Operators<'a>, Numerics), choices: &[Choice]) -> Shared<'a> {
    let axes = choices.iter().find_map(|&(name, number)| match name {
        "rank" => Some(number as usize),
        "batch" => Some(1 + number as usize),
        _ => None,
    });
    let planned = Planned { def, operators, room: choices.contains(&("exclusive", 1)), axes: axes.unwrap_or(0) };
    Shared::of(planned, numerics, choices.iter()).expect("a template")
}

pub(super) fn map_of(task: &MapTask, groups: u32) -> Shared<'_> {
    planned(MAP.def(), (launch::Operators::Body(&task.func), task.numerics), &[("groups", groups), ("threads", 256)])
}

#[test]
fn maps_of_every_element_type_and_access() {
    for dtype in DType::ALL {
        let params = vec![Param::Value(dtype.ty())];
        for (leaf, out) in [(0, 0), (1, 1), (2, 0), (3, 1), (0, 1)] {
            if leaf == 3 && dtype.size_bytes() > 2 {
                continue;
            }
            let func = Arc::new(same(dtype.ty(), params.clone()));
            for numerics in NUMERICS {
                let task = MapTask { func: Arc::clone(&func), n: 1, numerics };
                accept(&map_of(&task, 2).program(&signature(&[(dtype, leaf)], &[(dtype, out)])));
            }
        }
    }
}

/// The identity of a type known at run time.
pub(super) fn same(ty: Ty, params: Vec<Param>) -> Func {
    fn of<T: Scalar>(params: Vec<Param>) -> Func {
        ir::pack(params, || <Expr<T> as ir::Traced>::params(0)).expect("identity")
    }
    match ty {
        Ty::Bool => of::<bool>(params),
        Ty::F32 => of::<f32>(params),
        Ty::I32 => of::<i32>(params),
        Ty::U32 => of::<u32>(params),
        Ty::F64 => of::<f64>(params),
        Ty::I64 => of::<i64>(params),
        Ty::U64 => of::<u64>(params),
    }
}

#[test]
fn maps_with_scalars_indices_arrays_and_truth_values() {
    type E<T> = Expr<T>;
    let params =
        vec![Param::Index(Ty::U32), Param::Index(Ty::U64), Param::Array(DType::F16), Param::Value(Ty::F64), Param::Value(Ty::Bool)];
    let func = ir::pack(params, || {
        let (i, j): (E<u32>, E<u64>) = (ir::Traced::params(0), ir::Traced::params(1));
        let (v, b): (E<f64>, E<bool>) = (ir::Traced::params(3), ir::Traced::params(4));
        let x = ir::array_expr::<half::f16>(2).at(i);
        (x.exp() / 3.0, v.sqrt() * v, ir::select(b, j, j + 1), b & i.lt(5))
    })
    .expect("operator");
    let mut s = signature(&[], &[(DType::F16, 1), (DType::F64, 0), (DType::U64, 1), (DType::U32, 0)]);
    s.leaves.extend([LeafKind::Index(Ty::U32), LeafKind::Index(Ty::U64), LeafKind::Value(Ty::F64), LeafKind::Value(Ty::Bool)]);
    // One binding for all of the array, and an array in three windows.
    for (windows, each) in [(1, 0), (3, 1000)] {
        let mut s = s.clone();
        s.leaves.insert(2, LeafKind::Array { slot: 4, dtype: DType::F16, windows, each, twin: None });
        s.slots.extend((0..windows).map(|_| Slot { unit: Unit::Word, writable: false }));
        for numerics in NUMERICS {
            accept(&map_of(&MapTask { func: Arc::new(func.clone()), n: 1, numerics }, 2).program(&s));
        }
    }
}

/// An element's part and values of one to eight words, and the identity on these.
fn selections() -> Vec<(Func, Func, Vec<DType>)> {
    type Four = (Expr<f64>, Expr<u64>, Expr<i64>, Expr<f64>);
    fn one<A: ir::Traced, R: ir::Traced>(f: impl FnOnce(A) -> R) -> Func {
        ir::trace(f).expect("operator")
    }
    let part = |first: Expr<bool>| -> Expr<u32> { ir::select(first, 0, 1) };
    let keep = |x: Expr<u32>| part((x & 1u32).eq(0));
    let wide = |x: Expr<f64>| part(x.gt(0.0));
    vec![
        (one(|x: Expr<u32>| (keep(x), x)), one(|x: Expr<u32>| x), vec![DType::U32]),
        (one(|x: Expr<u32>| (keep(x), x)), one(|x: Expr<u32>| x), vec![DType::U8]),
        (one(|x: Expr<f32>| (part(x.gt(0.0)), x)), one(|x: Expr<f32>| x), vec![DType::F16]),
        (one(|x: Expr<i32>| (part(x.gt(0)), x)), one(|x: Expr<i32>| x), vec![DType::I16]),
        (one(|x: Expr<f64>| (wide(x), x)), one(|x: Expr<f64>| x), vec![DType::F64]),
        (one(|(x, y): (Expr<f64>, Expr<u32>)| (wide(x), x, y)), one(|p: (Expr<f64>, Expr<u32>)| p), vec![DType::F64, DType::U32]),
        (one(|(x, a, b, y): Four| (wide(x), (x, a, b, y))), one(|p: Four| p), vec![DType::F64, DType::U64, DType::I64, DType::F64]),
    ]
}

#[test]
fn selections_of_every_kind_and_width() {
    type Two = (Expr<u32>, Expr<u32>);
    let add = Arc::new(ir::trace(|(a, b): (Expr<u32>, Expr<u32>)| a + b).expect("operator"));
    let add_two = Arc::new(ir::trace(|(a, b): (Two, Two)| (a.0 + b.0, a.1 + b.1)).expect("operator"));
    for (func, store, dtypes) in selections() {
        let (func, store) = (Arc::new(func), Arc::new(store));
        // Runs are of one value.
        let kinds = [SelectKind::Keep, SelectKind::TwoWays, SelectKind::ThreeWays, SelectKind::Runs];
        for kind in kinds.into_iter().take(if dtypes.len() == 1 { 4 } else { 3 }) {
            let mut outs: Vec<(DType, usize)> = dtypes.iter().map(|&d| (d, 1)).collect();
            outs.extend((kind == SelectKind::Runs).then_some((DType::U32, 1)));
            for count in [DType::U32, DType::U64] {
                let combine = Arc::clone(if kind.counters() == 2 { &add_two } else { &add });
                let (func, store) = (Arc::clone(&func), Arc::clone(&store));
                let numerics = if count == DType::U32 { Numerics::Strict } else { Numerics::Fast };
                let task = SelectTask { func, store, combine, n: 1, kind, count, numerics };
                outs.push((count, 1));
                // Four wide values are read from one array, as a kernel binds eight.
                let leaves: Vec<(DType, usize)> = dtypes.iter().take(1).map(|&d| (d, 0)).collect();
                let mut s = signature(&leaves, &outs);
                s.leaves.extend(task.func.params[1..].iter().map(|p| LeafKind::Value(p.ty())));
                outs.pop();
                for (wide, served, rolled) in [(true, false, false), (false, true, true), (false, false, false)] {
                    let form = select::Form { rows: select::rows(&task), rolled, group: select::MOST_GROUP, wide, served };
                    let holes = select::holes(&task, form);
                    let shared = accept(&select::program(&task, &s, &holes));
                    assert!(shared <= SHARED, "{kind:?} of {dtypes:?}: {shared} bytes of shared memory");
                }
            }
        }
    }
}

#[test]
fn selections_write_through_several_windows() {
    let (func, store, _) = selections().swap_remove(0);
    let combine = ir::trace(|(a, b): (Expr<u32>, Expr<u32>)| a + b).expect("operator");
    let (func, store, combine) = (Arc::new(func), Arc::new(store), Arc::new(combine));
    let task = SelectTask { func, store, combine, n: 1, kind: SelectKind::TwoWays, count: DType::U32, numerics: Numerics::Strict };
    let mut s = signature(&[], &[]);
    s.slots.extend([Slot { unit: Unit::Word, writable: true }; 4]);
    s.outs.push(OutKind { slot: 0, dtype: DType::U32, vector: false, windows: 3, each: 1000 });
    s.outs.push(OutKind { slot: 3, dtype: DType::U32, vector: false, windows: 1, each: 0 });
    s.slots.push(Slot { unit: Unit::Quad, writable: false });
    s.leaves.push(LeafKind::Vector { slot: 4, dtype: DType::U32 });
    let holes = select::holes(&task, select::Form { rows: 8, rolled: false, group: select::MOST_GROUP, wide: false, served: false });
    accept(&select::program(&task, &s, &holes));
}

#[test]
fn sorts_of_every_width_and_form() {
    let form = |(subgroups, wide, digit_bits): (bool, bool, u32), rolled, key_bytes, (payload_bytes, indices): (u64, bool), writes_keys| {
        let items = sort::ITEMS;
        sort::Form { items, digit_bits, subgroups, wide, rolled, key_bytes, payload_bytes, indices, writes_keys, parts: false }
    };
    let signature = signature(&[], &[]);
    let check = |step, form| {
        let holes = sort::holes(step, form);
        let shared = accept(&sort::program(step, &signature, &holes));
        assert!(shared <= SHARED, "{shared} bytes of shared memory");
    };
    let ways = [(false, false, 4), (true, false, 8), (true, true, 6)];
    for key_bytes in [1, 2, 4, 8] {
        for way in ways {
            check(sort::Step::Count, form(way, false, key_bytes, (0, false), true));
            for payload in [(0, false), (4, false), (4, true), (8, false)] {
                for (alone, writes_keys) in [(false, true), (true, true), (true, payload.0 == 0)] {
                    check(sort::Step::Scatter { alone }, form(way, key_bytes == 4, key_bytes, payload, writes_keys));
                }
            }
        }
        if key_bytes < 4 {
            check(sort::Step::Pack, form(ways[0], false, key_bytes, (0, false), true));
        }
    }
    for way in ways {
        for (key_bytes, payload) in [(1, (0, false)), (4, (4, true)), (8, (8, false))] {
            let parts = sort::Form { parts: true, ..form(way, true, key_bytes, payload, true) };
            check(sort::Step::Count, parts);
            check(sort::Step::Scatter { alone: false }, parts);
        }
    }
    for key_bytes in [1, 2, 4, 8] {
        use segmented_sort::{Short, Step};
        let kinds = [(Step::Windows, (0, false), true), (Step::Short, (0, false), true), (Step::Short, (4, false), true)];
        for (step, payload, writes_keys) in kinds.into_iter().chain([(Step::Short, (4, true), false)]) {
            for (all_bits, rolled) in [(true, false), (true, true), (false, false)] {
                let of = Short { key_bytes, travels: payload.0 > 0, all_bits };
                let holes = segmented_sort::holes(step, form(ways[0], rolled, key_bytes, payload, writes_keys), of);
                let shared = accept(&segmented_sort::program(step, &signature, &holes));
                assert!(shared <= SHARED, "{shared} bytes of shared memory");
            }
        }
    }
    // Written out, as real adapters have it.
    ways.into_iter().for_each(|way| check(sort::Step::Scatter { alone: false }, form(way, false, 4, (8, false), true)));
}

#[test]
fn merges_of_every_width_and_form() {
    let signature = signature(&[], &[]);
    for key_bytes in [1, 2, 4, 8] {
        for (given, bracketed) in [(0, false), (0, true), (1, false), (2, false)] {
            accept(&merge::merge_program(&merge::co_rank_holes(key_bytes, given, false, bracketed), &signature));
        }
        for kind in [SearchKind::Lower, SearchKind::Upper, SearchKind::Equal] {
            for found in [DType::U32, DType::U64] {
                accept(&merge::search_program(&merge::search_holes(key_bytes, kind, found, false), &signature));
            }
        }
        for payload_bytes in [0, 1, 2, 4, 8] {
            for (writes_keys, alone, rolled) in [(true, true, false), (true, false, false), (false, false, true), (true, false, true)] {
                let writes_keys = writes_keys || payload_bytes == 0;
                for quads in [false, true].into_iter().filter(|quads| !quads || (writes_keys && key_bytes == 4)) {
                    let form = merge::Form { key_bytes, payload_bytes, writes_keys, alone, rolled, lazy: false, quads };
                    let shared = accept(&merge::merge_program(&merge::merge_holes(form), &signature));
                    assert!(shared <= SHARED, "{shared} bytes of shared memory");
                }
            }
        }
    }
}

#[test]
fn merge_sorts_of_every_type_and_form() {
    let signature = signature(&[], &[]);
    let check = |before: &Func, dtype: DType| {
        use merge_sort::Step;
        // Elements that are seen through windows are not one tile.
        for (step, windows) in [
            (Step::Tiles, false),
            (Step::Tiles, true),
            (Step::Cuts, false),
            (Step::Cuts, true),
            (Step::Merge { alone: true }, false),
            (Step::Merge { alone: false }, false),
            (Step::Merge { alone: false }, true),
        ] {
            // Narrow keys are words after the first pass.
            for key_bytes in [dtype.size_bytes(), dtype.size_bytes().max(4)] {
                for payload in [SortPayload::Nothing, SortPayload::Values, SortPayload::Indices] {
                    for (writes_keys, rolled) in [(true, false), (true, true), (false, true)] {
                        let writes_keys = writes_keys || payload == SortPayload::Nothing;
                        let holes = merge_sort::holes(step, merge_sort::Form { key_bytes, payload, writes_keys, rolled, windows });
                        let shared = accept(&merge_sort::program(step, (before, dtype, Numerics::Strict), &signature, &holes));
                        assert!(shared <= SHARED, "{shared} bytes of shared memory");
                    }
                }
            }
        }
    };
    macro_rules! orders {
        ($($dtype:ident $reg:ty, $order:expr;)*) => {$({
            let order: fn(Expr<$reg>, Expr<$reg>) -> Expr<bool> = $order;
            check(&ir::trace(|(a, b)| order(a, b)).expect("operator"), DType::$dtype);
        })*};
    }
    orders! {
        U8 u32, |a, b| (a & 7u32).gt(b & 7u32);
        F16 f32, |a, b| a.abs().lt(b.abs());
        I8 i32, Expr::lt;
        I16 i32, |a, b| (a % 100).lt(b % 100);
        U16 u32, |a, b| (a >> 3).gt(b >> 3);
        U32 u32, Expr::lt;
        I32 i32, |a, b| (a % 100).lt(b % 100);
        F32 f32, |a, b| a.exp().lt(b.exp()) | (b.is_nan() & !a.is_nan());
        U64 u64, |a, b| (a >> 3).gt(b >> 3);
        I64 i64, |a, b| a.abs().lt(b.abs());
        F64 f64, |a, b| a.sqrt().lt(b.sqrt());
    }
}

#[test]
fn moves_of_every_size_and_index() {
    let none = signature(&[], &[]);
    let indices = [DType::U32, DType::I32, DType::U64];
    for dtype in DType::ALL {
        let size = dtype.size_bytes();
        for index in indices {
            accept_planned(GATHER.def(), BITS, &GatherTask::choices(dtype, index), &none);
            let operators = [ScatterOp::Store].into_iter().chain(ScatterOp::COMBINING.into_iter().filter(|_| size >= 4));
            for op in operators.filter(|op| size < 8 || !matches!(op, ScatterOp::Min | ScatterOp::Max)) {
                let task = ScatterTask { n: 1, targets: 1, op, positions: false };
                accept_planned(SCATTER_REDUCE.def(), BITS, &task.choices(dtype, index), &none);
            }
        }
    }
    for index in indices {
        for op in [ScatterOp::Min, ScatterOp::Max] {
            let task = ScatterTask { n: 1, targets: 1, op, positions: true };
            accept_planned(SCATTER_REDUCE.def(), BITS, &task.choices(DType::I32, index), &none);
        }
    }
}

#[test]
fn transforms_of_every_radix() {
    for dtype in [DType::F32, DType::F64] {
        let functions: Vec<_> = Arithmetic::of(dtype).expect("operators").functions().collect();
        for (paired, radices) in [(true, vec![4, 4, 2]), (false, vec![4, 3, 5]), (true, vec![2, 7]), (true, vec![])] {
            let choices = FftTask::choices(dtype, paired, &Pass { before: 1, radices });
            let operators = (launch::Operators::Functions(&functions), Numerics::Strict);
            assert!(accept_planned(FFT.def(), operators, &choices, &signature(&[], &[])) <= SHARED);
        }
        let room = if dtype == DType::F64 { 2048 } else { 4096 };
        for (room, bytes) in
            [((room, false), 32 << 10), ((room + 64, true), (room + 64) / 16 * 17 * if dtype == DType::F64 { 16 } else { 8 })]
        {
            let operators = (launch::Operators::Functions(&functions), Numerics::Strict);
            assert_eq!(accept_planned(FFT.def(), operators, &FftTask::whole(dtype, Some(room)), &signature(&[], &[])), bytes);
        }
    }
}

#[test]
fn scatters_of_what_is_computed() {
    let words = ir::trace(|x: Expr<f32>| ((x * 8.0).cast::<u32>(), x.sin().bitcast::<u32>())).expect("operator");
    let wide = ir::trace(|x: Expr<f64>| (x.cast::<u32>(), (x * x).bitcast::<u64>())).expect("operator");
    for (func, leaf, dtypes) in
        [(words, DType::F32, [DType::U32, DType::I32, DType::F32]), (wide, DType::F64, [DType::U64, DType::I64, DType::F64])]
    {
        let func = Arc::new(func);
        for op in [ScatterOp::Store].into_iter().chain(ScatterOp::COMBINING) {
            for dtype in dtypes.into_iter().filter(|d| d.size_bytes() < 8 || !matches!(op, ScatterOp::Min | ScatterOp::Max)) {
                let task = ScatterFromTask { func: Arc::clone(&func), n: 1, targets: 1, op, numerics: Numerics::Strict };
                let operators = (launch::Operators::Words(&task.func), task.numerics);
                accept_planned(SCATTER_FROM.def(), operators, &task.choices(dtype), &signature(&[(leaf, 0)], &[]));
            }
        }
    }
}
