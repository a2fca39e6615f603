//! P04 select: every element to the end of its part, in order.

use crate::Cpu;
use crate::memory::HostBuffer;
use crate::operands::{Operands, Pending};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::ir::{Evaluator, LANES};
use isowarp_core::patterns::{SelectKind, SelectTask};
use rayon::prelude::*;

/// Elements that one thread takes at a time.
const CHUNK: u64 = 64 * LANES as u64;

/// What went to one part: how many elements, their indices where lengths come of them, and the bytes of each output.
#[derive(Default)]
struct Part {
    count: u64,
    places: Vec<u64>,
    bytes: Vec<Vec<u8>>,
}

impl Run<SelectTask> for Cpu {
    fn run(&self, task: &SelectTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let values = task.func.results.len() - 1;
        let operands = Operands::lock(leaves);
        let chunks: Vec<Vec<Part>> =
            (0..task.n.div_ceil(CHUNK)).into_par_iter().map(|c| parts(task, &operands, &outs[..values], c * CHUNK)).collect();
        drop(operands);
        for (k, out) in outs[..values].iter().enumerate() {
            // Part by part, and inside a part in order.
            let mut at = out.offset * out.dtype.size_bytes();
            for part in 0..parts_of(task.kind) {
                for chunk in &chunks {
                    out.raw.write(at, &chunk[part].bytes[k])?;
                    at += chunk[part].bytes[k].len() as u64;
                }
            }
        }
        let count = |part: usize| chunks.iter().map(|c| c[part].count).sum::<u64>();
        if task.kind == SelectKind::Runs {
            let places: Vec<u64> = chunks.iter().flat_map(|c| &c[0].places).copied().chain([task.n]).collect();
            let lengths: Vec<u32> = places.windows(2).map(|w| (w[1] - w[0]) as u32).collect();
            let out = &outs[values];
            out.raw.write(out.offset * 4, bytemuck::cast_slice(&lengths))?;
        }
        if let Some(out) = outs.last() {
            let size = out.dtype.size_bytes();
            for part in 0..task.kind.counts() {
                out.raw.write((out.offset + part) * size, &count(part as usize).to_le_bytes()[..size as usize])?;
            }
        }
        Ok(())
    }
}

/// Parts whose elements are stored.
fn parts_of(kind: SelectKind) -> usize {
    match kind {
        SelectKind::Keep | SelectKind::Runs => 1,
        SelectKind::TwoWays => 2,
        SelectKind::ThreeWays => 3,
    }
}

/// The elements of one chunk, by parts.
fn parts(task: &SelectTask, operands: &Operands<'_>, outs: &[Out<HostBuffer>], first: u64) -> Vec<Part> {
    let stored = parts_of(task.kind);
    // Whatever is in no part of its own is in the last one, which is stored or not.
    let last = if stored == 1 { 1 } else { stored - 1 };
    let mut all: Vec<Part> = (0..=last).map(|_| Part { bytes: vec![Vec::new(); outs.len()], ..Part::default() }).collect();
    let mut e = Evaluator::new(&task.func);
    let end = (first + CHUNK).min(task.n);
    for at in (first..end).step_by(LANES) {
        let lanes = LANES.min((end - at) as usize);
        operands.eval(&task.func, &mut e, at, 1, lanes);
        for l in 0..lanes {
            let part = &mut all[(e.result(0)[l] as usize).min(last)];
            part.count += 1;
            if task.kind == SelectKind::Runs {
                part.places.push(at + l as u64);
            }
            for (k, (bytes, out)) in part.bytes.iter_mut().zip(outs).enumerate() {
                let from = bytes.len();
                bytes.resize(from + out.dtype.size_bytes() as usize, 0);
                Pending::put_lanes(out.dtype, &e.result(k + 1)[l..=l], &mut bytes[from..]);
            }
        }
    }
    all
}
