//! P10 solves: sizes at the edges of teams, of shared memory and of blocks, every pivoting, layouts, batches, singular systems, awkward numbers.

use super::input;
use crate::case::{Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::Result;
use isowarp::buffer::Buffer;
use isowarp::element::DType;
use isowarp::patterns::{Pivoting, SolveScalar};
use isowarp::prelude::*;

/// Rows: at the edges of teams, and of what shared memory holds (through wgpu 57 of f32 with a right-hand side, 38 of f64), and of blocks.
const SIZES: [u64; 14] = [1, 2, 3, 5, 8, 16, 17, 32, 33, 57, 58, 64, 65, 130];
/// Cases of a quick run.
const QUICK: [u64; 6] = [1, 3, 17, 33, 57, 65];

/// A name, and elements of any kind with every case's own.
fn square<B: Target, T: SolveScalar>(d: &B, fill: Fill, n: u64, batch: u64) -> Result<Buffer<B, T>> {
    input::<B, T>(d, fill, n * n * batch, "a")
}

/// Matrices with a diagonal that elements beside it do not outweigh.
fn heavy<B: Target>(d: &B, n: u64, batch: u64) -> Result<Buffer<B, f32>> {
    let a = square::<B, f32>(d, Fill::Plain, n, batch)?;
    d.map((index(), &a), move |(i, a)| {
        let at = i % (n * n) as u32;
        select((at / n as u32).eq(at % n as u32), a.abs() + n as f32, a * 0.25)
    })
}

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for n in SIZES {
        let quick = QUICK.contains(&n);
        all::<B, f32>(c, Fill::Plain, n, if n < 60 { 7 } else { 2 }, quick);
        all::<B, f64>(c, Fill::Plain, n, 2, n == 5 || n == 39 || n == 58);
    }
    for fill in Fill::ALL {
        for n in [6, 70] {
            all::<B, f32>(c, fill, n, 3, n == 6);
            all::<B, f64>(c, fill, n, 2, false);
        }
    }
    pivots(c);
    faint(c);
    layouts(c);
    c.add("solve/batch_of_many/f32", |d| {
        let (a, b) = (square::<B, f32>(d, Fill::Plain, 7, 3001)?, input::<B, f32>(d, Fill::Plain, 7 * 3001, "b")?);
        d.solve(matrix(&a, 7, 7).batch(3001), matrix(&b, 7, 1).batch(3001)).run()
    });
    c.add("solve/f16", |d| {
        let (a, b) = (input::<B, f16>(d, Fill::Plain, 9 * 9 * 4, "a")?, input::<B, f16>(d, Fill::Plain, 9 * 2 * 4, "b")?);
        d.solve(matrix(&a, 9, 9).batch(4), matrix(&b, 9, 2).batch(4)).run()
    });
    c.add("solve/large/f32", |d| {
        let (a, b) = (square::<B, f32>(d, Fill::Plain, 300, 1)?, input::<B, f32>(d, Fill::Plain, 300 * 70, "b")?);
        d.solve(matrix(&a, 300, 300), matrix(&b, 300, 70)).run()
    })
    .quick = false;
    for n in [0, 4] {
        c.add(format!("solve/empty/{n}x0"), move |d| {
            let (a, b) = (square::<B, f32>(d, Fill::Plain, n, 3)?, input::<B, f32>(d, Fill::Plain, 0, "b")?);
            let m = matrix(&a, n, n).batch(3);
            let (x, status) = d.solve(m, matrix(&b, n, 0).batch(3)).run()?;
            let (y, sound) = d.triangular_solve(m, matrix(&b, n, 0).batch(3)).run()?;
            Ok((x, status, y, (sound, d.determinant(m).run()?)))
        });
    }
}

