//! P01 map: every output element is a function of the input elements at the same index (and of the index).

use super::{check_aliasing, check_ops};
use crate::backend::{Backend, Leaf, Out, Run};
use crate::buffer::Buffer;
use crate::caps::Numerics;
use crate::element::{DType, Element, Num, Scalar};
use crate::error::{Error, Result};
use crate::input::{Collector, Inputs, Narrow, Outputs, index, require, scalar};
use crate::ir::{self, Expr, Func};
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

/// Element-wise patterns.
///
/// Inputs are buffers, views, device or host scalars, the index, arrays to fetch from, lazy operators, or tuples of up to six
/// of them; all inputs that have a length must agree in it. An operator returns one value or a tuple of up to four.
/// Every output element depends on its own index only, so there is no order to state. Work O(n), no scratch.
///
/// An output may be one of the inputs, element for element; any other overlap is [`Error::Aliasing`].
///
/// Source: Ansorge, *Programming in Parallel with CUDA*, chapters 1, 2 and appendix D.
pub trait Map: Run<MapTask> {
    /// `f` of the inputs, element by element.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::Unsupported`], [`Error::Op`], [`Error::OutOfMemory`], [`Error::WrongDevice`].
    fn map<I: Inputs<Self>, R: Outputs>(&self, inputs: I, f: impl FnOnce(I::Exprs) -> R) -> Result<R::Buffers<Self>> {
        let c = collect(self, "map", &inputs)?;
        let n = c.len()?;
        self.map_new(inputs, c, n, f)
    }

    /// As [`Map::map`], into the caller's buffers, which hold at least as many elements as the inputs; later ones stay as they are.
    ///
    /// # Errors
    /// As [`Map::map`], and [`Error::BufferTooSmall`], [`Error::Aliasing`].
    fn map_into<I: Inputs<Self>, R: Outputs>(&self, inputs: I, f: impl FnOnce(I::Exprs) -> R, out: R::Refs<'_, Self>) -> Result<()> {
        let c = collect(self, "map", &inputs)?;
        let n = c.len()?;
        let func = trace(&inputs, &c, f)?;
        enqueue::<Self, R>(self, c, n, func, out)
    }

    /// Another name of [`Map::map`] for several inputs.
    ///
    /// # Errors
    /// As [`Map::map`].
    fn zip<I: Inputs<Self>, R: Outputs>(&self, inputs: I, f: impl FnOnce(I::Exprs) -> R) -> Result<R::Buffers<Self>> {
        self.map(inputs, f)
    }

    /// `f` of the inputs at every index below `n`; for inputs without a length of their own: the index, scalars, arrays.
    ///
    /// # Errors
    /// As [`Map::map`].
    fn generate<I: Inputs<Self>, R: Outputs>(&self, n: u64, inputs: I, f: impl FnOnce(I::Exprs) -> R) -> Result<R::Buffers<Self>> {
        let mut c = collect(self, "generate", &inputs)?;
        c.length(n)?;
        self.map_new(inputs, c, n, f)
    }

