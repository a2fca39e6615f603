//! The device handle.

use crate::context::Context;
use crate::device::Device;
use crate::driver::{DeviceInfo, Driver, unavailable};
use crate::launch::{self, Args, Extra, Grid};
use crate::memory::Buffer;
use crate::module::{self, Kernel, KernelKey};
use crate::patterns::library_text;
use crate::splice::{Fill, splice};
use crate::stream::{Event, Stream};
use crate::{read, transfer};
use cudarc::driver::sys::CUcontext;
use isowarp_core::backend::{Backend, MemoryUsage, ReadFuture};
use isowarp_core::caps::{Caps, Numerics};
#[cfg(doc)]
use isowarp_core::error::Error;
use isowarp_core::error::Result;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Compute capability that the baseline build of the kernels is for.
const OLDEST: (u32, u32) = (7, 0);

/// An NVIDIA GPU, with the stream that this handle enqueues on. Cheap to clone; clones share the stream.
#[derive(Debug, Clone)]
pub struct Cuda {
    stream: Stream,
    numerics: Numerics,
}

impl Cuda {
    /// Opens a device by its position in [`Cuda::devices`], on its primary context.
    ///
    /// # Errors
    /// [`Error::Unavailable`] without a driver, or without that device.
    pub fn new(ordinal: u32) -> Result<Self> {
        let driver = Driver::load()?;
        Self::on(driver, Context::primary(driver, ordinal)?)
    }

    /// The devices of this machine, in the driver's order.
    ///
    /// # Errors
    /// [`Error::Unavailable`] without a driver or without any device.
    pub fn devices() -> Result<Vec<DeviceInfo>> {
        let devices = Driver::load()?.devices()?;
        if devices.is_empty() {
            return Err(unavailable("the CUDA driver sees no device"));
        }
        Ok(devices)
    }

    /// Adopts a context of the application. It is not destroyed.
    ///
    /// # Errors
    /// [`Error::Unavailable`] without a driver; the driver's own error when the context is not usable.
    ///
    /// # Safety
    /// `context` is live, and stays so until every handle, buffer, event and future made from the result is dropped.
    pub unsafe fn from_context(context: CUcontext) -> Result<Self> {
        let driver = Driver::load()?;
        // SAFETY: the caller's promise.
        Self::on(driver, unsafe { Context::adopt(driver, context)? })
    }

    fn on(driver: Driver, context: Context) -> Result<Self> {
        let (major, minor) = context.describe()?.compute_capability;
        if (major, minor) < OLDEST {
            return Err(unavailable(format!("compute capability {major}.{minor} is older than the kernels of isowarp (7.0)")));
        }
        let device = Device::new(driver, context)?;
        Ok(Self { stream: Stream::new(&device)?, numerics: Numerics::default() })
    }

    pub(crate) fn with_stream(&self, stream: Stream) -> Self {
        Self { stream, numerics: self.numerics }
    }

    pub(crate) fn device(&self) -> &Arc<Device> {
        self.stream.device()
    }

    /// Returns the properties that the driver reports of the device.
    #[must_use]
    pub fn info(&self) -> &DeviceInfo {
        &self.device().info
    }

    /// Returns the time that opening took after the driver had given the context. Kernels are loaded when they are first called.
    #[must_use]
    pub fn setup_time(&self) -> Duration {
        self.device().setup_time
    }

    /// The stream that this handle enqueues on.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Lets launches that look back start numbering themselves anew after `launches` of them, at least 1, instead of 2^32 - 1; for tests
    /// of what happens then. Results are the same.
    pub fn restart_launch_numbers_after(&self, launches: u32) {
        self.device().launch_numbers.store(launches.max(1), Ordering::Relaxed);
    }

    /// Lets no launch's blocks wait for each other any more, as on devices without cooperative launches; for tests of what is launched there instead.
    /// Results are the same.
    pub fn launch_apart(&self) {
        self.device().meets.store(false, Ordering::Relaxed);
    }

