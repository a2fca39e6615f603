//! P10 products of matrices: shapes at the edges of tiles and blocks, layouts, batches, epilogues, awkward numbers.

use super::input;
use crate::case::{Cases, Target};
use crate::data::Fill;
use half::f16;
use isowarp::Result;
use isowarp::buffer::Buffer;
use isowarp::element::{DType, Element};
use isowarp::minifloat::BF16;
use isowarp::patterns::ProductOrder;
use isowarp::patterns::product::Factor;
use isowarp::prelude::*;

/// Rows, columns and terms.
type Shape = [u64; 3];

/// Tiles have 32, 64 or 128 rows and columns and 8 or 16 terms; blocks 512 terms.
const SHAPES: [Shape; 16] = [
    [1, 1, 1],
    [1, 1, 1500],
    [1, 40, 7],
    [37, 1, 513],
    [5, 4, 3],
    [16, 16, 16],
    [31, 33, 17],
    [64, 64, 512],
    [65, 63, 511],
    [128, 128, 129],
    [129, 127, 33],
    [33, 260, 9],
    [12, 20, 1024],
    [7, 9, 1537],
    [140, 132, 600],
    [300, 260, 70],
];

fn operands<B: Target, T: Element>(d: &B, fill: Fill, [m, n, k]: Shape) -> Result<(Buffer<B, T>, Buffer<B, T>)> {
    Ok((input::<B, T>(d, fill, m * k, "a")?, input::<B, T>(d, fill, k * n, "b")?))
}

fn plain<B: Target, T: Element<Reg: Factor>>(c: &mut Cases<B>, fill: Fill, shape: Shape, quick: bool) {
    let ([m, n, k], f, ty) = (shape, fill.name(), T::DTYPE);
    let case = c.add(format!("gemm/plain/{ty}/{f}/{m}x{n}x{k}"), move |d| {
        let (a, b) = operands::<B, T>(d, fill, shape)?;
        d.gemm(matrix(&a, m, k), matrix(&b, k, n)).run()
    });
    let case = if ty.size_bytes() == 8 { case.needs(&[ty]) } else { case };
    case.quick = quick;
}

/// Factors and results that are stored as codes of `bf16`, and sums of `f32`.
fn brain<B: Target>(c: &mut Cases<B>, fill: Fill, shape: Shape) {
    let [m, n, k] = shape;
    c.add(format!("gemm/bf16/{}/{m}x{n}x{k}", fill.name()), move |d| {
        let (a, b) = operands::<B, f32>(d, fill, shape)?;
        let code = |x: &Buffer<B, f32>| d.map(x, |x| BF16.encode(x).store_as::<u16>());
        let (a, b) = (code(&a)?, code(&b)?);
        let decoded = |x| BF16.decode(x);
        d.gemm(matrix((&a).map(decoded), m, k), matrix((&b).map(decoded), k, n)).finish(|y| BF16.encode(y).store_as::<u16>()).run()
    });
}

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for (s, shape) in SHAPES.into_iter().enumerate() {
        plain::<B, f32>(c, Fill::Plain, shape, true);
        plain::<B, i32>(c, Fill::Bits, shape, s % 2 == 0);
        plain::<B, f64>(c, Fill::Plain, shape, s % 3 == 0);
    }
    for fill in Fill::ALL {
        for shape in [[5, 6, 40], [40, 36, 530]] {
            plain::<B, f32>(c, fill, shape, true);
            plain::<B, f64>(c, fill, shape, shape[0] == 5);
            plain::<B, f16>(c, fill, shape, shape[0] == 5);
        }
    }
    for shape in [[3, 5, 100], [70, 66, 1000]] {
        plain::<B, i8>(c, Fill::Bits, shape, true);
        plain::<B, u8>(c, Fill::Bits, shape, true);
        plain::<B, u16>(c, Fill::Bits, shape, shape[0] == 3);
        plain::<B, u32>(c, Fill::Bits, shape, shape[0] == 3);
    }
    for fill in Fill::ALL {
        brain::<B>(c, fill, [5, 6, 40]);
    }
    brain::<B>(c, Fill::Plain, [70, 66, 1000]);
    layouts(c);
    batches(c);
    packed(c);
    epilogues(c);
    rows_alone(c);
    many_tiles(c);
}

