//! The probe: what the driver's assembler makes of operators, asked of each device when it is opened.
//!
//! PTX defines every instruction, and `ptxas` has been wrong all the same where it joined several (`isowarp_core::ir::Ptx` says where). One kernel
//! holds those compositions and some of the float contract's questions, each lowered and loaded as in a map; the evaluator says what is right.
//! Where something differs, kernels are assembled without optimisation, if that is right; else the verdict names the witness.

use super::holes::{Holes, Shape};
use crate::context::Context;
use crate::driver::{DeviceInfo, Driver, check};
use crate::launch::{Args, In};
use crate::module::{self, Kernel};
use crate::splice::Site;
use cudarc::driver::sys::{self, CUstream, CUstream_flags};
use isowarp_core::caps::{Numerics, NumericsVerdict};
use isowarp_core::element::{DType, Ty};
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::{Evaluator, Expr, Func, Node, OpError, Operation, Operations, Traced, branch, canonical_nan, lit, trace};
use parking_lot::Mutex;
use std::ffi::c_void;
use std::fmt::Write as _;
use std::mem::size_of;
use std::ptr;
use std::sync::Arc;
use std::time::Instant;

/// Assembly that kernels need, and the verdict on the device's arithmetic under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The assembler's optimisation level, where its own is not to be trusted.
    pub(crate) level: Option<u32>,
    pub(crate) numerics: NumericsVerdict,
    /// The operations of what differs, each with a witness.
    pub(crate) unproven: Vec<(Operation, String)>,
}

/// Verdicts of this process, in which a driver has one version. The driver keeps the assembled probe on disk itself.
static VERDICTS: Mutex<Vec<((u32, u32), String, Verdict)>> = Mutex::new(Vec::new());

const ENTRY: &str = "isowarp_probe";
/// Elements of each operand: one warp of four elements a thread.
const LANES: usize = 128;
const THREADS: u32 = 32;
/// Bytes of an operand or a result, of the widest type.
const SLOT: usize = 8 * LANES;

/// Operators of one type of operands, and what they are called in a witness.
struct Question {
    dtype: DType,
    func: Func,
    names: &'static [&'static str],
}

/// The verdict on a device, whose context is current.
///
/// # Errors
/// The driver's, when the probe cannot be run.
pub(crate) fn verdict(driver: Driver, context: &Arc<Context>, info: &DeviceInfo) -> Result<Verdict> {
    let mut known = VERDICTS.lock();
    if let Some((.., verdict)) = known.iter().find(|(version, name, _)| *version == driver.version() && *name == info.name) {
        return Ok(verdict.clone());
    }
    let start = Instant::now();
    let questions = questions().map_err(|error| Error::Compile { kernel: ENTRY.to_owned(), log: error.to_string() })?;
    let text = text(&questions)?;
    let ask = |level| module::load(context, (info.shared_bytes, level), &text, ENTRY).and_then(|kernel| differ(&kernel, &questions));
    let verdict = decide(ask)?;
    log::debug!("probe of {}: {verdict:?} in {:.1} ms", info.name, start.elapsed().as_secs_f64() * 1e3);
    known.push((driver.version(), info.name.clone(), verdict.clone()));
    Ok(verdict)
}

/// Differences found: the operations of each operator, and its first wrong result in words.
type Differences = Vec<(Operations, String)>;

/// The verdict from what differs at an optimisation level of the assembler.
fn decide(ask: impl Fn(Option<u32>) -> Result<Differences>) -> Result<Verdict> {
    let strict = |level| Verdict { level, numerics: NumericsVerdict::Strict, unproven: Vec::new() };
    let Some((_, witness)) = ask(None)?.into_iter().next() else { return Ok(strict(None)) };
    log::warn!("the CUDA driver's assembler is wrong: {witness}; kernels are assembled without optimisation");
    let differences = ask(Some(0))?;
    let Some((_, witness)) = differences.first() else { return Ok(strict(Some(0))) };
    let numerics = NumericsVerdict::Unproven { witness: witness.clone() };
    // The faulty operation of a composition is not known: operators of any of its operations are refused.
    let unproven = differences.iter().flat_map(|(all, witness)| all.iter().map(|op| (op, witness.clone()))).collect();
    // Kernels are assembled at the level by which operations are refused.
    Ok(Verdict { level: Some(0), numerics, unproven })
}

