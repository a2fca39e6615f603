//! Random trees: every operation over every type, zeros that are derived, constants at the edges, parts used twice.

use super::tree::{Op, Tree};
use super::values::{Random, constant, small};
use isowarp::element::{DType, Ty};
use isowarp::numerics::Func as Elementary;

const NARROW: [Ty; 3] = [Ty::F32, Ty::I32, Ty::U32];
const ALL: [Ty; 6] = [Ty::F32, Ty::I32, Ty::U32, Ty::F64, Ty::I64, Ty::U64];

/// Makes trees over inputs of given types.
#[derive(Debug)]
pub(super) struct Maker<'r> {
    r: &'r mut Random,
    inputs: Vec<DType>,
    types: &'static [Ty],
    made: Vec<Tree>,
    /// Whether trees may fetch elements at indices that they compute.
    pub(super) fetches: bool,
    /// Whether trees may read the index.
    pub(super) index: bool,
    /// Value carried by the loop that is being made.
    carried: Option<Ty>,
    /// Elementary functions that a tree may still have: each costs a compiler as much as fifty operations.
    calls: usize,
    /// Operations that its trees may still have together.
    nodes: usize,
}

impl<'r> Maker<'r> {
    /// A maker of trees in types of 32 bits, or also in those of 64.
    pub(super) fn new(r: &'r mut Random, inputs: &[DType], wide: bool) -> Self {
        let types: &[Ty] = if wide { &ALL } else { &NARROW };
        Self { r, inputs: inputs.to_vec(), types, made: Vec::new(), fetches: true, index: true, carried: None, calls: 1, nodes: 400 }
    }

    /// The same with at most so many operations in all trees together, of which none is long.
    #[must_use]
    pub(super) fn within(mut self, nodes: usize) -> Self {
        self.nodes = nodes;
        self
    }

    /// A tree of any type.
    pub(super) fn any(&mut self, depth: usize) -> Tree {
        let ty = if self.r.chance(8) { Ty::Bool } else { self.r.pick(self.types) };
        self.tree(ty, depth)
    }

    /// A tree of a type. Parts of earlier trees come again, so that an optimiser sees them shared.
    pub(super) fn tree(&mut self, ty: Ty, depth: usize) -> Tree {
        if self.r.chance(12) {
            let same: Vec<usize> = (0..self.made.len()).filter(|&k| self.made[k].ty() == ty).collect();
            if !same.is_empty() {
                return self.made[same[self.r.below(same.len())]].clone();
            }
        }
        let tree = if depth == 0 || self.nodes == 0 || self.r.chance(8) {
            self.leaf(ty)
        } else {
            self.nodes -= 1;
            self.node(ty, depth - 1)
        };
        if self.made.len() < 64 {
            self.made.push(tree.clone());
        }
        tree
    }

    fn leaf(&mut self, ty: Ty) -> Tree {
        if self.r.chance(20) {
            return Tree::Const(ty, constant(ty, self.r));
        }
        if self.r.chance(8) {
            return self.zero(ty);
        }
        if self.carried == Some(ty) && self.r.chance(50) {
            return Tree::Carried(ty);
        }
        if ty == Ty::U32 && self.index && self.r.chance(12) {
            return Tree::Index;
        }
        let of: Vec<u8> = (0..self.inputs.len() as u8).filter(|&k| self.inputs[usize::from(k)].ty() == ty).collect();
        match (of.len(), self.inputs.len()) {
            (_, 0) => Tree::Const(ty, constant(ty, self.r)),
            (0, n) => {
                let k = self.r.below(n);
                self.made_of(Op::Cast(ty), vec![Tree::Input(k as u8, self.inputs[k].ty())])
            }
            (n, _) => Tree::Input(of[self.r.below(n)], ty),
        }
    }

    /// A zero that only an optimiser knows.
    fn zero(&mut self, ty: Ty) -> Tree {
        if self.inputs.is_empty() {
            return Tree::Const(ty, 0);
        }
        let k = self.r.below(self.inputs.len());
        let x = Tree::Input(k as u8, self.inputs[k].ty());
        let nothing = Tree::Const(x.ty(), 0);
        let zero = match (self.r.below(3), x.ty().is_float()) {
            (0, _) => self.made_of(Op::Sub, vec![x.clone(), x]),
            (1, false) => self.made_of(Op::And, vec![x, nothing]),
            (_, true) => self.made_of(Op::Mul, vec![x, nothing]),
            _ => self.made_of(Op::Lt, vec![x.clone(), x]),
        };
        if zero.ty() == ty { zero } else { self.made_of(Op::Cast(ty), vec![zero]) }
    }

