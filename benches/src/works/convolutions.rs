//! Convolutions.

use super::{Ready, Shape, Work, into, one, random, work};
use isowarp::element::DType;
use isowarp::prelude::*;
use isowarp::{Device, Result};

/// Square images of as many elements as there are, or fewer, by square filters. Bytes are those of image and result.
pub(super) fn works() -> Vec<Work> {
    vec![
        work("convolve/3x3", DType::F32, 8, |d, s| plane(d, s, 3)),
        work("convolve/5x5", DType::F32, 8, |d, s| plane(d, s, 5)),
        work("convolve/9x9", DType::F32, 8, |d, s| plane(d, s, 9)),
        work("convolve/17x17", DType::F32, 8, |d, s| plane(d, s, 17)),
        work("convolve/separable_17", DType::F32, 8, |d, s| {
            let (side, taps) = (s.n.isqrt(), random::<f32>(d, 17, s.seed ^ 1)?);
            one::<f32>(d, s, move |d, x, out| {
                let line = || grid(&taps, &[17]);
                d.separable(grid(&x.slice(..side * side)?, &[side; 2]), line(), line()).same().write_to(out)
            })
        }),
        work("convolve/line_17", DType::F32, 8, |d, s| {
            let (n, taps) = (s.n, random::<f32>(d, 17, s.seed ^ 1)?);
            one::<f32>(d, s, move |d, x, out| d.convolve(grid(x, &[n]), grid(&taps, &[17])).same().write_to(out))
        }),
        work("convolve/line_129", DType::F32, 8, |d, s| {
            let (n, taps) = (s.n, random::<f32>(d, 129, s.seed ^ 1)?);
            one::<f32>(d, s, move |d, x, out| d.convolve(grid(x, &[n]), grid(&taps, &[129])).same().write_to(out))
        }),
        work("convolve/short_lines_9", DType::F32, 8, |d, s| {
            let (side, taps) = (s.n.min(256), random::<f32>(d, 9, s.seed ^ 1)?);
            one::<f32>(d, s, move |d, x, out| {
                let lines = x.len() / side.max(1);
                let x = x.slice(..lines * side)?;
                d.convolve(grid(&x, &[side]).batch(lines), grid(&taps, &[9])).same().write_to(out)
            })
        }),
        work("convolve/channels_4_to_1", DType::F32, 5, |d, s| channels(d, s, 4, 1)),
        work("convolve/channels_4_to_8", DType::F32, 12, |d, s| channels(d, s, 4, 8)),
        work("convolve/volume_3x3x3", DType::F32, 8, |d, s| {
            let (side, taps) = (cube(s.n), random::<f32>(d, 27, s.seed ^ 1)?);
            let x = random::<f32>(d, s.n * s.copies, s.seed)?;
            into(d, s, x, side * side * side, move |d, x, out| {
                d.convolve(grid(&x.slice(..side * side * side)?, &[side; 3]), grid(&taps, &[3; 3])).same().write_to(out)
            })
        }),
        // To twice the rows and columns.
        work("convolve/transposed_4x4", DType::F32, 20, |d, s| {
            let (side, filter) = (s.n.isqrt(), random::<f32>(d, 16, s.seed ^ 1)?);
            let x = random::<f32>(d, s.n * s.copies, s.seed)?;
            into(d, s, x, 4 * side * side, move |d, x, out| {
                let x = x.slice(..side * side)?;
                d.convolve(grid(&x, &[side; 2]), grid(&filter, &[4; 2])).stride(&[2; 2]).padding(&[1; 2]).transposed().write_to(out)
            })
        }),
        work("convolve/fft_65x65", DType::F32, 8, |d, s| {
            let (side, taps) = (s.n.isqrt(), random::<f32>(d, 65 * 65, s.seed ^ 1)?);
            one::<f32>(d, s, move |d, x, out| {
                d.fft_convolve(grid(&x.slice(..side * side)?, &[side; 2]), grid(&taps, &[65; 2])).same().write_to(out)
            })
        }),
        // A layer of a network: 64 channels of 56 x 56 to as many, by filters of 3 x 3.
        work("convolve/layer_3x3", DType::F32, 8, layer),
    ]
}

/// The greatest cube's side.
fn cube(n: u64) -> u64 {
    (0..).take_while(|side| side * side * side <= n).last().unwrap_or(0)
}

/// An image by a filter of so many rows and columns.
fn plane(d: &Device, s: &Shape, taps: u64) -> Result<Ready> {
    let (side, filter) = (s.n.isqrt(), random::<f32>(d, taps * taps, s.seed ^ 1)?);
    one::<f32>(d, s, move |d, x, out| {
        d.convolve(grid(&x.slice(..side * side)?, &[side; 2]), grid(&filter, &[taps; 2])).same().write_to(out)
    })
}

/// Images of several channels, as many as there are elements for, by filters of 3 x 3.
fn channels(d: &Device, s: &Shape, channels: u64, filters: u64) -> Result<Ready> {
    let side = (s.n / channels).isqrt().clamp(1, 1024);
    let batch = (s.n / (channels * side * side)).max(1);
    let filter = random::<f32>(d, filters * channels * 9, s.seed ^ 1)?;
    let x = random::<f32>(d, s.n * s.copies + channels, s.seed)?;
    into(d, s, x, batch * filters * side * side, move |d, x, out: &Buffer<Device, f32>| {
        let image = x.slice(..batch * channels * side * side)?;
        let image = grid(&image, &[side; 2]).channels(channels).batch(batch);
        d.convolve(image, grid(&filter, &[3; 2]).channels(channels).batch(filters)).same().write_to(out)
    })
}

/// Images, as many as there are elements for; of fewer, one of one channel.
fn layer(d: &Device, s: &Shape) -> Result<Ready> {
    let whole = s.n / (64 * 56 * 56);
    let (batch, channels, side) = if whole == 0 { (1, 1, s.n.isqrt()) } else { (whole, 64, 56) };
    let filter = random::<f32>(d, channels * channels * 9, s.seed ^ 1)?;
    let x = random::<f32>(d, s.n * s.copies, s.seed)?;
    into(d, s, x, s.n, move |d, x, out: &Buffer<Device, f32>| {
        let image = x.slice(..batch * channels * side * side)?;
        let image = grid(&image, &[side; 2]).channels(channels).batch(batch);
        d.convolve(image, grid(&filter, &[3; 2]).channels(channels).batch(channels)).same().write_to(out)
    })
}
