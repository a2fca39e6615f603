//! Reductions by key as data, their checks, and their two steps.

use super::BY_KEY;
use super::SegmentedReduceTask;
use super::call::{Operators, Segments, check, enqueue};
use crate::backend::{Leaf, Out, RawBuffer, Run, places};
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::element::{DType, Element, Ty};
use crate::error::{Error, Result};
use crate::input::{Collector, Lent, Narrow, Numbers, Outputs, array, counting, index, require, scalar};
use crate::ir::graph::{self, Value};
use crate::ir::{self, Expr, Func, Param, Traced as _};
use crate::patterns::map::{check_index, collect};
use crate::patterns::select::{Select as _, beginnings, starts, without_rest, word};
use crate::patterns::{Map as _, MapTask, ReduceTask, SelectTask, check_accumulators, check_aliasing, check_ops};
use std::sync::Arc;

/// A reduction of each run of equal keys as data: the two tasks that it is made of, and what a backend needs that runs both as one. The leaves are those
/// of the values, then the keys, the keys as an array, and the index; the outputs are those of the values, then the keys and the number of runs (`u32`).
#[derive(Clone, Debug)]
pub struct ReduceByKeyTask {
    /// Where runs begin: keeps each run's first key and its index. Its leaves are the last three; of floats they and the keys that it stores are words.
    pub runs: SelectTask,
    /// Every run as a segment, counted on the device.
    pub values: SegmentedReduceTask,
    /// Of all leaves: 1 where a run begins and 0 elsewhere (a `u32`), then the accumulator's parts.
    pub load: Arc<Func>,
}

/// Operands of a task, by what they are.
#[derive(Clone, Copy, Debug)]
pub struct ByKeyPlaces<'a, R> {
    /// The leaves of the values.
    pub values: &'a [Leaf<R>],
    /// The keys, as elements, as an array, and their index.
    pub keys: &'a [Leaf<R>],
    /// The results.
    pub results: &'a [Out<R>],
    /// The first keys.
    pub found: &'a Out<R>,
    /// Number of the first keys.
    pub count: &'a Out<R>,
}

impl<R: RawBuffer> ByKeyPlaces<'_, R> {
    /// The leaves and the output of the keys as those of [`ReduceByKeyTask::runs`], so that keys keep their bits.
    #[must_use]
    pub fn keys_in_words(&self) -> (Vec<Leaf<R>>, Out<R>) {
        (self.keys.iter().map(in_words).collect(), Out { dtype: word(self.found.dtype), ..self.found.clone() })
    }
}

impl ReduceByKeyTask {
    /// The task of runs of keys of type `K`, whose values are reduced as the segments of a task are; there are as many at most as elements.
    ///
    /// # Errors
    /// [`Error::Op`] where the operator that loads values is malformed.
    pub fn new<K: Element>(values: SegmentedReduceTask) -> Result<Self> {
        Ok(Self { runs: beginnings::<K>(values.n, values.numerics)?, load: flagged::<K>(&values.load)?, values })
    }

    /// The operands by what they are.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where they are not those of this task.
    pub fn places<'a, R>(&self, leaves: &'a [Leaf<R>], outs: &'a [Out<R>]) -> Result<ByKeyPlaces<'a, R>> {
        let leaves = leaves.split_at_checked(self.values.load.params.len());
        match (leaves, outs) {
            (Some((values, keys)), [results @ .., found, count]) if keys.len() == self.runs.func.params.len() => {
                Ok(ByKeyPlaces { values, keys, results, found, count })
            }
            _ => Err(Error::InvalidArgument { what: "runs", reason: "their operands do not fit".to_owned() }),
        }
    }

    /// The type of the keys as they lie in memory.
    #[must_use]
    pub fn keys(&self) -> DType {
        self.runs.func.params.iter().find_map(|p| if let Param::Array(dtype) = p { Some(*dtype) } else { None }).unwrap_or(DType::U32)
    }

    /// Runs the selection of where runs begin and then the reduction of segments: for backends, and operands, for which both are not one.
    ///
    /// # Errors
    /// Those of the two tasks.
    pub fn in_steps<B: Run<SelectTask> + Run<SegmentedReduceTask>>(
        &self,
        device: &B,
        leaves: &[Leaf<B::Raw>],
        outs: &[Out<B::Raw>],
    ) -> Result<()> {
        let places = self.places(leaves, outs)?;
        let n = self.values.n;
        let begins = device.allocate_bytes(n * u32::DTYPE.size_bytes())?;
        let (keys, found) = places.keys_in_words();
        device.run(&self.runs, &keys, &[found, Out { raw: begins.clone(), dtype: DType::U32, offset: 0 }, places.count.clone()])?;
        let mut leaves = places.values.to_vec();
        leaves.push(Leaf::Array { raw: begins, dtype: DType::U32, offset: 0, len: n });
        leaves.push(Leaf::Elements { raw: places.count.raw.clone(), dtype: DType::U32, offset: places.count.offset, stride: 0 });
        device.run(&self.values, &leaves, places.results)
    }
}

/// Elements that are floats, as words.
fn in_words<R: RawBuffer>(leaf: &Leaf<R>) -> Leaf<R> {
    let mut leaf = leaf.clone();
    if let Leaf::Elements { dtype, .. } = &mut leaf {
        *dtype = word(*dtype);
    }
    leaf
}

