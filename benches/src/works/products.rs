//! Products of matrices.

use super::{Ready, Shape, Work, into, one, random, turn_of, work, zeroed};
use isowarp::element::{DType, Element};
use isowarp::minifloat::{BF16, F16};
use isowarp::patterns::ProductOrder::{self, Blocks};
use isowarp::patterns::{FactorFormat, Matrix, product::Factor};
use isowarp::prelude::*;
use isowarp::{Device, Result};

/// Square matrices of as many elements as there are, or fewer: 2 n^1.5 operations, of 2^24 elements 137.4 GFLOP. Bytes are those of the three matrices.
pub(super) fn works() -> Vec<Work> {
    vec![
        work("gemm/f32", DType::F32, 12, |d, s| square::<f32>(d, s, false, Blocks)),
        work("gemm/f32_transposed", DType::F32, 12, |d, s| square::<f32>(d, s, true, Blocks)),
        work("gemm/f64", DType::F64, 24, |d, s| square::<f64>(d, s, false, Blocks)),
        work("gemm/i8", DType::I8, 6, |d, s| square::<i8>(d, s, false, Blocks)),
        work("gemm/fixed30", DType::F32, 12, |d, s| square::<f32>(d, s, false, ProductOrder::Fixed30)),
        work("gemm/fast_f16", DType::F32, 12, |d, s| fast(d, s, FactorFormat::F16, |x| F16.decode(F16.encode(x)))),
        work("gemm/fast_bf16", DType::F32, 12, |d, s| fast(d, s, FactorFormat::Bf16, |x| BF16.decode(BF16.encode(x)))),
        // To nearest even, of what is finite and not negative.
        work("gemm/fast_tf32", DType::F32, 12, |d, s| {
            fast(d, s, FactorFormat::Tf32, |x| {
                let bits = x.bitcast::<u32>();
                ((bits + 0xFFF + ((bits >> 13) & 1)) & 0xFFFF_E000).bitcast::<f32>()
            })
        }),
        // Few terms to a square of as many elements, and many to few rows and columns.
        work("gemm/f32_128_terms", DType::F32, 4, |d, s| flat(d, s, 128)),
        work("gemm/f32_512_terms", DType::F32, 4, |d, s| flat(d, s, 512)),
        work("gemm/f32_128_rows", DType::F32, 8, |d, s| {
            let rows = s.n.isqrt().min(128);
            let (k, a, b) = (s.n / rows, random::<f32>(d, s.n * s.copies, s.seed)?, random::<f32>(d, s.n, s.seed ^ 1)?);
            into(d, s, a, rows * rows, move |d, a, out| d.gemm(matrix(a, rows, k), matrix(&b, k, rows)).write_to(out))
        }),
        work("gemm/f32_128_columns", DType::F32, 4, |d, s| {
            let n = s.n.isqrt();
            let (columns, b) = (n.min(128), random::<f32>(d, n * n.min(128), s.seed ^ 1)?);
            let a = random::<f32>(d, s.n * s.copies, s.seed)?;
            into(d, s, a, n * columns, move |d, a, out| d.gemm(matrix(a, n, n), matrix(&b, n, columns)).write_to(out))
        }),
        // Batches of small matrices.
        work("gemm/f32_batch_16", DType::F32, 12, |d, s| batch(d, s, 16)),
        work("gemm/f32_batch_32", DType::F32, 12, |d, s| batch(d, s, 32)),
        work("gemm/f32_batch_64", DType::F32, 12, |d, s| batch(d, s, 64)),
        // A layer of a network: a bias to each column, and a threshold.
        work("gemm/layer", DType::F32, 12, |d, s| {
            let n = s.n.isqrt();
            let (b, bias) = (random::<f32>(d, s.n, s.seed ^ 1)?, random::<f32>(d, n, s.seed ^ 2)?);
            one::<f32>(d, s, move |d, a, out| {
                let bias = bias.broadcast(&[n], &[n, n]);
                d.gemm(matrix(a, n, n), matrix(&b, n, n)).epilogue(bias, |y, bias| (y + bias).max(0.0)).write_to(out)
            })
        }),
        // A matrix by its transpose, the product of a column and a row, alone and added to a matrix, and three products of a matrix of a sixteenth of the
        // elements.
        work("gemm/syrk", DType::F32, 8, |d, s| {
            let n = s.n.isqrt();
            one::<f32>(d, s, move |d, a, out| d.syrk(matrix(a, n, n)).write_to(out))
        }),
        work("gemm/outer", DType::F32, 4, |d, s| {
            let (n, y) = (s.n.isqrt(), random::<f32>(d, s.n.isqrt(), s.seed ^ 1)?);
            one::<f32>(d, s, move |d, x, out| d.outer(&x.slice(..n)?, n, &y, n).write_to(out))
        }),
        work("gemm/rank_one_update", DType::F32, 8, |d, s| {
            let (n, x, y) = (s.n.isqrt(), random::<f32>(d, s.n.isqrt(), s.seed ^ 1)?, random::<f32>(d, s.n.isqrt(), s.seed ^ 2)?);
            one::<f32>(d, s, move |d, a, out| d.outer(&x, n, &y, n).alpha(0.5).add(1.0, &a.slice(..n * n)?).write_to(out))
        }),
        work("gemm/fifth_power", DType::F32, 8, |d, s| {
            let n = s.n.isqrt() / 4;
            one::<f32>(d, s, move |d, a, out| d.copy_into(&d.matrix_power(matrix(a, n, n), 5)?, &out.slice(..n * n)?))
        }),
        work("gemv/f32", DType::F32, 4, |d, s| vector(d, s, false)),
        work("gemv/f32_transposed", DType::F32, 4, |d, s| vector(d, s, true)),
    ]
}

