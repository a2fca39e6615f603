//! Accumulators of several parts, as columns.

use crate::operands::Operands;
use bytemuck::Pod;
use isowarp_core::element::Ty;
use isowarp_core::ir::{BLOCK, Binary, Blocks, Func, Lanes, LanesMut, Source};

/// Column of one part of the accumulators.
#[derive(Clone, Debug)]
pub(super) enum Column {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

/// Accumulators: one column for each part.
#[derive(Clone, Debug)]
pub(super) struct Accumulators {
    parts: Vec<Column>,
}

/// Index of the accumulator that each lane reads.
#[derive(Clone, Copy)]
pub(super) enum Places<'a> {
    /// Consecutive accumulators from this one on.
    Row(usize),
    /// Accumulators `first..first + count`, repeated.
    Again(usize, usize),
    /// First (0) or second (1) of each pair of neighbours.
    OfTwo(usize),
    /// Accumulators of a list of indices.
    List(&'a [usize]),
}

/// Fills lanes from lane `at` on.
fn pick<T: Copy>(all: &[T], places: Places<'_>, at: usize, lanes: &mut [T]) {
    match places {
        Places::Row(first) => lanes.copy_from_slice(&all[first + at..][..lanes.len()]),
        Places::Again(first, 1) => lanes.fill(all[first]),
        Places::Again(first, count) => {
            // Lanes up to the next repetition, then as many as there are in one.
            let mut rest = lanes;
            let mut at = at % count;
            while !rest.is_empty() {
                let some = rest.len().min(count - at);
                let (now, later) = rest.split_at_mut(some);
                now.copy_from_slice(&all[first + at..][..some]);
                (rest, at) = (later, 0);
            }
        }
        Places::OfTwo(which) => lanes.iter_mut().zip(all[2 * at..].chunks_exact(2)).for_each(|(o, two)| *o = two[which & 1]),
        Places::List(list) => lanes.iter_mut().zip(&list[at..]).for_each(|(o, &i)| *o = all[i]),
    }
}

impl Column {
    fn new(ty: Ty) -> Self {
        if ty.words() == 1 { Self::Narrow(Vec::new()) } else { Self::Wide(Vec::new()) }
    }

    fn len(&self) -> usize {
        self.lanes().len()
    }

    fn lanes(&self) -> Lanes<'_> {
        match self {
            Self::Narrow(all) => Lanes::Narrow(all),
            Self::Wide(all) => Lanes::Wide(all),
        }
    }

    fn lanes_mut(&mut self) -> LanesMut<'_> {
        match self {
            Self::Narrow(all) => LanesMut::Narrow(all),
            Self::Wide(all) => LanesMut::Wide(all),
        }
    }

    fn extend(&mut self, lanes: Lanes<'_>) {
        match (self, lanes) {
            (Self::Narrow(all), Lanes::Narrow(more)) => all.extend_from_slice(more),
            (Self::Wide(all), Lanes::Wide(more)) => all.extend_from_slice(more),
            (all, more) => (0..more.len()).for_each(|l| all.push(more.get(l))),
        }
    }

    fn push(&mut self, bits: u64) {
        match self {
            Self::Narrow(all) => all.push(bits as u32),
            Self::Wide(all) => all.push(bits),
        }
    }

    fn set(&mut self, i: usize, bits: u64) {
        match self {
            Self::Narrow(all) => all[i] = bits as u32,
            Self::Wide(all) => all[i] = bits,
        }
    }

    fn part(&self, first: usize, count: usize) -> Self {
        match self {
            Self::Narrow(all) => Self::Narrow(all[first..][..count].to_vec()),
            Self::Wide(all) => Self::Wide(all[first..][..count].to_vec()),
        }
    }

    fn pick(&self, places: Places<'_>, at: usize, lanes: LanesMut<'_>) {
        match (self, lanes) {
            (Self::Narrow(all), LanesMut::Narrow(lanes)) => pick(all, places, at, lanes),
            (Self::Wide(all), LanesMut::Wide(lanes)) => pick(all, places, at, lanes),
            (_, lanes) => lanes.fill(0),
        }
    }
}

impl Accumulators {
    /// None yet, of the types that an operator returns.
    pub(super) fn of(func: &Func) -> Self {
        Self { parts: func.result_types().into_iter().map(Column::new).collect() }
    }

    /// None yet, of the same types.
    pub(super) fn none(&self) -> Self {
        self.part(0, 0)
    }

    /// Returns a single accumulator of the types that an operator returns.
    pub(super) fn one(func: &Func, bits: &[u64]) -> Self {
        let mut one = Self::of(func);
        one.push_bits(bits);
        one
    }

