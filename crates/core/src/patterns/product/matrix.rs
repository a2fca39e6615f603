//! Matrices as operands: any input, with a shape and steps.

use crate::error::{Error, Result};

/// An input as a matrix, or as a batch of matrices: how many rows and columns, and where they are among the input's elements. See [`matrix`].
#[derive(Clone, Copy, Debug)]
pub struct Matrix<I> {
    pub(in crate::patterns) input: I,
    pub(in crate::patterns) rows: u64,
    pub(in crate::patterns) columns: u64,
    pub(in crate::patterns) steps: Steps,
    /// Matrices of a batch, where there is one.
    pub(in crate::patterns) batch: Option<u64>,
    /// Elements that the input has to have, where rows and columns do not say it.
    pub(in crate::patterns) reach: Option<u64>,
    /// Whether the step from a row to the next is a leading dimension.
    is_led: bool,
}

/// Elements from a row, a column and a matrix to the next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Steps {
    /// From a row to the next.
    pub row: u64,
    /// From a column to the next.
    pub column: u64,
    /// From a matrix of a batch to the next.
    pub batch: u64,
}

impl Steps {
    /// The elements from the first one to the last one of so many matrices.
    pub(in crate::patterns) fn extent(&self, [batch, rows, columns]: [u64; 3]) -> Option<u64> {
        if batch == 0 || rows == 0 || columns == 0 {
            return Some(0);
        }
        let part = |count: u64, step: u64| (count - 1).checked_mul(step);
        part(batch, self.batch)?.checked_add(part(rows, self.row)?)?.checked_add(part(columns, self.column)?)?.checked_add(1)
    }
}

/// The elements of an input as a row-major matrix: buffers, views, and what [`map`](crate::input::Source::map) makes of them, which is computed where it is read.
///
/// ```
/// # use isowarp::prelude::*;
/// # let dev = isowarp::Cpu::new();
/// let x = dev.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let m = matrix(&x, 2, 3);
/// // The product with its own transpose.
/// assert_eq!(dev.gemm(m, m.transposed()).run()?.read_blocking()?, [14.0, 32.0, 32.0, 77.0]);
/// // The first two columns alone: rows are three elements apart.
/// let part = matrix(&x, 2, 2).leading(3);
/// assert_eq!(dev.gemm(part, part.transposed()).run()?.read_blocking()?, [5.0, 14.0, 14.0, 41.0]);
/// # Ok::<(), isowarp::Error>(())
/// ```
pub fn matrix<I>(input: I, rows: u64, columns: u64) -> Matrix<I> {
    Matrix {
        input,
        rows,
        columns,
        steps: Steps { row: columns, column: 1, batch: rows.saturating_mul(columns) },
        batch: None,
        reach: None,
        is_led: false,
    }
}

impl<I> Matrix<I> {
    /// The transpose: rows are columns.
    pub fn transposed(self) -> Self {
        let Steps { row, column, batch } = self.steps;
        Self { rows: self.columns, columns: self.rows, steps: Steps { row: column, column: row, batch }, ..self }
    }

    /// The same with rows so many elements apart, at least as many as there are columns: the leading dimension. It goes before
    /// [`transposed`](Self::transposed).
    pub fn leading(self, step: u64) -> Self {
        Self { is_led: true, ..self.steps(step, 1) }
    }

    /// The same with rows and columns so many elements apart: `steps(1, rows)` is a column-major matrix. Elements may be met more than once.
    pub fn steps(self, row: u64, column: u64) -> Self {
        Self { steps: Steps { row, column, ..self.steps }, is_led: false, ..self }
    }

    /// So many matrices, one after the other: the next one begins where a row more would.
    pub fn batch(self, count: u64) -> Self {
        let Steps { row, column, .. } = self.steps;
        let step = self.rows.saturating_mul(row).max(self.columns.saturating_mul(column));
        self.batch_by(count, step)
    }

    /// So many matrices whose first elements are `step` elements apart.
    pub fn batch_by(self, count: u64, step: u64) -> Self {
        Self { batch: Some(count), steps: Steps { batch: step, ..self.steps }, ..self }
    }

    /// Reads so many elements of the input.
    pub(in crate::patterns) fn reaching(self, elements: u64) -> Self {
        Self { reach: Some(elements), ..self }
    }

    /// Fails where rows overlap by a leading dimension that is too small.
    pub(in crate::patterns) fn check(&self) -> Result<()> {
        let Self { rows, columns, steps: Steps { row, column, .. }, .. } = *self;
        // Without a leading dimension all lines may be one.
        let short = |size: u64, step: u64, count: u64| count > 1 && step < size && (step != 0 || self.is_led);
        // Elements may be met more than once where both steps are 1, but for a leading dimension of 1.
        let is_one = self.is_led && (row, column) == (1, 1) && rows > 1 && columns > 1;
        if is_one || (column == 1 && row != 1 && short(columns, row, rows)) || (row == 1 && column != 1 && short(rows, column, columns)) {
            let (size, step) = if column == 1 { (columns, row) } else { (rows, column) };
            return Err(Error::InvalidArgument { what: "leading dimension", reason: format!("lines of {size} elements are {step} apart") });
        }
        Ok(())
    }

    /// Elements that the input has to have.
    pub(in crate::patterns) fn extent(&self, batch: u64) -> Result<u64> {
        if let Some(reach) = self.reach {
            return Ok(reach);
        }
        let count = self.batch.map_or(1, |_| batch);
        let too_many = || Error::InvalidArgument { what: "matrix", reason: "its last element is beyond 2^64".to_owned() };
        self.steps.extent([count, self.rows, self.columns]).ok_or_else(too_many)
    }
}
