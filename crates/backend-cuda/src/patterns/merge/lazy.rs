//! Merges, co-ranks and searches of what is computed where it is read: the operators are spliced into `merge_from.cu`.

use super::super::holes::{Holes, Shape, looked_at, put_element};
use super::super::scratch::Use;
use super::super::{Bound, bind, blocks, put_wide};
use super::{FLIP, KIND, NEEDLES, NEGATIVE, STEP, THREADS, WIDE, items};
use crate::backend::Cuda;
use crate::launch::{Grid, MAX_INPUTS};
use crate::memory::Buffer;
use crate::module;
use crate::splice::{Fill, Site};
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::element::{DType, Ty};
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::Func;
use isowarp_core::patterns::merge::Sides;
use isowarp_core::patterns::plan::tiles;
use isowarp_core::patterns::{CoRankFromTask, KeyBits, MergeFromTask, SearchFromTask};
use isowarp_kernels::Kernel;
use isowarp_kernels::merge_from::*;

/// More words of `u`; see `merge_from.cu`.
const M: usize = 8;
const N: usize = 10;

/// By words of a key (1, 2): merges by words of a value (0, 1, 2).
const MERGES: [[Kernel; 3]; 2] =
    [[MERGE_FROM_K4_P0, MERGE_FROM_K4_P4, MERGE_FROM_K4_P8], [MERGE_FROM_K8_P0, MERGE_FROM_K8_P4, MERGE_FROM_K8_P8]];
const CO_RANKS: [Kernel; 2] = [MERGE_FROM_CO_RANKS_K4, MERGE_FROM_CO_RANKS_K8];
const SEARCHES: [Kernel; 2] = [SEARCH_FROM_K4, SEARCH_FROM_K8];

/// Both sides as kernels take them.
struct Lazy<'a> {
    sides: &'a Sides,
    key: DType,
    value: Option<DType>,
    bound: Bound,
}

impl<'a> Lazy<'a> {
    fn new(
        cuda: &Cuda,
        (pattern, sides): (&'static str, &'a Sides),
        leaves: &[Leaf<Buffer>],
        outs: &[Out<Buffer>],
        (map, [m, n]): (KeyBits, [u64; 2]),
        (key, value): (DType, Option<DType>),
    ) -> Result<Self> {
        let mut bound = bind(cuda, (pattern, 0), &sides.params(), leaves, outs)?;
        bound.key = sides.each.iter().fold(bound.key, |key, func| key.func(func)).word(sides.numerics as u64).word(key as u64);
        // Narrow keys lie in the high bits of a word.
        let shift = 8 * (4 * key.ty().words() as u64 - key.size_bytes());
        for (at, number) in [(NEGATIVE, map.negative << shift), (FLIP, map.flip << shift), (M, m), (N, n)] {
            put_wide(&mut bound.args.u, at, number);
        }
        Ok(Self { sides, key, value, bound })
    }

    /// Returns the index of a table's kernels for keys of this type.
    fn row(&self) -> usize {
        self.key.ty().words() - 1
    }

    fn kernel(&self, cuda: &Cuda, entry: Kernel) -> Result<module::Kernel> {
        let id = (entry, self.bound.key.0);
        if let Some(kernel) = cuda.known_kernel(&id) {
            return Ok(kernel);
        }
        let shapes = &self.bound.shapes[..self.sides.params().len()];
        with_fills(self.sides, (self.key, self.value), shapes, entry.holes(), |fills| cuda.kernel(id, fills))?
    }
}