    /// Neighbours combined by one operation.
    fn pairs(binary: Binary, lanes: Lanes<'_>) -> Self {
        let (half, odd) = (lanes.len() / 2, lanes.len() % 2);
        let mut part = match lanes {
            Lanes::Narrow(_) => Column::Narrow(vec![0; half + odd]),
            Lanes::Wide(_) => Column::Wide(vec![0; half + odd]),
        };
        binary.pairs(lanes.first(2 * half), part.lanes_mut());
        if odd == 1 {
            part.set(half, lanes.get(2 * half));
        }
        Self { parts: vec![part] }
    }

    pub(super) fn len(&self) -> usize {
        self.parts.first().map_or(0, Column::len)
    }

    /// Loads the elements `first, first + step, ...`.
    pub(super) fn load(operands: &Operands<'_>, load: &Func, blocks: &mut Blocks, first: u64, step: u64, count: usize) -> Self {
        let mut all = Self::of(load);
        if let (Some(lanes), [part], 1) = (operands.as_they_are(load, first, count), &mut *all.parts, step) {
            part.extend(lanes);
            return all;
        }
        for at in (0..count).step_by(BLOCK) {
            operands.eval(load, blocks, first + at as u64 * step, step, BLOCK.min(count - at));
            all.append(blocks);
        }
        all
    }

    /// Adds what an operator came to.
    fn append(&mut self, blocks: &Blocks) {
        self.parts.iter_mut().enumerate().for_each(|(k, part)| part.extend(blocks.result(k)));
    }

    /// Adds all of others.
    pub(super) fn extend(&mut self, of: &Self) {
        self.parts.iter_mut().zip(&of.parts).for_each(|(to, from)| to.extend(from.lanes()));
    }

    /// Elements `first..first + count`.
    pub(super) fn part(&self, first: usize, count: usize) -> Self {
        Self { parts: self.parts.iter().map(|p| p.part(first, count)).collect() }
    }

    /// Gathers the accumulators at these indices.
    pub(super) fn picked(&self, places: Places<'_>, count: usize) -> Self {
        let pick = |part: &Column| {
            let mut picked = match part {
                Column::Narrow(_) => Column::Narrow(vec![0; count]),
                Column::Wide(_) => Column::Wide(vec![0; count]),
            };
            match &mut picked {
                Column::Narrow(all) => part.pick(places, 0, LanesMut::Narrow(all)),
                Column::Wide(all) => part.pick(places, 0, LanesMut::Wide(all)),
            }
            picked
        };
        Self { parts: self.parts.iter().map(pick).collect() }
    }

    pub(super) fn push(&mut self, of: &Self, i: usize) {
        self.parts.iter_mut().zip(&of.parts).for_each(|(to, from)| to.push(from.lanes().get(i)));
    }

    pub(super) fn push_bits(&mut self, bits: &[u64]) {
        self.parts.iter_mut().zip(bits).for_each(|(to, &bits)| to.push(bits));
    }

    /// Puts others in these places.
    pub(super) fn set(&mut self, places: impl Iterator<Item = usize> + Clone, of: &Self) {
        for (to, from) in self.parts.iter_mut().zip(&of.parts) {
            places.clone().enumerate().for_each(|(k, i)| to.set(i, from.lanes().get(k)));
        }
    }

    /// Puts others from this place on.
    pub(super) fn set_row(&mut self, first: usize, of: &Self) {
        for (to, from) in self.parts.iter_mut().zip(&of.parts) {
            match (to, from) {
                (Column::Narrow(to), Column::Narrow(from)) => to[first..][..from.len()].copy_from_slice(from),
                (Column::Wide(to), Column::Wide(from)) => to[first..][..from.len()].copy_from_slice(from),
                _ => {}
            }
        }
    }

    /// Rows of a matrix with so many columns as its columns: element `(r, c)` goes to place `c * rows + r`.
    pub(super) fn transposed(&self, columns: usize) -> Self {
        fn of<T: Pod>(all: &[T], columns: usize) -> Vec<T> {
            let rows = all.len() / columns;
            let mut to = vec![T::zeroed(); all.len()];
            for (r, row) in all.chunks_exact(columns).enumerate() {
                to[r..].iter_mut().step_by(rows).zip(row).for_each(|(o, &x)| *o = x);
            }
            to
        }
        let part = |part: &Column| match part {
            Column::Narrow(all) => Column::Narrow(of(all, columns)),
            Column::Wide(all) => Column::Wide(of(all, columns)),
        };
        Self { parts: self.parts.iter().map(part).collect() }
    }

