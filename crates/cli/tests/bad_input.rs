//! Bad input gets a clear error, in one line, and loses nothing.

mod common;

use common::{KEPT, advises, command, data, isowarp, isowarp_with_input, lines_of_failure as lines, refused, says};
use std::fs;
use std::path::Path;

#[test]
fn an_expression_that_does_not_parse_shows_the_place() {
    assert_eq!(
        refused(&["map", "--in", "x_f4.npy", "--op", "x + sn(x)"]),
        ["error: unknown function `sn`; did you mean `sin`?", "  x + sn(x)", "      ^"]
    );
    assert_eq!(
        refused(&["zip", "--in", "x_f4.npy", "--in", "y_f4.npy", "--op", "x * (y + 1"]),
        ["error: expected `)`", "  x * (y + 1", "            ^"]
    );
    assert_eq!(
        refused(&["reduce", "--in", "x_f4.npy", "--op", "x + z"]),
        ["error: unknown name `z`: the inputs are `x` to `y`", "  x + z", "      ^"]
    );
}

#[test]
fn an_operator_of_the_wrong_type_or_arity_shows_the_place() {
    let wrong_type = refused(&["map", "--in", "w_u4.npy", "--op", "1 + sin(x)"]);
    assert_eq!(wrong_type, ["error: `sin` is not defined for u32; write sin(f32(...))", "  1 + sin(x)", "      ^"]);
    let arity = refused(&["map", "--in", "x_f4.npy", "--op", "clamp(x, 1)"]);
    assert_eq!(arity, ["error: `clamp` takes 3 arguments, not 2", "  clamp(x, 1)", "  ^"]);
    let mixed = refused(&["zip", "--in", "w_u4.npy", "--in", "w_i4.npy", "--op", "x + y"]);
    assert_eq!(mixed, ["error: `+` of u32 and i32; convert one of them: u32(...) or i32(...)", "  x + y", "    ^"]);
    assert!(refused(&["reduce", "--in", "x_f4.npy", "--op", "and"])[0].contains("`&` is not defined for f32"));
    says(&refused(&["reduce", "--in", "x_f4.npy", "--op", "x < y"]), "result of the combining operator: expected (f32), found (bool)");
    says(&refused(&["norm", "--in", "w_u1.npy"]), "norm takes f16, f32 or f64, not u8");
    says(&refused(&["dot", "--in", "w_i4.npy", "--in", "w_u4.npy"]), "dot takes arrays of one type, not i32 and u32");
}

#[test]
fn nothing_has_no_minimum() {
    for args in
        [&["reduce", "--op", "min"][..], &["reduce", "--op", "max"], &["argmin"], &["argmax"], &["mean"], &["reduce", "--op", "x * y"]]
    {
        let mut all = args.to_vec();
        all.extend(["--in", "empty.npy"]);
        says(&refused(&all), "of an empty array has no value");
    }
    says(&refused(&["scan", "--in", "x_f4.npy", "--op", "x * y", "--exclusive"]), "needs an identity");
}

#[test]
fn lengths_that_differ_are_named() {
    let expected = "the inputs' shapes differ: x_f4.npy is (5, 7, 3), short.npy is (4,)";
    advises(&refused(&["zip", "--in", "x_f4.npy", "--in", "short.npy", "--op", "x + y"]), expected, "same shape");
    advises(&refused(&["dot", "--in", "x_f4.npy", "--in", "short.npy"]), expected, "same shape");
}

