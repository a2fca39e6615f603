//! Small arrays by their elements, and what the command makes of them on the CPU and on wgpu.

use super::{Npy, backends, isowarp, npy, save_npy, succeeded};
use std::path::{Path, PathBuf};

/// A directory with input files.
pub(crate) struct Files(tempfile::TempDir);

impl Files {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    /// A one-dimensional array.
    pub(crate) fn line<const N: usize>(&self, descr: &str, elements: &[[u8; N]]) -> PathBuf {
        self.array(descr, &[elements.len() as u64], &elements.concat())
    }

    pub(crate) fn array(&self, descr: &str, shape: &[u64], bytes: &[u8]) -> PathBuf {
        let number = std::fs::read_dir(self.0.path()).expect("a directory").count();
        let path = self.0.path().join(format!("{number}.npy"));
        save_npy(&path, descr, shape, bytes);
        path
    }

    /// A place for a result beside.
    pub(crate) fn beside(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }
}

pub(crate) fn i32s(v: &[i32]) -> Vec<[u8; 4]> {
    v.iter().map(|x| x.to_le_bytes()).collect()
}

pub(crate) fn f32s(v: &[f32]) -> Vec<[u8; 4]> {
    v.iter().map(|x| x.to_le_bytes()).collect()
}

/// `isowarp run` over these inputs on every backend; the results are equal, and this is the first.
#[track_caller]
pub(crate) fn run(inputs: &[&Path], args: &[&str]) -> Npy {
    let results = backends().into_iter().map(|backend| {
        let out = isowarp(&line_of(inputs, args, &backend));
        succeeded(&out);
        npy(&out.stdout)
    });
    let results: Vec<Npy> = results.collect();
    results.iter().for_each(|r| assert_eq!(*r, results[0], "{args:?}"));
    results.into_iter().next().expect("the CPU is always there")
}

pub(crate) fn line_of(inputs: &[&Path], args: &[&str], backend: &str) -> Vec<String> {
    let mut all = vec!["run".to_owned()];
    all.extend(args.iter().map(ToString::to_string));
    for path in inputs {
        all.extend(["--in".to_owned(), path.display().to_string()]);
    }
    all.extend(["--out", "-", "--backend", backend].map(str::to_owned));
    all
}

#[track_caller]
pub(crate) fn is<const N: usize>(found: &Npy, descr: &str, shape: &[u64], elements: &[[u8; N]]) {
    assert_eq!((found.descr.as_str(), found.shape.as_slice()), (descr, shape));
    assert_eq!(found.bytes, elements.concat());
}

/// Every kind of float that a comparison, an addition or a copy by value could change, in IEEE 754's total order.
pub(crate) const IN_ORDER: [u32; 9] = [
    0xFFC0_0001, // a NaN with its sign set
    0xFF80_0000, // -inf
    0x8000_0001, // the negative subnormal next to zero
    0x8000_0000,
    0x0000_0000,
    0x0000_0001,
    0x7F80_0000,
    0x7F80_0001, // a signalling NaN
    0x7FC1_2345, // a NaN with a payload
];

pub(crate) fn bits(words: &[u32]) -> Vec<[u8; 4]> {
    words.iter().map(|w| w.to_le_bytes()).collect()
}
