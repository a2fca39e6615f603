//! P01 map: how many elements an invocation takes; and the copies and merges of words that a device does by maps.

use crate::buffer::Buffer;
use crate::device::Wgpu;
use isowarp_core::backend::{Leaf, Out, Run as _};
use isowarp_core::caps::Numerics;
use isowarp_core::element::DType;
use isowarp_core::error::Result;
use isowarp_core::ir::{self, Expr};
use isowarp_core::patterns::MapTask;
use std::sync::Arc;

impl Wgpu {
    /// Invocations of a workgroup, and groups of four elements to an invocation, for an operator of this weight.
    pub(super) fn map_shape(&self, weight: u32) -> (u32, u32) {
        #[cfg(test)]
        if let Some(shape) = *self.patterns().map_shape.lock() {
            return shape;
        }
        (self.tuning().map_threads, self.tuning().map_groups(weight))
    }

    /// Copies whole words from one buffer to another by a kernel, which drivers' copy commands can be several times slower than (on an
    /// H200 0.85 against 4.2 TB/s).
    pub(crate) fn copy_words(&self, from: (&Buffer, u64), to: (&Buffer, u64), words: u64) -> Result<()> {
        self.copy_elements(DType::U32, from, to, words)
    }

    /// Copies elements, whose dtype is `U8`, `U16` or `U32`, from one buffer to another by a kernel.
    pub(super) fn copy_elements(&self, dtype: DType, from: (&Buffer, u64), to: (&Buffer, u64), n: u64) -> Result<()> {
        let copy = &self.patterns().copy;
        let func = match copy.get() {
            Some(func) => func,
            None => {
                let same = Arc::new(ir::trace(|word: Expr<u32>| word)?);
                copy.get_or_init(|| same)
            }
        };
        let task = MapTask { func: Arc::clone(func), n, numerics: Numerics::Strict };
        let leaf = Leaf::Elements { raw: from.0.clone(), dtype, offset: from.1, stride: 1 };
        self.run(&task, &[leaf], &[Out { raw: to.0.clone(), dtype, offset: to.1 }])
    }

    /// Replaces the bits of one word that `mask` names. Both travel as parameters of the launch, so that nothing has to be staged.
    pub(crate) fn merge_word(&self, buffer: &Buffer, word: u64, mask: u32, bits: u32) -> Result<()> {
        let merge = &self.patterns().merge;
        let func = match merge.get() {
            Some(func) => func,
            None => {
                let merged = |(old, mask, bits): (Expr<u32>, Expr<u32>, Expr<u32>)| (old & !mask) | bits;
                let merged = Arc::new(ir::trace(merged)?);
                merge.get_or_init(|| merged)
            }
        };
        let task = MapTask { func: Arc::clone(func), n: 1, numerics: Numerics::Strict };
        let old = Leaf::Elements { raw: buffer.clone(), dtype: DType::U32, offset: word, stride: 1 };
        let leaves = [old, Leaf::Value { bits: mask.into() }, Leaf::Value { bits: bits.into() }];
        self.run(&task, &leaves, &[Out { raw: buffer.clone(), dtype: DType::U32, offset: word }])
    }
}
