//! Selections, partitions and runs of arrays that are taken in chunks, beside plain loops: no end of a chunk shows.

mod common;

use common::folders::Folders;
use common::{Npy, backends, isowarp, isowarp_with_input, npy, succeeded};
use std::fs;

/// Memory of chunks of one element, of a few, and of some hundreds.
const MEMORY: [&str; 3] = ["1", "300", "20000"];

/// A file of a line of elements of so many bytes.
fn line(folders: &Folders, name: &str, descr: &str, bytes: &[u8], size: usize) -> String {
    folders.input(name, descr, &[(bytes.len() / size) as u64], bytes)
}

fn bytes_of<const N: usize, T: Copy>(elements: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    elements.iter().flat_map(|&x| bytes(x)).collect()
}

fn words(elements: &[u32]) -> Vec<u8> {
    bytes_of(elements, u32::to_le_bytes)
}

fn one_line(found: &Npy, descr: &str, bytes: &[u8], size: usize) -> bool {
    found.descr == format!("'{descr}'") && found.shape == [(bytes.len() / size) as u64] && found.bytes == bytes
}

/// Runs of 1 to 9 elements, and one of more than a chunk of hundreds.
fn stairs() -> Vec<u32> {
    let (mut state, mut all) = (7u32, Vec::new());
    for k in 0..600 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let length = if k == 300 { 2500 } else { 1 + (state >> 16) as usize % 9 };
        all.extend(vec![state >> 28; length]);
    }
    all
}

/// The first of each run and its length, of elements that are equal by `same`.
fn runs<T: Copy>(elements: &[T], same: impl Fn(T, T) -> bool) -> (Vec<usize>, Vec<u32>) {
    let (mut starts, mut lengths) = (Vec::new(), Vec::<u32>::new());
    for k in 0..elements.len() {
        match lengths.last_mut() {
            Some(length) if same(elements[k - 1], elements[k]) => *length += 1,
            _ => {
                starts.push(k);
                lengths.push(1);
            }
        }
    }
    (starts, lengths)
}

#[test]
fn runs_in_chunks_are_those_of_a_loop() {
    let folders = Folders::new();
    let stairs = stairs();
    let floats = |k: u32| [0.0, -0.0, f32::NAN, 1.5, f32::INFINITY][k as usize % 5];
    let types: [(&str, usize, Vec<u8>); 4] = [
        ("|u1", 1, stairs.iter().map(|&k| k as u8).collect()),
        ("|b1", 1, stairs.iter().map(|&k| u8::from(k > 7)).collect()),
        ("<i8", 8, bytes_of(&stairs, |k| i64::from(k).wrapping_sub(8).to_le_bytes())),
        ("<f4", 4, bytes_of(&stairs, |k| floats(k).to_le_bytes())),
    ];
    for (descr, size, bytes) in &types {
        let elements: Vec<&[u8]> = bytes.chunks_exact(*size).collect();
        let same = |a: &[u8], b: &[u8]| match *descr {
            "<f4" => f32::from_le_bytes(a.try_into().expect("four")) == f32::from_le_bytes(b.try_into().expect("four")),
            _ => a == b,
        };
        let (starts, lengths) = runs(&elements, same);
        let firsts: Vec<u8> = starts.iter().flat_map(|&k| elements[k].to_vec()).collect();
        let input = line(&folders, "x.npy", descr, bytes, *size);
        for (backend, memory) in backends().iter().flat_map(|b| MEMORY.map(|memory| (b, memory))) {
            // A few elements at a time take long on a driver.
            if if backend == "cpu" { memory == "1" && *size != 1 } else { memory != "20000" } {
                continue;
            }
            let args = ["--in", &input, "--chunk-size", memory, "--backend", backend];
            let found = folders.run_for(&[&["rle"], &args[..]].concat(), &["--lengths"]);
            assert!(one_line(&found[0], descr, &firsts, *size), "rle of {descr} in {memory} on {backend}");
            assert!(one_line(&found[1], "<u4", &words(&lengths), 4), "lengths of {descr} in {memory} on {backend}");
            let found = folders.run_for(&[&["unique"], &args[..]].concat(), &[]);
            assert!(one_line(&found[0], descr, &firsts, *size), "unique of {descr} in {memory} on {backend}");
        }
    }
}

#[test]
fn the_first_value_of_a_run_stays_whatever_chunk_it_is_in() {
    let folders = Folders::new();
    let keys = stairs();
    let (starts, _) = runs(&keys, |a, b| a == b);
    let firsts: Vec<u32> = starts.iter().map(|&k| keys[k]).collect();
    let of_keys = line(&folders, "keys.npy", "<u4", &words(&keys), 4);
    for (descr, size) in [("<i2", 2), ("<f8", 8)] {
        let value = |k: usize| if size == 2 { (k as i16 - 99).to_le_bytes().to_vec() } else { (k as f64 / 3.0).to_le_bytes().to_vec() };
        let all: Vec<u8> = (0..keys.len()).flat_map(value).collect();
        let of_values = line(&folders, "values.npy", descr, &all, size);
        let kept: Vec<u8> = starts.iter().flat_map(|&k| value(k)).collect();
        for memory in ["300", "30000"] {
            let args = ["unique", "--by-key", "--in", &of_keys, "--in", &of_values, "--chunk-size", memory];
            let found = folders.run_for(&args, &["--keys-out"]);
            assert!(one_line(&found[0], descr, &kept, size), "values of {descr} in {memory}");
            assert!(one_line(&found[1], "<u4", &words(&firsts), 4), "keys in {memory}");
        }
    }
}

