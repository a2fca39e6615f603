//! `isowarp run` against NumPy.

mod common;

use common::{backends, command, data, isowarp, isowarp_with_input, npy, stderr, stdout, succeeded};
use std::fs;

#[test]
fn results_are_numpys() {
    let table = |name: &str| -> Vec<serde_json::Value> {
        serde_json::from_slice(&fs::read(data(name)).expect("the table")).expect("a list in JSON")
    };
    let cases = [table("oracle.json"), table("files.json")].concat();
    assert!(cases.len() > 60);
    let dir = tempfile::tempdir().expect("a directory");
    for case in &cases {
        let name = case["name"].as_str().expect("a name");
        let out = dir.path().join(format!("{name}.npy"));
        let mut args: Vec<String> = vec!["run".to_owned()];
        args.extend(case["args"].as_array().expect("arguments").iter().map(|a| a.as_str().expect("text").to_owned()));
        args.extend(["--out".to_owned(), out.display().to_string()]);
        // Options that take a file, and what it must equal.
        let beside: Vec<(&str, &str)> =
            case["beside"].as_object().into_iter().flatten().filter_map(|(o, f)| Some((&o[..], f.as_str()?))).collect();
        let place = |option: &str| dir.path().join(format!("{name}{option}.npy"));
        args.extend(beside.iter().flat_map(|(option, _)| [(*option).to_owned(), place(option).display().to_string()]));
        let run = isowarp(&args);
        assert!(run.status.success(), "{name}: {}", stderr(&run));
        for (option, wanted) in beside {
            let found = npy(&fs::read(place(option)).expect("the result"));
            assert_eq!(found, npy(&fs::read(data(wanted)).expect("the oracle")), "{name} {option}");
        }
        let found = npy(&fs::read(&out).expect("the result"));
        let wanted = npy(&fs::read(data(case["expected"].as_str().expect("a file"))).expect("the oracle"));
        match case["tolerance"].as_f64() {
            Some(t) if t > 0.0 => {
                assert_eq!(found.shape, wanted.shape, "{name}");
                for (f, w) in found.f32s().iter().zip(wanted.f32s()) {
                    assert!(f64::from((f - w).abs()) <= t * f64::from(w.abs()).max(0.1), "{name}: {f} is not {w}");
                }
            }
            _ => assert_eq!(found, wanted, "{name}"),
        }
    }
}

#[test]
fn runs_have_their_lengths_in_a_file_of_their_own() {
    let dir = tempfile::tempdir().expect("a directory");
    let lengths = dir.path().join("lengths.npy");
    for code in ["f2", "f8", "i4", "i8", "u1", "u4", "u8"] {
        let input = format!("runs_{code}.npy");
        let run = isowarp(&["run", "rle", "--in", &input, "--out", "-", "--lengths", lengths.to_str().expect("text")]);
        succeeded(&run);
        assert_eq!(npy(&run.stdout), npy(&fs::read(data(&format!("want_rle_{code}.npy"))).expect("the oracle")), "{code}");
        let wanted = fs::read(data(&format!("lengths_{code}.npy"))).expect("the oracle");
        assert_eq!(npy(&fs::read(&lengths).expect("the lengths")), npy(&wanted), "{code}");
    }
}

#[test]
fn peers_and_tickets_are_counted_in_a_file_of_their_own() {
    let dir = tempfile::tempdir().expect("a directory");
    let lengths = dir.path().join("lengths.npy");
    for code in ["f2", "f8", "i4", "i8", "u1", "u4", "u8"] {
        for (name, pattern) in [
            ("match_10", &["match", "--width", "10"][..]),
            ("match_32", &["match", "--width", "32"]),
            ("match_70", &["match", "--width", "70"]),
            ("tickets", &["tickets"]),
        ] {
            let input = format!("few_{code}.npy");
            let rest = ["--in", &input, "--out", "-", "--lengths", lengths.to_str().expect("text")];
            succeeded(&isowarp(&[&["run"], pattern, &rest].concat()));
            let wanted = fs::read(data(&format!("lengths_{name}_{code}.npy"))).expect("the oracle");
            assert_eq!(npy(&fs::read(&lengths).expect("the lengths")), npy(&wanted), "{name} of {code}");
        }
    }
}

