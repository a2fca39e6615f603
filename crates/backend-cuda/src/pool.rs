//! Device memory in stream order, without a driver call in the steady state.
//!
//! Small blocks (and all blocks, where the driver has no pools) are kept in free lists by stream and size class: what one
//! call on a stream freed, the next call on it may use at once, because the device runs them in order. Larger blocks go
//! through a driver pool of our own, which keeps what was freed. A pool's first block takes 7 ms on an H200,
//! where plain memory takes 0.1: programs that need no large blocks do without it. What both keep together has a limit: the driver's pool returns
//! what is above it to the system at the next synchronisation, and free lists above it are emptied before they grow.

use crate::context::Context;
use crate::driver::{DeviceInfo, check, error};
use cudarc::driver::sys::{self, CUdeviceptr, CUmemPool_attribute, CUmemPoolProps, CUmemoryPool, CUresult, CUstream};
use isowarp_core::backend::MemoryUsage;
use isowarp_core::error::{Error, Result};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Blocks up to this size, or this part of the device's memory, are cached by us even where the driver has pools. Larger ones would strand
/// memory in a class.
const CACHED_BYTES: u64 = 32 << 20;
const CACHED_PART: u64 = 1024;

/// Smallest block; the driver aligns to this anyway.
const MIN_BYTES: u64 = 512;

/// The memory of one device.
#[derive(Debug)]
pub(crate) struct DevicePool {
    pool: Option<Pool>,
    memory_bytes: u64,
    limit_bytes: AtomicU64,
    /// Bytes of blocks that are held: all, and those of the driver's pool.
    live_bytes: AtomicU64,
    pooled_bytes: AtomicU64,
    free: Mutex<Free>,
}

/// Blocks that nobody holds, by stream and size class.
#[derive(Debug, Default)]
struct Free {
    blocks: HashMap<(usize, u64), Vec<CUdeviceptr>>,
    bytes: u64,
}

#[derive(Debug)]
struct Pool(CUmemoryPool);

// SAFETY: a CUmemoryPool is a handle that the driver lets any thread use.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

/// The stream that a block belongs to.
#[derive(Clone, Copy)]
pub(crate) struct Home {
    pub(crate) slot: usize,
    pub(crate) raw: CUstream,
}

impl DevicePool {
    /// The context is current.
    pub(crate) fn new(context: &Context, info: &DeviceInfo) -> Result<Self> {
        let pool = if info.memory_pools { Some(Pool(create(context)?)) } else { None };
        let limit_bytes = AtomicU64::new((info.memory_bytes / 4).max(256 << 20));
        let (live_bytes, pooled_bytes, free) = (AtomicU64::new(0), AtomicU64::new(0), Mutex::default());
        Ok(Self { pool, memory_bytes: info.memory_bytes, limit_bytes, live_bytes, pooled_bytes, free })
    }

    /// Returns the bytes that are held, those that are kept, and the limit of the latter. The context is current.
    pub(crate) fn usage(&self) -> MemoryUsage {
        let (pooled, mut reserved) = (self.pooled_bytes.load(Ordering::Relaxed), 0u64);
        if let Some(pool) = &self.pool {
            let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;
            // SAFETY: the pool is live and the attribute's value is a 64-bit integer.
            let _ = unsafe { sys::cuMemPoolGetAttribute(pool.0, attribute, (&raw mut reserved).cast()) };
        }
        MemoryUsage {
            live_bytes: self.live_bytes.load(Ordering::Relaxed),
            pool_bytes: self.free.lock().bytes + reserved.saturating_sub(pooled),
            pool_limit_bytes: self.limit_bytes.load(Ordering::Relaxed),
        }
    }

    /// Keeps at most so much from now on. The context is current.
    pub(crate) fn set_limit(&self, bytes: u64, drain: impl FnOnce()) -> Result<()> {
        self.limit_bytes.store(bytes, Ordering::Relaxed);
        if self.usage().pool_bytes > bytes { self.trim(drain) } else { self.keep(self.free.lock().bytes) }
    }

