//! Products as data, and the launches that compute them.

use super::{ProductOrder, Steps};
use crate::backend::{Leaf, Out};
use crate::caps::Numerics;
use crate::element::Ty;
use crate::error::{Error, Result};
use crate::ir::{self, Expr, Func};
use crate::launch::kernels::{CONTRACT, CONTRACT_FOLD, CONTRACT_SMALL, CONTRACT_THIN, ContractParams};
use crate::launch::{Array, KernelSpec, Launcher, Operators, Planned, Work};
use crate::patterns::convolution::Windows;
use std::sync::Arc;

/// A product of matrices as data: `sum(i, j)` over k of `a(i, k) b(k, j)` in blocks, each a chain of fused multiply-adds in ascending k that starts with +0;
/// blocks are added left to right ([`ProductOrder`] has others). Integers wrap. Results are `finish` of the sum and of leaves at the index `batch * c.batch + i * c.row + j`.
///
/// The parameters of the three operators are the task's leaves, of which each looks at its own; `finish` has the sum as one parameter more.
#[derive(Clone, Debug)]
pub struct ProductTask {
    /// An element of A at its index.
    pub a: Arc<Func>,
    /// An element of B at its index.
    pub b: Arc<Func>,
    /// Results, from the leaves and the sum.
    pub finish: Arc<Func>,
    /// Rows of the product.
    pub m: u64,
    /// Columns of the product.
    pub n: u64,
    /// Terms of a sum.
    pub k: u64,
    /// Products of a batch.
    pub batch: u64,
    /// The order of evaluation.
    pub order: ProductOrder,
    /// Steps of A, whose rows are the product's.
    pub a_steps: Steps,
    /// Steps of B, whose columns are the product's.
    pub b_steps: Steps,
    /// Steps of the results, whose columns are one element apart.
    pub c_steps: Steps,
    /// Strict or fast.
    pub numerics: Numerics,
    /// The images that B's columns are windows of, for kernels that find their elements without the operator.
    pub windows: Option<Arc<Windows>>,
}

/// `a b + c`, rounded once, of a type of sums; and the sum of two.
///
/// # Errors
/// None of these types.
pub fn steps_of(ty: Ty) -> Result<[Func; 2]> {
    fn of<T: super::Factor>() -> Result<[Func; 2]> {
        let fused = ir::trace(|(a, b, c): (Expr<T>, Expr<T>, Expr<T>)| T::fused(a, b, c))?;
        Ok([fused, ir::trace(|(a, b): (Expr<T>, Expr<T>)| a + b)?])
    }
    match ty {
        Ty::F64 => of::<f64>(),
        Ty::I32 => of::<i32>(),
        Ty::U32 => of::<u32>(),
        _ => of::<f32>(),
    }
}

/// Tiles that a large device computes at once: a round.
const ROUND: u64 = 132;
/// Tiles of blocks whose sums are added in the time of a round.
const ADDED_IN_A_ROUND: u64 = 3000;
/// The most rows or columns of a product that a thread takes several of, of one column or row each.
pub(in crate::patterns) const THIN: u64 = 8;
/// Threads of a group of those.
const THREADS: u64 = 256;
/// Rows and columns of a small tile.
const SMALL: u64 = 32;
/// Sums of an invocation of one.
const SUMS_OF_SMALL: u32 = 16;
/// The most bytes of blocks in memory.
const MOST_BYTES: u64 = 1 << 30;

/// Turns of loops that an invocation of few rows or columns takes for a term.
const TURNS_OF_THIN: u64 = 7;

/// Turns of loops that an invocation takes for a term, of so many sums: of floats each is one, and each four of them, where a fused step is emulated.
pub(in crate::patterns) fn turns(ty: Ty, sums: u32) -> u64 {
    if ty.is_float() { 2 + 5 * u64::from(sums).div_ceil(4) } else { 2 }
}

/// The most terms that an invocation adds on a device that ends loops by itself: seven of the eight parts that a [map](crate::caps::Caps::loop_turns) keeps
/// free.
pub(in crate::patterns) fn most_terms<B: Launcher>(device: &B, turns: u64) -> u64 {
    device.caps().loop_turns.map_or(u64::MAX, |limit| 7 * limit / turns)
}

/// Fails where an invocation would add more.
pub(super) fn check_terms(what: &'static str, terms: u64, most: u64) -> Result<()> {
    if terms > most { Err(Error::TooLarge { what, requested: terms, limit: most }) } else { Ok(()) }
}

/// Whether blocks of k are worth computing side by side, to be added by a second kernel: where tiles, or a last round of them, leave much of a device idle.
const fn blocks_pay_apart(tiles: u64, blocks: u64) -> bool {
    let parts = tiles.saturating_mul(blocks);
    // Thousandths of a round; starting a kernel takes about a tenth of one.
    let together = tiles.div_ceil(ROUND).saturating_mul(blocks).saturating_mul(1000);
    let apart = parts.div_ceil(ROUND).saturating_mul(1000).saturating_add(parts.saturating_mul(1000) / ADDED_IN_A_ROUND + 100);
    together > apart
}

