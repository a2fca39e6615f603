//! Segments and runs of keys, as they are measured.

use crate::works::{Ready, Shape, Work, one, random, work, zeroed};
use isowarp::element::DType;
use isowarp::prelude::*;
use isowarp::{Device, Result};

/// Elements of a tiny segment on average, and of ones that are neither that nor long.
const TINY: u64 = 16;
const HUNDREDS: u64 = 400;
const MIDDLE: u64 = 3000;
/// Elements of the longest segment by power law.
const LONGEST: f64 = 1e6;

pub(crate) fn works() -> Vec<Work> {
    vec![
        work("segmented/power_law", DType::F32, 4, |d, s| of(d, s, &power_law(s))),
        work("segmented/tiny", DType::F32, 4, |d, s| of(d, s, &around(s, TINY))),
        work("segmented/hundreds", DType::F32, 4, |d, s| of(d, s, &around(s, HUNDREDS))),
        work("segmented/middle", DType::F32, 4, |d, s| of(d, s, &around(s, MIDDLE))),
        work("segmented/one", DType::F32, 4, |d, s| of(d, s, &[0, s.n as u32])),
        work("segmented/by_key", DType::U32, 10, |d, s| {
            // A run goes on with three of four elements.
            let random = random::<u32>(d, s.n, s.seed)?;
            let keys = d.scan(random.map(|x| (x >> 30).eq(0).cast::<u32>()), Sum).run()?;
            let (found, count) = (zeroed::<u32>(d, s.n)?, zeroed::<u32>(d, 1)?);
            one::<u32>(d, s, move |d, x, out| d.reduce(x, Sum).by_key(&keys).write_to(((&found, out), &count)))
        }),
        work("segmented/sort", DType::U32, 8, |d, s| sorted(d, s, &power_law(s))),
        work("segmented/sort_middle", DType::U32, 8, |d, s| sorted(d, s, &around(s, MIDDLE))),
        work("segmented/sort_tiny", DType::U32, 8, |d, s| sorted(d, s, &around(s, TINY))),
    ]
}

/// Sums of segments.
fn of(d: &Device, s: &Shape, offsets: &[u32]) -> Result<Ready> {
    let offsets = d.upload(offsets)?;
    one::<f32>(d, s, move |d, x, out| d.reduce(x, Sum).segments(&offsets).write_to(out))
}

/// Segments in order.
fn sorted(d: &Device, s: &Shape, offsets: &[u32]) -> Result<Ready> {
    let offsets = d.upload(offsets)?;
    one::<u32>(d, s, move |d, x, out| d.sort(x).segments(&offsets).write_to(out))
}

/// A number in [0, 1) for each index.
fn unit(s: &Shape, k: u64) -> f64 {
    let h = (k + u64::from(s.seed)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let h = (h ^ (h >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (h >> 11) as f64 / (1u64 << 53) as f64
}

/// As many segments of each magnitude.
fn power_law(s: &Shape) -> Vec<u32> {
    let mut offsets = vec![0];
    let (mut at, mut k) = (0, 0);
    while at < s.n {
        at = (at + LONGEST.powf(unit(s, k)) as u64).min(s.n);
        offsets.push(at as u32);
        k += 1;
    }
    offsets
}

/// Segments of one to twice as many elements as the average.
fn around(s: &Shape, mean: u64) -> Vec<u32> {
    let inner = (1..s.n / mean).map(|k| (k * mean) as u32 + (unit(s, k) * mean as f64) as u32);
    std::iter::once(0).chain(inner).chain([s.n as u32]).collect()
}
