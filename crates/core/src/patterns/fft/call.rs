//! Calls of transforms of complex numbers, and their tables.

use super::bluestein::{self, Chirp};
use super::plan::{radices, table};
use super::{Arithmetic, Fft, FftScalar, FftTask};
use crate::buffer::{Buffer, Memory as _};
use crate::call::{ArrayCall, Arrays};
use crate::element::DType;
use crate::error::{Error, Result};
use crate::input::require;
use crate::ir::Expr;
use crate::patterns::{Lines, Map as _, check_aliasing, check_ops};

pub(super) const PATTERN: &str = "fft";

/// The most points of a line.
const MOST: u64 = 1 << 31;

/// Tables of transforms of a length, on the device: [`Fft::fft_plan`].
#[derive(Clone, Debug)]
pub struct FftPlan<B: Fft, T> {
    pub(super) n: u64,
    pub(super) kind: Kind<B, T>,
}

/// Tables by the kind of a length.
#[derive(Clone, Debug)]
pub(super) enum Kind<B: Fft, T> {
    Levels(Buffer<B, T>),
    Chirp(Box<Chirp<B, T>>),
}

impl<B: Fft, T: FftScalar> FftPlan<B, T> {
    /// Fails of a plan of another device's.
    pub(super) fn check_device(&self, device: &B) -> Result<()> {
        let table = match &self.kind {
            Kind::Levels(table) => table,
            Kind::Chirp(of) => &of.chirp,
        };
        table.check_device(device, "a plan")
    }

    pub(super) fn new(device: &B, n: u64) -> Result<Self> {
        check_points(device, T::DTYPE, n)?;
        let kind = match radices(n) {
            Some(_) => Kind::Levels(device.upload(&table::<T>(n)?)?),
            None => Kind::Chirp(Box::new(Chirp::new(device, n)?)),
        };
        Ok(Self { n, kind })
    }

    /// Points of the transforms.
    pub fn points(&self) -> u64 {
        self.n
    }
}

/// Fails where a device does not transform lines of `n` points.
pub(super) fn check_points<B: Fft>(device: &B, dtype: DType, n: u64) -> Result<()> {
    require(device, PATTERN, dtype)?;
    check_ops(device, PATTERN, device.numerics(), &Arithmetic::of(dtype)?.functions().map(|(_, f)| f).collect::<Vec<_>>())?;
    if n == 0 {
        return Err(Error::InvalidArgument { what: PATTERN, reason: "a line of no points".to_owned() });
    }
    check_size(device, dtype, n)
}

/// Fails where a line, or all lines beside each other, have more points than a kernel sees.
fn check_size<B: Fft>(device: &B, dtype: DType, points: u64) -> Result<()> {
    // Bindings have room for what lies before and after in their words.
    let limit = (device.caps().max_binding_bytes.saturating_sub(4096) / (2 * dtype.size_bytes())).min(MOST);
    if points > limit {
        return Err(Error::TooLarge { what: "points of a transform", requested: points, limit });
    }
    Ok(())
}

/// Points, and the lines that are transformed.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Transforming<'a, B: Fft, T> {
    z: &'a Buffer<B, T>,
    shape: Option<Vec<u64>>,
    axes: Vec<usize>,
    inverse: bool,
    plans: Vec<&'a FftPlan<B, T>>,
}

/// A call of [`Fft::fft`].
pub type FftCall<'a, B, T> = ArrayCall<'a, B, Transforming<'a, B, T>>;

impl<'a, B: Fft, T: FftScalar> Transforming<'a, B, T> {
    pub(super) fn new(z: &'a Buffer<B, T>) -> Self {
        Self { z, shape: None, axes: vec![0], inverse: false, plans: Vec::new() }
    }

    /// The same along these axes, with tables from these plans.
    pub(super) fn along(mut self, shape: Vec<u64>, axes: Vec<usize>, plans: &'a [FftPlan<B, T>]) -> Self {
        (self.shape, self.axes) = (Some(shape), axes);
        self.plans.extend(plans);
        self
    }

    pub(super) fn inverted(mut self) -> Self {
        self.inverse = true;
        self
    }

    /// The lines of each axis, the last one first.
    fn lines(&self) -> Result<Vec<Lines>> {
        let floats = self.z.len();
        if floats % 2 == 1 {
            return Err(Error::InvalidArgument { what: PATTERN, reason: format!("{floats} floats are no pairs") });
        }
        let whole = [floats / 2];
        let shape = self.shape.as_deref().unwrap_or(&whole);
        check_shape(shape, floats / 2)?;
        lines_along(shape, &self.axes)
    }
}

impl<B: Fft, T: FftScalar> Arrays<B> for Transforming<'_, B, T> {
    type Out = Expr<T>;

    fn elements(&self, device: &B) -> Result<u64> {
        self.lines()?.iter().try_for_each(|l| check_lines(device, T::DTYPE, l))?;
        Ok(self.z.len())
    }

    fn write(&self, device: &B, out: &Buffer<B, T>) -> Result<()> {
        let lines = self.lines()?;
        lines.iter().try_for_each(|l| check_lines(device, T::DTYPE, l))?;
        check_buffers(device, self.z, (out, self.z.len()))?;
        self.plans.iter().try_for_each(|plan| plan.check_device(device))?;
        if self.z.is_empty() {
            return Ok(());
        }
        if lines.is_empty() {
            return device.map_into(self.z, |x| x, &out.slice(..self.z.len())?);
        }
        // Other axes than the last go by way of memory of the call's own, so that an error of the last one leaves the output as it was.
        let between = (0..(lines.len() - 1).min(2)).map(|_| device.buffer(self.z.len())).collect::<Result<Vec<_>>>()?;
        let mut from = self.z;
        for (k, l) in lines.iter().enumerate() {
            let to = if k + 1 == lines.len() { out } else { &between[k % 2] };
            transform(device, l, (from, to), self.inverse, &self.plans)?;
            from = to;
        }
        Ok(())
    }
}

