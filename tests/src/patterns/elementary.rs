//! The elementary functions over a stride of all f32 bit patterns, and over special values.

use super::{input, pairs};
use crate::case::{Cases, Target};
use crate::data::{Fill, special};
use isowarp::prelude::*;

/// An elementary function of one argument.
pub type Unary = fn(Expr<f32>) -> Expr<f32>;

/// The functions of one argument.
pub const UNARY: [(&str, Unary); 20] = [
    ("exp", Expr::exp),
    ("exp2", Expr::exp2),
    ("expm1", Expr::exp_m1),
    ("log", Expr::ln),
    ("log2", Expr::log2),
    ("log10", Expr::log10),
    ("log1p", Expr::ln_1p),
    ("sin", Expr::sin),
    ("cos", Expr::cos),
    ("tan", Expr::tan),
    ("asin", Expr::asin),
    ("acos", Expr::acos),
    ("atan", Expr::atan),
    ("sinh", Expr::sinh),
    ("cosh", Expr::cosh),
    ("tanh", Expr::tanh),
    ("erf", Expr::erf),
    ("cbrt", Expr::cbrt),
    ("rsqrt", Expr::rsqrt),
    ("sqrt", Expr::sqrt),
];

/// Every 4,099th bit pattern comes to 2^20 of them; every 65,551st to 2^16.
const STRIDES: [(u64, u32, &str); 2] = [(1 << 16, 65_551, "2^16 patterns"), (1 << 20, 4_099, "2^20 patterns")];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for (name, f) in UNARY {
        for (n, stride, label) in STRIDES {
            // By the kernel of the special values, which is compiled once for all three.
            let case = c.add(format!("elementary/{name}/{label}"), move |d| {
                let patterns: Vec<f32> = (0..n as u32).map(|i| f32::from_bits(i.wrapping_mul(stride))).collect();
                d.map(&d.upload(&patterns)?, f)
            });
            case.quick = n == 1 << 16;
        }
        c.add(format!("elementary/{name}/special"), move |d| {
            let mut x = special();
            // Both neighbours of whole and half numbers and of powers of ten.
            for k in -60i32..=60 {
                let near = [k as f32, k as f32 + 0.5, k as f32 * core::f32::consts::FRAC_PI_4, 10f32.powi(k.clamp(-37, 38))];
                x.extend(near.iter().flat_map(|v| [v.next_down(), *v, v.next_up()]));
            }
            d.map(&d.upload(&x)?, f)
        });
    }
    for (name, f) in [("pow", Expr::powf as fn(Expr<f32>, Expr<f32>) -> Expr<f32>), ("atan2", |y, x| y.atan2(x))] {
        for fill in [Fill::Bits, Fill::Wide, Fill::Plain, Fill::Sorted] {
            c.add(format!("elementary/{name}/{}", fill.name()), move |d| {
                let (x, y) = pairs::<B, f32>(d, fill, 20_000, name)?;
                d.map((&x, &y), |(x, y)| f(x, y))
            });
        }
    }
    c.add("elementary/pow/moderate", |d| {
        let (x, y) = (input::<B, f32>(d, Fill::Plain, 50_000, "base")?, input::<B, f32>(d, Fill::Plain, 50_000, "exponent")?);
        d.map((&x, &y), |(x, y)| (x * 20.0).powf(y * 60.0 - 30.0))
    });
    c.add("elementary/composed", |d| {
        d.map(&input::<B, f32>(d, Fill::Plain, 50_000, "x")?, |x| {
            let (s, co) = ((x * 100.0).sin(), (x * 100.0).cos());
            ((-x * x).exp() * s + co, (s / co).atan(), (x + 1.0).ln() * x.sqrt(), (x.exp() + 1.0).log2() / (x + 0.5))
        })
    })
    .full();
}
