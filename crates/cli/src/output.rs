//! Output that is there whole or not at all: written beside its place, then renamed into it; of several results all or none.

mod part;

use crate::failure::{Failure, Result};
use part::{Part, folder};
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Links that are followed one after the other.
const LINKS: usize = 40;

/// Where a result goes.
#[derive(Debug)]
pub(crate) enum Output {
    Stdout,
    /// Something that cannot be replaced by renaming: a pipe, a device, what the command was given open.
    Stream(PathBuf),
    File(PathBuf),
}

/// Function that writes a result.
pub(crate) type Body<'a> = dyn FnMut(&mut dyn Write) -> io::Result<()> + 'a;

impl Output {
    /// Looks whether the path can be written, before any work is done for it. `-` is standard output.
    pub(crate) fn new(path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self::Stdout);
        }
        let target = followed(path).map_err(|e| Failure::file("write", path, &e))?;
        match descriptor(&target) {
            Some(1) => return Ok(Self::Stdout),
            Some(_) => return Ok(Self::Stream(target)),
            None => {}
        }
        let target = spelling(&target);
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
        Part::new(&target).map(drop).map_err(|e| Failure::file("write", path, &e))?;
        Ok(Self::File(target))
    }

    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    pub(crate) fn is_file(&self) -> bool {
        matches!(self, Self::File(_))
    }

    /// Whether both are one file or pipe, so that the later result would replace the earlier one, or come behind it.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(a), Self::File(b)) => a == b,
            (Self::Stream(a), Self::Stream(b)) => a == b && a != Path::new("/dev/null"),
            (Self::Stdout, Self::Stdout) => true,
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

    /// Begins a result that is made as it is written; what cannot be replaced gets the whole of it from a file in `temp`.
    pub(crate) fn begin(&self, temp: &Path) -> Result<Writing<'_>> {
        let to = match self {
            Self::File(path) => To::Part(Part::new(path).map_err(|e| Failure::file("write", path, &e))?),
            Self::Stdout | Self::Stream(_) => {
                To::Spool(self, temp.to_owned(), tempfile::tempfile_in(temp).map_err(|e| Failure::file("write", temp, &e))?)
            }
        };
        Ok(Writing(BufWriter::new(to)))
    }

    /// Writes the result. On failure the path is as it was.
    pub(crate) fn write(&self, mut body: impl FnMut(&mut dyn Write) -> io::Result<()>) -> Result {
        write_all(&mut [(self, &mut body)])
    }

    /// Writes to what cannot be replaced.
    fn pour(&self, body: &mut Body<'_>) -> Result {
        match self {
            Self::Stdout => {
                let mut w = BufWriter::new(io::stdout().lock());
                body(&mut w).and_then(|()| w.flush()).map_err(|e| Failure::stream("write standard output", &e))
            }
            Self::Stream(path) | Self::File(path) => {
                let mut write = || {
                    // Behind what is there, where that is a file.
                    let mut w = BufWriter::new(File::options().append(true).open(path)?);
                    body(&mut w).and_then(|()| w.flush())
                };
                write().map_err(|e| Failure::file("write", path, &e))
            }
        }
    }
}

/// Fails where two results would go to one place.
pub(crate) fn apart(all: &[&Output]) -> Result {
    match all.iter().enumerate().any(|(k, a)| all[..k].iter().any(|b| a.is_same(b))) {
        true => Err(Failure::usage("two results cannot go to one file or pipe", "name a file of its own for each")),
        false => Ok(()),
    }
}

/// Writes results, each from memory. On failure every path is as it was.
pub(crate) fn write_all(results: &mut [(&Output, &mut Body<'_>)]) -> Result {
    let mut written = Vec::new();
    for (output, body) in results.iter_mut() {
        if let Output::File(path) = output {
            let mut part = output.begin(path)?;
            body(&mut part.0).map_err(|e| Failure::file("write", path, &e))?;
            written.push(part.whole()?);
        }
    }
    for (output, body) in results.iter_mut().filter(|(output, _)| !matches!(output, Output::File(_))) {
        output.pour(*body).map_err(|e| beside(&written, e))?;
    }
    place(written)
}

/// Ends results: when all of them are whole and on the disk, they take their places.
pub(crate) fn finish(results: Vec<Writing<'_>>) -> Result {
    let whole = results.into_iter().map(Writing::whole).collect::<Result<Vec<To<'_>>>>()?;
    let (parts, spools): (Vec<_>, Vec<_>) = whole.into_iter().partition(|to| matches!(to, To::Part(_)));
    for to in spools {
        if let To::Spool(output, _, mut file) = to {
            output.pour(&mut |w| io::copy(&mut file, w).map(drop)).map_err(|e| beside(&parts, e))?;
        }
    }
    place(parts)
}

/// A reader who leaves ends the work in silence, but not where files were asked for too.
fn beside(files: &[To<'_>], e: Failure) -> Failure {
    match e {
        Failure::Closed if !files.is_empty() => Failure::failed(
            "a pipe was closed before it took its result, and the files of the other ones are as they were",
            "name a file for every result that is wanted",
        ),
        e => e,
    }
}

/// Gives parts their places; if one does not get it, the others give theirs back.
fn place(parts: Vec<To<'_>>) -> Result {
    let keep = parts.len() > 1;
    let mut placed = Vec::new();
    for to in parts {
        let To::Part(part) = to else { continue };
        let target = part.target().to_owned();
        match part.take_place(keep) {
            Ok(before) => placed.push(before),
            Err(e) => {
                // The first error is what went wrong.
                placed.into_iter().rev().for_each(|(before, target): (part::Before, PathBuf)| drop(before.restore(&target)));
                return Err(Failure::file("write", &target, &e));
            }
        }
    }
    Ok(())
}

/// A result that is being written.
pub(crate) struct Writing<'a>(BufWriter<To<'a>>);

/// Target that it is written to.
enum To<'a> {
    Part(Part),
    /// A file without a name in this folder, and where its bytes go when it is whole.
    Spool(&'a Output, PathBuf, File),
}

impl To<'_> {
    fn file(&mut self) -> &mut File {
        match self {
            Self::Part(part) => &mut part.file,
            Self::Spool(_, _, file) => file,
        }
    }

    /// Returns the path that a user knows it by.
    fn path(&self) -> &Path {
        match self {
            Self::Part(part) => part.target(),
            Self::Spool(_, folder, _) => folder,
        }
    }
}

impl Write for To<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

impl<'a> Writing<'a> {
    /// Writes the next bytes.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result {
        self.0.write_all(bytes).map_err(|e| Failure::file("write", self.0.get_ref().path(), &e))
    }

    /// Writes bytes over the first ones.
    pub(crate) fn put_first(&mut self, bytes: &[u8]) -> Result {
        let mut done = || {
            self.0.flush()?;
            let file = self.0.get_mut().file();
            file.rewind()?;
            file.write_all(bytes)?;
            file.seek(SeekFrom::End(0)).map(drop)
        };
        done().map_err(|e| Failure::file("write", self.0.get_ref().path(), &e))
    }

    /// Everything is written: to the disk itself, where it is a file's.
    fn whole(mut self) -> Result<To<'a>> {
        let mut done = || {
            self.0.flush()?;
            match self.0.get_mut() {
                To::Part(part) => part.sync(),
                To::Spool(_, _, file) => file.rewind(),
            }
        };
        if let Err(e) = done() {
            return Err(Failure::file("write", self.0.get_ref().path(), &e));
        }
        self.0.into_inner().map_err(|e| Failure::defect(e.to_string()))
    }
}

