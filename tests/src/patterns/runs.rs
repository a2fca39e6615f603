//! P04, P05 runs of equal neighbours that are computed or counted, keys that are computed, and where the ends of segments' order are.

use super::input;
use crate::case::{Cases, Target};
use crate::data::Fill;
use isowarp::Result;
use isowarp::buffer::Buffer;
use isowarp::element::{DType, Element, Num};
use isowarp::prelude::*;

/// Nothing, one, edges of subgroups and tiles, several tiles.
const SIZES: [u64; 6] = [0, 1, 33, 2049, 8193, 30_011];
/// Counts of [`ROOM`] elements.
const COUNTS: [u64; 7] = [0, 1, 1024, 4097, 20_010, ROOM, 99_999];
const ROOM: u64 = 20_011;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for n in SIZES {
        c.add(format!("select/unique_with_from/f32/n={n}"), move |d| {
            let (x, y) = (input::<B, f32>(d, Fill::Wide, n, "x")?, input::<B, u32>(d, Fill::Plain, n, "y")?);
            let near = |a: Expr<f32>, b: Expr<f32>| (a - b).abs().lt(0.5);
            let kept = d.unique((&x, &y.reversed()).map(|(x, y)| x.floor() + (y & 3u32).cast::<f32>())).by(near).run()?;
            written(&kept.values, kept.len_blocking()?)
        });
        c.add(format!("select/unique_by_key_from/u32/n={n}"), move |d| {
            let x = input::<B, u32>(d, Fill::Plain, n, "x")?;
            let first = d.unique((&x, index()).map(|(x, i)| (x >> 30, (i, x)))).by(|a, b| a.0.eq(b.0)).run()?;
            let (count, (keys, (places, found))) = (first.len_blocking()?, first.values);
            Ok((written(&keys, count)?, written(&places, count)?, written(&found, count)?))
        });
        c.add(format!("select/non_trivial_runs/u32/n={n}"), move |d| {
            let x = input::<B, u32>(d, Fill::Plain, n, "x")?;
            pairs_written(&d.non_trivial_runs(x.map(|x| x >> 31)).run()?)
        });
        c.add(format!("select/decoded_from/n={n}"), move |d| {
            let x = input::<B, u32>(d, Fill::Plain, n, "x")?;
            let runs = d.upload_scalar((n - n / 5) as u32)?;
            let values = x.reversed().map(|x| (x, x.cast::<f32>()));
            d.run_length_decode(values, x.map(|x| x >> 29), 3 * n).length(&runs).run()
        });
        c.add(format!("segmented/by_lazy_key/f32/n={n}"), move |d| {
            let (k, x) = (input::<B, u32>(d, Fill::Plain, n, "k")?, input::<B, f32>(d, Fill::Cancel, n, "x")?);
            pairs_written(&d.reduce((&x, index()).map(|(x, i)| x * i.cast::<f32>()), Sum).by_key(k.reversed().map(|k| k >> 30)).run()?)
        });
    }
    for count in COUNTS {
        c.add(format!("select/counted/{count}"), move |d| {
            let x = first(d, count)?;
            let (kept, unique) =
                (d.select(&x.values, |x| (x & 2u32).ne(0)).length(&x.count).run()?, d.unique(&x.values).length(&x.count).run()?);
            let places = d.select(counting(ROOM), |i| (i % 3).eq(1)).length(&x.count).run()?;
            let of = |found: &Selected<B, Buffer<B, u32>>| written(&found.values, found.len_blocking()?);
            Ok((of(&kept)?, of(&unique)?, of(&places)?))
        });
        c.add(format!("select/counted_runs/{count}"), move |d| {
            let x = first(d, count)?;
            let sums = Selected { values: (x.values.clone(), input::<B, f32>(d, Fill::Cancel, ROOM, "v")?), count: x.count.clone() };
            let (lengths, sums) = (
                d.run_length_encode(&x.values).length(&x.count).run()?,
                d.reduce(&sums.values.1, Sum).by_key(&sums.values.0).length(&sums.count).run()?,
            );
            Ok((pairs_written(&lengths)?, pairs_written(&sums)?))
        });
        c.add(format!("histogram/counted/{count}"), move |d| {
            let x = first(d, count)?;
            let of = |bins| d.histogram(binned(&x.values, bins, |x| x % 5)).length(&x.count).weighted(index().map(|i| i)).run();
            Ok((d.histogram(even_bins(&x.values, 0, 4, 2)).length(&x.count).run()?, of(5)?, of(3)?))
        });
        c.add(format!("segmented/counted_extremes/f32/{count}"), move |d| {
            let x = Selected { values: input::<B, f32>(d, Fill::Bits, ROOM, "x")?, count: d.upload_scalar(count as u32)? };
            let add = |a: (Expr<f32>, Expr<u32>), b: (Expr<f32>, Expr<u32>)| (a.0.max(b.0), a.1 + b.1);
            let all = d.reduce_by(x.values.map(|x| (x, lit(1u32))), add).length(&x.count).identity((0.0f32, 0u32)).run()?;
            Ok((
                d.reduce(&x.values, Min).length(&x.count).with_index().run()?,
                d.reduce(&x.values, Max).length(&x.count).with_index().run()?,
                all,
            ))
        });
    }
    // Keys of a byte; sums of lengths beyond 32 bits.
    c.add("select/counted_runs/u8", |d| {
        let keys = d.map(&first(d, 0)?.values, Expr::store_as::<u8>)?;
        let pairs = Selected { values: (keys, input::<B, u32>(d, Fill::Plain, ROOM, "v")?), count: d.upload_scalar(15_001u32)? };
        let keys = Selected { values: pairs.values.0.clone(), count: pairs.count.clone() };
        let (lengths, unique) =
            (d.run_length_encode(&keys.values).length(&keys.count).run()?, d.unique(&keys.values).length(&keys.count).run()?);
        Ok((
            pairs_written(&lengths)?,
            written(&unique.values, unique.len_blocking()?)?,
            pairs_written(&d.reduce(&pairs.values.1, Max).by_key(&pairs.values.0).length(&pairs.count).run()?)?,
        ))
    })
    .needs(&[DType::U8]);
    c.add("select/decoded_beyond", |d| {
        let (values, lengths) = (d.upload(&[3u32, 4, 5, 6])?, d.upload(&[2, u32::MAX - 2, 1, 5])?);
        let runs = d.upload_scalar(4u32)?;
        let back = d.run_length_decode(&values, &lengths, 1000).length(&runs).run()?;
        let more = d.run_length_decode(&values, lengths.map(|x| x | 1), 1000).length(&runs).run()?;
        Ok((back, more))
    });
    extremes::<B, f32>(c);
    extremes::<B, f64>(c);
    extremes::<B, i32>(c);
    extremes::<B, u64>(c);
    neighbours(c);
    c.add("sort/top_k_pairs", |d| {
        let (keys, values) = (input::<B, f32>(d, Fill::Bits, 300_007, "k")?, input::<B, u32>(d, Fill::Plain, 300_007, "v")?);
        let few = (keys.slice(..5003)?, values.slice(..5003)?);
        Ok((d.top_k(&keys, 900).with_values(&values).run()?, d.top_k(&few.0, 5003).smallest().with_values(&few.1).run()?))
    });
    c.add("sort/top_k_rows_from", |d| {
        let x = input::<B, f32>(d, Fill::Bits, 30_000, "x")?;
        let of = |n: u64, k: u64| d.top_k((&x, &x.reversed()).map(|(x, y)| x - y), k).axis(&[30_000 / n, n], 1).with_indices().run();
        Ok((of(3, 2)?, of(10_000, 7)?, of(30_000, 30_000)?))
    });
    c.add("histogram/channels_from", |d| {
        let (x, y) = (input::<B, f32>(d, Fill::Wide, 10_007, "x")?, input::<B, u32>(d, Fill::Plain, 10_007, "y")?);
        let two = d.histogram(channels_of((&x, &y).map(|(x, y)| [x, x * (y >> 30).cast::<f32>()]), -2.0, 3.0, 100)).run()?;
        let out = d.upload(&[7u32; 11])?;
        d.histogram(channels_of(y.map(|y| [y, y >> 8, y >> 16, y >> 24]), 0, 1 << 16, 2)).write_to(&out)?;
        Ok((two, out))
    });
}

