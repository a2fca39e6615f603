//! P09 move: by index and by shape, of every element type as raw bits, at the edges of tiles, words, bindings and grids.

use super::{ABOVE_BINDING, FEW, FOLDED, input};
use crate::case::{Cases, Target};
use crate::data::{self, Fill};
use half::f16;
use isowarp::element::{Element, Num, Scalar};
use isowarp::patterns::{IndexElement, IndexScalar};
use isowarp::prelude::*;
use isowarp::{Error, Result};

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    typed::<B, f32>(c);
    typed::<B, i32>(c);
    typed::<B, u32>(c);
    typed::<B, f64>(c);
    typed::<B, i64>(c);
    typed::<B, u64>(c);
    typed::<B, f16>(c);
    typed::<B, u8>(c);
    combined::<B, u32>(c);
    combined::<B, i32>(c);
    combined::<B, u64>(c);
    combined::<B, i64>(c);
    checked(c);
    large(c);
    packed(c);
    // A kernel for each type of indices and size of values: too many to compile in the quick run's minute.
    c.quick(false);
    of_type::<B, u8>(c);
    of_type::<B, i8>(c);
    of_type::<B, u16>(c);
    of_type::<B, i16>(c);
    of_type::<B, i64>(c);
}

/// Indices mostly below `limit`, with duplicates, some outside.
fn indices<B: Target, I: IndexScalar>(d: &B, n: u64, limit: u64, seed: &str) -> Result<Buffer<B, I>> {
    let seed = data::seed(seed);
    let outside = [u64::MAX, limit, limit + 1, 1 << 31, u64::from(u32::MAX), (1 << 32) + 1];
    let all: Vec<I> = (0..n)
        .map(|i| {
            let r = data::bits(seed, i);
            I::from_bits64(if r.is_multiple_of(11) { outside[(r >> 8) as usize % outside.len()] } else { (r >> 16) % limit.max(1) })
        })
        .collect();
    d.upload(&all)
}

/// A permutation of `0..n`: multiplication by an odd number modulo a power of two, others skipped.
fn permutation(n: u64) -> Vec<u32> {
    let m = n.next_power_of_two().max(1);
    (0..m).map(|i| (i.wrapping_mul(0x9E37_79B1) + 12_345) % m).filter(|&i| i < n).map(|i| i as u32).collect()
}

const SIZES: [u64; 12] = [0, 1, 2, 3, 31, 32, 33, 255, 257, 1025, 4099, 100_003];

/// Rows and columns: lines, single elements, around tiles of 32, 64 and 128, whole and broken vectors.
const SHAPES: [(u64, u64); 20] = [
    (1, 1),
    (1, 100),
    (100, 1),
    (3, 5),
    (7, 300),
    (8, 8),
    (31, 33),
    (32, 32),
    (33, 31),
    (63, 65),
    (64, 64),
    (64, 128),
    (65, 63),
    (72, 200),
    (127, 129),
    (128, 128),
    (129, 127),
    (256, 136),
    (300, 3),
    (515, 260),
];