#[test]
fn more_of_the_first_elements_than_there_are_is_refused() {
    advises(&refused(&["topk", "-k", "301", "--in", "w_i4.npy"]), "topk of 301 elements from an array of 300", "ask for up to 300");
    advises(&refused(&["topk", "-k", "4", "--axis", "-1", "--in", "x_f4.npy"]), "topk of 4 elements from lines of 3", "ask for up to 3");
    advises(&refused(&["topk", "-k", "2", "--axis", "3", "--in", "x_f4.npy"]), "there is no axis 3", "axes count from 0");
    let lines = ["sort", "--axis", "0", "--chunk-size", "100", "--in", "x_f4.npy"];
    advises(&refused(&lines), "lines along this axis lie in each other", "sort along the last axis");
    let nan_last = ["sort", "--nan-last", "--in", "r_f4.npy"];
    for (rest, message, help) in [
        (["--op", "x < y"], "--nan-last is for the order of values", "leave --op out"),
        (["--bits", "0,4"], "--nan-last compares whole keys", "leave --bits or --nan-last out"),
        (["--chunk-size", "100"], "chunks are not merged with NaN last", "leave out --nan-last"),
    ] {
        advises(&refused(&[&nan_last[..], &rest].concat()), message, help);
    }
    let indices = ["gather", "--axis", "1", "--in", "x_f4.npy", "--in", "w_i4.npy"];
    advises(&refused(&indices), "indices of shape (300,) are not of the lines of (5, 7, 3) along axis 1", "leave --axis out");
    advises(&refused(&["topk", "-k", "1", "--in", "empty.npy"]), "topk of 1 elements from an array of 0", "ask for up to 0");
}

#[test]
fn indices_that_name_nothing_are_named() {
    let gather = |indices: &str| refused(&["gather", "--in", "w_i4.npy", "--in", indices]);
    says(&gather("far_i4.npy"), "index 300 at position 1");
    says(&gather("below_i8.npy"), "index -1 at position 1");
    says(&gather("r_f4.npy"), "f32 elements are no indices");
    says(&gather("w_f2.npy"), "f16 elements are no indices");
    says(&gather("w_i2.npy"), "at position 0");
    let scatter = |args: &[&str]| refused(&[&["scatter"], args].concat());
    says(&scatter(&["--in", "short.npy", "--in", "at_u4.npy", "--in", "x_f4.npy"]), "indices: expected 4 elements, found 300");
    says(&scatter(&["--in", "w_i4.npy", "--in", "at_u4.npy", "--in", "w_u4.npy"]), "they are i32, the target is u32");
    says(
        &scatter(&["--op", "mean", "--in", "w_i4.npy", "--in", "at_u4.npy", "--in", "w_i4.npy"]),
        "known: store, sum, min, max, and, or, xor",
    );
    says(&scatter(&["--op", "x < y", "--in", "w_i4.npy", "--in", "at_u4.npy", "--in", "w_i4.npy"]), "result of the combining operator");
    says(&scatter(&["--op", "x * y", "--in", "w_i4.npy", "--in", "at_u4.npy", "--in", "w_u4.npy"]), "they are i32, the target is u32");
    says(&scatter(&["--op", "x * y", "--in", "far_i4.npy", "--in", "far_i4.npy", "--in", "w_i4.npy"]), "index 300 at position 1");
    says(
        &scatter(&["--op", "xor", "--in", "w_f8.npy", "--in", "at_u4.npy", "--in", "w_f8.npy"]),
        "xor is of bits, and the elements are f64",
    );
    let fixed = |args: &[&str]| scatter(&[&["--digits", "16"], args].concat());
    says(&fixed(&["--op", "min", "--in", "x_f4.npy", "--in", "at_u4.npy", "--in", "w_i4.npy"]), "--digits is for sums");
    says(&fixed(&["--in", "w_i4.npy", "--in", "at_u4.npy", "--in", "w_i4.npy"]), "fixed-point sums are of f32, and these are i32");
    says(&fixed(&["--in", "x_f4.npy", "--in", "at_u4.npy", "--in", "w_u4.npy"]), "fixed-point sums are i32 or i64, and these are u32");
}

