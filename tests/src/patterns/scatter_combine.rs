//! P09 move, by index: what is scattered combined by operators of the caller's, in the order of the sources.

use super::{FEW, input};
use crate::case::{Cases, Target};
use crate::data::Fill;
use isowarp::Result;
use isowarp::element::{DType, Element, Scalar};
use isowarp::ops::Combine;
use isowarp::patterns::IndexScalar;
use isowarp::prelude::*;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    // Kernels of their own: too many to compile in the quick run's minute.
    c.quick(false);
    for n in FEW {
        for targets in [1u64, 7, 1000, 70_001] {
            c.add(format!("move/combine/affine/n={n}/{targets}"), move |d| {
                let x = input::<B, u32>(d, Fill::Plain, n, "x")?;
                let at = places(d, n, targets as u32)?;
                let out = input::<B, u32>(d, Fill::Plain, targets, "out")?;
                d.scatter(&x, &at).combine(behind()).write_to(&out)?;
                Ok((d.scatter(&x, &at).combine(behind()).run(targets)?, out))
            });
        }
    }
    types::<B, f32>(c);
    types::<B, i32>(c);
    types::<B, u64>(c);
    types::<B, i64>(c);
    types::<B, f64>(c);
    of::<B, f32, i32>(c, "i32");
    of::<B, f32, u64>(c, "u64");
    // Floats, whose steps are rounded: the order shows.
    for (skew, name) in ["uniform", "skewed", "one_target"].into_iter().enumerate() {
        c.add(format!("move/combine/rounded/{name}"), move |d| {
            let (n, x) = (30_011, input::<B, f32>(d, Fill::Plain, 30_011, "x")?);
            let at = d.generate(n, index(), move |i| {
                let mixed = (i * 2_654_435_761) >> 7;
                match skew {
                    0 => mixed % 999,
                    1 => select((mixed & 3u32).eq(0), mixed % 999, 77),
                    _ => lit(5),
                }
            })?;
            let out = input::<B, f32>(d, Fill::Cancel, 1000, "out")?;
            let sizes = Op::associative(0.0, |a: Expr<f32>, b: Expr<f32>| (a * a + b * b).sqrt());
            d.scatter(&x, &at).combine(Sum).write_to(&out)?;
            Ok((out, d.scatter(&x, &at).combine(sizes).run(1001)?, d.scatter(&x, &at).combine(Product).run(1000)?))
        });
    }
    c.add("move/combine/from", |d| {
        let (x, out) = (input::<B, f32>(d, Fill::Plain, 20_011, "x")?, input::<B, f32>(d, Fill::Plain, 300, "out")?);
        let parts = |(x, i): (Expr<f32>, Expr<u32>)| ((i * 7919) % 310, x * i.cast::<f32>());
        d.scatter_pairs((&x.reversed(), index()).map(parts)).combine(Sum).write_to(&out.slice(3..)?)?;
        Ok(out)
    });
    // Source, indices and targets are parts of one buffer.
    c.add("move/combine/parts_of_one_buffer", |d| {
        let x = d.map(&input::<B, u32>(d, Fill::Plain, 9000, "x")?, |x| x % 4001)?;
        d.scatter(&x.slice(1..4000)?, &x.slice(4001..8000)?).combine(behind()).write_to(&x.slice(8001..)?)?;
        Ok(x)
    });
}

/// Places among so many targets, some behind the last one.
fn places<B: Target>(d: &B, n: u64, targets: u32) -> Result<Buffer<B, u32>> {
    d.generate(n, (index(), scalar(targets + targets / 9)), |(i, targets)| ((i * 2_654_435_761) >> 5) % targets)
}

/// Maps of the line, `a * t + b` modulo 2^16, one behind the other.
fn behind() -> impl Combine<u32> {
    Op::associative(1u32 << 16, |x: Expr<u32>, y: Expr<u32>| {
        let (a, b) = (x >> 16, x & 0xFFFF);
        let (c, d) = (y >> 16, y & 0xFFFF);
        (a * c) << 16 | ((b * c + d) & 0xFFFF)
    })
}

fn types<B: Target, T: Element<Reg = T> + Scalar>(c: &mut Cases<B>)
where
    Sum: Combine<T>,
    Max: Combine<T>,
{
    let t = T::DTYPE;
    of::<B, T, u32>(c, "u32");
    c.add(format!("move/combine/first/{t}"), move |d| {
        let (x, at) = (input::<B, T>(d, Fill::Bits, 5003, "x")?, places(d, 5003, 2000)?);
        let out = input::<B, T>(d, Fill::Plain, 2000, "out")?;
        d.scatter(&x, &at).combine(Op::associative(T::from_bits64(0), |a: Expr<T>, _: Expr<T>| a)).write_to(&out)?;
        let last = d.scatter(&x, &at).combine(Op::associative(T::from_bits64(0), |_: Expr<T>, b: Expr<T>| b)).run(2000)?;
        Ok((out, last))
    })
    .needs(&[t]);
}

/// By indices of one type.
fn of<B: Target, T: Element<Reg = T> + Scalar, I: IndexScalar>(c: &mut Cases<B>, name: &str)
where
    Sum: Combine<T>,
    Max: Combine<T>,
{
    let t = T::DTYPE;
    c.add(format!("move/combine/{t}/by_{name}"), move |d| {
        let x = input::<B, T>(d, Fill::Cancel, 5003, "x")?;
        // Far ones and negative ones, too.
        let at = input::<B, I>(d, Fill::Wide, 5003, "at")?;
        let out = input::<B, T>(d, Fill::Plain, 70, "out")?;
        d.scatter(&x, &at).combine(Sum).write_to(&out)?;
        d.scatter(&x, &at).combine(Max).write_to(&out.slice(5..)?)?;
        Ok((d.scatter(&x, &at).combine(Max).run(400)?, out))
    })
    .needs(&[t, I::DTYPE, DType::U32]);
}
