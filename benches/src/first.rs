//! First calls: of a program that has just started, with its data on the host and a device on which nothing has run yet.
//!
//! What is timed is what such a program waits for: the upload, tracing, loading and compiling kernels, allocating, the pattern itself. The
//! same once more, on the same device, shows how much of it is paid once. Each is measured in a process of its own: drivers keep what they
//! compiled, in memory and on the disk, and only the latter can be switched off.

use crate::results::FirstCall;
use isowarp::backend::Backend as _;
use isowarp::element::DType;
use isowarp::patterns::{FactorFormat, ProductOrder};
use isowarp::prelude::*;
use isowarp::{Device, Result, Selector};
use std::time::Instant;

/// Inputs on the host, of `n` elements each.
pub struct Host {
    n: u64,
    floats: Vec<f32>,
    words: Vec<u32>,
    bytes: Vec<u8>,
    /// In ascending order, four of each.
    rising: Vec<u32>,
}

impl Host {
    /// Random elements, and rising ones.
    #[must_use]
    pub fn new(n: u64, seed: u32) -> Self {
        let word = |i: u64| {
            let h = (i as u32).wrapping_add(seed).wrapping_mul(0x9E37_79B9);
            let h = (h ^ (h >> 16)).wrapping_mul(0x85EB_CA6B);
            (h ^ (h >> 13)).wrapping_mul(0xC2B2_AE35)
        };
        let words: Vec<u32> = (0..n).map(word).collect();
        Self {
            n,
            floats: words.iter().map(|w| (w >> 8) as f32 / 16_777_216.0).collect(),
            bytes: words.iter().map(|w| (w >> 24) as u8).collect(),
            words,
            rising: (0..n).map(|i| (i / 4) as u32).collect(),
        }
    }

    /// The side of the largest square image.
    fn side(&self) -> u32 {
        self.n.isqrt() as u32
    }
}

/// A pattern as a program calls it: from host memory to a result on the device.
#[derive(Clone, Copy)]
pub struct Case {
    /// As in [`crate::works()`].
    pub name: &'static str,
    /// Type of the elements.
    pub dtype: DType,
    call: fn(&Device, &Host) -> Result<()>,
}

