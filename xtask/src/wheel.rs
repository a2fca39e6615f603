//! Pinned Python wheels of NVIDIA's compilers, fetched with pip: no toolkit has to be installed.

use crate::ptx::sha256;
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

/// One file on the package index.
pub(crate) struct Wheel {
    /// As pip takes it.
    pub(crate) package: &'static str,
    pub(crate) file: &'static str,
    pub(crate) sha256: &'static str,
}

impl Wheel {
    /// Downloads the wheel into `dir`, checks it, and unpacks the members whose file name is wanted, without their folders.
    pub(crate) fn fetch(&self, dir: &Path, wanted: impl Fn(&str) -> bool) -> Result<()> {
        fs::create_dir_all(dir)?;
        let path = dir.join(self.file);
        if !path.exists() {
            self.download(dir)?;
        }
        let bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        let found = sha256(&bytes);
        if found != self.sha256 {
            // A wrong file must not be picked up by the next run.
            fs::remove_file(&path)?;
            bail!("{} has sha256 {found}, expected {}", self.file, self.sha256);
        }
        unpack(&bytes, dir, wanted)
    }

    fn download(&self, dir: &Path) -> Result<()> {
        eprintln!("fetching {}", self.package);
        let status = Command::new("python3")
            .args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"])
            .args(["--platform", "manylinux2014_x86_64", "-d"])
            .arg(dir)
            .arg(self.package)
            .status()
            .context("running python3 -m pip")?;
        if !status.success() {
            bail!("pip download ended with {status}");
        }
        Ok(())
    }
}

fn unpack(wheel: &[u8], dir: &Path, wanted: impl Fn(&str) -> bool) -> Result<()> {
    let mut archive = zip::ZipArchive::new(io::Cursor::new(wheel))?;
    for index in 0..archive.len() {
        let mut member = archive.by_index(index)?;
        let Some(name) = member.enclosed_name() else { continue };
        let Some(file) = name.file_name().map(|file| file.to_string_lossy().into_owned()) else {
            continue;
        };
        if wanted(&file) {
            // Beside its place and then renamed: a run that is broken off leaves no half of a program.
            let part = dir.join(format!("{file}.part"));
            let mut out = fs::File::create(&part)?;
            io::copy(&mut member, &mut out).with_context(|| format!("unpacking {file}"))?;
            drop(out);
            fs::rename(&part, dir.join(&file))?;
        }
    }
    Ok(())
}
