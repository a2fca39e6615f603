//! Keys and their order: as the device sorts them, and as the host compares them where blocks are cut.

use isowarp::Device;
use isowarp::backend::Backend as _;
use isowarp::caps::{Numerics, NumericsVerdict};
use isowarp::dynamic::{Call, DynBuffer, Order, Over, Sorted};
use isowarp::element::DType;
use isowarp::ir::Evaluator;
use isowarp::patterns::KeyBits;

type Buffer = DynBuffer<Device>;

/// Whether chunks can be merged in this order, and the device finds what the host does: the operators' definition, and not its approximations, nor zeros
/// for subnormal numbers.
pub(super) fn is_exact(order: &Order, device: &Device) -> bool {
    let before = match order {
        Order::Values(by) => return !by.nan_last,
        Order::Own(before) => before,
    };
    let strict = device.numerics() == Numerics::Strict && device.caps().numerics == NumericsVerdict::Strict;
    strict || !before.types.iter().any(|ty| ty.is_float())
}

/// Payload of keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum With {
    Nothing,
    /// Where they were.
    Indices,
    /// Values of this type.
    Values(DType),
}

/// The keys' type and their order, and what goes with them.
pub(super) struct Keys<'a> {
    pub(super) dtype: DType,
    pub(super) order: &'a Order,
    pub(super) with: With,
    /// Bytes of a key, and of what goes with it.
    pub(super) sizes: Vec<u64>,
}

impl<'a> Keys<'a> {
    pub(super) fn new(dtype: DType, order: &'a Order, with: With) -> Self {
        let mut keys = Self { dtype, order, with, sizes: Vec::new() };
        keys.sizes = keys.types().into_iter().map(DType::size_bytes).collect();
        keys
    }

    /// The types of a key and of what goes with it.
    pub(super) fn types(&self) -> Vec<DType> {
        match self.with {
            With::Nothing => vec![self.dtype],
            With::Indices => vec![self.dtype, DType::U32],
            With::Values(values) => vec![self.dtype, values],
        }
    }

    /// Bytes of a key with what goes with it, as they are read.
    pub(super) fn read_bytes(&self) -> u64 {
        if self.with == With::Indices { self.sizes[0] } else { self.sizes.iter().sum() }
    }

    pub(super) fn len(&self, parts: &[Vec<u8>]) -> usize {
        parts.first().map_or(0, Vec::len) / self.sizes[0] as usize
    }

    /// A key as [`Keys::before`] takes it.
    pub(super) fn key(&self, bytes: &[u8], at: usize) -> u64 {
        let size = self.sizes[0] as usize;
        let word = bytes[at * size..][..size].iter().rev().fold(0, |word, &b| word << 8 | u64::from(b));
        match self.order {
            Order::Values(by) => {
                let key = KeyBits::new(self.dtype, by.order).of(word);
                // Of the bits that are compared, if not all are.
                by.bits.as_ref().map_or(key, |bits| key >> bits.start.min(63) & ((1u128 << bits.len()) - 1) as u64)
            }
            Order::Own(_) => self.dtype.widen(word),
        }
    }

    /// Whether the first of two keys comes before the second.
    pub(super) fn before(&self) -> impl FnMut(u64, u64) -> bool + '_ {
        let mut own = match self.order {
            Order::Values(_) => None,
            Order::Own(before) => Some(Evaluator::new(before)),
        };
        move |a, b| match &mut own {
            None => a < b,
            Some(evaluator) => {
                evaluator.eval_one(&[a, b]);
                evaluator.result(0)[0] != 0
            }
        }
    }

    /// Sorts rows of `n` keys, and returns what it gives.
    pub(super) fn sort(&self, device: &Device, inputs: &[&Buffer], n: u64, gives: Sorted) -> isowarp::Result<Vec<Buffer>> {
        let over = Over::rows(inputs.first().map_or(0, |keys| keys.len()), n);
        Call::Sort { order: self.order.clone(), over, gives }.run(device, inputs).map(|found| found.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;
    use isowarp::element::Ty;
    use isowarp::expression;
    use isowarp::patterns::SortOrder;

    #[test]
    fn the_host_compares_as_the_device_does() {
        let of = |dtype: DType, text: &str, a: &[u8], b: &[u8]| {
            let func = expression::parse(text, &[dtype.ty(), dtype.ty()], None, Some(Ty::Bool)).expect("an order");
            let order = Order::Own(func);
            let keys = Keys::new(dtype, &order, With::Nothing);
            let mut before = keys.before();
            let [a, b] = [keys.key(a, 0), keys.key(b, 0)];
            [before(a, b), before(b, a)]
        };
        assert_eq!(of(DType::I32, "x < y", &(-3i32).to_le_bytes(), &2i32.to_le_bytes()), [true, false]);
        assert_eq!(of(DType::F16, "abs(x) < abs(y)", &f16::from_f32(-3.0).to_le_bytes(), &f16::ONE.to_le_bytes()), [false, true]);
        assert_eq!(of(DType::F64, "x < y", &f64::NAN.to_le_bytes(), &1f64.to_le_bytes()), [false, false]);
        // Wraps as bytes read as words do: not at all.
        assert_eq!(of(DType::U8, "x + 255 < y + 255", &[1], &[2]), [true, false]);
        assert_eq!(of(DType::I8, "x < y", &(-3i8).to_le_bytes(), &[2]), [true, false]);
        assert_eq!(of(DType::I16, "x < y", &2i16.to_le_bytes(), &(-300i16).to_le_bytes()), [false, true]);
        assert_eq!(of(DType::U16, "x < y", &0x8000u16.to_le_bytes(), &1u16.to_le_bytes()), [false, true]);
        assert_eq!(of(DType::U64, "y < x", &u64::MAX.to_le_bytes(), &1u64.to_le_bytes()), [true, false]);
    }

    #[test]
    fn keys_are_compared_by_the_bits_that_are_asked_for() {
        let key = |dtype: DType, order: SortOrder, bits: std::ops::Range<u32>, bytes: &[u8]| {
            Keys::new(dtype, &order.bits(bits).into(), With::Nothing).key(bytes, 0)
        };
        assert_eq!(key(DType::U8, SortOrder::Ascending, 2..5, &[0b1101_0111]), 0b101);
        assert_eq!(key(DType::U8, SortOrder::Descending, 2..5, &[0b1101_0111]), 0b010);
        // The highest bit of a signed key is flipped.
        assert_eq!(key(DType::I64, SortOrder::Ascending, 63..64, &(-1i64).to_le_bytes()), 0);
        assert_eq!(key(DType::U64, SortOrder::Ascending, 0..64, &u64::MAX.to_le_bytes()), u64::MAX);
        assert_eq!(key(DType::U64, SortOrder::Ascending, 64..64, &u64::MAX.to_le_bytes()), 0);
    }

    #[test]
    fn orders_that_compute_floats_ask_for_the_definition() {
        let mut device = Device::open("cpu".parse().expect("a backend")).expect("the CPU");
        let order = |ty| Order::Own(expression::parse("x < y", &[ty, ty], None, Some(Ty::Bool)).expect("an order"));
        let (floats, integers) = (order(Ty::F32), order(Ty::I32));
        assert!(is_exact(&floats, &device));
        device = device.with_numerics(Numerics::Fast);
        assert!(!is_exact(&floats, &device) && is_exact(&integers, &device));
        assert!(is_exact(&SortOrder::Ascending.into(), &device));
    }
}
