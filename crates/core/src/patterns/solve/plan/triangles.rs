//! Launches of triangular solves and of Cholesky's factors.

use super::{Arrays, BLOCK, Place, Plan, THREADS, Triangle, dense};
use crate::error::{Error, Result};
use crate::launch::kernels::{CHECK_DIAGONAL, CHOLESKY, CholeskyParams, DiagonalParams};
use crate::launch::{Array, Launcher};
use crate::patterns::product::Steps;
use crate::patterns::solve::SolveTask;

impl<B: Launcher> Plan<'_, B> {
    /// Right-hand sides by a triangle of the caller's.
    pub(super) fn triangular(&self, arrays: &Arrays<'_, B::Raw>, upper: bool, unit: bool) -> Result<()> {
        let SolveTask { n, rights, batch, a_steps, b_steps, x_steps, .. } = self.task;
        let [of_a, ..] = self.extents();
        let Some(states) = arrays.states else {
            return Err(Error::InvalidArgument { what: "triangular_solve", reason: "it has a status".to_owned() });
        };
        let params = DiagonalParams {
            // The diagonal of ones is that of nothing.
            side: if unit { 0 } else { n as u32 },
            a_step: (a_steps.row + a_steps.column) as u32,
            a_batch: a_steps.batch as u32,
        };
        let choices = [("apart", 0), ("checked", 0), ("identity", 0), ("permuted", 0)];
        let all = [self.floats(arrays.a, of_a), Array::of(states, 4, batch)];
        self.launch(&CHECK_DIAGONAL, &params, &choices, &all, (&[], batch, 0))?;
        let (Some(b), true) = (arrays.b, rights > 0) else { return Ok(()) };
        self.arrange(Some((b, b_steps)), None, (arrays.x, x_steps), (rights, false))?;
        let triangle = Triangle { apart: Some((arrays.a, of_a)), steps: a_steps };
        self.substitutions(triangle, (arrays.x, 0, x_steps, rights), (0, n), (upper, unit), Some(states))
    }

    /// Factors by blocks.
    pub(super) fn cholesky(&self, arrays: &Arrays<'_, B::Raw>) -> Result<()> {
        let n = self.task.n;
        self.arrange(Some((arrays.a, self.task.a_steps)), None, (arrays.x, dense(n, n)), (n, true))?;
        self.squares(arrays, (0, n))
    }

    /// Squares on the diagonal: the first part, the rows below it, then what is left of the second.
    fn squares(&self, arrays: &Arrays<'_, B::Raw>, (mut first, mut width): (u64, u64)) -> Result<()> {
        let n = self.task.n;
        // The factor's rows as right-hand sides: the transpose.
        let turned = Steps { row: 1, column: n, batch: n * n };
        let own = Triangle { apart: None, steps: dense(n, n) };
        let block = self.block(BLOCK);
        while width > block {
            let part = self.half(width, block);
            let (row, left) = (first + part, width - part);
            self.squares(arrays, (first, part))?;
            self.substitutions(own, (arrays.x, row, turned, left), (first, part), (false, false), None)?;
            let b = (row * n + first, turned);
            self.trail(own, (arrays.x, row, dense(n, n), left), (first, part), (row, left), (2, Some(b)))?;
            (first, width) = (row, left);
        }
        self.cholesky_block(None, arrays, (first, width))
    }

    /// Factors of whole matrices, or of blocks where they lie.
    pub(super) fn cholesky_block(
        &self,
        from: Option<Place<'_, B::Raw>>,
        arrays: &Arrays<'_, B::Raw>,
        (first, width): (u64, u64),
    ) -> Result<()> {
        let SolveTask { n, batch, a_steps, dtype, .. } = self.task;
        let Some(states) = arrays.states else {
            return Err(Error::InvalidArgument { what: "cholesky", reason: "it has a status".to_owned() });
        };
        let bytes = width * (width | 1) * dtype.size_bytes();
        let (lanes, groups) = self.teams(THREADS, width, bytes);
        let params = CholeskyParams {
            side: width as u32,
            pitch: n as u32,
            lanes,
            batch: batch as u32,
            first: first as u32,
            a_row: a_steps.row as u32,
            a_column: a_steps.column as u32,
            a_batch: a_steps.batch as u32,
        };
        let [of_a, ..] = self.extents();
        let all = [from.map_or(Array::NONE, |a| self.floats(a, of_a)), self.floats(arrays.x, batch * n * n), Array::of(states, 4, batch)];
        let shared = THREADS / u64::from((lanes & 0xffff) * (lanes >> 16)) * bytes;
        self.launch(&CHOLESKY, &params, &[("apart", from.is_some().into())], &all, (&["minus", "div", "root", "bits"], groups, shared))
    }
}
