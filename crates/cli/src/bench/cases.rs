//! What is measured: each pattern over f32, without allocations on the device, and from host memory to host memory.

use isowarp::prelude::*;
use isowarp::{Device, Result};

/// Work that is enqueued again and again.
type Work = Box<dyn FnMut() -> Result<()>>;
/// The same with upload and download.
type Whole = Box<dyn FnMut(&Device) -> Result<()>>;

/// A pattern of one input.
type Unary<T> = fn(&Device, &Buffer<Device, f32>) -> Result<Buffer<Device, T>>;

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// The number of elements nearest to the one asked for.
    pub(crate) elements: fn(u64) -> u64,
    /// Bytes read and written.
    pub(crate) bytes: fn(u64) -> u64,
    pub(crate) on_device: fn(&Device, u64) -> Result<Work>,
    pub(crate) end_to_end: fn(u64) -> Whole,
}

/// Every case, in the order of the table.
pub(crate) const CASES: [Case; 10] = [
    Case { name: "copy", elements: same, bytes: |n| 8 * n, on_device: copy, end_to_end: |n| whole(n, Map::copy) },
    Case {
        name: "map",
        elements: same,
        bytes: |n| 8 * n,
        on_device: |d, n| map(d, n, |x| x * 2.0 + 1.0),
        end_to_end: |n| whole(n, |d, x| d.map(x, |x| x * 2.0 + 1.0)),
    },
    Case {
        name: "exp",
        elements: same,
        bytes: |n| 8 * n,
        on_device: |d, n| map(d, n, Expr::<f32>::exp),
        end_to_end: |n| whole(n, |d, x| d.map(x, Expr::<f32>::exp)),
    },
    Case { name: "axpy", elements: same, bytes: |n| 12 * n, on_device: axpy, end_to_end: axpy_whole },
    Case {
        name: "reduce",
        elements: same,
        bytes: |n| 4 * n,
        on_device: reduce,
        end_to_end: |n| whole(n, |d, x| Ok(d.reduce(x, Sum)?.buffer().clone())),
    },
    Case {
        name: "argmax",
        elements: same,
        bytes: |n| 4 * n,
        on_device: argmax,
        end_to_end: |n| whole(n, |d, x| Ok(d.argmax(x)?.buffer().clone())),
    },
    Case { name: "scan", elements: same, bytes: |n| 8 * n, on_device: scan, end_to_end: |n| whole(n, |d, x| d.scan_inclusive(x, Sum)) },
    Case {
        name: "gaussian5",
        elements: square,
        bytes: |n| 8 * n,
        on_device: |d, n| filter(d, n, FilterKind::gaussian5),
        end_to_end: |n| filter_whole(n, FilterKind::gaussian5),
    },
    Case {
        name: "sobel",
        elements: square,
        bytes: |n| 8 * n,
        on_device: |d, n| filter(d, n, || FilterKind::Sobel),
        end_to_end: |n| filter_whole(n, || FilterKind::Sobel),
    },
    Case {
        name: "median",
        elements: square,
        bytes: |n| 8 * n,
        on_device: |d, n| filter(d, n, || FilterKind::Median3),
        end_to_end: |n| filter_whole(n, || FilterKind::Median3),
    },
];

fn same(n: u64) -> u64 {
    n
}

fn side(n: u64) -> u32 {
    n.isqrt().clamp(1, u32::MAX.into()) as u32
}

/// The pixels of the largest square image of at most `n`.
fn square(n: u64) -> u64 {
    let s = u64::from(side(n));
    s * s
}

/// Values between 0 and 1 without a pattern that an image filter could profit from.
fn values(device: &Device, n: u64) -> Result<Buffer<Device, f32>> {
    device.generate(n, index(), |i| ((i * 2_654_435_761u32) >> 8).cast::<f32>() * (1.0 / 16_777_216.0))
}

fn host(n: u64) -> Vec<f32> {
    (0..n).map(|i| ((i as u32).wrapping_mul(2_654_435_761) >> 8) as f32 / 16_777_216.0).collect()
}

fn copy(device: &Device, n: u64) -> Result<Work> {
    let (d, x, y) = (device.clone(), values(device, n)?, device.buffer::<f32>(n)?);
    Ok(Box::new(move || d.copy_into(&x, &y)))
}

fn map(device: &Device, n: u64, f: fn(Expr<f32>) -> Expr<f32>) -> Result<Work> {
    let (d, x, y) = (device.clone(), values(device, n)?, device.buffer::<f32>(n)?);
    Ok(Box::new(move || d.map_into(&x, f, &y)))
}

fn axpy(device: &Device, n: u64) -> Result<Work> {
    let (d, x, y, z) = (device.clone(), values(device, n)?, values(device, n)?, device.buffer::<f32>(n)?);
    Ok(Box::new(move || d.map_into((scalar(0.5f32), &x, &y), |(a, x, y)| a * x + y, &z)))
}

fn axpy_whole(n: u64) -> Whole {
    let (x, y) = (host(n), host(n));
    Box::new(move |d| d.axpy(0.5, &d.upload(&x)?, &d.upload(&y)?)?.read_blocking().map(drop))
}

fn reduce(device: &Device, n: u64) -> Result<Work> {
    let (d, x, y) = (device.clone(), values(device, n)?, device.buffer::<f32>(1)?);
    Ok(Box::new(move || d.reduce_into(&x, Sum, &y)))
}

fn argmax(device: &Device, n: u64) -> Result<Work> {
    let (d, x) = (device.clone(), values(device, n)?);
    Ok(Box::new(move || d.argmax(&x).map(drop)))
}

fn scan(device: &Device, n: u64) -> Result<Work> {
    let (d, x, y) = (device.clone(), values(device, n)?, device.buffer::<f32>(n)?);
    Ok(Box::new(move || d.scan_inclusive_into(&x, Sum, &y)))
}

fn filter(device: &Device, n: u64, kind: fn() -> FilterKind) -> Result<Work> {
    let s = side(n);
    let x = Image::new(values(device, n)?, s, s, 1)?;
    let y = Image::new(device.buffer::<f32>(n)?, s, s, 1)?;
    let d = device.clone();
    Ok(Box::new(move || d.filter_into(&x, kind(), Border::Clamp, &y)))
}

fn filter_whole(n: u64, kind: fn() -> FilterKind) -> Whole {
    let x = host(n);
    let s = side(n);
    Box::new(move |d| {
        let x = Image::new(d.upload(&x)?, s, s, 1)?;
        d.filter(&x, kind(), Border::Clamp)?.buffer().read_blocking().map(drop)
    })
}

/// Upload, `f`, download.
fn whole<T: isowarp::element::Element>(n: u64, f: Unary<T>) -> Whole {
    let x = host(n);
    Box::new(move |d| f(d, &d.upload(&x)?)?.read_blocking().map(drop))
}
