//! `cargo xtask test`: everything that can be tested on this machine, after setting up what the tests need.

use crate::{cuda, cuda_stub, ptxas, shell, swiftshader, vulkan};
use anyhow::Result;
use std::process::Command;

/// Options of the command line.
#[derive(clap::Args, Default)]
pub(crate) struct Options {
    /// On SwiftShader in place of the machine's Vulkan adapters, fetched at the first use
    #[arg(long)]
    swiftshader: bool,
    /// Passed on to the test runner, for instance a part of a test's name
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

/// Names the devices that the tests are to find. Without it, a test that finds no CUDA device fails too.
pub(crate) const DEVICES: &str = "ISOWARP_TEST_DEVICES";

/// Runs the command. The last lines are the runner's own summary.
pub(crate) fn run(options: &Options) -> Result<()> {
    let named = std::env::var(DEVICES).ok();
    // Whoever says which devices there are wants no other.
    if named.as_ref().is_none_or(|n| n.contains("wgpu")) {
        vulkan::ensure()?;
    }
    let devices = named.unwrap_or_else(|| if cuda::present() { "cpu,wgpu,cuda".to_owned() } else { "cpu,wgpu".to_owned() });
    println!("devices to test: {devices}");
    let assembler = ptxas::locate().unwrap_or_else(|why| {
        println!("NOT TESTED: whether NVIDIA's assembler takes the PTX of every operation; {why:#}");
        "none".into()
    });
    if cuda_stub::is_possible() {
        cuda_stub::test(&options.args)?;
    } else {
        println!("NOT TESTED: order and memory of the CUDA backend without a GPU; the stub for it needs Linux and a C compiler (`cc`)");
    }
    if has_nextest() {
        // nextest runs no doc tests.
        shell::run(&mut shell::cargo(["test", "--workspace", "--doc", "--quiet"]))?;
    }
    let mut tests = runner(&["--workspace"]);
    if options.swiftshader {
        tests.env(swiftshader::DRIVERS, swiftshader::locate()?);
    }
    shell::run(tests.args(&options.args).env(DEVICES, devices).env(ptxas::PTXAS, assembler))
}

/// The test runner: nextest, or what comes with cargo. All tests run, also after one has failed.
pub(crate) fn runner(what: &[&str]) -> Command {
    let mut command = if has_nextest() {
        shell::cargo(["nextest", "run", "--no-fail-fast", "--no-tests=pass"])
    } else {
        shell::cargo(["test", "--no-fail-fast"])
    };
    command.args(what);
    command
}

fn has_nextest() -> bool {
    shell::answers("cargo", &["nextest", "--version"])
}
