//! P03 scan: accumulators of several parts, of two to four words, inclusive and exclusive.

use super::input;
use crate::case::{Cases, Target};
use crate::data::Fill;
use isowarp::element::Element as _;
use isowarp::prelude::*;

type Pair<A, B> = (Expr<A>, Expr<B>);

/// Several tiles: a software adapter's compiler takes seconds over each form of each operator.
const MANY: u64 = 33_001;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for n in [0, MANY] {
        c.add(format!("scan/parts_running_argmax/f32/n={n}"), move |d| {
            let x = input::<B, f32>(d, Fill::Sorted, n, "x")?;
            let best = |a: Pair<f32, u32>, b: Pair<f32, u32>| (a.0.max(b.0), a.0.ge(b.0).select(a.1, b.1));
            d.scan_by((&x, index()).map(|(x, i)| (x * (i % 5).cast::<f32>(), i)), best).run()
        })
        .full();
    }
    for n in [8193, MANY] {
        c.add(format!("scan/parts_affine/f32/n={n}"), move |d| {
            let (a, b) = (input::<B, f32>(d, Fill::Plain, n, "a")?, input::<B, f32>(d, Fill::Wide, n, "b")?);
            // x -> a x + b, composed from left to right: the pairs do not commute.
            let compose = |f: Pair<f32, f32>, g: Pair<f32, f32>| (f.0 * g.0, f.1 * g.0 + g.1);
            d.scan_by((&a, &b).map(|(a, b)| (a + 0.5, b)), compose).run()
        })
        .full();
    }
    c.add("scan/parts_complex_product/f32", |d| {
        let (x, y) = (input::<B, f32>(d, Fill::Plain, MANY, "x")?, input::<B, f32>(d, Fill::Plain, MANY, "y")?);
        // Near one, so that products neither vanish nor overflow.
        let near_one = |(x, y): Pair<f32, f32>| (x.mul_rn(1e-3) + 0.9995, y * 1e-2);
        let product = |a: Pair<f32, f32>, b: Pair<f32, f32>| (a.0.mul_rn(b.0) - a.1.mul_rn(b.1), a.0.mul_rn(b.1) + a.1.mul_rn(b.0));
        d.scan_by((&x, &y).map(near_one), product).identity((1.0f32, 0.0f32)).exclusive().run()
    })
    .full();
    more_words(c);
}

fn more_words<B: Target>(c: &mut Cases<B>) {
    type Acc = (Expr<f32>, Expr<i32>, Expr<u32>);
    // Behind a first result that is no identity: the operator is not even associative.
    c.add("scan/parts_three", |d| {
        let (x, y) = (input::<B, f32>(d, Fill::Wide, 5003, "x")?, input::<B, i32>(d, Fill::Wide, 5003, "y")?);
        let combine = |a: Acc, b: Acc| (a.0.max(b.0), a.1 * 3 + b.1, a.2 ^ (b.2 << 1));
        let out = (d.buffer::<f32>(5003)?, d.buffer::<i32>(5003)?, d.buffer::<u8>(5003)?);
        d.fill(&out.0, f32::NEG_INFINITY)?;
        d.fill(&out.1, 7)?;
        d.fill(&out.2, 9)?;
        let rest = (&out.0.slice(1..)?, &out.1.slice(1..)?, &out.2.slice(1..)?);
        let inputs = (&x.slice(..5002)?, &y.slice(..5002)?, index());
        d.scan_by(inputs, combine).finish(|a| (a.0, a.1, a.2.store_as::<u8>())).write_to(rest)?;
        Ok(out)
    })
    .needs(&[u8::DTYPE])
    .full();
    c.add("scan/parts_three_exclusive", |d| {
        let (x, y) = (input::<B, f32>(d, Fill::Wide, 20_011, "x")?, input::<B, i32>(d, Fill::Wide, 20_011, "y")?);
        let combine = |a: Acc, b: Acc| (a.0.max(b.0), a.1 + b.1, a.2 ^ b.2);
        let of = d.scan_by((&x, &y, index()), combine).identity((f32::NEG_INFINITY, 0, 0)).exclusive();
        of.finish(|a| (a.0, a.1, a.2.store_as::<u8>())).run()
    })
    .needs(&[u8::DTYPE])
    .full();
    c.add("scan/parts_matrix_product/u32", |d| {
        let k: Vec<Buffer<B, u32>> = ["a", "b"].iter().map(|s| input(d, Fill::Plain, 5003, s)).collect::<Result<_, _>>()?;
        type M = (Expr<u32>, Expr<u32>, Expr<u32>, Expr<u32>);
        let product = |p: M, q: M| (p.0 * q.0 + p.1 * q.2, p.0 * q.1 + p.1 * q.3, p.2 * q.0 + p.3 * q.2, p.2 * q.1 + p.3 * q.3);
        d.scan_by((&k[0], &k[1]).map(|(a, b)| (a, b, b ^ 5, a ^ 3)), product).finish(|m| (m.0 ^ m.1, m.2 ^ m.3)).run()
    })
    .full();
    c.add("scan/parts_two_doubles", |d| {
        let x = input::<B, f64>(d, Fill::Cancel, MANY, "x")?;
        d.scan_by(x.map(|x| (x, x * x)), |a: Pair<f64, f64>, b| (a.0 + b.0, a.1 + b.1)).run()
    })
    .needs(&[f64::DTYPE])
    .full();
}