#[test]
fn the_first_elements_have_their_places_in_a_file_of_their_own() {
    let dir = tempfile::tempdir().expect("a directory");
    let places = dir.path().join("places.npy");
    for code in ["f2", "f8", "i4", "i8", "u1", "u4", "u8"] {
        for (name, options) in [("topk", &[][..]), ("topk_down", &["--descending"])] {
            let input = format!("few_{code}.npy");
            let rest = ["topk", "-k", "20", "--in", &input, "--out", "-", "--indices", places.to_str().expect("text")];
            let run = isowarp(&[&["run"], &rest[..], options].concat());
            succeeded(&run);
            assert_eq!(npy(&run.stdout), npy(&fs::read(data(&format!("want_{name}_{code}.npy"))).expect("the oracle")), "{name} of {code}");
            let wanted = fs::read(data(&format!("places_{name}_{code}.npy"))).expect("the oracle");
            assert_eq!(npy(&fs::read(&places).expect("the places")), npy(&wanted), "{name} of {code}");
        }
    }
    // Of rows in the rows' shape.
    let rows = ["run", "topk", "-k", "2", "--axis", "-1", "--descending", "--in", "x_f4.npy", "--out", "-"];
    succeeded(&isowarp(&[&rows[..], &["--indices", places.to_str().expect("text")]].concat()));
    let wanted = fs::read(data("places_topk_axis.npy")).expect("the oracle");
    assert_eq!(npy(&fs::read(&places).expect("the places")), npy(&wanted));
}

#[test]
fn runs_have_their_keys_in_a_file_of_their_own() {
    let dir = tempfile::tempdir().expect("a directory");
    let keys = dir.path().join("keys.npy");
    for code in ["f2", "f8", "i4", "i8", "u1", "u4", "u8"] {
        let (runs, values) = (format!("runs_{code}.npy"), format!("w_{code}.npy"));
        let args = ["run", "reduce-by-key", "--in", &runs, "--in", &values, "--out", "-", "--keys-out", keys.to_str().expect("text")];
        let run = isowarp(&args);
        succeeded(&run);
        assert_eq!(npy(&run.stdout), npy(&fs::read(data(&format!("want_by_key_{code}.npy"))).expect("the oracle")), "{code}");
        let wanted = fs::read(data(&format!("want_unique_{code}.npy"))).expect("the oracle");
        assert_eq!(npy(&fs::read(&keys).expect("the keys")), npy(&wanted), "{code}");
    }
}

#[test]
fn every_version_of_the_format_is_read() {
    for version in ["version_2.npy", "version_3.npy"] {
        let run = isowarp(&["run", "map", "--in", version, "--out", "-", "--op", "x"]);
        succeeded(&run);
        assert_eq!(npy(&run.stdout), npy(&fs::read(data("x_f4.npy")).expect("a fixture")));
    }
}

#[test]
fn standard_streams_carry_arrays() {
    let input = fs::read(data("x_f4.npy")).expect("a fixture");
    let run = isowarp_with_input(&["run", "map", "--in", "-", "--out", "-", "--op", "x + 0", "--stats"], &input);
    succeeded(&run);
    assert_eq!(npy(&run.stdout).shape, [5, 7, 3]);
    assert!(stderr(&run).contains("GB/s"), "stats go where the data does not");
}

