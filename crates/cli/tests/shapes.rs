//! Several dimensions: on every device, in chunks, and refused where they make no sense.

mod common;

use common::{backends, data, isowarp, lines_of_failure, npy, save_npy, succeeded};
use std::fs;

/// The oracle's cases on the devices that it was not compared with.
#[test]
fn shapes_are_numpys_on_every_device() {
    let cases: serde_json::Value = serde_json::from_slice(&fs::read(data("oracle.json")).expect("the table")).expect("JSON");
    let dir = tempfile::tempdir().expect("a directory");
    let (out, keys) = (dir.path().join("o.npy").display().to_string(), dir.path().join("k.npy").display().to_string());
    let named = |name: &str, starts: &[&str]| starts.iter().any(|s| name.starts_with(s));
    let of = |case: &&serde_json::Value| {
        let name = case["name"].as_str().unwrap_or_default();
        // Types of all sizes, but of the combinations a few.
        named(
            name,
            &[
                "histogram_two",
                "histogram_three",
                "histogram_channels",
                "to_morton",
                "from_morton",
                "segmented_sort_by_key",
                "scatter_own",
                "scatter_by",
                "scatter_fixed",
                "gather_by",
            ],
        ) || name == "layout_chwn_nchw_u1"
            || name == "layout_nhwc_chwn_f2"
    };
    let shapes: Vec<_> = cases.as_array().expect("a list").iter().filter(of).collect();
    assert!(shapes.len() > 25);
    for backend in backends().into_iter().filter(|b| b != "cpu") {
        for case in &shapes {
            let mut args: Vec<&str> = case["args"].as_array().expect("arguments").iter().map(|a| a.as_str().expect("text")).collect();
            let mut files = vec![(&out, &case["expected"])];
            if case["beside"].is_object() {
                args.extend(["--keys-out", &keys]);
                files.push((&keys, &case["beside"]["--keys-out"]));
            }
            succeeded(&isowarp(&[&["run"], &args[..], &["--out", &out, "--backend", &backend]].concat()));
            for (found, wanted) in files {
                let wanted = fs::read(data(wanted.as_str().expect("a file"))).expect("the oracle");
                assert_eq!(npy(&fs::read(found).expect("the result")), npy(&wanted), "{} on {backend}", case["name"]);
            }
        }
    }
}

#[test]
fn histograms_of_several_arrays_in_chunks_are_those_of_the_whole() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("o.npy").display().to_string();
    let two = ["--in", "joint_f4.npy", "--in", "joint_i4.npy", "--out", &out];
    let even = ["--bins", "16,8", "--range", "-8,8,20,260"];
    let edges = ["--edges", "edges_joint_f4.npy", "--edges", "edges_joint_i4.npy"];
    for backend in backends() {
        for (name, rest) in
            [("two", &even[..]), ("two_edges", &edges), ("two_weighted", &[&even[..], &["--weights", "joint_f8.npy"]].concat())]
        {
            let chunks = ["--chunk-size", "4000", "--backend", &backend];
            succeeded(&isowarp(&[&["run", "histogram"], &two[..], rest, &chunks].concat()));
            let wanted = fs::read(data(&format!("want_histogram_{name}.npy"))).expect("the oracle");
            assert_eq!(npy(&fs::read(&out).expect("the result")), npy(&wanted), "{name} on {backend}");
        }
    }
}

