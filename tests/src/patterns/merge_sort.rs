//! Sorts and merges by orders of the caller's: every type and form around tiles, orders that look at a part of a key, and ones that contradict
//! themselves.

use super::input;
use crate::case::{Cases, Target};
use crate::data::{self, Fill};
use half::f16;
use isowarp::Result;
use isowarp::element::{DType, Element};
use isowarp::patterns::Payload;
use isowarp::prelude::*;

/// Around subgroups, parts, runs and tiles, and of one to five passes.
const SIZES: [u64; 26] = [
    0, 1, 2, 15, 16, 17, 31, 32, 33, 255, 256, 257, 1024, 2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192, 8193, 12_289, 20_011, 40_961,
    100_003,
];
/// Of no pass, one, two and three; of eight bytes of one more each.
const FEW: [u64; 5] = [1, 33, 4097, 10_007, 30_011];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for n in SIZES {
        c.add(format!("sort_by/keys/u32/last_digits/n={n}"), move |d| {
            d.sort(&input::<B, u32>(d, Fill::Plain, n, "k")?).by(|a, b| (a % 1000).lt(b % 1000)).run()
        });
        c.add(format!("sort_by/argsort/u32/few_values/n={n}"), move |d| {
            d.argsort(&input::<B, u32>(d, Fill::Plain, n, "k")?).by(|a, b| (a >> 29).gt(b >> 29)).run()
        })
        .full();
    }
    merges(c);
    // Another kernel for each type, order and payload: too many to compile in the quick run's minute.
    c.quick(false);
    types(c);
    shapes(c);
    contradictions(c);
    lent::<B, u8>(c, |a, b| (a & 15u32).lt(b & 15u32));
    lent::<B, f16>(c, |a, b| a.abs().lt(b.abs()));
    lent::<B, u32>(c, |a, b| (a >> 20).gt(b >> 20));
    lent::<B, f64>(c, |a, b| a.lt(b) | (b.is_nan() & !a.is_nan()));
    lent_pairs::<B, u8, f32>(c, |a, b| (a & 15u32).lt(b & 15u32));
    lent_pairs::<B, u32, f64>(c, |a, b| (a >> 20).gt(b >> 20));
    lent_indices::<B, u8>(c, |a, b| (a & 15u32).lt(b & 15u32));
    lent_indices::<B, u32>(c, |a, b| (a >> 20).gt(b >> 20));
    lent_indices::<B, f64>(c, |a, b| a.lt(b) | (b.is_nan() & !a.is_nan()));
    payloads::<B, u8>(c);
    payloads::<B, f16>(c);
    payloads::<B, i32>(c);
    payloads::<B, f64>(c);
    large(c);
}

macro_rules! of_type {
    ($c:expr, $t:ty, $name:literal, $order:expr) => {{
        let (t, order) = (<$t>::DTYPE, $name);
        let c: &mut Cases<B> = $c;
        for fill in [Fill::Plain, Fill::Bits, Fill::Wide, Fill::Equal, Fill::Sorted] {
            for n in FEW {
                c.add(format!("sort_by/{order}/{t}/{}/n={n}", fill.name()), move |d| {
                    let keys = input::<B, $t>(d, fill, n, "k")?;
                    Ok((d.sort(&keys).by($order).run()?, d.argsort(&keys).by($order).run()?))
                })
                .needs(&[t]);
            }
        }
        // Neither inputs nor outputs begin with a word, and what is around the outputs stays; one buffer holds all.
        c.add(format!("sort_by/slices/{order}/{t}"), move |d| {
            let (keys, out) = (input::<B, $t>(d, Fill::Bits, 9000, "k")?, input::<B, $t>(d, Fill::Plain, 19_000, "out")?);
            d.sort(&keys.slice(3..8110)?).by($order).write_to(&out.slice(5..8112)?)?;
            d.sort(&out.slice(1..9000)?).by($order).write_to(&out.slice(9001..18_000)?)?;
            d.sort(&keys.slice(7..5101)?).by($order).in_place()?;
            Ok((out, keys))
        })
        .needs(&[t]);
        for (m, n) in [(0, 5), (1, 0), (20, 13), (2100, 1999), (300, 20_011)] {
            c.add(format!("merge_by/{order}/{t}/{m}+{n}"), move |d| {
                let of = |n: u64, name: &str| d.sort(&input::<B, $t>(d, Fill::Bits, n, name)?).by($order).run();
                d.merge(&of(m, "a")?, &of(n, "b")?).by($order).run()
            })
            .needs(&[t]);
        }
        c.add(format!("merge_by/slices/{order}/{t}"), move |d| {
            let (a, b) = (input::<B, $t>(d, Fill::Sorted, 4000, "a")?, input::<B, $t>(d, Fill::Sorted, 4500, "b")?);
            let out = input::<B, $t>(d, Fill::Plain, 9000, "out")?;
            d.merge(&a.slice(1..3990)?, &b.slice(3..)?).by($order).write_to(&out.slice(5..)?)?;
            d.merge(&a.slice(..1)?, &b.slice(..2)?).by($order).write_to(&out.slice(8701..)?)?;
            Ok(out)
        })
        .needs(&[t]);
    }};
}

