//! From characters to tokens.

use super::Fault;
use super::tree::{Form, Infix, Number};

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    Number(Number),
    Name(String),
    Infix(Infix),
    Bang,
    Tilde,
    Open,
    Close,
    Comma,
    Question,
    Colon,
    End,
}

/// A token and the byte it starts at.
pub(super) type Placed = (usize, Token);

/// Two-character signs first, so that `<<` is not two `<`.
const SIGNS: [(&str, Token); 26] = [
    ("<<", Token::Infix(Infix::Shl)),
    (">>", Token::Infix(Infix::Shr)),
    ("<=", Token::Infix(Infix::Le)),
    (">=", Token::Infix(Infix::Ge)),
    ("==", Token::Infix(Infix::Eq)),
    ("!=", Token::Infix(Infix::Ne)),
    ("&&", Token::Infix(Infix::And)),
    ("||", Token::Infix(Infix::Or)),
    ("+", Token::Infix(Infix::Add)),
    ("-", Token::Infix(Infix::Sub)),
    ("*", Token::Infix(Infix::Mul)),
    ("/", Token::Infix(Infix::Div)),
    ("%", Token::Infix(Infix::Rem)),
    ("&", Token::Infix(Infix::BitAnd)),
    ("|", Token::Infix(Infix::BitOr)),
    ("^", Token::Infix(Infix::BitXor)),
    ("<", Token::Infix(Infix::Lt)),
    (">", Token::Infix(Infix::Gt)),
    ("!", Token::Bang),
    ("~", Token::Tilde),
    ("(", Token::Open),
    (")", Token::Close),
    (",", Token::Comma),
    ("?", Token::Question),
    (":", Token::Colon),
    // Refused below, with advice.
    ("=", Token::End),
];

/// The tokens of a text; the last one is [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Placed>, Fault> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if c.is_whitespace() {
            at += c.len_utf8();
        } else if c.is_ascii_digit() || (c == '.' && rest[1..].starts_with(|d: char| d.is_ascii_digit())) {
            let (number, len) = number(rest, at)?;
            out.push((at, Token::Number(number)));
            at += len;
        } else if c.is_ascii_alphabetic() || c == '_' {
            let len = rest.find(|d: char| !d.is_ascii_alphanumeric() && d != '_').unwrap_or(rest.len());
            out.push((at, Token::Name(rest[..len].to_owned())));
            at += len;
        } else {
            let (len, token) = sign(rest, at, c)?;
            out.push((at, token));
            at += len;
        }
    }
    out.push((text.trim_end().len(), Token::End));
    Ok(out)
}

fn sign(rest: &str, at: usize, c: char) -> Result<(usize, Token), Fault> {
    if rest.starts_with("**") {
        return Err(Fault::new(at, "there is no `**`; write pow(a, b)"));
    }
    match SIGNS.iter().find(|(s, _)| rest.starts_with(s)) {
        Some(("=", _)) => Err(Fault::new(at, "there is no `=`; write `==` to compare")),
        Some((s, token)) => Ok((s.len(), token.clone())),
        None => Err(Fault::new(at, format!("`{}` has no meaning here", c.escape_debug()))),
    }
}

/// A number at the start of `rest`, and its length.
fn number(rest: &str, at: usize) -> Result<(Number, usize), Fault> {
    for (prefix, radix) in [("0x", 16), ("0X", 16), ("0b", 2), ("0B", 2)] {
        if let Some(body) = rest.strip_prefix(prefix) {
            let len = body.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(body.len());
            let digits: String = body[..len].chars().filter(|&c| c != '_').collect();
            if u64::from_str_radix(&digits, radix).is_err() {
                return Err(Fault::new(at, format!("`{}` is not a number of at most 64 bits", &rest[..len + 2])));
            }
            return Ok((Number { digits, form: Form::Bits(radix), negative: false }, len + 2));
        }
    }
    let bytes = rest.as_bytes();
    let digits_from = |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit() || **b == b'_').count();
    let mut form = Form::Integer;
    let mut end = digits_from(0);
    if bytes.get(end) == Some(&b'.') {
        form = Form::Float;
        end = digits_from(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
            form = Form::Float;
            end = digits_from(end + 1 + sign);
        }
    }
    if bytes.get(end).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.')) {
        return Err(Fault::new(at + end, "a number ends here; what follows needs an operator (`2*x`, not `2x`)"));
    }
    let digits = rest[..end].chars().filter(|&c| c != '_').collect();
    Ok((Number { digits, form, negative: false }, end))
}
