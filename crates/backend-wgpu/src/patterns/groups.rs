//! P25 groups: one dispatch to a window of the inputs.

use super::Launch;
use super::operands::{Operands, Signature, Span};
use super::place::{Place, most};
use super::program::{Operators, Program};
use crate::buffer::Buffer;
use crate::device::Wgpu;
use isowarp_core::backend::{Leaf, Out, Run};
use isowarp_core::caps::Numerics;
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::Func;
use isowarp_core::patterns::{BallotTask, Peers, PeersTask};
use isowarp_shaders::kernels::{BALLOT, PEERS};

/// Invocations of a workgroup.
const THREADS: u64 = 256;
/// Vectors of an invocation of a ballot, at most.
const MOST_ROWS: u32 = 8;

fn operands() -> Error {
    Error::InvalidArgument { what: "groups", reason: "they have one output, or two".to_owned() }
}

fn place(out: &Out<Buffer>) -> Place<'_> {
    Place { raw: &out.raw, offset: out.offset, size: 4 }
}

impl Run<BallotTask> for Wgpu {
    fn run(&self, task: &BallotTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let [out] = outs else { return Err(operands()) };
        let limits = self.window_limits();
        let operands = Operands::plan(limits, &task.func.params, leaves, &[], true, false, task.n)?;
        let rows = self.tuning().rows(MOST_ROWS, task.func.weight());
        let holes = ballot_holes(rows);
        let kernel = self.program("group_ballot", &ballot_program(&task.func, task.numerics, &operands.signature, &holes))?;
        // Windows begin with a word of the output.
        let step = operands.span(limits, task.n, 1024, false).min(32 * most(limits, 4));
        for at in (0..task.n).step_by(step as usize) {
            let span = Span::of(at, step.min(task.n - at));
            let (w, binding) = place(out).bind(limits, at / 32, span.len.div_ceil(32))?;
            let mut launch = Launch::new(at, &[span.len as u32, w.skip as u32]);
            operands.bind(limits, span, span, &mut launch.bindings, &mut launch.args)?;
            launch.bindings.push(binding);
            self.launch(&kernel, &launch, span.len.div_ceil(4 * THREADS * u64::from(rows)))?;
        }
        Ok(())
    }
}

impl Run<PeersTask> for Wgpu {
    fn run(&self, task: &PeersTask, leaves: &[Leaf<Buffer>], outs: &[Out<Buffer>]) -> Result<()> {
        let (found, counts) = match (outs, task.peers) {
            ([out], Peers::Mask) => (out, None),
            ([out, counts], Peers::First | Peers::Rank) => (out, Some(counts)),
            _ => return Err(operands()),
        };
        let limits = self.window_limits();
        let operands = Operands::plan(limits, &task.func.params, leaves, &[], true, false, task.n)?;
        let holes = peers_holes(task.peers, task.func.result_words());
        let kernel = self.program("group_match", &peers_program(&task.func, task.numerics, &operands.signature, &holes))?;
        let width = u64::from(task.width);
        let per = THREADS / width * width;
        // Windows begin with a group.
        let groups = 4 * width;
        let step = operands.span(limits, task.n, groups, false).min((most(limits, 4) / groups * groups).max(groups));
        for at in (0..task.n).step_by(step as usize) {
            let span = Span::of(at, step.min(task.n - at));
            let (w, binding) = place(found).bind(limits, at, span.len)?;
            let of_counts = counts.map(|c| place(c).bind(limits, at, span.len)).transpose()?;
            let skip_counts = of_counts.as_ref().map_or(0, |(w, _)| w.skip);
            let words = [span.len, width, per, w.skip, skip_counts].map(|w| w as u32);
            let mut launch = Launch::new(at, &words);
            operands.bind(limits, span, span, &mut launch.bindings, &mut launch.args)?;
            launch.bindings.push(binding);
            if let Some((_, binding)) = of_counts {
                launch.bindings.push(binding);
            }
            self.launch(&kernel, &launch, span.len.div_ceil(per))?;
        }
        Ok(())
    }
}

pub(super) fn ballot_holes(rows: u32) -> [(&'static str, u32); 2] {
    [("ballot", 1), ("rows", rows)]
}

pub(super) fn peers_holes(peers: Peers, words: usize) -> [(&'static str, u32); 4] {
    [("ballot", 0), ("kind", peers as u32), ("words", words as u32), ("counted", (peers != Peers::Mask).into())]
}

pub(super) fn ballot_program<'a>(
    func: &'a Func,
    numerics: Numerics,
    signature: &'a Signature,
    holes: &'a [(&'static str, u32)],
) -> Program<'a> {
    Program { template: BALLOT, entry: "ballot", constants: holes, operators: Operators::Words(func), signature, numerics, first: false }
}

pub(super) fn peers_program<'a>(
    func: &'a Func,
    numerics: Numerics,
    signature: &'a Signature,
    holes: &'a [(&'static str, u32)],
) -> Program<'a> {
    Program { template: PEERS, entry: "peers", ..ballot_program(func, numerics, signature, holes) }
}
