//! Page-locked host memory for copies: without it the driver copies twice, or waits.

use crate::device::{Device, Timing};
use crate::driver::check;
use crate::stream::Stream;
use cudarc::driver::sys::{self, CUevent};
use isowarp_core::error::Result;
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::ptr;
use std::time::Instant;

/// Length of the pieces that long copies are cut into, so that one piece is on the bus while the next is filled.
pub(crate) const CHUNK: usize = 4 << 20;

/// Bytes that uploads may have in flight before the caller has to wait for the oldest.
const IN_FLIGHT: usize = 16 * CHUNK;

/// Idle bytes that are kept; a read of a large buffer gives its memory back.
const KEPT: usize = 256 << 20;

const MIN_BYTES: usize = 4096;

/// A piece of page-locked memory, not initialised.
#[derive(Debug)]
pub(crate) struct Pinned {
    at: *mut c_void,
    capacity: usize,
}

// SAFETY: plain host memory that only its holder touches.
unsafe impl Send for Pinned {}
// SAFETY: no method reads or writes through a shared reference.
unsafe impl Sync for Pinned {}

impl Pinned {
    pub(crate) fn as_mut_ptr(&self) -> *mut u8 {
        self.at.cast()
    }
}

/// Idle and in-flight pieces of one device.
#[derive(Debug, Default)]
pub(crate) struct PinnedPool {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    idle: HashMap<usize, Vec<Pinned>>,
    idle_bytes: usize,
    in_flight: VecDeque<(Mark, Pinned)>,
    in_flight_bytes: usize,
}

/// The driver event behind a copy. A counted event would keep the device alive from within itself.
#[derive(Debug)]
pub(crate) struct Mark(CUevent);

// SAFETY: a CUevent is a handle that the driver lets any thread use.
unsafe impl Send for Mark {}

impl Mark {
    /// Marks the present end of the stream, whose context is current.
    pub(crate) fn record(stream: &Stream) -> Result<Self> {
        let raw = stream.ready()?;
        let event = stream.device().take_event(Timing::Off)?;
        // SAFETY: stream and event are live handles of the current context.
        match check("cuEventRecord", unsafe { sys::cuEventRecord(event, raw) }) {
            Ok(()) => Ok(Self(event)),
            Err(error) => {
                stream.device().give_event(event, Timing::Off);
                Err(error)
            }
        }
    }

    /// Waits until the device has passed the mark. The context is current.
    pub(crate) fn wait(&self) -> Result<()> {
        // SAFETY: the event is live and was recorded.
        check("cuEventSynchronize", unsafe { sys::cuEventSynchronize(self.0) })
    }

    /// Gives the event back to its device.
    pub(crate) fn give(self, device: &Device) {
        device.give_event(self.0, Timing::Off);
    }
}

impl PinnedPool {
    /// A piece of at least `bytes`. The context is current.
    pub(crate) fn take(&self, device: &Device, bytes: usize) -> Result<Pinned> {
        let capacity = bytes.max(MIN_BYTES).checked_next_power_of_two().unwrap_or(bytes);
        let mut state = self.state.lock();
        collect(&mut state, device)?;
        if let Some(piece) = state.idle.get_mut(&capacity).and_then(Vec::pop) {
            state.idle_bytes -= capacity;
            return Ok(piece);
        }
        drop(state);
        let mut at = ptr::null_mut();
        let start = Instant::now();
        // Portable: usable from every context. Not write-combined: read-backs are read by the CPU.
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE;
        // SAFETY: the context is current, `at` is live.
        check("cuMemHostAlloc", unsafe { sys::cuMemHostAlloc(&raw mut at, capacity, flags) })?;
        log::trace!("page-locked memory: {capacity} bytes in {:.2} ms", start.elapsed().as_secs_f64() * 1e3);
        Ok(Pinned { at, capacity })
    }

    /// Takes back a piece that no copy uses any more.
    pub(crate) fn give(&self, piece: Pinned) {
        put(&mut self.state.lock(), piece);
    }

    /// Takes back a piece that a copy before `mark` still uses.
    pub(crate) fn retire(&self, mark: Mark, piece: Pinned) {
        let mut state = self.state.lock();
        state.in_flight_bytes += piece.capacity;
        state.in_flight.push_back((mark, piece));
    }

    /// Frees every piece. The device is idle and the context is current.
    pub(crate) fn clear(&mut self) {
        let state = self.state.get_mut();
        let idle = std::mem::take(&mut state.idle).into_values().flatten();
        let in_flight = std::mem::take(&mut state.in_flight).into_iter().map(|(mark, piece)| {
            // SAFETY: the device is idle; the event is used no more.
            let _ = unsafe { sys::cuEventDestroy_v2(mark.0) };
            piece
        });
        for piece in idle.chain(in_flight) {
            free(piece);
        }
    }
}

/// Moves pieces whose copies are done to the idle ones; waits for the oldest while too many are in flight.
fn collect(state: &mut State, device: &Device) -> Result<()> {
    while let Some((mark, _)) = state.in_flight.front() {
        // SAFETY: the event is live and was recorded.
        let status = unsafe { if state.in_flight_bytes > IN_FLIGHT { sys::cuEventSynchronize(mark.0) } else { sys::cuEventQuery(mark.0) } };
        if status == sys::CUresult::CUDA_ERROR_NOT_READY {
            break;
        }
        check("cuEventQuery", status)?;
        if let Some((mark, piece)) = state.in_flight.pop_front() {
            mark.give(device);
            state.in_flight_bytes -= piece.capacity;
            put(state, piece);
        }
    }
    Ok(())
}

fn put(state: &mut State, piece: Pinned) {
    if state.idle_bytes + piece.capacity > KEPT {
        free(piece);
    } else {
        state.idle_bytes += piece.capacity;
        state.idle.entry(piece.capacity).or_default().push(piece);
    }
}

fn free(piece: Pinned) {
    // SAFETY: allocated by `take`, no copy uses it, freed once.
    let _ = unsafe { sys::cuMemFreeHost(piece.at) };
}
