//! Operations at the types of their operands: what a device has to prove, one by one.

use super::OpError;
use super::graph;
use super::node::{BinOp, Func, Node, Param, UnOp};
use super::symbolic::{definition, software};
use crate::element::Ty;
use core::fmt;
use std::sync::OnceLock;

/// An operation at the types of its operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operation {
    /// One operand.
    Un(UnOp, Ty),
    /// Two operands, of which the first has this type.
    Bin(BinOp, Ty),
    /// `a * b + c`, rounded once.
    Fma(Ty),
    /// A choice of two values.
    Select(Ty),
    /// Conversion by value, from and to.
    Cast(Ty, Ty),
    /// The same bits, from and to.
    Bitcast(Ty, Ty),
}

const TYPES: [Ty; 7] = [Ty::Bool, Ty::F32, Ty::I32, Ty::U32, Ty::F64, Ty::I64, Ty::U64];
const COUNT: usize = TYPES.len();

const UN: usize = UnOp::ALL.len() * COUNT;
const BIN: usize = UN + BinOp::ALL.len() * COUNT;
const FMA: usize = BIN + COUNT;
const SELECT: usize = FMA + COUNT;
const CAST: usize = SELECT + COUNT * COUNT;
const BITCAST: usize = CAST + COUNT * COUNT;

impl Operation {
    /// Every operation that an operator can be made of, at every type that it is defined for.
    #[must_use]
    pub fn all() -> &'static [Self] {
        static ALL: OnceLock<Vec<Operation>> = OnceLock::new();
        ALL.get_or_init(|| {
            let un = UnOp::ALL.iter().flat_map(|&op| TYPES.map(|ty| Self::Un(op, ty)));
            let bin = BinOp::ALL.iter().flat_map(|&op| TYPES.map(|ty| Self::Bin(op, ty)));
            let one = TYPES.iter().flat_map(|&ty| [Self::Fma(ty), Self::Select(ty)]);
            let two = TYPES.iter().flat_map(|&a| TYPES.iter().flat_map(move |&b| [Self::Cast(a, b), Self::Bitcast(a, b)]));
            un.chain(bin).chain(one).chain(two).filter(|o| o.is_defined()).collect()
        })
    }

    fn is_defined(self) -> bool {
        let number = |ty: Ty| ty != Ty::Bool;
        match self {
            Self::Un(op, ty) => match op {
                UnOp::Neg | UnOp::Abs => number(ty),
                UnOp::Not => !ty.is_float(),
                UnOp::Sqrt | UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::Rint | UnOp::IsNan => ty.is_float(),
                UnOp::CountOnes | UnOp::LeadingZeros | UnOp::ReverseBits => ty.is_int(),
                // Seeds inside of definitions, which hold whatever these give.
                UnOp::RcpApprox | UnOp::SqrtApprox => false,
            },
            Self::Bin(op, ty) => match op {
                BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div => number(ty),
                BinOp::MulRn => ty.is_float(),
                BinOp::Rem | BinOp::Shl | BinOp::Shr => ty.is_int(),
                BinOp::And | BinOp::Or | BinOp::Xor => !ty.is_float(),
                BinOp::MulHi => ty == Ty::U32,
                BinOp::Min | BinOp::Max | BinOp::Lt | BinOp::Le | BinOp::Eq | BinOp::Ne => true,
                BinOp::DivApprox => false,
            },
            Self::Fma(ty) => ty.is_float(),
            Self::Select(_) => true,
            Self::Cast(from, to) => from != to,
            Self::Bitcast(from, to) => from != to && number(from) && number(to) && from.words() == to.words(),
        }
    }

    /// The types of its operands.
    #[must_use]
    pub fn operands(self) -> Vec<Ty> {
        match self {
            Self::Un(_, ty) | Self::Cast(ty, _) | Self::Bitcast(ty, _) => vec![ty],
            Self::Bin(BinOp::Shl | BinOp::Shr, ty) => vec![ty, Ty::U32],
            Self::Bin(_, ty) => vec![ty; 2],
            Self::Fma(ty) => vec![ty; 3],
            Self::Select(ty) => vec![Ty::Bool, ty, ty],
        }
    }

    /// The operator that is this operation alone.
    ///
    /// # Errors
    /// [`OpError`] where it is not defined for its types.
    pub fn func(self) -> Result<Func, OpError> {
        let operands = self.operands();
        graph::trace(operands.iter().map(|&ty| Param::Value(ty)).collect(), || {
            vec![graph::with(|g| {
                let p: Vec<_> = (0..operands.len() as u16).map(|k| g.param(k)).collect();
                match self {
                    Self::Un(op, _) => g.un(op, p[0]),
                    Self::Bin(op, _) => g.bin(op, p[0], p[1]),
                    Self::Fma(_) => g.fma(p[0], p[1], p[2]),
                    Self::Select(_) => g.select(p[0], p[1], p[2]),
                    Self::Cast(_, to) => g.cast(p[0], to),
                    Self::Bitcast(_, to) => g.bitcast(p[0], to),
                }
            })]
        })
    }

    /// Whether a device is asked for it as such; others are made of these in software.
    #[must_use]
    pub fn is_primitive(self) -> bool {
        !matches!(self, Self::Un(UnOp::Sqrt, _) | Self::Bin(BinOp::Div, Ty::F32 | Ty::F64))
    }

    /// Whether it takes or gives floats.
    #[must_use]
    pub fn is_of_floats(self) -> bool {
        let gives = match self {
            Self::Cast(_, to) | Self::Bitcast(_, to) => to.is_float(),
            _ => false,
        };
        gives || self.operands().iter().any(|ty| ty.is_float())
    }

    fn index(self) -> usize {
        match self {
            Self::Un(op, ty) => (op as usize * COUNT) + ty as usize,
            Self::Bin(op, ty) => UN + (op as usize * COUNT) + ty as usize,
            Self::Fma(ty) => BIN + ty as usize,
            Self::Select(ty) => FMA + ty as usize,
            Self::Cast(from, to) => SELECT + from as usize * COUNT + to as usize,
            Self::Bitcast(from, to) => CAST + from as usize * COUNT + to as usize,
        }
    }
}

