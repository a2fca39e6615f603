//! Calls: a verb, its inputs and its operator, and the modifiers that all verbs share. A modifier that a verb does not have does not compile.
//!
//! ```
//! # use isowarp::prelude::*;
//! # let dev = isowarp::Cpu::new();
//! let (x, keys) = (dev.upload(&[1.0f32, 2.0, 3.0, 4.0])?, dev.upload(&[7u32, 7, 7, 2])?);
//! let sums = dev.scan(x.map(|x| x * x), Sum).by_key(&keys).exclusive().run()?;
//! assert_eq!(sums.read_blocking()?, [0.0, 1.0, 5.0, 0.0]);
//! # Ok::<(), isowarp::Error>(())
//! ```

mod array;
mod domains;
mod operators;
mod variant;

pub use array::{ArrayCall, Arrays};
pub use domains::{Along, Checked, Counted, CountedKeys, Domain, Flags, Keys, Offsets, Whole};
pub use operators::{Accumulate, Associative, ByClosure, ByOperator, Finish, Finished, Flag, HostValue, Unchanged};
pub(crate) use operators::{bits, constant};
pub(crate) use variant::run_variant;
pub use variant::{ByVariant, Variant};

use crate::backend::Backend;
use crate::buffer::{Buffer, DeviceScalar};
use crate::element::Scalar;
use crate::error::Result;
use crate::input::{Input, Mapped, Outputs, Source};
use crate::ir::{self, Accumulator, Expr, Func, cast_bits};
use crate::ops::Combine;
use crate::patterns::IndexScalar;
use crate::patterns::select::Count;
use core::fmt;
use core::marker::PhantomData;
use std::sync::Arc;

/// Inputs, operator and modifiers of a call; all but its domain.
#[doc(hidden)]
#[derive(Clone)]
pub struct Described<'d, B, I, O, F> {
    pub(crate) device: &'d B,
    pub(crate) inputs: I,
    pub(crate) op: O,
    pub(crate) finish: F,
    /// Whether a result is that of the elements before its own.
    pub(crate) exclusive: bool,
    pub(crate) initial: Option<Vec<u64>>,
}

impl<B, I, O, F> Described<'_, B, I, O, F> {
    /// The values that are stored of an accumulator.
    pub(crate) fn stored<A: Accumulator>(&self, a: A) -> F::Out
    where
        O: Accumulate<A>,
        F: Finish<A>,
    {
        match &self.initial {
            None => self.finish.finish(a),
            Some(value) => self.finish.finish(self.op.accumulate(constant(value), a)),
        }
    }

    /// The graph of [`stored`](Self::stored).
    pub(crate) fn stored_func<A: Accumulator>(&self) -> Result<Arc<Func>>
    where
        O: Accumulate<A>,
        F: Finish<A>,
    {
        if self.initial.is_none() { self.finish.finish_func() } else { Ok(Arc::new(ir::trace(|a: A| self.stored(a))?)) }
    }
}

/// A call that is described: [`run`](Self::run) and [`write_to`](Self::write_to) enqueue it. Modifiers come in any order, but that
/// [`accumulate_in`](Self::accumulate_in) goes before a [`finish`](Self::finish) of what it gives.
///
/// ```
/// use isowarp::call::ByOperator;
/// use isowarp::patterns::ScanCall;
/// use isowarp::prelude::*;
/// // A call is a value.
/// fn running<'d>(dev: &'d Device, x: &'d Buffer<Device, f32>, before: bool) -> ScanCall<'d, Device, &'d Buffer<Device, f32>, ByOperator<Sum>> {
///     let sums = dev.scan(x, Sum);
///     if before { sums.exclusive() } else { sums }
/// }
/// # let dev = Device::auto()?;
/// let x = dev.upload(&[1.0f32, 2.0])?;
/// assert_eq!(running(&dev, &x, true).initial(5.0).run()?.read_blocking()?, [5.0, 6.0]);
/// # Ok::<(), isowarp::Error>(())
/// ```
///
/// ```compile_fail,E0599
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// # let (x, flags) = (dev.upload(&[1u32])?, dev.upload(&[1u32])?);
/// dev.scan(&x, Sum).by_flags(&flags).by_key(&x).run()?; // segments of segments
/// # Ok::<(), isowarp::Error>(())
/// ```
/// ```compile_fail,E0599
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// # let x = dev.upload(&[1u32])?;
/// dev.scan_by(&x, |a, b| a + b).exclusive().run()?; // a closure has no identity
/// # Ok::<(), isowarp::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing is computed before `run` or `write_to`"]
pub struct Call<'d, V, B, I, O, F = Unchanged, P = Whole> {
    pub(crate) what: Described<'d, B, I, O, F>,
    pub(crate) domain: P,
    verb: PhantomData<V>,
}

