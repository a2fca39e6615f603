//! Transforms, with tables that are kept. An element is a float, half a point; bytes are those of points that are read and written once.

use super::{Work, one, work};
use isowarp::element::DType;
use isowarp::patterns::FftScalar;
use isowarp::prelude::*;
use isowarp::{Device, Result};

pub(super) fn works() -> Vec<Work> {
    vec![
        work("fft/complex", DType::F32, 8, |d, s| lines::<f32>(d, s, |points| [1, points, 1])),
        work("fft/complex", DType::F64, 16, |d, s| lines::<f64>(d, s, |points| [1, points, 1])),
        work("fft/rows_4096", DType::F32, 8, |d, s| lines::<f32>(d, s, |points| [points >> 12, points.min(1 << 12), 1])),
        work("fft/rows_256", DType::F32, 8, |d, s| lines::<f32>(d, s, |points| [points >> 8, points.min(1 << 8), 1])),
        work("fft/rows_1000", DType::F32, 8, |d, s| lines::<f32>(d, s, |points| [points / 1000, points.min(1000), 1])),
        work("fft/rows_1009", DType::F32, 8, |d, s| lines::<f32>(d, s, |points| [points / 1009, points.min(1009), 1])),
        work("fft/columns_256", DType::F32, 8, |d, s| lines::<f32>(d, s, |points| [1, points.min(1 << 8), points >> 8])),
        work("fft/inverse", DType::F32, 8, |d, s| {
            let n = points(s);
            let plan = d.fft_plan::<f32>(n)?;
            one::<f32>(d, s, move |d, x, out| d.fft(&x.slice(..2 * n)?).plan(&plan).inverse().write_to(out))
        }),
        // Rows and columns of a square, or of one of half as many rows.
        work("fft/plane", DType::F32, 8, |d, s| {
            let (n, shape) = (points(s), plane(s));
            one::<f32>(d, s, move |d, x, out| d.fft(&x.slice(..2 * n)?).axes(&shape, &[0, 1]).write_to(out))
        }),
        work("fft/shift", DType::F32, 8, |d, s| {
            let (n, shape) = (points(s), plane(s));
            one::<f32>(d, s, move |d, x, out| d.fft_shift(&x.slice(..2 * n)?, &shape, &[0, 1]).points().write_to(out))
        }),
        work("fft/real", DType::F32, 8, |d, s| real(d, s, false)),
        work("fft/real_inverse", DType::F32, 8, |d, s| real(d, s, true)),
    ]
}

/// The greatest power of two of points that there are elements for, or none.
fn points(s: &super::Shape) -> u64 {
    if s.n < 2 { 0 } else { 1 << (s.n / 2).ilog2() }
}

/// Rows and columns of so many points.
fn plane(s: &super::Shape) -> [u64; 2] {
    let n = points(s);
    let rows = 1 << (n.max(1).ilog2() / 2);
    [rows, n / rows]
}

/// Real numbers to half of their spectrum, or back.
fn real(d: &Device, s: &super::Shape, inverse: bool) -> Result<super::Ready> {
    let n = 1 << s.n.max(2).ilog2().max(2) >> 1;
    let plan = d.rfft_plan::<f32>(n)?;
    one::<f32>(d, s, move |d, x, out| match (x.len() < n + 2, inverse) {
        (true, _) => Ok(()),
        (_, false) => d.rfft(&x.slice(..n)?).plan(&plan).write_to(out),
        (_, true) => d.irfft(&x.slice(..n + 2)?, n).plan(&plan).write_to(out),
    })
}

/// Lines along the middle axis of a shape, of as many points as a power of two has.
fn lines<T: FftScalar>(d: &Device, s: &super::Shape, shape: fn(u64) -> [u64; 3]) -> Result<super::Ready> {
    let [outer, n, inner] = shape(if s.n < 2 { 1 } else { 1 << (s.n / 2).ilog2() });
    let (shape, floats) = ([if s.n < 2 { 0 } else { outer }, n, inner], if s.n < 2 { 0 } else { 2 * outer * n * inner });
    let plan = d.fft_plan::<T>(n)?;
    one::<T>(d, s, move |d, x, out| d.fft(&x.slice(..floats)?).axis(&shape, 1).plan(&plan).write_to(out))
}
