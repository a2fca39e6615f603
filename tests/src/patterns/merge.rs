//! P08 merge: every type, order and payload around the tiles of every backend; searches; co-ranks.

use super::{ABOVE_BINDING, FOLDED, input};
use crate::case::{Cases, Target};
use crate::data::{self, Fill};
use half::f16;
use isowarp::Result;
use isowarp::element::{DType, Element};
use isowarp::patterns::KeyBits;
use isowarp::prelude::*;

/// Lengths of both arrays: nothing, unequal ones, and totals around tiles (1792, 2304, 3328, 3840 and 4352 elements).
const SIZES: [(u64, u64); 26] = [
    (0, 0),
    (0, 1),
    (1, 0),
    (1, 1),
    (5, 4),
    (31, 33),
    (255, 1),
    (256, 257),
    (1790, 1),
    (1792, 0),
    (900, 893),
    (2303, 1),
    (0, 2305),
    (1700, 1628),
    (3328, 1),
    (1, 3838),
    (1920, 1920),
    (3000, 841),
    (4351, 0),
    (4000, 352),
    (353, 4000),
    (7000, 681),
    (9, 30_011),
    (30_011, 9),
    (50_000, 50_003),
    (7, 120_000),
];
const FEW: [(u64, u64); 4] = [(1, 0), (20, 13), (2100, 1999), (300, 20_011)];
const UP: SortOrder = SortOrder::Ascending;
const DOWN: SortOrder = SortOrder::Descending;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for (m, n) in SIZES {
        c.add(format!("merge/keys/u32/plain/{m}+{n}"), move |d| {
            d.merge(&sorted::<B, u32>(d, Fill::Plain, m, "a", UP)?, &sorted(d, Fill::Plain, n, "b", UP)?).run()
        });
        c.add(format!("merge/keys/f32/bits/{m}+{n}"), move |d| {
            d.merge(&sorted::<B, f32>(d, Fill::Bits, m, "a", DOWN)?, &sorted(d, Fill::Bits, n, "b", DOWN)?).descending().run()
        })
        .full();
        // Equal keys show where they come from.
        c.add(format!("merge/pairs/few_values/{m}+{n}"), move |d| {
            let (v, w) = (d.iota::<u32>(m, 0, 1)?, d.iota::<u32>(n, 1 << 20, 1)?);
            d.merge(&few(d, m, "a", UP)?, &few(d, n, "b", UP)?).with_values(&v, &w).run()
        });
    }
    // Another kernel for each type and payload: too many to compile in the quick run's minute.
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
    sets(c);
    payloads::<B, u8>(c);
    payloads::<B, f16>(c);
    payloads::<B, f32>(c);
    payloads::<B, i64>(c);
    large(c);
}

/// Elements in order.
fn sorted<B: Target, K: Element>(d: &B, fill: Fill, n: u64, name: &str, order: SortOrder) -> Result<Buffer<B, K>> {
    let mut keys: Vec<K> = data::data(fill, n, data::seed(name));
    let map = KeyBits::new(K::DTYPE, order);
    keys.sort_by_key(|k| map.of(bytemuck::bytes_of(k).iter().rev().fold(0, |word, &b| word << 8 | u64::from(b))));
    d.upload(&keys)
}

/// Keys of five values, in order.
fn few<B: Target>(d: &B, n: u64, name: &str, order: SortOrder) -> Result<Buffer<B, u32>> {
    let mut keys: Vec<u32> = data::data::<u32>(Fill::Plain, n, data::seed(name)).into_iter().map(|k| (k >> 7) % 5).collect();
    keys.sort_unstable();
    if order == DOWN {
        keys.reverse();
    }
    d.upload(&keys)
}

