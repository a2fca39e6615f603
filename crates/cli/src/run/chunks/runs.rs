//! Sorted runs in temporary files, which have no name: nothing is left of them, however the command ends.

use crate::failure::{Failure, Result};
use std::fs::File;
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// A temporary file that could not be written, or read back.
pub(super) fn unwritable(folder: &Path, e: &io::Error) -> Failure {
    // The temporary file's name means nothing to the user.
    let text = e.to_string();
    let plain = io::Error::new(e.kind(), text.split(" at path ").next().unwrap_or_default());
    Failure::file("keep temporary files in", folder, &plain)
}

/// Sorted runs, one behind the other: keys, and the indices that go with them.
pub(super) struct Runs {
    files: Vec<File>,
    /// Bytes of an element of each file.
    sizes: Vec<u64>,
    /// Where each run ends, in elements.
    pub(super) ends: Vec<u64>,
}

impl Runs {
    /// Elements of run `k` begin here.
    pub(super) fn start(&self, k: usize) -> u64 {
        if k == 0 { 0 } else { self.ends[k - 1] }
    }

    /// Elements from `at` on, of every file.
    pub(super) fn read(&self, at: u64, elements: u64) -> io::Result<Vec<Vec<u8>>> {
        let read = |(mut file, size): (&File, &u64)| {
            file.seek(SeekFrom::Start(at * size))?;
            let mut bytes = vec![0; (elements * size) as usize];
            file.read_exact(&mut bytes)?;
            Ok(bytes)
        };
        self.files.iter().zip(&self.sizes).map(read).collect()
    }
}

/// Runs that are being written.
pub(super) struct Writer<'a> {
    folder: &'a Path,
    files: Vec<BufWriter<File>>,
    sizes: Vec<u64>,
    ends: Vec<u64>,
    written: u64,
}

impl<'a> Writer<'a> {
    /// Files of elements of these sizes.
    pub(super) fn new(folder: &'a Path, sizes: &[u64]) -> Result<Self> {
        let file = |_| tempfile::tempfile_in(folder).map(BufWriter::new).map_err(|e| unwritable(folder, &e));
        let files = sizes.iter().map(file).collect::<Result<_>>()?;
        Ok(Self { folder, files, sizes: sizes.to_vec(), ends: Vec::new(), written: 0 })
    }

    /// More of the run: bytes for each file.
    pub(super) fn write(&mut self, parts: &[Vec<u8>]) -> Result {
        for (file, bytes) in self.files.iter_mut().zip(parts) {
            file.write_all(bytes).map_err(|e| unwritable(self.folder, &e))?;
        }
        self.written += parts.first().map_or(0, Vec::len) as u64 / self.sizes[0];
        Ok(())
    }

    /// The run ends here.
    pub(super) fn end(&mut self) {
        self.ends.push(self.written);
    }

    pub(super) fn done(self) -> Result<Runs> {
        let flushed = |w: BufWriter<File>| w.into_inner().map_err(|e| unwritable(self.folder, e.error()));
        let files = self.files.into_iter().map(flushed).collect::<Result<_>>()?;
        Ok(Runs { files, sizes: self.sizes, ends: self.ends })
    }
}
