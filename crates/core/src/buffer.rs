//! Typed device memory.

use crate::backend::{Backend, Leaf, Out, RawBuffer};
use crate::element::Element;
use crate::error::{Error, Result};
use core::marker::PhantomData;
use core::ops::{Bound, RangeBounds};

/// `len` elements of device memory. Cheap to clone: clones and [slices](Buffer::slice) share the memory.
#[derive(Clone, Debug)]
pub struct Buffer<B: Backend, T> {
    device: B,
    raw: B::Raw,
    offset: u64,
    len: u64,
    of: PhantomData<T>,
}

impl<B: Backend, T: Element> Buffer<B, T> {
    /// Takes memory that already exists: `len` elements from element `offset` on.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the memory is smaller.
    pub fn from_raw(device: &B, raw: B::Raw, offset: u64, len: u64) -> Result<Self> {
        let available = raw.size_bytes() / T::DTYPE.size_bytes();
        match offset.checked_add(len) {
            Some(end) if end <= available => Ok(Self { device: device.clone(), raw, offset, len, of: PhantomData }),
            _ => Err(Error::OutOfRange { what: "buffer", start: offset, end: offset.saturating_add(len), len: available }),
        }
    }

    /// Number of elements.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device (and stream) that it was made on.
    pub fn device(&self) -> &B {
        &self.device
    }

    /// The memory.
    pub fn raw(&self) -> &B::Raw {
        &self.raw
    }

    /// First element within the memory.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Some of the elements, sharing the memory.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the range reaches outside.
    pub fn slice(&self, range: impl RangeBounds<u64>) -> Result<Self> {
        let start = match range.start_bound() {
            Bound::Included(&s) => s,
            Bound::Excluded(&s) => s.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&e) => e.saturating_add(1),
            Bound::Excluded(&e) => e,
            Bound::Unbounded => self.len,
        };
        if start > end || end > self.len {
            return Err(Error::OutOfRange { what: "slice", start, end, len: self.len });
        }
        Ok(Self { offset: self.offset + start, len: end - start, ..self.clone() })
    }

    /// Every `stride`-th element from `start` on, `len` of them, as an input of patterns; a negative stride walks backwards and
    /// stride 0 repeats one element.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the walk leaves the buffer.
    pub fn strided(&self, start: u64, len: u64, stride: i64) -> Result<View<B, T>> {
        let last = i128::from(start) + i128::from(len.max(1) - 1) * i128::from(stride);
        if len > 0 && (start >= self.len || last < 0 || last >= i128::from(self.len)) {
            let end = u64::try_from(last.max(0) + 1).unwrap_or(u64::MAX);
            return Err(Error::OutOfRange { what: "view", start, end, len: self.len });
        }
        // A view of nothing begins inside all the same.
        Ok(View { buffer: self.clone(), start: start.min(self.len), len, stride })
    }

    /// The elements from last to first, as an input of patterns.
    #[must_use]
    pub fn reversed(&self) -> View<B, T> {
        View { buffer: self.clone(), start: self.len.saturating_sub(1), len: self.len, stride: -1 }
    }

    /// Copies the elements to the host once the device has computed them.
    ///
    /// # Errors
    /// What the device reports: [`Error::DeviceLost`], [`Error::OutOfMemory`], ...
    pub async fn read(&self) -> Result<Vec<T>> {
        let size = T::DTYPE.size_bytes();
        to_elements(&self.device.read_bytes(&self.raw, self.offset * size, self.len * size).await?, self.len)
    }

    /// As [`Buffer::read`], waiting for it.
    ///
    /// # Errors
    /// As [`Buffer::read`].
    pub fn read_blocking(&self) -> Result<Vec<T>> {
        let size = T::DTYPE.size_bytes();
        to_elements(&self.device.read_bytes_blocking(&self.raw, self.offset * size, self.len * size)?, self.len)
    }

    /// Overwrites the elements with as many from the host, in stream order. Their neighbours stay, wherever the elements lie.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if `data` has another length.
    pub fn write(&self, data: &[T]) -> Result<()> {
        if data.len() as u64 != self.len {
            return Err(Error::LengthMismatch { what: "data to write", expected: self.len, found: data.len() as u64 });
        }
        self.device.write_bytes(&self.raw, self.offset * T::DTYPE.size_bytes(), bytemuck::cast_slice(data))
    }

    /// Fails where the buffer belongs to another device.
    pub(crate) fn check_device(&self, device: &B, what: &'static str) -> Result<()> {
        if self.device.same_device(device) { Ok(()) } else { Err(Error::WrongDevice { what }) }
    }

    pub(crate) fn leaf(&self) -> Leaf<B::Raw> {
        Leaf::Elements { raw: self.raw.clone(), dtype: T::DTYPE, offset: self.offset, stride: 1 }
    }

    pub(crate) fn out(&self) -> Out<B::Raw> {
        Out { raw: self.raw.clone(), dtype: T::DTYPE, offset: self.offset }
    }
}