/// Every pattern whose first call is measured.
#[must_use]
pub fn cases() -> Vec<Case> {
    use SortOrder::Ascending as UP;
    let (f32, u32, u8) = (DType::F32, DType::U32, DType::U8);
    let mut all = vec![
        case("map/axpy", f32, |d, h| d.axpy(1.5, &d.upload(&h.floats)?, &d.upload(&h.floats)?).map(drop)),
        case("map/exp", f32, |d, h| d.map(&d.upload(&h.floats)?, Expr::<f32>::exp).map(drop)),
        case("map/sin", f32, |d, h| d.map(&d.upload(&h.floats)?, |x| (x * 6.0).sin()).map(drop)),
        case("map/custom", f32, |d, h| d.map(&d.upload(&h.floats)?, |x| (x * x + 1.0).sqrt() / (x + 0.5) - x).map(drop)),
        case("map/custom", u32, |d, h| d.map(&d.upload(&h.words)?, |x| (x ^ (x >> 15)) * 0x2C1B_3C6D + x.count_ones()).map(drop)),
        case("reduce/sum", f32, |d, h| d.reduce(&d.upload(&h.floats)?, Sum).run().map(drop)),
        case("reduce/sum", u32, |d, h| d.reduce(&d.upload(&h.words)?, Sum).run().map(drop)),
        case("reduce/argmin", f32, |d, h| d.argmin(&d.upload(&h.floats)?).map(drop)),
        case("scan/inclusive", f32, |d, h| d.scan(&d.upload(&h.floats)?, Sum).run().map(drop)),
        case("scan/inclusive", u32, |d, h| d.scan(&d.upload(&h.words)?, Sum).run().map(drop)),
        case("scan/exclusive", f32, |d, h| d.scan(&d.upload(&h.floats)?, Sum).exclusive().run().map(drop)),
        case("scan/exclusive", u32, |d, h| d.scan(&d.upload(&h.words)?, Sum).exclusive().run().map(drop)),
        case("select/half", u32, |d, h| d.select(&d.upload(&h.words)?, |x| (x >> 31).eq(0)).run().map(drop)),
        case("select/partition", u32, |d, h| d.partition(&d.upload(&h.words)?, |x| (x >> 31).eq(0)).run().map(drop)),
        case("select/unique", u32, |d, h| d.unique(&d.upload(&h.words)?).run().map(drop)),
        case("sort/keys", u32, |d, h| d.sort(&d.upload(&h.words)?).order(UP).run().map(drop)),
        case("sort/pairs", u32, |d, h| d.sort(&d.upload(&h.words)?).with_values(&d.upload(&h.words)?).order(UP).run().map(drop)),
        case("sort/by", u32, |d, h| d.sort(&d.upload(&h.words)?).by(Expr::lt).run().map(drop)),
        case("merge/keys", u32, |d, h| d.merge(&d.upload(&h.rising)?, &d.upload(&h.rising)?).run().map(drop)),
        case("histogram/even", u32, |d, h| d.histogram(even_bins(&d.upload(&h.words)?, 0, u32::MAX, 256)).run().map(drop)),
        case("segmented/by_key", u32, |d, h| d.reduce(&d.upload(&h.words)?, Sum).by_key(&d.upload(&h.rising)?).run().map(drop)),
        case("groups/ballot", u32, |d, h| d.group_ballot(d.upload(&h.words)?.map(|x| (x >> 31).eq(0)), 32).run().map(drop)),
        case("atomics/tickets", u32, |d, h| d.tickets(d.upload(&h.words)?.map(|x| x >> 12)).run().map(drop)),
        case("move/transpose", f32, |d, h| {
            let side = u64::from(h.side());
            d.transpose(&d.upload(&h.floats[..(side * side) as usize])?, side, side).run().map(drop)
        }),
        case("filter/sobel", u8, |d, h| filter(d, &h.bytes, h.side(), FilterKind::Sobel)),
        case("filter/sobel", f32, |d, h| filter(d, &h.floats, h.side(), FilterKind::Sobel)),
        case("filter/gaussian3", u8, |d, h| filter(d, &h.bytes, h.side(), FilterKind::gaussian3())),
        case("filter/gaussian3", f32, |d, h| filter(d, &h.floats, h.side(), FilterKind::gaussian3())),
        case("filter/median3", u8, |d, h| filter(d, &h.bytes, h.side(), FilterKind::Median3)),
        case("filter/median3", f32, |d, h| filter(d, &h.floats, h.side(), FilterKind::Median3)),
    ];
    all.extend(dense());
    all
}