fn ask<A: Traced, R: Traced>(
    list: &mut Vec<Question>,
    dtype: DType,
    names: &'static [&'static str],
    f: impl FnOnce(A) -> R,
) -> core::result::Result<(), OpError> {
    list.push(Question { dtype, func: trace(f)?, names });
    Ok(())
}

type Three<T> = (Expr<T>, Expr<T>, Expr<T>);

/// Compositions that an assembler got wrong, of each type in which it did, and floats whose bits the contract stands on.
#[allow(clippy::eq_op, reason = "a difference that is known to be zero is what is asked for")]
fn questions() -> core::result::Result<Vec<Question>, OpError> {
    let mut list = Vec::new();
    let l = &mut list;
    let names = &["max(x, abs(x))", "max(max(x, -y), z)", "min(min(x, 0 - y), z)", "max(max(x, y * -1), z)"];
    ask(l, DType::I32, names, |(x, y, z): Three<i32>| (x.max(x.abs()), x.max(-y).max(z), x.min(lit(0) - y).min(z), x.max(y * -1).max(z)))?;
    let names = &["max(max(x, y * (z | -1)), z)", "max(max(x, i32(i64(y) * -1)), z)", "min(min(x, (x - x) - y), z)", "abs(x) % 10"];
    ask(l, DType::I32, names, |(x, y, z): Three<i32>| {
        let low = (y.cast::<i64>() * -1).cast::<i32>();
        (x.max(y * (z | -1)).max(z), x.max(low).max(z), x.min((x - x) - y).min(z), x.abs() % 10)
    })?;
    let names = &["u32(abs(x) < 0)", "i64(u32(x)) << 9", "i64(x) + (i64(x) << 34)", "(i64(x) << 30) * 12 + 5"];
    ask(l, DType::I32, names, |(x, _, _): Three<i32>| {
        let wide = x.cast::<i64>();
        (x.abs().lt(0).cast::<u32>(), x.cast::<u32>().cast::<i64>() << 9, wide + (wide << 34), (wide << 30) * 12 + 5)
    })?;
    let names = &["i64(x) << 16", "u64(x) << 9", "f32(x)", "max(max(x, 0 - y), z)"];
    ask(l, DType::U32, names, |(x, y, z): Three<u32>| {
        (x.cast::<i64>() << 16, x.cast::<u64>() << 9, x.cast::<f32>(), x.max(lit(0) - y).max(z))
    })?;
    let names = &["(x << 31) * 3 + 100", "(x * 65537) * 65537 + 9", "100 - (x << 47) * 3", "f32(x)"];
    ask(l, DType::U64, names, |(x, _, _): Three<u64>| {
        ((x << 31) * 3 + 100, (x * 65537) * 65537 + 9, lit(100) - (x << 47) * 3, x.cast::<f32>())
    })?;
    let names = &["u32(abs(x) < 0)", "max(max(x, -y), z)", "i32(-x)", "f64(x)"];
    ask(l, DType::I64, names, |(x, y, z): Three<i64>| {
        (x.abs().lt(0).cast::<u32>(), x.max(-y).max(z), (-x).cast::<i32>(), x.cast::<f64>())
    })?;
    for dtype in [DType::I8, DType::I16] {
        let names = &["f32(u32(x))", "f64(u32(x))", "max(x, abs(x))", "i64(u32(x)) << 9"];
        ask(l, dtype, names, |(x, _, _): Three<i32>| {
            let u = x.cast::<u32>();
            (u.cast::<f32>(), u.cast::<f64>(), x.max(x.abs()), u.cast::<i64>() << 9)
        })?;
    }
    let names = &["u32(as_f32(i32(x != 0)))", "i32(as_f32(u32(x > 5)))", "i32(as_f32(x & 1))", "u32(as_f32(select(x > 2, 1, 0)))"];
    ask(l, DType::U8, names, |(x, _, _): Three<u32>| {
        let number = |bits: Expr<u32>| bits.bitcast::<f32>();
        let truth = x.ne(0).cast::<i32>().bitcast::<f32>().cast::<u32>();
        let chosen = number(x.gt(2).select(lit(1u32), lit(0u32))).cast::<u32>();
        (truth, number(x.gt(5).cast::<u32>()).cast::<i32>(), number(x & 1).cast::<i32>(), chosen)
    })?;
    let names =
        &["branch(x != 0, 1, !x | 9)", "branch(x == 7, !x & y, y)", "branch(x != -1, y, (x ^ -1) | z)", "branch(x != y, x, !x ^ z)"];
    ask(l, DType::I32, names, |(x, y, z): Three<i32>| {
        let told = branch(x.ne(0), || lit(1), || !x | 9);
        (told, branch(x.eq(7), || !x & y, || y), branch(x.ne(-1), || y, || (x ^ -1) | z), branch(x.ne(y), || x, || !x ^ z))
    })?;
    let names = &["x * y + z", "mul_rn(x, y) + z", "min(x, y)", "max(x, y)"];
    ask(l, DType::F32, names, |(x, y, z): Three<f32>| (x * y + z, x.mul_rn(y) + z, x.min(y), x.max(y)))?;
    let names = &["x + y", "-(f32(x < y))", "u32(x < y)", "i32(x)"];
    ask(l, DType::F32, names, |(x, y, _): Three<f32>| (x + y, -(x.lt(y).cast::<f32>()), x.lt(y).cast::<u32>(), x.cast::<i32>()))?;
    let names = &["u32(abs(x) >= 0)", "u32(abs(x) > -2.5)", "u32(x * x >= 0)", "u32(max(abs(x), y) >= 0)"];
    ask(l, DType::F32, names, |(x, y, _): Three<f32>| {
        let is = |c: Expr<bool>| c.cast::<u32>();
        (is(x.abs().ge(0.0)), is(x.abs().gt(-2.5)), is((x * x).ge(0.0)), is(x.abs().max(y).ge(0.0)))
    })?;
    Ok(list)
}

