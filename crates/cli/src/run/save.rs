//! Results on their way from the device to files, piece by piece, so that the host never holds all of them.

use super::plan::truths;
use crate::failure::Result;
use crate::npy::{self, Array};
use crate::output::{self, Body, Output};
use crate::progress::Progress;
use isowarp::Device;
use isowarp::dynamic::DynBuffer;
use std::io::{self, Write};

/// Bytes of a piece.
const PIECE: u64 = 32 << 20;

/// A result and where it goes.
pub(super) struct Saved<'a> {
    pub(super) device: &'a Device,
    pub(super) output: &'a Output,
    /// Its shape and type in the file.
    pub(super) head: Array,
    pub(super) elements: &'a DynBuffer<Device>,
    /// Whether pairs along the last axis are written as complex numbers.
    pub(super) complex: bool,
}

impl Saved<'_> {
    /// Elements from `start` on as the file has them.
    fn read(&self, start: u64, elements: u64) -> isowarp::Result<Vec<u8>> {
        let of = self.elements;
        let piece = DynBuffer::from_raw(self.device, of.raw().clone(), of.dtype(), of.offset() + start, elements)?;
        let mut bytes = piece.read_blocking()?;
        if self.head.boolean {
            truths(&mut bytes, of.dtype());
        }
        Ok(bytes)
    }

    /// Returns the function that writes the result.
    fn body<'a>(&'a self, progress: &'a Progress) -> Result<impl FnMut(&mut dyn Write) -> io::Result<()> + 'a> {
        let header = match self.complex {
            true => npy::header_of_pairs(&self.head.shape, self.head.dtype),
            false => npy::header_of(&self.head.shape, self.head.dtype, self.head.boolean),
        }?;
        let elements = self.elements.len();
        // An output that cannot be replaced gets nothing before everything is known.
        let step = if self.output.is_file() { PIECE / self.elements.dtype().size_bytes() } else { elements.max(1) };
        Ok(move |w: &mut dyn Write| {
            let read = |start: u64| self.read(start, step.min(elements - start)).map_err(io::Error::other);
            let mut piece = read(0)?;
            w.write_all(&header)?;
            for start in (0..elements).step_by(step as usize) {
                if start > 0 {
                    piece = read(start)?;
                }
                w.write_all(&piece)?;
                progress.advance(piece.len() as u64);
            }
            Ok(())
        })
    }
}

/// Writes results: all of them, or none.
pub(super) fn save(all: &[Saved<'_>]) -> Result {
    let progress = Progress::new("writing", all.iter().map(|saved| saved.elements.size_bytes()).sum());
    let mut bodies = all.iter().map(|saved| saved.body(&progress)).collect::<Result<Vec<_>>>()?;
    let outputs = all.iter().zip(&mut bodies).map(|(saved, body)| (saved.output, body as &mut Body<'_>));
    output::write_all(&mut outputs.collect::<Vec<_>>())
}
