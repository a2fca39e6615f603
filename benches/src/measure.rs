//! The clock: device time, end to end, the host's share.

use crate::results::Measured;
use crate::works::{Ready, Shape, Work, copies};
use isowarp::backend::Backend as _;
use isowarp::{Device, Result};
use std::time::Instant;

/// Length and number of measurements.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Measurements per figure: 15 unless asked otherwise. Fewer are used where time on a machine is short; the number stands with the
    /// figures, with the fastest and the slowest of them.
    pub samples: usize,
    /// Least time of one measurement, in seconds: calls are batched up to it.
    pub least_s: f64,
    /// Seed of the inputs.
    pub seed: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { samples: 15, least_s: 1e-3, seed: 0x1505_A9B7 }
    }
}

/// Measures one pattern at one size. `first` says that the process has not called it yet; see [`crate::first`] for first calls of a device.
///
/// # Errors
/// What the device reports, memory that is not there among it.
pub fn measure(device: &Device, work: &Work, n: u64, first: bool, settings: &Settings) -> Result<(Measured, u32)> {
    let shape = Shape { n, copies: copies(device, n, work.dtype), seed: settings.seed };
    let ready = work.ready(device, &shape)?;
    device.synchronize()?;
    let start = Instant::now();
    ready.enqueue(0)?;
    device.synchronize()?;
    let first_after_inputs = start.elapsed().as_secs_f64();

    let (batch, device_clock) = batch_for(device, &ready, settings)?;
    let mut turn = 0;
    let mut times = Vec::new();
    for _ in 0..settings.samples {
        times.push(timed(device, &ready, batch, &mut turn)?.0 / batch as f64);
    }
    times.sort_by(f64::total_cmp);
    let device_s = median(&times);
    let bytes = work.bytes * n;
    let measured = Measured {
        backend: device.caps().backend.to_owned(),
        name: work.name.to_owned(),
        dtype: work.dtype.name().to_owned(),
        n,
        device_s,
        device_range_s: (times[0], times[times.len() - 1]),
        device_clock,
        batch,
        samples: settings.samples,
        copies: shape.copies,
        end_to_end_s: end_to_end(device, &ready, settings)?,
        host_s: Some(host(device, &ready, device_s)?),
        first_after_inputs_s: first.then_some(first_after_inputs),
        bytes_per_s: bytes as f64 / device_s,
        of_copy: None,
        checked: Vec::new(),
    };
    Ok((measured, ready.digest()?))
}

/// Calls that a CUDA device is held for until all are enqueued, at most, so that its clock sees none of the host's pace. A queue holds about a
/// thousand launches, and a call has some ten. Through wgpu a batch begins when it is submitted.
const HELD: u64 = 50;
/// Calls between two marks, at most.
const MOST: u64 = 1024;

/// Device time (or wall time) of `batch` calls, and whether the device has a clock.
fn timed(device: &Device, ready: &Ready, batch: u64, turn: &mut u64) -> Result<(f64, bool)> {
    device.synchronize()?;
    let mut held = hold(device)?;
    let wall = Instant::now();
    let taken = device.time(&mut || {
        (0..batch).try_for_each(|_| {
            *turn += 1;
            ready.enqueue(*turn)
        })?;
        drop(held.take());
        Ok(())
    })?;
    Ok((taken.unwrap_or_else(|| wall.elapsed().as_secs_f64()), taken.is_some()))
}

#[cfg(feature = "cuda")]
fn hold(device: &Device) -> Result<Option<isowarp::cuda::Hold>> {
    match device {
        Device::Cuda(gpu) => gpu.stream().hold(std::time::Duration::from_millis(50)).map(Some),
        _ => Ok(None),
    }
}
#[cfg(not(feature = "cuda"))]
fn hold(_: &Device) -> Result<Option<()>> {
    Ok(None)
}

fn can_be_held(device: &Device) -> bool {
    device.caps().backend == "cuda"
}

/// Warms up, and finds how many calls fill the least time of a measurement.
fn batch_for(device: &Device, ready: &Ready, settings: &Settings) -> Result<(u64, bool)> {
    let mut turn = 0;
    let mut batch = 1;
    loop {
        timed(device, ready, batch, &mut turn)?;
        let (taken, clock) = timed(device, ready, batch, &mut turn)?;
        let most = if can_be_held(device) { HELD } else { MOST };
        if taken >= settings.least_s || batch >= most {
            return Ok((batch, clock));
        }
        let factor = (settings.least_s / taken.max(1e-9)).clamp(2.0, 16.0);
        batch = ((batch as f64 * factor).ceil() as u64).min(most);
    }
}

fn end_to_end(device: &Device, ready: &Ready, settings: &Settings) -> Result<f64> {
    let mut times = Vec::new();
    for turn in 0..settings.samples as u64 {
        device.synchronize()?;
        let start = Instant::now();
        ready.enqueue(turn)?;
        device.synchronize()?;
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(median(&times))
}

/// Wall time per call of calls that nobody waits for: few where a call takes the device long, since queues fill up.
fn host(device: &Device, ready: &Ready, device_s: f64) -> Result<f64> {
    let calls = (0.05 / device_s).clamp(4.0, 100.0) as u64;
    let mut times = Vec::new();
    for _ in 0..5 {
        device.synchronize()?;
        let start = Instant::now();
        (0..calls).try_for_each(|turn| ready.enqueue(turn))?;
        times.push(start.elapsed().as_secs_f64() / calls as f64);
    }
    device.synchronize()?;
    times.sort_by(f64::total_cmp);
    Ok(median(&times))
}

fn median(sorted: &[f64]) -> f64 {
    let k = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[k] } else { (sorted[k - 1] + sorted[k]) / 2.0 }
}
