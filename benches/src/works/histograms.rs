//! Histograms, as they are measured.

use super::{Ready, Shape, Work, into, one, random, work};
use isowarp::element::{DType, Element};
use isowarp::prelude::*;
use isowarp::{Device, Result};

/// Histograms of random samples, of samples of which half are equal, and of equal ones.
pub(super) fn works() -> Vec<Work> {
    const SAME: fn(Expr<u32>) -> Expr<u32> = |x| x;
    const SKEWED: fn(Expr<u32>) -> Expr<u32> = |x| select((x & 1u32).eq(0), 77, x);
    const EQUAL: fn(Expr<u32>) -> Expr<u32> = |_| lit(77);
    vec![
        work("histogram/even", DType::U32, 4, |d, s| {
            samples::<u32>(d, s, 256, SAME, |d, x, out| d.histogram(even_bins(x, 0, u32::MAX, 256)).write_to(out))
        }),
        work("histogram/skewed", DType::U32, 4, |d, s| {
            samples::<u32>(d, s, 256, SKEWED, |d, x, out| d.histogram(even_bins(x, 0, u32::MAX, 256)).write_to(out))
        }),
        work("histogram/one_bin", DType::U32, 4, |d, s| {
            samples::<u32>(d, s, 256, EQUAL, |d, x, out| d.histogram(even_bins(x, 0, u32::MAX, 256)).write_to(out))
        }),
        work("histogram/even", DType::U8, 1, |d, s| {
            samples::<u8>(d, s, 256, SAME, |d, x, out| d.histogram(even_bins(x, 0, 256, 256)).write_to(out))
        }),
        work("histogram/skewed", DType::U8, 1, |d, s| {
            samples::<u8>(d, s, 256, SKEWED, |d, x, out| d.histogram(even_bins(x, 0, 256, 256)).write_to(out))
        }),
        work("histogram/one_bin", DType::U8, 1, |d, s| {
            samples::<u8>(d, s, 256, EQUAL, |d, x, out| d.histogram(even_bins(x, 0, 256, 256)).write_to(out))
        }),
        work("histogram/even", DType::F32, 4, |d, s| {
            let counts = d.buffer::<u32>(MANY_BINS)?;
            one::<f32>(d, s, move |d, x, _| d.histogram(even_bins(x, 0.0, 1.0, 256)).write_to(&counts))
        }),
        work("histogram/many_bins", DType::U32, 4, |d, s| {
            samples::<u32>(d, s, MANY_BINS, SAME, |d, x, out| d.histogram(even_bins(x.map(|x| x >> 12), 0, 1 << 20, 1 << 20)).write_to(out))
        }),
        work("histogram/many_bins_one", DType::U32, 4, |d, s| {
            samples::<u32>(d, s, MANY_BINS, EQUAL, |d, x, out| {
                d.histogram(even_bins(x.map(|x| x >> 12), 0, 1 << 20, 1 << 20)).write_to(out)
            })
        }),
        work("histogram/weighted", DType::F32, 4, |d, s| {
            let sums = d.buffer::<f32>(256)?;
            one::<f32>(d, s, move |d, x, _| d.histogram(even_bins(x, 0.0, 1.0, 256)).weighted(x).write_to(&sums))
        }),
        work("histogram/weighted", DType::F64, 8, |d, s| {
            let sums = d.buffer::<f64>(256)?;
            one::<f64>(d, s, move |d, x, _| d.histogram(even_bins(x, 0.0, 1.0, 256)).weighted(x).write_to(&sums))
        }),
    ]
}

/// The most bins of the histograms here.
const MANY_BINS: u64 = 1 << 20;

/// A histogram with so many bins of random samples, made into others by `kind`; the digest is the counts'.
pub(super) fn samples<T: Element<Reg = u32>>(
    d: &Device,
    shape: &Shape,
    bins: u64,
    kind: fn(Expr<u32>) -> Expr<u32>,
    f: impl Fn(&Device, &Buffer<Device, T>, &Buffer<Device, u32>) -> Result<()> + 'static,
) -> Result<Ready> {
    let x = random::<T>(d, shape.n * shape.copies, shape.seed)?;
    d.map_into(&x, |x| kind(x).store_as::<T>(), &x)?;
    into(d, shape, x, bins, f)
}
