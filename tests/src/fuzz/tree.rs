//! Operators as trees: what the generator makes, the shrinker cuts and a line of text says.

use isowarp::element::{DType, Ty};
use isowarp::numerics::Func as Elementary;

/// An operation of the IR, as a closure's author names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// `-a`, of unsigned integers `0 - a`.
    Neg,
    /// `abs(a)`.
    Abs,
    /// `!a`.
    Not,
    /// `sqrt(a)`.
    Sqrt,
    /// `recip(a)`.
    Recip,
    /// `floor(a)`.
    Floor,
    /// `ceil(a)`.
    Ceil,
    /// `trunc(a)`.
    Trunc,
    /// `round(a)`, ties to even.
    Round,
    /// `isnan(a)`.
    IsNan,
    /// `popcount(a)`.
    Popcount,
    /// `clz(a)`.
    Clz,
    /// `reverse_bits(a)`.
    ReverseBits,
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// `mul_rn(a, b)`.
    MulRn,
    /// `a / b`.
    Div,
    /// `a % b`.
    Rem,
    /// `min(a, b)`.
    Min,
    /// `max(a, b)`.
    Max,
    /// `a & b`.
    And,
    /// `a | b`.
    Or,
    /// `a ^ b`.
    Xor,
    /// `a << b`.
    Shl,
    /// `a >> b`.
    Shr,
    /// `mul_hi(a, b)`.
    MulHi,
    /// `a < b`.
    Lt,
    /// `a <= b`.
    Le,
    /// `a > b`.
    Gt,
    /// `a >= b`.
    Ge,
    /// `a == b`.
    Eq,
    /// `a != b`.
    Ne,
    /// `fma(a, b, c)`.
    Fma,
    /// `clamp(a, b, c)`.
    Clamp,
    /// `select(a, b, c)`, both computed.
    Select,
    /// `branch(a, b, c)`, of which one has to be computed.
    Branch,
    /// A conversion by value, `u32(a)`.
    Cast(Ty),
    /// The same bits, `as_u32(a)`.
    Bitcast(Ty),
    /// An elementary function.
    Call(Elementary),
    /// `repeat9(a, b, c)`, a loop of at most so many turns: `it` is `a` at first, and `c` of it in the next turn as long as `b` of it holds.
    Repeat(u8),
    /// The element of an input at an index that is computed, `at_x(a)`; zero outside.
    At(u8),
}

/// A typed expression.
#[derive(Clone, PartialEq, Debug)]
pub enum Tree {
    /// An input's element at the index, widened.
    Input(u8, Ty),
    /// The index.
    Index,
    /// Value that the loop around carries, `it`.
    Carried(Ty),
    /// A constant's bits, zero-extended.
    Const(Ty, u64),
    /// An operation on others.
    Node(Op, Ty, Vec<Self>),
}

/// Names of the inputs.
pub(super) const INPUTS: [&str; 4] = ["x", "y", "z", "w"];

/// The register types.
pub(super) const TYPES: [Ty; 7] = [Ty::Bool, Ty::F32, Ty::I32, Ty::U32, Ty::F64, Ty::I64, Ty::U64];

