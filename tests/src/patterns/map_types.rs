//! P01 map: every operation on every element type, over pairs in which all special values meet; conversions between all types.

use super::pairs;
use crate::case::{Cases, Target};
use crate::data::{self, Fill};
use half::f16;
use isowarp::element::{Element, Float, Int, Num};
use isowarp::prelude::*;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    numbers::<B, f32>(c);
    numbers::<B, i32>(c);
    numbers::<B, u32>(c);
    numbers::<B, f64>(c);
    numbers::<B, i64>(c);
    numbers::<B, u64>(c);
    floats::<B, f32>(c);
    floats::<B, f64>(c);
    integers::<B, i32>(c);
    integers::<B, u32>(c);
    integers::<B, i64>(c);
    integers::<B, u64>(c);
    bits(c);
    conversions(c);
}

fn numbers<B: Target, T: Element<Reg = T> + Num>(c: &mut Cases<B>) {
    let t = T::DTYPE;
    for fill in [Fill::Plain, Fill::Bits, Fill::Wide, Fill::Subnormal] {
        let f = fill.name();
        c.add(format!("map/arithmetic/{t}/{f}"), move |d| {
            let (x, y) = pairs::<B, T>(d, fill, 4099, "arithmetic")?;
            d.map((&x, &y), |(x, y)| (x + y, x - y, x * y, x / y))
        })
        .needs(&[t]);
        c.add(format!("map/min_max_abs/{t}/{f}"), move |d| {
            let (x, y) = pairs::<B, T>(d, fill, 4099, "min_max")?;
            d.map((&x, &y), |(x, y)| (x.min(y), x.max(y), x.abs(), x * y + x))
        })
        .needs(&[t]);
        c.add(format!("map/compare/{t}/{f}"), move |d| {
            let (x, y) = pairs::<B, T>(d, fill, 4099, "compare")?;
            d.map((&x, &y), |(x, y)| (x.lt(y), x.le(y), x.eq(y) | x.gt(y), x.ne(y) & !x.ge(y)))
        })
        .needs(&[t]);
    }
}

fn floats<B: Target, T: Element<Reg = T> + Float + Num>(c: &mut Cases<B>)
where
    Expr<T>: core::ops::Neg<Output = Expr<T>>,
{
    let t = T::DTYPE;
    for fill in [Fill::Plain, Fill::Bits, Fill::Wide, Fill::Subnormal] {
        let f = fill.name();
        c.add(format!("map/roots/{t}/{f}"), move |d| {
            let (x, y) = pairs::<B, T>(d, fill, 4099, "roots")?;
            d.map((&x, &y), |(x, y)| (x.sqrt(), x.recip(), x.abs().sqrt() / y, -x))
        })
        .needs(&[t]);
        c.add(format!("map/rounding/{t}/{f}"), move |d| {
            let (x, _) = pairs::<B, T>(d, fill, 4099, "rounding")?;
            d.map(&x, |x| (x.floor(), x.ceil(), x.trunc(), x.round_ties_even()))
        })
        .needs(&[t]);
        c.add(format!("map/fma/{t}/{f}"), move |d| {
            let (x, y) = pairs::<B, T>(d, fill, 4099, "fma")?;
            d.map((&x, &y, &x.reversed()), |(x, y, z)| (x.mul_add(y, z), x.mul_add(y, -z), x.mul_rn(y), x.is_nan()))
        })
        .needs(&[t]);
        c.add(format!("map/two_products/{t}/{f}"), move |d| {
            let (x, y) = pairs::<B, T>(d, fill, 4099, "two_products")?;
            d.map((&x, &y, &x.reversed()), |(x, y, z)| (x * y + y * z, x * x - y * y, x * y - y * x, z - (x * y - -z * x)))
        })
        .needs(&[t]);
    }
}

fn integers<B: Target, T: Element<Reg = T> + Int + Num>(c: &mut Cases<B>) {
    let t = T::DTYPE;
    c.add(format!("map/remainder_and_shifts/{t}"), move |d| {
        let (x, y) = pairs::<B, T>(d, Fill::Bits, 4099, "remainder")?;
        d.map((&x, &y), |(x, y)| (x % y, x << y.cast::<u32>(), x >> y.cast::<u32>(), x.reverse_bits()))
    })
    .needs(&[t]);
    c.add(format!("map/small_division/{t}"), move |d| {
        let (x, y) = pairs::<B, T>(d, Fill::Wide, 4099, "division")?;
        d.map((&x, &y), |(x, y)| (x / y, x % y, x.count_ones(), x.leading_zeros()))
    })
    .needs(&[t]);
    c.add(format!("map/constant_shifts/{t}"), move |d| {
        let (x, _) = pairs::<B, T>(d, Fill::Bits, 99, "shifts")?;
        d.map(&x, |x| ((x << 1) >> 1, x >> 31, x << 33, x >> 67))
    })
    .needs(&[t]);
}