#[test]
fn selections_in_chunks_are_those_of_a_loop() {
    let folders = Folders::new();
    let x: Vec<u32> = (0..3000u32).map(|k| k.wrapping_mul(2_654_435_761) >> 20).collect();
    let flags: Vec<u8> = (0..3000u32).map(|k| u8::from(k % 3 == 1)).collect();
    let [of_x, of_flags] = [line(&folders, "x.npy", "<u4", &words(&x), 4), line(&folders, "flags.npy", "|u1", &flags, 1)];
    // The index is that of the array, not of a chunk.
    let holds = |k: usize| x[k] > 900 && (k % 7 < 4 || k > 2500);
    let kept: Vec<usize> = (0..x.len()).filter(|&k| holds(k)).collect();
    let of = |places: &[usize]| words(&places.iter().map(|&k| x[k]).collect::<Vec<_>>());
    let all = backends();
    for (backend, memory) in all.iter().map(|b| (b, "20000")).chain([(&"cpu".to_owned(), "300")]) {
        let room = ["--chunk-size", memory, "--backend", backend];
        let args = ["select", "--op", "x > 900 && (i % 7 < 4 || i > 2500)", "--in", &of_x];
        let found = folders.run_for(&[&args[..], &room].concat(), &["--indices"]);
        assert!(one_line(&found[0], "<u4", &of(&kept), 4), "in {memory} on {backend}");
        let places: Vec<u32> = kept.iter().map(|&k| k as u32).collect();
        assert!(one_line(&found[1], "<u4", &words(&places), 4), "indices in {memory} on {backend}");
        let found = folders.run_for(&[&["select", "--flags", "--in", &of_x, "--in", &of_flags], &room[..]].concat(), &[]);
        let flagged: Vec<usize> = (0..x.len()).filter(|k| k % 3 == 1).collect();
        assert!(one_line(&found[0], "<u4", &of(&flagged), 4), "flagged in {memory} on {backend}");
        let parts = |then: bool| {
            let part = |k: &usize| {
                if x[*k] < 1000 {
                    0
                } else if then && k % 5 == 2 {
                    1
                } else {
                    2
                }
            };
            let mut all: Vec<usize> = (0..x.len()).collect();
            all.sort_by_key(part);
            let counts = (0..if then { 2 } else { 1 }).map(|p| all.iter().filter(|k| part(k) == p).count() as u32);
            (of(&all), words(&counts.collect::<Vec<_>>()))
        };
        for then in [false, true] {
            let (all, counts) = parts(then);
            let second: &[&str] = if then { &["--then", "i % 5 == 2"] } else { &[] };
            let found = folders.run_for(&[&["partition", "--op", "x < 1000", "--in", &of_x], second, &room].concat(), &["--count"]);
            assert!(one_line(&found[0], "<u4", &all, 4), "parts in {memory} on {backend}");
            assert!(one_line(&found[1], "<u4", &counts, 4), "counts in {memory} on {backend}");
        }
    }
}

#[test]
fn what_is_selected_in_chunks_goes_through_pipes_and_over_its_input() {
    let folders = Folders::new();
    let x = stairs();
    let (starts, lengths) = runs(&x, |a, b| a == b);
    let firsts = words(&starts.iter().map(|&k| x[k]).collect::<Vec<_>>());
    let input = line(&folders, "x.npy", "<u4", &words(&x), 4);
    let piped = isowarp_with_input(&["run", "rle", "--in", "-", "--out", "-", "--chunk-size", "4000"], &fs::read(&input).expect("a file"));
    succeeded(&piped);
    assert!(one_line(&npy(&piped.stdout), "<u4", &firsts, 4));
    // Big-endian elements are turned once, also those that a chunk hands to the next.
    let turned = line(&folders, "turned.npy", ">u4", &bytes_of(&x, u32::to_be_bytes), 4);
    let found = folders.run_for(&["rle", "--in", &turned, "--chunk-size", "300"], &["--lengths"]);
    assert!(one_line(&found[0], "<u4", &firsts, 4) && one_line(&found[1], "<u4", &words(&lengths), 4));
    succeeded(&isowarp(&["run", "unique", "--in", &input, "--out", &input, "--chunk-size", "4000"]));
    assert!(one_line(&npy(&fs::read(&input).expect("a file")), "<u4", &firsts, 4));
    // A file that ends too early leaves the results as they were.
    let mut cut = fs::read(&turned).expect("a file");
    cut.truncate(cut.len() - 4);
    let out = folders.path("out").join("o.npy").display().to_string();
    let run = isowarp_with_input(&["run", "select", "--op", "x > 1", "--in", "-", "--out", &out, "--chunk-size", "4000"], &cut);
    assert!(!run.status.success() && fs::read_dir(folders.path("out")).expect("a directory").count() == 0);
}
