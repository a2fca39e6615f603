//! Limits on a process' memory and threads: work goes on in smaller pieces, or ends with an error that says so.

#![cfg(target_os = "linux")]

mod common;

use common::{backends, command, lines_of_failure, npy, save_npy, stderr, succeeded};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const MIB: u64 = 1 << 20;

/// A folder with inputs.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Numbers in no order, `mib` of them in MiB.
    fn words(&self, name: &str, mib: u64) {
        let n = mib * MIB / 4;
        let bytes: Vec<u8> = (0..n as u32).flat_map(|k| k.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        save_npy(&self.path(name), "<u4", &[n], &bytes);
    }

    /// Runs the command on the processor, in the folder, behind what the shell is told first: `ulimit -d` counts KiB of private memory.
    fn run(&self, before: &str, args: &[&str]) -> Output {
        self.shell(before, &[&["run"], args, &["--backend", "cpu"]].concat())
    }

    /// Runs the command in the folder, behind what the shell is told first.
    fn shell(&self, before: &str, args: &[&str]) -> Output {
        let script = format!("{before} exec \"$@\"");
        let mut sh = Command::new("sh");
        sh.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_isowarp")]).args(args);
        // Few threads, so that what each of them keeps for itself does not count.
        sh.current_dir(self.0.path()).env("RAYON_NUM_THREADS", "2").output().expect("a shell")
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        npy(&fs::read(self.path(name)).expect("a result")).bytes
    }
}

fn stats(run: &Output) -> serde_json::Value {
    succeeded(run);
    serde_json::from_slice(&run.stdout).expect("JSON")
}

/// Checks that work too large under a limit goes in chunks, without being told, with the same result.
#[test]
fn what_does_not_fit_a_limit_goes_in_chunks_by_itself() {
    let folder = Folder::new();
    folder.words("x.npy", 12);
    for args in [
        &["sort", "--in", "x.npy"][..],
        &["argsort", "--in", "x.npy"],
        &["histogram", "--in", "x.npy", "--bins", "64", "--range", "0,4294967040"],
        &["scan", "--in", "x.npy"],
        &["rle", "--lengths", "l.npy", "--in", "x.npy"],
        &["unique", "--in", "x.npy"],
        &["select", "--op", "x > 9", "--indices", "i.npy", "--in", "x.npy"],
        &["partition", "--op", "x > 1000000000", "--then", "i % 3 == 0", "--in", "x.npy"],
    ] {
        succeeded(&folder.run("", &[args, &["--out", "whole.npy"]].concat()));
        let limited = folder.run("ulimit -d 60000;", &[args, &["--out", "limited.npy", "--stats", "--json"]].concat());
        assert!(stats(&limited)["chunks"].as_u64().is_some_and(|chunks| chunks > 1), "{args:?}: {}", stderr(&limited));
        assert!(folder.bytes("limited.npy") == folder.bytes("whole.npy"), "{args:?}");
    }
}

/// Limits on private memory that a driver would end at, whichever device is asked for.
#[test]
fn drivers_that_a_limit_on_private_memory_would_end_are_not_loaded() {
    let folder = Folder::new();
    folder.words("x.npy", 24);
    for limit in [380_000, 440_000, 500_000, 560_000, 620_000, 700_000] {
        for args in [&["sort"][..], &["map", "--op", "x * 3"], &["scan"], &["rle", "--lengths", "l.npy"]] {
            let run = folder.shell(
                &format!("ulimit -d {limit};"),
                &[&["run"], args, &["--backend", "auto", "--in", "x.npy", "--out", "o.npy"]].concat(),
            );
            assert!(run.status.success(), "{args:?} in {limit} KiB: {}", stderr(&run));
        }
    }
    let run = folder.shell("ulimit -d 440000;", &["run", "sort", "--backend", "wgpu", "--in", "x.npy", "--out", "o.npy"]);
    assert_eq!(run.status.code(), Some(1), "{}", stderr(&run));
    assert!(stderr(&run).contains("data more (`ulimit -d`)") && stderr(&run).contains("raise that limit"), "{}", stderr(&run));
}

