//! Compiled kernels: the driver's JIT, and the cache in front of it.

use crate::context::Context;
use crate::driver::{check, error};
use cudarc::driver::sys::{self, CUfunction, CUfunction_attribute as Attribute, CUjit_option, CUmodule, CUresult};
use isowarp_core::error::{Error, Result};
use parking_lot::RwLock;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use xxhash_rust::xxh3::Xxh3;

/// Bytes of compiler log that are kept.
const LOG_BYTES: usize = 16 << 10;

/// A kernel that is ready to launch. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Kernel(Arc<Loaded>);

#[derive(Debug)]
struct Loaded {
    name: String,
    function: CUfunction,
    module: CUmodule,
    registers: u32,
    shared_bytes: u32,
    local_bytes: u32,
    max_threads: u32,
    dynamic_limit: u32,
    resident: OnceLock<((u32, u32), u32)>,
    context: Arc<Context>,
}

// SAFETY: CUmodule and CUfunction are handles that the driver lets any thread use; the struct is immutable.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}

impl Kernel {
    /// The entry point's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Registers per thread.
    #[must_use]
    pub fn registers(&self) -> u32 {
        self.0.registers
    }

    /// Shared memory that the kernel declares, per block.
    #[must_use]
    pub fn static_shared_bytes(&self) -> u32 {
        self.0.shared_bytes
    }

    /// Shared memory that a launch may add, per block.
    #[must_use]
    pub fn max_dynamic_shared_bytes(&self) -> u32 {
        self.0.dynamic_limit
    }

    /// Stack and spilled registers, per thread.
    #[must_use]
    pub fn local_bytes(&self) -> u32 {
        self.0.local_bytes
    }

    /// Threads that a block of this kernel may have.
    #[must_use]
    pub fn max_threads(&self) -> u32 {
        self.0.max_threads
    }

    /// The driver's handle, for other CUDA libraries.
    #[must_use]
    pub fn raw(&self) -> CUfunction {
        self.0.function
    }

    /// Blocks of `threads` threads that fit on one multiprocessor.
    ///
    /// # Errors
    /// [`Error::Driver`] when the driver refuses.
    pub fn blocks_per_multiprocessor(&self, threads: u32, dynamic_shared_bytes: u32) -> Result<u32> {
        self.0.context.bind()?;
        let mut blocks = 0;
        let threads = i32::try_from(threads).unwrap_or(i32::MAX);
        // SAFETY: the function is live and its context current; `blocks` is live.
        let status = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut blocks, self.0.function, threads, dynamic_shared_bytes as usize)
        };
        check("cuOccupancyMaxActiveBlocksPerMultiprocessor", status)?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    /// As [`Kernel::blocks_per_multiprocessor`]; the driver is asked once, for the block of the first call.
    pub(crate) fn resident_blocks(&self, threads: u32, dynamic_shared_bytes: u32) -> Result<u32> {
        let block = (threads, dynamic_shared_bytes);
        match self.0.resident.get() {
            Some(&(of, blocks)) if of == block => Ok(blocks),
            _ => {
                let blocks = self.blocks_per_multiprocessor(threads, dynamic_shared_bytes)?;
                let _ = self.0.resident.set((block, blocks));
                Ok(blocks)
            }
        }
    }

    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.0.context
    }
}

/// Compiles `ptx` for the context's device and finds `entry` in it. `shared_limit` is what a block may have after opting in, `level` the assembler's
/// optimisation where it is not its own.
pub(crate) fn load(context: &Arc<Context>, (shared_limit, level): (u32, Option<u32>), ptx: &str, entry: &str) -> Result<Kernel> {
    context.bind()?;
    let start = Instant::now();
    let module = compile(ptx, entry, level)?;
    match inspect(context, shared_limit, module, entry) {
        Ok(loaded) => {
            log::debug!(
                "compiled {entry} in {:.1} ms: {} bytes of PTX, {} registers, {} bytes shared, {} bytes local",
                start.elapsed().as_secs_f64() * 1e3,
                ptx.len(),
                loaded.registers,
                loaded.shared_bytes,
                loaded.local_bytes
            );
            Ok(Kernel(Arc::new(loaded)))
        }
        Err(error) => {
            // SAFETY: the module was just loaded and nothing uses it.
            let _ = unsafe { sys::cuModuleUnload(module) };
            Err(error)
        }
    }
}

