//! Leaves and outputs of a task as a kernel sees them: which buffers it binds, how it reaches their elements, and which window of
//! them one dispatch sees.

use crate::binds::Binding;
use crate::buffer::{Buffer, window};
use arrayvec::ArrayVec;
use isowarp_core::backend::{Leaf, Out, RawBuffer as _};
use isowarp_core::element::{DType, Ty};
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::{Func, Param};

/// Most leaves of a task, outputs of a task, and buffers of a kernel.
pub(super) const MAX: usize = 16;

/// Grouping of the 32-bit words of a binding.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Unit {
    /// `array<u32>`.
    Word,
    /// `array<vec2<u32>>`: four narrow floats.
    Pair,
    /// `array<vec4<u32>>`: 16-byte access.
    Quad,
    /// `array<atomic<u32>>`: narrow elements whose word has several writers.
    Atomic,
}

/// One bound buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Slot {
    pub(super) unit: Unit,
    pub(super) writable: bool,
}

/// Origin of one parameter of the loading operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum LeafKind {
    /// Four neighbours are one aligned load.
    Vector { slot: u8, dtype: DType },
    /// Elements at a distance that a parameter of the kernel gives.
    Strided { slot: u8, dtype: DType },
    /// One element for all indices.
    Broadcast { slot: u8, dtype: DType },
    /// Fetched from by the operator: `windows` consecutive slots of `each` elements (the last may have fewer), or one of any length. `twin` is
    /// the leaf, if there is one, whose elements are the array's at the same indices.
    Array { slot: u8, dtype: DType, windows: u8, each: u32, twin: Option<u8> },
    /// A parameter of the kernel.
    Value(Ty),
    /// The index.
    Index(Ty),
    /// Nothing that this kernel looks at.
    Unused,
}

impl LeafKind {
    /// Whether its values need no element to be there.
    pub(super) fn is_uniform(self) -> bool {
        matches!(self, Self::Broadcast { .. } | Self::Value(_) | Self::Index(_))
    }
}

/// Form in which one result is stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct OutKind {
    pub(super) slot: u8,
    pub(super) dtype: DType,
    /// Four neighbours are one aligned store.
    pub(super) vector: bool,
    /// Consecutive slots that hold the output, of `each` elements (the last may have fewer), where it is written at indices of the kernel's own.
    pub(super) windows: u8,
    pub(super) each: u32,
}

/// The part of leaves and outputs that a kernel's text depends on.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Signature {
    pub(super) leaves: ArrayVec<LeafKind, MAX>,
    pub(super) outs: ArrayVec<OutKind, MAX>,
    pub(super) slots: ArrayVec<Slot, MAX>,
    /// Whether there is an index, and four elements that are taken together begin at a multiple of four.
    pub(super) aligned: bool,
}

/// Where a slot's elements lie.
#[derive(Clone, Copy, Debug)]
struct Place<'a> {
    raw: &'a Buffer,
    offset: u64,
    stride: i64,
    size: u64,
    /// Elements of an array or of a window of one, all of which every dispatch sees.
    whole: Option<u64>,
    /// Whether its indices are those of outputs rather than of inputs.
    output: bool,
    /// Number of its indices, where every dispatch sees all of them.
    own: Option<u64>,
}

/// A task's leaves and outputs.
#[derive(Debug)]
pub(super) struct Operands<'a> {
    pub(super) signature: Signature,
    places: ArrayVec<Place<'a>, MAX>,
    leaves: &'a [Leaf<Buffer>],
}

/// Elements `first..first + len` of a task: what one dispatch works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub(super) first: u64,
    pub(super) len: u64,
}

impl Span {
    pub(super) const fn of(first: u64, len: u64) -> Self {
        Self { first, len }
    }
}

/// Limits of the adapter for a binding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Bytes of one binding.
    pub(super) window_bytes: u64,
    /// Alignment of a binding's first byte.
    pub(super) align: u64,
}

impl Signature {
    /// Of each leaf that is an array the one with its elements at the same indices.
    pub(super) fn twins(&self) -> ArrayVec<Option<u8>, MAX> {
        let of = |leaf: &LeafKind| if let LeafKind::Array { twin, .. } = leaf { *twin } else { None };
        self.leaves.iter().map(of).collect()
    }

