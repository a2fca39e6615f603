//! The patterns: a file each with the host's side, and what they share: kernels' texts and the windows of their operands.

mod access;
mod accumulator;
mod by_key;
mod dialect;
mod filter;
mod histogram;
mod launcher;
mod map;
mod merge;
mod merge_sort;
mod operands;
mod place;
mod product;
mod program;
mod reduce;
mod scan;
mod segmented_sort;
mod segments;
mod select;
mod sort;
#[cfg(test)]
mod tests;
mod tuning;

use crate::binds::Binding;
use crate::device::Wgpu;
use crate::pipeline::{Kernel, KernelSource};
use crate::probe::matrices::Matrices;
pub(crate) use access::from_words;
use arrayvec::ArrayVec;
pub(crate) use dialect::Dialect;
use isowarp_core::backend::Backend as _;
use isowarp_core::caps::{Capability, DeviceKind};
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::Func;
use isowarp_core::patterns::ScanTask;
use operands::{Args, Limits, MAX};
use parking_lot::Mutex;
use program::Program;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
pub(crate) use tuning::Tuning;
use xxhash_rust::xxh3::Xxh3;

/// A device's kernels by what they compute, so that a repeated call writes no text.
#[derive(Debug, Default)]
pub(crate) struct Kernels {
    ready: Mutex<HashMap<u128, Arc<Kernel>>>,
    /// Kernels of plans.
    planned: Mutex<HashMap<u128, launcher::Ready>>,
    /// The identity of words, which copies.
    copy: OnceLock<Arc<Func>>,
    /// Function that replaces some bits of a word.
    merge: OnceLock<Arc<Func>>,
    /// The scan of what tiles of a reduction by key hand on.
    marks: OnceLock<ScanTask>,
    /// Bytes of a window where they are fewer than the adapter allows (tests), else 0.
    window_bytes: AtomicU64,
    /// State that single-launch scans keep.
    single: Mutex<Option<scan::Single>>,
    /// Workgroups of reductions where tests ask for others than the table's.
    reduce_shape: Mutex<Option<reduce::Shape>>,
    /// Matrix instructions of subgroups, found out when a product first asks for them.
    matrices: Matrices,
    /// Polls of a look-back where tests ask for another number, plus one, else 0.
    patience: AtomicU32,
    /// Dialect that tests take the adapter's arithmetic for, over an `fma` that is made to fit.
    #[cfg(test)]
    dialect: Mutex<Option<Dialect>>,
    /// Invocations and groups of maps where tests ask for others than the table's.
    #[cfg(test)]
    map_shape: Mutex<Option<(u32, u32)>>,
    /// Invocations of look-backs by groups where tests ask for others than the table's.
    #[cfg(test)]
    look_back_threads: Mutex<Option<u32>>,
    /// Whether tests ask for merges that are written out where the table has loops, and for selections of many rows where it has few.
    #[cfg(test)]
    written_out: std::sync::atomic::AtomicBool,
    /// Lanes of subgroups where tests put shared memory in their place, else 0.
    #[cfg(test)]
    width: AtomicU32,
}

impl Kernels {
    /// Forgets what launches leave for later ones.
    pub(crate) fn forget(&self) {
        self.single.lock().take();
    }

    /// Whether tests ask for the form of three launches.
    fn never_looks_back(&self) -> bool {
        self.patience.load(Ordering::Relaxed) == u32::MAX
    }

    /// Lanes of the subgroups that shared memory stands in for.
    #[cfg(test)]
    pub(crate) fn emulated_width(&self) -> Option<u32> {
        Some(self.width.load(Ordering::Relaxed)).filter(|&width| width != 0)
    }

    /// Whether what a merge does to each key of an invocation is a loop.
    fn rolls_merges(&self, tuning: Tuning) -> bool {
        #[cfg(test)]
        if self.written_out.load(Ordering::Relaxed) {
            return false;
        }
        tuning.sort_rolled
    }

    /// Rows, at most, that an invocation of a selection holds.
    fn select_rows(&self, tuning: Tuning) -> u32 {
        #[cfg(test)]
        if self.written_out.load(Ordering::Relaxed) {
            return 8;
        }
        tuning.select_rows
    }

    fn patience(&self) -> Option<u32> {
        self.patience.load(Ordering::Relaxed).checked_sub(1)
    }
}

/// Returns the hash that tells a program's kernel from others.
fn key(program: &Program<'_>) -> u128 {
    let mut h = Xxh3::new();
    program.hash(&mut h);
    h.digest128()
}

/// One dispatch as it is put together.
struct Launch<'a> {
    bindings: ArrayVec<Binding<'a>, MAX>,
    args: Args,
}

