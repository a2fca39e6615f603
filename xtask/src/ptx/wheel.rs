//! Finding NVRTC 12.4, or fetching it as a pinned Python wheel (24 MB, no host compiler needed).

use super::manifest::sha256;
use super::nvrtc::Library;
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The release whose PTX 8.4 loads on every driver from R550 on.
pub(super) const CUDA: (i32, i32) = (12, 4);

const PACKAGE: &str = "nvidia-cuda-nvrtc-cu12==12.4.127";
const WHEEL: &str = "nvidia_cuda_nvrtc_cu12-12.4.127-py3-none-manylinux2014_x86_64.whl";
const WHEEL_SHA256: &str = "a178759ebb095827bd30ef56598ec182b85547f1508941a3d560eb7ea1fbf338";

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
    fetch(&fetched).and_then(|()| load(&fetched)).with_context(|| {
        let found = if tried.is_empty() { String::new() } else { format!(" (found, but of no use: {})", tried.join("; ")) };
        format!(
            "NVRTC {}.{} is not installed{found} and could not be fetched.\n\
                 Install it with `python3 -m pip install {PACKAGE}`, or name the folder that holds \
                 libnvrtc.so.12 with --nvrtc or ISOWARP_NVRTC",
            CUDA.0, CUDA.1
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

/// Downloads the wheel with pip, checks it, and unpacks its libraries into `dir`.
fn fetch(dir: &Path) -> Result<()> {
    fs::create_dir_all(dir)?;
    let path = dir.join(WHEEL);
    if !path.exists() {
        eprintln!("fetching {PACKAGE}");
        let status = Command::new("python3")
            .args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"])
            .args(["--platform", "manylinux2014_x86_64", "-d"])
            .arg(dir)
            .arg(PACKAGE)
            .status()
            .context("running python3 -m pip")?;
        if !status.success() {
            bail!("pip download ended with {status}");
        }
    }
    let bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
    let found = sha256(&bytes);
    if found != WHEEL_SHA256 {
        // A wrong file must not be picked up by the next run.
        fs::remove_file(&path)?;
        bail!("{WHEEL} has sha256 {found}, expected {WHEEL_SHA256}");
    }
    unpack(&bytes, dir)
}

fn unpack(wheel: &[u8], dir: &Path) -> Result<()> {
    let mut archive = zip::ZipArchive::new(io::Cursor::new(wheel))?;
    for index in 0..archive.len() {
        let mut member = archive.by_index(index)?;
        let Some(name) = member.enclosed_name() else { continue };
        let Some(file) = name.file_name().map(|file| file.to_string_lossy().into_owned()) else {
            continue;
        };
        if file.starts_with("libnvrtc") {
            let mut out = fs::File::create(dir.join(&file))?;
            io::copy(&mut member, &mut out).with_context(|| format!("unpacking {file}"))?;
        }
    }
    Ok(())
}
