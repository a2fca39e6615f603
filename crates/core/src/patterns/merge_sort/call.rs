//! The checks of sorts and merges by an order of the caller's, and what they enqueue.

use super::{MergeByTask, MergeSortTask};
use crate::backend::{Backend, Leaf, Out, Run, places};
use crate::buffer::{Buffer, Memory as _};
use crate::element::{Element, Scalar};
use crate::error::{Error, Result};
use crate::input::require;
use crate::ir::{self, Expr, Func};
use crate::patterns::moves::gather;
use crate::patterns::sort::check_len;
use crate::patterns::{GatherTask, Map as _, MapTask, Prepare, SortOrder, SortPayload, check_aliasing, check_ops};
use std::sync::Arc;

/// Bytes of a value that travels with its key; others are fetched by indices.
const TRAVELS: u64 = 4;

/// Keys, and the values that may go with them.
pub(in crate::patterns) type Side<'a, B, K, V> = (&'a Buffer<B, K>, Option<&'a Buffer<B, V>>);

/// The graph of a comparator; descending, what it puts last comes first.
pub(in crate::patterns) fn order<T: Scalar>(order: SortOrder, before: impl Fn(Expr<T>, Expr<T>) -> Expr<bool>) -> Result<Arc<Func>> {
    let ordered = |(a, b): (Expr<T>, Expr<T>)| if order == SortOrder::Descending { before(b, a) } else { before(a, b) };
    Ok(Arc::new(ir::trace(ordered)?))
}

fn array<B: Backend, T: Element>(x: &Buffer<B, T>) -> Leaf<B::Raw> {
    Leaf::Array { raw: x.raw().clone(), dtype: T::DTYPE, offset: x.offset(), len: x.len() }
}

/// Inputs and outputs as they are checked.
struct Checked<'a, B: Backend> {
    device: &'a B,
    pattern: &'static str,
    leaves: Vec<Leaf<B::Raw>>,
    outs: Vec<(Out<B::Raw>, u64)>,
}

impl<'a, B: Backend> Checked<'a, B> {
    fn new(device: &'a B, pattern: &'static str) -> Self {
        Self { device, pattern, leaves: Vec::with_capacity(4), outs: Vec::with_capacity(4) }
    }

    fn input<T: Element>(&mut self, x: &Buffer<B, T>, leaf: Leaf<B::Raw>) -> Result<()> {
        require(self.device, self.pattern, T::DTYPE)?;
        x.check_device(self.device, "an input")?;
        self.leaves.push(leaf);
        Ok(())
    }

    fn values<T: Element>(&mut self, x: &Buffer<B, T>, expected: u64, leaf: Leaf<B::Raw>) -> Result<()> {
        if x.len() != expected {
            return Err(Error::LengthMismatch { what: "values", expected, found: x.len() });
        }
        self.input(x, leaf)
    }

    fn output<T: Element>(&mut self, out: &Buffer<B, T>, required: u64) -> Result<()> {
        self.room(out, "the output", required)
    }

    fn lent<T: Element>(&mut self, lent: &Buffer<B, T>, required: u64) -> Result<()> {
        self.room(lent, "the memory for the passes between", required)
    }

    fn room<T: Element>(&mut self, out: &Buffer<B, T>, what: &'static str, required: u64) -> Result<()> {
        out.check_device(self.device, what)?;
        if out.len() < required {
            return Err(Error::BufferTooSmall { what, required, available: out.len() });
        }
        self.outs.push((out.out(), required));
        Ok(())
    }

    fn aliasing(&self, elements: u64, in_place: bool) -> Result<()> {
        check_aliasing(self.pattern, &self.leaves, elements, &self.outs, in_place)
    }
}

/// Returns what goes with the keys, where values do.
fn payload<V: Element>(pairs: bool) -> SortPayload {
    match (pairs, V::DTYPE.size_bytes()) {
        (false, _) => SortPayload::Nothing,
        (true, TRAVELS) => SortPayload::Values,
        (true, _) => SortPayload::Indices,
    }
}

