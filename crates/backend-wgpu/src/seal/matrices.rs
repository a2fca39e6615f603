//! Matrix instructions of subgroups (`SPV_KHR_cooperative_matrix`) of the types and sizes that an adapter has.
//!
//! naga knows matrices of 8 or 16 rows and columns, of floats. A kernel is written with these, and a line in it says what they are: the module is rewritten
//! after naga has validated it. Memory that several invocations reach is said to be that, as SPIR-V's Vulkan memory model wants it, which these modules are of.

use super::words::{
    HEADER_WORDS, ID_BOUND, Instruction, OP_ACCESS_CHAIN, OP_CAPABILITY, OP_CONSTANT, OP_TYPE_FLOAT, OP_TYPE_INT, instructions, push,
};
use isowarp_core::launch::{MatrixFactors, MatrixShape};
use std::collections::HashMap;

const OP_TYPE_POINTER: u16 = 32;
const OP_VARIABLE: u16 = 59;
const OP_LOAD: u16 = 61;
const OP_STORE: u16 = 62;
const OP_CONTROL_BARRIER: u16 = 224;
const OP_TYPE_MATRIX: u16 = 4456;
const OP_MATRIX_LOAD: u16 = 4457;
const OP_MATRIX_STORE: u16 = 4458;
const OP_MULTIPLY_ADD: u16 = 4459;

const CAPABILITY_FLOAT16: u32 = 9;
const CAPABILITY_INT8: u32 = 39;
/// Storage classes that several invocations reach: workgroup memory and storage buffers.
const SHARED: [u32; 2] = [4, 12];
const NON_PRIVATE_POINTER: u32 = 0x20;
/// MakeAvailable and MakeVisible.
const AVAILABLE_AND_VISIBLE: u32 = 0x2000 | 0x4000;
/// A, B, C and the result are signed.
const ALL_SIGNED: u32 = 15;

/// Types and sizes of a kernel's matrices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Matrices {
    factors: MatrixFactors,
    /// Rows of A, columns of B, and terms.
    sides: [u32; 3],
}

impl Matrices {
    /// The line of a kernel's text with these.
    pub(crate) fn line(factors: MatrixFactors, shape: MatrixShape) -> String {
        let MatrixShape { m, n, k, .. } = shape;
        format!("// @matrices factors={} m={m} n={n} k={k}\n", factors as u32)
    }

    /// Reads the line of a text, where it has one.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let line = text.lines().find_map(|line| line.strip_prefix("// @matrices "))?;
        let numbers: Vec<u32> = line.split_whitespace().filter_map(|part| part.split_once('=')?.1.parse().ok()).collect();
        let &[factors, m, n, k] = &numbers[..] else { return None };
        let factors = [MatrixFactors::Half, MatrixFactors::Signed, MatrixFactors::Unsigned].into_iter().find(|&f| f as u32 == factors)?;
        Some(Self { factors, sides: [m, n, k] })
    }

    /// Rewrites a module of naga's.
    pub(crate) fn write(&self, words: &[u32]) -> Vec<u32> {
        let module = Module::of(words);
        let Some(first) = module.first_matrix else { return words.to_vec() };
        let mut out = Writer { words: words[..HEADER_WORDS].to_vec(), next: words[ID_BOUND] };
        let signed = u32::from(self.factors == MatrixFactors::Signed);
        // Types of factors and of sums, by opcode and operands after the id.
        let (factor, sum, capability): (Number, Number, _) = match self.factors {
            MatrixFactors::Half => ((OP_TYPE_FLOAT, [16, 0]), (OP_TYPE_FLOAT, [32, 0]), CAPABILITY_FLOAT16),
            _ => ((OP_TYPE_INT, [8, signed]), (OP_TYPE_INT, [32, signed]), CAPABILITY_INT8),
        };
        let (mut sides, mut types) = ([0; 3], [0; 2]);
        let mut semantics = HashMap::new();
        for i in instructions(words) {
            let whole = &words[i.at..=i.at + i.operands.len()];
            if i.at == first {
                for (id, side) in sides.iter_mut().zip(self.sides) {
                    *id = out.constant(module.word, side);
                }
                for &id in &module.barriers {
                    let value = module.constants.get(&id).copied().unwrap_or(0);
                    semantics.insert(id, out.constant(module.word, value | AVAILABLE_AND_VISIBLE));
                }
                types = [factor, sum].map(|number| {
                    let there = module.numbers.get(&number).copied();
                    let id = there.map_or_else(|| out.id(), |(id, _)| id);
                    if there.is_none_or(|(_, at)| at > first) {
                        let (opcode, operands) = number;
                        let count = if opcode == OP_TYPE_INT { 2 } else { 1 };
                        push(&mut out.words, opcode, &[&[id], &operands[..count]].concat());
                    }
                    id
                });
            }
            match (i.opcode, i.operands) {
                // The order of capabilities does not matter.
                (OP_CAPABILITY, _) if i.at == HEADER_WORDS => {
                    out.words.extend(whole);
                    push(&mut out.words, OP_CAPABILITY, &[capability]);
                }
                // Stands before the first matrix now.
                _ if i.at > first && number(&i).is_some_and(|number| number == factor || number == sum) => {}
                // naga takes the type of what is loaded from the pointer.
                (OP_TYPE_MATRIX, &[id, _, scope, _, _, role]) => {
                    let which = module.constants.get(&role).copied().unwrap_or(0);
                    let [m, n, k] = sides;
                    let [rows, columns] = match which {
                        0 => [m, k],
                        1 => [k, n],
                        _ => [m, n],
                    };
                    let ty = types[usize::from(which == 2)];
                    push(&mut out.words, OP_TYPE_MATRIX, &[id, ty, scope, rows, columns, role]);
                }
                (OP_MULTIPLY_ADD, operands) if self.factors == MatrixFactors::Signed => {
                    push(&mut out.words, OP_MULTIPLY_ADD, &[operands, &[ALL_SIGNED]].concat());
                }
                (OP_LOAD | OP_STORE | OP_MATRIX_LOAD | OP_MATRIX_STORE, operands) if module.is_shared(&i) => {
                    push(&mut out.words, i.opcode, &[operands, &[NON_PRIVATE_POINTER]].concat());
                }
                (OP_CONTROL_BARRIER, &[execution, memory, flags]) => {
                    push(&mut out.words, OP_CONTROL_BARRIER, &[execution, memory, semantics.get(&flags).copied().unwrap_or(flags)]);
                }
                _ => out.words.extend(whole),
            }
        }
        out.words[ID_BOUND] = out.next;
        out.words
    }
}

