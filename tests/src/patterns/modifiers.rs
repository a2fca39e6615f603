//! Modifiers that several patterns share: arrays repeated along axes, sorts and gathers along any axis, NaN last, bins of what is outside, casts that
//! keep to a range, and set operations by a comparator over what is computed.

use super::input;
use crate::case::{Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::element::{DType, Element};
use isowarp::patterns::sort::Payload;
use isowarp::prelude::*;
use isowarp_textbook::HistogramVariant;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    broadcast(c);
    // Kernels for each width of key and payload: too many to compile in the quick run's minute.
    c.quick(false);
    axis_of_sorts::<B, f32, u32>(c);
    axis_of_sorts::<B, u32, f32>(c);
    axis_of_sorts::<B, u8, i32>(c);
    axis_of_sorts::<B, f16, u32>(c);
    axis_of_sorts::<B, i64, f64>(c);
    gathers(c);
    nan_last::<B, f32>(c);
    nan_last::<B, f16>(c);
    nan_last::<B, f64>(c);
    flow(c);
    saturating(c);
    sets(c);
}

fn broadcast<B: Target>(c: &mut Cases<B>) {
    let shapes: [(&str, &[u64], &[u64]); 7] = [
        ("rows", &[129, 1], &[129, 257]),
        ("columns", &[257], &[129, 257]),
        ("powers_of_two", &[64, 1, 32], &[64, 16, 32]),
        ("middle", &[5, 1, 7], &[5, 11, 7]),
        ("ends", &[1, 11, 1], &[5, 11, 7]),
        ("one", &[1], &[1000]),
        ("alternating", &[3, 1, 5, 1], &[3, 4, 5, 6]),
    ];
    for (name, from, to) in shapes {
        c.add(format!("map/broadcast/f32/{name}"), move |d| {
            let x = input::<B, f32>(d, Fill::Bits, from.iter().product(), "x")?;
            let y = input::<B, f32>(d, Fill::Wide, to.iter().product(), "y")?;
            d.map((&y, x.broadcast(from, to)), |(y, x)| (x, y + x))
        });
    }
    c.add("map/broadcast/u8/view", |d| {
        let x = input::<B, u8>(d, Fill::Plain, 400, "x")?;
        let reversed = d.map(x.strided(399, 130, -3)?.broadcast(&[130, 1], &[130, 9]), Expr::store_as::<u8>)?;
        Ok((reversed, d.map(x.slice(7..27)?.strided(1, 10, 2)?.broadcast(&[10], &[13, 10]), |x| x)?))
    });
    c.add("reduce/broadcast/softmax/f32", |d| {
        let shape = [37, 541];
        let x = input::<B, f32>(d, Fill::Plain, 37 * 541, "x")?;
        let greatest = d.reduce(&x, Max).axis(&shape, 1).run()?;
        let powers = d.map((&x, greatest.broadcast(&[37, 1], &shape)), |(x, g)| (x - g).exp())?;
        let sums = d.reduce(&powers, Sum).axis(&shape, 1).run()?;
        d.map((&powers, sums.broadcast(&[37, 1], &shape)), |(x, sum)| x / sum)
    });
}

/// Sorts along the first and the middle axis, in every form.
fn axis_of_sorts<B: Target, K: Element, V: Payload>(c: &mut Cases<B>) {
    let (t, v) = (K::DTYPE, V::DTYPE);
    for (name, shape, axis) in
        [("columns", [1, 257, 40], 1), ("planes", [70, 9, 5], 0), ("middle", [3, 1025, 7], 1), ("short", [2, 1, 9], 1)]
    {
        let n = shape.iter().product();
        c.add(format!("sort/axis/{t}/{name}"), move |d| {
            let (x, w) = (input::<B, K>(d, Fill::Bits, n, "k")?, input::<B, V>(d, Fill::Bits, n, "v")?);
            let (in_place, moved) = (input::<B, K>(d, Fill::Bits, n, "k")?, input::<B, V>(d, Fill::Bits, n, "v")?);
            d.sort(&in_place).with_values(&moved).axis(&shape, axis).in_place()?;
            Ok((
                (d.sort(&x).axis(&shape, axis).run()?, d.argsort(&x).descending().axis(&shape, axis).run()?),
                d.sort(&x).with_values(&w).descending().axis(&shape, axis).run()?,
                d.sort(&x).with_indices().axis(&shape, axis).run()?,
                (in_place, moved),
            ))
        })
        .needs(&[t, v]);
        c.add(format!("sort/axis_top_k/{t}/{name}"), move |d| {
            let x = input::<B, K>(d, Fill::Bits, n, "k")?;
            let k = shape[axis].min(4);
            Ok((
                d.top_k(&x, k).axis(&shape, axis).with_indices().run()?,
                d.top_k(&x, shape[axis]).smallest().axis(&shape, axis).run()?,
                d.top_k(&x, k).with_values(&input::<B, V>(d, Fill::Bits, n, "v")?).axis(&shape, axis).run()?,
                d.top_k(&x, 0).axis(&shape, axis).run()?,
            ))
        })
        .needs(&[t, v]);
    }
    c.add(format!("sort/axis_fused/{t}"), move |d| {
        let x = input::<B, K>(d, Fill::Bits, 6000, "k")?;
        let shape = [4, 75, 20];
        let (out, indices) = (d.sort(x.reversed()).with_indices().axis(&shape, 1).run()?, d.argsort(x.reversed()).axis(&shape, 0).run()?);
        Ok((out, indices, d.top_k(x.reversed(), 3).axis(&shape, 1).with_indices().run()?))
    })
    .needs(&[t]);
}

