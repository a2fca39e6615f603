//! Scans of segments that offsets bound.

use super::call::check_offsets;
use crate::backend::Run;
use crate::buffer::{Buffer, Memory as _};
use crate::element::{Element, Scalar};
use crate::error::Result;
use crate::input::Inputs;
use crate::ir::Expr;
use crate::ops::Combine;
use crate::patterns::map::{collect, same};
use crate::patterns::moves::scatter;
use crate::patterns::select::Count;
use crate::patterns::{IndexScalar, Map as _, MapTask, ReduceTask, ScanTask, ScatterOp, ScatterTask, SegmentedScan as _};

/// Scans that start anew with every segment. Segments are bounded as for [`Segmented`](super::Segmented#segments); elements before the first and
/// behind the last one are scanned as two segments more. Scans over inputs have [`Segmented::check_offsets`](super::Segmented::check_offsets) called
/// before them.
///
/// # Order of evaluation
/// That of [`SegmentedScan`](crate::patterns::SegmentedScan), by flags that are scattered to where segments start; scratch is 4 bytes an element more.
/// What is computed from the inputs is scanned as an array of it would be, bit for bit.
pub trait OffsetScan: Run<ScanTask> + Run<ScatterTask> + Run<MapTask> {
    /// Inclusive scan that starts anew with every segment.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets) = (dev.upload(&[1u32, 2, 3, 4])?, dev.upload(&[0u32, 1, 1, 4])?);
    /// assert_eq!(dev.segmented_scan(&x, &offsets, Sum)?.read_blocking()?, [1, 2, 5, 9]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported), [`Error::Op`](crate::Error::Op), [`Error::OutOfMemory`](crate::Error::OutOfMemory),
    /// [`Error::WrongDevice`](crate::Error::WrongDevice), [`Error::TooLarge`](crate::Error::TooLarge).
    fn segmented_scan<T: Element<Reg = T> + Scalar, O: Count + IndexScalar>(
        &self,
        x: &Buffer<Self, T>,
        offsets: &Buffer<Self, O>,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        self.segmented_scan_from(x, same, offsets, op)
    }

    /// As [`OffsetScan::segmented_scan`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets, out) = (dev.upload(&[1u32, 2, 3])?, dev.upload(&[0u32, 2, 3])?, dev.buffer(3)?);
    /// dev.segmented_scan_into(&x, &offsets, Sum, &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 3, 3]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`OffsetScan::segmented_scan`], and [`Error::BufferTooSmall`](crate::Error::BufferTooSmall), [`Error::Aliasing`](crate::Error::Aliasing).
    fn segmented_scan_into<T: Element<Reg = T> + Scalar, O: Count + IndexScalar>(
        &self,
        x: &Buffer<Self, T>,
        offsets: &Buffer<Self, O>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        self.segmented_scan_from_into(x, same, offsets, op, out)
    }

