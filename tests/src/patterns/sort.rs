//! Sorts: every type, order and form, and what shows stability.

use super::{ABOVE_BINDING, FOLDED, input};
use crate::case::{Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::element::{DType, Element};
use isowarp::patterns::sort::Payload;
use isowarp::prelude::*;

/// Around subgroups, workgroups, and the tiles of every backend.
const SIZES: [u64; 33] = [
    0, 1, 2, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 2047, 2048, 2049, 3839, 3840, 3841, 4223, 4224, 4225, 5887, 5888, 5889, 7295,
    7296, 7297, 8192, 8193, 8447, 8448, 8449, 100_003,
];
const FEW: [u64; 4] = [1, 33, 4097, 30_011];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for n in SIZES {
        c.add(format!("sort/keys/u32/plain/n={n}"), move |d| d.sort(&input::<B, u32>(d, Fill::Plain, n, "k")?).run());
        c.add(format!("sort/keys/f32/bits/n={n}"), move |d| d.sort(&input::<B, f32>(d, Fill::Bits, n, "k")?).descending().run());
        c.add(format!("sort/argsort/u32/few_values/n={n}"), move |d| d.argsort(&few(d, n)?).descending().run()).full();
    }
    // Kernels for each width of key and payload: too many to compile in the quick run's minute.
    c.quick(false);
    types::<B, u8>(c);
    types::<B, f16>(c);
    types::<B, u32>(c);
    types::<B, i32>(c);
    types::<B, f32>(c);
    types::<B, u64>(c);
    types::<B, i64>(c);
    types::<B, f64>(c);
    shapes(c);
    payloads::<B, f32>(c);
    payloads::<B, i32>(c);
    payloads::<B, u64>(c);
    payloads::<B, f64>(c);
    forms(c);
    rows(c);
    large(c);
}

/// Keys of three values.
fn few<B: Target>(d: &B, n: u64) -> isowarp::Result<Buffer<B, u32>> {
    d.map(&input::<B, u32>(d, Fill::Plain, n, "few")?, |k| (k >> 7) % 3)
}

fn types<B: Target, K: Element>(c: &mut Cases<B>) {
    let t = K::DTYPE;
    let width = 8 * t.size_bytes() as u32;
    for fill in [Fill::Plain, Fill::Bits, Fill::Wide, Fill::Equal, Fill::Sorted] {
        for n in FEW {
            let name = fill.name();
            c.add(format!("sort/keys_up_and_down/{t}/{name}/n={n}"), move |d| {
                let keys = input::<B, K>(d, fill, n, "k")?;
                Ok((d.sort(&keys).run()?, d.sort(&keys).descending().run()?))
            })
            .needs(&[t]);
            c.add(format!("sort/argsort_up_and_down/{t}/{name}/n={n}"), move |d| {
                let keys = input::<B, K>(d, fill, n, "k")?;
                Ok((d.argsort(&keys).run()?, d.argsort(&keys).descending().run()?))
            })
            .needs(&[t]);
        }
    }
    let quarter = width / 4;
    for (first, last) in [(0, 0), (0, quarter), (quarter, 3 * quarter), (width - 1, width), (1, width - 1), (0, width)] {
        c.add(format!("sort/bits/{t}/{first}..{last}"), move |d| {
            let keys = input::<B, K>(d, Fill::Bits, 5003, "k")?;
            let bits = first..last;
            Ok((d.sort(&keys).with_indices().bits(bits.clone()).run()?, d.sort(&keys).with_indices().descending().bits(bits).run()?))
        })
        .needs(&[t]);
    }
    let sizes = if [DType::U8, DType::F32, DType::I64].contains(&t) { &[0, 1, 2, 9001][..] } else { &[9001] };
    for &n in sizes {
        c.add(format!("sort/is_sorted/{t}/n={n}"), move |d| {
            let keys = input::<B, K>(d, Fill::Bits, n, "k")?;
            let sorted = d.sort(&keys).run()?;
            Ok((
                (d.is_sorted(&keys).run()?, d.is_sorted(&sorted).run()?),
                (d.is_sorted(&sorted).descending().run()?, d.is_sorted(&d.sort(&keys).descending().run()?).descending().run()?),
            ))
        })
        .needs(if t.size_bytes() < 4 { &[DType::U8] } else { &[] })
        .needs(&[t]);
    }
    c.add(format!("sort/slices/{t}"), move |d| {
        let (keys, out) = (input::<B, K>(d, Fill::Bits, 9000, "k")?, input::<B, K>(d, Fill::Plain, 9000, "out")?);
        d.sort(&keys.slice(3..8110)?).write_to(&out.slice(5..8112)?)?;
        d.sort(&keys.slice(7..6001)?).descending().in_place()?;
        Ok((out, keys))
    })
    .needs(&[t]);
}

