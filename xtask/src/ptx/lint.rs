//! PTX that would break the numerics contract is refused at build time.
//!
//! ptxas may contract `mul` and `add` that carry no rounding modifier into an fma, may flush where
//! `.ftz` is written, and `.approx` instructions differ between GPU generations. It has also been wrong where it joined
//! integer instructions (`isowarp_core::ir::Ptx` says how operators are kept from that); kernels must not have those shapes.

use std::collections::{BTreeMap, HashMap};

/// Instructions that a source may use all the same: source, instruction, and why its result is still the contract's.
const WAIVERS: &[(&str, &str, &str)] = &[
    ("filter.cu", "sqrt.approx.f32", "of an integer below 2^22, rounded to one of 256 levels: the nearest level is the exact root's"),
    (
        "filter.cu",
        "rsqrt.approx.ftz.f32",
        "of normal numbers, and a seed only: any value within its bound leads to the correctly rounded root",
    ),
];

/// Faults of the PTX that `source` was built to: one line for each instruction, with its count and first place.
pub(super) fn check(source: &str, ptx: &str) -> Vec<String> {
    let waived = |opcode: &str| WAIVERS.iter().any(|&(file, instruction, _)| file == source && instruction == opcode);
    // Instruction: its fault, where it first stands, how often it stands.
    let mut found: BTreeMap<&str, (&str, usize, usize)> = BTreeMap::new();
    let mut written = Written::default();
    let mut words = Told::default();
    for (index, line) in ptx.lines().enumerate() {
        if line.contains(".entry ") {
            // Each has registers of its own.
            (written, words) = <_>::default();
        }
        let inverts = words.inverts(line);
        let Some(opcode) = opcode(line) else { continue };
        let fault = if let Some(fault) = written.joined(opcode, line) {
            fault
        } else if inverts {
            "may lose the inversion of a word that its block is entered by"
        } else if opcode.contains(".approx") {
            "differs between GPU generations"
        } else if opcode.contains(".ftz") {
            "flushes subnormal numbers"
        } else if may_contract(opcode) {
            "may be contracted to an fma"
        } else {
            continue;
        };
        if !waived(opcode) {
            found.entry(opcode).or_insert((fault, index + 1, 0)).2 += 1;
        }
    }
    found.into_iter().map(|(opcode, (fault, line, count))| format!("`{opcode}` {fault} ({count} times, first in line {line})")).collect()
}

/// Last instruction that wrote each register, looked up through copies and selections.
#[derive(Default)]
struct Written<'a>(HashMap<&'a str, Vec<&'a str>>);

impl<'a> Written<'a> {
    /// The fault of an integer instruction that the assembler has joined wrongly with what its operands come from.
    fn joined(&mut self, opcode: &'a str, line: &'a str) -> Option<&'static str> {
        let mut registers = registers(opcode, line);
        let to = registers.next()?;
        let from: Vec<&str> = registers.flat_map(|reg| self.0.get(reg).into_iter().flatten().copied()).collect();
        let fault = match opcode {
            "cvt.s64.u32" | "cvt.u64.s32" => Some("is extended by the other signedness where it is shifted"),
            "abs.s32" | "abs.s64" => Some("is taken to have no sign"),
            "min.s32" | "max.s32" | "min.u32" | "max.u32" if from.iter().any(|op| op.starts_with("neg.")) => {
                Some("may lose a sign of its operand")
            }
            "cvt.rn.f32.u32" | "cvt.rn.f64.u32" if from.iter().any(|op| op.ends_with(".s8") || op.ends_with(".s16")) => {
                Some("may read its operand as a signed byte")
            }
            _ => None,
        };
        let copies = opcode.starts_with("mov.") || opcode.starts_with("selp.");
        self.0.insert(to, if copies { from } else { vec![opcode] });
        fault
    }
}

/// Registers of an instruction, the one that it writes first.
fn registers<'a>(opcode: &str, line: &'a str) -> impl Iterator<Item = &'a str> {
    let operands = line.split_once(opcode).map_or("", |(_, rest)| rest).trim().trim_end_matches(';');
    operands.split([',', '{', '}', '[', ']', ' ', '\t', '+']).filter(|word| word.starts_with('%'))
}

/// Words whose values the assembler knows from the branch that their block is entered by.
#[derive(Default)]
struct Told<'a> {
    /// Integers that a predicate compares, and whether they are equal where it holds.
    compared: HashMap<&'a str, (Vec<&'a str>, bool)>,
    /// Words that are known where a label is jumped to: none where that is done from several places.
    jumps: HashMap<&'a str, Vec<&'a str>>,
    known: Vec<&'a str>,
}

impl<'a> Told<'a> {
    /// Takes the next line; whether its instruction inverts a word that is known.
    fn inverts(&mut self, line: &'a str) -> bool {
        let line = line.trim();
        if let Some(label) = line.strip_suffix(':') {
            self.known = self.jumps.remove(label).unwrap_or_default();
        }
        if let Some((guard, target)) = line.split_once(" bra ") {
            self.branch(guard.trim_start_matches('@'), target.trim().trim_end_matches(';'));
        }
        let Some(opcode) = opcode(line) else { return false };
        let mut words = registers(opcode, line);
        let Some(to) = words.next() else { return false };
        let inverts = opcode.starts_with("not.") || (opcode.starts_with("xor.") && line.ends_with("-1;"));
        let equal = opcode.starts_with("setp.eq.");
        if (equal || opcode.starts_with("setp.ne.")) && !opcode.contains(".f") {
            self.compared.insert(to, (words.collect(), equal));
            return false;
        }
        let fault = inverts && words.any(|word| self.known.contains(&word));
        self.known.retain(|&word| word != to);
        fault
    }

