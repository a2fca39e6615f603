//! P06 histogram: counts and sums by even bins, edges, operators, channels and two dimensions; what lies behind the bins stays.

use super::{ABOVE_BINDING, FEW, FOLDED, SIZES, input};
use crate::case::{Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::Result;
use isowarp::element::Element;
use isowarp::patterns::histogram::Binned;
use isowarp::patterns::{Bins, HistogramTotal, Weight};
use isowarp::prelude::*;

/// Bins around those that shared memory has room for, alone and in copies.
const BINS: [u32; 16] = [1, 2, 3, 127, 128, 129, 255, 256, 257, 1000, 2048, 4096, 4097, 8192, 8193, 60_000];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for n in SIZES {
        c.add(format!("histogram/even/u32/n={n}"), move |d| {
            let x = input::<B, u32>(d, Fill::Plain, n, "x")?;
            counted(d, 256, even_bins(&x, 0, 1 << 31, 256))
        });
        c.add(format!("histogram/even/f32/n={n}"), move |d| {
            let x = input::<B, f32>(d, Fill::Bits, n, "x")?;
            counted(d, 100, even_bins(&x, -2.0, 3.0, 100))
        });
        c.add(format!("histogram/even/u8/n={n}"), move |d| {
            let x = input::<B, u8>(d, Fill::Plain, n, "x")?;
            counted(d, 256, even_bins(&x, 0, 256, 256))
        })
        .needs(&[u8::DTYPE]);
    }
    // Another kernel for each form and type: too many to compile in the quick run's minute.
    c.quick(false);
    bins(c);
    weights::<B, u32>(c);
    weights::<B, i32>(c);
    weights::<B, u64>(c);
    weights::<B, i64>(c);
    weights::<B, f32>(c);
    exact_sums(c);
    edges(c);
    channels(c);
    sources(c);
    pieces(c);
    large(c);
}

/// Value that a caller's buffer holds where nothing is written.
const BEFORE: u32 = 0xABAB_ABAB;

/// The caller's output whole.
fn counted<B: Target>(d: &B, bins: u64, of: impl Bins<B>) -> Result<Buffer<B, u32>> {
    let out = d.upload(&vec![BEFORE; bins as usize + 3])?;
    d.histogram(&of).write_to(&out)?;
    Ok(out)
}

/// Bins by well-mixed samples, by samples of which half are alike, and by equal ones.
fn sample<B: Target>(d: &B, n: u64, skew: u32) -> Result<Buffer<B, u32>> {
    d.generate(n, index(), move |i| {
        let mixed = i * 2_654_435_761;
        let mixed = mixed ^ (mixed >> 15);
        match skew {
            0 => mixed,
            1 => select((mixed & 1u32).eq(0), 77, mixed),
            _ => lit(77),
        }
    })
}

type ByRemainder<'a, B> = Binned<&'a Buffer<B, u32>, fn(Expr<u32>) -> Expr<u32>>;

fn identity<B: Target>(x: &Buffer<B, u32>, bins: u32) -> ByRemainder<'_, B> {
    binned(x, bins, |x| x)
}

fn by_remainder<B: Target>(d: &B, x: &Buffer<B, u32>, bins: u32) -> Result<Buffer<B, u32>> {
    d.map((x, scalar(bins)), |(x, bins)| x % bins)
}

