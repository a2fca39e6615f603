//! Trees as text and back. The text is the language of the command's expressions (`isowarp run map --op`), with the operations that those lack as
//! functions: `recip(a)`, `mul_hi(a, b)`, `branch(c, a, b)`, `as_u32(a)` for the same bits, `repeat9(a, b, c)` for a loop that carries `it`, and `at_x(i)` for an element of an input.

use super::tree::{INPUTS, Op, Tree};
use isowarp::element::{DType, Ty};

/// A tree as text, which [`parse`] reads back as the same tree.
#[must_use]
pub(super) fn tree(tree: &Tree) -> String {
    let mut out = String::new();
    write(tree, true, &mut out);
    out
}

fn write(tree: &Tree, outermost: bool, out: &mut String) {
    match tree {
        Tree::Input(k, _) => out.push_str(INPUTS[usize::from(*k) % INPUTS.len()]),
        Tree::Index => out.push_str("u32(i)"),
        Tree::Carried(_) => out.push_str("it"),
        Tree::Const(ty, bits) => out.push_str(&literal(*ty, *bits)),
        Tree::Node(op @ (Op::Neg | Op::Not), _, args) => {
            // A sign before a number would be the number's.
            out.push_str(&op.name());
            out.push('(');
            write(&args[0], true, out);
            out.push(')');
        }
        Tree::Node(op, _, args) => match op.sign() {
            Some(sign) => {
                out.push_str(if outermost { "" } else { "(" });
                write(&args[0], false, out);
                out.push_str(&format!(" {sign} "));
                write(&args[1], false, out);
                out.push_str(if outermost { "" } else { ")" });
            }
            None => {
                out.push_str(&op.name());
                out.push('(');
                for (k, a) in args.iter().enumerate() {
                    out.push_str(if k > 0 { ", " } else { "" });
                    write(a, true, out);
                }
                out.push(')');
            }
        },
    }
}

/// A constant with its type: `i32(-5)`, `f32(0.1)`, `true`.
fn literal(ty: Ty, bits: u64) -> String {
    match ty {
        Ty::Bool => (bits != 0).to_string(),
        _ => format!("{ty}({})", number(ty.dtype(), bits)),
    }
}

/// An element's stored bits as a number.
#[must_use]
pub(super) fn number(dtype: DType, bits: u64) -> String {
    match dtype {
        DType::F32 => format!("{:?}", f32::from_bits(bits as u32)).to_lowercase(),
        DType::F64 => format!("{:?}", f64::from_bits(bits)).to_lowercase(),
        DType::F16 => format!("{:?}", half::f16::from_bits(bits as u16).to_f32()).to_lowercase(),
        DType::I32 => (bits as i32).to_string(),
        DType::I64 => (bits as i64).to_string(),
        DType::I16 => (bits as i16).to_string(),
        DType::I8 => (bits as i8).to_string(),
        _ => bits.to_string(),
    }
}

/// The stored bits of a number, or of `0x` and the bits themselves.
///
/// # Errors
/// What is no number of the type.
pub(super) fn bits(dtype: DType, text: &str) -> Result<u64, String> {
    let mask = u64::MAX >> (64 - 8 * dtype.size_bytes());
    let wrong = || format!("`{text}` is no {dtype}");
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().filter(|b| *b <= mask).ok_or_else(wrong);
    }
    match dtype {
        DType::F32 => text.parse::<f32>().map(|v| u64::from(v.to_bits())).map_err(|_| wrong()),
        DType::F64 => text.parse::<f64>().map(f64::to_bits).map_err(|_| wrong()),
        DType::F16 => text.parse::<f32>().map(|v| u64::from(half::f16::from_f32(v).to_bits())).map_err(|_| wrong()),
        _ => {
            let v: i128 = text.parse().map_err(|_| wrong())?;
            let bits = v as u64 & mask;
            let signed = matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64);
            let top = 1i128 << (8 * dtype.size_bytes() - 1);
            let fits = if signed { (-top..top).contains(&v) } else { (0..2 * top).contains(&v) };
            if fits { Ok(bits) } else { Err(wrong()) }
        }
    }
}

/// An element type by its name.
///
/// # Errors
/// If there is no such type.
pub(super) fn dtype(name: &str) -> Result<DType, String> {
    DType::ALL.into_iter().find(|d| d.name() == name).ok_or_else(|| format!("`{name}` is no element type"))
}

/// A tree or a number whose type is that of what it meets.
#[derive(Clone, Debug)]
enum Parsed {
    Tree(Tree),
    Number(String),
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    inputs: &'t [DType],
    depth: usize,
    /// The types of what the loops around carry.
    carried: Vec<Ty>,
}

/// Bounds the recursion.
const MAX_DEPTH: usize = 200;

