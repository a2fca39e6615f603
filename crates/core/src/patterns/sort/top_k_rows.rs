//! P07 top-k of rows: the first keys of every row of a matrix, by the way that its shape makes cheapest.

use super::call::{Call, bits_of, check_rows};
use super::top_k::{TopKTask, check_outputs, select, sorts_whole};
use super::{SortBy, SortTask, check_len};
use crate::backend::{Backend, Run};
use crate::buffer::{Buffer, Memory as _};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::{index, require, scalar};
use crate::patterns::layout::{Axis, LayoutTask, copy, transposed};
use crate::patterns::moves::gather;
use crate::patterns::{GatherTask, Lines, Map as _, MapTask, Prepare, check_aliasing};

/// Rows of at least so many keys are searched one after the other, where few of each are wanted.
const LONG: u64 = 1 << 22;
/// Keys that are sorted at once: what bounds the scratch.
const BATCH: u64 = 1 << 26;

/// Ways to find the rows' first keys. The result is the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// Row by row.
    OneByOne,
    /// Every row sorted by itself, and its start copied.
    Sorted,
}

/// Returns the way that is cheapest for so many rows of this task.
fn way(rows: u64, task: &TopKTask) -> Way {
    if !sorts_whole(task) && (rows == 1 || task.n >= LONG) { Way::OneByOne } else { Way::Sorted }
}

/// Lines whose first keys are wanted, checked.
pub(super) struct Matrix<'a, B: Backend, K> {
    device: &'a B,
    keys: &'a Buffer<B, K>,
    by: SortBy,
    lines: Lines,
    /// Of one line.
    task: TopKTask,
}

/// Checks the shape of so many keys and what is wanted of them; the number of results.
pub(super) fn check_matrix<B: Backend, K: Element>(device: &B, found: u64, (n, k): (u64, u64), by: &SortBy) -> Result<u64> {
    require(device, "top_k", K::DTYPE)?;
    bits_of(K::DTYPE, by)?;
    if k > n {
        return Err(Error::TooLarge { what: "k of a top-k, by the keys of a row", requested: k, limit: n });
    }
    check_len(n)?;
    check_rows(found, n)?;
    Ok(found.checked_div(n).unwrap_or(0) * k)
}

