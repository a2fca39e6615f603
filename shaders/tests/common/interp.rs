//! Runs functions of a naga module over scalars and vectors of them with exact IEEE arithmetic, and panics where a device would be free to do as it likes:
//! a shift by the width or more, a division by zero or past the range, a conversion of a float that does not fit.

use naga::{
    BinaryOperator as B, Expression as E, Function, Handle, Literal, MathFunction as M, Module, ScalarKind as K, Statement as S, TypeInner,
    UnaryOperator as U,
};
use std::collections::HashMap;

/// A value: its type and zero-extended bits, or the members of a structure or a vector.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum V {
    Bool(bool),
    F32(u32),
    F64(u64),
    I32(i32),
    U32(u32),
    I64(i64),
    U64(u64),
    Struct(Vec<V>),
}

impl V {
    pub(crate) fn f32(v: f32) -> Self {
        Self::F32(v.to_bits())
    }
    pub(crate) fn f64(v: f64) -> Self {
        Self::F64(v.to_bits())
    }
    /// The bits, zero-extended.
    pub(crate) fn bits(&self) -> u64 {
        match *self {
            Self::Bool(b) => u64::from(b),
            Self::F32(v) | Self::U32(v) => u64::from(v),
            Self::I32(v) => u64::from(v as u32),
            Self::F64(v) | Self::U64(v) => v,
            Self::I64(v) => v as u64,
            Self::Struct(_) => panic!("a structure has no bits"),
        }
    }
    fn of(kind: K, width: u8, bits: u64) -> Self {
        match (kind, width) {
            (K::Bool, _) => Self::Bool(bits != 0),
            (K::Float, 4) => Self::F32(bits as u32),
            (K::Float, _) => Self::F64(bits),
            (K::Sint, 4) => Self::I32(bits as u32 as i32),
            (K::Sint, _) => Self::I64(bits as i64),
            (_, 4) => Self::U32(bits as u32),
            _ => Self::U64(bits),
        }
    }
}

thread_local! {
    /// Whether arithmetic of floats takes subnormal operands for zeros, and gives zeros for subnormal results.
    static FLUSHES: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Does something on a device that flushes subnormal numbers, and rounds 32-bit integers to f32 as it likes.
pub(crate) fn flushing<R>(f: impl FnOnce() -> R) -> R {
    FLUSHES.set(true);
    let result = f();
    FLUSHES.set(false);
    result
}

/// A float as it passes through an instruction.
fn passed(bits: u32) -> u32 {
    if FLUSHES.get() && f32::from_bits(bits).is_subnormal() { bits & 0x8000_0000 } else { bits }
}

/// The same of an f64.
fn passed64(bits: u64) -> u64 {
    if FLUSHES.get() && f64::from_bits(bits).is_subnormal() { bits & (1 << 63) } else { bits }
}

fn passed_value(v: V) -> V {
    match v {
        V::F32(bits) => V::F32(passed(bits)),
        V::F64(bits) => V::F64(passed64(bits)),
        other => other,
    }
}

/// Calls a function of the module by name.
pub(crate) fn call(module: &Module, name: &str, args: &[V]) -> V {
    let f = module.functions.iter().find(|(_, f)| f.name.as_deref() == Some(name)).unwrap_or_else(|| panic!("no function {name}")).0;
    run(module, &module.functions[f], args)
}

enum Flow {
    Next,
    Break,
    Continue,
    Return(Option<V>),
}

struct Frame<'a> {
    module: &'a Module,
    f: &'a Function,
    args: &'a [V],
    values: HashMap<Handle<E>, V>,
    locals: HashMap<Handle<naga::LocalVariable>, V>,
}

fn run(module: &Module, f: &Function, args: &[V]) -> V {
    let mut frame = Frame { module, f, args, values: HashMap::new(), locals: HashMap::new() };
    for (handle, local) in f.local_variables.iter() {
        let v = match local.init {
            Some(init) => frame.value(init),
            None => zero(module, local.ty),
        };
        frame.locals.insert(handle, v);
    }
    match frame.block(&f.body) {
        Flow::Return(Some(v)) => v,
        _ => panic!("no value returned"),
    }
}

