//! P25 groups: conditions to bits, and each element's peers among its group.

use crate::Cpu;
use crate::memory::HostBuffer;
use crate::operands::{Operands, Pending};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::element::DType;
use isowarp_core::error::Result;
use isowarp_core::ir::{Evaluator, Func, LANES};
use isowarp_core::patterns::{BallotTask, Peers, PeersTask};
use rayon::prelude::*;

/// The operator's values of all elements.
fn values(func: &Func, n: u64, leaves: &[Leaf<HostBuffer>]) -> Result<Vec<u64>> {
    let operands = Operands::lock(leaves);
    let mut all = isowarp_core::host::filled(n, 0)?;
    all.par_chunks_mut(64 * LANES).enumerate().for_each(|(c, part)| {
        let mut e = Evaluator::new(func);
        for (k, lanes) in part.chunks_mut(LANES).enumerate() {
            operands.eval(func, &mut e, ((c * 64 + k) * LANES) as u64, 1, lanes.len());
            lanes.copy_from_slice(&e.result(0)[..lanes.len()]);
        }
    });
    Ok(all)
}

impl Run<BallotTask> for Cpu {
    fn run(&self, task: &BallotTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let mut words = Pending::new(DType::U32, task.n.div_ceil(32))?;
        for (w, part) in values(&task.func, task.n, leaves)?.chunks(32).enumerate() {
            let word = part.iter().enumerate().fold(0u64, |word, (k, &yes)| word | u64::from(yes != 0) << k);
            words.put(w as u64, word);
        }
        outs.iter().try_for_each(|out| words.write(out))
    }
}

impl Run<PeersTask> for Cpu {
    fn run(&self, task: &PeersTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let (mut found, mut counts) = (Pending::new(DType::U32, task.n)?, Pending::new(DType::U32, task.n)?);
        let mut i = 0;
        for group in values(&task.func, task.n, leaves)?.chunks(task.width as usize) {
            for (place, key) in group.iter().enumerate() {
                let mask = group.iter().enumerate().fold(0u32, |mask, (k, other)| mask | u32::from(other == key) << k);
                let before = mask & ((1 << place) - 1);
                let value = match task.peers {
                    Peers::Mask => mask,
                    Peers::First => mask.trailing_zeros(),
                    Peers::Rank => before.count_ones(),
                };
                found.put(i, value.into());
                counts.put(i, mask.count_ones().into());
                i += 1;
            }
        }
        outs.iter().zip([found, counts]).try_for_each(|(out, values)| values.write(out))
    }
}
