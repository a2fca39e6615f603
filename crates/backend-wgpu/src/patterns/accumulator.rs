//! WGSL of accumulators: `Acc` is one value or a structure of several, `combine` merges two, and shared memory and scratch hold them as
//! they are.

use isowarp_core::element::Ty;
use isowarp_core::ir::wgsl_type;
use std::fmt::Write as _;

/// The parts of an accumulator. A truth value is kept as a `u32`, since memory holds no others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Accumulator {
    parts: Vec<Ty>,
}

impl Accumulator {
    pub(super) fn new(parts: Vec<Ty>) -> Self {
        Self { parts }
    }

    /// Words of 32 bits that its parts take, without padding.
    pub(super) fn words(&self) -> u32 {
        self.parts.iter().map(|t| t.words() as u32).sum()
    }

    /// Bytes from one to the next in memory, as WGSL lays them out.
    pub(super) fn stride(&self) -> u64 {
        let end = self.parts.iter().fold(0_u64, |at, t| at.next_multiple_of(t.words() as u64 * 4) + t.words() as u64 * 4);
        let align = if self.parts.iter().any(|t| t.words() == 2) { 8 } else { 4 };
        end.next_multiple_of(align)
    }

    fn stored(ty: Ty) -> &'static str {
        if ty == Ty::Bool { "u32" } else { wgsl_type(ty) }
    }

    /// The type, and `combine` on it.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        if let [one] = self.parts[..] {
            let _ = writeln!(text, "alias Acc = {};", Self::stored(one));
        } else {
            let members: Vec<String> = self.parts.iter().enumerate().map(|(k, &t)| format!("r{k}: {}", Self::stored(t))).collect();
            let _ = writeln!(text, "struct Acc {{ {} }}", members.join(", "));
        }
        let arguments = [self.spread("a"), self.spread("b")].concat().join(", ");
        let _ = writeln!(text, "fn combine(a: Acc, b: Acc) -> Acc {{\n    {}\n}}", self.made_of(&format!("op_combine({arguments})")));
        text
    }

    /// The parts of accumulator `v` as arguments of an operator.
    pub(super) fn spread(&self, v: &str) -> Vec<String> {
        let part = |(k, t): (usize, &Ty)| {
            let place = if self.parts.len() == 1 { v.to_owned() } else { format!("{v}.r{k}") };
            if *t == Ty::Bool { format!("({place} != 0u)") } else { place }
        };
        self.parts.iter().enumerate().map(part).collect()
    }

    /// A return statement with the accumulator that a call of an operator gives.
    pub(super) fn made_of(&self, call: &str) -> String {
        match self.parts[..] {
            [Ty::Bool] => format!("return select(0u, 1u, {call});"),
            [_] => format!("return {call};"),
            _ => {
                let part = |(k, t): (usize, &Ty)| if *t == Ty::Bool { format!("select(0u, 1u, v.r{k})") } else { format!("v.r{k}") };
                let parts: Vec<String> = self.parts.iter().enumerate().map(part).collect();
                format!("let v = {call};\n    return Acc({});", parts.join(", "))
            }
        }
    }

    /// The accumulator of an operator's results.
    pub(super) fn made_of_parts(&self, parts: &[String]) -> String {
        let part = |(p, t): (&String, &Ty)| if *t == Ty::Bool { format!("select(0u, 1u, {p})") } else { p.clone() };
        let parts: Vec<String> = parts.iter().zip(&self.parts).map(part).collect();
        if let [one] = &parts[..] { one.clone() } else { format!("Acc({})", parts.join(", ")) }
    }

    /// The accumulator in consecutive parameters that start with `name`.
    pub(super) fn in_args(&self, name: &str) -> (Vec<String>, String) {
        let mut members = Vec::new();
        let mut values = Vec::new();
        for (k, &t) in self.parts.iter().enumerate() {
            let low = format!("{name}{k}");
            let high = format!("{name}{k}_high");
            let stored = if t == Ty::Bool { Ty::U32 } else { t };
            values.push(super::access::from_words(stored, &format!("args.{low}"), &format!("args.{high}")));
            members.push(low);
            if t.words() == 2 {
                members.push(high);
            }
        }
        (members, format!("Acc({})", values.join(", ")))
    }

    /// Whether its words go from lane to lane of a subgroup; more of them would cost more than shared memory does.
    pub(super) fn shuffles(&self) -> bool {
        self.words() <= 4
    }

    /// `words_of(v)` and `acc_of(w)`: accumulators as arrays of words.
    pub(super) fn word_functions(&self) -> String {
        let n = self.words();
        let words = self.to_words("v").join(", ");
        let back: Vec<String> = (0..n).map(|k| format!("w[{k}]")).collect();
        format!(
            "fn words_of(v: Acc) -> array<u32, {n}> {{\n    return array<u32, {n}>({words});\n}}\nfn acc_of(w: array<u32, {n}>) -> Acc {{\n    return {};\n}}\n",
            self.of_words(&back)
        )
    }

    /// `shuffle(v, lane)` and `shuffle_xor(v, mask)`, word by word: as integers, so that NaN and subnormal numbers pass unchanged.
    pub(super) fn shuffle_functions(&self) -> String {
        let mut text = String::new();
        for (name, builtin, parameter) in [("shuffle", "subgroupShuffle", "lane"), ("shuffle_xor", "subgroupShuffleXor", "mask")] {
            let words: Vec<String> = (0..self.words()).map(|k| format!("{builtin}(w[{k}], {parameter})")).collect();
            let words = words.join(", ");
            let n = self.words();
            let _ = writeln!(
                text,
                "fn {name}(v: Acc, {parameter}: u32) -> Acc {{\n    let w = words_of(v);\n    return acc_of(array<u32, {n}>({words}));\n}}"
            );
        }
        text
    }

    /// The 32-bit words of accumulator `v`, in order.
    pub(super) fn to_words(&self, v: &str) -> Vec<String> {
        let mut words = Vec::new();
        for (k, &t) in self.parts.iter().enumerate() {
            let place = if self.parts.len() == 1 { v.to_owned() } else { format!("{v}.r{k}") };
            match t.words() {
                1 => words.push(format!("bitcast<u32>({place})")),
                _ => {
                    words.push(format!("u32(bitcast<u64>({place}) & 0xfffffffflu)"));
                    words.push(format!("u32(bitcast<u64>({place}) >> 32u)"));
                }
            }
        }
        words
    }

    /// The accumulator in these words.
    pub(super) fn of_words(&self, words: &[String]) -> String {
        let mut at = words.iter();
        let mut next = || at.next().map_or("0u", String::as_str);
        let mut values = Vec::new();
        for &t in &self.parts {
            let low = next();
            let high = if t.words() == 2 { next() } else { "0u" };
            values.push(super::access::from_words(if t == Ty::Bool { Ty::U32 } else { t }, low, high));
        }
        format!("Acc({})", values.join(", "))
    }
}
