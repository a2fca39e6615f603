//! `isowarp image`: filters over image files.

mod beside;
mod filter;
mod jpeg;
mod metadata;
mod read;
mod strict;
mod tiff_file;
mod turn;
mod write;

use crate::args::{BorderArg, FilterName, ImageArgs};
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::progress::Progress;
use crate::{device, screen, stats};
use filter::{Work, filtered};
use isowarp::Device;
use isowarp::backend::Backend as _;
use isowarp::buffer::Memory as _;
use isowarp::caps::Numerics;
use isowarp::patterns::{Border, FilterKind, Image};
use metadata::Metadata;
pub(crate) use read::decode;

/// Greatest window, which reaches as far as a JPEG file goes.
const MAX_SIZE: u32 = 65_535;

/// Pixels of 8 or 16 bits, rows from top to bottom, channels interleaved: grey, grey and alpha, RGB or RGBA.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Picture {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) channels: u32,
    /// Whether samples have 16 bits, in the host's order of bytes.
    deep: bool,
    pub(crate) pixels: Vec<u8>,
    metadata: Metadata,
}

impl Picture {
    /// Whether the last channel is alpha.
    fn has_alpha(&self) -> bool {
        matches!(self.channels, 2 | 4)
    }

    /// Whether there is alpha, and nothing shows through.
    fn is_opaque(&self) -> bool {
        let size = self.pixel_bytes();
        let alpha = size - size / self.channels as usize;
        self.has_alpha() && self.pixels.chunks_exact(size).all(|pixel| pixel[alpha..].iter().all(|&b| b == u8::MAX))
    }

    fn pixel_bytes(&self) -> usize {
        self.channels as usize * if self.deep { 2 } else { 1 }
    }
}

/// A grey picture as a PNG file.
pub(crate) fn grey_png(width: u32, height: u32, pixels: Vec<u8>) -> Result<Vec<u8>> {
    let picture = Picture { width, height, channels: 1, deep: false, pixels, metadata: Metadata::default() };
    write::encode(picture, ::image::ImageFormat::Png)
}

/// Reads, filters, writes.
pub(crate) fn image(args: &ImageArgs) -> Result {
    let work = work(args)?;
    device::check_name(&args.device.backend)?;
    let format = write::format(&args.output)?;
    let output = Output::new(&args.output)?;
    let progress = Progress::new("reading the image", 0);
    let mut picture = read::read(&args.input)?;
    write::check(&picture, format)?;
    let border = match args.border {
        BorderArg::Clamp => Border::Clamp,
        BorderArg::Zero => Border::Zero,
        BorderArg::Mirror => Border::Mirror,
        BorderArg::Wrap => Border::Wrap,
    };
    progress.say("opening a device");
    let device = device::open(&args.device.backend, Numerics::Strict)?;
    progress.say(format!("filtering on {}", device::label(device.caps())));
    let pixels = filtered(&device, &picture, &work, border)?;
    let input = args.stats.then(|| picture.clone());
    picture.pixels = pixels;
    progress.say("writing the image");
    let warning = write::warning(&picture, format);
    let encoded = write::encode(picture, format)?;
    output.write(|w| w.write_all(&encoded))?;
    drop(progress);
    if let Some(warning) = warning {
        screen::complain(warning);
    }
    if let Some(input) = input {
        let elements = input.pixels.len() as u64;
        let mut again = || filtered(&device, &input, &work, border).map(drop);
        stats::report(&device, "filter", (elements, 2 * elements, Vec::new()), (args.json, output.is_stdout()), &mut again)?;
    }
    Ok(())
}

/// Fails where the arguments name no filter.
pub(crate) fn check(args: &ImageArgs) -> Result {
    work(args).map(drop)
}

/// The filter of the arguments.
fn work(args: &ImageArgs) -> Result<Work> {
    let gaussian = args.filter == FilterName::Gaussian;
    if args.size.is_some() && !gaussian && args.filter != FilterName::Box {
        return Err(Failure::usage("--size is for gaussian and box", "leave it out: this filter has one size"));
    }
    if args.sigma.is_some() && !gaussian {
        return Err(Failure::usage("--sigma is for gaussian", "leave it out: this filter has no deviation"));
    }
    if args.alpha.is_some() && args.filter != FilterName::Sharpen {
        return Err(Failure::usage("--alpha is for sharpen", "leave it out: this filter has no strength"));
    }
    if let Some(sigma) = args.sigma.filter(|s| !(0.1..=10_000.0).contains(s)) {
        return Err(Failure::usage(format!("--sigma is from 0.1 to 10000 pixels, not {sigma}"), "use a deviation such as --sigma 2.5"));
    }
    // Three deviations on each side, where only the deviation is said.
    let size = args.size.or(args.sigma.map(|s| 2 * (3.0 * s).ceil() as u32 + 1)).unwrap_or(3);
    if size < 3 || size.is_multiple_of(2) || size > MAX_SIZE {
        return Err(Failure::usage(format!("--size is odd, and from 3 to {MAX_SIZE}, not {size}"), "use a size such as --size 15"));
    }
    Ok(match args.filter {
        FilterName::Identity => Work::Copy,
        FilterName::Box if size == 3 => Work::Window(FilterKind::box3()),
        FilterName::Box => Work::mean(size),
        FilterName::Gaussian => match (size, args.sigma) {
            (3, None) => Work::Window(FilterKind::gaussian3()),
            (5, None) => Work::Window(FilterKind::gaussian5()),
            (size, sigma) => Work::gaussian(size, sigma)?,
        },
        FilterName::Sharpen => Work::Window(FilterKind::sharpen(args.alpha.unwrap_or(0.5))?),
        FilterName::Sobel => Work::Window(FilterKind::Sobel),
        FilterName::Laplacian => Work::Window(FilterKind::laplacian()),
        FilterName::Highpass => Work::Window(FilterKind::highpass()),
        FilterName::Median => Work::Window(FilterKind::Median3),
    })
}

/// The picture on a device.
pub(crate) fn upload(device: &Device, p: &Picture) -> Result<Image<Device, u8>, isowarp::Error> {
    Image::new(device.upload(&p.pixels)?, p.width, p.height, p.channels)
}
