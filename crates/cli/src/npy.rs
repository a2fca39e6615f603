//! NumPy's .npy files: little-endian, C order, of the element types that isowarp computes with.

use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::progress::Progress;
use isowarp::element::DType;
use npyz::{Endianness, NpyHeader, Order, TypeChar, WriteOptions, WriterBuilder as _};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Longest header that is read; NumPy's own limit for headers it trusts is of this order.
const MAX_HEADER: u64 = 64 * 1024;

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
        let file = File::open(path).map_err(|e| Failure::file("read", path, &e))?;
        let meta = file.metadata().map_err(|e| Failure::file("read", path, &e))?;
        if meta.is_dir() {
            return Err(Failure::failed(format!("cannot read {}: it is a directory", path.display()), "name a .npy file in it"));
        }
        Self::new(path.display().to_string(), Box::new(file), meta.is_file().then_some(meta.len()))
    }

    fn new(name: String, mut from: Box<dyn Read>, size: Option<u64>) -> Result<Self> {
        match head(&mut from, size) {
            Ok((head, expected)) => Ok(Self { name, from, head, expected, taken: 0, sized: size.is_some() }),
            Err(why) => Err(why.about(&name)),
        }
    }

    /// The array without its elements.
    pub(crate) fn head(&self) -> &Array {
        &self.head
    }

    /// So many bytes of elements, or the rest where there are fewer.
    pub(crate) fn next(&mut self, bytes: u64, progress: &Progress) -> Result<Vec<u8>> {
        let want = bytes.min(self.expected - self.taken);
        let found = body(&mut self.from, (self.taken, want, self.expected), progress).and_then(|found| {
            self.taken += want;
            if self.taken == self.expected && !self.sized {
                self.sized = true;
                nothing_behind(&mut self.from, &self.head, self.expected)?;
            }
            Ok(found)
        });
        found.map_err(|why| why.about(&self.name))
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
        Self { name, from, head: Array { bytes: Vec::new(), ..array }, expected, taken: 0, sized: true }
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

/// The array without its elements, and the bytes that these take.
fn head(reader: &mut dyn Read, size: Option<u64>) -> Result<(Array, u64), Refused> {
    let (prelude, header) = header(reader)?;
    let (dtype, boolean) = element(&header)?;
    let fortran = header.order() == Order::Fortran;
    if fortran {
        return Err(Refused::help("the array is in Fortran order", "save it with np.ascontiguousarray(a)"));
    }
    let shape = header.shape().to_vec();
    let expected = shape
        .iter()
        .try_fold(dtype.size_bytes(), |a, &b| a.checked_mul(b))
        .filter(|&b| usize::try_from(b).is_ok_and(|b| b <= isize::MAX as usize))
        .ok_or_else(|| Refused::new(format!("the shape {} is too large", shape_text(&shape))))?;
    // Where the size is known, a wrong shape is refused before memory is taken for it.
    if let Some(found) = size.map(|s| s.saturating_sub(prelude)) {
        check_length(expected, found)?;
    }
    Ok((Array { shape, dtype, boolean, bytes: Vec::new() }, expected))
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

/// `want` bytes after the `taken` first of `expected`.
fn body(reader: &mut dyn Read, (taken, want, expected): (u64, u64, u64), progress: &Progress) -> Result<Vec<u8>, Refused> {
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < want {
        let step = (want - bytes.len() as u64).min(CHUNK as u64);
        let got = reader.take(step).read_to_end(&mut bytes).map_err(|e| Refused::new(e.to_string()))? as u64;
        progress.advance(got);
        if got < step {
            check_length(expected, taken + bytes.len() as u64)?;
        }
    }
    Ok(bytes)
}

/// The header, and the bytes it takes.
fn header(reader: &mut dyn Read) -> Result<(u64, NpyHeader), Refused> {
    let not_npy = || Refused::new("it is no .npy file");
    let mut start = vec![0; 8];
    reader.read_exact(&mut start).map_err(|_| not_npy())?;
    if &start[..6] != b"\x93NUMPY" {
        return Err(not_npy());
    }
    let cut = || Refused::new("the file is truncated in its header");
    let (size_bytes, version) = (if start[6] == 1 { 2 } else { 4 }, (start[6], start[7]));
    if !matches!(version, (1..=3, 0)) {
        return Err(Refused::new(format!("version {}.{} of the format is unknown", version.0, version.1)));
    }
    let mut size = [0; 4];
    reader.read_exact(&mut size[..size_bytes]).map_err(|_| cut())?;
    let length = u64::from(u32::from_le_bytes(size));
    if length > MAX_HEADER {
        return Err(Refused::new(format!("its header announces {length} bytes, which no array of numbers needs")));
    }
    start.extend_from_slice(&size[..size_bytes]);
    let prelude = start.len() as u64 + length;
    reader.take(length).read_to_end(&mut start).map_err(|e| Refused::new(e.to_string()))?;
    if start.len() as u64 != prelude {
        return Err(cut());
    }
    plausible(&start[start.len() - length as usize..])?;
    let header = NpyHeader::from_reader(&start[..]).map_err(|e| Refused::new(format!("its header is corrupt: {e}")))?;
    Ok((prelude, header))
}

/// Refuses headers that the parser could not take without recursing deeply or overflowing.
fn plausible(text: &[u8]) -> Result<(), Refused> {
    let brackets = text.iter().filter(|b| matches!(b, b'(' | b'[' | b'{')).count();
    let numbers = text.split(|b| !b.is_ascii_digit()).filter(|d| !d.is_empty());
    let product = numbers.filter(|d| d.iter().any(|&b| b != b'0')).try_fold(1u64, |product, digits| {
        let n: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
        product.checked_mul(n)
    });
    match product {
        _ if brackets > 64 => Err(Refused::new("its header is corrupt: too many brackets")),
        None => Err(Refused::new("its header is corrupt: the shape is too large")),
        Some(_) => Ok(()),
    }
}

/// The element type, and whether it stands for truth values.
fn element(header: &NpyHeader) -> Result<(DType, bool), Refused> {
    if header.uses_pickled_array() {
        return Err(Refused::help("it holds Python objects", "convert the array to numbers, for instance a.astype(np.float32)"));
    }
    let npyz::DType::Plain(ty) = header.dtype() else {
        return Err(Refused::help("it holds records", "save one of the fields, for instance a['x'].copy()"));
    };
    let size = ty.size_field();
    if ty.endianness() == Endianness::Big && size > 1 {
        return Err(Refused::help(format!("it is big-endian ({ty})"), "convert it with a.astype(a.dtype.newbyteorder('<'))"));
    }
    let found = match (ty.type_char(), size) {
        (TypeChar::Float, 2) => (DType::F16, false),
        (TypeChar::Float, 4) => (DType::F32, false),
        (TypeChar::Float, 8) => (DType::F64, false),
        (TypeChar::Int, 1) => (DType::I8, false),
        (TypeChar::Int, 2) => (DType::I16, false),
        (TypeChar::Int, 4) => (DType::I32, false),
        (TypeChar::Int, 8) => (DType::I64, false),
        (TypeChar::Uint, 1) => (DType::U8, false),
        (TypeChar::Uint, 2) => (DType::U16, false),
        (TypeChar::Uint, 4) => (DType::U32, false),
        (TypeChar::Uint, 8) => (DType::U64, false),
        (TypeChar::Bool, 1) => (DType::U8, true),
        _ => {
            let why = format!("elements of type {ty} are not supported");
            return Err(Refused::help(why, "convert it with a.astype to f4, f8, f2, i1, i2, i4, i8, u1, u2, u4 or u8"));
        }
    };
    Ok(found)
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
    let wrong = |e: &dyn std::fmt::Display| Failure::defect(format!("{descr}: {e}"));
    let dtype = descr.parse().map_err(|e| wrong(&e))?;
    let mut bytes = Vec::new();
    let options = WriteOptions::new_header_only().dtype(npyz::DType::Plain(dtype)).shape(shape);
    options.writer(&mut bytes).write_header_only().map_err(|e| wrong(&e))?;
    Ok(bytes)
}

/// Writes a file, or standard output.
pub(crate) fn write(output: &Output, array: &Array) -> Result {
    let header = header_of(&array.shape, array.dtype, array.boolean)?;
    let progress = Progress::new("writing", array.bytes.len() as u64);
    output.write(|w| {
        w.write_all(&header)?;
        for chunk in array.bytes.chunks(CHUNK) {
            w.write_all(chunk)?;
            progress.advance(chunk.len() as u64);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, header: &str, body: &[u8]) -> Vec<u8> {
        let mut f = b"\x93NUMPY".to_vec();
        f.extend([version, 0]);
        let size = (header.len() as u32).to_le_bytes();
        f.extend(&size[..if version == 1 { 2 } else { 4 }]);
        f.extend(header.as_bytes());
        f.extend(body);
        f
    }

    fn read_all(bytes: &[u8], size: Option<u64>) -> Result<Array, String> {
        let from = Box::new(io::Cursor::new(bytes.to_vec()));
        Reader::new("x.npy".to_owned(), from, size).and_then(Reader::all).map_err(|f| f.to_string())
    }

    fn parse(bytes: &[u8]) -> Result<Array, String> {
        let known = read_all(bytes, Some(bytes.len() as u64));
        let streamed = read_all(bytes, None);
        assert_eq!(known.is_ok(), streamed.is_ok(), "{known:?} {streamed:?}");
        known
    }

    #[test]
    fn every_version_and_type_is_read() {
        for version in 1..=3 {
            for (descr, dtype) in [
                ("<f4", DType::F32),
                ("<f8", DType::F64),
                ("<f2", DType::F16),
                ("<i4", DType::I32),
                ("<u8", DType::U64),
                ("|u1", DType::U8),
                ("|i1", DType::I8),
                ("<i2", DType::I16),
                ("<u2", DType::U16),
            ] {
                let body = vec![7; 6 * dtype.size_bytes() as usize];
                let f = file(version, &format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2, 3), }}\n"), &body);
                assert_eq!(parse(&f), Ok(Array { shape: vec![2, 3], dtype, boolean: false, bytes: body }));
            }
        }
        let scalar = file(1, "{'descr': '|b1', 'fortran_order': False, 'shape': ()}", &[1]);
        assert_eq!(parse(&scalar), Ok(Array { shape: vec![], dtype: DType::U8, boolean: true, bytes: vec![1] }));
        let empty = file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 5)}", &[]);
        assert_eq!(parse(&empty).map(|a| a.len()), Ok(0));
    }

    #[test]
    fn arrays_are_read_in_pieces() {
        let array = Array { shape: vec![5], dtype: DType::U8, boolean: false, bytes: vec![1, 2, 3, 4, 5] };
        let f = file(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (5,)}", &array.bytes);
        let of_file = |f: &[u8]| Reader::new("x.npy".to_owned(), Box::new(io::Cursor::new(f.to_vec())), None).expect("a header");
        let progress = Progress::new("", 0);
        for mut reader in [Reader::from(array.clone()), of_file(&f)] {
            assert_eq!(reader.head().shape, [5]);
            let mut next = |n| reader.next(n, &progress).ok();
            assert_eq!([next(2), next(0), next(2), next(9), next(1)], [vec![1, 2], vec![], vec![3, 4], vec![5], vec![]].map(Some));
        }
        let mut short = of_file(&f[..f.len() - 1]);
        assert!(short.next(4, &progress).is_ok() && short.next(1, &progress).is_err_and(|e| e.to_string().contains("truncated")));
        let mut long = of_file(&[&f[..], &[6]].concat());
        assert!(long.next(4, &progress).is_ok() && long.next(1, &progress).is_err_and(|e| e.to_string().contains("more than the 5 bytes")));
    }

    #[test]
    fn bad_files_say_why() {
        let header = |descr: &str, order: &str, shape: &str| format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}}}");
        let good = header("'<f4'", "False", "(2,)");
        let cases = [
            (Vec::new(), "no .npy file"),
            (b"PK\x03\x04 not numpy".to_vec(), "no .npy file"),
            (b"\x93NUMPY\x01\x00".to_vec(), "truncated in its header"),
            (b"\x93NUMPY\x09\x00\x10\x00".to_vec(), "version 9.0"),
            (file(1, &good, &[0; 7]), "truncated: its header announces 8 bytes of elements, 7"),
            (file(2, "{'descr", &[]), "header is corrupt"),
            (file(1, &good[..20], &[]), "header is corrupt"),
            (file(1, "[1, 2]", &[]), "header is corrupt"),
            (file(1, &"(".repeat(5000), &[]), "header is corrupt"),
            (b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec(), "no array of numbers needs"),
            (file(1, &header("'<f4'", "True", "(2, 2)"), &[0; 16]), "Fortran order"),
            (file(1, &header("'>f4'", "False", "(2,)"), &[0; 8]), "big-endian"),
            (file(1, &header("'|O'", "False", "(2,)"), &[0; 8]), "Python objects"),
            (file(1, &header("'<c8'", "False", "(1,)"), &[0; 8]), "not supported"),
            (file(1, &header("'>i2'", "False", "(1,)"), &[0; 2]), "big-endian"),
            (file(1, &header("'<M8[s]'", "False", "(1,)"), &[0; 8]), "not supported"),
            (file(1, &header("[('a', '<f4')]", "False", "(1,)"), &[0; 4]), "records"),
            (file(1, &header("'<f4'", "False", "(99999999999, 99999999999)"), &[]), "too large"),
            (file(1, &header("'<f4'", "False", "(99999999999999999999999,)"), &[]), "too large"),
            (file(1, &header("'<f4'", "False", "(-2,)"), &[]), "header is corrupt"),
            (file(1, &header("'<f8'", "False", "(4611686018427387904,)"), &[]), "too large"),
        ];
        for (bytes, why) in cases {
            let found = parse(&bytes).expect_err(why);
            assert!(found.contains(why), "{why}: {found}");
        }
        let long = file(1, &good, &[0; 9]);
        assert!(read_all(&long, Some(long.len() as u64)).is_err_and(|why| why.contains("too long")));
        assert!(read_all(&long, None).is_err_and(|why| why.contains("more than the 8 bytes")));
    }
}
