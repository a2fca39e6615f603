//! Types: what each node is, from the operands up; then what literals and the index become, from the result down.

use super::names::Builtin;
use super::tree::{Form, Id, Infix, Item, Kind, Number, Prefix, Tree, What};
use super::{Fault, INPUTS};
use crate::element::Ty;

/// Settles the type of every node of a text.
pub(super) fn check(mut tree: Tree, text: &str, inputs: &[Ty], index: Option<Ty>, result: Option<Ty>) -> Result<Tree, Fault> {
    let rules = Rules { text, inputs, index };
    for id in 0..tree.items.len() {
        let (kind, operands) = rules.kind(&tree, id)?;
        (tree.items[id].kind, tree.items[id].operands) = (kind, operands);
    }
    if let Some(root) = tree.items.last_mut() {
        root.ty = rules.root(root.kind, result);
    }
    for id in (0..tree.items.len()).rev() {
        if let Kind::Is(ty) = tree.items[id].kind {
            tree.items[id].ty = ty;
        }
        fits(&tree.items[id], text)?;
        for (child, ty) in rules.operand_types(&tree, id) {
            tree.items[child].ty = ty;
        }
    }
    Ok(tree)
}

struct Rules<'a> {
    text: &'a str,
    inputs: &'a [Ty],
    index: Option<Ty>,
}

impl Rules<'_> {
    /// The kind of a node whose operands' kinds are known, and what those have in common.
    fn kind(&self, tree: &Tree, id: Id) -> Result<(Kind, Kind), Fault> {
        let item = &tree.items[id];
        let kind = |id: Id| tree.items[id].kind;
        let own = |k: Kind| Ok((k, k));
        match &item.what {
            What::Number(n) if n.form == Form::Float => own(Kind::Fraction),
            What::Number(_) => own(Kind::Whole { index: false }),
            What::Constant(_) => own(Kind::Fraction),
            What::Truth(_) => own(Kind::Is(Ty::Bool)),
            What::Input(k) => own(Kind::Is(self.input(item.at, *k)?)),
            What::Index if self.index.is_none() => Err(Fault::new(item.at, "there is no index `i` in this operator")),
            What::Index => own(Kind::Whole { index: true }),
            What::Prefix(op, a) => own(prefix((item.at, written(self.text, item.at)), *op, kind(*a))?),
            What::Infix(op, a, b) => {
                let [a, b] = compared(*op, [&tree.items[*a], &tree.items[*b]]);
                infix(item.at, *op, a, b)
            }
            What::Select(c, a, b) => own(select(item.at, "? :", [kind(*c), kind(*a), kind(*b)])?),
            What::Call(function, args) => {
                let args: Vec<Kind> = args.iter().map(|&a| kind(a)).collect();
                call((item.at, written(self.text, item.at)), *function, &args)
            }
        }
    }

    fn input(&self, at: usize, k: u16) -> Result<Ty, Fault> {
        let name = INPUTS[usize::from(k)];
        self.inputs.get(usize::from(k)).copied().ok_or_else(|| {
            let there = match self.inputs.len() {
                0 => "there are no inputs".to_owned(),
                1 => "the only input is `x`".to_owned(),
                n => format!("the inputs are `x` to `{}`", INPUTS[n - 1]),
            };
            Fault::new(at, format!("unknown name `{name}`: {there}"))
        })
    }

    /// The type of a node that meets nothing.
    fn default(&self, kind: Kind) -> Ty {
        match kind {
            Kind::Is(ty) => ty,
            Kind::Whole { index: true } => self.index.unwrap_or(Ty::U32),
            Kind::Whole { index: false } => Ty::I32,
            Kind::Fraction => Ty::F32,
        }
    }

    /// The type of the result. The index stays an integer unless it has met a float: a caller converts the result, not the index.
    fn root(&self, kind: Kind, result: Option<Ty>) -> Ty {
        match (kind, result) {
            (Kind::Fraction, Some(t)) if t.is_float() => t,
            (Kind::Whole { .. }, Some(t)) if t.is_int() => t,
            (Kind::Whole { index: false }, Some(t)) if t.is_float() => t,
            _ => self.default(kind),
        }
    }

    /// The operands of a node whose own type is settled, and their types.
    fn operand_types(&self, tree: &Tree, id: Id) -> Vec<(Id, Ty)> {
        let item = &tree.items[id];
        let all = |args: &[Id], ty: Ty| args.iter().map(|&a| (a, ty)).collect::<Vec<_>>();
        match &item.what {
            What::Number(_) | What::Constant(_) | What::Truth(_) | What::Input(_) | What::Index => Vec::new(),
            What::Prefix(_, a) => vec![(*a, item.ty)],
            What::Infix(Infix::And | Infix::Or, a, b) => all(&[*a, *b], Ty::Bool),
            What::Infix(Infix::Shl | Infix::Shr, a, b) => vec![(*a, item.ty), (*b, Ty::U32)],
            What::Infix(op, a, b) if op.is_comparison() => all(&[*a, *b], self.default(item.operands)),
            What::Infix(_, a, b) => all(&[*a, *b], item.ty),
            What::Select(c, a, b) => vec![(*c, Ty::Bool), (*a, item.ty), (*b, item.ty)],
            What::Call(Builtin::Select, args) => all(args, item.ty),
            What::Call(Builtin::Cast(to), args) => all(args, self.cast_from(item.operands, *to)),
            What::Call(Builtin::Saturate(_), args) => all(args, self.default(item.operands)),
            // Literals and the index are floats there.
            What::Call(Builtin::IsNan, args) => all(args, if let Kind::Is(ty) = item.operands { ty } else { Ty::F32 }),
            What::Call(Builtin::Count(_), args) => all(args, self.default(item.operands)),
            What::Call(_, args) => all(args, item.ty),
        }
    }

    /// The type in which the operand of a cast is computed: literals in the type asked for, the index as an integer.
    fn cast_from(&self, kind: Kind, to: Ty) -> Ty {
        match kind {
            Kind::Whole { index: false } if to != Ty::Bool => to,
            Kind::Fraction if to.is_float() => to,
            _ => self.default(kind),
        }
    }
}

