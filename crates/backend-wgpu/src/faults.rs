//! Where this library meets wgpu and the driver. Their ways of reporting trouble (error scopes, the uncaptured-error handler, the device-lost
//! callback, silence, and panics) become one [`Error`] here.

use crate::context::Context;
use crate::lifetime::Held;
use isowarp_core::error::{Error, Result};
use parking_lot::{Mutex, ReentrantMutex};
use std::any::Any;
use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// Taken for every driver call once the process has looked for OpenGL adapters. An OpenGL context belongs to one thread at a time, and wgpu panics where two
/// want it, or one waits for more than a second.
static OPENGL: ReentrantMutex<()> = ReentrantMutex::new(());
static OPENGL_IN_USE: AtomicBool = AtomicBool::new(false);

/// Has driver calls take turns from now on.
pub(crate) fn take_turns() {
    OPENGL_IN_USE.store(true, Ordering::Relaxed);
}

/// Whether the driver's calls take turns. A thread that has the turn must not wait for another one that wants it.
pub(crate) fn takes_turns() -> bool {
    OPENGL_IN_USE.load(Ordering::Relaxed)
}

thread_local! {
    /// Whether this thread compiles for a device that is none of OpenGL's.
    static APART: Cell<bool> = const { Cell::new(false) };
}

/// Does work on a thread of its own, whose driver calls take no turns: somebody who has the turn may wait for it.
pub(crate) fn apart<T>(work: impl FnOnce() -> T) -> T {
    APART.set(true);
    work()
}

/// Whether a test lets driver calls of this thread panic.
pub(crate) fn tested() -> bool {
    #[cfg(test)]
    return crate::faults_tests::injected::active();
    #[cfg(not(test))]
    false
}

/// Runs what calls the driver. A panic in it ends here, and what it says is the error.
pub(crate) fn cross<T>(work: impl FnOnce() -> T) -> std::result::Result<T, String> {
    let _turn = (takes_turns() && !APART.get()).then(|| OPENGL.lock());
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        #[cfg(test)]
        crate::faults_tests::injected::call();
        work()
    }));
    outcome.map_err(|payload| words(&*payload))
}

/// The same of an opening, whose failure leaves nothing behind.
pub(crate) async fn open<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let mut work = std::pin::pin!(work);
    std::future::poll_fn(|cx| {
        let polled = cross(|| work.as_mut().poll(cx));
        polled
            .unwrap_or_else(|panic| Poll::Ready(Err(Error::Unavailable { backend: "wgpu", reason: format!("the driver failed: {panic}") })))
    })
    .await
    .map_err(starved)
}

/// Threads that drivers may start beside one for each processor, which software adapters have.
const DRIVERS_THREADS: usize = 8;

/// Names the cause of a failed opening where the system grants no threads, which drivers do not say.
pub(crate) fn starved(error: Error) -> Error {
    let (Error::Unavailable { reason, .. } | Error::DeviceLost { reason }) = &error else { return error };
    if reason.contains(NO_THREADS) {
        return error;
    }
    match no_threads(std::thread::available_parallelism().map_or(1, usize::from) + DRIVERS_THREADS) {
        Some(why) => Error::Unavailable { backend: "wgpu", reason: format!("{NO_THREADS} ({why}), and drivers need some: {reason}") },
        None => error,
    }
}

/// Start of a reason that is the limit on threads.
const NO_THREADS: &str = "the system grants no further threads";

/// Error of a start of so many threads at once, if it is that there may not be more.
fn no_threads(count: usize) -> Option<std::io::Error> {
    let gate = Mutex::new(());
    let closed = gate.lock();
    std::thread::scope(|scope| {
        let wait = || drop(gate.lock());
        let refused = (0..count).find_map(|_| std::thread::Builder::new().spawn_scoped(scope, wait).err());
        // Threads that were started end before the scope does.
        drop(closed);
        refused.filter(|e| e.kind() == std::io::ErrorKind::WouldBlock)
    })
}

