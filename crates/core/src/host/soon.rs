//! Values that threads of their own make, so that drivers compile several kernels at the same time.

use super::available;
use crate::error::{Error, Result};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle};

/// Addresses of a thread: its stack, what the C library's allocator reserves for it, and what a compiler takes meanwhile.
const THREAD_ADDRESSES: u64 = 256 << 20;

/// Addresses that have to be left where a thread is started beside a caller who goes on to take memory.
const ROOM: u64 = 4 * THREAD_ADDRESSES;

/// Threads that make values now.
static MAKING: AtomicUsize = AtomicUsize::new(0);

/// One of them, as long as it is there.
struct Making;

impl Making {
    fn new() -> Self {
        MAKING.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        MAKING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Threads that there are processors for, and addresses where these are limited.
#[must_use]
pub fn threads() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let room = available().map_or(usize::MAX, |bytes| (bytes / THREAD_ADDRESSES) as usize);
    processors.min(room)
}

/// A value that a thread may still be making. Dropping this waits for the thread.
#[derive(Debug)]
pub struct Soon<T> {
    made: OnceLock<Result<T>>,
    thread: Mutex<Option<JoinHandle<Result<T>>>>,
}

impl<T> From<Result<T>> for Soon<T> {
    fn from(made: Result<T>) -> Self {
        Self { made: OnceLock::from(made), thread: Mutex::new(None) }
    }
}

impl<T: Send + 'static> Soon<T> {
    /// Starts the work on a thread, or does it here: where there is no processor or no room for one more.
    pub fn start(work: impl FnOnce() -> Result<T> + Send + 'static) -> Self {
        // Another thread may take the last place meanwhile, which is no harm.
        let making = MAKING.load(Ordering::Relaxed);
        let no_room = available().is_some_and(|bytes| bytes < ROOM + making as u64 * THREAD_ADDRESSES);
        if no_room || threads().saturating_sub(making) < 2 {
            return Self::from(work());
        }
        // The work comes back where no thread takes it.
        let work = Arc::new(Mutex::new(Some(work)));
        let taken = Arc::clone(&work);
        let run = move || {
            let work = of(&taken).take();
            let _making = Making::new();
            work.map_or_else(|| Err(nothing()), |work| work())
        };
        if let Ok(thread) = Builder::new().name("isowarp compiles".to_owned()).spawn(run) {
            return Self { made: OnceLock::new(), thread: Mutex::new(Some(thread)) };
        }
        let work = of(&work).take();
        Self::from(work.map_or_else(|| Err(nothing()), |work| work()))
    }
}

impl<T> Soon<T> {
    /// The value, when it is made.
    ///
    /// # Errors
    /// The work's error, each time.
    pub fn wait(&self) -> Result<&T> {
        let join = || {
            let thread = of(&self.thread).take();
            thread.and_then(|thread| thread.join().ok()).unwrap_or_else(|| Err(nothing()))
        };
        self.made.get_or_init(join).as_ref().map_err(Error::clone)
    }

    /// Whether there is nothing to wait for.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.made.get().is_some() || of(&self.thread).as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Whether the work is known to have failed.
    #[must_use]
    pub fn failed(&self) -> bool {
        matches!(self.made.get(), Some(Err(_)))
    }
}

impl<T> Drop for Soon<T> {
    fn drop(&mut self) {
        if let Some(thread) = of(&self.thread).take() {
            // Nobody wants the value any more, nor what became of it.
            drop(thread.join());
        }
    }
}

fn of<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn nothing() -> Error {
    Error::Driver { call: "compiling", message: "the thread ended without a result".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{Soon, nothing};
    use crate::error::Error;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn values_and_errors_come_to_all_who_wait() {
        let soon = Soon::start(|| Ok(7));
        let several = std::thread::scope(|scope| {
            let ask = || scope.spawn(|| soon.wait().copied());
            [ask(), ask(), ask()].map(|thread| thread.join().expect("an answer"))
        });
        assert_eq!(several, [Ok(7), Ok(7), Ok(7)]);
        assert!(soon.is_ready() && !soon.failed());

        let refused = || Error::InvalidArgument { what: "work", reason: "it fails".to_owned() };
        let soon = Soon::<u32>::start(move || Err(refused()));
        assert_eq!([soon.wait().copied(), soon.wait().copied()], [Err(refused()), Err(refused())]);
        assert!(soon.is_ready() && soon.failed());
    }

    #[test]
    fn a_panic_of_the_work_is_an_error() {
        // Where there is no thread for it, the panic is the caller's.
        let made =
            std::panic::catch_unwind(|| Soon::<u32>::start(|| std::panic::resume_unwind(Box::new("a test's panic"))).wait().copied());
        assert!(made.is_err() || made.is_ok_and(|made| made == Err(nothing())));
    }

    #[test]
    fn dropping_waits_for_the_thread() {
        let done = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&done);
        drop(Soon::start(move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            flag.store(true, Ordering::Relaxed);
            Ok(())
        }));
        assert!(done.load(Ordering::Relaxed));
    }
}
