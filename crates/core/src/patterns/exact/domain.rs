//! The elements that an exact sum takes together, and the steps that it is made of.

use super::super::histogram::{Exact, words_as};
use super::super::moves::{IndexScalar, raw_as};
use super::super::segments::{Segments, check_offsets};
use super::super::select::{Count, Selected, starts};
use super::super::{Lines, Map as _, check_aliasing, check_ops};
use super::products;
use super::round::{Limbs, Rounding};
use super::{ExactSumTask, ExactSums};
use crate::backend::Backend;
use crate::buffer::{Buffer, DeviceScalar, Memory as _};
use crate::call::{Along, Checked, Keys, Offsets, Whole};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::{Collector, Input, Lent, Numbers, Source, array, counting, index, require, scalar};
use crate::ir::graph::{self, Value};
use crate::ir::{ArrayExpr, Expr, TracedValue, lit, select};
use crate::ops::Sum;
use crate::patterns::map::{check_index, collect, collect_lines};
use crate::patterns::{HistogramSum, HistogramTask};
use core::marker::PhantomData;
use std::sync::Arc;

const PATTERN: &str = "exact sum";
/// The most elements of one sum: it has no carry out of its words.
const MOST: u64 = 1 << 41;
/// The most elements of several sums, and of a mean.
const NUMBERED: u64 = u32::MAX as u64;
/// Elements of the shortest rows that have groups of threads of their own.
const ROW: u64 = 1024;

/// Sums, or means, of floats of type `T`.
#[derive(Clone, Copy, Debug)]
pub struct Of<T> {
    mean: bool,
    of: PhantomData<T>,
}

impl<T> Of<T> {
    pub(super) const fn sum() -> Self {
        Self { mean: false, of: PhantomData }
    }
    pub(super) const fn mean() -> Self {
        Self { mean: true, of: PhantomData }
    }
}

/// Terms that are added up exactly, made of an input's values.
pub trait Terms<E>: Copy {
    /// Results.
    type Sum: Element;
    /// Bits of results.
    #[doc(hidden)]
    #[expect(private_bounds, reason = "the fields of floats are none of a caller's business")]
    type Bits: Rounding;
    /// Form of the sums.
    #[doc(hidden)]
    const FORM: HistogramSum;
    /// Windows of binary places, from the lowest, whose words are added up apart.
    #[doc(hidden)]
    const WINDOWS: u32 = 1;
    /// Pieces of a term, each added on its own.
    #[doc(hidden)]
    const PIECES: u32 = 1;
    /// Bits of a term, or of its part `window * PIECES + piece` where there are several.
    #[doc(hidden)]
    fn bits(values: E, part: Option<Expr<u32>>) -> TracedValue;
    /// Whether sums are divided by the number of elements.
    #[doc(hidden)]
    fn is_mean(self) -> bool;
}

impl Terms<Expr<f32>> for Of<f32> {
    type Sum = f32;
    type Bits = u32;
    const FORM: HistogramSum = HistogramSum::Exact;
    fn bits(x: Expr<f32>, _: Option<Expr<u32>>) -> TracedValue {
        TracedValue(x.bitcast::<u32>().value())
    }
    fn is_mean(self) -> bool {
        self.mean
    }
}

impl Terms<Expr<f64>> for Of<f64> {
    type Sum = f64;
    type Bits = u64;
    const FORM: HistogramSum = HistogramSum::ExactWide;
    fn bits(x: Expr<f64>, _: Option<Expr<u32>>) -> TracedValue {
        TracedValue(x.bitcast::<u64>().value())
    }
    fn is_mean(self) -> bool {
        self.mean
    }
}

impl Terms<(Expr<f32>, Expr<f32>)> for Of<f32> {
    type Sum = f32;
    type Bits = u32;
    const FORM: HistogramSum = HistogramSum::ExactWide;
    fn bits((x, y): (Expr<f32>, Expr<f32>), _: Option<Expr<u32>>) -> TracedValue {
        TracedValue((x.cast::<f64>() * y.cast::<f64>()).bitcast::<u64>().value())
    }
    fn is_mean(self) -> bool {
        self.mean
    }
}

impl Terms<(Expr<f64>, Expr<f64>)> for Of<f64> {
    type Sum = f64;
    type Bits = u64;
    const FORM: HistogramSum = HistogramSum::ExactWide;
    const WINDOWS: u32 = products::WINDOWS;
    const PIECES: u32 = products::PIECES;
    fn bits((x, y): (Expr<f64>, Expr<f64>), part: Option<Expr<u32>>) -> TracedValue {
        TracedValue(products::part(x.bitcast(), y.bitcast(), part.unwrap_or_else(|| lit(0))).value())
    }
    fn is_mean(self) -> bool {
        self.mean
    }
}