    /// Makes them as many as that, by repeating the last one or by leaving some out.
    pub(super) fn resize(&mut self, count: usize) {
        for part in &mut self.parts {
            match part {
                Column::Narrow(all) => all.resize(count, all.last().copied().unwrap_or(0)),
                Column::Wide(all) => all.resize(count, all.last().copied().unwrap_or(0)),
            }
        }
    }
}

/// The combining operator, with its columns.
#[derive(Clone)]
pub(super) struct Combiner {
    blocks: Blocks,
    parts: usize,
    /// The operation that it is, if it is one alone.
    binary: Option<Binary>,
}

/// Operands of some lanes from lane `at` on.
struct Pairs<'a> {
    left: (&'a Accumulators, Places<'a>),
    right: (&'a Accumulators, Places<'a>),
    at: usize,
}

impl Source for Pairs<'_> {
    fn load(&self, param: u16, lanes: LanesMut<'_>) {
        let (k, parts) = (usize::from(param), self.left.0.parts.len());
        let (all, places) = if k < parts { self.left } else { self.right };
        all.parts[k % parts].pick(places, self.at, lanes);
    }

    fn fetch(&self, _: u16, _: Ty, _: Lanes<'_>, lanes: LanesMut<'_>) {
        lanes.fill(0);
    }
}

impl Combiner {
    pub(super) fn new(combine: &Func) -> Self {
        let blocks = Blocks::new(combine);
        Self { binary: blocks.binary(), blocks, parts: combine.results.len() }
    }

    /// As [`Combiner::pairs`] of lanes that are no accumulators yet, if the operator is one operation.
    pub(super) fn pairs_of(&self, lanes: Lanes<'_>) -> Option<Accumulators> {
        self.binary.map(|binary| Accumulators::pairs(binary, lanes))
    }

    /// The operation and the lanes that it goes over, if both are one.
    pub(super) fn one<'a>(&self, x: &'a mut Accumulators) -> Option<(Binary, LanesMut<'a>)> {
        match &mut *x.parts {
            [part] => Some((self.binary?, part.lanes_mut())),
            _ => None,
        }
    }

    /// Combines neighbours; one without a neighbour goes along as it is.
    pub(super) fn pairs(&mut self, x: &Accumulators) -> Accumulators {
        if let (Some(binary), [part]) = (self.binary, &*x.parts) {
            return Accumulators::pairs(binary, part.lanes());
        }
        let mut made = self.combine((x, Places::OfTwo(0)), (x, Places::OfTwo(1)), x.len() / 2);
        if x.len() % 2 == 1 {
            made.push(x, x.len() - 1);
        }
        made
    }

    /// Combines accumulator `i` of others with every one of these.
    pub(super) fn prepend_all(&mut self, (left, i): (&Accumulators, usize), mut x: Accumulators) -> Accumulators {
        if let Some((binary, lanes)) = self.one(&mut x) {
            binary.prepend(left.parts[0].lanes().get(i), lanes);
            return x;
        }
        self.combine((left, Places::Again(i, 1)), (&x, Places::Row(0)), x.len())
    }

    /// Combines `count` accumulators of either side, pair by pair.
    pub(super) fn combine(&mut self, left: (&Accumulators, Places<'_>), right: (&Accumulators, Places<'_>), count: usize) -> Accumulators {
        let mut made = right.0.none();
        debug_assert_eq!(made.parts.len(), self.parts);
        for at in (0..count).step_by(BLOCK) {
            self.blocks.eval(BLOCK.min(count - at), &Pairs { left, right, at });
            made.append(&self.blocks);
        }
        made
    }
}

/// Accumulators as operands, from one on.
struct Finished<'a>(&'a Accumulators, usize);

impl Source for Finished<'_> {
    fn load(&self, param: u16, lanes: LanesMut<'_>) {
        self.0.parts[usize::from(param)].pick(Places::Row(self.1), 0, lanes);
    }

    fn fetch(&self, _: u16, _: Ty, _: Lanes<'_>, lanes: LanesMut<'_>) {
        lanes.fill(0);
    }
}

/// Applies the finishing operator to accumulators; `put(output, first, lanes)` takes its results.
pub(super) fn finish(blocks: &mut Blocks, results: usize, a: &Accumulators, mut put: impl FnMut(usize, usize, Lanes<'_>)) {
    if a.parts.len() == results && blocks.is_identity() {
        return a.parts.iter().enumerate().for_each(|(k, part)| put(k, 0, part.lanes()));
    }
    for at in (0..a.len()).step_by(BLOCK) {
        blocks.eval(BLOCK.min(a.len() - at), &Finished(a, at));
        (0..results).for_each(|k| put(k, at, blocks.result(k)));
    }
}