/// Whether so many elements are better computed in small tiles: where these tiles would be half empty, or too few for half of a device.
const fn small_tiles_pay(elements: u64, tiles: u64, of_tile: u64) -> bool {
    tiles <= ROUND / 2 || elements.saturating_mul(2) <= tiles.saturating_mul(of_tile)
}

impl ProductTask {
    /// Indices that A, B and the results have.
    #[must_use]
    pub fn extents(&self) -> [u64; 3] {
        let Self { m, n, k, batch, a_steps, b_steps, c_steps, .. } = self;
        let of = |steps: &Steps, rows: u64, columns: u64| steps.extent([*batch, rows, columns]).unwrap_or(u64::MAX);
        [of(a_steps, *m, *k), of(b_steps, *k, *n), of(c_steps, *m, *n)]
    }

    /// Terms of a chain.
    #[must_use]
    pub const fn block(&self) -> u64 {
        self.order.block(self.k)
    }

    /// The type of sums.
    #[must_use]
    pub fn ty(&self) -> Ty {
        self.finish.params.last().map_or(Ty::F32, |param| param.ty())
    }

    /// The transpose of the product: that of the operands' transposes, the other way round.
    fn turned(&self) -> Self {
        let turn = |steps: Steps| Steps { row: steps.column, column: steps.row, ..steps };
        let (a_steps, b_steps) = (turn(self.b_steps), turn(self.a_steps));
        Self { a: self.b.clone(), b: self.a.clone(), m: self.n, n: self.m, a_steps, b_steps, ..self.clone() }
    }

    /// A product whose columns are stored as rows are: the transpose, whose rows they are, with the same bits.
    pub(super) fn stored_by_columns(&self) -> Self {
        let Steps { row, column, batch } = self.c_steps;
        Self { c_steps: Steps { row: column, column: row, batch }, ..self.turned() }
    }

    fn params(&self, split: bool) -> Result<ContractParams> {
        let word = |what: &'static str, value: u64| {
            u32::try_from(value).map_err(|_| Error::TooLarge { what, requested: value, limit: u32::MAX.into() })
        };
        let side = |value: u64| word("rows, columns or terms of a product", value);
        let step = |value: u64| word("elements between rows or columns", value);
        let Self { a_steps: a, b_steps: b, c_steps: c, .. } = self;
        let fours = |steps: &Steps, near: u64, far: u64, lines: u64| {
            near == 1 && (far.is_multiple_of(4) || lines == 1) && (steps.batch.is_multiple_of(4) || self.batch == 1)
        };
        let form = [
            fours(a, a.row, a.column, self.k),
            fours(b, b.column, b.row, self.k),
            fours(c, c.column, c.row, self.m),
            split,
            fours(a, a.column, a.row, self.m),
        ];
        Ok(ContractParams {
            rows: side(self.m)?,
            columns: side(self.n)?,
            terms: side(self.k)?,
            block: side(self.block())?,
            form: form.iter().enumerate().map(|(bit, &set)| u32::from(set) << bit).sum(),
            a_row: step(a.row)?,
            a_column: step(a.column)?,
            b_row: step(b.row)?,
            b_column: step(b.column)?,
            c_row: step(c.row)?,
            a_batch: a.batch,
            b_batch: b.batch,
            c_batch: c.batch,
        })
    }
}

impl<B: Launcher> Planned<B> for ProductTask {
    fn drive(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        for extent in self.extents() {
            device.tuning().check_numbered("elements of a matrix", extent)?;
        }
        if self.drive_bands(device, leaves, outs)?.is_some() {
            return Ok(());
        }
        match self.windows.as_ref().filter(|windows| windows.pay(self, device, leaves)) {
            Some(windows) => windows.drive(self, device, leaves, outs),
            None => self.drive_whole(device, leaves, outs),
        }
    }
}

