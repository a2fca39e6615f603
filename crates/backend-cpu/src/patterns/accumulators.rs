//! Accumulators of several parts, as lanes.

use crate::operands::Operands;
use isowarp_core::ir::{Evaluator, Func, LANES};

/// Accumulators: one row of lanes for each part.
#[derive(Clone, Debug)]
pub(super) struct Accumulators {
    pub(super) parts: Vec<Vec<u64>>,
}

impl Accumulators {
    pub(super) fn new(parts: usize) -> Self {
        Self { parts: vec![Vec::new(); parts] }
    }

    pub(super) fn len(&self) -> usize {
        self.parts.first().map_or(0, Vec::len)
    }

    /// Loads the elements `first, first + step, ...`.
    pub(super) fn load(operands: &Operands<'_>, load: &Func, first: u64, step: u64, count: usize) -> Self {
        let mut e = Evaluator::new(load);
        let mut all = Self::new(load.results.len());
        for at in (0..count).step_by(LANES) {
            let lanes = LANES.min(count - at);
            operands.eval(load, &mut e, first + at as u64 * step, step, lanes);
            for (k, part) in all.parts.iter_mut().enumerate() {
                part.extend_from_slice(&e.result(k)[..lanes]);
            }
        }
        all
    }

    /// Elements `first..first + count`.
    pub(super) fn part(&self, first: usize, count: usize) -> Self {
        Self { parts: self.parts.iter().map(|p| p[first..first + count].to_vec()).collect() }
    }

    pub(super) fn push(&mut self, of: &Self, i: usize) {
        for (to, from) in self.parts.iter_mut().zip(&of.parts) {
            to.push(from[i]);
        }
    }
}

/// The combining operator, with its registers.
pub(super) struct Combiner<'f> {
    evaluator: Evaluator<'f>,
    parts: usize,
}

impl<'f> Combiner<'f> {
    pub(super) fn new(combine: &'f Func) -> Self {
        Self { evaluator: Evaluator::new(combine), parts: combine.results.len() }
    }

    /// Combines pairs of accumulators: `pairs(l)` gives the places of the left and the right operand of lane `l`, and `put(part, l, value)` takes the results.
    pub(super) fn pairs(
        &mut self,
        left: &Accumulators,
        right: &Accumulators,
        count: usize,
        pairs: impl Fn(usize) -> (usize, usize),
        mut put: impl FnMut(usize, usize, u64),
    ) {
        let parts = self.parts;
        for at in (0..count).step_by(LANES) {
            let lanes = LANES.min(count - at);
            let load = |k: u16, out: &mut [u64]| {
                let k = usize::from(k);
                for (l, o) in out.iter_mut().enumerate() {
                    let (a, b) = pairs(at + l);
                    *o = if k < parts { left.parts[k][a] } else { right.parts[k - parts][b] };
                }
            };
            self.evaluator.eval(lanes, load, |_, _| 0);
            for part in 0..parts {
                for (l, &v) in self.evaluator.result(part)[..lanes].iter().enumerate() {
                    put(part, at + l, v);
                }
            }
        }
    }

    /// For every pair of places, all at once: the element at `to(pair)` becomes the left one combined with the right one.
    pub(super) fn merge(&mut self, x: &mut Accumulators, pairs: &[(usize, usize)], to: impl Fn((usize, usize)) -> usize) {
        let mut made = Accumulators::new(self.parts);
        self.pairs(x, x, pairs.len(), |l| pairs[l], |part, _, v| made.parts[part].push(v));
        for (all, new) in x.parts.iter_mut().zip(&made.parts) {
            pairs.iter().zip(new).for_each(|(&pair, &v)| all[to(pair)] = v);
        }
    }
}

/// Applies the finishing operator to accumulators; `put(output, index, value)` takes its results.
pub(super) fn finish(func: &Func, a: &Accumulators, mut put: impl FnMut(usize, usize, u64)) {
    let mut e = Evaluator::new(func);
    for at in (0..a.len()).step_by(LANES) {
        let lanes = LANES.min(a.len() - at);
        e.eval(lanes, |k, out| out.copy_from_slice(&a.parts[usize::from(k)][at..at + out.len()]), |_, _| 0);
        for r in 0..func.results.len() {
            for (l, &v) in e.result(r)[..lanes].iter().enumerate() {
                put(r, at + l, v);
            }
        }
    }
}