fn typed<B: Target, T: Element>(c: &mut Cases<B>) {
    let t = T::DTYPE;
    indexed::<B, T, u32>(c);
    indexed::<B, T, i32>(c);
    indexed::<B, T, u64>(c);
    c.add(format!("move/permute/{t}"), |d| {
        let x = input::<B, T>(d, Fill::Bits, 5003, "x")?;
        let order = d.upload(&permutation(5003))?;
        let y = d.permute(&x, &order).run()?;
        Ok((d.permute(&y, &order).inverse().run()?, y))
    })
    .needs(&[t]);
    for n in SIZES {
        c.add(format!("move/reverse/{t}/n={n}"), move |d| d.reverse(&input::<B, T>(d, Fill::Bits, n, "x")?).run()).needs(&[t]);
    }
    for (n, by) in [(0, 3), (1, -5), (33, 1), (1025, -1), (4099, 1000), (4099, 4099), (100_003, -77_777)] {
        c.add(format!("move/rotate/{t}/n={n}/by={by}"), move |d| d.rotate(&input::<B, T>(d, Fill::Bits, n, "x")?, by).run()).needs(&[t]);
    }
    c.add(format!("move/transpose/{t}"), |d| {
        SHAPES.iter().map(|&(r, q)| d.transpose(&input::<B, T>(d, Fill::Bits, r * q, "matrix")?, r, q).run()).collect::<Result<Vec<_>>>()
    })
    .needs(&[t]);
    c.add(format!("move/transpose_batched/{t}"), |d| {
        let of = |n, r, q| d.transpose(&input::<B, T>(d, Fill::Bits, n * r * q, "batch")?, r, q).batch(n).run();
        Ok((of(3, 65, 66)?, of(7, 16, 8)?, of(100, 3, 4)?))
    })
    .needs(&[t]);
    c.add(format!("move/transpose_in_place/{t}"), |d| {
        let x = input::<B, T>(d, Fill::Bits, 20_000, "matrix")?;
        d.transpose(&x.slice(5..5 + 96 * 136)?, 96, 136).in_place()?;
        d.transpose(&x.slice(15_001..15_001 + 65 * 65)?, 65, 65).in_place()?;
        Ok(x)
    })
    .needs(&[t]);
    c.add(format!("move/transpose_square/{t}"), |d| {
        let square = |first: u64, batch: u64, side: u64| {
            let x = input::<B, T>(d, Fill::Bits, first + batch * side * side + 7, "squares")?;
            d.transpose(&x.slice(first..first + batch * side * side)?, side, side).batch(batch).in_place()?;
            Ok(x)
        };
        let sides =
            [(0, 3, 0), (0, 5, 1), (0, 100, 2), (1, 70, 3), (3, 1000, 4), (2, 40, 7), (0, 50, 8), (8, 9, 31), (16, 5, 32), (1, 5, 32)];
        let tiles = [
            (0, 3, 33),
            (0, 4, 64),
            (4, 3, 65),
            (0, 2, 96),
            (5, 2, 128),
            (8, 1, 129),
            (0, 1, 192),
            (0, 1, 256),
            (0, 2, 260),
            (3, 1, 517),
            (0, 200, 64),
            (3, 200, 66),
        ];
        sides.into_iter().chain(tiles).map(|(first, batch, side)| square(first, batch, side)).collect::<Result<Vec<_>>>()
    })
    .needs(&[t]);
    c.add(format!("move/transpose_rectangle/{t}"), move |d| {
        // Where it begins, the matrices, and the elements that they go through, which hold none of them, but for the last.
        let rectangles = [
            (0, [1, 256, 512], 8192),
            (8, [1, 512, 256], 8192),
            (1, [1, 512, 256], 20_000),
            (3, [1, 211, 101], 1024),
            (0, [1, 127, 331], 3000),
            (5, [3, 68, 132], 2048),
            (2, [2, 130, 67], 1500),
            (0, [1, 48, 4096], 8192),
            (7, [1, 5003, 12], 4096),
            (1, [1, 7, 5003], 2048),
            (0, [1, 4096, 4], 1024),
            (0, [1, 3, 7000], 700),
            (3, [1, 10_001, 2], 900),
            (0, [2, 2, 4096], 512),
            (9, [100, 7, 15], 1024),
        ];
        let turned = move |(first, shape, through): (u64, [u64; 3], u64)| {
            let n: u64 = shape.iter().product();
            let x = input::<B, T>(d, Fill::Bits, first + n + 7, "rectangles")?;
            d.transpose_through(&x.slice(first..first + n)?, shape, through * t.size_bytes())?;
            Ok(x)
        };
        rectangles.into_iter().map(turned).collect::<Result<Vec<_>>>()
    })
    .needs(&[t]);
    c.add(format!("move/transpose_slices/{t}"), |d| {
        let x = input::<B, T>(d, Fill::Bits, 20_000, "from")?;
        let mut outs = Vec::new();
        for (from, to) in [(0, 0), (1, 0), (0, 3), (5, 2), (8, 8)] {
            let out = input::<B, T>(d, Fill::Bits, 20_000, "to")?;
            d.transpose(&x.slice(from..from + 96 * 136)?, 96, 136).write_to(&out.slice(to..to + 96 * 136)?)?;
            outs.push(out);
        }
        Ok(outs)
    })
    .needs(&[t]);
    c.add(format!("move/permute_axes/{t}"), |d| {
        let x = input::<B, T>(d, Fill::Bits, 5 * 12 * 17 * 24, "axes")?;
        let orders = [[0, 1, 2, 3], [3, 2, 1, 0], [0, 3, 1, 2], [2, 3, 0, 1], [1, 0, 3, 2], [3, 1, 0, 2], [0, 2, 1, 3]];
        orders.iter().map(|o| d.permute_axes(&x, &[5, 12, 17, 24], o).run()).collect::<Result<Vec<_>>>()
    })
    .needs(&[t]);
    c.add(format!("move/image_layouts/{t}"), |d| {
        let mut outs = Vec::new();
        for channels in [1, 3, 4, 16] {
            let x = input::<B, T>(d, Fill::Bits, 2 * channels * 19 * 21, "images")?;
            for from in ImageLayout::ALL {
                for to in ImageLayout::ALL {
                    outs.push(d.convert_layout(&x, [2, channels, 19, 21], from, to).run()?);
                }
            }
        }
        Ok(outs)
    })
    .needs(&[t]);
    c.add(format!("move/pitched/{t}"), |d| {
        let x = input::<B, T>(d, Fill::Bits, 10_000, "from")?;
        let (a, b) = (input::<B, T>(d, Fill::Bits, 10_000, "to")?, input::<B, T>(d, Fill::Bits, 10_000, "to")?);
        d.copy_2d_into((&x.slice(3..)?, 101), (&a.slice(1..)?, 130), 70, 99)?;
        d.copy_3d_into((&x, [640, 32]), (&b.slice(2..)?, [700, 35]), [11, 20, 30])?;
        Ok((a, b))
    })
    .needs(&[t]);
    c.add(format!("move/strided/{t}"), |d| {
        let x = input::<B, T>(d, Fill::Bits, 4000, "from")?;
        let (a, b) = (input::<B, T>(d, Fill::Bits, 4000, "to")?, input::<B, T>(d, Fill::Bits, 4000, "to")?);
        let axes = [Axis { n: 20, from: -100, to: 3 }, Axis { n: 50, from: 2, to: 70 }];
        d.copy_strided_into(&axes, (&x, 2500), (&a, 7))?;
        d.copy_strided_into(&[Axis { n: 30, from: 0, to: 40 }, Axis { n: 33, from: -3, to: 1 }], (&x, 3999), (&b, 1))?;
        Ok((a, b))
    })
    .needs(&[t]);
    c.add(format!("move/morton/{t}"), |d| {
        let shapes: [&[u64]; 7] = [&[1], &[64], &[16, 16], &[4, 64], &[128, 2], &[8, 8, 8], &[2, 32, 4]];
        let mut outs = Vec::new();
        for shape in shapes {
            let x = input::<B, T>(d, Fill::Bits, shape.iter().product(), "field")?;
            let m = d.to_morton(&x, shape).run()?;
            outs.push(d.from_morton(&m, shape).run()?);
            outs.push(m);
        }
        Ok(outs)
    })
    .needs(&[t]);
}