/// `ulimit -f` counts blocks of 512 or 1024 bytes.
#[test]
fn a_file_that_grows_to_its_limit_is_an_error_and_leaves_nothing() {
    let folder = Folder::new();
    folder.words("x.npy", 4);
    for args in [&["sort"][..], &["map", "--op", "x * 3"], &["sort", "--chunk-size", "1M"]] {
        let run = folder.run("ulimit -f 1000;", &[args, &["--in", "x.npy", "--out", "o.npy"]].concat());
        assert_eq!(run.status.code(), Some(1), "{args:?}: {}", stderr(&run));
        assert!(stderr(&run).contains("File too large") && !folder.path("o.npy").exists(), "{args:?}: {}", stderr(&run));
    }
}

/// Checks that addresses which the allocator reserves for further threads are none that arrays lack: more of them are never worse.
#[test]
fn a_limit_on_addresses_leaves_them_to_arrays() {
    let folder = Folder::new();
    folder.words("x.npy", 96);
    for args in [&["partition", "--op", "x > 5", "--in", "x.npy"][..], &["sort", "--in", "x.npy"]] {
        for limit in [260_000, 300_000, 330_000, 360_000, 420_000] {
            let run = folder.run(&format!("ulimit -v {limit};"), &[args, &["--out", "o.npy"]].concat());
            assert!(run.status.success(), "{args:?} in {limit} KiB of addresses: {}", stderr(&run));
        }
    }
}

/// The peak that the system counted, less that of a run of next to nothing: the size of chunks, or 4 MB where that is smaller. A driver takes tens of
/// megabytes while it compiles, so there a run may be repeated, which finds kernels compiled.
#[test]
fn the_size_of_chunks_is_the_memory_that_they_take() {
    let folder = Folder::new();
    folder.words("x.npy", 32);
    folder.words("small.npy", 12);
    folder.words("less.npy", 1);
    save_npy(&folder.path("tiny.npy"), "<u4", &[1 << 13], &[7; 1 << 15]);
    let peak = |args: &[&str], size: &str, backend: &str| {
        // A folder of the driver's that cannot be written would have it compile in every run.
        let before = "export MESA_SHADER_CACHE_DIR=\"$PWD/cache\";";
        let options = ["--out", "o.npy", "--chunk-size", size, "--backend", backend, "--stats", "--json"];
        let run = folder.shell(before, &[&["run"], args, &options].concat());
        stats(&run)["peak_bytes"].as_u64().expect("Linux counts it")
    };
    let cpu: &[(u64, &str)] = &[(64, "less.npy"), (1024, "less.npy"), (4096, "small.npy"), (8192, "small.npy"), (40_960, "x.npy")];
    // A chunk takes software adapters tens of milliseconds.
    let wgpu: &[(u64, &str)] = &[(256, "less.npy"), (8192, "small.npy")];
    for args in [
        &["sort"][..],
        &["argsort"],
        &["sort", "--op", "x < y"],
        &["sort", "--by-key", "--in", "FILE"],
        &["histogram", "--bins", "64", "--range", "0,4294967040"],
        &["scan"],
        &["scan", "--exclusive", "--op", "max"],
        &["rle", "--lengths", "l.npy"],
        &["unique"],
        &["select", "--op", "x > 9", "--indices", "i.npy"],
        // Two parts and three, of which all that goes last waits.
        &["partition", "--op", "x > 1000000000"],
        &["partition", "--op", "x > 4294967290"],
        &["partition", "--op", "x > 1000000000", "--then", "i % 3 == 0"],
    ] {
        for (device, sizes, attempts) in [("cpu", cpu, 1), ("wgpu", wgpu, 3)] {
            if device == "wgpu" && !backends().iter().any(|backend| backend == device) {
                continue;
            }
            let of = |name: &str, size: &str| {
                let args: Vec<&str> = args.iter().map(|&arg| if arg == "FILE" { name } else { arg }).collect();
                peak(&[&args[..], &["--in", name]].concat(), size, device)
            };
            let base = (0..attempts).map(|_| of("tiny.npy", "64K")).min().expect("one at least");
            for &(kib, name) in sizes {
                let promised = (kib << 10).max(4 * MIB);
                let mut above = Vec::new();
                while above.len() < attempts && above.last().is_none_or(|&most| most > promised) {
                    above.push(of(name, &format!("{kib}K")).saturating_sub(base));
                }
                assert!(
                    above.last().is_some_and(|&most| most <= promised),
                    "{args:?} on {device}, {kib} KiB: {above:?} bytes above {base}"
                );
            }
        }
    }
}

