//! The first keys of a sort: every type, order and form, and what misleads a sample.

use super::{ABOVE_BINDING, FOLDED, input};
use crate::case::{Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::element::{DType, Element};
use isowarp::prelude::*;

/// Enough keys that the first of them are looked for, where they are not more than an eighth.
const MANY: u64 = 300_007;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    // A kernel for each step and width: too many to compile in the quick run's minute.
    c.quick(false);
    types::<B, u8>(c);
    types::<B, f16>(c);
    types::<B, u32>(c);
    types::<B, i32>(c);
    types::<B, f32>(c);
    types::<B, u64>(c);
    types::<B, i64>(c);
    types::<B, f64>(c);
    ties(c);
    forms(c);
    large(c);
    rows::<B, u8>(c);
    rows::<B, f16>(c);
    rows::<B, f32>(c);
    rows::<B, u64>(c);
    shapes(c);
}

/// Many short rows, which are sorted together, and some that are sorted by themselves.
fn rows<B: Target, K: Element>(c: &mut Cases<B>) {
    let t = K::DTYPE;
    for (rows, n, k) in [(1100, 17, 4), (9, 500, 20)] {
        c.add(format!("sort/top_k_rows/{t}/{rows}x{n}/k={k}"), move |d| {
            let keys = input::<B, K>(d, Fill::Bits, rows * n, "k")?;
            Ok((
                d.top_k(&keys, k).smallest().axis(&[keys.len() / n, n], 1).with_indices().run()?,
                d.top_k(&keys, k).axis(&[keys.len() / n, n], 1).with_indices().run()?,
                d.top_k(&keys, k).bits(1..7).axis(&[keys.len() / n, n], 1).run()?,
            ))
        })
        .needs(&[t]);
    }
}

/// Rows of nothing, of one key, of all keys; around tiles; long ones, which are searched; and into the middle of buffers.
fn shapes<B: Target>(c: &mut Cases<B>) {
    for (rows, n, k) in [(0, 5, 2), (40, 100, 0), (7, 1, 1), (3, 8833, 8833), (5, 3841, 100), (1024, 1023, 5), (1, MANY, 10), (2, MANY, 9)]
    {
        c.add(format!("sort/top_k_rows/u32/{rows}x{n}/k={k}"), move |d| {
            // Few values, so that many are equal.
            let keys = d.map(&input::<B, u32>(d, Fill::Plain, rows * n, "k")?, |x| (x >> 7) % 1000)?;
            Ok((
                d.top_k(&keys, k).axis(&[keys.len() / n, n], 1).with_indices().run()?,
                d.top_k(&keys, k).smallest().axis(&[keys.len() / n, n], 1).run()?,
            ))
        });
    }
    let n = 1 << 22;
    c.add(format!("sort/top_k_rows/u32/2x{n}/k=77"), move |d| {
        let keys = d.generate(2 * n, index(), |i| (i * 2_654_435_761) ^ (i >> 7))?;
        d.top_k(&keys, 77).smallest().axis(&[keys.len() / n, n], 1).with_indices().run()
    })
    .bytes(8 * n);
    for (rows, n) in [(1030, 30), (6, 700)] {
        c.add(format!("sort/top_k_rows/i32/{rows}x{n}/slices"), move |d| {
            let keys = input::<B, i32>(d, Fill::Bits, rows * n + 5, "k")?.slice(3..rows * n + 3)?;
            let (first, alone) = (input::<B, i32>(d, Fill::Plain, rows * 9 + 9, "f")?, input::<B, i32>(d, Fill::Plain, rows * 9 + 9, "a")?);
            let places = d.iota::<u32>(rows * 9 + 9, 0, 1)?;
            d.top_k(&keys, 9)
                .smallest()
                .axis(&[keys.len() / n, n], 1)
                .with_indices()
                .write_to((&first.slice(5..)?, &places.slice(1..)?))?;
            d.top_k(&keys, 9).axis(&[keys.len() / n, n], 1).write_to(&alone.slice(7..)?)?;
            Ok((first, places, alone))
        });
    }
}

