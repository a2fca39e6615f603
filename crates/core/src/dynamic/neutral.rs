//! Whether an identity that was named leaves values as they are.

use super::with_register;
use crate::element::{DType, Scalar as _, Ty};
use crate::error::{Error, Result};
use crate::ir::{Evaluator, Func};

/// Values that are always tried: small ones, since an operator may be for values of a kind only.
const SMALL: [i64; 5] = [1, 2, 3, 5, 7];
/// Further ones of types of more than 16 bits.
const FURTHER: [i64; 7] = [-1, -2, -5, 100, -100, 1000, -1000];

/// Values of an operator's type as numbers.
struct Values<'a> {
    of: Evaluator<'a>,
    ty: Ty,
}

impl Values<'_> {
    fn bits(&self, x: i64) -> u64 {
        match self.ty {
            Ty::F32 => u64::from((x as f32).to_bits()),
            Ty::F64 => (x as f64).to_bits(),
            Ty::I64 | Ty::U64 => x as u64,
            _ => u64::from(x as u32),
        }
    }

    fn value(&self, bits: u64) -> f64 {
        match self.ty {
            Ty::F32 => f64::from(f32::from_bits(bits as u32)),
            Ty::F64 => f64::from_bits(bits),
            Ty::I32 => f64::from(bits as u32 as i32),
            Ty::I64 => bits as i64 as f64,
            _ => bits as f64,
        }
    }

    fn combined(&mut self, a: u64, b: u64) -> u64 {
        self.of.eval_one(&[a, b]);
        self.of.result(0)[0]
    }

    /// Whether the identity leaves a value as it is; what a float is may be rounded.
    fn is_kept_by(&mut self, identity: u64, bits: u64) -> bool {
        let found = self.combined(identity, bits);
        let x = self.value(bits);
        found == bits || self.ty.is_float() && (self.value(found) - x).abs() <= 1e-3 * x.abs()
    }

    /// Whether the operator makes of a value and itself that value, or none of another sign and none that is smaller: values that it is for, as far as that shows.
    fn keeps(&mut self, bits: u64) -> bool {
        let both = self.combined(bits, bits);
        let (found, x) = (self.value(both), self.value(bits));
        both == bits || found.is_finite() && found * x > 0.0 && found.abs() >= x.abs()
    }

    /// Values beside an identity, and the ends of a type but for the least number with a sign, whose opposite it is itself.
    fn edges(&self, identity: u64) -> Vec<u64> {
        let beside = |x: f64| [x - 1.0, x + 1.0, x / 2.0, x * 2.0];
        match self.ty {
            Ty::F32 => beside(self.value(identity)).map(|x| u64::from((x as f32).to_bits())).to_vec(),
            Ty::F64 => beside(self.value(identity)).map(f64::to_bits).to_vec(),
            ty => {
                let all = if ty.words() == 2 { u64::MAX } else { u64::from(u32::MAX) };
                let least = matches!(ty, Ty::I32 | Ty::I64).then_some(all ^ (all >> 1));
                let values = [0, all, all >> 1, all / 3, identity.wrapping_sub(1) & all, identity.wrapping_add(1) & all];
                values.into_iter().filter(|&bits| Some(bits) != least).collect()
            }
        }
    }

    /// All that the operator makes of two values of these.
    fn results(&mut self, of: &[i64]) -> Vec<bool> {
        let first = of.first().copied().unwrap_or(0);
        let mut all = vec![false; of.len()];
        for &a in of {
            for &b in of {
                let found = self.combined(self.bits(a), self.bits(b));
                let at = self.value(found) - first as f64;
                if at >= 0.0 && at < of.len() as f64 {
                    all[at as usize] = true;
                }
            }
        }
        all
    }
}

