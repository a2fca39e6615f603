//! Element types: what lies in a buffer ([`DType`], [`Element`]) and what a kernel computes with ([`Ty`], [`Scalar`]).
//!
//! Narrow types are storage types: `f16` widens to `f32`, `u8` and `u16` to `u32`, `i8` and `i16` to `i32` when it is loaded, and is narrowed again
//! when it is stored (`f16` rounds to nearest even, integers keep their low bits). So every operator is defined on seven register types.

use bytemuck::Pod;
use core::fmt;
use half::f16;

/// The type of the elements of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DType {
    /// IEEE binary32.
    F32,
    /// Two's complement 32-bit integer.
    I32,
    /// Unsigned 32-bit integer.
    U32,
    /// IEEE binary64 (a capability).
    F64,
    /// Two's complement 64-bit integer (a capability).
    I64,
    /// Unsigned 64-bit integer (a capability).
    U64,
    /// IEEE binary16, stored only.
    F16,
    /// Unsigned 8-bit integer, stored only.
    U8,
    /// Two's complement 8-bit integer, stored only.
    I8,
    /// Two's complement 16-bit integer, stored only.
    I16,
    /// Unsigned 16-bit integer, stored only.
    U16,
}

impl DType {
    /// Every element type, in a fixed order.
    pub const ALL: [Self; 11] =
        [Self::F32, Self::I32, Self::U32, Self::F64, Self::I64, Self::U64, Self::F16, Self::U8, Self::I8, Self::I16, Self::U16];

    /// The types that are only stored: every device has them.
    pub const STORED: [Self; 5] = [Self::F16, Self::U8, Self::I8, Self::I16, Self::U16];

    /// Size of one element in bytes.
    #[must_use]
    pub const fn size_bytes(self) -> u64 {
        match self {
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
            Self::F16 | Self::I16 | Self::U16 => 2,
            Self::U8 | Self::I8 => 1,
        }
    }

    /// The register type that an element widens to when it is loaded.
    #[must_use]
    pub const fn ty(self) -> Ty {
        match self {
            Self::F32 | Self::F16 => Ty::F32,
            Self::I32 | Self::I16 | Self::I8 => Ty::I32,
            Self::U32 | Self::U16 | Self::U8 => Ty::U32,
            Self::F64 => Ty::F64,
            Self::I64 => Ty::I64,
            Self::U64 => Ty::U64,
        }
    }

    /// The bits of the register value ([`DType::ty`]) that an element of these low bits widens to; those above it are ignored.
    #[must_use]
    pub fn widen(self, bits: u64) -> u64 {
        match self {
            Self::F32 | Self::I32 | Self::U32 => bits & u64::from(u32::MAX),
            Self::F64 | Self::I64 | Self::U64 => bits,
            Self::F16 => f16::from_bits(bits as u16).widen().to_bits64(),
            Self::U8 => u64::from(bits as u8),
            Self::U16 => u64::from(bits as u16),
            Self::I8 => (bits as u8 as i8).widen().to_bits64(),
            Self::I16 => (bits as u16 as i16).widen().to_bits64(),
        }
    }

    /// Rust's name of the type.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::F64 => "f64",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::F16 => "f16",
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::U16 => "u16",
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The type of a value while a kernel computes with it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Ty {
    /// A truth value: the result of a comparison.
    Bool,
    /// IEEE binary32.
    F32,
    /// Two's complement 32-bit integer, wrapping.
    I32,
    /// Unsigned 32-bit integer, wrapping.
    U32,
    /// IEEE binary64.
    F64,
    /// Two's complement 64-bit integer, wrapping.
    I64,
    /// Unsigned 64-bit integer, wrapping.
    U64,
}

impl Ty {
    /// Whether the type is `f32` or `f64`.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// Whether the type is an integer, signed or not.
    #[must_use]
    pub const fn is_int(self) -> bool {
        matches!(self, Self::I32 | Self::U32 | Self::I64 | Self::U64)
    }

    /// Whether the type is a signed integer.
    #[must_use]
    pub const fn is_signed_int(self) -> bool {
        matches!(self, Self::I32 | Self::I64)
    }

    /// 32-bit words that a value takes.
    #[must_use]
    pub const fn words(self) -> usize {
        match self {
            Self::F64 | Self::I64 | Self::U64 => 2,
            _ => 1,
        }
    }

    /// The element type that stores a value of this type unchanged; a `Bool` is stored as a `u32` 0 or 1.
    #[must_use]
    pub const fn dtype(self) -> DType {
        match self {
            Self::F32 => DType::F32,
            Self::I32 => DType::I32,
            Self::U32 | Self::Bool => DType::U32,
            Self::F64 => DType::F64,
            Self::I64 => DType::I64,
            Self::U64 => DType::U64,
        }
    }