fn bins<B: Target>(c: &mut Cases<B>) {
    for bins in BINS {
        for (skew, name) in ["uniform", "skewed", "one_bin"].into_iter().enumerate() {
            c.add(format!("histogram/bins_{name}/{bins}"), move |d| {
                let x = by_remainder(d, &sample(d, 30_011, skew as u32)?, bins)?;
                counted(d, bins.into(), identity(&x, bins))
            });
        }
        c.add(format!("histogram/even_of_any_width/{bins}"), move |d| {
            let (x, y) = (input::<B, u32>(d, Fill::Plain, 5003, "x")?, input::<B, f32>(d, Fill::Wide, 5003, "y")?);
            let z = input::<B, i32>(d, Fill::Bits, 5003, "z")?;
            let all = (even_bins(&x, 5, 4_000_000_000, bins), even_bins(&y, -1e30, 3e37, bins), even_bins(&z, i32::MIN, i32::MAX, bins));
            Ok((counted(d, bins.into(), all.0)?, counted(d, bins.into(), all.1)?, counted(d, bins.into(), all.2)?))
        });
    }
    for bins in [1 << 17, 1 << 20] {
        for (skew, name) in ["uniform", "skewed", "one_bin"].into_iter().enumerate() {
            c.add(format!("histogram/many_bins_{name}/{bins}"), move |d| {
                let x = sample(d, 200_003, skew as u32)?;
                counted(d, bins, even_bins(x.map(move |x| x >> 11), 0, 1 << 21, bins as u32))
            });
        }
    }
    c.add("histogram/even/f64", |d| {
        let x = input::<B, f64>(d, Fill::Bits, 10_007, "x")?;
        Ok((counted(d, 33, even_bins(&x, -1.5, 2.5, 33))?, counted(d, 7, even_bins(&x, -1e300, 1e300, 7))?))
    })
    .needs(&[f64::DTYPE]);
    c.add("histogram/even/u64", |d| {
        let x = input::<B, u64>(d, Fill::Plain, 10_007, "x")?;
        let low = x.map(|x| x >> 30);
        let all = (even_bins(&x, 1 << 40, (1 << 40) + (1 << 62), 64), even_bins(low, 1_000_000_000, 5_000_000_000, 33));
        Ok((counted(d, 64, all.0)?, counted(d, 33, all.1)?))
    })
    .needs(&[u64::DTYPE]);
    c.add("histogram/even/i64", |d| {
        let (x, y) = (input::<B, i64>(d, Fill::Wide, 10_007, "x")?, input::<B, i64>(d, Fill::Bits, 10_007, "y")?);
        let all = (even_bins(&x, -300, 500, 7), even_bins(&y, i64::MIN, 0, 128));
        Ok((counted(d, 7, all.0)?, counted(d, 128, all.1)?))
    })
    .needs(&[i64::DTYPE]);
    c.add("histogram/even/f16", |d| {
        let x = input::<B, f16>(d, Fill::Bits, 10_007, "x")?;
        counted(d, 33, even_bins(&x, -1.5, 2.5, 33))
    })
    .needs(&[f16::DTYPE]);
    c.add("histogram/even/i64_any_width", |d| {
        // Thirds of all numbers, whose bins are no power of two wide.
        let (x, y) = (input::<B, i64>(d, Fill::Bits, 10_007, "x")?, input::<B, i64>(d, Fill::Wide, 10_007, "y")?);
        let all = (even_bins(&x, i64::MIN, i64::MAX, 3), even_bins(y.map(|y| y << 30), -5_000_000_000_000, 7_000_000_000_001, 1000));
        counted(d, 3000, all)
    })
    .needs(&[i64::DTYPE]);
    c.add("histogram/counts/u64", |d| {
        let x = sample(d, 100_003, 1)?;
        let out = d.upload(&[u64::MAX; 1003])?;
        d.histogram(even_bins(&x, 0, 4_000_000_000, 1000)).write_to(&out)?;
        let many = d.upload(&[u64::MAX; 70_001])?;
        d.histogram(even_bins(&x, 0, 4_000_000_000, 70_000)).write_to(&many)?;
        Ok((out, many))
    })
    .needs(&[u64::DTYPE]);
}

