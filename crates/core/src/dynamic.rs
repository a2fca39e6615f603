//! Buffers and patterns for callers that learn the element types at run time: a command line, a file, another language.
//!
//! A [`Call`] is any of them as data. It goes through the typed patterns, so the checks, the orders of evaluation and the bits are theirs. Operators are
//! [`Func`]s, for instance of [`crate::expression::parse`], or [`Operator`]s.
//!
//! Elements of narrow types (of 8 or 16 bits) are combined in their register type and narrowed at the end: a sum of `u8` keeps its low eight bits.

mod accuracy;
mod call;
mod codes;
mod convolution;
mod fold;
mod fourier;
mod histogram;
mod moves;
mod neutral;
mod operator;
mod order;
mod product;
mod random;
mod results;
mod scan_total;
mod select;
mod simulation;
mod solve;
mod truth;

pub use accuracy::ExactSum;
pub use call::{Call, Order, Over, Question, Scattering, SetOp, Sorted, Variants};
pub use convolution::{Convolution, Padding};
pub use fold::Norm;
pub use fourier::Fourier;
pub use histogram::{Histogram, HistogramTotal};
pub use operator::Operator;
pub use product::Product;
pub use random::Distribution;
pub use results::Results;
pub use scan_total::ScanTotal;
pub use simulation::Simulation;
pub use solve::Solving;
pub use truth::of_elements;

use crate::backend::{Backend, Leaf, RawBuffer, Run};
use crate::buffer::{Buffer, Memory as _, write_whole};
use crate::element::{DType, Element, Ty};
use crate::error::{Error, Result};
use crate::expression;
use crate::input::{Collector, Input, Narrow, Source};
use crate::ir::graph::{self, Value};
use crate::ir::{self, BinOp, Expr, Func, OpError, Param, inline};
use crate::minifloat::F16;
use crate::patterns::{Map as _, MapTask};

/// Runs `$body` with `$T` standing for the Rust type of an element type.
macro_rules! with_dtype {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::dynamic::with_dtype!(@ $dtype, $T => $body;
            F32 f32, I32 i32, U32 u32, F64 f64, I64 i64, U64 u64, F16 half::f16, U8 u8, I8 i8, I16 i16, U16 u16)
    };
    (@ $dtype:expr, $T:ident => $body:expr; $($variant:ident $t:ty),*) => {
        match $dtype {
            $($crate::element::DType::$variant => { type $T = $t; $body })*
        }
    };
}
pub(crate) use with_dtype;

/// The same for the register types. A truth value stands as `u32`.
macro_rules! with_register {
    ($ty:expr, $T:ident => $body:expr) => {
        $crate::dynamic::with_register!(@ $ty, $T => $body; F32 f32, I32 i32, F64 f64, I64 i64, U64 u64)
    };
    (@ $ty:expr, $T:ident => $body:expr; $($variant:ident $t:ty),*) => {
        match $ty {
            $($crate::element::Ty::$variant => { type $T = $t; $body })*
            $crate::element::Ty::U32 | $crate::element::Ty::Bool => { type $T = u32; $body }
        }
    };
}
use with_register;

/// Runs `$body` with offsets of segments, which are `u32` or `u64`.
macro_rules! with_offsets {
    ($offsets:expr, $typed:ident => $body:expr) => {{
        let offsets = $offsets;
        if offsets.dtype() == $crate::element::DType::U64 {
            let $typed = offsets.typed::<u64>()?;
            $body
        } else {
            let $typed = offsets.typed::<u32>()?;
            $body
        }
    }};
}
use with_offsets;

/// `len` elements of device memory of an element type known at run time. Cheap to clone; clones share the memory.
#[derive(Clone, Debug)]
pub struct DynBuffer<B: Backend> {
    device: B,
    raw: B::Raw,
    dtype: DType,
    offset: u64,
    len: u64,
}

impl<B: Backend, T: Element> From<Buffer<B, T>> for DynBuffer<B> {
    fn from(b: Buffer<B, T>) -> Self {
        Self { device: b.device().clone(), raw: b.raw().clone(), dtype: T::DTYPE, offset: b.offset(), len: b.len() }
    }
}

impl<B: Backend> DynBuffer<B> {
    /// Reserves `len` elements; their contents are undefined.
    ///
    /// # Errors
    /// As [`crate::buffer::Memory::buffer`].
    pub fn new(device: &B, dtype: DType, len: u64) -> Result<Self> {
        with_dtype!(dtype, T => device.buffer::<T>(len).map(Self::from))
    }

    /// Takes memory that already exists: `len` elements from element `offset` on.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the memory is smaller.
    pub fn from_raw(device: &B, raw: B::Raw, dtype: DType, offset: u64, len: u64) -> Result<Self> {
        with_dtype!(dtype, T => Buffer::<B, T>::from_raw(device, raw, offset, len).map(Self::from))
    }

