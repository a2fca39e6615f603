//! Folders of a test's inputs, outputs and temporary files.

use super::{Npy, isowarp, npy, save_npy, succeeded};
use std::fs;
use std::path::PathBuf;

/// Folders of inputs, of outputs, and of temporary files.
pub(crate) struct Folders(tempfile::TempDir);

impl Folders {
    pub(crate) fn new() -> Self {
        let folders = Self(tempfile::tempdir().expect("a directory"));
        ["in", "out", "temp"].iter().for_each(|name| fs::create_dir(folders.path(name)).expect("a directory"));
        folders
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn input(&self, name: &str, descr: &str, shape: &[u64], bytes: &[u8]) -> String {
        let path = self.path("in").join(name);
        save_npy(&path, descr, shape, bytes);
        path.display().to_string()
    }

    /// The result, after which there is nothing else.
    #[track_caller]
    pub(crate) fn run(&self, args: &[&str]) -> Npy {
        self.run_for(args, &[]).remove(0)
    }

    /// The result, and those that go to the files of these options, after which there is nothing else.
    #[track_caller]
    pub(crate) fn run_for(&self, args: &[&str], beside: &[&str]) -> Vec<Npy> {
        let options: Vec<&str> = ["--out"].iter().chain(beside).copied().collect();
        let outs: Vec<String> = options.iter().map(|o| self.path("out").join(&o[2..]).display().to_string()).collect();
        let mut all = vec!["run"];
        all.extend(args);
        all.extend(options.iter().zip(&outs).flat_map(|(option, path)| [*option, path]));
        let temp = self.path("temp").display().to_string();
        if args[0] != "histogram" {
            all.extend(["--temp-dir", &temp]);
        }
        succeeded(&isowarp(&all));
        let found = outs.iter().map(|path| npy(&fs::read(path).expect("a result"))).collect();
        outs.iter().for_each(|path| fs::remove_file(path).expect("a result"));
        self.nothing_is_left();
        found
    }

    #[track_caller]
    pub(crate) fn nothing_is_left(&self) {
        for name in ["out", "temp"] {
            assert_eq!(fs::read_dir(self.path(name)).expect("a directory").count(), 0, "something is left in {name}");
        }
    }
}
