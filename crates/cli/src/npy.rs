//! NumPy's .npy files, by themselves and in archives, of the element types that isowarp computes with.

mod archive;
mod header;
#[cfg(test)]
mod tests;

use crate::failure::{Failure, Result};
use crate::output::{self, Body, Output};
use crate::progress::Progress;
use header::{Head, head};
use isowarp::element::DType;
use isowarp::host;
use npyz::{WriteOptions, WriterBuilder as _};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Bytes that are read or written between two steps of the progress bar.
const CHUNK: usize = 8 << 20;

/// An array on the host.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Array {
    pub(crate) shape: Vec<u64>,
    pub(crate) dtype: DType,
    /// Whether the file says `|b1`; the elements are then `U8` 0 or 1.
    pub(crate) boolean: bool,
    pub(crate) bytes: Vec<u8>,
}

impl Array {
    /// The number of elements.
    pub(crate) fn len(&self) -> u64 {
        self.shape.iter().product()
    }

    /// The shape as NumPy prints it.
    pub(crate) fn shape_text(&self) -> String {
        shape_text(&self.shape)
    }

    /// The elements' type in messages: that of the file.
    pub(crate) fn type_name(&self) -> &'static str {
        if self.boolean { "bool" } else { self.dtype.name() }
    }
}

/// A shape as NumPy prints it.
pub(crate) fn shape_text(shape: &[u64]) -> String {
    match shape {
        [n] => format!("({n},)"),
        _ => format!("({})", shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// An array that is read piece by piece.
pub(crate) struct Reader {
    /// The file, for people.
    name: String,
    from: Box<dyn Read>,
    /// Without its elements.
    head: Array,
    /// Whether elements are big-endian, and whether the first axis lies closest.
    swapped: bool,
    fortran: bool,
    /// Whether elements are complex numbers.
    complex: bool,
    /// Whether every NaN is read as the one.
    one_nan: bool,
    /// Bytes of all elements, and of those that were read.
    expected: u64,
    taken: u64,
    /// Whether the size was known, and so right.
    sized: bool,
}

impl Reader {
    /// Reads the header of a file, or of standard input for `-`. Where the file's size is known, it is checked.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Self::new("standard input".to_owned(), Box::new(io::stdin().lock()), None);
        }
        let file = match File::open(path) {
            Ok(file) => file,
            Err(e) => return archive::member(path).unwrap_or_else(|| Err(Failure::file("read", path, &e))),
        };
        let meta = file.metadata().map_err(|e| Failure::file("read", path, &e))?;
        if meta.is_dir() {
            return Err(Failure::failed(format!("cannot read {}: it is a directory", path.display()), "name a .npy file in it"));
        }
        if meta.is_file() && header::is_archive(&file) {
            return Err(archive::nameless(path));
        }
        Self::new(path.display().to_string(), Box::new(file), meta.is_file().then_some(meta.len()))
    }

    /// Reads the header of what has this size, if it is known.
    pub(crate) fn new(name: String, mut from: Box<dyn Read>, size: Option<u64>) -> Result<Self> {
        match head(&mut from, size) {
            Ok(Head { array, expected, swapped, fortran, complex }) => {
                Ok(Self { name, from, head: array, swapped, fortran, complex, one_nan: false, expected, taken: 0, sized: size.is_some() })
            }
            Err(why) => Err(why.about(&name)),
        }
    }

    /// Axes whose order is Fortran's, where that makes a difference: elements come as those of the array with these axes in reverse. Parts of complex numbers
    /// are side by side anyway.
    pub(crate) fn fortran_axes(&self) -> Option<usize> {
        self.fortran.then_some(self.head.shape.len() - usize::from(self.complex))
    }

    /// The same, unless its elements are complex numbers.
    pub(crate) fn numbers(self) -> Result<Self> {
        if !self.complex {
            return Ok(self);
        }
        let why = format!("elements of type <c{} are not supported", 2 * self.head.dtype.size_bytes());
        let help = "fft takes them, without --real; for others convert it, for instance to a.real, or a.view(a.real.dtype) with parts side by side";
        Err(Refused::help(why, help).about(&self.name))
    }

    /// The same, with every NaN as the one without a sign, which is above all numbers.
    pub(crate) fn with_one_nan(self) -> Self {
        Self { one_nan: true, ..self }
    }

    /// The array without its elements.
    pub(crate) fn head(&self) -> &Array {
        &self.head
    }

    /// So many bytes of whole elements, or the rest where there are fewer.
    pub(crate) fn next(&mut self, bytes: u64, progress: &Progress) -> Result<Vec<u8>> {
        self.next_behind(&[], bytes, progress)
    }

    /// As [`Self::next`], behind these elements.
    pub(crate) fn next_behind(&mut self, before: &[u8], bytes: u64, progress: &Progress) -> Result<Vec<u8>> {
        let want = bytes.min(self.expected - self.taken);
        let mut into = host::reserved(before.len() as u64 + want)?;
        into.extend_from_slice(before);
        let found = body(&mut self.from, into, (self.taken, want, self.expected), progress).and_then(|found| {
            self.taken += want;
            if self.taken == self.expected && !self.sized {
                self.sized = true;
                nothing_behind(&mut self.from, &self.head, self.expected)?;
            }
            Ok(found)
        });
        let mut found = found.map_err(|why| why.about(&self.name))?;
        let new = &mut found[before.len()..];
        if self.swapped {
            new.chunks_exact_mut(self.head.dtype.size_bytes() as usize).for_each(<[u8]>::reverse);
        }
        if self.head.boolean {
            // True is whatever is not 0, as NumPy reads it.
            new.iter_mut().for_each(|b| *b = u8::from(*b != 0));
        }
        if self.one_nan {
            one_nan(self.head.dtype, new);
        }
        Ok(found)
    }

    /// The rest of the array.
    pub(crate) fn all(mut self) -> Result<Array> {
        let progress = Progress::new("reading", self.expected - self.taken);
        let bytes = self.next(self.expected, &progress)?;
        Ok(Array { bytes, ..self.head })
    }
}

impl From<Array> for Reader {
    /// Of an array that was read already.
    fn from(array: Array) -> Self {
        let (expected, name) = (array.bytes.len() as u64, "the array".to_owned());
        let from = Box::new(io::Cursor::new(array.bytes));
        Self {
            name,
            from,
            head: Array { bytes: Vec::new(), ..array },
            swapped: false,
            fortran: false,
            complex: false,
            one_nan: false,
            expected,
            taken: 0,
            sized: true,
        }
    }
}

/// Why a file is refused.
#[derive(Debug)]
struct Refused {
    why: String,
    help: &'static str,
}

impl Refused {
    /// Of a file that is not what NumPy wrote.
    fn new(why: impl Into<String>) -> Self {
        Self::help(why, "save the array again with np.save, or copy the whole file")
    }

    fn help(why: impl Into<String>, help: &'static str) -> Self {
        Self { why: why.into(), help }
    }

    fn about(self, name: &str) -> Failure {
        Failure::failed(format!("cannot read {name}: {}", self.why), self.help)
    }
}

/// Makes every NaN of these elements the one.
fn one_nan(dtype: DType, bytes: &mut [u8]) {
    match dtype {
        DType::F16 => bytes.as_chunks_mut().0.iter_mut().for_each(|b| {
            if u16::from_le_bytes(*b) & 0x7FFF > 0x7C00 {
                *b = 0x7E00_u16.to_le_bytes();
            }
        }),
        DType::F32 => bytes.as_chunks_mut().0.iter_mut().for_each(|b| {
            if f32::from_le_bytes(*b).is_nan() {
                *b = 0x7FC0_0000_u32.to_le_bytes();
            }
        }),
        DType::F64 => bytes.as_chunks_mut().0.iter_mut().for_each(|b| {
            if f64::from_le_bytes(*b).is_nan() {
                *b = 0x7FF8_0000_0000_0000_u64.to_le_bytes();
            }
        }),
        _ => {}
    }
}

fn nothing_behind(reader: &mut dyn Read, head: &Array, expected: u64) -> Result<(), Refused> {
    match reader.read(&mut [0]).map_err(|e| Refused::new(e.to_string()))? {
        0 => Ok(()),
        _ => Err(Refused::new(format!("there are more than the {expected} bytes that the shape {} takes", head.shape_text()))),
    }
}

fn check_length(expected: u64, found: u64) -> Result<(), Refused> {
    if found == expected {
        return Ok(());
    }
    let what = if found < expected { "the file is truncated" } else { "the file is too long" };
    Err(Refused::new(format!("{what}: its header announces {expected} bytes of elements, {found} are there")))
}

/// `want` bytes after the `taken` first of `expected`, behind those that are there.
fn body(
    reader: &mut dyn Read,
    mut bytes: Vec<u8>,
    (taken, want, expected): (u64, u64, u64),
    progress: &Progress,
) -> Result<Vec<u8>, Refused> {
    let before = bytes.len() as u64;
    while bytes.len() as u64 - before < want {
        let step = (before + want - bytes.len() as u64).min(CHUNK as u64);
        let got = reader.take(step).read_to_end(&mut bytes).map_err(|e| Refused::new(e.to_string()))? as u64;
        progress.advance(got);
        if got < step {
            check_length(expected, taken + bytes.len() as u64 - before)?;
        }
    }
    Ok(bytes)
}

/// The header of a file of this shape and type; elements follow it.
pub(crate) fn header_of(shape: &[u64], dtype: DType, boolean: bool) -> Result<Vec<u8>> {
    let descr = match dtype {
        _ if boolean => "|b1",
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        DType::F16 => "<f2",
        DType::I8 => "|i1",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::U16 => "<u2",
        DType::U32 => "<u4",
        DType::U64 => "<u8",
        DType::U8 => "|u1",
        other => return Err(Failure::defect(format!("elements of type {other} cannot be written to a .npy file"))),
    };
    header_as(descr, shape)
}

fn header_as(descr: &str, shape: &[u64]) -> Result<Vec<u8>> {
    let wrong = |e: &dyn std::fmt::Display| Failure::defect(format!("{descr}: {e}"));
    let dtype = descr.parse().map_err(|e| wrong(&e))?;
    let mut bytes = Vec::new();
    let options = WriteOptions::new_header_only().dtype(npyz::DType::Plain(dtype)).shape(shape);
    options.writer(&mut bytes).write_header_only().map_err(|e| wrong(&e))?;
    Ok(bytes)
}

/// The header of a file of complex numbers; their parts are along the shape's last axis.
pub(crate) fn header_of_pairs(shape: &[u64], dtype: DType) -> Result<Vec<u8>> {
    let (descr, numbers) = (if dtype == DType::F64 { "<c16" } else { "<c8" }, &shape[..shape.len().saturating_sub(1)]);
    header_as(descr, numbers)
}

/// Writes arrays to files, or standard output: all of them, or none.
pub(crate) fn write(results: &[(&Output, &Array)]) -> Result {
    let progress = Progress::new("writing", results.iter().map(|(_, array)| array.bytes.len() as u64).sum());
    let mut bodies = results.iter().map(|(_, array)| body_of(array, &progress)).collect::<Result<Vec<_>>>()?;
    let all = results.iter().zip(&mut bodies).map(|((output, _), body)| (*output, body as &mut Body<'_>));
    output::write_all(&mut all.collect::<Vec<_>>())
}

/// Returns the function that writes an array.
fn body_of<'a>(array: &'a Array, progress: &'a Progress) -> Result<impl FnMut(&mut dyn Write) -> io::Result<()> + 'a> {
    let header = header_of(&array.shape, array.dtype, array.boolean)?;
    Ok(move |w: &mut dyn Write| {
        w.write_all(&header)?;
        array.bytes.chunks(CHUNK).try_for_each(|chunk| {
            progress.advance(chunk.len() as u64);
            w.write_all(chunk)
        })
    })
}
