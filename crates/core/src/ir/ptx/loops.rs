//! Loops.

use super::{Fetch, Graph, Ptx, PtxValue, Values, value};
use crate::element::Ty;
use crate::ir::node::{Func, Id, Node};

impl Ptx {
    /// The loop at node `i`. Of several sets of arguments those that have left it keep their values until all have.
    pub(super) fn repeat(&mut self, (f, four): Graph<'_>, i: Id, args: &[Vec<PtxValue>], values: &mut [Values], fetch: Fetch<'_>) {
        let Node::Loop { turns, go, keeps, .. } = f.nodes[i as usize] else { return };
        let is_fixed = f.nodes[go as usize] == Node::Const(1);
        let around = self.active.clone();
        if values.len() > 1 && !is_fixed {
            let on = |ptx: &mut Self, lane: usize| {
                let v = ptx.fresh(Ty::Bool);
                match around.get(lane) {
                    Some(outer) => ptx.mov(&v, outer),
                    None => ptx.line(format!("setp.ne.u32 {}, 1, 0", v.reg)),
                }
                v
            };
            self.active = (0..values.len()).map(|lane| on(self, lane)).collect();
        }
        let left = self.fresh(Ty::U32);
        self.line(format!("mov.b32 {}, {turns}", left.reg));
        let again = self.new_label();
        let done = (keeps && !is_fixed).then(|| self.new_label());
        self.label(&again);
        let [first, rest] = f.turn(i);
        for run in first {
            self.range((f, four), run, args, values, &mut *fetch);
        }
        let active = if is_fixed { Vec::new() } else { self.active.clone() };
        if let Some(done) = &done {
            let go = self.more(&active, go, values);
            self.line(format!("@!{} bra {done}", go.reg));
        }
        for run in rest {
            self.range((f, four), run, args, values, &mut *fetch);
        }
        self.active = around;
        for (lane, values) in values.iter().enumerate() {
            self.carry(f, i, values, active.get(lane));
        }
        self.line(format!("sub.u32 {0}, {0}, 1", left.reg));
        let mut more = self.emit(Ty::Bool, |o| format!("setp.ne.u32 {o}, {}, 0", left.reg));
        if !keeps && !is_fixed {
            let go = self.more(&active, go, values);
            more = self.emit(Ty::Bool, |o| format!("and.pred {o}, {}, {}", more.reg, go.reg));
        }
        self.line(format!("@{} bra {again}", more.reg));
        if let Some(done) = &done {
            self.label(done);
        }
    }

    /// Whether another turn follows for any set of arguments. Those for which none does leave the loop.
    fn more(&mut self, active: &[PtxValue], go: Id, values: &[Values]) -> PtxValue {
        for (on, values) in active.iter().zip(values) {
            self.line(format!("and.pred {0}, {0}, {1}", on.reg, value(values, go).reg));
        }
        let go = if active.is_empty() { value(&values[0], go) } else { self.fold(active, "or") };
        self.untold(&go)
    }

    /// Gives one set of arguments its next values, if it is in the loop.
    fn carry(&mut self, f: &Func, i: Id, values: &Values, on: Option<&PtxValue>) {
        let mut all: Vec<(PtxValue, PtxValue)> =
            Func::carried(&f.nodes, i).map(|(id, next)| (value(values, id), value(values, next))).collect();
        all.retain(|(to, next)| to.reg != next.reg);
        // A register that is written must not have been what a later value is read from.
        let written: Vec<String> = all.iter().map(|(to, _)| to.reg.clone()).collect();
        for (_, next) in all.iter_mut().filter(|(_, next)| written.contains(&next.reg)) {
            let from = next.clone();
            *next = self.fresh(next.ty);
            self.mov(next, &from);
        }
        for (to, next) in &all {
            let on = on.map_or_else(String::new, |on| format!("@{} ", on.reg));
            self.line(format!("{on}mov.{} {}, {}", super::ops::bits(to.ty), to.reg, next.reg));
        }
    }

    /// Whether the condition holds for any set of arguments that the loop around has not been left for.
    pub(super) fn any(&mut self, conds: &[PtxValue]) -> PtxValue {
        let on = self.active.clone();
        let mut conds = conds.to_vec();
        for (c, on) in conds.iter_mut().zip(&on) {
            *c = self.emit(Ty::Bool, |o| format!("and.pred {o}, {}, {}", c.reg, on.reg));
        }
        self.fold(&conds, "or")
    }

    /// Whether the condition holds for all sets of arguments that the loop around has not been left for.
    pub(super) fn all(&mut self, conds: &[PtxValue]) -> PtxValue {
        let on = self.active.clone();
        let mut conds = conds.to_vec();
        for (c, on) in conds.iter_mut().zip(&on) {
            let done = self.emit(Ty::Bool, |o| format!("not.pred {o}, {}", on.reg));
            *c = self.emit(Ty::Bool, |o| format!("or.pred {o}, {}, {}", c.reg, done.reg));
        }
        self.fold(&conds, "and")
    }
}
