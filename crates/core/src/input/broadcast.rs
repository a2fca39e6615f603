//! Arrays that are repeated along axes.

use super::{Collector, Input, Narrow, Source, Values, array, index};
use crate::backend::Backend;
use crate::buffer::{Buffer, View};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::ir::{ArrayExpr, Expr, lit};

/// An array of one shape as an input of another, along whose axes it is repeated. See [`Buffer::broadcast`].
#[derive(Clone, Debug)]
pub struct Broadcast<B: Backend, T> {
    elements: View<B, T>,
    from: Vec<u64>,
    to: Vec<u64>,
}

impl<B: Backend, T: Element> Buffer<B, T> {
    /// The elements as an input of shape `to`, in no memory: a row-major array of shape `from` that is repeated along axes where it has one element and `to`
    /// has more. Shapes are aligned at their last axes, and axes that `from` lacks are of one element: NumPy's rules. A view is
    /// [broadcast](View::broadcast) likewise.
    ///
    /// Shapes are constants of the kernel: an index is divided by their products, or shifted by powers of two. There are at most 2^32 elements. What takes
    /// the input fails with [`Error::InvalidArgument`] for shapes that do not fit, and with [`Error::LengthMismatch`] for other than as many elements as `from`
    /// says.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let (rows, columns) = (2, 3);
    /// let m = dev.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// // Each row less its greatest element.
    /// let greatest = dev.reduce(&m, Max).axis(&[rows, columns], 1).run()?;
    /// let less = dev.map((&m, greatest.broadcast(&[rows, 1], &[rows, columns])), |(x, g)| x - g)?;
    /// assert_eq!(less.read_blocking()?, [-2.0, -1.0, 0.0, -2.0, -1.0, 0.0]);
    /// // A number to each column, in every row; any verb takes it.
    /// let weights = dev.upload(&[1.0f32, 0.0, 10.0])?;
    /// let weighted = (&m, weights.broadcast(&[columns], &[rows, columns])).map(|(x, w)| x * w);
    /// assert_eq!(dev.reduce(weighted, Sum).axis(&[rows, columns], 1).run()?.read_blocking()?, [31.0, 64.0]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn broadcast(&self, from: &[u64], to: &[u64]) -> Broadcast<B, T> {
        View { buffer: self.clone(), start: 0, len: self.len(), stride: 1 }.broadcast(from, to)
    }
}

impl<B: Backend, T: Element> View<B, T> {
    /// As [`Buffer::broadcast`], of the view's elements.
    ///
    /// ```
    /// # use isowarp::prelude::*;
    /// # let dev = isowarp::Cpu::new();
    /// let x = dev.upload(&[1u32, 2, 3])?;
    /// assert_eq!(dev.map(x.reversed().broadcast(&[3, 1], &[3, 2]), |x| x)?.read_blocking()?, [3, 3, 2, 2, 1, 1]);
    /// # Ok::<(), isowarp::Error>(())
    /// ```
    #[must_use]
    pub fn broadcast(&self, from: &[u64], to: &[u64]) -> Broadcast<B, T> {
        Broadcast { elements: self.clone(), from: from.to_vec(), to: to.to_vec() }
    }
}

/// Neighbouring axes that are all there, or all repeated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Group {
    /// Elements of the result along them.
    n: u64,
    /// Whether the array has as many.
    own: bool,
}

/// The axes of a result in groups, the last first, without those of one element.
fn groups(from: &[u64], to: &[u64]) -> Result<Vec<Group>> {
    let fail = || Error::InvalidArgument { what: "shapes", reason: format!("{from:?} is not broadcast to {to:?}") };
    if from.len() > to.len() {
        return Err(fail());
    }
    let mut groups: Vec<Group> = Vec::new();
    let sizes = from.iter().rev().copied().chain(core::iter::repeat(1));
    for (&n, own) in to.iter().rev().zip(sizes) {
        if own != n && own != 1 {
            return Err(fail());
        }
        match groups.last_mut() {
            _ if n == 1 => {}
            Some(last) if last.own == (own == n) => last.n = last.n.saturating_mul(n),
            _ => groups.push(Group { n, own: own == n }),
        }
    }
    Ok(groups)
}

/// Elements of a shape.
fn elements(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |a, &n| a.saturating_mul(n))
}

/// The element of the array that is element `i` of the result.
fn place(groups: &[Group], i: Expr<u32>) -> Expr<u32> {
    let (mut place, mut behind, mut stride) = (lit(0u32), 1u64, 1u64);
    for (k, group) in groups.iter().enumerate() {
        if group.own {
            let quotient = divided(i, behind);
            let at = if k + 1 == groups.len() { quotient } else { remainder(quotient, group.n) };
            place = if stride == 1 { at } else { at * stride as u32 + place };
            stride *= group.n;
        }
        behind = behind.saturating_mul(group.n);
    }
    place
}

fn divided(i: Expr<u32>, by: u64) -> Expr<u32> {
    if by.is_power_of_two() { i >> by.ilog2() } else { i / by as u32 }
}

fn remainder(i: Expr<u32>, by: u64) -> Expr<u32> {
    if by.is_power_of_two() { i & (by - 1) as u32 } else { i % by as u32 }
}

impl<B: Backend, T: Element> Source for Broadcast<B, T> {
    type Exprs = Expr<T::Reg>;

    fn exprs(&self, next: &mut u16) -> Self::Exprs {
        let (x, i): (ArrayExpr<T>, Expr<u32>) = (array(&self.elements.buffer), index()).exprs(next);
        // Shapes that do not fit were refused.
        let place = place(&groups(&self.from, &self.to).unwrap_or_default(), i);
        let View { start, stride, .. } = self.elements;
        let steps = match stride {
            1 => place,
            _ => place * stride as u32,
        };
        x.at(if start == 0 { steps } else { steps + start as u32 })
    }
}

impl<B: Backend, T: Element> Input<B> for Broadcast<B, T> {
    fn collect(&self, c: &mut Collector<B>) -> Result<()> {
        groups(&self.from, &self.to)?;
        let (expected, found) = (elements(&self.from), self.elements.len);
        if expected != found {
            return Err(Error::LengthMismatch { what: "elements of the shape", expected, found });
        }
        let (requested, limit) = (elements(&self.to).max(self.elements.buffer.len()), 1 << 32);
        if requested > limit {
            return Err(Error::TooLarge { what: "elements of an array that is broadcast", requested, limit });
        }
        c.length(elements(&self.to))?;
        (array(&self.elements.buffer), index()).collect(c)
    }
}

impl<B: Backend, T: Element> Values<B> for Broadcast<B, T> {
    type Out = Narrow<T>;
    fn out(x: Expr<T::Reg>) -> Narrow<T> {
        x.store_as()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_axes_are_joined_and_those_of_one_element_dropped() {
        let of = |from: &[u64], to: &[u64]| groups(from, to).expect("shapes that fit").iter().map(|g| (g.n, g.own)).collect::<Vec<_>>();
        assert_eq!(of(&[3, 1], &[3, 4]), [(4, false), (3, true)]);
        assert_eq!(of(&[4], &[2, 3, 4]), [(4, true), (6, false)]);
        assert_eq!(of(&[5, 1, 6], &[5, 1, 6]), [(30, true)]);
        assert_eq!(of(&[2, 1, 1, 7], &[2, 5, 1, 7]), [(7, true), (5, false), (2, true)]);
        assert_eq!(of(&[], &[2]), [(2, false)]);
        assert_eq!(of(&[1], &[1, 1]), []);
    }
}
