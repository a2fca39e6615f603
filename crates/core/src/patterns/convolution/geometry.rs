//! Windows of a convolution: which element of an image a window reads at a tap, as numbers and as an operator of an index.

use super::grid::{Axes, Grid, MAX_AXES};
use super::layer::{self, MAX_STEP};
use super::task::{ConvolutionTask, MAX_LINE_TERMS, MAX_TAPS};
use crate::error::{Error, Result};
use crate::ir::{Expr, lit};
use crate::patterns::Border;

/// Positions of an axis are below this, padding and all.
const MAX_POSITIONS: u64 = 1 << 31;
/// Rows of results from which on planes have a kernel of their own.
const MIN_ROWS: u64 = 4;
/// Results of a row likewise.
const MIN_COLUMNS: u64 = 64;
/// Filters of a group up to which they have it, of many slices and of few: from then on products use an element of the image often enough.
const MAX_FILTERS: [u64; 2] = [8, 16];
/// Slices that are few: one after the other they take no longer than what a product does beside its sums.
const FEW_SLICES: u64 = 4;
/// Turns of an invocation's loops: for four rows of taps at most, and for a term.
const TURNS: [u64; 2] = [80, 20];
/// Results from which on a line has it.
const MIN_LINE: u64 = 1024;
/// Elements that a 32-bit index numbers.
const NUMBERED: u64 = 1 << 32;

/// Modifiers of a convolution, as they were given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Modifiers {
    pub(super) stride: Option<Axes>,
    pub(super) dilation: Option<Axes>,
    pub(super) padding: Padding,
    pub(super) border: Border,
    pub(super) groups: u64,
    pub(super) flipped: bool,
    pub(super) transposed: Transposed,
}

/// Elements beyond the image that windows reach.
#[derive(Clone, Copy, Debug)]
pub(super) enum Padding {
    /// None.
    Without,
    /// Elements before the first and after the last one.
    By(Axes, Axes),
    /// As many as a filter has beside one of its elements.
    Same,
}

/// Kinds of convolutions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Transposed {
    /// Of images by windows.
    No,
    /// Its transpose, to the fewest elements.
    Least,
    /// Its transpose, to so many elements.
    To(Axes),
}

impl Default for Modifiers {
    fn default() -> Self {
        Self {
            stride: None,
            dilation: None,
            padding: Padding::Without,
            border: Border::Zero,
            groups: 1,
            flipped: false,
            transposed: Transposed::No,
        }
    }
}

/// An axis: tap `t` of window `o` is at `o * stride + t * dilation - before` of an image whose elements are `spacing` apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowAxis {
    /// Elements of the image.
    pub n: u64,
    /// Taps of the filter.
    pub taps: u64,
    /// Windows.
    pub out: u64,
    /// From a window to the next.
    pub stride: u64,
    /// From a tap to the next.
    pub dilation: u64,
    /// Positions before the first element that the first window begins at; negative where it begins behind it.
    pub before: i64,
    /// From an element to the next.
    pub spacing: u64,
}

/// Windows of a convolution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Geometry {
    pub(super) axes: [WindowAxis; MAX_AXES],
    pub(super) rank: usize,
    pub(super) border: Border,
    pub(super) groups: u64,
    /// Channels of a group, of the images and of the results.
    pub(super) channels: [u64; 2],
    pub(super) batch: u64,
    /// Flag: taps are read from the last to the first.
    pub(super) backwards: bool,
    /// Flag: filters are the transpose's.
    pub(super) is_transposed: bool,
}

fn invalid(what: &'static str, reason: String) -> Error {
    Error::InvalidArgument { what, reason }
}

