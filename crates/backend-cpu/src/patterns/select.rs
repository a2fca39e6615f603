//! P04 select: every element to the end of its part, in order.

use crate::Cpu;
use crate::memory::HostBuffer;
use crate::operands::{Operands, Pending};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::host;
use isowarp_core::ir::{Evaluator, LANES};
use isowarp_core::patterns::{SelectKind, SelectTask};
use rayon::prelude::*;

/// Elements that one thread takes at a time.
const CHUNK: u64 = 64 * LANES as u64;
/// Chunks that a thread takes until they are written.
const EACH: u64 = 16;

/// What went to one part: how many elements, their indices where lengths come of them, and the bytes of each output.
#[derive(Default)]
struct Part {
    count: u64,
    places: Vec<u64>,
    bytes: Vec<Vec<u8>>,
}

impl Run<SelectTask> for Cpu {
    fn run(&self, task: &SelectTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let (stored, values) = (parts_of(task.kind), task.func.results.len() - 1);
        let mut to = To::new(&outs[..values]);
        let (mut counts, mut later) = (vec![0; stored + 1], Vec::new());
        let mut runs = (task.kind == SelectKind::Runs).then(|| Lengths { out: &outs[values], started: None, written: 0 });
        let (chunks, round) = (task.n.div_ceil(CHUNK), EACH * rayon::current_num_threads() as u64);
        let each: u64 = outs[..values].iter().map(|out| out.dtype.size_bytes()).sum();
        for first in (0..chunks).step_by(round as usize) {
            host::room(2 * CHUNK * round.min(chunks - first) * (each + 8 * u64::from(runs.is_some())))?;
            let operands = Operands::lock(leaves);
            let some = (first..chunks.min(first + round)).into_par_iter();
            let some: Vec<Vec<Part>> = some.map(|c| parts(task, &operands, &outs[..values], c * CHUNK)).collect();
            drop(operands);
            for mut chunk in some {
                chunk.iter().zip(&mut counts).for_each(|(part, count)| *count += part.count);
                to.put(&chunk[0])?;
                if let Some(runs) = &mut runs {
                    runs.put(&chunk[0].places)?;
                }
                // What comes behind all that goes first has to wait for it.
                later.push(chunk.drain(1..).take(stored - 1).collect::<Vec<Part>>());
            }
        }
        for part in 0..stored - 1 {
            later.iter().try_for_each(|chunk| to.put(&chunk[part]))?;
        }
        if let Some(mut runs) = runs {
            runs.put(&[task.n])?;
        }
        if let Some(out) = outs.last() {
            let size = out.dtype.size_bytes();
            for part in 0..task.kind.counts() {
                out.raw.write((out.offset + part) * size, &counts[part as usize].to_le_bytes()[..size as usize])?;
            }
        }
        Ok(())
    }
}

/// Where the next element of each output goes, in bytes.
struct To<'a> {
    outs: &'a [Out<HostBuffer>],
    at: Vec<u64>,
}

impl<'a> To<'a> {
    fn new(outs: &'a [Out<HostBuffer>]) -> Self {
        Self { outs, at: outs.iter().map(|out| out.offset * out.dtype.size_bytes()).collect() }
    }

    fn put(&mut self, part: &Part) -> Result<()> {
        for ((out, at), bytes) in self.outs.iter().zip(&mut self.at).zip(&part.bytes) {
            out.raw.write(*at, bytes)?;
            *at += bytes.len() as u64;
        }
        Ok(())
    }
}

/// The lengths of runs: each ends where the next one starts.
struct Lengths<'a> {
    out: &'a Out<HostBuffer>,
    started: Option<u64>,
    written: u64,
}

impl Lengths<'_> {
    fn put(&mut self, starts: &[u64]) -> Result<()> {
        let mut lengths = Vec::with_capacity(starts.len());
        for &start in starts {
            lengths.extend(self.started.replace(start).map(|before| (start - before) as u32));
        }
        self.out.raw.write((self.out.offset + self.written) * 4, bytemuck::cast_slice(&lengths))?;
        self.written += lengths.len() as u64;
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
