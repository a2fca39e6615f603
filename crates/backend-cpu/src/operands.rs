//! Leaves as lanes of the evaluator, and lanes as stored elements.

use crate::memory::HostBuffer;
use half::f16;
use isowarp_core::backend::{Leaf, Out};
use isowarp_core::element::{DType, Element as _, Scalar as _};
use isowarp_core::error::Result;
use isowarp_core::host;
use isowarp_core::ir::{Evaluator, Func, Param, canonical_nan};
use parking_lot::RwLockReadGuard;

/// The leaves of a task, locked for reading.
pub(crate) struct Operands<'a> {
    leaves: Vec<Locked<'a>>,
}

enum Locked<'a> {
    Elements { words: RwLockReadGuard<'a, Box<[u64]>>, dtype: DType, offset: u64, stride: i64 },
    Array { words: RwLockReadGuard<'a, Box<[u64]>>, dtype: DType, offset: u64, len: u64 },
    Value { bits: u64 },
}

impl<'a> Operands<'a> {
    pub(crate) fn lock(leaves: &'a [Leaf<HostBuffer>]) -> Self {
        let leaves = leaves
            .iter()
            .map(|l| match l {
                Leaf::Elements { raw, dtype, offset, stride } => {
                    Locked::Elements { words: raw.lock(), dtype: *dtype, offset: *offset, stride: *stride }
                }
                Leaf::Array { raw, dtype, offset, len } => Locked::Array { words: raw.lock(), dtype: *dtype, offset: *offset, len: *len },
                Leaf::Value { bits } => Locked::Value { bits: *bits },
            })
            .collect();
        Self { leaves }
    }

    /// Evaluates the operator at the indices `first, first + step, ...`, one a lane.
    pub(crate) fn eval(&self, func: &Func, e: &mut Evaluator<'_>, first: u64, step: u64, lanes: usize) {
        let load = |k: u16, out: &mut [u64]| {
            if matches!(func.params[usize::from(k)], Param::Index(_)) {
                for (l, o) in out.iter_mut().enumerate() {
                    *o = first + l as u64 * step;
                }
                return;
            }
            match &self.leaves[usize::from(k)] {
                Locked::Elements { words, dtype, offset, stride } => {
                    for (l, o) in out.iter_mut().enumerate() {
                        let i = first + l as u64 * step;
                        *o = load(words, *dtype, offset.wrapping_add_signed((i as i64).wrapping_mul(*stride)));
                    }
                }
                Locked::Value { bits } => out.fill(*bits),
                Locked::Array { .. } => out.fill(0),
            }
        };
        let fetch = |k: u16, i: u64| match &self.leaves[usize::from(k)] {
            Locked::Array { words, dtype, offset, len } if i < *len => self::load(words, *dtype, offset + i),
            _ => 0,
        };
        e.eval(lanes, load, fetch);
    }
}

/// The element at an index, widened.
fn load(words: &[u64], dtype: DType, i: u64) -> u64 {
    let i = i as usize;
    match dtype.size_bytes() {
        8 => words[i],
        4 => u64::from(bytemuck::cast_slice::<_, u32>(words)[i]),
        2 => dtype.widen(bytemuck::cast_slice::<_, u16>(words)[i].into()),
        _ => dtype.widen(bytemuck::cast_slice::<_, u8>(words)[i].into()),
    }
}

/// Narrows a lane to an element's bytes, little-endian, with canonical NaN.
fn store(dtype: DType, lane: u64, bytes: &mut [u8]) {
    let lane = canonical_nan(dtype.ty(), lane);
    let narrowed = match dtype {
        DType::F16 => u64::from(f16::narrow(f32::from_bits64(lane)).to_bits()),
        _ => lane,
    };
    bytes.copy_from_slice(&narrowed.to_le_bytes()[..bytes.len()]);
}

/// Values of one output, computed apart and written when the locks on the inputs are gone.
pub(crate) struct Pending {
    dtype: DType,
    pub(crate) bytes: Vec<u8>,
}

impl Pending {
    pub(crate) fn new(dtype: DType, elements: u64) -> Result<Self> {
        Ok(Self { dtype, bytes: host::filled(elements * dtype.size_bytes(), 0)? })
    }

    /// One for each output.
    pub(crate) fn of(outs: &[Out<HostBuffer>], elements: u64) -> Result<Vec<Self>> {
        outs.iter().map(|out| Self::new(out.dtype, elements)).collect()
    }

    pub(crate) fn element_bytes(&self) -> usize {
        self.dtype.size_bytes() as usize
    }

    pub(crate) fn put(&mut self, i: u64, lane: u64) {
        let size = self.element_bytes();
        let at = i as usize * size;
        store(self.dtype, lane, &mut self.bytes[at..at + size]);
    }

    /// Stores lanes into a part of the bytes.
    pub(crate) fn put_lanes(dtype: DType, lanes: &[u64], bytes: &mut [u8]) {
        for (b, &lane) in bytes.chunks_exact_mut(dtype.size_bytes() as usize).zip(lanes) {
            store(dtype, lane, b);
        }
    }

    pub(crate) fn write(&self, out: &Out<HostBuffer>) -> Result<()> {
        out.raw.write(out.offset * self.dtype.size_bytes(), &self.bytes)
    }
}
