//! Keys and values that are computed, checked before they are stored and sorted.

use super::check_len;
use crate::backend::{Leaf, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::{Collector, Elements, Input, Lent, Outputs as _};
use crate::ir::Func;
use crate::patterns::map::{apart, collect, trace};
use crate::patterns::{Map as _, MapTask};
use std::sync::Arc;

/// Keys before they are stored.
pub(in crate::patterns) struct ComputedKeys<B: Run<MapTask>> {
    c: Collector<B>,
    func: Arc<Func>,
    pub(in crate::patterns) n: u64,
}

impl<B: Run<MapTask>> ComputedKeys<B> {
    /// Keys of as many elements as they have, or as many as are named where they have no length.
    pub(in crate::patterns) fn new<I: Elements<B>>(device: &B, keys: &I, elements: Option<u64>) -> Result<Self> {
        let c = sized(device, keys, elements)?;
        let (n, func) = (c.len()?, trace(keys, &c, I::out)?);
        check_len(n)?;
        Ok(Self { c, func, n })
    }

    pub(in crate::patterns) fn leaves(&self) -> &[Leaf<B::Raw>] {
        &self.c.leaves
    }

    /// There are as many values as keys.
    fn check_values(&self, expected: u64) -> Result<()> {
        if self.n == expected { Ok(()) } else { Err(Error::LengthMismatch { what: "values", expected, found: self.n }) }
    }

    /// Computes them.
    pub(in crate::patterns) fn store<I: Elements<B>>(&self, device: &B, to: &Buffer<B, I::Element>) -> Result<()> {
        let to = to.slice(..self.n)?;
        apart::<B, I::Out>(device, "sort", (&self.c, &self.func), I::Out::refs(&to), &|| Ok(()))
    }
}

/// Keys and values before they are stored. One of the two may be an array, whose bits are copied.
pub(in crate::patterns) struct ComputedPairs<'a, B: Run<MapTask>, I, J> {
    keys: &'a I,
    values: &'a J,
    c: Collector<B>,
    func: Arc<Func>,
    pub(in crate::patterns) n: u64,
}

impl<'a, B: Run<MapTask>, I: Elements<B>, J: Elements<B>> ComputedPairs<'a, B, I, J> {
    /// As [`ComputedKeys::new`].
    pub(in crate::patterns) fn new(device: &B, keys: &'a I, values: &'a J, elements: Option<u64>) -> Result<Self> {
        if let (Ok(expected), Ok(found)) = (collect(device, "sort", keys)?.len(), collect(device, "sort", values)?.len())
            && expected != found
        {
            return Err(Error::LengthMismatch { what: "values", expected, found });
        }
        let both = (Lent(keys), Lent(values));
        let c = sized(device, &both, elements)?;
        let (n, func) = (c.len()?, trace(&both, &c, |(key, value)| (I::out(key), J::out(value)))?);
        check_len(n)?;
        Ok(Self { keys, values, c, func, n })
    }

    pub(in crate::patterns) fn leaves(&self) -> &[Leaf<B::Raw>] {
        &self.c.leaves
    }

    /// Computes them.
    pub(in crate::patterns) fn store(&self, device: &B, to: (&Buffer<B, I::Element>, &Buffer<B, J::Element>)) -> Result<()> {
        let n = self.n;
        let to = (to.0.slice(..n)?, to.1.slice(..n)?);
        match (self.keys.plain(), self.values.plain()) {
            (None, None) => both::<B, I, J>(device, (&self.c, &self.func), &to),
            (keys, values) => {
                if keys.is_none() {
                    ComputedKeys::new(device, self.keys, Some(n))?.store::<I>(device, &to.0)?;
                }
                if values.is_none() {
                    ComputedKeys::new(device, self.values, Some(n))?.store::<J>(device, &to.1)?;
                }
                copied(device, keys, &to.0)?;
                copied(device, values, &to.1)
            }
        }
    }
}

fn both<B: Run<MapTask>, I: Elements<B>, J: Elements<B>>(
    device: &B,
    of: (&Collector<B>, &Arc<Func>),
    to: &(Buffer<B, I::Element>, Buffer<B, J::Element>),
) -> Result<()> {
    apart::<B, (I::Out, J::Out)>(device, "sort", of, <(I::Out, J::Out)>::refs(to), &|| Ok(()))
}