    /// Has the driver's pool keep what is held of it, and what the free lists leave of the limit.
    fn keep(&self, cached: u64) -> Result<()> {
        let Some(pool) = &self.pool else { return Ok(()) };
        let rest = self.limit_bytes.load(Ordering::Relaxed).saturating_sub(cached);
        let mut threshold = self.pooled_bytes.load(Ordering::Relaxed).saturating_add(rest);
        let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the pool is live and the attribute's value is a 64-bit integer.
        check("cuMemPoolSetAttribute", unsafe { sys::cuMemPoolSetAttribute(pool.0, attribute, (&raw mut threshold).cast()) })
    }

    /// A block of at least `bytes`, and its capacity. The context is current.
    pub(crate) fn allocate(&self, home: Home, bytes: u64, drain: impl Fn()) -> Result<(CUdeviceptr, u64)> {
        if bytes > self.memory_bytes {
            return Err(Error::OutOfMemory { requested: bytes, available: available() });
        }
        let capacity = self.capacity(bytes);
        if self.caches(capacity) {
            let mut free = self.free.lock();
            if let Some(block) = free.blocks.get_mut(&(home.slot, capacity)).and_then(Vec::pop) {
                free.bytes -= capacity;
                self.live_bytes.fetch_add(capacity, Ordering::Relaxed);
                return Ok((block, capacity));
            }
            let cached = free.bytes;
            drop(free);
            if cached > self.limit_bytes.load(Ordering::Relaxed) {
                self.trim(&drain)?;
            }
        }
        let mut status = self.driver_alloc(home, capacity);
        if matches!(status, Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY)) {
            self.trim(&drain)?;
            status = self.driver_alloc(home, capacity);
        }
        match status {
            Ok(block) => {
                self.live_bytes.fetch_add(capacity, Ordering::Relaxed);
                if !self.caches(capacity) {
                    self.pooled_bytes.fetch_add(capacity, Ordering::Relaxed);
                    self.keep(self.free.lock().bytes)?;
                }
                Ok((block, capacity))
            }
            Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY) => Err(Error::OutOfMemory { requested: bytes, available: available() }),
            Err(other) => Err(error("cuMemAlloc", other)),
        }
    }

    /// Takes a block back. Work on its home stream may still use it; the context is current.
    pub(crate) fn release(&self, home: Home, block: CUdeviceptr, capacity: u64) {
        self.live_bytes.fetch_sub(capacity, Ordering::Relaxed);
        if self.caches(capacity) {
            let mut free = self.free.lock();
            free.blocks.entry((home.slot, capacity)).or_default().push(block);
            free.bytes += capacity;
        } else {
            self.pooled_bytes.fetch_sub(capacity, Ordering::Relaxed);
            // Before the block is freed, so that no synchronisation in between returns more than is above the limit.
            let _ = self.keep(self.free.lock().bytes);
            // SAFETY: the block came from the pool and nobody holds it; it is freed behind the work of its stream.
            let _ = unsafe { sys::cuMemFreeAsync(block, home.raw) };
        }
    }

    /// Returns cached memory to the driver. Waits for the device; `drain` puts on its streams what waits, which may use a block that is kept.
    pub(crate) fn trim(&self, drain: impl FnOnce()) -> Result<()> {
        let blocks: Vec<CUdeviceptr> = std::mem::take(&mut *self.free.lock()).blocks.into_values().flatten().collect();
        // Cached blocks are free in the order of their streams only, so work in flight may still use them. Waiting comes after
        // taking: a block that another thread releases meanwhile stays in the cache.
        drain();
        // SAFETY: the context is current.
        check("cuCtxSynchronize", unsafe { sys::cuCtxSynchronize() })?;
        for block in blocks {
            // SAFETY: nobody holds the block, which cuMemAlloc gave, and the device is idle.
            check("cuMemFree", unsafe { sys::cuMemFree_v2(block) })?;
        }
        if let Some(pool) = &self.pool {
            // SAFETY: the pool is live.
            check("cuMemPoolTrimTo", unsafe { sys::cuMemPoolTrimTo(pool.0, 0) })?;
        }
        Ok(())
    }

    /// Releases everything; nothing of the pool is held any more and the context is current.
    pub(crate) fn clear(&mut self) {
        // Errors leave the memory to the driver, which frees it with the context.
        let _ = self.trim(|| ());
        if let Some(pool) = self.pool.take() {
            // SAFETY: every block has been freed.
            let _ = unsafe { sys::cuMemPoolDestroy(pool.0) };
        }
    }

    /// Whether a block is kept in the free lists.
    pub(crate) fn caches(&self, capacity: u64) -> bool {
        self.pool.is_none() || capacity <= CACHED_BYTES.max(self.memory_bytes / CACHED_PART)
    }

    fn capacity(&self, bytes: u64) -> u64 {
        if self.caches(bytes) { size_class(bytes) } else { bytes }
    }

    fn driver_alloc(&self, home: Home, bytes: u64) -> Result<CUdeviceptr, CUresult> {
        let Ok(size) = usize::try_from(bytes) else {
            return Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        };
        let mut block = 0;
        let start = Instant::now();
        // SAFETY: the context is current, `block` is live, pool and stream belong to the context.
        let status = unsafe {
            match &self.pool {
                Some(pool) if !self.caches(bytes) => sys::cuMemAllocFromPoolAsync(&raw mut block, size, pool.0, home.raw),
                _ => sys::cuMemAlloc_v2(&raw mut block, size),
            }
        };
        log::trace!("device memory: {bytes} bytes in {:.2} ms", start.elapsed().as_secs_f64() * 1e3);
        if status == CUresult::CUDA_SUCCESS { Ok(block) } else { Err(status) }
    }
}

