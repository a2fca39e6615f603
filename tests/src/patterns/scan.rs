//! P03 scan: inclusive and exclusive, built-in operators and one's own, along axes, segmented, by key.

use super::{ABOVE_BINDING, FEW, FOLDED, ROWS_ABOVE_BINDING, SIZES, input};
use crate::case::{Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::element::{Element, Num};
use isowarp::prelude::*;

/// Around one tile, two tiles, and a carry that runs through many.
const TILES: [u64; 8] = [8191, 8192, 8193, 16_383, 16_384, 16_385, 24_577, 300_001];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for n in SIZES.into_iter().chain(TILES.into_iter().filter(|n| !SIZES.contains(n))) {
        c.add(format!("scan/sum/f32/cancel/n={n}"), move |d| {
            let x = input::<B, f32>(d, Fill::Cancel, n, "x")?;
            Ok((d.scan(&x, Sum).run()?, d.scan(&x, Sum).exclusive().run()?))
        });
        c.add(format!("scan/sum/u32/plain/n={n}"), move |d| {
            let x = input::<B, u32>(d, Fill::Plain, n, "x")?;
            Ok((d.cumsum(&x)?, d.scan(&x, Sum).exclusive().run()?))
        });
    }
    numbers::<B, f32>(c);
    numbers::<B, i32>(c);
    numbers::<B, u32>(c);
    numbers::<B, f64>(c);
    numbers::<B, i64>(c);
    numbers::<B, u64>(c);
    custom(c);
    sources(c);
    segments(c);
    axes::<B, f32>(c);
    axes::<B, u32>(c);
    axes::<B, u64>(c);
    large(c);
}

fn numbers<B: Target, T: Element<Reg = T> + Num>(c: &mut Cases<B>) {
    let t = T::DTYPE;
    for fill in Fill::ALL {
        for n in [37, 20_011] {
            c.add(format!("scan/sum/{t}/{}/n={n}", fill.name()), move |d| d.cumsum(&input::<B, T>(d, fill, n, "x")?)).needs(&[t]);
        }
    }
    for n in FEW {
        c.add(format!("scan/product/{t}/n={n}"), move |d| d.scan(&input::<B, T>(d, Fill::Plain, n, "x")?, Product).run()).needs(&[t]);
        c.add(format!("scan/running_max/{t}/n={n}"), move |d| d.scan(&input::<B, T>(d, Fill::Bits, n, "x")?, Max).run()).needs(&[t]);
        c.add(format!("scan/exclusive_min/{t}/n={n}"), move |d| d.scan(&input::<B, T>(d, Fill::Wide, n, "x")?, Min).exclusive().run())
            .needs(&[t]);
    }
}

fn custom<B: Target>(c: &mut Cases<B>) {
    for n in FEW.into_iter().chain(TILES.into_iter().filter(|n| !FEW.contains(n))) {
        // x -> a x + b over 16-bit numbers, both in one word; composed from left to right.
        c.add(format!("scan/affine/u32/n={n}"), move |d| {
            let x = input::<B, u32>(d, Fill::Plain, n, "x")?;
            d.scan(
                &x,
                Op::associative(1 << 16, |f: Expr<u32>, g: Expr<u32>| {
                    let (a, b) = ((f >> 16) * (g >> 16), (f & 0xFFFFu32) * (g >> 16) + (g & 0xFFFFu32));
                    (a << 16) | (b & 0xFFFFu32)
                }),
            )
            .run()
        });
    }
    for n in FEW {
        // Products of 2 x 2 matrices over bytes, one matrix a word, row by row from the low byte.
        c.add(format!("scan/matrix_product/u32/n={n}"), move |d| {
            let x = input::<B, u32>(d, Fill::Plain, n, "x")?;
            d.scan(
                &x,
                Op::associative(0x0100_0001, |p: Expr<u32>, q: Expr<u32>| {
                    let at = |m: Expr<u32>, k: u32| (m >> (8 * k)) & 0xFFu32;
                    let entry =
                        |r: u32, k: u32| ((at(p, 2 * r) * at(q, k) + at(p, 2 * r + 1) * at(q, 2 + k)) & 0xFFu32) << (8 * (2 * r + k));
                    entry(0, 0) | entry(0, 1) | entry(1, 0) | entry(1, 1)
                }),
            )
            .run()
        });
        c.add(format!("scan/wide_affine/u64/n={n}"), move |d| {
            let x = input::<B, u64>(d, Fill::Plain, n, "x")?;
            let compose = |f: Expr<u64>, g: Expr<u64>| {
                let low = |v: Expr<u64>| v & 0xFFFF_FFFFu64;
                (((f >> 32) * (g >> 32)) << 32) | low(low(f) * (g >> 32) + low(g))
            };
            d.scan(&x, Op::associative(1 << 32, compose)).exclusive().run()
        })
        .needs(&[u64::DTYPE]);
        c.add(format!("scan/last_non_zero/u32/n={n}"), move |d| {
            d.scan(&input::<B, u32>(d, Fill::Subnormal, n, "x")?, Op::associative(0, |a: Expr<u32>, b| select(b.ne(0), b, a))).run()
        });
        c.add(format!("scan/first/f32/n={n}"), move |d| {
            d.scan(&input::<B, f32>(d, Fill::Plain, n, "x")?, Op::associative(0.0, |a, _| a)).run()
        });
        c.add(format!("scan/subtraction_shows_order/f32/n={n}"), move |d| {
            // Not associative: only the contract's own order gives these bits.
            d.scan(&input::<B, f32>(d, Fill::Wide, n, "x")?, Op::associative(0.0, |a, b| a - b * 0.5)).run()
        });
    }
    // Exponential and logarithm in every step of the tree: a software adapter's compiler takes a minute over it.
    for n in [33, 8193] {
        c.add(format!("scan/log_sum_exp/f32/n={n}"), move |d| {
            let x = input::<B, f32>(d, Fill::Plain, n, "x")?;
            d.scan(&x, Op::associative(f32::NEG_INFINITY, |a, b| a.max(b) + (-(a - b).abs()).exp().ln_1p())).exclusive().run()
        })
        .full();
    }
    c.add("scan/log_sum_exp/f32/axis", |d| {
        let x = input::<B, f32>(d, Fill::Plain, 3 * 90 * 7, "x")?;
        let op = || Op::associative(f32::NEG_INFINITY, |a: Expr<f32>, b| a.max(b) + (-(a - b).abs()).exp().ln_1p());
        Ok((d.scan(&x, op()).axis(&[3, 90, 7], 1).run()?, d.scan(&x, op()).axis(&[3, 90, 7], 1).exclusive().run()?))
    })
    .full();
}

