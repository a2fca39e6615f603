//! The text that fills the kernels' holes: loads of fused inputs, the user's operators, stores.

mod memory;

use crate::splice::Site;
use isowarp_core::caps::Numerics;
use isowarp_core::element::{DType, Ty};
use isowarp_core::error::{Error, Result};
use isowarp_core::ir::{Fetched, Func, Node, Ptx, PtxValue};
use isowarp_core::patterns::product::Packing;
use std::mem::offset_of;

use crate::launch::{Args, MAX_INPUTS};
use memory::{load1, load4, loaded_type, narrow, of_bits, raw_type, store1, store4, widen};

/// Shape of a leaf or an output, as a kernel's text depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// Contiguous, and aligned for access to four elements at once.
    Vector(DType),
    /// Any stride or alignment.
    Strided(DType),
    /// One element for all indices.
    Broadcast(DType),
    /// An array to fetch from, and the leaf, if there is one, whose elements are the array's at the same indices.
    Array(DType, Option<u8>),
    /// A value in the argument block.
    Value(Ty),
    /// The logical index.
    Index(Ty),
}

impl Shape {
    /// Words of 64 bits that it takes of the argument block.
    pub(super) fn words(self) -> usize {
        match self {
            Self::Index(_) => 0,
            Self::Value(_) => 1,
            _ => 2,
        }
    }

    pub(super) fn code(self) -> u64 {
        match self {
            Self::Vector(d) => 0x100 | d as u64,
            Self::Strided(d) => 0x200 | d as u64,
            Self::Broadcast(d) => 0x300 | d as u64,
            Self::Array(d, twin) => 0x400 | d as u64 | twin.map_or(0, |leaf| 0x1_0000 << leaf),
            Self::Value(t) => 0x500 | t as u64,
            Self::Index(t) => 0x600 | t as u64,
        }
    }
}

/// Offset of each leaf in the argument block, in bytes: in the order of the leaves where there is room for them all; else buffers come first, then
/// values, which need but half as much. An index needs nothing.
pub(super) fn places(leaves: &[Shape]) -> Vec<usize> {
    if leaves.len() <= MAX_INPUTS {
        return (0..leaves.len()).map(|k| k * IN_BYTES).collect();
    }
    let mut places = vec![0; leaves.len()];
    let mut next = 0;
    for words in [2, 1] {
        for (place, _) in places.iter_mut().zip(leaves).filter(|(_, shape)| shape.words() == words) {
            *place = next;
            next += 8 * words;
        }
    }
    places
}

/// The operators and shapes of one kernel.
#[derive(Clone, Copy)]
pub(super) struct Holes<'a> {
    pub(super) load: &'a Func,
    pub(super) leaves: &'a [Shape],
    pub(super) outs: &'a [Shape],
    pub(super) numerics: Numerics,
}

/// The leaves of an operator, at most [`MAX_INPUTS`], without those that it does not look at: another's have other indices, and are not to be loaded at its.
pub(super) fn looked_at(func: &Func, leaves: &[Shape]) -> Vec<Shape> {
    let takes = |k: usize| func.any(|node, _| matches!(node, Node::Param(p) if usize::from(*p) == k));
    let of = |(k, &shape): (usize, &Shape)| match shape {
        Shape::Array(dtype, _) => Shape::Array(dtype, None),
        _ if takes(k) => shape,
        _ => Shape::Array(DType::U32, None),
    };
    leaves.iter().enumerate().map(of).collect()
}

const IN_BYTES: usize = 16;

/// The scope that takes a hole's place.
pub(super) fn scope(numerics: Numerics, site: &Site<'_>) -> Ptx {
    Ptx::new(numerics, format!("{}+{}", site.param, offset_of!(Args, zero)))
}

/// Values of these types from consecutive words.
fn values(p: &mut Ptx, types: &[Ty], words: &[&str]) -> Vec<PtxValue> {
    let words = owned(words);
    let mut at = 0;
    types
        .iter()
        .map(|&ty| {
            at += ty.words();
            p.from_words(ty, &words[at - ty.words()..at])
        })
        .collect()
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}

