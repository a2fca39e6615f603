//! [`Wgpu`]: the handle that users and patterns hold.

mod backend;
mod upload;

use crate::batch::{Batch, Grid};
use crate::binds::Binding;
use crate::buffer::Buffer;
use crate::clock::Clock;
use crate::context::{self, Adapter, Context, Options};
use crate::faults;
use crate::patterns::{Kernels, Tuning};
use crate::pipeline::{Kernel, KernelSource, Pipelines};
use crate::pool::Pool;
use crate::probe::{self, Report};
use crate::readback::{Poller, READ_CHUNK, ReadBack, Staging};
use crate::seal::Indices;
use isowarp_core::backend::RawBuffer as _;
use isowarp_core::caps::{Caps, Numerics, NumericsVerdict};
use isowarp_core::error::{Error, Result};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// A wgpu device. Clones are handles on the same device and queue, may be used from any thread, and keep one order of commands.
#[derive(Clone)]
pub struct Wgpu {
    shared: Arc<Shared>,
    numerics: Numerics,
}

struct Shared {
    pipelines: Pipelines,
    patterns: Kernels,
    tuning: Tuning,
    pool: Arc<Pool>,
    staging: Arc<Staging>,
    poller: Arc<Poller>,
    batch: Mutex<Batch>,
    /// Most bytes that pool and staging may keep together.
    pool_limit: AtomicU64,
    clock: Mutex<Clock>,
    caps: Caps,
    report: Report,
    setup_time: Duration,
    // Dropped last: it keeps the device open.
    context: Arc<Context>,
}

/// The adapter's name and the setting: not the kernels' texts and the pool.
impl fmt::Debug for Wgpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let caps = &self.shared.caps;
        f.debug_struct("Wgpu").field("device", &caps.device).field("driver", &caps.driver).field("numerics", &self.numerics).finish()
    }
}

impl Wgpu {
    /// Opens the best adapter.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where there is none.
    pub async fn new() -> Result<Self> {
        Self::with_options(&Options::default()).await
    }

    /// Opens the best adapter and waits for it.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where there is none.
    pub fn new_blocking() -> Result<Self> {
        pollster::block_on(Self::new())
    }

    /// Opens the adapter that `options` asks for.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where there is none.
    pub async fn with_options(options: &Options) -> Result<Self> {
        let mut last = context::unavailable("no adapter could be opened");
        for adapter in context::asked(options).await? {
            match Self::from_adapter(&adapter, options).await {
                Ok(device) => return Ok(device),
                Err(error) => last = error,
            }
        }
        Err(faults::starved(last))
    }

    /// Opens one of [`crate::adapters`].
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the driver refuses, or panics.
    pub async fn from_adapter(adapter: &Adapter, options: &Options) -> Result<Self> {
        faults::open(async { Self::start(Context::from_adapter(adapter, options).await?).await }).await
    }

    /// Shares an application's device and queue. Its features and limits are what this handle can use, and its error handlers are
    /// left alone. Commands enqueued here reach the queue at the latest with [`Self::submit`].
    ///
    /// Open the device with [`Wgpu::wanted_features`] and [`Wgpu::wanted_limits`] beside what the application needs. On Vulkan, patterns that compute
    /// floats need `PASSTHROUGH_SHADERS` where the driver contracts or flushes (most do): without it they are [`Error::NotStrict`]. `SHADER_INT64`
    /// and `SHADER_F64` are element types. The others make kernels faster. [`Device::describe`](https://docs.rs/isowarp/latest/isowarp/enum.Device.html) and
    /// errors name those of the three that the device was opened without.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] of a device that was lost or destroyed, [`Error::Unavailable`] where the driver panics, and whatever else the start-up probe
    /// meets.
    pub async fn from_device(device: wgpu::Device, queue: wgpu::Queue) -> Result<Self> {
        faults::open(async {
            let context = Context::from_device(device, queue, true);
            context.faults.check()?;
            Self::start(context).await
        })
        .await
    }

    /// The features that kernels have faster or wider forms for, as far as the adapter has them: what an application's device that is to be shared
    /// should be opened with.
    #[must_use]
    pub fn wanted_features(adapter: &wgpu::Adapter) -> wgpu::Features {
        adapter.features() & context::useful_features()
    }