fn gathers<B: Target>(c: &mut Cases<B>) {
    for (name, shape, axis) in [("rows", [40, 1, 100], 2), ("columns", [1, 100, 40], 1), ("middle", [6, 50, 14], 1)] {
        let n = shape.iter().product();
        c.add(format!("move/gather_axis/f32/{name}"), move |d| {
            let x = input::<B, f32>(d, Fill::Bits, n, "x")?;
            let order = d.argsort(&x).axis(&shape, axis).run()?;
            // Half as many, of which some name no element.
            let some = d.generate(n / 2, index(), |i| (i * 7 % 130).cast::<i32>() - 9)?;
            Ok((
                d.gather(&x, &order).axis(&shape, axis).run()?,
                d.gather(&x, &some).axis(&shape, axis).run()?,
                d.gather(x.map(|x| x.is_nan().select(0.0, x)), some.map(|i| i + 1)).axis(&shape, axis).run()?,
            ))
        });
    }
    c.add("move/gather_axis/u8/u64", |d| {
        let (x, at) = (input::<B, u8>(d, Fill::Plain, 4000, "x")?, d.generate(2000, index(), |i| (i * 31 % 170).cast::<u64>())?);
        d.gather(&x, &at).axis(&[160, 25], 0).run()
    })
    .needs(&[DType::U8, DType::U64]);
}

fn nan_last<B: Target, K: Element>(c: &mut Cases<B>) {
    let t = K::DTYPE;
    for n in [0, 1, 33, 5003] {
        c.add(format!("sort/nan_last/{t}/n={n}"), move |d| {
            let (x, v) = (input::<B, K>(d, Fill::Bits, n, "k")?, d.iota(n, 0u32, 3)?);
            let (up, down) = (input::<B, K>(d, Fill::Bits, n, "k")?, input::<B, K>(d, Fill::Bits, n, "k")?);
            d.sort(&up).nan_last().in_place()?;
            d.sort(&down).nan_last().descending().in_place()?;
            Ok((
                (d.sort(&x).nan_last().run()?, d.sort(&x).nan_last().descending().run()?),
                (d.argsort(&x).nan_last().run()?, d.argsort(&x).descending().nan_last().run()?),
                (d.sort(&x).with_values(&v).nan_last().descending().run()?, d.sort(&x).with_indices().nan_last().run()?),
                (up, down),
            ))
        })
        .needs(&[t]);
    }
    c.add(format!("sort/nan_last_domains/{t}"), move |d| {
        let n = 6000;
        let x = input::<B, K>(d, Fill::Bits, n, "k")?;
        let offsets = d.upload(&[5u32, 5, 700, 731, 5990])?;
        let count = d.upload_scalar(4001u32)?;
        let scratch = d.buffer::<K>(n)?;
        let lent = d.buffer::<K>(n)?;
        d.sort(&x).nan_last().descending().scratch(&scratch).write_to(&lent)?;
        let counted = d.sort(&x).length(&count).descending().nan_last().run()?;
        Ok((
            (d.sort(&x).segments(&offsets).nan_last().descending().run()?, d.argsort(&x).segments(&offsets).nan_last().run()?),
            (d.sort(&x).axis(&[60, 100], 0).nan_last().descending().run()?, d.argsort(x.reversed()).axis(&[60, 100], 1).nan_last().run()?),
            (counted.values.slice(..4001)?, lent),
            (
                d.sort(&x).segments(&offsets).with_values(&x).nan_last().descending().run()?,
                d.top_k(&x, 7).axis(&[60, 100], 1).nan_last().run()?,
            ),
        ))
    })
    .needs(&[t]);
    for n in [6000, 300_007] {
        c.add(format!("sort/nan_last_top_k/{t}/n={n}"), move |d| {
            let x = input::<B, K>(d, Fill::Bits, n, "k")?;
            let (first, indices) = d.top_k(&x, 50).nan_last().with_indices().run()?;
            let (least, of_least) = d.top_k(&x, 50).smallest().nan_last().with_values(&x).run()?;
            Ok(((first, indices), (least, of_least), d.top_k(&x, n - 10).nan_last().run()?))
        })
        .needs(&[t]);
    }
    c.add(format!("merge/nan_last_search/{t}"), move |d| {
        let (x, needles) = (input::<B, K>(d, Fill::Bits, 3000, "k")?, input::<B, K>(d, Fill::Bits, 500, "n")?);
        let up = d.sort(&x).nan_last().run()?;
        let down = d.sort(&x).nan_last().descending().run()?;
        Ok((
            (d.lower_bound(&up, &needles).nan_last().run()?, d.upper_bound(&up, &needles).nan_last().run()?),
            (d.lower_bound(&down, &needles).nan_last().descending().run()?, d.count_equal(&down, &needles).descending().nan_last().run()?),
            (d.is_sorted(&up).nan_last().run()?, d.is_sorted(&down).descending().nan_last().run()?),
            (d.is_sorted(&down).descending().run()?, d.is_sorted(&x).nan_last().run()?),
        ))
    })
    .needs(&[t]);
}

