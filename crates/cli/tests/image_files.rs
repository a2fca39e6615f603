//! Files that `isowarp image` reads and writes: those of other programs, whole, damaged, and with what they say beside their pixels.

mod common;

use common::{data, isowarp, isowarp_with_input, lines_of_failure, npy, stderr, succeeded};
use image::codecs::tiff::TiffDecoder;
use image::{DynamicImage, ImageDecoder, ImageReader};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

fn file(name: &str) -> PathBuf {
    data("images").join(name)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

fn identity(input: &Path, out: &Path) -> Output {
    isowarp(&["image", "identity", "--in", text(input), "--out", text(out)])
}

/// A copy, in a file with this extension, and what was said.
#[track_caller]
fn copied(name: &str, extension: &str) -> (tempfile::TempDir, PathBuf, String) {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join(format!("out.{extension}"));
    let run = identity(&file(name), &out);
    succeeded(&run);
    (dir, out, stderr(&run))
}

fn copy(name: &str) -> DynamicImage {
    let (_dir, out, _) = copied(name, "png");
    image::open(&out).expect("an image")
}

#[test]
fn every_format_is_read() {
    let upright = image::open(file("upright.png")).expect("an image").to_rgb8();
    for name in ["upright.png", "still.webp", "still.bmp", "still.tiff"] {
        assert_eq!(copy(name), DynamicImage::from(upright.clone()), "{name}");
    }
    assert_eq!(copy("still.gif"), image::open(file("still_gif.png")).expect("an image"));
    // Decoders agree within rounding of their transforms.
    let baseline = copy("baseline.jpg").to_rgb8();
    for name in ["progressive.jpg", "restarts.jpg"] {
        let found = copy(name).to_rgb8();
        assert!(found.iter().zip(baseline.iter()).all(|(a, b)| a.abs_diff(*b) <= 1), "{name}");
    }
}

#[test]
fn sixteen_bits_stay_sixteen() {
    let samples = npy(&fs::read(file("deep_grey.npy")).expect("the samples")).bytes;
    for name in ["deep_grey.png", "deep_grey.tiff"] {
        for extension in ["png", "tiff"] {
            let (_dir, out, said) = copied(name, extension);
            let found = image::open(&out).expect("an image");
            assert_eq!((found.color(), found.as_bytes(), said.as_str()), (image::ColorType::L16, &samples[..], ""), "{name} {extension}");
        }
        for extension in ["jpg", "webp", "bmp"] {
            let dir = tempfile::tempdir().expect("a directory");
            let lines = lines_of_failure(&identity(&file(name), &dir.path().join(format!("o.{extension}"))));
            assert!(lines[0].contains("8 bits in a channel, but the input has 16") && lines[1].contains(".png"), "{lines:?}");
        }
    }
}

#[test]
fn every_format_is_written_as_it_was_read() {
    for (name, extensions) in [
        ("upright.png", &["png", "tiff", "tif", "webp", "bmp"][..]),
        ("bleed.png", &["png", "tiff", "webp", "bmp"]),
        ("deep_grey.png", &["png", "tiff"]),
    ] {
        let wanted = image::open(file(name)).expect("an image");
        for extension in extensions {
            let (_dir, out, said) = copied(name, extension);
            assert_eq!((image::open(&out).expect("an image").into_rgba16(), said.as_str()), (wanted.to_rgba16(), ""), "{name} {extension}");
        }
    }
}

#[test]
fn pictures_come_upright() {
    let upright = image::open(file("upright.png")).expect("an image");
    for k in 1..=8 {
        assert_eq!(copy(&format!("orientation_{k}.png")), upright, "orientation {k}");
    }
    for name in ["orientation_6.webp", "orientation_6.tiff"] {
        assert_eq!(copy(name), upright, "{name}");
    }
    for extension in ["png", "jpg", "webp"] {
        let (_dir, out, said) = copied("exif6.jpg", extension);
        let mut decoder = ImageReader::open(&out).expect("a file").into_decoder().expect("an image");
        // Upright, and not to be turned again.
        assert_eq!((decoder.dimensions(), said.as_str()), ((40, 60), ""), "{extension}");
        assert_eq!(decoder.orientation().expect("metadata"), image::metadata::Orientation::NoTransforms, "{extension}");
        assert!(decoder.exif_metadata().expect("metadata").is_some(), "{extension}");
    }
}

#[test]
fn profiles_gamma_and_resolution_are_kept_or_named() {
    let profile = fs::read(file("srgb.icc")).expect("the profile");
    for name in ["icc.png", "icc.jpg"] {
        for extension in ["png", "jpg", "tiff", "webp", "bmp"] {
            let (_dir, out, said) = copied(name, extension);
            assert_eq!(profile_of(&out), (extension != "bmp").then(|| profile.clone()), "{name} {extension}");
            assert_eq!(said.contains("the ICC profile"), extension == "bmp", "{said}");
            assert_eq!(said.contains("the resolution"), !matches!(extension, "png" | "jpg"), "{said}");
            assert!(said.is_empty() || said.starts_with("warning: the ") && said.lines().count() == 1, "{said}");
        }
        let (_dir, out, _) = copied(name, "png");
        let bytes = fs::read(out).expect("the file");
        // 300 dots in an inch are 11811 in a metre.
        assert!(chunk(&bytes, b"pHYs").is_some_and(|c| c == [0, 0, 0x2e, 0x23, 0, 0, 0x2e, 0x23, 1]), "{name}");
        let (_dir, out, _) = copied(name, "jpg");
        assert_eq!(fs::read(out).expect("the file")[13..18], [1, 1, 44, 1, 44], "{name}");
    }
    for name in ["still.bmp", "still.tiff"] {
        let (_dir, out, _) = copied(name, "png");
        assert!(chunk(&fs::read(out).expect("the file"), b"pHYs").is_some(), "{name}");
    }
    let (_dir, out, said) = copied("gamma.png", "png");
    assert_eq!((chunk(&fs::read(out).expect("the file"), b"gAMA"), said.as_str()), (Some(100_000u32.to_be_bytes().to_vec()), ""));
    assert!(copied("gamma.png", "jpg").2.contains("the JPEG file is without gamma and chromaticities"));
    let (_dir, out, said) = copied("inks.jpg", "png");
    assert!(said.contains("the ICC profile, which is of four inks"), "{said}");
    assert_eq!(chunk(&fs::read(out).expect("the file"), b"iCCP"), None, "a profile of inks is none of RGB");
}

/// Messages about a file of these bytes, in the words after the output's name.
#[track_caller]
fn left_out(bytes: &[u8], input: &str) -> String {
    let dir = tempfile::tempdir().expect("a directory");
    let (from, to) = (dir.path().join(input), dir.path().join("out.png"));
    fs::write(&from, bytes).expect("a file");
    let run = identity(&from, &to);
    succeeded(&run);
    let said = stderr(&run);
    assert!(said.is_empty() || said.lines().count() == 1, "{said}");
    said.strip_prefix("warning: the PNG file is without ").map_or(said.clone(), |rest| rest.trim().to_owned())
}

/// A chunk of a PNG file.
fn png_chunk(name: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let crc = name.iter().chain(body).fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    });
    [&(body.len() as u32).to_be_bytes(), name.as_slice(), body, &(!crc).to_be_bytes()].concat()
}

