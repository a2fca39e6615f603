//! P01 to P03: forms into the caller's buffers, and of inputs that never lie in memory.

use super::input;
use crate::case::{Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::element::Element as _;
use isowarp::ir::ArrayExpr;
use isowarp::prelude::*;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    c.quick(false);
    c.add("map/into_forms/f32", |d| {
        let (x, y) = (input::<B, f32>(d, Fill::Plain, 5003, "x")?, input::<B, f32>(d, Fill::Wide, 5003, "y")?);
        // Each into the middle of a buffer: what lies before and behind stays.
        let out: Vec<Buffer<B, f32>> = (0..4).map(|_| input(d, Fill::Plain, 5010, "out")).collect::<Result<_, _>>()?;
        let part = |k: usize| out[k].slice(3..5006);
        d.map_into((scalar(0.7), &x, &y), |(a, x, y)| a * x + y, &part(0)?)?;
        d.map_into((&x, &y), |(x, y)| x.max(y), &part(1)?)?;
        d.map_into((counting(part(2)?.len()), scalar(1.0), scalar(0.3)), |(i, start, step)| i.cast::<f32>() * step + start, &part(2)?)?;
        d.map_into((&part(0)?, scalar(0.0), scalar(1.0)), |(x, old, new)| select(x.eq(old), new, x), &part(3)?)?;
        Ok(out)
    });
    c.add("map/cast_into/f16", |d| {
        let (x, out) = (input::<B, f32>(d, Fill::Bits, 5003, "x")?, input::<B, f16>(d, Fill::Plain, 5010, "out")?);
        d.map_into(&x, Expr::store_as::<f16>, &out.slice(5..)?)?;
        Ok(out)
    })
    .needs(&[f16::DTYPE]);
    reductions(c);
    scans(c);
}

fn reductions<B: Target>(c: &mut Cases<B>) {
    c.add("reduce/into_forms/f32", |d| {
        let (x, y) = (input::<B, f32>(d, Fill::Plain, 5003, "x")?, input::<B, f32>(d, Fill::Wide, 5003, "y")?);
        let (out, places) = (input::<B, f32>(d, Fill::Plain, 20, "out")?, input::<B, u32>(d, Fill::Plain, 8, "places")?);
        let (at, place) = (|k: u64| out.slice(k..), |k: u64| places.slice(k..));
        d.reduce(&x, Min).with_index().write_to((&at(1)?, &place(1)?))?;
        d.reduce(&x, Max).with_index().write_to((&at(2)?, &place(2)?))?;
        d.reduce(&x, Min).index().write_to(&place(3)?)?;
        d.reduce(&x, Max).index().write_to(&place(4)?)?;
        d.reduce(x.map(|x| x.gt(0.5).cast::<u32>()), Sum).write_to(&place(5)?)?;
        d.reduce_by(y.map(|x| (x, x)), |a, b| (a.0.min(b.0), a.1.max(b.1))).write_to((&at(3)?, &at(4)?))?;
        d.reduce(&x, Sum).finish(|sum| sum / x.len() as f32).write_to(&at(5)?)?;
        d.reduce((&x, &y).map(|(x, y)| x * y), Sum).write_to(&at(6)?)?;
        d.reduce(x.map(Expr::abs), Sum).write_to(&at(7)?)?;
        d.reduce(x.map(|x| x * x), Sum).finish(Expr::sqrt).write_to(&at(8)?)?;
        d.reduce_by(x.map(Expr::abs), Expr::max).identity(0.0).write_to(&at(9)?)?;
        d.reduce((&x, &y).map(|(x, y)| (x - y).abs()), Max).write_to(&at(10)?)?;
        d.reduce(&x, Sum).write_to(&at(11)?)?;
        d.trapezoid(0.0, 2.0, 1000, Expr::sin).write_to(&at(12)?)?;
        d.simpson(0.0, 2.0, 1000, |x| (-x * x).exp()).write_to(&at(13)?)?;
        d.reduce(counting(1000).map(|i| i * i), Sum).write_to(&place(6)?)?;
        Ok((out, places))
    });
    c.add("reduce/count_wide/u64", |d| {
        let out = d.upload(&[9u64, 9, 9])?;
        let x = input::<B, f32>(d, Fill::Bits, 20_011, "x")?;
        d.reduce(x.map(|x| x.gt(0.25).cast::<u64>()), Sum).write_to(&out.slice(1..)?)?;
        Ok(out)
    })
    .needs(&[u64::DTYPE]);
    for axis in 0..3 {
        c.add(format!("reduce/axis_from/u8/axis={axis}"), move |d| {
            let x = input::<B, u8>(d, Fill::Plain, 20 * 33 * 17, "x")?;
            d.reduce((&x, index()).map(|(x, i)| x * x + i), Sum).axis(&[20, 33, 17], axis).run()
        })
        .needs(&[u8::DTYPE]);
    }
}

