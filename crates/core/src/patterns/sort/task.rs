//! P07 sort as data: what backends run, how keys become unsigned integers, and which digits a sort passes over.

use crate::backend::{Leaf, Out};
use crate::element::DType;
use crate::error::{Error, Result};
use core::ops::Range;

/// Order of the keys: the key that comes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum SortOrder {
    /// The least.
    #[default]
    Ascending,
    /// The greatest. Equal keys keep their order here too.
    Descending,
}

impl SortOrder {
    /// Compares only some bits of the keys: see [`SortBy::bits`].
    #[must_use]
    pub const fn bits(self, bits: Range<u32>) -> SortBy {
        SortBy { order: self, bits: Some(bits), nan_last: false }
    }
}

/// Comparison of keys: an order, and possibly a range of bits.
#[derive(Clone, PartialEq, Eq, Debug, Default, Hash)]
pub struct SortBy {
    /// Order of the keys: the one that comes first.
    pub order: SortOrder,
    /// The bits that are compared, 0 being the lowest, of the key as an unsigned integer ([`KeyBits`]); `None` for all.
    pub bits: Option<Range<u32>>,
    /// Whether NaN come after all numbers: see [`Ordered::nan_last`](super::Ordered::nan_last).
    pub nan_last: bool,
}

impl AsMut<SortOrder> for SortOrder {
    fn as_mut(&mut self) -> &mut Self {
        self
    }
}

impl AsMut<SortOrder> for SortBy {
    fn as_mut(&mut self) -> &mut SortOrder {
        &mut self.order
    }
}

impl From<SortOrder> for SortBy {
    fn from(order: SortOrder) -> Self {
        Self { order, bits: None, nan_last: false }
    }
}

/// Payload that travels with a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum SortPayload {
    /// Nothing.
    Nothing,
    /// An element of four or eight bytes.
    Values,
    /// The key's index within its row, a `u32`.
    Indices,
}

/// A stable sort as data. The leaves are the keys and, if they travel, the values; the outputs are what [`SortTask::places`] says.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct SortTask {
    /// Type of the keys.
    pub dtype: DType,
    /// Order of the keys: the one that comes first.
    pub order: SortOrder,
    /// The bits that are compared, inside the key's.
    pub bits: Range<u32>,
    /// Rows, each sorted by itself.
    pub rows: u64,
    /// Keys of a row.
    pub n: u64,
    /// Payload that travels.
    pub payload: SortPayload,
    /// Whether the sorted keys are an output.
    pub keys_out: bool,
    /// Whether the caller lends memory for the passes between: keys, then payload, as the outputs after the results.
    pub lent: bool,
}

/// Operands of a task, by what they are.
#[derive(Clone, Copy, Debug)]
pub struct SortPlaces<'a, R> {
    /// The keys.
    pub keys: (&'a R, u64),
    /// Values that travel.
    pub values: Option<(&'a R, u64)>,
    /// Bytes of a payload; 0 for none.
    pub payload_bytes: u64,
    /// Sorted keys.
    pub keys_out: Option<&'a Out<R>>,
    /// Sorted values, or indices.
    pub payload_out: Option<&'a Out<R>>,
    /// Room for all keys.
    pub keys_lent: Option<&'a Out<R>>,
    /// Room for the whole payload.
    pub payload_lent: Option<&'a Out<R>>,
}

impl SortTask {
    /// All keys.
    #[must_use]
    pub const fn elements(&self) -> u64 {
        self.rows * self.n
    }

    /// Returns the map from keys to unsigned integers that compare in this order.
    #[must_use]
    pub fn key_bits(&self) -> KeyBits {
        KeyBits::new(self.dtype, self.order)
    }

    /// The digits, from the lowest on, each of at most `width` bits, that a sort passes over. No bits are one digit of none, which leaves
    /// everything in its place.
    #[must_use]
    pub fn digits(&self, width: u32) -> Vec<Digit> {
        let Range { start, end } = self.bits;
        let mut digits: Vec<Digit> =
            (start..end).step_by(width.max(1) as usize).map(|shift| Digit { shift, bits: width.min(end - shift) }).collect();
        if digits.is_empty() {
            digits.push(Digit { shift: 0, bits: 0 });
        }
        digits
    }

    /// The operands by what they are.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where they are not those of this task.
    pub fn places<'a, R>(&self, leaves: &'a [Leaf<R>], outs: &'a [Out<R>]) -> Result<SortPlaces<'a, R>> {
        let fail = || Error::InvalidArgument { what: "sort", reason: "its operands do not fit".to_owned() };
        let element = |leaf: &'a Leaf<R>| match leaf {
            Leaf::Elements { raw, offset, stride: 1, .. } => Ok((raw, *offset)),
            _ => Err(fail()),
        };
        let travels = self.payload != SortPayload::Nothing;
        let (keys, values) = match (leaves, self.payload) {
            ([keys, values], SortPayload::Values) => (element(keys)?, Some(element(values)?)),
            ([keys], SortPayload::Nothing | SortPayload::Indices) => (element(keys)?, None),
            _ => return Err(fail()),
        };
        let mut rest = outs.iter();
        let mut next = |wanted: bool| if wanted { rest.next().map(Some).ok_or_else(fail) } else { Ok(None) };
        let (keys_out, payload_out) = (next(self.keys_out)?, next(travels)?);
        let (keys_lent, payload_lent) = (next(self.lent)?, next(self.lent && travels)?);
        let payload_bytes = payload_out.map_or(0, |o| o.dtype.size_bytes());
        Ok(SortPlaces { keys, values, payload_bytes, keys_out, payload_out, keys_lent, payload_lent })
    }
}

