//! The threads that patterns are spread over: as many as there are processors, or as many as the system grants.

use rayon::prelude::*;
use rayon::{ThreadBuilder, ThreadPoolBuilder};
use std::sync::{Once, mpsc};
use std::thread::{Builder, available_parallelism};

/// Starts rayon's threads, unless the program has done so, and returns how many there are. Rayon itself panics where it gets fewer threads than it
/// wants; so these are started before it is.
pub(crate) fn start() -> usize {
    static START: Once = Once::new();
    START.call_once(|| {
        let waiting: Vec<_> = (0..wanted()).map_while(|_| waiting().ok()).collect();
        let pool = match waiting.len() {
            0 => ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global(),
            n => {
                let mut waiting = waiting.into_iter();
                let hand_over =
                    |thread| waiting.next().and_then(|w| w.send(thread).ok()).ok_or_else(|| std::io::ErrorKind::WouldBlock.into());
                ThreadPoolBuilder::new().num_threads(n).spawn_handler(hand_over).build_global()
            }
        };
        // The only error that is left says that the program has started rayon's threads before: then these are used.
        drop(pool);
    });
    rayon::current_num_threads()
}

/// The most threads: each has a stack and a state of its own.
const MOST: usize = 1024;

/// As many as rayon would start, up to a limit.
fn wanted() -> usize {
    let named = std::env::var("RAYON_NUM_THREADS").ok().and_then(|n| n.parse().ok()).filter(|&n| n > 0);
    named.unwrap_or_else(|| available_parallelism().map_or(1, usize::from)).min(MOST)
}

/// A thread that waits for what rayon wants done on it, and ends where that never comes.
fn waiting() -> std::io::Result<mpsc::Sender<ThreadBuilder>> {
    let (sender, receiver) = mpsc::channel::<ThreadBuilder>();
    Builder::new().name("isowarp-cpu".to_owned()).spawn(move || receiver.recv().map(ThreadBuilder::run))?;
    Ok(sender)
}

/// Runs `work` on every part, each thread with a state of its own; one part alone wakes no thread.
pub(crate) fn each<P: Send, S: Clone + Send + Sync>(mut parts: Vec<P>, state: &S, work: impl Fn(&mut S, usize, P) + Send + Sync) {
    if parts.len() == 1 {
        return parts.drain(..).for_each(|part| work(&mut state.clone(), 0, part));
    }
    parts.into_par_iter().enumerate().for_each_init(|| state.clone(), |state, (k, part)| work(state, k, part));
}

/// Collects `work` of every index below `count`, on threads as [`each`] does.
pub(crate) fn map<R: Send, S: Clone + Send + Sync>(count: u64, state: &S, work: impl Fn(&mut S, u64) -> R + Send + Sync) -> Vec<R> {
    if count == 1 {
        return vec![work(&mut state.clone(), 0)];
    }
    (0..count).into_par_iter().map_init(|| state.clone(), work).collect()
}