/// Sorts keys, and the values that go with them, in place where `in_place` says that inputs and outputs may be the same. `prepare` is called after
/// all checks.
pub(in crate::patterns) fn sort<B: Run<MergeSortTask> + Run<GatherTask> + Run<MapTask>, K: Element, V: Element>(
    device: &B,
    (keys, values): Side<'_, B, K, V>,
    before: Arc<Func>,
    (keys_out, values_out): Side<'_, B, K, V>,
    in_place: bool,
    prepare: Prepare<'_>,
) -> Result<()> {
    let n = keys.len();
    let mut c = Checked::new(device, "sort_by");
    c.input(keys, keys.leaf())?;
    c.output(keys_out, n)?;
    let pairs = values.zip(values_out);
    if let Some((values, out)) = pairs {
        c.values(values, n, values.leaf())?;
        c.output(out, n)?;
    }
    let numerics = device.numerics();
    check_ops(device, c.pattern, numerics, &[&before])?;
    c.aliasing(n, in_place)?;
    let travels = V::DTYPE.size_bytes() == TRAVELS;
    if pairs.is_some() {
        check_len(n)?;
    }
    if n == 0 {
        return Ok(());
    }
    prepare()?;
    let payload = payload::<V>(pairs.is_some());
    let task = MergeSortTask { before, dtype: K::DTYPE, n, payload, keys_out: true, lent: false, numerics };
    let Some((values, out)) = pairs.filter(|_| !travels) else {
        let outs = places(c.outs);
        return device.run(&task, &c.leaves, &outs);
    };
    let places = device.buffer::<u32>(n)?;
    // Where values lie already, they are fetched from a copy.
    let copy = if in_place { Some(device.buffer::<V>(n)?) } else { None };
    if let Some(copy) = &copy {
        device.copy_into(values, copy)?;
    }
    device.run(&task, &[keys.leaf()], &[keys_out.out(), places.out()])?;
    gather(device, copy.as_ref().unwrap_or(values), &places, out, false)
}

/// Sorts keys, and the values that go with them, in lent memory. Values of eight bytes are fetched: their indices go to and fro in the memory that is
/// lent for them.
pub(in crate::patterns) fn sort_with<B: Run<MergeSortTask> + Run<GatherTask> + Run<MapTask>, K: Element, V: Element>(
    device: &B,
    (keys, values): Side<'_, B, K, V>,
    before: Arc<Func>,
    (keys_lent, values_lent): Side<'_, B, K, V>,
    (keys_out, values_out): Side<'_, B, K, V>,
    prepare: Prepare<'_>,
) -> Result<()> {
    let n = keys.len();
    let mut c = Checked::new(device, "sort_by");
    c.input(keys, keys.leaf())?;
    c.output(keys_out, n)?;
    let pairs = values.zip(values_out).zip(values_lent);
    if let Some(((values, out), _)) = pairs {
        c.values(values, n, values.leaf())?;
        c.output(out, n)?;
    }
    c.lent(keys_lent, n)?;
    if let Some((_, lent)) = pairs {
        c.lent(lent, n)?;
    }
    let numerics = device.numerics();
    check_ops(device, c.pattern, numerics, &[&before])?;
    c.aliasing(n, false)?;
    if pairs.is_some() {
        check_len(n)?;
    }
    if n == 0 {
        return Ok(());
    }
    prepare()?;
    let payload = payload::<V>(pairs.is_some());
    let task = MergeSortTask { before, dtype: K::DTYPE, n, payload, keys_out: true, lent: true, numerics };
    let Some(((values, out), lent)) = pairs.filter(|_| payload == SortPayload::Indices) else {
        let outs = places(c.outs);
        return device.run(&task, &c.leaves, &outs);
    };
    let words = V::DTYPE.size_bytes() / TRAVELS;
    let part = |k: u64| Buffer::<B, u32>::from_raw(device, lent.raw().clone(), words * lent.offset() + k * n, n);
    let (places, away) = (part(0)?, part(1)?);
    device.run(&task, &[keys.leaf()], &[keys_out.out(), places.out(), keys_lent.out(), away.out()])?;
    gather(device, values, &places, out, false)
}

