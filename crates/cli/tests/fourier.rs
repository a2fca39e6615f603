//! Transforms of the command: files of complex numbers, there and back, and what is refused.

mod common;

use common::{Npy, backends, isowarp, npy, refused, save_npy, says, succeeded};

/// Runs `fft` on what is piped into it.
fn fft(args: &[&str], input: Option<&[u8]>) -> Npy {
    let args = [&["run", "fft", "--out", "-"], args].concat();
    let run = match input {
        Some(bytes) => common::isowarp_with_input(&[&args[..], &["--in", "-"]].concat(), bytes),
        None => isowarp(&args),
    };
    succeeded(&run);
    npy(&run.stdout)
}

/// A file of these numbers.
fn file(descr: &str, shape: &[u64], numbers: &[f32]) -> Vec<u8> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("z.npy");
    common::save_npy(&path, descr, shape, &bytes);
    std::fs::read(&path).expect("the file")
}

#[test]
fn transforms_of_files_lead_there_and_back() {
    for backend in backends() {
        let on = ["--backend", &backend];
        // Two rows of 1, i, -1, -i and of an impulse.
        let z = [1.0f32, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let complex = file("<c8", &[2, 4], &z);
        let there = fft(&on, Some(&complex));
        assert_eq!((&*there.descr, &*there.shape), ("'<c8'", &[2, 4][..]));
        assert_eq!(floats(&there), [0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
        // The same array in Fortran order: column by column, each number's parts side by side.
        let turned: Vec<f32> = (0..4).flat_map(|c| [0, 4].map(|r| (r + c) * 2)).flat_map(|at| [z[at], z[at + 1]]).collect();
        let header = b"'fortran_order': False";
        let mut columns = file("<c8", &[2, 4], &turned);
        let at = columns.windows(header.len()).position(|w| w == header).expect("the order");
        columns[at..at + header.len()].copy_from_slice(b"'fortran_order': True ");
        assert_eq!(fft(&on, Some(&columns)), there);
        // Pairs of floats are complex numbers, too.
        let pairs = fft(&on, Some(&file("<f4", &[2, 4, 2], &z)));
        assert_eq!(pairs, there);
        let spectrum = file("<c8", &[2, 4], &floats(&there));
        let back = fft(&[&on[..], &["--inverse"]].concat(), Some(&spectrum));
        assert_eq!(floats(&back), z);
        let columns = fft(&[&on[..], &["--axis", "0"]].concat(), Some(&complex));
        assert_eq!(floats(&columns)[..4], [2.0, 0.0, 0.0, 1.0]);
        let plane = fft(&[&on[..], &["--axes", "0,1"]].concat(), Some(&complex));
        assert_eq!(floats(&plane)[..4], [1.0, 0.0, 5.0, 0.0]);
    }
}

#[test]
fn real_numbers_have_half_the_points() {
    for backend in backends() {
        let on = ["--backend", &backend, "--real"];
        for n in [4u64, 5] {
            let x: Vec<f32> = (0..n).map(|i| (i * i) as f32).collect();
            let half = fft(&on, Some(&file("<f4", &[n], &x)));
            assert_eq!((&*half.descr, &*half.shape), ("'<c8'", &[n / 2 + 1][..]));
            assert_eq!(floats(&half)[0], x.iter().sum::<f32>());
            let text = n.to_string();
            let said = [&on[..], &["--inverse", "--n", &text]].concat();
            let back = fft(&said, Some(&file("<c8", &[n / 2 + 1], &floats(&half))));
            assert_eq!((&*back.descr, &*back.shape), ("'<f4'", &[n][..]));
            assert!(back.f32s().iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-5), "{:?}", back.f32s());
        }
    }
}

#[test]
fn planes_of_real_numbers_have_the_points_of_rfftn() {
    for backend in backends() {
        let on = ["--backend", &backend, "--real", "--axes", "0,1"];
        let x = [0.0f32, 1.0, 4.0, 9.0, 1.0, 1.0, 2.0, 5.0];
        let half = fft(&on, Some(&file("<f4", &[2, 4], &x)));
        assert_eq!((&*half.descr, &*half.shape), ("'<c8'", &[2, 3][..]));
        assert_eq!(floats(&half), [23.0, 0.0, -5.0, 12.0, -9.0, 0.0, 5.0, 0.0, -3.0, 4.0, -3.0, 0.0]);
        let back = fft(&[&on[..], &["--inverse"]].concat(), Some(&file("<c8", &[2, 3], &floats(&half))));
        assert_eq!((&*back.shape, back.f32s()), (&[2, 4][..], x.to_vec()));
    }
}

#[test]
fn transforms_that_make_no_sense_are_refused() {
    says(&refused(&["fft", "--in", "x_f4.npy"]), "is not of complex numbers");
    says(&refused(&["fft", "--in", "complex.npy", "--axis", "7"]), "there is no axis 7");
    says(&refused(&["fft", "--in", "complex.npy", "--axis", "0", "--axes", "0,1"]), "cannot be used with");
    says(&refused(&["fft", "--in", "complex.npy", "--axes", "0,0"]), "axis 0 is named twice");
    says(&refused(&["fft", "--in", "x_f4.npy", "--real", "--axes", "0,9"]), "there is no axis 9");
    says(&refused(&["fft", "--in", "x_f4.npy", "--real", "--axes", "0,0"]), "axis 0 is named twice");
    says(&refused(&["fft", "--in", "complex.npy", "--n", "5"]), "--real");
    says(&refused(&["fft", "--in", "complex.npy", "--real", "--inverse", "--n", "1000"]), "1000 real numbers have 501 points");
    says(&refused(&["fft", "--in", "w_i4.npy", "--real"]), "fft takes f32 or f64, not i32");
    says(&refused(&["fft", "--in", "empty.npy", "--real"]), "a line of no points");
    // Complex numbers are no real ones, and one number of a spectrum does not say of how many.
    for axes in [&[][..], &["--axis", "0"], &["--axes", "0,1"]] {
        let real = refused(&[&["fft", "--real", "--in", "complex.npy"], axes].concat());
        says(&real, "elements of type <c8 are not supported");
    }
    let dir = tempfile::tempdir().expect("a directory");
    let one = dir.path().join("one.npy");
    save_npy(&one, "<c8", &[1], &[0; 8]);
    says(
        &refused(&["fft", "--in", one.to_str().expect("text"), "--real", "--inverse"]),
        "a spectrum of one number is that of one point or of none",
    );
    says(&refused(&["map", "--op", "x", "--in", "complex.npy"]), "elements of type <c8 are not supported");
}

fn floats(of: &Npy) -> Vec<f32> {
    of.bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().expect("four bytes"))).collect()
}
