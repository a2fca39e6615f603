//! Scratch memory that a stream keeps: kernels leave it ready for the next launch, so a steady state neither allocates nor clears.

use crate::backend::Cuda;
use crate::memory::Buffer;
use isowarp_core::backend::{Backend as _, RawBuffer as _};
use isowarp_core::error::Result;
use parking_lot::Mutex;

/// Purpose of a piece of scratch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Use {
    /// Partial results of a reduction: contents do not matter.
    Partials,
    /// Counters: zero between patterns.
    Counters,
    /// Header and tile states of scans: zero but for the number of state words in header word 1.
    Scan,
    /// The same of sorts, whose words are tagged otherwise.
    Sort,
    /// Where the blocks of a launch meet: see `together.cuh`.
    Meeting,
}

const USES: usize = 5;
/// Constant tables (filter weights) that are kept.
const CONSTANTS: usize = 16;

/// The scratch of one stream.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    kept: Mutex<Kept>,
}

/// Memory that is kept, by its purpose and by its contents.
#[derive(Debug, Default)]
struct Kept {
    slots: [Option<Buffer>; USES],
    /// Most recently made last.
    constants: Vec<(Vec<u8>, Buffer)>,
    /// Failures of the stream before it was made.
    failures: u64,
}

impl Kept {
    /// Forgets everything where a command has failed: memory may not hold what kernels leave there.
    fn sound(&mut self, cuda: &Cuda) -> &mut Self {
        let failures = cuda.stream().failures();
        if failures != self.failures {
            *self = Self { failures, ..Self::default() };
        }
        self
    }
}

impl Scratch {
    /// The address of at least `bytes` bytes. Grows in steps of two, so that a warm-up with the largest size suffices.
    pub(crate) fn get(&self, cuda: &Cuda, of: Use, bytes: u64) -> Result<u64> {
        cuda.address(&self.buffer(cuda, of, bytes)?, "scratch")
    }

    /// The memory of at least `bytes` bytes, likewise.
    pub(crate) fn buffer(&self, cuda: &Cuda, of: Use, bytes: u64) -> Result<Buffer> {
        let mut kept = self.kept.lock();
        let slot = &mut kept.sound(cuda).slots[of as usize];
        if let Some(buffer) = slot
            && buffer.size_bytes() >= bytes
        {
            return Ok(buffer.clone());
        }
        let bytes = bytes.next_power_of_two().max(4096);
        let buffer = cuda.allocate_bytes(bytes)?;
        if of != Use::Partials {
            cuda.fill(&buffer, 0, bytes, &[0])?;
        }
        if matches!(of, Use::Scan | Use::Sort) {
            let words = bytes / 8 - super::scan::HEADER_WORDS;
            // As fills, which may wait with the launches in front of them.
            cuda.fill(&buffer, 8, 4, &(words as u32).to_le_bytes())?;
            cuda.fill(&buffer, 12, 4, &((words >> 32) as u32).to_le_bytes())?;
        }
        *slot = Some(buffer.clone());
        Ok(buffer)
    }

    /// A small table in device memory, uploaded at its first use.
    pub(crate) fn constant(&self, cuda: &Cuda, bytes: &[u8]) -> Result<Buffer> {
        let mut kept = self.kept.lock();
        let constants = &mut kept.sound(cuda).constants;
        if let Some((_, buffer)) = constants.iter().find(|(known, _)| known == bytes) {
            return Ok(buffer.clone());
        }
        let buffer = cuda.allocate_bytes(bytes.len() as u64)?;
        cuda.write_bytes(&buffer, 0, bytes)?;
        if constants.len() == CONSTANTS {
            constants.remove(0);
        }
        constants.push((bytes.to_vec(), buffer.clone()));
        Ok(buffer)
    }
}
