//! The nodes of an operator's graph.

use crate::element::{DType, Ty};
use crate::numerics::Func as Elementary;

/// A node's place in its graph. Operands come before their users.
pub type Id = u32;

/// Operations with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnOp {
    /// Negation (floats flip the sign; integers wrap).
    Neg,
    /// Absolute value (integers wrap at the minimum).
    Abs,
    /// Bitwise complement of integers, logical complement of truth values.
    Not,
    /// Square root, correctly rounded.
    Sqrt,
    /// Largest whole number not above.
    Floor,
    /// Smallest whole number not below.
    Ceil,
    /// Whole number towards zero.
    Trunc,
    /// Nearest whole number, ties to even.
    Rint,
    /// Whether a float is NaN.
    IsNan,
    /// Number of one bits.
    CountOnes,
    /// Number of leading zero bits.
    LeadingZeros,
    /// Reversed bits.
    ReverseBits,
    /// The hardware's reciprocal: a seed inside the software division only.
    RcpApprox,
    /// The hardware's square root: a seed inside the software square root only.
    SqrtApprox,
}

impl UnOp {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 14] = [
        Self::Neg,
        Self::Abs,
        Self::Not,
        Self::Sqrt,
        Self::Floor,
        Self::Ceil,
        Self::Trunc,
        Self::Rint,
        Self::IsNan,
        Self::CountOnes,
        Self::LeadingZeros,
        Self::ReverseBits,
        Self::RcpApprox,
        Self::SqrtApprox,
    ];

    /// Returns its name in messages and in the names of functions.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Neg => "neg",
            Self::Abs => "abs",
            Self::Not => "not",
            Self::Sqrt => "sqrt",
            Self::Floor => "floor",
            Self::Ceil => "ceil",
            Self::Trunc => "trunc",
            Self::Rint => "rint",
            Self::IsNan => "is_nan",
            Self::CountOnes => "count_ones",
            Self::LeadingZeros => "leading_zeros",
            Self::ReverseBits => "reverse_bits",
            Self::RcpApprox => "rcp_approx",
            Self::SqrtApprox => "sqrt_approx",
        }
    }
}

/// Operations with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product; a float product that meets a sum is fused with it when the graph is built.
    Mul,
    /// Separately rounded float product, never fused.
    MulRn,
    /// Quotient: floats correctly rounded; integers truncate, `x / 0 = x`, and `MIN / -1 = MIN`.
    Div,
    /// Integer remainder with the dividend's sign; `x % 0 = 0`.
    Rem,
    /// IEEE 754-2019 minimum (NaN propagates, -0 below +0), or integer minimum.
    Min,
    /// IEEE 754-2019 maximum, or integer maximum.
    Max,
    /// Bitwise or logical and.
    And,
    /// Bitwise or logical or.
    Or,
    /// Bitwise or logical exclusive or.
    Xor,
    /// Left shift; the amount (a `u32`) is taken modulo the width.
    Shl,
    /// Right shift, arithmetic on signed integers; the amount (a `u32`) is taken modulo the width.
    Shr,
    /// High half of the product of two `u32`.
    MulHi,
    /// Less than (false with NaN).
    Lt,
    /// Less than or equal (false with NaN).
    Le,
    /// Equal (false with NaN).
    Eq,
    /// Not equal (true with NaN).
    Ne,
    /// The hardware's quotient: a seed inside the software division only.
    DivApprox,
}

impl BinOp {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 19] = [
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::MulRn,
        Self::Div,
        Self::Rem,
        Self::Min,
        Self::Max,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::Shl,
        Self::Shr,
        Self::MulHi,
        Self::Lt,
        Self::Le,
        Self::Eq,
        Self::Ne,
        Self::DivApprox,
    ];

    /// Returns its name in messages and in the names of functions.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mul => "mul",
            Self::MulRn => "mul_rn",
            Self::Div => "div",
            Self::Rem => "rem",
            Self::Min => "min",
            Self::Max => "max",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
            Self::Shl => "shl",
            Self::Shr => "shr",
            Self::MulHi => "mul_hi",
            Self::Lt => "lt",
            Self::Le => "le",
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::DivApprox => "div_approx",
        }
    }

    /// Whether the result is a truth value.
    #[must_use]
    pub const fn is_comparison(self) -> bool {
        matches!(self, Self::Lt | Self::Le | Self::Eq | Self::Ne)
    }
}

