//! Measuring an adapter's arithmetic when it is opened.
//!
//! The probe's kernels take the way that all kernels take (sealed where that is possible), so its verdict is about the form that
//! kernels run in.

mod bench;
mod caps;
mod checks;
mod compositions;
mod fma;
mod lanes;
pub(crate) mod matrices;
mod operands;
pub(crate) mod operations;
pub(crate) mod seeds;
pub(crate) mod shapes;
mod verdict;
mod wide;

use crate::context::Context;
use crate::patterns::Dialect;
use crate::pipeline::{KernelSource, Pipelines};
use crate::seal::{FloatControls, SealOptions};
pub(crate) use bench::web_time;
use bench::{Bench, as_bytes, to_words};
pub(crate) use caps::caps;
use checks::{TABLE, Triples};
use fma::Proof;
pub(crate) use fma::{FMA_BITS, FMA_GUARD, FMA_GUARD_4};
pub use fma::{fma_prelude, fma64_prelude};
use isowarp_core::caps::{FmaKind, NumericsVerdict};
use isowarp_core::element::Ty;
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::{BinOp, Operation, Operations, UnOp};
use operations::{Kind, Trial};
use parking_lot::Mutex;
pub use seeds::{Seed, Seeds};
use std::sync::Arc;
use std::time::Duration;
use verdict::Faults;

/// Measurements of the start-up probe.
#[derive(Clone, Debug)]
pub struct Report {
    /// Whether kernels are sealed SPIR-V.
    pub sealed: bool,
    /// Execution modes that kernels ask for.
    pub controls: FloatControls,
    /// The verdict on f32 and 32-bit integers.
    pub numerics: NumericsVerdict,
    /// Way in which `fma` is computed.
    pub fma: FmaKind,
    /// Whether the adapter's own `fma` is fused (it may still flush subnormals).
    pub fma_is_fused: bool,
    /// Whether everything but `fma` keeps subnormal numbers as the adapter has it.
    pub sums_keep_subnormals: bool,
    /// Operations that the adapter gets wrong, which operators have in their exact forms.
    pub repairs: Operations,
    /// Operations that are wrong in their exact forms too, or have none, each with a witness: refused in `Numerics::Strict`.
    pub unproven: Vec<(Operation, String)>,
    /// Whether an open `a * b + c` is contracted or factored.
    pub contracts: bool,
    /// Whether a literal zero is folded as if it had no sign (`x + 0.0`, `0.0 - x`, `x * 0.0`), sealed or not; lowered kernels then
    /// have to take zeros from memory or parameters.
    pub folds_zero: bool,
    /// Whether `x != x` fails for NaN (naga writes the ordered comparison; sealing replaces it).
    pub folds_nan_test: bool,
    /// Whether the adapter's division was correctly rounded on every input tried.
    pub division_rounds: bool,
    /// Whether the adapter's square root was correctly rounded on every input tried.
    pub sqrt_rounds: bool,
    /// Seeds that division and square root of f32 start from; checked for every mantissa.
    pub seeds: Seeds,
    /// f64, where the adapter has it.
    pub f64: Option<F64Report>,
    /// 64-bit integers, where the adapter has them: whether what this library's own kernels need of them computes as defined.
    pub int64: Option<bool>,
    /// Subgroups, where the adapter has them.
    pub subgroup: Option<SubgroupReport>,
    /// One witness for everything that differs from its definition, facts included.
    pub witnesses: Vec<String>,
    /// Duration of the probe.
    pub elapsed: Duration,
}

/// Findings of the probe about f64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct F64Report {
    /// Whether every operation is IEEE, subnormal numbers included.
    pub arithmetic: bool,
    /// Whether `fma` is fused.
    pub fma_is_fused: bool,
    /// Whether division was correctly rounded on every input tried.
    pub division_rounds: bool,
    /// Whether the square root was correctly rounded on every input tried.
    pub sqrt_rounds: bool,
}

