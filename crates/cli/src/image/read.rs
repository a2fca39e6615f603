//! Reading image files, whole or not at all.

use super::metadata::{Metadata, Resolution};
use super::{Picture, beside, jpeg, strict, tiff_file, turn};
use crate::failure::{Failure, Result};
use ::image::codecs::{bmp::BmpDecoder, gif::GifDecoder, jpeg::JpegDecoder, webp::WebPDecoder};
use ::image::metadata::Orientation;
use ::image::{ColorType, ImageDecoder, ImageError, ImageFormat, Limits};
use isowarp::Cpu;
use std::io::{Cursor, Read};
use std::num::NonZeroU64;
use std::path::Path;
use tiff::TiffError;

/// Bytes by which a file's kind is known.
const MAGIC: u64 = 64;

/// Start of a segment of a JPEG file with a part of an ICC profile.
const PROFILE: &[u8] = b"ICC_PROFILE\0";
/// A part of a file that is named.
pub(super) const DAMAGED_PROFILE: &str = "the ICC profile, which is damaged";

/// Advice about half a file.
const WHOLE: &str = "save or copy the image again; it has to be a whole PNG, JPEG, TIFF, BMP, WebP or GIF file";

/// Advice about kinds of files that decoders do not read.
pub(super) const CONVERT: &str = "convert it first, for instance `magick in.tiff out.png`";

/// Why a file is refused.
pub(super) enum Refused {
    /// It is damaged.
    Damaged(String),
    /// It is a kind of image that is not for here.
    Other(String, &'static str),
    /// There is no memory for so many bytes, but for so many.
    Memory(u64, u64),
}

pub(super) type Read_<T> = std::result::Result<T, Refused>;

/// For the errors of decoders that read every file of their kind.
pub(super) fn damaged(e: impl ToString) -> Refused {
    Refused::Damaged(e.to_string())
}

impl From<ImageError> for Refused {
    fn from(e: ImageError) -> Self {
        match e {
            ImageError::Unsupported(_) => Self::Other(e.to_string(), CONVERT),
            _ => damaged(e),
        }
    }
}

impl From<TiffError> for Refused {
    fn from(e: TiffError) -> Self {
        match e {
            TiffError::UnsupportedError(_) => Self::Other(e.to_string(), CONVERT),
            _ => damaged(e),
        }
    }
}

impl Refused {
    pub(super) fn about(self, name: &str) -> Failure {
        match self {
            Self::Damaged(why) => Failure::failed(format!("cannot read {name}: {why}"), WHOLE),
            Self::Other(why, help) => Failure::failed(format!("cannot read {name}: {why}"), help),
            Self::Memory(bytes, available) => {
                let message = format!("cannot read {name}: the image takes {bytes} bytes of memory, and may take {available}");
                Failure::failed(message, "use a smaller image, or a machine with more memory")
            }
        }
    }
}

/// Reads an image file, or standard input for `-`.
pub(super) fn read(path: &Path) -> Result<Picture> {
    let name = if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() };
    let bytes = if path.as_os_str() == "-" {
        contents(std::io::stdin().lock(), &name).map_err(|e| e.map_err(|e| Failure::stream("read standard input", &e)))
    } else {
        let file = std::fs::File::open(path).map_err(|e| Failure::file("read", path, &e))?;
        contents(file, &name).map_err(|e| e.map_err(|e| Failure::file("read", path, &e)))
    };
    decode(&bytes.map_err(|e| e.unwrap_or_else(|failure| failure))?, &name)
}

/// All bytes of what is an image by its first ones, as many as there is memory for.
fn contents(mut from: impl Read, name: &str) -> std::result::Result<Vec<u8>, std::result::Result<Failure, std::io::Error>> {
    let mut bytes = Vec::new();
    from.by_ref().take(MAGIC).read_to_end(&mut bytes).map_err(Err)?;
    format(&bytes).map_err(|e| Ok(e.about(name)))?;
    let most = available();
    from.take(most).read_to_end(&mut bytes).map_err(Err)?;
    if bytes.len() as u64 > most {
        return Err(Ok(Refused::Memory(bytes.len() as u64, most).about(name)));
    }
    Ok(bytes)
}

/// Memory that an image may take. Its file, its pixels and those of the result are there at once.
pub(super) fn available() -> u64 {
    Cpu::available_bytes().map_or(u64::MAX, |bytes| bytes / 4)
}

