//! Sums in the orders that other programs add in: one after the other, by NumPy's pairs, and with a running correction.

mod segments;

use super::map::{collect, collect_lines};
use super::{Lines, Map, Reduce, check_aliasing};
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::call::{Along, Whole};
use crate::element::{Element, Float, Num, Scalar, Ty};
use crate::error::{Error, Result};
use crate::input::{Elements, Lent, Numbers, Outputs as _, array, counting, scalar};
use crate::ir::{ArrayExpr, Expr, lit, next_while, repeat, select};
use crate::ops::Sum;

/// The order of a sum's additions, and what is done about their roundings.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SumOrder {
    /// One element after the other, as in a loop, and in NumPy's sums along an axis that is not the last.
    Sequential,
    /// NumPy 2.4's pairwise summation, as of `np.sum` of a contiguous array of `f32` or `f64` or along its last axis: halves, the first one's length rounded
    /// down to a multiple of 8, down to blocks of at most 128, which have eight sums of every eighth element, added in pairs, and then the rest. Older
    /// versions (1.24 for one) sum blocks of 8192 elements so, and add these one after another.
    Pairwise,
    /// Kahan's: what an addition loses is subtracted from the next element. Infinity makes it NaN.
    Kahan,
    /// Neumaier's: what additions lose of the lesser operand is summed apart, and added at the end. Infinity makes it NaN.
    Neumaier,
}

/// The type that elements are summed in.
type RegOf<B, I> = <<I as Elements<B>>::Element as Element>::Reg;

/// Sums in orders of evaluation that are part of the contract, for results of other programs, bit for bit. A [reduction](Reduce) has an order of its own,
/// and is faster; the exact sum has none.
///
/// Elements are floats, `f16` as `f32`. Every sum begins with +0, as NumPy's, so that of nothing and that of zeros is +0. Sequential and corrected sums of
/// a line are one lane's work, so they are parallel over lines alone; pairwise sums have a lane for each part of up to 256 elements. At most 2^32 - 1
/// elements. An input that is no array is stored first. Scratch: a value a line, and of pairwise sums one a part.
///
/// Source: Kahan, *Further remarks on reducing truncation errors* (1965); Neumaier, *Rundungsfehleranalyse einiger Verfahren zur Summation endlicher
/// Summen* (1974); NumPy 2.4, `pairwise_sum` of `loops_utils.h.src`; Higham, *The accuracy of floating point summation* (1993).
pub trait OrderedSum: Map + Reduce {
    /// The sum of all elements. Modifiers: [`axis`](OrderedSumCall::axis), [`segments`](OrderedSumCall::segments).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, 1e-8, 1e-8, 1e-8, 1e-8, 1e-8, 1e-8, 1e-8, 1e-8, 1e-8, 1e-8, 1e-8])?;
    /// let sum = |order| dev.ordered_sum(&x, order).run()?.read_blocking();
    /// assert_eq!(sum(SumOrder::Sequential)?, 1.0);
    /// assert_eq!(sum(SumOrder::Kahan)?, 1.000_000_1);
    /// let rows = dev.ordered_sum(x.map(|x| x * 2.0), SumOrder::Pairwise).axis(&[3, 4], 1).run()?;
    /// assert_eq!(rows.read_blocking()?, [2.0, 8e-8, 8e-8]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn ordered_sum<I: Numbers<Self>>(&self, x: I, order: SumOrder) -> OrderedSumCall<'_, Self, I>
    where
        RegOf<Self, I>: Float + Num + Element<Reg = RegOf<Self, I>>,
    {
        OrderedSumCall { device: self, x, order, over: Whole }
    }
}
impl<B: Map + Reduce> OrderedSum for B {}

/// An ordered sum that is described; see [`OrderedSum::ordered_sum`].
#[derive(Clone, Debug)]
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct OrderedSumCall<'d, B, I, P = Whole> {
    device: &'d B,
    x: I,
    order: SumOrder,
    over: P,
}