/// Findings of the probe about subgroups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubgroupReport {
    /// Lanes in the subgroups of a workgroup of 256.
    pub size: u32,
    /// Whether invocation `i` of a one-dimensional workgroup is lane `i % size` of subgroup `i / size`, and all subgroups are full.
    pub linear: bool,
    /// Whether shuffles, ballots and scans give what they should (on a linear layout), also after invocations have gone different ways.
    pub works: bool,
}

/// Formats what tells adapters apart, and what they were asked: the driver's own words, the features, and how kernels are sealed.
fn identity(context: &Context) -> String {
    let asked = (context.seal, context.keep_subnormals, context.fma);
    format!("{:?} {:?} {asked:?}", context.info, context.features)
}

/// Runs the probe, or takes what it found before in this process: an adapter's arithmetic does not change while its driver is loaded.
pub(crate) async fn run(context: &mut Context) -> Result<Report> {
    static FOUND: Mutex<Vec<(String, Report, Option<SealOptions>)>> = Mutex::new(Vec::new());
    let start = web_time();
    let identity = identity(context);
    let found = FOUND.lock().iter().find(|f| f.0 == identity).map(|f| (f.1.clone(), f.2));
    if let Some((report, seal)) = found {
        context.seal = seal;
        return Ok(Report { elapsed: start(), ..report });
    }
    let report = measure(context).await?;
    log::debug!("probe of {}: {:?} in {:.1} ms", context.info.name, report.numerics, start().as_secs_f64() * 1e3);
    FOUND.lock().push((identity, report.clone(), context.seal));
    Ok(report)
}

/// Measures. Where the driver refuses sealed modules, less is asked of it, step by step, and `context` keeps what worked.
async fn measure(context: &mut Context) -> Result<Report> {
    let Some(reported) = context.seal.map(|s| s.controls) else { return attempt(context).await };
    // NVIDIA's driver (580.159 on an H200) does not report DenormPreserve for f32, flushes without it, and with it keeps the
    // subnormals of everything but its extended instructions (fma, min, max). What counts is what the probe then measures.
    let nvidia = context.info.vendor == 0x10de && context.info.driver == "NVIDIA";
    if nvidia && !reported.denorm_preserve_32 {
        if let Some(options) = &mut context.seal {
            options.controls.denorm_preserve_32 = true;
        }
        match attempt(context).await {
            Ok(report) if report.sums_keep_subnormals => return Ok(report),
            other => log::info!("asking for subnormal f32 unreported did not help: {:?}", other.map(|r| r.numerics)),
        }
        context.seal = context.seal.map(|s| SealOptions { controls: reported, contract_fma: false, ..s });
    }
    attempt(context).await
}

/// Questions that are asked before anything is known.
struct Questions {
    facts: String,
    facts_f64: Option<String>,
    lanes: bool,
    trials: Vec<Trial>,
    shapes: String,
}

impl Questions {
    fn of(context: &Context) -> Result<Self> {
        let has = |feature| context.features.contains(feature);
        let int64 = has(wgpu::Features::SHADER_INT64);
        // Kernels take f64 apart in 64-bit integers.
        let f64 = int64 && has(wgpu::Features::SHADER_F64);
        let kinds = [(true, Kind::Narrow), (int64, Kind::Int64), (f64, Kind::F64)];
        let plain = Dialect { int64, ..Dialect::PLAIN };
        Ok(Self {
            facts: checks::wgsl(),
            facts_f64: f64.then(wide::wgsl),
            lanes: has(wgpu::Features::SUBGROUP),
            trials: kinds
                .into_iter()
                .filter(|k| k.0)
                .map(|(_, kind)| Trial::all(kind, plain, |_| true))
                .collect::<Result<Vec<_>>>()?
                .concat(),
            shapes: shapes::wgsl(fma_prelude(FmaKind::Native)),
        })
    }

    fn sources(&self) -> Vec<(&str, &str)> {
        let mut all = vec![("probe", &*self.facts), (fma::NAME, &*self.shapes)];
        all.extend(self.facts_f64.as_deref().map(|text| ("probe facts of f64", text)));
        all.extend(self.lanes.then_some(("probe subgroups", lanes::WGSL)));
        all.extend(self.trials.iter().map(|t| (t.kind.name(), &*t.wgsl)));
        all
    }
}