    /// Rust's name of the type.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            _ => self.dtype().name(),
        }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A Rust type that can lie in a buffer.
pub trait Element: Pod + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// Its element type.
    const DTYPE: DType;
    /// The type that operators see.
    type Reg: Scalar;
    /// The register value that an element widens to.
    fn widen(self) -> Self::Reg;
    /// The element that a register value narrows to.
    fn narrow(reg: Self::Reg) -> Self;
}

/// A Rust type that operators compute with.
pub trait Scalar: Copy + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// Its register type.
    const TY: Ty;
    /// The value's bits, zero-extended.
    fn to_bits64(self) -> u64;
    /// The value of the low bits.
    fn from_bits64(bits: u64) -> Self;
}

/// Marker for `f32` and `f64`.
pub trait Float: Scalar {}
/// Marker for the integers.
pub trait Int: Scalar {}
/// Everything that can be added.
pub trait Num: Scalar {
    /// A type whose order by `<` is the total order of this one's values; for integers the type itself.
    #[doc(hidden)]
    type Key: Num;
}

macro_rules! plain {
    ($($t:ident $dtype:ident $key:ident $to:expr, $from:expr;)*) => {$(
        impl Element for $t {
            const DTYPE: DType = DType::$dtype;
            type Reg = Self;
            fn widen(self) -> Self { self }
            fn narrow(reg: Self) -> Self { reg }
        }
        impl Scalar for $t {
            const TY: Ty = Ty::$dtype;
            fn to_bits64(self) -> u64 { $to(self) }
            fn from_bits64(bits: u64) -> Self { $from(bits) }
        }
        impl Num for $t {
            type Key = $key;
        }
    )*};
}
plain! {
    f32 F32 i32 |v: f32| u64::from(v.to_bits()), |b| f32::from_bits(b as u32);
    i32 I32 i32 |v: i32| u64::from(v as u32), |b| b as u32 as i32;
    u32 U32 u32 |v: u32| u64::from(v), |b| b as u32;
    f64 F64 i64 |v: f64| v.to_bits(), f64::from_bits;
    i64 I64 i64 |v: i64| v as u64, |b| b as i64;
    u64 U64 u64 |v: u64| v, |b| b;
}
impl Float for f32 {}
impl Float for f64 {}
impl Int for i32 {}
impl Int for u32 {}
impl Int for i64 {}
impl Int for u64 {}

impl Scalar for bool {
    const TY: Ty = Ty::Bool;
    fn to_bits64(self) -> u64 {
        u64::from(self)
    }
    fn from_bits64(bits: u64) -> Self {
        bits & 1 != 0
    }
}

impl Element for f16 {
    const DTYPE: DType = DType::F16;
    type Reg = f32;
    fn widen(self) -> f32 {
        self.to_f32()
    }
    fn narrow(reg: f32) -> Self {
        if reg.is_nan() { Self::from_bits(0x7E00) } else { Self::from_f32(reg) }
    }
}

macro_rules! narrow_int {
    ($($t:ident $dtype:ident $reg:ident;)*) => {$(
        impl Element for $t {
            const DTYPE: DType = DType::$dtype;
            type Reg = $reg;
            fn widen(self) -> $reg { $reg::from(self) }
            fn narrow(reg: $reg) -> Self { reg as Self }
        }
    )*};
}
narrow_int! {
    u8 U8 u32;
    i8 I8 i32;
    i16 I16 i32;
    u16 U16 u32;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_integers_keep_their_sign_and_their_low_bits() {
        assert_eq!((i8::MIN.widen(), (-1i16).widen(), u16::MAX.widen()), (-128, -1, 65_535));
        assert_eq!((i8::narrow(-129), i16::narrow(0x18000), u16::narrow(0x12345)), (127, i16::MIN, 0x2345));
        assert_eq!([DType::I8, DType::U8].map(|d| d.widen(0x1_0080)), [0xffff_ff80, 0x80]);
        assert_eq!([DType::I16, DType::U16].map(|d| d.widen(0x1_8000)), [0xffff_8000, 0x8000]);
        assert_eq!(DType::F16.widen(0xbc00), (-1.0f32).to_bits64());
    }

    #[test]
    fn what_is_only_stored_is_narrower_than_what_computes() {
        for dtype in DType::ALL {
            assert_eq!(DType::STORED.contains(&dtype), dtype.size_bytes() < dtype.ty().dtype().size_bytes(), "{dtype}");
            assert_eq!(DType::ALL[dtype as usize], dtype);
        }
    }
}
