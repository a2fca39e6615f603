//! Choosing how `fma` of f32 is computed.

use super::bench::{Bench, as_bytes, to_words};
use super::checks::{self, Triples};
use super::{describe, shapes};
use crate::context::Context;
use crate::pipeline::Pipelines;
use crate::seal::SealOptions;
use isowarp_core::caps::{FmaKind, NumericsVerdict};
use isowarp_core::error::Result;
use std::sync::Arc;

/// The guard alone.
pub(crate) const FMA_GUARD: &str = include_str!("../wgsl/fma_guarded.wgsl");
/// The guard of four elements at once.
pub(crate) const FMA_GUARD_4: &str = include_str!("../wgsl/fma_guarded_4.wgsl");
/// The integer emulation that they call.
pub(crate) const FMA_BITS: &str = include_str!("../wgsl/fma_bits.wgsl");
const GUARDED: &str = concat!(include_str!("../wgsl/fma_guarded.wgsl"), include_str!("../wgsl/fma_bits.wgsl"));
const INTEGER: &str = concat!(include_str!("../wgsl/fma_integer.wgsl"), include_str!("../wgsl/fma_bits.wgsl"));

/// WGSL that defines `iw_fma(a, b, c)` of f32 in this way. `Native` and `Guarded` are right only where the adapter's `fma` is
/// fused, `Contracted` only in modules sealed for it, `ViaF64` only where there is `SHADER_F64`.
#[must_use]
pub fn fma_prelude(kind: FmaKind) -> &'static str {
    match kind {
        FmaKind::Native | FmaKind::Contracted => include_str!("../wgsl/fma_native.wgsl"),
        FmaKind::Guarded => GUARDED,
        FmaKind::ViaF64 => include_str!("../wgsl/fma_f64.wgsl"),
        FmaKind::ViaInteger => INTEGER,
    }
}

/// WGSL that defines `iw_fma64(a, b, c)` of f64: the adapter's own where that is fused, else in 64-bit integers (`SHADER_INT64`).
#[must_use]
pub fn fma64_prelude(fused: bool) -> &'static str {
    if fused { include_str!("../wgsl/fma64_native.wgsl") } else { include_str!("../wgsl/fma64_integer.wgsl") }
}

/// Extent to which a way of computing `fma` is exact.
#[derive(Clone, Debug)]
pub(super) enum Proof {
    /// On every input.
    Exact,
    /// On inputs that stay clear of subnormal numbers.
    Normal(String),
    /// Not even there.
    Wrong(String),
}

/// Returns how exact the built-in `fma` was measured to be, in all [`shapes::SHAPES`].
pub(super) fn proof_of_shapes(triples: &Triples, results: &[u32]) -> Proof {
    let first = |until: usize| (0..shapes::SHAPES.len()).find_map(|s| shapes::wrong(s, &triples.words[..until], results).1);
    first(triples.normal).map_or_else(|| first(triples.words.len()).map_or(Proof::Exact, Proof::Normal), Proof::Wrong)
}

fn proof_of_one(triples: &Triples, results: &[u32]) -> Proof {
    let first = |range: std::ops::Range<usize>| {
        range.clone().find_map(|at| {
            let [x, y, z, _] = triples.words[at];
            let expected = (checks::TABLE[0].expect)(x, y, z).unwrap_or_default();
            let got = results.get(at).copied().unwrap_or(!expected);
            (!checks::same(expected, got)).then(|| describe("emulated fma", triples.words[at], expected, got))
        })
    };
    first(0..triples.normal).map_or_else(|| first(triples.normal..triples.words.len()).map_or(Proof::Exact, Proof::Normal), Proof::Wrong)
}

/// The name of its kernels.
pub(super) const NAME: &str = "probe fma";

/// Measures one way of computing `fma`.
async fn prove(context: &Context, pipelines: &Arc<Pipelines>, triples: &Triples, kind: FmaKind) -> Result<Proof> {
    let prelude = fma_prelude(kind);
    // Emulations are made of sealed operations, which no surrounding changes; what the compiler fuses depends on the code around it.
    let builtin = matches!(kind, FmaKind::Native | FmaKind::Contracted);
    let (text, per_triple) = if builtin { (shapes::wgsl(prelude), shapes::SHAPES.len()) } else { (checks::fma_wgsl(prelude), 1) };
    // The one that is sealed in another way than the kernels there.
    let own = (kind == FmaKind::Contracted).then(|| Arc::new(Pipelines::default()));
    let mut bench = Bench::new(own.as_ref().unwrap_or(pipelines));
    bench.enqueue(context, NAME, &text, as_bytes(&triples.words), per_triple * triples.words.len(), 4)?;
    let results = to_words(&bench.finish(context).await?.into_iter().next().unwrap_or_default());
    Ok(if builtin { proof_of_shapes(triples, &results) } else { proof_of_one(triples, &results) })
}