/// A pool of our own rather than the device's default one, whose settings belong to the application.
fn create(context: &Context) -> Result<CUmemoryPool> {
    let props = CUmemPoolProps {
        allocType: sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        handleTypes: sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
        location: sys::CUmemLocation { type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: context.device() },
        win32SecurityAttributes: ptr::null_mut(),
        maxSize: 0,
        reserved: [0; 56],
    };
    let mut pool = ptr::null_mut();
    // SAFETY: `props` is fully initialised, and both pointers are live.
    check("cuMemPoolCreate", unsafe { sys::cuMemPoolCreate(&raw mut pool, &raw const props) })?;
    Ok(pool)
}

/// Free device memory, where the driver tells. The context is current.
fn available() -> Option<u64> {
    let (mut free, mut total) = (0usize, 0usize);
    // SAFETY: both pointers are live.
    let status = unsafe { sys::cuMemGetInfo_v2(&raw mut free, &raw mut total) };
    (status == CUresult::CUDA_SUCCESS).then_some(free as u64)
}

/// The next of four steps per power of two, so that at most a fifth of a block is unused.
pub(crate) fn size_class(bytes: u64) -> u64 {
    if bytes <= MIN_BYTES {
        return MIN_BYTES;
    }
    let step = 1 << (bytes.ilog2() - 2);
    bytes.next_multiple_of(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_class_holds_its_sizes_and_wastes_at_most_a_fifth() {
        for bytes in (0..100_000u64).chain([(32 << 20) - 1, 32 << 20, (32 << 20) + 1]) {
            let class = size_class(bytes);
            assert!(class >= bytes && class.is_multiple_of(128), "{bytes} -> {class}");
            assert_eq!(size_class(class), class, "{bytes}");
            assert!(bytes <= MIN_BYTES || (class - bytes) * 5 <= class, "{bytes} -> {class}");
        }
    }
}