/// Kernels of the driver, sealed as it lets them be, and the first of them enqueued.
fn start_bench(context: &mut Context, questions: &Questions, triples: &Triples) -> Result<(Bench, Arc<Pipelines>)> {
    let (likely, fused) = likely(context)?;
    let expectations: Vec<_> = questions.trials.iter().chain(&fused).map(|trial| || trial.expect()).collect();
    let expectations: Vec<&(dyn Fn() + Sync)> = expectations.iter().map(|e| e as _).collect();
    loop {
        let pipelines = Arc::new(Pipelines::default());
        let ahead = questions.sources().into_iter().chain(likely.iter().map(|(n, w)| (*n, &**w)));
        let mut ahead: Vec<_> = ahead.map(|(name, wgsl)| KernelSource { name, wgsl, entry: "main" }).collect();
        ahead.extend(fused.iter().map(Trial::source));
        // The longest first, which the others are compiled beside.
        ahead.sort_by_key(|source| core::cmp::Reverse(source.wgsl.len()));
        pipelines.prepare_beside(context, &ahead, &expectations);
        let mut bench = Bench::new(&pipelines);
        match bench.enqueue(context, "probe", &questions.facts, as_bytes(&triples.words), TABLE.len() * triples.words.len(), 4) {
            Ok(()) => return Ok((bench, pipelines)),
            Err(Error::Compile { log, .. }) => match &mut context.seal {
                Some(options) if options.controls != FloatControls::default() => {
                    log::warn!("the driver refuses float controls: {log}");
                    options.controls = FloatControls::default();
                }
                Some(_) => {
                    log::warn!("the driver refuses sealed modules: {log}");
                    context.seal = None;
                }
                None => return Err(Error::Compile { kernel: "probe".to_owned(), log }),
            },
            Err(other) => return Err(other),
        }
    }
}

