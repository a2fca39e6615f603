//! Patterns as data: one call for all of them, over buffers whose element types are known at run time.

use super::accuracy::ExactSum;
pub(super) use super::results::Results;
use super::{Convolution, Distribution, DynBuffer, DynInputs, Fourier, Histogram, Norm, Operator, Product, Simulation, Solving, cast_to};
use crate::backend::{Backend, Leaf};
use crate::buffer::{Buffer, Memory as _};
use crate::call::Variant;
use crate::element::{DType, Element, Ty};
use crate::error::{Error, Result};
use crate::ir::{Func, Param};
use crate::minifloat::MiniFloat;
use crate::patterns::{
    HistogramTask, Map as _, MergeTask, Overflow, Patterns, ReduceTask, ScanTask, ScatterOp, SearchKind, SortBy, SortOrder, SortTask,
    SumOrder, check_aliasing,
};
use crate::random::Random;

/// Elements that are taken together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Over {
    /// All of them.
    #[default]
    Whole,
    /// Each line along an axis of a row-major array of this shape.
    Axis(Vec<u64>, usize),
    /// Each run of equal neighbours of the first input, the keys.
    Keys,
    /// Each segment between offsets, the last input: integers of 32 or 64 bits, which are checked.
    Segments,
}

impl Over {
    /// Rows of `n` elements.
    #[must_use]
    pub fn rows(len: u64, n: u64) -> Self {
        if n == len { Self::Whole } else { Self::Axis(vec![if n == 0 { 0 } else { len.div_ceil(n) }, n], 1) }
    }
}

/// The order of keys.
#[derive(Clone, PartialEq, Debug)]
pub enum Order {
    /// Order of their values.
    Values(SortBy),
    /// One of the caller's: an operator of two keys that is not zero where the first comes before the second.
    Own(Func),
}

impl From<SortOrder> for Order {
    fn from(order: SortOrder) -> Self {
        Self::Values(order.into())
    }
}

impl From<SortBy> for Order {
    fn from(by: SortBy) -> Self {
        Self::Values(by)
    }
}

/// Results of a sort.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sorted {
    /// The keys.
    Keys,
    /// Where they were, as `u32`: in their row, or of segments in the array.
    Indices,
    /// Both, of one row.
    KeysAndIndices,
    /// The keys, and the second input's values, which travel with them.
    KeysAndValues,
}

/// A question about elements, answered by a `u32`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// 1 where a condition holds for some element, else 0.
    Any,
    /// 1 where it holds for every element, of none too, else 0.
    All,
    /// For how many it holds.
    Count,
    /// The lowest index at which it holds, or the number of elements.
    First,
}

/// Sources of a scatter and what is at their place before.
#[derive(Clone, PartialEq, Debug)]
pub enum Scattering {
    /// Replaced, or combined whatever the order.
    By(ScatterOp),
    /// Sums of `f32` in `i32` or `i64`, as fixed-point numbers of so many binary digits.
    Fixed(i32, Overflow),
    /// Combined in the order of the sources.
    InOrder(Operator),
}

/// Two sorted arrays as multisets: see [`Sets`](crate::patterns::Sets).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetOp {
    /// The elements of either.
    Union,
    /// The elements of both.
    Intersection,
    /// Elements of the first without those of the second.
    Difference,
    /// Elements that one has more often than the other.
    SymmetricDifference,
}