/// One operation of a graph. Its result type stands beside it in [`Func::types`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// The value of a parameter.
    Param(u16),
    /// A constant, as zero-extended bits.
    Const(u64),
    /// One operand.
    Un(UnOp, Id),
    /// Two operands.
    Bin(BinOp, Id, Id),
    /// `a * b + c`, rounded once.
    Fma(Id, Id, Id),
    /// The second operand where the first is true, else the third.
    Select(Id, Id, Id),
    /// Conversion by value to the node's type: as Rust's `as` (float to integer saturates, NaN gives 0; integers wrap; to
    /// `Bool` means not zero).
    Cast(Id),
    /// The same bits as the node's type; a NaN is made canonical first.
    Bitcast(Id),
    /// The same bits as the node's type, a NaN's payload included: only inside definitions whose result does not depend on it.
    Reinterpret(Id),
    /// An elementary function of one operand.
    Call1(Elementary, Id),
    /// An elementary function of two operands.
    Call2(Elementary, Id, Id),
    /// Element of an array parameter; zero outside the array.
    Fetch(u16, Id),
    /// One of two blocks of nodes, of which only one has to be computed. The nodes `this+1..then_end` belong to the first block,
    /// `then_end..else_end` to the second.
    Branch {
        /// Condition that selects the block.
        cond: Id,
        /// End of the first block.
        then_end: Id,
        /// Result of the first block.
        then_result: Id,
        /// End of the second block.
        else_end: Id,
        /// Result of the second block.
        else_result: Id,
    },
    /// A value that comes round a loop: `init` in the first turn, in every other one `next` of the turn before. After the loop it is the last `next`. The values
    /// that a loop carries stand directly before it.
    Carried {
        /// Value in the first turn.
        init: Id,
        /// Value in the next turn; it may be a node of the loop.
        next: Id,
        /// The loop.
        of: Id,
    },
    /// A loop over the nodes `this+1..end`, which ends with a turn in which `go` is false, and at the latest after so many turns.
    Loop {
        /// Turns at most; not zero.
        turns: u32,
        /// End of its nodes.
        end: Id,
        /// Whether another turn follows.
        go: Id,
        /// Whether the carried values stay as they are in a turn in which `go` is false.
        keeps: bool,
    },
}

impl Node {
    /// The same among nodes with other numbers: those of operands, and of the ends of blocks.
    pub(crate) fn renumbered(self, at: impl Fn(Id) -> Id, end: impl Fn(Id) -> Id) -> Self {
        match self {
            Self::Param(_) | Self::Const(_) => self,
            Self::Un(op, a) => Self::Un(op, at(a)),
            Self::Bin(op, a, b) => Self::Bin(op, at(a), at(b)),
            Self::Fma(a, b, c) => Self::Fma(at(a), at(b), at(c)),
            Self::Select(a, b, c) => Self::Select(at(a), at(b), at(c)),
            Self::Cast(a) => Self::Cast(at(a)),
            Self::Bitcast(a) => Self::Bitcast(at(a)),
            Self::Reinterpret(a) => Self::Reinterpret(at(a)),
            Self::Call1(f, a) => Self::Call1(f, at(a)),
            Self::Call2(f, a, b) => Self::Call2(f, at(a), at(b)),
            Self::Fetch(k, a) => Self::Fetch(k, at(a)),
            Self::Branch { cond, then_end, then_result, else_end, else_result } => Self::Branch {
                cond: at(cond),
                then_end: end(then_end),
                then_result: at(then_result),
                else_end: end(else_end),
                else_result: at(else_result),
            },
            Self::Carried { init, next, of } => Self::Carried { init: at(init), next: at(next), of: at(of) },
            Self::Loop { turns, end: last, go, keeps } => Self::Loop { turns, end: end(last), go: at(go), keeps },
        }
    }
}

