//! Interleaved channels, and where their bins lie.

use super::sample::{Next, Rule};
use super::{MAX_BINS, Sample};
use crate::backend::{Backend, Leaf};
use crate::buffer::Buffer;
use crate::element::{DType, Element, Ty};
use crate::error::{Error, Result};
use crate::input::{Collector, Inputs as _};
use crate::ir::graph::Value;
use crate::ir::{Expr, Param, Traced, select};

pub(super) fn no_channels(reason: String) -> Error {
    Error::InvalidArgument { what: "channels", reason }
}

/// The first channels of interleaved samples.
pub(super) struct Channels<'a, B: Backend, T> {
    x: &'a Buffer<B, T>,
    channels: u32,
    active: u32,
    /// Whether the samples of a pixel are read as one word.
    words: bool,
}

impl<'a, B: Backend, T: Element> Channels<'a, B, T> {
    /// One to four of `channels`, and whole pixels.
    pub(super) fn new(x: &'a Buffer<B, T>, channels: u32, active: u32) -> Result<Self> {
        if active == 0 || active > channels.min(4) {
            return Err(no_channels(format!("{active} active ones of {channels}; one to four of them can be")));
        }
        if !x.len().is_multiple_of(channels.into()) {
            return Err(no_channels(format!("{} samples are no whole pixels of {channels}", x.len())));
        }
        // Four bytes are one word.
        let words = T::DTYPE == DType::U8 && channels == 4 && x.offset().is_multiple_of(4);
        Ok(Self { x, channels, active, words })
    }

    pub(super) fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        let (x, pixels) = (self.x, self.x.len() / u64::from(self.channels));
        if !self.words {
            let each = |k: u64| (&x.strided(k.min(x.len()), pixels, self.channels.into())?).collect(c);
            return (0..u64::from(self.active)).try_for_each(each);
        }
        let leaf = Leaf::Elements { raw: x.raw().clone(), dtype: DType::U32, offset: x.offset() / 4, stride: 1 };
        c.length(pixels)?;
        c.push(Some(x.device()), DType::U32, Param::Value(Ty::U32), leaf)
    }

    /// A pixel's samples, by parameters from `next` on.
    pub(super) fn exprs(&self, next: &mut u16) -> Vec<Expr<T::Reg>> {
        let first = *next;
        if self.words {
            *next += 1;
            let word = <Expr<u32> as Traced>::params(first);
            return (0..self.active).map(|k| ((word >> (8 * k)) & 0xff).same_as::<T::Reg>()).collect();
        }
        *next += self.active as u16;
        (first..*next).map(Traced::params).collect()
    }
}

/// The bins of all channels.
pub(super) fn all_bins(each: impl Iterator<Item = Result<u64>>) -> Result<u64> {
    let requested = each.sum::<Result<u64>>()?;
    if requested > MAX_BINS { Err(Error::TooLarge { what: "bins of all channels", requested, limit: MAX_BINS }) } else { Ok(requested) }
}

/// The places of samples by their bins, and how many bins each channel has: those of a channel lie behind those of the one before it.
pub(super) fn behind_each_other(bins: impl Iterator<Item = (Expr<u32>, u32)>) -> Vec<Value> {
    let mut start = 0;
    let place = |(bin, bins): (Expr<u32>, u32)| {
        let place = if start == 0 { bin } else { bin + start };
        start += bins;
        select(bin.lt(bins), place, u32::MAX).value()
    };
    bins.map(place).collect()
}

/// The places of samples, one of a channel, where all channels have the bins of one rule. Its numbers are parameters from `next` on.
pub(super) fn channels_bins<R: Sample>(samples: &[Expr<R>], rule: &Rule, next: u16, bins: u32) -> Vec<Value> {
    let bin = |&x: &Expr<R>| (R::bin(x, rule, &mut Next::Params(&mut next.clone())), bins);
    behind_each_other(samples.iter().map(bin))
}
