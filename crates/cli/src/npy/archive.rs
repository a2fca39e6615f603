//! Arrays in NumPy's archives: `arrays.npz/name` is the array `name` of the file `arrays.npz`.

use super::Reader;
use crate::failure::{Failure, Result};
use npyz::npz::{array_name_from_file_name, file_name_from_array_name};
use std::fs::File;
use std::path::Path;
use zip::ZipArchive;
use zip::result::ZipError;

/// The array that a path names behind a file, if there is such a file.
pub(super) fn member(path: &Path) -> Option<Result<Reader>> {
    let file = path.ancestors().skip(1).find(|above| above.is_file())?;
    let member = path.strip_prefix(file).ok()?.to_str()?;
    Some(open(file, member, path))
}

/// Names of arrays that are listed; further ones are counted.
const LISTED: usize = 20;

/// The refusal of an archive that is named without one of its arrays: which ones there are.
pub(super) fn nameless(path: &Path) -> Failure {
    let archive = match archive(path, path) {
        Ok(archive) => archive,
        Err(failure) => return failure,
    };
    let message = format!("cannot read {}: it is an archive, which holds {}", path.display(), listed(&archive));
    let help = match arrays(&archive).next() {
        Some(first) => format!("name one of its arrays behind the file, such as --in {}/{first}", path.display()),
        None => "save arrays in it with np.savez or np.savez_compressed, or name another file".to_owned(),
    };
    Failure::failed(message, help)
}

/// The archive of a file, for what a path names.
fn archive(file: &Path, path: &Path) -> Result<ZipArchive<File>> {
    let from = File::open(file).map_err(|e| Failure::file("read", file, &e))?;
    ZipArchive::new(from).map_err(|e| refused(path, &e))
}

fn refused(path: &Path, e: &ZipError) -> Failure {
    let message = format!("cannot read {}: {e}", path.display());
    Failure::failed(message, "save the arrays again with np.savez or np.savez_compressed, or copy the whole file")
}

/// Names of the arrays, as NumPy has them.
fn arrays(archive: &ZipArchive<File>) -> impl Iterator<Item = String> {
    archive.file_names().filter_map(|name| array_name_from_file_name(&name.ok()?).map(str::to_owned))
}

fn listed(archive: &ZipArchive<File>) -> String {
    let mut names: Vec<String> = arrays(archive).collect();
    if names.is_empty() {
        return "no arrays".to_owned();
    }
    let further = names.len().saturating_sub(LISTED);
    names.truncate(LISTED);
    let more = if further > 0 { format!(" and {further} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}

fn open(file: &Path, member: &str, path: &Path) -> Result<Reader> {
    let archive = archive(file, path)?;
    // The array is read as the file is, piece by piece: the directory stays in memory until the command ends.
    let archive = Box::leak(Box::new(archive));
    let named = file_name_from_array_name(member);
    let place = archive.index_for_name(&named).or_else(|| archive.index_for_name(member));
    let Some(place) = place else {
        let (path, file, names) = (path.display(), file.display(), listed(archive));
        let message = format!("cannot read {path}: there is no array `{member}` in {file}, which holds {names}");
        return Err(Failure::failed(message, "name one that is there"));
    };
    let reader = archive.by_index(place).map_err(|e| refused(path, &e))?;
    // The size is not taken from the directory: only at the end of what is there is its checksum compared.
    Reader::new(path.display().to_string(), Box::new(reader), None)
}
