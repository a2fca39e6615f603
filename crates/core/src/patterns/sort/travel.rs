//! Values that travel with keys, and the results of sorts.

use super::in_line::IndexInLine;
use crate::backend::Backend;
use crate::buffer::{Buffer, Memory as _};
use crate::element::Element;
use crate::error::Result;
use crate::input::{Elements, Lent};
use crate::patterns::Lines;

/// The results of a sort on device `B`: keys, what travels with them, or both.
pub trait Travels<B: Backend> {
    /// The type of what travels.
    type Value: Element;
    /// The values as an input.
    #[doc(hidden)]
    type Of<'a>: Elements<B, Element = Self::Value>
    where
        Self: 'a;
    /// Results in new memory.
    type New<K: Element>;
    /// The caller's buffers.
    type Refs<'a, K: Element>: Copy;
    /// Whether indices travel.
    #[doc(hidden)]
    const INDICES: bool;

    /// The values where keys have been computed, in these lines.
    #[doc(hidden)]
    fn of(&self, lines: Option<Lines>) -> Option<Self::Of<'_>>;

    /// Reserves the results.
    #[doc(hidden)]
    fn allocate<K: Element>(device: &B, len: u64) -> Result<Self::New<K>>;

    /// Borrows them.
    #[doc(hidden)]
    fn refs<K: Element>(new: &Self::New<K>) -> Self::Refs<'_, K>;

    /// The buffers of the keys and of what travels.
    #[doc(hidden)]
    #[allow(clippy::type_complexity, reason = "two buffers that may be there")]
    fn split<'a, K: Element>(refs: Self::Refs<'a, K>) -> (Option<&'a Buffer<B, K>>, Option<&'a Buffer<B, Self::Value>>);

    /// The first results, as many as these.
    #[doc(hidden)]
    fn first<K: Element>(new: &Self::New<K>, k: u64) -> Result<Self::New<K>>;
}

/// Results of a sort that takes memory of the caller's for its passes.
pub trait Scratch<B: Backend>: Travels<B> {
    /// The memory.
    type Memory<'a, K: Element>;

    /// The memory by what it is for.
    #[doc(hidden)]
    fn lent<'a, K: Element>(memory: Self::Memory<'a, K>) -> LentMemory<'a, B, K, Self::Value>;
}

/// Memory of the caller's for the passes of a sort.
#[doc(hidden)]
#[derive(Debug)]
pub struct LentMemory<'a, B: Backend, K, V> {
    pub(in crate::patterns) keys: &'a Buffer<B, K>,
    /// Where keys are sorted that are no result.
    pub(in crate::patterns) home: Option<&'a Buffer<B, K>>,
    pub(in crate::patterns) payload: Option<&'a Buffer<B, V>>,
}

/// Keys alone.
#[derive(Clone, Copy, Debug)]
pub struct KeysAlone;

/// Keys, and values that travel with them.
#[derive(Clone, Copy, Debug)]
pub struct WithValues<J>(pub(super) J);

/// Keys, and the indices that they had.
#[derive(Clone, Copy, Debug)]
pub struct WithIndices;

/// The indices of keys in order.
#[derive(Clone, Copy, Debug)]
pub struct IndicesAlone;

impl<B: Backend> Travels<B> for KeysAlone {
    type Value = u32;
    type Of<'a> = IndexInLine;
    type New<K: Element> = Buffer<B, K>;
    type Refs<'a, K: Element> = &'a Buffer<B, K>;
    const INDICES: bool = false;

    fn of(&self, _: Option<Lines>) -> Option<IndexInLine> {
        None
    }
    fn allocate<K: Element>(device: &B, len: u64) -> Result<Buffer<B, K>> {
        device.buffer(len)
    }
    fn refs<K: Element>(new: &Buffer<B, K>) -> &Buffer<B, K> {
        new
    }
    fn split<'a, K: Element>(keys: Self::Refs<'a, K>) -> (Option<&'a Buffer<B, K>>, Option<&'a Buffer<B, u32>>) {
        (Some(keys), None)
    }
    fn first<K: Element>(new: &Buffer<B, K>, k: u64) -> Result<Buffer<B, K>> {
        new.slice(..k)
    }
}

impl<B: Backend, J: Elements<B>> Travels<B> for WithValues<J> {
    type Value = J::Element;
    type Of<'a>
        = Lent<'a, J>
    where
        J: 'a;
    type New<K: Element> = (Buffer<B, K>, Buffer<B, J::Element>);
    type Refs<'a, K: Element> = (&'a Buffer<B, K>, &'a Buffer<B, J::Element>);
    const INDICES: bool = false;