impl<'d, B: Map + Reduce, I: Numbers<B>> OrderedSumCall<'d, B, I>
where
    RegOf<B, I>: Float + Num + Element<Reg = RegOf<B, I>>,
{
    /// The sum of each line along an axis of a row-major array of this shape.
    pub fn axis(self, shape: &[u64], axis: usize) -> OrderedSumCall<'d, B, I, Along> {
        let Self { device, x, order, .. } = self;
        OrderedSumCall { device, x, order, over: Along { shape: shape.to_vec(), axis } }
    }

    /// Enqueues the sum into new memory.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more than 2^32 - 1 elements; as [`Map::map`].
    pub fn run(self) -> Result<DeviceScalar<B, RegOf<B, I>>> {
        let out = self.device.buffer(1)?;
        self.write_to(&out)?;
        DeviceScalar::from_buffer(out)
    }

    /// Enqueues the sum into the caller's memory.
    ///
    /// # Errors
    /// As [`run`](Self::run); [`Error::BufferTooSmall`], [`Error::WrongDevice`], [`Error::Aliasing`].
    pub fn write_to(self, out: &Buffer<B, RegOf<B, I>>) -> Result<()> {
        let n = collect(self.device, PATTERN, &Lent(&self.x))?.len()?;
        enqueue(self.device, &self.x, self.order, Lines::one(n), out)
    }
}

impl<B: Map + Reduce, I: Numbers<B>> OrderedSumCall<'_, B, I, Along>
where
    RegOf<B, I>: Float + Num + Element<Reg = RegOf<B, I>>,
{
    /// Enqueues the sums into new memory, one a line.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an axis that is not there, [`Error::TooLarge`] for more than 2^32 - 1 elements; as [`Map::map`].
    pub fn run(self) -> Result<Buffer<B, RegOf<B, I>>> {
        let out = self.device.buffer(Lines::along(&self.over.shape, self.over.axis)?.count())?;
        self.write_to(&out)?;
        Ok(out)
    }

    /// Enqueues the sums into the caller's memory.
    ///
    /// # Errors
    /// As [`run`](Self::run); [`Error::BufferTooSmall`], [`Error::WrongDevice`], [`Error::Aliasing`].
    pub fn write_to(self, out: &Buffer<B, RegOf<B, I>>) -> Result<()> {
        enqueue(self.device, &self.x, self.order, Lines::along(&self.over.shape, self.over.axis)?, out)
    }
}

/// Elements that a lane adds in a launch: a fraction of a second, so that no driver takes the device away, and no more turns than
/// [every device](crate::caps::Caps::loop_turns) takes.
const TURNS: u32 = 1 << 13;

/// The pattern's name in messages.
const PATTERN: &str = "ordered sum";

/// The most elements, and sums.
const MOST: u64 = u32::MAX as u64;

/// Elements of a block that NumPy does not halve.
const BLOCK: u32 = 128;

fn enqueue<B: Map + Reduce, I: Numbers<B>>(device: &B, x: &I, order: SumOrder, lines: Lines, out: &Buffer<B, RegOf<B, I>>) -> Result<()>
where
    RegOf<B, I>: Float + Num + Element<Reg = RegOf<B, I>>,
{
    let c = collect_lines(device, PATTERN, &Lent(x), &lines)?;
    if lines.elements() > MOST || lines.count() > MOST {
        let requested = lines.elements().max(lines.count());
        return Err(Error::TooLarge { what: "elements to sum in an order", requested, limit: MOST });
    }
    let mut outs = Vec::new();
    Expr::<RegOf<B, I>>::outs(device, out, lines.count(), &mut outs)?;
    check_aliasing(PATTERN, &c.leaves, lines.elements(), &outs, false)?;
    let out = &out.slice(..lines.count())?;
    if lines.count() == 0 {
        return Ok(());
    }
    if lines.n == 0 {
        return device.map_into(counting(lines.count()), |_| zero::<RegOf<B, I>>(false), out);
    }
    let x = stored(device, x)?;
    match order {
        SumOrder::Pairwise => pairwise(device, &x, lines, out),
        _ => in_turn(device, &x, order, lines, out),
    }
}

