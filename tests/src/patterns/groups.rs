//! P25 groups: shuffles, votes, ballots, matches and ranks of groups of any width; what lies behind the results stays.

use super::{ABOVE_BINDING, FEW, FOLDED, SIZES, input};
use crate::case::{Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::Result;
use isowarp::element::Element;
use isowarp::prelude::*;

/// Widths below, at and above those of words and subgroups.
const WIDTHS: [u64; 11] = [1, 2, 3, 7, 8, 31, 32, 33, 64, 100, 1024];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for n in SIZES {
        c.add(format!("groups/ballot/f32/n={n}"), move |d| {
            let x = input::<B, f32>(d, Fill::Bits, n, "x")?;
            behind(d, n.div_ceil(32), |out| d.group_ballot(x.map(|x| x.gt(0.0)), 32).write_to(out))
        });
        c.add(format!("groups/match_mask/u32/n={n}"), move |d| {
            let x = few_keys(d, n, 5)?;
            behind(d, n, |out| d.group_match_mask(&x, 32).write_to(out))
        });
    }
    // Another kernel for each form and type: too many to compile in the quick run's minute.
    c.quick(false);
    for width in [3, 32, 100] {
        for n in if width == 100 { SIZES.as_slice() } else { &FEW } {
            let n = *n;
            c.add(format!("groups/rank/{width}/n={n}"), move |d| {
                let x = input::<B, f32>(d, Fill::Bits, n, "x")?;
                behind(d, n, |out| d.group_rank(x.map(|x| x.gt(0.0)), width).write_to(out))
            });
        }
    }
    widths(c);
    folds(c);
    shuffles::<B, f32>(c);
    shuffles::<B, f64>(c);
    shuffles::<B, i64>(c);
    shuffles::<B, f16>(c);
    shuffles::<B, u8>(c);
    keys(c);
    sources(c);
    large(c);
}

/// Value that a caller's buffer holds where nothing is written.
const BEFORE: u32 = 0xABAB_ABAB;

/// The caller's output whole, with three elements more than there are results.
fn behind<B: Target>(d: &B, n: u64, run: impl FnOnce(&Buffer<B, u32>) -> Result<()>) -> Result<Buffer<B, u32>> {
    let out = d.upload(&vec![BEFORE; n as usize + 3])?;
    run(&out)?;
    Ok(out)
}

/// Well-mixed numbers below `keys`.
fn few_keys<B: Target>(d: &B, n: u64, keys: u32) -> Result<Buffer<B, u32>> {
    d.generate(n, (index(), scalar(keys)), |(i, keys)| {
        let mixed = i * 2_654_435_761;
        (mixed ^ (mixed >> 15)) % keys
    })
}

fn folds<B: Target>(c: &mut Cases<B>) {
    for (n, width) in [(0, 5), (1, 1), (33, 32), (10_007, 3), (10_007, 1000), (10_007, 20_000)] {
        c.add(format!("groups/folds/{width}/n={n}"), move |d| {
            let (x, k) = (input::<B, f32>(d, Fill::Cancel, n, "x")?, few_keys(d, n, 2)?);
            let scans = (d.group_scan(&x, width, Sum).run()?, d.group_scan(&x, width, Max).exclusive().run()?);
            Ok((
                d.group_reduce(&x, width, Sum).run()?,
                scans,
                behind(d, n.div_ceil(width), |out| d.group_reduce(&k, width, Max).write_to(out))?,
            ))
        });
        c.add(format!("groups/match_all/{width}/n={n}"), move |d| d.group_match_all(&few_keys(d, n, 2)?, width.min(40)).run());
    }
}

fn odd(x: Expr<u32>) -> Expr<bool> {
    (x & 1u32).ne(0)
}

fn widths<B: Target>(c: &mut Cases<B>) {
    for width in WIDTHS.into_iter().chain([5000, 200_000]) {
        for n in [65, 20_011] {
            c.add(format!("groups/votes/{width}/n={n}"), move |d| {
                let x = few_keys(d, n, 1000)?;
                let few = |x: Expr<u32>| x.lt(20);
                Ok((
                    d.group_any(x.map(few), width).run()?,
                    d.group_all(x.map(|x| x.ge(20)), width).run()?,
                    d.group_count(x.map(odd), width).run()?,
                ))
            });
            c.add(format!("groups/ballot_of_width/{width}/n={n}"), move |d| d.group_ballot(few_keys(d, n, 1000)?.map(odd), width).run());
            c.add(format!("groups/match/{width}/n={n}"), move |d| {
                let x = few_keys(d, n, 7)?;
                d.group_match(&x, width).run()
            });
            c.add(format!("groups/partition/{width}/n={n}"), move |d| {
                let x = few_keys(d, n, 300)?;
                d.group_partition(&x, width).run()
            });
        }
    }
}

fn shuffles<B: Target, T: Element>(c: &mut Cases<B>) {
    let t = T::DTYPE;
    for width in [5, 32, 3000] {
        c.add(format!("groups/shuffle/{t}/{width}"), move |d| {
            let x = input::<B, T>(d, Fill::Bits, 2011, "x")?;
            let all = [Shuffle::From(0), Shuffle::From(4), Shuffle::Up(1), Shuffle::Up(40), Shuffle::Down(2), Shuffle::Down(u32::MAX)];
            all.into_iter()
                .chain([Shuffle::Xor(1), Shuffle::Xor(17)])
                .map(|how| d.group_shuffle(&x, width, how).run())
                .collect::<Result<Vec<_>>>()
        })
        .needs(&[t]);
        c.add(format!("groups/shuffle_by/{t}/{width}"), move |d| {
            let (x, out) = (input::<B, T>(d, Fill::Bits, 2011, "x")?, input::<B, T>(d, Fill::Plain, 2020, "out")?);
            let from = few_keys(d, 2011, 40)?;
            d.group_shuffle_by(&x, width, &from).write_to(&out.slice(5..)?)?;
            Ok((out, d.group_shuffle_by(&x, width, from.map(|k| k * 3 - 7)).run()?))
        })
        .needs(&[t]);
    }
}

