//! Element types: what lies in a buffer ([`DType`], [`Element`]) and what a kernel computes with ([`Ty`], [`Scalar`]).
//!
//! Narrow types are storage types: `f16` widens to `f32` and `u8` to `u32` when it is loaded, and is narrowed again when it is
//! stored (`f16` rounds to nearest even, `u8` keeps the low eight bits). So every operator is defined on seven register types.

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
}

impl DType {
    /// Every element type, in a fixed order.
    pub const ALL: [Self; 8] = [Self::F32, Self::I32, Self::U32, Self::F64, Self::I64, Self::U64, Self::F16, Self::U8];

    /// Size of one element in bytes.
    #[must_use]
    pub const fn size_bytes(self) -> u64 {
        match self {
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
            Self::F16 => 2,
            Self::U8 => 1,
        }
    }

    /// The register type that an element widens to when it is loaded.
    #[must_use]
    pub const fn ty(self) -> Ty {
        match self {
            Self::F32 | Self::F16 => Ty::F32,
            Self::I32 => Ty::I32,
            Self::U32 | Self::U8 => Ty::U32,
            Self::F64 => Ty::F64,
            Self::I64 => Ty::I64,
            Self::U64 => Ty::U64,
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
/// Marker for everything that can be added.
pub trait Num: Scalar {}

macro_rules! plain {
    ($($t:ident $dtype:ident $to:expr, $from:expr;)*) => {$(
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
        impl Num for $t {}
    )*};
}
plain! {
    f32 F32 |v: f32| u64::from(v.to_bits()), |b| f32::from_bits(b as u32);
    i32 I32 |v: i32| u64::from(v as u32), |b| b as u32 as i32;
    u32 U32 |v: u32| u64::from(v), |b| b as u32;
    f64 F64 |v: f64| v.to_bits(), f64::from_bits;
    i64 I64 |v: i64| v as u64, |b| b as i64;
    u64 U64 |v: u64| v, |b| b;
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

impl Element for u8 {
    const DTYPE: DType = DType::U8;
    type Reg = u32;
    fn widen(self) -> u32 {
        u32::from(self)
    }
    fn narrow(reg: u32) -> Self {
        reg as Self
    }
}
