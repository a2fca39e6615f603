//! `isowarp image`.

mod common;

use common::{data, isowarp, isowarp_with_input, stderr, stdout, succeeded};
use image::{DynamicImage, GrayAlphaImage, GrayImage, Luma, RgbImage, RgbaImage};
use std::fs;
use std::path::{Path, PathBuf};

fn photograph() -> PathBuf {
    data("../../assets/camera.png")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// A picture with structure in every channel.
fn value(x: u32, y: u32, c: u32) -> u8 {
    (x * 37 + y * 101 + c * 59 + x * y * 7) as u8
}

fn filter(filter: &[&str], input: &Path, extension: &str) -> DynamicImage {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join(format!("out.{extension}"));
    let mut args = vec!["image"];
    args.extend(filter);
    args.extend(["--in", text(input), "--out", text(&out)]);
    succeeded(&isowarp(&args));
    image::open(&out).expect("an image")
}

fn save(image: impl Into<DynamicImage>, name: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join(name);
    image.into().save(&path).expect("saved");
    (dir, path)
}

#[test]
fn every_filter_keeps_size_and_channels() {
    let grey = GrayImage::from_fn(17, 9, |x, y| Luma([value(x, y, 0)]));
    let rgb = RgbImage::from_fn(17, 9, |x, y| image::Rgb([0, 1, 2].map(|c| value(x, y, c))));
    let rgba = RgbaImage::from_fn(17, 9, |x, y| image::Rgba([0, 1, 2, 3].map(|c| value(x, y, c))));
    let grey_alpha = GrayAlphaImage::from_fn(17, 9, |x, y| image::LumaA([value(x, y, 0), value(x, y, 3)]));
    let inputs: [DynamicImage; 4] = [grey.into(), rgb.into(), rgba.into(), grey_alpha.into()];
    for input in inputs {
        let (_dir, path) = save(input.clone(), "in.png");
        for name in ["identity", "box", "gaussian", "sharpen", "sobel", "laplacian", "highpass", "median"] {
            let out = filter(&[name], &path, "png");
            assert_eq!((out.color(), out.width(), out.height()), (input.color(), 17, 9), "{name}");
            if name == "identity" {
                assert_eq!(out, input);
            }
            // Filters that find differences leave alpha, and the others filter it.
            if input.color().has_alpha() && matches!(name, "identity" | "sobel" | "laplacian" | "highpass") {
                let alphas = |i: &DynamicImage| i.to_rgba8().pixels().map(|p| p.0[3]).collect::<Vec<_>>();
                assert_eq!(alphas(&out), alphas(&input), "{name}: alpha passes through");
            }
        }
    }
}

/// The pixel at a distance from the window's centre.
type Window<'a> = &'a dyn Fn(i64, i64) -> i64;

#[test]
fn filters_are_what_their_formulas_say() {
    let at = |x: i64, y: i64| i64::from(value(x.clamp(0, 16) as u32, y.clamp(0, 8) as u32, 0));
    let input = GrayImage::from_fn(17, 9, |x, y| Luma([value(x, y, 0)]));
    let (_dir, path) = save(input, "in.png");
    let check = |args: &[&str], f: &dyn Fn(Window) -> f64| {
        let out = filter(args, &path, "png").to_luma8();
        for (x, y, p) in out.enumerate_pixels() {
            let window = |dx: i64, dy: i64| at(i64::from(x) + dx, i64::from(y) + dy);
            let want = (f(&window) + 0.5).floor().clamp(0.0, 255.0);
            assert_eq!(f64::from(p.0[0]), want, "{args:?} at {x}, {y}");
        }
    };
    let around = |w: Window| (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy))).map(|(dx, dy)| w(dx, dy)).collect::<Vec<_>>();
    check(&["gaussian", "--size", "3"], &|w| {
        let edges = w(0, -1) + w(0, 1) + w(-1, 0) + w(1, 0);
        let corners = w(-1, -1) + w(1, -1) + w(-1, 1) + w(1, 1);
        (4 * w(0, 0) + 2 * edges + corners) as f64 / 16.0
    });
    check(&["highpass"], &|w| (9 * w(0, 0) - around(w).iter().sum::<i64>()) as f64);
    check(&["median"], &|w| {
        let mut all = around(w);
        all.sort_unstable();
        all[4] as f64
    });
}

