//! Unpacks the texts that the build script packed.
//!
//! Most of what tells one line of PTX from another are the numbers of registers and labels: `%r188`, `$28`. They grow through an entry,
//! so that the same lines in two entries differ in every number. [`restore`] reads a text in which a number near to one that the same kind of
//! name had lately is one byte, not ASCII, which says how far from which: the same lines are the same bytes then, and deflate finds them.

use miniz_oxide::inflate::decompress_slice_iter_to_slice;

/// Numbers that are remembered of each kind of name.
pub(crate) const KEPT: usize = 8;

/// Distances to each of them that a byte tells: from half of them below to half of them above. With the numbers they fill a byte but for its
/// first bit, which ASCII leaves.
pub(crate) const NEAR: u32 = 16;

/// Bytes before a deflated part: the lengths of its text, of the shortened text and of what follows, and how many entries it has, 32 bits each,
/// the lowest byte first.
pub(crate) const HEAD: usize = 16;

/// Beginning of an entry, at the start of a line.
const ENTRY: &str = "\n.visible .entry ";

/// The numbers that names had lately, the latest first, by the byte before the number: `r` in `%r188`, `$` in `$28`.
pub(crate) struct Recent([[u32; KEPT]; 128]);

impl Recent {
    /// Returns what every text begins with.
    pub(crate) fn new() -> Self {
        Self([[0; KEPT]; 128])
    }

    /// The numbers of one kind of name.
    pub(crate) fn of(&mut self, kind: u8) -> &mut [u32; KEPT] {
        &mut self.0[usize::from(kind & 0x7F)]
    }
}

/// Puts `number` before the others; the one at `place` goes.
pub(crate) fn to_front(recent: &mut [u32; KEPT], place: usize, number: u32) {
    let mut held = number;
    for kept in &mut recent[..=place] {
        std::mem::swap(kept, &mut held);
    }
}

/// Whether a name begins, of which registers and labels are.
pub(crate) fn is_mark(byte: u8) -> bool {
    matches!(byte, b'%' | b'$')
}

/// Whether a name goes on, other than by a digit.
pub(crate) fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// Counts the digits that `text` begins with, and returns their number where it is written as [`restore`] writes it: without zeroes before it.
pub(crate) fn leading_number(text: &[u8]) -> (usize, Option<u32>) {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let plain = (1..=9).contains(&length) && (length == 1 || text[0] != b'0');
    (length, plain.then(|| text[..length].iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))))
}

/// Cuts a text of PTX before each entry but what it begins with.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let (piece, after) = text.find(ENTRY).map_or((text, None), |at| (&text[..=at], Some(&text[at + 1..])));
        rest = after;
        Some(piece)
    })
}

/// The parts of a packed file, which follow each other: what stands before the entries, and a few entries each.
pub(crate) fn parts(packed: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = packed;
    std::iter::from_fn(move || {
        let part;
        (part, rest) = rest.split_at_checked(HEAD + field(rest.get(..HEAD)?, 2))?;
        Some(part)
    })
}

/// Returns the number of entries of a part.
pub(crate) fn entries(part: &[u8]) -> usize {
    field(part, 3)
}

/// Reads one of the numbers before a part.
fn field(head: &[u8], place: usize) -> usize {
    let at = 4 * place;
    u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize
}

/// Appends the text of a part.
///
/// # Panics
/// When `part` is not what the build script writes, which reads back what it wrote.
pub(crate) fn unpack(part: &[u8], text: &mut String) {
    let (head, deflated) = part.split_at(HEAD);
    let mut short = vec![0; field(head, 1)];
    let written = decompress_slice_iter_to_slice(&mut short, std::iter::once(deflated), false, true).expect("what was deflated");
    assert_eq!(written, short.len(), "a whole text");
    let restored = restore(&short, field(head, 0));
    text.push_str(str::from_utf8(&restored).expect("PTX is ASCII"));
}

/// Writes numbers out again. `length` is that of the result.
fn restore(short: &[u8], length: usize) -> Vec<u8> {
    let mut text = vec![0; length];
    let mut recent = Recent::new();
    let (mut from, mut to) = (0, 0);
    while from < short.len() {
        // Up to the next name nothing was changed.
        let plain = short[from..].iter().position(|&byte| is_mark(byte)).map_or(short.len() - from, |mark| mark + 1);
        text[to..to + plain].copy_from_slice(&short[from..from + plain]);
        from += plain;
        to += plain;
        while let Some(&byte) = short.get(from) {
            if !byte.is_ascii() {
                let recent = recent.of(text[to - 1]);
                let place = usize::from((byte & 0x7F) / NEAR as u8);
                let number = recent[place].wrapping_add(u32::from(byte) % NEAR).wrapping_sub(NEAR / 2);
                to_front(recent, place, number);
                to += write_number(&mut text[to..], number);
                from += 1;
            } else if is_of_name(byte) {
                text[to] = byte;
                from += 1;
                to += 1;
            } else if byte.is_ascii_digit() {
                let (digits, number) = leading_number(&short[from..]);
                if let Some(number) = number {
                    to_front(recent.of(text[to - 1]), KEPT - 1, number);
                }
                text[to..to + digits].copy_from_slice(&short[from..from + digits]);
                from += digits;
                to += digits;
            } else {
                break;
            }
        }
    }
    assert_eq!(to, length, "a whole text");
    text
}

/// Writes `number` in decimal and returns how many digits it has.
fn write_number(text: &mut [u8], number: u32) -> usize {
    // Nearly all have few digits, for which comparisons are sooner than a logarithm.
    let digits = match number {
        0..=9 => 1,
        10..=99 => 2,
        100..=999 => 3,
        1000..=9999 => 4,
        _ => number.ilog10() as usize + 1,
    };
    let mut rest = number;
    for digit in text[..digits].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    digits
}