impl Op {
    /// Every operation, each conversion and function counted.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let plain = [
            Self::Neg,
            Self::Abs,
            Self::Not,
            Self::Sqrt,
            Self::Recip,
            Self::Floor,
            Self::Ceil,
            Self::Trunc,
            Self::Round,
            Self::IsNan,
            Self::Popcount,
            Self::Clz,
            Self::ReverseBits,
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
            Self::Gt,
            Self::Ge,
            Self::Eq,
            Self::Ne,
            Self::Fma,
            Self::Clamp,
            Self::Select,
            Self::Branch,
        ];
        let numbers = [Ty::F32, Ty::I32, Ty::U32, Ty::F64, Ty::I64, Ty::U64];
        let mut all = plain.to_vec();
        all.extend(TYPES.map(Self::Cast));
        all.extend(numbers.map(Self::Bitcast));
        all.extend(Elementary::ALL.iter().map(|&f| Self::Call(f)));
        all
    }

    /// Number of operands.
    #[must_use]
    pub fn arity(self) -> usize {
        match self {
            Self::Neg | Self::Abs | Self::Not | Self::Sqrt | Self::Recip | Self::Floor | Self::Ceil | Self::Trunc | Self::Round => 1,
            Self::IsNan | Self::Popcount | Self::Clz | Self::ReverseBits | Self::Cast(_) | Self::Bitcast(_) | Self::At(_) => 1,
            Self::Fma | Self::Clamp | Self::Select | Self::Branch | Self::Repeat(_) => 3,
            Self::Call(f) => f.arity(),
            _ => 2,
        }
    }

    /// The sign between its operands, where it has one.
    #[must_use]
    pub fn sign(self) -> Option<&'static str> {
        Some(match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
            Self::And => "&",
            Self::Or => "|",
            Self::Xor => "^",
            Self::Shl => "<<",
            Self::Shr => ">>",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Eq => "==",
            Self::Ne => "!=",
            _ => return None,
        })
    }

    /// The name that it is called by; of those with a sign of their own it is the sign.
    #[must_use]
    pub fn name(self) -> String {
        let plain = match self {
            Self::Neg => "-",
            Self::Not => "!",
            Self::Abs => "abs",
            Self::Sqrt => "sqrt",
            Self::Recip => "recip",
            Self::Floor => "floor",
            Self::Ceil => "ceil",
            Self::Trunc => "trunc",
            Self::Round => "round",
            Self::IsNan => "isnan",
            Self::Popcount => "popcount",
            Self::Clz => "clz",
            Self::ReverseBits => "reverse_bits",
            Self::MulRn => "mul_rn",
            Self::Min => "min",
            Self::Max => "max",
            Self::MulHi => "mul_hi",
            Self::Fma => "fma",
            Self::Clamp => "clamp",
            Self::Select => "select",
            Self::Branch => "branch",
            Self::Cast(ty) => ty.name(),
            Self::Bitcast(ty) => return format!("as_{ty}"),
            Self::Call(f) => f.name(),
            Self::Repeat(turns) => return format!("repeat{turns}"),
            Self::At(k) => return format!("at_{}", INPUTS[usize::from(k) % INPUTS.len()]),
            other => other.sign().unwrap_or("?"),
        };
        plain.to_owned()
    }

    /// Whether the expressions of the command know it.
    #[must_use]
    pub fn is_in_the_command(self) -> bool {
        !matches!(self, Self::Recip | Self::MulHi | Self::Branch | Self::Repeat(_) | Self::Bitcast(_) | Self::At(_))
    }

    /// The type of its result over operands of these types, where it is defined on them.
    #[must_use]
    pub fn result(self, of: &[Ty], inputs: &[DType]) -> Option<Ty> {
        if of.len() != self.arity() {
            return None;
        }
        let first = of[0];
        let same = of.iter().all(|&t| t == first);
        let number = first != Ty::Bool;
        let ok = match self {
            Self::Neg | Self::Abs | Self::Add | Self::Sub | Self::Mul | Self::Div | Self::Min | Self::Max | Self::Clamp => same && number,
            Self::Sqrt | Self::Recip | Self::Floor | Self::Ceil | Self::Trunc | Self::Round | Self::MulRn | Self::Fma => {
                same && first.is_float()
            }
            Self::Not => !first.is_float(),
            Self::ReverseBits => first.is_int(),
            Self::Rem => same && first.is_int(),
            Self::And | Self::Or | Self::Xor => same && !first.is_float(),
            Self::Shl | Self::Shr => first.is_int() && of[1] == Ty::U32,
            Self::MulHi => same && first == Ty::U32,
            Self::IsNan if first.is_float() => return Some(Ty::Bool),
            Self::Popcount | Self::Clz if first.is_int() => return Some(Ty::U32),
            Self::Lt | Self::Le | Self::Gt | Self::Ge if same && number => return Some(Ty::Bool),
            Self::Eq | Self::Ne if same => return Some(Ty::Bool),
            Self::Select | Self::Branch if first == Ty::Bool && of[1] == of[2] => return Some(of[1]),
            Self::Repeat(_) if of[1] == Ty::Bool && of[2] == first => return Some(first),
            Self::Cast(ty) => return Some(ty),
            Self::Bitcast(ty) if number && ty != first && ty.words() == first.words() => return Some(ty),
            Self::At(k) if first.is_int() => return inputs.get(usize::from(k)).map(|d| d.ty()),
            Self::Call(_) => same && first == Ty::F32,
            _ => false,
        };
        ok.then_some(first)
    }
}

impl Tree {
    /// The type of its value.
    #[must_use]
    pub fn ty(&self) -> Ty {
        match *self {
            Self::Input(_, ty) | Self::Carried(ty) | Self::Const(ty, _) | Self::Node(_, ty, _) => ty,
            Self::Index => Ty::U32,
        }
    }

    /// An operation on others, if it is defined on their types.
    #[must_use]
    pub fn node(op: Op, args: Vec<Self>, inputs: &[DType]) -> Option<Self> {
        let types: Vec<Ty> = args.iter().map(Self::ty).collect();
        op.result(&types, inputs).map(|ty| Self::Node(op, ty, args))
    }

    /// Calls `f` with every node, operands first.
    pub fn visit(&self, f: &mut impl FnMut(&Self)) {
        if let Self::Node(_, _, args) = self {
            args.iter().for_each(|a| a.visit(f));
        }
        f(self);
    }

    /// Whether some node satisfies the predicate.
    pub fn any(&self, mut f: impl FnMut(&Self) -> bool) -> bool {
        let mut found = false;
        self.visit(&mut |t| found |= f(t));
        found
    }

    /// Whether it has something that a loop around it would carry.
    #[must_use]
    pub fn is_open(&self) -> bool {
        match self {
            Self::Carried(_) => true,
            Self::Node(Op::Repeat(_), _, args) => args[0].is_open(),
            Self::Node(_, _, args) => args.iter().any(Self::is_open),
            _ => false,
        }
    }

    /// Number of nodes.
    #[must_use]
    pub fn size(&self) -> usize {
        let mut n = 0;
        self.visit(&mut |_| n += 1);
        n
    }

    /// Whether it reads an input, by the index or at one that it computes.
    #[must_use]
    pub fn reads(&self, k: u8) -> bool {
        self.any(|t| matches!(t, Self::Input(i, _) | Self::Node(Op::At(i), ..) if *i == k))
    }

    /// Gives the inputs other numbers.
    pub fn renumber(&mut self, to: &impl Fn(u8) -> u8) {
        match self {
            Self::Input(k, _) => *k = to(*k),
            Self::Node(op, _, args) => {
                if let Op::At(k) = op {
                    *k = to(*k);
                }
                args.iter_mut().for_each(|a| a.renumber(to));
            }
            Self::Index | Self::Carried(_) | Self::Const(..) => {}
        }
    }
}