fn describe(kind: Kind) -> String {
    match kind {
        Kind::Is(ty) => ty.to_string(),
        Kind::Whole { index: false } => "a whole number".to_owned(),
        Kind::Whole { index: true } => "the index".to_owned(),
        Kind::Fraction => "a literal with a fraction".to_owned(),
    }
}

/// Returns the common kind of two operands that must have one type.
fn join(at: usize, what: &str, a: Kind, b: Kind) -> Result<Kind, Fault> {
    let fault = |advice: String| Err(Fault::new(at, format!("`{what}` of {} and {}; {advice}", describe(a), describe(b))));
    match (a, b) {
        (Kind::Is(s), Kind::Is(t)) if s == t => Ok(a),
        (Kind::Is(Ty::Bool), _) | (_, Kind::Is(Ty::Bool)) => fault("write `c ? a : b`, or u32(...) around the truth value".to_owned()),
        (Kind::Is(s), Kind::Is(t)) => fault(format!("convert one of them: {s}(...) or {t}(...)")),
        (Kind::Is(t), Kind::Fraction) | (Kind::Fraction, Kind::Is(t)) if t.is_int() => fault(format!("write f32(...) around the {t}")),
        (Kind::Is(_), _) => Ok(a),
        (_, Kind::Is(_)) => Ok(b),
        (Kind::Fraction, _) | (_, Kind::Fraction) => Ok(Kind::Fraction),
        (Kind::Whole { index: s }, Kind::Whole { index: t }) => Ok(Kind::Whole { index: s || t }),
    }
}

fn is_bool(kind: Kind) -> bool {
    kind == Kind::Is(Ty::Bool)
}

fn is_float(kind: Kind) -> bool {
    match kind {
        Kind::Is(ty) => ty.is_float(),
        Kind::Whole { .. } => false,
        Kind::Fraction => true,
    }
}

fn refuse<T>(at: usize, what: &str, kind: Kind, advice: &str) -> Result<T, Fault> {
    Err(Fault::new(at, format!("`{what}` is not defined for {}; {advice}", describe(kind))))
}

/// A function or an operator of one operand as the text has it: of several names of one, that which was written.
fn written(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    let name = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    &rest[..name.max(rest.chars().next().map_or(0, char::len_utf8))]
}