struct Writer {
    words: Vec<u32>,
    next: u32,
}

impl Writer {
    fn id(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    fn constant(&mut self, ty: u32, value: u32) -> u32 {
        let id = self.id();
        push(&mut self.words, OP_CONSTANT, &[ty, id, value]);
        id
    }
}

/// A type of numbers: its opcode, its bits and whether it is signed.
type Number = (u16, [u32; 2]);

fn number(i: &Instruction<'_>) -> Option<Number> {
    match (i.opcode, i.operands) {
        (OP_TYPE_INT, &[_, bits, signed]) => Some((OP_TYPE_INT, [bits, signed])),
        (OP_TYPE_FLOAT, &[_, bits]) => Some((OP_TYPE_FLOAT, [bits, 0])),
        _ => None,
    }
}

/// Parts of a module that a rewrite looks at.
#[derive(Default)]
struct Module {
    /// Place of the first matrix type.
    first_matrix: Option<usize>,
    /// The type `u32`.
    word: u32,
    /// Types of numbers: ids and places.
    numbers: HashMap<Number, (u32, usize)>,
    /// Words of constants.
    constants: HashMap<u32, u32>,
    /// Pointers to what several invocations reach.
    shared: Vec<u32>,
    /// Semantics of barriers.
    barriers: Vec<u32>,
}

impl Module {
    fn of(words: &[u32]) -> Self {
        let mut out = Self::default();
        let mut shared_types = Vec::new();
        for i in instructions(words) {
            if let Some(number) = number(&i) {
                out.numbers.insert(number, (i.operands[0], i.at));
                if number == (OP_TYPE_INT, [32, 0]) {
                    out.word = i.operands[0];
                }
            }
            match (i.opcode, i.operands) {
                (OP_CONSTANT, &[_, id, value]) => {
                    out.constants.insert(id, value);
                }
                (OP_TYPE_POINTER, &[id, class, _]) if SHARED.contains(&class) => shared_types.push(id),
                (OP_VARIABLE | OP_ACCESS_CHAIN, &[ty, id, ..]) if shared_types.contains(&ty) => out.shared.push(id),
                (OP_CONTROL_BARRIER, &[_, _, semantics]) if !out.barriers.contains(&semantics) => out.barriers.push(semantics),
                (OP_TYPE_MATRIX, _) => out.first_matrix = out.first_matrix.or(Some(i.at)),
                _ => {}
            }
        }
        out
    }

