//! `isowarp image`: every filter, on every kind of image, with every border, pixel for pixel against its formula in whole numbers.

mod common;

use common::{backends, isowarp, succeeded};
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ExtendedColorType, GrayImage, Luma, Rgb, RgbImage, Rgba, RgbaImage};
use std::path::Path;

const SIZE: (u32, u32) = (13, 9);
const BORDERS: [&str; 3] = ["clamp", "zero", "mirror"];

/// A picture with structure in every channel, black and white in it.
fn value(x: u32, y: u32, c: u32) -> u8 {
    match (x * 5 + y * 3 + c) % 11 {
        0 => 0,
        1 => 255,
        _ => (x * 37 + y * 101 + c * 59 + x * y * 7) as u8,
    }
}

/// The three kinds, each with its channels.
fn pictures() -> [(DynamicImage, u32); 3] {
    let (w, h) = SIZE;
    [
        (GrayImage::from_fn(w, h, |x, y| Luma([value(x, y, 0)])).into(), 1),
        (RgbImage::from_fn(w, h, |x, y| Rgb([0, 1, 2].map(|c| value(x, y, c)))).into(), 3),
        (RgbaImage::from_fn(w, h, |x, y| Rgba([0, 1, 2, 3].map(|c| value(x, y, c)))).into(), 4),
    ]
}

/// Where index `i` of an axis of `n` is read.
fn inside(border: &str, i: i64, n: i64) -> Option<i64> {
    match border {
        _ if (0..n).contains(&i) => Some(i),
        "clamp" => Some(i.clamp(0, n - 1)),
        "mirror" => Some(if i < 0 { -i } else { 2 * (n - 1) - i }),
        _ => None,
    }
}

/// Reads the pixel at a distance from the window's centre.
type Window<'a> = &'a dyn Fn(i64, i64) -> i64;
type Formula = fn(Window) -> f64;

fn weighted(w: Window, weights: &[i64], divisor: i64) -> f64 {
    let r = if weights.len() == 25 { 2 } else { 1 };
    let places = (-r..=r).flat_map(|dy| (-r..=r).map(move |dx| (dx, dy)));
    let sum: i64 = weights.iter().zip(places).map(|(k, (dx, dy))| k * w(dx, dy)).sum();
    sum as f64 / divisor as f64
}

fn sobel(w: Window) -> f64 {
    let dx = weighted(w, &[-1, 0, 1, -2, 0, 2, -1, 0, 1], 1);
    let dy = weighted(w, &[1, 2, 1, 0, 0, 0, -1, -2, -1], 1);
    (dx * dx + dy * dy).sqrt()
}

fn median(w: Window) -> f64 {
    let mut nine: Vec<i64> = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy))).map(|(dx, dy)| w(dx, dy)).collect();
    nine.sort_unstable();
    nine[4] as f64
}

/// Every filter with the arguments that choose it.
const FILTERS: [(&[&str], Formula); 10] = [
    (&["identity"], |w| w(0, 0) as f64),
    (&["box"], |w| weighted(w, &[1; 9], 9)),
    (&["gaussian"], |w| weighted(w, &[1, 2, 1, 2, 4, 2, 1, 2, 1], 16)),
    (&["gaussian", "--size", "5"], |w| {
        let weights = [1, 4, 7, 4, 1, 4, 16, 26, 16, 4, 7, 26, 41, 26, 7, 4, 16, 26, 16, 4, 1, 4, 7, 4, 1];
        weighted(w, &weights, 273)
    }),
    // The image less half of its mean, over what is left: (9 p - s / 2) / (9 / 2), of pixel p and sum s.
    (&["sharpen"], |w| weighted(w, &[-1, -1, -1, -1, 17, -1, -1, -1, -1], 9)),
    (&["sharpen", "--alpha", "0.25"], |w| weighted(w, &[-1, -1, -1, -1, 35, -1, -1, -1, -1], 27)),
    (&["sobel"], sobel),
    (&["laplacian"], |w| weighted(w, &[-2, 1, -2, 1, 4, 1, -2, 1, -2], 1)),
    (&["highpass"], |w| weighted(w, &[-1, -1, -1, -1, 8, -1, -1, -1, -1], 1)),
    (&["median"], median),
];