#[test]
fn arrays_that_are_not_sorted_or_not_of_one_type_are_named() {
    let merge = |a: &str, b: &str| refused(&["merge", "--in", a, "--in", b]);
    says(&merge("rising_r.npy", "falling_r.npy"), "merge: the second array is not sorted: element 1 comes before its left neighbour");
    says(&merge("sorted_i4.npy", "sorted_u4.npy"), "merge takes arrays of one type, not i32 and u32");
    says(&refused(&["search", "--in", "falling_r.npy", "--in", "x_f4.npy"]), "search: the sorted array is not sorted: element 1");
    says(&refused(&["union", "--descending", "--in", "rising_r.npy", "--in", "falling_r.npy"]), "the first array is not sorted");
    says(&refused(&["merge", "--in", "rising_r.npy"]), "merge takes 2 inputs");
    says(
        &refused(&["merge", "--in", "rising_r.npy", "--in", "rising_r.npy", "--side", "left"]),
        "isowarp run merge: unexpected argument '--side' found",
    );
}

#[test]
fn orders_that_are_none_are_refused() {
    for pattern in ["sort", "argsort", "merge"] {
        let order = |op: &str| {
            let inputs = ["--in", "w_i4.npy", "--in", "w_i4.npy"];
            refused(&[&[pattern, "--op", op], &inputs[..if pattern == "merge" { 4 } else { 2 }]].concat())
        };
        assert_eq!(order("x % 7 < z"), ["error: unknown name `z`: the inputs are `x` to `y`", "  x % 7 < z", "          ^"]);
        assert_eq!(order("x <"), ["error: the expression ends here; expected a value", "  x <", "     ^"]);
        assert_eq!(order("sin(x) < y"), ["error: `sin` is not defined for i32; write sin(f32(...))", "  sin(x) < y", "  ^"]);
        advises(&order("x - y"), "result of the order: expected (bool), found (i32)", "compare x and y");
    }
    let merge = |a: &str, b: &str, op: &str| refused(&["merge", "--in", a, "--in", b, "--op", op]);
    let message = "merge_by: the second array is not sorted: element 1 comes before its left neighbour";
    advises(&merge("rising_r.npy", "falling_r.npy", "x < y"), message, "the same --op");
    let sets = refused(&["union", "--in", "rising_r.npy", "--in", "falling_r.npy", "--op", "x < y"]);
    advises(
        &sets,
        "a set operation by an order: the second array is not sorted: element 1 comes before its left neighbour",
        "the same --op",
    );
    let search = refused(&["search", "--in", "falling_r.npy", "--in", "rising_r.npy", "--op", "x < y"]);
    advises(&search, "search_by: the sorted array is not sorted: element 1 comes before its left neighbour", "the same --op");
    says(&merge("falling_r.npy", "rising_r.npy", "x < y"), "the first array is not sorted: element 1");
    says(&merge("sorted_i4.npy", "sorted_u4.npy", "x < y"), "merge takes arrays of one type, not i32 and u32");
}

#[test]
fn offsets_that_are_wrong_are_named() {
    let sums = |offsets: &str| refused(&["segmented-reduce", "--in", "w_i4.npy", "--in", offsets]);
    says(&sums("falling_u4.npy"), "segments: the array of offsets is not sorted: element 2 comes before its left neighbour");
    says(&sums("beyond_i8.npy"), "segments: index 400 at position 2 is not in 0..301");
    says(&sums("below_i4.npy"), "segments: the array of offsets is not sorted: element 1");
    says(&sums("empty.npy"), "offsets: they are integers of 32 or 64 bits, not f32");
    says(&refused(&["segmented-sort", "--in", "w_i4.npy", "--in", "beyond_i8.npy"]), "segments: index 400");
    let own = &["segmented-reduce", "--in", "w_i4.npy", "--in", "inner_u4.npy", "--op", "x ^ y"];
    says(&refused(own), "segmented reduction: an operator of your own needs an identity");
    says(&refused(&["reduce-by-key", "--in", "w_i4.npy"]), "reduce-by-key takes 2 inputs");
    says(
        &refused(&["sort", "--in", "w_i4.npy", "--keys-out", "k.npy"]),
        "--keys-out is for keys with which values travel, and sort has none",
    );
    let inputs = ["--in", "w_i4.npy", "--in", "cuts_i8.npy", "--keys-out", "k.npy"];
    says(&refused(&[&["segmented-reduce"], &inputs[..]].concat()), "isowarp run segmented-reduce: unexpected argument '--keys-out' found");
}