fn zero(module: &Module, ty: Handle<naga::Type>) -> V {
    match &module.types[ty].inner {
        TypeInner::Scalar(s) => V::of(s.kind, s.width, 0),
        TypeInner::Vector { size, scalar } => V::Struct(vec![V::of(scalar.kind, scalar.width, 0); *size as usize]),
        other => panic!("{other:?}"),
    }
}

impl Frame<'_> {
    fn block(&mut self, block: &naga::Block) -> Flow {
        for statement in block {
            match statement {
                S::Emit(range) => {
                    for h in range.clone() {
                        let v = self.compute(h);
                        self.values.insert(h, v);
                    }
                }
                S::Block(b) => match self.block(b) {
                    Flow::Next => {}
                    flow => return flow,
                },
                S::If { condition, accept, reject } => {
                    let branch = if self.value(*condition) == V::Bool(true) { accept } else { reject };
                    match self.block(branch) {
                        Flow::Next => {}
                        flow => return flow,
                    }
                }
                S::Loop { body, continuing, .. } => loop {
                    match self.block(body) {
                        Flow::Break => break,
                        Flow::Return(v) => return Flow::Return(v),
                        Flow::Next | Flow::Continue => {}
                    }
                    self.block(continuing);
                },
                S::Switch { selector, cases } => {
                    let V::U32(chosen) = self.value(*selector) else { panic!("a switch of no u32") };
                    let is = |case: &&naga::SwitchCase| match case.value {
                        naga::SwitchValue::U32(value) => value == chosen,
                        naga::SwitchValue::I32(value) => value as u32 == chosen,
                        naga::SwitchValue::Default => false,
                    };
                    let default = |case: &&naga::SwitchCase| case.value == naga::SwitchValue::Default;
                    let found = cases.iter().position(|case| is(&case)).or_else(|| cases.iter().position(|case| default(&case)));
                    // Cases that fall through share the body of the next one that does not.
                    for case in cases.iter().skip(found.expect("a default")) {
                        match self.block(&case.body) {
                            Flow::Next | Flow::Break => {}
                            flow => return flow,
                        }
                        if !case.fall_through {
                            break;
                        }
                    }
                }
                S::Break => return Flow::Break,
                S::Continue => return Flow::Continue,
                S::Return { value } => return Flow::Return(value.map(|v| self.value(v))),
                S::Store { pointer, value } => {
                    let E::LocalVariable(local) = self.f.expressions[*pointer] else { panic!("a store to no local variable") };
                    let v = self.value(*value);
                    self.locals.insert(local, v);
                }
                S::Call { function, arguments, result } => {
                    let args: Vec<V> = arguments.iter().map(|&a| self.value(a)).collect();
                    let v = run(self.module, &self.module.functions[*function], &args);
                    if let Some(r) = result {
                        self.values.insert(*r, v);
                    }
                }
                other => panic!("{other:?}"),
            }
        }
        Flow::Next
    }

    fn value(&self, h: Handle<E>) -> V {
        self.values.get(&h).cloned().unwrap_or_else(|| self.compute(h))
    }

    fn compute(&self, h: Handle<E>) -> V {
        match &self.f.expressions[h] {
            E::Literal(l) => match *l {
                Literal::F32(v) => V::f32(v),
                Literal::F64(v) => V::f64(v),
                Literal::I32(v) => V::I32(v),
                Literal::U32(v) => V::U32(v),
                Literal::I64(v) => V::I64(v),
                Literal::U64(v) => V::U64(v),
                Literal::Bool(v) => V::Bool(v),
                other => panic!("{other:?}"),
            },
            E::ZeroValue(ty) => zero(self.module, *ty),
            E::FunctionArgument(k) => self.args[*k as usize].clone(),
            E::Load { pointer } => {
                let E::LocalVariable(local) = self.f.expressions[*pointer] else { panic!("a load from no local variable") };
                self.locals[&local].clone()
            }
            E::Compose { components, .. } => V::Struct(components.iter().map(|&c| self.value(c)).collect()),
            E::Splat { size, value } => V::Struct(vec![self.value(*value); *size as usize]),
            E::AccessIndex { base, index } => match self.value(*base) {
                V::Struct(members) => members[*index as usize].clone(),
                other => panic!("a member of {other:?}"),
            },
            E::Unary { op, expr } => each(&[self.value(*expr)], &|a| unary(*op, &a[0])),
            E::Binary { op, left, right } => each(&[self.value(*left), self.value(*right)], &|a| binary(*op, &a[0], &a[1])),
            E::Select { condition, accept, reject } => {
                let chosen = |a: &[V]| if a[0] == V::Bool(true) { a[1].clone() } else { a[2].clone() };
                each(&[self.value(*condition), self.value(*accept), self.value(*reject)], &chosen)
            }
            E::Relational { fun, argument } => {
                let V::Struct(parts) = self.value(*argument) else { panic!("{fun:?} of a scalar") };
                let mut parts = parts.iter().map(|p| *p == V::Bool(true));
                V::Bool(match fun {
                    naga::RelationalFunction::Any => parts.any(|p| p),
                    naga::RelationalFunction::All => parts.all(|p| p),
                    other => panic!("{other:?}"),
                })
            }
            E::As { expr, kind, convert } => each(&[self.value(*expr)], &|a| cast(&a[0], *kind, *convert)),
            E::Math { fun, arg, arg1, arg2, .. } => {
                let args: Vec<V> = [Some(*arg), *arg1, *arg2].into_iter().flatten().map(|a| self.value(a)).collect();
                each(&args, &|a| math(*fun, a))
            }
            other => panic!("{other:?}"),
        }
    }
}

