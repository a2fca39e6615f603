//! Results of a selection.

use crate::backend::Backend;
use crate::buffer::{Buffer, DeviceScalar};
use crate::element::Element;
use crate::error::Result;

/// A type that counts elements: `u32`, or `u64` where there may be more than 2^32 - 1.
pub trait Count: Element {}
impl Count for u32 {}
impl Count for u64 {}

/// Result of a selection: buffers with room for every element, and how many of them hold one. What lies behind these is undefined in new
/// buffers, and untouched in those that a caller brings.
#[derive(Clone, Debug)]
pub struct Selected<B: Backend, V> {
    /// The elements.
    pub values: V,
    /// Number of elements (of a partition: in its first part). On the device, and an input of patterns like any other.
    pub count: DeviceScalar<B, u32>,
}

impl<B: Backend, V> Selected<B, V> {
    /// Waits for the count.
    ///
    /// # Errors
    /// As [`Buffer::read`].
    pub fn len_blocking(&self) -> Result<u64> {
        self.count.read_blocking().map(u64::from)
    }
}

impl<B: Backend, T: Element> Selected<B, Buffer<B, T>> {
    /// Waits for the count, then copies that many elements to the host.
    ///
    /// # Errors
    /// As [`Buffer::read`].
    pub fn read_blocking(&self) -> Result<Vec<T>> {
        self.values.slice(..self.len_blocking()?)?.read_blocking()
    }
}
