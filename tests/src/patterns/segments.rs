//! P05 by key and segmented: segments of every shape around the vectors, slots and tiles of every backend, and of nothing.

use super::{ABOVE_BINDING, input};
use crate::case::{Cases, Target};
use crate::data::{self, Fill};
use half::f16;
use isowarp::Result;
use isowarp::element::{DType, Element, Scalar};
use isowarp::patterns::ScanTask;
use isowarp::prelude::*;

/// Kind of cut of an array into segments.
#[derive(Clone, Copy)]
pub(super) enum Cut {
    /// Every length from nothing to a few dozen.
    Tiny,
    /// Around what a workgroup reduces together with others.
    Middle,
    /// Nothing, tiny, middle and long ones side by side.
    Mixed,
    /// Lengths one below, at and one above every edge.
    Edges,
    /// One segment.
    One,
    /// An element each.
    Each,
    /// None has an element.
    Empty,
    /// Elements before the first segment and behind the last one.
    Inner,
    /// As many segments of each magnitude.
    Power,
    /// Around the tiles of a sort, with elements before the first and behind the last one; 4096 and more on average.
    Long,
    /// Around what a warp takes at once, and in all.
    Parts,
}

pub(super) const CUTS: [(Cut, &str); 9] = [
    (Cut::Tiny, "tiny"),
    (Cut::Middle, "middle"),
    (Cut::Mixed, "mixed"),
    (Cut::Edges, "edges"),
    (Cut::One, "one"),
    (Cut::Each, "each"),
    (Cut::Empty, "empty"),
    (Cut::Inner, "inner"),
    (Cut::Power, "power"),
];

const EDGES: [u64; 24] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 255, 257, 1023, 1024, 1025, 2049, 4095, 4096, 4097, 8191, 8192, 8193, 16_385];

const PARTS: [u64; 18] = [511, 512, 513, 1, 1023, 1024, 1025, 1536, 1537, 2048, 0, 2561, 3583, 3584, 3585, 4095, 4096, 4097];

/// Keys of a sort's tile, by backend and what travels, and around them.
const TILES: [u64; 17] = [0, 8831, 8832, 8833, 1, 8447, 8448, 8449, 0, 3839, 3840, 3841, 26_495, 7681, 7680, 17_665, 12_673];

impl Cut {
    /// Offsets of segments of `n` elements.
    fn offsets(self, n: u64) -> Vec<u64> {
        let (first, end) = match self {
            Self::Inner => (n / 7, n - n / 5),
            Self::Long => (n / 70, n - n / 50),
            _ => (0, n),
        };
        let mut all = vec![first];
        let mut at = first;
        for k in 0.. {
            let r = data::bits(n ^ 0x5e6, k);
            let length = match self {
                Self::Tiny => r % 33,
                Self::Middle => 900 + r % 300,
                Self::Mixed | Self::Inner => [0, 1, r >> 8 & 3, 1 + (r >> 8) % 40, (r >> 8) % 3000, (r >> 8) % 20_000][r as usize % 6],
                Self::Edges => EDGES[k as usize % EDGES.len()],
                Self::Parts => PARTS[k as usize % PARTS.len()],
                Self::Long => TILES[k as usize % TILES.len()],
                Self::One => n,
                Self::Each => 1,
                Self::Empty => 0,
                Self::Power => (r >> 32) >> (r % 31 + 1),
            };
            if at + length > end || all.len() > 70_000 || at == end && all.len() > 300 {
                break;
            }
            at += length;
            all.push(at);
        }
        if !matches!(self, Self::Empty) && at < end {
            all.push(end);
        }
        all
    }

    pub(super) fn upload<B: Target>(self, d: &B, n: u64) -> Result<Buffer<B, u32>> {
        d.upload(&self.offsets(n).into_iter().map(|o| o as u32).collect::<Vec<_>>())
    }
}

const SIZES: [u64; 9] = [0, 1, 5, 257, 1025, 4097, 8193, 30_011, 100_003];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for (cut, name) in CUTS {
        for n in SIZES {
            c.add(format!("segmented/sum/f32/cancel/{name}/{n}"), move |d| {
                d.reduce(&input::<B, f32>(d, Fill::Cancel, n, "s")?, Sum).segments(&cut.upload(d, n)?).run()
            });
        }
    }
    for n in [0, 1, 33, 1025, 30_011] {
        c.add(format!("by_key/sum/f32/runs/{n}"), move |d| by_key(d, &input::<B, f32>(d, Fill::Cancel, n, "v")?, 5, Sum));
    }
    c.quick(false);
    operators(c);
    types(c);
    keys(c);
    runs(c);
    scans(c);
    super::segmented_sorts::cases(c);
    differences(c);
    large(c);
}

