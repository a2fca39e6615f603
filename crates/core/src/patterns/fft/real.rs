//! Transforms of real numbers, by those of complex numbers.

use super::bluestein::{point, product};
use super::call::{FftPlan, PATTERN, Transforming, check_buffers, check_lines, lines_along, transform};
use super::circle::Circle;
use super::{Fft, FftScalar};
use crate::buffer::{Buffer, Memory as _};
use crate::call::{ArrayCall, Arrays};
use crate::error::{Error, Result};
use crate::host;
use crate::input::{array, index, scalar};
use crate::ir::{Expr, select};
use crate::patterns::{Lines, Map as _};

/// Tables of transforms of `n` real numbers, on the device: [`Fft::rfft_plan`].
#[derive(Clone, Debug)]
pub struct RfftPlan<B: Fft, T> {
    n: u64,
    /// Of an even length the turns `exp(-2 pi i k / n)` for k up to n / 2.
    turns: Option<Buffer<B, T>>,
    points: FftPlan<B, T>,
    /// Plans of the other axes.
    others: Vec<FftPlan<B, T>>,
}

impl<B: Fft, T: FftScalar> RfftPlan<B, T> {
    /// Fails of a plan of another device's, whose tables are made on one.
    fn check_device(&self, device: &B) -> Result<()> {
        self.others.iter().chain([&self.points]).try_for_each(|plan| plan.check_device(device))
    }

    pub(super) fn new(device: &B, n: u64) -> Result<Self> {
        if n % 2 == 1 || n == 0 {
            return Ok(Self { n, turns: None, points: FftPlan::new(device, n)?, others: Vec::new() });
        }
        let points = FftPlan::new(device, n / 2)?;
        let circle = Circle::new(n);
        let mut turns = host::reserved(n + 2)?;
        for k in 0..=n / 2 {
            let (c, s) = circle.at(k);
            turns.extend([T::rounded(c), T::rounded(-s)]);
        }
        Ok(Self { n, turns: Some(device.upload(&turns)?), points, others: Vec::new() })
    }

    /// The same with the tables of another axis, for [several](RfftCall::axes).
    #[must_use]
    pub fn with(mut self, axis: &FftPlan<B, T>) -> Self {
        self.others.push(axis.clone());
        self
    }
}

/// The plan of this length, or one made into `own`.
fn planned<'p, B: Fft, T: FftScalar>(
    device: &B,
    n: u64,
    given: Option<&'p RfftPlan<B, T>>,
    own: &'p mut Option<RfftPlan<B, T>>,
) -> Result<&'p RfftPlan<B, T>> {
    match given {
        Some(plan) if plan.n == n => Ok(plan),
        _ => Ok(own.insert(RfftPlan::new(device, n)?)),
    }
}

/// An array, and the axes of a transform: the last one named is that of the real numbers, the others are of points.
#[derive(Clone, Debug)]
struct Axes {
    /// None is one line of all elements.
    shape: Option<Vec<u64>>,
    axes: Vec<usize>,
}

impl Axes {
    fn new() -> Self {
        Self { shape: None, axes: vec![0] }
    }

    /// The shape of so many elements, the axis of the real numbers, the lines along it, and the other axes.
    fn of(&self, elements: u64) -> Result<(Vec<u64>, usize, Lines, &[usize])> {
        let shape = self.shape.clone().unwrap_or_else(|| vec![elements]);
        let Some((&last, others)) = self.axes.split_last() else {
            let reason = "a transform of real numbers along no axis".to_owned();
            return Err(Error::InvalidArgument { what: PATTERN, reason });
        };
        let lines = lines_along(&shape, &self.axes)?[0];
        Ok((shape, last, lines, others))
    }
}

/// Lines of real numbers, and the array of their points with the other axes along which those are transformed.
struct Steps<'a> {
    lines: Lines,
    shape: Vec<u64>,
    others: &'a [usize],
}

impl Steps<'_> {
    /// Fails where a line is empty or longer than the device transforms.
    fn check<B: Fft, T: FftScalar>(self, device: &B) -> Result<Self> {
        check_lines(device, T::DTYPE, &self.lines)?;
        lines_along(&self.shape, self.others)?.iter().try_for_each(|lines| check_lines(device, T::DTYPE, lines))?;
        Ok(self)
    }

    /// Points of the spectra.
    fn points(&self) -> u64 {
        self.shape.iter().product()
    }
}