/// The matrix instruction for packed factors. A warp's registers are four sums, four words of A and two of B; a warpgroup's are 128 sums and two descriptors.
pub(super) fn multiply(packing: Packing, site: &Site<'_>) -> Result<String> {
    if site.name == "multiply_lines" {
        return multiply_lines(packing, site);
    }
    let shape = match packing {
        Packing::Signed | Packing::Digits => "m16n8k32.row.col.s32.s8.s8.s32",
        Packing::Unsigned => "m16n8k32.row.col.s32.u8.u8.s32",
        Packing::Half => "m16n8k16.row.col.f32.f16.f16.f32",
        Packing::Brain => "m16n8k16.row.col.f32.bf16.bf16.f32",
        Packing::Tensor => "m16n8k8.row.col.f32.tf32.tf32.f32",
        Packing::Tiles | Packing::WideTiles => return Err(no_instruction(site)),
    };
    expect(site, 10)?;
    let [sums, a, b] = [0..4, 4..8, 8..10].map(|words| site.regs[words].join(", "));
    Ok(format!("mma.sync.aligned.{shape} {{{sums}}}, {{{a}}}, {{{b}}}, {{{sums}}};"))
}

fn multiply_lines(packing: Packing, site: &Site<'_>) -> Result<String> {
    // Behind the condition that the sums go on: signs of the operands, and whether k lies across.
    let (shape, modes) = match packing {
        Packing::Signed | Packing::Digits => ("k32.s32.s8.s8", ""),
        Packing::Unsigned => ("k32.s32.u8.u8", ""),
        Packing::Half => ("k16.f32.f16.f16", ", 1, 1, 0, 0"),
        Packing::Brain => ("k16.f32.bf16.bf16", ", 1, 1, 0, 0"),
        Packing::Tensor => ("k8.f32.tf32.tf32", ", 1, 1"),
        Packing::Tiles | Packing::WideTiles => return Err(no_instruction(site)),
    };
    expect(site, 130)?;
    let (sums, descriptors) = (site.regs[..128].join(", "), site.regs[128..].join(", "));
    Ok(format!(
        "{{ .reg .pred go_on; setp.ne.b32 go_on, 1, 0; wgmma.mma_async.sync.aligned.m64n256{shape} {{{sums}}}, {descriptors}, go_on{modes}; }}"
    ))
}

fn no_instruction(site: &Site<'_>) -> Error {
    Error::Compile { kernel: site.entry.to_owned(), log: "tiles have no matrix instruction".to_owned() }
}

/// Fails where a hole has another number of registers than the operator: a defect of kernel or driver.
fn expect(site: &Site<'_>, registers: usize) -> Result<()> {
    if site.regs.len() == registers {
        return Ok(());
    }
    let log = format!("hole `{}` has {} registers, the operator needs {registers}", site.name, site.regs.len());
    Err(Error::Compile { kernel: site.entry.to_owned(), log })
}

/// The registers of `count` accumulators of `words` words, element by element. A kernel may have room for a word more: the second list is those.
fn accumulators<'a>(site: &Site<'a>, regs: &[&'a str], (count, words): (usize, usize)) -> Result<(Vec<&'a str>, Vec<&'a str>)> {
    let room = regs.len() / count.max(1);
    if regs.len() != count * room || !(words..=words + 1).contains(&room) {
        expect(site, site.regs.len() - regs.len() + count * words)?;
    }
    let elements = regs.chunks(room.max(1));
    Ok((elements.clone().flat_map(|e| &e[..words]).copied().collect(), elements.flat_map(|e| &e[words..]).copied().collect()))
}

/// Makes words that no part of an accumulator has zero.
fn clear(p: &mut Ptx, spare: &[&str]) {
    for reg in spare {
        p.line(format!("mov.b32 {reg}, 0"));
    }
}

fn no_fetch(p: &mut Ptx, _: Fetched<'_>) -> PtxValue {
    p.constant(Ty::U32, 0)
}

/// The combining operator between two accumulators.
pub(super) fn combine(f: &Func, numerics: Numerics, site: &Site<'_>) -> Result<String> {
    let w = f.result_words();
    let (regs, spare) = accumulators(site, &site.regs, (3, w))?;
    let types = f.result_types();
    let mut p = scope(numerics, site);
    let mut args = values(&mut p, &types, &regs[w..2 * w]);
    args.extend(values(&mut p, &types, &regs[2 * w..]));
    let results = p.call(f, &args, &mut no_fetch);
    p.to_words(&results, &owned(&regs[..w]));
    clear(&mut p, &spare[..spare.len() / 3]);
    Ok(p.finish())
}

/// Whether one key comes before another, 1 or 0, of both keys' bits.
pub(super) fn before(f: &Func, dtype: DType, numerics: Numerics, site: &Site<'_>) -> Result<String> {
    let w = dtype.ty().words();
    expect(site, 1 + 2 * w)?;
    let mut p = scope(numerics, site);
    let keys = values(&mut p, &[raw_type(dtype); 2], &site.regs[1..]);
    let args: Vec<PtxValue> = keys.iter().map(|key| of_bits(&mut p, dtype, key)).collect();
    let results = p.call(f, &args, &mut no_fetch);
    p.to_words(&results, &owned(&site.regs[..1]));
    Ok(p.finish())
}