impl Geometry {
    /// The windows of an image by filters.
    pub(super) fn new<L, R>(image: &Grid<L>, filter: &Grid<R>, of: &Modifiers) -> Result<Self> {
        image.check("image")?;
        filter.check("filter")?;
        let rank = image.extents.rank;
        if filter.extents.rank != rank {
            return Err(invalid("filter", format!("{} axes, and the image has {rank}", filter.extents.rank)));
        }
        let stride = Axes::given(of.stride, "stride", rank, 1)?;
        let dilation = Axes::given(of.dilation, "dilation", rank, 1)?;
        for (what, numbers) in [("stride", stride), ("dilation", dilation)] {
            if numbers.contains(&0) {
                return Err(invalid(what, "it is at least 1".to_owned()));
            }
        }
        let is_transposed = of.transposed != Transposed::No;
        let channels = channels_of_a_group(image, filter, of.groups, is_transposed)?;
        if is_transposed && of.border != Border::Zero {
            return Err(invalid("border", "a transposed convolution has nothing but zeros around its image".to_owned()));
        }
        let to = match of.transposed {
            Transposed::To(extents) => Some(Axes::given(Some(extents), "extents of the result", rank, 1)?),
            _ => None,
        };
        let padding = match of.padding {
            Padding::By(before, after) => {
                Some((Axes::given(Some(before), "padding", rank, 0)?, Axes::given(Some(after), "padding", rank, 0)?))
            }
            Padding::Without => Some(([0; MAX_AXES], [0; MAX_AXES])),
            Padding::Same => None,
        };
        let mut axes = [WindowAxis { n: 1, taps: 1, out: 1, stride: 1, dilation: 1, before: 0, spacing: 1 }; MAX_AXES];
        for (k, axis) in axes.iter_mut().enumerate() {
            let (n, taps) = (image.extents.of[k], filter.extents.of[k]);
            let span = dilation[k].checked_mul(taps - 1).filter(|&span| span < MAX_POSITIONS);
            let span = span.ok_or_else(|| too_long(dilation[k].saturating_mul(taps)))?;
            let (before, after) = padding.map_or((span / 2, span - span / 2), |(before, after)| (before[k], after[k]));
            let padding = before.saturating_add(after);
            let reached = n.saturating_mul(if is_transposed { stride[k] } else { 1 }).saturating_add(padding).saturating_add(span);
            if reached >= MAX_POSITIONS {
                return Err(too_long(reached));
            }
            // Indices are taken modulo the image and its mirror image.
            let mirrored = reached + 2 * n;
            if of.border == Border::Mirror && mirrored >= NUMBERED {
                let what = "elements of an axis with its padding and its mirror image";
                return Err(Error::TooLarge { what, requested: mirrored, limit: NUMBERED - 1 });
            }
            let of_axis = Span { n, span, padding, stride: stride[k] };
            *axis = if is_transposed {
                let out = of_axis.transposed(to.map(|to| to[k]))?;
                let before = span as i64 - before as i64;
                WindowAxis { n, taps, out, stride: 1, dilation: dilation[k], before, spacing: stride[k] }
            } else {
                let out = of_axis.windows(n).ok_or_else(|| {
                    let reason = format!("it is {} long with its dilation, and the image {} with its padding", span + 1, n + padding);
                    invalid("filter", reason)
                })?;
                WindowAxis { n, taps, out, stride: stride[k], dilation: dilation[k], before: before as i64, spacing: 1 }
            };
        }
        let backwards = of.flipped != is_transposed;
        Ok(Self { axes, rank, border: of.border, groups: of.groups, channels, batch: image.batch, backwards, is_transposed })
    }