/// Parameter of an operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Param {
    /// A value.
    Value(Ty),
    /// The logical index, of type `U32` or `U64`.
    Index(Ty),
    /// An array to fetch from.
    Array(DType),
}

impl Param {
    /// The type of its value, or of an array's elements when they are fetched.
    #[must_use]
    pub const fn ty(self) -> Ty {
        match self {
            Self::Value(t) | Self::Index(t) => t,
            Self::Array(d) => d.ty(),
        }
    }
}

/// An operator: a typed graph with any number of results. Immutable, hashable, and the same for the same source on every machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Func {
    /// Parameters that it takes.
    pub params: Vec<Param>,
    /// Its operations in order.
    pub nodes: Vec<Node>,
    /// The type of each node.
    pub types: Vec<Ty>,
    /// The nodes whose values it returns.
    pub results: Vec<Id>,
    hash: u128,
}

impl Func {
    pub(crate) fn new(params: Vec<Param>, nodes: Vec<Node>, types: Vec<Ty>, results: Vec<Id>) -> Self {
        let hash = super::hash::stable(&params, &nodes, &types, &results);
        Self { params, nodes, types, results, hash }
    }

    /// A hash of the graph that is stable across processes, machines and releases with the same graph: part of cache keys.
    #[must_use]
    pub fn hash128(&self) -> u128 {
        self.hash
    }

    /// The types of the results.
    #[must_use]
    pub fn result_types(&self) -> Vec<Ty> {
        self.results.iter().map(|&r| self.types[r as usize]).collect()
    }

    /// Result words of 32 bits.
    #[must_use]
    pub fn result_words(&self) -> usize {
        self.results.iter().map(|&r| self.types[r as usize].words()).sum()
    }

    /// The value parameter, and the constant beside it, whose sum an integer node is.
    #[must_use]
    pub fn param_and_constant(&self, id: Id) -> Option<(u16, i64)> {
        let constant = |id: Id| match (self.nodes[id as usize], self.types[id as usize].words()) {
            (Node::Const(bits), 1) => Some(i64::from(bits as u32 as i32)),
            (Node::Const(bits), _) => Some(bits as i64),
            _ => None,
        };
        let param = |id: Id| if let Node::Param(k) = self.nodes[id as usize] { Some(k) } else { None };
        match self.nodes[id as usize] {
            Node::Param(k) => Some((k, 0)),
            Node::Bin(BinOp::Add, a, b) => Some((param(a)?, constant(b)?)).or_else(|| Some((param(b)?, constant(a)?))),
            Node::Bin(BinOp::Sub, a, b) => Some((param(a)?, constant(b)?.checked_neg()?)),
            _ => None,
        }
    }

    /// Whether it has a loop.
    #[must_use]
    pub fn has_loops(&self) -> bool {
        self.any(|node, _| matches!(node, Node::Loop { .. }))
    }

    /// Roughly how many instructions a lowering makes of it: what a kernel that repeats it gives a driver to compile.
    #[must_use]
    pub fn weight(&self) -> u32 {
        let of = |(node, ty): (&Node, &Ty)| match node {
            Node::Param(_) | Node::Const(_) => 0,
            Node::Call1(..) | Node::Call2(..) => 48,
            Node::Un(UnOp::Sqrt, _) | Node::Bin(BinOp::Div, ..) if ty.is_float() => 32,
            _ => 1,
        };
        self.nodes.iter().zip(&self.types).map(of).sum()
    }

    /// Whether it takes parameter `k`, or fetches from it.
    #[must_use]
    pub fn looks_at(&self, k: usize) -> bool {
        self.any(|node, _| matches!(node, Node::Param(p) | Node::Fetch(p, _) if usize::from(*p) == k))
    }

    /// Whether some node satisfies the predicate.
    pub fn any(&self, mut f: impl FnMut(&Node, Ty) -> bool) -> bool {
        self.nodes.iter().zip(&self.types).any(|(n, &t)| f(n, t))
    }

