//! `isowarp run` of arrays that are taken in chunks: the same bits as at once, and nothing left beside the result.

mod common;

use common::folders::Folders;
use common::{backends, command, data, isowarp, isowarp_with_input, lines_of_failure, npy, room, stderr, stdout, succeeded};
use std::fs;
use std::path::Path;

/// NumPy's name of each type, and its bytes.
const TYPES: [(&str, usize); 11] =
    [("<f4", 4), ("<f8", 8), ("<f2", 2), ("<i4", 4), ("<i8", 8), ("<u4", 4), ("<u8", 8), ("|u1", 1), ("|b1", 1), ("|i1", 1), ("<i2", 2)];

/// Bytes of any kind.
fn noise(bytes: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32
    };
    (0..bytes.div_ceil(4)).flat_map(|_| (next() as u32).to_le_bytes()).take(bytes).collect()
}

/// Elements with equal ones among them, and of floats every kind of bits.
fn elements(descr: &str, size: usize, n: usize, seed: u64) -> Vec<u8> {
    let (bits, choice) = (noise(n * size, seed), noise(n, seed + 1));
    let few = noise(16 * size, seed + 2);
    let of = |(k, element): (usize, &[u8])| match choice[k] % 3 {
        _ if descr == "|b1" => vec![element[0] & 1],
        0 => few[usize::from(choice[k] >> 4) * size..][..size].to_vec(),
        _ => element.to_vec(),
    };
    bits.chunks_exact(size).enumerate().flat_map(of).collect()
}

/// An unsigned integer that compares as the element does.
fn key(descr: &str, element: &[u8]) -> u64 {
    let (bits, sign) = (element.iter().rev().fold(0u64, |word, &b| word << 8 | u64::from(b)), 1u64 << (8 * element.len() - 1));
    match descr.as_bytes()[1] {
        b'f' if bits & sign != 0 => sign - 1 - (bits ^ sign),
        b'f' => bits | sign,
        b'i' => bits ^ sign,
        _ => bits,
    }
}

/// The same elements with one NaN, which is above all numbers.
fn with_one_nan(descr: &str, size: usize, bytes: &[u8]) -> Vec<u8> {
    let of = |element: &[u8]| {
        let bits = element.iter().rev().fold(0u64, |word, &b| word << 8 | u64::from(b));
        let (infinity, nan) = match descr {
            "<f2" => (0x7C00, 0x7E00),
            "<f4" => (0x7F80_0000, 0x7FC0_0000),
            "<f8" => (0x7FF0 << 48, 0x7FF8 << 48),
            _ => return element.to_vec(),
        };
        let number = bits & (u64::MAX >> (65 - 8 * size)) <= infinity;
        (if number { bits } else { nan }).to_le_bytes()[..size].to_vec()
    };
    bytes.chunks_exact(size).flat_map(of).collect()
}

/// The elements of every row in order, and their indices.
fn sorted(descr: &str, size: usize, row: usize, bytes: &[u8], descending: bool) -> (Vec<u8>, Vec<u8>) {
    in_total_order(descr, size, row, &with_one_nan(descr, size, bytes), descending)
}

fn in_total_order(descr: &str, size: usize, row: usize, bytes: &[u8], descending: bool) -> (Vec<u8>, Vec<u8>) {
    let (mut values, mut places) = (Vec::new(), Vec::new());
    for row in bytes.chunks(row * size) {
        let at = |k: usize| &row[k * size..][..size];
        let mut order: Vec<usize> = (0..row.len() / size).collect();
        order.sort_by(|&a, &b| {
            let found = key(descr, at(a)).cmp(&key(descr, at(b)));
            if descending { found.reverse() } else { found }
        });
        order.iter().for_each(|&k| {
            values.extend_from_slice(at(k));
            places.extend((k as u32).to_le_bytes());
        });
    }
    (values, places)
}

