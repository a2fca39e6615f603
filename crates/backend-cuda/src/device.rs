//! State that the handles of one device share: context, streams, memory, events and compiled kernels.

use crate::context::Context;
use crate::driver::{self, DeviceInfo, Driver, check};
use crate::module::KernelCache;
use crate::patterns::probe;
use crate::pinned::PinnedPool;
use crate::pool::DevicePool;
use crate::queue::Queue;
use cudarc::driver::sys::{self, CUevent, CUevent_flags, CUstream, CUstream_flags};
use isowarp_core::caps::{Caps, DeviceKind, FmaKind, NumericsVerdict};
use isowarp_core::element::DType;
use isowarp_core::error::Result;
use isowarp_core::ir::Operation;
use parking_lot::Mutex;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// One opened device. Dropped when the last stream, buffer, event and future of it is gone.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) info: DeviceInfo,
    pub(crate) caps: Caps,
    pub(crate) setup_time: Duration,
    pub(crate) pool: DevicePool,
    pub(crate) pinned: PinnedPool,
    pub(crate) kernels: KernelCache,
    /// The optimisation level of the driver's assembler, where the probe has found its own wrong.
    pub(crate) level: Option<u32>,
    /// Launches after which those that look back start numbering themselves anew.
    pub(crate) launch_numbers: AtomicU32,
    /// Whether the blocks of a launch may wait for each other.
    pub(crate) meets: AtomicBool,
    /// Whether nobody but this library has handles of the driver's.
    alone: AtomicBool,
    streams: Mutex<Streams>,
    marks: Mutex<Handles>,
    timers: Mutex<Handles>,
    // Last: kernels and everything above are released in it.
    pub(crate) context: Arc<Context>,
}

/// Every stream that was made, by slot. They are kept until the device goes, so that a slot always names a live stream and
/// memory that was used on it can be freed behind its work.
#[derive(Debug, Default)]
struct Streams {
    slots: Vec<Slot>,
    idle: Vec<usize>,
}

/// A stream, and what waits to be put on it.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub(crate) raw: CUstream,
    pub(crate) queue: Arc<Queue>,
}

impl Slot {
    fn new(raw: CUstream) -> Self {
        Self { raw, queue: Arc::default() }
    }
}

/// Idle driver events, kept because making one costs more than recording it.
#[derive(Debug, Default)]
struct Handles(Vec<CUevent>);

// SAFETY: CUstream and CUevent are handles that the driver lets any thread use in their context; access to the lists is locked.
unsafe impl Send for Streams {}
// SAFETY: as above.
unsafe impl Send for Handles {}

/// Whether an event carries a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timing {
    /// A mark to wait for; cheaper.
    Off,
    /// A mark with a time.
    On,
}

impl Device {
    pub(crate) fn new(driver: Driver, context: Context) -> Result<Arc<Self>> {
        let start = Instant::now();
        context.bind()?;
        let info = context.describe()?;
        let context = Arc::new(context);
        let verdict = probe::verdict(driver, &context, &info)?;
        let caps = caps(driver, &info, verdict.numerics, verdict.unproven);
        let pool = DevicePool::new(&context, &info)?;
        Ok(Arc::new(Self {
            meets: AtomicBool::new(info.cooperative),
            info,
            caps,
            setup_time: start.elapsed(),
            pool,
            pinned: PinnedPool::default(),
            kernels: KernelCache::default(),
            level: verdict.level,
            launch_numbers: AtomicU32::new(u32::MAX),
            alone: AtomicBool::new(context.is_own()),
            streams: Mutex::default(),
            marks: Mutex::default(),
            timers: Mutex::default(),
            context,
        }))
    }

    #[inline]
    pub(crate) fn bind(&self) -> Result<()> {
        self.context.bind()
    }

    /// An idle stream, or a new one.
    pub(crate) fn take_stream(&self) -> Result<(usize, Slot)> {
        let mut streams = self.streams.lock();
        if let Some(slot) = streams.idle.pop() {
            return Ok((slot, streams.slots[slot].clone()));
        }
        let made = Slot::new(self.create_stream()?);
        streams.slots.push(made.clone());
        Ok((streams.slots.len() - 1, made))
    }

