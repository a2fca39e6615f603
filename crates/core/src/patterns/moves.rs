//! P09 move, by index: gather, scatter, scatter-reduce, permutations, reversal, rotation, packing.

use super::check_aliasing;
use super::layout::{self, Axis, LayoutTask};
use super::map::Map;
use super::reduce::{Reduce, ReduceTask};
use crate::backend::{Leaf, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::element::{DType, Element, Int, Num};
use crate::error::{Error, Result};
use crate::input::{array, index, index64, require, scalar};
use crate::ir::{Expr, select};
use crate::ops::Min;
use crate::patterns::MapTask;

/// A gather as data: output element `i` is element `indices[i]` of the values. Leaves: the values (an array), the indices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct GatherTask {
    /// Indices.
    pub n: u64,
    /// What an index outside the values does: leave the output as it is, rather than store zero.
    pub keep: bool,
}

/// What a scatter does with the element that is already there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ScatterOp {
    /// Replace it. Where two sources have one target, any one of them stays.
    Store,
    /// Wrapping sum.
    Sum,
    /// The lesser.
    Min,
    /// The greater.
    Max,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

impl ScatterOp {
    /// Those that combine.
    pub const COMBINING: [Self; 6] = [Self::Sum, Self::Min, Self::Max, Self::And, Self::Or, Self::Xor];

    /// Its name in cases and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Sum => "sum",
            Self::Min => "min",
            Self::Max => "max",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
        }
    }
}

/// A scatter as data: target `indices[i]` becomes `op(target, values[i])`; indices outside the targets do nothing. Leaves: the values, the
/// indices. The output's element type is the values'.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct ScatterTask {
    /// Sources.
    pub n: u64,
    /// Targets.
    pub targets: u64,
    /// What happens at a target; other than [`ScatterOp::Store`] for 32- and 64-bit integers only.
    pub op: ScatterOp,
    /// The values are the sources' positions 0, 1, 2, ... and the first leaf is a value that nobody reads.
    pub positions: bool,
}

/// Types of indices: `u32`, `i32`, `u64`. A negative index is out of range, as is one that is too large.
pub trait IndexElement: Element<Reg = Self> + Int + Num {
    /// The index as a number of any sign.
    fn number(self) -> i128;
}
impl IndexElement for u32 {
    fn number(self) -> i128 {
        self.into()
    }
}
impl IndexElement for i32 {
    fn number(self) -> i128 {
        self.into()
    }
}
impl IndexElement for u64 {
    fn number(self) -> i128 {
        self.into()
    }
}