fn keys<B: Target>(c: &mut Cases<B>) {
    for width in [6, 32, 257] {
        for n in [33, 8193] {
            c.add(format!("groups/match/f32/{width}/n={n}"), move |d| {
                let x = input::<B, f32>(d, Fill::Bits, n, "x")?;
                // Halves of the specials meet each other.
                let some = |(x, i): (Expr<f32>, Expr<u32>)| select(odd(i), x, 0.0);
                d.group_match((&x, index()).map(some), width).run()
            });
            c.add(format!("groups/partition/u64/{width}/n={n}"), move |d| {
                let x = few_keys(d, n, 9)?;
                d.group_partition(x.map(|x| (x.cast::<u64>() << 31) * 3), width).run()
            })
            .needs(&[u64::DTYPE]);
        }
        c.add(format!("groups/match/f64/{width}"), move |d| {
            let x = input::<B, f64>(d, Fill::Bits, 3001, "x")?;
            d.group_match(x.map(Expr::abs), width).run()
        })
        .needs(&[f64::DTYPE]);
        c.add(format!("groups/match/u8/{width}"), move |d| {
            let x = input::<B, u8>(d, Fill::Plain, 3001, "x")?;
            d.group_match(x.map(|x| x & 3u32), width).run()
        })
        .needs(&[u8::DTYPE]);
        c.add(format!("groups/match/bool/{width}"), move |d| {
            let x = few_keys(d, 3001, 50)?;
            d.group_match(x.map(odd), width).run()
        });
    }
    c.add("groups/match_mask/every_width", |d| {
        let x = few_keys(d, 1003, 4)?;
        (1..=32).map(|width| d.group_match_mask(&x, width).run()).collect::<Result<Vec<_>>>()
    });
}

fn sources<B: Target>(c: &mut Cases<B>) {
    for width in [32, 45] {
        c.add(format!("groups/ballot/u8/{width}"), move |d| {
            let x = input::<B, u8>(d, Fill::Plain, 20_011, "x")?;
            Ok((d.group_ballot(x.map(odd), width).run()?, d.group_ballot(x.slice(3..10_000)?.map(odd), width).run()?))
        })
        .needs(&[u8::DTYPE]);
        c.add(format!("groups/ballot/f64/{width}"), move |d| {
            let x = input::<B, f64>(d, Fill::Bits, 20_011, "x")?;
            d.group_ballot(x.map(|x| x.is_nan() | x.lt(-1.0)), width).run()
        })
        .needs(&[f64::DTYPE]);
        c.add(format!("groups/of_lazy_inputs/{width}"), move |d| {
            let (x, y) = (few_keys(d, 9001, 100)?, input::<B, f32>(d, Fill::Plain, 9001, "y")?);
            let (back, third) = (x.reversed(), y.strided(8999, 3000, -3)?);
            let some = (&x, &y, index()).map(|(x, y, i)| (x + i) & y.gt(0.5).cast::<u32>());
            Ok((
                d.group_ballot(some.map(odd), width).run()?,
                d.group_rank(back.map(odd), width).run()?,
                d.group_count(third.map(|y| y.lt(0.25)), width).run()?,
            ))
        });
        c.add(format!("groups/slices/{width}"), move |d| {
            let (x, out) = (few_keys(d, 9000, 6)?, d.upload(&[BEFORE; 9000])?);
            let x = x.slice(7..7008)?;
            d.group_rank(x.map(odd), width).write_to(&out.slice(1..)?)?;
            let more = d.upload(&[BEFORE; 18_000])?;
            d.group_match(&x, width).write_to((&more.slice(3..8000)?, &more.slice(9001..)?))?;
            Ok((out, more))
        });
    }
}

/// The sum of all words, each times an odd number of its own.
fn hash<B: Target>(d: &B, out: &Buffer<B, u32>) -> Result<DeviceScalar<B, u32>> {
    d.reduce((out, index()).map(|(x, i)| x * (i * 2 + 1)), Sum).run()
}

fn large<B: Target>(c: &mut Cases<B>) {
    for (n, width) in [(FOLDED, 31), (ABOVE_BINDING, 32)] {
        c.add(format!("groups/large/{width}/n={n}"), move |d| {
            let x = few_keys(d, n, 11)?;
            let ballot = hash(d, &d.group_ballot(x.map(odd), width).run()?)?;
            Ok((ballot, hash(d, &d.group_match_mask(&x, width).run()?)?))
        })
        .bytes(4 * n);
    }
    let n = ABOVE_BINDING;
    c.add("groups/large_rank/1000", move |d| hash(d, &d.group_rank(few_keys(d, n, 11)?.map(odd), 1000).run()?)).bytes(4 * n);
    c.add("groups/large_partition/600000", |d| {
        let x = few_keys(d, 1_500_001, 50_000)?;
        let (rank, size) = d.group_partition(&x, 600_000).run()?;
        Ok((hash(d, &rank)?, hash(d, &size)?))
    });
}
