//! Metadata of image files: kept where the output's format has a place for it, else named.

use ::image::codecs::jpeg::{PixelDensity, PixelDensityUnit};
use ::image::metadata::Orientation;
use png::{PixelDimensions, ScaledFloat, SourceChromaticities, SrgbRenderingIntent, Unit};

/// Metres in an inch.
const INCH: f64 = 0.0254;

/// Beside the pixels.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Metadata {
    pub(super) icc: Option<Vec<u8>>,
    pub(super) exif: Option<Vec<u8>>,
    pub(super) resolution: Option<Resolution>,
    /// PNG's words about colours.
    pub(super) srgb: Option<SrgbRenderingIntent>,
    pub(super) gamma: Option<ScaledFloat>,
    pub(super) chromaticities: Option<SourceChromaticities>,
    /// Names of what no output keeps.
    pub(super) lost: Vec<String>,
}

impl Metadata {
    /// Takes the orientation out of the EXIF data, so that the image is turned once and nothing turns it again.
    pub(super) fn turn_exif(&mut self) -> Option<Orientation> {
        self.exif.as_mut().and_then(|exif| Orientation::remove_from_exif_chunk(exif))
    }

    /// Drops a profile of other colours than the pixels', such as one of four inks that a decoder has converted.
    pub(super) fn check_profile(&mut self, colours: &[u8; 4]) {
        let head = self.icc.as_ref().and_then(|icc| icc.first_chunk::<40>()).filter(|head| head.ends_with(b"acsp"));
        if let Some(of) = head.map(|head| &head[16..20]).filter(|of| of != colours) {
            self.lost.push(format!("the ICC profile, which is of {} colours", String::from_utf8_lossy(of).trim()));
            self.icc = None;
        }
    }

    /// Whether colours mean what they mean in files that say nothing.
    fn is_srgb(&self) -> bool {
        let gamma = self.gamma.is_none_or(|g| g.into_scaled() == 45_455);
        let pair = |x, y| (ScaledFloat::from_scaled(x), ScaledFloat::from_scaled(y));
        let [white, red, green, blue] = [pair(31_270, 32_900), pair(64_000, 33_000), pair(30_000, 60_000), pair(15_000, 6_000)];
        self.srgb.is_some() || gamma && self.chromaticities.is_none_or(|c| c == SourceChromaticities { white, red, green, blue })
    }

    /// Lists what is there that a format has no place for.
    pub(super) fn left_out(&self, has: &Places) -> Vec<String> {
        let missing = [
            (self.icc.is_some() && !has.icc, "the ICC profile"),
            (self.exif.is_some() && !has.exif, "EXIF metadata"),
            (self.resolution.is_some() && !has.resolution, "the resolution"),
            (!has.gamma && self.icc.is_none() && !self.is_srgb(), "gamma and chromaticities"),
        ];
        missing.iter().filter(|m| m.0).map(|m| m.1.to_owned()).chain(self.lost.iter().cloned()).collect()
    }
}

/// Metadata that a format has a place for.
pub(super) struct Places {
    pub(super) icc: bool,
    pub(super) exif: bool,
    pub(super) resolution: bool,
    pub(super) gamma: bool,
}

/// Pixels of a length across and down.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Resolution {
    /// In a metre; else only their ratio means something.
    metre: bool,
    density: [f64; 2],
}

impl Resolution {
    /// None for pixels that are squares of no size, as all are that nothing is said of.
    fn new(metre: bool, density: [f64; 2]) -> Option<Self> {
        let says = density.iter().all(|d| d.is_finite() && *d > 0.0) && (metre || density[0] != density[1]);
        says.then_some(Self { metre, density })
    }

    pub(super) fn of_png(d: PixelDimensions) -> Option<Self> {
        Self::new(d.unit == Unit::Meter, [d.xppu.into(), d.yppu.into()])
    }

    pub(super) fn of_jfif(unit: u8, density: [f64; 2]) -> Option<Self> {
        match unit {
            1 => Self::new(true, density.map(|d| d / INCH)),
            2 => Self::new(true, density.map(|d| d * 100.0)),
            _ => Self::new(false, density),
        }
    }

    /// By TIFF's numbers of units.
    pub(super) fn of_tiff(unit: u32, density: [f64; 2]) -> Option<Self> {
        Self::of_jfif(unit.saturating_sub(1) as u8, density)
    }

    pub(super) fn of_metres(density: [u32; 2]) -> Option<Self> {
        Self::new(true, density.map(f64::from))
    }

    /// Of the image on its side.
    pub(super) fn swapped(self) -> Self {
        Self { density: [self.density[1], self.density[0]], ..self }
    }

    /// Numbers of pixels, which are rounded; a ratio of others than whole ones of 16 bits, as near to it as those are.
    fn numbers(self) -> [f64; 2] {
        let (most, whole) = (self.density[0].max(self.density[1]), self.density.iter().all(|d| d.fract() == 0.0));
        if self.metre || (whole && most <= f64::from(u16::MAX)) {
            self.density
        } else {
            self.density.map(|d| d / most * f64::from(u16::MAX))
        }
    }

    pub(super) fn png(self) -> PixelDimensions {
        let [xppu, yppu] = self.numbers().map(|d| d.round().max(1.0) as u32);
        PixelDimensions { xppu, yppu, unit: if self.metre { Unit::Meter } else { Unit::Unspecified } }
    }

    pub(super) fn jpeg(self) -> PixelDensity {
        let unit = if self.metre { PixelDensityUnit::Inches } else { PixelDensityUnit::PixelAspectRatio };
        let [x, y] = self.numbers().map(|d| (if self.metre { d * INCH } else { d }).round().max(1.0) as u16);
        PixelDensity { density: (x, y), unit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_of_pixels_are_kept_in_numbers_of_any_size() {
        for (density, ratio) in [([4.0, 1.0], 4.0), ([200_000.0, 100_000.0], 2.0), ([0.25, 0.5], 0.5), ([1.5, 1.0], 1.5)] {
            let resolution = Resolution::of_jfif(0, density).expect("a ratio");
            let (png, (x, y)) = (resolution.png(), resolution.jpeg().density);
            for found in [f64::from(png.xppu) / f64::from(png.yppu), f64::from(x) / f64::from(y)] {
                assert!((found / ratio - 1.0).abs() < 1e-4, "{density:?}: {found}");
            }
        }
        let inches = Resolution::of_jfif(1, [72.0, 72.0]).expect("a resolution");
        assert_eq!((inches.png().xppu, inches.jpeg().density), (2835, (72, 72)));
    }
}