/// Of square matrices and images, of lines, and of random numbers.
fn dense() -> Vec<Case> {
    use ProductOrder::{Blocks, Fast, Fixed30};
    let f32 = DType::F32;
    vec![
        case("gemm/f32", f32, |d, h| product(d, h, Blocks)),
        case("gemm/fixed30", f32, |d, h| product(d, h, Fixed30)),
        case("gemm/fast_f16", f32, |d, h| product(d, h, Fast(FactorFormat::F16))),
        case("gemv/f32", f32, |d, h| square(d, h, |a, n| d.gemv(matrix(a, n, n), &a.slice(..n)?).run().map(drop))),
        case("convolve/3x3", f32, |d, h| {
            square(d, h, |a, n| d.convolve(grid(a, &[n, n]), grid(&a.slice(..9)?, &[3, 3])).same().run().map(drop))
        }),
        case("convolve/line_17", f32, |d, h| {
            let x = d.upload(&h.floats)?;
            d.convolve(grid(&x, &[x.len()]), grid(&x.slice(..17)?, &[17])).same().run().map(drop)
        }),
        case("convolve/volume_3x3x3", f32, |d, h| {
            let (x, n) = (d.upload(&h.floats)?, 1 << (h.n.ilog2() / 3));
            d.convolve(grid(&x.slice(..n * n * n)?, &[n; 3]), grid(&x.slice(..27)?, &[3; 3])).same().run().map(drop)
        }),
        case("convolve/transposed_4x4", f32, |d, h| {
            square(d, h, |a, n| {
                let filter = a.slice(..16)?;
                d.convolve(grid(a, &[n, n]), grid(&filter, &[4, 4])).stride(&[2, 2]).padding(&[1, 1]).transposed().run().map(drop)
            })
        }),
        case("convolve/fft_65x65", f32, |d, h| {
            let filter = d.upload(&h.floats.iter().copied().cycle().take(65 * 65).collect::<Vec<_>>())?;
            square(d, h, |a, n| d.fft_convolve(grid(a, &[n, n]), grid(&filter, &[65, 65])).same().run().map(drop))
        }),
        case("solve/small", f32, |d, h| {
            let (a, b) = (d.upload(&h.floats)?, d.upload(&h.floats[..h.floats.len() / 32])?);
            let batch = a.len() >> 10;
            d.solve(matrix(&a, 32, 32).batch(batch), matrix(&b, 32, 1).batch(batch)).run().map(drop)
        }),
        case("lu/f32", f32, |d, h| square(d, h, |a, n| d.lu(matrix(a, n, n)).run().map(drop))),
        case("fft/complex", f32, |d, h| {
            let n = 1 << (h.floats.len() / 2).ilog2();
            d.fft(&d.upload(&h.floats[..2 * n])?).run().map(drop)
        }),
        case("exact/sum", f32, |d, h| d.exact_sum(&d.upload(&h.floats)?).run().map(drop)),
        case("random/normal", f32, |d, h| d.map(Random::new(1).normal(h.n, 0.0, 1.0), |x| x).map(drop)),
    ]
}

/// The largest square of the floats, by its side.
fn square(d: &Device, h: &Host, f: impl FnOnce(&Buffer<Device, f32>, u64) -> Result<()>) -> Result<()> {
    let n = u64::from(h.side());
    f(&d.upload(&h.floats[..(n * n) as usize])?, n)
}

fn product(d: &Device, h: &Host, order: ProductOrder) -> Result<()> {
    square(d, h, |a, n| d.gemm(matrix(a, n, n), matrix(a, n, n)).order(order).run().map(drop))
}

fn case(name: &'static str, dtype: DType, call: fn(&Device, &Host) -> Result<()>) -> Case {
    Case { name, dtype, call }
}

fn filter<T: isowarp::patterns::filter::Pixel>(d: &Device, pixels: &[T], side: u32, kind: FilterKind) -> Result<()> {
    let used = side as usize * side as usize;
    let image = Image::new(d.upload(&pixels[..used])?, side, side, 1)?;
    d.filter(&image, kind, Border::Clamp).map(drop)
}

/// Opens a device, and calls a pattern on it twice.
///
/// # Errors
/// What the device reports.
pub fn first_call(selector: Selector, case: &Case, host: &Host) -> Result<FirstCall> {
    let start = Instant::now();
    let device = Device::open(selector)?;
    let open_s = start.elapsed().as_secs_f64();
    let call = || -> Result<f64> {
        let start = Instant::now();
        (case.call)(&device, host)?;
        device.synchronize()?;
        Ok(start.elapsed().as_secs_f64())
    };
    Ok(FirstCall {
        backend: device.caps().backend.to_owned(),
        name: case.name.to_owned(),
        dtype: case.dtype.name().to_owned(),
        n: host.n,
        open_s,
        own_open_s: device.setup_time().as_secs_f64(),
        first_s: call()?,
        again_s: call()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_first_call_runs_and_bears_the_name_of_what_is_measured() {
        let works = crate::works();
        // No square, and no multiple of a tile.
        let host = Host::new(1000, 7);
        for case in cases() {
            assert!(works.iter().any(|w| w.name == case.name && w.dtype == case.dtype), "{} {}", case.name, case.dtype);
            let call = first_call(Selector::Cpu, &case, &host).expect("the pattern runs");
            assert!(call.first_s > 0.0 && call.again_s > 0.0 && call.own_open_s == 0.0, "{call:?}");
        }
    }
}
