//! Packs the PTX of `ptx` for the library, which includes the packed files. What is committed is text alone.

#[path = "src/pack.rs"]
mod pack;
#[path = "src/packed.rs"]
mod packed;

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    // The folder's own time changes with files that come and go.
    println!("cargo::rerun-if-changed=ptx");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/pack.rs");
    println!("cargo::rerun-if-changed=src/packed.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names a folder"));
    let files = fs::read_dir("ptx").expect("the folder of PTX").map(|entry| entry.expect("an entry of it").path());
    let files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|extension| extension == "ptx")).collect();
    for path in &files {
        write_packed(path, &out);
    }
}

/// Packs a file, and shows that it unpacks to the same: a program must not find out by a kernel that computes something else.
fn write_packed(path: &Path, out: &Path) {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let packed = pack::pack(&text);
    let mut unpacked = String::with_capacity(text.len());
    packed::parts(&packed).for_each(|part| packed::unpack(part, &mut unpacked));
    assert!(unpacked == text, "{}: packed and unpacked it is another text", path.display());
    let entries: usize = packed::parts(&packed).map(packed::entries).sum();
    assert_eq!(entries + 1, packed::pieces(&text).count(), "{}: entries are lost", path.display());
    let name = path.file_name().expect("a file has a name").to_string_lossy();
    fs::write(out.join(format!("{name}.packed")), packed).unwrap_or_else(|error| panic!("{name}: {error}"));
}
