//! Host memory as device memory.

use bytemuck::Pod;
use isowarp_core::backend::{Out, RawBuffer};
use isowarp_core::error::{Error, Result};
use isowarp_core::host::{self, Promise};
use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
    memory: Arc<Memory>,
    bytes: u64,
}

#[derive(Debug)]
struct Memory {
    words: RwLock<Box<[u64]>>,
    /// Promised bytes: what nobody has written yet is no memory of the machine's.
    promise: Promise,
    _counted: Counted,
}

impl RawBuffer for HostBuffer {
    fn size_bytes(&self) -> u64 {
        self.bytes
    }

    fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.memory, &other.memory)
    }
}

/// Words that are being written.
pub(crate) type Writing<'a> = RwLockWriteGuard<'a, Box<[u64]>>;

/// Writes the elements at these places, one behind the other.
pub(crate) fn write_gathered(out: &Out<HostBuffer>, bytes: &[u8], places: impl IndexedParallelIterator<Item = usize>) -> Result<()> {
    fn write<T: Pod + Send>(out: &Out<HostBuffer>, bytes: &[u8], places: impl IndexedParallelIterator<Item = usize>) -> Result<()> {
        let element = |k: usize| bytemuck::pod_read_unaligned::<T>(&bytes[k * size_of::<T>()..][..size_of::<T>()]);
        out.raw.write(out.offset * size_of::<T>() as u64, bytemuck::cast_slice(&collected(places.map(element))?))
    }
    match out.dtype.size_bytes() {
        1 => write::<u8>(out, bytes, places),
        2 => write::<u16>(out, bytes, places),
        4 => write::<u32>(out, bytes, places),
        _ => write::<u64>(out, bytes, places),
    }
}

/// As `collect`, where memory may end.
pub(crate) fn collected<T: Send>(elements: impl IndexedParallelIterator<Item = T>) -> Result<Vec<T>> {
    let mut all = host::reserved(elements.len() as u64)?;
    elements.collect_into_vec(&mut all);
    Ok(all)
}

impl HostBuffer {
    pub(crate) fn new(bytes: u64) -> Result<Self> {
        let (promise, words) = host::zeros(bytes.div_ceil(8))?;
        let counted = Counted::new(words.len() as u64 * 8);
        Ok(Self { memory: Arc::new(Memory { words: RwLock::new(words.into_boxed_slice()), promise, _counted: counted }), bytes })
    }

    /// The words; one thread may hold several of these at once.
    pub(crate) fn lock(&self) -> RwLockReadGuard<'_, Box<[u64]>> {
        self.memory.words.read_recursive()
    }

    /// The words to write, if nobody else has to do with them now; [`HostBuffer::filled`] follows.
    pub(crate) fn try_write(&self) -> Option<Writing<'_>> {
        self.memory.words.try_write()
    }

    /// Says that the bytes before this one are written.
    pub(crate) fn filled(&self, end: u64) {
        self.memory.promise.filled(end);
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
        host::copied(&bytes[range])
    }

    pub(crate) fn write(&self, offset: u64, data: &[u8]) -> Result<()> {
        let range = self.range(offset, data.len() as u64)?;
        self.put(self.memory.words.write(), range, data);
        Ok(())
    }

    fn put(&self, mut words: Writing<'_>, range: core::ops::Range<usize>, data: &[u8]) {
        let (end, bytes) = (range.end, bytemuck::cast_slice_mut::<u64, u8>(&mut words));
        bytes[range].copy_from_slice(data);
        self.memory.promise.filled(end as u64);
    }

    /// Copies bytes from another buffer, or from another place of this one.
    pub(crate) fn copy(&self, offset: u64, from: &Self, from_offset: u64, len: u64) -> Result<()> {
        let (range, source) = (self.range(offset, len)?, from.range(from_offset, len)?);
        if self.same(from) {
            let mut words = self.memory.words.write();
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
            bytes.copy_within(source, range.start);
            self.memory.promise.filled(range.end as u64);
            return Ok(());
        }
        // Locked in one order whichever way it goes, so that copies there and back never wait for each other.
        let (to, words) = if Arc::as_ptr(&self.memory) < Arc::as_ptr(&from.memory) {
            let to = self.memory.words.write();
            (to, from.lock())
        } else {
            let words = from.lock();
            (self.memory.words.write(), words)
        };
        self.put(to, range, &bytemuck::cast_slice(&words)[source]);
        Ok(())
    }
}
