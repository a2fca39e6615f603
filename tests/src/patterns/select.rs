//! P04 select: what is kept, parted, unique or run together; what lies behind the count stays.

use super::{ABOVE_BINDING, FEW, FOLDED, SIZES, input};
use crate::case::{Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::Result;
use isowarp::element::{Element, Scalar};
use isowarp::prelude::*;

/// Around the tiles of either backend (1024 to 8192 elements), and many of them.
const TILES: [u64; 8] = [3071, 3073, 7167, 7169, 8191, 16_383, 24_577, 300_001];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for n in SIZES.into_iter().chain(TILES.into_iter().filter(|n| !SIZES.contains(n))) {
        c.add(format!("select/half/f32/bits/n={n}"), move |d| keep(d, &input::<B, f32>(d, Fill::Bits, n, "x")?, |x| x.gt(0.0)));
        c.add(format!("select/partition/u32/plain/n={n}"), move |d| {
            let p = d.partition(&input::<B, u32>(d, Fill::Plain, n, "x")?, |x| (x & 3u32).eq(0)).run()?;
            Ok((p.values, p.count))
        });
        c.add(format!("select/runs/u32/sorted/n={n}"), move |d| runs(d, &input::<B, u32>(d, Fill::Sorted, n, "x")?));
    }
    // Each of these is another kernel or several: too many to compile in the quick run's minute.
    c.quick(false);
    for n in FEW.into_iter().chain(TILES) {
        c.add(format!("select/all/u32/n={n}"), move |d| keep(d, &input::<B, u32>(d, Fill::Plain, n, "x")?, |x| x.eq(x)));
        c.add(format!("select/none/u32/n={n}"), move |d| keep(d, &input::<B, u32>(d, Fill::Plain, n, "x")?, |x| x.ne(x)));
        c.add(format!("select/alternating/n={n}"), move |d| indexed(d, n, |i| (i & 1u32).eq(1)));
        c.add(format!("select/blocks_of_a_thousand/n={n}"), move |d| indexed(d, n, |i| (i / 1000 % 2).eq(0)));
        c.add(format!("select/last_only/n={n}"), move |d| indexed(d, n, move |i| i.eq(n as u32 - u32::from(n > 0))));
        ways(c, n);
        neighbours(c, n);
        searches(c, n);
    }
    types::<B, f32>(c);
    types::<B, i32>(c);
    types::<B, u32>(c);
    types::<B, f64>(c);
    types::<B, i64>(c);
    types::<B, u64>(c);
    types::<B, f16>(c);
    types::<B, u8>(c);
    sources(c);
    large(c);
}

/// Value that a caller's buffer holds where nothing is written.
const BEFORE: u32 = 0xABAB_ABAB;

/// The caller's output whole, and the count.
fn keep<B: Target, T: Element>(
    d: &B,
    x: &Buffer<B, T>,
    f: impl FnOnce(Expr<T::Reg>) -> Expr<bool>,
) -> Result<(Buffer<B, T>, Buffer<B, u32>)> {
    let size = T::DTYPE.size_bytes();
    let bytes = vec![BEFORE.to_ne_bytes()[0]; ((x.len() + 3) * size) as usize];
    let before: Vec<T> = bytes.chunks_exact(size as usize).map(bytemuck::pod_read_unaligned).collect();
    let (out, count) = (d.upload(&before)?, d.upload(&[7u32, 8])?);
    d.select(x, f).write_to((&out, &count))?;
    Ok((out, count))
}

/// Indices for which `f` holds, in a caller's buffer.
fn indexed<B: Target>(d: &B, n: u64, f: impl FnOnce(Expr<u32>) -> Expr<bool>) -> Result<(Buffer<B, u32>, Buffer<B, u32>)> {
    keep(d, &d.iota::<u32>(n, 0, 1)?, f)
}

fn runs<B: Target, T: Element>(d: &B, x: &Buffer<B, T>) -> Result<(Buffer<B, T>, Buffer<B, u32>, Buffer<B, u32>)> {
    let size = T::DTYPE.size_bytes();
    let values = d.buffer::<T>(x.len())?;
    d.fill(&values, bytemuck::pod_read_unaligned(&[0x55; 8][..size as usize]))?;
    let (lengths, count) = (d.generate(x.len(), scalar(BEFORE), |v| v)?, d.upload(&[9u32])?);
    d.run_length_encode(x).write_to(((&values, &lengths), &count))?;
    Ok((values, lengths, count))
}

