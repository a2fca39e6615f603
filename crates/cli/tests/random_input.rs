//! Random bytes, and files and lines that were right once and are damaged, at everything that reads what people give: no panic. The same entry points are
//! targets of `cargo fuzz` (`fuzz/`), which finds its way by coverage; this runs with every test.

use isowarp_cli::readers;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Pieces of expressions, so that many parse.
const WORDS: [&str; 40] = [
    "x", "y", "z", "w", "i", "1", "0", "-", "-5", "0.5", "1e9", "1e400", "0xff", "nan", "inf", "pi", "true", "+", "*", "/", "%", "<<",
    ">>", "<", "==", "&", "|", "&&", "||", "!", "~", "?", ":", "(", ")", ",", "max(", "f32(", "select(", "sin(",
];

/// Pieces of command lines.
const OPTIONS: [&str; 44] = [
    "run",
    "image",
    "map",
    "zip",
    "generate",
    "reduce",
    "scan",
    "sort",
    "histogram",
    "select",
    "topk",
    "segmented-scan",
    "gaussian",
    "sharpen",
    "box",
    "--op",
    "x+1",
    "x*y",
    "sum",
    "min",
    "--in",
    "a.npy",
    "--out",
    "b.npy",
    "--axis",
    "-1",
    "0",
    "7",
    "--bins",
    "4",
    "--range",
    "0,1",
    "--range=-1,nan",
    "--identity",
    "1",
    "--exclusive",
    "--k",
    "--dtype",
    "u8",
    "f64",
    "--shape",
    "3,99999999999",
    "--size",
    "18446744073709551615",
];

fn npy_file() -> Vec<u8> {
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend([7; 24]);
    file
}

/// A small picture in each format.
fn pictures() -> Vec<Vec<u8>> {
    let picture = image::DynamicImage::ImageRgb8(image::RgbImage::from_fn(9, 7, |x, y| image::Rgb([(x * 20) as u8, (y * 30) as u8, 99])));
    let formats = ["png", "jpg", "bmp", "tiff", "gif", "webp"].map(|e| image::ImageFormat::from_extension(e).expect("a format"));
    let encoded = formats.into_iter().filter_map(|f| {
        let mut out = std::io::Cursor::new(Vec::new());
        picture.write_to(&mut out, f).ok().map(|()| out.into_inner())
    });
    encoded.collect()
}

/// Changes some bytes, and cuts the end off or repeats a part.
fn damaged(mut file: Vec<u8>, changes: &[(Index, u8)], cut: Option<Index>, again: Option<Index>) -> Vec<u8> {
    for (at, byte) in changes {
        let at = at.index(file.len());
        file[at] = *byte;
    }
    if let Some(from) = again {
        let part = file[from.index(file.len())..].to_vec();
        file.extend(part);
    }
    if let Some(cut) = cut {
        file.truncate(cut.index(file.len()));
    }
    file
}

type Damage = (Vec<(Index, u8)>, Option<Index>, Option<Index>);

fn damage() -> impl Strategy<Value = Damage> {
    (prop::collection::vec(any::<(Index, u8)>(), 0..6), any::<Option<Index>>(), any::<Option<Index>>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_reader_panics_at_random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        readers::expression(&bytes);
        readers::npy(&bytes);
        readers::image(&bytes);
        readers::options(&bytes);
    }

    #[test]
    fn no_text_of_an_operator_panics(head in any::<[u8; 5]>(), words in prop::collection::vec(select(&WORDS[..]), 0..40)) {
        readers::expression(&[&head[..], words.concat().as_bytes()].concat());
        readers::expression(&[&head[..], words.join(" ").as_bytes()].concat());
    }

    #[test]
    fn no_damaged_array_panics((changes, cut, again) in damage()) {
        readers::npy(&damaged(npy_file(), &changes, cut, again));
    }

    #[test]
    fn no_damaged_picture_panics((changes, cut, again) in damage(), which in any::<Index>()) {
        let all = pictures();
        readers::image(&damaged(all[which.index(all.len())].clone(), &changes, cut, again));
    }

    #[test]
    fn no_command_line_panics(words in prop::collection::vec(select(&OPTIONS[..]), 0..14), pattern in select(&OPTIONS[2..12])) {
        readers::options(words.join("\n").as_bytes());
        let line = ["run", pattern, "--in", "a.npy", "--out", "b.npy"].into_iter().chain(words);
        readers::options(line.collect::<Vec<_>>().join("\n").as_bytes());
    }
}