    /// Whether a separately rounded float product ([`BinOp::MulRn`]) is an operand of a float sum, as itself, with its sign changed, or
    /// chosen among others. A compiler that contracts gives such an operator other bits; every other operator is safe from that.
    #[must_use]
    pub fn has_open_product(&self) -> bool {
        let mut open = vec![false; self.nodes.len()];
        loop {
            let mut changed = false;
            for (i, node) in self.nodes.iter().enumerate() {
                let is = |id: Id| open[id as usize];
                let now = match *node {
                    Node::Bin(BinOp::Mul | BinOp::MulRn, ..) => self.types[i].is_float(),
                    Node::Un(UnOp::Neg | UnOp::Abs, a) => is(a),
                    Node::Select(_, a, b) => is(a) || is(b),
                    // Its blocks come after it: their products are seen in the next round.
                    Node::Branch { then_result, else_result, .. } => is(then_result) || is(else_result),
                    Node::Carried { init, next, .. } => is(init) || is(next),
                    _ => false,
                };
                changed |= now != open[i];
                open[i] = now;
            }
            if !changed {
                break;
            }
        }
        self.nodes.iter().zip(&self.types).any(|(node, ty)| match *node {
            Node::Bin(BinOp::Add | BinOp::Sub, a, b) => ty.is_float() && (open[a as usize] || open[b as usize]),
            _ => false,
        })
    }

    /// The values that the loop at node `at` carries, with `next` of each.
    pub(crate) fn carried(nodes: &[Node], at: Id) -> impl DoubleEndedIterator<Item = (Id, Id)> + Clone + '_ {
        let is_carried = |n: &&Node| matches!(n, Node::Carried { .. });
        let first = at - nodes[..at as usize].iter().rev().take_while(is_carried).count() as Id;
        (first..at).map(|id| if let Node::Carried { next, .. } = nodes[id as usize] { (id, next) } else { (id, id) })
    }

    /// The most turns that all loops take together.
    #[must_use]
    pub fn most_turns(&self) -> u64 {
        // Loops that are open: where they end, and how often their bodies run.
        let mut open: Vec<(Id, u64)> = Vec::new();
        let mut all = 0u64;
        for (i, node) in self.nodes.iter().enumerate() {
            while open.last().is_some_and(|&(end, _)| i as Id >= end) {
                open.pop();
            }
            if let Node::Loop { turns, end, .. } = *node {
                let times = open.last().map_or(1, |&(_, times)| times).saturating_mul(turns.into());
                all = all.saturating_add(times);
                open.push((end, times));
            }
        }
        all
    }

    /// Calls `f` with each operand of a node; of a carried value its loop is one.
    pub fn operands(node: &Node, mut f: impl FnMut(Id)) {
        match *node {
            Node::Param(_) | Node::Const(_) => {}
            Node::Un(_, a) | Node::Cast(a) | Node::Bitcast(a) | Node::Reinterpret(a) | Node::Call1(_, a) | Node::Fetch(_, a) => f(a),
            Node::Loop { go, .. } => f(go),
            Node::Carried { init, next, of } => {
                f(init);
                f(next);
                f(of);
            }
            Node::Bin(_, a, b) | Node::Call2(_, a, b) => {
                f(a);
                f(b);
            }
            Node::Fma(a, b, c) | Node::Select(a, b, c) => {
                f(a);
                f(b);
                f(c);
            }
            Node::Branch { cond, then_result, else_result, .. } => {
                f(cond);
                f(then_result);
                f(else_result);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BinOp, UnOp};

    #[test]
    fn operations_are_listed_in_the_order_of_their_numbers() {
        // An operation that is added has to be named, and is then found missing from its list here.
        assert!(UnOp::ALL.iter().enumerate().all(|(k, &op)| op as usize == k));
        assert!(BinOp::ALL.iter().enumerate().all(|(k, &op)| op as usize == k));
        assert_eq!(UnOp::SqrtApprox as usize + 1, UnOp::ALL.len());
        assert_eq!(BinOp::DivApprox as usize + 1, BinOp::ALL.len());
    }
}
