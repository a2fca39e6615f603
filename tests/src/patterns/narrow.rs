//! Integers that are stored only, in every pattern: whether their sign is kept, and their neighbours in a word. Of forms and sizes there are few:
//! kernels take elements of one width alike, and the cases of `u8` and `f16` have the others.

use super::input;
use crate::case::{Cases, Target};
use crate::data::{self, Fill};
use isowarp::Result;
use isowarp::element::{DType, Element, Num, Scalar};
use isowarp::ir::lit;
use isowarp::patterns::histogram::Sample;
use isowarp::patterns::{IndexElement, KeyBits};
use isowarp::prelude::*;
use isowarp_textbook::SortVariant;

const UP: SortOrder = SortOrder::Ascending;
const DOWN: SortOrder = SortOrder::Descending;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    copies::<B, i8>(c);
    copies::<B, i16>(c);
    copies::<B, u16>(c);
    // Kernels for each type: too many to compile in the quick run's minute.
    c.quick(false);
    each::<B, i8, i16>(c, (-100, 128));
    each::<B, i16, u16>(c, (-30_000, 20_000));
    each::<B, u16, i8>(c, (0, 65_536));
    // Kernels that see a narrow element as a load alone, which maps have of all types.
    by_one_load::<B, i8>(c);
    orders::<B, i8, i16>(c);
    orders::<B, i16, u16>(c);
    casts(c);
    indices::<B, u8>(c);
    indices::<B, i8>(c);
    indices::<B, u16>(c);
    indices::<B, i16>(c);
}

/// The patterns of one type; `V` is the type of what travels with it.
fn each<B: Target, T: Element + PartialOrd, V: Element>(c: &mut Cases<B>, bounds: (T::Reg, T::Reg))
where
    T::Reg: Sample + Element<Reg = T::Reg> + Num,
{
    maps::<B, T>(c);
    reductions::<B, T>(c);
    selections::<B, T>(c);
    histograms::<B, T>(c, bounds);
    sorts::<B, T>(c);
    first_keys::<B, T>(c);
    segments::<B, T>(c);
    merges::<B, T, V>(c);
    moves::<B, T>(c);
    groups::<B, T>(c);
}

fn copies<B: Target, T: Element>(c: &mut Cases<B>) {
    let t = T::DTYPE;
    c.add(format!("memory/narrow/{t}"), |d| {
        let mut all = [0, 1, 3, 255, 4099].map(|n| input::<B, T>(d, Fill::Bits, n, "x")).into_iter().collect::<Result<Vec<_>>>()?;
        for (from, to, n) in [(0, 3, 61), (5, 2, 40), (7, 7, 1)] {
            let out = input::<B, T>(d, Fill::Wide, 64, "to")?;
            d.copy_into(&all[3].slice(from..from + n)?, &out.slice(to..to + n)?)?;
            out.slice(to..to + 3)?.write(&data::data::<T>(Fill::Plain, 3, n))?;
            all.push(out);
        }
        all.push(d.copy(&all[4].slice(3..998)?)?);
        Ok(all)
    })
    .needs(&[t]);
}

fn maps<B: Target, T: Element>(c: &mut Cases<B>)
where
    T::Reg: Num + Element<Reg = T::Reg>,
{
    let t = T::DTYPE;
    for n in [0, 1, 33, 1025] {
        c.add(format!("map/narrow/{t}/n={n}"), move |d| {
            let (x, y) = (input::<B, T>(d, Fill::Bits, n, "x")?, input::<B, T>(d, Fill::Plain, n, "y")?);
            // Widened, combined and narrowed, and compared.
            d.map((&x, &y), |(x, y)| (x, (x * y - x).store_as::<T>(), x.max(y).store_as::<T>(), x.lt(y)))
        })
        .needs(&[t]);
    }
    c.add(format!("map/narrow/{t}/views"), |d| {
        let x = input::<B, T>(d, Fill::Bits, 1000, "x")?;
        let of = |start, len, stride| d.map(&x.strided(start, len, stride)?, |x| x);
        let views = vec![of(1, 99, 10)?, of(999, 1000, -1)?, of(17, 50, 0)?, of(3, 901, 1)?, of(4, 901, 1)?];
        let out = input::<B, T>(d, Fill::Plain, 1000, "out")?;
        d.map_into(&x.slice(3..500)?, |x| (x * x).store_as::<T>(), &out.slice(6..503)?)?;
        d.map_into((array(&x), &x.slice(1..300)?, index()), |(all, x, i)| (all.at(i * 3) + x).store_as::<T>(), &out.slice(601..900)?)?;
        d.map_into(&out.slice(5..12)?, |x| (x + x).store_as::<T>(), &out.slice(5..12)?)?;
        Ok((views, out))
    })
    .needs(&[t]);
}