    /// Of each leaf whether four elements have one value, and of an index whether the first one is a multiple of four.
    pub(super) fn shared(&self) -> ArrayVec<bool, MAX> {
        let of = |leaf: &LeafKind| match leaf {
            LeafKind::Index(_) => self.aligned,
            LeafKind::Value(_) | LeafKind::Broadcast { .. } => true,
            _ => false,
        };
        self.leaves.iter().map(of).collect()
    }
}

impl<'a> Operands<'a> {
    /// Plans the slots. `aligned_lines` says that every line starts at a multiple of four elements, so that vector access is open to
    /// contiguous operands; `scattered` that outputs are written one element at a time by invocations that do not own whole words.
    pub(super) fn plan(
        limits: Limits,
        params: &[Param],
        leaves: &'a [Leaf<Buffer>],
        outs: &'a [Out<Buffer>],
        aligned_lines: bool,
        scattered: bool,
        elements: u64,
    ) -> Result<Self> {
        let mut all = Self { signature: Signature::default(), places: ArrayVec::new(), leaves };
        if leaves.len() > MAX || outs.len() > MAX || leaves.len() + outs.len() > MAX {
            return Err(Error::TooLarge { what: "operands of a kernel", requested: (leaves.len() + outs.len()) as u64, limit: MAX as u64 });
        }
        for out in outs {
            let size = out.dtype.size_bytes();
            let vector = aligned_lines && !scattered && out.offset % 4 == 0 && padded(&out.raw, out.offset + elements, size);
            let unit = match (vector, size) {
                (true, _) => vector_unit(size),
                (false, 1 | 2) => Unit::Atomic,
                _ => Unit::Word,
            };
            let place = Place { raw: &out.raw, offset: out.offset, stride: 1, size, whole: None, output: true, own: None };
            let slot = all.push(place, Slot { unit, writable: true });
            all.signature.outs.push(OutKind { slot, dtype: out.dtype, vector, windows: 1, each: 0 });
        }
        all.leaves(limits, params, aligned_lines, elements)?;
        // Windows of one to three elements begin anywhere.
        let whole = all.most(limits, true) >= elements.min(4);
        all.signature.aligned = whole && aligned_lines && all.signature.leaves.iter().any(|leaf| matches!(leaf, LeafKind::Index(_)));
        Ok(all)
    }

