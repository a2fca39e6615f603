//! What the command says when it cannot do what it was asked.

use isowarp::Error;
use isowarp::ir::OpError;
use std::fmt;
use std::path::Path;
use std::process::ExitCode;

/// A failure of the command: one line, and perhaps a second one with what to do.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The library refused.
    Library(Error),
    /// The arguments make no sense together.
    Usage(String),
    /// Anything else: files, images, differing results.
    Failed { message: String, help: Option<String> },
}

/// Shorthand for results of the command.
pub(crate) type Result<T = (), E = Failure> = std::result::Result<T, E>;

impl Failure {
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), help: None }
    }

    pub(crate) fn with_help(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), help: Some(help.into()) }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// A file that could not be read or written.
    pub(crate) fn file(doing: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::failed(format!("cannot {doing} {}: {error}", path.display()))
    }

    /// 2 where the request itself is wrong, 1 where it could not be carried out.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Usage(_) | Self::Library(Error::UnknownBackend { .. } | Error::Op(_) | Error::InvalidArgument { .. }) => 2,
            Self::Library(_) | Self::Failed { .. } => 1,
        })
    }
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
                let (message, own_help) = text.split_once("\n  help: ").map_or((text.as_str(), None), |(m, h)| (m, Some(h)));
                lines(f, message, own_help.or_else(|| advice(e)))
            }
            Self::Usage(message) => lines(f, message, None),
            Self::Failed { message, help } => lines(f, message, help.as_deref()),
        }
    }
}

fn lines(f: &mut fmt::Formatter<'_>, message: &str, help: Option<&str>) -> fmt::Result {
    write!(f, "error: {}", one_line(message))?;
    match help {
        Some(h) => write!(f, "\n  help: {}", one_line(h)),
        None => Ok(()),
    }
}

/// A driver's words may have line breaks.
fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("; ")
}

/// What to do about an error of the library that does not say so itself.
fn advice(e: &Error) -> Option<&'static str> {
    match e {
        Error::Unavailable { reason, .. } if reason.contains("built without") => Some("build with that feature, or use `--backend auto`"),
        Error::Unavailable { backend: "cuda", .. } => Some("install the NVIDIA driver, or use `--backend auto`"),
        Error::Unavailable { backend: "wgpu", .. } => {
            Some("install a Vulkan driver (for a processor: the package mesa-vulkan-drivers), or use `--backend cpu`")
        }
        Error::OutOfMemory { .. } | Error::TooLarge { .. } => Some("use a smaller array, or `--backend cpu`"),
        Error::LengthMismatch { .. } => Some("the inputs need the same shape"),
        Error::DeviceLost { .. } => Some("run it again, or use `--backend cpu`"),
        _ => None,
    }
}
