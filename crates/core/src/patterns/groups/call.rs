//! Checks that all patterns of groups make, and the bits of their conditions.

use super::{BallotTask, Groups, MASK_WIDTH, Peers, PeersTask};
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::element::{Element, Scalar};
use crate::error::{Error, Result};
use crate::input::{Collector, Input, Source as _, array, index, require, scalar};
use crate::ir::{ArrayExpr, Expr, Func, lit, select};
use crate::ops::Sum;
use crate::patterns::map::{check_index, collect, trace};
use crate::patterns::{Map as _, check_aliasing, check_ops};
use std::sync::Arc;

/// Indices are `u32`, and so are those of the ends of words.
const MOST: u64 = u32::MAX as u64 - 63;

/// The width of groups of so many elements: no more than there are.
pub(super) fn check_width(width: u64, n: u64) -> Result<u64> {
    if width == 0 {
        return Err(Error::InvalidArgument { what: "width", reason: "a group has at least one element".to_owned() });
    }
    if n > MOST {
        return Err(Error::TooLarge { what: "elements in groups", requested: n, limit: MOST });
    }
    Ok(width.min(n.max(1)))
}

pub(super) fn check_out<B: Backend, T: Element>(device: &B, required: u64, out: &Buffer<B, T>) -> Result<()> {
    out.check_device(device, "the output")?;
    require(device, "groups", T::DTYPE)?;
    let available = out.len();
    if available < required { Err(Error::BufferTooSmall { what: "the output", required, available }) } else { Ok(()) }
}

/// The inputs of a pattern of groups, and its condition or key as words.
pub(crate) struct Call<B: Backend> {
    pattern: &'static str,
    c: Collector<B>,
    func: Arc<Func>,
    pub(super) n: u64,
    pub(super) width: u64,
}

impl<B: Backend> Call<B> {
    fn new<I: Input<B>, K: Scalar>(
        device: &B,
        pattern: &'static str,
        inputs: &I,
        width: Option<u64>,
        f: impl FnOnce(I::Exprs) -> Expr<K>,
    ) -> Result<Self> {
        let c = collect(device, pattern, inputs)?;
        let n = c.len()?;
        let width = check_width(width.unwrap_or(MOST), n)?;
        let func = match (K::TY, K::TY.words()) {
            (crate::element::Ty::Bool, _) => trace(inputs, &c, |x| f(x).cast::<u32>())?,
            (_, 1) => trace(inputs, &c, |x| f(x).bitcast::<u32>())?,
            _ => trace(inputs, &c, |x| f(x).bitcast::<u64>())?,
        };
        check_ops(device, pattern, device.numerics(), &[&func])?;
        check_index(&c, n)?;
        Ok(Self { pattern, c, func, n, width })
    }

    pub(super) fn condition<I: Input<B>>(
        device: &B,
        pattern: &'static str,
        inputs: &I,
        width: u64,
        f: impl FnOnce(I::Exprs) -> Expr<bool>,
    ) -> Result<Self> {
        Self::new(device, pattern, inputs, Some(width), f)
    }

    pub(super) fn key<I: Input<B>, K: Scalar>(
        device: &B,
        pattern: &'static str,
        inputs: &I,
        width: u64,
        f: impl FnOnce(I::Exprs) -> Expr<K>,
    ) -> Result<Self> {
        Self::new(device, pattern, inputs, Some(width), f)
    }

    /// All elements in one group.
    pub(crate) fn whole<I: Input<B>, K: Scalar>(
        device: &B,
        pattern: &'static str,
        inputs: &I,
        f: impl FnOnce(I::Exprs) -> Expr<K>,
    ) -> Result<Self> {
        Self::new(device, pattern, inputs, None, f)
    }

    pub(super) const fn groups(&self) -> u64 {
        self.n.div_ceil(self.width)
    }

    pub(super) const fn ballot_words(&self) -> u64 {
        self.groups() * self.width.div_ceil(32)
    }

    pub(super) fn key_words(&self) -> usize {
        self.func.result_words()
    }

    /// Outputs of these lengths must be there, apart from each other and from the inputs.
    pub(super) fn check(&self, device: &B, outs: &[(&Buffer<B, u32>, u64)]) -> Result<()> {
        for (out, len) in outs {
            check_out(device, *len, out)?;
        }
        let outs: Vec<_> = outs.iter().map(|(out, len)| (out.out(), *len)).collect();
        check_aliasing(self.pattern, &self.c.leaves, self.n, &outs, false)
    }

    /// The key's words, stored.
    pub(super) fn keys<K: Element>(&self, device: &B) -> Result<Buffer<B, K>>
    where
        B: Run<super::MapTask>,
    {
        let keys: Buffer<B, K> = device.buffer(self.n)?;
        let task = super::MapTask { func: Arc::clone(&self.func), n: self.n, numerics: device.numerics() };
        device.run(&task, &self.c.leaves, &[keys.out()])?;
        Ok(keys)
    }

    /// Peers among groups of at most 32.
    pub(super) fn peers(&self, device: &B, peers: Peers, outs: &[&Buffer<B, u32>]) -> Result<()>
    where
        B: Run<PeersTask>,
    {
        let outs: Vec<_> = outs.iter().map(|o| o.out()).collect();
        let (func, numerics) = (Arc::clone(&self.func), device.numerics());
        device.run(&PeersTask { func, n: self.n, width: self.width as u32, peers, numerics }, &self.c.leaves, &outs)
    }
}

