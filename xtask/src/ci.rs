//! `cargo xtask ci`: what has to hold before a change goes in. Needs no GPU. The tests come last, so that the output ends with their summary.

use crate::{bundle, coverage, cuda_stub, package, shell, swiftshader, test, vulkan, workspace};
use anyhow::{Context as _, Result};
use std::process::Command;
use std::time::Instant;

/// Options of the command line.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only the steps with these names
    #[arg(value_enum)]
    steps: Vec<Step>,
}

/// A part of the checks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Step {
    /// Formatting
    Fmt,
    /// Lints of all targets, as errors
    Clippy,
    /// Documentation, warnings as errors
    Docs,
    /// The committed PTX is what its sources compile to
    Ptx,
    /// Every crate that is published, packed, and compiled from its package alone
    Package,
    /// A crate outside the workspace, in each combination of its features
    Downstream,
    /// A program without the CPU's backend, where it finds no device, and with `cust`
    Features,
    /// Programs and tests that are run from here on, built once
    Build,
    /// Every case on every device against the CPU and the recorded digests
    Validate,
    /// The quick part of the cases, and every pair of operations, on SwiftShader, a second software adapter
    Swiftshader,
    /// Random operators and patterns that the commit decides, about a minute on each software adapter
    Fuzz,
    /// Main job of `isowarp`, with no subcommand
    Main,
    /// The folder for GPU machines, put together from the programs of the build and run from its script
    Bundle,
    /// The tests
    Test,
}

/// Steps of a run that names none: all.
const ALL: [Step; 14] = [
    Step::Fmt,
    Step::Ptx,
    Step::Clippy,
    Step::Docs,
    Step::Package,
    Step::Downstream,
    Step::Features,
    Step::Build,
    Step::Validate,
    Step::Swiftshader,
    Step::Fuzz,
    Step::Main,
    Step::Bundle,
    Step::Test,
];

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<()> {
    vulkan::ensure()?;
    let steps = if options.steps.is_empty() { ALL.to_vec() } else { options.steps.clone() };
    let mut times = Vec::new();
    for step in steps {
        if step == Step::Test && !times.is_empty() {
            println!("== {}", times.join(", "));
        }
        println!("== {step:?}");
        let start = Instant::now();
        one(step).with_context(|| format!("step {step:?}"))?;
        times.push(format!("{step:?} {:.0} s", start.elapsed().as_secs_f64()));
    }
    Ok(())
}

fn one(step: Step) -> Result<()> {
    match step {
        Step::Fmt => shell::run(&mut shell::cargo(["fmt", "--all", "--check"])),
        Step::Clippy => shell::run(&mut shell::cargo(["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])),
        Step::Docs => {
            let mut doc = shell::cargo(["doc", "--workspace", "--no-deps", "--quiet"]);
            shell::run(doc.env("RUSTDOCFLAGS", "-D warnings"))
        }
        Step::Ptx => shell::run(&mut shell::cargo(["run", "--quiet", "--package", "xtask", "--", "ptx", "--check"])),
        Step::Package => package::check(),
        Step::Downstream => downstream(),
        Step::Features => features(),
        // Benches are checked by clippy, and nothing runs them.
        Step::Build => shell::run(&mut shell::cargo(["build", "--workspace", "--lib", "--bins", "--tests", "--examples", "--quiet"])),
        Step::Validate => shell::run(&mut suite("--full")),
        Step::Swiftshader => on_swiftshader(),
        Step::Fuzz => fuzz(),
        Step::Main => shell::run(built("isowarp").current_dir(workspace::target())),
        Step::Bundle => bundle::check(),
        Step::Test => test::run(&test::Options::default()),
    }
}

/// The suite, or the quick part of it. What the devices ran and left out of it is noted.
fn suite(level: &str) -> Command {
    let mut suite = built("isowarp-conformance");
    suite.args(["validate", level, "--devices"]).arg(coverage::found());
    suite
}

/// The quick part of the suite on SwiftShader alone, as it opens by default: it has every pattern and type of 32 bits and less. And every pair of
/// operations: optimisers differ in what they get wrong there. Other forms of kernels, and the rest of the cases, are compared on Mesa's adapter; all of
/// them here would take longer than all other steps together.
fn on_swiftshader() -> Result<()> {
    let Some(manifest) = swiftshader::manifest()? else { return Ok(()) };
    let mut pairs = built("isowarp-conformance");
    pairs.args(["validate", "--full", "--pattern", "pairs", "--backend", "wgpu", "--no-narrow"]);
    shell::run(pairs.env(swiftshader::DRIVERS, &manifest))?;
    shell::run(suite("--quick").args(["--backend", "wgpu", "--no-narrow"]).env(swiftshader::DRIVERS, manifest))?;
    coverage::check("wgpu: SwiftShader")
}

/// Trials of the fuzzer on each software adapter: about a minute on 2 cores.
const FUZZED: &str = "700";

/// Each commit has trials of its own, and the same ones whenever it is checked.
fn fuzz() -> Result<()> {
    let seed = workspace::commit_number().unwrap_or(1).to_string();
    let fuzz = || {
        let mut fuzz = built("isowarp-conformance");
        fuzz.args(["fuzz", "--seconds", "600", "--trials", FUZZED, "--seed", &seed]);
        fuzz
    };
    shell::run(&mut fuzz())?;
    let Some(manifest) = swiftshader::manifest()? else { return Ok(()) };
    shell::run(fuzz().args(["--backend", "wgpu"]).env(swiftshader::DRIVERS, manifest))
}

/// A program that [`Step::Build`] made: through `cargo run` it would be built again, since the features of its dependencies are others then.
fn built(program: &str) -> Command {
    let mut command = Command::new(workspace::target().join("debug").join(program));
    command.current_dir(workspace::root());
    command
}

/// The crate is built and run as its users would, with each choice of backends; its own tests run with one of them.
fn downstream() -> Result<()> {
    let combinations: [&[&str]; 4] =
        [&[], &["--no-default-features"], &["--no-default-features", "--features", "cuda"], &["--features", "cuda"]];
    for features in combinations {
        shell::run(outside("run", "downstream").args(features))?;
    }
    shell::run(outside("test", "downstream").args(["--features", "cuda"]))
}

/// Neither driver may find a device, so that what is left without the CPU is the error. With `cust` the program is built and linked against the
/// stub, as one that shares a device would be against the driver.
fn features() -> Result<()> {
    let facade = |features: &[&str]| {
        let mut test = outside("test", "gpu-only");
        test.args(features).env("CUDA_VISIBLE_DEVICES", "-1");
        test
    };
    shell::run(&mut facade(&[]))?;
    if cuda_stub::is_possible() {
        return shell::run(cuda_stub::linked(&mut facade(&["--features", "cust"]))?);
    }
    println!("NOT TESTED: the facade's feature `cust`; the stub that it links needs Linux and a C compiler (`cc`)");
    Ok(())
}

/// Cargo on an example outside the workspace. They share a folder, and so what they depend on; nobody looks for faults in them by a debugger.
fn outside(command: &str, example: &str) -> Command {
    let mut cargo = shell::cargo([command, "--quiet", "--manifest-path"]);
    cargo.arg(workspace::root().join("examples").join(example).join("Cargo.toml"));
    cargo.env("CARGO_TARGET_DIR", workspace::target().join("examples")).env("CARGO_PROFILE_DEV_DEBUG", "false");
    cargo
}
