//! Device memory in stream order, without a driver call in the steady state.
//!
//! Small blocks (and all blocks, where the driver has no pools) are kept in free lists by stream and size class: what one
//! call on a stream freed, the next call on it may use at once, because the device runs them in order. Larger blocks go
//! through a driver pool of our own whose memory is never returned to the system while we live. A pool's first block takes 7 ms on an H200,
//! where plain memory takes 0.1: programs that need no large blocks do without it.

use crate::context::Context;
use crate::driver::{DeviceInfo, check, error};
use cudarc::driver::sys::{self, CUdeviceptr, CUmemPool_attribute, CUmemPoolProps, CUmemoryPool, CUresult, CUstream};
use isowarp_core::error::{Error, Result};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ptr;
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
    free: Mutex<HashMap<(usize, u64), Vec<CUdeviceptr>>>,
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
        Ok(Self { pool, memory_bytes: info.memory_bytes, free: Mutex::default() })
    }

    /// A block of at least `bytes`, and its capacity. The context is current.
    pub(crate) fn allocate(&self, home: Home, bytes: u64) -> Result<(CUdeviceptr, u64)> {
        if bytes > self.memory_bytes {
            return Err(Error::OutOfMemory { requested: bytes, available: available() });
        }
        let capacity = self.capacity(bytes);
        if self.caches(capacity)
            && let Some(block) = self.free.lock().get_mut(&(home.slot, capacity)).and_then(Vec::pop)
        {
            return Ok((block, capacity));
        }
        let mut status = self.driver_alloc(home, capacity);
        if matches!(status, Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY)) {
            self.trim()?;
            status = self.driver_alloc(home, capacity);
        }
        match status {
            Ok(block) => Ok((block, capacity)),
            Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY) => Err(Error::OutOfMemory { requested: bytes, available: available() }),
            Err(other) => Err(error("cuMemAlloc", other)),
        }
    }

    /// Takes a block back. Work on its home stream may still use it; the context is current.
    pub(crate) fn release(&self, home: Home, block: CUdeviceptr, capacity: u64) {
        if self.caches(capacity) {
            self.free.lock().entry((home.slot, capacity)).or_default().push(block);
        } else {
            // SAFETY: the block came from the pool and nobody holds it; it is freed behind the work of its stream.
            let _ = unsafe { sys::cuMemFreeAsync(block, home.raw) };
        }
    }

    /// Returns cached memory to the driver. Waits for the device.
    pub(crate) fn trim(&self) -> Result<()> {
        let blocks: Vec<CUdeviceptr> = self.free.lock().drain().flat_map(|(_, blocks)| blocks).collect();
        // Cached blocks are free in the order of their streams only, so work in flight may still use them. Waiting comes after
        // taking: a block that another thread releases meanwhile stays in the cache.
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
        let _ = self.trim();
        if let Some(pool) = self.pool.take() {
            // SAFETY: every block has been freed.
            let _ = unsafe { sys::cuMemPoolDestroy(pool.0) };
        }
    }

    fn caches(&self, capacity: u64) -> bool {
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
    let mut threshold = u64::MAX;
    // SAFETY: `props` is fully initialised, both pointers are live; the attribute's value is a 64-bit integer.
    unsafe {
        check("cuMemPoolCreate", sys::cuMemPoolCreate(&raw mut pool, &raw const props))?;
        let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        check("cuMemPoolSetAttribute", sys::cuMemPoolSetAttribute(pool, attribute, (&raw mut threshold).cast()))?;
    }
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