/// Composition of x -> a x + b, which does not commute: accumulators of two words.
fn affine<B: Target>(d: &B, cut: Cut, n: u64) -> Result<(Buffer<B, u32>, Buffer<B, u32>)> {
    let (a, b) = (input::<B, u32>(d, Fill::Plain, n, "a")?, input::<B, u32>(d, Fill::Plain, n, "b")?);
    let then = |f: (Expr<u32>, Expr<u32>), g: (Expr<u32>, Expr<u32>)| (f.0 * g.0, f.1 * g.0 + g.1);
    d.reduce_by((&a, &b).map(|p| p), then).segments(&cut.upload(d, n)?).identity((1u32, 0u32)).run()
}

fn operators<B: Target>(c: &mut Cases<B>) {
    for n in [30_011, 100_003, 2_000_003, 9_000_011] {
        c.add(format!("segmented/parts/{n}"), move |d| affine(d, Cut::Parts, n));
    }
    for (cut, name) in CUTS {
        for n in [257, 8193, 100_003] {
            c.add(format!("segmented/min_and_max/f32/bits/{name}/{n}"), move |d| {
                let (x, offsets) = (input::<B, f32>(d, Fill::Bits, n, "m")?, cut.upload(d, n)?);
                Ok((d.reduce(&x, Min).segments(&offsets).run()?, d.reduce(&x, Max).segments(&offsets).run()?))
            });
            c.add(format!("segmented/affine/u32/{name}/{n}"), move |d| affine(d, cut, n));
        }
    }
    for n in [1025, 30_011, 100_003, 1_200_007] {
        c.add(format!("segmented/three_words/{n}"), move |d| {
            d.reduce_by(input::<B, f32>(d, Fill::Wide, n, "w")?.map(|x| (x, x.abs(), lit(1u32))), |a, b| {
                (a.0 + b.0, a.1.max(b.1), a.2 + b.2)
            })
            .segments(&Cut::Mixed.upload(d, n)?)
            .identity((0.0f32, -1.0f32, 0u32))
            .finish(|(sum, most, count)| (sum, most, count))
            .run()
        });
        c.add(format!("segmented/four_words/{n}"), move |d| {
            let x = input::<B, u32>(d, Fill::Plain, n, "w")?;
            d.reduce_by((&x, index()).map(|(x, i)| (x, i, x, i)), |a, b| {
                let (more, less) = (b.0.gt(a.0), b.2.lt(a.2));
                (more.select(b.0, a.0), more.select(b.1, a.1), less.select(b.2, a.2), less.select(b.3, a.3))
            })
            .segments(&Cut::Mixed.upload(d, n)?)
            .identity((0u32, 7u32, u32::MAX, 9u32))
            .finish(|(_, high, _, low)| (high, low))
            .run()
        });
        c.add(format!("segmented/sparse_rows/{n}"), move |d| {
            let (values, columns) = (input::<B, f32>(d, Fill::Cancel, n, "a")?, input::<B, u32>(d, Fill::Plain, n, "c")?);
            let v = input::<B, f32>(d, Fill::Wide, 1000, "v")?;
            d.reduce((&values, &columns, array(&v)).map(|(a, k, v)| a * v.at(k % 1000)), Sum).segments(&Cut::Tiny.upload(d, n)?).run()
        });
        c.add(format!("segmented/slices_and_wide_offsets/{n}"), move |d| {
            let x = input::<B, f32>(d, Fill::Cancel, n, "x")?.slice(3..)?;
            let offsets = d.upload(&Cut::Power.offsets(n - 3))?.slice(1..)?;
            let out = d.upload(&vec![9.0f32; offsets.len() as usize + 4])?;
            d.reduce(&x, Sum).segments(&offsets).write_to(&out.slice(2..)?)?;
            Ok(out)
        })
        .needs(&[DType::U64]);
    }
    // A heavy operator takes a software adapter's compiler long.
    c.add("segmented/log_sum_exp/30011", |d| {
        let op = Op::associative(f32::NEG_INFINITY, |a: Expr<f32>, b: Expr<f32>| a.max(b) + (-(a - b).abs()).exp().ln_1p());
        d.reduce(&input::<B, f32>(d, Fill::Plain, 30_011, "l")?, op).segments(&Cut::Mixed.upload(d, 30_011)?).run()
    });
    c.add("by_key/log_sum_exp/30011", |d| {
        let op = Op::associative(f32::NEG_INFINITY, |a: Expr<f32>, b: Expr<f32>| a.max(b) + (-(a - b).abs()).exp().ln_1p());
        by_key(d, &input::<B, f32>(d, Fill::Plain, 30_011, "l")?, 5, op)
    })
    .full();
}