/// A pattern with its operator and modifiers; [`run`](Self::run) takes the inputs. Results are those of the typed pattern, bit for bit, and so are the checks.
///
/// ```
/// use isowarp_core::dynamic::{Call, DynBuffer, Operator, Over};
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let x = DynBuffer::from(dev.upload(&[1u8, 2, 3, 4])?);
/// let sums = Call::Reduce { op: Operator::named("sum").expect("known"), over: Over::Axis(vec![2, 2], 0) };
/// assert_eq!(sums.run(&dev, &[&x])?.one().read_blocking()?, [4, 6]);
/// # Ok::<(), isowarp::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Call {
    /// `func` of the inputs and the index, `n` times, converted by value to a type (a truth value gives 0 or 1).
    Map {
        /// The operator.
        func: Func,
        /// The number of elements.
        n: u64,
        /// The results' type.
        dtype: DType,
    },
    /// Codes of floats: `u8` of up to eight bits, else `u16`. With a generator they are rounded at random, by a word an element.
    Encode(MiniFloat, Option<Random>),
    /// Values of codes, which are unsigned integers of up to 32 bits, converted by value to a type.
    Decode(MiniFloat, DType),
    /// So many random numbers of a distribution, from a place of a stream on.
    Random {
        /// The first place.
        from: Random,
        /// The distribution.
        of: Distribution,
        /// The number of elements.
        n: u64,
        /// The results' type.
        dtype: DType,
    },
    /// Floats summed in an order of their own, of all elements or of lines, to their type.
    OrderedSum(SumOrder, Over),
    /// Exact sums of floats, or of products of two arrays, rounded once: of all elements, of lines or segments, to their register type.
    Exact(ExactSum, Over),
    /// The product of two matrices, which a third one may be added to, to their register type.
    Product(Product),
    /// The convolution of images by filters, to their register type.
    Convolve(Convolution),
    /// Solutions, factors, inverses or determinants of square matrices, to their type; beside them a permutation of LU, and the status of each system, `u32`.
    Solve(Solving),
    /// Distances of pairs of floats in units in the last place, `u32` or `u64`; and the words of [`UlpWords::words`](crate::patterns::UlpWords::words).
    Ulp,
    /// A transform along axes of an array of this shape: of points, pairs of floats, or of real numbers where these are transformed.
    Fft(Fourier, Vec<u64>),
    /// Spins after a simulation, or payments at the ends of paths.
    Simulate(Simulation),
    /// Elements combined, to [`Operator::result`]'s type. By key the results are the keys of the runs, and the second input's values combined.
    Reduce {
        /// The operator.
        op: Operator,
        /// Lines, runs or segments.
        over: Over,
    },
    /// `load` of the inputs combined, to the type of its results.
    Fold {
        /// Elements that are combined.
        load: Func,
        /// The operator.
        op: Operator,
    },
    /// Every prefix combined; exclusive: of the elements before. By key the second input is scanned.
    Scan {
        /// The operator.
        op: Operator,
        /// Lines, runs or segments.
        over: Over,
        /// Whether elements themselves are left out.
        exclusive: bool,
    },
    /// Every window of `len` elements combined, at every `step`-th place, of all elements or of lines.
    Window {
        /// The operator.
        op: Operator,
        /// Lines.
        over: Over,
        /// Elements of a window.
        len: u64,
        /// Elements from one window to the next.
        step: u64,
    },
    /// The lowest index of the least element: in its line, or of segments in the array. -0 is below +0, and the first NaN wins.
    Argmin(Over),
    /// The same of the greatest element.
    Argmax(Over),
    /// Sum of the products of two inputs of one type: every product is rounded.
    Dot,
    /// A norm of floats.
    Norm(Norm),
    /// Sum of floats divided by their number.
    Mean,
    /// A question about a condition over the inputs and the index.
    Ask(Question, Func),
    /// The elements at indices, the second input: integers of any size, which are checked. Along an axis each index is one of its line.
    Gather(Over),
    /// The third input with the first one's elements at the indices of the second, which are checked.
    Scatter(Scattering),
    /// An array of this shape with its axes in another order.
    PermuteAxes(Vec<u64>, Vec<usize>),
    /// An array of this shape in Morton order.
    ToMorton(Vec<u64>),
    /// The inverse.
    FromMorton(Vec<u64>),
    /// The elements from last to first.
    Reverse,
    /// The elements moved up by so many places.
    Rotate(i64),
    /// Keys in order, all of them, by row or by segment.
    Sort {
        /// The order.
        order: Order,
        /// Rows or segments.
        over: Over,
        /// Results.
        gives: Sorted,
    },
    /// The first keys, those of each row, in order; the values that travel with them, where there is a second input; and where they were in their row, `u32`.
    TopK {
        /// Number of keys.
        k: u64,
        /// The order.
        by: SortBy,
        /// Rows.
        over: Over,
    },
    /// Two sorted arrays as one; of keys, values, keys and values, both. That they are sorted is checked.
    Merge(Order),
    /// For each needle, the second input, what is found in the first, which is sorted and checked: `u32`, or `u64` where that is longer.
    Search(SearchKind, Order),
    /// A set operation on two sorted arrays, which are checked.
    Sets(SetOp, Order),
    /// For each rank, the third input, how many of so many first merged elements are of the first: `u32`, or `u64` for ranks of eight bytes. All is checked.
    CoRanks(SortOrder),
    /// 1 where no key comes before its left neighbour, else 0.
    IsSorted(Order),
    /// The first input's elements for which a condition over all inputs and the index holds; and where they were, `u32`.
    Select {
        /// The condition.
        keep: Func,
        /// Whether indices are returned.
        indices: bool,
    },
    /// All of the first input's elements, those first for which the conditions hold, one after the other; and how many they are, `u32`.
    Partition(Func, Option<Func>),
    /// The first of each run of equal neighbours; of keys and values, both.
    Unique,
    /// The first of each run of equal neighbours, and the runs' lengths, `u32`.
    RunLengthEncode,
    /// Each element as often as the second input, of integers, says. Waits for the device.
    RunLengthDecode,
    /// Each element less its left neighbour, or its right one; the element at the end stays.
    AdjacentDifference {
        /// Neighbour that is taken.
        right: bool,
    },
    /// Counts of bins, or sums of weights.
    Histogram(Histogram),
    /// For each group of so many elements the bits of whether a condition holds.
    Ballot(Func, u64),
    /// For each element the lowest place in its group of so many that has an element of the same bits, and how many have.
    Match(u64),
    /// For each element how many of the same bits come before it, and how many there are.
    Tickets,
}