impl<'a> Launch<'a> {
    /// Starts with the index of the first element and the kernel's own parameters.
    fn new(base: u64, words: &[u32]) -> Self {
        let mut args = Args::of(&[base as u32, (base >> 32) as u32]);
        words.iter().for_each(|&w| args.push(w));
        Self { bindings: ArrayVec::new(), args }
    }
}

impl Wgpu {
    /// The kernel of a program.
    fn program(&self, pattern: &'static str, program: &Program<'_>) -> Result<Arc<Kernel>> {
        let key = key(program);
        self.ready(key).map_or_else(|| self.build(pattern, program, key), Ok)
    }

    fn ready(&self, key: u128) -> Option<Arc<Kernel>> {
        self.patterns().ready.lock().get(&key).filter(|kernel| !kernel.failed()).cloned()
    }

    fn build(&self, pattern: &'static str, program: &Program<'_>, key: u128) -> Result<Arc<Kernel>> {
        let buffers = program.buffers();
        let caps = self.caps();
        if buffers > caps.max_storage_buffers {
            let capability = Capability::StorageBuffers(buffers);
            return Err(Error::Unsupported { pattern, capability, device: caps.device.clone() });
        }
        let wgsl = program.text(self.dialect())?;
        #[cfg(test)]
        let wgsl = if self.patterns().dialect.lock().is_some() { tests::guarded::over_emulated_fma(self.dialect(), &wgsl) } else { wgsl };
        #[cfg(test)]
        let wgsl = match self.patterns().width.load(Ordering::Relaxed) {
            0 => wgsl,
            width => tests::subgroups::emulate(&wgsl, width),
        };
        let kernel = self.own_kernel(&KernelSource { name: program.entry, wgsl: &wgsl, entry: program.entry });
        let kernel = kernel.map_err(|error| match error {
            Error::Unsupported { capability, device, .. } => Error::Unsupported { pattern, capability, device },
            other => other,
        })?;
        self.patterns().ready.lock().insert(key, Arc::clone(&kernel));
        Ok(kernel)
    }

    fn dialect(&self) -> Dialect {
        let wide = self.report().f64.as_ref();
        #[cfg(test)]
        if let Some(dialect) = *self.patterns().dialect.lock() {
            return dialect;
        }
        let plain = Dialect { int64: self.report().int64 == Some(true), ..Dialect::PLAIN };
        let branches = self.caps().kind != DeviceKind::Cpu;
        Dialect { fma: self.caps().fma, seeds: self.report().seeds, repairs: self.report().repairs, branches, ..plain.with_f64(wide) }
    }

    /// Whether a word of 64 bits is stored and loaded as one, and computes as defined.
    fn has_wide_atomics(&self) -> bool {
        let features = wgpu::Features::SHADER_INT64 | wgpu::Features::SHADER_INT64_ATOMIC_ALL_OPS;
        self.features().contains(features) && self.report().int64 == Some(true)
    }

    /// Invocations of a workgroup: so many if the adapter has them, else as many as every adapter has.
    fn threads(&self, wanted: u32) -> u32 {
        let limits = self.limits();
        let most = limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x);
        if wanted <= most { wanted } else { 256 }
    }

    fn window_limits(&self) -> Limits {
        let asked = self.patterns().window_bytes.load(Ordering::Relaxed);
        // Words of a binding are numbered in 32 bits, and elements of a byte in as many.
        let most = self.caps().max_binding_bytes.min(u64::from(u32::MAX) & !15);
        Limits {
            window_bytes: if asked == 0 { most } else { asked.min(most) },
            align: u64::from(self.limits().min_storage_buffer_offset_alignment).max(16),
        }
    }

    /// Takes the adapter for one with this `fma`, fused or guarded for one that flushes subnormal numbers, and with these seeds.
    /// Sees to it that `fma` is so; that the seeds are good has to be known.
    #[cfg(test)]
    fn emulate(&self, fma: isowarp_core::caps::FmaKind, seeds: crate::probe::Seeds) {
        let dialect = Dialect { fma, seeds, ..self.dialect() };
        *self.patterns().dialect.lock() = Some(dialect);
        self.patterns().ready.lock().clear();
        self.patterns().planned.lock().clear();
    }

    /// Gives maps this many invocations to a workgroup, and groups of four elements to an invocation.
    #[cfg(test)]
    fn shape_maps(&self, threads: u32, groups: u32) {
        *self.patterns().map_shape.lock() = Some((threads, groups));
    }

    /// Makes windows smaller than the adapter would have them.
    #[cfg(test)]
    fn limit_windows(&self, bytes: u64) {
        self.patterns().window_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Enqueues a kernel over this many workgroups.
    fn launch(&self, kernel: &Kernel, launch: &Launch<'_>, groups: u64) -> Result<()> {
        let grid = crate::batch::fold(groups, self.caps().max_groups_per_dim)?;
        self.enqueue(kernel, &launch.bindings, launch.args.bytes(), grid)
    }
}
