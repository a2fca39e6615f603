//! Inputs of patterns: buffers, views, device scalars, host scalars, the index, arrays to fetch from, and operators over any of
//! these, which are fused into the kernel that consumes them and never lie in memory.

mod broadcast;
mod outputs;
mod values;

pub use broadcast::Broadcast;
pub use outputs::{Narrow, Outputs, Stored, TypedOutputs};
pub use values::{Elements, Numbers, Values};

use crate::backend::{Backend, Leaf};
use crate::buffer::{Buffer, DeviceScalar, View};
use crate::caps::Capability;
use crate::element::{DType, Element, Int, Scalar};
use crate::error::{Error, Result};
use crate::ir::{self, ArrayExpr, Expr, Param, Traced as _};
use core::marker::PhantomData;

/// The leaves of an input, as they are collected.
#[derive(Clone, Debug)]
pub struct Collector<B: Backend> {
    device: B,
    pattern: &'static str,
    len: Option<u64>,
    pub(crate) params: Vec<Param>,
    pub(crate) leaves: Vec<Leaf<B::Raw>>,
}

impl<B: Backend> Collector<B> {
    pub(crate) fn new(device: &B, pattern: &'static str) -> Self {
        Self { device: device.clone(), pattern, len: None, params: Vec::new(), leaves: Vec::new() }
    }

    /// The device that the inputs are for.
    pub(crate) fn device(&self) -> &B {
        &self.device
    }

    /// Adds a leaf whose parameter is `param`, checking that its element type is there and its device is the right one.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::Unsupported`].
    pub fn push(&mut self, device: Option<&B>, dtype: DType, param: Param, leaf: Leaf<B::Raw>) -> Result<()> {
        if device.is_some_and(|d| !d.same_device(&self.device)) {
            return Err(Error::WrongDevice { what: "an input" });
        }
        require(&self.device, self.pattern, dtype)?;
        self.params.push(param);
        self.leaves.push(leaf);
        Ok(())
    }

    /// Adds an input's length; all that have one must agree.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`].
    pub fn length(&mut self, len: u64) -> Result<()> {
        match self.len {
            Some(expected) if expected != len => Err(Error::LengthMismatch { what: "an input", expected, found: len }),
            _ => {
                self.len = Some(len);
                Ok(())
            }
        }
    }

    /// Adds the leaves of inputs of the same device that were collected by themselves.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::LengthMismatch`].
    pub(crate) fn append(&mut self, other: &Self) -> Result<()> {
        if !other.device.same_device(&self.device) {
            return Err(Error::WrongDevice { what: "an input" });
        }
        other.len.map_or(Ok(()), |len| self.length(len))?;
        self.params.extend(&other.params);
        self.leaves.extend_from_slice(&other.leaves);
        Ok(())
    }

    /// Forgets the length, so that inputs which follow have one of their own.
    pub(crate) fn forget_length(&mut self) {
        self.len = None;
    }

    /// The common length of the inputs.
    pub(crate) fn len(&self) -> Result<u64> {
        self.len.ok_or_else(|| Error::InvalidArgument {
            what: "inputs",
            reason: "none of them has a length; pass a buffer or `counting(n)`, or use `generate`".to_owned(),
        })
    }
}

/// Fails unless the device has the element type.
pub(crate) fn require<B: Backend>(device: &B, pattern: &'static str, dtype: DType) -> Result<()> {
    let caps = device.caps();
    if caps.supports(dtype) {
        return Ok(());
    }
    Err(Error::Unsupported { pattern, capability: Capability::DType(dtype), device: caps.device.clone() })
}

/// Something that patterns read, as an operator sees it: a buffer, a view, a scalar, the index, an array, or a tuple of up to six of them. That a device
/// can read it is [`Input`].
pub trait Source: Sized {
    /// The values of an element, which operators take.
    type Exprs;

    /// The symbolic values, for parameters from `next` on, which is moved past them.
    #[doc(hidden)]
    fn exprs(&self, next: &mut u16) -> Self::Exprs;