    fn branch(&mut self, guard: &'a str, target: &'a str) {
        let (predicate, holds) = guard.strip_prefix('!').map_or((guard, true), |p| (p, false));
        let Some((words, equal)) = self.compared.get(predicate).cloned() else { return };
        if equal == holds {
            let first = !self.jumps.contains_key(target);
            self.jumps.insert(target, if first { words } else { Vec::new() });
        } else {
            self.known.extend(words);
        }
    }
}

/// The instruction on a line, without its predicate and operands.
fn opcode(line: &str) -> Option<&str> {
    let line = line.trim();
    if line.starts_with("//") || line.starts_with('.') {
        return None;
    }
    let mut words = line.trim_start_matches(['{', ' ', '\t']).split_whitespace();
    let first = words.next()?;
    let word = if first.starts_with('@') { words.next()? } else { first };
    word.contains('.').then(|| word.trim_end_matches(';'))
}

/// A float add, subtract or multiply without a rounding modifier.
fn may_contract(opcode: &str) -> bool {
    let mut parts = opcode.split('.');
    let arithmetic = matches!(parts.next(), Some("add" | "sub" | "mul"));
    let rest: Vec<&str> = parts.collect();
    let float = rest.last().is_some_and(|kind| matches!(*kind, "f16" | "f16x2" | "bf16" | "bf16x2" | "f32" | "f64"));
    let rounded = rest.iter().any(|part| matches!(*part, "rn" | "rz" | "rm" | "rp"));
    arithmetic && float && !rounded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_products_flushes_and_approximations_are_refused() {
        let ptx = "\tmul.f32 %f1, %f2, %f3;\n\t@%p1 add.ftz.f32 %f1, %f2, %f3;\n\tex2.approx.f32 %f1, %f2;\n\tmul.f32 %f1, %f2, %f3;\n";
        let faults = check("any.cu", ptx);
        assert_eq!(
            faults,
            [
                "`add.ftz.f32` flushes subnormal numbers (1 times, first in line 2)",
                "`ex2.approx.f32` differs between GPU generations (1 times, first in line 3)",
                "`mul.f32` may be contracted to an fma (2 times, first in line 1)",
            ]
        );
    }

    #[test]
    fn integers_that_the_assembler_has_joined_wrongly_are_refused() {
        let faults = |ptx: &str| check("any.cu", ptx).len();
        assert_eq!(faults("\tneg.s32 %r2, %r1;\n\tmov.u32 %r3, %r2;\n\tmax.s32 %r4, %r1, %r3;\n"), 1);
        assert_eq!(faults("\tneg.s32 %r2, %r1;\n\tadd.s32 %r2, %r1, 1;\n\tmax.s32 %r4, %r1, %r2;\n"), 0);
        assert_eq!(faults("\tneg.s32 %r2, %r1;\n.visible .entry next(\n\tmax.s32 %r4, %r1, %r2;\n"), 0);
        assert_eq!(faults("\tld.global.s8 %r1, [%rd1+4];\n\tcvt.rn.f32.u32 %f1, %r1;\n\tcvt.rn.f32.s32 %f2, %r1;\n"), 1);
        assert_eq!(faults("\tcvt.s64.u32 %rd1, %r1;\n\tabs.s32 %r2, %r1;\n\tcvt.u64.u32 %rd2, %r1;\n"), 2);
    }

    #[test]
    fn an_inversion_of_what_a_branch_tells_is_refused() {
        let faults = |ptx: &str| check("any.cu", ptx).len();
        let block = |test: &str, guard: &str| {
            format!("\tsetp.{test} %p1,%r1,5;\n\t@{guard} bra $1;\n\tnot.b32 %r2,%r1;\n$1:\n\txor.b32 %r3,%r1,-1;\n")
        };
        assert_eq!([block("ne.s32", "%p1"), block("eq.b32", "!%p1"), block("eq.s64", "%p1")].map(|ptx| faults(&ptx)), [1; 3]);
        // Floats tell no bits, another word is not known, nor is one that was written since.
        assert_eq!([block("ne.f32", "%p1"), block("lt.s32", "%p1")].map(|ptx| faults(&ptx)), [0; 2]);
        assert_eq!(faults("\tsetp.ne.s32 %p1,%r1,0;\n\t@%p1 bra $1;\n\tnot.b32 %r2,%r4;\n\tmov.u32 %r1,%r2;\n\tnot.b32 %r3,%r1;\n"), 0);
        // Nor one behind a label that is jumped to from two places.
        assert_eq!(faults("\tsetp.eq.s32 %p1,%r1,0;\n\t@%p1 bra $1;\n\t@%p1 bra $1;\n$1:\n\tnot.b32 %r3,%r1;\n"), 0);
    }

    #[test]
    fn rounded_and_integer_arithmetic_passes() {
        let ptx = "\tmul.rn.f32 %f1, %f2, %f3;\n\tadd.s32 %r1, %r2, %r3;\n\tmul.wide.u32 %rd1, %r1, 4;\n\tfma.rn.f32 %f1, %f2, %f3, %f4;\n// mul.f32 in a comment\n\tdiv.rn.f64 %fd1, %fd2, %fd3;\n";
        assert!(check("any.cu", ptx).is_empty());
    }

    #[test]
    fn a_waiver_is_for_one_instruction_of_one_source() {
        let ptx = "\tsqrt.approx.f32 %f1, %f2;\n";
        assert!(check("filter.cu", ptx).is_empty());
        assert_eq!(check("map.cu", ptx).len(), 1);
        assert_eq!(check("filter.cu", "\trsqrt.approx.f32 %f1, %f2;\n").len(), 1);
    }
}