impl Call {
    /// Enqueues the pattern on these inputs into new memory.
    ///
    /// # Errors
    /// As the typed pattern; [`Error::InvalidArgument`] for fewer or more inputs, and for types or modifiers that the pattern does not have;
    /// [`OpError`](crate::ir::OpError) where the inputs do not fit the operator.
    pub fn run<B: Patterns>(&self, device: &B, inputs: &[&DynBuffer<B>]) -> Result<Results<B>> {
        Job { device, inputs, out: None, start: 0 }.results(self)
    }

    /// As [`Call::run`], of a part of an array that begins at element `start`: operators see the array's indices, and places of what is selected are the
    /// array's. Runs, and what is combined, are those of the part.
    ///
    /// # Errors
    /// As [`Call::run`]; [`Error::TooLarge`] where an index of 32 bits does not reach `start`.
    pub fn run_from<B: Patterns>(&self, device: &B, inputs: &[&DynBuffer<B>], start: u64) -> Result<Results<B>> {
        Job { device, inputs, out: None, start }.results(self)
    }

    /// As [`Call::run`] by a [`Variant`], which reductions and scans of whole arrays, sorts and merges of keys by value, and histograms that count have.
    ///
    /// # Errors
    /// As [`Call::run`], and the variant's own; [`Error::InvalidArgument`] for another call.
    pub fn run_by<B: Patterns>(&self, device: &B, inputs: &[&DynBuffer<B>], variant: &dyn Variants<B>) -> Result<Results<B>> {
        Job { device, inputs, out: None, start: 0 }.by_variant(self, variant)
    }

    /// As [`Call::write_to`] by a variant, as [`Call::run_by`].
    ///
    /// # Errors
    /// As [`Call::run_by`] and [`Call::write_to`].
    pub fn write_by<B: Patterns>(&self, device: &B, inputs: &[&DynBuffer<B>], variant: &dyn Variants<B>, out: &DynBuffer<B>) -> Result<()> {
        self.check_writes()?;
        Job { device, inputs, out: Some(out), start: 0 }.by_variant(self, variant).map(drop)
    }

    /// Enqueues the pattern into the caller's buffer, which has the result's type. Arrays that have to be sorted are not checked.
    ///
    /// # Errors
    /// As [`Call::run`], and [`Error::BufferTooSmall`], [`Error::Aliasing`]; [`Error::InvalidArgument`] where not [`writes`](Self::writes).
    pub fn write_to<B: Patterns>(&self, device: &B, inputs: &[&DynBuffer<B>], out: &DynBuffer<B>) -> Result<()> {
        self.check_writes()?;
        Job { device, inputs, out: Some(out), start: 0 }.results(self).map(drop)
    }

    fn check_writes(&self) -> Result<()> {
        if self.writes() {
            return Ok(());
        }
        Err(Error::InvalidArgument { what: "the output", reason: "this call has several, or of unknown length: run it".to_owned() })
    }

