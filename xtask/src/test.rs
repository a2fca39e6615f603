//! `cargo xtask test`: everything that can be tested on this machine, after setting up what the tests need.

use crate::{shell, vulkan};
use anyhow::Result;

/// Options of the command line.
#[derive(clap::Args, Default)]
pub(crate) struct Options {
    /// Passed on to the test runner, for instance a part of a test's name
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

/// Runs the command. The last lines are the runner's own summary.
pub(crate) fn run(options: &Options) -> Result<()> {
    vulkan::ensure()?;
    if shell::answers("cargo", &["nextest", "--version"]) {
        // nextest runs no doc tests.
        shell::run(quiet(&mut shell::cargo(["test", "--workspace", "--doc", "--quiet"])))?;
        shell::run(quiet(shell::cargo(["nextest", "run", "--workspace", "--no-fail-fast"]).args(&options.args)))
    } else {
        shell::run(quiet(shell::cargo(["test", "--workspace", "--no-fail-fast"]).args(&options.args)))
    }
}

/// Mesa's loader grumbles where the variable is missing.
fn quiet(command: &mut std::process::Command) -> &mut std::process::Command {
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        command.env("XDG_RUNTIME_DIR", std::env::temp_dir());
    }
    command
}