/// Floats of any bits are compared by an order that has no place for NaN, and by one that has it last.
fn types<B: Target>(c: &mut Cases<B>) {
    of_type!(c, u8, "low_bits", |a, b| (a & 15u32).lt(b & 15u32));
    of_type!(c, u32, "high_bits", |a, b| (a >> 20).gt(b >> 20));
    of_type!(c, i32, "size", |a, b| a.abs().lt(b.abs()));
    of_type!(c, u64, "high_bits", |a, b| (a >> 50).gt(b >> 50));
    of_type!(c, i64, "remainder", |a, b| (a % 1000).lt(b % 1000));
    of_type!(c, f16, "size", |a, b| a.abs().lt(b.abs()));
    of_type!(c, f32, "size", |a, b| a.abs().lt(b.abs()));
    of_type!(c, f32, "nan_last", |a, b| a.lt(b) | (b.is_nan() & !a.is_nan()));
    of_type!(c, f64, "nan_last", |a, b| a.lt(b) | (b.is_nan() & !a.is_nan()));
}

fn shapes<B: Target>(c: &mut Cases<B>) {
    for n in [257, 20_011] {
        c.add(format!("sort_by/reversed/n={n}"), move |d| {
            let keys = d.generate(n, (index(), scalar(n as u32)), |(i, n)| n - i)?;
            Ok((d.sort(&keys).by(Expr::lt).run()?, d.argsort(&keys).by(Expr::gt).run()?))
        });
        // An order of two parts, the second the other way round; and one that computes.
        c.add(format!("sort_by/two_parts/n={n}"), move |d| {
            let keys = input::<B, u32>(d, Fill::Plain, n, "k")?;
            let order = |a: Expr<u32>, b: Expr<u32>| {
                let (x, y) = (a & 7u32, b & 7u32);
                x.lt(y) | (x.eq(y) & (a >> 28).gt(b >> 28))
            };
            d.sort(&keys).with_values(&d.iota(n, 0u32, 1)?).by(order).run()
        });
        c.add(format!("sort_by/distance/n={n}"), move |d| {
            let keys = input::<B, f32>(d, Fill::Plain, n, "k")?;
            d.sort(&keys).by(|a, b| (a * a - a * 0.5).exp().lt((b * b - b * 0.5).exp())).run()
        });
    }
}

/// In lent memory, around which everything stays; one buffer may hold all.
fn lent<B: Target, K: Element>(c: &mut Cases<B>, order: fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>) {
    let t = K::DTYPE;
    for n in FEW {
        c.add(format!("sort_by/lent/{t}/n={n}"), move |d| {
            let keys = input::<B, K>(d, Fill::Bits, n + 3, "k")?;
            let (lent, out) = (input::<B, K>(d, Fill::Plain, n + 9, "l")?, input::<B, K>(d, Fill::Plain, n + 9, "o")?);
            d.sort(&keys.slice(3..)?).by(order).scratch(&lent.slice(1..=n)?).write_to(&out.slice(5..n + 5)?)?;
            Ok(((keys, out), (lent.slice(..1)?, lent.slice(n + 1..)?)))
        })
        .needs(&[t]);
        c.add(format!("sort_by/lent_in_one_buffer/{t}/n={n}"), move |d| {
            let all = input::<B, K>(d, Fill::Bits, 3 * n + 20, "all")?;
            let part = |from: u64| all.slice(from..from + n);
            d.sort(&part(1)?).by(order).scratch(&part(n + 3)?).write_to(&part(2 * n + 9)?)?;
            Ok((all.slice(..n + 3)?, all.slice(2 * n + 3..)?))
        })
        .needs(&[t]);
    }
}