/// Fails where there are other than so many floats.
fn check_floats(expected: u64, found: u64) -> Result<()> {
    if found != expected {
        return Err(Error::LengthMismatch { what: "floats of the shape", expected, found });
    }
    Ok(())
}

/// Real numbers whose lines are transformed.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct RealTransforming<'a, B: Fft, T> {
    x: &'a Buffer<B, T>,
    axes: Axes,
    plan: Option<&'a RfftPlan<B, T>>,
}

/// A call of [`Fft::rfft`].
pub type RfftCall<'a, B, T> = ArrayCall<'a, B, RealTransforming<'a, B, T>>;

impl<'a, B: Fft, T: FftScalar> RealTransforming<'a, B, T> {
    pub(super) fn new(x: &'a Buffer<B, T>) -> Self {
        Self { x, axes: Axes::new(), plan: None }
    }

    fn steps(&self, device: &B) -> Result<Steps<'_>> {
        let (mut shape, axis, lines, others) = self.axes.of(self.x.len())?;
        check_floats(lines.elements(), self.x.len())?;
        shape[axis] = lines.n / 2 + 1;
        Steps { lines, shape, others }.check::<B, T>(device)
    }
}

impl<'a, B: Fft, T: FftScalar> RfftCall<'a, B, T> {
    /// The lines along an axis of a row-major array of real numbers of this shape. Along it the result has `n / 2 + 1` points.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, 2.0, 3.0, 5.0])?;
    /// assert_eq!(dev.rfft(&x).axis(&[2, 2], 1).run()?.read_blocking()?, [3.0, 0.0, -1.0, 0.0, 8.0, 0.0, -2.0, 0.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn axis(self, shape: &[u64], axis: usize) -> Self {
        self.axes(shape, &[axis])
    }

    /// Several axes of an array of real numbers of this shape: real numbers are transformed along the one named last, their points along the others, again the
    /// last one first, as NumPy's `rfftn` does. Scratch: the points once, beside that of each transform.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1.0f32, 2.0, 3.0, 5.0])?;
    /// let spectrum = dev.rfft(&x).axes(&[2, 2], &[0, 1]).run()?;
    /// assert_eq!(spectrum.read_blocking()?, [11.0, 0.0, -3.0, 0.0, -5.0, 0.0, 1.0, 0.0]);
    /// assert_eq!(dev.irfft(&spectrum, 2).axes(&[2, 2], &[0, 1]).run()?.read_blocking()?, x.read_blocking()?);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    pub fn axes(self, shape: &[u64], axes: &[usize]) -> Self {
        self.with(|what| what.axes = Axes { shape: Some(shape.to_vec()), axes: axes.to_vec() })
    }

    /// Takes tables from a plan of the same length, and those of other axes from what the plan [has besides](RfftPlan::with).
    pub fn plan(self, plan: &'a RfftPlan<B, T>) -> Self {
        self.with(|what| what.plan = Some(plan))
    }
}

impl<B: Fft, T: FftScalar> Arrays<B> for RealTransforming<'_, B, T> {
    type Out = Expr<T>;

    fn elements(&self, device: &B) -> Result<u64> {
        Ok(2 * self.steps(device)?.points())
    }

    fn write(&self, device: &B, out: &Buffer<B, T>) -> Result<()> {
        let steps = self.steps(device)?;
        let floats = 2 * steps.points();
        check_buffers(device, self.x, (out, floats))?;
        self.plan.map_or(Ok(()), |plan| plan.check_device(device))?;
        if floats == 0 {
            return Ok(());
        }
        if steps.others.is_empty() {
            return self.spectra(device, &steps.lines, out);
        }
        let half = device.buffer(floats)?;
        self.spectra(device, &steps.lines, &half)?;
        let plans = self.plan.map_or(&[][..], |plan| &plan.others);
        Transforming::new(&half).along(steps.shape, steps.others.to_vec(), plans).write(device, out)
    }
}