fn sources<B: Target>(c: &mut Cases<B>) {
    for n in FEW {
        c.add(format!("scan/of_lengths/u8/n={n}"), move |d| d.scan(&input::<B, u8>(d, Fill::Plain, n, "x")?, Sum).exclusive().run())
            .needs(&[u8::DTYPE]);
        c.add(format!("scan/of_halves/f16/n={n}"), move |d| d.scan(&input::<B, f16>(d, Fill::Wide, n, "x")?, Sum).run())
            .needs(&[f16::DTYPE]);
        c.add(format!("scan/of_flags/n={n}"), move |d| {
            d.scan((&input::<B, f32>(d, Fill::Bits, n, "x")?, index()).map(|(x, i)| (x.gt(0.5) & (i % 7).ne(3)).cast::<u32>()), Sum)
                .exclusive()
                .run()
        });
    }
    for start in [1, 3, 8191] {
        c.add(format!("scan/slice/f32/+{start}"), move |d| {
            let (x, out) = (input::<B, f32>(d, Fill::Cancel, 30_000, "x")?, input::<B, f32>(d, Fill::Plain, 30_000, "out")?);
            d.scan(&x.slice(start..20_000)?, Sum).write_to(&out.slice(start + 2..)?)?;
            Ok(out)
        });
    }
    c.add("scan/reversed/f32", |d| d.scan(&input::<B, f32>(d, Fill::Cancel, 20_001, "x")?.reversed(), Sum).run());
    c.add("scan/strided/u32", |d| d.scan(&input::<B, u32>(d, Fill::Plain, 60_000, "x")?.strided(2, 19_999, 3)?, Sum).exclusive().run());
}

fn segments<B: Target>(c: &mut Cases<B>) {
    for n in FEW.into_iter().chain([8192, 24_577]) {
        for (name, every) in [("short", 5u32), ("long", 9_000)] {
            c.add(format!("scan/segmented_{name}/f32/n={n}"), move |d| {
                let x = input::<B, f32>(d, Fill::Cancel, n, "x")?;
                let flags = d.map(&input::<B, u32>(d, Fill::Plain, n, "flags")?, |f| ((f >> 5) % every).eq(0).cast::<u32>())?;
                Ok((d.scan(&x, Sum).by_flags(&flags).run()?, d.scan(&x, Sum).by_flags(&flags).exclusive().run()?))
            });
            c.add(format!("scan/by_key_{name}/u32/n={n}"), move |d| {
                let x = input::<B, u32>(d, Fill::Plain, n, "x")?;
                let keys = d.cumsum(&d.map(&input::<B, u32>(d, Fill::Plain, n, "keys")?, |f| ((f >> 5) % every).eq(0).cast::<u32>())?)?;
                Ok((d.scan(&x, Sum).by_key(&keys).run()?, d.scan(&x, Max).by_key(&keys).exclusive().run()?))
            });
        }
        c.add(format!("scan/by_float_key/n={n}"), move |d| {
            d.scan(&input::<B, i32>(d, Fill::Wide, n, "x")?, Sum).by_key(&input::<B, f32>(d, Fill::Sorted, n, "keys")?).run()
        });
        c.add(format!("scan/by_byte_key/n={n}"), move |d| {
            d.scan(&input::<B, f32>(d, Fill::Wide, n, "x")?, Min).by_key(&input::<B, u8>(d, Fill::Sorted, n, "keys")?).run()
        })
        .needs(&[u8::DTYPE]);
    }
    c.add("scan/by_key_with_nan", |d| {
        d.scan(&input::<B, u32>(d, Fill::Equal, 5000, "x")?, Sum).by_key(&input::<B, f32>(d, Fill::Bits, 5000, "keys")?).run()
    });
}

