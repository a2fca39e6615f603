//! Reading device memory back: pooled staging buffers, a future, and its blocking twin.

use crate::context::Context;
use crate::lifetime::Held;
use isowarp_core::error::{Error, Result};
use parking_lot::{Condvar, Mutex};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Poll, Waker};
use std::time::Duration;

/// Staging memory kept for the next read-back, at most.
const KEPT_BYTES: u64 = 256 << 20;
const SMALLEST: u64 = 4096;
/// Bytes that a thread copies at least.
const COPY_PART: usize = 4 << 20;
/// Bytes of a chunk of a long blocking read.
pub(crate) const READ_CHUNK: u64 = 32 << 20;

/// Host-visible buffers, by power-of-two size.
#[derive(Debug, Default)]
pub(crate) struct Staging {
    free: Mutex<Vec<Held<wgpu::Buffer>>>,
    limit_bytes: AtomicU64,
}

impl Staging {
    /// Keeps a part of what a device may keep, and says how much that leaves for its other memory.
    pub(crate) fn set_limit(&self, of_all: u64) -> u64 {
        let own = KEPT_BYTES.min(of_all / 4);
        self.limit_bytes.store(own, Ordering::Relaxed);
        let mut free = self.free.lock();
        let mut released = Vec::new();
        while free.iter().map(|b| b.size()).sum::<u64>() > own {
            released.extend(free.pop());
        }
        drop(free);
        of_all - own
    }

    /// Bytes kept.
    pub(crate) fn idle_bytes(&self) -> u64 {
        self.free.lock().iter().map(|b| b.size()).sum()
    }

    /// Gives them back to the driver.
    pub(crate) fn trim(&self) {
        drop(std::mem::take(&mut *self.free.lock()));
    }

    /// A staging buffer of at least `bytes`.
    pub(crate) fn take(&self, context: &Context, bytes: u64) -> Result<Held<wgpu::Buffer>> {
        let size = bytes.max(SMALLEST).next_power_of_two().min(context.limits.max_buffer_size & !7);
        let mut free = self.free.lock();
        if let Some(at) = free.iter().position(|b| b.size() == size) {
            return Ok(free.remove(at));
        }
        drop(free);
        let descriptor = wgpu::BufferDescriptor {
            label: Some("staging"),
            size,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        };
        context.guarded("create_buffer", size, || context.device.create_buffer(&descriptor)).map(Held::new)
    }

    /// Takes one back. The longest idle ones make room for it.
    fn put(&self, buffer: Held<wgpu::Buffer>) {
        let limit = self.limit_bytes.load(Ordering::Relaxed);
        if buffer.size() > limit {
            return;
        }
        let mut free = self.free.lock();
        free.push(buffer);
        let mut released = Vec::new();
        while free.iter().map(|b| b.size()).sum::<u64>() > limit {
            released.push(free.remove(0));
        }
        drop(free);
    }
}

/// Waits for submissions on a thread of its own, so that a future is woken without anyone polling the device. Started by the first
/// future that has to wait.
#[derive(Debug, Default)]
pub(crate) struct Poller {
    queue: Mutex<Option<mpsc::Sender<Waited>>>,
}

/// A submission, and what is mapped by it.
type Waited = (wgpu::SubmissionIndex, Arc<Mapping>);

impl Poller {
    /// Asks for the submission to be waited for. In a browser the event loop does that.
    fn watch(&self, context: &Arc<Context>, index: wgpu::SubmissionIndex, mapping: Arc<Mapping>) -> Result<()> {
        if cfg!(target_family = "wasm") {
            return Ok(());
        }
        let mut queue = self.queue.lock();
        if queue.is_none() {
            let (sender, receiver) = mpsc::channel::<Waited>();
            let context = Arc::clone(context);
            // Ends when the sender goes, with the device handle that owns it.
            std::thread::Builder::new()
                .name("isowarp-wgpu-poll".to_owned())
                .spawn(move || {
                    let mut failed = false;
                    for (index, mapping) in receiver {
                        failed = failed || context.poll(wait_for(index)).is_err();
                        if failed {
                            mapping.give_up();
                        }
                    }
                })
                .map_err(|e| Error::Driver { call: "thread::spawn", message: e.to_string() })?;
            *queue = Some(sender);
        }
        match &*queue {
            Some(sender) if sender.send((index, mapping)).is_err() => Err(gone(context)),
            _ => Ok(()),
        }
    }
}

/// Why nothing comes any more.
fn gone(context: &Context) -> Error {
    context.faults.check().err().unwrap_or_else(|| Error::DeviceLost { reason: "waiting for the device failed".to_owned() })
}

pub(crate) fn wait_for(index: wgpu::SubmissionIndex) -> wgpu::PollType {
    wgpu::PollType::Wait { submission_index: Some(index), timeout: None }
}

/// Time that a waiting thread sleeps before it looks at the device again.
const PATIENCE: Duration = Duration::from_millis(2);

type Outcome = Result<(), wgpu::BufferAsyncError>;

/// The completion of one `map_async`.
#[derive(Debug, Default)]
pub(crate) struct Mapping {
    state: Mutex<Mapped>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Mapped {
    outcome: Option<Outcome>,
    waker: Option<Waker>,
    /// Nobody waits for the submission any more.
    given_up: bool,
}

impl Mapping {
    /// Maps the first `bytes` of a staging buffer for reading.
    pub(crate) fn start(context: &Context, buffer: &wgpu::Buffer, bytes: u64) -> Result<Arc<Self>> {
        let mapping = Arc::new(Self::default());
        let shared = Arc::clone(&mapping);
        let wake = move |outcome| {
            let mut state = shared.state.lock();
            state.outcome = Some(outcome);
            let waker = state.waker.take();
            drop(state);
            shared.arrived.notify_all();
            if let Some(waker) = waker {
                waker.wake();
            }
        };
        context.guarded("Buffer::map_async", 0, || buffer.slice(..bytes).map_async(wgpu::MapMode::Read, wake))?;
        Ok(mapping)
    }

