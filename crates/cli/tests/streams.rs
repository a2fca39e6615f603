//! Standard streams that close or fill, several results that are one, files beside which something goes wrong.

#![cfg(unix)]

mod common;

use common::{command, data, isowarp, lines_of_failure, npy, save_npy, stderr, succeeded};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Commands that say something on standard output.
fn talkative(folder: &Path) -> Vec<Vec<String>> {
    let (x, out) = (data("r_f4.npy").display().to_string(), folder.join("o.npy").display().to_string());
    let all: [&[&str]; 8] = [
        &["devices"],
        &["devices", "--json"],
        &["validate", "--quick", "--pattern", "difference"],
        &["bench", "copy", "--sizes", "64", "--backend", "cpu"],
        &["run", "sort", "--in", &x, "--out", &out, "--stats"],
        &["run", "sort", "--in", &x, "--out", "-"],
        &["run", "sort", "--in", &x, "--out", "-", "--chunk-size", "20K"],
        &["--help"],
    ];
    all.iter().map(|args| args.iter().map(|&a| a.to_owned()).collect()).collect()
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = tempfile::tempdir().expect("a folder");
    for args in talkative(folder.path()) {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let run = command().args(&args).stdout(writer).stderr(Stdio::piped()).output().expect("the command starts");
        assert!(run.status.code() == Some(0) && run.stderr.is_empty(), "{args:?}: {} {}", run.status, stderr(&run));
    }
}

#[test]
fn a_closed_pipe_beside_a_file_is_an_error_and_leaves_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (x, lengths) = (data("r_f4.npy"), folder.path().join("l.npy"));
    fs::write(&lengths, "old").expect("a file");
    for rest in [&[][..], &["--chunk-size", "20K"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut rle = command();
        rle.args(["run", "rle", "--in"]).arg(&x).args(["--out", "-", "--lengths"]).arg(&lengths).args(rest);
        let run = rle.stdout(writer).stderr(Stdio::piped()).output().expect("the command starts");
        let lines = lines_of_failure(&run);
        assert!(run.status.code() == Some(1) && lines[0].contains("a pipe was closed before it took its result"), "{lines:?}");
        assert_eq!(fs::read(&lengths).expect("the file"), b"old");
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1, "nothing is left beside it");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_on_a_standard_stream_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let full = || File::options().write(true).open("/dev/full").expect("Linux has it");
    for args in talkative(folder.path()) {
        let run = command().args(&args).stdout(full()).stderr(Stdio::piped()).output().expect("the command starts");
        let lines = lines_of_failure(&run);
        assert!(run.status.code() == Some(1) && lines.len() == 2, "{args:?}: {lines:?}");
        assert!(lines[0].contains("cannot write standard output: No space left on device") && lines[1].contains("make room"), "{lines:?}");
    }
    // Text that cannot be written changes no exit status: of stats, of a refusal of the request.
    let x = data("r_f4.npy").display().to_string();
    for (args, status) in
        [(&["run", "sort", "--in", &x, "--out", "-", "--stats"][..], 1), (&["run", "sort", "--in", &x, "--in", &x, "--out", "-"], 2)]
    {
        let run = command().args(args).stdout(Stdio::null()).stderr(full()).status().expect("the command starts");
        assert_eq!(run.code(), Some(status), "{args:?}");
    }
    let run = command().args(["run", "sort", "--in", &x, "--out", "/dev/full"]).output().expect("the command starts");
    assert!(lines_of_failure(&run)[0].contains("/dev/full: No space left on device"));
}

/// A folder with keys and values to sort, and results of before.
struct Pair(tempfile::TempDir);

