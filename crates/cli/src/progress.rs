//! Progress on anything over a second: silent before that, and where standard error is no terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Work that takes no longer shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// From one turn of the spinner to the next.
const TICK: Duration = Duration::from_millis(100);

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
        Self::on(what.into(), steps, PATIENCE, ProgressDrawTarget::stderr)
    }

    /// Drawn on `target` once it has taken longer than `patience`.
    fn on(what: String, steps: u64, patience: Duration, target: impl FnOnce() -> ProgressDrawTarget + Send + 'static) -> Self {
        let bar = if steps == 0 { ProgressBar::no_length() } else { ProgressBar::new(steps) };
        bar.set_draw_target(ProgressDrawTarget::hidden());
        set_style(&bar, steps);
        bar.set_message(what);
        let (alive, gone) = channel::<()>();
        let shown = bar.clone();
        let wait = move || {
            let (mut pause, mut target) = (patience, Some(target));
            while matches!(gone.recv_timeout(pause), Err(RecvTimeoutError::Timeout)) {
                if let Some(target) = target.take() {
                    shown.set_draw_target(target());
                }
                shown.tick();
                pause = TICK;
            }
        };
        // Where the system grants no thread, work goes on without a bar.
        let waiter = std::thread::Builder::new().spawn(wait).ok();
        Self { bar, alive: Some(alive), waiter }
    }

    /// The number of steps, where it is known later than that there is work.
    pub(crate) fn expect(&self, steps: u64) {
        self.bar.set_length(steps);
        set_style(&self.bar, steps);
        self.bar.reset_eta();
    }

    /// Some steps are done.
    pub(crate) fn advance(&self, steps: u64) {
        self.bar.inc(steps);
    }

    /// Shows what is being done now.
    pub(crate) fn say(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
    }
}

fn set_style(bar: &ProgressBar, steps: u64) {
    let template = if steps == 0 { "{spinner} {msg} {elapsed}" } else { "{msg} {wide_bar} {percent}% {eta}" };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
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

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::TermLike;
    use std::io;
    use std::sync::{Arc, Mutex};

    /// A terminal that keeps what is drawn on it.
    #[derive(Clone, Debug, Default)]
    struct Screen(Arc<Mutex<String>>);

    impl Screen {
        fn text(&self) -> String {
            self.0.lock().expect("no thread panics").clone()
        }

        fn target(&self) -> impl FnOnce() -> ProgressDrawTarget + Send + 'static {
            let screen = self.clone();
            move || ProgressDrawTarget::term_like(Box::new(screen))
        }
    }

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, line: &str) -> io::Result<()> {
            self.write_str(line)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().expect("no thread panics").push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn short_work_shows_nothing() {
        let screen = Screen::default();
        let progress = Progress::on("reading".to_owned(), 10, Duration::from_secs(60), screen.target());
        progress.advance(10);
        drop(progress);
        assert_eq!(screen.text(), "");
    }

    #[test]
    fn long_work_shows_what_it_does_and_how_far_it_is() {
        for (steps, later) in [(10, 0), (0, 0), (0, 10)] {
            let screen = Screen::default();
            let progress = Progress::on("reading".to_owned(), steps, Duration::from_millis(1), screen.target());
            let until = |text: &str| {
                for _ in 0..1000 {
                    if screen.text().contains(text) {
                        return;
                    }
                    std::thread::sleep(Duration::from_millis(10));
                }
                panic!("{text} is not in {}", screen.text());
            };
            until("reading");
            progress.say("writing");
            until("writing");
            if later > 0 {
                progress.expect(later);
            }
            if steps + later > 0 {
                progress.advance(5);
                until("50%");
            }
        }
    }
}