    /// The adapter's own limits: buffers, bindings and workgroups as large as it has them. Kernels make do with less; what none of them can do is
    /// [`Error::Unsupported`] or [`Error::TooLarge`].
    #[must_use]
    pub fn wanted_limits(adapter: &wgpu::Adapter) -> wgpu::Limits {
        adapter.limits()
    }

    async fn start(mut context: Context) -> Result<Self> {
        let taken = probe::web_time();
        let mut report = probe::run(&mut context).await?;
        if context.missing.contains(wgpu::Features::PASSTHROUGH_SHADERS) {
            let verdict = if let NumericsVerdict::Unproven { witness } = &mut report.numerics { Some(witness) } else { None };
            for witness in verdict.into_iter().chain(report.unproven.iter_mut().map(|(_, witness)| witness)) {
                witness.push_str("; `Wgpu::wanted_features` says what to open the device with");
            }
        }
        let caps = probe::caps(&context, &report);
        let pool_limit = context.pool_bytes.unwrap_or((caps.memory_bytes / 4).max(256 << 20));
        let context = Arc::new(context);
        let (batch, staging) = (Batch::new(), Staging::default());
        let pool = Arc::new(Pool::of(staging.set_limit(pool_limit), &batch));
        let shared = Shared {
            pipelines: Pipelines::default(),
            patterns: Kernels::default(),
            tuning: Tuning::of(&context, &report),
            pool,
            staging: Arc::new(staging),
            poller: Arc::default(),
            batch: Mutex::new(batch),
            pool_limit: AtomicU64::new(pool_limit),
            clock: Mutex::new(Clock::new(&context)),
            caps,
            report,
            setup_time: taken(),
            context,
        };
        Ok(Self { shared: Arc::new(shared), numerics: Numerics::Strict })
    }

