//! Every operation of the IR, and compositions that compilers have got wrong: lowered as in all kernels, with the evaluator's values for oracle. What
//! the device computes wrongly is tried again in its exact form.

use super::bench::to_words;
use super::operands::{Operands, narrow, wide};
use crate::patterns::{Dialect, from_words};
use crate::pipeline::{KernelSource, beside};
use isowarp_core::caps::Numerics;
use isowarp_core::element::Ty;
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::{Evaluator, Func, LANES, Operation, Operations, canonical_nan, wgsl_function};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::OnceLock;

/// Something to compute.
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) func: Func,
    /// Operations that it is made of.
    pub(crate) operations: Operations,
    /// Whether it is one operation, and no composition.
    pub(crate) single: Option<Operation>,
    /// The evaluator's results of the operands, once they are asked for.
    expected: OnceLock<Vec<u64>>,
}

impl std::fmt::Debug for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

impl Subject {
    pub(super) fn new(name: &str, func: Func) -> Self {
        Self { name: name.to_owned(), operations: func.operations(), func, single: None, expected: OnceLock::new() }
    }

    /// The evaluator's results of operands, with one NaN for all.
    pub(super) fn expected(&self, operands: &Operands) -> &[u64] {
        self.expected.get_or_init(|| {
            let ty = self.func.result_types()[0];
            let mut evaluator = Evaluator::new(&self.func);
            let mut results = Vec::with_capacity(operands.all.len());
            for lanes in operands.all.chunks(LANES) {
                evaluate(&mut evaluator, &self.func, lanes);
                results.extend(evaluator.result(0)[..lanes.len()].iter().map(|&bits| canonical_nan(ty, bits)));
            }
            results
        })
    }

    /// Words of its result.
    fn words(&self) -> usize {
        self.func.result_words()
    }
}

/// Subjects of one kernel, by what an adapter needs to run them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// 32 bits.
    Narrow,
    /// 64-bit integers.
    Int64,
    /// f64.
    F64,
    /// Subjects of f32 that an `fma` plays a part in, which is chosen before.
    Fused,
    /// Subjects of f64 that an `fma` plays a part in.
    Fused64,
}

impl Kind {
    #[cfg(test)]
    pub(super) const ALL: [Self; 5] = [Self::Narrow, Self::Int64, Self::F64, Self::Fused, Self::Fused64];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Narrow => "probe operations",
            Self::Int64 => "probe int64",
            Self::F64 => "probe f64",
            Self::Fused => "probe fused",
            Self::Fused64 => "probe fused f64",
        }
    }

    /// The kind of a graph.
    fn of(f: &Func, operations: Operations) -> Self {
        let has = |ty: Ty| f.any(|_, t| t == ty);
        let fused = |ty| operations.contains(Operation::Fma(ty)) || operations.iter().any(|op| !op.is_primitive());
        match (has(Ty::F64), has(Ty::I64) || has(Ty::U64)) {
            (true, _) if fused(Ty::F64) => Self::Fused64,
            (true, _) => Self::F64,
            (_, true) => Self::Int64,
            _ if fused(Ty::F32) => Self::Fused,
            _ => Self::Narrow,
        }
    }

    /// Its subjects.
    pub(crate) fn subjects(self) -> &'static [Subject] {
        static ALL: OnceLock<[Vec<Subject>; 5]> = OnceLock::new();
        let all = ALL.get_or_init(|| {
            let mut kinds: [Vec<Subject>; 5] = Default::default();
            let single = |op: &Operation| op.func().ok().map(|f| Subject { single: Some(*op), ..Subject::new(&op.to_string(), f) });
            for subject in Operation::all().iter().filter_map(single).chain(super::compositions::all()) {
                kinds[Self::of(&subject.func, subject.operations) as usize].push(subject);
            }
            kinds
        });
        &all[self as usize]
    }

    /// The operands that its subjects are tried on.
    pub(crate) fn operands(self) -> &'static Operands {
        static NARROW: OnceLock<Operands> = OnceLock::new();
        static WIDE: OnceLock<Operands> = OnceLock::new();
        if self.is_wide() { WIDE.get_or_init(wide) } else { NARROW.get_or_init(narrow) }
    }

    fn is_wide(self) -> bool {
        matches!(self, Self::Int64 | Self::F64 | Self::Fused64)
    }
}

/// Subjects of one kernel: drivers compile several at a time, and take longer for a large one than for its parts.
const PER_KERNEL: usize = 24;

