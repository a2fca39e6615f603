//! Copies and fills, in stream order.

use crate::driver::check;
use crate::memory::Buffer;
use crate::pinned::{CHUNK, Mark, Pinned};
use crate::stream::Stream;
use cudarc::driver::sys::{self, CUdeviceptr};
use isowarp_core::backend::RawBuffer;
use isowarp_core::error::{Error, Result};
use std::collections::VecDeque;
use std::ptr;
use std::time::Instant;

/// Pieces of a read-back that are on the bus or being emptied.
const READ_AHEAD: usize = 3;

/// Writes host bytes. Returns when `data` may be reused; the device may still be copying.
pub(crate) fn upload(stream: &Stream, dst: &Buffer, offset: u64, data: &[u8]) -> Result<()> {
    let mut to = dst.span_on(stream, "destination", offset, data.len() as u64)?;
    let device = stream.device();
    device.bind()?;
    let start = Instant::now();
    for part in data.chunks(CHUNK) {
        let raw = stream.ready()?;
        let piece = device.pinned.take(device, part.len())?;
        // SAFETY: the piece has at least the part's length, is ours alone, and is kept until the mark is passed; the span was
        // checked.
        let status = unsafe {
            ptr::copy_nonoverlapping(part.as_ptr(), piece.as_mut_ptr(), part.len());
            sys::cuMemcpyHtoDAsync_v2(to, piece.as_mut_ptr().cast(), part.len(), raw)
        };
        if let Err(error) = check("cuMemcpyHtoDAsync", status) {
            device.pinned.give(piece);
            return Err(error);
        }
        device.pinned.retire(Mark::record(stream)?, piece);
        to += part.len() as u64;
    }
    log::trace!("upload: {} bytes in {:.2} ms", data.len(), start.elapsed().as_secs_f64() * 1e3);
    Ok(())
}

/// Reads device memory back and waits for it. Long reads are cut, so that the bus and the CPU work at the same time.
pub(crate) fn read_blocking(stream: &Stream, src: &Buffer, offset: u64, len: u64) -> Result<Vec<u8>> {
    let from = src.span_on(stream, "source", offset, len)?;
    let device = stream.device();
    device.bind()?;
    let len = host_len(len)?;
    let mut out = isowarp_core::host::reserved(len as u64)?;
    let mut ahead: VecDeque<(Mark, Pinned, usize)> = VecDeque::with_capacity(READ_AHEAD);
    for start in (0..len).step_by(CHUNK) {
        if ahead.len() == READ_AHEAD {
            take_oldest(stream, &mut ahead, &mut out)?;
        }
        let part = CHUNK.min(len - start);
        let (mark, piece) = start_read(stream, from + start as u64, part)?;
        ahead.push_back((mark, piece, part));
    }
    while !ahead.is_empty() {
        take_oldest(stream, &mut ahead, &mut out)?;
    }
    Ok(out)
}

/// Enqueues a copy of `len` checked bytes at `from` to page-locked memory. The context is current.
fn start_read(stream: &Stream, from: CUdeviceptr, len: usize) -> Result<(Mark, Pinned)> {
    let device = stream.device();
    stream.ready()?;
    read_into(stream, from, len, device.pinned.take(device, len)?)
}

/// The same to a piece of it that holds as many bytes.
pub(crate) fn read_into(stream: &Stream, from: CUdeviceptr, len: usize, piece: Pinned) -> Result<(Mark, Pinned)> {
    let device = stream.device();
    let raw = match stream.ready() {
        Ok(raw) => raw,
        Err(error) => {
            device.pinned.give(piece);
            return Err(error);
        }
    };
    // SAFETY: the piece has at least `len` bytes and stays ours until the mark is passed; the caller checked the span.
    let status = unsafe { sys::cuMemcpyDtoHAsync_v2(piece.as_mut_ptr().cast(), from, len, raw) };
    if let Err(error) = check("cuMemcpyDtoHAsync", status) {
        device.pinned.give(piece);
        return Err(error);
    }
    Ok((Mark::record(stream)?, piece))
}

fn take_oldest(stream: &Stream, ahead: &mut VecDeque<(Mark, Pinned, usize)>, out: &mut Vec<u8>) -> Result<()> {
    let Some((mark, piece, len)) = ahead.pop_front() else { return Ok(()) };
    // On failure the context is lost and the piece is left to it.
    mark.wait()?;
    mark.give(stream.device());
    // SAFETY: the copy into the first `len` bytes is done.
    out.extend_from_slice(unsafe { std::slice::from_raw_parts(piece.as_mut_ptr(), len) });
    stream.device().pinned.give(piece);
    Ok(())
}

