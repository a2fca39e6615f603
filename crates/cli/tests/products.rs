//! Products of matrices in files.

mod common;

use common::{advises, backends, isowarp, npy, refused, save_npy, says, succeeded};

#[test]
fn products_of_matrices_in_files_are_numpys_where_they_are_whole_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let save = |name: &str, shape: &[u64], values: &[f32]| save_npy(file(name).as_ref(), "<f4", shape, bytemuck::cast_slice(values));
    save("a.npy", &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    save("b.npy", &[2, 3], &[1.0, 0.0, -1.0, 2.0, 1.0, 0.0]);
    save("c.npy", &[2, 2], &[1.0, 1.0, 1.0, 1.0]);
    save("x.npy", &[3], &[1.0, 10.0, 100.0]);
    save("batch.npy", &[3, 2, 1], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    for backend in backends() {
        let run = |args: &[&str], inputs: &[&str]| {
            let mut all: Vec<String> = ["run", args[0], "--backend", &backend].map(str::to_owned).into();
            all.extend(inputs.iter().flat_map(|input| ["--in".to_owned(), file(input)]));
            all.extend(args[1..].iter().map(|&arg| arg.to_owned()));
            all.extend(["--out".to_owned(), file("out.npy")]);
            succeeded(&isowarp(&all));
            let found = npy(&std::fs::read(file("out.npy")).expect("the result"));
            (found.shape.clone(), found.f32s())
        };
        assert_eq!(run(&["gemm", "--trans-b"], &["a.npy", "b.npy"]), (vec![2, 2], vec![-2.0, 4.0, -2.0, 13.0]));
        let scaled = run(&["gemm", "--trans-b", "--alpha", "2", "--beta", "-1", "--order", "chain"], &["a.npy", "b.npy", "c.npy"]);
        assert_eq!(scaled, (vec![2, 2], vec![-5.0, 7.0, -5.0, 25.0]));
        assert_eq!(run(&["gemm", "--trans-a"], &["c.npy", "b.npy"]), (vec![2, 3], vec![3.0, 1.0, -1.0, 3.0, 1.0, -1.0]));
        assert_eq!(run(&["gemm"], &["c.npy", "batch.npy"]), (vec![3, 2, 1], vec![3.0, 3.0, 7.0, 7.0, 11.0, 11.0]));
        assert_eq!(run(&["gemv"], &["a.npy", "x.npy"]), (vec![2], vec![321.0, 654.0]));
    }
}

#[test]
fn matrices_that_do_not_fit_are_refused() {
    says(&refused(&["gemm", "--in", "x_f4.npy"]), "takes");
    says(&refused(&["gemm", "--in", "w_i4.npy", "--in", "w_i4.npy"]), "the first input has shape (300,), which is no matrix");
    says(&refused(&["gemm", "--in", "x_f4.npy", "--in", "x_f4.npy"]), "the first matrix has 3 columns, and the second 7 rows");
    says(&refused(&["gemv", "--in", "x_f4.npy", "--in", "w_i4.npy"]), "a matrix and a vector");
    says(&refused(&["gemm", "--beta", "2", "--in", "x_f4.npy", "--trans-b", "--in", "x_f4.npy"]), "--beta multiplies a third input");
    says(&refused(&["gemm", "--alpha", "4294967296", "--in", "rows_u1.npy", "--trans-b", "--in", "rows_u1.npy"]), "does not fit 32 bits");
    says(&refused(&["gemm", "--alpha", "0.5", "--in", "rows_u1.npy", "--trans-b", "--in", "rows_u1.npy"]), "no integer, as the sums are");
    says(&refused(&["gemm", "--order", "pairwise", "--in", "x_f4.npy", "--in", "x_f4.npy"]), "invalid value 'pairwise'");
}

#[test]
fn what_is_added_and_factors_are_of_the_type_of_the_sums() {
    let folder = tempfile::tempdir().expect("a folder");
    let save = |(descr, size): (&str, usize)| {
        let path = folder.path().join(&descr[1..]).display().to_string();
        save_npy(path.as_ref(), descr, &[1, 1], &vec![0; size]);
        path
    };
    let [single, double, integer, byte] = [("<f4", 4), ("<f8", 8), ("<i4", 4), ("|u1", 1)].map(save);
    let gemm = |a: &str, c: &str, rest: &[&str]| refused(&[&["gemm", "--in", a, "--in", a, "--in", c], rest].concat());
    for (a, c, sums, found) in [(&double, &single, "f64", "f32"), (&integer, &single, "i32", "f32"), (&byte, &byte, "u32", "u8")] {
        let message = format!("gemm adds to sums of {sums}, and the third input is of {found}");
        advises(&gemm(a, c, &[]), &message, &format!("map --op x --dtype {sums}"));
    }
    says(&gemm(&single, &single, &["--alpha", "1e300"]), "alpha: 1e300 does not fit f32");
    says(&gemm(&single, &single, &["--beta", "-1e39"]), "beta: -1e39 does not fit f32");
}