    /// Copies host bytes (little-endian elements) to the device.
    ///
    /// # Errors
    /// As [`DynBuffer::new`]; [`Error::InvalidArgument`] for bytes that are no whole elements.
    pub fn upload(device: &B, dtype: DType, bytes: &[u8]) -> Result<Self> {
        let size = dtype.size_bytes();
        if !(bytes.len() as u64).is_multiple_of(size) {
            return Err(Error::InvalidArgument {
                what: "bytes to upload",
                reason: format!("{} are no whole {dtype} elements", bytes.len()),
            });
        }
        let buffer = Self::new(device, dtype, bytes.len() as u64 / size)?;
        write_whole(device, &buffer.raw, bytes)?;
        Ok(buffer)
    }

    /// Copies the elements to the host, as little-endian bytes, and waits for them.
    ///
    /// # Errors
    /// As [`Buffer::read`].
    pub fn read_blocking(&self) -> Result<Vec<u8>> {
        let size = self.dtype.size_bytes();
        let mut bytes = self.device.read_bytes_blocking(&self.raw, self.offset * size, self.len * size)?;
        bytes.truncate((self.len * size) as usize);
        Ok(bytes)
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Number of elements.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.len * self.dtype.size_bytes()
    }

    /// The memory.
    pub fn raw(&self) -> &B::Raw {
        &self.raw
    }

    /// First element within the memory.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether two buffers share memory.
    pub fn shares_memory(&self, other: &Self) -> bool {
        self.raw.same(&other.raw)
    }

    /// The same elements, typed.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `T` is not the element type.
    pub fn typed<T: Element>(&self) -> Result<Buffer<B, T>> {
        if T::DTYPE != self.dtype {
            return Err(Error::InvalidArgument { what: "buffer", reason: format!("it holds {}, not {}", self.dtype, T::DTYPE) });
        }
        Buffer::from_raw(&self.device, self.raw.clone(), self.offset, self.len)
    }
}

/// Buffers as the value parameters of an operator, in order; its index parameters are the index.
#[derive(Clone, Copy)]
struct DynInputs<'a, B: Backend> {
    params: &'a [Param],
    buffers: &'a [&'a DynBuffer<B>],
    /// Index of the first element. Where it is not 0 it is an operand beside each index, so that parts of an array share one kernel.
    start: u64,
}

impl<B: Backend> Input<B> for DynInputs<'_, B> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        let mut buffers = self.buffers.iter();
        let found = || self.buffers.iter().map(|b| b.dtype.ty().to_string()).collect::<Vec<_>>().join(", ");
        let mismatch = || Error::from(OpError::Signature { what: "inputs of the operator", expected: types(self.params), found: found() });
        for &param in self.params {
            match param {
                Param::Index(ty) => {
                    c.push(None, ty.dtype(), param, Leaf::Value { bits: 0 })?;
                    if self.start > 0 {
                        let limit = if ty == Ty::U32 { u32::MAX.into() } else { u64::MAX };
                        if self.start > limit {
                            return Err(Error::TooLarge { what: "index", requested: self.start, limit });
                        }
                        c.push(None, ty.dtype(), Param::Value(ty), Leaf::Value { bits: self.start })?;
                    }
                }
                Param::Value(ty) => {
                    let b = buffers.next().filter(|b| b.dtype.ty() == ty).ok_or_else(mismatch)?;
                    c.length(b.len)?;
                    let leaf = Leaf::Elements { raw: b.raw.clone(), dtype: b.dtype, offset: b.offset, stride: 1 };
                    c.push(Some(&b.device), b.dtype, param, leaf)?;
                }
                Param::Array(dtype) => {
                    let b = buffers.next().filter(|b| b.dtype == dtype).ok_or_else(mismatch)?;
                    let leaf = Leaf::Array { raw: b.raw.clone(), dtype, offset: b.offset, len: b.len };
                    c.push(Some(&b.device), dtype, param, leaf)?;
                }
            }
        }
        if buffers.next().is_some() { Err(mismatch()) } else { Ok(()) }
    }
}

impl<B: Backend> Source for DynInputs<'_, B> {
    type Exprs = Vec<Value>;

    fn exprs(&self, next: &mut u16) -> Vec<Value> {
        let mut operand = || {
            *next += 1;
            *next - 1
        };
        let value = |param: &Param| {
            let first = operand();
            let start = (matches!(param, Param::Index(_)) && self.start > 0).then(&mut operand);
            graph::with(|g| {
                let of_part = g.param(first);
                start.map_or(of_part, |start| {
                    let start = g.param(start);
                    g.bin(BinOp::Add, of_part, start)
                })
            })
        };
        self.params.iter().map(value).collect()
    }
}

