//! Every pair of operations, generated: where two meet, optimisers of drivers err. One operation over another in each place that an operand has, over
//! loads of every stored type, with constants, zeros that are derived and truth values among the operands; all special values meet.
//!
//! A kernel has up to 32 expressions, and 8 if they call elementary functions: of eight, the bits are folded into one result
//! (`31 * folded + bits`). The same expressions are computed by plain loops in the test `pairs_of_operations_are_those_of_loops`; a case that differs is
//! taken apart by `isowarp-conformance fuzz`.

use crate::case::{Cases, Output, Target};
use crate::fuzz::{Array, Op, Tree, Trial, Verb, crossed, input};
use isowarp::Result;
use isowarp::element::{DType, Ty};
use isowarp::numerics::Func as Elementary;
use std::collections::BTreeMap;

/// Expressions of one result.
const FOLDED: usize = 8;

/// Expressions of one kernel.
const TOGETHER: usize = 4 * FOLDED;

/// Words of which the first and the last are what a branch tells.
const TOLD: [u32; 3] = [0, 1, 100];

const NUMBERS: [Ty; 6] = [Ty::F32, Ty::I32, Ty::U32, Ty::F64, Ty::I64, Ty::U64];

pub(super) fn cases<B: Target>(c: &mut Cases<B>) {
    for (name, trial) in pairs() {
        let needs = trial.needs();
        let long = name.starts_with("pairs/functions/");
        c.add(name, move |d| if long { run_apart(&trial, d) } else { trial.run(d) }).needs(&needs).full();
    }
}

