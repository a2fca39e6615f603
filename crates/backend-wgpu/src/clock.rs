//! Device time between two points of the queue.

use crate::batch::Batch;
use crate::context::Context;
use crate::lifetime::Held;
use crate::readback::Mapping;
use isowarp_core::error::{Error, Result};

/// Two timestamps and the buffers they travel through; made at the first use.
#[derive(Debug)]
pub(crate) struct Clock {
    supported: bool,
    parts: Option<Parts>,
}

/// A clock that can run.
#[derive(Debug)]
pub(crate) struct Parts {
    queries: Held<wgpu::QuerySet>,
    resolved: Held<wgpu::Buffer>,
    staging: Held<wgpu::Buffer>,
    inside_encoders: bool,
    nanoseconds: f64,
}

impl Clock {
    pub(crate) fn new(context: &Context) -> Self {
        Self { supported: context.features.contains(wgpu::Features::TIMESTAMP_QUERY), parts: None }
    }

    /// Marks the start, or returns `None` where the adapter has no timestamps.
    pub(crate) fn start(&mut self, context: &Context, batch: &mut Batch) -> Result<Option<&mut Parts>> {
        if !self.supported {
            return Ok(None);
        }
        // Earlier work must not overlap the region.
        batch.flush(context)?;
        if self.parts.is_none() {
            self.parts = Some(Parts::new(context)?);
        }
        if let Some(parts) = &self.parts {
            parts.stamp(context, batch, 0)?;
        }
        Ok(self.parts.as_mut())
    }
}

impl Parts {
    fn new(context: &Context) -> Result<Self> {
        let device = &context.device;
        let buffer = |usage| {
            let descriptor = wgpu::BufferDescriptor { label: Some("timestamps"), size: 16, usage, mapped_at_creation: false };
            Held::new(device.create_buffer(&descriptor))
        };
        context.guarded("create_query_set", 16, || Self {
            queries: Held::new(device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("timestamps"),
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            })),
            resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            staging: buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST),
            inside_encoders: context.features.contains(wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS),
            nanoseconds: f64::from(context.queue.get_timestamp_period()),
        })
    }

    fn stamp(&self, context: &Context, batch: &mut Batch, index: u32) -> Result<()> {
        let encoder = batch.outside_pass(context)?;
        if self.inside_encoders {
            encoder.write_timestamp(&self.queries, index);
            return Ok(());
        }
        // Where only pass boundaries carry timestamps, an empty pass is the mark.
        drop(encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("timestamp"),
            timestamp_writes: Some(wgpu::ComputePassTimestampWrites {
                query_set: &self.queries,
                beginning_of_pass_write_index: Some(index),
                end_of_pass_write_index: None,
            }),
        }));
        Ok(())
    }

    /// Marks the end and submits.
    pub(crate) fn stop(&mut self, context: &Context, batch: &mut Batch) -> Result<wgpu::SubmissionIndex> {
        self.stamp(context, batch, 1)?;
        let encoder = batch.outside_pass(context)?;
        encoder.resolve_query_set(&self.queries, 0..2, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.staging, 0, 16);
        let lost = || Error::Driver { call: "Queue::submit", message: "nothing was submitted".to_owned() };
        batch.flush(context)?.ok_or_else(lost)
    }

    /// Waits, and returns the seconds between the marks.
    pub(crate) fn read(&mut self, context: &Context, index: wgpu::SubmissionIndex) -> Result<f64> {
        let failed = |message: String| Error::Driver { call: "map_async", message };
        let mapping = Mapping::start(context, &self.staging, 16)?;
        mapping.wait(context, Some(index))?.map_err(|e| failed(e.to_string()))?;
        let ticks: Vec<u64> = context.cross("get_mapped_range", || {
            let view = self.staging.slice(..).get_mapped_range().map_err(|e| failed(e.to_string()))?;
            let ticks = view.chunks_exact(8).filter_map(|c| c.try_into().ok()).map(u64::from_le_bytes).collect();
            drop(view);
            self.staging.unmap();
            Ok::<_, Error>(ticks)
        })??;
        context.faults.check()?;
        match ticks[..] {
            [start, end] => Ok(end.saturating_sub(start) as f64 * self.nanoseconds * 1e-9),
            _ => Err(failed("timestamps of the wrong size".to_owned())),
        }
    }
}
