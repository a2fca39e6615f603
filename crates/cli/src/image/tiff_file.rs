//! TIFF files.

use super::metadata::{Metadata, Resolution};
use super::read::{CONVERT, DAMAGED_PROFILE, Read_, Refused, available, damaged, fits, of_inks, one, picture, through};
use super::{Picture, beside};
use ::image::ColorType;
use ::image::codecs::tiff::TiffDecoder;
use ::image::metadata::Orientation;
use std::io::Cursor;
use tiff::decoder::DecodingResult;
use tiff::decoder::ifd::Value;
use tiff::tags::Tag;

/// The picture of a file's bytes.
pub(super) fn read(bytes: &[u8]) -> Read_<Picture> {
    let mut pages = tiff::decoder::Decoder::new(Cursor::new(bytes))?;
    let unit = pages.find_tag_unsigned::<u32>(Tag::ResolutionUnit)?.unwrap_or(2);
    let mut density = [0.0; 2];
    for (tag, density) in [Tag::XResolution, Tag::YResolution].into_iter().zip(&mut density) {
        if let Some(Value::Rational(n, d)) = pages.find_tag(tag)? {
            *density = f64::from(n) / f64::from(d);
        }
    }
    check_tiff(&mut pages)?;
    let has_profile = pages.find_tag(Tag::IccProfile).map_or(true, |found| found.is_some());
    let reads_profile = pages.get_tag_u8_vec(Tag::IccProfile).is_ok();
    let color = pages.colortype()?;
    let grey_and_alpha = is_grey_and_alpha(&mut pages)?;
    let lost = beside::tiff(&mut pages);
    let mut has_more = false;
    while pages.more_images() {
        pages.next_image()?;
        // A smaller copy of the image is no further one.
        let kind = pages.find_tag_unsigned::<u32>(Tag::NewSubfileType)?.unwrap_or(0);
        has_more |= kind & 1 == 0;
    }
    one(has_more)?;
    let mut metadata = Metadata { resolution: Resolution::of_tiff(unit, density), lost, ..Metadata::default() };
    if has_profile && !reads_profile {
        metadata.lost.push(DAMAGED_PROFILE.to_owned());
    }
    if grey_and_alpha {
        return tiff_of_grey_and_alpha(bytes, metadata);
    }
    let inks = matches!(color, tiff::ColorType::CMYK(_));
    Ok(of_inks(inks, through(TiffDecoder::new(Cursor::new(bytes))?, metadata)?))
}

/// Whether its samples are grey and alpha in turns. The decoder takes them for two bands of anything.
fn is_grey_and_alpha(pages: &mut tiff::decoder::Decoder<Cursor<&[u8]>>) -> Read_<bool> {
    if !matches!(pages.colortype()?, tiff::ColorType::Multiband { bit_depth: 8 | 16, num_samples: 2 }) {
        return Ok(false);
    }
    let mut list = |tag| pages.find_tag_unsigned_vec::<u32>(tag).map(Option::unwrap_or_default);
    let is_black_zero = list(Tag::PhotometricInterpretation)? == [1];
    let is_chunky = matches!(list(Tag::PlanarConfiguration)?[..], [] | [1]);
    let is_unsigned = list(Tag::SampleFormat)?.iter().all(|&format| format == 1);
    Ok(is_black_zero && is_chunky && is_unsigned && list(Tag::ExtraSamples)? == [2])
}

fn tiff_of_grey_and_alpha(bytes: &[u8], mut metadata: Metadata) -> Read_<Picture> {
    let mut decoder = tiff::decoder::Decoder::new(Cursor::new(bytes))?;
    let (width, height) = decoder.dimensions()?;
    let color = if decoder.colortype()?.bit_depth() == 16 { ColorType::La16 } else { ColorType::La8 };
    let length = fits(u64::from(width).checked_mul(height.into()).and_then(|n| n.checked_mul(color.bytes_per_pixel().into())))?;
    metadata.icc = decoder.get_tag_u8_vec(Tag::IccProfile).ok();
    if !matches!(decoder.find_tag(Tag::Unknown(700)), Ok(None)) {
        metadata.lost.push("XMP metadata".to_owned());
    }
    let orientation = decoder.find_tag_unsigned::<u8>(Tag::Orientation)?.and_then(Orientation::from_exif);
    // These bound lists of tags as well.
    let mut limits = tiff::decoder::Limits::unlimited();
    limits.decoding_buffer_size = length;
    limits.intermediate_buffer_size = usize::try_from(available()).unwrap_or(usize::MAX);
    limits.ifd_value_size = limits.intermediate_buffer_size;
    let mut decoder = decoder.with_limits(limits);
    let pixels = match decoder.read_image()? {
        DecodingResult::U8(pixels) => pixels,
        DecodingResult::U16(pixels) => pixels.into_iter().flat_map(u16::to_ne_bytes).collect(),
        _ => return Err(damaged("its samples are of another type than it says")),
    };
    if pixels.len() != length {
        return Err(Refused::Damaged(format!("its pixels hold {} bytes of {length}", pixels.len())));
    }
    picture((width, height), color, pixels, metadata, orientation.unwrap_or(Orientation::NoTransforms))
}