    /// A kernel of the library with its holes filled, compiled on first use. `key` is the kernel and a hash of everything
    /// that `fills` would write; the fills are called only when the kernel is new.
    ///
    /// # Errors
    /// [`Error::Compile`] when template and fills do not match or the driver's compiler refuses the result.
    #[inline]
    pub fn kernel(&self, key: KernelKey, fills: &[Fill<'_>]) -> Result<Kernel> {
        match self.device().kernels.get(&key) {
            Some(kernel) => Ok(kernel),
            None => self.build_kernel(key, fills),
        }
    }

    /// The kernel of a key that was built before.
    #[inline]
    pub(crate) fn known_kernel(&self, key: &KernelKey) -> Option<Kernel> {
        self.device().kernels.get(key)
    }

    /// The kernel of a plan that was built before.
    #[inline]
    pub(crate) fn planned_kernel(&self, key: u128) -> Option<Kernel> {
        self.device().kernels.planned(key)
    }

    #[cold]
    pub(crate) fn build_planned(&self, key: u128, of: (&str, &str), fills: &[Fill<'_>]) -> Result<Kernel> {
        let kernel = self.filled(of, fills)?;
        self.device().kernels.insert_planned(key, kernel.clone());
        Ok(kernel)
    }

    #[cold]
    fn build_kernel(&self, key: KernelKey, fills: &[Fill<'_>]) -> Result<Kernel> {
        let template = library_text(key.0, self.info().compute_capability)?;
        let kernel = self.filled((template, key.0.entry()), fills)?;
        self.device().kernels.insert(key, kernel.clone());
        Ok(kernel)
    }

    /// The entry of a template with its holes filled.
    fn filled(&self, (template, entry): (&str, &str), fills: &[Fill<'_>]) -> Result<Kernel> {
        let text = splice(template, entry, fills).map_err(|error| error.into_error(entry))?;
        let device = self.device();
        let settings = (device.info.shared_bytes, device.level);
        device.kernels.of_text(&text, entry, || {
            // Where nothing may wait, nothing is gained.
            if device.may_wait() {
                Ok(module::load_soon(&device.context, settings, text.clone(), entry))
            } else {
                module::load(&device.context, settings, &text, entry)
            }
        })
    }

    /// A kernel from PTX text of the caller, compiled on first use and found again by the text's hash.
    ///
    /// # Errors
    /// [`Error::Compile`] with the compiler's log.
    pub fn kernel_from_ptx(&self, ptx: &str, entry: &str) -> Result<Kernel> {
        let device = self.device();
        let kernel =
            device.kernels.of_text(ptx, entry, || module::load(&device.context, (device.info.shared_bytes, device.level), ptx, entry))?;
        kernel.wait()?;
        Ok(kernel)
    }

    /// The address of a buffer for a kernel that is about to be launched on this handle's stream, for [`Args`].
    ///
    /// # Errors
    /// [`Error::WrongDevice`] when the buffer belongs to another device.
    #[inline]
    pub fn address(&self, buffer: &Buffer, what: &'static str) -> Result<u64> {
        buffer.address_on(&self.stream, what)
    }

    /// Enqueues a kernel. Takes no lock and allocates nothing, so it can be captured in a graph.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for a block that the kernel cannot have; [`Error::DeviceLost`] when an
    /// earlier kernel failed.
    ///
    /// # Safety
    /// The kernel stays inside the memory that `args` names, and that memory is not freed before it has run
    /// ([`Cuda::address`] sees to that while the buffer's handle lives until after this call).
    #[inline]
    pub unsafe fn launch(&self, kernel: &Kernel, grid: Grid, args: &Args) -> Result<()> {
        launch::launch(&self.stream, kernel, grid, args)
    }

    /// As [`Cuda::launch`], with launch attributes and any plain parameter block.
    ///
    /// # Errors
    /// As [`Cuda::launch`].
    ///
    /// # Safety
    /// As [`Cuda::launch`]; `args` has the size and layout of the kernel's one parameter.
    pub unsafe fn launch_with<P: bytemuck::Pod>(&self, kernel: &Kernel, grid: Grid, extra: Extra, args: &P) -> Result<()> {
        launch::launch_with(&self.stream, kernel, grid, extra, args)
    }

    /// Fills `len_bytes` from `offset_bytes` on with repetitions of `pattern`, in stream order.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when the range is not inside the buffer.
    pub fn fill(&self, dst: &Buffer, offset_bytes: u64, len_bytes: u64, pattern: &[u8]) -> Result<()> {
        transfer::fill(&self.stream, dst, offset_bytes, len_bytes, pattern)
    }

    /// Returns cached device memory to the driver. Waits for the device; never needed for correctness, because an allocation
    /// that would fail does it by itself.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] when a kernel failed.
    pub fn trim(&self) -> Result<()> {
        self.device().bind()?;
        self.device().pool.trim(|| self.device().drain())
    }
}

impl Backend for Cuda {
    type Raw = Buffer;
    type Event = Event;

    fn caps(&self) -> &Caps {
        &self.device().caps
    }

    fn numerics(&self) -> Numerics {
        self.numerics
    }

    fn with_numerics(&self, numerics: Numerics) -> Self {
        Self { stream: self.stream.clone(), numerics }
    }

    fn same_device(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.device(), other.device())
    }

    fn memory_usage(&self) -> MemoryUsage {
        // Without its context a device holds nothing that it could tell of.
        let _ = self.device().bind();
        self.device().pool.usage()
    }

    fn set_pool_limit(&self, bytes: u64) -> Result<()> {
        self.device().bind()?;
        self.device().pool.set_limit(bytes, || self.device().drain())
    }

    fn allocate_bytes(&self, bytes: u64) -> Result<Buffer> {
        Buffer::allocate(&self.stream, bytes)
    }

    fn write_bytes(&self, dst: &Buffer, offset_bytes: u64, data: &[u8]) -> Result<()> {
        transfer::upload(&self.stream, dst, offset_bytes, data)
    }

    fn read_bytes(&self, src: &Buffer, offset_bytes: u64, len_bytes: u64) -> ReadFuture {
        read::read(&self.stream, src, offset_bytes, len_bytes)
    }

    fn read_bytes_blocking(&self, src: &Buffer, offset_bytes: u64, len_bytes: u64) -> Result<Vec<u8>> {
        transfer::read_blocking(&self.stream, src, offset_bytes, len_bytes)
    }

    fn copy_bytes(&self, src: &Buffer, src_offset_bytes: u64, dst: &Buffer, dst_offset_bytes: u64, len_bytes: u64) -> Result<()> {
        transfer::copy(&self.stream, src, src_offset_bytes, dst, dst_offset_bytes, len_bytes)
    }

    fn uninterrupted<R>(&self, work: impl FnOnce() -> R) -> R {
        let _turn = self.stream.turn();
        work()
    }

    fn synchronize(&self) -> Result<()> {
        self.stream.synchronize()
    }

    /// The new stream starts behind everything that this one has been given, so that buffers that exist now can be used on it.
    fn new_stream(&self) -> Result<Self> {
        let stream = Stream::new(self.device())?;
        stream.wait(&self.stream.record()?)?;
        Ok(self.with_stream(stream))
    }

    fn record(&self) -> Result<Event> {
        self.stream.record()
    }

    fn wait(&self, event: &Event) -> Result<()> {
        self.stream.wait(event)
    }

    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<Option<f64>> {
        let start = self.stream.record_time()?;
        work()?;
        let end = self.stream.record_time()?;
        end.seconds_since(&start).map(Some)
    }
}
