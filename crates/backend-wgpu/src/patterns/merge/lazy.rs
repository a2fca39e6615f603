//! Merges, co-ranks and searches of what is computed where it is read; by arrays where bindings do not hold or have no room for what that reads.

use super::super::Launch;
use super::super::operands::{Args, Limits, MAX, Operands, Signature, Span};
use super::super::place::{Place, most};
use super::super::program::{Computed, Operators, Program};
use super::super::reduce::chunks;
use super::{BLOCKS, Call, Reads, SKIP_KEYS, SKIP_V, THREADS, co_rank_holes, masks, merge_program, result, search_holes, search_program};
use crate::binds::Binding;
use crate::buffer::Buffer;
use crate::device::Wgpu;
use arrayvec::ArrayVec;
use isowarp_core::backend::{Backend as _, Leaf, Out, Run};
use isowarp_core::caps::Numerics;
use isowarp_core::element::DType;
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::{Func, Param};
use isowarp_core::patterns::merge::Sides;
use isowarp_core::patterns::{CoRankFromTask, MergeFromTask, SearchFromTask};

/// Elements that kernels compute where they read them, and the leaves that this takes.
pub(super) struct Lazy<'a> {
    operands: Operands<'a>,
    computed: ArrayVec<Computed<'a>, 4>,
    numerics: Numerics,
}

/// Both sides of a task.
#[derive(Clone, Copy)]
struct Task<'a> {
    sides: &'a Sides,
    params: &'a [Param],
    leaves: &'a [Leaf<Buffer>],
    lens: [u64; 2],
}

/// Elements of both sides: the functions that compute them, by their names in the kernel.
type Named<'a> = (&'a [Func; 2], [&'static str; 2], DType);

impl<'a> Lazy<'a> {
    /// Nothing where a leaf is above the binding limit, or there are more than the adapter binds beside so many buffers of the kernel.
    fn new(wgpu: &Wgpu, task: Task<'a>, all: &[Named<'a>], beside: u32) -> Result<Option<Self>> {
        let computed: ArrayVec<Computed<'a>, 4> = all
            .iter()
            .flat_map(|&(functions, names, dtype)| functions.iter().zip(names).map(move |(func, name)| Computed { name, func, dtype }))
            .take(4)
            .collect();
        let of = |k: usize| (task.lens[usize::from(k >= task.sides.split())], computed.iter().any(|c| c.func.looks_at(k)));
        let planned = Operands::plan_whole(wgpu.window_limits(), task.params, task.leaves, of)?;
        let room = wgpu.caps().max_storage_buffers.min(MAX as u32);
        let fits = planned.filter(|operands| operands.signature.slots.len() as u32 + beside <= room);
        Ok(fits.map(|operands| Self { operands, computed, numerics: task.sides.numerics }))
    }

    pub(super) fn bind(&'a self, call: &mut Call<'a>) -> Result<()> {
        self.put(call.limits, &mut call.bindings, &mut call.operands)
    }

    fn put(&'a self, limits: Limits, bindings: &mut ArrayVec<Binding<'a>, MAX>, args: &mut Args) -> Result<()> {
        // Every leaf has a length of its own.
        let none = Span::of(0, 0);
        self.operands.bind(limits, none, none, bindings, args)
    }

    /// The program with what it computes in front of it.
    pub(super) fn program<'b>(&'b self, program: Program<'b>) -> Program<'b> {
        Program { operators: Operators::Computed(&self.computed), signature: &self.operands.signature, numerics: self.numerics, ..program }
    }

    /// Returns the weight that a kernel repeats where it reads each of an invocation's elements in a place of its own.
    pub(super) fn weight(&self) -> u32 {
        self.computed.iter().map(|c| c.func.weight()).sum()
    }
}

