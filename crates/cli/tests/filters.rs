//! `isowarp image`: every filter, on every kind of image, with every border, pixel for pixel against its formula in whole numbers.

mod common;

use common::{backends, isowarp, succeeded};
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ExtendedColorType, GrayImage, ImageBuffer, Luma, Rgb, RgbImage, Rgba, RgbaImage};
use std::path::Path;

const SIZE: (u32, u32) = (13, 9);
const BORDERS: [&str; 4] = ["clamp", "zero", "mirror", "wrap"];

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
        "wrap" => Some(i.rem_euclid(n)),
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

/// The picture that a filter gives where there is no alpha: rounded half up, saturated.
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
            out.push((formula(&window) + 0.5).floor().clamp(0.0, 255.0) as u8);
        }
    }
    out
}

/// Fails unless a picture is what a filter gives.
#[track_caller]
fn check(found: &DynamicImage, picture: &DynamicImage, channels: u32, (filter, formula): (&[&str], Formula), border: &str) {
    if channels != 4 {
        let wanted = expected(picture, channels, formula, border);
        assert_eq!(found.as_bytes(), wanted, "{filter:?} with {border} borders on {channels} channels");
        return;
    }
    let differs = matches!(filter[0], "sobel" | "laplacian" | "highpass");
    let (w, h, pixels) = (i64::from(picture.width()), i64::from(picture.height()), picture.as_bytes());
    let at = |x: i64, y: i64, c: i64| i64::from(pixels[((y * w + x) * 4 + c) as usize]);
    for (place, (x, y, c)) in (0..h).flat_map(|y| (0..w).flat_map(move |x| (0..4).map(move |c| (x, y, c)))).enumerate() {
        // Pixels that are outside and zero are transparent.
        let window = |f: &dyn Fn(i64, i64) -> i64, dx, dy| match (inside(border, x + dx, w), inside(border, y + dy, h)) {
            (Some(x), Some(y)) => f(x, y),
            _ => 0,
        };
        let alpha = |x, y| at(x, y, 3);
        let weighted = |x, y| at(x, y, c) * at(x, y, 3);
        let (colour, weight) = (formula(&|dx, dy| window(&weighted, dx, dy)), formula(&|dx, dy| window(&alpha, dx, dy)));
        let exact = match (filter[0], c) {
            ("identity", _) => at(x, y, c) as f64,
            (_, 3) if differs => alpha(x, y) as f64,
            (_, 3) => weight,
            _ if differs => colour / 255.0,
            _ if weight > 0.0 => colour / weight,
            _ => 0.0,
        };
        // The nearest whole number; of two that are nearly as near, either.
        let found = f64::from(found.as_bytes()[place]);
        let exact = exact.clamp(0.0, 255.0);
        assert!((found - exact).abs() <= 0.5 + 1e-4, "{filter:?} with {border} borders at {x}, {y}, {c}: {found} is not {exact}");
    }
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
                check(&found, &picture, channels, (filter, formula), border);
            }
            // Borders clamp unless told otherwise.
            check(&filtered(&path, filter, &[]), &picture, channels, (filter, formula), "clamp");
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
                check(&found, &picture, channels, (filter, formula), "mirror");
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
            // Numbers that the file says, which are not quite those put in.
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

/// The exact result of one weight after another, across and then down.
fn blurred(picture: &[f64], (w, h): (i64, i64), weights: &[f64], border: &str) -> Vec<f64> {
    let r = weights.len() as i64 / 2;
    let pass = |of: &[f64], dx: i64, dy: i64| -> Vec<f64> {
        let places = (0..h).flat_map(|y| (0..w).map(move |x| (x, y)));
        let sum = |(x, y): (i64, i64)| {
            let taps = (-r..=r).zip(weights).map(|(k, weight)| match (around(border, x + k * dx, w), around(border, y + k * dy, h)) {
                (Some(x), Some(y)) => weight * of[(y * w + x) as usize],
                _ => 0.0,
            });
            taps.sum()
        };
        places.map(sum).collect()
    };
    pass(&pass(picture, 1, 0), 0, 1)
}

/// As [`inside`], for windows that reach further than the picture does.
fn around(border: &str, i: i64, n: i64) -> Option<i64> {
    if border != "mirror" || n == 1 {
        return inside(if n == 1 && border == "mirror" { "clamp" } else { border }, i, n);
    }
    let k = i.rem_euclid(2 * (n - 1));
    Some(k.min(2 * (n - 1) - k))
}

