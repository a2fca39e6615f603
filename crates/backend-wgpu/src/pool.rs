//! Memory that was freed: kept for reuse up to a limit, and counted until the device has done with it where it is not kept.

use crate::batch::Batch;
use crate::binds::BindGroups;
use crate::buffer::{Buffer, Slab};
use crate::context::Context;
use crate::lifetime::Held;
use crate::probe::web_time;
use isowarp_core::error::{Error, Result};
use isowarp_core::host;
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Smallest size class; also a multiple of every copy and binding alignment that WebGPU allows.
const GRAIN: u64 = 256;
/// Above this, classes are 2 MiB apart, so that large arrays waste little.
const LARGE: u64 = 64 << 20;
/// Addresses that a software adapter's driver may take beside a buffer: blocks of memory, code, threads. Where they end it ends the process.
const HOST_SPARE: u64 = 256 << 20;

/// Freed memory, kept for reuse by size class. Work is in queue order, so memory may be handed out again at once.
#[derive(Debug)]
pub(crate) struct Pool {
    free: Mutex<Free>,
    /// Groups that keep memory from being released, and are forgotten with it.
    binds: Arc<Mutex<BindGroups>>,
    /// The last batch that the device has done with.
    done: Arc<AtomicU64>,
    next_id: AtomicU64,
    created: AtomicU64,
    created_bytes: AtomicU64,
    live_bytes: AtomicU64,
    limit_bytes: AtomicU64,
}

#[derive(Debug, Default)]
struct Free {
    /// Slabs by class, the longest idle first, with the count of those that were freed before.
    classes: BTreeMap<u64, VecDeque<(u64, Slab)>>,
    bytes: u64,
    freed: u64,
    /// Bytes that went back to the driver, which releases them when the device has done with this batch.
    leaving: VecDeque<(u64, u64)>,
}

impl Free {
    fn take(&mut self, class: u64) -> Option<Slab> {
        let slabs = self.classes.get_mut(&class)?;
        let (_, slab) = slabs.pop_back()?;
        if slabs.is_empty() {
            self.classes.remove(&class);
        }
        self.bytes -= class;
        Some(slab)
    }

    /// Takes out what has been idle for longest until `room` bytes are left below the limit.
    fn evict(&mut self, room: u64, limit: u64) -> Vec<Slab> {
        let mut out = Vec::new();
        while self.bytes + room > limit {
            let oldest = self.classes.iter().filter_map(|(&class, slabs)| slabs.front().map(|s| (s.0, class))).min();
            let Some((_, class)) = oldest else { break };
            let Some(slabs) = self.classes.get_mut(&class) else { break };
            out.extend(slabs.pop_front().map(|s| s.1));
            if slabs.is_empty() {
                self.classes.remove(&class);
            }
            self.bytes -= class;
        }
        out
    }

    fn leaves(&mut self, batch: u64, bytes: u64) {
        match self.leaving.back_mut() {
            Some(last) if last.0 == batch => last.1 += bytes,
            _ => self.leaving.push_back((batch, bytes)),
        }
    }

    fn leaving_bytes(&mut self, done: u64) -> u64 {
        self.leaving.retain(|l| l.0 > done);
        self.leaving.iter().map(|l| l.1).sum()
    }
}

impl Pool {
    /// A pool that keeps nothing, for the few buffers of a probe.
    pub(crate) fn new(limit_bytes: u64) -> Self {
        Self::of(limit_bytes, &Batch::new())
    }

    /// A pool that keeps at most `limit_bytes` of memory that commands of this batch, and of those after it, use.
    pub(crate) fn of(limit_bytes: u64, batch: &Batch) -> Self {
        Self {
            free: Mutex::default(),
            binds: Arc::clone(batch.bind_groups()),
            done: Arc::clone(batch.done()),
            next_id: AtomicU64::new(1),
            created: AtomicU64::new(0),
            created_bytes: AtomicU64::new(0),
            live_bytes: AtomicU64::new(0),
            limit_bytes: AtomicU64::new(limit_bytes),
        }
    }

    /// Memory of at least `bytes`, contents undefined.
    pub(crate) fn allocate(self: &Arc<Self>, context: &Context, bytes: u64) -> Result<Buffer> {
        if let Some(buffer) = self.reuse(context, bytes)? {
            return Ok(buffer);
        }
        let capacity = capacity(context, bytes)?;
        let slab = self.create(context, capacity)?;
        Ok(self.lend(slab, bytes))
    }

    /// The same without asking the driver; `None` where nothing fits.
    pub(crate) fn reuse(self: &Arc<Self>, context: &Context, bytes: u64) -> Result<Option<Buffer>> {
        let slab = self.free.lock().take(capacity(context, bytes)?);
        Ok(slab.map(|slab| self.lend(slab, bytes)))
    }

    fn lend(self: &Arc<Self>, slab: Slab, bytes: u64) -> Buffer {
        self.live_bytes.fetch_add(slab.capacity, Ordering::Relaxed);
        Buffer::new(slab, bytes, self)
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
        let last_batch = AtomicU64::new(u64::MAX);
        let (handle, last_write) = (Held::new(handle), AtomicU64::new(0));
        Ok(Buffer::new(Slab { id: self.fresh_id(), capacity: size, last_batch, last_write, handle, alive: None }, size, self))
    }