/// A PNG file with a chunk before its last one.
fn with_chunk(png: &[u8], name: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let (before, end) = png.split_at(png.len() - 12);
    [before, &png_chunk(name, body), end].concat()
}

/// A PNG file of these rows, each behind its filter's number, with a palette where there is one.
fn png_of([width, height]: [u32; 2], [depth, color, interlace]: [u8; 3], palette: &[u8], rows: &[u8]) -> Vec<u8> {
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[depth, color, 0, 0, interlace]].concat();
    let (a, b) = rows.iter().fold((1u32, 0u32), |(a, b), &byte| ((a + u32::from(byte)) % 65_521, (b + a + u32::from(byte)) % 65_521));
    let length = rows.len() as u16;
    let data = [&[0x78, 1, 1][..], &length.to_le_bytes(), &(!length).to_le_bytes(), rows, &(b << 16 | a).to_be_bytes()].concat();
    let palette = if palette.is_empty() { Vec::new() } else { png_chunk(b"PLTE", palette) };
    [b"\x89PNG\r\n\x1a\n".to_vec(), png_chunk(b"IHDR", &header), palette, png_chunk(b"IDAT", &data), png_chunk(b"IEND", &[])].concat()
}

/// A BMP file of a row of two pixels of 8 bits, with two colours.
fn bmp_of(pixels: [u8; 2]) -> Vec<u8> {
    let words = |all: &[u32]| all.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let header = words(&[66, 0, 62, 40, 2, 1, 1 | 8 << 16, 0, 4, 0, 0, 2, 0]);
    [b"BM", &header[..], &[0, 0, 255, 0, 0, 255, 0, 0], &pixels, &[0, 0]].concat()
}

