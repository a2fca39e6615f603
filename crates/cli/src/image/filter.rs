//! Filters over pictures of any kind: plane by plane in f32, and by bands of rows, so that none is too large for a device.

use super::Picture;
use isowarp::buffer::{Buffer, Memory as _};
use isowarp::dynamic::DynBuffer;
use isowarp::element::{DType, Ty};
use isowarp::ir::{Evaluator, Expr, lit};
use isowarp::patterns::{Border, Filter as _, FilterKind, Image, Map as _};
use isowarp::prelude::{array, index, scalar};
use isowarp::{Device, Result, backend::Backend as _, expression};
use std::ops::Range;

/// Samples of a plane that a band holds, with its margins.
const BAND: usize = 1 << 24;

/// Taps that one launch adds, in one chain.
const TAPS: usize = 16;

/// Work that is done to a picture.
#[derive(Clone, Debug)]
pub(super) enum Work {
    Copy,
    Window(FilterKind),
    /// The same weights across, and then down.
    Blur(Vec<f32>),
}

impl Work {
    /// The mean of a square window.
    pub(super) fn mean(size: u32) -> Self {
        Self::Blur(vec![1.0 / size as f32; size as usize])
    }

    /// A Gaussian of this deviation, or of that which a window of this size holds (0.3 (r - 1) + 0.8 for a radius r, as OpenCV has it).
    pub(super) fn gaussian(size: u32, sigma: Option<f32>) -> Result<Self> {
        let radius = size / 2;
        let sigma = sigma.unwrap_or(0.3f32.mul_add(radius as f32 - 1.0, 0.8));
        // By the definition of the arithmetic, so that weights are the same on every host.
        let bell = expression::parse("exp(-0.5 * (x/y) * (x/y))", &[Ty::F32; 2], None, None)?;
        let mut weight = Evaluator::new(&bell);
        let weights: Vec<f32> = (0..size)
            .map(|k| {
                let distance = k.abs_diff(radius) as f32;
                weight.eval_one(&[distance, sigma].map(|v| u64::from(v.to_bits())));
                f32::from_bits(weight.result(0)[0] as u32)
            })
            .collect();
        let sum: f64 = weights.iter().map(|&w| f64::from(w)).sum();
        Ok(Self::Blur(weights.into_iter().map(|w| (f64::from(w) / sum) as f32).collect()))
    }

    /// Pixels that the window reaches beyond its centre.
    fn radius(&self) -> usize {
        match self {
            Self::Copy => 0,
            Self::Window(kind) => kind.radius() as usize,
            Self::Blur(weights) => weights.len() / 2,
        }
    }

    /// Whether it finds differences, of which an opaque picture of one colour has none: its alpha stays what it is.
    fn differs(&self) -> bool {
        match self {
            Self::Window(FilterKind::Sobel) => true,
            Self::Window(FilterKind::Weighted { weights, .. }) => weights.iter().sum::<f32>() == 0.0,
            _ => false,
        }
    }
}

/// The filtered pixels.
pub(super) fn filtered(device: &Device, p: &Picture, work: &Work, border: Border) -> Result<Vec<u8>> {
    match work {
        Work::Copy => Ok(p.pixels.clone()),
        Work::Window(kind) if is_plain(device, p) => {
            let image = super::upload(device, p)?;
            device.filter(&image, kind.clone(), border)?.buffer().read_blocking()
        }
        _ => by_bands(device, p, work, border),
    }
}

/// Whether the device's own filters take the picture as it is.
fn is_plain(device: &Device, p: &Picture) -> bool {
    !p.deep && !p.has_alpha() && p.pixels.len() as u64 <= device.caps().max_buffer_bytes.min(device.caps().memory_bytes / 4)
}

fn by_bands(device: &Device, p: &Picture, work: &Work, border: Border) -> Result<Vec<u8>> {
    let radius = work.radius();
    let columns = p.width as usize + 2 * radius;
    let rows = (BAND / columns).saturating_sub(2 * radius).max(2 * radius).max(1);
    // Nothing lies behind an opaque picture whose border is its own pixels.
    let is_opaque = p.is_opaque() && border != Border::Zero;
    let mut pixels = p.pixels.clone();
    let pitch = p.width as usize * p.pixel_bytes();
    for first in (0..p.height as usize).step_by(rows) {
        let rows = rows.min(p.height as usize - first);
        let around = (first as i64 - radius as i64)..((first + rows + radius) as i64);
        let around: Vec<Option<i64>> = around.map(|y| border.index(y, p.height.into())).collect();
        let band = Band { is_opaque, ..Band::new(device, p, work, around) };
        band.filter(&padded(p, &band, border), &mut pixels[first * pitch..][..rows * pitch])?;
    }
    Ok(pixels)
}