fn indexed<B: Target, T: Element, I: IndexScalar>(c: &mut Cases<B>) {
    let (t, i) = (T::DTYPE, I::DTYPE);
    for n in FEW {
        c.add(format!("move/gather/{t}/{i}/n={n}"), move |d| {
            d.gather(&input::<B, T>(d, Fill::Bits, 3001, "values")?, &indices::<B, I>(d, n, 3001, "gather")?).run()
        })
        .needs(&[t, i]);
        c.add(format!("move/scatter/{t}/{i}/n={n}"), move |d| {
            let out = input::<B, T>(d, Fill::Bits, 3001, "targets")?;
            d.scatter(&input::<B, T>(d, Fill::Bits, n, "values")?, &indices::<B, I>(d, n, 3001, "scatter")?).write_to(&out)?;
            Ok(out)
        })
        .needs(&[t, i]);
    }
    c.add(format!("move/gather_slices/{t}/{i}"), |d| {
        let (x, to) = (input::<B, T>(d, Fill::Bits, 999, "values")?, indices::<B, I>(d, 500, 700, "slices")?);
        let out = input::<B, T>(d, Fill::Bits, 700, "around")?;
        d.gather(&x.slice(5..705)?, &to.slice(3..)?).write_to(&out.slice(7..601)?)?;
        d.gather(&x.slice(..0)?, &to.slice(..2)?).write_to(&out.slice(650..)?)?;
        Ok(out)
    })
    .needs(&[t, i]);
    c.add(format!("move/scatter_unique/{t}/{i}"), |d| {
        let order: Vec<I> = permutation(4099).into_iter().map(|k| I::from_bits64(k.into())).collect();
        let out = input::<B, T>(d, Fill::Bits, 5000, "around")?;
        let x = input::<B, T>(d, Fill::Bits, 5000, "values")?;
        // Targets of a slice that begins inside a word, some of the indices past its end.
        d.scatter(&x.slice(3..4002)?, &d.upload(&order)?.slice(100..)?).unique().write_to(&out.slice(5..4001)?)?;
        Ok(out)
    })
    .needs(&[t, i]);
}