/// A kernel for each result. Where `fma` is emulated, elementary functions of four of them together are 80,000 operations, on which SwiftShader's
/// compiler ends the process.
fn run_apart<B: Target>(trial: &Trial, device: &B) -> Result<Vec<Output>> {
    let apart = trial.trees.iter().map(|tree| Trial { trees: vec![tree.clone()], ..trial.clone() });
    Ok(apart.map(|one| one.run(device)).collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// The cases by name, as trials, which plain loops can compute too.
#[must_use]
pub fn pairs() -> Vec<(String, Trial)> {
    let mut all = Expressions::default();
    for ty in NUMBERS {
        all.unary_over_unary(ty.dtype());
        all.unary_over_binary(ty.dtype());
        all.binary_over_unary(ty.dtype());
        all.binary_over_binary(ty.dtype());
        all.choices(ty.dtype());
        all.truths(ty.dtype());
        all.multiples(ty.dtype());
    }
    for dtype in DType::STORED {
        all.unary_over_unary(dtype);
        all.over_conversions(dtype);
    }
    for dtype in [DType::I32, DType::U64, DType::I8] {
        all.branches(dtype);
    }
    for others in [[DType::F32, DType::I32, DType::U32], [DType::F64, DType::I32, DType::U64]] {
        all.zeros(others);
    }
    all.functions();
    all.trials()
}

/// Key of expressions that belong together: the kind of pair, the types of the inputs, the types beyond 32 bits that a device needs.
type Key = (&'static str, Vec<DType>, String);

#[derive(Default)]
struct Expressions(BTreeMap<Key, Vec<Tree>>);

impl Expressions {
    fn add(&mut self, kind: &'static str, inputs: &[DType], tree: Option<Tree>) {
        let Some(tree) = tree else { return };
        let mut wide = Vec::new();
        tree.visit(&mut |t| {
            if t.ty().words() == 2 && !wide.contains(&t.ty().name()) {
                wide.push(t.ty().name());
            }
        });
        wide.sort_unstable();
        let of = if wide.is_empty() { "32".to_owned() } else { wide.join("_") };
        self.0.entry((kind, inputs.to_vec(), of)).or_default().push(tree);
    }

    fn unary_over_unary(&mut self, dtype: DType) {
        let inputs = [dtype];
        for first in unary_of(&input(0, &inputs)) {
            for second in unary_of(&first) {
                self.add("unary_over_unary", &inputs, Some(second));
            }
        }
    }

    fn unary_over_binary(&mut self, dtype: DType) {
        let inputs = [dtype, dtype];
        let [x, y] = [0, 1].map(|k| input(k, &inputs));
        for first in binary_of(&x, &y) {
            for second in unary_of(&first) {
                self.add("unary_over_binary", &inputs, Some(second));
            }
        }
    }

    /// The result of one operation as either operand of another, beside another value, itself before the operation, and constants.
    fn binary_over_unary(&mut self, dtype: DType) {
        for first in unary_of(&input(0, &[dtype])) {
            if first.ty() != Ty::Bool {
                let inputs = [dtype, first.ty().dtype()];
                for second in both_of(&first, &input(1, &inputs)) {
                    self.add("binary_over_unary", &inputs, Some(second));
                }
            }
            self.beside_what_is_known(dtype, &first);
        }
    }

    /// Of loads of a stored type: what they are converted to, or have as their size, in every operation.
    fn over_conversions(&mut self, dtype: DType) {
        let converts = |t: &Tree| matches!(t, Tree::Node(Op::Cast(_) | Op::Abs, ..));
        for first in unary_of(&input(0, &[dtype])).into_iter().filter(converts) {
            self.beside_what_is_known(dtype, &first);
        }
    }

    /// A value with itself, and by constants, in comparisons with others: converted to every type of numbers.
    fn multiples(&mut self, dtype: DType) {
        let inputs = [dtype];
        let x = input(0, &inputs);
        let converted = NUMBERS.iter().filter_map(|&ty| if ty == x.ty() { Some(x.clone()) } else { made(Op::Cast(ty), [&x]) });
        for value in converted {
            let ty = value.ty();
            let mut firsts = binary_of(&value, &value);
            for by in [2, 3, 1 << 16] {
                firsts.extend(
                    [Op::Add, Op::Sub, Op::Mul, Op::And, Op::Div].map(|op| made(op, [&value, &number(ty, by)])).into_iter().flatten(),
                );
            }
            firsts.extend([1, 17].map(|by| made(Op::Shl, [&value, &Tree::Const(Ty::U32, by)])).into_iter().flatten());
            firsts.retain(|first| first.ty() == ty && ty != Ty::Bool);
            for (first, against) in firsts.iter().flat_map(|f| [0, 1, 2].map(|c| (f, number(ty, c)))) {
                for op in [Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq] {
                    self.add("multiples", &inputs, made(op, [first, &against]));
                }
            }
        }
    }

    /// Operations on a value and constants or what it was made of, and its shifts by constants.
    fn beside_what_is_known(&mut self, dtype: DType, value: &Tree) {
        let x = input(0, &[dtype]);
        if value.ty() == x.ty() {
            for over in both_of(value, &x) {
                self.add("binary_over_unary", &[dtype], Some(over));
            }
        }
        for other in constants(value.ty()).iter().step_by(2) {
            let compared = [Op::Gt, Op::Ge].into_iter().filter_map(|op| made(op, [value, other]));
            for over in binary_of(value, other).into_iter().chain(compared) {
                self.add("binary_over_unary", &[dtype], Some(over));
            }
        }
        for by in [1, 9, 16, 31, 32, 63] {
            for op in [Op::Shl, Op::Shr] {
                self.add("constant_shifts", &[dtype], made(op, [value, &Tree::Const(Ty::U32, by)]));
            }
        }
    }

    fn binary_over_binary(&mut self, dtype: DType) {
        let inputs = [dtype, dtype];
        let [x, y] = [0, 1].map(|k| input(k, &inputs));
        for first in binary_of(&x, &y) {
            for second in both_of(&first, &x) {
                self.add("binary_over_binary", &inputs, Some(second));
            }
        }
        for one in constants(dtype.ty()).iter().take(2) {
            for first in binary_of(&x, one) {
                for second in binary_of(&first, one) {
                    self.add("binary_over_binary", &inputs[..1], Some(second));
                }
            }
        }
    }

    /// Choices between values, zeros of both signs and constants, by each comparison; and bounds.
    fn choices(&mut self, dtype: DType) {
        let inputs = [dtype, dtype];
        let [x, y] = [0, 1].map(|k| input(k, &inputs));
        let [zero, one, other] = constants(dtype.ty()).try_into().unwrap_or_else(|_| [0, 1, 2].map(|b| Tree::Const(dtype.ty(), b)));
        let minus = made(Op::Neg, [&x]).unwrap_or_else(|| x.clone());
        let negative_zero = Tree::Const(dtype.ty(), sign(dtype.ty()));
        let arms = [
            (&x, &y),
            (&y, &x),
            (&x, &minus),
            (&minus, &x),
            (&zero, &x),
            (&x, &zero),
            (&zero, &negative_zero),
            (&one, &zero),
            (&other, &y),
        ];
        for op in [Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq, Op::Ne] {
            for against in [&y, &zero] {
                for (a, b) in arms {
                    let cond = made(op, [&x, against]);
                    self.add("choices", &inputs, cond.and_then(|c| made(Op::Select, [&c, a, b])));
                }
            }
        }
        for (low, high) in [(&zero, &y), (&y, &other), (&minus, &x), (&zero, &other), (&y, &y)] {
            self.add("choices", &inputs, made(Op::Clamp, [&x, low, high]));
        }
    }

    /// Operations in a block that is entered where a word is zero or a hundred, and on its bits turned over.
    fn branches(&mut self, dtype: DType) {
        let inputs = [dtype, dtype];
        let [x, y] = [0, 1].map(|k| input(k, &inputs));
        let mut blocks = unary_of(&x);
        blocks.extend(binary_of(&x, &y));
        if let Some(turned) = made(Op::Not, [&x]) {
            blocks.push(turned.clone());
            blocks.extend(both_of(&turned, &y));
        }
        for block in &blocks {
            let other = number(block.ty(), 1);
            for (op, told, first, second) in [(Op::Ne, TOLD[0], &other, block), (Op::Eq, TOLD[2], block, &other)] {
                let cond = made(op, [&x, &number(x.ty(), told)]);
                self.add("branches", &inputs, cond.and_then(|c| made(Op::Branch, [&c, first, second])));
            }
        }
    }

    /// Truth values in arithmetic of every type, and among each other.
    fn truths(&mut self, dtype: DType) {
        let inputs = [dtype, dtype];
        let [x, y] = [0, 1].map(|k| input(k, &inputs));
        let nothing = constants(dtype.ty()).swap_remove(0);
        let compared: Vec<Tree> =
            [(Op::Lt, &y), (Op::Eq, &y), (Op::Ge, &nothing)].iter().filter_map(|(op, b)| made(*op, [&x, b])).collect();
        for (k, c) in compared.iter().enumerate() {
            for ty in NUMBERS {
                // One comparison as a number of every type, the others as one of their own.
                let number = made(Op::Cast(ty), [c]).filter(|_| k == 0 || ty == x.ty());
                let beside = if ty == x.ty() { Some(y.clone()) } else { made(Op::Cast(ty), [&x]) };
                let (Some(number), Some(beside)) = (number, beside) else { continue };
                for over in unary_of(&number).into_iter().chain(both_of(&number, &beside)) {
                    self.add("truths", &inputs, Some(over));
                }
            }
            for over in binary_of(c, &compared[(k + 1) % compared.len()]) {
                self.add("truths", &inputs, Some(over));
            }
        }
    }

    /// Zeros that an optimiser derives, where their sign or a NaN beside them counts: in the first of these types, from each of them.
    fn zeros(&mut self, types: [DType; 3]) {
        let ty = types[0].ty();
        for other in types {
            let inputs = [types[0], other];
            let [x, y] = [0, 1].map(|k| input(k, &inputs));
            let nothing = Tree::Const(y.ty(), 0);
            let derived = [
                made(Op::Sub, [&y, &y]),
                made(Op::And, [&y, &nothing]),
                made(Op::Mul, [&y, &nothing]),
                made(Op::Xor, [&y, &y]),
                made(Op::Lt, [&y, &y]),
                made(Op::Lt, [&y, &nothing]),
                made(Op::Min, [&y, &nothing]),
            ];
            for zero in derived.into_iter().flatten() {
                let zero = if zero.ty() == ty { zero } else { Tree::Node(Op::Cast(ty), ty, vec![zero]) };
                let minus = Tree::Node(Op::Neg, ty, vec![zero.clone()]);
                let product = Tree::Node(Op::Mul, ty, vec![zero.clone(), x.clone()]);
                let mut over =
                    vec![made(Op::Sub, [&product, &zero]), made(Op::Add, [&minus, &x]), made(Op::Mul, [&minus, &x]), Some(minus)];
                for op in [Op::Add, Op::Sub, Op::Mul, Op::MulRn, Op::Div, Op::Min, Op::Max] {
                    over.extend([made(op, [&x, &zero]), made(op, [&zero, &x])]);
                }
                over.extend([Op::Abs, Op::Sqrt, Op::Recip, Op::Cast(Ty::I32)].map(|op| made(op, [&zero])));
                over.extend([[&x, &zero, &x], [&x, &x, &zero], [&zero, &x, &zero]].map(|args| made(Op::Fma, args)));
                over.push(made(Op::Lt, [&x, &zero]).and_then(|c| made(Op::Select, [&c, &zero, &x])));
                over.into_iter().for_each(|tree| self.add("zeros", &inputs, tree));
            }
        }
    }

    /// Elementary functions next to what changes a sign, a type or nothing but the bits' name. Each over one of these, since one is as long as fifty
    /// operations; what is over a function shares it.
    fn functions(&mut self) {
        let inputs = [DType::F32, DType::I32];
        let [x, y] = [0, 1].map(|k| input(k, &inputs));
        let before = [
            made(Op::Neg, [&x]),
            made(Op::Abs, [&x]),
            made(Op::Cast(Ty::F32), [&y]),
            made(Op::Bitcast(Ty::F32), [&y]),
            made(Op::Mul, [&x, &x]),
        ];
        for (k, &f) in Elementary::ALL.iter().enumerate() {
            let call = |a: &Tree| {
                let mut args = vec![a.clone(), x.clone()];
                args.truncate(f.arity());
                Tree::node(Op::Call(f), args, &[])
            };
            self.add("functions", &inputs, before[k % before.len()].as_ref().and_then(call));
            let Some(called) = call(&x) else { continue };
            for op in
                [Op::Neg, Op::Abs, Op::IsNan, Op::Floor, Op::Cast(Ty::I32), Op::Cast(Ty::U32), Op::Bitcast(Ty::U32), Op::Cast(Ty::Bool)]
            {
                self.add("functions", &inputs, made(op, [&called]));
            }
            for op in [Op::Add, Op::Mul, Op::Min, Op::Lt] {
                self.add("functions", &inputs, made(op, [&called, &x]));
            }
        }
    }

    fn trials(self) -> Vec<(String, Trial)> {
        let mut all = Vec::new();
        for ((kind, dtypes, of), trees) in self.0 {
            // Of four elements together a block is entered where one has to, which tells nothing: these are fewer.
            let few = || [TOLD.map(u64::from), [3, u64::MAX >> (64 - 8 * dtypes[0].size_bytes()), 77]];
            let inputs = match kind {
                "branches" => dtypes.iter().zip(few()).map(|(&dtype, bits)| Array::plain(dtype, bits.to_vec())).collect(),
                _ => crossed(&dtypes),
            };
            let types: Vec<&str> = dtypes.iter().map(|d| d.name()).collect();
            // Results of 32 bits and of 64 are folded apart.
            let (narrow, wide): (Vec<Tree>, Vec<Tree>) = trees.into_iter().partition(|t| t.ty().words() == 1);
            for (width, trees) in [(32, narrow), (64, wide)] {
                // A kernel has room for four results.
                let beside = kind == "multiples" && of.contains("f64");
                for (k, together) in trees.chunks(if beside { TOGETHER - FOLDED } else { TOGETHER }).enumerate() {
                    let mut folded: Vec<_> =
                        together.chunks(FOLDED).filter_map(folded).map(|t| (t.ty().dtype(), t)).map(|(d, t)| (t, d)).collect();
                    // Drivers call a function for a quotient of f64, and make other code beside it.
                    if beside {
                        let (x, over) = (input(0, &dtypes), number(Ty::F64, 97));
                        let x = if x.ty() == Ty::F64 { Some(x) } else { made(Op::Cast(Ty::F64), [&x]) };
                        folded.extend(x.and_then(|x| made(Op::Div, [&over, &x])).map(|t| (t, DType::F64)));
                    }
                    let n = inputs.first().map_or(0, |a| a.bits.len());
                    let trial = Trial { verb: Verb::Map, n, numbers: Vec::new(), inputs: inputs.clone(), trees: folded };
                    all.push((format!("pairs/{kind}/{}/{of}/to{width}/{k}", types.join("_")), trial));
                }
            }
        }
        all
    }
}

fn made<const N: usize>(op: Op, args: [&Tree; N]) -> Option<Tree> {
    Tree::node(op, args.map(Clone::clone).to_vec(), &[])
}

/// Every operation of one operand on a value; elementary functions are apart.
fn unary_of(a: &Tree) -> Vec<Tree> {
    let plain = |op: &Op| op.arity() == 1 && !matches!(op, Op::Call(_));
    let same = |op: &Op| *op != Op::Cast(a.ty());
    Op::all().into_iter().filter(plain).filter(same).filter_map(|op| made(op, [a])).collect()
}

/// Every operation of two operands on two values. `a > b` is `b < a` from the start, so whoever has both orders has all comparisons.
fn binary_of(a: &Tree, b: &Tree) -> Vec<Tree> {
    let plain = |op: &Op| op.arity() == 2 && !matches!(op, Op::Call(_) | Op::Gt | Op::Ge);
    let mut all: Vec<Tree> = Op::all().into_iter().filter(plain).filter_map(|op| made(op, [a, b])).collect();
    if a.ty().is_int() && b.ty() != Ty::U32 && b.ty() != Ty::Bool {
        let by = Tree::Node(Op::Cast(Ty::U32), Ty::U32, vec![b.clone()]);
        all.extend([Op::Shl, Op::Shr].into_iter().filter_map(|op| made(op, [a, &by])));
    }
    all
}

/// The same in both orders.
fn both_of(a: &Tree, b: &Tree) -> Vec<Tree> {
    let mut all = binary_of(a, b);
    all.extend(binary_of(b, a));
    all
}

/// Zero, and two others, of a type.
fn constants(ty: Ty) -> Vec<Tree> {
    let bits = match ty {
        Ty::Bool => return vec![Tree::Const(ty, 0), Tree::Const(ty, 1)],
        Ty::F32 => [0, 0x3F80_0000, 0xC020_0000],
        Ty::F64 => [0, 0x3FF0_0000_0000_0000, 0xC004_0000_0000_0000],
        _ => [0, 1, 100],
    };
    bits.map(|b| Tree::Const(ty, b)).to_vec()
}

/// A whole number of a type.
fn number(ty: Ty, value: u32) -> Tree {
    let bits = match ty {
        Ty::F32 => u64::from((value as f32).to_bits()),
        Ty::F64 => f64::from(value).to_bits(),
        _ => u64::from(value),
    };
    Tree::Const(ty, bits)
}

/// The bit of a float's sign; of integers the greatest bit too.
fn sign(ty: Ty) -> u64 {
    1 << (32 * ty.words() - 1)
}

/// One value of several: `31 * (31 * a + b) + c` of their bits.
fn folded(trees: &[Tree]) -> Option<Tree> {
    let wide = trees.first()?.ty().words() == 2;
    let ty = if wide { Ty::U64 } else { Ty::U32 };
    let bits = |t: &Tree| match t.ty() {
        Ty::Bool => made(Op::Cast(Ty::U32), [t]),
        of if of == ty => Some(t.clone()),
        _ => made(Op::Bitcast(ty), [t]),
    };
    let by = Tree::Const(ty, 31);
    let mut all = trees.iter().map(bits);
    let first = all.next()??;
    all.try_fold(first, |sum, next| made(Op::Mul, [&sum, &by]).and_then(|s| made(Op::Add, [&s, &next?])))
}
