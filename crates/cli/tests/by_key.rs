//! Values that travel with keys: on every device, in chunks, and refused where they do not fit.

mod common;

use common::{backends, data, isowarp, lines_of_failure, npy, room, save_npy, succeeded};
use std::fs;

/// The oracle's cases of values of one and two bytes, which go other ways than words.
#[test]
fn narrow_values_keep_their_bits_on_every_device() {
    let cases: serde_json::Value = serde_json::from_slice(&fs::read(data("oracle.json")).expect("the table")).expect("JSON");
    let dir = tempfile::tempdir().expect("a directory");
    let (out, keys) = (dir.path().join("o.npy").display().to_string(), dir.path().join("k.npy").display().to_string());
    let of = |case: &serde_json::Value| {
        case["name"].as_str().is_some_and(|n| n.contains("_by_key_") && (n.ends_with("_f2") || n.ends_with("_u1")))
    };
    let narrow: Vec<_> = cases.as_array().expect("a list").iter().filter(|case| of(case) && case["beside"].is_object()).collect();
    assert!(narrow.len() > 8);
    for backend in backends() {
        for case in &narrow {
            let args: Vec<&str> = case["args"].as_array().expect("arguments").iter().map(|a| a.as_str().expect("text")).collect();
            succeeded(&isowarp(&[&["run"], &args[..], &["--out", &out, "--keys-out", &keys, "--backend", &backend]].concat()));
            for (found, wanted) in [(&out, &case["expected"]), (&keys, &case["beside"]["--keys-out"])] {
                let wanted = fs::read(data(wanted.as_str().expect("a file"))).expect("the oracle");
                assert_eq!(npy(&fs::read(found).expect("the result")), npy(&wanted), "{} on {backend}", case["name"]);
            }
        }
    }
}

#[test]
fn pairs_in_chunks_are_those_of_the_whole() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = |name: &str| dir.path().join(name).display().to_string();
    fs::create_dir(path("temp")).expect("a directory");
    let n = 9001u32;
    let bits = |size: usize| {
        (0..n)
            .flat_map(|k| u64::from(k.wrapping_mul(2_654_435_761)).wrapping_mul(0x1_0001_0001).to_le_bytes()[..size].to_vec())
            .collect::<Vec<u8>>()
    };
    for (key, values, rest) in [
        (("<f4", 4), ("|u1", 1), &[][..]),
        (("<f2", 2), ("<f8", 8), &["--descending"]),
        (("<i8", 8), ("<f2", 2), &[]),
        (("|u1", 1), ("<u4", 4), &["--op", "x % 16 > y % 16"]),
        (("<u4", 4), ("<i8", 8), &["--op", "x / 65536 < y / 65536"]),
        (("|u1", 1), ("|b1", 1), &[]),
    ] {
        save_npy(path("k.npy").as_ref(), key.0, &[n.into()], &bits(key.1));
        let values_of = if values.0 == "|b1" { (0..n).map(|k| (k % 3 / 2) as u8).collect() } else { bits(values.1) };
        save_npy(path("v.npy").as_ref(), values.0, &[n.into()], &values_of);
        for backend in backends() {
            let run = |chunks: &[&str]| {
                let inputs = ["run", "sort", "--by-key", "--in", &path("k.npy"), "--in", &path("v.npy"), "--backend", &backend];
                let outputs = ["--out", &path("out.npy"), "--keys-out", &path("keys.npy"), "--temp-dir", &path("temp")];
                succeeded(&isowarp(&[&inputs[..], &outputs, rest, chunks].concat()));
                assert_eq!(fs::read_dir(path("temp")).expect("a directory").count(), 0);
                ["out.npy", "keys.npy"].map(|name| npy(&fs::read(path(name)).expect("the result")))
            };
            let whole = run(&[]);
            assert_eq!((&whole[0].descr, &whole[1].descr), (&format!("'{}'", values.0), &format!("'{}'", key.0)));
            // Four chunks, and as many as take merges of merges.
            for chunk in [2500, 400].map(|k| room(k, key.1 + values.1 + 2)) {
                assert!(run(&["--chunk-size", &chunk]) == whole, "{values:?} by {key:?} {rest:?} in {chunk} on {backend}");
            }
        }
    }
    // Rows, of which a chunk holds some, or a part of one; without keys; and onto the inputs.
    save_npy(path("k.npy").as_ref(), "<i4", &[30, 50], &bits(4)[..6000]);
    save_npy(path("v.npy").as_ref(), "<u8", &[30, 50], &bits(8)[..12_000]);
    let (k, v) = (path("k.npy"), path("v.npy"));
    let rows = ["run", "sort", "--by-key", "--in", &k, "--in", &v];
    let whole = path("whole.npy");
    succeeded(&isowarp(&[&rows[..], &["--out", &whole]].concat()));
    let whole = npy(&fs::read(whole).expect("the result"));
    assert_eq!(whole.shape, [30, 50]);
    let chunks = [225, 16, 1].map(|k| room(k, 14));
    for chunk in &chunks {
        succeeded(&isowarp(&[&rows[..], &["--out", &path("out.npy"), "--chunk-size", chunk]].concat()));
        assert!(npy(&fs::read(path("out.npy")).expect("the result")) == whole, "rows in {chunk}");
    }
    succeeded(&isowarp(&[&rows[..], &["--out", &v, "--keys-out", &k, "--chunk-size", &chunks[1]]].concat()));
    assert!(npy(&fs::read(&v).expect("the result")) == whole);
    assert!(
        npy(&fs::read(&k).expect("the keys"))
            .bytes
            .chunks(200)
            .all(|row| row.chunks_exact(4).map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]])).is_sorted())
    );
}

