//! Inputs that never lie in memory, of patterns that have cases of their own for arrays: sorts, gathers, flags and keys of scans.

use super::{ABOVE_BINDING, input};
use crate::case::{Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::Result;
use isowarp::element::{DType, Element, Num};
use isowarp::prelude::*;

/// Nothing, one, edges of subgroups and tiles, several tiles.
const SIZES: [u64; 5] = [0, 1, 33, 4097, 30_011];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    permutations(c);
    // Kernels of their own: too many to compile in the quick run's minute.
    c.quick(false);
    sorts(c);
    sorts_of_narrow_and_wide_keys(c);
    first_keys(c);
    sorts_by_an_order(c);
    sorts_of_segments(c);
    gathers(c);
    scatters(c);
    narrow(c);
    combined::<B, u32>(c, &ScatterOp::COMBINING);
    combined::<B, i32>(c, &[ScatterOp::Min, ScatterOp::Max]);
    combined::<B, f32>(c, &[ScatterOp::Sum, ScatterOp::Sub, ScatterOp::Min, ScatterOp::Max]);
    combined::<B, u64>(c, &[ScatterOp::Sum, ScatterOp::Max, ScatterOp::Or]);
    combined::<B, i64>(c, &[ScatterOp::Sub, ScatterOp::Min]);
    combined::<B, f64>(c, &[ScatterOp::Sum, ScatterOp::Min]);
    heads(c);
}

/// An order that has some places twice, some not at all, and some that are none.
fn places<B: Target>(d: &B, n: u64, len: u64) -> Result<Buffer<B, u32>> {
    d.generate(n, (index(), scalar(len as u32)), |(i, len)| (i * 2_654_435_761) % (len + len / 8 + 1))
}

fn permutations<B: Target>(c: &mut Cases<B>) {
    for n in SIZES {
        c.add(format!("map/permuted/f32/n={n}"), move |d| {
            let x = input::<B, f32>(d, Fill::Bits, 3001, "x")?;
            d.map((permuted(&x, &places(d, n, 3001)?), index()), |(x, i)| (x, i))
        });
    }
    c.add("reduce/permuted/f32", |d| {
        let (x, y) = (input::<B, f32>(d, Fill::Cancel, 5003, "x")?, input::<B, u8>(d, Fill::Plain, 9001, "y")?);
        let at = places(d, 9001, 5003)?;
        let back = at.reversed();
        // A view of indices, indices that are permuted themselves, signed ones of which some are below zero.
        let signed = at.map(|i| i.bitcast::<i32>() - 40);
        let inputs = (permuted(&x, &back), permuted(&x, permuted(&at, counting(9001))), permuted(&y, signed));
        d.reduce(inputs.map(|(x, y, k)| x * y + k.cast::<f32>()), Sum).run()
    })
    .needs(&[u8::DTYPE]);
}

fn sorts<B: Target>(c: &mut Cases<B>) {
    for n in SIZES {
        c.add(format!("sort/from/counting/u32/n={n}"), move |d| {
            let keys = d.sort(counting(n).map(|i| (i * 2_654_435_761) >> 9)).descending().run()?;
            Ok((keys, d.argsort(counting(n).map(|i| (i * 40_503) % 97)).bits(1..5).run()?))
        });
        // Special values meet each other, and what is not a number comes of some.
        c.add(format!("sort/from/zipped/f32/n={n}"), move |d| {
            let (x, y) = (input::<B, f32>(d, Fill::Bits, n, "x")?, input::<B, f32>(d, Fill::Bits, n, "y")?);
            let f = |(x, y, k): (Expr<f32>, Expr<f32>, Expr<f32>)| x * y - k;
            let pairs =
                d.sort((&x, &y.reversed()).map(|(x, y)| x - y)).with_values((&x, &y.reversed()).map(|(_, y)| y)).descending().run()?;
            let zipped = d.sort((&x, &y.reversed(), scalar(0.5f32)).map(f)).with_indices().run()?;
            Ok((pairs, zipped, d.sort(x.map(|x| x)).run()?))
        });
        c.add(format!("sort/from/permuted/u32/n={n}"), move |d| {
            let x = input::<B, u32>(d, Fill::Plain, 3001, "x")?;
            let at = places(d, n, 3001)?;
            let keys = (permuted(&x, &at), index()).map(|(x, i)| (x >> 20) ^ (i >> 7));
            let out = (d.iota::<u32>(n + 3, 0, 1)?, d.iota::<u32>(n + 3, 0, 1)?);
            let lent = (d.buffer(n)?, d.buffer(n)?);
            d.sort(keys).with_values(index()).scratch((&lent.0, &lent.1)).write_to((&out.0, &out.1))?;
            Ok((out, d.is_sorted(permuted(&x, &at)).run()?))
        });
    }
    for (rows, n) in [(1, 5), (300, 3), (5, 4097)] {
        c.add(format!("sort/rows_from/u32/{rows}x{n}"), move |d| {
            let f = |i: Expr<u32>| (i * 2_654_435_761) >> 20;
            let sorted = d.sort(counting(rows * n).map(f)).axis(&[rows, n], 1).run()?;
            Ok((sorted, d.argsort(counting(rows * n).map(f)).axis(&[rows, n], 1).descending().run()?))
        });
    }
    // All keys alike: no pass is needed, and the payload has to be there all the same.
    c.add("sort/from/constant/u32/n=30011", |d| {
        let sorted = d.sort((counting(30_011), scalar(7u32)).map(|(_, seven)| seven)).with_indices().descending().run()?;
        Ok((sorted, d.argsort((counting(30_011), scalar(7u32)).map(|(_, seven)| seven.store_as::<u8>())).run()?))
    })
    .needs(&[DType::U8]);
    let n = (1 << 20) + 1;
    c.add(format!("sort/large_from/f32/n={n}"), move |d| {
        let f = |i: Expr<u32>| ((i * 2_654_435_761) >> 12).bitcast::<i32>().cast::<f32>();
        let out = d.argsort(counting(n).map(f)).run()?;
        let digest = d.reduce((&out, index()).map(|(x, i)| x * (i | 1)), Sum).run()?;
        Ok((out.slice(n - 1000..)?, digest, d.is_sorted(permuted(&d.generate(n, index(), f)?, &out)).run()?))
    });
}

