//! P04 select: every element to the end of its part, in order.

use crate::memory::HostBuffer;
use crate::operands::{Operands, store};
use crate::{Cpu, threads};
use bytemuck::Pod;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::Result;
use isowarp_core::host;
use isowarp_core::ir::{BLOCK, Blocks};
use isowarp_core::patterns::{SelectKind, SelectTask};

/// Elements that one thread takes at a time.
const CHUNK: u64 = 8 * BLOCK as u64;
/// Chunks that a thread takes until they are written.
const EACH: u64 = 16;

/// Elements of one part: their count, their indices where run lengths are computed, and their values for each output.
#[derive(Default)]
struct Part {
    count: u64,
    places: Vec<u64>,
    words: Vec<Vec<u64>>,
}

impl Run<SelectTask> for Cpu {
    fn run(&self, task: &SelectTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let (stored, values) = (parts_of(task.kind), task.func.results.len() - 1);
        let blocks = Blocks::new(&task.func);
        let mut to = To::new(&outs[..values]);
        let (mut counts, mut later) = (vec![0; stored + 1], Vec::new());
        let mut runs = (task.kind == SelectKind::Runs).then(|| Lengths { out: &outs[values], started: None, written: 0 });
        let (chunks, round) = (task.n.div_ceil(CHUNK), EACH * rayon::current_num_threads() as u64);
        let each: u64 = outs[..values].iter().map(|out| out.dtype.size_bytes()).sum();
        for first in (0..chunks).step_by(round as usize) {
            host::room(2 * CHUNK * round.min(chunks - first) * (each + 8 * u64::from(runs.is_some())))?;
            let operands = Operands::lock(leaves);
            let some = threads::map(round.min(chunks - first), &blocks, |blocks, c| {
                parts(task, blocks, &operands, &outs[..values], (first + c) * CHUNK)
            });
            drop(operands);
            for mut chunk in some {
                chunk.iter().zip(&mut counts).for_each(|(part, count)| *count += part.count);
                to.put(&chunk[0])?;
                if let Some(runs) = &mut runs {
                    runs.put(&chunk[0].places)?;
                }
                // Parts that come behind all that goes first have to wait for it, in no more memory than their elements take.
                later.push(chunk.drain(1..).take(stored - 1).map(|part| part.trimmed(&outs[..values])).collect::<Vec<Part>>());
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
        for ((out, at), words) in self.outs.iter().zip(&mut self.at).zip(&part.words) {
            let bytes = part.count * out.dtype.size_bytes();
            out.raw.write(*at, &bytemuck::cast_slice(words)[..bytes as usize])?;
            *at += bytes;
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
fn parts(task: &SelectTask, blocks: &mut Blocks, operands: &Operands<'_>, outs: &[Out<HostBuffer>], first: u64) -> Vec<Part> {
    let stored = parts_of(task.kind);
    // Elements in no part of their own are in the last one, which is stored or not.
    let last = if stored == 1 { 1 } else { stored - 1 };
    let end = (first + CHUNK).min(task.n);
    let mut all: Vec<Part> = (0..=last).map(|p| Part::new(outs, if p < stored { end - first } else { 0 })).collect();
    let (mut part_of, mut elements) = ([0u8; BLOCK], [0u64; BLOCK]);
    for at in (first..end).step_by(BLOCK) {
        let lanes = BLOCK.min((end - at) as usize);
        operands.eval(&task.func, blocks, at, 1, lanes);
        let (part_of, parts) = (&mut part_of[..lanes], blocks.result(0));
        part_of.iter_mut().enumerate().for_each(|(l, part)| *part = parts.get(l).min(last as u64) as u8);
        for (k, out) in outs.iter().enumerate() {
            let size = out.dtype.size_bytes() as usize;
            let elements = &mut bytemuck::cast_slice_mut(&mut elements)[..lanes * size];
            store(out.dtype, blocks.result(k + 1), elements);
            for (p, part) in all.iter_mut().enumerate().take(stored) {
                part.keep(k, size, elements, |l| usize::from(part_of[l]) == p);
            }
        }
        for (p, part) in all.iter_mut().enumerate() {
            if task.kind == SelectKind::Runs {
                part.places.extend((0..lanes).filter(|&l| usize::from(part_of[l]) == p).map(|l| at + l as u64));
            }
            part.count += part_of.iter().filter(|&&of| usize::from(of) == p).count() as u64;
        }
    }
    all
}

impl Part {
    /// Room for so many elements of each output, and for one more.
    fn new(outs: &[Out<HostBuffer>], elements: u64) -> Self {
        let room = |out: &Out<HostBuffer>| vec![0; ((elements + 1) * out.dtype.size_bytes()).div_ceil(8) as usize];
        Self { words: outs.iter().map(room).collect(), ..Self::default() }
    }

    /// Without the room that no element took.
    fn trimmed(mut self, outs: &[Out<HostBuffer>]) -> Self {
        for (words, out) in self.words.iter_mut().zip(outs) {
            words.truncate((self.count * out.dtype.size_bytes()).div_ceil(8) as usize);
            words.shrink_to_fit();
        }
        self
    }

    /// Adds the elements of output `k` that belong to this part.
    fn keep(&mut self, k: usize, size: usize, elements: &[u8], is_kept: impl Fn(usize) -> bool) {
        fn keep<T: Pod>(elements: &[u8], to: &mut [u8], is_kept: impl Fn(usize) -> bool) {
            let (elements, to) = (bytemuck::cast_slice::<_, T>(elements), bytemuck::cast_slice_mut::<_, T>(to));
            let mut count = 0;
            // Written in any case, and overwritten if it is not kept: a branch would be guessed wrong too often.
            for (l, &x) in elements.iter().enumerate() {
                to[count] = x;
                count += usize::from(is_kept(l));
            }
        }
        let to = &mut bytemuck::cast_slice_mut(&mut self.words[k])[self.count as usize * size..];
        let whole = to.len() / size * size;
        let to = &mut to[..whole];
        match size {
            1 => keep::<u8>(elements, to, is_kept),
            2 => keep::<u16>(elements, to, is_kept),
            4 => keep::<u32>(elements, to, is_kept),
            _ => keep::<u64>(elements, to, is_kept),
        }
    }
}