fn flow<B: Target>(c: &mut Cases<B>) {
    c.add("histogram/flow/f32", |d| {
        let x = input::<B, f32>(d, Fill::Bits, 20_011, "x")?;
        let (y, w) = (input::<B, f32>(d, Fill::Plain, 20_011, "y")?, input::<B, f32>(d, Fill::Wide, 20_011, "w")?);
        let edges = Edges::new(d, &[0.25f32, 0.3, 0.3, 0.9])?;
        Ok((
            (
                d.histogram(even_bins(&x, -1.0, 1.0, 100).with_flow()).run()?,
                d.histogram(even_bins(&y, 0.1, 0.7, 7).with_flow().inclusive()).run()?,
            ),
            (
                d.histogram(bins_between(&y, &edges).with_flow()).run()?,
                d.histogram(even_bins(&y, 0.1, 0.7, 7).with_flow()).weighted(&w).run()?,
            ),
            d.histogram((even_bins(&y, 0.5, 0.75, 4).with_flow(), bins_between(&x, &edges).with_flow())).run()?,
        ))
    });
    c.add("histogram/flow/integers", |d| {
        let (x, y) = (input::<B, i32>(d, Fill::Bits, 20_011, "x")?, input::<B, u8>(d, Fill::Plain, 20_011, "y")?);
        Ok((
            d.histogram(even_bins(&x, -1000, 1 << 30, 33).with_flow()).run()?,
            d.histogram(even_bins(&y, 16, 240, 8).with_flow()).run()?,
            d.histogram(even_bins(&y, 16, 255, 8).inclusive().with_flow()).variant(HistogramVariant::PrivateShared).run()?,
        ))
    })
    .needs(&[DType::U8]);
    c.add("histogram/flow/f64", |d| {
        let x = input::<B, f64>(d, Fill::Bits, 20_011, "x")?;
        let count = d.upload_scalar(15_000u32)?;
        Ok((
            d.histogram(even_bins(&x, -1e-3, 1e3, 50).with_flow()).run()?,
            d.histogram(even_bins(&x, 0.0, 1.0, 3).with_flow()).length(&count).run()?,
        ))
    })
    .needs(&[DType::F64]);
}

/// Conversions of a type to others.
macro_rules! saturated {
    ($c:ident, $from:ty, $($to:ty),*) => {$(
        $c.add(format!("map/saturating/{}/{}", <$from as Element>::DTYPE, <$to as Element>::DTYPE), |d| {
            let x = input::<B, $from>(d, Fill::Bits, 5003, "x")?;
            d.map(&x, |x| x.saturating_cast::<$to>().store_as::<$to>())
        })
        .needs(&[<$from as Element>::DTYPE, <$to as Element>::DTYPE]);
    )*};
}

fn saturating<B: Target>(c: &mut Cases<B>) {
    saturated!(c, f32, u8, i8, u16, i16, u32, i32, u64, i64, f16, f64);
    saturated!(c, f64, u8, i16, u32, i32, u64, i64, f32);
    saturated!(c, i32, u8, i8, u16, i16, u32, u64, i64, f32);
    saturated!(c, u32, u8, i8, u16, i16, i32, u64, i64);
    saturated!(c, i64, u8, i8, u32, i32, u64);
    saturated!(c, u64, u8, i8, u32, i32, i64);
}

fn sets<B: Target>(c: &mut Cases<B>) {
    c.add("merge/sets_by_of_inputs/i32", |d| {
        // Numbers whose sizes rise, and whose signs differ.
        let size = |a: Expr<i32>, b: Expr<i32>| a.abs().lt(b.abs());
        let a = counting(3000).map(|i| (i % 2).eq(0).select((i / 3).cast::<i32>(), -(i / 3).cast::<i32>()));
        let y = d.iota(2000, 0i32, 3)?;
        let b = y.map(|x| x / 4);
        let kept = |of: isowarp::patterns::Selected<B, Buffer<B, i32>>| of.values.slice(..of.len_blocking()?);
        let falling = d.union(&y.slice(..0)?, y.reversed().map(|x| -x)).by(size).descending().run()?;
        Ok((
            (kept(d.union(a, b).by(size).run()?)?, kept(d.intersection(a, b).by(size).run()?)?),
            (kept(d.difference(a, b).by(size).run()?)?, kept(d.symmetric_difference(a, b).by(size).run()?)?),
            (kept(d.difference(&y, b).by(size).run()?)?, kept(falling)?),
        ))
    });
}