fn casts<B: Target>(c: &mut Cases<B>) {
    c.add("map/narrow/casts", |d| {
        let (x, y) = (input::<B, f32>(d, Fill::Bits, 1003, "x")?, input::<B, i16>(d, Fill::Bits, 1003, "y")?);
        let narrowed = (d.cast::<_, i8>(&x)?, d.cast::<_, u16>(&x)?, d.cast::<_, i8>(&y)?, d.cast::<_, u8>(&y)?);
        let z = d.cast::<_, u16>(&y)?;
        Ok((narrowed, (d.cast::<_, i16>(&z)?, d.cast::<_, f32>(&y)?, d.cast::<_, f32>(&z)?), z))
    })
    .needs(&[DType::I8, DType::I16, DType::U16, DType::U8]);
}

fn reductions<B: Target, T: Element<Reg: Num>>(c: &mut Cases<B>) {
    let t = T::DTYPE;
    for n in [1, 1025] {
        c.add(format!("reduce/narrow/{t}/n={n}"), move |d| {
            let x = input::<B, T>(d, Fill::Bits, n + 2, "x")?.slice(1..n + 1)?;
            d.reduce_by(x.map(|x| (x, x)), |a, b| (a.0.min(b.0), a.1 + b.1)).finish(|v| (v.0.store_as::<T>(), v.1.store_as::<T>())).run()
        })
        .needs(&[t]);
    }
}

fn selections<B: Target, T: Element<Reg: Num>>(c: &mut Cases<B>) {
    let t = T::DTYPE;
    for n in [0, 1, 10_007] {
        c.add(format!("select/narrow/{t}/n={n}"), move |d| {
            let x = input::<B, T>(d, Fill::Bits, n + 1, "x")?.slice(1..)?;
            let (kept, count) = (input::<B, T>(d, Fill::Equal, n + 5, "kept")?, d.buffer::<u32>(1)?);
            d.select(&x, |x| x.cast::<i32>().gt(0)).write_to((&kept.slice(3..)?, &count))?;
            let (unique, found) = (input::<B, T>(d, Fill::Equal, n, "unique")?, d.buffer::<u32>(1)?);
            d.unique(&d.sort(&x).run()?).write_to((&unique, &found))?;
            Ok(((kept, count), (unique, found)))
        })
        .needs(&[t]);
    }
}

fn histograms<B: Target, T: Element + PartialOrd>(c: &mut Cases<B>, (lower, upper): (T::Reg, T::Reg))
where
    T::Reg: Sample,
{
    let t = T::DTYPE;
    for n in [1, 30_011] {
        c.add(format!("histogram/narrow/{t}/n={n}"), move |d| {
            let x = input::<B, T>(d, Fill::Bits, n + 1, "x")?.slice(1..)?;
            let of = |bins| d.histogram(even_bins(&x, lower, upper, bins)).run();
            // Some of the edges are equal: bins of no width.
            let mut edges = data::data::<T>(Fill::Bits, 40, 7);
            edges.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
            Ok((of(100)?, d.histogram(bins_between(&x, &Edges::new(d, &edges)?)).run()?))
        })
        .needs(&[t]);
    }
}