/// An array that is turned as a whole goes with a size that holds it and its copies, and with no smaller one.
#[test]
fn arrays_in_fortran_order_fit_the_size_of_chunks_or_are_refused() {
    let folder = Folder::new();
    for (name, rows, fits) in [("small.npy", 256u64, true), ("large.npy", 2048, false)] {
        let path = folder.path(name);
        save_npy(&path, "<u4", &[rows, 512], &vec![1; rows as usize * 2048]);
        let text = std::fs::read(&path).expect("a file");
        let at = text.windows(5).position(|w| w == b"False").expect("an order");
        std::fs::write(&path, [&text[..at], b"True ", &text[at + 5..]].concat()).expect("a file");
        let run = folder.shell("", &["run", "sort", "--in", name, "--out", "o.npy", "--chunk-size", "64k"]);
        let said = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.success(), fits, "{name}: {said}");
        assert!(fits || said.contains("turned as a whole, which takes 16777216 bytes"), "{said}");
    }
}

/// Runs of bytes, whose lengths are four times as long, on machines of more processors: each thread has what it found.
#[test]
fn more_threads_take_no_more_than_the_size_of_chunks() {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..24 * MIB as u32).map(|k| (k.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    save_npy(&folder.path("x.npy"), "|u1", &[bytes.len() as u64], &bytes);
    save_npy(&folder.path("tiny.npy"), "|u1", &[1 << 13], &bytes[..1 << 13]);
    for args in [&["rle", "--lengths", "l.npy"][..], &["select", "--op", "i % 2 == 0", "--indices", "i.npy"]] {
        let of = |name: &str, size: &str| {
            let options = ["--in", name, "--out", "o.npy", "--chunk-size", size, "--stats", "--json"];
            let run = folder.run("RAYON_NUM_THREADS=8;", &[args, &options].concat());
            stats(&run)["peak_bytes"].as_u64().expect("Linux counts it")
        };
        let base = of("tiny.npy", "64K");
        for mib in [4, 8, 16] {
            let most = of("x.npy", &format!("{mib}M")).saturating_sub(base);
            assert!(most <= mib * MIB, "{args:?}: {most} bytes above {base} by chunks of {mib} MiB");
        }
    }
}

#[test]
fn memory_that_ends_is_an_error_and_leaves_nothing() {
    let folder = Folder::new();
    folder.words("x.npy", 24);
    let listed = || fs::read_dir(folder.0.path()).expect("the folder").count();
    for args in [
        &["map", "--op", "x * 3", "--in", "x.npy"][..],
        &["rle", "--in", "x.npy", "--lengths", "l.npy"],
        &["select", "--op", "x > 9", "--in", "x.npy"],
        &["topk", "-k", "5000000", "--in", "x.npy"],
        &["unique", "--in", "x.npy"],
        &["reverse", "--in", "x.npy"],
        &["generate", "--shape", "100000,10000", "--dtype", "f64", "--op", "f64(i)"],
        &["sort", "--variant", "sample", "--in", "x.npy"],
        &["scan", "--variant", "brent-kung", "--in", "x.npy"],
        &["reduce-by-key", "--in", "x.npy", "--in", "x.npy"],
        &["merge", "--in", "x.npy", "--in", "x.npy"],
    ] {
        // From next to nothing on: where memory ends differs.
        for limit in [36_000, 60_000, 90_000] {
            let run = folder.run(&format!("ulimit -d {limit};"), &[args, &["--out", "o.npy"]].concat());
            if run.status.success() {
                continue;
            }
            let lines = lines_of_failure(&run);
            assert!(lines.len() == 2 && lines[0].contains("out of memory"), "{args:?} in {limit} KiB: {lines:?}");
            assert_eq!(listed(), 1, "{args:?} in {limit} KiB");
        }
        let _ = (fs::remove_file(folder.path("o.npy")), fs::remove_file(folder.path("l.npy")));
    }
}

/// A header may announce what no machine has.
#[test]
fn announced_elements_take_no_memory_before_they_come() {
    let folder = Folder::new();
    let memory = "out of memory: 4398046511104 bytes requested";
    for (shape, pattern, why) in [
        ("(1099511627776,)", "map", memory),
        ("(1048576, 1048576)", "reduce", memory),
        // Taken in chunks, so it is the end that is found.
        ("(1099511627776,)", "select", "the file is truncated: its header announces 4398046511104 bytes of elements, 4096 are there"),
    ] {
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        file.extend([0; 4096]);
        let args = ["run", pattern, "--in", "-", "--out", "o.npy"];
        let op: &[&str] = if pattern == "reduce" { &[] } else { &["--op", "x + 1"] };
        let mut run = command()
            .args(args)
            .args(op)
            .current_dir(folder.0.path())
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        // It may have ended before it read all of this.
        let _ = run.stdin.take().expect("a pipe").write_all(&file);
        let run = run.wait_with_output().expect("it ends");
        assert!(lines_of_failure(&run)[0].contains(why), "{}", stderr(&run));
    }
}

/// The command as somebody whom limits bind: they do not bind root.
fn bound(folder: &Path, script: &str) -> Output {
    let mine = fs::metadata("/proc/self").map(|m| std::os::unix::fs::MetadataExt::uid(&m)).expect("Linux says it");
    let mut sh = if mine == 0 {
        let mut setpriv = Command::new("setpriv");
        setpriv.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "bash"]);
        setpriv
    } else {
        Command::new("bash")
    };
    sh.args(["-c", script]).current_dir(folder).env("XDG_RUNTIME_DIR", folder).output().expect("a shell")
}