/// A square matrix, or its transpose.
fn of<T: Element>(buffer: &Buffer<Device, T>, n: u64, transposed: bool) -> Matrix<&Buffer<Device, T>> {
    let m = matrix(buffer, n, n);
    if transposed { m.transposed() } else { m }
}

/// The product of two square matrices.
fn square<T: Element<Reg: Factor>>(d: &Device, s: &Shape, transposed: bool, order: ProductOrder) -> Result<Ready> {
    let (n, a, b) = (s.n.isqrt(), random::<T>(d, s.n * s.copies, s.seed)?, random::<T>(d, s.n, s.seed ^ 1)?);
    into(d, s, a, s.n, move |d, a, out: &Buffer<Device, T::Reg>| {
        d.gemm(of(a, n, transposed), of(&b, n, transposed)).order(order).write_to(out)
    })
}

/// The product of a matrix of so many columns, or fewer, and one of as many rows, whose elements are as many as there are.
fn flat(d: &Device, s: &Shape, terms: u64) -> Result<Ready> {
    let n = s.n.isqrt();
    let (k, b) = (terms.min(n), random::<f32>(d, s.n, s.seed ^ 1)?);
    one::<f32>(d, s, move |d, a, out| d.gemm(matrix(a, n, k), matrix(&b, k, n)).write_to(out))
}

/// Products of square matrices with so many rows, each of the one and of the other batch.
fn batch(d: &Device, s: &Shape, side: u64) -> Result<Ready> {
    let (count, b) = (s.n / (side * side), random::<f32>(d, s.n, s.seed ^ 1)?);
    one::<f32>(d, s, move |d, a, out| d.gemm(matrix(a, side, side).batch(count), matrix(&b, side, side).batch(count)).write_to(out))
}

/// A fast product, whose bits are the device's own: what is compared is how many elements leave the bound of `Fast` around a strict product of the factors
/// rounded before, which has the same bound; no factor is negative.
fn fast(d: &Device, s: &Shape, format: FactorFormat, round: fn(Expr<f32>) -> Expr<f32>) -> Result<Ready> {
    let (n, a, b) = (s.n.isqrt(), random::<f32>(d, s.n * s.copies, s.seed)?, random::<f32>(d, s.n, s.seed ^ 1)?);
    let product = move |d: &Device, a: &Buffer<Device, f32>, b: &Buffer<Device, f32>, out: &Buffer<Device, f32>| {
        d.gemm(matrix(a, n, n), matrix(b, n, n)).order(ProductOrder::Fast(format)).write_to(out)
    };
    let (device, first, right, shape) = (d.clone(), a.clone(), b.clone(), *s);
    let ready = into(d, s, a, s.n, move |d, a, out| product(d, a, &b, out))?;
    Ok(ready.digest_by(move || {
        let rounded = |x: &Buffer<Device, f32>| device.map(x, round);
        let first = turn_of(&first, &shape, 0)?;
        let [found, strict] = [zeroed::<f32>(&device, shape.n)?, zeroed::<f32>(&device, shape.n)?];
        product(&device, &first, &right, &found)?;
        device.gemm(matrix(&rounded(&first)?, n, n), matrix(&rounded(&right)?, n, n)).write_to(&strict)?;
        let bound = n as f32 * 2f32.powi(-21);
        device.reduce((&found, &strict).map(move |(x, y)| (x - y).abs().le(y * bound).select(0u32, 1u32)), Sum).run()?.read_blocking()
    }))
}

/// The product of a square matrix and a vector.
fn vector(d: &Device, s: &Shape, transposed: bool) -> Result<Ready> {
    let (n, x) = (s.n.isqrt(), random::<f32>(d, s.n.isqrt(), s.seed ^ 1)?);
    one::<f32>(d, s, move |d, a, out| d.gemv(of(a, n, transposed), &x).write_to(out))
}