fn prefix((at, sign): (usize, &str), op: Prefix, a: Kind) -> Result<Kind, Fault> {
    match op {
        Prefix::Neg if is_bool(a) => refuse(at, sign, a, "write `!` for its opposite"),
        Prefix::Not if is_float(a) => refuse(at, sign, a, "compare it first, or convert it to an integer"),
        _ => Ok(a),
    }
}

/// The kinds of two operands: 0 and 1 are truth values where they are compared with one.
fn compared(op: Infix, [a, b]: [&Item; 2]) -> [Kind; 2] {
    let is_truth = |item: &Item| matches!(&item.what, What::Number(n) if n.form != Form::Float && matches!(whole(n, Ty::U32), Some(0 | 1)));
    match (op, is_bool(a.kind), is_bool(b.kind)) {
        (Infix::Eq | Infix::Ne, true, false) if is_truth(b) => [a.kind; 2],
        (Infix::Eq | Infix::Ne, false, true) if is_truth(a) => [b.kind; 2],
        _ => [a.kind, b.kind],
    }
}

fn infix(at: usize, op: Infix, a: Kind, b: Kind) -> Result<(Kind, Kind), Fault> {
    let truth = Kind::Is(Ty::Bool);
    match op {
        Infix::And | Infix::Or => match [a, b].into_iter().find(|&k| !is_bool(k)) {
            Some(k) => refuse(at, op.symbol(), k, "compare first, for instance x != 0"),
            None => Ok((truth, truth)),
        },
        Infix::Shl | Infix::Shr => match [a, b].into_iter().find(|&k| is_float(k) || is_bool(k)) {
            Some(k) => refuse(at, op.symbol(), k, "convert it to an integer"),
            None => Ok((a, a)),
        },
        _ => {
            let both = join(at, op.symbol(), a, b)?;
            let bits = matches!(op, Infix::BitAnd | Infix::BitOr | Infix::BitXor);
            if is_float(both) && bits {
                let advice = if op == Infix::BitXor { "write pow(a, b) for a power" } else { "compare first, or convert to an integer" };
                return refuse(at, op.symbol(), both, advice);
            }
            if is_float(both) && op == Infix::Rem {
                return refuse(at, "%", both, "write a - b*trunc(a/b)");
            }
            if is_bool(both) && !bits && !op.is_comparison() {
                let advice = match op {
                    Infix::Add => "write `|` for or; to count, write u32(...) around each",
                    Infix::Mul => "write `&` for and; to multiply numbers, write u32(...) around each",
                    Infix::Sub => "write `^` for those that differ; to subtract numbers, write i32(...) around each",
                    _ => "write u32(...) around each",
                };
                return refuse(at, op.symbol(), both, advice);
            }
            Ok((if op.is_comparison() { truth } else { both }, both))
        }
    }
}

fn select(at: usize, what: &str, [c, a, b]: [Kind; 3]) -> Result<Kind, Fault> {
    if !is_bool(c) {
        return refuse(at, what, c, "the condition must be a comparison, for instance x != 0");
    }
    join(at, what, a, b)
}

fn call((at, name): (usize, &str), function: Builtin, args: &[Kind]) -> Result<(Kind, Kind), Fault> {
    if let (Builtin::Select, &[c, a, b]) = (function, args) {
        let kind = select(at, name, [c, a, b])?;
        return Ok((kind, kind));
    }
    let mut all = args.first().copied().unwrap_or(Kind::Fraction);
    for &a in args.iter().skip(1) {
        all = join(at, name, all, a)?;
    }
    let is_int = !is_float(all) && !is_bool(all);
    match function {
        Builtin::Cast(to) => return Ok((Kind::Is(to), all)),
        Builtin::Saturate(to) if !is_bool(all) => return Ok((Kind::Is(to.ty()), all)),
        Builtin::Count(_) if is_int => return Ok((Kind::Is(Ty::U32), all)),
        Builtin::Bits(_) if is_int => return Ok((all, all)),
        Builtin::Abs | Builtin::Pick(_) | Builtin::Clamp if !is_bool(all) => return Ok((all, all)),
        Builtin::Count(_) | Builtin::Bits(_) => return refuse(at, name, all, "it takes an integer"),
        Builtin::Abs | Builtin::Pick(_) | Builtin::Clamp | Builtin::Select | Builtin::Saturate(_) => {
            return refuse(at, name, all, "it takes numbers");
        }
        Builtin::Float(_) | Builtin::MulRn | Builtin::Fma | Builtin::IsNan | Builtin::Elementary(_) => {}
    }
    match (function, all) {
        (_, Kind::Is(ty)) if !ty.is_float() => refuse(at, name, all, &format!("write {name}(f32(...))")),
        (Builtin::Elementary(_), Kind::Is(Ty::F64)) => refuse(at, name, all, &format!("write f64({name}(f32(...)))")),
        (Builtin::IsNan, _) => Ok((Kind::Is(Ty::Bool), all)),
        (_, Kind::Is(_)) => Ok((all, all)),
        // Of literals and the index: a float of a type yet to be settled.
        _ => Ok((Kind::Fraction, all)),
    }
}

