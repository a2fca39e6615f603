//! P08 merge, of inputs: what merges, searches and co-ranks make of counted numbers, constants, transforms, permuted, reversed and zipped views.

use super::input;
use crate::case::{Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::Result;
use isowarp::element::{DType, Element};
use isowarp::ir::ArrayExpr;
use isowarp::prelude::*;

/// Lengths of both inputs: nothing, unequal ones, and totals around tiles (1792, 2304, 3328, 3840 and 4352 elements).
const SIZES: [(u64, u64); 14] = [
    (0, 0),
    (0, 1),
    (1, 0),
    (5, 4),
    (256, 257),
    (900, 893),
    (2303, 2),
    (0, 3329),
    (3840, 0),
    (1920, 1921),
    (4000, 353),
    (9, 30_011),
    (30_011, 9),
    (50_000, 50_003),
];
const FEW: [(u64, u64); 3] = [(1, 0), (20, 13), (2100, 4999)];
const UP: SortOrder = SortOrder::Ascending;
const DOWN: SortOrder = SortOrder::Descending;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for (m, n) in SIZES {
        // Equal keys show where they come from: numbers of the first input are below 2^20.
        c.add(format!("merge/from/counted/{m}+{n}"), move |d| {
            let (a, b) = ((counting(m), |i| i / 3), (counting(n), |i| i / 2 + 5));
            let of_b = (index(), scalar(1u32 << 20)).map(|(i, k)| i + k);
            Ok((d.merge(a.0.map(a.1), b.0.map(b.1)).run()?, d.merge(a.0.map(a.1), b.0.map(b.1)).with_values(index(), of_b).run()?))
        });
        c.add(format!("merge/from/search/{m}in{n}"), move |d| {
            let (sorted, needles) = ((counting(n), |i| i * 3 / 2), (counting(m), |i| (i * 2_654_435_761) >> 16));
            let (lower, upper) = (
                d.lower_bound(sorted.0.map(sorted.1), needles.0.map(needles.1)).run()?,
                d.upper_bound(sorted.0.map(sorted.1), needles.0.map(needles.1)).run()?,
            );
            Ok((lower, upper, d.count_equal(sorted.0.map(sorted.1), needles.0.map(needles.1)).run()?))
        });
    }
    // Another kernel for each type and source: too many to compile in the quick run's minute.
    c.quick(false);
    types::<B, u8>(c);
    types::<B, f16>(c);
    types::<B, u32>(c);
    types::<B, i32>(c);
    types::<B, f32>(c);
    types::<B, u64>(c);
    types::<B, i64>(c);
    types::<B, f64>(c);
    values::<B, u8>(c);
    values::<B, f16>(c);
    values::<B, f32>(c);
    values::<B, i64>(c);
    sources(c);
    sets(c);
    large(c);
}

/// Elements with the canonical NaN, in no order.
fn canonical<B: Target, K: Element>(d: &B, fill: Fill, n: u64, name: &str) -> Result<Buffer<B, K>> {
    d.map(&input::<B, K>(d, fill, n, name)?, Expr::store_as::<K>)
}

/// Elements in an order; every bit pattern of those that keep theirs.
fn sorted<B: Target, K: Element>(d: &B, fill: Fill, n: u64, name: &str, order: SortOrder) -> Result<Buffer<B, K>> {
    let keys = if K::DTYPE == DType::F16 { canonical(d, fill, n, name)? } else { input(d, fill, n, name)? };
    d.sort(&keys).order(order).run()
}