/// A BMP file of a row of five pixels of so many bits with two colours, in runs.
fn bmp_of_runs(bits: u32, runs: &[u8]) -> Vec<u8> {
    let words = |all: &[u32]| all.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let (compression, size) = (if bits == 8 { 1 } else { 2 }, runs.len() as u32);
    let header = words(&[62 + size, 0, 62, 40, 5, 1, 1 | bits << 16, compression, size, 0, 0, 2, 0]);
    [b"BM", &header[..], &[0, 0, 255, 0, 0, 255, 0, 0], runs].concat()
}

/// A row of two pixels of one bit, with so many colours, behind the oldest header, whose colours have three bytes.
fn old_bmp_of(colours: u16, pixels: u8) -> Vec<u8> {
    let halves = |all: &[u16]| all.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let first = 26 + 3 * colours;
    let header = halves(&[first + 4, 0, 0, 0, first, 0, 12, 0, 2, 1, 1, 1]);
    [b"BM", &header[..], &[0, 0, 255, 0, 255, 0][..3 * usize::from(colours)], &[pixels, 0, 0, 0]].concat()
}

/// A GIF file of a row of two pixels with two colours. Numbers are of 3 bits: clear, the pixels, the end.
fn gif_of([a, b]: [u16; 2]) -> Vec<u8> {
    let codes = (4 | a << 3 | b << 6 | 5 << 9).to_le_bytes();
    let screen = [b"GIF89a".as_slice(), &[2, 0, 1, 0, 0x80, 0, 0], &[255, 0, 0, 0, 255, 0]].concat();
    [&screen[..], &[b',', 0, 0, 0, 0, 2, 0, 1, 0, 0, 2, 2], &codes, b"\0;"].concat()
}