/// Every result of a matrix of so many rows.
fn all<B: Target, T: SolveScalar>(c: &mut Cases<B>, fill: Fill, n: u64, batch: u64, quick: bool) {
    let (f, ty, rights) = (fill.name(), T::DTYPE, 1 + n % 4);
    let add = |case: &mut crate::case::Case<B>| {
        case.quick = quick;
    };
    let wide = T::DTYPE == DType::F64;
    let needs: &[DType] = if wide { &[DType::F64] } else { &[] };
    add(c
        .add(format!("solve/{ty}/{f}/{n}x{rights}"), move |d| {
            let (a, b) = (square::<B, T>(d, fill, n, batch)?, input::<B, T>(d, fill, n * rights * batch, "b")?);
            d.solve(matrix(&a, n, n).batch(batch), matrix(&b, n, rights).batch(batch)).run()
        })
        .needs(needs));
    add(c
        .add(format!("lu/{ty}/{f}/{n}"), move |d| d.lu(matrix(&square::<B, T>(d, fill, n, batch)?, n, n).batch(batch)).run())
        .needs(needs));
    add(c
        .add(format!("determinant/{ty}/{f}/{n}"), move |d| {
            d.determinant(matrix(&square::<B, T>(d, fill, n, batch)?, n, n).batch(batch)).run()
        })
        .needs(needs));
    add(c
        .add(format!("inverse/{ty}/{f}/{n}"), move |d| d.inverse(matrix(&square::<B, T>(d, fill, n, batch)?, n, n).batch(batch)).run())
        .needs(needs));
    add(c
        .add(format!("cholesky/{ty}/{f}/{n}"), move |d| d.cholesky(matrix(&square::<B, T>(d, fill, n, batch)?, n, n).batch(batch)).run())
        .needs(needs));
    add(c
        .add(format!("triangular_solve/{ty}/{f}/{n}x{rights}"), move |d| {
            let (a, b) = (square::<B, T>(d, fill, n, batch)?, input::<B, T>(d, fill, n * rights * batch, "b")?);
            let (m, r) = (matrix(&a, n, n).batch(batch), matrix(&b, n, rights).batch(batch));
            let (x, status) = d.triangular_solve(m, r).run()?;
            Ok((x, status, d.triangular_solve(m, r).upper().unit().run()?))
        })
        .needs(needs));
}

/// Numbers of both signs with binary exponents from one to another; -127 are subnormal ones.
fn of_exponents<B: Target>(d: &B, n: u64, name: &str, (least, most): (i32, i32)) -> Result<Buffer<B, f32>> {
    let (count, first) = ((most - least + 1) as u32, (least + 127) as u32);
    d.map(&input::<B, u32>(d, Fill::Plain, n, name)?, move |h| ((h & 0x807f_ffff) | ((h >> 24) % count + first) << 23).bitcast::<f32>())
}

/// Products that may be subnormal or not be multiples of 2^-126, and what is left of subnormal numbers: where a device's own `fma` may not be used.
fn faint<B: Target>(c: &mut Cases<B>) {
    const N: u64 = 160;
    const RIGHTS: u64 = 70;
    // Exponents of right-hand sides of the first rows, of the others, and of the triangle's first and other columns.
    for (name, [first, rest, early, late]) in [
        ("multiples", [(-40, -37), (-126, -100), (-40, -37), (-40, -37)]),
        ("near", [(-41, -39), (-126, -60), (-44, -38), (-44, -38)]),
        ("subnormal", [(-40, -30), (-127, -120), (-40, -37), (-40, -37)]),
        ("late", [(-40, -30), (-126, -90), (-40, -37), (-90, -20)]),
    ] {
        c.add(format!("triangular_solve/faint/{name}"), move |d| {
            let of = |name, elements, exponents| of_exponents(d, elements, name, exponents);
            let (first, rest) = (of("b", N * RIGHTS, first)?, of("c", N * RIGHTS, rest)?);
            let b = d.map((index(), &first, &rest), |(i, first, rest)| select((i / RIGHTS as u32).lt(64), first, rest))?;
            let (early, late) = (of("a", N * N, early)?, of("t", N * N, late)?);
            let a = d.map((index(), &early, &late), |(i, early, late)| select((i % N as u32).lt(40), early, late))?;
            let (a, b) = (matrix(&a, N, N), matrix(&b, N, RIGHTS));
            Ok((d.triangular_solve(a, b).unit().run()?, d.triangular_solve(a, b).upper().unit().run()?))
        });
    }
}