/// Rows of a band with what lies beside them, by the border's rule.
fn padded(p: &Picture, band: &Band<'_>, border: Border) -> Vec<u8> {
    let (size, radius) = (p.pixel_bytes(), band.work.radius() as i64);
    let pitch = p.width as usize * size;
    let mut out = Vec::with_capacity(band.lines.len() * band.columns * size);
    let across: Vec<Option<i64>> = (0..band.columns as i64).map(|x| border.index(x - radius, p.width.into())).collect();
    for line in &band.lines {
        let from = line.map(|y| &p.pixels[y as usize * pitch..][..pitch]);
        for x in &across {
            match (from, x) {
                (Some(row), Some(x)) => out.extend_from_slice(&row[*x as usize * size..][..size]),
                _ => out.resize(out.len() + size, 0),
            }
        }
    }
    out
}

type Plane = Buffer<Device, f32>;

struct Band<'a> {
    device: &'a Device,
    p: &'a Picture,
    work: &'a Work,
    /// Whether its alpha stays, and weighs nothing.
    is_opaque: bool,
    /// With what lies around.
    columns: usize,
    /// Rows of the picture that are uploaded, none for one of zeros: of a blur each once, however far it reaches beyond the picture.
    lines: Vec<Option<i64>>,
    /// Their numbers, of each row from the first one above the band to the last one below; of a blur alone.
    places: Vec<u32>,
}

impl<'a> Band<'a> {
    /// A band with these rows, and what lies around.
    fn new(device: &'a Device, p: &'a Picture, work: &'a Work, around: Vec<Option<i64>>) -> Self {
        let (lines, places) = if matches!(work, Work::Blur(_)) {
            let mut lines = around.clone();
            lines.sort_unstable();
            lines.dedup();
            let places = around.iter().map(|row| lines.partition_point(|line| line < row) as u32).collect();
            (lines, places)
        } else {
            (around, Vec::new())
        };
        Self { device, p, work, is_opaque: false, columns: p.width as usize + 2 * work.radius(), lines, places }
    }

    /// Filters every channel into the pixels of a band.
    fn filter(&self, samples: &[u8], out: &mut [u8]) -> Result<()> {
        let (p, device) = (self.p, self.device);
        let dtype = if p.deep { DType::U16 } else { DType::U8 };
        let samples = DynBuffer::upload(device, dtype, samples)?;
        let planes = (0..p.channels - u32::from(self.is_opaque)).map(|c| self.plane(&samples, c)).collect::<Result<Vec<Plane>>>()?;
        let greatest = if p.deep { 65_535.0f32 } else { 255.0 };
        let Some((alpha, colours)) = planes.split_last().filter(|_| p.has_alpha() && !self.is_opaque) else {
            for (c, plane) in planes.iter().enumerate() {
                self.store(c, &self.stored(&self.of(plane)?, greatest)?, out);
            }
            return Ok(());
        };
        let weight = self.of(alpha)?;
        for (c, colour) in colours.iter().enumerate() {
            let weighted: Plane = device.map((colour, alpha), |(c, a)| c.mul_rn(a))?;
            let colour = if self.work.differs() {
                // Colour as it is seen before black; alpha stays.
                self.of(&device.map(&weighted, |c| c / lit(greatest))?)?
            } else {
                let sums = self.of(&weighted)?;
                device.map((&sums, &weight), |(c, a)| a.gt(0.0).select(c / a, 0.0))?
            };
            self.store(c, &self.stored(&colour, greatest)?, out);
        }
        let alpha = if self.work.differs() { alpha } else { &weight };
        self.store(colours.len(), &self.stored(alpha, greatest)?, out);
        Ok(())
    }

    /// A channel's samples in f32.
    fn plane(&self, samples: &DynBuffer<Device>, channel: u32) -> Result<Plane> {
        let (n, step) = ((self.lines.len() * self.columns) as u64, i64::from(self.p.channels));
        if self.p.deep {
            self.device.map(&samples.typed::<u16>()?.strided(channel.into(), n, step)?, |s: Expr<u32>| s.cast::<f32>())
        } else {
            self.device.map(&samples.typed::<u8>()?.strided(channel.into(), n, step)?, |s: Expr<u32>| s.cast::<f32>())
        }
    }