/// The elements of one exact sum, and the form of the results.
pub trait ExactDomain<B: Backend> {
    /// Results in new memory.
    type New<T: Element>;
    /// The caller's buffers.
    type Refs<'a, T: Element>;

    /// Checks and enqueues the call, into new memory.
    #[doc(hidden)]
    fn run<I: Input<B>, O: Terms<I::Exprs>>(&self, device: &B, inputs: &I, of: O) -> Result<Self::New<O::Sum>>;

    /// Checks and enqueues the call, into the caller's buffers.
    #[doc(hidden)]
    fn write<I: Input<B>, O: Terms<I::Exprs>>(&self, device: &B, inputs: &I, of: O, out: Self::Refs<'_, O::Sum>) -> Result<()>;
}

impl<B: ExactSums> ExactDomain<B> for Whole {
    type New<T: Element> = DeviceScalar<B, T>;
    type Refs<'a, T: Element> = &'a Buffer<B, T>;

    fn run<I: Input<B>, O: Terms<I::Exprs>>(&self, device: &B, inputs: &I, of: O) -> Result<DeviceScalar<B, O::Sum>> {
        let out = device.buffer(1)?;
        self.write(device, inputs, of, &out)?;
        DeviceScalar::from_buffer(out)
    }

    fn write<I: Input<B>, O: Terms<I::Exprs>>(&self, device: &B, inputs: &I, of: O, out: &Buffer<B, O::Sum>) -> Result<()> {
        let c = collect(device, PATTERN, inputs)?;
        let n = c.len()?;
        Sums { device, inputs, of, c }.of_lines(Lines::one(n), out)
    }
}

impl<B: ExactSums> ExactDomain<B> for Along {
    type New<T: Element> = Buffer<B, T>;
    type Refs<'a, T: Element> = &'a Buffer<B, T>;

    fn run<I: Input<B>, O: Terms<I::Exprs>>(&self, device: &B, inputs: &I, of: O) -> Result<Buffer<B, O::Sum>> {
        let out = device.buffer(Lines::along(&self.shape, self.axis)?.count())?;
        self.write(device, inputs, of, &out)?;
        Ok(out)
    }

    fn write<I: Input<B>, O: Terms<I::Exprs>>(&self, device: &B, inputs: &I, of: O, out: &Buffer<B, O::Sum>) -> Result<()> {
        let lines = Lines::along(&self.shape, self.axis)?;
        let c = collect_lines(device, PATTERN, inputs, &lines)?;
        Sums { device, inputs, of, c }.of_lines(lines, out)
    }
}

impl<B: ExactSums, T: Count + IndexScalar> ExactDomain<B> for Offsets<'_, B, T> {
    type New<U: Element> = Buffer<B, U>;
    type Refs<'a, U: Element> = &'a Buffer<B, U>;

    fn run<I: Input<B>, O: Terms<I::Exprs>>(&self, device: &B, inputs: &I, of: O) -> Result<Buffer<B, O::Sum>> {
        let out = device.buffer(segments(self.0)?)?;
        self.write(device, inputs, of, &out)?;
        Ok(out)
    }

    fn write<I: Input<B>, O: Terms<I::Exprs>>(&self, device: &B, inputs: &I, of: O, out: &Buffer<B, O::Sum>) -> Result<()> {
        self.sums(device, (inputs, of), out, |_| Ok(()))
    }
}

impl<B: ExactSums, T: Count + IndexScalar> ExactDomain<B> for Checked<Offsets<'_, B, T>> {
    type New<U: Element> = Buffer<B, U>;
    type Refs<'a, U: Element> = &'a Buffer<B, U>;

    fn run<I: Input<B>, O: Terms<I::Exprs>>(&self, device: &B, inputs: &I, of: O) -> Result<Buffer<B, O::Sum>> {
        let out = device.buffer(segments(self.0.0)?)?;
        self.write(device, inputs, of, &out)?;
        Ok(out)
    }

    fn write<I: Input<B>, O: Terms<I::Exprs>>(&self, device: &B, inputs: &I, of: O, out: &Buffer<B, O::Sum>) -> Result<()> {
        self.0.sums(device, (inputs, of), out, |n| check_offsets(device, PATTERN, self.0.0, n))
    }
}