impl<B: Fft, T: FftScalar> RealTransforming<'_, B, T> {
    /// The points of lines of real numbers.
    fn spectra(&self, device: &B, lines: &Lines, out: &Buffer<B, T>) -> Result<()> {
        let floats = 2 * lines.count() * (lines.n / 2 + 1);
        let mut own = None;
        let plan = planned(device, lines.n, self.plan, &mut own)?;
        let (inner, half) = (lines.inner as u32, lines.n / 2);
        let Some(turns) = &plan.turns else {
            let z = device.generate(2 * lines.elements(), (index(), array(self.x)), |(i, x)| {
                select((i & 1u32).eq(0), x.at(i >> 1), T::rounded(0.0))
            })?;
            let all = device.buffer(z.len())?;
            transform(device, lines, (&z, &all), false, &[&plan.points])?;
            let sizes = (scalar(lines.n as u32), scalar(half as u32 + 1), scalar(inner));
            return device.generate_into(
                floats,
                (index(), array(&all), sizes),
                |(i, z, (n, kept, inner))| {
                    let (line, column) = ((i >> 1) / inner, (i >> 1) % inner);
                    z.at((((line / kept * n + line % kept) * inner + column) << 1) + (i & 1u32))
                },
                out,
            );
        };
        let points = Lines { n: half, ..*lines };
        let packed;
        let z = if inner == 1 {
            self.x
        } else {
            packed = device.generate(self.x.len(), (index(), array(self.x), scalar(inner)), |(i, x, inner)| {
                let (line, column) = ((i >> 1) / inner, (i >> 1) % inner);
                x.at(((line << 1) + (i & 1u32)) * inner + column)
            })?;
            &packed
        };
        let all = device.buffer(z.len())?;
        transform(device, &points, (z, &all), false, &[&plan.points])?;
        device.generate_into(
            floats,
            (index(), array(&all), array(turns), scalar(half as u32), scalar(inner)),
            |(i, z, turns, half, inner)| {
                let (part, line, column) = (i & 1u32, (i >> 1) / inner, (i >> 1) % inner);
                let (of, k) = (line / (half + 1u32), line % (half + 1u32));
                let at = |k: Expr<u32>| point(z, (of * half + k) * inner + column);
                let ((a, b), (c, d)) = (at(k % half), at((half - k) % half));
                let even = select(part.eq(0), a + c, b - d);
                let odd = product(part, (b + d, c - a), point(turns, k));
                (even + odd).mul_rn(T::rounded(0.5))
            },
            out,
        )
    }
}

/// Spectra whose real numbers are computed.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct RealInverse<'a, B: Fft, T> {
    z: &'a Buffer<B, T>,
    n: u64,
    axes: Axes,
    plan: Option<&'a RfftPlan<B, T>>,
}

/// A call of [`Fft::irfft`].
pub type IrfftCall<'a, B, T> = ArrayCall<'a, B, RealInverse<'a, B, T>>;

impl<'a, B: Fft, T: FftScalar> RealInverse<'a, B, T> {
    pub(super) fn new(z: &'a Buffer<B, T>, n: u64) -> Self {
        Self { z, n, axes: Axes::new(), plan: None }
    }

    fn steps(&self, device: &B) -> Result<Steps<'_>> {
        let kept = self.n / 2 + 1;
        let (shape, _, of_points, others) = self.axes.of(if self.axes.shape.is_some() { 0 } else { kept })?;
        if of_points.n != kept {
            let reason = format!("{} real numbers have {kept} points, and there are {}", self.n, of_points.n);
            return Err(Error::InvalidArgument { what: PATTERN, reason });
        }
        check_floats(of_points.elements().saturating_mul(2), self.z.len())?;
        Steps { lines: Lines { n: self.n, ..of_points }, shape, others }.check::<B, T>(device)
    }
}

impl<'a, B: Fft, T: FftScalar> IrfftCall<'a, B, T> {
    /// The lines along an axis of a row-major array of points of this shape, `n / 2 + 1` along the axis.
    pub fn axis(self, shape: &[u64], axis: usize) -> Self {
        self.axes(shape, &[axis])
    }

    /// Several axes of an array of points of this shape: what [`RfftCall::axes`] did is undone, the axis named first first, the real numbers last. Scratch: the
    /// points once, beside that of each transform.
    pub fn axes(self, shape: &[u64], axes: &[usize]) -> Self {
        self.with(|what| what.axes = Axes { shape: Some(shape.to_vec()), axes: axes.to_vec() })
    }