    fn of(&self, _: Option<Lines>) -> Option<Lent<'_, J>> {
        Some(Lent(&self.0))
    }
    fn allocate<K: Element>(device: &B, len: u64) -> Result<Self::New<K>> {
        Ok((device.buffer(len)?, device.buffer(len)?))
    }
    fn refs<K: Element>(new: &Self::New<K>) -> Self::Refs<'_, K> {
        (&new.0, &new.1)
    }
    fn split<'a, K: Element>(refs: Self::Refs<'a, K>) -> (Option<&'a Buffer<B, K>>, Option<&'a Buffer<B, J::Element>>) {
        (Some(refs.0), Some(refs.1))
    }
    fn first<K: Element>(new: &Self::New<K>, k: u64) -> Result<Self::New<K>> {
        Ok((new.0.slice(..k)?, new.1.slice(..k)?))
    }
}

impl<B: Backend> Travels<B> for WithIndices {
    type Value = u32;
    type Of<'a> = IndexInLine;
    type New<K: Element> = (Buffer<B, K>, Buffer<B, u32>);
    type Refs<'a, K: Element> = (&'a Buffer<B, K>, &'a Buffer<B, u32>);
    const INDICES: bool = true;

    fn of(&self, lines: Option<Lines>) -> Option<IndexInLine> {
        Some(IndexInLine(lines))
    }
    fn allocate<K: Element>(device: &B, len: u64) -> Result<Self::New<K>> {
        Ok((device.buffer(len)?, device.buffer(len)?))
    }
    fn refs<K: Element>(new: &Self::New<K>) -> Self::Refs<'_, K> {
        (&new.0, &new.1)
    }
    fn split<'a, K: Element>(refs: Self::Refs<'a, K>) -> (Option<&'a Buffer<B, K>>, Option<&'a Buffer<B, u32>>) {
        (Some(refs.0), Some(refs.1))
    }
    fn first<K: Element>(new: &Self::New<K>, k: u64) -> Result<Self::New<K>> {
        Ok((new.0.slice(..k)?, new.1.slice(..k)?))
    }
}

impl<B: Backend> Travels<B> for IndicesAlone {
    type Value = u32;
    type Of<'a> = IndexInLine;
    type New<K: Element> = Buffer<B, u32>;
    type Refs<'a, K: Element> = &'a Buffer<B, u32>;
    const INDICES: bool = true;

    fn of(&self, lines: Option<Lines>) -> Option<IndexInLine> {
        Some(IndexInLine(lines))
    }
    fn allocate<K: Element>(device: &B, len: u64) -> Result<Buffer<B, u32>> {
        device.buffer(len)
    }
    fn refs<K: Element>(new: &Buffer<B, u32>) -> &Buffer<B, u32> {
        new
    }
    fn split<'a, K: Element>(indices: Self::Refs<'a, K>) -> (Option<&'a Buffer<B, K>>, Option<&'a Buffer<B, u32>>) {
        (None, Some(indices))
    }
    fn first<K: Element>(new: &Buffer<B, u32>, k: u64) -> Result<Buffer<B, u32>> {
        new.slice(..k)
    }
}

impl<B: Backend> Scratch<B> for KeysAlone {
    type Memory<'a, K: Element> = &'a Buffer<B, K>;
    fn lent<'a, K: Element>(keys: Self::Memory<'a, K>) -> LentMemory<'a, B, K, u32> {
        LentMemory { keys, home: None, payload: None }
    }
}

impl<B: Backend, J: Elements<B>> Scratch<B> for WithValues<J> {
    type Memory<'a, K: Element> = (&'a Buffer<B, K>, &'a Buffer<B, J::Element>);
    fn lent<'a, K: Element>(memory: Self::Memory<'a, K>) -> LentMemory<'a, B, K, J::Element> {
        LentMemory { keys: memory.0, home: None, payload: Some(memory.1) }
    }
}

impl<B: Backend> Scratch<B> for IndicesAlone {
    type Memory<'a, K: Element> = ([&'a Buffer<B, K>; 2], &'a Buffer<B, u32>);
    fn lent<'a, K: Element>(([keys, home], indices): Self::Memory<'a, K>) -> LentMemory<'a, B, K, u32> {
        LentMemory { keys, home: Some(home), payload: Some(indices) }
    }
}

/// Results that keys are among.
pub trait GivesKeys {}
impl GivesKeys for KeysAlone {}
impl<J> GivesKeys for WithValues<J> {}