fn words(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without words").to_owned()
}

/// Why a device is lost that does not say it.
const GONE: &str = "it was destroyed, or the driver gave it up";

/// Test for a lost device: a buffer that is mapped and unmapped.
#[derive(Debug)]
struct Pulse {
    device: Held<wgpu::Device>,
    buffer: Held<wgpu::Buffer>,
    /// When it was felt.
    felt: Instant,
}

/// Age of a pulse that need not be felt again before a launch: a device that is lost now may as well be lost after the launch. What waits for the device,
/// or hands it work, feels it in any case.
const FRESH: Duration = Duration::from_micros(50);

impl Pulse {
    fn new(device: &wgpu::Device) -> Self {
        let descriptor = wgpu::BufferDescriptor {
            label: Some("pulse"),
            size: 8,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        };
        Self { device: Held::new(device.clone()), buffer: Held::new(device.create_buffer(&descriptor)), felt: Instant::now() }
    }

    /// Whether the device is there: wgpu refuses at once to map a buffer of one that is gone. While another thread waits for the device, the buffer may
    /// be between two states, and stay mapped; then a new one, which no other thread has seen, tells.
    fn beats(&mut self) -> bool {
        // Errors of this buffer are nobody else's.
        let device = self.device.clone();
        let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
        let mut beats = maps(&self.buffer);
        let failed = matches!(ready(scope.pop()), Some(Some(_)));
        if failed || !beats {
            let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
            *self = Self::new(&device);
            beats = maps(&self.buffer);
            drop(ready(scope.pop()));
        }
        self.felt = Instant::now();
        beats
    }
}

fn maps(buffer: &wgpu::Buffer) -> bool {
    let refused = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&refused);
    buffer.slice(..).map_async(wgpu::MapMode::Read, move |mapped| flag.store(mapped.is_err(), Ordering::Relaxed));
    if refused.load(Ordering::Relaxed) {
        return false;
    }
    buffer.unmap();
    true
}

/// Failures of a device outside of any call that could report them.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    lost: Mutex<Option<String>>,
    deferred: Mutex<Option<Error>>,
    waits: AtomicU64,
    pulse: Mutex<Option<Pulse>>,
}

impl Faults {
    /// Takes over the error reporting of a device that this library opened; an application's own device keeps its handlers.
    pub(crate) fn watch(self: &Arc<Self>, device: &wgpu::Device) {
        let faults = Arc::downgrade(self);
        device.on_uncaptured_error(Arc::new(move |error| {
            log::error!("wgpu: {error}");
            if let Some(faults) = faults.upgrade() {
                faults.defer(translate("wgpu", error, 0));
            }
        }));
        let faults = Arc::downgrade(self);
        device.set_device_lost_callback(move |reason, message| {
            // Dropping the last handle reports `Destroyed`, which is no fault.
            if let Some(faults) = faults.upgrade() {
                faults.lose(format!("{reason:?}: {message}"));
            }
        });
    }

    /// Makes what shows whether the device is there, if it is. A browser tells through the callback alone.
    pub(crate) fn feel_pulse(&self, device: &wgpu::Device) {
        if cfg!(target_family = "wasm") {
            return;
        }
        // A lost device makes an invalid buffer, which is a validation error that nobody else should see.
        let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
        let mut pulse = Pulse::new(device);
        drop(ready(scope.pop()));
        if pulse.beats() {
            *self.pulse.lock() = Some(pulse);
        } else {
            self.lose(GONE.to_owned());
        }
    }

    /// Keeps an error that concerns work already enqueued; the first one counts.
    pub(crate) fn defer(&self, error: Error) {
        self.deferred.lock().get_or_insert(error);
    }

    /// Notes that the device is gone.
    pub(crate) fn lose(&self, reason: String) {
        self.lost.lock().get_or_insert(reason);
    }

