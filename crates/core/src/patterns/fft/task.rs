//! Transforms of lines as data, and their launches.

use super::FftScalar;
use super::plan::{Pass, passes, radices};
use crate::backend::{Leaf, Out};
use crate::caps::Numerics;
use crate::element::DType;
use crate::error::{Error, Result};
use crate::ir::{Expr, Func, trace};
use crate::launch::kernels::{FFT, FftParams};
use crate::launch::{Array, Choice, Code, KernelSpec, Launcher, Operators, Planned, Work};
use crate::patterns::Lines;
use std::sync::OnceLock;

/// Transforms of all lines along an axis as data: the leaves are the points and the table of the plan, the output holds as many points. All are pairs of
/// floats; the output overlaps no leaf.
#[derive(Clone, Copy, Debug)]
pub struct FftTask {
    /// The lines, in points.
    pub lines: Lines,
    /// `f32` or `f64`.
    pub dtype: DType,
    /// Whether real and imaginary parts change places in the points and in the result, which is multiplied by 1 / n.
    pub inverse: bool,
}

/// Operations of a kernel's arithmetic, and a float's bits with NaN made canonical.
#[doc(hidden)]
#[derive(Debug)]
pub struct Arithmetic(Vec<(&'static str, Func)>);

impl Arithmetic {
    /// Of floats of this type.
    pub fn of(dtype: DType) -> Result<&'static Self> {
        static ALL: [OnceLock<Arithmetic>; 2] = [const { OnceLock::new() }; 2];
        let found = &ALL[usize::from(dtype == DType::F64)];
        if let Some(all) = found.get() {
            return Ok(all);
        }
        let all = if dtype == DType::F64 { Self::traced::<f64>()? } else { Self::traced::<f32>()? };
        Ok(found.get_or_init(|| all))
    }

    fn traced<T: FftScalar>() -> Result<Self> {
        Ok(Self(vec![
            ("add", trace(|(a, b): (Expr<T>, Expr<T>)| a + b)?),
            ("sub", trace(|(a, b): (Expr<T>, Expr<T>)| a - b)?),
            ("mul", trace(|(a, b): (Expr<T>, Expr<T>)| a.mul_rn(b))?),
            ("bits", trace(|a: Expr<T>| a.bitcast::<T::Bits>())?),
        ]))
    }

    /// The operations by their names.
    pub fn functions(&self) -> impl Iterator<Item = (&'static str, &Func)> {
        self.0.iter().map(|(name, f)| (*name, f))
    }
}

/// Points of a group of threads.
#[derive(Clone, Copy, Debug)]
struct Tile {
    /// The most of all lines.
    points: u64,
    /// Room in shared memory.
    room: u64,
    /// The least neighbouring lines, where lines are no whole rows.
    neighbours: u64,
    /// Whether points are in registers and shared memory holds them once: powers of two, where it is large enough.
    two: bool,
    /// Whether one in 17 is left out there, so that neighbours 16 apart meet in no bank.
    apart: bool,
}

/// The room of so many points, a multiple of 16, where one in 17 is left out.
const fn apart(points: u64) -> u64 {
    points / 16 * 17
}

/// Points of `f32` of a group that has them in registers.
const IN_REGISTERS: u64 = 4096;

impl Tile {
    fn of<B: Launcher>(device: &B, dtype: DType, n: u64, paired: bool) -> Self {
        let (ptx, shared) = (device.code() == Code::Ptx, device.tuning().shared_bytes / 8);
        let (share, neighbours) = if dtype == DType::F64 { (2, 2) } else { (1, 4) };
        let two = paired && n > 1 && n.is_power_of_two() && shared >= IN_REGISTERS;
        let points = if two {
            IN_REGISTERS
        } else if ptx {
            3072
        } else {
            1024
        } / share;
        let room = if two { (points + 64).min(shared / share) } else { points };
        Self { points, room, neighbours, two, apart: two && apart(points + 64) <= shared / share }
    }
}

/// The most points that kernels number.
const MOST: u64 = 1 << 31;

/// Some of the outermost lines, and memory by the first of its units: pairs, or words where pairs do not lie at multiples of their size.
struct Launch<'a, R> {
    lines: Lines,
    from: (&'a R, u64),
    table: (&'a R, u64),
    to: (&'a R, u64),
    paired: bool,
    /// 1: parts change places where they are read; 2: where they are written.
    swaps: u32,
}

impl FftTask {
    /// Choices of the kernel of a pass: `kind` 0 and 1 read pairs of `f32` and of `f64`, 2 and 3 words; each radix is there or is not.
    #[must_use]
    pub fn choices(dtype: DType, paired: bool, pass: &Pass) -> [Choice; 8] {
        let wide = u32::from(dtype == DType::F64);
        let of = |radix: u32| u32::from(pass.radices.contains(&radix));
        let kind = wide + if paired { 0 } else { 2 };
        let (twos, threes, fours, fives, sevens) = (of(2), of(3), of(4), of(5), of(7));
        [
            ("wide", wide),
            ("kind", kind),
            ("two", 0),
            ("twos", twos),
            ("threes", threes),
            ("fours", fours),
            ("fives", fives),
            ("sevens", sevens),
        ]
    }

    /// Choices of the kernel of all radices of pairs, or of fours and twos in registers, with room for so many points in shared memory, and so apart that one in
    /// 17 is left out or not.
    #[must_use]
    pub fn whole(dtype: DType, room: Option<(u32, bool)>) -> [Choice; 5] {
        let wide = u32::from(dtype == DType::F64);
        let (points, is_apart) = room.unwrap_or_default();
        let points = if is_apart { apart(points.into()) as u32 } else { points };
        [("wide", wide), ("kind", wide), ("two", room.is_some().into()), ("room", points), ("apart", is_apart.into())]
    }

    /// Bytes of a point.
    const fn point_bytes(&self) -> u64 {
        2 * self.dtype.size_bytes()
    }

    /// Passes over lines in shared memory.
    fn passes(&self, tile: Tile) -> Result<Vec<Pass>> {
        let Lines { n, inner, .. } = self.lines;
        let Some(radices) = radices(n) else {
            return Err(Error::InvalidArgument { what: "fft", reason: format!("{n} points have no levels") });
        };
        let most = if inner == 1 && n <= tile.points { n } else { tile.points / tile.neighbours };
        Ok(passes(&radices, most))
    }

    fn launch<B: Launcher>(&self, device: &B, tile: Tile, pass: &Pass, l: &Launch<'_, B::Raw>) -> Result<()> {
        let (points, Lines { outer, n, inner }) = (pass.points(), l.lines);
        let stride = n / points * inner;
        let (subs, rows) = (outer * stride, stride == 1);
        let fit = (tile.points / points).min(subs).max(1);
        let columns = if rows { fit } else { 1 << fit.min(32).ilog2() };
        // Lines that lie apart begin at odd distances in shared memory where there is room, so that they meet in few banks.
        let pitch = if rows { points } else { (points | 1).min(tile.room / columns) };
        let params = FftParams {
            points: points as u32,
            pitch: pitch as u32,
            columns: columns as u32,
            stride: stride as u32,
            before: (pass.before * inner) as u32,
            inner: inner as u32,
            subs: subs as u32,
            levels: pass.radices.iter().rev().fold(0, |all, &radix| all << 4 | radix),
            swaps: l.swaps,
            paired: l.paired.into(),
        };
        let (unit, per) = if l.paired { (self.point_bytes(), 1) } else { (4, self.point_bytes() / 4) };
        let all = l.lines.elements() * per;
        let arrays = [Array::of(l.from, unit, all), Array::of(l.table, unit, n * per), Array::of(l.to, unit, all)];
        let choices = Self::choices(self.dtype, l.paired, pass);
        // PTX has all radices in one kernel, and so has what takes fours and twos alone.
        let whole = Self::whole(self.dtype, tile.two.then_some((tile.room as u32, tile.apart)));
        let choices = if tile.two || device.code() == Code::Ptx { &whole[..] } else { &choices[..] };
        let functions: Vec<(&'static str, &Func)> = Arithmetic::of(self.dtype)?.functions().collect();
        let spec = KernelSpec::new(&FFT, &params, choices, &arrays);
        let spec = spec.with(Operators::Functions(&functions), Numerics::Strict, &[], &[]);
        device.launch(&spec, Work::whole(1, &|_| subs.div_ceil(columns)))
    }
}

impl<B: Launcher> Planned<B> for FftTask {
    fn drive(&self, device: &B, leaves: &[Leaf<B::Raw>], outs: &[Out<B::Raw>]) -> Result<()> {
        let ([Leaf::Elements { raw: from, offset: first, .. }, Leaf::Elements { raw: table, offset: entry, .. }], [out]) = (leaves, outs)
        else {
            return Err(Error::InvalidArgument { what: "fft", reason: "it has points, a table and one output".to_owned() });
        };
        let (lines, size) = (self.lines, self.dtype.size_bytes());
        // Arrays that a kernel does not see at once are cut between lines.
        let (of_line, most) = (lines.n * lines.inner, device.tuning().most(self.point_bytes()).min(MOST));
        if of_line > most {
            return Err(Error::TooLarge { what: "points of a transform", requested: of_line, limit: most });
        }
        let at_once = (most / of_line).min(lines.outer);
        let mut paired = true;
        for (raw, offset) in [(from, *first), (table, *entry), (&out.raw, out.offset)] {
            paired &= offset % 2 == 0 && device.phase(raw, offset * size)?.is_multiple_of(self.point_bytes());
        }
        let tile = Tile::of(device, self.dtype, lines.n, paired);
        let passes = self.passes(tile)?;
        let unit = if paired { self.point_bytes() } else { 4 };
        let scratch = if passes.len() > 1 { device.scratch(&[at_once * of_line * self.point_bytes()])? } else { Vec::new() };
        for line in (0..lines.outer).step_by(at_once as usize) {
            let at = |offset: u64| (offset + 2 * line * of_line) * size / unit;
            let part = Lines { outer: at_once.min(lines.outer - line), ..lines };
            let mut source = (from, at(*first));
            for (k, pass) in passes.iter().enumerate() {
                // The last pass writes the output, and the others the output and scratch by turns.
                let left = passes.len() - 1 - k;
                let to = match scratch.first() {
                    Some(piece) if left % 2 == 1 => (&piece.raw, piece.offset / unit),
                    _ => (&out.raw, at(out.offset)),
                };
                let swaps = if self.inverse { u32::from(k == 0) + 2 * u32::from(left == 0) } else { 0 };
                let launch = Launch { lines: part, from: source, table: (table, entry * size / unit), to, paired, swaps };
                self.launch(device, tile, pass, &launch)?;
                source = to;
            }
        }
        Ok(())
    }
}
