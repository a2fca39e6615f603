//! The codes of a scan: ITU-T T.81, annexes F.2.2 and G.1.2.

use super::Result;

/// A table of codes.
#[derive(Debug)]
pub(super) struct Table {
    /// By length, from 1: the first code, how many there are, and the place of the first one's value.
    lengths: [(u32, u32, usize); 16],
    values: Vec<u8>,
}

impl Table {
    /// The table of a segment's bytes, and how many of them it takes.
    pub(super) fn new(bytes: &[u8]) -> Option<(Self, usize)> {
        let counts = bytes.first_chunk::<16>()?;
        let (mut code, mut place) = (0u32, 0);
        let mut lengths = [(0, 0, 0); 16];
        for (k, &count) in counts.iter().enumerate() {
            lengths[k] = (code, u32::from(count), place);
            place += usize::from(count);
            code += u32::from(count);
            if code > 1 << (k + 1) {
                return None;
            }
            code <<= 1;
        }
        Some((Self { lengths, values: bytes.get(16..16 + place)?.to_vec() }, 16 + place))
    }
}

/// The coefficients that a scan gives, or refines.
pub(super) struct Band {
    pub(super) first: u8,
    pub(super) last: u8,
    pub(super) refines: bool,
    pub(super) progressive: bool,
}

/// Reads codes up to the next marker.
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Bits that are left of the byte before `at`.
    byte: u8,
    left: u32,
    /// Blocks that have nothing more in this band.
    ended: u32,
}

const DAMAGED: &str = "its image data is damaged: a code that there is not";

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at, byte: 0, left: 0, ended: 0 }
    }

    fn bit(&mut self) -> Result<u32> {
        if self.left == 0 {
            self.byte = *self.bytes.get(self.at).ok_or("the file is truncated in its image data")?;
            self.at += 1;
            if self.byte == 0xff {
                match self.bytes.get(self.at) {
                    Some(0) => self.at += 1,
                    Some(_) => return Err("its image data is damaged: it ends before the image does".to_owned()),
                    None => return Err("the file is truncated in its image data".to_owned()),
                }
            }
            self.left = 8;
        }
        self.left -= 1;
        Ok(u32::from(self.byte >> self.left & 1))
    }

    fn bits(&mut self, count: u8) -> Result<u32> {
        (0..count).try_fold(0, |n, _| Ok(n << 1 | self.bit()?))
    }

    fn code(&mut self, table: Option<&Table>) -> Result<u8> {
        let table = table.ok_or("a table of codes is missing")?;
        let mut code = 0;
        for (first, count, place) in table.lengths {
            code = code << 1 | self.bit()?;
            if code.wrapping_sub(first) < count {
                return table.values.get(place + (code - first) as usize).copied().ok_or_else(|| DAMAGED.to_owned());
            }
        }
        Err(DAMAGED.to_owned())
    }

    /// Where the next marker is, which has to be next.
    pub(super) fn end(&self) -> Result<usize> {
        match (self.ended, self.bytes.get(self.at)) {
            (0, Some(0xff)) if self.bytes.get(self.at + 1) != Some(&0) => Ok(self.at),
            (0, None) => Err("the file is truncated behind its image data".to_owned()),
            _ => Err("its image data is damaged: there is more than the image takes".to_owned()),
        }
    }

    /// Goes on behind the restart marker of this number.
    pub(super) fn restart(&mut self, number: u8) -> Result {
        let mut at = self.end()?;
        while self.bytes.get(at) == Some(&0xff) {
            at += 1;
        }
        if self.bytes.get(at) != Some(&(0xd0 + number)) {
            return Err("its image data is damaged: a restart is missing".to_owned());
        }
        *self = Self::new(self.bytes, at + 1);
        Ok(())
    }

    /// Walks a block; its nonzero coefficients so far are kept where scans refine them.
    pub(super) fn block(&mut self, band: &Band, [dc, ac]: [Option<&Table>; 2], nonzero: &mut u64) -> Result {
        if band.first == 0 {
            if band.refines {
                return self.bit().map(drop);
            }
            match self.code(dc)? {
                size @ 0..=11 => self.bits(size)?,
                _ => return Err(DAMAGED.to_owned()),
            };
        }
        match (band.progressive, band.refines) {
            (false, _) => self.coefficients(ac, 1, 63, None),
            (true, _) if band.last == 0 => Ok(()),
            (true, false) => self.coefficients(ac, band.first, band.last, Some(nonzero)),
            (true, true) => self.refined(ac, band.first, band.last, nonzero),
        }
    }

    /// Coefficients that come for the first time. Runs of ended blocks are for progressive images, which mark what they get.
    fn coefficients(&mut self, ac: Option<&Table>, first: u8, last: u8, mut nonzero: Option<&mut u64>) -> Result {
        if self.ended > 0 {
            self.ended -= 1;
            return Ok(());
        }
        let mut k = first;
        while k <= last {
            let code = self.code(ac)?;
            match (code >> 4, code & 15) {
                (0, 0) => break,
                (15, 0) if k + 15 <= last => k += 16,
                (run @ 1..15, 0) if nonzero.is_some() => {
                    self.ended = (1 << run) - 1 + self.bits(run)?;
                    break;
                }
                (run, size @ 1..=10) if k + run <= last => {
                    self.bits(size)?;
                    if let Some(nonzero) = &mut nonzero {
                        **nonzero |= 1 << (k + run);
                    }
                    k += run + 1;
                }
                _ => return Err(DAMAGED.to_owned()),
            }
        }
        Ok(())
    }

    /// One more bit of coefficients that came, and coefficients that come now.
    fn refined(&mut self, ac: Option<&Table>, first: u8, last: u8, nonzero: &mut u64) -> Result {
        let mut k = first;
        while self.ended == 0 && k <= last {
            let code = self.code(ac)?;
            let (run, comes) = match (code >> 4, code & 15) {
                (run @ 0..15, 0) => {
                    self.ended = (1 << run) + self.bits(run)?;
                    break;
                }
                (run, size @ 0..=1) => (run, size == 1),
                _ => return Err(DAMAGED.to_owned()),
            };
            if comes {
                self.bit()?;
            }
            let mut zeros = run;
            loop {
                if k > last {
                    return Err(DAMAGED.to_owned());
                }
                if *nonzero >> k & 1 == 1 {
                    self.bit()?;
                } else if zeros == 0 {
                    break;
                } else {
                    zeros -= 1;
                }
                k += 1;
            }
            *nonzero |= u64::from(comes) << k;
            k += 1;
        }
        if self.ended > 0 {
            for k in k..=last {
                self.bits((*nonzero >> k & 1) as u8)?;
            }
            self.ended -= 1;
        }
        Ok(())
    }
}
