//! Packs a file of PTX for [`unpack`](crate::packed::unpack). The build script does, and tests; no part of the library.

use crate::packed::{KEPT, NEAR, Recent, is_mark, is_of_name, leading_number, pieces, to_front};
use miniz_oxide::deflate::compress_to_vec;

/// Level at which deflate looks for repetitions. The highest ones make 3 % less of it, and in a build script, which is not optimized, take thrice
/// as long.
const LEVEL: u8 = 6;

/// Bytes that the text of a part has at most, where it is not one longer entry. A program asks for one entry at a
/// time, and unpacks the whole part for it: 2 ms for each MB. PTX of 18.8 MB took 1.83 MB with an entry in each part, 1.53 MB so, and
/// 1.48 MB with whole files.
const PART: usize = 256 << 10;

/// Returns the packed form of a file of PTX.
///
/// # Panics
/// When the text is not ASCII, as PTX is.
pub(crate) fn pack(text: &str) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut pieces = pieces(text);
    pack_part(pieces.next().unwrap_or_default(), 0, &mut packed);
    let (mut part, mut entries) = (String::new(), 0);
    for entry in pieces {
        if entries > 0 && part.len() + entry.len() > PART {
            pack_part(&part, entries, &mut packed);
            (part, entries) = (String::new(), 0);
        }
        part.push_str(entry);
        entries += 1;
    }
    if entries > 0 {
        pack_part(&part, entries, &mut packed);
    }
    packed
}

fn pack_part(text: &str, entries: usize, packed: &mut Vec<u8>) {
    let short = shorten(text);
    let deflated = compress_to_vec(&short, LEVEL);
    for number in [text.len(), short.len(), deflated.len(), entries] {
        packed.extend(u32::try_from(number).expect("a text of less than 4 GB").to_le_bytes());
    }
    packed.extend(deflated);
}

/// Writes each number of a register or a label that is near to a recent one as one byte.
fn shorten(text: &str) -> Vec<u8> {
    assert!(text.is_ascii(), "PTX is ASCII");
    let text = text.as_bytes();
    let mut short = Vec::with_capacity(text.len());
    let mut recent = Recent::new();
    let mut in_name = false;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if in_name && byte.is_ascii_digit() {
            let (digits, number) = leading_number(&text[at..]);
            match number.and_then(|number| code(recent.of(text[at - 1]), number)) {
                Some(code) => short.push(code),
                None => short.extend(&text[at..at + digits]),
            }
            at += digits;
        } else {
            in_name = is_mark(byte) || (in_name && is_of_name(byte));
            short.push(byte);
            at += 1;
        }
    }
    short
}

/// Returns the byte that tells `number` from the recent ones, if one is near. Either way it is the latest then.
fn code(recent: &mut [u32; KEPT], number: u32) -> Option<u8> {
    let step = |kept: u32| number.wrapping_add(NEAR / 2).wrapping_sub(kept);
    let near = recent.iter().position(|&kept| step(kept) < NEAR);
    let code = near.map(|place| 0x80 | (place as u8 * NEAR as u8) | step(recent[place]) as u8);
    to_front(recent, near.unwrap_or(KEPT - 1), number);
    code
}

#[cfg(test)]
mod tests {
    use super::{PART, pack, pieces, shorten};
    use crate::packed::{entries, parts, unpack};

    /// The texts of the parts.
    fn unpacked(packed: &[u8]) -> Vec<String> {
        let texts = parts(packed).map(|part| {
            let mut text = String::new();
            unpack(part, &mut text);
            text
        });
        texts.collect()
    }

    #[test]
    fn a_file_is_cut_before_entries_into_parts_of_few() {
        let before = "// a\n\n";
        let entry = |name: &str, lines: usize| format!(".visible .entry {name}(\n)\n{{\n{}}}\n\t// .globl\tb\n", "\tret;\n".repeat(lines));
        let texts = [entry("a", 1), entry("b", 1), entry("c", PART / 10), entry("d", PART / 10), entry("e", PART), entry("f", 1)];
        let text = before.to_owned() + &texts.concat();
        let packed = pack(&text);
        assert_eq!(unpacked(&packed), [before, &texts[..3].concat(), &texts[3], &texts[4], &texts[5]]);
        assert_eq!(parts(&packed).map(entries).collect::<Vec<_>>(), [0, 3, 1, 1, 1]);
        assert_eq!(pieces(&text).collect::<Vec<_>>()[1..], texts);
    }

    #[test]
    fn numbers_however_written_come_back_as_they_were() {
        let texts = [
            "",
            "no name at all, 12 and 13",
            "%",
            "%r",
            "%r1",
            "%r1 %r1 %r2 %rd2 %r65 %r0 %r00 %r01 %r9 %r09",
            "%r99999999 %r100000000 %r999999999 %r1000000000 %r4294967295 %r4294967296 %r99999999999999999999 %r999999991",
            "%1%2$3$$4%%5_6__7",
            "$L__BB0_1:\n\tadd.s32 \t%r3, %r1, -4;\n\t@%p1 bra \t$L__BB0_1;\n\t.reg .b32 \t%r<4>;\n",
            "%r1a2b3 %tid.x3 %r4|%p5, [%rd6+7]",
        ];
        for text in texts {
            assert_eq!(unpacked(&pack(text)), [text]);
        }
        // Distances from the farthest below to the farthest above of what a byte tells, and beyond, from each of the numbers that are kept.
        let mut text = String::new();
        for base in 0..12 {
            for distance in 0..20 {
                text += &format!("%r{} %rd{}\n", base * 1000 + distance, (base * 1000 + 500) - distance);
            }
            text += &format!("%r{}, %r{}, %rd{}\n", base * 700, base * 1000 + 19, base % 3 * 1000 + 500);
        }
        assert_eq!(unpacked(&pack(&text)), [text]);
    }

    #[test]
    fn the_same_lines_with_later_numbers_are_the_same_bytes() {
        let lines = |from: u32| {
            let (a, b, c) = (from, from + 1, from + 2);
            format!("\tadd.s32 \t%r{b}, %r{a}, 1;\n\tsetp.eq.s32 \t%p{b}, %r{b}, %r{a};\n\tmul.lo.s32 \t%r{c}, %r{b}, %r{a};\n")
        };
        let of = |text: &str| shorten(text).len();
        let (first, later) = (lines(100) + &lines(103), lines(100) + &lines(103) + &lines(106));
        assert!(shorten(&later).ends_with(&shorten(&first)[of(&lines(100))..]));
    }

    #[test]
    #[should_panic(expected = "PTX is ASCII")]
    fn what_is_not_ascii_is_refused() {
        pack("// é");
    }
}