fn types<B: Target>(c: &mut Cases<B>) {
    fn one<B: Target, T: Element<Reg = T> + isowarp::element::Num>(c: &mut Cases<B>) {
        let t = T::DTYPE;
        for n in [1025, 30_011] {
            c.add(format!("segmented/sum_and_min/{t}/{n}"), move |d| {
                let (x, offsets) = (input::<B, T>(d, Fill::Bits, n, "t")?, Cut::Mixed.upload(d, n)?);
                Ok((d.reduce(&x, Sum).segments(&offsets).run()?, d.reduce(&x, Min).segments(&offsets).run()?))
            })
            .needs(&[t]);
        }
    }
    one::<B, u32>(c);
    one::<B, i32>(c);
    one::<B, u64>(c);
    one::<B, i64>(c);
    one::<B, f64>(c);
    c.add("segmented/narrow/f16/30011", move |d| {
        let (x, offsets) = (input::<B, f16>(d, Fill::Plain, 30_011, "h")?, Cut::Tiny.upload(d, 30_011)?);
        d.reduce_by(&x, |a, b| a + b).segments(&offsets).identity(0.0f32).finish(Expr::store_as::<f16>).run()
    })
    .needs(&[DType::F16]);
    c.add("segmented/narrow/u8/30011", move |d| {
        let (x, offsets) = (input::<B, u8>(d, Fill::Plain, 30_011, "b")?, Cut::Tiny.upload(d, 30_011)?);
        d.reduce_by(&x, Expr::max).segments(&offsets).identity(0u32).finish(Expr::store_as::<u8>).run()
    })
    .needs(&[DType::U8]);
}

/// Runs of keys of a mean length, reduced into buffers of the caller's, which come back whole.
fn by_key<B: Target, T: Element<Reg = T> + Scalar>(
    d: &B,
    values: &Buffer<B, T>,
    mean: u64,
    op: impl isowarp::ops::Combine<T>,
) -> Result<(Buffer<B, u32>, Buffer<B, T>, Buffer<B, u32>)> {
    let n = values.len();
    let (mut key, mut keys) = (0, Vec::with_capacity(n as usize));
    for i in 0..n {
        key += u32::from(data::bits(mean, i).is_multiple_of(mean));
        keys.push(key % 7);
    }
    of_keys(d, &keys, values, op)
}

/// Values reduced by these keys, into buffers of the caller's, which come back whole.
fn of_keys<B: Target, T: Element<Reg = T> + Scalar>(
    d: &B,
    keys: &[u32],
    values: &Buffer<B, T>,
    op: impl isowarp::ops::Combine<T>,
) -> Result<(Buffer<B, u32>, Buffer<B, T>, Buffer<B, u32>)> {
    let n = values.len();
    let zeros = |n: u64| d.upload(&vec![0u32; n as usize]);
    let (k, count) = (zeros(n)?, zeros(1)?);
    let out = d.upload(&vec![T::zeroed(); n as usize])?;
    d.reduce(values, op).by_key(&d.upload(keys)?).write_to(((&k, &out), &count))?;
    Ok((k, out, count))
}

/// A key to each of so many elements, the same in each of these segments. Empty ones have none.
fn keys_of(offsets: &[u64], n: u64) -> Vec<u32> {
    let mut keys = vec![9; n as usize];
    for (k, bounds) in offsets.windows(2).enumerate() {
        keys[bounds[0] as usize..bounds[1] as usize].fill(k as u32 % 7);
    }
    keys
}

