//! The open command buffer: dispatches and copies in the order they were asked for, submitted together.

use crate::binds::{BindGroups, Binding, MAX_BINDINGS};
use crate::buffer::Buffer;
use crate::context::Context;
use crate::lifetime::Held;
use crate::pipeline::{Kernel, ParamsVia, Pipeline, Pipelines};
use crate::seal::Access;
use isowarp_core::error::{Error, Result};
use parking_lot::Mutex;
use std::borrow::Cow;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Commands after which a batch is submitted, so that the device does not wait for the host to have recorded everything.
const MAX_COMMANDS: u32 = 128;
/// Bytes bound or copied after which a batch is submitted.
const MAX_BYTES: u64 = 4 << 30;
/// Bytes that the host writes after which a batch is submitted: until then the driver holds them twice.
const MAX_STAGED: u64 = 64 << 20;
/// Bytes of uniform parameters in one batch.
const ARENA_BYTES: u64 = 64 << 10;

/// Workgroups per grid dimension.
pub type Grid = [u32; 3];

/// Folds a number of workgroups into a grid whose dimensions are at most `max`, with as few surplus groups as rows need. A kernel
/// finds its linear number as `(z * ny + y) * nx + x` and returns where that is past the end.
///
/// # Errors
/// [`Error::TooLarge`] above `max` cubed.
pub fn fold(groups: u64, max: u32) -> Result<Grid> {
    let side = u64::from(max.max(1));
    let rows = groups.div_ceil(side);
    let planes = rows.div_ceil(side);
    if planes > side {
        return Err(Error::TooLarge { what: "workgroups", requested: groups, limit: side.saturating_pow(3) });
    }
    let (z, y) = if groups == 0 { (1, 1) } else { (planes, rows.div_ceil(planes)) };
    let x = groups.div_ceil(y * z);
    Ok([x as u32, y as u32, z as u32])
}

/// Records commands; one per device, behind a lock.
#[derive(Debug)]
pub(crate) struct Batch {
    // Dropped before the encoder, which it locks.
    pass: Option<Held<wgpu::ComputePass<'static>>>,
    encoder: Option<Held<wgpu::CommandEncoder>>,
    binds: Arc<Mutex<BindGroups>>,
    arena: Option<Arena>,
    number: u64,
    /// The last batch that the device has done with.
    done: Arc<AtomicU64>,
    commands: u32,
    bytes: u64,
    /// Bytes that the host has written since the last submission.
    staged: u64,
    last: Option<wgpu::SubmissionIndex>,
    pipeline: Option<Held<wgpu::ComputePipeline>>,
    /// Commands from the first dispatch on whose pipeline the driver is still compiling, so that it compiles those of the next ones meanwhile.
    waiting: Vec<Waiting>,
}

/// A command that waits to be recorded.
#[derive(Debug)]
enum Waiting {
    Dispatch(Dispatch<'static>),
    Copy { src: Held<wgpu::Buffer>, dst: Held<wgpu::Buffer>, from: u64, to: u64, bytes: u64 },
    Clear { dst: Held<wgpu::Buffer>, offset: u64, bytes: u64 },
}

/// A dispatch with all that it needs.
#[derive(Debug)]
struct Dispatch<'a> {
    pipeline: Arc<Pipeline>,
    group: Arc<Held<wgpu::BindGroup>>,
    params: Parameters<'a>,
    grid: Grid,
}

/// Parameters of a dispatch.
#[derive(Debug)]
enum Parameters<'a> {
    Nothing,
    Immediates(Cow<'a, [u8]>),
    /// An offset in the arena.
    Uniform(u32),
}

/// Parameters of the dispatches of one batch, where they cannot travel with the dispatch.
#[derive(Debug)]
struct Arena {
    buffer: Held<wgpu::Buffer>,
    group: Held<wgpu::BindGroup>,
    staged: Vec<u8>,
    align: usize,
}

impl Batch {
    pub(crate) fn new() -> Self {
        Self {
            pass: None,
            encoder: None,
            binds: Arc::default(),
            arena: None,
            number: 1,
            done: Arc::default(),
            commands: 0,
            bytes: 0,
            staged: 0,
            last: None,
            pipeline: None,
            waiting: Vec::new(),
        }
    }

    /// The number of the open batch.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The bind groups that are kept.
    pub(crate) fn bind_groups(&self) -> &Arc<Mutex<BindGroups>> {
        &self.binds
    }