fn sorts<B: Target, K: Element>(c: &mut Cases<B>) {
    let t = K::DTYPE;
    let width = 8 * t.size_bytes() as u32;
    for n in [0, 1, 33, 4097, 30_011] {
        c.add(format!("sort/narrow/{t}/n={n}"), move |d| {
            let keys = input::<B, K>(d, Fill::Bits, n + 1, "k")?.slice(1..)?;
            let (up, down) = (d.sort(&keys).run()?, d.sort(&keys).descending().run()?);
            let places = (d.argsort(&keys).run()?, d.argsort(&keys).descending().run()?);
            let sorted = (d.is_sorted(&up).run()?, d.is_sorted(&down).run()?);
            Ok(((up, down), places, sorted))
        })
        .needs(&[t]);
    }
    c.add(format!("sort/narrow/{t}/bits"), move |d| {
        let keys = input::<B, K>(d, Fill::Bits, 5003, "k")?;
        let ranges = [(0, 0), (width / 4, 3 * width / 4), (width - 1, width), (1, width - 1)];
        let of = |(first, last): (u32, u32)| d.sort(&keys).with_indices().order(if first == 1 { DOWN } else { UP }.bits(first..last)).run();
        let all = ranges.map(of).into_iter().collect::<Result<Vec<_>>>()?;
        let (keys, places) = all.into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
        Ok((keys, places))
    })
    .needs(&[t]);
    c.add(format!("sort/narrow/{t}/forms"), move |d| {
        let (keys, out) = (input::<B, K>(d, Fill::Bits, 9000, "k")?, input::<B, K>(d, Fill::Plain, 9000, "out")?);
        d.sort(&keys.slice(3..8110)?).write_to(&out.slice(5..8112)?)?;
        let pairs = d.sort(&keys).with_values(&input::<B, f32>(d, Fill::Bits, 9000, "v")?).descending().run()?;
        let rows = (
            d.sort(&keys).axis(&[keys.len() / 45, 45], 1).run()?,
            d.argsort(&keys).axis(&[keys.len() / 4500, 4500], 1).descending().run()?,
        );
        d.sort(&keys.slice(7..6001)?).descending().in_place()?;
        Ok((out, keys, pairs, rows))
    })
    .needs(&[t]);
    // Keys that are computed, and narrowed before they are compared.
    c.add(format!("sort/narrow/{t}/from"), move |d| {
        let x = input::<B, K>(d, Fill::Bits, 5003, "x")?;
        let f = |(x, i): (Expr<K::Reg>, Expr<u32>)| (x.cast::<i32>() - i.cast::<i32>()).cast::<K::Reg>().store_as::<K>();
        let from = (&x.reversed(), index());
        Ok((d.sort(from.map(f)).run()?, d.argsort(from.map(f)).descending().run()?))
    })
    .needs(&[t]);
    for variant in [SortVariant::Bitonic, SortVariant::Sample, SortVariant::Radix] {
        c.add(format!("sort_variants/{}/narrow/{t}", variant.name()), move |d| {
            d.sort(&input::<B, K>(d, Fill::Bits, 3001, "k")?).variant(variant).run()
        })
        .needs(&[t]);
    }
}

fn first_keys<B: Target, K: Element>(c: &mut Cases<B>) {
    let t = K::DTYPE;
    c.add(format!("sort/top_k/narrow/{t}"), |d| {
        let n = 300_007;
        let keys = input::<B, K>(d, Fill::Bits, n, "k")?;
        let rows = d.top_k(&keys.slice(3..8503)?, 4).smallest().axis(&[500, 17], 1).with_indices().run()?;
        Ok((d.top_k(&keys.slice(1..)?, 999).smallest().with_indices().run()?, d.top_k(&keys, 999).with_indices().run()?, rows))
    })
    .needs(&[t]);
}

/// Indices of 8 and 16 bits, of which some name no element.
fn indices<B: Target, I: IndexElement>(c: &mut Cases<B>) {
    let t = I::DTYPE;
    c.add(format!("move/narrow_indices/{t}"), move |d| {
        let (x, at) = (input::<B, f32>(d, Fill::Plain, 100, "x")?, input::<B, I>(d, Fill::Bits, 3001, "at")?);
        let of = |n: u64| d.gather(x.slice(..n)?.map(|x: Expr<f32>| x), at.map(|i: Expr<I::Reg>| i)).run();
        let (stored, summed) = (input::<B, f32>(d, Fill::Plain, 3001, "out")?, input::<B, u32>(d, Fill::Plain, 90, "out")?);
        d.scatter_pairs((&at, index()).map(|(at, i)| (at, i.cast::<f32>()))).write_to(&stored)?;
        d.scatter_pairs((&at, index()).map(|(at, i)| (at, i))).reduce(ScatterOp::Sum).write_to(&summed)?;
        Ok((of(100)?, of(33)?, stored, summed))
    })
    .needs(&[t]);
}

fn segments<B: Target, T: Element<Reg: Num>>(c: &mut Cases<B>) {
    let t = T::DTYPE;
    c.add(format!("segmented_sort/narrow/{t}"), move |d| {
        let (x, offsets) = (input::<B, T>(d, Fill::Bits, SEGMENTED, "x")?, d.upload(&CUT)?);
        Ok((d.sort(&x).segments(&offsets).run()?, d.argsort(&x).segments(&offsets).descending().run()?))
    })
    .needs(&[t]);
    for n in [1, 1025] {
        c.add(format!("difference/narrow/{t}/{n}"), move |d| {
            let x = input::<B, T>(d, Fill::Bits, n, "x")?;
            Ok((d.adjacent_difference(&x).run()?, d.adjacent_difference(&x).right().run()?, d.adjacent(&x, Expr::max).run()?))
        })
        .needs(&[t]);
    }
}

