//! Editing SPIR-V as words: what naga does not write, added afterwards.
//!
//! Section and opcode numbers are those of the SPIR-V specification, 2.4 (logical layout) and 3.52 (instructions).

use super::FloatControls;
use std::collections::HashMap;

pub(super) const HEADER_WORDS: usize = 5;
/// Place of the number that all ids are below.
pub(super) const ID_BOUND: usize = 3;

const OP_EXTENSION: u16 = 10;
const OP_EXT_INST_IMPORT: u16 = 11;
const OP_EXT_INST: u16 = 12;
const OP_ENTRY_POINT: u16 = 15;
const OP_EXECUTION_MODE: u16 = 16;
pub(super) const OP_CAPABILITY: u16 = 17;
pub(super) const OP_TYPE_FLOAT: u16 = 22;
const OP_TYPE_VECTOR: u16 = 23;
pub(super) const OP_TYPE_INT: u16 = 21;
pub(super) const OP_CONSTANT: u16 = 43;
const OP_FUNCTION: u16 = 54;
const OP_FUNCTION_CALL: u16 = 57;
pub(super) const OP_ACCESS_CHAIN: u16 = 65;
const OP_I_ADD: u16 = 128;
const OP_I_SUB: u16 = 130;
const OP_SHIFT_RIGHT_LOGICAL: u16 = 194;
const OP_SHIFT_LEFT_LOGICAL: u16 = 196;
const OP_F_ADD: u16 = 129;
const OP_F_MUL: u16 = 133;
const OP_F_ORD_NOT_EQUAL: u16 = 182;
const OP_F_UNORD_NOT_EQUAL: u16 = 183;
const OP_DECORATE: u16 = 71;
const OP_LOOP_MERGE: u16 = 246;

const DECORATION_NO_CONTRACTION: u32 = 42;
const MODE_DENORM_PRESERVE: u32 = 4459;
const MODE_SIGNED_ZERO_INF_NAN_PRESERVE: u32 = 4461;
const CAPABILITY_FLOAT16: u32 = 9;
const CAPABILITY_FLOAT64: u32 = 10;
const CAPABILITY_DENORM_PRESERVE: u32 = 4464;
const CAPABILITY_SIGNED_ZERO_INF_NAN_PRESERVE: u32 = 4466;
const GLSL_FMA: u32 = 50;
const GLSL_U_MIN: u32 = 38;
const LOOP_CONTROL_DONT_UNROLL: u32 = 2;

/// Opcodes that may stand before the first type: debug names, annotations and everything earlier.
const PREAMBLE: [u16; 21] = [2, 3, 4, 5, 6, 7, 10, 11, 14, 15, 16, 17, 71, 72, 73, 74, 75, 330, 331, 332, 5632];

/// Instructions whose float result a compiler may fuse, factor or reassociate unless they are decorated.
fn is_float_arithmetic(opcode: u16) -> bool {
    // FNegate, FAdd, FSub, FMul, FDiv, FRem, FMod, VectorTimesScalar .. Dot.
    matches!(opcode, 127 | 129 | 131 | 133 | 136 | 140 | 141 | 142..=148)
}

/// One instruction of a module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction<'a> {
    /// Its opcode.
    pub(crate) opcode: u16,
    /// The words after the first.
    pub(crate) operands: &'a [u32],
    /// Index of its first word in the module.
    pub(crate) at: usize,
}

/// Walks a module's instructions. Stops at a malformed length, which naga never writes.
pub(crate) fn instructions(words: &[u32]) -> impl Iterator<Item = Instruction<'_>> {
    let mut at = HEADER_WORDS;
    std::iter::from_fn(move || {
        let first = *words.get(at)?;
        let length = (first >> 16) as usize;
        let operands = words.get(at + 1..at + length)?;
        let instruction = Instruction { opcode: first as u16, operands, at };
        at += length;
        Some(instruction)
    })
}

/// The result id of an instruction that a compiler must keep as it is, if it is one.
pub(crate) fn pinned_result(instruction: &Instruction<'_>, glsl: Option<u32>) -> Option<u32> {
    let &[_, result, ref rest @ ..] = instruction.operands else { return None };
    let fma = instruction.opcode == OP_EXT_INST && rest.first().copied() == glsl && rest.get(1) == Some(&GLSL_FMA);
    (fma || is_float_arithmetic(instruction.opcode)).then_some(result)
}

