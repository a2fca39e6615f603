//! Output that is there whole or not at all: written beside its place, then renamed into it.

use crate::failure::{Failure, Result};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// Why a result that is made as it is written was not written.
#[derive(Debug)]
pub(crate) enum Halted {
    /// It could not be written.
    Io(io::Error),
    /// It could not be made.
    Failure(Failure),
}

impl Halted {
    fn about(self, path: &Path) -> Failure {
        match self {
            Self::Io(e) => Failure::file("write", path, &e),
            Self::Failure(failure) => failure,
        }
    }
}

impl From<io::Error> for Halted {
    fn from(e: io::Error) -> Self {
        Self::Io(e)
    }
}

impl From<Failure> for Halted {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<isowarp::Error> for Halted {
    fn from(e: isowarp::Error) -> Self {
        Self::Failure(e.into())
    }
}

/// Where a result goes.
#[derive(Debug)]
pub(crate) enum Output {
    Stdout,
    /// Something that cannot be replaced by renaming: a pipe, a device.
    Stream(PathBuf),
    File(PathBuf),
}

impl Output {
    /// Looks whether the path can be written, before any work is done for it. `-` is standard output.
    pub(crate) fn new(path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self::Stdout);
        }
        let target = place(path);
        match fs::metadata(&target) {
            Ok(m) if m.is_dir() => {
                return Err(Failure::failed(format!("cannot write {}: it is a directory", path.display()), "name a file in it"));
            }
            Ok(m) if !m.is_file() => return Ok(Self::Stream(target)),
            Ok(m) if m.permissions().readonly() => {
                let message = format!("cannot write {}: it is read-only", path.display());
                return Err(Failure::failed(message, "name another file, or allow writing to this one"));
            }
            _ => {}
        }
        if target.file_name().is_none() {
            return Err(Failure::failed(
                format!("cannot write {}: it names no file", path.display()),
                "name a file, or - for standard output",
            ));
        }
        let output = Self::File(target.clone());
        beside(&target).map(drop).map_err(|e| Failure::file("write", path, &e))?;
        Ok(output)
    }

    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// Whether both are one file, so that the later result would replace the earlier one, or one pipe, which would carry both.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(a), Self::File(b)) => a == b,
            (Self::Stream(a), Self::Stream(b)) => a == b && a != Path::new("/dev/null"),
            _ => false,
        }
    }

    /// The folder that temporary files may go to: that of the result, or where it has none the system's.
    pub(crate) fn folder(&self) -> PathBuf {
        match self {
            Self::File(path) => folder(path).to_owned(),
            Self::Stdout | Self::Stream(_) => std::env::temp_dir(),
        }
    }

    /// Writes a result that is made as it is written. On failure the path is as it was, and what cannot be replaced has got nothing: that gets
    /// the whole from a file in `temp`.
    pub(crate) fn stream(&self, temp: &Path, body: impl FnOnce(&mut dyn Write) -> Result<(), Halted>) -> Result {
        if let Self::File(path) = self {
            return replace(path, body).map_err(|e| e.about(path));
        }
        let spooled = || {
            let mut w = BufWriter::new(tempfile::tempfile_in(temp)?);
            body(&mut w)?;
            let mut file = w.into_inner().map_err(io::IntoInnerError::into_error)?;
            io::Seek::rewind(&mut file)?;
            Ok(file)
        };
        let mut file = spooled().map_err(|e: Halted| e.about(temp))?;
        self.write(|w| io::copy(&mut file, w).map(drop))
    }

    /// Writes the result. On failure the path is as it was.
    pub(crate) fn write(&self, body: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result {
        match self {
            Self::Stdout => {
                let mut w = BufWriter::new(io::stdout().lock());
                body(&mut w).and_then(|()| w.flush()).map_err(|e| Failure::stream("write standard output", &e))
            }
            Self::Stream(path) => {
                let write = || {
                    let mut w = BufWriter::new(fs::OpenOptions::new().write(true).open(path)?);
                    body(&mut w).and_then(|()| w.flush())
                };
                write().map_err(|e| Failure::file("write", path, &e))
            }
            Self::File(path) => replace(path, body).map_err(|e| Failure::file("write", path, &e)),
        }
    }
}