/// Runs `isowarp run` onto files that are there already: an error, and both are as they were.
#[track_caller]
fn refused(args: &[&str], what: &str) {
    let dir = tempfile::tempdir().expect("a directory");
    let (out, keys) = (dir.path().join("out.npy").display().to_string(), dir.path().join("keys.npy").display().to_string());
    for file in [&out, &keys] {
        fs::write(file, b"as it was").expect("a file");
    }
    let mut all = [&["run"], args, &["--out", &out]].concat();
    if args[0] != "scan" && !args.contains(&"--keys-out") {
        all.extend(["--keys-out", &keys]);
    }
    let lines = lines_of_failure(&isowarp(&all));
    assert!(lines[0].contains(what) && lines.len() == 2 && lines[1].starts_with("  help: "), "{lines:?} does not say {what}");
    for file in [&out, &keys] {
        assert_eq!(fs::read(file).expect("the file"), b"as it was");
    }
    assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 2);
}

#[test]
fn values_that_do_not_fit_their_keys_are_refused() {
    let two = |pattern: &str| {
        refused(
            &[pattern, "--by-key", "--in", "w_i4.npy", "--in", "r_f4.npy"],
            "the inputs' shapes differ: w_i4.npy is (300,), r_f4.npy is (1000,)",
        );
    };
    ["sort", "unique", "scan"].into_iter().for_each(two);
    refused(&["topk", "-k", "2", "--by-key", "--in", "w_i4.npy", "--in", "r_f4.npy"], "the inputs' shapes differ");
    let four = |files: [&str; 4], rest: &[&str], what: &str| {
        let inputs = files.map(|f| ["--in", f]).concat();
        refused(&[&["merge", "--by-key"], &inputs[..], rest].concat(), what);
    };
    four(["sorted_i4.npy", "w_i4.npy", "other_i4.npy", "other_i4.npy"], &[], "shapes differ: sorted_i4.npy is (150,), w_i4.npy is (300,)");
    four(["sorted_i4.npy", "sorted_i4.npy", "other_i4.npy", "w_i4.npy"], &[], "shapes differ: other_i4.npy is (105,), w_i4.npy is (300,)");
    four(["sorted_i4.npy", "sorted_i4.npy", "sorted_u4.npy", "sorted_i4.npy"], &[], "merge takes arrays of one type, not i32 and u32");
    four(["sorted_i4.npy", "sorted_i4.npy", "sorted_i4.npy", "sorted_f8.npy"], &[], "takes values of one type, not i32 and f64");
    four(["rising_r.npy", "rising_r.npy", "falling_r.npy", "rising_r.npy"], &[], "merge: the second array is not sorted: element 1");
    four(["falling_r.npy", "rising_r.npy", "rising_r.npy", "rising_r.npy"], &["--op", "x < y"], "merge_by: the first array is not sorted");
    refused(&["merge", "--by-key", "--in", "rising_r.npy", "--in", "rising_r.npy"], "merge --by-key takes 4 inputs (--in, 4 times), not 2");
    refused(&["sort", "--by-key", "--in", "w_i4.npy"], "sort --by-key takes 2 inputs (--in, 2 times), not 1");
}