    /// Whether an access without memory operands is one of what several invocations reach.
    fn is_shared(&self, i: &Instruction<'_>) -> bool {
        let pointer = match (i.opcode, i.operands) {
            (OP_LOAD, &[_, _, pointer]) | (OP_STORE, &[pointer, _]) => pointer,
            (OP_MATRIX_LOAD, &[_, _, pointer, _, _]) | (OP_MATRIX_STORE, &[pointer, _, _, _]) => pointer,
            _ => return false,
        };
        self.shared.contains(&pointer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::{self, Indices, SealOptions, Zeroes};
    use MatrixFactors::{Half, Signed, Unsigned};

    const SHAPE: MatrixShape = MatrixShape { m: 16, n: 8, k: 32, lanes: 32 };

    fn sealed(factors: MatrixFactors) -> Vec<u32> {
        let text = format!(
            "enable wgpu_cooperative_matrix;
{}@group(0) @binding(0) var<storage, read> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> results: array<f32>;
var<workgroup> tile: array<f32, 256>;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32) {{
    let a = coopLoadT<coop_mat16x16<f32, A>>(&values[0], 8u);
    let b = coopLoad<coop_mat16x16<f32, B>>(&values[128], 8u);
    let sum = coopMultiplyAdd(a, b, coop_mat16x16<f32, C>());
    coopStoreT(sum, &tile[0], 8u);
    workgroupBarrier();
    results[i] = tile[i] + f32(bitcast<i32>(values[i]));
}}
",
            Matrices::line(factors, SHAPE)
        );
        let features = wgpu::Features::all();
        let parsed = seal::parse("matrices", &text, seal::capabilities(features)).expect("a kernel");
        let options = SealOptions { features, zeroes: Zeroes::Nobody, indices: Indices::Trusted, ..SealOptions::default() };
        parsed.seal("main", &options).expect("a module")
    }

    /// Operands of all instructions of an opcode.
    fn all(words: &[u32], opcode: u16) -> Vec<Vec<u32>> {
        instructions(words).filter(|i| i.opcode == opcode).map(|i| i.operands.to_vec()).collect()
    }

    #[test]
    fn matrices_have_the_types_and_sizes_of_the_line() {
        for (factors, numbers, capability, signs) in [
            (Half, (OP_TYPE_FLOAT, [16, 0], [32, 0]), CAPABILITY_FLOAT16, None),
            (Signed, (OP_TYPE_INT, [8, 1], [32, 1]), CAPABILITY_INT8, Some(ALL_SIGNED)),
            (Unsigned, (OP_TYPE_INT, [8, 0], [32, 0]), CAPABILITY_INT8, None),
        ] {
            let words = sealed(factors);
            let module = Module::of(&words);
            let (opcode, factor, sum) = numbers;
            let sides: Vec<_> = all(&words, OP_TYPE_MATRIX)
                .iter()
                .map(|of| (of[1], module.constants[&of[3]], module.constants[&of[4]], module.constants[&of[5]]))
                .collect();
            let (factor, sum) = (module.numbers[&(opcode, factor)].0, module.numbers[&(opcode, sum)].0);
            assert!(sides.contains(&(factor, 16, 32, 0)) && sides.contains(&(factor, 32, 8, 1)) && sides.contains(&(sum, 16, 8, 2)));
            assert!(all(&words, OP_CAPABILITY).contains(&vec![capability]));
            assert_eq!(all(&words, OP_MULTIPLY_ADD)[0].get(5).copied(), signs);
            // A type stands once, and before what is made of it.
            let mut types: Vec<_> = instructions(&words).filter_map(|i| number(&i)).collect();
            let count = types.len();
            types.sort_unstable();
            types.dedup();
            assert_eq!(types.len(), count);
            let first = module.first_matrix.expect("matrices");
            assert!(
                [(opcode, factor), (opcode, sum)].iter().all(|&(_, id)| module.numbers.values().any(|&(of, at)| of == id && at < first))
            );
        }
    }

    #[test]
    fn accesses_of_what_invocations_share_say_so() {
        let words = sealed(Signed);
        let module = Module::of(&words);
        for opcode in [OP_LOAD, OP_STORE, OP_MATRIX_LOAD, OP_MATRIX_STORE] {
            for i in instructions(&words).filter(|i| i.opcode == opcode) {
                assert!(!module.is_shared(&i), "{i:?}");
            }
        }
        let marked = |opcode| all(&words, opcode).iter().filter(|of| of.last() == Some(&NON_PRIVATE_POINTER)).count();
        assert_eq!((marked(OP_MATRIX_LOAD), marked(OP_MATRIX_STORE)), (2, 1));
        let semantics = &all(&words, OP_CONTROL_BARRIER)[0];
        assert_eq!(module.constants[&semantics[2]] & AVAILABLE_AND_VISIBLE, AVAILABLE_AND_VISIBLE);
    }

    #[test]
    fn a_text_without_the_line_is_left_as_it_is() {
        assert_eq!(Matrices::of_text("fn main() {}"), None);
        assert_eq!(Matrices::of_text("// @matrices factors=7 m=1 n=1 k=1"), None);
        let line = Matrices::line(Half, SHAPE);
        assert_eq!(Matrices::of_text(&line), Some(Matrices { factors: Half, sides: [16, 8, 32] }));
    }
}
