//! What a sort computes, checked before it is stored and sorted.

use super::call::check_rows;
use super::{Call, Keyed, Payload, SortBy, SortTask, check_len};
use crate::backend::Run;
use crate::buffer::Buffer;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::{Collector, Input, Outputs};
use crate::ir::Func;
use crate::patterns::MapTask;
use crate::patterns::map::{apart, collect, trace};
use std::sync::Arc;

/// What is sorted, before it is computed.
pub(in crate::patterns) struct Computed<B: Run<MapTask>> {
    pub(in crate::patterns) c: Collector<B>,
    pub(in crate::patterns) func: Arc<Func>,
    pub(in crate::patterns) n: u64,
}

impl<B: Run<MapTask>> Computed<B> {
    pub(in crate::patterns) fn new<I: Input<B>, R: Outputs>(device: &B, inputs: &I, f: impl FnOnce(I::Exprs) -> R) -> Result<Self> {
        let c = collect(device, "sort", inputs)?;
        let (n, func) = (c.len()?, trace(inputs, &c, f)?);
        check_len(n)?;
        Ok(Self { c, func, n })
    }

    /// The elements of an output that are written.
    pub(in crate::patterns) fn room<T: Element>(&self, out: &Buffer<B, T>) -> Result<Buffer<B, T>> {
        if out.len() < self.n {
            return Err(Error::BufferTooSmall { what: "the output", required: self.n, available: out.len() });
        }
        out.slice(..self.n)
    }

    /// Computes it.
    pub(in crate::patterns) fn store<R: Outputs>(self, device: &B, to: R::Refs<'_, B>) -> Result<()> {
        apart::<B, R>(device, "sort", (self.c, self.func), to)
    }

    /// Computes keys where they are sorted, in rows of so many. All is checked before anything is written.
    pub(super) fn sort<K: Element, R: Outputs<Buffers<B> = Buffer<B, K>>>(
        self,
        device: &B,
        by: impl Into<SortBy>,
        out: &Buffer<B, K>,
        lent: Option<&Buffer<B, K>>,
        row: Option<u64>,
    ) -> Result<()>
    where
        B: Run<SortTask>,
    {
        let keys = self.room(out)?;
        let mut call = Call::new(device, &keys, by)?.in_place().keys_to(&keys)?;
        if let Some(lent) = lent {
            call = call.lends(lent)?;
        }
        let row = row.unwrap_or(self.n);
        self.check(&call, row)?;
        self.store::<R>(device, R::refs(&keys))?;
        call.run(row)
    }

    /// The same of keys and what travels with them.
    pub(super) fn sort_pairs<K: Element, V: Payload, R: Outputs<Buffers<B> = Keyed<B, K, V>>>(
        self,
        device: &B,
        by: impl Into<SortBy>,
        out: (&Buffer<B, K>, &Buffer<B, V>),
        lent: Option<(&Buffer<B, K>, &Buffer<B, V>)>,
        row: Option<u64>,
    ) -> Result<()>
    where
        B: Run<SortTask>,
    {
        let both = (self.room(out.0)?, self.room(out.1)?);
        let mut call = Call::new(device, &both.0, by)?.in_place().values(&both.1)?.keys_to(&both.0)?.payload_to(&both.1)?;
        if let Some(lent) = lent {
            call = call.lends(lent.0)?.lends(lent.1)?;
        }
        let row = row.unwrap_or(self.n);
        self.check(&call, row)?;
        self.store::<R>(device, R::refs(&both))?;
        call.run(row)
    }

    fn check(&self, call: &Call<'_, B>, row: u64) -> Result<()> {
        check_rows(self.n, row)?;
        call.apart_from(&self.c.leaves)
    }
}