impl Run<MergeFromTask> for Wgpu {
    fn run(&self, task: &MergeFromTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let Some((keys_out, values_out)) = outs.split_first() else {
            return Err(Error::InvalidArgument { what: "merge", reason: "it has an output".to_owned() });
        };
        let (merge, sides) = (&task.merge, &task.sides);
        let widest = outs.iter().map(|out| out.dtype.size_bytes()).max().unwrap_or(1);
        if merge.total() > most(self.window_limits(), widest) {
            return task.by_arrays(self, leaves, outs);
        }
        let params = sides.params();
        let of = Task { sides, params: &params, leaves, lens: [merge.m, merge.n] };
        let functions = sides.joined(0)?;
        let keys: Named<'_> = (&functions, ["a", "b"], merge.dtype);
        // Beside what is computed: the results, and where tiles begin.
        let beside = outs.len() as u32 + 1;
        let Some(of_keys) = Lazy::new(self, of, &[keys], beside)? else { return task.by_arrays(self, leaves, outs) };
        let Some(out) = values_out.first() else {
            return self.merge_all(merge, Reads::Computed(&of_keys), keys_out, None);
        };
        let functions = sides.joined(1)?;
        let Some(of_all) = Lazy::new(self, of, &[keys, (&functions, ["v", "w"], out.dtype)], beside)? else {
            return task.by_arrays(self, leaves, outs);
        };
        self.merge_all(merge, Reads::Computed(&of_keys), keys_out, Some((Reads::Computed(&of_all), out)))
    }
}

impl Run<CoRankFromTask> for Wgpu {
    fn run(&self, task: &CoRankFromTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let (inputs, ranks) = task.operands(leaves);
        let (co_ranks, sides) = (&task.co_ranks, &task.sides);
        let ([Leaf::Elements { raw, offset, .. }], [out]) = (ranks, outs) else {
            return Err(Error::InvalidArgument { what: "co_ranks", reason: "ranks and an output are missing".to_owned() });
        };
        let limits = self.window_limits();
        let (lens, params, functions) = ([co_ranks.m, co_ranks.n], sides.params(), sides.joined(0)?);
        let of = Task { sides, params: &params, leaves: inputs, lens };
        let (longest, numbered) = (co_ranks.m.max(co_ranks.n), u64::from(u32::MAX / 2));
        let planned = Lazy::new(self, of, &[(&functions, ["a", "b"], co_ranks.dtype)], 2)?;
        let Some(lazy) = planned.filter(|_| longest <= numbered) else { return task.by_arrays(self, leaves, outs) };
        let position = out.dtype.size_bytes();
        let holes = co_rank_holes(co_ranks.dtype.size_bytes(), position as u32 / 4, true, false);
        let none = Signature::default();
        let kernel = self.program("co_ranks", &lazy.program(merge_program(&holes, &none)))?;
        chunks(co_ranks.ranks, most(limits, position), |first, count| {
            let mut call = Call::new(limits, (co_ranks.m, co_ranks.n), co_ranks.key_bits());
            call.words[BLOCKS] = count as u32;
            lazy.bind(&mut call)?;
            call.bind(SKIP_V, Place { raw, offset: offset + first, size: position }, count)?;
            call.bind(SKIP_KEYS, Place { offset: out.offset + first, ..result(out) }, count)?;
            self.launch(&kernel, &call.launch(), count.div_ceil(THREADS.into()))
        })
    }
}

impl Run<SearchFromTask> for Wgpu {
    fn run(&self, task: &SearchFromTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let (search, sides) = (&task.search, &task.sides);
        let [out] = outs else {
            return Err(Error::InvalidArgument { what: "search", reason: "it has one output".to_owned() });
        };
        let limits = self.window_limits();
        let (params, functions) = (sides.params(), sides.joined(0)?);
        let of = Task { sides, params: &params, leaves, lens: [search.n, search.needles] };
        let planned = Lazy::new(self, of, &[(&functions, ["sorted", "needles"], search.dtype)], 1)?;
        let numbered = search.n.max(search.needles) <= u64::from(u32::MAX);
        let Some(lazy) = planned.filter(|_| numbered) else { return task.by_arrays(self, leaves, outs) };
        let holes = search_holes(search.dtype.size_bytes(), search.kind, out.dtype, true);
        let none = Signature::default();
        let kernel = self.program("search", &lazy.program(search_program(&holes, &none)))?;
        let [a, b, c, d] = masks(search.key_bits());
        chunks(search.needles, most(limits, out.dtype.size_bytes()), |first, count| {
            let (window, found) = result(out).bind(limits, first, count)?;
            let words = [search.n as u32, count as u32, 0, first as u32, window.skip as u32, 0, a, b, c, d];
            let mut launch = Launch::new(0, &words);
            lazy.put(limits, &mut launch.bindings, &mut launch.args)?;
            launch.bindings.push(found);
            self.launch(&kernel, &launch, count.div_ceil(THREADS.into()))
        })
    }
}