#[test]
fn input_and_output_may_be_one_file() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("a.npy");
    fs::copy(data("x_f4.npy"), &file).expect("a copy");
    let path = file.to_str().expect("text");
    succeeded(&isowarp(&["run", "map", "--in", path, "--out", path, "--op", "x + 1"]));
    let (before, after) = (npy(&fs::read(data("x_f4.npy")).expect("a fixture")), npy(&fs::read(&file).expect("the result")));
    assert!(before.f32s().iter().zip(after.f32s()).all(|(b, a)| b + 1.0 == a));
    assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 1, "nothing is left beside the output");
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let dir = tempfile::tempdir().expect("a directory");
    let (target, link) = (dir.path().join("t.npy"), dir.path().join("l.npy"));
    fs::write(&target, b"old").expect("a file");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).expect("permissions");
    symlink(&target, &link).expect("a link");
    succeeded(&isowarp(&["run", "generate", "--n", "3", "--dtype", "f32", "--op", "i", "--out", link.to_str().expect("text")]));
    assert!(fs::symlink_metadata(&link).expect("the link").is_symlink());
    assert_eq!(npy(&fs::read(&target).expect("the result")).f32s(), [0.0, 1.0, 2.0]);
    assert_eq!(fs::metadata(&target).expect("the file").permissions().mode() & 0o777, 0o640);
}

#[test]
fn stats_name_the_device_and_the_share_of_a_copy() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("o.npy");
    let out = out.to_str().expect("text");
    let text = isowarp(&["run", "scan", "--in", "r_f4.npy", "--out", out, "--stats"]);
    succeeded(&text);
    let words = stdout(&text);
    assert!(words.contains("scan of 1000 elements on cpu") && words.contains("GB/s") && words.contains("of a copy's"), "{words}");

    let json = isowarp(&["run", "reduce", "--in", "r_f4.npy", "--out", out, "--stats", "--json"]);
    succeeded(&json);
    let stats: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!((stats["backend"].as_str(), stats["bytes"].as_u64()), (Some("cpu"), Some(4004)));
    assert!(stats["device_seconds"].as_f64().is_some_and(|s| s > 0.0));
}

#[test]
fn a_sum_next_to_a_product_is_fused_and_mul_rn_is_not() {
    let op = |text: &str| {
        let run = isowarp(&["run", "generate", "--n", "1", "--dtype", "f32", "--out", "-", "--op", text]);
        succeeded(&run);
        npy(&run.stdout).f32s()[0]
    };
    let a = 1.000_000_1f32;
    assert_eq!(op("f32(i + 1)*1.0000001*1.0000001 - 1.0000002"), a.mul_add(a, -1.000_000_2));
    assert_eq!(op("mul_rn(f32(i + 1)*1.0000001, 1.0000001) - 1.0000002"), a * a - 1.000_000_2);
}

#[test]
fn a_rung_of_a_ladder_is_an_explicit_choice() {
    let run = |args: &[&str]| {
        let run = isowarp(&[&["run"], args, &["--out", "-"]].concat());
        succeeded(&run);
        npy(&run.stdout).f32s()
    };
    let scans = ["kogge-stone", "brent-kung", "coarsened", "single-pass"].map(|v| run(&["scan", "--in", "r_f4.npy", "--variant", v]));
    assert_eq!(scans[3], run(&["scan", "--in", "r_f4.npy"]));
    assert_eq!(scans[0].len(), 1000);
    assert!(
        scans[..3].iter().all(|s| s != &scans[3] && (s[999] / scans[3][999] - 1.0).abs() < 1e-4),
        "orders of their own, near each other"
    );
    let sums = ["interleaved", "convergent", "aligned-tree"].map(|v| run(&["reduce", "--in", "r_f4.npy", "--variant", v]));
    assert!(sums.iter().all(|s| *s == run(&["reduce", "--in", "r_f4.npy"])), "one tree");
}

#[test]
fn fast_numerics_are_an_explicit_choice() {
    let out =
        command().args(["run", "map", "--in", "s_f4.npy", "--out", "-", "--op", "exp(x)", "--numerics", "fast"]).output().expect("runs");
    succeeded(&out);
    assert_eq!(npy(&out.stdout).shape, [1000]);
}

