//! The CPU backend: the executable definition of every pattern, in canonical order.
//!
//! Operators run over blocks of columns ([`Blocks`](isowarp_core::ir::Blocks)) with the bits of the plain evaluator of
//! [`isowarp_core::ir`], spread over the cores with rayon. Every call is done when it returns.

mod launcher;
mod memory;
mod operands;
mod outputs;
mod patterns;
mod threads;

pub use memory::HostBuffer;

use isowarp_core::backend::{Backend, MemoryUsage, ReadFuture};
use isowarp_core::caps::{Caps, DeviceKind, FmaKind, Numerics, NumericsVerdict};
use isowarp_core::element::DType;
use isowarp_core::error::Result;
use isowarp_core::host;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// The processor as a device.
#[derive(Clone, Debug)]
pub struct Cpu {
    caps: Arc<Caps>,
    numerics: Numerics,
}

impl Cpu {
    /// Opens the processor. Always succeeds: where the system grants fewer threads than it has processors, those that it grants compute, and where it
    /// grants none, the thread that first opened the processor does.
    #[must_use]
    pub fn new() -> Self {
        let threads = threads::start() as u32;
        let caps = Caps {
            backend: "cpu",
            device: format!("CPU ({threads} threads)"),
            driver: format!("isowarp-cpu {}", env!("CARGO_PKG_VERSION")),
            kind: DeviceKind::Cpu,
            dtypes: DType::ALL.to_vec(),
            subgroup: (1, 1),
            compute_units: threads,
            l2_bytes: 0,
            memory_bytes: host::total().unwrap_or(0),
            max_buffer_bytes: isize::MAX as u64,
            max_binding_bytes: isize::MAX as u64,
            max_storage_buffers: u32::MAX,
            workgroup_memory_bytes: 0,
            max_workgroup_size: 1,
            max_groups_per_dim: u32::MAX,
            numerics: NumericsVerdict::Strict,
            unproven: Vec::new(),
            loop_turns: None,
            kernel_instructions: None,
            fma: FmaKind::Native,
            timestamps: true,
            chosen: OnceLock::new(),
        };
        Self { caps: Arc::new(caps), numerics: Numerics::Strict }
    }

    /// Memory that this process may still take, by every limit on it; see [`host::available`].
    #[must_use]
    pub fn available_bytes() -> Option<u64> {
        host::available()
    }
}

impl Default for Cpu {
    fn default() -> Self {
        Self::new()
    }
}

impl Backend for Cpu {
    type Raw = HostBuffer;
    type Event = ();

    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn numerics(&self) -> Numerics {
        self.numerics
    }

    fn with_numerics(&self, numerics: Numerics) -> Self {
        Self { numerics, ..self.clone() }
    }

    fn same_device(&self, _other: &Self) -> bool {
        true
    }

    /// The processor keeps nothing of what was freed.
    fn memory_usage(&self) -> MemoryUsage {
        MemoryUsage { live_bytes: memory::live(), pool_bytes: 0, pool_limit_bytes: 0 }
    }

    fn set_pool_limit(&self, _bytes: u64) -> Result<()> {
        Ok(())
    }

    fn allocate_bytes(&self, bytes: u64) -> Result<HostBuffer> {
        HostBuffer::new(bytes)
    }

    fn write_bytes(&self, dst: &HostBuffer, offset_bytes: u64, data: &[u8]) -> Result<()> {
        dst.write(offset_bytes, data)
    }

    fn read_bytes(&self, src: &HostBuffer, offset_bytes: u64, len_bytes: u64) -> ReadFuture {
        let done = src.read(offset_bytes, len_bytes);
        Box::pin(async move { done })
    }

    fn read_bytes_blocking(&self, src: &HostBuffer, offset_bytes: u64, len_bytes: u64) -> Result<Vec<u8>> {
        src.read(offset_bytes, len_bytes)
    }

    fn copy_bytes(&self, src: &HostBuffer, src_offset_bytes: u64, dst: &HostBuffer, dst_offset_bytes: u64, len_bytes: u64) -> Result<()> {
        dst.copy(dst_offset_bytes, src, src_offset_bytes, len_bytes)
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn new_stream(&self) -> Result<Self> {
        Ok(self.clone())
    }

    fn record(&self) -> Result<()> {
        Ok(())
    }

    fn wait(&self, _event: &()) -> Result<()> {
        Ok(())
    }

    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<Option<f64>> {
        let start = Instant::now();
        work()?;
        Ok(Some(start.elapsed().as_secs_f64()))
    }
}