#[test]
fn a_condition_that_is_none_is_refused() {
    let of_two = refused(&["select", "--in", "x_f4.npy", "--op", "x > y"]);
    assert_eq!(of_two, ["error: unknown name `y`: the only input is `x`", "  x > y", "      ^"]);
    let half = refused(&["partition", "--in", "x_f4.npy", "--op", "x >"]);
    assert_eq!(half, ["error: the expression ends here; expected a value", "  x >", "     ^"]);
}

#[test]
fn files_that_are_no_arrays_for_us_say_why() {
    let map = |file: &str| refused(&["map", "--in", file, "--op", "x"]);
    advises(&map("objects.npy"), "holds Python objects", "a.astype");
    advises(&map("records.npy"), "holds records", "one of the fields");
    advises(&map("complex.npy"), "elements of type <c8 are not supported", "a.real");
    let script = data("make.py").display().to_string();
    says(&map(&script), &format!("cannot read {script}: it is no .npy file"));
    advises(&map("missing.npy"), "cannot read missing.npy: No such file", "check the name");
    advises(&map("."), "cannot read .: it is a directory", "name a .npy file in it");
}

#[test]
fn archives_say_what_they_hold() {
    let map = |file: &str| refused(&["map", "--in", file, "--op", "x"]);
    advises(&map("stored.npz"), "stored.npz: it is an archive, which holds turned, truth, arr_0", "such as --in stored.npz/turned");
    advises(&map("stored.npz/lost"), "there is no array `lost` in stored.npz, which holds turned, truth, arr_0", "name one");
    says(&map("short.npy/x"), "cannot read short.npy/x: ");
    says(&map("nothing.npz/x"), "No such file");
}

#[test]
fn archives_of_many_arrays_name_the_first_and_count_the_others() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = |name: &str| dir.path().join(name).display().to_string();
    let save = |name: &str, arrays: usize| {
        let mut archive = zip::ZipWriter::new(std::fs::File::create(path(name)).expect("a file"));
        (0..arrays).for_each(|k| {
            archive.start_file(format!("arr_{k}.npy"), zip::write::SimpleFileOptions::default()).expect("a file");
        });
        archive.finish().expect("a file");
    };
    save("many.npz", 23);
    save("none.npz", 0);
    let map = |file: &str| refused(&["map", "--in", file, "--op", "x"]);
    says(&map(&path("many.npz")), "which holds arr_0, arr_1,");
    says(&map(&path("many.npz")), "arr_19 and 3 more");
    says(&map(&path("many.npz/lost")), "arr_19 and 3 more");
    advises(&map(&path("none.npz")), "which holds no arrays", "np.savez");
    // A pipe is not read twice.
    let run =
        isowarp_with_input(&["run", "map", "--in", "-", "--op", "x", "--out", "-"], &std::fs::read(path("many.npz")).expect("the file"));
    advises(&lines(&run), "cannot read standard input: it is an archive of arrays", "arrays.npz/arr_0");
}

#[test]
fn damaged_archives_are_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("damaged.npz");
    let member = path.join("turned").display().to_string();
    for name in ["stored.npz", "deflated.npz"] {
        let whole = fs::read(data(name)).expect("a fixture");
        let try_with = |bytes: &[u8]| {
            fs::write(&path, bytes).expect("a file");
            isowarp(&["run", "sort", "--in", &member, "--out", "-"])
        };
        let wanted = try_with(&whole);
        common::succeeded(&wanted);
        for at in (0..whole.len()).step_by(5) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x11;
            let found = try_with(&damaged);
            // A damaged file is refused, or gives the same output.
            assert!(found.status.code() == Some(1) || found.stdout == wanted.stdout, "{name} at {at}");
        }
        for end in (0..whole.len()).step_by(31) {
            assert_eq!(lines(&try_with(&whole[..end])).len(), 2, "{name} cut at {end}");
        }
    }
}

