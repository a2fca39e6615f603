//! Parts of image files that no output keeps: texts, comments, and bytes after the end of the image.

use tiff::decoder::Decoder;
use tiff::tags::Tag;

/// Chunks of PNG files that are read, or whose part is named elsewhere.
const READ: [&[u8; 4]; 15] =
    [b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"pHYs", b"eXIf", b"cICP", b"acTL", b"fcTL", b"fdAT"];
const TEXTS: [&[u8; 4]; 3] = [b"tEXt", b"zTXt", b"iTXt"];

/// Key of the text that XMP is in.
const XMP: &[u8] = b"XML:com.adobe.xmp\0";

/// Texts of TIFF files, and what they are.
const TIFF_TEXTS: [(u16, &str); 8] = [
    (270, "description"),
    (271, "maker"),
    (272, "model"),
    (305, "program"),
    (306, "time"),
    (315, "artist"),
    (316, "computer"),
    (33_432, "copyright"),
];
/// Directories of EXIF in TIFF files, one of them of places.
const TIFF_EXIF: [u16; 2] = [34_665, 34_853];

/// Bytes after the end of an image of a format, if there are some.
pub(super) fn after(bytes: usize, format: &str) -> Option<String> {
    let s = if bytes == 1 { "" } else { "s" };
    (bytes > 0).then(|| format!("the {bytes} byte{s} after the end of the {format} image"))
}

/// Names the bytes after the end of a JPEG image: in a file of several (MPO) further pictures, behind zeros or not.
pub(super) fn after_jpeg(behind: &[u8]) -> Option<String> {
    let begin = behind.iter().position(|&b| b != 0).unwrap_or(behind.len());
    if behind[begin..].starts_with(&[0xff, 0xd8, 0xff]) {
        return Some(format!("the further picture, or several, in the {} bytes after the end of the JPEG image", behind.len()));
    }
    after(behind.len(), "JPEG")
}

/// Names once, in their order, as one part.
fn listed(what: &str, mut names: Vec<String>) -> Option<String> {
    let mut seen = Vec::new();
    names.retain(|name| {
        let is_new = !seen.contains(name);
        if is_new {
            seen.push(name.clone());
        }
        is_new
    });
    (!names.is_empty()).then(|| format!("{what} ({})", names.join(", ")))
}

/// Chunks of a PNG file: the name, the bytes from its body on, and those behind it.
fn chunks(bytes: &[u8]) -> impl Iterator<Item = (&[u8; 4], &[u8], &[u8])> {
    let mut rest = bytes.get(8..);
    std::iter::from_fn(move || {
        let (length, after) = rest?.split_first_chunk::<4>()?;
        let (name, body) = after.split_first_chunk::<4>()?;
        // A checksum follows.
        let behind = body.get((u32::from_be_bytes(*length) as usize).saturating_add(4)..).unwrap_or_default();
        rest = (name != b"IEND").then_some(behind);
        Some((name, body, behind))
    })
}

/// Whether a PNG file has a chunk of this name.
pub(super) fn has_chunk(bytes: &[u8], of: &[u8; 4]) -> bool {
    chunks(bytes).any(|(name, ..)| name == of)
}

/// Of a PNG file that a decoder has read.
pub(super) fn png(bytes: &[u8]) -> Vec<String> {
    let (mut texts, mut others, mut has_xmp, mut rest) = (Vec::new(), Vec::new(), false, bytes.get(8..).unwrap_or_default());
    for (name, body, behind) in chunks(bytes) {
        let text = String::from_utf8_lossy(name).into_owned();
        match name {
            b"iTXt" if body.starts_with(XMP) => has_xmp = true,
            _ if TEXTS.contains(&name) => texts.push(text),
            _ if !READ.contains(&name) => others.push(text),
            _ => {}
        }
        rest = behind;
    }
    let xmp = has_xmp.then(|| "XMP metadata".to_owned());
    let named = [xmp, listed("texts", texts), listed("other chunks", others), after(rest.len(), "PNG")];
    named.into_iter().flatten().collect()
}