macro_rules! bit_cases {
    ($c:ident, $($t:ident)*) => {$(
        $c.add(concat!("map/bits/", stringify!($t)), |d| {
            let (x, y) = pairs::<B, $t>(d, Fill::Bits, 4099, "bits")?;
            d.map((&x, &y), |(x, y)| (x & y, x | y, x ^ y, !x & 0x55))
        })
        .needs(&[$t::DTYPE]);
    )*};
}

fn bits<B: Target>(c: &mut Cases<B>) {
    bit_cases!(c, i32 u32 i64 u64);
    c.add("map/products/u32", |d| {
        let (x, y) = pairs::<B, u32>(d, Fill::Bits, 4099, "products")?;
        // Both words of products of what is loaded, of what is computed, and of -1, whose low word is a negation.
        d.map((&x, &y), |(x, y)| {
            let (p, q) = (x ^ y, x + 1);
            let negated = (q * u32::MAX).bitcast::<i32>();
            let most = p.bitcast::<i32>().max(y.bitcast::<i32>().max(negated)).bitcast::<u32>();
            (
                x.mul_hi(y) ^ (y * x).reverse_bits(),
                p * q + q.mul_hi(p),
                most ^ q.mul_hi(u32::MAX),
                (p * 0xd251_1f53) ^ p.mul_hi(0xd251_1f53),
            )
        })
    });
    c.add("map/mul_hi/u32", |d| {
        let (x, y) = pairs::<B, u32>(d, Fill::Bits, 4099, "mul_hi")?;
        d.map((&x, &y), |(x, y)| (x.mul_hi(y), x.mul_hi(x), (x ^ y).mul_hi(0x9E37_79B9)))
    });
    c.add("map/bitcast/f32", |d| {
        let (x, _) = pairs::<B, f32>(d, Fill::Bits, 4099, "bitcast")?;
        d.map(&x, |x| (x.bitcast::<u32>(), x.bitcast::<i32>() ^ 1, (x.bitcast::<u32>() ^ 0x8000_0000).bitcast::<f32>()))
    });
    c.add("map/bitcast/f64", |d| {
        let (x, _) = pairs::<B, f64>(d, Fill::Bits, 4099, "bitcast")?;
        d.map(&x, |x| (x.bitcast::<u64>(), x.bitcast::<i64>() ^ 1))
    })
    .needs(&[f64::DTYPE, u64::DTYPE]);
}

macro_rules! conversions {
    ($c:ident; $($from:ident)*; $to:tt) => { $( conversions!(@ $c $from $to); )* };
    (@ $c:ident $from:ident ($($to:ident)*)) => { $( convert::<B, $from, $to>($c); )* };
}

fn conversions<B: Target>(c: &mut Cases<B>) {
    conversions!(c; f32 i32 u32 f64 i64 u64 f16 u8; (f32 i32 u32 f64 i64 u64 f16 u8));
}

fn convert<B: Target, T: Element, U: Element>(c: &mut Cases<B>) {
    let (t, u) = (T::DTYPE, U::DTYPE);
    c.add(format!("map/cast/{t}/{u}"), move |d| {
        let mut x: Vec<T> = Vec::new();
        for fill in [Fill::Bits, Fill::Wide, Fill::Plain, Fill::Sorted] {
            x.extend(data::data::<T>(fill, 1500, data::seed("cast")));
        }
        d.cast::<_, U>(&d.upload(&x)?)
    })
    .needs(&[t, u]);
    // Around the values where a conversion starts to saturate or to round.
    c.add(format!("map/cast_edges/{t}/{u}"), move |d| {
        let powers = (0..70u64).flat_map(|k| (0..9u64).map(move |j| (k, j)));
        let x: Vec<f32> = powers
            .map(|(k, j)| (2f32.powi(k as i32) * (1.0 + (j as f32 - 4.0) * f32::EPSILON)) * if j % 2 == 0 { 1.0 } else { -1.0 })
            .collect();
        let x = d.cast::<_, T>(&d.upload(&x)?)?;
        d.cast::<_, U>(&x)
    })
    .needs(&[t, u]);
}
