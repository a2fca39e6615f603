//! Trees as the library's operators: the closures that a user would write, built from data.

use super::tree::{Op, Tree};
use isowarp::backend::{Backend, Leaf, Out};
use isowarp::dynamic::DynBuffer;
use isowarp::element::{DType, Scalar, Ty};
use isowarp::input::{self, Collector, Input, Outputs};
use isowarp::ir::{self, Expr, OpError, Param, Traced, TracedValue};
use isowarp::{Error, Result};

/// A symbolic value of a type that is known at run time.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    /// A truth value.
    Bool(Expr<bool>),
    /// An `f32`.
    F32(Expr<f32>),
    /// An `i32`.
    I32(Expr<i32>),
    /// A `u32`.
    U32(Expr<u32>),
    /// An `f64`.
    F64(Expr<f64>),
    /// An `i64`.
    I64(Expr<i64>),
    /// A `u64`.
    U64(Expr<u64>),
}

/// A value of each Rust type, whatever it is called in [`Value`].
macro_rules! of_each {
    ($v:expr; $($ty:ident)*; $x:ident => $e:expr) => {
        match $v {
            $(Value::$ty($x) => Some(Value::$ty($e)),)*
            _ => None,
        }
    };
    ($v:expr; $($ty:ident)*; $x:ident -> $to:ident $e:expr) => {
        match $v {
            $(Value::$ty($x) => Some(Value::$to($e)),)*
            _ => None,
        }
    };
}

macro_rules! of_two {
    ($a:expr, $b:expr; $($ty:ident)*; $x:ident $y:ident => $e:expr) => {
        match ($a, $b) {
            $((Value::$ty($x), Value::$ty($y)) => Some(Value::$ty($e)),)*
            _ => None,
        }
    };
    ($a:expr, $b:expr; $($ty:ident)*; $x:ident $y:ident -> $to:ident $e:expr) => {
        match ($a, $b) {
            $((Value::$ty($x), Value::$ty($y)) => Some(Value::$to($e)),)*
            _ => None,
        }
    };
}

macro_rules! to_type {
    ($ty:expr, $x:ident.$method:ident) => {
        match $ty {
            Ty::Bool => Value::Bool($x.$method::<bool>()),
            Ty::F32 => Value::F32($x.$method::<f32>()),
            Ty::I32 => Value::I32($x.$method::<i32>()),
            Ty::U32 => Value::U32($x.$method::<u32>()),
            Ty::F64 => Value::F64($x.$method::<f64>()),
            Ty::I64 => Value::I64($x.$method::<i64>()),
            Ty::U64 => Value::U64($x.$method::<u64>()),
        }
    };
}

macro_rules! with_type {
    ($ty:expr, $T:ident => $e:expr) => {
        with_type!(@ $ty, $T => $e; Bool bool, F32 f32, I32 i32, U32 u32, F64 f64, I64 i64, U64 u64)
    };
    (@ $ty:expr, $T:ident => $e:expr; $($v:ident $t:ty),*) => {
        match $ty {
            $(Ty::$v => { type $T = $t; Value::$v($e) })*
        }
    };
}

macro_rules! at {
    ($index:ident, $k:expr, $dtype:expr; $($d:ident $t:ty, $v:ident);*) => {
        match $dtype {
            $(DType::$d => Some(Value::$v(ir::array_expr::<$t>($k).at($index))),)*
            _ => None,
        }
    };
}

/// Places of the leaves of a tree's inputs among a kernel's parameters.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// Element types of the inputs.
    pub(super) dtypes: Vec<DType>,
    /// By input, the parameter of its elements.
    pub(super) elements: Vec<Option<u16>>,
    /// By input, the parameter of its array.
    pub(super) arrays: Vec<Option<u16>>,
    /// The parameter of the index.
    pub(super) index: Option<u16>,
    /// Value that the loop around carries.
    carried: Option<Value>,
}