#[test]
fn sorts_in_chunks_are_stable_sorts_of_every_type() {
    let folders = Folders::new();
    let n = 20_011;
    for (descr, size) in TYPES {
        let bytes = elements(descr, size, n, size as u64);
        let input = folders.input("x.npy", descr, &[n as u64], &bytes);
        for descending in [false, true] {
            for total in [false, true] {
                let (values, places) = if total { in_total_order } else { sorted }(descr, size, n, &bytes, descending);
                for backend in backends() {
                    // Seven chunks of the same number of elements of each type, and a rest.
                    let chunk = room(2800, size);
                    let mut args = vec!["sort", "--in", &input, "--chunk-size", &chunk, "--backend", &backend];
                    args.extend(descending.then_some("--descending"));
                    args.extend(total.then_some("--total-order"));
                    let found = folders.run(&args);
                    assert_eq!((found.descr, found.shape), (format!("'{descr}'"), vec![n as u64]));
                    assert!(found.bytes == values, "{args:?}");
                    args[0] = "argsort";
                    let found = folders.run(&args);
                    assert_eq!((found.descr.as_str(), found.shape), ("'<u4'", vec![n as u64]));
                    assert!(found.bytes == places, "indices, {args:?}");
                }
            }
        }
    }
}

#[test]
fn chunks_of_any_number_and_size_do_not_show() {
    let folders = Folders::new();
    // One chunk exactly, one and an element, two; merges in several passes; memory for less than an element.
    let rooms = |elements: &[usize]| elements.iter().map(|&k| room(k, 4)).collect::<Vec<_>>();
    let small = || ["1", "2^3", "64"].map(str::to_owned).to_vec();
    for (n, chunks) in [
        (5000, rooms(&[5000, 5001, 4999, 2500, 256])),
        (5001, rooms(&[5000, 5001])),
        (40, [rooms(&[1, 7]), small()].concat()),
        (2, rooms(&[1])),
        (1, small()),
        (0, small()),
    ] {
        let bytes = elements("<f4", 4, n, n as u64);
        let input = folders.input("x.npy", "<f4", &[n as u64], &bytes);
        let (values, places) = sorted("<f4", 4, n.max(1), &bytes, false);
        for chunk in &chunks {
            let found = folders.run(&["sort", "--in", &input, "--chunk-size", chunk]);
            assert!(found.bytes == values && found.shape == [n as u64], "{n} in {chunk}");
            assert!(folders.run(&["argsort", "--in", &input, "--chunk-size", chunk]).bytes == places, "indices of {n} in {chunk}");
        }
    }
}

#[test]
fn megabytes_are_merged_from_blocks_of_many_runs() {
    let folders = Folders::new();
    let n = 1 << 19;
    let random = elements("<u4", 4, n, 9);
    let rising: Vec<u8> = (0..n as u32).flat_map(|k| (k / 3).to_le_bytes()).collect();
    let falling: Vec<u8> = (0..n as u32).rev().flat_map(|k| (k / 3).to_le_bytes()).collect();
    let equal = vec![7; 4 * n];
    for (name, bytes) in [("random", random), ("rising", rising), ("falling", falling), ("equal", equal)] {
        let input = folders.input("x.npy", "<u4", &[n as u64], &bytes);
        let (values, places) = sorted("<u4", 4, n, &bytes, true);
        // Eight runs at once, in blocks smaller than they are; and 32 runs by twos.
        for chunk in [1 << 16, 1 << 14].map(|k| room(k, 4)) {
            let down = ["--descending", "--in", &input, "--chunk-size", &chunk];
            assert!(folders.run(&[&["sort"], &down[..]].concat()).bytes == values, "{name} in {chunk}");
            assert!(folders.run(&[&["argsort"], &down[..]].concat()).bytes == places, "indices, {name} in {chunk}");
        }
    }
}

