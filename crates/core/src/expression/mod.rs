//! Operator texts such as `exp(-x*x) + 0.5*y`, parsed into the same graphs that Rust closures trace to: so the fusion rule, wrapping and all
//! else that [`crate::ir`] promises holds for them too.
//!
//! # Language
//! - **Variables**: `x`, `y`, `z`, `w` are the inputs in order, `i` is the index.
//! - **Literals**: `2`, `0.5`, `1e-3`, `.5`, `1_000`, `0xff`, `0b101`, `pi`, `e`, `inf`, `nan`, `true`, `false`. A literal takes the type of what
//!   it meets; so do the index and an expression of literals and the index alone: `x + i/2` with an f32 `x` is all in f32. Where nothing is met, the
//!   result type that the caller asked for decides, then: the index is unsigned, other integers are i32, floats f32. One that its type cannot hold is
//!   refused: `1e400` would be infinite and `1e-60` zero in f32, as `3000000000` would wrap in i32.
//! - **Operators**, loosest first: `c ? a : b`; `||`; `&&`; `< <= > >= == !=` (they do not chain); `|`; `^`; `&`; `<< >>`; `+ -`; `* / %`;
//!   unary `- ! ~`. Integers wrap; `%` and the bit operations are for integers (the latter for truth values too).
//! - **Truth values** are compared, combined by `! ~ && || & | ^` and chosen by; false is below true, and one may be compared with 0 and 1
//!   (`x == 0`). They are no numbers: arithmetic wants `u32(x)`.
//! - **Functions**: `abs min max clamp(x, low, high) select(c, a, b) fma(a, b, c) mul_rn sqrt floor ceil trunc round` (ties to even),
//!   `isnan popcount clz reverse_bits`, the casts `f32 f64 i32 u32 i64 u64` (as Rust's `as`), `sat_u8` and so on for
//!   every integer type (the nearest number that it has, in the type that computes with it), and every elementary function of
//!   [`crate::numerics`] by its name (`ln` is `log`).
//!
//! ```
//! use isowarp_core::{element::Ty, expression, ir::Evaluator};
//! let f = expression::parse("x*x + 0.5", &[Ty::F32], None, None)?;
//! let mut e = Evaluator::new(&f);
//! e.eval_one(&[u64::from(3f32.to_bits())]);
//! assert_eq!(f32::from_bits(e.result(0)[0] as u32), 9.5);
//!
//! let error = expression::parse("x + sn(x)", &[Ty::F32], None, None).unwrap_err();
//! assert_eq!(error.to_string(), "unknown function `sn`; did you mean `sin`?\n  x + sn(x)\n      ^");
//! # Ok::<(), isowarp_core::ir::OpError>(())
//! ```

mod check;
mod emit;
mod lex;
mod names;
mod parse;
mod tree;

#[cfg(test)]
mod tests;

use crate::element::Ty;
use crate::ir::{Func, OpError};

/// Longest text that is accepted, in bytes: a graph is evaluated with a register a node.
pub const MAX_TEXT: usize = 16 * 1024;

/// Names of the inputs.
const INPUTS: [&str; 4] = ["x", "y", "z", "w"];

/// Fault of a text: the message, and the byte that it is at.
#[derive(Debug)]
struct Fault {
    at: usize,
    message: String,
}

impl Fault {
    fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

/// Parses `text` over inputs of the given types. The operator has one value parameter an input, and after them an index parameter of type `index`
/// if the text uses `i`. `result` decides the type of a text that has none of its own (`1`); any other text keeps its type.
///
/// # Errors
/// [`OpError::Parse`] with a caret under the place: syntax, unknown names, wrong arity, types that do not fit.
pub fn parse(text: &str, inputs: &[Ty], index: Option<Ty>, result: Option<Ty>) -> Result<Func, OpError> {
    if inputs.len() > INPUTS.len() {
        let (expected, found) = (format!("at most {}", INPUTS.len()), inputs.len().to_string());
        return Err(OpError::Signature { what: "inputs of an expression", expected, found });
    }
    if text.len() > MAX_TEXT {
        let start: String = text.chars().take(32).collect();
        return Err(fault_error(&start, Fault::new(0, format!("the expression is longer than {MAX_TEXT} bytes"))));
    }
    let checked = lex::tokens(text).and_then(|t| parse::tree(text, &t)).and_then(|t| check::check(t, text, inputs, index, result));
    emit::emit(&checked.map_err(|f| fault_error(text, f))?, inputs, index)
}

/// The bare name of a function, applied to the inputs in order: `sqrt` is `sqrt(x)`, `max` of two inputs `max(x, y)`. Other texts are returned as
/// they are.
#[must_use]
pub fn applied(text: &str, inputs: usize) -> String {
    let name = text.trim();
    match names::builtin(name) {
        Some(b) if b.arity() == inputs => format!("{name}({})", INPUTS[..inputs.min(INPUTS.len())].join(", ")),
        _ => text.to_owned(),
    }
}

/// Carets count characters, not bytes; line breaks and tabs become blanks, so that the caret's line fits the text's.
fn fault_error(text: &str, fault: Fault) -> OpError {
    let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let before = text.char_indices().take_while(|&(at, _)| at < fault.at).count();
    OpError::Parse { message: fault.message, text: shown, caret: format!("{}^", " ".repeat(before)) }
}