    fn create_stream(&self) -> Result<CUstream> {
        self.bind()?;
        let mut raw = ptr::null_mut();
        // Non-blocking: no implicit order with the legacy default stream, which other libraries may use.
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: the context is current, `raw` is live.
        check("cuStreamCreate", unsafe { sys::cuStreamCreate(&raw mut raw, flags) })?;
        Ok(raw)
    }

    /// Gives a slot to a stream of the application.
    pub(crate) fn register_stream(&self, raw: CUstream) -> (usize, Slot) {
        self.share();
        let mut streams = self.streams.lock();
        let slot = Slot::new(raw);
        streams.slots.push(slot.clone());
        (streams.slots.len() - 1, slot)
    }

    /// Makes a stream available again. Work on it may be unfinished: what follows is ordered behind it.
    pub(crate) fn give_stream(&self, slot: usize) {
        self.streams.lock().idle.push(slot);
    }

    /// Takes a stream of the application out of its slot: the slot gets a stream of ours that continues behind the work on it,
    /// so that buffers which were used on it can still be freed when it is gone.
    pub(crate) fn replace_stream(&self, slot: usize, theirs: CUstream) -> Result<()> {
        let ours = self.create_stream()?;
        self.follow(ours, theirs)?;
        let mut streams = self.streams.lock();
        streams.slots[slot] = Slot::new(ours);
        streams.idle.push(slot);
        Ok(())
    }

    /// Makes what is enqueued on `next` from now on wait for everything that is on `first`. The context is current.
    fn follow(&self, next: CUstream, first: CUstream) -> Result<()> {
        let event = self.take_event(Timing::Off)?;
        // SAFETY: both streams and the event are live handles of the current context.
        let result = unsafe {
            check("cuEventRecord", sys::cuEventRecord(event, first))
                .and_then(|()| check("cuStreamWaitEvent", sys::cuStreamWaitEvent(next, event, 0)))
        };
        self.give_event(event, Timing::Off);
        result
    }

    /// Makes the stream of `home` wait for the streams in `mask` (bit 63 stands for every slot from 63 on).
    pub(crate) fn join(&self, home: usize, mask: u64) -> Result<()> {
        let home_raw = self.drained(home);
        for other in self.streams_of(mask).into_iter().filter(|&other| other != home_raw) {
            self.follow(home_raw, other)?;
        }
        Ok(())
    }