/// The id under which the module imports GLSL.std.450; naga imports nothing else that it computes with.
pub(crate) fn glsl_import(words: &[u32]) -> Option<u32> {
    let name = u32::from_le_bytes(*b"GLSL");
    instructions(words)
        .find(|i| i.opcode == OP_EXT_INST_IMPORT && i.operands.get(1) == Some(&name))
        .and_then(|i| i.operands.first().copied())
}

pub(super) fn push(words: &mut Vec<u32>, opcode: u16, operands: &[u32]) {
    words.push(((operands.len() as u32 + 1) << 16) | u32::from(opcode));
    words.extend_from_slice(operands);
}

/// A nul-terminated string as words.
fn literal(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((bytes.len() / 4 + 1) * 4, 0);
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

/// Decorates every float result with NoContraction and asks for the execution modes in `controls`. With `contract_fma`, f32 `fma` is an
/// open product and sum instead. `!=` of floats becomes the comparison that holds for NaN, as WGSL and IEEE have it: naga writes
/// the other one.
pub(crate) fn seal(words: &[u32], controls: FloatControls, contract_fma: bool) -> Vec<u32> {
    let glsl = glsl_import(words);
    let singles = if contract_fma { single_types(words) } else { Vec::new() };
    let is_open = |i: &Instruction<'_>| open_fma(i, glsl, &singles).is_some();
    let mut capabilities_end = HEADER_WORDS;
    let mut extensions_end = HEADER_WORDS;
    let mut modes_end = HEADER_WORDS;
    let mut annotations_end = None;
    let mut entries = Vec::new();
    let (mut float16, mut float64) = (false, false);
    let mut pinned = Vec::new();
    for i in instructions(words) {
        let end = i.at + 1 + i.operands.len();
        match i.opcode {
            OP_CAPABILITY => {
                capabilities_end = end;
                extensions_end = end;
                float16 |= i.operands.first() == Some(&CAPABILITY_FLOAT16);
                float64 |= i.operands.first() == Some(&CAPABILITY_FLOAT64);
            }
            OP_EXTENSION => extensions_end = end,
            OP_ENTRY_POINT => {
                modes_end = end;
                entries.extend(i.operands.get(1).copied());
            }
            OP_EXECUTION_MODE => modes_end = end,
            _ => {}
        }
        if annotations_end.is_none() && !PREAMBLE.contains(&i.opcode) {
            annotations_end = Some(i.at);
        }
        pinned.extend(pinned_result(&i, glsl).filter(|_| !is_open(&i)));
    }

    // Only widths that the module has a type for may be named.
    let mut modes = Vec::new();
    for (width, used, preserve, signed_zero) in [
        (16, float16, controls.denorm_preserve_16, controls.signed_zero_inf_nan_16),
        (32, true, controls.denorm_preserve_32, controls.signed_zero_inf_nan_32),
        (64, float64, controls.denorm_preserve_64, controls.signed_zero_inf_nan_64),
    ] {
        modes.extend((used && preserve).then_some((MODE_DENORM_PRESERVE, width)));
        modes.extend((used && signed_zero).then_some((MODE_SIGNED_ZERO_INF_NAN_PRESERVE, width)));
    }

    let annotations_end = annotations_end.unwrap_or(words.len());
    let mut out = Vec::with_capacity(words.len() + pinned.len() * 3 + modes.len() * 8 + 16);
    out.extend_from_slice(&words[..capabilities_end]);
    for (mode, capability) in
        [(MODE_DENORM_PRESERVE, CAPABILITY_DENORM_PRESERVE), (MODE_SIGNED_ZERO_INF_NAN_PRESERVE, CAPABILITY_SIGNED_ZERO_INF_NAN_PRESERVE)]
    {
        if modes.iter().any(|&(m, _)| m == mode) {
            push(&mut out, OP_CAPABILITY, &[capability]);
        }
    }
    out.extend_from_slice(&words[capabilities_end..extensions_end]);
    if !modes.is_empty() {
        push(&mut out, OP_EXTENSION, &literal("SPV_KHR_float_controls"));
    }
    out.extend_from_slice(&words[extensions_end..modes_end]);
    for entry in entries {
        for &(mode, width) in &modes {
            push(&mut out, OP_EXECUTION_MODE, &[entry, mode, width]);
        }
    }
    out.extend_from_slice(&words[modes_end..annotations_end]);
    for result in pinned {
        push(&mut out, OP_DECORATE, &[result, DECORATION_NO_CONTRACTION]);
    }
    for i in instructions(words).skip_while(|i| i.at < annotations_end) {
        if let Some([ty, result, a, b, c]) = open_fma(&i, glsl, &singles) {
            let product = out[ID_BOUND];
            out[ID_BOUND] += 1;
            push(&mut out, OP_F_MUL, &[ty, product, a, b]);
            push(&mut out, OP_F_ADD, &[ty, result, product, c]);
        } else if i.opcode == OP_F_ORD_NOT_EQUAL {
            push(&mut out, OP_F_UNORD_NOT_EQUAL, i.operands);
        } else {
            out.extend_from_slice(&words[i.at..=i.at + i.operands.len()]);
        }
    }
    out
}

/// Instructions of the module's last function, which naga makes its entry point, with all that it calls written out in each place, and those of
/// vectors once to each component.
pub(crate) fn written_out(words: &[u32]) -> u64 {
    let (mut widths, mut sizes, mut here) = (HashMap::new(), HashMap::new(), (0, 0));
    for i in instructions(words) {
        let called = match (i.opcode, i.operands) {
            (OP_TYPE_VECTOR, &[id, _, count]) => {
                widths.insert(id, u64::from(count));
                continue;
            }
            (OP_FUNCTION, &[_, id, ..]) => {
                sizes.insert(here.0, here.1);
                here = (id, 0);
                0
            }
            // Functions stand behind those that they call.
            (OP_FUNCTION_CALL, &[_, _, id, ..]) => sizes.get(&id).copied().unwrap_or(0),
            _ => 0,
        };
        let width = i.operands.first().and_then(|ty| widths.get(ty)).copied().unwrap_or(1);
        here.1 += width + called;
    }
    here.1
}

/// Asks the driver to unroll no loop.
pub(crate) fn keep_loops(words: &mut [u32]) {
    // Its operands are the block after the loop, the one that continues it, and the control, of which naga says nothing.
    let controls: Vec<usize> = instructions(words).filter(|i| i.opcode == OP_LOOP_MERGE).map(|i| i.at + 3).collect();
    for at in controls {
        words[at] |= LOOP_CONTROL_DONT_UNROLL;
    }
}

/// Turns the comparisons that keep indices inside arrays of fixed size into traps: an index past the end goes a gigabyte further, where no memory is.
pub(crate) fn trap_indices(words: &[u32]) -> Vec<u32> {
    let glsl = glsl_import(words);
    let number = instructions(words).find_map(|i| match (i.opcode, i.operands) {
        (OP_TYPE_INT, &[id, 32, 0]) => Some(id),
        _ => None,
    });
    // naga writes a comparison right before the access that it is for: one of the caller's own is no index itself.
    let indices: std::collections::BTreeSet<u32> =
        instructions(words).filter(|i| i.opcode == OP_ACCESS_CHAIN).flat_map(|i| i.operands.iter().skip(3).copied()).collect();
    let first_function = instructions(words).find(|i| i.opcode == OP_FUNCTION).map_or(words.len(), |i| i.at);
    let mut out = words[..HEADER_WORDS].to_vec();
    let mut next = words[ID_BOUND];
    let mut new = || {
        next += 1;
        next - 1
    };
    let (top, far) = (new(), new());
    for i in instructions(words) {
        if let (true, Some(ty)) = (i.at == first_function, number) {
            push(&mut out, OP_CONSTANT, &[ty, top, 31]);
            push(&mut out, OP_CONSTANT, &[ty, far, 28]);
        }
        match *i.operands {
            [ty, result, set, GLSL_U_MIN, index, last]
                if i.opcode == OP_EXT_INST && Some(set) == glsl && Some(ty) == number && indices.contains(&result) =>
            {
                // 1 << 28 words further, where `last - index` is negative.
                let (left, past, by) = (new(), new(), new());
                push(&mut out, OP_I_SUB, &[ty, left, last, index]);
                push(&mut out, OP_SHIFT_RIGHT_LOGICAL, &[ty, past, left, top]);
                push(&mut out, OP_SHIFT_LEFT_LOGICAL, &[ty, by, past, far]);
                push(&mut out, OP_I_ADD, &[ty, result, index, by]);
            }
            _ => out.extend_from_slice(&words[i.at..=i.at + i.operands.len()]),
        }
    }
    out[ID_BOUND] = next;
    out
}

/// The types f32 and vectors of it.
fn single_types(words: &[u32]) -> Vec<u32> {
    let mut out: Vec<u32> = Vec::new();
    for i in instructions(words) {
        match (i.opcode, i.operands) {
            (OP_TYPE_FLOAT, &[id, 32, ..]) => out.push(id),
            (OP_TYPE_VECTOR, &[id, component, _]) if out.contains(&component) => out.push(id),
            _ => {}
        }
    }
    out
}

/// Type, result and operands of an `fma` over one of these types.
fn open_fma(i: &Instruction<'_>, glsl: Option<u32>, types: &[u32]) -> Option<[u32; 5]> {
    match *i.operands {
        [ty, result, set, GLSL_FMA, a, b, c] if i.opcode == OP_EXT_INST && Some(set) == glsl && types.contains(&ty) => {
            Some([ty, result, a, b, c])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::{Indices, SealOptions, parse};
    use std::collections::BTreeSet;

    const KERNEL: &str = "
        @group(0) @binding(0) var<storage, read> x: array<f32>;
        @group(0) @binding(1) var<storage, read_write> y: array<f32>;
        fn twice(v: f32) -> f32 { return v + v; }
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let v = vec3<f32>(x[id.x], x[id.x + 1u], 2.0);
            y[id.x] = twice(x[id.x] * 3.0 - fma(v.x, v.y, v.z)) / dot(v, v * 2.0) + (-v.x);
        }";

    fn sealed() -> Vec<u32> {
        let parsed = parse("kernel", KERNEL, naga::valid::Capabilities::empty()).expect("the kernel is valid");
        let options = SealOptions { controls: FloatControls::ALL, ..SealOptions::default() };
        parsed.seal("main", &options).expect("the kernel can be written")
    }

    #[test]
    fn a_function_counts_wherever_it_is_called_and_a_vector_by_its_components() {
        let count = |body: &str| {
            let functions = "fn one(v: f32) -> f32 { return v * v + 1.0; }\nfn two(v: vec4<f32>) -> vec4<f32> { return v * v; }";
            let buffer = "@group(0) @binding(0) var<storage, read_write> y: array<vec4<f32>>;";
            let text = format!("{buffer}\n{functions}\n@compute @workgroup_size(64) fn main() {{\nlet x = y[0];\n{body}\n}}");
            let parsed = parse("kernel", &text, naga::valid::Capabilities::empty()).expect("the kernel is valid");
            written_out(&parsed.seal("main", &SealOptions::default()).expect("the kernel can be written"))
        };
        let none = count("y[0] = x;");
        let once = count("y[0] = x; y[1].x = one(x.x);");
        let twice = count("y[0] = x; y[1].x = one(x.x); y[1].x = one(x.x);");
        let product = |body| count(body) - none;
        assert!(once > none + 5 && twice - once >= once - none - 2, "{none} {once} {twice}");
        assert!(product("y[0] = two(x);") > product("y[0].x = one(x.x);"), "a product of four and one of one");
    }

    #[test]
    fn sealed_words_parse_to_the_last_word() {
        let words = sealed();
        let last = instructions(&words).last().expect("instructions");
        assert_eq!(last.at + 1 + last.operands.len(), words.len());
    }

    #[test]
    fn every_float_result_is_decorated_no_contraction() {
        let words = sealed();
        let glsl = glsl_import(&words);
        let decorated: BTreeSet<u32> = instructions(&words)
            .filter(|i| i.opcode == OP_DECORATE && i.operands.get(1) == Some(&DECORATION_NO_CONTRACTION))
            .map(|i| i.operands[0])
            .collect();
        let pinned: BTreeSet<u32> = instructions(&words).filter_map(|i| pinned_result(&i, glsl)).collect();
        // FAdd (twice, final), FMul, FSub, Fma, FDiv, Dot, VectorTimesScalar or a vector FMul, FNegate.
        assert!(pinned.len() >= 8, "{pinned:?}");
        assert_eq!(decorated, pinned);
        for opcode in [129_u16, 131, 133, 136, 127] {
            assert!(instructions(&words).any(|i| i.opcode == opcode), "the kernel has no opcode {opcode}");
        }
    }

    #[test]
    fn an_open_fma_is_an_undecorated_product_and_sum_of_new_ids() {
        let text = KERNEL.replace("dot(v, v * 2.0)", "dot(v, fma(v, v, v))");
        let parsed = parse("kernel", &text, naga::valid::Capabilities::empty()).expect("the kernel is valid");
        let closed = parsed.seal("main", &SealOptions::default()).expect("the kernel can be written");
        let open = parsed.seal("main", &SealOptions { contract_fma: true, ..SealOptions::default() }).expect("the kernel can be written");
        let glsl = glsl_import(&closed);
        let fmas = |words: &[u32]| {
            instructions(words).filter(|i| i.operands.get(2).copied() == glsl && i.operands.get(3) == Some(&GLSL_FMA)).count()
        };
        assert_eq!((fmas(&closed), fmas(&open)), (2, 0));
        assert_eq!(open[ID_BOUND], closed[ID_BOUND] + 2);
        let decorated: BTreeSet<u32> = instructions(&open).filter(|i| i.opcode == OP_DECORATE).map(|i| i.operands[0]).collect();
        let all: Vec<Instruction<'_>> = instructions(&open).collect();
        let pairs = all.windows(2).filter(|w| {
            let [m, s] = w else { return false };
            m.opcode == OP_F_MUL
                && m.operands[1] >= closed[ID_BOUND]
                && s.opcode == OP_F_ADD
                && s.operands[2] == m.operands[1]
                && !decorated.contains(&m.operands[1])
                && !decorated.contains(&s.operands[1])
        });
        assert_eq!(pairs.count(), 2);
    }

    #[test]
    fn float_inequality_holds_for_nan() {
        let text = KERNEL.replace("twice(x[id.x]", "select(1.0, 2.0, v.x != v.y) * twice(x[id.x]");
        let parsed = parse("kernel", &text, naga::valid::Capabilities::empty()).expect("the kernel is valid");
        let words = parsed.seal("main", &SealOptions::default()).expect("the kernel can be written");
        assert!(instructions(&words).any(|i| i.opcode == OP_F_UNORD_NOT_EQUAL));
        assert!(instructions(&words).all(|i| i.opcode != OP_F_ORD_NOT_EQUAL));
    }

    #[test]
    fn loops_are_kept_where_that_is_asked_for() {
        let text =
            KERNEL.replace("y[id.x] =", "var n = 0u; for (var i = 0u; i < 4u; i++) { while (n < id.x * i) { n += 2u; } } y[id.x + n] =");
        let parsed = parse("kernel", &text, naga::valid::Capabilities::empty()).expect("the kernel is valid");
        let controls = |keep_loops| {
            let words = parsed.seal("main", &SealOptions { keep_loops, ..SealOptions::default() }).expect("the kernel can be written");
            instructions(&words).filter(|i| i.opcode == OP_LOOP_MERGE).map(|i| i.operands[2]).collect::<Vec<_>>()
        };
        assert_eq!((controls(false), controls(true)), (vec![0; 2], vec![LOOP_CONTROL_DONT_UNROLL; 2]));
    }

    #[test]
    fn shuffles_are_written_as_such_and_ask_for_their_capability() {
        let text = KERNEL.replace("(-v.x)", "subgroupShuffleXor(-v.x, 1u)");
        let parsed = parse("kernel", &text, crate::seal::capabilities(wgpu::Features::SUBGROUP)).expect("the kernel is valid");
        let options = SealOptions { features: wgpu::Features::SUBGROUP, ..SealOptions::default() };
        let words = parsed.seal("main", &options).expect("the kernel can be written");
        const GROUP_NON_UNIFORM_SHUFFLE: u32 = 65;
        const OP_GROUP_NON_UNIFORM_SHUFFLE_XOR: u16 = 346;
        assert!(words[1] >= 0x0001_0300, "subgroups need SPIR-V 1.3");
        assert!(instructions(&words).any(|i| i.opcode == OP_CAPABILITY && i.operands == [GROUP_NON_UNIFORM_SHUFFLE]));
        assert!(instructions(&words).any(|i| i.opcode == OP_GROUP_NON_UNIFORM_SHUFFLE_XOR));
        assert!(parsed.seal("main", &SealOptions::default()).is_err(), "a device without subgroups takes no such module");
    }

    #[test]
    fn an_index_past_the_end_is_a_trap() {
        let text = "
            @group(0) @binding(0) var<storage, read_write> y: array<u32>;
            var<workgroup> w: array<u32, 64>;
            @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
                w[i] = min(y[i], 9u);
                workgroupBarrier();
                y[i] = w[w[i] + 1u];
            }";
        let parsed = parse("kernel", text, naga::valid::Capabilities::empty()).expect("the kernel is valid");
        let count = |indices| {
            let words = parsed
                .seal("main", &SealOptions { indices, driver_bounds: true, ..SealOptions::default() })
                .expect("the kernel can be written");
            let last = instructions(&words).last().expect("instructions");
            assert_eq!(last.at + 1 + last.operands.len(), words.len());
            let ids: BTreeSet<u32> = instructions(&words).filter(|i| i.opcode == OP_CONSTANT).map(|i| i.operands[1]).collect();
            assert!(ids.iter().all(|&id| id < words[ID_BOUND]));
            let glsl = glsl_import(&words);
            let minima =
                instructions(&words).filter(|i| i.opcode == OP_EXT_INST && Some(i.operands[2]) == glsl && i.operands[3] == GLSL_U_MIN);
            (minima.count(), instructions(&words).filter(|i| i.opcode == OP_SHIFT_RIGHT_LOGICAL).count())
        };
        // The author's own minimum, and a comparison to each access of `w`.
        assert_eq!(count(Indices::Clamped), (4, 0));
        assert_eq!(count(Indices::Trusted), (1, 0));
        assert_eq!(count(Indices::Trapped), (1, 3));
    }

    #[test]
    fn execution_modes_follow_the_entry_point_and_name_used_widths_only() {
        let words = sealed();
        let modes: Vec<(u32, u32)> = instructions(&words)
            .filter(|i| i.opcode == OP_EXECUTION_MODE && i.operands.len() == 3)
            .map(|i| (i.operands[1], i.operands[2]))
            .collect();
        assert_eq!(modes, [(MODE_DENORM_PRESERVE, 32), (MODE_SIGNED_ZERO_INF_NAN_PRESERVE, 32)]);
        let capabilities: Vec<u32> = instructions(&words).filter(|i| i.opcode == OP_CAPABILITY).map(|i| i.operands[0]).collect();
        assert!(capabilities.contains(&CAPABILITY_DENORM_PRESERVE));
        assert!(capabilities.contains(&CAPABILITY_SIGNED_ZERO_INF_NAN_PRESERVE));
    }

    #[test]
    fn sections_stay_in_the_order_of_the_specification() {
        fn section(opcode: u16) -> u32 {
            match opcode {
                17 => 0,
                10 => 1,
                11 => 2,
                14 => 3,
                15 => 4,
                16 | 331 => 5,
                2..=7 | 330 => 6,
                71..=75 | 332 | 5632 => 7,
                _ => 8,
            }
        }
        let words = sealed();
        let sections: Vec<u32> = instructions(&words).map(|i| section(i.opcode)).collect();
        assert!(sections.is_sorted(), "{sections:?}");
    }

    #[test]
    fn without_float_controls_only_decorations_are_added() {
        let parsed = parse("kernel", KERNEL, naga::valid::Capabilities::empty()).expect("the kernel is valid");
        let words = parsed.seal("main", &SealOptions::default()).expect("the kernel can be written");
        assert!(instructions(&words).all(|i| i.opcode != OP_EXTENSION || i.operands != literal("SPV_KHR_float_controls")));
        assert!(instructions(&words).any(|i| i.opcode == OP_DECORATE && i.operands.get(1) == Some(&42)));
    }
}