/// Runs around what a thread, a warp and a block reduce, around tiles, and across them.
fn runs<B: Target>(c: &mut Cases<B>) {
    for length in [63, 64, 65, 128, 129, 1023, 1024, 1025, 4095, 4097] {
        c.add(format!("by_key/lengths/{length}"), move |d| {
            let keys: Vec<u32> = (0..30_011).map(|i| (i / length) as u32).collect();
            of_keys(d, &keys, &input::<B, f32>(d, Fill::Cancel, 30_011, "v")?, Sum)
        });
    }
    for n in [4095, 4096, 4097, 8192, 12_289] {
        c.add(format!("by_key/tiles/{n}"), move |d| by_key(d, &input::<B, f32>(d, Fill::Cancel, n, "v")?, 4, Sum));
    }
    for (cut, name) in [(Cut::Mixed, "mixed"), (Cut::Edges, "edges"), (Cut::Power, "power")] {
        c.add(format!("by_key/cuts/f32/{name}"), move |d| {
            let keys = keys_of(&cut.offsets(100_003), 100_003);
            of_keys(d, &keys, &input::<B, f32>(d, Fill::Cancel, 100_003, "v")?, Sum)
        });
        c.add(format!("by_key/cuts/f64/{name}"), move |d| {
            let keys = keys_of(&cut.offsets(100_003), 100_003);
            of_keys(d, &keys, &input::<B, f64>(d, Fill::Cancel, 100_003, "v")?, Sum)
        })
        .needs(&[DType::F64]);
    }
    // Above the tiles that look back for themselves.
    for (mean, name) in [(4, "few"), (3000, "long")] {
        c.add(format!("by_key/served/f32/{name}"), move |d| by_key(d, &input::<B, f32>(d, Fill::Cancel, 700_001, "v")?, mean, Sum));
        c.add(format!("by_key/served/u64/{name}"), move |d| by_key(d, &input::<B, u64>(d, Fill::Bits, 700_001, "v")?, mean, Xor))
            .needs(&[DType::U64]);
    }
    c.add("by_key/slices/20000", move |d| {
        let keys = d.map(&d.iota::<u32>(20_003, 0, 1)?, |i| i / 5)?.slice(3..)?;
        let values = input::<B, f32>(d, Fill::Cancel, 20_001, "v")?.slice(1..)?;
        let (k, v, count) = (d.upload(&vec![0u32; 20_001])?, d.upload(&vec![0.0f32; 20_002])?, d.upload(&[7u32; 3])?);
        d.reduce(&values, Sum).by_key(&keys).write_to(((&k.slice(1..)?, &v.slice(2..)?), &count.slice(1..)?))?;
        Ok((k, v, count))
    });
    c.add("by_key/many_inputs/20011", move |d| {
        let (n, key) = (20_011, d.map(&d.iota::<u32>(20_011, 0, 1)?, |i| i / 3)?);
        let (k, v, count) = (d.upload(&vec![0u32; n])?, d.upload(&vec![0u32; n])?, d.buffer(1)?);
        let first = (&key, index(), scalar(3u32), scalar(5u32)).map(|(x, i, a, b)| (x * a) ^ (i * b));
        d.reduce((first, scalar(7u32), scalar(9u32)).map(|(x, a, b)| x * a + b), Sum).by_key(&key).write_to(((&k, &v), &count))?;
        Ok((k, v, count))
    });
}

fn keys<B: Target>(c: &mut Cases<B>) {
    for (mean, name) in [(1, "ones"), (4, "few"), (300, "middle"), (3000, "long"), (u64::MAX, "one")] {
        for n in [2, 257, 8193, 100_003] {
            c.add(format!("by_key/max/f32/{name}/{n}"), move |d| by_key(d, &input::<B, f32>(d, Fill::Bits, n, "v")?, mean, Max));
            c.add(format!("by_key/sum/i32/{name}/{n}"), move |d| by_key(d, &input::<B, i32>(d, Fill::Plain, n, "v")?, mean, Sum));
        }
    }
    fn of<B: Target, K: Element>(c: &mut Cases<B>) {
        let t = K::DTYPE;
        c.add(format!("by_key/keys/{t}"), move |d| {
            let n = 20_011;
            let keys = input::<B, K>(d, Fill::Sorted, n, "k")?;
            let (values, k) = (input::<B, u32>(d, Fill::Plain, n, "v")?, d.upload(&vec![K::zeroed(); n as usize])?);
            let (v, count) = (d.upload(&vec![0u32; n as usize])?, d.buffer(1)?);
            d.reduce((&values, index()).map(|(v, i)| v ^ i), Xor).by_key(&keys).write_to(((&k, &v), &count))?;
            Ok((k, v, count))
        })
        .needs(&[t]);
    }
    of::<B, u8>(c);
    of::<B, f16>(c);
    of::<B, f32>(c);
    of::<B, u64>(c);
    of::<B, f64>(c);
    // Elements behind the count are not written: several blocks' worth of them.
    c.add("by_key/rest_stays/100003", move |d| {
        let (out, k, count) = (d.upload(&vec![5u32; 100_003])?, d.upload(&vec![6u32; 100_003])?, d.buffer(1)?);
        let keys = d.map(&d.iota::<u32>(100_003, 0, 1)?, |i| i / 1000)?;
        d.reduce(&keys, Sum).by_key(&keys).write_to(((&k, &out), &count))?;
        Ok((k, out, count))
    });
}

