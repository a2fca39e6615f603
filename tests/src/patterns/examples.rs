//! Kernels that textbooks teach, written as maps: index arithmetic in one, two and three dimensions, images, gathers, series.

use super::input;
use crate::case::{Cases, Target};
use crate::data::Fill;
use isowarp::Result;
use isowarp::element::Element as _;
use isowarp::ir::lit;
use isowarp::prelude::*;

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    indices(c);
    images(c);
    series(c);
    c.add("examples/replace_chain", |d| {
        // x = 0..9, y = x mod 2, every 1 becomes 10.
        let x = d.iota(10, 0i32, 1)?;
        let y = d.map(&x, |x| -x)?;
        let z = d.map(&x, |x| x % 2)?;
        Ok((y, d.replace(&z, 1, 10)?))
    });
    c.add("examples/iterated_axpy", |d| {
        let (x, y) = (input::<B, f32>(d, Fill::Plain, 33_333, "x")?, input::<B, f32>(d, Fill::Plain, 33_333, "y")?);
        for k in 0..50 {
            d.map_into((scalar(0.01 * k as f32 - 0.25), &x, &y), |(a, x, y)| a * x + y, &y)?;
        }
        Ok(y)
    });
    c.add("examples/predicated_by_mask", |d| {
        let (x, mask) = (input::<B, f32>(d, Fill::Bits, 10_000, "x")?, input::<B, u32>(d, Fill::Bits, 10_000, "mask")?);
        d.map((&x, &mask), |(x, m)| select((m & 0x10u32).ne(0) & !x.is_nan(), x.abs(), lit(-1.0)))
    });
}

fn indices<B: Target>(c: &mut Cases<B>) {
    c.add("examples/row_and_column/37x101", |d| {
        d.generate(37 * 101, index(), |i| {
            let (row, column) = (i / 101, i % 101);
            (row, column, column * 37 + row)
        })
    });
    c.add("examples/rank_in_three_dimensions/17x9x23", |d| {
        d.generate(17 * 9 * 23, index(), |i| {
            let (z, y, x) = (i / (17 * 9), (i / 17) % 9, i % 17);
            let back = (z * 9 + y) * 17 + x;
            (z, y, x, back.cast::<f32>().sqrt())
        })
    });
    c.add("examples/block_thread_and_warp", |d| {
        d.generate(10_000, index(), |i| {
            let (block, thread) = (i / 288, i % 288);
            (block, thread, thread / 32, thread % 32)
        })
    });
    for (rows, columns) in [(1u32, 1u32), (31, 33), (100, 257)] {
        c.add(format!("examples/transpose/{rows}x{columns}"), move |d| {
            let n = u64::from(rows * columns);
            let x = input::<B, f32>(d, Fill::Bits, n, "matrix")?;
            d.generate(n, (array(&x), index()), |(x, i)| x.at((i % rows) * columns + i / rows))
        });
        c.add(format!("examples/five_point_stencil/{rows}x{columns}"), move |d| {
            let n = u64::from(rows * columns);
            let mut x = input::<B, f32>(d, Fill::Plain, n, "field")?;
            for _ in 0..4 {
                x = d.generate(n, (array(&x), index()), |(x, i)| {
                    let (r, q) = (i / columns, i % columns);
                    let edge = r.eq(0) | r.eq(rows - 1) | q.eq(0) | q.eq(columns - 1);
                    let mean = (x.at(i - 1) + x.at(i + 1) + x.at(i - columns) + x.at(i + columns)) * 0.25;
                    select(edge, x.at(i), mean)
                })?;
            }
            Ok(x)
        });
    }
}

/// A ripple that runs outward: one RGBA pixel a word.
fn ripple<B: Target>(d: &B, dim: u32, ticks: f32) -> Result<Buffer<B, u32>> {
    d.generate(u64::from(dim) * u64::from(dim), (index(), scalar(ticks)), |(i, ticks)| {
        let centred = |k: Expr<u32>| k.cast::<f32>() - (dim / 2) as f32;
        let (fx, fy) = (centred(i % dim), centred(i / dim));
        let r = (fx * fx + fy * fy).sqrt();
        let grey = ((r / 10.0 - ticks / 7.0).cos() * 127.0 / (r / 10.0 + 1.0) + 128.0).cast::<u32>();
        (grey << 24 >> 24) | (grey << 8) | (grey << 16) | 0xFF00_0000
    })
}