/// Sorted whole, and found by digits.
fn first_keys<B: Target>(c: &mut Cases<B>) {
    for (n, k) in [(0, 0), (1, 1), (30_011, 500), (300_007, 1), (300_007, 900)] {
        c.add(format!("sort/top_k_from/f32/{k} of {n}"), move |d| {
            let (x, y) = (input::<B, f32>(d, Fill::Bits, n, "x")?, input::<B, f32>(d, Fill::Wide, n, "y")?);
            let found = d.top_k((&x, &y.reversed()).map(|(x, y)| x + y), k).with_indices().run()?;
            Ok((found, d.top_k(counting(n).map(|i| (i * 2_654_435_761) >> 11), k).smallest().run()?))
        });
    }
}

fn sorts_of_narrow_and_wide_keys<B: Target>(c: &mut Cases<B>) {
    for n in [1, 4097, 30_011] {
        c.add(format!("sort/from/f16/n={n}"), move |d| {
            let (x, y) = (input::<B, f16>(d, Fill::Bits, n, "x")?, input::<B, f16>(d, Fill::Bits, n, "y")?);
            let f = |(x, y): (Expr<f32>, Expr<f32>)| (x * y).store_as::<f16>();
            Ok((d.sort((&x, &y).map(f)).run()?, d.argsort((&x, &y).map(f)).descending().run()?))
        })
        .needs(&[DType::F16]);
        c.add(format!("sort/from/u8/n={n}"), move |d| {
            let x = input::<B, u8>(d, Fill::Plain, n, "x")?;
            d.sort((&x.reversed(), index()).map(|(x, i)| (x ^ i).store_as::<u8>())).with_values(index()).descending().run()
        })
        .needs(&[DType::U8]);
        c.add(format!("sort/from/f64/n={n}"), move |d| {
            let x = input::<B, f64>(d, Fill::Bits, n, "x")?;
            let pairs = d.sort(x.map(|x| x * x - x)).with_values(index().map(Expr::cast::<u64>)).run()?;
            let sorted = d.is_sorted(&pairs.0).run()?;
            Ok((pairs, sorted, d.is_sorted(x.map(|x| -x)).descending().run()?))
        })
        .needs(&[DType::F64, DType::U64]);
    }
}