/// Signs by how tightly they bind, longer ones first.
const SIGNS: [(&str, Op, u8); 18] = [
    ("<<", Op::Shl, 7),
    (">>", Op::Shr, 7),
    ("<=", Op::Le, 3),
    (">=", Op::Ge, 3),
    ("==", Op::Eq, 3),
    ("!=", Op::Ne, 3),
    ("||", Op::Or, 1),
    ("&&", Op::And, 2),
    ("<", Op::Lt, 3),
    (">", Op::Gt, 3),
    ("|", Op::Or, 4),
    ("^", Op::Xor, 5),
    ("&", Op::And, 6),
    ("+", Op::Add, 8),
    ("-", Op::Sub, 8),
    ("*", Op::Mul, 9),
    ("/", Op::Div, 9),
    ("%", Op::Rem, 9),
];

/// Reads a tree over inputs of these element types.
///
/// # Errors
/// What is wrong, and at which byte.
pub(super) fn parse(text: &str, inputs: &[DType]) -> Result<Tree, String> {
    let mut p = Parser { text, at: 0, inputs, depth: 0, carried: Vec::new() };
    let found = p.infix(0).and_then(|found| {
        p.blanks();
        if p.at < text.len() { Err("expected the end".to_owned()) } else { p.settle(found, None) }
    });
    found.map_err(|e| format!("{e} at byte {} of `{text}`", p.at))
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.blanks();
        let is = self.rest().starts_with(token);
        self.at += if is { token.len() } else { 0 };
        is
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) { Ok(()) } else { Err(format!("expected `{token}`")) }
    }

    fn infix(&mut self, power: u8) -> Result<Parsed, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("nested too deep".to_owned());
        }
        let mut left = self.prefix()?;
        loop {
            self.blanks();
            let Some(&(sign, op, binds)) = SIGNS.iter().find(|(s, ..)| self.rest().starts_with(s)) else { break };
            if binds <= power {
                break;
            }
            self.at += sign.len();
            let right = self.infix(binds)?;
            left = self.node(op, vec![left, right])?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn prefix(&mut self) -> Result<Parsed, String> {
        if self.eat("-") {
            if self.rest().starts_with(|c: char| c.is_ascii_digit() || c == 'i' || c == '.')
                && !self.rest().starts_with("i32")
                && !self.rest().starts_with("i64")
            {
                return match self.primary()? {
                    Parsed::Number(n) => Ok(Parsed::Number(format!("-{n}"))),
                    other => self.node(Op::Neg, vec![other]),
                };
            }
            let a = self.prefix()?;
            return self.node(Op::Neg, vec![a]);
        }
        if self.eat("!") || self.eat("~") {
            let a = self.prefix()?;
            return self.node(Op::Not, vec![a]);
        }
        self.primary()
    }

    fn primary(&mut self) -> Result<Parsed, String> {
        if self.eat("(") {
            let inner = self.infix(0)?;
            self.expect(")")?;
            return Ok(inner);
        }
        let len = self.word_length();
        let word = self.rest()[..len].to_owned();
        self.at += len;
        if word.is_empty() {
            return Err("expected a value".to_owned());
        }
        if word.starts_with(|c: char| c.is_ascii_digit() || c == '.') || word == "inf" || word == "nan" {
            return Ok(Parsed::Number(word));
        }
        if let Some(k) = INPUTS.iter().position(|&n| n == word) {
            let dtype = self.inputs.get(k).ok_or_else(|| format!("there is no input `{word}`"))?;
            return Ok(Parsed::Tree(Tree::Input(k as u8, dtype.ty())));
        }
        match &word[..] {
            "i" => return Ok(Parsed::Tree(Tree::Index)),
            "it" => {
                let ty = self.carried.last().ok_or("`it` outside of a loop")?;
                return Ok(Parsed::Tree(Tree::Carried(*ty)));
            }
            "true" | "false" => return Ok(Parsed::Tree(Tree::Const(Ty::Bool, u64::from(word == "true")))),
            _ => {}
        }
        let op = function(&word).ok_or_else(|| format!("there is no `{word}`"))?;
        self.expect("(")?;
        let mut args = vec![self.infix(0)?];
        if let Op::Repeat(_) = op {
            let first = self.settle(args.remove(0), None)?;
            self.carried.push(first.ty());
            args.push(Parsed::Tree(first));
        }
        while self.eat(",") {
            args.push(self.infix(0)?);
        }
        self.expect(")")?;
        if let Op::Repeat(_) = op {
            self.carried.pop();
        }
        match (op, &args[..]) {
            // A number in a conversion is a number of that type; the index is of one type here.
            (Op::Cast(ty), [Parsed::Number(_)]) if ty != Ty::Bool => self.settle(args.remove(0), Some(ty)).map(Parsed::Tree),
            (Op::Cast(Ty::U32), [Parsed::Tree(Tree::Index)]) => Ok(args.remove(0)),
            _ => self.node(op, args),
        }
    }

    /// Length of the name or number here: of a number with an exponent its sign too.
    fn word_length(&self) -> usize {
        let bytes = self.rest().as_bytes();
        let is_number = bytes.first().is_some_and(|b| b.is_ascii_digit() || *b == b'.');
        let mut len = 0;
        while let Some(&b) = bytes.get(len) {
            let exponent =
                is_number && len > 0 && matches!(b, b'-' | b'+') && matches!(bytes[len - 1], b'e' | b'E') && !self.rest().starts_with("0x");
            if !(b.is_ascii_alphanumeric() || b == b'_' || (is_number && b == b'.') || exponent) {
                break;
            }
            len += 1;
        }
        len
    }

    /// An operation whose numbers take the type of what they meet.
    fn node(&self, op: Op, args: Vec<Parsed>) -> Result<Parsed, String> {
        let ty = |k: usize| args.get(k).and_then(|a| if let Parsed::Tree(t) = a { Some(t.ty()) } else { None });
        let met = match op {
            Op::Select | Op::Branch => ty(1).or(ty(2)),
            Op::Shl | Op::Shr => ty(0),
            _ => (0..args.len()).find_map(ty),
        };
        let args: Vec<Tree> = args
            .iter()
            .enumerate()
            .map(|(k, a)| {
                let ty = match op {
                    Op::Shl | Op::Shr if k == 1 => Some(Ty::U32),
                    Op::Select | Op::Branch if k == 0 => Some(Ty::Bool),
                    Op::Repeat(_) if k == 1 => Some(Ty::Bool),
                    _ => met,
                };
                self.settle(a.clone(), ty)
            })
            .collect::<Result<_, _>>()?;
        let types: Vec<&str> = args.iter().map(|a| a.ty().name()).collect();
        let wrong = format!("`{}` is not defined of ({})", op.name(), types.join(", "));
        Tree::node(op, args, self.inputs).map(Parsed::Tree).ok_or(wrong)
    }

    fn settle(&self, parsed: Parsed, ty: Option<Ty>) -> Result<Tree, String> {
        match parsed {
            Parsed::Tree(t) => Ok(t),
            Parsed::Number(n) => {
                let fraction = !n.starts_with("0x") && n.contains(|c: char| !c.is_ascii_digit() && c != '-');
                let ty = ty.filter(|t| *t != Ty::Bool).unwrap_or(if fraction { Ty::F32 } else { Ty::I32 });
                Ok(Tree::Const(ty, super::rules::canonical(ty, bits(ty.dtype(), &n)?)))
            }
        }
    }
}

