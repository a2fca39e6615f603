//! P27 transforms: lengths with every radix and of every number of passes, prime lengths, axes, batches, real numbers, shifts, awkward numbers.

use super::input;
use crate::case::{Cases, Target};
use crate::data::Fill;
use isowarp::buffer::Buffer;
use isowarp::element::DType;
use isowarp::prelude::*;

/// Lengths with levels: of each radix alone, of several, at the edges of what a group of threads holds.
const LEVELS: [u64; 26] =
    [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 35, 60, 64, 105, 243, 256, 343, 420, 512, 1024, 1536, 2048, 3072, 4096, 5040, 100_000];
/// Lengths without.
const CHIRPS: [u64; 5] = [11, 13, 22, 121, 1009];
/// Lengths of the quick run, with few sets of radices: each is a kernel of its own, which software adapters compile for seconds.
const QUICK: [u64; 16] = [1, 2, 3, 4, 5, 7, 8, 16, 35, 60, 64, 256, 1024, 2048, 4096, 11];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for n in LEVELS.into_iter().chain(CHIRPS) {
        c.add(format!("fft/f32/plain/n={n}"), move |d| both(d, &input::<B, f32>(d, Fill::Plain, 2 * n, "z")?, &[n], &[0])).quick =
            QUICK.contains(&n);
        c.add(format!("fft/f64/plain/n={n}"), move |d| both(d, &input::<B, f64>(d, Fill::Plain, 2 * n, "z")?, &[n], &[0]))
            .needs(&[DType::F64])
            .quick = [35, 512, 1024, 2048, 13].contains(&n);
    }
    for fill in Fill::ALL {
        let f = fill.name();
        for n in [4u64, 7, 30, 210, 256, 22] {
            c.add(format!("fft/f32/{f}/rows/n={n}"), move |d| both(d, &input::<B, f32>(d, fill, 2 * 9 * n, "z")?, &[9, n], &[1])).quick =
                n != 30 && n != 210;
            c.add(format!("fft/f64/{f}/rows/n={n}"), move |d| both(d, &input::<B, f64>(d, fill, 2 * 9 * n, "z")?, &[9, n], &[1]))
                .needs(&[DType::F64])
                .quick = n == 30;
        }
    }
    for shape in [vec![1000, 16], vec![16, 1000], vec![5, 128, 3], vec![3, 64, 70], vec![2, 4096, 3], vec![6, 10, 12, 3], vec![9, 11, 13]] {
        let quick = shape.len() == 3 && shape[1] != 64;
        let [n, rank] = [shape.iter().product::<u64>(), shape.len() as u64];
        for axis in 0..shape.len() {
            let shape = shape.clone();
            c.add(format!("fft/axis/f32/{shape:?}/{axis}"), move |d| {
                both(d, &input::<B, f32>(d, Fill::Plain, 2 * n, "z")?, &shape, &[axis])
            });
        }
        let all: Vec<usize> = (0..rank as usize).collect();
        c.add(format!("fft/axes/f32/{shape:?}"), move |d| both(d, &input::<B, f32>(d, Fill::Plain, 2 * n, "z")?, &shape, &all)).quick =
            quick;
    }
    c.add("fft/empty", |d| {
        let z = input::<B, f32>(d, Fill::Plain, 0, "z")?;
        Ok((d.fft(&z).axis(&[0, 5], 1).run()?, d.rfft(&z).axis(&[0, 6], 1).run()?, d.irfft(&z, 5).axis(&[0, 3], 1).run()?))
    });
    // Pairs that do not lie at multiples of their size.
    c.add("fft/odd_offset", |d| {
        let x = input::<B, f32>(d, Fill::Plain, 2049, "z")?;
        let out = input::<B, f32>(d, Fill::Equal, 2051, "out")?;
        d.fft(&x.slice(1..)?).write_to(&out.slice(1..2049)?)?;
        Ok(out)
    });
    for n in [1u64, 2, 3, 4, 9, 10, 22, 24, 26, 1000, 4096, 5003] {
        c.add(format!("fft/real/f32/n={n}"), move |d| {
            let x = input::<B, f32>(d, Fill::Plain, 3 * n, "x")?;
            let z = d.rfft(&x).axis(&[3, n], 1).run()?;
            let back = d.irfft(&z, n).axis(&[3, n / 2 + 1], 1).run()?;
            Ok((z, back))
        })
        .quick = n < 25;
        c.add(format!("fft/real/f64/columns/n={n}"), move |d| {
            let x = input::<B, f64>(d, Fill::Plain, 3 * n, "x")?;
            let z = d.rfft(&x).axis(&[n, 3], 0).run()?;
            let back = d.irfft(&z, n).axis(&[n / 2 + 1, 3], 0).run()?;
            Ok((z, back))
        })
        .needs(&[DType::F64])
        .quick = n < 25;
    }
    for (shape, axes) in [(vec![6, 8], vec![0, 1]), (vec![7, 9], vec![1, 0]), (vec![4, 5, 6], vec![0, 1, 2]), (vec![3, 11, 4], vec![2, 0])]
    {
        let n = shape.iter().product();
        c.add(format!("fft/real/axes/f32/{shape:?}/{axes:?}"), move |d| {
            of_reals(d, &input::<B, f32>(d, Fill::Plain, n, "x")?, &shape, &axes)
        });
    }
    c.add("fft/real/axes/f64", |d| of_reals(d, &input::<B, f64>(d, Fill::Plain, 30 * 64 * 50, "x")?, &[30, 64, 50], &[0, 1, 2]))
        .needs(&[DType::F64])
        .quick = false;
    c.add("fft/real/axes/plans", |d| {
        let x = input::<B, f32>(d, Fill::Plain, 12 * 10, "x")?;
        let plan = d.rfft_plan::<f32>(10)?.with(&d.fft_plan(12)?);
        let z = d.rfft(&x).axes(&[12, 10], &[0, 1]).plan(&plan).run()?;
        let back = d.irfft(&z, 10).axes(&[12, 6], &[0, 1]).plan(&plan).run()?;
        Ok((z, back))
    });
    for shape in [vec![5], vec![4, 7], vec![2, 3, 5]] {
        c.add(format!("fft/shift/{shape:?}"), move |d| {
            let n = shape.iter().product();
            let (x, axes) = (input::<B, u16>(d, Fill::Plain, n, "x")?, (0..shape.len()).collect::<Vec<_>>());
            Ok((d.fft_shift(&x, &shape, &axes).run()?, d.ifft_shift(&x, &shape, &axes[..1]).run()?))
        });
    }
    c.add("fft/f32/large", |d| d.fft(&input::<B, f32>(d, Fill::Plain, 2 << 20, "z")?).run()).quick = false;
    c.add("fft/f32/rows_above_binding", |d| d.fft(&input::<B, f32>(d, Fill::Plain, 36 << 20, "z")?).axis(&[18 << 10, 1024], 1).run())
        .quick = false;
}

/// A transform and the inverse of the same points.
fn both<B: Target, T: isowarp::patterns::FftScalar>(
    d: &B,
    z: &Buffer<B, T>,
    shape: &[u64],
    axes: &[usize],
) -> isowarp::Result<(Buffer<B, T>, Buffer<B, T>)> {
    Ok((d.fft(z).axes(shape, axes).run()?, d.fft(z).axes(shape, axes).inverse().run()?))
}

/// A transform of real numbers, and the real numbers of that.
fn of_reals<B: Target, T: isowarp::patterns::FftScalar>(
    d: &B,
    x: &Buffer<B, T>,
    shape: &[u64],
    axes: &[usize],
) -> isowarp::Result<(Buffer<B, T>, Buffer<B, T>)> {
    let z = d.rfft(x).axes(shape, axes).run()?;
    let (last, mut halves) = (axes[axes.len() - 1], shape.to_vec());
    halves[last] = shape[last] / 2 + 1;
    let back = d.irfft(&z, shape[last]).axes(&halves, axes).run()?;
    Ok((z, back))
}