fn pivots<B: Target>(c: &mut Cases<B>) {
    // A pivot of zero leaves a multiplier of 2^-102 undivided, whose product is subnormal.
    c.add("lu/pivoting/none/zero", |d| {
        let (small, more) = (2f32.powi(-40), (1.0 + f32::EPSILON) * 2f32.powi(-40));
        let a = d.upload(&[1.0, 0.0, more, 0.0, 0.0, 1.0, small, 0.0, 0.0, 0.0, 0.0, small, more, -small, 0.0, 0.0])?;
        let (lu, _, status) = d.lu(matrix(&a, 4, 4)).pivoting(Pivoting::None).run()?;
        Ok((lu, status))
    });
    for n in [4u64, 31, 66] {
        for (name, pivoting) in [("none", Pivoting::None), ("full", Pivoting::Full)] {
            c.add(format!("solve/pivoting/{name}/{n}"), move |d| {
                let (a, b) = (heavy(d, n, 3)?, input::<B, f32>(d, Fill::Plain, n * 2 * 3, "b")?);
                let m = matrix(&a, n, n).batch(3);
                let (x, status) = d.solve(m, matrix(&b, n, 2).batch(3)).pivoting(pivoting).run()?;
                Ok((x, status, d.inverse(m).pivoting(pivoting).run()?))
            });
            // Magnitudes that are often equal.
            c.add(format!("solve/ties/{name}/{n}"), move |d| {
                let a = square::<B, f32>(d, Fill::Plain, n, 2)?;
                let a = a.map(|a| select(a.gt(0.0), 1.0, -1.0));
                let b = input::<B, f32>(d, Fill::Plain, n * 2, "b")?;
                d.solve(matrix(a, n, n).batch(2), matrix(&b, n, 1).batch(2)).pivoting(pivoting).run()
            });
        }
        c.add(format!("lu/pivoting/none/{n}"), move |d| {
            let a = heavy(d, n, 3)?;
            let m = matrix(&a, n, n).batch(3);
            let (lu, permutation, status) = d.lu(m).pivoting(Pivoting::None).run()?;
            Ok((lu, permutation, status, d.determinant(m).pivoting(Pivoting::None).run()?))
        });
        c.add(format!("cholesky/definite/{n}"), move |d| {
            let a = heavy(d, n, 3)?;
            d.cholesky(matrix(&a, n, n).batch(3)).run()
        });
        // The second system of three has two equal rows, or a column of zeros.
        c.add(format!("solve/singular/{n}"), move |d| {
            let a = square::<B, f32>(d, Fill::Plain, n, 3)?;
            let broken = d.map((counting(n * n * 3), array(&a)), move |(i, a)| {
                let (n, at) = (n as u32, i % (n * n) as u32);
                let of_last = (i / (n * n)).eq(1) & (at / n).eq(n - 1);
                select(of_last, a.at(i - (n - 1) * n), a.at(i)) * select((i / (n * n)).eq(2) & (at % n).eq(n / 2), 0.0, 1.0)
            })?;
            let b = input::<B, f32>(d, Fill::Plain, n * 3, "b")?;
            let m = matrix(&broken, n, n).batch(3);
            let (x, status) = d.solve(m, matrix(&b, n, 1).batch(3)).run()?;
            Ok((x, status, d.determinant(m).run()?, d.lu(m).run()?))
        });
    }
}

/// Transposes, leading dimensions, steps, views, one matrix for all, triangles from either side.
fn layouts<B: Target>(c: &mut Cases<B>) {
    for n in [7u64, 40, 70] {
        c.add(format!("solve/layout/{n}"), move |d| {
            let a = input::<B, f32>(d, Fill::Plain, n * (n + 3) + 1, "a")?.slice(1..)?;
            let b = input::<B, f32>(d, Fill::Plain, 3 * n, "b")?;
            let m = matrix(&a, n, n).leading(n + 3);
            let (x, status) = d.solve(m.transposed(), matrix(&b, 3, n).transposed()).run()?;
            Ok((x, status, d.solve(m, matrix(b.strided(0, n, 3)?, n, 1)).run()?))
        });
        c.add(format!("solve/one_matrix_for_all/{n}"), move |d| {
            let (a, b) = (square::<B, f32>(d, Fill::Plain, n, 1)?, input::<B, f32>(d, Fill::Plain, 5 * n, "b")?);
            d.solve(matrix(&a, n, n), matrix(&b, n, 1).batch(5)).run()
        });
        c.add(format!("lu/write_to/{n}"), move |d| {
            let a = square::<B, f32>(d, Fill::Plain, n, 1)?;
            let lu = input::<B, f32>(d, Fill::Plain, n * n + 2, "lu")?;
            let (permutation, status) = (input::<B, u32>(d, Fill::Plain, n + 2, "p")?, input::<B, u32>(d, Fill::Plain, 2, "s")?);
            d.lu(matrix(a.reversed(), n, n)).write_to((&lu.slice(1..=n * n)?, &permutation.slice(1..=n)?, &status.slice(1..)?))?;
            Ok((lu, permutation, status))
        });
        for (upper, unit, right) in [(false, false, true), (true, false, false), (true, true, true), (false, true, false)] {
            let sides = [("upper", upper), ("unit", unit), ("right", right)];
            let name = sides.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect::<Vec<_>>().join("_");
            c.add(format!("triangular_solve/forms/{name}/{n}"), move |d| {
                let (a, b) = (heavy(d, n, 2)?, input::<B, f32>(d, Fill::Plain, n * 9 * 2, "b")?);
                let b = if right { matrix(&b, 9, n) } else { matrix(&b, n, 9) };
                let call = d.triangular_solve(matrix(&a, n, n).batch(2), b.batch(2));
                let call = if upper { call.upper() } else { call };
                let call = if unit { call.unit() } else { call };
                if right { call.right().run() } else { call.run() }
            });
        }
    }
}