fn function(name: &str) -> Option<Op> {
    if let Some(k) = name.strip_prefix("at_").and_then(|n| INPUTS.iter().position(|&i| i == n)) {
        return Some(Op::At(k as u8));
    }
    if let Some(turns) = name.strip_prefix("repeat").and_then(|n| n.parse().ok()) {
        return Some(Op::Repeat(turns));
    }
    let name = if name == "ln" { "log" } else { name };
    Op::all().into_iter().find(|op| op.sign().is_none() && !matches!(op, Op::Neg | Op::Not) && op.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::random::Maker;
    use crate::fuzz::values::Random;

    #[test]
    fn every_tree_is_read_back_as_it_was() {
        let mut random = Random::new(1);
        for _ in 0..2000 {
            let dtypes = [(); 3].map(|()| random.pick(&DType::ALL));
            let mut maker = Maker::new(&mut random, &dtypes, true);
            let made = maker.any(5);
            assert_eq!(parse(&tree(&made), &dtypes).as_ref(), Ok(&made), "{}", tree(&made));
        }
    }

    #[test]
    fn the_commands_language_reads_the_same() {
        let mut random = Random::new(2);
        let mut tried = 0;
        while tried < 300 {
            let dtypes = [(); 3].map(|()| random.pick(&DType::ALL));
            let made = Maker::new(&mut random, &dtypes, true).any(4);
            if made.any(|t| matches!(t, Tree::Node(op, ..) if !op.is_in_the_command())) {
                continue;
            }
            let types = dtypes.map(DType::ty);
            let func = isowarp::expression::parse(&tree(&made), &types, Some(Ty::U32), None);
            assert_eq!(func.map(|f| f.result_types()), Ok(vec![made.ty()]), "{}", tree(&made));
            tried += 1;
        }
    }

    #[test]
    fn numbers_take_the_type_of_what_they_meet() {
        let inputs = [DType::I8, DType::F16];
        for (short, long) in [
            ("x + 1", "x + i32(1)"),
            ("i64(x) < 100", "i64(x) < i64(100)"),
            ("max(x, max(x, -x))", "max(x, max(x, -(x)))"),
            ("u64(i64(x)) << 9", "u64(i64(x)) << u32(9)"),
            ("-2 - x * 3", "i32(-2) - (x * i32(3))"),
            ("select(y < 0.5, -inf, y)", "select(y < f32(0.5), f32(-inf), y)"),
            ("((x - x) * x) - -x", "((x - x) * x) - -(x)"),
        ] {
            assert_eq!(parse(short, &inputs).map(|t| tree(&t)), Ok(long.to_owned()), "{short}");
        }
        for wrong in ["", "x +", "x + y", "1e", "sn(x)", "z", "max(x)", "at_z(1)", "(x", "x)", "300u", "x << y", "i8(1)"] {
            assert!(parse(wrong, &inputs).is_err(), "{wrong}");
        }
    }
}