#[test]
fn truncated_and_corrupt_files_are_refused_at_every_length() {
    let whole = fs::read(data("short.npy")).expect("a fixture");
    for cut in (0..whole.len()).step_by(7) {
        let run = isowarp_with_input(&["run", "map", "--in", "-", "--out", "-", "--op", "x"], &whole[..cut]);
        assert!(run.stdout.is_empty());
        says(&lines(&run), "cannot read standard input: ");
    }
    let mut corrupt = whole.clone();
    corrupt[20] = b'(';
    says(&lines(&isowarp_with_input(&["run", "map", "--in", "-", "--out", "-", "--op", "x"], &corrupt)), "header is corrupt");
    let mut long = whole;
    long.push(0);
    says(&lines(&isowarp_with_input(&["run", "map", "--in", "-", "--out", "-", "--op", "x"], &long)), "more than the 16 bytes");
}

#[test]
fn an_output_that_cannot_be_written_is_found_before_the_work() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("file");
    fs::write(&file, KEPT).expect("a file");
    let into = |path: &Path| {
        let run = isowarp(&["run", "map", "--in", "missing.npy", "--op", "x", "--out", path.to_str().expect("text")]);
        lines(&run)
    };
    // The input is missing too: that the output is spoken of shows that it was looked at first.
    let nowhere = into(&dir.path().join("no/where.npy"));
    advises(&nowhere, "where.npy: No such file", "make its folder");
    assert!(!nowhere[0].contains(".part"), "{nowhere:?}");
    says(&into(&file.join("a.npy")), "cannot write");
    says(&into(dir.path()), "it is a directory");
    says(&into(Path::new("/")), "cannot write /");
    assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 1);
    assert_eq!(fs::read(&file).expect("the file"), KEPT);
}

#[cfg(unix)]
#[test]
fn a_read_only_output_is_kept() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("kept.npy");
    fs::write(&file, KEPT).expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).expect("permissions");
    let run = isowarp(&["run", "map", "--in", "x_f4.npy", "--op", "x", "--out", file.to_str().expect("text")]);
    says(&lines(&run), "it is read-only");
    assert_eq!(fs::read(&file).expect("the file"), KEPT);
}

#[test]
fn backends_that_are_not_there_are_named() {
    let with = |backend: &str| refused(&["map", "--in", "x_f4.npy", "--op", "x", "--backend", backend]);
    advises(&with("opencl"), "unknown backend `opencl`; known: auto, cpu, wgpu, cuda", "--backend");
    let run = command()
        .env("ISOWARP_BACKEND", "metal")
        .args(["run", "map", "--in", "x_f4.npy", "--op", "x", "--out", "-"])
        .output()
        .expect("the command starts");
    says(&lines(&run), "unknown backend `metal`");
    assert_eq!(run.status.code(), Some(2));
}

/// On a machine with the driver this shows that `--backend` wins over the environment; without it, the error.
#[test]
fn a_missing_driver_is_an_error_with_advice() {
    for backend in ["cuda", "wgpu"] {
        let run = isowarp(&["run", "map", "--in", "x_f4.npy", "--op", "x", "--out", "-", "--backend", backend]);
        if !run.status.success() {
            let lines = lines(&run);
            advises(&lines, &format!("backend `{backend}` is not available"), "--backend");
        }
    }
}

#[test]
fn a_driver_library_that_cannot_be_found_is_no_panic() {
    // No CUDA device and no Vulkan driver can be found through these; an adapter of another API may still be.
    for backend in ["cuda", "wgpu"] {
        let run = command()
            .envs([("CUDA_VISIBLE_DEVICES", ""), ("VK_ICD_FILENAMES", "/nonexistent"), ("VK_DRIVER_FILES", "/nonexistent")])
            .args(["run", "map", "--in", "x_f4.npy", "--op", "x", "--out", "-", "--backend", backend])
            .output()
            .expect("the command starts");
        if backend == "cuda" || !run.status.success() {
            advises(&lines(&run), &format!("backend `{backend}` is not available"), "--backend");
        }
    }
}

