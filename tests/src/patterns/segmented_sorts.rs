//! P05 sorts of segments: lengths at the edges of what a thread, a block and a tile of every backend take.

use super::input;
use super::segments::{CUTS, Cut};
use crate::case::{Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::element::{DType, Element};
use isowarp::prelude::*;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for (cut, name) in CUTS {
        for n in [0, 1, 257, 4097, 30_011] {
            c.add(format!("segmented_sort/keys/u32/{name}/{n}"), move |d| {
                let (x, offsets) = (input::<B, u32>(d, Fill::Plain, n, "x")?, cut.upload(d, n)?);
                let of = |order| d.sort(&x).segments(&offsets).order(order).run();
                Ok((of(SortOrder::Ascending)?, of(SortOrder::Descending)?))
            });
        }
        c.add(format!("segmented_sort/stable/{name}"), move |d| {
            let n = 20_011;
            let keys = d.map(&input::<B, u32>(d, Fill::Plain, n, "x")?, |x| (x >> 9) % 5)?;
            let (values, offsets) = (input::<B, u8>(d, Fill::Plain, n, "v")?, cut.upload(d, n)?);
            let (k, v) = d.sort(&keys).with_values(&values).segments(&offsets).descending().run()?;
            Ok((k, v, d.argsort(&keys).segments(&offsets).run()?))
        })
        .needs(&[DType::U8]);
    }
    fn of<B: Target, K: Element>(c: &mut Cases<B>) {
        let t = K::DTYPE;
        c.add(format!("segmented_sort/types/{t}"), move |d| {
            let (x, offsets) = (input::<B, K>(d, Fill::Bits, 9001, "x")?, Cut::Mixed.upload(d, 9001)?);
            let of = |order| d.sort(&x).segments(&offsets).order(order).run();
            Ok((of(SortOrder::Ascending)?, of(SortOrder::Descending)?))
        })
        .needs(&[t]);
    }
    of::<B, u8>(c);
    of::<B, f16>(c);
    of::<B, u32>(c);
    of::<B, i32>(c);
    of::<B, f32>(c);
    of::<B, u64>(c);
    of::<B, i64>(c);
    of::<B, f64>(c);
    long_sorts(c);
    sorts_of_one_tile(c);
}

/// Lengths of segments where the number of a thread's keys changes, and where there is a tile more.
const LENGTHS: [u64; 14] = [1024, 1025, 2688, 2689, 4224, 4225, 5760, 5761, 7296, 7297, 8448, 8449, 8832, 8833];

/// Offsets of segments of these lengths, one after the other from `first` on, as far as there are `n` elements.
fn of_lengths(lengths: impl IntoIterator<Item = u64>, first: u64, n: u64) -> Vec<u32> {
    let ends = lengths.into_iter().scan(first, |at, length| {
        *at += length;
        (*at <= n).then_some(*at as u32)
    });
    core::iter::once(first as u32).chain(ends).collect()
}