#[test]
fn borders_differ_at_the_edge_only() {
    let input = GrayImage::from_fn(8, 8, |x, y| Luma([200 - value(x, y, 0) / 4]));
    let (_dir, path) = save(input, "in.png");
    let of = |border: &str| filter(&["gaussian", "--border", border], &path, "png").to_luma8();
    let (clamp, zero, mirror) = (of("clamp"), of("zero"), of("mirror"));
    assert!(clamp != zero && clamp != mirror && zero != mirror);
    for (x, y, p) in clamp.enumerate_pixels().filter(|(x, y, _)| (1..7).contains(x) && (1..7).contains(y)) {
        assert!(zero.get_pixel(x, y) == p && mirror.get_pixel(x, y) == p);
    }
}

#[test]
fn jpeg_is_read_and_written() {
    let rgb = RgbImage::from_fn(32, 24, |x, y| image::Rgb([x as u8 * 8, y as u8 * 10, 128]));
    let (_dir, path) = save(rgb, "in.jpg");
    let out = filter(&["box"], &path, "jpg");
    assert_eq!((out.color(), out.width(), out.height()), (image::ColorType::Rgb8, 32, 24));
    let grey = filter(&["sobel"], &photograph(), "jpeg");
    assert_eq!((grey.color(), grey.width()), (image::ColorType::L8, 512));
}

#[test]
fn standard_streams_carry_images() {
    let run = isowarp_with_input(&["image", "median", "--in", "-", "--out", "-"], &fs::read(photograph()).expect("the photograph"));
    succeeded(&run);
    assert_eq!(image::load_from_memory(&run.stdout).expect("a PNG").width(), 512);
}

#[test]
fn stats_count_the_pixels() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("o.png");
    let run = isowarp(&["image", "box", "--in", text(&photograph()), "--out", text(&out), "--stats", "--json"]);
    succeeded(&run);
    let stats: serde_json::Value = serde_json::from_str(&stdout(&run)).expect("JSON");
    assert_eq!(stats["bytes"].as_u64(), Some(2 * 512 * 512));
}

#[track_caller]
fn refused(args: &[&str], what: &str) {
    let run = isowarp(args);
    let text = stderr(&run);
    assert!(matches!(run.status.code(), Some(1 | 2)) && text.starts_with("error: ") && text.contains(what), "{args:?}: {text}");
    assert!(text.lines().count() == 2 && text.contains("\n  help: "), "{text}");
}

#[test]
fn bad_images_are_refused_and_nothing_is_left() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).expect("a file");
        path.to_str().expect("text").to_owned()
    };
    let photo = fs::read(photograph()).expect("the photograph");
    let (empty, noise, cut) = (file("empty.png", b""), file("noise.png", b"not an image"), file("cut.png", &photo[..5000]));
    let alpha = dir.path().join("alpha.png");
    RgbaImage::new(2, 2).save(&alpha).expect("saved");
    let before = fs::read_dir(dir.path()).expect("a directory").count();
    let out = dir.path().join("out.png");
    let out = text(&out);

    refused(&["image", "box", "--in", &empty, "--out", out], "empty.png: the file is empty (0 bytes)");
    refused(&["image", "box", "--in", &noise, "--out", out], "it is no PNG, JPEG, TIFF, BMP, WebP or GIF image");
    refused(&["image", "box", "--in", &cut, "--out", out], "cannot read");
    refused(&["image", "box", "--in", "nowhere.png", "--out", out], "No such file");
    refused(&["image", "box", "--in", text(&alpha), "--out", text(&dir.path().join("o.jpg"))], "no alpha channel");
    refused(&["image", "box", "--in", text(&photograph()), "--out", text(&dir.path().join("o.gif"))], "GIF files are read, not written");
    refused(&["image", "box", "--in", text(&photograph()), "--out", text(&dir.path().join("o.jp2"))], "name it .png");
    refused(&["image", "box", "--in", text(&photograph()), "--out", text(&dir.path().join("no/o.png"))], "cannot write");
    refused(&["image", "box", "--in", text(&photograph()), "--out", out, "--backend", "gpu"], "unknown backend `gpu`");
    refused(&["image", "sharpen", "--alpha", "1.5", "--in", text(&photograph()), "--out", out], "1.5 is not in 0..1");
    refused(&["image", "gaussian", "--size", "4", "--in", text(&photograph()), "--out", out], "--size is odd, and from 3 to 65535, not 4");
    refused(&["image", "gaussian", "--sigma", "0", "--in", text(&photograph()), "--out", out], "--sigma is from 0.1");
    refused(&["image", "box", "--sigma", "2", "--in", text(&photograph()), "--out", out], "--sigma is for gaussian");
    refused(&["image", "median", "--size", "5", "--in", text(&photograph()), "--out", out], "--size is for gaussian and box");
    assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), before);
}