impl Places {
    /// The parameters, in order, that trees read: elements, then arrays, then the index.
    #[must_use]
    pub(super) fn of(trees: &[&Tree], dtypes: &[DType]) -> Self {
        let reads = |wanted: &dyn Fn(&Tree) -> bool| trees.iter().any(|t| t.any(wanted));
        let mut next = 0;
        let mut take = |is: bool| {
            is.then(|| {
                next += 1;
                next - 1
            })
        };
        let inputs = 0..dtypes.len() as u8;
        let elements = inputs.clone().map(|k| take(reads(&|t| matches!(t, Tree::Input(i, _) if *i == k)))).collect();
        let arrays = inputs.map(|k| take(reads(&|t| matches!(t, Tree::Node(Op::At(i), ..) if *i == k)))).collect();
        let index = take(reads(&|t| matches!(t, Tree::Index)));
        Self { dtypes: dtypes.to_vec(), elements, arrays, index, carried: None }
    }

    /// Elements of all inputs, and the index if it is read.
    #[must_use]
    pub(super) fn all(dtypes: &[DType], index: bool) -> Self {
        let n = dtypes.len() as u16;
        let elements = (0..n).map(Some).collect();
        Self { dtypes: dtypes.to_vec(), elements, arrays: vec![None; dtypes.len()], index: index.then_some(n), carried: None }
    }

    /// The parameters as a graph declares them.
    #[must_use]
    pub(super) fn params(&self) -> Vec<Param> {
        let mut all = Vec::new();
        all.extend(self.dtypes.iter().zip(&self.elements).filter(|(_, p)| p.is_some()).map(|(d, _)| Param::Value(d.ty())));
        all.extend(self.dtypes.iter().zip(&self.arrays).filter(|(_, p)| p.is_some()).map(|(&d, _)| Param::Array(d)));
        all.extend(self.index.map(|_| Param::Index(Ty::U32)));
        all
    }
}

fn ill_typed(tree: &Tree) -> OpError {
    OpError::Signature { what: "an expression", expected: "operands of fitting types".to_owned(), found: super::text::tree(tree) }
}

/// The parameter `k` of the graph that is being traced.
fn param(k: u16, ty: Ty) -> Value {
    with_type!(ty, T => <Expr<T> as Traced>::params(k))
}

/// A tree's value in the graph that is being traced.
///
/// # Errors
/// [`OpError::Signature`] for an ill-typed tree.
pub(super) fn value(tree: &Tree, places: &Places) -> Result<Value, OpError> {
    let missing = || ill_typed(tree);
    match tree {
        Tree::Input(k, ty) => Ok(param(places.elements.get(usize::from(*k)).copied().flatten().ok_or_else(missing)?, *ty)),
        Tree::Index => Ok(param(places.index.ok_or_else(missing)?, Ty::U32)),
        Tree::Carried(_) => places.carried.ok_or_else(missing),
        Tree::Const(ty, bits) => Ok(with_type!(*ty, T => ir::lit(T::from_bits64(*bits)))),
        Tree::Node(Op::Branch, ty, args) => {
            let Value::Bool(cond) = value(&args[0], places)? else { return Err(missing()) };
            branched(cond, *ty, [&args[1], &args[2]], places)
        }
        Tree::Node(Op::Repeat(turns), _, args) => repeated((*turns).into(), value(&args[0], places)?, [&args[1], &args[2]], places),
        Tree::Node(op, _, args) => {
            let args: Vec<Value> = args.iter().map(|a| value(a, places)).collect::<Result<_, _>>()?;
            let found = match args[..] {
                [a] => unary(*op, a, places),
                [a, b] => binary(*op, a, b),
                [a, b, c] => ternary(*op, a, b, c),
                _ => None,
            };
            found.ok_or_else(missing)
        }
    }
}