fn scans<B: Target>(c: &mut Cases<B>) {
    for axis in 0..3 {
        c.add(format!("scan/axis_from/u8/axis={axis}"), move |d| {
            let x = input::<B, u8>(d, Fill::Plain, 20 * 33 * 17, "x")?;
            d.scan((&x, index()).map(|(x, i)| x * x + i), Sum).axis(&[20, 33, 17], axis).exclusive().run()
        })
        .needs(&[u8::DTYPE]);
    }
    c.add("scan/segmented_from/f32", |d| {
        let (x, y) = (input::<B, f32>(d, Fill::Cancel, 5003, "x")?, input::<B, f32>(d, Fill::Plain, 5003, "y")?);
        let flags = d.map(&input::<B, u32>(d, Fill::Plain, 5003, "flags")?, |f| ((f >> 5) % 50).eq(0).cast::<u32>())?;
        d.scan((&x, &y).map(|(x, y)| x * y), Sum).by_flags(&flags).run()
    });
    c.add("scan/by_key_from/u32", |d| {
        let keys = d.map(&input::<B, u32>(d, Fill::Sorted, 5003, "keys")?, |k| k >> 3)?;
        d.scan((&keys, index()).map(|(k, i)| k ^ i), Max).by_key(&keys).run()
    });
    for n in [5003, 24_577] {
        c.add(format!("scan/segmented_exclusive_from/f32/n={n}"), move |d| {
            let (x, y) = (input::<B, f32>(d, Fill::Cancel, n, "x")?, input::<B, f32>(d, Fill::Plain, n, "y")?);
            let flags = d.map(&input::<B, u32>(d, Fill::Plain, n, "flags")?, |f| ((f >> 5) % 50).eq(0).cast::<u32>())?;
            d.scan((&x, &y, scalar(0.5f32)).map(|(x, y, k)| x * y + k), Sum).by_flags(&flags).exclusive().run()
        });
    }
    c.add("scan/by_key_exclusive_from/u8", |d| {
        let (keys, x) = (input::<B, u8>(d, Fill::Sorted, 9001, "keys")?, input::<B, u8>(d, Fill::Plain, 9001, "x")?);
        let neighbours = |(all, x, i): (ArrayExpr<u8>, Expr<u32>, Expr<u32>)| (all.at(i + 1) - x) ^ i;
        d.scan((array(&x), &x, index()).map(neighbours), Sum).by_key(&keys).exclusive().run()
    })
    .needs(&[u8::DTYPE]);
    // From the end, every third, and one for all.
    c.add("scan/segmented_exclusive_from/views", |d| {
        let (x, third) = (input::<B, u32>(d, Fill::Plain, 5003, "x")?, input::<B, u32>(d, Fill::Plain, 15_010, "y")?.strided(1, 5003, 3)?);
        let (back, one) = (input::<B, u32>(d, Fill::Plain, 10_006, "z")?.strided(10_005, 5003, -2)?, d.upload_scalar(77u32)?);
        let flags = d.map(&x, |x| (x % 90).eq(0).cast::<u32>())?;
        d.scan((&third, &back, &one).map(|(a, b, k)| a + b * k), Sum).by_flags(&flags).exclusive().run()
    });
    offsets(c);
    neighbours(c);
}

