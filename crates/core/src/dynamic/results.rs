//! Results of calls.

use super::DynBuffer;
use crate::backend::Backend;
use crate::buffer::DeviceScalar;
use crate::error::Result;

/// Results of a call.
#[derive(Clone, Debug)]
pub struct Results<B: Backend> {
    /// The results, in the order that the call names them.
    pub all: Vec<DynBuffer<B>>,
    /// Number of their elements, where the device alone knows: what lies after that is undefined.
    pub count: Option<DeviceScalar<B, u32>>,
}

impl<B: Backend> Results<B> {
    pub(super) fn counted(all: Vec<DynBuffer<B>>, count: DeviceScalar<B, u32>) -> Self {
        Self { all, count: Some(count) }
    }

    /// The only result, or the first of several.
    ///
    /// # Panics
    /// Never: every call returns one.
    #[must_use]
    pub fn one(mut self) -> DynBuffer<B> {
        self.all.swap_remove(0)
    }

    /// The results, as long as the count says, which is waited for.
    ///
    /// # Errors
    /// As [`Buffer::read`](crate::buffer::Buffer::read).
    pub fn trimmed(self) -> Result<Vec<DynBuffer<B>>> {
        let Some(count) = self.count else { return Ok(self.all) };
        let count = u64::from(count.read_blocking()?);
        Ok(self.all.into_iter().map(|x| DynBuffer { len: count.min(x.len), ..x }).collect())
    }
}

impl<B: Backend> From<DynBuffer<B>> for Results<B> {
    fn from(one: DynBuffer<B>) -> Self {
        Self { all: vec![one], count: None }
    }
}

impl<B: Backend> From<[DynBuffer<B>; 2]> for Results<B> {
    fn from(two: [DynBuffer<B>; 2]) -> Self {
        Self { all: two.into(), count: None }
    }
}

impl<B: Backend> From<DeviceScalar<B, u32>> for Results<B> {
    fn from(answer: DeviceScalar<B, u32>) -> Self {
        DynBuffer::from(answer.buffer().clone()).into()
    }
}