fn types<B: Target, K: Element>(c: &mut Cases<B>) {
    let t = K::DTYPE;
    for fill in [Fill::Plain, Fill::Bits, Fill::Wide, Fill::Equal, Fill::Sorted] {
        let name = fill.name();
        for (m, n) in FEW {
            c.add(format!("merge/up_and_down/{t}/{name}/{m}+{n}"), move |d| {
                let of = |order| d.merge(&sorted::<B, K>(d, fill, m, "a", order)?, &sorted(d, fill, n, "b", order)?).order(order).run();
                Ok((of(UP)?, of(DOWN)?))
            })
            .needs(&[t]);
            c.add(format!("merge/search/{t}/{name}/{m}in{n}"), move |d| {
                let needles = input::<B, K>(d, fill, m, "b")?;
                let (up, down) = (sorted::<B, K>(d, fill, n, "b", UP)?, sorted::<B, K>(d, fill, n, "b", DOWN)?);
                Ok((
                    (d.lower_bound(&up, &needles).run()?, d.upper_bound(&up, &needles).run()?, d.count_equal(&up, &needles).run()?),
                    (d.lower_bound(&down, &needles).descending().run()?, d.upper_bound(&down, &needles).descending().run()?),
                ))
            })
            .needs(&[t]);
        }
    }
    c.add(format!("merge/search_wide/{t}"), move |d| {
        let (array, needles) = (sorted::<B, K>(d, Fill::Bits, 3001, "a", UP)?, input::<B, K>(d, Fill::Bits, 1003, "a")?);
        let out = [d.upload(&[7u64; 1007])?, d.upload(&[7u64; 1007])?, d.upload(&[7u64; 1007])?];
        d.lower_bound(&array.slice(1..)?, &needles.slice(1..)?).write_to(&out[0].slice(3..)?)?;
        d.upper_bound(&array.slice(5..)?, &needles).write_to(&out[1])?;
        d.count_equal(&array, &needles.slice(3..)?).write_to(&out[2].slice(1..)?)?;
        let [a, b, c] = out;
        Ok((a, b, c))
    })
    .needs(&[t, DType::U64]);
    for (m, n) in [(0, 0), (700, 0), (0, 20), (301, 5003)] {
        c.add(format!("merge/co_ranks/{t}/{m}+{n}"), move |d| {
            let (a, b) = (sorted::<B, K>(d, Fill::Bits, m, "a", DOWN)?, sorted::<B, K>(d, Fill::Bits, n, "b", DOWN)?);
            let ranks = d.iota::<u32>(m + n + 3, 0, 1)?;
            Ok((d.co_ranks(&a, &b, &ranks).descending().run()?, d.co_ranks(&a, &b, &ranks.slice(5.min(m)..)?).descending().run()?))
        })
        .needs(&[t]);
    }
    // Neither inputs nor outputs begin with a word, and what is around the outputs stays.
    for (i, j) in [(0, 1), (1, 2), (3, 3), (2, 0), (5, 7)] {
        c.add(format!("merge/slices/{t}/{i},{j}"), move |d| {
            let (a, b) = (sorted::<B, K>(d, Fill::Bits, 4000, "a", UP)?, sorted::<B, K>(d, Fill::Bits, 4500, "b", UP)?);
            let out = input::<B, K>(d, Fill::Plain, 9000, "out")?;
            d.merge(&a.slice(i..3990)?, &b.slice(j..)?).write_to(&out.slice(i + j..)?)?;
            d.merge(&a.slice(..1)?, &b.slice(..j)?).write_to(&out.slice(8700 + i..)?)?;
            Ok(out)
        })
        .needs(&[t]);
    }
    c.add(format!("merge/one_buffer/{t}"), move |d| {
        let (a, b) = (sorted::<B, K>(d, Fill::Wide, 5000, "a", UP)?, sorted::<B, K>(d, Fill::Wide, 3333, "b", UP)?);
        let all = input::<B, K>(d, Fill::Plain, 20_000, "all")?;
        d.copy_into(&a, &all.slice(1..5001)?)?;
        d.copy_into(&b, &all.slice(6001..9334)?)?;
        d.merge(&all.slice(1..5001)?, &all.slice(6001..9334)?).write_to(&all.slice(10_002..)?)?;
        Ok(all)
    })
    .needs(&[t]);
    c.add(format!("merge/checked/{t}"), move |d| {
        let (a, b) = (sorted::<B, K>(d, Fill::Bits, 2000, "a", DOWN)?, sorted::<B, K>(d, Fill::Bits, 999, "b", DOWN)?);
        d.merge(&a, &b).descending().checked().run()
    })
    .needs(if t.size_bytes() < 4 { &[DType::U8] } else { &[] })
    .needs(&[t]);
}

