//! Accumulators on the processor: definitions load them by a map, combine them here, and store them by a map.

use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::caps::Numerics;
use isowarp_core::element::DType;
use isowarp_core::error::Result;
use isowarp_core::host;
use isowarp_core::ir::{Evaluator, Func, LANES};
use isowarp_core::patterns::MapTask;
use std::sync::Arc;

/// Bits of accumulators, a column to each part.
#[derive(Clone, Debug)]
pub(crate) struct Columns(Vec<Vec<u64>>);

/// Memory of one part of `n` accumulators.
fn memory<B: Run<MapTask>>(device: &B, dtype: DType, n: u64) -> Result<Out<B::Raw>> {
    Ok(Out { raw: device.allocate_bytes(n * dtype.size_bytes())?, dtype, offset: 0 })
}

impl Columns {
    /// The `n` accumulators that an operator makes of its leaves.
    pub(crate) fn load<B: Run<MapTask>>(
        device: &B,
        func: &Arc<Func>,
        (n, numerics): (u64, Numerics),
        leaves: &[Leaf<B::Raw>],
    ) -> Result<Self> {
        // The columns, and as many of the definition's own.
        host::room(2 * 8 * n * func.results.len() as u64)?;
        let outs = func.result_types().into_iter().map(|ty| memory(device, ty.dtype(), n)).collect::<Result<Vec<_>>>()?;
        device.run(&MapTask { func: Arc::clone(func), n, numerics }, leaves, &outs)?;
        let column = |out: &Out<B::Raw>| {
            let size = out.dtype.size_bytes();
            let bytes = device.read_bytes_blocking(&out.raw, 0, n * size)?;
            let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
            host::listed(n, bytes.chunks_exact(size as usize).map(word))
        };
        Ok(Self(outs.iter().map(column).collect::<Result<_>>()?))
    }

    /// Stores what an operator makes of them.
    pub(crate) fn store<B: Run<MapTask>>(&self, device: &B, func: &Arc<Func>, numerics: Numerics, outs: &[Out<B::Raw>]) -> Result<()> {
        let n = self.len() as u64;
        let leaf = |(column, param): (&Vec<u64>, &isowarp_core::ir::Param)| {
            let part = memory(device, param.ty().dtype(), n)?;
            let size = part.dtype.size_bytes() as usize;
            let bytes: Vec<u8> = column.iter().flat_map(|word| word.to_le_bytes().into_iter().take(size)).collect();
            device.write_bytes(&part.raw, 0, &bytes)?;
            Ok(Leaf::Elements { raw: part.raw, dtype: part.dtype, offset: 0, stride: 1 })
        };
        let leaves = self.0.iter().zip(&func.params).map(leaf).collect::<Result<Vec<_>>>()?;
        device.run(&MapTask { func: Arc::clone(func), n, numerics }, &leaves, outs)
    }

    /// One accumulator.
    pub(crate) fn one(parts: &[u64]) -> Self {
        Self(parts.iter().map(|&bits| vec![bits]).collect())
    }

    /// Number of them.
    pub(crate) fn len(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }

    /// Accumulators `first..first + count`.
    pub(crate) fn part(&self, first: usize, count: usize) -> Self {
        Self(self.0.iter().map(|column| column[first..][..count].to_vec()).collect())
    }

    /// Every `step`-th accumulator from `first` on.
    pub(crate) fn every(&self, first: usize, step: usize) -> Self {
        Self(self.0.iter().map(|column| column.iter().copied().skip(first).step_by(step).collect()).collect())
    }

    /// All of these, one after the other, of which there is at least one.
    pub(crate) fn joined(all: &[Self]) -> Self {
        let parts = all.first().map_or(0, |first| first.0.len());
        Self((0..parts).map(|k| all.iter().flat_map(|one| one.0[k].iter().copied()).collect()).collect())
    }

    /// Puts others at these places.
    pub(crate) fn put(&mut self, places: impl Iterator<Item = usize> + Clone, of: &Self) {
        for (to, from) in self.0.iter_mut().zip(&of.0) {
            places.clone().zip(from).for_each(|(place, &bits)| to[place] = bits);
        }
    }
}

/// Fills lanes, of which the first is number `at`, with the bits at their places.
fn fill(lanes: &mut [u64], at: usize, column: &[u64], place: impl Fn(usize) -> usize) {
    lanes.iter_mut().zip(at..).for_each(|(lane, k)| *lane = column[place(k)]);
}

/// The combining operator, with its registers.
#[derive(Debug)]
pub(crate) struct Combiner<'f>(Evaluator<'f>);

impl<'f> Combiner<'f> {
    pub(crate) fn new(combine: &'f Func) -> Self {
        Self(Evaluator::new(combine))
    }

    /// Combines `count` pairs: for each the accumulator at a place of the left ones, and one at a place of the right ones.
    pub(crate) fn combine(
        &mut self,
        left: (&Columns, impl Fn(usize) -> usize),
        right: (&Columns, impl Fn(usize) -> usize),
        count: usize,
    ) -> Columns {
        let parts = left.0.0.len();
        let mut made = Columns(vec![Vec::with_capacity(count); parts]);
        for at in (0..count).step_by(LANES) {
            let lanes = LANES.min(count - at);
            let load = |param: u16, lanes: &mut [u64]| match usize::from(param) {
                k if k < parts => fill(lanes, at, &left.0.0[k], &left.1),
                k => fill(lanes, at, &right.0.0[k - parts], &right.1),
            };
            self.0.eval(lanes, load, |_, _| 0);
            made.0.iter_mut().enumerate().for_each(|(k, column)| column.extend_from_slice(&self.0.result(k)[..lanes]));
        }
        made
    }

    /// For every pair of places, all at once: the accumulator at `to(pair)` becomes the left one combined with the right one.
    pub(crate) fn merge(&mut self, x: &mut Columns, pairs: &[(usize, usize)], to: impl Fn((usize, usize)) -> usize + Clone) {
        let made = self.combine((x, |k| pairs[k].0), (x, |k| pairs[k].1), pairs.len());
        x.put(pairs.iter().map(|&pair| to(pair)), &made);
    }
}