impl<B: Groups> Call<B> {
    /// A bit to each element.
    pub(super) fn bits(&self, device: &B) -> Result<Buffer<B, u32>> {
        let bits = device.buffer(self.n.div_ceil(32))?;
        self.bits_into(device, &bits)?;
        Ok(bits)
    }

    fn bits_into(&self, device: &B, bits: &Buffer<B, u32>) -> Result<()> {
        let task = BallotTask { func: Arc::clone(&self.func), n: self.n, numerics: device.numerics() };
        device.run(&task, &self.c.leaves, &[bits.out()])
    }

    pub(super) fn ballot(&self, device: &B, out: &Buffer<B, u32>) -> Result<()> {
        self.check(device, &[(out, self.ballot_words())])?;
        if self.n == 0 {
            return Ok(());
        }
        // The words are the bits as they come, where groups begin with words and the last one has as many as the others.
        if (self.width.is_multiple_of(32) || self.groups() == 1) && self.ballot_words() == self.n.div_ceil(32) {
            return self.bits_into(device, out);
        }
        let bits = self.bits(device)?;
        let words = self.width.div_ceil(32) as u32;
        let word = |(bits, j, n, width, words): (ArrayExpr<u32>, Expr<u32>, Expr<u32>, Expr<u32>, Expr<u32>)| {
            let group = j / words;
            let (first, before) = (group * width, (j - group * words) * 32);
            let len = width.min(n - first);
            let here = select(len.gt(before), (len - before).min(32), 0u32);
            bits_from(bits, first + before) & low_ones(here)
        };
        let all = (array(&bits), index(), scalar(self.n as u32), scalar(self.width as u32), scalar(words));
        device.generate_into(self.ballot_words(), all, word, out)
    }

    pub(super) fn masks(&self, device: &B, width: u64, out: &Buffer<B, u32>) -> Result<()> {
        if width > MASK_WIDTH {
            let reason = format!("a mask has {MASK_WIDTH} bits, which are fewer than the {width} elements of a group");
            return Err(Error::InvalidArgument { what: "width", reason });
        }
        self.check(device, &[(out, self.n)])?;
        if self.n == 0 { Ok(()) } else { self.peers(device, Peers::Mask, &[out]) }
    }
}

/// `vote` of how many elements meet the condition, and of how many there are, for each group.
pub(super) fn per_group<B: Groups>(
    device: &B,
    call: &Call<B>,
    vote: impl Fn(Expr<u32>, Expr<u32>) -> Expr<u32>,
    out: &Buffer<B, u32>,
) -> Result<()> {
    let groups = call.groups();
    call.check(device, &[(out, groups)])?;
    if call.n == 0 {
        return Ok(());
    }
    let bits = call.bits(device)?;
    let all = (array(&bits), index(), scalar(call.n as u32), scalar(call.width as u32));
    if call.width <= MASK_WIDTH {
        let one = |(bits, g, n, width)| {
            let (group, len) = bits_of_group(bits, g * width, n, width);
            vote(group.count_ones(), len)
        };
        return device.generate_into(groups, all, one, out);
    }
    let sums = sums(device, &bits)?;
    let one = |((bits, g, n, width), sums): ((_, Expr<u32>, Expr<u32>, Expr<u32>), _)| {
        let first = g * width;
        let len = width.min(n - first);
        vote(of_bits(bits, sums, first + len) - of_bits(bits, sums, first), len)
    };
    device.generate_into(groups, (all, array(&sums)), one, out)
}

/// Ones up to and with each word.
pub(super) fn sums<B: Groups>(device: &B, bits: &Buffer<B, u32>) -> Result<Buffer<B, u32>> {
    device.scan(bits.map(Expr::count_ones), Sum).run()
}

/// Ones before bit `i`. What is fetched from before the first word, or behind the last, is zero.
pub(super) fn of_bits(bits: ArrayExpr<u32>, sums: ArrayExpr<u32>, i: Expr<u32>) -> Expr<u32> {
    let word = i >> 5;
    sums.at(word - 1u32) + (bits.at(word) & low_ones(i & 31u32)).count_ones()
}

/// The bits of a group of at most 32 that begins at `first`, and how many there are.
pub(super) fn bits_of_group(bits: ArrayExpr<u32>, first: Expr<u32>, n: Expr<u32>, width: Expr<u32>) -> (Expr<u32>, Expr<u32>) {
    let len = width.min(n - first);
    (bits_from(bits, first) & low_ones(len), len)
}

/// 32 bits from bit `first` on.
fn bits_from(bits: ArrayExpr<u32>, first: Expr<u32>) -> Expr<u32> {
    let (word, shift) = (first >> 5, first & 31u32);
    // A shift by 32 is one by 1 and one by 31.
    (bits.at(word) >> shift) | ((bits.at(word + 1u32) << 1) << (lit(31u32) - shift))
}

/// So many ones, 0 to 32, from the lowest bit on.
fn low_ones(count: Expr<u32>) -> Expr<u32> {
    select(count.ge(32), u32::MAX, (lit(1u32) << (count & 31u32)) - 1)
}
