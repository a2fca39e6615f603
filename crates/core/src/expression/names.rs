//! The names that texts may use.

use crate::element::{DType, Ty};
use crate::ir::{BinOp, UnOp};
use crate::numerics::Func as Elementary;

/// A function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Builtin {
    /// Any number to the same type.
    Abs,
    /// Two numbers of one type.
    Pick(BinOp),
    /// A float to the same type.
    Float(UnOp),
    /// Two floats of one type, their product rounded on its own.
    MulRn,
    Fma,
    Clamp,
    Select,
    IsNan,
    /// An integer to a `u32`.
    Count(UnOp),
    /// An integer to the same type.
    Bits(UnOp),
    Cast(Ty),
    /// To the range of an integer type.
    Saturate(DType),
    Elementary(Elementary),
}

impl Builtin {
    pub(super) fn arity(self) -> usize {
        match self {
            Self::Abs | Self::Float(_) | Self::IsNan | Self::Count(_) | Self::Bits(_) | Self::Cast(_) | Self::Saturate(_) => 1,
            Self::Pick(_) | Self::MulRn => 2,
            Self::Fma | Self::Clamp | Self::Select => 3,
            Self::Elementary(f) => f.arity(),
        }
    }
}

/// Functions with a definition of their own in the IR; the elementary ones are found by [`Elementary::ALL`].
const FUNCTIONS: [(&str, Builtin); 31] = [
    ("abs", Builtin::Abs),
    ("min", Builtin::Pick(BinOp::Min)),
    ("max", Builtin::Pick(BinOp::Max)),
    ("clamp", Builtin::Clamp),
    ("select", Builtin::Select),
    ("fma", Builtin::Fma),
    ("mul_rn", Builtin::MulRn),
    ("sqrt", Builtin::Float(UnOp::Sqrt)),
    ("floor", Builtin::Float(UnOp::Floor)),
    ("ceil", Builtin::Float(UnOp::Ceil)),
    ("trunc", Builtin::Float(UnOp::Trunc)),
    ("round", Builtin::Float(UnOp::Rint)),
    ("isnan", Builtin::IsNan),
    ("popcount", Builtin::Count(UnOp::CountOnes)),
    ("clz", Builtin::Count(UnOp::LeadingZeros)),
    ("reverse_bits", Builtin::Bits(UnOp::ReverseBits)),
    ("f32", Builtin::Cast(Ty::F32)),
    ("f64", Builtin::Cast(Ty::F64)),
    ("i32", Builtin::Cast(Ty::I32)),
    ("u32", Builtin::Cast(Ty::U32)),
    ("i64", Builtin::Cast(Ty::I64)),
    ("u64", Builtin::Cast(Ty::U64)),
    ("bool", Builtin::Cast(Ty::Bool)),
    ("sat_u8", Builtin::Saturate(DType::U8)),
    ("sat_i8", Builtin::Saturate(DType::I8)),
    ("sat_u16", Builtin::Saturate(DType::U16)),
    ("sat_i16", Builtin::Saturate(DType::I16)),
    ("sat_u32", Builtin::Saturate(DType::U32)),
    ("sat_i32", Builtin::Saturate(DType::I32)),
    ("sat_u64", Builtin::Saturate(DType::U64)),
    ("sat_i64", Builtin::Saturate(DType::I64)),
];

/// The function of a name.
pub(super) fn builtin(name: &str) -> Option<Builtin> {
    let elementary = || {
        let wanted = if name == "ln" { "log" } else { name };
        Elementary::ALL.iter().find(|f| f.name() == wanted).map(|&f| Builtin::Elementary(f))
    };
    FUNCTIONS.iter().find(|(n, _)| *n == name).map(|&(_, b)| b).or_else(elementary)
}

/// A number with a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Constant {
    Pi,
    E,
    Inf,
    Nan,
}

const CONSTANTS: [(&str, Constant); 4] = [("pi", Constant::Pi), ("e", Constant::E), ("inf", Constant::Inf), ("nan", Constant::Nan)];

pub(super) fn constant(name: &str) -> Option<Constant> {
    CONSTANTS.iter().find(|(n, _)| *n == name).map(|&(_, c)| c)
}

impl Constant {
    pub(super) fn f32(self) -> f32 {
        match self {
            Self::Pi => core::f32::consts::PI,
            Self::E => core::f32::consts::E,
            Self::Inf => f32::INFINITY,
            Self::Nan => f32::NAN,
        }
    }

    pub(super) fn f64(self) -> f64 {
        match self {
            Self::Pi => core::f64::consts::PI,
            Self::E => core::f64::consts::E,
            Self::Inf => f64::INFINITY,
            Self::Nan => f64::NAN,
        }
    }
}

/// `; did you mean ...?` for the function nearest to a misspelt one, or nothing.
pub(super) fn suggest_function(name: &str) -> String {
    let all = FUNCTIONS.iter().map(|&(n, _)| n).chain(Elementary::ALL.iter().map(|f| f.name())).chain(["ln"]);
    suggest(name, all)
}

/// The same for a value.
pub(super) fn suggest_value(name: &str) -> String {
    suggest(name, CONSTANTS.iter().map(|&(n, _)| n).chain(["true", "false"]))
}

fn suggest<'a>(name: &str, all: impl Iterator<Item = &'a str>) -> String {
    let lower = name.to_ascii_lowercase();
    let limit = if name.chars().count() <= 3 { 1 } else { 2 };
    // Of equally near names, one that starts alike.
    match all.map(|n| (distance(&lower, n), n.chars().next() != lower.chars().next(), n)).min() {
        Some((d, _, n)) if d <= limit => format!("; did you mean `{n}`?"),
        _ => String::new(),
    }
}

/// Edits (insert, delete, replace) from one word to another.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}
