//! From tokens to a tree, by operator precedence.

use super::lex::{Placed, Token};
use super::names;
use super::tree::{Id, Infix, Prefix, Tree, What};
use super::{Fault, INPUTS};

/// Parentheses, calls and prefix operators inside each other. Bounds the parser's recursion.
const MAX_DEPTH: usize = 128;

/// The tree of a text.
pub(super) fn tree(text: &str, tokens: &[Placed]) -> Result<Tree, Fault> {
    let mut p = Parser { text, tokens, next: 0, depth: 0, tree: Tree::default() };
    p.expression()?;
    match p.peek() {
        (_, Token::End) => Ok(p.tree),
        (at, Token::Close) => Err(Fault::new(*at, "this `)` closes nothing")),
        (at, _) => Err(Fault::new(*at, "expected an operator or the end")),
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: &'t [Placed],
    next: usize,
    depth: usize,
    tree: Tree,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> &'t Placed {
        // The last token is `End`, which is never passed.
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn take(&mut self) -> &'t Placed {
        let t = self.peek();
        self.next += 1;
        t
    }

    fn eat(&mut self, token: &Token) -> bool {
        let found = self.peek().1 == *token;
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, token: &Token, what: &str) -> Result<(), Fault> {
        if self.eat(token) { Ok(()) } else { Err(Fault::new(self.peek().0, format!("expected {what}"))) }
    }

    /// Runs `f` one level deeper.
    fn deeper<R>(&mut self, f: impl FnOnce(&mut Self) -> Result<R, Fault>) -> Result<R, Fault> {
        if self.depth == MAX_DEPTH {
            return Err(Fault::new(self.peek().0, format!("nested more than {MAX_DEPTH} deep")));
        }
        self.depth += 1;
        let r = f(self);
        self.depth -= 1;
        r
    }

    /// `c ? a : b`, or anything tighter.
    fn expression(&mut self) -> Result<Id, Fault> {
        self.deeper(|p| {
            let c = p.infix(0)?;
            let at = p.peek().0;
            if !p.eat(&Token::Question) {
                return Ok(c);
            }
            let a = p.expression()?;
            p.expect(&Token::Colon, "`:` and the value for the other case")?;
            let b = p.expression()?;
            Ok(p.tree.push(at, What::Select(c, a, b)))
        })
    }

    /// Operators that bind tighter than `power`.
    fn infix(&mut self, power: u8) -> Result<Id, Fault> {
        let mut left = self.prefix()?;
        let mut compared: Option<Infix> = None;
        loop {
            let &(at, Token::Infix(op)) = self.peek() else { return Ok(left) };
            if op.power() <= power {
                return Ok(left);
            }
            if let (Some(first), true) = (compared, op.is_comparison()) {
                let message = format!("comparisons do not chain; write (a {} b) && (b {} c)", first.symbol(), op.symbol());
                return Err(Fault::new(at, message));
            }
            compared = op.is_comparison().then_some(op);
            self.next += 1;
            let right = self.infix(op.power())?;
            left = self.tree.push(at, What::Infix(op, left, right));
        }
    }

    fn prefix(&mut self) -> Result<Id, Fault> {
        let (at, token) = self.peek();
        let op = match token {
            Token::Infix(Infix::Sub) => Prefix::Neg,
            Token::Bang | Token::Tilde => Prefix::Not,
            _ => return self.primary(),
        };
        self.next += 1;
        // The sign belongs to the literal, so that the least value of a signed type can be written.
        if let (Prefix::Neg, (number_at, Token::Number(n))) = (op, self.peek()) {
            self.next += 1;
            let mut n = n.clone();
            n.negative = true;
            return Ok(self.tree.push(*number_at, What::Number(n)));
        }
        let operand = self.deeper(Self::prefix)?;
        Ok(self.tree.push(*at, What::Prefix(op, operand)))
    }

    fn primary(&mut self) -> Result<Id, Fault> {
        let (at, token) = self.take();
        match token {
            Token::Number(n) => Ok(self.tree.push(*at, What::Number(n.clone()))),
            Token::Name(name) if self.eat(&Token::Open) => self.call(*at, name),
            Token::Name(name) => self.name(*at, name),
            Token::Open => {
                let inner = self.expression()?;
                self.expect(&Token::Close, "`)`")?;
                Ok(inner)
            }
            Token::End if self.text.trim().is_empty() => Err(Fault::new(*at, "the expression is empty")),
            Token::End => Err(Fault::new(*at, "the expression ends here; expected a value")),
            Token::Infix(op) => Err(Fault::new(*at, format!("expected a value before `{}`", op.symbol()))),
            _ => Err(Fault::new(*at, "expected a value")),
        }
    }

    fn name(&mut self, at: usize, name: &str) -> Result<Id, Fault> {
        let what = if let Some(k) = INPUTS.iter().position(|&n| n == name) {
            What::Input(k as u16)
        } else if let Some(c) = names::constant(name) {
            What::Constant(c)
        } else {
            match name {
                "i" => What::Index,
                "true" | "false" => What::Truth(name == "true"),
                _ if names::builtin(name).is_some() => {
                    return Err(Fault::new(at, format!("`{name}` is a function; write {name}(...)")));
                }
                _ => return Err(Fault::new(at, format!("unknown name `{name}`{}", names::suggest_value(name)))),
            }
        };
        Ok(self.tree.push(at, what))
    }

    /// A call, after its `(`.
    fn call(&mut self, at: usize, name: &str) -> Result<Id, Fault> {
        let Some(function) = names::builtin(name) else {
            return Err(Fault::new(at, format!("unknown function `{name}`{}", names::suggest_function(name))));
        };
        let mut args = Vec::new();
        if !self.eat(&Token::Close) {
            loop {
                args.push(self.expression()?);
                if self.eat(&Token::Close) {
                    break;
                }
                self.expect(&Token::Comma, "`,` or `)`")?;
            }
        }
        let arity = function.arity();
        if args.len() != arity {
            let s = if arity == 1 { "" } else { "s" };
            return Err(Fault::new(at, format!("`{name}` takes {arity} argument{s}, not {}", args.len())));
        }
        Ok(self.tree.push(at, What::Call(function, args)))
    }
}