impl<B: ExactSums, T: Count + IndexScalar> Offsets<'_, B, T> {
    /// Checks the call, then the number of elements by `before`, and enqueues it.
    fn sums<I: Input<B>, O: Terms<I::Exprs>>(
        &self,
        device: &B,
        (inputs, of): (&I, O),
        out: &Buffer<B, O::Sum>,
        before: impl FnOnce(u64) -> Result<()>,
    ) -> Result<()> {
        let (offsets, groups) = (self.0, segments(self.0)?);
        offsets.check_device(device, "the array of offsets")?;
        let c = collect(device, PATTERN, inputs)?;
        let n = c.len()?;
        check_aliasing(PATTERN, &[offsets.leaf()], offsets.len(), &[(out.out(), groups)], false)?;
        let sums = Sums { device, inputs, of, c };
        let out = sums.check(n, NUMBERED, out, groups)?;
        before(n)?;
        // The number of offsets up to an element's index is one more than that of its segment.
        let bounds = offsets.map(|o| o.min(T::from_bits64(NUMBERED)).cast::<u32>());
        let labels = device.upper_bound(bounds, counting(n)).run()?;
        sums.by_labels(n, (&labels, |label| label - 1u32), &sums.limbs(groups)?, None, &out)
    }
}

/// The number of segments between offsets.
fn segments<B: Backend, T: Count>(offsets: &Buffer<B, T>) -> Result<u64> {
    Segments { bounds: offsets, count: None }.most()
}

impl<B: ExactSums, J: Numbers<B>> ExactDomain<B> for Keys<J> {
    type New<T: Element> = Selected<B, (Buffer<B, J::Element>, Buffer<B, T>)>;
    type Refs<'a, T: Element> = ((&'a Buffer<B, J::Element>, &'a Buffer<B, T>), &'a Buffer<B, u32>);

    fn run<I: Input<B>, O: Terms<I::Exprs>>(&self, device: &B, inputs: &I, of: O) -> Result<Self::New<O::Sum>> {
        let n = collect(device, PATTERN, inputs)?.len()?;
        let (keys, sums, count) = (device.buffer(n)?, device.buffer(n)?, device.buffer(1)?);
        self.write(device, inputs, of, ((&keys, &sums), &count))?;
        Ok(Selected { values: (keys, sums), count: DeviceScalar::from_buffer(count)? })
    }

    fn write<I: Input<B>, O: Terms<I::Exprs>>(
        &self,
        device: &B,
        inputs: &I,
        of: O,
        ((found, out), count): Self::Refs<'_, O::Sum>,
    ) -> Result<()> {
        let (c, of_keys) = (collect(device, PATTERN, inputs)?, collect(device, PATTERN, &self.0)?);
        let n = c.len()?;
        match of_keys.len() {
            Ok(found) if found != n => return Err(Error::LengthMismatch { what: "keys", expected: n, found }),
            _ => {}
        }
        count.check_device(device, "the count")?;
        found.check_device(device, "the keys found")?;
        for (what, required, available) in [("the count", 1, count.len()), ("the keys found", n, found.len())] {
            if available < required {
                return Err(Error::BufferTooSmall { what, required, available });
            }
        }
        let sums = Sums { device, inputs, of, c };
        let leaves = [sums.c.leaves.clone(), of_keys.leaves].concat();
        check_aliasing(PATTERN, &leaves, n, &[(out.out(), n), (found.out(), n), (count.out(), 1)], false)?;
        let out = sums.check(n, NUMBERED, out, n)?;
        let keys = match self.0.plain() {
            Some(keys) => keys.clone(),
            None => {
                let keys = device.buffer::<J::Element>(n)?;
                device.generate_into(n, Lent(&self.0), Expr::store_as::<J::Element>, &keys)?;
                keys
            }
        };
        let begins = (&keys, array(&keys), index()).map(|(key, all, i)| select(starts(Expr::eq, all, key, i), 1u32, 0u32));
        // Memory that there may not be comes before the first output.
        let limbs = sums.limbs(n)?;
        let labels = device.scan(begins, Sum).run()?;
        device.unique(&keys).by(Expr::eq).write_to((found, count))?;
        sums.by_labels(n, (&labels, |label| label - 1u32), &limbs, Some(count), &out)
    }
}

/// Sums of what an input has, before it is known which elements go together.
struct Sums<'a, B: Backend, I, O> {
    device: &'a B,
    inputs: &'a I,
    of: O,
    c: Collector<B>,
}

/// Numbers that sums are divided by.
enum Divisor<'a, B: Backend> {
    One(u32),
    Each(&'a Buffer<B, u32>),
}

