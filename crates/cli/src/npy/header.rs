//! Headers of .npy files.

use super::{Array, Refused, check_length, shape_text};
use isowarp::element::DType;
use npyz::{Endianness, NpyHeader, Order, TypeChar};
use std::fs::File;
use std::io::{Read, Seek as _};

/// Longest header that is read; NumPy's own limit for headers it trusts is of this order.
const MAX_HEADER: u64 = 64 * 1024;

/// Contents of a header.
pub(super) struct Head {
    /// The array without its elements.
    pub(super) array: Array,
    /// Bytes that these take.
    pub(super) expected: u64,
    /// Whether they are big-endian.
    pub(super) swapped: bool,
    /// Whether the first axis lies closest, and another order would differ.
    pub(super) fortran: bool,
    /// Whether elements are complex numbers: the array has real and imaginary parts along a last axis of its own.
    pub(super) complex: bool,
}

/// First bytes of an archive, of one without files too.
const ARCHIVES: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// Whether a file is an archive of arrays, by its first bytes, to which it is set back.
pub(super) fn is_archive(mut file: &File) -> bool {
    let mut start = [0; 4];
    let read = file.read_exact(&mut start);
    file.rewind().is_ok() && read.is_ok() && ARCHIVES.contains(&&start[..])
}

/// Reads a header. Where the file's size is known, it is checked.
pub(super) fn head(reader: &mut dyn Read, size: Option<u64>) -> Result<Head, Refused> {
    let (prelude, header) = header(reader)?;
    let (dtype, boolean, swapped, complex) = element(&header)?;
    let mut shape = header.shape().to_vec();
    shape.extend(complex.then_some(2));
    let expected = shape
        .iter()
        .try_fold(dtype.size_bytes(), |a, &b| a.checked_mul(b))
        .filter(|&b| usize::try_from(b).is_ok_and(|b| b <= isize::MAX as usize))
        .ok_or_else(|| Refused::new(format!("the shape {} is too large", shape_text(&shape))))?;
    // Where the size is known, a wrong shape is refused before memory is taken for it.
    if let Some(found) = size.map(|s| s.saturating_sub(prelude)) {
        check_length(expected, found)?;
    }
    // Axes of one element have no order.
    let fortran = header.order() == Order::Fortran && expected > 0 && header.shape().iter().filter(|&&n| n > 1).count() > 1;
    Ok(Head { array: Array { shape, dtype, boolean, bytes: Vec::new() }, expected, swapped, fortran, complex })
}

/// The header, and the bytes it takes.
fn header(reader: &mut dyn Read) -> Result<(u64, NpyHeader), Refused> {
    let mut start = vec![0; 8];
    let mut found = 0;
    while found < start.len() {
        match reader.read(&mut start[found..]).map_err(|e| Refused::new(e.to_string()))? {
            0 => break,
            n => found += n,
        }
    }
    if start.starts_with(b"PK") {
        let help = "name the file, and behind it one of its arrays, such as arrays.npz/arr_0";
        return Err(Refused::help("it is an archive of arrays", help));
    }
    if found < start.len() || &start[..6] != b"\x93NUMPY" {
        return Err(Refused::new("it is no .npy file"));
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
    let before = start.len();
    reader.take(length).read_to_end(&mut start).map_err(|e| Refused::new(e.to_string()))?;
    if start.len() as u64 != before as u64 + length {
        return Err(cut());
    }
    plausible(&start[before..])?;
    plain_integers(&mut start[before..]);
    let length = start.len() as u64;
    plain_type(&mut start, before);
    let size = (start.len() - before).to_le_bytes();
    start[before - size_bytes..before].copy_from_slice(&size[..size_bytes]);
    let header = NpyHeader::from_reader(&start[..]).map_err(|e| corrupt(&start[before..], &e.to_string()))?;
    Ok((length, header))
}

/// Shows what was met; the parser's own words are of several lines and may point at a place in the text.
fn corrupt(text: &[u8], why: &str) -> Refused {
    let shown: String = String::from_utf8_lossy(text).trim().chars().take(100).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let why = why.lines().next().filter(|line| !line.contains("-->")).map_or_else(String::new, |line| format!(": {}", line.trim()));
    Refused::new(format!("its header is corrupt{why}: `{shown}`"))
}

/// Python 2 wrote the integers of a shape as `3L`: takes the letter away.
fn plain_integers(text: &mut [u8]) {
    let mut quote = None;
    for k in 0..text.len() {
        match (quote, text[k]) {
            (None, b @ (b'\'' | b'"')) => quote = Some(b),
            (Some(q), b) if q == b => quote = None,
            (None, b'L') if k > 0 && text[k - 1].is_ascii_digit() => text[k] = b' ',
            (None, b'u') if matches!(text.get(k + 1), Some(b'\'' | b'"')) => text[k] = b' ',
            _ => {}
        }
    }
}

/// Writers other than NumPy spell a type in ways that NumPy reads: in native order (`=f4`, `|f4`), without one (`f4`), by its name (`float32`) or letter
/// (`<e`). Writes it as NumPy does, in the header's text, which begins here.
fn plain_type(header: &mut Vec<u8>, begin: usize) {
    let text = String::from_utf8_lossy(&header[begin..]).into_owned();
    let Some(key) = text.find("'descr'").map(|at| at + "'descr'".len()) else { return };
    let behind = text[key..].trim_start_matches([' ', ':']);
    let Some(value) = behind.strip_prefix('\'').and_then(|value| value.split('\'').next()) else { return };
    let (mark, name) = match value.split_at_checked(1) {
        Some((mark @ ("<" | ">" | "=" | "|"), name)) => (mark, name),
        _ => ("", value),
    };
    let code = match (letter(name), mark) {
        (Some(code), _) => code.to_owned(),
        (None, "<" | ">") => return,
        (None, "=") => name.to_owned(),
        (None, _) => match element_type(name) {
            Some(code) => code,
            None => return,
        },
    };
    let order = match mark {
        _ if code.ends_with('1') => '|',
        "<" => '<',
        ">" => '>',
        _ => NATIVE,
    };
    let at = begin + key + (text[key..].len() - behind.len());
    header.splice(at..at + value.len() + 2, format!("'{order}{code}'").into_bytes());
}

/// The mark of this machine's order of bytes.
const NATIVE: char = if cfg!(target_endian = "big") { '>' } else { '<' };

/// The code of a type that has a letter.
fn letter(name: &str) -> Option<&'static str> {
    let letters =
        [("?", "b1"), ("b", "i1"), ("B", "u1"), ("h", "i2"), ("H", "u2"), ("i", "i4"), ("I", "u4"), ("l", "i8"), ("L", "u8"), ("q", "i8")];
    let floats = [("Q", "u8"), ("e", "f2"), ("f", "f4"), ("d", "f8"), ("F", "c8"), ("D", "c16")];
    letters.into_iter().chain(floats).find_map(|(letter, code)| (letter == name).then_some(code))
}