/// Fails where an array of so many points has another shape.
pub(super) fn check_shape(shape: &[u64], points: u64) -> Result<()> {
    let expected = shape.iter().try_fold(1u64, |a, &b| a.checked_mul(b)).unwrap_or(u64::MAX);
    if expected != points {
        return Err(Error::LengthMismatch { what: "points of the shape", expected, found: points });
    }
    Ok(())
}

/// The lines of an array along each of these axes, the last one first.
pub(super) fn lines_along(shape: &[u64], axes: &[usize]) -> Result<Vec<Lines>> {
    let mut seen = vec![false; shape.len()];
    for &axis in axes {
        let reason = match seen.get_mut(axis).map(|seen| core::mem::replace(seen, true)) {
            None => format!("axes {axes:?} of an array of {} dimensions", shape.len()),
            Some(true) => format!("axis {axis} is named twice"),
            Some(false) => continue,
        };
        return Err(Error::InvalidArgument { what: PATTERN, reason });
    }
    axes.iter().rev().map(|&axis| Lines::along(shape, axis)).collect()
}

/// Fails where a device does not transform these lines.
pub(super) fn check_lines<B: Fft>(device: &B, dtype: DType, lines: &Lines) -> Result<()> {
    check_points(device, dtype, lines.n)?;
    check_size(device, dtype, lines.n.saturating_mul(lines.inner))
}

/// Fails where an output of so many floats is too short, elsewhere, or overlaps the input.
pub(super) fn check_buffers<B: Fft, T: FftScalar>(device: &B, from: &Buffer<B, T>, (out, floats): (&Buffer<B, T>, u64)) -> Result<()> {
    from.check_device(device, "the input")?;
    out.check_device(device, "the output")?;
    if out.len() < floats {
        return Err(Error::BufferTooSmall { what: "the output", required: floats, available: out.len() });
    }
    check_aliasing(PATTERN, &[from.leaf()], from.len(), &[(out.out(), floats)], false)
}

/// Enqueues transforms of lines that were checked.
pub(super) fn transform<B: Fft, T: FftScalar>(
    device: &B,
    lines: &Lines,
    (from, to): (&Buffer<B, T>, &Buffer<B, T>),
    inverse: bool,
    plans: &[&FftPlan<B, T>],
) -> Result<()> {
    let own;
    let plan = match plans.iter().find(|plan| plan.n == lines.n) {
        Some(plan) => *plan,
        None => {
            own = FftPlan::new(device, lines.n)?;
            &own
        }
    };
    match &plan.kind {
        Kind::Levels(table) => {
            let task = FftTask { lines: *lines, dtype: T::DTYPE, inverse };
            device.run(&task, &[from.leaf(), table.leaf()], &[to.out()])
        }
        Kind::Chirp(chirp) => bluestein::transform(device, lines, (from, to), inverse, chirp),
    }
}

impl<'a, B: Fft, T: FftScalar> FftCall<'a, B, T> {
    /// The inverse transform, multiplied by 1 / n.
    pub fn inverse(self) -> Self {
        self.with(|what| what.inverse = true)
    }

    /// The lines along an axis of a row-major array of this shape, in points: `&[rows, n], 1` for rows.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// // Two rows of two points.
    /// let z = dev.upload(&[1.0f32, 0.0, 2.0, 0.0, 3.0, 0.0, 5.0, 0.0])?;
    /// assert_eq!(dev.fft(&z).axis(&[2, 2], 1).run()?.read_blocking()?, [3.0, 0.0, -1.0, 0.0, 8.0, 0.0, -2.0, 0.0]);
    /// assert_eq!(dev.fft(&z).axis(&[2, 2], 0).run()?.read_blocking()?, [4.0, 0.0, 7.0, 0.0, -2.0, 0.0, -3.0, 0.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn axis(self, shape: &[u64], axis: usize) -> Self {
        self.axes(shape, &[axis])
    }

    /// Several axes, the one named last first: the transform in so many dimensions. An inverse is multiplied by one factor an axis.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let z = dev.upload(&[1.0f64, 0.0, 2.0, 0.0, 3.0, 0.0, 5.0, 0.0])?;
    /// assert_eq!(dev.fft(&z).axes(&[2, 2], &[0, 1]).run()?.read_blocking()?, [11.0, 0.0, -3.0, 0.0, -5.0, 0.0, 1.0, 0.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn axes(self, shape: &[u64], axes: &[usize]) -> Self {
        self.with(|what| (what.shape, what.axes) = (Some(shape.to_vec()), axes.to_vec()))
    }

    /// Takes tables from a plan; each axis takes that of its length, where there is one.
    pub fn plan(self, plan: &'a FftPlan<B, T>) -> Self {
        self.with(|what| what.plans.push(plan))
    }
}