/// A branch whose blocks are traced one after the other.
fn branched(cond: Expr<bool>, ty: Ty, blocks: [&Tree; 2], places: &Places) -> Result<Value, OpError> {
    let mut fault = None;
    macro_rules! branch {
        ($($v:ident $t:ty),*) => {
            match ty {
                $(Ty::$v => {
                    let faults = std::cell::RefCell::new(&mut fault);
                    let block = |k: usize| match value(blocks[k], places) {
                        Ok(Value::$v(x)) => x,
                        other => {
                            **faults.borrow_mut() = Some(other.err().unwrap_or_else(|| ill_typed(blocks[k])));
                            ir::lit(<$t>::from_bits64(0))
                        }
                    };
                    Value::$v(ir::branch(cond, || block(0), || block(1)))
                })*
            }
        };
    }
    let found = branch!(Bool bool, F32 f32, I32 i32, U32 u32, F64 f64, I64 i64, U64 u64);
    fault.map_or(Ok(found), Err)
}

/// A loop whose condition and next value are traced once.
fn repeated(turns: u32, init: Value, body: [&Tree; 2], places: &Places) -> Result<Value, OpError> {
    let mut fault = None;
    macro_rules! repeat {
        ($($v:ident)*) => {
            match init {
                $(Value::$v(first) => Value::$v(ir::repeat(turns, first, |it| {
                    let inside = Places { carried: Some(Value::$v(it)), ..places.clone() };
                    match (value(body[0], &inside), value(body[1], &inside)) {
                        (Ok(Value::Bool(go)), Ok(Value::$v(next))) => ir::next_while(go, next),
                        (go, next) => {
                            fault = go.and(next).err().or_else(|| Some(ill_typed(body[1])));
                            ir::next_while(ir::lit(false), it)
                        }
                    }
                })),)*
            }
        };
    }
    let found = repeat!(Bool F32 I32 U32 F64 I64 U64);
    fault.map_or(Ok(found), Err)
}

fn unary(op: Op, a: Value, places: &Places) -> Option<Value> {
    match op {
        // Closures have no minus of unsigned integers.
        Op::Neg => of_each!(a; F32 F64 I32 I64; x => -x).or_else(|| match a {
            Value::U32(x) => Some(Value::U32(0 - x)),
            Value::U64(x) => Some(Value::U64(0 - x)),
            _ => None,
        }),
        Op::Abs => of_each!(a; F32 F64 I32 U32 I64 U64; x => x.abs()),
        Op::Not => of_each!(a; Bool I32 U32 I64 U64; x => !x),
        Op::Sqrt => of_each!(a; F32 F64; x => x.sqrt()),
        Op::Recip => of_each!(a; F32 F64; x => x.recip()),
        Op::Floor => of_each!(a; F32 F64; x => x.floor()),
        Op::Ceil => of_each!(a; F32 F64; x => x.ceil()),
        Op::Trunc => of_each!(a; F32 F64; x => x.trunc()),
        Op::Round => of_each!(a; F32 F64; x => x.round_ties_even()),
        Op::IsNan => of_each!(a; F32 F64; x -> Bool x.is_nan()),
        Op::Popcount => of_each!(a; I32 U32 I64 U64; x -> U32 x.count_ones()),
        Op::Clz => of_each!(a; I32 U32 I64 U64; x -> U32 x.leading_zeros()),
        Op::ReverseBits => of_each!(a; I32 U32 I64 U64; x => x.reverse_bits()),
        Op::Cast(ty) => Some(match a {
            Value::Bool(x) => to_type!(ty, x.cast),
            Value::F32(x) => to_type!(ty, x.cast),
            Value::I32(x) => to_type!(ty, x.cast),
            Value::U32(x) => to_type!(ty, x.cast),
            Value::F64(x) => to_type!(ty, x.cast),
            Value::I64(x) => to_type!(ty, x.cast),
            Value::U64(x) => to_type!(ty, x.cast),
        }),
        Op::Bitcast(ty) => Some(match a {
            Value::Bool(_) => return None,
            Value::F32(x) => to_type!(ty, x.bitcast),
            Value::I32(x) => to_type!(ty, x.bitcast),
            Value::U32(x) => to_type!(ty, x.bitcast),
            Value::F64(x) => to_type!(ty, x.bitcast),
            Value::I64(x) => to_type!(ty, x.bitcast),
            Value::U64(x) => to_type!(ty, x.bitcast),
        }),
        Op::Call(f) => match a {
            Value::F32(x) => called(f, x, None).map(Value::F32),
            _ => None,
        },
        Op::At(k) => {
            let (k, dtype) = (places.arrays.get(usize::from(k)).copied().flatten()?, *places.dtypes.get(usize::from(k))?);
            match a {
                Value::I32(x) => fetched(x, k, dtype),
                Value::U32(x) => fetched(x, k, dtype),
                Value::I64(x) => fetched(x, k, dtype),
                Value::U64(x) => fetched(x, k, dtype),
                _ => None,
            }
        }
        _ => None,
    }
}