/// Fails for an identity that changes a value of the elements' type. Of 8 bits every value is tried that the operator gives for some two, so that the answer
/// is exact; of 16 bits every one that the operator keeps or makes larger, and of others a few, zero and the neighbours of the identity among them. Small ones are tried in any case, and both truth values.
pub(super) fn check(func: &Func, text: &str, (ty, identity): (Ty, u64), dtype: DType, truth: bool) -> Result<()> {
    let mut values = Values { of: Evaluator::new(func), ty };
    let range = match dtype {
        DType::I8 => -128..=127,
        DType::U8 => 0..=255,
        DType::I16 => -32_768..=32_767,
        DType::U16 => 0..=65_535,
        DType::U32 | DType::U64 => 0..=i64::MAX,
        _ => i64::MIN..=i64::MAX,
    };
    let small: &[i64] = if truth { &[0, 1] } else { &SMALL };
    let of_8_bits = matches!(dtype, DType::I8 | DType::U8);
    let further: Vec<i64> = match dtype {
        _ if truth => Vec::new(),
        DType::I8 | DType::U8 | DType::I16 | DType::U16 => range.collect(),
        _ => FURTHER.into_iter().filter(|x| range.contains(x)).collect(),
    };
    let mut tried: Vec<(u64, Option<i64>)> = small.iter().chain(&further).map(|&x| (values.bits(x), Some(x))).collect();
    if !truth && !matches!(dtype, DType::I8 | DType::U8 | DType::I16 | DType::U16) {
        tried.extend(values.edges(identity).into_iter().map(|bits| (bits, None)));
    }
    let mut results = None;
    for (x, number) in tried {
        if values.is_kept_by(identity, x) {
            continue;
        }
        let is_one = match number {
            Some(number) if small.contains(&number) => true,
            Some(number) if of_8_bits => results.get_or_insert_with(|| values.results(&further))[(number - further[0]) as usize],
            _ => values.keeps(x),
        };
        if is_one {
            let found = values.combined(identity, x);
            let reason = with_register!(ty, T => {
                let [identity, found, x] = [identity, found, x].map(T::from_bits64);
                format!("{identity:?} is no identity of `{text}`, which makes {found:?} of {identity:?} and {x:?}")
            });
            return Err(Error::InvalidArgument { what: "identity", reason });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Operator;
    use crate::element::DType;

    fn refused(op: &str, identity: &str, dtype: DType) -> Option<String> {
        Operator::custom(op, Some(identity)).check(dtype).err().map(|e| e.to_string())
    }

    /// Checks every identity that there is, for operators whose right one is known.
    #[test]
    fn of_8_bits_the_one_identity_is_taken_and_no_other() {
        for (dtype, range) in [(DType::U8, 0..=255), (DType::I8, -128..=127)] {
            let (least, greatest) = (*range.start(), *range.end());
            for (op, right) in [("x + y", 0), ("x * y", 1), ("max(x, y)", least), ("min(x, y)", greatest), ("x ^ y", 0), ("x | y", 0)] {
                let taken: Vec<i32> = range.clone().filter(|identity| refused(op, &identity.to_string(), dtype).is_none()).collect();
                assert_eq!(taken, [right], "{op} of {dtype}");
            }
        }
        assert!(refused("max(x, y)", "1", DType::U8).is_some_and(|why| why.contains("makes 1 of 1 and 0")));
        // Of values that the operator never gives it need not be one.
        assert_eq!(refused("(x + y) % 10", "0", DType::U8), None);
        assert!(refused("(x + y) % 10", "9", DType::U8).is_some());
    }

    #[test]
    fn of_16_bits_large_values_show_what_small_ones_do_not() {
        assert!(refused("min(x, y)", "30000", DType::U16).is_some_and(|why| why.contains("makes 30000 of 30000 and 30001")));
        assert!(refused("max(x, y)", "-30000", DType::I16).is_some_and(|why| why.contains("-32768")));
        for (op, right) in [("min(x, y)", "65535"), ("x + y", "0"), ("max(x, y)", "0"), ("(x + y) % 1000", "0")] {
            assert_eq!(refused(op, right, DType::U16), None, "{op}");
        }
    }

    #[test]
    fn of_more_bits_zero_the_ends_and_neighbours_of_an_identity_are_tried() {
        let wrong = [
            ("max(x, y)", "1", DType::U16),
            ("max(x, y)", "1", DType::U32),
            ("max(x, y)", "1", DType::U64),
            ("max(x, y)", "-32768", DType::I32),
            ("min(x, y)", "12345", DType::I32),
            ("min(x, y)", "12345", DType::I64),
            ("min(x, y)", "4000000000", DType::U32),
            ("min(x, y)", "12345", DType::F32),
            ("min(x, y)", "12345", DType::F64),
            ("min(x, y)", "12345", DType::F16),
            ("x & y", "65535", DType::U32),
            ("x & y", "65535", DType::U64),
            ("x | y", "1", DType::U64),
        ];
        for (op, identity, dtype) in wrong {
            assert!(refused(op, identity, dtype).is_some(), "{op}, {identity} of {dtype}");
        }
        let right = [
            ("max(x, y)", "0", DType::U32),
            ("max(x, y)", "-2147483648", DType::I32),
            ("min(x, y)", "2147483647", DType::I32),
            ("min(x, y)", "18446744073709551615", DType::U64),
            ("x & y", "-1", DType::I64),
            ("x * y", "1", DType::F64),
            ("x + y", "0", DType::F32),
            ("max(x, y)", "-inf", DType::F32),
            ("max(abs(x), abs(y))", "0", DType::I32),
            ("min(x + y, 100)", "0", DType::U32),
            ("(x + y) % 10", "0", DType::I32),
            ("sqrt(x * x + y * y)", "0", DType::F32),
        ];
        for (op, identity, dtype) in right {
            assert_eq!(refused(op, identity, dtype), None, "{op}, {identity} of {dtype}");
        }
    }

    #[test]
    fn sums_of_exponentials_may_overflow_beyond_the_values_that_they_are_for() {
        assert_eq!(refused("log(exp(x) + exp(y))", "-inf", DType::F32), None);
        assert!(refused("log(exp(x) + exp(y))", "0", DType::F32).is_some());
    }
}
