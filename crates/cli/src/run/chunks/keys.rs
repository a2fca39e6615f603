//! Keys and their order: as the device sorts them, and as the host compares them where blocks are cut.

use isowarp::Device;
use isowarp::backend::Backend as _;
use isowarp::caps::{Numerics, NumericsVerdict};
use isowarp::dynamic::{self, DynBuffer};
use isowarp::element::DType;
use isowarp::ir::{Evaluator, Func};
use isowarp::patterns::{KeyBits, SortOrder};

type Buffer = DynBuffer<Device>;

/// Which key comes first.
#[derive(Clone, Copy)]
pub(super) enum Order<'a> {
    Values(SortOrder),
    /// Where this holds of two keys, the first.
    Own(&'a Func),
}

impl Order<'_> {
    /// Whether the device finds what the host does: the operators' definition, and not its approximations, nor zeros for subnormal numbers.
    pub(super) fn is_exact(self, device: &Device) -> bool {
        let Self::Own(before) = self else { return true };
        let strict = device.numerics() == Numerics::Strict && device.caps().numerics == NumericsVerdict::Strict;
        strict || !before.types.iter().any(|ty| ty.is_float())
    }
}

/// The keys' type and their order; indices go with them where there are two sizes.
pub(super) struct Keys<'a> {
    pub(super) dtype: DType,
    pub(super) order: Order<'a>,
    /// Bytes of a key, and of an index.
    pub(super) sizes: Vec<u64>,
}

impl Keys<'_> {
    /// Whether indices go with them.
    pub(super) fn indices(&self) -> bool {
        self.sizes.len() > 1
    }

    pub(super) fn len(&self, parts: &[Vec<u8>]) -> usize {
        parts.first().map_or(0, Vec::len) / self.sizes[0] as usize
    }

    /// A key as [`Keys::before`] takes it.
    pub(super) fn key(&self, bytes: &[u8], at: usize) -> u64 {
        let size = self.sizes[0] as usize;
        let word = bytes[at * size..][..size].iter().rev().fold(0, |word, &b| word << 8 | u64::from(b));
        match self.order {
            Order::Values(order) => KeyBits::new(self.dtype, order).of(word),
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

    /// The keys in order, rows of `n` of them where they are ordered by value.
    pub(super) fn sort(&self, device: &Device, x: &Buffer, n: u64) -> isowarp::Result<Buffer> {
        match self.order {
            Order::Values(order) => dynamic::sort(device, x, n, order),
            Order::Own(before) => dynamic::sort_by(device, x, before),
        }
    }

    /// Their indices in order, of the same rows.
    pub(super) fn argsort(&self, device: &Device, x: &Buffer, n: u64) -> isowarp::Result<Buffer> {
        match self.order {
            Order::Values(order) => dynamic::argsort(device, x, n, order),
            Order::Own(before) => dynamic::argsort_by(device, x, before),
        }
    }

    /// Both.
    pub(super) fn sort_with_indices(&self, device: &Device, x: &Buffer) -> isowarp::Result<(Buffer, Buffer)> {
        match self.order {
            Order::Values(order) => dynamic::sort_with_indices(device, x, order),
            Order::Own(before) => {
                let places = dynamic::argsort_by(device, x, before)?;
                Ok((dynamic::gather(device, x, &places)?, places))
            }
        }
    }

    /// Keys in order, and the words that travel with them.
    pub(super) fn sort_pairs(&self, device: &Device, x: &Buffer, values: &Buffer) -> isowarp::Result<(Buffer, Buffer)> {
        match self.order {
            Order::Values(order) => dynamic::sort_pairs(device, x, values, order),
            Order::Own(_) => {
                let (sorted, places) = self.sort_with_indices(device, x)?;
                Ok((sorted, dynamic::gather(device, values, &places)?))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;
    use isowarp::element::Ty;
    use isowarp::expression;

    #[test]
    fn the_host_compares_as_the_device_does() {
        let of = |dtype: DType, text: &str, a: &[u8], b: &[u8]| {
            let func = expression::parse(text, &[dtype.ty(), dtype.ty()], None, Some(Ty::Bool)).expect("an order");
            let keys = Keys { dtype, order: Order::Own(&func), sizes: vec![dtype.size_bytes()] };
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
    fn orders_that_compute_floats_ask_for_the_definition() {
        let mut device = Device::open("cpu".parse().expect("a backend")).expect("the CPU");
        let order = |ty| expression::parse("x < y", &[ty, ty], None, Some(Ty::Bool)).expect("an order");
        let (floats, integers) = (order(Ty::F32), order(Ty::I32));
        assert!(Order::Own(&floats).is_exact(&device));
        device = device.with_numerics(Numerics::Fast);
        assert!(!Order::Own(&floats).is_exact(&device) && Order::Own(&integers).is_exact(&device));
        assert!(Order::Values(SortOrder::Ascending).is_exact(&device));
    }
}