fn weights<B: Target, W: Weight>(c: &mut Cases<B>) {
    let t = W::DTYPE;
    for bins in [1u32, 5, 256, 400, 3000, 70_000] {
        for (skew, name) in ["uniform", "skewed", "one_bin"].into_iter().enumerate() {
            c.add(format!("histogram/weighted_{name}/{t}/{bins}"), move |d| {
                let (x, w) = (by_remainder(d, &sample(d, 10_007, skew as u32)?, bins)?, input::<B, W>(d, Fill::Wide, 10_007, "w")?);
                let big = input::<B, W>(d, Fill::Plain, 10_007, "w")?;
                Ok((d.histogram(identity(&x, bins)).weighted(&w).run()?, d.histogram(identity(&x, bins)).weighted(&big).run()?))
            })
            .needs(&[t]);
        }
    }
    for n in FEW {
        c.add(format!("histogram/weighted_into/{t}/n={n}"), move |d| {
            let (x, w) = (input::<B, f32>(d, Fill::Plain, n, "x")?, input::<B, W>(d, Fill::Plain, n, "w")?);
            let out = input::<B, W>(d, Fill::Plain, 20, "out")?;
            d.histogram(even_bins(&x, 0.25, 1.0, 10)).weighted(&w).write_to(&out.slice(3..)?)?;
            Ok(out)
        })
        .needs(&[t]);
    }
}

fn exact_sums<B: Target>(c: &mut Cases<B>) {
    for fill in Fill::ALL {
        for bins in [1u32, 9, 256, 5000] {
            c.add(format!("histogram/exact/{}/{bins}", fill.name()), move |d| {
                let (x, w) = (by_remainder(d, &sample(d, 20_011, 0)?, bins)?, input::<B, f32>(d, fill, 20_011, "w")?);
                d.histogram(identity(&x, bins)).weighted(&w).run()
            });
        }
    }
    wide_sums(c);
    // The greatest float so often that the sum is infinite, and back to the least one.
    c.add("histogram/exact/over_the_top", |d| {
        let values = [f32::MAX, f32::MAX, f32::MIN, 1e-45, f32::MIN];
        let x = d.upload(&values.iter().flat_map(|&v| [v; 100]).collect::<Vec<_>>())?;
        let sums = |n: u64| d.histogram(binned((&x.slice(..n)?, index()), 2, |(_, i)| i & 1u32)).weighted(&x.slice(..n)?).run();
        Ok((sums(100)?, sums(200)?, sums(300)?, sums(500)?))
    });
    // Halfway between two floats, a little above, a little below, and so with the sign turned.
    c.add("histogram/exact/ties", |d| {
        let (one, ulp) = (1.0f32, f32::EPSILON);
        let tie = [
            [one, ulp / 2.0, 0.0],
            [one + ulp, ulp / 2.0, 0.0],
            [one, ulp / 2.0, 1e-45],
            [one, ulp / 2.0, -1e-45],
            [8.0 - 4.0 * ulp, 2.0 * ulp, 0.0],
        ];
        let all: Vec<f32> = tie.iter().flat_map(|t| t.iter().copied().chain(t.iter().map(|v| -v))).collect();
        let w = d.upload(&all)?;
        d.histogram(binned((&w, index()), 10, |(_, i)| i / 3)).weighted(&w).run()
    });
}

/// The same of `f64`.
fn wide_sums<B: Target>(c: &mut Cases<B>) {
    let needs = [f64::DTYPE, u64::DTYPE];
    for fill in [Fill::Bits, Fill::Cancel, Fill::Plain] {
        // In shared memory, in that of some devices, and in the output.
        for bins in [9u32, 300, 5000] {
            c.add(format!("histogram/exact_f64/{}/{bins}", fill.name()), move |d| {
                let (x, w) = (by_remainder(d, &sample(d, 8011, 0)?, bins)?, input::<B, f64>(d, fill, 8011, "w")?);
                d.histogram(identity(&x, bins)).weighted(&w).run()
            })
            .needs(&needs);
        }
    }
    c.add("histogram/exact_f64/edges_of_rounding", |d| {
        let (one, ulp, least, most) = (1.0f64, f64::EPSILON, 5e-324, f64::MAX);
        let sums = [
            [one, ulp / 2.0, 0.0],
            [one + ulp, ulp / 2.0, 0.0],
            [one, ulp / 2.0, least],
            [one, ulp / 2.0, -least],
            [8.0 - 4.0 * ulp, 2.0 * ulp, 0.0],
            [most, most, -most],
            [most, most * ulp / 4.0, 0.0],
            [most, most * ulp / 4.0, -least],
            [f64::MIN_POSITIVE, -least, 0.0],
        ];
        let all: Vec<f64> = sums.iter().flat_map(|t| t.iter().copied().chain(t.iter().map(|v| -v))).collect();
        let w = d.upload(&all)?;
        d.histogram(binned((&w, index()), 18, |(_, i)| i / 3)).weighted(&w).run()
    })
    .needs(&needs);
}