fn fetched<I: isowarp::element::Int>(index: Expr<I>, k: u16, dtype: DType) -> Option<Value> {
    use half::f16;
    at!(index, k, dtype; F32 f32, F32; F16 f16, F32; F64 f64, F64; I32 i32, I32; I16 i16, I32; I8 i8, I32; U32 u32, U32; U16 u16, U32; U8 u8, U32; I64 i64, I64; U64 u64, U64)
}

fn called(f: isowarp::numerics::Func, x: Expr<f32>, y: Option<Expr<f32>>) -> Option<Expr<f32>> {
    use isowarp::numerics::Func as F;
    Some(match (f, y) {
        (F::Pow, Some(y)) => x.powf(y),
        (F::Atan2, Some(y)) => x.atan2(y),
        (_, Some(_)) => return None,
        (F::Exp, _) => x.exp(),
        (F::Exp2, _) => x.exp2(),
        (F::Expm1, _) => x.exp_m1(),
        (F::Log, _) => x.ln(),
        (F::Log2, _) => x.log2(),
        (F::Log10, _) => x.log10(),
        (F::Log1p, _) => x.ln_1p(),
        (F::Sin, _) => x.sin(),
        (F::Cos, _) => x.cos(),
        (F::Tan, _) => x.tan(),
        (F::Asin, _) => x.asin(),
        (F::Acos, _) => x.acos(),
        (F::Atan, _) => x.atan(),
        (F::Sinh, _) => x.sinh(),
        (F::Cosh, _) => x.cosh(),
        (F::Tanh, _) => x.tanh(),
        (F::Erf, _) => x.erf(),
        (F::Rsqrt, _) => x.rsqrt(),
        (F::Cbrt, _) => x.cbrt(),
        (F::Pow | F::Atan2, None) => return None,
    })
}