fn ways<B: Target>(c: &mut Cases<B>, n: u64) {
    // Long to compile.
    c.add(format!("select/three_ways_by_exponentials/f32/n={n}"), move |d| {
        let x = input::<B, f32>(d, Fill::Plain, n, "x")?;
        d.partition(&x, |x| (-x.abs()).exp().ln_1p().lt(0.3)).three_way(|x| (x - 0.5).exp().lt(0.9)).run()
    })
    .full();
    c.add(format!("select/three_ways/f32/n={n}"), move |d| {
        d.partition(&input::<B, f32>(d, Fill::Bits, n, "x")?, |x| x.lt(-1.0)).three_way(|x| x.le(1.0)).run()
    });
    c.add(format!("select/three_ways_one_empty/u32/n={n}"), move |d| {
        d.partition(&input::<B, u32>(d, Fill::Plain, n, "x")?, |x| (x & 1u32).eq(0)).three_way(|x| x.ne(x)).run()
    });
    for (name, above) in [("all", 0u32), ("none", u32::MAX)] {
        c.add(format!("select/partition_{name}/n={n}"), move |d| {
            let p = d.partition(&d.iota::<u32>(n, 0, 1)?, |x| x.ge(above)).run()?;
            Ok((p.values, p.count))
        });
    }
    c.add(format!("select/partition_pairs/n={n}"), move |d| {
        let (x, y) = (input::<B, f32>(d, Fill::Bits, n, "x")?, input::<B, u32>(d, Fill::Plain, n, "y")?);
        let (a, b, count) = (d.buffer::<f32>(n)?, d.buffer::<u32>(n)?, d.buffer::<u32>(1)?);
        d.partition((&x, &y), |(_, y)| (y & 1u32).eq(1)).write_to(((&a, &b), &count))?;
        Ok((a, b, count))
    });
}

fn neighbours<B: Target>(c: &mut Cases<B>, n: u64) {
    // Runs of one to nine elements, of a thousand, and one over everything.
    let keys = move |d: &B, every: u32| -> Result<Buffer<B, u32>> {
        d.cumsum(&d.map(&input::<B, u32>(d, Fill::Plain, n, "keys")?, |f| ((f >> 5) % every).eq(0).cast::<u32>())?)
    };
    for (name, every) in [("short", 3u32), ("long", 1000), ("endless", u32::MAX)] {
        c.add(format!("select/unique_{name}/u32/n={n}"), move |d| {
            let x = keys(d, every)?;
            let (out, count) = (d.generate(n, scalar(BEFORE), |v| v)?, d.buffer::<u32>(1)?);
            d.unique(&x).write_to((&out, &count))?;
            Ok((out, count))
        });
        c.add(format!("select/runs_{name}/u32/n={n}"), move |d| runs(d, &keys(d, every)?));
        c.add(format!("select/decoded_{name}/u32/n={n}"), move |d| {
            let x = keys(d, every)?;
            let encoded = d.run_length_encode(&x).run()?;
            let back = d.run_length_decode(&encoded.values.0, &encoded.values.1, n + 5).length(&encoded.count).run()?;
            Ok((back.slice(..n)?, d.reduce((&back.slice(..n)?, &x).map(|(a, b)| a ^ b), Or).run()?))
        });
    }
    c.add(format!("select/unique_by_key/n={n}"), move |d| {
        let (k, x) = (keys(d, 5)?, input::<B, f32>(d, Fill::Bits, n, "x")?);
        let kept = d.unique(&x).by_key(&k).run()?;
        // As much of the outputs as the device says: no read-back in between.
        let bits = d
            .reduce((&kept.values.1, index(), &kept.count).map(|(x, i, m)| select(i.lt(m), x.bitcast::<u32>() * (i | 1), 0)), Sum)
            .run()?;
        let sum = d.reduce((&kept.values.0, index(), &kept.count).map(|(x, i, m)| select(i.lt(m), x * (i | 1), 0)), Sum).run()?;
        Ok((kept.count, sum, bits))
    });
    c.add(format!("select/unique_with_nan/f32/n={n}"), move |d| {
        let kept = d.unique(&d.map(&input::<B, f32>(d, Fill::Bits, n, "x")?, |x| select(x.gt(0.0), 0.0, x))?).run()?;
        let bits =
            d.reduce((&kept.values, index(), &kept.count).map(|(x, i, m)| select(i.lt(m), x.bitcast::<u32>() * (i | 1), 0)), Sum).run()?;
        Ok((kept.count, bits))
    });
    c.add(format!("select/unique_within_one/i32/n={n}"), move |d| {
        let kept = d.unique(&input::<B, i32>(d, Fill::Wide, n, "x")?).by(|a, b| (a - b).abs().le(400)).run()?;
        let sum = d.reduce((&kept.values, index(), &kept.count).map(|(x, i, m)| select(i.lt(m), x * (i | 1).cast(), 0)), Sum).run()?;
        Ok((kept.count, sum))
    });
}