impl Pair {
    /// 8 bytes a key, 1 byte a value.
    fn new(elements: u64) -> Self {
        let pair = Self(tempfile::tempdir().expect("a folder"));
        let keys: Vec<u8> = (0..elements).flat_map(|k| (k * 7919 % elements).to_le_bytes()).collect();
        save_npy(&pair.path("keys.npy"), "<u8", &[elements], &keys);
        save_npy(&pair.path("values.npy"), "|u1", &[elements], &vec![1; elements as usize]);
        for name in ["v.npy", "k.npy"] {
            fs::write(pair.path(name), "old").expect("a file");
        }
        pair
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Sorts in the folder, run by a shell that says `before` first: `"$@"` is the command.
    fn sort(&self, script: &str, outputs: &[&str], rest: &[&str]) -> Output {
        let mut sh = Command::new("sh");
        sh.args(["-c", script, "sh", env!("CARGO_BIN_EXE_isowarp"), "run", "sort", "--by-key", "--in", "keys.npy", "--in", "values.npy"]);
        sh.args(outputs).args(rest).args(["--backend", "cpu"]).current_dir(self.0.path()).output().expect("a shell")
    }

    fn is_as_before(&self) -> bool {
        let old = |name: &str| fs::read(self.path(name)).is_ok_and(|bytes| bytes == b"old");
        old("v.npy") && old("k.npy") && fs::read_dir(self.0.path()).is_ok_and(|all| all.count() == 4)
    }
}

/// A limit on the size of files is a disk that is full: here after the small result, and before the end of the large one.
#[cfg(target_os = "linux")]
#[test]
fn several_results_are_replaced_together_or_not_at_all() {
    let pair = Pair::new(20_000);
    let full = "trap '' XFSZ; ulimit -f 80; exec \"$@\"";
    for rest in [&[][..], &["--chunk-size", "2M", "--temp-dir", "/dev/shm"]] {
        // Whichever of the two is written first.
        for outputs in [["--out", "v.npy", "--keys-out", "k.npy"], ["--out", "k.npy", "--keys-out", "v.npy"]] {
            let run = pair.sort(full, &outputs, rest);
            let lines = lines_of_failure(&run);
            assert!(lines[0].contains("File too large") && lines[1].contains("make room"), "{lines:?}");
            assert!(pair.is_as_before(), "{outputs:?} {rest:?}");
        }
    }
    succeeded(&pair.sort("exec \"$@\"", &["--out", "v.npy", "--keys-out", "k.npy"], &[]));
    let keys = npy(&fs::read(pair.path("k.npy")).expect("the keys")).bytes;
    assert!(keys.chunks_exact(8).enumerate().all(|(k, key)| key == (k as u64).to_le_bytes()));
    assert_eq!(npy(&fs::read(pair.path("v.npy")).expect("the values")).bytes, [1; 20_000]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_that_fails_replaces_no_file_either() {
    let pair = Pair::new(2000);
    let run = pair.sort("exec \"$@\" > /dev/full", &["--out", "-", "--keys-out", "k.npy"], &[]);
    assert!(lines_of_failure(&run)[0].contains("No space left on device"));
    assert!(pair.is_as_before());
}

#[test]
fn two_results_cannot_go_to_one_stream() {
    let pair = Pair::new(20);
    for [a, b] in [["-", "-"], ["-", "/dev/stdout"], ["/dev/stdout", "/dev/fd/1"], ["/dev/stderr", "/dev/stderr"]] {
        let run = pair.sort("exec \"$@\"", &["--out", a, "--keys-out", b], &[]);
        let lines = lines_of_failure(&run);
        assert!(run.status.code() == Some(2) && run.stdout.is_empty() && lines[0].contains("two results cannot go to one"), "{lines:?}");
    }
    succeeded(&pair.sort("exec \"$@\"", &["--out", "/dev/null", "--keys-out", "/dev/null"], &[]));
}

#[test]
fn what_was_given_open_is_appended_to() {
    let pair = Pair::new(20);
    for (name, script) in [("/dev/stdout", "\"$@\" >> log"), ("/dev/fd/3", "\"$@\" 3>> log")] {
        fs::write(pair.path("log"), "before").expect("a file");
        succeeded(&pair.sort(script, &["--out", name, "--keys-out", "k.npy"], &[]));
        let log = fs::read(pair.path("log")).expect("the log");
        assert_eq!((&log[..6], npy(&log[6..]).bytes), (&b"before"[..], vec![1; 20]), "{name}");
    }
}

#[test]
fn a_link_to_where_nothing_is_yet_stays_a_link() {
    let pair = Pair::new(20);
    fs::create_dir(pair.path("far")).expect("a folder");
    std::os::unix::fs::symlink("far/new.npy", pair.path("link.npy")).expect("a link");
    succeeded(&pair.sort("exec \"$@\"", &["--out", "link.npy"], &[]));
    assert!(pair.path("link.npy").is_symlink());
    assert_eq!(npy(&fs::read(pair.path("far/new.npy")).expect("the result")).bytes, [1; 20]);
    std::os::unix::fs::symlink("no/folder/new.npy", pair.path("lost.npy")).expect("a link");
    assert!(lines_of_failure(&pair.sort("exec \"$@\"", &["--out", "lost.npy"], &[]))[0].contains("cannot write lost.npy"));
}

#[test]
fn of_runs_to_one_file_at_once_one_is_there_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out.npy");
    let run = |k: u32| {
        let args = ["run", "generate", "--n", "300000", "--dtype", "u32", "--op", &format!("u32(i) * 0 + {k}")];
        command().args(args).arg("--out").arg(&out).spawn().expect("the command starts")
    };
    let mut all: Vec<_> = (1..5).map(run).collect();
    assert!(all.iter_mut().all(|run| run.wait().is_ok_and(|status| status.success())));
    let words = npy(&fs::read(&out).expect("a result")).bytes;
    assert!(words.len() == 1_200_000 && words[0] > 0 && words.chunks_exact(4).all(|word| word == &words[..4]));
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1, "nothing is left beside it");
}

/// As a user ends it, or a system that shuts down.
#[cfg(target_os = "linux")]
#[test]
fn a_command_that_is_asked_to_end_leaves_nothing() {
    for (number, signal) in [(2, "INT"), (15, "TERM"), (1, "HUP")] {
        // Long enough to be there still on a busy machine.
        let pair = Pair::new(2_000_000);
        let args = ["run", "sort", "--by-key", "--in", "keys.npy", "--in", "values.npy", "--out", "v.npy", "--keys-out", "k.npy"];
        let mut run = command().args(args).args(["--chunk-size", "64K"]).current_dir(pair.0.path()).spawn().expect("the command starts");
        std::thread::sleep(std::time::Duration::from_millis(100));
        let asked = Command::new("kill").args([format!("-{signal}"), run.id().to_string()]).status().expect("a command");
        let status = run.wait().expect("it ends");
        let is_right = if is_ignored(number) { status.success() } else { !status.success() && pair.is_as_before() };
        assert!(asked.success() && is_right, "{signal}: {status}");
    }
}

/// Whether this process was told to ignore a signal, as shells do with what runs in the background, and so were those that it starts.
fn is_ignored(signal: u32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[test]
fn pictures_and_tables_have_places_of_their_own() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (one, other) = (path("one"), path("./one"));
    let ising = ["run", "ising", "--backend", "cpu", "--shape", "8,8", "--temperatures", "2", "--measure", "2"];
    for two in [
        ["--png", &one, "--csv", &other],
        ["--plot", &one, "--csv", &one],
        ["--csv", &one, "--out", &one],
        ["--csv", "-", "--plot", "-"],
        ["--png", "-", "--out", "/dev/stdout"],
    ] {
        let run = isowarp(&[&ising[..], &two].concat());
        assert_eq!(run.status.code(), Some(2), "{two:?}");
        assert!(stderr(&run).contains("two results cannot go to one file or pipe"), "{}", stderr(&run));
        assert!(run.stdout.is_empty() && fs::read_dir(dir.path()).expect("a directory").next().is_none(), "{two:?}");
    }
    // Standard output has the picture alone, and standard error the table.
    let run = isowarp(&[&ising[..], &["--png", "-", "--csv", &one]].concat());
    succeeded(&run);
    assert!(run.stdout.starts_with(b"\x89PNG") && stderr(&run).contains("energy"), "{}", stderr(&run));
    assert!(fs::read_to_string(&one).expect("the table").starts_with("temperature,"));
}

#[test]
fn arguments_that_are_no_text_are_refused_as_others_are() {
    use std::os::unix::ffi::OsStrExt as _;
    for args in
        [&[b"image".as_slice(), b"\xff"][..], &[b"\xff"], &[b"run", b"\xff\xfe"], &[b"image", b"--in=\xff.png", b"box", b"--size", b"x"]]
    {
        let run = command().args(args.iter().map(|arg| std::ffi::OsStr::from_bytes(arg))).output().expect("the command starts");
        assert_eq!(run.status.code(), Some(2), "{args:?}: {}", stderr(&run));
    }
}