    /// As [`Operands::plan`] for a kernel that writes its outputs wherever it likes: each of these lengths, in as many windows as that takes.
    pub(super) fn plan_scattering(
        limits: Limits,
        params: &[Param],
        leaves: &'a [Leaf<Buffer>],
        outs: &[(&'a Out<Buffer>, u64)],
        elements: u64,
    ) -> Result<Self> {
        let mut all = Self { signature: Signature::default(), places: ArrayVec::new(), leaves };
        if leaves.len() + outs.len() > MAX {
            return Err(Error::TooLarge { what: "operands of a kernel", requested: (leaves.len() + outs.len()) as u64, limit: MAX as u64 });
        }
        for &(out, len) in outs {
            let unit = if out.dtype.size_bytes() < 4 { Unit::Atomic } else { Unit::Word };
            let (slot, windows, each) =
                all.windows(limits, (&out.raw, out.offset, len), out.dtype.size_bytes(), Slot { unit, writable: true })?;
            all.signature.outs.push(OutKind { slot, dtype: out.dtype, vector: false, windows, each });
        }
        all.leaves(limits, params, true, elements)?;
        Ok(all)
    }

    fn leaves(&mut self, limits: Limits, params: &[Param], aligned_lines: bool, elements: u64) -> Result<()> {
        for (leaf, param) in self.leaves.iter().zip(params) {
            let kind = match (leaf, param) {
                (Leaf::Array { raw, dtype, offset, len }, Param::Array(_)) => {
                    let slot = Slot { unit: Unit::Word, writable: false };
                    let (slot, windows, each) = self.windows(limits, (raw, *offset, *len), dtype.size_bytes(), slot)?;
                    LeafKind::Array { slot, dtype: *dtype, windows, each, twin: leaf.twin(self.leaves, elements) }
                }
                _ => self.leaf(leaf, *param, aligned_lines, elements, None)?,
            };
            self.signature.leaves.push(kind);
        }
        Ok(())
    }

    /// Leaves that every dispatch sees whole, with how many indices each has and whether the kernel looks at it. `None` where one of them
    /// is longer than a binding, or there are more than there is room for.
    pub(super) fn plan_whole(
        limits: Limits,
        params: &[Param],
        leaves: &'a [Leaf<Buffer>],
        of: impl Fn(usize) -> (u64, bool),
    ) -> Result<Option<Self>> {
        let mut all = Self { signature: Signature::default(), places: ArrayVec::new(), leaves };
        if leaves.len() > MAX {
            return Ok(None);
        }
        for (k, (leaf, param)) in leaves.iter().zip(params).enumerate() {
            let (n, used) = of(k);
            let most = |dtype: DType| limits.window_bytes.saturating_sub(limits.align + 32) / dtype.size_bytes();
            let slots = match leaf {
                Leaf::Array { dtype, len, .. } => len.div_ceil(most(*dtype).max(1)).max(1),
                _ => 1,
            };
            if used && all.places.len() as u64 + slots > MAX as u64 {
                return Ok(None);
            }
            let kind = match (leaf, param) {
                _ if !used => LeafKind::Unused,
                (Leaf::Array { raw, dtype, offset, len }, Param::Array(_)) => {
                    let slot = Slot { unit: Unit::Word, writable: false };
                    let (slot, windows, each) = all.windows(limits, (raw, *offset, *len), dtype.size_bytes(), slot)?;
                    LeafKind::Array { slot, dtype: *dtype, windows, each, twin: None }
                }
                _ => all.leaf(leaf, *param, false, n, Some(n))?,
            };
            all.signature.leaves.push(kind);
        }
        let fits = |p: &Place<'_>| match p.own {
            Some(n) if p.stride != 0 => {
                n <= limits.window_bytes.saturating_sub(limits.align + 32) / p.size.saturating_mul(p.stride.unsigned_abs())
            }
            _ => true,
        };
        Ok(all.places.iter().all(fits).then_some(all))
    }

    /// Plans the slots of a product: its two operands are seen whole, each with as many indices as `extents` says; what else there is has the indices of the outputs.
    pub(super) fn plan_product(
        limits: Limits,
        (a, b): (&Func, &Func),
        leaves: &'a [Leaf<Buffer>],
        (outs, scattered): (&'a [Out<Buffer>], bool),
        extents: [u64; 3],
    ) -> Result<Self> {
        let mut all = Self::plan(limits, &[], &[], outs, true, scattered, extents[2])?;
        all.leaves = leaves;
        for (k, (leaf, param)) in leaves.iter().zip(&a.params).enumerate() {
            let own = [(a, extents[0]), (b, extents[1])].into_iter().find(|(func, _)| func.looks_at(k)).map(|(_, extent)| extent);
            let n = own.unwrap_or(extents[2]);
            if let (Leaf::Elements { dtype, stride, .. }, Param::Value(_)) = (leaf, param)
                && let most = limits.window_bytes.saturating_sub(limits.align + 32) / (dtype.size_bytes() * stride.unsigned_abs().max(1))
                && *stride != 0
                && n > most
            {
                return Err(Error::TooLarge { what: "elements of a matrix that the device binds", requested: n, limit: most });
            }
            let kind = match (leaf, param) {
                (Leaf::Array { raw, dtype, offset, len }, Param::Array(_)) => {
                    let slot = Slot { unit: Unit::Word, writable: false };
                    let (slot, windows, each) = all.windows(limits, (raw, *offset, *len), dtype.size_bytes(), slot)?;
                    LeafKind::Array { slot, dtype: *dtype, windows, each, twin: None }
                }
                _ => all.leaf(leaf, *param, true, n, own)?,
            };
            all.signature.leaves.push(kind);
        }
        Ok(all)
    }

    /// Returns the operands of a kernel that only works on arrays of its own.
    pub(super) fn none() -> Self {
        Self { signature: Signature::default(), places: ArrayVec::new(), leaves: &[] }
    }

    /// One leaf. `own` says how many indices it has where every dispatch sees all of them.
    fn leaf(&mut self, leaf: &'a Leaf<Buffer>, param: Param, aligned_lines: bool, elements: u64, own: Option<u64>) -> Result<LeafKind> {
        Ok(match (leaf, param) {
            (_, Param::Index(ty)) => LeafKind::Index(ty),
            (Leaf::Value { .. }, Param::Value(ty)) => LeafKind::Value(ty),
            (Leaf::Elements { raw, dtype, offset, stride }, Param::Value(_)) => {
                let size = dtype.size_bytes();
                let place = Place { raw, offset: *offset, stride: *stride, size, whole: None, output: false, own };
                // An output in place is bound once, and read as it is written.
                if let Some(slot) = self.same(&place) {
                    return Ok(match self.signature.slots[usize::from(slot)].unit {
                        _ if *stride == 0 => LeafKind::Broadcast { slot, dtype: *dtype },
                        unit if unit == vector_unit(size) && self.is_vector(slot) => LeafKind::Vector { slot, dtype: *dtype },
                        _ => LeafKind::Strided { slot, dtype: *dtype },
                    });
                }
                let vector = *stride == 1 && aligned_lines && offset % 4 == 0 && padded(raw, offset + elements, size);
                let unit = if vector { vector_unit(size) } else { Unit::Word };
                let slot = self.push(place, Slot { unit, writable: false });
                match stride {
                    0 => LeafKind::Broadcast { slot, dtype: *dtype },
                    _ if vector => LeafKind::Vector { slot, dtype: *dtype },
                    _ => LeafKind::Strided { slot, dtype: *dtype },
                }
            }
            _ => return Err(Error::InvalidArgument { what: "inputs", reason: "a leaf does not fit its parameter".to_owned() }),
        })
    }

    /// Binds what a kernel reaches at indices of its own, in several windows where it is above the limit of a binding: returns the first slot, how
    /// many there are, and the elements of each.
    fn windows(&mut self, limits: Limits, (raw, offset, len): (&'a Buffer, u64, u64), size: u64, slot: Slot) -> Result<(u8, u8, u32)> {
        let most = limits.window_bytes.saturating_sub(limits.align + 32) / size;
        let each = if len <= most { len } else { most / 4 * 4 };
        let windows = len.div_ceil(each.max(1)).max(1);
        let (taken, room) = (self.places.len() as u64, MAX as u64);
        if taken + windows > room {
            return Err(Error::TooLarge { what: "bindings of the windows of an array", requested: taken + windows, limit: room });
        }
        for w in 0..windows {
            let whole = Some(each.min(len - w * each));
            let place = Place { raw, offset: offset + w * each, stride: 1, size, whole, output: slot.writable, own: None };
            self.push(place, slot);
        }
        // The text of a kernel names the window's length only where there are several.
        let each = if windows == 1 { 0 } else { each as u32 };
        Ok((taken as u8, windows as u8, each))
    }

    fn push(&mut self, place: Place<'a>, slot: Slot) -> u8 {
        self.places.push(place);
        self.signature.slots.push(slot);
        (self.places.len() - 1) as u8
    }

    /// The slot that already stands for these elements.
    fn same(&self, place: &Place<'_>) -> Option<u8> {
        let equal = |p: &Place<'_>| {
            let of = |p: &Place<'_>| (p.offset, p.stride, p.size, p.own);
            p.whole.is_none() && p.raw.same(place.raw) && of(p) == of(place)
        };
        self.places.iter().position(equal).map(|k| k as u8)
    }

    fn is_vector(&self, slot: u8) -> bool {
        let s = &self.signature;
        s.outs.iter().any(|o| o.slot == slot && o.vector)
            || s.leaves.iter().any(|l| matches!(l, LeafKind::Vector { slot: k, .. } if *k == slot))
    }

    /// The most elements that windows of the inputs, or of the outputs too, hold.
    fn most(&self, limits: Limits, outputs: bool) -> u64 {
        let mut most = u64::from(u32::MAX >> 1);
        for p in self.places.iter().filter(|p| p.whole.is_none() && p.stride != 0 && (outputs || !p.output)) {
            let step = p.size.saturating_mul(p.stride.unsigned_abs());
            // Room for the part of a window before its first element, and for the padding of its last vector.
            most = most.min(limits.window_bytes.saturating_sub(limits.align + 32) / step);
        }
        most
    }

    /// The most elements that one dispatch can see, a multiple of `multiple` where it is not everything. Inputs and outputs are taken
    /// to have the same indices.
    pub(super) fn span(&self, limits: Limits, elements: u64, multiple: u64, outputs: bool) -> u64 {
        let most = self.most(limits, outputs);
        // Below that few elements, of a kernel whose neighbours share values of their index: windows begin at multiples of four all the same.
        let few = if self.signature.aligned { most / 4 * 4 } else { 1 };
        if most >= elements { elements } else { Some(most / multiple * multiple).filter(|&n| n > 0).unwrap_or(few).max(1) }
    }

    /// The most results that one dispatch can write, where outputs have indices of their own.
    pub(super) fn span_of_outputs(&self, limits: Limits, results: u64) -> u64 {
        let sizes = self.places.iter().filter(|p| p.output && p.whole.is_none()).map(|p| p.size);
        let most = sizes.map(|size| limits.window_bytes.saturating_sub(limits.align + 32) / size).min();
        most.unwrap_or(results).min(results).max(1)
    }

    /// Bytes of the widest element.
    pub(super) fn widest(&self) -> u64 {
        self.places.iter().map(|p| p.size).max().unwrap_or(1)
    }

    /// Adds the bindings of one dispatch, and its parameters: every slot's `skip`, then every leaf's own.
    pub(super) fn bind(
        &self,
        limits: Limits,
        inputs: Span,
        outputs: Span,
        bindings: &mut ArrayVec<Binding<'a>, MAX>,
        args: &mut Args,
    ) -> Result<()> {
        debug_assert!(!self.signature.aligned || inputs.first.is_multiple_of(4), "windows begin at multiples of four");
        for (p, slot) in self.places.iter().zip(&self.signature.slots) {
            let span = p.own.map_or(if p.output { outputs } else { inputs }, |n| Span::of(0, n));
            let (first, len, at) = match p.whole {
                Some(len) => (p.offset, len.max(1), p.offset),
                // Of nothing the start of the buffer, which is there.
                None if p.own == Some(0) => (0, 1, 0),
                None if p.stride == 0 => (p.offset, 1, p.offset),
                None => {
                    let at = p.offset.wrapping_add_signed((span.first as i64).wrapping_mul(p.stride));
                    let reach = (span.len.max(1) - 1) * p.stride.unsigned_abs();
                    (if p.stride < 0 { at - reach } else { at }, reach + 1, at)
                }
            };
            let w = window(first, len, p.size, limits.align, limits.window_bytes)?;
            let unit = match slot.unit {
                Unit::Word | Unit::Atomic => 4,
                Unit::Pair => 8,
                Unit::Quad => 16,
            };
            bindings.push(Binding { buffer: p.raw, offset_bytes: w.offset_bytes, size_bytes: w.size_bytes.next_multiple_of(unit) });
            args.push((w.skip + (at - first)) as u32);
        }
        for (leaf, kind) in self.leaves.iter().zip(&self.signature.leaves) {
            match (leaf, kind) {
                (Leaf::Elements { stride, .. }, LeafKind::Strided { .. }) => args.push(*stride as u32),
                (Leaf::Array { len, .. }, LeafKind::Array { .. }) => args.push(u32::try_from(*len).unwrap_or(u32::MAX)),
                (Leaf::Value { bits }, LeafKind::Value(ty)) => {
                    args.push(*bits as u32);
                    if ty.words() == 2 {
                        args.push((bits >> 32) as u32);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The parameters of a dispatch: 32-bit words in the order in which the kernel declares them.
#[derive(Debug, Default)]
pub(super) struct Args(ArrayVec<u32, 64>);

impl Args {
    pub(super) fn of(words: &[u32]) -> Self {
        let mut args = Self::default();
        words.iter().for_each(|&w| args.push(w));
        args
    }

    /// Words past the 64 that the engine takes are dropped; the engine then refuses the dispatch by its length.
    pub(super) fn push(&mut self, word: u32) {
        let _ = self.0.try_push(word);
    }

    /// Adds others behind these.
    pub(super) fn extend(&mut self, others: &Self) {
        others.0.iter().for_each(|&word| self.push(word));
    }

    pub(super) fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

const fn vector_unit(size: u64) -> Unit {
    match size {
        1 => Unit::Word,
        2 => Unit::Pair,
        _ => Unit::Quad,
    }
}

/// Whether the memory reaches to the end of the last group of four elements, so that a vector binding can cover it.
pub(super) fn padded(raw: &Buffer, end: u64, size: u64) -> bool {
    (end.next_multiple_of(4) * size).next_multiple_of(16) <= raw.capacity()
}
