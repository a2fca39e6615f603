//! Passes of sliding windows. What they compute depends on the operators and the sizes alone.

use super::{PATTERN, Window, count};
use crate::backend::{Backend, Leaf, Out, places};
use crate::call::{Accumulate, Described, Finish};
use crate::element::{DType, Ty};
use crate::error::{Error, Result};
use crate::input::{Collector, Input, Outputs, index, require, scalar};
use crate::ir::graph::{self, Value};
use crate::ir::{self, Accumulator, BinOp, Expr, Func, Node, Param, Traced as _, lit};
use crate::patterns::before::Elsewhere;
use crate::patterns::map::{collect, collect_lines, trace};
use crate::patterns::{Lines, MapTask, ScanKind, ScanTask, check_accumulators, check_aliasing, check_ops};
use core::convert::identity;
use std::sync::Arc;

/// Elements of a block that a block of the next level has of the one before.
const RADIX: u64 = 16;
/// Nodes of an operator of inputs that is computed anew for each of the windows that an element is in.
const SHORT: usize = 16;
/// Elements of the shortest windows that scans are taken for: from here on they move less memory than levels of blocks.
const SCANNED: u64 = RADIX * RADIX;

/// Windows of `len` elements at every `step`-th place of these lines.
pub(super) struct Plan {
    pub(super) lines: Lines,
    pub(super) len: u64,
    pub(super) step: u64,
}

impl Plan {
    /// The lines of results.
    pub(super) fn windows(&self) -> Lines {
        Lines { n: count(self.lines.n, self.len, self.step), ..self.lines }
    }

    /// Lines of blocks of so many elements, one for each place that one can start at.
    fn places(&self, width: u64) -> Lines {
        Lines { n: self.lines.n - width + 1, ..self.lines }
    }

    /// The lines as blocks as long as a window, filled up, where 32 bits number the elements.
    fn blocks(&self) -> Option<Lines> {
        let outer = self.lines.outer * self.lines.n.div_ceil(self.len);
        let elements = outer.checked_mul(self.len)?.checked_mul(self.lines.inner)?;
        (elements <= 1 << 32).then_some(Lines { outer, n: self.len, inner: self.lines.inner })
    }
}

/// Checks a call and enqueues its passes.
pub(super) fn enqueue<B, I, O, F>(plan: Plan, call: &Described<'_, B, I, O, F>, out: <F::Out as Outputs>::Refs<'_, B>) -> Result<()>
where
    B: Window,
    I: Input<B, Exprs: Accumulator>,
    O: Accumulate<I::Exprs>,
    F: Finish<I::Exprs>,
{
    let (device, lines) = (call.device, plan.lines);
    let c =
        if lines.count() == 1 { collect(device, PATTERN, &call.inputs)? } else { collect_lines(device, PATTERN, &call.inputs, &lines)? };
    let load = trace(&call.inputs, &c, identity)?;
    let (combine, finish) = (call.op.combine_func()?, call.stored_func()?);
    check_accumulators(&load, &combine, &finish)?;
    let mut outs = Vec::new();
    F::Out::outs(device, out, plan.windows().elements(), &mut outs)?;
    for (out, _) in &outs {
        require(device, PATTERN, out.dtype)?;
    }
    check_ops(device, PATTERN, device.numerics(), &[&load, &combine, &finish])?;
    let (requested, limit) = (lines.elements(), u32::MAX.into());
    if requested > limit {
        return Err(Error::TooLarge { what: "elements of windows", requested, limit });
    }
    check_aliasing(PATTERN, &c.leaves, lines.elements(), &outs, false)?;
    let types = load.result_types();
    let long = load.nodes.len() > SHORT;
    let inputs = Accumulators::Computed(Elsewhere::of(device, PATTERN, c, load)?);
    if plan.windows().elements() == 0 {
        return Ok(());
    }
    let outs = places(outs);
    let passes = Passes { device, plan, combine, finish, types };
    let inputs = if long && passes.plan.len > 2 { passes.blocks_of(&inputs, 1, 1)? } else { inputs };
    match passes.plan.blocks() {
        Some(blocks) if passes.plan.len >= SCANNED && is_exact(&passes.combine) => passes.by_scans(&inputs, blocks, &outs),
        _ => passes.by_levels(inputs, &outs),
    }
}