#[test]
fn rows_are_sorted_by_themselves_whether_a_chunk_holds_them_or_not() {
    let folders = Folders::new();
    for (rows, row) in [(7, 300), (300, 7), (2, 1), (1, 50), (1500, 1)] {
        let bytes = elements("<i4", 4, rows * row, 3);
        let input = folders.input("x.npy", "<i4", &[1, rows as u64, row as u64], &bytes);
        let (values, places) = sorted("<i4", 4, row, &bytes, false);
        for chunk in [1, 25, 256, 300, 601, 2099].map(|k| room(k, 4)) {
            let chunk = &chunk;
            let found = folders.run(&["sort", "--in", &input, "--chunk-size", chunk]);
            assert!(found.bytes == values && found.shape == [1, rows as u64, row as u64], "{rows} rows of {row} in {chunk}");
            let found = folders.run(&["argsort", "--in", &input, "--chunk-size", chunk]);
            assert!(found.bytes == places, "indices of {rows} rows of {row} in {chunk}");
        }
    }
    let scalar = folders.input("x.npy", "<f4", &[], &[1, 2, 3, 4]);
    assert_eq!(folders.run(&["sort", "--in", &scalar, "--chunk-size", "1"]).bytes, [1, 2, 3, 4]);
}

#[test]
fn orders_of_your_own_in_chunks_are_those_of_the_whole() {
    let folders = Folders::new();
    let n = 6007;
    let number = |k: usize| (k * 7919 % 401) as f64 - 200.0;
    for (descr, size, op, by) in [
        ("<i4", 4, "x % 10 > y % 10", (|x| 10.0 - x % 10.0) as fn(f64) -> f64),
        ("<f2", 2, "abs(x) < abs(y)", f64::abs),
        ("<f8", 8, "x * x < y * y", f64::abs),
        ("|u1", 1, "x / 16 < y / 16", |x| (x / 16.0).floor()),
        ("|b1", 1, "y < x", |x| 1.0 - x),
        ("|i1", 1, "x < y", |x| x),
    ] {
        let of = |k| match descr {
            "|u1" => number(k).abs(),
            "|i1" => (number(k) / 2.0).floor(),
            "|b1" => f64::from(u8::from(number(k) > 50.0)),
            _ => number(k),
        };
        let bytes: Vec<u8> = (0..n).flat_map(|k| element(descr, size, of(k))).collect();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| by(of(a)).total_cmp(&by(of(b))));
        let values: Vec<u8> = order.iter().flat_map(|&k| bytes[k * size..][..size].to_vec()).collect();
        let places: Vec<u8> = order.iter().flat_map(|&k| (k as u32).to_le_bytes()).collect();
        let input = folders.input("x.npy", descr, &[n as u64], &bytes);
        for backend in backends() {
            let run =
                |pattern: &str, rest: &[&str]| folders.run(&[&[pattern, "--op", op, "--in", &input, "--backend", &backend], rest].concat());
            let (whole, indices) = (run("sort", &[]), run("argsort", &[]));
            assert!(whole.bytes == values && indices.bytes == places, "{op} of {descr} at once on {backend}");
            // Three chunks, and as many as take merges of merges.
            for chunk in [2500, 400].map(|k| room(k, size)) {
                let chunk = ["--chunk-size", &chunk];
                assert_eq!(run("sort", &chunk), whole, "{op} of {descr} on {backend}");
                assert_eq!(run("argsort", &chunk), indices, "indices, {op} of {descr} on {backend}");
            }
        }
    }
    // Where a comparison contradicts itself there are as many elements as there were.
    let input = folders.input("x.npy", "<f4", &[3000], &elements("<f4", 4, 3000, 4));
    assert_eq!(folders.run(&["sort", "--op", "x < y", "--in", &input, "--chunk-size", &room(256, 4)]).bytes.len(), 12_000);
}

