//! Running the command on the CPU backend.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The fixtures.
pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
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