/// The one spelling of a path. A link is followed, so that what it points at is replaced; a file that does not exist yet is known by its folder
/// and its name.
fn place(path: &Path) -> PathBuf {
    let beside = || Some(fs::canonicalize(folder(path)).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(beside).unwrap_or_else(|| path.to_owned())
}

fn folder(target: &Path) -> &Path {
    target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file beside the place that it will take.
enum Part {
    /// Without a name until it is whole, so that nothing is left of a command that is killed.
    #[cfg(target_os = "linux")]
    Unnamed(fs::File),
    Named(NamedTempFile),
}

impl Part {
    fn file(&mut self) -> &mut fs::File {
        match self {
            #[cfg(target_os = "linux")]
            Self::Unnamed(file) => file,
            Self::Named(file) => file.as_file_mut(),
        }
    }

    /// Takes its place, with the permissions of what is there.
    fn persist(self, target: &Path) -> io::Result<()> {
        let file = match self {
            Self::Named(file) => file.into_temp_path(),
            #[cfg(target_os = "linux")]
            Self::Unnamed(file) => linked(file, folder(target))?,
        };
        if let Ok(old) = fs::metadata(target) {
            fs::set_permissions(&file, old.permissions())?;
        }
        file.persist(target).map_err(|e| e.error)
    }
}

/// A file without a name, if the system and the folder's file system have such.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<fs::File> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    // As any new file: less what the umask takes away.
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    openat(CWD, folder, flags, Mode::from_raw_mode(0o666)).ok().map(fs::File::from)
}

/// Gives a file a name, under which it can be renamed.
#[cfg(target_os = "linux")]
fn linked(mut file: fs::File, folder: &Path) -> io::Result<tempfile::TempPath> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd as _;
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    let link = |path: &Path| linkat(CWD, &open, CWD, path, AtFlags::SYMLINK_FOLLOW).map_err(io::Error::from);
    if let Ok(linked) = builder().make_in(folder, link) {
        return Ok(linked.into_temp_path());
    }
    // Without /proc there is only a copy.
    let mut named = builder().tempfile_in(folder)?;
    io::Seek::rewind(&mut file)?;
    io::copy(&mut file, &mut named)?;
    Ok(named.into_temp_path())
}

fn builder() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".isowarp-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
}

fn beside(target: &Path) -> io::Result<Part> {
    let folder = folder(target);
    #[cfg(target_os = "linux")]
    if let Some(file) = unnamed(folder) {
        return Ok(Part::Unnamed(file));
    }
    builder().tempfile_in(folder).map(Part::Named).map_err(|e| {
        // The temporary file's name means nothing to the user.
        let text = e.to_string();
        io::Error::new(e.kind(), text.split(" at path ").next().unwrap_or_default())
    })
}

fn replace<E: From<io::Error>>(path: &Path, body: impl FnOnce(&mut dyn Write) -> Result<(), E>) -> Result<(), E> {
    let mut part = beside(path)?;
    let mut w = BufWriter::new(part.file());
    body(&mut w)?;
    w.flush()?;
    drop(w);
    Ok(part.persist(path)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk that is full after the first bytes.
    fn fails(w: &mut dyn Write) -> io::Result<()> {
        w.write_all(&[1; 100_000])?;
        w.flush()?;
        Err(io::ErrorKind::StorageFull.into())
    }

    #[test]
    fn a_write_that_fails_half_way_leaves_what_was_there() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("out.npy");
        for before in [None, Some(b"what was there before")] {
            if let Some(bytes) = before {
                fs::write(&path, bytes).expect("a file");
            }
            let output = Output::new(&path).expect("the place can be written");
            let error = output.write(fails).expect_err("the disk is full").to_string();
            assert!(error.starts_with("error: cannot write ") && error.contains("out.npy"), "{error}");
            assert_eq!(fs::read(&path).ok().as_deref(), before.map(|b| &b[..]));
            assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), usize::from(before.is_some()), "nothing is left beside it");
        }
    }

    #[test]
    fn nothing_is_seen_at_the_path_before_all_of_it_is_there() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("out.npy");
        fs::write(&path, b"old").expect("a file");
        let output = Output::new(&path).expect("the place can be written");
        let seen = |expected: &[u8]| assert_eq!(fs::read(&path).expect("the file"), expected);
        let done = output.write(|w| {
            w.write_all(b"new")?;
            w.flush()?;
            seen(b"old");
            Ok(())
        });
        assert!(done.is_ok());
        seen(b"new");
    }
}