    /// Axes and images where a kernel of its own computes planes: for few filters, whose windows are side by side and no larger than a tile has room for. Narrow
    /// planes leave most of its threads nothing to do; lines of one channel by one filter are the rows of a plane, and long ones are planes by themselves.
    /// Elements that are apart are side by side with zeros between them. Devices that end loops by themselves leave long sums to products.
    pub(super) fn planes(&self, loop_turns: Option<u64>) -> Option<([WindowAxis; MAX_AXES], u64)> {
        let axes = self.axes.map(|axis| WindowAxis { n: axis.reach(), spacing: 1, ..axis });
        let [z, y, x] = axes;
        let is_plain = |axis: &WindowAxis| (axis.stride, axis.dilation) == (1, 1) && axis.before >= 0;
        let slices = self.channels[0].saturating_mul(z.taps);
        let slabs = slices.saturating_mul(y.taps.div_ceil(4));
        let turns = slabs.saturating_mul(TURNS[0]).saturating_add(self.terms().saturating_mul(TURNS[1]));
        let is_long = loop_turns.is_some_and(|limit| turns > 7 * limit);
        // Sums of many slices need as many tiles, or most of the device waits for a few.
        let are_few = slices <= FEW_SLICES;
        let tiles = ConvolutionTask::tiles(&axes, self.channels[1]).saturating_mul(self.batch).saturating_mul(self.groups);
        let pays = self.channels[1] <= MAX_FILTERS[usize::from(are_few)] && (are_few || slices <= tiles);
        if !pays || is_long || !axes.iter().all(is_plain) {
            return None;
        }
        let is_small = y.taps <= MAX_TAPS && x.taps <= MAX_TAPS && x.out >= MIN_COLUMNS;
        if ConvolutionTask::is_line(&axes) {
            if x.out >= MIN_LINE && self.terms() <= MAX_LINE_TERMS {
                return Some((axes, self.batch));
            }
            let rows = WindowAxis { n: self.batch, out: self.batch, ..y };
            let is_plane = self.groups == 1 && self.channels == [1, 1] && self.batch >= MIN_ROWS;
            return (is_small && is_plane).then_some(([z, rows, x], 1));
        }
        (is_small && y.out >= MIN_ROWS).then_some((axes, self.batch))
    }

    /// Images whose elements are apart with the zeros between them, as the windows of one tap that have their elements.
    pub(super) fn spread(&self) -> Option<Self> {
        let of_one = |axis: WindowAxis| WindowAxis { taps: 1, out: axis.reach(), stride: 1, dilation: 1, before: 0, ..axis };
        self.axes.iter().any(|axis| axis.spacing > 1).then(|| Self { axes: self.axes.map(of_one), ..*self })
    }

    /// Tests whether a kernel finds the elements of windows by steps along their axes: beyond images they read zeros, or nothing.
    pub(super) fn is_layer(&self) -> bool {
        let is_plain = |axis: &WindowAxis| {
            let last = ((axis.out - 1) * axis.stride + (axis.taps - 1) * axis.dilation) as i64 - axis.before;
            let is_small = axis.stride.max(axis.dilation) <= MAX_STEP && (0..=MAX_STEP as i64).contains(&axis.before);
            is_small && axis.spacing == 1 && (self.border == Border::Zero || (axis.before == 0 && last < axis.n as i64))
        };
        let points = self.axes.iter().fold(1, |a: u64, axis| a.saturating_mul(axis.n));
        let elements = points.saturating_mul(self.channels[0]).saturating_mul(self.groups).saturating_mul(self.batch);
        let are_few =
            self.taps() <= layer::MAX_TAPS && self.windows().saturating_mul(self.batch) < MAX_POSITIONS && elements < NUMBERED - 1;
        are_few && self.axes.iter().all(is_plain)
    }

    /// The extents of a result.
    pub(super) fn extents(&self) -> Vec<u64> {
        self.axes[MAX_AXES - self.rank..].iter().map(|axis| axis.out).collect()
    }

    /// Windows of an image.
    pub(super) fn windows(&self) -> u64 {
        self.axes.iter().fold(1, |a: u64, axis| a.saturating_mul(axis.out))
    }

    /// Taps of a channel of a filter.
    pub(super) fn taps(&self) -> u64 {
        self.axes.iter().fold(1, |a: u64, axis| a.saturating_mul(axis.taps))
    }

    /// Terms of a sum.
    pub(super) fn terms(&self) -> u64 {
        self.taps().saturating_mul(self.channels[0])
    }

    /// Elements of all windows of all images.
    pub(super) fn elements(&self) -> Result<u64> {
        let groups = self.batch.saturating_mul(self.groups);
        let requested = self.windows().saturating_mul(self.terms()).saturating_mul(groups);
        if requested > NUMBERED {
            return Err(Error::TooLarge { what: "elements of the windows of a convolution", requested, limit: NUMBERED });
        }
        Ok(requested)
    }

