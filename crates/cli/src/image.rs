//! `isowarp image`: filters over PNG and JPEG files.

use crate::args::{BorderArg, FilterName, ImageArgs};
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::progress::Progress;
use crate::{device, stats};
use ::image::{ColorType, DynamicImage, ExtendedColorType, ImageFormat, codecs::jpeg::JpegEncoder};
use isowarp::Device;
use isowarp::backend::Backend as _;
use isowarp::buffer::Memory as _;
use isowarp::caps::Numerics;
use isowarp::patterns::{Border, Filter as _, FilterKind, Image};
use std::io::{Cursor, Read as _};
use std::path::Path;

/// Quality of JPEG files that are written, 1 to 100.
const JPEG_QUALITY: u8 = 92;

/// What to do about half a file.
const WHOLE: &str = "save or copy the image again; it has to be a whole PNG or JPEG file";

/// Pixels of 8 bits, rows from top to bottom, channels interleaved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Picture {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) channels: u32,
    pub(crate) pixels: Vec<u8>,
    /// Whether the file is grey with alpha, which is filtered as RGBA.
    grey_alpha: bool,
}

/// Reads, filters, writes.
pub(crate) fn image(args: &ImageArgs) -> Result {
    let kind = kind(args)?;
    device::check_name(&args.device.backend)?;
    let format = format(&args.output)?;
    let output = Output::new(&args.output)?;
    let progress = Progress::new("reading the image", 0);
    let picture = read(&args.input)?;
    if format == ImageFormat::Jpeg && (picture.grey_alpha || picture.channels == 4) {
        return Err(Failure::failed("a JPEG file has no alpha channel, but the input has one", "write a .png file"));
    }
    let border = match args.border {
        BorderArg::Clamp => Border::Clamp,
        BorderArg::Zero => Border::Zero,
        BorderArg::Mirror => Border::Mirror,
    };
    progress.say("opening a device");
    let device = device::open(&args.device.backend, Numerics::Strict)?;
    progress.say(format!("filtering on {}", device::label(device.caps())));
    let input = upload(&device, &picture)?;
    let filtered = device.filter(&input, kind.clone(), border)?;
    let result = Picture { pixels: filtered.buffer().read_blocking()?, ..picture };
    progress.say("writing the image");
    let encoded = encode(result, format)?;
    output.write(|w| w.write_all(&encoded))?;
    drop(progress);
    if args.stats {
        let elements = input.buffer().len();
        let mut again = || device.filter_into(&input, kind.clone(), border, &filtered);
        stats::report(&device, "filter", (elements, 2 * elements, Vec::new()), (args.json, output.is_stdout()), &mut again)?;
    }
    Ok(())
}

/// The filter of the arguments.
fn kind(args: &ImageArgs) -> Result<FilterKind> {
    if args.size.is_some() && args.filter != FilterName::Gaussian {
        return Err(Failure::usage("--size is for gaussian", "leave it out: this filter has one size"));
    }
    if args.alpha.is_some() && args.filter != FilterName::Sharpen {
        return Err(Failure::usage("--alpha is for sharpen", "leave it out: this filter has no strength"));
    }
    Ok(match args.filter {
        FilterName::Identity => FilterKind::identity(),
        FilterName::Box => FilterKind::box3(),
        FilterName::Gaussian => match args.size.unwrap_or(3) {
            3 => FilterKind::gaussian3(),
            5 => FilterKind::gaussian5(),
            other => return Err(Failure::usage(format!("--size is 3 or 5, not {other}"), "use --size 3 or --size 5")),
        },
        FilterName::Sharpen => FilterKind::sharpen(args.alpha.unwrap_or(0.5))?,
        FilterName::Sobel => FilterKind::Sobel,
        FilterName::Laplacian => FilterKind::laplacian(),
        FilterName::Highpass => FilterKind::highpass(),
        FilterName::Median => FilterKind::Median3,
    })
}