impl<V, B, I, O, F, P: fmt::Debug> fmt::Debug for Call<'_, V, B, I, O, F, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("verb", &core::any::type_name::<V>()).field("domain", &self.domain).finish_non_exhaustive()
    }
}

impl<'d, V, B, I, O> Call<'d, V, B, I, O> {
    /// A call without modifiers.
    pub(crate) fn new(device: &'d B, inputs: I, op: O) -> Self {
        let what = Described { device, inputs, op, finish: Unchanged, exclusive: false, initial: None };
        Self { what, domain: Whole, verb: PhantomData }
    }
}

impl<'d, V, B, I, O, F, P> Call<'d, V, B, I, O, F, P> {
    pub(crate) fn of(what: Described<'d, B, I, O, F>, domain: P) -> Self {
        Self { what, domain, verb: PhantomData }
    }

    /// The same over other elements.
    pub(crate) fn over<Q>(self, domain: impl FnOnce(P) -> Q) -> Call<'d, V, B, I, O, F, Q> {
        Call { what: self.what, domain: domain(self.domain), verb: PhantomData }
    }
}

/// Domain, the elements that are taken together: one of these, or all as one line.
impl<'d, V, B: Backend, I, O, F> Call<'d, V, B, I, O, F> {
    /// Takes all elements as one line, in another way than the pattern's: by a [`Variant`], such as a textbook's algorithm of the crate `isowarp-textbook`.
    /// Its order of evaluation, and its scratch, are its own. Reductions and scans have it.
    pub fn variant<P>(self, variant: P) -> Call<'d, V, B, I, O, F, ByVariant<P>> {
        self.over(|_| ByVariant(variant))
    }

    /// Takes every line along `axis` of a row-major array of this shape on its own. Inputs without a length have as many elements as the shape.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1i32, 2, 3, 10, 20, 30])?; // two rows
    /// assert_eq!(dev.scan(&x, Sum).axis(&[2, 3], 1).run()?.read_blocking()?, [1, 3, 6, 10, 30, 60]);
    /// assert_eq!(dev.scan(&x, Sum).axis(&[2, 3], 0).exclusive().run()?.read_blocking()?, [0, 0, 0, 1, 2, 3]);
    /// assert_eq!(dev.reduce(&x, Max).axis(&[2, 3], 1).run()?.read_blocking()?, [3, 30]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn axis(self, shape: &[u64], axis: usize) -> Call<'d, V, B, I, O, F, Along> {
        self.over(|_| Along { shape: shape.to_vec(), axis })
    }

    /// Starts a segment at every element whose flag is set: is not zero, or true.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, flags) = (dev.upload(&[1u32, 2, 3, 4, 5])?, dev.upload(&[0u32, 0, 1, 0, 1])?);
    /// assert_eq!(dev.scan(&x, Sum).by_flags(&flags).run()?.read_blocking()?, [1, 3, 3, 7, 5]);
    /// // Flags are any input, words or conditions: every third element.
    /// let thirds = index().map(|i| (i % 3).eq(0));
    /// assert_eq!(dev.scan(&x, Sum).by_flags(thirds).exclusive().run()?.read_blocking()?, [0, 1, 3, 0, 4]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn by_flags<H: Input<B, Exprs: Flag>>(self, flags: H) -> Call<'d, V, B, I, O, F, Flags<H>> {
        self.over(|_| Flags(flags))
    }

    /// Starts a segment at every element whose key differs from the one before, by `==`: with NaN always, with -0 after 0 not.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, x) = (dev.upload(&[7u8, 7, 2, 7, 7])?, dev.upload(&[1i32, 2, 3, 4, 5])?);
    /// assert_eq!(dev.scan(&x, Sum).by_key(&keys).run()?.read_blocking()?, [1, 3, 3, 4, 9]);
    /// assert_eq!(dev.scan(&x, Max).by_key(keys.map(|k| k / 4)).run()?.read_blocking()?, [1, 2, 3, 4, 5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn by_key<K: Scalar, J: Input<B, Exprs = Expr<K>>>(self, keys: J) -> Call<'d, V, B, I, O, F, Keys<J>> {
        self.over(|_| Keys(keys))
    }

    /// Takes the elements `offsets[k]..offsets[k + 1]` as segment `k`. Segments are bounded as for [`Segmented`](crate::patterns::Segmented#segments); a scan takes
    /// elements before the first and after the last one as two segments more.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets) = (dev.upload(&[1u32, 2, 3, 4])?, dev.upload(&[0u32, 1, 1, 4])?);
    /// assert_eq!(dev.scan(&x, Sum).segments(&offsets).run()?.read_blocking()?, [1, 2, 5, 9]);
    /// assert_eq!(dev.scan(&x, Sum).segments(&offsets).exclusive().run()?.read_blocking()?, [0, 0, 2, 5]);
    /// assert_eq!(dev.reduce(&x, Sum).segments(&offsets).run()?.read_blocking()?, [1, 0, 9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn segments<T: Count + IndexScalar>(self, offsets: &'d Buffer<B, T>) -> Call<'d, V, B, I, O, F, Offsets<'d, B, T>> {
        self.over(|_| Offsets(offsets))
    }

    /// Takes the first elements, as many as a number on the device says; the work follows it, not the inputs' length, which limits it.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[5.0f32, -1.0, 3.0, -2.0])?;
    /// let kept = dev.select(&x, |x| x.gt(0.0)).run()?;
    /// assert_eq!(dev.reduce(&kept.values, Sum).length(&kept.count).run()?.read_blocking()?, 8.0);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn length<C: Count + IndexScalar>(self, length: &'d DeviceScalar<B, C>) -> Call<'d, V, B, I, O, F, Counted<'d, B, C>> {
        self.over(|_| Counted(length))
    }
}

