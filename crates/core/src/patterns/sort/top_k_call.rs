//! The first keys of a sort: the call, with its modifiers.

use super::computed::InMemory;
use super::domain::{len, lines_of};
use super::top_k::{TopKTask, into, pairs_into, sort_whole, sorts_whole, task};
use super::top_k_rows::{Matrix, check_matrix};
use super::travel::{KeysAlone, Travels, WithIndices, WithValues};
use super::{OrderedKeys, SortBy, SortOrder, SortTask};
use crate::backend::{Backend, Run};
use crate::buffer::Buffer;
use crate::call::{Along, Whole};
use crate::element::Element;
use crate::error::Result;
use crate::input::Elements;
use crate::patterns::layout::LayoutTask;
use crate::patterns::{GatherTask, MapTask, Ordered, check_aliasing};
use core::fmt;

/// The first keys in order, as they are described: [`run`](Self::run) and [`write_to`](Self::write_to) enqueue the search. It is made by
/// [`top_k`](super::Sort::top_k).
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let (x, y) = (dev.upload(&[3.0f32, 0.0, 1.0])?, dev.upload(&[4.0f32, 2.0, 1.0])?);
/// // The two points that are nearest.
/// let (near, which) = dev.top_k((&x, &y).map(|(x, y)| x * x + y * y), 2).smallest().with_indices().run()?;
/// assert_eq!((near.read_blocking()?, which.read_blocking()?), (vec![2.0, 4.0], vec![2, 1]));
/// # Ok::<(), isowarp::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct TopKCall<'d, B, I, W = KeysAlone, P = Whole> {
    device: &'d B,
    keys: I,
    k: u64,
    by: SortBy,
    with: W,
    domain: P,
}

impl<B, I, W: fmt::Debug, P: fmt::Debug> fmt::Debug for TopKCall<'_, B, I, W, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TopKCall").field("k", &self.k).field("by", &self.by).field("domain", &self.domain).finish_non_exhaustive()
    }
}

impl<'d, B, I> TopKCall<'d, B, I> {
    pub(super) fn new(device: &'d B, keys: I, k: u64) -> Self {
        Self { device, keys, k, by: SortOrder::Descending.into(), with: KeysAlone, domain: Whole }
    }
}

impl<'d, B: Backend, I, P> TopKCall<'d, B, I, KeysAlone, P> {
    /// Gives the values that go with the keys, too, which are of any type; results are the keys and the values.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (scores, names) = (dev.upload(&[0.1f32, 0.9, 0.4, 0.7])?, dev.upload(b"abcd")?);
    /// let (best, names) = dev.top_k(&scores, 2).with_values(&names).run()?;
    /// assert_eq!((best.read_blocking()?, names.read_blocking()?), (vec![0.9, 0.7], b"bd".to_vec()));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn with_values<J: Elements<B>>(self, values: J) -> TopKCall<'d, B, I, WithValues<J>, P> {
        let Self { device, keys, k, by, domain, .. } = self;
        TopKCall { device, keys, k, by, with: WithValues(values), domain }
    }

    /// Gives where the keys were, too; results are the keys and the indices.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[5u32, 1, 5, 0])?;
    /// let (first, indices) = dev.top_k(&keys, 3).with_indices().run()?;
    /// assert_eq!((first.read_blocking()?, indices.read_blocking()?), (vec![5, 5, 1], vec![0, 2, 1])); // equal keys keep their order
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn with_indices(self) -> TopKCall<'d, B, I, WithIndices, P> {
        let Self { device, keys, k, by, domain, .. } = self;
        TopKCall { device, keys, k, by, with: WithIndices, domain }
    }
}

impl<'d, B, I, W> TopKCall<'d, B, I, W> {
    /// Takes the first `k` keys of every line along `axis` of a row-major array of this shape. Results have `k` elements along it; indices are those in the
    /// line, each of which has less than 2^32 keys. Along another axis than the last, keys are transposed first, and results back.
    ///
    /// Work that of sorts of lines, and that of a search in each line of 2^22 keys and more. Scratch is that of a sort of 2^26 keys or of one line, whichever
    /// is more, and its result: 16 bytes a key and twice the key's.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let scores = dev.upload(&[0.1f32, 0.9, 0.4, 0.7, 0.2, 0.3])?; // two rows of three
    /// let (best, indices) = dev.top_k(&scores, 2).axis(&[2, 3], 1).with_indices().run()?;
    /// assert_eq!((best.read_blocking()?, indices.read_blocking()?), (vec![0.9, 0.4, 0.7, 0.3], vec![1, 2, 0, 2]));
    /// let (best, names) = dev.top_k(&scores, 1).with_values(&dev.upload(b"abcABC")?).axis(&[2, 3], 0).run()?; // of each column
    /// assert_eq!((best.read_blocking()?, names.read_blocking()?), (vec![0.7, 0.9, 0.4], b"Abc".to_vec()));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn axis(self, shape: &[u64], axis: usize) -> TopKCall<'d, B, I, W, Along> {
        let Self { device, keys, k, by, with, .. } = self;
        TopKCall { device, keys, k, by, with, domain: Along { shape: shape.to_vec(), axis } }
    }
}