    /// The element of the images that element `i` of the windows is, and whether there is one; windows are row-major as images and groups, channels of a
    /// group, taps, and windows of an image.
    pub(super) fn element(&self, i: Expr<u32>) -> (Expr<u32>, Option<Expr<bool>>) {
        let windows = self.windows();
        let (rest, window) = (divided(i, windows), remainder(i, windows));
        let taps = self.taps();
        let (plane, tap) = (divided(rest, taps), remainder(rest, taps));
        let outs = digits(window, self.axes.map(|axis| axis.out));
        let taps = digits(tap, self.axes.map(|axis| axis.taps));
        let (mut at, mut inside) = (Some(plane), None);
        for ((axis, out), tap) in self.axes.iter().zip(outs).zip(taps) {
            let (x, is_there) = axis.element(self.border, out, tap);
            at = sum(at.map(|at| scaled(at, axis.n)), x);
            inside = match (inside, is_there) {
                (Some(a), Some(b)) => Some(a & b),
                (a, b) => a.or(b),
            };
        }
        (at.unwrap_or_else(|| lit(0u32)), inside)
    }

    /// The element of the filters that element `i` of their matrices is: row-major as images and groups, channels of the results in a group, and terms.
    pub(super) fn weight(&self, i: Expr<u32>) -> Expr<u32> {
        let ([inputs, outputs], taps) = (self.channels, self.taps());
        let filters = self.groups * outputs * inputs * taps;
        let i = if self.batch > 1 && self.groups > 1 { remainder(i, filters) } else { i };
        let tap = remainder(i, taps);
        let read = if self.backwards { lit((taps - 1) as u32) - tap } else { tap };
        if !self.is_transposed {
            return i - tap + read;
        }
        let (rest, channel) = (divided(divided(i, taps), inputs), remainder(divided(i, taps), inputs));
        let (group, filter) = (divided(rest, outputs), remainder(rest, outputs));
        scaled(scaled(scaled(group, inputs) + channel, outputs) + filter, taps) + read
    }

    /// Tests whether element `i` of the matrices of filters is element `i` of the filters.
    pub(super) fn has_plain_weights(&self) -> bool {
        !self.backwards && !self.is_transposed && (self.batch <= 1 || self.groups == 1)
    }
}

/// The channels of a group of images and of results.
fn channels_of_a_group<L, R>(image: &Grid<L>, filter: &Grid<R>, groups: u64, is_transposed: bool) -> Result<[u64; 2]> {
    if groups == 0 {
        return Err(invalid("groups", "there is at least one".to_owned()));
    }
    for (what, channels) in [("channels of the image", image.channels), ("filters", filter.batch)] {
        if !channels.is_multiple_of(groups) {
            return Err(invalid("groups", format!("{groups} groups do not divide {channels} {what}")));
        }
    }
    let inputs = image.channels / groups;
    if is_transposed {
        let (expected, found) = (image.channels, filter.batch);
        if expected != found {
            return Err(Error::LengthMismatch { what: "filters of a transposed convolution", expected, found });
        }
        return Ok([inputs, filter.channels]);
    }
    if inputs != filter.channels {
        return Err(Error::LengthMismatch { what: "channels of a filter", expected: inputs, found: filter.channels });
    }
    Ok([inputs, filter.batch / groups])
}

fn too_long(requested: u64) -> Error {
    Error::TooLarge { what: "elements of an axis with its padding", requested, limit: MAX_POSITIONS - 1 }
}

/// An axis of an image: elements, those of a filter after its first one, those beyond the image, and the stride.
struct Span {
    n: u64,
    span: u64,
    padding: u64,
    stride: u64,
}

impl Span {
    /// Windows of `n` elements.
    fn windows(&self, n: u64) -> Option<u64> {
        Some((n + self.padding).checked_sub(self.span + 1)? / self.stride + 1)
    }