fn compile(ptx: &str, entry: &str, level: Option<u32>) -> Result<CUmodule> {
    let text = c_string(ptx, entry)?;
    let mut log = vec![0u8; LOG_BYTES];
    let mut options = vec![CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    // Numbers are passed in the pointer itself.
    let mut values: Vec<*mut c_void> = vec![log.as_mut_ptr().cast(), ptr::without_provenance_mut(LOG_BYTES)];
    if let Some(level) = level {
        options.push(CUjit_option::CU_JIT_OPTIMIZATION_LEVEL);
        values.push(ptr::without_provenance_mut(level as usize));
    }
    let mut module = ptr::null_mut();
    // SAFETY: the context is current; text and log outlive the call; both arrays have the stated length.
    let status = unsafe {
        sys::cuModuleLoadDataEx(&raw mut module, text.as_ptr().cast(), options.len() as u32, options.as_mut_ptr(), values.as_mut_ptr())
    };
    if status == CUresult::CUDA_SUCCESS {
        return Ok(module);
    }
    let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
    let log = String::from_utf8_lossy(&log[..end]).trim().to_owned();
    let lost = error("cuModuleLoadDataEx", status);
    if matches!(lost, Error::DeviceLost { .. }) {
        return Err(lost);
    }
    let log = if log.is_empty() { lost.to_string() } else { format!("{lost}\n{log}") };
    Err(Error::Compile { kernel: entry.to_owned(), log })
}

fn inspect(context: &Arc<Context>, shared_limit: u32, module: CUmodule, entry: &str) -> Result<Loaded> {
    let name = c_string(entry, entry)?;
    let mut function = ptr::null_mut();
    // SAFETY: the module is live, its context current; `function` and `name` are live.
    check("cuModuleGetFunction", unsafe { sys::cuModuleGetFunction(&raw mut function, module, name.as_ptr()) })?;
    let attribute = |attribute: Attribute| -> Result<u32> {
        let mut value = 0;
        // SAFETY: the function is live, `value` is live.
        let status = unsafe { sys::cuFuncGetAttribute(&raw mut value, attribute, function) };
        check("cuFuncGetAttribute", status)?;
        Ok(u32::try_from(value).unwrap_or(0))
    };
    let shared_bytes = attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
    let dynamic_limit = shared_limit.saturating_sub(shared_bytes);
    // Opting in once here keeps it out of the launch path; it does not change how much a launch uses.
    let opt_in = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    // SAFETY: the function is live and its context current.
    let status = unsafe { sys::cuFuncSetAttribute(function, opt_in, i32::try_from(dynamic_limit).unwrap_or(0)) };
    check("cuFuncSetAttribute", status)?;
    Ok(Loaded {
        name: entry.to_owned(),
        function,
        module,
        registers: attribute(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
        shared_bytes,
        local_bytes: attribute(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
        max_threads: attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        dynamic_limit,
        resident: OnceLock::new(),
        context: Arc::clone(context),
    })
}

fn c_string(text: &str, kernel: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::Compile { kernel: kernel.to_owned(), log: "the text contains a zero byte".to_owned() })
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // The driver defers the unload of a module whose kernels still run.
        if self.context.bind().is_ok() {
            // SAFETY: the module is live and unloaded once.
            let _ = unsafe { sys::cuModuleUnload(self.module) };
        }
    }
}

/// Key by which a caller knows a kernel, without building its text: a kernel of the library and a hash of the ops in its holes.
pub type KernelKey = (isowarp_kernels::Kernel, u128);

/// The kernels of one device. A hit is one hash look-up under a read lock.
#[derive(Debug, Default)]
pub(crate) struct KernelCache {
    by_key: RwLock<HashMap<KernelKey, Kernel>>,
    by_plan: RwLock<HashMap<u128, Kernel>>,
    by_text: RwLock<HashMap<u128, Kernel>>,
}

impl KernelCache {
    #[inline]
    pub(crate) fn get(&self, key: &KernelKey) -> Option<Kernel> {
        self.by_key.read().get(key).cloned()
    }

    pub(crate) fn insert(&self, key: KernelKey, kernel: Kernel) {
        self.by_key.write().insert(key, kernel);
    }

    #[inline]
    pub(crate) fn planned(&self, key: u128) -> Option<Kernel> {
        self.by_plan.read().get(&key).cloned()
    }

    pub(crate) fn insert_planned(&self, key: u128, kernel: Kernel) {
        self.by_plan.write().insert(key, kernel);
    }

    /// The kernel of a text, compiled by `load` when it is new. Compiling happens outside the lock; of two threads that
    /// compile the same text one result is kept.
    pub(crate) fn of_text(&self, ptx: &str, entry: &str, load: impl FnOnce() -> Result<Kernel>) -> Result<Kernel> {
        let hash = text_hash(ptx, entry);
        if let Some(kernel) = self.by_text.read().get(&hash) {
            return Ok(kernel.clone());
        }
        let kernel = load()?;
        Ok(self.by_text.write().entry(hash).or_insert(kernel).clone())
    }
}

/// The identity of a spliced text and its entry.
fn text_hash(ptx: &str, entry: &str) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&(ptx.len() as u64).to_le_bytes());
    hash.update(ptx.as_bytes());
    hash.update(entry.as_bytes());
    hash.digest128()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boundary_between_text_and_entry_enters_the_hash() {
        assert_ne!(text_hash("ab", "c"), text_hash("a", "bc"));
        assert_eq!(text_hash("ab", "c"), text_hash("ab", "c"));
    }
}