/// The probe's kernel. Its first parameter says where the right results lie, which it does not read; then each question has an argument block.
fn text(questions: &[Question]) -> Result<String> {
    let block = |name: &str| format!(".param .align 8 .b8 {name}[{}]", size_of::<Args>());
    let names: Vec<String> = (0..questions.len()).map(|k| format!("question{k}")).collect();
    let params: Vec<String> = std::iter::once("right").chain(names.iter().map(String::as_str)).map(block).collect();
    let mut text = format!(".version 8.4\n.target sm_70\n.address_size 64\n.visible .entry {ENTRY}(\n\t{}\n)\n{{\n", params.join(",\n\t"));
    text.push_str("\t.reg .b32 %r1;\n\t.reg .b64 %rd<5>;\n\tmov.u32 %r1, %tid.x;\n\tshl.b32 %r1, %r1, 2;\n\tcvt.u64.u32 %rd1, %r1;\n");
    (2..5).for_each(|k| {
        let _ = writeln!(text, "\tadd.u64 %rd{k}, %rd1, {};", k - 1);
    });
    for (question, param) in questions.iter().zip(&names) {
        let leaves = vec![Shape::Vector(question.dtype); question.func.params.len()];
        let outs: Vec<Shape> = question.func.result_types().iter().map(|&ty| Shape::Vector(stored(ty))).collect();
        let holes = Holes { load: &question.func, leaves: &leaves, outs: &outs, numerics: Numerics::Strict };
        // Four elements together enter a block where one of them has to, which tells nothing of the others.
        let apart = question.func.any(|node, _| matches!(node, Node::Branch { .. }));
        let (name, count, registers) =
            if apart { ("body1", 1, &["%rd1", "%rd2", "%rd3", "%rd4"][..]) } else { ("body4", 4, &["%rd1"][..]) };
        for &register in registers {
            let site = Site { name, regs: vec![register], entry: ENTRY, param, index: 0 };
            let _ = writeln!(text, "{}", holes.body(count, &site)?);
        }
    }
    text.push_str("\tret;\n}\n");
    Ok(text)
}

