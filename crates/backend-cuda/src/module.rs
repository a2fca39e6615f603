//! Compiled kernels: the driver's JIT, and the cache in front of it.

use crate::context::Context;
use crate::driver::{check, error};
use cudarc::driver::sys::{self, CUfunction, CUfunction_attribute as Attribute, CUjit_option, CUlibrary, CUresult};
use isowarp_core::error::{Error, Result};
use isowarp_core::host::Soon;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use xxhash_rust::xxh3::Xxh3;

/// Bytes of compiler log that are kept.
const LOG_BYTES: usize = 16 << 10;

/// A kernel, which the driver may still be assembling. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Kernel(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    name: String,
    loaded: Soon<Loaded>,
    context: Arc<Context>,
}

/// A kernel that is ready to launch. Where the driver refused it, a [`Kernel`] has zeroes for what it would tell.
#[derive(Debug)]
struct Loaded {
    function: CUfunction,
    library: CUlibrary,
    registers: u32,
    shared_bytes: u32,
    local_bytes: u32,
    max_threads: u32,
    dynamic_limit: u32,
    resident: OnceLock<((u32, u32), u32)>,
    context: Arc<Context>,
}

// SAFETY: CUlibrary and CUfunction are handles that the driver lets any thread use; the struct is immutable.
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
        self.loaded().map_or(0, |loaded| loaded.registers)
    }

    /// Shared memory that the kernel declares, per block.
    #[must_use]
    pub fn static_shared_bytes(&self) -> u32 {
        self.loaded().map_or(0, |loaded| loaded.shared_bytes)
    }

    /// Shared memory that a launch may add, per block.
    #[must_use]
    pub fn max_dynamic_shared_bytes(&self) -> u32 {
        self.loaded().map_or(0, |loaded| loaded.dynamic_limit)
    }

    /// Stack and spilled registers, per thread.
    #[must_use]
    pub fn local_bytes(&self) -> u32 {
        self.loaded().map_or(0, |loaded| loaded.local_bytes)
    }

    /// Threads that a block of this kernel may have.
    #[must_use]
    pub fn max_threads(&self) -> u32 {
        self.loaded().map_or(0, |loaded| loaded.max_threads)
    }

    /// The driver's handle, for other CUDA libraries.
    #[must_use]
    pub fn raw(&self) -> CUfunction {
        self.loaded().map_or(ptr::null_mut(), |loaded| loaded.function)
    }

    fn loaded(&self) -> Result<&Loaded> {
        self.0.loaded.wait()
    }

    /// Whether there is nothing to wait for.
    pub(crate) fn is_ready(&self) -> bool {
        self.0.loaded.is_ready()
    }

    /// Waits until the kernel can be launched.
    pub(crate) fn wait(&self) -> Result<()> {
        self.loaded().map(drop)
    }

    /// Whether the driver has refused it; it is assembled anew then.
    fn failed(&self) -> bool {
        self.0.loaded.failed()
    }

    /// Blocks of `threads` threads that fit on one multiprocessor.
    ///
    /// # Errors
    /// [`Error::Driver`] when the driver refuses.
    pub fn blocks_per_multiprocessor(&self, threads: u32, dynamic_shared_bytes: u32) -> Result<u32> {
        let function = self.loaded()?.function;
        self.0.context.bind()?;
        let mut blocks = 0;
        let threads = i32::try_from(threads).unwrap_or(i32::MAX);
        // SAFETY: the function is live and its context current; `blocks` is live.
        let status =
            unsafe { sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut blocks, function, threads, dynamic_shared_bytes as usize) };
        check("cuOccupancyMaxActiveBlocksPerMultiprocessor", status)?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    /// As [`Kernel::blocks_per_multiprocessor`]; the driver is asked once, for the block of the first call.
    pub(crate) fn resident_blocks(&self, threads: u32, dynamic_shared_bytes: u32) -> Result<u32> {
        let block = (threads, dynamic_shared_bytes);
        let resident = &self.loaded()?.resident;
        match resident.get() {
            Some(&(of, blocks)) if of == block => Ok(blocks),
            _ => {
                let blocks = self.blocks_per_multiprocessor(threads, dynamic_shared_bytes)?;
                let _ = resident.set((block, blocks));
                Ok(blocks)
            }
        }
    }

    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.0.context
    }
}

/// Assembler's settings of a device: the shared memory that a block may have after opting in, and the optimisation where it is not the assembler's own.
pub(crate) type Settings = (u32, Option<u32>);

/// Compiles `ptx` for the context's device and finds `entry` in it.
pub(crate) fn load(context: &Arc<Context>, settings: Settings, ptx: &str, entry: &str) -> Result<Kernel> {
    let loaded = assemble(context, settings, ptx, entry)?;
    Ok(Kernel(Arc::new(Inner { name: entry.to_owned(), loaded: Soon::from(Ok(loaded)), context: Arc::clone(context) })))
}

/// The same on a thread of its own, beside others. The driver's errors come where the kernel is waited for.
pub(crate) fn load_soon(context: &Arc<Context>, settings: Settings, ptx: String, entry: &str) -> Kernel {
    let (name, of) = (entry.to_owned(), Arc::clone(context));
    let loaded = Soon::start(move || assemble(&of, settings, &ptx, &name));
    Kernel(Arc::new(Inner { name: entry.to_owned(), loaded, context: Arc::clone(context) }))
}