/// Some bits of a key that one pass sorts by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Digit {
    /// The lowest.
    pub shift: u32,
    /// Number of bits.
    pub bits: u32,
}

/// Map from the bits of a key to an unsigned integer that compares as the key does: `bits ^ (bits < 0 ? negative : 0) ^ flip`, the sign being the
/// type's highest bit. Floats so compare in IEEE 754's total order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct KeyBits {
    /// Width of the type.
    pub width: u32,
    /// Bits that are flipped in keys whose highest bit is set.
    pub negative: u64,
    /// Bits that are flipped in all keys.
    pub flip: u64,
}

impl KeyBits {
    /// Of a type, in an order.
    #[must_use]
    pub fn new(dtype: DType, order: SortOrder) -> Self {
        let width = 8 * dtype.size_bytes() as u32;
        let (all, sign) = (u64::MAX >> (64 - width), 1 << (width - 1));
        let (negative, flip) = match dtype {
            DType::F16 | DType::F32 | DType::F64 => (all ^ sign, sign),
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => (0, sign),
            DType::U8 | DType::U16 | DType::U32 | DType::U64 => (0, 0),
        };
        Self { width, negative, flip: if order == SortOrder::Descending { flip ^ all } else { flip } }
    }

    /// The unsigned integer of a key's bits.
    #[must_use]
    pub const fn of(self, bits: u64) -> u64 {
        let negative = if bits >> (self.width - 1) & 1 == 1 { self.negative } else { 0 };
        bits ^ negative ^ self.flip
    }

    /// The bits of the key of an unsigned integer.
    #[must_use]
    pub const fn back(self, word: u64) -> u64 {
        // Only the bits below the highest are flipped in keys where that is set.
        let bits = word ^ self.flip;
        if bits >> (self.width - 1) & 1 == 1 { bits ^ self.negative } else { bits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    #[test]
    fn floats_compare_in_total_order() {
        let f32s = [0u32, 1, 0x7f80_0000, 0x7f80_0001, 0x7fff_ffff, 0x3f80_0000].map(|b| [b, b | 1 << 31]).concat();
        for order in [SortOrder::Ascending, SortOrder::Descending] {
            let (k32, k16) = (KeyBits::new(DType::F32, order), KeyBits::new(DType::F16, order));
            let directed = |o: core::cmp::Ordering| if order == SortOrder::Ascending { o } else { o.reverse() };
            for &a in &f32s {
                for &b in &f32s {
                    let expected = directed(f32::from_bits(a).total_cmp(&f32::from_bits(b)));
                    assert_eq!(k32.of(a.into()).cmp(&k32.of(b.into())), expected, "{a:#x} {b:#x}");
                    let (a, b) = ((a >> 16) as u16, (b >> 16) as u16);
                    let expected = directed(f16::from_bits(a).total_cmp(&f16::from_bits(b)));
                    assert_eq!(k16.of(a.into()).cmp(&k16.of(b.into())), expected, "{a:#x} {b:#x}");
                }
            }
        }
        let k64 = KeyBits::new(DType::F64, SortOrder::Ascending);
        assert!(k64.of((-0.0f64).to_bits()) < k64.of(0.0f64.to_bits()));
        assert!(k64.of((-f64::NAN).to_bits()) < k64.of(f64::NEG_INFINITY.to_bits()));
    }

    #[test]
    fn integers_compare_as_they_are() {
        let k = KeyBits::new(DType::I32, SortOrder::Ascending);
        assert!(k.of(i32::MIN as u32 as u64) < k.of(u64::from(u32::MAX)) && k.of(u64::from(u32::MAX)) < k.of(0));
        let k = KeyBits::new(DType::U8, SortOrder::Descending);
        assert_eq!((k.of(0), k.of(255)), (255, 0));
        // The bits of a narrow key are those that lie there, without the sign's copies above.
        let ascending = |dtype, bits: [u64; 4]| bits.map(|b| KeyBits::new(dtype, SortOrder::Ascending).of(b));
        assert_eq!(ascending(DType::I8, [0x80, 0xff, 0, 0x7f]), [0, 0x7f, 0x80, 0xff]);
        assert_eq!(ascending(DType::I16, [0x8000, 0xffff, 0, 0x7fff]), [0, 0x7fff, 0x8000, 0xffff]);
        assert_eq!(ascending(DType::U16, [0, 1, 0x8000, 0xffff]), [0, 1, 0x8000, 0xffff]);
        let k = KeyBits::new(DType::I8, SortOrder::Descending);
        assert_eq!([0x7f, 0, 0xff, 0x80].map(|b| k.of(b)), [0, 0x7f, 0x80, 0xff]);
    }

    #[test]
    fn digits_cover_the_range_once() {
        let task = |bits| SortTask {
            dtype: DType::U32,
            order: SortOrder::Ascending,
            bits,
            rows: 1,
            n: 1,
            payload: SortPayload::Nothing,
            keys_out: true,
            lent: false,
        };
        let of = |bits, width| task(bits).digits(width).iter().map(|d| (d.shift, d.bits)).collect::<Vec<_>>();
        assert_eq!(of(0..32, 8), [(0, 8), (8, 8), (16, 8), (24, 8)]);
        assert_eq!(of(3..14, 8), [(3, 8), (11, 3)]);
        assert_eq!(of(5..5, 8), [(0, 0)]);
    }
}
