//! The task of a selection, its checks and its leaves as words.

use super::super::{ReduceTask, check_aliasing, check_ops};
use super::{Count, Map, MapTask};
use crate::backend::{Backend, Leaf, Out, Run, places};
use crate::buffer::Buffer;
use crate::caps::Numerics;
use crate::element::{DType, Element, Ty};
use crate::error::{Error, Result};
use crate::input::{Collector, Outputs, require, scalar};
use crate::ir::graph::{self, Value};
use crate::ir::{self, Expr, Func, Node, Param, Traced as _};
use crate::ops::kept;
use crate::patterns::Lines;
use crate::patterns::map::check_index;
use std::sync::Arc;

/// Placement of the elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum SelectKind {
    /// Elements of part 0, one after the other; the others nowhere.
    Keep,
    /// As [`SelectKind::Keep`], and for each the number of elements from it to the next one that is kept, or to the end.
    Runs,
    /// Elements of part 0, behind them all others.
    TwoWays,
    /// Elements of part 0, elements of part 1, all others.
    ThreeWays,
}

impl SelectKind {
    /// Numbers that a tile hands on: elements of a part each, or elements and the place of the last.
    #[must_use]
    pub const fn counters(self) -> usize {
        match self {
            Self::Keep | Self::TwoWays => 1,
            Self::Runs | Self::ThreeWays => 2,
        }
    }

    /// Whether elements' places depend on the counts, so that these have to be there first.
    #[must_use]
    pub const fn counts_first(self) -> bool {
        matches!(self, Self::TwoWays | Self::ThreeWays)
    }

    /// Elements of the output with the counts.
    #[must_use]
    pub const fn counts(self) -> u64 {
        if matches!(self, Self::ThreeWays) { 2 } else { 1 }
    }
}

/// A selection as data. The outputs are one for each value, then for [`SelectKind::Runs`] the lengths (`u32`), then the counts (`u32` or `u64`).
/// The counts are the numbers of elements of part 0 (and of three ways of part 1).
#[derive(Clone, Debug)]
pub struct SelectTask {
    /// One parameter a leaf; its results are the element's part (a `u32`) and then its values.
    pub func: Arc<Func>,
    /// The identity on the values, whose results are what the outputs store.
    pub store: Arc<Func>,
    /// Adds up what tiles hand on: parameters and results are [`SelectKind::counters`] numbers, twice and once; `u64` where [`SelectTask::wide`].
    pub combine: Arc<Func>,
    /// Elements.
    pub n: u64,
    /// Placement of the elements.
    pub kind: SelectKind,
    /// Type of the counts.
    pub count: DType,
    /// Strict or fast.
    pub numerics: Numerics,
}

impl SelectTask {
    /// The types of the values.
    #[must_use]
    pub fn values(&self) -> Vec<Ty> {
        self.store.result_types()
    }

    /// Whether the elements are too many for 32-bit counters.
    #[must_use]
    pub const fn wide(&self) -> bool {
        self.n > u32::MAX as u64
    }

    /// Writes the counts, where [`SelectKind::counts_first`] says that they have to be there first, for backends that do not count on their way.
    ///
    /// # Errors
    /// As [`Call::run`](crate::call::Call::run).
    pub fn count_first<B: Run<ReduceTask>>(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        match outs.last() {
            Some(counts) if self.kind.counts_first() => count_parts(device, self, leaves, counts),
            _ => Ok(()),
        }
    }
}

/// A call of a selection before its outputs are known.
pub(in crate::patterns) struct Call<B: Backend> {
    pub(in crate::patterns) c: Collector<B>,
    pub(in crate::patterns) func: Arc<Func>,
    pub(in crate::patterns) kind: SelectKind,
}