fn edges<B: Target>(c: &mut Cases<B>) {
    for n in FEW {
        c.add(format!("histogram/edges/f32/n={n}"), move |d| {
            let x = input::<B, f32>(d, Fill::Bits, n, "x")?;
            let edges = Edges::new(d, &[f32::NEG_INFINITY, -1e10, -1.0, -0.0, 0.0, 1e-45, 1.0, 1.0, 2.5, f32::INFINITY])?;
            counted(d, 9, bins_between(&x, &edges))
        });
        c.add(format!("histogram/edges/i32/n={n}"), move |d| {
            let x = input::<B, i32>(d, Fill::Wide, n, "x")?;
            let edges = Edges::from_buffer(d.upload(&[-500, -3, 0, 1, 2, 3, 400, 401, 1000])?)?;
            counted(d, 8, bins_between(&x, &edges))
        });
    }
    for bins in [1u32, 2, 3, 255, 256, 257, 5000, 70_000] {
        c.add(format!("histogram/edges/u32/{bins}"), move |d| {
            let x = sample(d, 20_011, 1)?;
            // Of no even width.
            let edges: Vec<u32> = (0..=bins)
                .map(|k| (u128::from(k) * u128::from(k) * 4_000_000_000 / (u128::from(bins) * u128::from(bins))) as u32)
                .collect();
            counted(d, bins.into(), bins_between(&x, &Edges::new(d, &edges)?))
        });
    }
    c.add("histogram/edges/f64", |d| {
        let x = input::<B, f64>(d, Fill::Bits, 10_007, "x")?;
        counted(d, 3, bins_between(&x, &Edges::new(d, &[-1e200, 0.0, 1.0, 1e9])?))
    })
    .needs(&[f64::DTYPE]);
    c.add("histogram/edges/u8", |d| {
        let x = input::<B, u8>(d, Fill::Plain, 10_007, "x")?;
        counted(d, 4, bins_between(&x, &Edges::new(d, &[0u8, 1, 100, 200, 255])?))
    })
    .needs(&[u8::DTYPE]);
    c.add("histogram/edges/inclusive", |d| {
        let (x, y) = (input::<B, f32>(d, Fill::Bits, 10_007, "x")?, input::<B, u8>(d, Fill::Plain, 10_008, "y")?);
        // The greatest of a type, -0 beside 0, and last edges that are one.
        let edges = Edges::new(d, &[f32::NEG_INFINITY, -1.0, -0.0])?.inclusive();
        let whole = [Edges::new(d, &[3u8, 100, 255])?.inclusive(), Edges::new(d, &[0u8, 77, 77])?.inclusive()];
        Ok((
            counted(d, 2, bins_between(&x, &edges))?,
            counted(d, 4, bins_between(&x, &edges).with_flow())?,
            d.histogram(channels_between(&y, 2, &[&whole[0], &whole[1]])).run()?,
        ))
    })
    .needs(&[u8::DTYPE]);
}

fn channels<B: Target>(c: &mut Cases<B>) {
    for (channels, active) in [(1u32, 1u32), (2, 1), (3, 3), (4, 1), (4, 3), (4, 4), (7, 2)] {
        for bins in [2u32, 100, 256] {
            c.add(format!("histogram/channels/u8/{active}of{channels}/{bins}"), move |d| {
                let pixels = 5003 * u64::from(channels);
                let x = input::<B, u8>(d, Fill::Plain, pixels + 5, "x")?;
                let out = d.upload(&vec![BEFORE; (active * bins) as usize + 2])?;
                let upper = 10 + bins.max(200);
                let of = |start: u64| d.histogram(channels_alike(&x.slice(start..start + pixels)?, (channels, active), 0, 256, bins)).run();
                d.histogram(channels_alike(&x.slice(4..4 + pixels)?, (channels, active), 10, upper, bins)).write_to(&out)?;
                Ok((of(0)?, of(1)?, out))
            })
            .needs(&[u8::DTYPE]);
        }
    }
    c.add("histogram/channels/f32/3of4", |d| {
        d.histogram(channels_alike(&input::<B, f32>(d, Fill::Plain, 40_004, "x")?, (4, 3), 0.1, 0.9, 3000)).run()
    });
    channels_weighted::<B, u32>(c);
    channels_weighted::<B, i64>(c);
    channels_weighted::<B, f32>(c);
    channels_weighted::<B, f64>(c);
    own_channels(c);
}