fn copied<B: Run<MapTask>, T: Element>(device: &B, from: Option<&Buffer<B, T>>, to: &Buffer<B, T>) -> Result<()> {
    from.filter(|from| !from.is_empty()).map_or(Ok(()), |from| device.copy_into(from, to))
}

/// The leaves of inputs, which have so many elements where they have no length.
fn sized<B: Run<MapTask>, I: Input<B>>(device: &B, inputs: &I, elements: Option<u64>) -> Result<Collector<B>> {
    let mut c = collect(device, "sort", inputs)?;
    if let (Err(_), Some(n)) = (c.len(), elements) {
        c.length(n)?;
    }
    Ok(c)
}

/// The elements of an output that are written.
pub(in crate::patterns) fn room<B: Run<MapTask>, T: Element>(out: &Buffer<B, T>, n: u64) -> Result<Buffer<B, T>> {
    if out.len() < n {
        return Err(Error::BufferTooSmall { what: "the output", required: n, available: out.len() });
    }
    out.slice(..n)
}

/// Keys, and values, in memory: where they lie, or in new memory that is still to be stored to.
pub(in crate::patterns) struct InMemory<'a, B: Run<MapTask>, I: Elements<B>, J: Elements<B>> {
    pub(in crate::patterns) keys: Buffer<B, I::Element>,
    pub(in crate::patterns) values: Option<Buffer<B, J::Element>>,
    pending: Pending<'a, B, I, J>,
}

enum Pending<'a, B: Run<MapTask>, I, J> {
    Nothing,
    Keys(ComputedKeys<B>),
    Values(ComputedKeys<B>),
    Both(ComputedPairs<'a, B, I, J>),
}

impl<'a, B: Run<MapTask>, I: Elements<B>, J: Elements<B>> InMemory<'a, B, I, J> {
    /// As [`ComputedKeys::new`]; nothing is enqueued.
    pub(in crate::patterns) fn new(device: &B, keys: &'a I, values: Option<&'a J>, elements: Option<u64>) -> Result<Self> {
        let (keys, values, pending) = match (keys.plain(), values, values.and_then(J::plain)) {
            (Some(keys), None, _) => (keys.clone(), None, Pending::Nothing),
            (Some(keys), Some(_), Some(values)) => (keys.clone(), Some(values.clone()), Pending::Nothing),
            (Some(keys), Some(values), None) => {
                let of = ComputedKeys::new(device, values, Some(keys.len()))?;
                of.check_values(keys.len())?;
                (keys.clone(), Some(device.buffer(of.n)?), Pending::Values(of))
            }
            (None, None, _) => {
                let of = ComputedKeys::new(device, keys, elements)?;
                (device.buffer(of.n)?, None, Pending::Keys(of))
            }
            (None, Some(_), Some(values)) => {
                let of = ComputedKeys::new(device, keys, elements.or(Some(values.len())))?;
                (device.buffer(of.n)?, Some(values.clone()), Pending::Keys(of))
            }
            (None, Some(values), None) => {
                let of = ComputedPairs::new(device, keys, values, elements)?;
                (device.buffer(of.n)?, Some(device.buffer(of.n)?), Pending::Both(of))
            }
        };
        Ok(Self { keys, values, pending })
    }

    /// The inputs of what is still to be stored.
    pub(in crate::patterns) fn leaves(&self) -> &[Leaf<B::Raw>] {
        match &self.pending {
            Pending::Nothing => &[],
            Pending::Keys(of) | Pending::Values(of) => of.leaves(),
            Pending::Both(of) => of.leaves(),
        }
    }

    /// Stores what is computed.
    pub(in crate::patterns) fn store(&self, device: &B) -> Result<()> {
        match (&self.pending, &self.values) {
            (Pending::Keys(of), _) => of.store::<I>(device, &self.keys),
            (Pending::Values(of), Some(values)) => of.store::<J>(device, values),
            (Pending::Both(of), Some(values)) => of.store(device, (&self.keys, values)),
            _ => Ok(()),
        }
    }
}
