//! Launches of solves: batches of small systems in shared memory, others by blocks of columns.

mod panels;
mod triangles;

use super::task::{Pivoting, SolveArithmetic, SolveKind, SolveTask};
use crate::backend::Out;
use crate::caps::Numerics;
use crate::element::DType;
use crate::error::{Error, Result};
use crate::launch::kernels::{
    ARRANGE, ArrangeParams, ELIMINATE, EliminateParams, Kernel, SUBSTITUTE, SubstituteParams, TRAIL, TrailParams,
};
use crate::launch::params::Params;
use crate::launch::{Array, Choice, Code, KernelSpec, Launcher, Operators, Piece, Work};
use crate::patterns::product::Steps;
use panels::Factors;

/// Threads of a group.
const THREADS: u64 = 256;
/// Rows and columns of a block of the diagonal that one kernel takes.
const BLOCK: u64 = 32;
/// Rows and columns of a tile of what follows a block.
const TILE: u64 = 64;

/// Parts of eight of the loops that a device lets an invocation have, which an elimination takes.
const LOOPS: u64 = 5;
/// The most columns of a block whose rows are taken off others at once, where a device ends long loops.
const SHORT: u64 = 1024;

/// The most elements of all systems of a launch.
const MOST: u64 = 1 << 31;

/// Memory from an element on.
type Place<'a, R> = (&'a R, u64);

/// A task on a device, for as many systems at once as its kernels see.
pub(super) struct Plan<'d, B: Launcher> {
    device: &'d B,
    task: SolveTask,
    /// Systems at once.
    at_once: u64,
    /// Words of an element.
    words: u64,
}

/// Arrays of some systems.
struct Arrays<'a, R> {
    a: Place<'a, R>,
    b: Option<Place<'a, R>>,
    /// The first output: X, factors, or determinants.
    x: Place<'a, R>,
    perm: Option<Place<'a, R>>,
    states: Option<Place<'a, R>>,
    scratch: &'a [Piece<R>],
}

