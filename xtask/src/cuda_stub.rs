//! `cargo xtask cuda-stub`: a stand-in for the CUDA driver.
//!
//! Two uses. Tests of the CUDA backend that are about order and memory, not about kernels, run on it where there is no GPU.
//! And `cust`, which links `libcuda` when it is built, can be built and linked without a CUDA toolkit: its build script takes
//! every `lib64` below `CUDA_LIBRARY_PATH` as a link path and looks at nothing else on Linux.

use crate::{shell, test, workspace};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of the command line.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Run the tests of isowarp-cuda on it, with and without memory pools, and with the `cust` feature
    #[arg(long)]
    test: bool,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<()> {
    if options.test {
        return test(&[]);
    }
    let root = build()?;
    println!("export CUDA_LIBRARY_PATH={}", root.display());
    println!("export LD_LIBRARY_PATH={}", root.join("lib64").display());
    Ok(())
}

/// Whether the stub can be built on this machine.
pub(crate) fn is_possible() -> bool {
    cfg!(target_os = "linux") && shell::answers("cc", &["--version"])
}

/// Runs the tests of isowarp-cuda on the stub, with and without memory pools, and with the `cust` feature.
pub(crate) fn test(args: &[String]) -> Result<()> {
    for pools in [true, false] {
        println!("isowarp-cuda on the stub, {} memory pools", if pools { "with" } else { "without" });
        let mut command = test::runner(&["--package", "isowarp-cuda", "--features", "cust"]);
        linked(&mut command)?.args(args).env(test::DEVICES, "cuda").env("ISOWARP_STUB", "1");
        if !pools {
            command.env("ISOWARP_STUB_NO_POOLS", "1");
        }
        shell::run(&mut command)?;
    }
    Ok(())
}

/// Lets what a command builds and runs link the stub in place of the driver.
pub(crate) fn linked(command: &mut Command) -> Result<&mut Command> {
    let root = build()?;
    Ok(command.env("CUDA_LIBRARY_PATH", &root).env("LD_LIBRARY_PATH", root.join("lib64")))
}

/// Compiles the stub and returns its folder.
fn build() -> Result<PathBuf> {
    let root = workspace::target().join("cuda-stub");
    let lib = root.join("lib64");
    fs::create_dir_all(&lib)?;
    let library = lib.join("libcuda.so.1");
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-g", "-Wall", "-Wl,-soname,libcuda.so.1"])
        .arg(workspace::root().join("xtask/stub/libcuda.c"))
        .args(["-lpthread", "-o"])
        .arg(&library)
        .status()
        .context("running cc: a C compiler is needed")?;
    if !status.success() {
        bail!("cc ended with {status}");
    }
    link(&library, &lib.join("libcuda.so"))?;
    Ok(root)
}

/// The name that `-lcuda` looks for. A link and not a copy: loaded under both names it must be one library with one state.
fn link(library: &Path, name: &Path) -> Result<()> {
    if name.exists() {
        fs::remove_file(name)?;
    }
    let target = library.file_name().context("the library has a name")?;
    #[cfg(unix)]
    return std::os::unix::fs::symlink(target, name).with_context(|| format!("linking {}", name.display()));
    #[cfg(not(unix))]
    bail!("the stub of {} is for Linux", target.display())
}
