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

fn open(file: &Path, member: &str, path: &Path) -> Result<Reader> {
    let refused = |e: &ZipError| {
        let message = format!("cannot read {}: {e}", path.display());
        Failure::failed(message, "save the arrays again with np.savez or np.savez_compressed, or copy the whole file")
    };
    let from = File::open(file).map_err(|e| Failure::file("read", file, &e))?;
    let archive = ZipArchive::new(from).map_err(|e| refused(&e))?;
    // The array is read as the file is, piece by piece: the directory stays in memory until the command ends.
    let archive = Box::leak(Box::new(archive));
    let named = file_name_from_array_name(member);
    let place = archive.index_for_name(&named).or_else(|| archive.index_for_name(member));
    let Some(place) = place else {
        let names = archive.file_names().filter_map(|n| array_name_from_file_name(&n.ok()?).map(str::to_owned));
        let names = names.collect::<Vec<_>>().join(", ");
        let message = format!("cannot read {}: there is no array `{member}` in {}, which holds {names}", path.display(), file.display());
        return Err(Failure::failed(message, "name one that is there"));
    };
    let reader = archive.by_index(place).map_err(|e| refused(&e))?;
    // The size is not taken from the directory: only at the end of what is there is its checksum compared.
    Reader::new(path.display().to_string(), Box::new(reader), None)
}
