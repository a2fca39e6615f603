//! Conditions, questions and bits of keys: on every device, in chunks, and refused where they make no sense.

mod common;

use common::{backends, data, isowarp, lines_of_failure, npy, room, save_npy, stdout, succeeded};
use std::fs;

/// The oracle's cases of narrow types on the devices that it was not compared with.
#[test]
fn answers_are_numpys_on_every_device() {
    let cases: serde_json::Value = serde_json::from_slice(&fs::read(data("oracle.json")).expect("the table")).expect("JSON");
    let dir = tempfile::tempdir().expect("a directory");
    let place = |name: &str| dir.path().join(name.trim_start_matches('-')).display().to_string();
    let patterns = [
        "partition_three_f2",
        "partition_flags_u1",
        "select_indices_f2",
        "select_flags_u1",
        "count_u1",
        "find_f2",
        "find_nothing",
        "any_f2",
        "all_u1",
        "rle_decode_f2",
        "rle_decode_u1",
        "symmetric_difference_f2",
        "search_count_u1",
        "search_by_left",
        "union_by",
        "co_ranks_i4",
        "co_ranks_f8",
        "segmented_argmin_f2",
        "segmented_argmax_u1",
        "sorted_not_f2",
        "sorted_u1_up",
        "transpose_axes",
        "sort_bits_u1",
        "argsort_bits_u8",
        "topk_bits_u4",
        "sort_axis0_i8",
        "sort_axis1_down_u1",
        "sort_axis1_by_key_f4",
        "topk_axis0_by_key_u1",
        "gather_axis1_u1",
        "argsort_nan_last_f2",
        "search_nan_last_f4",
        "histogram_flow_f2",
        "histogram_flow_u1",
        "histogram_flow_edges_i4",
    ];
    for backend in backends().into_iter().filter(|b| b != "cpu") {
        for name in patterns {
            let case =
                cases.as_array().expect("a list").iter().find(|c| c["name"] == *name).unwrap_or_else(|| panic!("there is no case {name}"));
            let mut args: Vec<String> =
                case["args"].as_array().expect("arguments").iter().map(|a| a.as_str().expect("text").to_owned()).collect();
            let files = case["beside"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(o, f)| (o.clone(), f))
                .chain([("--out".to_owned(), &case["expected"])]);
            let files: Vec<_> = files.collect();
            args.extend(files.iter().flat_map(|(option, _)| [option.clone(), place(option)]));
            args.extend(["--backend".to_owned(), backend.clone()]);
            args.insert(0, "run".to_owned());
            succeeded(&isowarp(&args));
            for (option, wanted) in files {
                let wanted = fs::read(data(wanted.as_str().expect("a file"))).expect("the oracle");
                assert_eq!(npy(&fs::read(place(&option)).expect("the result")), npy(&wanted), "{name} {option} on {backend}");
            }
        }
    }
}

#[test]
fn sorts_by_some_bits_in_chunks_are_those_of_the_whole() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = |name: &str| dir.path().join(name).display().to_string();
    let n = 6007u64;
    for (descr, size, bits) in
        [("<u4", 4, "4,9"), ("<i8", 8, "60,64"), ("<f2", 2, "10,16"), ("|u1", 1, "0,8"), ("<f4", 4, "7,7"), ("<u8", 8, "64,64")]
    {
        let bytes: Vec<u8> = (0..n).flat_map(|k| k.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes()[8 - size..].to_vec()).collect();
        save_npy(path("x.npy").as_ref(), descr, &[n], &bytes);
        for backend in backends() {
            let run = |pattern: &str, rest: &[&str]| {
                let args = ["run", pattern, "--bits", bits, "--in", &path("x.npy"), "--out", &path("o.npy"), "--backend", &backend];
                succeeded(&isowarp(&[&args[..], rest].concat()));
                npy(&fs::read(path("o.npy")).expect("the result"))
            };
            for pattern in ["sort", "argsort"] {
                let whole = run(pattern, &["--descending"]);
                assert!(
                    run(pattern, &["--descending", "--chunk-size", &room(900, size)]) == whole,
                    "{pattern} {descr} {bits} on {backend}"
                );
            }
        }
    }
}

#[test]
fn stats_say_how_large_the_parts_are() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("o.npy").display().to_string();
    let run = |rest: &[&str]| {
        let run = isowarp(&[&["run", "partition", "--in", "bits_u1.npy", "--op", "i < 30", "--out", &out, "--stats"], rest].concat());
        succeeded(&run);
        stdout(&run)
    };
    assert!(run(&[]).contains("\n30 elements in the first part"));
    let three = ["--then", "i < 70"];
    assert!(run(&three).contains("\n30 and 40 elements in the first parts"));
    let stats: serde_json::Value = serde_json::from_str(&run(&[&three[..], &["--json"]].concat())).expect("JSON");
    assert_eq!(stats["parts"], serde_json::json!([30, 40]));
}

/// Runs `isowarp run` onto files that are there already: an error, and both are as they were.
#[track_caller]
fn refused(args: &[&str], option: &str) -> Vec<String> {
    let dir = tempfile::tempdir().expect("a directory");
    let (out, beside) = (dir.path().join("out.npy").display().to_string(), dir.path().join("beside.npy").display().to_string());
    for file in [&out, &beside] {
        fs::write(file, b"as it was").expect("a file");
    }
    let mut all = [&["run"], args, &["--out", &out]].concat();
    if !option.is_empty() {
        all.extend([option, &beside]);
    }
    let lines = lines_of_failure(&isowarp(&all));
    for file in [&out, &beside] {
        assert_eq!(fs::read(file).expect("the file"), b"as it was");
    }
    assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 2);
    lines
}