/// The indices of sorted keys, and the keys where there is room for them, in lent memory where there is some: for keys twice, and for indices,
/// whose type `X` is `u32`.
pub(in crate::patterns) fn argsort<B: Run<MergeSortTask> + Run<GatherTask> + Run<MapTask>, K: Element, X: Element>(
    device: &B,
    keys: &Buffer<B, K>,
    before: Arc<Func>,
    lent: Option<([&Buffer<B, K>; 2], &Buffer<B, X>)>,
    (keys_out, out): (Option<&Buffer<B, K>>, &Buffer<B, X>),
    prepare: Prepare<'_>,
) -> Result<()> {
    let n = keys.len();
    let mut c = Checked::new(device, "argsort_by");
    c.input(keys, keys.leaf())?;
    if let Some(out) = keys_out {
        c.output(out, n)?;
    }
    c.output(out, n)?;
    if let Some(([away, home], indices)) = lent {
        c.lent(away, n)?;
        c.lent(home, n)?;
        c.lent(indices, n)?;
    }
    let numerics = device.numerics();
    check_ops(device, c.pattern, numerics, &[&before])?;
    c.aliasing(n, false)?;
    check_len(n)?;
    if n == 0 {
        return Ok(());
    }
    prepare()?;
    let payload = SortPayload::Indices;
    let task = MergeSortTask { before, dtype: K::DTYPE, n, payload, keys_out: keys_out.is_some(), lent: lent.is_some(), numerics };
    let outs = places(c.outs);
    device.run(&task, &c.leaves, &outs)
}

/// Merges keys, and the values that go with them. `prepare` is called after all checks.
pub(in crate::patterns) fn merge<B: Run<MergeByTask> + Run<GatherTask> + Run<MapTask>, K: Element, V: Element>(
    device: &B,
    a: Side<'_, B, K, V>,
    b: Side<'_, B, K, V>,
    before: Arc<Func>,
    out: Side<'_, B, K, V>,
    prepare: Prepare<'_>,
) -> Result<()> {
    let (m, n) = (a.0.len(), b.0.len());
    let total = m + n;
    let mut c = Checked::new(device, "merge_by");
    c.input(a.0, array(a.0))?;
    c.input(b.0, array(b.0))?;
    c.output(out.0, total)?;
    let pairs = a.1.zip(b.1).zip(out.1);
    if let Some(((v, w), out)) = pairs {
        c.values(v, m, array(v))?;
        c.values(w, n, array(w))?;
        c.output(out, total)?;
    }
    let numerics = device.numerics();
    check_ops(device, c.pattern, numerics, &[&before])?;
    c.aliasing(0, false)?;
    let travels = V::DTYPE.size_bytes() == TRAVELS;
    if pairs.is_some() && !travels {
        check_len(total)?;
    }
    if total == 0 {
        return Ok(());
    }
    prepare()?;
    let payload = payload::<V>(pairs.is_some());
    let task = MergeByTask { before, dtype: K::DTYPE, m, n, payload, numerics };
    let Some(((v, w), values_out)) = pairs.filter(|_| !travels) else {
        let outs = places(c.outs);
        return device.run(&task, &c.leaves, &outs);
    };
    let places = device.buffer::<u32>(total)?;
    device.run(&task, &c.leaves[..2], &[out.0.out(), places.out()])?;
    let both = device.buffer::<V>(total)?;
    for (from, to) in [(v, both.slice(..m)?), (w, both.slice(m..)?)] {
        if !from.is_empty() {
            device.copy_into(from, &to)?;
        }
    }
    gather(device, &both, &places, values_out, false)
}