fn shapes<B: Target>(c: &mut Cases<B>) {
    // One array wholly before the other, in either order, and turns of one and of a thousand.
    for (name, every) in [("first", u32::MAX), ("turns", 1), ("thousands", 1000)] {
        for n in [257u64, 20_011] {
            c.add(format!("merge/shapes/{name}/n={n}"), move |d| {
                let of = |odd: u32| {
                    let first = if every == u32::MAX { odd * n as u32 } else { 0 };
                    d.generate(n, (index(), scalar(odd)), move |(i, odd)| (i / every * 2 + odd) * every.min(1 << 16) + i % every + first)
                };
                let (a, b) = (of(0)?, of(1)?);
                let (v, w) = (d.iota::<u32>(n, 0, 1)?, d.iota::<u32>(n, 1 << 20, 1)?);
                Ok((d.merge(&a, &b).with_values(&v, &w).run()?, d.merge(&b, &a).with_values(&w, &v).run()?))
            });
        }
    }
    // The textbook's two arrays, with each element's place as payload.
    c.add("merge/textbook", |d| {
        let (a, b) = (d.upload(&[1u32, 7, 8, 9, 10])?, d.upload(&[7u32, 10, 10, 12])?);
        let (v, w) = (d.iota::<u32>(5, 0, 1)?, d.iota::<u32>(4, 5, 1)?);
        Ok((d.merge(&a, &b).with_values(&v, &w).run()?, d.co_ranks(&a, &b, &d.iota::<u32>(10, 0, 1)?).run()?))
    });
    c.add("merge/co_ranks_wide", |d| {
        let (a, b) = (sorted::<B, u32>(d, Fill::Plain, 5000, "a", UP)?, sorted::<B, u32>(d, Fill::Plain, 77, "b", UP)?);
        let ranks = d.upload(&[0u64, 1, 99, 5077, 5078, 1 << 32, u64::MAX, 2500])?;
        let out = d.upload(&[7u64; 10])?;
        d.co_ranks(&a, &b, &ranks.slice(1..)?).write_to(&out.slice(1..)?)?;
        Ok((out, d.co_ranks(&a, &b, &ranks).run()?))
    })
    .needs(&[DType::U64]);
}

/// Value that a caller's buffer holds where nothing is written.
const BEFORE: u32 = 0xABAB_ABAB;

fn sets<B: Target>(c: &mut Cases<B>) {
    type Counted<B> = (Buffer<B, u32>, Buffer<B, u32>);
    fn made<B: Target>(d: &B, n: u64) -> Result<Counted<B>> {
        Ok((d.generate(n + 3, scalar(BEFORE), |v| v)?, d.upload(&[7, 8])?))
    }
    for (m, n) in FEW.into_iter().chain([(0, 0), (0, 9), (5000, 5000), (20_011, 300)]) {
        // Runs of one value, and of three or so, of either array.
        for (name, most) in [("few_values", 5u32), ("thousands", 3000), ("distinct", u32::MAX)] {
            let of = move |d: &B, n: u64, name: &str, order: SortOrder| -> Result<Buffer<B, u32>> {
                let mut keys: Vec<u32> = data::data::<u32>(Fill::Plain, n, data::seed(name)).into_iter().map(|k| (k >> 3) % most).collect();
                keys.sort_unstable_by_key(|&k| if order == UP { k } else { !k });
                d.upload(&keys)
            };
            c.add(format!("merge/sets/{name}/{m},{n}"), move |d| {
                let (a, b) = (of(d, m, "a", UP)?, of(d, n, "b", UP)?);
                let outs = [made(d, m + n)?, made(d, m)?, made(d, m)?, made(d, m + n)?];
                d.union(&a, &b).write_to((&outs[0].0, &outs[0].1))?;
                d.intersection(&a, &b).write_to((&outs[1].0, &outs[1].1))?;
                d.difference(&a, &b).write_to((&outs[2].0, &outs[2].1))?;
                d.symmetric_difference(&a, &b).write_to((&outs[3].0, &outs[3].1))?;
                let [a, b, c, d] = outs;
                Ok(((a, b), (c, d)))
            });
            c.add(format!("merge/sets_down/{name}/{m},{n}"), move |d| {
                let (a, b) = (of(d, m, "a", DOWN)?, of(d, n, "b", DOWN)?);
                let (union, rest) = (d.union(&a, &b).descending().run()?, d.difference(&a, &b).descending().run()?);
                let fits = |all: &Buffer<B, u32>, count: &DeviceScalar<B, u32>| {
                    d.reduce((all, index(), count).map(|(x, i, n)| select(i.lt(n), x * (i | 1), 0)), Sum).run()
                };
                Ok((fits(&union.values, &union.count)?, union.count, fits(&rest.values, &rest.count)?, rest.count))
            });
        }
    }
    macro_rules! of_type {
        ($($t:ty)*) => {$(
            c.add(format!("merge/sets_of/{}", <$t>::DTYPE), |d| {
                let (a, b) = (sorted::<B, $t>(d, Fill::Bits, 3000, "a", UP)?, sorted::<B, $t>(d, Fill::Bits, 2000, "b", UP)?);
                let c = d.merge(&a.slice(100..900)?, &b).run()?;
                let both = d.intersection(&a, &c).run()?;
                let (out, count) = (input::<B, $t>(d, Fill::Equal, 3000, "out")?, d.upload(&[0u32])?);
                d.intersection(&a, &c).write_to((&out, &count))?;
                Ok((out, count, both.count))
            })
            .needs(&[<$t>::DTYPE]);
        )*};
    }
    of_type!(u8 f16 i32 f32 u64 i64 f64);
}