fn tiles<B: Target, T: Element<Reg: Factor>>(c: &mut Cases<B>, shape: Shape) {
    let [m, n, k] = shape;
    let case = c.add(format!("gemm/tiles/{}/{m}x{n}x{k}", T::DTYPE), move |d| {
        let (a, b) = operands::<B, T>(d, Fill::Plain, shape)?;
        d.gemm(matrix(&a, m, k), matrix(&b, k, n)).run()
    });
    case.full();
    if T::DTYPE == DType::F64 {
        case.needs(&[DType::F64]);
    }
}

/// Products of enough tiles for a whole device, which kernels of their own take there: no side is a multiple of one.
fn many_tiles<B: Target>(c: &mut Cases<B>) {
    tiles::<B, f32>(c, [2324, 1428, 520]);
    tiles::<B, f64>(c, [1290, 1285, 260]);
    let [m, n, k] = [500, 1915, 260];
    c.add(format!("gemm/tiles/epilogue/{m}x{n}x{k}"), move |d| {
        let a = input::<B, f32>(d, Fill::Plain, 4 * m * k, "a")?;
        let b = input::<B, f32>(d, Fill::Wide, n * (k + 1), "b")?;
        let out = input::<B, f32>(d, Fill::Plain, 4 * m * (n + 1), "c")?;
        let b = matrix(b.map(|b| b * 0.5), n, k).leading(k + 1).transposed();
        d.gemm(matrix(&a, k, m).batch(4).transposed(), b).alpha(2.0).finish(|c| c.max(-1.0)).leading(n + 1).write_to(&out)?;
        Ok(out)
    })
    .full();
}