#[test]
fn histograms_in_chunks_are_those_of_the_whole() {
    let folders = Folders::new();
    let n = 30_011;
    // Weights that cancel each other, far apart: only an exact sum of all of them is right.
    let weights: Vec<f32> = (0..n).map(|k| [1e30f32, 1.5, -1e30, 3e-30][k / 7 % 4] * (1 + k % 5) as f32).collect();
    let weights: Vec<u8> = weights.iter().flat_map(|w| w.to_le_bytes()).collect();
    let of_floats = folders.input("f.npy", "<f4", &[n as u64], &weights);
    let whole = [("<i4", 4), ("<u8", 8), ("|u1", 1)]
        .map(|(descr, size)| folders.input(&format!("w{size}.npy"), descr, &[n as u64], &noise(n * size, 5)));
    for (descr, size) in TYPES {
        let bytes: Vec<u8> = (0..n).flat_map(|k| sample(descr, size, k)).collect();
        let input = folders.input("x.npy", descr, &[n as u64], &bytes);
        let edges = folders.input("edges.npy", descr, &[3], &[0.0, 1.0, 1.5].map(|e| element(descr, size, e)).concat());
        let bins = if descr.as_bytes()[1] == b'f' { ["--bins", "6", "--range=-0.5,1"] } else { ["--bins", "2", "--range=0,2"] };
        for backend in backends() {
            let run = |rest: &[&str]| {
                let at_once = folders.run(&[&["histogram", "--in", &input, "--backend", &backend], rest].concat());
                for chunk in ["25000", "50K"] {
                    let in_chunks =
                        folders.run(&[&["histogram", "--in", &input, "--backend", &backend, "--chunk-size", chunk], rest].concat());
                    assert_eq!(in_chunks, at_once, "{descr} {rest:?} in {chunk} on {backend}");
                }
                at_once
            };
            let counts = run(&bins);
            assert_eq!(counts.descr, "'<u4'");
            assert!(counts.bytes.iter().any(|&b| b != 0));
            run(&["--edges", &edges]);
            run(&[&bins[..], &["--weights", &of_floats]].concat());
            if descr == "<u4" {
                whole.iter().for_each(|w| drop(run(&[&bins[..], &["--weights", w]].concat())));
            }
        }
    }
}

/// The bytes of a number; of integers the next greater one.
fn element(descr: &str, size: usize, x: f64) -> Vec<u8> {
    match (descr.as_bytes()[1], size) {
        (b'f', 4) => (x as f32).to_le_bytes().to_vec(),
        (b'f', 8) => x.to_le_bytes().to_vec(),
        (b'f', _) => half::f16::from_f64(x).to_le_bytes().to_vec(),
        _ => (x.ceil() as i64).to_le_bytes()[..size].to_vec(),
    }
}

/// A sample with few values, in bins, on their edges and in none.
fn sample(descr: &str, size: usize, k: usize) -> Vec<u8> {
    match descr {
        "|b1" => vec![u8::from(k.is_multiple_of(3))],
        _ if descr.as_bytes()[1] == b'f' && k.is_multiple_of(11) => element(descr, size, f64::NAN),
        _ if descr.as_bytes()[1] == b'f' => element(descr, size, (k % 9) as f64 / 4.0 - 0.5),
        _ => element(descr, size, (k % 41) as f64),
    }
}

#[test]
fn standard_streams_and_one_file_for_both_are_taken_in_chunks_too() {
    let folders = Folders::new();
    let bytes = elements("<f4", 4, 3000, 1);
    let input = folders.input("x.npy", "<f4", &[3000], &bytes);
    let (values, _) = sorted("<f4", 4, 3000, &bytes, false);
    let file = fs::read(&input).expect("the input");
    let chunk = room(250, 4);
    let run = isowarp_with_input(&["run", "sort", "--in", "-", "--out", "-", "--chunk-size", &chunk, "--stats", "--json"], &file);
    succeeded(&run);
    assert!(npy(&run.stdout).bytes == values);
    assert!(stderr(&run).contains("\"chunks\": 12"), "{}", stderr(&run));
    succeeded(&isowarp(&["run", "sort", "--in", &input, "--out", &input, "--chunk-size", &chunk]));
    assert!(npy(&fs::read(&input).expect("the result")).bytes == values);
    assert_eq!(fs::read_dir(folders.path("in")).expect("a directory").count(), 1, "nothing is left beside the output");
    let counts = ["run", "histogram", "--in", "-", "--out", "-", "--bins", "3", "--range=-1,2", "--chunk-size", "1000"];
    let run = isowarp_with_input(&counts, &file);
    succeeded(&run);
    assert_eq!(npy(&run.stdout), npy(&isowarp_with_input(&counts[..9], &file).stdout));
}