    /// Whether the call has one result, whose length is known before.
    #[must_use]
    pub fn writes(&self) -> bool {
        match self {
            Self::Random { of, .. } => *of != Distribution::Permutation,
            Self::Reduce { over, .. } => *over != Over::Keys,
            Self::Sort { gives, .. } => matches!(gives, Sorted::Keys | Sorted::Indices),
            Self::Norm(_) | Self::Mean | Self::Ask(..) | Self::TopK { .. } | Self::Sets(..) | Self::IsSorted(_) | Self::Select { .. } => {
                false
            }
            Self::Partition(..) | Self::Unique | Self::RunLengthEncode | Self::RunLengthDecode | Self::Histogram(_) => false,
            Self::Ulp | Self::Solve(_) | Self::Ballot(..) | Self::Match(_) | Self::Tickets => false,
            _ => true,
        }
    }
}

/// A way to carry out the tasks of all verbs that have variants; some of them it may refuse.
pub trait Variants<B: Backend>:
    Variant<B, ReduceTask> + Variant<B, ScanTask> + Variant<B, SortTask> + Variant<B, MergeTask> + Variant<B, HistogramTask>
{
}
impl<B: Backend, V> Variants<B> for V where
    V: Variant<B, ReduceTask> + Variant<B, ScanTask> + Variant<B, SortTask> + Variant<B, MergeTask> + Variant<B, HistogramTask>
{
}

/// A call's operands.
#[derive(Clone, Copy)]
pub(super) struct Job<'a, B: Backend> {
    pub(super) device: &'a B,
    pub(super) inputs: &'a [&'a DynBuffer<B>],
    pub(super) out: Option<&'a DynBuffer<B>>,
    /// Index of the first element, of which operators and results count on.
    pub(super) start: u64,
}

impl<'a, B: Patterns> Job<'a, B> {
    /// The inputs, so many.
    pub(super) fn take<const N: usize>(&self) -> Result<[&'a DynBuffer<B>; N]> {
        let found = self.inputs.len();
        self.inputs.try_into().map_err(|_| Error::InvalidArgument { what: "inputs", reason: format!("the pattern takes {N}, not {found}") })
    }

