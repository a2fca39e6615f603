//! Outputs, written in their own memory or apart until the locks on the inputs are released.

use crate::memory::HostBuffer;
use crate::operands::{Operands, Pending};
use isowarp_core::backend::{Leaf, Out, RawBuffer as _};
use isowarp_core::error::Result;

/// Calls `work` with the memory of `elements` elements of every output. It writes all of them, unless those that it leaves are `kept`.
///
/// Outputs are written in place where no other task holds their memory and the caller is no thread of rayon's: while such a thread waits it may run
/// another task, which needs the same lock.
pub(crate) fn write(
    leaves: &[Leaf<HostBuffer>],
    outs: &[Out<HostBuffer>],
    elements: u64,
    kept: bool,
    work: impl FnOnce(&Operands<'_>, Vec<&mut [u8]>),
) -> Result<()> {
    let operands = Operands::lock(leaves);
    if let Some(mut locked) = in_place(leaves, outs) {
        let parts = locked.iter_mut().zip(outs).map(|(words, out)| {
            let size = out.dtype.size_bytes();
            &mut bytemuck::cast_slice_mut(words)[(out.offset * size) as usize..][..(elements * size) as usize]
        });
        work(&operands, parts.collect());
        outs.iter().for_each(|out| out.raw.filled((out.offset + elements) * out.dtype.size_bytes()));
        return Ok(());
    }
    let mut pending = Pending::of(outs, elements)?;
    if kept {
        pending.iter_mut().zip(outs).try_for_each(|(p, out)| p.read(out))?;
    }
    work(&operands, pending.iter_mut().map(Pending::bytes).collect());
    drop(operands);
    pending.iter_mut().zip(outs).try_for_each(|(p, out)| p.write(out))
}

fn in_place<'a>(leaves: &[Leaf<HostBuffer>], outs: &'a [Out<HostBuffer>]) -> Option<Vec<crate::memory::Writing<'a>>> {
    let read = |out: &Out<HostBuffer>| {
        leaves.iter().any(|leaf| match leaf {
            Leaf::Elements { raw, .. } | Leaf::Array { raw, .. } => raw.same(&out.raw),
            Leaf::Value { .. } => false,
        })
    };
    let apart = rayon::current_thread_index().is_some() || outs.iter().any(read);
    // Two outputs in the same memory: the second lock is refused.
    if apart { None } else { outs.iter().map(|out| out.raw.try_write()).collect() }
}
