//! P01 map: every output element is a function of the input elements at the same index (and of the index).

use super::{Prepare, check_aliasing, check_ops};
use crate::backend::{Backend, Leaf, Out, Run, places};
use crate::buffer::Buffer;
use crate::caps::Numerics;
use crate::element::{DType, Element, Num, Scalar};
use crate::error::{Error, Result};
use crate::input::{Collector, Input, Narrow, Numbers, Outputs, index, require, scalar};
use crate::ir::{self, Expr, Func};
use crate::launch::kernels::{MAP, Nothing};
use crate::launch::{KernelSpec, Launcher, Operators, Planned, Work};
use std::sync::Arc;

/// A map as data: `outs[k][i] = func(leaves at i)[k]` for every `i` below `n`; float results are stored with canonical NaN.
#[derive(Clone, Debug)]
pub struct MapTask {
    /// One parameter a leaf; one result an output.
    pub func: Arc<Func>,
    /// Elements.
    pub n: u64,
    /// Strict or fast.
    pub numerics: Numerics,
}

impl<B: Launcher> Planned<B> for MapTask {
    fn drive(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let spec = KernelSpec::new(&MAP, &Nothing {}, &[], &[]);
        device.launch(&spec.with(Operators::Body(&self.func), self.numerics, leaves, outs), Work::elements(self.n, 1024))
    }
}

/// Element-wise patterns.
///
/// Inputs are buffers, views, arrays that are [broadcast](Buffer::broadcast), device or host scalars, the index, arrays to fetch from, what [`map`](crate::input::Source::map) makes of these, or tuples of up to six
/// of them; all inputs that have a length must agree in it. An operator returns one value or a tuple of up to four.
/// Elements have any type that the device has; operators see `f16` as `f32`, `u8` and `u16` as `u32`, `i8` and `i16` as `i32`, and [`Expr::store_as`] stores as one.
/// Every output element depends on its own index only, so there is no order to state. Work O(n), no scratch.
///
/// An output may be one of the inputs, element for element; any other overlap is [`Error::Aliasing`].
///
/// Source: Ansorge, *Programming in Parallel with CUDA*, chapters 1, 2 and appendix D.
pub trait Map: Run<MapTask> {
    /// `f` of the inputs, element by element.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y) = (dev.upload(&[1.0f32, 4.0, 9.0])?, dev.upload(&[1u8, 2, 3])?);
    /// assert_eq!(dev.map(&x, |x| x * 2.0 + 1.0)?.read_blocking()?, [3.0, 9.0, 19.0]);
    /// // Two outputs of two inputs and a value: one kernel.
    /// let (root, scaled) = dev.map((&x, &y, scalar(10u32)), |(x, y, k)| (x.sqrt(), y * k))?;
    /// assert_eq!((root.read_blocking()?, scaled.read_blocking()?), (vec![1.0, 2.0, 3.0], vec![10, 20, 30]));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::Unsupported`], [`Error::Op`], [`Error::OutOfMemory`], [`Error::WrongDevice`].
    fn map<I: Input<Self>, R: Outputs>(&self, inputs: I, f: impl FnOnce(I::Exprs) -> R) -> Result<R::Buffers<Self>> {
        let c = collect(self, "map", &inputs)?;
        let n = c.len()?;
        computed(self, &inputs, c, n, f)
    }