    /// Returns the measurements of the start-up probe.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.shared.report
    }

    /// Returns the time that opening took after the driver had given the device: the start-up probe, and what is kept ready.
    #[must_use]
    pub fn setup_time(&self) -> Duration {
        self.shared.setup_time
    }

    /// WGSL that defines `iw_fma(a, b, c)` for this adapter; put it in front of a kernel.
    #[must_use]
    pub fn fma_prelude(&self) -> &'static str {
        probe::fma_prelude(self.shared.caps.fma)
    }

    /// Returns the context that the device is made of.
    pub(crate) fn context(&self) -> &Context {
        &self.shared.context
    }

    /// wgpu's device, for sharing.
    #[must_use]
    pub fn device(&self) -> &wgpu::Device {
        &self.shared.context.device
    }

    /// Bytes of the adapter's own memory that this process may still have, where the driver keeps count (`VK_EXT_memory_budget`).
    #[must_use]
    pub fn available_bytes(&self) -> Option<u64> {
        self.shared.context.available_bytes()
    }

    /// wgpu's queue, for sharing. Call [`Self::submit`] before submitting work that reads this library's results.
    #[must_use]
    pub fn queue(&self) -> &wgpu::Queue {
        &self.shared.context.queue
    }

    /// The features that the device was opened with.
    #[must_use]
    pub fn features(&self) -> wgpu::Features {
        self.shared.context.features
    }

    /// The device's limits.
    #[must_use]
    pub fn limits(&self) -> &wgpu::Limits {
        &self.shared.context.limits
    }

    /// The kernel of a text, compiled at the first call.
    ///
    /// # Errors
    /// [`Error::Compile`] with the compiler's message; [`Error::Unsupported`] above a limit of the device.
    pub fn kernel(&self, source: &KernelSource<'_>) -> Result<Arc<Kernel>> {
        self.shared.context.faults.check()?;
        self.shared.pipelines.get(&self.shared.context, source)
    }

    /// The same of one of this library, whose indices stay inside its arrays of fixed size, and which writes what it reads of workgroup memory. The unit
    /// tests show it: there an index outside is a trap.
    pub(crate) fn own_kernel(&self, source: &KernelSource<'_>) -> Result<Arc<Kernel>> {
        self.shared.context.faults.check_launch()?;
        let indices = if cfg!(test) { Indices::Trapped } else { Indices::Trusted };
        self.shared.pipelines.get_soon(&self.shared.context, source, indices)
    }

    /// Enqueues a kernel over `grid` workgroups. A buffer may be bound more than once; where one binding reads and another writes, the
    /// parts must not overlap.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where the arguments do not fit the kernel, [`Error::TooLarge`] above a limit.
    pub fn dispatch(&self, kernel: &Kernel, bindings: &[Binding<'_>], params: &[u8], grid: Grid) -> Result<()> {
        self.shared.context.faults.check()?;
        self.enqueue(kernel, bindings, params, grid)
    }

    /// The same of a pattern's kernels.
    pub(crate) fn enqueue(&self, kernel: &Kernel, bindings: &[Binding<'_>], params: &[u8], grid: Grid) -> Result<()> {
        let s = &*self.shared;
        self.record("dispatch", |batch| batch.dispatch(&s.context, &s.pipelines, kernel, bindings, params, grid))
    }

    /// Records commands, unless the device is lost or earlier work failed.
    fn record<T>(&self, call: &'static str, work: impl FnOnce(&mut Batch) -> Result<T>) -> Result<T> {
        self.shared.context.faults.check_launch()?;
        self.with_batch(call, work)
    }

    /// The open batch, for calls of the driver.
    fn with_batch<T>(&self, call: &'static str, work: impl FnOnce(&mut Batch) -> Result<T>) -> Result<T> {
        let s = &*self.shared;
        let mut batch = s.batch.lock();
        s.context.cross(call, || work(&mut batch))?
    }

    /// The patterns' kernels.
    pub(crate) fn patterns(&self) -> &Kernels {
        &self.shared.patterns
    }

    /// The patterns that walk their trees in subgroups here; the others do so in shared memory, with the same results.
    #[must_use]
    pub fn patterns_in_subgroups(&self) -> Vec<&'static str> {
        let tuning = self.tuning();
        let forms = [
            ("reduce", tuning.reduces_in_subgroups(1)),
            ("reduce of several words", tuning.reduces_in_subgroups(2)),
            ("scan", tuning.scan_in_subgroups),
            ("sort", tuning.sort_in_subgroups),
        ];
        forms.into_iter().filter_map(|(pattern, on)| on.then_some(pattern)).collect()
    }

    /// Fewest and most lanes that a subgroup may have.
    pub(crate) fn subgroup_widths(&self) -> (u32, u32) {
        let info = &self.shared.context.info;
        #[cfg(test)]
        if let Some(width) = self.patterns().emulated_width() {
            return (width, width);
        }
        (info.subgroup_min_size, info.subgroup_max_size)
    }

    /// Returns the tuning: the forms of the patterns that suit the adapter.
    pub(crate) fn tuning(&self) -> Tuning {
        self.shared.tuning
    }

    /// Zeroes bytes, in stream order. Offset and length are multiples of four.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] outside the buffer.
    pub fn clear(&self, dst: &Buffer, offset_bytes: u64, len_bytes: u64) -> Result<()> {
        let len = padded(dst, offset_bytes, len_bytes, "clear")?;
        if len == 0 {
            return Ok(());
        }
        self.record("clear", |batch| batch.clear(&self.shared.context, dst, offset_bytes, len))
    }

    /// Hands everything enqueued so far to the device without waiting.
    ///
    /// # Errors
    /// Any error that the driver reports about it.
    pub fn submit(&self) -> Result<()> {
        self.shared.context.faults.check()?;
        self.record("submit", |batch| batch.flush(&self.shared.context)).map(drop)
    }

    /// A handle on an application's own buffer of the same device, with the usages STORAGE, `COPY_SRC` and `COPY_DST`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where a usage is missing.
    pub fn adopt(&self, buffer: wgpu::Buffer) -> Result<Buffer> {
        self.shared.pool.adopt(buffer)
    }

    /// Gives memory that is kept for reuse back to the driver.
    pub fn trim(&self) {
        self.shared.pool.trim();
        self.shared.staging.trim();
    }

    /// Sizes of the caches and counts of what costs time, to see that a loop has reached a steady state.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let (idle, leaving_bytes) = self.shared.pool.idle_bytes();
        Usage {
            kernels: self.shared.pipelines.len(),
            bind_groups: self.shared.batch.lock().bind_groups().lock().len(),
            live_bytes: self.shared.pool.live_bytes(),
            idle_bytes: idle + self.shared.staging.idle_bytes(),
            leaving_bytes,
            created: self.shared.pool.created(),
            created_bytes: self.shared.pool.created_bytes(),
            waits: self.shared.context.faults.waits(),
        }
    }

    fn start_read(&self, src: &Buffer, offset: u64, len: u64) -> Result<Option<ReadBack>> {
        check_range(src, offset, len, "read")?;
        let s = &*self.shared;
        s.context.faults.check()?;
        if len == 0 {
            return Ok(None);
        }
        let from = offset & !3;
        let span = (offset + len - from).next_multiple_of(4);
        let staging = s.staging.take(&s.context, span)?;
        let index = self.with_batch("read", |batch| {
            batch.copy_out(&s.context, (src, from), &staging, span)?;
            batch.flush(&s.context)
        })?;
        let lost = || Error::Driver { call: "Queue::submit", message: "nothing was submitted".to_owned() };
        let index = index.ok_or_else(lost)?;
        let parts = (&s.context, &s.staging, &s.poller);
        ReadBack::start(parts, staging, index, (offset - from) as usize, len as usize).map(Some)
    }

    /// Reads chunk by chunk, with the device one chunk ahead, through staging memory that is kept for the next time.
    fn read_long(&self, src: &Buffer, offset: u64, len: u64) -> Result<Vec<u8>> {
        check_range(src, offset, len, "read")?;
        let mut out = isowarp_core::host::zeroed::<u8>(len)?;
        let mut ahead = self.start_read(src, offset, READ_CHUNK.min(len))?;
        let mut at = offset;
        for part in out.chunks_mut(READ_CHUNK as usize) {
            at += part.len() as u64;
            let next = self.start_read(src, at, READ_CHUNK.min(offset + len - at))?;
            if let Some(read) = std::mem::replace(&mut ahead, next) {
                read.wait_into(part)?;
            }
        }
        Ok(out)
    }
}