impl<'d, V, B: Backend, I, O, F, K> Call<'d, V, B, I, O, F, Keys<K>> {
    /// Takes the first elements only, as many as a number on the device says, or all, if there are fewer. Nothing waits for the number. Later elements are
    /// looked at and dropped: the work is that of all, and one result more may be stored after those that count.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (keys, x) = (dev.upload(&[1u32, 1, 2, 2, 2])?, dev.upload(&[1.0f32, 2.0, 4.0, 8.0, 99.0])?);
    /// let count = dev.upload_scalar(4u32)?;
    /// let sums = dev.reduce(&x, Sum).by_key(&keys).length(&count).run()?;
    /// assert_eq!(sums.values.1.slice(..sums.len_blocking()?)?.read_blocking()?, [3.0, 12.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn length(self, length: &'d DeviceScalar<B, u32>) -> Call<'d, V, B, I, O, F, CountedKeys<'d, B, K>> {
        self.over(|keys| CountedKeys { keys, length })
    }
}

impl<'d, V, B: Backend, I, O, F, T> Call<'d, V, B, I, O, F, Offsets<'d, B, T>> {
    /// Checks offsets first, which waits for the device: one that is below the one before, or above the number of elements, is an error.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets) = (dev.upload(&[1u32, 2, 3])?, dev.upload(&[0u32, 2, 1])?);
    /// assert!(matches!(dev.scan(&x, Sum).segments(&offsets).checked().run(), Err(isowarp::Error::NotSorted { .. })));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn checked(self) -> Call<'d, V, B, I, O, F, Checked<Offsets<'d, B, T>>> {
        self.over(Checked)
    }
}

impl<V, B, I: Source, O, F, P> Call<'_, V, B, I, O, F, P> {
    /// Puts a value before each line or segment: every result is `combine(value, result)`, and that of no elements the value.
    ///
    /// The value is a constant of the kernel, so another one is another kernel. For one that changes from call to call, map the results with a
    /// [`scalar`](crate::input::scalar).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1u32, 2, 3])?;
    /// assert_eq!(dev.scan(&x, Sum).initial(100).run()?.read_blocking()?, [101, 103, 106]);
    /// assert_eq!(dev.scan(&x, Sum).initial(100).exclusive().run()?.read_blocking()?, [100, 101, 103]);
    /// assert_eq!(dev.reduce(&x, Max).initial(7).run()?.read_blocking()?, 7);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn initial(mut self, value: impl HostValue<I::Exprs>) -> Self {
        self.what.initial = Some(bits(value));
        self
    }
}

impl<'d, V, B, I: Source, O, P> Call<'d, V, B, I, O, Unchanged, P> {
    /// Stores what `finish` makes of each result: a value of another type, of fewer parts, or several, each in a buffer of its own.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, 3.0, 5.0])?;
    /// let roots = dev.scan(&x, Sum).finish(|sum| sum.sqrt()).run()?;
    /// assert_eq!(roots.read_blocking()?, [1.0, 2.0, 3.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn finish<R: Outputs, G: Fn(I::Exprs) -> R>(self, finish: G) -> Call<'d, V, B, I, O, Finished<G>, P> {
        let Described { device, inputs, op, exclusive, initial, .. } = self.what;
        Call::of(Described { device, inputs, op, finish: Finished(finish), exclusive, initial }, self.domain)
    }
}

