//! Every tree pattern's texts, of every element type, operator and form: as in `texts`.

use super::texts::{NUMERICS, SHARED, accept, accept_wide, same, signature};
use crate::patterns::accumulator::Accumulator;
use crate::patterns::operands::{LeafKind, Signature};
use crate::patterns::program::{Operators, Program, Sink, Source};
use crate::patterns::reduce::{COLS, Form, ROWS, Shape, TILES, form_holes};
use crate::patterns::scan::{self, Step};
use isowarp_core::caps::Numerics;
use isowarp_core::element::{DType, Element, Int, Num, Scalar, Ty};
use isowarp_core::ir::{self, Expr, Func, Param};
use isowarp_core::ops::{And, Combine, Max, Min, Op, Or, Product, Sum, Xor};
use isowarp_core::patterns::{Lines, ScanKind, ScanTask};
use std::ops::{BitAnd, BitOr, BitXor};
use std::sync::Arc;

/// A tree pattern's operators: loading, combining, finishing.
pub(super) struct Tree {
    pub(super) load: Arc<Func>,
    pub(super) combine: Arc<Func>,
    pub(super) finish: Arc<Func>,
    pub(super) dtype: DType,
}

pub(super) fn tree<T: Scalar + Element<Reg = T>>(op: impl Combine<T>) -> Tree {
    let combine = ir::trace(|(a, b): (Expr<T>, Expr<T>)| op.combine(a, b)).expect("operator");
    let one = |params| Arc::new(same(T::TY, params));
    Tree { load: one(vec![Param::Value(T::TY)]), combine: Arc::new(combine), finish: one(vec![Param::Value(T::TY)]), dtype: T::DTYPE }
}

fn segmented<T: Scalar + Element<Reg = T> + Num>(op: impl Combine<T>) -> Tree {
    type Pair<T> = (Expr<u32>, Expr<T>);
    let load = ir::trace(|v: Expr<T>| (v.eq(v).cast::<u32>(), v)).expect("operator");
    let combine = ir::trace(|(a, b): (Pair<T>, Pair<T>)| (a.0 | b.0, ir::select(b.0.ne(0), b.1, op.combine(a.1, b.1)))).expect("operator");
    let finish = ir::trace(|(_, v): Pair<T>| v).expect("operator");
    Tree { load: Arc::new(load), combine: Arc::new(combine), finish: Arc::new(finish), dtype: T::DTYPE }
}

pub(super) fn trees() -> Vec<Tree> {
    fn of<T: Scalar + Element<Reg = T> + Num>() -> Vec<Tree> {
        vec![tree::<T>(Sum), tree::<T>(Product), tree::<T>(Min), tree::<T>(Max), segmented::<T>(Sum)]
    }
    fn bits<T: Scalar + Element<Reg = T> + Int>() -> Vec<Tree>
    where
        Expr<T>: BitAnd<Output = Expr<T>> + BitOr<Output = Expr<T>> + BitXor<Output = Expr<T>>,
    {
        vec![tree::<T>(And), tree::<T>(Or), tree::<T>(Xor)]
    }
    let numbers = [of::<f32>(), of::<i32>(), of::<u32>(), of::<f64>(), of::<i64>(), of::<u64>()];
    let words = [bits::<i32>(), bits::<u32>(), bits::<i64>(), bits::<u64>()];
    let mut all: Vec<Tree> = numbers.into_iter().chain(words).flatten().collect();
    // Narrow elements widen as they are loaded, and are narrowed as they are stored.
    all.push(Tree { dtype: DType::F16, ..tree::<f32>(Sum) });
    all.push(Tree { dtype: DType::U8, ..tree::<u32>(Sum) });
    all.push(Tree { dtype: DType::U8, ..tree::<u32>(Max) });
    all.push(tree::<f32>(Op::associative(0.0, |a: Expr<f32>, b: Expr<f32>| a.max(b) + (-(a - b).abs()).exp().ln_1p())));
    // Four wide parts: the largest accumulator that the patterns make.
    type Four = (Expr<f64>, Expr<f64>, Expr<u64>, Expr<bool>);
    let load = ir::trace(|v: Expr<f64>| (v, v + 1.0, v.bitcast::<u64>(), v.lt(0.0))).expect("operator");
    let combine = ir::trace(|(a, b): (Four, Four)| (a.0 + b.0, a.1.max(b.1), a.2 ^ b.2, a.3 | b.3)).expect("operator");
    let finish = ir::trace(|(a, _, _, _): Four| a).expect("operator");
    all.push(Tree { load: Arc::new(load), combine: Arc::new(combine), finish: Arc::new(finish), dtype: DType::F64 });
    all
}

/// [`trees`], computed both ways.
pub(super) fn trees_both_ways() -> impl Iterator<Item = (Tree, Numerics)> {
    NUMERICS.into_iter().flat_map(|numerics| trees().into_iter().map(move |tree| (tree, numerics)))
}