#[test]
fn random_numbers_are_those_of_the_contract_on_every_backend() {
    let run = |args: &[&str], backend: &str| {
        let run = isowarp(&[&["run", "random"], args, &["--backend", backend, "--out", "-"]].concat());
        succeeded(&run);
        npy(&run.stdout)
    };
    let words = [0x6627_e8d5u32, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8].map(u32::to_le_bytes).concat();
    for backend in backends() {
        let bits = run(&["--dist", "bits", "--shape", "2,2"], &backend);
        assert_eq!((bits.descr.as_str(), bits.shape, bits.bytes), ("'<u4'", vec![2, 2], words.clone()));
        let points = run(&["--dist", "sobol", "--n", "4", "--dimensions", "2"], &backend);
        assert_eq!((points.shape.clone(), points.f32s()), (vec![4, 2], vec![0.0, 0.0, 0.5, 0.5, 0.75, 0.25, 0.25, 0.75]));
        let lecuyers = run(&["--dist", "uniform", "--n", "2", "--generator", "mrg32k3a"], &backend);
        assert_eq!(lecuyers.f32s(), [545_508_589u32, 1_368_065_410].map(|word| ((word - 1) >> 8) as f32 / 16_777_216.0));
        let curands = run(&["--dist", "uniform", "--n", "2", "--generator", "xorwow", "--position", "1"], &backend);
        assert_eq!(curands.f32s(), [1_883_133_293u32, 2_220_552_389].map(|word| (word >> 8) as f32 / 16_777_216.0));
        let generated = run(&["--dist", "bits", "--n", "4097", "--generator", "xorwow-interleaved"], &backend);
        let word = |k: usize| u32::from_le_bytes(*generated.bytes[4 * k..].first_chunk().expect("a word"));
        assert_eq!([0, 1, 4096].map(word), [3_179_217_846, 3_955_638_199, 1_883_133_293]);
        let later = ["--dist", "bits", "--n", "1", "--generator", "xorwow-interleaved", "--position", "4096"];
        assert_eq!(run(&later, &backend).bytes, word(4096).to_le_bytes());
        let uniform = run(&["--dist", "uniform", "--n", "2", "--position", "2"], &backend);
        assert_eq!(uniform.f32s(), [0x00bc_57ac as f32 / 16_777_216.0, 0x009b_00db as f32 / 16_777_216.0]);
        for args in [
            &["--dist", "normal", "--n", "999", "--seed", "7", "--stream", "3", "--mean", "-1", "--deviation", "0.5"][..],
            &["--dist", "quantile", "--n", "9"],
            &["--dist", "normal", "--n", "999", "--dtype", "f64", "--mean", "0.1", "--deviation", "3", "--position", "2"],
            &["--dist", "quantile", "--n", "99", "--dtype", "f64"],
            &["--dist", "exponential", "--n", "99", "--dtype", "f64", "--mean", "0.1"],
            &["--dist", "lognormal", "--n", "9", "--generator", "threefry"],
            &["--dist", "exponential", "--n", "99", "--mean", "4"],
            &["--dist", "integers", "--n", "99", "--range", "-3,4"],
            &["--dist", "open", "--n", "5"],
            &["--dist", "discrete", "--n", "99", "--probabilities", "1,0,0.5"],
            &["--dist", "permutation", "--n", "100", "--seed", "1"],
            &["--dist", "poisson", "--n", "500", "--mean", "40"],
            &["--dist", "poisson", "--n", "500", "--mean", "40", "--table"],
            &["--dist", "bits", "--n", "99", "--generator", "mrg32k3a", "--stream", "2", "--position", "1000"],
            &["--dist", "bits", "--n", "9999", "--generator", "xorwow", "--stream", "2", "--position", "1000"],
            &["--dist", "normal", "--n", "999", "--generator", "xorwow", "--mean", "3"],
            &["--dist", "exponential", "--n", "9999", "--generator", "xorwow-interleaved", "--position", "4096"],
            &["--dist", "binomial", "--n", "99", "--trials", "1000", "--probability", "0.3"],
            &["--dist", "circle", "--n", "99"],
            &["--dist", "sphere", "--n", "99"],
            &["--dist", "sobol", "--n", "99", "--dimensions", "3", "--scramble", "--seed", "5"],
            &["--dist", "halton", "--n", "99", "--dimensions", "7", "--position", "20"],
            &["--dist", "gamma", "--n", "99", "--alpha", "0.7", "--scale", "3"],
        ] {
            assert_eq!(run(args, &backend), run(args, "cpu"), "{args:?}");
        }
    }
}

