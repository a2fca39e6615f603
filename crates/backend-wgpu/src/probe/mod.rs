//! Measuring an adapter's arithmetic when it is opened.
//!
//! The probe's kernels take the way that all kernels take (sealed where that is possible), so its verdict is about the form that
//! kernels run in.

mod bench;
mod caps;
mod checks;
mod fma;
mod lanes;
pub(crate) mod seeds;
pub(crate) mod shapes;
mod wide;

use crate::context::Context;
use crate::pipeline::{KernelSource, Pipelines};
use crate::seal::{FloatControls, SealOptions};
pub(crate) use bench::web_time;
use bench::{Bench, as_bytes, to_words};
pub(crate) use caps::caps;
use checks::{Check, TABLE, Triples};
use fma::Proof;
pub(crate) use fma::{FMA_BITS, FMA_GUARD, FMA_GUARD_4};
pub use fma::{fma_prelude, fma64_prelude};
use isowarp_core::caps::{FmaKind, NumericsVerdict};
use isowarp_core::error::{Error, Result};
pub use seeds::{Seed, Seeds};
use std::sync::Arc;
use std::time::Duration;
use wide::Wide;

/// What the start-up probe measured.
#[derive(Clone, Debug)]
pub struct Report {
    /// Whether kernels are sealed SPIR-V.
    pub sealed: bool,
    /// Execution modes that kernels ask for.
    pub controls: FloatControls,
    /// The verdict on f32 and 32-bit integers.
    pub numerics: NumericsVerdict,
    /// How `fma` is computed.
    pub fma: FmaKind,
    /// Whether the adapter's own `fma` is fused (it may still flush subnormals).
    pub fma_is_fused: bool,
    /// Whether everything but `fma` is proven for subnormals too: then patterns without products next to sums are strict in full.
    pub sums_keep_subnormals: bool,
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
    /// What division and square root of f32 start from; checked for every mantissa.
    pub seeds: Seeds,
    /// f64, where the adapter has it.
    pub f64: Option<F64Report>,
    /// 64-bit integers, where the adapter has them: whether they compute as defined.
    pub int64: Option<bool>,
    /// Subgroups, where the adapter has them.
    pub subgroup: Option<SubgroupReport>,
    /// One witness for everything that differs from its definition, facts included.
    pub witnesses: Vec<String>,
    /// How long the probe took.
    pub elapsed: Duration,
}

/// What the probe found about f64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct F64Report {
    /// Whether sums, products and conversions are IEEE.
    pub arithmetic: bool,
    /// Whether `fma` is fused.
    pub fma_is_fused: bool,
    /// Whether division was correctly rounded on every input tried.
    pub division_rounds: bool,
    /// Whether the square root was correctly rounded on every input tried.
    pub sqrt_rounds: bool,
}

/// What the probe found about subgroups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubgroupReport {
    /// Lanes in the subgroups of a workgroup of 256.
    pub size: u32,
    /// Whether invocation `i` of a one-dimensional workgroup is lane `i % size` of subgroup `i / size`, and all subgroups are full.
    pub linear: bool,
    /// Whether shuffles, ballots and scans give what they should (on a linear layout), also after invocations have gone different ways.
    pub works: bool,
}