fn images<B: Target>(c: &mut Cases<B>) {
    for (dim, ticks) in [(16, 0.0), (100, 1.0), (512, 33.0)] {
        c.add(format!("examples/ripple/{dim}/t={ticks}"), move |d| ripple(d, dim, ticks)).full();
    }
    c.add("examples/ripple_bytes", |d| {
        let words = ripple(d, 64, 5.0)?;
        d.generate(64 * 64 * 4, (array(&words), index()), |(w, i)| (w.at(i / 4) >> ((i % 4) * 8)).store_as::<u8>())
    })
    .needs(&[u8::DTYPE])
    .full();
    c.add("examples/light_field", |d| {
        // Refocus an image of 12 x 12 lenslets of 8 x 8 pixels: the mean of the nearest pixels under the neighbouring lenslets.
        const LENS: u32 = 8;
        const SIZE: u32 = 12 * LENS;
        let radiance = input::<B, f32>(d, Fill::Plain, u64::from(SIZE * SIZE), "radiance")?;
        d.generate(u64::from(SIZE * SIZE), (array(&radiance), index(), scalar(0.7f32)), |(image, i, magnify)| {
            let (x, y) = (i % SIZE, i / SIZE);
            let middle = |k: Expr<u32>| ((k / LENS) * LENS).cast::<f32>() + LENS as f32 / 2.0;
            let (mut sum, mut weight) = (lit(0.0f32), lit(0.0f32));
            for dy in -1..=1 {
                for dx in -1..=1 {
                    let (cx, cy) = (middle(x) + (dx * LENS as i32) as f32, middle(y) + (dy * LENS as i32) as f32);
                    let (px, py) = ((cx - x.cast::<f32>()) * magnify, (cy - y.cast::<f32>()) * magnify);
                    let hit = px.abs().lt(LENS as f32 * 0.6) & py.abs().lt(LENS as f32 * 0.6);
                    let (u, v) = ((cx + px).floor().cast::<i32>(), (cy + py).floor().cast::<i32>());
                    let inside = hit & u.ge(0) & u.lt(SIZE as i32) & v.ge(0) & v.lt(SIZE as i32);
                    sum = sum + select(inside, image.at(v * SIZE as i32 + u), lit(0.0));
                    weight = weight + select(inside, lit(1.0f32), lit(0.0));
                }
            }
            select(weight.eq(0.0), lit(0.0), sum / weight)
        })
    });
}

fn series<B: Target>(c: &mut Cases<B>) {
    for terms in [10u32, 25] {
        c.add(format!("examples/power_series_of_log/{terms}"), move |d| {
            let steps = 4096u64;
            let y = d.generate(steps, (index(), scalar(1.0f32 / (steps as f32 - 1.0))), |(i, h)| {
                let x = i.cast::<f32>() * h;
                let (mut power, mut sum) = (x, x);
                for k in 2..=terms {
                    power = power * -x;
                    sum = sum + power / k as f32;
                }
                sum
            })?;
            let total = d.sum(&y)?;
            Ok((y, total))
        })
        .full();
    }
    c.add("examples/taylor_sine", |d| {
        d.generate(10_000, (index(), scalar(core::f32::consts::PI / 9_999.0)), |(i, h)| {
            let x = i.cast::<f32>() * h;
            let (mut term, mut sum) = (x, x);
            for k in 1..12 {
                term = term * (-x * x) / ((2 * k) * (2 * k + 1)) as f32;
                sum = sum + term;
            }
            sum
        })
    })
    .full();
    c.add("examples/newton_square_root", |d| {
        d.map(&input::<B, f32>(d, Fill::Plain, 5000, "x")?, |x| (0..6).fold(x + 1.0, |r, _| (r + x / r) * 0.5))
    })
    .full();
    c.add("examples/xorshift_chain", |d| {
        d.generate(20_000, index(), |i| {
            (0..8).fold(i * 747_796_405 + 2_891_336_453, |s, _| {
                let s = s ^ (s << 13);
                let s = s ^ (s >> 17);
                s ^ (s << 5)
            })
        })
    });
}