/// Advice about what integers alone have. Literals have no type of their own, and would take the float's inside of its cast too.
const INTEGERS: &str = "write f32(...) around the integer part, and i32(...) around its literals";

/// Refuses what can only be refused once the type is settled.
fn fits(item: &Item, text: &str) -> Result<(), Fault> {
    let (ty, written) = (item.ty, written(text, item.at));
    let settled = Kind::Is(ty);
    match &item.what {
        What::Number(n) if ty.is_int() && whole(n, ty).is_none() => {
            let sign = if n.negative { "-" } else { "" };
            Err(Fault::new(item.at, format!("{sign}{} does not fit {ty}", n.digits)))
        }
        What::Number(n) if ty.is_float() => out_of_range(n, ty).map_or(Ok(()), |message| Err(Fault::new(item.at, message))),
        What::Infix(op @ (Infix::Rem | Infix::BitAnd | Infix::BitOr | Infix::BitXor | Infix::Shl | Infix::Shr), ..) if ty.is_float() => {
            refuse(item.at, op.symbol(), settled, INTEGERS)
        }
        What::Prefix(Prefix::Not, _) if ty.is_float() => refuse(item.at, written, settled, INTEGERS),
        What::Call(Builtin::Bits(_), _) if ty.is_float() => refuse(item.at, written, settled, "it takes an integer"),
        What::Call(Builtin::Elementary(_), _) if ty == Ty::F64 => {
            refuse(item.at, written, settled, &format!("write f64({written}(f32(...)))"))
        }
        _ => Ok(()),
    }
}

/// Describes the fault of a decimal literal of which a float type would make an infinity, or a zero that it is not.
fn out_of_range(n: &Number, ty: Ty) -> Option<String> {
    let found = match (n.form, ty) {
        (Form::Bits(_), _) => return None,
        (_, Ty::F32) => f64::from(n.digits.parse::<f32>().ok()?),
        _ => n.digits.parse::<f64>().ok()?,
    };
    let (sign, digits) = (if n.negative { "-" } else { "" }, &n.digits);
    if found.is_infinite() {
        return Some(format!("{sign}{digits} does not fit {ty}; write {sign}inf for infinity"));
    }
    let mut mantissa = digits.bytes().take_while(|b| !matches!(b, b'e' | b'E'));
    let is_zero = found == 0.0 && mantissa.any(|b| matches!(b, b'1'..=b'9'));
    is_zero.then(|| format!("{sign}{digits} is too small for {ty}, which rounds it to zero; write {sign}0.0 for zero"))
}

/// The bits of a whole literal in an integer type, if it fits. A negative literal of an unsigned type wraps, as all integer arithmetic does.
pub(super) fn whole(n: &Number, ty: Ty) -> Option<u64> {
    let wide = ty.words() == 2;
    let magnitude = match n.form {
        Form::Bits(radix) => u64::from_str_radix(&n.digits, radix).ok()?,
        Form::Integer | Form::Float => n.digits.parse().ok()?,
    };
    let greatest = match (ty, n.form) {
        (Ty::I32, Form::Integer) => i32::MAX as u64 + u64::from(n.negative),
        (Ty::I64, Form::Integer) => i64::MAX as u64 + u64::from(n.negative),
        _ if wide => u64::MAX,
        _ => u64::from(u32::MAX),
    };
    let value = if n.negative { magnitude.wrapping_neg() } else { magnitude };
    (magnitude <= greatest).then_some(if wide { value } else { u64::from(value as u32) })
}