/// Accumulators of two parts that become two results: an extreme with its index, and both extremes.
fn pairs() -> Vec<Tree> {
    fn of<T: Scalar + Element<Reg = T> + Num>() -> [Tree; 2] {
        type Pair<T> = (Expr<T>, Expr<u32>);
        type Ends<T> = (Expr<T>, Expr<T>);
        let (value, index) = (Param::Value(T::TY), Param::Index(Ty::U32));
        let load = ir::pack(vec![value, index], || <Pair<T> as ir::Traced>::params(0)).expect("operator");
        let combine = ir::trace(|(a, b): (Pair<T>, Pair<T>)| {
            let left = a.0.lt(b.0) | (a.0.eq(b.0) & a.1.lt(b.1));
            (ir::select(left, a.0, b.0), ir::select(left, a.1, b.1))
        });
        let finish = ir::trace(|p: Pair<T>| p).expect("operator");
        let extreme =
            Tree { load: Arc::new(load), combine: Arc::new(combine.expect("operator")), finish: Arc::new(finish), dtype: T::DTYPE };
        let load = ir::trace(|x: Expr<T>| (x, x)).expect("operator");
        let combine = ir::trace(|(a, b): (Ends<T>, Ends<T>)| (a.0.min(b.0), a.1.max(b.1))).expect("operator");
        let finish = ir::trace(|p: Ends<T>| p).expect("operator");
        [extreme, Tree { load: Arc::new(load), combine: Arc::new(combine), finish: Arc::new(finish), dtype: T::DTYPE }]
    }
    [of::<f32>(), of::<i32>(), of::<u32>(), of::<f64>(), of::<i64>(), of::<u64>()].into_iter().flatten().collect()
}

#[test]
fn reductions_of_every_type_operator_and_form() {
    for t in trees().into_iter().chain(pairs()) {
        let acc = Accumulator::new(t.combine.result_types());
        let shape = Shape::of(acc.stride()).expect("small enough");
        let (leaves, none) = (Source::Leaves(&t.load), signature(&[], &[]));
        // The second result of an extreme is its index.
        let index = t.load.params.get(1).copied();
        let outs = |form| match t.finish.results.len() {
            1 => vec![(t.dtype, form)],
            _ => vec![(t.dtype, form), (if index.is_some() { DType::U32 } else { t.dtype }, form)],
        };
        let of = |leaf: &[(DType, usize)], outs: &[(DType, usize)]| {
            let mut s = signature(leaf, outs);
            s.leaves.extend(index.filter(|_| !leaf.is_empty()).map(|p| LeafKind::Index(p.ty())));
            s
        };
        let direct = of(&[(t.dtype, 0)], &outs(1));
        let sources = of(&[(t.dtype, 1)], &[]);
        let results = of(&[], &outs(1));
        let ends = [
            (leaves, Sink::Outs(&t.finish), &direct),
            (leaves, Sink::Results, &sources),
            (Source::Partials, Sink::Results, &none),
            (Source::Partials, Sink::Outs(&t.finish), &results),
        ];
        let forms = [(TILES, false), (ROWS, false), (COLS, false), (TILES, true), (ROWS, true)];
        let forms = forms.into_iter().filter(|(_, subgroups)| !subgroups || acc.shuffles());
        for ((form, subgroups), shape) in forms.flat_map(|form| [shape, shape.rolled()].map(|shape| (form, shape))) {
            for ((source, sink, signature), numerics) in ends.into_iter().flat_map(|end| NUMERICS.map(|n| (end, n))) {
                let Form { template, entry } = form;
                let holes = form_holes(form, shape, subgroups);
                let operators = Operators::Tree { source, combine: &t.combine, sink };
                let program = Program { template, entry, constants: &holes, operators, signature, numerics, first: false };
                let shared = accept(&program);
                assert!(shared <= SHARED, "{entry}: {shared} bytes of shared memory");
            }
        }
    }
}

#[test]
fn scans_of_every_type_operator_and_form() {
    for t in trees() {
        let acc = Accumulator::new(t.combine.result_types());
        let rows = scan::rows(acc.stride()).expect("small enough");
        for kind in [ScanKind::Inclusive, ScanKind::Exclusive { first: vec![0; t.combine.results.len()] }] {
            let (load, combine, finish) = (Arc::clone(&t.load), Arc::clone(&t.combine), Arc::clone(&t.finish));
            let mut task = ScanTask { load, combine, finish, lines: Lines::one(1), kind, numerics: Numerics::Strict };
            let mut steps = vec![
                Step::Totals,
                Step::Fold,
                Step::Apply { folded: false },
                Step::Apply { folded: true },
                Step::Rows,
                Step::Columns,
                Step::Accumulators,
            ];
            if acc.stride() <= 8 {
                steps.extend(
                    [(false, false), (false, true), (true, false), (true, true)].map(|(wide, served)| Step::Single { wide, served }),
                );
            }
            for step in steps {
                for (strided, subgroups) in [(false, false), (false, true), (true, false), (true, true)] {
                    if strided && matches!(step, Step::Rows | Step::Single { .. }) || subgroups && !acc.shuffles() {
                        continue;
                    }
                    // The arithmetic of operators depends neither on how elements are reached nor on where it stands.
                    task.numerics = if strided { Numerics::Fast } else { Numerics::Strict };
                    let signature = scan_signature(t.dtype, step, strided);
                    for look_back_threads in [256, 1024] {
                        let form = scan::Form { rows, strided, subgroups, rolled: strided, group: 64, look_back_threads };
                        let holes = scan::holes(&task, step, form);
                        let shared = accept_wide(&scan::program(&task, step, &signature, &holes), look_back_threads);
                        let limit = if matches!(step, Step::Single { .. }) { 2 * SHARED } else { SHARED };
                        assert!(shared <= limit, "{shared} bytes of shared memory");
                        if !matches!(step, Step::Single { served: false, .. }) {
                            break;
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn scan_signature(dtype: DType, step: Step, strided: bool) -> Signature {
    let form = usize::from(strided);
    match step {
        Step::Totals => signature(&[(dtype, form)], &[]),
        Step::Fold | Step::Accumulators => signature(&[], &[]),
        _ => signature(&[(dtype, form)], &[(dtype, form)]),
    }
}
