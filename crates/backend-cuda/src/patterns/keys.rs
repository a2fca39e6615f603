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

    /// What takes a hole's place, by its name without what it is of.
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
            _ => return Err(malformed()),
        })
    }
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
