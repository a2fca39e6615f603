//! Merges and searches of what is computed where it is read.

use super::call::{check_output, check_positions};
use super::{CoRankTask, Count, MergeTask, SearchKind, SearchTask};
use crate::backend::{Backend, Leaf, Out, Run, places};
use crate::buffer::Buffer;
use crate::caps::Numerics;
use crate::element::{DType, Element, Ty};
use crate::error::Result;
use crate::input::{Collector, Input, require};
use crate::ir::graph::{self, Value};
use crate::ir::inline_behind;
use crate::ir::{Func, Param, Traced};
use crate::patterns::before::Neighbours;
use crate::patterns::map::{check_index, collect, trace};
use crate::patterns::select::{word, words};
use crate::patterns::sort::check_sorted_from;
use crate::patterns::{MapTask, ReduceTask, SortOrder, check_aliasing, check_ops};
use std::sync::Arc;

/// Two inputs that are computed where they are read. A task's leaves are those of the first, then those of the second.
#[derive(Clone, Debug)]
pub struct Sides {
    /// The operator of each over its own leaves. Its results are the key and, where values travel, the value; keys and values that are read as they
    /// are come as words.
    pub each: [Arc<Func>; 2],
    /// Strict or fast.
    pub numerics: Numerics,
}

impl Sides {
    /// Returns the number of leaves that are the first input's.
    #[must_use]
    pub fn split(&self) -> usize {
        self.each[0].params.len()
    }

    /// Returns the parameters that all leaves are to an operator over them.
    #[must_use]
    pub fn params(&self) -> Vec<Param> {
        self.each.iter().flat_map(|f| f.params.iter().copied()).collect()
    }

    /// Result `k` of both operators, each over the leaves of both inputs.
    ///
    /// # Errors
    /// [`Error::Op`](crate::Error::Op) for an operator that is malformed.
    pub fn joined(&self, k: usize) -> Result<[Func; 2]> {
        let of = |side: usize| {
            let (f, first) = (&self.each[side], if side == 0 { 0 } else { self.split() as u16 });
            let build = || {
                let args: Vec<Value> = f.params.iter().zip(first..).map(|(&param, at)| argument(param, at)).collect();
                inline_behind(f, &args, first).into_iter().skip(k).take(1).collect()
            };
            graph::trace(self.params(), build)
        };
        Ok([of(0)?, of(1)?])
    }

    /// Evaluates both inputs into arrays of their own: keys of the first and of the second, then values, if there are types for them.
    fn evaluated<B: Run<MapTask>>(
        &self,
        device: &B,
        leaves: &[Leaf<B::Raw>],
        lens: [u64; 2],
        types: &[DType],
    ) -> Result<Vec<Leaf<B::Raw>>> {
        let (a, b) = leaves.split_at(self.split().min(leaves.len()));
        let mut found = [Vec::new(), Vec::new()];
        for ((func, leaves), n) in self.each.iter().zip([a, b]).zip(lens) {
            let mut outs = Vec::with_capacity(types.len());
            for ((arrays, &dtype), ty) in found.iter_mut().zip(types).zip(func.result_types()) {
                let raw = device.allocate_bytes(n * dtype.size_bytes())?;
                arrays.push(Leaf::Array { raw: raw.clone(), dtype, offset: 0, len: n });
                // Elements that are read as they are come as words.
                outs.push(Out { raw, dtype: if ty == dtype.ty() { dtype } else { word(dtype) }, offset: 0 });
            }
            if n > 0 {
                device.run(&MapTask { func: Arc::clone(func), n, numerics: self.numerics }, leaves, &outs)?;
            }
        }
        Ok(found.concat())
    }
}

/// The value of parameter `at`.
pub(super) fn argument(param: Param, at: u16) -> Value {
    graph::with(|g| match param {
        // An array is none of an operator's values.
        Param::Array(_) => g.constant(Ty::U32, 0),
        _ => g.param(at),
    })
}

/// A merge of what is computed, as data. Leaves and operators are those of [`Sides`], the outputs those of [`MergeTask`].
#[derive(Clone, Debug)]
pub struct MergeFromTask {
    /// Merge of the two inputs.
    pub merge: MergeTask,
    /// Keys, and values if they travel.
    pub sides: Sides,
}

impl MergeFromTask {
    /// Merges what is computed from arrays, for backends and inputs that have no kernel that computes where it reads.
    ///
    /// # Errors
    /// As [`MergeCall::run`](super::MergeCall::run) and [`Map::map`](crate::patterns::Map::map).
    pub fn by_arrays<B: Run<MapTask> + Run<MergeTask>>(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let types: Vec<DType> = [self.merge.dtype].into_iter().chain(outs.iter().skip(1).map(|out| out.dtype)).collect();
        let arrays = self.sides.evaluated(device, leaves, [self.merge.m, self.merge.n], &types)?;
        device.run(&self.merge, &arrays, outs)
    }
}