    /// The number of the last batch that the device has done with.
    pub(crate) fn done(&self) -> &Arc<AtomicU64> {
        &self.done
    }

    /// Records one dispatch.
    pub(crate) fn dispatch(
        &mut self,
        context: &Context,
        pipelines: &Pipelines,
        kernel: &Kernel,
        bindings: &[Binding<'_>],
        params: &[u8],
        grid: Grid,
    ) -> Result<()> {
        if grid.contains(&0) {
            return Ok(());
        }
        check(context, kernel, bindings, params, grid)?;
        let twin;
        let kernel = if mixes_access(kernel, bindings) {
            twin = pipelines.aliased(context, kernel)?;
            &*twin
        } else {
            kernel
        };
        // Everything that can fail comes before the first recorded command.
        let params = match kernel.params {
            ParamsVia::Uniform => Parameters::Uniform(self.stage(context, pipelines, params)?),
            ParamsVia::Immediates => Parameters::Immediates(Cow::Borrowed(params)),
            ParamsVia::Nothing => Parameters::Nothing,
        };
        let group = self.binds.lock().get(context, &kernel.layout, bindings)?;
        if self.waiting.iter().all(Waiting::is_ready) {
            self.record_waiting(context)?;
        }
        let dispatch = Dispatch { pipeline: Arc::clone(&kernel.pipeline), group, params, grid };
        if self.waiting.is_empty() && kernel.pipeline.is_ready() {
            self.record(context, &dispatch)?;
        } else {
            self.waiting.push(Waiting::Dispatch(dispatch.owned()));
        }
        let mut bytes = 0;
        for binding in bindings {
            binding.buffer.touch(self.number);
            bytes += binding.size_bytes;
        }
        self.count(context, bytes)
    }

    /// Puts a dispatch into the open pass.
    fn record(&mut self, context: &Context, dispatch: &Dispatch<'_>) -> Result<()> {
        let pipeline = dispatch.pipeline.wait()?;
        let encoder = self.encoder.get_or_insert_with(|| new_encoder(context));
        let new_pass = || Held::new(encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default()).forget_lifetime());
        let pass = self.pass.get_or_insert_with(new_pass);
        if self.pipeline.as_deref() != Some(&**pipeline) {
            pass.set_pipeline(pipeline);
            self.pipeline = Some(Held::new((**pipeline).clone()));
        }
        pass.set_bind_group(0, &**dispatch.group, &[]);
        match (&dispatch.params, &self.arena) {
            (Parameters::Immediates(bytes), _) => pass.set_immediates(0, bytes),
            (Parameters::Uniform(offset), Some(arena)) => pass.set_bind_group(1, &*arena.group, &[*offset]),
            _ => {}
        }
        let [x, y, z] = dispatch.grid;
        pass.dispatch_workgroups(x, y, z);
        Ok(())
    }

    /// Records the commands that waited, in their order. Where the driver refuses a pipeline, its command and those behind it do not run, so every result
    /// that was to come from them is wrong.
    fn record_waiting(&mut self, context: &Context) -> Result<()> {
        for command in std::mem::take(&mut self.waiting) {
            match command {
                Waiting::Dispatch(dispatch) => {
                    self.record(context, &dispatch).inspect_err(|error| context.faults.defer(error.clone()))?;
                }
                Waiting::Copy { src, dst, from, to, bytes } => {
                    self.encoder_outside(context).copy_buffer_to_buffer(&src, from, &dst, to, bytes);
                }
                Waiting::Clear { dst, offset, bytes } => self.encoder_outside(context).clear_buffer(&dst, offset, Some(bytes)),
            }
        }
        Ok(())
    }

    /// Records a copy between two buffers; offsets and length are multiples of four.
    pub(crate) fn copy(&mut self, context: &Context, src: (&Buffer, u64), dst: (&Buffer, u64), bytes: u64) -> Result<()> {
        if self.waiting.is_empty() {
            self.encoder_outside(context).copy_buffer_to_buffer(src.0.as_wgpu(), src.1, dst.0.as_wgpu(), dst.1, bytes);
        } else {
            let [src_of, dst_of] = [src.0, dst.0].map(|buffer| Held::new(buffer.as_wgpu().clone()));
            self.waiting.push(Waiting::Copy { src: src_of, dst: dst_of, from: src.1, to: dst.1, bytes });
        }
        src.0.touch(self.number);
        dst.0.touch(self.number);
        self.count(context, bytes)
    }