/// Whether an operator is one operation that gives the same bits in any order.
fn is_exact(combine: &Func) -> bool {
    let (&[Node::Param(_), Node::Param(_), Node::Bin(op, a, b)], &[result]) = (&*combine.nodes, &*combine.results) else { return false };
    let exact = match op {
        BinOp::Min | BinOp::Max | BinOp::And | BinOp::Or | BinOp::Xor => true,
        BinOp::Add | BinOp::Mul => !combine.types[2].is_float(),
        _ => false,
    };
    exact && result == 2 && a != b
}

/// Accumulators at places of lines: of elements, or of blocks.
enum Accumulators<B: Backend> {
    /// Of the inputs, computed where they are read.
    Computed(Elsewhere<B>),
    /// In memory, a part each.
    Stored(Vec<(Leaf<B::Raw>, DType)>),
}

impl<B: Backend> Accumulators<B> {
    /// Adds their leaves to others; returns the number of the first one.
    fn append(&self, c: &mut Collector<B>) -> Result<u16> {
        let first = c.leaves.len() as u16;
        match self {
            Self::Computed(inputs) => c.append(&inputs.c)?,
            Self::Stored(parts) => {
                for (leaf, dtype) in parts {
                    c.params.push(Param::Array(*dtype));
                    c.leaves.push(leaf.clone());
                }
            }
        }
        Ok(first)
    }

    /// The accumulator at a place, its leaves being numbered from `first` on, with its products rounded.
    fn at(&self, first: u16, types: &[Ty], i: Expr<u32>) -> Vec<Value> {
        let found = match self {
            Self::Computed(inputs) => inputs.results_behind(first, i),
            Self::Stored(parts) => (first..)
                .zip(parts)
                .zip(types)
                .map(|((k, _), ty)| {
                    graph::with(|g| {
                        let at = g.id(i.value(), Ty::U32);
                        let found = g.fetch(k, at);
                        if *ty != Ty::Bool {
                            return found;
                        }
                        let none = g.constant(Ty::U32, 0);
                        g.bin(BinOp::Ne, found, none)
                    })
                })
                .collect(),
        };
        rounded(found, types)
    }
}

/// Values past which no product is fused with a sum.
fn rounded(values: Vec<Value>, types: &[Ty]) -> Vec<Value> {
    let of = |(value, &ty)| {
        graph::with(|g| {
            let id = g.id(value, ty);
            g.rounded(id)
        })
    };
    values.into_iter().zip(types).map(of).collect()
}

/// The type that a part of an accumulator is stored as.
const fn stored_as(ty: Ty) -> DType {
    match ty {
        Ty::F32 => DType::F32,
        Ty::I32 => DType::I32,
        Ty::U32 | Ty::Bool => DType::U32,
        Ty::F64 => DType::F64,
        Ty::I64 => DType::I64,
        Ty::U64 => DType::U64,
    }
}

/// An accumulator as it is stored.
fn stored(values: Vec<Value>, types: &[Ty]) -> Vec<Value> {
    let of = |(value, &ty)| {
        graph::with(|g| {
            let id = g.id(value, ty);
            if ty == Ty::Bool { g.cast(id, Ty::U32) } else { id }
        })
    };
    values.into_iter().zip(types).map(of).collect()
}

/// A place of a pass: of a line, along it, and beside.
#[derive(Clone, Copy)]
struct Place {
    /// Index of the line, where there are several.
    outer: Option<Expr<u32>>,
    along: Expr<u32>,
    /// Number of places beside each other, and the index of this one.
    beside: Option<(Expr<u32>, Expr<u32>)>,
}

impl Place {
    /// The number of the element of lines of `n` that is `along` them.
    fn element(self, n: impl Fn() -> Expr<u32>, along: Expr<u32>) -> Expr<u32> {
        let row = self.outer.map_or(along, |outer| outer * n() + along);
        self.beside.map_or(row, |(inner, beside)| row * inner + beside)
    }
}

