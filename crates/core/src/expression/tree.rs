//! The tree of a text: nodes in one vector, operands before their users, so that no pass over it recurses.

use super::names::{Builtin, Constant};
use crate::element::Ty;

/// A node's place in its tree.
pub(super) type Id = usize;

/// One-operand operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Prefix {
    Neg,
    /// `!` and `~`: complement of bits or of a truth value.
    Not,
}

/// Two-operand operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Infix {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
}

impl Infix {
    pub(super) const fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
            Self::BitAnd => "&",
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::Shl => "<<",
            Self::Shr => ">>",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::And => "&&",
            Self::Or => "||",
        }
    }

    /// Returns its binding power; higher is tighter.
    pub(super) const fn power(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Lt | Self::Le | Self::Gt | Self::Ge | Self::Eq | Self::Ne => 3,
            Self::BitOr => 4,
            Self::BitXor => 5,
            Self::BitAnd => 6,
            Self::Shl | Self::Shr => 7,
            Self::Add | Self::Sub => 8,
            Self::Mul | Self::Div | Self::Rem => 9,
        }
    }

    pub(super) const fn is_comparison(self) -> bool {
        self.power() == 3
    }
}

/// A number as it was written.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Number {
    /// Its digits without `_`; without the prefix for hexadecimal and binary.
    pub(super) digits: String,
    pub(super) form: Form,
    pub(super) negative: bool,
}

/// Notation in which a number was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    Integer,
    Float,
    /// Hexadecimal (16) or binary (2): bits, so that the top one may be set in a signed integer.
    Bits(u32),
}

/// Computation of a node.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum What {
    Number(Number),
    Constant(Constant),
    Truth(bool),
    Input(u16),
    Index,
    Prefix(Prefix, Id),
    Infix(Infix, Id, Id),
    Select(Id, Id, Id),
    Call(Builtin, Vec<Id>),
}

/// Type of a node as far as it is known before the node meets others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A type of its own.
    Is(Ty),
    /// Whole literals (and the index, if `index`), which take any number type.
    Whole { index: bool },
    /// Literals with a fraction, which take any float type.
    Fraction,
}

/// A node.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Item {
    pub(super) what: What,
    /// Byte of the text that messages point at.
    pub(super) at: usize,
    pub(super) kind: Kind,
    /// Of comparisons and casts: what the operands have in common.
    pub(super) operands: Kind,
    /// The type it is computed in, once it is settled.
    pub(super) ty: Ty,
}

/// A parsed text; the last node is its result.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) items: Vec<Item>,
}

impl Tree {
    pub(super) fn push(&mut self, at: usize, what: What) -> Id {
        let kind = Kind::Is(Ty::Bool);
        self.items.push(Item { what, at, kind, operands: kind, ty: Ty::Bool });
        self.items.len() - 1
    }
}