    /// Records a copy into a staging buffer.
    pub(crate) fn copy_out(&mut self, context: &Context, src: (&Buffer, u64), dst: &wgpu::Buffer, bytes: u64) -> Result<()> {
        let encoder = self.outside_pass(context)?;
        encoder.copy_buffer_to_buffer(src.0.as_wgpu(), src.1, dst, 0, bytes);
        src.0.touch(self.number);
        self.commands += 1;
        Ok(())
    }

    /// Records zeroing of a range; offset and length are multiples of four.
    pub(crate) fn clear(&mut self, context: &Context, dst: &Buffer, offset: u64, bytes: u64) -> Result<()> {
        if self.waiting.is_empty() {
            self.encoder_outside(context).clear_buffer(dst.as_wgpu(), offset, Some(bytes));
        } else {
            self.waiting.push(Waiting::Clear { dst: Held::new(dst.as_wgpu().clone()), offset, bytes });
        }
        dst.touch(self.number);
        self.count(context, bytes)
    }

    /// The encoder with no pass open and nothing that waits, for commands that are not dispatches.
    pub(crate) fn outside_pass(&mut self, context: &Context) -> Result<&mut wgpu::CommandEncoder> {
        self.record_waiting(context)?;
        Ok(self.encoder_outside(context))
    }

    fn encoder_outside(&mut self, context: &Context) -> &mut wgpu::CommandEncoder {
        self.pass = None;
        self.pipeline = None;
        self.commands = self.commands.max(1);
        self.encoder.get_or_insert_with(|| new_encoder(context))
    }

    /// Counts bytes that the host wrote, which go before the open batch's commands.
    pub(crate) fn wrote(&mut self, context: &Context, bytes: u64) -> Result<()> {
        self.staged += bytes;
        if self.staged >= MAX_STAGED {
            self.flush(context)?;
        }
        Ok(())
    }

    /// Submits what has been recorded and written, and returns the last submission, if there has been any. What the host wrote is submitted alone too:
    /// until then wgpu holds both what was written and what it was written to.
    pub(crate) fn flush(&mut self, context: &Context) -> Result<Option<wgpu::SubmissionIndex>> {
        let recorded = self.record_waiting(context);
        self.pass = None;
        self.pipeline = None;
        let encoder = self.encoder.take();
        if encoder.is_none() && self.staged == 0 {
            return recorded.map(|()| self.last.clone());
        }
        let (number, done) = (self.number, Arc::clone(&self.done));
        self.number += 1;
        self.commands = 0;
        self.bytes = 0;
        self.staged = 0;
        let arena = self.arena.as_mut();
        let submitted = context.guarded("Queue::submit", 0, || {
            if let Some(arena) = arena
                && !arena.staged.is_empty()
            {
                context.queue.write_buffer(&arena.buffer, 0, &arena.staged);
                arena.staged.clear();
            }
            let index = context.queue.submit(encoder.map(|encoder| encoder.take().finish()));
            context.queue.on_submitted_work_done(move || {
                done.fetch_max(number, Ordering::Relaxed);
            });
            index
        });
        match submitted {
            Ok(index) => {
                self.last = Some(index.clone());
                recorded.map(|()| Some(index))
            }
            Err(error) => {
                // The commands did not run, so every result that was to come from them is wrong.
                context.faults.defer(error.clone());
                Err(error)
            }
        }
    }

    fn count(&mut self, context: &Context, bytes: u64) -> Result<()> {
        self.commands += 1;
        self.bytes += bytes;
        if self.commands >= MAX_COMMANDS || self.bytes >= MAX_BYTES {
            self.flush(context)?;
        }
        Ok(())
    }

    /// Keeps parameters for the write at submission; returns their offset.
    fn stage(&mut self, context: &Context, pipelines: &Pipelines, params: &[u8]) -> Result<u32> {
        let full = |a: &Arena| a.staged.len().next_multiple_of(a.align) + params.len() > ARENA_BYTES as usize;
        if self.arena.as_ref().is_some_and(full) {
            self.flush(context)?;
        }
        if self.arena.is_none() {
            self.arena = Some(Arena::new(context, pipelines)?);
        }
        let Some(arena) = &mut self.arena else { unreachable!("made above") };
        let offset = arena.staged.len().next_multiple_of(arena.align);
        arena.staged.resize(offset, 0);
        arena.staged.extend_from_slice(params);
        Ok(offset as u32)
    }
}

/// Parameter blocks are at most this long; the rest of a slot's binding is never read.
const SLOT_BYTES: u64 = 256;

