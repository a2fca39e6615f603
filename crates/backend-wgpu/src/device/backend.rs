//! What every backend can do, for [`Wgpu`].

use super::{Wgpu, check_range, padded};
use crate::buffer::Buffer;
use crate::faults::poll;
use crate::readback::{READ_CHUNK, ReadBack, wait_for};
use isowarp_core::backend::{Backend, RawBuffer as _, ReadFuture};
use isowarp_core::caps::{Caps, Numerics};
use isowarp_core::error::{Error, Result};
use std::sync::Arc;

/// Bytes from which on a copy runs as a kernel.
const KERNEL_COPY: u64 = 64 << 10;

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
        s.context.faults.check()?;
        match s.pool.allocate(&s.context, bytes) {
            // Cached bind groups may hold freed memory: give it up and try once more.
            Err(Error::OutOfMemory { .. }) => {
                self.trim();
                self.synchronize()?;
                s.pool.allocate(&s.context, bytes)
            }
            other => other,
        }
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
        s.context.faults.check()?;
        if src.same(dst) {
            // WebGPU has no copy inside one buffer.
            let between = s.pool.allocate(&s.context, len)?;
            let mut batch = s.batch.lock();
            batch.copy(&s.context, (src, src_offset_bytes), (&between, 0), len)?;
            return batch.copy(&s.context, (&between, 0), (dst, dst_offset_bytes), len);
        }
        // Long copies run as a kernel, but for an odd rest.
        let whole = len & !15;
        let by_kernel = whole >= KERNEL_COPY && src_offset_bytes.is_multiple_of(16) && dst_offset_bytes.is_multiple_of(16);
        let done = if by_kernel { whole } else { 0 };
        if by_kernel {
            self.copy_words((src, src_offset_bytes / 4), (dst, dst_offset_bytes / 4), whole / 4)?;
        }
        if done == len {
            return Ok(());
        }
        s.batch.lock().copy(&s.context, (src, src_offset_bytes + done), (dst, dst_offset_bytes + done), len - done)
    }

    fn synchronize(&self) -> Result<()> {
        let s = &*self.shared;
        let index = s.batch.lock().flush(&s.context)?;
        if let Some(index) = index {
            poll(&s.context.device, &s.context.faults, wait_for(index))?;
        }
        let outcome = s.context.faults.check();
        s.context.faults.clear();
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
        let Some(clock) = clock.start(&s.context, &mut s.batch.lock())? else {
            work()?;
            self.synchronize()?;
            return Ok(None);
        };
        work()?;
        let index = clock.stop(&s.context, &mut s.batch.lock())?;
        clock.read(&s.context, index).map(Some)
    }
}
