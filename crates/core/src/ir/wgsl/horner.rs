//! Polynomials where `fma` is emulated: the steps of Horner's rule are turns of a loop, so that the emulation stands in a kernel once to a polynomial.

use super::{WgslOptions, Writer};
use crate::element::Ty;
use crate::ir::node::{Func, Id, Node};
use core::fmt::Write as _;

/// Fewer steps are written one by one.
const MIN_STEPS: usize = 3;

/// Steps `p * x + c` of f32, each with a constant c and with the one before as p, which nothing else uses.
#[derive(Clone)]
pub(super) struct Chain {
    /// The first p.
    start: Id,
    x: Id,
    constants: Vec<Id>,
    steps: Vec<Id>,
}

impl Chain {
    /// The same with x as the factor. Of one step either is.
    fn by(&self, x: Id) -> Option<Self> {
        match self.steps[..] {
            _ if self.x == x => Some(self.clone()),
            [_] if self.start == x => Some(Self { start: self.x, x, ..self.clone() }),
            _ => None,
        }
    }
}

/// The chains of a graph that are written as loops. Steps of one stand in the same block.
pub(super) fn chains(f: &Func, options: WgslOptions) -> Vec<Chain> {
    if !options.rolls(f) {
        return Vec::new();
    }
    let (uses, blocks) = (f.uses(), f.block_of_each());
    let mut chains: Vec<Chain> = Vec::new();
    for (id, node) in (0..).zip(&f.nodes) {
        let Node::Fma(a, b, c) = *node else { continue };
        if f.types[id as usize] != Ty::F32 || !matches!(f.nodes[c as usize], Node::Const(_)) {
            continue;
        }
        let before = [(a, b), (b, a)].into_iter().find_map(|(p, x)| {
            let is_inner = uses[p as usize] == 1 && blocks[p as usize] == blocks[id as usize];
            let k = chains.iter().position(|chain| is_inner && chain.steps.last() == Some(&p))?;
            Some((k, chains[k].by(x)?))
        });
        let mut chain = match before {
            Some((k, chain)) => {
                chains.swap_remove(k);
                chain
            }
            None => Chain { start: a, x: b, constants: Vec::new(), steps: Vec::new() },
        };
        chain.constants.push(c);
        chain.steps.push(id);
        chains.push(chain);
    }
    chains.retain(|chain| chain.steps.len() >= MIN_STEPS);
    chains
}

impl Func {
    /// Number of nodes and results that take each node's value.
    fn uses(&self) -> Vec<u32> {
        let mut uses = vec![0; self.nodes.len()];
        self.nodes.iter().for_each(|node| Self::operands(node, |id| uses[id as usize] += 1));
        self.results.iter().for_each(|&id| uses[id as usize] += 1);
        uses
    }

    /// A number for the block that each node stands in: a branch has two blocks, a loop one.
    fn block_of_each(&self) -> Vec<u32> {
        let (mut blocks, mut last) = (vec![0; self.nodes.len()], 0);
        // Blocks inside of others come later.
        let mut fill = |from: Id, to: Id| {
            last += 1;
            blocks[from as usize..to as usize].fill(last);
        };
        for (id, node) in (0..).zip(&self.nodes) {
            match *node {
                Node::Branch { then_end, else_end, .. } => {
                    fill(id + 1, then_end);
                    fill(then_end, else_end);
                }
                Node::Loop { end, .. } => fill(id + 1, end),
                _ => {}
            }
        }
        blocks
    }
}

