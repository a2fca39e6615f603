//! The arithmetic that the elementary functions are written in, and its native instance.

/// The operations an elementary function may use.
///
/// A function written over `Arith` has two readings. With [`Native`] it runs on the CPU and *is* the definition of
/// the function's bits. With a symbolic instance the same source records an expression graph, which the backends
/// lower to WGSL, PTX and CUDA C++. To keep both readings equal:
///
/// - there is no Rust `if` on a value, no loop whose count depends on one, and no side effect: a choice is a `select`
///   or a [`branch`](Arith::branch);
/// - a product that feeds a sum is an [`fma`](Arith::fma). A [`mul`](Arith::mul) result may be a factor of anything,
///   or the *addend* of an `fma`, but never an operand of [`add`](Arith::add) or [`sub`](Arith::sub): a shader
///   compiler may contract that;
/// - all operations are IEEE 754 binary32 with round to nearest even and gradual underflow, or 32-bit integers that
///   wrap. There is no f64: many adapters have none.
///
/// Shift amounts are below 32. A NaN result may carry any payload; stores canonicalise it.
pub trait Arith {
    /// A binary32 value.
    type F: Copy;
    /// A signed 32-bit value.
    type I: Copy;
    /// An unsigned 32-bit value.
    type U: Copy;
    /// A truth value.
    type B: Copy;

    /// The f32 literal `v`, kept to the bit.
    fn f32(v: f32) -> Self::F;
    /// The i32 literal `v`.
    fn i32(v: i32) -> Self::I;
    /// The u32 literal `v`.
    fn u32(v: u32) -> Self::U;

