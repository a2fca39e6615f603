//! `cargo xtask ptxas`: NVIDIA's assembler, which the test of the PTX lowering asks whether it takes every operation.

use crate::wheel::Wheel;
use crate::{shell, workspace};
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};

/// Names the assembler for the tests, or says `none`.
pub(crate) const PTXAS: &str = "ISOWARP_PTXAS";

/// The release whose NVRTC compiles the kernels; 22 MB.
const WHEEL: Wheel = Wheel {
    package: "nvidia-cuda-nvcc-cu12==12.4.131",
    file: "nvidia_cuda_nvcc_cu12-12.4.131-py3-none-manylinux2014_x86_64.whl",
    sha256: "e4c9a35435c3b0e36c6397c5696334c9ea6650e524736cbd1c5d345ea099bb04",
};

/// Runs the command.
pub(crate) fn run() -> Result<()> {
    println!("{}", locate()?.display());
    Ok(())
}

/// The assembler that the environment names, the one fetched before, the pinned one fetched now, or one on the path.
pub(crate) fn locate() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os(PTXAS) {
        if named == "none" {
            bail!("{PTXAS} says that there is none");
        }
        return Ok(named.into());
    }
    // The test looks here too, so that it finds without a variable what was fetched once.
    let dir = workspace::target().join("ptxas");
    let fetched = dir.join("ptxas");
    if runs(&fetched) {
        return Ok(fetched);
    }
    fetch(&dir).map(|()| fetched).or_else(|why| on_path().ok_or(why)).with_context(|| {
        format!("ptxas could not be fetched: install it with `python3 -m pip install {}` and name it with {PTXAS}", WHEEL.package)
    })
}

fn runs(program: &Path) -> bool {
    shell::answers(&program.to_string_lossy(), &["--version"])
}

fn on_path() -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|d| d.join("ptxas")).find(|p| p.is_file())
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn fetch(dir: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    WHEEL.fetch(dir, |file| file == "ptxas")?;
    let program = dir.join("ptxas");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;
    if !runs(&program) {
        bail!("{} does not run", program.display());
    }
    // The wheel has served.
    Ok(std::fs::remove_file(dir.join(WHEEL.file))?)
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn fetch(_dir: &Path) -> Result<()> {
    bail!("the pinned wheel is for Linux on x86-64")
}
