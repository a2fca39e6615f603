//! P02 reduce, the rungs of the ladder: every one over sizes, element types, awkward numbers and operators that show the order.

use super::{ABOVE_BINDING, FOLDED, input};
use crate::case::{Cases, Target};
use crate::data::Fill;
use isowarp::element::{Element, Num};
use isowarp::prelude::*;
use isowarp_textbook::ReduceVariant;

/// Around subgroups, lanes, every tile (256, 512, 4096), and a second and third level.
const SIZES: [u64; 32] = [
    0, 1, 2, 3, 31, 32, 33, 63, 65, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 3071, 3073, 3077, 4095, 4096, 4097, 8191, 8193, 65_535,
    65_536, 65_537, 100_003, 131_071, 131_073,
];
const FEW: [u64; 5] = [0, 1, 33, 4097, 100_003];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for variant in ReduceVariant::ALL {
        // The pattern itself has cases of its own.
        c.quick(variant != ReduceVariant::AlignedTree);
        sizes(c, variant);
        numbers::<B, f32>(c, variant);
        numbers::<B, i32>(c, variant);
        numbers::<B, u32>(c, variant);
        numbers::<B, f64>(c, variant);
        numbers::<B, u64>(c, variant);
        operators(c, variant);
        large(c, variant);
    }
}

fn sizes<B: Target>(c: &mut Cases<B>, variant: ReduceVariant) {
    let v = variant.name();
    for n in SIZES {
        c.add(format!("reduce_variants/{v}/sum/f32/cancel/n={n}"), move |d| {
            d.reduce(&input::<B, f32>(d, Fill::Cancel, n, "x")?, Sum).variant(variant).run()
        });
        c.add(format!("reduce_variants/{v}/sum/u32/plain/n={n}"), move |d| {
            d.reduce(&input::<B, u32>(d, Fill::Plain, n, "x")?, Sum).variant(variant).run()
        });
    }
}

fn numbers<B: Target, T: Element<Reg = T> + Num>(c: &mut Cases<B>, variant: ReduceVariant) {
    let (v, t) = (variant.name(), T::DTYPE);
    for fill in Fill::ALL {
        let f = fill.name();
        c.add(format!("reduce_variants/{v}/all/{t}/{f}"), move |d| {
            let x = input::<B, T>(d, fill, 5003, "x")?;
            Ok((
                d.reduce(&x, Sum).variant(variant).run()?,
                d.reduce(&x, Min).variant(variant).run()?,
                d.reduce(&x, Max).variant(variant).run()?,
            ))
        })
        .needs(&[t])
        .quick &= T::DTYPE == isowarp::element::DType::F32 && fill == Fill::Bits;
    }
    for n in FEW {
        c.add(format!("reduce_variants/{v}/min/{t}/n={n}"), move |d| {
            d.reduce(&input::<B, T>(d, Fill::Plain, n, "x")?, Min).variant(variant).run()
        })
        .needs(&[t])
        .full();
    }
}

fn operators<B: Target>(c: &mut Cases<B>, variant: ReduceVariant) {
    let v = variant.name();
    for n in [2, 33, 257, 513, 3073, 4097, 70_001] {
        c.add(format!("reduce_variants/{v}/subtraction_shows_order/f32/n={n}"), move |d| {
            // Neither associative nor commutative: only the rung's own order gives these bits.
            d.reduce(&input::<B, f32>(d, Fill::Wide, n, "x")?, Op::associative(0.0, |a, b| a - b * 0.5)).variant(variant).run()
        });
        c.add(format!("reduce_variants/{v}/affine/u32/n={n}"), move |d| {
            let x = input::<B, u32>(d, Fill::Plain, n, "x")?;
            d.reduce(&x, Op::associative(1 << 16, compose)).variant(variant).run()
        })
        .full();
    }
    c.add(format!("reduce_variants/{v}/log_sum_exp/f32"), move |d| {
        let x = input::<B, f32>(d, Fill::Plain, 5003, "x")?;
        d.reduce(&x, Op::associative(f32::NEG_INFINITY, |a, b| a.max(b) + (-(a - b).abs()).exp().ln_1p())).variant(variant).run()
    })
    .full();
    c.add(format!("reduce_variants/{v}/slices/f32"), move |d| {
        let (x, out) = (input::<B, f32>(d, Fill::Cancel, 10_007, "x")?, input::<B, f32>(d, Fill::Plain, 9, "out")?);
        for k in 0..4 {
            d.reduce(&x.slice(k..10_000)?, Sum).variant(variant).write_to(&out.slice(2 * k..)?)?;
        }
        Ok(out)
    });
    c.add(format!("reduce_variants/{v}/fused_inputs/f32"), move |d| {
        let x = input::<B, half::f16>(d, Fill::Wide, 9001, "x")?;
        let out = d.buffer::<f32>(1)?;
        let load = |(x, i): (Expr<f32>, Expr<u32>)| x * 0.5 + i.cast::<f32>();
        d.reduce((&x.reversed(), index()).map(load), Sum).variant(variant).write_to(&out)?;
        Ok(out)
    })
    .needs(&[half::f16::DTYPE])
    .full();
}

/// x -> a x + b over 16-bit numbers, both in one word; composed from left to right.
pub(super) fn compose(f: Expr<u32>, g: Expr<u32>) -> Expr<u32> {
    let (a, b) = ((f >> 16) * (g >> 16), (f & 0xFFFFu32) * (g >> 16) + (g & 0xFFFFu32));
    (a << 16) | (b & 0xFFFFu32)
}

fn large<B: Target>(c: &mut Cases<B>, variant: ReduceVariant) {
    let v = variant.name();
    for n in [(1 << 20) + 1, FOLDED, ABOVE_BINDING] {
        // Halves of an array above the binding limit lie in two windows.
        if variant == ReduceVariant::FoldInHalf && n == ABOVE_BINDING {
            continue;
        }
        c.add(format!("reduce_variants/{v}/large_sum/f32/n={n}"), move |d| {
            d.reduce(&d.generate(n, index(), |i| (i * 2_654_435_761).bitcast::<i32>().cast::<f32>())?, Sum).variant(variant).run()
        })
        .bytes(4 * n)
        .full();
    }
}