fn sorts_by_an_order<B: Target>(c: &mut Cases<B>) {
    for n in SIZES {
        c.add(format!("sort_by/from/f32/n={n}"), move |d| {
            let (x, y) = (input::<B, f32>(d, Fill::Bits, n, "x")?, input::<B, f32>(d, Fill::Wide, n, "y")?);
            let last = |a: Expr<f32>, b: Expr<f32>| a.abs().lt(b.abs()) | (b.is_nan() & !a.is_nan());
            let f = |(x, y): (Expr<f32>, Expr<f32>)| x + y;
            let out = d.iota::<f32>(n + 2, 0.0, 1.0)?;
            d.sort((&x, &y.reversed()).map(f)).by(last).write_to(&out)?;
            Ok((out, d.argsort((&x, &y).map(f)).by(last).run()?))
        });
        c.add(format!("sort_by/pairs_from/u32/n={n}"), move |d| {
            let at = places(d, n, 3001)?;
            let x = input::<B, u32>(d, Fill::Plain, 3001, "x")?;
            let digits = |a: Expr<u32>, b: Expr<u32>| (a % 100).lt(b % 100);
            let travels = d.sort(permuted(&x, &at)).with_values(index()).by(digits).run()?;
            Ok((travels, d.sort(counting(n).map(|i| i * 7)).with_values(counting(n).map(|i| (i * 31).store_as::<u8>())).by(digits).run()?))
        })
        .needs(&[DType::U8]);
    }
}

fn sorts_of_segments<B: Target>(c: &mut Cases<B>) {
    for n in [0, 1, 33, 4097, 100_003] {
        c.add(format!("segmented_sort/from/u32/n={n}"), move |d| {
            let x = input::<B, u32>(d, Fill::Plain, n, "x")?;
            let bounds: Vec<u32> = [0, 1, 1, 20, 700, 701, 9000, 60_000].into_iter().filter(|&o| u64::from(o) <= n).collect();
            let (offsets, up) = (d.upload(&bounds)?, SortOrder::Ascending);
            let f = |(x, i): (Expr<u32>, Expr<u32>)| (x >> 12) ^ i;
            let pairs = d.sort(x.map(|x| (x >> 3).bitcast::<f32>())).with_values(&x).segments(&offsets).descending().run()?;
            let keys = d.sort((&x.reversed(), index()).map(f)).segments(&offsets).order(up).run()?;
            Ok((pairs, keys, d.argsort((&x, index()).map(f)).segments(&offsets).order(up).run()?))
        });
    }
}

fn gathers<B: Target>(c: &mut Cases<B>) {
    for n in SIZES {
        c.add(format!("move/gather_from/f32/n={n}"), move |d| {
            let (x, y) = (input::<B, f32>(d, Fill::Bits, 3001, "x")?, input::<B, f32>(d, Fill::Bits, 9003, "y")?);
            // Zipped and strided values, a number that is their index, and a constant; indices of a view, of which some name nothing.
            let at = places(d, n, 3001)?;
            let values = (&x.reversed(), &y.strided(2, 3001, 3)?, index(), scalar(3u32));
            d.gather(values.map(|(x, y, i, k)| (x - y, i * k)), at.reversed().map(|at| at)).run()
        });
        c.add(format!("move/gather_from/signed/n={n}"), move |d| {
            let x = input::<B, u8>(d, Fill::Plain, 999, "x")?;
            let out = d.iota::<u32>(n + 2, 5, 3)?;
            // From 100 elements before the first one on; of a table at what it says itself.
            let table = (array(&x), &x);
            d.gather(table.map(|(all, x)| all.at(x * 3) * 1000 + x), counting(n).map(|i| (i * 7).bitcast::<i32>() - 100))
                .write_to(&out.slice(1..)?)?;
            Ok(out)
        })
        .needs(&[DType::U8]);
    }
    c.add("move/gather_from/nothing", |d| {
        let x = d.buffer::<f32>(0)?;
        d.gather((&x, index()).map(|(x, i)| (x + 1.0, i + 1)), counting(500).map(|i| i)).run()
    });
    c.add("move/gather_from/wide", |d| {
        let (x, at) = (input::<B, u64>(d, Fill::Bits, 700, "x")?, input::<B, u64>(d, Fill::Bits, 5003, "at")?);
        let far = |(at, i): (Expr<u64>, Expr<u32>)| select((i & 3u32).eq(0), at, at % 800);
        d.gather(x.map(|x| x ^ 1), (&at, index()).map(far)).run()
    })
    .needs(&[DType::U64]);
    c.add("move/gather_checked_from", |d| {
        let x = input::<B, f32>(d, Fill::Plain, 100, "x")?;
        let said = |to: u32| {
            let found = d.gather(x.map(|x| x * 2.0), counting(90).map(|i| i + to)).checked().run();
            d.upload(&found.err().map_or_else(Vec::new, |e| e.to_string().bytes().map(u32::from).collect()))
        };
        Ok((said(10)?, said(11)?, d.gather(x.map(|x| x * 2.0), counting(90).map(|i| i + 10)).checked().run()?))
    });
}

/// Targets of which some are wanted by several sources, some by none, and some are none.
fn spread(i: Expr<u32>, targets: u64) -> Expr<u32> {
    (i * 2_654_435_761) % (targets + targets / 8 + 1) as u32
}