    /// The operation on these operands; they fit it by construction, and where they do not, the first of them.
    fn made_of(&self, op: Op, args: Vec<Tree>) -> Tree {
        let first = args[0].clone();
        Tree::node(op, args, &self.inputs).unwrap_or(first)
    }

    fn node(&mut self, ty: Ty, depth: usize) -> Tree {
        match self.r.below(100) {
            0..=13 => return self.cast(ty, depth),
            14..=17 if ty != Ty::Bool => return self.bitcast(ty, depth),
            18..=20 if self.fetches => {
                if let Some(tree) = self.fetch(ty, depth) {
                    return tree;
                }
            }
            96..=98 if self.carried.is_none() => return self.repeat(ty, depth),
            21..=28 => {
                let op = if self.r.chance(70) { Op::Select } else { Op::Branch };
                let args = vec![self.tree(Ty::Bool, depth), self.tree(ty, depth), self.tree(ty, depth)];
                return self.made_of(op, args);
            }
            _ => {}
        }
        match ty {
            Ty::Bool => self.truth(depth),
            Ty::F32 | Ty::F64 => self.float(ty, depth),
            _ => self.integer(ty, depth),
        }
    }

    /// A loop of a few turns. What its turns have in parts is of no use outside.
    fn repeat(&mut self, ty: Ty, depth: usize) -> Tree {
        let turns = self.r.pick(&[0, 1, 2, 3, 9]);
        let first = self.tree(ty, depth);
        let outside = self.made.len();
        self.carried = Some(ty);
        let (go, next) = (self.tree(Ty::Bool, depth), self.tree(ty, depth));
        self.carried = None;
        self.made.truncate(outside);
        self.made_of(Op::Repeat(turns), vec![first, go, next])
    }

    fn cast(&mut self, ty: Ty, depth: usize) -> Tree {
        let from = if self.r.chance(15) { Ty::Bool } else { self.r.pick(self.types) };
        // One to the same type is none, and a product stays a product under it.
        let from = if from == ty && self.r.chance(80) { Ty::Bool } else { from };
        let a = self.tree(from, depth);
        self.made_of(Op::Cast(ty), vec![a])
    }

    fn bitcast(&mut self, ty: Ty, depth: usize) -> Tree {
        let same: Vec<Ty> = self.types.iter().copied().filter(|t| *t != ty && t.words() == ty.words()).collect();
        let from = self.r.pick(&same);
        let a = self.tree(from, depth);
        self.made_of(Op::Bitcast(ty), vec![a])
    }

    fn fetch(&mut self, ty: Ty, depth: usize) -> Option<Tree> {
        let of: Vec<usize> = (0..self.inputs.len()).filter(|&k| self.inputs[k].ty() == ty).collect();
        if of.is_empty() {
            return None;
        }
        let k = self.r.pick(&of) as u8;
        let ints: Vec<Ty> = self.types.iter().copied().filter(|t| t.is_int()).collect();
        let of = self.r.pick(&ints);
        let index = match (of, self.index && self.r.chance(60)) {
            // A neighbour's, or one of the first few.
            (Ty::U32, true) => {
                let by = (self.r.below(5) as u32).wrapping_sub(2);
                self.made_of(Op::Add, vec![Tree::Index, Tree::Const(Ty::U32, by.into())])
            }
            _ => {
                let a = self.tree(of, depth);
                let few = Tree::Const(of, 7);
                self.made_of(Op::And, vec![a, few])
            }
        };
        Some(self.made_of(Op::At(k), vec![index]))
    }