/// Runs the probe. Where the driver refuses sealed modules, less is asked of it, step by step, and `context` keeps what worked.
pub(crate) async fn run(context: &mut Context) -> Result<Report> {
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

async fn attempt(context: &mut Context) -> Result<Report> {
    let start = web_time();
    let triples = checks::triples();
    let has = |feature| context.features.contains(feature);
    let (f64, int64, subgroup) = (has(wgpu::Features::SHADER_F64), has(wgpu::Features::SHADER_INT64), has(wgpu::Features::SUBGROUP));
    let text = checks::wgsl();
    let (text_f64, text_int64) = (wide::wgsl(wide::F64, "f64"), wide::wgsl(wide::INT, "u64"));
    let shapes_text = shapes::wgsl(fma_prelude(FmaKind::Native));
    let sources = [
        (true, "probe", &*text),
        (f64, "probe f64", &*text_f64),
        (int64, "probe int64", &*text_int64),
        (subgroup, "probe subgroups", lanes::WGSL),
        (true, "probe fma", &*shapes_text),
    ];
    let likely = likely(context);
    let (mut bench, pipelines) = loop {
        let pipelines = Arc::new(Pipelines::new(context));
        let ahead = sources.iter().filter(|s| s.0).map(|&(_, name, wgsl)| (name, wgsl)).chain(likely.iter().map(|(n, w)| (*n, &**w)));
        let ahead: Vec<_> = ahead.map(|(name, wgsl)| KernelSource { name, wgsl, entry: "main" }).collect();
        pipelines.prepare(context, &ahead);
        let mut bench = Bench::new(&pipelines);
        match bench.enqueue(context, "probe", &text, as_bytes(&triples.words), TABLE.len() * triples.words.len(), 4) {
            Ok(()) => break (bench, pipelines),
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
    };
    let lanes = lanes::values();
    // A wide type whose kernel does not compile is a type that the adapter does not have.
    let f64 = f64 && bench.try_enqueue(context, "probe f64", &text_f64, &wide::f64_pairs(), wide::F64.len());
    let int64 = int64 && bench.try_enqueue(context, "probe int64", &text_int64, &wide::int_pairs(), wide::INT.len());
    let subgroup = subgroup
        && bench
            .enqueue(context, "probe subgroups", lanes::WGSL, bytemuck::cast_slice(&lanes), lanes.len() * lanes::WORDS, 4)
            .inspect_err(|e| log::warn!("no subgroups: {e}"))
            .is_ok();
    bench.enqueue(context, "probe fma", &shapes_text, as_bytes(&triples.words), shapes::SHAPES.len() * triples.words.len(), 4)?;
    let mut results = bench.finish(context).await?.into_iter();
    let mut next = || results.next().unwrap_or_default();

    let words = to_words(&next());
    let fact_normal = |name| first_failure(&triples, &words, |c| c.name == name, triples.normal).is_none();
    let mut numerics = verdict(&triples, &words);
    let mut witnesses: Vec<String> =
        TABLE.iter().filter_map(|t| first_failure(&triples, &words, |c| c.name == t.name, triples.words.len())).collect();
    let f64 = f64.then(|| f64_report(&next()));
    let int64 = int64.then(|| first_wide_failure(wide::INT, &wide::int_pairs(), &next(), |c| c.required).is_none());
    let subgroup = subgroup.then(|| lanes::report(&to_words(&next())));
    let shapes = to_words(&next());

    let sums_keep_subnormals = numerics == NumericsVerdict::Strict;
    let native = fma::proof_of_shapes(&triples, &shapes);
    let fused = fact_normal(checks::FMA) && !matches!(native, Proof::Wrong(_));
    let via_f64 = f64.as_ref().is_some_and(|r| r.arithmetic);
    let fma = fma::choose(context, &pipelines, &triples, native, via_f64, &mut numerics, &mut witnesses).await?;
    let proven = !matches!(numerics, NumericsVerdict::Unproven { .. });
    let seeds = if proven { seeds::choose(context, &pipelines, fma).await } else { Seeds::NONE };
    Ok(Report {
        sealed: context.seal.is_some(),
        controls: context.seal.map(|s| s.controls).unwrap_or_default(),
        fma,
        fma_is_fused: fused,
        sums_keep_subnormals,
        contracts: !(fact_normal(checks::CONTRACTED) && fact_normal("a * k + b * k")),
        folds_zero: !checks::ZEROS.iter().all(|name| fact_normal(name)),
        folds_nan_test: !fact_normal(checks::NAN_TEST),
        division_rounds: fact_normal("a / b"),
        sqrt_rounds: fact_normal("sqrt(a)"),
        seeds,
        numerics,
        f64,
        int64,
        subgroup,
        witnesses,
        elapsed: start(),
    })
}

/// Kernels that a GPU is likely to be asked for once the first answers are there.
fn likely(context: &Context) -> Vec<(&'static str, String)> {
    if !seeds::can_pay(context) {
        return Vec::new();
    }
    let mut out: Vec<_> = seeds::wgsl(seeds::RANGES.len()).ok().map(|text| (seeds::NAME, text)).into_iter().collect();
    if context.fma.is_none() && context.keep_subnormals {
        out.push((fma::NAME, checks::fma_wgsl(fma_prelude(FmaKind::Guarded))));
    }
    out
}

fn verdict(triples: &Triples, words: &[u32]) -> NumericsVerdict {
    if let Some(witness) = first_failure(triples, words, |c| c.required, triples.normal) {
        NumericsVerdict::Unproven { witness }
    } else if let Some(witness) = first_failure(triples, words, |c| c.required, triples.words.len()) {
        log::info!("subnormal numbers are not kept: {witness}");
        NumericsVerdict::StrictNormal
    } else {
        NumericsVerdict::Strict
    }
}

fn first_failure(triples: &Triples, words: &[u32], wanted: impl Fn(&Check) -> bool, until: usize) -> Option<String> {
    for (at, &triple) in triples.words[..until].iter().enumerate() {
        let [x, y, z, _] = triple;
        for (n, check) in TABLE.iter().enumerate().filter(|(_, c)| wanted(c)) {
            let Some(expected) = (check.expect)(x, y, z) else { continue };
            let got = words.get(at * TABLE.len() + n).copied().unwrap_or(!expected);
            if !checks::same(expected, got) {
                return Some(describe(check.name, triple, expected, got));
            }
        }
    }
    None
}

fn describe(name: &str, [x, y, z, _]: [u32; 4], expected: u32, got: u32) -> String {
    format!("{name} of {x:#010x}, {y:#010x}, {z:#010x} gave {got:#010x}, expected {expected:#010x}")
}

fn first_wide_failure(table: &[Wide], pairs: &[u64], bytes: &[u8], wanted: impl Fn(&Wide) -> bool) -> Option<String> {
    let got: Vec<u64> = bytes.chunks_exact(8).filter_map(|c| c.try_into().ok()).map(u64::from_le_bytes).collect();
    for (at, pair) in pairs.chunks_exact(2).enumerate() {
        for (n, check) in table.iter().enumerate().filter(|(_, c)| wanted(c)) {
            let expected = (check.expect)(pair[0], pair[1]);
            let got = got.get(at * table.len() + n).copied().unwrap_or(!expected);
            let both_nan = expected == 0x7ff8_0000_0000_0000 && f64::from_bits(got).is_nan();
            if got != expected && !both_nan {
                return Some(format!("{} of {:#x}, {:#x} gave {got:#x}, expected {expected:#x}", check.name, pair[0], pair[1]));
            }
        }
    }
    None
}

fn f64_report(bytes: &[u8]) -> F64Report {
    let pairs = wide::f64_pairs();
    let holds = |name: &str| first_wide_failure(wide::F64, &pairs, bytes, |c| c.name == name).is_none();
    let failure = first_wide_failure(wide::F64, &pairs, bytes, |c| c.required);
    if let Some(witness) = &failure {
        log::warn!("f64 is not IEEE here: {witness}");
    }
    F64Report {
        arithmetic: failure.is_none(),
        fma_is_fused: holds("fma(a, b, a)"),
        division_rounds: holds("a / b"),
        sqrt_rounds: holds("sqrt(a)"),
    }
}