/// The same of pairs, whose values travel or are fetched, and of indices.
fn lent_pairs<B: Target, K: Element, V: Payload>(c: &mut Cases<B>, order: fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>) {
    let (k, v) = (K::DTYPE, V::DTYPE);
    // Of one pass and of three; of eight bytes one more.
    for n in [8192, 30_011] {
        c.add(format!("sort_by/lent_pairs/{k}/{v}/n={n}"), move |d| {
            let keys = input::<B, K>(d, Fill::Bits, n + 3, "k")?.slice(3..)?;
            let values = input::<B, V>(d, Fill::Bits, 3 * n + 30, "v")?;
            let (lent, out) = (input::<B, K>(d, Fill::Plain, n + 9, "l")?, input::<B, K>(d, Fill::Plain, n + 9, "o")?);
            let part = |from: u64| values.slice(from..from + n);
            let (lends, outs) = ((&lent.slice(1..=n)?, &part(n + 3)?), (&out.slice(5..n + 5)?, &part(2 * n + 9)?));
            d.sort(&keys).with_values(&part(1)?).by(order).scratch(lends).write_to(outs)?;
            Ok(((out, values.slice(..n + 3)?, values.slice(2 * n + 3..)?), (lent.slice(..1)?, lent.slice(n + 1..)?)))
        })
        .needs(&[k, v]);
    }
}

fn lent_indices<B: Target, K: Element>(c: &mut Cases<B>, order: fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>) {
    let t = K::DTYPE;
    for n in [8192, 30_011] {
        c.add(format!("sort_by/lent_indices/{t}/n={n}"), move |d| {
            let keys = input::<B, K>(d, Fill::Bits, 3 * n + 20, "k")?;
            let part = |from: u64| keys.slice(from..from + n);
            let words = d.iota(2 * n + 15, 7u32, 0)?;
            let (indices, out) = (words.slice(1..=n)?, words.slice(n + 6..2 * n + 6)?);
            d.argsort(&part(1)?).by(order).scratch(([&part(n + 3)?, &part(2 * n + 9)?], &indices)).write_to(&out)?;
            let around = (keys.slice(..n + 3)?, keys.slice(2 * n + 3..2 * n + 9)?, keys.slice(3 * n + 9..)?);
            Ok((around, (words.slice(..1)?, words.slice(n + 1..)?)))
        })
        .needs(&[t]);
    }
}

/// Orders that are none still have one result.
fn contradictions<B: Target>(c: &mut Cases<B>) {
    for n in [17, 300, 4097, 30_011] {
        c.add(format!("sort_by/always/n={n}"), move |d| {
            let keys = input::<B, u32>(d, Fill::Plain, n, "k")?;
            d.sort(&keys).with_values(&d.iota(n, 0u32, 1)?).by(|a, _| a.eq(a)).run()
        });
        c.add(format!("sort_by/noise/n={n}"), move |d| {
            let keys = input::<B, u32>(d, Fill::Plain, n, "k")?;
            let order = |a: Expr<u32>, b: Expr<u32>| (((a * 2_654_435_761) ^ (b * 40_503)) >> 17 & 1u32).eq(1);
            Ok((d.sort(&keys).by(order).run()?, d.argsort(&keys).by(order).run()?))
        });
        c.add(format!("sort_by/noise_wide/n={n}"), move |d| {
            let keys = input::<B, u64>(d, Fill::Plain, n, "k")?;
            let order = |a: Expr<u64>, b: Expr<u64>| (((a * 2_654_435_761) ^ (b * 40_503)) >> 17 & 1u64).eq(1);
            Ok((d.sort(&keys).by(order).run()?, d.argsort(&keys).by(order).run()?))
        })
        .needs(&[DType::U64]);
        c.add(format!("merge_by/noise/n={n}"), move |d| {
            let (a, b) = (input::<B, u32>(d, Fill::Plain, n, "a")?, input::<B, u32>(d, Fill::Plain, 5003, "b")?);
            let order = |a: Expr<u32>, b: Expr<u32>| (((a * 2_654_435_761) ^ (b * 40_503)) >> 17 & 1u32).eq(1);
            let (v, w) = (d.iota(n, 0u32, 1)?, d.iota(5003, 1u32 << 20, 1)?);
            d.merge(&a, &b).by(order).with_values(&v, &w).run()
        });
    }
}

