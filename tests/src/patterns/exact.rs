//! P24 exact sums: sizes at the edges of groups of threads, awkward numbers, lines, segments, runs and fused inputs.

use super::{ABOVE_BINDING, SIZES, input, pairs};
use crate::case::{Cases, Target};
use crate::data::{self, Fill};
use half::f16;
use isowarp::Result;
use isowarp::buffer::Buffer;
use isowarp::element::DType;
use isowarp::prelude::*;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for n in SIZES {
        c.add(format!("exact/sum/f32/cancel/n={n}"), move |d| d.exact_sum(&input::<B, f32>(d, Fill::Cancel, n, "x")?).run());
        c.add(format!("exact/sum/f64/cancel/n={n}"), move |d| d.exact_sum(&input::<B, f64>(d, Fill::Cancel, n, "x")?).run())
            .needs(&[DType::F64]);
    }
    for fill in Fill::ALL {
        let f = fill.name();
        for n in [37, 5003, 70_001] {
            c.add(format!("exact/sum/f32/{f}/n={n}/with_mean"), move |d| {
                let x = input::<B, f32>(d, fill, n, "x")?;
                Ok((d.exact_sum(&x).run()?, d.exact_mean(&x).run()?))
            });
            c.add(format!("exact/sum/f64/{f}/n={n}/with_mean"), move |d| {
                let x = input::<B, f64>(d, fill, n, "x")?;
                Ok((d.exact_sum(&x).run()?, d.exact_mean(&x).run()?))
            })
            .needs(&[DType::F64])
            .quick = n == 37;
            c.add(format!("exact/dot/f32/{f}/n={n}"), move |d| {
                d.exact_dot((&input::<B, f32>(d, fill, n, "x")?, &input::<B, f32>(d, Fill::Wide, n, "y")?)).run()
            })
            .needs(&[DType::F64])
            .quick = n == 37;
        }
    }
    c.add("exact/sum/narrow", |d| {
        let (x, y) = (input::<B, f16>(d, Fill::Bits, 5003, "x")?, input::<B, f16>(d, Fill::Cancel, 5003, "y")?);
        Ok((d.exact_sum(&x).run()?, d.exact_sum(&y).run()?, d.exact_sum((&x, &y).map(|(x, y)| x * y)).run()?))
    });
    c.add("exact/sum/random", |d| {
        let of = Random::new(3);
        Ok((d.exact_sum(of.uniform::<f32>(50_003)).run()?, d.exact_mean(of.normal(50_003, 0.0, 1.0)).run()?))
    })
    .quick = false;
    lines(c);
    groups(c);
    wide_products(c);
    c.add("exact/sum/f32/above_binding", |d| d.exact_sum(&input::<B, f32>(d, Fill::Wide, ABOVE_BINDING, "x")?).run()).quick = false;
}

/// Rows with groups of threads of their own, at any place among vectors of four; shorter ones; columns.
fn lines<B: Target>(c: &mut Cases<B>) {
    for shape in [[1, 5003], [3, 1024], [5, 2047], [4, 2049], [3, 9001], [300, 7], [70, 1023]] {
        let [rows, columns] = shape;
        for axis in [0, 1] {
            c.add(format!("exact/axis/f32/{rows}x{columns}/{axis}"), move |d| {
                let x = input::<B, f32>(d, Fill::Cancel, rows * columns, "x")?;
                Ok((d.exact_sum(&x).axis(&shape, axis).run()?, d.exact_mean(&x).axis(&shape, axis).run()?))
            });
            c.add(format!("exact/axis/f64/{rows}x{columns}/{axis}"), move |d| {
                let x = input::<B, f64>(d, Fill::Wide, rows * columns, "x")?;
                Ok((d.exact_sum(&x).axis(&shape, axis).run()?, d.exact_mean(&x).axis(&shape, axis).run()?))
            })
            .needs(&[DType::F64])
            .quick = false;
        }
    }
    for shape in [[0, 5], [5, 0]] {
        let [rows, columns] = shape;
        c.add(format!("exact/axis/f32/{rows}x{columns}"), move |d| {
            let x = input::<B, f32>(d, Fill::Plain, 0, "x")?;
            Ok((d.exact_sum(&x).axis(&shape, 1).run()?, d.exact_mean(&x).axis(&shape, 0).run()?))
        });
    }
}

