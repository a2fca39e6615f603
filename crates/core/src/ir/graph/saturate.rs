//! Conversions that keep to the range of the type.

use super::{Graph, Id};
use crate::element::{DType, Ty};
use crate::ir::node::BinOp;

/// The least and the greatest of an integer type.
fn range(dtype: DType) -> Option<(i128, i128)> {
    Some(match dtype {
        DType::U8 => (0, u8::MAX.into()),
        DType::I8 => (i8::MIN.into(), i8::MAX.into()),
        DType::U16 => (0, u16::MAX.into()),
        DType::I16 => (i16::MIN.into(), i16::MAX.into()),
        DType::U32 => (0, u32::MAX.into()),
        DType::I32 => (i32::MIN.into(), i32::MAX.into()),
        DType::U64 => (0, u64::MAX.into()),
        DType::I64 => (i64::MIN.into(), i64::MAX.into()),
        DType::F16 | DType::F32 | DType::F64 => return None,
    })
}

impl Graph {
    /// A number as one of `to`, in that type's register: the nearest there is, of NaN zero. Floats are cast as ever.
    pub(crate) fn saturate(&mut self, a: Id, to: DType) -> Id {
        let from = self.ty(a);
        let Some((least, greatest)) = range(to) else { return self.cast(a, to.ty()) };
        // A float saturates where it is cast; integers are bounded before their high bits are lost.
        let a = if from.is_float() { self.cast(a, to.ty()) } else { a };
        let a = self.bounded(a, least, greatest);
        self.cast(a, to.ty())
    }

    /// An integer within bounds, of which those that its type has anyway are left out.
    fn bounded(&mut self, a: Id, least: i128, greatest: i128) -> Id {
        let ty = self.ty(a);
        let mut a = a;
        if ty == Ty::Bool {
            return a;
        }
        if let Some((low, high)) = range(ty.dtype()) {
            if least > low {
                let bound = self.constant(ty, bits(ty, least));
                a = self.bin(BinOp::Max, a, bound);
            }
            if greatest < high {
                let bound = self.constant(ty, bits(ty, greatest));
                a = self.bin(BinOp::Min, a, bound);
            }
        }
        a
    }
}

/// The bits of an integer that the type has.
fn bits(ty: Ty, value: i128) -> u64 {
    if ty.words() == 2 { value as u64 } else { u64::from(value as u32) }
}