/// The element type of a result.
fn stored(ty: Ty) -> DType {
    match ty {
        Ty::F32 => DType::F32,
        Ty::F64 => DType::F64,
        Ty::I32 => DType::I32,
        Ty::I64 => DType::I64,
        Ty::U64 => DType::U64,
        Ty::U32 | Ty::Bool => DType::U32,
    }
}

/// Bits of an operand's element, zero-extended: boundaries of every width, each beside others in the three operands.
fn operand(dtype: DType, slot: usize, lane: usize) -> u64 {
    const INTEGERS: [i64; 23] = [
        0,
        1,
        -1,
        2,
        -2,
        7,
        100,
        -99,
        127,
        -128,
        255,
        -2478,
        0x7FFF,
        -0x8000,
        0xFFFF,
        0x1234_5678,
        i32::MAX as i64,
        i32::MIN as i64,
        0xFFFF_FFFE,
        0x0123_4567_89AB_CDEF,
        i64::MAX,
        i64::MIN,
        i64::MIN + 1,
    ];
    const FLOATS: [f32; 19] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.1,
        -2.5,
        3.0,
        1e-45,
        -1e-40,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        16_777_217.0,
        -1.000_000_1,
        2_147_483_648.0,
        1e19,
        -99.0,
    ];
    // Steps that share no factor with the tables' lengths.
    let at = lane * [1, 5, 7][slot] + lane / 23 * slot + slot;
    match dtype {
        DType::F32 => u64::from(FLOATS[at % FLOATS.len()].to_bits()),
        _ => (INTEGERS[at % INTEGERS.len()] as u64) & (u64::MAX >> (64 - 8 * dtype.size_bytes())),
    }
}

/// Returns the evaluator's values for each result of a question, as elements lie in memory.
fn right(question: &Question) -> Vec<Vec<u8>> {
    let mut evaluator = Evaluator::new(&question.func);
    let load = |slot: u16, lanes: &mut [u64]| {
        for (lane, value) in lanes.iter_mut().enumerate() {
            let bits = operand(question.dtype, usize::from(slot), lane);
            *value = match question.dtype {
                DType::I8 => u64::from(bits as i8 as i32 as u32),
                DType::I16 => u64::from(bits as i16 as i32 as u32),
                _ => bits,
            };
        }
    };
    evaluator.eval(LANES, load, |_, _| 0);
    let types = question.func.result_types();
    let bytes = |(k, &ty): (usize, &Ty)| -> Vec<u8> {
        let size = stored(ty).size_bytes() as usize;
        evaluator.result(k).iter().flat_map(|&bits| canonical_nan(ty, bits).to_le_bytes().into_iter().take(size)).collect()
    };
    types.iter().enumerate().map(bytes).collect()
}