    /// The values `f` of this, as an input: computed where they are read, and stored nowhere.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y) = (dev.upload(&[1.0f32, 2.0, 3.0])?, dev.upload(&[4.0f32, 5.0, 6.0])?);
    /// // One kernel, which reads each array once.
    /// let products = dev.scan((&x, &y).map(|(x, y)| x * y), Sum).run()?;
    /// assert_eq!(products.read_blocking()?, [4.0, 14.0, 32.0]);
    /// // Whatever takes an input takes these, as `map` itself does.
    /// assert_eq!(dev.map((x.map(|x| x * x), &y), |(square, y)| square - y)?.read_blocking()?, [-3.0, -1.0, 3.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    fn map<R, F: Fn(Self::Exprs) -> R>(self, f: F) -> Mapped<Self, F> {
        Mapped { inputs: self, f }
    }
}

/// A [`Source`] that device `B` can read.
pub trait Input<B: Backend>: Source {
    /// Adds the leaves.
    ///
    /// # Errors
    /// Lengths that differ, a missing element type, a buffer of another device.
    #[doc(hidden)]
    fn collect(&self, c: &mut Collector<B>) -> Result<()>;
}

fn take(next: &mut u16) -> u16 {
    let k = *next;
    *next += 1;
    k
}

impl<B: Backend, T: Element> Source for &Buffer<B, T> {
    type Exprs = Expr<T::Reg>;
    fn exprs(&self, next: &mut u16) -> Self::Exprs {
        Expr::params(take(next))
    }
}

impl<B: Backend, T: Element> Input<B> for &Buffer<B, T> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        c.length(self.len())?;
        c.push(Some(self.device()), T::DTYPE, Param::Value(T::DTYPE.ty()), self.leaf())
    }
}

impl<B: Backend, T: Element> Source for &View<B, T> {
    type Exprs = Expr<T::Reg>;
    fn exprs(&self, next: &mut u16) -> Self::Exprs {
        Expr::params(take(next))
    }
}

impl<B: Backend, T: Element> Input<B> for &View<B, T> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        c.length(self.len)?;
        let b = &self.buffer;
        let leaf = Leaf::Elements { raw: b.raw().clone(), dtype: T::DTYPE, offset: b.offset() + self.start, stride: self.stride };
        c.push(Some(b.device()), T::DTYPE, Param::Value(T::DTYPE.ty()), leaf)
    }
}

impl<B: Backend, T: Element> Source for &DeviceScalar<B, T> {
    type Exprs = Expr<T::Reg>;
    fn exprs(&self, next: &mut u16) -> Self::Exprs {
        Expr::params(take(next))
    }
}

impl<B: Backend, T: Element> Input<B> for &DeviceScalar<B, T> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        let b = self.buffer();
        let leaf = Leaf::Elements { raw: b.raw().clone(), dtype: T::DTYPE, offset: b.offset(), stride: 0 };
        c.push(Some(b.device()), T::DTYPE, Param::Value(T::DTYPE.ty()), leaf)
    }
}

/// As by reference: a view is a few words.
impl<B: Backend, T: Element> Source for View<B, T> {
    type Exprs = Expr<T::Reg>;
    fn exprs(&self, next: &mut u16) -> Self::Exprs {
        Source::exprs(&self, next)
    }
}

impl<B: Backend, T: Element> Input<B> for View<B, T> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        Input::collect(&self, c)
    }
}

impl<B: Backend, T: Element> Source for DeviceScalar<B, T> {
    type Exprs = Expr<T::Reg>;
    fn exprs(&self, next: &mut u16) -> Self::Exprs {
        Source::exprs(&self, next)
    }
}

impl<B: Backend, T: Element> Input<B> for DeviceScalar<B, T> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        Input::collect(&self, c)
    }
}

