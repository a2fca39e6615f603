//! The command lines of the README, run from top to bottom in one folder.

#![cfg(unix)]

mod common;

use common::{data, succeeded};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Options that name a file which is written.
const WRITES: [&str; 6] = ["--out", "--keys-out", "--indices", "--lengths", "--count", "--plot"];

fn lines() -> Vec<String> {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let text = std::fs::read_to_string(&readme).unwrap_or_else(|e| panic!("{}: {e}", readme.display()));
    let (_, after) = text.split_once("**On the command line.**").expect("the part about the command");
    let (_, block) = after.split_once("```sh\n").expect("a block");
    let (block, _) = block.split_once("```").expect("the end of the block");
    block.lines().filter(|l| !l.starts_with('#')).map(str::to_owned).collect()
}

#[test]
fn the_command_lines_of_the_readme_run_from_top_to_bottom_on_one_set_of_files() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(data("../../assets/camera.png"), folder.path().join("photo.png")).expect("the photograph");
    let program = Path::new(env!("CARGO_BIN_EXE_isowarp")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let lines = lines();
    assert!(lines.len() > 40, "{lines:?}");
    for line in &lines {
        assert!(line.starts_with("isowarp "), "{line}");
        println!("{line}");
        let shell =
            Command::new("sh").args(["-c", line]).current_dir(folder.path()).env("PATH", &path).env("ISOWARP_BACKEND", "cpu").output();
        succeeded(&shell.expect("a shell"));
    }
}

#[test]
fn no_line_of_the_readme_writes_what_another_has_written() {
    let mut written = BTreeSet::new();
    for line in lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        for pair in words.windows(2).filter(|pair| WRITES.contains(&pair[0])) {
            assert!(written.insert(pair[1].to_owned()), "{} is written again by {line}", pair[1]);
        }
    }
}
