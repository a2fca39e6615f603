//! P01 map: every index on its own.

use crate::memory::HostBuffer;
use crate::operands::store;
use crate::{Cpu, outputs, threads};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::ir::{BLOCK, Blocks};
use isowarp_core::patterns::MapTask;

/// Elements that one thread takes at a time.
const CHUNK: usize = 32 * BLOCK;

impl Run<MapTask> for Cpu {
    fn run(&self, task: &MapTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let n = task.n as usize;
        outputs::write(leaves, outs, task.n, false, |operands, results| {
            let mut chunks: Vec<Vec<&mut [u8]>> = (0..n.div_ceil(CHUNK)).map(|_| Vec::new()).collect();
            for (bytes, out) in results.into_iter().zip(outs) {
                let parts = bytes.chunks_mut(CHUNK * out.dtype.size_bytes() as usize);
                chunks.iter_mut().zip(parts).for_each(|(chunk, part)| chunk.push(part));
            }
            threads::each(chunks, &Blocks::new(&task.func), |blocks, c, mut chunk| {
                let (start, end) = (c * CHUNK, ((c + 1) * CHUNK).min(n));
                for at in (start..end).step_by(BLOCK) {
                    let lanes = BLOCK.min(end - at);
                    operands.eval(&task.func, blocks, at as u64, 1, lanes);
                    for (k, (bytes, out)) in chunk.iter_mut().zip(outs).enumerate() {
                        let size = out.dtype.size_bytes() as usize;
                        store(out.dtype, blocks.result(k), &mut bytes[(at - start) * size..][..lanes * size]);
                    }
                }
            });
        })
    }
}