/// A weight to a pixel.
fn channels_weighted<B: Target, W: Weight>(c: &mut Cases<B>) {
    let t = W::DTYPE;
    // In shared memory, in that of some devices, and in the output.
    for (channels, active, bins) in [(1u32, 1u32, 7u32), (4, 3, 16), (4, 4, 64), (5, 2, 200), (4, 4, 256)] {
        for n in [0, 1, 4099] {
            c.add(format!("histogram/channels_weighted/u8/{t}/{active}of{channels}/{bins}/n={n}"), move |d| {
                let (all, w) = (n * u64::from(channels), input::<B, W>(d, Fill::Bits, n + 1, "w")?.slice(1..)?);
                let (x, out) = (input::<B, u8>(d, Fill::Plain, all + 5, "x")?, input::<B, W>(d, Fill::Plain, 1030, "out")?);
                // Read as words, and byte by byte.
                d.histogram(channels_alike(&x.slice(4..4 + all)?, (channels, active), 10, 256, bins.min(246)))
                    .weighted(&w)
                    .write_to(&out.slice(3..)?)?;
                Ok((out, d.histogram(channels_alike(&x.slice(1..1 + all)?, (channels, active), 0, 256, bins)).weighted(&w).run()?))
            })
            .needs(&[u8::DTYPE, t]);
        }
    }
    for bins in [3u32, 1000, 70_000] {
        c.add(format!("histogram/channels_weighted/f32/{t}/{bins}"), move |d| {
            let (x, w) = (input::<B, f32>(d, Fill::Plain, 10_006, "x")?, input::<B, W>(d, Fill::Wide, 5003, "w")?);
            d.histogram(channels_alike(&x, (2, 2), 0.1, 0.9, bins)).weighted(&w).run()
        })
        .needs(&[t]);
    }
}

/// Channels with bins of their own.
fn own_channels<B: Target>(c: &mut Cases<B>) {
    for (channels, active) in [(1u32, 1usize), (3, 2), (4, 3), (4, 4), (6, 4)] {
        c.add(format!("histogram/own_channels/u8/{active}of{channels}"), move |d| {
            let pixels = 5003 * u64::from(channels);
            let x = input::<B, u8>(d, Fill::Plain, pixels + 5, "x")?;
            let of = &[(0, 256, 256), (10, 200, 19), (1, 256, 7), (128, 129, 1)][..active];
            let edges = [&[0u8, 1, 100, 200, 255][..], &[7, 7, 8], &[0, 255], &[3, 50, 50, 50, 200]];
            let edges = edges.iter().take(active).map(|e| Edges::new(d, e)).collect::<Result<Vec<_>>>()?;
            let edges: Vec<_> = edges.iter().collect();
            // Read as words, and byte by byte.
            let (even, odd) = (x.slice(4..4 + pixels)?, x.slice(1..1 + pixels)?);
            let out = d.upload(&[BEFORE; 300])?;
            d.histogram(channels_even(&even, channels, of)).write_to(&out)?;
            let between = (
                d.histogram(channels_between(&even, channels, &edges)).run()?,
                d.histogram(channels_between(&odd, channels, &edges)).run()?,
            );
            Ok((out, d.histogram(channels_even(&odd, channels, of)).run()?, between.0, between.1))
        })
        .needs(&[u8::DTYPE]);
        for n in FEW {
            c.add(format!("histogram/own_channels/f32/{active}of{channels}/n={n}"), move |d| {
                let x = input::<B, f32>(d, Fill::Bits, n * u64::from(channels), "x")?;
                let of = &[(-1.0, 1.0, 100), (0.0, 1e30, 3), (-2.5, 7.0, 1000), (-1e30, 1e30, 2)][..active];
                let edges = [&[-1.0f32, 0.0, 1e-45, 2.5][..], &[f32::NEG_INFINITY, -0.0, f32::INFINITY], &[0.0, 1.0], &[-1e10, 1e10]];
                let edges = edges.iter().take(active).map(|e| Edges::new(d, e)).collect::<Result<Vec<_>>>()?;
                let (all, out) = (d.histogram(channels_even(&x, channels, of)).run()?, d.upload(&[BEFORE; 9])?);
                d.histogram(channels_between(&x, channels, &edges.iter().collect::<Vec<_>>())).write_to(&out)?;
                Ok((all, out))
            });
        }
    }
    // More bins than shared memory holds, and numbers of 64 bits.
    c.add("histogram/own_channels/i64", |d| {
        let x = input::<B, i64>(d, Fill::Bits, 20_010, "x")?;
        let out = d.upload(&[u64::MAX; 70_100])?;
        d.histogram(channels_even(&x, 3, &[(i64::MIN, i64::MAX, 70_000), (0, 1 << 62, 3), (-(1 << 40), 1 << 62, 90)])).write_to(&out)?;
        Ok(out)
    })
    .needs(&[i64::DTYPE, u64::DTYPE]);
}