/// The one spelling of a path; a file that does not exist yet is known by its folder and its name.
fn spelling(path: &Path) -> PathBuf {
    let beside = || Some(fs::canonicalize(folder(path)).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(beside).unwrap_or_else(|| path.to_owned())
}

/// Where a path leads, its links followed also where nothing is at their end yet, but not what the command was given open.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            Ok(next) if descriptor(&path).is_none() => path = folder(&path).join(next),
            _ => return Ok(path),
        }
    }
    Err(io::Error::other("its links lead in a circle"))
}

/// The number of what the command was given open, if the path is its name.
fn descriptor(path: &Path) -> Option<u32> {
    match path.to_str()? {
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        path => path.strip_prefix("/dev/fd/").or_else(|| path.strip_prefix("/proc/self/fd/"))?.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(path: &Path) -> Option<Vec<u8>> {
        fs::read(path).ok()
    }

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

    #[test]
    fn of_several_results_all_are_replaced_or_none() {
        let dir = tempfile::tempdir().expect("a directory");
        let [a, b] = ["a.npy", "b.npy"].map(|name| dir.path().join(name));
        fs::write(&a, b"old").expect("a file");
        let [to_a, to_b] = [&a, &b].map(|path| Output::new(path).expect("the place can be written"));
        let mut whole = |w: &mut dyn Write| w.write_all(b"new");
        let error = write_all(&mut [(&to_a, &mut whole), (&to_b, &mut fails)]).expect_err("the disk is full").to_string();
        assert!(error.contains("b.npy"), "{error}");
        assert_eq!((content(&a), content(&b)), (Some(b"old".to_vec()), None));
        // Made as they are written.
        let begin = || [&to_a, &to_b].map(|to| to.begin(dir.path()).expect("room"));
        let [mut first, _] = begin();
        first.put(b"half").expect("room");
        drop(first);
        assert_eq!((content(&a), content(&b)), (Some(b"old".to_vec()), None));
        // One that does not get its place: the one before gives its own back.
        let [mut first, mut second] = begin();
        first.put(b"new").and_then(|()| second.put(b"new")).expect("room");
        fs::create_dir_all(b.join("in the way")).expect("a directory");
        assert!(finish(vec![first, second]).is_err());
        assert_eq!(content(&a), Some(b"old".to_vec()));
        fs::remove_dir_all(&b).expect("the directory");
        let both = begin().map(|mut to| to.put(b"new").map(|()| to).expect("room"));
        assert!(finish(both.into()).is_ok());
        assert_eq!((content(&a), content(&b)), (Some(b"new".to_vec()), Some(b"new".to_vec())));
        assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 2, "nothing is left beside them");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_to_where_nothing_is_yet() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().expect("a directory");
        let [link, far, circle] = ["link.npy", "far.npy", "circle.npy"].map(|name| dir.path().join(name));
        symlink("far.npy", &link).expect("a link");
        symlink(&circle, &circle).expect("a link");
        Output::new(&link).and_then(|to| to.write(|w| w.write_all(b"new"))).expect("the place can be written");
        assert!(link.is_symlink() && content(&far) == Some(b"new".to_vec()));
        assert!(Output::new(&circle).is_err_and(|e| e.to_string().contains("circle")));
    }

    #[test]
    fn what_was_given_open_is_written_to_and_not_replaced() {
        for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
            assert!(Output::new(Path::new(name)).is_ok_and(|to| to.is_stdout()), "{name}");
        }
        let [stdout, error, again] = ["-", "/dev/stderr", "/dev/stderr"].map(|name| Output::new(Path::new(name)).expect("it is open"));
        assert!(matches!(error, Output::Stream(_)) && error.is_same(&again) && !error.is_same(&stdout));
        assert!(stdout.is_same(&Output::Stdout));
    }
}
