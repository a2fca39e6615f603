//! Combining operators by name or by text.

use super::{neutral, single, with_register};
use crate::element::{DType, Element as _, Scalar, Ty};
use crate::error::{Error, Result};
use crate::expression;
use crate::ir::{Evaluator, Expr, Func, OpError};
use crate::ops::{Combine, Max, Min, Product, Sum};
use std::sync::Arc;

/// Operator of reductions and scans, for element types that are known at run time.
#[derive(Clone, PartialEq, Debug)]
pub struct Operator {
    name: &'static str,
    /// Function that is applied to each element first.
    pub(super) load: &'static str,
    combine: String,
    identity: Identity,
    /// The element type of the result, where it is not the input's.
    pub(super) result: Option<DType>,
    /// The type that elements are converted to first, and the result has.
    into: Option<DType>,
    /// Whether an operator of the caller's combines truth values.
    truth: bool,
}

/// Identity, which leaves others unchanged.
#[derive(Clone, PartialEq, Debug)]
enum Identity {
    Zero,
    One,
    Greatest,
    Least,
    AllOnes,
    /// An expression without variables.
    Text(String),
    Unknown,
}

const SAME: &str = "x";
const IS_TRUE: &str = "u32(x != 0)";

impl Operator {
    /// The names that [`Operator::named`] knows.
    pub const NAMES: [&str; 10] = ["sum", "product", "min", "max", "and", "or", "xor", "count", "any", "all"];