#[test]
fn codes_and_their_values_are_those_of_the_formats() {
    let dir = tempfile::tempdir().expect("a directory");
    let codes = dir.path().join("codes.npy");
    let codes = codes.to_str().expect("text");
    for backend in backends() {
        let run = |args: &[&str]| {
            let run = isowarp(&[&["run", "cast", "--backend", &backend], args].concat());
            succeeded(&run);
            run.stdout
        };
        run(&["--to", "e4m3", "--in", "r_f4.npy", "--out", codes]);
        assert_eq!(npy(&fs::read(codes).expect("the codes")).descr, "'|u1'");
        let values = npy(&run(&["--from", "e4m3", "--in", codes, "--out", "-"])).f32s();
        let exact = isowarp(&["run", "map", "--op", "x", "--in", "r_f4.npy", "--out", "-"]);
        let exact = npy(&exact.stdout).f32s();
        assert_eq!(values.len(), exact.len());
        assert!(values.iter().zip(&exact).all(|(v, x)| (v - x).abs() <= x.abs() / 16.0 + 0.001), "four bits of each");
        // Of random roundings as of others, the same on every backend.
        for args in [
            &["--to", "e5m2", "--rounding", "stochastic", "--seed", "3"][..],
            &["--to", "bf16", "--rounding", "toward-zero"],
            &["--to", "e2m1", "--saturate"],
            &["--to", "e5m8-ieee", "--rounding", "to-odd"],
        ] {
            let of = |backend: &str| isowarp(&[&["run", "cast", "--in", "r_f4.npy", "--out", "-", "--backend", backend], args].concat());
            let (found, expected) = (of(&backend), of("cpu"));
            succeeded(&found);
            assert_eq!(npy(&found.stdout), npy(&expected.stdout), "{args:?}");
        }
    }
}

#[test]
fn sums_are_those_of_their_order() {
    for backend in backends() {
        let run = |args: &[&str]| {
            let run = isowarp(&[&["run", "sum", "--in", "r_f4.npy", "--out", "-", "--backend", &backend], args].concat());
            succeeded(&run);
            npy(&run.stdout).f32s()[0]
        };
        let x = isowarp(&["run", "map", "--op", "x", "--in", "r_f4.npy", "--out", "-"]);
        let x = npy(&x.stdout).f32s();
        assert_eq!(run(&["--order", "sequential"]), x.iter().sum::<f32>());
        assert_eq!(run(&[]), run(&["--order", "pairwise"]));
        let exact: f64 = x.iter().map(|x| f64::from(*x)).sum();
        assert!((f64::from(run(&["--order", "kahan"])) - exact).abs() <= f64::from(f32::EPSILON) * exact.abs());
        assert_eq!(run(&["--order", "neumaier"]), exact as f32);
        assert_eq!(run(&["--exact"]), exact as f32);
        let of = |args: &[&str]| {
            let run = isowarp(&[&["run"], args, &["--exact", "--in", "r_f4.npy", "--out", "-", "--backend", &backend]].concat());
            succeeded(&run);
            npy(&run.stdout).f32s()[0]
        };
        assert_eq!(of(&["mean"]), (exact / x.len() as f64) as f32);
        assert_eq!(of(&["dot", "--in", "r_f4.npy"]), x.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>() as f32);
        // Of f64 too: squares of f32 are numbers of f64.
        let dir = tempfile::tempdir().expect("a directory");
        let [wide, squares] = ["wide.npy", "squares.npy"].map(|name| dir.path().join(name).to_str().expect("text").to_owned());
        succeeded(&isowarp(&["run", "map", "--op", "f64(x)", "--in", "r_f4.npy", "--out", &wide]));
        succeeded(&isowarp(&["run", "map", "--op", "f64(x) * f64(x)", "--in", "r_f4.npy", "--out", &squares]));
        let [dot, sum] = [&["dot", "--in", &wide, "--in", &wide][..], &["sum", "--in", &squares]].map(|args| {
            let run = isowarp(&[&["run"], args, &["--exact", "--out", "-", "--backend", &backend]].concat());
            succeeded(&run);
            npy(&run.stdout)
        });
        assert_eq!((dot.descr.as_str(), dot.bytes), ("'<f8'", sum.bytes));
    }
}

