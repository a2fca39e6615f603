//! Memory of the host: how much may be used, and vectors of the size of data, which are refused instead of ending the process.
//!
//! Systems promise more memory than they have, and end a process that takes them at their word. So every vector of the size of data is compared
//! with what may still be used before it is filled, together with the others that are being filled at the same time.

mod limits;
mod soon;

use crate::error::{Error, Result};
use limits::Limits;
pub use soon::{Soon, threads};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Bytes that are granted between two looks at the system's figures.
const LOOK: u64 = 16 << 20;
/// Bytes that are left to everything else: stacks, code, small vectors.
const SPARE: u64 = 16 << 20;

/// Memory that was granted.
struct Granted {
    /// Bytes that are not filled yet, so that the system does not count them.
    promised: u64,
    /// Bytes since the last look.
    unseen: u64,
}

static GRANTED: Mutex<Granted> = Mutex::new(Granted { promised: 0, unseen: 0 });

/// Memory that this process may still take: the least of what the machine has left, of its control groups' limits (both versions, from its own
/// group up to the root), and of its own limits on addresses and data. `None` where the system does not tell.
#[must_use]
pub fn available() -> Option<u64> {
    Limits::read(Path::new("/")).available
}

/// All memory that this process may take, by the same limits.
#[must_use]
pub fn total() -> Option<u64> {
    Limits::read(Path::new("/")).total
}

/// Addresses that this process may still take, where they are limited (`ulimit -v`). Drivers of graphics cards and their compilers take more of
/// these than of memory, and end the process where they get none.
#[must_use]
pub fn addresses() -> Option<u64> {
    Limits::own(Path::new("/"))[0]
}

/// Private memory that this process may still take, filled or not, where it is limited (`ulimit -d`).
#[must_use]
pub fn private() -> Option<u64> {
    Limits::own(Path::new("/"))[1]
}

/// Bytes that are to be filled; those that are not yet count against what others ask for, until this is dropped.
#[derive(Debug)]
#[must_use = "the bytes count while this lives"]
pub struct Promise {
    bytes: u64,
    /// Bytes from the first one on that are filled, and counted by the system.
    filled: AtomicU64,
}

impl Promise {
    /// Promises bytes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if they may not be used.
    pub fn new(bytes: u64) -> Result<Self> {
        let mut granted = GRANTED.lock().unwrap_or_else(PoisonError::into_inner);
        let all = granted.promised.saturating_add(bytes);
        granted.unseen = granted.unseen.saturating_add(bytes);
        if granted.unseen >= LOOK {
            granted.unseen = 0;
            let available = available();
            if available.is_some_and(|available| all.saturating_add(SPARE) > available) {
                let taken = granted.promised.saturating_add(SPARE);
                return Err(refused(bytes, available.map(|available| available.saturating_sub(taken))));
            }
        }
        granted.promised = all;
        Ok(Self { bytes, filled: AtomicU64::new(0) })
    }

    /// Says that the bytes before this one are filled.
    pub fn filled(&self, end: u64) {
        let end = end.min(self.bytes);
        let before = self.filled.fetch_max(end, Relaxed);
        kept(end.saturating_sub(before));
    }
}

/// Counts bytes no more.
fn kept(bytes: u64) {
    if bytes > 0 {
        let mut granted = GRANTED.lock().unwrap_or_else(PoisonError::into_inner);
        granted.promised = granted.promised.saturating_sub(bytes);
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        kept(self.bytes - self.filled.load(Relaxed));
    }
}

fn refused(requested: u64, available: Option<u64>) -> Error {
    Error::OutOfMemory { requested, available }
}

/// Checks that work may take so many bytes beside its results, in vectors too many to ask for each.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn room(bytes: u64) -> Result<()> {
    Promise::new(bytes).map(drop)
}

/// An empty vector with room for `len` elements, and the promise that counts until they are there.
fn promised<T>(len: u64) -> Result<(Promise, Vec<T>)> {
    let promise = Promise::new(len.saturating_mul(size_of::<T>() as u64))?;
    let mut all = Vec::new();
    match usize::try_from(len).is_ok_and(|len| all.try_reserve_exact(len).is_ok()) {
        true => Ok((promise, all)),
        false => Err(refused(promise.bytes, available())),
    }
}

/// An empty vector with room for `len` elements, which should be there soon.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn reserved<T>(len: u64) -> Result<Vec<T>> {
    Ok(promised(len)?.1)
}

/// `len` times the same value.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn filled<T: Clone>(len: u64, value: T) -> Result<Vec<T>> {
    let (_promise, mut all) = promised(len)?;
    all.resize(len as usize, value);
    Ok(all)
}

/// `len` zeros, of which the system counts those that were written, and the promise the others.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn zeros<T: bytemuck::Zeroable>(len: u64) -> Result<(Promise, Vec<T>)> {
    let promise = Promise::new(len.saturating_mul(size_of::<T>() as u64))?;
    let all = usize::try_from(len).ok().and_then(|len| bytemuck::allocation::try_zeroed_vec(len).ok());
    let all = all.ok_or_else(|| refused(promise.bytes, available()))?;
    Ok((promise, all))
}

/// `len` zeros, which are to be written at once.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn zeroed<T: bytemuck::Zeroable>(len: u64) -> Result<Vec<T>> {
    Ok(zeros(len)?.1)
}

/// The elements of an iterator, at most `len` of them.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn listed<T>(len: u64, elements: impl IntoIterator<Item = T>) -> Result<Vec<T>> {
    let (_promise, mut all) = promised(len)?;
    all.extend(elements.into_iter().take(len as usize));
    Ok(all)
}

/// A copy of a slice.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn copied<T: Copy>(from: &[T]) -> Result<Vec<T>> {
    let (_promise, mut all) = promised(from.len() as u64)?;
    all.extend_from_slice(from);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_any_memory_is_refused() {
        for len in [1 << 48, u64::MAX] {
            assert!(matches!(filled(len, 0u64), Err(Error::OutOfMemory { .. })));
            assert!(matches!(zeroed::<u64>(len), Err(Error::OutOfMemory { .. })));
            assert!(matches!(reserved::<u64>(len), Err(Error::OutOfMemory { .. })));
            assert!(matches!(listed(len, [1u32]), Err(Error::OutOfMemory { .. })));
            assert!(matches!(room(len), Err(Error::OutOfMemory { .. })) || available().is_none());
        }
        assert_eq!(zeroed(3).ok(), Some(vec![0u8; 3]));
        assert_eq!(filled(3, 7u8).ok(), Some(vec![7; 3]));
        assert_eq!(listed(2, 1u8..).ok(), Some(vec![1, 2]));
        assert_eq!(copied(&[1u16, 2]).ok(), Some(vec![1, 2]));
    }

    #[test]
    fn promises_count_together_until_they_are_dropped() {
        let Some(before) = available() else { return };
        let most = before / 4 * 3;
        let first = Promise::new(most).expect("three quarters are there");
        assert!(matches!(Promise::new(most), Err(Error::OutOfMemory { requested, .. }) if requested == most));
        first.filled(most / 3);
        first.filled(most);
        let second = Promise::new(most).expect("what is filled is for the system to count");
        drop((first, second));
        assert!(Promise::new(most).is_ok(), "what was refused or dropped counts no more");
    }
}