/// The kind of a file by its first bytes.
fn format(bytes: &[u8]) -> Read_<ImageFormat> {
    use ImageFormat::{Bmp, Gif, Jpeg, Png, Tiff, WebP};
    if bytes.is_empty() {
        return Err(Refused::Damaged("the file is empty (0 bytes)".to_owned()));
    }
    if [b"II+\0", b"MM\0+"].iter().any(|long| bytes.starts_with(*long)) {
        return Ok(Tiff);
    }
    let known = ::image::guess_format(bytes).ok().filter(|f| matches!(f, Bmp | Gif | Jpeg | Png | Tiff | WebP));
    known.ok_or_else(|| {
        let why = "it is no PNG, JPEG, TIFF, BMP, WebP or GIF image";
        Refused::Other(why.to_owned(), "convert it first, for instance `magick in.jp2 out.png`")
    })
}

/// The picture of an image file's bytes.
pub(crate) fn decode(bytes: &[u8], name: &str) -> Result<Picture> {
    decoded(bytes).map_err(|e| e.about(name))
}

pub(super) fn decoded(bytes: &[u8]) -> Read_<Picture> {
    match format(bytes)? {
        ImageFormat::Png => png_file(bytes),
        ImageFormat::Jpeg => jpeg_file(bytes),
        ImageFormat::Tiff => tiff_file::read(bytes),
        ImageFormat::Bmp => {
            // The headers that the resolution is in; the oldest one has none.
            let at = |k: usize| bytes.get(k..k + 4).and_then(|b| b.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b));
            let resolution = if at(14) >= 40 { Resolution::of_metres([at(38), at(42)]) } else { None };
            let metadata = Metadata { resolution, lost: beside::bmp(bytes), ..Metadata::default() };
            let picture = through(BmpDecoder::new(Cursor::new(bytes))?, metadata)?;
            strict::bmp(bytes).map_err(Refused::Damaged)?;
            Ok(picture)
        }
        ImageFormat::Gif => gif_file(bytes),
        _ => webp_file(bytes),
    }
}

/// Files of several pictures are refused.
pub(super) fn one(has_more: bool) -> Read_<()> {
    if !has_more {
        return Ok(());
    }
    let why = "it holds several pictures (an animation, or pages), and one is filtered";
    Err(Refused::Other(why.to_owned(), "take one of them first, for instance `magick 'in.gif[0]' out.png`"))
}

/// So many bytes of pixels, if there may be as many.
pub(super) fn fits(bytes: Option<u64>) -> Read_<usize> {
    let (requested, available) = (bytes.unwrap_or(u64::MAX), available());
    usize::try_from(requested).ok().filter(|_| requested <= available).ok_or(Refused::Memory(requested, available))
}

/// Room for pixels, if there is as much.
fn room(bytes: Option<u64>) -> Read_<Vec<u8>> {
    let length = fits(bytes)?;
    let mut room = Vec::new();
    room.try_reserve_exact(length).map_err(|_| Refused::Memory(length as u64, available()))?;
    room.resize(length, 0);
    Ok(room)
}

/// Reads through a decoder of the image crate.
pub(super) fn through(mut decoder: impl ImageDecoder, mut metadata: Metadata) -> Read_<Picture> {
    let color = decoder.color_type();
    let size = decoder.dimensions();
    // Before the limits, by which the TIFF decoder bounds its lists too, and by a part of the pixels' size.
    metadata.icc = decoder.icc_profile()?;
    metadata.exif = decoder.exif_metadata()?;
    // A text that is too long to be read is there.
    if !matches!(decoder.xmp_metadata(), Ok(None)) {
        metadata.lost.push("XMP metadata".to_owned());
    }
    if decoder.iptc_metadata()?.is_some() {
        metadata.lost.push("IPTC metadata".to_owned());
    }
    let orientation = decoder.orientation()?;
    metadata.turn_exif();
    // Decoders have limits of their own, of some hundred megabytes.
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(available());
    decoder.set_limits(limits)?;
    let mut pixels = room(Some(decoder.total_bytes()))?;
    decoder.read_image(&mut pixels)?;
    picture(size, color, pixels, metadata, orientation)
}