impl ProductTask {
    /// Multiplies matrices that kernels see at once.
    pub(super) fn drive_whole<B: Launcher>(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let extents = self.extents();
        if let Some(packing) = self.packing(device, leaves) {
            return self.drive_packed(device, packing, leaves, outs);
        }
        let ty = self.ty();
        let bytes = 4 * ty.words() as u64;
        let [rows, columns] = device.tuning().product(ty);
        let (tile_m, tile_n) = (16 * u64::from(rows), 16 * u64::from(columns));
        let tiles = self.m.div_ceil(tile_m) * self.n.div_ceil(tile_n) * self.batch;
        let (blocks, elements) = (self.k.div_ceil(self.block()).max(1), self.batch * self.m * self.n);
        let partial_bytes = elements.saturating_mul(blocks).saturating_mul(bytes);
        let fits = partial_bytes <= MOST_BYTES.min(device.tuning().window_bytes);
        let thin = self.m.min(self.n) <= THIN && self.k > 0 && fits;
        let most = most_terms(device, if thin { TURNS_OF_THIN } else { turns(ty, rows * columns) });
        let split = thin || (blocks > 1 && fits && (blocks_pay_apart(tiles, blocks) || self.k > most));
        let small = !thin && !split && small_tiles_pay(elements, tiles, tile_m * tile_n);
        let most = if small { most_terms(device, turns(ty, SUMS_OF_SMALL)) } else { most };
        check_terms("terms of a chain, where the device ends long loops", if split { self.block().min(self.k) } else { self.k }, most)?;
        if split {
            check_terms(
                "terms of a product, where the device ends long loops",
                self.k,
                most_terms(device, 1).saturating_mul(self.block()),
            )?;
        }
        let params = self.params(split)?;
        let is_turned = self.m < self.n;
        let few = thin.then(|| if is_turned { self.turned() } else { self.clone() });
        let of_few = few.as_ref().map_or(Ok(params), |of| of.params(split))?;
        let choice = match ty {
            Ty::F32 => 0,
            Ty::F64 => 1,
            _ => 2,
        };
        // Rows of a few columns are read in place, along k, or element by element where they are computed.
        let reads = few.as_ref().map_or(0, |of| if of_few.form & 16 != 0 { 1 } else { 2 * u32::from(of.a.weight() > 0) });
        let choices = [("type", choice), ("split", split.into()), ("reads", reads)];
        let pieces = if split { device.scratch(&[partial_bytes])? } else { Vec::new() };
        let arrays = [pieces.first().map_or(Array::NONE, Array::piece)];
        // Threads write the outputs in vectors of four alone where the columns are so many.
        let single = split || params.form & 4 == 0 || !self.n.is_multiple_of(4);
        let launch = |kernel, of: &Self, params: &ContractParams, groups: u64, shared_bytes| {
            let operators = Operators::Product {
                a: &of.a,
                b: &of.b,
                finish: &of.finish,
                extents: [of.extents()[0], of.extents()[1], extents[2]],
                packing: None,
            };
            let spec = KernelSpec::new(kernel, params, &choices, &arrays).with(operators, of.numerics, leaves, outs);
            device.launch(
                &spec.writing_single(single),
                Work { results: Some(extents[2]), shared_bytes, ..Work::whole(elements, &|_| groups) },
            )
        };
        if let Some(of) = &few {
            let params = ContractParams { form: of_few.form | u32::from(is_turned) << 5, ..of_few };
            launch(&CONTRACT_THIN, of, &params, of.m.div_ceil(THREADS) * blocks * of.n.div_ceil(4) * of.batch, 0)?;
        } else if small {
            let tiles = self.m.div_ceil(SMALL) * self.n.div_ceil(SMALL) * self.batch;
            launch(&CONTRACT_SMALL, self, &params, tiles, SMALL * SMALL * bytes)?;
        } else {
            launch(&CONTRACT, self, &params, tiles * if split { blocks } else { 1 }, tile_m * tile_n * bytes)?;
        }
        if split { launch(&CONTRACT_FOLD, self, &params, elements.div_ceil(THREADS), 0) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::{blocks_pay_apart, small_tiles_pay};

    #[test]
    fn blocks_are_computed_apart_where_a_device_would_be_idle() {
        let of = |m: u64, n: u64, k: u64| blocks_pay_apart(m.div_ceil(64) * n.div_ceil(128), k.div_ceil(512));
        for (m, n, k) in [(128, 128, 65536), (512, 512, 2048), (512, 1024, 1024), (1280, 1280, 1280), (1536, 1536, 1536)] {
            assert!(of(m, n, k), "{m} x {n}, {k} terms");
        }
        for (m, n, k) in
            [(512, 512, 512), (768, 768, 768), (1024, 1024, 1024), (1792, 1792, 1792), (16384, 128, 16384), (1 << 20, 1 << 20, 1 << 20)]
        {
            assert!(!of(m, n, k), "{m} x {n}, {k} terms");
        }
    }

    #[test]
    fn small_tiles_are_for_small_matrices_and_few_tiles() {
        let of = |m: u64, n: u64, batch: u64| small_tiles_pay(batch * m * n, batch * m.div_ceil(64) * n.div_ceil(128), 64 * 128);
        for (m, n, batch) in [(16, 16, 65536), (32, 32, 16384), (64, 64, 4096), (31, 500, 1000), (256, 256, 1), (512, 512, 1), (1, 1, 1)] {
            assert!(of(m, n, batch), "{batch} of {m} x {n}");
        }
        for (m, n, batch) in [(64, 128, 1000), (65, 128, 1000), (1024, 1024, 1), (128, 128, 500)] {
            assert!(!of(m, n, batch), "{batch} of {m} x {n}");
        }
    }
}
