//! A sort as its forms put it together, and its checks.

use super::travel::LentMemory;
use super::{Payload, SortBy, SortPayload, SortTask, check_len};
use crate::backend::{Backend, Leaf, Out, Run, places};
use crate::buffer::Buffer;
use crate::element::{DType, Element};
use crate::error::{Error, Result};
use crate::input::require;
use crate::patterns::layout::{LayoutTask, transposed};
use crate::patterns::{Lines, Prepare, check_aliasing};
use core::ops::Range;

/// The bits that are compared, all where none are named.
pub(super) fn bits_of(dtype: DType, by: &SortBy) -> Result<Range<u32>> {
    let width = 8 * dtype.size_bytes() as u32;
    let bits = by.bits.clone().unwrap_or(0..width);
    if bits.start > bits.end || bits.end > width {
        return Err(Error::InvalidArgument { what: "bits", reason: format!("{bits:?} is no range of the {width} bits of {dtype}") });
    }
    Ok(bits)
}

/// Rows of `n` keys are whole.
pub(super) fn check_rows(keys: u64, n: u64) -> Result<()> {
    if keys == 0 {
        return Ok(());
    }
    if n == 0 {
        return Err(Error::InvalidArgument { what: "keys of a row", reason: format!("rows of none do not hold {keys} keys") });
    }
    if keys.is_multiple_of(n) {
        return Ok(());
    }
    Err(Error::LengthMismatch { what: "keys of whole rows", expected: keys.next_multiple_of(n), found: keys })
}

/// A sort as it is put together.
pub(in crate::patterns) struct Call<'a, B: Backend> {
    device: &'a B,
    task: SortTask,
    elements: u64,
    in_place: bool,
    leaves: Vec<Leaf<B::Raw>>,
    outs: Vec<(Out<B::Raw>, u64)>,
}

impl<'a, B: Backend> Call<'a, B> {
    pub(in crate::patterns) fn new<K: Element>(device: &'a B, keys: &Buffer<B, K>, by: impl Into<SortBy>) -> Result<Self> {
        require(device, "sort", K::DTYPE)?;
        let by = by.into();
        let bits = bits_of(K::DTYPE, &by)?;
        let task =
            SortTask { dtype: K::DTYPE, order: by.order, bits, rows: 1, n: 0, payload: SortPayload::Nothing, keys_out: false, lent: false };
        keys.check_device(device, "an input")?;
        Ok(Self { device, task, elements: keys.len(), in_place: false, leaves: vec![keys.leaf()], outs: Vec::new() })
    }

    pub(in crate::patterns) fn values<V: Payload>(mut self, values: &Buffer<B, V>) -> Result<Self> {
        require(self.device, "sort", V::DTYPE)?;
        if values.len() != self.elements {
            return Err(Error::LengthMismatch { what: "values", expected: self.elements, found: values.len() });
        }
        values.check_device(self.device, "an input")?;
        self.task.payload = SortPayload::Values;
        self.leaves.push(values.leaf());
        Ok(self)
    }

    pub(in crate::patterns) const fn elements(&self) -> u64 {
        self.elements
    }

