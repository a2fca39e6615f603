//! One clock for both libraries: timestamps that the device writes before and after a batch, or the host's clock where it cannot.

use crate::Failure;
use isowarp::Wgpu;
use isowarp::backend::Backend as _;
use std::time::Instant;

/// For how long batches run before one counts.
const WARM_MS: u128 = 200;
/// Bytes of two timestamps.
const BYTES: u64 = 16;

/// The clock of a device.
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

    /// Seconds that a batch of isowarp's takes: its own clock is the same kind of query, around what is enqueued.
    pub(crate) fn ours(&self, dev: &Wgpu, batch: &mut dyn FnMut() -> isowarp::Result<()>) -> Result<f64, Failure> {
        let start = Instant::now();
        let taken = dev.time(batch)?;
        Ok(taken.filter(|_| self.on_device()).unwrap_or_else(|| start.elapsed().as_secs_f64()))
    }

    /// Seconds that a batch takes which is recorded into an encoder. Lampshade's work and ours share the queue.
    pub(crate) fn theirs(
        &self,
        dev: &Wgpu,
        batch: &mut dyn FnMut(&mut wgpu::CommandEncoder) -> Result<(), lampshade::Error>,
    ) -> Result<f64, Failure> {
        dev.synchronize()?;
        let start = Instant::now();
        let mut encoder = dev.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        if let Some(q) = &self.queries {
            encoder.write_timestamp(&q.set, 0);
        }
        batch(&mut encoder)?;
        if let Some(q) = &self.queries {
            encoder.write_timestamp(&q.set, 1);
            encoder.resolve_query_set(&q.set, 0..2, &q.resolved, 0);
            encoder.copy_buffer_to_buffer(&q.resolved, 0, &q.read, 0, BYTES);
        }
        dev.queue().submit([encoder.finish()]);
        dev.device().poll(wgpu::PollType::wait_indefinitely())?;
        match &self.queries {
            Some(q) => q.seconds(dev),
            None => Ok(start.elapsed().as_secs_f64()),
        }
    }
}

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

    fn seconds(&self, dev: &Wgpu) -> Result<f64, Failure> {
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
        Ok(end.saturating_sub(start) as f64 * self.period * 1e-9)
    }
}

/// The median time of a batch, after as many as take a while: a device that idled runs slowly at first.
pub(crate) fn warm_median(samples: usize, mut batch: impl FnMut() -> Result<f64, Failure>) -> Result<f64, Failure> {
    let start = Instant::now();
    while batch().map(|_| start.elapsed().as_millis() < WARM_MS)? {}
    (0..samples).map(|_| batch()).collect::<Result<_, Failure>>().map(median)
}

/// The middle of some times.
pub(crate) fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