impl<'a, B, K> Matrix<'a, B, K>
where
    B: Run<TopKTask> + Run<SortTask> + Run<GatherTask> + Run<LayoutTask> + Run<MapTask>,
    K: Element,
{
    pub(super) fn new(device: &'a B, keys: &'a Buffer<B, K>, (lines, k): (Lines, u64), by: SortBy) -> Result<Self> {
        keys.check_device(device, "an input")?;
        let n = lines.n;
        check_matrix::<B, K>(device, keys.len(), (n, k), &by)?;
        let bits = bits_of(K::DTYPE, &by)?;
        let task = TopKTask { dtype: K::DTYPE, order: by.order, bits, n, k };
        Ok(Self { device, keys, by, lines, task })
    }

    /// The lines that have keys.
    const fn rows(&self) -> u64 {
        if self.lines.n == 0 { 0 } else { self.lines.count() }
    }

    /// Elements of a result.
    pub(super) const fn results(&self) -> u64 {
        self.rows() * self.task.k
    }

    /// Finds them; `prepare` is called once all is checked.
    pub(super) fn first(&self, first: &Buffer<B, K>, places: Option<&Buffer<B, u32>>, prepare: Prepare<'_>) -> Result<()> {
        check_outputs(self.device, self.keys, self.results(), Some(first), places)?;
        prepare()?;
        let (device, k) = (self.device, self.task.k);
        let Lines { outer, n, inner } = self.lines;
        if self.results() == 0 || inner < 2 {
            return self.of_rows(self.keys, first, places);
        }
        // Lines become rows, and rows of results lines.
        let rows = device.buffer::<K>(self.keys.len())?;
        transposed(device, [outer, n, inner], &self.keys.leaf(), &rows.out())?;
        let found = device.buffer::<K>(self.results())?;
        let at = places.map(|_| device.buffer::<u32>(self.results())).transpose()?;
        self.of_rows(&rows, &found, at.as_ref())?;
        transposed(device, [outer, inner, k], &found.leaf(), &first.out())?;
        let both = at.zip(places);
        both.map_or(Ok(()), |(at, places)| transposed(device, [outer, inner, k], &at.leaf(), &places.out()))
    }

    /// The same with the values that go with the keys, which are fetched.
    pub(super) fn with_values<V: Element>(
        &self,
        values: &Buffer<B, V>,
        (first, out): (&Buffer<B, K>, &Buffer<B, V>),
        prepare: Prepare<'_>,
    ) -> Result<()> {
        let (device, n, results) = (self.device, self.keys.len(), self.results());
        if values.len() != n {
            return Err(Error::LengthMismatch { what: "values", expected: n, found: values.len() });
        }
        check_len(n)?;
        require(device, "top_k", V::DTYPE)?;
        values.check_device(device, "an input")?;
        out.check_device(device, "the output")?;
        if out.len() < results {
            return Err(Error::BufferTooSmall { what: "the output", required: results, available: out.len() });
        }
        check_aliasing("top_k", &[self.keys.leaf(), values.leaf()], n, &[(first.out(), results), (out.out(), results)], false)?;
        let places = device.buffer::<u32>(results)?;
        self.first(first, Some(&places), prepare)?;
        // From the index in a line to that in the array.
        let number = |n: u64| scalar(n.max(1) as u32);
        let Lines { n, inner, .. } = self.lines;
        let of_line = (&places, index(), number(n), number(inner), number(self.task.k * inner));
        device.map_into(of_line, |(at, i, n, inner, block)| (i / block * n + at) * inner + i % inner, &places)?;
        gather(device, values, &places, out, false)
    }

    /// The same of keys in rows, into rows.
    fn of_rows(&self, keys: &Buffer<B, K>, first: &Buffer<B, K>, places: Option<&Buffer<B, u32>>) -> Result<()> {
        let TopKTask { n, k, .. } = self.task;
        let way = way(self.rows(), &self.task);
        let step = if way == Way::OneByOne { 1 } else { (BATCH / n.max(1)).max(1) };
        for row in (0..if k == 0 { 0 } else { self.rows() }).step_by(step as usize) {
            let rows = step.min(self.rows() - row);
            let keys = keys.slice(row * n..(row + rows) * n)?;
            let first = first.slice(row * k..(row + rows) * k)?;
            let places = places.map(|p| p.slice(row * k..(row + rows) * k)).transpose()?;
            match way {
                Way::OneByOne => select(self.device, &self.task, &keys, self.by.clone(), Some(&first), places.as_ref())?,
                Way::Sorted => self.sorted(&keys, rows, &first, places.as_ref())?,
            }
        }
        Ok(())
    }

    /// Sorts these rows and copies where they start; where all of a row is wanted there is nothing to copy.
    fn sorted(&self, keys: &Buffer<B, K>, rows: u64, first: &Buffer<B, K>, places: Option<&Buffer<B, u32>>) -> Result<()> {
        let TopKTask { n, k, .. } = self.task;
        let sort = |sorted: &Buffer<B, K>, indices: Option<&Buffer<B, u32>>| {
            let call = Call::new(self.device, keys, self.by.clone())?;
            match indices {
                Some(indices) => call.indices().keys_to(sorted)?.payload_to(indices)?.run(n),
                None => call.keys_to(sorted)?.run(n),
            }
        };
        if n == k {
            return sort(first, places);
        }
        let sorted = self.device.buffer(keys.len())?;
        let indices = places.map(|_| self.device.buffer(keys.len())).transpose()?;
        sort(&sorted, indices.as_ref())?;
        let axes = [Axis { n: rows, from: n as i64, to: k }, Axis { n: k, from: 1, to: 1 }];
        copy(self.device, "top_k", &axes, (&sorted, 0), (first, 0))?;
        match (indices, places) {
            (Some(indices), Some(places)) => copy(self.device, "top_k", &axes, (&indices, 0), (places, 0)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::DType;
    use crate::patterns::SortOrder;

    #[test]
    fn the_shape_of_a_matrix_says_how_its_rows_are_searched() {
        let of = |rows, n, k| way(rows, &TopKTask { dtype: DType::F32, order: SortOrder::Ascending, bits: 0..32, n, k });
        assert_eq!(of(64, LONG, 100), Way::OneByOne);
        assert_eq!(of(1, 1 << 20, 100), Way::OneByOne);
        assert_eq!(of(64, LONG, LONG / 2), Way::Sorted);
        assert_eq!(of(64, LONG - 1, 100), Way::Sorted);
        assert_eq!(of(1 << 20, 8, 3), Way::Sorted);
    }
}