/// The array that an input is, or is stored to.
fn stored<B: Map, I: Numbers<B>>(device: &B, x: &I) -> Result<Buffer<B, I::Element>> {
    match x.plain() {
        Some(x) => Ok(x.clone()),
        None => device.map(Lent(x), I::out),
    }
}

/// Sum and correction after another element.
fn next_of<R: Float + Num>(order: SumOrder, s: Expr<R>, c: Expr<R>, x: Expr<R>) -> (Expr<R>, Expr<R>) {
    match order {
        SumOrder::Kahan => {
            let y = x - c;
            let sum = s + y;
            (sum, (sum - s) - y)
        }
        SumOrder::Neumaier => {
            let sum = s + x;
            (sum, c + select(s.abs().ge(x.abs()), (s - sum) + x, (x - sum) + s))
        }
        _ => (s + x, c),
    }
}

/// +0, or -0, which added to a value leaves it as it is.
fn zero<T: Scalar>(negative: bool) -> Expr<T> {
    let sign = if T::TY == Ty::F64 { 1 << 63 } else { 1 << 31 };
    lit(T::from_bits64(if negative { sign } else { 0 }))
}

/// The index of the first element of a line.
fn start(line: Expr<u32>, n: Expr<u32>, inner: Expr<u32>) -> Expr<u32> {
    let outer = line / inner;
    outer * (inner * n) + (line - outer * inner)
}

/// One lane a line; `out` holds the sums between launches.
fn in_turn<B: Map, T: Element<Reg = R>, R>(device: &B, x: &Buffer<B, T>, order: SumOrder, lines: Lines, out: &Buffer<B, R>) -> Result<()>
where
    R: Float + Num + Element<Reg = R>,
{
    let corrections = device.buffer::<R>(lines.count())?;
    let (n, inner) = (lines.n as u32, lines.inner as u32);
    for first in (0..lines.n).step_by(TURNS as usize) {
        let end = (first + u64::from(TURNS)).min(lines.n) as u32;
        let numbers = (scalar(first as u32), scalar(end), scalar(n), scalar(inner));
        let add = |(line, x, (first, end, n, inner), s, c): (_, ArrayExpr<T>, (Expr<u32>, Expr<u32>, Expr<u32>, Expr<u32>), _, _)| {
            let begins = first.eq(0);
            let state = (select(begins, zero(false), s), select(begins, zero(false), c), first);
            let at = start(line, n, inner);
            let (s, c, _) = repeat(TURNS, state, |(s, c, i)| {
                let (s, c) = next_of(order, s, c, x.at(at + i * inner));
                next_while(i.lt(end), (s, c, i + 1))
            });
            (s, c)
        };
        device.map_into((counting(lines.count()), array(x), numbers, out, &corrections), add, (out, &corrections))?;
    }
    if order == SumOrder::Neumaier {
        device.map_into((out, &corrections), |(s, c)| s + c, out)?;
    }
    Ok(())
}

/// Halvings after which no part of a line has more elements than a block.
fn halvings(n: u64) -> u32 {
    let longer = |n: &u64| (*n > u64::from(BLOCK)).then(|| n - n / 2 / 8 * 8);
    std::iter::successors(Some(n), longer).count() as u32 - 1
}

/// The length of the first half.
fn half(len: Expr<u32>) -> Expr<u32> {
    (len >> 4) << 3
}