    /// Takes tables from a plan of the same length, and those of other axes from what the plan [has besides](RfftPlan::with).
    pub fn plan(self, plan: &'a RfftPlan<B, T>) -> Self {
        self.with(|what| what.plan = Some(plan))
    }
}

impl<B: Fft, T: FftScalar> Arrays<B> for RealInverse<'_, B, T> {
    type Out = Expr<T>;

    fn elements(&self, device: &B) -> Result<u64> {
        Ok(self.steps(device)?.lines.elements())
    }

    fn write(&self, device: &B, out: &Buffer<B, T>) -> Result<()> {
        let steps = self.steps(device)?;
        check_buffers(device, self.z, (out, steps.lines.elements()))?;
        self.plan.map_or(Ok(()), |plan| plan.check_device(device))?;
        if steps.lines.count() == 0 {
            return Ok(());
        }
        if steps.others.is_empty() {
            return self.reals(device, &steps.lines, self.z, out);
        }
        let half = device.buffer(self.z.len())?;
        let plans = self.plan.map_or(&[][..], |plan| &plan.others);
        let others = steps.others.iter().rev().copied().collect();
        Transforming::new(self.z).along(steps.shape, others, plans).inverted().write(device, &half)?;
        self.reals(device, &steps.lines, &half, out)
    }
}

impl<B: Fft, T: FftScalar> RealInverse<'_, B, T> {
    /// The real numbers of lines of points.
    fn reals(&self, device: &B, lines: &Lines, z: &Buffer<B, T>, out: &Buffer<B, T>) -> Result<()> {
        let mut own = None;
        let plan = planned(device, self.n, self.plan, &mut own)?;
        let zero = T::rounded(0.0);
        let (n, half, inner) = (lines.n as u32, lines.n as u32 / 2, lines.inner as u32);
        let Some(turns) = &plan.turns else {
            // All points: those that are not there are conjugates.
            let inputs = (index(), array(z), scalar(n), scalar(half), scalar(inner));
            let z = device.generate(2 * lines.elements(), inputs, |(i, z, n, half, inner)| {
                let (part, line, column) = (i & 1u32, (i >> 1) / inner, (i >> 1) % inner);
                let (of, k) = (line / n, line % n);
                let there = k.le(half);
                let (a, b) = point(z, (of * (half + 1u32) + select(there, k, n - k)) * inner + column);
                let b = select(k.eq(0), zero, select(there, b, Expr::from(zero) - b));
                select(part.eq(0), a, b)
            })?;
            let all = device.buffer(z.len())?;
            transform(device, lines, (&z, &all), true, &[&plan.points])?;
            return device.generate_into(lines.elements(), (index(), array(&all)), |(i, z)| z.at(i << 1), out);
        };
        let points = Lines { n: u64::from(half), ..*lines };
        let inputs = (index(), array(z), array(turns), scalar(half), scalar(inner));
        let z = device.generate(lines.elements(), inputs, |(i, z, turns, half, inner)| {
            let (part, line, column) = (i & 1u32, (i >> 1) / inner, (i >> 1) % inner);
            let (of, k) = (line / half, line % half);
            let at = |k: Expr<u32>| {
                let (a, b) = point(z, (of * (half + 1u32) + k) * inner + column);
                (a, select(k.eq(0) | k.eq(half), zero, b))
            };
            let ((a, b), (c, d), (e, f)) = (at(k), at(half - k), point(turns, k));
            // The conjugate of the turn, times the difference of the point and its mirror's conjugate, times i.
            let (real, (p, q)) = (part.eq(0), (a - c, b + d));
            let (left, right) = (select(real, q, p).mul_rn(e), select(real, p, q).mul_rn(f));
            let sum = select(real, (a + c) - (left - right), (b - d) + (left + right));
            sum.mul_rn(T::rounded(0.5))
        })?;
        if inner == 1 {
            return transform(device, &points, (&z, out), true, &[&plan.points]);
        }
        let all = device.buffer(z.len())?;
        transform(device, &points, (&z, &all), true, &[&plan.points])?;
        device.generate_into(
            lines.elements(),
            (index(), array(&all), scalar(inner)),
            |(i, z, inner)| {
                let (line, column) = (i / inner, i % inner);
                z.at((((line >> 1) * inner + column) << 1) + (line & 1u32))
            },
            out,
        )
    }
}