/// Refuses what the decoder passes over: pixels that it would take for others.
fn check_tiff(pages: &mut tiff::decoder::Decoder<Cursor<&[u8]>>) -> Read_<()> {
    let mut number = |tag| pages.find_tag_unsigned::<u32>(tag);
    let (planes, rows, height) = (number(Tag::PlanarConfiguration)?, number(Tag::TileLength)?, number(Tag::ImageLength)?.unwrap_or(0));
    let (order, packing) = (number(Tag::FillOrder)?, number(Tag::Compression)?);
    let more = pages.find_tag_unsigned_vec::<u32>(Tag::ExtraSamples)?.unwrap_or_default();
    let cut = planes == Some(2) && rows.is_some_and(|rows| rows > 0 && !height.is_multiple_of(rows));
    for (is_so, why) in [
        (order == Some(2), "the bits of its bytes come in reverse (FillOrder 2)"),
        (more.contains(&1), "its colours are multiplied by their alpha (ExtraSamples 1)"),
        (cut, "its tiles are of one channel each, and its height is no multiple of theirs"),
    ] {
        if is_so {
            return Err(Refused::Other(why.to_owned(), CONVERT));
        }
    }
    if packing.is_none_or(|packing| packing == 1) && rows.is_none() {
        let mut list = |tag| pages.find_tag_unsigned_vec::<u64>(tag).map(Option::unwrap_or_default);
        let sum = |all: Vec<u64>| all.into_iter().fold(0, u64::saturating_add);
        let (found, bits) = (sum(list(Tag::StripByteCounts)?), list(Tag::BitsPerSample)?);
        let width = list(Tag::ImageWidth)?.first().copied().unwrap_or(0);
        let bits = if bits.is_empty() { 1 } else { sum(bits) };
        let expected = width.saturating_mul(bits).div_ceil(8).saturating_mul(height.into());
        if found < expected {
            return Err(Refused::Damaged(format!("its strips hold {found} bytes, and its pixels take {expected}")));
        }
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::read::decoded;
    use super::*;

    /// A TIFF file of zeros in one strip: 8 bits a pixel, without compression.
    pub(in crate::image) fn tiff_of_zeros(width: u32, height: u32) -> Vec<u8> {
        tiff_of(width, height, width * height, &[])
    }

    /// The same with other bytes of the strip, and with more tags in its order.
    fn tiff_of(width: u32, height: u32, strip: u32, more: &[(u16, u32)]) -> Vec<u8> {
        const FIRST: u32 = 256;
        let mut entries = vec![(256u16, width), (257, height), (258, 8), (259, 1), (262, 1), (273, FIRST), (278, height), (279, strip)];
        entries.retain(|(tag, _)| more.iter().all(|(other, _)| tag != other));
        entries.extend(more);
        entries.sort_unstable();
        let mut bytes = [b"II*\0".as_slice(), &8u32.to_le_bytes(), &(entries.len() as u16).to_le_bytes()].concat();
        for (tag, value) in entries {
            // Words, but for kinds of samples, which have half as many bits, and the bits of two samples.
            let (kind, count): (u16, u32) = match tag {
                258 if value > 64 => (3, 2),
                338 => (3, 1),
                _ => (4, 1),
            };
            bytes.extend([tag.to_le_bytes(), kind.to_le_bytes()].concat());
            bytes.extend([count.to_le_bytes(), value.to_le_bytes()].concat());
        }
        bytes.resize((FIRST + width * height) as usize, 0);
        bytes
    }

    #[test]
    fn tiff_files_whose_pixels_would_be_taken_for_others_are_refused() {
        let why = |file: Vec<u8>| decoded(&file).map_or_else(|e| e.about("it").to_string(), |_| "it is read".to_owned());
        assert_eq!(why(tiff_of(40, 30, 1200, &[])), "it is read");
        for (file, words) in [
            (tiff_of(40, 30, 1200, &[(266, 2)]), "FillOrder 2"),
            (tiff_of(40, 30, 1200, &[(338, 1)]), "ExtraSamples 1"),
            (tiff_of(40, 30, 1100, &[]), "its strips hold 1100 bytes, and its pixels take 1200"),
            (tiff_of(40, 30, 1200, &[(284, 2), (322, 16), (323, 16)]), "no multiple of theirs"),
        ] {
            let found = why(file);
            assert!(found.contains(words), "{words}: {found}");
        }
    }

    #[test]
    fn files_of_64_bit_places_are_read_and_kinds_without_a_decoder_are_no_damage() {
        let mut file = Cursor::new(Vec::new());
        let mut encoder = tiff::encoder::TiffEncoder::new_big(&mut file).expect("a file");
        encoder.write_image::<tiff::encoder::colortype::Gray8>(3, 2, &[1, 2, 3, 4, 5, 6]).expect("a file");
        let read = decoded(file.get_ref()).unwrap_or_else(|e| panic!("{}", e.about("it")));
        assert_eq!((read.width, read.height, read.channels, read.pixels), (3, 2, 1, vec![1, 2, 3, 4, 5, 6]));
        // Two bands of which nothing says that one is alpha.
        let bands = tiff_of(40, 30, 2400, &[(258, 8 << 16 | 8), (277, 2), (338, 0)]);
        assert!(decoded(&bands).is_err_and(|e| matches!(e, Refused::Other(_, CONVERT))));
    }

    #[test]
    fn profiles_and_xmp_of_tiff_files_are_seen_whatever_their_length() {
        use tiff::encoder::{TiffEncoder, colortype::Gray8};
        // Parts of ICC profiles that are looked at: the kind of colours, and the mark.
        let mut profile = vec![0u8; 588];
        profile[16..20].copy_from_slice(b"GRAY");
        profile[36..40].copy_from_slice(b"acsp");
        for xmp in [10, 3000, 2_000_000] {
            let mut file = Cursor::new(Vec::new());
            let mut encoder = TiffEncoder::new(&mut file).expect("a file");
            let mut image = encoder.new_image::<Gray8>(8, 8).expect("an image");
            image.encoder().write_tag(Tag::IccProfile, &profile[..]).expect("a tag");
            image.encoder().write_tag(Tag::Unknown(700), &vec![b' '; xmp][..]).expect("a tag");
            image.write_data(&[7; 64]).expect("pixels");
            let picture = decoded(file.get_ref()).unwrap_or_else(|e| panic!("{}", e.about("it")));
            assert_eq!(picture.metadata.icc.as_ref(), Some(&profile), "{xmp}");
            assert_eq!(picture.metadata.lost, ["XMP metadata"]);
        }
    }

    #[test]
    fn tiff_files_of_grey_and_alpha_are_read() {
        for (bits, color) in [(8u32, ColorType::La8), (16, ColorType::La16)] {
            let length = 3 * 2 * u32::from(color.bytes_per_pixel());
            let file = |more: &[(u16, u32)]| {
                let mut tags = vec![(258, bits << 16 | bits), (277, 2), (338, 2)];
                tags.retain(|(tag, _)| more.iter().all(|(other, _)| tag != other));
                tags.extend(more);
                let mut file = tiff_of(3, 2, length, &tags);
                file.truncate(256);
                file.extend((0..length).map(|k| k as u8));
                file
            };
            let read = decoded(&file(&[])).unwrap_or_else(|e| panic!("{}", e.about("it")));
            let pixels: Vec<u8> = match bits {
                8 => (0..12).collect(),
                _ => (0..24).step_by(2).flat_map(|k| u16::from_le_bytes([k, k + 1]).to_ne_bytes()).collect(),
            };
            assert_eq!((read.width, read.height, read.channels, read.deep, read.pixels), (3, 2, 2, bits == 16, pixels));
            // On its side.
            let turned = decoded(&file(&[(274, 6)])).unwrap_or_else(|e| panic!("{}", e.about("it")));
            assert_eq!((turned.width, turned.height), (2, 3));
            let mut cut = file(&[]);
            cut.pop();
            assert!(decoded(&cut).is_err());
            for other in [(262, 0), (284, 2), (338, 1), (339, 2)] {
                assert!(decoded(&file(&[other])).is_err(), "{other:?}");
            }
        }
    }
}
