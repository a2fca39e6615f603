//! JPEG files walked code by code. Decoders draw what they can of a damaged file and call it done; here it has to hold what it announces, no less
//! and no more: every segment whole, a code for every block, restarts in their places, the end.
//!
//! What this cannot see is damage after which the codes still fit, as JPEG has no checksum: a changed bit of a coefficient's value.

mod entropy;

use super::metadata::Resolution;
use entropy::{Bits, Table};

/// Why a file is refused.
pub(super) type Result<T = ()> = std::result::Result<T, String>;

/// Parts of the file that were seen on the way.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) components: usize,
    pub(super) resolution: Option<Resolution>,
    pub(super) has_comments: bool,
    /// Bytes after the end of the image.
    pub(super) behind: usize,
}

/// A colour plane.
struct Component {
    id: u8,
    /// Blocks of a unit across and down, where planes are interleaved.
    unit: [usize; 2],
    /// Blocks across and down by themselves, and those that whole units have.
    blocks: [usize; 2],
    padded: [usize; 2],
    /// Whether scans gave the first coefficient.
    has_dc: bool,
    /// Of a progressive image: bit k of a block's word says that coefficient k is not zero.
    nonzero: Vec<u64>,
}

struct Frame {
    progressive: bool,
    units: [usize; 2],
    components: Vec<Component>,
}

#[derive(Default)]
struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    frame: Option<Frame>,
    dc: [Option<Table>; 4],
    ac: [Option<Table>; 4],
    /// Units between restarts; 0 for none.
    interval: usize,
    seen: Seen,
}

/// Walks a whole file.
pub(super) fn walk(bytes: &[u8]) -> Result<Seen> {
    let mut walk = Walk { bytes, at: 2, ..Walk::default() };
    loop {
        match walk.marker()? {
            0xd9 => break,
            0xc0..=0xc2 => walk.frame()?,
            0xc4 => walk.tables()?,
            0xda => walk.scan()?,
            0xdd => walk.interval = walk.segment()?.get(..2).map(be).ok_or("its restart interval is cut")?,
            0xe0 => walk.application()?,
            0xc3 | 0xc5..=0xc7 | 0xc9..=0xcf => return Err("lossless, hierarchical and arithmetic JPEG are not supported".to_owned()),
            0xdc => return Err("JPEG files whose height comes behind the image are not supported".to_owned()),
            0xfe => {
                walk.segment()?;
                walk.seen.has_comments = true;
            }
            0xdb | 0xe1..=0xef => walk.segment().map(drop)?,
            other => return Err(format!("the marker ff{other:02x} is out of place")),
        }
    }
    let frame = walk.frame.as_ref().ok_or("it has no image")?;
    if frame.components.iter().any(|c| !c.has_dc) {
        return Err("a colour plane is missing".to_owned());
    }
    Ok(Seen { components: frame.components.len(), behind: bytes.len() - walk.at, ..walk.seen })
}

fn be(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |n, &b| n << 8 | usize::from(b))
}

impl<'a> Walk<'a> {
    fn byte(&mut self) -> Result<u8> {
        let byte = *self.bytes.get(self.at).ok_or("the file is truncated")?;
        self.at += 1;
        Ok(byte)
    }

    /// The next marker, which may be filled up with ff.
    fn marker(&mut self) -> Result<u8> {
        if self.byte()? != 0xff {
            return Err(format!("there is no marker at byte {}, where one has to be", self.at - 1));
        }
        loop {
            match self.byte()? {
                0xff => {}
                code => return Ok(code),
            }
        }
    }

