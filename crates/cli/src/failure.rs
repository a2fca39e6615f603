//! Messages of the command where it cannot do what it was asked.

use crate::run::registry;
use isowarp::Error;
use isowarp::caps::Capability;
use isowarp::element::DType;
use isowarp::ir::OpError;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// A failure of the command: one line, and a second one with what to do.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The library refused.
    Library(Error),
    /// The arguments make no sense together.
    Usage { message: String, help: String },
    /// Nobody reads what is written any more: the other end of the pipe is closed. Nothing is said, since nothing went wrong.
    Closed,
    /// Anything else: files, images, differing results.
    Failed { message: String, help: String },
}

/// Shorthand for results of the command.
pub(crate) type Result<T = (), E = Failure> = std::result::Result<T, E>;

impl Failure {
    pub(crate) fn failed(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), help: help.into() }
    }

    pub(crate) fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), help: help.into() }
    }

    /// Arguments that clap refuses, in a line and one with what to do; `None` where it only says what there is.
    pub(crate) fn of_arguments(said: &clap::Error) -> Option<Self> {
        let text = said.to_string();
        let text = text.strip_prefix("error: ")?;
        let (what, more) = text.split_once("\n\n").unwrap_or((text, ""));
        // The command as far as it is known: after "Usage:", up to its options, or else as it was typed.
        let typed = || {
            let mut words: Vec<String> = std::env::args_os().skip(1).take(2).map(|word| word.to_string_lossy().into_owned()).collect();
            // Other commands have no further ones.
            words.truncate(if words.first().is_some_and(|word| word == "run") { 2 } else { 1 });
            std::iter::once("isowarp".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
        };
        let usage = more.split_once("Usage: ").map_or_else(typed, |(_, usage)| usage.to_owned());
        let command: Vec<&str> = usage.split_whitespace().take_while(|word| !word.starts_with(['-', '[', '<', '.'])).collect();
        let verb = command.get(2).and_then(|name| registry::all().find(|verb| command[1] == "run" && verb.name == *name));
        let tip = more.lines().find_map(|line| line.trim().strip_prefix("tip: ")).map(|tip| format!("{tip}; "));
        let example = verb.map(|verb| format!("such as `{}`; ", verb.line()));
        let message = what.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        let help = format!("{}`{} --help` says what there is", tip.or(example).unwrap_or_default(), command.join(" "));
        Some(Self::usage(format!("{}: {message}", command.join(" ")), help))
    }

    /// A file that could not be read or written.
    pub(crate) fn file(doing: &str, path: &Path, error: &io::Error) -> Self {
        if doing == "write" && error.kind() == io::ErrorKind::BrokenPipe {
            return Self::Closed;
        }
        if let Some(e) = of_library(error) {
            return Self::Library(e);
        }
        let help = match error.kind() {
            io::ErrorKind::NotFound if doing == "write" => "make its folder first, or name another place",
            io::ErrorKind::NotFound => "check the name, and the folder that it is looked for in",
            io::ErrorKind::PermissionDenied => "ask for permission to it, or name another file",
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                "make room, or name a place that has some"
            }
            io::ErrorKind::NotADirectory => "a part of its path is a file; name a path of folders",
            _ => "name another file, or look into what the system says of this one",
        };
        Self::failed(format!("cannot {doing} {}: {error}", path.display()), help)
    }

    /// Standard input or output that failed.
    pub(crate) fn stream(doing: &str, error: &io::Error) -> Self {
        if let Some(e) = of_library(error) {
            return Self::Library(e);
        }
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::failed(format!("cannot {doing}: {error}"), "make room, or name a place that has some")
            }
            _ => Self::failed(format!("cannot {doing}: {error}"), "look at the other end of the pipe, or name a file in place of -"),
        }
    }

    /// Something that no input should lead to.
    pub(crate) fn defect(message: impl Into<String>) -> Self {
        Self::failed(message, "this is a defect of isowarp: please report it with the command line")
    }

    /// 2 where the request itself is wrong, 1 where it could not be carried out, 0 where its result is no longer wanted.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Usage { .. } | Self::Library(Error::UnknownBackend { .. } | Error::Op(_) | Error::InvalidArgument { .. }) => 2,
            Self::Library(_) | Self::Failed { .. } => 1,
            Self::Closed => 0,
        })
    }
}

/// The library's error, where what was to be written could not be made.
fn of_library(error: &io::Error) -> Option<Error> {
    error.get_ref()?.downcast_ref().cloned()
}

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        Self::Library(e)
    }
}

impl From<OpError> for Failure {
    fn from(e: OpError) -> Self {
        Self::Library(e.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The caret needs the lines that it points at.
            Self::Library(e @ Error::Op(OpError::Parse { .. })) => write!(f, "error: {e}"),
            Self::Library(e) => {
                let text = e.to_string();
                let (message, help) = text.split_once("\n  help: ").unwrap_or((&text, ""));
                let is_size = matches!(e, Error::OutOfMemory { .. } | Error::TooLarge { .. });
                let on_cpu = crate::device::is_cpu() || is_size && !crate::device::is_open();
                lines(f, message, advice(e, on_cpu).unwrap_or(help))
            }
            Self::Usage { message, help } | Self::Failed { message, help } => lines(f, message, help),
            Self::Closed => Ok(()),
        }
    }
}

