//! Lowering to PTX: the text that replaces a hole in a kernel.
//!
//! Registers are untyped (`.b32`, `.b64`, `.pred`); every float instruction carries `.rn`, so that nothing is contracted. Integer operations that
//! NVIDIA's assembler gets wrong beside others are written in forms that it cannot see through: see `forms`.

mod forms;
mod loops;
mod ops;

use super::neighbours::OfFour;
use super::node::{BinOp, Func, Id, Node};
use super::symbolic::definition;
use crate::caps::Numerics;
use crate::element::Ty;
use crate::numerics::Func as Elementary;
use core::fmt::Write as _;
use core::ops::Range;
use ops::bits;

/// A value in a PTX register.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PtxValue {
    /// The register's name.
    pub reg: String,
    /// The value's type.
    pub ty: Ty,
}

/// Text of one PTX scope that is being written: instructions and the registers that they need.
#[derive(Debug, Default)]
pub struct Ptx {
    text: String,
    words: u32,
    doubles: u32,
    predicates: u32,
    labels: u32,
    /// Where the last line starts and the fresh register that it writes, if that is what it does.
    last: Option<(usize, String)>,
    numerics: Numerics,
    /// Of several sets of arguments, whether each is still in the loop that is being written; empty where all are.
    active: Vec<PtxValue>,
    /// Whether value parameters are elements from memory, of which the assembler knows nothing.
    loaded: bool,
    /// Where 64 bits lie that are zero whenever the kernel runs, and whether the text reads one word or both of them.
    zero: (String, [bool; 2]),
}

/// One fetch from an array parameter.
#[derive(Clone, Copy, Debug)]
pub struct Fetched<'a> {
    /// The array's place among the parameters.
    pub param: u16,
    /// The index.
    pub index: &'a PtxValue,
    /// The index as the sum of a value parameter and a constant, if that is what it is.
    pub sum: Option<(u16, i64)>,
    /// Index of the set of arguments that it belongs to.
    pub lane: usize,
}