/// Transposes, rows that are further apart, views that begin anywhere, the order of one chain.
fn layouts<B: Target>(c: &mut Cases<B>) {
    for shape in [[31, 33, 17], [64, 96, 528], [130, 7, 20]] {
        let [m, n, k] = shape;
        for (left, right) in [(false, true), (true, false), (true, true)] {
            let name = |t: bool| if t { "t" } else { "n" };
            c.add(format!("gemm/layout/{}{}/{m}x{n}x{k}", name(left), name(right)), move |d| {
                let (a, b) = operands::<B, f32>(d, Fill::Plain, shape)?;
                let a = if left { matrix(&a, k, m).transposed() } else { matrix(&a, m, k) };
                let b = if right { matrix(&b, n, k).transposed() } else { matrix(&b, k, n) };
                d.gemm(a, b).run()
            });
        }
        c.add(format!("gemm/leading/{m}x{n}x{k}"), move |d| {
            let (lda, ldb, ldc) = (k + 3, n + 5, n + 1);
            let a = input::<B, f32>(d, Fill::Plain, m * lda + 1, "a")?;
            let b = input::<B, f32>(d, Fill::Plain, k * ldb + 2, "b")?;
            let out = input::<B, f32>(d, Fill::Plain, m * ldc, "c")?;
            let (a, b) = (a.slice(1..)?, b.slice(2..)?);
            d.gemm(matrix(&a, m, k).leading(lda), matrix(&b, k, n).leading(ldb)).leading(ldc).write_to(&out)?;
            Ok(out)
        });
        c.add(format!("gemm/by_columns/{m}x{n}x{k}"), move |d| {
            let (a, b) = operands::<B, f32>(d, Fill::Plain, shape)?;
            let out = input::<B, f32>(d, Fill::Plain, n * (m + 4), "c")?;
            d.gemm(matrix(&a, m, k), matrix(&b, k, n)).steps(1, m + 4).write_to(&out)?;
            Ok(out)
        });
        c.add(format!("gemm/steps/{m}x{n}x{k}"), move |d| {
            let (a, b) = (input::<B, f32>(d, Fill::Plain, 2 * m * k, "a")?, input::<B, f32>(d, Fill::Plain, 3 * k * n, "b")?);
            d.gemm(matrix(&a, m, k).steps(2 * k, 2), matrix(&b, k, n).steps(3, 3 * k)).run()
        });
        c.add(format!("gemm/chain/{m}x{n}x{k}"), move |d| {
            let (a, b) = operands::<B, f32>(d, Fill::Plain, shape)?;
            d.gemm(matrix(&a, m, k), matrix(&b, k, n)).order(ProductOrder::Chain).run()
        });
    }
    // Enough tiles for devices that have large ones, beyond whose terms these go on; a sum of products that are too small is -0.
    c.add("gemm/chain/minus_zero", |d| {
        let (m, n, k) = (2560, 1536, 260);
        d.gemm(matrix(scalar(1e-30f32), m, k).steps(0, 0), matrix(scalar(-1e-30f32), k, n).steps(0, 0)).order(ProductOrder::Chain).run()
    })
    .full();
    c.add("gemm/reversed", |d| {
        let (a, b) = operands::<B, f32>(d, Fill::Plain, [20, 30, 40])?;
        d.gemm(matrix(a.reversed(), 20, 40), matrix(b.map(|b| b * 2.0 - 1.0), 40, 30)).run()
    });
    for shape in [[0, 5, 5], [5, 0, 5], [5, 4, 0]] {
        let [m, n, k] = shape;
        c.add(format!("gemm/empty/{m}x{n}x{k}"), move |d| {
            let (a, b) = operands::<B, f32>(d, Fill::Plain, shape)?;
            d.gemm(matrix(&a, m, k), matrix(&b, k, n)).finish(|c| c + 1.0).run()
        });
    }
}

