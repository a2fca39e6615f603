//! Loops over columns.

use super::super::node::{Func, Id, Node};
use super::typed::{CHUNK, Operand};
use super::{BLOCK, Blocks, Lanes, Source};
use crate::element::Ty;

impl Blocks {
    /// Evaluates the loop at node `i` until all lanes have left it. Its own column has those that have not; the others keep their values.
    pub(super) fn repeat(&mut self, i: Id, on: Option<Id>, source: &dyn Source) {
        let Node::Loop { turns, end, go } = self.plan.nodes[i as usize] else { return };
        let active = self.plan.column[i as usize] as usize;
        let mut mask = std::mem::take(&mut self.columns[active]);
        match on {
            Some(of) => mask.copy_from_slice(&self.columns[self.plan.column[of as usize] as usize]),
            None => bytemuck::cast_slice_mut::<_, u32>(&mut mask).fill(1),
        }
        self.columns[active] = mask;
        for _ in 0..turns {
            self.range(i + 1, end, Some(i), source);
            self.carry(i, source);
            let mut mask = std::mem::take(&mut self.columns[active]);
            let mut any = 0;
            for (on, &go) in bytemuck::cast_slice_mut::<_, u32>(&mut mask).iter_mut().zip(self.truths(go)) {
                *on &= u32::from(go != 0);
                any |= *on;
            }
            self.columns[active] = mask;
            if any == 0 {
                break;
            }
        }
    }

    /// Gives the lanes that are in the loop their next values, all of them computed before any is replaced.
    fn carry(&mut self, i: Id, source: &dyn Source) {
        let (plan, chunks) = (self.plan.clone(), self.lanes.div_ceil(CHUNK));
        let column = |id: Id| plan.column[id as usize] as usize;
        let carried = Func::carried(&plan.nodes, i);
        for (k, (id, next)) in carried.clone().enumerate() {
            if self.spare.len() == k {
                self.spare.push(vec![0; BLOCK].into_boxed_slice());
            }
            let mut out = std::mem::take(&mut self.spare[k]);
            let ty = plan.types[id as usize];
            let own = |id: Id| bytemuck::cast_slice(&self.columns[column(id)]);
            let lent = match plan.nodes[next as usize] {
                Node::Param(p) if !plan.whole[next as usize] => source.lend(p, chunks * CHUNK),
                _ => None,
            };
            let next = lent.map_or_else(|| own(next), Lanes::bytes);
            let operands = [(own(i), Ty::Bool), (next, ty), (own(id), ty)].map(|(bytes, ty)| Operand { bytes, ty });
            self.instructions.step(Node::Select(i, id, id), ty, operands, bytemuck::cast_slice_mut(&mut out), chunks);
            self.spare[k] = out;
        }
        for (k, (id, _)) in carried.enumerate() {
            std::mem::swap(&mut self.spare[k], &mut self.columns[column(id)]);
        }
    }
}