fn binary(op: Op, a: Value, b: Value) -> Option<Value> {
    match op {
        Op::Add => of_two!(a, b; F32 I32 U32 F64 I64 U64; x y => x + y),
        Op::Sub => of_two!(a, b; F32 I32 U32 F64 I64 U64; x y => x - y),
        Op::Mul => of_two!(a, b; F32 I32 U32 F64 I64 U64; x y => x * y),
        Op::Div => of_two!(a, b; F32 I32 U32 F64 I64 U64; x y => x / y),
        Op::Rem => of_two!(a, b; I32 U32 I64 U64; x y => x % y),
        Op::MulRn => of_two!(a, b; F32 F64; x y => x.mul_rn(y)),
        Op::Min => of_two!(a, b; F32 I32 U32 F64 I64 U64; x y => x.min(y)),
        Op::Max => of_two!(a, b; F32 I32 U32 F64 I64 U64; x y => x.max(y)),
        Op::And => of_two!(a, b; Bool I32 U32 I64 U64; x y => x & y),
        Op::Or => of_two!(a, b; Bool I32 U32 I64 U64; x y => x | y),
        Op::Xor => of_two!(a, b; Bool I32 U32 I64 U64; x y => x ^ y),
        Op::Lt => of_two!(a, b; F32 I32 U32 F64 I64 U64; x y -> Bool x.lt(y)),
        Op::Le => of_two!(a, b; F32 I32 U32 F64 I64 U64; x y -> Bool x.le(y)),
        Op::Gt => of_two!(a, b; F32 I32 U32 F64 I64 U64; x y -> Bool x.gt(y)),
        Op::Ge => of_two!(a, b; F32 I32 U32 F64 I64 U64; x y -> Bool x.ge(y)),
        Op::Eq => of_two!(a, b; Bool F32 I32 U32 F64 I64 U64; x y -> Bool x.eq(y)),
        Op::Ne => of_two!(a, b; Bool F32 I32 U32 F64 I64 U64; x y -> Bool x.ne(y)),
        Op::Shl | Op::Shr => {
            let Value::U32(by) = b else { return None };
            if op == Op::Shl { of_each!(a; I32 U32 I64 U64; x => x << by) } else { of_each!(a; I32 U32 I64 U64; x => x >> by) }
        }
        Op::MulHi => of_two!(a, b; U32; x y => x.mul_hi(y)),
        Op::Call(f) => match (a, b) {
            (Value::F32(x), Value::F32(y)) => called(f, x, Some(y)).map(Value::F32),
            _ => None,
        },
        _ => None,
    }
}

fn ternary(op: Op, a: Value, b: Value, c: Value) -> Option<Value> {
    match (op, a) {
        (Op::Fma, Value::F32(x)) => of_two!(b, c; F32; y z => x.mul_add(y, z)),
        (Op::Fma, Value::F64(x)) => of_two!(b, c; F64; y z => x.mul_add(y, z)),
        (Op::Select, Value::Bool(t)) => of_two!(b, c; Bool F32 I32 U32 F64 I64 U64; x y => ir::select(t, x, y)),
        (Op::Clamp, Value::F32(x)) => of_two!(b, c; F32; y z => x.clamp(y, z)),
        (Op::Clamp, Value::F64(x)) => of_two!(b, c; F64; y z => x.clamp(y, z)),
        (Op::Clamp, Value::I32(x)) => of_two!(b, c; I32; y z => x.clamp(y, z)),
        (Op::Clamp, Value::U32(x)) => of_two!(b, c; U32; y z => x.clamp(y, z)),
        (Op::Clamp, Value::I64(x)) => of_two!(b, c; I64; y z => x.clamp(y, z)),
        (Op::Clamp, Value::U64(x)) => of_two!(b, c; U64; y z => x.clamp(y, z)),
        _ => None,
    }
}

/// Most results of one kernel here.
pub(super) const RESULTS: usize = 4;

/// Results of one operator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Results([Option<TracedValue>; RESULTS]);

impl Results {
    /// The values of trees in the graph that is being traced. An ill-typed tree gives no result, and so an error of the task.
    #[must_use]
    pub(super) fn of(trees: &[&Tree], places: &Places) -> Self {
        let mut results = [None; RESULTS];
        for (slot, tree) in results.iter_mut().zip(trees) {
            let mut out = Vec::new();
            match value(tree, places) {
                Ok(Value::Bool(v)) => v.push_values(&mut out),
                Ok(Value::F32(v)) => v.push_values(&mut out),
                Ok(Value::I32(v)) => v.push_values(&mut out),
                Ok(Value::U32(v)) => v.push_values(&mut out),
                Ok(Value::F64(v)) => v.push_values(&mut out),
                Ok(Value::I64(v)) => v.push_values(&mut out),
                Ok(Value::U64(v)) => v.push_values(&mut out),
                Err(_) => {}
            }
            *slot = out.pop();
        }
        Self(results)
    }
}

impl Traced for Results {
    fn types() -> Vec<Ty> {
        Vec::new()
    }
    fn params(_: u16) -> Self {
        Self([None; RESULTS])
    }
    fn push_values(self, out: &mut Vec<TracedValue>) {
        out.extend(self.0.into_iter().flatten());
    }
}

