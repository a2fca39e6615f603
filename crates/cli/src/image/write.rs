//! Encoding image files.

use super::Picture;
use super::metadata::Places;
use crate::failure::{Failure, Result};
use ::image::codecs::{bmp::BmpEncoder, jpeg::JpegEncoder, tiff::TiffEncoder, webp::WebPEncoder};
use ::image::{ExtendedColorType, ImageEncoder, ImageFormat};
use std::io::Cursor;
use std::path::Path;

/// Quality of JPEG files that are written, 1 to 100.
const JPEG_QUALITY: u8 = 92;
/// Bytes of EXIF metadata that a JPEG file's one segment of it has room for.
const LONGEST_EXIF: usize = 65_527;

/// The format that the output's name asks for.
pub(super) fn format(path: &Path) -> Result<ImageFormat> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("png") => Ok(ImageFormat::Png),
        Some("jpg" | "jpeg") => Ok(ImageFormat::Jpeg),
        Some("tif" | "tiff") => Ok(ImageFormat::Tiff),
        Some("bmp") => Ok(ImageFormat::Bmp),
        Some("webp") => Ok(ImageFormat::WebP),
        Some("gif") => Err(Failure::usage("GIF files are read, not written", "name it .png, .jpg, .tiff, .webp or .bmp")),
        None if path.as_os_str() == "-" => Ok(ImageFormat::Png),
        _ => Err(Failure::usage(format!("cannot tell the format of {}", path.display()), "name it .png, .jpg, .tiff, .webp or .bmp")),
    }
}

/// Refuses what the format has no pixels for.
pub(super) fn check(p: &Picture, format: ImageFormat) -> Result {
    let deep = matches!(format, ImageFormat::Png | ImageFormat::Tiff);
    if p.has_alpha() && format == ImageFormat::Jpeg {
        return Err(Failure::failed("a JPEG file has no alpha channel, but the input has one", "write a .png file"));
    }
    if p.deep && !deep {
        let message = format!("a {} file has 8 bits in a channel, but the input has 16", name(format));
        return Err(Failure::failed(message, "write a .png or a .tiff file"));
    }
    Ok(())
}

/// As people write it.
fn name(format: ImageFormat) -> &'static str {
    match format {
        ImageFormat::Png => "PNG",
        ImageFormat::Jpeg => "JPEG",
        ImageFormat::Tiff => "TIFF",
        ImageFormat::Bmp => "BMP",
        _ => "WebP",
    }
}

/// Returns what there is beside the pixels that a file of this format won't say, as a warning.
pub(super) fn warning(p: &Picture, format: ImageFormat) -> Option<String> {
    let (icc, exif, resolution) = match format {
        ImageFormat::Jpeg => (true, p.metadata.exif.as_ref().is_none_or(|exif| exif.len() <= LONGEST_EXIF), true),
        ImageFormat::Png => (true, true, true),
        ImageFormat::Tiff => (true, false, false),
        ImageFormat::WebP => (true, true, false),
        _ => (false, false, false),
    };
    let left_out = p.metadata.left_out(&Places { icc, exif, resolution, gamma: format == ImageFormat::Png });
    (!left_out.is_empty()).then(|| format!("warning: the {} file is without {}", name(format), left_out.join(", ")))
}

/// The bytes of a file.
pub(super) fn encode(mut p: Picture, format: ImageFormat) -> Result<Vec<u8>> {
    let grey_alpha = p.channels == 2 && matches!(format, ImageFormat::Tiff | ImageFormat::Bmp);
    if grey_alpha {
        let sample = if p.deep { 2 } else { 1 };
        p.pixels = p.pixels.chunks_exact(2 * sample).flat_map(|q| [&q[..sample], &q[..sample], q].concat()).collect();
        p.channels = 4;
    }
    let mut out = Cursor::new(Vec::new());
    let done = match format {
        ImageFormat::Png => png_file(&p, &mut out).map_err(|e| e.to_string()),
        _ => through(&p, &mut out, format).map_err(|e| e.to_string()),
    };
    done.map_err(|e| Failure::failed(format!("cannot encode the image: {e}"), "write a .png file, or a smaller image"))?;
    Ok(out.into_inner())
}

/// Writes through an encoder of the image crate.
fn through(p: &Picture, out: &mut Cursor<Vec<u8>>, format: ImageFormat) -> ::image::ImageResult<()> {
    match format {
        ImageFormat::Jpeg => {
            let mut encoder = JpegEncoder::new_with_quality(out, JPEG_QUALITY);
            if let Some(resolution) = p.metadata.resolution {
                encoder.set_pixel_density(resolution.jpeg());
            }
            write(p, encoder, LONGEST_EXIF)
        }
        ImageFormat::Tiff => write(p, TiffEncoder::new(out), usize::MAX),
        ImageFormat::Bmp => write(p, BmpEncoder::new(out), usize::MAX),
        _ => write(p, WebPEncoder::new_lossless(out), usize::MAX),
    }
}

