//! Loops over columns: the nodes of a loop are an operator of their own, over the lanes that are still in it.

use super::super::node::{Func, Id, Node, Param};
use super::typed::{CHUNK, Instructions, Operand};
use super::{BLOCK, Blocks, Lanes, LanesMut, Source};
use crate::element::Ty;

/// Fewer lanes than these are not moved together: a node then takes as long for one lane as for all.
const FEW: usize = 4 * CHUNK;

/// A loop whose nodes are an operator: over the parameters of the operator around, the values from outside that it uses, and those that it carries.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) at: Id,
    pub(super) end: Id,
    /// Values from outside, then those that are carried.
    pub(super) from: Vec<Id>,
    types: Vec<Ty>,
    /// Number of carried values.
    carried: usize,
    turns: u32,
    keeps: bool,
    /// Parameters of the operator around.
    params: usize,
    blocks: Blocks,
    /// Columns of the values for the lanes that are in the loop; none while these are all, whose values lie around.
    columns: Vec<Box<[u64]>>,
    /// The lanes that are computed, by their places around.
    lanes: Vec<u32>,
    /// Mask of the lanes that are in the loop.
    active: Box<[u32]>,
    /// A column for next values while they are chosen.
    spare: Box<[u64]>,
}

/// The loop at node `at` as an operator, and the values that it takes from outside. Its results are those that it carries and whether it goes on.
pub(super) fn operator(func: &Func, at: Id, end: Id, go: Id) -> (Func, Vec<Id>) {
    let carried: Vec<(Id, Id)> = Func::carried(&func.nodes, at).collect();
    let first = carried.first().map_or(at, |c| c.0);
    let mut outside = Vec::new();
    let mut take = |id: Id| {
        if id < first && !outside.contains(&id) {
            outside.push(id);
        }
    };
    func.nodes[at as usize + 1..end as usize].iter().for_each(|node| Func::operands(node, &mut take));
    carried.iter().for_each(|c| take(c.1));
    take(go);
    let (mut params, mut nodes, mut types) = (func.params.clone(), Vec::new(), Vec::new());
    let mut place = vec![0; end as usize];
    for &id in outside.iter().chain(carried.iter().map(|c| &c.0)) {
        let ty = func.types[id as usize];
        place[id as usize] = nodes.len() as Id;
        nodes.push(match func.nodes[id as usize] {
            constant @ Node::Const(_) => constant,
            _ => {
                params.push(Param::Value(ty));
                Node::Param(params.len() as u16 - 1)
            }
        });
        types.push(ty);
    }
    let shift = nodes.len() as Id;
    let to = |id: Id| if id > at { id - at - 1 + shift } else { place[id as usize] };
    let ends = |id: Id| id - at - 1 + shift;
    for id in at + 1..end {
        nodes.push(func.nodes[id as usize].renumbered(to, ends));
        types.push(func.types[id as usize]);
    }
    let results = carried.iter().map(|c| to(c.1)).chain([to(go)]).collect();
    outside.retain(|&id| !matches!(func.nodes[id as usize], Node::Const(_)));
    (Func::new(params, nodes, types, results), outside)
}