/// A reversed view whose bits stay, beside an array in the order of its sorted indices.
fn types<B: Target, K: Element>(c: &mut Cases<B>) {
    let t = K::DTYPE;
    for fill in [Fill::Bits, Fill::Wide, Fill::Equal] {
        let name = fill.name();
        for (m, n) in FEW {
            c.add(format!("merge/from/types/{t}/{name}/{m}+{n}"), move |d| {
                let (falling, array_b) = (sorted::<B, K>(d, fill, m, "a", DOWN)?, canonical::<B, K>(d, fill, n, "b")?);
                let (back, places) = (falling.reversed(), d.argsort(&array_b).run()?);
                let a = (&back, |x: Expr<K::Reg>| x.store_as::<K>());
                let b = ((&places, array(&array_b)), |(i, x): (Expr<u32>, ArrayExpr<K>)| x.at(i).store_as::<K>());
                let found =
                    (d.lower_bound(a.0.map(a.1), b.0.clone().map(b.1)).run()?, d.count_equal(b.0.clone().map(b.1), a.0.map(a.1)).run()?);
                Ok((d.merge(a.0.map(a.1), b.0.map(b.1)).run()?, found))
            })
            .needs(&[t]);
        }
    }
    c.add(format!("merge/from/down/{t}"), move |d| {
        let (x, y) = (sorted::<B, K>(d, Fill::Bits, 3000, "a", DOWN)?, sorted::<B, K>(d, Fill::Bits, 1900, "b", UP)?);
        let (a, b) = ((&x, |x: Expr<K::Reg>| x.store_as::<K>()), (&y.reversed(), |x: Expr<K::Reg>| x.store_as::<K>()));
        let ranks = d.iota::<u32>(331, 0, 15)?;
        let out = input::<B, K>(d, Fill::Plain, 5000, "out")?;
        d.merge(a.0.map(a.1), b.0.map(b.1)).descending().write_to(&out.slice(3..)?)?;
        Ok((
            out,
            d.co_ranks(a.0.map(a.1), b.0.map(b.1), &ranks).descending().run()?,
            d.upper_bound(b.0.map(b.1), a.0.map(a.1)).descending().run()?,
        ))
    })
    .needs(&[t]);
}

/// Pairs whose values are read as they are on one side and computed on the other; outputs that begin inside words.
fn values<B: Target, V: Element>(c: &mut Cases<B>) {
    fn keyed<B: Target, K: Element, V: Element>(c: &mut Cases<B>) {
        let (k, v) = (K::DTYPE, V::DTYPE);
        c.add(format!("merge/from/pairs/{k}/{v}"), move |d| {
            let (x, y) = (sorted::<B, K>(d, Fill::Wide, 4100, "a", UP)?, sorted::<B, K>(d, Fill::Wide, 3000, "b", UP)?);
            let (s, t) = (input::<B, V>(d, Fill::Bits, 4100, "v")?, input::<B, V>(d, Fill::Plain, 3000, "w")?);
            let (keep, keep_value) = (|x: Expr<K::Reg>| x.store_as::<K>(), |v: Expr<V::Reg>| v.store_as::<V>());
            let of_b = (array(&t), index()).map(|(t, i): (ArrayExpr<V>, Expr<u32>)| keep_value(t.at(lit(2999u32) - i)));
            let out = (input::<B, K>(d, Fill::Plain, 7110, "k")?, input::<B, V>(d, Fill::Plain, 7110, "o")?);
            d.merge(x.map(keep), y.map(keep)).with_values(s.map(keep_value), of_b).write_to((&out.0.slice(3..)?, &out.1.slice(1..)?))?;
            Ok(out)
        })
        .needs(&[k, v]);
    }
    keyed::<B, u8, V>(c);
    keyed::<B, f32, V>(c);
    keyed::<B, i64, V>(c);
}