impl<B, I, W, P> TopKCall<'_, B, I, W, P> {
    /// Takes the least keys, the least first.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let keys = dev.upload(&[3i64, -1, 2])?;
    /// assert_eq!(dev.top_k(&keys, 2).smallest().run()?.read_blocking()?, [-1, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn smallest(mut self) -> Self {
        self.by.order = SortOrder::Ascending;
        self
    }

    /// Takes the greatest keys, the greatest first, as a call without modifiers does.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[3i64, -9, 2])?;
    /// assert_eq!(dev.top_k(x.map(|x| x.abs()), 2).largest().run()?.read_blocking()?, [9, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn largest(mut self) -> Self {
        self.by.order = SortOrder::Descending;
        self
    }
}

impl<B, I, W, P> Ordered for TopKCall<'_, B, I, W, P> {
    type By = SortBy;
    fn by_mut(&mut self) -> &mut SortBy {
        &mut self.by
    }
}

impl<B: Backend, I: Elements<B>, W: Travels<B>, P: TopKDomain<B, I, W>> TopKCall<'_, B, I, W, P> {
    /// Enqueues the search into new memory, which it returns.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge) for a `k` above the number of keys, with both; else as [`SortCall::run`](super::SortCall::run).
    pub fn run(self) -> Result<W::New<I::Element>> {
        P::run(&self)
    }

    /// Enqueues the search into the caller's buffers. What lies after the results stays as it was. They may not overlap inputs.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let out = dev.upload(&[7u32; 3])?;
    /// dev.top_k(counting(9).map(|i| i ^ 5), 2).write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [13, 7, 7]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`TopKCall::run`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
    pub fn write_to(self, out: W::Refs<'_, I::Element>) -> Result<()> {
        P::write(&self, out)
    }
}