/// Some subjects of a kind, with the kernel that computes them.
#[derive(Clone)]
pub(crate) struct Trial {
    pub(crate) kind: Kind,
    pub(crate) subjects: Vec<&'static Subject>,
    pub(crate) wgsl: String,
}

/// Record of a subject that differs from its definition.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) subject: &'static Subject,
    /// Whether it does so for operands and results other than subnormal numbers.
    pub(crate) ordinary: bool,
    pub(crate) witness: String,
}

impl Trial {
    /// Builds the trials of those of the kind's subjects that are wanted.
    pub(crate) fn all(kind: Kind, dialect: Dialect, wanted: impl Fn(&Subject) -> bool) -> Result<Vec<Self>> {
        let subjects: Vec<_> = kind.subjects().iter().filter(|s| wanted(s)).collect();
        let new = |some: &[&'static Subject]| Ok(Self { kind, subjects: some.to_vec(), wgsl: wgsl(kind, some, dialect)? });
        subjects.chunks(PER_KERNEL).map(new).collect()
    }

    /// Evaluates its subjects, so that [`Self::judge`] only compares.
    pub(super) fn expect(&self) {
        self.subjects.iter().for_each(|subject| {
            subject.expected(self.kind.operands());
        });
    }

    pub(crate) fn source(&self) -> KernelSource<'_> {
        KernelSource { name: self.kind.name(), wgsl: &self.wgsl, entry: "main" }
    }

    /// Words that its kernel writes.
    pub(crate) fn results(&self) -> usize {
        self.kind.operands().all.len() * self.per_lane()
    }

    fn per_lane(&self) -> usize {
        self.subjects.iter().map(|s| s.words()).sum()
    }

    pub(crate) fn groups(&self) -> u32 {
        (self.kind.operands().all.len() / 64) as u32
    }

    /// The operands as the kernel reads them.
    pub(crate) fn input(&self) -> Vec<u32> {
        let words = |lane: &[u64; 3]| {
            let [a, b, c] = *lane;
            if self.kind.is_wide() {
                vec![a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32, c as u32, (c >> 32) as u32, 0, 0]
            } else {
                vec![a as u32, b as u32, c as u32, 0]
            }
        };
        self.kind.operands().all.iter().flat_map(words).collect()
    }

    /// The subjects of trials that differ from what they answered, compared on as many threads as there are.
    pub(super) fn judge_all(trials: &[&Self], answers: &[Vec<u8>]) -> Vec<Fault> {
        let pairs: Vec<_> = trials.iter().zip(answers).map(|(trial, answer)| (trial, answer, OnceLock::new())).collect();
        let judge = |n: usize| {
            let (trial, answer, found) = &pairs[n];
            found.get_or_init(|| trial.judge(&to_words(answer)));
        };
        beside((0..pairs.len()).map(|n| move || judge(n)), || ());
        (0..pairs.len()).for_each(judge);
        pairs.into_iter().flat_map(|(.., found)| found.into_inner().unwrap_or_default()).collect()
    }

    /// The subjects that differ, the first time that they do so for ordinary operands, or else at all.
    pub(crate) fn judge(&self, words: &[u32]) -> Vec<Fault> {
        let stride = self.per_lane();
        let mut at = 0;
        let mut faults = Vec::new();
        for &subject in &self.subjects {
            let got = |lane: usize| {
                let place = lane * stride + at;
                let low = words.get(place).copied().map(u64::from)?;
                if subject.words() == 1 { Some(low) } else { Some(low | u64::from(*words.get(place + 1)?) << 32) }
            };
            faults.extend(first_fault(subject, self.kind.operands(), got));
            at += subject.words();
        }
        faults
    }
}

/// A lane's value of a type.
fn operand(ty: Ty, bits: u64) -> u64 {
    match ty {
        Ty::Bool => bits & 1,
        _ if ty.words() == 1 => bits & 0xffff_ffff,
        _ => bits,
    }
}

fn is_subnormal(ty: Ty, bits: u64) -> bool {
    match ty {
        // The least normal number too, which a device may flush before it rounds.
        Ty::F32 => (1..=0x0080_0000).contains(&(bits & 0x7fff_ffff)),
        Ty::F64 => (1..=1 << 52).contains(&(bits & (u64::MAX >> 1))),
        _ => false,
    }
}