/// The `fma` of a device, and what it lacks.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) kind: FmaKind,
    /// The reason that no `fma` is exact.
    pub(super) wrong: Option<String>,
    /// A witness that this one takes subnormal numbers for zeros.
    pub(super) flushes: Option<String>,
}

impl Choice {
    fn exact(kind: FmaKind) -> Self {
        Self { kind, wrong: None, flushes: None }
    }

    fn flushing(kind: FmaKind, witness: String) -> Self {
        Self { kind, wrong: None, flushes: Some(witness) }
    }
}

/// The cheapest `fma` that is exact here, or what the best one lacks; lowers the verdict then. `native` is what the built-in was measured to be,
/// `via_f64` whether f64 can be used. Leaves `context` sealing for the choice.
pub(super) async fn choose(
    context: &mut Context,
    pipelines: &Arc<Pipelines>,
    triples: &Triples,
    native: Proof,
    via_f64: bool,
    verdict: &mut NumericsVerdict,
    witnesses: &mut Vec<String>,
) -> Result<Choice> {
    // Other faults have nothing to do with it.
    let kept = *verdict != NumericsVerdict::StrictNormal;
    let flushes = |verdict: &mut NumericsVerdict| {
        if *verdict == NumericsVerdict::Strict {
            *verdict = NumericsVerdict::StrictNormal;
        }
    };
    let (candidates, mut flushing) = match (&native, context.fma) {
        (_, Some(forced)) => (vec![forced], None),
        (Proof::Exact, None) => return Ok(Choice::exact(FmaKind::Native)),
        // A device that flushes sums has nothing to gain from an `fma` that does not.
        (Proof::Normal(witness), None) if !kept => {
            witnesses.push(format!("fma: {witness}"));
            return Ok(Choice::flushing(FmaKind::Native, witness.clone()));
        }
        (Proof::Normal(witness), None) => {
            let emulated = if context.keep_subnormals { vec![FmaKind::Guarded, FmaKind::ViaF64, FmaKind::ViaInteger] } else { Vec::new() };
            (emulated, Some((FmaKind::Native, witness.clone())))
        }
        (Proof::Wrong(_), None) => (vec![FmaKind::ViaF64, FmaKind::ViaInteger], None),
    };
    let mut last = None;
    for &kind in &candidates {
        let impossible = match kind {
            FmaKind::Contracted => context.seal.is_none(),
            FmaKind::ViaF64 => !via_f64,
            FmaKind::Native | FmaKind::Guarded | FmaKind::ViaInteger => false,
        };
        if impossible {
            continue;
        }
        let before = context.seal;
        context.seal = before.map(|s| SealOptions { contract_fma: kind == FmaKind::Contracted, ..s });
        match prove(context, pipelines, triples, kind).await? {
            Proof::Exact => return Ok(Choice::exact(kind)),
            Proof::Normal(witness) => {
                witnesses.push(format!("{kind:?}: {witness}"));
                if !kept || context.fma.is_some() {
                    flushes(verdict);
                    return Ok(Choice::flushing(kind, witness));
                }
                flushing.get_or_insert((kind, witness));
            }
            Proof::Wrong(witness) => {
                witnesses.push(format!("{kind:?}: {witness}"));
                last = Some(witness);
            }
        }
        if context.fma.is_none() {
            context.seal = before;
        }
    }
    if let Some((kind, witness)) = flushing {
        witnesses.push(format!("fma: {witness}"));
        flushes(verdict);
        context.seal = context.seal.map(|s| SealOptions { contract_fma: kind == FmaKind::Contracted, ..s });
        return Ok(Choice::flushing(kind, witness));
    }
    let witness = last.unwrap_or_else(|| "no way of computing fma is possible here".to_owned());
    if let NumericsVerdict::Strict | NumericsVerdict::StrictNormal = verdict {
        *verdict = NumericsVerdict::Unproven { witness: witness.clone() };
    }
    Ok(Choice { kind: context.fma.unwrap_or(FmaKind::ViaInteger), wrong: Some(witness), flushes: None })
}
