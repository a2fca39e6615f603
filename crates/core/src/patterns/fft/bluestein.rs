//! Lengths with prime factors above 7: a convolution with a chirp, by transforms of a power of two.

use super::call::{FftPlan, transform as levels};
use super::plan::chirp;
use super::{Fft, FftScalar};
use crate::buffer::{Buffer, Memory as _};
use crate::error::Result;
use crate::host;
use crate::input::{array, index, scalar};
use crate::ir::{ArrayExpr, Expr, select};
use crate::patterns::{Lines, Map as _};

/// Points of scratch of the lines that are transformed at once, unless one has more.
const AT_ONCE: u64 = 1 << 24;

/// The chirp `exp(-pi i k^2 / n)`, and the transform of its conjugates in as many points as the convolution takes.
#[derive(Clone, Debug)]
pub(super) struct Chirp<B: Fft, T> {
    pub(super) chirp: Buffer<B, T>,
    spectrum: Buffer<B, T>,
    /// 1 / n.
    scale: T,
    plan: FftPlan<B, T>,
}

impl<B: Fft, T: FftScalar> Chirp<B, T> {
    pub(super) fn new(device: &B, n: u64) -> Result<Self> {
        let points = (2 * n - 1).next_power_of_two();
        let plan = FftPlan::new(device, points)?;
        let chirp = chirp::<T>(n)?;
        let mut around = host::filled(2 * points, T::rounded(0.0))?;
        for (k, pair) in chirp.chunks_exact(2).enumerate() {
            for at in [k, (points as usize - k) % points as usize] {
                around[2 * at..2 * at + 2].copy_from_slice(&[pair[0], T::rounded(0.0) - pair[1]]);
            }
        }
        let spectrum = device.buffer(2 * points)?;
        levels(device, &Lines::one(points), (&device.upload(&around)?, &spectrum), false, &[&plan])?;
        Ok(Self { chirp: device.upload(&chirp)?, spectrum, scale: T::rounded(1.0 / n as f64), plan })
    }
}

/// Part `part` of the product of two complex numbers, every product and sum rounded by itself.
pub(super) fn product<T: FftScalar>(part: Expr<u32>, (a, b): (Expr<T>, Expr<T>), (c, d): (Expr<T>, Expr<T>)) -> Expr<T> {
    let real = part.eq(0);
    let (left, right) = (a.mul_rn(select(real, c, d)), b.mul_rn(select(real, d, c)));
    select(real, left - right, left + right)
}

/// Point `i` of an array of pairs.
pub(super) fn point<T: FftScalar>(of: ArrayExpr<T>, i: Expr<u32>) -> (Expr<T>, Expr<T>) {
    (of.at(i << 1), of.at((i << 1) + 1u32))
}

/// Enqueues transforms of lines that were checked.
pub(super) fn transform<B: Fft, T: FftScalar>(
    device: &B,
    lines: &Lines,
    (from, to): (&Buffer<B, T>, &Buffer<B, T>),
    inverse: bool,
    chirp: &Chirp<B, T>,
) -> Result<()> {
    let points = chirp.plan.points();
    let (of_line, padded) = (lines.n * lines.inner, lines.inner * points);
    let at_once = (AT_ONCE / padded).clamp(1, lines.outer);
    let rows = at_once * lines.inner;
    let (apart, spectrum) = (device.buffer(2 * rows * points)?, device.buffer(2 * rows * points)?);
    let sizes = (scalar(lines.n as u32), scalar(lines.inner as u32), scalar(points as u32));
    let swapped = |(a, b): (Expr<T>, Expr<T>)| if inverse { (b, a) } else { (a, b) };
    for first in (0..lines.outer).step_by(at_once as usize) {
        let outer = at_once.min(lines.outer - first);
        let here = 2 * first * of_line..2 * (first + outer) * of_line;
        let (from, to) = (from.slice(here.clone())?, to.slice(here)?);
        let rows = Lines { outer: outer * lines.inner, n: points, inner: 1 };
        let floats = 2 * rows.elements();
        let rows_of = |buffer: &Buffer<B, T>| buffer.slice(..floats);
        let (apart, spectrum) = (rows_of(&apart)?, rows_of(&spectrum)?);
        device.generate_into(
            floats,
            (index(), array(&from), array(&chirp.chirp), sizes),
            |(i, z, chirp, (n, inner, points))| {
                let (part, at) = (i & 1u32, i >> 1);
                let (row, k) = (at / points, at % points);
                let source = (row / inner * n + k) * inner + row % inner;
                let value = product(part, swapped(point(z, source)), point(chirp, k));
                select(k.lt(n), value, T::rounded(0.0))
            },
            &apart,
        )?;
        levels(device, &rows, (&apart, &spectrum), false, &[&chirp.plan])?;
        device.generate_into(
            floats,
            (index(), array(&spectrum), array(&chirp.spectrum), scalar(points as u32)),
            |(i, z, chirp, points)| product(i & 1u32, point(z, i >> 1), point(chirp, (i >> 1) % points)),
            &apart,
        )?;
        levels(device, &rows, (&apart, &spectrum), true, &[&chirp.plan])?;
        device.generate_into(
            to.len(),
            (index(), array(&spectrum), array(&chirp.chirp), sizes, scalar(chirp.scale)),
            |(i, z, chirp, (n, inner, points), scale)| {
                let (part, at) = (i & 1u32, i >> 1);
                let (line, column) = (at / inner, at % inner);
                let k = line % n;
                let source = (line / n * inner + column) * points + k;
                let part = if inverse { part ^ 1u32 } else { part };
                let value = product(part, point(z, source), point(chirp, k));
                if inverse { value.mul_rn(scale) } else { value }
            },
            &to,
        )?;
    }
    Ok(())
}