/// The format that the output's name asks for.
fn format(path: &Path) -> Result<ImageFormat> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("png") => Ok(ImageFormat::Png),
        Some("jpg" | "jpeg") => Ok(ImageFormat::Jpeg),
        None if path.as_os_str() == "-" => Ok(ImageFormat::Png),
        _ => Err(Failure::usage(format!("cannot tell the format of {}", path.display()), "name it .png, .jpg or .jpeg")),
    }
}

/// Reads an image file, or standard input for `-`.
fn read(path: &Path) -> Result<Picture> {
    let (name, bytes) = if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map_err(|e| Failure::stream("read standard input", &e))?;
        ("standard input".to_owned(), bytes)
    } else {
        (path.display().to_string(), std::fs::read(path).map_err(|e| Failure::file("read", path, &e))?)
    };
    decode(&bytes, &name)
}

/// The picture of a PNG or JPEG file's bytes.
pub(crate) fn decode(bytes: &[u8], name: &str) -> Result<Picture> {
    if bytes.is_empty() {
        return Err(Failure::failed(format!("cannot read {name}: the file is empty (0 bytes)"), WHOLE));
    }
    let format = ::image::guess_format(bytes).ok().filter(|f| matches!(f, ImageFormat::Png | ImageFormat::Jpeg));
    let Some(format) = format else {
        let message = format!("cannot read {name}: it is neither a PNG nor a JPEG image");
        return Err(Failure::failed(message, "convert it first, for instance `magick in.tiff out.png`"));
    };
    let image = ::image::load(Cursor::new(bytes), format).map_err(|e| Failure::failed(format!("cannot read {name}: {e}"), WHOLE))?;
    let (width, height) = (image.width(), image.height());
    let grey_alpha = image.color() == ColorType::La8;
    let (channels, pixels) = match image {
        DynamicImage::ImageLuma8(i) => (1, i.into_raw()),
        DynamicImage::ImageRgb8(i) => (3, i.into_raw()),
        DynamicImage::ImageRgba8(i) => (4, i.into_raw()),
        DynamicImage::ImageLumaA8(i) => (4, i.into_raw().chunks_exact(2).flat_map(|p| [p[0], p[0], p[0], p[1]]).collect()),
        other => {
            let bits = 8 * u32::from(other.color().bytes_per_pixel()) / u32::from(other.color().channel_count());
            let message = format!("cannot read {name}: it has {bits} bits in a channel, and only 8 are supported");
            return Err(Failure::failed(message, "convert it first, for instance `magick in.png -depth 8 out.png`"));
        }
    };
    Ok(Picture { width, height, channels, pixels, grey_alpha })
}

/// The picture on a device.
pub(crate) fn upload(device: &Device, p: &Picture) -> Result<Image<Device, u8>> {
    Ok(Image::new(device.upload(&p.pixels)?, p.width, p.height, p.channels)?)
}

fn encode(p: Picture, format: ImageFormat) -> Result<Vec<u8>> {
    let mut out = Cursor::new(Vec::new());
    let (color, pixels) = match p.channels {
        1 => (ExtendedColorType::L8, p.pixels),
        3 => (ExtendedColorType::Rgb8, p.pixels),
        _ if p.grey_alpha => (ExtendedColorType::La8, p.pixels.chunks_exact(4).flat_map(|q| [q[0], q[3]]).collect()),
        _ => (ExtendedColorType::Rgba8, p.pixels),
    };
    let done = match format {
        ImageFormat::Jpeg => JpegEncoder::new_with_quality(&mut out, JPEG_QUALITY).encode(&pixels, p.width, p.height, color),
        _ => ::image::write_buffer_with_format(&mut out, &pixels, p.width, p.height, color, format),
    };
    done.map_err(|e| Failure::failed(format!("cannot encode the image: {e}"), "write a .png file, or a smaller image"))?;
    Ok(out.into_inner())
}