/// See [`Wgpu::usage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Kernels compiled.
    pub kernels: usize,
    /// Bind groups kept.
    pub bind_groups: usize,
    /// Bytes of device memory that buffers have.
    pub live_bytes: u64,
    /// Bytes of freed device memory kept for reuse, and of host-visible memory for read-backs.
    pub idle_bytes: u64,
    /// Bytes that the driver releases when the device has done what was enqueued: memory that was freed and is not kept, and copies of uploads.
    /// Together with the idle ones they stay below the pool's limit.
    pub leaving_bytes: u64,
    /// Buffers that the driver was asked for.
    pub created: u64,
    /// Bytes that they have together, given back or not.
    pub created_bytes: u64,
    /// Number of waits for the device.
    pub waits: u64,
}

impl Usage {
    /// Returns the usage without `leaving_bytes`, which fall as the device makes progress: a loop that allocates nothing leaves the rest unchanged.
    #[must_use]
    pub fn settled(self) -> Self {
        Self { leaving_bytes: 0, ..self }
    }
}

fn check_range(buffer: &Buffer, offset: u64, len: u64, what: &'static str) -> Result<()> {
    let size = buffer.size_bytes();
    match offset.checked_add(len) {
        Some(end) if end <= size => Ok(()),
        end => Err(Error::OutOfRange { what, start: offset, end: end.unwrap_or(u64::MAX), len: size }),
    }
}

/// Checks a range that is written whole words at a time; a range that ends with the buffer may run into its padding.
fn padded(buffer: &Buffer, offset: u64, len: u64, what: &'static str) -> Result<u64> {
    check_range(buffer, offset, len, what)?;
    let at_end = offset + len == buffer.size_bytes() && (offset + len).next_multiple_of(4) <= buffer.capacity();
    if offset.is_multiple_of(4) && (len.is_multiple_of(4) || at_end) {
        return Ok(len.next_multiple_of(4));
    }
    let reason = format!("bytes {offset}..{} are not whole 32-bit words", offset + len);
    Err(Error::InvalidArgument { what, reason })
}