fn sources<B: Target>(c: &mut Cases<B>) {
    for n in FEW {
        c.add(format!("histogram/two_dimensions/n={n}"), move |d| {
            let (x, y) = (input::<B, f32>(d, Fill::Bits, n, "x")?, input::<B, u32>(d, Fill::Plain, n, "y")?);
            counted(d, 20 * 30, (even_bins(&x, -1.0, 1.0, 20), even_bins(&y, 0, 4_000_000_000, 30)))
        });
        c.add(format!("histogram/three_dimensions/n={n}"), move |d| {
            let (x, y) = (input::<B, f32>(d, Fill::Plain, n, "x")?, input::<B, u32>(d, Fill::Plain, n, "y")?);
            let edges = Edges::new(d, &[0.0f32, 0.125, 0.5, 0.75])?;
            let all = (bins_between(&x, &edges), binned(&y, 4, |y| y >> 30), even_bins(&y, 1 << 20, 1 << 31, 5));
            Ok((d.histogram((bins_between(&x, &edges), even_bins(&y, 0, 1 << 31, 3))).weighted(&x).run()?, counted(d, 60, all)?))
        });
        c.add(format!("histogram/of_lazy_inputs/n={n}"), move |d| {
            let (x, y) = (input::<B, f32>(d, Fill::Plain, n, "x")?, input::<B, f32>(d, Fill::Plain, n, "y")?);
            let radius = (&x, &y).map(|(x, y)| x * x + y * y);
            counted(d, 64, even_bins(radius, 0.0f32, 1.5, 64))
        });
    }
    for start in [1u64, 3, 1023] {
        c.add(format!("histogram/slice/f32/+{start}"), move |d| {
            let (x, out) = (input::<B, f32>(d, Fill::Plain, 30_000, "x")?, d.upload(&[BEFORE; 3000])?);
            d.histogram(even_bins(&x.slice(start..20_001)?, 0.0, 1.0, 321)).write_to(&out.slice(start..)?)?;
            Ok(out)
        });
        c.add(format!("histogram/slice/u8/+{start}"), move |d| {
            let (x, out) = (input::<B, u8>(d, Fill::Plain, 30_000, "x")?, d.upload(&[BEFORE; 3000])?);
            d.histogram(even_bins(&x.slice(start..20_001)?, 0, 200, 100)).write_to(&out.slice(start..)?)?;
            Ok(out)
        })
        .needs(&[u8::DTYPE]);
    }
    c.add("histogram/reversed_and_strided", |d| {
        let x = sample(d, 60_000, 0)?;
        let (back, third) = (x.reversed(), x.strided(59_997, 19_999, -3)?);
        Ok((counted(d, 10, even_bins(&back, 0, 4_000_000_000, 10))?, counted(d, 10, even_bins(&third, 0, 4_000_000_000, 10))?))
    });
    // Input and output are parts of one buffer.
    c.add("histogram/beside_the_input", |d| {
        let x = sample(d, 10_000, 0)?;
        d.histogram(even_bins(&x.slice(1000..)?, 0, 4_000_000_000, 500)).write_to(&x.slice(..1000)?)?;
        Ok(x)
    });
}