#[test]
fn distances_are_printed_beside_what_is_written() {
    for backend in backends() {
        let run = isowarp(&["run", "ulp", "--in", "x_f4.npy", "--in", "x_f4.npy", "--out", "-", "--backend", &backend]);
        succeeded(&run);
        let found = npy(&run.stdout);
        assert_eq!((found.descr.as_str(), found.shape), ("'<u4'", vec![5, 7, 3]));
        assert!(found.bytes.iter().all(|&b| b == 0));
        let text = String::from_utf8_lossy(&run.stderr);
        assert!(text.contains("max 0 ulp at element 0, mean 0.000000\n0 of 105 differ, 0 have NaN"), "{text}");
    }
}

#[test]
fn simulations_print_their_means_and_draw_them() {
    let dir = tempfile::tempdir().expect("a directory");
    let [png, plot, csv, out] =
        ["spins.png", "curves.svg", "curves.csv", "spins.npy"].map(|name| dir.path().join(name).to_str().expect("text").to_owned());
    let lattice = ["run", "ising", "--shape", "6,10", "--temperatures", "2:2.5:2", "--sweeps", "3", "--measure", "4", "--seed", "5"];
    let mut found = Vec::new();
    for backend in backends() {
        let run = isowarp(&[&lattice[..], &["--png", &png, "--plot", &plot, "--csv", &csv, "--out", &out, "--backend", &backend]].concat());
        succeeded(&run);
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        assert!(text.contains("Binder's cumulant") && text.lines().count() == 4, "{text}");
        let files = [&png, &plot, &out, &csv].map(|path| std::fs::read(path).expect("a file"));
        let spins = npy(&files[2]);
        assert_eq!((spins.descr.as_str(), &spins.shape[..]), ("'|i1'", &[6, 10][..]));
        let table = String::from_utf8_lossy(&files[3]).into_owned();
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines.len() == 3 && lines[0].starts_with("temperature,magnetisation,") && lines[2].starts_with("2.5,"), "{table}");
        let numbers = |line: &str| line.split(',').filter(|x| x.parse::<f64>().is_ok()).count();
        assert!(lines[1..].iter().all(|line| numbers(line) == 11), "{table}");
        assert!(spins.bytes.iter().all(|spin| [1, 255].contains(spin)) && files[0].starts_with(b"\x89PNG"));
        found.push((text, files));
    }
    assert!(found.windows(2).all(|two| two[0] == two[1]), "one of the devices differs");
    let option = ["run", "price", "--kind", "european", "--spot", "42", "--strike", "40", "--rate", "0.1", "--volatility", "0.2"];
    let run = isowarp(&[&option[..], &["--years", "0.5", "--n", "20000"]].concat());
    succeeded(&run);
    // Hull's example.
    assert!(String::from_utf8_lossy(&run.stdout).contains("4.759422"), "{run:?}");
}

#[test]
fn barriers_whose_formula_is_no_number_are_simulated() {
    let option = ["run", "price", "--kind", "up-and-out", "--spot", "100", "--strike", "100", "--barrier", "110", "--rate", "0.03"];
    let run = isowarp(&[&option[..], &["--volatility", "0.001", "--n", "1000"]].concat());
    succeeded(&run);
    let text = stdout(&run);
    assert!(text.contains("simulation") && !text.contains("formula"), "{text}");
}
