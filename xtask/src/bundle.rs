//! `cargo xtask bundle`: what a GPU machine needs to validate and measure, without Rust: three programs, the digests, a script.

use crate::{shell, workspace};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Options of the command line.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Bundle the dev profile's programs, which are built sooner and measure nothing that counts
    #[arg(long)]
    dev: bool,
}

/// The programs.
const PROGRAMS: [&str; 3] = ["isowarp-conformance", "isowarp-bench", "isowarp"];

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<()> {
    let (profile, folder) = if options.dev { ("dev", "debug") } else { ("release", "release") };
    let packages = ["isowarp-conformance", "isowarp-benches", "isowarp-cli"].map(|p| format!("--package={p}"));
    let mut build = shell::cargo(["build", "--bins", "--profile", profile]);
    shell::run(build.args(packages).env(format!("CARGO_PROFILE_{}_STRIP", profile.to_uppercase()), "symbols"))?;

    let bundle = workspace::target().join("bundle");
    assemble(&workspace::target().join(folder), &bundle)?;
    println!("{}: {:.1} MiB", bundle.display(), size(&bundle)? as f64 / f64::from(1 << 20));
    Ok(())
}

/// Puts the folder together from the dev profile's programs as they were built, moves it away from where it was made, and runs each of its
/// script's commands in a quick form. What the programs compute is tested elsewhere.
pub(crate) fn check() -> Result<()> {
    let bundle = workspace::target().join("bundle-check");
    assemble(&workspace::target().join("debug"), &bundle)?;
    let moved = workspace::target().join("bundle check, moved");
    if moved.exists() {
        fs::remove_dir_all(&moved)?;
    }
    fs::rename(&bundle, &moved)?;
    let photograph = workspace::root().join("crates/cli/assets/camera.png");
    let lines: [&[&str]; 10] = [
        &[],
        &["devices"],
        &["validate", "--quick", "--pattern", "memory/copy", "--pattern", "reduce/sum/u32"],
        &["record", "--pattern", "memory/overwrite"],
        &["validate", "--pattern", "memory/overwrite", "--digests", "digests.new"],
        &["fuzz", "--pattern", "map", "--trials", "3", "--seed", "1"],
        &["bench", "--backend", "wgpu", "--pattern", "copy", "--size", "2^16", "--side", "64", "--samples", "1", "--json", "bench.json"],
        &["first", "--backend", "wgpu", "--pattern", "map/exp", "--size", "2^16", "--samples", "1", "--json", "first.json"],
        &["run", "generate", "--n", "3", "--dtype", "f32", "--op", "i", "--out", "out.npy", "--stats"],
        &["image", "median", "--in", photograph.to_str().context("the workspace's path is no text")?, "--out", "out.png"],
    ];
    for line in lines {
        shell::run(Command::new(moved.join("run.sh")).args(line).current_dir(&moved))?;
    }
    for file in ["digests.new/cpu.json", "bench.json", "first.json", "out.npy", "out.png"] {
        if !moved.join(file).is_file() {
            bail!("the bundle's script wrote no {file}");
        }
    }
    let unknown = Command::new(moved.join("run.sh")).args(["validate", "--pattern", "nonsense"]).stderr(Stdio::null()).status()?;
    if unknown.success() {
        bail!("the bundle's script hides a failure");
    }
    Ok(fs::remove_dir_all(&moved)?)
}

/// The programs of a build folder, the digests and the script, in a folder of their own.
fn assemble(programs: &Path, bundle: &Path) -> Result<()> {
    if bundle.exists() {
        fs::remove_dir_all(bundle)?;
    }
    fs::create_dir_all(bundle)?;
    for program in PROGRAMS {
        let from = programs.join(format!("{program}{}", std::env::consts::EXE_SUFFIX));
        let to = bundle.join(from.file_name().context("a program has a name")?);
        fs::copy(&from, to).with_context(|| format!("copying {}", from.display()))?;
    }
    fs::copy(workspace::root().join("tests/digests.json"), bundle.join("digests.json"))?;
    script(&bundle.join("run.sh"))
}

fn script(path: &Path) -> Result<()> {
    fs::write(path, include_str!("run.sh"))?;
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    Ok(())
}

fn size(folder: &Path) -> Result<u64> {
    fs::read_dir(folder)?.try_fold(0, |sum, entry| {
        let entry = entry?;
        let metadata = entry.metadata()?;
        Ok(sum + if metadata.is_dir() { size(&entry.path())? } else { metadata.len() })
    })
}