/// Few values in runs of many lengths, so many of which are counted.
fn first<B: Target>(d: &B, count: u64) -> Result<Selected<B, Buffer<B, u32>>> {
    let of = |i: Expr<u32>| ((i * 2_654_435_761) >> 29).eq(0).cast::<u32>();
    let steps = d.generate(ROOM, index(), of)?;
    let values = d.map(&d.scan(&steps, Sum).run()?, |x| x % 4)?;
    Ok(Selected { values, count: d.upload_scalar(count as u32)? })
}

/// Returns the defined part of an output.
fn written<B: Target, T: Element>(out: &Buffer<B, T>, count: u64) -> Result<Buffer<B, T>> {
    out.slice(..count)
}

fn pairs_written<B: Target, K: Element, V: Element>(
    pairs: &Selected<B, (Buffer<B, K>, Buffer<B, V>)>,
) -> Result<(Buffer<B, K>, Buffer<B, V>)> {
    let count = pairs.len_blocking()?;
    Ok((written(&pairs.values.0, count)?, written(&pairs.values.1, count)?))
}

fn extremes<B: Target, T: Element<Reg = T> + Num>(c: &mut Cases<B>) {
    let t = T::DTYPE;
    c.add(format!("segmented/extremes/{t}"), move |d| {
        let x = input::<B, T>(d, Fill::Bits, 30_011, "x")?;
        // Lengths from none to some thousands.
        let offsets = d.upload(&[0u32, 0, 1, 2, 40, 1000, 1000, 1100, 9000, 20_000, 20_033, 30_000])?;
        let by_index = d.reduce((&x, index()).map(|(_, i)| i % 1009), Max).segments(&offsets).index().run()?;
        let of = (d.reduce(&x, Min).segments(&offsets).with_index().run()?, d.reduce(&x, Max).segments(&offsets).with_index().run()?);
        Ok((of, d.reduce(&x, Min).segments(&offsets).index().run()?, by_index))
    })
    .needs(&[t]);
    c.add(format!("segmented/extremes_into/{t}"), move |d| {
        let x = input::<B, T>(d, Fill::Wide, 5003, "x")?;
        let offsets = d.upload(&[3u32, 3, 4, 1000, 5000, 5003])?;
        let (ends, places) = (input::<B, T>(d, Fill::Plain, 12, "out")?, d.upload(&[7u32; 30])?);
        let (end, place) = (|k: u64| ends.slice(6 * k..), |k: u64| places.slice(6 * k..));
        d.reduce(&x, Min).segments(&offsets).with_index().write_to((&end(0)?, &place(0)?))?;
        d.reduce(&x, Max).segments(&offsets).with_index().write_to((&end(1)?, &place(1)?))?;
        d.reduce(&x, Min).segments(&offsets).index().write_to(&place(2)?)?;
        d.reduce(&x, Max).segments(&offsets).index().write_to(&place(3)?)?;
        d.reduce((&x.reversed(), index()).map(|(_, i)| i % 997), Min).segments(&offsets).index().write_to(&place(4)?)?;
        Ok((ends, places))
    })
    .needs(&[t]);
}

fn neighbours<B: Target>(c: &mut Cases<B>) {
    for n in SIZES {
        c.add(format!("map/adjacent_right_from/f32/n={n}"), move |d| {
            let (x, y) = (input::<B, f32>(d, Fill::Bits, n, "x")?, input::<B, f32>(d, Fill::Wide, n, "y")?);
            d.adjacent((&x, &y.reversed(), index()).map(|(x, y, i)| x * y + i.cast::<f32>()), |x, behind| behind - x).right().run()
        });
    }
}