    /// As [`Map::map`], into the caller's buffers, which hold at least as many elements as the inputs; later ones stay as they are.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[1i32, -2])?, dev.upload(&[0i32, 0, 7])?);
    /// dev.map_into(&x, |x| x.abs() + 1, &out)?;
    /// assert_eq!(out.read_blocking()?, [2, 3, 7]);
    /// dev.map_into(&x, |x| -x, &x)?; // element for element an output may be an input
    /// assert_eq!(x.read_blocking()?, [-1, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn map_into<I: Input<Self>, R: Outputs>(&self, inputs: I, f: impl FnOnce(I::Exprs) -> R, out: R::Refs<'_, Self>) -> Result<()> {
        let c = collect(self, "map", &inputs)?;
        let n = c.len()?;
        let func = trace(&inputs, &c, f)?;
        enqueue::<Self, R>(self, c, n, func, out)
    }

    /// `f` of the inputs at every index below `n`; for inputs without a length of their own: the index, scalars, arrays.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// assert_eq!(dev.generate(4, index(), |i| i * i)?.read_blocking()?, [0, 1, 4, 9]);
    /// let table = dev.upload(&[5.0f32, 6.0, 7.0])?;
    /// let back = dev.generate(3, (index(), array(&table)), |(i, t)| t.at(lit(2u32) - i))?;
    /// assert_eq!(back.read_blocking()?, [7.0, 6.0, 5.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map`].
    fn generate<I: Input<Self>, R: Outputs>(&self, n: u64, inputs: I, f: impl FnOnce(I::Exprs) -> R) -> Result<R::Buffers<Self>> {
        let mut c = collect(self, "generate", &inputs)?;
        c.length(n)?;
        computed(self, &inputs, c, n, f)
    }

    /// As [`Map::generate`], into the caller's buffers.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let out = dev.upload(&[9u32; 4])?;
    /// dev.generate_into(3, (index(), scalar(2u32)), |(i, k)| i << k, &out)?;
    /// assert_eq!(out.read_blocking()?, [0, 4, 8, 9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map_into`].
    fn generate_into<I: Input<Self>, R: Outputs>(
        &self,
        n: u64,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> R,
        out: R::Refs<'_, Self>,
    ) -> Result<()> {
        let mut c = collect(self, "generate", &inputs)?;
        c.length(n)?;
        let func = trace(&inputs, &c, f)?;
        enqueue::<Self, R>(self, c, n, func, out)
    }

    /// Every element becomes `value`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.buffer::<f32>(3)?;
    /// dev.fill(&x, 0.5)?;
    /// dev.fill(&x.slice(1..2)?, -1.0)?;
    /// assert_eq!(x.read_blocking()?, [0.5, -1.0, 0.5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map`].
    fn fill<T: Element>(&self, out: &Buffer<Self, T>, value: T) -> Result<()> {
        self.generate_into(out.len(), scalar(value.widen()), Expr::store_as::<T>, out)
    }

    /// `start, start + step, start + 2 step, ...`: integers wrap; floats are `fma(i, step, start)`.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// assert_eq!(dev.iota(4, 10i32, -3)?.read_blocking()?, [10, 7, 4, 1]);
    /// assert_eq!(dev.iota(3, 0.0f32, 0.25)?.read_blocking()?, [0.0, 0.25, 0.5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map`].
    fn iota<T: Scalar + Num + Element<Reg = T>>(&self, n: u64, start: T, step: T) -> Result<Buffer<Self, T>> {
        self.generate(n, (index(), scalar(start), scalar(step)), rising)
    }

    /// `a * x + y`, each element one fused multiply-add.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y) = (dev.upload(&[1.0f32, 2.0])?, dev.upload(&[10.0f32, 20.0])?);
    /// assert_eq!(dev.axpy(3.0, &x, &y)?.read_blocking()?, [13.0, 26.0]);
    /// dev.map_into((&x, &y), |(x, y)| x * 3.0 + y, &y)?; // in place, by a constant of the kernel
    /// assert_eq!(y.read_blocking()?, [13.0, 26.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map`].
    fn axpy<I, J, T>(&self, a: T, x: I, y: J) -> Result<Buffer<Self, T>>
    where
        I: Input<Self, Exprs = Expr<T>>,
        J: Input<Self, Exprs = Expr<T>>,
        T: Scalar + Num + Element<Reg = T>,
    {
        self.map((scalar(a), x, y), |(a, x, y)| a * x + y)
    }

    /// Converts every element by value, as Rust's `as` (to an integer of 8 or 16 bits keeps the low ones of the `u32` or `i32`).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.75f32, -3.5, f32::NAN])?;
    /// assert_eq!(dev.cast::<_, i32>(&x)?.read_blocking()?, [1, -3, 0]);
    /// assert_eq!(dev.cast::<_, u8>(x.map(|x| x + 300.5))?.read_blocking()?, [46, 41, 0]); // 302 and 297
    /// let out = dev.buffer::<u8>(3)?;
    /// dev.map_into(&x, |x| x.cast::<u32>().store_as::<u8>(), &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 0, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map`].
    fn cast<I: Numbers<Self>, U: Element>(&self, x: I) -> Result<Buffer<Self, U>> {
        self.map(x, |x| -> Narrow<U> { x.cast::<U::Reg>().store_as::<U>() })
    }

    /// Every element equal to `old` becomes `new` (so no NaN is ever replaced).
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1u8, 0, 2, 0])?;
    /// assert_eq!(dev.replace(&x, 0, 255)?.read_blocking()?, [1, 255, 2, 255]);
    /// assert_eq!(dev.replace(x.reversed(), 0, 7)?.read_blocking()?, [7, 2, 7, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map`].
    fn replace<I: Numbers<Self>>(&self, x: I, old: I::Element, new: I::Element) -> Result<Buffer<Self, I::Element>> {
        self.map((x, scalar(old.widen()), scalar(new.widen())), replaced::<I::Element>)
    }

    /// A copy, bit for bit.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1i64, 2, 3])?;
    /// assert_eq!(dev.copy(&x.slice(1..)?)?.read_blocking()?, [2, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Map::map`].
    fn copy<T: Element>(&self, x: &Buffer<Self, T>) -> Result<Buffer<Self, T>> {
        let out = crate::buffer::Memory::buffer(self, x.len())?;
        self.copy_into(x, &out)?;
        Ok(out)
    }

    /// A copy, bit for bit, into the caller's buffer of the same length.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(b"abc")?, dev.upload(b"......")?);
    /// dev.copy_into(&x, &out.slice(1..4)?)?;
    /// assert_eq!(out.read_blocking()?, b".abc..");
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::Aliasing`], [`Error::WrongDevice`].
    fn copy_into<T: Element>(&self, x: &Buffer<Self, T>, out: &Buffer<Self, T>) -> Result<()> {
        if x.len() != out.len() {
            return Err(Error::LengthMismatch { what: "copy", expected: x.len(), found: out.len() });
        }
        if !x.device().same_device(self) || !out.device().same_device(self) {
            return Err(Error::WrongDevice { what: "copy" });
        }
        check_aliasing("copy", &[x.leaf()], x.len(), &[(out.out(), out.len())], false)?;
        let size = T::DTYPE.size_bytes();
        let (from, to, bytes) = (x.offset() * size, out.offset() * size, x.len() * size);
        if [from, to, bytes].iter().all(|b| b % 4 == 0) {
            return self.copy_bytes(x.raw(), from, out.raw(), to, bytes);
        }
        // Not whole 32-bit words: a map of the bytes keeps their neighbours in the first and the last word.
        let func = Arc::new(ir::trace(same::<u32>)?);
        let leaf = Leaf::Elements { raw: x.raw().clone(), dtype: DType::U8, offset: from, stride: 1 };
        let dst = Out { raw: out.raw().clone(), dtype: DType::U8, offset: to };
        self.run(&MapTask { func, n: bytes, numerics: self.numerics() }, &[leaf], &[dst])
    }
}
impl<B: Run<MapTask>> Map for B {}

/// Results in new memory.
fn computed<B: Run<MapTask>, I: Input<B>, R: Outputs>(
    device: &B,
    inputs: &I,
    c: Collector<B>,
    n: u64,
    f: impl FnOnce(I::Exprs) -> R,
) -> Result<R::Buffers<B>> {
    let func = trace(inputs, &c, f)?;
    let out = R::allocate(device, n)?;
    enqueue::<B, R>(device, c, n, func, R::refs(&out))?;
    Ok(out)
}

/// Element `i` of an arithmetic progression.
fn rising<T: Scalar + Num>((i, start, step): (Expr<u32>, Expr<T>, Expr<T>)) -> Expr<T> {
    i.cast::<T>() * step + start
}

/// `new` where an element equals `old`.
fn replaced<T: Element>((x, old, new): (Expr<T::Reg>, Expr<T::Reg>, Expr<T::Reg>)) -> Narrow<T> {
    ir::select(x.eq(old), new, x).store_as::<T>()
}

pub(crate) fn collect<B: Backend, I: Input<B>>(device: &B, pattern: &'static str, inputs: &I) -> Result<Collector<B>> {
    let mut c = Collector::new(device, pattern);
    inputs.collect(&mut c)?;
    Ok(c)
}

/// The leaves of inputs that are as many as an array of these lines has elements.
pub(crate) fn collect_lines<B: Backend, I: Input<B>>(
    device: &B,
    pattern: &'static str,
    inputs: &I,
    lines: &super::Lines,
) -> Result<Collector<B>> {
    let mut c = collect(device, pattern, inputs)?;
    let expected = lines.elements();
    match c.len() {
        Ok(found) if found != expected => Err(Error::LengthMismatch { what: "elements of the shape", expected, found }),
        _ => c.length(expected).map(|()| c),
    }
}

pub(crate) fn trace<B: Backend, I: Input<B>, R: ir::Traced>(
    inputs: &I,
    c: &Collector<B>,
    f: impl FnOnce(I::Exprs) -> R,
) -> Result<Arc<Func>> {
    // Not by `pack`, whose instance would be one more to each operator of a program.
    let open = ir::graph::Open::new(c.params.clone());
    let mut values = Vec::new();
    f(inputs.exprs(&mut 0)).push_values(&mut values);
    shared(ir::closed(open, &values))
}

fn shared(func: Result<Func, ir::OpError>) -> Result<Arc<Func>> {
    Ok(Arc::new(func?))
}

fn enqueue<B: Run<MapTask>, R: Outputs>(device: &B, c: Collector<B>, n: u64, func: Arc<Func>, out: R::Refs<'_, B>) -> Result<()> {
    let mut outs = Vec::new();
    R::outs(device, out, n, &mut outs)?;
    store(device, "map", (&c, n, &func), outs, true)
}

/// Checks everything but the outputs' sizes, then runs the map. With `elementwise`, an output may be one of the inputs, element for element.
pub(super) fn store<B: Run<MapTask>>(
    device: &B,
    pattern: &'static str,
    (c, n, func): (&Collector<B>, u64, &Arc<Func>),
    outs: Vec<(Out<B::Raw>, u64)>,
    elementwise: bool,
) -> Result<()> {
    store_after(device, pattern, (c, n, func), outs, elementwise, &|| Ok(()))
}

/// As [`store`]; `prepare` is called after all checks, before anything is enqueued.
fn store_after<B: Run<MapTask>>(
    device: &B,
    pattern: &'static str,
    (c, n, func): (&Collector<B>, u64, &Arc<Func>),
    outs: Vec<(Out<B::Raw>, u64)>,
    elementwise: bool,
    prepare: Prepare<'_>,
) -> Result<()> {
    let numerics = device.numerics();
    if !checked(device, (pattern, numerics), (c, n, func), &outs, elementwise)? {
        return Ok(());
    }
    prepare()?;
    run(device, &MapTask { func: Arc::clone(func), n, numerics }, &c.leaves, outs)
}

/// Makes all checks but that of the outputs' sizes, and returns whether there is anything to do.
fn checked<B: Backend>(
    device: &B,
    (pattern, numerics): (&'static str, Numerics),
    (c, n, func): (&Collector<B>, u64, &Func),
    outs: &[(Out<B::Raw>, u64)],
    elementwise: bool,
) -> Result<bool> {
    for (o, _) in outs {
        require(device, pattern, o.dtype)?;
    }
    check_ops(device, pattern, numerics, &[func])?;
    check_index(c, n)?;
    check_aliasing(pattern, &c.leaves, n, outs, elementwise)?;
    Ok(n > 0)
}

fn run<B: Run<MapTask>>(device: &B, task: &MapTask, leaves: &[Leaf<B::Raw>], outs: Vec<(Out<B::Raw>, u64)>) -> Result<()> {
    let outs = places(outs);
    device.run(task, leaves, &outs)
}

/// Runs an operator over as many elements as the inputs have, for a pattern whose outputs are none of its inputs. `prepare` is called after all checks,
/// before anything is enqueued.
pub(super) fn apart<B: Run<MapTask>, R: Outputs>(
    device: &B,
    pattern: &'static str,
    (c, func): (&Collector<B>, &Arc<Func>),
    out: R::Refs<'_, B>,
    prepare: Prepare<'_>,
) -> Result<()> {
    let (n, mut outs) = (c.len()?, Vec::new());
    R::outs(device, out, n, &mut outs)?;
    store_after(device, pattern, (c, n, func), outs, false, prepare)
}

/// A 32-bit index cannot number more than 2^32 elements.
pub(crate) fn check_index<B: Backend>(c: &Collector<B>, n: u64) -> Result<()> {
    let narrow = c.params.iter().any(|p| matches!(p, ir::Param::Index(crate::element::Ty::U32)));
    if narrow && n > 1 << 32 {
        return Err(Error::TooLarge { what: "elements numbered by a u32 index (use index64)", requested: n, limit: 1 << 32 });
    }
    Ok(())
}

/// Leaves of inputs, for callers that build tasks themselves (the command's expression texts).
pub type Leaves<B> = Vec<Leaf<<B as Backend>::Raw>>;

/// The identity on one value of type `T`: the transform of a pattern that has none.
pub(crate) fn same<T: Scalar>(x: Expr<T>) -> Expr<T> {
    x
}