/// The picture that a filter gives: rounded half up, saturated, alpha as it was.
fn expected(picture: &DynamicImage, channels: u32, formula: Formula, border: &str) -> Vec<u8> {
    let (w, h) = (i64::from(picture.width()), i64::from(picture.height()));
    let pixels = picture.as_bytes();
    let at = |x: i64, y: i64, c: u32| pixels[((y * w + x) * i64::from(channels) + i64::from(c)) as usize];
    let mut out = Vec::new();
    for (y, x) in (0..h).flat_map(|y| (0..w).map(move |x| (y, x))) {
        for c in 0..channels {
            let window = |dx: i64, dy: i64| match (inside(border, x + dx, w), inside(border, y + dy, h)) {
                (Some(x), Some(y)) => i64::from(at(x, y, c)),
                _ => 0,
            };
            out.push(if c == 3 { at(x, y, c) } else { (formula(&window) + 0.5).floor().clamp(0.0, 255.0) as u8 });
        }
    }
    out
}

fn filtered(input: &Path, filter: &[&str], more: &[&str]) -> DynamicImage {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("out.png");
    let mut args = vec!["image"];
    args.extend(filter);
    args.extend(more);
    args.extend(["--in", input.to_str().expect("text"), "--out", out.to_str().expect("text")]);
    succeeded(&isowarp(&args));
    image::open(&out).expect("an image")
}

#[test]
fn every_filter_is_its_formula_on_every_kind_of_image_with_every_border() {
    let dir = tempfile::tempdir().expect("a directory");
    for (picture, channels) in pictures() {
        let path = dir.path().join(format!("{channels}.png"));
        picture.save(&path).expect("saved");
        for (filter, formula) in FILTERS {
            for border in BORDERS {
                let found = filtered(&path, filter, &["--border", border]);
                assert_eq!((found.color(), found.width(), found.height()), (picture.color(), SIZE.0, SIZE.1));
                let wanted = expected(&picture, channels, formula, border);
                assert_eq!(found.as_bytes(), wanted, "{filter:?} with {border} borders on {channels} channels");
            }
            let wanted = expected(&picture, channels, formula, "clamp");
            assert_eq!(filtered(&path, filter, &[]).as_bytes(), wanted, "{filter:?}: borders clamp unless told otherwise");
        }
    }
}

#[test]
fn every_backend_filters_alike() {
    let dir = tempfile::tempdir().expect("a directory");
    for (picture, channels) in pictures() {
        let path = dir.path().join(format!("{channels}.png"));
        picture.save(&path).expect("saved");
        for (filter, formula) in [FILTERS[3], FILTERS[6], FILTERS[9]] {
            for backend in backends() {
                let found = filtered(&path, filter, &["--backend", &backend, "--border", "mirror"]);
                assert_eq!(found.as_bytes(), expected(&picture, channels, formula, "mirror"), "{filter:?} on {backend}");
            }
        }
    }
}

#[test]
fn every_filter_takes_grey_and_coloured_jpegs() {
    let dir = tempfile::tempdir().expect("a directory");
    for (picture, channels) in pictures().into_iter().filter(|p| p.1 != 4) {
        for extension in ["jpg", "jpeg"] {
            let path = dir.path().join(format!("{channels}.{extension}"));
            let file = std::fs::File::create(&path).expect("a file");
            let color = if channels == 1 { ExtendedColorType::L8 } else { ExtendedColorType::Rgb8 };
            JpegEncoder::new_with_quality(file, 90).encode(picture.as_bytes(), SIZE.0, SIZE.1, color).expect("encoded");
            // What the file says, which is not quite what was put in.
            let decoded = image::open(&path).expect("an image");
            for (filter, formula) in FILTERS {
                let found = filtered(&path, filter, &[]);
                assert_eq!(found.color(), decoded.color());
                assert_eq!(found.as_bytes(), expected(&decoded, channels, formula, "clamp"), "{filter:?} on {channels} channels");
            }
        }
    }
}

#[test]
fn images_smaller_than_a_window_are_filtered() {
    let dir = tempfile::tempdir().expect("a directory");
    for (w, h) in [(1, 1), (1, 5), (5, 1), (2, 2)] {
        let picture: DynamicImage = GrayImage::from_fn(w, h, |x, y| Luma([value(x, y, 0)])).into();
        let path = dir.path().join(format!("{w}x{h}.png"));
        picture.save(&path).expect("saved");
        for (filter, formula) in FILTERS {
            for border in ["clamp", "zero"] {
                assert_eq!(
                    filtered(&path, filter, &["--border", border]).as_bytes(),
                    expected(&picture, 1, formula, border),
                    "{filter:?} {w}x{h}"
                );
            }
        }
    }
}
