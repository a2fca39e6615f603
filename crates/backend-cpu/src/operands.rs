//! Leaves as lanes of a block, and lanes as stored elements.

use crate::memory::HostBuffer;
use bytemuck::Pod;
use half::f16;
use half::slice::HalfFloatSliceExt as _;
use isowarp_core::backend::{Leaf, Out};
use isowarp_core::element::{DType, Element as _, Ty};
use isowarp_core::error::Result;
use isowarp_core::host;
use isowarp_core::ir::{Blocks, Func, Lanes, LanesMut, Node, Param, Source, visible};
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

impl Locked<'_> {
    /// Elements from index `first` on that lie in memory as lanes do.
    fn lanes(&self, first: u64, count: usize) -> Option<Lanes<'_>> {
        let Self::Elements { words, dtype, offset, stride: 1 } = self else { return None };
        let at = (offset + first) as usize;
        match dtype.size_bytes() {
            4 => bytemuck::cast_slice(words).get(at..at + count).map(Lanes::Narrow),
            8 => words.get(at..at + count).map(Lanes::Wide),
            _ => None,
        }
    }
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

    /// The words of a leaf that is a buffer.
    pub(crate) fn words(&self, leaf: usize) -> &[u64] {
        match self.leaves.get(leaf) {
            Some(Locked::Elements { words, .. } | Locked::Array { words, .. }) => words,
            _ => &[],
        }
    }

    /// The elements that the operator gives as they are, from an index on, if it gives one and they lie in memory as lanes do.
    pub(crate) fn as_they_are(&self, func: &Func, first: u64, count: usize) -> Option<Lanes<'_>> {
        match (&*func.nodes, &*func.results, &*func.params) {
            (&[Node::Param(k)], [0], [Param::Value(_), ..]) => self.leaves.get(usize::from(k))?.lanes(first, count),
            _ => None,
        }
    }

    /// Evaluates the operator at the indices `first, first + step, ...`, one a lane.
    pub(crate) fn eval(&self, func: &Func, blocks: &mut Blocks, first: u64, step: u64, lanes: usize) {
        blocks.eval(lanes, &At { operands: self, func, first, step });
    }

    /// Evaluates an operator that has one parameter more than there are leaves, with these lanes of it, at as many indices from `first` on.
    pub(crate) fn eval_with(&self, func: &Func, blocks: &mut Blocks, first: u64, last: Lanes<'_>) {
        blocks.eval(last.len(), &With { at: At { operands: self, func, first, step: 1 }, last });
    }
}

/// The lanes of consecutive indices, and a parameter more, whose lanes are given.
struct With<'a> {
    at: At<'a>,
    last: Lanes<'a>,
}

impl With<'_> {
    fn is_last(&self, param: u16) -> bool {
        usize::from(param) == self.at.operands.leaves.len()
    }
}

impl Source for With<'_> {
    fn load(&self, param: u16, lanes: LanesMut<'_>) {
        match lanes {
            lanes if !self.is_last(param) => self.at.load(param, lanes),
            LanesMut::Narrow(all) => (0..).zip(all).take(self.last.len()).for_each(|(l, o)| *o = self.last.get(l) as u32),
            LanesMut::Wide(all) => (0..).zip(all).take(self.last.len()).for_each(|(l, o)| *o = self.last.get(l)),
        }
    }

    fn lend(&self, param: u16, lanes: usize) -> Option<Lanes<'_>> {
        if !self.is_last(param) {
            return self.at.lend(param, lanes);
        }
        // Blocks go over whole chunks of lanes.
        (lanes <= self.last.len()).then(|| self.last.first(lanes))
    }

    fn fetch(&self, param: u16, ty: Ty, indices: Lanes<'_>, lanes: LanesMut<'_>) {
        self.at.fetch(param, ty, indices, lanes);
    }
}

/// The lanes of some indices.
struct At<'a> {
    operands: &'a Operands<'a>,
    func: &'a Func,
    first: u64,
    step: u64,
}

impl Source for At<'_> {
    fn load(&self, param: u16, lanes: LanesMut<'_>) {
        if matches!(self.func.params[usize::from(param)], Param::Index(_)) {
            let index = |l: usize| self.first + l as u64 * self.step;
            return match lanes {
                LanesMut::Narrow(all) => all.iter_mut().enumerate().for_each(|(l, o)| *o = index(l) as u32),
                LanesMut::Wide(all) => all.iter_mut().enumerate().for_each(|(l, o)| *o = index(l)),
            };
        }
        match &self.operands.leaves[usize::from(param)] {
            Locked::Elements { words, dtype, offset, stride } => {
                let from = offset.wrapping_add_signed((self.first as i64).wrapping_mul(*stride));
                load(words, *dtype, (from, (self.step as i64).wrapping_mul(*stride)), lanes);
            }
            Locked::Value { bits } => lanes.fill(*bits),
            Locked::Array { .. } => lanes.fill(0),
        }
    }

    fn lend(&self, param: u16, lanes: usize) -> Option<Lanes<'_>> {
        match (self.func.params[usize::from(param)], self.operands.leaves.get(usize::from(param))) {
            (Param::Value(_), Some(leaf)) if self.step == 1 => leaf.lanes(self.first, lanes),
            _ => None,
        }
    }

    fn fetch(&self, param: u16, ty: Ty, indices: Lanes<'_>, lanes: LanesMut<'_>) {
        let Locked::Array { words, dtype, offset, len } = &self.operands.leaves[usize::from(param)] else { return lanes.fill(0) };
        // A negative index is outside every array.
        let index = |l: usize| if ty == Ty::I32 { indices.get(l) as u32 as i32 as u64 } else { indices.get(l) };
        let place = |l: usize| Some(index(l)).filter(|i| i < len).map(|i| (offset + i) as usize);
        widen(words, *dtype, lanes, Fetched(place));
    }
}