#[test]
fn pixels_without_a_colour_and_rows_behind_the_last_one_are_refused() {
    let two = [255, 0, 0, 0, 255, 0];
    let good = [
        ("8 bits", png_of([2, 1], [8, 3, 0], &two, &[0, 1, 0])),
        ("4 bits", png_of([3, 1], [4, 3, 0], &two, &[0, 0x10, 0x1f])),
        ("1 bit", png_of([3, 2], [1, 3, 0], &two, &[0, 0x5f, 0, 0xbf])),
        ("passes", png_of([2, 2], [8, 3, 1], &two, &[0, 0, 0, 1, 0, 1, 0])),
        ("grey", png_of([2, 2], [8, 0, 0], &[], &[0, 1, 2, 0, 3, 4])),
        ("bmp", bmp_of([1, 0])),
        ("old bmp", old_bmp_of(2, 0x40)),
        ("bmp, runs of 8 bits", bmp_of_runs(8, &[2, 1, 0, 3, 0, 1, 0, 0, 0, 1])),
        ("bmp, runs of 4 bits", bmp_of_runs(4, &[2, 0x10, 0, 3, 0x01, 0x00, 0, 1])),
        ("gif", gif_of([1, 0])),
    ];
    let bad = [
        ("8 bits", png_of([2, 1], [8, 3, 0], &two, &[0, 1, 9]), "has colour 9, and the palette 2"),
        ("8 bits, filtered", png_of([2, 1], [8, 3, 0], &two, &[1, 1, 1]), "has colour 2, and the palette 2"),
        ("4 bits", png_of([3, 1], [4, 3, 0], &two, &[0, 0x10, 0x20]), "has colour 2, and the palette 2"),
        ("1 bit", png_of([3, 1], [1, 3, 0], &two[..3], &[0, 0x20]), "has colour 1, and the palette 1"),
        ("passes", png_of([2, 2], [8, 3, 1], &two, &[0, 0, 0, 1, 0, 1, 7]), "has colour 7, and the palette 2"),
        ("rows", png_of([2, 2], [8, 0, 0], &[], &[0, 1, 2, 0, 3, 4, 0, 5, 6]), "its rows take 6 bytes, and there are 9"),
        ("rows of passes", png_of([2, 2], [8, 0, 1], &[], &[0, 0, 0, 1, 0, 1, 0, 0]), "its rows take 7 bytes, and there are 8"),
        ("bmp", bmp_of([1, 9]), "has colour 9, and the palette 2"),
        ("old bmp", old_bmp_of(1, 0x40), "has colour 1, and the palette 1"),
        ("bmp, runs without an end", bmp_of_runs(8, &[2, 1, 0, 3, 0, 1, 0, 0, 0, 0]), "its runs have no end"),
        ("bmp, a run", bmp_of_runs(8, &[2, 1, 3, 7, 0, 1]), "has colour 7, and the palette 2"),
        ("bmp, beside runs", bmp_of_runs(8, &[2, 1, 0, 3, 0, 1, 5, 0, 0, 1]), "has colour 5, and the palette 2"),
        ("bmp, a run of two", bmp_of_runs(4, &[5, 0x12, 0, 1]), "has colour 2, and the palette 2"),
        ("bmp, beside runs of two", bmp_of_runs(4, &[2, 0x10, 0, 3, 0x01, 0x30, 0, 1]), "has colour 3, and the palette 2"),
        ("gif", gif_of([1, 3]), "has colour 3, and the palette 2"),
    ];
    let dir = tempfile::tempdir().expect("a directory");
    let (from, to) = (dir.path().join("in"), dir.path().join("out.png"));
    for (name, bytes) in good {
        fs::write(&from, bytes).expect("a file");
        let run = identity(&from, &to);
        assert!(run.status.success() && stderr(&run).is_empty(), "{name}: {}", stderr(&run));
        fs::remove_file(&to).expect("a result");
    }
    for (name, bytes, why) in bad {
        fs::write(&from, bytes).expect("a file");
        let lines = lines_of_failure(&identity(&from, &to));
        assert!(lines[0].contains(why) && !to.exists(), "{name}: {lines:?}");
    }
}

#[test]
fn bytes_after_the_end_of_an_image_are_named_with_its_own_format() {
    for (name, format) in
        [("upright.png", "PNG"), ("whole.jpg", "JPEG"), ("still.gif", "GIF"), ("still.webp", "WebP"), ("still.bmp", "BMP")]
    {
        let bytes = fs::read(file(name)).expect("a file");
        assert!(!left_out(&bytes, name).contains("after the end"), "{name}");
        for further in [1, 5] {
            let s = if further == 1 { "" } else { "s" };
            let said = left_out(&[bytes.clone(), vec![b'x'; further]].concat(), name);
            assert!(said.ends_with(&format!("the {further} byte{s} after the end of the {format} image")), "{name}: {said}");
        }
    }
}