#[track_caller]
fn says(args: &[&str], option: &str, what: &str) {
    let lines = refused(args, option);
    assert!(lines[0].contains(what) && lines.len() == 2 && lines[1].starts_with("  help: "), "{lines:?} does not say {what}");
}

#[test]
fn conditions_that_make_no_sense_are_refused() {
    let one = ["--in", "w_i4.npy"];
    let of = |args: &[&str], option: &str, what: &str| says(&[args, &one].concat(), option, what);
    of(&["select", "--flags"], "--indices", "select --flags takes 2 inputs (--in, 2 times), not 1");
    of(&["partition", "--flags", "--op", "x > 0", "--in", "w_i4.npy"], "--count", "--flags and --op both say which elements are meant");
    of(&["select", "--flags", "--in", "r_f4.npy"], "--indices", "the inputs' shapes differ: r_f4.npy is (1000,), w_i4.npy is (300,)");
    of(&["count", "--op", "x == y", "--in", "r_f4.npy"], "", "the inputs' shapes differ");
    of(&["count", "--in", "w_i4.npy"], "", "count of several inputs needs --op, a condition");
    of(&["find", "--flags"], "", "unexpected argument '--flags' found");
    of(&["select", "--op", "x > 0", "--then", "x > 1"], "", "unexpected argument '--then' found");
    of(&["select", "--op", "x > 0"], "--count", "unexpected argument '--count' found");
    of(&["partition", "--op", "x > 0"], "--indices", "unexpected argument '--indices' found");
    of(&["partition", "--then", "x > 0"], "--count", "required arguments were not provided: --op <CONDITION>");
    let then = refused(&[&["partition", "--op", "x > 0", "--then", "x > z"], &one[..]].concat(), "--count");
    assert_eq!(then, ["error: unknown name `z`: the only input is `x`", "  x > z", "      ^"]);
    let find = refused(&[&["find", "--op", "x >"], &one[..]].concat(), "");
    assert_eq!(find, ["error: the expression ends here; expected a value", "  x >", "     ^"]);
}

#[test]
fn lengths_and_ranks_that_are_none_are_named() {
    let decode = |lengths: &str, what: &str| says(&["rle-decode", "--in", "short.npy", "--in", lengths], "", what);
    decode("wrong_lengths.npy", "lengths: that at position 2 is below zero");
    decode("huge_lengths.npy", "elements of all runs: 4294967296 is above the limit of 4294967295");
    decode("short.npy", "lengths: they are integers, not f32");
    decode("w_i4.npy", "the inputs' shapes differ: short.npy is (4,), w_i4.npy is (300,)");
    let ranks = |ranks: &str, what: &str| says(&["co-ranks", "--in", "up_i4.npy", "--in", "with_i4.npy", "--in", ranks], "", what);
    ranks("far_ranks.npy", "index 191 at position 1 is not in 0..191");
    ranks("below_ranks.npy", "index -1 at position 1 is not in 0..191");
    ranks("short.npy", "f32 elements are no indices");
    let down = ["co-ranks", "--descending", "--in", "up_i4.npy", "--in", "with_i4.npy", "--in", "ranks_i4.npy"];
    says(&down, "", "co_ranks: the first array is not sorted: element");
    let ends = |offsets: &str, what: &str| says(&["segmented-argmax", "--in", "w_i4.npy", "--in", offsets], "", what);
    ends("falling_u4.npy", "segments: the array of offsets is not sorted: element 2");
    ends("beyond_i8.npy", "segments: index 400 at position 2 is not in 0..301");
    ends("empty.npy", "offsets: they are integers of 32 or 64 bits, not f32");
}

#[test]
fn options_of_orders_that_make_no_sense_are_refused() {
    let axes = |axes: &str| {
        says(
            &["transpose", "--in", "x_f4.npy", &format!("--axes={axes}")],
            "",
            &format!("--axes {axes} does not name every axis of an array of shape (5, 7, 3) once"),
        );
    };
    ["0,1", "0,1,1", "0,1,-2", "0,1,2,2"].into_iter().for_each(axes);
    says(&["transpose", "--in", "x_f4.npy", "--axes", "0,1,3"], "", "there is no axis 3 in an array of shape (5, 7, 3)");
    says(&["reverse", "--in", "x_f4.npy", "--axes", "0,1,2"], "", "unexpected argument '--axes' found");
    for bits in ["0,33", "9,3", "3", "1,2,3"] {
        says(&["sort", "--in", "w_i4.npy", "--bits", bits], "", &format!("--bits {bits} is no range of the 32 bits of i32 elements"));
    }
    says(&["sort", "--in", "w_i4.npy", "--bits", "0,4", "--op", "x < y"], "", "--bits is for the order of values, not for one of your own");
    says(&["merge", "--in", "w_i4.npy", "--in", "w_i4.npy", "--bits", "0,4"], "", "unexpected argument '--bits' found");
    says(&["adjacent-difference", "--in", "w_i4.npy", "--side", "count"], "", "invalid value 'count' for '--side");
    says(&["symmetric-difference", "--in", "rising_r.npy", "--in", "falling_r.npy"], "", "the second array is not sorted");
    says(
        &["is-sorted", "--in", "w_i4.npy", "--op", "x < y", "--descending"],
        "",
        "--descending is for the order of values, not for one of your own",
    );
}