fn payloads<B: Target, V: Element>(c: &mut Cases<B>) {
    let t = V::DTYPE;
    fn keyed<B: Target, K: Element, V: Element>(c: &mut Cases<B>, order: fn(Expr<K::Reg>, Expr<K::Reg>) -> Expr<bool>) {
        let (k, t) = (K::DTYPE, V::DTYPE);
        for n in FEW {
            c.add(format!("sort_by/pairs/{k}/{t}/n={n}"), move |d| {
                d.sort(&input::<B, K>(d, Fill::Plain, n, "k")?).with_values(&input::<B, V>(d, Fill::Bits, n, "v")?).by(order).run()
            })
            .needs(&[t, k]);
            c.add(format!("sort_by/pairs_in_place/{k}/{t}/n={n}"), move |d| {
                let (keys, values) = (input::<B, K>(d, Fill::Plain, n + 9, "k")?, input::<B, V>(d, Fill::Bits, n + 9, "v")?);
                d.sort(&keys.slice(1..=n)?).with_values(&values.slice(3..n + 3)?).by(order).in_place()?;
                Ok((keys, values))
            })
            .needs(&[t, k]);
        }
        c.add(format!("merge_by/pairs/{k}/{t}"), move |d| {
            let sorted = |n: u64, name: &str| -> Result<_> {
                d.sort(&input::<B, K>(d, Fill::Plain, n, name)?).with_values(&input::<B, V>(d, Fill::Bits, n, name)?).by(order).run()
            };
            let (a, b) = (sorted(5000, "a")?, sorted(4001, "b")?);
            let out = (input::<B, K>(d, Fill::Plain, 9010, "k")?, input::<B, V>(d, Fill::Plain, 9010, "o")?);
            let (a, b) = ((a.0.slice(1..)?, a.1.slice(1..)?), (b.0.slice(3..)?, b.1.slice(3..)?));
            d.merge(&a.0, &b.0).by(order).with_values(&a.1, &b.1).write_to((&out.0.slice(3..)?, &out.1.slice(1..)?))?;
            Ok(out)
        })
        .needs(&[t, k]);
    }
    keyed::<B, u8, V>(c, |a, b| (a & 7u32).gt(b & 7u32));
    keyed::<B, f32, V>(c, |a, b| (a * 64.0).floor().lt((b * 64.0).floor()));
    keyed::<B, i64, V>(c, |a, b| (a >> 58).lt(b >> 58));
    c.add(format!("sort_by/pairs_in_one_buffer/{t}"), move |d| {
        let all = input::<B, V>(d, Fill::Wide, 30_000, "all")?;
        d.sort(&all.slice(..9000)?).with_values(&all.slice(9001..18_001)?).by(|_, b| b.ne(b)).in_place()?;
        Ok(all)
    })
    .needs(&[t]);
}

fn merges<B: Target>(c: &mut Cases<B>) {
    let lengths =
        [(0, 0), (0, 1), (1, 1), (255, 1), (256, 257), (4095, 1), (1, 4096), (4096, 1), (2048, 2049), (9, 30_011), (50_000, 50_003)];
    for (m, n) in lengths {
        c.add(format!("merge_by/few_values/{m}+{n}"), move |d| {
            // In order of their last digit, with more above it.
            let of = |n: u64, name: &str| {
                let mut keys: Vec<u32> = data::data(Fill::Plain, n, data::seed(name));
                keys.sort_by_key(|k| k % 10);
                d.upload(&keys)
            };
            let (v, w) = (d.iota(m, 0u32, 1)?, d.iota(n, 1u32 << 20, 1)?);
            d.merge(&of(m, "a")?, &of(n, "b")?).by(|a, b| (a % 10).lt(b % 10)).with_values(&v, &w).run()
        });
    }
}

