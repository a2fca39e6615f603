//! Images as they are meant to be seen.

use super::Picture;
use super::metadata::Resolution;
use ::image::metadata::Orientation;

/// The picture upright.
pub(super) fn turned(p: Picture, orientation: Orientation) -> Picture {
    if orientation == Orientation::NoTransforms {
        return p;
    }
    let (w, h) = (p.width as usize, p.height as usize);
    let size = p.channels as usize * if p.deep { 2 } else { 1 };
    let (width, height) = if orientation.to_exif() > 4 { (p.height, p.width) } else { (p.width, p.height) };
    let mut pixels = Vec::with_capacity(p.pixels.len());
    for (y, x) in (0..height as usize).flat_map(|y| (0..width as usize).map(move |x| (y, x))) {
        let (from_x, from_y) = match orientation {
            Orientation::NoTransforms => (x, y),
            Orientation::FlipHorizontal => (w - 1 - x, y),
            Orientation::Rotate180 => (w - 1 - x, h - 1 - y),
            Orientation::FlipVertical => (x, h - 1 - y),
            Orientation::Rotate90FlipH => (y, x),
            Orientation::Rotate90 => (y, h - 1 - x),
            Orientation::Rotate270FlipH => (w - 1 - y, h - 1 - x),
            Orientation::Rotate270 => (w - 1 - y, x),
        };
        pixels.extend_from_slice(&p.pixels[(from_y * w + from_x) * size..][..size]);
    }
    let mut metadata = p.metadata;
    if orientation.to_exif() > 4 {
        metadata.resolution = metadata.resolution.map(Resolution::swapped);
    }
    Picture { width, height, pixels, metadata, ..p }
}