#[test]
fn a_limit_on_threads_gives_fewer_threads() {
    let folder = Folder::new();
    folder.words("x.npy", 1);
    // A place that anybody may go to.
    fs::copy(env!("CARGO_BIN_EXE_isowarp"), folder.path("isowarp")).expect("a copy");
    let open = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    fs::set_permissions(folder.0.path(), open).expect("a folder of ours");
    let whole = folder.run("", &["sort", "--in", "x.npy", "--out", "-"]);
    succeeded(&whole);
    // Processes that the user has running already count: from one to a few.
    for limit in [1, 2, 3, 5, 1000] {
        let run = bound(
            folder.0.path(),
            &format!("ulimit -u {limit}; RAYON_NUM_THREADS=8 exec ./isowarp run sort --in x.npy --out - --backend cpu"),
        );
        succeeded(&run);
        assert!(run.stdout == whole.stdout && run.stderr.is_empty(), "{limit}: {}", stderr(&run));
    }
}

/// Checks that a driver which starts no threads is not taken for one that is missing.
#[test]
fn a_limit_on_threads_that_a_driver_lacks_is_named() {
    if !backends().iter().any(|backend| backend == "wgpu") {
        return;
    }
    let folder = Folder::new();
    folder.words("x.npy", 1);
    fs::copy(env!("CARGO_BIN_EXE_isowarp"), folder.path("isowarp")).expect("a copy");
    let open = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    fs::set_permissions(folder.0.path(), open).expect("a folder of ours");
    for limit in [1, 2, 3] {
        let run = bound(folder.0.path(), &format!("ulimit -u {limit}; exec ./isowarp run scan --in x.npy --out - --backend wgpu"));
        // An adapter that is no processor may need no thread.
        if run.status.success() {
            continue;
        }
        let lines = lines_of_failure(&run);
        assert!(lines[0].contains("the system grants no further threads") && lines[1].contains("ulimit -u"), "{limit}: {lines:?}");
        assert!(!lines[1].contains("install"), "{lines:?}");
    }
}

/// A header of a BMP file of 65,000 x 65,000 pixels, and none of them, for a process that may take 1 GB.
#[test]
fn an_image_that_is_larger_than_the_memory_is_an_error_that_names_both_sizes() {
    let folder = Folder::new();
    let words = |all: &[u32]| all.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let header = [b"BM".to_vec(), words(&[54, 0, 54, 40, 65_000, 65_000, 1 | 24 << 16, 0, 0, 0, 0, 0, 0])].concat();
    fs::write(folder.path("huge.bmp"), header).expect("a file");
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -d 1000000; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_isowarp")]);
    command.args(["image", "identity", "--backend", "cpu", "--in", "huge.bmp", "--out", "out.png"]);
    let output = command.current_dir(folder.0.path()).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("takes 12675000000 bytes of memory, and may take"), "{}", stderr(&output));
    assert!(!folder.path("out.png").exists());
}