/// Of so many tiles that where they begin is found ahead of a pass, also on a device of 132 multiprocessors.
fn large<B: Target>(c: &mut Cases<B>) {
    for n in [(1 << 20) + 1, 3_000_017] {
        c.add(format!("sort_by/large/u32/n={n}"), move |d| {
            let keys = d.generate(n, index(), |i| i * 2_654_435_761)?;
            let order = |a: Expr<u32>, b: Expr<u32>| (a >> 12).gt(b >> 12);
            let out = d.sort(&keys).by(order).run()?;
            let digest = d.reduce((&out, index()).map(|(x, i)| x * (i | 1)), Sum).run()?;
            let places = d.reduce((&d.argsort(&keys).by(order).run()?, index()).map(|(x, i)| x * (i | 1)), Sum).run()?;
            Ok((out.slice(n - 1000..)?, digest, places))
        })
        .bytes(4 * n);
    }
    let n = 1_200_007;
    c.add(format!("sort_by/large/u64/n={n}"), move |d| {
        let keys = d.generate(n, index(), |i| (i * 2_654_435_761).cast::<u64>())?;
        let out = d.sort(&keys).by(|a, b| (a & 0xffffu64).lt(b & 0xffffu64)).run()?;
        let digest = d.reduce((&out, index64()).map(|(x, i)| x * (i | 1)), Sum).run()?;
        Ok((out.slice(n - 1000..)?, digest))
    })
    .needs(&[DType::U64])
    .bytes(8 * n);
    let (m, n) = (1_500_000, 1_000_003);
    c.add(format!("merge_by/large/{m}+{n}"), move |d| {
        let of = |n: u64| d.generate(n, index(), |i| (i >> 2) | (i << 28));
        let (v, w) = (d.iota(m, 0u32, 1)?, d.iota(n, 1u32 << 24, 1)?);
        let (keys, values) = d.merge(&of(m)?, &of(n)?).by(|a, b| (a & 0xfff_ffffu32).lt(b & 0xfff_ffffu32)).with_values(&v, &w).run()?;
        let digest = |x: &Buffer<B, u32>| d.reduce((x, index()).map(|(x, i)| x * (i | 1)), Sum).run();
        Ok((digest(&keys)?, digest(&values)?, values.slice(1_000_000..1_001_000)?))
    })
    .bytes(4 * (m + n));
    // The fewest keys that 128 MiB do not hold: pairs of the last two passes are merged by windows. Even ones come first, which are told by one bit.
    let n = (1 << 24) + 2999;
    c.add("sort_by/above_binding_limit/u64", move |d| {
        let keys = d.generate(n, index64(), |i| i)?;
        d.sort(&keys).by(|a, b| (a & 1u64).lt(b & 1u64)).in_place()?;
        let digest = d.reduce((&keys, index64()).map(|(x, i)| x * (i | 1)), Sum).run()?;
        Ok((keys.slice(n - 1000..)?, digest))
    })
    .needs(&[DType::U64])
    .bytes(8 * n);
    // An order that contradicts itself: every comparison shows.
    let (m, n) = ((1 << 25) + 77, 1 << 21);
    c.add("merge_by/above_binding_limit/noise", move |d| {
        let of = |n: u64, step: u32| d.generate(n, (index(), scalar(step)), |(i, step)| i * step);
        let order = |a: Expr<u32>, b: Expr<u32>| (((a * 2_654_435_761) ^ (b * 40_503)) >> 17 & 1u32).eq(1);
        let keys = d.merge(&of(m, 7)?, &of(n, 9)?).by(order).run()?;
        let digest = d.reduce((&keys, index()).map(|(x, i)| x * (i | 1)), Sum).run()?;
        Ok((keys.slice(m + n - 1000..)?, digest))
    })
    .bytes(4 * (m + n));
}
