//! P13 image filters: every kind, border, channel count and pixel type, over widths that end inside a word or a tile.

use super::input;
use crate::case::{Cases, Target};
use crate::data::Fill;
use isowarp::Result;
use isowarp::element::Element;
use isowarp::patterns::filter::Pixel;
use isowarp::prelude::*;

/// Name and kind of every filter.
pub(crate) fn kinds() -> Result<Vec<(&'static str, FilterKind)>> {
    let uneven =
        |size: u32| FilterKind::Weighted { size, weights: (0..size * size).map(|k| 0.37 - 0.11 * k as f32 + (k * k % 7) as f32).collect() };
    Ok(vec![
        ("identity", FilterKind::Weighted { size: 3, weights: vec![0., 0., 0., 0., 1., 0., 0., 0., 0.] }),
        ("box3", FilterKind::box3()),
        ("gaussian3", FilterKind::gaussian3()),
        ("gaussian5", FilterKind::gaussian5()),
        ("sharpen", FilterKind::sharpen(0.7)?),
        ("laplacian", FilterKind::laplacian()),
        ("highpass", FilterKind::highpass()),
        ("uneven3", uneven(3)),
        ("uneven5", uneven(5)),
        ("sobel", FilterKind::Sobel),
        ("median3", FilterKind::Median3),
    ])
}

/// Width and height: single pixels, lines and columns, odd widths, around tiles of 16, 32, 64 and 128.
const SIZES: [(u32, u32); 16] = [
    (1, 1),
    (2, 1),
    (1, 2),
    (3, 3),
    (1, 70),
    (70, 1),
    (5, 4),
    (31, 17),
    (32, 32),
    (33, 31),
    (63, 65),
    (64, 16),
    (65, 9),
    (127, 5),
    (129, 130),
    (257, 33),
];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    let kinds = kinds().unwrap_or_default();
    for (name, kind) in &kinds {
        for border in Border::ALL {
            for channels in [1, 3, 4] {
                pixels::<B, u8>(c, name, kind, border, channels);
                pixels::<B, f32>(c, name, kind, border, channels);
            }
        }
    }
    for fill in [Fill::Bits, Fill::Wide, Fill::Subnormal, Fill::Cancel] {
        for (name, kind) in &kinds {
            let kind = kind.clone();
            c.add(format!("filter/{name}/f32/{}", fill.name()), move |d| one::<B, f32>(d, &kind, Border::Clamp, (61, 47), 1, fill));
        }
    }
    chains(c);
}

fn pixels<B: Target, T: Pixel>(c: &mut Cases<B>, name: &str, kind: &FilterKind, border: Border, channels: u32) {
    let t = T::DTYPE;
    // A quick run compiles fewer kernels: of the borders other than clamped ones those of one filter.
    let quick = if border == Border::Clamp { channels == 1 || kind.radius() == 1 } else { channels == 1 && name == "box3" };
    let kind = kind.clone();
    c.add(format!("filter/{name}/{t}/{border:?}/c={channels}"), move |d| {
        SIZES.iter().map(|&size| one::<B, T>(d, &kind, border, size, channels, Fill::Plain)).collect::<Result<Vec<_>>>()
    })
    .needs(&[t])
    .quick &= quick;
}

fn one<B: Target, T: Pixel>(
    d: &B,
    kind: &FilterKind,
    border: Border,
    (width, height): (u32, u32),
    channels: u32,
    fill: Fill,
) -> Result<Image<B, T>> {
    let x = input::<B, T>(d, fill, u64::from(width * height * channels), "image")?;
    d.filter(&Image::new(x, width, height, channels)?, kind.clone(), border)
}

fn chains<B: Target>(c: &mut Cases<B>) {
    c.add("filter/chain/u8", |d| {
        let mut image = Image::new(input::<B, u8>(d, Fill::Plain, 201 * 99 * 4, "chain")?, 201, 99, 4)?;
        for kind in [FilterKind::Median3, FilterKind::gaussian5(), FilterKind::sharpen(0.5)?, FilterKind::Sobel] {
            image = d.filter(&image, kind, Border::Mirror)?;
        }
        Ok(image)
    })
    .needs(&[u8::DTYPE]);
    c.add("filter/into_slice/u8", |d| {
        // Images that start and end inside a word of their buffers.
        let (x, out) = (input::<B, u8>(d, Fill::Plain, 1000, "from")?, input::<B, u8>(d, Fill::Plain, 1000, "to")?);
        let from = Image::new(x.slice(3..3 + 29 * 31)?, 29, 31, 1)?;
        let to = Image::new(out.slice(5..5 + 29 * 31)?, 29, 31, 1)?;
        d.filter_into(&from, FilterKind::Sobel, Border::Clamp, &to)?;
        Ok(out)
    })
    .needs(&[u8::DTYPE]);
    c.add("filter/into_slice/f32", |d| {
        let (x, out) = (input::<B, f32>(d, Fill::Plain, 1000, "from")?, input::<B, f32>(d, Fill::Plain, 1000, "to")?);
        let from = Image::new(x.slice(3..3 + 29 * 31)?, 29, 31, 1)?;
        let to = Image::new(out.slice(5..5 + 29 * 31)?, 29, 31, 1)?;
        d.filter_into(&from, FilterKind::Median3, Border::Zero, &to)?;
        Ok(out)
    });
    c.add("filter/empty/f32", |d| {
        let image = Image::new(input::<B, f32>(d, Fill::Plain, 0, "none")?, 0, 7, 1)?;
        d.filter(&image, FilterKind::Sobel, Border::Clamp)
    });
    // Rows of 32 KiB, of which a binding of 128 MiB holds not much more than 4096.
    c.add("filter/above_binding_limit/8191x4103", |d| {
        let (width, height) = (8191, 4103);
        let x = d.generate(u64::from(width * height), index(), |i| ((i * 2_654_435_761) >> 8).cast::<f32>())?;
        let out = d.filter(&Image::new(x, width, height, 1)?, FilterKind::gaussian3(), Border::Mirror)?;
        d.reduce((out.buffer(), index()).map(|(x, i)| x.bitcast::<u32>() * (i | 1)), Sum).run()
    })
    .bytes(4 * 8191 * 4103)
    .full();
    for (width, height) in [(1920, 1080), (4097, 515)] {
        c.add(format!("filter/large/{width}x{height}"), move |d| {
            let image = Image::new(input::<B, f32>(d, Fill::Plain, u64::from(width * height), "large")?, width, height, 1)?;
            let hash = |d: &B, i: &Image<B, f32>| d.reduce((i.buffer(), index()).map(|(x, i)| x.bitcast::<u32>() * (i | 1)), Sum).run();
            let out = [FilterKind::gaussian3(), FilterKind::Sobel, FilterKind::Median3]
                .map(|k| d.filter(&image, k, Border::Mirror).and_then(|o| hash(d, &o)));
            out.into_iter().collect::<Result<Vec<_>>>()
        })
        .full();
    }
}