/// Elements moved by index. Elements of any type move as raw bits: NaN payloads and the sign of zero stay.
///
/// No access leaves a buffer, whatever the indices are: a gather of an index out of range gives zero bits, a scatter to one writes nothing. The
/// `_checked` forms wait for the device and return [`Error::IndexOutOfRange`] instead, having changed nothing.
///
/// # Duplicates
/// Where several sources of [`Move::scatter_into`] have one target, the last of them (the highest position) stays, as in NumPy and as in a loop.
/// That costs a pass over the targets; [`Move::scatter_unique_into`] asks for indices without duplicates and is one pass over the sources.
/// [`Move::scatter_reduce_into`] combines all of them by an integer operation, whose order cannot show.
///
/// No output may overlap an input. Work O(indices), and O(targets) in [`Move::scatter_into`], which also takes four bytes of scratch a target.
///
/// Source: NVIDIA's Thrust (gather, scatter); NumPy's `take` and index assignment.
pub trait Move: Run<GatherTask> + Run<ScatterTask> + Run<LayoutTask> + Run<MapTask> + Run<ReduceTask> {
    /// `values[indices[i]]` for every `i`.
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::OutOfMemory`], [`Error::WrongDevice`], [`Error::TooLarge`].
    fn gather<T: Element, I: IndexElement>(&self, values: &Buffer<Self, T>, indices: &Buffer<Self, I>) -> Result<Buffer<Self, T>> {
        let out = self.buffer(indices.len())?;
        self.gather_into(values, indices, &out)?;
        Ok(out)
    }

    /// As [`Move::gather`], into the caller's buffer.
    ///
    /// # Errors
    /// As [`Move::gather`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn gather_into<T: Element, I: IndexElement>(
        &self,
        values: &Buffer<Self, T>,
        indices: &Buffer<Self, I>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        gather(self, values, indices, out, false)
    }

    /// As [`Move::gather`]; an index out of range is an error. Waits for the device.
    ///
    /// # Errors
    /// As [`Move::gather`], and [`Error::IndexOutOfRange`] with the first offending position.
    fn gather_checked<T: Element, I: IndexElement>(&self, values: &Buffer<Self, T>, indices: &Buffer<Self, I>) -> Result<Buffer<Self, T>> {
        check_indices(self, "gather", indices, values.len())?;
        self.gather(values, indices)
    }

    /// `out[indices[i]] = values[i]` for every `i`; of several with one target the last stays. Other elements of `out` stay as they are.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if there are not as many values as indices; [`Error::TooLarge`] above 2^31 - 1 of them;
    /// [`Error::Unsupported`], [`Error::Aliasing`], [`Error::OutOfMemory`], [`Error::WrongDevice`].
    fn scatter_into<T: Element, I: IndexElement>(
        &self,
        values: &Buffer<Self, T>,
        indices: &Buffer<Self, I>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        check_scatter(self, "scatter", values, indices, out)?;
        if indices.is_empty() || out.is_empty() {
            return Ok(());
        }
        let last = last_sources(self, indices, out.len())?;
        gather(self, values, &last, out, true)
    }

    /// As [`Move::scatter_into`]; an index out of range is an error. Waits for the device.
    ///
    /// # Errors
    /// As [`Move::scatter_into`], and [`Error::IndexOutOfRange`] with the first offending position.
    fn scatter_checked_into<T: Element, I: IndexElement>(
        &self,
        values: &Buffer<Self, T>,
        indices: &Buffer<Self, I>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        check_scatter(self, "scatter", values, indices, out)?;
        check_indices(self, "scatter", indices, out.len())?;
        self.scatter_into(values, indices, out)
    }

    /// As [`Move::scatter_into`] in one pass, for indices of which no two are equal. Where two are, the target's bits are not determined; nothing
    /// else is touched.
    ///
    /// # Errors
    /// As [`Move::scatter_into`].
    fn scatter_unique_into<T: Element, I: IndexElement>(
        &self,
        values: &Buffer<Self, T>,
        indices: &Buffer<Self, I>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        check_scatter(self, "scatter_unique", values, indices, out)?;
        scatter(self, elements(values), indices, out, ScatterOp::Store)
    }

    /// As [`Move::scatter_unique_into`]; an index out of range and one that was there before are errors. Waits for the device.
    ///
    /// # Errors
    /// As [`Move::scatter_into`], [`Error::IndexOutOfRange`], and [`Error::DuplicateIndex`] with the first position whose index was there before.
    fn scatter_unique_checked_into<T: Element, I: IndexElement>(
        &self,
        values: &Buffer<Self, T>,
        indices: &Buffer<Self, I>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        check_scatter(self, "scatter_unique", values, indices, out)?;
        check_indices(self, "scatter_unique", indices, out.len())?;
        check_unique(self, "scatter_unique", indices, out.len())?;
        self.scatter_unique_into(values, indices, out)
    }

    /// `out[indices[i]] = op(out[indices[i]], values[i])` for every `i`, of integers: the same bits in whatever order. (Sums of floats depend on
    /// their order: sort by index and reduce by key.)
    ///
    /// # Errors
    /// As [`Move::scatter_into`]; [`Error::InvalidArgument`] for [`ScatterOp::Store`]; [`Error::Unsupported`] where a device has no atomic
    /// minimum and maximum of 64 bits.
    fn scatter_reduce_into<T: Element<Reg = T> + Int, I: IndexElement>(
        &self,
        values: &Buffer<Self, T>,
        indices: &Buffer<Self, I>,
        op: ScatterOp,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        if op == ScatterOp::Store {
            return Err(Error::InvalidArgument { what: "operator", reason: "storing combines nothing; use scatter_into".to_owned() });
        }
        check_scatter(self, "scatter_reduce", values, indices, out)?;
        scatter(self, elements(values), indices, out, op)
    }

    /// `x[order[i]]` for every `i`: NumPy's `x[order]`. As many indices as elements; an index out of range gives zero bits.
    ///
    /// # Errors
    /// As [`Move::gather`], and [`Error::LengthMismatch`].
    fn permute<T: Element, I: IndexElement>(&self, x: &Buffer<Self, T>, order: &Buffer<Self, I>) -> Result<Buffer<Self, T>> {
        same_length(x.len(), order.len())?;
        self.gather(x, order)
    }

    /// The inverse of [`Move::permute`]: element `order[i]` of the result is `x[i]`. For permutations; other indices leave zero bits where none
    /// points.
    ///
    /// # Errors
    /// As [`Move::permute`].
    fn permute_inverse<T: Element, I: IndexElement>(&self, x: &Buffer<Self, T>, order: &Buffer<Self, I>) -> Result<Buffer<Self, T>> {
        same_length(x.len(), order.len())?;
        let out = self.buffer(x.len())?;
        self.fill(&out, T::zeroed())?;
        self.scatter_unique_into(x, order, &out)?;
        Ok(out)
    }

    /// The elements from last to first.
    ///
    /// # Errors
    /// As [`Map::map`].
    fn reverse<T: Element>(&self, x: &Buffer<Self, T>) -> Result<Buffer<Self, T>> {
        let out = self.buffer(x.len())?;
        self.reverse_into(x, &out)?;
        Ok(out)
    }

    /// As [`Move::reverse`], into the caller's buffer.
    ///
    /// # Errors
    /// As [`Map::map_into`].
    fn reverse_into<T: Element>(&self, x: &Buffer<Self, T>, out: &Buffer<Self, T>) -> Result<()> {
        enough(out, x.len())?;
        macro_rules! mapped {
            ($word:ty) => {{
                let (x, out) = (raw_as::<Self, T, $word>(x)?, raw_as::<Self, T, $word>(out)?);
                self.map_into(&x.reversed(), Expr::store_as::<$word>, &out)
            }};
        }
        match T::DTYPE.size_bytes() {
            1 => mapped!(u8),
            4 => mapped!(u32),
            8 => mapped!(u64),
            _ => layout::copy(self, "reverse", &[Axis { n: x.len(), from: -1, to: 1 }], (x, x.len().saturating_sub(1)), (out, 0)),
        }
    }

    /// The elements moved up by `by` places, those that leave at the end coming back at the start: element `i` goes to `(i + by) mod n`
    /// (NumPy's `roll`).
    ///
    /// # Errors
    /// As [`Map::copy`].
    fn rotate<T: Element>(&self, x: &Buffer<Self, T>, by: i64) -> Result<Buffer<Self, T>> {
        let out = self.buffer(x.len())?;
        self.rotate_into(x, by, &out)?;
        Ok(out)
    }

    /// As [`Move::rotate`], into the caller's buffer of the same length.
    ///
    /// # Errors
    /// As [`Map::copy_into`].
    fn rotate_into<T: Element>(&self, x: &Buffer<Self, T>, by: i64, out: &Buffer<Self, T>) -> Result<()> {
        let n = x.len();
        if out.len() != n {
            return Err(Error::LengthMismatch { what: "the output", expected: n, found: out.len() });
        }
        if n == 0 {
            return self.copy_into(x, out);
        }
        let read = [Leaf::Elements { raw: x.raw().clone(), dtype: T::DTYPE, offset: x.offset(), stride: 1 }];
        check_aliasing("rotate", &read, n, &[(out.out(), n)], false)?;
        let by = i128::from(by).rem_euclid(i128::from(n)) as u64;
        self.copy_into(&x.slice(..n - by)?, &out.slice(by..)?)?;
        self.copy_into(&x.slice(n - by..)?, &out.slice(..by)?)
    }

    /// The low eight bits of every element, four to a word, the first lowest; what is missing to the last word is zero.
    ///
    /// # Errors
    /// As [`Map::map`].
    fn pack_u8(&self, x: &Buffer<Self, u32>) -> Result<Buffer<Self, u32>> {
        self.generate(x.len().div_ceil(4), (array(x), index()), |(x, i)| {
            let byte = |k: u32| (x.at(i * 4 + k) & 0xFFu32) << (8 * k);
            byte(0) | byte(1) | byte(2) | byte(3)
        })
    }

    /// The inverse of [`Move::pack_u8`]: the first `n` bytes of the words, each as an element.
    ///
    /// # Errors
    /// As [`Map::map`], and [`Error::OutOfRange`] for more bytes than there are.
    fn unpack_u8(&self, words: &Buffer<Self, u32>, n: u64) -> Result<Buffer<Self, u32>> {
        let len = words.len().saturating_mul(4);
        if n > len {
            return Err(Error::OutOfRange { what: "bytes of the words", start: 0, end: n, len });
        }
        self.generate(n, (array(words), index()), |(w, i)| (w.at(i / 4) >> ((i % 4) * 8)) & 0xFFu32)
    }
}
impl<B: Run<GatherTask> + Run<ScatterTask> + Run<LayoutTask> + Run<MapTask> + Run<ReduceTask>> Move for B {}

/// The same memory under the name of another type of the same size.
pub(crate) fn raw_as<B: crate::backend::Backend, T: Element, U: Element>(x: &Buffer<B, T>) -> Result<Buffer<B, U>> {
    Buffer::from_raw(x.device(), x.raw().clone(), x.offset(), x.len())
}

fn elements<B: crate::backend::Backend, T: Element>(x: &Buffer<B, T>) -> Option<Leaf<B::Raw>> {
    Some(Leaf::Elements { raw: x.raw().clone(), dtype: T::DTYPE, offset: x.offset(), stride: 1 })
}

fn same_length(expected: u64, found: u64) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::LengthMismatch { what: "indices", expected, found }) }
}

fn enough<B: crate::backend::Backend, T: Element>(out: &Buffer<B, T>, required: u64) -> Result<()> {
    let available = out.len();
    if available < required { Err(Error::BufferTooSmall { what: "the output", required, available }) } else { Ok(()) }
}

fn same_device<B: crate::backend::Backend, T: Element>(device: &B, b: &Buffer<B, T>, what: &'static str) -> Result<()> {
    if b.device().same_device(device) { Ok(()) } else { Err(Error::WrongDevice { what }) }
}

fn gather<B: Run<GatherTask>, T: Element, I: IndexElement>(
    device: &B,
    values: &Buffer<B, T>,
    indices: &Buffer<B, I>,
    out: &Buffer<B, T>,
    keep: bool,
) -> Result<()> {
    same_device(device, values, "the values")?;
    same_device(device, indices, "the indices")?;
    same_device(device, out, "the output")?;
    require(device, "gather", T::DTYPE)?;
    require(device, "gather", I::DTYPE)?;
    let n = indices.len();
    enough(out, n)?;
    let leaves = [
        Leaf::Array { raw: values.raw().clone(), dtype: T::DTYPE, offset: values.offset(), len: values.len() },
        Leaf::Elements { raw: indices.raw().clone(), dtype: I::DTYPE, offset: indices.offset(), stride: 1 },
    ];
    let dst = out.out();
    check_aliasing("gather", &leaves, n, &[(dst.clone(), n)], false)?;
    if n == 0 {
        return Ok(());
    }
    device.run(&GatherTask { n, keep }, &leaves, &[dst])
}

fn check_scatter<B: Run<ScatterTask>, T: Element, I: IndexElement>(
    device: &B,
    pattern: &'static str,
    values: &Buffer<B, T>,
    indices: &Buffer<B, I>,
    out: &Buffer<B, T>,
) -> Result<()> {
    same_device(device, values, "the values")?;
    same_device(device, indices, "the indices")?;
    same_device(device, out, "the output")?;
    require(device, pattern, T::DTYPE)?;
    require(device, pattern, I::DTYPE)?;
    let n = indices.len();
    same_length(values.len(), n)?;
    if n > MOST_SOURCES {
        return Err(Error::TooLarge { what: "sources of a scatter", requested: n, limit: MOST_SOURCES });
    }
    let leaf = |dtype: DType, raw: &B::Raw, offset| Leaf::Elements { raw: raw.clone(), dtype, offset, stride: 1 };
    let leaves = [leaf(T::DTYPE, values.raw(), values.offset()), leaf(I::DTYPE, indices.raw(), indices.offset())];
    if n > 0 {
        check_aliasing(pattern, &leaves, n, &[(out.out(), out.len())], false)?;
    }
    Ok(())
}

/// Positions of sources are kept as `i32`.
const MOST_SOURCES: u64 = i32::MAX as u64;

/// Enqueues a scatter whose operands were checked; without values, of the sources' positions.
fn scatter<B: Run<ScatterTask>, T: Element, I: IndexElement>(
    device: &B,
    values: Option<Leaf<B::Raw>>,
    indices: &Buffer<B, I>,
    out: &Buffer<B, T>,
    op: ScatterOp,
) -> Result<()> {
    let task = ScatterTask { n: indices.len(), targets: out.len(), op, positions: values.is_none() };
    if task.n == 0 || task.targets == 0 {
        return Ok(());
    }
    let indices = Leaf::Elements { raw: indices.raw().clone(), dtype: I::DTYPE, offset: indices.offset(), stride: 1 };
    device.run(&task, &[values.unwrap_or(Leaf::Value { bits: 0 }), indices], &[out.out()])
}

/// For every target the position of its last source, or -1.
fn last_sources<B: Move, I: IndexElement>(device: &B, indices: &Buffer<B, I>, targets: u64) -> Result<Buffer<B, i32>> {
    let last = device.buffer::<i32>(targets)?;
    device.fill(&last, -1)?;
    scatter(device, None, indices, &last, ScatterOp::Max)?;
    Ok(last)
}

/// Whether an index is outside `0..limit`, as an expression.
fn outside<I: IndexElement>(i: Expr<I>, limit: Expr<I>) -> Expr<bool> {
    i.ge(limit) | i.lt(I::from_bits64(0))
}

/// Fails for the first index that is outside `0..limit`.
pub(crate) fn check_indices<B: Move, I: IndexElement>(device: &B, pattern: &'static str, indices: &Buffer<B, I>, limit: u64) -> Result<()> {
    let most = match I::DTYPE {
        DType::I32 => i32::MAX as u64,
        DType::U32 => u32::MAX.into(),
        _ => u64::MAX,
    };
    if indices.is_empty() || (limit > most && I::DTYPE != DType::I32) {
        return Ok(());
    }
    // An i32 is below any limit above its range unless it is negative.
    let below = limit.min(most);
    let whole = I::DTYPE == DType::I32 && limit > most;
    let at = first_position(device, indices, move |i, bound| if whole { i.lt(I::from_bits64(0)) } else { outside(i, bound) }, below)?;
    match at {
        None => Ok(()),
        Some(position) => {
            let index = value_at(indices, position)?;
            Err(Error::IndexOutOfRange { pattern, position, index, limit })
        }
    }
}

fn value_at<B: crate::backend::Backend, I: IndexElement>(indices: &Buffer<B, I>, position: u64) -> Result<i128> {
    let one = indices.slice(position..=position)?.read_blocking()?;
    Ok(one.first().map_or(0, |i| i.number()))
}

/// The first position whose index meets the condition.
fn first_position<B: Move, I: IndexElement>(
    device: &B,
    indices: &Buffer<B, I>,
    meets: impl Fn(Expr<I>, Expr<I>) -> Expr<bool>,
    bound: u64,
) -> Result<Option<u64>> {
    let bound = scalar(I::from_bits64(bound));
    if indices.len() < u32::MAX.into() {
        let none = u32::MAX;
        let f = |(x, bound, i): (Expr<I>, Expr<I>, Expr<u32>)| select(meets(x, bound), i, none);
        let found = device.reduce_from((indices, bound, index()), f, Min)?.read_blocking()?;
        return Ok((found != none).then_some(found.into()));
    }
    let f = |(x, bound, i): (Expr<I>, Expr<I>, Expr<u64>)| select(meets(x, bound), i, u64::MAX);
    let found = device.reduce_from((indices, bound, index64()), f, Min)?.read_blocking()?;
    Ok((found != u64::MAX).then_some(found))
}

/// Fails for the first index that was there before. All are below `targets`.
fn check_unique<B: Move, I: IndexElement>(device: &B, pattern: &'static str, indices: &Buffer<B, I>, targets: u64) -> Result<()> {
    if indices.is_empty() {
        return Ok(());
    }
    let first = device.buffer::<i32>(targets)?;
    device.fill(&first, i32::MAX)?;
    scatter(device, None, indices, &first, ScatterOp::Min)?;
    let repeated = |(x, first, i): (Expr<I>, crate::ir::ArrayExpr<i32>, Expr<u32>)| select(first.at(x).cast::<u32>().ne(i), i, u32::MAX);
    let found = device.reduce_from((indices, array(&first), index()), repeated, Min)?.read_blocking()?;
    if found == u32::MAX {
        return Ok(());
    }
    Err(Error::DuplicateIndex { pattern, position: found.into(), index: value_at(indices, found.into())? })
}