/// An operation on scalars, or on the components of vectors.
fn each(args: &[V], f: &dyn Fn(&[V]) -> V) -> V {
    let Some(V::Struct(first)) = args.iter().find(|a| matches!(a, V::Struct(_))) else { return f(args) };
    let component = |k: usize| args.iter().map(|a| if let V::Struct(c) = a { c[k].clone() } else { a.clone() }).collect::<Vec<_>>();
    V::Struct((0..first.len()).map(|k| f(&component(k))).collect())
}

fn unary(op: U, a: &V) -> V {
    match (op, a) {
        (U::Negate, &V::F32(v)) => V::F32(passed(v) ^ 0x8000_0000),
        (U::Negate, &V::F64(v)) => V::F64(v ^ (1 << 63)),
        (U::Negate, &V::I32(v)) => V::I32(v.wrapping_neg()),
        (U::Negate, &V::I64(v)) => V::I64(v.wrapping_neg()),
        (U::LogicalNot, &V::Bool(v)) => V::Bool(!v),
        (U::BitwiseNot, &V::I32(v)) => V::I32(!v),
        (U::BitwiseNot, &V::U32(v)) => V::U32(!v),
        (U::BitwiseNot, &V::I64(v)) => V::I64(!v),
        (U::BitwiseNot, &V::U64(v)) => V::U64(!v),
        _ => panic!("{op:?} {a:?}"),
    }
}

macro_rules! int_binary {
    ($op:expr, $x:expr, $y:expr, $v:path) => {
        match $op {
            B::Add => $v($x.wrapping_add($y)),
            B::Subtract => $v($x.wrapping_sub($y)),
            B::Multiply => $v($x.wrapping_mul($y)),
            B::Divide => $v($x.checked_div($y).expect("a defined division")),
            B::Modulo => $v($x.checked_rem($y).expect("a defined remainder")),
            B::And => $v($x & $y),
            B::InclusiveOr => $v($x | $y),
            B::ExclusiveOr => $v($x ^ $y),
            op => V::Bool(compare(op, &$x, &$y)),
        }
    };
}

