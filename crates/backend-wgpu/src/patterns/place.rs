//! Elements of a buffer from one on, for kernels that bind raw bits themselves.

use super::operands::Limits;
use crate::binds::Binding;
use crate::buffer::{Buffer, Window, window};
use isowarp_core::error::Result;

/// Where an array lies.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) raw: &'a Buffer,
    /// Its first element.
    pub(super) offset: u64,
    /// Bytes of an element.
    pub(super) size: u64,
}

impl<'a> Place<'a> {
    /// A window of `len` elements from `first` on. It ends with a whole element, or word of narrow ones.
    pub(super) fn bind(self, limits: Limits, first: u64, len: u64) -> Result<(Window, Binding<'a>)> {
        // Nothing is bound as the start of the buffer, which is there.
        let at = if len == 0 { 0 } else { self.offset + first };
        let w = window(at, len, self.size, limits.align, limits.window_bytes)?;
        let size_bytes = w.size_bytes.next_multiple_of(self.size.max(4));
        Ok((w, Binding { buffer: self.raw, offset_bytes: w.offset_bytes, size_bytes }))
    }
}

/// The most elements of this size that a binding surely holds.
pub(super) fn most(limits: Limits, size: u64) -> u64 {
    (limits.window_bytes.min(1 << 31).saturating_sub(limits.align + 32) / size).max(1)
}