/// Segments that are sorted by a block each, digit by digit, in arrays of few elements and of many; and offsets that stand for bounds.
fn sorts_of_one_tile<B: Target>(c: &mut Cases<B>) {
    fn of<B: Target, K: Element>(c: &mut Cases<B>) {
        let t = K::DTYPE;
        c.add(format!("segmented_sort/lengths/{t}"), move |d| {
            let (n, offsets) = (80_021, d.upload(&of_lengths(LENGTHS, 11, 80_021))?);
            let x = input::<B, K>(d, Fill::Bits, n, "x")?;
            let some_bits = d.sort(&x).segments(&offsets).bits(1..7).run()?;
            Ok((d.sort(&x).segments(&offsets).descending().run()?, d.argsort(&x).segments(&offsets).run()?, some_bits))
        })
        .needs(&[t]);
    }
    of::<B, u8>(c);
    of::<B, f16>(c);
    of::<B, u32>(c);
    of::<B, f64>(c);
    c.add("segmented_sort/lengths/pairs".to_owned(), move |d| {
        let (n, offsets) = (80_021, d.upload(&of_lengths(LENGTHS, 11, 80_021))?);
        let keys = d.map(&input::<B, u32>(d, Fill::Plain, n, "x")?, |x| (x >> 9) % 700)?;
        d.sort(&keys).with_values(&input::<B, f32>(d, Fill::Bits, n, "v")?).segments(&offsets).run()
    });
    c.add("segmented_sort/lengths/of_many".to_owned(), move |d| {
        let n = (1 << 20) + 4099;
        let lengths = [1, 40, 1025, 2689, 0, 5000, 7000, 8833, 20_011, 3];
        let (x, offsets) = (input::<B, u32>(d, Fill::Plain, n, "x")?, d.upload(&of_lengths(lengths.into_iter().cycle(), 77, n))?);
        Ok((d.sort(&x).segments(&offsets).run()?, d.argsort(&x).segments(&offsets).descending().run()?))
    });
    let wrong = [5, 3000, 2000, 2999, 3001, 9000, 9000, 40_000, 7, 1 << 40];
    c.add("segmented_sort/wrong_offsets/u32".to_owned(), move |d| {
        let (x, offsets) = (input::<B, u32>(d, Fill::Plain, 20_011, "x")?, d.upload(&wrong.map(|o: u64| o.min(u32::MAX.into()) as u32))?);
        Ok((d.sort(&x).segments(&offsets).run()?, d.argsort(&x).segments(&offsets).descending().run()?))
    });
    c.add("segmented_sort/wrong_offsets/u64".to_owned(), move |d| {
        let (x, offsets) = (input::<B, u32>(d, Fill::Plain, 20_011, "x")?, d.upload(&wrong)?);
        Ok((d.sort(&x).segments(&offsets).run()?, d.argsort(&x).segments(&offsets).descending().run()?))
    })
    .needs(&[DType::U64]);
}

/// Segments that are sorted tile by tile.
fn long_sorts<B: Target>(c: &mut Cases<B>) {
    fn of<B: Target, K: Element>(c: &mut Cases<B>) {
        let t = K::DTYPE;
        c.add(format!("segmented_sort/long/{t}"), move |d| {
            let (x, offsets) = (input::<B, K>(d, Fill::Bits, 51_007, "x")?, Cut::Long.upload(d, 51_007)?);
            Ok((d.sort(&x).segments(&offsets).descending().run()?, d.argsort(&x).segments(&offsets).run()?))
        })
        .needs(&[t]);
    }
    fn pairs<B: Target, V: Element>(c: &mut Cases<B>) {
        let t = V::DTYPE;
        c.add(format!("segmented_sort/long/pairs/{t}"), move |d| {
            let n = 40_009;
            let keys = d.map(&input::<B, u32>(d, Fill::Plain, n, "x")?, |x| (x >> 9) % 700)?;
            let (values, offsets) = (input::<B, V>(d, Fill::Bits, n, "v")?, Cut::Long.upload(d, n)?);
            d.sort(&keys).with_values(&values).segments(&offsets).run()
        })
        .needs(&[t]);
    }
    for n in [25_000, 200_003] {
        c.add(format!("segmented_sort/long/u32/{n}"), move |d| {
            d.sort(&input::<B, u32>(d, Fill::Plain, n, "x")?).segments(&Cut::Long.upload(d, n)?).run()
        });
    }
    c.add("segmented_sort/long/bits".to_owned(), move |d| {
        let (x, offsets) = (input::<B, i32>(d, Fill::Bits, 30_011, "x")?, Cut::Long.upload(d, 30_011)?);
        let of = |bits: core::ops::Range<u32>| d.sort(&x).segments(&offsets).bits(bits).run();
        Ok((of(5..18)?, of(7..7)?))
    });
    of::<B, u8>(c);
    of::<B, f16>(c);
    of::<B, f32>(c);
    of::<B, i64>(c);
    of::<B, f64>(c);
    pairs::<B, u8>(c);
    pairs::<B, i32>(c);
    pairs::<B, f64>(c);
}