/// Fills new memory from its start. It ends with a whole word, so the last one is written whole too: its other bytes are nobody's.
pub(crate) fn write_whole<B: Backend>(device: &B, raw: &B::Raw, bytes: &[u8]) -> Result<()> {
    let (whole, rest) = bytes.split_at(bytes.len() & !3);
    if !whole.is_empty() {
        device.write_bytes(raw, 0, whole)?;
    }
    if !rest.is_empty() {
        let mut word = [0; 4];
        word[..rest.len()].copy_from_slice(rest);
        device.write_bytes(raw, whole.len() as u64, &word)?;
    }
    Ok(())
}

fn to_elements<T: Element>(bytes: &[u8], len: u64) -> Result<Vec<T>> {
    let mut out = crate::host::zeroed(len)?;
    let target: &mut [u8] = bytemuck::cast_slice_mut(&mut out);
    if bytes.len() < target.len() {
        return Err(Error::LengthMismatch { what: "bytes read back", expected: target.len() as u64, found: bytes.len() as u64 });
    }
    target.copy_from_slice(&bytes[..target.len()]);
    Ok(out)
}

/// Elements of a buffer at a fixed distance from each other: an input of patterns that moves nothing.
#[derive(Clone, Debug)]
pub struct View<B: Backend, T> {
    pub(crate) buffer: Buffer<B, T>,
    pub(crate) start: u64,
    pub(crate) len: u64,
    pub(crate) stride: i64,
}

/// One value on the device: the result of a reduction, and an input (the same at every index) of the patterns that follow.
#[derive(Clone, Debug)]
pub struct DeviceScalar<B: Backend, T> {
    buffer: Buffer<B, T>,
}

impl<B: Backend, T: Element> DeviceScalar<B, T> {
    /// The value of a buffer of one element.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if the buffer has another length.
    pub fn from_buffer(buffer: Buffer<B, T>) -> Result<Self> {
        match buffer.len() {
            1 => Ok(Self { buffer }),
            found => Err(Error::LengthMismatch { what: "device scalar", expected: 1, found }),
        }
    }

    /// The buffer of one element.
    pub fn buffer(&self) -> &Buffer<B, T> {
        &self.buffer
    }

    /// Copies the value to the host once the device has computed it.
    ///
    /// # Errors
    /// As [`Buffer::read`].
    pub async fn read(&self) -> Result<T> {
        one(self.buffer.read().await?)
    }

    /// As [`DeviceScalar::read`], waiting for it.
    ///
    /// # Errors
    /// As [`Buffer::read`].
    pub fn read_blocking(&self) -> Result<T> {
        one(self.buffer.read_blocking()?)
    }
}

fn one<T: Element>(v: Vec<T>) -> Result<T> {
    v.first().copied().ok_or(Error::LengthMismatch { what: "device scalar", expected: 1, found: 0 })
}

/// Memory of a device, typed.
pub trait Memory: Backend {
    /// Reserves `len` elements; their contents are undefined.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for an element type that the device lacks, [`Error::OutOfMemory`], [`Error::TooLarge`].
    fn buffer<T: Element>(&self, len: u64) -> Result<Buffer<Self, T>> {
        let caps = self.caps();
        if !caps.supports(T::DTYPE) {
            return Err(Error::Unsupported {
                pattern: "buffer",
                capability: crate::caps::Capability::DType(T::DTYPE),
                device: caps.device.clone(),
            });
        }
        let limit = caps.max_buffer_bytes;
        let bytes = len.checked_mul(T::DTYPE.size_bytes()).filter(|&b| b <= limit);
        let bytes =
            bytes.ok_or(Error::TooLarge { what: "buffer size in bytes", requested: len.saturating_mul(T::DTYPE.size_bytes()), limit })?;
        // Whole 32-bit words: kernels store narrow elements four bytes at a time.
        let raw = self.allocate_bytes(bytes.next_multiple_of(4))?;
        Buffer::from_raw(self, raw, 0, len)
    }

    /// Copies host elements to the device.
    ///
    /// # Errors
    /// As [`Memory::buffer`].
    fn upload<T: Element>(&self, data: &[T]) -> Result<Buffer<Self, T>> {
        let buffer = self.buffer(data.len() as u64)?;
        write_whole(self, buffer.raw(), bytemuck::cast_slice(data))?;
        Ok(buffer)
    }

    /// Copies a host value to the device.
    ///
    /// # Errors
    /// As [`Memory::buffer`].
    fn upload_scalar<T: Element>(&self, value: T) -> Result<DeviceScalar<Self, T>> {
        DeviceScalar::from_buffer(self.upload(&[value])?)
    }
}
impl<B: Backend> Memory for B {}
