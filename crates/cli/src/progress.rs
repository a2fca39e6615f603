//! Progress on anything over a second: silent before that, and where standard error is no terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// A bar that appears when its work has taken a second and goes when it is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Dropped to end the thread that waits to show the bar.
    alive: Option<Sender<()>>,
    waiter: Option<JoinHandle<()>>,
}

impl Progress {
    /// Over `steps` steps (or bytes); 0 where their number is unknown.
    pub(crate) fn new(what: impl Into<String>, steps: u64) -> Self {
        let bar = if steps == 0 { ProgressBar::no_length() } else { ProgressBar::new(steps) };
        bar.set_draw_target(ProgressDrawTarget::hidden());
        let template = if steps == 0 { "{spinner} {msg} {elapsed}" } else { "{msg} {wide_bar} {percent}% {eta}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(what.into());
        let (alive, gone) = channel::<()>();
        let shown = bar.clone();
        let waiter = std::thread::spawn(move || {
            if matches!(gone.recv_timeout(Duration::from_secs(1)), Err(RecvTimeoutError::Timeout)) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(Duration::from_millis(100));
            }
        });
        Self { bar, alive: Some(alive), waiter: Some(waiter) }
    }

    /// Some steps are done.
    pub(crate) fn advance(&self, steps: u64) {
        self.bar.inc(steps);
    }

    /// What is being done now.
    pub(crate) fn say(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.alive = None;
        if let Some(w) = self.waiter.take() {
            // The thread cannot panic, and there is nothing to do about it here.
            let _ = w.join();
        }
        self.bar.finish_and_clear();
    }
}