/// The code of a type that has no mark of its order of bytes.
fn element_type(name: &str) -> Option<String> {
    if let Some((_, code)) =
        [("half", "f2"), ("single", "f4"), ("double", "f8"), ("float", "f8"), ("int", "i8"), ("uint", "u8")].iter().find(|of| of.0 == name)
    {
        return Some((*code).to_owned());
    }
    let size = |bits: &str| bits.parse().ok().map(|bits: u32| bits / 8);
    let names = [("uint", 'u'), ("int", 'i'), ("float", 'f'), ("complex", 'c')];
    let named = names.into_iter().find_map(|(word, code)| Some(format!("{code}{}", size(name.strip_prefix(word)?)?)));
    let coded = || name.strip_prefix(['f', 'i', 'u', 'c', 'b']).is_some_and(|size| size.parse::<u8>().is_ok()).then(|| name.to_owned());
    if name == "bool" { Some("b1".to_owned()) } else { named.or_else(coded) }
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

/// The element type, whether it stands for truth values, whether its bytes are to be swapped, and whether elements are pairs of it.
fn element(header: &NpyHeader) -> Result<(DType, bool, bool, bool), Refused> {
    if header.uses_pickled_array() {
        return Err(Refused::help("it holds Python objects", "convert the array to numbers, for instance a.astype(np.float32)"));
    }
    let npyz::DType::Plain(ty) = header.dtype() else {
        let why = format!("it holds records, {}", header.dtype().descr());
        return Err(Refused::help(why, "save one of the fields, for instance a['x'].copy()"));
    };
    let size = ty.size_field();
    let found = match (ty.type_char(), size) {
        (TypeChar::Float, 2) => DType::F16,
        (TypeChar::Float, 4) | (TypeChar::Complex, 8) => DType::F32,
        (TypeChar::Float, 8) | (TypeChar::Complex, 16) => DType::F64,
        (TypeChar::Int, 1) => DType::I8,
        (TypeChar::Int, 2) => DType::I16,
        (TypeChar::Int, 4) => DType::I32,
        (TypeChar::Int, 8) => DType::I64,
        (TypeChar::Uint, 1) | (TypeChar::Bool, 1) => DType::U8,
        (TypeChar::Uint, 2) => DType::U16,
        (TypeChar::Uint, 4) => DType::U32,
        (TypeChar::Uint, 8) => DType::U64,
        _ => {
            let why = format!("elements of type {ty} are not supported");
            return Err(Refused::help(why, "convert it with a.astype to f4, f8, f2, i1, i2, i4, i8, u1, u2, u4 or u8"));
        }
    };
    Ok((found, ty.type_char() == TypeChar::Bool, ty.endianness() == Endianness::Big && size > 1, ty.type_char() == TypeChar::Complex))
}