    /// Waits for the streams in `mask`.
    pub(crate) fn synchronize_streams(&self, mask: u64) -> Result<()> {
        self.bind()?;
        for stream in self.streams_of(mask) {
            // SAFETY: the stream is live and its context is current.
            check("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(stream) })?;
        }
        Ok(())
    }

    /// Handles of the streams in `mask`, with nothing that waits.
    fn streams_of(&self, mask: u64) -> Vec<CUstream> {
        let streams = self.streams.lock();
        let slots = streams.slots.iter().enumerate();
        let found: Vec<Slot> = slots.filter(|&(slot, _)| mask & slot_bit(slot) != 0).map(|(_, slot)| slot.clone()).collect();
        drop(streams);
        found.iter().for_each(|slot| slot.queue.drain_silently(slot.raw));
        found.iter().map(|slot| slot.raw).collect()
    }

    /// The driver's handle of a slot.
    pub(crate) fn stream_of(&self, slot: usize) -> CUstream {
        self.streams.lock().slots[slot].raw
    }

    /// The same, with nothing that waits.
    pub(crate) fn drained(&self, slot: usize) -> CUstream {
        let slot = self.streams.lock().slots[slot].clone();
        slot.queue.drain_silently(slot.raw);
        slot.raw
    }

    /// Puts on every stream what waits for it. The context is current.
    pub(crate) fn drain(&self) {
        drop(self.streams_of(u64::MAX));
    }

    /// Whether commands may wait for their kernels.
    #[inline]
    pub(crate) fn may_wait(&self) -> bool {
        self.alone.load(Ordering::SeqCst)
    }

    /// Lets nothing wait from now on: the application has handles of the driver's.
    pub(crate) fn share(&self) {
        if self.alone.swap(false, Ordering::SeqCst) && self.bind().is_ok() {
            self.drain();
        }
    }

    pub(crate) fn take_event(&self, timing: Timing) -> Result<CUevent> {
        if let Some(event) = self.events(timing).lock().0.pop() {
            return Ok(event);
        }
        self.bind()?;
        let flags = match timing {
            Timing::Off => CUevent_flags::CU_EVENT_DISABLE_TIMING,
            Timing::On => CUevent_flags::CU_EVENT_DEFAULT,
        };
        let mut raw = ptr::null_mut();
        // SAFETY: the context is current, `raw` is live.
        check("cuEventCreate", unsafe { sys::cuEventCreate(&raw mut raw, flags as u32) })?;
        Ok(raw)
    }

    /// Keeps an event for its next use; a wait that was enqueued on it is bound to the record that it saw.
    pub(crate) fn give_event(&self, event: CUevent, timing: Timing) {
        self.events(timing).lock().0.push(event);
    }

    fn events(&self, timing: Timing) -> &Mutex<Handles> {
        match timing {
            Timing::Off => &self.marks,
            Timing::On => &self.timers,
        }
    }

    /// Waits for everything that was enqueued in the context.
    pub(crate) fn synchronize_all(&self) -> Result<()> {
        self.bind()?;
        self.drain();
        // SAFETY: the context is current.
        check("cuCtxSynchronize", unsafe { sys::cuCtxSynchronize() })
    }
}

/// The bit of a slot in a buffer's mask of streams.
pub(crate) fn slot_bit(slot: usize) -> u64 {
    1 << slot.min(63)
}

impl Drop for Device {
    fn drop(&mut self) {
        // A lost context answers each call with an error; there is nothing left to release then.
        if self.synchronize_all().is_err() {
            return;
        }
        self.pinned.clear();
        self.pool.clear();
        let marks = std::mem::take(&mut self.marks.get_mut().0);
        let timers = std::mem::take(&mut self.timers.get_mut().0);
        for event in marks.into_iter().chain(timers) {
            // SAFETY: made by `take_event`, idle, destroyed once.
            let _ = unsafe { sys::cuEventDestroy_v2(event) };
        }
        let streams = self.streams.get_mut();
        // Every stream has been given back by now; a slot that is not idle could not be taken over from the application.
        for slot in std::mem::take(&mut streams.idle) {
            // SAFETY: made by `take_stream`, idle, destroyed once.
            let _ = unsafe { sys::cuStreamDestroy_v2(streams.slots[slot].raw) };
        }
    }
}

/// Capabilities as the patterns see them.
fn caps(driver: Driver, info: &DeviceInfo, numerics: NumericsVerdict, unproven: Vec<(Operation, String)>) -> Caps {
    let (major, minor) = driver.version();
    Caps {
        backend: driver::BACKEND,
        device: info.name.clone(),
        driver: format!("CUDA {major}.{minor}"),
        kind: if info.integrated { DeviceKind::Integrated } else { DeviceKind::Discrete },
        dtypes: DType::ALL.to_vec(),
        subgroup: (32, 32),
        compute_units: info.multiprocessors,
        l2_bytes: info.l2_bytes,
        memory_bytes: info.memory_bytes,
        max_buffer_bytes: info.memory_bytes,
        max_binding_bytes: info.memory_bytes,
        // Eight inputs and four outputs in the argument block of every kernel.
        max_storage_buffers: (crate::launch::MAX_INPUTS + crate::launch::MAX_OUTPUTS) as u32,
        workgroup_memory_bytes: info.shared_bytes,
        max_workgroup_size: info.max_block_threads,
        // The x dimension; y and z stop at 65,535.
        max_groups_per_dim: i32::MAX as u32,
        numerics,
        unproven,
        loop_turns: None,
        kernel_instructions: None,
        fma: FmaKind::Native,
        timestamps: true,
        chosen: std::sync::OnceLock::new(),
    }
}