/// Checks everything, then runs the task. There are as many inputs as keys.
pub(in crate::patterns) fn by_array<B: Run<ReduceByKeyTask> + Run<MapTask>, K: Element, R: Outputs>(
    device: &B,
    keys: &Buffer<B, K>,
    c: Collector<B>,
    ops: Operators,
    out: (&Buffer<B, K>, R::Refs<'_, B>),
    count: &Buffer<B, u32>,
) -> Result<()> {
    let n = keys.len();
    let Operators { load, combine, finish, nothing } = ops;
    check_accumulators(&load, &combine, &finish)?;
    let numerics = device.numerics();
    let of_keys = collect(device, BY_KEY, &(keys, array(keys), index()))?;
    let values = SegmentedReduceTask { load, combine, finish, nothing, n, segments: n, counted: true, numerics };
    let task = ReduceByKeyTask::new::<K>(values)?;
    check_ops(device, BY_KEY, numerics, &[&task.load, &task.values.combine, &task.values.finish, &task.runs.func])?;
    let mut outs = Vec::new();
    R::outs(device, out.1, n, &mut outs)?;
    Narrow::<K>::outs(device, out.0, n, &mut outs)?;
    count.check_device(device, "the count")?;
    if count.is_empty() {
        return Err(Error::BufferTooSmall { what: "the count", required: 1, available: 0 });
    }
    outs.push((count.out(), 1));
    for (o, _) in &outs {
        require(device, BY_KEY, o.dtype)?;
    }
    if n > u64::from(u32::MAX) {
        return Err(Error::TooLarge { what: "elements that a u32 counts", requested: n, limit: u32::MAX.into() });
    }
    check_index(&c, n)?;
    let mut leaves = c.leaves;
    leaves.extend(of_keys.leaves);
    check_aliasing(BY_KEY, &leaves, n, &outs, false)?;
    if n == 0 {
        return device.generate_into(1, scalar(0u32), |zero| zero, count);
    }
    let outs = places(outs);
    device.run(&task, &leaves, &outs)
}

/// Whether a run begins, by leaves that follow those of `load`; then what that gives.
fn flagged<K: Element>(load: &Func) -> Result<Arc<Func>> {
    let first = load.params.len() as u16;
    let keys = [Param::Value(K::DTYPE.ty()), Param::Array(K::DTYPE), Param::Index(Ty::U32)];
    let build = || {
        let (key, all, i) = (Expr::params(first), ir::array_expr::<K>(first + 1), Expr::params(first + 2));
        let begins = ir::select(starts(Expr::eq, all, key, i), 1u32, 0u32);
        let args: Vec<Value> = (0..first).map(|p| graph::with(|g| g.param(p))).collect();
        [vec![begins.value()], crate::ir::inline(load, &args)].concat()
    };
    Ok(Arc::new(graph::trace([&load.params[..], &keys].concat(), build)?))
}

/// A reduction by keys of any input in two steps: where runs start, and the runs as segments. With a length, elements after it are a run that the count leaves
/// out.
pub(in crate::patterns) fn by_input<B, J: Numbers<B>, R: Outputs>(
    device: &B,
    keys: &J,
    c: Collector<B>,
    ops: Operators,
    out: (&Buffer<B, J::Element>, R::Refs<'_, B>),
    (count, length): (&Buffer<B, u32>, Option<&DeviceScalar<B, u32>>),
) -> Result<()>
where
    B: Run<SelectTask> + Run<SegmentedReduceTask> + Run<ReduceTask> + Run<MapTask>,
{
    let (n, of_keys) = (c.len()?, collect(device, BY_KEY, keys)?);
    match of_keys.len() {
        Ok(found) if found != n => return Err(Error::LengthMismatch { what: "keys", expected: n, found }),
        // Keys without a length of their own are as many as there are values.
        _ => {}
    }
    check_index(&c, n)?;
    // Refuse what the second step would, before the first one writes.
    let mut outs = check::<B, R>(device, &c, &ops, out.1, n)?;
    count.check_device(device, "the count")?;
    if count.is_empty() {
        return Err(Error::BufferTooSmall { what: "the count", required: 1, available: 0 });
    }
    outs.extend([(out.0.out(), n), (count.out(), 1)]);
    check_aliasing(BY_KEY, &[c.leaves.clone(), of_keys.leaves].concat(), n, &outs, false)?;
    let begins = device.buffer(n)?;
    let starts = device
        .unique((Lent(keys), counting(n)))
        .by(|a, b| a.0.eq(b.0))
        .finish(|(key, i): (Expr<<J::Element as Element>::Reg>, Expr<u32>)| (key.store_as::<J::Element>(), i));
    let runs = match length {
        None => {
            starts.write_to(((out.0, &begins), count))?;
            count.slice(..1)?
        }
        Some(length) => {
            let runs = device.buffer(1)?;
            check_aliasing(BY_KEY, &[length.buffer().leaf()], 1, &outs, false)?;
            starts.length(length).write_ended(((out.0, &begins), &runs))?;
            without_rest(device, &runs, (length, n), count)?;
            runs
        }
    };
    let runs = DeviceScalar::from_buffer(runs)?;
    enqueue::<B, R, u32>(device, c, ops, &Segments { bounds: &begins, count: Some(&runs) }, out.1)
}