#[test]
fn stats_are_of_all_chunks() {
    let folders = Folders::new();
    let input = folders.input("x.npy", "<i4", &[5000], &elements("<i4", 4, 5000, 1));
    let out = folders.path("out").join("o.npy").display().to_string();
    let run = |rest: &[&str]| {
        let run = isowarp(&[&["run", "sort", "--in", &input, "--out", &out, "--chunk-size", &room(768, 4), "--stats"], rest].concat());
        succeeded(&run);
        stdout(&run)
    };
    let words = run(&[]);
    assert!(words.contains("sort of 5000 elements on cpu") && words.contains("7 chunks of up to 3.0 KiB, merged in 3 passes"), "{words}");
    assert!(words.contains("GB/s") && words.contains("of a copy's") && words.contains("with reading and writing"), "{words}");
    let stats: serde_json::Value = serde_json::from_str(&run(&["--json"])).expect("JSON");
    assert_eq!((stats["bytes"].as_u64(), stats["chunks"].as_u64(), stats["merges"].as_u64()), (Some(40_000), Some(7), Some(3)));
    let seconds = |name: &str| stats[name].as_f64().expect("a number");
    assert!(0.0 < seconds("device_seconds") && seconds("device_seconds") < seconds("total_seconds"), "{stats}");
}

/// Runs `isowarp run` onto a file that is there already: an error, and everything is as it was.
#[track_caller]
fn refused(folders: &Folders, args: &[&str], input: &[u8]) -> Vec<String> {
    let out = folders.path("out").join("out.npy");
    fs::write(&out, b"as it was").expect("a file");
    let run = isowarp_with_input(&[&["run"], args, &["--out", out.to_str().expect("text")]].concat(), input);
    let lines = lines_of_failure(&run);
    assert_eq!(fs::read(&out).expect("the file"), b"as it was");
    fs::remove_file(&out).expect("the file");
    folders.nothing_is_left();
    let stdout = isowarp_with_input(&[&["run"], args, &["--out", "-"]].concat(), input);
    assert!(!stdout.status.success() && stdout.stdout.is_empty(), "nothing is written before all of it is known");
    lines
}

#[test]
fn an_array_that_ends_in_its_middle_leaves_nothing() {
    let folders = Folders::new();
    let input = folders.input("x.npy", "<f4", &[100, 30], &elements("<f4", 4, 3000, 1));
    let whole = fs::read(&input).expect("the input");
    let temp = folders.path("temp").display().to_string();
    for cut in [whole.len() - 1, whole.len() - 4000, whole.len() - 11_999, 20] {
        // Rows in chunks, and rows of chunks; of a stream, whose end nobody knows, and of a file.
        let [large, small] = [256, 16].map(|k| room(k, 4));
        for args in [&["sort", "--chunk-size", &large][..], &["sort", "--chunk-size", &small], &["argsort", "--chunk-size", &large]] {
            let lines = refused(&folders, &[args, &["--in", "-", "--temp-dir", &temp]].concat(), &whole[..cut]);
            assert!(lines[0].contains("cannot read standard input: the file is truncated"), "{lines:?}");
            let short = folders.path("in").join("short.npy");
            fs::write(&short, &whole[..cut]).expect("a file");
            let lines = refused(&folders, &[args, &["--in", short.to_str().expect("text"), "--temp-dir", &temp]].concat(), &[]);
            assert!(lines[0].contains("short.npy: the file is truncated"), "{lines:?}");
        }
        let counts = ["histogram", "--in", "-", "--bins", "2", "--range", "0,1", "--chunk-size", "1K"];
        assert!(refused(&folders, &counts, &whole[..cut])[0].contains("the file is truncated"));
    }
    let long = [&whole[..], &[0]].concat();
    let lines = refused(&folders, &["sort", "--in", "-", "--chunk-size", "1K"], &long);
    assert!(lines[0].contains("more than the 12000 bytes"), "{lines:?}");
}