fn searches<B: Target>(c: &mut Cases<B>, n: u64) {
    c.add(format!("select/find/n={n}"), move |d| {
        // 0 before the middle, 1 there, 2 behind it: the same kernels serve every size.
        let x = d.generate(n, (index(), scalar((n / 2) as u32)), |(i, half)| select(i.lt(half), 0, select(i.eq(half), 1, 2u32)))?;
        let found = (d.find_if(&x, |x| x.ge(1)).run()?, d.find_if(&x, |x| x.ge(3)).run()?, d.find_if(&x, |x| x.ge(0)).run()?);
        let said = (d.any(&x, |x| x.eq(1))?, d.all(&x, |x| x.le(1))?, d.none(&x, |x| x.gt(2))?, d.count(&x, |x| x.lt(1))?);
        Ok((found, said))
    });
}

fn types<B: Target, T: Element>(c: &mut Cases<B>)
where
    T::Reg: Scalar,
{
    let t = T::DTYPE;
    for fill in Fill::ALL {
        c.add(format!("select/types/{t}/{}", fill.name()), move |d| {
            let x = input::<B, T>(d, fill, 10_007, "x")?;
            let flags = d.map(&input::<B, u32>(d, Fill::Plain, 10_007, "flags")?, |f| f & 6u32)?;
            let flagged = d.select_flagged(&x, &flags).run()?;
            let p = d.partition(&x, |x| x.eq(x) & x.cast::<u32>().ge(1)).run()?;
            Ok((keep(d, &x, |x| x.cast::<u32>().ge(1))?, p.values, p.count, flagged.values.slice(..100)?))
        })
        .needs(&[t]);
        c.add(format!("select/type_runs/{t}/{}", fill.name()), move |d| runs(d, &input::<B, T>(d, fill, 5003, "x")?)).needs(&[t]);
    }
}

fn sources<B: Target>(c: &mut Cases<B>) {
    for n in FEW {
        c.add(format!("select/of_tuples/n={n}"), move |d| {
            let (x, y) = (input::<B, f32>(d, Fill::Bits, n, "x")?, input::<B, u32>(d, Fill::Plain, n, "y")?);
            let (a, b, i) = (d.buffer::<f32>(n)?, d.buffer::<f32>(n)?, d.buffer::<u32>(n)?);
            for out in [&a, &b] {
                d.fill(out, 0.5)?;
            }
            d.fill(&i, BEFORE)?;
            let count = d.buffer::<u32>(1)?;
            // One value as it was, one computed, one index.
            d.select((&x, &y, index()), |(_, y, _)| (y & 1u32).eq(1))
                .finish(|(x, _, i)| (x, x * 2.0, i))
                .write_to(((&a, &b, &i), &count))?;
            Ok((a, b, i, count))
        });
        c.add(format!("select/wide_tuples/n={n}"), move |d| {
            let (x, y) = (input::<B, f64>(d, Fill::Bits, n, "x")?, input::<B, u64>(d, Fill::Plain, n, "y")?);
            let (a, b, count) = (d.buffer::<f64>(n)?, d.buffer::<u64>(n)?, d.buffer::<u64>(1)?);
            d.fill(&a, 0.5)?;
            d.fill(&b, 3)?;
            d.select((&x, &y), |(_, y)| (y & 1u64).eq(1)).write_to(((&a, &b), &count))?;
            Ok((a, b, count))
        })
        .needs(&[f64::DTYPE, u64::DTYPE]);
        c.add(format!("select/narrowed/n={n}"), move |d| {
            let x = input::<B, u32>(d, Fill::Plain, n, "x")?;
            let (out, count) = (d.buffer::<u8>(n)?, d.buffer::<u32>(1)?);
            d.fill(&out, 0xEE)?;
            d.select(&x, |x| (x & 7u32).ne(3)).finish(|x| (x >> 9).store_as::<u8>()).write_to((&out, &count))?;
            Ok((out, count))
        })
        .needs(&[u8::DTYPE]);
    }
    for start in [1, 3, 1023] {
        c.add(format!("select/slice/f32/+{start}"), move |d| {
            let (x, out) = (input::<B, f32>(d, Fill::Bits, 30_000, "x")?, input::<B, f32>(d, Fill::Plain, 30_000, "out")?);
            let count = d.upload(&[5u32; 4])?;
            d.select(&x.slice(start..20_000)?, |x| x.lt(0.0)).write_to((&out.slice(start + 2..)?, &count.slice(2..)?))?;
            Ok((out, count))
        });
        c.add(format!("select/slice/u8/+{start}"), move |d| {
            let (x, out) = (input::<B, u8>(d, Fill::Plain, 30_000, "x")?, input::<B, u8>(d, Fill::Sorted, 30_000, "out")?);
            let count = d.upload(&[5u32; 4])?;
            d.select(&x.slice(start..20_000)?, |x| (x & 1u32).eq(0)).write_to((&out.slice(start + 2..)?, &count.slice(3..)?))?;
            Ok((out, count))
        })
        .needs(&[u8::DTYPE]);
    }
    c.add("select/reversed_and_strided", |d| {
        let x = input::<B, u32>(d, Fill::Plain, 60_000, "x")?;
        let kept = d.select((&x.strided(59_997, 19_999, -3)?, index()), |(x, _)| (x & 1u32).eq(0)).finish(|(x, i)| x ^ i).run()?;
        let sum = d.reduce((&kept.values, index(), &kept.count).map(|(x, i, m)| select(i.lt(m), x * (i | 1), 0)), Sum).run()?;
        Ok((kept.count, sum))
    });
    // Elements that were kept are selected from again: the count of the first feeds the second.
    c.add("select/chain", |d| {
        let first = d.select(&input::<B, u32>(d, Fill::Plain, 50_000, "x")?, |x| (x & 1u32).eq(0)).run()?;
        let second =
            d.select((&first.values, index(), &first.count), |(x, i, m)| i.lt(m) & (x & 2u32).eq(0)).finish(|(x, _, _)| x).run()?;
        let sum = d.reduce((&second.values, index(), &second.count).map(|(x, i, m)| select(i.lt(m), x * (i | 1), 0)), Sum).run()?;
        Ok((first.count, second.count, sum))
    });
    // Elements that were kept are sorted, the greatest first, and a part of them summed: only the device knows how many there are.
    c.add("select/sorted_and_summed", |d| {
        let x = input::<B, u32>(d, Fill::Plain, 50_000, "x")?;
        let (kept, count) = (d.buffer::<u32>(50_000)?, d.buffer::<u32>(1)?);
        // Elements that come last in the order lie behind those that are kept, and stay there.
        d.fill(&kept, 0)?;
        d.select(&x, |x| (x & 1u32).eq(0)).write_to((&kept, &count))?;
        d.sort(&kept).descending().in_place()?;
        let count = DeviceScalar::from_buffer(count)?;
        let sum = d.reduce((&kept, index(), &count).map(|(x, i, m)| select(i.lt(m / 2), x * (i | 1), 0)), Sum).run()?;
        Ok((count, sum))
    });
}

