//! `isowarp run` over bool files, as NumPy takes them, or refused by their name.

mod common;

use common::{advises, backends, isowarp, npy, refused, save_npy, says, succeeded};
use std::fs;

/// Folder of bool files.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn save(&self, name: &str, descr: &str, shape: &[u64], bytes: &[u8]) -> String {
        let path = self.path(name);
        save_npy(path.as_ref(), descr, shape, bytes);
        path
    }

    /// NumPy's type, the shape and the bytes of a result.
    #[track_caller]
    fn run(&self, args: &[&str], inputs: &[&String], backend: &str) -> (String, Vec<u64>, Vec<u8>) {
        let out = self.path("out.npy");
        let inputs = inputs.iter().flat_map(|path| ["--in", path]);
        let all = ["run"].into_iter().chain(args.iter().copied()).chain(inputs).chain(["--backend", backend, "--out", &out]);
        succeeded(&isowarp(&all.collect::<Vec<_>>()));
        let found = npy(&fs::read(&out).expect("the result"));
        (found.descr, found.shape, found.bytes)
    }
}

fn f64s(all: &[f64]) -> Vec<u8> {
    all.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn words(all: &[u32]) -> Vec<u8> {
    all.iter().flat_map(|x| x.to_le_bytes()).collect()
}

#[test]
fn an_index_is_a_number_wherever_it_is_asked_for() {
    let f = Files::new();
    let x = f.save("x.npy", "<i4", &[3], &[0; 12]);
    for backend in backends() {
        for op in ["isnan(i)", "isnan(i + 1)", "isnan(7)", "isnan(i * 0.5)"] {
            assert_eq!(f.run(&["map", "--op", op], &[&x], &backend), ("'|b1'".to_owned(), vec![3], vec![0; 3]), "{op} on {backend}");
        }
    }
}

#[test]
fn means_sums_and_norms_are_those_of_zeros_and_ones() {
    let f = Files::new();
    // Bytes other than 0 are true.
    let x = f.save("x.npy", "|b1", &[2, 3], &[1, 0, 7, 0, 0, 255]);
    let none = f.save("none.npy", "|b1", &[0], &[]);
    for backend in backends() {
        let is = |args: &[&str], of: &String, descr: &str, shape: &[u64], bytes: Vec<u8>| {
            assert_eq!(f.run(args, &[of], &backend), (descr.to_owned(), shape.to_vec(), bytes), "{args:?} on {backend}");
        };
        is(&["mean"], &x, "'<f8'", &[1], f64s(&[0.5]));
        is(&["mean", "--exact"], &x, "'<f8'", &[1], f64s(&[0.5]));
        is(&["mean", "--exact", "--axis", "0"], &x, "'<f8'", &[3], f64s(&[0.5, 0.0, 1.0]));
        is(&["mean", "--exact", "--axis", "-1"], &x, "'<f8'", &[2], f64s(&[2.0 / 3.0, 1.0 / 3.0]));
        is(&["mean"], &none, "'<f8'", &[1], f64s(&[f64::NAN]));
        is(&["sum"], &x, "'<u4'", &[1], words(&[3]));
        is(&["sum", "--exact", "--axis", "1"], &x, "'<u4'", &[2], words(&[2, 1]));
        is(&["sum", "--order", "kahan"], &none, "'<u4'", &[1], words(&[0]));
        is(&["norm"], &x, "'<f8'", &[1], f64s(&[3f64.sqrt()]));
        is(&["norm", "--ord", "1"], &x, "'<f8'", &[1], f64s(&[3.0]));
        is(&["norm", "--ord", "inf"], &x, "'<f8'", &[1], f64s(&[1.0]));
        is(&["norm", "--ord", "inf"], &none, "'<f8'", &[1], f64s(&[0.0]));
    }
}

#[test]
fn a_measured_mean_is_the_same() {
    let f = Files::new();
    let x = f.save("x.npy", "|b1", &[4], &[1, 0, 1, 1]);
    let out = f.path("out.npy");
    succeeded(&isowarp(&["run", "mean", "--in", &x, "--out", &out, "--stats"]));
    assert_eq!(npy(&fs::read(&out).expect("the result")).bytes, f64s(&[0.75]));
}

#[test]
fn products_say_where_both_hold() {
    let f = Files::new();
    let a = f.save("a.npy", "|b1", &[2, 2], &[1, 1, 0, 0]);
    let b = f.save("b.npy", "|b1", &[2, 2], &[1, 0, 1, 0]);
    let v = f.save("v.npy", "|b1", &[2], &[0, 1]);
    let line = f.save("line.npy", "|b1", &[4], &[1, 0, 0, 1]);
    let bytes = f.save("bytes.npy", "|u1", &[2, 2], &[3, 0, 4, 0]);
    for backend in backends() {
        let truth = |shape: &[u64], all: &[u8]| ("'|b1'".to_owned(), shape.to_vec(), all.to_vec());
        let numbers = |shape: &[u64], all: &[u32]| ("'<u4'".to_owned(), shape.to_vec(), words(all));
        assert_eq!(f.run(&["gemm"], &[&a, &b], &backend), truth(&[2, 2], &[1, 0, 0, 0]));
        assert_eq!(f.run(&["gemv"], &[&a, &v], &backend), truth(&[2], &[1, 0]));
        assert_eq!(f.run(&["conv"], &[&line, &v], &backend), truth(&[3], &[0, 0, 1]));
        assert_eq!(f.run(&["dot"], &[&a, &b], &backend), truth(&[1], &[1]));
        // With a factor, or with bytes, they are numbers.
        assert_eq!(f.run(&["gemm", "--alpha", "5"], &[&a, &b], &backend), numbers(&[2, 2], &[10, 0, 0, 0]));
        assert_eq!(f.run(&["gemm"], &[&a, &bytes], &backend), numbers(&[2, 2], &[7, 0, 0, 0]));
    }
}

/// As `np.logical_or.at` and its kind, of which `np.add.at` is one for bool.
#[test]
fn scatters_combine_truth_values_as_numpy_does() {
    let f = Files::new();
    let values = f.save("values.npy", "|b1", &[3], &[1, 0, 1]);
    let target = f.save("target.npy", "|b1", &[3], &[1, 9, 0]);
    let at = f.save("at.npy", "<u4", &[3], &words(&[0, 1, 1]));
    let whole = f.save("whole.npy", "<i4", &[3], &[0; 12]);
    for backend in backends() {
        let found = [("sum", [1, 1, 0]), ("or", [1, 1, 0]), ("max", [1, 1, 0]), ("and", [1, 0, 0]), ("min", [1, 0, 0]), ("xor", [0, 0, 0])];
        for (op, found) in found {
            let result = f.run(&["scatter", "--op", op], &[&values, &at, &target], &backend);
            assert_eq!(result, ("'|b1'".to_owned(), vec![3], found.to_vec()), "{op} on {backend}");
        }
    }
    let scatter = |op: &str, target: &str| refused(&["scatter", "--op", op, "--in", &values, "--in", &at, "--in", target]);
    advises(&scatter("sub", &target), "truth values have no difference", "xor");
    for verb in ["segmented-reduce", "segmented-scan", "segmented-sort", "segmented-argsort", "segmented-argmin", "segmented-argmax"] {
        advises(&refused(&[verb, "--in", &whole, "--in", &values]), "offsets are integers of 32 or 64 bits, not bool", "last");
    }
    for op in ["sum", "store"] {
        advises(&scatter(op, &whole), "the values are bool, the target is i32", "map --op");
    }
}

#[test]
fn verbs_of_numbers_alone_name_the_type_that_the_file_has() {
    let f = Files::new();
    let x = f.save("x.npy", "|b1", &[2, 2], &[1, 0, 0, 1]);
    let y = f.save("y.npy", "<f4", &[2, 2], &[0; 16]);
    let line = f.save("line.npy", "|b1", &[4], &[0, 0, 1, 1]);
    let floats = f.save("floats.npy", "<f4", &[4], &[0; 16]);
    let both = ["--in", &x, "--in", &x];
    for args in [
        &[&["ulp"], &both[..]].concat()[..],
        &["fft", "--in", &x],
        &["fft", "--real", "--in", &x],
        &[&["conv", "--fft"], &both[..]].concat(),
        &["inv", "--in", &x],
    ] {
        advises(&refused(args), "takes f32 or f64, not bool", "--dtype f32");
    }
    says(&refused(&["cast", "--to", "e4m3", "--in", &x]), "--to is for floats, not bool");
    says(&refused(&["cast", "--from", "e4m3", "--in", &x]), "--from is for codes in u8, u16 or u32, not bool");
    for verb in ["dot", "gemm", "conv"] {
        says(&refused(&[verb, "--in", &x, "--in", &y]), &format!("{verb} takes arrays of one type, not bool and f32"));
    }
    says(&refused(&["gemm", "--in", &x, "--in", &x, "--in", &x]), "the third input is of bool");
    // Truth values are no places and no numbers of elements.
    let first = ["--in", &line, "--in", &line];
    says(&refused(&[&["gather"], &first[..]].concat()), "indices are integers, not bool");
    says(&refused(&[&["scatter"], &first[..], &["--in", &line]].concat()), "indices are integers, not bool");
    says(&refused(&[&["rle-decode"], &first[..]].concat()), "lengths of runs are integers, not bool");
    says(&refused(&[&["co-ranks"], &first[..], &["--in", &line]].concat()), "ranks are integers, not bool");
    says(&refused(&["merge", "--in", &line, "--in", &floats]), "not bool and f32");
    says(&refused(&["merge", "--variant", "merge-path", "--in", &line, "--in", &line]), "not bool");
    says(&refused(&["sort", "--bits", "0,9", "--in", &line]), "of bool elements");
    // Others are named as they are.
    for verb in ["mean", "sum", "norm"] {
        let whole = f.save("whole.npy", "<i4", &[2], &[0; 8]);
        advises(&refused(&[verb, "--in", &whole]), &format!("{verb} takes f16, f32 or f64, not i32"), "--dtype f32");
    }
}