/// Co-ranks of what is computed, as data. The leaves are those of [`Sides`], and behind them the ranks; the output is that of [`CoRankTask`].
#[derive(Clone, Debug)]
pub struct CoRankFromTask {
    /// Co-ranks that are asked for.
    pub co_ranks: CoRankTask,
    /// The keys of both.
    pub sides: Sides,
}

impl CoRankFromTask {
    /// As [`MergeFromTask::by_arrays`].
    ///
    /// # Errors
    /// As [`CoRanksCall::run`](super::CoRanksCall::run) and [`Map::map`](crate::patterns::Map::map).
    pub fn by_arrays<B: Run<MapTask> + Run<CoRankTask>>(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let (sides, ranks) = self.operands(leaves);
        let mut arrays = self.sides.evaluated(device, sides, [self.co_ranks.m, self.co_ranks.n], &[self.co_ranks.dtype])?;
        arrays.extend(ranks.iter().cloned());
        device.run(&self.co_ranks, &arrays, outs)
    }

    /// The leaves of the keys, and the ranks.
    pub fn operands<'a, R>(&self, leaves: &'a [Leaf<R>]) -> (&'a [Leaf<R>], &'a [Leaf<R>]) {
        leaves.split_at((self.sides.split() + self.sides.each[1].params.len()).min(leaves.len()))
    }
}

/// Searches in what is computed, as data: the first input is sorted, the second has the needles. Leaves and operators are those of [`Sides`], the
/// output is that of [`SearchTask`].
#[derive(Clone, Debug)]
pub struct SearchFromTask {
    /// Search that is made.
    pub search: SearchTask,
    /// The sorted keys, and the needles.
    pub sides: Sides,
}

impl SearchFromTask {
    /// As [`MergeFromTask::by_arrays`].
    ///
    /// # Errors
    /// As [`SearchCall::write_to`](super::SearchCall::write_to) and [`Map::map`](crate::patterns::Map::map).
    pub fn by_arrays<B: Run<MapTask> + Run<SearchTask>>(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let mut arrays = self.sides.evaluated(device, leaves, [self.search.n, self.search.needles], &[self.search.dtype])?;
        for needles in arrays.iter_mut().skip(1) {
            if let Leaf::Array { raw, dtype, offset, .. } = needles {
                *needles = Leaf::Elements { raw: raw.clone(), dtype: *dtype, offset: *offset, stride: 1 };
            }
        }
        device.run(&self.search, &arrays, outs)
    }
}

/// An input and its operator, as they were given.
#[derive(Clone)]
pub(super) struct Source<B: Backend> {
    pub(super) c: Collector<B>,
    pub(super) func: Arc<Func>,
    pub(super) n: u64,
}

impl<B: Backend> Source<B> {
    /// Checks an input whose results are stored as these types.
    pub(super) fn new<I: Input<B>, R: Traced>(
        device: &B,
        pattern: &'static str,
        (inputs, f): (I, impl FnOnce(I::Exprs) -> R),
        stored: &[DType],
    ) -> Result<Self> {
        stored.iter().try_for_each(|&dtype| require(device, pattern, dtype))?;
        let c = collect(device, pattern, &inputs)?;
        let (n, func) = (c.len()?, trace(&inputs, &c, f)?);
        check_ops(device, pattern, device.numerics(), &[&func])?;
        check_index(&c, n)?;
        Ok(Self { c, func, n })
    }

    /// One side of a task, whose elements are of these types.
    pub(super) fn side(mut self, stored: &[DType]) -> Result<Side<B>> {
        let func = words(self.func, &mut self.c, 0, &mut stored.to_vec())?;
        Ok(Side(Self { func, ..self }))
    }

    /// Outputs may not overlap what is read; of an input of no elements nothing is.
    pub(super) fn check_aliasing(&self, pattern: &'static str, outs: &[(Out<B::Raw>, u64)]) -> Result<()> {
        check_aliasing(pattern, if self.n == 0 { &[] } else { &self.c.leaves }, self.n, outs, false)
    }
}

/// One input before it meets the other: what is passed on travels as words.
pub(super) struct Side<B: Backend>(Source<B>);