pub(super) fn picture(
    (width, height): (u32, u32),
    color: ColorType,
    pixels: Vec<u8>,
    mut metadata: Metadata,
    orientation: Orientation,
) -> Read_<Picture> {
    let channels = color.channel_count();
    metadata.check_profile(if channels < 3 { b"GRAY" } else { b"RGB " });
    let deep = match color.bytes_per_pixel() / channels {
        1 => false,
        2 => true,
        bytes => {
            let why = format!("it has {} bits in a channel, and 8 and 16 are supported", 8 * bytes);
            return Err(Refused::Other(why, "convert it first, for instance `magick in.tiff -depth 16 out.png`"));
        }
    };
    Ok(turn::turned(Picture { width, height, channels: channels.into(), deep, pixels, metadata }, orientation))
}

fn png_file(bytes: &[u8]) -> Read_<Picture> {
    let mut options = png::DecodeOptions::default();
    options.set_ignore_adler32(false);
    options.set_skip_ancillary_crc_failures(false);
    options.set_ignore_text_chunk(true);
    let mut decoder = png::Decoder::new_with_options(Cursor::new(bytes), options);
    decoder.set_limits(png::Limits { bytes: usize::try_from(available()).unwrap_or(usize::MAX) });
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(damaged)?;
    // A frame that is not the image itself is another picture.
    one(reader.info().animation_control.is_some_and(|a| a.num_frames > 1) || beside::has_chunk(bytes, b"fdAT"))?;
    let mut pixels = room(reader.output_buffer_size().map(|n| n as u64))?;
    reader.next_frame(&mut pixels).map_err(damaged)?;
    reader.finish().map_err(damaged)?;
    strict::png(bytes).map_err(Refused::Damaged)?;
    let color = match reader.output_color_type() {
        (png::ColorType::Grayscale, png::BitDepth::Eight) => ColorType::L8,
        (png::ColorType::GrayscaleAlpha, png::BitDepth::Eight) => ColorType::La8,
        (png::ColorType::Rgb, png::BitDepth::Eight) => ColorType::Rgb8,
        (png::ColorType::Rgba, png::BitDepth::Eight) => ColorType::Rgba8,
        (png::ColorType::Grayscale, png::BitDepth::Sixteen) => ColorType::L16,
        (png::ColorType::GrayscaleAlpha, png::BitDepth::Sixteen) => ColorType::La16,
        (png::ColorType::Rgb, png::BitDepth::Sixteen) => ColorType::Rgb16,
        (png::ColorType::Rgba, png::BitDepth::Sixteen) => ColorType::Rgba16,
        (color, depth) => return Err(Refused::Damaged(format!("its pixels are {color:?} of {depth:?} bits"))),
    };
    if color.bytes_per_pixel() > color.channel_count() {
        pixels.as_chunks_mut::<2>().0.iter_mut().for_each(|s| *s = u16::from_be_bytes(*s).to_ne_bytes());
    }
    let info = reader.info();
    let mut metadata = Metadata {
        icc: info.icc_profile.as_deref().map(<[u8]>::to_vec),
        exif: info.exif_metadata.as_deref().map(<[u8]>::to_vec),
        resolution: info.pixel_dims.and_then(Resolution::of_png),
        srgb: info.srgb,
        gamma: info.gama_chunk,
        chromaticities: info.chrm_chunk,
        lost: beside::png(bytes),
    };
    if metadata.icc.is_none() && beside::has_chunk(bytes, b"iCCP") {
        metadata.lost.push(DAMAGED_PROFILE.to_owned());
    }
    if info.coding_independent_code_points.is_some() {
        metadata.lost.push("the colour space's code points (cICP)".to_owned());
    }
    let orientation = metadata.turn_exif().unwrap_or(Orientation::NoTransforms);
    picture((info.width, info.height), color, pixels, metadata, orientation)
}

fn jpeg_file(bytes: &[u8]) -> Read_<Picture> {
    // Blocks that are looked at take less than the pixels.
    if let Ok(decoder) = JpegDecoder::new(Cursor::new(bytes)) {
        fits(Some(decoder.total_bytes()))?;
    }
    let seen = jpeg::walk(bytes).map_err(Refused::Damaged)?;
    let mut metadata = Metadata { resolution: seen.resolution, ..Metadata::default() };
    metadata.lost.extend(seen.has_comments.then(|| "comments".to_owned()));
    metadata.lost.extend(beside::after_jpeg(&bytes[bytes.len().saturating_sub(seen.behind)..]));
    let mut decoder = JpegDecoder::new(Cursor::new(bytes))?;
    if decoder.icc_profile()?.is_none() && bytes.windows(PROFILE.len()).any(|w| w == PROFILE) {
        metadata.lost.push(DAMAGED_PROFILE.to_owned());
    }
    Ok(of_inks(seen.components == 4, through(decoder, metadata)?))
}