/// Indices of a type that kernels do not know by its name: of values of each size, as they are and combined, and checked.
fn of_type<B: Target, I: IndexElement>(c: &mut Cases<B>) {
    of_values::<B, f32, I>(c);
    of_values::<B, u8, I>(c);
    of_values::<B, f16, I>(c);
    of_values::<B, u64, I>(c);
    let i = I::DTYPE;
    // A number of targets that is below the greatest index, and one that is above it.
    for targets in [100, 70_000] {
        c.add(format!("move/indices/{i}/reduced/{targets}"), move |d| {
            let at = input::<B, I>(d, Fill::Bits, 5003, "at")?;
            let (x, y) = (input::<B, f32>(d, Fill::Plain, 5003, "x")?, input::<B, i32>(d, Fill::Bits, 5003, "y")?);
            let (sums, totals) = (input::<B, f32>(d, Fill::Plain, targets, "sums")?, input::<B, i32>(d, Fill::Bits, targets, "totals")?);
            d.scatter(&x, &at).reduce(ScatterOp::Sum).write_to(&sums)?;
            d.scatter(&y, &at).reduce(ScatterOp::Sub).write_to(&totals)?;
            d.scatter(&y, &at).reduce(ScatterOp::Min).write_to(&totals.slice(1..)?)?;
            let counts = d.upload(&vec![3u32; targets as usize])?;
            d.scatter_inc_into(&at, 7, &counts)?;
            let last = d.scatter(&y, &at).combine(Op::associative(0, |_, b| b)).run(targets)?;
            Ok((sums, totals, counts, last))
        })
        .needs(&[i]);
    }
    c.add(format!("move/indices/{i}/checked"), |d| {
        let (x, out) = (input::<B, f32>(d, Fill::Bits, 100, "values")?, input::<B, f32>(d, Fill::Bits, 100, "targets")?);
        let mut outs = Vec::new();
        for bad in [100, 7, u64::MAX] {
            let mut order: Vec<I> = permutation(100).into_iter().map(|k| I::narrow(Scalar::from_bits64(k.into()))).collect();
            (order[40], order[60]) = (I::narrow(Scalar::from_bits64(bad)), I::narrow(Scalar::from_bits64(bad)));
            let order = d.upload(&order)?;
            outs.push(d.upload(&said(d.gather(&x, &order).checked().run().map(drop)))?);
            outs.push(d.upload(&said(d.scatter(&x, &order).unique().checked().write_to(&out)))?);
            outs.push(d.upload(&said(d.scatter(&x, &order).reduce(ScatterOp::Max).checked().write_to(&out)))?);
            outs.push(d.upload(&said(d.permute(&x, &order).inverse().checked().write_to(&out)))?);
        }
        Ok((outs, out))
    })
    .needs(&[i]);
}

fn of_values<B: Target, T: Element, I: IndexElement>(c: &mut Cases<B>) {
    let (t, i) = (T::DTYPE, I::DTYPE);
    for (n, len) in [(0, 5), (1, 0), (33, 7), (3001, 90), (5003, 70_000)] {
        c.add(format!("move/indices/{i}/{t}/{n}/{len}"), move |d| {
            let (x, at) = (input::<B, T>(d, Fill::Bits, len + 3, "x")?, input::<B, I>(d, Fill::Bits, n + 1, "at")?);
            // Inside words.
            let (from, at) = (x.slice(3..)?, at.slice(1..)?);
            let out = input::<B, T>(d, Fill::Wide, len + 5, "out")?;
            d.scatter(&input::<B, T>(d, Fill::Bits, n, "values")?, &at).write_to(&out.slice(5..)?)?;
            Ok((d.gather(&from, &at).run()?, out))
        })
        .needs(&[t, i]);
    }
    c.add(format!("move/indices/{i}/{t}/unique"), |d| {
        let order: Vec<I> = permutation(120).into_iter().map(|k| I::narrow(Scalar::from_bits64(k.into()))).collect();
        let (x, order, out) = (input::<B, T>(d, Fill::Bits, 120, "x")?, d.upload(&order)?, input::<B, T>(d, Fill::Wide, 110, "out")?);
        // Some of the indices are past the end.
        d.scatter(&x, &order).unique().write_to(&out.slice(1..109)?)?;
        Ok((out, d.permute(&d.permute(&x, &order).run()?, &order).inverse().run()?))
    })
    .needs(&[t, i]);
}

fn combined<B: Target, T: Element<Reg = T> + Num>(c: &mut Cases<B>) {
    let t = T::DTYPE;
    for op in ScatterOp::COMBINING {
        for (n, targets) in [(0, 7), (1, 1), (33, 5), (8193, 1), (8193, 977), (100_003, 60_000)] {
            c.add(format!("move/scatter_reduce/{}/{t}/{n}->{targets}", op.name()), move |d| {
                let out = input::<B, T>(d, Fill::Bits, targets + 3, "targets")?;
                let to = indices::<B, u32>(d, n, targets, "reduce")?;
                d.scatter(&input::<B, T>(d, Fill::Bits, n, "values")?, &to).reduce(op).write_to(&out.slice(1..targets + 1)?)?;
                Ok(out)
            })
            .needs(&[t]);
        }
    }
}