#[test]
fn options_of_other_patterns_are_refused_with_an_example() {
    let of = |args: &[&str], option: &str| {
        let lines = refused(&[args, &["--in", "x_f4.npy"]].concat());
        let verb = format!("isowarp run {}", args[0]);
        advises(&lines, &format!("{verb}: unexpected argument '{option}' found"), &format!("`{verb} --help` says what there is"));
    };
    // Values that an option does not take.
    let lines = refused(&["norm", "--ord", "3", "--in", "x_f4.npy"]);
    advises(&lines, "isowarp run norm: invalid value '3' for '--ord <NORM>'", "`isowarp run norm --help` says what there is");
    let lines = refused(&["random", "--dist", "halton", "--dimensions", "129", "--n", "5"]);
    advises(&lines, "dimensions of Halton points: 129 is above the limit of 128", "ask for no more than the limit");
    for args in [
        &["argmin", "--op", "x"][..],
        &["map", "--op", "x", "--axis", "0"],
        &["reduce", "--exclusive"],
        &["mean", "--variant", "shuffle"],
        &["map", "--op", "x", "--descending"],
        &["co-ranks", "--op", "x < y"],
        &["unique", "--lengths", "l.npy"],
        &["sort", "--bins", "3"],
        &["sort", "-k", "3"],
        &["sort", "--indices", "i.npy"],
        &["tickets", "--width", "3"],
        &["reverse", "--by", "1"],
    ] {
        of(args, args[args.iter().rposition(|a| a.starts_with('-')).expect("an option")]);
    }
    advises(&refused(&["map", "--in", "x_f4.npy", "--exclusive"]), "unexpected argument", "`isowarp run map --op \"2*x + 1\"");
    advises(&refused(&["scan", "--in", "x_f4.npy", "--exclusve"]), "unexpected argument '--exclusve'", "'--exclusive'");
    advises(&refused(&["scann", "--in", "x_f4.npy"]), "unrecognized subcommand 'scann'", "'scan'");
}

#[test]
fn options_that_are_missing_are_named_with_an_example() {
    for (args, missing) in [
        (&["select"][..], "--op <CONDITION>"),
        (&["partition"], "--op <CONDITION>"),
        (&["ballot", "--width", "32"], "--op <CONDITION>"),
        (&["match"], "--width <N>"),
        (&["topk"], "--k <N>"),
        (&["rotate"], "--by <N>"),
        (&["map"], "--op <EXPRESSION>"),
        (&["layout", "--from", "nchw"], "--to <LAYOUT>"),
    ] {
        let lines = refused(&[args, &["--in", "x_f4.npy"]].concat());
        advises(&lines, &format!("the following required arguments were not provided: {missing}"), &format!("isowarp run {}", args[0]));
    }
    says(&refused(&["generate", "--n", "3", "--op", "i"]), "not provided: --dtype <TYPE>");
    says(&refused(&["generate", "--n", "3", "--shape", "3", "--op", "i", "--dtype", "f32"]), "cannot be used with");
}

#[test]
fn simulations_that_make_no_sense_are_refused() {
    let ising = |args: &[&str]| refused(&[&["ising"], args].concat());
    says(&ising(&["--shape", "4,3", "--beta", "0.4"]), "a side of 3");
    says(&ising(&["--shape", "4", "--beta", "0.4"]), "1 axes");
    says(&ising(&["--shape", "4,4", "--beta", "nan"]), "NaN is not a finite number above zero");
    says(&ising(&["--shape", "4,4", "--temperatures", "-2"]), "-2 is not a finite number above zero");
    says(&ising(&["--shape", "4,4", "--temperatures", "1:2"]), "--temperatures 1:2 is no temperature");
    says(&ising(&["--shape", "4,4", "--temperatures", "1:2:1"]), "--temperatures 1:2:1 is no temperature");
    says(&ising(&["--shape", "4,4"]), "ising needs --beta or --temperatures");
    let share = ["--spot", "100", "--strike", "105"];
    let price = |args: &[&str]| refused(&[&["price"], &share[..], args].concat());
    says(&price(&["--kind", "european", "--volatility", "-0.2"]), "volatility: -0.2 is negative or not finite");
    says(&price(&["--kind", "european", "--volatility", "0.2", "--steps", "5"]), "--steps is not for european options");
    says(&price(&["--kind", "asian", "--volatility", "0.2", "--steps", "0"]), "steps: there are none");
    says(&price(&["--kind", "up-and-in", "--volatility", "0.2"]), "this kind of option needs --barrier");
    says(&price(&["--kind", "european", "--volatility", "0.2", "--geometric"]), "--geometric is for asian options");
    says(&lines(&isowarp(&["run", "ising", "--shape", "4,4", "--beta", "0.4"])), "ising has nothing to do");
}

