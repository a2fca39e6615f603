//! From what differs to what is repaired, refused, or good for all but subnormal numbers.

use super::bench::Bench;
use super::fma::Choice;
use super::operations::{Fault, Kind, Subject, Trial};
use crate::context::Context;
use crate::patterns::Dialect;
use crate::pipeline::Pipelines;
use isowarp_core::caps::NumericsVerdict;
use isowarp_core::element::Ty;
use isowarp_core::error::Result;
use isowarp_core::ir::{BinOp, Operation, Operations, UnOp};
use std::sync::Arc;

/// Subjects that differ from their definitions.
#[derive(Default)]
pub(super) struct Faults {
    all: Vec<Fault>,
    /// The reason that no `fma` is exact.
    fma: Option<String>,
    /// A witness that the `fma` that was chosen takes subnormal numbers for zeros.
    flushing_fma: Option<String>,
}

/// Checks whether this library's own kernels take 64-bit integers for granted in an operation: positions, sorted keys, f64 in parts.
pub(super) fn needs_of_int64(op: Operation) -> bool {
    let wide = |ty| matches!(ty, Ty::I64 | Ty::U64);
    match op {
        Operation::Bin(BinOp::Div | BinOp::Rem | BinOp::Min | BinOp::Max, _) => false,
        Operation::Bin(_, ty) | Operation::Select(ty) => wide(ty),
        Operation::Cast(a, b) | Operation::Bitcast(a, b) => (wide(a) || wide(b)) && !a.is_float() && !b.is_float(),
        Operation::Un(..) | Operation::Fma(_) => false,
    }
}

/// Whether a subnormal operand or result is all that can make the operation wrong, so that it may be left as it is where subnormal numbers need not be
/// kept.
fn is_sum(op: Operation) -> bool {
    matches!(op, Operation::Bin(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::MulRn, Ty::F32 | Ty::F64))
}

impl Faults {
    pub(super) fn extend(&mut self, more: impl IntoIterator<Item = Fault>) {
        self.all.extend(more);
    }

    pub(super) fn witnesses(&self) -> impl Iterator<Item = String> {
        self.all.iter().map(|f| f.witness.clone())
    }

    /// Whether nothing of this kind differs.
    pub(super) fn spare(&self, kind: Kind) -> bool {
        !self.all.iter().any(|f| kind.subjects().iter().any(|s| std::ptr::eq(s, f.subject)))
    }

    /// Whether one of these operations differs.
    pub(super) fn reach(&self, which: impl Fn(Operation) -> bool) -> bool {
        self.all.iter().any(|f| f.subject.single.is_some_and(&which))
    }

    /// The verdict on 32 bits; wider types are refused operation by operation.
    pub(super) fn verdict(&self) -> NumericsVerdict {
        let narrow = || self.all.iter().filter(|f| !f.subject.func.any(|_, ty| ty.words() == 2));
        match (narrow().find(|f| f.ordinary), narrow().next()) {
            (Some(f), _) => NumericsVerdict::Unproven { witness: f.witness.clone() },
            (None, Some(f)) => {
                log::info!("subnormal numbers are not kept: {}", f.witness);
                NumericsVerdict::StrictNormal
            }
            (None, None) => NumericsVerdict::Strict,
        }
    }

    /// The verdict, no better than one that was given before.
    pub(super) fn verdict_after(&self, before: NumericsVerdict) -> NumericsVerdict {
        match (&before, self.verdict()) {
            (NumericsVerdict::Strict, now) => now,
            (NumericsVerdict::StrictNormal, now @ NumericsVerdict::Unproven { .. }) => now,
            _ => before,
        }
    }

    /// Takes note of what the `fma` that was chosen lacks.
    pub(super) fn choose_fma(&mut self, choice: &Choice) {
        self.fma.clone_from(&choice.wrong);
        self.flushing_fma.clone_from(&choice.flushes);
    }