/// Leaves of a pass: the index of its element and the numbers that it needs, then what is read. Numbers are no part of the kernel, and few: each takes the
/// place of an array.
struct Leaves<B: Backend> {
    c: Collector<B>,
    lines: Lines,
    /// Elements of a line of the pass, and those beside each other.
    n: Number,
    inner: Number,
}

/// A number while a pass is traced: a parameter, or a constant where that is as good.
#[derive(Clone, Copy)]
enum Number {
    Param(u16),
    One,
}

impl Number {
    fn get(self) -> Expr<u32> {
        match self {
            Self::Param(k) => Expr::params(k),
            Self::One => lit(1),
        }
    }
}

impl<B: Backend> Leaves<B> {
    /// Of a pass over these lines.
    fn new(device: &B, lines: Lines) -> Result<Self> {
        let mut c = Collector::new(device, PATTERN);
        index().collect(&mut c)?;
        let mut leaves = Self { c, lines, n: Number::One, inner: Number::One };
        if lines.outer > 1 {
            leaves.n = leaves.number(lines.n)?;
        }
        leaves.inner = leaves.number(lines.inner)?;
        Ok(leaves)
    }

    /// A number of the pass.
    fn number(&mut self, number: u64) -> Result<Number> {
        if number == 1 {
            return Ok(Number::One);
        }
        let k = self.c.leaves.len() as u16;
        scalar(number as u32).collect(&mut self.c)?;
        Ok(Number::Param(k))
    }

    /// Elements of a line of something that is read, which matter where there are several lines.
    fn of_line(&mut self, n: u64) -> Result<Number> {
        if self.lines.outer > 1 { self.number(n) } else { Ok(Number::One) }
    }

    /// The place of the pass's element.
    fn place(&self) -> Place {
        let (i, inner) = (Expr::<u32>::params(0), self.inner.get());
        let several = self.lines.inner != 1;
        let row = if several { i / inner } else { i };
        let beside = several.then(|| (inner, i % inner));
        if self.lines.outer == 1 {
            return Place { outer: None, along: row, beside };
        }
        let n = self.n.get();
        Place { outer: Some(row / n), along: row % n, beside }
    }

    fn trace(&self, build: impl FnOnce(Place) -> Vec<Value>) -> Result<Arc<Func>> {
        Ok(Arc::new(graph::trace(self.c.params.clone(), || build(self.place()))?))
    }
}

/// The passes of a call, which has been checked.
struct Passes<'d, B> {
    device: &'d B,
    plan: Plan,
    combine: Arc<Func>,
    finish: Arc<Func>,
    types: Vec<Ty>,
}