impl Body {
    /// The loops of an operator that are in no other loop.
    pub(super) fn all(func: &Func, instructions: Instructions) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for (at, node) in (0..).zip(&func.nodes) {
            let Node::Loop { turns, end, go, keeps } = *node else { continue };
            if all.last().is_some_and(|before| at < before.end) {
                continue;
            }
            let (operator, outside) = operator(func, at, end, go);
            let carried = operator.results.len() - 1;
            let from: Vec<Id> = outside.into_iter().chain(at - carried as Id..at).collect();
            all.push(Self {
                at,
                end,
                types: from.iter().map(|&id| func.types[id as usize]).collect(),
                from,
                carried,
                turns,
                keeps,
                params: func.params.len(),
                blocks: Blocks::with(&operator, instructions),
                columns: Vec::new(),
                lanes: Vec::new(),
                active: vec![0; BLOCK].into_boxed_slice(),
                spare: vec![0; BLOCK].into_boxed_slice(),
            });
        }
        all
    }

    /// Takes the turns of the loop for all lanes of a block. What it carries lies in its columns around, before and after.
    pub(super) fn run(&mut self, around: &mut Blocks, source: &dyn Source) {
        self.columns.clear();
        self.lanes.clear();
        self.lanes.extend(0..around.lanes as u32);
        self.active[..around.lanes].fill(1);
        let mut left = self.lanes.len();
        for _ in 0..self.turns {
            let Self { blocks, params, from, types, columns, lanes, .. } = self;
            let inside = Inside { around, source, params: *params, from, types, columns, lanes };
            blocks.eval(lanes.len(), &inside);
            if !self.keeps {
                self.carry(around, left);
            }
            left = self.leave();
            if left == 0 {
                break;
            }
            if self.keeps {
                self.carry(around, left);
            }
            if 2 * left <= self.lanes.len() && self.lanes.len() > FEW {
                self.gather(around, source);
            }
        }
        self.scatter(around);
    }

    /// Takes the lanes that do not go on out of those that are in the loop; returns how many are left.
    fn leave(&mut self) -> usize {
        let Lanes::Narrow(go) = self.blocks.result(self.carried) else { return 0 };
        let mut left = 0;
        for (on, &go) in self.active.iter_mut().zip(go) {
            *on &= u32::from(go != 0);
            left += *on as usize;
        }
        left
    }

    /// The column of what is carried, here or around.
    fn carried<'a>(&'a mut self, around: &'a mut Blocks, k: usize) -> &'a mut Box<[u64]> {
        let k = self.from.len() - self.carried + k;
        match self.columns.get_mut(k) {
            Some(column) => column,
            None => &mut around.columns[around.plan.column[self.from[k] as usize] as usize],
        }
    }

    /// Gives the lanes that are in the loop, so many, their next values.
    fn carry(&mut self, around: &mut Blocks, left: usize) {
        let (width, instructions) = (self.lanes.len(), self.blocks.instructions);
        for k in 0..self.carried {
            let ty = self.types[self.from.len() - self.carried + k];
            let mut spare = std::mem::take(&mut self.spare);
            let before = std::mem::take(self.carried(around, k));
            let next = &self.blocks.columns[self.blocks.plan.column[self.blocks.plan.results[k] as usize] as usize];
            if left == width {
                spare.copy_from_slice(next);
            } else {
                let operands =
                    [(bytemuck::cast_slice(&self.active), Ty::Bool), (bytemuck::cast_slice(next), ty), (bytemuck::cast_slice(&before), ty)];
                let operands = operands.map(|(bytes, ty)| Operand { bytes, ty });
                instructions.step(Node::Select(0, 0, 0), ty, operands, bytemuck::cast_slice_mut(&mut spare), width.div_ceil(CHUNK));
            }
            *self.carried(around, k) = spare;
            self.spare = before;
        }
    }

    /// Moves the lanes that are in the loop together; of the others, what was carried is put around.
    fn gather(&mut self, around: &mut Blocks, source: &dyn Source) {
        self.scatter(around);
        let kept: Vec<usize> = (0..self.lanes.len()).filter(|&lane| self.active[lane] != 0).collect();
        let gathered = |(k, &id): (usize, &Id)| {
            let all = match self.columns.get(k) {
                Some(column) => Lanes::new(self.types[k], column, self.lanes.len()),
                None => around.value(id, source),
            };
            let mut column = vec![0; BLOCK].into_boxed_slice();
            LanesMut::new(self.types[k], &mut column, kept.len()).pick(all, kept.iter().copied());
            column
        };
        self.columns = self.from.iter().enumerate().map(gathered).collect();
        self.lanes = kept.iter().map(|&lane| self.lanes[lane]).collect();
        self.active[..self.lanes.len()].fill(1);
    }

    /// Puts what is carried into its columns around, if it is not there.
    fn scatter(&self, around: &mut Blocks) {
        let outside = self.from.len() - self.carried;
        for (k, column) in self.columns.iter().enumerate().skip(outside) {
            let to = &mut around.columns[around.plan.column[self.from[k] as usize] as usize];
            match self.types[k].words() {
                1 => put(bytemuck::cast_slice::<_, u32>(column), &self.lanes, bytemuck::cast_slice_mut(to)),
                _ => put(column, &self.lanes, to),
            }
        }
    }
}

fn put<T: Copy>(from: &[T], lanes: &[u32], to: &mut [T]) {
    for (&value, &lane) in from.iter().zip(lanes) {
        to[lane as usize] = value;
    }
}

/// Parameters of a loop's nodes.
struct Inside<'a> {
    around: &'a Blocks,
    source: &'a dyn Source,
    params: usize,
    from: &'a [Id],
    types: &'a [Ty],
    columns: &'a [Box<[u64]>],
    lanes: &'a [u32],
}

impl Source for Inside<'_> {
    fn load(&self, param: u16, lanes: LanesMut<'_>) {
        if let Some(lent) = self.lend(param, self.lanes.len()) {
            lanes.pick(lent, 0..self.lanes.len());
        } else if self.columns.is_empty() {
            self.source.load(param, lanes);
        } else {
            // A parameter that only the loop reads.
            let mut all = vec![0; BLOCK];
            let ty = if matches!(lanes, LanesMut::Narrow(_)) { Ty::U32 } else { Ty::U64 };
            self.source.load(param, LanesMut::new(ty, &mut all, self.around.lanes));
            lanes.pick(Lanes::new(ty, &all, self.around.lanes), self.lanes.iter().map(|&lane| lane as usize));
        }
    }

    fn lend(&self, param: u16, lanes: usize) -> Option<Lanes<'_>> {
        let Some(k) = usize::from(param).checked_sub(self.params) else {
            return if self.columns.is_empty() { self.source.lend(param, lanes) } else { None };
        };
        Some(match self.columns.get(k) {
            Some(column) => Lanes::new(self.types[k], column, lanes),
            None => self.around.value(self.from[k], self.source).first(lanes),
        })
    }

    fn fetch(&self, param: u16, ty: Ty, indices: Lanes<'_>, lanes: LanesMut<'_>) {
        self.source.fetch(param, ty, indices, lanes);
    }
}