/// Elements of a contiguous leaf to an output, both by number, as they lie in memory (an `f16` that is NaN becomes the canonical one): registers are the
/// indices to write, then as many to read. All are read before any is written.
pub(super) fn copy(dtype: DType, (leaf, out): (usize, usize), numerics: Numerics, site: &Site<'_>) -> Result<String> {
    let count = site.regs.len() / 2;
    expect(site, 2 * count)?;
    let mut p = scope(numerics, site);
    let (to, from) = site.regs.split_at(count);
    let place = |p: &mut Ptx, offset: usize, i: &str| {
        let base = param_u64(p, site.param, offset);
        p.emit(Ty::U64, |o| format!("mad.lo.u64 {o}, {i}, {}, {}", dtype.size_bytes(), base.reg))
    };
    let values: Vec<_> = from
        .iter()
        .map(|i| {
            let at = place(&mut p, leaf * IN_BYTES, i);
            load1(&mut p, dtype, &at.reg, 0)
        })
        .collect();
    for (i, raw) in to.iter().zip(&values) {
        let at = place(&mut p, offset_of!(Args, out) + 8 * out, i);
        let value = widen(&mut p, dtype, raw);
        let stored = narrow(&mut p, dtype, &value);
        store1(&mut p, dtype, &at.reg, 0, &stored);
    }
    Ok(p.finish())
}

/// Bits of a word that an element leaves free.
fn unused_bits(dtype: DType) -> u64 {
    32 - (8 * dtype.size_bytes()).min(32)
}

/// Stores the words of an element, a narrow one in the high bits, to an output: registers are the index, then the words.
pub(super) fn put_element(dtype: DType, out: usize, numerics: Numerics, site: &Site<'_>) -> Result<String> {
    let w = dtype.ty().words();
    expect(site, 1 + w)?;
    let mut p = scope(numerics, site);
    let base = param_u64(&mut p, site.param, offset_of!(Args, out) + 8 * out);
    let address = p.emit(Ty::U64, |o| format!("mad.lo.u64 {o}, {}, {}, {}", site.regs[0], dtype.size_bytes(), base.reg));
    let shift = unused_bits(dtype);
    for (k, word) in site.regs[1..].iter().enumerate() {
        let bits = match shift {
            0 => PtxValue { reg: (*word).to_owned(), ty: Ty::U32 },
            _ => p.emit(Ty::U32, |o| format!("shr.u32 {o}, {word}, {shift}")),
        };
        let part = if w == 1 { dtype } else { DType::U32 };
        store1(&mut p, part, &address.reg, 4 * k as u64, &bits);
    }
    Ok(p.finish())
}

/// A result as an element lies in memory, with the canonical NaN.
fn in_memory(p: &mut Ptx, dtype: DType, v: &PtxValue) -> PtxValue {
    let v = if v.ty == Ty::Bool { p.cast(v, Ty::U32) } else { p.canonical(v) };
    narrow(p, dtype, &v)
}

