//! Sliding windows: lengths around the powers of 16 of which blocks are made, over lines, axes, steps and fused inputs.

use super::input;
use crate::case::{Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::element::Element;
use isowarp::prelude::*;

/// Several workgroups, the last one not full.
const N: u64 = 5003;
/// Lengths with each path: one pass, blocks of 16 and of 256 with and without elements beside them, and the whole line.
const LENGTHS: [u64; 14] = [1, 2, 3, 7, 15, 16, 17, 31, 100, 255, 256, 300, 4097, N];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for len in LENGTHS {
        c.add(format!("window/sum/f32/len={len}"), move |d| d.window(&input::<B, f32>(d, Fill::Cancel, N, "x")?, len, Sum).run());
        c.add(format!("window/max/f32/len={len}"), move |d| d.window(&input::<B, f32>(d, Fill::Bits, N, "x")?, len, Max).run());
    }
    for len in [5, 40, 1000] {
        number::<B, f64>(c, len);
        number::<B, i32>(c, len);
        number::<B, u64>(c, len);
        number::<B, f16>(c, len);
        number::<B, i8>(c, len);
        axes(c, len);
        steps(c, len);
        fused(c, len);
    }
    for n in [0, 1, 2, 3, 63, 64, 65] {
        c.add(format!("window/few/u32/n={n}"), move |d| {
            let x = input::<B, u32>(d, Fill::Plain, n, "x")?;
            Ok((d.window(&x, 2, Sum).run()?, d.window(&x, 64, Min).run()?))
        });
    }
    c.add("window/order", |d| {
        // Affine maps do not commute, nor do words that are joined.
        let x = input::<B, u32>(d, Fill::Plain, N, "x")?;
        let maps = d.window_by(x.map(|x| (x | 1, x >> 7)), 83, |f, g| (f.0 * g.0, f.1 * g.0 + g.1)).run()?;
        let last = d.window(&x, 300, Op::associative(0u32, |a, b| select((b & 3).ne(0), b, a))).run()?;
        Ok((maps, last))
    });
    c.add("window/truths", |d| {
        let x = input::<B, u32>(d, Fill::Plain, N, "x")?;
        let same = |a: (Expr<bool>, Expr<u32>), b: (Expr<bool>, Expr<u32>)| (a.0 & b.0, a.1 | b.1);
        d.window_by(x.map(|x| ((x & 7).ne(0), x)), 37, same).finish(|(all, any)| (all.cast::<u32>(), any)).run()
    });
    c.add("window/products_are_rounded", |d| {
        let x = input::<B, f32>(d, Fill::Wide, N, "x")?;
        Ok((d.window(x.map(|x| x * x), 9, Sum).run()?, d.window(x.map(|x| x * x), 90, Sum).run()?))
    });
    c.add("window/average/f32", |d| d.moving_average(&input::<B, f32>(d, Fill::Wide, N, "x")?, 30));
    c.add("window/large/f32", |d| {
        let x = input::<B, f32>(d, Fill::Wide, 1 << 22, "x")?;
        Ok((d.window(&x, 50, Sum).run()?, d.window(&x, 100_000, Min).run()?))
    })
    .bytes(7 << 24)
    .full();
}

fn number<B: Target, T: Element<Reg: isowarp::element::Num>>(c: &mut Cases<B>, len: u64) {
    c.add(format!("window/types/{}/len={len}", T::DTYPE), move |d| {
        let x = input::<B, T>(d, Fill::Bits, N, "x")?;
        Ok((d.window(&x, len, Sum).finish(Expr::store_as::<T>).run()?, d.window(&x, len, Min).finish(Expr::store_as::<T>).run()?))
    })
    .needs(&[T::DTYPE]);
}

fn axes<B: Target>(c: &mut Cases<B>, len: u64) {
    c.add(format!("window/axis/f32/len={len}"), move |d| {
        let x = input::<B, f32>(d, Fill::Wide, 3 * 1013 * 7, "x")?;
        let middle = d.window(&x, len, Sum).axis(&[3, 1013, 7], 1).run()?;
        let rows = d.window(&x, len, Max).axis(&[3 * 7, 1013], 1).run()?;
        Ok((middle, rows, d.window(&x, len, Min).axis(&[1013, 3 * 7], 0).step(3).run()?))
    });
}

fn steps<B: Target>(c: &mut Cases<B>, len: u64) {
    for step in [2, len, 10_000] {
        c.add(format!("window/step/f32/len={len}/step={step}"), move |d| {
            let x = input::<B, f32>(d, Fill::Wide, N, "x")?;
            Ok((d.window(&x, len, Sum).step(step).initial(0.5).run()?, d.window(&x, len, Max).step(step).run()?))
        });
    }
}

fn fused<B: Target>(c: &mut Cases<B>, len: u64) {
    c.add(format!("window/fused/f32/len={len}"), move |d| {
        let (x, y) = (input::<B, f32>(d, Fill::Wide, 2 * N, "x")?, input::<B, u8>(d, Fill::Plain, N, "y")?);
        let short = (x.strided(0, N, 2)?, &y, index()).map(|(x, y, i)| x + (y ^ i).cast::<f32>());
        let long = (x.slice(7..7 + N)?.reversed(), &y).map(|(x, y)| (x.sin() * y.cast::<f32>()).exp() - x);
        Ok((d.window(short, len, Sum).run()?, d.window(long, len, Max).run()?))
    });
}