fn axes<B: Target, T: Element<Reg = T> + Num>(c: &mut Cases<B>) {
    let t = T::DTYPE;
    for shape in [[1, 1, 1], [3, 5, 7], [2, 9000, 3], [1, 33, 257], [300, 2, 2], [4, 3, 8193], [1, 70_001, 1], [5, 0, 3]] {
        for axis in 0..3 {
            let n = shape.iter().product();
            c.add(format!("scan/axis/{t}/{}x{}x{}/axis={axis}", shape[0], shape[1], shape[2]), move |d| {
                let x = input::<B, T>(d, Fill::Cancel, n, "x")?;
                Ok((d.scan(&x, Sum).axis(&shape, axis).run()?, d.scan(&x, Max).axis(&shape, axis).exclusive().run()?))
            })
            .needs(&[t]);
        }
    }
}

fn large<B: Target>(c: &mut Cases<B>) {
    for n in [(1 << 20) + 1, FOLDED, ABOVE_BINDING] {
        c.add(format!("scan/large_sum/f32/n={n}"), move |d| {
            let x = d.generate(n, index(), |i| (i * 2_654_435_761).bitcast::<i32>().cast::<f32>())?;
            let out = d.cumsum(&x)?;
            Ok((
                out.slice(n - 1000..)?,
                d.reduce(out.map(isowarp::prelude::Expr::bitcast::<u32>), Xor).run()?,
                d.reduce(out.map(|x| x.bitcast::<u32>() * 0x9E37), Sum).run()?,
            ))
        })
        .bytes(4 * n)
        .quick &= n < 2_000_000;
        c.add(format!("scan/large_sum/u32/n={n}"), move |d| {
            let x = d.generate(n, index(), |i| i * 2_654_435_761)?;
            let out = d.scan(&x, Sum).exclusive().run()?;
            Ok((out.slice(n - 1000..)?, d.reduce((&out, index()).map(|(x, i)| x * (i | 1)), Sum).run()?))
        })
        .bytes(4 * n)
        .quick &= n < 2_000_000;
    }
    // Many tiles in few long lines, and in many lines of a few tiles.
    for shape in [[3, 2_200_001, 1], [40, 130_001, 1]] {
        let n = shape.iter().product();
        c.add(format!("scan/large_lines/f32/{}x{}", shape[0], shape[1]), move |d| {
            let x = d.generate(n, index(), |i| (i * 2_654_435_761).bitcast::<i32>().cast::<f32>())?;
            let digest = |out: Buffer<B, f32>| d.reduce((&out, index()).map(|(x, i)| x.bitcast::<u32>() * (i | 1)), Sum).run();
            Ok((digest(d.scan(&x, Sum).axis(&shape, 1).run()?)?, digest(d.scan(&x, Sum).axis(&shape, 1).exclusive().run()?)?))
        })
        .bytes(4 * n)
        .full();
    }
    // Of eight bytes, so that there are half as many to compute.
    let shape = [ROWS_ABOVE_BINDING[0] / 2, ROWS_ABOVE_BINDING[1]];
    let n = shape.iter().product();
    c.add(format!("scan/axis_above_binding_limit/f64/{}x{}", shape[0], shape[1]), move |d| {
        let x = d.generate(n, index(), |i| (i * 2_654_435_761).bitcast::<i32>().cast::<f64>() * 1e-3)?;
        let out = d.scan(&x, Sum).axis(&shape, 0).exclusive().run()?;
        d.reduce((&out, index()).map(|(x, i)| x.bitcast::<u64>() * (i | 1).cast::<u64>()), Sum).run()
    })
    .bytes(8 * n)
    .needs(&[f64::DTYPE, u64::DTYPE])
    .full();
    c.add(format!("scan/by_key_folded/f32/n={FOLDED}"), |d| {
        let x = d.generate(FOLDED, index(), |i| (i * 2_654_435_761).bitcast::<i32>().cast::<f32>())?;
        let keys = d.generate(FOLDED, index(), |i| i / 100_003)?;
        let out = d.scan(&x, Sum).by_key(&keys).run()?;
        Ok((out.slice(FOLDED - 1000..)?, d.reduce((&out, index()).map(|(x, i)| x.bitcast::<u32>() * (i | 1)), Sum).run()?))
    })
    .bytes(4 * FOLDED)
    .full();
}
