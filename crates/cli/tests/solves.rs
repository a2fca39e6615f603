//! Solves and factorisations of matrices in files.

mod common;

use common::{advises, backends, isowarp, npy, refused, save_npy, says, stderr, succeeded};

#[test]
fn systems_in_files_have_their_solutions() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let save = |name: &str, shape: &[u64], values: &[f32]| save_npy(file(name).as_ref(), "<f4", shape, bytemuck::cast_slice(values));
    save("a.npy", &[2, 2], &[1.0, 2.0, 4.0, 4.0]);
    save("b.npy", &[2], &[5.0, 12.0]);
    save("columns.npy", &[2, 2], &[5.0, 3.0, 12.0, 8.0]);
    save("batch.npy", &[2, 2, 2], &[4.0, 2.0, 2.0, 5.0, 1.0, 1.0, 1.0, 1.0]);
    save("rights.npy", &[2, 2], &[8.0, 8.0, 1.0, 1.0]);
    for backend in backends() {
        let run = |args: &[&str], inputs: &[&str]| {
            let mut all: Vec<String> = ["run", args[0], "--backend", &backend].map(str::to_owned).into();
            all.extend(inputs.iter().flat_map(|input| ["--in".to_owned(), file(input)]));
            all.extend(args[1..].iter().map(|&arg| if arg.ends_with(".npy") { file(arg) } else { arg.to_owned() }));
            all.extend(["--out".to_owned(), file("out.npy")]);
            succeeded(&isowarp(&all));
            let found = npy(&std::fs::read(file("out.npy")).expect("the result"));
            (found.shape.clone(), found.f32s())
        };
        let words = |name: &str| {
            let found = npy(&std::fs::read(file(name)).expect("a file"));
            (found.shape.clone(), found.bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect::<Vec<_>>())
        };
        assert_eq!(run(&["solve"], &["a.npy", "b.npy"]), (vec![2], vec![1.0, 2.0]));
        assert_eq!(run(&["solve", "--pivoting", "full"], &["a.npy", "columns.npy"]), (vec![2, 2], vec![1.0, 1.0, 2.0, 1.0]));
        let (shape, x) = run(&["solve", "--status", "status.npy"], &["batch.npy", "rights.npy"]);
        assert_eq!((shape, &x[..2], x[2].is_nan()), (vec![2, 2], &[1.5, 1.0][..], true));
        assert_eq!(words("status.npy"), (vec![2], vec![0, 2]));
        let unasked = isowarp(&["run", "inv", "--backend", &backend, "--in", &file("batch.npy"), "--out", &file("out.npy")]);
        assert!(stderr(&unasked).contains("warning: 1 of 2 matrices had no pivot at some step"), "{}", stderr(&unasked));
        let regular = isowarp(&["run", "inv", "--backend", &backend, "--in", &file("a.npy"), "--out", &file("out.npy")]);
        assert!(!stderr(&regular).contains("warning"), "{}", stderr(&regular));
        assert_eq!(run(&["solve", "--lower"], &["a.npy", "b.npy"]), (vec![2], vec![5.0, -2.0]));
        assert_eq!(run(&["solve", "--upper", "--unit"], &["a.npy", "b.npy"]), (vec![2], vec![-19.0, 12.0]));
        assert_eq!(run(&["lu", "--permutation", "rows.npy"], &["a.npy"]), (vec![2, 2], vec![4.0, 4.0, 0.25, 1.0]));
        assert_eq!(words("rows.npy"), (vec![2], vec![1, 0]));
        assert_eq!(run(&["det"], &["batch.npy"]), (vec![2], vec![16.0, 0.0]));
        assert_eq!(run(&["inv"], &["a.npy"]), (vec![2, 2], vec![-1.0, 0.5, 1.0, -0.25]));
        let (shape, l) = run(&["cholesky"], &["batch.npy"]);
        assert_eq!((shape, &l[..4]), (vec![2, 2, 2], &[2.0, 0.0, 1.0, 2.0][..]));
    }
}

#[test]
fn systems_of_other_types_are_refused_with_those_that_are_taken() {
    let folder = tempfile::tempdir().expect("a folder");
    for (descr, size, name) in [("<f2", 2, "f16"), ("|b1", 1, "bool"), ("<i4", 4, "i32"), ("|u1", 1, "u8")] {
        let path = folder.path().join("a.npy");
        save_npy(&path, descr, &[2, 2], &vec![0; 4 * size]);
        let a = path.to_str().expect("text");
        for verb in ["lu", "cholesky", "inv", "det"] {
            advises(&refused(&[verb, "--in", a]), &format!("{verb} takes f32 or f64, not {name}"), "map --op x --dtype f32");
        }
        for triangle in [&[][..], &["--lower"], &["--upper"]] {
            let lines = refused(&[&["solve", "--in", a, "--in", a], triangle].concat());
            advises(&lines, &format!("solve takes f32 or f64, not {name}"), "map --op x --dtype f32");
        }
        // As it is advised.
        let converted = folder.path().join("converted.npy");
        let out = converted.to_str().expect("text");
        succeeded(&isowarp(&["run", "map", "--op", "x", "--dtype", "f32", "--in", a, "--out", out]));
        succeeded(&isowarp(&["run", "det", "--in", out, "--out", out]));
    }
}

#[test]
fn systems_that_make_no_sense_are_refused() {
    says(&refused(&["det", "--in", "w_i4.npy"]), "the first input has shape (300,), which is no matrix");
    says(&refused(&["solve", "--in", "x_f4.npy"]), "solve takes 2 inputs (--in, 2 times), not 1");
    let folder = tempfile::tempdir().expect("a folder");
    let [wide, narrow] = ["a.npy", "b.npy"].map(|name| folder.path().join(name).display().to_string());
    save_npy(wide.as_ref(), "<f8", &[1, 1], &[0; 8]);
    save_npy(narrow.as_ref(), "<f4", &[1], &[0; 4]);
    let mixed = refused(&["solve", "--in", &wide, "--in", &narrow]);
    advises(&mixed, "solve takes arrays of one type, not f64 and f32", "convert one of them");
    says(&refused(&["lu", "--in", "x_f4.npy"]), "rows and");
    says(&refused(&["solve", "--lower", "--upper", "--in", "x_f4.npy", "--in", "x_f4.npy"]), "cannot be used with");
    says(&refused(&["inv", "--pivoting", "half", "--in", "x_f4.npy"]), "invalid value 'half'");
}