/// Returns the message of a call's error, as words; nothing for `Ok`.
fn said(result: Result<(), Error>) -> Vec<u32> {
    result.err().map_or_else(Vec::new, |e| e.to_string().into_bytes().into_iter().map(u32::from).collect())
}

fn checked<B: Target>(c: &mut Cases<B>) {
    c.add("move/checked", |d| {
        let x = input::<B, f32>(d, Fill::Bits, 100, "values")?;
        let mut outs = Vec::new();
        for bad in [100u32, 7, u32::MAX] {
            let mut order = permutation(100);
            (order[40], order[60]) = (bad, bad);
            let order = d.upload(&order)?;
            let out = input::<B, f32>(d, Fill::Bits, 100, "targets")?;
            outs.push(d.upload(&said(d.gather(&x, &order).checked().run().map(drop)))?);
            outs.push(d.upload(&said(d.scatter(&x, &order).unique().checked().write_to(&out)))?);
            outs.push(d.upload(&said(d.scatter(&x, &order).checked().write_to(&out)))?);
            outs.push(d.upload(&out.read_blocking()?.iter().map(|v| v.to_bits()).collect::<Vec<_>>())?);
        }
        let signed = d.upload(&[3i32, 0, -1, -2])?;
        outs.push(d.upload(&said(d.gather(&x, &signed).checked().run().map(drop)))?);
        Ok(outs)
    });
}

/// The sum of all words, each times an odd number of its own.
fn hash<B: Target>(d: &B, out: &Buffer<B, u32>) -> Result<DeviceScalar<B, u32>> {
    d.reduce((out, index()).map(|(x, i)| x * (i * 2 + 1)), Sum).run()
}

fn large<B: Target>(c: &mut Cases<B>) {
    let n = ABOVE_BINDING;
    // An odd multiplier takes every index somewhere else, a few beyond the end.
    let spread = |d: &B, n: u64| d.generate(n, index(), move |i| (i * 0x9E37_79B1) % (n as u32 + 1000));
    c.add("move/gather/u32/above_binding_limit", move |d| hash(d, &d.gather(&d.iota(n, 5u32, 3)?, &spread(d, n)?).run()?))
        .bytes(4 * n)
        .full();
    c.add("move/scatter/u32/above_binding_limit", move |d| {
        let out = d.iota(n, 0u32, 7)?;
        d.scatter(&d.iota(n, 5u32, 3)?, &spread(d, n)?).write_to(&out)?;
        hash(d, &out)
    })
    .bytes(4 * n)
    .full();
    c.add("move/scatter_reduce/sum/u32/folded_grid", move |d| {
        let out = d.iota(FOLDED, 0u32, 7)?;
        d.scatter(&d.iota(FOLDED, 5u32, 3)?, &spread(d, FOLDED)?).reduce(ScatterOp::Sum).write_to(&out)?;
        hash(d, &out)
    })
    .bytes(4 * FOLDED)
    .full();
    for (rows, columns) in [(2048u64, 4096u64), (4099, 4101), (6500, 6456), (8_400_000, 5), (5, 8_400_000)] {
        c.add(format!("move/transpose/u32/{rows}x{columns}"), move |d| {
            hash(d, &d.transpose(&d.iota(rows * columns, 5u32, 3)?, rows, columns).run()?)
        })
        .bytes(4 * rows * columns)
        .full();
    }
    c.add("move/transpose/u8/12000x12000", |d| {
        let x = d.generate(12_000 * 12_000, index(), |i| ((i * 0x9E37_79B1) >> 13).store_as::<u8>())?;
        let y = d.transpose(&x, 12_000, 12_000).run()?;
        d.reduce((&y, index()).map(|(x, i)| x * (i * 2 + 1)), Sum).run()
    })
    .needs(&[u8::DTYPE])
    .bytes(144_000_000)
    .full();
}

fn packed<B: Target>(c: &mut Cases<B>) {
    for n in [0, 1, 3, 4, 1025, 100_003] {
        c.add(format!("move/pack/n={n}"), move |d| {
            let words = d.pack_u8(&input::<B, u32>(d, Fill::Bits, n, "bytes")?).run()?;
            Ok((d.unpack_u8(&words, n).run()?, words))
        });
    }
}