/// The sum of `len` elements, at most a block, which are `at` and every `inner`-th from there.
fn block<T: Element<Reg = R>, R: Float + Num>(x: ArrayExpr<T>, at: Expr<u32>, len: Expr<u32>, inner: Expr<u32>) -> Expr<R> {
    type Four<R> = (Expr<R>, Expr<R>, Expr<R>, Expr<R>);
    let one = |i: Expr<u32>| x.at(at + i * inner);
    let four = |i: Expr<u32>| (one(i), one(i + 1), one(i + 2), one(i + 3));
    let add = |a: Four<R>, b: Four<R>| (a.0 + b.0, a.1 + b.1, a.2 + b.2, a.3 + b.3);
    let pairs = |a: Four<R>| (a.0 + a.1) + (a.2 + a.3);
    let whole = len & !7u32;
    let first = (four(lit(0)), four(lit(4)), lit(8u32));
    let (a, b, _) = repeat(BLOCK / 8 - 1, first, |(a, b, i)| next_while(i.lt(whole), (add(a, four(i)), add(b, four(i + 4)), i + 8)));
    let sum = select(whole.eq(0), zero(true), pairs(a) + pairs(b));
    repeat(7, (sum, whole), |(sum, i)| next_while(i.lt(len), (sum + one(i), i + 1))).0
}

/// Where a part of `n` elements begins, and its length, after so many halvings: they are found by the bits of the part's number from the root on.
fn part_of(part: Expr<u32>, n: Expr<u32>, levels: Expr<u32>) -> (Expr<u32>, Expr<u32>) {
    let (at, len, _) = repeat(u32::BITS, (lit(0u32), n, levels), |(at, len, level)| {
        let (first, right) = (half(len), ((part >> (level - 1)) & 1).ne(0));
        let chosen = (select(right, at + first, at), select(right, len - first, first), level - 1);
        next_while(level.gt(0), chosen)
    });
    (at, len)
}

/// The sum of a part of one or two blocks; of nothing it is -0.
fn pairs_from<T: Element<Reg = R>, R: Float + Num>(x: ArrayExpr<T>, at: Expr<u32>, len: Expr<u32>, inner: Expr<u32>) -> Expr<R> {
    let (sum, ..) = repeat(2, (zero::<R>(true), at, len), |(sum, at, len)| {
        let taken = select(len.gt(BLOCK), half(len), len);
        next_while(len.gt(0), (sum + block(x, at, taken, inner), at + taken * inner, len - taken))
    });
    sum
}

/// A lane for each part of a line that is a block or two, and the tree of these.
fn pairwise<B: Map + Reduce, T: Element<Reg = R>, R>(device: &B, x: &Buffer<B, T>, lines: Lines, out: &Buffer<B, R>) -> Result<()>
where
    R: Float + Num + Element<Reg = R>,
{
    // Parts differ by less than 16 elements, so that the last halving alone leaves some as they are.
    let levels = halvings(lines.n).saturating_sub(1);
    let parts = lines.count() << levels;
    let numbers = (scalar(levels), scalar(lines.n as u32), scalar(lines.inner as u32));
    let sum = |(part, x, (levels, n, inner)): (Expr<u32>, ArrayExpr<T>, (Expr<u32>, Expr<u32>, Expr<u32>))| {
        let (at, len) = part_of(part, n, levels);
        pairs_from(x, start(part >> levels, n, inner) + at * inner, len, inner)
    };
    // -0 becomes +0.
    if levels == 0 {
        return device.map_into((counting(parts), array(x), numbers), |of| sum(of) + zero(false), out);
    }
    let partials = device.buffer::<R>(parts)?;
    device.map_into((counting(parts), array(x), numbers), sum, &partials)?;
    // The parts of a line are a power of two, so that the tree of a reduction has NumPy's pairs.
    device.reduce(&partials, Sum).axis(&[lines.count(), 1 << levels], 1).finish(|sum| sum + zero(false)).write_to(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_halving_leaves_parts_as_they_are() {
        for n in (1..70_000).chain((0..32).map(|k| (1 << k) - 1)).chain([u64::from(u32::MAX)]) {
            let (mut least, mut most) = (n, n);
            for _ in 0..halvings(n).saturating_sub(1) {
                assert!(least > u64::from(BLOCK), "{n}");
                (least, most) = (least / 2 / 8 * 8, most - most / 2 / 8 * 8);
            }
            assert!(most <= 2 * u64::from(BLOCK), "{n}: {most}");
        }
    }
}