fn scatters<B: Target>(c: &mut Cases<B>) {
    for n in [0, 1, 33, 4097, 100_003] {
        // Computed values that are no numbers, into targets that keep every bit.
        c.add(format!("move/scatter_from/f32/n={n}"), move |d| {
            let (x, y) = (input::<B, f32>(d, Fill::Bits, n, "x")?, input::<B, f32>(d, Fill::Bits, n, "y")?);
            let out: Vec<_> = (0..2).map(|_| input::<B, f32>(d, Fill::Bits, 3001, "targets")).collect::<Result<_>>()?;
            let f = |(x, y, i): (Expr<f32>, Expr<f32>, Expr<u32>)| (spread(i, 2990), x - y);
            d.scatter_pairs((&x, &y.reversed(), index()).map(f)).write_to(&out[0].slice(5..2995)?)?;
            // Signed targets, a constant value.
            d.scatter_pairs((counting(n), scalar(0.1f32)).map(|(i, k)| ((i * 7).bitcast::<i32>() - 50, k))).write_to(&out[1])?;
            Ok(out)
        });
        c.add(format!("move/scatter_from/permuted/u32/n={n}"), move |d| {
            let (x, out) = (input::<B, u32>(d, Fill::Plain, 3001, "x")?, d.iota(5000, 7u32, 3)?);
            let (at, third) = (places(d, n, 3001)?, input::<B, u32>(d, Fill::Plain, 3 * n + 2, "y")?);
            let inputs = (permuted(&x, &at), &third.strided(1, n, 3)?, &at.reversed());
            d.scatter_pairs(inputs.map(|(x, y, to)| (to, x ^ y))).write_to(&out.slice(1000..)?)?;
            Ok(out)
        });
        c.add(format!("move/scatter_unique_from/n={n}"), move |d| {
            let (words, wide) = (d.iota(n + 5, 7u32, 3)?, input::<B, f64>(d, Fill::Bits, n + 5, "targets")?);
            let x = input::<B, f64>(d, Fill::Bits, n, "x")?;
            // From the end to the beginning; past it, and past the end.
            d.scatter_pairs((counting(n), scalar(n as u32)).map(|(i, n)| (n - i + 2, i * i))).unique().write_to(&words.slice(..n + 2)?)?;
            d.scatter_pairs((&x, index()).map(|(x, i)| (i.cast::<u64>() + 3, x + 1.0))).unique().write_to(&wide.slice(..n + 1)?)?;
            Ok((words, wide))
        })
        .needs(&[DType::F64, DType::U64]);
    }
    c.add("move/scatter_checked_from", |d| {
        let out = d.iota(100, 7u32, 3)?;
        let said = |targets: u64| {
            let found = d.scatter_pairs(counting(90).map(|i| (i + 8, i))).checked().write_to(&out.slice(..targets)?);
            d.upload(&found.err().map_or_else(Vec::new, |e| e.to_string().bytes().map(u32::from).collect()))
        };
        Ok((said(97)?, said(98)?, out.clone()))
    });
    let n = ABOVE_BINDING;
    c.add("move/scatter_unique_from/above_binding_limit", move |d| {
        let out = d.iota(n, 0u32, 7)?;
        d.scatter_pairs(counting(100_003).map(|i| (i * 419 + 5, i * i))).unique().write_to(&out)?;
        d.reduce((&out, index()).map(|(x, i)| x * (i * 2 + 1)), Sum).run()
    })
    .bytes(4 * n);
}