    /// Reports a lost device, or earlier work that failed. The error stays until [`Self::clear`], since all results after it are
    /// in doubt.
    pub(crate) fn check(&self) -> Result<()> {
        self.check_device(Duration::ZERO)?;
        self.deferred.lock().clone().map_or(Ok(()), Err)
    }

    /// The same for one of many launches, which follow each other closely.
    pub(crate) fn check_launch(&self) -> Result<()> {
        self.check_device(FRESH)?;
        self.deferred.lock().clone().map_or(Ok(()), Err)
    }

    /// Reports a device that was lost longer ago than `fresh`. wgpu ignores calls on one without a word, but refuses to map its buffers.
    fn check_device(&self, fresh: Duration) -> Result<()> {
        if let Some(reason) = &*self.lost.lock() {
            return Err(Error::DeviceLost { reason: reason.clone() });
        }
        let reason = match cross(|| self.pulse.lock().as_mut().is_none_or(|pulse| pulse.felt.elapsed() < fresh || pulse.beats())) {
            Ok(true) => return Ok(()),
            Ok(false) => GONE.to_owned(),
            Err(panic) => format!("the driver failed: {panic}"),
        };
        self.lose(reason.clone());
        Err(Error::DeviceLost { reason })
    }

    /// Returns the number of waits for the device.
    pub(crate) fn waits(&self) -> u64 {
        self.waits.load(Ordering::Relaxed)
    }

    /// Forgets earlier failed work, after it has been reported at a synchronisation point.
    pub(crate) fn clear(&self) {
        self.deferred.lock().take();
    }
}

impl Context {
    /// Runs driver calls. After a panic in them the device is given up, since nobody knows what it holds.
    pub(crate) fn cross<T>(&self, call: &'static str, work: impl FnOnce() -> T) -> Result<T> {
        cross(work).map_err(|panic| {
            let reason = format!("the driver failed in {call}: {panic}");
            log::error!("{reason}");
            self.faults.lose(reason.clone());
            Error::DeviceLost { reason }
        })
    }

    /// Runs driver calls with every kind of wgpu error caught on this thread.
    pub(crate) fn guarded<T>(&self, call: &'static str, bytes: u64, work: impl FnOnce() -> T) -> Result<T> {
        let outcome = self.cross(call, || {
            let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
            let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
            let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
            let value = work();
            let errors = [ready(validation.pop()), ready(internal.pop()), ready(memory.pop())];
            match errors.into_iter().flatten().flatten().next() {
                Some(error) => Err(translate(call, error, bytes)),
                None => Ok(value),
            }
        })?;
        // Objects made on a lost device are invalid, which is another error than the one that counts.
        outcome.map_err(|error| self.faults.check_device(Duration::ZERO).err().unwrap_or(error))
    }

    /// `Device::poll` that reports instead of panicking: wgpu 30 panics where the device is lost during a wait.
    pub(crate) fn poll(&self, how: wgpu::PollType) -> Result<()> {
        if !matches!(how, wgpu::PollType::Poll) {
            self.faults.waits.fetch_add(1, Ordering::Relaxed);
        }
        match self.cross("Device::poll", || self.device.poll(how))? {
            Ok(_) => Ok(()),
            // wgpu refuses submissions to a device that is gone without a word, and then does not know their number.
            Err(wgpu::PollError::WrongSubmissionIndex(..)) => {
                self.faults.lose("a submission was refused".to_owned());
                self.faults.check()
            }
            Err(error) => Err(Error::Driver { call: "Device::poll", message: error.to_string() }),
        }
    }
}

/// The value of a future that is complete; native wgpu's error scopes always are, and a browser's are reported later through the
/// uncaptured-error handler.
fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut std::task::Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

fn translate(call: &'static str, error: wgpu::Error, bytes: u64) -> Error {
    match error {
        wgpu::Error::OutOfMemory { .. } => Error::OutOfMemory { requested: bytes, available: None },
        wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
            Error::Driver { call, message: description }
        }
    }
}