/// Bytes and fixed-point numbers, which some devices pack for matrix instructions: transposes, rows further apart, batches, results further apart.
fn packed<B: Target>(c: &mut Cases<B>) {
    for shape in [[33, 65, 700], [129, 40, 1030]] {
        let [m, n, k] = shape;
        c.add(format!("gemm/bytes/turned/{m}x{n}x{k}"), move |d| {
            let (a, b) = operands::<B, i8>(d, Fill::Bits, shape)?;
            d.gemm(matrix(&a, k, m).transposed(), matrix(&b, n, k).transposed()).run()
        });
        c.add(format!("gemm/bytes/batch/{m}x{n}x{k}"), move |d| {
            let a = input::<B, u8>(d, Fill::Bits, 3 * m * (k + 5), "a")?;
            let b = input::<B, u8>(d, Fill::Bits, k * n, "b")?;
            let out = input::<B, u32>(d, Fill::Bits, 3 * m * (n + 3), "c")?;
            let a = matrix(&a, m, k).leading(k + 5).batch(3);
            d.gemm(a, matrix(&b, k, n)).leading(n + 3).finish(|c| c ^ 7u32).write_to(&out)?;
            Ok(out)
        });
        c.add(format!("gemm/bytes/by_columns/{m}x{n}x{k}"), move |d| {
            let a = input::<B, i8>(d, Fill::Bits, 3 * m * k, "a")?;
            let b = input::<B, i8>(d, Fill::Bits, 3 * k * n, "b")?;
            let (step, old) = (n * m + 5, input::<B, i32>(d, Fill::Bits, 3 * (n * m + 5), "c")?);
            d.gemm(matrix(&a, m, k).batch(3), matrix(&b, k, n).batch(3)).steps(1, m).batch_step(step).add(3, &old).write_to(&old)?;
            Ok(old)
        });
        c.add(format!("gemm/fixed/by_columns/{m}x{n}x{k}"), move |d| {
            let (a, b) = operands::<B, f32>(d, Fill::Wide, shape)?;
            let call = d.gemm(matrix(&a, m, k), matrix(&b, k, n)).order(ProductOrder::Fixed30);
            call.steps(1, m).finish(|c| (c * 1e-3).cast::<i32>().store_as::<i16>()).run()
        });
        c.add(format!("gemm/bytes/added/{m}x{n}x{k}"), move |d| {
            let (a, b) = operands::<B, i8>(d, Fill::Bits, shape)?;
            let c = input::<B, i32>(d, Fill::Bits, m * n, "c")?;
            d.gemm(matrix(&a, m, k), matrix(&b, k, n)).alpha(-3).add(5, &c).run()
        });
    }
    for shape in [[1, 1, 1], [3, 5, 7], [64, 64, 64], [65, 129, 100], [10, 140, 2049], [5, 4, 16_500], [4, 0, 3], [3, 4, 0]] {
        let [m, n, k] = shape;
        for (name, fill) in [("plain", Fill::Plain), ("bits", Fill::Bits)] {
            c.add(format!("gemm/fixed/{name}/{m}x{n}x{k}"), move |d| {
                let (a, b) = operands::<B, f32>(d, fill, shape)?;
                d.gemm(matrix(&a, m, k), matrix(&b, k, n)).order(ProductOrder::Fixed30).run()
            });
        }
    }
    // A row each, whose elements are no whole vectors.
    c.add("gemm/fixed/rows/6x8", |d| {
        let (a, b) = operands::<B, f32>(d, Fill::Plain, [5, 6, 8])?;
        d.gemm(matrix(&a, 1, 8).batch(5), matrix(&b, 8, 6)).order(ProductOrder::Fixed30).run()
    });
    for shape in [[33, 65, 70], [70, 20, 300]] {
        let [m, n, k] = shape;
        c.add(format!("gemm/fixed/turned/{m}x{n}x{k}"), move |d| {
            let (a, b) = operands::<B, f32>(d, Fill::Bits, shape)?;
            // Magnitudes that differ by a little: most rows are finite, and all digits are used.
            let near = |bits: Expr<f32>| ((bits.bitcast::<u32>() & 0x83ff_ffffu32) | 0x3c00_0000u32).bitcast::<f32>();
            let (a, b) = (matrix(a.map(near), k, m).transposed(), matrix(b.map(near), n, k).transposed());
            d.gemm(a, b).order(ProductOrder::Fixed30).run()
        });
        c.add(format!("gemm/fixed/batch/{m}x{n}x{k}"), move |d| {
            let a = input::<B, f16>(d, Fill::Plain, 3 * m * k, "a")?;
            let b = input::<B, f16>(d, Fill::Plain, k * n, "b")?;
            let bias = input::<B, f32>(d, Fill::Plain, n, "bias")?;
            let call = d.gemm(matrix(&a, m, k).batch(3), matrix(&b, k, n)).order(ProductOrder::Fixed30);
            call.epilogue(bias.broadcast(&[n], &[3, m, n]), |y, bias| (y + bias).max(0.0)).run()
        });
    }
}

fn batches<B: Target>(c: &mut Cases<B>) {
    for shape in [[3, 4, 5], [33, 20, 520]] {
        let [m, n, k] = shape;
        c.add(format!("gemm/batch/{m}x{n}x{k}"), move |d| {
            let a = input::<B, f32>(d, Fill::Plain, 5 * m * k, "a")?;
            let b = input::<B, f32>(d, Fill::Plain, 5 * k * n, "b")?;
            d.gemm(matrix(&a, m, k).batch(5), matrix(&b, k, n).batch(5)).run()
        });
        c.add(format!("gemm/batch_of_one_side/{m}x{n}x{k}"), move |d| {
            let a = input::<B, f32>(d, Fill::Plain, 7 * m * k, "a")?;
            let b = input::<B, f32>(d, Fill::Plain, k * n, "b")?;
            let stored = d.gemm(matrix(&a, m, k).batch(7), matrix(&b, k, n)).run()?;
            // Overlapping ones: each begins a row after the one before it.
            Ok((stored, d.gemm(matrix(&a, m, k).batch_by(3, k), matrix(&b, k, n)).run()?))
        });
    }
}