fn types<B: Target, K: Element>(c: &mut Cases<B>) {
    let t = K::DTYPE;
    // Data that mislead a sample are the same for all; types differ in how their bits are read.
    let all = [Fill::Plain, Fill::Bits, Fill::Wide, Fill::Equal, Fill::Sorted];
    let fills = if [DType::U8, DType::F32, DType::I64].contains(&t) { &all[..] } else { &[Fill::Bits] };
    for &fill in fills {
        for k in [1, 1000, MANY / 8] {
            c.add(format!("sort/top_k/{t}/{}/k={k}", fill.name()), move |d| {
                let keys = input::<B, K>(d, fill, MANY, "k")?;
                Ok((d.top_k(&keys, k).smallest().with_indices().run()?, d.top_k(&keys, k).with_indices().run()?))
            })
            .needs(&[t]);
        }
    }
    // Around where all are sorted, and all of them.
    for (n, k) in [(0, 0), (1, 0), (1, 1), (1000, 10), (1 << 18, 5), ((1 << 18) - 1, 5), (MANY, MANY / 8 + 1), (MANY, MANY)] {
        c.add(format!("sort/top_k/{t}/n={n}/k={k}"), move |d| {
            let keys = input::<B, K>(d, Fill::Bits, n, "k")?;
            Ok((d.top_k(&keys, k).with_indices().run()?, d.top_k(&keys, k).smallest().run()?))
        })
        .needs(&[t]);
    }
    let width = 8 * t.size_bytes() as u32;
    for (first, last) in [(0, 0), (0, width / 4), (width / 4, 3 * width / 4), (width - 1, width), (1, width - 1)] {
        c.add(format!("sort/top_k/{t}/bits/{first}..{last}"), move |d| {
            let keys = input::<B, K>(d, Fill::Bits, MANY, "k")?;
            Ok((
                d.top_k(&keys, 777).smallest().bits(first..last).with_indices().run()?,
                d.top_k(&keys, 777).bits(first..last).with_indices().run()?,
            ))
        })
        .needs(&[t]);
    }
    c.add(format!("sort/top_k/{t}/slices"), move |d| {
        let (keys, out) = (input::<B, K>(d, Fill::Bits, MANY, "k")?, input::<B, K>(d, Fill::Plain, 600, "out")?);
        let places = d.iota::<u32>(600, 0, 1)?;
        d.top_k(&keys.slice(3..MANY - 2)?, 501).with_indices().write_to((&out.slice(5..590)?, &places.slice(1..)?))?;
        let first = input::<B, K>(d, Fill::Plain, 600, "first")?;
        d.top_k(&keys.slice(1..)?, 333).smallest().write_to(&first.slice(7..)?)?;
        Ok((out, places, first))
    })
    .needs(&[t]);
}

/// Keys of few values, in turns and in runs; and keys of which the first lie together, where a sample does not see them.
fn ties<B: Target>(c: &mut Cases<B>) {
    for k in [10, 5000] {
        for values in [2, 3, 1000] {
            c.add(format!("sort/top_k/values={values}/k={k}"), move |d| {
                let keys = d.generate(MANY, (index(), scalar(values)), |(i, values)| ((i * 2_654_435_761) >> 8) % values)?;
                Ok((d.top_k(&keys, k).smallest().with_indices().run()?, d.top_k(&keys, k).with_indices().run()?))
            });
        }
        c.add(format!("sort/top_k/runs/k={k}"), move |d| {
            let keys = d.generate(MANY, index(), |i| (i / 700).cast::<f32>())?;
            Ok((d.top_k(&keys, k).smallest().with_indices().run()?, d.top_k(&keys, k).with_indices().run()?))
        });
        c.add(format!("sort/top_k/together/k={k}"), move |d| {
            let keys = d.generate(MANY, index(), |i| isowarp::ir::select(i.lt(4000), i ^ 0x155, u32::MAX))?;
            Ok((d.top_k(&keys, k).smallest().with_indices().run()?, d.top_k(&keys, k).with_indices().run()?))
        });
    }
}

fn forms<B: Target>(c: &mut Cases<B>) {
    c.add("sort/top_k/more_than_there_are", |d| d.top_k(&input::<B, f32>(d, Fill::Plain, 100, "k")?, 101).smallest().with_indices().run())
        .refused();
    c.add("sort/top_k/forms", |d| {
        let keys = input::<B, f32>(d, Fill::Bits, MANY, "k")?;
        let (first, places, alone) = (d.buffer(99)?, d.buffer(99)?, d.buffer(99)?);
        d.top_k(&keys, 99).with_indices().write_to((&first, &places))?;
        d.top_k(&keys, 99).write_to(&alone)?;
        Ok(((first, places), (alone, d.top_k(&keys, 99).run()?), d.top_k(&keys, 99).with_indices().run()?))
    });
}

fn large<B: Target>(c: &mut Cases<B>) {
    for n in [(1 << 20) + 1, FOLDED, ABOVE_BINDING] {
        c.add(format!("sort/top_k/large/u32/n={n}"), move |d| {
            let keys = d.generate(n, index(), |i| (i * 2_654_435_761) ^ (i >> 7))?;
            Ok((d.top_k(&keys, 1000).smallest().with_indices().run()?, d.top_k(&keys, 1000).bits(4..20).with_indices().run()?))
        })
        .bytes(4 * n);
    }
    let n = (1 << 21) + 3;
    c.add(format!("sort/top_k/large/u64/n={n}"), move |d| {
        let keys = d.generate(n, index(), |i| i.cast::<u64>() * 0x9E37_79B9_7F4A_7C15)?;
        d.top_k(&keys, n / 9).smallest().with_indices().run()
    })
    .needs(&[DType::U64]);
}