fn payloads<B: Target, V: Element>(c: &mut Cases<B>) {
    let t = V::DTYPE;
    fn keyed<B: Target, K: Element, V: Element>(c: &mut Cases<B>) {
        let (k, t) = (K::DTYPE, V::DTYPE);
        for (m, n) in FEW {
            c.add(format!("merge/pairs/{k}/{t}/{m}+{n}"), move |d| {
                let (a, b) = (sorted::<B, K>(d, Fill::Bits, m, "a", UP)?, sorted::<B, K>(d, Fill::Bits, n, "b", UP)?);
                let (v, w) = (input::<B, V>(d, Fill::Bits, m, "v")?, input::<B, V>(d, Fill::Bits, n, "w")?);
                d.merge(&a, &b).with_values(&v, &w).run()
            })
            .needs(&[t, k]);
        }
        c.add(format!("merge/pairs_slices/{k}/{t}"), move |d| {
            let (a, b) = (sorted::<B, K>(d, Fill::Bits, 5000, "a", DOWN)?, sorted::<B, K>(d, Fill::Bits, 4000, "b", DOWN)?);
            let (v, w) = (input::<B, V>(d, Fill::Bits, 5000, "v")?, input::<B, V>(d, Fill::Bits, 4000, "w")?);
            let out = (input::<B, K>(d, Fill::Plain, 9010, "k")?, input::<B, V>(d, Fill::Plain, 9010, "o")?);
            let (a, b) = ((a.slice(1..)?, v.slice(..4999)?), (b.slice(3..)?, w.slice(3..)?));
            d.merge(&a.0, &b.0).descending().with_values(&a.1, &b.1).write_to((&out.0.slice(3..)?, &out.1.slice(1..)?))?;
            Ok(out)
        })
        .needs(&[t, k]);
    }
    keyed::<B, u8, V>(c);
    keyed::<B, f16, V>(c);
    keyed::<B, f32, V>(c);
    keyed::<B, i64, V>(c);
    c.add(format!("merge/pairs/few_values/{t}/9000+8000"), move |d| {
        let (v, w) = (input::<B, V>(d, Fill::Bits, 9000, "v")?, input::<B, V>(d, Fill::Bits, 8000, "w")?);
        d.merge(&few(d, 9000, "a", DOWN)?, &few(d, 8000, "b", DOWN)?).descending().with_values(&v, &w).run()
    })
    .needs(&[t]);
}

fn large<B: Target>(c: &mut Cases<B>) {
    for n in [(1 << 20) + 1, FOLDED, ABOVE_BINDING] {
        c.add(format!("merge/large/u32/n={n}"), move |d| {
            // Runs of equal keys, longer and longer.
            let a = d.generate(n / 3, index(), |i| (i | 0xff) * 3)?;
            let b = d.generate(n - n / 3, index(), |i| i + (i >> 1))?;
            let out = d.merge(&a, &b).run()?;
            let digest = d.reduce((&out, index()).map(|(x, i)| x * (i | 1)), Sum).run()?;
            Ok((out.slice(n / 2..n / 2 + 1000)?, digest))
        })
        .bytes(8 * n)
        .full();
    }
    // So many tiles that they begin between those of their neighbours, far from where keys that are spread evenly would make them.
    let (m, n) = (20_000_003, 18_000_001);
    c.add(format!("merge/many_tiles/u8/{m}+{n}"), move |d| {
        let a = d.generate(m, index(), |i| (i >> 17).store_as::<u8>())?;
        let b = d.generate(n, index(), |i| select(i.lt(9_000_000), i >> 22, (i >> 20) + 100).store_as::<u8>())?;
        let out = d.merge(&a, &b).run()?;
        let digest = d.reduce((&out, index()).map(|(x, i)| x * (i | 1)), Sum).run()?;
        Ok((out.slice(n..n + 1000)?, digest))
    })
    .bytes(2 * (m + n))
    .full();
    let n = FOLDED;
    c.add(format!("merge/large_search/u32/n={n}"), move |d| {
        let array = d.generate(n, index(), |i| i * 3)?;
        let needles = d.generate(n, index(), |i| i * 2_654_435_761)?;
        let found = d.lower_bound(&array, &needles).run()?;
        let digest = d.reduce((&found, index()).map(|(x, i)| x * (i | 1)), Sum).run()?;
        Ok((found.slice(n - 1000..)?, digest))
    })
    .bytes(12 * n)
    .full();
    let n = ABOVE_BINDING;
    c.add(format!("merge/above_binding_search/u32/n={n}"), move |d| {
        let array = d.generate(n, index(), |i| i * 3)?;
        let needles = d.generate(5001, index(), |i| i * 2_654_435_761)?;
        Ok((d.lower_bound(&array, &needles).run()?, d.upper_bound(&array, &needles).run()?, d.count_equal(&array, &needles).run()?))
    })
    .bytes(4 * n)
    .full();
}