/// Runs the kernel: what differs from the evaluator's results.
fn differ(kernel: &Kernel, questions: &[Question]) -> Result<Differences> {
    let right: Vec<Vec<u8>> = questions.iter().flat_map(right).collect();
    let mut host: Vec<u8> = Vec::new();
    for q in questions {
        for slot in 0..q.func.params.len() {
            let size = q.dtype.size_bytes() as usize;
            let from = host.len();
            host.extend((0..LANES).flat_map(|lane| operand(q.dtype, slot, lane).to_le_bytes().into_iter().take(size)));
            host.resize(from + SLOT, 0);
        }
    }
    let operands = host.len();
    for result in &right {
        let from = host.len();
        host.extend_from_slice(result);
        host.resize(from + SLOT, 0);
    }
    let results = host.len() - operands;
    let memory = Memory::new(host.len() + results)?;
    let (expected, out) = (memory.address + operands as u64, memory.address + host.len() as u64);
    let mut blocks = vec![Args { n: results as u64, ..Args::default() }];
    blocks[0].inputs[0].ptr = expected;
    blocks[0].out[0] = out;
    let (mut operand, mut result) = (memory.address, out);
    for q in questions {
        let mut args = Args { n: LANES as u64, ..Args::default() };
        for leaf in args.inputs.iter_mut().take(q.func.params.len()) {
            *leaf = In { ptr: operand, stride: q.dtype.size_bytes() as i64 };
            operand += SLOT as u64;
        }
        for address in args.out.iter_mut().take(q.names.len()) {
            *address = result;
            result += SLOT as u64;
        }
        blocks.push(args);
    }
    let mut found = vec![0u8; results];
    memory.run(kernel, &mut blocks, &host, (out, &mut found))?;
    let named = questions.iter().flat_map(|q| q.names.iter().zip(q.func.result_types()).map(move |(name, ty)| (q, *name, ty)));
    let results = named.zip(right.iter().zip(found.chunks(SLOT)));
    Ok(results.filter_map(|((q, name, ty), (right, found))| Some((q.func.operations(), witness(q, name, ty, right, found)?))).collect())
}

/// The first element of a result that is not right, in words.
fn witness(q: &Question, name: &str, ty: Ty, right: &[u8], found: &[u8]) -> Option<String> {
    let size = stored(ty).size_bytes() as usize;
    let lane = right.chunks(size).zip(found.chunks(size)).position(|(right, found)| right != found)?;
    let bits = |bytes: &[u8]| bytes[lane * size..][..size].iter().rev().fold(String::from("0x"), |text, byte| format!("{text}{byte:02x}"));
    let [x, y, z] = [0, 1, 2].map(|slot| operand(q.dtype, slot, lane));
    let (found, right) = (bits(found), bits(right));
    Some(format!("{name} of {} x = {x:#x}, y = {y:#x}, z = {z:#x} is {found} where {right} is right", q.dtype))
}

/// Device memory and a stream of the probe's own.
struct Memory {
    address: u64,
    stream: CUstream,
}

impl Memory {
    fn new(bytes: usize) -> Result<Self> {
        let mut memory = Self { address: 0, stream: ptr::null_mut() };
        // SAFETY: the context is current; both are live.
        unsafe {
            check("cuStreamCreate", sys::cuStreamCreate(&raw mut memory.stream, CUstream_flags::CU_STREAM_NON_BLOCKING as u32))?;
            check("cuMemAlloc", sys::cuMemAlloc_v2(&raw mut memory.address, bytes))?;
        }
        Ok(memory)
    }

