//! Operations of every backend, for [`Wgpu`].

use super::{Wgpu, check_range, padded};
use crate::buffer::Buffer;
use crate::readback::{READ_CHUNK, ReadBack, wait_for};
use isowarp_core::backend::{Backend, MemoryUsage, RawBuffer as _, ReadFuture};
use isowarp_core::caps::{Caps, Numerics};
use isowarp_core::error::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Bytes from which on a copy runs as a kernel.
const KERNEL_COPY: u64 = 64 << 10;
/// The same where source or destination begins inside a vector: what lies before the destination's first whole one goes by command then. On an H200 a rotation
/// of 2^28 f32 takes 523 us so and 10.1 ms by command, of 2^24 50 and 635, of 2^20 21 and 43, of 2^16 18 and 5.
const ODD_KERNEL_COPY: u64 = 1 << 20;

impl Backend for Wgpu {
    type Raw = Buffer;
    type Event = ();

    fn caps(&self) -> &Caps {
        &self.shared.caps
    }

    fn numerics(&self) -> Numerics {
        self.numerics
    }

    fn with_numerics(&self, numerics: Numerics) -> Self {
        Self { shared: Arc::clone(&self.shared), numerics }
    }

    fn same_device(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    fn allocate_bytes(&self, bytes: u64) -> Result<Buffer> {
        let s = &*self.shared;
        s.context.faults.check_launch()?;
        if let Some(buffer) = s.pool.reuse(&s.context, bytes)? {
            return Ok(buffer);
        }
        self.make_room()?;
        match s.pool.allocate(&s.context, bytes) {
            // Memory counts until the device has done with it.
            Err(Error::OutOfMemory { .. }) => {
                self.trim();
                self.settle()?;
                s.pool.allocate(&s.context, bytes).map_err(|error| match error {
                    Error::OutOfMemory { requested, .. } => Error::OutOfMemory { requested, available: s.context.available_bytes() },
                    other => other,
                })
            }
            other => other,
        }
    }

    fn memory_usage(&self) -> MemoryUsage {
        let usage = self.usage();
        MemoryUsage {
            live_bytes: usage.live_bytes,
            pool_bytes: usage.idle_bytes + usage.leaving_bytes,
            pool_limit_bytes: self.shared.pool_limit.load(Ordering::Relaxed),
        }
    }

    fn set_pool_limit(&self, bytes: u64) -> Result<()> {
        let s = &*self.shared;
        s.pool_limit.store(bytes, Ordering::Relaxed);
        s.pool.set_limit(s.staging.set_limit(bytes));
        Ok(())
    }

    fn write_bytes(&self, dst: &Buffer, offset_bytes: u64, data: &[u8]) -> Result<()> {
        self.upload_bytes(dst, offset_bytes, data)
    }

    fn read_bytes(&self, src: &Buffer, offset_bytes: u64, len_bytes: u64) -> ReadFuture {
        match self.start_read(src, offset_bytes, len_bytes) {
            Ok(Some(read)) => Box::pin(read),
            Ok(None) => Box::pin(std::future::ready(Ok(Vec::new()))),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn read_bytes_blocking(&self, src: &Buffer, offset_bytes: u64, len_bytes: u64) -> Result<Vec<u8>> {
        if len_bytes > 2 * READ_CHUNK {
            return self.read_long(src, offset_bytes, len_bytes);
        }
        self.start_read(src, offset_bytes, len_bytes)?.map_or(Ok(Vec::new()), ReadBack::wait)
    }

    fn copy_bytes(&self, src: &Buffer, src_offset_bytes: u64, dst: &Buffer, dst_offset_bytes: u64, len_bytes: u64) -> Result<()> {
        check_range(src, src_offset_bytes, len_bytes, "copy source")?;
        let len = padded(dst, dst_offset_bytes, len_bytes, "copy destination")?;
        if !src_offset_bytes.is_multiple_of(4) {
            let reason = format!("offset {src_offset_bytes} is not a multiple of four");
            return Err(Error::InvalidArgument { what: "copy source", reason });
        }
        if len == 0 {
            return Ok(());
        }
        let s = &*self.shared;
        if src.same(dst) {
            // WebGPU has no copy inside one buffer.
            let between = self.allocate_bytes(len)?;
            return self.record("copy", |batch| {
                batch.copy(&s.context, (src, src_offset_bytes), (&between, 0), len)?;
                batch.copy(&s.context, (&between, 0), (dst, dst_offset_bytes), len)
            });
        }
        let commanded = |at: u64, bytes: u64| match bytes {
            0 => Ok(()),
            _ => self.record("copy", |batch| batch.copy(&s.context, (src, src_offset_bytes + at), (dst, dst_offset_bytes + at), bytes)),
        };
        // Long copies run as a kernel, which writes whole vectors, but for what is odd at either end.
        let head = (dst_offset_bytes.next_multiple_of(16) - dst_offset_bytes).min(len);
        let whole = (len - head) & !15;
        let aligned = src_offset_bytes.is_multiple_of(16) && dst_offset_bytes.is_multiple_of(16);
        if whole < if aligned { KERNEL_COPY } else { ODD_KERNEL_COPY } {
            return commanded(0, len);
        }
        self.copy_words((src, (src_offset_bytes + head) / 4), (dst, (dst_offset_bytes + head) / 4), whole / 4)?;
        commanded(0, head)?;
        commanded(head + whole, len - head - whole)
    }

    fn synchronize(&self) -> Result<()> {
        let faults = &self.shared.context.faults;
        self.settle()?;
        let outcome = faults.check();
        if outcome.is_err() {
            // State that kernels leave for the next ones may have been dropped with the work that failed.
            self.patterns().forget();
        }
        faults.clear();
        outcome
    }

    fn new_stream(&self) -> Result<Self> {
        Ok(self.clone())
    }

    fn record(&self) -> Result<()> {
        Ok(())
    }

    fn wait(&self, _: &()) -> Result<()> {
        Ok(())
    }

    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<Option<f64>> {
        let s = &*self.shared;
        let mut clock = s.clock.lock();
        let Some(clock) = self.record("timestamp", |batch| clock.start(&s.context, batch))? else {
            work()?;
            self.synchronize()?;
            return Ok(None);
        };
        work()?;
        let index = self.record("timestamp", |batch| clock.stop(&s.context, batch))?;
        clock.read(&s.context, index).map(Some)
    }
}

impl Wgpu {
    /// Submits what was enqueued and waits for it.
    fn settle(&self) -> Result<()> {
        let context = &self.shared.context;
        match self.with_batch("submit", |batch| batch.flush(context))? {
            Some(index) => context.poll(wait_for(index)),
            None => Ok(()),
        }
    }

    /// Waits for the device where memory that nobody holds is above the pool's limit, so that the driver releases it before there is more.
    pub(super) fn make_room(&self) -> Result<()> {
        if self.shared.pool.is_over_limit() { self.settle() } else { Ok(()) }
    }
}