/// Checks everything, then runs the task.
pub(in crate::patterns) fn enqueue<B: Run<super::SelectTask> + Run<ReduceTask> + Run<MapTask>, R: Outputs, C: Count>(
    device: &B,
    call: Call<B>,
    out: R::Refs<'_, B>,
    lengths: Option<&Buffer<B, u32>>,
    count: &Buffer<B, C>,
) -> Result<()> {
    let Call { mut c, func, kind } = call;
    let n = c.len()?;
    let mut outs = Vec::new();
    R::outs(device, out, n, &mut outs)?;
    if let Some(lengths) = lengths {
        Expr::<u32>::outs(device, lengths, n, &mut outs)?;
    }
    count.check_device(device, "the count")?;
    if count.len() < kind.counts() {
        return Err(Error::BufferTooSmall { what: "the count", required: kind.counts(), available: count.len() });
    }
    outs.push((count.out(), kind.counts()));
    for (o, _) in &outs {
        require(device, "select", o.dtype)?;
    }
    // Two 64-bit counters would not fit where one does.
    let narrow = C::DTYPE == DType::U32 || kind.counters() == 2;
    if narrow && n > u64::from(u32::MAX) {
        return Err(Error::TooLarge { what: "elements that a u32 counts", requested: n, limit: u32::MAX.into() });
    }
    let numerics = device.numerics();
    check_ops(device, "select", numerics, &[&func])?;
    check_index(&c, n)?;
    check_aliasing("select", &c.leaves, n, &outs, false)?;
    if n == 0 {
        return device.generate_into(kind.counts(), scalar(0u32), |zero| zero.cast::<C::Reg>().store_as::<C>(), count);
    }
    let mut outs = places(outs);
    let mut stored: Vec<DType> = outs.iter().take(func.results.len() - 1).map(|out| out.dtype).collect();
    let func = words(func, &mut c, 1, &mut stored)?;
    outs.iter_mut().zip(stored).for_each(|(out, dtype)| out.dtype = dtype);
    let store = same(&func.result_types()[1..])?;
    let task = SelectTask { combine: combine(kind, n)?, func, store, n, kind, count: C::DTYPE, numerics };
    device.run(&task, &c.leaves, &outs)
}

/// The type that elements travel as which are stored as they were loaded, so that their bits stay.
pub(in crate::patterns) const fn word(dtype: DType) -> DType {
    match dtype {
        DType::F32 => DType::U32,
        DType::F64 => DType::U64,
        other => other,
    }
}

/// Floats that are stored as they were loaded travel as words: of the results from `first` on, which are `stored` as these types.
pub(in crate::patterns) fn words<B: Backend>(
    func: Arc<Func>,
    c: &mut Collector<B>,
    first: usize,
    stored: &mut [DType],
) -> Result<Arc<Func>> {
    // The parameter whose elements result `k` is.
    let moved = |k: usize, as_: DType| match func.nodes[func.results[k] as usize] {
        Node::Param(p) => match &c.leaves[usize::from(p)] {
            Leaf::Elements { dtype, .. } if *dtype == as_ && word(*dtype) != *dtype => Some((usize::from(p), word(*dtype))),
            _ => None,
        },
        _ => None,
    };
    let found: Vec<Option<(usize, DType)>> = stored.iter().enumerate().map(|(k, &as_)| moved(first + k, as_)).collect();
    if found.iter().all(Option::is_none) {
        return Ok(func);
    }
    let mut params = c.params.clone();
    for (k, (p, w)) in found.iter().enumerate().filter_map(|(k, f)| f.map(|f| (k, f))) {
        params[p] = Param::Value(w.ty());
        stored[k] = w;
        if let Leaf::Elements { dtype, .. } = &mut c.leaves[p] {
            *dtype = w;
        }
    }
    let build = || {
        let param = |p: usize| graph::with(|g| g.param(p as u16));
        let args: Vec<Value> = (0..params.len())
            .map(|p| match (func.params[p], params[p]) {
                (Param::Value(from), Param::Value(to)) if from != to => graph::with(|g| {
                    let id = g.param(p as u16);
                    g.bitcast(id, from)
                }),
                _ => param(p),
            })
            .collect();
        let mut results = crate::ir::inline(&func, &args);
        for (k, f) in found.iter().enumerate() {
            if let Some((p, _)) = f {
                results[first + k] = param(*p);
            }
        }
        results
    };
    let moved = graph::trace(params.clone(), build)?;
    c.params.clone_from(&params);
    Ok(Arc::new(moved))
}