fn scans<B: Target + isowarp::backend::Run<ScanTask>>(c: &mut Cases<B>) {
    for (cut, name) in CUTS {
        for n in [0, 1, 257, 30_011] {
            c.add(format!("segmented_scan/f32/{name}/{n}"), move |d| {
                let (x, offsets) = (input::<B, f32>(d, Fill::Cancel, n, "x")?, cut.upload(d, n)?);
                Ok((d.scan(&x, Sum).segments(&offsets).run()?, d.scan(&x, Max).segments(&offsets).exclusive().run()?))
            });
        }
    }
}

fn differences<B: Target>(c: &mut Cases<B>) {
    fn of<B: Target, T: Element>(c: &mut Cases<B>)
    where
        T::Reg: isowarp::element::Num,
    {
        let t = T::DTYPE;
        for n in [0, 1, 2, 1025, 30_011] {
            c.add(format!("difference/{t}/{n}"), move |d| {
                let x = input::<B, T>(d, Fill::Bits, n, "x")?;
                Ok((d.adjacent_difference(&x).run()?, d.adjacent_difference(&x).right().run()?, d.adjacent(&x, Expr::max).run()?))
            })
            .needs(&[t]);
        }
    }
    of::<B, u8>(c);
    of::<B, f16>(c);
    of::<B, u32>(c);
    of::<B, i32>(c);
    of::<B, f32>(c);
    of::<B, u64>(c);
    of::<B, f64>(c);
}

fn large<B: Target>(c: &mut Cases<B>) {
    // More segments than blocks of a launch take at once.
    c.add("segmented/many/3000001", |d| {
        let offsets = d.map(&d.iota::<u32>(3_000_002, 0, 1)?, |i| i - (i % 3 + 1) / 2)?;
        d.reduce(d.iota::<u32>(3_000_001, 0, 1)?.map(|i| (i * 2_654_435_761u32).cast::<f32>()), Sum).segments(&offsets).run()
    });
    for (name, mean) in [("hundreds", 100), ("thousands", 1000)] {
        c.add(format!("segmented/{name}/4000037"), move |d| {
            let offsets = d.generate(4_000_000 / mean + 1, index(), |i| i * mean as u32 + (i % 13) * (mean as u32 / 40))?;
            d.reduce(d.iota::<u32>(4_000_037, 0, 1)?.map(|i| (i * 2_654_435_761u32).cast::<f32>()), Sum).segments(&offsets).run()
        });
    }
    c.add("segmented/long/5000011", |d| {
        let offsets = d.upload(&[0u32, 3_000_001, 3_000_002, 3_000_002, 5_000_011])?;
        d.reduce(d.iota::<u32>(5_000_011, 0, 1)?.map(|i| (i * 2_654_435_761u32).cast::<f32>()), Sum).segments(&offsets).run()
    });
    c.add("segmented/above_binding_limit/sum", |d| {
        let offsets = d.upload(&[5u32, 6, 1 << 25, (1 << 25) + 900, 40_000_000, ABOVE_BINDING as u32])?;
        let x = d.map(&d.iota::<u32>(ABOVE_BINDING, 0, 1)?, |i| (i * 2_654_435_761u32).cast::<f32>())?;
        d.reduce(&x, Sum).segments(&offsets).run()
    })
    .bytes(4 * ABOVE_BINDING);
}