impl Holes<'_> {
    /// Loads `count` consecutive elements as accumulators: registers are the words element by element, then the index.
    pub(super) fn load(&self, count: usize, site: &Site<'_>) -> Result<String> {
        let (&i, words) = site.regs.split_last().expect("an index");
        let (regs, spare) = accumulators(site, words, (count, self.load.result_words()))?;
        let mut p = scope(self.numerics, site);
        let results = self.compute(&mut p, site, count, i);
        p.to_words(&results.concat(), &owned(&regs));
        clear(&mut p, &spare);
        Ok(p.finish())
    }

    /// Loads, computes and stores `count` consecutive elements: the register is the index.
    pub(super) fn body(&self, count: usize, site: &Site<'_>) -> Result<String> {
        expect(site, 1)?;
        let mut p = scope(self.numerics, site);
        let results = self.compute(&mut p, site, count, site.regs[0]);
        self.put(&mut p, site, site.regs[0], &results);
        Ok(p.finish())
    }

    /// Finishes and stores `count` consecutive accumulators: registers are the index, then the words element by element.
    pub(super) fn store(&self, finish: &Func, parts: &[Ty], count: usize, site: &Site<'_>) -> Result<String> {
        let w: usize = parts.iter().map(|t| t.words()).sum();
        let (&i, words) = site.regs.split_first().expect("an index");
        let (regs, _) = accumulators(site, words, (count, w))?;
        let mut p = scope(self.numerics, site);
        let args: Vec<Vec<PtxValue>> = regs.chunks(w).map(|words| values(&mut p, parts, words)).collect();
        let results = p.call_lanes(finish, &args, &mut no_fetch);
        self.put(&mut p, site, i, &results);
        Ok(p.finish())
    }

    /// The operator's one result at an index as the words of an element, a narrow one in the high bits: registers are the words, then the index.
    pub(super) fn element(&self, dtype: DType, site: &Site<'_>) -> Result<String> {
        let w = dtype.ty().words();
        expect(site, w + 1)?;
        let mut p = scope(self.numerics, site);
        let results = self.compute(&mut p, site, 1, site.regs[w]);
        let bits: Vec<PtxValue> = results.concat().iter().map(|v| in_memory(&mut p, dtype, v)).collect();
        let shift = unused_bits(dtype);
        let bits: Vec<PtxValue> = match (&bits[..], shift) {
            ([narrow], 1..) => vec![p.emit(Ty::U32, |o| format!("shl.b32 {o}, {}, {shift}", narrow.reg))],
            _ => bits,
        };
        p.to_words(&bits, &owned(&site.regs[..w]));
        Ok(p.finish())
    }

    /// Finishes and stores `count` consecutive elements of a product: registers are the index, then the words of the sums, which are the operator's last
    /// parameter.
    pub(super) fn epilogue(&self, count: usize, site: &Site<'_>) -> Result<String> {
        let ty = self.load.params.last().map_or(Ty::U32, |param| param.ty());
        expect(site, 1 + count * ty.words())?;
        let (&i, words) = site.regs.split_first().expect("an index");
        let mut p = scope(self.numerics, site);
        let sums: Vec<PtxValue> = words.chunks(ty.words()).flat_map(|words| values(&mut p, &[ty], words)).collect();
        let results = self.compute_with(&mut p, site, (count, i), Some(sums));
        self.put(&mut p, site, i, &results);
        Ok(p.finish())
    }

    /// The operator's results at `count` indices from register `i` on. All loads stand before all arithmetic.
    fn compute(&self, p: &mut Ptx, site: &Site<'_>, count: usize, i: &str) -> Vec<Vec<PtxValue>> {
        self.compute_with(p, site, (count, i), None)
    }

    /// The same with the values of a parameter after the leaves'.
    fn compute_with(&self, p: &mut Ptx, site: &Site<'_>, (count, i): (usize, &str), last: Option<Vec<PtxValue>>) -> Vec<Vec<PtxValue>> {
        let mut args: Vec<Vec<PtxValue>> = vec![Vec::with_capacity(self.leaves.len() + 1); count];
        let places = places(self.leaves);
        for (&shape, &at) in self.leaves.iter().zip(&places) {
            let values = load_leaf(p, site, at, shape, count, i);
            for (a, v) in args.iter_mut().zip(values) {
                a.push(v);
            }
        }
        for (a, v) in args.iter_mut().zip(last.into_iter().flatten()) {
            a.push(v);
        }
        let param = site.param;
        let leaves = self.leaves;
        p.parameters_are_loaded();
        // Kernels load four at once where the index is a multiple of four, or vectors would not be aligned.
        let alike = |shape: &Shape| count == 4 && matches!(shape, Shape::Value(_) | Shape::Broadcast(_) | Shape::Index(_));
        let shared: Vec<bool> = (0..self.load.params.len()).map(|k| leaves.get(k).is_some_and(alike)).collect();
        p.call_four(self.load, &args, &shared, &mut |p: &mut Ptx, at: Fetched<'_>| {
            let k = usize::from(at.param);
            let (dtype, twin) = match leaves.get(k) {
                Some(&Shape::Array(d, twin)) => (d, twin),
                _ => (DType::U32, None),
            };
            // An element that a neighbour in the group has loaded as its own.
            if let (Some(twin), Some((index, by))) = (twin, at.sum)
                && let Some(Shape::Index(_)) = leaves.get(usize::from(index))
                && let Some(lane) = at.lane.checked_add_signed(by as isize)
                && let Some(args) = args.get(lane)
            {
                return PtxValue { reg: args[usize::from(twin)].reg.clone(), ty: dtype.ty() };
            }
            fetch(p, param, places[k], dtype, at.index)
        })
    }

    fn put(&self, p: &mut Ptx, site: &Site<'_>, i: &str, results: &[Vec<PtxValue>]) {
        for (k, &shape) in self.outs.iter().enumerate() {
            let (Shape::Vector(dtype) | Shape::Strided(dtype)) = shape else { continue };
            let base = param_u64(p, site.param, offset_of!(Args, out) + 8 * k);
            let address = p.emit(Ty::U64, |o| format!("mad.lo.u64 {o}, {i}, {}, {}", dtype.size_bytes(), base.reg));
            let column: Vec<PtxValue> = results.iter().map(|r| in_memory(p, dtype, &r[k])).collect();
            match (shape, &column[..]) {
                (Shape::Vector(_), [a, b, c, d]) => store4(p, dtype, &address.reg, [a, b, c, d]),
                _ => {
                    for (e, v) in column.iter().enumerate() {
                        store1(p, dtype, &address.reg, e as u64 * dtype.size_bytes(), v);
                    }
                }
            }
        }
    }
}

