//! Products of matrices.

use super::{Work, one, random, work};
use isowarp::element::DType;
use isowarp::prelude::*;

/// Square matrices of as many elements as there are, or fewer: 2 n^1.5 operations, so that of 2^24 elements a microsecond's share of 137.4 milliseconds is a
/// GFLOP/s. Bytes are those of the three matrices.
pub(super) fn works() -> Vec<Work> {
    vec![
        work("gemm/f32", DType::F32, 12, |d, s| {
            let b = random::<f32>(d, s.n, s.seed ^ 1)?;
            let n = side(s.n);
            one::<f32>(d, s, move |d, a, out| d.gemm(matrix(a, n, n), matrix(&b, n, n)).write_to(out))
        }),
        work("gemm/f32_transposed", DType::F32, 12, |d, s| {
            let b = random::<f32>(d, s.n, s.seed ^ 1)?;
            let n = side(s.n);
            one::<f32>(d, s, move |d, a, out| d.gemm(matrix(a, n, n).transposed(), matrix(&b, n, n).transposed()).write_to(out))
        }),
        work("gemm/f64", DType::F64, 24, |d, s| {
            let b = random::<f64>(d, s.n, s.seed ^ 1)?;
            let n = side(s.n);
            one::<f64>(d, s, move |d, a, out| d.gemm(matrix(a, n, n), matrix(&b, n, n)).write_to(out))
        }),
        work("gemm/i8", DType::I8, 6, |d, s| {
            let b = random::<i8>(d, s.n, s.seed ^ 1)?;
            let n = side(s.n);
            let a = random::<i8>(d, s.n * s.copies, s.seed)?;
            super::into(d, s, a, s.n, move |d, a, out: &Buffer<isowarp::Device, i32>| {
                d.gemm(matrix(a, n, n), matrix(&b, n, n)).write_to(out)
            })
        }),
        // A layer of a network: a bias to each column, and a threshold.
        work("gemm/layer", DType::F32, 12, |d, s| {
            let n = side(s.n);
            let (b, bias) = (random::<f32>(d, s.n, s.seed ^ 1)?, random::<f32>(d, n, s.seed ^ 2)?);
            one::<f32>(d, s, move |d, a, out| {
                let bias = bias.broadcast(&[n], &[n, n]);
                d.gemm(matrix(a, n, n), matrix(&b, n, n)).epilogue(bias, |y, bias| (y + bias).max(0.0)).write_to(out)
            })
        }),
        work("gemv/f32", DType::F32, 4, |d, s| {
            let n = side(s.n);
            let x = random::<f32>(d, n, s.seed ^ 1)?;
            one::<f32>(d, s, move |d, a, out| d.gemv(matrix(a, n, n), &x).write_to(out))
        }),
        work("gemv/f32_transposed", DType::F32, 4, |d, s| {
            let n = side(s.n);
            let x = random::<f32>(d, n, s.seed ^ 1)?;
            one::<f32>(d, s, move |d, a, out| d.gemv(matrix(a, n, n).transposed(), &x).write_to(out))
        }),
    ]
}

fn side(n: u64) -> u64 {
    n.isqrt()
}