macro_rules! float_binary {
    ($op:expr, $x:expr, $y:expr, $v:path) => {
        match $op {
            B::Add => $v($x + $y),
            B::Subtract => $v($x - $y),
            B::Multiply => $v($x * $y),
            B::Divide => $v($x / $y),
            // As naga writes SPIR-V: every comparison of floats is ordered, `!=` too.
            op => V::Bool(compare(op, &$x, &$y) && !$x.is_nan() && !$y.is_nan()),
        }
    };
}

fn compare<T: PartialOrd>(op: B, x: &T, y: &T) -> bool {
    match op {
        B::Equal => x == y,
        B::NotEqual => x != y,
        B::Less => x < y,
        B::LessEqual => x <= y,
        B::Greater => x > y,
        B::GreaterEqual => x >= y,
        _ => panic!("{op:?}"),
    }
}

fn binary(op: B, a: &V, b: &V) -> V {
    if matches!(op, B::ShiftLeft | B::ShiftRight) {
        let V::U32(n) = *b else { panic!("a shift by {b:?}") };
        let left = op == B::ShiftLeft;
        return match *a {
            V::U32(v) => V::U32(if left { v.checked_shl(n) } else { v.checked_shr(n) }.expect("a defined shift")),
            V::I32(v) => V::I32(if left { v.checked_shl(n) } else { v.checked_shr(n) }.expect("a defined shift")),
            V::U64(v) => V::U64(if left { v.checked_shl(n) } else { v.checked_shr(n) }.expect("a defined shift")),
            V::I64(v) => V::I64(if left { v.checked_shl(n) } else { v.checked_shr(n) }.expect("a defined shift")),
            _ => panic!("{a:?}"),
        };
    }
    match (a, b) {
        (&V::F32(x), &V::F32(y)) => passed_value(float_binary!(op, f32::from_bits(passed(x)), f32::from_bits(passed(y)), V::f32)),
        (&V::F64(x), &V::F64(y)) => passed_value(float_binary!(op, f64::from_bits(passed64(x)), f64::from_bits(passed64(y)), V::f64)),
        (&V::I32(x), &V::I32(y)) => int_binary!(op, x, y, V::I32),
        (&V::U32(x), &V::U32(y)) => int_binary!(op, x, y, V::U32),
        (&V::I64(x), &V::I64(y)) => int_binary!(op, x, y, V::I64),
        (&V::U64(x), &V::U64(y)) => int_binary!(op, x, y, V::U64),
        (&V::Bool(x), &V::Bool(y)) => V::Bool(match op {
            B::LogicalAnd | B::And => x && y,
            B::LogicalOr | B::InclusiveOr => x || y,
            B::Equal => x == y,
            B::NotEqual => x != y,
            _ => panic!("{op:?}"),
        }),
        _ => panic!("{op:?} {a:?} {b:?}"),
    }
}

fn cast(a: &V, kind: K, convert: Option<u8>) -> V {
    let Some(width) = convert else {
        let width = if matches!(a, V::F64(_) | V::I64(_) | V::U64(_)) { 8 } else { 4 };
        return V::of(kind, width, a.bits());
    };
    let float = |v: f64| match (kind, width) {
        (K::Float, 8) => V::f64(v),
        (K::Float, _) => passed_value(V::f32(v as f32)),
        (K::Bool, _) => V::Bool(v != 0.0),
        (K::Sint, 4) if v > -2_147_483_649.0 && v < 2_147_483_648.0 => V::I32(v as i32),
        (K::Uint, 4) if v > -1.0 && v < 4_294_967_296.0 => V::U32(v as u32),
        _ => panic!("an undefined conversion of {v}"),
    };
    // As naga writes SPIR-V: integers widen with the target's sign.
    let int = |bits: u64, from_wide: bool, value: i128| match (kind, width) {
        (K::Float, 8) => V::f64(value as f64),
        (K::Float, _) => {
            assert!(!from_wide, "the rounding of 64-bit integers is not promised");
            let up = u32::from(FLUSHES.get() && value.unsigned_abs() >= 1 << 24);
            V::F32((value as f32).to_bits() + up)
        }
        (K::Sint, 8) if !from_wide => V::I64(i64::from(bits as u32 as i32)),
        _ => V::of(kind, width, bits),
    };
    match *a {
        V::F32(v) => float(f64::from(f32::from_bits(passed(v)))),
        V::F64(v) => float(f64::from_bits(passed64(v))),
        V::I32(v) => int(u64::from(v as u32), false, i128::from(v)),
        V::U32(v) => int(u64::from(v), false, i128::from(v)),
        V::I64(v) => int(v as u64, true, i128::from(v)),
        V::U64(v) => int(v, true, i128::from(v)),
        V::Bool(v) => V::of(kind, width, u64::from(v)),
        V::Struct(_) => panic!("a structure is not converted"),
    }
}

