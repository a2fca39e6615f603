//! Where the workspace and its build folder lie.

use std::path::{Path, PathBuf};

/// The workspace root: the folder above this package, as cargo names it at run time.
pub(crate) fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// The build folder: `CARGO_TARGET_DIR`, or `target` in the workspace.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}