fn sources<B: Target>(c: &mut Cases<B>) {
    // Values of the host and of the device beside a buffer, and a constant alone.
    c.add("merge/from/scalars", |d| {
        let (x, s) = (sorted::<B, f32>(d, Fill::Plain, 5000, "x", UP)?, d.upload_scalar(0.25f32)?);
        let a = ((&x, scalar(0.5f32), &s), |(x, k, s): (Expr<f32>, Expr<f32>, Expr<f32>)| x * k + s);
        let b = ((counting(3000), scalar(0.5f32)), |(_, k): (Expr<u32>, Expr<f32>)| k);
        Ok((
            d.merge(a.0.map(a.1), b.0.map(b.1)).run()?,
            d.lower_bound(a.0.map(a.1), b.0.map(b.1)).run()?,
            d.count_equal(b.0.map(b.1), a.0.map(a.1)).run()?,
        ))
    });
    // Functions that are heavy to compute stand in loops.
    c.add("merge/from/functions", |d| {
        let (x, y) = (sorted::<B, f32>(d, Fill::Plain, 5000, "x", UP)?, sorted::<B, f32>(d, Fill::Plain, 4000, "y", UP)?);
        let (a, b) = ((&x, |x: Expr<f32>| (x * 3.0).exp()), (&y, |y: Expr<f32>| (y + 0.001).ln() + 7.0));
        Ok((d.merge(a.0.map(a.1), b.0.map(b.1)).run()?, d.upper_bound(a.0.map(a.1), b.0.map(b.1)).run()?))
    });
    // A view over every third element, zipped with what is fetched at its neighbour's place; a view's own stride of none.
    c.add("merge/from/zipped", |d| {
        let x = sorted::<B, u32>(d, Fill::Plain, 9001, "x", UP)?;
        let (thirds, one) = (x.strided(1, 3000, 3)?, x.strided(4000, 700, 0)?);
        let a = ((&thirds, array(&x), index()), |(x, all, i): (Expr<u32>, ArrayExpr<u32>, Expr<u32>)| (x >> 1) + (all.at(i * 3 + 2) >> 1));
        let b = ((&one, index()), |(x, i): (Expr<u32>, Expr<u32>)| x + (i >> 3));
        Ok((d.merge(a.0.clone().map(a.1), b.0.map(b.1)).run()?, d.lower_bound(a.0.map(a.1), b.0.map(b.1)).run()?))
    });
    // Inputs and outputs in one buffer; nothing of it is touched elsewhere.
    c.add("merge/from/one_buffer", |d| {
        let all = input::<B, u32>(d, Fill::Plain, 20_000, "all")?;
        d.copy_into(&d.iota::<u32>(4000, 0, 7)?, &all.slice(1..4001)?)?;
        let (x, y) = (all.slice(1..4001)?, all.slice(1001..3001)?);
        let (a, b) = ((&x, |x| x), (&y, |y| y + 3));
        d.merge(a.0.map(a.1), b.0.map(b.1)).write_to(&all.slice(6002..)?)?;
        d.lower_bound(a.0.map(a.1), b.0.map(b.1)).write_to(&all.slice(15_000..17_000)?)?;
        Ok(all)
    });
    // More buffers than kernels bind: arrays are made first.
    c.add("merge/from/many_buffers", |d| {
        let of = |k: u32| d.generate(3000, (index(), scalar(k)), |(i, k)| i * k);
        let all: Vec<Buffer<B, u32>> = (1..=6).map(of).collect::<Result<_>>()?;
        let six = || (&all[0], &all[1], &all[2], &all[3], &all[4], &all[5]);
        type Six = (Expr<u32>, Expr<u32>, Expr<u32>, Expr<u32>, Expr<u32>, Expr<u32>);
        let sum = |(a, b, c, d, e, f): Six| a + b + c + d + e + f;
        let (a, b) = ((six(), sum), (six(), move |x: Six| sum(x) + 7));
        let ranks = d.iota::<u32>(61, 0, 100)?;
        Ok((
            d.merge(a.0.map(a.1), b.0.map(b.1)).run()?,
            d.count_equal(a.0.map(a.1), b.0.map(b.1)).run()?,
            d.co_ranks(a.0.map(a.1), b.0.map(b.1), &ranks).run()?,
        ))
    });
    c.add("merge/from/wide_positions", |d| {
        let out = [d.upload(&[7u64; 1007])?, d.upload(&[7u64; 1007])?];
        let (sorted, needles) =
            ((counting(3000), |i: Expr<u32>| i.cast::<i64>() * -7), (counting(1003), |i: Expr<u32>| i.cast::<i64>() * -20));
        d.lower_bound(sorted.0.map(sorted.1), needles.0.map(needles.1)).descending().write_to(&out[0].slice(3..)?)?;
        d.count_equal(sorted.0.map(sorted.1), needles.0.map(needles.1)).descending().write_to(&out[1])?;
        let ranks = d.upload(&[0u64, 1, 99, 4003, 4004, 1 << 32, u64::MAX, 2500])?;
        let found = d.buffer(8)?;
        d.co_ranks(sorted.0.map(sorted.1), needles.0.map(needles.1), &ranks).descending().write_to(&found)?;
        let [a, b] = out;
        Ok((a, b, found))
    })
    .needs(&[DType::U64, DType::I64]);
}