impl Outputs for Results {
    type Buffers<B: Backend> = Vec<DynBuffer<B>>;
    type Scalars<B: Backend> = Vec<DynBuffer<B>>;
    type Refs<'a, B: Backend> = &'a [DynBuffer<B>];
    fn allocate<B: Backend>(_: &B, _: u64) -> Result<Vec<DynBuffer<B>>> {
        Err(Error::InvalidArgument { what: "outputs", reason: "their types are known at run time only; bring them".to_owned() })
    }
    fn scalars<B: Backend>(buffers: Vec<DynBuffer<B>>) -> Result<Vec<DynBuffer<B>>> {
        Ok(buffers)
    }
    fn refs<B: Backend>(buffers: &Vec<DynBuffer<B>>) -> &[DynBuffer<B>] {
        buffers
    }
    fn outs<B: Backend>(_: &B, refs: &[DynBuffer<B>], len: u64, into: &mut Vec<(Out<B::Raw>, u64)>) -> Result<()> {
        for b in refs {
            if b.len() < len {
                return Err(Error::BufferTooSmall { what: "the output", required: len, available: b.len() });
            }
            into.push((Out { raw: b.raw().clone(), dtype: b.dtype(), offset: b.offset() }, len));
        }
        Ok(())
    }
}

/// An input on a device: its memory, and which of it is the element at each index.
#[derive(Clone, Debug)]
pub(super) struct Source<B: Backend> {
    /// The array.
    pub(super) buffer: DynBuffer<B>,
    /// The element at index 0, counted from the array's first.
    pub(super) start: u64,
    /// Elements from one index to the next.
    pub(super) stride: i64,
}

/// Inputs of a kernel, as trees read them.
#[derive(Clone, Debug)]
pub(super) struct Sources<'a, B: Backend> {
    /// The device.
    pub(super) device: B,
    /// Place of each.
    pub(super) places: &'a Places,
    /// In order.
    pub(super) all: &'a [Source<B>],
    /// Number of indices.
    pub(super) n: u64,
}

impl<B: Backend> Input<B> for Sources<'_, B> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        c.length(self.n)?;
        let present =
            |list: &[Option<u16>]| self.all.iter().zip(list.to_vec()).filter(|(_, p)| p.is_some()).map(|(s, _)| s).collect::<Vec<_>>();
        for s in present(&self.places.elements) {
            let (raw, dtype) = (s.buffer.raw().clone(), s.buffer.dtype());
            let leaf = Leaf::Elements { raw, dtype, offset: s.buffer.offset() + s.start, stride: s.stride };
            c.push(Some(&self.device), dtype, Param::Value(dtype.ty()), leaf)?;
        }
        for s in present(&self.places.arrays) {
            let (raw, dtype) = (s.buffer.raw().clone(), s.buffer.dtype());
            let leaf = Leaf::Array { raw, dtype, offset: s.buffer.offset(), len: s.buffer.len() };
            c.push(Some(&self.device), dtype, Param::Array(dtype), leaf)?;
        }
        if self.places.index.is_some() {
            c.push(None, DType::U32, Param::Index(Ty::U32), Leaf::Value { bits: 0 })?;
        }
        Ok(())
    }
}

impl<B: Backend> input::Source for Sources<'_, B> {
    type Exprs = Places;

    fn exprs(&self, next: &mut u16) -> Places {
        *next += self.places.params().len() as u16;
        self.places.clone()
    }
}

/// A buffer's elements from `offset` on under a type that is known at run time, from stored bits.
///
/// # Errors
/// Report of the device.
pub(super) fn upload<B: Backend>(device: &B, dtype: DType, bits: &[u64]) -> Result<DynBuffer<B>> {
    let size = dtype.size_bytes() as usize;
    let bytes: Vec<u8> = bits.iter().flat_map(|b| b.to_le_bytes().into_iter().take(size)).collect();
    DynBuffer::upload(device, dtype, &bytes)
}