#[test]
fn shapes_that_make_no_sense_are_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("o.npy").display().to_string();
    let says = |args: &[&str], message: &str| {
        let lines = lines_of_failure(&isowarp(&[&["run"], args, &["--out", &out]].concat()));
        assert!(lines[0].contains(message), "{lines:?}");
        assert!(lines.len() == 2 && lines[1].starts_with("  help: "), "{lines:?}");
        assert!(!std::path::Path::new(&out).exists());
    };
    let two = ["histogram", "--in", "joint_f4.npy", "--in", "joint_i4.npy"];
    let of_two = |rest: &[&'static str]| [&two[..], rest].concat();
    says(&of_two(&["--bins", "16", "--range", "0,1"]), "for each of 2 arrays, not 1 of --bins and 2 of --range");
    says(&of_two(&["--bins", "16,8", "--range", "0,1"]), "for each of 2 arrays, not 2 of --bins and 2 of --range");
    says(&of_two(&["--edges", "edges_joint_f4.npy"]), "for each of 2 arrays, not 1 of --edges");
    says(&of_two(&["--bins", "16,8", "--range", "0,1,9,2"]), "has to be below the upper one");
    says(&of_two(&["--bins", "2048,1024", "--range", "0,1,0,4096"]), "2097152");
    says(&of_two(&["--channels", "2", "--bins", "4", "--range", "0,1"]), "histogram takes one input");
    says(&["histogram", "--in", "joint_f4.npy", "--in", "x_f4.npy", "--bins", "4,4", "--range", "0,1,0,1"], "the inputs' shapes differ");
    let rgba = |rest: &[&'static str]| [&["histogram", "--in", "rgba_u1.npy"][..], rest].concat();
    says(&rgba(&["--channels", "3", "--bins", "4", "--range", "0,256"]), "is not of 3 channels");
    says(&rgba(&["--channels", "4", "--bins", "4,4", "--range", "0,256,0,128,0,64"]), "do not fit 4 channels");
    says(&rgba(&["--channels", "4", "--bins", "4,4,4,4,4", "--range", "0,256"]), "do not fit 4 channels");
    says(&rgba(&["--channels", "4", "--bins", "4", "--range", "0,256", "--weights", "rgba_u1.npy"]), "expected 143");
    says(&rgba(&["--channels", "4", "--bins", "4,5", "--range", "0,256", "--weights", "pixel_weights_i4.npy"]), "the same of each channel");
    says(&rgba(&["--channels", "4", "--edges", "edges_red_u1.npy", "--weights", "pixel_weights_i4.npy"]), "the same of each channel");
    says(&rgba(&["--channels", "4", "--bins", "4", "--range", "0,256", "--chunk-size", "64"]), "without --channels");
    says(&["histogram", "--in", "pixels_f8.npy", "--channels", "6", "--bins", "4", "--range", "0,1"], "6 active ones of 6");
    says(&["histogram", "--in", "rgba_line_u1.npy", "--channels", "3", "--bins", "4", "--range", "0,256"], "no whole pixels of 3");
    says(&["layout", "--in", "rgba_u1.npy", "--from", "nchw", "--to", "nhwc"], "with four axes, not of an array of shape");
    says(&["layout", "--in", "batch_f4.npy", "--from", "nchw"], "required arguments were not provided: --to");
    says(&["transpose", "--in", "batch_f4.npy", "--from", "nchw"], "unexpected argument '--from' found");
    says(&["to-morton", "--in", "batch_f4.npy"], "4 axes; Morton order has one to three");
    says(&["to-morton", "--in", "rgba_u1.npy"], "is no power of two");
    says(&["from-morton", "--in", "curve_f4.npy"], "required arguments were not provided: --shape");
    says(&["from-morton", "--in", "curve_f4.npy", "--shape", "4,8"], "elements of the shape");
    let parts = ["segmented-sort", "--by-key", "--in", "part_f4.npy"];
    says(&parts, "segmented-sort --by-key takes 3 inputs");
    says(&[&parts[..], &["--in", "w_f2.npy", "--in", "cuts_i8.npy"]].concat(), "shapes differ");
    says(&[&parts[..], &["--in", "part_load_u1.npy", "--in", "part_i8.npy"]].concat(), "offset");
}

#[test]
fn arrays_of_many_axes_in_fortran_order_are_read() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("x.npy");
    // An element is its index in C order: the bits of its place in the file in reverse.
    let bytes: Vec<u8> = (0..=u8::MAX).map(u8::reverse_bits).collect();
    save_npy(&path, "|u1", &[2; 8], &bytes);
    let header = b"'fortran_order': False";
    let mut file = fs::read(&path).expect("the file");
    let at = file.windows(header.len()).position(|w| w == header).expect("the order");
    file[at..at + header.len()].copy_from_slice(b"'fortran_order': True ");
    fs::write(&path, file).expect("a file");
    for backend in backends() {
        let out = isowarp(&["run", "map", "--op", "x", "--in", path.to_str().expect("text"), "--out", "-", "--backend", &backend]);
        succeeded(&out);
        let found = npy(&out.stdout);
        assert!(found.shape == [2; 8] && found.bytes.iter().copied().eq(0..=u8::MAX), "{backend}: {found:?}");
    }
}
