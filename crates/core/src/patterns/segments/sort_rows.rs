//! Sorts of many short rows as sorts of segments, so that a workgroup takes many of them.

use super::sort_task::SegmentedSortTask;
use crate::backend::{Leaf, Out, RawBuffer as _, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::element::DType;
use crate::error::Result;
use crate::input::{index, scalar};
use crate::patterns::layout::{Axis, copy};
use crate::patterns::{LayoutTask, Map as _, MapTask, SortPayload, SortPlaces, SortTask};

impl SortTask {
    /// Whether it sorts rows that a sort of segments takes many at a time: those of at most `short` keys, with which at most 4 bytes travel. A radix
    /// sort gives each row a workgroup, however few keys it has.
    #[must_use]
    pub fn is_of_short_rows<R>(&self, places: &SortPlaces<'_, R>, short: u64) -> bool {
        self.rows > 1 && self.n <= short && places.payload_bytes <= 4 && !self.lent
    }

    /// Sorts rows as segments of all keys.
    ///
    /// # Errors
    /// Those of a sort of segments.
    pub fn rows_as_segments<B>(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()>
    where
        B: Run<SortTask> + Run<SegmentedSortTask> + Run<MapTask> + Run<LayoutTask>,
    {
        let n = self.elements();
        let places = self.places(leaves, outs)?;
        // No output of a sort of segments is an input.
        let mut from = leaves.to_vec();
        if let Some(out) = places.keys_out {
            apart(device, &mut from[0], out, self.dtype, n)?;
        }
        if let (SortPayload::Values, Some(out)) = (self.payload, places.payload_out) {
            apart(device, &mut from[1], out, out.dtype, n)?;
        }
        if self.n == 1 {
            // Every row is in order: no bits are compared, and everything stays.
            device.run(&Self { rows: 1, n, bits: 0..0, ..self.clone() }, &from, outs)?;
        } else {
            let bounds = device.generate(self.rows + 1, (index(), scalar(self.n as u32)), |(row, n)| row * n)?;
            from.push(Leaf::Array { raw: bounds.raw().clone(), dtype: DType::U32, offset: bounds.offset(), len: bounds.len() });
            let sort = Self { rows: 1, n, ..self.clone() };
            // Before the first row is nothing, nor is behind the last.
            device.run(&SegmentedSortTask { sort, parts: self.rows + 2, given: false, keeps_rest: false }, &from, outs)?;
        }
        match (self.payload, places.payload_out) {
            (SortPayload::Indices, Some(out)) => {
                let indices = Buffer::<B, u32>::from_raw(device, out.raw.clone(), out.offset, n)?;
                device.map_into((&indices, scalar(self.n as u32)), |(i, n)| i % n, &indices)
            }
            _ => Ok(()),
        }
    }
}

/// Has elements that are sorted where they lie read from a copy.
fn apart<B: Run<LayoutTask>>(device: &B, leaf: &mut Leaf<B::Raw>, out: &Out<B::Raw>, dtype: DType, n: u64) -> Result<()> {
    let Leaf::Elements { raw, offset, .. } = leaf else { return Ok(()) };
    if !raw.same(&out.raw) || *offset != out.offset {
        return Ok(());
    }
    crate::dynamic::with_dtype!(dtype, T => {
        let (source, copied) = (Buffer::<B, T>::from_raw(device, raw.clone(), *offset, n)?, device.buffer::<T>(n)?);
        copy(device, "sort", &[Axis { n, from: 1, to: 1 }], (&source, 0), (&copied, 0))?;
        (*raw, *offset) = (copied.raw().clone(), copied.offset());
    });
    Ok(())
}