fn shapes<B: Target>(c: &mut Cases<B>) {
    for n in [257, 20_011] {
        c.add(format!("sort/reversed/n={n}"), move |d| {
            let keys = d.generate(n, (index(), scalar(n as u32)), |(i, n)| n - i)?;
            d.sort(&keys).with_indices().run()
        });
        // Every digit but one is the same everywhere, each in turn.
        for shift in [0, 8, 16, 24] {
            c.add(format!("sort/one_digit/{shift}/n={n}"), move |d| {
                let keys = d.generate(n, index(), |i| (((i * 2_654_435_761) >> 24) << shift) | (!(255u32 << shift) & 0x5a5a_5a5a))?;
                d.sort(&keys).with_indices().run()
            });
        }
    }
    // The textbook's sixteen keys of four bits.
    c.add("sort/sixteen_keys", |d| {
        let keys = d.upload(&[12u32, 3, 6, 9, 15, 8, 5, 10, 9, 6, 11, 13, 4, 10, 7, 0])?;
        Ok((d.sort(&keys).with_indices().bits(0..1).run()?, d.sort(&keys).with_indices().bits(0..4).run()?))
    });
}

fn payloads<B: Target, V: Payload>(c: &mut Cases<B>) {
    let t = V::DTYPE;
    for n in FEW {
        c.add(format!("sort/pairs/few_values/{t}/n={n}"), move |d| {
            d.sort(&few(d, n)?).with_values(&input::<B, V>(d, Fill::Bits, n, "v")?).run()
        })
        .needs(&[t]);
        c.add(format!("sort/pairs/f32/{t}/n={n}"), move |d| {
            d.sort(&input::<B, f32>(d, Fill::Bits, n, "k")?).with_values(&input::<B, V>(d, Fill::Bits, n, "v")?).descending().run()
        })
        .needs(&[t]);
        c.add(format!("sort/pairs/u8/{t}/n={n}"), move |d| {
            d.sort(&input::<B, u8>(d, Fill::Plain, n, "k")?).with_values(&input::<B, V>(d, Fill::Bits, n, "v")?).run()
        })
        .needs(&[t, DType::U8]);
        c.add(format!("sort/pairs/u64/{t}/n={n}"), move |d| {
            d.sort(&input::<B, u64>(d, Fill::Wide, n, "k")?).with_values(&input::<B, V>(d, Fill::Bits, n, "v")?).run()
        })
        .needs(&[t, DType::U64]);
    }
}