#[test]
fn blurs_of_any_size_are_their_formulas() {
    let dir = tempfile::tempdir().expect("a directory");
    let (w, h) = (23u32, 17u32);
    let bytes = GrayImage::from_fn(w, h, |x, y| Luma([value(x, y, 0)]));
    let deep = ImageBuffer::<Luma<u16>, _>::from_fn(w, h, |x, y| Luma([u16::from(value(x, y, 0)) * 251 + x as u16]));
    let pictures = [DynamicImage::from(bytes), DynamicImage::from(deep)];
    let bell = |size: i64, sigma: f64| {
        let weights: Vec<f64> = (0..size).map(|k| (-((k - size / 2) as f64 / sigma).powi(2) / 2.0).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|w| w / sum).collect::<Vec<f64>>()
    };
    let filters: [(&[&str], Vec<f64>); 8] = [
        (&["box", "--size", "7"], vec![1.0 / 7.0; 7]),
        (&["box", "--size", "51"], vec![1.0 / 51.0; 51]),
        (&["gaussian", "--size", "7"], bell(7, 1.4)),
        (&["gaussian", "--size", "35"], bell(35, 5.6)),
        (&["gaussian", "--size", "3", "--sigma", "0.5"], bell(3, 0.5)),
        (&["gaussian", "--sigma", "2.5"], bell(17, 2.5)),
        // Far beyond the picture.
        (&["box", "--size", "301"], vec![1.0 / 301.0; 301]),
        (&["gaussian", "--sigma", "40"], bell(241, 40.0)),
    ];
    for picture in &pictures {
        let path = dir.path().join("in.png");
        picture.save(&path).expect("saved");
        let greatest = if picture.color() == image::ColorType::L16 { 65_535.0 } else { 255.0 };
        let samples = |p: &DynamicImage| match p {
            DynamicImage::ImageLuma16(p) => p.iter().map(|&s| f64::from(s)).collect::<Vec<f64>>(),
            other => other.as_bytes().iter().map(|&s| f64::from(s)).collect(),
        };
        for (filter, weights) in &filters {
            for border in BORDERS {
                let wanted = blurred(&samples(picture), (w.into(), h.into()), weights, border);
                for backend in backends() {
                    let found = filtered(&path, filter, &["--border", border, "--backend", &backend]);
                    assert_eq!(found.color(), picture.color());
                    for (found, exact) in samples(&found).into_iter().zip(&wanted) {
                        let error = (found - exact).abs();
                        assert!(error <= 0.5 + 1e-6 * greatest, "{filter:?} {border} on {backend}: {found} is not {exact}");
                    }
                }
            }
        }
    }
}

#[test]
fn sixteen_bits_are_filtered_by_the_same_formulas() {
    let dir = tempfile::tempdir().expect("a directory");
    let (w, h) = SIZE;
    let at = |x: i64, y: i64| i64::from(value(x as u32, y as u32, 0)) * 257 - i64::from(x == 3);
    let picture = ImageBuffer::<Luma<u16>, _>::from_fn(w, h, |x, y| Luma([at(x.into(), y.into()).max(0) as u16]));
    let path = dir.path().join("deep.png");
    picture.save(&path).expect("saved");
    for (filter, formula) in FILTERS {
        for border in BORDERS {
            let found = filtered(&path, filter, &["--border", border]).into_luma16();
            for (x, y, found) in found.enumerate_pixels() {
                let window =
                    |dx: i64, dy: i64| match (inside(border, i64::from(x) + dx, w.into()), inside(border, i64::from(y) + dy, h.into())) {
                        (Some(x), Some(y)) => at(x, y).max(0),
                        _ => 0,
                    };
                let exact = formula(&window).clamp(0.0, 65_535.0);
                assert!((f64::from(found.0[0]) - exact).abs() <= 0.5 + 0.01, "{filter:?} with {border} borders at {x}, {y}");
            }
        }
    }
}

#[test]
fn wide_means_of_one_colour_are_that_colour() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("plain.png");
    ImageBuffer::from_pixel(3, 2, Luma([40_000u16])).save(&path).expect("saved");
    for size in ["17", "1001", "9999"] {
        let found = filtered(&path, &["box", "--size", size], &[]).into_luma16();
        assert!(found.pixels().all(|p| p.0 == [40_000]), "{size}: {found:?}");
    }
}