fn lines(f: &mut fmt::Formatter<'_>, message: &str, help: &str) -> fmt::Result {
    write!(f, "error: {}\n  help: {}", one_line(message), one_line(help))
}

/// A driver's words may have line breaks.
fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Advises one who types commands about an error of the library; `None` where the library says it as well. `on_cpu` says whether the device that
/// the command computes on is the CPU.
fn advice(e: &Error, on_cpu: bool) -> Option<&'static str> {
    let elsewhere = |on_gpu, help| if on_cpu { help } else { on_gpu };
    Some(match e {
        Error::Unavailable { reason, .. } if reason.contains("built without") => "build with that feature, or use `--backend auto`",
        Error::Unavailable { reason, .. } if reason.contains("grants no further threads") => {
            "raise the limit on processes and threads (`ulimit -u`, or the control group's), or use `--backend cpu`"
        }
        Error::Unavailable { reason, .. } if reason.contains("(`ulimit -") => "raise that limit, or use `--backend cpu`",
        Error::Unavailable { backend: "cuda", .. } => "install the NVIDIA driver, or use `--backend auto`",
        Error::Unavailable { backend: "wgpu", .. } => {
            "install a Vulkan driver (for a processor: the package mesa-vulkan-drivers), or use `--backend cpu`"
        }
        Error::Unavailable { .. } => "use another `--backend`; `isowarp devices` lists what is there",
        Error::UnknownBackend { .. } => "name a known one with --backend or ISOWARP_BACKEND, or none for the best that is there",
        Error::NotStrict { .. } => "use `--backend cpu`; `isowarp run` takes `--numerics fast`, too",
        Error::Unsupported { capability: Capability::DType(DType::I64 | DType::U64), .. } => elsewhere(
            "use `--backend cpu`, a file of another type, or --dtype u32 or i32 for sums of integers",
            "use a file of another type",
        ),
        Error::Unsupported { capability: Capability::DType(_), .. } => {
            elsewhere("use `--backend cpu`, or a file of another type", "use a file of another type")
        }
        Error::Unsupported { .. } => elsewhere("use `--backend cpu`", "ask for less in one run"),
        Error::TooLarge { what, .. } if ["axes", "bins", "dimensions", "k of", "steps"].iter().any(|of| what.starts_with(of)) => {
            "ask for no more than the limit"
        }
        Error::OutOfMemory { .. } | Error::TooLarge { .. } => elsewhere("use a smaller array, or `--backend cpu`", "use a smaller array"),
        Error::LengthMismatch { what: "channels of a filter" | "filters of a transposed convolution", .. } => {
            "give filters of the image's channels, or of those of one of the --groups"
        }
        Error::LengthMismatch { .. } => "give arrays of as many elements as are expected",
        Error::BufferTooSmall { .. } | Error::Aliasing { .. } => "give an output of its own that holds the result",
        Error::OutOfRange { .. } => "ask for elements that are there",
        Error::IndexOutOfRange { .. } => "correct the indices; they count from 0",
        Error::DuplicateIndex { .. } => "name every place once",
        Error::NotSorted { pattern: "segments", .. } => "correct the offsets; none may be below the one before it",
        Error::NotSorted { pattern: "merge_by" | "search_by" | "a set operation by an order", .. } => {
            "sort it first with `isowarp run sort` and the same --op"
        }
        Error::NotSorted { .. } => "sort it first with `isowarp run sort` and the same of --descending, --nan-last and --total-order",
        Error::Empty { pattern: "estimate" } => "ask for one sample at least (--n 1)",
        Error::Empty { pattern: "argmin" | "argmax" | "mean" | "ulp" } => "give an array with elements",
        Error::Empty { .. } => "give an array with elements, or an operator with an identity such as sum",
        Error::InvalidArgument { what: "identity", .. } => "name the value that leaves others as they are, such as 0 for x+y and 1 for x*y",
        Error::InvalidArgument { what: "factors of a product" | "order of a product" | "image and filter", .. } => {
            "convert the arrays first, such as `isowarp run map --op x --dtype f32 --in a.npy --out b.npy`"
        }
        Error::InvalidArgument { what: "filter", .. } => {
            "name the image first, the filter second; --padding adds to the image, and without --fft there may be several filters"
        }
        Error::InvalidArgument { .. } => "correct it; --help says what is taken",
        Error::DeviceLost { .. } => elsewhere("run it again, or use `--backend cpu`", "run it again"),
        Error::Compile { .. } | Error::Driver { .. } => {
            elsewhere("update the device's driver, or use `--backend cpu`; then please report it", "please report it with the command line")
        }
        Error::Op(OpError::Signature { what: "result of the order", .. }) => "compare x and y, such as x % 100 < y % 100",
        Error::Op(OpError::NoFunction { .. }) => "convert its argument: f32(x)",
        Error::Op(OpError::NoStrictForm { .. }) => "write it in other operations, or use integers",
        Error::Op(_) => "convert values so that the types agree, such as f32(x); `isowarp run --help` lists what there is",
        e if e.to_string().contains("\n  help: ") => return None,
        _ => elsewhere("use `--backend cpu`, or see --help", "see --help"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn two_lines(failure: Failure, first: &str, second: &str) {
        let text = failure.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() == 2 && lines[0].starts_with("error: ") && lines[1].starts_with("  help: "), "{text}");
        assert!(lines[0].contains(first) && lines[1].contains(second), "{text}");
    }

    #[test]
    fn every_kind_of_failure_says_what_to_do_in_a_second_line() {
        two_lines(Failure::usage("a\nb", "c"), "a; b", "c");
        two_lines(Failure::failed("a", "b\n\n c"), "a", "b; c");
        two_lines(Failure::defect("a"), "a", "report");
        for (kind, doing, help) in [
            (io::ErrorKind::NotFound, "read", "check the name"),
            (io::ErrorKind::NotFound, "write", "make its folder"),
            (io::ErrorKind::PermissionDenied, "read", "permission"),
            (io::ErrorKind::StorageFull, "write", "make room"),
            (io::ErrorKind::NotADirectory, "write", "path of folders"),
            (io::ErrorKind::Other, "read", "another file"),
        ] {
            two_lines(Failure::file(doing, Path::new("x.npy"), &kind.into()), &format!("cannot {doing} x.npy: "), help);
        }
        two_lines(Failure::stream("write standard output", &io::ErrorKind::Other.into()), "standard output", "pipe");
        two_lines(Failure::stream("write standard output", &io::ErrorKind::StorageFull.into()), "standard output", "make room");
        for closed in
            [io::ErrorKind::BrokenPipe.into()].iter().flat_map(|e| [Failure::stream("write", e), Failure::file("write", Path::new("x"), e)])
        {
            assert!(matches!(closed, Failure::Closed) && closed.to_string().is_empty());
        }
    }

    #[test]
    fn every_error_of_the_library_comes_with_advice() {
        let (text, what) = (|| "text".to_owned(), "what");
        let all = [
            Error::LengthMismatch { what, expected: 1, found: 2 },
            Error::BufferTooSmall { what, required: 2, available: 1 },
            Error::OutOfRange { what, start: 0, end: 2, len: 1 },
            Error::IndexOutOfRange { pattern: "gather", position: 0, index: 9, limit: 3 },
            Error::DuplicateIndex { pattern: "scatter", position: 0, index: 9 },
            Error::NotSorted { pattern: "merge", what, index: 1 },
            Error::NotSorted { pattern: "merge_by", what, index: 1 },
            Error::NotSorted { pattern: "segments", what, index: 1 },
            Error::Aliasing { pattern: "scan", what },
            Error::Empty { pattern: "argmin" },
            Error::Unsupported { pattern: "scan", capability: Capability::DType(DType::F64), device: text() },
            Error::Unsupported { pattern: "map", capability: Capability::StorageBuffers(9), device: text() },
            Error::NotStrict { device: text(), witness: text() },
            Error::TooLarge { what, requested: 2, limit: 1 },
            Error::InvalidArgument { what, reason: text() },
            Error::OutOfMemory { requested: 2, available: None },
            Error::DeviceLost { reason: text() },
            Error::Unavailable { backend: "cuda", reason: text() },
            Error::Unavailable { backend: "wgpu", reason: text() },
            Error::Unavailable { backend: "auto", reason: text() },
            Error::Unavailable { backend: "wgpu", reason: "the system grants no further threads".to_owned() },
            Error::Unavailable { backend: "cuda", reason: "isowarp was built without the feature `cuda`".to_owned() },
            Error::UnknownBackend { name: text() },
            Error::WrongDevice { what },
            Error::Compile { kernel: text(), log: "one\ntwo".to_owned() },
            Error::Driver { call: what, message: text() },
            OpError::ForeignValue.into(),
            OpError::NoStrictForm { what }.into(),
            OpError::Signature { what, expected: text(), found: text() }.into(),
        ];
        for e in all {
            for on_cpu in [false, true] {
                let text = e.to_string();
                let help = advice(&e, on_cpu).or(text.split_once("help: ").map(|t| t.1)).expect("advice");
                assert!(help.contains(' ') && !help.contains("Numerics::"), "{e}: {help}");
                assert!(!on_cpu || !help.contains("--backend cpu") || not_opened(&e), "{e}: {help}");
            }
            two_lines(e.into(), "", " ");
        }
    }

    /// Of errors that a device gives before it is one that the command computes on, or never gives on the CPU.
    fn not_opened(e: &Error) -> bool {
        matches!(e, Error::Unavailable { .. } | Error::NotStrict { .. })
    }
}