/// Copies bytes between places that do not overlap.
pub(crate) fn copy(stream: &Stream, src: &Buffer, src_offset: u64, dst: &Buffer, dst_offset: u64, len: u64) -> Result<()> {
    let from = src.span_on(stream, "source", src_offset, len)?;
    let to = dst.span_on(stream, "destination", dst_offset, len)?;
    if src.same(dst) && src_offset < dst_offset.saturating_add(len) && dst_offset < src_offset.saturating_add(len) && len > 0 {
        return Err(Error::Aliasing { pattern: "copy", what: "destination" });
    }
    stream.device().bind()?;
    copy_device(stream, from, to, len)
}

/// Fills `len` bytes from `offset` on with repetitions of `pattern`, the last one cut where it does not fit.
///
/// Patterns that repeat a word of up to four bytes are one fill; longer ones are seeded and doubled by copies.
pub(crate) fn fill(stream: &Stream, dst: &Buffer, offset: u64, len: u64, pattern: &[u8]) -> Result<()> {
    let to = dst.span_on(stream, "destination", offset, len)?;
    if pattern.is_empty() {
        return Err(Error::InvalidArgument { what: "pattern", reason: "it is empty".to_owned() });
    }
    if len == 0 {
        return Ok(());
    }
    stream.device().bind()?;
    let unit = period(pattern);
    let word = &pattern[..unit];
    if matches!(unit, 1 | 2 | 4) && to.is_multiple_of(unit as u64) && len.is_multiple_of(unit as u64) {
        return memset(stream, to, word, len / unit as u64);
    }
    for (at, &byte) in (to..).zip(word).take(host_len(len.min(unit as u64))?) {
        memset(stream, at, &[byte], 1)?;
    }
    let mut done = (unit as u64).min(len);
    while done < len {
        let part = done.min(len - done);
        copy_device(stream, to, to + done, part)?;
        done += part;
    }
    Ok(())
}

/// The length of the shortest prefix whose repetition is `pattern`.
fn period(pattern: &[u8]) -> usize {
    let len = pattern.len();
    (1..=len).find(|&unit| len.is_multiple_of(unit) && pattern.chunks(unit).all(|chunk| chunk == &pattern[..unit])).unwrap_or(len)
}

/// Sets `count` words of one, two or four bytes in checked memory.
fn memset(stream: &Stream, to: CUdeviceptr, word: &[u8], count: u64) -> Result<()> {
    let count = host_len(count)?;
    let mut bytes = [0; 4];
    bytes[..word.len()].copy_from_slice(word);
    let [a, b, ..] = bytes;
    let size = word.len();
    stream.enqueue(move |raw| {
        // SAFETY: the caller checked the span and its alignment; the stream is live and its context current.
        let status = unsafe {
            match size {
                1 => sys::cuMemsetD8Async(to, a, count, raw),
                2 => sys::cuMemsetD16Async(to, u16::from_ne_bytes([a, b]), count, raw),
                _ => sys::cuMemsetD32Async(to, u32::from_ne_bytes(bytes), count, raw),
            }
        };
        check("cuMemsetAsync", status)
    })
}

fn copy_device(stream: &Stream, from: CUdeviceptr, to: CUdeviceptr, len: u64) -> Result<()> {
    if len == 0 {
        return Ok(());
    }
    let len = host_len(len)?;
    // SAFETY: the callers checked both spans; the stream is live and its context current.
    stream.enqueue(move |raw| check("cuMemcpyDtoDAsync", unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, len, raw) }))
}

/// A length on the host's side.
pub(crate) fn host_len(len: u64) -> Result<usize> {
    usize::try_from(len).map_err(|_| Error::TooLarge { what: "length", requested: len, limit: usize::MAX as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_period_of_a_pattern_is_its_shortest_repeating_prefix() {
        assert_eq!(period(&[0; 8]), 1);
        assert_eq!(period(&[1, 2, 1, 2]), 2);
        assert_eq!(period(&[1, 2, 3, 4, 1, 2, 3, 4]), 4);
        assert_eq!(period(&[1, 2, 3]), 3);
        assert_eq!(period(&[1, 2, 3, 4, 5, 6, 7, 8]), 8);
    }
}
