//! Launches on the processor, which runs a kernel's definition in Rust over slices of host memory.

use super::Choice;
use super::params::Params;
use crate::error::{Error, Result};
use bytemuck::Pod;

/// A kernel's definition.
pub type HostKernel = fn(&mut HostLaunch<'_>) -> Result<()>;

/// An array of a launch on the processor.
#[derive(Debug)]
pub enum HostArray<'a> {
    /// One that is read.
    Read(&'a [u8]),
    /// One that is written: it holds what was there.
    Write(&'a mut [u8]),
    /// One that the launch does not have.
    Nothing,
}

impl HostArray<'_> {
    /// Its elements.
    #[must_use]
    pub fn read<T: Pod>(&self) -> &[T] {
        let bytes: &[u8] = match self {
            Self::Read(bytes) => bytes,
            Self::Write(bytes) => bytes,
            Self::Nothing => &[],
        };
        bytemuck::cast_slice(&bytes[..bytes.len() / size_of::<T>() * size_of::<T>()])
    }

    /// Its elements, to write them.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an array that is read.
    pub fn write<T: Pod>(&mut self) -> Result<&mut [T]> {
        match self {
            Self::Read(_) => {
                Err(Error::InvalidArgument { what: "a kernel", reason: "it writes an array that is declared as read".to_owned() })
            }
            Self::Write(bytes) => {
                let whole = bytes.len() / size_of::<T>() * size_of::<T>();
                Ok(bytemuck::cast_slice_mut(&mut bytes[..whole]))
            }
            Self::Nothing => Ok(&mut []),
        }
    }
}

/// A launch as a kernel's definition sees it.
#[derive(Debug)]
pub struct HostLaunch<'a> {
    /// Elements of the work.
    pub n: u64,
    params: &'a [u32],
    choices: &'a [Choice],
    arrays: Vec<HostArray<'a>>,
}

impl<'a> HostLaunch<'a> {
    /// A launch over `n` elements.
    #[must_use]
    pub fn new(n: u64, params: &'a [u32], choices: &'a [Choice], arrays: Vec<HostArray<'a>>) -> Self {
        Self { n, params, choices, arrays }
    }

    /// The kernel's parameters.
    #[must_use]
    pub fn params<P: Params>(&self) -> P {
        P::of_words(self.params)
    }

    /// The number that a choice has, 0 where the launch does not make it.
    #[must_use]
    pub fn choice(&self, name: &str) -> u32 {
        self.choices.iter().find(|(of, _)| *of == name).map_or(0, |&(_, number)| number)
    }

    /// The kernel's arrays, in the order in which it declares them.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where the launch has fewer or more.
    pub fn arrays<const N: usize>(&mut self) -> Result<&mut [HostArray<'a>; N]> {
        let found = self.arrays.len();
        let reason = || format!("its definition takes {N} arrays, and the launch has {found}");
        self.arrays.as_mut_slice().try_into().map_err(|_| Error::InvalidArgument { what: "a kernel", reason: reason() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_have_their_elements_and_what_is_read_stays() {
        let (from, mut to) = ([1u32, 2, 3], [0u32; 3]);
        let arrays = vec![HostArray::Read(bytemuck::cast_slice(&from)), HostArray::Write(bytemuck::cast_slice_mut(&mut to))];
        let mut launch = HostLaunch::new(3, &[], &[("kind", 4)], arrays);
        assert_eq!((launch.choice("kind"), launch.choice("other")), (4, 0));
        assert!(launch.arrays::<3>().is_err());
        let [x, y] = launch.arrays().expect("two arrays");
        assert!(x.write::<u32>().is_err());
        y.write::<u32>().expect("an output").copy_from_slice(x.read());
        assert_eq!(to, from);
    }
}