impl<B: Backend> Side<B> {
    /// As [`Source::new`].
    pub(super) fn new<I: Input<B>, R: Traced>(
        device: &B,
        pattern: &'static str,
        input: (I, impl FnOnce(I::Exprs) -> R),
        stored: &[DType],
    ) -> Result<Self> {
        Source::new(device, pattern, input, stored)?.side(stored)
    }

    pub(super) const fn len(&self) -> u64 {
        self.0.n
    }

    /// Fails for the first key that comes before its left neighbour. Waits for the device.
    fn check_sorted(&self, device: &B, what: &'static str, dtype: DType, order: SortOrder) -> Result<()>
    where
        B: Run<ReduceTask> + Run<MapTask>,
    {
        let f = &self.0.func;
        let key = Func::new(f.params.clone(), f.nodes.clone(), f.types.clone(), f.results.iter().take(1).copied().collect());
        let keys = Neighbours::of(self.0.c.clone(), Arc::new(key))?;
        check_sorted_from(device, ("merge", what), keys, dtype, &order.into())
    }
}

fn join<B: Backend>(device: &B, [a, b]: [Side<B>; 2]) -> (Sides, Vec<Leaf<B::Raw>>) {
    (Sides { each: [a.0.func, b.0.func], numerics: device.numerics() }, [a.0.c.leaves, b.0.c.leaves].concat())
}

/// Merges keys, and the values that may travel with them; `checked` says whether to ask first that both inputs are sorted.
pub(super) fn merge<B: Run<MergeFromTask> + Run<ReduceTask> + Run<MapTask>, K: Element, V: Element>(
    device: &B,
    sides: [Side<B>; 2],
    order: SortOrder,
    (keys, values): (&Buffer<B, K>, Option<&Buffer<B, V>>),
    checked: bool,
) -> Result<()> {
    let (m, n) = (sides[0].len(), sides[1].len());
    let total = m + n;
    check_output(device, keys, total)?;
    let mut outs = vec![(keys.out(), total)];
    if let Some(values) = values {
        check_output(device, values, total)?;
        outs.push((values.out(), total));
    }
    sides.iter().try_for_each(|side| side.0.check_aliasing("merge", &outs))?;
    if total == 0 {
        return Ok(());
    }
    if checked {
        sides[0].check_sorted(device, "the first input", K::DTYPE, order)?;
        sides[1].check_sorted(device, "the second input", K::DTYPE, order)?;
    }
    let (sides, leaves) = join(device, sides);
    let merge = MergeTask { dtype: K::DTYPE, order, m, n, pairs: values.is_some() };
    let outs = places(outs);
    device.run(&MergeFromTask { merge, sides }, &leaves, &outs)
}

pub(super) fn co_ranks<B: Run<CoRankFromTask>, K: Element, P: Count>(
    device: &B,
    sides: [Side<B>; 2],
    order: SortOrder,
    ranks: &Buffer<B, P>,
    out: &Buffer<B, P>,
) -> Result<()> {
    require(device, "co_ranks", P::DTYPE)?;
    ranks.check_device(device, "the ranks")?;
    let (m, n) = (sides[0].len(), sides[1].len());
    check_positions::<P>(m + n)?;
    check_output(device, out, ranks.len())?;
    let outs = [(out.out(), ranks.len())];
    sides.iter().try_for_each(|side| side.0.check_aliasing("co_ranks", &outs))?;
    check_aliasing("co_ranks", &[ranks.leaf()], ranks.len(), &outs, false)?;
    if ranks.is_empty() {
        return Ok(());
    }
    let (sides, mut leaves) = join(device, sides);
    leaves.push(ranks.leaf());
    let co_ranks = CoRankTask { dtype: K::DTYPE, order, m, n, ranks: ranks.len() };
    device.run(&CoRankFromTask { co_ranks, sides }, &leaves, &[out.out()])
}

pub(super) fn search<B: Run<SearchFromTask>, K: Element, P: Count>(
    device: &B,
    sides: [Side<B>; 2],
    (kind, order): (SearchKind, SortOrder),
    out: &Buffer<B, P>,
) -> Result<()> {
    require(device, "search", P::DTYPE)?;
    let (n, needles) = (sides[0].len(), sides[1].len());
    check_positions::<P>(n)?;
    check_output(device, out, needles)?;
    let outs = [(out.out(), needles)];
    sides.iter().try_for_each(|side| side.0.check_aliasing("search", &outs))?;
    if needles == 0 {
        return Ok(());
    }
    let (sides, leaves) = join(device, sides);
    let search = SearchTask { dtype: K::DTYPE, order, n, needles, kind };
    device.run(&SearchFromTask { search, sides }, &leaves, &[out.out()])
}