    /// Wakes the future, to which nothing comes any more.
    fn give_up(&self) {
        let mut state = self.state.lock();
        state.given_up = true;
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Waits for the submission and for the callback, which another thread's poll may have picked up and not run yet.
    pub(crate) fn wait(&self, context: &Context, index: Option<wgpu::SubmissionIndex>) -> Result<Outcome> {
        if let Some(index) = index {
            context.poll(wait_for(index))?;
        }
        loop {
            let mut state = self.state.lock();
            if state.outcome.is_none() {
                self.arrived.wait_for(&mut state, PATIENCE);
            }
            if let Some(outcome) = state.outcome.take() {
                return Ok(outcome);
            }
            drop(state);
            context.faults.check()?;
            context.poll(wgpu::PollType::Poll)?;
        }
    }
}

/// A read-back that has been submitted.
#[derive(Debug)]
pub(crate) struct ReadBack {
    staging: Arc<Staging>,
    poller: Arc<Poller>,
    buffer: Option<Held<wgpu::Buffer>>,
    index: Option<wgpu::SubmissionIndex>,
    mapping: Arc<Mapping>,
    skip: usize,
    len: usize,
    // Dropped last: it may be what keeps the device open.
    context: Arc<Context>,
}

impl ReadBack {
    /// Maps a staging buffer whose copy has been submitted as `index`; the result is `len` bytes from `skip` on.
    pub(crate) fn start(
        (context, staging, poller): (&Arc<Context>, &Arc<Staging>, &Arc<Poller>),
        buffer: Held<wgpu::Buffer>,
        index: wgpu::SubmissionIndex,
        skip: usize,
        len: usize,
    ) -> Result<Self> {
        let span = (skip + len).next_multiple_of(8) as u64;
        let mapping = Mapping::start(context, &buffer, span.min(buffer.size()))?;
        Ok(Self {
            context: Arc::clone(context),
            staging: Arc::clone(staging),
            poller: Arc::clone(poller),
            buffer: Some(buffer),
            index: Some(index),
            mapping,
            skip,
            len,
        })
    }

    /// Waits for the bytes on this thread.
    pub(crate) fn wait(mut self) -> Result<Vec<u8>> {
        let outcome = self.mapping.wait(&self.context, self.index.take())?;
        self.finish(outcome)
    }

    /// Waits for the bytes and copies them to `out`, which is as long.
    pub(crate) fn wait_into(mut self, out: &mut [u8]) -> Result<()> {
        let outcome = self.mapping.wait(&self.context, self.index.take())?;
        self.with_bytes(outcome, |bytes| copy(bytes, out))
    }

    fn finish(&mut self, outcome: Outcome) -> Result<Vec<u8>> {
        self.with_bytes(outcome, isowarp_core::host::copied)?
    }

    fn with_bytes<T>(&mut self, outcome: Outcome, take: impl FnOnce(&[u8]) -> T) -> Result<T> {
        self.context.faults.check()?;
        let failed = |message: String| Error::Driver { call: "map_async", message };
        outcome.map_err(|e| failed(e.to_string()))?;
        let buffer = self.buffer.take().ok_or_else(|| failed("polled after completion".to_owned()))?;
        let span = (self.skip + self.len).next_multiple_of(8) as u64;
        let taken = self.context.cross("get_mapped_range", || {
            let view = buffer.slice(..span.min(buffer.size())).get_mapped_range().map_err(|e| failed(e.to_string()))?;
            let taken = take(&view[self.skip..self.skip + self.len]);
            drop(view);
            buffer.unmap();
            Ok::<_, Error>(taken)
        })??;
        self.staging.put(buffer);
        Ok(taken)
    }
}

/// Copies with a few threads: most of the time goes into the page faults of fresh memory, which they share.
fn copy(from: &[u8], to: &mut [u8]) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    let part = from.len().div_ceil(threads).max(COPY_PART);
    if cfg!(target_family = "wasm") || part >= from.len() {
        return to.copy_from_slice(from);
    }
    let parts = Mutex::new(from.chunks(part).zip(to.chunks_mut(part)));
    let work = || {
        while let Some((from, to)) = { parts.lock().next() } {
            to.copy_from_slice(from);
        }
    };
    crate::pipeline::beside((1..threads).map(|_| work), work);
}

impl Future for ReadBack {
    type Output = Result<Vec<u8>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let waiting = this.mapping.state.lock().outcome.is_none();
        if waiting && let Err(error) = this.context.poll(wgpu::PollType::Poll) {
            return Poll::Ready(Err(error));
        }
        let mut mapped = this.mapping.state.lock();
        if let Some(outcome) = mapped.outcome.take() {
            drop(mapped);
            return Poll::Ready(this.finish(outcome));
        }
        if mapped.given_up {
            return Poll::Ready(Err(gone(&this.context)));
        }
        mapped.waker = Some(cx.waker().clone());
        drop(mapped);
        if let Some(index) = this.index.take()
            && let Err(error) = this.poller.watch(&this.context, index, Arc::clone(&this.mapping))
        {
            return Poll::Ready(Err(error));
        }
        Poll::Pending
    }
}