    /// As [`Map::generate`], into the caller's buffers.
    ///
    /// # Errors
    /// As [`Map::map_into`].
    fn generate_into<I: Inputs<Self>, R: Outputs>(
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
    /// # Errors
    /// As [`Map::map`].
    fn fill<T: Element>(&self, out: &Buffer<Self, T>, value: T) -> Result<()> {
        self.generate_into(out.len(), scalar(value.widen()), Expr::store_as::<T>, out)
    }

    /// `start, start + step, start + 2 step, ...`: integers wrap; floats are `fma(i, step, start)`.
    ///
    /// # Errors
    /// As [`Map::map`].
    fn iota<T: Scalar + Num + Element<Reg = T>>(&self, n: u64, start: T, step: T) -> Result<Buffer<Self, T>> {
        self.generate(n, (index(), scalar(start), scalar(step)), |(i, start, step)| i.cast::<T>() * step + start)
    }

    /// `a * x + y`, each element one fused multiply-add.
    ///
    /// # Errors
    /// As [`Map::map`].
    fn axpy<T: Scalar + Num + Element<Reg = T>>(&self, a: T, x: &Buffer<Self, T>, y: &Buffer<Self, T>) -> Result<Buffer<Self, T>> {
        self.map((scalar(a), x, y), |(a, x, y)| a * x + y)
    }

    /// `y` becomes `a * x + y`.
    ///
    /// # Errors
    /// As [`Map::map_into`].
    fn axpy_in_place<T: Scalar + Num + Element<Reg = T>>(&self, a: T, x: &Buffer<Self, T>, y: &Buffer<Self, T>) -> Result<()> {
        self.map_into((scalar(a), x, y), |(a, x, y)| a * x + y, y)
    }

    /// Converts every element by value, as Rust's `as` (to `u8` keeps the low eight bits of the `u32`).
    ///
    /// # Errors
    /// As [`Map::map`].
    fn cast<T: Element, U: Element>(&self, x: &Buffer<Self, T>) -> Result<Buffer<Self, U>> {
        self.map(x, |x| -> Narrow<U> { x.cast::<U::Reg>().store_as::<U>() })
    }

    /// Every element equal to `old` becomes `new` (so no NaN is ever replaced).
    ///
    /// # Errors
    /// As [`Map::map`].
    fn replace<T: Element>(&self, x: &Buffer<Self, T>, old: T, new: T) -> Result<Buffer<Self, T>> {
        self.map((x, scalar(old.widen()), scalar(new.widen())), |(x, old, new)| ir::select(x.eq(old), new, x).store_as::<T>())
    }

    /// A copy, bit for bit.
    ///
    /// # Errors
    /// As [`Map::map`].
    fn copy<T: Element>(&self, x: &Buffer<Self, T>) -> Result<Buffer<Self, T>> {
        let out = self.buffer_like(x)?;
        self.copy_into(x, &out)?;
        Ok(out)
    }

    /// A copy, bit for bit, into the caller's buffer of the same length.
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

    #[doc(hidden)]
    fn buffer_like<T: Element>(&self, x: &Buffer<Self, T>) -> Result<Buffer<Self, T>> {
        crate::buffer::Memory::buffer(self, x.len())
    }

    #[doc(hidden)]
    fn map_new<I: Inputs<Self>, R: Outputs>(
        &self,
        inputs: I,
        c: Collector<Self>,
        n: u64,
        f: impl FnOnce(I::Exprs) -> R,
    ) -> Result<R::Buffers<Self>> {
        let func = trace(&inputs, &c, f)?;
        let out = R::allocate(self, n)?;
        enqueue::<Self, R>(self, c, n, func, R::refs(&out))?;
        Ok(out)
    }
}
impl<B: Run<MapTask>> Map for B {}

pub(crate) fn collect<B: Backend, I: Inputs<B>>(device: &B, pattern: &'static str, inputs: &I) -> Result<Collector<B>> {
    let mut c = Collector::new(device, pattern);
    inputs.collect(&mut c)?;
    Ok(c)
}

pub(crate) fn trace<B: Backend, I: Inputs<B>, R: ir::Traced>(
    inputs: &I,
    c: &Collector<B>,
    f: impl FnOnce(I::Exprs) -> R,
) -> Result<Arc<Func>> {
    Ok(Arc::new(ir::pack(c.params.clone(), || f(inputs.exprs(&mut 0)))?))
}

fn enqueue<B: Run<MapTask>, R: Outputs>(device: &B, c: Collector<B>, n: u64, func: Arc<Func>, out: R::Refs<'_, B>) -> Result<()> {
    let mut outs = Vec::new();
    R::outs(device, out, n, &mut outs)?;
    for (o, _) in &outs {
        require(device, "map", o.dtype)?;
    }
    let numerics = device.numerics();
    check_ops(device, "map", numerics, &[&func])?;
    check_index(&c, n)?;
    check_aliasing("map", &c.leaves, n, &outs, true)?;
    if n == 0 {
        return Ok(());
    }
    let outs: Vec<_> = outs.into_iter().map(|(o, _)| o).collect();
    device.run(&MapTask { func, n, numerics }, &c.leaves, &outs)
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
