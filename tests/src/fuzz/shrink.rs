//! Shrinking of a trial that failed: fewer results, fewer elements, smaller operators, plainer inputs.

use super::tree::Tree;
use super::trial::Trial;
use isowarp::element::Ty;

/// The smallest trial that still fails, of those that `tries` steps reach.
pub(super) fn shrink(mut trial: Trial, tries: usize, mut fails: impl FnMut(&Trial) -> bool) -> Trial {
    let mut left = tries;
    'again: loop {
        for smaller in smaller(&trial) {
            if left == 0 {
                return trial;
            }
            if smaller.verb.check(&smaller).is_err() {
                continue;
            }
            left -= 1;
            if fails(&smaller) {
                trial = smaller;
                continue 'again;
            }
        }
        return trial;
    }
}

fn smaller(trial: &Trial) -> Vec<Trial> {
    let mut all = Vec::new();
    let changed = |f: &dyn Fn(&mut Trial)| {
        let mut t = trial.clone();
        f(&mut t);
        t
    };
    if trial.verb.has_results() && trial.trees.len() > 1 {
        all.extend((0..trial.trees.len()).map(|k| changed(&|t| t.trees = vec![t.trees[k].clone()])));
    }
    all.extend(trial.verb.shorter(trial));
    for k in 0..trial.trees.len() {
        let (tree, dtype) = &trial.trees[k];
        if dtype.ty() == tree.ty() && *dtype != tree.ty().dtype() {
            all.push(changed(&|t| t.trees[k].1 = tree.ty().dtype()));
        }
        for r in replaced(tree) {
            all.push(changed(&|t| t.trees[k].0 = r.clone()));
        }
        // A result may be of any type.
        if let (true, Tree::Node(_, _, args)) = (trial.verb.has_results(), tree) {
            all.extend(args.iter().map(|a| changed(&|t| t.trees[k] = (a.clone(), a.ty().dtype()))));
        }
    }
    for k in 0..trial.numbers.len() {
        for to in [0, trial.numbers[k].1 / 2] {
            if to != trial.numbers[k].1 {
                all.push(changed(&|t| t.numbers[k].1 = to));
            }
        }
    }
    for k in 0..trial.inputs.len() {
        let a = &trial.inputs[k];
        if (a.lead, a.start, a.stride) != (0, 0, 1) {
            all.push(changed(&|t| {
                let a = &mut t.inputs[k];
                if a.holds(t.n) {
                    a.bits = a.seen(t.n);
                }
                (a.lead, a.start, a.stride) = (0, 0, 1);
            }));
        }
        if a.bits.len() <= 8 {
            for i in 0..a.bits.len() {
                for to in [0, 1] {
                    if a.bits[i] > to {
                        all.push(changed(&|t| t.inputs[k].bits[i] = to));
                    }
                }
            }
        }
    }
    if trial.verb.has_results() && trial.inputs.len() > 1 {
        all.extend(
            (0..trial.inputs.len() as u8)
                .filter(|&k| !trial.trees.iter().any(|(t, _)| t.reads(k)))
                .map(|k| changed(&|t| t.without_input(k))),
        );
    }
    all
}

/// A tree with one of its nodes replaced by something smaller of the same type, the root first.
fn replaced(tree: &Tree) -> Vec<Tree> {
    let Tree::Node(op, ty, args) = tree else { return Vec::new() };
    let mut all: Vec<Tree> = Vec::new();
    let mut inside = Vec::new();
    tree.visit(&mut |t| {
        if t.ty() == *ty && t.size() < tree.size() && !inside.contains(t) {
            inside.push(t.clone());
        }
    });
    inside.sort_by_key(Tree::size);
    all.extend(inside);
    if !args.iter().all(|a| matches!(a, Tree::Const(..))) {
        let one = match ty {
            Ty::F32 => 0x3F80_0000,
            Ty::F64 => 0x3FF0_0000_0000_0000,
            _ => 1,
        };
        all.extend([0, one].map(|b| Tree::Const(*ty, b)));
    }
    for k in 0..args.len() {
        for r in replaced(&args[k]) {
            let mut args = args.clone();
            args[k] = r;
            all.push(Tree::Node(*op, *ty, args));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::tree::Op;
    use crate::fuzz::{Verb, trial};

    #[test]
    fn what_fails_by_one_operation_on_one_element_is_cut_down_to_these() {
        let divides = |t: &Trial| t.trees.iter().any(|(t, _)| t.any(|t| matches!(t, Tree::Node(Op::Div, ..))));
        let seed = (0..).find(|&s| divides(&trial(s, &[Verb::Map]))).unwrap_or_default();
        let small = shrink(trial(seed, &[Verb::Map]), 5000, |t| t.n > 0 && divides(t));
        assert_eq!((small.n, small.trees.len(), small.inputs.len()), (1, 1, 1), "{small}");
        assert!(small.trees[0].0.size() <= 3, "{small}");
    }

    #[test]
    fn what_fails_by_one_element_keeps_it() {
        let trial = trial(3, &[Verb::Sort]);
        let wanted = trial.inputs[0].bits[trial.n / 2];
        let small = shrink(trial, 5000, |t| t.inputs[0].bits.contains(&wanted));
        assert_eq!((small.n, small.inputs[0].bits.len()), (1, 1), "{small}");
    }
}
