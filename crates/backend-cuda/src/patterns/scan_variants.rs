//! P03 scan, the textbooks' algorithms: up the levels with the tiles' totals, down again with what comes before each tile.

use super::lines::Operators;
use super::scan::put_first;
use super::scratch::Use;
use super::{blocks, put_wide};
use crate::backend::Cuda;
use crate::launch::Grid;
use crate::memory::Buffer;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::error::{Error, Result};
use isowarp_core::patterns::scan_variants::LANES;
use isowarp_core::patterns::{ScanKind, ScanVariant, ScanVariantTask};
use isowarp_kernels::Kernel;
use isowarp_kernels::scan_variants::*;

const FROM_SCRATCH: u32 = 1;
const TOTALS: u32 = 2;
const FOLDED: u32 = 4;
const EXCLUSIVE: u32 = 8;

impl Run<ScanVariantTask> for Cuda {
    fn run(&self, task: &ScanVariantTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        if task.variant == ScanVariant::SinglePass {
            return self.run(&task.scan, leaves, outs);
        }
        let scan = &task.scan;
        let operators = Operators { load: &scan.load, combine: &scan.combine, finish: &scan.finish, numerics: scan.numerics };
        let mut bound = operators.bind(self, ("scan", scan.lines.n), leaves, outs)?;
        let mut exclusive = 0;
        if let ScanKind::Exclusive { first } = &scan.kind {
            exclusive = EXCLUSIVE;
            put_first(&mut bound.args.u[4..8], scan, first);
        }
        let kernel = operators.kernel(self, &table(task.variant)?, &bound)?;
        let lengths = task.variant.levels(scan.lines.n);
        let regions = regions(self, &lengths, 4 * operators.words() as u64)?;
        let tile = task.variant.tile();
        let mut launch = |flags: u32, n: u64, from: u64, to: u64, folds: u64| {
            bound.args.u[0] = flags | if from > 0 { FROM_SCRATCH } else { 0 } | if folds > 0 { FOLDED } else { 0 };
            put_wide(&mut bound.args.u, 2, n);
            bound.args.scratch[..3].copy_from_slice(&[from, to, folds]);
            let grid = Grid::linear(blocks(n.div_ceil(tile))?, LANES as u32);
            // SAFETY: the task's contract (views are inside their buffers); scratch has room for the elements of every level above the first.
            unsafe { self.launch(&kernel, grid, &bound.args) }
        };
        let top = lengths.len() - 1;
        for k in 1..=top {
            launch(TOTALS, lengths[k] * tile, regions[k - 1], regions[k], 0)?;
        }
        for k in (1..=top).rev() {
            let folds = regions.get(k + 1).copied().unwrap_or(0);
            launch(0, lengths[k], regions[k], regions[k], folds)?;
        }
        launch(exclusive, lengths[0], 0, 0, regions.get(1).copied().unwrap_or(0))
    }
}

/// Where the elements of every level lie: nowhere for the caller's own.
fn regions(cuda: &Cuda, lengths: &[u64], bytes: u64) -> Result<Vec<u64>> {
    let sizes = || lengths[1..].iter().map(|n| (n * bytes).next_multiple_of(256));
    if lengths.len() == 1 {
        return Ok(vec![0]);
    }
    let at = cuda.stream().scratch().get(cuda, Use::Partials, sizes().sum())?;
    let above = sizes().scan(at, |next, size| Some(std::mem::replace(next, *next + size)));
    Ok(std::iter::once(0).chain(above).collect())
}

/// The algorithm's kernel for each width of an accumulator.
pub(super) fn table(variant: ScanVariant) -> Result<[Kernel; 4]> {
    Ok(match variant {
        ScanVariant::KoggeStone => [SCAN_KOGGE_STONE_W1, SCAN_KOGGE_STONE_W2, SCAN_KOGGE_STONE_W4, SCAN_KOGGE_STONE_W4],
        ScanVariant::BrentKung => [SCAN_BRENT_KUNG_W1, SCAN_BRENT_KUNG_W2, SCAN_BRENT_KUNG_W4, SCAN_BRENT_KUNG_W4],
        ScanVariant::Coarsened => [SCAN_COARSENED_W1, SCAN_COARSENED_W2, SCAN_COARSENED_W4, SCAN_COARSENED_W4],
        other => return Err(Error::InvalidArgument { what: "variant", reason: format!("`{}` has no kernel of its own", other.name()) }),
    })
}
