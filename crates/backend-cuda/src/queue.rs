//! Commands that wait for kernels which the driver is still assembling, so that it assembles those of the next launches meanwhile.
//!
//! A stream's commands run in their order: while one waits, those behind it do. Whatever looks at the stream, or puts something on it that is not among
//! these commands, has them run first ([`Stream::ready`](crate::stream::Stream::ready)). Where the application has a hold of the device's own handles,
//! nothing waits, since nothing would tell when it looks.

use crate::module::Kernel;
use cudarc::driver::sys::CUstream;
use isowarp_core::error::{Error, Result};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The commands of one stream.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// Whether there is anything below.
    some: AtomicBool,
    state: Mutex<State>,
    /// Commands that failed.
    failures: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Command>,
    /// The error that nobody could be told of.
    failed: Option<Error>,
}

/// Work that is put on the stream when the kernel is there.
struct Command {
    kernel: Option<Kernel>,
    run: Box<dyn FnOnce(CUstream) -> Result<()> + Send>,
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command").field("kernel", &self.kernel.as_ref().map(Kernel::name)).finish_non_exhaustive()
    }
}

impl Queue {
    /// Whether nothing waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        !self.some.load(Ordering::Acquire)
    }

    /// Counts a command that failed, also one that did not wait here.
    pub(crate) fn count_failure(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how many commands have failed: after each, memory may not hold what was to come from it and from those behind it.
    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Puts a command behind the others, and those at the front that need not wait on the stream, whose context is current.
    pub(crate) fn push(
        &self,
        raw: CUstream,
        kernel: Option<Kernel>,
        run: impl FnOnce(CUstream) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let mut state = self.state.lock();
        state.waiting.push_back(Command { kernel, run: Box::new(run) });
        self.some.store(true, Ordering::Release);
        while state.waiting.front().is_some_and(|command| command.kernel.as_ref().is_none_or(Kernel::is_ready)) {
            if let Some(command) = state.waiting.pop_front() {
                self.run(&mut state, raw, command);
            }
        }
        self.told(&mut state)
    }

    /// Puts all commands on the stream, whose context is current. Where one fails, those behind it are dropped.
    pub(crate) fn drain(&self, raw: CUstream) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let mut state = self.state.lock();
        self.run_all(&mut state, raw);
        self.told(&mut state)
    }

    /// The same where nobody can be told: the next one who can is.
    pub(crate) fn drain_silently(&self, raw: CUstream) {
        if !self.is_empty() {
            self.run_all(&mut self.state.lock(), raw);
        }
    }

    fn run_all(&self, state: &mut State, raw: CUstream) {
        while let Some(command) = state.waiting.pop_front() {
            self.run(state, raw, command);
        }
    }

    fn run(&self, state: &mut State, raw: CUstream, command: Command) {
        if let Err(error) = (command.run)(raw) {
            self.count_failure();
            state.failed.get_or_insert(error);
            state.waiting.clear();
        }
        self.some.store(!state.waiting.is_empty() || state.failed.is_some(), Ordering::Release);
    }

    /// Tells what went wrong, once.
    fn told(&self, state: &mut State) -> Result<()> {
        let failed = state.failed.take();
        self.some.store(!state.waiting.is_empty(), Ordering::Release);
        failed.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_fails_is_told_once_and_counted() {
        let (queue, raw) = (Queue::default(), std::ptr::null_mut());
        let failed = || Error::Compile { kernel: "k".to_owned(), log: "it is refused".to_owned() };
        assert_eq!((queue.push(raw, None, |_| Ok(())), queue.failures()), (Ok(()), 0));
        assert_eq!((queue.push(raw, None, move |_| Err(failed())), queue.failures()), (Err(failed()), 1));
        assert_eq!((queue.drain(raw), queue.push(raw, None, |_| Ok(())), queue.failures()), (Ok(()), Ok(()), 1));
        assert!(queue.is_empty());
    }
}