    /// Elements of the transpose's results.
    fn transposed(&self, to: Option<u64>) -> Result<u64> {
        let Self { n, span, padding, stride } = *self;
        let least = ((n - 1) * stride + span + 1).checked_sub(padding).filter(|&out| out > 0);
        match (least, to) {
            (None, None) => {
                let reason = format!("{padding} elements, and no result has any");
                Err(invalid("padding", reason))
            }
            (Some(least), None) => Ok(least),
            (_, Some(to)) if to > 0 && to < MAX_POSITIONS && self.windows(to) == Some(n) => Ok(to),
            (_, Some(to)) => {
                let reason = format!("{to} elements, of which a convolution makes {} and not {n}", self.windows(to).unwrap_or(0));
                Err(invalid("extents of the result", reason))
            }
        }
    }
}

impl WindowAxis {
    /// Positions from the first element to the last.
    fn reach(&self) -> u64 {
        (self.n - 1) * self.spacing + 1
    }

    /// The element at a window's tap, by the border's rule; `None` is 0. Beside it whether there is one, where it may lack.
    fn element(&self, border: Border, out: Option<Expr<u32>>, tap: Option<Expr<u32>>) -> (Option<Expr<u32>>, Option<Expr<bool>>) {
        let Self { n, taps, out: windows, stride, dilation, before, spacing } = *self;
        let position = sum(out.map(|o| scaled(o, stride)), tap.map(|t| scaled(t, dilation)));
        let last = ((windows - 1) * stride + (taps - 1) * dilation) as i64 - before;
        let inside = before <= 0 && last <= (n as i64 - 1) * spacing as i64;
        let moved = |by: i64| match by {
            0 => position,
            _ => Some(position.unwrap_or_else(|| lit(0u32)) + (by as u32)),
        };
        let number = n as u32;
        if inside && spacing == 1 {
            return (moved(-before), None);
        }
        match border {
            Border::Zero => {
                let at = moved(-before).unwrap_or_else(|| lit(0u32));
                let within = (!inside).then(|| at.lt(self.reach() as u32));
                let on = (spacing > 1).then(|| remainder(at, spacing).eq(0));
                let there = match (within, on) {
                    (Some(a), Some(b)) => Some(a & b),
                    (a, b) => a.or(b),
                };
                (Some(divided(at, spacing)), there)
            }
            Border::Clamp => {
                let at = position.unwrap_or_else(|| lit(0u32));
                (Some((at.max(before as u32) - before as u32).min(number - 1)), None)
            }
            Border::Mirror if n == 1 => (None, None),
            Border::Mirror => {
                let period = 2 * (n as i64 - 1);
                let at = moved((-before).rem_euclid(period)).map(|at| remainder(at, period as u64));
                (at.map(|at| at.min(lit(period as u32) - at)), None)
            }
            Border::Wrap => (moved((-before).rem_euclid(n as i64)).map(|at| remainder(at, n)), None),
        }
    }
}

/// Digits of a number whose places have these sizes; `None` is 0.
fn digits(i: Expr<u32>, sizes: [u64; MAX_AXES]) -> [Option<Expr<u32>>; MAX_AXES] {
    let mut found = [None; MAX_AXES];
    let (mut behind, first) = (1, sizes.iter().position(|&n| n > 1));
    for k in (0..MAX_AXES).rev() {
        if sizes[k] > 1 {
            let quotient = divided(i, behind);
            found[k] = Some(if Some(k) == first { quotient } else { remainder(quotient, sizes[k]) });
        }
        behind *= sizes[k];
    }
    found
}

fn sum(a: Option<Expr<u32>>, b: Option<Expr<u32>>) -> Option<Expr<u32>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}

fn scaled(i: Expr<u32>, by: u64) -> Expr<u32> {
    if by == 1 { i } else { i * by as u32 }
}

/// `i / by`. A divisor that no index reaches gives 0.
fn divided(i: Expr<u32>, by: u64) -> Expr<u32> {
    match by {
        1 => i,
        _ if by >= NUMBERED => lit(0u32),
        _ if by.is_power_of_two() => i >> by.ilog2(),
        _ => i / by as u32,
    }
}

fn remainder(i: Expr<u32>, by: u64) -> Expr<u32> {
    match by {
        1 => lit(0u32),
        _ if by >= NUMBERED => i,
        _ if by.is_power_of_two() => i & (by - 1) as u32,
        _ => i % by as u32,
    }
}