/// Elements, and where their segments begin: inside words, some of them.
const SEGMENTED: u64 = 30_011;
const CUT: [u32; 8] = [0, 1, 1, 20, 700, 701, 9000, 30_000];

fn by_one_load<B: Target, T: Element>(c: &mut Cases<B>)
where
    T::Reg: Num + Element<Reg = T::Reg>,
{
    let t = T::DTYPE;
    for n in [1, 1025] {
        c.add(format!("scan/narrow/{t}/n={n}"), move |d| d.scan(&input::<B, T>(d, Fill::Bits, n + 3, "x")?.slice(3..n + 3)?, Max).run())
            .needs(&[t]);
    }
    c.add(format!("segmented/narrow/{t}/{SEGMENTED}"), move |d| {
        let (x, offsets) = (input::<B, T>(d, Fill::Bits, SEGMENTED, "x")?, d.upload(&CUT)?);
        d.reduce_by(&x, Expr::min).segments(&offsets).identity(T::Reg::from_bits64(7)).finish(Expr::store_as::<T>).run()
    })
    .needs(&[t]);
    c.add(format!("by_key/narrow/{t}"), move |d| {
        let (keys, x) = (input::<B, T>(d, Fill::Sorted, SEGMENTED, "k")?, input::<B, T>(d, Fill::Bits, SEGMENTED, "x")?);
        let found = d.reduce(&d.map(&x, |x| x)?, Sum).by_key(&keys).run()?;
        let within = |out: Expr<T::Reg>, i: Expr<u32>, count: Expr<u32>| select(i.lt(count), out, lit(T::Reg::from_bits64(0)));
        let keys = d.map((&found.values.0, index(), &found.count), |(k, i, count)| within(k, i, count))?;
        Ok((keys, d.map((&found.values.1, index(), &found.count), |(k, i, count)| within(k, i, count))?, found.count))
    })
    .needs(&[t]);
}

/// Elements in order.
fn sorted<B: Target, K: Element>(d: &B, n: u64, name: &str, order: SortOrder) -> Result<Buffer<B, K>> {
    let mut keys: Vec<K> = data::data(Fill::Bits, n, data::seed(name));
    let map = KeyBits::new(K::DTYPE, order);
    keys.sort_by_key(|k| map.of(bytemuck::bytes_of(k).iter().rev().fold(0, |word, &b| word << 8 | u64::from(b))));
    d.upload(&keys)
}

fn merges<B: Target, K: Element, V: Element>(c: &mut Cases<B>) {
    let (t, v) = (K::DTYPE, V::DTYPE);
    for (m, n) in [(1, 0), (33, 255), (2100, 5003)] {
        c.add(format!("merge/narrow/{t}/{m}+{n}"), move |d| {
            let of = |order| d.merge(&sorted::<B, K>(d, m, "a", order)?, &sorted(d, n, "b", order)?).order(order).run();
            let (x, needles) = (sorted::<B, K>(d, n, "b", DOWN)?, input::<B, K>(d, Fill::Bits, m, "b")?);
            let found = (d.lower_bound(&x, &needles).descending().run()?, d.count_equal(&x, &needles).descending().run()?);
            Ok((
                (of(UP)?, of(DOWN)?),
                found,
                d.co_ranks(&sorted::<B, K>(d, m, "a", DOWN)?, &x, &d.iota::<u32>(m + n + 1, 0, 1)?).descending().run()?,
            ))
        })
        .needs(&[t]);
    }
    c.add(format!("merge/narrow/{t}/{v}"), |d| {
        let (a, b) = (sorted::<B, K>(d, 5000, "a", DOWN)?, sorted::<B, K>(d, 4000, "b", DOWN)?);
        let (v, w) = (input::<B, V>(d, Fill::Bits, 5000, "v")?, input::<B, V>(d, Fill::Bits, 4000, "w")?);
        let out = (input::<B, K>(d, Fill::Plain, 9010, "k")?, input::<B, V>(d, Fill::Plain, 9010, "o")?);
        let (x, y) = ((a.slice(1..)?, v.slice(..4999)?), (b.slice(3..)?, w.slice(3..)?));
        d.merge(&x.0, &y.0).descending().with_values(&x.1, &y.1).write_to((&out.0.slice(3..)?, &out.1.slice(1..)?))?;
        // The sets of both: their sizes, and of one its elements.
        let (both, count) = (input::<B, K>(d, Fill::Equal, 5000, "both")?, d.upload(&[0u32])?);
        d.intersection(&a, &b).descending().write_to((&both, &count))?;
        Ok((out, (both, count), d.difference(&a, &b).descending().run()?.count, d.merge(&a, &b).descending().checked().run()?))
    })
    .needs(&[t, v]);
    c.add(format!("merge/from/narrow/{t}/{v}"), |d| {
        let (x, y) = (sorted::<B, K>(d, 3000, "a", DOWN)?, sorted::<B, K>(d, 1901, "b", UP)?);
        let of_a = index().map(|i: Expr<u32>| (i * 77).cast::<V::Reg>().store_as::<V>());
        let of_b = index().map(|i: Expr<u32>| i.cast::<V::Reg>().store_as::<V>());
        let keys = |x: Expr<K::Reg>| x.store_as::<K>();
        Ok((
            d.merge(x.map(keys), y.reversed().map(keys)).with_values(of_a, of_b).descending().run()?,
            d.upper_bound(x.map(keys), y.map(keys)).descending().run()?,
        ))
    })
    .needs(&[t, v]);
}

