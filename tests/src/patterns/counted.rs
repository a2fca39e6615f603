//! P04, P05 patterns over as many elements as the device has counted: counts around everything that sorts and reductions are cut by, none and too many
//! among them, and chains behind a selection.

use super::input;
use crate::case::{Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::Result;
use isowarp::buffer::Buffer;
use isowarp::element::{DType, Element};
use isowarp::prelude::*;

/// Counts of [`N`] elements.
const COUNTS: [u64; 14] = [0, 1, 2, 767, 769, 1023, 1025, 3073, 3841, 8832, 8833, 17_665, N, 99_999];
const N: u64 = 20_011;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for count in COUNTS {
        c.add(format!("segmented_sort/counted/u32/{count}"), move |d| {
            let (x, by) = (first::<B, u32>(d, Fill::Plain, count)?, SortOrder::Ascending);
            Ok((
                within(&d.sort(&x.values).length(&x.count).order(by).run()?.values, count)?,
                within(&d.argsort(&x.values).length(&x.count).order(by).run()?.values, count)?,
            ))
        });
        c.add(format!("segmented/counted/f32/{count}"), move |d| {
            let x = first::<B, f32>(d, Fill::Cancel, count)?;
            let max = d.reduce((&x.values, index()).map(|(x, i)| x.abs() + i.cast::<f32>()), Max).length(&x.count).run()?;
            Ok((d.reduce(&x.values, Sum).length(&x.count).run()?, max))
        });
    }
    of::<B, u8>(c);
    of::<B, f16>(c);
    of::<B, f32>(c);
    of::<B, i64>(c);
    of::<B, f64>(c);
    pairs::<B, u8>(c);
    pairs::<B, i32>(c);
    pairs::<B, f64>(c);
    c.add("segmented_sort/counted/bits".to_owned(), move |d| {
        let x = first::<B, u32>(d, Fill::Bits, 9001)?;
        within(&d.sort(&x.values).length(&x.count).descending().bits(7..19).run()?.values, 9001)
    });
    c.add("segmented/counted/wide".to_owned(), move |d| {
        let (x, count) = (input::<B, u32>(d, Fill::Plain, N, "x")?, d.upload_scalar(1u64 << 40)?);
        d.reduce(&x, Sum).length(&count).run()
    })
    .needs(&[DType::U64]);
    // Most of the room, and little of it.
    for (name, most) in [("most", 0xf000_0000u32), ("few", 0x0100_0000)] {
        c.add(format!("segmented_sort/counted/chain/{name}"), move |d| {
            let x = input::<B, u32>(d, Fill::Plain, 100_003, "x")?;
            let kept = d.select(&x, |x| x.lt(most)).run()?;
            let sorted = d.sort(&kept.values).length(&kept.count).descending().run()?;
            let sum = d.reduce(&sorted.values, Sum).length(&sorted.count).run()?;
            let runs = d.unique((&sorted.values, index(), &sorted.count).map(|(x, i, n)| i.lt(n).select(x >> 20, u32::MAX))).run()?;
            let n = kept.len_blocking()?;
            Ok((sorted.values.slice(..n)?, sum, runs.count))
        });
    }
}

/// So many elements, of an array of others.
fn first<B: Target, T: Element>(d: &B, fill: Fill, count: u64) -> Result<Selected<B, Buffer<B, T>>> {
    Ok(Selected { values: input::<B, T>(d, fill, N, "x")?, count: d.upload_scalar(count as u32)? })
}

/// Returns the defined part of an output.
fn within<B: Target, T: Element>(out: &Buffer<B, T>, count: u64) -> Result<Buffer<B, T>> {
    out.slice(..count.min(out.len()))
}

fn of<B: Target, K: Element>(c: &mut Cases<B>) {
    let t = K::DTYPE;
    c.add(format!("segmented_sort/counted/{t}"), move |d| {
        let of = |count: u64, by: SortOrder| {
            within(
                &d.sort(&first::<B, K>(d, Fill::Bits, count)?.values)
                    .length(&first::<B, K>(d, Fill::Bits, count)?.count)
                    .order(by)
                    .run()?
                    .values,
                count,
            )
        };
        Ok((of(700, SortOrder::Ascending)?, of(5003, SortOrder::Descending)?, of(18_005, SortOrder::Ascending)?))
    })
    .needs(&[t]);
}

fn pairs<B: Target, V: Element>(c: &mut Cases<B>) {
    let t = V::DTYPE;
    c.add(format!("segmented_sort/counted/pairs/{t}"), move |d| {
        let keys = d.map(&input::<B, u32>(d, Fill::Plain, N, "x")?, |x| (x >> 9) % 700)?;
        let pairs = Selected { values: (keys, input::<B, V>(d, Fill::Bits, N, "v")?), count: d.upload_scalar(15_000u32)? };
        let sorted = d.sort(&pairs.values.0).with_values(&pairs.values.1).length(&pairs.count).run()?.values;
        Ok((within(&sorted.0, 15_000)?, within(&sorted.1, 15_000)?))
    })
    .needs(&[t]);
}
