//! Running the command on the CPU backend.

#![allow(dead_code, reason = "each test binary uses a part of it")]

pub(crate) mod arrays;
pub(crate) mod folders;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

/// A file that is kept with the tests, or one of the arrays and images in the archives there.
pub(crate) fn data(name: &str) -> PathBuf {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    if !name.is_empty() && kept.exists() { kept } else { unpacked().join(name) }
}

/// The folder of the archives' files, unpacked by the first test that asks, whatever its process. It is named after what it holds.
fn unpacked() -> &'static Path {
    static UNPACKED: LazyLock<PathBuf> = LazyLock::new(|| {
        let archives: [&[u8]; 2] = [include_bytes!("../data/arrays.zip"), include_bytes!("../data/images.zip")];
        let mut hasher = DefaultHasher::new();
        archives.hash(&mut hasher);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("data-{:016x}", hasher.finish()));
        if !folder.exists() {
            let part = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
            for archive in archives {
                let mut archive = zip::ZipArchive::new(Cursor::new(archive)).expect("an archive");
                archive.extract(part.path()).expect("its files");
            }
            // Another process may have been faster.
            if std::fs::rename(part.path(), &folder).is_ok() {
                let _ = part.keep();
            }
        }
        folder
    });
    &UNPACKED
}

/// The command, on the CPU whatever the machine has.
pub(crate) fn command() -> Command {
    let mut c = Command::new(env!("CARGO_BIN_EXE_isowarp"));
    c.env("ISOWARP_BACKEND", "cpu").current_dir(data(""));
    c
}

/// Runs the command in the directory of the fixtures.
pub(crate) fn isowarp<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> Output {
    command().args(args).output().expect("the command starts")
}

/// The same with something on standard input.
pub(crate) fn isowarp_with_input(args: &[&str], input: &[u8]) -> Output {
    let mut child =
        command().args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || {
        // A command that refuses early closes the pipe.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("the command ends");
    writer.join().expect("the writer ends");
    output
}

pub(crate) fn stdout(o: &Output) -> String {
    String::from_utf8_lossy(&o.stdout).into_owned()
}

pub(crate) fn stderr(o: &Output) -> String {
    String::from_utf8_lossy(&o.stderr).into_owned()
}

/// Fails with the command's own words.
#[track_caller]
pub(crate) fn succeeded(o: &Output) {
    assert!(o.status.success(), "{}\n{}{}", o.status, stdout(o), stderr(o));
}

/// An array: NumPy's type, shape, bytes.
#[derive(PartialEq, Debug)]
pub(crate) struct Npy {
    pub(crate) descr: String,
    pub(crate) shape: Vec<u64>,
    pub(crate) bytes: Vec<u8>,
}

/// Writes an array of NumPy's format, version 1.
pub(crate) fn save_npy(path: &Path, descr: &str, shape: &[u64], bytes: &[u8]) {
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(bytes);
    std::fs::write(path, file).expect("a file");
}

/// Memory in which chunks of so many elements are sorted on the processor.
pub(crate) fn room(elements: usize, size: usize) -> String {
    (elements * (5 * size + 3 * size.max(4) + 24)).to_string()
}

/// The backends that a test of the command runs on: the CPU, and wgpu unless the environment says that this machine has no adapter.
pub(crate) fn backends() -> Vec<String> {
    let named = std::env::var("ISOWARP_TEST_DEVICES").unwrap_or_else(|_| "cpu,wgpu".to_owned());
    let mut all = vec!["cpu".to_owned()];
    all.extend(named.split(',').map(str::trim).filter(|n| matches!(*n, "wgpu" | "cuda")).map(str::to_owned));
    all
}

/// The lines of a refusal.
#[track_caller]
pub(crate) fn lines_of_failure(run: &Output) -> Vec<String> {
    assert!(matches!(run.status.code(), Some(1 | 2)), "{:?} {}", run.status, stderr(run));
    let text = stderr(run);
    assert!(text.starts_with("error: "), "{text}");
    text.lines().map(str::to_owned).collect()
}

pub(crate) fn npy(bytes: &[u8]) -> Npy {
    let file = npyz::NpyFile::new(bytes).expect("a .npy file");
    let (descr, shape) = (file.dtype().descr(), file.shape().to_vec());
    Npy { descr, shape, bytes: file.into_inner().to_vec() }
}

impl Npy {
    pub(crate) fn f32s(&self) -> Vec<f32> {
        assert_eq!(self.descr, "'<f4'");
        self.bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    }
}

/// Content of a file that a run which fails leaves as it is.
pub(crate) const KEPT: &[u8] = b"what was there before";

/// Runs `isowarp run` with these arguments onto a file that is there already, and returns the error's lines.
#[track_caller]
pub(crate) fn refused(args: &[&str]) -> Vec<String> {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("out.npy");
    std::fs::write(&out, KEPT).expect("a file");
    let mut all = vec!["run"];
    all.extend(args);
    all.extend(["--out", out.to_str().expect("text")]);
    let run = isowarp(&all);
    assert_eq!(std::fs::read(&out).expect("the file"), KEPT, "the output is as it was");
    assert_eq!(std::fs::read_dir(dir.path()).expect("a directory").count(), 1, "nothing is left beside it");
    lines_of_failure(&run)
}

/// One line, and one with what to do.
#[track_caller]
pub(crate) fn says(lines: &[String], what: &str) {
    assert!(lines[0].contains(what), "{lines:?} does not say {what}");
    assert!(lines.len() == 2 && lines[1].starts_with("  help: ") && lines[1].len() > 12, "{lines:?}");
}

/// The same, with advice that is so.
#[track_caller]
pub(crate) fn advises(lines: &[String], what: &str, help: &str) {
    says(lines, what);
    assert!(lines[1].contains(help), "{lines:?} does not advise {help}");
}