    /// As [`OffsetScan::segmented_scan`]; offsets that fall or reach behind the array are an error. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1u32, 2, 3])?;
    /// let falls = dev.segmented_scan_checked(&x, &dev.upload(&[0u32, 2, 1])?, Sum).unwrap_err();
    /// assert!(matches!(falls, isowarp::Error::NotSorted { index: 2, .. }));
    /// assert_eq!(dev.segmented_scan_checked(&x, &dev.upload(&[0u32, 1, 3])?, Sum)?.read_blocking()?, [1, 2, 5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`OffsetScan::segmented_scan`]; [`Error::NotSorted`](crate::Error::NotSorted) and
    /// [`Error::IndexOutOfRange`](crate::Error::IndexOutOfRange) with the first offset that is wrong.
    fn segmented_scan_checked<T: Element<Reg = T> + Scalar, O: Count + IndexScalar>(
        &self,
        x: &Buffer<Self, T>,
        offsets: &Buffer<Self, O>,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>>
    where
        Self: Run<ReduceTask>,
    {
        check_offsets(self, "segments", offsets, x.len())?;
        self.segmented_scan(x, offsets, op)
    }

    /// As [`OffsetScan::segmented_scan_checked`], into the caller's buffer, which stays as it was where there is an error.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[1i64, 2])?, dev.upload(&[-1i64; 2])?);
    /// let beyond = dev.segmented_scan_checked_into(&x, &dev.upload(&[0u64, 2, 3])?, Sum, &out).unwrap_err();
    /// assert!(matches!(beyond, isowarp::Error::IndexOutOfRange { position: 2, index: 3, .. }));
    /// assert_eq!(out.read_blocking()?, [-1; 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`OffsetScan::segmented_scan_checked`] and [`OffsetScan::segmented_scan_into`].
    fn segmented_scan_checked_into<T: Element<Reg = T> + Scalar, O: Count + IndexScalar>(
        &self,
        x: &Buffer<Self, T>,
        offsets: &Buffer<Self, O>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()>
    where
        Self: Run<ReduceTask>,
    {
        check_offsets(self, "segments", offsets, x.len())?;
        self.segmented_scan_into(x, offsets, op, out)
    }

    /// As [`OffsetScan::segmented_scan`] of `f` of the inputs, which never lies in memory.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, y) = (dev.upload(&[1.0f32, 2.0, 3.0])?, dev.upload(&[4.0f32, 5.0, 6.0])?);
    /// let offsets = dev.upload(&[0u32, 1, 3])?;
    /// assert_eq!(dev.segmented_scan_from((&x, &y), |(x, y)| x * y, &offsets, Sum)?.read_blocking()?, [4.0, 10.0, 28.0]);
    /// // The place of each element in its segment.
    /// assert_eq!(dev.segmented_scan_from(counting(3), |_| lit(1u32), &offsets, Sum)?.read_blocking()?, [1, 1, 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`OffsetScan::segmented_scan`], and [`Error::LengthMismatch`](crate::Error::LengthMismatch).
    fn segmented_scan_from<I: Inputs<Self>, T: Element<Reg = T> + Scalar, O: Count + IndexScalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        offsets: &Buffer<Self, O>,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        let flags = flags(self, collect(self, "scan", &inputs)?.len()?, offsets)?;
        self.scan_segmented_from(inputs, f, &flags, op)
    }

    /// As [`OffsetScan::segmented_scan_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets, out) = (dev.upload(&[1u32, 2, 3])?, dev.upload(&[0u64, 2, 3])?, dev.buffer(3)?);
    /// dev.segmented_scan_from_into(&x.reversed(), |x| x * 10, &offsets, Sum, &out)?;
    /// assert_eq!(out.read_blocking()?, [30, 50, 10]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`OffsetScan::segmented_scan_into`], and [`Error::LengthMismatch`](crate::Error::LengthMismatch).
    fn segmented_scan_from_into<I: Inputs<Self>, T: Element<Reg = T> + Scalar, O: Count + IndexScalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        offsets: &Buffer<Self, O>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let flags = flags(self, collect(self, "scan", &inputs)?.len()?, offsets)?;
        self.scan_segmented_from_into(inputs, f, &flags, op, out)
    }

    /// As [`OffsetScan::segmented_scan`], exclusive: every segment starts with the operator's identity.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets) = (dev.upload(&[1u32, 2, 3, 4])?, dev.upload(&[0u32, 1, 4])?);
    /// assert_eq!(dev.segmented_scan_exclusive(&x, &offsets, Sum)?.read_blocking()?, [0, 0, 2, 5]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`OffsetScan::segmented_scan`].
    fn segmented_scan_exclusive<T: Element<Reg = T> + Scalar, O: Count + IndexScalar>(
        &self,
        x: &Buffer<Self, T>,
        offsets: &Buffer<Self, O>,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        self.segmented_scan_exclusive_from(x, same, offsets, op)
    }

    /// As [`OffsetScan::segmented_scan_exclusive`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets, out) = (dev.upload(&[1u32, 2, 3])?, dev.upload(&[0u32, 2, 3])?, dev.buffer(3)?);
    /// dev.segmented_scan_exclusive_into(&x, &offsets, Sum, &out)?;
    /// assert_eq!(out.read_blocking()?, [0, 1, 0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`OffsetScan::segmented_scan_into`].
    fn segmented_scan_exclusive_into<T: Element<Reg = T> + Scalar, O: Count + IndexScalar>(
        &self,
        x: &Buffer<Self, T>,
        offsets: &Buffer<Self, O>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        self.segmented_scan_exclusive_from_into(x, same, offsets, op, out)
    }