/// Evaluates a graph for up to [`LANES`] operands.
fn evaluate(evaluator: &mut Evaluator<'_>, f: &Func, operands: &[[u64; 3]]) {
    let load = |p: u16, out: &mut [u64]| {
        let (p, ty) = (usize::from(p), f.params[usize::from(p)].ty());
        for (o, lane) in out.iter_mut().zip(operands) {
            *o = operand(ty, lane[p]);
        }
    };
    evaluator.eval(operands.len(), load, |_, _| 0);
}

fn first_fault(subject: &'static Subject, operands: &Operands, got: impl Fn(usize) -> Option<u64>) -> Option<Fault> {
    let f = &subject.func;
    let ty = f.result_types()[0];
    let mut evaluator = None;
    let mut at_edge = None;
    for (at, (lane, &expected)) in operands.all.iter().zip(subject.expected(operands)).enumerate() {
        let found = got(at).map(|bits| canonical_nan(ty, bits));
        if found == Some(expected) {
            continue;
        }
        // Values between operands and result of a composition count too.
        let evaluator = evaluator.get_or_insert_with(|| Evaluator::new(f));
        evaluate(evaluator, f, std::slice::from_ref(lane));
        let ordinary = !(0..).zip(&f.types).any(|(id, &ty)| is_subnormal(ty, evaluator.node(id)[0]));
        let fault = || {
            let args = f.params.iter().zip(lane).map(|(p, &bits)| format!("{:#x}", operand(p.ty(), bits))).collect::<Vec<_>>().join(", ");
            let found = found.map_or_else(|| "nothing".to_owned(), |bits| format!("{bits:#x}"));
            Fault { subject, ordinary, witness: format!("{} of {args} gave {found}, expected {expected:#x}", subject.name) }
        };
        if ordinary {
            return Some(fault());
        }
        at_edge.get_or_insert_with(fault);
    }
    at_edge
}

fn wgsl(kind: Kind, subjects: &[&Subject], dialect: Dialect) -> Result<String> {
    let (mut functions, mut calls, mut body) = (String::new(), BTreeSet::new(), String::new());
    let mut at = 0;
    for (k, subject) in subjects.iter().enumerate() {
        functions.push_str(&wgsl_function(&subject.func, &format!("subject{k}"), dialect.options(Numerics::Strict), &mut calls));
        let value = |(p, ty): (usize, Ty)| {
            let (low, high) = match (p, kind.is_wide()) {
                (_, false) => (["v.x", "v.y", "v.z"][p], ""),
                (_, true) => [("v.x", "v.y"), ("v.z", "v.w"), ("w.x", "w.y")][p],
            };
            if ty == Ty::Bool { format!("(({low} & 1u) != 0u)") } else { from_words(ty, low, high) }
        };
        let args: Vec<String> = subject.func.params.iter().map(|p| p.ty()).enumerate().map(value).collect();
        let result = format!("subject{k}({})", args.join(", "));
        let ty = subject.func.result_types()[0];
        let _ = match (ty, ty.words()) {
            (Ty::Bool, _) => writeln!(body, "    results[base + {at}u] = select(0u, 1u, {result});"),
            (_, 1) => writeln!(body, "    results[base + {at}u] = bitcast<u32>({result});"),
            _ => writeln!(
                body,
                "    let r{k} = bitcast<u64>({result});\n    results[base + {at}u] = u32(r{k} & 0xfffffffflu);\n    results[base + {}u] = u32(r{k} >> 32u);",
                at + 1
            ),
        };
        at += subject.words();
    }
    let prelude = isowarp_shaders::prelude(&calls, &mut |name| dialect.resolve(name))
        .map_err(|e| Error::Compile { kernel: kind.name().to_owned(), log: e.to_string() })?;
    let load = if kind.is_wide() { "let v = words[id.x * 2u];\n    let w = words[id.x * 2u + 1u];" } else { "let v = words[id.x];" };
    Ok(format!(
        "struct Args {{
    base: u32,
    base_high: u32,
}}
var<immediate> args: Args;
@group(0) @binding(0) var<storage, read> words: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> results: array<u32>;
{prelude}{functions}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    {load}
    let base = id.x * {at}u;
{body}}}
"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_of_the_ir_is_a_subject() {
        for &op in Operation::all() {
            let found = Kind::ALL.iter().flat_map(|k| k.subjects()).filter(|s| s.single == Some(op)).count();
            assert_eq!(found, 1, "{op}");
        }
    }

    #[test]
    fn operands_fill_workgroups() {
        for kind in Kind::ALL {
            assert!(kind.operands().all.len().is_multiple_of(64), "{kind:?}");
        }
    }
}