/// A host value as an input: the same at every index. Unlike a captured constant it is no part of the operator, so a loop that
/// changes it compiles one kernel.
#[derive(Clone, Copy, Debug)]
pub struct HostScalar<T>(T);

/// See [`HostScalar`].
pub fn scalar<T: Scalar>(value: T) -> HostScalar<T> {
    HostScalar(value)
}

impl<T: Scalar> Source for HostScalar<T> {
    type Exprs = Expr<T>;
    fn exprs(&self, next: &mut u16) -> Expr<T> {
        Expr::params(take(next))
    }
}

impl<B: Backend, T: Scalar> Input<B> for HostScalar<T> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        c.push(None, T::TY.dtype(), Param::Value(T::TY), Leaf::Value { bits: self.0.to_bits64() })
    }
}

/// The logical index as an input.
#[derive(Clone, Copy, Debug)]
pub struct Index<T>(PhantomData<T>);

/// The index `0, 1, 2, ...` as a `u32`; for arrays of at most 2^32 elements.
#[must_use]
pub fn index() -> Index<u32> {
    Index(PhantomData)
}

/// The index as a `u64` (a capability).
#[must_use]
pub fn index64() -> Index<u64> {
    Index(PhantomData)
}

impl<T: Scalar> Source for Index<T> {
    type Exprs = Expr<T>;
    fn exprs(&self, next: &mut u16) -> Expr<T> {
        Expr::params(take(next))
    }
}

impl<B: Backend, T: Scalar> Input<B> for Index<T> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        c.push(None, T::TY.dtype(), Param::Index(T::TY), Leaf::Value { bits: 0 })
    }
}

/// The index, and with it a length: an input that needs no other beside it.
#[derive(Clone, Copy, Debug)]
pub struct Counting<T = u32> {
    n: u64,
    of: PhantomData<T>,
}

/// `0, 1, 2, ..., n - 1` as `u32`s, in no memory; for at most 2^32 of them. Patterns over other inputs that have no length of their own, a host's or
/// a device's scalar, take theirs from it.
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// assert_eq!(dev.scan(counting(4).map(|i| i * i), Sum).run()?.read_blocking()?, [0, 1, 5, 14]);
/// let multiples = dev.select((counting(10), scalar(3u32)), |(i, k)| (i % k).eq(0)).finish(|(i, _)| i).run()?;
/// assert_eq!(multiples.read_blocking()?, [0, 3, 6, 9]);
/// # Ok::<(), isowarp::Error>(())
/// ```
#[must_use]
pub const fn counting(n: u64) -> Counting {
    Counting { n, of: PhantomData }
}

/// The same as `u64`s (a capability), for any number of them.
#[must_use]
pub const fn counting64(n: u64) -> Counting<u64> {
    Counting { n, of: PhantomData }
}

impl<T: Scalar> Source for Counting<T> {
    type Exprs = Expr<T>;
    fn exprs(&self, next: &mut u16) -> Expr<T> {
        Expr::params(take(next))
    }
}

impl<B: Backend, T: Scalar> Input<B> for Counting<T> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        c.length(self.n)?;
        Index::<T>(PhantomData).collect(c)
    }
}

/// A buffer that the operator fetches from at indices it computes.
#[derive(Clone, Debug)]
pub struct Array<'a, B: Backend, T>(&'a Buffer<B, T>);

/// See [`Array`].
pub fn array<B: Backend, T: Element>(buffer: &Buffer<B, T>) -> Array<'_, B, T> {
    Array(buffer)
}

impl<B: Backend, T: Element> Source for Array<'_, B, T> {
    type Exprs = ArrayExpr<T>;
    fn exprs(&self, next: &mut u16) -> ArrayExpr<T> {
        ir::array_expr(take(next))
    }
}

impl<B: Backend, T: Element> Input<B> for Array<'_, B, T> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        let b = self.0;
        let leaf = Leaf::Array { raw: b.raw().clone(), dtype: T::DTYPE, offset: b.offset(), len: b.len() };
        c.push(Some(b.device()), T::DTYPE, Param::Array(T::DTYPE), leaf)
    }
}