    /// As [`OffsetScan::segmented_scan_exclusive`]; offsets that fall or reach behind the array are an error. Waits for the device.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, 2.0, 3.0])?;
    /// assert!(dev.segmented_scan_exclusive_checked(&x, &dev.upload(&[1u32, 0])?, Sum).is_err());
    /// assert_eq!(dev.segmented_scan_exclusive_checked(&x, &dev.upload(&[0u32, 1, 3])?, Sum)?.read_blocking()?, [0.0, 0.0, 2.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`OffsetScan::segmented_scan_exclusive`]; [`Error::NotSorted`](crate::Error::NotSorted) and
    /// [`Error::IndexOutOfRange`](crate::Error::IndexOutOfRange) with the first offset that is wrong.
    fn segmented_scan_exclusive_checked<T: Element<Reg = T> + Scalar, O: Count + IndexScalar>(
        &self,
        x: &Buffer<Self, T>,
        offsets: &Buffer<Self, O>,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>>
    where
        Self: Run<ReduceTask>,
    {
        check_offsets(self, "segments", offsets, x.len())?;
        self.segmented_scan_exclusive(x, offsets, op)
    }

    /// As [`OffsetScan::segmented_scan_exclusive_checked`], into the caller's buffer, which stays as it was where there is an error.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, out) = (dev.upload(&[1u32, 2])?, dev.upload(&[7u32; 2])?);
    /// assert!(dev.segmented_scan_exclusive_checked_into(&x, &dev.upload(&[0u32, 9])?, Sum, &out).is_err());
    /// assert_eq!(out.read_blocking()?, [7; 2]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`OffsetScan::segmented_scan_exclusive_checked`] and [`OffsetScan::segmented_scan_exclusive_into`].
    fn segmented_scan_exclusive_checked_into<T: Element<Reg = T> + Scalar, O: Count + IndexScalar>(
        &self,
        x: &Buffer<Self, T>,
        offsets: &Buffer<Self, O>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()>
    where
        Self: Run<ReduceTask>,
    {
        check_offsets(self, "segments", offsets, x.len())?;
        self.segmented_scan_exclusive_into(x, offsets, op, out)
    }

    /// As [`OffsetScan::segmented_scan_exclusive`] of `f` of the inputs, which never lies in memory: `f` is computed for the element before, as
    /// [`SegmentedScan::scan_segmented_exclusive_from`](crate::patterns::SegmentedScan::scan_segmented_exclusive_from) says.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (x, offsets) = (dev.upload(&[1.0f32, -2.0, -3.0, 2.0])?, dev.upload(&[0u32, 2, 4])?);
    /// assert_eq!(dev.segmented_scan_exclusive_from(&x, |x| x * x, &offsets, Sum)?.read_blocking()?, [0.0, 1.0, 0.0, 9.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`OffsetScan::segmented_scan`], and [`Error::LengthMismatch`](crate::Error::LengthMismatch).
    fn segmented_scan_exclusive_from<I: Inputs<Self>, T: Element<Reg = T> + Scalar, O: Count + IndexScalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        offsets: &Buffer<Self, O>,
        op: impl Combine<T>,
    ) -> Result<Buffer<Self, T>> {
        let out = self.buffer(collect(self, "scan", &inputs)?.len()?)?;
        self.segmented_scan_exclusive_from_into(inputs, f, offsets, op, &out)?;
        Ok(out)
    }

    /// As [`OffsetScan::segmented_scan_exclusive_from`], into the caller's buffer.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (offsets, out) = (dev.upload(&[0u32, 2, 5])?, dev.buffer(5)?);
    /// dev.segmented_scan_exclusive_from_into(counting(5), |i| i + 1, &offsets, Product, &out)?;
    /// assert_eq!(out.read_blocking()?, [1, 1, 1, 3, 12]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`OffsetScan::segmented_scan_into`], and [`Error::LengthMismatch`](crate::Error::LengthMismatch).
    fn segmented_scan_exclusive_from_into<I: Inputs<Self>, T: Element<Reg = T> + Scalar, O: Count + IndexScalar>(
        &self,
        inputs: I,
        f: impl FnOnce(I::Exprs) -> Expr<T>,
        offsets: &Buffer<Self, O>,
        op: impl Combine<T>,
        out: &Buffer<Self, T>,
    ) -> Result<()> {
        let flags = flags(self, collect(self, "scan", &inputs)?.len()?, offsets)?;
        self.scan_segmented_exclusive_from_into(inputs, f, &flags, op, out)
    }
}
impl<B: Run<ScanTask> + Run<ScatterTask> + Run<MapTask>> OffsetScan for B {}

/// 1 where a segment starts, and where the last one ends, else 0.
pub(super) fn flags<B, O: Count + IndexScalar>(device: &B, n: u64, offsets: &Buffer<B, O>) -> Result<Buffer<B, u32>>
where
    B: Run<ScatterTask> + Run<MapTask>,
{
    offsets.check_device(device, "the offsets")?;
    let flags = device.buffer(n)?;
    device.fill(&flags, 0)?;
    let ones = device.buffer(offsets.len())?;
    device.fill(&ones, 1)?;
    // Empty segments start where others do: whichever is stored, it is 1. An offset behind the end is stored nowhere.
    scatter(device, Some(&ones), offsets, &flags, ScatterOp::Store)?;
    Ok(flags)
}