impl<'d, V, B, I: Source<Exprs = Expr<T>>, T: Scalar, C, P> Call<'d, V, B, I, ByOperator<C>, Unchanged, P> {
    /// Converts elements to another type, by value as Rust's `as`, before they are combined; results have that type. An initial value that was named before
    /// is converted, too. For closures, and operators of another type alone, map the input: `x.map(|x| x.cast::<u64>())`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[u32::MAX, 1])?;
    /// assert_eq!(dev.scan(&x, Sum).accumulate_in::<u64>().run()?.read_blocking()?, [(1 << 32) - 1, 1 << 32]);
    /// assert_eq!(dev.reduce(&x, Sum).accumulate_in::<f64>().run()?.read_blocking()?, 4294967296.0);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn accumulate_in<U: Scalar>(self) -> Call<'d, V, B, Converted<I, U>, ByOperator<C>, Unchanged, P>
    where
        C: Combine<U>,
    {
        let Described { device, inputs, op, finish, exclusive, initial } = self.what;
        let initial = initial.map(|bits| bits.into_iter().map(|bits| cast_bits(T::TY, U::TY, bits)).collect());
        let inputs = inputs.map(Expr::cast::<U> as fn(Expr<T>) -> Expr<U>);
        Call::of(Described { device, inputs, op, finish, exclusive, initial }, self.domain)
    }
}

impl<'d, V, B, I: Source, G, F, P> Call<'d, V, B, I, ByClosure<G>, F, P> {
    /// Names the accumulator that leaves every other one unchanged, which exclusive scans start with, and nothing and empty segments have. It is no initial
    /// value: it is combined with others as often as suits, or never.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // The mean of the elements before each, 0 before the first.
    /// let x = dev.upload(&[4.0f32, 2.0, 6.0])?;
    /// let means = dev
    ///     .scan_by(x.map(|x| (x, lit(1u32))), |a, b| (a.0 + b.0, a.1 + b.1))
    ///     .identity((0.0, 0))
    ///     .exclusive()
    ///     .finish(|(sum, n)| sum / n.max(1).cast::<f32>())
    ///     .run()?;
    /// assert_eq!(means.read_blocking()?, [0.0, 4.0, 3.0]);
    /// let (x, offsets) = (dev.upload(&[3u32, 5])?, dev.upload(&[0u32, 0, 2])?);
    /// let products = dev.reduce_by(&x, |a, b| a * b).segments(&offsets).identity(1).run()?;
    /// assert_eq!(products.read_blocking()?, [1, 15]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn identity(self, value: impl HostValue<I::Exprs>) -> Call<'d, V, B, I, Associative<G>, F, P> {
        let Described { device, inputs, op, finish, exclusive, initial } = self.what;
        let op = Associative { f: op.0, identity: bits(value) };
        Call::of(Described { device, inputs, op, finish, exclusive, initial }, self.domain)
    }
}

/// An input whose values are converted.
#[doc(hidden)]
pub type Converted<I, U> = Mapped<I, fn(<I as Source>::Exprs) -> Expr<U>>;

impl<V, B, I, O, F, P> Call<'_, V, B, I, O, F, P>
where
    B: Backend,
    I: Input<B, Exprs: Accumulator>,
    O: Accumulate<I::Exprs>,
    F: Finish<I::Exprs>,
    P: Domain<V, B>,
{
    /// Enqueues the call into new memory, which it returns.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported), [`Error::Op`](crate::Error::Op), [`Error::OutOfMemory`](crate::Error::OutOfMemory),
    /// [`Error::WrongDevice`](crate::Error::WrongDevice), [`Error::LengthMismatch`](crate::Error::LengthMismatch);
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for inputs without a length, an axis that is not there, an identity that is none;
    /// [`Error::TooLarge`](crate::Error::TooLarge) for an accumulator of more than four words and too many elements;
    /// [`Error::Empty`](crate::Error::Empty) for the result of nothing where there is none;
    /// [`Error::NotSorted`](crate::Error::NotSorted), [`Error::IndexOutOfRange`](crate::Error::IndexOutOfRange) where offsets are checked.
    pub fn run(self) -> Result<P::New<F::Out>> {
        self.domain.run(&self.what)
    }

    /// Enqueues the call into the caller's buffers, which hold at least as many elements; later ones stay as they are. They may not overlap inputs.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[2i32, 3, 4])?, dev.upload(&[-1i32; 4])?);
    /// dev.scan(&x, Product).write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [2, 6, 24, -1]);
    /// dev.reduce(&x, Sum).write_to(&out)?;
    /// assert_eq!(out.read_blocking()?, [9, 6, 24, -1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Call::run`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
    pub fn write_to(self, out: P::Refs<'_, F::Out>) -> Result<()> {
        self.domain.write(&self.what, out)
    }
}
