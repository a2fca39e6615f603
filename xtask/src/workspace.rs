//! Where the workspace and its build folder lie.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace root: the folder above this package, as cargo names it at run time.
pub(crate) fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// The build folder: `CARGO_TARGET_DIR`, or `target` in the workspace.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The number that the commit's name begins with, where this is a repository.
pub(crate) fn commit_number() -> Option<u64> {
    let git = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).current_dir(root()).output().ok()?;
    let name = String::from_utf8(git.stdout).ok()?;
    u64::from_str_radix(name.trim().get(..12)?, 16).ok()
}
