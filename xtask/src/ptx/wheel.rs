//! Finding NVRTC 12.4, or fetching it as a pinned Python wheel (24 MB, no host compiler needed).

use super::nvrtc::Library;
use crate::wheel::Wheel;
use crate::workspace;
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The release whose PTX 8.4 loads on every driver from R550 on.
pub(super) const CUDA: (i32, i32) = (12, 4);

const WHEEL: Wheel = Wheel {
    package: "nvidia-cuda-nvrtc-cu12==12.4.127",
    file: "nvidia_cuda_nvrtc_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl",
    sha256: "a178759ebb095827bd30ef56598ec182b85547f1508941a3d560eb7ea1fbf338",
};

/// Loads NVRTC 12.4 from `explicit`, from where one is installed, or from the fetched wheel.
pub(super) fn locate(explicit: Option<&Path>) -> Result<Library> {
    if let Some(dir) = explicit {
        return load(dir);
    }
    let fetched = workspace::target().join("nvrtc");
    let mut tried = Vec::new();
    for dir in std::iter::once(fetched.clone()).chain(installed()) {
        if !dir.join("libnvrtc.so.12").exists() {
            continue;
        }
        match load(&dir) {
            Ok(library) => return Ok(library),
            Err(error) => tried.push(format!("{error:#}")),
        }
    }
    WHEEL.fetch(&fetched, |file| file.starts_with("libnvrtc")).and_then(|()| load(&fetched)).with_context(|| {
        let found = if tried.is_empty() { String::new() } else { format!(" (found, but of no use: {})", tried.join("; ")) };
        format!(
            "NVRTC {}.{} is not installed{found} and could not be fetched.\n\
                 Install it with `python3 -m pip install {}`, or name the folder that holds \
                 libnvrtc.so.12 with --nvrtc or ISOWARP_NVRTC",
            CUDA.0, CUDA.1, WHEEL.package
        )
    })
}

fn load(dir: &Path) -> Result<Library> {
    let library = Library::load(dir)?;
    let (major, minor) = library.version()?;
    if (major, minor) != CUDA {
        bail!("{} holds NVRTC {major}.{minor}, not {}.{}", dir.display(), CUDA.0, CUDA.1);
    }
    Ok(library)
}

/// Folders where a toolkit or a wheel keeps its libraries.
fn installed() -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> =
        ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(std::env::var_os).map(|root| PathBuf::from(root).join("lib64")).collect();
    dirs.push(PathBuf::from("/usr/local/cuda-12.4/lib64"));
    let script = "import site, sys; print('\\n'.join(site.getsitepackages() + [site.getusersitepackages()]))";
    if let Ok(output) = Command::new("python3").args(["-c", script]).output() {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        dirs.extend(text.lines().map(|site| Path::new(site).join("nvidia/cuda_nvrtc/lib")));
    }
    dirs
}
