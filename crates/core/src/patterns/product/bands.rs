//! Products of matrices that a kernel does not see at once: bands of rows and of columns, each a product of its own. Bands of an operand whose lines run across
//! them are copied first. No sum is cut, so that bands do not show in the bits.

use super::{ProductOrder, ProductTask, Steps};
use crate::backend::{Leaf, Out};
use crate::element::Ty;
use crate::error::{Error, Result};
use crate::ir::graph;
use crate::ir::inline;
use crate::ir::{Expr, Func, Param, Traced, lit};
use crate::launch::{Launcher, Planned};
use crate::patterns::layout::{Axis, LayoutTask};
use std::sync::Arc;

/// Bands have a multiple of so many rows or columns, where there are as many.
const MULTIPLE: u64 = 64;

/// A matrix of a product, cut between lines of `len` elements.
#[derive(Clone, Copy)]
struct Side {
    lines: u64,
    len: u64,
    /// Elements from a line to the next, and along a line.
    across: u64,
    along: u64,
    batch: u64,
    /// Elements that a kernel sees, and lines and matrices that it takes.
    most: u64,
    most_lines: u64,
    together: u64,
}

impl Side {
    const fn steps(&self) -> Steps {
        Steps { row: self.across, column: self.along, batch: self.batch }
    }

    fn extent(&self, batch: u64, lines: u64) -> u64 {
        self.steps().extent([batch, lines, self.len]).unwrap_or(u64::MAX)
    }

    fn is_seen(&self, batch: u64) -> bool {
        self.extent(batch, self.lines) <= self.most
    }

    fn fits(&self, batch: u64) -> bool {
        self.is_seen(batch) && self.lines <= self.most_lines && (batch <= self.together || self.batch == 0)
    }

    /// Whether bands are copied before they are multiplied: those where they lie would hardly be shorter.
    fn is_copied(&self) -> bool {
        !self.is_seen(1) && self.across < self.along
    }

    /// The most lines of a band.
    fn lines(&self) -> u64 {
        let lines = match self.most.checked_sub(self.extent(1, 1)) {
            _ if self.is_seen(1) => self.lines,
            _ if self.is_copied() => self.most / self.len.max(1),
            Some(room) => room / self.across.max(1) + 1,
            None => 0,
        };
        lines.min(self.lines).min(self.most_lines)
    }
}

fn rounded(lines: u64) -> u64 {
    if lines > MULTIPLE { lines / MULTIPLE * MULTIPLE } else { lines }
}

/// Calls `f` with the first of each band of `step` of `n`, and how many it has.
fn each(n: u64, step: u64, mut f: impl FnMut(u64, u64) -> Result<()>) -> Result<()> {
    (0..n.div_ceil(step)).try_for_each(|band| f(band * step, step.min(n - band * step)))
}

/// An operator of a product, and the leaf that counts the elements before those of a band, for operators that look at an index.
struct Movable<'a> {
    func: &'a Func,
    before: usize,
}

impl Movable<'_> {
    /// Makes element `by + i` of its leaves element `i`.
    fn shift<R: Clone>(&self, leaves: &mut [Leaf<R>], by: u64) {
        for (k, leaf) in leaves.iter_mut().enumerate() {
            match leaf {
                Leaf::Elements { offset, stride, .. } if self.func.looks_at(k) => {
                    *offset = offset.wrapping_add_signed((by as i64).wrapping_mul(*stride));
                }
                Leaf::Value { bits } if k == self.before => *bits += by,
                _ => {}
            }
        }
    }

    fn looks_at_index(&self) -> bool {
        self.func.looks_at(self.before)
    }
}

/// The operator with three leaves more behind the first `leaves`, of which `before` is added to indices.
fn moved(func: &Func, leaves: usize, before: usize) -> Result<Arc<Func>> {
    let mut params = func.params.clone();
    params.splice(leaves..leaves, [Param::Value(Ty::U32); 3]);
    let argument = |(k, param): (usize, &Param)| {
        let at = if k < leaves { k } else { k + 3 } as u16;
        let number = |k: u16| <Expr<u32> as Traced>::params(k);
        match param {
            // An array is none of an operator's values.
            Param::Array(_) => lit(0u32).value(),
            Param::Index(Ty::U64) => (<Expr<u64> as Traced>::params(at) + number(before as u16).cast::<u64>()).value(),
            Param::Index(_) => (number(at) + number(before as u16)).value(),
            Param::Value(_) => graph::with(|g| g.param(at)),
        }
    };
    let build = || inline(func, &func.params.iter().enumerate().map(argument).collect::<Vec<_>>());
    Ok(Arc::new(graph::trace(params, build)?))
}