fn assemble(context: &Arc<Context>, (shared_limit, level): Settings, ptx: &str, entry: &str) -> Result<Loaded> {
    context.bind()?;
    let start = Instant::now();
    let library = compile(ptx, entry, level)?;
    match inspect(context, shared_limit, library, entry) {
        Ok(loaded) => {
            log::debug!(
                "compiled {entry} in {:.1} ms: {} bytes of PTX, {} registers, {} bytes shared, {} bytes local",
                start.elapsed().as_secs_f64() * 1e3,
                ptx.len(),
                loaded.registers,
                loaded.shared_bytes,
                loaded.local_bytes
            );
            Ok(loaded)
        }
        Err(error) => {
            // SAFETY: the library was just loaded and nothing uses it.
            let _ = unsafe { sys::cuLibraryUnload(library) };
            Err(error)
        }
    }
}

/// Options of the driver's assembler, and the log that it writes.
struct Options {
    names: Vec<CUjit_option>,
    values: Vec<*mut c_void>,
    log: Vec<u8>,
}

impl Options {
    fn new(level: Option<u32>) -> Self {
        let mut log = vec![0u8; LOG_BYTES];
        let mut names = vec![CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        // Numbers are passed in the pointer itself.
        let mut values: Vec<*mut c_void> = vec![log.as_mut_ptr().cast(), ptr::without_provenance_mut(LOG_BYTES)];
        if let Some(level) = level {
            names.push(CUjit_option::CU_JIT_OPTIMIZATION_LEVEL);
            values.push(ptr::without_provenance_mut(level as usize));
        }
        Self { names, values, log }
    }

    fn count(&self) -> u32 {
        self.names.len() as u32
    }

    /// The error, with the log.
    fn error(&self, call: &'static str, status: CUresult, entry: &str) -> Error {
        let end = self.log.iter().position(|&byte| byte == 0).unwrap_or(self.log.len());
        let log = String::from_utf8_lossy(&self.log[..end]).trim().to_owned();
        let lost = error(call, status);
        if matches!(lost, Error::DeviceLost { .. }) {
            return lost;
        }
        let log = if log.is_empty() { lost.to_string() } else { format!("{lost}\n{log}") };
        Error::Compile { kernel: entry.to_owned(), log }
    }
}

/// Assembles the text. Threads that do so work at the same time, where those that load modules take turns.
fn compile(ptx: &str, entry: &str, level: Option<u32>) -> Result<CUlibrary> {
    let text = c_string(ptx, entry)?;
    let mut options = Options::new(level);
    let mut library = ptr::null_mut();
    // SAFETY: the context is current; text and log outlive the call; both arrays have the stated length, and there are no options of the library's.
    let status = unsafe {
        let (names, values, none) = (options.names.as_mut_ptr(), options.values.as_mut_ptr(), ptr::null_mut());
        sys::cuLibraryLoadData(&raw mut library, text.as_ptr().cast(), names, values, options.count(), none, ptr::null_mut(), 0)
    };
    if status == CUresult::CUDA_SUCCESS { Ok(library) } else { Err(options.error("cuLibraryLoadData", status, entry)) }
}

fn inspect(context: &Arc<Context>, shared_limit: u32, library: CUlibrary, entry: &str) -> Result<Loaded> {
    let name = c_string(entry, entry)?;
    let (mut kernel, mut function) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the library is live and the context current; `kernel`, `function` and `name` are live.
    unsafe {
        check("cuLibraryGetKernel", sys::cuLibraryGetKernel(&raw mut kernel, library, name.as_ptr()))?;
        check("cuKernelGetFunction", sys::cuKernelGetFunction(&raw mut function, kernel))?;
    }
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
        function,
        library,
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
        // The driver defers the unload of a library whose kernels still run.
        if self.context.bind().is_ok() {
            // SAFETY: the library is live and unloaded once.
            let _ = unsafe { sys::cuLibraryUnload(self.library) };
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
        self.by_key.read().get(key).filter(|kernel| !kernel.failed()).cloned()
    }

    pub(crate) fn insert(&self, key: KernelKey, kernel: Kernel) {
        self.by_key.write().insert(key, kernel);
    }

    #[inline]
    pub(crate) fn planned(&self, key: u128) -> Option<Kernel> {
        self.by_plan.read().get(&key).filter(|kernel| !kernel.failed()).cloned()
    }

    pub(crate) fn insert_planned(&self, key: u128, kernel: Kernel) {
        self.by_plan.write().insert(key, kernel);
    }

    /// The kernel of a text, compiled by `load` when it is new. Compiling happens outside the lock; of two threads that
    /// compile the same text the later result is kept.
    pub(crate) fn of_text(&self, ptx: &str, entry: &str, load: impl FnOnce() -> Result<Kernel>) -> Result<Kernel> {
        let hash = text_hash(ptx, entry);
        if let Some(kernel) = self.by_text.read().get(&hash).filter(|kernel| !kernel.failed()) {
            return Ok(kernel.clone());
        }
        let kernel = load()?;
        self.by_text.write().insert(hash, kernel.clone());
        Ok(kernel)
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
