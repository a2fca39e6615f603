//! Device memory: handles, a pool of size classes, and windows onto buffers that are longer than a binding may be.

use crate::context::Context;
use crate::faults::{guarded, poll};
use crate::lifetime::Alive;
use crate::probe::web_time;
use isowarp_core::backend::RawBuffer;
use isowarp_core::error::{Error, Result};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// Smallest size class; also a multiple of every copy and binding alignment that WebGPU allows.
const GRAIN: u64 = 256;
/// Above this, classes are 2 MiB apart, so that large arrays waste little.
const LARGE: u64 = 64 << 20;

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
    handle: wgpu::Buffer,
    id: u64,
    capacity: u64,
    /// The last batch that has a command on this memory; survives pooling.
    last_batch: AtomicU64,
    /// None for an application's own buffer.
    _alive: Option<Arc<Alive>>,
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let (Some(slab), Some(pool)) = (self.slab.take(), self.pool.upgrade()) {
            pool.put(slab);
        }
    }
}

impl Buffer {
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

/// Freed memory, kept for reuse by size class. Work is in queue order, so memory may be handed out again at once.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    free: Mutex<Free>,
    next_id: AtomicU64,
    created: AtomicU64,
    created_bytes: AtomicU64,
    limit_bytes: u64,
}

#[derive(Debug, Default)]
struct Free {
    classes: BTreeMap<u64, Vec<Slab>>,
    bytes: u64,
}

impl Pool {
    /// A pool that keeps at most `limit_bytes`.
    pub(crate) fn new(limit_bytes: u64) -> Self {
        Self {
            free: Mutex::default(),
            next_id: AtomicU64::new(1),
            created: AtomicU64::new(0),
            created_bytes: AtomicU64::new(0),
            limit_bytes,
        }
    }

    /// Memory of at least `bytes`, contents undefined.
    pub(crate) fn allocate(self: &Arc<Self>, context: &Context, bytes: u64) -> Result<Buffer> {
        let limit = context.limits.max_buffer_size;
        if bytes > limit {
            return Err(Error::TooLarge { what: "buffer bytes", requested: bytes, limit });
        }
        let capacity = size_class(bytes).min(limit & !3);
        let slab = match self.take(capacity) {
            Some(slab) => slab,
            None => self.create(context, capacity)?,
        };
        Ok(Buffer(Arc::new(Owned { slab: Some(slab), size: bytes, pool: Arc::downgrade(self) })))
    }

    /// A handle on an application's own buffer, which needs the usages STORAGE, `COPY_SRC` and `COPY_DST`.
    pub(crate) fn adopt(self: &Arc<Self>, handle: wgpu::Buffer) -> Result<Buffer> {
        let needed = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        if !handle.usage().contains(needed) {
            let reason = format!("its usages are {:?}, but {needed:?} are needed", handle.usage());
            return Err(Error::InvalidArgument { what: "wgpu buffer", reason });
        }
        let size = handle.size();
        // An application may use it behind our back, so it never counts as untouched by the open batch.
        let slab = Slab { id: self.fresh_id(), capacity: size, last_batch: AtomicU64::new(u64::MAX), handle, _alive: None };
        Ok(Buffer(Arc::new(Owned { slab: Some(slab), size, pool: Weak::new() })))
    }

    fn fresh_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    fn take(&self, capacity: u64) -> Option<Slab> {
        let mut free = self.free.lock();
        let slab = free.classes.get_mut(&capacity)?.pop()?;
        free.bytes -= capacity;
        Some(slab)
    }

    fn put(&self, slab: Slab) {
        let mut free = self.free.lock();
        if free.bytes + slab.capacity <= self.limit_bytes {
            free.bytes += slab.capacity;
            free.classes.entry(slab.capacity).or_default().push(slab);
        }
    }

    /// Gives all unused memory back to the driver.
    pub(crate) fn trim(&self) {
        *self.free.lock() = Free::default();
    }

    /// Buffers asked of the driver so far.
    pub(crate) fn created(&self) -> u64 {
        self.created.load(Ordering::Relaxed)
    }

    /// Bytes of these buffers together.
    pub(crate) fn created_bytes(&self) -> u64 {
        self.created_bytes.load(Ordering::Relaxed)
    }

    /// Bytes kept for reuse.
    pub(crate) fn idle_bytes(&self) -> u64 {
        self.free.lock().bytes
    }

    fn create(&self, context: &Context, capacity: u64) -> Result<Slab> {
        let descriptor = wgpu::BufferDescriptor {
            label: None,
            size: capacity,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::INDIRECT,
            mapped_at_creation: false,
        };
        let attempt = || guarded(&context.device, "create_buffer", capacity, || context.device.create_buffer(&descriptor));
        let clock = web_time();
        let handle = match attempt() {
            Err(Error::OutOfMemory { .. }) => {
                // Freed buffers count until the device is done with them.
                self.trim();
                poll(&context.device, &context.faults, wgpu::PollType::wait_indefinitely())?;
                attempt().map_err(|error| match error {
                    Error::OutOfMemory { requested, .. } => Error::OutOfMemory { requested, available: context.available_bytes() },
                    other => other,
                })?
            }
            other => other?,
        };
        log::trace!("device memory: {capacity} bytes in {:.2} ms", clock().as_secs_f64() * 1e3);
        self.created.fetch_add(1, Ordering::Relaxed);
        self.created_bytes.fetch_add(capacity, Ordering::Relaxed);
        Ok(Slab { handle, id: self.fresh_id(), capacity, last_batch: AtomicU64::new(0), _alive: Some(Arc::clone(&context.alive)) })
    }
}

/// The capacity that a request of `bytes` gets: at most an eighth more, or 2 MiB for large ones.
fn size_class(bytes: u64) -> u64 {
    let bytes = bytes.max(GRAIN);
    let step = if bytes > LARGE { 2 << 20 } else { (bytes.next_power_of_two() / 16).max(GRAIN) };
    bytes.next_multiple_of(step)
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
    fn size_classes_hold_the_request_and_waste_at_most_an_eighth() {
        for bytes in [0, 1, 255, 256, 257, 4096, 5000, 1 << 20, (1 << 20) + 1, LARGE, LARGE + 1, 5 << 30] {
            let class = size_class(bytes);
            assert!(class >= bytes && class.is_multiple_of(GRAIN));
            assert!(class <= bytes.max(GRAIN) + (bytes / 8).max(GRAIN), "{bytes} -> {class}");
            assert_eq!(size_class(class), class);
        }
    }

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