    /// A built-in operator: `sum`, `product`, `min`, `max`; `and`, `or`, `xor` of integers; and over elements that are not zero: `count` of them
    /// (`u32`), whether `any` or `all` are (`u32` 0 or 1).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = Self::NAMES.into_iter().find(|&n| n == name)?;
        Some(match name {
            "sum" => Self::of(name, SAME, "x + y", Identity::Zero, None),
            "product" => Self::of(name, SAME, "x * y", Identity::One, None),
            "min" => Self::of(name, SAME, "min(x, y)", Identity::Greatest, None),
            "max" => Self::of(name, SAME, "max(x, y)", Identity::Least, None),
            "and" => Self::of(name, SAME, "x & y", Identity::AllOnes, None),
            "or" => Self::of(name, SAME, "x | y", Identity::Zero, None),
            "xor" => Self::of(name, SAME, "x ^ y", Identity::Zero, None),
            "count" => Self::of(name, IS_TRUE, "x + y", Identity::Zero, Some(DType::U32)),
            "any" => Self::of(name, IS_TRUE, "x | y", Identity::Zero, Some(DType::U32)),
            _ => Self::of(name, IS_TRUE, "x & y", Identity::One, Some(DType::U32)),
        })
    }

    fn of(name: &'static str, load: &'static str, combine: &str, identity: Identity, result: Option<DType>) -> Self {
        Self { name, load, combine: combine.to_owned(), identity, result, into: None, truth: false }
    }

    /// An operator of your own, an expression of `x` (from lower indices) and `y`. It has to be associative. `identity`, an expression without
    /// variables, is what leaves other values unchanged: what an exclusive scan starts with and what reducing nothing gives; without it both are
    /// errors. It is no initial value, and one that changes 1, 2, 3, 5 or 7 is refused.
    #[must_use]
    pub fn custom(text: &str, identity: Option<&str>) -> Self {
        let identity = identity.map_or(Identity::Unknown, |t| Identity::Text(t.to_owned()));
        Self::of("custom operator", SAME, text, identity, None)
    }

    /// The operator `sum`.
    #[must_use]
    pub fn sum() -> Self {
        Self::of("sum", SAME, "x + y", Identity::Zero, None)
    }

    /// The operator over truth values, which lie in the array as 0 and 1, as NumPy has it: a sum counts those that hold, a product is 1 where all
    /// hold (both `u32`), and an expression of your own is one of `bool`s.
    ///
    /// ```
    /// use isowarp_core::dynamic::{Call, DynBuffer, Operator, Over};
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let mask = DynBuffer::from(dev.upload(&[1u8; 300])?);
    /// let count = Call::Reduce { op: Operator::custom("x != y", Some("false")).of_truth(), over: Over::Whole }.run(&dev, &[&mask])?.one();
    /// assert_eq!(count.read_blocking()?, [0]); // an even number of them holds
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn of_truth(self) -> Self {
        match self.name {
            "sum" | "product" => Self { load: IS_TRUE, result: Some(DType::U32), ..self },
            "custom operator" => Self { truth: true, ..self },
            _ => self,
        }
    }

    /// The operator over elements that are converted to another type first, by value as Rust's `as`, which the result has: the sum of bytes that does not
    /// wrap, a count of more than 2^32. Numbers of a type of 8 or 16 bits are combined in the 32-bit one that holds them, and the result is narrowed.
    ///
    /// ```
    /// use isowarp_core::dynamic::{Call, DynBuffer, Operator, Over};
    /// use isowarp_core::element::DType;
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = DynBuffer::from(dev.upload(&[250u8; 1000])?);
    /// let sum = Call::Reduce { op: Operator::sum().accumulate_in(DType::U64), over: Over::Whole }.run(&dev, &[&x])?.one();
    /// assert_eq!((sum.dtype(), sum.read_blocking()?), (DType::U64, 250_000u64.to_le_bytes().to_vec()));
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn accumulate_in(self, dtype: DType) -> Self {
        Self { into: Some(dtype), result: Some(dtype), truth: false, ..self }
    }

    /// Whether results are counts that 32 bits hold.
    pub(super) fn counts_in_words(&self) -> bool {
        self.name == "count" && self.result.is_some_and(|dtype| dtype.size_bytes() <= 4)
    }

    /// The operator's name in messages.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Fails where the operator does not fit elements of type `dtype`: what the patterns would say, before there is a device.
    ///
    /// # Errors
    /// [`OpError::Parse`], [`OpError::Signature`].
    pub fn check(&self, dtype: DType) -> Result<()> {
        self.prepare(single(&self.load(dtype)?)?, dtype).map(drop)
    }

    /// Returns the function that is applied to each element of type `dtype` first.
    pub(super) fn load(&self, dtype: DType) -> Result<Func> {
        let load = self.load;
        let text = match self.into {
            // Of few bits the low ones, with their sign.
            Some(into @ (DType::U8 | DType::U16)) => format!("u32({load}) & u32({})", (1u32 << (8 * into.size_bytes())) - 1),
            Some(into @ (DType::I8 | DType::I16)) => {
                let bits = 32 - 8 * into.size_bytes();
                format!("(i32({load}) << i32({bits})) >> i32({bits})")
            }
            Some(DType::F16) if dtype != DType::F16 => return super::rounded_to_f16(&expression::parse(load, &[dtype.ty()], None, None)?),
            Some(into) => format!("{}({load})", into.ty()),
            None => load.to_owned(),
        };
        Ok(expression::parse(&text, &[dtype.ty()], None, None)?)
    }

    /// The element type of the result for elements of type `dtype`.
    #[must_use]
    pub fn result(&self, dtype: DType) -> DType {
        self.result.unwrap_or(dtype)
    }

    /// The operator on values of type `ty`, which elements of type `dtype` became.
    pub(super) fn prepare(&self, ty: Ty, dtype: DType) -> Result<Prepared> {
        let of = if self.truth { Ty::Bool } else { ty };
        let func = expression::parse(&self.combine, &[of, of], None, Some(of))?;
        let found = single(&func)?;
        if found != of {
            let (expected, found) = (of.to_string(), found.to_string());
            return Err(OpError::Signature { what: "result of the combining operator", expected, found }.into());
        }
        let func = super::of_elements(&func)?;
        let identity = self.identity(ty, dtype)?;
        if let (Identity::Text(_), Some(identity)) = (&self.identity, identity) {
            neutral::check(&func, &self.combine, (ty, identity), self.result(dtype), self.truth)?;
        }
        // The least of nothing has no value, though an exclusive scan can start with the greatest value there is.
        let of_nothing = identity.filter(|_| !matches!(self.identity, Identity::Greatest | Identity::Least));
        Ok(Prepared { func: Arc::new(func), identity, of_nothing, name: self.name })
    }

    fn identity(&self, ty: Ty, dtype: DType) -> Result<Option<u64>> {
        let dtype = self.result(dtype);
        macro_rules! of {
            ($op:expr) => {
                with_register!(ty, T => Combine::<T>::identity(&$op).to_bits64())
            };
        }
        Ok(Some(match (&self.identity, dtype) {
            // Narrowed, the greatest and the least i32 are -1 and 0.
            (Identity::Greatest, DType::I8) => i8::MAX.widen().to_bits64(),
            (Identity::Greatest, DType::I16) => i16::MAX.widen().to_bits64(),
            (Identity::Least, DType::I8) => i8::MIN.widen().to_bits64(),
            (Identity::Least, DType::I16) => i16::MIN.widen().to_bits64(),
            (Identity::Zero, _) => of!(Sum),
            (Identity::One, _) => of!(Product),
            (Identity::Greatest, _) => of!(Min),
            (Identity::Least, _) => of!(Max),
            (Identity::AllOnes, _) if ty.words() == 2 => u64::MAX,
            (Identity::AllOnes, _) => u64::from(u32::MAX),
            (Identity::Text(text), _) => {
                let of = if self.truth { Ty::Bool } else { ty };
                // 0 and 1 are truth values too.
                let text = if self.truth && matches!(text.trim(), "0" | "1") { format!("{text} != 0") } else { text.clone() };
                let func = expression::parse(&text, &[], None, Some(of))?;
                if single(&func)? != of {
                    let found = single(&func)?.to_string();
                    return Err(OpError::Signature { what: "identity", expected: of.to_string(), found }.into());
                }
                let mut e = Evaluator::new(&func);
                e.eval_one(&[]);
                let bits = e.result(0)[0];
                let fits = match dtype {
                    DType::I8 => i8::try_from(bits as u32 as i32).is_ok(),
                    DType::I16 => i16::try_from(bits as u32 as i32).is_ok(),
                    DType::U8 => bits <= u8::MAX.into(),
                    DType::U16 => bits <= u16::MAX.into(),
                    _ => true,
                };
                if !fits {
                    return Err(Error::InvalidArgument { what: "identity", reason: format!("{text} does not fit {dtype}") });
                }
                bits
            }
            (Identity::Unknown, _) => return Ok(None),
        }))
    }
}

/// An operator on values of one type.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    func: Arc<Func>,
    identity: Option<u64>,
    of_nothing: Option<u64>,
    name: &'static str,
}

impl Prepared {
    /// Fails where a pattern has nothing to start with, or to give for nothing.
    pub(super) fn require_identity(&self, what: &'static str) -> Result<()> {
        if self.identity.is_some() {
            return Ok(());
        }
        Err(Error::InvalidArgument { what, reason: "an operator of your own needs an identity to start with".to_owned() })
    }
}

impl<T: Scalar> Combine<T> for Prepared {
    fn combine(&self, a: Expr<T>, b: Expr<T>) -> Expr<T> {
        super::inlined(&self.func, &[a.value(), b.value()])
    }
    fn identity(&self) -> T {
        T::from_bits64(self.identity.unwrap_or(0))
    }
    fn known_identity(&self) -> Option<T> {
        self.identity.map(T::from_bits64)
    }
    fn of_nothing(&self) -> Option<T> {
        self.of_nothing.map(T::from_bits64)
    }
    fn name(&self) -> &'static str {
        self.name
    }
}