/// Domain of a top-k: an array, or lines. `I` are the keys, `W` is what comes with them.
pub trait TopKDomain<B: Backend, I: Elements<B>, W: Travels<B>>: Sized {
    /// Checks and enqueues the search, into new memory.
    #[doc(hidden)]
    fn run(call: &TopKCall<'_, B, I, W, Self>) -> Result<W::New<I::Element>>;

    /// Checks and enqueues the search.
    #[doc(hidden)]
    fn write(call: &TopKCall<'_, B, I, W, Self>, out: W::Refs<'_, I::Element>) -> Result<()>;
}

impl<B, I, W> TopKDomain<B, I, W> for Whole
where
    B: Run<TopKTask> + Run<SortTask> + Run<GatherTask> + Run<MapTask>,
    I: Elements<B>,
    W: Travels<B>,
{
    fn run(call: &TopKCall<'_, B, I, W, Self>) -> Result<W::New<I::Element>> {
        let TopKCall { device, k, .. } = *call;
        let (of, compared) = (call.with.of(None), OrderedKeys::new(&call.keys, &call.by)?);
        let of = InMemory::new(device, &compared, of.as_ref().filter(|_| !W::INDICES), None)?;
        let task = task(device, &of.keys, k, &compared.by)?;
        if of.values.is_none() && sorts_whole(&task) {
            let (keys, out) = (of.keys.clone(), W::allocate(device, task.n)?);
            let (first, indices) = W::split(W::refs(&out));
            of.store(device)?;
            sort_whole(device, &keys, compared.by.clone(), first, indices.map(words).transpose()?.as_ref())?;
            restore(device, &compared, first, k)?;
            return W::first(&out, k);
        }
        let out = W::allocate(device, k)?;
        whole::<B, I, W>(call, (&compared, of), W::refs(&out))?;
        Ok(out)
    }

    fn write(call: &TopKCall<'_, B, I, W, Self>, out: W::Refs<'_, I::Element>) -> Result<()> {
        let (of, compared) = (call.with.of(None), OrderedKeys::new(&call.keys, &call.by)?);
        let of = InMemory::new(call.device, &compared, of.as_ref().filter(|_| !W::INDICES), None)?;
        task(call.device, &of.keys, call.k, &compared.by)?;
        whole::<B, I, W>(call, (&compared, of), out)
    }
}

/// Keys in memory as they are compared, and what goes with them.
type Stored<'a, 'k, B, I, J> = InMemory<'a, B, OrderedKeys<'k, B, I>, J>;

/// Gives the first `k` keys their signs back.
fn restore<B, I>(device: &B, compared: &OrderedKeys<'_, B, I>, first: Option<&Buffer<B, I::Element>>, k: u64) -> Result<()>
where
    B: Run<MapTask>,
    I: Elements<B>,
{
    first.map_or(Ok(()), |first| compared.restore(device, &first.slice(..k)?))
}

fn whole<B, I, W>(
    call: &TopKCall<'_, B, I, W>,
    (compared, of): (&OrderedKeys<'_, B, I>, Stored<'_, '_, B, I, W::Of<'_>>),
    out: W::Refs<'_, I::Element>,
) -> Result<()>
where
    B: Run<TopKTask> + Run<SortTask> + Run<GatherTask> + Run<MapTask>,
    I: Elements<B>,
    W: Travels<B>,
{
    let TopKCall { device, k, .. } = *call;
    let (first, payload) = W::split(out);
    check_apart::<B, I, W>(&of, k, out)?;
    let (keys, values, by) = (of.keys.clone(), of.values.clone(), compared.by.clone());
    let prepare = || of.store(device);
    match (values, first, payload) {
        (Some(values), Some(first), Some(out)) => pairs_into(device, (&keys, &values), k, by, (first, out), &prepare)?,
        (_, first, payload) => into(device, &keys, k, by, first, payload.map(words).transpose()?.as_ref(), &prepare)?,
    }
    restore(device, compared, first, k)
}

/// Fails where so many results overlap what keys are computed of.
fn check_apart<B, I, W>(of: &Stored<'_, '_, B, I, W::Of<'_>>, results: u64, out: W::Refs<'_, I::Element>) -> Result<()>
where
    B: Run<MapTask>,
    I: Elements<B>,
    W: Travels<B>,
{
    let (first, payload) = W::split(out);
    let outs: Vec<_> = first.map(Buffer::out).into_iter().chain(payload.map(Buffer::out)).map(|out| (out, results)).collect();
    check_aliasing("top_k", of.leaves(), of.keys.len(), &outs, false)
}

/// Indices, under the name of their type.
fn words<B: Backend, V: Element>(indices: &Buffer<B, V>) -> Result<Buffer<B, u32>> {
    Buffer::from_raw(indices.device(), indices.raw().clone(), indices.offset(), indices.len())
}

impl<B, I, W> TopKDomain<B, I, W> for Along
where
    B: Run<TopKTask> + Run<SortTask> + Run<GatherTask> + Run<LayoutTask> + Run<MapTask>,
    I: Elements<B>,
    W: Travels<B>,
{
    fn run(call: &TopKCall<'_, B, I, W, Self>) -> Result<W::New<I::Element>> {
        let lines = call.domain.lines()?;
        let n = len(call.device, &call.keys, &call.with, Some(lines.elements()))?;
        let results = check_matrix::<B, I::Element>(call.device, n, (lines.n, call.k), &call.by)?;
        lines_of(Some(lines), n)?;
        let out = W::allocate(call.device, results)?;
        Self::write(call, W::refs(&out))?;
        Ok(out)
    }

    fn write(call: &TopKCall<'_, B, I, W, Self>, out: W::Refs<'_, I::Element>) -> Result<()> {
        let (device, lines) = (call.device, call.domain.lines()?);
        let compared = OrderedKeys::new(&call.keys, &call.by)?;
        let of = call.with.of(None);
        let of = InMemory::new(device, &compared, of.as_ref().filter(|_| !W::INDICES), Some(lines.elements()))?;
        let (keys, values) = (of.keys.clone(), of.values.clone());
        let matrix = Matrix::new(device, &keys, (lines, call.k), compared.by.clone())?;
        lines_of(Some(lines), keys.len())?;
        let (first, payload) = W::split(out);
        check_apart::<B, I, W>(&of, matrix.results(), out)?;
        let Some(first) = first else { return Ok(()) };
        let prepare = || of.store(device);
        match (values, payload) {
            (Some(values), Some(out)) => matrix.with_values(&values, (first, out), &prepare)?,
            (_, payload) => matrix.first(first, payload.map(words).transpose()?.as_ref(), &prepare)?,
        }
        restore(device, &compared, Some(first), matrix.results())
    }
}