fn groups<B: Target>(c: &mut Cases<B>) {
    for n in [0, 1, 700, 5003, 70_001] {
        c.add(format!("exact/segments/f32/n={n}"), move |d| {
            let x = input::<B, f32>(d, Fill::Wide, n, "x")?;
            // Empty ones, short ones, and one that has what is left.
            let offsets = d.generate(102, index(), move |i| select(i.eq(101), n as u32, (i * i / 7).min(n as u32)))?;
            Ok((d.exact_sum(&x).segments(&offsets).run()?, d.exact_mean(&x).segments(&offsets).checked().run()?))
        });
        c.add(format!("exact/by_key/f32/n={n}"), move |d| {
            let x = input::<B, f32>(d, Fill::Cancel, n, "x")?;
            let keys = d.generate(n, index(), |i| (i / 5 * i / 977) & 255)?;
            let (sums, means) = (d.exact_sum(&x).by_key(&keys).run()?, d.exact_mean(&x).by_key(keys.map(Expr::cast::<f32>)).run()?);
            let n = sums.len_blocking()?;
            Ok((sums.values.0.slice(..n)?, sums.values.1.slice(..n)?, means.values.1.slice(..n)?))
        });
    }
}

/// Products of two `f64`: of all sizes and fills, at the ends of the exponents, lines, segments and runs.
fn wide_products<B: Target>(c: &mut Cases<B>) {
    for n in SIZES {
        c.add(format!("exact/dot_f64/wide/n={n}"), move |d| {
            d.exact_dot((&input::<B, f64>(d, Fill::Wide, n, "x")?, &input::<B, f64>(d, Fill::Wide, n, "y")?)).run()
        })
        .needs(&[DType::F64]);
    }
    for fill in Fill::ALL {
        let f = fill.name();
        for n in [37, 5003, 70_001] {
            c.add(format!("exact/dot_f64/{f}/n={n}/with_halves"), move |d| {
                let (x, y) = (input::<B, f64>(d, fill, n, "x")?, input::<B, f64>(d, Fill::Plain, n, "y")?);
                Ok((d.exact_dot((&x, &y)).run()?, d.exact_dot((&x, x.map(|x| x * 0.5))).run()?))
            })
            .needs(&[DType::F64])
            .quick = n == 37;
            c.add(format!("exact/dot_f64/{f}/cancelled/n={n}"), move |d| {
                let (x, y) = cancelled(d, fill, n)?;
                d.exact_dot((&x, &y)).run()
            })
            .needs(&[DType::F64])
            .quick = n == 37;
        }
    }
    c.add("exact/dot_f64/pairs", |d| {
        // Each product alone, and rows with groups of threads of their own.
        let (x, y) = pairs::<B, f64>(d, Fill::Wide, 0, "x")?;
        Ok((d.exact_dot((&x, &y)).axis(&[96 * 96, 1], 1).run()?, d.exact_dot((&x, &y)).axis(&[9, 1024], 1).run()?))
    })
    .needs(&[DType::F64]);
    for shape in [[1, 5003], [3, 1024], [4, 2049], [300, 7], [0, 5], [5, 0]] {
        let [rows, columns] = shape;
        for axis in [0, 1] {
            c.add(format!("exact/dot_f64/axis/{rows}x{columns}/{axis}"), move |d| {
                let (n, (x, y)) = (rows * columns, cancelled(d, Fill::Wide, rows * columns / 2)?);
                d.exact_dot((&x.slice(..n)?, &y.slice(..n)?)).axis(&shape, axis).run()
            })
            .needs(&[DType::F64])
            .quick = rows < 4;
        }
    }
    for n in [0, 1, 700, 5003] {
        c.add(format!("exact/dot_f64/groups/n={n}"), move |d| {
            let (x, y) = (input::<B, f64>(d, Fill::Wide, n, "x")?, input::<B, f64>(d, Fill::Wide, n, "y")?);
            let offsets = d.generate(102, index(), move |i| select(i.eq(101), n as u32, (i * i / 7).min(n as u32)))?;
            let keys = d.generate(n, index(), |i| (i / 5 * i / 977) & 255)?;
            let (segments, runs) = (d.exact_dot((&x, &y)).segments(&offsets).run()?, d.exact_dot((&x, &y)).by_key(&keys).run()?);
            let n = runs.len_blocking()?;
            Ok((segments, runs.values.1.slice(..n)?))
        })
        .needs(&[DType::F64])
        .quick = n <= 700;
    }
}

/// `n` products, the same in reverse with the other sign, and one of one and a half least numbers between them.
fn cancelled<B: Target>(d: &B, fill: Fill, n: u64) -> Result<(Buffer<B, f64>, Buffer<B, f64>)> {
    let finite = |name: &str| -> Vec<f64> {
        data::data::<f64>(fill, n, data::seed(name)).into_iter().map(|x| if x.is_finite() { x } else { f64::MAX }).collect()
    };
    let (mut x, mut y) = (finite("x"), finite("y"));
    let back: Vec<f64> = x.iter().rev().map(|x| -x).collect();
    x.push(f64::from_bits(3));
    x.extend(y.iter().rev().copied().collect::<Vec<f64>>());
    y.push(0.5);
    y.extend(back);
    Ok((d.upload(&x)?, d.upload(&y)?))
}