macro_rules! float_math {
    ($fun:expr, $v:expr) => {
        match $fun {
            M::Floor => $v.floor(),
            M::Ceil => $v.ceil(),
            M::Trunc => $v.trunc(),
            M::Round => $v.round_ties_even(),
            M::Sqrt => $v.sqrt(),
            other => panic!("{other:?}"),
        }
    };
}

fn math(fun: M, args: &[V]) -> V {
    match (fun, args) {
        (M::Abs, &[V::F32(v)]) => V::F32(passed(v) & 0x7FFF_FFFF),
        (M::Abs, &[V::F64(v)]) => V::F64(v & !(1 << 63)),
        (M::Abs, &[V::I32(v)]) => V::I32(v.wrapping_abs()),
        (M::Abs, &[V::I64(v)]) => V::I64(v.wrapping_abs()),
        (M::Fma, &[V::F32(a), V::F32(b), V::F32(c)]) => V::f32(f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c))),
        (M::Fma, &[V::F64(a), V::F64(b), V::F64(c)]) => V::f64(f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c))),
        (M::CountOneBits, &[V::U32(v)]) => V::U32(v.count_ones()),
        (M::CountOneBits, &[V::I32(v)]) => V::I32(v.count_ones() as i32),
        (M::CountLeadingZeros, &[V::U32(v)]) => V::U32(v.leading_zeros()),
        (M::CountTrailingZeros, &[V::U32(v)]) => V::U32(v.trailing_zeros()),
        (M::ReverseBits, &[V::U32(v)]) => V::U32(v.reverse_bits()),
        (M::ReverseBits, &[V::I32(v)]) => V::I32(v.reverse_bits()),
        // As coarse as devices are: an ULP off, in either direction.
        (M::InverseSqrt, &[V::F32(v)]) => {
            let near = (1.0 / f64::from(f32::from_bits(v)).sqrt()) as f32;
            V::F32(near.to_bits().wrapping_add(v & 1).wrapping_sub(v >> 1 & 1))
        }
        (M::Clamp, [v, low, high]) => math(M::Min, &[math(M::Max, &[v.clone(), low.clone()]), high.clone()]),
        (M::Min | M::Max, &[V::I32(a), V::I32(b)]) => V::I32(if fun == M::Min { a.min(b) } else { a.max(b) }),
        (M::Min | M::Max, &[V::U32(a), V::U32(b)]) => V::U32(if fun == M::Min { a.min(b) } else { a.max(b) }),
        (M::Min | M::Max, &[V::I64(a), V::I64(b)]) => V::I64(if fun == M::Min { a.min(b) } else { a.max(b) }),
        (M::Min | M::Max, &[V::U64(a), V::U64(b)]) => V::U64(if fun == M::Min { a.min(b) } else { a.max(b) }),
        (_, &[V::F32(v)]) => V::f32(float_math!(fun, f32::from_bits(passed(v)))),
        (_, &[V::F64(v)]) => V::f64(float_math!(fun, f64::from_bits(passed64(v)))),
        _ => panic!("{fun:?} {args:?}"),
    }
}
