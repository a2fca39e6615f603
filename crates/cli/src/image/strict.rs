//! Faults of image files that decoders pass over: pixels whose colour the palette lacks, and rows behind the last one.

use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZFlush, MZStatus};
use std::io::Cursor;

/// Fails for numbers of colours, of which there are so many.
pub(super) fn colours(mut numbers: impl Iterator<Item = u8>, colours: usize) -> Result<(), String> {
    match numbers.find(|&number| usize::from(number) >= colours) {
        Some(number) => Err(format!("a pixel has colour {number}, and the palette {colours}")),
        None => Ok(()),
    }
}

/// Numbers of this many bits, from the high ones on, of which a row has so many.
fn packed(row: &[u8], bits: usize, width: usize) -> impl Iterator<Item = u8> {
    (0..width).map(move |x| (row[x * bits / 8] >> (8 - bits - x * bits % 8)) & ((1u16 << bits) - 1) as u8)
}

/// Fails for a PNG file, which a decoder has read, with one of these faults.
pub(super) fn png(bytes: &[u8]) -> Result<(), String> {
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    // It has been decoded within limits, to more bytes.
    decoder.set_limits(png::Limits { bytes: usize::MAX });
    decoder.set_transformations(png::Transformations::IDENTITY);
    let mut reader = decoder.read_info().map_err(|e| e.to_string())?;
    let info = reader.info();
    let (width, bits) = (info.width as usize, info.bits_per_pixel());
    let rows: u64 =
        if info.interlaced { ADAM7.map(|pass| rows_of(info, pass, bits)).iter().sum() } else { rows_of(info, [0, 1, 0, 1], bits) };
    if let Some(palette) = info.palette.as_deref().filter(|_| info.color_type == png::ColorType::Indexed) {
        let known = palette.len() / 3;
        if known < 1 << bits {
            let mut indices = vec![0; reader.output_buffer_size().ok_or("it is too large")?];
            let frame = reader.next_frame(&mut indices).map_err(|e| e.to_string())?;
            colours(indices.chunks_exact(frame.line_size).flat_map(|row| packed(row, bits, width)), known)?;
        }
    }
    match inflated(bytes) {
        found if found > rows => Err(format!("its rows take {rows} bytes, and there are {found}")),
        _ => Ok(()),
    }
}

/// First column and step of columns, first row and step of rows, of the passes of an interlaced image.
const ADAM7: [[u32; 4]; 7] = [[0, 8, 0, 8], [4, 8, 0, 8], [0, 4, 4, 8], [2, 4, 0, 4], [0, 2, 2, 4], [1, 2, 0, 2], [0, 1, 1, 2]];

/// Bytes of a pass' rows, each with its filter's.
fn rows_of(info: &png::Info<'_>, [left, across, top, down]: [u32; 4], bits: usize) -> u64 {
    let [width, height] =
        [(info.width, left, across), (info.height, top, down)].map(|(n, first, step)| u64::from(n.saturating_sub(first).div_ceil(step)));
    if width == 0 { 0 } else { height * (1 + (width * bits as u64).div_ceil(8)) }
}

/// Bytes that the file's data have unpacked.
fn inflated(bytes: &[u8]) -> u64 {
    let (mut state, mut out, mut found) = (InflateState::new_boxed(DataFormat::Zlib), vec![0; 1 << 16], 0);
    let mut rest = bytes.get(8..).unwrap_or_default();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let end = (u32::from_be_bytes(*length) as usize).saturating_add(4);
        let Some((name, mut data)) = after.get(..end).and_then(<[u8]>::split_first_chunk::<4>) else { break };
        let mut is_more = name == b"IDAT";
        while is_more {
            let step = inflate(&mut state, data, &mut out, MZFlush::None);
            (data, found) = (&data[step.bytes_consumed..], found + step.bytes_written as u64);
            if step.status == Ok(MZStatus::StreamEnd) {
                return found;
            }
            is_more = step.status.is_ok() && step.bytes_consumed + step.bytes_written > 0;
        }
        // A checksum follows.
        rest = after.get(end.saturating_add(4)..).unwrap_or_default();
    }
    found
}

/// Fails for a BMP file, which a decoder has read, with a pixel whose colour the palette lacks.
pub(super) fn bmp(bytes: &[u8]) -> Result<(), String> {
    let word = |at: usize| bytes.get(at..at + 4).and_then(|b| b.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b));
    let half = |at: usize| (word(at) & 0xffff) as usize;
    let (pixels, header) = (word(10) as usize, word(14) as usize);
    // The oldest header has no runs, and colours of three bytes.
    let (bits, [width, height], packing, used, colour) = match header {
        12 => (half(24), [18, 20].map(half), 0, 0, 3),
        _ => (half(28), [18, 22].map(|at| (word(at) as i32).unsigned_abs() as usize), word(30), word(46) as usize, 4),
    };
    if (header != 12 && header < 40) || ![1, 4, 8].contains(&bits) {
        return Ok(());
    }
    let room = pixels.saturating_sub(14 + header) / colour;
    let known = if used == 0 { 1 << bits } else { used }.min(room);
    let data = bytes.get(pixels..).unwrap_or_default();
    match packing {
        0 => {
            let rows = data.chunks_exact(((width * bits).div_ceil(32) * 4).max(4)).take(height);
            colours(rows.flat_map(|row| packed(row, bits, width)), known)
        }
        // Runs, of 8 bits and of 4.
        1 | 2 => unpacked(data, bits, width).try_for_each(|number| colours(std::iter::once(number?), known)),
        _ => Ok(()),
    }
}

/// Colours that runs of a BMP file stand for, row by row, without those behind a row's end; an error where the runs do not end.
fn unpacked(mut data: &[u8], bits: usize, width: usize) -> impl Iterator<Item = Result<u8, String>> {
    let (mut x, mut found) = (0, Vec::new());
    std::iter::from_fn(move || {
        let cut = || Some(Err("its runs have no end".to_owned()));
        while found.is_empty() {
            let Some((&[count, value], rest)) = data.split_first_chunk() else { return cut() };
            data = rest;
            let count = usize::from(count);
            let row: Vec<u8> = match (count, value) {
                (0, 0) => {
                    x = 0;
                    continue;
                }
                (0, 1) => return None,
                (0, 2) => {
                    let Some((&[right, _], rest)) = data.split_first_chunk() else { return cut() };
                    (x, data) = (x + usize::from(right), rest);
                    continue;
                }
                // As they are, to a whole word.
                (0, n) => {
                    let (n, bytes) = (usize::from(n), (usize::from(n) * bits).div_ceil(8));
                    let Some((row, rest)) = data.split_at_checked(bytes.next_multiple_of(2)) else { return cut() };
                    data = rest;
                    packed(row, bits, n).collect()
                }
                // One colour, or two in turn.
                (n, _) => packed(&vec![value; (n * bits).div_ceil(8)], bits, n).collect(),
            };
            found = row.iter().copied().take(width.saturating_sub(x)).rev().collect();
            x += row.len();
        }
        found.pop().map(Ok)
    })
}