/// By an order of the caller's, which sees the values.
fn orders<B: Target, K: Element<Reg: Num>, V: Element>(c: &mut Cases<B>) {
    let (t, v) = (K::DTYPE, V::DTYPE);
    let order = |a: Expr<K::Reg>, b: Expr<K::Reg>| a.lt(b);
    for n in [1, 33, 10_007] {
        c.add(format!("sort_by/narrow/{t}/n={n}"), move |d| {
            let keys = input::<B, K>(d, Fill::Bits, n + 3, "k")?.slice(3..)?;
            Ok((d.sort(&keys).by(order).run()?, d.argsort(&keys).by(order).run()?))
        })
        .needs(&[t]);
    }
    c.add(format!("merge_by/narrow/{t}/{v}"), move |d| {
        let pairs = |n: u64, name: &str| {
            d.sort(&input::<B, K>(d, Fill::Bits, n, name)?).with_values(&input::<B, V>(d, Fill::Bits, n, name)?).by(order).run()
        };
        let (a, b) = (pairs(5001, "a")?, pairs(3007, "b")?);
        d.merge(&a.0.slice(1..)?, &b.0).by(order).with_values(&a.1.slice(1..)?, &b.1).run()
    })
    .needs(&[t, v]);
}

fn moves<B: Target, T: Element<Reg: Num>>(c: &mut Cases<B>) {
    let t = T::DTYPE;
    c.add(format!("move/narrow/{t}/indexed"), |d| {
        let x = input::<B, T>(d, Fill::Bits, 3001, "x")?;
        let at = d.generate(1003, index(), |i| (i * 2_654_435_761) % 3010)?;
        let out = input::<B, T>(d, Fill::Wide, 3001, "targets")?;
        d.scatter(&x.slice(5..1008)?, &at).write_to(&out.slice(3..)?)?;
        let computed = d.gather(x.reversed().map(|x: Expr<T::Reg>| (x + x).store_as::<T>()), at.map(|i: Expr<u32>| i)).run()?;
        Ok((d.gather(&x.slice(1..)?, &at).run()?, out, computed))
    })
    .needs(&[t]);
    c.add(format!("move/narrow/{t}/shapes"), |d| {
        let x = input::<B, T>(d, Fill::Bits, 20_000, "x")?;
        let mut outs = vec![d.reverse(&x.slice(3..4102)?).run()?, d.rotate(&x.slice(1..1026)?, -77).run()?];
        for (rows, columns) in [(1, 1), (65, 63), (96, 136)] {
            outs.push(d.transpose(&x.slice(3..3 + rows * columns)?, rows, columns).run()?);
        }
        outs.push(d.permute_axes(&x.slice(..5 * 12 * 17)?, &[5, 12, 17], &[2, 0, 1]).run()?);
        outs.push(d.to_morton(&x.slice(1..257)?, &[16, 16]).run()?);
        let pitched = input::<B, T>(d, Fill::Wide, 2000, "pitched")?;
        d.copy_2d_into((&x.slice(3..)?, 101), (&pitched.slice(1..)?, 130), 11, 99)?;
        outs.push(pitched);
        Ok(outs)
    })
    .needs(&[t]);
}

fn groups<B: Target, T: Element>(c: &mut Cases<B>) {
    let t = T::DTYPE;
    c.add(format!("groups/narrow/{t}"), |d| {
        let x = input::<B, T>(d, Fill::Bits, 3001, "x")?;
        Ok((
            d.group_shuffle(&x, 5, Shuffle::Up(1)).run()?,
            d.group_match(&x, 40).run()?,
            d.group_ballot(x.map(|x| x.cast::<i32>().lt(0)), 32).run()?,
        ))
    })
    .needs(&[t]);
}
