//! Host memory as device memory.

use isowarp_core::backend::RawBuffer;
use isowarp_core::error::{Error, Result};
use parking_lot::{RwLock, RwLockReadGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes from which on an allocation is compared with what the machine has.
const LARGE: u64 = 64 << 20;

/// A line of the machine's memory statistics, in bytes; `None` where there are none (they are Linux's).
pub(crate) fn system(line: &str) -> Option<u64> {
    let all = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kib: u64 = all.lines().find_map(|l| l.strip_prefix(line))?.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

/// Bytes of all buffers: every handle on the processor is one device.
static LIVE: AtomicU64 = AtomicU64::new(0);

/// Bytes of all buffers.
pub(crate) fn live() -> u64 {
    LIVE.load(Ordering::Relaxed)
}

/// Bytes that count as long as this is there.
#[derive(Debug)]
struct Counted(u64);

impl Counted {
    fn new(bytes: u64) -> Self {
        LIVE.fetch_add(bytes, Ordering::Relaxed);
        Self(bytes)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        LIVE.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// Bytes behind a lock, aligned for every element type.
#[derive(Clone, Debug)]
pub struct HostBuffer {
    words: Arc<RwLock<Box<[u64]>>>,
    bytes: u64,
    _counted: Arc<Counted>,
}

impl RawBuffer for HostBuffer {
    fn size_bytes(&self) -> u64 {
        self.bytes
    }

    fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.words, &other.words)
    }
}

impl HostBuffer {
    pub(crate) fn new(bytes: u64) -> Result<Self> {
        let oom = || Error::OutOfMemory { requested: bytes, available: system("MemAvailable:") };
        // Linux promises more than it has, and ends a process that takes it at its word.
        if bytes >= LARGE && system("MemAvailable:").is_some_and(|available| bytes > available) {
            return Err(oom());
        }
        let len = usize::try_from(bytes.div_ceil(8)).map_err(|_| oom())?;
        let mut words = Vec::new();
        words.try_reserve_exact(len).map_err(|_| oom())?;
        words.resize(len, 0u64);
        let counted = Arc::new(Counted::new(len as u64 * 8));
        Ok(Self { words: Arc::new(RwLock::new(words.into_boxed_slice())), bytes, _counted: counted })
    }

    /// The words; one thread may hold several of these at once.
    pub(crate) fn lock(&self) -> RwLockReadGuard<'_, Box<[u64]>> {
        self.words.read_recursive()
    }

    fn range(&self, offset: u64, len: u64) -> Result<core::ops::Range<usize>> {
        match offset.checked_add(len) {
            Some(end) if end <= self.bytes => Ok(offset as usize..end as usize),
            _ => Err(Error::OutOfRange { what: "bytes of a buffer", start: offset, end: offset.saturating_add(len), len: self.bytes }),
        }
    }

    pub(crate) fn read(&self, offset: u64, len: u64) -> Result<Vec<u8>> {
        let range = self.range(offset, len)?;
        let words = self.lock();
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        Ok(bytes[range].to_vec())
    }

    pub(crate) fn write(&self, offset: u64, data: &[u8]) -> Result<()> {
        let range = self.range(offset, data.len() as u64)?;
        let mut words = self.words.write();
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        bytes[range].copy_from_slice(data);
        Ok(())
    }
}
