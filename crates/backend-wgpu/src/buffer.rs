//! Device memory: handles, and windows onto buffers that are longer than a binding may be.

use crate::lifetime::{Alive, Held};
pub(crate) use crate::pool::Pool;
use isowarp_core::backend::RawBuffer;
use isowarp_core::error::{Error, Result};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// Device memory. Clones share it; when the last one goes, the memory may be used again by commands enqueued later.
#[derive(Clone)]
pub struct Buffer(Arc<Owned>);

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("id", &self.0.slab.as_ref().map(|s| s.id)).field("bytes", &self.0.size).finish()
    }
}

struct Owned {
    slab: Option<Slab>,
    size: u64,
    pool: Weak<Pool>,
}

/// One wgpu buffer.
#[derive(Debug)]
pub(crate) struct Slab {
    pub(crate) handle: Held<wgpu::Buffer>,
    pub(crate) id: u64,
    pub(crate) capacity: u64,
    /// The last batch that has a command on this memory; survives pooling.
    pub(crate) last_batch: AtomicU64,
    /// The last batch before whose commands the host writes to this memory; survives pooling too.
    pub(crate) last_write: AtomicU64,
    /// None for an application's own buffer.
    pub(crate) alive: Option<Arc<Alive>>,
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let (Some(slab), Some(pool)) = (self.slab.take(), self.pool.upgrade()) {
            pool.put(slab);
        }
    }
}

impl Buffer {
    pub(crate) fn new(slab: Slab, size: u64, pool: &Arc<Pool>) -> Self {
        Self(Arc::new(Owned { slab: Some(slab), size, pool: Arc::downgrade(pool) }))
    }

    fn slab(&self) -> &Slab {
        // Only `drop` takes the slab out, and there no handle is left.
        match &self.0.slab {
            Some(slab) => slab,
            None => unreachable!("a live buffer handle always owns its memory"),
        }
    }

    /// wgpu's handle, to lend to an application. It may be longer than the buffer.
    #[must_use]
    pub fn as_wgpu(&self) -> &wgpu::Buffer {
        &self.slab().handle
    }

    pub(crate) fn id(&self) -> u64 {
        self.slab().id
    }

    /// Bytes that may be touched: the size rounded up to the class.
    pub(crate) fn capacity(&self) -> u64 {
        self.slab().capacity
    }

    pub(crate) fn touch(&self, batch: u64) {
        self.slab().last_batch.fetch_max(batch, Ordering::Relaxed);
    }

    pub(crate) fn write_before(&self, batch: u64) {
        self.slab().last_write.fetch_max(batch, Ordering::Relaxed);
    }

    pub(crate) fn last_batch(&self) -> u64 {
        self.slab().last_batch.load(Ordering::Relaxed)
    }
}

impl RawBuffer for Buffer {
    fn size_bytes(&self) -> u64 {
        self.0.size
    }

    fn same(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

/// A part of a buffer as one binding sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// Where the binding starts; a multiple of the adapter's offset alignment.
    pub offset_bytes: u64,
    /// Its length; a multiple of four.
    pub size_bytes: u64,
    /// Elements between the start of the binding and the first one asked for.
    pub skip: u64,
    /// Elements asked for that lie in this window.
    pub len: u64,
}

/// The window onto `len` elements from `first` on, or an error where it is longer than a binding may be.
///
/// # Errors
/// [`Error::TooLarge`] above `limit` bytes.
pub fn window(first: u64, len: u64, element_bytes: u64, align: u64, limit: u64) -> Result<Window> {
    let start = first * element_bytes;
    let offset_bytes = start - start % align;
    let size_bytes = ((first + len) * element_bytes - offset_bytes).next_multiple_of(4).max(4);
    if size_bytes > limit {
        return Err(Error::TooLarge { what: "binding bytes", requested: size_bytes, limit });
    }
    // Alignments are powers of two of at least 32, elements at most 8 bytes: no element straddles a window's start.
    Ok(Window { offset_bytes, size_bytes, skip: (start - offset_bytes) / element_bytes, len })
}

/// Cuts `len` elements from `first` on into windows of at most `limit` bytes, none empty.
#[must_use]
pub fn windows(first: u64, len: u64, element_bytes: u64, align: u64, limit: u64) -> Vec<Window> {
    // One alignment unit is kept back, for the part of a window that lies before its first element.
    let step = (limit.saturating_sub(align) / align * align / element_bytes).max(1);
    let mut out = Vec::with_capacity(len.div_ceil(step) as usize);
    let mut at = first;
    while at < first + len {
        let n = step.min(first + len - at);
        out.extend(window(at, n, element_bytes, align, u64::MAX));
        at += n;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_cover_every_element_once_within_the_limit() {
        for (first, len, element, limit) in [(0, 1000, 4, 1024), (3, 1000, 8, 512), (77, 4096, 1, 1024), (0, 0, 4, 1024), (5, 1, 2, 256)] {
            let align = 64;
            let cut = windows(first, len, element, align, limit);
            let mut next = first;
            for w in &cut {
                assert!(w.size_bytes <= limit && w.offset_bytes.is_multiple_of(align) && w.size_bytes.is_multiple_of(4));
                assert_eq!(w.offset_bytes / element + w.skip, next);
                assert!((w.skip + w.len) * element <= w.size_bytes);
                next += w.len;
            }
            assert_eq!(next, first + len);
        }
    }
}