    fn fresh_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Takes back memory that nobody holds any more.
    pub(crate) fn put(&self, slab: Slab) {
        if slab.alive.is_none() {
            return self.release(vec![slab]);
        }
        self.live_bytes.fetch_sub(slab.capacity, Ordering::Relaxed);
        let limit = self.limit();
        let mut free = self.free.lock();
        let released = if slab.capacity > limit {
            vec![slab]
        } else {
            let evicted = free.evict(slab.capacity, limit);
            free.bytes += slab.capacity;
            free.freed += 1;
            let freed = free.freed;
            free.classes.entry(slab.capacity).or_default().push_back((freed, slab));
            evicted
        };
        drop(free);
        self.release(released);
    }

    /// Gives memory back to the driver, with the bind groups that hold it.
    fn release(&self, slabs: Vec<Slab>) {
        for slab in slabs {
            let last = slab.last_batch.load(Ordering::Relaxed).max(slab.last_write.load(Ordering::Relaxed));
            if slab.alive.is_some() && last > self.done.load(Ordering::Relaxed) {
                self.free.lock().leaves(last, slab.capacity);
            }
            // Groups first, and none under the lock: letting them go calls the driver.
            let groups = self.binds.lock().forget(slab.id);
            drop((groups, slab));
        }
    }

    /// Counts memory that the driver has until it has done with this batch.
    pub(crate) fn staged(&self, batch: u64, bytes: u64) {
        self.free.lock().leaves(batch, bytes);
    }

    /// Whether memory that nobody holds, kept or still with the driver, is above the limit: then new memory has to wait for the device.
    pub(crate) fn is_over_limit(&self) -> bool {
        let done = self.done.load(Ordering::Relaxed);
        let mut free = self.free.lock();
        free.bytes + free.leaving_bytes(done) > self.limit()
    }

    /// Gives all unused memory back to the driver.
    pub(crate) fn trim(&self) {
        let slabs = self.free.lock().evict(1, 0);
        self.release(slabs);
    }

    /// Keeps at most so much from now on.
    pub(crate) fn set_limit(&self, bytes: u64) {
        self.limit_bytes.store(bytes, Ordering::Relaxed);
        let slabs = self.free.lock().evict(0, bytes);
        self.release(slabs);
    }

    fn limit(&self) -> u64 {
        self.limit_bytes.load(Ordering::Relaxed)
    }

    /// Buffers asked of the driver so far.
    pub(crate) fn created(&self) -> u64 {
        self.created.load(Ordering::Relaxed)
    }

    /// Bytes of these buffers together.
    pub(crate) fn created_bytes(&self) -> u64 {
        self.created_bytes.load(Ordering::Relaxed)
    }

    /// Bytes that buffers have.
    pub(crate) fn live_bytes(&self) -> u64 {
        self.live_bytes.load(Ordering::Relaxed)
    }

    /// Bytes kept for reuse, and those that the driver has still to release.
    pub(crate) fn idle_bytes(&self) -> (u64, u64) {
        let done = self.done.load(Ordering::Relaxed);
        let mut free = self.free.lock();
        (free.bytes, free.leaving_bytes(done))
    }

    fn create(&self, context: &Context, capacity: u64) -> Result<Slab> {
        let descriptor = wgpu::BufferDescriptor {
            label: None,
            size: capacity,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::INDIRECT,
            mapped_at_creation: false,
        };
        let clock = web_time();
        if context.info.device_type == wgpu::DeviceType::Cpu {
            // A software adapter takes the host's memory: addresses at once, pages when they are written.
            host::room(capacity.saturating_add(HOST_SPARE)).map_err(|_| Error::OutOfMemory { requested: capacity, available: None })?;
        }
        let handle = context.guarded("create_buffer", capacity, || context.device.create_buffer(&descriptor))?;
        log::trace!("device memory: {capacity} bytes in {:.2} ms", clock().as_secs_f64() * 1e3);
        self.created.fetch_add(1, Ordering::Relaxed);
        self.created_bytes.fetch_add(capacity, Ordering::Relaxed);
        let (last_batch, last_write) = (AtomicU64::new(0), AtomicU64::new(0));
        let alive = Some(Arc::clone(&context.alive));
        Ok(Slab { handle: Held::new(handle), id: self.fresh_id(), capacity, last_batch, last_write, alive })
    }
}

/// Returns the capacity that a request of `bytes` gets.
fn capacity(context: &Context, bytes: u64) -> Result<u64> {
    let limit = context.limits.max_buffer_size;
    if bytes > limit {
        return Err(Error::TooLarge { what: "buffer bytes", requested: bytes, limit });
    }
    Ok(size_class(bytes).min(limit & !3))
}

/// The capacity that a request of `bytes` gets: at most an eighth more, or 2 MiB for large ones.
fn size_class(bytes: u64) -> u64 {
    let bytes = bytes.max(GRAIN);
    let step = if bytes > LARGE { 2 << 20 } else { (bytes.next_power_of_two() / 16).max(GRAIN) };
    bytes.next_multiple_of(step)
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
}