    /// The bytes of a segment.
    fn segment(&mut self) -> Result<&'a [u8]> {
        let end = self.bytes.get(self.at..self.at + 2).map(be).map(|length| self.at + length).filter(|&end| end >= self.at + 2);
        let segment = end.and_then(|end| self.bytes.get(self.at + 2..end)).ok_or("the file is truncated in a header")?;
        self.at += 2 + segment.len();
        Ok(segment)
    }

    fn application(&mut self) -> Result {
        if let [b'J', b'F', b'I', b'F', 0, _, _, unit, x1, x0, y1, y0, ..] = *self.segment()? {
            let [x, y] = [[x1, x0], [y1, y0]].map(|n| f64::from(u16::from_be_bytes(n)));
            self.seen.resolution = Resolution::of_jfif(unit, [x, y]);
        }
        Ok(())
    }

    fn tables(&mut self) -> Result {
        let mut rest = self.segment()?;
        while let [class, lengths @ ..] = rest {
            let (table, length) = Table::new(lengths).ok_or("a table of codes is damaged")?;
            let tables = if class >> 4 == 0 { &mut self.dc } else { &mut self.ac };
            *tables.get_mut(usize::from(class & 15)).filter(|_| class >> 4 < 2).ok_or("a table of codes is damaged")? = Some(table);
            rest = &lengths[length..];
        }
        Ok(())
    }

    fn frame(&mut self) -> Result {
        let progressive = self.bytes[self.at - 1] == 0xc2;
        let segment = self.segment()?;
        let [precision, h1, h0, w1, w0, count, planes @ ..] = segment else { return Err("its header is cut".to_owned()) };
        if *precision != 8 {
            return Err(format!("it has {precision} bits in a channel, and JPEG files of 8 are supported"));
        }
        let size = [[*w1, *w0], [*h1, *h0]].map(|n| be(&n));
        let planes: Vec<[usize; 3]> = planes.chunks_exact(3).map(|p| [p[0], p[1] >> 4, p[1] & 15].map(usize::from)).collect();
        let most = [1, 2].map(|axis| planes.iter().map(|p| p[axis]).max().unwrap_or(0));
        let fine = planes.iter().all(|p| (1..=4).contains(&p[1]) && (1..=4).contains(&p[2]));
        if self.frame.is_some() || size.contains(&0) || planes.len() != usize::from(*count) || planes.is_empty() || !fine {
            return Err("its header is damaged".to_owned());
        }
        // Decoders that others use read brightness at least as finely sampled as colours.
        if planes.iter().any(|p| p[1] > planes[0][1] || p[2] > planes[0][2]) {
            let all: Vec<String> = planes.iter().map(|p| format!("{}x{}", p[1], p[2])).collect();
            return Err(format!("its colours are sampled more finely than its brightness ({}), which is not supported", all.join(", ")));
        }
        let units = [0, 1].map(|axis| size[axis].div_ceil(8 * most[axis]));
        let components = planes.iter().map(|&[id, h, v]| {
            let unit = [h, v];
            let blocks = [0, 1].map(|axis| (size[axis] * unit[axis]).div_ceil(most[axis]).div_ceil(8));
            let padded = [0, 1].map(|axis| units[axis] * unit[axis]);
            let mut nonzero = Vec::new();
            if progressive {
                let words = padded[0] * padded[1];
                nonzero.try_reserve_exact(words).map_err(|e| e.to_string())?;
                nonzero.resize(words, 0);
            }
            Ok(Component { id: id as u8, unit, blocks, padded, has_dc: false, nonzero })
        });
        self.frame = Some(Frame { progressive, units, components: components.collect::<Result<_>>()? });
        Ok(())
    }

    fn scan(&mut self) -> Result {
        let damaged = || "the header of a scan is damaged".to_owned();
        let header = self.segment()?;
        let mut frame = self.frame.take().ok_or("a scan comes before the header of the image")?;
        let count = usize::from(*header.first().ok_or_else(damaged)?);
        let (Some(planes), Some(&[first, last, bits])) =
            (header.get(1..1 + 2 * count), header.get(1 + 2 * count..).and_then(|rest| rest.first_chunk()))
        else {
            return Err(damaged());
        };
        let mut planes_of_scan = Vec::new();
        for plane in planes.chunks_exact(2) {
            let k = frame.components.iter().position(|c| c.id == plane[0]).ok_or_else(damaged)?;
            planes_of_scan.push((k, usize::from(plane[1] >> 4 & 3), usize::from(plane[1] & 3)));
        }
        let band = entropy::Band { first, last, refines: bits >> 4 != 0, progressive: frame.progressive };
        let fits = if frame.progressive { first <= last && last < 64 && (first == 0) == (last == 0) } else { (first, last) == (0, 63) };
        if count == 0 || count > 4 || !fits || (first > 0 && count > 1) {
            return Err(damaged());
        }
        for &(k, ..) in &planes_of_scan {
            let plane = &mut frame.components[k];
            // A scan of more comes after the first one of the first coefficient, which comes once.
            if (first == 0 && !band.refines) == plane.has_dc {
                return Err("its scans are in no order".to_owned());
            }
            plane.has_dc = true;
        }
        let mut bits = Bits::new(self.bytes, self.at);
        let single = count == 1;
        let size = if single { frame.components[planes_of_scan[0].0].blocks } else { frame.units };
        let mut restarts = 0;
        for n in 0..size[0] * size[1] {
            if self.interval > 0 && n > 0 && n % self.interval == 0 {
                bits.restart(restarts)?;
                restarts = (restarts + 1) % 8;
            }
            let (x, y) = (n % size[0], n / size[0]);
            for &(k, dc, ac) in &planes_of_scan {
                let plane = &mut frame.components[k];
                let unit = if single { [1, 1] } else { plane.unit };
                for (v, h) in (0..unit[1]).flat_map(|v| (0..unit[0]).map(move |h| (v, h))) {
                    let at = (y * unit[1] + v) * plane.padded[0] + x * unit[0] + h;
                    let mut none = 0;
                    let nonzero = plane.nonzero.get_mut(at).unwrap_or(&mut none);
                    bits.block(&band, [self.dc[dc].as_ref(), self.ac[ac].as_ref()], nonzero)?;
                }
            }
        }
        self.at = bits.end()?;
        self.frame = Some(frame);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