async fn attempt(context: &mut Context) -> Result<Report> {
    let start = web_time();
    let phase = |name| log::debug!("probe: {name} after {:.1} ms", start().as_secs_f64() * 1e3);
    let triples = checks::triples();
    let questions = Questions::of(context)?;
    phase("questions written");
    let (mut bench, pipelines) = start_bench(context, &questions, &triples)?;
    phase("kernels compiled");
    bench.enqueue(context, fma::NAME, &questions.shapes, as_bytes(&triples.words), shapes::SHAPES.len() * triples.words.len(), 4)?;
    let lanes = lanes::values();
    let subgroup = questions.lanes
        && bench
            .enqueue(context, "probe subgroups", lanes::WGSL, bytemuck::cast_slice(&lanes), lanes.len() * lanes::WORDS, 4)
            .inspect_err(|e| log::warn!("no subgroups: {e}"))
            .is_ok();
    let pairs = wide::pairs();
    let f64 = questions.facts_f64.as_ref().is_some_and(|text| {
        bench
            .enqueue(context, "probe facts of f64", text, bytemuck::cast_slice(&pairs), wide::F64.len() * pairs.len() / 2, 8)
            .inspect_err(|e| log::warn!("no f64: {e}"))
            .is_ok()
    });
    let (mut tried, mut missing) = (Vec::new(), Vec::new());
    for trial in &questions.trials {
        match bench.enqueue_trial(context, trial) {
            Ok(()) => tried.push(trial),
            Err(error) if trial.kind == Kind::Narrow => return Err(error),
            Err(error) => {
                // A wide type whose kernel does not compile is a type that the adapter does not have.
                log::warn!("{}: {error}", trial.kind.name());
                missing.push(trial.kind);
            }
        }
    }
    phase("enqueued");
    let mut results = bench.finish(context).await?.into_iter();
    phase("answered");
    let mut next = || results.next().unwrap_or_default();
    let facts = to_words(&next());
    let shapes = to_words(&next());
    let subgroup = subgroup.then(|| lanes::report(&to_words(&next())));
    let facts_f64 = f64.then(&mut next);
    let mut faults = Faults::default();
    faults.extend(Trial::judge_all(&tried, &tried.iter().map(|_| next()).collect::<Vec<_>>()));
    let has = |kind| tried.iter().any(|t| t.kind == kind) && !missing.contains(&kind);

    let fact = |name| first_failure(&triples, &facts, name, triples.normal).is_none();
    let mut witnesses: Vec<String> =
        TABLE.iter().filter_map(|t| first_failure(&triples, &facts, t.name, triples.words.len())).chain(faults.witnesses()).collect();
    if let Some(witness) = fault_of_kernels(&triples, &facts) {
        return Err(Error::NotStrict { device: context.info.name.clone(), witness });
    }
    let sums_keep_subnormals = faults.spare(Kind::Narrow);
    let int64 = has(Kind::Int64).then(|| !faults.reach(verdict::needs_of_int64));
    let f64 = facts_f64.filter(|_| has(Kind::F64)).map(|bytes| f64_report(&bytes, &faults));
    let mut dialect = Dialect { int64: int64 == Some(true), ..Dialect::PLAIN };
    let kinds: Vec<Kind> = [Kind::Narrow, Kind::Int64, Kind::F64].into_iter().filter(|&k| has(k)).collect();
    dialect.repairs = verdict::repair(context, &pipelines, dialect, &kinds, &mut faults).await?;

    phase("judged");
    let mut numerics = faults.verdict();
    let native = fma::proof_of_shapes(&triples, &shapes);
    let fused = fact(checks::FMA) && !matches!(native, Proof::Wrong(_));
    let choice = fma::choose(context, &pipelines, &triples, native, f64.is_some(), &mut numerics, &mut witnesses).await?;
    faults.choose_fma(&choice);
    let fma = choice.kind;
    if fma == FmaKind::ViaInteger {
        // Digit by digit they cost less than over such an `fma`, to compile and to run.
        dialect.repairs.insert(Operation::Un(UnOp::Sqrt, Ty::F32));
        dialect.repairs.insert(Operation::Bin(BinOp::Div, Ty::F32));
    }
    phase("fma chosen");
    let seeds = if choice.wrong.is_none() { seeds::choose(context, &pipelines, fma).await } else { Seeds::NONE };
    phase("seeds chosen");
    let over_fma = Dialect { fma, ..dialect.with_f64(f64.as_ref()) };
    let kinds = [Kind::Fused, Kind::Fused64];
    let kinds = if f64.is_some() { &kinds[..] } else { &kinds[..1] };
    let found = verdict::run(context, &pipelines, over_fma, kinds, |_| true).await?;
    witnesses.extend(found.iter().map(|f| f.witness.clone()));
    faults.extend(found);
    numerics = faults.verdict_after(numerics);
    Ok(Report {
        sealed: context.seal.is_some(),
        controls: context.seal.map(|s| s.controls).unwrap_or_default(),
        fma,
        fma_is_fused: fused,
        sums_keep_subnormals,
        repairs: dialect.repairs,
        unproven: faults.unproven(context.keep_subnormals, &numerics),
        contracts: !(fact(checks::CONTRACTED) && fact("a * k + b * k")),
        folds_zero: !checks::ZEROS.iter().all(|name| fact(name)),
        folds_nan_test: !fact(checks::NAN_TEST),
        division_rounds: fact("a / b"),
        sqrt_rounds: fact("sqrt(a)"),
        seeds,
        numerics,
        f64,
        int64,
        subgroup,
        witnesses,
        elapsed: start(),
    })
}