impl Dispatch<'_> {
    fn owned(self) -> Dispatch<'static> {
        let params = match self.params {
            Parameters::Nothing => Parameters::Nothing,
            Parameters::Immediates(bytes) => Parameters::Immediates(Cow::Owned(bytes.into_owned())),
            Parameters::Uniform(offset) => Parameters::Uniform(offset),
        };
        Dispatch { params, ..self }
    }
}

impl Waiting {
    fn is_ready(&self) -> bool {
        match self {
            Self::Dispatch(dispatch) => dispatch.pipeline.is_ready(),
            Self::Copy { .. } | Self::Clear { .. } => true,
        }
    }
}

impl Arena {
    fn new(context: &Context, pipelines: &Pipelines) -> Result<Self> {
        let device = &context.device;
        context.guarded("create_buffer", ARENA_BYTES, || {
            let buffer = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("params"),
                size: ARENA_BYTES + SLOT_BYTES,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("params"),
                layout: pipelines.params_layout(device),
                entries: &[wgpu::BindGroupEntry {
                    binding: 0,
                    resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                        buffer: &buffer,
                        offset: 0,
                        size: NonZeroU64::new(SLOT_BYTES),
                    }),
                }],
            });
            let align = context.limits.min_uniform_buffer_offset_alignment.max(16) as usize;
            Self { buffer: Held::new(buffer), group: Held::new(group), staged: Vec::with_capacity(ARENA_BYTES as usize), align }
        })
    }
}

fn new_encoder(context: &Context) -> Held<wgpu::CommandEncoder> {
    Held::new(context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("isowarp") }))
}

/// Whether a buffer is both read-only and writable in this dispatch.
fn mixes_access(kernel: &Kernel, bindings: &[Binding<'_>]) -> bool {
    let accesses = &kernel.interface().bindings;
    bindings.iter().zip(accesses).any(|(read, &a)| {
        a == Access::Read
            && bindings.iter().zip(accesses).any(|(write, &b)| b == Access::ReadWrite && read.buffer.id() == write.buffer.id())
    })
}

fn check(context: &Context, kernel: &Kernel, bindings: &[Binding<'_>], params: &[u8], grid: Grid) -> Result<()> {
    let interface = kernel.interface();
    let invalid = |what, reason| Err(Error::InvalidArgument { what, reason });
    if bindings.len() != interface.bindings.len() || bindings.len() > MAX_BINDINGS {
        return invalid("bindings", format!("`{}` binds {}, {} given", kernel.name(), interface.bindings.len(), bindings.len()));
    }
    if params.len() != interface.params_bytes as usize || params.len() > SLOT_BYTES as usize {
        return invalid("params", format!("`{}` takes {} bytes, {} given", kernel.name(), interface.params_bytes, params.len()));
    }
    let limits = &context.limits;
    for &n in &grid {
        let limit = limits.max_compute_workgroups_per_dimension;
        if n > limit {
            return Err(Error::TooLarge { what: "workgroups in one dimension", requested: n.into(), limit: limit.into() });
        }
    }
    for b in bindings {
        if b.size_bytes > limits.max_storage_buffer_binding_size {
            let limit = limits.max_storage_buffer_binding_size;
            return Err(Error::TooLarge { what: "binding bytes", requested: b.size_bytes, limit });
        }
        if b.offset_bytes + b.size_bytes > b.buffer.capacity() {
            return Err(Error::OutOfRange {
                what: "binding",
                start: b.offset_bytes,
                end: b.offset_bytes + b.size_bytes,
                len: b.buffer.capacity(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn folded_grids_hold_every_group_within_the_limit() {
        for groups in
            [0_u64, 1, 65_535, 65_536, 131_070, 131_071, 65_535 * 65_535 + 1, 1 << 32, (1 << 32) + 12_345, 1 << 40, 65_535_u64.pow(3)]
        {
            let grid = fold(groups, 65_535).expect("below the limit");
            let total: u64 = grid.iter().map(|&n| u64::from(n)).product();
            assert!(grid.iter().all(|&n| n <= 65_535));
            assert!(total >= groups && total - groups < u64::from(grid[1]) * u64::from(grid[2]), "{groups}: {grid:?}");
        }
        assert_eq!(fold(65_535, 65_535).expect("fits"), [65_535, 1, 1]);
        assert!(fold(65_535_u64.pow(3) + 1, 65_535).is_err());
    }
}