fn types(params: &[Param]) -> String {
    let of = |p: &Param| match *p {
        Param::Value(t) => Some(t.to_string()),
        Param::Array(d) => Some(format!("array of {d}")),
        Param::Index(_) => None,
    };
    params.iter().filter_map(of).collect::<Vec<_>>().join(", ")
}

/// The only result of an operator.
fn single(func: &Func) -> Result<Ty> {
    match func.result_types()[..] {
        [ty] => Ok(ty),
        ref all => {
            let found = all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            Err(OpError::Signature { what: "results of the operator", expected: "one value".to_owned(), found }.into())
        }
    }
}

/// The only result of an operator over these arguments, converted by value to `T`.
fn inlined<T: crate::element::Scalar>(func: &Func, args: &[Value]) -> Expr<T> {
    let results = inline(func, args);
    Expr::from_value(graph::with(|g| {
        let id = match results.first() {
            Some(&v) => g.id(v, T::TY),
            None => g.constant(T::TY, 0),
        };
        g.cast(id, T::TY)
    }))
}

/// The result of `func` converted by value to an element's type, rounded once.
fn stored<T: Element>(func: &Func, args: &[Value]) -> Narrow<T> {
    let is_wide = func.result_types().first() == Some(&Ty::F64);
    let value: Expr<T::Reg> =
        if is_wide && T::DTYPE == DType::F16 { inlined::<f64>(func, args).to_odd().same_as() } else { inlined(func, args) };
    value.store_as::<T>()
}

/// The result of `func` rounded once to a value of `f16`, as an `f32`.
fn rounded_to_f16(func: &Func) -> Result<Func> {
    let is_wide = func.result_types().first() == Some(&Ty::F64);
    Ok(ir::pack(func.params.clone(), || {
        let args: Vec<Value> = (0..).zip(&func.params).map(|(k, _)| graph::with(|g| g.param(k))).collect();
        F16.decode(if is_wide { F16.encode(inlined::<f64>(func, &args)) } else { F16.encode(inlined::<f32>(func, &args)) })
    })?)
}

impl<B: Run<MapTask>> call::Job<'_, B> {
    fn map(&self, func: &Func, n: u64, dtype: DType) -> Result<Results<B>> {
        let out = self.out.map_or_else(|| DynBuffer::new(self.device, dtype, n), |out| Ok(out.clone()))?;
        single(func)?;
        let inputs = DynInputs { params: &func.params, buffers: self.inputs, start: self.start };
        with_dtype!(out.dtype, T => {
            self.device.generate_into(n, inputs, |args: Vec<Value>| stored::<T>(func, &args), &out.typed::<T>()?)
        })?;
        Ok(out.into())
    }
}

/// `func` of the inputs, element by element, converted by value to elements of type `dtype` (a truth value gives 0 or 1): [`Call::Map`] where there are
/// inputs.
///
/// # Errors
/// As [`Map::map`](crate::patterns::Map::map); [`OpError::Signature`] if the buffers do not fit the operator.
pub fn map<B: Run<MapTask>>(device: &B, func: &Func, inputs: &[&DynBuffer<B>], dtype: DType) -> Result<DynBuffer<B>> {
    let n = inputs.first().map_or(0, |b| b.len);
    call::Job { device, inputs, out: None, start: 0 }.map(func, n, dtype).map(Results::one)
}

/// The elements converted by value, as Rust's `as`. Of the same type: the buffer itself.
///
/// # Errors
/// As [`map`].
pub fn cast<B: Run<MapTask>>(device: &B, x: &DynBuffer<B>, dtype: DType) -> Result<DynBuffer<B>> {
    if x.dtype == dtype { Ok(x.clone()) } else { map(device, &same(x.dtype)?, &[x], dtype) }
}

/// The elements converted into another buffer's type, and put there.
fn cast_to<B: Run<MapTask>>(device: &B, x: &DynBuffer<B>, out: &DynBuffer<B>) -> Result<()> {
    call::Job { device, inputs: &[x], out: Some(out), start: 0 }.map(&same(x.dtype)?, x.len, out.dtype).map(drop)
}

/// The elements in their register type: `f32` for `f16`, `u32` or `i32` for integers of 8 and 16 bits.
fn widened<B: Run<MapTask>>(device: &B, x: &DynBuffer<B>) -> Result<DynBuffer<B>> {
    cast(device, x, x.dtype.ty().dtype())
}

/// The operator that leaves elements as they are.
fn same(dtype: DType) -> Result<Func> {
    Ok(expression::parse("x", &[dtype.ty()], None, None)?)
}