    fn truth(&mut self, depth: usize) -> Tree {
        let of = self.r.pick(self.types);
        match self.r.below(100) {
            0..=69 => {
                let op = self.r.pick(&[Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq, Op::Ne]);
                let (a, b) = (self.tree(of, depth), self.operand(of, depth));
                self.made_of(op, vec![a, b])
            }
            70..=79 if of.is_float() => {
                let a = self.tree(of, depth);
                self.made_of(Op::IsNan, vec![a])
            }
            80..=87 => {
                let a = self.tree(Ty::Bool, depth);
                self.made_of(Op::Not, vec![a])
            }
            _ => {
                let op = self.r.pick(&[Op::And, Op::Or, Op::Xor, Op::Eq, Op::Ne]);
                let args = vec![self.tree(Ty::Bool, depth), self.tree(Ty::Bool, depth)];
                self.made_of(op, args)
            }
        }
    }

    /// A second operand: often a constant, which optimisers have rules for.
    fn operand(&mut self, ty: Ty, depth: usize) -> Tree {
        if self.r.chance(35) { Tree::Const(ty, constant(ty, self.r)) } else { self.tree(ty, depth) }
    }

    fn of_two(&mut self, op: Op, ty: Ty, depth: usize) -> Tree {
        let mut args = vec![self.tree(ty, depth), self.operand(ty, depth)];
        if self.r.chance(25) {
            args.swap(0, 1);
        }
        self.made_of(op, args)
    }

    fn float(&mut self, ty: Ty, depth: usize) -> Tree {
        const ONE: [Op; 8] = [Op::Neg, Op::Abs, Op::Floor, Op::Ceil, Op::Trunc, Op::Round, Op::Sqrt, Op::Recip];
        const TWO: [Op; 9] = [Op::Add, Op::Add, Op::Sub, Op::Mul, Op::Mul, Op::MulRn, Op::Div, Op::Min, Op::Max];
        match self.r.below(100) {
            0..=24 => {
                let op = self.r.pick(&ONE);
                let a = self.tree(ty, depth);
                self.made_of(op, vec![a])
            }
            25..=79 => {
                let op = self.r.pick(&TWO);
                self.of_two(op, ty, depth)
            }
            80..=86 if ty == Ty::F32 && self.calls > 0 => {
                self.calls -= 1;
                let f = self.r.pick(Elementary::ALL);
                let args = (0..f.arity()).map(|_| self.tree(ty, depth)).collect();
                self.made_of(Op::Call(f), args)
            }
            k => {
                let op = if k < 95 { Op::Fma } else { Op::Clamp };
                let args = vec![self.tree(ty, depth), self.operand(ty, depth), self.operand(ty, depth)];
                self.made_of(op, args)
            }
        }
    }

    fn integer(&mut self, ty: Ty, depth: usize) -> Tree {
        const ONE: [Op; 4] = [Op::Neg, Op::Abs, Op::Not, Op::ReverseBits];
        const TWO: [Op; 10] = [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Rem, Op::Min, Op::Max, Op::And, Op::Or, Op::Xor];
        match self.r.below(100) {
            0..=19 => {
                let op = self.r.pick(&ONE);
                let a = self.tree(ty, depth);
                self.made_of(op, vec![a])
            }
            20..=39 => {
                let op = self.r.pick(&[Op::Shl, Op::Shr]);
                let a = self.tree(ty, depth);
                let by = if self.r.chance(65) { Tree::Const(Ty::U32, small(self.r)) } else { self.tree(Ty::U32, depth) };
                self.made_of(op, vec![a, by])
            }
            40..=47 if ty == Ty::U32 => {
                let ints: Vec<Ty> = self.types.iter().copied().filter(|t| t.is_int()).collect();
                let of = self.r.pick(&ints);
                let op = self.r.pick(&[Op::Popcount, Op::Clz]);
                let a = self.tree(of, depth);
                self.made_of(op, vec![a])
            }
            48..=51 if ty == Ty::U32 => self.of_two(Op::MulHi, ty, depth),
            96..=99 => {
                let args = vec![self.tree(ty, depth), self.operand(ty, depth), self.operand(ty, depth)];
                self.made_of(Op::Clamp, args)
            }
            _ => {
                let op = self.r.pick(&TWO);
                self.of_two(op, ty, depth)
            }
        }
    }
}

/// The element types that values of a type can be stored as.
#[must_use]
pub(super) fn stored_as(ty: Ty) -> Vec<DType> {
    match ty {
        Ty::Bool => vec![DType::U32],
        _ => DType::ALL.into_iter().filter(|d| d.ty() == ty).collect(),
    }
}