/// Kernels and trials that a GPU is likely to be asked for once the first answers are there.
fn likely(context: &Context) -> Result<(Vec<(&'static str, String)>, Vec<Trial>)> {
    if !seeds::can_pay(context) {
        return Ok((Vec::new(), Vec::new()));
    }
    let mut fused = Vec::new();
    let mut out: Vec<_> = seeds::wgsl(seeds::RANGES.len()).ok().map(|text| (seeds::NAME, text)).into_iter().collect();
    if context.fma.is_none() && context.keep_subnormals {
        out.push((fma::NAME, checks::fma_wgsl(fma_prelude(FmaKind::Guarded))));
        let int64 = context.features.contains(wgpu::Features::SHADER_INT64);
        let f64 = int64 && context.features.contains(wgpu::Features::SHADER_F64);
        let wide = F64Report { arithmetic: f64, fma_is_fused: f64, division_rounds: f64, sqrt_rounds: f64 };
        let guarded = Dialect { fma: FmaKind::Guarded, int64, ..Dialect::PLAIN }.with_f64(Some(&wide));
        let kinds = if f64 { &[Kind::Fused, Kind::Fused64][..] } else { &[Kind::Fused][..] };
        for &kind in kinds {
            fused.extend(Trial::all(kind, guarded, |_| true)?);
        }
    }
    Ok((out, fused))
}

/// The first of the triples that a fact does not hold for.
fn first_failure(triples: &Triples, words: &[u32], name: &str, until: usize) -> Option<String> {
    let (n, check) = TABLE.iter().enumerate().find(|(_, c)| c.name == name)?;
    triples.words[..until].iter().enumerate().find_map(|(at, &triple)| {
        let [x, y, z, _] = triple;
        let expected = (check.expect)(x, y, z)?;
        let got = words.get(at * TABLE.len() + n).copied().unwrap_or(!expected);
        (!checks::same(expected, got)).then(|| describe(check.name, triple, expected, got))
    })
}

/// The first wrong answer about what no kernel of the library can do without.
fn fault_of_kernels(triples: &Triples, words: &[u32]) -> Option<String> {
    let own = TABLE.iter().skip_while(|check| check.name != checks::OWN);
    own.filter_map(|check| first_failure(triples, words, check.name, triples.words.len())).next()
}

fn describe(name: &str, [x, y, z, _]: [u32; 4], expected: u32, got: u32) -> String {
    format!("{name} of {x:#010x}, {y:#010x}, {z:#010x} gave {got:#010x}, expected {expected:#010x}")
}

/// Whether a fact holds for every pair.
fn holds(name: &str, bytes: &[u8]) -> bool {
    let got: Vec<u64> = bytes.chunks_exact(8).filter_map(|c| c.try_into().ok()).map(u64::from_le_bytes).collect();
    let Some((n, check)) = wide::F64.iter().enumerate().find(|(_, c)| c.name == name) else { return false };
    wide::pairs().chunks_exact(2).enumerate().all(|(at, pair)| {
        let expected = (check.expect)(pair[0], pair[1]);
        got.get(at * wide::F64.len() + n).is_some_and(|&got| wide::canon(f64::from_bits(got)) == expected)
    })
}

fn f64_report(bytes: &[u8], faults: &Faults) -> F64Report {
    F64Report {
        arithmetic: faults.spare(Kind::F64),
        fma_is_fused: holds("fma(a, b, a)", bytes),
        division_rounds: holds("a / b", bytes),
        sqrt_rounds: holds("sqrt(a)", bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_gets_what_kernels_stand_on_wrong_is_found_with_its_witness() {
        let triples = checks::triples();
        let right: Vec<u32> = triples
            .words
            .iter()
            .flat_map(|&[x, y, z, _]| TABLE.iter().map(move |check| (check.expect)(x, y, z).unwrap_or_default()))
            .collect();
        assert_eq!(fault_of_kernels(&triples, &right), None);
        let first = TABLE.iter().position(|check| check.name == checks::OWN).expect("the table has it");
        for (n, check) in TABLE.iter().enumerate() {
            let mut wrong = right.clone();
            wrong[77 * TABLE.len() + n] ^= 4;
            let found = fault_of_kernels(&triples, &wrong);
            assert_eq!(found.is_some_and(|witness| witness.starts_with(check.name)), n >= first, "{}", check.name);
        }
        assert!(TABLE.len() > first + 10);
    }
}
