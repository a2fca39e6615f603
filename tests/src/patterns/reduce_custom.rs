//! P02 reduce: operators of one's own, most of them not commutative, so that an exchanged pair shows.

use super::{FEW, SIZES, input};
use crate::case::{Cases, Target};
use crate::data::Fill;
use isowarp::element::Element as _;
use isowarp::ir::lit;
use isowarp::prelude::*;

type Pair<A, B> = (Expr<A>, Expr<B>);

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for n in SIZES {
        c.add(format!("reduce/affine/u32/n={n}"), move |d| {
            let (a, b) = (input::<B, u32>(d, Fill::Plain, n, "a")?, input::<B, u32>(d, Fill::Plain, n, "b")?);
            // x -> a x + b, composed from left to right.
            d.reduce_by((&a, &b).map(|(a, b)| (a | 1, b)), |f: Pair<u32, u32>, g| (f.0 * g.0, f.1 * g.0 + g.1)).run()
        });
    }
    for n in FEW {
        sized(c, n);
    }
    c.add("reduce/three_parts/mixed", |d| {
        let (x, y) = (input::<B, f32>(d, Fill::Wide, 20_001, "x")?, input::<B, i32>(d, Fill::Wide, 20_001, "y")?);
        type Acc = (Expr<f32>, Expr<i32>, Expr<u32>);
        d.reduce_by((&x, &y, index()).map(|(x, y, i)| (x, y, i)), |a: Acc, b| (a.0.max(b.0), a.1 * 3 + b.1, a.2 ^ (b.2 << 1))).run()
    });
    c.add("reduce/two_doubles", |d| {
        let x = input::<B, f64>(d, Fill::Cancel, 20_001, "x")?;
        d.reduce_by(x.map(|x| (x, x * x)), |a: Pair<f64, f64>, b| (a.0 + b.0, a.1 + b.1)).run()
    })
    .needs(&[f64::DTYPE]);
    c.add("reduce/narrow_results", |d| {
        let x = input::<B, u32>(d, Fill::Plain, 20_001, "x")?;
        let last = |_: Expr<u32>, b: Expr<u32>| b;
        d.reduce_by(&x, last).finish(|v| (v.store_as::<u8>(), v.cast::<f32>().store_as::<half::f16>())).run()
    })
    .needs(&[u8::DTYPE, half::f16::DTYPE]);
}

fn sized<B: Target>(c: &mut Cases<B>, n: u64) {
    c.add(format!("reduce/matrix_product/u32/n={n}"), move |d| {
        let k: Vec<Buffer<B, u32>> = ["a", "b", "c", "d"].iter().map(|s| input(d, Fill::Plain, n, s)).collect::<Result<_, _>>()?;
        type M = (Expr<u32>, Expr<u32>, Expr<u32>, Expr<u32>);
        let product = |p: M, q: M| (p.0 * q.0 + p.1 * q.2, p.0 * q.1 + p.1 * q.3, p.2 * q.0 + p.3 * q.2, p.2 * q.1 + p.3 * q.3);
        d.reduce_by((&k[0], &k[1], &k[2], &k[3]).map(|m| m), product).run()
    });
    c.add(format!("reduce/log_sum_exp/f32/n={n}"), move |d| {
        let x = input::<B, f32>(d, Fill::Plain, n, "x")?;
        d.reduce(&x, Op::associative(f32::NEG_INFINITY, |a, b| a.max(b) + (-(a - b).abs()).exp().ln_1p())).run()
    });
    c.add(format!("reduce/first/u32/n={n}"), move |d| {
        d.reduce(&input::<B, u32>(d, Fill::Plain, n, "x")?, Op::associative(0, |a, _| a)).run()
    });
    c.add(format!("reduce/last/u32/n={n}"), move |d| {
        d.reduce(&input::<B, u32>(d, Fill::Plain, n, "x")?, Op::associative(0, |_, b| b)).run()
    });
    c.add(format!("reduce/first_and_last_index/n={n}"), move |d| {
        let x = input::<B, f32>(d, Fill::Plain, n, "x")?;
        d.reduce_by((&x, index()).map(|(_, i)| (i, i)), |a: Pair<u32, u32>, b| (a.0, b.1)).run()
    });
    c.add(format!("reduce/polynomial_hash/u32/n={n}"), move |d| {
        // (hash, 31^length): the hash of a text from the hashes of its halves.
        let x = input::<B, u32>(d, Fill::Plain, n, "text")?;
        d.reduce_by(x.map(|x| (x, lit(31u32))), |a: Pair<u32, u32>, b| (a.0 * b.1 + b.0, a.1 * b.1)).finish(|a| a.0).run()
    });
    c.add(format!("reduce/brackets/n={n}"), move |d| {
        // (unmatched closing, unmatched opening) brackets.
        let x = input::<B, u32>(d, Fill::Subnormal, n, "brackets")?;
        let join = |a: Pair<u32, u32>, b: Pair<u32, u32>| {
            let matched = a.1.min(b.0);
            (a.0 + b.0 - matched, a.1 + b.1 - matched)
        };
        d.reduce_by(x.map(|x| (x.eq(0).cast(), x.eq(1).cast())), join).run()
    });
    c.add(format!("reduce/mean_and_variance/f32/n={n}"), move |d| {
        let x = input::<B, f32>(d, Fill::Plain, n, "x")?;
        type S = (Expr<f32>, Expr<f32>, Expr<f32>);
        let merge = |a: S, b: S| {
            let (count, delta) = (a.0 + b.0, b.1 - a.1);
            (count, a.1 + delta * (b.0 / count), a.2 + b.2 + delta * delta * (a.0 * b.0 / count))
        };
        d.reduce_by(x.map(|x| (lit(1.0f32), x, lit(0.0f32))), merge).finish(|s| (s.1, s.2 / s.0)).run()
    });
    c.add(format!("reduce/subtraction_shows_order/f32/n={n}"), move |d| {
        // Not associative: only the tree's own order gives these bits.
        d.reduce(&input::<B, f32>(d, Fill::Wide, n, "x")?, Op::associative(0.0, |a, b| a - b * 0.5)).run()
    });
}