    /// Lists the operations that cannot be trusted, each with a witness. Those that lose subnormal numbers are among them where these have to be kept and no
    /// verdict says that they are not: there is none on wider types alone, and `Unproven` says nothing of them, where `StrictNormal` does.
    pub(super) fn unproven(&self, keep_subnormals: bool, verdict: &NumericsVerdict) -> Vec<(Operation, String)> {
        let silent = keep_subnormals && matches!(verdict, NumericsVerdict::Unproven { .. });
        let is_wide = |f: &Fault| f.subject.func.any(|_, ty| ty.words() == 2);
        let of_fma = self.fma.as_ref().or(self.flushing_fma.as_ref().filter(|_| silent));
        let mut out = Vec::new();
        let mut seen = Operations::NONE;
        let mut refuse = |op, witness: &String, seen: &mut Operations| {
            if !seen.contains(op) {
                seen.insert(op);
                out.push((op, witness.clone()));
            }
        };
        of_fma.iter().for_each(|witness| refuse(Operation::Fma(Ty::F32), witness, &mut seen));
        for f in self.all.iter().filter(|f| f.ordinary || (keep_subnormals && is_wide(f))) {
            blamed(f.subject).into_iter().for_each(|op| refuse(op, &f.witness, &mut seen));
        }
        if silent {
            // Operations first: they account for the compositions that are made of them.
            let (single, composed): (Vec<_>, Vec<_>) =
                self.all.iter().filter(|f| !f.ordinary && !is_wide(f)).partition(|f| f.subject.single.is_some());
            for f in single.into_iter().chain(composed) {
                if f.subject.single.is_some() || !f.subject.operations.iter().any(|op| seen.contains(op)) {
                    blamed(f.subject).into_iter().for_each(|op| refuse(op, &f.witness, &mut seen));
                }
            }
        }
        out
    }
}

/// The operation to mend where a product was fused with the sum that it meets: the rounded product.
fn contracted(subject: &Subject) -> Option<Operation> {
    let is_product = |op: &Operation| matches!(op, Operation::Bin(BinOp::MulRn, _));
    subject.func.has_open_product().then(|| subject.operations.iter().find(is_product)).flatten()
}

/// Lists what is refused for a subject that differs: the operation, or where a composition of ones that pass is wrong, all that computes floats
/// of this type, since then the compiler takes liberties with them, and what else the composition is made of.
fn blamed(subject: &Subject) -> Vec<Operation> {
    if let Some(op) = subject.single.or_else(|| contracted(subject)) {
        return vec![op];
    }
    let own: Vec<Operation> = subject.operations.iter().collect();
    let float = [Ty::F64, Ty::F32].into_iter().find(|&ty| subject.func.any(|_, t| t == ty));
    let Some(float) = float else { return own };
    let computes = |op: &Operation| match *op {
        Operation::Un(op, ty) => ty == float && op != UnOp::IsNan,
        Operation::Bin(op, ty) => ty == float && !op.is_comparison(),
        Operation::Fma(ty) | Operation::Cast(_, ty) => ty == float,
        Operation::Select(_) | Operation::Bitcast(..) => false,
    };
    let others = Operation::all().iter().copied().filter(computes);
    own.into_iter().filter(|op| op.is_of_floats()).chain(others).collect()
}

/// Tries some subjects of these kinds.
pub(super) async fn run(
    context: &Context,
    pipelines: &Arc<Pipelines>,
    dialect: Dialect,
    kinds: &[Kind],
    wanted: impl Fn(&Subject) -> bool,
) -> Result<Vec<Fault>> {
    let mut bench = Bench::new(pipelines);
    let mut trials = Vec::new();
    for &kind in kinds {
        trials.extend(Trial::all(kind, dialect, &wanted)?);
    }
    if trials.is_empty() {
        return Ok(Vec::new());
    }
    let sources: Vec<_> = trials.iter().map(Trial::source).collect();
    pipelines.prepare(context, &sources);
    for trial in &trials {
        bench.enqueue_trial(context, trial)?;
    }
    let results = bench.finish(context).await?;
    Ok(Trial::judge_all(&trials.iter().collect::<Vec<_>>(), &results))
}