fn large<B: Target>(c: &mut Cases<B>) {
    for n in [(1 << 20) + 1, FOLDED, ABOVE_BINDING] {
        for (skew, name) in ["uniform", "skewed", "one_bin"].into_iter().enumerate() {
            c.add(format!("histogram/large_{name}/u32/n={n}"), move |d| {
                let x = sample(d, n, skew as u32)?;
                Ok((
                    d.histogram(even_bins(&x, 0, 1 << 31, 256)).run()?,
                    d.histogram(even_bins(x.map(|x| x >> 1), 0, 1 << 31, 1 << 16)).run()?,
                ))
            })
            .bytes(4 * n)
            .quick &= n < 2_000_000;
        }
        c.add(format!("histogram/large_weighted/f32/n={n}"), move |d| {
            let x = sample(d, n, 0)?;
            d.histogram(even_bins(&x, 0, 1 << 31, 256)).weighted(x.map(|x| (x & 0x3FFF_FFFF).bitcast::<f32>())).run()
        })
        .bytes(4 * n)
        .quick &= n < 2_000_000;
    }
}

/// Samples that come in pieces, of which the cuts do not show.
fn pieces<B: Target>(c: &mut Cases<B>) {
    fn weighted<B: Target, W: Weight>(c: &mut Cases<B>, fill: Fill) {
        c.add(format!("histogram/pieces/{}/{}", W::DTYPE, fill.name()), move |d| {
            let (x, w) = (input::<B, u32>(d, Fill::Plain, 30_011, "x")?, input::<B, W>(d, fill, 30_011, "w")?);
            let mut total = HistogramTotal::<B, W>::sums(d, 300)?;
            for cut in [0..0, 0..1, 1..9000, 9000..30_000, 30_000..30_011] {
                total.add_weighted(even_bins(&x.slice(cut.clone())?, 0, 1 << 31, 300), &w.slice(cut)?)?;
            }
            let whole = d.histogram(even_bins(&x, 0, 1 << 31, 300)).weighted(&w).run()?;
            Ok((total.result()?, whole))
        })
        .needs(&[W::DTYPE]);
    }
    weighted::<B, f32>(c, Fill::Plain);
    weighted::<B, f32>(c, Fill::Bits);
    weighted::<B, f32>(c, Fill::Cancel);
    weighted::<B, f64>(c, Fill::Bits);
    weighted::<B, i32>(c, Fill::Plain);
    weighted::<B, u64>(c, Fill::Plain);
    c.add("histogram/pieces/counts", |d| {
        let x = input::<B, f32>(d, Fill::Bits, 30_011, "x")?;
        let (mut few, mut many) = (HistogramTotal::<B, u32>::counts(d, 10_000)?, HistogramTotal::<B, u32>::counts(d, 5)?);
        for cut in [0..4097, 4097..4098, 4098..30_011] {
            few.add(even_bins(&x.slice(cut.clone())?, -2.0, 3.0, 10_000))?;
            many.add(even_bins(&x.slice(cut)?, -2.0, 3.0, 5))?;
        }
        Ok((few.result()?, many.result()?))
    });
    c.add("histogram/pieces/counts_u64", |d| {
        let x = input::<B, u8>(d, Fill::Plain, 30_011, "x")?;
        let mut total = HistogramTotal::<B, u64>::counts(d, 256)?;
        for cut in [0..3, 3..30_011] {
            total.add(even_bins(&x.slice(cut)?, 0, 256, 256))?;
        }
        total.result()
    })
    .needs(&[u8::DTYPE, u64::DTYPE]);
}