#[test]
fn texts_and_comments_that_are_not_kept_are_named() {
    let png = fs::read(file("upright.png")).expect("a file");
    let text = with_chunk(&png, b"tEXt", b"Title\0A picture");
    assert_eq!(left_out(&text, "text.png"), "texts (tEXt)");
    let more = with_chunk(&with_chunk(&text, b"tEXt", b"Author\0me"), b"iTXt", b"Title\0\0\0\0\0more");
    assert_eq!(left_out(&more, "texts.png"), "texts (tEXt, iTXt)");
    assert_eq!(left_out(&with_chunk(&png, b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0<x/>"), "xmp.png"), "XMP metadata");
    assert_eq!(left_out(&with_chunk(&png, b"tIME", &[7, 234, 11, 28, 1, 2, 3]), "time.png"), "other chunks (tIME)");
    let jpeg = fs::read(file("whole.jpg")).expect("a file");
    assert_eq!(left_out(&[&jpeg[..2], b"\xff\xfe\0\x06text", &jpeg[2..]].concat(), "comment.jpg"), "comments");
    let gif = fs::read(file("still.gif")).expect("a file");
    let (before, end) = gif.split_at(gif.len() - 1);
    assert_eq!((end, left_out(&[before, b"\x21\xfe\x04text\0", end].concat(), "comment.gif").as_str()), (&b";"[..], "comments"));
}

/// A TIFF file of one grey pixel, with these further entries: a tag, TIFF's type of it, its number and its value.
fn tiff_of(further: &[(u16, u16, u32, u32)]) -> Vec<u8> {
    let usual =
        [(256, 4, 1, 1), (257, 4, 1, 1), (258, 4, 1, 8), (259, 4, 1, 1), (262, 4, 1, 1), (273, 4, 1, 8), (278, 4, 1, 1), (279, 4, 1, 1)];
    let mut entries = [&usual[..], further].concat();
    entries.sort_unstable();
    let mut bytes =
        [b"II*\0".as_slice(), &16u32.to_le_bytes(), &[200, 0, 0, 0, 0, 0, 0, 0], &(entries.len() as u16).to_le_bytes()].concat();
    for (tag, kind, count, value) in entries {
        bytes.extend([tag.to_le_bytes(), kind.to_le_bytes()].concat());
        bytes.extend([count.to_le_bytes(), value.to_le_bytes()].concat());
    }
    bytes.extend([0; 4]);
    bytes
}

#[test]
fn texts_of_a_tiff_file_are_named_and_its_resolution_is_kept_or_named() {
    assert_eq!(left_out(&tiff_of(&[]), "plain.tiff"), "");
    let text = u32::from_le_bytes(*b"me\0\0");
    let texts = [(270, 2, 3, text), (315, 2, 3, text), (33_432, 2, 3, text)];
    assert_eq!(left_out(&tiff_of(&texts), "texts.tiff"), "texts (description, artist, copyright)");
    for name in ["still.tiff", "still.bmp"] {
        for extension in ["tiff", "bmp", "webp"] {
            assert!(copied(name, extension).2.contains("the resolution"), "{name} {extension}");
        }
    }
    // Pixels that are not square.
    let mut gif = fs::read(file("still.gif")).expect("a file");
    gif[12] = 113;
    let dir = tempfile::tempdir().expect("a directory");
    let (from, to) = (dir.path().join("wide.gif"), dir.path().join("out.png"));
    fs::write(&from, gif).expect("a file");
    succeeded(&identity(&from, &to));
    // Twice as wide as high: half as many across.
    assert_eq!(chunk(&fs::read(to).expect("the file"), b"pHYs"), Some(vec![0, 0, 0, 64, 0, 0, 0, 128, 0]));
}

fn profile_of(path: &Path) -> Option<Vec<u8>> {
    // Within the limits that it sets, the reader for every format finds none in a TIFF file.
    if path.extension().is_some_and(|e| e == "tiff") {
        let file = std::io::BufReader::new(fs::File::open(path).expect("a file"));
        return TiffDecoder::new(file).expect("an image").icc_profile().expect("metadata");
    }
    ImageReader::open(path).expect("a file").into_decoder().expect("an image").icc_profile().expect("metadata")
}

/// The contents of a PNG chunk.
fn chunk(bytes: &[u8], name: &[u8; 4]) -> Option<Vec<u8>> {
    let mut rest = &bytes[8..];
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = u32::from_be_bytes(*length) as usize;
        if after.starts_with(name) {
            return Some(after[4..4 + length].to_vec());
        }
        rest = &after[8 + length..];
    }
    None
}

#[track_caller]
fn refused(bytes: &[u8]) -> String {
    let run = isowarp_with_input(&["image", "identity", "--in", "-", "--out", "-"], bytes);
    assert!(run.stdout.is_empty());
    let lines = lines_of_failure(&run);
    assert_eq!(lines.len(), 2, "{lines:?}");
    lines[0].clone()
}

#[test]
fn files_of_several_pictures_are_refused() {
    for name in ["apng3.png", "animated.gif", "animated.webp", "pages.tiff"] {
        assert!(refused(&fs::read(file(name)).expect("a file")).contains("several pictures"), "{name}");
    }
}

#[test]
fn files_that_are_cut_are_refused_in_every_format() {
    assert!(refused(&fs::read(file("cut_half.jpg")).expect("a file")).contains("truncated in its image data"));
    for name in ["upright.png", "deep_grey.png", "whole.jpg", "progressive.jpg", "still.tiff", "still.bmp", "still.webp", "still.gif"] {
        let bytes = fs::read(file(name)).expect("a file");
        let last = bytes.len() - 1;
        for end in (1..last).step_by(last / 24).chain(last - 3..=last) {
            refused(&bytes[..end]);
        }
    }
}

#[test]
fn damage_that_checksums_know_of_is_found() {
    let bytes = fs::read(file("icc.png")).expect("a file");
    // Also in what is beside the pixels.
    for at in (8..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        refused(&damaged);
    }
}

#[test]
fn streams_without_end_are_no_images() {
    let dir = tempfile::tempdir().expect("a directory");
    let lines = lines_of_failure(&identity(Path::new("/dev/zero"), &dir.path().join("o.png")));
    assert!(lines[0].contains("it is no PNG, JPEG, TIFF, BMP, WebP or GIF image"), "{lines:?}");
}

#[test]
fn transparent_pixels_give_no_colour() {
    let dir = tempfile::tempdir().expect("a directory");
    let (bleed, out) = (file("bleed.png"), dir.path().join("o.png"));
    for filter in [&["gaussian", "--size", "5"][..], &["gaussian", "--size", "9"], &["box"], &["median"], &["sharpen"]] {
        let args = [&["image"], filter, &["--in", text(&bleed), "--out", text(&out)]].concat();
        succeeded(&isowarp(&args));
        let found = image::open(&out).expect("an image").to_rgba8();
        // White in a transparent red: white wherever there is something.
        assert!(found.pixels().all(|p| p.0[3] == 0 || p.0[..3] == [255; 3]), "{filter:?}");
        assert!(found.pixels().any(|p| p.0[3] == 255) || filter[0] != "median", "{filter:?}");
    }
}

#[test]
fn opaque_pictures_are_filtered_as_those_without_alpha() {
    let dir = tempfile::tempdir().expect("a directory");
    let at = |name: &str| dir.path().join(name);
    let sample = |k: u32| k.wrapping_mul(0x9e37_79b9).to_le_bytes();
    let opaque = image::ImageBuffer::from_fn(61, 47, |x, y| {
        let [a, b, c, d] = sample(x + 61 * y);
        image::Rgba([u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]), u16::from_le_bytes([b, c]), u16::MAX])
    });
    opaque.save(at("opaque.png")).expect("a file");
    image::DynamicImage::from(opaque).to_rgb16().save(at("plain.png")).expect("a file");
    for filter in [&["gaussian", "--size", "31"][..], &["box", "--size", "25"], &["sobel"], &["sharpen"]] {
        let [opaque, plain] = ["opaque", "plain"].map(|name| {
            let (from, out) = (at(&format!("{name}.png")), at(&format!("{name}.of.png")));
            succeeded(&isowarp(&[&["image"], filter, &["--in", text(&from), "--out", text(&out)]].concat()));
            image::open(&out).expect("an image")
        });
        assert!(opaque.to_rgba16().pixels().all(|p| p.0[3] == u16::MAX) && opaque.to_rgb16() == plain.to_rgb16(), "{filter:?}");
    }
}