    pub(in crate::patterns) const fn device(&self) -> &'a B {
        self.device
    }

    pub(super) fn in_place(mut self) -> Self {
        self.in_place = true;
        self
    }

    pub(in crate::patterns) fn indices(mut self) -> Self {
        self.task.payload = SortPayload::Indices;
        self
    }

    fn output<T: Element>(mut self, out: &Buffer<B, T>, what: &'static str) -> Result<Self> {
        if out.len() < self.elements {
            return Err(Error::BufferTooSmall { what, required: self.elements, available: out.len() });
        }
        out.check_device(self.device, what)?;
        self.outs.push((out.out(), self.elements));
        Ok(self)
    }

    pub(in crate::patterns) fn keys_to<K: Element>(mut self, out: &Buffer<B, K>) -> Result<Self> {
        self.task.keys_out = true;
        self.output(out, "the output")
    }

    pub(in crate::patterns) fn payload_to<V: Element>(self, out: &Buffer<B, V>) -> Result<Self> {
        self.output(out, "the output")
    }

    fn lends<T: Element>(mut self, lent: &Buffer<B, T>) -> Result<Self> {
        self.task.lent = true;
        self.output(lent, "the memory for the passes between")
    }

    /// Lends memory for the passes between, if there is some.
    pub(super) fn lent<K: Element, V: Element>(self, memory: Option<&LentMemory<'_, B, K, V>>) -> Result<Self> {
        let Some(memory) = memory else { return Ok(self) };
        let sort = self.lends(memory.keys)?;
        match memory.payload {
            Some(payload) => sort.lends(payload),
            None => Ok(sort),
        }
    }

    /// Fails where an output, or lent memory, overlaps what is read before, or another one.
    pub(super) fn apart_from(&self, leaves: &[Leaf<B::Raw>]) -> Result<()> {
        check_aliasing("sort", leaves, self.elements, &self.outs, false)
    }

    /// Enqueues the sort of rows of `n` keys.
    pub(super) fn run(self, n: u64) -> Result<()>
    where
        B: Run<SortTask>,
    {
        self.run_rows(Lines::one(n), &|| Ok(()))
    }

    /// Enqueues the sort of rows, after `prepare`, which is called once all is checked.
    pub(super) fn run_rows(self, rows: Lines, prepare: Prepare<'_>) -> Result<()>
    where
        B: Run<SortTask>,
    {
        self.checked(rows.n, |device, task, leaves, outs| {
            prepare()?;
            device.run(&task, leaves, outs)
        })
    }

    /// As [`Call::run_rows`] of lines along any axis. Those that are no rows are transposed to rows, sorted, and transposed back.
    pub(super) fn run_lines(self, lines: Lines, prepare: Prepare<'_>) -> Result<()>
    where
        B: Run<SortTask> + Run<LayoutTask>,
    {
        let Lines { outer, n, inner } = lines;
        if inner < 2 || n < 2 {
            return self.run_rows(lines, prepare);
        }
        self.checked(n, |device, task, leaves, outs| {
            let place = |dtype: DType| {
                let bytes = task.elements() * dtype.size_bytes();
                Ok(Out { raw: device.allocate_bytes(bytes.next_multiple_of(4))?, dtype, offset: 0 })
            };
            let element = |out: &Out<B::Raw>| Leaf::Elements { raw: out.raw.clone(), dtype: out.dtype, offset: out.offset, stride: 1 };
            let mut rows = Vec::with_capacity(leaves.len());
            for leaf in leaves {
                let Leaf::Elements { dtype, .. } = leaf else { continue };
                rows.push((leaf, place(*dtype)?));
            }
            let sorted = outs.iter().map(|out| place(out.dtype)).collect::<Result<Vec<_>>>()?;
            prepare()?;
            rows.iter().try_for_each(|(leaf, row)| transposed(device, [outer, n, inner], leaf, row))?;
            let rows: Vec<_> = rows.iter().map(|(_, row)| element(row)).collect();
            device.run(&task, &rows, &sorted)?;
            sorted.iter().zip(outs).try_for_each(|(rows, out)| transposed(device, [outer, inner, n], &element(rows), out))
        })
    }

    /// The sort of rows of `n` keys, which there are, and its operands.
    pub(in crate::patterns) fn checked(
        mut self,
        n: u64,
        enqueue: impl FnOnce(&B, SortTask, &[Leaf<B::Raw>], &[Out<B::Raw>]) -> Result<()>,
    ) -> Result<()> {
        check_len(self.elements)?;
        check_aliasing("sort", &self.leaves, self.elements, &self.outs, self.in_place)?;
        if self.elements == 0 {
            return Ok(());
        }
        check_rows(self.elements, n)?;
        (self.task.rows, self.task.n) = (self.elements / n, n);
        let outs = places(self.outs);
        enqueue(self.device, self.task, &self.leaves, &outs)
    }
}