#[test]
fn options_that_make_no_sense_are_refused() {
    says(&refused(&["scan", "--in", "x_f4.npy", "--variant", "coarsened", "--axis", "0"]), "--variant is for a whole array");
    says(
        &refused(&["sort", "--in", "r_f4.npy", "--variant", "bogo"]),
        "[possible values: odd-even-transposition, bitonic, odd-even-merge, sample",
    );
    says(
        &refused(&["sort", "--in", "x_f4.npy", "--variant", "bitonic"]),
        "a variant of a sort is for the order of values of one dimension",
    );
    says(
        &refused(&["sort", "--in", "r_f4.npy", "--variant", "bitonic", "--op", "x < y"]),
        "a variant of a sort is for the order of values of one dimension",
    );
    let sorted = ["--in", "rising_r.npy", "--in", "rising_r.npy"];
    says(
        &refused(&[&["merge", "--variant", "bubble"], &sorted[..]].concat()),
        "[possible values: basic, tiled, circular-buffer, merge-path]",
    );
    says(
        &refused(&[&["merge", "--variant", "tiled", "--op", "x < y"], &sorted[..]].concat()),
        "a variant of a merge is for the order of values",
    );
    let bytes = ["--in", "w_u1.npy", "--in", "w_u1.npy"];
    says(&refused(&[&["merge", "--variant", "tiled"], &bytes[..]].concat()), "a variant of a merge takes u32, i32 and f32, not u8");
    let bins = ["histogram", "--in", "w_u1.npy", "--bins", "4", "--range", "0,256", "--variant"];
    says(&refused(&[&bins[..], &["sorted"]].concat()), "[possible values: atomic, private-memory, private-shared, coarsened-contiguous");
    says(&refused(&[&bins[..], &["atomic", "--chunk-size", "9"]].concat()), "a variant of a histogram counts arrays at once");
    says(
        &refused(&["scan", "--in", "x_f4.npy", "--variant", "sklansky"]),
        "[possible values: kogge-stone, brent-kung, coarsened, single-pass]",
    );
    says(
        &refused(&["search", "--in", "r_f4.npy", "--in", "r_f4.npy", "--op", "x < y", "--descending"]),
        "--descending is for the order of values",
    );
    let both = refused(&["merge", "--in", "r_f4.npy", "--in", "r_f4.npy", "--op", "x < y", "--descending"]);
    advises(&both, "--descending is for the order of values", "swap x and y");
    says(&refused(&["sort", "--in", "x_f4.npy", "--op", "x < y"]), "rows cannot be sorted by an order of your own");
    says(&refused(&["sort", "--in", "r_f4.npy", "--op", "x < y", "--descending"]), "--descending is for the order of values");
    says(&refused(&["histogram", "--in", "x_f4.npy", "--bins", "4"]), "histogram needs --bins and --range");
    says(&refused(&["histogram", "--in", "x_f4.npy", "--bins", "4", "--range", "1,0"]), "has to be below the upper one");
    says(&refused(&["histogram", "--in", "w_i4.npy", "--bins", "4", "--range", "0,1e40"]), "`1e40` is no bound of i32 samples");
    says(&refused(&["histogram", "--in", "x_f4.npy", "--edges", "y_f4.npy"]), "is below edge");
    says(&refused(&["histogram", "--in", "x_f4.npy", "--edges", "edges_i4.npy"]), "the samples are f32, and the edges i32");
    for bins in ["0", "4000000000"] {
        // Bins for what is outside need the bounds before they are counted.
        refused(&["histogram", "--in", "w_i4.npy", "--bins", bins, "--range", "0.5,10.5", "--flow"]);
    }
    says(&refused(&["histogram", "--in", "w_u1.npy", "--bins", "0", "--range", "0,9"]), "bins: there is none");
    says(&refused(&["match", "--in", "x_f4.npy", "--width", "0"]), "invalid value '0' for '--width <N>'");
    says(&refused(&["gather", "--in", "x_f4.npy"]), "gather takes 2 inputs");
    says(&refused(&["scatter", "--in", "x_f4.npy", "--in", "at_u4.npy"]), "scatter takes 3 inputs");
    says(&refused(&["map", "--op", "1"]), "map takes one input (--in), not 0");
    says(&refused(&["dot", "--in", "x_f4.npy"]), "dot takes 2 inputs");
    says(&refused(&["zip", "--in", "x_f4.npy", "--op", "x"]), "zip takes 2 to 4 inputs");
    says(&refused(&["generate", "--n", "3", "--dtype", "f99", "--op", "i"]), "unknown element type `f99`");
    says(&refused(&["reduce", "--in", "x_f4.npy", "--axis", "3"]), "there is no axis 3 in an array of shape (5, 7, 3)");
    says(&refused(&["reduce", "--in", "x_f4.npy", "--op", "sum", "--identity", "0"]), "has its own");
    for (pattern, op, identity, says_so) in [
        ("reduce", "x + y", "100", "identity: 100.0 is no identity of `x + y`, which makes 101.0 of 100.0 and 1.0"),
        ("scan", "x * y", "0", "which makes 0.0 of 0.0 and 1.0"),
        ("scan", "max(x, y)", "inf", "which makes inf of inf and 1.0"),
    ] {
        says(&refused(&[pattern, "--in", "x_f4.npy", "--op", op, "--identity", identity]), says_so);
    }
    // Values that the small ones do not show: negative and large ones, where the operator keeps them so.
    for pattern in ["scan", "reduce"] {
        let of = |op: &str, identity: &str, input: &str| refused(&[pattern, "--in", input, "--op", op, &format!("--identity={identity}")]);
        says(&of("max(x, y)", "0", "x_f4.npy"), "0.0 is no identity of `max(x, y)`, which makes 0.0 of 0.0 and -1.0");
        says(&of("max(x, y)", "-4", "w_i4.npy"), "-4 is no identity");
        says(&of("min(x, y)", "100", "w_i4.npy"), "100 is no identity of `min(x, y)`, which makes 100 of 100 and 1000");
        says(&of("min(x, y)", "256", "w_u1.npy"), "256 does not fit u8");
        // Of 8 bits every value is tried.
        says(&of("min(x, y)", "200", "w_u1.npy"), "200 is no identity of `min(x, y)`, which makes 200 of 200 and 201");
    }
    says(&refused(&["zip", "--in", "-", "--in", "-", "--op", "x + y"]), "one input only");
}

#[test]
fn more_than_the_device_holds_is_an_error() {
    for n in ["4611686018427387904", "18446744073709551615"] {
        let lines = refused(&["generate", "--n", n, "--dtype", "f64", "--op", "i"]);
        assert!(lines[0].contains("above the limit") || lines[0].contains("out of memory"), "{lines:?}");
    }
    says(&refused(&["generate", "--shape", "18446744073709551615,2", "--dtype", "f64", "--op", "i"]), "more than 2^64 elements");
    let terabytes = refused(&["generate", "--n", "70368744177664", "--dtype", "f64", "--op", "i"]);
    advises(&terabytes, "out of memory: 562949953421312 bytes requested", "smaller array");
}