impl Writer<'_> {
    /// Writes the loop of a chain where node `i` is its last step; returns whether the node is a step of one.
    pub(super) fn polynomial(&mut self, i: Id, pad: &str) -> bool {
        let Some(chain) = self.chains.iter().find(|chain| chain.steps.contains(&i)).cloned() else { return false };
        if chain.steps.last() != Some(&i) {
            return true;
        }
        let constants: Vec<String> = chain.constants.iter().map(|&c| self.value(c)).collect();
        let (n, all) = (constants.len(), constants.join(", "));
        let args = [format!("v{i}"), self.value(chain.x), format!("c{i}[k]")];
        let (start, step) = (self.value(chain.start), self.call("iw_fma", &args));
        let _ = writeln!(self.text, "{pad}var c{i} = array<f32, {n}>({all});\n{pad}var v{i} = {start};");
        let _ = writeln!(self.text, "{pad}for (var k = 0u; k < {n}u; k++) {{\n{pad}    v{i} = {step};\n{pad}}}");
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::caps::Numerics;
    use crate::element::Ty;
    use crate::ir::{
        BinOp, Expr, Func, OpError, Operation, Operations, WgslFma, WgslOptions, branch, numerics_of, repeat, trace, wgsl_function,
    };
    use std::collections::BTreeSet;

    type F = Expr<f32>;

    fn repairs() -> Operations {
        [Operation::Bin(BinOp::Lt, Ty::F32)].into_iter().collect()
    }

    /// Numbers of loops over constants and of calls of `fma` in a text.
    fn counts(text: &str) -> (usize, usize) {
        (text.matches("array<f32").count(), text.matches("iw_fma(").count())
    }

    fn written(f: Result<Func, OpError>, fma: WgslFma, repairs: Operations) -> String {
        wgsl_function(&f.expect("operator"), "op", WgslOptions { fma, numerics: Numerics::Strict, repairs }, &mut BTreeSet::new())
    }

    fn emulated(f: Result<Func, OpError>) -> (usize, usize) {
        counts(&written(f, WgslFma::Prelude, repairs()))
    }

    /// Steps with the constants 1, 2, ...
    fn steps(x: F, start: F, n: u16) -> F {
        (1..=n).fold(start, |p, k| p.mul_add(x, f32::from(k)))
    }

    #[test]
    fn polynomials_are_loops_where_fma_is_emulated() {
        let cubic = || trace(|(x, y): (F, F)| steps(x, y, 3));
        let text = written(cubic(), WgslFma::Prelude, repairs());
        assert!(text.contains("array<f32, 3>(1.0f, 2.0f, 3.0f)") && counts(&text) == (1, 1), "{text}");
        for (fma, repairs, calls) in [(WgslFma::Native, repairs(), 0), (WgslFma::Prelude, Operations::NONE, 3)] {
            assert_eq!(counts(&written(cubic(), fma, repairs)), (0, calls), "{fma:?}");
        }
        // The argument is either factor of a step, and of the first one the start may be the other.
        assert_eq!(emulated(trace(|(x, y): (F, F)| x.mul_add(x.mul_add(x.mul_add(y, 1.0), 2.0), 3.0))), (1, 1));
        assert_eq!(emulated(trace(|x: F| steps(x, x, 3))), (1, 1));
        assert_eq!(emulated(trace(|x: F| branch(x.lt(0.0), || steps(x, x, 4), || repeat(5, x, |x| steps(x, x, 3))))), (2, 2));
    }

    #[test]
    fn steps_of_which_no_loop_can_be_made_stand_alone() {
        assert_eq!(emulated(trace(|x: F| steps(x, x, 2))), (0, 2));
        // One that is needed elsewhere begins anew, as do another argument and another block.
        assert_eq!(emulated(trace(|x: F| (steps(x, x, 2), steps(x, steps(x, x, 2), 2)))), (0, 4));
        assert_eq!(emulated(trace(|(x, y): (F, F)| steps(y, steps(x, x, 2), 2))), (0, 4));
        assert_eq!(emulated(trace(|x: F| branch(x.lt(0.0), || steps(x, steps(x, x, 2), 2), || x))), (1, 1));
        assert_eq!(
            emulated(trace(|x: F| {
                let p = steps(x, x, 2);
                branch(x.lt(0.0), || steps(x, p, 2), || x)
            })),
            (0, 4)
        );
        assert_eq!(emulated(trace(|(x, y): (F, F)| (0..3).fold(x, |p, _| p.mul_add(x, y)))), (0, 3));
    }

    #[test]
    fn definitions_have_loops_beside_repairs_alone() {
        let of = |name: &str, repairs: Operations| counts(&numerics_of(name, repairs, false).expect("definition").0);
        // Both paths of the exponential have eight steps, of which six are a polynomial.
        assert_eq!(of("iw_exp", Operations::NONE), (0, 16));
        assert_eq!(of("iw_exp", repairs()), (2, 6));
    }
}