fn write(p: &Picture, mut encoder: impl ImageEncoder, longest_exif: usize) -> ::image::ImageResult<()> {
    let color = match (p.channels, p.deep) {
        (1, false) => ExtendedColorType::L8,
        (2, false) => ExtendedColorType::La8,
        (3, false) => ExtendedColorType::Rgb8,
        (_, false) => ExtendedColorType::Rgba8,
        (1, true) => ExtendedColorType::L16,
        (2, true) => ExtendedColorType::La16,
        (3, true) => ExtendedColorType::Rgb16,
        (_, true) => ExtendedColorType::Rgba16,
    };
    // A format without a place for them was warned of.
    if let Some(icc) = &p.metadata.icc {
        let _ = encoder.set_icc_profile(icc.clone());
    }
    if let Some(exif) = p.metadata.exif.as_ref().filter(|exif| exif.len() <= longest_exif) {
        let _ = encoder.set_exif_metadata(exif.clone());
    }
    encoder.write_image(&p.pixels, p.width, p.height, color)
}

fn png_file(p: &Picture, out: &mut Cursor<Vec<u8>>) -> Result<(), png::EncodingError> {
    let mut info = png::Info::with_size(p.width, p.height);
    info.color_type = match p.channels {
        1 => png::ColorType::Grayscale,
        2 => png::ColorType::GrayscaleAlpha,
        3 => png::ColorType::Rgb,
        _ => png::ColorType::Rgba,
    };
    info.bit_depth = if p.deep { png::BitDepth::Sixteen } else { png::BitDepth::Eight };
    info.pixel_dims = p.metadata.resolution.map(super::metadata::Resolution::png);
    // A profile says more, and is not written beside that.
    info.srgb = p.metadata.srgb.filter(|_| p.metadata.icc.is_none());
    info.source_gamma = p.metadata.gamma;
    info.source_chromaticities = p.metadata.chromaticities;
    info.icc_profile = p.metadata.icc.as_deref().map(Into::into);
    info.exif_metadata = p.metadata.exif.as_deref().map(Into::into);
    let mut writer = png::Encoder::with_info(out, info)?.write_header()?;
    if p.deep {
        let big: Vec<u8> = p.pixels.as_chunks::<2>().0.iter().flat_map(|s| u16::from_ne_bytes(*s).to_be_bytes()).collect();
        writer.write_image_data(&big)?;
    } else {
        writer.write_image_data(&p.pixels)?;
    }
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::metadata::Metadata;
    use crate::image::read::decode;

    fn picture(metadata: Metadata) -> Picture {
        Picture { width: 8, height: 8, channels: 3, deep: false, pixels: vec![7; 192], metadata }
    }

    #[test]
    fn a_profile_is_kept_beside_words_about_colours_and_named_where_it_is_damaged() {
        let srgb = Some(png::SrgbRenderingIntent::Perceptual);
        let both = picture(Metadata { icc: Some(vec![5; 300]), srgb, ..Metadata::default() });
        let file = encode(both, ImageFormat::Png).expect("a file");
        assert_eq!(decode(&file, "it").expect("an image").metadata.icc, Some(vec![5; 300]));
        let mut damaged = Vec::new();
        let mut info = png::Info::with_size(1, 1);
        info.color_type = png::ColorType::Grayscale;
        let mut writer = png::Encoder::with_info(&mut damaged, info).and_then(png::Encoder::write_header).expect("a file");
        writer.write_chunk(png::chunk::iCCP, b"it\0\0no stream").expect("a chunk");
        writer.write_image_data(&[7]).and_then(|()| writer.finish()).expect("a file");
        let read = decode(&damaged, "it").expect("an image");
        assert_eq!((read.metadata.icc, read.metadata.lost), (None, vec!["the ICC profile, which is damaged".to_owned()]));
    }

    #[test]
    fn a_profile_of_other_colours_than_the_pixels_is_named() {
        let mut profile = vec![0; 128];
        profile[36..40].copy_from_slice(b"acsp");
        for (colours, keeps) in [(b"RGB ", true), (b"GRAY", false), (b"CMYK", false)] {
            profile[16..20].copy_from_slice(colours);
            let written = picture(Metadata { icc: Some(profile.clone()), ..Metadata::default() });
            let read = decode(&encode(written, ImageFormat::Jpeg).expect("a file"), "it").expect("an image").metadata;
            assert_eq!((read.icc.is_some(), read.lost.is_empty()), (keeps, keeps), "{:?}", read.lost);
        }
    }

    #[test]
    fn an_image_and_a_frame_beside_it_are_several_pictures() {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, 1, 1);
        encoder.set_animated(1, 0).and_then(|()| encoder.set_sep_def_img(true)).expect("a file");
        let mut writer = encoder.write_header().expect("a file");
        writer.write_image_data(&[1]).and_then(|()| writer.write_image_data(&[2])).and_then(|()| writer.finish()).expect("a file");
        assert!(decode(&file, "it").is_err_and(|e| e.to_string().contains("several pictures")));
    }

    #[test]
    fn exif_that_a_file_has_no_room_for_is_named() {
        for (bytes, format, keeps) in [
            (LONGEST_EXIF, ImageFormat::Jpeg, true),
            (LONGEST_EXIF + 1, ImageFormat::Jpeg, false),
            (70_000, ImageFormat::Jpeg, false),
            (70_000, ImageFormat::Png, true),
        ] {
            let exif = [b"II*\0\x08\0\0\0\0\0".as_slice(), &vec![0; bytes - 10]].concat();
            let metadata = Metadata { exif: Some(exif), ..Metadata::default() };
            let picture = picture(metadata);
            assert_eq!(warning(&picture, format).is_none(), keeps, "{bytes} in {format:?}");
            let read = decode(&encode(picture, format).expect("a file"), "it").expect("an image");
            assert_eq!(read.metadata.exif.map(|exif| exif.len()), keeps.then_some(bytes), "{bytes} in {format:?}");
        }
    }
}
