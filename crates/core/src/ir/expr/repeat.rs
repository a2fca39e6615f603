//! Loops of symbolic values.

use super::{Accumulator, Expr, TracedValue, lit};
use crate::ir::graph;

/// One turn of a loop: the state after it, and whether another turn follows. Made by [`next_while`] or [`next_until`], or of the state alone for a
/// loop that takes all its turns.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Turn<S> {
    state: S,
    more: Option<More>,
}

/// Condition of another turn.
#[derive(Clone, Copy, Debug)]
enum More {
    /// Holds before the state changes: where it does not, the state stays.
    While(Expr<bool>),
    /// Holds after the state has changed for the last time.
    Until(Expr<bool>),
}

/// The turn of `while go { state = next }`: where `go` is false, the loop ends and the state stays as it is.
pub fn next_while<S: Accumulator>(go: Expr<bool>, next: S) -> Turn<S> {
    Turn { state: next, more: Some(More::While(go)) }
}

/// The turn of a loop that ends once it is done: the state becomes `next`, and where `done` is true, that is its last one.
pub fn next_until<S: Accumulator>(done: Expr<bool>, next: S) -> Turn<S> {
    Turn { state: next, more: Some(More::Until(done)) }
}

impl<S: Accumulator> From<S> for Turn<S> {
    fn from(state: S) -> Self {
        Self { state, more: None }
    }
}

/// A loop of at most `turns` turns, each lane as many as it needs: the state after its last one. The closure is traced once; it takes the state before a turn and
/// returns the next one, in [`next_while`] or [`next_until`] if the loop can end before its bound. It may use values from outside, branches, elementary
/// functions and other loops.
///
/// A state is a value or a tuple of up to six, also of tuples. Its values have one type each for all turns, and are rounded when they
/// come round: a product in the state is no product to a sum of the next turn or after the loop. So a loop has the bits of its turns written one after the
/// other with [`mul_rn`](Expr::mul_rn) for such products. With a bound of no turns the closure is not traced, and the state stays.
///
/// ```
/// use isowarp::prelude::*;
///
/// // Steps in which z² + c leaves the circle of radius 2.
/// let dev = isowarp::Cpu::new();
/// let (re, im) = (dev.upload(&[0f32, 0.5, 1.0])?, dev.upload(&[0f32, 0.5, 1.0])?);
/// let steps = dev.map((&re, &im), |(re, im)| {
///     let (steps, ..) = repeat(256, (lit(0u32), lit(0f32), lit(0f32)), |(k, x, y)| {
///         let (xx, yy) = (x * x, y * y);
///         next_while((xx + yy).le(4.0), (k + 1, xx - yy + re, x * y * 2.0 + im))
///     });
///     steps
/// })?;
/// assert_eq!(steps.read_blocking()?, [256, 5, 2]);
///
/// // Newton's steps to a square root, until one changes nothing.
/// let x = dev.upload(&[2.25f64, 1e6])?;
/// let roots = dev.map(&x, |x| repeat(64, x, |y| {
///     let next = (y + x / y) * 0.5;
///     next_until(next.eq(y), next)
/// }))?;
/// assert_eq!(roots.read_blocking()?, [1.5, 1e3]);
///
/// // Always ten turns.
/// let grown = dev.map(&x, |x| repeat(10, x, |x| x * 1.5))?;
/// # assert_eq!(grown.read_blocking()?[0], 129.746_337_890_625);
/// # Ok::<(), isowarp::Error>(())
/// ```
pub fn repeat<S: Accumulator, T: Into<Turn<S>>>(turns: u32, state: S, body: impl FnOnce(S) -> T) -> S {
    let parts = |state: S| {
        let mut parts = Vec::new();
        state.push_values(&mut parts);
        parts.into_iter().map(|part: TracedValue| part.0)
    };
    let init: Vec<_> = parts(state).zip(S::types()).collect();
    let last = graph::repeat(turns, &init, |carried| {
        let turn: Turn<S> = body(S::from_values(&mut carried.iter().copied().map(TracedValue))).into();
        let (go, keeps) = match turn.more {
            None => (lit(true), false),
            Some(More::While(go)) => (go, true),
            Some(More::Until(done)) => (!done, false),
        };
        (parts(turn.state).collect(), go.value(), keeps)
    });
    S::from_values(&mut last.into_iter().map(TracedValue))
}
