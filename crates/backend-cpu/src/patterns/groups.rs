//! P25 groups: conditions to bits, and each element's peers among its group.

use crate::memory::HostBuffer;
use crate::operands::{Operands, Pending};
use crate::{Cpu, threads};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::element::DType;
use isowarp_core::error::Result;
use isowarp_core::ir::{BLOCK, Blocks, Func, Lanes};
use isowarp_core::patterns::{BallotTask, Peers, PeersTask};

/// The operator's values of all elements.
fn values(func: &Func, n: u64, leaves: &[Leaf<HostBuffer>]) -> Result<Vec<u64>> {
    let operands = Operands::lock(leaves);
    let mut all = isowarp_core::host::filled(n, 0)?;
    threads::each(all.chunks_mut(32 * BLOCK).collect(), &Blocks::new(func), |blocks, c, part| {
        for (k, values) in part.chunks_mut(BLOCK).enumerate() {
            operands.eval(func, blocks, ((c * 32 + k) * BLOCK) as u64, 1, values.len());
            let lanes = blocks.result(0);
            values.iter_mut().enumerate().for_each(|(l, value)| *value = lanes.get(l));
        }
    });
    Ok(all)
}

impl Run<BallotTask> for Cpu {
    fn run(&self, task: &BallotTask, leaves: &[Leaf<HostBuffer>], outs: &[Out<HostBuffer>]) -> Result<()> {
        let mut words = Pending::new(DType::U32, task.n.div_ceil(32))?;
        for (w, part) in values(&task.func, task.n, leaves)?.chunks(32).enumerate() {
            let word = part.iter().enumerate().fold(0u32, |word, (k, &yes)| word | u32::from(yes != 0) << k);
            words.put(w as u64, Lanes::Narrow(&[word]));
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
                found.put(i, Lanes::Narrow(&[value]));
                counts.put(i, Lanes::Narrow(&[mask.count_ones()]));
                i += 1;
            }
        }
        outs.iter().zip([found, counts]).try_for_each(|(out, mut values)| values.write(out))
    }
}
