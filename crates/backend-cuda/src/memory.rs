//! Device memory handles.

use crate::device::{Device, slot_bit};
use crate::pool::Home;
use crate::stream::Stream;
use cudarc::driver::sys::CUdeviceptr;
use isowarp_core::backend::RawBuffer;
use isowarp_core::error::{Error, Result};
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A piece of device memory. Cheap to clone; clones are the same memory, which is freed behind the device's work when the last
/// one goes.
#[derive(Debug, Clone)]
pub struct Buffer(Arc<Block>);

#[derive(Debug)]
struct Block {
    address: CUdeviceptr,
    bytes: u64,
    /// Streams other than the home stream that have used the memory (see [`slot_bit`]).
    used: AtomicU64,
    owner: Owner,
    device: Arc<Device>,
}

enum Owner {
    /// Nothing to free: zero bytes, or memory that the application promised to keep.
    Nobody,
    /// From the device's pool, for the stream in this slot.
    Pool { capacity: u64, home: usize },
    /// Lent; dropping this ends the loan.
    Lender(Option<Arc<dyn Any + Send + Sync>>),
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nobody => f.write_str("Nobody"),
            Self::Pool { capacity, home } => write!(f, "Pool {{ capacity: {capacity}, home: {home} }}"),
            Self::Lender(_) => f.write_str("Lender"),
        }
    }
}

impl Buffer {
    /// Memory for `stream`, with undefined contents.
    pub(crate) fn allocate(stream: &Stream, bytes: u64) -> Result<Self> {
        let device = stream.device();
        if bytes == 0 {
            return Ok(Self::of(device, 0, 0, Owner::Nobody));
        }
        device.bind()?;
        let home = Home { slot: stream.slot(), raw: stream.raw_as_it_is() };
        let (address, capacity) = device.pool.allocate(home, bytes, || device.drain())?;
        Ok(Self::of(device, address, bytes, Owner::Pool { capacity, home: stream.slot() }))
    }

    /// Memory of the application. With a lender, the loan ends (and the lender is dropped) when the last handle has gone and
    /// the device has finished with the memory.
    ///
    /// # Safety
    /// `address` is `bytes` of memory that the device can access; it lives as long as the lender or, without one, until the
    /// device has done all work that uses this buffer.
    pub(crate) unsafe fn borrow(
        device: &Arc<Device>,
        address: CUdeviceptr,
        bytes: u64,
        lender: Option<Arc<dyn Any + Send + Sync>>,
    ) -> Self {
        device.share();
        let owner = if lender.is_some() { Owner::Lender(lender) } else { Owner::Nobody };
        Self::of(device, address, bytes, owner)
    }

    fn of(device: &Arc<Device>, address: CUdeviceptr, bytes: u64, owner: Owner) -> Self {
        Self(Arc::new(Block { address, bytes, used: AtomicU64::new(0), owner, device: Arc::clone(device) }))
    }

    /// The device address of the first byte, for other CUDA libraries; 0 for an empty buffer.
    ///
    /// Work that others enqueue on their own streams is not seen by the buffer: order it with events, and keep the buffer
    /// until it is done.
    #[must_use]
    pub fn device_ptr(&self) -> CUdeviceptr {
        self.0.device.share();
        self.0.address
    }

    /// The device address for work that is about to be enqueued on `stream`. Notes the stream, so that the memory is not
    /// reused before that work is done.
    #[inline]
    pub(crate) fn address_on(&self, stream: &Stream, what: &'static str) -> Result<CUdeviceptr> {
        if !Arc::ptr_eq(&self.0.device, stream.device()) {
            return Err(Error::WrongDevice { what });
        }
        let home = match self.0.owner {
            Owner::Pool { home, .. } => Some(home),
            _ => None,
        };
        if home != Some(stream.slot()) {
            let bit = slot_bit(stream.slot());
            // The load keeps the line shared when the bit is already there.
            if self.0.used.load(Ordering::Relaxed) & bit == 0 {
                self.0.used.fetch_or(bit, Ordering::Relaxed);
            }
        }
        Ok(self.0.address)
    }

    /// As [`Buffer::address_on`], for `len` bytes from `offset` on.
    pub(crate) fn span_on(&self, stream: &Stream, what: &'static str, offset: u64, len: u64) -> Result<CUdeviceptr> {
        let end = offset.saturating_add(len);
        if end > self.0.bytes {
            return Err(Error::OutOfRange { what, start: offset, end, len: self.0.bytes });
        }
        Ok(self.address_on(stream, what)? + offset)
    }
}

impl RawBuffer for Buffer {
    fn size_bytes(&self) -> u64 {
        self.0.bytes
    }

    fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let used = *self.used.get_mut();
        match &mut self.owner {
            Owner::Nobody => {}
            &mut Owner::Pool { capacity, home } => {
                // When the streams cannot be joined the context is lost, and its memory with it.
                if self.device.bind().is_ok() && (used == 0 || self.device.join(home, used).is_ok()) {
                    // Commands that wait come before a block is freed by the driver. One that is kept is used behind them.
                    let keeps = self.device.pool.caches(capacity);
                    let raw = if keeps { self.device.stream_of(home) } else { self.device.drained(home) };
                    self.device.pool.release(Home { slot: home, raw }, self.address, capacity);
                }
            }
            Owner::Lender(lender) => {
                // The lender may free or reuse the memory at once. A lost context runs nothing any more.
                let _ = self.device.synchronize_streams(used);
                drop(lender.take());
            }
        }
    }
}