/// Elements from the first one on, one every so many.
fn load(words: &[u64], dtype: DType, (from, step): (u64, i64), lanes: LanesMut<'_>) {
    match (lanes, step) {
        (LanesMut::Narrow(all), 1) if dtype == DType::F16 => {
            let of: &[f16] = &bytemuck::cast_slice(words)[from as usize..][..all.len()];
            of.convert_to_f32_slice(bytemuck::cast_slice_mut(all));
        }
        (lanes, 1) => widen(words, dtype, lanes, InOrder(from as usize)),
        (lanes, _) => {
            let place = |l: usize| Some(from.wrapping_add_signed((l as i64).wrapping_mul(step)) as usize);
            widen(words, dtype, lanes, Fetched(place));
        }
    }
}

/// Access of lanes to elements.
trait Places {
    fn read<S: Pod, D: Pod>(&self, elements: &[S], lanes: &mut [D], f: impl Fn(S) -> D);
}

struct InOrder(usize);

impl Places for InOrder {
    fn read<S: Pod, D: Pod>(&self, elements: &[S], lanes: &mut [D], f: impl Fn(S) -> D) {
        let elements = &elements[self.0..][..lanes.len()];
        lanes.iter_mut().zip(elements).for_each(|(o, &x)| *o = f(x));
    }
}

/// The place of each lane, or zero for those that have none.
struct Fetched<F>(F);

impl<F: Fn(usize) -> Option<usize>> Places for Fetched<F> {
    fn read<S: Pod, D: Pod>(&self, elements: &[S], lanes: &mut [D], f: impl Fn(S) -> D) {
        lanes.iter_mut().enumerate().for_each(|(l, o)| *o = (self.0)(l).map_or_else(D::zeroed, |i| f(elements[i])));
    }
}

/// Widens elements into lanes.
fn widen(words: &[u64], dtype: DType, lanes: LanesMut<'_>, places: impl Places) {
    match (lanes, dtype) {
        (LanesMut::Narrow(o), DType::F16) => places.read(bytemuck::cast_slice(words), o, |x: f16| x.widen().to_bits()),
        (LanesMut::Narrow(o), DType::U8) => places.read(bytemuck::cast_slice(words), o, |x: u8| x.into()),
        (LanesMut::Narrow(o), DType::I8) => places.read(bytemuck::cast_slice(words), o, |x: i8| i32::from(x) as u32),
        (LanesMut::Narrow(o), DType::U16) => places.read(bytemuck::cast_slice(words), o, |x: u16| x.into()),
        (LanesMut::Narrow(o), DType::I16) => places.read(bytemuck::cast_slice(words), o, |x: i16| i32::from(x) as u32),
        (LanesMut::Narrow(o), _) => places.read(bytemuck::cast_slice(words), o, |x: u32| x),
        (LanesMut::Wide(o), _) => places.read(words, o, |x: u64| x),
    }
}

/// Narrows lanes to elements, with canonical NaN.
pub(crate) fn store(dtype: DType, lanes: Lanes<'_>, bytes: &mut [u8]) {
    fn put<S: Pod, D: Pod>(lanes: &[S], bytes: &mut [u8], f: impl Fn(S) -> D) {
        bytemuck::cast_slice_mut::<_, D>(bytes).iter_mut().zip(lanes).for_each(|(o, &x)| *o = f(x));
    }
    match (lanes, dtype) {
        (Lanes::Narrow(all), DType::F16) => put(all, bytes, |x| f16::narrow(f32::from_bits(x))),
        (Lanes::Narrow(all), DType::U8 | DType::I8) => put(all, bytes, |x| x as u8),
        (Lanes::Narrow(all), DType::U16 | DType::I16) => put(all, bytes, |x| x as u16),
        (lanes, _) => visible(dtype.ty(), lanes, bytes),
    }
}

/// Elements of one output, computed apart and written when the locks on the inputs are gone.
pub(crate) struct Pending {
    dtype: DType,
    words: Vec<u64>,
    elements: u64,
}

impl Pending {
    pub(crate) fn new(dtype: DType, elements: u64) -> Result<Self> {
        Ok(Self { dtype, words: host::zeroed((elements * dtype.size_bytes()).div_ceil(8))?, elements })
    }

    /// One for each output.
    pub(crate) fn of(outs: &[Out<HostBuffer>], elements: u64) -> Result<Vec<Self>> {
        outs.iter().map(|out| Self::new(out.dtype, elements)).collect()
    }

    /// The bytes of all elements.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..(self.elements * self.dtype.size_bytes()) as usize]
    }

    /// Stores lanes from an element on.
    pub(crate) fn put(&mut self, first: u64, lanes: Lanes<'_>) {
        let (dtype, size) = (self.dtype, self.dtype.size_bytes() as usize);
        store(dtype, lanes, &mut self.bytes()[first as usize * size..][..lanes.len() * size]);
    }

    /// Takes what is there.
    pub(crate) fn read(&mut self, out: &Out<HostBuffer>) -> Result<()> {
        let (offset, bytes) = (out.offset * self.dtype.size_bytes(), self.bytes());
        bytes.copy_from_slice(&out.raw.read(offset, bytes.len() as u64)?);
        Ok(())
    }

    pub(crate) fn write(&mut self, out: &Out<HostBuffer>) -> Result<()> {
        out.raw.write(out.offset * self.dtype.size_bytes(), self.bytes())
    }
}