impl ProductTask {
    fn sides<B: Launcher>(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> [Side; 3] {
        // Packed factors may take more room than they had, those of few terms much more.
        let is_fixed = self.order == ProductOrder::Fixed30;
        let window = device.tuning().window_bytes / if is_fixed { 2 } else { 1 };
        let most = |func: &Func, outs: &[Out<B::Raw>]| {
            let seen = leaves.iter().enumerate().filter(|(k, _)| func.looks_at(*k));
            let bytes = seen.map(|(_, leaf)| match leaf {
                Leaf::Elements { dtype, stride, .. } => dtype.size_bytes().saturating_mul(stride.unsigned_abs()),
                _ => 0,
            });
            bytes.chain(outs.iter().map(|out| out.dtype.size_bytes())).max().and_then(|bytes| window.checked_div(bytes)).unwrap_or(u64::MAX)
        };
        let (a, b, c) = (self.a_steps, self.b_steps, self.c_steps);
        let [together, most_lines] =
            if is_fixed { [self.digits_together(device), self.lines_of_digits(device, window)] } else { [u64::MAX; 2] };
        let of = |lines, len, [across, along]: [u64; 2], batch, most| Side { lines, len, across, along, batch, most, most_lines, together };
        [
            of(self.m, self.k, [a.row, a.column], a.batch, most(&self.a, &[])),
            of(self.n, self.k, [b.column, b.row], b.batch, most(&self.b, &[])),
            Side { most_lines: u64::MAX, ..of(self.m, self.n, [c.row, c.column], c.batch, most(&self.finish, outs)) },
        ]
    }

    /// Multiplies band by band, where kernels do not see whole matrices; nothing, where they do.
    pub(super) fn drive_bands<B: Launcher>(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<Option<()>> {
        let sides = self.sides(device, leaves, outs);
        if sides.iter().all(|side| side.fits(self.batch)) {
            return Ok(None);
        }
        let looks_at_index = |func: &Func| (0..leaves.len()).any(|k| matches!(func.params[k], Param::Index(_)) && func.looks_at(k));
        if ![&self.a, &self.b, &self.finish].into_iter().any(|func| looks_at_index(func)) {
            return Bands { device, task: self, sides, first: usize::MAX }.all(leaves, outs).map(Some);
        }
        let first = leaves.len();
        let of = |func: &Func, k: usize| moved(func, first, first + k);
        let task = Self { a: of(&self.a, 0)?, b: of(&self.b, 1)?, finish: of(&self.finish, 2)?, ..self.clone() };
        let mut leaves = leaves.to_vec();
        leaves.extend([Leaf::Value { bits: 0 }, Leaf::Value { bits: 0 }, Leaf::Value { bits: 0 }]);
        Bands { device, task: &task, sides, first }.all(&leaves, outs).map(Some)
    }
}

/// A product that is cut.
struct Bands<'a, B: Launcher> {
    device: &'a B,
    task: &'a ProductTask,
    sides: [Side; 3],
    /// Leaf that counts the elements before those of a band of A; those of B and of the results follow.
    first: usize,
}

impl<B: Launcher> Bands<'_, B> {
    fn movable(&self) -> [Movable<'_>; 3] {
        let of = |func, k| Movable { func, before: self.first.saturating_add(k) };
        [of(&self.task.a, 0), of(&self.task.b, 1), of(&self.task.finish, 2)]
    }