/// The selection of the first of each run of equal keys, and of its index. Its leaves are the keys, as [`word`]s, the keys as an array, and the index.
pub(in crate::patterns) fn beginnings<K: Element>(n: u64, numerics: Numerics) -> Result<SelectTask> {
    let ty = word(K::DTYPE).ty();
    let params = vec![Param::Value(ty), Param::Array(K::DTYPE), Param::Index(Ty::U32)];
    let build = || {
        let moved = graph::with(|g| g.param(0));
        let key = graph::with(|g| {
            let id = g.param(0);
            if ty == K::DTYPE.ty() { id } else { g.bitcast(id, K::DTYPE.ty()) }
        });
        let (key, i) = (Expr::from_value(key), Expr::params(2));
        let part = super::kept_or_not(super::starts(Expr::eq, ir::array_expr::<K>(1), key, i));
        vec![part.value(), moved, i.value()]
    };
    let func = kept::<K>("beginnings of runs", || graph::trace(params, build))?;
    let store = kept::<K>("stored beginnings", || graph::trace(vec![Param::Value(ty), Param::Value(Ty::U32)], || params_of(2)))?;
    let kind = SelectKind::Keep;
    Ok(SelectTask { combine: combine(kind, n)?, func, store, n, kind, count: DType::U32, numerics })
}

fn params_of(count: u16) -> Vec<Value> {
    (0..count).map(|k| graph::with(|g| g.param(k))).collect()
}

/// The identity on values of these types.
fn same(types: &[Ty]) -> Result<Arc<Func>> {
    let params = types.iter().map(|&t| Param::Value(t)).collect();
    Ok(Arc::new(graph::trace(params, || params_of(types.len() as u16))?))
}

/// Returns the operator that adds up what tiles of `n` elements hand on.
fn combine(kind: SelectKind, n: u64) -> Result<Arc<Func>> {
    type Pair = (Expr<u32>, Expr<u32>);
    if n > u64::from(u32::MAX) {
        return kept::<u64>("counts", || ir::trace(|(a, b): (Expr<u64>, Expr<u64>)| a + b));
    }
    match kind {
        SelectKind::Keep | SelectKind::TwoWays => kept::<u32>("counts", || ir::trace(|(a, b): (Expr<u32>, Expr<u32>)| a + b)),
        SelectKind::ThreeWays => kept::<u32>("counts of two", || ir::trace(|(a, b): (Pair, Pair)| (a.0 + b.0, a.1 + b.1))),
        // Places grow, so the last one is the greatest.
        SelectKind::Runs => kept::<u32>("count and last", || ir::trace(|(a, b): (Pair, Pair)| (a.0 + b.0, a.1.max(b.1)))),
    }
}

/// Counts the elements of the parts that others lie behind.
fn count_parts<B: Run<ReduceTask>>(device: &B, task: &SelectTask, leaves: &[Leaf<B::Raw>], counts: &Out<B::Raw>) -> Result<()> {
    let parts = task.kind.counters();
    let ty = if task.wide() { Ty::U64 } else { Ty::U32 };
    let load = graph::trace(task.func.params.clone(), || {
        let args: Vec<Value> = (0..task.func.params.len()).map(|p| graph::with(|g| g.param(p as u16))).collect();
        let part = Expr::<u32>::from_value(crate::ir::inline(&task.func, &args)[0]);
        (0..parts as u32)
            .map(|k| {
                let there = part.eq(k);
                graph::with(|g| {
                    let id = g.id(there.value(), Ty::Bool);
                    g.cast(id, ty)
                })
            })
            .collect()
    })?;
    let finish = graph::trace(vec![Param::Value(ty); parts], || {
        (0..parts as u16)
            .map(|k| {
                graph::with(|g| {
                    let id = g.param(k);
                    g.cast(id, task.count.ty())
                })
            })
            .collect()
    })?;
    let outs: Vec<Out<B::Raw>> = (0..parts as u64).map(|k| Out { offset: counts.offset + k, ..counts.clone() }).collect();
    let (load, finish) = (Arc::new(load), Arc::new(finish));
    let task = ReduceTask { load, combine: Arc::clone(&task.combine), finish, lines: Lines::one(task.n), numerics: task.numerics };
    device.run(&task, leaves, &outs)
}