/// Callback that fetches from a graph's array parameters.
pub type Fetch<'a> = &'a mut dyn FnMut(&mut Ptx, Fetched<'_>) -> PtxValue;

impl Ptx {
    /// An empty scope of a kernel that has a 64-bit parameter at `zero` (`kernel_param_0+264`), which every launch sets to zero and of which the
    /// assembler knows nothing.
    #[must_use]
    pub fn new(numerics: Numerics, zero: impl Into<String>) -> Self {
        Self { numerics, zero: (zero.into(), [false; 2]), ..Self::default() }
    }

    /// Says that the value parameters of what is called from now on are elements from memory or of the argument block, not results of operations.
    pub fn parameters_are_loaded(&mut self) {
        self.loaded = true;
    }

    /// A fresh register for a value of this type.
    pub fn fresh(&mut self, ty: Ty) -> PtxValue {
        let (count, prefix) = match (ty, ty.words()) {
            (Ty::Bool, _) => (&mut self.predicates, "%ip"),
            (_, 1) => (&mut self.words, "%iw"),
            _ => (&mut self.doubles, "%id"),
        };
        let reg = format!("{prefix}{count}");
        *count += 1;
        PtxValue { reg, ty }
    }

    /// Appends one instruction.
    pub fn line(&mut self, instruction: impl AsRef<str>) {
        self.last = None;
        self.text.push('\t');
        self.text.push_str(instruction.as_ref());
        self.text.push_str(";\n");
    }

    /// Appends a nested scope: text in braces, which takes no semicolon.
    pub fn block(&mut self, text: impl AsRef<str>) {
        self.last = None;
        self.text.push('\t');
        self.text.push_str(text.as_ref());
        self.text.push('\n');
    }

    /// Appends a label and returns its name; it is unique in the scope.
    pub fn new_label(&mut self) -> String {
        let l = format!("$IW_{}", self.labels);
        self.labels += 1;
        l
    }

    /// Places a label here.
    pub fn label(&mut self, name: &str) {
        self.last = None;
        let _ = writeln!(self.text, "{name}:");
    }

    /// The text; in braces where it declares registers or labels, which are a compiler's work too.
    #[must_use]
    pub fn finish(self) -> String {
        let (zero, reads) = &self.zero;
        if [self.words, self.doubles, self.predicates, self.labels] == [0; 4] && !reads.contains(&true) {
            return self.text;
        }
        let mut out = String::from("{\n");
        for (n, kind, prefix) in [(self.words, "b32", "%iw"), (self.doubles, "b64", "%id"), (self.predicates, "pred", "%ip")] {
            if n > 0 {
                let _ = writeln!(out, "\t.reg .{kind} {prefix}<{n}>;");
            }
        }
        // Before all branches: what reads it may stand in any of them.
        for ((reg, kind), _) in forms::ZEROS.iter().zip(reads).filter(|(_, read)| **read) {
            let _ = writeln!(out, "\t.reg .{kind} {reg};\n\tld.param.{kind} {reg}, [{zero}];");
        }
        out.push_str(&self.text);
        out.push_str("}\n");
        out
    }

    /// A constant.
    pub fn constant(&mut self, ty: Ty, bits: u64) -> PtxValue {
        let v = self.fresh(ty);
        match (ty, ty.words()) {
            (Ty::Bool, _) => self.line(format!("setp.ne.u32 {}, {}, 0", v.reg, u32::from(bits != 0))),
            (_, 1) => self.line(format!("mov.b32 {}, 0x{:08X}", v.reg, bits as u32)),
            _ => self.line(format!("mov.b64 {}, 0x{bits:016X}", v.reg)),
        }
        v
    }

    /// A value from 32-bit word registers, low word first; a `Bool` is a word that is zero or not. One word is read where it lies.
    pub fn from_words(&mut self, ty: Ty, words: &[String]) -> PtxValue {
        match (ty, words) {
            (Ty::Bool, [w, ..]) => {
                let v = self.fresh(ty);
                self.line(format!("setp.ne.u32 {}, {w}, 0", v.reg));
                v
            }
            (_, [lo, hi, ..]) if ty.words() == 2 => {
                let v = self.fresh(ty);
                self.line(format!("mov.b64 {}, {{{lo}, {hi}}}", v.reg));
                v
            }
            (_, [w, ..]) => PtxValue { reg: w.clone(), ty },
            (_, []) => self.constant(ty, 0),
        }
    }

    /// Writes values to 32-bit word registers, one behind the other, low words first. It comes last in a scope: words may be those of operands.
    pub fn to_words(&mut self, values: &[PtxValue], words: &[String]) {
        let mut values = values.to_vec();
        if words.len() > 1 {
            // A word that is written must not have been what a later value is read from.
            for v in values.iter_mut().filter(|v| words.contains(&v.reg)) {
                let from = v.clone();
                *v = self.fresh(v.ty);
                self.mov(v, &from);
            }
        }
        let once = |v: &PtxValue| values.iter().filter(|other| other.reg == v.reg).count() == 1;
        let mut words = words.iter();
        for v in &values {
            match (v.ty, words.next()) {
                (_, None) => {}
                (Ty::Bool, Some(w)) => self.line(format!("selp.b32 {w}, 1, 0, {}", v.reg)),
                (ty, Some(lo)) if ty.words() == 2 => {
                    if let Some(hi) = words.next() {
                        self.line(format!("mov.b64 {{{lo}, {hi}}}, {}", v.reg));
                    }
                }
                (_, Some(w)) if once(v) => self.assign(v, w),
                (_, Some(w)) => self.line(format!("mov.b32 {w}, {}", v.reg)),
            }
        }
    }

    /// Writes a value that is not read again to a register; where the last line computes it, by that line.
    fn assign(&mut self, v: &PtxValue, word: &str) {
        let Some((at, _)) = self.last.take().filter(|(_, reg)| *reg == v.reg) else {
            return self.line(format!("mov.b32 {word}, {}", v.reg));
        };
        // The first operand of an instruction is the one that it writes.
        let line = self.text[at..].replacen(&v.reg, word, 1);
        self.text.truncate(at);
        self.text.push_str(&line);
        if self.words > 0 && v.reg == format!("%iw{}", self.words - 1) {
            self.words -= 1;
        }
    }

    /// The value with a NaN made canonical; other types pass through.
    pub fn canonical(&mut self, v: &PtxValue) -> PtxValue {
        if !v.ty.is_float() {
            return v.clone();
        }
        let (p, out) = (self.fresh(Ty::Bool), self.fresh(v.ty));
        let (t, b, nan) = match v.ty {
            Ty::F64 => ("f64", "b64", "0x7FF8000000000000"),
            _ => ("f32", "b32", "0x7FC00000"),
        };
        self.line(format!("setp.nan.{t} {}, {}, {}", p.reg, v.reg, v.reg));
        self.line(format!("selp.{b} {}, {nan}, {}, {}", out.reg, v.reg, p.reg));
        out
    }

    /// Inlines a graph: the registers of its results. `args[k]` is value parameter `k` (array parameters' entries are ignored).
    pub fn call(&mut self, f: &Func, args: &[PtxValue], fetch: Fetch<'_>) -> Vec<PtxValue> {
        self.call_lanes(f, &[args.to_vec()], fetch).swap_remove(0)
    }

    /// Inlines a graph for several sets of arguments at once, operation by operation, so that the sets' instructions can overlap and
    /// a branch is taken once for all of them: where any set needs a block, all compute it and each selects its own result.
    pub fn call_lanes(&mut self, f: &Func, args: &[Vec<PtxValue>], fetch: Fetch<'_>) -> Vec<Vec<PtxValue>> {
        self.lanes(f, args, &[], fetch)
    }

    /// As [`call_lanes`](Self::call_lanes) for four neighbours, the first of which has an index that is a multiple of four; `shared` says which value
    /// parameters are the same for all, and is true of an index. Values that the four have in common are computed once.
    pub fn call_four(&mut self, f: &Func, args: &[Vec<PtxValue>], shared: &[bool], fetch: Fetch<'_>) -> Vec<Vec<PtxValue>> {
        self.lanes(f, args, &f.of_four(shared), fetch)
    }

    fn lanes(&mut self, f: &Func, args: &[Vec<PtxValue>], four: &[OfFour], fetch: Fetch<'_>) -> Vec<Vec<PtxValue>> {
        let mut values: Vec<Values> = vec![vec![None; f.nodes.len()]; args.len()];
        self.range((f, four), 0..f.nodes.len() as Id, args, &mut values, fetch);
        let telling = forms::telling(f);
        let mut result = |lane: &Values, (k, &r): (usize, &Id)| match value(lane, r) {
            v if telling[k] => self.untold(&v),
            v => v,
        };
        values.iter().map(|lane| f.results.iter().enumerate().map(|of| result(lane, of)).collect()).collect()
    }

    fn range(&mut self, (f, four): Graph<'_>, nodes: Range<Id>, args: &[Vec<PtxValue>], values: &mut [Values], fetch: Fetch<'_>) {
        let mut i = nodes.start;
        while i < nodes.end {
            let node = f.nodes[i as usize];
            if let Node::Branch { else_end, .. } = node {
                self.branch((f, four), i, args, values, &mut *fetch);
                i = else_end;
                continue;
            }
            if let Node::Loop { end, .. } = node {
                self.repeat((f, four), i, args, values, &mut *fetch);
                i = end;
                continue;
            }
            let of_four = four.get(i as usize).copied().unwrap_or(OfFour::Own);
            // Lanes that compute the value; the second pair's comes to the second place meanwhile.
            let own = match of_four {
                OfFour::Shared => 1,
                OfFour::Paired => 2,
                OfFour::Own | OfFour::Place(_) => values.len(),
            };
            let paired = of_four == OfFour::Paired;
            if paired {
                values.swap(1, 2);
            }
            if let Node::Call1(..) | Node::Call2(..) = node {
                self.elementary(node, i, &mut values[..own]);
            } else {
                let other = f.other_word(i, nodes.end);
                for (k, lane_values) in values.iter_mut().enumerate().take(own) {
                    let lane = if paired { 2 * k } else { k };
                    if lane_values[i as usize].is_some() {
                        // The other word of a product that is written.
                        continue;
                    }
                    if let (Some(other), Node::Bin(op, a, b)) = (other, node) {
                        let (low, high) = self.wide_product(f, (a, b), &value(lane_values, a), &value(lane_values, b));
                        let (this, that) = if op == BinOp::MulHi { (high, low) } else { (low, high) };
                        lane_values[i as usize] = Some(this);
                        lane_values[other as usize] = Some(that);
                        continue;
                    }
                    let v = if let OfFour::Place(mask) = of_four {
                        self.constant(f.types[i as usize], lane as u64 & u64::from(mask))
                    } else if let Node::Fetch(param, a) = node {
                        let (index, sum) = (&value(lane_values, a), f.param_and_constant(a));
                        fetch(self, Fetched { param, index, sum, lane })
                    } else {
                        self.step(f, i, &args[lane], lane_values)
                    };
                    lane_values[i as usize] = Some(v);
                }
            }
            if paired {
                values.swap(1, 2);
            }
            for k in 0..values.len() {
                let from = match of_four {
                    OfFour::Shared => 0,
                    OfFour::Paired => k & 2,
                    OfFour::Own | OfFour::Place(_) => continue,
                };
                let v = values[from][i as usize].clone();
                values[k][i as usize] = v;
            }
            i += 1;
        }
    }

    fn step(&mut self, f: &Func, i: Id, args: &[PtxValue], values: &[Option<PtxValue>]) -> PtxValue {
        let (node, ty) = (f.nodes[i as usize], f.types[i as usize]);
        match node {
            Node::Param(k) => args.get(usize::from(k)).cloned().unwrap_or_else(|| self.constant(ty, 0)),
            Node::Const(bits) => self.constant(ty, bits),
            Node::Un(op, a) if forms::rounds(op) => {
                let v = self.converted(f, a, &value(values, a), ty);
                self.un(op, &v, ty)
            }
            Node::Un(op, a) => self.un(op, &value(values, a), ty),
            Node::Bin(BinOp::Mul, a, b) if ty.is_int() => self.product(f, (a, b), &value(values, a), &value(values, b)),
            Node::Bin(BinOp::Sub, a, b) if ty.is_int() => self.difference(f, (a, b), &value(values, a), &value(values, b)),
            Node::Bin(BinOp::Div, a, b) if ty == Ty::I32 => self.quotient(f, b, &value(values, a), &value(values, b)),
            Node::Bin(op @ (BinOp::Min | BinOp::Max), a, b) if ty.is_int() => {
                self.extreme(f, op, (a, b), &value(values, a), &value(values, b))
            }
            Node::Bin(op, a, b) => self.bin(op, &value(values, a), &value(values, b), ty),
            Node::Fma(a, b, c) => {
                let (a, b, c) = (value(values, a), value(values, b), value(values, c));
                self.emit(ty, |o| format!("fma.rn.{} {o}, {}, {}, {}", ty.name(), a.reg, b.reg, c.reg))
            }
            Node::Select(c, a, b) => self.select(&value(values, c), &value(values, a), &value(values, b)),
            Node::Cast(a) if forms::is_low_word(f, a, ty) => {
                let v = self.cast(&value(values, a), ty);
                self.unknown(&v)
            }
            Node::Cast(a) => {
                let v = self.converted(f, a, &value(values, a), ty);
                self.cast(&v, ty)
            }
            Node::Bitcast(a) if f.types[a as usize].is_int() && ty.is_int() => self.cast(&value(values, a), ty),
            Node::Bitcast(a) | Node::Reinterpret(a) if ty.is_float() && forms::is_truth(f, a) => {
                let v = self.unknown(&value(values, a));
                PtxValue { reg: v.reg, ty }
            }
            Node::Bitcast(a) => {
                let v = self.canonical(&value(values, a));
                PtxValue { reg: v.reg, ty }
            }
            Node::Reinterpret(a) => PtxValue { reg: value(values, a).reg, ty },
            Node::Carried { init, .. } => {
                let v = self.fresh(ty);
                self.mov(&v, &value(values, init));
                v
            }
            Node::Fetch(..) | Node::Call1(..) | Node::Call2(..) | Node::Branch { .. } | Node::Loop { .. } => undefined(ty),
        }
    }

    /// The branch at node `i`. A block without nodes needs no jump.
    fn branch(&mut self, (f, four): Graph<'_>, i: Id, args: &[Vec<PtxValue>], values: &mut [Values], fetch: Fetch<'_>) {
        let Node::Branch { cond, then_end, then_result, else_end, else_result } = f.nodes[i as usize] else { return };
        let ty = f.types[i as usize];
        let conds: Vec<PtxValue> = values.iter().map(|v| value(v, cond)).collect();
        let outs: Vec<PtxValue> = conds.iter().map(|_| self.fresh(ty)).collect();
        let (first_done, done) = (self.new_label(), self.new_label());
        if then_end > i + 1 {
            let zero = self.constant(ty, 0);
            outs.iter().for_each(|o| self.mov(o, &zero));
            let any = self.any(&conds);
            let any = self.untold(&any);
            self.line(format!("@!{} bra {first_done}", any.reg));
            self.range((f, four), i + 1..then_end, args, values, &mut *fetch);
        }
        for (o, v) in outs.iter().zip(values.iter()) {
            self.mov(o, &value(v, then_result));
        }
        self.label(&first_done);
        let all = self.all(&conds);
        let all = self.untold(&all);
        self.line(format!("@{} bra {done}", all.reg));
        self.range((f, four), then_end..else_end, args, values, &mut *fetch);
        for ((o, c), v) in outs.iter().zip(&conds).zip(values.iter()) {
            let chosen = self.select(c, o, &value(v, else_result));
            self.mov(o, &chosen);
        }
        self.label(&done);
        for (o, v) in outs.into_iter().zip(values.iter_mut()) {
            v[i as usize] = Some(o);
        }
    }

    /// All or any of some truth values.
    fn fold(&mut self, values: &[PtxValue], op: &str) -> PtxValue {
        let mut folded = values.first().cloned().unwrap_or_else(|| undefined(Ty::Bool));
        for v in values.iter().skip(1) {
            folded = self.emit(Ty::Bool, |o| format!("{op}.pred {o}, {}, {}", folded.reg, v.reg));
        }
        folded
    }

    fn elementary(&mut self, node: Node, i: Id, values: &mut [Values]) {
        let args = |lane: &Values| match node {
            Node::Call1(_, a) => vec![value(lane, a)],
            Node::Call2(_, a, b) => vec![value(lane, a), value(lane, b)],
            _ => Vec::new(),
        };
        let (Node::Call1(func, _) | Node::Call2(func, ..)) = node else { return };
        let args: Vec<Vec<PtxValue>> = values.iter().map(args).collect();
        if self.numerics == Numerics::Fast && has_fast_form(func) {
            for (lane, args) in values.iter_mut().zip(&args) {
                lane[i as usize] = self.fast(func, &args[0]);
            }
            return;
        }
        // A definition is proven over correctly rounded division and square root.
        let numerics = std::mem::replace(&mut self.numerics, Numerics::Strict);
        let results = self.call_lanes(&definition(func), &args, &mut |p, _| p.constant(Ty::F32, 0));
        self.numerics = numerics;
        for (lane, mut result) in values.iter_mut().zip(results) {
            lane[i as usize] = result.pop();
        }
    }

    /// The hardware's own function where there is one. Bounds for normal arguments and results, as measured on an H200: `ex2` 2.1 ULP, `rsqrt` 1.6,
    /// `lg2` 2.4 but between 1/2 and 2 an absolute 2^-22. The constant and the product before `ex2` are off by 2^-23.7 of `x`, so `exp` is within
    /// 2.1 + 1.23 |x| ULP; the product after `lg2` leaves `log` an absolute 2^-22 between 1/2 and 2, and 3.4 ULP elsewhere.
    fn fast(&mut self, func: Elementary, x: &PtxValue) -> Option<PtxValue> {
        const LOG2_E: u64 = 0x3FB8_AA3B;
        const LN_2: u64 = 0x3F31_7218;
        Some(match func {
            Elementary::Exp2 => self.emit(Ty::F32, |o| format!("ex2.approx.f32 {o}, {}", x.reg)),
            Elementary::Log2 => self.emit(Ty::F32, |o| format!("lg2.approx.f32 {o}, {}", x.reg)),
            Elementary::Rsqrt => self.emit(Ty::F32, |o| format!("rsqrt.approx.f32 {o}, {}", x.reg)),
            Elementary::Exp => {
                let k = self.constant(Ty::F32, LOG2_E);
                let y = self.emit(Ty::F32, |o| format!("mul.rn.f32 {o}, {}, {}", x.reg, k.reg));
                self.emit(Ty::F32, |o| format!("ex2.approx.f32 {o}, {}", y.reg))
            }
            Elementary::Log => {
                let k = self.constant(Ty::F32, LN_2);
                let y = self.emit(Ty::F32, |o| format!("lg2.approx.f32 {o}, {}", x.reg));
                self.emit(Ty::F32, |o| format!("mul.rn.f32 {o}, {}, {}", y.reg, k.reg))
            }
            _ => return None,
        })
    }

    /// One instruction into a fresh register.
    pub fn emit(&mut self, ty: Ty, instruction: impl FnOnce(&str) -> String) -> PtxValue {
        let (at, out) = (self.text.len(), self.fresh(ty));
        self.line(instruction(&out.reg));
        self.last = Some((at, out.reg.clone()));
        out
    }

    /// Copies a value into an existing register of its type.
    pub fn mov(&mut self, to: &PtxValue, from: &PtxValue) {
        self.line(format!("mov.{} {}, {}", bits(to.ty), to.reg, from.reg));
    }
}

/// A graph, and which of its values four neighbours share; nothing where they do not, or are none.
type Graph<'a> = (&'a Func, &'a [OfFour]);

/// The values of a graph's nodes, as far as they have been computed.
type Values = Vec<Option<PtxValue>>;

fn value(values: &[Option<PtxValue>], id: Id) -> PtxValue {
    values[id as usize].clone().unwrap_or_else(|| undefined(Ty::U32))
}

/// A register that no graph reads.
fn undefined(ty: Ty) -> PtxValue {
    PtxValue { reg: String::from("%undefined"), ty }
}

/// Whether [`Ptx::fast`] knows the function.
fn has_fast_form(func: Elementary) -> bool {
    use Elementary as E;
    matches!(func, E::Exp | E::Exp2 | E::Log | E::Log2 | E::Rsqrt)
}