    fn all(&self, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let (task, sides) = (self.task, &self.sides);
        let part = |first: u64| {
            let (mut leaves, mut outs) = (leaves.to_vec(), outs.to_vec());
            self.movable().iter().zip(sides).for_each(|(of, side)| of.shift(&mut leaves, first * side.batch));
            outs.iter_mut().for_each(|out| out.offset += first * sides[2].batch);
            (leaves, outs)
        };
        if !sides.iter().all(|side| side.fits(1)) {
            return (0..task.batch).try_for_each(|first| {
                let (leaves, outs) = part(first);
                self.matrix(&leaves, &outs)
            });
        }
        // As many matrices together as a kernel sees.
        let together = sides.iter().map(|side| match side.batch {
            0 => task.batch,
            step => ((side.most - side.extent(1, side.lines)) / step + 1).min(side.together),
        });
        each(task.batch, together.min().unwrap_or(1), |first, batch| {
            let (leaves, outs) = part(first);
            ProductTask { batch, ..task.clone() }.drive_whole(self.device, &leaves, &outs)
        })
    }

    /// One product of a batch.
    fn matrix(&self, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let (task, [a, b, c]) = (self.task, &self.sides);
        let [of_a, of_b, of_c] = self.movable();
        let columns = rounded(b.lines().min(c.most));
        let under = c.most.saturating_sub(columns.max(1)) / c.across.max(1) + 1;
        let rows = rounded(a.lines().min(if c.fits(1) { task.m } else { under }));
        for (side, lines) in [(a, rows), (b, columns)] {
            if lines == 0 {
                return Err(Error::TooLarge { what: "elements of a row or column of a matrix", requested: side.len, limit: side.most });
            }
        }
        each(task.n, columns, |j, n| {
            let mut with_b = leaves.to_vec();
            let b_steps = self.band(&of_b, b, (j, n), &mut with_b)?;
            each(task.m, rows, |i, m| {
                let (mut leaves, mut outs) = (with_b.clone(), outs.to_vec());
                let steps = self.band(&of_a, a, (i, m), &mut leaves)?;
                let place = i * c.across + j * c.along;
                of_c.shift(&mut leaves, place);
                outs.iter_mut().for_each(|out| out.offset += place);
                let a_steps = Steps { row: steps.row, column: steps.column, batch: task.a_steps.batch };
                let b_steps = Steps { row: b_steps.column, column: b_steps.row, batch: task.b_steps.batch };
                ProductTask { m, n, batch: 1, a_steps, b_steps, ..task.clone() }.drive_whole(self.device, &leaves, &outs)
            })
        })
    }

    /// The steps from a line to the next and along a line of a band, at which the operator's leaves are then.
    fn band(&self, of: &Movable<'_>, side: &Side, (first, lines): (u64, u64), leaves: &mut [Leaf<B::Raw>]) -> Result<Steps> {
        of.shift(leaves, first * side.across);
        if !side.is_copied() {
            return Ok(side.steps());
        }
        if of.looks_at_index() {
            let requested = side.extent(1, side.lines);
            return Err(Error::TooLarge { what: "elements of a matrix beside an index", requested, limit: side.most });
        }
        for (k, leaf) in leaves.iter_mut().enumerate() {
            let (Leaf::Elements { raw, dtype, offset, stride }, true) = (&mut *leaf, of.func.looks_at(k)) else { continue };
            if *stride == 0 {
                continue;
            }
            let step = |elements: u64| (elements as i64).wrapping_mul(*stride);
            let axes = [Axis { n: side.len, from: step(side.along), to: lines }, Axis { n: lines, from: step(side.across), to: 1 }];
            let pieces = self.device.scratch(&[lines * side.len * dtype.size_bytes()])?;
            let Some(piece) = pieces.first() else {
                return Err(Error::InvalidArgument { what: "gemm", reason: "the device has no scratch".to_owned() });
            };
            let at = piece.offset / dtype.size_bytes();
            let from = Leaf::Elements { raw: raw.clone(), dtype: *dtype, offset: *offset, stride: 1 };
            let to = Out { raw: piece.raw.clone(), dtype: *dtype, offset: at };
            LayoutTask::new(&axes)?.drive(self.device, &[from], &[to])?;
            *leaf = Leaf::Elements { raw: piece.raw.clone(), dtype: *dtype, offset: at, stride: 1 };
        }
        Ok(Steps { row: 1, column: lines, batch: side.batch })
    }
}