pub(super) fn param_u64(p: &mut Ptx, param: &str, offset: usize) -> PtxValue {
    p.emit(Ty::U64, |o| format!("ld.param.u64 {o}, [{param}+{offset}]"))
}

fn load_leaf(p: &mut Ptx, site: &Site<'_>, at: usize, shape: Shape, count: usize, i: &str) -> Vec<PtxValue> {
    let param = site.param;
    match shape {
        Shape::Value(ty) => {
            let bits = param_u64(p, param, at);
            let v = match (ty, ty.words()) {
                (Ty::Bool, _) => p.emit(ty, |o| format!("setp.ne.u64 {o}, {}, 0", bits.reg)),
                (_, 1) => p.emit(ty, |o| format!("cvt.u32.u64 {o}, {}", bits.reg)),
                _ => PtxValue { reg: bits.reg, ty },
            };
            vec![v; count]
        }
        Shape::Index(ty) => (0..count)
            .map(|e| {
                let index = p.emit(Ty::U64, |o| format!("add.u64 {o}, {i}, {e}"));
                if ty == Ty::U64 { index } else { p.emit(ty, |o| format!("cvt.u32.u64 {o}, {}", index.reg)) }
            })
            .collect(),
        Shape::Array(d, _) => vec![PtxValue { reg: String::new(), ty: d.ty() }; count],
        Shape::Broadcast(d) => {
            let base = param_u64(p, param, at);
            let v = load1(p, d, &base.reg, 0);
            vec![widen(p, d, &v); count]
        }
        Shape::Vector(d) if count == 4 => {
            let base = param_u64(p, param, at);
            let address = p.emit(Ty::U64, |o| format!("mad.lo.u64 {o}, {i}, {}, {}", d.size_bytes(), base.reg));
            load4(p, d, &address.reg).iter().map(|v| widen(p, d, v)).collect()
        }
        Shape::Vector(d) | Shape::Strided(d) => {
            let base = param_u64(p, param, at);
            let stride = param_u64(p, param, at + 8);
            let first = p.emit(Ty::U64, |o| format!("mad.lo.u64 {o}, {i}, {}, {}", stride.reg, base.reg));
            let mut addresses = vec![first];
            for e in 1..count {
                let before = addresses[e - 1].reg.clone();
                addresses.push(p.emit(Ty::U64, |o| format!("add.u64 {o}, {before}, {}", stride.reg)));
            }
            let raw: Vec<PtxValue> = addresses.iter().map(|a| load1(p, d, &a.reg, 0)).collect();
            raw.iter().map(|v| widen(p, d, v)).collect()
        }
    }
}

/// The element at an index of the array whose leaf is at `at`, zero outside it.
fn fetch(p: &mut Ptx, param: &str, at: usize, dtype: DType, index: &PtxValue) -> PtxValue {
    // A negative i32 becomes a huge u64.
    let wide = match index.ty {
        Ty::I32 => p.emit(Ty::U64, |o| format!("cvt.s64.s32 {o}, {}", index.reg)),
        Ty::U32 => p.emit(Ty::U64, |o| format!("cvt.u64.u32 {o}, {}", index.reg)),
        _ => index.clone(),
    };
    let base = param_u64(p, param, at);
    let len = param_u64(p, param, at + 8);
    let inside = p.emit(Ty::Bool, |o| format!("setp.lt.u64 {o}, {}, {}", wide.reg, len.reg));
    let address = p.emit(Ty::U64, |o| format!("mad.lo.u64 {o}, {}, {}, {}", wide.reg, dtype.size_bytes(), base.reg));
    let raw = p.constant(raw_type(dtype), 0);
    p.line(format!("@{} ld.global.{} {}, [{}]", inside.reg, loaded_type(dtype), raw.reg, address.reg));
    widen(p, dtype, &raw)
}