/// Adds cases of inputs that are computed for an element and for the one before, and of parts of computed inputs.
fn neighbours<B: Target>(c: &mut Cases<B>) {
    for n in [0, 1, 24_577] {
        c.add(format!("select/unique_from/u32/n={n}"), move |d| {
            let (x, out, count) = (input::<B, u32>(d, Fill::Plain, n, "x")?, d.iota::<u32>(n, 0, 1)?, d.buffer::<u32>(1)?);
            d.unique((&x.reversed(), index()).map(|(x, i)| (x >> 31) + i / 40)).write_to((&out, &count))?;
            Ok((out, count))
        });
        c.add(format!("select/runs_from/f32/n={n}"), move |d| {
            let (values, lengths, count) = (input::<B, f32>(d, Fill::Plain, n, "v")?, d.iota::<u32>(n, 0, 1)?, d.buffer(1)?);
            let (x, y) = (input::<B, f32>(d, Fill::Sorted, n, "x")?, input::<B, f32>(d, Fill::Plain, n, "y")?);
            d.run_length_encode((&x, &y).map(|(x, y)| x.floor() + y.gt(0.9).select(1.0, 0.0))).write_to(((&values, &lengths), &count))?;
            Ok((values, lengths, count))
        });
    }
    c.add("select/parts_from/counting/n=9001", |d| {
        let parts = d.partition(counting(9001), |i| ((i * 2_654_435_761) >> 7).lt(1 << 24)).finish(|i| (i, i * i)).run()?;
        let runs = d.reduce(counting(9001).map(|i| i | 1), Sum).by_key(&d.map(&parts.values.1, |x| x >> 21)?).run()?;
        let n = runs.len_blocking()?;
        Ok((parts.values, parts.count, runs.values.0.slice(..n)?, runs.values.1.slice(..n)?))
    });
    c.add("difference/from/f32/n=9001", |d| {
        let (x, y) = (input::<B, f32>(d, Fill::Cancel, 9001, "x")?, input::<B, f32>(d, Fill::Bits, 18_002, "y")?.strided(1, 9001, 2)?);
        d.adjacent((&x, &y, scalar(0.5f32)).map(|(x, y, k)| x * k + y), |before, x| x - before).run()
    });
}

/// Segments that offsets bound, of inputs of every kind; elements lie before the first and behind the last one.
fn offsets<B: Target>(c: &mut Cases<B>) {
    let bounds = |d: &B, n: u64| {
        let mut all: Vec<u32> = [1, 2, 2, 40, 41, 900, 4096, 8191].into_iter().filter(|&o| u64::from(o) < n).collect();
        all.push(n.saturating_sub(3) as u32);
        d.upload(&all)
    };
    for n in [0, 1, 8193, 24_577] {
        c.add(format!("segmented_scan/from/zipped/f32/n={n}"), move |d| {
            let (x, y, offsets) = (input::<B, f32>(d, Fill::Cancel, n, "x")?, input::<B, f32>(d, Fill::Plain, n, "y")?, bounds(d, n)?);
            let f = |(x, y, k): (Expr<f32>, Expr<f32>, Expr<f32>)| x * y + k;
            let inclusive = d.scan((&x, &y, scalar(0.5f32)).map(f), Sum).segments(&offsets).run()?;
            Ok((inclusive, d.scan((&x, &y, scalar(0.5f32)).map(f), Sum).segments(&offsets).exclusive().run()?))
        });
    }
    c.add("segmented_scan/from/counting/u32", move |d| {
        let f = |i: Expr<u32>| i * i;
        let offsets = bounds(d, 9001)?;
        let inclusive = d.scan(counting(9001).map(f), Sum).segments(&offsets).run()?;
        let constant = d.scan((counting(9001), scalar(3u32)).map(|(_, three)| three), Sum).segments(&offsets).exclusive().run()?;
        Ok((inclusive, d.scan(counting(9001).map(f), Sum).segments(&offsets).exclusive().run()?, constant))
    });
    // From the end, every third, permuted, into the middle of a buffer.
    c.add("segmented_scan/from/views/u32", move |d| {
        let (n, x) = (5003, input::<B, u32>(d, Fill::Plain, 15_010, "x")?);
        let (third, back, offsets) = (x.strided(1, n, 3)?, x.strided(10_005, n, -2)?, bounds(d, n)?);
        let out: Vec<Buffer<B, u32>> = (0..2).map(|_| input(d, Fill::Plain, n + 7, "out")).collect::<Result<_, _>>()?;
        let f = |(a, b, x, i): (Expr<u32>, Expr<u32>, ArrayExpr<u32>, Expr<u32>)| a + b * x.at((i * 7) % 5003);
        d.scan((&third, &back, array(&x), index()).map(f), Sum).segments(&offsets).write_to(&out[0].slice(3..n + 3)?)?;
        d.scan((&third, &back, array(&x), index()).map(f), Max).segments(&offsets).exclusive().write_to(&out[1].slice(3..n + 3)?)?;
        Ok(out)
    });
}