/// `add_f32`, `cast_u32_f32`, ...
impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Un(op, ty) => write!(f, "{}_{ty}", op.name()),
            Self::Bin(op, ty) => write!(f, "{}_{ty}", op.name()),
            Self::Fma(ty) => write!(f, "fma_{ty}"),
            Self::Select(ty) => write!(f, "select_{ty}"),
            Self::Cast(from, to) => write!(f, "cast_{from}_{to}"),
            Self::Bitcast(from, to) => write!(f, "bitcast_{from}_{to}"),
        }
    }
}

/// A set of operations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Operations([u64; BITCAST.div_ceil(64)]);

impl Operations {
    /// None.
    pub const NONE: Self = Self([0; BITCAST.div_ceil(64)]);

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// Whether this is one of them.
    #[must_use]
    pub fn contains(self, op: Operation) -> bool {
        let at = op.index();
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    /// Adds one.
    pub fn insert(&mut self, op: Operation) {
        let at = op.index();
        self.0[at / 64] |= 1 << (at % 64);
    }

    /// Leaves one out.
    pub fn remove(&mut self, op: Operation) {
        let at = op.index();
        self.0[at / 64] &= !(1 << (at % 64));
    }

    /// All of them.
    pub fn iter(self) -> impl Iterator<Item = Operation> {
        Operation::all().iter().copied().filter(move |&op| self.contains(op))
    }
}

impl fmt::Debug for Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|op| op.to_string())).finish()
    }
}

impl FromIterator<Operation> for Operations {
    fn from_iter<T: IntoIterator<Item = Operation>>(all: T) -> Self {
        let mut set = Self::NONE;
        all.into_iter().for_each(|op| set.insert(op));
        set
    }
}

impl Func {
    /// The operation that a node of this type asks for; `None` for values, fetches, calls, branches and loops.
    pub(crate) fn operation(&self, node: &Node, ty: Ty) -> Option<Operation> {
        let of = |id: u32| self.types[id as usize];
        match *node {
            Node::Un(op, a) => Some(Operation::Un(op, of(a))),
            Node::Bin(op, a, _) => Some(Operation::Bin(op, of(a))),
            Node::Fma(..) => Some(Operation::Fma(ty)),
            Node::Select(..) => Some(Operation::Select(ty)),
            Node::Cast(a) => Some(Operation::Cast(of(a), ty)),
            Node::Bitcast(a) | Node::Reinterpret(a) => Some(Operation::Bitcast(of(a), ty)),
            Node::Param(_) | Node::Const(_) | Node::Call1(..) | Node::Call2(..) | Node::Fetch(..) => None,
            Node::Branch { .. } | Node::Carried { .. } | Node::Loop { .. } => None,
        }
    }

    /// The operations that it is made of, those of the functions that it calls with them: elementary ones, and the division and square root of f32
    /// where the device has none that round correctly.
    #[must_use]
    pub fn operations(&self) -> Operations {
        let mut set = Operations::NONE;
        self.add_operations(&mut set);
        set
    }

    fn add_operations(&self, set: &mut Operations) {
        for (node, &ty) in self.nodes.iter().zip(&self.types) {
            if let Some(op) = self.operation(node, ty) {
                if set.contains(op) {
                    continue;
                }
                set.insert(op);
            }
            let called = match *node {
                Node::Call1(f, _) | Node::Call2(f, ..) => Some(definition(f)),
                Node::Bin(BinOp::Div, ..) if ty == Ty::F32 => software("div"),
                Node::Un(UnOp::Sqrt, _) if ty == Ty::F32 => software("sqrt"),
                _ => None,
            };
            if let Some(f) = called {
                f.add_operations(set);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Expr, trace};
    use std::collections::BTreeSet;

    #[test]
    fn every_operation_has_a_place_a_name_and_an_operator_of_its_own() {
        let mut names = BTreeSet::new();
        let mut places = BTreeSet::new();
        for &op in Operation::all() {
            assert!(names.insert(op.to_string()) && places.insert(op.index()), "{op}");
            let f = op.func().expect("a listed operation is defined for its types");
            assert!(f.operations().contains(op), "{op}");
            assert_eq!(f.params.len(), op.operands().len(), "{op}");
        }
        assert!(places.iter().all(|&p| p < BITCAST));
    }

    #[test]
    fn operations_of_called_functions_count() {
        let f = trace(|x: Expr<f32>| x.sin()).expect("operator").operations();
        assert!(f.contains(Operation::Fma(Ty::F32)) && f.contains(Operation::Bin(BinOp::Lt, Ty::F32)));
        let f = trace(|x: Expr<f32>| x.recip()).expect("operator").operations();
        assert!(f.contains(Operation::Fma(Ty::F32)) && f.contains(Operation::Bin(BinOp::Div, Ty::F32)));
        let f = trace(|x: Expr<u32>| x.lt(3)).expect("operator").operations();
        assert_eq!(f.iter().collect::<Vec<_>>(), [Operation::Bin(BinOp::Lt, Ty::U32)]);
    }
}