    /// `a + b`, rounded once.
    fn add(a: Self::F, b: Self::F) -> Self::F;
    /// `a - b`, rounded once.
    fn sub(a: Self::F, b: Self::F) -> Self::F;
    /// `a · b`, rounded once.
    fn mul(a: Self::F, b: Self::F) -> Self::F;
    /// `a · b + c`, rounded once.
    fn fma(a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// `a / b`, correctly rounded. Where the platform's is not, this is [`soft_div`](super::soft_div).
    fn div(a: Self::F, b: Self::F) -> Self::F;
    /// The square root, correctly rounded. Where the platform's is not, this is [`soft_sqrt`](super::soft_sqrt).
    fn sqrt(a: Self::F) -> Self::F;
    /// `a` with its sign bit flipped.
    fn neg(a: Self::F) -> Self::F;
    /// `a` with its sign bit cleared.
    fn abs(a: Self::F) -> Self::F;
    /// The nearest integer, halfway cases to even; keeps the sign of zero.
    fn rint(a: Self::F) -> Self::F;
    /// The nearest integer not larger in magnitude; keeps the sign of zero.
    fn trunc(a: Self::F) -> Self::F;

    /// `a < b`; false if either is NaN.
    fn lt(a: Self::F, b: Self::F) -> Self::B;
    /// `a <= b`; false if either is NaN.
    fn le(a: Self::F, b: Self::F) -> Self::B;
    /// `a > b`; false if either is NaN.
    fn gt(a: Self::F, b: Self::F) -> Self::B;
    /// `a >= b`; false if either is NaN.
    fn ge(a: Self::F, b: Self::F) -> Self::B;
    /// `a == b`; false if either is NaN.
    fn eq(a: Self::F, b: Self::F) -> Self::B;
    /// `a != b`; true if either is NaN.
    fn ne(a: Self::F, b: Self::F) -> Self::B;
    /// Whether `a` is NaN. Written on the bits, since shading languages let a compiler assume that no float is NaN.
    fn is_nan(a: Self::F) -> Self::B {
        let magnitude = Self::u_and(Self::f_to_bits(a), Self::u32(0x7fff_ffff));
        Self::u_gt(magnitude, Self::u32(0x7f80_0000))
    }

    /// The bits of `a`.
    fn f_to_bits(a: Self::F) -> Self::U;
    /// The float with the bits `a`.
    fn f_from_bits(a: Self::U) -> Self::F;
    /// The same 32 bits, read as two's complement.
    fn u_to_i(a: Self::U) -> Self::I;
    /// The same 32 bits, read as unsigned.
    fn i_to_u(a: Self::I) -> Self::U;
    /// Truncation towards zero, saturating at the ends of i32. The result for NaN is not specified, and no
    /// definition may depend on it.
    fn f_to_i(a: Self::F) -> Self::I;
    /// The nearest f32, halfway cases to even.
    fn i_to_f(a: Self::I) -> Self::F;
    /// The nearest f32, halfway cases to even.
    fn u_to_f(a: Self::U) -> Self::F;

    /// `a + b`, wrapping.
    fn i_add(a: Self::I, b: Self::I) -> Self::I;
    /// `a - b`, wrapping.
    fn i_sub(a: Self::I, b: Self::I) -> Self::I;
    /// `a · b`, wrapping.
    fn i_mul(a: Self::I, b: Self::I) -> Self::I;
    /// Bitwise and.
    fn i_and(a: Self::I, b: Self::I) -> Self::I;
    /// Bitwise or.
    fn i_or(a: Self::I, b: Self::I) -> Self::I;
    /// Bitwise exclusive or.
    fn i_xor(a: Self::I, b: Self::I) -> Self::I;
    /// Bitwise complement.
    fn i_not(a: Self::I) -> Self::I;
    /// `a << by`, `by < 32`.
    fn i_shl(a: Self::I, by: Self::U) -> Self::I;
    /// `a >> by` that copies the sign bit, `by < 32`.
    fn i_shr(a: Self::I, by: Self::U) -> Self::I;
    /// `a < b`.
    fn i_lt(a: Self::I, b: Self::I) -> Self::B;
    /// `a <= b`.
    fn i_le(a: Self::I, b: Self::I) -> Self::B;
    /// `a > b`.
    fn i_gt(a: Self::I, b: Self::I) -> Self::B;
    /// `a >= b`.
    fn i_ge(a: Self::I, b: Self::I) -> Self::B;
    /// `a == b`.
    fn i_eq(a: Self::I, b: Self::I) -> Self::B;
    /// `a != b`.
    fn i_ne(a: Self::I, b: Self::I) -> Self::B;

    /// `a + b`, wrapping.
    fn u_add(a: Self::U, b: Self::U) -> Self::U;
    /// `a - b`, wrapping.
    fn u_sub(a: Self::U, b: Self::U) -> Self::U;
    /// The low 32 bits of `a · b`.
    fn u_mul(a: Self::U, b: Self::U) -> Self::U;
    /// The high 32 bits of the 64-bit product `a · b`.
    fn u_mul_hi(a: Self::U, b: Self::U) -> Self::U;
    /// Bitwise and.
    fn u_and(a: Self::U, b: Self::U) -> Self::U;
    /// Bitwise or.
    fn u_or(a: Self::U, b: Self::U) -> Self::U;
    /// Bitwise exclusive or.
    fn u_xor(a: Self::U, b: Self::U) -> Self::U;
    /// Bitwise complement.
    fn u_not(a: Self::U) -> Self::U;
    /// `a << by`, `by < 32`.
    fn u_shl(a: Self::U, by: Self::U) -> Self::U;
    /// `a >> by` that shifts in zeros, `by < 32`.
    fn u_shr(a: Self::U, by: Self::U) -> Self::U;
    /// `a < b`.
    fn u_lt(a: Self::U, b: Self::U) -> Self::B;
    /// `a <= b`.
    fn u_le(a: Self::U, b: Self::U) -> Self::B;
    /// `a > b`.
    fn u_gt(a: Self::U, b: Self::U) -> Self::B;
    /// `a >= b`.
    fn u_ge(a: Self::U, b: Self::U) -> Self::B;
    /// `a == b`.
    fn u_eq(a: Self::U, b: Self::U) -> Self::B;
    /// `a != b`.
    fn u_ne(a: Self::U, b: Self::U) -> Self::B;

    /// Both.
    fn b_and(a: Self::B, b: Self::B) -> Self::B;
    /// Either or both.
    fn b_or(a: Self::B, b: Self::B) -> Self::B;
    /// The opposite.
    fn b_not(a: Self::B) -> Self::B;

    /// `if_true` where `cond` holds, else `if_false`. Both are computed.
    fn select_f(cond: Self::B, if_true: Self::F, if_false: Self::F) -> Self::F;
    /// `if_true` where `cond` holds, else `if_false`. Both are computed.
    fn select_i(cond: Self::B, if_true: Self::I, if_false: Self::I) -> Self::I;
    /// `if_true` where `cond` holds, else `if_false`. Both are computed.
    fn select_u(cond: Self::B, if_true: Self::U, if_false: Self::U) -> Self::U;

    /// A real branch, for long and rare ways out of the common path. A symbolic instance runs both closures.
    fn branch(cond: Self::B, then: impl FnOnce() -> Self::F, otherwise: impl FnOnce() -> Self::F) -> Self::F;
}

/// The CPU's own f32, i32, u32 and bool: the executable definition.
#[derive(Clone, Copy, Debug)]
pub struct Native;

/// `a · b + c` rounded once, on any CPU.
///
/// With a hardware instruction in the target's baseline this is that instruction. Elsewhere `f32::mul_add` is a
/// library call of some tens of nanoseconds, so the sum is done in f64, where the product is exact, rounded to odd,
/// and rounded once more to f32; with 53 ≥ 2 · 24 + 2 bits in between this equals one rounding, subnormal results
/// included (Boldo & Melquiond, *Emulation of FMA and correctly rounded sums: proved algorithms using rounding to
/// odd*, IEEE Trans. Computers 57(4), 2008).
#[inline]
pub fn fma_exact(a: f32, b: f32, c: f32) -> f32 {
    if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
        return a.mul_add(b, c);
    }
    fma_by_f64(a, b, c)
}