/// The picture without a profile, where it was made of inks.
pub(super) fn of_inks(is_so: bool, mut picture: Picture) -> Picture {
    if is_so && picture.metadata.icc.take().is_some() {
        picture.metadata.lost.push("the ICC profile, which is of four inks".to_owned());
    }
    picture
}

fn gif_file(bytes: &[u8]) -> Read_<Picture> {
    let mut options = gif::DecodeOptions::new();
    options.check_frame_consistency(true);
    options.check_lzw_end_code(true);
    options.set_memory_limit(NonZeroU64::new(available()).map_or(gif::MemoryLimit::Unlimited, gif::MemoryLimit::Bytes));
    let mut frames = options.read_info(bytes).map_err(damaged)?;
    let mut count = 0;
    let all = frames.global_palette().map_or(0, <[u8]>::len) / 3;
    while let Some(frame) = frames.read_next_frame().map_err(damaged)? {
        count += 1;
        let known = frame.palette.as_ref().map_or(all, |own| own.len() / 3);
        let seen = frame.buffer.iter().copied().filter(|&number| frame.transparent != Some(number));
        strict::colours(seen, known).map_err(Refused::Damaged)?;
    }
    one(count > 1)?;
    // Pixels that are wider than high are fewer across than down.
    let resolution = beside::gif_aspect(bytes).and_then(|wide| Resolution::of_jfif(0, [64.0, wide.into()]));
    let metadata = Metadata { resolution, lost: beside::gif(bytes), ..Metadata::default() };
    let mut picture = through(GifDecoder::new(Cursor::new(bytes))?, metadata)?;
    // The decoder gives alpha whether there is a transparent colour or not.
    if picture.pixels.as_chunks::<4>().0.iter().all(|p| p[3] == 255) {
        picture.pixels = picture.pixels.as_chunks::<4>().0.iter().flat_map(|p| [p[0], p[1], p[2]]).collect();
        picture.channels = 3;
    }
    Ok(picture)
}

fn webp_file(bytes: &[u8]) -> Read_<Picture> {
    let announced = bytes.get(4..8).and_then(|b| b.first_chunk()).map_or(0, |b| u64::from(u32::from_le_bytes(*b)) + 8);
    if announced > bytes.len() as u64 {
        return Err(Refused::Damaged(format!("the file is truncated: it announces {announced} bytes, {} are there", bytes.len())));
    }
    let decoder = WebPDecoder::new(Cursor::new(bytes))?;
    one(decoder.has_animation())?;
    through(decoder, Metadata { lost: beside::webp(bytes), ..Metadata::default() })
}

#[cfg(test)]
mod tests {
    use super::super::tiff_file::tests::tiff_of_zeros;
    use super::*;

    #[test]
    fn no_decoder_has_a_limit_of_its_own() {
        // More than the TIFF decoder's 256 MiB of an image and 128 MiB of a strip, and than the GIF decoder's 50 MB.
        let (width, height) = (20_000, 15_000);
        let read = decoded(&tiff_of_zeros(width, height)).unwrap_or_else(|e| panic!("{}", e.about("it")));
        assert_eq!((read.width, read.height, read.pixels.len()), (width, height, 300_000_000));
        let side = 7_200u16;
        let mut file = Vec::new();
        let mut encoder = gif::Encoder::new(&mut file, side, side, &[0, 0, 0, 255, 255, 255]).expect("a file");
        let pixels = vec![1; usize::from(side) * usize::from(side)];
        encoder.write_frame(&gif::Frame::from_indexed_pixels(side, side, pixels, None)).expect("a file");
        drop(encoder);
        let read = decoded(&file).unwrap_or_else(|e| panic!("{}", e.about("it")));
        assert_eq!((read.width, read.height, read.channels), (side.into(), side.into(), 3));
        assert!(read.pixels.iter().all(|&p| p == 255));
    }
}