#[test]
fn a_folder_for_temporary_files_that_is_none_is_found_before_the_work() {
    let folders = Folders::new();
    let file = folders.input("x.npy", "<f4", &[8], &[0; 32]);
    for folder in ["no/where", &file] {
        // The input is missing too: that the folder is spoken of shows that it was looked at first.
        let lines = refused(&folders, &["sort", "--in", "missing.npy", "--chunk-size", "8", "--temp-dir", folder], &[]);
        assert!(lines[0].starts_with("error: cannot keep temporary files in ") && !lines[0].contains("at path"), "{lines:?}");
        assert!(lines.len() == 2 && lines[1].starts_with("  help: "), "{lines:?}");
    }
}

#[test]
fn options_of_chunks_that_make_no_sense_are_refused() {
    let folders = Folders::new();
    let x = data("r_f4.npy").display().to_string();
    let says = |args: &[&str], what: &str| {
        let lines = refused(&folders, args, &[]);
        assert!(lines.len() == 2 && lines[0].contains(what), "{lines:?} does not say {what}");
    };
    for size in ["0", "x", "1.5M", "-1"] {
        says(&["sort", "--in", &x, &format!("--chunk-size={size}")], "is no size");
    }
    // Too many chunks take long and show nothing: the least size is named, and taken.
    let n = 40_000u64;
    let many = folders.input("many.npy", "<u4", &[n], &elements("<u4", 4, n as usize, 3));
    for verb in [&["sort"][..], &["argsort"], &["histogram", "--bins", "2", "--range", "0,9"], &["select", "--op", "x > 1"], &["unique"]] {
        let all = [verb, &["--in", &many, "--chunk-size"]].concat();
        let lines = refused(&folders, &[&all[..], &["1"]].concat(), &[]);
        assert!(lines[0].contains("--chunk-size 1 is too small for 40000 elements"), "{lines:?}");
        let least = lines[1].split_once("raise it to ").and_then(|(_, rest)| rest.split(' ').next()).expect("a size");
        folders.run(&[&all[..], &[least]].concat());
    }
    says(&["map", "--in", &x, "--op", "x", "--chunk-size", "1K"], "unexpected argument '--chunk-size' found");
    says(&["reduce", "--in", &x, "--temp-dir", "."], "unexpected argument '--temp-dir' found");
    for of in [["scan", "--variant", "coarsened"], ["sort", "--variant", "radix"]] {
        let message = "--chunk-size is for patterns without --variant, and scans without --by-key";
        says(&[&of[..], &["--in", &x, "--chunk-size", "1K"]].concat(), message);
    }
    let fast = ["sort", "--in", &x, "--op", "x < y", "--chunk-size", "1K", "--numerics", "fast"];
    says(&fast, "chunks are merged by the definition of the arithmetic");
    let bins = ["histogram", "--in", &x, "--bins", "2", "--range", "0,1", "--chunk-size", "1K"];
    says(&[&bins[..], &["--weights", &data("w_i4.npy").display().to_string()]].concat(), "an input: expected 1000 elements, found 300");
}

