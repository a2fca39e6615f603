//! Launches of factors with pivots, by panels of columns.

use super::{Place, Plan, Triangle, dense};
use crate::element::DType;
use crate::error::Result;
use crate::launch::kernels::{PANEL, PanelParams, SWAP_ROWS, SwapRowsParams};
use crate::launch::{Array, Code, Launcher};
use crate::patterns::solve::task::Pivoting;

/// Rows that CUDA's panels have room for in registers, and their columns; so of `f64`. A panel of one column has no limit.
const IN_REGISTERS: [(u64, u64); 2] = [(1 << 10, 32), (1 << 12, 8)];
const IN_REGISTERS_WIDE: [(u64, u64); 1] = [(1 << 12, 4)];
/// Columns of a panel in memory: as many as make its time that of the launches which follow it.
const IN_MEMORY: u64 = 16;
/// Columns of what lies beside a panel that a group moves.
const BESIDE: u64 = 32;

/// Arrays of matrices that are factored where they lie.
pub(super) struct Factors<'a, R> {
    pub(super) matrix: Place<'a, R>,
    pub(super) perm: Place<'a, R>,
    pub(super) det: Place<'a, R>,
    pub(super) states: Place<'a, R>,
    pub(super) swaps: Place<'a, R>,
}

impl<B: Launcher> Plan<'_, B> {
    /// The most columns of a panel.
    pub(super) fn widest(&self) -> u64 {
        self.across(self.task.n - 1, u64::MAX)
    }

    /// Columns of a panel of the rows from one on, where so many are left.
    fn across(&self, first: u64, left: u64) -> u64 {
        let most = self.block(left).min(left);
        if self.device.code() != Code::Ptx {
            return IN_MEMORY.min(most);
        }
        let panels: &[_] = if self.task.dtype == DType::F64 { &IN_REGISTERS_WIDE } else { &IN_REGISTERS };
        let fits = |&&(rows, across): &&(u64, u64)| self.task.n - first <= rows && across <= most;
        panels.iter().find(fits).map_or(1, |&(_, across)| across)
    }

    /// Columns of matrices from the diagonal down: the first part of them, then what is left of the second. Bits do not depend on where a part ends.
    pub(super) fn factor(&self, of: &Factors<'_, B::Raw>, (mut first, mut width): (u64, u64)) -> Result<()> {
        let n = self.task.n;
        let own = Triangle { apart: None, steps: dense(n, n) };
        while width > self.across(first, width) {
            let part = self.half(width, self.across(first, width));
            self.factor(of, (first, part))?;
            let (row, left) = (first + part, width - part);
            let beside = (of.matrix, row, dense(n, n), left);
            self.substitutions(own, beside, (first, part), (false, true), None)?;
            self.trail(own, beside, (first, part), (row, n - row), (0, None))?;
            (first, width) = (row, left);
        }
        self.panel(of, (first, width))
    }

    /// A panel, and its rows' exchange beside it.
    fn panel(&self, of: &Factors<'_, B::Raw>, (first, width): (u64, u64)) -> Result<()> {
        let (n, batch) = (self.task.n, self.task.batch);
        let pivoted = self.task.pivoting != Pivoting::None;
        let x = self.floats(of.matrix, batch * n * n);
        let swaps = Array { raw: Some(of.swaps.0), offset: 4 * of.swaps.1, size: 1, len: batch * 2 * width * 4, origin: 0 };
        let across = if self.device.code() == Code::Ptx { width } else { IN_MEMORY };
        let params = PanelParams { rows: (n - first) as u32, width: width as u32, side: n as u32, pivoting: pivoted.into() };
        let all = [x, self.floats(of.det, batch), Array::of(of.perm, 4, batch * n), Array::of(of.states, 4, batch), swaps];
        let choices = [("across", across as u32)];
        self.launch(&PANEL, &params, &choices, &all, (&["minus", "div", "mul", "bits"], batch, 0))?;
        if !pivoted || width == n {
            return Ok(());
        }
        let params = SwapRowsParams { side: n as u32, first: first as u32, width: width as u32, batch: batch as u32 };
        let choices = [("apart", 0), ("checked", 0), ("identity", 0), ("permuted", 0)];
        let groups = batch * (n - width).div_ceil(BESIDE);
        self.launch(&SWAP_ROWS, &params, &choices, &[x, swaps], (&["bits"], groups, 0))
    }
}