#[test]
fn by_key_is_refused_where_there_are_no_keys() {
    let of = |rest: &[&str], what: &str| refused(&[rest, &["--in", "w_i4.npy", "--in", "w_i4.npy"]].concat(), what);
    of(&["argsort", "--by-key"], "unexpected argument '--by-key' found");
    of(&["scan", "--by-key", "--keys-out", "k.npy"], "unexpected argument '--keys-out' found");
    of(&["scan", "--by-key", "--axis", "0"], "a scan by key takes its arrays as one line");
    of(&["scan", "--by-key", "--variant", "brent-kung"], "a scan by key takes its arrays as one line");
    of(&["scan", "--by-key", "--exclusive", "--op", "x ^ y"], "an operator of your own needs an identity");
    of(&["sort", "--by-key", "--variant", "bitonic"], "a variant of a sort is for the order of values of one dimension");
    of(&["sort", "--by-key", "--op", "x - y"], "result of the order: expected (bool), found (i32)");
    of(&["topk", "--by-key", "-k", "301"], "topk of 301 elements from an array of 300");
    refused(&["sort", "--in", "w_i4.npy"], "sort has none without --by-key");
    refused(
        &["sort", "--by-key", "--in", "x_f4.npy", "--in", "x_f4.npy", "--op", "x < y"],
        "rows cannot be sorted by an order of your own",
    );
}

#[test]
fn two_results_have_two_files() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("out.npy").display().to_string();
    let run = isowarp(&["run", "sort", "--by-key", "--in", "w_i4.npy", "--in", "w_i4.npy", "--out", &out, "--keys-out", &out]);
    assert!(lines_of_failure(&run)[0].contains("two results cannot go to one file"));
    assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 0);
}

/// Every spelling of a file that does not exist yet, and of one that does.
#[cfg(unix)]
#[test]
fn two_results_have_two_files_however_they_are_spelt() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("sub")).expect("a directory");
    std::os::unix::fs::symlink(dir.path(), dir.path().join("link")).expect("a link");
    let whole = dir.path().join("q.npy").display().to_string();
    let spellings = ["q.npy", "./q.npy", "sub/../q.npy", "link/q.npy", "link/sub/../q.npy", &whole];
    let input = common::data("w_i4.npy").display().to_string();
    for exists in [false, true] {
        if exists {
            fs::write(dir.path().join("q.npy"), "old").expect("a file");
        }
        for (first, second) in spellings.iter().zip(spellings.iter().cycle().skip(1)).chain([(&"sub/../q.npy", &whole.as_str())]) {
            let options =
                [(&["topk", "-k", "1"][..], "--indices"), (&["rle"], "--lengths"), (&["sort", "--by-key", "--in", &input], "--keys-out")];
            for (pattern, option) in options {
                let args = [&["run"], pattern, &["--in", &input, "--out", first, option, second]].concat();
                let run = common::command().current_dir(dir.path()).args(args).output().expect("the command starts");
                assert!(lines_of_failure(&run)[0].contains("two results cannot go to one file"), "{first} and {second}");
            }
        }
        let there = fs::read(dir.path().join("q.npy")).ok();
        assert_eq!(there.as_deref(), exists.then_some(&b"old"[..]));
    }
    // The input may be a result: it is read before it is replaced.
    fs::copy(&input, dir.path().join("q.npy")).expect("a copy");
    let args = ["run", "sort", "--in", "q.npy", "--out", "link/q.npy"];
    common::succeeded(&common::command().current_dir(dir.path()).args(args).output().expect("the command starts"));
}
