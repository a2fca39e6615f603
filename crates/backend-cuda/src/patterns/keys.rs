//! Keys and values that kernels move: those of up to four bytes by the words of one kernel, whose holes know how wide they are. See `keys.cuh`.

use crate::backend::Cuda;
use crate::module;
use crate::splice::{Fill, Site};
use isowarp_core::error::{Error, Result};
use isowarp_kernels::Kernel;

/// Elements in memory, as a kernel holds them in words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// Bytes of an element.
    pub(super) size: u64,
    /// Bits of the word below a narrow one.
    pub(super) below: u32,
}

impl Held {
    /// Elements that are the low bits of a word.
    pub(super) fn low(size: u64) -> Self {
        Self { size, below: 0 }
    }

    /// Elements that are the high bits of a word.
    pub(super) fn high(size: u64) -> Self {
        Self { size, below: 32u32.saturating_sub(8 * size as u32) }
    }

    /// Text that fills a hole, by the hole's name without its argument.
    pub(super) fn fill(self, hole: &str, site: &Site<'_>) -> Result<String> {
        let Self { size, below } = self;
        let bits = 8 * size;
        let malformed = || {
            let log = format!("hole `{}` has the operands {:?}", site.name, site.regs);
            Error::Compile { kernel: site.entry.to_owned(), log }
        };
        let at = |element: &str| element.parse::<u64>().map(|element| size * element).map_err(|_| malformed());
        let up = |word: &str| if below > 0 { format!(" shl.b32 {word}, {word}, {below};") } else { String::new() };
        Ok(match (hole, &site.regs[..]) {
            ("at", [at, base, i]) => format!("mad.wide.u32 {at}, {i}, {size}, {base};"),
            ("far", [at, base, i]) => format!("mad.lo.u64 {at}, {i}, {size}, {base};"),
            ("load", [word, base, element]) => format!("ld.global.u{bits} {word}, [{base}+{}];{}", at(element)?, up(word)),
            ("load_of", [word, a, b, of_a, element]) => {
                let (at, up) = (at(element)?, up(word));
                let loads = format!("@%p ld.global.u{bits} {word}, [{a}+{at}]; @!%p ld.global.u{bits} {word}, [{b}+{at}];");
                format!("{{ .reg .pred %p; setp.ne.u32 %p, {of_a}, 0; {loads}{up} }}")
            }
            ("store", [base, i, word]) => {
                let (down, stored) = if below > 0 { (format!("shr.u32 %word, {word}, {below};"), "%word") } else { (String::new(), *word) };
                let place = format!("mad.wide.u32 %at, {i}, {size}, {base};");
                format!("{{ .reg .b32 %word; .reg .b64 %at; {down} {place} st.global.u{bits} [%at], {stored}; }}")
            }
            ("store4", [base, i, a, b, c, d]) => store4(size, below, &format!("mad.wide.u32 %at, {i}, {size}, {base};"), [a, b, c, d]),
            _ => return Err(malformed()),
        })
    }
}

/// Four neighbours at once, where the first is aligned to as many: narrow ones are put together in words.
fn store4(size: u64, below: u32, place: &str, [a, b, c, d]: [&str; 4]) -> String {
    // The first byte that counts in each word, of which a selector picks: the second word's bytes are numbers 4 to 7.
    let first = below / 8;
    let stored = match size {
        1 => {
            let pair = (4 + first) << 4 | first;
            let pairs = format!("prmt.b32 %a, {a}, {b}, {pair}; prmt.b32 %b, {c}, {d}, {pair}; prmt.b32 %a, %a, %b, 0x5410;");
            format!("{pairs} st.global.b32 [%at], %a;")
        }
        2 => {
            let pair = (5 + first) << 12 | (4 + first) << 8 | (1 + first) << 4 | first;
            format!("prmt.b32 %a, {a}, {b}, {pair}; prmt.b32 %b, {c}, {d}, {pair}; st.global.v2.b32 [%at], {{%a, %b}};")
        }
        _ => format!("st.global.v4.b32 [%at], {{{a}, {b}, {c}, {d}}};"),
    };
    format!("{{ .reg .b32 %a, %b; .reg .b64 %at; {place} {stored} }}")
}

/// Calls `f` with what fills those of these holes that keys and values leave, and with `others`.
pub(super) fn with_fills<R>(holes: &[&str], (keys, values): (Held, Held), others: &[Fill<'_>], f: impl FnOnce(&[Fill<'_>]) -> R) -> R {
    let moved = holes.iter().filter_map(|&name| {
        let of = name.strip_prefix("key_").map(|hole| (keys, hole));
        let (held, hole) = of.or_else(|| name.strip_prefix("value_").map(|hole| (values, hole)))?;
        Some((name, move |site: &Site<'_>| held.fill(hole, site)))
    });
    let bodies: Vec<_> = moved.collect();
    let fills = bodies.iter().map(|(name, body)| Fill { name, body });
    f(&fills.chain(others.iter().copied()).collect::<Vec<_>>())
}

impl Cuda {
    /// A kernel whose holes load and store keys, and values, as they lie in memory.
    pub(super) fn moving_kernel(&self, kernel: Kernel, held: (Held, Held)) -> Result<module::Kernel> {
        let key = u128::from(held.0.size << 8 | held.1.size);
        match self.known_kernel(&(kernel, key)) {
            Some(kernel) => Ok(kernel),
            None => with_fills(kernel.holes(), held, &[], |fills| self.kernel((kernel, key), fills)),
        }
    }

    /// The same where keys are the high bits of a word, and nothing else is moved.
    pub(super) fn key_kernel(&self, kernel: Kernel, size: u64) -> Result<module::Kernel> {
        self.moving_kernel(kernel, (Held::high(size), Held::low(4)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Result of `prmt.b32` of two words.
    fn permuted(a: u32, b: u32, selector: u32) -> u32 {
        let bytes: Vec<u8> = a.to_le_bytes().into_iter().chain(b.to_le_bytes()).collect();
        u32::from_le_bytes(std::array::from_fn(|k| bytes[(selector >> (4 * k) & 7) as usize]))
    }

    #[test]
    fn four_narrow_elements_are_stored_as_they_follow_each_other() {
        for (size, high) in [(1, true), (2, true), (1, false), (2, false)] {
            let held = if high { Held::high(size) } else { Held::low(size) };
            let site = Site {
                name: "key_store4",
                regs: vec!["%rd1", "%r1", "%w0", "%w1", "%w2", "%w3"],
                entry: "any",
                param: "any_param_0",
                index: 0,
            };
            let text = held.fill("store4", &site).expect("a hole of keys");
            // The words hold 1, 2, 3 and 4, as wide as an element, and something else beside it.
            let word = |v: u32| if high { v << held.below | 0x99 } else { v | 0x9900_0000 | if size == 1 { 0x9900 } else { 0 } };
            let selectors: Vec<u32> = text
                .split("prmt.b32 ")
                .skip(1)
                .map(|rest| {
                    let selector = rest.split(';').next().and_then(|operands| operands.rsplit(' ').next()).expect("a selector");
                    selector.strip_prefix("0x").map_or_else(|| selector.parse(), |hex| u32::from_str_radix(hex, 16)).expect("a number")
                })
                .collect();
            let (a, b) = (permuted(word(1), word(2), selectors[0]), permuted(word(3), word(4), selectors[1]));
            if size == 1 {
                assert_eq!(permuted(a, b, selectors[2]).to_le_bytes(), [1, 2, 3, 4], "{text}");
            } else {
                assert_eq!((a, b), (0x0002_0001, 0x0004_0003), "{text}");
            }
        }
    }
}