/// Elements narrower than a word, beside others that keep every bit, and whether such are in order.
fn narrow<B: Target>(c: &mut Cases<B>) {
    for n in [0, 1, 33, 4097, 100_003] {
        c.add(format!("move/scatter_from/u8/n={n}"), move |d| {
            let (x, out) = (input::<B, u32>(d, Fill::Bits, n, "x")?, input::<B, u8>(d, Fill::Bits, 3001, "targets")?);
            d.scatter_pairs((&x.reversed(), index()).map(|(x, i)| (spread(i, 2990), (x >> 3).store_as::<u8>())))
                .write_to(&out.slice(5..2995)?)?;
            let unique = input::<B, u8>(d, Fill::Bits, n + 5, "unique")?;
            let f = |(i, n): (Expr<u32>, Expr<u32>)| (n - i + 2, (i * i).store_as::<u8>());
            d.scatter_pairs((counting(n), scalar(n as u32)).map(f)).unique().write_to(&unique.slice(..n + 2)?)?;
            let bytes = || (&x, |x: Expr<u32>| (x >> 24).store_as::<u8>());
            let sorted = d.is_sorted(bytes().0.map(bytes().1)).run()?;
            Ok((out, unique, sorted, d.is_sorted(counting(n).map(|i| (i >> 9).store_as::<u8>())).run()?))
        });
        c.add(format!("move/scatter_from/f16/n={n}"), move |d| {
            // Every magnitude, and NaN; targets that are NaN with bits of their own.
            let (x, out) = (input::<B, f32>(d, Fill::Bits, n, "x")?, input::<B, f16>(d, Fill::Bits, 3001, "targets")?);
            d.scatter_pairs((&x, index()).map(|(x, i)| (spread(i, 2990), x.store_as::<f16>()))).write_to(&out.slice(5..2995)?)?;
            let unique = input::<B, f16>(d, Fill::Bits, n + 5, "unique")?;
            let f = |(i, k): (Expr<u32>, Expr<f32>)| (i.cast::<i32>() - 3, (i.cast::<f32>() * k).store_as::<f16>());
            d.scatter_pairs((counting(n), scalar(1e-6f32)).map(f)).unique().write_to(&unique.slice(1..)?)?;
            let rising = d.is_sorted(counting(n).map(|i| (i.cast::<f32>() * 1e-9).store_as::<f16>())).run()?;
            Ok((out, unique, rising, d.is_sorted(x.map(Expr::store_as::<f16>)).descending().run()?))
        })
        .needs(&[f16::DTYPE]);
    }
    let n = ABOVE_BINDING;
    c.add("move/scatter_from/f16/above_binding_limit", move |d| {
        let out = d.buffer::<f16>(n)?;
        d.fill(&out, f16::from_f32(3.0))?;
        d.scatter_pairs(counting(100_003).map(|i| (i * 419 + 5, i.cast::<f32>().store_as::<f16>()))).write_to(&out)?;
        d.reduce((&out, index()).map(|(x, i)| x.bitcast::<u32>() * (i * 2 + 1)), Sum).run()
    })
    .needs(&[f16::DTYPE])
    .bytes(4 * n);
}

fn combined<B: Target, T: Element<Reg = T> + Num>(c: &mut Cases<B>, ops: &'static [ScatterOp]) {
    let t = T::DTYPE;
    for (n, targets) in [(0, 7), (1, 1), (8193, 5), (30_011, 20_000)] {
        c.add(format!("move/scatter_reduce_from/{t}/{n}->{targets}"), move |d| {
            let (x, y) = (input::<B, T>(d, Fill::Bits, n, "x")?, input::<B, T>(d, Fill::Wide, n, "y")?);
            let mut outs = Vec::new();
            for &op in ops {
                let out = input::<B, T>(d, Fill::Bits, targets + 3, "targets")?;
                let f = |(x, y, i): (Expr<T>, Expr<T>, Expr<u32>)| (spread(i, targets), select((i % 3).eq(0), x, y));
                d.scatter_pairs((&x.reversed(), &y, index()).map(f)).reduce(op).write_to(&out.slice(1..targets + 1)?)?;
                outs.push(out);
            }
            Ok(outs)
        })
        .needs(&[t]);
    }
}

/// Where segments start, computed.
fn heads<B: Target>(c: &mut Cases<B>) {
    for n in [0, 1, 33, 8193, 24_577] {
        c.add(format!("scan/flags_from/f32/n={n}"), move |d| {
            let x = input::<B, f32>(d, Fill::Cancel, n, "x")?;
            let hashed = || counting(n).map(|i| ((i * 2_654_435_761) >> 26).eq(0).cast::<u32>());
            let sums = d.scan(x.map(|x| x * 0.5), Sum).by_flags(hashed()).run()?;
            Ok((sums, d.scan((&x.reversed(), index()).map(|(x, i)| x + i.cast::<f32>()), Sum).by_flags(hashed()).exclusive().run()?))
        });
        c.add(format!("scan/keys_from/u32/n={n}"), move |d| {
            let (x, k) = (input::<B, u32>(d, Fill::Plain, n, "x")?, input::<B, u32>(d, Fill::Sorted, n, "k")?);
            let at = d.generate(n, (index(), scalar(n as u32)), |(i, n)| (i / 3) % n)?;
            let zipped = || (permuted(&k, &at), index()).map(|(k, i)| k ^ (i >> 6));
            let sums = d.scan((&x.reversed(), &k).map(|(x, k)| x ^ k), Sum).by_key(zipped()).run()?;
            Ok((sums, d.scan((array(&x), index()).map(|(x, i)| x.at(i ^ 1)), Max).by_key(zipped()).exclusive().run()?))
        });
    }
}