fn epilogues<B: Target>(c: &mut Cases<B>) {
    for shape in [[5, 7, 9], [132, 36, 700]] {
        let [m, n, k] = shape;
        c.add(format!("gemm/alpha_beta/{m}x{n}x{k}"), move |d| {
            let (a, b) = operands::<B, f32>(d, Fill::Plain, shape)?;
            let old = input::<B, f32>(d, Fill::Plain, m * n, "c")?;
            let call = || d.gemm(matrix(&a, m, k), matrix(&b, k, n));
            let (scaled, added) = (call().alpha(0.7).run()?, call().add(-1.3, &old).run()?);
            call().alpha(1.7).add(0.3, &old).write_to(&old)?;
            Ok((scaled, added, old))
        });
        c.add(format!("gemm/layer/{m}x{n}x{k}"), move |d| {
            let (a, b) = operands::<B, f32>(d, Fill::Plain, shape)?;
            let bias = input::<B, f32>(d, Fill::Plain, n, "bias")?;
            let of_columns = bias.broadcast(&[n], &[m, n]);
            d.gemm(matrix(&a, m, k), matrix(&b, k, n))
                .epilogue((of_columns, index()), |y, (bias, i)| {
                    (select((y + bias).gt(0.0), y + bias, 0.0).store_as::<f16>(), y.cast::<i32>() + i.cast::<i32>())
                })
                .run()
        });
        // Rows that an index names, and an operator over elements.
        c.add(format!("gemm/gathered/{m}x{n}x{k}"), move |d| {
            let (a, b) = operands::<B, f32>(d, Fill::Plain, shape)?;
            let rows = (index(), array(&a)).map(move |(i, a)| a.at((i / k as u32 * 3) % m as u32 * k as u32 + i % k as u32) * 0.5);
            d.gemm(matrix(rows, m, k), matrix(b.map(|b| b.abs().sqrt()), k, n)).run()
        });
        c.add(format!("gemm/narrow_results/{m}x{n}x{k}"), move |d| {
            let (a, b) = operands::<B, i8>(d, Fill::Bits, shape)?;
            d.gemm(matrix(&a, m, k), matrix(&b, k, n)).finish(|c| ((c >> 5).store_as::<i8>(), c.cast::<f32>())).run()
        });
        c.add(format!("gemm/outer/{m}x{n}"), move |d| {
            let (x, y) = (input::<B, f32>(d, Fill::Wide, m, "x")?, input::<B, f32>(d, Fill::Wide, n, "y")?);
            d.outer(&x, m, &y, n).run()
        });
    }
}

/// Products with vectors, by either side.
fn rows_alone<B: Target>(c: &mut Cases<B>) {
    for shape in [[1, 1, 3], [100, 1, 64], [65, 1, 5000], [1000, 1, 17]] {
        let [m, _, k] = shape;
        c.add(format!("gemv/f32/{m}x{k}"), move |d| {
            let (a, x) = operands::<B, f32>(d, Fill::Plain, shape)?;
            let transposed = matrix(&a, k, m).transposed();
            Ok((d.gemv(matrix(&a, m, k), &x).run()?, d.gemv(transposed, &x).alpha(2.0).run()?))
        });
        c.add(format!("gemv/f64/{m}x{k}"), move |d| {
            let (a, x) = operands::<B, f64>(d, Fill::Wide, shape)?;
            d.gemv(matrix(&a, m, k), &x).run()
        })
        .needs(&[DType::F64]);
    }
}
