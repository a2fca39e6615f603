//! Transforms of real numbers, by those of complex numbers.

use super::bluestein::{point, product};
use super::call::{FftPlan, PATTERN, check_buffers, check_lines, transform};
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
}

impl<B: Fft, T: FftScalar> RfftPlan<B, T> {
    pub(super) fn new(device: &B, n: u64) -> Result<Self> {
        if n % 2 == 1 || n == 0 {
            return Ok(Self { n, turns: None, points: FftPlan::new(device, n)? });
        }
        let points = FftPlan::new(device, n / 2)?;
        let circle = Circle::new(n);
        let mut turns = host::reserved(n + 2)?;
        for k in 0..=n / 2 {
            let (c, s) = circle.at(k);
            turns.extend([T::rounded(c), T::rounded(-s)]);
        }
        Ok(Self { n, turns: Some(device.upload(&turns)?), points })
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

/// Lines of points, `n` of them along the axis, of those of real numbers.
fn with_points(lines: &Lines, n: u64) -> Lines {
    Lines { n, ..*lines }
}

/// Fails where numbers are no lines of this shape, and where a line of points that is computed has none or too many.
fn check<B: Fft, T: FftScalar>(device: &B, lines: &Lines, n: u64, (found, expected): (u64, u64)) -> Result<()> {
    if found != expected {
        return Err(Error::LengthMismatch { what: "floats of the shape", expected, found });
    }
    check_lines(device, T::DTYPE, &with_points(lines, n))
}

/// Real numbers whose lines are transformed.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct RealTransforming<'a, B: Fft, T> {
    x: &'a Buffer<B, T>,
    along: Option<(Vec<u64>, usize)>,
    plan: Option<&'a RfftPlan<B, T>>,
}

/// A call of [`Fft::rfft`].
pub type RfftCall<'a, B, T> = ArrayCall<'a, B, RealTransforming<'a, B, T>>;

impl<'a, B: Fft, T: FftScalar> RealTransforming<'a, B, T> {
    pub(super) fn new(x: &'a Buffer<B, T>) -> Self {
        Self { x, along: None, plan: None }
    }

    fn lines(&self) -> Result<Lines> {
        self.along.as_ref().map_or(Ok(Lines::one(self.x.len())), |(shape, axis)| Lines::along(shape, *axis))
    }

    /// Points of the results.
    fn results(lines: &Lines) -> u64 {
        lines.count() * (lines.n / 2 + 1)
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
        self.with(|what| what.along = Some((shape.to_vec(), axis)))
    }

    /// Takes tables from a plan of the same length.
    pub fn plan(self, plan: &'a RfftPlan<B, T>) -> Self {
        self.with(|what| what.plan = Some(plan))
    }
}

impl<B: Fft, T: FftScalar> Arrays<B> for RealTransforming<'_, B, T> {
    type Out = Expr<T>;

    fn elements(&self, device: &B) -> Result<u64> {
        let lines = self.lines()?;
        check::<B, T>(device, &lines, lines.n, (self.x.len(), lines.elements()))?;
        Ok(2 * Self::results(&lines))
    }

    fn write(&self, device: &B, out: &Buffer<B, T>) -> Result<()> {
        let lines = self.lines()?;
        check::<B, T>(device, &lines, lines.n, (self.x.len(), lines.elements()))?;
        let floats = 2 * Self::results(&lines);
        check_buffers(device, self.x, (out, floats))?;
        if lines.count() == 0 {
            return Ok(());
        }
        let mut own = None;
        let plan = planned(device, lines.n, self.plan, &mut own)?;
        let (inner, half) = (lines.inner as u32, lines.n / 2);
        let Some(turns) = &plan.turns else {
            let z = device.generate(2 * lines.elements(), (index(), array(self.x)), |(i, x)| {
                select((i & 1u32).eq(0), x.at(i >> 1), T::rounded(0.0))
            })?;
            let all = device.buffer(z.len())?;
            transform(device, &lines, (&z, &all), false, &[&plan.points])?;
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
        let points = with_points(&lines, half);
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
    along: Option<(Vec<u64>, usize)>,
    plan: Option<&'a RfftPlan<B, T>>,
}

/// A call of [`Fft::irfft`].
pub type IrfftCall<'a, B, T> = ArrayCall<'a, B, RealInverse<'a, B, T>>;

impl<'a, B: Fft, T: FftScalar> RealInverse<'a, B, T> {
    pub(super) fn new(z: &'a Buffer<B, T>, n: u64) -> Self {
        Self { z, n, along: None, plan: None }
    }

    /// The lines of the results.
    fn lines(&self, device: &B) -> Result<Lines> {
        let kept = self.n / 2 + 1;
        let of_points = match &self.along {
            Some((shape, axis)) => Lines::along(shape, *axis)?,
            None => Lines::one(kept),
        };
        if of_points.n != kept {
            let reason = format!("{} real numbers have {kept} points, and there are {}", self.n, of_points.n);
            return Err(Error::InvalidArgument { what: PATTERN, reason });
        }
        let lines = with_points(&of_points, self.n);
        check::<B, T>(device, &lines, self.n, (self.z.len(), of_points.elements().saturating_mul(2)))?;
        Ok(lines)
    }
}

impl<'a, B: Fft, T: FftScalar> IrfftCall<'a, B, T> {
    /// The lines along an axis of a row-major array of points of this shape, `n / 2 + 1` along the axis.
    pub fn axis(self, shape: &[u64], axis: usize) -> Self {
        self.with(|what| what.along = Some((shape.to_vec(), axis)))
    }

    /// Takes tables from a plan of the same length.
    pub fn plan(self, plan: &'a RfftPlan<B, T>) -> Self {
        self.with(|what| what.plan = Some(plan))
    }
}

impl<B: Fft, T: FftScalar> Arrays<B> for RealInverse<'_, B, T> {
    type Out = Expr<T>;

    fn elements(&self, device: &B) -> Result<u64> {
        self.lines(device).map(|lines| lines.elements())
    }

    fn write(&self, device: &B, out: &Buffer<B, T>) -> Result<()> {
        let lines = self.lines(device)?;
        check_buffers(device, self.z, (out, lines.elements()))?;
        if lines.count() == 0 {
            return Ok(());
        }
        let mut own = None;
        let plan = planned(device, self.n, self.plan, &mut own)?;
        let zero = T::rounded(0.0);
        let (n, half, inner) = (lines.n as u32, lines.n as u32 / 2, lines.inner as u32);
        let Some(turns) = &plan.turns else {
            // All points: those that are not there are conjugates.
            let inputs = (index(), array(self.z), scalar(n), scalar(half), scalar(inner));
            let z = device.generate(2 * lines.elements(), inputs, |(i, z, n, half, inner)| {
                let (part, line, column) = (i & 1u32, (i >> 1) / inner, (i >> 1) % inner);
                let (of, k) = (line / n, line % n);
                let there = k.le(half);
                let (a, b) = point(z, (of * (half + 1u32) + select(there, k, n - k)) * inner + column);
                let b = select(k.eq(0), zero, select(there, b, Expr::from(zero) - b));
                select(part.eq(0), a, b)
            })?;
            let all = device.buffer(z.len())?;
            transform(device, &lines, (&z, &all), true, &[&plan.points])?;
            return device.generate_into(lines.elements(), (index(), array(&all)), |(i, z)| z.at(i << 1), out);
        };
        let points = with_points(&lines, u64::from(half));
        let inputs = (index(), array(self.z), array(turns), scalar(half), scalar(inner));
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