/// Value that a caller's buffer holds where nothing is written.
const BEFORE: u32 = 0xABAB_ABAB;

fn sets<B: Target>(c: &mut Cases<B>) {
    type Counted<B> = (Buffer<B, u32>, Buffer<B, u32>);
    fn made<B: Target>(d: &B, n: u64) -> Result<Counted<B>> {
        Ok((d.generate(n + 3, scalar(BEFORE), |v| v)?, d.upload(&[7, 8])?))
    }
    for (m, n) in [(0, 0), (0, 9), (9, 0), (20, 13), (5000, 4001), (300, 20_011)] {
        c.add(format!("merge/from/sets/{m},{n}"), move |d| {
            // Runs of two and three equal ones that are met by fewer and by more.
            let x = d.generate(m, index(), |i| i / 3 * 4)?;
            let (a, b) = ((&x, |x: Expr<u32>| x), (counting(n), |i: Expr<u32>| (i >> 1) + (i >> 2)));
            let outs = [made(d, m + n)?, made(d, m)?, made(d, m)?, made(d, m + n)?];
            d.union(a.0.map(a.1), b.0.map(b.1)).write_to((&outs[0].0, &outs[0].1))?;
            d.intersection(a.0.map(a.1), b.0.map(b.1)).write_to((&outs[1].0, &outs[1].1))?;
            d.difference(a.0.map(a.1), b.0.map(b.1)).write_to((&outs[2].0, &outs[2].1))?;
            d.symmetric_difference(a.0.map(a.1), b.0.map(b.1)).write_to((&outs[3].0, &outs[3].1))?;
            let [a, b, c, d] = outs;
            Ok(((a, b), (c, d)))
        });
    }
    macro_rules! of_type {
        ($($t:ty)*) => {$(
            c.add(format!("merge/from/sets_of/{}", <$t>::DTYPE), |d| {
                let (x, y) = (sorted::<B, $t>(d, Fill::Bits, 3000, "a", UP)?, sorted::<B, $t>(d, Fill::Bits, 2000, "b", UP)?);
                let y = d.merge(&x.slice(100..900)?, &y).run()?;
                let keep = |x: Expr<<$t as Element>::Reg>| x.store_as::<$t>();
                let (out, count) = (input::<B, $t>(d, Fill::Equal, 6000, "out")?, d.upload(&[0u32])?);
                d.symmetric_difference(x.map(keep), y.map(keep)).write_to((&out, &count))?;
                let shared = (input::<B, $t>(d, Fill::Equal, 3000, "out")?, d.upload(&[0u32])?);
                d.intersection(x.map(keep), y.map(keep)).write_to((&shared.0, &shared.1))?;
                Ok((out, count, shared))
            })
            .needs(&[<$t>::DTYPE]);
        )*};
    }
    of_type!(u8 f16 f32 i64 f64);
}

fn large<B: Target>(c: &mut Cases<B>) {
    for n in [(1 << 20) + 1, 5_000_017] {
        c.add(format!("merge/from/large/n={n}"), move |d| {
            // The even and the odd numbers, and their places beside them.
            let (even, odd) = (counting(n - n / 2).map(|i| i * 2), counting(n / 2).map(|i| i * 2 + 1));
            let (keys, values) = d.merge(even, odd).with_values(index(), index()).run()?;
            let digest = |x: &Buffer<B, u32>| d.reduce((x, index()).map(|(x, i)| x * (i | 1)), Sum).run();
            Ok((keys.slice(n / 2..n / 2 + 1000)?, digest(&keys)?, digest(&values)?))
        })
        .bytes(4 * n);
    }
    c.add("merge/from/squares", |d| {
        let roots = d.lower_bound(counting(1 << 16).map(|i| i * i), counting(1 << 22).map(|i| i * 1023)).run()?;
        Ok((d.reduce((&roots, index()).map(|(x, i)| x * (i | 1)), Sum).run()?, roots.slice(4_000_000..4_001_000)?))
    })
    .bytes(4 << 22);
}