/// Puts exact forms in the place of operations that differ, and tries these, and what is made of them. Returns those that hold; what still differs stays
/// a fault.
pub(super) async fn repair(
    context: &Context,
    pipelines: &Arc<Pipelines>,
    dialect: Dialect,
    kinds: &[Kind],
    faults: &mut Faults,
) -> Result<Operations> {
    let repairable = |f: &Fault, op| {
        let left = !f.ordinary && is_sum(op) && !context.keep_subnormals;
        (!left && isowarp_shaders::snippet(&format!("iw_exact_{op}")).is_some()).then_some(op)
    };
    let mut repairs: Operations = faults.all.iter().filter_map(|f| repairable(f, f.subject.single?)).collect();
    // Where the operations are right alone.
    let right = |op| !faults.reach(|other| other == op);
    for f in faults.all.iter().filter(|f| f.subject.single.is_none() && f.subject.operations.iter().all(right)) {
        if let Some(op) = contracted(f.subject).and_then(|op| repairable(f, op)) {
            repairs.insert(op);
        }
    }
    if !dialect.int64 && faults.reach(needs_of_int64) {
        // The trials were made of 64-bit integers.
        repairs.insert(Operation::Bin(BinOp::MulHi, Ty::U32));
    }
    if repairs.is_empty() {
        return Ok(repairs);
    }
    log::info!("in exact forms: {}", repairs.iter().map(|op| op.to_string()).collect::<Vec<_>>().join(", "));
    let again = |s: &Subject| s.operations.iter().any(|op| repairs.contains(op));
    let found = run(context, pipelines, Dialect { repairs, ..dialect }, kinds, again).await?;
    faults.all.retain(|f| !again(f.subject));
    let failed: Operations = found.iter().filter_map(|f| f.subject.single).collect();
    faults.extend(found);
    Ok(repairs.iter().filter(|&op| !failed.contains(op)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use isowarp_core::caps::FmaKind;

    #[test]
    fn a_rounded_product_that_meets_a_sum_is_what_is_to_blame_for_contraction() {
        let mut found: Vec<(&str, Vec<Operation>)> = Vec::new();
        for subject in Kind::ALL.iter().flat_map(|kind| kind.subjects()).filter(|s| contracted(s).is_some()) {
            found.push((&subject.name, blamed(subject)));
        }
        let (f32s, f64s) = (vec![Operation::Bin(BinOp::MulRn, Ty::F32)], vec![Operation::Bin(BinOp::MulRn, Ty::F64)]);
        let expected =
            [("(a * b) + c", &f32s), ("a * b - b * c", &f32s), ("a * a - a * a", &f32s), ("(d * e) + d", &f64s), ("d * d - e * e", &f64s)];
        assert_eq!(found, expected.map(|(name, of)| (name, of.clone())));
        assert!(isowarp_shaders::snippet(&format!("iw_exact_{}", f32s[0])).is_some());
    }

    fn subject(name: &str) -> &'static Subject {
        let found = Kind::ALL.iter().flat_map(|kind| kind.subjects()).find(|s| s.name == name);
        found.expect("subjects are named by operations and compositions that `operations.rs` lists")
    }

    #[test]
    fn what_loses_subnormal_numbers_is_refused_where_the_verdict_does_not_say_so() {
        let (fma, add, sqrt) = (Operation::Fma(Ty::F32), Operation::Bin(BinOp::Add, Ty::F32), Operation::Un(UnOp::Sqrt, Ty::F32));
        let fault = |op: &str, ordinary| Fault { subject: subject(op), ordinary, witness: format!("{op} differs") };
        let flushes = Choice { kind: FmaKind::Native, wrong: None, flushes: Some("fma flushes".to_owned()) };
        let listed = |faults: &Faults, keep| {
            let unproven = faults.unproven(keep, &faults.verdict());
            unproven.iter().map(|(op, witness)| (*op, witness.clone())).collect::<Vec<_>>()
        };
        let mut faults = Faults::default();
        faults.choose_fma(&flushes);
        faults.extend([fault(&fma.to_string(), false), fault(&add.to_string(), false), fault("(a + b) + c", false)]);
        // The verdict says it.
        assert_eq!(faults.verdict(), NumericsVerdict::StrictNormal);
        assert_eq!(listed(&faults, true), []);
        // Another fault takes its place.
        faults.extend([fault(&sqrt.to_string(), true)]);
        assert!(matches!(faults.verdict(), NumericsVerdict::Unproven { witness } if witness == format!("{sqrt} differs")));
        let refused = [(fma, "fma flushes".to_owned()), (sqrt, format!("{sqrt} differs")), (add, format!("{add} differs"))];
        assert_eq!(listed(&faults, true), refused);
        // The caller gave up on them.
        assert_eq!(listed(&faults, false), [refused[1].clone()]);
        // An operator of the flushing `fma` alone has the witness.
        let witness = |f: &isowarp_core::ir::Func| refused.iter().find(|(op, _)| f.operations().contains(*op)).map(|(_, w)| w.as_str());
        assert_eq!(witness(&fma.func().expect("an operator")), Some("fma flushes"));
    }

    #[test]
    fn a_composition_that_alone_loses_subnormal_numbers_refuses_what_it_is_made_of() {
        let mut faults = Faults::default();
        faults.extend([Fault { subject: subject("(a + b) - a"), ordinary: false, witness: "it flushes".to_owned() }]);
        let unproven = faults.unproven(true, &NumericsVerdict::Unproven { witness: "something else".to_owned() });
        let sub = Operation::Bin(BinOp::Sub, Ty::F32);
        assert!(unproven.iter().any(|(op, witness)| *op == sub && witness == "it flushes"), "{unproven:?}");
        assert_eq!(faults.unproven(true, &NumericsVerdict::StrictNormal), []);
    }
}