#[inline]
pub(super) fn fma_by_f64(a: f32, b: f32, c: f32) -> f32 {
    let product = f64::from(a) * f64::from(b);
    let addend = f64::from(c);
    let sum = product + addend;
    // Knuth's two-sum: `rest` is exactly what `sum` lost. It is NaN where `sum` is not finite.
    let back = sum - product;
    let rest = (product - (sum - back)) + (addend - back);
    let bits = sum.to_bits();
    let inexact = rest != 0.0 && sum.is_finite();
    if inexact && bits & 1 == 0 {
        // Round to odd: of the two neighbours that enclose the exact value, take the one with the odd last bit.
        let away = (rest > 0.0) == (sum > 0.0);
        let odd = if away { bits + 1 } else { bits - 1 };
        return f64::from_bits(odd) as f32;
    }
    sum as f32
}

macro_rules! native_ops {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $out:ty = $body:expr;)*) => {
        $(#[inline] fn $name($($arg: $ty),*) -> $out { $body })*
    };
}

impl Arith for Native {
    type F = f32;
    type I = i32;
    type U = u32;
    type B = bool;

    native_ops! {
        f32(v: f32) -> f32 = v;
        i32(v: i32) -> i32 = v;
        u32(v: u32) -> u32 = v;

        add(a: f32, b: f32) -> f32 = a + b;
        sub(a: f32, b: f32) -> f32 = a - b;
        mul(a: f32, b: f32) -> f32 = a * b;
        fma(a: f32, b: f32, c: f32) -> f32 = fma_exact(a, b, c);
        div(a: f32, b: f32) -> f32 = a / b;
        sqrt(a: f32) -> f32 = a.sqrt();
        neg(a: f32) -> f32 = -a;
        abs(a: f32) -> f32 = a.abs();
        rint(a: f32) -> f32 = a.round_ties_even();
        trunc(a: f32) -> f32 = a.trunc();

        lt(a: f32, b: f32) -> bool = a < b;
        le(a: f32, b: f32) -> bool = a <= b;
        gt(a: f32, b: f32) -> bool = a > b;
        ge(a: f32, b: f32) -> bool = a >= b;
        eq(a: f32, b: f32) -> bool = a == b;
        ne(a: f32, b: f32) -> bool = a != b;

        f_to_bits(a: f32) -> u32 = a.to_bits();
        f_from_bits(a: u32) -> f32 = f32::from_bits(a);
        u_to_i(a: u32) -> i32 = a.cast_signed();
        i_to_u(a: i32) -> u32 = a.cast_unsigned();
        f_to_i(a: f32) -> i32 = a as i32;
        i_to_f(a: i32) -> f32 = a as f32;
        u_to_f(a: u32) -> f32 = a as f32;

        i_add(a: i32, b: i32) -> i32 = a.wrapping_add(b);
        i_sub(a: i32, b: i32) -> i32 = a.wrapping_sub(b);
        i_mul(a: i32, b: i32) -> i32 = a.wrapping_mul(b);
        i_and(a: i32, b: i32) -> i32 = a & b;
        i_or(a: i32, b: i32) -> i32 = a | b;
        i_xor(a: i32, b: i32) -> i32 = a ^ b;
        i_not(a: i32) -> i32 = !a;
        i_shl(a: i32, by: u32) -> i32 = a.wrapping_shl(by);
        i_shr(a: i32, by: u32) -> i32 = a.wrapping_shr(by);
        i_lt(a: i32, b: i32) -> bool = a < b;
        i_le(a: i32, b: i32) -> bool = a <= b;
        i_gt(a: i32, b: i32) -> bool = a > b;
        i_ge(a: i32, b: i32) -> bool = a >= b;
        i_eq(a: i32, b: i32) -> bool = a == b;
        i_ne(a: i32, b: i32) -> bool = a != b;

        u_add(a: u32, b: u32) -> u32 = a.wrapping_add(b);
        u_sub(a: u32, b: u32) -> u32 = a.wrapping_sub(b);
        u_mul(a: u32, b: u32) -> u32 = a.wrapping_mul(b);
        u_mul_hi(a: u32, b: u32) -> u32 = ((u64::from(a) * u64::from(b)) >> 32) as u32;
        u_and(a: u32, b: u32) -> u32 = a & b;
        u_or(a: u32, b: u32) -> u32 = a | b;
        u_xor(a: u32, b: u32) -> u32 = a ^ b;
        u_not(a: u32) -> u32 = !a;
        u_shl(a: u32, by: u32) -> u32 = a.wrapping_shl(by);
        u_shr(a: u32, by: u32) -> u32 = a.wrapping_shr(by);
        u_lt(a: u32, b: u32) -> bool = a < b;
        u_le(a: u32, b: u32) -> bool = a <= b;
        u_gt(a: u32, b: u32) -> bool = a > b;
        u_ge(a: u32, b: u32) -> bool = a >= b;
        u_eq(a: u32, b: u32) -> bool = a == b;
        u_ne(a: u32, b: u32) -> bool = a != b;

        b_and(a: bool, b: bool) -> bool = a & b;
        b_or(a: bool, b: bool) -> bool = a | b;
        b_not(a: bool) -> bool = !a;

        select_f(cond: bool, if_true: f32, if_false: f32) -> f32 = if cond { if_true } else { if_false };
        select_i(cond: bool, if_true: i32, if_false: i32) -> i32 = if cond { if_true } else { if_false };
        select_u(cond: bool, if_true: u32, if_false: u32) -> u32 = if cond { if_true } else { if_false };
    }

    #[inline]
    fn branch(cond: bool, then: impl FnOnce() -> f32, otherwise: impl FnOnce() -> f32) -> f32 {
        if cond { then() } else { otherwise() }
    }
}
