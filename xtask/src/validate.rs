//! `cargo xtask validate`, `cargo xtask record` and `cargo xtask fuzz`: the conformance suite, built and run.

use crate::{shell, swiftshader, vulkan, workspace};
use anyhow::Result;

/// Options of the suite's program.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// On SwiftShader in place of the machine's Vulkan adapters, fetched at the first use
    #[arg(long)]
    swiftshader: bool,
    /// Passed on, as `--pattern NAME` and `--backend NAME`: see `--help` after `--`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

/// Compares every device with the CPU definition and with the recorded digests.
pub(crate) fn run(options: &Options) -> Result<()> {
    vulkan::ensure()?;
    shell::run(&mut suite("validate", options)?)
}

/// Puts the digests of every device of this machine into the suite.
pub(crate) fn record(options: &Options) -> Result<()> {
    let folder = workspace::target().join("recorded");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    shell::run(suite("record", options)?.arg("--out").arg(&folder))?;
    let mut keep = shell::cargo(["run", "--quiet", "--package", "isowarp-conformance", "--", "keep", "--file"]);
    shell::run(keep.arg(workspace::root().join("tests/digests.json")).arg(folder))
}

/// Tries random operators and patterns on every device.
pub(crate) fn fuzz(options: &Options) -> Result<()> {
    vulkan::ensure()?;
    shell::run(&mut suite("fuzz", options)?)
}

fn suite(command: &str, options: &Options) -> Result<std::process::Command> {
    let mut cargo = shell::cargo(["run", "--quiet", "--package", "isowarp-conformance", "--", command]);
    cargo.args(&options.args);
    if options.swiftshader {
        cargo.env(swiftshader::DRIVERS, swiftshader::locate()?);
    }
    Ok(cargo)
}
