//! A file beside the place that it will take: without a name until it is whole where the system has such files, so that nothing is left of a
//! command that is killed. Elsewhere it is a `.isowarp-*.part`, which an error removes, and after a kill the next command that writes there.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempPath};

const PREFIX: &str = ".isowarp-";
const SUFFIX: &str = ".part";

#[derive(Debug)]
pub(super) struct Part {
    pub(super) file: File,
    name: Option<TempPath>,
    target: PathBuf,
}

/// State of a place before a part took it.
#[derive(Debug)]
pub(super) enum Before {
    Nothing,
    /// The file, under another name.
    Kept(TempPath),
    /// A file that could not be kept, or that need not be.
    Gone,
}

pub(super) fn folder(target: &Path) -> &Path {
    target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl Part {
    /// An empty file beside the place.
    pub(super) fn new(target: &Path) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(file) = unnamed(folder(target)) {
            return Ok(Self { file, name: None, target: target.to_owned() });
        }
        Self::named(target)
    }

    fn named(target: &Path) -> io::Result<Self> {
        sweep(folder(target));
        let (file, name) = builder().tempfile_in(folder(target)).map_err(|e| without_path(&e))?.into_parts();
        // Says that this command is alive; where the file system has no locks, nobody else takes one and removes it either.
        let _ = file.try_lock();
        Ok(Self { file, name: Some(name), target: target.to_owned() })
    }

    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    /// Writes everything to the disk itself.
    pub(super) fn sync(&self) -> io::Result<()> {
        match self.file.sync_all() {
            // A file system that has no disk.
            Err(e) if matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
            done => done,
        }
    }

    /// Takes its place, with the permissions of what is there, which is kept under another name if it may be wanted back.
    pub(super) fn take_place(self, keep: bool) -> io::Result<(Before, PathBuf)> {
        let (folder, target) = (folder(&self.target).to_owned(), self.target);
        let name = match self.name {
            Some(name) => name,
            None => linked(self.file, &folder)?,
        };
        let before = match fs::metadata(&target) {
            Ok(old) => {
                fs::set_permissions(&name, old.permissions())?;
                let kept = keep.then(|| builder().make_in(&folder, |path| fs::hard_link(&target, path)).ok()).flatten();
                kept.map_or(Before::Gone, |kept| Before::Kept(kept.into_temp_path()))
            }
            Err(_) => Before::Nothing,
        };
        name.persist(&target).map_err(|e| e.error)?;
        // The result is there; whether its name is on the disk, too, is for the file system to say where it cannot be asked for.
        #[cfg(unix)]
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok((before, target))
    }
}

impl Before {
    /// Brings back what was there.
    pub(super) fn restore(self, target: &Path) -> io::Result<()> {
        match self {
            Self::Nothing => fs::remove_file(target),
            Self::Kept(name) => name.persist(target).map_err(|e| e.error),
            Self::Gone => Ok(()),
        }
    }
}

/// A file without a name, if the system and the folder's file system have such.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<File> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    // As any new file: less what the umask takes away.
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    openat(CWD, folder, flags, Mode::from_raw_mode(0o666)).ok().map(File::from)
}

/// Gives a file a name, under which it can be renamed.
#[cfg(target_os = "linux")]
fn linked(mut file: File, folder: &Path) -> io::Result<TempPath> {
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
    named.as_file().sync_all()?;
    Ok(named.into_temp_path())
}

#[cfg(not(target_os = "linux"))]
fn linked(_: File, _: &Path) -> io::Result<TempPath> {
    Err(io::ErrorKind::Unsupported.into())
}

fn builder() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
}

/// The error without the temporary file's name, which means nothing to the user.
fn without_path(e: &io::Error) -> io::Error {
    let text = e.to_string();
    io::Error::new(e.kind(), text.split(" at path ").next().unwrap_or_default())
}

/// Removes parts whose commands were killed: nobody holds their locks.
fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        if !ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let abandoned = |file: &File| !matches!(file.try_lock(), Err(TryLockError::WouldBlock | TryLockError::Error(_)));
        if File::options().write(true).open(entry.path()).is_ok_and(|file| abandoned(&file)) {
            // Somebody else's, then, who may remove it.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn parts_with_names_of_killed_commands_are_removed_by_the_next() {
        let dir = tempfile::tempdir().expect("a folder");
        let target = dir.path().join("out.npy");
        let count = || fs::read_dir(dir.path()).expect("a folder").count();
        // As a kill leaves it: the name is there, and nobody holds the lock.
        let dead = Part::named(&target).expect("a part");
        dead.name.expect("a name").keep().expect("a file");
        drop(dead.file);
        fs::write(dir.path().join(".isowarp-notes"), "not ours").expect("a file");
        let mut alive = Part::named(&target).expect("a part");
        assert_eq!(count(), 2, "the dead one is gone");
        let other = Part::named(&target).expect("a part");
        assert_eq!(count(), 3, "the living one stays");
        alive.file.write_all(b"whole").expect("room");
        alive.sync().expect("a disk");
        assert!(matches!(alive.take_place(true), Ok((Before::Nothing, _))));
        drop(other);
        assert_eq!((count(), fs::read(&target).expect("the file")), (2, b"whole".to_vec()));
    }

    #[test]
    fn what_was_there_can_be_brought_back() {
        let dir = tempfile::tempdir().expect("a folder");
        let target = dir.path().join("out.npy");
        for old in [None, Some("old")] {
            if let Some(old) = old {
                fs::write(&target, old).expect("a file");
            }
            let (before, at) = Part::new(&target).and_then(|part| part.take_place(true)).expect("the place");
            assert_eq!(fs::read(&target).expect("the file"), b"");
            before.restore(&at).expect("what was there");
            assert_eq!(fs::read(&target).ok(), old.map(|old| old.as_bytes().to_vec()));
            assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), usize::from(old.is_some()));
        }
    }
}