fn large<B: Target>(c: &mut Cases<B>) {
    for n in [(1 << 20) + 1, FOLDED, ABOVE_BINDING] {
        let digest = |d: &B, x: &Buffer<B, u32>, m: &Buffer<B, u32>| {
            let m = DeviceScalar::from_buffer(m.slice(..1)?)?;
            Ok::<_, isowarp::Error>((
                d.reduce((x, index(), &m).map(|(x, i, m)| select(i.lt(m), x * (i | 1), 0)), Sum).run()?,
                d.reduce((x, index(), &m).map(|(x, i, m)| select(i.lt(m), 0, x ^ BEFORE)), Or).run()?,
            ))
        };
        let hashed = move |d: &B| d.generate(n, index(), |i| i * 2_654_435_761);
        c.add(format!("select/large/u32/n={n}"), move |d| {
            let (out, count) = keep(d, &hashed(d)?, |x| (x >> 31).eq(0))?;
            let sums = digest(d, &out, &count)?;
            Ok((count, sums))
        })
        .bytes(4 * n);
        if n == FOLDED {
            // The others take the same grids.
            continue;
        }
        c.add(format!("select/large_partition/u32/n={n}"), move |d| {
            let p = d.partition(&hashed(d)?, |x| (x >> 30).eq(0)).run()?;
            let sum = d.reduce((&p.values, index()).map(|(x, i)| x * (i | 1)), Sum).run()?;
            Ok((p.count, sum))
        })
        .bytes(4 * n);
        c.add(format!("select/large_three_ways/u32/n={n}"), move |d| {
            let (out, counts) = d.partition(&hashed(d)?, |x| (x >> 30).eq(0)).three_way(|x| (x >> 30).eq(2)).run()?;
            Ok((counts, d.reduce((&out, index()).map(|(x, i)| x * (i | 1)), Sum).run()?))
        })
        .bytes(4 * n);
        c.add(format!("select/large_runs/u32/n={n}"), move |d| {
            let (values, lengths, count) = runs(d, &d.map(&hashed(d)?, |x| x >> 31)?)?;
            let sum = |x: &Buffer<B, u32>| d.reduce((x, index()).map(|(x, i)| x * (i | 1)), Sum).run();
            Ok((sum(&values)?, sum(&lengths)?, count))
        })
        .bytes(4 * n);
    }
}