impl<B: Window> Passes<'_, B> {
    fn combined(&self, a: &[Value], b: &[Value]) -> Vec<Value> {
        rounded(ir::inline(&self.combine, &[a, b].concat()), &self.types)
    }

    /// A balanced tree of neighbours, which are as many as a power of two.
    fn tree(&self, mut values: Vec<Vec<Value>>) -> Vec<Value> {
        while values.len() > 1 {
            values = values.chunks(2).map(|two| self.combined(&two[0], &two[1])).collect();
        }
        values.pop().unwrap_or_default()
    }

    /// `before`, and after it `digit` blocks that are `width` apart from `offset` on, combined by the powers of two in their number.
    fn folded(&self, before: Option<Vec<Value>>, (digit, width, offset): (u64, u64, u64), at: impl Fn(u32) -> Vec<Value>) -> Vec<Value> {
        let (mut all, mut first) = (before, offset);
        for bit in 0..RADIX.ilog2() {
            let count = (digit >> bit & 1) << bit;
            if count > 0 {
                let block = self.tree((0..count).map(|k| at((first + k * width) as u32)).collect());
                all = Some(all.map_or_else(|| block.clone(), |all| self.combined(&all, &block)));
                first += count * width;
            }
        }
        all.unwrap_or_default()
    }

    /// Memory for an accumulator at each place of lines.
    fn memory(&self, lines: Lines) -> Result<(Accumulators<B>, Vec<Out<B::Raw>>)> {
        let (mut parts, mut outs) = (Vec::new(), Vec::new());
        for &ty in &self.types {
            let dtype = stored_as(ty);
            let raw = self.device.allocate_bytes(lines.elements() * dtype.size_bytes())?;
            parts.push((Leaf::Array { raw: raw.clone(), dtype, offset: 0, len: lines.elements() }, dtype));
            outs.push(Out { raw, dtype, offset: 0 });
        }
        Ok((Accumulators::Stored(parts), outs))
    }

    fn map(&self, leaves: &Leaves<B>, func: Arc<Func>, outs: &[Out<B::Raw>]) -> Result<()> {
        let task = MapTask { func, n: leaves.lines.elements(), numerics: self.device.numerics() };
        self.device.run(&task, &leaves.c.leaves, outs)
    }

    /// Stores blocks of `count` of these, which are of `width` elements each.
    fn blocks_of(&self, of: &Accumulators<B>, count: u64, width: u64) -> Result<Accumulators<B>> {
        let lines = self.plan.places(count * width);
        let mut leaves = Leaves::new(self.device, lines)?;
        let n = leaves.of_line(self.plan.places(width).n)?;
        let first = of.append(&mut leaves.c)?;
        let func = leaves.trace(|place| {
            let at = |k| of.at(first, &self.types, place.element(|| n.get(), place.along + (k * width) as u32));
            stored(self.tree((0..count).map(at).collect()), &self.types)
        })?;
        let (blocks, outs) = self.memory(lines)?;
        self.map(&leaves, func, &outs)?;
        Ok(blocks)
    }

    /// Blocks of 16, 256, ... elements, each level of the one before, and the windows folded of them.
    fn by_levels(&self, inputs: Accumulators<B>, outs: &[Out<B::Raw>]) -> Result<()> {
        let (len, windows) = (self.plan.len, self.plan.windows());
        let low = len % RADIX;
        if len < RADIX {
            return self.fold(None, &[(&inputs, (low, 1, 0))], false, outs);
        }
        // Elements of the inputs that the windows begin with, until they are folded.
        let mut begins = low > 0;
        let (mut before, mut level, mut width, mut offset) = (None, None, RADIX, low);
        loop {
            let blocks = self.blocks_of(level.as_ref().unwrap_or(&inputs), RADIX, width / RADIX)?;
            let (digit, last) = (len / width % RADIX, len / width < RADIX);
            if digit > 0 {
                let own = [(&inputs, (low, 1, 0)), (&blocks, (digit, width, offset))];
                let read = if begins { &own[..] } else { &own[1..] };
                begins = false;
                if last {
                    return self.fold(before.as_ref(), read, false, outs);
                }
                let (results, memory) = self.memory(windows)?;
                self.fold(before.as_ref(), read, true, &memory)?;
                before = Some(results);
                offset += digit * width;
            }
            (level, width) = (Some(blocks), width * RADIX);
        }
    }

    /// Windows: the results of shorter ones, and what follows them of each of these, whose digits, widths and offsets are beside them. Stored as
    /// accumulators, or finished.
    fn fold(
        &self,
        before: Option<&Accumulators<B>>,
        read: &[(&Accumulators<B>, (u64, u64, u64))],
        as_accumulators: bool,
        outs: &[Out<B::Raw>],
    ) -> Result<()> {
        let mut leaves = Leaves::new(self.device, self.plan.windows())?;
        let step = leaves.number(self.plan.step)?;
        let ns = read.iter().map(|(_, (_, width, _))| leaves.of_line(self.plan.places(*width).n)).collect::<Result<Vec<_>>>()?;
        let first_before = before.map(|before| before.append(&mut leaves.c)).transpose()?;
        let firsts = read.iter().map(|(of, _)| of.append(&mut leaves.c)).collect::<Result<Vec<_>>>()?;
        let func = leaves.trace(|place| {
            let start = if self.plan.step == 1 { place.along } else { place.along * step.get() };
            let mut all = before.zip(first_before).map(|(before, first)| before.at(first, &self.types, Expr::params(0)));
            for (((of, block), first), n) in read.iter().zip(firsts).zip(ns) {
                let at = |along| of.at(first, &self.types, place.element(|| n.get(), start + along));
                all = Some(self.folded(all, *block, at));
            }
            let all = all.unwrap_or_default();
            if as_accumulators { stored(all, &self.types) } else { ir::inline(&self.finish, &all) }
        })?;
        self.map(&leaves, func, outs)
    }

    /// Prefixes and suffixes of blocks as long as a window: a window is a suffix of one and a prefix of the next.
    fn by_scans(&self, inputs: &Accumulators<B>, blocks: Lines, outs: &[Out<B::Raw>]) -> Result<()> {
        let (lines, len) = (self.plan.lines, self.plan.len);
        let per_line = lines.n.div_ceil(len);
        let scan = |reversed: bool| -> Result<Accumulators<B>> {
            let mut leaves = Leaves::new(self.device, blocks)?;
            let n = leaves.number(lines.n)?;
            let of_line = if lines.outer > 1 { Some(leaves.number(per_line)?) } else { None };
            let first = inputs.append(&mut leaves.c)?;
            let load = leaves.trace(|place| {
                let block = place.outer.unwrap_or_else(|| lit(0));
                let (line, block) = of_line.map_or((None, block), |of| (Some(block / of.get()), block % of.get()));
                let along = if reversed { lit(len as u32 - 1) - place.along } else { place.along };
                // Elements that fill up the last block are in no window.
                let along = (block * len as u32 + along).min(n.get() - 1);
                inputs.at(first, &self.types, Place { outer: line, ..place }.element(|| n.get(), along))
            })?;
            let (results, memory) = self.memory(blocks)?;
            let params = self.types.iter().map(|&ty| Param::Value(ty)).collect();
            let whole = || stored((0..self.types.len() as u16).map(|k| graph::with(|g| g.param(k))).collect(), &self.types);
            let finish = Arc::new(graph::trace(params, whole)?);
            let (combine, numerics) = (Arc::clone(&self.combine), self.device.numerics());
            let task = ScanTask { load, combine, finish, lines: blocks, kind: ScanKind::Inclusive, numerics };
            self.device.run(&task, &leaves.c.leaves, &memory)?;
            Ok(results)
        };
        let (prefixes, suffixes) = (scan(false)?, scan(true)?);
        let mut leaves = Leaves::new(self.device, self.plan.windows())?;
        let (step, of_line) = (leaves.number(self.plan.step)?, leaves.of_line(per_line)?);
        let firsts = [prefixes.append(&mut leaves.c)?, suffixes.append(&mut leaves.c)?];
        let func = leaves.trace(|place| {
            let start = place.along * step.get();
            let (block, skipped) = (start / len as u32, start % len as u32);
            let row = place.outer.map_or(block, |outer| outer * of_line.get() + block);
            let of = |row: Expr<u32>, along: Expr<u32>| Place { outer: Some(row), ..place }.element(|| lit(len as u32), along);
            let suffix = suffixes.at(firsts[1], &self.types, of(row, lit(len as u32 - 1) - skipped));
            // A window that is a block has nothing of the next one; the prefix that is read in its place is its own.
            let whole = skipped.eq(0);
            let prefix =
                prefixes.at(firsts[0], &self.types, of(row + ir::select(whole, 0u32, 1u32), (skipped + (len as u32 - 1)) % len as u32));
            let both = self.combined(&suffix, &prefix);
            let chosen = |((own, both), &ty): ((&Value, Value), &Ty)| {
                graph::with(|g| {
                    let (whole, own, both) = (g.id(whole.value(), Ty::Bool), g.id(*own, ty), g.id(both, ty));
                    g.select(whole, own, both)
                })
            };
            let all: Vec<Value> = suffix.iter().zip(both).zip(&self.types).map(chosen).collect();
            ir::inline(&self.finish, &all)
        })?;
        self.map(&leaves, func, outs)
    }
}
