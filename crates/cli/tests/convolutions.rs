//! Convolutions of files.

mod common;

use common::{backends, isowarp, npy, refused, save_npy, says, succeeded};

#[test]
fn convolutions_of_files_are_those_written_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let save = |name: &str, shape: &[u64], values: &[f32]| save_npy(file(name).as_ref(), "<f4", shape, bytemuck::cast_slice(values));
    save("signal.npy", &[4], &[1.0, 2.0, 3.0, 4.0]);
    save("pair.npy", &[2], &[1.0, 10.0]);
    save("image.npy", &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    save("corner.npy", &[2, 2], &[1.0, 0.0, 0.0, 10.0]);
    save("channels.npy", &[1, 2, 2, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    save("filters.npy", &[2, 1, 1, 2], &[1.0, 1.0, 0.0, 1.0]);
    for backend in backends() {
        let run = |args: &[&str], inputs: [&str; 2]| {
            let mut all: Vec<String> = ["run", "conv", "--backend", &backend].map(str::to_owned).into();
            all.extend(inputs.iter().flat_map(|input| ["--in".to_owned(), file(input)]));
            all.extend(args.iter().map(|&arg| arg.to_owned()));
            all.extend(["--out".to_owned(), file("out.npy")]);
            succeeded(&isowarp(&all));
            let found = npy(&std::fs::read(file("out.npy")).expect("the result"));
            (found.shape.clone(), found.f32s())
        };
        let (signal, image) = (["signal.npy", "pair.npy"], ["image.npy", "corner.npy"]);
        assert_eq!(run(&[], signal), (vec![3], vec![21.0, 32.0, 43.0]));
        assert_eq!(run(&["--flipped", "--stride", "2"], signal), (vec![2], vec![12.0, 34.0]));
        assert_eq!(run(&["--dilation", "2", "--padding", "1", "--border", "wrap"], signal), (vec![4], vec![24.0, 31.0, 42.0, 13.0]));
        assert_eq!(run(&["--transposed", "--stride", "2"], signal), (vec![8], vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0, 4.0, 40.0]));
        assert_eq!(run(&["--order", "chain"], image), (vec![1, 2], vec![51.0, 62.0]));
        assert_eq!(run(&["--padding", "same", "--border", "clamp"], image), (vec![2, 3], vec![51.0, 62.0, 63.0, 54.0, 65.0, 66.0]));
        let layer = run(&["--groups", "2", "--padding", "0,1"], ["channels.npy", "filters.npy"]);
        assert_eq!(layer, (vec![1, 2, 2, 3], vec![1.0, 3.0, 2.0, 3.0, 7.0, 4.0, 5.0, 6.0, 0.0, 7.0, 8.0, 0.0]));
        let (shape, full) = run(&["--fft"], signal);
        assert!(shape == [5] && full.iter().zip([1.0, 12.0, 23.0, 34.0, 40.0]).all(|(y, e): (&f32, f32)| (y - e).abs() < 1e-4), "{full:?}");
        assert_eq!(run(&["--fft", "--padding", "same"], image).0, [2, 3]);
    }
}

#[test]
fn convolutions_that_make_no_sense_are_refused() {
    says(&refused(&["conv", "--in", "x_f4.npy"]), "takes");
    says(&refused(&["conv", "--in", "x_f4.npy", "--in", "w_i4.npy"]), "is not convolved by filters of shape (300,)");
    says(&refused(&["conv", "--stride", "0", "--in", "w_i4.npy", "--in", "w_i4.npy"]), "stride");
    says(&refused(&["conv", "--groups", "2", "--in", "w_i4.npy", "--in", "w_i4.npy"]), "groups");
    says(&refused(&["conv", "--dilation", "2", "--in", "w_i4.npy", "--in", "w_i4.npy"]), "filter");
    says(&refused(&["conv", "--stride", "1,2", "--in", "w_i4.npy", "--in", "w_i4.npy"]), "--stride has 2 numbers, and the image 1 axes");
    says(&refused(&["conv", "--padding", "much", "--in", "w_i4.npy", "--in", "w_i4.npy"]), "--padding much is no whole number");
    for order in ["fixed30", "fast-f16"] {
        says(&refused(&["conv", "--order", order, "--in", "w_i4.npy", "--in", "w_i4.npy"]), "blocks, chain");
    }
    says(&refused(&["conv", "--fft", "--in", "w_i4.npy", "--in", "w_i4.npy"]), "conv --fft takes f32 or f64, not i32");
    says(&refused(&["conv", "--fft", "--padding", "same", "--in", "w_f2.npy", "--in", "w_f2.npy"]), "conv --fft takes f32 or f64, not f16");
    says(&refused(&["conv", "--fft", "--order", "chain", "--in", "w_i4.npy", "--in", "w_i4.npy"]), "cannot be used with");
    says(&refused(&["conv", "--fft", "--groups", "2", "--in", "w_i4.npy", "--in", "w_i4.npy"]), "cannot be used with");
}