/// Elements of a buffer in an order of one's own, as an input.
#[derive(Clone, Debug)]
pub struct Permuted<'a, B: Backend, T, I> {
    values: &'a Buffer<B, T>,
    indices: I,
}

/// `values[indices[i]]` for every `i`, in no memory: as many as there are indices, which are an input themselves: a buffer, a view, another
/// permutation, or what is computed. An index that names no element, as a negative one, gives zero.
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let (x, order) = (dev.upload(&[10.0f32, 20.0, 30.0])?, dev.upload(&[2u32, 0, 2, 9])?);
/// assert_eq!(dev.scan(permuted(&x, &order), Sum).run()?.read_blocking()?, [30.0, 40.0, 70.0, 70.0]);
/// // The even ones of the odd ones, zipped with their number.
/// let x = dev.iota(9, 0u32, 10)?;
/// let fourth = permuted(&x, permuted(&x, counting(2).map(|i| i * 2)));
/// assert_eq!(dev.map((fourth, index()), |(x, i)| x + i)?.read_blocking()?, [0, 1]);
/// # Ok::<(), isowarp::Error>(())
/// ```
pub fn permuted<B: Backend, T: Element, I>(values: &Buffer<B, T>, indices: I) -> Permuted<'_, B, T, I> {
    Permuted { values, indices }
}

impl<B: Backend, T: Element, X: Int, I: Source<Exprs = Expr<X>>> Source for Permuted<'_, B, T, I> {
    type Exprs = Expr<T::Reg>;
    fn exprs(&self, next: &mut u16) -> Self::Exprs {
        let values = Source::exprs(&array(self.values), next);
        values.at(self.indices.exprs(next))
    }
}

impl<B: Backend, T: Element, X: Int, I: Input<B, Exprs = Expr<X>>> Input<B> for Permuted<'_, B, T, I> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        array(self.values).collect(c)?;
        self.indices.collect(c)
    }
}

/// An input that is lent.
#[doc(hidden)]
#[derive(Debug)]
pub struct Lent<'a, I>(pub(crate) &'a I);

impl<I: Source> Source for Lent<'_, I> {
    type Exprs = I::Exprs;
    fn exprs(&self, next: &mut u16) -> I::Exprs {
        self.0.exprs(next)
    }
}

impl<B: Backend, I: Input<B>> Input<B> for Lent<'_, I> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        self.0.collect(c)
    }
}

/// See [`Source::map`].
#[derive(Clone, Copy, Debug)]
pub struct Mapped<I, F> {
    inputs: I,
    f: F,
}

impl<I: Source, R, F: Fn(I::Exprs) -> R> Source for Mapped<I, F> {
    type Exprs = R;
    fn exprs(&self, next: &mut u16) -> R {
        (self.f)(self.inputs.exprs(next))
    }
}

impl<B: Backend, I: Input<B>, R, F: Fn(I::Exprs) -> R> Input<B> for Mapped<I, F> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        self.inputs.collect(c)
    }
}

macro_rules! input_tuple {
    ($($t:ident $i:tt),*) => {
        impl<$($t: Source),*> Source for ($($t,)*) {
            type Exprs = ($($t::Exprs,)*);
            fn exprs(&self, next: &mut u16) -> Self::Exprs {
                ($(self.$i.exprs(next),)*)
            }
        }

        impl<Bk: Backend, $($t: Input<Bk>),*> Input<Bk> for ($($t,)*) {
            fn collect(&self, c: &mut Collector<Bk>) -> Result<()> {
                $(self.$i.collect(c)?;)*
                Ok(())
            }
        }
    };
}
input_tuple!(A 0, B 1);
input_tuple!(A 0, B 1, C 2);
input_tuple!(A 0, B 1, C 2, D 3);
input_tuple!(A 0, B 1, C 2, D 3, E 4);
input_tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