fn forms<B: Target>(c: &mut Cases<B>) {
    // One to four passes, so that results come to lie in either buffer of the two.
    for bits in [5, 13, 24, 32] {
        let by = move || SortOrder::Ascending.bits(0..bits);
        c.add(format!("sort/in_place/{bits}"), move |d| {
            let keys = input::<B, u32>(d, Fill::Plain, 10_007, "k")?;
            d.sort(&keys).order(by()).in_place()?;
            let (k, v) = (input::<B, u32>(d, Fill::Plain, 10_007, "k")?, d.generate(10_007, index(), |i| i * 3)?);
            d.sort(&k).with_values(&v).order(by()).in_place()?;
            Ok((keys, (k, v)))
        });
        c.add(format!("sort/lent/{bits}"), move |d| {
            let n = 10_007;
            let (k, v) = (input::<B, u32>(d, Fill::Plain, n, "k")?, d.generate(n, index(), |i| i * 3)?);
            let (lent_k, lent_v, out_k, out_v) = (d.buffer(n)?, d.buffer(n)?, d.buffer(n)?, d.buffer(n)?);
            d.sort(&k).with_values(&v).order(by()).scratch((&lent_k, &lent_v)).write_to((&out_k, &out_v))?;
            let out = d.buffer(n)?;
            d.sort(&k).order(by()).scratch(&lent_k).write_to(&out)?;
            Ok((out, (out_k, out_v), (k, v)))
        });
    }
    // A pass more than a byte has digits.
    c.add("sort/in_place/bytes", |d| {
        let keys = input::<B, u8>(d, Fill::Bits, 50_011, "k")?;
        d.sort(&keys).in_place()?;
        let halves = input::<B, f16>(d, Fill::Bits, 50_011, "k")?;
        d.sort(&halves).descending().in_place()?;
        Ok((keys, halves))
    })
    .needs(&[DType::F16]);
    c.add("sort/in_place/pairs_of_bytes", |d| {
        let n = 50_011;
        let (bytes, halves) = (input::<B, u8>(d, Fill::Plain, n, "k")?, input::<B, f16>(d, Fill::Bits, n, "k")?);
        let (v, w) = (d.iota(n, 0u32, 3)?, input::<B, f32>(d, Fill::Bits, n, "v")?);
        d.sort(&bytes).with_values(&v).descending().in_place()?;
        d.sort(&halves).with_values(&w).in_place()?;
        Ok(((bytes, v), (halves, w)))
    })
    .needs(&[DType::U8, DType::F16]);
    c.add("sort/top_k", |d| {
        let keys = input::<B, f32>(d, Fill::Wide, 20_000, "k")?;
        Ok((d.top_k(&keys, 10).with_indices().run()?, d.top_k(&keys, 20_000).smallest().with_indices().run()?))
    });
}

fn rows<B: Target>(c: &mut Cases<B>) {
    for (rows, n) in [(1, 5), (7, 1), (300, 3), (40, 257), (5, 4097), (3, 20_001)] {
        c.add(format!("sort/rows/f32/{rows}x{n}"), move |d| {
            let keys = input::<B, f32>(d, Fill::Bits, rows * n, "k")?;
            Ok((d.sort(&keys).axis(&[keys.len() / n, n], 1).run()?, d.argsort(&keys).axis(&[keys.len() / n, n], 1).descending().run()?))
        });
        c.add(format!("sort/rows/u8/{rows}x{n}"), move |d| {
            let keys = input::<B, u8>(d, Fill::Plain, rows * n, "k")?;
            Ok((d.sort(&keys).axis(&[keys.len() / n, n], 1).descending().run()?, d.argsort(&keys).axis(&[keys.len() / n, n], 1).run()?))
        })
        .needs(&[DType::U8]);
    }
}

fn large<B: Target>(c: &mut Cases<B>) {
    for n in [(1 << 20) + 1, FOLDED, ABOVE_BINDING] {
        c.add(format!("sort/large/u32/n={n}"), move |d| {
            let keys = d.generate(n, index(), |i| i * 2_654_435_761)?;
            let out = d.sort(&keys).descending().bits(0..12).run()?;
            let digest = d.reduce((&out, index()).map(|(x, i)| x * (i | 1)), Sum).run()?;
            Ok((out.slice(n - 1000..)?, digest))
        })
        .bytes(4 * n)
        .full();
    }
    let n = (1 << 20) + 1;
    c.add(format!("sort/large_argsort/f32/n={n}"), move |d| {
        let keys = d.generate(n, index(), |i| ((i * 2_654_435_761) >> 12).bitcast::<i32>().cast::<f32>())?;
        let out = d.argsort(&keys).run()?;
        let digest = d.reduce((&out, index()).map(|(x, i)| x * (i | 1)), Sum).run()?;
        Ok((out.slice(n - 1000..)?, digest))
    })
    .full();
}