impl<B: ExactSums, I: Input<B>, O: Terms<I::Exprs>> Sums<'_, B, I, O> {
    /// Checks `n` elements, at most `most`, and an output of so many sums, which is returned.
    fn check(&self, n: u64, most: u64, out: &Buffer<B, O::Sum>, sums: u64) -> Result<Buffer<B, O::Sum>> {
        out.check_device(self.device, "the output")?;
        require(self.device, PATTERN, O::Sum::DTYPE)?;
        if out.len() < sums {
            return Err(Error::BufferTooSmall { what: "the output", required: sums, available: out.len() });
        }
        let most = if self.of.is_mean() { most.min(NUMBERED) } else { most };
        if n > most {
            return Err(Error::TooLarge { what: "elements of exact sums", requested: n, limit: most });
        }
        O::FORM.check("exact sums", sums)?;
        check_index(&self.c, n)?;
        let func = graph::trace(self.collect(0)?.params, || vec![self.term(&mut 0)])?;
        check_ops(self.device, PATTERN, self.device.numerics(), &[&func])?;
        check_aliasing(PATTERN, &self.c.leaves, n, &[(out.out(), sums)], false)?;
        out.slice(..sums)
    }

    /// Memory for so many sums, of each window.
    fn limbs(&self, sums: u64) -> Result<Vec<Buffer<B, u32>>> {
        (0..O::WINDOWS).map(|_| self.device.buffer(sums * O::FORM.words(4))).collect()
    }

    /// The leaves of a part of terms.
    fn collect(&self, part: u32) -> Result<Collector<B>> {
        let mut c = collect(self.device, PATTERN, self.inputs)?;
        if O::WINDOWS * O::PIECES > 1 {
            // An argument, so that all parts are one kernel.
            scalar(part).collect(&mut c)?;
        }
        Ok(c)
    }

    /// The bits of a part of a term, of these leaves.
    fn term(&self, next: &mut u16) -> Value {
        let values = self.inputs.exprs(next);
        let part = (O::WINDOWS * O::PIECES > 1).then(|| Source::exprs(&scalar(0u32), next));
        O::bits(values, part).0
    }

    /// One sum a line.
    fn of_lines(&self, lines: Lines, out: &Buffer<B, O::Sum>) -> Result<()> {
        let device = self.device;
        let groups = lines.count();
        let out = self.check(lines.elements(), if groups == 1 { MOST } else { NUMBERED }, out, groups)?;
        if groups == 0 {
            return Ok(());
        }
        let limbs = self.limbs(groups)?;
        if lines.n == 0 || lines.inner == 1 && (groups == 1 || lines.n >= ROW) {
            for (window, limbs) in (0..O::WINDOWS).zip(&limbs) {
                device.fill(limbs, 0)?;
                for piece in 0..if lines.n > 0 { O::PIECES } else { 0 } {
                    let c = self.collect(window * O::PIECES + piece)?;
                    let func = Arc::new(graph::trace(c.params.clone(), || vec![self.term(&mut 0)])?);
                    let task = ExactSumTask { func, rows: groups, n: lines.n, sum: O::FORM, numerics: device.numerics() };
                    device.run(&task, &c.leaves, &[limbs.out()])?;
                }
            }
        } else {
            let (of_line, inner) = ((lines.n * lines.inner) as u32, lines.inner as u32);
            let label = |(i, of_line, inner): (Expr<u32>, Expr<u32>, Expr<u32>)| i / of_line * inner + i % inner;
            self.add(lines.elements(), ((index(), scalar(of_line), scalar(inner)), label), groups, &limbs)?;
        }
        self.round(&limbs, Divisor::One(if self.of.is_mean() { lines.n as u32 } else { 1 }), None, &out)
    }

    /// One sum a label in this memory, and where a number of sums is given as many as that.
    fn by_labels<L: Fn(Expr<u32>) -> Expr<u32>>(
        &self,
        n: u64,
        (labels, label): (&Buffer<B, u32>, L),
        limbs: &[Buffer<B, u32>],
        count: Option<&Buffer<B, u32>>,
        out: &Buffer<B, O::Sum>,
    ) -> Result<()> {
        let (device, groups) = (self.device, out.len());
        if groups == 0 {
            return Ok(());
        }
        self.add(n, (labels, &label), groups, limbs)?;
        if !self.of.is_mean() {
            return self.round(limbs, Divisor::One(1), count, out);
        }
        let counts = device.buffer(groups)?;
        let c = collect(device, PATTERN, &labels)?;
        let func = Arc::new(graph::trace(c.params.clone(), || vec![label(Source::exprs(&labels, &mut 0)).value()])?);
        device.fill(&counts, 0)?;
        if n > 0 {
            let (sum, numerics) = (HistogramSum::Count, device.numerics());
            let task = HistogramTask { func, n, bins: groups, sum, clears: true, numerics };
            device.run(&task, &c.leaves, &[counts.out()])?;
        }
        self.round(limbs, Divisor::Each(&counts), count, out)
    }

    /// Adds every element to the sum that its label names.
    fn add<L: Input<B>, F: Fn(L::Exprs) -> Expr<u32>>(
        &self,
        n: u64,
        (labels, label): (L, F),
        groups: u64,
        limbs: &[Buffer<B, u32>],
    ) -> Result<()> {
        for (window, limbs) in (0..O::WINDOWS).zip(limbs) {
            if n == 0 {
                self.device.fill(limbs, 0)?;
                continue;
            }
            for piece in 0..O::PIECES {
                let mut c = self.collect(window * O::PIECES + piece)?;
                labels.collect(&mut c)?;
                let func = graph::trace(c.params.clone(), || {
                    let mut next = 0;
                    let term = self.term(&mut next);
                    vec![label(labels.exprs(&mut next)).value(), term]
                })?;
                let (func, numerics) = (Arc::new(func), self.device.numerics());
                let task = HistogramTask { func, n, bins: groups, sum: O::FORM, clears: piece == 0, numerics };
                self.device.run(&task, &c.leaves, &[limbs.out()])?;
            }
        }
        Ok(())
    }

    /// Rounds sums, or their quotients, in parts that every device binds; of a number of sums that is counted only those.
    fn round(
        &self,
        limbs: &[Buffer<B, u32>],
        divisor: Divisor<'_, B>,
        count: Option<&Buffer<B, u32>>,
        out: &Buffer<B, O::Sum>,
    ) -> Result<()> {
        let device = self.device;
        let (words, wide) = (O::FORM.words(4), O::FORM == HistogramSum::ExactWide);
        let (in_a_map, form) = if wide { (u64::IN_A_MAP, Limbs::of::<u64>()) } else { (u32::IN_A_MAP, Limbs::of::<u32>()) };
        // Where a sum has the type of its terms, there is nothing to divide.
        let plain = !self.of.is_mean() && words == <O::Bits as Exact>::words();
        let bits: Buffer<B, O::Bits> = raw_as(out)?;
        let quotient = |(i, limbs, divisor): (Expr<u32>, ArrayExpr<u32>, Expr<u32>)| form.quotient::<O::Bits>(i, limbs, divisor);
        for at in (0..out.len()).step_by(in_a_map as usize) {
            let part = at..out.len().min(at + in_a_map);
            let n = part.end - part.start;
            let of_part = |limbs: &Buffer<B, u32>| limbs.slice(part.start * words..part.end * words);
            let (limbs, upper) = (of_part(&limbs[0])?, limbs.get(1).map(of_part).transpose()?);
            let bits = bits.slice(part.clone())?;
            let to = if count.is_some() { device.buffer(n)? } else { bits.clone() };
            match (&upper, &divisor) {
                (Some(upper), _) => {
                    products::carry(device, &limbs, upper, n)?;
                    let rounded = |(i, lower, upper)| products::rounded::<O::Bits>(i, lower, upper);
                    device.generate_into(n, (index(), array(&limbs), array(upper)), rounded, &to)?;
                }
                (None, _) if plain => {
                    let limbs: Buffer<B, O::Bits> = words_as(&limbs)?;
                    device.generate_into(n, (index(), array(&limbs)), |(i, limbs)| O::Bits::rounded(i, limbs), &to)?;
                }
                (None, Divisor::One(of_each)) => device.generate_into(n, (index(), array(&limbs), scalar(*of_each)), quotient, &to)?,
                (None, Divisor::Each(counts)) => device.generate_into(n, (index(), array(&limbs), &counts.slice(part)?), quotient, &to)?,
            }
            if let Some(count) = count {
                let there = |((i, first), count, new, old): ((Expr<u32>, Expr<u32>), ArrayExpr<u32>, Expr<O::Bits>, Expr<O::Bits>)| {
                    select((first + i).lt(count.at(0)), new, old)
                };
                device.map_into(((index(), scalar(at as u32)), array(count), &to, &bits), there, &bits)?;
            }
        }
        Ok(())
    }
}
