//! Uploads: whole words through the queue, the bytes of a word that has other bytes too through a kernel.

use super::{Wgpu, check_range};
use crate::buffer::Buffer;
use crate::probe::web_time;
use isowarp_core::backend::RawBuffer as _;
use isowarp_core::error::{Error, Result};

/// Bytes after which an upload is handed to the driver before the rest is copied, to bound host-visible memory.
const UPLOAD_CHUNK: usize = 64 << 20;

impl Wgpu {
    /// Writes bytes in stream order; those beside them stay, also where other handles write them at the same time.
    pub(super) fn upload_bytes(&self, dst: &Buffer, offset: u64, data: &[u8]) -> Result<()> {
        let (len, size) = (data.len() as u64, dst.size_bytes());
        check_range(dst, offset, len, "upload")?;
        let end = offset + len;
        if len > 0 && end.next_multiple_of(4) > dst.capacity() {
            let reason = format!("its {size} bytes end in a part of a word, which no command reaches");
            return Err(Error::InvalidArgument { what: "wgpu buffer", reason });
        }
        let (head, rest) = data.split_at((offset.wrapping_neg() % 4).min(len) as usize);
        let (words, tail) = rest.split_at(rest.len() & !3);
        let first = offset + head.len() as u64;
        let last = first + words.len() as u64;
        // The words come first: after the edges they would have to wait for the batch that the edges are in.
        if !words.is_empty() {
            self.write_words(dst, first, words)?;
        }
        if !head.is_empty() {
            self.write_part(dst, offset, head)?;
        }
        if tail.is_empty() {
            return Ok(());
        }
        if end < size {
            return self.write_part(dst, last, tail);
        }
        // Bytes behind the buffer's end are nobody's.
        let mut word = [0; 4];
        word[..tail.len()].copy_from_slice(tail);
        self.write_words(dst, last, &word)
    }

    /// Writes some bytes of one word. The kernel reads the others where it stands in the stream, and writes them back.
    fn write_part(&self, dst: &Buffer, offset: u64, bytes: &[u8]) -> Result<()> {
        let (mut mask, mut bits) = (0, 0);
        for (k, &byte) in (offset % 4..).zip(bytes) {
            mask |= 0xff << (8 * k);
            bits |= u32::from(byte) << (8 * k);
        }
        self.merge_word(dst, offset / 4, mask, bits)
    }

    /// Puts whole words in front of the open batch's commands, or after them where they might read or write the buffer.
    fn write_words(&self, dst: &Buffer, offset: u64, data: &[u8]) -> Result<()> {
        let s = &*self.shared;
        let clock = web_time();
        let mut at = offset;
        for chunk in data.chunks(UPLOAD_CHUNK) {
            let bytes = chunk.len() as u64;
            self.make_room()?;
            self.record("upload", |batch| {
                if dst.last_batch() >= batch.number() {
                    batch.flush(&s.context)?;
                }
                s.context.guarded("Queue::write_buffer", bytes, || s.context.queue.write_buffer(dst.as_wgpu(), at, chunk))?;
                dst.write_before(batch.number());
                // The driver has a copy of them until then.
                s.pool.staged(batch.number(), bytes);
                batch.wrote(&s.context, bytes)
            })?;
            at += bytes;
        }
        log::trace!("upload: {} bytes in {:.2} ms", data.len(), clock().as_secs_f64() * 1e3);
        Ok(())
    }
}