/// A process that is ended by force while it merges has files without a name only.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_left_of_a_sort_that_is_killed() {
    let folders = Folders::new();
    let n = 1 << 20;
    let input = folders.input("x.npy", "<u4", &[n], &elements("<u4", 4, n as usize, 2));
    let out = folders.path("out").join("out.npy");
    for milliseconds in [50, 200, 500, 1000, 1500, 2500] {
        let mut child = command()
            .args(["run", "sort", "--in", &input, "--chunk-size", &room(1 << 14, 4), "--out", out.to_str().expect("text")])
            .args(["--temp-dir", folders.path("temp").to_str().expect("text")])
            .spawn()
            .expect("the command starts");
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        child.kill().expect("it ends");
        child.wait().expect("it ended");
        if fs::remove_file(&out).is_ok() {
            // It was done before.
            break;
        }
        folders.nothing_is_left();
    }
    assert!(Path::new(&input).exists());
}

/// Floats whose sums depend on the order in which they are added: tiles of 8192, whatever the chunks are.
#[test]
fn scans_in_chunks_are_those_of_the_whole() {
    let folders = Folders::new();
    let n = 70_001;
    let number = |k: usize| [1e7, -3.25, 0.125, -1e7 / 3.0, -0.0][k % 5] * (1 + k * 7919 % 401) as f64 / 3e6;
    let all: [(&str, usize, &[&str]); 7] = [
        ("<f4", 4, &["sum", "x * y", "count"]),
        ("<f8", 8, &["sum"]),
        ("<f2", 2, &["sum", "max"]),
        ("<i4", 4, &["min"]),
        ("|u1", 1, &["sum"]),
        ("<i2", 2, &["max"]),
        ("|b1", 1, &["any"]),
    ];
    for (descr, size, ops) in all {
        let of = |k: usize| match descr.as_bytes()[1] {
            b'f' => element(descr, size, number(k)),
            b'b' => vec![u8::from(k > 9000)],
            _ => (k as i64 * 40_503).to_le_bytes()[..size].to_vec(),
        };
        let input = folders.input("x.npy", descr, &[n as u64], &(0..n).flat_map(of).collect::<Vec<u8>>());
        for op in ops {
            let scan = ["scan", "--in", &input, "--op", op, "--identity", "1"];
            let scan = if *op == "x * y" { &scan[..] } else { &scan[..5] };
            for backend in backends() {
                // Tiles of one each, and several.
                for rest in [&["--chunk-size", "1"][..], &["--chunk-size", "1M", "--exclusive"]] {
                    let run = |rest: &[&str]| folders.run(&[scan, &["--backend", &backend], rest].concat());
                    assert!(run(rest) == run(&rest[2..]), "{op} of {descr} {rest:?} on {backend}");
                }
            }
        }
    }
}

#[test]
fn lines_are_scanned_by_themselves_whether_a_chunk_holds_them_or_not() {
    let folders = Folders::new();
    let bytes = elements("<i4", 4, 60_000, 3);
    for shape in [[3, 20_000, 1], [300, 10, 20], [2, 3, 10_000]] {
        let input = folders.input("x.npy", "<i4", &shape, &bytes);
        for axis in ["0", "1", "2"] {
            let scan = ["scan", "--in", &input, "--axis", axis];
            let whole = folders.run(&scan);
            for chunk in [1 << 20, 200 << 10, 20 << 10] {
                let run = || folders.run(&[&scan[..], &["--chunk-size", &chunk.to_string()]].concat());
                // Lines that lie in each other are not cut.
                let k: usize = axis.parse().expect("a number");
                let (line, inner): (u64, u64) = (shape[k..].iter().product(), shape[k + 1..].iter().product());
                if inner == 1 || line * 44 < chunk {
                    assert!(run() == whole, "{shape:?} along {axis} in {chunk}");
                }
            }
        }
    }
    let input = folders.input("x.npy", "<i4", &[2, 3, 10_000], &bytes);
    let lines = refused(&folders, &["scan", "--in", &input, "--axis", "1", "--chunk-size", "20K"], &[]);
    assert!(lines[0].contains("do not fit"), "{lines:?}");
}