/// The place of an element so many after the first.
const fn from<R>((raw, offset): Place<'_, R>, elements: u64) -> Place<'_, R> {
    (raw, offset + elements)
}

/// Steps of a row-major matrix of so many columns.
const fn dense(rows: u64, columns: u64) -> Steps {
    Steps { row: columns, column: 1, batch: rows * columns }
}

/// A matrix that the chains of a substitution or a trail look at: apart, or in the array that they write.
struct Triangle<'a, R> {
    apart: Option<(Place<'a, R>, u64)>,
    steps: Steps,
}

impl<R> Clone for Triangle<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<R> Copy for Triangle<'_, R> {}

impl<'d, B: Launcher> Plan<'d, B> {
    pub(super) fn of(device: &'d B, task: &SolveTask) -> Result<Self> {
        let words = task.dtype.size_bytes() / 4;
        let carried = if matches!(task.kind, SolveKind::Triangular { .. }) { task.rights } else { task.carried() };
        let of_system = task.n.saturating_mul(task.n.saturating_add(carried)).max(task.a_steps.batch).max(task.b_steps.batch);
        let one = Self { device, task: task.of(1), at_once: 1, words };
        let alone = one.extents().into_iter().max().unwrap_or(0).max(task.n.saturating_mul(task.n));
        let (most, of_one) = (device.tuning().most(4) / words, alone.max(of_system));
        let limit = most.min(u32::MAX.into());
        if of_one > limit {
            return Err(Error::TooLarge { what: "elements of a system", requested: of_one, limit });
        }
        let at_once = (most.min(MOST) / of_one).clamp(1, task.batch);
        Ok(Self { task: *task, at_once, ..one })
    }

    /// Elements that A, B and X have.
    fn extents(&self) -> [u64; 3] {
        let SolveTask { n, rights, batch, a_steps, b_steps, x_steps, .. } = self.task;
        let of = |steps: Steps, columns: u64| steps.extent([batch, n, columns]).unwrap_or(u64::MAX);
        [of(a_steps, n), of(b_steps, rights), of(x_steps, rights)]
    }

    pub(super) fn enqueue(&self, inputs: &[Place<'_, B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let (Some(&a), Some(x)) = (inputs.first(), outs.first()) else {
            return Err(Error::InvalidArgument { what: "solve", reason: "it has a matrix and an output".to_owned() });
        };
        let SolveTask { kind, n, batch, a_steps, b_steps, x_steps, .. } = self.task;
        let of_x = match kind {
            SolveKind::Solve | SolveKind::Triangular { .. } => x_steps.batch,
            SolveKind::Determinant => 1,
            _ => n * n,
        };
        let status = |at: usize| outs.get(at).map(|out| (&out.raw, out.offset));
        let (perm, states) = match kind {
            SolveKind::Lu => (status(1), status(2)),
            SolveKind::Determinant => (None, None),
            _ => (None, status(1)),
        };
        let scratch = self.scratch()?;
        for first in (0..batch).step_by(self.at_once as usize) {
            let arrays = Arrays {
                a: from(a, first * a_steps.batch),
                b: inputs.get(1).map(|&b| from(b, first * b_steps.batch)),
                x: from((&x.raw, x.offset), first * of_x),
                perm: perm.map(|perm| from(perm, first * n)),
                states: states.map(|states| from(states, first)),
                scratch: &scratch,
            };
            let part = Plan { device: self.device, task: self.task.of(self.at_once.min(batch - first)), ..*self };
            part.systems(&arrays)?;
        }
        Ok(())
    }

    /// Tests whether systems, with right-hand sides, fit in shared memory.
    fn is_small(&self) -> bool {
        let SolveTask { n, block, dtype, .. } = self.task;
        block == 0 && n <= THREADS && n * self.pitch() * dtype.size_bytes() <= self.room()
    }

    /// Bytes of systems in shared memory.
    fn room(&self) -> u64 {
        match self.device.code() {
            Code::Ptx => 45 << 10,
            _ if self.task.dtype == DType::F64 => 12 << 10,
            _ => 13 << 10,
        }
    }

    /// Elements from row to row in shared memory: odd, so that neighbouring rows meet in few banks.
    const fn pitch(&self) -> u64 {
        (self.task.n + self.task.carried()) | 1
    }

    /// Tests whether one group eliminates a whole system in memory.
    fn is_whole(&self) -> bool {
        self.task.pivoting == Pivoting::Full && !matches!(self.task.kind, SolveKind::Cholesky | SolveKind::Triangular { .. })
    }

    /// Memory of the plan's own: the matrix, the permutation, determinants, the status, and rows that change places.
    fn scratch(&self) -> Result<Vec<Piece<B::Raw>>> {
        let SolveTask { kind, n, dtype, .. } = self.task;
        if self.is_small() || matches!(kind, SolveKind::Cholesky | SolveKind::Triangular { .. }) {
            return Ok(Vec::new());
        }
        let (count, size) = (self.at_once, dtype.size_bytes());
        let of_matrix = match kind {
            SolveKind::Lu => 1,
            _ if self.is_whole() => n * (n + self.task.carried()),
            _ => n * n,
        };
        self.device.scratch(&[count * of_matrix * size, count * n * 4, count * size, count * 4, count * 2 * self.widest() * 4])
    }

    /// Rows and columns of a block of the diagonal, of which a kernel takes so many.
    const fn block(&self, most: u64) -> u64 {
        if self.task.block == 0 || self.task.block > most { most } else { self.task.block }
    }

    fn systems(&self, arrays: &Arrays<'_, B::Raw>) -> Result<()> {
        match self.task.kind {
            SolveKind::Cholesky if self.is_small() => self.cholesky_block(Some(arrays.a), arrays, (0, self.task.n)),
            SolveKind::Cholesky => self.cholesky(arrays),
            SolveKind::Triangular { upper, unit } => self.triangular(arrays, upper, unit),
            _ if self.is_small() || self.is_whole() => self.eliminate(arrays),
            _ => self.blocked(arrays),
        }
    }

    fn launch<P: Params>(
        &self,
        kernel: &'static Kernel<P>,
        params: &P,
        choices: &[Choice],
        arrays: &[Array<'_, B::Raw>],
        (names, groups, shared_bytes): (&[&str], u64, u64),
    ) -> Result<()> {
        let functions = SolveArithmetic::of(self.task.dtype)?.named(names);
        let choices: Vec<Choice> = [("wide", u32::from(self.words == 2))].iter().chain(choices).copied().collect();
        let spec = KernelSpec::new(kernel, params, &choices, arrays);
        let spec = spec.with(Operators::Functions(&functions), Numerics::Strict, &[], &[]);
        self.device.launch(&spec, Work { shared_bytes, ..Work::whole(1, &|_| groups) })
    }

    /// The greatest multiple of a unit by a power of two that is less than a width above it. Where a block ends decides no bit.
    fn half(&self, width: u64, unit: u64) -> u64 {
        let half = unit << ((width - 1) / unit).ilog2();
        if self.device.caps().loop_turns.is_some() { half.min(SHORT.max(unit)) } else { half }
    }

    /// Floats, as words.
    fn floats<'a>(&self, (raw, offset): Place<'a, B::Raw>, len: u64) -> Array<'a, B::Raw> {
        Array::of((raw, offset * self.words), 4, len * self.words)
    }

    fn piece<'a>(&self, arrays: &Arrays<'a, B::Raw>, at: usize, size: u64) -> Result<Place<'a, B::Raw>> {
        let none = || Error::InvalidArgument { what: "solve", reason: "it has no memory of its own".to_owned() };
        arrays.scratch.get(at).map(|piece| (&piece.raw, piece.offset / size)).ok_or_else(none)
    }

    /// Invocations of a system along rows and columns, and groups of all, of so many threads each.
    fn teams(&self, threads: u64, rows: u64, bytes: u64) -> (u32, u64) {
        let row_lanes = rows.next_power_of_two().clamp(1, TILE);
        let room = (self.room() / bytes.max(1)).max(1);
        let systems = (threads / row_lanes).min(1 << room.ilog2()).min(self.task.batch.next_power_of_two());
        ((row_lanes | (threads / systems / row_lanes) << 16) as u32, self.task.batch.div_ceil(systems))
    }

    /// Fails where a device would end the loops of an elimination in memory, whose groups have 8 by 32 lanes: those over what is left of the rows and
    /// columns at each pivot, and their first turns.
    fn check_loops(&self) -> Result<()> {
        let Some(limit) = self.device.caps().loop_turns else { return Ok(()) };
        let (n, columns) = (self.task.n, self.task.n + self.task.carried());
        let turns = n.saturating_mul(n / 8 + 1).saturating_mul(columns / 32 + 2);
        if turns > LOOPS * limit {
            return Err(Error::TooLarge {
                what: "turns of an elimination, where the device ends long loops",
                requested: turns,
                limit: LOOPS * limit,
            });
        }
        Ok(())
    }

    /// Whole systems by a team of invocations each.
    fn eliminate(&self, arrays: &Arrays<'_, B::Raw>) -> Result<()> {
        let task @ SolveTask { kind, pivoting, n, batch, a_steps, b_steps, dtype, .. } = self.task;
        let (memory, carried) = (!self.is_small(), task.carried());
        if memory {
            self.check_loops()?;
        }
        let pitch = if memory { n + carried } else { self.pitch() };
        let bytes = n * pitch * dtype.size_bytes();
        // A group of WGSL's meets as a whole, and a small one waits for fewer.
        let threads = if memory || self.device.code() == Code::Ptx { THREADS } else { TILE };
        let (lanes, groups) = if memory { (8 | 32 << 16, batch) } else { self.teams(threads, n, bytes) };
        let systems = threads / u64::from((lanes & 0xffff) * (lanes >> 16));
        let params = EliminateParams {
            rows: n as u32,
            pivots: n as u32,
            columns: (n + carried) as u32,
            pitch: pitch as u32,
            pivoting: u32::from(pivoting != Pivoting::None)
                | u32::from(pivoting == Pivoting::Full) << 1
                | u32::from(kind == SolveKind::Inverse) << 2,
            lanes,
            batch: batch as u32,
            a_row: a_steps.row as u32,
            a_column: a_steps.column as u32,
            b_row: b_steps.row as u32,
            b_column: b_steps.column as u32,
            a_batch: a_steps.batch as u32,
            b_batch: b_steps.batch as u32,
        };
        let rhs = match kind {
            SolveKind::Inverse => 2,
            SolveKind::Solve if carried > 0 => 1,
            _ => 0,
        };
        let (lu, det) = (kind == SolveKind::Lu, kind == SolveKind::Determinant);
        let choices = [
            ("memory", memory.into()),
            ("full", (pivoting == Pivoting::Full).into()),
            ("rhs", rhs),
            ("lu", lu.into()),
            ("det", det.into()),
            ("threads", threads as u32),
            ("space", (systems * n * pitch).next_multiple_of(128).min(self.room() / dtype.size_bytes()) as u32),
        ];
        let [of_a, of_b, _] = self.extents();
        let none = Array::NONE;
        let x = match (memory, lu) {
            (true, _) => self.floats(self.piece(arrays, 0, dtype.size_bytes())?, batch * n * pitch),
            (_, true) => self.floats(arrays.x, batch * n * n),
            _ => none,
        };
        let perm = match (memory, arrays.perm) {
            (true, _) => Array::of(self.piece(arrays, 1, 4)?, 4, batch * n),
            (_, Some(perm)) => Array::of(perm, 4, batch * n),
            _ => none,
        };
        let y = if rhs > 0 || det { self.floats(arrays.x, batch * if det { 1 } else { n * carried }) } else { none };
        let all = [
            self.floats(arrays.a, of_a),
            arrays.b.map_or(none, |b| self.floats(b, of_b)),
            x,
            y,
            perm,
            arrays.states.map_or(none, |states| Array::of(states, 4, batch)),
        ];
        let shared = if memory { 0 } else { systems * bytes };
        self.launch(&ELIMINATE, &params, &choices, &all, (&["minus", "div", "mul", "bits"], groups, shared))
    }

    /// Solves, inverses, factors and determinants by blocks.
    fn blocked(&self, arrays: &Arrays<'_, B::Raw>) -> Result<()> {
        let SolveTask { kind, n, batch, dtype, .. } = self.task;
        let matrix = if kind == SolveKind::Lu { arrays.x } else { self.piece(arrays, 0, dtype.size_bytes())? };
        let perm = arrays.perm.map_or_else(|| self.piece(arrays, 1, 4), Ok)?;
        let det = if kind == SolveKind::Determinant { arrays.x } else { self.piece(arrays, 2, dtype.size_bytes())? };
        let states = arrays.states.map_or_else(|| self.piece(arrays, 3, 4), Ok)?;
        self.arrange(Some((arrays.a, self.task.a_steps)), None, (matrix, dense(n, n)), (n, false))?;
        self.factor(&Factors { matrix, perm, det, states, swaps: self.piece(arrays, 4, 4)? }, (0, n))?;
        let carried = self.task.carried();
        if carried == 0 {
            return Ok(());
        }
        let b = arrays.b.map(|b| (b, self.task.b_steps));
        let b = if kind == SolveKind::Inverse { None } else { b };
        self.arrange(b, Some(perm), (arrays.x, dense(n, carried)), (carried, false))?;
        let whole = Triangle { apart: Some((matrix, batch * n * n)), steps: dense(n, n) };
        let x = (arrays.x, 0, dense(n, carried), carried);
        self.substitutions(whole, x, (0, n), (false, true), None)?;
        self.substitutions(whole, x, (0, n), (true, false), Some(states))
    }

    /// Right-hand sides by a triangle from a row on: by the first part of it, then what is left of them by the second. X has the columns from one on.
    fn substitutions(
        &self,
        triangle: Triangle<'_, B::Raw>,
        x: (Place<'_, B::Raw>, u64, Steps, u64),
        (mut first, mut width): (u64, u64),
        (backward, unit): (bool, bool),
        states: Option<Place<'_, B::Raw>>,
    ) -> Result<()> {
        let side = self.block(BLOCK);
        while width > side {
            // Parts by half read and write what is left least often. Few columns do not occupy a device, and their chains are what takes time.
            let part = if x.3 < TILE { side } else { self.half(width, side) };
            let left = width - part;
            let (at, rest) = if backward { (first + left, first) } else { (first, first + part) };
            self.substitutions(triangle, x, (at, part), (backward, unit), states)?;
            self.trail(triangle, x, (at, part), (rest, left), (u32::from(backward), None))?;
            (first, width) = (rest, left);
        }
        self.substitute(triangle, x, (first, width), (backward, unit), states)
    }

    /// Elements of an array of X, whose columns begin at one of them.
    fn extent(&self, steps: Steps, (first, columns): (u64, u64)) -> u64 {
        steps.extent([self.task.batch, self.task.n, first + columns]).unwrap_or(0)
    }

    /// A block of the diagonal: rows of X from `first` on. X has the columns from one on.
    fn substitute(
        &self,
        triangle: Triangle<'_, B::Raw>,
        (x, column, steps, columns): (Place<'_, B::Raw>, u64, Steps, u64),
        (first, width): (u64, u64),
        (backward, unit): (bool, bool),
        states: Option<Place<'_, B::Raw>>,
    ) -> Result<()> {
        let t = triangle.steps;
        let params = SubstituteParams {
            side: width as u32,
            columns: columns as u32,
            batch: self.task.batch as u32,
            form: u32::from(backward) | u32::from(unit) << 1,
            t_first: (first * (t.row + t.column)) as u32,
            t_row: t.row as u32,
            t_column: t.column as u32,
            t_batch: t.batch as u32,
            x_first: (first * steps.row + column * steps.column) as u32,
            x_row: steps.row as u32,
            x_column: steps.column as u32,
            x_batch: steps.batch as u32,
        };
        let choices = [("apart", triangle.apart.is_some().into()), ("checked", states.is_some().into()), ("identity", 0), ("permuted", 0)];
        let all = [
            triangle.apart.map_or(Array::NONE, |(a, len)| self.floats(a, len)),
            states.map_or(Array::NONE, |states| Array::of(states, 4, self.task.batch)),
            self.floats(x, self.extent(steps, (column, columns))),
        ];
        let groups = self.task.batch * columns.div_ceil(TILE);
        self.launch(&SUBSTITUTE, &params, &choices, &all, (&["minus", "div", "bits"], groups, 0))
    }

    /// Rows of X that follow a block: they lose its columns of the triangle times its rows of X. `b`: the other factor's steps where it is no part of X.
    fn trail(
        &self,
        triangle: Triangle<'_, B::Raw>,
        (x, column, steps, columns): (Place<'_, B::Raw>, u64, Steps, u64),
        (first, width): (u64, u64),
        (row, rows): (u64, u64),
        (form, b): (u32, Option<(u64, Steps)>),
    ) -> Result<()> {
        let t = triangle.steps;
        let mut a = (row * t.row + first * t.column, t);
        let mut b = b.unwrap_or((first * steps.row + column * steps.column, steps));
        let (mut of_c, mut sides) = (steps, (rows, columns));
        if steps.row < steps.column && triangle.apart.is_none() {
            // The transpose, whose rows lie in memory one after the other.
            let turned = |steps: Steps| Steps { row: steps.column, column: steps.row, ..steps };
            (a, b) = ((b.0, turned(b.1)), (a.0, turned(a.1)));
            (of_c, sides) = (turned(steps), (columns, rows));
        }
        let params = TrailParams {
            rows: sides.0 as u32,
            columns: sides.1 as u32,
            terms: width as u32,
            form,
            a_first: a.0 as u32,
            a_row: a.1.row as u32,
            a_column: a.1.column as u32,
            a_batch: a.1.batch as u32,
            b_first: b.0 as u32,
            b_row: b.1.row as u32,
            b_column: b.1.column as u32,
            c_first: (row * steps.row + column * steps.column) as u32,
            c_row: of_c.row as u32,
            c_column: of_c.column as u32,
            x_batch: steps.batch as u32,
        };
        let choices = [("apart", triangle.apart.is_some().into()), ("checked", 0), ("identity", 0), ("permuted", 0)];
        let all =
            [triangle.apart.map_or(Array::NONE, |(a, len)| self.floats(a, len)), self.floats(x, self.extent(steps, (column, columns)))];
        let groups = self.task.batch * rows.div_ceil(TILE) * columns.div_ceil(TILE);
        self.launch(&TRAIL, &params, &choices, &all, (&["minus", "bits"], groups, 0))
    }

    /// A matrix of `columns`, or the identity, in its place.
    fn arrange(
        &self,
        from: Option<(Place<'_, B::Raw>, Steps)>,
        perm: Option<Place<'_, B::Raw>>,
        (to, steps): (Place<'_, B::Raw>, Steps),
        (columns, lower): (u64, bool),
    ) -> Result<()> {
        let SolveTask { n, batch, .. } = self.task;
        let a = from.map_or(dense(1, 1), |(_, steps)| steps);
        let params = ArrangeParams {
            rows: n as u32,
            columns: columns as u32,
            batch: batch as u32,
            lower: lower.into(),
            a_row: a.row as u32,
            a_column: a.column as u32,
            a_batch: a.batch as u32,
            x_row: steps.row as u32,
            x_column: steps.column as u32,
            x_batch: steps.batch as u32,
        };
        let choices = [("apart", 0), ("checked", 0), ("identity", from.is_none().into()), ("permuted", perm.is_some().into())];
        let of = |steps: Steps| steps.extent([batch, n, columns]).unwrap_or(0);
        let all = [
            from.map_or(Array::NONE, |(place, steps)| self.floats(place, of(steps))),
            perm.map_or(Array::NONE, |perm| Array::of(perm, 4, batch * n)),
            self.floats(to, of(steps)),
        ];
        self.launch(&ARRANGE, &params, &choices, &all, (&["bits"], (batch * n * columns).div_ceil(THREADS), 0))
    }
}
