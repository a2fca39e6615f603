//! P01 map: every index on its own.

use crate::Cpu;
use crate::memory::HostBuffer;
use crate::operands::{Operands, Pending};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::ir::{Evaluator, LANES};
use isowarp_core::patterns::MapTask;
use rayon::prelude::*;

/// Elements that one thread takes at a time.
const CHUNK: usize = 64 * LANES;

impl Run<MapTask> for Cpu {
    fn run(&self, task: &MapTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let operands = Operands::lock(leaves);
        let mut pending = Pending::of(outs, task.n)?;
        let chunks = (task.n as usize).div_ceil(CHUNK);
        let mut parts: Vec<Vec<&mut [u8]>> = (0..chunks).map(|_| Vec::new()).collect();
        for p in &mut pending {
            let size = p.element_bytes();
            for (part, bytes) in parts.iter_mut().zip(p.bytes.chunks_mut(CHUNK * size)) {
                part.push(bytes);
            }
        }
        parts.into_par_iter().enumerate().for_each(|(c, mut part)| {
            let mut e = Evaluator::new(&task.func);
            let (start, end) = (c * CHUNK, ((c + 1) * CHUNK).min(task.n as usize));
            for at in (start..end).step_by(LANES) {
                let lanes = LANES.min(end - at);
                operands.eval(&task.func, &mut e, at as u64, 1, lanes);
                for (k, (bytes, out)) in part.iter_mut().zip(outs).enumerate() {
                    let size = out.dtype.size_bytes() as usize;
                    let from = (at - start) * size;
                    Pending::put_lanes(out.dtype, &e.result(k)[..lanes], &mut bytes[from..from + lanes * size]);
                }
            }
        });
        drop(operands);
        pending.iter().zip(outs).try_for_each(|(p, o)| p.write(o))
    }
}