    /// Uploads, runs the kernel on one argument block a parameter, and reads from an address.
    fn run(&self, kernel: &Kernel, blocks: &mut [Args], up: &[u8], (from, down): (u64, &mut [u8])) -> Result<()> {
        let mut parameters: Vec<*mut c_void> = blocks.iter_mut().map(|args| ptr::from_mut(args).cast()).collect();
        let parameters = parameters.as_mut_ptr();
        // SAFETY: the context is current; host memory outlives the last call, which waits for the stream; the kernel touches the slots that its
        // argument blocks name, all of them inside the allocation.
        unsafe {
            check("cuMemcpyHtoDAsync", sys::cuMemcpyHtoDAsync_v2(self.address, up.as_ptr().cast(), up.len(), self.stream))?;
            let launched = sys::cuLaunchKernel(kernel.raw(), 1, 1, 1, THREADS, 1, 1, 0, self.stream, parameters, ptr::null_mut());
            check("cuLaunchKernel", launched)?;
            check("cuMemcpyDtoHAsync", sys::cuMemcpyDtoHAsync_v2(down.as_mut_ptr().cast(), from, down.len(), self.stream))?;
            check("cuStreamSynchronize", sys::cuStreamSynchronize(self.stream))
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: made by `new`, where they were, and used no more: waiting comes first where work may be unfinished after an error.
        unsafe {
            let _ = sys::cuStreamSynchronize(self.stream);
            if self.address != 0 {
                let _ = sys::cuMemFree_v2(self.address);
            }
            if !self.stream.is_null() {
                let _ = sys::cuStreamDestroy_v2(self.stream);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isowarp_core::ir::UnOp;

    #[test]
    fn every_result_of_a_question_has_a_name_and_fits_an_argument_block() {
        for q in questions().expect("operators") {
            assert_eq!(q.names.len(), q.func.results.len(), "{:?}", q.names);
            assert!(q.names.len() <= crate::launch::MAX_OUTPUTS && q.func.params.len() == 3);
        }
    }

    #[test]
    fn the_first_right_level_decides_and_none_is_unproven() {
        let wrong = (Operations::from_iter([Operation::Fma(Ty::F32)]), "x is y".to_owned());
        let of = |levels: &[Option<u32>]| {
            decide(|level| Ok(levels.contains(&level).then(|| wrong.clone()).into_iter().collect())).expect("asked")
        };
        assert_eq!(of(&[]), Verdict { level: None, numerics: NumericsVerdict::Strict, unproven: Vec::new() });
        assert_eq!(of(&[None]), Verdict { level: Some(0), numerics: NumericsVerdict::Strict, unproven: Vec::new() });
        let unproven = of(&[None, Some(0)]);
        assert_eq!(unproven.numerics, NumericsVerdict::Unproven { witness: "x is y".to_owned() });
        assert_eq!(unproven.unproven, [(Operation::Fma(Ty::F32), "x is y".to_owned())]);
        // Kernels are assembled so that what is not refused is right.
        assert_eq!(unproven.level, Some(0));
        let other = (Operations::from_iter([Operation::Un(UnOp::Abs, Ty::I32)]), "abs".to_owned());
        let both = |level: Option<u32>| Ok([wrong.clone(), other.clone()].into_iter().take(if level.is_some() { 1 } else { 2 }).collect());
        let verdict = decide(both).expect("asked");
        assert_eq!((verdict.level, verdict.unproven), (Some(0), unproven.unproven));
    }

    #[test]
    fn a_result_that_is_not_right_is_named_with_its_operands() {
        let all = questions().expect("operators");
        let right = right(&all[0]);
        assert_eq!(witness(&all[0], "max(x, abs(x))", Ty::I32, &right[0], &right[0]), None);
        let mut found = right[0].clone();
        found[4 * 2] ^= 1;
        let text = witness(&all[0], "max(x, abs(x))", Ty::I32, &right[0], &found).expect("it differs");
        assert!(
            text.starts_with("max(x, abs(x)) of i32 x = 0xffffffff, ") && text.ends_with(" is 0x00000000 where 0x00000001 is right"),
            "{text}"
        );
    }

    #[test]
    fn operands_meet_in_many_ways() {
        let seen: std::collections::HashSet<[u64; 3]> = (0..LANES).map(|l| [0, 1, 2].map(|slot| operand(DType::I32, slot, l))).collect();
        assert!(seen.len() > 100, "{}", seen.len());
        assert!((0..LANES).any(|l| operand(DType::I8, 0, l) == 0x80) && (0..LANES).any(|l| operand(DType::U64, 0, l) == 1 << 63));
    }
}