    /// The first input of at least one.
    pub(super) fn first(&self) -> Result<&'a DynBuffer<B>> {
        self.inputs.first().copied().ok_or_else(|| Error::InvalidArgument { what: "inputs", reason: "there are none".to_owned() })
    }

    /// All inputs as the parameters of an operator.
    pub(super) fn operands<'f>(&self, func: &'f Func) -> DynInputs<'f, B>
    where
        'a: 'f,
    {
        DynInputs { params: &func.params, buffers: self.inputs, start: self.start }
    }

    /// Indices of elements, one operand.
    pub(super) fn index(&self) -> DynInputs<'static, B> {
        DynInputs { params: &[Param::Index(Ty::U32)], buffers: &[], start: self.start }
    }

    /// The only result, which `f` writes.
    pub(super) fn into<T: Element>(&self, len: u64, f: impl FnOnce(&Buffer<B, T>) -> Result<()>) -> Result<Results<B>> {
        let out = self.out.map_or_else(|| DynBuffer::new(self.device, T::DTYPE, len), |out| Ok(out.clone()))?;
        f(&out.typed::<T>()?)?;
        Ok(out.into())
    }

    /// The only result: a copy of what is there that `f` changes. An output of the caller's is written when nothing can be refused any more.
    pub(super) fn changed<T: Element>(&self, there: &Buffer<B, T>, f: impl FnOnce(&Buffer<B, T>) -> Result<()>) -> Result<Results<B>> {
        let out = self.out.map(DynBuffer::typed::<T>).transpose()?;
        if let Some(out) = &out {
            for DynBuffer { raw, dtype, offset, len, .. } in self.inputs {
                let input = Leaf::Elements { raw: raw.clone(), dtype: *dtype, offset: *offset, stride: 1 };
                check_aliasing("scatter", &[input], *len, &[(out.out(), out.len())], false)?;
            }
        }
        let copy = self.device.copy(there)?;
        f(&copy)?;
        let Some(out) = out else { return Ok(DynBuffer::from(copy).into()) };
        self.device.copy_into(&copy, &out)?;
        Ok(DynBuffer::from(out).into())
    }

    /// The only result, of elements that `f` writes, converted to another type.
    pub(super) fn cast<T: Element>(&self, dtype: DType, len: u64, f: impl FnOnce(&Buffer<B, T>) -> Result<()>) -> Result<Results<B>> {
        if let Some(out) = self.out.filter(|out| out.dtype != dtype) {
            return Err(Error::InvalidArgument { what: "the output", reason: format!("it holds {}, not {dtype}", out.dtype) });
        }
        if T::DTYPE == dtype {
            return self.into(len, f);
        }
        let wide = self.device.buffer::<T>(len)?;
        f(&wide)?;
        let out = self.out.map_or_else(|| DynBuffer::new(self.device, dtype, len), |out| Ok(out.clone()))?;
        cast_to(self.device, &wide.into(), &out)?;
        Ok(out.into())
    }

    fn by_variant(&self, call: &Call, variant: &dyn Variants<B>) -> Result<Results<B>> {
        match call {
            Call::Reduce { op, over: Over::Whole } => self.reduce_by(op, variant),
            Call::Scan { op, over: Over::Whole, exclusive } => self.scan_by(op, *exclusive, variant),
            Call::Sort { order: Order::Values(by), over: Over::Whole, gives: Sorted::Keys } => self.sort_by(by, variant),
            Call::Merge(Order::Values(by)) => self.merge_by(by, variant),
            Call::Histogram(of) => self.histogram_by(of, variant),
            _ => Err(Error::InvalidArgument { what: "variant", reason: "this call has none".to_owned() }),
        }
    }

    fn results(&self, call: &Call) -> Result<Results<B>> {
        match call {
            Call::Map { func, n, dtype } => self.map(func, *n, *dtype),
            Call::Encode(format, random) => self.encode(*format, *random),
            Call::Decode(format, dtype) => self.decode(*format, *dtype),
            Call::Random { from, of, n, dtype } => self.random(*from, of, *n, *dtype),
            Call::OrderedSum(order, over) => self.ordered_sum(*order, over),
            Call::Exact(of, over) => self.exact(*of, over),
            Call::Product(of) => self.product(of),
            Call::Convolve(of) => self.convolution(of),
            Call::Solve(of) => self.solve(of),
            Call::Ulp => self.ulp(),
            Call::Fft(of, shape) => self.fft(of, shape),
            Call::Simulate(of) => self.simulate(of),
            Call::Reduce { op, over } => self.reduce(op, over),
            Call::Fold { load, op } => self.fold(load, op),
            Call::Scan { op, over, exclusive } => self.scan(op, over, *exclusive),
            Call::Window { op, over, len, step } => self.window(op, over, *len, *step),
            Call::Argmin(over) => self.extreme("argmin", over, crate::ops::Min),
            Call::Argmax(over) => self.extreme("argmax", over, crate::ops::Max),
            Call::Dot => self.dot(),
            Call::Norm(which) => self.norm(*which),
            Call::Mean => self.mean(),
            Call::Ask(question, condition) => self.ask(*question, condition),
            Call::Gather(over) => self.gather(over),
            Call::Scatter(how) => self.scatter(how),
            Call::PermuteAxes(..) | Call::ToMorton(_) | Call::FromMorton(_) | Call::Reverse | Call::Rotate(_) => self.moved(call),
            Call::Sort { order, over, gives } => self.sort(order, over, *gives),
            Call::TopK { k, by, over } => self.top_k(*k, by, over),
            Call::Merge(order) => self.merge(order),
            Call::Search(kind, order) => self.search(*kind, order),
            Call::Sets(op, order) => self.sets(*op, order),
            Call::CoRanks(order) => self.co_ranks(*order),
            Call::IsSorted(order) => self.is_sorted(order),
            Call::Select { keep, indices } => self.select(keep, *indices),
            Call::Partition(first, second) => self.partition(first, second.as_ref()),
            Call::Unique => self.unique(),
            Call::RunLengthEncode => self.run_length_encode(),
            Call::RunLengthDecode => self.run_length_decode(),
            Call::AdjacentDifference { right } => self.adjacent_difference(*right),
            Call::Histogram(of) => self.histogram(of),
            Call::Ballot(holds, width) => self.ballot(holds, *width),
            Call::Match(width) => self.matched(*width),
            Call::Tickets => self.tickets(),
        }
    }
}
