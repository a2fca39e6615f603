//! Two clocks for every library: timestamps that the device writes before and after a batch, and the host's, from the first call of a
//! batch until the device is done.

use crate::Failure;
use isowarp::Wgpu;
use isowarp::backend::Backend as _;
use std::time::Instant;

/// For how long batches run before one counts.
const WARM_MS: u128 = 200;
/// Bytes of two timestamps.
const BYTES: u64 = 16;

/// Seconds that a call takes, of a batch: medians.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    /// By the device's clock, where it has one and calls do not wait for it.
    pub(crate) device: Option<f64>,
    /// By the host's: enqueueing, and waiting for the device at the end of the batch.
    pub(crate) host: f64,
}

/// Number of measurements: batches, and calls in a batch.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// Batches of which the median is taken.
    pub(crate) samples: usize,
    /// Calls in a batch.
    pub(crate) calls: u32,
}

impl Plan {
    /// Times of a call, of batches between two marks (`None`: the device has no clock) and of batches that are waited for.
    pub(crate) fn times(
        self,
        marked: &mut dyn FnMut() -> Result<Option<f64>, Failure>,
        waited: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<Times, Failure> {
        let device = match marked()? {
            Some(_) => Some(self.median(&mut || marked()?.ok_or_else(|| "the device lost its clock".into()))?),
            None => None,
        };
        Ok(Times { device, host: self.waited(waited)? })
    }

    /// Times of a call that waits for the device itself: the device's clock would tell no more.
    pub(crate) fn waiting(self, batch: &mut dyn FnMut() -> Result<(), Failure>) -> Result<Times, Failure> {
        Ok(Times { device: None, host: self.waited(batch)? })
    }

    fn waited(self, batch: &mut dyn FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
        self.median(&mut || {
            let start = Instant::now();
            batch()?;
            Ok(start.elapsed().as_secs_f64())
        })
    }

    /// The median time of a batch, for each of its calls, after as many batches as take a while: a device that idled runs slowly at first.
    fn median(self, batch: &mut dyn FnMut() -> Result<f64, Failure>) -> Result<f64, Failure> {
        let start = Instant::now();
        while batch().map(|_| start.elapsed().as_millis() < WARM_MS)? {}
        let mut times: Vec<f64> = (0..self.samples).map(|_| batch()).collect::<Result<_, Failure>>()?;
        times.sort_by(f64::total_cmp);
        Ok(times.get(times.len() / 2).copied().unwrap_or(f64::NAN) / f64::from(self.calls))
    }
}

/// The device's clock, for work on its queue that isowarp did not enqueue. isowarp's own is the same kind of query.
pub(crate) struct Clock {
    queries: Option<Queries>,
}

struct Queries {
    set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    read: wgpu::Buffer,
    /// Nanoseconds of a tick.
    period: f64,
}

impl Clock {
    pub(crate) fn new(dev: &Wgpu) -> Self {
        let needed = wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS;
        Self { queries: dev.features().contains(needed).then(|| Queries::new(dev)) }
    }

    pub(crate) fn on_device(&self) -> bool {
        self.queries.is_some()
    }

    /// Seconds between marks before and after a batch that is recorded into an encoder.
    pub(crate) fn recorded(&self, dev: &Wgpu, batch: &mut dyn FnMut(&mut wgpu::CommandEncoder) -> Result<(), Failure>) -> Marked {
        let Some(queries) = &self.queries else { return Ok(None) };
        dev.synchronize()?;
        let mut encoder = dev.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.write_timestamp(&queries.set, 0);
        batch(&mut encoder)?;
        queries.stop(&mut encoder);
        dev.queue().submit([encoder.finish()]);
        queries.seconds(dev)
    }

    /// Seconds between marks before and after a batch that has reached the queue when `batch` returns.
    pub(crate) fn submitted(&self, dev: &Wgpu, batch: &mut dyn FnMut() -> Result<(), Failure>) -> Marked {
        let Some(queries) = &self.queries else { return Ok(None) };
        dev.synchronize()?;
        let encoder = || dev.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let (mut start, mut stop) = (encoder(), encoder());
        start.write_timestamp(&queries.set, 0);
        queries.stop(&mut stop);
        dev.queue().submit([start.finish()]);
        batch()?;
        dev.queue().submit([stop.finish()]);
        queries.seconds(dev)
    }
}

type Marked = Result<Option<f64>, Failure>;

impl Queries {
    fn new(dev: &Wgpu) -> Self {
        let buffer =
            |usage| dev.device().create_buffer(&wgpu::BufferDescriptor { label: None, size: BYTES, usage, mapped_at_creation: false });
        let set = dev.device().create_query_set(&wgpu::QuerySetDescriptor { label: None, ty: wgpu::QueryType::Timestamp, count: 2 });
        Self {
            set,
            resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            read: buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST),
            period: f64::from(dev.queue().get_timestamp_period()),
        }
    }

    fn stop(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.write_timestamp(&self.set, 1);
        encoder.resolve_query_set(&self.set, 0..2, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.read, 0, BYTES);
    }

    /// Waits for the device and reads the marks.
    fn seconds(&self, dev: &Wgpu) -> Marked {
        let slice = self.read.slice(..);
        let (sender, receiver) = std::sync::mpsc::channel();
        slice.map_async(wgpu::MapMode::Read, move |mapped| {
            // The receiver waits below.
            let _ = sender.send(mapped);
        });
        dev.device().poll(wgpu::PollType::wait_indefinitely())?;
        receiver.recv()??;
        let ticks: Vec<u64> = slice.get_mapped_range()?.chunks_exact(8).filter_map(|b| b.try_into().ok().map(u64::from_le_bytes)).collect();
        self.read.unmap();
        let [start, end] = ticks[..] else { return Err("the device wrote no timestamps".into()) };
        Ok(Some(end.saturating_sub(start) as f64 * self.period * 1e-9))
    }
}