    /// A plane filtered: of a window right where its margins end, of a blur without margins.
    fn of(&self, plane: &Plane) -> Result<Plane> {
        match self.work {
            Work::Copy => Ok(plane.clone()),
            Work::Window(kind) => {
                let image = Image::new(plane.clone(), self.columns as u32, self.lines.len() as u32, 1)?;
                Ok(self.device.filter(&image, kind.clone(), Border::Clamp)?.buffer().clone())
            }
            Work::Blur(weights) => {
                let width = self.p.width;
                let across = self.weighted(plane, weights, self.lines.len(), [self.columns as u32, 1])?;
                let (n, places) = (self.places.len() as u64 * u64::from(width), self.device.upload(&self.places)?);
                let inputs = (index(), array(&across), array(&places), scalar(width));
                let rows = self.device.generate(n, inputs, |(i, x, places, width)| x.at(places.at(i / width) * width + i % width))?;
                self.weighted(&rows, weights, self.places.len() - 2 * self.work.radius(), [width, width])
            }
        }
    }

    /// Rows of sums over a plane whose rows are so many samples long; the samples of a sum, from its place on, are so many apart. Of each group of [`TAPS`] the
    /// first product is rounded and every other one is added by fma. Groups are added in pairs: a chain of thousands of taps moves even a plain colour.
    fn weighted(&self, plane: &Plane, weights: &[f32], rows: usize, [pitch, step]: [u32; 2]) -> Result<Plane> {
        let (device, n) = (self.device, rows as u64 * u64::from(self.p.width));
        // Whole groups of taps, so that one kernel does for all sizes and both ways; what is added to them weighs nothing.
        let taps = weights.len().next_multiple_of(TAPS);
        let mut all = weights.to_vec();
        all.resize(taps, 0.0);
        let weights = device.upload(&all)?;
        self.paired(0..taps / TAPS, &|group| {
            let steps = (scalar(self.p.width), scalar(pitch), scalar(step), scalar((group * TAPS) as u32));
            device.generate(n, (index(), steps, (array(plane), array(&weights))), |(i, steps, (x, weights))| {
                let (width, pitch, step, first) = steps;
                let start = i / width * pitch + i % width + step * first;
                (0..TAPS as u32).fold(lit(0f32), |sum, e| x.at(start + step * e).mul_add(weights.at(first + e), sum))
            })
        })
    }

    /// The sum of planes as they are made, that of the greatest power of two of them and that of the rest: at most one plane of each level is held.
    fn paired(&self, planes: Range<usize>, make: &dyn Fn(usize) -> Result<Plane>) -> Result<Plane> {
        if planes.len() < 2 {
            return make(planes.start);
        }
        let middle = planes.start + planes.len().next_power_of_two() / 2;
        let [a, b] = [self.paired(planes.start..middle, make)?, self.paired(middle..planes.end, make)?];
        self.device.map((&a, &b), |(a, b)| a + b)
    }

    /// Samples rounded half up, and saturated.
    fn stored(&self, plane: &Plane, greatest: f32) -> Result<Vec<u8>> {
        let whole = |v: Expr<f32>| (v + 0.5).floor().clamp(0.0, greatest).cast::<u32>();
        let found: DynBuffer<Device> = if self.p.deep {
            self.device.map(plane, |v| whole(v).store_as::<u16>())?.into()
        } else {
            self.device.map(plane, |v| whole(v).store_as::<u8>())?.into()
        };
        found.read_blocking()
    }

    /// Puts a channel's samples, without their margins, into pixels.
    fn store(&self, channel: usize, samples: &[u8], out: &mut [u8]) {
        let size = if self.p.deep { 2 } else { 1 };
        let (pixel, width) = (self.p.pixel_bytes(), self.p.width as usize);
        let (margin, pitch) = if matches!(self.work, Work::Blur(_)) { (0, width) } else { (self.work.radius(), self.columns) };
        for (y, row) in out.chunks_exact_mut(width * pixel).enumerate() {
            let from = &samples[((y + margin) * pitch + margin) * size..][..width * size];
            for (to, from) in row.chunks_exact_mut(pixel).zip(from.chunks_exact(size)) {
                to[channel * size..][..size].copy_from_slice(from);
            }
        }
    }
}