/// Calls `f` with what fills the holes of these names.
pub(in crate::patterns) fn with_fills<R>(
    sides: &Sides,
    (key, value): (DType, Option<DType>),
    leaves: &[Shape],
    wanted: &[&str],
    f: impl FnOnce(&[Fill<'_>]) -> R,
) -> Result<R> {
    let numerics = sides.numerics;
    let element = |func: &Func, dtype: DType, site: &Site<'_>| {
        Holes { load: func, leaves: &looked_at(func, leaves), outs: &[], numerics }.element(dtype, site)
    };
    let of_values = value.unwrap_or(DType::U32);
    let keys = sides.joined(0)?;
    let values = if value.is_some() { Some(sides.joined(1)?) } else { None };
    let side = |k: usize, site: &Site<'_>| values.as_ref().map_or(Ok(String::new()), |v| element(&v[k], of_values, site));
    let key_a = |s: &Site<'_>| element(&keys[0], key, s);
    let key_b = |s: &Site<'_>| element(&keys[1], key, s);
    let value_a = |s: &Site<'_>| side(0, s);
    let value_b = |s: &Site<'_>| side(1, s);
    let put_key = |s: &Site<'_>| put_element(key, 0, numerics, s);
    let put_value = |s: &Site<'_>| put_element(of_values, 1, numerics, s);
    let all = [
        Fill { name: "key_a", body: &key_a },
        Fill { name: "key_b", body: &key_b },
        Fill { name: "value_a", body: &value_a },
        Fill { name: "value_b", body: &value_b },
        Fill { name: "put_key", body: &put_key },
        Fill { name: "put_value", body: &put_value },
    ];
    let fills: Vec<Fill<'_>> = all.into_iter().filter(|f| wanted.contains(&f.name)).collect();
    Ok(f(&fills))
}

impl Run<MergeFromTask> for Cuda {
    fn run(&self, task: &MergeFromTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let _turn = self.stream().turn();
        if leaves.len() > MAX_INPUTS {
            return task.by_arrays(self, leaves, outs);
        }
        let merge = &task.merge;
        let value = outs.get(1).map(|out| out.dtype);
        let lens = (merge.key_bits(), [merge.m, merge.n]);
        let mut lazy = Lazy::new(self, ("merge", &task.sides), leaves, outs, lens, (merge.dtype, value))?;
        let words = |dtype: DType| dtype.ty().words();
        let payload = value.map_or(0, words);
        let tile = items(4 * words(merge.dtype) as u64, 4 * payload as u64) * u64::from(THREADS);
        let tiles = tiles(merge.total(), tile);
        if tiles > 1 {
            let starts = self.stream().scratch().get(self, Use::Partials, 8 * (tiles + 1))?;
            let mut cuts = lazy.bound.args;
            cuts.n = tiles + 1;
            cuts.out[0] = starts;
            (cuts.u[WIDE], cuts.u[STEP]) = (1, tile as u32);
            let kernel = lazy.kernel(self, CO_RANKS[lazy.row()])?;
            let grid = Grid::linear(blocks(cuts.n.div_ceil(THREADS.into()))?, THREADS);
            // SAFETY: the task's contract: views have `m` or `n` elements; scratch holds a number to a tile and one more.
            unsafe { self.launch(&kernel, grid, &cuts)? };
            lazy.bound.args.scratch[0] = starts;
        }
        let kernel = lazy.kernel(self, MERGES[lazy.row()][payload])?;
        // SAFETY: as above; the outputs hold `m + n` elements, and blocks stay inside inputs that are not sorted, too.
        unsafe { self.launch(&kernel, Grid::linear(blocks(tiles)?, THREADS), &lazy.bound.args) }
    }
}

impl Run<CoRankFromTask> for Cuda {
    fn run(&self, task: &CoRankFromTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let _turn = self.stream().turn();
        let (inputs, ranks) = task.operands(leaves);
        if inputs.len() > MAX_INPUTS {
            return task.by_arrays(self, leaves, outs);
        }
        let ([Leaf::Elements { raw, dtype, offset, .. }], co_ranks) = (ranks, &task.co_ranks) else {
            return Err(Error::InvalidArgument { what: "co_ranks", reason: "the ranks are missing".to_owned() });
        };
        let lens = (co_ranks.key_bits(), [co_ranks.m, co_ranks.n]);
        let mut lazy = Lazy::new(self, ("co_ranks", &task.sides), inputs, outs, lens, (co_ranks.dtype, None))?;
        lazy.bound.args.scratch[1] = self.address(raw, "an input")? + offset * dtype.size_bytes();
        lazy.bound.args.n = co_ranks.ranks;
        lazy.bound.args.u[WIDE] = u32::from(dtype.ty() == Ty::U64);
        let kernel = lazy.kernel(self, CO_RANKS[lazy.row()])?;
        let grid = Grid::linear(blocks(co_ranks.ranks.div_ceil(THREADS.into()))?, THREADS);
        // SAFETY: the task's contract: views have `m` or `n` elements, and there are as many results as ranks.
        unsafe { self.launch(&kernel, grid, &lazy.bound.args) }
    }
}

impl Run<SearchFromTask> for Cuda {
    fn run(&self, task: &SearchFromTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let _turn = self.stream().turn();
        if leaves.len() > MAX_INPUTS {
            return task.by_arrays(self, leaves, outs);
        }
        let search = &task.search;
        let lens = (search.key_bits(), [search.n, 0]);
        let mut lazy = Lazy::new(self, ("search", &task.sides), leaves, outs, lens, (search.dtype, None))?;
        lazy.bound.args.n = search.needles;
        lazy.bound.args.u[KIND] = search.kind as u32;
        lazy.bound.args.u[WIDE] = u32::from(outs.iter().any(|out| out.dtype == DType::U64));
        let kernel = lazy.kernel(self, SEARCHES[lazy.row()])?;
        let grid = Grid::linear(blocks(search.needles.div_ceil(NEEDLES * u64::from(THREADS)))?, THREADS);
        // SAFETY: the task's contract: views have `n` or as many elements as there are needles, and so many has the output.
        unsafe { self.launch(&kernel, grid, &lazy.bound.args) }
    }
}
