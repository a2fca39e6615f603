//! Common parts of reductions and scans: the holes of a kernel that combines accumulators.

use super::holes::{Holes, Shape, combine};
use super::{Bound, bind};
use crate::backend::Cuda;
use crate::memory::Buffer;
use crate::module::Kernel;
use crate::splice::{Fill, Site};
use isowarp_core::backend::{Leaf, Out};
use isowarp_core::caps::Numerics;
use isowarp_core::element::Ty;
use isowarp_core::error::Result;
use isowarp_core::ir::Func;

/// The operators of a line pattern.
#[derive(Clone, Copy)]
pub(super) struct Operators<'a> {
    pub(super) load: &'a Func,
    pub(super) combine: &'a Func,
    pub(super) finish: &'a Func,
    pub(super) numerics: Numerics,
}

/// Returns the 32-bit words of an accumulator of so many in a kernel: one of three takes the kernels for four.
pub(super) const fn room(words: usize) -> usize {
    if words == 3 { 4 } else { words }
}

impl Operators<'_> {
    /// Returns the 32-bit words of an accumulator in a kernel.
    pub(super) fn words(&self) -> usize {
        room(self.load.result_words())
    }

    /// Arguments and identity of a kernel with these operators.
    pub(super) fn bind(&self, cuda: &Cuda, pattern: (&'static str, u64), leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<Bound> {
        let mut bound = bind(cuda, pattern, &self.load.params, leaves, outs)?;
        bound.key = bound.key.func(self.load).func(self.combine).func(self.finish).word(self.numerics as u64);
        Ok(bound)
    }

    /// The kernel of the table entry for this accumulator width, its holes filled. `table[w - 1]` has `w` words, those for three the kernels for four.
    pub(super) fn kernel(&self, cuda: &Cuda, table: &[isowarp_kernels::Kernel; 4], bound: &Bound) -> Result<Kernel> {
        let entry = table[self.words() - 1];
        if let Some(kernel) = cuda.known_kernel(&(entry, bound.key.0)) {
            return Ok(kernel);
        }
        let parts: Vec<Ty> = self.load.result_types();
        let (leaves, outs): (Vec<Shape>, Vec<Shape>) =
            (bound.shapes[..self.load.params.len()].to_vec(), bound.shapes[self.load.params.len()..].to_vec());
        let holes = Holes { load: self.load, leaves: &leaves, outs: &outs, numerics: self.numerics };
        let load4 = |s: &Site<'_>| holes.load(4, s);
        let load1 = |s: &Site<'_>| holes.load(1, s);
        let merge = |s: &Site<'_>| combine(self.combine, self.numerics, s);
        let store1 = |s: &Site<'_>| holes.store(self.finish, &parts, 1, s);
        let store4 = |s: &Site<'_>| holes.store(self.finish, &parts, 4, s);
        let all = [
            Fill { name: "load4", body: &load4 },
            Fill { name: "load1", body: &load1 },
            Fill { name: "combine", body: &merge },
            Fill { name: "finish", body: &store1 },
            Fill { name: "store1", body: &store1 },
            Fill { name: "store4", body: &store4 },
        ];
        let wanted = entry.holes();
        let fills: Vec<Fill<'_>> = all.into_iter().filter(|f| wanted.contains(&f.name)).collect();
        cuda.kernel((entry, bound.key.0), &fills)
    }
}
