//! Running the probe's kernels before the device handle exists.

use super::operations::Trial;
use crate::batch::Batch;
use crate::binds::Binding;
use crate::buffer::{Buffer, Pool};
use crate::context::Context;
use crate::pipeline::{Kernel, KernelSource, Pipelines};
use crate::readback::{Poller, ReadBack, Staging};
use isowarp_core::error::{Error, Result};
use std::sync::Arc;
use std::time::Duration;

/// A few dispatches and one wait, before the device handle exists.
pub(super) struct Bench {
    pipelines: Arc<Pipelines>,
    pool: Arc<Pool>,
    batch: Batch,
    outputs: Vec<(Buffer, u64)>,
}

impl Bench {
    /// With these kernels, which were compiled for the context as it is sealed now.
    pub(super) fn new(pipelines: &Arc<Pipelines>) -> Self {
        Self { pipelines: Arc::clone(pipelines), pool: Arc::new(Pool::new(0)), batch: Batch::new(), outputs: Vec::new() }
    }

    pub(super) fn enqueue(&mut self, context: &Context, name: &str, wgsl: &str, input: &[u8], results: usize, width: u64) -> Result<()> {
        let kernel = self.pipelines.get(context, &KernelSource { name, wgsl, entry: "main" })?;
        let groups = groups(&kernel, input.len() as u64);
        self.dispatch(context, &kernel, input, results as u64 * width, groups)
    }

    /// Enqueues a kernel over this many workgroups, whose results are words.
    pub(super) fn enqueue_groups(
        &mut self,
        context: &Context,
        name: &str,
        wgsl: &str,
        input: &[u8],
        results: usize,
        groups: u32,
    ) -> Result<()> {
        let kernel = self.pipelines.get(context, &KernelSource { name, wgsl, entry: "main" })?;
        self.dispatch(context, &kernel, input, results as u64 * 4, groups)
    }

    fn dispatch(&mut self, context: &Context, kernel: &Kernel, input: &[u8], bytes: u64, groups: u32) -> Result<()> {
        let source = self.pool.allocate(context, input.len() as u64)?;
        context.queue.write_buffer(source.as_wgpu(), 0, input);
        let target = self.pool.allocate(context, bytes)?;
        let bindings = [
            Binding { buffer: &source, offset_bytes: 0, size_bytes: input.len() as u64 },
            Binding { buffer: &target, offset_bytes: 0, size_bytes: bytes },
        ];
        let params = vec![0; kernel.interface().params_bytes as usize];
        self.batch.dispatch(context, &self.pipelines, kernel, &bindings, &params, [groups, 1, 1])?;
        self.outputs.push((target, bytes));
        Ok(())
    }

    /// Enqueues what tries the subjects of a kind.
    pub(super) fn enqueue_trial(&mut self, context: &Context, trial: &Trial) -> Result<()> {
        let input = trial.input();
        self.enqueue_groups(context, trial.kind.name(), &trial.wgsl, bytemuck::cast_slice(&input), trial.results(), trial.groups())
    }

    pub(super) async fn finish(mut self, context: &Context) -> Result<Vec<Vec<u8>>> {
        let total: u64 = self.outputs.iter().map(|o| o.1).sum();
        let gathered = self.pool.allocate(context, total)?;
        let mut at = 0;
        for (output, bytes) in &self.outputs {
            self.batch.copy(context, (output, 0), (&gathered, at), *bytes)?;
            at += bytes;
        }
        let staging = Arc::new(Staging::default());
        let buffer = staging.take(context, total)?;
        self.batch.copy_out(context, (&gathered, 0), &buffer, total)?;
        let index = self.batch.flush(context)?;
        let missing = || Error::Driver { call: "Queue::submit", message: "nothing was submitted".to_owned() };
        let read = ReadBack::start(
            (&Arc::new(context.clone()), &staging, &Arc::<Poller>::default()),
            buffer,
            index.ok_or_else(missing)?,
            0,
            total as usize,
        )?;
        let all = if cfg!(target_family = "wasm") { read.await? } else { read.wait()? };
        let mut rest = &all[..];
        let mut out = Vec::with_capacity(self.outputs.len());
        for (_, bytes) in &self.outputs {
            let (head, tail) = rest.split_at(*bytes as usize);
            out.push(head.to_vec());
            rest = tail;
        }
        Ok(out)
    }
}

/// All probe inputs are 16 bytes per invocation, but for the words of lanes, whose workgroups are of 256.
fn groups(kernel: &Kernel, input_bytes: u64) -> u32 {
    let invocations = u64::from(kernel.interface().workgroup_size[0]);
    let each = if invocations == 256 { 4 } else { 16 };
    (input_bytes / each / invocations) as u32
}

pub(super) fn as_bytes(words: &[[u32; 4]]) -> &[u8] {
    bytemuck::cast_slice(words)
}

pub(super) fn to_words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).filter_map(|c| c.try_into().ok()).map(u32::from_le_bytes).collect()
}

/// A stopwatch; browsers' std has no clock.
pub(crate) fn web_time() -> impl Fn() -> Duration {
    #[cfg(not(target_family = "wasm"))]
    let start = std::time::Instant::now();
    move || {
        #[cfg(not(target_family = "wasm"))]
        return start.elapsed();
        #[cfg(target_family = "wasm")]
        Duration::ZERO
    }
}