/// Of a GIF file that a decoder has read.
pub(super) fn gif(bytes: &[u8]) -> Vec<String> {
    let (mut has_comments, mut end) = (false, None);
    let table = |flags: u8| if flags & 0x80 == 0 { 0 } else { 3 << (1 + usize::from(flags & 7)) };
    let mut at = 13 + bytes.get(10).map_or(0, |&flags| table(flags));
    while let Some(&block) = bytes.get(at) {
        at += match block {
            0x2c => 11 + bytes.get(at + 9).map_or(0, |&flags| table(flags)),
            0x21 => {
                has_comments |= bytes.get(at + 1) == Some(&0xfe);
                2
            }
            0x3b => {
                end = Some(at + 1);
                break;
            }
            _ => break,
        };
        // Blocks of up to 255 bytes, the last of none.
        while let Some(&length) = bytes.get(at) {
            at += 1 + usize::from(length);
            if length == 0 {
                break;
            }
        }
    }
    let comments = has_comments.then(|| "comments".to_owned());
    comments.into_iter().chain(end.and_then(|end| after(bytes.len().saturating_sub(end), "GIF"))).collect()
}

/// Width of a GIF file's pixel by its height, in 64ths; none where nothing is said.
pub(super) fn gif_aspect(bytes: &[u8]) -> Option<u32> {
    bytes.get(12).filter(|&&n| n > 0).map(|&n| u32::from(n) + 15)
}

fn word(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..at + 4).and_then(|b| b.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b) as usize)
}

/// Of a WebP file.
pub(super) fn webp(bytes: &[u8]) -> Vec<String> {
    let announced = word(bytes, 4).saturating_add(8);
    // Chunks have an even number of bytes.
    after(bytes.len().saturating_sub(announced + announced % 2), "WebP").into_iter().collect()
}

/// Of a BMP file: it ends where it says, or where its pixels do if they come later.
pub(super) fn bmp(bytes: &[u8]) -> Vec<String> {
    let announced = word(bytes, 2);
    let (first, header) = (word(bytes, 10), word(bytes, 14));
    let half = |at: usize| word(bytes, at) & 0xffff;
    let (width, height, bits, packed, size) = match header {
        12 => (half(18), half(20), half(24), 0, 0),
        _ => (word(bytes, 18), (word(bytes, 22) as u32 as i32).unsigned_abs() as usize, half(28), word(bytes, 30), word(bytes, 34)),
    };
    let pixels = match packed {
        // Runs, or the files of other formats, say how long they are.
        1 | 2 | 4 | 5 => size,
        _ => (width * bits).div_ceil(32).saturating_mul(4).saturating_mul(height),
    };
    // Profiles that are there, or are named.
    let has_profile = header == 124 && bytes.get(70..74).is_some_and(|kind| kind == b"DEBM" || kind == b"KNIL");
    let profile = has_profile.then(|| "the ICC profile".to_owned());
    profile.into_iter().chain(after(bytes.len().saturating_sub(announced.max(first.saturating_add(pixels))), "BMP")).collect()
}

/// Of the first image of a TIFF file. Its parts may lie anywhere, so that it has no end.
pub(super) fn tiff<R: std::io::Read + std::io::Seek>(pages: &mut Decoder<R>) -> Vec<String> {
    let mut has = |tag: u16| matches!(pages.find_tag(Tag::from_u16_exhaustive(tag)), Ok(Some(_)));
    let texts = TIFF_TEXTS.iter().filter(|(tag, _)| has(*tag)).map(|(_, name)| (*name).to_owned()).collect();
    let exif = TIFF_EXIF.iter().any(|&tag| has(tag)).then(|| "EXIF metadata".to_owned());
    let iptc = has(33_723).then(|| "IPTC metadata".to_owned());
    let photoshop = has(34_377).then(|| "Photoshop's metadata".to_owned());
    [listed("texts", texts), exif, iptc, photoshop].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bytes_are_too_few_or_too_many_to_look_at() {
        for format in [png, gif, webp, bmp] {
            for bytes in [&[][..], &[0xff; 7], &[0xff; 64], &[0; 64], &[b'I'; 200]] {
                let _ = format(bytes);
            }
        }
    }

    #[test]
    fn one_byte_is_one() {
        assert_eq!(after(1, "GIF").as_deref(), Some("the 1 byte after the end of the GIF image"));
        assert_eq!(after_jpeg(&[]), None);
        assert_eq!(after_jpeg(&[0, 1]).as_deref(), Some("the 2 bytes after the end of the JPEG image"));
        let further = after_jpeg(&[0, 0xff, 0xd8, 0xff, 0xe0]).expect("it is named");
        assert!(further.starts_with("the further picture") && further.contains("5 bytes"), "{further}");
        assert_eq!(after(0, "GIF"), None);
        assert_eq!(listed("texts", ["a", "b", "a"].map(str::to_owned).to_vec()).as_deref(), Some("texts (a, b)"));
    }
}
